/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "boot": what it is asked for, and what it measures.
 */
#ifndef SCS_BENCH_BOOT_H
#define SCS_BENCH_BOOT_H

#include <stdbool.h>
#include <time.h>

#include "parse.h"
#include "stats.h"
#include "util.h"

/* The instruction count is taken this often, and has to be the same each time. */
#define EXACT_RUNS 2

/**
 * struct boot_options - what "boot" is asked for
 * @images: directory with <mode>-<variant>/
 * @mode: KASAN mode
 * @kver: kernel version line, or NULL for whatever the images are
 * @variants: the variants
 * @count: kernel functions whose calls are counted; the first is the one that saves a trace
 * @qemu: the program
 * @initrd: the initramfs
 * @output: the JSON file
 * @mem: guest memory
 * @append: kernel arguments beyond our own
 * @runs: wall samples of each variant
 * @timeout: seconds that one run of QEMU may take
 * @seed: for the order of the wall runs
 * @no_wall: leave the wall runs out
 * @no_perf: use our own clock around QEMU
 */
struct boot_options {
	const char *images;
	const char *mode;
	const char *kver;
	struct strv variants;
	struct strv count;
	const char *qemu;
	const char *initrd;
	const char *output;
	const char *mem;
	const char *append;
	unsigned int runs;
	double timeout;
	u64 seed;
	bool no_wall;
	bool no_perf;
};

/**
 * struct exact - one instruction-counting run
 * @reset: instructions from reset to init's first
 * @after: of these, after time_init()
 */
struct exact {
	u64 reset;
	u64 after;
};

/**
 * struct variant - a kernel and what was measured of it
 * @name: its name
 * @image: the kernel image
 * @system_map: its symbols
 * @kernel_args: its whole command line
 * @version: kernel version, from its own log
 * @compiler: compiler and linker, from its own log
 * @log: console log of the first exact run
 * @exact: the exact runs
 * @resolution: instructions that one tick of the counter stands for
 * @after_error: how many instructions @exact.after can be too high
 * @calls: counted functions
 * @wall: wall samples in seconds, in the order in which they were taken
 * @nwall: how many
 * @warmup: the sample that is not counted
 * @argv_exact: command line of the exact runs
 * @argv_calls: command line of the run that counts calls
 * @argv_wall: command line of the wall runs
 */
struct variant {
	const char *name;
	char *image;
	char *system_map;
	char *kernel_args;
	char *version;
	char *compiler;
	struct boot_log log;
	struct exact exact[EXACT_RUNS];
	double resolution;
	u64 after_error;
	struct call_count *calls;
	double *wall;
	size_t nwall;
	double warmup;
	struct strv argv_exact;
	struct strv argv_calls;
	struct strv argv_wall;
};

/**
 * struct boot_result - all that "boot" found out
 * @opts: what it was asked for
 * @variants: the variants
 * @nvariants: how many
 * @qemu_version: what QEMU says of itself
 * @wall_method: what the wall time was taken with
 * @started: when the first run began
 */
struct boot_result {
	const struct boot_options *opts;
	struct variant *variants;
	size_t nvariants;
	char *qemu_version;
	const char *wall_method;
	time_t started;
};

int boot_parse_args(int argc, char **argv, struct boot_options *opts);
void boot_free_options(struct boot_options *opts);
bool boot_exact_from_log(const struct boot_log *log, struct exact *exact, double *resolution,
			 u64 *after_error);
int cmd_boot(int argc, char **argv);

#endif /* SCS_BENCH_BOOT_H */
