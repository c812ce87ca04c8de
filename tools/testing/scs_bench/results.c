// SPDX-License-Identifier: GPL-2.0
/*
 * What a subcommand measured, in one form for all: as a text table, as JSON, and for comparisons.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results.h"

#define LABEL_WIDTH	44
#define COLUMN_WIDTH	18

/**
 * results_new - begin results
 * @command: the subcommand
 * @env: the environment, from env_new(); consumed
 * @seed: seed of the order and of the intervals
 *
 * Return: a new object.
 */
json_t *results_new(const char *command, json_t *env, u64 seed)
{
	char finished[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(finished, sizeof(finished), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return json_pack("{s:s, s:i, s:s, s:I, s:o, s:[], s:[], s:[], s:[]}", "scs_bench",
			 command, "schema", RESULTS_SCHEMA, "finished", finished, "seed",
			 (json_int_t)seed, "environment", env, "figures", "noise", "verdicts",
			 "notes");
}

/* Whole numbers are written as such, so that counts can be read. */
static json_t *json_value(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer(value) :
							      json_real(value);
}

static json_t *json_samples(const struct samples *s)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < s->n; i++)
		json_array_append_new(array, json_value(s->v[i]));
	return array;
}

static u64 seed_of(const json_t *results)
{
	return json_integer_value(json_object_get(results, "seed"));
}

/**
 * results_figure - add a figure
 * @results: the results
 * @f: the figure; one without samples is left out
 */
void results_figure(json_t *results, const struct figure *f)
{
	struct estimate est;
	json_t *obj;

	if (!f->samples.n)
		return;
	obj = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "group", f->group, "subject",
			f->subject, "name", f->name, "unit", f->unit, "exact", f->exact,
			"samples", json_samples(&f->samples));
	if (f->exact) {
		json_object_set_new(obj, "value", json_value(f->samples.v[0]));
	} else {
		stats_median(&f->samples, seed_of(results), &est);
		json_object_set_new(obj, "value", json_value(est.value));
		json_object_set_new(obj, "interval", json_pack("[f, f]", est.low, est.high));
	}
	json_array_append_new(json_object_get(results, "figures"), obj);
}

/**
 * results_exact - add a figure that is a single exact value
 * @results: the results
 * @group: its group
 * @subject: its subject
 * @name: its name
 * @unit: its unit
 * @value: its value
 */
void results_exact(json_t *results, const char *group, const char *subject, const char *name,
		   const char *unit, double value)
{
	const struct figure f = { group, subject, name, unit, true, { &value, 1 } };

	results_figure(results, &f);
}

/**
 * results_derived - add a figure that was computed from the samples of others
 * @results: the results
 * @group: its group
 * @subject: its subject
 * @name: its name
 * @unit: its unit
 * @exact: so are those others
 * @est: its value and interval
 *
 * Whether it differs from another's is told by what it was computed from.
 */
void results_derived(json_t *results, const char *group, const char *subject, const char *name,
		     const char *unit, bool exact, const struct estimate *est)
{
	json_t *obj;

	if (exact) {
		results_exact(results, group, subject, name, unit, est->value);
		return;
	}
	obj = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:[f], s:f}", "group", group, "subject",
			subject, "name", name, "unit", unit, "exact", false, "derived", true,
			"samples", est->value, "value", est->value);
	if (isfinite(est->low) && isfinite(est->high))
		json_object_set_new(obj, "interval", json_pack("[f, f]", est->low, est->high));
	json_array_append_new(json_object_get(results, "figures"), obj);
}

static bool string_is(const json_t *obj, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(obj, key));

	return value && !strcmp(value, text);
}

/**
 * results_text - read a text from a part of results
 * @obj: the part
 * @key: the text's name
 *
 * Return: the text; "" where there is none.
 */
const char *results_text(const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(obj, key));

	return text ? text : "";
}

/**
 * results_find - look for a figure
 * @results: the results
 * @group: its group
 * @subject: its subject
 * @name: its name
 *
 * Return: the figure, or NULL.
 */
json_t *results_find(const json_t *results, const char *group, const char *subject,
		     const char *name)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f)
		if (string_is(f, "group", group) && string_is(f, "subject", subject) &&
		    string_is(f, "name", name))
			return f;
	return NULL;
}

/**
 * results_find_noise - look for what the machine's noise in a figure is
 * @results: the results
 * @group: the figure's group
 * @name: the figure's name
 *
 * Return: what results_noise() found, or NULL.
 */
json_t *results_find_noise(const json_t *results, const char *group, const char *name)
{
	json_t *n;
	size_t i;

	json_array_foreach(json_object_get(results, "noise"), i, n)
		if (string_is(n, "group", group) && string_is(n, "name", name))
			return n;
	return NULL;
}

/**
 * results_noise_value - tell how large the machine's noise in a figure is
 * @results: the results
 * @figure: the figure
 *
 * Return: the noise, in the figure's unit; NaN when it was not measured.
 */
double results_noise_value(const json_t *results, const json_t *figure)
{
	json_t *noise = results_find_noise(results, results_text(figure, "group"),
					   results_text(figure, "name"));

	return noise ? json_number_value(json_object_get(noise, "value")) : NAN;
}

/**
 * results_value - tell a figure's value
 * @figure: the figure
 *
 * Return: the value: exact, or a median.
 */
double results_value(const json_t *figure)
{
	return json_number_value(json_object_get(figure, "value"));
}

/**
 * results_samples - tell a figure's samples
 * @figure: the figure
 * @samples: the samples
 *
 * Return: their memory, to be freed.
 */
double *results_samples(const json_t *figure, struct samples *samples)
{
	json_t *array = json_object_get(figure, "samples"), *value;
	double *v = xrealloc(NULL, (json_array_size(array) + 1) * sizeof(*v));
	size_t i;

	json_array_foreach(array, i, value)
		v[i] = json_number_value(value);
	*samples = (struct samples){ v, json_array_size(array) };
	return v;
}

/**
 * results_noise - say what the machine makes of no difference
 * @results: the results, which have the figure of the same group, subject and name
 * @again: the same, from as many more runs of the same kernel that lay in between
 */
void results_noise(json_t *results, const struct figure *again)
{
	json_t *f = results_find(results, again->group, again->subject, again->name);
	struct samples first;
	double *v, noise;

	if (!f || !again->samples.n)
		return;
	v = results_samples(f, &first);
	noise = stats_noise(&first, &again->samples, seed_of(results));
	free(v);
	json_array_append_new(json_object_get(results, "noise"),
			      json_pack("{s:s, s:s, s:s, s:f, s:f, s:o}", "group", again->group,
					"subject", again->subject, "name", again->name, "value",
					noise, "relative", noise / results_value(f), "samples",
					json_samples(&again->samples)));
}

static void figure_against(json_t *results, json_t *f, const json_t *base, const char *baseline)
{
	double base_value = results_value(base), diff = results_value(f) - base_value;
	struct samples a, b;
	json_t *obj;
	struct comparison cmp;
	double *av, *bv;

	if (json_is_true(json_object_get(f, "exact"))) {
		obj = json_pack("{s:s, s:o, s:s}", "subject", baseline, "difference",
				json_value(diff), "verdict", diff != 0 ? "difference" : "same");
	} else {
		av = results_samples(base, &a);
		bv = results_samples(f, &b);
		stats_compare(&a, &b, results_noise_value(results, f), seed_of(results), &cmp);
		obj = json_pack("{s:s, s:f, s:[f, f], s:f, s:s, s:s?}", "subject", baseline,
				"difference", cmp.diff.value, "interval", cmp.diff.low,
				cmp.diff.high, "p", cmp.p, "verdict",
				cmp.verdict == VERDICT_DIFFERENCE ? "difference" : "noise", "why",
				cmp.why);
		free(av);
		free(bv);
	}
	if (base_value != 0)
		json_object_set_new(obj, "relative", json_real(diff / base_value));
	json_object_set_new(f, "against", obj);
}

/**
 * results_against - compare each figure with that of a baseline in its group
 * @results: the results, with all figures and their noise
 * @baseline: a subject
 */
void results_against(json_t *results, const char *baseline)
{
	json_t *f, *base;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f) {
		base = results_find(results, json_string_value(json_object_get(f, "group")),
				    baseline, json_string_value(json_object_get(f, "name")));
		if (base && base != f && !json_is_true(json_object_get(f, "derived")))
			figure_against(results, f, base, baseline);
	}
}

/**
 * results_verdict - add a verdict
 * @results: the results
 * @title: on what
 * @verdict: in a word or two
 * @fmt: as for printf(): the figures that it rests on
 */
void results_verdict(json_t *results, const char *title, const char *verdict, const char *fmt,
		     ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(json_object_get(results, "verdicts"),
			      json_pack("{s:s, s:s, s:s}", "title", title, "verdict", verdict,
					"text", text));
	free(text);
}

/**
 * results_note - add a note for the reader
 * @results: the results
 * @fmt: as for printf()
 */
void results_note(json_t *results, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(json_object_get(results, "notes"), json_string(text));
	free(text);
}

/**
 * format_count - format an integer with thousands separators
 * @value: the integer
 * @buf: where to
 *
 * Return: @buf.
 */
const char *format_count(u64 value, char buf[COUNT_SIZE])
{
	char digits[COUNT_SIZE];
	int len = snprintf(digits, sizeof(digits), "%llu", value), i;
	char *p = buf;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

/**
 * format_value - format a value as suits it
 * @value: the value
 * @unit: its unit
 * @exact: it is exact
 *
 * Return: the text, to be freed.
 */
char *format_value(double value, const char *unit, bool exact)
{
	char buf[COUNT_SIZE];

	if (!strcmp(unit, "%"))
		return xasprintf("%.1f %%", value);
	if (exact && value == floor(value) && fabs(value) < 9e15)
		return xasprintf("%s%s", value < 0 ? "-" : "", format_count(fabs(value), buf));
	if (fabs(value) >= 10000)
		return xasprintf("%s%s", value < 0 ? "-" : "",
				 format_count(round(fabs(value)), buf));
	return xasprintf("%.3f", value);
}

__printf(2, 3)
static void print_label(FILE *out, const char *fmt, ...)
{
	va_list ap;
	char *label;

	va_start(ap, fmt);
	label = xvasprintf(fmt, ap);
	va_end(ap);
	fprintf(out, "%-*s", LABEL_WIDTH, label);
	/* Too long: the columns go on the next line. */
	if (strlen(label) >= LABEL_WIDTH)
		fprintf(out, "\n%-*s", LABEL_WIDTH, "");
	free(label);
}

enum cell { CELL_VALUE, CELL_INTERVAL, CELL_AGAINST };

static char *make_cell(const json_t *f, enum cell cell)
{
	const char *unit = json_string_value(json_object_get(f, "unit"));
	json_t *against = json_object_get(f, "against"), *interval, *relative;
	bool exact = json_is_true(json_object_get(f, "exact"));
	char *low, *high, *text;

	switch (cell) {
	case CELL_VALUE:
		return f ? format_value(results_value(f), unit, exact) : xstrdup("-");
	case CELL_INTERVAL:
		interval = json_object_get(f, "interval");
		if (!interval)
			return xstrdup("-");
		low = format_value(json_number_value(json_array_get(interval, 0)), unit, false);
		high = format_value(json_number_value(json_array_get(interval, 1)), unit, false);
		text = xasprintf("%s..%s", low, high);
		free(low);
		free(high);
		return text;
	case CELL_AGAINST:
		break;
	}
	relative = json_object_get(against, "relative");
	if (!against)
		return xstrdup("-");
	if (string_is(against, "verdict", "noise"))
		return xstrdup("noise");
	return relative ? xasprintf("%+.1f %%", 100 * json_number_value(relative)) :
			  xstrdup(json_string_value(json_object_get(against, "verdict")));
}

/* As wide as the longest subject needs. */
static int column_width(const struct strv *subjects)
{
	int width = COLUMN_WIDTH, needed;
	size_t i;

	for (i = 0; i < subjects->n; i++) {
		needed = strlen(subjects->v[i]) + 2;
		width = needed > width ? needed : width;
	}
	return width;
}

static void print_cells(const json_t *results, const char *group, const char *name,
			const struct strv *subjects, enum cell cell, FILE *out)
{
	int width = column_width(subjects);
	size_t i;

	for (i = 0; i < subjects->n; i++) {
		char *text = make_cell(results_find(results, group, subjects->v[i], name), cell);

		fprintf(out, "%*s", width, text);
		free(text);
	}
	fputc('\n', out);
}

static void print_row(const json_t *results, const char *group, const char *name,
		      const struct strv *subjects, FILE *out)
{
	json_t *f = NULL, *noise = results_find_noise(results, group, name);
	const char *unit, *baseline = NULL;
	json_t *one, *against;
	bool bare;
	size_t i;

	for (i = 0; i < subjects->n; i++) {
		one = results_find(results, group, subjects->v[i], name);
		f = one ? one : f;
		against = json_object_get(one, "against");
		if (against)
			baseline = json_string_value(json_object_get(against, "subject"));
	}
	unit = json_string_value(json_object_get(f, "unit"));
	bare = !*unit || !strcmp(unit, "%") || strstr(name, unit) == name;
	print_label(out, "%s%s%s", name, bare ? "" : ", ", bare ? "" : unit);
	print_cells(results, group, name, subjects, CELL_VALUE, out);
	if (json_is_true(json_object_get(f, "exact")))
		return;
	print_label(out, "  95 %% interval");
	print_cells(results, group, name, subjects, CELL_INTERVAL, out);
	if (baseline) {
		print_label(out, "  against %s", baseline);
		print_cells(results, group, name, subjects, CELL_AGAINST, out);
	}
	if (json_is_true(json_object_get(f, "derived")))
		return;
	print_label(out, "  noise: a kernel against itself");
	if (noise)
		fprintf(out, "%*s+/-%.1f %%\n", COLUMN_WIDTH - 9, "",
			100 * json_number_value(json_object_get(noise, "relative")));
	else
		fprintf(out, "%*s\n", COLUMN_WIDTH, "not measured");
}

static void print_group(const json_t *results, const char *group, FILE *out)
{
	struct strv subjects = { 0 }, names = { 0 };
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f) {
		if (!string_is(f, "group", group))
			continue;
		strv_add_once(&subjects, json_string_value(json_object_get(f, "subject")));
		strv_add_once(&names, json_string_value(json_object_get(f, "name")));
	}
	print_label(out, "%s", group);
	for (i = 0; i < subjects.n; i++)
		fprintf(out, "%*s", column_width(&subjects), subjects.v[i]);
	fputc('\n', out);
	for (i = 0; i < names.n; i++)
		print_row(results, group, names.v[i], &subjects, out);
	fputc('\n', out);
	strv_free(&subjects);
	strv_free(&names);
}

/**
 * results_table - print results for people
 * @results: the results
 * @out: where to
 */
void results_table(const json_t *results, FILE *out)
{
	struct strv groups = { 0 };
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f)
		strv_add_once(&groups, json_string_value(json_object_get(f, "group")));
	for (i = 0; i < groups.n; i++)
		print_group(results, groups.v[i], out);
	strv_free(&groups);
	json_array_foreach(json_object_get(results, "verdicts"), i, f)
		fprintf(out, "%s: %s\n  %s\n", json_string_value(json_object_get(f, "title")),
			json_string_value(json_object_get(f, "verdict")),
			json_string_value(json_object_get(f, "text")));
	json_array_foreach(json_object_get(results, "notes"), i, f)
		fprintf(out, "%s\n", json_string_value(f));
}

/**
 * results_write - write results for programs
 * @results: the results
 * @path: the file, which is there whole or not at all; "-" for stdout
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error was told.
 */
int results_write(const json_t *results, const char *path)
{
	char *text = json_dumps(results, JSON_INDENT(2)), *whole;
	int ret = EXIT_OK;

	if (!text) {
		bench_err("the results cannot be written as JSON: is a path or an argument not UTF-8?");
		return EXIT_FAILED;
	}
	whole = xasprintf("%s\n", text);
	free(text);
	if (!strcmp(path, "-") ? fputs(whole, stdout) < 0 || fflush(stdout) :
				 write_file_atomic(path, whole)) {
		bench_err("cannot write %s: %s; the runs are kept: make room or choose another --json, and run the same command again with --resume",
			  path, strerror(errno));
		ret = EXIT_FAILED;
	}
	free(whole);
	return ret;
}

/**
 * results_show - print results for people, and write them for programs
 * @results: the results
 * @path: as for results_write(); with "-", there is no table
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error was told.
 */
int results_show(const json_t *results, const char *path)
{
	if (strcmp(path, "-"))
		results_table(results, stdout);
	fflush(stdout);
	return results_write(results, path);
}

static bool figure_usable(const json_t *f)
{
	return json_is_string(json_object_get(f, "group")) &&
	       json_is_string(json_object_get(f, "subject")) &&
	       json_is_string(json_object_get(f, "name")) &&
	       json_is_string(json_object_get(f, "unit")) &&
	       json_is_boolean(json_object_get(f, "exact")) &&
	       json_is_number(json_object_get(f, "value")) &&
	       json_array_size(json_object_get(f, "samples"));
}

/* Is everything in an array such that nobody trips over it? What is not there is no array. */
static bool array_usable(const json_t *results, const char *key, bool (*usable)(const json_t *))
{
	json_t *array = json_object_get(results, key), *one;
	size_t i;

	json_array_foreach(array, i, one)
		if (!usable(one))
			return false;
	return json_is_array(array);
}

static bool note_usable(const json_t *note)
{
	return json_is_string(note);
}

static bool object_usable(const json_t *obj)
{
	return json_is_object(obj);
}

/**
 * results_read - read results that results_write() wrote
 * @path: the file
 *
 * Return: the results; NULL after an error was told.
 */
json_t *results_read(const char *path)
{
	json_error_t error;
	json_t *results = json_load_file(path, 0, &error);

	if (!results) {
		bench_err("cannot read results from %s: %s (line %d); it is cut short or was not written by scs_bench: with the file of --out, the same command with --resume writes it anew",
			  path, error.text, error.line);
		return NULL;
	}
	if (!json_is_string(json_object_get(results, "scs_bench")) ||
	    json_integer_value(json_object_get(results, "schema")) != RESULTS_SCHEMA ||
	    !array_usable(results, "figures", figure_usable) ||
	    !array_usable(results, "noise", object_usable) ||
	    !array_usable(results, "verdicts", object_usable) ||
	    !array_usable(results, "notes", note_usable) ||
	    !json_is_object(json_object_get(results, "environment"))) {
		bench_err("%s does not hold results that this scs_bench can read: give a JSON file that it wrote with --json, not the file of --out",
			  path);
		json_decref(results);
		return NULL;
	}
	return results;
}
