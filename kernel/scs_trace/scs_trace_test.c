// SPDX-License-Identifier: GPL-2.0
/* KUnit: the collector gives what the frame-pointer unwinder gives, in each context. */

#define pr_fmt(fmt) "scs_trace_test: " fmt

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/initrd.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ptrace.h>
#include <linux/sched/debug.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/scs_trace.h>
#include <linux/stacktrace.h>
#include <linux/timer.h>
#include <linux/timex.h>
#include <linux/umh.h>
#include <linux/workqueue.h>

#include <asm/irq_regs.h>
#include <asm/sections.h>

#include "scs_trace.h"
#include "testlib.h"

#define MAX_ENTRIES	192
#define MAX_DEPTH	100

/* === Three ways to the same trace ========================================= */

enum { VIA_SCS, VIA_SAVE, VIA_WALK, NR_WAYS };

/**
 * struct capture - one trace, taken three ways from one place
 * @size: how many entries to ask for
 * @skip: how many to leave out
 * @tsk: the task to trace; NULL for the current one in the plain way
 * @regs: where to start; NULL for the place itself
 * @nr: what each way returned, an errno included
 * @off_shadow: whether the collector did not have to fall back
 * @entries: what each way stored
 * @cut: how many of VIA_SCS's entries filter_irq_stacks() leaves
 * @in_place: preempt_count() and softirq_count() of the place, to check that it is what was meant
 * @where: the task that ran there
 * @done: set at last
 */
struct capture {
	unsigned int size;
	unsigned int skip;
	struct task_struct *tsk;
	struct pt_regs *regs;
	int nr[NR_WAYS];
	bool off_shadow;
	unsigned long entries[NR_WAYS][MAX_ENTRIES];
	int cut;
	int in_place;
	struct task_struct *where;
	struct completion done;
};

struct walk {
	unsigned long *store;
	unsigned int size;
	unsigned int skip;
	unsigned int len;
	bool nosched;
};

static bool walk_entry(void *cookie, unsigned long entry)
{
	struct walk *w = cookie;

	if (w->nosched && in_sched_functions(entry))
		return true;
	if (w->skip) {
		w->skip--;
		return true;
	}
	if (w->len == w->size)
		return false;
	w->store[w->len++] = entry;
	return true;
}

/* Each way has a frame of its own, which it skips: the first entry is @take's. */
static noinline int via_scs(struct capture *c, unsigned long *store)
{
	/* Of another task there is no fallback. */
	c->off_shadow = c->tsk || off_shadow(c->regs);
	if (c->regs)
		return scs_trace_save_regs(c->regs, store, c->size, c->skip);
	if (c->tsk)
		return scs_trace_save_tsk(c->tsk, store, c->size,
					  c->skip + (c->tsk == current));
	return scs_trace_save(store, c->size, c->skip + 1);
}

static noinline int via_save(struct capture *c, unsigned long *store)
{
	if (c->regs)
		return stack_trace_save_regs(c->regs, store, c->size, c->skip);
	if (c->tsk)
		return stack_trace_save_tsk(c->tsk, store, c->size,
					    c->skip + (c->tsk == current));
	return stack_trace_save(store, c->size, c->skip + 1);
}

static noinline int via_walk(struct capture *c, unsigned long *store)
{
	bool own_frame = !c->regs && (!c->tsk || c->tsk == current);
	struct walk w = {
		.store = store,
		.size = c->size,
		.skip = c->skip + own_frame,
		.nosched = c->tsk,
	};

	arch_stack_walk(walk_entry, &w, c->tsk ?: current, c->regs);
	return w.len;
}

static int (*const ways[])(struct capture *c, unsigned long *store) = {
	[VIA_SCS]	= via_scs,
	[VIA_SAVE]	= via_save,
	[VIA_WALK]	= via_walk,
};

/* One call instruction for all three, or their first entries would differ. */
static noinline void take(struct capture *c)
{
	int i;

	c->in_place = preempt_count() | softirq_count();
	c->where = current;
	for (i = 0; i < NR_WAYS; i++) {
		OPTIMIZER_HIDE_VAR(i);
		c->nr[i] = ways[i](c, c->entries[i]);
	}
	c->cut = filter_irq_stacks(c->entries[VIA_SCS], max(c->nr[VIA_SCS], 0));
	complete(&c->done);
}

/* All ways must have told the same, whatever the collector had to fall back to. */
static void expect_same_trace(struct kunit *test, struct capture *c)
{
	int way, i;

	for (way = VIA_SCS; way <= VIA_SAVE; way++) {
		KUNIT_EXPECT_EQ_MSG(test, c->nr[way], c->nr[VIA_WALK],
				    "way %d, size %u, skip %u", way, c->size,
				    c->skip);
		for (i = 0; i < c->nr[way] && i < c->nr[VIA_WALK]; i++)
			KUNIT_EXPECT_TRUE_MSG(test, c->entries[way][i] ==
					      c->entries[VIA_WALK][i],
					      "way %d, entry %d: %pS, not %pS",
					      way, i,
					      (void *)c->entries[way][i],
					      (void *)c->entries[VIA_WALK][i]);
	}
}

/* The same off shadow call stacks. */
static void expect_same(struct kunit *test, struct capture *c)
{
	expect_same_trace(test, c);
	KUNIT_EXPECT_TRUE_MSG(test, c->off_shadow || scs_trace_walks(),
			      "not off a shadow call stack");
}

static bool in_irq_entry_text(unsigned long entry)
{
	return (entry >= (unsigned long)__irqentry_text_start &&
		entry < (unsigned long)__irqentry_text_end) ||
	       (entry >= (unsigned long)__softirqentry_text_start &&
		entry < (unsigned long)__softirqentry_text_end);
}

/*
 * The depot is to see all of a task's trace, and an interrupt's up to its entry.
 * What ksoftirqd runs has no such entry.
 */
static void expect_cut(struct kunit *test, struct capture *c)
{
	int i, cut = c->nr[VIA_SCS];

	for (i = 0; i < c->nr[VIA_SCS]; i++) {
		if (in_irq_entry_text(c->entries[VIA_SCS][i])) {
			cut = i + 1;
			break;
		}
	}
	KUNIT_EXPECT_EQ(test, c->cut, cut);
	if (c->in_place & HARDIRQ_MASK)
		KUNIT_EXPECT_LT(test, c->cut, c->nr[VIA_SCS]);
}

static bool has_entry_in(struct capture *c, void *fn)
{
	int i;

	for (i = 0; i < c->nr[VIA_SCS]; i++)
		if (entry_in(c->entries[VIA_SCS][i], fn))
			return true;
	return false;
}

static struct capture *new_capture(struct kunit *test)
{
	struct capture *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->size = MAX_ENTRIES;
	init_completion(&c->done);
	return c;
}

/* === Task context: known call chains ====================================== */

static noinline void chain_odd(struct capture *c, int depth);

static noinline void chain_even(struct capture *c, int depth)
{
	if (depth > 1)
		chain_odd(c, depth - 1);
	else
		take(c);
	barrier();
}

static noinline void chain_odd(struct capture *c, int depth)
{
	if (depth > 1)
		chain_even(c, depth - 1);
	else
		take(c);
	barrier();
}

static void expect_chain(struct kunit *test, struct capture *c, int depth)
{
	int i;

	expect_same(test, c);
	expect_cut(test, c);
	KUNIT_ASSERT_GT(test, c->nr[VIA_SCS], depth);
	KUNIT_EXPECT_TRUE(test, entry_in(c->entries[VIA_SCS][0], take));
	for (i = 1; i <= depth; i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      entry_in(c->entries[VIA_SCS][i],
					       i & 1 ? chain_odd : chain_even),
				      "entry %d of %d: %pS", i, depth,
				      (void *)c->entries[VIA_SCS][i]);
}

static void run_chain(struct capture *c, int depth)
{
	/* The last to be called, which calls take(), is chain_odd(). */
	if (depth & 1)
		chain_odd(c, depth);
	else
		chain_even(c, depth);
}

static void test_depths(struct kunit *test)
{
	struct capture *c = new_capture(test);
	int depth;

	for (depth = 1; depth <= MAX_DEPTH; depth++) {
		run_chain(c, depth);
		expect_chain(test, c, depth);
	}
}

static void test_skip(struct kunit *test)
{
	static const int depths[] = { 1, 2, 7, 16, 64 };
	struct capture *c = new_capture(test);
	int i, total;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		c->skip = 0;
		run_chain(c, depths[i]);
		total = c->nr[VIA_WALK];
		KUNIT_EXPECT_GT(test, total, depths[i]);

		for (; c->skip <= total + 1; c->skip++) {
			run_chain(c, depths[i]);
			expect_same(test, c);
			KUNIT_EXPECT_EQ(test, c->nr[VIA_SCS],
					max_t(int, total - c->skip, 0));
		}
	}

	c->skip = INT_MAX;
	run_chain(c, 1);
	expect_same(test, c);
	KUNIT_EXPECT_EQ(test, c->nr[VIA_SCS], 0);
}

static void test_short_buffer(struct kunit *test)
{
	struct capture *c = new_capture(test);
	unsigned int size, way;

	for (size = 0; size <= 40; size++) {
		memset(c->entries, 0xa5, sizeof(c->entries));
		c->size = size;
		c->skip = size % 3;
		run_chain(c, 50);
		expect_same(test, c);
		KUNIT_EXPECT_EQ(test, c->nr[VIA_SCS], size);
		for (way = 0; way < NR_WAYS; way++)
			KUNIT_EXPECT_EQ_MSG(test, c->entries[way][size],
					    0xa5a5a5a5a5a5a5a5UL,
					    "way %u wrote past its end", way);
	}
}

static void take_work(struct work_struct *work);

struct work_capture {
	struct work_struct work;
	struct capture *c;
};

static void take_work(struct work_struct *work)
{
	chain_odd(container_of(work, struct work_capture, work)->c, 1);
}

static void test_workqueue(struct kunit *test)
{
	struct work_capture w = { .c = new_capture(test) };

	INIT_WORK_ONSTACK(&w.work, take_work);
	schedule_work(&w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);

	expect_chain(test, w.c, 1);
	KUNIT_EXPECT_TRUE(test, has_entry_in(w.c, take_work));
	KUNIT_EXPECT_TRUE(test, w.c->where->flags & PF_WQ_WORKER);
}

struct chains {
	struct kunit *test;
	struct capture *c;
	struct completion *done;
};

/* Many tasks on all CPUs at the same time, each with a chain of its own. */
static int chains_thread(void *data)
{
	struct chains *chains = data;
	struct kunit *test = chains->test;
	struct capture *c = chains->c;
	int i;

	for (i = 0; i < 300; i++) {
		run_chain(c, 1 + i % MAX_DEPTH);
		expect_same(test, c);
		KUNIT_EXPECT_GT(test, c->nr[VIA_SCS], 1 + i % MAX_DEPTH);
		cond_resched();
	}
	complete(chains->done);
	return 0;
}

static void test_all_cpus(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *threads[8];
	struct chains *chains;
	int cpu, i, nr = 0;

	chains = kunit_kcalloc(test, ARRAY_SIZE(threads), sizeof(*chains), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, chains);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		chains[i] = (struct chains){ test, new_capture(test), &done };

	for (i = 0; i < 2; i++) {
		for_each_online_cpu(cpu) {
			struct task_struct *t;

			if (nr == ARRAY_SIZE(threads))
				break;
			t = kthread_create(chains_thread, &chains[nr],
					   "scs_chain/%d", cpu);
			KUNIT_EXPECT_FALSE(test, IS_ERR(t));
			if (IS_ERR(t))
				break;
			kthread_bind(t, cpu);
			threads[nr++] = get_task_struct(t);
			wake_up_process(t);
		}
	}
	for (i = 0; i < nr; i++)
		wait_for_completion(&done);
	while (nr) {
		KUNIT_EXPECT_EQ(test, kthread_stop(threads[--nr]), 0);
		put_task_struct(threads[nr]);
	}
}

/* === Interrupt context ==================================================== */

/**
 * struct irq_capture - a capture made by an interrupt of some kind
 * @c: the trace from within the handler
 * @regs: the trace of what the interrupt interrupted, where it has registers
 * @spinner: the interrupted task
 * @timer: fires in softirq context
 * @tasklet: scheduled by the hrtimer or by a task
 * @irq_work: runs in hardirq context
 */
struct irq_capture {
	struct capture *c;
	struct capture *regs;
	struct spinner spinner;
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct irq_work irq_work;
};

static void irq_take(struct irq_capture *ic)
{
	if (ic->regs) {
		ic->regs->regs = get_irq_regs();
		take(ic->regs);
	}
	chain_odd(ic->c, 1);
	WRITE_ONCE(ic->spinner.busy, false);
}

static void hrtimer_take(struct spinner *s)
{
	irq_take(container_of(s, struct irq_capture, spinner));
}

static void hrtimer_schedule_tasklet(struct spinner *s)
{
	tasklet_schedule(&container_of(s, struct irq_capture, spinner)->tasklet);
}

static void hrtimer_queue_irq_work(struct spinner *s)
{
	irq_work_queue(&container_of(s, struct irq_capture, spinner)->irq_work);
}

static void timer_take(struct timer_list *timer)
{
	struct irq_capture *ic = container_of(timer, struct irq_capture, timer);

	if (READ_ONCE(ic->spinner.spinning))
		irq_take(ic);
	else
		mod_timer(timer, jiffies + 1);
}

static void tasklet_take(struct tasklet_struct *tasklet)
{
	irq_take(container_of(tasklet, struct irq_capture, tasklet));
}

static void irq_work_take(struct irq_work *work)
{
	irq_take(container_of(work, struct irq_capture, irq_work));
}

static struct irq_capture *new_irq_capture(struct kunit *test)
{
	struct irq_capture *ic = kunit_kzalloc(test, sizeof(*ic), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ic);
	ic->c = new_capture(test);
	ic->spinner.busy = true;
	return ic;
}

/* The trace must go on, through the interrupt, into the task that was spinning. */
static void expect_interrupted(struct kunit *test, struct irq_capture *ic)
{
	expect_chain(test, ic->c, 1);
	KUNIT_EXPECT_PTR_EQ(test, ic->c->where, current);
	KUNIT_EXPECT_TRUE(test, has_entry_in(ic->c, spin));
	KUNIT_EXPECT_TRUE(test, has_entry_in(ic->c, spin_chain));
}

static void test_hrtimer(struct kunit *test)
{
	struct irq_capture *ic = new_irq_capture(test);

	ic->regs = new_capture(test);
	spin_under_hrtimer(&ic->spinner, 5, hrtimer_take);

	KUNIT_EXPECT_TRUE(test, ic->c->in_place & HARDIRQ_MASK);
	expect_interrupted(test, ic);

	/* And from the registers that this very interrupt saved. */
	expect_same(test, ic->regs);
	KUNIT_ASSERT_GT(test, ic->regs->nr[VIA_SCS], 6);
	KUNIT_EXPECT_TRUE(test, entry_in(ic->regs->entries[VIA_SCS][0], spin));
	KUNIT_EXPECT_TRUE(test, entry_in(ic->regs->entries[VIA_SCS][1], spin_chain));
}

static void test_hrtimer_skip(struct kunit *test)
{
	struct irq_capture *ic;
	int skip, total = 1;

	for (skip = 0; skip <= total + 1; skip++) {
		ic = new_irq_capture(test);
		ic->regs = new_capture(test);
		ic->c->skip = skip;
		ic->regs->skip = skip;
		ic->c->size = skip & 1 ? 5 : MAX_ENTRIES;
		ic->regs->size = ic->c->size;
		spin_under_hrtimer(&ic->spinner, 3, hrtimer_take);
		expect_same(test, ic->c);
		expect_same(test, ic->regs);
		if (!skip)
			total = ic->c->nr[VIA_WALK];
	}
	KUNIT_EXPECT_GT(test, total, 10);
}

static void test_irq_work(struct kunit *test)
{
	struct irq_capture *ic = new_irq_capture(test);

	ic->irq_work = IRQ_WORK_INIT_HARD(irq_work_take);
	spin_under_hrtimer(&ic->spinner, 2, hrtimer_queue_irq_work);
	irq_work_sync(&ic->irq_work);

	KUNIT_EXPECT_TRUE(test, ic->c->in_place & HARDIRQ_MASK);
	expect_interrupted(test, ic);
	KUNIT_EXPECT_TRUE(test, has_entry_in(ic->c, irq_work_take));
}

static void test_timer(struct kunit *test)
{
	struct irq_capture *ic = new_irq_capture(test);

	timer_setup(&ic->timer, timer_take, TIMER_PINNED);
	migrate_disable();
	mod_timer(&ic->timer, jiffies + 2);
	spin_chain(&ic->spinner, 4);
	migrate_enable();
	timer_shutdown_sync(&ic->timer);

	KUNIT_EXPECT_TRUE(test, ic->c->in_place & SOFTIRQ_MASK);
	KUNIT_EXPECT_FALSE(test, ic->c->in_place & HARDIRQ_MASK);
	if (ic->c->where == current)
		expect_interrupted(test, ic);
	else	/* It was left to ksoftirqd, or to the thread that PREEMPT_RT has for it. */
		expect_chain(test, ic->c, 1);
}

static void test_tasklet(struct kunit *test)
{
	struct irq_capture *ic = new_irq_capture(test);

	tasklet_setup(&ic->tasklet, tasklet_take);
	spin_under_hrtimer(&ic->spinner, 4, hrtimer_schedule_tasklet);
	tasklet_kill(&ic->tasklet);

	KUNIT_EXPECT_TRUE(test, ic->c->in_place & SOFTIRQ_MASK);
	KUNIT_EXPECT_FALSE(test, ic->c->in_place & HARDIRQ_MASK);
	/* No interrupt runs it with PREEMPT_RT. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		expect_chain(test, ic->c, 1);
	else
		expect_interrupted(test, ic);
}

/* A tasklet that a task schedules is left to ksoftirqd, if no interrupt comes. */
static void test_ksoftirqd(struct kunit *test)
{
	struct irq_capture *ic;
	bool seen = false;
	int i;

	for (i = 0; i < 50 && !seen; i++) {
		ic = new_irq_capture(test);
		tasklet_setup(&ic->tasklet, tasklet_take);
		tasklet_schedule(&ic->tasklet);
		wait_for_completion(&ic->c->done);
		tasklet_kill(&ic->tasklet);
		expect_chain(test, ic->c, 1);
		seen = !strncmp(ic->c->where->comm, "ksoftirqd/", 10);
	}
	KUNIT_EXPECT_TRUE(test, seen);
	KUNIT_EXPECT_TRUE(test, ic->c->in_place & SOFTIRQ_MASK);
}

static enum hrtimer_restart hrtimer_take_idle(struct hrtimer *timer)
{
	irq_take(container_of(timer, struct irq_capture, spinner.hrtimer));
	return HRTIMER_NORESTART;
}

/* CPU 0's idle task is init_task, whose shadow call stack is not page-aligned. */
static void test_init_task_idle(struct kunit *test)
{
	struct irq_capture *ic;
	bool seen = false;
	int i;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	for (i = 0; i < 50 && !seen; i++) {
		ic = new_irq_capture(test);
		start_hrtimer(&ic->spinner.hrtimer, hrtimer_take_idle);
		wait_for_completion(&ic->c->done);
		hrtimer_cancel(&ic->spinner.hrtimer);
		seen = ic->c->where == &init_task &&
		       has_entry_in(ic->c, cpu_startup_entry);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_TRUE(test, seen);
	expect_chain(test, ic->c, 1);
}

/* === Another task ========================================================= */

static noinline int block_chain(struct completion *wait, int depth)
{
	int ret = 0;

	if (depth > 1)
		ret = block_chain(wait, depth - 1);
	else
		wait_for_completion(wait);
	barrier();
	return ret;
}

static int block_thread(void *data)
{
	return block_chain(data, 10);
}

/* Wait until @tsk sleeps in @state, switched out; for a few seconds at most. */
static bool wait_blocked(struct task_struct *tsk, unsigned int state)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (wait_task_inactive(tsk, state))
			return true;
		schedule_timeout_uninterruptible(1);
	}
	return false;
}

static void expect_tsk(struct kunit *test, struct task_struct *tsk)
{
	struct capture *c = new_capture(test);
	int total = 0;

	c->tsk = tsk;
	do {
		take(c);
		expect_same(test, c);
		if (!c->skip)
			total = c->nr[VIA_WALK];
		KUNIT_EXPECT_EQ(test, c->nr[VIA_SCS],
				max_t(int, total - c->skip, 0));
	} while (c->skip++ <= total);
	KUNIT_EXPECT_GT(test, total, 1);

	for (c->size = 0, c->skip = 1; c->size < 5; c->size++) {
		take(c);
		expect_same(test, c);
	}
}

static void test_blocked_kthread(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(wait);
	struct capture *c = new_capture(test);
	struct task_struct *t;

	t = kthread_run(block_thread, &wait, "scs_blocked");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	get_task_struct(t);
	KUNIT_ASSERT_TRUE(test, wait_blocked(t, TASK_UNINTERRUPTIBLE));

	expect_tsk(test, t);
	c->tsk = t;
	take(c);
	KUNIT_EXPECT_TRUE(test, has_entry_in(c, block_chain));
	KUNIT_EXPECT_FALSE(test, has_entry_in(c, schedule));

	complete(&wait);
	kthread_stop(t);
	put_task_struct(t);
}

static void test_current_tsk(struct kunit *test)
{
	struct capture *c = new_capture(test);

	for (c->skip = 0; c->skip < 30; c->skip++) {
		c->tsk = current;
		run_chain(c, 12);
		expect_same(test, c);
	}
}

/* Never run, it has nothing on its shadow call stack. */
static void test_new_kthread(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(wait);
	struct task_struct *t;

	t = kthread_create(block_thread, &wait, "scs_new");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	get_task_struct(t);
	KUNIT_ASSERT_TRUE(test, wait_blocked(t, TASK_UNINTERRUPTIBLE));
	expect_tsk(test, t);
	kthread_stop(t);
	put_task_struct(t);
}

static void test_init_task_switched_out(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	expect_tsk(test, &init_task);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static int find_user_task(struct subprocess_info *info, struct cred *new)
{
	struct task_struct **tsk = info->data;

	*tsk = get_task_struct(current);
	return 0;
}

static void test_user_task(struct kunit *test)
{
	char path[] = "/init", arg[] = "block";
	char *argv[3] = { path, arg };
	struct task_struct *tsk = NULL;
	struct subprocess_info *info;
	struct capture *c = new_capture(test);
	int err;

	wait_for_initramfs();
	info = call_usermodehelper_setup(path, argv, NULL, GFP_KERNEL,
					 find_user_task, NULL, &tsk);
	KUNIT_ASSERT_NOT_NULL(test, info);
	err = call_usermodehelper_exec(info, UMH_WAIT_EXEC);
	if (err == -ENOENT) {
		if (tsk)
			put_task_struct(tsk);
		kunit_skip(test, "no /init in the initramfs");
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_NOT_NULL(test, tsk);
	KUNIT_ASSERT_TRUE(test, wait_blocked(tsk, TASK_INTERRUPTIBLE));
	KUNIT_EXPECT_FALSE(test, tsk->flags & PF_KTHREAD);

	expect_tsk(test, tsk);
	c->tsk = tsk;
	take(c);
	KUNIT_EXPECT_GT(test, c->nr[VIA_SCS], 3);

	send_sig(SIGKILL, tsk, 1);
	put_task_struct(tsk);
}

static int spin_thread(void *data)
{
	struct irq_capture *ic = data;

	complete(&ic->c->done);
	spin_chain(&ic->spinner, 3);
	return 0;
}

static void test_running_task(struct kunit *test)
{
	struct irq_capture *ic = new_irq_capture(test);
	struct task_struct *t;
	unsigned long entry;
	int cpu;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	t = kthread_create(spin_thread, ic, "scs_running");
	if (!IS_ERR(t)) {
		kthread_bind(t, cpu);
		get_task_struct(t);
		wake_up_process(t);
		wait_for_completion(&ic->c->done);
		KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(t, &entry, 1, 0), -EAGAIN);
		WRITE_ONCE(ic->spinner.busy, false);
		kthread_stop(t);
		put_task_struct(t);
	}
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, IS_ERR(t));
}

/* === Tracers that change return addresses, or call from assembly ========== */

#ifdef CONFIG_FUNCTION_TRACER
static struct capture *ftrace_capture;

static void ftrace_take(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	chain_odd(ftrace_capture, 1);
	ftrace_test_recursion_unlock(bit);
}

static noinline void ftrace_target(int *count)
{
	WRITE_ONCE(*count, *count + 1);
}

static void test_ftrace_callback(struct kunit *test)
{
	struct ftrace_ops ops = { .func = ftrace_take };
	int count = 0;

	ftrace_capture = new_capture(test);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)ftrace_target,
						   0, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	ftrace_target(&count);
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);

	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_ASSERT_TRUE(test, completion_done(&ftrace_capture->done));
	expect_chain(test, ftrace_capture, 1);
	KUNIT_EXPECT_TRUE(test, has_entry_in(ftrace_capture, ftrace_target));
	KUNIT_EXPECT_TRUE(test, has_entry_in(ftrace_capture, test_ftrace_callback));
}
#endif

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) || defined(CONFIG_KRETPROBES)
/* The fallback must have found the real addresses. */
static void expect_hooked(struct kunit *test, struct capture *c)
{
	expect_same_trace(test, c);
	KUNIT_EXPECT_FALSE(test, c->off_shadow);
	KUNIT_EXPECT_GT(test, c->nr[VIA_WALK], 8);
	KUNIT_EXPECT_TRUE(test, entry_in(c->entries[VIA_WALK][8], chain_even));

	/* Nothing stays behind. */
	run_chain(c, 8);
	expect_chain(test, c, 8);
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

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&gops.ops, (unsigned long)chain_even,
						   0, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&gops), 0);
	run_chain(c, 8);
	unregister_ftrace_graph(&gops);
	ftrace_free_filter(&gops.ops);
	expect_hooked(test, c);
}
#endif

#ifdef CONFIG_KRETPROBES
static int kretprobe_nothing(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static void test_kretprobe(struct kunit *test)
{
	struct kretprobe rp = {
		.kp.symbol_name = "chain_even",
		.handler = kretprobe_nothing,
		.maxactive = 20,
	};
	struct capture *c = new_capture(test);

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	run_chain(c, 8);
	unregister_kretprobe(&rp);

	expect_hooked(test, c);
}

struct probed {
	struct kprobe kp;
	struct capture *c;
	struct capture *regs;
};

/* In the handler of a BRK exception, and from the registers that it saved. */
static int kprobe_take(struct kprobe *kp, struct pt_regs *regs)
{
	struct probed *p = container_of(kp, struct probed, kp);

	p->regs->regs = regs;
	take(p->regs);
	chain_odd(p->c, 1);
	return 0;
}

static noinline void kprobe_target(int *count)
{
	WRITE_ONCE(*count, *count + 1);
}

static void test_kprobe(struct kunit *test)
{
	struct probed p = {
		.kp.symbol_name = "kprobe_target",
		.kp.pre_handler = kprobe_take,
		.c = new_capture(test),
		.regs = new_capture(test),
	};
	int count = 0;

	KUNIT_ASSERT_EQ(test, register_kprobe(&p.kp), 0);
	kprobe_target(&count);
	unregister_kprobe(&p.kp);

	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_ASSERT_TRUE(test, completion_done(&p.c->done));
	expect_chain(test, p.c, 1);
	expect_same(test, p.regs);
	KUNIT_ASSERT_GT(test, p.regs->nr[VIA_SCS], 1);
	KUNIT_EXPECT_TRUE(test, entry_in(p.regs->entries[VIA_SCS][0], kprobe_target));
}
#endif

/* === Switching, counting, refusing ======================================== */

static void test_switch(struct kunit *test)
{
	struct scs_trace_counters *a, *b;
	struct capture *c = new_capture(test);
	int i;

	a = kunit_kzalloc(test, 2 * sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	b = a + 1;
	KUNIT_EXPECT_EQ(test, scs_trace_mode(), SCS_TRACE_MODE_ON);

	for (i = 0; i < 3; i++) {
		scs_trace_set_mode(SCS_TRACE_MODE_OFF);
		KUNIT_EXPECT_EQ(test, scs_trace_mode(), SCS_TRACE_MODE_OFF);
		run_chain(c, 20);
		KUNIT_EXPECT_EQ(test, c->nr[VIA_SCS], -ECANCELED);
		KUNIT_EXPECT_EQ(test, c->nr[VIA_SAVE], c->nr[VIA_WALK]);
		KUNIT_EXPECT_MEMEQ(test, c->entries[VIA_SAVE], c->entries[VIA_WALK],
				   c->nr[VIA_WALK] * sizeof(unsigned long));

		/* The same traces, none of which is off a shadow call stack. */
		scs_trace_set_mode(SCS_TRACE_MODE_WALK);
		KUNIT_EXPECT_EQ(test, scs_trace_mode(), SCS_TRACE_MODE_WALK);
		scs_trace_sum(a);
		run_chain(c, 20);
		scs_trace_sum(b);
		expect_chain(test, c, 20);
		/* Another CPU may have been past the switch. */
		KUNIT_EXPECT_LE(test, atomic64_read(&b->traces),
				atomic64_read(&a->traces) + num_online_cpus());
		KUNIT_EXPECT_GE(test, atomic64_read(&b->walks),
				atomic64_read(&a->walks) + 2);

		scs_trace_set_mode(SCS_TRACE_MODE_ON);
		run_chain(c, 20);
		expect_chain(test, c, 20);
	}
}

/* With dynamic SCS, whether there is anything to read is known only at boot. */
static void test_dynamic_scs(struct kunit *test)
{
	struct capture *c = new_capture(test);

	run_chain(c, 20);
	expect_chain(test, c, 20);
}

static int scs_trace_test_init(struct kunit *test)
{
	if (!scs_is_enabled() && strcmp(test->name, "test_dynamic_scs"))
		kunit_skip(test, "no shadow call stacks on this CPU");
	return 0;
}

static void test_counters(struct kunit *test)
{
	struct scs_trace_counters *a, *b;
	struct capture *c = new_capture(test);

	a = kunit_kzalloc(test, 2 * sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	b = a + 1;

	/* Others may count, too, but never less than what was done here. */
	scs_trace_sum(a);
	run_chain(c, 20);
	scs_trace_sum(b);
	KUNIT_EXPECT_GE(test, atomic64_read(&b->traces),
			atomic64_read(&a->traces) + 2);
	KUNIT_EXPECT_GE(test, atomic64_read(&b->frames),
			atomic64_read(&a->frames) + 2 * c->nr[VIA_SCS]);

	scs_trace_set_mode(SCS_TRACE_MODE_OFF);
	scs_trace_sum(a);
	run_chain(c, 20);
	scs_trace_sum(b);
	scs_trace_set_mode(SCS_TRACE_MODE_ON);
	/* Another CPU may have been past the switch. */
	KUNIT_EXPECT_LE(test, atomic64_read(&b->traces),
			atomic64_read(&a->traces) + num_online_cpus());
	KUNIT_EXPECT_GE(test, atomic64_read(&b->fallbacks[SCS_TRACE_OFF]),
			atomic64_read(&a->fallbacks[SCS_TRACE_OFF]) + 2);
}

/* Made-up registers are walked from, as the unwinder would: to their own PC. */
static void expect_pc_only(struct kunit *test, struct pt_regs *regs)
{
	unsigned long entries[2] = {};

	KUNIT_EXPECT_EQ(test, scs_trace_save_regs(regs, entries, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, entries[0], regs->pc);
	/* No frame record goes with it: nobody can vouch for what follows. */
	KUNIT_EXPECT_EQ(test, scs_trace_save_regs(regs, entries, 2, 0), -EINVAL);
}

static void test_foreign_regs(struct kunit *test)
{
	struct pt_regs regs = {};
	unsigned long entry;

	KUNIT_EXPECT_EQ(test, scs_trace_save_regs(NULL, &entry, 1, 0), -EINVAL);

	/* Made up, without x18. */
	regs.pstate = PSR_MODE_EL1h;
	regs.pc = (unsigned long)test_foreign_regs;
	expect_pc_only(test, &regs);

	/* With an x18 whose entry is another, or no longer live. */
	regs.regs[18] = (unsigned long)task_scs(current);
	expect_pc_only(test, &regs);
	regs.regs[18] = (unsigned long)(arch_scs_trace_sp() + 4);
	expect_pc_only(test, &regs);
	regs.regs[18] = (unsigned long)task_scs(current) + SCS_SIZE;
	expect_pc_only(test, &regs);

	/* Of user space. */
	regs.pstate = PSR_MODE_EL0t;
	KUNIT_EXPECT_EQ(test, scs_trace_save_regs(&regs, &entry, 1, 0), -EINVAL);
}

/* A task without a shadow call stack, with a bad x18, with an overwritten end. */
static void test_broken_task(struct kunit *test)
{
	struct task_struct *tsk = kunit_kzalloc(test, sizeof(*tsk), GFP_KERNEL);
	unsigned long *scs = (unsigned long *)kunit_kzalloc(test, SCS_SIZE, GFP_KERNEL);
	struct scs_trace_source src;
	unsigned long entry;

	KUNIT_ASSERT_NOT_NULL(test, tsk);
	KUNIT_ASSERT_NOT_NULL(test, scs);
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -ESRCH);

	task_scs(tsk) = scs;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -EFAULT);
	task_scs_sp(tsk) = (void *)scs + 4;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -EFAULT);
	task_scs_sp(tsk) = (void *)scs + SCS_SIZE;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -EFAULT);

	task_scs_sp(tsk) = scs + 1;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -EUCLEAN);
	*__scs_magic(scs) = SCS_END_MAGIC;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), 1);

	tsk->on_cpu = 1;
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, &entry, 1, 0), -EAGAIN);

	/* A jump through NULL has a PC all the same. */
	src = (struct scs_trace_source){ .has_pc = false };
	KUNIT_EXPECT_EQ(test, arch_scs_trace_task(tsk, &src), 0);
	KUNIT_EXPECT_TRUE(test, src.has_pc);
	KUNIT_EXPECT_EQ(test, src.pc, 0);
}

/* What x18 must not be, and the first and last that it may be. */
static void test_bounds(struct kunit *test)
{
	const unsigned long *base = task_scs(current);
	const unsigned long *last = base + SCS_TRACE_MAX_DEPTH - 1;
	const unsigned long *bad[] = {
		NULL, (void *)8, (void *)-8UL, (void *)-1UL,
		base - 1, last + 1, last + 2,
		(void *)((unsigned long)base + 1), (void *)((unsigned long)last - 4),
		(void *)((unsigned long)base ^ (1UL << 62)),
		task_scs(&init_task), (void *)&bad,
	};
	struct scs_trace_source src;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, arch_scs_trace_current(bad[i], &src),
				    -EFAULT, "bad[%d]", i);

	KUNIT_EXPECT_EQ(test, arch_scs_trace_current(base, &src), 0);
	KUNIT_EXPECT_PTR_EQ(test, src.span[0].top, base);
	KUNIT_EXPECT_EQ(test, arch_scs_trace_current(last, &src), 0);
	KUNIT_EXPECT_PTR_EQ(test, src.span[0].top, last);
	KUNIT_EXPECT_PTR_EQ(test, src.span[0].base, base);
	KUNIT_EXPECT_EQ(test, src.nr_spans, 1);
}

/* === Cost ================================================================= */

#define COST_ROUNDS	200
#define COST_TRIES	5

/**
 * struct cost - what COST_ROUNDS calls cost, in ticks of the system counter
 * @frames: how many entries the trace has
 * @scs: stack_trace_save() with the collector on
 * @walk: stack_trace_save() with the collector off
 * @loop: a function that does nothing
 */
struct cost {
	unsigned int frames;
	u64 scs;
	u64 walk;
	u64 loop;
};

typedef unsigned int (*save_fn)(unsigned long *store, unsigned int size,
				unsigned int skipnr);

static noinline unsigned int save_nothing(unsigned long *store, unsigned int size,
					  unsigned int skipnr)
{
	barrier();
	return size;
}

/* The best of some tries: an emulated CPU may be held up in any of them. */
static noinline u64 cost_loop(save_fn fn, unsigned int *frames)
{
	static unsigned long store[64];
	u64 start, best = U64_MAX;
	unsigned long flags;
	int try, i;

	for (try = 0; try < COST_TRIES; try++) {
		local_irq_save(flags);
		start = get_cycles();
		for (i = 0; i < COST_ROUNDS; i++)
			*frames = fn(store, ARRAY_SIZE(store), 0);
		best = min(best, get_cycles() - start);
		local_irq_restore(flags);
	}
	return best;
}

static noinline void cost_measure(struct cost *cost)
{
	cost->loop = cost_loop(save_nothing, &cost->frames);
	cost->scs = cost_loop(stack_trace_save, &cost->frames);
	scs_trace_set_mode(SCS_TRACE_MODE_OFF);
	cost->walk = cost_loop(stack_trace_save, &cost->frames);
	scs_trace_set_mode(SCS_TRACE_MODE_ON);
}

static noinline void cost_chain(struct cost *cost, int depth)
{
	if (depth > 1)
		cost_chain(cost, depth - 1);
	else
		cost_measure(cost);
	barrier();
}

/*
 * Under QEMU's -icount shift=0 with a counter of 1 GHz a tick is an instruction
 * and the figures are exact; elsewhere they are a rough time.
 */
static void test_cost(struct kunit *test)
{
	static const int frames[] = { 12, 16, 17, 24, 32, 48 };
	struct cost cost;
	int i, base;

	if (IS_ENABLED(CONFIG_SCS_TRACE_VERIFY))
		kunit_skip(test, "every trace is being checked, which costs");

	cost_chain(&cost, 1);
	base = cost.frames;
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		if (frames[i] <= base)
			continue;
		cost_chain(&cost, 1 + frames[i] - base);
		KUNIT_EXPECT_EQ(test, cost.frames, frames[i]);
		kunit_info(test, "cost: frames %u scs %llu walk %llu loop %llu\n",
			   cost.frames, cost.scs / COST_ROUNDS,
			   cost.walk / COST_ROUNDS, cost.loop / COST_ROUNDS);
		KUNIT_EXPECT_LT(test, 2 * cost.scs, cost.walk);
	}
}

static struct kunit_case scs_trace_test_cases[] = {
	KUNIT_CASE(test_depths),
	KUNIT_CASE(test_skip),
	KUNIT_CASE(test_short_buffer),
	KUNIT_CASE(test_workqueue),
	KUNIT_CASE(test_all_cpus),
	KUNIT_CASE(test_hrtimer),
	KUNIT_CASE(test_hrtimer_skip),
	KUNIT_CASE(test_irq_work),
	KUNIT_CASE(test_timer),
	KUNIT_CASE(test_tasklet),
	KUNIT_CASE(test_ksoftirqd),
	KUNIT_CASE(test_init_task_idle),
	KUNIT_CASE(test_blocked_kthread),
	KUNIT_CASE(test_current_tsk),
	KUNIT_CASE(test_new_kthread),
	KUNIT_CASE(test_init_task_switched_out),
	KUNIT_CASE(test_user_task),
	KUNIT_CASE(test_running_task),
#ifdef CONFIG_FUNCTION_TRACER
	KUNIT_CASE(test_ftrace_callback),
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(test_function_graph),
#endif
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_kretprobe),
	KUNIT_CASE(test_kprobe),
#endif
	KUNIT_CASE(test_switch),
	KUNIT_CASE(test_dynamic_scs),
	KUNIT_CASE(test_counters),
	KUNIT_CASE(test_foreign_regs),
	KUNIT_CASE(test_broken_task),
	KUNIT_CASE(test_bounds),
	KUNIT_CASE(test_cost),
	{}
};

static struct kunit_suite scs_trace_test_suite = {
	.name = "scs_trace",
	.init = scs_trace_test_init,
	.test_cases = scs_trace_test_cases,
};

kunit_test_suite(scs_trace_test_suite);
