// SPDX-License-Identifier: GPL-2.0
/* KUnit: in each context the collector tells what the frame-pointer unwinder tells. */

#define pr_fmt(fmt) "scs_trace_context: " fmt

#include <crypto/sm3.h>
#include <kunit/test.h>

#include <linux/bpf.h>
#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpufeature.h>
#include <linux/cpuhotplug.h>
#include <linux/efi.h>
#include <linux/filter.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/initrd.h>
#include <linux/interrupt.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/scs_trace.h>
#include <linux/stacktrace.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>
#include <linux/umh.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <asm/efi.h>
#include <asm/insn.h>
#include <asm/neon.h>
#include <asm/patching.h>
#include <asm/simd.h>
#include <asm/stacktrace.h>

#include <trace/events/error_report.h>
#include <trace/events/sched.h>

#include "context_test.h"
#include "scs_trace.h"
#include "testlib.h"

#define MAX_ENTRIES	96

/* Of the initramfs */
#define INIT		"/init"

/* === A trace, taken both ways from one place ============================== */

enum { BY_SCS, BY_WALK, NR_WAYS };

/**
 * struct shot - the trace of one place, without anything that needs allocating
 * @armed: set by arm(), taken by the first who gets to the place
 * @nr: what each way returned, an errno included
 * @off_shadow: whether the collector did not have to fall back
 * @entries: what each way stored
 * @in_place: preempt_count() of the place, to check that it is what was meant
 * @cpu: where it was
 * @where: the task that was there
 * @taken: set at last
 */
struct shot {
	atomic_t armed;
	int nr[NR_WAYS];
	bool off_shadow;
	unsigned long entries[NR_WAYS][MAX_ENTRIES];
	unsigned int in_place;
	int cpu;
	struct task_struct *where;
	bool taken;
};

/* Tests run one at a time, and most need no more than this one. */
static struct shot shot;

/* Nobody but this task takes @shot, where a hook may be hit by any. */
static struct task_struct *shot_task;

static bool store_entry(void *cookie, unsigned long entry)
{
	struct shot *s = cookie;

	if (s->nr[BY_WALK] == MAX_ENTRIES)
		return false;
	/* The first lies in by_walk(), as the one that by_scs() skips does. */
	if (s->nr[BY_WALK] >= 0)
		s->entries[BY_WALK][s->nr[BY_WALK]] = entry;
	s->nr[BY_WALK]++;
	return true;
}

static noinline void by_scs(struct shot *s)
{
	s->off_shadow = off_shadow(NULL);
	s->nr[BY_SCS] = scs_trace_save(s->entries[BY_SCS], MAX_ENTRIES, 1);
}

static noinline void by_walk(struct shot *s)
{
	s->nr[BY_WALK] = -1;
	arch_stack_walk(store_entry, s, current, NULL);
}

static void (*const ways[])(struct shot *s) = {
	[BY_SCS]	= by_scs,
	[BY_WALK]	= by_walk,
};

/* One call instruction for both, or their first entries would differ. */
static noinline void shoot(struct shot *s)
{
	int i;

	if (atomic_cmpxchg(&s->armed, 1, 0) != 1)
		return;

	/* With PREEMPT_RT a task counts its softirqs. */
	s->in_place = preempt_count() | softirq_count();
	s->cpu = raw_smp_processor_id();
	s->where = current;
	for (i = 0; i < NR_WAYS; i++) {
		OPTIMIZER_HIDE_VAR(i);
		ways[i](s);
	}
	/* Pairs with the acquire in was_taken(). */
	smp_store_release(&s->taken, true);
}

static void arm(struct shot *s)
{
	memset(s, 0, sizeof(*s));
	atomic_set_release(&s->armed, 1);
}

static bool was_taken(struct shot *s)
{
	/* Pairs with the release in shoot(). */
	return smp_load_acquire(&s->taken);
}

/* For a few seconds at most. */
static bool wait_taken(struct shot *s)
{
	int i;

	for (i = 0; i < 1000 && !was_taken(s); i++)
		schedule_timeout_uninterruptible(1);
	atomic_set(&s->armed, 0);
	return was_taken(s);
}

static bool has(struct shot *s, void *fn)
{
	int i;

	for (i = 0; i < s->nr[BY_SCS]; i++)
		if (entry_in(s->entries[BY_SCS][i], fn))
			return true;
	return false;
}

/* Both ways must have told the same, whatever the collector had to fall back to. */
static void expect_same_trace(struct kunit *test, struct shot *s, void *fn)
{
	bool same = s->nr[BY_SCS] == s->nr[BY_WALK];
	int i;

	KUNIT_ASSERT_TRUE_MSG(test, s->taken, "nobody came there");
	for (i = 0; i < s->nr[BY_SCS] && i < s->nr[BY_WALK]; i++)
		same &= s->entries[BY_SCS][i] == s->entries[BY_WALK][i];

	KUNIT_EXPECT_TRUE(test, same);
	KUNIT_EXPECT_GT(test, s->nr[BY_SCS], 2);
	KUNIT_EXPECT_TRUE_MSG(test, has(s, fn), "without %ps", fn);
	if (same)
		return;

	kunit_err(test, "%d entries, not %d\n", s->nr[BY_SCS], s->nr[BY_WALK]);
	for (i = 0; i < max(s->nr[BY_SCS], s->nr[BY_WALK]); i++)
		kunit_err(test, "%2d %-40pS %pS\n", i,
			  (void *)(i < s->nr[BY_SCS] ? s->entries[BY_SCS][i] : 0),
			  (void *)(i < s->nr[BY_WALK] ? s->entries[BY_WALK][i] : 0));
}

/* The same off shadow call stacks, where there are any. */
static void expect_same(struct kunit *test, struct shot *s, void *fn)
{
	expect_same_trace(test, s, fn);
	KUNIT_EXPECT_TRUE_MSG(test, s->off_shadow || scs_trace_walks(),
			      "not off a shadow call stack");
}

/*
 * The same for a place whose frames the collector doesn't know: without shadow call
 * stacks it leaves such traces to the frame-pointer unwinder.
 */
static void expect_same_or_left(struct kunit *test, struct shot *s, void *fn)
{
	if (!scs_trace_walks() || !s->taken || s->nr[BY_SCS] >= 0) {
		expect_same(test, s, fn);
		return;
	}
	KUNIT_EXPECT_EQ(test, s->nr[BY_SCS], -EOPNOTSUPP);
	KUNIT_EXPECT_GT(test, s->nr[BY_WALK], 2);
}

/* Inlined, so that it is the same before and after what the caller calls. */
static __always_inline const unsigned long *x18(void)
{
#ifdef CONFIG_SCS_TRACE_SHADOW
	return arch_scs_trace_sp();
#else
	return NULL;
#endif
}

/* A context that this kernel doesn't have. */
#define CANNOT(name, why)						\
static void name(struct kunit *test)					\
{									\
	kunit_skip(test, why);						\
}

/* === Boot ================================================================= */

static struct shot shot_early, shot_initcall;

/*
 * Early parameters are parsed before there are interrupts and their shadow call
 * stacks. There may be several for a name, and hardly a test runs without a
 * console. Zero means that there is nothing to complain of.
 */
static int __init boot_early(char *arg)
{
	arm(&shot_early);
	shoot(&shot_early);
	return 0;
}
early_param("console", boot_early);

static int __init boot_initcall(void)
{
	arm(&shot_initcall);
	shoot(&shot_initcall);
	return 0;
}
early_initcall(boot_initcall);

static void test_boot_before_irq_stacks(struct kunit *test)
{
	if (!shot_early.taken)
		kunit_skip(test, "no console= on the command line");
	/* Its code is gone, but for the task's entries. With dynamic SCS it is too early. */
	if (IS_ENABLED(CONFIG_DYNAMIC_SCS))
		expect_same_trace(test, &shot_early, shoot);
	else
		expect_same(test, &shot_early, shoot);
	KUNIT_EXPECT_PTR_EQ(test, shot_early.where, &init_task);
}

static void test_boot_after_irq_stacks(struct kunit *test)
{
	expect_same(test, &shot_initcall, shoot);
	KUNIT_EXPECT_FALSE(test, shot_initcall.where == &init_task);
}

/* === Task, interrupts, NMIs =============================================== */

static void test_task(struct kunit *test)
{
	arm(&shot);
	shoot(&shot);
	expect_same(test, &shot, test_task);
	KUNIT_EXPECT_EQ(test, shot.in_place & (HARDIRQ_MASK | SOFTIRQ_MASK | NMI_MASK), 0);
}

/**
 * struct interrupt - what an interrupt does when it hits spin()
 * @spinner: the task, which spins until it has come
 * @inner: what the hardirq handler spins on, where an NMI has to wait for that
 * @nested: whether it has
 */
static struct interrupt {
	struct spinner spinner;
	struct spinner inner;
	bool nested;
} irq;

static void run_under_hrtimer(void (*fire)(struct spinner *s))
{
	arm(&shot);
	spin_under_hrtimer(&irq.spinner, 1, fire);
}

static void fire_shoot(struct spinner *s)
{
	shoot(&shot);
	WRITE_ONCE(s->busy, false);
}

static void test_hardirq(struct kunit *test)
{
	run_under_hrtimer(fire_shoot);
	expect_same(test, &shot, spin);
	KUNIT_EXPECT_TRUE(test, shot.in_place & HARDIRQ_MASK);
	KUNIT_EXPECT_TRUE(test, has(&shot, test_hardirq));
}

CANNOT(test_hardirq_nested, "interrupts have one priority: none but NMIs comes in a handler")

static void tasklet_shoot(struct tasklet_struct *tasklet)
{
	shoot(&shot);
}

static DECLARE_TASKLET(shoot_tasklet, tasklet_shoot);

static void fire_tasklet(struct spinner *s)
{
	tasklet_schedule(&shoot_tasklet);
	WRITE_ONCE(s->busy, false);
}

static void expect_softirq(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shot.in_place & SOFTIRQ_MASK);
	KUNIT_EXPECT_FALSE(test, shot.in_place & HARDIRQ_MASK);
}

static void test_softirq_after_hardirq(struct kunit *test)
{
	run_under_hrtimer(fire_tasklet);
	tasklet_kill(&shoot_tasklet);
	expect_same(test, &shot, tasklet_shoot);
	expect_softirq(test);
	/* With PREEMPT_RT ksoftirqd runs it. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		KUNIT_EXPECT_TRUE(test, has(&shot, spin));
}

static void test_softirq_own_stack(struct kunit *test)
{
	arm(&shot);
	local_bh_disable();
	tasklet_schedule(&shoot_tasklet);
	local_bh_enable();
	tasklet_kill(&shoot_tasklet);
	expect_same(test, &shot, tasklet_shoot);
	expect_softirq(test);
	KUNIT_EXPECT_TRUE(test, has(&shot, test_softirq_own_stack));
}

/* A tasklet that a task schedules is left to ksoftirqd, if no interrupt comes. */
static void test_ksoftirqd(struct kunit *test)
{
	int i;

	for (i = 0; i < 50; i++) {
		arm(&shot);
		tasklet_schedule(&shoot_tasklet);
		wait_taken(&shot);
		tasklet_kill(&shoot_tasklet);
		if (shot.where && !strncmp(shot.where->comm, "ksoftirqd/", 10))
			break;
	}
	expect_same(test, &shot, tasklet_shoot);
	expect_softirq(test);
	KUNIT_EXPECT_LT(test, i, 50);
}

#ifdef CONFIG_PERF_EVENTS
/* Where it comes as a mere interrupt there is nothing to see. */
static void nmi_fire(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct spinner *s = irq.nested ? &irq.inner : &irq.spinner;

	if (!in_nmi() || !hit_spin(regs) || !READ_ONCE(s->spinning))
		return;
	shoot(&shot);
	WRITE_ONCE(irq.inner.busy, false);
	WRITE_ONCE(irq.spinner.busy, false);
}

static void spin_in_irq(struct spinner *s)
{
	irq.inner.busy = true;
	spin_chain(&irq.inner, 1);
}

static void spin_under_nmi(struct kunit *test, bool in_irq)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.pinned		= 1,
		.sample_period	= 200000,
	};
	struct perf_event *event;

	if (!system_uses_irq_prio_masking())
		kunit_skip(test, "no pseudo-NMIs: needs irqchip.gicv3_pseudo_nmi=1 and a GICv3");

	irq.nested = in_irq;
	irq.inner.spinning = false;
	irq.spinner.spinning = false;
	migrate_disable();
	event = perf_event_create_kernel_counter(&attr, smp_processor_id(), NULL,
						 nmi_fire, NULL);
	if (!IS_ERR(event)) {
		if (in_irq) {
			run_under_hrtimer(spin_in_irq);
		} else {
			arm(&shot);
			irq.spinner.busy = true;
			spin_chain(&irq.spinner, 1);
		}
		perf_event_release_kernel(event);
	}
	migrate_enable();
	if (IS_ERR(event))
		kunit_skip(test, "no cycle counter that interrupts");
	expect_same(test, &shot, nmi_fire);
	KUNIT_EXPECT_TRUE(test, shot.in_place & NMI_MASK);
	KUNIT_EXPECT_TRUE(test, has(&shot, spin));
}

static void test_pseudo_nmi(struct kunit *test)
{
	spin_under_nmi(test, false);
	KUNIT_EXPECT_TRUE(test, has(&shot, spin_under_nmi));
}

static void test_pseudo_nmi_in_hardirq(struct kunit *test)
{
	spin_under_nmi(test, true);
	KUNIT_EXPECT_TRUE(test, shot.in_place & HARDIRQ_MASK);
	KUNIT_EXPECT_TRUE(test, has(&shot, spin_in_irq));
}
#else
CANNOT(test_pseudo_nmi, "CONFIG_PERF_EVENTS is not set")
CANNOT(test_pseudo_nmi_in_hardirq, "CONFIG_PERF_EVENTS is not set")
#endif

static enum hrtimer_restart hrtimer_idle(struct hrtimer *timer)
{
	shoot(&shot);
	return HRTIMER_NORESTART;
}

static void test_idle(struct kunit *test)
{
	int i;

	for (i = 0; i < 50; i++) {
		arm(&shot);
		start_hrtimer(&irq.spinner.hrtimer, hrtimer_idle);
		wait_taken(&shot);
		hrtimer_cancel(&irq.spinner.hrtimer);
		if (shot.where && is_idle_task(shot.where))
			break;
	}
	expect_same(test, &shot, cpu_startup_entry);
	KUNIT_EXPECT_LT(test, i, 50);
	KUNIT_EXPECT_TRUE(test, shot.in_place & HARDIRQ_MASK);
}

/* === Exceptions =========================================================== */

CANNOT(test_hardware_single_step, "nothing but kgdb steps through the kernel")

#ifdef CONFIG_TRACEPOINTS
static void warn_shoot(void *data, enum error_detector detector, unsigned long id)
{
	if (current == shot_task)
		shoot(&shot);
}

static void test_warn(struct kunit *test)
{
	if (panic_on_warn)
		kunit_skip(test, "panic_on_warn is set");

	shot_task = current;
	KUNIT_ASSERT_EQ(test, register_trace_error_report_end(warn_shoot, NULL), 0);
	arm(&shot);
	WARN(1, "expected by this test\n");
	unregister_trace_error_report_end(warn_shoot, NULL);
	tracepoint_synchronize_unregister();
	expect_same(test, &shot, test_warn);
}
#else
CANNOT(test_warn, "CONFIG_TRACEPOINTS is not set")
#endif

#if defined(CONFIG_BUG) && !defined(CONFIG_LOCKDEP)
static int die_shoot(struct notifier_block *nb, unsigned long why, void *data)
{
	if (why != DIE_OOPS || current != shot_task)
		return NOTIFY_DONE;
	shoot(&shot);
	/* Nobody has to die of it. */
	return NOTIFY_STOP;
}

/* As BUG() has it, without telling the compiler that it doesn't return. */
#define BREAKPOINT	ASM_BUG_FLAGS

static noinline void bug(void)
{
	asm volatile(__stringify(BREAKPOINT(0)));
}

static void test_bug(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = die_shoot };

	if (panic_on_oops)
		kunit_skip(test, "panic_on_oops is set");

	shot_task = current;
	KUNIT_ASSERT_EQ(test, register_die_notifier(&nb), 0);
	arm(&shot);
	/* kunit-run.sh takes the next line to be right after this one. */
	pr_info("an oops is expected:\n");
	bug();
	unregister_die_notifier(&nb);
	expect_same(test, &shot, die_shoot);
	/* It is a leaf: its caller is no entry. */
	KUNIT_EXPECT_TRUE(test, has(&shot, bug));
}
#else
CANNOT(test_bug, "needs CONFIG_BUG, and would end what lockdep looks for")
#endif

#ifdef CONFIG_KPROBES
static int kprobe_pre(struct kprobe *kp, struct pt_regs *regs)
{
	shoot(&shot);
	return 0;
}

static void kprobe_post(struct kprobe *kp, struct pt_regs *regs,
			unsigned long flags)
{
	shoot(&shot);
}

static noinline void context_kprobe_target(int *count)
{
	WRITE_ONCE(*count, *count + 1);
}

static void kprobe_case(struct kunit *test, struct kprobe *kp, void *caller)
{
	int count = 0;

	/* Past what ftrace may have patched */
	kp->addr = (kprobe_opcode_t *)context_kprobe_target + 4;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	arm(&shot);
	context_kprobe_target(&count);
	unregister_kprobe(kp);
	KUNIT_EXPECT_EQ(test, count, 1);
	expect_same(test, &shot, caller);
}

static void test_kprobe(struct kunit *test)
{
	struct kprobe kp = { .pre_handler = kprobe_pre };

	kprobe_case(test, &kp, test_kprobe);
	KUNIT_EXPECT_TRUE(test, has(&shot, context_kprobe_target));
}

/* arm64 steps over the probed instruction by a breakpoint behind its copy. */
static void test_kprobe_single_step(struct kunit *test)
{
	struct kprobe kp = { .post_handler = kprobe_post };

	kprobe_case(test, &kp, test_kprobe_single_step);
}
#else
CANNOT(test_kprobe, "CONFIG_KPROBES is not set")
CANNOT(test_kprobe_single_step, "CONFIG_KPROBES is not set")
#endif

/* === Each instruction of some code ======================================== */

#define MAX_STEPS	512

/**
 * struct steps - what a probe on each instruction of some code saw
 * @start: the first of them
 * @left: whether the collector may leave traces to the frame-pointer unwinder
 * @hits: how many traces were taken
 * @extra: how many had entries that the walk lacks
 * @most: how many such entries at most
 * @wrong: how many lacked an entry of the walk, or differ without an explanation
 * @bad: the first of those
 * @bad_at: where it was taken
 */
static struct steps {
	kprobe_opcode_t *start;
	bool left;
	unsigned int hits;
	unsigned int extra;
	int most;
	unsigned int wrong;
	struct shot bad;
	kprobe_opcode_t *bad_at;
} steps;

#ifdef CONFIG_KPROBES
/* Whether all that the walk told is there, in this order, whatever else is. */
static bool walk_is_within(const struct shot *s)
{
	int i, j = 0;

	for (i = 0; i < s->nr[BY_SCS]; i++)
		if (j < s->nr[BY_WALK] &&
		    s->entries[BY_SCS][i] == s->entries[BY_WALK][j])
			j++;
	return j == s->nr[BY_WALK];
}

#ifdef CONFIG_SCS_TRACE_VERIFY
/* As the checker has it; the first entry lies in here. */
static noinline bool is_explained(void)
{
	static unsigned long entries[MAX_ENTRIES];
	int nr = scs_trace_save(entries, MAX_ENTRIES, 1);
	bool explained = nr < 0 || scs_trace_compare(entries, nr, MAX_ENTRIES, 1) <
				   SCS_TRACE_MISSING;

	barrier();
	return explained;
}
#else
static bool is_explained(void)
{
	return true;
}
#endif

static int step_pre(struct kprobe *kp, struct pt_regs *regs)
{
	int extra;

	if (current != shot_task)
		return 0;

	arm(&shot);
	shoot(&shot);
	steps.hits++;
	extra = shot.nr[BY_SCS] - shot.nr[BY_WALK];
	if (shot.nr[BY_SCS] < 0 && steps.left)
		return 0;
	if (extra > 0)
		steps.extra++;
	steps.most = max(steps.most, extra);
	if (walk_is_within(&shot) && is_explained() &&
	    (shot.off_shadow || steps.left || scs_trace_walks()))
		return 0;
	if (!steps.wrong++) {
		steps.bad = shot;
		steps.bad_at = kp->addr;
	}
	return 0;
}

/*
 * Have @run called with a probe on each of @nr instructions from @start on, or, of
 * more than MAX_STEPS, on the first and last of them. An exception there must neither
 * disturb what the code does, nor find a frame record without an entry; the
 * other way round there may be up to @most entries.
 */
static void step_through(struct kunit *test, void *start, size_t nr,
			 void (*run)(struct kunit *test), int most, bool left)
{
	size_t i, n = 0, max = min_t(size_t, nr, MAX_STEPS);
	struct kprobe **kps, *kp;

	kps = kunit_kcalloc(test, max, sizeof(*kps), GFP_KERNEL);
	kp = kunit_kcalloc(test, max, sizeof(*kp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kps);
	KUNIT_ASSERT_NOT_NULL(test, kp);

	memset(&steps, 0, sizeof(steps));
	steps.start = start;
	steps.left = left;
	shot_task = current;
	for (i = 0; i < max; i++) {
		kp[n].addr = steps.start + (i < max / 2 ? i : nr - max + i);
		kp[n].pre_handler = step_pre;
		/* Some instructions can't be stepped over. */
		if (register_kprobe(&kp[n])) {
			memset(&kp[n], 0, sizeof(kp[n]));
			continue;
		}
		kps[n] = &kp[n];
		n++;
	}
	if (n) {
		run(test);
		unregister_kprobes(kps, n);
	}
	shot_task = NULL;

	KUNIT_EXPECT_GT(test, n, max / 2);
	KUNIT_EXPECT_GT(test, steps.hits, 0);
	KUNIT_EXPECT_LE(test, steps.most, most);
	/* What is pushed is there before its record: no walk would have that. */
	if (most && !scs_trace_walks())
		KUNIT_EXPECT_GT(test, steps.extra, 0);
	KUNIT_EXPECT_EQ(test, steps.wrong, 0);
	kunit_info(test, "%ps: %zu of %zu instructions probed, %u hits, %u with more entries, %d at most\n",
		   start, n, nr, steps.hits, steps.extra, steps.most);
	if (!steps.wrong)
		return;
	kunit_err(test, "at instruction %td, %08x:\n", steps.bad_at - steps.start,
		  le32_to_cpu((__force __le32)*steps.bad_at));
	expect_same(test, &steps.bad, step_pre);
}
#else
static void step_through(struct kunit *test, void *start, size_t nr,
			 void (*run)(struct kunit *test), int most, bool left)
{
}
#endif

static void skip_without_kprobes(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "CONFIG_KPROBES is not set");
}

static size_t nr_insns(struct kunit *test, void *fn)
{
	unsigned long size = 0, offset;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset((unsigned long)fn, &size,
							    &offset));
	return size / AARCH64_INSN_SIZE;
}

static vm_fault_t fault_shoot(const struct vm_special_mapping *sm,
			      struct vm_area_struct *vma, struct vm_fault *vmf)
{
	shoot(&shot);
	return VM_FAULT_SIGBUS;
}

static void test_user_access_fault(struct kunit *test)
{
	static const struct vm_special_mapping mapping = {
		.name = "[scs_trace]",
		.fault = fault_shoot,
	};
	struct vm_area_struct *vma;
	unsigned long addr;
	char c;

	addr = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	addr += PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);

	mmap_write_lock(current->mm);
	vma = _install_special_mapping(current->mm, addr, PAGE_SIZE,
				       VM_READ | VM_MAYREAD, &mapping);
	mmap_write_unlock(current->mm);
	KUNIT_ASSERT_FALSE(test, IS_ERR(vma));

	arm(&shot);
	KUNIT_EXPECT_EQ(test, copy_from_user(&c, (void __user *)addr, 1), 1);
	vm_munmap(addr, PAGE_SIZE);
	expect_same(test, &shot, fault_shoot);
	/* The interrupted function is a leaf: neither way knows its caller. */
	KUNIT_EXPECT_TRUE(test, has(&shot, __arch_copy_from_user));
}

#ifdef CONFIG_FUNCTION_TRACER
static void ftrace_shoot(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	int bit;

	/* Whoever comes up as a CPU is nobody's choice. */
	if (shot_task && current != shot_task)
		return;
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	shoot(&shot);
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops shoot_ops = { .func = ftrace_shoot };

/* Take the shot when @tsk, or anybody if NULL, calls the function @name. */
static void shoot_at(struct kunit *test, char *name, struct task_struct *tsk)
{
	shot_task = tsk;
	if (ftrace_set_filter(&shoot_ops, name, strlen(name), 1))
		kunit_skip(test, "%s() can't be traced", name);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&shoot_ops), 0);
	arm(&shot);
}

static void shoot_at_end(void)
{
	/* Its filter stays, for shoot_at() to replace. */
	unregister_ftrace_function(&shoot_ops);
}

static noinline void ftrace_target(int *count)
{
	WRITE_ONCE(*count, *count + 1);
}

static void test_ftrace_callback(struct kunit *test)
{
	int count = 0;

	shoot_at(test, "ftrace_target", current);
	ftrace_target(&count);
	shoot_at_end();
	KUNIT_EXPECT_EQ(test, count, 1);
	expect_same(test, &shot, ftrace_target);
	KUNIT_EXPECT_TRUE(test, has(&shot, test_ftrace_callback));
}

static void call_ftrace_target(struct kunit *test)
{
	const unsigned long *before = x18();
	int count = 0;

	ftrace_target(&count);
	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
}

static void test_ftrace_each_instruction(struct kunit *test)
{
	skip_without_kprobes(test);
	shoot_at(test, "ftrace_target", current);
	step_through(test, ftrace_caller, nr_insns(test, ftrace_caller),
		     call_ftrace_target, 2, false);
	shoot_at_end();
}

static void test_kernel_page_fault(struct kunit *test)
{
	char *page = vmalloc(PAGE_SIZE), c;

	KUNIT_ASSERT_NOT_NULL(test, page);
	shoot_at(test, "fixup_exception", current);
	/* The guard page behind it */
	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(&c, page + PAGE_SIZE, 1),
			-EFAULT);
	shoot_at_end();
	vfree(page);
	expect_same(test, &shot, ftrace_shoot);
	KUNIT_EXPECT_TRUE(test, has(&shot, test_kernel_page_fault));
}
#else
CANNOT(test_ftrace_callback, "CONFIG_FUNCTION_TRACER is not set")
CANNOT(test_ftrace_each_instruction, "CONFIG_FUNCTION_TRACER is not set")
CANNOT(test_kernel_page_fault, "CONFIG_FUNCTION_TRACER is not set")
#endif

#if defined(CONFIG_KRETPROBES) && defined(CONFIG_FUNCTION_TRACER)
static int kretprobe_nothing(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct kretprobe kretprobe;

static noinline void kretprobe_target(void)
{
	unregister_kretprobe(&kretprobe);
	arm(&shot);
}

/*
 * A kretprobe that goes while it is pending lets its instance go at the return,
 * through call_rcu(), which saves a trace where KASAN is on. The handlers have
 * run by then.
 */
static void test_kretprobe_after_handlers(struct kunit *test)
{
	kretprobe = (struct kretprobe) {
		.kp.symbol_name = "kretprobe_target",
		.handler = kretprobe_nothing,
		.maxactive = 4,
	};
	KUNIT_ASSERT_EQ(test, register_kretprobe(&kretprobe), 0);
	shoot_at(test, "call_rcu", current);
	atomic_set(&shot.armed, 0);
	kretprobe_target();
	shoot_at_end();
	expect_same(test, &shot, test_kretprobe_after_handlers);
}
#else
CANNOT(test_kretprobe_after_handlers, "needs CONFIG_KRETPROBES and CONFIG_FUNCTION_TRACER")
#endif

#ifdef CONFIG_VMAP_STACK
/* Run shoot() as if the stack had overflowed, but with a way back. */
static noinline void shoot_on_overflow_stack(void)
{
	struct stack_info info = stackinfo_get_overflow();
	/* Asking for it makes the compiler set a frame record up. */
	void *fp = __builtin_frame_address(0);

	asm volatile("mov	x19, sp\n"
		     "mov	sp, %[top]\n"
		     "mov	x0, %[shot]\n"
		     "blr	%[fn]\n"
		     "mov	sp, x19\n"
		     :
		     : [top] "r" (info.high), [shot] "r" (&shot), [fn] "r" (shoot),
		       "r" (fp)
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
		       "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
		       "x17", "x19", "x30", "cc", "memory");
}

static void test_overflow_stack(struct kunit *test)
{
	unsigned long flags;

	arm(&shot);
	local_irq_save(flags);
	shoot_on_overflow_stack();
	local_irq_restore(flags);
	expect_same_or_left(test, &shot, shoot_on_overflow_stack);
}
#else
CANNOT(test_overflow_stack, "CONFIG_VMAP_STACK is not set")
#endif

/* === Cryptography ========================================================= */

#if IS_BUILTIN(CONFIG_CRYPTO_CHACHA20_NEON) || \
	IS_BUILTIN(CONFIG_CRYPTO_SHA256_ARM64) || IS_BUILTIN(CONFIG_CRYPTO_SM3_NEON)
/* Behind the return there may be tables, which a breakpoint doesn't go well with. */
static size_t nr_insns_to_ret(struct kunit *test, void *fn)
{
	size_t i, nr = nr_insns(test, fn);
	u32 insn;

	for (i = 0; i < nr; i++)
		if (!aarch64_insn_read(fn + i * AARCH64_INSN_SIZE, &insn) &&
		    aarch64_insn_is_ret(insn))
			return i + 1;
	return nr;
}
#endif

#if IS_BUILTIN(CONFIG_CRYPTO_CHACHA20_NEON)
asmlinkage void chacha_block_xor_neon(const u32 *state, u8 *dst, const u8 *src,
				      int nrounds);
asmlinkage void chacha_4block_xor_neon(const u32 *state, u8 *dst, const u8 *src,
				       int nrounds, int bytes);
asmlinkage void hchacha_block_neon(const u32 *state, u32 *out, int nrounds);

static u8 chacha_out[64 + 256 + 32];

static void run_chacha(struct kunit *test)
{
	const unsigned long *before = x18();
	u32 state[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	u8 in[256] = { 10, 11, 12 };

	memset(chacha_out, 0, sizeof(chacha_out));
	kernel_neon_begin();
	chacha_block_xor_neon(state, chacha_out, in, 20);
	chacha_4block_xor_neon(state, chacha_out + 64, in, 20, 256);
	hchacha_block_neon(state, (u32 *)(chacha_out + 64 + 256), 20);
	kernel_neon_end();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
}

static void test_chacha_each_instruction(struct kunit *test)
{
	void *fns[] = { chacha_block_xor_neon, chacha_4block_xor_neon, hchacha_block_neon };
	u8 expected[sizeof(chacha_out)];
	int i;

	skip_without_kprobes(test);
	if (!may_use_simd())
		kunit_skip(test, "NEON can't be used here");
	run_chacha(test);
	memcpy(expected, chacha_out, sizeof(expected));
	for (i = 0; i < ARRAY_SIZE(fns); i++) {
		step_through(test, fns[i], nr_insns_to_ret(test, fns[i]), run_chacha, 1,
			     false);
		KUNIT_EXPECT_MEMEQ(test, chacha_out, expected, sizeof(expected));
	}
}
#else
CANNOT(test_chacha_each_instruction, "CONFIG_CRYPTO_CHACHA20_NEON is not y")
#endif

#if IS_BUILTIN(CONFIG_CRYPTO_SHA256_ARM64)
asmlinkage void sha256_block_data_order(u32 *digest, const void *data,
					unsigned int blocks);
asmlinkage void sha256_block_neon(u32 *digest, const void *data,
				  unsigned int blocks);

static u32 sha256_out[2][8];

static void run_sha256(struct kunit *test)
{
	const unsigned long *before = x18();
	u8 in[128] = { 1, 2, 3 };

	memset(sha256_out, 1, sizeof(sha256_out));
	sha256_block_data_order(sha256_out[0], in, 2);
	kernel_neon_begin();
	sha256_block_neon(sha256_out[1], in, 2);
	kernel_neon_end();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
}

static void test_sha256_each_instruction(struct kunit *test)
{
	void *fns[] = { sha256_block_data_order, sha256_block_neon };
	u32 expected[8];
	int i;

	skip_without_kprobes(test);
	if (!may_use_simd())
		kunit_skip(test, "NEON can't be used here");
	run_sha256(test);
	memcpy(expected, sha256_out[0], sizeof(expected));
	for (i = 0; i < ARRAY_SIZE(fns); i++) {
		step_through(test, fns[i], nr_insns_to_ret(test, fns[i]), run_sha256, 1,
			     false);
		KUNIT_EXPECT_MEMEQ(test, sha256_out[0], expected, sizeof(expected));
		KUNIT_EXPECT_MEMEQ(test, sha256_out[1], expected, sizeof(expected));
	}
}
#else
CANNOT(test_sha256_each_instruction, "CONFIG_CRYPTO_SHA256_ARM64 is not y")
#endif

#if IS_BUILTIN(CONFIG_CRYPTO_SM3_NEON)
asmlinkage void sm3_neon_transform(struct sm3_state *sst, u8 const *src,
				   int blocks);

static struct sm3_state sm3_out;

static void run_sm3(struct kunit *test)
{
	const unsigned long *before = x18();
	u8 in[2 * SM3_BLOCK_SIZE] = { 1, 2, 3 };

	sm3_init(&sm3_out);
	kernel_neon_begin();
	sm3_neon_transform(&sm3_out, in, 2);
	kernel_neon_end();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
}

/* It uses x29 for an address of its own, where only the patched one has a record. */
static void test_sm3_each_instruction(struct kunit *test)
{
	struct sm3_state expected;

	skip_without_kprobes(test);
	if (!may_use_simd())
		kunit_skip(test, "NEON can't be used here");
	run_sm3(test);
	expected = sm3_out;
	step_through(test, sm3_neon_transform,
		     nr_insns_to_ret(test, sm3_neon_transform), run_sm3, 1, false);
	KUNIT_EXPECT_MEMEQ(test, sm3_out.state, expected.state,
			   sizeof(expected.state));
}
#else
CANNOT(test_sm3_each_instruction, "CONFIG_CRYPTO_SM3_NEON is not y")
#endif

/* === BPF ================================================================== */

#if defined(CONFIG_BPF_SYSCALL) && defined(CONFIG_BPF_JIT)
/* What the programs below call. */
static u64 helper_shoot(void)
{
	shoot(&shot);
	return 7;
}

static struct bpf_prog *inner_prog;

static u64 helper_run_inner(void)
{
	return bpf_prog_run(inner_prog, NULL);
}

u64 bpf_throw(u64 cookie);	/* a kfunc, which has no header */

static u64 helper_throw(void)
{
	bpf_throw(0);
	return 0;
}

#define CALL(fn)							\
	BPF_EMIT_CALL((u64 (*)(u64, u64, u64, u64, u64))(void *)(fn))

/* Compile @insns as the verifier would let it be; skip where there is no JIT. */
static struct bpf_prog *new_prog(struct kunit *test, const struct bpf_insn *insns,
				 size_t size, bool boundary, bool exception_cb)
{
	struct bpf_prog *prog;
	int err;

	prog = bpf_prog_alloc(bpf_prog_size(size / sizeof(*insns)), 0);
	KUNIT_ASSERT_NOT_NULL(test, prog);
	prog->len = size / sizeof(*insns);
	memcpy(prog->insnsi, insns, size);
	prog->type = BPF_PROG_TYPE_TRACING;
	prog->aux->stack_depth = 16;
	prog->aux->exception_boundary = boundary;
	prog->aux->exception_cb = exception_cb;
	prog->aux->func_idx = exception_cb;

	prog = bpf_prog_select_runtime(prog, &err);
	if (!prog->jited) {
		bpf_prog_free(prog);
		kunit_skip(test, "the JIT is off");
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	bpf_prog_kallsyms_add(prog);
	return prog;
}

static void free_prog(struct bpf_prog *prog)
{
	bpf_prog_kallsyms_del(prog);
	bpf_prog_free(prog);
}

/* Run @prog; whatever it does, x18 must be what it was. */
static noinline u64 run_prog(struct kunit *test, struct bpf_prog *prog)
{
	const unsigned long *before = x18();
	u64 ret;

	arm(&shot);
	migrate_disable();
	rcu_read_lock();
	ret = bpf_prog_run(prog, NULL);
	rcu_read_unlock();
	migrate_enable();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
	return ret;
}

static bool in_prog(struct shot *s, struct bpf_prog *prog)
{
	unsigned long start = (unsigned long)prog->bpf_func;
	int i;

	for (i = 0; i < s->nr[BY_SCS]; i++)
		if (s->entries[BY_SCS][i] - start < prog->jited_len)
			return true;
	return false;
}

static void expect_prog(struct kunit *test, struct bpf_prog *prog)
{
	expect_same(test, &shot, run_prog);
	KUNIT_EXPECT_TRUE(test, in_prog(&shot, prog));
}

static struct bpf_prog *new_shoot_prog(struct kunit *test)
{
	const struct bpf_insn insns[] = {
		CALL(helper_shoot),
		BPF_EXIT_INSN(),
	};

	return new_prog(test, insns, sizeof(insns), false, false);
}

/* Uses callee-saved registers and its stack, so that there is more in its frame. */
static struct bpf_prog *new_outer_prog(struct kunit *test, bool exception_cb)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_6, 35),
		BPF_STX_MEM(BPF_DW, BPF_REG_FP, BPF_REG_6, -8),
		CALL(helper_run_inner),
		BPF_LDX_MEM(BPF_DW, BPF_REG_7, BPF_REG_FP, -8),
		BPF_ALU64_REG(BPF_ADD, BPF_REG_0, BPF_REG_7),
		BPF_EXIT_INSN(),
	};

	return new_prog(test, insns, sizeof(insns), false, exception_cb);
}

static void test_bpf_program(struct kunit *test)
{
	struct bpf_prog *prog = new_shoot_prog(test);

	KUNIT_EXPECT_EQ(test, run_prog(test, prog), 7);
	expect_prog(test, prog);
	free_prog(prog);
}

static void test_bpf_program_nested(struct kunit *test)
{
	struct bpf_prog *prog = new_outer_prog(test, false);

	inner_prog = new_shoot_prog(test);
	KUNIT_EXPECT_EQ(test, run_prog(test, prog), 42);
	expect_prog(test, prog);
	KUNIT_EXPECT_TRUE(test, in_prog(&shot, inner_prog));
	free_prog(inner_prog);
	free_prog(prog);
}

static void test_bpf_tail_call(struct kunit *test)
{
	struct bpf_array *array = kunit_kzalloc(test, sizeof(*array) + sizeof(void *),
						GFP_KERNEL);
	const struct bpf_insn insns[] = {
		BPF_LD_IMM64(BPF_REG_2, (long)array),
		BPF_MOV64_IMM(BPF_REG_3, 0),
		BPF_RAW_INSN(BPF_JMP | BPF_TAIL_CALL, 0, 0, 0, 0),
		BPF_MOV64_IMM(BPF_REG_0, 1),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog, *target;

	KUNIT_ASSERT_NOT_NULL(test, array);
	target = new_outer_prog(test, false);
	inner_prog = new_shoot_prog(test);
	array->map.max_entries = 1;
	array->ptrs[0] = target;

	prog = new_prog(test, insns, sizeof(insns), false, false);
	KUNIT_EXPECT_EQ(test, run_prog(test, prog), 42);
	expect_prog(test, target);
	KUNIT_EXPECT_FALSE(test, in_prog(&shot, prog));
	free_prog(prog);
	free_prog(inner_prog);
	free_prog(target);
}

/*
 * No probe can be put in what the JIT made. It runs as well where it was copied to,
 * in the place of this function.
 */
static noinline notrace void jit_copy(void)
{
	asm volatile(".rept	512\n"
		     "nop\n"
		     ".endr\n");
}

static void put_insn(struct kunit *test, void **at, u32 insn)
{
	KUNIT_ASSERT_EQ(test, aarch64_insn_patch_text_nosync(*at, insn), 0);
	*at += AARCH64_INSN_SIZE;
}

/* Put at @at what branches to @to, however far that is. */
static void put_far_branch(struct kunit *test, void **at, unsigned long to)
{
	int shift;

	for (shift = 0; shift < 64; shift += 16)
		put_insn(test, at,
			 aarch64_insn_gen_movewide(AARCH64_INSN_REG_16,
						   (to >> shift) & 0xffff, shift,
						   AARCH64_INSN_VARIANT_64BIT,
						   shift ? AARCH64_INSN_MOVEWIDE_KEEP :
							   AARCH64_INSN_MOVEWIDE_ZERO));
	put_insn(test, at, aarch64_insn_gen_branch_reg(AARCH64_INSN_REG_16,
						       AARCH64_INSN_BRANCH_NOLINK));
}

/* A call is the one instruction that leads elsewhere from where it was copied to. */
static void *copy_jit(struct kunit *test, void *image, size_t len)
{
	void *at = jit_copy, *far = at + len;
	u32 insn;

	KUNIT_ASSERT_LE(test, len, 256 * AARCH64_INSN_SIZE);
	for (; len; len -= AARCH64_INSN_SIZE, image += AARCH64_INSN_SIZE) {
		KUNIT_ASSERT_EQ(test, aarch64_insn_read(image, &insn), 0);
		if (aarch64_insn_is_bl(insn)) {
			long offset = aarch64_get_branch_offset(insn);

			insn = aarch64_insn_gen_branch_imm((unsigned long)at,
							   (unsigned long)far,
							   AARCH64_INSN_BRANCH_LINK);
			put_far_branch(test, &far, (unsigned long)image + offset);
		}
		put_insn(test, &at, insn);
	}
	kick_all_cpus_sync();
	return jit_copy;
}

static struct bpf_prog *stepped_prog;

static void run_stepped_prog(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, run_prog(test, stepped_prog), 42);
}

static void test_bpf_each_instruction(struct kunit *test)
{
	typeof(inner_prog->bpf_func) jited;
	struct bpf_prog *prog;

	skip_without_kprobes(test);
	prog = new_outer_prog(test, false);
	jited = prog->bpf_func;
	inner_prog = new_shoot_prog(test);
	stepped_prog = prog;
	prog->bpf_func = copy_jit(test, (void *)jited, prog->jited_len);
	step_through(test, jit_copy, prog->jited_len / AARCH64_INSN_SIZE,
		     run_stepped_prog, 1, false);
	prog->bpf_func = jited;
	free_prog(inner_prog);
	free_prog(prog);
}

/*
 * Where the callback has taken x29 back but not yet x18, what it has left is still
 * on the shadow call stack: bpf_throw(), its caller and the like.
 */
static void test_bpf_exception_each_instruction(struct kunit *test)
{
	const struct bpf_insn insns[] = {
		CALL(helper_throw),
		BPF_MOV64_IMM(BPF_REG_0, 1),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog, *callback;

	skip_without_kprobes(test);
	callback = new_outer_prog(test, true);
	inner_prog = new_shoot_prog(test);
	prog = new_prog(test, insns, sizeof(insns), true, false);
	prog->aux->bpf_exception_cb = copy_jit(test, (void *)callback->bpf_func,
					       callback->jited_len);
	stepped_prog = prog;
	step_through(test, jit_copy, callback->jited_len / AARCH64_INSN_SIZE,
		     run_stepped_prog, 8, false);
	/* That is one place. In the epilogue there are up to three, with one entry. */
	KUNIT_EXPECT_LE(test, steps.extra, 4);
	free_prog(prog);
	free_prog(inner_prog);
	free_prog(callback);
}

/*
 * The program that throws is entered, a C function in between, from the one that
 * is left; the trace is taken in the callback, which takes the latter's place.
 */
static void test_bpf_exception(struct kunit *test)
{
	const struct bpf_insn insns[] = {
		CALL(helper_throw),
		BPF_MOV64_IMM(BPF_REG_0, 1),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog, *callback;

	callback = new_outer_prog(test, true);
	inner_prog = new_shoot_prog(test);
	prog = new_prog(test, insns, sizeof(insns), true, false);
	prog->aux->bpf_exception_cb = (void *)callback->bpf_func;

	KUNIT_EXPECT_EQ(test, run_prog(test, prog), 42);
	expect_prog(test, callback);
	KUNIT_EXPECT_TRUE(test, in_prog(&shot, inner_prog));
	KUNIT_EXPECT_FALSE(test, in_prog(&shot, prog));
	free_prog(prog);
	free_prog(inner_prog);
	free_prog(callback);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static noinline int bpf_traced(int arg)
{
	OPTIMIZER_HIDE_VAR(arg);
	return arg + 1;
}

static void tramp_release(struct percpu_ref *ref)
{
}

static noinline int call_bpf_traced(struct kunit *test)
{
	const unsigned long *before = x18();
	int ret = bpf_traced(41);

	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
	return ret;
}

static void run_bpf_traced(struct kunit *test)
{
	arm(&shot);
	KUNIT_EXPECT_EQ(test, call_bpf_traced(test), 42);
}

/*
 * A trampoline with one program, before or after the function that it is put on;
 * @stepped: with a probe on each instruction.
 */
static void trampoline_case(struct kunit *test, enum bpf_tramp_prog_type when,
			    u32 flags, bool stepped)
{
	static const struct btf_func_model model = {
		.ret_size = 4, .nr_args = 1, .arg_size = { 4 },
	};
	struct bpf_tramp_links *links;
	struct bpf_tramp_image *im;
	struct bpf_tramp_link *link;
	struct ftrace_ops ops = {};
	struct bpf_prog *prog;
	void *image, *tramp;
	int size;

	links = kunit_kcalloc(test, BPF_TRAMP_MAX, sizeof(*links), GFP_KERNEL);
	link = kunit_kzalloc(test, sizeof(*link), GFP_KERNEL);
	im = kunit_kzalloc(test, sizeof(*im), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, links);
	KUNIT_ASSERT_NOT_NULL(test, link);
	KUNIT_ASSERT_NOT_NULL(test, im);
	KUNIT_ASSERT_EQ(test, percpu_ref_init(&im->pcref, tramp_release, 0,
					      GFP_KERNEL), 0);

	prog = new_shoot_prog(test);
	link->link.prog = prog;
	links[when].links[0] = link;
	links[when].nr_links = 1;

	size = arch_bpf_trampoline_size(&model, flags, links, bpf_traced);
	KUNIT_ASSERT_GT(test, size, 0);
	image = arch_alloc_bpf_trampoline(size);
	KUNIT_ASSERT_NOT_NULL(test, image);
	KUNIT_EXPECT_GT(test, arch_prepare_bpf_trampoline(im, image, image + size,
							  &model, flags, links,
							  bpf_traced), 0);

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)bpf_traced,
						   0, 0), 0);
	tramp = stepped ? copy_jit(test, image, size) : image;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&ops, (unsigned long)tramp), 0);
	if (stepped)
		step_through(test, tramp, size / AARCH64_INSN_SIZE, run_bpf_traced,
			     2, false);
	else
		run_bpf_traced(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&ops, (unsigned long)tramp,
						       true), 0);
	synchronize_rcu_tasks();

	if (!stepped) {
		expect_same(test, &shot, bpf_traced);
		KUNIT_EXPECT_TRUE(test, in_prog(&shot, prog));
		KUNIT_EXPECT_TRUE(test, has(&shot, call_bpf_traced));
	}
	arch_free_bpf_trampoline(image, size);
	percpu_ref_exit(&im->pcref);
	free_prog(prog);
}

static void test_bpf_trampoline_entry(struct kunit *test)
{
	trampoline_case(test, BPF_TRAMP_FENTRY, BPF_TRAMP_F_RESTORE_REGS, false);
}

static void test_bpf_trampoline_exit(struct kunit *test)
{
	trampoline_case(test, BPF_TRAMP_FEXIT,
			BPF_TRAMP_F_CALL_ORIG | BPF_TRAMP_F_SKIP_FRAME, false);
}

static void test_bpf_trampoline_each_instruction(struct kunit *test)
{
	skip_without_kprobes(test);
	trampoline_case(test, BPF_TRAMP_FENTRY, BPF_TRAMP_F_RESTORE_REGS, true);
	trampoline_case(test, BPF_TRAMP_FEXIT,
			BPF_TRAMP_F_CALL_ORIG | BPF_TRAMP_F_SKIP_FRAME, true);
}
#else
CANNOT(test_bpf_trampoline_entry, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS is not set")
CANNOT(test_bpf_trampoline_exit, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS is not set")
CANNOT(test_bpf_trampoline_each_instruction, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS is not set")
#endif
#else
CANNOT(test_bpf_program, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_program_nested, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_tail_call, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_exception, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_trampoline_entry, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_trampoline_exit, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_each_instruction, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_trampoline_each_instruction, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
CANNOT(test_bpf_exception_each_instruction, "CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT are not set")
#endif

/* === CPUs, suspend, firmware ============================================== */

#ifdef CONFIG_HOTPLUG_CPU
static long cpu_shoot(void *arg)
{
	shoot(&shot);
	return 0;
}

static int cpu_going_down(unsigned int cpu)
{
	shoot(&shot);
	return 0;
}

/* Another CPU than this one, which may go. */
static unsigned int some_cpu(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);

	if (!cpu)
		kunit_skip(test, "needs a second CPU");
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	return cpu;
}

static void test_cpu_going_down(struct kunit *test)
{
	unsigned int cpu = some_cpu(test);
	int state;

	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "scs_trace:test",
					  NULL, cpu_going_down);
	KUNIT_ASSERT_GE(test, state, 0);
	arm(&shot);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	cpuhp_remove_state_nocalls(state);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	expect_same(test, &shot, cpu_going_down);
	KUNIT_EXPECT_EQ(test, shot.cpu, cpu);
}

static void test_cpu_after_hotplug(struct kunit *test)
{
	unsigned int cpu = some_cpu(test);

	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	arm(&shot);
	work_on_cpu(cpu, cpu_shoot, NULL);
	expect_same(test, &shot, cpu_shoot);
	KUNIT_EXPECT_EQ(test, shot.cpu, cpu);
}

#ifdef CONFIG_FUNCTION_TRACER
static void test_secondary_cpu_coming_up(struct kunit *test)
{
	unsigned int cpu = some_cpu(test);

	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	shoot_at(test, "notify_cpu_starting", NULL);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	shoot_at_end();
	expect_same(test, &shot, ftrace_shoot);
	KUNIT_EXPECT_EQ(test, shot.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, is_idle_task(shot.where));
}
#else
CANNOT(test_secondary_cpu_coming_up, "CONFIG_FUNCTION_TRACER is not set")
#endif
#else
CANNOT(test_cpu_going_down, "CONFIG_HOTPLUG_CPU is not set")
CANNOT(test_cpu_after_hotplug, "CONFIG_HOTPLUG_CPU is not set")
CANNOT(test_secondary_cpu_coming_up, "CONFIG_HOTPLUG_CPU is not set")
#endif

#ifdef CONFIG_SUSPEND
static bool suspended;

static int s2idle_late(void)
{
	WRITE_ONCE(suspended, true);
	return 0;
}

static const struct platform_s2idle_ops s2idle_ops = {
	.prepare_late = s2idle_late,
};

/* A timer that still runs when all devices are asleep, and wakes them again. */
static enum hrtimer_restart hrtimer_wake(struct hrtimer *timer)
{
	if (!READ_ONCE(suspended) || !is_idle_task(current)) {
		hrtimer_forward_now(timer, ns_to_ktime(5 * NSEC_PER_MSEC));
		return HRTIMER_RESTART;
	}
	shoot(&shot);
	pm_system_wakeup();
	return HRTIMER_NORESTART;
}

static void test_suspend_to_idle(struct kunit *test)
{
	/* It waits for the tests to end, for which it is no kernel thread. */
	struct task_struct *init = init_pid_ns.child_reaper;
	int err;

	init->flags |= PF_NOFREEZE;
	arm(&shot);
	suspended = false;
	s2idle_set_ops(&s2idle_ops);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	start_hrtimer(&irq.spinner.hrtimer, hrtimer_wake);
	err = pm_suspend(PM_SUSPEND_TO_IDLE);
	hrtimer_cancel(&irq.spinner.hrtimer);
	s2idle_set_ops(NULL);
	init->flags &= ~PF_NOFREEZE;
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_same(test, &shot, cpu_startup_entry);
	KUNIT_EXPECT_TRUE(test, shot.in_place & HARDIRQ_MASK);
}
#else
CANNOT(test_suspend_to_idle, "CONFIG_SUSPEND is not set")
#endif

#ifdef CONFIG_EFI
static enum hrtimer_restart hrtimer_efi(struct hrtimer *timer)
{
	if (!current_in_efi()) {
		hrtimer_forward_now(timer, ns_to_ktime(20 * NSEC_PER_USEC));
		return HRTIMER_RESTART;
	}
	shoot(&shot);
	return HRTIMER_NORESTART;
}

/*
 * Firmware has frames of its own, as it likes. What interrupts it must not be told
 * by the collector; and x18 must be what it was afterwards.
 */
static void test_efi_runtime_call(struct kunit *test)
{
	const unsigned long *before = x18();
	efi_status_t status = EFI_SUCCESS;
	efi_time_cap_t cap;
	efi_time_t tm;
	int i;

	if (!efi_enabled(EFI_RUNTIME_SERVICES))
		kunit_skip(test, "not booted by EFI firmware");

	arm(&shot);
	migrate_disable();
	start_hrtimer(&irq.spinner.hrtimer, hrtimer_efi);
	for (i = 0; i < 100000 && !was_taken(&shot); i++) {
		arch_efi_call_virt_setup();
		status = arch_efi_call_virt(efi.runtime, get_time, &tm, &cap);
		arch_efi_call_virt_teardown();
	}
	migrate_enable();
	hrtimer_cancel(&irq.spinner.hrtimer);
	KUNIT_EXPECT_EQ(test, status, EFI_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
	KUNIT_ASSERT_TRUE(test, shot.taken);
	KUNIT_EXPECT_EQ(test, shot.nr[BY_SCS],
			scs_trace_walks() ? -EOPNOTSUPP : -EFAULT);
	KUNIT_EXPECT_GT(test, shot.nr[BY_WALK], 2);

	arm(&shot);
	shoot(&shot);
	expect_same(test, &shot, test_efi_runtime_call);
}

static void run_efi_call(struct kunit *test)
{
	const unsigned long *before = x18();
	efi_time_cap_t cap;
	efi_time_t tm;

	migrate_disable();
	arch_efi_call_virt_setup();
	KUNIT_EXPECT_EQ(test, arch_efi_call_virt(efi.runtime, get_time, &tm, &cap),
			EFI_SUCCESS);
	arch_efi_call_virt_teardown();
	migrate_enable();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);
}

/* Between two stacks, the walk has none of the task's entries. */
static void test_efi_each_instruction(struct kunit *test)
{
	skip_without_kprobes(test);
	if (!efi_enabled(EFI_RUNTIME_SERVICES))
		kunit_skip(test, "not booted by EFI firmware");
	step_through(test, __efi_rt_asm_wrapper, nr_insns(test, __efi_rt_asm_wrapper),
		     run_efi_call, 0, true);
}

/* A call that ends by a fault: firmware's code is not there. */
static void run_efi_fault(struct kunit *test)
{
	const unsigned long *before = x18();
	void *nowhere = (void *)AARCH64_INSN_SIZE;

	migrate_disable();
	arch_efi_call_virt_setup();
	KUNIT_EXPECT_EQ(test, __efi_rt_asm_wrapper(nowhere, "nowhere"), EFI_ABORTED);
	arch_efi_call_virt_teardown();
	migrate_enable();
	KUNIT_EXPECT_PTR_EQ(test, x18(), before);

	/* The kernel makes no call after such a fault. */
	KUNIT_EXPECT_FALSE(test, efi_enabled(EFI_RUNTIME_SERVICES));
	set_bit(EFI_RUNTIME_SERVICES, &efi.flags);
}

/* The way out of the fault, as a whole and with an exception at each instruction. */
static void test_efi_fault(struct kunit *test)
{
	void *recover;

	if (!efi_enabled(EFI_RUNTIME_SERVICES))
		kunit_skip(test, "not booted by EFI firmware");

	run_efi_fault(test);
	arm(&shot);
	shoot(&shot);
	expect_same(test, &shot, test_efi_fault);

	recover = (void *)kallsyms_lookup_name("__efi_rt_asm_recover");
	KUNIT_ASSERT_NOT_NULL(test, recover);
	if (IS_ENABLED(CONFIG_KPROBES))
		step_through(test, recover, nr_insns(test, recover),
			     run_efi_fault, 0, true);
	run_efi_call(test);
}
#else
CANNOT(test_efi_fault, "CONFIG_EFI is not set")
CANNOT(test_efi_runtime_call, "CONFIG_EFI is not set")
CANNOT(test_efi_each_instruction, "CONFIG_EFI is not set")
#endif

/* === Tasks that end ======================================================= */

#ifdef CONFIG_TRACEPOINTS
static void exit_shoot(void *data, struct task_struct *tsk)
{
	if (tsk == READ_ONCE(shot_task))
		shoot(&shot);
}

static void exit_case(struct kunit *test, struct task_struct *tsk,
		      void (*end)(struct task_struct *tsk))
{
	WRITE_ONCE(shot_task, tsk);
	KUNIT_ASSERT_EQ(test, register_trace_sched_process_exit(exit_shoot, NULL), 0);
	arm(&shot);
	end(tsk);
	wait_taken(&shot);
	unregister_trace_sched_process_exit(exit_shoot, NULL);
	tracepoint_synchronize_unregister();
	expect_same(test, &shot, do_exit);
	KUNIT_EXPECT_PTR_EQ(test, shot.where, tsk);
}

static void end_kthread(struct task_struct *tsk)
{
	kthread_stop(tsk);
}

static void test_kthread_exit(struct kunit *test)
{
	struct task_struct *tsk = kthread_run(blocked_thread, NULL, "scs_exit");

	KUNIT_ASSERT_FALSE(test, IS_ERR(tsk));
	get_task_struct(tsk);
	exit_case(test, tsk, end_kthread);
	put_task_struct(tsk);
}

static int find_user_task(struct subprocess_info *info, struct cred *new)
{
	struct task_struct **tsk = info->data;

	*tsk = get_task_struct(current);
	return 0;
}

static void end_user_task(struct task_struct *tsk)
{
	send_sig(SIGKILL, tsk, 1);
}

static void test_user_task_exit(struct kunit *test)
{
	char path[] = INIT, arg[] = "block";
	char *argv[3] = { path, arg };
	struct task_struct *tsk = NULL;
	struct subprocess_info *info;
	int err;

	wait_for_initramfs();
	info = call_usermodehelper_setup(path, argv, NULL, GFP_KERNEL,
					 find_user_task, NULL, &tsk);
	KUNIT_ASSERT_NOT_NULL(test, info);
	err = call_usermodehelper_exec(info, UMH_WAIT_EXEC);
	if (err) {
		if (tsk)
			put_task_struct(tsk);
		kunit_skip(test, "no /init in the initramfs");
	}
	exit_case(test, tsk, end_user_task);
	put_task_struct(tsk);
}
#else
CANNOT(test_kthread_exit, "CONFIG_TRACEPOINTS is not set")
CANNOT(test_user_task_exit, "CONFIG_TRACEPOINTS is not set")
#endif

/* Once it has no stack any more there is nothing to tell, both ways. */
static int end_at_once(void *data)
{
	return 0;
}

static void test_task_without_stack(struct kunit *test)
{
	struct task_struct *tsk = kthread_create(end_at_once, NULL, "scs_ended");
	unsigned long entries[8];
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(tsk));
	get_task_struct(tsk);
	wake_up_process(tsk);
	for (i = 0; i < 1000 && task_stack_page(tsk); i++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, stack_trace_save_tsk(tsk, entries, ARRAY_SIZE(entries),
						   0), 0);
	put_task_struct(tsk);
}

/* One whose stack is kept: what was pending for it may be dropped at any time. */
static void test_dead_task(struct kunit *test)
{
	struct task_struct *tsk = kthread_create(end_at_once, NULL, "scs_dead");
	unsigned long entries[8];
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(tsk));
	get_task_struct(tsk);
	KUNIT_EXPECT_NOT_NULL(test, try_get_task_stack(tsk));
	wake_up_process(tsk);
	for (i = 0; i < 1000 && READ_ONCE(tsk->exit_state) != EXIT_DEAD; i++)
		schedule_timeout_uninterruptible(1);
	wait_task_inactive(tsk, TASK_DEAD);
	KUNIT_EXPECT_EQ(test, scs_trace_save_tsk(tsk, entries, ARRAY_SIZE(entries), 0),
			scs_trace_walks() ? -EOPNOTSUPP : -ESRCH);
	put_task_stack(tsk);
	put_task_struct(tsk);
}

/* === Modules ============================================================== */

#if IS_ENABLED(CONFIG_SCS_TRACE_CONTEXT_MODULE)
/**
 * scs_trace_context_shoot() - have a trace taken where a module calls this
 *
 * Context: any.
 */
void scs_trace_context_shoot(void)
{
	shoot(&shot);
	barrier();
}
EXPORT_SYMBOL_GPL(scs_trace_context_shoot);

static int run_init(char *what, char *operand)
{
	char path[] = INIT;
	char *argv[4] = { path, what, operand };

	return call_usermodehelper(path, argv, NULL, UMH_WAIT_PROC);
}

static bool has_module(struct shot *s)
{
	int i;

	/* What was init text may be gone, but no other place is above the kernel. */
	for (i = 0; i < s->nr[BY_SCS]; i++)
		if (s->entries[BY_SCS][i] - MODULES_VADDR < MODULES_END - MODULES_VADDR &&
		    !core_kernel_text(s->entries[BY_SCS][i]))
			return true;
	return false;
}

static void test_module_init_and_exit(struct kunit *test)
{
	char load[] = "insmod", file[] = "/scs_trace_context.ko";
	char unload[] = "rmmod", name[] = "context_module";

	wait_for_initramfs();
	arm(&shot);
	if (run_init(load, file))
		kunit_skip(test, "no %s in the initramfs, or no module of this kernel", file);
	expect_same(test, &shot, do_one_initcall);
	KUNIT_EXPECT_TRUE(test, has_module(&shot));

	arm(&shot);
	KUNIT_EXPECT_EQ(test, run_init(unload, name), 0);
	expect_same(test, &shot, scs_trace_context_shoot);
	KUNIT_EXPECT_TRUE(test, has_module(&shot));
}
#else
CANNOT(test_module_init_and_exit, "CONFIG_SCS_TRACE_CONTEXT_MODULE is not set")
#endif

static void context_test_exit(struct kunit *test)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static struct kunit_case context_test_cases[] = {
	KUNIT_CASE(test_boot_before_irq_stacks),
	KUNIT_CASE(test_boot_after_irq_stacks),
	KUNIT_CASE(test_task),
	KUNIT_CASE(test_hardirq),
	KUNIT_CASE(test_hardirq_nested),
	KUNIT_CASE(test_softirq_after_hardirq),
	KUNIT_CASE(test_softirq_own_stack),
	KUNIT_CASE(test_ksoftirqd),
	KUNIT_CASE(test_pseudo_nmi),
	KUNIT_CASE(test_pseudo_nmi_in_hardirq),
	KUNIT_CASE(test_idle),
	KUNIT_CASE(test_warn),
	KUNIT_CASE(test_kprobe),
	KUNIT_CASE(test_kprobe_single_step),
	KUNIT_CASE(test_hardware_single_step),
	KUNIT_CASE(test_user_access_fault),
	KUNIT_CASE(test_ftrace_callback),
	KUNIT_CASE(test_ftrace_each_instruction),
	KUNIT_CASE(test_kernel_page_fault),
	KUNIT_CASE(test_kretprobe_after_handlers),
	KUNIT_CASE(test_overflow_stack),
	KUNIT_CASE(test_chacha_each_instruction),
	KUNIT_CASE(test_sha256_each_instruction),
	KUNIT_CASE(test_sm3_each_instruction),
	KUNIT_CASE(test_bpf_program),
	KUNIT_CASE(test_bpf_program_nested),
	KUNIT_CASE(test_bpf_tail_call),
	KUNIT_CASE(test_bpf_exception),
	KUNIT_CASE(test_bpf_trampoline_entry),
	KUNIT_CASE(test_bpf_trampoline_exit),
	KUNIT_CASE(test_bpf_trampoline_each_instruction),
	KUNIT_CASE(test_bpf_each_instruction),
	KUNIT_CASE(test_bpf_exception_each_instruction),
	KUNIT_CASE(test_cpu_going_down),
	KUNIT_CASE(test_cpu_after_hotplug),
	KUNIT_CASE(test_secondary_cpu_coming_up),
	KUNIT_CASE(test_suspend_to_idle),
	KUNIT_CASE(test_efi_runtime_call),
	KUNIT_CASE(test_efi_each_instruction),
	KUNIT_CASE(test_efi_fault),
	KUNIT_CASE(test_kthread_exit),
	KUNIT_CASE(test_user_task_exit),
	KUNIT_CASE(test_task_without_stack),
	KUNIT_CASE(test_dead_task),
	KUNIT_CASE(test_module_init_and_exit),
	/* The last one: the kernel counts as tainted from here on. */
	KUNIT_CASE(test_bug),
	{}
};

static struct kunit_suite context_test_suite = {
	.name = "scs_trace_context",
	.exit = context_test_exit,
	.test_cases = context_test_cases,
};

kunit_test_suite(context_test_suite);
