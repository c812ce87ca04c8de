// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "report": a page of made-up results of every kind, and what can go wrong on the way.
 *
 * The figures are inventions, which the page's title says. With SCS_BENCH_PAGE=FILE the page is
 * kept there, to be looked at.
 */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot.h"
#include "results.h"
#include "test.h"
#include "util.h"

#define JOBS	95

static char *dir;
static char *printed;

static int setup(void **state)
{
	(void)state;
	dir = temp_dir();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	remove_dir(dir);
	free(printed);
	printed = NULL;
	return 0;
}

static json_t *made_up(const char *command)
{
	json_t *image = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}",
				  "path", "/none/Image", "sha256", "0123456789abcdef",
				  "version", "6.12.0", "compiler", "made-up clang",
				  "args", "a=1 <b>", "config_sha256", "fedcba98");
	json_t *env = json_pack("{s:{s:s}, s:{s:s}, s:{s:o}, s:{s:s}}",
				"host", "cpu", "made-up host", "qemu", "version", "made-up QEMU",
				"images", "generic/scs", image,
				"commands", "instructions", "made-up --command");

	return results_new(command, env, 1);
}

static void put(json_t *results, const char *command)
{
	char *path = xasprintf("%s/%s.json", dir, command);

	assert_int_equal(results_write(results, path), EXIT_OK);
	json_decref(results);
	free(path);
}

static void put_claims(void)
{
	json_t *r = made_up("claims");

	results_verdict(r, "1: boot is <faster>", "holds", "claimed: 30 %%; measured: 31 %%");
	results_verdict(r, "2: the same", "refuted", "claimed: at most 6 %%; measured: 9 %%");
	results_verdict(r, "3: the same", "undecided: the interval is too wide", "measured: 9 %%");
	results_exact(r, "generic", "upstream", "reset to init", "instructions", 734e6);
	results_exact(r, "generic", "scs", "reset to init", "instructions", 687e6);
	results_against(r, "upstream");
	results_note(r, "a note & another");
	put(r, "claims");
}

static void put_micro(void)
{
	static const char * const calls[] = {
		"stack_trace_save()", "depot, a new trace",
	};
	static const char * const kernels[] = { "upstream", "fallback", "scs" };
	static const unsigned int depths[] = { 1, 2, 4, 8, 16, 24, 32, 48, 64 };
	json_t *r = made_up("micro");
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		for (j = 0; j < ARRAY_SIZE(depths); j++) {
			for (k = 0; k < ARRAY_SIZE(kernels); k++) {
				char *group = xasprintf("generic page_owner=on: %s", calls[i]);
				char *name = xasprintf("depth %2u", depths[j]);
				char *timed = xasprintf("depth %2u (time)", depths[j]);
				double cost = depths[j] * (150 - 60.0 * k) + 100;
				const double v[] = { cost * 0.3, cost * 0.4, cost * 0.45 };
				const struct figure f = {
					group, kernels[k], timed, "ns", false, { v, 3 },
				};

				results_exact(r, group, kernels[k], name, "instructions", cost);
				results_figure(r, &f);
				free(timed);
				free(name);
				free(group);
			}
		}
	}
	results_against(r, "upstream");
	put(r, "micro");
}

static void put_memory(void)
{
	static const char * const modes[] = { "none", "generic", "sw_tags", "hw_tags" };
	static const char * const args[] = { "", " page_owner=on" };
	static const char * const variants[] = { "upstream", "scs" };
	json_t *r = made_up("memory");
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		for (j = 0; j < ARRAY_SIZE(args); j++) {
			for (k = 0; k < ARRAY_SIZE(variants); k++) {
				char *kernel = xasprintf("%s%s/%s", modes[i], args[j],
							 variants[k]);

				results_exact(r, "memory, boot", kernel, "memory in use", "bytes",
					      5e7 * (i + 1) + 9e6 * j - 4e6 * k);
				results_exact(r, "memory, boot", kernel, "overhead", "%",
					      40.0 * i + 9 * j - 12 * k);
				free(kernel);
			}
		}
	}
	results_against(r, "none/upstream");
	put(r, "memory");
}

static void put_load(void)
{
	static const char group[] = "stress, work per CPU second, per cent of the clean kernel's";
	static const char * const kernels[] = {
		"none/upstream", "generic/upstream", "generic/scs",
	};
	const struct estimate mean[] = { { 100, 99, 101 }, { 55, 54, 57 }, { 63, 61, 64 } };
	json_t *r = made_up("load");
	size_t i, k;

	for (i = 0; i < JOBS; i++) {
		char *name = xasprintf("stressor-%zu", i);

		for (k = 0; k < ARRAY_SIZE(kernels); k++) {
			double value = 100.0 - k * (15 + i * 7 % 20) + (k == 2) * (20 + i % 9);
			const struct estimate est = { value, value - 3, value + 2 };

			results_derived(r, group, kernels[k], name, "%", false, &est);
		}
		free(name);
	}
	for (k = 0; k < ARRAY_SIZE(kernels); k++)
		results_derived(r, group, kernels[k], RESULTS_MEAN, "%", false, &mean[k]);
	put(r, "load");
}

static void put_boot(void)
{
	static const char * const kernels[] = { "upstream", "null", "scs" };
	json_t *r = made_up("boot");
	size_t k;

	for (k = 0; k < ARRAY_SIZE(kernels); k++) {
		const double v[] = { 2.5 - 0.1 * k, 2.6 - 0.1 * k, 2.4 - 0.1 * k };
		const struct figure f = { "generic", kernels[k], "wall time of a run", "s", false,
					  { v, 3 } };
		static const char where[] = "generic" PLOT_WHERE;

		results_figure(r, &f);
		if (!k)
			results_noise(r, &f);
		results_exact(r, where, kernels[k], "before time_init()", "", 4.5e8);
		results_exact(r, where, kernels[k], "initcalls", "", 1.2e8 - 2e7 * k);
		results_exact(r, where, kernels[k], "  initcall one", "", 1e6);
		results_exact(r, where, kernels[k], "the rest until init", "", 1e8);
	}
	results_against(r, "upstream");
	put(r, "boot");
}

static int report(const char *more)
{
	char *log = xasprintf("%s/printed", dir);
	struct strv argv = { 0 };
	int ret;

	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_add(&argv, "report");
	strv_add(&argv, "--title");
	strv_add(&argv, "Made-up figures <to> test the page");
	strv_add(&argv, "--out");
	strv_add(&argv, "%s/page.html", dir);
	strv_split(&argv, more, " ");
	ret = run_program(&argv, log, &printed);
	free(log);
	return ret;
}

static char *read_page(void)
{
	char *path = xasprintf("%s/page.html", dir), *text = read_file(path, NULL);

	free(path);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* What gnuplot reads, writes and says is gone, whatever came of it. */
static void assert_no_rest(void)
{
	char *line = xasprintf("! ls -d %s/page.html.*", dir);

	assert_int_equal(system(line), 0);
	free(line);
}

#define PLOT		"<img src=\"data:image/svg+xml;base64,"

/* Labels that a plot cuts off are those below its edge. */
static void assert_labels_inside(const char *text)
{
	const char *from = text, *end, *at;
	char *svg;
	double y, height;
	size_t labels = 0;
	int len;

	while ((from = strstr(from, PLOT))) {
		from += strlen(PLOT);
		end = strchr(from, '"');
		assert_non_null(end);
		svg = calloc(1, end - from + 1);
		assert_non_null(svg);
		len = EVP_DecodeBlock((unsigned char *)svg, (const unsigned char *)from,
				      end - from);
		assert_true(len > 0);
		at = strstr(svg, "height=\"");
		assert_non_null(at);
		height = strtod(at + strlen("height=\""), NULL);
		for (at = svg; (at = strstr(at, "translate(")); labels++) {
			at = strchr(at, ',');
			assert_non_null(at);
			y = strtod(at + 1, NULL);
			if (y > height - 2)
				fail_msg("a label at %g of %g", y, height);
		}
		free(svg);
	}
	assert_true(labels > 0);
}

static void test_page(void **state)
{
	static const char * const all[] = {
		"boot", "claims", "load", "memory", "micro",
	};
	const char *keep = getenv("SCS_BENCH_PAGE");
	char *more = xstrdup(""), *longer, *text;
	size_t i;

	(void)state;
	put_claims();
	put_boot();
	put_micro();
	put_memory();
	put_load();
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		longer = xasprintf("%s %s/%s.json", more, dir, all[i]);
		free(more);
		more = longer;
	}
	assert_int_equal(report(more), EXIT_OK);
	text = read_page();
	assert_non_null(text);
	if (keep)
		assert_int_equal(write_file_atomic(keep, text), 0);
	/* wall, parts; instructions; a mean and three parts of the dots; two; by depth two each */
	assert_in("5 results, 13 plots", printed);
	assert_int_equal(count(text, PLOT), 13);
	/* the page needs nothing beside itself */
	assert_int_equal(count(text, "src="), 13);
	assert_int_equal(count(text, "<link"), 0);
	assert_int_equal(count(text, "<script"), 0);
	assert_int_equal(count(text, "http"), 0);
	assert_in("class=\"v good\">holds", text);
	assert_in("class=\"v bad\">refuted", text);
	assert_in("class=\"v open\">undecided", text);
	assert_in("1: boot is &lt;faster&gt;", text);
	assert_in("a=1 &lt;b&gt;", text);
	assert_in("made-up QEMU", text);
	assert_in("made-up --command", text);
	assert_in("made-up clang", text);
	assert_in("fedcba98", text);
	assert_in("noise, a kernel against itself: &plusmn;", text);
	assert_in("noise: not measured", text);
	assert_in("81..95 of 95", text);
	assert_in("(not there any more)", text);
	assert_labels_inside(text);
	assert_no_rest();
	free(text);
	free(more);
}

/* Whatever a subset has, there is a page of it; without plots, if need be. */
static void test_subset(void **state)
{
	json_t *r = made_up("record");
	char *more = xasprintf("%s/record.json", dir), *text;

	(void)state;
	results_exact(r, "generic", "boot", "saves", "", 5);
	put(r, "record");
	assert_int_equal(report(more), EXIT_OK);
	assert_in("1 results, 0 plots", printed);
	text = read_page();
	assert_in("<h2 id=\"results-0\">record: generic</h2>", text);
	free(text);
	free(more);
}

static void test_no_results(void **state)
{
	(void)state;
	setenv("SCS_BUILD", dir, 1);
	assert_int_equal(report(""), EXIT_UNUSABLE);
	unsetenv("SCS_BUILD");
	assert_in("there are no results", printed);
	assert_in("measure something first", printed);
}

/* A program of that name that does what @script says is found instead of the real one. */
static int report_with(const char *gnuplot, const char *script, const char *more)
{
	char *old = xstrdup(getenv("PATH")), *bin = xasprintf("%s/bin", dir);
	char *path = xasprintf("%s/%s", bin, gnuplot);
	int ret;

	mkdir(bin, 0700);
	assert_int_equal(write_file_atomic(path, script), 0);
	assert_int_equal(chmod(path, 0700), 0);
	setenv("PATH", bin, 1);
	ret = report(more);
	setenv("PATH", old, 1);
	unlink(path);
	free(path);
	free(bin);
	free(old);
	return ret;
}

static void test_no_gnuplot(void **state)
{
	char *more = xasprintf("%s/boot.json", dir);

	(void)state;
	put_boot();
	assert_int_equal(report_with("another", "", more), EXIT_FAILED);
	assert_in("gnuplot-nox", printed);
	assert_null(read_page());
	assert_int_equal(report_with("gnuplot", "#!/bin/sh\necho no such terminal\nexit 1\n", more),
			 EXIT_FAILED);
	assert_in("exited with status 1", printed);
	assert_in("plot.log", printed);
	assert_null(read_page());
	assert_int_equal(report_with("gnuplot", "#!/bin/sh\n", more), EXIT_FAILED);
	assert_in("gnuplot wrote no ", printed);
	assert_null(read_page());
	free(more);
}

static void test_place_not_writable(void **state)
{
	char *more = xasprintf("--out %s/boot.json/page.html %s/boot.json", dir, dir);

	(void)state;
	put_boot();
	assert_int_equal(report(more), EXIT_UNUSABLE);
	assert_in("choose another --out", printed);
	free(more);
}

#define report_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/**
 * run_report_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_report_tests(void)
{
	const struct CMUnitTest tests[] = {
		report_test(test_page),
		report_test(test_subset),
		report_test(test_no_results),
		report_test(test_no_gnuplot),
		report_test(test_place_not_writable),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
