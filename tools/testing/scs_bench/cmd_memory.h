/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "memory": what debugging costs in memory, at rest and as slabs grow.
 */
#ifndef SCS_BENCH_CMD_MEMORY_H
#define SCS_BENCH_CMD_MEMORY_H

#include <jansson.h>

json_t *memory_parse(const char *log, char **error);
int cmd_memory(int argc, char **argv);

#endif /* SCS_BENCH_CMD_MEMORY_H */
