// SPDX-License-Identifier: GPL-2.0
/* Torture: all CPUs save, fetch, free and print traces until told to stop, and check each one. */

#define pr_fmt(fmt) "depot_torture: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_fast.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>

#include "depot.h"
#include "depot_testlib.h"

/* === Parameters ============================================================ */

static unsigned int seconds;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "Run for so long at boot, then let boot go on (default: 0, don't run)");

static unsigned int keys = 65536;
module_param(keys, uint, 0444);
MODULE_PARM_DESC(keys, "Number of different traces");

static unsigned int fail;
module_param(fail, uint, 0444);
MODULE_PARM_DESC(fail, "Percentage of allocations that fail: the threads' own, and anyone's that may not wait");

static unsigned int nmi_cycles = 1000000;
module_param(nmi_cycles, uint, 0444);
MODULE_PARM_DESC(nmi_cycles, "Cycles between two interrupts of the PMU; 0 for none");

/* === Data ================================================================== */

#define MAX_FRAMES	CONFIG_STACKDEPOT_MAX_FRAMES

/* Traces that come and go are few, so that all CPUs hold the same ones. */
#define GET_KEYS	500U

/* References that a thread holds. */
#define HELD		64

#define SHOWN_ERRORS	20

enum { IN_THREAD, IN_HARDIRQ, IN_SOFTIRQ, IN_NMI, NR_CONTEXTS };

/**
 * struct torture_held - a reference, or none
 * @handle: the handle
 * @key: what its trace was made from
 * @entries: what stack_depot_fetch() gave, if it was asked
 */
struct torture_held {
	depot_stack_handle_t handle;
	u32 key;
	unsigned long *entries;
};

/**
 * struct torture_cpu - what runs on a CPU
 * @thread: its thread
 * @held: the thread's references
 * @at: how far the thread's walk over all traces has come
 * @timer: the timers, of IN_HARDIRQ and IN_SOFTIRQ
 * @rnd: random numbers for each context
 * @rnd_fail: random numbers for allocations that fail
 * @irq_held: a reference for each context, of which IN_THREAD has no use
 * @rest: until when each of them leaves the CPU to the others
 * @ops: operations in each context
 * @stored: traces that were saved, in any context, and got a handle
 * @refused: those that got none
 */
struct torture_cpu {
	struct task_struct *thread;
	struct torture_held held[HELD];
	u32 at;
	struct hrtimer timer[NR_CONTEXTS];
	struct rnd_state rnd[NR_CONTEXTS];
	struct rnd_state rnd_fail;
	struct torture_held irq_held[NR_CONTEXTS];
	u64 rest[NR_CONTEXTS];
	unsigned long ops[NR_CONTEXTS];
	unsigned long stored;
	unsigned long refused;
};

static struct torture_cpu __percpu *torture_cpus;

/* The handle of each key's trace, once it was saved, without a count and with one. */
static depot_stack_handle_t *torture_handles[2];

static atomic_t torture_errors;
static long torture_in_use;
static unsigned long torture_bad_handles;

/* Protects starting and stopping. */
static DEFINE_MUTEX(torture_mutex);
static bool torture_running;

/* === Traces ================================================================ */

static u32 torture_key(u32 n)
{
	return DEPOT_TORTURE_KEYS + n;
}

static bool torture_wide(u32 key)
{
	return key % 37 == 0;
}

static unsigned int torture_depth(u32 key)
{
	return 1 + hash_32(key, 16) % MAX_FRAMES;
}

static unsigned int torture_make(unsigned long *frames, u32 key)
{
	depot_make(frames, key, torture_depth(key), torture_wide(key));
	return torture_depth(key);
}

static void torture_error(const char *what, depot_stack_handle_t handle, u32 key)
{
	if (atomic_inc_return(&torture_errors) <= SHOWN_ERRORS)
		pr_err("error: %s: handle %08x, key %u\n", what, handle, key);
}

static bool torture_gone(depot_stack_handle_t handle)
{
	struct depot_record *rec;

	return depot_policy == DEPOT_EVICT &&
	       depot_look_up(handle, &rec) == DEPOT_GONE;
}

/* The trace of @handle must be @key's, if it was not evicted. */
static void torture_check(const char *what, depot_stack_handle_t handle, u32 key)
{
	unsigned long frames[MAX_FRAMES], stored[MAX_FRAMES];
	unsigned int nr = torture_make(frames, key);

	if (stack_depot_copy(handle, 0, stored, ARRAY_SIZE(stored)) == nr) {
		if (memcmp(stored, frames, nr * sizeof(*frames)))
			torture_error(what, handle, key);
	} else if (!torture_gone(handle)) {
		torture_error(what, handle, key);
	}
}

static void torture_check_entries(const char *what, struct torture_held *held)
{
	unsigned long frames[MAX_FRAMES];
	unsigned int nr = torture_make(frames, held->key);

	if (memcmp(held->entries, frames, nr * sizeof(*frames)))
		torture_error(what, held->handle, held->key);
}

/* === Operations of any context ============================================= */

/*
 * A trace may be refused at any time, but a depot that refused them all would pass
 * each other check.
 */
static bool torture_stored(depot_stack_handle_t handle)
{
	if (handle)
		this_cpu_inc(torture_cpus->stored);
	else
		this_cpu_inc(torture_cpus->refused);
	return handle;
}

/* Save a trace that stays, or find it. */
static void torture_save(struct rnd_state *rnd, gfp_t gfp, depot_flags_t flags)
{
	unsigned int n = prandom_u32_state(rnd) % keys;
	unsigned long frames[MAX_FRAMES];
	depot_stack_handle_t handle, before, *slot;
	unsigned int nr = torture_make(frames, torture_key(n));

	if (prandom_u32_state(rnd) % 4 == 0)
		flags |= STACK_DEPOT_FLAG_COUNT;
	slot = &torture_handles[!!(flags & STACK_DEPOT_FLAG_COUNT)][n];
	before = READ_ONCE(*slot);
	handle = stack_depot_save_flags(frames, nr, gfp, flags);
	if (!torture_stored(handle))
		return;
	torture_check("saved", handle, torture_key(n));
	/* It was in the depot all the while. */
	if (before && before != handle && depot_policy != DEPOT_EVICT)
		torture_error("another handle", handle, torture_key(n));
	WRITE_ONCE(*slot, handle);
}

static void torture_get(struct rnd_state *rnd, struct torture_held *held,
			gfp_t gfp, depot_flags_t flags)
{
	unsigned long frames[MAX_FRAMES];
	unsigned int nr;

	held->key = torture_key(prandom_u32_state(rnd) % min(keys, GET_KEYS));
	nr = torture_make(frames, held->key);
	held->entries = NULL;
	held->handle = stack_depot_save_flags(frames, nr, gfp,
					      flags | STACK_DEPOT_FLAG_GET);
	torture_stored(held->handle);
}

static void torture_put(struct torture_held *held)
{
	if (!held->handle)
		return;
	torture_check("held", held->handle, held->key);
	if (held->entries)
		torture_check_entries("fetched", held);
	stack_depot_put(held->handle);
	held->handle = 0;
}

static noinline void torture_fused(gfp_t gfp, depot_flags_t flags)
{
	depot_stack_handle_t handle;
	unsigned long entry;

	handle = stack_depot_save_current(0, gfp, flags);
	if (!torture_stored(handle))
		return;
	if (!stack_depot_copy(handle, 0, &entry, 1)) {
		if (!torture_gone(handle))
			torture_error("fused", handle, 0);
	} else if (entry - (unsigned long)torture_fused >= SZ_4K) {
		torture_error("fused, of another function", handle, 0);
	}
	if (flags & STACK_DEPOT_FLAG_GET)
		stack_depot_put(handle);
}

/* What an interrupt does: it may not allocate. */
static void torture_interrupt(int context)
{
	struct torture_cpu *cpu = raw_cpu_ptr(torture_cpus);
	struct rnd_state *rnd = &cpu->rnd[context];
	struct torture_held *held = &cpu->irq_held[context];
	u64 start = local_clock(), end;

	/* A fifth of the time at most: kernels that check a lot are slow. */
	if (start < cpu->rest[context])
		return;

	torture_save(rnd, 0, 0);
	torture_put(held);
	torture_get(rnd, held, 0, 0);
	torture_fused(0, prandom_u32_state(rnd) % 8 ? 0 : STACK_DEPOT_FLAG_GET);
	cpu->ops[context] += 4;
	end = local_clock();
	cpu->rest[context] = end + 4 * (end - start);
}

static enum hrtimer_restart torture_timer(struct hrtimer *timer, int context)
{
	torture_interrupt(context);
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_MSEC));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart torture_hardirq(struct hrtimer *timer)
{
	return torture_timer(timer, IN_HARDIRQ);
}

static enum hrtimer_restart torture_softirq(struct hrtimer *timer)
{
	return torture_timer(timer, IN_SOFTIRQ);
}

#ifdef CONFIG_PERF_EVENTS
static void torture_nmi(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	/* Without pseudo-NMIs it is one more interrupt, which may be in IN_HARDIRQ. */
	if (in_nmi())
		torture_interrupt(IN_NMI);
}
#endif

/* === A thread's operations ================================================= */

/* Fetch what anyone has saved. */
static void torture_fetch(struct torture_cpu *cpu, struct rnd_state *rnd)
{
	unsigned int n = prandom_u32_state(rnd) % keys;
	depot_stack_handle_t handle = READ_ONCE(torture_handles[0][n]);
	unsigned long frames[MAX_FRAMES], *entries;
	unsigned int nr;

	if (!handle)
		return;
	/* Fetched traces have flat copies: not too many. */
	if (n % 16 || depot_policy == DEPOT_EVICT) {
		torture_check("looked up", handle, torture_key(n));
		return;
	}
	nr = stack_depot_fetch(handle, &entries);
	/* There may be no memory for a copy. */
	if (nr && (nr != torture_make(frames, torture_key(n)) ||
		   memcmp(entries, frames, nr * sizeof(*frames))))
		torture_error("fetched", handle, torture_key(n));
}

/* Print it, and compare with what its frames are printed as. */
static void torture_print(struct torture_cpu *cpu, struct rnd_state *rnd)
{
	unsigned int n = prandom_u32_state(rnd) % keys;
	depot_stack_handle_t handle = READ_ONCE(torture_handles[0][n]);
	unsigned long frames[MAX_FRAMES];
	char is[200], want[200];
	unsigned int nr;
	int len;

	if (!handle)
		return;
	nr = torture_make(frames, torture_key(n));
	len = stack_trace_snprint(want, sizeof(want), frames, nr, 1);
	if ((stack_depot_snprint(handle, is, sizeof(is), 1) != len ||
	     strcmp(is, want)) && !torture_gone(handle))
		torture_error("printed", handle, torture_key(n));
}

static void torture_hold(struct torture_cpu *cpu, struct rnd_state *rnd, gfp_t gfp,
			 depot_flags_t flags)
{
	struct torture_held *held = &cpu->held[prandom_u32_state(rnd) % HELD];

	torture_put(held);
	torture_get(rnd, held, gfp, flags);
	if (!held->handle)
		return;
	torture_check("got", held->handle, held->key);
	if (prandom_u32_state(rnd) % 8 == 0)
		stack_depot_fetch(held->handle, &held->entries);
}

/* What is added to a count is taken back: at the end all must be 0. */
static void torture_count(struct torture_cpu *cpu, struct rnd_state *rnd)
{
	unsigned int n = prandom_u32_state(rnd) % keys;
	depot_stack_handle_t handle = READ_ONCE(torture_handles[1][n]);
	int by = prandom_u32_state(rnd) % 1000;

	stack_depot_count_add(handle, by);
	torture_save(rnd, GFP_KERNEL, STACK_DEPOT_FLAG_CAN_ALLOC);
	stack_depot_count_add(handle, -by);
}

/* Whether @ref is a trace that can't be freed and isn't wide. */
static bool torture_stays(u32 ref)
{
	struct depot_record *rec;
	bool stays = false;

	/* An evicted pool can be read until then. */
	preempt_disable();
	if (depot_look_up(ref, &rec) == DEPOT_FOUND)
		stays = !(READ_ONCE(rec->next) & (DEPOT_EVICTABLE | DEPOT_WIDE));
	preempt_enable();
	return stays;
}

/* Go on with a walk over all traces. Those that may be freed meanwhile are not ours. */
static void torture_walk(struct torture_cpu *cpu)
{
	unsigned long frame;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		u32 ref = depot_next_record(cpu->at);

		if (ref && ref <= cpu->at)
			torture_error("walked backwards", ref, 0);
		cpu->at = ref;
		if (!ref)
			return;
		if (torture_stays(ref) && stack_depot_copy(ref, 0, &frame, 1) &&
		    depot_key_of(frame) - DEPOT_TORTURE_KEYS < keys)
			torture_check("walked", ref, depot_key_of(frame));
	}
}

/* As an allocator does: no lock of the ordinary kind, no sleep, no memory. */
static void torture_atomic(struct torture_cpu *cpu, struct rnd_state *rnd)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < 4; i++)
		torture_save(rnd, 0, 0);
	torture_hold(cpu, rnd, 0, 0);
	torture_fused(0, 0);
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void torture_one(struct torture_cpu *cpu, struct rnd_state *rnd)
{
	static const gfp_t gfps[] = {
		GFP_KERNEL, GFP_NOWAIT, GFP_NOWAIT | __GFP_NOWARN,
		GFP_KERNEL | __GFP_NOLOCKDEP, GFP_NOFS, GFP_ATOMIC,
	};
	gfp_t gfp = gfps[prandom_u32_state(rnd) % ARRAY_SIZE(gfps)] | __GFP_NOWARN;
	unsigned int what = prandom_u32_state(rnd) % 256;

	if (what < 100)
		torture_save(rnd, gfp, STACK_DEPOT_FLAG_CAN_ALLOC);
	else if (what < 180)
		torture_hold(cpu, rnd, gfp, STACK_DEPOT_FLAG_CAN_ALLOC);
	else if (what < 210)
		torture_fetch(cpu, rnd);
	else if (what < 230)
		torture_fused(gfp, STACK_DEPOT_FLAG_CAN_ALLOC |
				   (what & 1 ? STACK_DEPOT_FLAG_GET : 0));
	else if (what < 240)
		torture_count(cpu, rnd);
	else if (what < 250)
		torture_atomic(cpu, rnd);
	else if (what < 254)
		torture_walk(cpu);
	else
		torture_print(cpu, rnd);
	cpu->ops[IN_THREAD]++;
}

static int torture_thread(void *data)
{
	struct torture_cpu *cpu = data;

	while (!kthread_should_stop()) {
		torture_one(cpu, &cpu->rnd[IN_THREAD]);
		cond_resched();
	}
	return 0;
}

/* === Allocations that fail ================================================= */

#if defined(CONFIG_FAIL_PAGE_ALLOC) && defined(CONFIG_FAILSLAB) && \
	defined(CONFIG_KPROBES) && defined(CONFIG_FUNCTION_ERROR_INJECTION)
static atomic_long_t torture_failed;

static bool torture_must_fail(gfp_t gfp)
{
	struct torture_cpu *cpu = raw_cpu_ptr(torture_cpus);
	bool own = in_task() && current->flags & PF_KTHREAD &&
		   kthread_func(current) == torture_thread;

	if ((!own && (gfp & __GFP_DIRECT_RECLAIM)) || (gfp & __GFP_NOFAIL) ||
	    prandom_u32_state(&cpu->rnd_fail) % 100 >= fail)
		return false;
	atomic_long_inc(&torture_failed);
	return true;
}

static int torture_fail_page(struct kprobe *kp, struct pt_regs *regs)
{
	if (!torture_must_fail(regs_get_kernel_argument(regs, 0)))
		return 0;
	regs_set_return_value(regs, true);
	override_function_with_return(regs);
	return 1;
}

static int torture_fail_slab(struct kprobe *kp, struct pt_regs *regs)
{
	if (!torture_must_fail(regs_get_kernel_argument(regs, 1)))
		return 0;
	regs_set_return_value(regs, -ENOMEM);
	override_function_with_return(regs);
	return 1;
}

static struct kprobe torture_fail_probes[2];
static bool torture_failing;

static int torture_fail_start(void)
{
	struct kprobe *probes[] = { &torture_fail_probes[0], &torture_fail_probes[1] };
	int err;

	if (!fail)
		return 0;
	atomic_long_set(&torture_failed, 0);
	torture_fail_probes[0] = (struct kprobe){
		.symbol_name = "should_fail_alloc_page",
		.pre_handler = torture_fail_page,
	};
	torture_fail_probes[1] = (struct kprobe){
		.symbol_name = "should_failslab",
		.pre_handler = torture_fail_slab,
	};
	err = register_kprobes(probes, ARRAY_SIZE(probes));
	torture_failing = !err;
	return err;
}

static void torture_fail_stop(void)
{
	struct kprobe *probes[] = { &torture_fail_probes[0], &torture_fail_probes[1] };

	if (!torture_failing)
		return;
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	torture_failing = false;
	pr_info("%ld allocations failed\n", atomic_long_read(&torture_failed));
}
#else
static int torture_fail_start(void)
{
	return fail ? -EOPNOTSUPP : 0;
}

static void torture_fail_stop(void)
{
}
#endif

/* === Start and end ========================================================= */

static long torture_refs_in_use(void)
{
	return depot_sum(DEPOT_REFD_ALLOCS) - depot_sum(DEPOT_REFD_FREES);
}

static void torture_free(void)
{
	vfree(torture_handles[0]);
	vfree(torture_handles[1]);
	free_percpu(torture_cpus);
	torture_handles[0] = NULL;
	torture_handles[1] = NULL;
	torture_cpus = NULL;
}

static void torture_start_timers(void *unused)
{
	struct torture_cpu *cpu = this_cpu_ptr(torture_cpus);

	hrtimer_start(&cpu->timer[IN_HARDIRQ], ns_to_ktime(NSEC_PER_MSEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&cpu->timer[IN_SOFTIRQ], ns_to_ktime(NSEC_PER_MSEC),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Stop whatever runs. What was not started is left alone. */
static void torture_end(void)
{
	int n;

	torture_fail_stop();
	for_each_possible_cpu(n) {
		struct torture_cpu *cpu = per_cpu_ptr(torture_cpus, n);

		if (cpu->thread)
			kthread_stop(cpu->thread);
		hrtimer_cancel(&cpu->timer[IN_HARDIRQ]);
		hrtimer_cancel(&cpu->timer[IN_SOFTIRQ]);
	}
#ifdef CONFIG_PERF_EVENTS
	depot_nmi_stop();
#endif
}

static int torture_start_all(void)
{
	int n, err;

	for_each_online_cpu(n) {
		struct torture_cpu *cpu = per_cpu_ptr(torture_cpus, n);
		struct task_struct *t;

		t = kthread_create_on_cpu(torture_thread, cpu, n, "depot_torture/%u");
		if (IS_ERR(t))
			return PTR_ERR(t);
		cpu->thread = t;
		wake_up_process(t);
	}
	on_each_cpu(torture_start_timers, NULL, true);
#ifdef CONFIG_PERF_EVENTS
	if (nmi_cycles) {
		err = depot_nmi_start(torture_nmi, nmi_cycles);
		if (err)
			pr_info("no NMIs, for want of a counter of cycles: %d\n", err);
	}
#endif
	err = torture_fail_start();
	if (err)
		pr_err("fail=%u needs FAILSLAB, FAIL_PAGE_ALLOC, KPROBES and FUNCTION_ERROR_INJECTION: %d\n",
		       fail, err);
	return err;
}

static int torture_start(void)
{
	int n, i, err;

	lockdep_assert_held(&torture_mutex);

	if (!keys || keys > DEPOT_KEYS - DEPOT_TORTURE_KEYS) {
		pr_err("keys=%u: give a number from 1 to %lu\n", keys,
		       DEPOT_KEYS - DEPOT_TORTURE_KEYS);
		return -EINVAL;
	}
	if (!depot_ready) {
		pr_err("the depot is off: boot without stack_depot_disable=\n");
		return -ENODEV;
	}
	torture_handles[0] = vcalloc(keys, sizeof(**torture_handles));
	torture_handles[1] = vcalloc(keys, sizeof(**torture_handles));
	torture_cpus = alloc_percpu(struct torture_cpu);
	if (!torture_handles[0] || !torture_handles[1] || !torture_cpus) {
		torture_free();
		return -ENOMEM;
	}
	for_each_possible_cpu(n) {
		struct torture_cpu *cpu = per_cpu_ptr(torture_cpus, n);

		for (i = 0; i < NR_CONTEXTS; i++)
			prandom_seed_state(&cpu->rnd[i], n * NR_CONTEXTS + i + 1);
		prandom_seed_state(&cpu->rnd_fail, n);
		hrtimer_init(&cpu->timer[IN_HARDIRQ], CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		cpu->timer[IN_HARDIRQ].function = torture_hardirq;
		hrtimer_init(&cpu->timer[IN_SOFTIRQ], CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_SOFT);
		cpu->timer[IN_SOFTIRQ].function = torture_softirq;
	}
	atomic_set(&torture_errors, 0);
	torture_in_use = torture_refs_in_use();
	torture_bad_handles = depot_sum(DEPOT_BAD_HANDLES);

	err = torture_start_all();
	if (err) {
		torture_end();
		torture_free();
		return err;
	}
	pr_info("start: %u CPUs, %u traces\n", num_online_cpus(), keys);
	WRITE_ONCE(torture_running, true);
	return 0;
}

/* Nobody is at work any more: everything must be as it was left. */
static void torture_verify(void)
{
	depot_stack_handle_t handle = 0;
	unsigned int kind, n;
	unsigned long frame;
	int count;

	for (kind = 0; kind < ARRAY_SIZE(torture_handles); kind++) {
		for (n = 0; n < keys; n++) {
			if (torture_handles[kind][n])
				torture_check("at the end",
					      torture_handles[kind][n],
					      torture_key(n));
			cond_resched();
		}
	}
	while ((handle = stack_depot_next_counted(handle, &count))) {
		if (count && stack_depot_copy(handle, 0, &frame, 1) &&
		    depot_key_of(frame) - DEPOT_TORTURE_KEYS < keys)
			torture_error("count is not 0", handle, depot_key_of(frame));
	}
	if (depot_sum(DEPOT_BAD_HANDLES) != torture_bad_handles)
		torture_error("handles turned bad", 0, 0);
	/* KASAN's tag-based modes free traces all the time. */
	if (!IS_ENABLED(CONFIG_KASAN_SW_TAGS) && !IS_ENABLED(CONFIG_KASAN_HW_TAGS) &&
	    torture_refs_in_use() != torture_in_use)
		torture_error("references don't balance", 0, 0);
}

static void torture_stop(void)
{
	unsigned long ops[NR_CONTEXTS] = { }, stored = 0, refused = 0;
	int n, i;

	lockdep_assert_held(&torture_mutex);

	torture_end();
	for_each_possible_cpu(n) {
		struct torture_cpu *cpu = per_cpu_ptr(torture_cpus, n);

		for (i = 0; i < HELD; i++)
			torture_put(&cpu->held[i]);
		for (i = 0; i < NR_CONTEXTS; i++) {
			torture_put(&cpu->irq_held[i]);
			ops[i] += cpu->ops[i];
		}
		stored += cpu->stored;
		refused += cpu->refused;
	}
	torture_verify();
	WRITE_ONCE(torture_running, false);
	torture_free();
	pr_info("%lu operations of threads, %lu in hardirq, %lu in softirq, %lu in NMI\n",
		ops[IN_THREAD], ops[IN_HARDIRQ], ops[IN_SOFTIRQ], ops[IN_NMI]);
	pr_info("end: %lu operations, %d errors, %lu traces stored, %lu refused\n",
		ops[IN_THREAD] + ops[IN_HARDIRQ] + ops[IN_SOFTIRQ] + ops[IN_NMI],
		atomic_read(&torture_errors), stored, refused);
}

/* === How it is told ======================================================== */

static int torture_get_running(void *data, u64 *val)
{
	*val = READ_ONCE(torture_running);
	return 0;
}

static int torture_set_running(void *data, u64 val)
{
	int err = 0;

	if (val > 1)
		return -EINVAL;
	mutex_lock(&torture_mutex);
	if (val && !torture_running)
		err = torture_start();
	else if (!val && torture_running)
		torture_stop();
	mutex_unlock(&torture_mutex);
	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(torture_fops, torture_get_running, torture_set_running, "%llu\n");

/* In time for <debugfs>/stackdepot to come into being. */
subsys_initcall(stack_depot_init);

static int __init torture_init(void)
{
	struct dentry *dir = debugfs_lookup("stackdepot", NULL);

	if (dir)
		debugfs_create_file("torture", 0600, dir, NULL, &torture_fops);
	dput(dir);
	if (!seconds)
		return 0;
	if (!torture_set_running(NULL, 1)) {
		ssleep(seconds);
		torture_set_running(NULL, 0);
	}
	return 0;
}
late_initcall_sync(torture_init);
