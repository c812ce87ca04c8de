// SPDX-License-Identifier: GPL-2.0
/*
 * Writes what "boot" measured as a text table and as JSON.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "report.h"
#include "results.h"

#define LABEL_WIDTH	40
#define COLUMN_WIDTH	17

/* The depot takes memory in pools of this many pages (DEPOT_POOL_ORDER is 2). */
#define POOL_PAGES	4

/* Fields of struct exact, for code that treats both alike. */
enum exact_field { FROM_RESET, AFTER_TIME_INIT };

static u64 exact_value(const struct variant *v, enum exact_field field)
{
	return field == FROM_RESET ? v->exact[0].reset : v->exact[0].after;
}

static const struct variant *find_variant(const struct boot_result *res, const char *name)
{
	size_t i;

	for (i = 0; i < res->nvariants; i++)
		if (!strcmp(res->variants[i].name, name))
			return &res->variants[i];
	return NULL;
}

/* False for the two kernels that define the share, and where it cannot be told. */
static bool variant_share(const struct boot_result *res, const struct variant *v,
			  enum exact_field field, double *share)
{
	const struct variant *upstream = find_variant(res, "upstream");
	const struct variant *null = find_variant(res, "null");

	if (!upstream || !null || v == upstream || v == null)
		return false;
	return share_removed(exact_value(upstream, field), exact_value(null, field),
			     exact_value(v, field), share);
}

static void print_label(FILE *out, const char *label)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
}

static void print_cell(FILE *out, const char *text)
{
	fprintf(out, "%*s", COLUMN_WIDTH, text);
}

static void print_count(FILE *out, bool known, u64 value)
{
	char buf[COUNT_SIZE];

	print_cell(out, known ? format_count(value, buf) : "-");
}

static void print_exact(const struct boot_result *res, FILE *out)
{
	size_t i;

	print_label(out, "instructions, reset to init");
	for (i = 0; i < res->nvariants; i++)
		print_count(out, true, exact_value(&res->variants[i], FROM_RESET));
	fputc('\n', out);
	print_label(out, "instructions, time_init() to init");
	for (i = 0; i < res->nvariants; i++)
		print_count(out, true, exact_value(&res->variants[i], AFTER_TIME_INIT));
	fputc('\n', out);
}

static void print_shares(const struct boot_result *res, FILE *out)
{
	static const char * const labels[] = {
		[FROM_RESET] = "  from reset",
		[AFTER_TIME_INIT] = "  after time_init()",
	};
	char cell[COLUMN_WIDTH];
	size_t field, i;
	double share;

	if (!find_variant(res, "upstream") || !find_variant(res, "null")) {
		fputs("share of the removable cost removed: needs the variants upstream and null\n",
		      out);
		return;
	}
	fputs("share of the removable cost removed\n", out);
	for (field = FROM_RESET; field <= AFTER_TIME_INIT; field++) {
		print_label(out, labels[field]);
		for (i = 0; i < res->nvariants; i++) {
			if (variant_share(res, &res->variants[i], field, &share))
				snprintf(cell, sizeof(cell), "%.1f %%", 100 * share);
			else
				snprintf(cell, sizeof(cell), "-");
			print_cell(out, cell);
		}
		fputc('\n', out);
	}
}

static void print_calls(const struct boot_result *res, FILE *out)
{
	const struct strv *names = &res->opts->count;
	char label[LABEL_WIDTH];
	size_t i, j;

	for (j = 0; j < names->n; j++) {
		snprintf(label, sizeof(label), "calls of %s", names->v[j]);
		print_label(out, label);
		for (i = 0; i < res->nvariants; i++)
			print_count(out, res->variants[i].calls[j].naddr,
				    res->variants[i].calls[j].total);
		fputc('\n', out);
		print_label(out, "  before time_init()");
		for (i = 0; i < res->nvariants; i++)
			print_count(out, res->variants[i].calls[j].naddr,
				    res->variants[i].calls[j].early);
		fputc('\n', out);
	}
}

static long long depot_value(const struct variant *v, const char *name)
{
	const struct counter *c = counter_find(&v->log.stackdepot, name);

	return c ? c->value : 0;
}

static u64 depot_traces(const struct variant *v)
{
	return depot_value(v, "persistent_count") + depot_value(v, "refcounted_in_use");
}

static u64 depot_pool_bytes(const struct variant *v)
{
	return depot_value(v, "pools") * POOL_PAGES * v->log.pagesize;
}

static void print_depot(const struct boot_result *res, FILE *out)
{
	size_t i;

	print_label(out, "depot: traces");
	for (i = 0; i < res->nvariants; i++)
		print_count(out, res->variants[i].log.stackdepot.present,
			    depot_traces(&res->variants[i]));
	fputc('\n', out);
	print_label(out, "depot: bytes in persistent records");
	for (i = 0; i < res->nvariants; i++)
		print_count(out, res->variants[i].log.stackdepot.present,
			    depot_value(&res->variants[i], "persistent_bytes"));
	fputc('\n', out);
	print_label(out, "depot: bytes in pools");
	for (i = 0; i < res->nvariants; i++)
		print_count(out, res->variants[i].log.stackdepot.present,
			    depot_pool_bytes(&res->variants[i]));
	fputc('\n', out);
}

/* The collector's own counters, of the first variant that has them and whoever else has. */
static void print_scs_trace(const struct boot_result *res, FILE *out)
{
	const struct counters *names = NULL;
	const struct counter *c;
	char label[LABEL_WIDTH];
	size_t i, j;

	for (i = 0; i < res->nvariants && !names; i++)
		if (res->variants[i].log.scs_trace.n)
			names = &res->variants[i].log.scs_trace;
	for (j = 0; names && j < names->n; j++) {
		snprintf(label, sizeof(label), "scs_trace: %s", names->v[j].name);
		print_label(out, label);
		for (i = 0; i < res->nvariants; i++) {
			c = counter_find(&res->variants[i].log.scs_trace, names->v[j].name);
			print_count(out, c, c ? c->value : 0);
		}
		fputc('\n', out);
	}
}

static void print_wall(const struct boot_result *res, FILE *out)
{
	char label[LABEL_WIDTH], cell[COLUMN_WIDTH];
	struct summary sum;
	size_t i;

	if (!res->wall_method) {
		fputs("wall time: not measured\n", out);
		return;
	}
	snprintf(label, sizeof(label), "wall seconds, median of %u", res->opts->runs);
	print_label(out, label);
	for (i = 0; i < res->nvariants; i++) {
		summarize(res->variants[i].wall, res->variants[i].nwall, &sum);
		snprintf(cell, sizeof(cell), "%.3f", sum.median);
		print_cell(out, cell);
	}
	fputc('\n', out);
	print_label(out, "  quartiles");
	for (i = 0; i < res->nvariants; i++) {
		summarize(res->variants[i].wall, res->variants[i].nwall, &sum);
		snprintf(cell, sizeof(cell), "%.3f..%.3f", sum.q1, sum.q3);
		print_cell(out, cell);
	}
	fputc('\n', out);
	print_label(out, "  least and greatest");
	for (i = 0; i < res->nvariants; i++) {
		summarize(res->variants[i].wall, res->variants[i].nwall, &sum);
		snprintf(cell, sizeof(cell), "%.3f..%.3f", sum.min, sum.max);
		print_cell(out, cell);
	}
	fputc('\n', out);
}

static void print_notes(const struct boot_result *res, FILE *out)
{
	const struct variant *v = &res->variants[0];
	char buf[COUNT_SIZE];

	fprintf(out,
		"Instructions: exact, the same in %d runs, in steps of %.0f; after time_init() by a\n"
		"microsecond stamp, at most %s too high, by nearly the same everywhere.\n",
		EXACT_RUNS, v->resolution, format_count(v->after_error, buf));
	fputs("Calls: until init's first instruction. Depot: read by init. -: not there.\n",
	      out);
	if (res->wall_method)
		fprintf(out,
			"Wall: whole runs of QEMU, by %s; interleaved at random, seed %llu.\n",
			res->wall_method, res->opts->seed);
}

/**
 * report_table - print the measurements for people
 * @res: the measurements
 * @out: where to
 */
void report_table(const struct boot_result *res, FILE *out)
{
	const struct variant *v = &res->variants[0];
	size_t i;

	fprintf(out, "Linux %s, mode %s, %s, 1 CPU, \"%s\"\n%s\n%s\n\n", v->version,
		res->opts->mode, res->opts->mem, v->kernel_args, v->compiler, res->qemu_version);
	print_label(out, "");
	for (i = 0; i < res->nvariants; i++)
		print_cell(out, res->variants[i].name);
	fputc('\n', out);
	print_exact(res, out);
	print_shares(res, out);
	print_calls(res, out);
	print_depot(res, out);
	print_scs_trace(res, out);
	print_wall(res, out);
	fputc('\n', out);
	print_notes(res, out);
}

static json_t *json_strv(const struct strv *sv)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < sv->n; i++)
		json_array_append_new(array, json_string(sv->v[i]));
	return array;
}

static json_t *json_counters(const struct counters *c)
{
	json_t *obj;
	size_t i;

	if (!c->present)
		return json_null();
	obj = json_object();
	for (i = 0; i < c->n; i++)
		json_object_set_new(obj, c->v[i].name, json_integer(c->v[i].value));
	return obj;
}

static json_t *json_exact(const struct variant *v, enum exact_field field, double resolution,
			  u64 error_max)
{
	json_t *samples = json_array();
	size_t i;

	for (i = 0; i < EXACT_RUNS; i++)
		json_array_append_new(samples,
				      json_integer(field == FROM_RESET ? v->exact[i].reset :
						   v->exact[i].after));
	return json_pack("{s:I, s:o, s:f, s:I}", "value", (json_int_t)exact_value(v, field),
			 "samples", samples, "resolution", resolution, "error_max",
			 (json_int_t)error_max);
}

static json_t *json_calls(const struct boot_result *res, const struct variant *v)
{
	json_t *obj = json_object();
	size_t i;

	for (i = 0; i < res->opts->count.n; i++)
		json_object_set_new(obj, v->calls[i].name,
				    v->calls[i].naddr ?
				    json_pack("{s:I, s:I}", "until_init",
					      (json_int_t)v->calls[i].total, "before_time_init",
					      (json_int_t)v->calls[i].early) : json_null());
	return obj;
}

static json_t *json_depot(const struct variant *v)
{
	if (!v->log.stackdepot.present)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:o}", "traces", (json_int_t)depot_traces(v),
			 "record_bytes", (json_int_t)depot_value(v, "persistent_bytes"),
			 "pool_bytes", (json_int_t)depot_pool_bytes(v), "stats",
			 json_counters(&v->log.stackdepot));
}

static json_t *json_wall(const struct boot_result *res, const struct variant *v)
{
	json_t *samples;
	struct summary sum;
	size_t i;

	if (!res->wall_method || !summarize(v->wall, v->nwall, &sum))
		return json_null();
	samples = json_array();
	for (i = 0; i < v->nwall; i++)
		json_array_append_new(samples, json_real(v->wall[i]));
	return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "method",
			 res->wall_method, "n", (json_int_t)sum.n, "median", sum.median, "q1",
			 sum.q1, "q3", sum.q3, "min", sum.min, "max", sum.max, "warmup",
			 v->warmup, "samples", samples);
}

static json_t *json_share(const struct boot_result *res, const struct variant *v)
{
	json_t *obj = json_object();
	double share;

	if (variant_share(res, v, FROM_RESET, &share))
		json_object_set_new(obj, "from_reset", json_real(share));
	if (variant_share(res, v, AFTER_TIME_INIT, &share))
		json_object_set_new(obj, "after_time_init", json_real(share));
	if (!json_object_size(obj)) {
		json_decref(obj);
		return json_null();
	}
	return obj;
}

static json_t *json_variant(const struct boot_result *res, const struct variant *v)
{
	json_t *commands = json_pack("{s:o, s:o, s:o}", "exact", json_strv(&v->argv_exact),
				     "calls", json_strv(&v->argv_calls), "wall",
				     json_strv(&v->argv_wall));

	return json_pack("{s:s, s:s, s:s, s:s, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "image", v->image, "kernel_args", v->kernel_args,
			 "banner", v->log.banner, "compiler", v->compiler,
			 "instructions",
			 "from_reset", json_exact(v, FROM_RESET, v->resolution, 0),
			 "after_time_init", json_exact(v, AFTER_TIME_INIT, 1000, v->after_error),
			 "share_removed", json_share(res, v),
			 "calls", json_calls(res, v),
			 "depot", json_depot(v),
			 "scs_trace", json_counters(&v->log.scs_trace),
			 "wall_seconds", json_wall(res, v),
			 "commands", commands);
}

static json_t *json_host(void)
{
	char *cpuinfo = read_file("/proc/cpuinfo", NULL), *model = NULL, *p;
	struct utsname uts;
	double load = -1;
	json_t *host;

	p = cpuinfo ? strstr(cpuinfo, "model name\t: ") : NULL;
	if (p)
		model = xasprintf("%.*s", (int)strcspn(p + 13, "\n"), p + 13);
	uname(&uts);
	if (getloadavg(&load, 1) != 1)
		load = -1;
	host = json_pack("{s:s, s:s, s:s, s:s, s:I, s:f}", "system", uts.sysname, "release",
			 uts.release, "machine", uts.machine, "cpu", model ? model : "unknown",
			 "cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "load", load);
	free(model);
	free(cpuinfo);
	return host;
}

/**
 * report_json - give the measurements to programs
 * @res: the measurements
 *
 * Return: a new JSON object; NULL when a text in it is not UTF-8.
 */
json_t *report_json(const struct boot_result *res)
{
	json_t *variants = json_object();
	char started[32];
	struct tm tm;
	size_t i;

	for (i = 0; i < res->nvariants; i++)
		json_object_set_new(variants, res->variants[i].name,
				    json_variant(res, &res->variants[i]));
	if (json_object_size(variants) != res->nvariants) {
		json_decref(variants);
		return NULL;
	}
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&res->started, &tm));
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o}",
			 "tool", "scs_bench boot", "schema", 1, "started", started,
			 "kernel_version", res->variants[0].version, "mode", res->opts->mode,
			 "compiler", res->variants[0].compiler, "qemu", res->qemu_version,
			 "qemu_path", res->opts->qemu, "memory", res->opts->mem, "runs",
			 (json_int_t)res->opts->runs, "seed", (json_int_t)res->opts->seed,
			 "host", json_host(), "variants", variants);
}
