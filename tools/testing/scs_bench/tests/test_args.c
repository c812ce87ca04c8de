// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the arguments of "boot" and of the command lines that QEMU gets.
 */
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "qemu.h"
#include "test.h"

#define NEEDED "boot --images i --qemu q --initrd r --output o "
#define ALL "--mode hw_tags --variants a,b --runs 3 --mem 4G --seed 7 " \
	    "--append page_owner=on --count f,g --timeout 2.5 --kver 6.12 --no-wall --no-perf"

/* The texts that @opts points at live as long as @argv does. */
static int parse(const char *line, struct boot_options *opts, struct strv *argv)
{
	strv_free(argv);
	strv_split(argv, line, " ");
	return boot_parse_args(argv->n, argv->v, opts);
}

static void test_defaults(void **state)
{
	struct boot_options opts;
	struct strv argv = { 0 };

	(void)state;
	assert_int_equal(parse(NEEDED, &opts, &argv), EXIT_OK);
	assert_string_equal(opts.mode, "generic");
	assert_string_equal(opts.mem, "2G");
	assert_int_equal(opts.runs, 10);
	assert_int_equal(opts.variants.n, 3);
	assert_string_equal(opts.variants.v[1], "null");
	assert_string_equal(opts.count.v[0], "stack_depot_save_flags");
	assert_null(opts.kver);
	assert_false(opts.no_wall);
	boot_free_options(&opts);
	strv_free(&argv);
}

static void test_all(void **state)
{
	struct boot_options opts;
	struct strv argv = { 0 };

	(void)state;
	assert_int_equal(parse(NEEDED ALL, &opts, &argv), EXIT_OK);
	assert_string_equal(opts.mode, "hw_tags");
	assert_int_equal(opts.variants.n, 2);
	assert_string_equal(opts.variants.v[0], "a");
	assert_int_equal(opts.runs, 3);
	assert_int_equal(opts.seed, 7);
	assert_string_equal(opts.append, "page_owner=on");
	assert_int_equal(opts.count.n, 2);
	assert_float_equal(opts.timeout, 2.5, 0);
	assert_string_equal(opts.kver, "6.12");
	assert_true(opts.no_wall);
	assert_true(opts.no_perf);
	boot_free_options(&opts);
	strv_free(&argv);
}

static void test_refused(void **state)
{
	static const char * const lines[] = {
		"boot",
		"boot --qemu q --initrd r --output o",
		"boot --images i --initrd r --output o",
		"boot --images i --qemu q --output o",
		"boot --images i --qemu q --initrd r",
		NEEDED "--runs 0",
		NEEDED "--runs -1",
		NEEDED "--runs 2.5",
		NEEDED "--runs ten",
		NEEDED "--runs 10x",
		NEEDED "--runs 99999999999999999999",
		NEEDED "--timeout 0",
		NEEDED "--timeout soon",
		NEEDED "--timeout nan",
		NEEDED "--seed -1",
		NEEDED "--seed x",
		NEEDED "--variants ,",
		NEEDED "--variants a,b,a",
		NEEDED "--count ,",
		NEEDED "--unknown",
		NEEDED "--runs",
		NEEDED "stray",
	};
	struct boot_options opts;
	struct strv argv = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(lines[i], &opts, &argv), EXIT_UNUSABLE);
		boot_free_options(&opts);
	}
	strv_free(&argv);
}

static char *command_line(const struct qemu_spec *spec)
{
	struct strv argv = { 0 };
	char *text = xstrdup(""), *longer;
	size_t i;

	qemu_argv(spec, &argv);
	for (i = 0; i < argv.n; i++) {
		longer = xasprintf("%s%s|", text, argv.v[i]);
		free(text);
		text = longer;
	}
	strv_free(&argv);
	return text;
}

static void test_command_line(void **state)
{
	struct qemu_spec spec = {
		.qemu = "/a b/qemu", .image = "I", .mem = "2G", .cpus = 1, .append = "x=1 y=2",
	};
	char *text = command_line(&spec);

	(void)state;
	assert_ptr_equal(strstr(text, "/a b/qemu|-machine|virt,mte=on,gic-version=3|-cpu|"), text);
	assert_non_null(strstr(text, "|-cpu|max,pauth-impdef=on|-m|2G|-smp|1|"));
	assert_non_null(strstr(text, "|-append|x=1 y=2|"));
	assert_non_null(strstr(text, "|-no-reboot|"));
	assert_null(strstr(text, "-icount"));
	assert_null(strstr(text, "-initrd"));
	assert_null(strstr(text, "perf"));
	free(text);

	spec.icount = true;
	spec.initrd = "R";
	spec.exec_log = "E";
	spec.dfilter = "0x1+0x4";
	text = command_line(&spec);
	assert_non_null(strstr(text, "|-icount|shift=0,sleep=off|"));
	assert_non_null(strstr(text, "|-initrd|R|"));
	assert_non_null(strstr(text, "|-d|exec,nochain|-dfilter|0x1+0x4|-D|E|"));
	free(text);

	spec.perf_out = "P Q";
	text = command_line(&spec);
	assert_ptr_equal(strstr(text, "perf|stat|--null|-o|P Q|--|/a b/qemu|"), text);
	free(text);
}

/**
 * run_args_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_args_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
