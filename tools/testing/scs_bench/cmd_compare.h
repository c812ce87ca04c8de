/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "compare": two files of results, what changed, and whether it is real.
 */
#ifndef SCS_BENCH_CMD_COMPARE_H
#define SCS_BENCH_CMD_COMPARE_H

int cmd_compare(int argc, char **argv);

#endif /* SCS_BENCH_CMD_COMPARE_H */
