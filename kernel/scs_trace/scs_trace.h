/* SPDX-License-Identifier: GPL-2.0 */
/* What the collector, its statistics and its tests share. */
#ifndef _KERNEL_SCS_TRACE_H
#define _KERNEL_SCS_TRACE_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/percpu-defs.h>

/*
 * Why a trace was not taken from the shadow call stack. The errno that each one
 * is reported as, and its name in the statistics, are in stats.c.
 */
enum scs_trace_reason {
	SCS_TRACE_OFF,		/* switched off by parameter or debugfs */
	SCS_TRACE_NO_SCS,	/* dynamic SCS: not in use on this CPU, or not yet */
	SCS_TRACE_HOOKED,	/* a tracer has replaced return addresses */
	SCS_TRACE_UNKNOWN_STACK,	/* x18 points into no known shadow stack */
	SCS_TRACE_CORRUPTED,	/* the end marker was overwritten */
	SCS_TRACE_RUNNING,	/* another task, and it runs or has run meanwhile */
	SCS_TRACE_NO_STACK,	/* another task, without a shadow stack */
	SCS_TRACE_FOREIGN_REGS,	/* registers that no live exception saved */
	SCS_TRACE_NR_REASONS,
};

/**
 * struct scs_trace_counters - one CPU's share of the statistics
 * @traces: traces taken from a shadow call stack
 * @frames: entries handed out in them
 * @fallbacks: traces refused, by &enum scs_trace_reason
 *
 * Updated atomically and without a barrier: the sums are exact
 * in every context including NMI, and a task that migrates between finding its
 * CPU's counters and adding to them merely adds to another CPU's.
 */
struct scs_trace_counters {
	atomic64_t traces;
	atomic64_t frames;
	atomic64_t fallbacks[SCS_TRACE_NR_REASONS];
};

DECLARE_PER_CPU(struct scs_trace_counters, scs_trace_counters);
DECLARE_STATIC_KEY_TRUE(scs_trace_enabled);

int scs_trace_count_fallback(int err);
void scs_trace_sum(struct scs_trace_counters *sum);
void scs_trace_set_enabled(bool on);

#endif /* _KERNEL_SCS_TRACE_H */
