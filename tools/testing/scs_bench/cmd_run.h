/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "run": boots one kernel once and keeps its console log.
 */
#ifndef SCS_BENCH_CMD_RUN_H
#define SCS_BENCH_CMD_RUN_H

int cmd_run(int argc, char **argv);

#endif /* SCS_BENCH_CMD_RUN_H */
