// SPDX-License-Identifier: GPL-2.0
/*
 * Order statistics of samples, the share of a cost that was removed, and a seeded shuffle.
 */
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Linear interpolation between order statistics, as R and NumPy do by default. */
static double quantile(const double *sorted, size_t n, double p)
{
	double pos = p * (n - 1);
	size_t i = pos;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (pos - i) * (sorted[i + 1] - sorted[i]);
}

/**
 * summarize - reduce samples to their order statistics
 * @samples: the samples, in any order
 * @n: how many there are
 * @sum: the result
 *
 * Return: false when there are no samples; @sum is all zero then.
 */
bool summarize(const double *samples, size_t n, struct summary *sum)
{
	double *sorted;

	memset(sum, 0, sizeof(*sum));
	if (!n)
		return false;
	sorted = xrealloc(NULL, n * sizeof(*sorted));
	memcpy(sorted, samples, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	sum->n = n;
	sum->min = sorted[0];
	sum->max = sorted[n - 1];
	sum->q1 = quantile(sorted, n, 0.25);
	sum->median = quantile(sorted, n, 0.5);
	sum->q3 = quantile(sorted, n, 0.75);
	free(sorted);
	return true;
}

/**
 * share_removed - what part of the removable cost a variant removed
 * @upstream: what the unmodified kernel costs
 * @null: what a kernel without stack traces costs
 * @variant: what the variant costs
 * @share: the result, 1.0 for all of it
 *
 * Return: false when there is no removable cost (@upstream is not above @null).
 */
bool share_removed(u64 upstream, u64 null, u64 variant, double *share)
{
	if (upstream <= null)
		return false;
	*share = ((double)upstream - (double)variant) / ((double)upstream - (double)null);
	return true;
}

/* splitmix64: enough for an order of runs, and the same everywhere for one seed. */
static u64 next_random(u64 *seed)
{
	u64 z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * shuffle - put items into random order
 * @items: the items
 * @n: how many there are
 * @seed: state of the generator, advanced
 */
void shuffle(size_t *items, size_t n, u64 *seed)
{
	size_t i, j, tmp;

	for (i = n; i > 1; i--) {
		j = next_random(seed) % i;
		tmp = items[i - 1];
		items[i - 1] = items[j];
		items[j] = tmp;
	}
}
