/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mode "load" of scs_bench's init: runs the programs that a root file system lists.
 */
#ifndef SCS_BENCH_JOBS_H
#define SCS_BENCH_JOBS_H

void run_jobs(char **names);

#endif /* SCS_BENCH_JOBS_H */
