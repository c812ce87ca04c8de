/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mode "memory" of scs_bench's init: how much memory is in use, at rest and while slabs grow.
 */
#ifndef SCS_BENCH_MEMORY_H
#define SCS_BENCH_MEMORY_H

void run_memory(void);

#endif /* SCS_BENCH_MEMORY_H */
