// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "compare": two files of results, what changed, and whether it is real.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_compare.h"
#include "results.h"

/**
 * struct tally - what was found
 * @same: figures that are the same, or differ by noise
 * @different: figures that differ
 * @alone: figures that only one file has
 * @list: all of them that are not the same, for --json
 * @all: print those that are the same, too
 */
struct tally {
	size_t same;
	size_t different;
	size_t alone;
	json_t *list;
	bool all;
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench compare A.json B.json [options]\n"
	      "\n"
	      "Compares two files of results, figure by figure: what changed from A to B, and whether\n"
	      "it is a difference or noise. Exits with 1 when there is a difference.\n"
	      "\n"
	      "  --all            show what is the same, too\n"
	      "  --json FILE      what differs, as JSON (- for the terminal, instead of the table)\n"
	      "  --help           this text\n", out);
}

static char *json_text(const json_t *value)
{
	return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : xstrdup("not there");
}

static void show_changes(const char *where, const json_t *a, const json_t *b, json_t *list,
			 FILE *out);

static void show_change(const char *where, const char *key, const json_t *value,
			const json_t *other, json_t *list, FILE *out)
{
	char *path, *was, *is;

	/* The load is different each time. */
	if (json_equal(value, other) || !strcmp(key, "load"))
		return;
	path = xasprintf("%s%s%s", where, *where ? ", " : "", key);
	if (json_is_object(value) && json_is_object(other)) {
		show_changes(path, value, other, list, out);
	} else {
		was = json_text(value);
		is = json_text(other);
		fprintf(out, "  %s: %s -> %s\n", path, was, is);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "what", path, "a", was,
						      "b", is));
		free(was);
		free(is);
	}
	free(path);
}

/* Print what differs between two descriptions, whichever of them has it, and add it to @list. */
static void show_changes(const char *where, const json_t *a, const json_t *b, json_t *list,
			 FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)a, key, value)
		show_change(where, key, value, json_object_get(b, key), list, out);
	json_object_foreach((json_t *)b, key, value)
		if (!json_object_get(a, key))
			show_change(where, key, NULL, value, list, out);
}

static bool same_machine(const json_t *a, const json_t *b)
{
	static const char * const keys[] = { "cpu", "cpus", "machine", "release" };
	json_t *x = json_object_get(json_object_get(a, "environment"), "host");
	json_t *y = json_object_get(json_object_get(b, "environment"), "host");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!json_equal(json_object_get(x, keys[i]), json_object_get(y, keys[i])))
			return false;
	return true;
}

/* Of which image is a figure? NULL when that is not known. */
static const char *image_of(const json_t *results, const json_t *f)
{
	char *name = xasprintf("%s/%s", results_text(f, "group"), results_text(f, "subject"));
	json_t *images = json_object_get(json_object_get(results, "environment"), "images");
	const char *hash = json_string_value(json_object_get(json_object_get(images, name),
							     "sha256"));

	free(name);
	return hash;
}

static bool same_image(const json_t *a, const json_t *b, const json_t *f)
{
	const char *x = image_of(a, f), *y = image_of(b, f);

	return x && y && !strcmp(x, y);
}

/*
 * What the machine did differently between the two measurements: the most, as a share, by which a
 * figure of this name changed for a kernel that did not. 0 when no kernel is in both.
 */
static double drift_of(const json_t *a, const json_t *b, const json_t *f)
{
	double most = 0;
	json_t *one, *g;
	size_t i;

	json_array_foreach(json_object_get(a, "figures"), i, one) {
		if (strcmp(results_text(one, "name"), results_text(f, "name")) ||
		    strcmp(results_text(one, "group"), results_text(f, "group")) ||
		    !same_image(a, b, one) || results_value(one) == 0)
			continue;
		g = results_find(b, results_text(one, "group"), results_text(one, "subject"),
				 results_text(one, "name"));
		if (g)
			most = fmax(most, fabs(results_value(g) / results_value(one) - 1));
	}
	return most;
}

/**
 * struct judgement - what is said of a figure
 * @verdict: "difference", "noise" or "the same"
 * @why: the reason, or NULL
 * @cmp: what the samples say; only of use if @tested
 * @noise: what the machine makes of no difference
 * @tested: samples were compared
 */
struct judgement {
	const char *verdict;
	const char *why;
	struct comparison cmp;
	double noise;
	bool tested;
};

static void print_judgement(const json_t *f, const json_t *g, const struct judgement *j, FILE *out)
{
	bool exact = json_is_true(json_object_get(f, "exact"));
	double was = results_value(f), is = results_value(g);
	char *a = format_value(was, results_text(f, "unit"), exact);
	char *b = format_value(is, results_text(f, "unit"), exact);

	fprintf(out, "%s, %s, %s: %s -> %s", results_text(f, "group"), results_text(f, "subject"),
		results_text(f, "name"), a, b);
	if (was != 0)
		fprintf(out, " %+.2f %%", 100 * (is - was) / was);
	fprintf(out, ": %s%s%s\n", j->verdict, j->why ? ": " : "", j->why ? j->why : "");
	if (j->tested && was != 0)
		fprintf(out, "  95 %% interval %+.2f..%+.2f %%, p %.4f, noise +/-%.2f %%\n",
			100 * j->cmp.diff.low / was, 100 * j->cmp.diff.high / was, j->cmp.p,
			100 * j->noise / was);
	free(b);
	free(a);
}

static void tell(struct tally *t, const json_t *f, const json_t *g, const struct judgement *j,
		 FILE *out)
{
	json_t *obj = json_pack("{s:O, s:O, s:O, s:f, s:f, s:s, s:s?}", "group",
				json_object_get(f, "group"), "subject",
				json_object_get(f, "subject"), "name", json_object_get(f, "name"),
				"a", results_value(f), "b", results_value(g), "verdict",
				j->verdict, "why", j->why);

	print_judgement(f, g, j, out);
	if (j->tested) {
		json_object_set_new(obj, "interval", json_pack("[f, f]", j->cmp.diff.low,
							       j->cmp.diff.high));
		json_object_set_new(obj, "p", json_real(j->cmp.p));
		if (isfinite(j->noise))
			json_object_set_new(obj, "noise", json_real(j->noise));
	}
	json_array_append_new(t->list, obj);
}

static double end_of(const json_t *f, size_t end)
{
	json_t *interval = json_object_get(f, "interval");

	return interval ? json_number_value(json_array_get(interval, end)) : NAN;
}

/* What was computed from others has no samples: its intervals have to be apart. */
static void judge_derived(const json_t *f, const json_t *g, struct judgement *j)
{
	if (end_of(f, 1) < end_of(g, 0) || end_of(g, 1) < end_of(f, 0))
		j->verdict = "difference";
	else
		j->why = "the intervals are not apart";
}

static void judge_samples(const json_t *a, const json_t *b, const json_t *f, const json_t *g,
			  struct judgement *j)
{
	double drift = drift_of(a, b, f) * fabs(results_value(f)), own;
	struct samples sx, sy;
	double *x = results_samples(f, &sx), *y = results_samples(g, &sy);

	/* fmax() takes the one that is known, if only one is. */
	own = fmax(results_noise_value(a, f), results_noise_value(b, f));
	j->noise = own + drift;
	j->tested = stats_compare(&sx, &sy, j->noise, 1, &j->cmp);
	j->why = j->cmp.why;
	if (j->cmp.verdict == VERDICT_DIFFERENCE)
		j->verdict = "difference";
	else if (fabs(j->cmp.diff.value) > own && fabs(j->cmp.diff.value) <= j->noise)
		j->why = "a kernel that did not change differs by as much: it is the machine";
	free(x);
	free(y);
}

static void compare_figure(struct tally *t, const json_t *a, const json_t *b, const json_t *f,
			   const json_t *g, FILE *out)
{
	struct judgement j = { .verdict = "noise" };

	if (json_is_true(json_object_get(f, "exact")) && json_is_true(json_object_get(g, "exact")))
		j.verdict = results_value(f) == results_value(g) ? "the same" : "difference";
	else if (!same_machine(a, b))
		j.why = "not comparable, since the machines are not the same";
	else if (json_is_true(json_object_get(f, "derived")))
		judge_derived(f, g, &j);
	else
		judge_samples(a, b, f, g, &j);
	if (!strcmp(j.verdict, "difference"))
		t->different++;
	else
		t->same++;
	if (!strcmp(j.verdict, "difference") || t->all)
		tell(t, f, g, &j, out);
}

static void only_in(struct tally *t, const char *which, const json_t *f, FILE *out)
{
	t->alone++;
	json_array_append_new(t->list,
			      json_pack("{s:O, s:O, s:O, s:s}", "group",
					json_object_get(f, "group"), "subject",
					json_object_get(f, "subject"), "name",
					json_object_get(f, "name"), "only in", which));
	if (t->all)
		fprintf(out, "%s, %s, %s: only in %s\n", results_text(f, "group"),
			results_text(f, "subject"), results_text(f, "name"), which);
}

static void compare(struct tally *t, const json_t *a, const json_t *b, FILE *out)
{
	json_t *f, *g;
	size_t i;

	json_array_foreach(json_object_get(a, "figures"), i, f) {
		g = results_find(b, results_text(f, "group"), results_text(f, "subject"),
				 results_text(f, "name"));
		if (g)
			compare_figure(t, a, b, f, g, out);
		else
			only_in(t, "a", f, out);
	}
	json_array_foreach(json_object_get(b, "figures"), i, g)
		if (!results_find(a, results_text(g, "group"), results_text(g, "subject"),
				  results_text(g, "name")))
			only_in(t, "b", g, out);
}

static int compare_files(const char *path_a, const char *path_b, struct tally *t,
			 const char *json)
{
	json_t *a = results_read(path_a), *b = a ? results_read(path_b) : NULL, *all;
	json_t *changes = json_array();
	bool quiet = json && !strcmp(json, "-");
	FILE *out = quiet ? stderr : stdout;
	int ret = EXIT_UNUSABLE;

	if (!a || !b)
		goto out;
	if (strcmp(results_text(a, "scs_bench"), results_text(b, "scs_bench"))) {
		bench_err("%s is of scs_bench %s and %s of scs_bench %s: give two of the same subcommand",
			  path_a, results_text(a, "scs_bench"), path_b,
			  results_text(b, "scs_bench"));
		goto out;
	}
	fprintf(out, "environment, %s -> %s:\n", path_a, path_b);
	show_changes("", json_object_get(a, "environment"), json_object_get(b, "environment"),
		     changes, out);
	if (!json_array_size(changes))
		fputs("  the same\n", out);
	compare(t, a, b, out);
	if (!t->same && !t->different) {
		bench_err("%s and %s have no figure in common: give results of the same kernels",
			  path_a, path_b);
		goto out;
	}
	fprintf(out,
		"%zu figures differ, %zu are the same or differ by noise, %zu are in one file only\n",
		t->different, t->same, t->alone);
	fputs("Wall time: what the machine did differently between the two measurements is only\n"
	      "told from a difference where both have a kernel in common, by its image.\n",
	      out);
	ret = t->different ? EXIT_FAILED : EXIT_OK;
	if (json) {
		all = json_pack("{s:s, s:s, s:s, s:O, s:O}", "scs_bench", "compare", "a", path_a,
				"b", path_b, "environment", changes, "differences", t->list);
		if (results_write(all, json))
			ret = EXIT_FAILED;
		json_decref(all);
	}
out:
	json_decref(changes);
	json_decref(b);
	json_decref(a);
	return ret;
}

/**
 * cmd_compare - the subcommand "compare"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code: 0 when nothing differs, 1 when something does.
 */
int cmd_compare(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct tally tally = { 0 };
	const char *json = NULL;
	int opt, ret;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			tally.all = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_OK;
		default:
			bench_err("see scs_bench compare --help");
			return EXIT_UNUSABLE;
		}
	}
	if (argc - optind != 2) {
		bench_err("compare needs two files of results; see scs_bench compare --help");
		return EXIT_UNUSABLE;
	}
	tally.list = json_array();
	ret = compare_files(argv[optind], argv[optind + 1], &tally, json);
	json_decref(tally.list);
	return ret;
}
