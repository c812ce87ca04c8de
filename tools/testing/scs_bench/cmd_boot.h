/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "boot": boots variants of a kernel and measures what their stack traces cost.
 */
#ifndef SCS_BENCH_CMD_BOOT_H
#define SCS_BENCH_CMD_BOOT_H

#include <stdbool.h>

#include "session.h"
#include "util.h"

/**
 * struct boot_options - what "boot" is asked for
 * @session: where the common options go
 * @modes: KASAN modes
 * @variants: the variants; the first is what the others are compared with
 * @images: images of the user's, as NAME=PATH
 * @args: sets of kernel arguments; each is a group
 * @append: kernel arguments of all
 * @count: kernel functions whose calls are counted; the first is the one that saves a trace
 * @top: how many initcalls are shown; 0 to look at none
 * @no_wall: leave the wall time out
 */
struct boot_options {
	struct session session;
	struct strv modes;
	struct strv variants;
	struct strv images;
	struct strv args;
	char *append;
	struct strv count;
	unsigned int top;
	bool no_wall;
};

int boot_parse_args(int argc, char **argv, struct boot_options *opts);
void boot_free_options(struct boot_options *opts);
int cmd_boot(int argc, char **argv);

#endif /* SCS_BENCH_CMD_BOOT_H */
