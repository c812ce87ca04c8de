// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "micro": what one stack trace costs, measured inside the kernel.
 *
 * The kernel has CONFIG_SCS_BENCH (LOAD=1). At boot it takes samples of loops of single calls and
 * prints them. Under -icount its counter counts instructions, so two boots must print the same.
 * The cost of a call is the median sample, less that of a loop that calls nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cmd_micro.h"
#include "guest.h"
#include "parse.h"
#include "results.h"

#define MARK		"scs_bench_micro: "
#define VERSION		1
#define NOTHING		"nothing"

#define NSEC_PER_SEC	1e9

/* The calls that the kernel measures, by the names that it has for them. */
static const struct {
	const char *op;
	const char *title;
} ops[] = {
	{ "save", "stack_trace_save()" },
	{ "walk", "arch_stack_walk()" },
	{ "hit", "depot, a trace that it has" },
	{ "miss", "depot, a new trace" },
	{ "fused", "trace and depot at once, a trace that it has" },
	{ "split", "trace, then depot, a trace that it has" },
	{ "kmalloc", "kmalloc() and kfree()" },
	{ "pages", "alloc_pages() and __free_pages()" },
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench micro [options]\n"
	      "\n"
	      "Boots kernels that measure themselves (built with LOAD=1) and shows what one call costs\n"
	      "by the depth of the trace: taking it, finding it in the depot, storing it, and the\n"
	      "allocators that do so.\n"
	      "\n"
	      GUEST_HELP
	      "                   (generic; upstream,fallback,scs; plain,page_owner=on)\n"
	      "  --wall           take nanoseconds of --runs boots, too, not only instructions\n"
	      COMMON_HELP, out);
}

/* "12,13,14": an array, or NULL. */
static json_t *parse_samples(const char *text)
{
	json_t *samples = json_array();
	char *end;

	do {
		json_array_append_new(samples, json_integer(strtoll(text, &end, 10)));
		if (end == text)
			break;
		text = end + 1;
	} while (*end == ',');
	if (end == text || (*end && *end != ' ')) {
		json_decref(samples);
		return NULL;
	}
	return samples;
}

/* The line of one call at one depth; what is wrong with it, or NULL. */
static char *parse_op(json_t *calls, const char *text)
{
	unsigned int depth, per_sample;
	char op[32], unit[32], *key;
	unsigned long failed;
	json_t *samples;
	int at = 0;

	if (sscanf(text, "op=%31s depth=%u unit=%31s calls=%u failed=%lu samples=%n", op, &depth,
		   unit, &per_sample, &failed, &at) != 5 || !at || !per_sample)
		return xasprintf("a line is not understood: \"%s\"", text);
	if (failed)
		return xasprintf("%lu calls of \"%s\" at depth %u failed", failed, op, depth);
	samples = parse_samples(text + at);
	if (!samples)
		return xasprintf("the samples of \"%s\" at depth %u are not understood", op, depth);
	key = xasprintf("%s/%u/%s", op, depth, unit);
	json_object_set_new(calls, key, json_pack("{s:i, s:o}", "calls", (int)per_sample, "samples",
						  samples));
	free(key);
	return NULL;
}

/**
 * micro_parse - read what the kernel's benchmark printed
 * @log: the console's text
 * @error: what is wrong with it, to be freed, if the result is NULL
 *
 * Return: a new object: the counter's frequency, and of each call, depth and unit the samples.
 */
json_t *micro_parse(const char *log, char **error)
{
	unsigned int version = 0, frequency = 0;
	json_t *calls = json_object();
	bool ended = false;
	const char *text;
	char *line;

	*error = NULL;
	while (!*error && !ended && (line = log_line(&log))) {
		text = printk_text(line);
		if (!strncmp(text, MARK, strlen(MARK))) {
			text += strlen(MARK);
			ended = !strcmp(text, "end");
			if (!strncmp(text, "op=", 3))
				*error = parse_op(calls, text);
			else if (!ended && sscanf(text, "begin version=%u frequency=%u", &version,
						  &frequency) != 2)
				*error = xasprintf("a line is not understood: \"%s\"", text);
		}
		free(line);
	}
	if (!*error && !version)
		*error = xstrdup("the kernel printed no measurements");
	else if (!*error && (version != VERSION || !frequency))
		*error = xasprintf("its measurements are of version %u, not %d", version, VERSION);
	else if (!*error && !ended)
		*error = xstrdup("its measurements were cut short");
	if (*error) {
		json_decref(calls);
		return NULL;
	}
	return json_pack("{s:i, s:o}", "frequency", (int)frequency, "calls", calls);
}

/* The median sample of one call, in the counter's ticks. */
static bool ticks_of(const json_t *record, const char *op, unsigned int depth, const char *unit,
		     double *ticks)
{
	char *key = xasprintf("%s/%u/%s", op, depth, unit);
	json_t *call = json_object_get(json_object_get(record, "calls"), key);
	json_t *samples = json_object_get(call, "samples");
	size_t n = json_array_size(samples), i;
	double *v = xrealloc(NULL, (n + 1) * sizeof(*v));
	struct summary sum;
	bool ok;

	free(key);
	for (i = 0; i < n; i++)
		v[i] = json_number_value(json_array_get(samples, i));
	ok = n && summarize(v, n, &sum);
	if (ok)
		*ticks = sum.median / json_number_value(json_object_get(call, "calls"));
	free(v);
	return ok;
}

/**
 * micro_cost - compute what one call costs
 * @record: from micro_parse()
 * @op: the call
 * @depth: depth of its trace
 * @unit: "ticks" of the counter, or "cycles" of the CPU
 * @cost: ticks come as nanoseconds, which are instructions under -icount
 *
 * Return: false when it was not measured.
 */
bool micro_cost(const json_t *record, const char *op, unsigned int depth, const char *unit,
		double *cost)
{
	double call, nothing;

	if (!ticks_of(record, op, depth, unit, &call) ||
	    !ticks_of(record, NOTHING, depth, unit, &nothing))
		return false;
	*cost = call - nothing;
	if (!strcmp(unit, "ticks"))
		*cost *= NSEC_PER_SEC / json_number_value(json_object_get(record, "frequency"));
	return true;
}

/**
 * struct micro - a running "micro"
 * @guest: kernels, tools, store
 * @wall: time is taken, too
 */
struct micro {
	struct guest guest;
	bool wall;
};

static int micro_run(void *ctx, const struct plan_step *step, const char *log_path,
		     json_t **record)
{
	struct micro *m = ctx;
	struct session *s = &m->guest.session;
	const struct kernel *k = &s->kernels[step->subject];
	struct qemu_spec spec = session_spec(s, k);
	char *log, *error;
	int ret;

	spec.initrd = s->opts.initrd;
	spec.log = log_path;
	spec.icount = !strcmp(step->kind, RUN_EXACT);
	ret = guest_boot(&spec, k, "scs_bench=micro", &log);
	if (ret)
		return ret;
	*record = micro_parse(log, &error);
	if (!*record)
		ret = fail_run(k, log_path, log, error,
			       "is it a kernel with CONFIG_SCS_BENCH (LOAD=1)?");
	else if (spec.icount)
		ret = guest_check_same(s, k, step->kind, step->nr, *record);
	free(error);
	free(log);
	return ret;
}

static int add_kernels(void *ctx)
{
	struct micro *m = ctx;

	return guest_add_kernels(&m->guest);
}

static json_t *json_arguments(const void *ctx)
{
	const struct micro *m = ctx;

	return json_pack("{s:b}", "wall", m->wall);
}

static void make_plan(void *ctx)
{
	struct micro *m = ctx;
	struct session *s = &m->guest.session;
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		boot_plan_exact(s, i);
		if (m->wall)
			boot_plan_wall(s, i, session_is_first(s, i), 1);
	}
}

/* A call at a depth, by a clock. */
struct point {
	size_t op;
	unsigned int depth;
	const char *unit;
};

static double point_cost(const json_t *record, const void *ctx)
{
	const struct point *p = ctx;
	double cost;

	return micro_cost(record, ops[p->op].op, p->depth, p->unit, &cost) ? cost : NAN;
}

/* One figure from all runs of a kind. */
static void add_figure(const struct session *s, const struct kernel *k, const char *kind,
		       const struct point *p, json_t *results)
{
	bool exact = !strcmp(kind, RUN_EXACT), ticks = !strcmp(p->unit, "ticks");
	char *group = xasprintf("%s: %s", k->group, ops[p->op].title);
	char *name = xasprintf("depth %2u%s", p->depth,
			       exact ? "" : ticks ? " (time)" : " (cycles)");
	struct figure f = { group, k->subject, name,
			    exact ? "instructions" : ticks ? "ns" : "cycles", exact, { 0 } };
	double *v = session_collect(s, k, kind, point_cost, p, &f.samples);

	/* They are the same, or there would be no results. */
	if (exact && f.samples.n)
		f.samples.n = 1;
	if (!strcmp(kind, RUN_AGAIN))
		results_noise(results, &f);
	else
		results_figure(results, &f);
	free(v);
	free(name);
	free(group);
}

static json_t *make_results(void *ctx)
{
	static const unsigned int depths[] = { 1, 2, 4, 8, 16, 24, 32, 48, 64 };
	static const struct {
		const char *kind;
		const char *unit;
	} ways[] = {
		{ RUN_EXACT, "ticks" },
		{ RUN_WALL, "ticks" }, { RUN_AGAIN, "ticks" },
		{ RUN_WALL, "cycles" }, { RUN_AGAIN, "cycles" },
	};
	struct micro *m = ctx;
	struct session *s = &m->guest.session;
	json_t *results = session_results(s);
	size_t op, d, i, w;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (d = 0; d < ARRAY_SIZE(depths); d++) {
			for (i = 0; i < s->nkernels; i++) {
				for (w = 0; w < ARRAY_SIZE(ways); w++) {
					const struct point p = { op, depths[d], ways[w].unit };

					add_figure(s, &s->kernels[i], ways[w].kind, &p, results);
				}
			}
		}
	}
	results_against(results, m->guest.variants.v[0]);
	results_note(results,
		     "A call's cost is that of a median sample of the loop around it, less that of a loop that calls nothing.");
	return results;
}

static int take_option(void *ctx, int opt, const char *arg)
{
	struct micro *m = ctx;

	if (opt == 'w')
		m->wall = true;
	else
		guest_option(&m->guest, opt, arg);
	return EXIT_OK;
}

/**
 * cmd_micro - the subcommand "micro"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_micro(int argc, char **argv)
{
	static const struct option own[] = {
		{ "wall", no_argument, NULL, 'w' },
		{ 0 }
	};
	static const struct command command = {
		"micro", usage, own, guest_options, take_option, NULL,
	};
	struct experiment experiment = {
		add_kernels, json_arguments, make_plan, micro_run, make_results, false,
	};
	struct micro m = { .wall = false };
	struct session *s = &m.guest.session;
	int ret;

	guest_init(&m.guest, "micro", LOAD_SUFFIX, "generic", "upstream,fallback,scs",
		   "plain,page_owner=on");
	ret = common_parse(&s->opts, &command, argc, argv, &m);
	if (!ret) {
		common_finish(&s->opts, "micro");
		experiment.wall = m.wall;
		ret = session_measure(s, &experiment, &m);
	}
	guest_free(&m.guest);
	return ret;
}
