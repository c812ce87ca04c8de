// SPDX-License-Identifier: GPL-2.0
/* The fallback: has frame records followed where no shadow call stack tells a trace. */

#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/scs_trace.h>

#include "scs_trace.h"

static int scs_trace_count_walk(int err, int nr)
{
	struct scs_trace_counters *counters = raw_cpu_ptr(&scs_trace_counters);

	if (nr < 0) {
		raw_atomic64_inc(&counters->walks_declined);
		return err;
	}
	raw_atomic64_inc(&counters->walks);
	raw_atomic64_add(nr, &counters->walk_frames);
	return nr;
}

/**
 * scs_trace_fall_back() - have the current task's frame records followed
 * @err: why the shadow call stack was refused
 * @pc: the first entry, a return address
 * @fp: the frame pointer of the function that @pc lies in
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out
 *
 * Switched off means that there is no second source either.
 *
 * Context: any, NMI included.
 * Return: the number of entries stored; @err if the walk declines.
 */
int scs_trace_fall_back(int err, unsigned long pc, unsigned long fp,
			unsigned long *store, unsigned int size,
			unsigned int skipnr)
{
	int nr;

	scs_trace_count_fallback(err);
	if (err == -ECANCELED)
		return err;
	nr = arch_scs_trace_walk(pc, fp, store, size, skipnr);
	if (nr >= 0)
		scs_trace_verify_walk(pc, fp, store, nr, size, skipnr);
	return scs_trace_count_walk(err, nr);
}

/**
 * scs_trace_fall_back_regs() - have frame records followed from saved registers on
 * @err: why the shadow call stack was refused
 * @regs: the registers
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out
 *
 * Context: any, NMI included.
 * Return: as scs_trace_fall_back().
 */
int scs_trace_fall_back_regs(int err, const struct pt_regs *regs,
			     unsigned long *store, unsigned int size,
			     unsigned int skipnr)
{
	int nr;

	scs_trace_count_fallback(err);
	if (err == -ECANCELED)
		return err;
	nr = arch_scs_trace_walk_regs(regs, store, size, skipnr);
	if (nr >= 0)
		scs_trace_verify_walk(regs->pc, regs->regs[29], store, nr, size,
				      skipnr);
	return scs_trace_count_walk(err, nr);
}

#ifndef CONFIG_SCS_TRACE_SHADOW
/*
 * Without shadow call stacks these are the collector's entry points, in the place of
 * those in core.c.
 */

static int scs_trace_unavailable(void)
{
	return static_branch_likely(&scs_trace_enabled) ? -EOPNOTSUPP :
							   -ECANCELED;
}

/**
 * scs_trace_save() - save the current task's trace
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out; with 0 the first entry lies in
 *	the caller of this function
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: the number of entries stored; -ECANCELED (switched off) or -EOPNOTSUPP
 * where the frame records can't be vouched for.
 */
noinline int scs_trace_save(unsigned long *store, unsigned int size,
			    unsigned int skipnr)
{
	unsigned long pc = scs_trace_caller_pc();
	unsigned long fp = scs_trace_caller_fp();
	int nr = scs_trace_walk(pc, fp, store, size, skipnr);

	if (likely(nr >= 0))
		return nr;
	return scs_trace_fall_back(scs_trace_unavailable(), pc, fp, store, size,
				   skipnr);
}

/**
 * scs_trace_save_regs() - save the trace of what an exception interrupted
 * @regs: the registers that the exception saved
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out; with 0 the first entry is the
 *	interrupted program counter
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: as scs_trace_save().
 */
noinline int scs_trace_save_regs(struct pt_regs *regs, unsigned long *store,
				 unsigned int size, unsigned int skipnr)
{
	return scs_trace_fall_back_regs(scs_trace_unavailable(), regs, store,
					size, skipnr);
}

/**
 * scs_trace_save_tsk() - refuse to save a task's trace
 * @tsk: the task
 * @store: as for scs_trace_save()
 * @size: as for scs_trace_save()
 * @skipnr: as for scs_trace_save()
 *
 * Context: any.
 * Return: -ECANCELED or -EOPNOTSUPP: only the frame-pointer unwinder knows
 * another task's stack.
 */
int scs_trace_save_tsk(struct task_struct *tsk, unsigned long *store,
		       unsigned int size, unsigned int skipnr)
{
	return scs_trace_count_fallback(scs_trace_unavailable());
}
#endif
