// SPDX-License-Identifier: GPL-2.0
/*
 * The plan of an experiment: which runs, in which interleaved random order, and going through it.
 *
 * The order depends on nothing but the runs and the seed, so a plan that was interrupted is made
 * again and gone through again: what the store has is left out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "proc.h"
#include "stats.h"

/**
 * plan_add - plan one more run
 * @p: the plan
 * @block: its block
 * @kind: its kind
 * @subject: which of the caller's kernels
 * @nr: the caller's number
 * @fmt: as for printf(): its key
 */
void plan_add(struct plan *p, unsigned int block, const char *kind, size_t subject,
	      unsigned int nr, const char *fmt, ...)
{
	va_list ap;
	char *key;

	va_start(ap, fmt);
	key = xvasprintf(fmt, ap);
	va_end(ap);
	p->v = xrealloc(p->v, (p->n + 1) * sizeof(*p->v));
	p->v[p->n++] = (struct plan_step){ key, kind, block, subject, nr };
}

static int by_block(const void *a, const void *b)
{
	const struct plan_step *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	/* The order must not depend on how the C library sorts. */
	return strcmp(x->key, y->key);
}

/**
 * plan_shuffle - put the blocks in order, and the runs of each block into random order
 * @p: the plan
 * @seed: the same one gives the same order
 */
void plan_shuffle(struct plan *p, u64 seed)
{
	struct plan_step *old = xrealloc(NULL, (p->n + 1) * sizeof(*old));
	size_t *order = xrealloc(NULL, (p->n + 1) * sizeof(*order));
	size_t begin, end, i;

	qsort(p->v, p->n, sizeof(*p->v), by_block);
	memcpy(old, p->v, p->n * sizeof(*old));
	for (begin = 0; begin < p->n; begin = end) {
		for (end = begin; end < p->n && old[end].block == old[begin].block; end++)
			order[end - begin] = end;
		shuffle(order, end - begin, &seed);
		for (i = begin; i < end; i++)
			p->v[i] = old[order[i - begin]];
	}
	free(order);
	free(old);
}

/* What the runs from @from on will take, judged by those of their kind that the store has. */
static double time_left(const struct plan *p, const struct store *s, size_t from)
{
	double left = 0, all = 0, sum;
	size_t i, j, n, nall = 0;
	json_t *record;

	for (j = 0; j < p->n; j++) {
		record = store_find(s, p->v[j].key);
		if (record) {
			all += json_number_value(json_object_get(record, "took"));
			nall++;
		}
	}
	for (i = from; i < p->n; i++) {
		if (store_find(s, p->v[i].key))
			continue;
		sum = 0;
		n = 0;
		for (j = 0; j < p->n; j++) {
			record = store_find(s, p->v[j].key);
			if (!record || strcmp(p->v[j].kind, p->v[i].kind))
				continue;
			sum += json_number_value(json_object_get(record, "took"));
			n++;
		}
		left += n ? sum / n : nall ? all / nall : 0;
	}
	return left;
}

/**
 * plan_execute - do all runs that the store does not have yet
 * @p: the plan
 * @s: the store
 * @run: does one
 * @ctx: for @run
 *
 * The first run that fails ends it: what went wrong once may have spoilt what comes after.
 *
 * Return: EXIT_OK when the store has all runs; otherwise an exit code, after an error was told.
 */
int plan_execute(const struct plan *p, struct store *s, plan_run_fn run, void *ctx)
{
	size_t i, had = 0;
	double begin, took;
	int ret = EXIT_OK;

	for (i = 0; i < p->n; i++)
		had += !!store_find(s, p->v[i].key);
	if (had)
		fprintf(stderr, "%zu of %zu runs are in %s already\n", had, p->n, s->path);
	progress_start(p->n);
	for (i = 0; !ret && i < p->n; i++) {
		json_t *record = NULL;
		char *log;

		if (store_find(s, p->v[i].key)) {
			progress_skip();
			continue;
		}
		progress_left(time_left(p, s, i));
		progress_step("%s", p->v[i].key);
		if (proc_interrupted()) {
			bench_err("interrupted before the next run");
			ret = EXIT_INTERRUPTED;
			break;
		}
		log = store_log(s, p->v[i].key);
		begin = now_seconds();
		ret = run(ctx, &p->v[i], log, &record);
		took = now_seconds() - begin;
		if (!ret) {
			json_object_set_new(record, "took", json_real(took));
			ret = store_append(s, p->v[i].key, record);
		}
		free(log);
	}
	if (ret && store_disk_full(s))
		bench_err("the disk that %s is on is full: make room there first", s->path);
	if (ret)
		bench_err("%zu of %zu runs are finished and kept in %s; the same command with --resume does the rest",
			  json_object_size(s->runs), p->n, s->path);
	return ret;
}

/**
 * plan_free - free the runs
 * @p: the plan
 */
void plan_free(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->v[i].key);
	free(p->v);
	*p = (struct plan){ 0 };
}
