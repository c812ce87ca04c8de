// SPDX-License-Identifier: GPL-2.0
/*
 * Scripts for gnuplot that draw results.
 *
 * What is drawn has no title: the page has it, where it wraps. Bars lie, for then the names of
 * kernels stand beside them one below the other, however long they are and however many.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "results.h"

#define WIDTH		500
#define BAR_HEIGHT	26
#define DOT_HEIGHT	16
/* An axis with its label, and the same with the margin at the top. */
#define AXIS_HEIGHT	58
#define FRAME_HEIGHT	73
/* A line of the legend: one below the other, as gnuplot misjudges what fits side by side. */
#define LEGEND_HEIGHT	19
#define LINES_HEIGHT	290

/* Okabe and Ito's colours, which everyone can tell apart, and which differ in grey, too. */
static const char * const colours[] = {
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442",
};

/* A text between double quotes for gnuplot. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
	fputc('"', out);
}

/**
 * results_list - list what the figures of a group have
 * @results: the results
 * @group: the group, or NULL for all
 * @key: "group", "subject" or "name"
 * @sv: where the distinct values are appended, in the order of the figures
 */
void results_list(const json_t *results, const char *group, const char *key, struct strv *sv)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f)
		if (!group || !strcmp(results_text(f, "group"), group))
			strv_add_once(sv, results_text(f, key));
}

/*
 * Kernels of one variant have one colour, whatever their mode: "generic/scs" and "hw_tags/scs". The
 * well-known ones have theirs in all plots; others come after these.
 */
static const char *colour_of(const struct strv *subjects, const char *subject)
{
	static const char * const known[] = { "upstream", "null", "scs", "fallback" };
	struct strv variants = { 0 };
	const char *slash;
	size_t i, at = 0;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		strv_add(&variants, "%s", known[i]);
	for (i = 0; i < subjects->n; i++) {
		slash = strrchr(subjects->v[i], '/');
		strv_add_once(&variants, slash ? slash + 1 : subjects->v[i]);
	}
	slash = strrchr(subject, '/');
	while (strcmp(variants.v[at], slash ? slash + 1 : subject))
		at++;
	strv_free(&variants);
	return colours[at % ARRAY_SIZE(colours)];
}

/* Where nothing but its colour tells a kernel, two can't have the same. */
static const char *line_colour(const struct strv *subjects, size_t nr)
{
	const char *colour = colour_of(subjects, subjects->v[nr]);
	size_t i, j;

	for (i = 0; i < subjects->n; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(colour_of(subjects, subjects->v[i]),
				    colour_of(subjects, subjects->v[j])))
				return colours[nr % ARRAY_SIZE(colours)];
	return colour;
}

/* Large figures are shown in millions and the like, as a plot's axis has room for. */
static double scale_of(double most, const char *unit, char **label)
{
	static const struct {
		double factor;
		const char *bytes;
		const char *others;
	} scales[] = {
		{ 1e9, "GB", "billion " }, { 1e6, "MB", "million " }, { 1e3, "kB", "thousand " },
	};
	bool bytes = !strcmp(unit, "bytes");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(scales); i++) {
		if (most < 2 * scales[i].factor)
			continue;
		*label = bytes ? xstrdup(scales[i].bytes) :
				 xasprintf("%s%s", scales[i].others, unit);
		return scales[i].factor;
	}
	*label = xstrdup(unit);
	return 1;
}

static void begin_plot(FILE *out, unsigned int height)
{
	fprintf(out, "set terminal svg size %d,%u font 'sans-serif,13' background '#ffffff'\n",
		WIDTH, height);
	fputs("set termoption noenhanced\nset border 3 lc rgb '#666666'\n"
	      "set xtics nomirror noenhanced textcolor rgb '#1a1a1a'\n"
	      "set ytics nomirror noenhanced textcolor rgb '#1a1a1a'\n"
	      "set style fill solid 0.9\nset rmargin 3\n"
	      "rgb(s) = int('0x'.s[2:7])\n", out);
}

/* In its own room at the bottom: gnuplot lets it run into the axis otherwise. */
static void put_legend(FILE *out, size_t lines, unsigned int height)
{
	double top = (double)(LEGEND_HEIGHT * lines) / height;

	fprintf(out, "set bmargin at screen %.4f\n", top + (double)AXIS_HEIGHT / height);
	fprintf(out, "set key at screen 0.04, screen %.4f left top ", top);
	fputs("vertical maxcols 1 Left reverse noenhanced samplen 2\n", out);
}

/* A row for each of @n kernels or names, the first on top, and @legend lines below. */
static void begin_rows(FILE *out, size_t n, unsigned int row_height, size_t legend,
		       const char *label)
{
	unsigned int height = FRAME_HEIGHT + LEGEND_HEIGHT * legend + row_height * n;

	begin_plot(out, height);
	fputs("set grid xtics lc rgb '#dddddd'\nset ytics scale 0\n", out);
	fprintf(out, "set yrange [%zu.5:-0.5]\n", n - 1);
	put_legend(out, legend, height);
	fputs("set xlabel ", out);
	put_quoted(out, label);
	fputc('\n', out);
}

/* The end of a figure's interval; its value where there is none. */
static double end_of(const json_t *f, size_t end)
{
	json_t *interval = json_object_get(f, "interval");

	return interval ? json_number_value(json_array_get(interval, end)) : results_value(f);
}

/**
 * plot_bars - draw one figure: a bar for each subject
 * @results: the results
 * @group: the group
 * @name: the figure
 *
 * Return: the script, to be freed; NULL when there is nothing to compare.
 */
char *plot_bars(const json_t *results, const char *group, const char *name)
{
	struct strv subjects = { 0 };
	double most = 0, least = 0, scale;
	char *script = NULL, *label;
	const char *unit = "";
	bool interval = false;
	size_t i, n = 0, size;
	FILE *out;
	json_t *f;

	results_list(results, group, "subject", &subjects);
	for (i = 0; i < subjects.n; i++) {
		f = results_find(results, group, subjects.v[i], name);
		if (!f)
			continue;
		n++;
		unit = results_text(f, "unit");
		most = fmax(most, end_of(f, 1));
		least = fmin(least, end_of(f, 0));
		interval |= !!json_object_get(f, "interval");
	}
	/* Nothing but zeroes needs no picture. */
	if (n < 2 || (most == 0 && least == 0)) {
		strv_free(&subjects);
		return NULL;
	}
	scale = scale_of(fmax(most, -least), unit, &label);
	out = open_memstream(&script, &size);
	begin_rows(out, n, BAR_HEIGHT, 0, label);
	free(label);
	fputs("$data << END\n", out);
	for (i = 0; i < subjects.n; i++) {
		f = results_find(results, group, subjects.v[i], name);
		if (!f)
			continue;
		put_quoted(out, subjects.v[i]);
		fprintf(out, " %.9g %.9g %.9g %s\n", results_value(f) / scale, end_of(f, 0) / scale,
			end_of(f, 1) / scale, colour_of(&subjects, subjects.v[i]));
	}
	/* From 0 on, since a bar's length is what is compared; with room for the numbers. */
	fprintf(out, "END\nset xrange [%.9g:%.9g]\n", least < 0 ? 1.25 * least / scale : 0,
		1.25 * most / scale);
	fputs("plot $data using 2:0:(0):2:($0-0.35):($0+0.35):(rgb(strcol(5))):ytic(1) \\\n"
	      "with boxxyerror lc rgb variable notitle", out);
	if (interval)
		fputs(", \\\n"
		      "$data using 2:0:3:4 with xerrorbars pt 7 ps 0.4 lw 2 lc rgb 'black' notitle",
		      out);
	fputs(", \\\n"
	      "$data using ($4 > 0 ? $4 : 0):0:(sprintf('%.5g', $2)) \\\n"
	      "with labels left offset 0.8,0 notitle\n", out);
	fclose(out);
	strv_free(&subjects);
	return script;
}

/* The parts of a whole; indented names are parts of parts. */
static void list_parts(const json_t *results, const char *group, struct strv *names)
{
	struct strv all = { 0 };
	size_t i;

	results_list(results, group, "name", &all);
	for (i = 0; i < all.n; i++)
		if (all.v[i][0] != ' ')
			strv_add(names, "%s", all.v[i]);
	strv_free(&all);
}

/**
 * plot_stack - draw a group whose figures add up: a bar of them for each subject
 * @results: the results
 * @group: the group
 *
 * Return: the script, to be freed; NULL when there is nothing to show.
 */
char *plot_stack(const json_t *results, const char *group)
{
	struct strv subjects = { 0 }, names = { 0 };
	char *script = NULL, *label;
	double most = 0, scale, sum;
	size_t i, j, size;
	FILE *out;

	results_list(results, group, "subject", &subjects);
	list_parts(results, group, &names);
	for (i = 0; i < subjects.n; i++) {
		for (sum = 0, j = 0; j < names.n; j++)
			sum += results_value(results_find(results, group, subjects.v[i],
							  names.v[j]));
		most = fmax(most, sum);
	}
	if (names.n < 2 || most <= 0)
		goto out;
	scale = scale_of(most, "instructions", &label);
	out = open_memstream(&script, &size);
	begin_rows(out, subjects.n, BAR_HEIGHT, names.n, label);
	free(label);
	fputs("$data << END\n", out);
	for (i = 0; i < subjects.n; i++) {
		put_quoted(out, subjects.v[i]);
		/* Where each part begins, and where the last one ends. */
		fputs(" 0", out);
		for (sum = 0, j = 0; j < names.n; j++) {
			sum += results_value(results_find(results, group, subjects.v[i],
							  names.v[j])) / scale;
			fprintf(out, " %.9g", sum);
		}
		fputc('\n', out);
	}
	fprintf(out, "END\nset xrange [0:%.9g]\nplot ", 1.2 * most / scale);
	for (j = 0; j < names.n; j++) {
		fprintf(out, "$data using %zu:0:%zu:%zu:($0-0.35):($0+0.35):ytic(1) \\\n", j + 2,
			j + 2, j + 3);
		fprintf(out, "with boxxyerror lc rgb '%s' title ",
			colours[j % ARRAY_SIZE(colours)]);
		put_quoted(out, names.v[j]);
		fputs(", ", out);
	}
	fprintf(out, "$data using %zu:0:(sprintf('%%.5g', $%zu)) \\\n", names.n + 2, names.n + 2);
	fputs("with labels left offset 0.8,0 notitle\n", out);
	fclose(out);
out:
	strv_free(&names);
	strv_free(&subjects);
	return script;
}

/**
 * plot_line_of - find what line a figure with "depth N" in its name is a point of
 * @name: the figure's name
 * @depth: N
 *
 * Return: the name without that, to be freed; NULL when it has none.
 */
char *plot_line_of(const char *name, unsigned int *depth)
{
	const char *p = strstr(name, "depth ");
	int len = 0;

	if (!p || sscanf(p, "depth %u%n", depth, &len) != 1)
		return NULL;
	return xasprintf("%.*s%s", (int)(p - name), name, p + len);
}

/* The figure if it is a point of that line, otherwise NULL. */
static const json_t *point_of(const json_t *f, const char *group, const char *subject,
			      const char *line, unsigned int *depth)
{
	char *own = plot_line_of(results_text(f, "name"), depth);
	bool is = own && !strcmp(own, line) && !strcmp(results_text(f, "group"), group) &&
		  (!subject || !strcmp(results_text(f, "subject"), subject));

	free(own);
	return is ? f : NULL;
}

static void put_points(FILE *out, const json_t *results, const char *group, const char *subject,
		       const char *line, size_t *points)
{
	unsigned int depth;
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f) {
		if (!point_of(f, group, subject, line, &depth))
			continue;
		fprintf(out, "%u %.9g %.9g %.9g\n", depth, results_value(f), end_of(f, 0),
			end_of(f, 1));
		++*points;
	}
}

/**
 * plot_depths - draw figures with "depth N" in their names: a line by N for each subject
 * @results: the results
 * @group: the group
 * @line: their names without that
 *
 * Return: the script, to be freed; NULL when there are less than two points.
 */
char *plot_depths(const json_t *results, const char *group, const char *line)
{
	struct strv subjects = { 0 };
	unsigned int depth, least = ~0U, most = 0;
	size_t i, j, size, points = 0;
	const char *unit = "";
	bool interval = false;
	char *script = NULL;
	FILE *out;
	json_t *f;

	results_list(results, group, "subject", &subjects);
	out = open_memstream(&script, &size);
	begin_plot(out, LINES_HEIGHT + LEGEND_HEIGHT * subjects.n);
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "$data%zu << END\n", j);
		put_points(out, results, group, subjects.v[j], line, &points);
		fputs("END\n", out);
	}
	fputs("set logscale x 2\nset xtics ()\n", out);
	json_array_foreach(json_object_get(results, "figures"), i, f) {
		if (!point_of(f, group, NULL, line, &depth))
			continue;
		unit = results_text(f, "unit");
		interval |= !!json_object_get(f, "interval");
		least = depth < least ? depth : least;
		most = depth > most ? depth : most;
		fprintf(out, "set xtics add (\"%u\" %u)\n", depth, depth);
	}
	fprintf(out, "set xrange [%g:%g]\n", 0.9 * least, 1.1 * most);
	fputs("set grid ytics lc rgb '#dddddd'\nset yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\n"
	      "set xlabel 'depth of the trace, frames'\n", out);
	put_legend(out, subjects.n, LINES_HEIGHT + LEGEND_HEIGHT * subjects.n);
	fputs("set ylabel ", out);
	put_quoted(out, unit);
	fputs("\nplot ", out);
	for (j = 0; interval && j < subjects.n; j++)
		fprintf(out, "$data%zu using 1:2:3:4 with yerrorbars ps 0 lc rgb '%s' notitle, ",
			j, line_colour(&subjects, j));
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "%s$data%zu using 1:2 with linespoints lw 2 pt %zu lc rgb '%s' title ",
			j ? ", " : "", j, 4 + j, line_colour(&subjects, j));
		put_quoted(out, subjects.v[j]);
	}
	fputc('\n', out);
	fclose(out);
	if (points < 2) {
		free(script);
		script = NULL;
	}
	strv_free(&subjects);
	return script;
}

/**
 * plot_dots - draw figures of one unit below each other: a dot for each subject
 * @results: the results
 * @group: the group
 * @names: the figures' names
 * @first: which of them comes first; PLOT_DOT_ROWS follow at most
 *
 * Return: the script, to be freed.
 */
char *plot_dots(const json_t *results, const char *group, const struct strv *names, size_t first)
{
	size_t n = names->n - first, i, j, size;
	struct strv subjects = { 0 };
	double most = 0, all_least = INFINITY;
	const char *unit = "";
	char *script = NULL;
	FILE *out;
	json_t *f;

	n = n < PLOT_DOT_ROWS ? n : PLOT_DOT_ROWS;
	results_list(results, group, "subject", &subjects);
	/* One scale for all parts of what is too long for one. */
	for (i = 0; i < names->n; i++) {
		for (j = 0; j < subjects.n; j++) {
			f = results_find(results, group, subjects.v[j], names->v[i]);
			if (!f)
				continue;
			unit = results_text(f, "unit");
			most = fmax(most, end_of(f, 1));
			all_least = fmin(all_least, end_of(f, 0));
		}
	}
	out = open_memstream(&script, &size);
	begin_rows(out, n, DOT_HEIGHT, subjects.n, unit);
	fputs("set grid ytics lc rgb '#eeeeee'\n", out);
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "$data%zu << END\n", j);
		for (i = 0; i < n; i++) {
			f = results_find(results, group, subjects.v[j], names->v[first + i]);
			if (!f)
				continue;
			fprintf(out, "%zu ", i);
			put_quoted(out, names->v[first + i]);
			fprintf(out, " %.9g %.9g %.9g\n", results_value(f), end_of(f, 0),
				end_of(f, 1));
		}
		fputs("END\n", out);
	}
	/* Dots need no 0: what is compared is where they are. */
	fprintf(out, "set xrange [%.9g:%.9g]\nplot ", all_least - 0.03 * (most - all_least + 1),
		most + 0.03 * (most - all_least + 1));
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "%s$data%zu using 3:1:ytic(2) with points pt %zu ps 0.8 lw 2 \\\n",
			j ? ", " : "", j, 4 + j);
		fprintf(out, "lc rgb '%s' title ", line_colour(&subjects, j));
		put_quoted(out, subjects.v[j]);
		fprintf(out, ", $data%zu using 3:1:4:5 with xerrorbars ps 0 lc rgb '%s' notitle", j,
			line_colour(&subjects, j));
	}
	fputc('\n', out);
	fclose(out);
	strv_free(&subjects);
	return script;
}
