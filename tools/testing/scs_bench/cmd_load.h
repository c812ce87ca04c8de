/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "load": what programs of a real userland take with and without debugging.
 */
#ifndef SCS_BENCH_CMD_LOAD_H
#define SCS_BENCH_CMD_LOAD_H

#include <jansson.h>

json_t *load_parse(const char *log, char **error);
int cmd_load(int argc, char **argv);

#endif /* SCS_BENCH_CMD_LOAD_H */
