/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "selftest": does every method find a cost that is known?
 */
#ifndef SCS_BENCH_CMD_SELFTEST_H
#define SCS_BENCH_CMD_SELFTEST_H

#include <stdbool.h>

#include "util.h"

/**
 * struct cost_log - what a kernel with CONFIG_SCS_BENCH_COST says
 * @cost: instructions that each save costs more
 * @early: saves before interrupts are enabled
 * @counter: the counter at the last of these, before its cost
 * @all: saves until all built-in drivers are up
 */
struct cost_log {
	u64 cost;
	u64 early;
	u64 counter;
	u64 all;
};

bool cost_log_parse(const char *log, struct cost_log *out);
int cmd_selftest(int argc, char **argv);

#endif /* SCS_BENCH_CMD_SELFTEST_H */
