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

static inline bool scs_trace_peek(struct scs_trace_span *span)
{
	span->top = shim_self()->scs_top;
	span->base = shim_self()->scs_base;
	return span->top;
}

#endif /* SHIM_LINUX_SCS_TRACE_H */
