// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "report": results as one HTML page, with plots, environment and verdicts.
 *
 * The page needs nothing beside itself: gnuplot draws the plots as SVG, and they are in the page as
 * data. What is plotted follows from the figures alone, so that every subcommand's results can be
 * shown: bars by kernel, with intervals; stacked bars where the figures of a group are the parts of
 * a whole; and lines where figures have a "depth N" in their names.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd_report.h"
#include "opts.h"
#include "proc.h"
#include "results.h"

#define MAX_SVG		(16L << 20)
#define WHERE		": where it goes"

/* Okabe and Ito's colours, which everyone can tell apart, and which differ in grey, too. */
static const char * const colours[] = {
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442",
};

static const char style[] =
	"body{font:15px/1.45 sans-serif;color:#1a1a1a;max-width:70rem;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.7rem;margin-bottom:.2rem}\n"
	"h2{border-bottom:2px solid #0072b2;margin-top:2.5rem}\n"
	"table{border-collapse:collapse;margin:.8rem 0;font-size:.85rem}\n"
	"th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:right;vertical-align:top}\n"
	"th:first-child,td:first-child{text-align:left}\n"
	"td small{color:#555;display:block}\n"
	"table.text td,table.text th{text-align:left;overflow-wrap:anywhere}\n"
	".plots{display:flex;flex-wrap:wrap;gap:1rem}\n"
	".plots img{width:33rem;max-width:100%}\n"
	".v{font-weight:bold}.good{color:#00664b}.bad{color:#a33c00}.open{color:#555}\n"
	"code{font-size:.8rem;overflow-wrap:anywhere}\n"
	"@media print{body{margin:0;max-width:none;font-size:10pt}h2{break-before:page}\n"
	"h2:first-of-type{break-before:auto}h3{break-after:avoid}img,tr,table.keep{break-inside:avoid}\n"
	".plots img{width:48%}}\n";

static void usage(FILE *out)
{
	fputs("Usage: scs_bench report [options] [RESULTS.json...]\n"
	      "\n"
	      "Makes one HTML page of results: verdicts, plots, tables and the environment. It needs\n"
	      "nothing beside itself, in a browser or printed. Without RESULTS.json, those of all\n"
	      "subcommands in build/bench. Needs gnuplot.\n"
	      "\n"
	      "  --out FILE       the page (build/bench/report.html)\n"
	      "  --title TEXT     its title (What stack traces cost)\n"
	      "  --help           this text\n", out);
}

/**
 * html_escape - make a text fit for HTML
 * @text: the text
 *
 * Return: it with <, >, & and " as entities, to be freed.
 */
char *html_escape(const char *text)
{
	size_t size;
	char *out;
	FILE *f = open_memstream(&out, &size);

	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fputc(*text, f);
			break;
		}
	}
	fclose(f);
	return out;
}

static void put_html(FILE *out, const char *text)
{
	char *escaped = html_escape(text);

	fputs(escaped, out);
	free(escaped);
}

/* A text between double quotes for gnuplot, without what it would take for markup. */
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

/* The distinct values of @key among the figures of @group, or of all if it is NULL. */
static void list(const json_t *results, const char *group, const char *key, struct strv *sv)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f)
		if (!group || !strcmp(results_text(f, "group"), group))
			strv_add_once(sv, results_text(f, key));
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

static void begin_plot(FILE *out, const char *title, const char *label)
{
	fputs("set terminal svg size 620,330 font 'sans-serif,13' background '#ffffff'\n"
	      "set border 3 lc rgb '#666666'\nset grid ytics lc rgb '#dddddd'\n"
	      "set xtics nomirror noenhanced\nset ytics nomirror\nset style fill solid 0.9\n"
	      "set boxwidth 0.6\nset termoption noenhanced\nset title ", out);
	put_quoted(out, title);
	fputs("\nset ylabel ", out);
	put_quoted(out, label);
	fputc('\n', out);
}

/**
 * plot_bars - write a gnuplot script for one figure: a bar for each subject
 * @results: the results
 * @group: the group
 * @name: the figure
 *
 * Return: the script, to be freed; NULL when there is nothing to compare.
 */
char *plot_bars(const json_t *results, const char *group, const char *name)
{
	struct strv subjects = { 0 };
	char *script = NULL, *label, *title;
	double most = 0, least = 0, scale;
	const char *unit = "";
	bool interval = false;
	size_t i, n = 0, size;
	FILE *out;
	json_t *f;

	list(results, group, "subject", &subjects);
	for (i = 0; i < subjects.n; i++) {
		f = results_find(results, group, subjects.v[i], name);
		if (!f)
			continue;
		n++;
		unit = results_text(f, "unit");
		most = fmax(most, results_value(f));
		least = fmin(least, results_value(f));
		interval |= !!json_object_get(f, "interval");
	}
	if (n < 2) {
		strv_free(&subjects);
		return NULL;
	}
	scale = scale_of(most, unit, &label);
	title = xasprintf("%s: %s", group, name);
	out = open_memstream(&script, &size);
	begin_plot(out, title, label);
	fputs("$data << END\n", out);
	for (i = 0; i < subjects.n; i++) {
		f = results_find(results, group, subjects.v[i], name);
		if (f) {
			json_t *ends = json_object_get(f, "interval");
			double value = results_value(f);

			put_quoted(out, subjects.v[i]);
			fprintf(out, " %.9g %.9g %.9g %s\n", value / scale,
				(ends ? json_number_value(json_array_get(ends, 0)) : value) / scale,
				(ends ? json_number_value(json_array_get(ends, 1)) : value) / scale,
				colours[i % ARRAY_SIZE(colours)]);
		}
	}
	/* From 0 on: a bar's length is what is compared. */
	fprintf(out, "END\nset yrange [%s:*]\nset offsets 0, 0, graph 0.1, 0\n",
		least < 0 ? "*" : "0");
	fputs("rgb(s) = int('0x'.s[2:7])\n"
	      "plot $data using 0:2:(rgb(strcol(5))):xtic(1) with boxes lc rgb variable notitle",
	      out);
	if (interval)
		fprintf(out, ", $data using 0:2:3:4 with yerrorbars pt 7 ps 0.4 lw 2 %s",
			"lc rgb 'black' notitle");
	else
		fputs(", $data using 0:2:(sprintf('%.5g', $2)) with labels offset 0,0.7 notitle",
		      out);
	fputc('\n', out);
	fclose(out);
	free(title);
	free(label);
	strv_free(&subjects);
	return script;
}

/* The parts of a whole; indented names are parts of parts. */
static void list_parts(const json_t *results, const char *group, struct strv *names)
{
	struct strv all = { 0 };
	size_t i;

	list(results, group, "name", &all);
	for (i = 0; i < all.n; i++)
		if (all.v[i][0] != ' ')
			strv_add(names, "%s", all.v[i]);
	strv_free(&all);
}

/**
 * plot_stack - write a gnuplot script for a group whose figures add up: a stack for each subject
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

	list(results, group, "subject", &subjects);
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
	begin_plot(out, group, label);
	free(label);
	fputs("$data << END\n", out);
	for (i = 0; i < subjects.n; i++) {
		put_quoted(out, subjects.v[i]);
		for (j = 0; j < names.n; j++)
			fprintf(out, " %.9g", results_value(results_find(results, group,
									 subjects.v[i],
									 names.v[j])) / scale);
		fputc('\n', out);
	}
	fputs("END\nset yrange [0:*]\nset style data histograms\nset style histogram rowstacked\n"
	      "set key outside bottom center horizontal noenhanced\nplot ", out);
	for (j = 0; j < names.n; j++) {
		fprintf(out, "%s$data using %zu:xtic(1) lc rgb '%s' title ", j ? ", " : "", j + 2,
			colours[j % ARRAY_SIZE(colours)]);
		put_quoted(out, names.v[j]);
	}
	fputc('\n', out);
	fclose(out);
out:
	strv_free(&names);
	strv_free(&subjects);
	return script;
}

/*
 * If there is a "depth N" in a name: the name without it, which is that of the line that the figure
 * is a point of, to be freed; otherwise NULL.
 */
static char *line_of(const char *name, unsigned int *depth)
{
	const char *p = strstr(name, "depth ");
	int len = 0;

	if (!p || sscanf(p, "depth %u%n", depth, &len) != 1)
		return NULL;
	return xasprintf("%.*s%s", (int)(p - name), name, p + len);
}

static void put_points(FILE *out, const json_t *results, const char *group, const char *subject,
		       const char *line, size_t *points)
{
	unsigned int depth;
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f) {
		char *own = line_of(results_text(f, "name"), &depth);

		if (own && !strcmp(own, line) && !strcmp(results_text(f, "group"), group) &&
		    !strcmp(results_text(f, "subject"), subject)) {
			fprintf(out, "%u %.9g\n", depth, results_value(f));
			++*points;
		}
		free(own);
	}
}

/* The unit of the first figure of a line. */
static const char *line_unit(const json_t *results, const char *group, const char *line)
{
	unsigned int depth;
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f) {
		char *own = line_of(results_text(f, "name"), &depth);
		bool found = own && !strcmp(own, line) && !strcmp(results_text(f, "group"), group);

		free(own);
		if (found)
			return results_text(f, "unit");
	}
	return "";
}

/**
 * plot_depths - write a gnuplot script for figures with "depth N" in their names: lines by N
 * @results: the results
 * @group: the group
 * @line: their names without that
 *
 * Return: the script, to be freed; NULL when there are less than two points.
 */
char *plot_depths(const json_t *results, const char *group, const char *line)
{
	const char *bare = line + strspn(line, ", ");
	struct strv subjects = { 0 };
	size_t j, size, points = 0;
	char *script = NULL, *title;
	FILE *out;

	list(results, group, "subject", &subjects);
	title = xasprintf("%s%s%s", group, *bare ? ": " : "", bare);
	out = open_memstream(&script, &size);
	begin_plot(out, title, line_unit(results, group, line));
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "$data%zu << END\n", j);
		put_points(out, results, group, subjects.v[j], line, &points);
		fputs("END\n", out);
	}
	fputs("set logscale x 2\nset yrange [0:*]\nset xlabel 'depth of the trace'\n"
	      "set key outside bottom center horizontal noenhanced\nplot ", out);
	for (j = 0; j < subjects.n; j++) {
		fprintf(out, "%s$data%zu using 1:2 with linespoints lw 2 pt %zu lc rgb '%s' title ",
			j ? ", " : "", j, 4 + j, colours[j % ARRAY_SIZE(colours)]);
		put_quoted(out, subjects.v[j]);
	}
	fputc('\n', out);
	fclose(out);
	if (points < 2) {
		free(script);
		script = NULL;
	}
	free(title);
	strv_free(&subjects);
	return script;
}

/**
 * struct page - a page that is being made
 * @out: where it goes
 * @dir: directory for what gnuplot reads and writes
 * @plots: how many plots it has
 */
struct page {
	FILE *out;
	char *dir;
	unsigned int plots;
};

static int run_gnuplot(const struct page *page, const char *script, const char *svg)
{
	char *path = xasprintf("%s/plot.gp", page->dir), *log = xasprintf("%s/plot.log", page->dir);
	char *whole = xasprintf("set output \"%s\"\n%s", svg, script), *how = NULL;
	struct proc_spec spec = { .log = log, .timeout = 60, .max_file = MAX_SVG };
	struct strv argv = { 0 };
	struct proc_result res;
	int ret = EXIT_FAILED;

	if (write_file_atomic(path, whole)) {
		bench_err("cannot write %s: %s; make room there, or choose another --out", path,
			  strerror(errno));
		goto out;
	}
	strv_split(&argv, "gnuplot", " ");
	strv_add(&argv, "%s", path);
	spec.argv = argv.v;
	proc_run(&spec, &res);
	how = proc_describe(&res);
	if (!how)
		ret = EXIT_OK;
	else if (res.end == PROC_INTERRUPTED)
		ret = EXIT_INTERRUPTED;
	else if (res.end == PROC_NOT_STARTED)
		bench_err("gnuplot: %s; install it (Debian's gnuplot-nox; 'make setup' does)", how);
	else
		bench_err("gnuplot failed: %s; its script is %s and what it says is in %s", how,
			  path, log);
out:
	strv_free(&argv);
	free(how);
	free(whole);
	free(log);
	free(path);
	return ret;
}

/* Takes @script over; none is no error. */
static int put_plot(struct page *page, char *script, const char *what)
{
	char *svg, *data, *text;
	size_t len;
	int ret;

	if (!script)
		return EXIT_OK;
	svg = xasprintf("%s/plot.svg", page->dir);
	ret = run_gnuplot(page, script, svg);
	free(script);
	text = ret ? NULL : read_file(svg, &len);
	if (!ret && !text) {
		bench_err("gnuplot wrote no %s: %s", svg, strerror(errno));
		ret = EXIT_FAILED;
	}
	if (text) {
		data = xrealloc(NULL, 4 * (len / 3 + 1) + 1);
		EVP_EncodeBlock((unsigned char *)data, (unsigned char *)text, len);
		fprintf(page->out, "<img src=\"data:image/svg+xml;base64,%s\" alt=\"", data);
		put_html(page->out, what);
		fputs("\">\n", page->out);
		page->plots++;
		free(data);
	}
	free(text);
	free(svg);
	return ret;
}

/* Which figures are worth a picture: those that are measured in something. */
static bool is_plotted(const json_t *results, const char *group, const char *name)
{
	json_t *f;
	size_t i;

	if (name[0] == ' ')
		return false;
	json_array_foreach(json_object_get(results, "figures"), i, f)
		if (!strcmp(results_text(f, "group"), group) && !strcmp(results_text(f, "name"), name))
			return *results_text(f, "unit");
	return false;
}

static int put_plots(struct page *page, const json_t *results, const char *group)
{
	const char *where = strstr(group, WHERE);
	struct strv names = { 0 }, lines = { 0 };
	unsigned int depth;
	int ret = EXIT_OK;
	size_t i;

	fputs("<div class=\"plots\">\n", page->out);
	list(results, group, "name", &names);
	if (where && !strcmp(where, WHERE))
		ret = put_plot(page, plot_stack(results, group), group);
	for (i = 0; !ret && i < names.n; i++) {
		char *line = line_of(names.v[i], &depth);

		if (line)
			strv_add_once(&lines, line);
		else if (is_plotted(results, group, names.v[i]))
			ret = put_plot(page, plot_bars(results, group, names.v[i]), names.v[i]);
		free(line);
	}
	for (i = 0; !ret && i < lines.n; i++)
		ret = put_plot(page, plot_depths(results, group, lines.v[i]), group);
	fputs("</div>\n", page->out);
	strv_free(&lines);
	strv_free(&names);
	return ret;
}

static void put_cell(FILE *out, const json_t *f)
{
	json_t *ends = json_object_get(f, "interval"), *against = json_object_get(f, "against");
	const char *unit = results_text(f, "unit"), *verdict = results_text(against, "verdict");
	bool exact = json_is_true(json_object_get(f, "exact"));
	char *value, *low, *high;

	if (!f) {
		fputs("<td>-</td>", out);
		return;
	}
	value = format_value(results_value(f), unit, exact);
	fprintf(out, "<td>%s", value);
	free(value);
	if (ends) {
		low = format_value(json_number_value(json_array_get(ends, 0)), unit, false);
		high = format_value(json_number_value(json_array_get(ends, 1)), unit, false);
		fprintf(out, "<small>%s..%s</small>", low, high);
		free(low);
		free(high);
	}
	if (against && !exact)
		fprintf(out, "<small>%+.1f %%: %s</small>",
			100 * json_number_value(json_object_get(against, "relative")), verdict);
	else if (!strcmp(verdict, "difference") && *unit && json_object_get(against, "relative"))
		fprintf(out, "<small>%+.2f %%</small>",
			100 * json_number_value(json_object_get(against, "relative")));
	fputs("</td>", out);
}

static void put_table(FILE *out, const json_t *results, const char *group)
{
	struct strv subjects = { 0 }, names = { 0 };
	size_t i, j;

	list(results, group, "subject", &subjects);
	list(results, group, "name", &names);
	fputs("<table><tr><th></th>", out);
	for (i = 0; i < subjects.n; i++) {
		fputs("<th>", out);
		put_html(out, subjects.v[i]);
		fputs("</th>", out);
	}
	fputs("</tr>\n", out);
	for (j = 0; j < names.n; j++) {
		json_t *noise = results_find_noise(results, group, names.v[j]), *f = NULL;

		for (i = 0; !f && i < subjects.n; i++)
			f = results_find(results, group, subjects.v[i], names.v[j]);
		fputs("<tr><td>", out);
		put_html(out, names.v[j]);
		if (*results_text(f, "unit") && strcmp(results_text(f, "unit"), "%") &&
		    strstr(names.v[j], results_text(f, "unit")) != names.v[j])
			fprintf(out, ", %s", results_text(f, "unit"));
		if (noise)
			fprintf(out, "<small>noise, a kernel against itself: +/-%.1f %%</small>",
				100 * json_number_value(json_object_get(noise, "relative")));
		fputs("</td>", out);
		for (i = 0; i < subjects.n; i++)
			put_cell(out, results_find(results, group, subjects.v[i], names.v[j]));
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
	strv_free(&names);
	strv_free(&subjects);
}

static const char *verdict_class(const char *verdict)
{
	if (!strncmp(verdict, "holds", 5) || !strncmp(verdict, "found", 5))
		return "good";
	return strncmp(verdict, "refuted", 7) && strncmp(verdict, "MISSED", 6) ? "open" : "bad";
}

static void put_verdicts(FILE *out, const json_t *results)
{
	json_t *list_of = json_object_get(results, "verdicts"), *v;
	size_t i;

	if (!json_array_size(list_of))
		return;
	fputs("<h3>Verdicts</h3>\n<table class=\"text\">\n"
	      "<tr><th>on</th><th>verdict</th><th>figures</th></tr>\n",
	      out);
	json_array_foreach(list_of, i, v) {
		fputs("<tr><td>", out);
		put_html(out, results_text(v, "title"));
		fprintf(out, "</td><td class=\"v %s\">", verdict_class(results_text(v, "verdict")));
		put_html(out, results_text(v, "verdict"));
		fputs("</td><td>", out);
		put_html(out, results_text(v, "text"));
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* Objects in objects, as lines of "a, b: value". */
static void put_tree(FILE *out, const char *where, const json_t *obj)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)obj, key, value) {
		char *path = xasprintf("%s%s%s", where, *where ? ", " : "", key), *text;

		if (json_is_object(value)) {
			put_tree(out, path, value);
		} else if (!json_is_null(value)) {
			text = json_is_string(value) ? xstrdup(json_string_value(value)) :
			       json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
					  JSON_REAL_PRECISION(4));
			fputs("<tr><td>", out);
			put_html(out, path);
			fputs("</td><td><code>", out);
			put_html(out, text);
			fputs("</code></td></tr>\n", out);
			free(text);
		}
		free(path);
	}
}

static int put_results(struct page *page, const json_t *results)
{
	struct strv groups = { 0 };
	int ret = EXIT_OK;
	json_t *note;
	size_t i;

	fprintf(page->out, "<h2 id=\"%s\">%s</h2>\n<p>Finished %s. Seed %lld.</p>\n",
		results_text(results, "scs_bench"), results_text(results, "scs_bench"),
		results_text(results, "finished"),
		json_integer_value(json_object_get(results, "seed")));
	put_verdicts(page->out, results);
	list(results, NULL, "group", &groups);
	for (i = 0; !ret && i < groups.n; i++) {
		fputs("<h3>", page->out);
		put_html(page->out, groups.v[i]);
		fputs("</h3>\n", page->out);
		ret = put_plots(page, results, groups.v[i]);
		put_table(page->out, results, groups.v[i]);
	}
	strv_free(&groups);
	fputs("<h3>Notes</h3>\n", page->out);
	json_array_foreach(json_object_get(results, "notes"), i, note) {
		fputs("<p>", page->out);
		put_html(page->out, json_string_value(note));
		fputs("</p>\n", page->out);
	}
	fputs("<h3>Environment</h3>\n<table class=\"text\">\n", page->out);
	put_tree(page->out, "", json_object_get(results, "environment"));
	fputs("</table>\n", page->out);
	return ret;
}

static int put_page(struct page *page, const char *title, char * const *paths, size_t n)
{
	json_t **all = xrealloc(NULL, (n + 1) * sizeof(*all));
	int ret = EXIT_OK;
	size_t i, read;

	for (read = 0; !ret && read < n; read++) {
		all[read] = results_read(paths[read]);
		if (!all[read]) {
			ret = EXIT_UNUSABLE;
			break;
		}
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      page->out);
	put_html(page->out, title);
	fprintf(page->out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
	put_html(page->out, title);
	fputs("</h1>\n<p>Made by scs_bench. Counts of instructions are exact. Of figures that\n"
	      "are not, the median and its 95 % interval are shown; a difference is claimed only if chance, the interval\n"
	      "and the machine's own noise all speak for it.</p>\n",
	      page->out);
	for (i = 0; !ret && i < read; i++)
		ret = put_results(page, all[i]);
	fputs("</body></html>\n", page->out);
	for (i = 0; i < read; i++)
		json_decref(all[i]);
	free(all);
	return ret;
}

static int make_page(const char *path, const char *title, char * const *paths, size_t n)
{
	static const char * const left[] = { "plot.gp", "plot.svg", "plot.log" };
	struct page page = { .dir = xasprintf("%s.XXXXXX", path) };
	char *text = NULL, *file;
	size_t size, i;
	int ret;

	if (!mkdtemp(page.dir)) {
		bench_err("cannot write beside %s: %s; choose another --out", path,
			  strerror(errno));
		free(page.dir);
		return EXIT_UNUSABLE;
	}
	page.out = open_memstream(&text, &size);
	ret = put_page(&page, title, paths, n);
	fclose(page.out);
	if (!ret && write_file_atomic(path, text)) {
		bench_err("cannot write %s: %s; choose another --out", path, strerror(errno));
		ret = EXIT_FAILED;
	}
	if (!ret)
		printf("%s: %zu results, %u plots\n", path, n, page.plots);
	free(text);
	/* What gnuplot failed on is left to be looked at. */
	for (i = 0; ret != EXIT_FAILED && i < ARRAY_SIZE(left); i++) {
		file = xasprintf("%s/%s", page.dir, left[i]);
		unlink(file);
		free(file);
	}
	rmdir(page.dir);
	free(page.dir);
	return ret;
}

static void find_results(struct strv *paths, const char *build)
{
	static const char * const commands[] = {
		"claims", "boot", "micro", "memory", "load", "replay", "selftest",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		char *path = xasprintf("%s/bench/%s.json", build, commands[i]);

		if (!access(path, R_OK))
			strv_add(paths, "%s", path);
		free(path);
	}
}

/**
 * cmd_report - the subcommand "report"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *title = "What stack traces cost", *out = NULL;
	char *build = bench_build_dir(), *path;
	struct strv paths = { 0 };
	int opt, ret = EXIT_UNUSABLE;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			out = optarg;
			break;
		case 't':
			title = optarg;
			break;
		case 'h':
			usage(stdout);
			ret = EXIT_OK;
			goto out;
		default:
			bench_err("see scs_bench report --help");
			goto out;
		}
	}
	for (; optind < argc; optind++)
		strv_add(&paths, "%s", argv[optind]);
	if (!paths.n)
		find_results(&paths, build);
	if (!paths.n) {
		bench_err("there are no results in %s/bench: measure something first, or name files",
			  build);
		goto out;
	}
	path = out ? xstrdup(out) : xasprintf("%s/bench/report.html", build);
	ret = make_page(path, title, paths.v, paths.n);
	free(path);
out:
	strv_free(&paths);
	free(build);
	return ret;
}
