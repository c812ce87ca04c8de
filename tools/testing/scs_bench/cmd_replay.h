/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "replay": plays recorded streams on the depots, on the host.
 */
#ifndef SCS_BENCH_CMD_REPLAY_H
#define SCS_BENCH_CMD_REPLAY_H

int cmd_replay(int argc, char **argv);

#endif /* SCS_BENCH_CMD_REPLAY_H */
