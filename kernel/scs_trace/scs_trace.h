/* SPDX-License-Identifier: GPL-2.0 */
/* What the collector, its statistics and its tests share. */
#ifndef _KERNEL_SCS_TRACE_H
#define _KERNEL_SCS_TRACE_H

#include <linux/scs_trace.h>

/*
 * The return address of the function that this is used in, and the frame pointer
 * of the function that it lies in.
 */
#define scs_trace_caller_pc()	((unsigned long)__builtin_return_address(0))
#define scs_trace_caller_fp()	(*(unsigned long *)__builtin_frame_address(0))

int scs_trace_fall_back(int err, unsigned long pc, unsigned long fp,
			unsigned long *store, unsigned int size,
			unsigned int skipnr);
int scs_trace_fall_back_regs(int err, const struct pt_regs *regs,
			     unsigned long *store, unsigned int size,
			     unsigned int skipnr);
int scs_trace_count_fallback(int err);
void scs_trace_sum(struct scs_trace_counters *sum);
void scs_trace_set_enabled(bool on);

#endif /* _KERNEL_SCS_TRACE_H */
