// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of samples: medians with intervals, whether two differ, and a seeded shuffle.
 *
 * Nothing here assumes that samples are normal: times of runs on a shared machine are skewed, and
 * have outliers. Intervals are bootstrapped; whether two sets differ is told by their ranks.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* Resamples: the ends of the interval are then good to about a hundredth of its width. */
#define RESAMPLES	10000
/* Up to so many samples in both sets the rank test is exact, where no two are equal. */
#define EXACT_RANKS	60

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
	gsl_sort(sorted, 1, n);
	sum->n = n;
	sum->min = sorted[0];
	sum->max = sorted[n - 1];
	sum->q1 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.25);
	sum->median = gsl_stats_median_from_sorted_data(sorted, 1, n);
	sum->q3 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.75);
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

static double median_of(double *values, size_t n)
{
	gsl_sort(values, 1, n);
	return gsl_stats_median_from_sorted_data(values, 1, n);
}

/**
 * stats_bootstrap - estimate something that depends on the medians of several sets of samples
 * @sets: the sets
 * @nsets: how many
 * @fn: computes it
 * @ctx: for @fn
 * @seed: the same one gives the same interval
 * @est: the result, with its 95 % interval (percentile bootstrap)
 *
 * Where @fn has no value for what the samples allow (a ratio whose divisor may be 0), anything is
 * possible: the interval has no ends then.
 *
 * Return: false when a set is empty.
 */
bool stats_bootstrap(const struct samples *sets, size_t nsets, stats_fn fn, const void *ctx,
		     u64 seed, struct estimate *est)
{
	double *medians, *values, *draw;
	size_t i, r, longest = 0;
	bool bounded = true;
	gsl_rng *rng;

	*est = (struct estimate){ 0 };
	for (i = 0; i < nsets; i++) {
		if (!sets[i].n)
			return false;
		if (sets[i].n > longest)
			longest = sets[i].n;
	}
	medians = xrealloc(NULL, nsets * sizeof(*medians));
	values = xrealloc(NULL, RESAMPLES * sizeof(*values));
	draw = xrealloc(NULL, longest * sizeof(*draw));
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, seed);

	for (r = 0; r < RESAMPLES; r++) {
		for (i = 0; i < nsets; i++) {
			gsl_ran_sample(rng, draw, sets[i].n, (void *)sets[i].v, sets[i].n,
				       sizeof(*draw));
			medians[i] = median_of(draw, sets[i].n);
		}
		values[r] = fn(medians, ctx);
		bounded &= isfinite(values[r]);
	}
	if (bounded) {
		gsl_sort(values, 1, RESAMPLES);
		est->low = gsl_stats_quantile_from_sorted_data(values, 1, RESAMPLES, 0.025);
		est->high = gsl_stats_quantile_from_sorted_data(values, 1, RESAMPLES, 0.975);
	} else {
		est->low = -INFINITY;
		est->high = INFINITY;
	}

	for (i = 0; i < nsets; i++) {
		memcpy(draw, sets[i].v, sets[i].n * sizeof(*draw));
		medians[i] = median_of(draw, sets[i].n);
	}
	est->value = fn(medians, ctx);
	gsl_rng_free(rng);
	free(draw);
	free(values);
	free(medians);
	return true;
}

static double first_median(const double *medians, const void *ctx)
{
	(void)ctx;
	return medians[0];
}

static double median_difference(const double *medians, const void *ctx)
{
	(void)ctx;
	return medians[1] - medians[0];
}

/**
 * stats_median - estimate a median
 * @s: the samples
 * @seed: the same one gives the same interval
 * @est: the result
 *
 * Return: false when there are no samples.
 */
bool stats_median(const struct samples *s, u64 seed, struct estimate *est)
{
	return stats_bootstrap(s, 1, first_median, NULL, seed, est);
}

/*
 * In how many of all arrangements of @na and @nb different values are there @u pairs at most in
 * which the value of the first is greater? As a share of all.
 */
static double exact_tail(size_t na, size_t nb, double u)
{
	size_t max = na * nb, i, j, k;
	/* ways[i][k]: of i values of the first among j of the second, with k pairs */
	double *ways = xrealloc(NULL, (na + 1) * (max + 1) * sizeof(*ways)), sum = 0, all = 0;
	double *next;

	memset(ways, 0, (na + 1) * (max + 1) * sizeof(*ways));
	for (i = 0; i <= na; i++)
		ways[i * (max + 1)] = 1;
	for (j = 1; j <= nb; j++) {
		/* The greatest of i + j values is of the first, and beats j, or of the second. */
		for (i = 1; i <= na; i++) {
			next = ways + i * (max + 1);
			for (k = j; k <= max; k++)
				next[k] += ways[(i - 1) * (max + 1) + k - j];
		}
	}
	for (k = 0; k <= max; k++) {
		all += ways[na * (max + 1) + k];
		if (k <= u)
			sum += ways[na * (max + 1) + k];
	}
	free(ways);
	return sum / all;
}

/**
 * stats_rank_test - how likely are ranks as different as these by chance? (Mann-Whitney)
 * @a: some samples
 * @b: others
 *
 * Exact for few samples that all differ, otherwise by the normal approximation with corrections
 * for ties and continuity.
 *
 * Return: the two-sided probability; 1 when a set is empty.
 */
double stats_rank_test(const struct samples *a, const struct samples *b)
{
	double u = 0, mean = a->n * b->n / 2.0, n = a->n + b->n, ties = 0, var, least, *all;
	size_t i, j, run;

	if (!a->n || !b->n)
		return 1;
	for (i = 0; i < a->n; i++)
		for (j = 0; j < b->n; j++)
			u += a->v[i] > b->v[j] ? 1 : a->v[i] == b->v[j] ? 0.5 : 0;
	all = xrealloc(NULL, n * sizeof(*all));
	memcpy(all, a->v, a->n * sizeof(*all));
	memcpy(all + a->n, b->v, b->n * sizeof(*all));
	gsl_sort(all, 1, n);
	for (i = 0; i < n; i += run) {
		for (run = 1; i + run < n && all[i + run] == all[i]; run++)
			;
		ties += (double)run * run * run - run;
	}
	free(all);

	least = fmin(u, a->n * b->n - u);
	if (ties == 0 && n <= EXACT_RANKS)
		return fmin(1, 2 * exact_tail(a->n, b->n, least));
	var = a->n * b->n / 12.0 * (n + 1 - ties / (n * (n - 1)));
	if (var <= 0)
		return 1;
	return fmin(1, 2 * gsl_cdf_ugaussian_P((least - mean + 0.5) / sqrt(var)));
}

/* The least probability that so many samples can give. */
static double best_p(size_t na, size_t nb)
{
	return na + nb <= EXACT_RANKS ? 2 * exact_tail(na, nb, 0) : 0;
}

/**
 * stats_compare - is there a difference between two sets of samples?
 * @a: the first
 * @b: the second
 * @noise: what the machine makes of no difference at all, see stats_noise(); NaN when that was
 *	not measured: then no difference can be claimed
 * @seed: the same one gives the same interval
 * @cmp: the result
 *
 * A difference is claimed only if chance, the interval and the machine's noise all speak for it.
 *
 * Return: false when a set is empty.
 */
bool stats_compare(const struct samples *a, const struct samples *b, double noise, u64 seed,
		   struct comparison *cmp)
{
	const struct samples sets[] = { *a, *b };

	*cmp = (struct comparison){ .p = 1, .verdict = VERDICT_NOISE, .why = "no samples" };
	if (!stats_bootstrap(sets, 2, median_difference, NULL, seed, &cmp->diff))
		return false;
	cmp->p = stats_rank_test(a, b);
	if (best_p(a->n, b->n) > STATS_ALPHA)
		cmp->why = "too few runs to show any difference: five of each are needed";
	else if (cmp->p > STATS_ALPHA)
		cmp->why = "chance can explain it";
	else if (cmp->diff.low <= 0 && cmp->diff.high >= 0)
		cmp->why = "the interval of the difference holds 0";
	else if (isnan(noise))
		cmp->why = "the machine's noise was not measured";
	else if (fabs(cmp->diff.value) <= noise)
		cmp->why = "a variant differs from itself by as much";
	else
		*cmp = (struct comparison){ cmp->diff, cmp->p, VERDICT_DIFFERENCE, NULL };
	return true;
}

/**
 * stats_noise - how large is a difference that is none?
 * @a: samples of a variant
 * @b: more of the same variant, taken in between
 * @seed: the same one gives the same result
 *
 * Return: how far from 0 the 95 % interval of their difference reaches; 0 without samples.
 */
double stats_noise(const struct samples *a, const struct samples *b, u64 seed)
{
	const struct samples sets[] = { *a, *b };
	struct estimate est;

	if (!stats_bootstrap(sets, 2, median_difference, NULL, seed, &est))
		return 0;
	return fmax(fabs(est.low), fabs(est.high));
}

/**
 * stats_geometric_mean - the mean of ratios
 * @values: ratios, all greater than 0
 * @n: how many
 *
 * Return: the mean; NaN without values.
 */
double stats_geometric_mean(const double *values, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += log(values[i]);
	return n ? exp(sum / n) : NAN;
}
