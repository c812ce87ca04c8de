/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of samples: medians with intervals, whether two differ, and a seeded shuffle.
 */
#ifndef SCS_BENCH_STATS_H
#define SCS_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

/**
 * struct summary - samples in short
 * @n: how many there are
 * @median: the middle one
 * @min: the least
 * @max: the greatest
 * @q1: the lower quartile
 * @q3: the upper quartile
 */
struct summary {
	size_t n;
	double median;
	double min;
	double max;
	double q1;
	double q3;
};

/**
 * struct samples - measured values of one thing
 * @v: the values
 * @n: how many
 */
struct samples {
	const double *v;
	size_t n;
};

/**
 * struct estimate - a value and the 95 % interval that it lies in
 * @value: what is estimated, e.g. a median
 * @low: where the interval begins
 * @high: where it ends
 */
struct estimate {
	double value;
	double low;
	double high;
};

/**
 * enum verdict - what can be said about two kernels
 * @VERDICT_NOISE: the data do not show a difference
 * @VERDICT_DIFFERENCE: there is one
 */
enum verdict {
	VERDICT_NOISE,
	VERDICT_DIFFERENCE,
};

/**
 * struct comparison - two sets of samples against each other
 * @diff: difference of the medians, second minus first
 * @p: of the rank test: how likely ranks as different as these are without a difference
 * @verdict: what follows
 * @why: the reason when it is VERDICT_NOISE
 */
struct comparison {
	struct estimate diff;
	double p;
	enum verdict verdict;
	const char *why;
};

/* Below this, chance is not an explanation. */
#define STATS_ALPHA 0.01

/**
 * typedef stats_fn - something that is computed from the medians of several sets of samples
 * @medians: the medians
 * @ctx: the caller's
 *
 * Return: the value.
 */
typedef double (*stats_fn)(const double *medians, const void *ctx);

bool stats_bootstrap(const struct samples *sets, size_t nsets, stats_fn fn, const void *ctx,
		     u64 seed, struct estimate *est);
bool stats_median(const struct samples *s, u64 seed, struct estimate *est);
double stats_rank_test(const struct samples *a, const struct samples *b);
bool stats_compare(const struct samples *a, const struct samples *b, double noise, u64 seed,
		   struct comparison *cmp);
double stats_noise(const struct samples *a, const struct samples *b, u64 seed);
double stats_geometric_mean(const double *values, size_t n);
bool summarize(const double *samples, size_t n, struct summary *sum);
bool share_removed(u64 upstream, u64 null, u64 variant, double *share);
void shuffle(size_t *items, size_t n, u64 *seed);

#endif /* SCS_BENCH_STATS_H */
