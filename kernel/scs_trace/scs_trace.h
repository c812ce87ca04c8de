/* SPDX-License-Identifier: GPL-2.0 */
/* What the collector, its statistics and its tests share. */
#ifndef _KERNEL_SCS_TRACE_H
#define _KERNEL_SCS_TRACE_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/scs_trace.h>

struct dentry;

int scs_trace_fall_back(int err, unsigned long pc, unsigned long fp,
			unsigned long *store, unsigned int size,
			unsigned int skipnr);
int scs_trace_fall_back_regs(int err, const struct pt_regs *regs,
			     unsigned long *store, unsigned int size,
			     unsigned int skipnr);

int scs_trace_count_fallback(int err);
void scs_trace_sum(struct scs_trace_counters *sum);

static inline bool scs_trace_task_running(struct task_struct *tsk)
{
	/*
	 * Pairs with the release in finish_task(): once on_cpu is seen clear,
	 * so is what cpu_switch_to() saved.
	 */
	return smp_load_acquire(&tsk->on_cpu);
}

static inline unsigned long scs_trace_task_switches(struct task_struct *tsk)
{
	return READ_ONCE(tsk->nvcsw) + READ_ONCE(tsk->nivcsw);
}

/* Whether @tsk ran or had return addresses replaced since it had @switches. */
static inline bool scs_trace_task_ran(struct task_struct *tsk,
				      unsigned long switches)
{
	return scs_trace_task_running(tsk) || scs_trace_hooked(tsk) ||
	       switches != scs_trace_task_switches(tsk);
}

#ifdef CONFIG_SCS_TRACE_VERIFY

void scs_trace_verify(const unsigned long *top, const unsigned long *store,
		      unsigned int nr, unsigned int size, unsigned int skipnr,
		      struct task_struct *tsk, struct pt_regs *regs);
void scs_trace_verify_task(const unsigned long *store, unsigned int nr,
			   unsigned int size, unsigned int skipnr,
			   struct task_struct *tsk, unsigned long switches);
enum scs_trace_verdict scs_trace_compare(const unsigned long *store,
					 unsigned int nr, unsigned int size,
					 unsigned int skipnr);
void scs_trace_verify_debugfs(struct dentry *dir);

#else /* CONFIG_SCS_TRACE_VERIFY */

static __always_inline void
scs_trace_verify(const unsigned long *top, const unsigned long *store,
		 unsigned int nr, unsigned int size, unsigned int skipnr,
		 struct task_struct *tsk, struct pt_regs *regs)
{
}

static __always_inline void
scs_trace_verify_task(const unsigned long *store, unsigned int nr,
		      unsigned int size, unsigned int skipnr, struct task_struct *tsk,
		      unsigned long switches)
{
}

static inline void scs_trace_verify_debugfs(struct dentry *dir)
{
}

#endif /* CONFIG_SCS_TRACE_VERIFY */

#endif /* _KERNEL_SCS_TRACE_H */
