// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the parsers: console lines, init's report, perf, QEMU's execution log, System.map.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "test.h"

#define BANNER "Linux version 6.12.117 (scs_trace@build) (Debian clang version 19.1.7 " \
	       "(3~deb12u1), Debian LLD 19.1.7) #1 SMP Thu Jan  1 00:00:00 UTC 1970"

static const char boot_text[] =
	"Booting Linux on physical CPU 0x0000000000 [0x000f0510]\r\n"
	BANNER "\r\n"
	"Run /init as init process\r\n"
	"scs_bench: kmsg 734785467 734805332 275842\r\n"
	"scs_bench: entry 0x2107f8\r\n"
	"scs_bench: cntfrq 1000000000\r\n"
	"scs_bench: cntvct 734721954\r\n"
	"scs_bench: pagesize 4096\r\n"
	"scs_bench: begin stackdepot\r\n"
	"pools: 26\r\n"
	"refcounted_in_use: 0\r\n"
	"persistent_count: 2486\r\n"
	"scs_bench: end stackdepot\r\n"
	"not_a_counter: 5\r\n"
	"scs_bench: begin scs_trace\r\n"
	"saved 18559\r\n"
	"fallback, IRQ stack: 3\r\n"
	"without a value\r\n"
	"scs_bench: end scs_trace\r\n"
	"scs_bench: done\r\n";

static void test_printk_text(void **state)
{
	(void)state;
	assert_string_equal(printk_text("plain"), "plain");
	assert_string_equal(printk_text(" kthread+0x1/0x2"), " kthread+0x1/0x2");
	assert_string_equal(printk_text("[    1.234567] text"), "text");
	assert_string_equal(printk_text("[    1.234567]  kthread+0x1/0x2"), " kthread+0x1/0x2");
	assert_string_equal(printk_text("[    1.234567] [    T1] text"), "text");
	assert_string_equal(printk_text("[    1.234567][   T12]  f+0x1/0x2"), " f+0x1/0x2");
	assert_string_equal(printk_text("[   C0] text"), "text");
	assert_string_equal(printk_text("<4>[    1.234567] text"), "text");
	assert_string_equal(printk_text("<no level> text"), "<no level> text");
	assert_string_equal(printk_text("[mem 0x0-0x1] text"), "[mem 0x0-0x1] text");
	assert_string_equal(printk_text("[unterminated 1"), "[unterminated 1");
	assert_string_equal(printk_text("[] text"), "[] text");
	assert_string_equal(printk_text(""), "");
}

static void test_log_line(void **state)
{
	const char *pos = "one\r\n\ntwo\r\r\nlast";
	static const char * const want[] = { "one", "", "two", "last" };
	size_t i;
	char *line;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		line = log_line(&pos);
		assert_non_null(line);
		assert_string_equal(line, want[i]);
		free(line);
	}
	assert_null(log_line(&pos));
}

static void test_boot_log(void **state)
{
	struct boot_log log;

	(void)state;
	boot_log_parse(boot_text, &log);
	assert_string_equal(log.banner, BANNER);
	assert_null(log.error);
	assert_int_equal(log.entry, 0x2107f8);
	assert_int_equal(log.cntvct, 734721954);
	assert_int_equal(log.cntfrq, 1000000000);
	assert_int_equal(log.kmsg_before, 734785467);
	assert_int_equal(log.kmsg_after, 734805332);
	assert_int_equal(log.kmsg_us, 275842);
	assert_int_equal(log.pagesize, 4096);
	assert_true(log.done);
	assert_true(log.stackdepot.present);
	assert_int_equal(log.stackdepot.n, 3);
	assert_int_equal(counter_find(&log.stackdepot, "persistent_count")->value, 2486);
	assert_null(counter_find(&log.stackdepot, "not_a_counter"));
	assert_int_equal(log.scs_trace.n, 2);
	assert_int_equal(counter_find(&log.scs_trace, "saved")->value, 18559);
	assert_int_equal(counter_find(&log.scs_trace, "fallback, IRQ stack")->value, 3);
	boot_log_free(&log);
}

static void test_boot_log_prefixes(void **state)
{
	char *stamped = replace(boot_text, "Linux version", "[    0.000000] Linux version");
	struct boot_log log;

	(void)state;
	boot_log_parse(stamped, &log);
	assert_string_equal(log.banner, BANNER);
	boot_log_free(&log);
	free(stamped);
}

static void test_boot_log_cut_short(void **state)
{
	char *text = xstrdup(boot_text);
	struct boot_log log;

	(void)state;
	*strstr(text, "scs_bench: done") = '\0';
	boot_log_parse(text, &log);
	assert_false(log.done);
	boot_log_free(&log);
	free(text);

	boot_log_parse("", &log);
	assert_null(log.banner);
	assert_false(log.done);
	assert_false(log.stackdepot.present);
	boot_log_free(&log);
}

static void test_boot_log_error(void **state)
{
	struct boot_log log;

	(void)state;
	boot_log_parse("scs_bench: error mounting /proc: errno 2\n", &log);
	assert_string_equal(log.error, "mounting /proc: errno 2");
	boot_log_free(&log);
}

static void test_banner(void **state)
{
	char *version, *compiler;

	(void)state;
	assert_true(banner_split(BANNER, &version, &compiler));
	assert_string_equal(version, "6.12.117");
	assert_string_equal(compiler,
			    "Debian clang version 19.1.7 (3~deb12u1), Debian LLD 19.1.7");
	free(version);
	free(compiler);
	assert_true(banner_split("Linux version 7.2-rc1+ (a@b) (gcc (Debian 12) 12.2, GNU ld) #1",
				 &version, &compiler));
	assert_string_equal(version, "7.2");
	assert_string_equal(compiler, "gcc (Debian 12) 12.2, GNU ld");
	free(version);
	free(compiler);
	assert_false(banner_split("Linux version 6.12", &version, &compiler));
	assert_false(banner_split("Linux version 6.12 (a@b) (gcc (unclosed", &version,
				  &compiler));
	assert_false(banner_split("FreeBSD 14", &version, &compiler));
}

static void test_perf(void **state)
{
	double seconds = 0;

	(void)state;
	assert_true(perf_parse("# started on Mon\n\n Performance counter stats for 'true':\n\n"
			       "       2.011873960 seconds time elapsed\n\n"
			       "       0.000000000 seconds user\n", &seconds));
	assert_float_equal(seconds, 2.01187396, 0.000000001);
	assert_false(perf_parse("", &seconds));
	assert_false(perf_parse(" seconds time elapsed", &seconds));
	assert_false(perf_parse("0.000000000 seconds time elapsed", &seconds));
	assert_false(perf_parse("1.5 seconds user\n", &seconds));
}

static FILE *text_file(const char *text)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	return f;
}

#define TRACE(pc) "Trace 0: 0x7f30a03bf880 [00105005/" pc "/00000121/ff022200]\n"
#define SAVE "ffff8000806d5ca8"
#define OTHER "ffff800080391a20"
#define TIME_INIT "ffff800080e35f50"
#define ENTRY "00000000002107f8"

static struct call_count some_calls[2];

static int count(const char *text, u64 *anchors)
{
	FILE *f = text_file(text);
	int ret;

	memset(some_calls, 0, sizeof(some_calls));
	some_calls[0].name = "stack_depot_save_flags";
	some_calls[0].addr[0] = 0xffff8000806d5ca8;
	some_calls[0].naddr = 1;
	some_calls[1].name = "two_of_a_name";
	some_calls[1].addr[0] = 0xffff800080391a20;
	some_calls[1].addr[1] = 0xffff800080391a24;
	some_calls[1].naddr = 2;
	ret = exec_log_count(f, some_calls, 2, 0xffff800080e35f50, 0x2107f8, anchors);
	fclose(f);
	return ret;
}

static void test_exec_log(void **state)
{
	u64 anchors;

	(void)state;
	assert_int_equal(count(TRACE(SAVE) TRACE(OTHER) TRACE("ffff800080000000") TRACE(SAVE)
			       TRACE(TIME_INIT) TRACE(SAVE) TRACE("ffff800080391a24")
			       TRACE(ENTRY) TRACE(SAVE), &anchors), 0);
	assert_int_equal(anchors, 1);
	assert_int_equal(some_calls[0].total, 3);
	assert_int_equal(some_calls[0].early, 2);
	assert_int_equal(some_calls[1].total, 2);
	assert_int_equal(some_calls[1].early, 1);
}

/* A block that was left before its first instruction is logged again when it runs. */
static void test_exec_log_stopped(void **state)
{
	u64 anchors;

	(void)state;
	assert_int_equal(count(TRACE(TIME_INIT) TRACE(SAVE)
			       "Stopped execution of TB chain before 0x7f30a03bf880 [" SAVE "]\n"
			       TRACE(SAVE) TRACE(ENTRY), &anchors), 0);
	assert_int_equal(some_calls[0].total, 1);
	assert_int_equal(some_calls[0].early, 0);
}

static void test_exec_log_unusable(void **state)
{
	u64 anchors;

	(void)state;
	/* init was not reached */
	assert_int_equal(count(TRACE(TIME_INIT) TRACE(SAVE), &anchors), -1);
	assert_int_equal(count("", &anchors), -1);
	assert_int_equal(count("garbage\n\n[/]\nTrace\n", &anchors), -1);
	/* addresses of another kernel: the caller tells by time_init() */
	assert_int_equal(count(TRACE("ffff800080000000") TRACE(ENTRY), &anchors), 0);
	assert_int_equal(anchors, 0);
}

static int lookup(const char *text, struct call_count *calls, size_t n)
{
	FILE *f = text_file(text);
	int ret = system_map_lookup(f, calls, n);

	fclose(f);
	return ret;
}

static void test_system_map(void **state)
{
	struct call_count calls[3] = {
		{ .name = "time_init" }, { .name = "save_stack" }, { .name = "absent" },
	};

	(void)state;
	assert_int_equal(lookup("ffff800080391a20 t save_stack\n"
				"ffff800080391a24 T save_stack_trace\n"
				"ffff800080391b20 t save_stack\n"
				"ffff800080e35f50 T time_init\n"
				"ffff800081000000 D absent\n", calls, 3), 0);
	assert_int_equal(calls[0].naddr, 1);
	assert_int_equal(calls[0].addr[0], 0xffff800080e35f50);
	assert_int_equal(calls[1].naddr, 2);
	assert_int_equal(calls[1].addr[1], 0xffff800080391b20);
	assert_int_equal(calls[2].naddr, 0);

	assert_int_equal(lookup("", calls, 3), -1);
	assert_int_equal(lookup("no symbols\n", calls, 3), -1);
	/* more of one name than there is room for must not be cut off silently */
	assert_int_equal(lookup("1 t time_init\n2 t time_init\n3 t time_init\n4 t time_init\n"
				"5 t time_init\n", calls, 1), -1);
}

static void test_config(void **state)
{
	(void)state;
	assert_true(config_has("CONFIG_A=y\nCONFIG_B=y\n", "CONFIG_A"));
	assert_true(config_has("CONFIG_A=y\nCONFIG_B=y\n", "CONFIG_B"));
	assert_false(config_has("CONFIG_AB=y\n", "CONFIG_A"));
	assert_false(config_has("# CONFIG_A is not set\n", "CONFIG_A"));
	assert_false(config_has("# was CONFIG_A=y\n", "CONFIG_A"));
	assert_false(config_has("CONFIG_A=m\n", "CONFIG_A"));
}

/**
 * run_parse_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_parse_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printk_text),
		cmocka_unit_test(test_log_line),
		cmocka_unit_test(test_boot_log),
		cmocka_unit_test(test_boot_log_prefixes),
		cmocka_unit_test(test_boot_log_cut_short),
		cmocka_unit_test(test_boot_log_error),
		cmocka_unit_test(test_banner),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_exec_log),
		cmocka_unit_test(test_exec_log_stopped),
		cmocka_unit_test(test_exec_log_unusable),
		cmocka_unit_test(test_system_map),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
