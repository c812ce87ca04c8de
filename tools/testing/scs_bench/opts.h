/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that subcommands have in common, with their defaults.
 */
#ifndef SCS_BENCH_OPTS_H
#define SCS_BENCH_OPTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "util.h"

/**
 * struct common_opts - their values
 * @out: the store of finished runs
 * @json: the file of the results, "-" for stdout
 * @resume: go on with @out
 * @images: directory of the images
 * @qemu: the program
 * @initrd: the initramfs
 * @kver: kernel version line
 * @mem: guest memory
 * @timeout: seconds that one run of QEMU may take
 * @runs: samples of each noisy measure
 * @seed: for the order of the runs and for bootstrapping
 * @no_perf: use our own clock around QEMU
 */
struct common_opts {
	char *out;
	char *json;
	bool resume;
	char *images;
	char *qemu;
	char *initrd;
	char *kver;
	char *mem;
	double timeout;
	unsigned int runs;
	u64 seed;
	bool no_perf;
};

/* Above all characters, which are left to the subcommands. Those with a text come first. */
enum common_option {
	OPT_OUT = 256,
	OPT_JSON,
	OPT_IMAGES,
	OPT_QEMU,
	OPT_INITRD,
	OPT_KVER,
	OPT_MEM,
	OPT_RESUME,
	OPT_TIMEOUT,
	OPT_RUNS,
	OPT_SEED,
	OPT_NO_PERF,
	OPT_HELP,
};

/* What parsing returns when only help was asked for. */
#define PARSED_HELP	(-1)

/**
 * struct command - how the arguments of a subcommand are read
 * @name: the subcommand
 * @usage: prints its help
 * @own: its own options, ending in an empty one
 * @shared: the same for those that it shares with some others, or NULL
 * @take: takes one of them, as getopt_long() found it: EXIT_OK, or EXIT_UNUSABLE after an error
 *	was told
 * @words: where arguments that are no options go; NULL if there must be none
 */
struct command {
	const char *name;
	void (*usage)(FILE *out);
	const struct option *own;
	const struct option *shared;
	int (*take)(void *ctx, int opt, const char *arg);
	struct strv *words;
};

/* For a subcommand's usage(). */
#define COMMON_HELP \
	"  --out FILE       the finished runs, one a line; on disk before the next starts\n" \
	"                   (build/bench/COMMAND.runs; logs go to FILE.logs)\n" \
	"  --resume         go on with what --out has, after an interruption\n" \
	"  --json FILE      the results (build/bench/COMMAND.json; - for the terminal)\n" \
	"  --images DIR     directory of the images (build/images/KVER)\n" \
	"  --kver VERSION   kernel version line; images of another are refused (6.12)\n" \
	"  --qemu PATH      qemu-system-aarch64, 10.0 or newer (the one in build/tools)\n" \
	"  --initrd FILE    initramfs with the init of scs_bench (build/initramfs/KVER)\n" \
	"  --mem SIZE       guest memory (2G)\n" \
	"  --runs N         samples of each noisy measure (10)\n" \
	"  --timeout S      seconds that one run of QEMU may take (300)\n" \
	"  --seed N         for the order of the runs and for intervals (random)\n" \
	"  --no-perf        take wall time with our own clock instead of perf stat\n" \
	"  --help           this text\n"

void common_init(struct common_opts *opts);
int common_parse(struct common_opts *opts, const struct command *cmd, int argc, char **argv,
		 void *ctx);
void common_finish(struct common_opts *opts, const char *command);
void common_free(struct common_opts *opts);
char *bench_build_dir(void);

#endif /* SCS_BENCH_OPTS_H */
