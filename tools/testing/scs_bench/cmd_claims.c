// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "claims": what was claimed in public of stack traces, against what is measured.
 *
 * The first claim (2022, with patches that took traces from the shadow call stack): the boot is
 * 30 % faster in every KASAN mode. QEMU on an x86-64 host, one CPU, 2 GiB, no root file system,
 * panic=-1, perf stat -r 5 around QEMU.
 *
 * The second (the answer to it): without saving any traces the most to be had is 6 % of a run of
 * the virtual machine, or 13 % when a run without KASAN is subtracted. A defconfig kernel with the
 * shadow call stack and KASAN, KVM on a server, init=/sbin/reboot -- -f, perf stat --null.
 *
 * Both are measured by the wall clock, as they were, and by exact instruction counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cmd_claims.h"
#include "results.h"

#define FIRST_CLAIM	0.30
#define SECOND_WHOLE	0.06
#define SECOND_LESS	0.13
/* The claims are in whole per cent: up to half of one more is the same. */
#define ROUNDING	0.005

/* Further kinds of run: with an init that ends at once. */
#define RUN_INIT	"init"
#define RUN_INIT_AGAIN	"init-again"
#define FIGURE_INIT	"wall time of a run, init ends at once"

/**
 * struct claims - what is asked for
 * @session: the session
 * @modes: KASAN modes
 * @no_wall: leave the wall time out
 */
struct claims {
	struct session session;
	struct strv modes;
	bool no_wall;
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench claims [options]\n"
	      "\n"
	      "Runs the set-ups of both public claims about the cost of stack traces, as near to how they\n"
	      "were published as this machine allows, says where it deviates, and prints a verdict on each\n"
	      "claim: what was claimed, what was measured, with its interval.\n"
	      "\n"
	      "  --modes LIST     KASAN modes, separated by commas (generic,sw_tags,hw_tags)\n"
	      "  --no-wall        leave the wall time out: instructions only\n"
	      "\n"
	      "Needs the images none-upstream (for hw_tags, hw_none-upstream), and upstream, null and\n"
	      "scs of each mode.\n"
	      "\n"
	      COMMON_HELP, out);
}

/**
 * claim_at_least - judge a claim that so much, or more, is saved
 * @share: what was measured, with its interval
 * @claimed: what was claimed
 *
 * Return: the verdict.
 */
enum claim_verdict claim_at_least(const struct estimate *share, double claimed)
{
	if (share->high < claimed - ROUNDING)
		return CLAIM_REFUTED;
	return share->low >= claimed - ROUNDING ? CLAIM_HOLDS : CLAIM_UNDECIDED;
}

/**
 * claim_at_most - judge a claim that not more than so much can be saved
 * @share: what was measured, with its interval
 * @claimed: what was claimed
 *
 * Return: the verdict.
 */
enum claim_verdict claim_at_most(const struct estimate *share, double claimed)
{
	if (share->low >= claimed + ROUNDING)
		return CLAIM_REFUTED;
	return share->high < claimed + ROUNDING ? CLAIM_HOLDS : CLAIM_UNDECIDED;
}

/* How much of the first is saved by the second: 1 - b / a. */
static double saved_share(const double *medians, const void *ctx)
{
	(void)ctx;
	return 1 - medians[1] / medians[0];
}

/* The same, of what is left of the first without the third: (a - b) / (a - c). */
static double saved_share_less(const double *medians, const void *ctx)
{
	(void)ctx;
	return medians[0] > medians[2] ?
	       (medians[0] - medians[1]) / (medians[0] - medians[2]) : NAN;
}

static const struct kernel *find_kernel(const struct session *s, const char *mode,
					const char *variant)
{
	char *name = xasprintf("%s/%s", mode, variant);
	const struct kernel *k = NULL;
	size_t i;

	for (i = 0; i < s->nkernels && !k; i++)
		if (!strcmp(s->kernels[i].name, name))
			k = &s->kernels[i];
	free(name);
	return k;
}

static bool is_upstream(const struct kernel *k)
{
	return !strcmp(k->subject, "upstream");
}

/* One without KASAN, which only the second claim has. */
static bool is_clean(const struct kernel *k)
{
	return !strcmp(k->group, "none") || !strcmp(k->group, "hw_none");
}

static int add_kernels(void *ctx)
{
	static const char * const variants[] = { "upstream", "null", "scs" };
	struct claims *c = ctx;
	size_t i, j;
	int ret = EXIT_OK;

	for (i = 0; !ret && i < c->modes.n; i++) {
		const char *mode = c->modes.v[i];

		if (!find_kernel(&c->session, CLEAN_OF(mode), "upstream"))
			ret = session_add(&c->session, CLEAN_OF(mode), "upstream", "");
		for (j = 0; !ret && j < ARRAY_SIZE(variants); j++)
			ret = session_add(&c->session, mode, variants[j], "");
	}
	return ret;
}

static void plan_init(struct session *s, size_t kernel, unsigned int nr)
{
	const struct kernel *k = &s->kernels[kernel];

	plan_add(&s->plan, 1 + nr, RUN_INIT, kernel, nr, "%s/" RUN_INIT "/%u", k->name, nr);
	if (nr && is_upstream(k))
		plan_add(&s->plan, 1 + nr, RUN_INIT_AGAIN, kernel, nr,
			 "%s/" RUN_INIT_AGAIN "/%u", k->name, nr);
}

static void make_plan(void *ctx)
{
	struct claims *c = ctx;
	struct session *s = &c->session;
	unsigned int nr;
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		boot_plan_exact(s, i);
		if (c->no_wall)
			continue;
		if (!is_clean(&s->kernels[i]))
			boot_plan_wall(s, i, is_upstream(&s->kernels[i]), 1);
		for (nr = 0; nr <= s->opts.runs; nr++)
			plan_init(s, i, nr);
	}
}

static int run_step(void *ctx, const struct plan_step *step, const char *log_path, json_t **record)
{
	static const struct boot_wall no_root = { NULL, "" };
	struct claims *c = ctx;
	struct session *s = &c->session;
	const struct kernel *k = &s->kernels[step->subject];
	const struct boot_wall init = { s->opts.initrd, " -- off" };

	if (!strcmp(step->kind, RUN_EXACT))
		return boot_exact_run(s, k, step->nr, log_path, record);
	return boot_wall_run(s, k, strncmp(step->kind, RUN_INIT, strlen(RUN_INIT)) ? &no_root :
			     &init, log_path, record);
}

static void add_init(const struct session *s, const struct kernel *k, json_t *results)
{
	struct figure f = { k->group, k->subject, FIGURE_INIT, "s", false, { 0 } };
	double *v = session_samples(s, k, RUN_INIT, "seconds", &f.samples);

	results_figure(results, &f);
	free(v);
	if (!is_upstream(k))
		return;
	v = session_samples(s, k, RUN_INIT_AGAIN, "seconds", &f.samples);
	results_noise(results, &f);
	free(v);
}

/* What @fn makes of a figure of several kernels; false if one of them does not have it. */
static bool measure(const json_t *results, const struct kernel * const *kernels, size_t n,
		    const char *name, stats_fn fn, struct estimate *est)
{
	struct samples sets[3];
	double *v[3], values[3];
	bool exact = false, ok;
	json_t *f;
	size_t i;

	for (i = 0; i < n; i++) {
		f = results_find(results, kernels[i]->group, kernels[i]->subject, name);
		if (!f)
			break;
		exact = json_is_true(json_object_get(f, "exact"));
		values[i] = results_value(f);
		v[i] = results_samples(f, &sets[i]);
	}
	ok = i == n;
	if (ok && exact) {
		est->value = fn(values, NULL);
		est->low = est->value;
		est->high = est->value;
	} else if (ok) {
		ok = stats_bootstrap(sets, n, fn, NULL,
				     json_integer_value(json_object_get(results, "seed")), est);
	}
	while (i--)
		free(v[i]);
	return ok;
}

/**
 * struct claim - a claim, and one way to measure it
 * @what: the claim
 * @by: how it is measured
 * @figure: the figure
 * @at_least: the claim is that so much or more is saved; otherwise, that not more can be
 * @claimed: how much
 * @variant: the kernel that saves it
 * @less_none: a run without KASAN is subtracted
 */
struct claim {
	const char *what;
	const char *by;
	const char *figure;
	bool at_least;
	double claimed;
	const char *variant;
	bool less_none;
};

static void judge(const struct claims *c, const struct claim *claim, const char *mode,
		  json_t *results)
{
	static const char * const words[] = {
		[CLAIM_HOLDS] = "holds", [CLAIM_REFUTED] = "refuted", [CLAIM_UNDECIDED] =
		"undecided: the interval is too wide for this machine; more --runs narrow it",
	};
	const struct session *s = &c->session;
	const struct kernel *kernels[] = {
		find_kernel(s, mode, "upstream"), find_kernel(s, mode, claim->variant),
		find_kernel(s, CLEAN_OF(mode), "upstream"),
	};
	enum claim_verdict verdict;
	struct estimate est;
	char *title, *interval;

	if (!measure(results, kernels, claim->less_none ? 3 : 2, claim->figure,
		     claim->less_none ? saved_share_less : saved_share, &est))
		return;
	verdict = claim->at_least ? claim_at_least(&est, claim->claimed) :
				    claim_at_most(&est, claim->claimed);
	title = xasprintf("%s, %s, %s", claim->what, mode, claim->by);
	if (isnan(est.value)) {
		results_verdict(results, title, words[CLAIM_UNDECIDED],
				"claimed: at most %.0f %%; a run without KASAN was not shorter, so nothing is left to compare with",
				100 * claim->claimed);
		free(title);
		return;
	}
	interval = est.low == est.high ? xstrdup("exact") :
		   xasprintf("95 %% interval %.1f..%.1f %%", 100 * est.low, 100 * est.high);
	results_verdict(results, title, words[verdict],
			"claimed: %s%.0f %%; measured: %.1f %% (%s)",
			claim->at_least ? "" : "at most ", 100 * claim->claimed, 100 * est.value,
			interval);
	free(interval);
	free(title);
}

static void judge_all(const struct claims *c, json_t *results)
{
	static const struct claim claims[] = {
		{ "1: boot is 30 % faster with the shadow call stack", "wall time", FIGURE_WALL,
		  true, FIRST_CLAIM, "scs", false },
		{ "1: boot is 30 % faster with the shadow call stack", "instructions", FIGURE_RESET,
		  true, FIRST_CLAIM, "scs", false },
		{ "2: without any traces, 6 % of a whole run", "wall time", FIGURE_INIT, false,
		  SECOND_WHOLE, "null", false },
		{ "2: without any traces, 6 % of a whole run", "instructions", FIGURE_RESET, false,
		  SECOND_WHOLE, "null", false },
		{ "2: the same, 13 % less a run without KASAN", "wall time", FIGURE_INIT, false,
		  SECOND_LESS, "null", true },
		{ "2: the same, 13 % less a run without KASAN", "instructions", FIGURE_RESET, false,
		  SECOND_LESS, "null", true },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(claims); i++)
		for (j = 0; j < c->modes.n; j++)
			judge(c, &claims[i], c->modes.v[j], results);
}

static void note_deviations(const struct session *s, json_t *results)
{
	results_note(results, "Deviations from what was published:");
	results_note(results,
		     "- both: the kernel is the small one of configs/ (a defconfig boots more drivers and saves more\n"
		     "  traces; --images takes others); QEMU is another version, with -nodefaults; and the runs are\n"
		     "  interleaved at random, %u of each, instead of one after the other.",
		     s->opts.runs);
	results_note(results,
		     "- the first: the kernel that is compared with is scs, not the patches of 2022.");
	if (s->kvm)
		results_note(results, "- the first: KVM instead of emulation (TCG).");
	else
		results_note(results,
			     "- the second: emulation (TCG) instead of KVM on a server; init powers off at once instead of\n"
			     "  calling reboot -f from a root file system.");
	results_note(results,
		     "Instructions count the guest alone, from reset to init; the wall time has QEMU's start and end in it.");
}

static json_t *make_results(void *ctx)
{
	struct claims *c = ctx;
	struct session *s = &c->session;
	json_t *results = session_results(s);
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		const struct kernel *k = &s->kernels[i];

		boot_add_exact(s, k, results);
		if (c->no_wall)
			continue;
		boot_add_wall(s, k, !is_clean(k) && is_upstream(k), results);
		add_init(s, k, results);
	}
	results_against(results, "upstream");
	judge_all(c, results);
	note_deviations(s, results);
	return results;
}

static int take_option(void *ctx, int opt, const char *arg)
{
	struct claims *c = ctx;

	if (opt == 'W') {
		c->no_wall = true;
	} else {
		strv_free(&c->modes);
		strv_split(&c->modes, arg, ",");
	}
	return EXIT_OK;
}

/**
 * cmd_claims - the subcommand "claims"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_claims(int argc, char **argv)
{
	static const struct option own[] = {
		{ "modes", required_argument, NULL, 'm' },
		{ "no-wall", no_argument, NULL, 'W' },
		{ 0 }
	};
	static const struct command command = { "claims", usage, own, NULL, take_option, NULL };
	struct experiment experiment = {
		add_kernels, NULL, make_plan, run_step, make_results, true,
	};
	struct claims c = { 0 };
	int ret;

	session_init(&c.session, "claims");
	strv_split(&c.modes, "generic,sw_tags,hw_tags", ",");
	ret = common_parse(&c.session.opts, &command, argc, argv, &c);
	if (!ret && !c.modes.n) {
		bench_err("--modes needs at least one; see scs_bench claims --help");
		ret = EXIT_UNUSABLE;
	}
	if (!ret) {
		common_finish(&c.session.opts, "claims");
		experiment.wall = !c.no_wall;
		ret = session_measure(&c.session, &experiment, &c);
	}
	strv_free(&c.modes);
	session_free(&c.session);
	return ret;
}
