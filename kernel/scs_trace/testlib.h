/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit suites share: whose code an entry is, interrupts that hit a known place. */
#ifndef _KERNEL_SCS_TRACE_TESTLIB_H
#define _KERNEL_SCS_TRACE_TESTLIB_H

#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/scs_trace.h>

#include <asm/irq_regs.h>

/* Whether @entry lies in the function @fn. */
static inline bool entry_in(unsigned long entry, void *fn)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(entry, &size, &offset) &&
	       entry - offset == (unsigned long)fn;
}

/*
 * Whether the collector can tell the trace of this place, or of @regs, off shadow call
 * stacks. What it returns does not say so: the fallback gives the same.
 */
static __always_inline bool off_shadow(const struct pt_regs *regs)
{
#ifdef CONFIG_SCS_TRACE_SHADOW
	const unsigned long *sp = arch_scs_trace_sp();
	struct scs_trace_source src;

	return !scs_trace_walks() && !scs_trace_hooked(current) &&
	       !(regs ? arch_scs_trace_regs(regs, sp, &src) :
			arch_scs_trace_current(sp, &src));
#else
	return false;
#endif
}

/* A thread that blocks until it is stopped. */
static inline int blocked_thread(void *data)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

/**
 * struct spinner - a task that an interrupt is to hit in spin()
 * @hrtimer: comes back until it does hit it
 * @fire: what to do then; it, or what it starts, clears @busy
 * @spinning: set by the task once it is in its loop
 * @busy: what it waits for there
 */
struct spinner {
	struct hrtimer hrtimer;
	void (*fire)(struct spinner *s);
	bool spinning;
	bool busy;
};

/*
 * A loop without a call. An interrupt in it finds no function half way through
 * its prologue, where the shadow call stack rightly knows a frame more than the
 * frame records do. It gives up after some seconds.
 */
static noinline notrace __maybe_unused void spin(struct spinner *s)
{
	unsigned long i;

	for (i = 0; i < BIT(30) && READ_ONCE(s->busy); i++)
		WRITE_ONCE(s->spinning, true);
}

/* Whether an interrupt with @regs hit it. */
static inline bool hit_spin(struct pt_regs *regs)
{
	return regs && !user_mode(regs) &&
	       entry_in(instruction_pointer(regs), spin);
}

/* A leaf is no entry's caller, neither way: its caller's caller is. */
static noinline __maybe_unused void spin_chain(struct spinner *s, int depth)
{
	if (depth > 1)
		spin_chain(s, depth - 1);
	else
		spin(s);
	barrier();
}

static inline enum hrtimer_restart spinner_fire(struct hrtimer *timer)
{
	struct spinner *s = container_of(timer, struct spinner, hrtimer);

	if (!hit_spin(get_irq_regs())) {
		hrtimer_forward_now(timer, ns_to_ktime(200 * NSEC_PER_USEC));
		return HRTIMER_RESTART;
	}
	s->fire(s);
	return HRTIMER_NORESTART;
}

static inline void start_hrtimer(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = fn;
	hrtimer_start(timer, ns_to_ktime(200 * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Spin, @depth calls deep, until a hardirq has done what it is to do. */
static inline void spin_under_hrtimer(struct spinner *s, int depth,
				      void (*fire)(struct spinner *s))
{
	s->fire = fire;
	s->spinning = false;
	s->busy = true;
	migrate_disable();
	start_hrtimer(&s->hrtimer, spinner_fire);
	spin_chain(s, depth);
	migrate_enable();
	hrtimer_cancel(&s->hrtimer);
}

#endif /* _KERNEL_SCS_TRACE_TESTLIB_H */
