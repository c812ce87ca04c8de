// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "micro": what one stack trace costs, measured inside the kernel.
 *
 * The kernel has CONFIG_SCS_BENCH (LOAD=1). At boot it takes samples of loops of single calls and
 * prints them. Under -icount its counter counts instructions, so two boots must print the same.
 * The cost of a call is the median sample, less that of a loop that calls nothing.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_micro.h"
#include "guest.h"
#include "parse.h"
#include "results.h"

#define MARK		"scs_bench_micro: "
#define VERSION		1
#define NOTHING		"nothing"

#define RUN_EXACT	"exact"
#define RUN_WALL	"wall"
#define EXACT_RUNS	2

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

static int micro_run(void *ctx, const struct plan_step *step, const char *log_path,
		     json_t **record)
{
	struct guest *g = ctx;
	const struct kernel *k = &g->session.kernels[step->subject];
	struct qemu_spec spec = session_spec(&g->session, k);
	char *log, *error;
	int ret;

	spec.initrd = g->session.opts.initrd;
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
		ret = guest_check_same(&g->session, k, step->kind, step->nr, *record);
	free(error);
	free(log);
	return ret;
}

static void plan(struct guest *g, bool wall)
{
	struct session *s = &g->session;
	unsigned int nr;
	size_t i;

	for (nr = 1; nr <= EXACT_RUNS; nr++)
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, 0, RUN_EXACT, i, nr, "%s/" RUN_EXACT "/%u",
				 s->kernels[i].name, nr);
	for (nr = 1; wall && nr <= s->opts.runs; nr++)
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, nr, RUN_WALL, i, nr, "%s/" RUN_WALL "/%u",
				 s->kernels[i].name, nr);
}

/* One figure from all runs of a kind. */
static void add_figure(const struct session *s, const struct kernel *k, const char *kind,
		       size_t op, unsigned int depth, const char *unit, json_t *results)
{
	bool exact = !strcmp(kind, RUN_EXACT);
	char *group = xasprintf("%s: %s", k->group, ops[op].title);
	char *name = xasprintf("depth %2u%s", depth,
			       exact ? "" : strcmp(unit, "ticks") ? " (cycles)" : " (time)");
	double *v = NULL, cost;
	struct figure f;
	unsigned int nr;
	json_t *record;
	size_t n = 0;

	for (nr = 1; (record = session_record(s, k, kind, nr)); nr++) {
		if (!micro_cost(record, ops[op].op, depth, unit, &cost))
			continue;
		v = xrealloc(v, (n + 1) * sizeof(*v));
		v[n++] = cost;
	}
	f = (struct figure){ group, k->subject, name,
			     exact ? "instructions" : strcmp(unit, "ticks") ? "cycles" : "ns",
			     exact, { v, exact && n ? 1 : n } };
	results_figure(results, &f);
	free(v);
	free(name);
	free(group);
}

static json_t *make_results(struct guest *g)
{
	static const unsigned int depths[] = { 1, 2, 4, 8, 16, 24, 32, 48, 64 };
	struct session *s = &g->session;
	json_t *results = session_results(s);
	size_t op, d, i;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (d = 0; d < ARRAY_SIZE(depths); d++) {
			for (i = 0; i < s->nkernels; i++) {
				const struct kernel *k = &s->kernels[i];

				add_figure(s, k, RUN_EXACT, op, depths[d], "ticks", results);
				add_figure(s, k, RUN_WALL, op, depths[d], "ticks", results);
				add_figure(s, k, RUN_WALL, op, depths[d], "cycles", results);
			}
		}
	}
	results_against(results, g->variants.v[0]);
	results_note(results,
		     "A call's cost is that of a median sample of the loop around it, less that of a loop that calls nothing.");
	return results;
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
	struct option *options = guest_options(own);
	bool wall = false, help = false;
	json_t *results;
	struct guest g;
	int opt, ret = EXIT_OK;

	guest_init(&g, "micro", "-load", "generic", "upstream,fallback,scs", "plain,page_owner=on");
	optind = 1;
	while (!ret && !help && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'w')
			wall = true;
		else if (opt == 'h')
			help = true;
		else
			ret = guest_option(&g, opt, optarg);
	}
	if (help) {
		usage(stdout);
		goto out;
	}
	if (!ret && optind < argc) {
		bench_err("%s is not an option; see scs_bench micro --help", argv[optind]);
		ret = EXIT_UNUSABLE;
	}
	if (ret)
		goto out;
	common_finish(&g.session.opts, "micro");
	ret = guest_add_kernels(&g);
	if (!ret)
		ret = session_begin(&g.session, json_pack("{s:b}", "wall", wall), wall);
	if (!ret) {
		plan(&g, wall);
		ret = session_run(&g.session, micro_run, &g);
	}
	if (!ret) {
		results = make_results(&g);
		ret = session_end(&g.session, results);
		json_decref(results);
	}
out:
	free(options);
	guest_free(&g);
	return ret;
}
