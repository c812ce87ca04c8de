/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order statistics of samples, the share of a cost that was removed, and a seeded shuffle.
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

bool summarize(const double *samples, size_t n, struct summary *sum);
bool share_removed(u64 upstream, u64 null, u64 variant, double *share);
void shuffle(size_t *items, size_t n, u64 *seed);

#endif /* SCS_BENCH_STATS_H */
