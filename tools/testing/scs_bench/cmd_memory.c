// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "memory": what debugging costs in memory, at rest and as slabs grow.
 *
 * Init prints /proc/meminfo and the depot's statistics at a few points (init/memory.c). All runs
 * are under -icount, so that the points are at the same instruction in each run of a kernel, and
 * two of them must print the same. What is in use is all that the machine has, less what is free:
 * so KASAN's shadow memory and page_owner's records count, which the kernel reserves.
 */
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cmd_memory.h"
#include "guest.h"
#include "parse.h"
#include "results.h"

#define MARK		"scs_bench: "

#define KIB		1024LL
/* lib/stackdepot.c takes memory in pools of 4 pages, and does not count its table. */
#define POOL_BYTES	(4 * 4096LL)

#define IN_USE		"memory in use"
#define OVERHEAD	"overhead"

static void usage(FILE *out)
{
	fputs("Usage: scs_bench memory [options]\n"
	      "\n"
	      "Boots kernels whose slabs grow and shows the memory in use, that of slabs and that of\n"
	      "the stack depot, after boot, with more and more files, and under a load, all of it\n"
	      "against a clean kernel.\n"
	      "\n"
	      GUEST_HELP
	      "                   (none,generic,sw_tags; upstream,scs; plain,page_owner=on)\n"
	      CLEAN_HELP
	      COMMON_HELP, out);
}

/* "Name: 123 kB" or "name: 123": false for other lines. */
static bool parse_value(const char *line, char *name, size_t size, long long *value)
{
	const char *colon = strchr(line, ':');
	char unit[8] = "";

	if (!colon || (size_t)(colon - line) >= size || colon == line ||
	    sscanf(colon + 1, "%lld %7s", value, unit) < 1)
		return false;
	memcpy(name, line, colon - line);
	name[colon - line] = '\0';
	if (!strcmp(unit, "kB"))
		*value *= KIB;
	return true;
}

/**
 * memory_parse - read the points that init printed
 * @log: the console's text
 * @error: what is wrong with it, to be freed, if the result is NULL
 *
 * Return: a new object: the bytes that the machine has in all, those of the depot's table if the
 * kernel told, and the points in their order, each of them with what /proc/meminfo said (in
 * bytes) and with the depot's statistics.
 */
json_t *memory_parse(const char *log, char **error)
{
	json_t *points = json_array(), *point = NULL, *block = NULL;
	long long total = 0, table = 0, available, value;
	char *line, name[64], rest;
	const char *text;

	*error = NULL;
	while ((line = log_line(&log))) {
		text = printk_text(line);
		if (!total && sscanf(text, "Memory: %lldK/%lldK available%c", &available, &total,
				     &rest) == 3) {
			total *= KIB;
		} else if (sscanf(text,
				  "stackdepot hash table entries: %*d (order: %*d, %lld bytes",
				  &value) == 1) {
			table = value;
		} else if (!strncmp(text, MARK "point ", strlen(MARK "point "))) {
			point = json_pack("{s:s, s:{}, s:{}}", "name", text + strlen(MARK "point "),
					  "meminfo", "stackdepot");
			json_array_append_new(points, point);
		} else if (!strncmp(text, MARK "begin ", strlen(MARK "begin "))) {
			block = json_object_get(point, text + strlen(MARK "begin "));
		} else if (!strncmp(text, MARK "end ", strlen(MARK "end "))) {
			block = NULL;
		} else if (block && parse_value(text, name, sizeof(name), &value)) {
			json_object_set_new(block, name, json_integer(value));
		}
		free(line);
	}
	if (!total)
		*error = xstrdup("the kernel does not say how much memory there is");
	else if (!json_array_size(points))
		*error = xstrdup("init printed no points");
	for (size_t i = 0; !*error && i < json_array_size(points); i++) {
		point = json_array_get(points, i);
		if (!json_object_get(json_object_get(point, "meminfo"), "MemFree") ||
		    !json_object_get(json_object_get(point, "meminfo"), "Slab"))
			*error = xasprintf("/proc/meminfo is not complete at the point \"%s\"",
					   json_string_value(json_object_get(point, "name")));
	}
	if (*error) {
		json_decref(points);
		return NULL;
	}
	return json_pack("{s:I, s:I, s:o}", "total", (json_int_t)total, "table", (json_int_t)table,
			 "points", points);
}

static int memory_run(void *ctx, const struct plan_step *step, const char *log_path,
		      json_t **record)
{
	struct guest *g = ctx;
	const struct kernel *k = &g->session.kernels[step->subject];
	struct qemu_spec spec = session_spec(&g->session, k);
	char *log, *error;
	int ret;

	spec.initrd = g->session.opts.initrd;
	spec.log = log_path;
	spec.icount = true;
	ret = guest_boot(&spec, k, "-- memory", &log);
	if (ret)
		return ret;
	*record = memory_parse(log, &error);
	if (!*record)
		ret = fail_run(k, log_path, log, error, "--initrd is not that of this scs_bench");
	else
		ret = guest_check_same(&g->session, k, step->kind, step->nr, *record);
	free(error);
	free(log);
	return ret;
}

static long long number(const json_t *obj, const char *name)
{
	return json_integer_value(json_object_get(obj, name));
}

/* All of the depot; 0 for a kernel that has none, or no use for it. */
static long long depot_bytes(const json_t *depot, const json_t *record)
{
	/* The fast depot knows itself. */
	if (json_object_get(depot, "table_bytes"))
		return number(depot, "bytes");
	return number(depot, "pools") * POOL_BYTES + number(record, "table");
}

static void add_point(json_t *results, const struct kernel *k, const json_t *record, size_t nr,
		      const json_t *clean)
{
	json_t *point = json_array_get(json_object_get(record, "points"), nr);
	json_t *meminfo = json_object_get(point, "meminfo");
	json_t *clean_point = json_array_get(json_object_get(clean, "points"), nr);
	json_t *clean_meminfo = json_object_get(clean_point, "meminfo");
	char *group = xasprintf("memory, %s", json_string_value(json_object_get(point, "name")));
	double used = number(record, "total") - number(meminfo, "MemFree");
	double clean_used = number(clean, "total") - number(clean_meminfo, "MemFree");

	results_exact(results, group, k->name, IN_USE, "bytes", used);
	results_exact(results, group, k->name, "slabs", "bytes", number(meminfo, "Slab"));
	results_exact(results, group, k->name, "stack depot", "bytes",
		      depot_bytes(json_object_get(point, "stackdepot"), record));
	results_exact(results, group, k->name, "more than the clean kernel", "bytes",
		      used - clean_used);
	results_exact(results, group, k->name, "more than the clean kernel, slabs", "bytes",
		      number(meminfo, "Slab") - number(clean_meminfo, "Slab"));
	results_exact(results, group, k->name, OVERHEAD, "%",
		      100 * (used - clean_used) / clean_used);
	free(group);
}

static int add_kernels(void *ctx)
{
	return guest_add_kernels(ctx);
}

static json_t *json_arguments(const void *ctx)
{
	const struct guest *g = ctx;

	return json_pack("{s:s}", "clean", g->clean);
}

static void make_plan(void *ctx)
{
	struct guest *g = ctx;
	size_t i;

	for (i = 0; i < g->session.nkernels; i++)
		boot_plan_exact(&g->session, i);
}

static json_t *make_results(void *ctx)
{
	struct guest *g = ctx;
	struct session *s = &g->session;
	json_t *results = session_results(s), *record;
	json_t *clean = session_record(s, &s->kernels[0], RUN_EXACT, 1);
	size_t points = json_array_size(json_object_get(clean, "points")), nr, i;

	for (nr = 0; nr < points; nr++) {
		for (i = 0; i < s->nkernels; i++) {
			record = session_record(s, &s->kernels[i], RUN_EXACT, 1);
			add_point(results, &s->kernels[i], record, nr, clean);
		}
	}
	results_against(results, s->kernels[0].name);
	results_note(results,
		     "In use is all of the machine's memory that is not free; the overhead is what a kernel has more of it than %s, in per cent of the latter's.",
		     s->kernels[0].name);
	results_note(results,
		     "files-N: so many files exist on tmpfs; load: the workload runs; end: right after it.");
	return results;
}

static int take_option(void *ctx, int opt, const char *arg)
{
	guest_option(ctx, opt, arg);
	return EXIT_OK;
}

/**
 * cmd_memory - the subcommand "memory"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_memory(int argc, char **argv)
{
	static const struct option own[] = {
		{ "clean", required_argument, NULL, 'c' },
		{ 0 }
	};
	static const struct command command = {
		"memory", usage, own, guest_options, take_option, NULL,
	};
	static const struct experiment experiment = {
		add_kernels, json_arguments, make_plan, memory_run, make_results, false,
	};
	struct guest g;
	int ret;

	guest_init(&g, "memory", "", "none,generic,sw_tags", "upstream,scs",
		   "plain,page_owner=on");
	g.clean = xstrdup("");
	ret = common_parse(&g.session.opts, &command, argc, argv, &g);
	if (!ret) {
		common_finish(&g.session.opts, "memory");
		ret = session_measure(&g.session, &experiment, &g);
	}
	guest_free(&g);
	return ret;
}
