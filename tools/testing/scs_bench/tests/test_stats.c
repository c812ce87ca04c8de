// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the statistics and of the arithmetic on instruction counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cmd_claims.h"
#include "stats.h"
#include "test.h"

static void test_summary_odd(void **state)
{
	const double samples[] = { 5, 1, 4, 2, 3 };
	struct summary sum;

	(void)state;
	assert_true(summarize(samples, 5, &sum));
	assert_int_equal(sum.n, 5);
	assert_float_equal(sum.median, 3, 0);
	assert_float_equal(sum.min, 1, 0);
	assert_float_equal(sum.max, 5, 0);
	assert_float_equal(sum.q1, 2, 0);
	assert_float_equal(sum.q3, 4, 0);
	/* the samples stay in the order in which they were taken */
	assert_float_equal(samples[0], 5, 0);
}

static void test_summary_even(void **state)
{
	const double samples[] = { 4, 1, 3, 2 };
	struct summary sum;

	(void)state;
	assert_true(summarize(samples, 4, &sum));
	assert_float_equal(sum.median, 2.5, 0);
	assert_float_equal(sum.q1, 1.75, 0);
	assert_float_equal(sum.q3, 3.25, 0);
}

static void test_summary_one_and_none(void **state)
{
	const double sample = 7;
	struct summary sum;

	(void)state;
	assert_true(summarize(&sample, 1, &sum));
	assert_float_equal(sum.median, 7, 0);
	assert_float_equal(sum.q1, 7, 0);
	assert_float_equal(sum.q3, 7, 0);
	assert_false(summarize(&sample, 0, &sum));
	assert_int_equal(sum.n, 0);
}

/* Against the table of Mann and Whitney, and with ties by hand. */
static void test_rank_test(void **state)
{
	const double low[] = { 1, 2, 3, 4, 5 }, high[] = { 6, 7, 8, 9, 10 };
	const double mixed[] = { 1.5, 2.5, 3.5, 4.5, 5.5 }, ties[] = { 1, 1, 1, 2, 2, 2, 3 };
	const struct samples a = { low, 5 }, b = { high, 5 }, m = { mixed, 5 };
	const struct samples t = { ties, 7 }, none = { NULL, 0 };

	(void)state;
	assert_float_equal(stats_rank_test(&a, &b), 2.0 / 252, 0.000000000001);
	assert_float_equal(stats_rank_test(&b, &a), 2.0 / 252, 0.000000000001);
	assert_float_equal(stats_rank_test(&a, &m), 0.6904762, 0.000001);
	assert_float_equal(stats_rank_test(&t, &t), 1, 0);
	/* U = 26.5, mean 17.5, variance 35 / 12 * (13 - 126 / 132), z = 8.5 / 5.927 */
	assert_float_equal(stats_rank_test(&a, &t), 0.1516, 0.0001);
	assert_float_equal(stats_rank_test(&a, &none), 1, 0);
}

static void test_median_interval(void **state)
{
	double values[101];
	struct samples s = { values, 101 };
	struct estimate est, same;
	int i;

	(void)state;
	for (i = 0; i < 101; i++)
		values[i] = i * 37 % 101;
	assert_true(stats_median(&s, 3, &est));
	assert_float_equal(est.value, 50, 0);
	/* By order statistics the interval is 40..60. */
	assert_in_range((int)est.low, 36, 44);
	assert_in_range((int)est.high, 56, 64);
	assert_true(stats_median(&s, 3, &same));
	assert_memory_equal(&est, &same, sizeof(est));
	/* samples are not changed */
	assert_float_equal(values[1], 37, 0);
	s.n = 0;
	assert_false(stats_median(&s, 3, &est));
}

/* No value when the divisor is not above 0. */
static double ratio(const double *medians, const void *ctx)
{
	(void)ctx;
	return medians[1] > 0 ? medians[0] / medians[1] : NAN;
}

static void test_unbounded(void **state)
{
	const double a[] = { 1, 2, 3 }, sure[] = { 1, 2, 3 }, may_be[] = { -1, 1, 2 };
	struct samples sets[] = { { a, 3 }, { sure, 3 } };
	struct estimate est;

	(void)state;
	assert_true(stats_bootstrap(sets, 2, ratio, NULL, 1, &est));
	assert_float_equal(est.value, 1, 0);
	assert_true(isfinite(est.low) && isfinite(est.high));
	sets[1].v = may_be;
	assert_true(stats_bootstrap(sets, 2, ratio, NULL, 1, &est));
	assert_float_equal(est.value, 2, 0);
	assert_true(isinf(est.low) && isinf(est.high));
	/* then no claim is decided */
	assert_int_equal(claim_at_most(&est, 0.1), CLAIM_UNDECIDED);
	assert_int_equal(claim_at_least(&est, 0.1), CLAIM_UNDECIDED);
}

static void test_compare(void **state)
{
	const double slow[] = { 2.50, 2.51, 2.49, 2.52, 2.48 };
	const double fast[] = { 2.2, 2.3, 2.1, 2.25, 2.15 };
	const struct samples a = { slow, 5 }, b = { fast, 5 };
	const struct samples few = { slow, 3 }, none = { slow, 0 };
	struct comparison cmp;

	(void)state;
	assert_true(stats_compare(&a, &b, 0.05, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_DIFFERENCE);
	assert_float_equal(cmp.diff.value, -0.3, 0.000000001);
	assert_true(cmp.diff.low <= -0.3 && cmp.diff.high >= -0.3 && cmp.diff.high < 0);
	assert_null(cmp.why);
	/* the same data, on a machine that is as far from itself */
	assert_true(stats_compare(&a, &b, 0.35, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_NOISE);
	assert_non_null(strstr(cmp.why, "from itself"));
	/* or on one that nobody knows */
	assert_true(stats_compare(&a, &b, NAN, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_NOISE);
	assert_non_null(strstr(cmp.why, "not measured"));
	/* three runs can show nothing, however far apart */
	assert_true(stats_compare(&few, &b, 0, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_NOISE);
	assert_non_null(strstr(cmp.why, "too few"));
	assert_true(stats_compare(&a, &a, 0, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_NOISE);
	assert_false(stats_compare(&a, &none, 0, 1, &cmp));
	assert_int_equal(cmp.verdict, VERDICT_NOISE);
}

/* Of 400 comparisons of a thing with itself, no more are "differences" than the level allows. */
static void test_false_alarms(void **state)
{
	double x[10], y[10];
	const struct samples a = { x, 10 }, b = { y, 10 };
	unsigned int seed = 1, alarms = 0;
	struct comparison cmp;
	int i, round;

	(void)state;
	for (round = 0; round < 400; round++) {
		for (i = 0; i < 10; i++) {
			x[i] = rand_r(&seed) % 100000;
			y[i] = rand_r(&seed) % 100000;
		}
		stats_compare(&a, &b, 0, 1, &cmp);
		alarms += cmp.verdict == VERDICT_DIFFERENCE;
	}
	assert_in_range(alarms, 0, 10);
}

static void test_claims(void **state)
{
	const struct estimate below = { 0.06, 0.05, 0.07 }, above = { 0.4, 0.35, 0.45 };
	const struct estimate wide = { 0.2, -0.1, 0.5 }, rounded = { 0.064, 0.064, 0.064 };

	(void)state;
	assert_int_equal(claim_at_least(&below, 0.3), CLAIM_REFUTED);
	assert_int_equal(claim_at_least(&above, 0.3), CLAIM_HOLDS);
	assert_int_equal(claim_at_least(&wide, 0.3), CLAIM_UNDECIDED);
	assert_int_equal(claim_at_most(&above, 0.3), CLAIM_REFUTED);
	assert_int_equal(claim_at_most(&below, 0.3), CLAIM_HOLDS);
	assert_int_equal(claim_at_most(&wide, 0.3), CLAIM_UNDECIDED);
	/* 6.4 % is 6 % in whole per cent */
	assert_int_equal(claim_at_most(&rounded, 0.06), CLAIM_HOLDS);
	assert_int_equal(claim_at_most(&rounded, 0.05), CLAIM_REFUTED);
}

static void test_geometric_mean(void **state)
{
	const double ratios[] = { 0.5, 2, 4, 0.25 }, one[] = { 3 };

	(void)state;
	assert_float_equal(stats_geometric_mean(ratios, 4), 1, 0.000000000001);
	assert_float_equal(stats_geometric_mean(one, 1), 3, 0.000000000001);
}

static void test_share(void **state)
{
	double share = -1;

	(void)state;
	assert_true(share_removed(734345837, 686601171, 711803773, &share));
	assert_float_equal(share, 0.47214, 0.00001);
	/* over 100 %, and worse than upstream */
	assert_true(share_removed(100, 50, 40, &share));
	assert_float_equal(share, 1.2, 0.000000000001);
	assert_true(share_removed(100, 50, 110, &share));
	assert_float_equal(share, -0.2, 0.000000000001);
	assert_false(share_removed(100, 100, 90, &share));
	assert_false(share_removed(100, 101, 90, &share));
}

static void test_shuffle(void **state)
{
	size_t a[8], b[8], i, seen = 0, moved = 0;
	u64 seed_a = 1, seed_b = 1;
	int round;

	(void)state;
	for (i = 0; i < 8; i++)
		a[i] = i;
	memcpy(b, a, sizeof(b));
	for (round = 0; round < 5; round++) {
		shuffle(a, 8, &seed_a);
		shuffle(b, 8, &seed_b);
		assert_memory_equal(a, b, sizeof(a));
		for (i = 0; i < 8; i++)
			moved += a[i] != i;
	}
	for (i = 0; i < 8; i++)
		seen |= 1 << a[i];
	assert_int_equal(seen, 0xff);
	assert_true(moved > 0);
	shuffle(a, 0, &seed_a);
}

static struct boot_log good_log(void)
{
	return (struct boot_log) {
		.entry = 0x2107f8,
		.cntvct = 734721954,
		.cntfrq = 1000000000,
		.kmsg_before = 734785467,
		.kmsg_after = 734805332,
		.kmsg_us = 275842,
		.done = true,
	};
}

static void test_exact(void **state)
{
	struct boot_log log = good_log();
	struct exact exact;
	double resolution;
	u64 error;

	(void)state;
	assert_true(boot_exact_from_log(&log, &exact, &resolution, &error));
	assert_int_equal(exact.reset, 734721954);
	assert_int_equal(exact.after, 275842000 - (734785467 - 734721954));
	assert_int_equal(error, 734805332 - 734785467);
	assert_float_equal(resolution, 1, 0);

	/* a counter of 62.5 MHz, as QEMU had before version 10 */
	log.cntfrq = 62500000;
	log.cntvct = 45866004;
	log.kmsg_before = 45866104;
	log.kmsg_after = 45867104;
	assert_true(boot_exact_from_log(&log, &exact, &resolution, &error));
	assert_int_equal(exact.reset, 733856064);
	assert_int_equal(exact.after, 275842000 - 1600);
	assert_int_equal(error, 16000);
	assert_float_equal(resolution, 16, 0);
}

static void test_exact_incomplete(void **state)
{
	struct boot_log log;
	struct exact exact;
	double resolution;
	u64 error;

	(void)state;
	log = good_log();
	log.done = false;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
	log = good_log();
	log.cntfrq = 0;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
	log = good_log();
	log.kmsg_us = 0;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
	log = good_log();
	log.entry = 0;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
	/* a clock that runs backwards, or started before reset */
	log = good_log();
	log.kmsg_before = log.cntvct - 1;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
	log = good_log();
	log.kmsg_us = 900000;
	assert_false(boot_exact_from_log(&log, &exact, &resolution, &error));
}

/**
 * run_stats_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_stats_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_odd),
		cmocka_unit_test(test_summary_even),
		cmocka_unit_test(test_summary_one_and_none),
		cmocka_unit_test(test_rank_test),
		cmocka_unit_test(test_median_interval),
		cmocka_unit_test(test_unbounded),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_geometric_mean),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_exact_incomplete),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
