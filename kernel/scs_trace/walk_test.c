// SPDX-License-Identifier: GPL-2.0
/* KUnit: the walk over frame records gives what the frame-pointer unwinder gives, or nothing. */

#define pr_fmt(fmt) "scs_trace_walk_test: " fmt

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/ftrace.h>
#include <linux/interrupt.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/scs_trace.h>
#include <linux/stacktrace.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>

#include <asm/irq_regs.h>

#include "scs_trace.h"
#include "testlib.h"

#define MAX_ENTRIES	192
#define MAX_DEPTH	80

/* === Two ways to the same trace =========================================== */

enum { VIA_WALK, VIA_UNWINDER, VIA_SAVE, NR_WAYS };

/**
 * struct capture - one trace, taken in several ways from one place
 * @size: how many entries to ask for
 * @skip: how many to leave out
 * @regs: where to start; NULL for the place itself
 * @nr: what each way returned, an errno included
 * @entries: what each way stored
 * @in_place: preempt_count() and softirq_count() of the place, to check that it is what was meant
 * @done: set at last
 */
struct capture {
	unsigned int size;
	unsigned int skip;
	struct pt_regs *regs;
	int nr[NR_WAYS];
	unsigned long entries[NR_WAYS][MAX_ENTRIES];
	int in_place;
	struct completion done;
};

struct unwound {
	unsigned long *store;
	unsigned int size;
	unsigned int skip;
	unsigned int len;
};

static bool unwind_entry(void *cookie, unsigned long entry)
{
	struct unwound *u = cookie;

	if (u->len == u->size)
		return false;
	if (u->skip) {
		u->skip--;
		return true;
	}
	u->store[u->len++] = entry;
	return u->len < u->size;
}

static int unwind_regs(struct pt_regs *regs, unsigned long *store,
		       unsigned int size, unsigned int skip)
{
	struct unwound u = { store, size, skip };

	arch_stack_walk(unwind_entry, &u, current, regs);
	return u.len;
}

static noinline int via_walk(struct capture *c, unsigned long *store)
{
	int nr;

	if (c->regs)
		return arch_scs_trace_walk_regs(c->regs, store, c->size, c->skip);
	nr = arch_scs_trace_walk(scs_trace_caller_pc(), scs_trace_caller_fp(),
				 store, c->size, c->skip);
	/* No tail call: what the frame record says must be true. */
	barrier();
	return nr;
}

static noinline int via_unwinder(struct capture *c, unsigned long *store)
{
	struct unwound u = { store, c->size, c->skip + !c->regs };

	arch_stack_walk(unwind_entry, &u, current, c->regs);
	return u.len;
}

static noinline int via_save(struct capture *c, unsigned long *store)
{
	int nr;

	if (c->regs)
		return stack_trace_save_regs(c->regs, store, c->size, c->skip);
	nr = stack_trace_save(store, c->size, c->skip + 1);
	barrier();
	return nr;
}

static int (*const ways[])(struct capture *c, unsigned long *store) = {
	[VIA_WALK]	= via_walk,
	[VIA_UNWINDER]	= via_unwinder,
	[VIA_SAVE]	= via_save,
};

/* One call instruction for all, or their first entries would differ. */
static noinline notrace void take(struct capture *c)
{
	int i;

	c->in_place = preempt_count() | softirq_count();
	for (i = 0; i < NR_WAYS; i++) {
		OPTIMIZER_HIDE_VAR(i);
		c->nr[i] = ways[i](c, c->entries[i]);
	}
	complete(&c->done);
}

static void expect_same(struct kunit *test, struct capture *c)
{
	int way;

	for (way = 0; way < NR_WAYS; way++) {
		KUNIT_EXPECT_EQ_MSG(test, c->nr[way], c->nr[VIA_UNWINDER],
				    "way %d, size %u, skip %u", way, c->size,
				    c->skip);
		if (c->nr[way] != c->nr[VIA_UNWINDER])
			return;
		KUNIT_EXPECT_MEMEQ(test, c->entries[way],
				   c->entries[VIA_UNWINDER],
				   c->nr[way] * sizeof(unsigned long));
	}
}

static struct capture *new_capture(struct kunit *test)
{
	struct capture *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->size = MAX_ENTRIES;
	init_completion(&c->done);
	return c;
}

static noinline void walk_chain(struct capture *c, int depth)
{
	if (depth > 1)
		walk_chain(c, depth - 1);
	else
		take(c);
	barrier();
}

static void run_chain(struct kunit *test, struct capture *c, int depth)
{
	walk_chain(c, depth);
	expect_same(test, c);
}

/* === Contexts ============================================================= */

static void test_task(struct kunit *test)
{
	struct capture *c = new_capture(test);
	int depth;

	for (depth = 1; depth <= MAX_DEPTH; depth++) {
		run_chain(test, c, depth);
		KUNIT_EXPECT_GT(test, c->nr[VIA_WALK], depth);
	}
}

static void test_sizes_and_skips(struct kunit *test)
{
	struct capture *c = new_capture(test);
	unsigned int total, way;

	run_chain(test, c, 9);
	total = c->nr[VIA_WALK];
	for (c->size = 0; c->size <= total + 2; c->size++) {
		for (c->skip = 0; c->skip <= total + 2; c->skip++) {
			memset(c->entries, 0xa5, sizeof(c->entries));
			run_chain(test, c, 9);
			for (way = 0; way < NR_WAYS; way++)
				KUNIT_EXPECT_EQ_MSG(test, c->entries[way][c->size],
						    0xa5a5a5a5a5a5a5a5UL,
						    "way %u wrote past its end",
						    way);
		}
	}
	c->size = MAX_ENTRIES;
	c->skip = INT_MAX;
	run_chain(test, c, 9);
	KUNIT_EXPECT_EQ(test, c->nr[VIA_WALK], 0);
}

/**
 * struct irq_capture - captures made by an interrupt
 * @c: the trace from within the handler
 * @regs: the trace of what it interrupted
 * @spinner: the interrupted task
 * @tasklet: scheduled by the hardirq; runs in softirq context
 * @soft: whether the tasklet is to take @c
 */
struct irq_capture {
	struct capture *c;
	struct capture *regs;
	struct spinner spinner;
	struct tasklet_struct tasklet;
	bool soft;
};

static void hrtimer_take(struct spinner *s)
{
	struct irq_capture *ic = container_of(s, struct irq_capture, spinner);

	ic->regs->regs = get_irq_regs();
	take(ic->regs);
	if (ic->soft) {
		tasklet_schedule(&ic->tasklet);
	} else {
		walk_chain(ic->c, 2);
		WRITE_ONCE(s->busy, false);
	}
}

static void tasklet_take(struct tasklet_struct *tasklet)
{
	struct irq_capture *ic = container_of(tasklet, struct irq_capture, tasklet);

	walk_chain(ic->c, 2);
	WRITE_ONCE(ic->spinner.busy, false);
}

static void run_interrupt(struct kunit *test, bool soft, unsigned int skip)
{
	struct irq_capture *ic = kunit_kzalloc(test, sizeof(*ic), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ic);
	ic->c = new_capture(test);
	ic->regs = new_capture(test);
	ic->c->skip = skip;
	ic->regs->skip = skip;
	ic->soft = soft;
	tasklet_setup(&ic->tasklet, tasklet_take);
	spin_under_hrtimer(&ic->spinner, 4, hrtimer_take);
	tasklet_kill(&ic->tasklet);

	KUNIT_EXPECT_TRUE(test, ic->c->in_place &
			  (soft ? SOFTIRQ_OFFSET : HARDIRQ_MASK));
	expect_same(test, ic->c);
	expect_same(test, ic->regs);
	if (!skip) {
		/* With PREEMPT_RT a softirq interrupts nothing. */
		KUNIT_EXPECT_GT(test, ic->c->nr[VIA_WALK],
				soft && IS_ENABLED(CONFIG_PREEMPT_RT) ? 6 : 12);
		KUNIT_EXPECT_GT(test, ic->regs->nr[VIA_WALK], 6);
	}
}

static void test_hardirq(struct kunit *test)
{
	unsigned int skip;

	for (skip = 0; skip < 40; skip++)
		run_interrupt(test, false, skip);
}

static void test_softirq(struct kunit *test)
{
	unsigned int skip;

	for (skip = 0; skip < 40; skip++)
		run_interrupt(test, true, skip);
}

/* === Tracers that change return addresses ================================= */

#ifdef CONFIG_KRETPROBES
static struct capture *kretprobe_capture;

static int kretprobe_take(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (kretprobe_capture) {
		take(kretprobe_capture);
		kretprobe_capture = NULL;
	}
	return 0;
}

/* Twice on each of a chain's functions, and once more on what the last one calls. */
static void run_kretprobes(struct kunit *test, struct capture *c)
{
	struct kretprobe rp[] = {
		{ .kp.addr = (void *)walk_chain, .maxactive = 100,
		  .handler = kretprobe_take },
		{ .kp.addr = (void *)walk_chain, .maxactive = 100 },
		{ .kp.addr = (void *)via_walk, .maxactive = 10 },
		{ .kp.addr = (void *)via_unwinder, .maxactive = 10 },
		{ .kp.addr = (void *)via_save, .maxactive = 10 },
	};
	struct capture *in_handler = new_capture(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rp); i++)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&rp[i]), 0);
	kretprobe_capture = in_handler;
	for (i = 1; i < 20; i++)
		run_chain(test, c, i);
	for (i = 0; i < ARRAY_SIZE(rp); i++)
		unregister_kretprobe(&rp[i]);

	KUNIT_EXPECT_TRUE(test, completion_done(&in_handler->done));
	expect_same(test, in_handler);
	KUNIT_EXPECT_GT(test, in_handler->nr[VIA_WALK], 6);
	run_chain(test, c, 20);
}

static void test_kretprobes(struct kunit *test)
{
	run_kretprobes(test, new_capture(test));
}
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static int graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	return 1;
}

static void graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
}

static void test_function_graph(struct kunit *test)
{
	static struct fgraph_ops gops = {
		.entryfunc = graph_entry,
		.retfunc = graph_return,
	};
	struct capture *c = new_capture(test);
	int depth;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&gops.ops,
						   (unsigned long)walk_chain, 0,
						   0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&gops), 0);
	for (depth = 1; depth < 20; depth++)
		run_chain(test, c, depth);
	for (c->skip = 0; c->skip < 25; c->skip++)
		run_chain(test, c, 12);
	c->skip = 0;
#ifdef CONFIG_KRETPROBES
	run_kretprobes(test, c);
#endif
	unregister_ftrace_graph(&gops);
	ftrace_free_filter(&gops.ops);
	run_chain(test, c, 12);
}
#endif

/* === Chains that nothing but an attacker or a bug makes =================== */

#define CHAIN_ROUNDS	100000
#define CHAIN_RECORDS	24

struct record {
	unsigned long next;
	unsigned long pc;
};

/**
 * struct made_up - what made-up chains are made of
 * @rnd: where all of them come from
 * @stacks: bounds of the stacks that they lie on
 * @other: another task's stack
 * @freed: the stack of a task that is gone
 * @hooked: whether a tracer's trampoline is among them
 */
struct made_up {
	struct rnd_state rnd;
	struct scs_trace_stacks stacks;
	unsigned long other;
	unsigned long freed;
	bool hooked;
};

static u32 dice(struct made_up *m, u32 sides)
{
	return prandom_u32_state(&m->rnd) % sides;
}

/* A place for a frame record: some good, some that must not be read or followed. */
static unsigned long any_place(struct made_up *m, struct record *records)
{
	unsigned long at = (unsigned long)&records[dice(m, CHAIN_RECORDS)];

	switch (dice(m, 40)) {
	case 0:
		return 0;
	case 1:
		return at + 1 + dice(m, 15);
	case 2:
		return m->stacks.task - SCS_TRACE_RECORD_SIZE + dice(m, 3) * 8;
	case 3:
		return m->stacks.final + dice(m, 4) * 8;
	case 4:
		return m->stacks.irq_end - dice(m, 3) * 8;
	case 5:
		return m->stacks.irq - dice(m, 3) * 8;
	case 6:
		return m->other + dice(m, THREAD_SIZE);
	case 7:
		return m->freed + dice(m, THREAD_SIZE);
	case 8:
		/* Not on this stack: what lies below is overwritten by each walk. */
		return at ^ BIT(THREAD_SHIFT + dice(m, 64 - THREAD_SHIFT));
	case 9:
		return -SCS_TRACE_RECORD_SIZE + dice(m, 16);
	case 10:
		return at + 8;
	case 11:
		return m->stacks.final;
	default:
		return at;
	}
}

/* Mostly a good chain, with some links changed. */
static void make_up_chain(struct made_up *m, struct record *records,
			  unsigned long end)
{
	unsigned int i, changed = dice(m, 3);

	for (i = 0; i < CHAIN_RECORDS; i++) {
		records[i].next = i + 1 < CHAIN_RECORDS ?
				  (unsigned long)&records[i + 1] : end;
		records[i].pc = (unsigned long)make_up_chain + 4 * dice(m, 64);
	}
	while (changed--) {
		i = dice(m, CHAIN_RECORDS);
		records[i].next = any_place(m, records);
	}
#ifdef CONFIG_KRETPROBES
	if (!dice(m, 50)) {
		records[dice(m, CHAIN_RECORDS)].pc =
			(unsigned long)kretprobe_trampoline_addr();
		m->hooked = true;
	}
#endif
}

static void expect_match(struct kunit *test, int nr, const unsigned long *got,
			 int want_nr, const unsigned long *want,
			 unsigned int round)
{
	if (nr < 0)
		return;
	KUNIT_ASSERT_EQ_MSG(test, nr, want_nr, "round %u", round);
	KUNIT_ASSERT_TRUE_MSG(test, !memcmp(got, want, nr * sizeof(*got)),
			      "round %u", round);
}

static int exiting_thread(void *data)
{
	return 0;
}

static void find_stacks(struct kunit *test, struct made_up *m)
{
	struct task_struct *t = kthread_create(exiting_thread, NULL, "scs_gone");

	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	m->freed = (unsigned long)task_stack_page(t);
	m->other = (unsigned long)task_stack_page(&init_task);
	kthread_stop(t);
	prandom_seed_state(&m->rnd, 20261130);
}

/* The frame-pointer unwinder itself is fed the same chain, on this very stack. */
static void test_made_up_on_stack(struct kunit *test)
{
	static unsigned long got[64], want[64];
	struct record records[CHAIN_RECORDS];
	struct pt_regs regs = { .pstate = PSR_MODE_EL1h };
	unsigned int round, size, skip, answered = 0, plain = 0;
	struct made_up m = {};
	int nr, want_nr;

	find_stacks(test, &m);
	m.stacks.task = (unsigned long)task_stack_page(current);
	m.stacks.final = (unsigned long)task_pt_regs(current)->stackframe;
	m.stacks.irq = m.stacks.task;
	m.stacks.irq_end = m.stacks.task + THREAD_SIZE;

	for (round = 0; round < CHAIN_ROUNDS; round++) {
		m.hooked = false;
		make_up_chain(&m, records, dice(&m, 2) ? m.stacks.final :
			      (unsigned long)__builtin_frame_address(0));
		regs.pc = (unsigned long)test_made_up_on_stack + 4;
		regs.regs[29] = any_place(&m, records);
		size = dice(&m, 65);
		skip = dice(&m, 4) ? 0 : dice(&m, 40);

		want_nr = unwind_regs(&regs, want, size, skip);
		nr = arch_scs_trace_walk_regs(&regs, got, size, skip);
		expect_match(test, nr, got, want_nr, want, round);
		answered += nr > 0;
		/* Where no tracer is pending there is none. */
		if (m.hooked)
			continue;
		nr = arch_scs_trace_walk(regs.pc, regs.regs[29], got, size, skip);
		expect_match(test, nr, got, want_nr, want, round);
		plain += nr > 0;
		if (!(round % 1024))
			cond_resched();
	}
	kunit_info(test, "made up on the stack: %u chains, %u and %u answered\n",
		   round, answered, plain);
	KUNIT_EXPECT_GT(test, answered, CHAIN_ROUNDS / 4);
	KUNIT_EXPECT_GT(test, plain, CHAIN_ROUNDS / 4);
}

/*
 * What the frame-pointer unwinder would do on the two stacks; true if to the end. Set
 * @hooked if what ended it is a tracer's trampoline.
 */
static bool model(const struct scs_trace_stacks *s, unsigned long pc,
		  unsigned long fp, struct unwound *u, bool *hooked)
{
	unsigned long low[2] = { s->task, s->irq };
	unsigned long high[2] = { s->final + SCS_TRACE_RECORD_SIZE, s->irq_end };
	unsigned long cur_low = 0, cur_high = 0;
	int i;

	for (;;) {
#ifdef CONFIG_KRETPROBES
		if (is_kretprobe_trampoline(pc)) {
			*hooked = true;
			return false;
		}
#endif
		if (!unwind_entry(u, pc) || fp == s->final)
			return true;
		if (fp & 7)
			return false;
		if (!cur_low || fp < cur_low || fp > cur_high - 16) {
			for (i = 0; i < 2; i++)
				if (low[i] && fp >= low[i] && fp <= high[i] - 16)
					break;
			if (i == 2)
				return false;
			cur_high = high[i];
			low[i] = 0;
		}
		cur_low = fp + 16;
		pc = ((struct record *)fp)->pc;
		fp = ((struct record *)fp)->next;
	}
}

/* On stacks of their own, with nothing mapped right before and after them. */
static void test_made_up_apart(struct kunit *test)
{
	static unsigned long got[64], want[64];
	unsigned int round, size, skip, variant, answered = 0, whole = 0;
	struct record *task, *irq;
	struct made_up m = {};
	unsigned long pc, fp;
	bool complete;
	int nr;

	find_stacks(test, &m);
	task = vmalloc(PAGE_SIZE);
	irq = vmalloc(PAGE_SIZE);
	if (!task || !irq)
		goto out;
	m.stacks.task = (unsigned long)task;
	m.stacks.final = m.stacks.task + PAGE_SIZE - SCS_TRACE_RECORD_SIZE;
	m.stacks.irq_end = (unsigned long)irq + PAGE_SIZE;

	for (round = 0; round < CHAIN_ROUNDS; round++) {
		/* At either end of each of them. */
		struct record *on_task = dice(&m, 2) ? task :
			(struct record *)m.stacks.final - CHAIN_RECORDS;
		struct record *on_irq = dice(&m, 2) ? irq :
			(struct record *)m.stacks.irq_end - CHAIN_RECORDS;
		struct unwound u = { want };

		m.stacks.irq = dice(&m, 3) ? (unsigned long)irq : 0;
		make_up_chain(&m, on_task, m.stacks.final);
		make_up_chain(&m, on_irq, any_place(&m, on_task));
		fp = any_place(&m, dice(&m, 2) ? on_task : on_irq);
		pc = (unsigned long)test_made_up_apart;
		size = dice(&m, 65);
		skip = dice(&m, 4) ? 0 : dice(&m, 50);

		u.size = size;
		u.skip = skip;
		m.hooked = false;
		complete = model(&m.stacks, pc, fp, &u, &m.hooked);
		for (variant = m.hooked; variant < 2; variant++) {
			nr = arch_scs_trace_walk_within(&m.stacks, pc, fp, got,
							size, skip, variant);
			expect_match(test, nr, got, u.len, want, round);
			answered += nr >= 0;
			whole += complete;
		}
	}
	kunit_info(test, "made up apart: %u chains, %u of %u answered\n",
		   round, answered, whole);
	KUNIT_EXPECT_LE(test, answered, whole);
	/* Not those that are aligned as the stack pointer never is, nor circular. */
	KUNIT_EXPECT_GT(test, answered, whole - whole / 20);
out:
	KUNIT_EXPECT_NOT_NULL(test, task);
	KUNIT_EXPECT_NOT_NULL(test, irq);
	vfree(task);
	vfree(irq);
}

static void test_bad_regs(struct kunit *test)
{
	struct pt_regs regs = { .pstate = PSR_MODE_EL0t };
	unsigned long entry;

	KUNIT_EXPECT_EQ(test, arch_scs_trace_walk_regs(NULL, &entry, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, arch_scs_trace_walk_regs(&regs, &entry, 1, 0), -EINVAL);
	regs.pstate = PSR_MODE_EL1h;
	KUNIT_EXPECT_EQ(test, arch_scs_trace_walk_regs(&regs, &entry, 0, 0), 0);
}

/* === Cost ================================================================= */

#define COST_ROUNDS	200
#define COST_TRIES	5

/**
 * struct cost - what COST_ROUNDS traces cost, in ticks of the system counter
 * @frames: how many entries each has
 * @walk: from the walk
 * @unwinder: from the frame-pointer unwinder
 */
struct cost {
	unsigned int frames;
	u64 walk;
	u64 unwinder;
};

/* The best of some tries: an emulated CPU may be held up in any of them. */
static noinline u64 cost_loop(struct capture *c, int way)
{
	u64 start, best = U64_MAX;
	unsigned long flags;
	int try, i;

	for (try = 0; try < COST_TRIES; try++) {
		local_irq_save(flags);
		start = get_cycles();
		for (i = 0; i < COST_ROUNDS; i++)
			c->nr[way] = ways[way](c, c->entries[way]);
		best = min(best, get_cycles() - start);
		local_irq_restore(flags);
	}
	return best;
}

static noinline void cost_chain(struct capture *c, struct cost *cost, int depth)
{
	if (depth > 1) {
		cost_chain(c, cost, depth - 1);
	} else {
		cost->walk = cost_loop(c, VIA_WALK);
		cost->unwinder = cost_loop(c, VIA_UNWINDER);
		cost->frames = c->nr[VIA_WALK];
	}
	barrier();
}

/* As in the suite scs_trace: exact under QEMU's -icount, a rough time elsewhere. */
static void test_cost(struct kunit *test)
{
	static const int depths[] = { 1, 9, 17, 33 };
	struct capture *c = new_capture(test);
	struct cost cost;
	int i;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		cost_chain(c, &cost, depths[i]);
		kunit_info(test, "cost: frames %u walk %llu unwinder %llu\n",
			   cost.frames, cost.walk / COST_ROUNDS,
			   cost.unwinder / COST_ROUNDS);
		KUNIT_EXPECT_LT(test, 2 * cost.walk, cost.unwinder);
	}
}

static struct kunit_case walk_test_cases[] = {
	KUNIT_CASE(test_task),
	KUNIT_CASE(test_sizes_and_skips),
	KUNIT_CASE(test_hardirq),
	KUNIT_CASE(test_softirq),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_kretprobes),
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(test_function_graph),
#endif
	KUNIT_CASE(test_made_up_on_stack),
	KUNIT_CASE(test_made_up_apart),
	KUNIT_CASE(test_bad_regs),
	KUNIT_CASE(test_cost),
	{}
};

static struct kunit_suite walk_test_suite = {
	.name = "scs_trace_walk",
	.test_cases = walk_test_cases,
};

kunit_test_suite(walk_test_suite);
