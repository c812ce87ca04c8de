/* SPDX-License-Identifier: GPL-2.0 */
/* The collector's interface: stack traces read off the shadow call stack. */
#ifndef _LINUX_SCS_TRACE_H
#define _LINUX_SCS_TRACE_H

#include <linux/types.h>
#include <asm/errno.h>

struct pt_regs;
struct task_struct;

#ifdef CONFIG_SCS_TRACE

/**
 * struct scs_trace_span - a part of a shadow call stack that belongs to a trace
 * @top: one past the newest entry
 * @base: the oldest entry
 */
struct scs_trace_span {
	const unsigned long *top;
	const unsigned long *base;
};

/**
 * struct scs_trace_source - where a trace lies, as the architecture found it
 * @pc: the newest entry, where that is on no shadow call stack
 * @has_pc: whether it is so
 * @nr_spans: how many of @span are filled in
 * @span: what follows, from the newest to the oldest
 */
struct scs_trace_source {
	unsigned long pc;
	bool has_pc;
	unsigned int nr_spans;
	struct scs_trace_span span[2];
};

int scs_trace_save(unsigned long *store, unsigned int size, unsigned int skipnr);
int scs_trace_save_tsk(struct task_struct *tsk, unsigned long *store,
		       unsigned int size, unsigned int skipnr);
int scs_trace_save_regs(struct pt_regs *regs, unsigned long *store,
			unsigned int size, unsigned int skipnr);

#else /* CONFIG_SCS_TRACE */

static inline int scs_trace_save(unsigned long *store, unsigned int size,
				 unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

static inline int scs_trace_save_tsk(struct task_struct *tsk,
				     unsigned long *store, unsigned int size,
				     unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

static inline int scs_trace_save_regs(struct pt_regs *regs,
				      unsigned long *store, unsigned int size,
				      unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_SCS_TRACE */

#endif /* _LINUX_SCS_TRACE_H */
