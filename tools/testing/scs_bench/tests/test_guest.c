// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "micro", "memory" and "load": what they read off a guest's console, and what they make
 * of it; with a guest that does less than it was asked for, above all.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_load.h"
#include "cmd_memory.h"
#include "cmd_micro.h"
#include "results.h"
#include "test.h"
#include "util.h"

static const char micro_log[] =
	"[    1.000000] scs_bench_micro: begin version=1 frequency=500000000 above=6 cycles=0\n"
	"[    1.000001] scs_bench_micro: op=nothing depth=16 unit=ticks calls=10 failed=0 samples=40,40,90\n"
	"[    1.000002] scs_bench_micro: op=save depth=16 unit=ticks calls=10 failed=0 samples=1040,1040,9000\n"
	"[    1.000003] scs_bench_micro: end\n"
	"scs_bench: done\n";

static const char memory_log[] =
	"Memory: 900K/1000K available (1K kernel code)\n"
	"stackdepot hash table entries: 64 (order: 0, 1024 bytes, linear)\n"
	"scs_bench: point boot\n"
	"scs_bench: begin meminfo\nMemTotal: 950 kB\nMemFree: 800 kB\nSlab: 100 kB\n"
	"scs_bench: end meminfo\n"
	"scs_bench: begin stackdepot\npools: 2\nscs_bench: end stackdepot\n"
	"scs_bench: point files-10\n"
	"scs_bench: begin meminfo\nMemFree: 700 kB\nSlab: 150 kB\nscs_bench: end meminfo\n"
	"scs_bench: begin stackdepot\npools: 3\nscs_bench: end stackdepot\n"
	"scs_bench: done\n";

static const char load_log[] =
	"scs_bench: cntfrq 1000000000\n"
	"scs_bench: begin output\nwhatever\nscs_bench: end output\n"
	"scs_bench: job compile gcc status 0 ticks 900 user_us 300000 system_us 100000 faults 7\n"
	"scs_bench: job stress fork status 0 ticks 900 user_us 100000 system_us 100000 faults 7\n"
	"scs_bench: job stress pipe status 0 ticks 900 user_us 10000 system_us 40000 faults 7\n"
	"scs_bench: job stress none status 1024 ticks 900 user_us 10000 system_us 40000 faults 7\n"
	"scs_bench: done\n";

static void expect_error(json_t *record, char *error, const char *text)
{
	assert_null(record);
	assert_non_null(error);
	if (!strstr(error, text))
		fail_msg("\"%s\" is not in \"%s\"", text, error);
	free(error);
}

/* --- What is read off the console ------------------------------------------ */

static void test_micro_cost(void **state)
{
	char *error;
	json_t *record = micro_parse(micro_log, &error);
	double cost;

	(void)state;
	assert_non_null(record);
	/* (1040 - 40) ticks for 10 calls, of 2 ns each; one slow sample has no say. */
	assert_true(micro_cost(record, "save", 16, "ticks", &cost));
	assert_true(cost == 200);
	assert_false(micro_cost(record, "save", 32, "ticks", &cost));
	assert_false(micro_cost(record, "save", 16, "cycles", &cost));
	json_decref(record);
}

static void test_micro_refuses(void **state)
{
	static const char * const faults[][3] = {
		{ "scs_bench_micro: end", "scs_bench: no more", "cut short" },
		{ "version=1", "version=2", "version 2" },
		{ "failed=0 samples=1040", "failed=3 samples=1040",
		  "3 calls of \"save\" at depth 16" },
		{ "samples=40,40", "samples=40,,40",
		  "\"nothing\" at depth 16 are not understood" },
		{ "op=save depth", "op=save deep", "not understood" },
		{ "calls=10", "calls=0", "not understood" },
		{ "scs_bench_micro", "another", "no measurements" },
	};
	char *log, *error;
	json_t *record;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		log = replace(micro_log, faults[i][0], faults[i][1]);
		record = micro_parse(log, &error);
		expect_error(record, error, faults[i][2]);
		free(log);
	}
}

static void test_memory_refuses(void **state)
{
	static const char * const faults[][3] = {
		{ "Memory: ", "Mem: ", "how much memory" },
		{ "scs_bench: point", "scs_bench: no point", "no points" },
		{ "MemFree: 700 kB\n", "", "point \"files-10\"" },
		{ "Slab: 100 kB\n", "", "point \"boot\"" },
	};
	char *log, *error;
	json_t *record;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		log = replace(memory_log, faults[i][0], faults[i][1]);
		record = memory_parse(log, &error);
		expect_error(record, error, faults[i][2]);
		free(log);
	}
}

static void test_load_refuses(void **state)
{
	static const char * const faults[][3] = {
		{ "cntfrq", "frequency", "frequency" },
		{ "status 0 ticks 900 user_us 300000", "status 0", "not understood" },
		{ "scs_bench: job", "scs_bench: no job", "no job" },
	};
	char *log, *error;
	json_t *record;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		log = replace(load_log, faults[i][0], faults[i][1]);
		record = load_parse(log, &error);
		expect_error(record, error, faults[i][2]);
		free(log);
	}
}

/* --- The subcommands, with a made-up guest ---------------------------------- */

static char *dir;
static char *printed;

static void put(const char *image, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s/%s", dir, image, name);

	assert_int_equal(write_file_atomic(path, text), 0);
	free(path);
}

static void put_image(const char *image, const char *console)
{
	char *path = xasprintf("%s/%s", dir, image);

	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	put(image, "Image", "Linux version 6.12.117 (a@b) (clang 19, LLD 19) #1 SMP\n");
	put(image, "config", "CONFIG_PAGE_OWNER=y\nCONFIG_SCS_TRACE=y\n");
	put(image, "console", console);
}

static int setup(void **state)
{
	(void)state;
	dir = temp_dir();
	put(".", "initrd", "initrd");
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

static int run(const char *command, const char *more)
{
	char *log = xasprintf("%s/printed", dir);
	struct strv argv = { 0 };
	int ret;

	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_add(&argv, "%s", command);
	strv_split(&argv, "--no-perf --seed 1 --timeout 20 --images", " ");
	strv_add(&argv, "%s", dir);
	strv_add(&argv, "--qemu");
	strv_add(&argv, "%s/fake-guest.sh", getenv("SCS_BENCH_TESTS"));
	strv_add(&argv, strcmp(command, "load") ? "--initrd" : "--rootfs");
	strv_add(&argv, "%s/initrd", dir);
	strv_add(&argv, "--out");
	strv_add(&argv, "%s/runs", dir);
	strv_add(&argv, "--json");
	strv_add(&argv, "%s/json", dir);
	strv_split(&argv, more, " ");
	ret = run_program(&argv, log, &printed);
	free(log);
	return ret;
}

static void assert_printed(const char *text)
{
	assert_in(text, printed);
}

static bool has_results(void)
{
	char *path = xasprintf("%s/json", dir);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static json_t *read_results(void)
{
	char *path = xasprintf("%s/json", dir);
	json_t *results = results_read(path);

	assert_non_null(results);
	free(path);
	return results;
}

static double value(const char *group, const char *subject, const char *name)
{
	json_t *results = read_results(), *f;
	double v;

	f = results_find(results, group, subject, name);
	if (!f)
		fail_msg("no figure \"%s\" of \"%s\" in \"%s\"", name, subject, group);
	v = results_value(f);
	json_decref(results);
	return v;
}

/* How many runs of an image had an argument. */
static int runs_with(const char *image, const char *arg)
{
	char *path = xasprintf("%s/%s/appended", dir, image), *text = read_file(path, NULL), *p;
	int n = 0;

	assert_non_null(text);
	for (p = text; (p = strstr(p, arg)); p++)
		n++;
	free(text);
	free(path);
	return n;
}

static void test_micro(void **state)
{
	char *cheap = replace(micro_log, "1040,1040", "240,240");

	(void)state;
	put_image("generic-upstream-load", micro_log);
	put_image("generic-scs-load", cheap);
	assert_int_equal(run("micro", "--args plain"), EXIT_OK);
	assert_true(value("generic: stack_trace_save()", "upstream", "depth 16") == 200);
	assert_true(value("generic: stack_trace_save()", "scs", "depth 16") == 40);
	assert_true(value("generic: stack_trace_save()", "fallback", "depth 16") == 40);
	/* Of the two kernels from one image, one walks frame records alone, in both its runs. */
	assert_int_equal(runs_with("generic-scs-load", "scs_trace=walk"), 2);
	assert_int_equal(runs_with("generic-scs-load", "scs_bench=micro"), 4);
	free(cheap);
}

/* Two runs that count instructions must give the same. */
static void test_micro_drift(void **state)
{
	char *other = replace(micro_log, "1040,1040", "1040,1041");

	(void)state;
	put_image("generic-upstream-load", micro_log);
	put("generic-upstream-load", "console-again", other);
	assert_int_equal(run("micro", "--args plain --variants upstream"), EXIT_FAILED);
	assert_printed("is not the same as run");
	assert_false(has_results());
	free(other);
}

static void test_micro_no_benchmark(void **state)
{
	(void)state;
	put_image("generic-upstream-load", "scs_bench: done\n");
	assert_int_equal(run("micro", "--args plain --variants upstream"), EXIT_FAILED);
	assert_printed("CONFIG_SCS_BENCH (LOAD=1)");
	assert_false(has_results());
}

static void test_no_image(void **state)
{
	(void)state;
	assert_int_equal(run("micro", "--variants upstream"), EXIT_UNUSABLE);
	assert_printed("LOAD=1");
	assert_int_equal(run("memory", "--clean upstream"), EXIT_UNUSABLE);
	assert_printed("MODE/VARIANT");
	assert_int_equal(run("memory", "--modes generic,hw_tags"), EXIT_UNUSABLE);
	assert_printed("measure hw_tags alone");
	assert_int_equal(run("memory", "--modes hw_tags"), EXIT_UNUSABLE);
	assert_printed("hw_none-upstream/Image");
	assert_int_equal(run("load", "--exact-runs 0"), EXIT_UNUSABLE);
	assert_printed("--wall");
}

static void test_memory(void **state)
{
	char *more = replace(memory_log, "MemFree: 700", "MemFree: 640");

	(void)state;
	put_image("none-upstream", memory_log);
	put_image("generic-upstream", more);
	assert_int_equal(run("memory", "--modes generic --variants upstream --args plain"),
			 EXIT_OK);
	assert_true(value("memory, boot", "none/upstream", "memory in use") == 200 * 1024);
	assert_true(value("memory, boot", "generic/upstream", "overhead") == 0);
	assert_true(value("memory, files-10", "generic/upstream", "more than the clean kernel") ==
		    60 * 1024);
	assert_true(value("memory, files-10", "generic/upstream", "overhead") == 20);
	assert_true(value("memory, files-10", "generic/upstream", "stack depot") ==
		    3 * 4 * 4096 + 1024);
	free(more);
}

/* A guest that ran out of memory must not count as one that needs little. */
static void test_memory_error(void **state)
{
	(void)state;
	put_image("none-upstream", memory_log);
	put_image("generic-upstream", "scs_bench: error creating a file on tmpfs: errno 12\n");
	assert_int_equal(run("memory", "--modes generic --variants upstream --args plain"),
			 EXIT_FAILED);
	assert_printed("creating a file on tmpfs");
	assert_false(has_results());
}

static void test_load(void **state)
{
	char *slow = replace(load_log, "user_us 10000 system_us 40000",
			     "user_us 10000 system_us 190000");
	static const char group[] =
		"stress, work per CPU second, per cent of the clean kernel's, by instructions";

	(void)state;
	put_image("none-upstream-load", load_log);
	put_image("generic-scs-load", slow);
	assert_int_equal(run("load", "--variants scs --args plain"), EXIT_OK);
	assert_true(value(group, "generic/scs", "fork") == 100);
	assert_true(value(group, "generic/scs", "pipe") == 25);
	assert_true(value(group, "generic/scs", "geometric mean") == 50);
	assert_true(value("compile, CPU time, by instructions", "generic/scs", "gcc") == 0.4);
	assert_printed("3 of 4 jobs (exact) ran on none/upstream");
	assert_printed("stress/none");
	free(slow);
}

/* Times are never exact, nor is what is made of them; and the machine's noise comes with them. */
static void test_load_wall(void **state)
{
	static const char time[] = "stress, CPU time";
	static const char speed[] = "stress, work per CPU second, per cent of the clean kernel's";
	json_t *results, *f;

	(void)state;
	put_image("none-upstream-load", load_log);
	put_image("generic-scs-load", load_log);
	assert_int_equal(run("load", "--variants scs --args plain --exact-runs 0 --wall --runs 1"),
			 EXIT_OK);
	results = read_results();
	f = results_find(results, time, "generic/scs", "fork");
	assert_true(json_is_false(json_object_get(f, "exact")));
	assert_non_null(json_object_get(f, "interval"));
	assert_non_null(results_find_noise(results, time, "fork"));
	f = results_find(results, speed, "generic/scs", "geometric mean");
	assert_true(results_value(f) == 100);
	assert_true(json_is_false(json_object_get(f, "exact")));
	assert_non_null(json_object_get(f, "interval"));
	assert_null(json_object_get(f, "against"));
	json_decref(results);
	assert_printed("noise: a kernel against itself");
	/* a warm-up, and the clean kernel twice */
	assert_int_equal(runs_with("none-upstream-load", "load"), 3);
	assert_int_equal(runs_with("generic-scs-load", "load"), 1);
}

static void test_micro_wall(void **state)
{
	json_t *results;

	(void)state;
	put_image("generic-upstream-load", micro_log);
	put_image("generic-scs-load", micro_log);
	assert_int_equal(run("micro", "--variants upstream,scs --args plain --wall --runs 2"),
			 EXIT_OK);
	results = read_results();
	assert_non_null(results_find_noise(results, "generic: stack_trace_save()",
					   "depth 16 (time)"));
	json_decref(results);
	/* two exact ones, a warm-up, two, and the first kernel twice as often */
	assert_int_equal(runs_with("generic-upstream-load", "scs_bench=micro"), 7);
	assert_int_equal(runs_with("generic-scs-load", "scs_bench=micro"), 5);
}

/* What fails on one kernel only must not count as fast there. */
static void test_load_job_fails(void **state)
{
	char *bad = replace(load_log, "pipe status 0", "pipe status 256");

	(void)state;
	put_image("none-upstream-load", load_log);
	put_image("generic-scs-load", bad);
	assert_int_equal(run("load", "--variants scs --args plain"), EXIT_FAILED);
	assert_printed("stress/pipe fails there, but not on none/upstream");
	assert_false(has_results());
	free(bad);
}

int run_guest_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_micro_cost),
		cmocka_unit_test(test_micro_refuses),
		cmocka_unit_test(test_memory_refuses),
		cmocka_unit_test(test_load_refuses),
		cmocka_unit_test_setup_teardown(test_micro, setup, teardown),
		cmocka_unit_test_setup_teardown(test_micro_drift, setup, teardown),
		cmocka_unit_test_setup_teardown(test_micro_no_benchmark, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_image, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_wall, setup, teardown),
		cmocka_unit_test_setup_teardown(test_micro_wall, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_job_fails, setup, teardown),
	};

	return cmocka_run_group_tests_name("guest", tests, NULL, NULL);
}
