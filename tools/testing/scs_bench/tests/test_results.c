// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of results: figures, what they are compared with, the table, and reading them back.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_report.h"
#include "plot.h"
#include "results.h"
#include "test.h"

static const double up[] = { 2.50, 2.51, 2.49, 2.52, 2.48, 2.505 };
static const double again[] = { 2.495, 2.515, 2.485, 2.525, 2.5, 2.51 };
static const double fast[] = { 2.20, 2.21, 2.19, 2.22, 2.18, 2.205 };
static const double like[] = { 2.501, 2.511, 2.491, 2.521, 2.481, 2.506 };

static json_t *sample(void)
{
	json_t *r = results_new("boot", json_pack("{s:{}}", "images"), 5);
	const struct figure figures[] = {
		{ "generic", "upstream", "wall", "s", false, { up, 6 } },
		{ "generic", "scs", "wall", "s", false, { fast, 6 } },
		{ "generic", "same", "wall", "s", false, { like, 6 } },
		{ "generic", "none", "wall", "s", false, { up, 0 } },
	};
	const struct figure noise = { "generic", "upstream", "wall", "s", false, { again, 6 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(figures); i++)
		results_figure(r, &figures[i]);
	results_noise(r, &noise);
	results_exact(r, "generic", "upstream", "instructions", "instructions", 734616573);
	results_exact(r, "generic", "scs", "instructions", "instructions", 688820665);
	results_exact(r, "generic", "same", "instructions", "instructions", 734616573);
	results_against(r, "upstream");
	results_verdict(r, "A claim", "holds", "%d of %d", 1, 2);
	results_note(r, "seed %d", 5);
	return r;
}

static const char *verdict(json_t *r, const char *subject, const char *name)
{
	json_t *f = results_find(r, "generic", subject, name);

	return json_string_value(json_object_get(json_object_get(f, "against"), "verdict"));
}

static void test_verdicts(void **state)
{
	json_t *r = sample();

	(void)state;
	assert_string_equal(verdict(r, "scs", "wall"), "difference");
	assert_string_equal(verdict(r, "same", "wall"), "noise");
	assert_string_equal(verdict(r, "scs", "instructions"), "difference");
	assert_string_equal(verdict(r, "same", "instructions"), "same");
	assert_null(verdict(r, "upstream", "wall"));
	assert_null(results_find(r, "generic", "none", "wall"));
	json_decref(r);
}

static void test_table(void **state)
{
	json_t *r = sample();
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	results_table(r, f);
	fclose(f);
	assert_non_null(strstr(text, "734,616,573"));
	assert_non_null(strstr(text, "-12.0 %"));
	assert_non_null(strstr(text, "noise\n"));
	assert_non_null(strstr(text, "+/-"));
	assert_non_null(strstr(text, "A claim: holds\n  1 of 2\n"));
	assert_non_null(strstr(text, "seed 5\n"));
	free(text);
	json_decref(r);
}

static void test_written_and_read(void **state)
{
	char *dir = temp_dir(), *path = xasprintf("%s/r.json", dir);
	json_t *r = sample(), *back;

	(void)state;
	assert_int_equal(results_write(r, path), EXIT_OK);
	back = results_read(path);
	assert_non_null(back);
	assert_true(json_equal(r, back));
	json_decref(back);
	json_decref(r);
	free(path);
	remove_dir(dir);
}

static void test_not_read(void **state)
{
	static const char * const texts[] = {
		"", "[]", "{}", "{\"scs_bench\":\"boot\",\"schema\":1}",
		"{\"scs_bench\":\"boot\",\"schema\":2,\"environment\":{},\"figures\":[{}]}",
	};
	char *dir = temp_dir(), *path = xasprintf("%s/r.json", dir);
	size_t i;

	(void)state;
	assert_null(results_read(path));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(write_file_atomic(path, texts[i]), 0);
		assert_null(results_read(path));
	}
	free(path);
	remove_dir(dir);
}

static void test_write_fails(void **state)
{
	json_t *r = sample();

	(void)state;
	assert_int_equal(results_write(r, "/nonexistent/dir/r.json"), EXIT_FAILED);
	json_decref(r);
}

static void test_format(void **state)
{
	static const struct {
		double value;
		const char *unit;
		bool exact;
		const char *text;
	} cases[] = {
		{ 0, "", true, "0" }, { 999, "", true, "999" }, { 1000, "", true, "1,000" },
		{ -1234567, "", true, "-1,234,567" }, { 12.34, "%", true, "12.3 %" },
		{ 2.2753, "s", false, "2.275" }, { 123456.7, "ns", false, "123,457" },
	};
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		text = format_value(cases[i].value, cases[i].unit, cases[i].exact);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void test_plots(void **state)
{
	json_t *r = sample();
	char *script = plot_bars(r, "generic", "wall");

	(void)state;
	assert_non_null(strstr(script, "\"upstream\" 2.5"));
	assert_non_null(strstr(script, "xerrorbars"));
	free(script);
	script = plot_bars(r, "generic", "instructions");
	assert_non_null(strstr(script, "million instructions"));
	assert_null(strstr(script, "xerrorbars"));
	free(script);
	assert_null(plot_bars(r, "generic", "nothing"));
	assert_null(plot_stack(r, "nothing"));

	results_exact(r, "w", "scs", "one part", "", 1e6);
	results_exact(r, "w", "scs", "another", "", 3e6);
	results_exact(r, "w", "scs", "  of it", "", 2e6);
	script = plot_stack(r, "w");
	assert_non_null(strstr(script, "\"scs\" 0 1 4\n"));
	free(script);

	results_exact(r, "d", "scs", "save, depth 2", "ns", 20);
	assert_null(plot_depths(r, "d", "save, "));
	results_exact(r, "d", "scs", "save, depth 16", "ns", 160);
	results_exact(r, "d", "scs", "other, depth 16", "ns", 999);
	results_exact(r, "d", "scs", "save, depth 16, cycles", "cycles", 999);
	script = plot_depths(r, "d", "save, ");
	assert_non_null(strstr(script, "2 20 20 20\n16 160 160 160\nEND"));
	assert_null(strstr(script, "999"));
	free(script);
	json_decref(r);
}

static void test_html(void **state)
{
	char *text = html_escape("<a href=\"x\">&</a>");

	(void)state;
	assert_string_equal(text, "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
	free(text);
}

/* Of kernels "old" and @name, both measured on a machine that takes @slower more seconds. */
static void put_wall(const char *path, const char *name, double slower, double more)
{
	json_t *images = json_pack("{s:{s:s}, s:{s:s}}", "g/old", "sha256", "1", "g/new", "sha256",
				   name);
	json_t *host = json_pack("{s:s, s:i, s:s, s:s}", "cpu", "c", "cpus", 2, "machine", "m",
				 "release", "r");
	json_t *r = results_new("boot", json_pack("{s:o, s:o}", "host", host, "images", images),
				5);
	double a[6], b[6], c[6];
	const struct figure figures[] = {
		{ "g", "old", "wall", "s", false, { a, 6 } },
		{ "g", "new", "wall", "s", false, { b, 6 } },
	};
	const struct figure noise = { "g", "old", "wall", "s", false, { c, 6 } };
	size_t i;

	for (i = 0; i < 6; i++) {
		a[i] = up[i] + slower;
		b[i] = up[i] + slower + more;
		c[i] = again[i] + slower;
	}
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		results_figure(r, &figures[i]);
	results_noise(r, &noise);
	assert_int_equal(results_write(r, path), EXIT_OK);
	json_decref(r);
}

static int compare(const char *a, const char *b, const char *log, char **printed)
{
	struct strv argv = { 0 };

	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_add(&argv, "compare");
	strv_add(&argv, "--all");
	strv_add(&argv, "%s", a);
	strv_add(&argv, "%s", b);
	return run_program(&argv, log, printed);
}

/* The machine became slower: that is seen by the kernel that did not change. */
static void test_drift(void **state)
{
	char *dir = temp_dir(), *a = xasprintf("%s/a", dir), *b = xasprintf("%s/b", dir);
	char *log = xasprintf("%s/log", dir), *printed = NULL;

	(void)state;
	put_wall(a, "2", 0, 0);
	put_wall(b, "3", 0.5, 0);
	assert_int_equal(compare(a, b, log, &printed), EXIT_OK);
	assert_in("g, new, wall: 2.502 -> 3.002 +19.98 %: noise: a kernel that did not change",
		  printed);
	/* as much, on a machine that is the same */
	put_wall(b, "3", 0, 0.5);
	assert_int_equal(compare(a, b, log, &printed), EXIT_FAILED);
	assert_in("g, new, wall: 2.502 -> 3.002 +19.98 %: difference", printed);
	assert_in("g, old, wall: 2.502 -> 2.502 +0.00 %: noise", printed);
	free(printed);
	free(log);
	free(b);
	free(a);
	remove_dir(dir);
}

/**
 * run_results_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_results_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_written_and_read),
		cmocka_unit_test(test_not_read),
		cmocka_unit_test(test_write_fails),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_plots),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_drift),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
