/* SPDX-License-Identifier: GPL-2.0 */
/* What the collector, its statistics and its tests share. */
#ifndef _KERNEL_SCS_TRACE_H
#define _KERNEL_SCS_TRACE_H

#include <linux/scs_trace.h>

int scs_trace_count_fallback(int err);
void scs_trace_sum(struct scs_trace_counters *sum);
void scs_trace_set_enabled(bool on);

#endif /* _KERNEL_SCS_TRACE_H */
