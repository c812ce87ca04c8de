/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of a boot: counting instructions exactly and timing; other subcommands use them.
 */
#ifndef SCS_BENCH_BOOT_H
#define SCS_BENCH_BOOT_H

#include <jansson.h>
#include <stdbool.h>

#include "parse.h"
#include "session.h"

/* The instruction count is taken this often, and has to be the same each time. */
#define EXACT_RUNS 2

/* Kinds of run. */
#define RUN_EXACT	"exact"
#define RUN_CALLS	"calls"
#define RUN_INITCALLS	"initcalls"
#define RUN_WALL	"wall"		/* number 0 is the warm-up */
#define RUN_AGAIN	"again"		/* the same, of a kernel that is compared with itself */

/* Names of figures. */
#define FIGURE_RESET	"instructions, reset to init"
#define FIGURE_AFTER	"instructions, time_init() to init"
#define FIGURE_WALL	"wall time of a run"

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
 * struct boot_wall - what a wall run is
 * @initrd: the initramfs, or NULL for none: the kernel panics when it finds no root then
 * @append: kernel arguments beyond the kernel's own
 */
struct boot_wall {
	const char *initrd;
	const char *append;
};

bool boot_exact_from_log(const struct boot_log *log, struct exact *exact, double *resolution,
			 u64 *after_error);
int boot_exact_run(struct session *s, const struct kernel *k, unsigned int nr, const char *log_path,
		   json_t **record);
int boot_wall_run(struct session *s, const struct kernel *k, const struct boot_wall *wall,
		  const char *log_path, json_t **record);
void boot_plan_exact(struct session *s, size_t kernel);
void boot_plan_wall(struct session *s, size_t kernel, bool again, unsigned int first_block);
void boot_add_exact(const struct session *s, const struct kernel *k, json_t *results);
void boot_add_wall(const struct session *s, const struct kernel *k, bool again, json_t *results);

#endif /* SCS_BENCH_BOOT_H */
