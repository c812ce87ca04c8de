/* SPDX-License-Identifier: GPL-2.0 */
/* The collector: the test says where a thread's shadow call stack lies, if it has one. */
#ifndef SHIM_LINUX_SCS_TRACE_H
#define SHIM_LINUX_SCS_TRACE_H

#include <linux/types.h>
#include <shim/shim.h>

struct scs_trace_span {
	const unsigned long *top;
	const unsigned long *base;
};

static inline unsigned long scs_trace_peek(const unsigned long **top, bool wanted)
{
	*top = shim_self()->scs_top;
	return wanted && *top ? *top - shim_self()->scs_base : 0;
}

/* In an interrupt, what it interrupted may be on another shadow call stack. */
static inline bool scs_trace_peek_current(const unsigned long *top, struct scs_trace_span *span,
					  bool *whole)
{
	span->top = top;
	span->base = shim_self()->scs_base;
	*whole = shim_self()->scs_whole;
	return top;
}

#define scs_trace_caller_pc()	0UL
#define scs_trace_caller_fp()	0UL

/* No thread is without a shadow call stack because the machine has none. */
static inline bool scs_trace_always_walks(void)
{
	return false;
}

static inline bool scs_trace_walks(void)
{
	return false;
}

static inline int scs_trace_walk(unsigned long pc, unsigned long fp, unsigned long *store,
				 unsigned int size, unsigned int skipnr)
{
	return -1;
}

#endif /* SHIM_LINUX_SCS_TRACE_H */
