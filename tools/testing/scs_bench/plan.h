/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of an experiment: which runs, in which interleaved random order, and going through it.
 */
#ifndef SCS_BENCH_PLAN_H
#define SCS_BENCH_PLAN_H

#include <jansson.h>
#include <stddef.h>

#include "store.h"
#include "util.h"

/**
 * struct plan_step - one run
 * @key: its name, unique in the plan, and that of its log
 * @kind: what kind of run, e.g. "wall": those of a kind take about the same time
 * @block: runs of one block are in random order; blocks follow each other
 * @subject: which of the caller's kernels
 * @nr: the caller's number
 */
struct plan_step {
	char *key;
	const char *kind;
	unsigned int block;
	size_t subject;
	unsigned int nr;
};

/**
 * struct plan - the runs
 * @v: the runs
 * @n: how many
 */
struct plan {
	struct plan_step *v;
	size_t n;
};

/**
 * typedef plan_run_fn - do one run
 * @ctx: the caller's
 * @step: which
 * @log: path for its log
 * @record: its results, a new object, if it was good
 *
 * Return: EXIT_OK, or another exit code after an error was told.
 */
typedef int (*plan_run_fn)(void *ctx, const struct plan_step *step, const char *log,
			   json_t **record);

__printf(6, 7)
void plan_add(struct plan *p, unsigned int block, const char *kind, size_t subject,
	      unsigned int nr, const char *fmt, ...);
void plan_shuffle(struct plan *p, u64 seed);
int plan_execute(const struct plan *p, struct store *s, plan_run_fn run, void *ctx);
void plan_free(struct plan *p);

#endif /* SCS_BENCH_PLAN_H */
