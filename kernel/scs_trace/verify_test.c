// SPDX-License-Identifier: GPL-2.0
/* KUnit: the checker finds whatever is wrong with a trace, and nothing in one that is right. */

#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/scs.h>
#include <linux/scs_trace.h>
#include <linux/string.h>

#include "scs_trace.h"

#define MAX_ENTRIES	192
#define DEPTH		12

/**
 * struct altered - a trace, what is done to it, and what the checker says
 * @size: how many entries to ask for
 * @skip: how many to leave out beyond the function that takes it
 * @alter: what is done to it, at entry @at
 * @at: where
 * @nr: how many entries it has
 * @entries: what they are
 * @taken: how many it had before it was altered
 * @verdict: what the checker said
 */
struct altered {
	unsigned int size;
	unsigned int skip;
	void (*alter)(struct altered *a);
	unsigned int at;
	unsigned int nr;
	unsigned long entries[MAX_ENTRIES + 1];
	unsigned int taken;
	enum scs_trace_verdict verdict;
};

/* === What is done to a trace ============================================== */

static void leave(struct altered *a)
{
}

static void change(struct altered *a)
{
	a->entries[a->at] += 4;
}

static void empty(struct altered *a)
{
	a->entries[a->at] = 0;
}

static void drop(struct altered *a)
{
	a->nr--;
	memmove(&a->entries[a->at], &a->entries[a->at + 1],
		(a->nr - a->at) * sizeof(a->entries[0]));
}

static void add(struct altered *a)
{
	memmove(&a->entries[a->at + 1], &a->entries[a->at],
		(a->nr - a->at) * sizeof(a->entries[0]));
	a->entries[a->at] = (unsigned long)add;
	a->nr++;
}

static void swap_two(struct altered *a)
{
	swap(a->entries[a->at], a->entries[a->at + 1]);
}

static void cut(struct altered *a)
{
	a->nr = a->at;
}

static void overrun(struct altered *a)
{
	a->nr = a->size + 1;
}

/* === Taking traces ======================================================== */

/*
 * The first entry lies in here. It differs by the call that it returns to, so it
 * is left out.
 */
static noinline void take_altered(struct altered *a)
{
	int nr = scs_trace_save(a->entries, a->size, a->skip + 1);

	if (nr < 0) {
		a->verdict = SCS_TRACE_NR_VERDICTS;
		return;
	}
	a->nr = nr;
	a->taken = nr;
	a->alter(a);
	a->verdict = scs_trace_compare(a->entries, a->nr, a->size, a->skip + 1);
	barrier();
}

/*
 * Entries of three functions in turn. With two, a trace that lacks an entry looks
 * like one with two entries swapped.
 */
static noinline void deep_first(struct altered *a, int depth);

static noinline void deep_third(struct altered *a, int depth)
{
	if (depth > 1)
		deep_first(a, depth - 1);
	else
		take_altered(a);
	barrier();
}

static noinline void deep_second(struct altered *a, int depth)
{
	if (depth > 1)
		deep_third(a, depth - 1);
	else
		take_altered(a);
	barrier();
}

static noinline void deep_first(struct altered *a, int depth)
{
	if (depth > 1)
		deep_second(a, depth - 1);
	else
		take_altered(a);
	barrier();
}

static void expect_verdict(struct kunit *test, void (*alter)(struct altered *a),
			   unsigned int size, unsigned int skip,
			   unsigned int at, enum scs_trace_verdict verdict)
{
	struct altered *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->size = size;
	a->skip = skip;
	a->alter = alter;
	a->at = at;
	deep_first(a, DEPTH);
	if (a->verdict == SCS_TRACE_NR_VERDICTS)
		kunit_skip(test, "no trace from the shadow call stack");
	KUNIT_EXPECT_EQ_MSG(test, a->verdict, verdict,
			    "%ps() at %u of %u entries, size %u, skip %u",
			    alter, at, a->taken, size, skip);
	kunit_kfree(test, a);
}

static unsigned int whole_length(struct kunit *test)
{
	struct altered *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->size = MAX_ENTRIES;
	a->alter = leave;
	deep_first(a, DEPTH);
	if (a->verdict == SCS_TRACE_NR_VERDICTS)
		kunit_skip(test, "no trace from the shadow call stack");
	KUNIT_ASSERT_GT(test, a->taken, DEPTH);
	return a->taken;
}

/* === Cases ================================================================ */

static void test_right(struct kunit *test)
{
	unsigned int skip, size, nr = whole_length(test);

	for (skip = 0; skip <= nr + 2; skip++)
		expect_verdict(test, leave, MAX_ENTRIES, skip, 0,
			       SCS_TRACE_SAME);
	for (size = 1; size <= nr + 2; size++)
		expect_verdict(test, leave, size, size % 4, 0, SCS_TRACE_SAME);
	expect_verdict(test, leave, 0, 0, 0, SCS_TRACE_UNCHECKED_EMPTY);
}

static void test_changed(struct kunit *test)
{
	unsigned int at, nr = whole_length(test);

	for (at = 0; at < nr; at++) {
		expect_verdict(test, change, MAX_ENTRIES, 0, at,
			       SCS_TRACE_CHANGED);
		expect_verdict(test, empty, at + 1, 0, at, SCS_TRACE_CHANGED);
	}
	/* Beyond what was handed out. */
	expect_verdict(test, change, 5, 0, 5, SCS_TRACE_SAME);
}

static void test_dropped(struct kunit *test)
{
	unsigned int at, nr = whole_length(test);

	for (at = 0; at < nr - 1; at++)
		expect_verdict(test, drop, MAX_ENTRIES, 0, at,
			       SCS_TRACE_MISSING);
	expect_verdict(test, drop, MAX_ENTRIES, 0, nr - 1, SCS_TRACE_SHORTER);
}

static void test_added(struct kunit *test)
{
	unsigned int at, nr = whole_length(test);

	for (at = 0; at < nr; at++)
		expect_verdict(test, add, MAX_ENTRIES, 0, at, SCS_TRACE_EXTRA);
	expect_verdict(test, add, MAX_ENTRIES, 0, nr, SCS_TRACE_LONGER);
}

static void test_swapped(struct kunit *test)
{
	unsigned int at;

	for (at = 0; at < DEPTH - 1; at++) {
		expect_verdict(test, swap_two, MAX_ENTRIES, 0, at,
			       SCS_TRACE_SWAPPED);
		expect_verdict(test, swap_two, at + 2, 0, at,
			       SCS_TRACE_SWAPPED);
	}
}

static void test_length(struct kunit *test)
{
	unsigned int nr = whole_length(test), at;

	for (at = 0; at < nr; at++)
		expect_verdict(test, cut, MAX_ENTRIES, 0, at,
			       SCS_TRACE_SHORTER);
	for (at = 1; at < nr; at++)
		expect_verdict(test, overrun, at, 0, 0, SCS_TRACE_OVERRUN);
}

static void test_interrupts_off(struct kunit *test)
{
	struct altered *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->size = MAX_ENTRIES;
	a->alter = drop;
	a->at = 3;
	local_irq_save(flags);
	deep_first(a, DEPTH);
	local_irq_restore(flags);
	if (a->verdict == SCS_TRACE_NR_VERDICTS)
		kunit_skip(test, "no trace from the shadow call stack");
	KUNIT_EXPECT_EQ(test, a->verdict, SCS_TRACE_MISSING);
}

#ifdef CONFIG_KPROBES
static struct altered probed;

/* What the probe interrupted. */
static struct pt_regs *probed_regs;

static unsigned long *probed_top(void)
{
	return (unsigned long *)probed_regs->regs[18];
}

static int probed_pre(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long newest;
	u64 fp;

	probed_regs = regs;
	newest = probed_top()[-1];
	fp = regs->regs[29];
	take_altered(&probed);
	regs->regs[29] = fp;
	regs->stackframe[0] = fp;
	probed_top()[-1] = newest;
	return 0;
}

static void probed_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	probed_pre(kp, regs);
}

/* Have something else for the newest entry, on the shadow call stack and in the trace. */
static void replace_newest(struct altered *a, unsigned long entry)
{
	unsigned long *top = probed_top();
	unsigned int i;

	for (i = 0; i + 1 < a->nr; i++)
		if (a->entries[i] == arch_scs_trace_strip(top[0]) &&
		    a->entries[i + 1] == arch_scs_trace_strip(top[-1]))
			break;
	if (i + 1 >= a->nr)
		return;
	a->entries[i + 1] = arch_scs_trace_strip(entry);
	top[-1] = entry;
}

/* Have the caller's caller twice, and the caller not at all. */
static void repeat_entry(struct altered *a)
{
	replace_newest(a, probed_top()[-2]);
}

/* Have x30 as an entry before it is pushed, with a record of its own gone. */
static void push_early(struct altered *a)
{
	if (probed_regs->regs[30] == probed_top()[-1])
		return;
	replace_newest(a, probed_regs->regs[30]);
	probed_regs->regs[29] = *(u64 *)probed_regs->regs[29];
	probed_regs->stackframe[0] = probed_regs->regs[29];
}

static noinline unsigned long probed_target(unsigned long (*fn)(unsigned long arg),
					    unsigned long arg)
{
	return fn(arg) + arg;
}

static unsigned long probed_callee(unsigned long arg)
{
	return arg;
}

static unsigned long with_record(unsigned long arg)
{
	unsigned long (*fn)(unsigned long arg) = probed_callee;

	/* What is known to be called could be made part of the target. */
	OPTIMIZER_HIDE_VAR(fn);
	return probed_target(fn, arg);
}

/*
 * What compilers make of a leaf that runs out of registers: x29 or x30 or both hold
 * numbers, and no record is made. All double their argument.
 */
static __naked noinline unsigned long frameless_saves_both(unsigned long arg)
{
	asm("	str	x30, [x18], #8\n"
	    "	sub	sp, sp, #96\n"
	    "	stp	x29, x30, [sp, #48]\n"
	    "	cbz	x0, 1f\n"
	    "	mov	x29, x0\n"
	    "	mov	x30, x29\n"
	    "	add	x0, x29, x30\n"
	    "1:	cbz	x0, 2f\n"
	    "	mov	x29, xzr\n"
	    "2:	ldp	x29, x30, [sp, #48]\n"
	    "	add	sp, sp, #96\n"
	    "	ldr	x30, [x18, #-8]!\n"
	    "	ret\n");
}

/* x30 stays what it was, and the way out is straight from the start on. */
static __naked noinline unsigned long frameless_keeps_x30(unsigned long arg)
{
	asm("	str	x30, [x18], #8\n"
	    "	stp	x28, x29, [sp, #-64]!\n"
	    "	str	x30, [sp, #40]\n"
	    "	sub	sp, sp, #1, lsl #12\n"
	    "	mov	x29, x0\n"
	    "	add	x0, x29, x0\n"
	    "	mov	x29, xzr\n"
	    "	add	sp, sp, #1, lsl #12\n"
	    "	ldr	x30, [sp, #40]\n"
	    "	ldp	x28, x29, [sp], #64\n"
	    "	ldr	x30, [x18, #-8]!\n"
	    "	ret\n");
}

/* The way out is long, and a branch goes past all that is saved. */
static __naked noinline unsigned long frameless_far_out(unsigned long arg)
{
	asm("	cmp	x0, #1\n"
	    "	b.eq	2f\n"
	    "	str	x30, [x18], #8\n"
	    "	stp	x29, x30, [sp, #-96]!\n"
	    "	sub	sp, sp, #512\n"
	    "	mov	x29, x0\n"
	    "	mov	x30, x0\n"
	    "	str	x29, [sp, #16]\n"
	    "	cbz	x29, 1f\n"
	    "	ldr	x29, [sp, #16]\n"
	    "1:	add	x0, x29, x30\n"
	    "	mov	x30, xzr\n"
	    "	add	sp, sp, #512\n"
	    "	.rept	68\n"
	    "	mov	x29, xzr\n"
	    "	.endr\n"
	    "	ldp	x29, x30, [sp], #96\n"
	    "	ldr	x30, [x18, #-8]!\n"
	    "2:	ret\n");
}

static __naked noinline unsigned long frameless_saves_x30(unsigned long arg)
{
	asm("	str	x30, [x18], #8\n"
	    "	str	x30, [sp, #-16]!\n"
	    "	mov	x30, x0\n"
	    "	cbz	x0, 1f\n"
	    "	add	x0, x30, x0\n"
	    "1:	ldr	x30, [sp], #16\n"
	    "	ldr	x30, [x18, #-8]!\n"
	    "	ret\n");
}

static __naked noinline unsigned long frameless_saves_x29(unsigned long arg)
{
	asm("	str	x29, [sp, #-64]!\n"
	    "	mov	x29, x0\n"
	    "	add	x0, x29, x0\n"
	    "	cbz	x0, 1f\n"
	    "	mov	x29, xzr\n"
	    "1:	ldr	x29, [sp], #64\n"
	    "	ret\n");
}

/* Pushes and makes a record, but not at once. */
static __naked noinline unsigned long pushes_late(unsigned long arg)
{
	asm("	mov	x1, x0\n"
	    "	str	x30, [x18], #8\n"
	    "	stp	x29, x30, [sp, #-16]!\n"
	    "	mov	x29, sp\n"
	    "	add	x0, x0, x1\n"
	    "	ldp	x29, x30, [sp], #16\n"
	    "	ldr	x30, [x18, #-8]!\n"
	    "	ret\n");
}

/* As most leaves are. */
static __naked noinline unsigned long frameless_saves_none(unsigned long arg)
{
	asm("	mov	x1, x0\n"
	    "	add	x0, x0, x1\n"
	    "	ret\n");
}

/* At how many places, a probe before and one after each instruction, is what found. */
static const struct frameless_fn {
	unsigned long (*fn)(unsigned long arg);
	unsigned int same;
	unsigned int record;
	unsigned int frameless;
} frameless_fns[] = {
	{ frameless_saves_both, 4, 4, 9 },
	{ frameless_keeps_x30, 4, 10, 10 },
	{ frameless_far_out, 8, 2, 156 },
	{ frameless_saves_x30, 4, 2, 8 },
	{ frameless_saves_x29, 6, 0, 6 },
	{ frameless_saves_none, 6, 0, 0 },
};

/* Called so that x29 is another function's. */
static noinline unsigned long probed_caller(unsigned long (*fn)(unsigned long arg),
					    unsigned long arg)
{
	unsigned long ret;

	ret = fn(arg);
	OPTIMIZER_HIDE_VAR(ret);
	return ret;
}

/*
 * Before and after each instruction of @target have traces taken while @fn doubles
 * @arg, and altered. A probe comes by there for sure, where an interrupt hardly ever
 * does. Count the verdicts, the last one where there was no trace.
 */
static unsigned int probe_each(struct kunit *test, void *target,
			       unsigned long (*fn)(unsigned long arg),
			       unsigned long arg,
			       void (*alter)(struct altered *a),
			       unsigned int found[SCS_TRACE_NR_VERDICTS + 1])
{
	unsigned int i, mismatches = 0;
	unsigned long size, offset;

	KUNIT_ASSERT_TRUE(test,
			  kallsyms_lookup_size_offset((unsigned long)target,
						      &size, &offset));
	memset(found, 0, (SCS_TRACE_NR_VERDICTS + 1) * sizeof(found[0]));
	probed.size = MAX_ENTRIES;
	probed.alter = alter;
	for (i = 0; i < 2 * size / sizeof(kprobe_opcode_t); i++) {
		struct kprobe kp = {
			.addr = (kprobe_opcode_t *)target + i / 2,
		};

		if (i & 1)
			kp.post_handler = probed_post;
		else
			kp.pre_handler = probed_pre;
		/* Not where ftrace or another exception has its place. */
		if (register_kprobe(&kp))
			continue;
		/* What is behind the return isn't executed. */
		probed.verdict = SCS_TRACE_UNCHECKED_EMPTY;
		KUNIT_EXPECT_EQ(test, probed_caller(fn, arg), 2 * arg);
		unregister_kprobe(&kp);
		found[probed.verdict]++;
	}
	if (found[SCS_TRACE_NR_VERDICTS])
		kunit_skip(test, "no trace from the shadow call stack");
	for (i = SCS_TRACE_MISSING; i < SCS_TRACE_NR_VERDICTS; i++)
		mismatches += found[i];
	kunit_info(test, "%ps, %ps: %u the same, %u and %u explained, %u not\n",
		   target, alter, found[SCS_TRACE_SAME],
		   found[SCS_TRACE_EXPLAINED_RECORD],
		   found[SCS_TRACE_EXPLAINED_FRAMELESS], mismatches);
	return mismatches;
}

/*
 * Between push and frame record, and on the way out, the shadow call stack knows
 * one more frame.
 */
static void test_prologue(struct kunit *test)
{
	unsigned int found[SCS_TRACE_NR_VERDICTS + 1];

	KUNIT_EXPECT_EQ(test, probe_each(test, probed_target, with_record, 3,
					 leave, found), 0);
	KUNIT_EXPECT_GT(test, found[SCS_TRACE_SAME], 2);
	KUNIT_EXPECT_GT(test, found[SCS_TRACE_EXPLAINED_RECORD], 2);
	KUNIT_EXPECT_EQ(test, found[SCS_TRACE_EXPLAINED_FRAMELESS], 0);
}

/*
 * Where x29 is a number, a walk ends; where it happens to point into the stack, it
 * goes astray.
 */
static void test_frameless(struct kunit *test)
{
	unsigned int found[SCS_TRACE_NR_VERDICTS + 1];
	unsigned long args[] = { 3, 0, (unsigned long)&found };
	const struct frameless_fn *f;
	unsigned int i;

	/* They push and pop themselves. */
	if (!scs_is_enabled())
		kunit_skip(test, "no shadow call stack");
	for (i = 0; i < ARRAY_SIZE(frameless_fns) * ARRAY_SIZE(args); i++) {
		f = &frameless_fns[i / ARRAY_SIZE(args)];
		KUNIT_EXPECT_EQ(test, probe_each(test, f->fn, f->fn,
						 args[i % ARRAY_SIZE(args)],
						 leave, found), 0);
		KUNIT_EXPECT_GE(test, found[SCS_TRACE_SAME], f->same);
		KUNIT_EXPECT_GE(test, found[SCS_TRACE_EXPLAINED_RECORD], f->record);
		KUNIT_EXPECT_GE(test, found[SCS_TRACE_EXPLAINED_FRAMELESS],
				f->frameless);
	}
}

/* At none of these places a trace is right, or an entry explained. */
static void expect_mismatches(struct kunit *test, void *target,
			      unsigned long (*fn)(unsigned long arg),
			      void (*alter)(struct altered *a))
{
	unsigned int found[SCS_TRACE_NR_VERDICTS + 1];
	unsigned int i;

	KUNIT_EXPECT_GE(test, probe_each(test, target, fn, 3, alter, found), 4);
	for (i = SCS_TRACE_SAME; i < SCS_TRACE_MISSING; i++)
		if (i != SCS_TRACE_UNCHECKED_EMPTY)
			KUNIT_EXPECT_EQ_MSG(test, found[i], 0, "verdict %u", i);
}

static void test_repeated(struct kunit *test)
{
	unsigned int i;

	if (!scs_is_enabled())
		kunit_skip(test, "no shadow call stack");
	expect_mismatches(test, probed_target, with_record, repeat_entry);
	for (i = 0; i < ARRAY_SIZE(frameless_fns); i++)
		expect_mismatches(test, frameless_fns[i].fn, frameless_fns[i].fn,
				  repeat_entry);
}

/*
 * Before the push and after the pop, x30 is no reason for an entry too many. Three
 * probes come by before the one, and three after the other.
 */
static void test_early(struct kunit *test)
{
	unsigned int found[SCS_TRACE_NR_VERDICTS + 1];

	if (!scs_is_enabled())
		kunit_skip(test, "no shadow call stack");
	KUNIT_EXPECT_EQ(test, probe_each(test, pushes_late, pushes_late, 3,
					 push_early, found), 6);
}
#else
static void test_prologue(struct kunit *test)
{
	kunit_skip(test, "CONFIG_KPROBES is not set");
}

static void test_frameless(struct kunit *test)
{
	kunit_skip(test, "CONFIG_KPROBES is not set");
}

static void test_repeated(struct kunit *test)
{
	kunit_skip(test, "CONFIG_KPROBES is not set");
}

static void test_early(struct kunit *test)
{
	kunit_skip(test, "CONFIG_KPROBES is not set");
}
#endif

static struct kunit_case scs_trace_verify_cases[] = {
	KUNIT_CASE(test_right),
	KUNIT_CASE(test_changed),
	KUNIT_CASE(test_dropped),
	KUNIT_CASE(test_added),
	KUNIT_CASE(test_swapped),
	KUNIT_CASE(test_length),
	KUNIT_CASE(test_interrupts_off),
	KUNIT_CASE(test_prologue),
	KUNIT_CASE(test_frameless),
	KUNIT_CASE(test_repeated),
	KUNIT_CASE(test_early),
	{}
};

static struct kunit_suite scs_trace_verify_suite = {
	.name = "scs_trace_verify",
	.test_cases = scs_trace_verify_cases,
};

kunit_test_suite(scs_trace_verify_suite);
