/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "record": boots a kernel that records what its stack depot is asked for.
 */
#ifndef SCS_BENCH_CMD_RECORD_H
#define SCS_BENCH_CMD_RECORD_H

#include "stream.h"

int record_parse(const char *ram, unsigned long long address, struct stream *s);
int cmd_record(int argc, char **argv);

#endif /* SCS_BENCH_CMD_RECORD_H */
