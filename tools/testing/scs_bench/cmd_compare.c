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

static const char *text_of(const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(obj, key));

	return text ? text : "";
}

/* Print what differs between two descriptions; true if anything does. */
static bool show_changes(const char *where, const json_t *a, const json_t *b, FILE *out)
{
	bool changed = false;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)a, key, value) {
		json_t *other = json_object_get(b, key);
		char *was, *is, *path;

		/* The load is different each time. */
		if (json_equal(value, other) || !strcmp(key, "load"))
			continue;
		path = xasprintf("%s%s%s", where, *where ? ", " : "", key);
		if (json_is_object(value) && json_is_object(other)) {
			changed |= show_changes(path, value, other, out);
		} else {
			was = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
			is = other ? json_dumps(other, JSON_ENCODE_ANY | JSON_COMPACT) :
				     xstrdup("not there");
			fprintf(out, "  %s: %s -> %s\n", path, was, is);
			free(was);
			free(is);
			changed = true;
		}
		free(path);
	}
	return changed;
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

static double noise_of(const json_t *results, const json_t *f)
{
	json_t *noise = results_find_noise(results, text_of(f, "group"), text_of(f, "name"));

	return json_number_value(json_object_get(noise, "value"));
}

static void tell(struct tally *t, const json_t *f, const json_t *g, const char *verdict,
		 const char *why, FILE *out)
{
	bool exact = json_is_true(json_object_get(f, "exact"));
	double was = results_value(f), is = results_value(g);
	char *a = format_value(was, text_of(f, "unit"), exact);
	char *b = format_value(is, text_of(f, "unit"), exact);
	char *change = was != 0 ? xasprintf("%+.2f %%", 100 * (is - was) / was) : xstrdup("");

	fprintf(out, "%s, %s, %s: %s -> %s %s: %s%s%s\n", text_of(f, "group"),
		text_of(f, "subject"), text_of(f, "name"), a, b, change, verdict,
		why ? ": " : "", why ? why : "");
	json_array_append_new(t->list,
			      json_pack("{s:O, s:O, s:O, s:f, s:f, s:s, s:s?}", "group",
					json_object_get(f, "group"), "subject",
					json_object_get(f, "subject"), "name",
					json_object_get(f, "name"), "a", was, "b", is, "verdict",
					verdict, "why", why));
	free(change);
	free(b);
	free(a);
}

static void compare_figure(struct tally *t, const json_t *a, const json_t *b, const json_t *f,
			   const json_t *g, FILE *out)
{
	const char *verdict = "noise", *why = NULL;
	double *x, *y, noise;
	struct comparison cmp;
	struct samples sx, sy;

	if (json_is_true(json_object_get(f, "exact"))) {
		verdict = results_value(f) == results_value(g) ? "the same" : "difference";
	} else if (!same_machine(a, b)) {
		why = "not comparable, since the machines are not the same";
	} else {
		noise = fmax(noise_of(a, f), noise_of(b, g));
		x = results_samples(f, &sx);
		y = results_samples(g, &sy);
		stats_compare(&sx, &sy, noise, 1, &cmp);
		why = cmp.why;
		if (cmp.verdict == VERDICT_DIFFERENCE)
			verdict = "difference";
		free(x);
		free(y);
	}
	if (!strcmp(verdict, "difference"))
		t->different++;
	else
		t->same++;
	if (!strcmp(verdict, "difference") || t->all)
		tell(t, f, g, verdict, why, out);
}

static void only_in(struct tally *t, const char *which, const json_t *f, FILE *out)
{
	t->alone++;
	if (t->all)
		fprintf(out, "%s, %s, %s: only in %s\n", text_of(f, "group"),
			text_of(f, "subject"), text_of(f, "name"), which);
}

static void compare(struct tally *t, const json_t *a, const json_t *b, FILE *out)
{
	json_t *f, *g;
	size_t i;

	json_array_foreach(json_object_get(a, "figures"), i, f) {
		g = results_find(b, text_of(f, "group"), text_of(f, "subject"),
				 text_of(f, "name"));
		if (g)
			compare_figure(t, a, b, f, g, out);
		else
			only_in(t, "the first", f, out);
	}
	json_array_foreach(json_object_get(b, "figures"), i, g)
		if (!results_find(a, text_of(g, "group"), text_of(g, "subject"),
				  text_of(g, "name")))
			only_in(t, "the second", g, out);
}

static int compare_files(const char *path_a, const char *path_b, struct tally *t,
			 const char *json)
{
	json_t *a = results_read(path_a), *b = a ? results_read(path_b) : NULL, *all;
	bool quiet = json && !strcmp(json, "-");
	FILE *out = quiet ? stderr : stdout;
	int ret = EXIT_UNUSABLE;

	if (!a || !b)
		goto out;
	if (strcmp(text_of(a, "scs_bench"), text_of(b, "scs_bench"))) {
		bench_err("%s is of scs_bench %s and %s of scs_bench %s: give two of the same subcommand",
			  path_a, text_of(a, "scs_bench"), path_b, text_of(b, "scs_bench"));
		goto out;
	}
	fprintf(out, "environment, %s -> %s:\n", path_a, path_b);
	if (!show_changes("", json_object_get(a, "environment"),
			  json_object_get(b, "environment"), out))
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
	fputs("What the machine itself did differently between the two measurements\n"
	      "counts as a difference in wall time.\n",
	      out);
	ret = t->different ? EXIT_FAILED : EXIT_OK;
	if (json) {
		all = json_pack("{s:s, s:s, s:s, s:O}", "scs_bench", "compare", "a", path_a, "b",
				path_b, "differences", t->list);
		if (results_write(all, json))
			ret = EXIT_FAILED;
		json_decref(all);
	}
out:
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
