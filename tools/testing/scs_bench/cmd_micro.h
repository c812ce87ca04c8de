/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "micro": what one stack trace costs, measured inside the kernel.
 */
#ifndef SCS_BENCH_CMD_MICRO_H
#define SCS_BENCH_CMD_MICRO_H

#include <jansson.h>

#include "util.h"

json_t *micro_parse(const char *log, char **error);
bool micro_cost(const json_t *record, const char *op, unsigned int depth, const char *unit,
		double *cost);
int cmd_micro(int argc, char **argv);

#endif /* SCS_BENCH_CMD_MICRO_H */
