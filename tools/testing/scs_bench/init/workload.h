/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mode "workload" of scs_bench's init: system calls of many kinds, for the traces they make.
 */
#ifndef SCS_BENCH_WORKLOAD_H
#define SCS_BENCH_WORKLOAD_H

#define WORKLOAD_EXEC	"workload-exec"

void run_workload(void);

#endif /* SCS_BENCH_WORKLOAD_H */
