// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "selftest": does every method find a cost that is known?
 *
 * A kernel with CONFIG_SCS_BENCH_COST executes as many instructions more in each save of a trace as
 * it is told at boot. It is booted without that, with 2, with 1000, and with many more:
 *
 * - Until interrupts are enabled, a boot differs by nothing but the loop. There the count has to
 *   differ by the cost times the saves, to the last instruction.
 * - From reset to init, a longer boot has more timer interrupts, too, and they cost what they cost.
 * - The wall time has a resolution, which is the machine's noise, and is told.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cmd_selftest.h"
#include "results.h"

#define FIGURE_EARLY	"instructions, reset to the last save without interrupts"
/* How far the count of a whole boot may be off the loop's share, with its timer interrupts. */
#define BOOT_TOLERANCE	0.02

/**
 * struct selftest - what is asked for
 * @session: the session; its kernels are in the order of the costs
 * @mode: KASAN mode of the image
 * @costs: instructions a save; the first is 0, the last is the one that is timed
 * @no_wall: leave the wall time out
 * @missed: a method that has to find the cost did not
 */
struct selftest {
	struct session session;
	char *mode;
	unsigned int costs[4];
	bool no_wall;
	bool missed;
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench selftest [options]\n"
	      "\n"
	      "Boots a kernel in which each save of a trace costs a known number of instructions more\n"
	      "(VARIANT=cost), and shows whether each method finds it, and how finely.\n"
	      "\n"
	      "  --mode MODE      KASAN mode of the image (generic)\n"
	      "  --cost N         the most instructions a save that are injected; even (50000)\n"
	      "  --no-wall        leave the wall time out\n"
	      COMMON_HELP, out);
}

/**
 * cost_log_parse - read what a kernel with CONFIG_SCS_BENCH_COST says
 * @log: its console log
 * @out: the result
 *
 * Return: false if it does not say it.
 */
bool cost_log_parse(const char *log, struct cost_log *out)
{
	const char *p = strstr(log, "scs_bench_cost: cost ");

	return p && sscanf(p, "scs_bench_cost: cost %llu early %llu counter %llu all %llu",
			   &out->cost, &out->early, &out->counter, &out->all) == 4 &&
	       out->early > 1 && out->all >= out->early;
}

static int exact_run(struct selftest *t, const struct kernel *k, const struct plan_step *step,
		     const char *log_path, json_t **record)
{
	int ret = boot_exact_run(&t->session, k, step->nr, log_path, record);
	struct cost_log cost;
	char *log;

	if (ret)
		return ret;
	log = read_file(log_path, NULL);
	if (log && cost_log_parse(log, &cost) && cost.cost == t->costs[step->subject]) {
		json_object_set_new(*record, "early", json_integer(cost.early));
		json_object_set_new(*record, "counter", json_integer(cost.counter));
		json_object_set_new(*record, "all", json_integer(cost.all));
	} else {
		ret = fail_run(k, log_path, log, "the kernel does not say what a save costs",
			       "build it with 'make image VARIANT=cost'");
		json_decref(*record);
		*record = NULL;
	}
	free(log);
	return ret;
}

static int run_step(void *ctx, const struct plan_step *step, const char *log_path, json_t **record)
{
	static const struct boot_wall no_root = { NULL, "" };
	struct selftest *t = ctx;
	const struct kernel *k = &t->session.kernels[step->subject];

	if (!strcmp(step->kind, RUN_EXACT))
		return exact_run(t, k, step, log_path, record);
	return boot_wall_run(&t->session, k, &no_root, log_path, record);
}

static int add_kernels(void *ctx)
{
	struct selftest *t = ctx;
	char *image = xasprintf("%s/%s-cost/Image", t->session.opts.images, t->mode);
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; !ret && i < ARRAY_SIZE(t->costs); i++) {
		char *subject = xasprintf("cost %u", t->costs[i]);
		char *args = xasprintf("scs_bench_cost=%u", t->costs[i]);

		ret = session_add_image(&t->session, t->mode, subject, image, args);
		free(args);
		free(subject);
	}
	free(image);
	return ret;
}

static void make_plan(void *ctx)
{
	struct selftest *t = ctx;
	size_t last = t->session.nkernels - 1, i;

	for (i = 0; i <= last; i++)
		boot_plan_exact(&t->session, i);
	if (t->no_wall)
		return;
	boot_plan_wall(&t->session, 0, true, 1);
	boot_plan_wall(&t->session, last, false, 1);
}

static u64 field(const struct session *s, size_t kernel, const char *name)
{
	json_t *record = session_record(s, &s->kernels[kernel], RUN_EXACT, 1);

	return json_integer_value(json_object_get(record, name));
}

/* Without interrupts: to the last instruction. */
static void judge_early(struct selftest *t, size_t i, json_t *results)
{
	const struct session *s = &t->session;
	u64 saves = field(s, 0, "early"), cost = t->costs[i];
	/* The counter was read before the cost of the last one. */
	u64 expected = cost * (saves - 1);
	u64 found = field(s, i, "counter") - field(s, 0, "counter");
	char *title = xasprintf("%llu instructions a save, counted without interrupts", cost);
	bool good = found == expected && field(s, i, "early") == saves;

	t->missed |= !good;
	results_verdict(results, title, good ? "found exactly" : "MISSED",
			"%llu saves: %llu instructions were injected, %llu are found",
			saves - 1, expected, found);
	free(title);
}

/* A whole boot, with the timer interrupts that come meanwhile. */
static void judge_boot(struct selftest *t, size_t i, json_t *results)
{
	const struct session *s = &t->session;
	u64 saves = field(s, i, "all"), cost = t->costs[i];
	double expected = (double)cost * saves;
	double found = (double)field(s, i, "reset") - (double)field(s, 0, "reset");
	char *title = xasprintf("%llu instructions a save, from reset to init", cost);
	double off = (found - expected) / expected;
	bool must = i == ARRAY_SIZE(t->costs) - 1, good = fabs(off) <= BOOT_TOLERANCE;

	t->missed |= must && !good;
	results_verdict(results, title,
			good ? "found" : must ? "MISSED" : "less than the interrupts' share",
			"%llu saves: %.0f instructions were injected, %.0f are found (%+.3f %%): a longer boot has more timer interrupts, and others",
			saves, expected, found, 100 * off);
	free(title);
}

static void judge_wall(struct selftest *t, json_t *results)
{
	const struct session *s = &t->session;
	size_t last = s->nkernels - 1;
	const struct kernel *none = &s->kernels[0], *most = &s->kernels[last];
	json_t *f = results_find(results, most->group, most->subject, FIGURE_WALL), *against;
	json_t *noise = results_find_noise(results, none->group, FIGURE_WALL);
	double injected = (double)t->costs[last] * field(s, last, "all");
	double base = results_value(results_find(results, none->group, none->subject,
						 FIGURE_WALL));
	double diff, seconds = json_number_value(json_object_get(noise, "value"));
	bool found;

	against = json_object_get(f, "against");
	diff = json_number_value(json_object_get(against, "difference"));
	found = !strcmp(json_string_value(json_object_get(against, "verdict")), "difference");
	if (found)
		results_verdict(results, "Wall time", "found",
				"%.0f instructions injected take %.3f s; with %u runs of each, differences above %.3f s (%.1f %% of a boot, %.0f instructions of this kind a save) are told from noise here",
				injected, diff, s->opts.runs, seconds, 100 * seconds / base,
				seconds / diff * t->costs[last]);
	else
		results_verdict(results, "Wall time", "NOT FOUND: the machine is too noisy for it",
				"%.0f instructions injected; the medians differ by %.3f s, a kernel from itself by up to %.3f s (%.1f %% of a boot): %s; more --runs or a larger --cost help",
				injected, diff, seconds, 100 * seconds / base,
				json_string_value(json_object_get(against, "why")));
}

static json_t *make_results(void *ctx)
{
	struct selftest *t = ctx;
	struct session *s = &t->session;
	json_t *results = session_results(s);
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		const struct kernel *k = &s->kernels[i];

		results_exact(results, k->group, k->subject, FIGURE_EARLY, "instructions",
			      field(s, i, "counter"));
		results_exact(results, k->group, k->subject, "saves until then", "",
			      field(s, i, "early") - 1);
		boot_add_exact(s, k, results);
		results_exact(results, k->group, k->subject, "saves until init", "",
			      field(s, i, "all"));
		if (!t->no_wall)
			boot_add_wall(s, k, !i, results);
	}
	results_against(results, s->kernels[0].subject);
	for (i = 1; i < s->nkernels; i++)
		judge_early(t, i, results);
	for (i = 1; i < s->nkernels; i++)
		judge_boot(t, i, results);
	if (!t->no_wall)
		judge_wall(t, results);
	return results;
}

static int take_option(void *ctx, int opt, const char *arg)
{
	struct selftest *t = ctx;
	unsigned int *most = &t->costs[ARRAY_SIZE(t->costs) - 1];

	switch (opt) {
	case 'm':
		set_string(&t->mode, arg);
		break;
	case 'c':
		if (parse_uint(arg, 1002, 10000000, most) && *most % 2 == 0)
			break;
		bench_err("--cost %s: give an even number from 1002 to 10000000", arg);
		return EXIT_UNUSABLE;
	case 'W':
		t->no_wall = true;
		break;
	}
	return EXIT_OK;
}

/**
 * cmd_selftest - the subcommand "selftest"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code; 1 when a method that is exact missed the cost.
 */
int cmd_selftest(int argc, char **argv)
{
	static const struct option own[] = {
		{ "mode", required_argument, NULL, 'm' },
		{ "cost", required_argument, NULL, 'c' },
		{ "no-wall", no_argument, NULL, 'W' },
		{ 0 }
	};
	static const struct command command = { "selftest", usage, own, NULL, take_option, NULL };
	struct experiment experiment = {
		add_kernels, NULL, make_plan, run_step, make_results, true,
	};
	struct selftest t = { .mode = xstrdup("generic"), .costs = { 0, 2, 1000, 50000 } };
	int ret;

	session_init(&t.session, "selftest");
	ret = common_parse(&t.session.opts, &command, argc, argv, &t);
	if (!ret) {
		common_finish(&t.session.opts, "selftest");
		experiment.wall = !t.no_wall;
		ret = session_measure(&t.session, &experiment, &t);
	}
	if (!ret && t.missed) {
		bench_err("a cost that is known was not found: do not trust figures that were measured like this");
		ret = EXIT_FAILED;
	}
	session_free(&t.session);
	free(t.mode);
	return ret;
}
