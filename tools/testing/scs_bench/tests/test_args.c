// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the arguments of "boot" and of the command lines that QEMU gets.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd_boot.h"
#include "qemu.h"
#include "test.h"

#define ALL "boot --modes hw_tags,none --variants a,b --runs 3 --mem 4G --seed 7 " \
	    "--args plain,x=1 --append page_owner=on --count f,g --timeout 2.5 --kver 6.1 " \
	    "--no-wall --no-perf " \
	    "--out o --json j --images i --qemu q --initrd r --resume --initcalls 3 --image n=p"

#define EVERYTHING "boot --modes all --args all --variants none --image a=b --count none"

static int parse(const char *line, struct boot_options *opts, struct strv *argv)
{
	strv_free(argv);
	strv_split(argv, line, " ");
	return boot_parse_args(argv->n, argv->v, opts);
}

static void test_defaults(void **state)
{
	struct boot_options opts;
	struct common_opts *common = &opts.session.opts;
	struct strv argv = { 0 };

	(void)state;
	setenv("SCS_BUILD", "/nonexistent/build", 1);
	assert_int_equal(parse("boot", &opts, &argv), EXIT_OK);
	unsetenv("SCS_BUILD");
	assert_int_equal(opts.modes.n, 1);
	assert_string_equal(opts.modes.v[0], "generic");
	assert_int_equal(opts.variants.n, 3);
	assert_string_equal(opts.variants.v[1], "null");
	assert_string_equal(opts.count.v[0], "stack_depot_save_flags");
	assert_false(opts.no_wall);
	assert_string_equal(common->mem, "2G");
	assert_int_equal(common->runs, 10);
	assert_false(common->resume);
	assert_string_equal(common->out, "/nonexistent/build/bench/boot.runs");
	assert_string_equal(common->json, "/nonexistent/build/bench/boot.json");
	assert_string_equal(common->images, "/nonexistent/build/images/6.12");
	boot_free_options(&opts);
	assert_int_equal(parse(EVERYTHING, &opts, &argv), EXIT_OK);
	assert_int_equal(opts.modes.n, 4);
	assert_int_equal(opts.args.n, 4);
	assert_string_equal(opts.args.v[3], "page_owner=on page_poison=1");
	assert_int_equal(opts.variants.n, 0);
	assert_int_equal(opts.count.n, 0);
	boot_free_options(&opts);
	strv_free(&argv);
}

static void test_all(void **state)
{
	struct boot_options opts;
	struct common_opts *common = &opts.session.opts;
	struct strv argv = { 0 };

	(void)state;
	assert_int_equal(parse(ALL, &opts, &argv), EXIT_OK);
	assert_int_equal(opts.modes.n, 2);
	assert_string_equal(opts.modes.v[1], "none");
	assert_string_equal(opts.variants.v[0], "a");
	assert_string_equal(opts.args.v[1], "x=1");
	assert_string_equal(opts.append, "page_owner=on");
	assert_string_equal(opts.images.v[0], "n=p");
	assert_int_equal(opts.count.n, 2);
	assert_int_equal(opts.top, 3);
	assert_true(opts.no_wall);
	assert_int_equal(common->runs, 3);
	assert_int_equal(common->seed, 7);
	assert_float_equal(common->timeout, 2.5, 0);
	assert_string_equal(common->kver, "6.1");
	assert_string_equal(common->mem, "4G");
	assert_string_equal(common->out, "o");
	assert_string_equal(common->json, "j");
	assert_string_equal(common->qemu, "q");
	assert_string_equal(common->initrd, "r");
	assert_true(common->resume);
	assert_true(common->no_perf);
	boot_free_options(&opts);
	strv_free(&argv);
}

static void test_refused(void **state)
{
	static const char * const lines[] = {
		"boot --runs 0",
		"boot --runs -1",
		"boot --runs 2.5",
		"boot --runs ten",
		"boot --runs 10x",
		"boot --runs 99999999999999999999",
		"boot --timeout 0",
		"boot --timeout soon",
		"boot --timeout nan",
		"boot --seed -1",
		"boot --seed x",
		"boot --initcalls x",
		"boot --variants ,",
		"boot --variants none",
		"boot --modes ,",
		"boot --args ,",
		"boot --image noname",
		"boot --image =path",
		"boot --image name=",
		"boot --unknown",
		"boot --runs",
		"boot stray",
	};
	struct boot_options opts;
	struct strv argv = { 0 };
	size_t i;

	(void)state;
	setenv("SCS_BUILD", "/nonexistent/build", 1);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(lines[i], &opts, &argv), EXIT_UNUSABLE);
		boot_free_options(&opts);
	}
	unsetenv("SCS_BUILD");
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

	spec.icount = false;
	spec.kvm = true;
	text = command_line(&spec);
	assert_non_null(strstr(text, "|virt,gic-version=host|-accel|kvm|-cpu|host|-m|2G|"));
	free(text);
	spec.kvm = false;

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
