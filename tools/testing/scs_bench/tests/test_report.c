// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the text table, the JSON, and of writing files whole or not at all.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "results.h"
#include "test.h"

static struct call_count calls[3] = {
	{ .name = "stack_depot_save_flags", .naddr = 1, .total = 18559, .early = 2766 },
	{ .name = "stack_depot_save_flags", .naddr = 0 },
	{ .name = "stack_depot_save_flags", .naddr = 1, .total = 18000, .early = 2700 },
};

static double walls[3][2] = { { 2.5, 2.4 }, { 2.2, 2.3 }, { 2.25, 2.35 } };

static char *count_names[] = { (char *)"stack_depot_save_flags", NULL };
static struct counter depot[] = {
	{ (char *)"pools", 26 }, { (char *)"persistent_count", 2486 },
	{ (char *)"refcounted_in_use", 14 }, { (char *)"persistent_bytes", 422400 },
};

static struct counter collector[] = { { (char *)"saved", 17999 } };

static struct boot_options opts;
static struct variant variants[3];

static struct boot_result sample(void)
{
	static const char * const names[] = { "upstream", "null", "scs" };
	static const u64 reset[] = { 734345837, 686601171, 690000000 };
	size_t i;

	opts = (struct boot_options) {
		.mode = "generic", .mem = "2G", .qemu = "/usr/bin/qemu", .runs = 2, .seed = 42,
		.count = { count_names, 1 },
	};
	for (i = 0; i < 3; i++) {
		variants[i] = (struct variant) {
			.name = names[i],
			.image = (char *)"Image",
			.kernel_args = (char *)"panic=-1",
			.version = (char *)"6.12.117",
			.compiler = (char *)"clang 19",
			.log.banner = (char *)"Linux version 6.12.117",
			.log.pagesize = 4096,
			.log.stackdepot = { depot, 4, true },
			.exact = { { reset[i], 250000 }, { reset[i], 250000 } },
			.resolution = 1,
			.after_error = 19865,
			.calls = &calls[i],
			.wall = walls[i],
			.nwall = 2,
			.warmup = 3,
		};
	}
	variants[2].log.scs_trace = (struct counters){ collector, 1, true };
	return (struct boot_result) {
		.opts = &opts,
		.variants = variants,
		.nvariants = 3,
		.qemu_version = (char *)"QEMU emulator version 10.0.2",
		.wall_method = "perf stat --null",
	};
}

#define BLANKS "                     "
#define DASH "                -"

static char *table(const struct boot_result *res)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_table(res, out);
	fclose(out);
	return text;
}

static void test_format_count(void **state)
{
	char buf[COUNT_SIZE];

	(void)state;
	assert_string_equal(format_count(0, buf), "0");
	assert_string_equal(format_count(999, buf), "999");
	assert_string_equal(format_count(1000, buf), "1,000");
	assert_string_equal(format_count(734345837, buf), "734,345,837");
	assert_string_equal(format_count(ULLONG_MAX, buf), "18,446,744,073,709,551,615");
}

static void test_table(void **state)
{
	struct boot_result res = sample();
	char *text = table(&res);

	(void)state;
	assert_non_null(strstr(text, "734,345,837      686,601,171      690,000,000"));
	assert_non_null(strstr(text, "92.9 %"));
	/* null and upstream cost the same after time_init(): there is no share to tell */
	assert_non_null(strstr(text, "after time_init()" BLANKS DASH DASH DASH "\n"));
	assert_non_null(strstr(text, "18,559                -           18,000\n"));
	assert_non_null(strstr(text, "2.450            2.250            2.300\n"));
	assert_non_null(strstr(text, "scs_trace: saved"));
	assert_non_null(strstr(text, "425,984"));
	assert_non_null(strstr(text, "perf stat --null"));
	assert_non_null(strstr(text, "seed 42"));
	free(text);
}

static void test_table_without_null(void **state)
{
	struct boot_result res = sample();
	char *text;

	(void)state;
	variants[1].name = "other";
	res.wall_method = NULL;
	text = table(&res);
	assert_non_null(strstr(text, "needs the variants upstream and null"));
	assert_non_null(strstr(text, "wall time: not measured"));
	assert_null(strstr(text, "seed"));
	free(text);
}

static void test_json(void **state)
{
	struct boot_result res = sample();
	json_t *json = report_json(&res), *back, *scs, *up, *part;
	char *text;

	(void)state;
	assert_non_null(json);
	text = json_dumps(json, 0);
	back = json_loads(text, 0, NULL);
	assert_true(json_equal(json, back));
	assert_string_equal(json_string_value(json_object_get(back, "kernel_version")),
			    "6.12.117");
	scs = json_object_get(json_object_get(back, "variants"), "scs");
	up = json_object_get(json_object_get(back, "variants"), "upstream");
	part = json_object_get(json_object_get(scs, "instructions"), "from_reset");
	assert_int_equal(json_integer_value(json_object_get(part, "value")), 690000000);
	assert_int_equal(json_array_size(json_object_get(part, "samples")), EXACT_RUNS);
	part = json_object_get(scs, "share_removed");
	assert_float_equal(json_real_value(json_object_get(part, "from_reset")), 0.92882, 0.00001);
	assert_null(json_object_get(part, "after_time_init"));
	assert_true(json_is_null(json_object_get(up, "share_removed")));
	assert_true(json_is_null(json_object_get(up, "scs_trace")));
	part = json_object_get(scs, "wall_seconds");
	assert_int_equal(json_array_size(json_object_get(part, "samples")), 2);
	assert_float_equal(json_real_value(json_object_get(part, "median")), 2.3, 0.000000001);
	part = json_object_get(scs, "depot");
	assert_int_equal(json_integer_value(json_object_get(part, "traces")), 2500);
	part = json_object_get(json_object_get(json_object_get(back, "variants"), "null"),
			       "calls");
	assert_true(json_is_null(json_object_get(part, "stack_depot_save_flags")));
	json_decref(back);
	json_decref(json);
	free(text);
}

static void test_json_no_wall(void **state)
{
	struct boot_result res = sample();
	json_t *json, *part;

	(void)state;
	res.wall_method = NULL;
	variants[0].nwall = 0;
	json = report_json(&res);
	part = json_object_get(json_object_get(json, "variants"), "upstream");
	assert_true(json_is_null(json_object_get(part, "wall_seconds")));
	json_decref(json);
}

static void test_json_not_utf8(void **state)
{
	struct boot_result res = sample();

	(void)state;
	variants[0].image = (char *)"\xff\xfe";
	assert_null(report_json(&res));
}

static void test_write_file(void **state)
{
	char *dir = temp_dir();
	char *path = xasprintf("%s/file", dir), *tmp = xasprintf("%s/file.tmp", dir);
	char *below = xasprintf("%s/file/below", dir), *text;
	char *sub = xasprintf("%s/sub", dir);

	(void)state;
	assert_int_equal(write_file_atomic(path, "one\n"), 0);
	assert_int_equal(write_file_atomic(path, "two\n"), 0);
	text = read_file(path, NULL);
	assert_string_equal(text, "two\n");
	free(text);
	assert_int_equal(access(tmp, F_OK), -1);

	assert_int_equal(write_file_atomic(below, "three\n"), -1);
	assert_int_equal(errno, ENOTDIR);
	/* a directory in its place: what was written is taken back */
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(write_file_atomic(sub, "four\n"), -1);
	free(tmp);
	tmp = xasprintf("%s/sub.tmp", dir);
	assert_int_equal(access(tmp, F_OK), -1);

	free(sub);
	free(below);
	free(tmp);
	free(path);
	remove_dir(dir);
}

/**
 * run_report_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_report_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_count),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_without_null),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_no_wall),
		cmocka_unit_test(test_json_not_utf8),
		cmocka_unit_test(test_write_file),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
