// SPDX-License-Identifier: GPL-2.0
/* KUnit: whatever is made up, the answer is an errno or the right trace, and never a fault. */

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/scs.h>
#include <linux/scs_trace.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>

#include "scs_trace.h"
#include "testlib.h"

#define ROUNDS		200000
#define IRQ_ROUNDS	20000
#define WORDS		SCS_TRACE_MAX_DEPTH
#define CANARY		0x5c5c5c5c5c5c5c5cUL

DECLARE_PER_CPU(unsigned long *, irq_shadow_call_stack_ptr);

/**
 * struct attack - what the rounds of one test share
 * @rnd: where all that is made up comes from
 * @scs: a shadow call stack that is nobody's
 * @freed: where one was that was freed: never to be read
 * @other: another task, blocked
 * @tsk: a made-up task
 * @store: where traces go
 * @wrong: rounds whose answer was wrong, and @first of them
 */
struct attack {
	struct rnd_state rnd;
	unsigned long *scs;
	unsigned long *freed;
	struct task_struct *other;
	struct task_struct *tsk;
	unsigned long store[WORDS + 1];
	unsigned int wrong;
	unsigned int first;
};

static u32 rnd(struct attack *a, u32 below)
{
	return prandom_u32_state(&a->rnd) % below;
}

static u64 rnd64(struct attack *a)
{
	return (u64)prandom_u32_state(&a->rnd) << 32 | prandom_u32_state(&a->rnd);
}

/* A number of entries, mostly one at which something changes. */
static unsigned int rnd_count(struct attack *a)
{
	static const unsigned int edges[] = {
		0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, WORDS - 2,
		WORDS - 1, WORDS, WORDS + 1, INT_MAX, UINT_MAX - 1, UINT_MAX,
	};

	return rnd(a, 4) ? edges[rnd(a, ARRAY_SIZE(edges))] : rnd(a, 100);
}

/* What x18 might be, where @base is the shadow call stack that it should be in. */
static const unsigned long *rnd_sp(struct attack *a, const unsigned long *base)
{
	const unsigned long *bases[] = {
		base, task_scs(current), task_scs(a->other), task_scs(&init_task),
		a->scs, a->freed, raw_cpu_read(irq_shadow_call_stack_ptr), NULL,
	};
	const void *sp = rnd(a, 2) ? base : bases[rnd(a, ARRAY_SIZE(bases))];

	switch (rnd(a, 8)) {
	case 0:		/* one past either end */
		return sp - sizeof(long) + rnd(a, 2) * (SCS_SIZE + sizeof(long));
	case 1:		/* at either end */
		return sp + rnd(a, 2) * (SCS_SIZE - sizeof(long));
	case 2:		/* misaligned */
		return sp + rnd(a, SCS_SIZE);
	case 3:		/* another half, another tag */
		return (const void *)((u64)sp ^ BIT_ULL(rnd(a, 64)));
	case 4:
		return (const void *)rnd64(a);
	default:
		return sp + rnd(a, WORDS) * sizeof(long);
	}
}

/* Whether @sp lies in the shadow call stack at @base: by comparing, slowly. */
static bool inside(const unsigned long *base, const unsigned long *sp)
{
	unsigned long from = (unsigned long)base, at = (unsigned long)sp;

	return base && at >= from && at <= from + SCS_SIZE - sizeof(long) &&
	       !(at & (sizeof(long) - 1));
}

static void judge(struct attack *a, unsigned int round, bool right)
{
	if (!right && !a->wrong++)
		a->first = round;
}

static void verdict(struct kunit *test, struct attack *a)
{
	KUNIT_EXPECT_EQ_MSG(test, a->wrong, 0, "the first in round %u", a->first);
}

static int attack_init(struct kunit *test)
{
	struct attack *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u64 seed = get_random_u64();

	if (!scs_is_enabled())
		kunit_skip(test, "no shadow call stacks on this CPU");
	if (IS_ENABLED(CONFIG_SCS_TRACE_VERIFY))
		kunit_skip(test, "the checker would report what is made up");

	KUNIT_ASSERT_NOT_NULL(test, a);
	test->priv = a;
	prandom_seed_state(&a->rnd, seed);
	kunit_info(test, "seed 0x%llx\n", seed);

	/* Twice as large, so that a bad end may be one past a good one. */
	a->scs = kunit_kzalloc(test, 2 * SCS_SIZE, GFP_KERNEL);
	a->tsk = kunit_kzalloc(test, sizeof(*a->tsk), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a->scs);
	KUNIT_ASSERT_NOT_NULL(test, a->tsk);

	a->freed = vmalloc(SCS_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, a->freed);
	vfree(a->freed);

	a->other = kthread_run(blocked_thread, NULL, "scs_attack");
	KUNIT_ASSERT_FALSE(test, IS_ERR(a->other));
	get_task_struct(a->other);
	wait_task_inactive(a->other, TASK_INTERRUPTIBLE);
	return 0;
}

static void attack_exit(struct kunit *test)
{
	struct attack *a = test->priv;

	if (a && !IS_ERR_OR_NULL(a->other)) {
		kthread_stop(a->other);
		put_task_struct(a->other);
	}
}

/* === The current task ===================================================== */

static void test_attack_current(struct kunit *test)
{
	const unsigned long *base = task_scs(current), *sp;
	struct attack *a = test->priv;
	struct scs_trace_source src;
	unsigned int i;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		memset(&src, 0xff, sizeof(src));
		sp = rnd_sp(a, base);
		ret = arch_scs_trace_current(sp, &src);
		if (inside(base, sp))
			judge(a, i, !ret && !src.has_pc && src.nr_spans == 1 &&
			      src.span[0].base == base && src.span[0].top == sp);
		else if (!ret)
			/* With PREEMPT_NONE it might be an interrupt, for all that x18 says. */
			judge(a, i, !preemptible() && src.nr_spans == 2 &&
			      inside(src.span[0].base, sp) &&
			      src.span[1].base == base);
		else
			judge(a, i, ret == -EFAULT);
	}
	verdict(test, a);
}

/*
 * In an interrupt the saved x18 of the task counts, too, and is put right again
 * before anybody needs it.
 */
struct irq_attack {
	struct irq_work work;
	struct attack *a;
	struct completion done;
};

static void irq_attack(struct irq_work *work)
{
	struct irq_attack *ia = container_of(work, struct irq_attack, work);
	const unsigned long *irq_base = raw_cpu_read(irq_shadow_call_stack_ptr);
	const unsigned long *base = task_scs(current), *sp;
	void *saved = task_scs_sp(current);
	struct scs_trace_source src;
	struct attack *a = ia->a;
	unsigned long *task_sp;
	unsigned int i;
	int ret;

	for (i = 0; i < IRQ_ROUNDS; i++) {
		sp = rnd_sp(a, irq_base);
		task_sp = (unsigned long *)rnd_sp(a, base);
		task_scs_sp(current) = task_sp;
		ret = arch_scs_trace_current(sp, &src);
		if (inside(base, sp))
			judge(a, i, !ret && src.nr_spans == 1 &&
			      src.span[0].base == base && src.span[0].top == sp);
		else if (inside(irq_base, sp) && inside(base, task_sp))
			judge(a, i, !ret && src.nr_spans == 2 &&
			      src.span[0].base == irq_base &&
			      src.span[0].top == sp &&
			      src.span[1].base == base &&
			      src.span[1].top == task_sp + 1);
		else
			judge(a, i, ret == -EFAULT);
	}
	task_scs_sp(current) = saved;
	complete(&ia->done);
}

static void test_attack_irq(struct kunit *test)
{
	struct irq_attack ia = { .a = test->priv };

	ia.work = IRQ_WORK_INIT_HARD(irq_attack);
	init_completion(&ia.done);
	irq_work_queue(&ia.work);
	wait_for_completion(&ia.done);
	irq_work_sync(&ia.work);
	verdict(test, test->priv);
}

/* Has an entry of its own, the newest: no tail call. */
static noinline int save_here(struct attack *a, unsigned int size,
			      unsigned int skip)
{
	int ret = scs_trace_save(a->store, size, skip);

	barrier();
	return ret;
}

static noinline int save_all(struct attack *a)
{
	int ret = save_here(a, WORDS, 0);

	barrier();
	return ret;
}

/* The collector's own answer to sizes and numbers to skip. */
static void test_attack_size(struct kunit *test)
{
	static unsigned long all[WORDS];
	struct attack *a = test->priv;
	unsigned int i, size, skip, nr = WORDS;
	int total = 0, ret;

	for (i = 0; i < ROUNDS / 10; i++) {
		size = i ? rnd_count(a) : WORDS;
		skip = i ? rnd_count(a) : 0;
		nr = min_t(unsigned int, size, WORDS);
		memset(a->store, CANARY & 0xff, sizeof(a->store));
		/* One call instruction for all rounds, or an entry would differ. */
		OPTIMIZER_HIDE_VAR(i);
		ret = save_here(a, size, skip);
		OPTIMIZER_HIDE_VAR(i);
		if (!i) {
			total = ret;
			memcpy(all, a->store, sizeof(all));
			continue;
		}
		judge(a, i, ret == min_t(unsigned int, nr,
					 skip < total ? total - skip : 0));
		judge(a, i, a->store[nr] == CANARY);
		if (ret > 0)
			judge(a, i, !memcmp(a->store, all + skip,
					    ret * sizeof(*all)));
	}
	KUNIT_EXPECT_GT(test, total, 3);
	verdict(test, a);
}

/*
 * Call @fn with another x18, unless that is 0. Interrupts are off: one that came
 * would push there, too, and might be preempted.
 */
static noinline int call_with_x18(int (*fn)(struct attack *a), struct attack *a,
				  unsigned long x18)
{
	register unsigned long x0 asm("x0") = (unsigned long)a;
	/* Asking for it makes the compiler set a frame record up. */
	void *fp = __builtin_frame_address(0);
	unsigned long flags;

	if (!x18)
		x18 = (unsigned long)arch_scs_trace_sp();
	local_irq_save(flags);
	asm volatile("mov	x19, x18\n"
		     "mov	x18, %[x18]\n"
		     "blr	%[fn]\n"
		     "mov	x18, x19\n"
		     : "+r" (x0)
		     : [fn] "r" (fn), [x18] "r" (x18), "r" (fp)
		     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
		       "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
		       "x19", "x30", "cc", "memory");
	local_irq_restore(flags);
	return (int)x0;
}

/*
 * A real x18 that points to where it may push, but nowhere that counts, or is
 * misaligned by less than an entry in its own. What is refused of the shadow call
 * stack is had from the frame records: the same as with x18 as it was.
 */
static void test_attack_x18(struct kunit *test)
{
	static unsigned long all[WORDS];
	struct attack *a = test->priv;
	unsigned long scs[] = {
		(unsigned long)a->scs,
		/* Beyond all that the other task pushed */
		(unsigned long)task_scs(a->other) + SCS_SIZE / 2,
		(unsigned long)task_scs(&init_task) + SCS_SIZE / 2,
	};
	unsigned long x18;
	int ret, total = 0;
	unsigned int i;

	for (i = 0; i < IRQ_ROUNDS; i++) {
		if (!i)
			x18 = 0;
		else if (i < sizeof(long))
			x18 = (unsigned long)task_scs(current) + SCS_SIZE / 2 + i;
		else
			x18 = scs[rnd(a, ARRAY_SIZE(scs))] + rnd(a, SCS_SIZE / 4);
		/* One call instruction for all rounds, or an entry would differ. */
		OPTIMIZER_HIDE_VAR(i);
		ret = call_with_x18(save_all, a, x18);
		OPTIMIZER_HIDE_VAR(i);
		if (!i) {
			total = ret;
			memcpy(all, a->store, sizeof(all));
			continue;
		}
		judge(a, i, ret == total);
		judge(a, i, !memcmp(a->store, all, total * sizeof(*all)));
	}
	KUNIT_EXPECT_GT(test, total, 3);
	verdict(test, a);
}

/* The end marker of the current task says nothing about what lies below x18. */
static void test_attack_marker(struct kunit *test)
{
	struct attack *a = test->priv;
	unsigned long *magic = __scs_magic(task_scs(current));
	static unsigned long before[WORDS];
	unsigned long marker = SCS_END_MAGIC;
	int i, nr = 0, ret = 0;

	/* The scheduler may check it, and panic. */
	preempt_disable();
	for (i = 0; i < 2; i++) {
		WRITE_ONCE(*magic, marker);
		/* As above */
		OPTIMIZER_HIDE_VAR(i);
		ret = save_all(a);
		OPTIMIZER_HIDE_VAR(i);
		if (!i) {
			memcpy(before, a->store, sizeof(before));
			nr = ret;
		}
		marker = rnd64(a);
	}
	WRITE_ONCE(*magic, SCS_END_MAGIC);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, nr);
	KUNIT_EXPECT_GT(test, ret, 3);
	KUNIT_EXPECT_MEMEQ(test, a->store, before, max(nr, 0) * sizeof(long));
}

/* === Another task ========================================================= */

/* What the collector must store of a made-up task, or an errno. */
static int expected_tsk(struct attack *a, unsigned long *want, unsigned int size,
			unsigned int skip)
{
	const unsigned long *base = task_scs(a->tsk), *sp = task_scs_sp(a->tsk);
	unsigned long entry = thread_saved_pc(a->tsk);
	unsigned int len = 0;

	if (a->tsk->on_cpu)
		return -EAGAIN;
	if (!base)
		return -ESRCH;
	if (!inside(base, sp))
		return -EFAULT;
	if (*__scs_magic((void *)base) != SCS_END_MAGIC)
		return -EUCLEAN;

	while (len < size) {
		if (!in_sched_functions(entry)) {
			if (skip)
				skip--;
			else
				want[len++] = entry;
		}
		if (sp == base)
			break;
		entry = *--sp;
	}
	return len;
}

static void test_attack_task(struct kunit *test)
{
	static unsigned long want[WORDS + 1];
	struct attack *a = test->priv;
	unsigned int i, j, size, skip;
	int ret, expected;

	for (i = 0; i < ROUNDS; i++) {
		/* Some words change each round, the marker now and then. */
		for (j = 0; j < 8; j++)
			a->scs[rnd(a, WORDS - 1)] = rnd(a, 4) ? rnd64(a) :
				(unsigned long)schedule + rnd(a, 64);
		*__scs_magic(a->scs) = rnd(a, 8) ? SCS_END_MAGIC : rnd64(a);
		task_scs(a->tsk) = rnd(a, 16) ? a->scs : NULL;
		task_scs_sp(a->tsk) = (void *)rnd_sp(a, a->scs);
		a->tsk->thread.cpu_context.pc = rnd(a, 2) ? rnd64(a) :
			(unsigned long)schedule;
		a->tsk->on_cpu = !rnd(a, 32);

		/* No trace is longer than the buffer: the PC, and all words. */
		size = rnd_count(a);
		skip = rnd_count(a);
		a->store[min_t(unsigned int, size, WORDS)] = CANARY;
		ret = scs_trace_save_tsk(a->tsk, a->store, size, skip);
		expected = expected_tsk(a, want, size, skip);
		judge(a, i, ret == expected);
		if (size < WORDS)
			judge(a, i, a->store[size] == CANARY);
		if (ret > 0 && ret == expected)
			judge(a, i, !memcmp(a->store, want, ret * sizeof(*want)));
	}
	verdict(test, a);
}

/* === Registers ============================================================ */

static void test_attack_regs(struct kunit *test)
{
	const unsigned long *base = task_scs(current), *sp, *at;
	struct attack *a = test->priv;
	struct scs_trace_source src;
	struct pt_regs regs = {};
	unsigned int i;
	bool live;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		sp = rnd(a, 8) ? arch_scs_trace_sp() : rnd_sp(a, base);
		if (inside(raw_cpu_read(irq_shadow_call_stack_ptr), sp))
			sp = NULL;
		at = rnd(a, 2) ? base + rnd(a, arch_scs_trace_sp() - base) :
				 rnd_sp(a, base);
		regs.pstate = rnd(a, 8) ? PSR_MODE_EL1h : PSR_MODE_EL0t;
		if (!rnd(a, 16))
			at = sp;	/* where the next entry would go */
		regs.regs[18] = (unsigned long)at;
		live = inside(base, sp) && inside(base, at) && at < sp;
		regs.pc = inside(base, at) && rnd(a, 4) ? READ_ONCE(*at) :
							  rnd64(a);

		ret = arch_scs_trace_regs(rnd(a, 64) ? &regs : NULL, sp, &src);
		if (!ret)
			judge(a, i, live && !user_mode(&regs) &&
			      src.has_pc && src.pc == regs.pc && *at == regs.pc &&
			      src.nr_spans == 1 && src.span[0].base == base &&
			      src.span[0].top == at);
		else
			judge(a, i, ret == -EINVAL ||
			      (ret == -EFAULT && !inside(base, sp)));
	}
	verdict(test, a);
}

/**
 * struct regs_walk - what arch_stack_walk() reports from registers on
 * @nr: number of entries
 * @entry: the first of them
 */
struct regs_walk {
	unsigned int nr;
	unsigned long entry[WORDS];
};

static bool regs_walk_entry(void *cookie, unsigned long entry)
{
	struct regs_walk *w = cookie;

	w->entry[w->nr++] = entry;
	return w->nr < WORDS;
}

/*
 * Registers that no exception saved, with any program counter, x18 and frame pointer:
 * the trace is the shadow call stack's below an entry that is there, or what the frame
 * records say.
 */
static void test_attack_save_regs(struct kunit *test)
{
	const unsigned long *base = task_scs(current), *at;
	static struct regs_walk walk;
	struct attack *a = test->priv;
	unsigned int i, j, size, skip, own, left;
	struct pt_regs regs = {};
	bool live;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		/* Below this function's own, so that it is what it was. */
		at = rnd(a, 2) ? base + rnd(a, arch_scs_trace_sp() - base) :
				 rnd_sp(a, base);
		regs.regs[18] = (unsigned long)at;
		regs.regs[29] = rnd(a, 2) ? rnd64(a) :
				(unsigned long)__builtin_frame_address(0) +
				(rnd(a, 4) ? 0 : rnd(a, 64));
		regs.pstate = PSR_MODE_EL1h;
		regs.pc = rnd64(a);
		live = inside(base, at) && at < arch_scs_trace_sp();
		if (live && rnd(a, 4))
			regs.pc = READ_ONCE(*at);
		live = live && *at == regs.pc;
		size = rnd_count(a);
		skip = rnd_count(a);
		a->store[min_t(unsigned int, size, WORDS)] = CANARY;
		ret = scs_trace_save_regs(&regs, a->store, size, skip);
		if (size < WORDS)
			judge(a, i, a->store[size] == CANARY);
		if (ret < 0) {
			judge(a, i, ret == -EINVAL && !live);
			continue;
		}
		if (live) {
			own = at - base + 1;
			left = skip < own ? own - skip : 0;
			judge(a, i, ret == min(size, left));
			for (j = 0; j < ret; j++)
				judge(a, i, a->store[j] == at[-(long)(skip + j)]);
			continue;
		}
		walk.nr = 0;
		arch_stack_walk(regs_walk_entry, &walk, current, &regs);
		left = skip < walk.nr ? walk.nr - skip : 0;
		judge(a, i, ret == min(size, left));
		judge(a, i, !memcmp(a->store, walk.entry + skip,
				    min(size, left) * sizeof(*a->store)));
	}
	verdict(test, a);
}

static struct kunit_case attack_test_cases[] = {
	KUNIT_CASE(test_attack_current),
	KUNIT_CASE(test_attack_irq),
	KUNIT_CASE(test_attack_size),
	KUNIT_CASE(test_attack_x18),
	KUNIT_CASE(test_attack_marker),
	KUNIT_CASE(test_attack_task),
	KUNIT_CASE(test_attack_regs),
	KUNIT_CASE(test_attack_save_regs),
	{}
};

static struct kunit_suite attack_test_suite = {
	.name = "scs_trace_attack",
	.init = attack_init,
	.exit = attack_exit,
	.test_cases = attack_test_cases,
};

kunit_test_suite(attack_test_suite);
