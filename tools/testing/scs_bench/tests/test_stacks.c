// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the comparer of stack traces, on a log cut down from a real one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "test.h"

#define RULE "==================================================================\n"

static const char kasan_log[] =
	"KTAP version 1\n"
	"1..1\n"
	"    KTAP version 1\n"
	"    # Subtest: kasan\n"
	"    # module: kasan_test\n"
	"    1..4\n"
	RULE
	"BUG: KASAN: slab-use-after-free in kmalloc_uaf+0x424/0x510\n"
	"Write of size 1 at addr fff000000420d673 by task kunit_try_catch/30\n"
	"\n"
	"CPU: 0 UID: 0 PID: 30 Comm: kunit_try_catch Tainted: G                 N 6.12.117 #1\n"
	"Call trace:\n"
	" dump_backtrace+0xe4/0x128\n"
	" kmalloc_uaf+0x424/0x510\n"
	"\n"
	"Allocated by task 30:\n"
	" kasan_save_track+0x40/0x78\n"
	" __kmalloc_cache_noprof+0x1a0/0x260\n"
	" kmalloc_uaf+0x6c/0x510\n"
	" kthread+0x1ec/0x250\n"
	"\n"
	"Freed by task 30:\n"
	" kasan_save_track+0x40/0x78\n"
	" kfree+0x100/0x200 [some_module]\n"
	" kmalloc_uaf+0x80/0x510\n"
	" 0xffff800080001234\n"
	"\n"
	"The buggy address belongs to the object at fff000000420d600\n"
	">fff000000420d600: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03 fc\n"
	RULE
	"    ok 1 kmalloc_uaf\n"
	RULE
	"BUG: KASAN: slab-use-after-free in workqueue_uaf+0x2c4/0x3a0\n"
	"Allocated by task 92:\n"
	" kasan_save_track+0x40/0x78\n"
	" workqueue_uaf+0x90/0x3a0\n"
	"\n"
	"Freed by task 9:\n"
	" kfree+0x100/0x200\n"
	" process_one_work+0x100/0x200\n"
	"\n"
	"Last potentially related work creation:\n"
	" kasan_record_aux_stack+0x40/0x78\n"
	" queue_work_on+0x90/0x3a0\n"
	"\n"
	"Second to last potentially related work creation:\n"
	" call_rcu+0x40/0x78\n"
	"\n"
	RULE
	"    ok 2 workqueue_uaf\n"
	"    ok 3 page_alloc_oob_right # SKIP Test requires CONFIG_KASAN_GENERIC=n\n"
	RULE
	"BUG: KASAN: slab-out-of-bounds in kmem_cache_oob+0x2c4/0x3a0\n"
	"Allocated by task 101:\n"
	"(stack is not available)\n"
	"\n"
	RULE
	"    ok 4 kmem_cache_oob\n"
	"# kasan: pass:3 fail:0 skip:1 total:4\n"
	"ok 1 kasan\n";

static const char owner_log[] =
	"scs_bench: begin page_owner\n"
	"scs_bench: record order 0, mask 0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)\n"
	" post_alloc_hook+0x1a4/0x210\n"
	" vma_alloc_folio_noprof+0x10/0x20\n"
	"scs_bench: record order 0, mask 0xcc0(GFP_KERNEL)\n"
	" post_alloc_hook+0x1a4/0x210\n"
	" pte_alloc_one+0x10/0x20\n"
	"scs_bench: record order 2, mask 0xd20c0(__GFP_IO)\n"
	" post_alloc_hook+0x1a4/0x210\n"
	" new_slab+0xe4/0x338\n"
	"scs_bench: end page_owner\n"
	"scs_bench: done\n";

static struct stack_result result;
static char *printed;

/* Compare two logs, both of which must be usable. */
static void compare(const char *a, const char *b)
{
	struct stack_log log_a, log_b;
	size_t size;
	FILE *out;

	free(printed);
	printed = NULL;
	out = open_memstream(&printed, &size);
	assert_true(stack_log_parse(a, &log_a));
	assert_true(stack_log_parse(b, &log_b));
	stack_log_compare(&log_a, &log_b, out, &result);
	fclose(out);
	stack_log_free(&log_a);
	stack_log_free(&log_b);
}

/* Compare a log with itself after a replacement. */
static void compare_changed(const char *log, const char *from, const char *to)
{
	char *changed = replace(log, from, to);

	compare(log, changed);
	free(changed);
}

static void expect(unsigned int passed, unsigned int failed, unsigned int skipped)
{
	assert_int_equal(result.passed, passed);
	assert_int_equal(result.failed, failed);
	assert_int_equal(result.skipped, skipped);
}

static void test_parse(void **state)
{
	struct stack_log log;
	const struct report *r;

	(void)state;
	assert_true(stack_log_parse(kasan_log, &log));
	assert_int_equal(log.ntests, 4);
	assert_string_equal(log.tests[0].name, "kasan.kmalloc_uaf");
	assert_string_equal(log.tests[0].status, "ok");
	assert_string_equal(log.tests[2].status, "skip");
	assert_int_equal(log.tests[0].nreports, 1);
	r = &log.tests[0].reports[0];
	assert_string_equal(r->title, "slab-use-after-free in kmalloc_uaf");
	/* the trace of the report itself does not come from the depot */
	assert_int_equal(r->nstacks, 2);
	assert_string_equal(r->stacks[1].what, "Freed by task");
	assert_int_equal(r->stacks[1].frames.n, 4);
	assert_string_equal(r->stacks[1].frames.v[1], "kfree");
	assert_string_equal(r->stacks[1].frames.v[3], "(no symbol)");
	assert_int_equal(log.tests[1].reports[0].nstacks, 4);
	assert_string_equal(log.tests[3].reports[0].stacks[0].frames.v[0],
			    "(stack is not available)");
	stack_log_free(&log);
}

static void test_equal(void **state)
{
	(void)state;
	compare(kasan_log, kasan_log);
	expect(3, 0, 1);
	/* offsets, modules, addresses and task numbers do not matter */
	compare_changed(kasan_log, "+0x6c/0x510", "+0x70/0x520");
	expect(3, 0, 1);
	compare_changed(kasan_log, " [some_module]", "");
	expect(3, 0, 1);
	compare_changed(kasan_log, "by task 30:", "by task 31:");
	expect(3, 0, 1);
	compare_changed(kasan_log, "0xffff800080001234", "0xffff800080009999");
	expect(3, 0, 1);
	/* nor does the report's own trace */
	compare_changed(kasan_log, " dump_backtrace+", " show_stack+");
	expect(3, 0, 1);
}

static void test_prefixes(void **state)
{
	char *stamped = replace(kasan_log, "\n", "\n[    1.234567] [   T30] ");

	(void)state;
	compare(kasan_log, stamped);
	expect(3, 0, 1);
	free(stamped);
}

static void test_function_differs(void **state)
{
	(void)state;
	compare_changed(kasan_log, " __kmalloc_cache_noprof+", " __kmalloc_noprof+");
	expect(2, 1, 1);
	assert_non_null(strstr(printed, "not ok - kasan.kmalloc_uaf (1 reports, 2 stacks)\n"));
	assert_non_null(strstr(printed, "! __kmalloc_cache_noprof"));
	assert_non_null(strstr(printed, "ok - kasan.workqueue_uaf"));
	/* work creation is compared, too */
	compare_changed(kasan_log, " call_rcu+", " call_srcu+");
	expect(2, 1, 1);
	compare_changed(kasan_log, " queue_work_on+", " queue_work_at+");
	expect(2, 1, 1);
	assert_non_null(strstr(printed, "not ok - kasan.workqueue_uaf (1 reports, 4 stacks)\n"));
}

/* Who freed what lay there before is chance where stacks are found by tag, and only there. */
static void test_earlier_free(void **state)
{
	static const char bug[] = "BUG: KASAN: slab-use-after-free in kmalloc_uaf+0x424/0x510\n";
	static const char tag[] = "Pointer tag: [f5], memory tag: [fe]\n";
	char *with_tag = xasprintf("%s%s", bug, tag);
	char *tagged = replace(kasan_log, bug, with_tag);
	char *before = replace(tagged, " kmalloc_uaf+0x80/0x510", " kobject_get_path+0x80/0x510");
	char *other = replace(before, " kobject_get_path+", " kobject_put+");
	char *untagged = replace(before, tag, "");

	(void)state;
	compare(tagged, tagged);
	expect(3, 0, 1);
	compare(before, other);
	expect(3, 0, 1);
	assert_non_null(strstr(printed, "an earlier object's free"));
	compare(tagged, before);
	expect(2, 1, 1);
	compare(kasan_log, untagged);
	expect(2, 1, 1);
	free(untagged);
	free(other);
	free(before);
	free(tagged);
	free(with_tag);
}

/* The object hit is not the test's own: who allocated it is chance, unless one log knows better. */
static void test_neighbour(void **state)
{
	char *stranger = replace(kasan_log, " kmalloc_uaf+0x6c", " kobject_get_path+0x6c");
	char *other = replace(stranger, " __kmalloc_cache_noprof+", " __kmalloc_noprof+");

	(void)state;
	compare(stranger, other);
	expect(2, 0, 2);
	assert_non_null(strstr(printed, "neighbour"));
	compare(kasan_log, stranger);
	expect(2, 1, 1);
	compare(stranger, kasan_log);
	expect(2, 1, 1);
	free(other);
	free(stranger);
}

#define BUG	"BUG: KASAN: slab-out-of-bounds in kmem_cache_oob+0x2c4/0x3a0\n"
#define TAG	"Pointer tag: [f5], memory tag: [f2]\n"
#define OWN	"Allocated by task 101:\n kmem_cache_oob+0x10/0x20\n\n"
#define OTHER	"Allocated by task 1:\n kobject_get_path+0x10/0x20\n\n"
#define FREE	"Freed by task 1:\n kfree+0x10/0x20\n\n"

/* Compare two logs that differ in what the last test reports. */
static void compare_reports(const char *a, const char *b)
{
	static const char report[] = BUG "Allocated by task 101:\n(stack is not available)\n\n";
	char *log_a = replace(kasan_log, report, a);
	char *log_b = replace(kasan_log, report, b);

	compare(log_a, log_b);
	free(log_b);
	free(log_a);
}

/* Where stacks are found by tag, it is chance if those of a neighbour are. */
static void test_tagged_neighbour(void **state)
{
	static const char renamed[] =
		"BUG: KASAN: invalid-access in kmem_cache_oob+0x2c4/0x3a0\n" TAG;

	(void)state;
	compare_reports(renamed, BUG TAG OTHER FREE);
	expect(2, 0, 2);
	compare_reports(BUG TAG OTHER FREE, renamed);
	expect(2, 0, 2);
	compare_reports(renamed, BUG TAG FREE);
	expect(2, 0, 2);
	/* without a stack in either, the name of the bug is compared */
	compare_reports(BUG TAG, renamed);
	expect(2, 1, 1);
	/* a stack of the test's own must not be lost */
	compare_reports(BUG TAG OWN, BUG TAG);
	expect(2, 1, 1);
	compare_reports(BUG TAG FREE, BUG TAG OWN);
	expect(2, 1, 1);
	assert_non_null(strstr(printed, "not ok - kasan.kmem_cache_oob (1 reports, 1 stacks)\n"));
	/* where one log lacks the report, a neighbour's stacks still don't count */
	compare_reports(BUG TAG OTHER FREE, "nothing\n");
	expect(2, 1, 1);
	assert_non_null(strstr(printed, "not ok - kasan.kmem_cache_oob (1 reports, 0 stacks)\n"));
	/* without tags, nothing of that is chance */
	compare_reports(BUG, BUG OTHER);
	expect(2, 1, 1);
}

/* A string function makes a report for each byte up to a zero, of a freed object that holds any. */
static void test_repeated(void **state)
{
	(void)state;
	compare_reports(BUG TAG OWN RULE, BUG TAG OWN RULE BUG TAG OWN RULE);
	expect(3, 0, 1);
	/* unless they differ */
	compare_reports(BUG TAG OWN RULE, BUG TAG OWN RULE BUG TAG OTHER RULE);
	expect(2, 1, 1);
	/* generic KASAN keeps the object from being used again */
	compare_reports(BUG OWN RULE, BUG OWN RULE BUG OWN RULE);
	expect(2, 1, 1);
}

static void test_frame_missing(void **state)
{
	(void)state;
	/* one frame less, at the end and in the middle */
	compare_changed(kasan_log, " kthread+0x1ec/0x250\n", "");
	expect(2, 1, 1);
	compare_changed(kasan_log, " __kmalloc_cache_noprof+0x1a0/0x260\n", "");
	expect(2, 1, 1);
	/* what comes after it is not marked */
	assert_non_null(strstr(printed, "! __kmalloc_cache_noprof"));
	assert_null(strstr(printed, "! kmalloc_uaf"));
	/* a trace that is not there against one that is */
	compare_changed(kasan_log, "(stack is not available)\n", " kthread+0x1ec/0x250\n");
	expect(2, 1, 1);
}

static void test_section_missing(void **state)
{
	(void)state;
	compare_changed(kasan_log, "Freed by task 9:\n", "");
	expect(2, 1, 1);
}

static void test_report_missing(void **state)
{
	(void)state;
	compare_changed(kasan_log, "BUG: KASAN: slab-out-of-bounds in kmem_cache_oob", "nothing");
	expect(2, 1, 1);
	assert_non_null(strstr(printed, "1 reports here, 0 there"));
	assert_non_null(strstr(printed, "not ok - kasan.kmem_cache_oob (1 reports, 1 stacks)\n"));
	compare_changed(kasan_log, "slab-use-after-free in workqueue", "double-free in workqueue");
	expect(2, 1, 1);
}

static void test_status_differs(void **state)
{
	(void)state;
	compare_changed(kasan_log, "    ok 2 workqueue_uaf", "    not ok 2 workqueue_uaf");
	expect(2, 1, 1);
	compare_changed(kasan_log, "right # SKIP Test", "right # Test");
	expect(3, 1, 0);
	assert_non_null(strstr(printed, "(0 reports, 0 stacks)\n"));
}

static void test_test_missing(void **state)
{
	(void)state;
	compare_changed(kasan_log, "    ok 4 kmem_cache_oob", "    ok 4 kmem_cache_bad");
	/* one is only here, the other only there: no count of stacks follows the name */
	expect(2, 2, 1);
	assert_non_null(strstr(printed, "only here\nnot ok - kasan.kmem_cache_oob\n"));
	assert_non_null(strstr(printed, "only there\nnot ok - kasan.kmem_cache_bad\n"));
}

static void expect_unusable(const char *text, const char *why)
{
	struct stack_log log;

	assert_false(stack_log_parse(text, &log));
	assert_non_null(strstr(log.problem, why));
	stack_log_free(&log);
}

static void test_truncated(void **state)
{
	char *text = xstrdup(kasan_log);

	(void)state;
	*strstr(text, "ok 1 kasan\n") = '\0';
	expect_unusable(text, "inside the suite kasan");
	*strstr(text, "    ok 4") = '\0';
	expect_unusable(text, "after 3 of 4");
	*strstr(text, "Last potentially") = '\0';
	expect_unusable(text, "inside the report");
	free(text);

	text = replace(kasan_log, "    1..4\n", "    1..5\n");
	expect_unusable(text, "announced 5 tests, but only 4");
	free(text);
}

static void test_nothing_to_compare(void **state)
{
	(void)state;
	expect_unusable("", "no KASAN report");
	expect_unusable("Linux version 6.12.117\nRun /init as init process\n", "no KASAN report");
	/* tests that ran, but without any report */
	expect_unusable("    # Subtest: kasan\n    1..1\n    ok 1 a\nok 1 kasan\n",
			"no KASAN report");
	/* only records that never count */
	expect_unusable("scs_bench: begin page_owner\nscs_bench: record order 0\n"
			" new_slab+0x1/0x2\nscs_bench: end page_owner\n", "no KASAN report");
	expect_unusable("scs_bench: begin page_owner\nscs_bench: record order 0\n"
			" pte_alloc_one+0x1/0x2\n", "inside the page_owner records");
}

static void test_outside(void **state)
{
	static const char text[] =
		"BUG: KASAN: slab-use-after-free in f+0x424/0x510\n"
		"Allocated by task 30:\n"
		" kasan_save_track+0x40/0x78\n"
		"\n" RULE;

	(void)state;
	compare(text, text);
	expect(1, 0, 0);
	compare_changed(text, "kasan_save_track", "kasan_save_stack");
	expect(0, 1, 0);
}

/* Results of a test's parameters, one level deeper, are not tests of their own. */
static void test_parameters(void **state)
{
	char *text = replace(kasan_log, "    ok 2 workqueue_uaf",
			     "        # Subtest: workqueue_uaf\n        1..9\n"
			     "        ok 1 first\n    ok 2 workqueue_uaf");

	(void)state;
	compare(kasan_log, text);
	expect(3, 0, 1);
	free(text);
}

static void test_page_owner(void **state)
{
	(void)state;
	compare(owner_log, owner_log);
	expect(1, 0, 0);
	/* pages of the slab allocator come and go with its state */
	compare_changed(owner_log, "mask 0xd20c0", "mask 0xd20c4");
	expect(1, 0, 0);
	compare_changed(owner_log, " pte_alloc_one+", " pmd_alloc_one+");
	expect(0, 1, 0);
	assert_non_null(strstr(printed, "only here"));
	assert_non_null(strstr(printed, "only there"));
	compare_changed(owner_log, "order 0, mask 0xcc0", "order 1, mask 0xcc0");
	expect(0, 1, 0);
	/* a log of the other kind has nothing of the sort */
	compare(owner_log, kasan_log);
	expect(0, 5, 0);
}

static int free_printed(void **state)
{
	(void)state;
	free(printed);
	printed = NULL;
	return 0;
}

/**
 * run_stacks_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_stacks_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_function_differs),
		cmocka_unit_test(test_earlier_free),
		cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_tagged_neighbour),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_frame_missing),
		cmocka_unit_test(test_section_missing),
		cmocka_unit_test(test_report_missing),
		cmocka_unit_test(test_status_differs),
		cmocka_unit_test(test_test_missing),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_nothing_to_compare),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_page_owner),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, free_printed);
}
