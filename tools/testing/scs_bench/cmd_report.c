// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "report": results as one HTML page, with plots, environment and verdicts.
 *
 * The page needs nothing beside itself: gnuplot draws the plots as SVG, and they are in the page as
 * data. What is plotted follows from the figures alone, so that every subcommand's results can be
 * shown: bars by kernel, with intervals; stacked bars where the figures of a group are the parts of
 * a whole; lines where figures have a "depth N" in their names; and dots where they are many.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <glob.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd_report.h"
#include "env.h"
#include "opts.h"
#include "plot.h"
#include "proc.h"
#include "results.h"

#define MAX_SVG		(16L << 20)

/* More subjects than this are rows of a table instead of columns. */
#define MAX_COLUMNS	6
/* More figures of one unit than this are dots in one plot instead of a plot each. */
#define MAX_BARS	12

static const char style[] =
	"body{font:15px/1.45 sans-serif;color:#1a1a1a;background:#fff;max-width:80rem;\n"
	"margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.7rem;margin-bottom:.2rem}\n"
	"h2{border-bottom:2px solid #0072b2;margin-top:2.5rem}\n"
	"h3{margin:1.8rem 0 .3rem}\n"
	"table{border-collapse:collapse;margin:.8rem 0;font-size:.85rem}\n"
	"th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:right;vertical-align:top}\n"
	"th:first-child,td:first-child{text-align:left}\n"
	"td small{color:#555;display:block}\n"
	"table.text{width:100%}\n"
	"table.text td,table.text th{text-align:left;overflow-wrap:anywhere}\n"
	"table.text td:first-child{min-width:12rem}\n"
	"figure{display:inline-block;vertical-align:top;width:36rem;max-width:100%;margin:.6rem 1rem .6rem 0}\n"
	"figure img{display:block;width:100%}\n"
	"figcaption{font-weight:bold;font-size:.85rem}\n"
	".wide{overflow-x:auto}\n"
	"p.note{white-space:pre-line;margin:.3rem 0}\n"
	".v{font-weight:bold}.good{color:#00664b}.bad{color:#a33c00}.open{color:#555}\n"
	"code{font-size:.8rem;overflow-wrap:anywhere}\n"
	"pre{font-size:.75rem;overflow-x:auto}\n"
	"@page{margin:15mm}\n"
	"@media print{body{margin:0;padding:0;max-width:none;font-size:9.5pt}\n"
	"h2{break-before:page}h2:first-of-type{break-before:auto}\n"
	"h2,h3,figcaption{break-after:avoid}figure,tr{break-inside:avoid}\n"
	"figure{width:48%;margin:.4rem 1% .4rem 0}figcaption{font-size:8pt}.wide{overflow:visible}\n"
	"table{font-size:7.5pt}th,td{padding:.1rem .35rem}thead{display:table-header-group}\n"
	"code{font-size:7pt}nav,.screen{display:none}body{orphans:1;widows:1}}\n";

static void usage(FILE *out)
{
	fputs("Usage: scs_bench report [options] [RESULTS.json...]\n"
	      "\n"
	      "Makes one HTML page of results: verdicts, plots, tables and the environment. It needs\n"
	      "nothing beside itself, in a browser or printed. Without RESULTS.json, those of all\n"
	      "subcommands in build/bench and the directories in it. Needs gnuplot.\n"
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

/**
 * struct page - a page that is being made
 * @out: where it goes
 * @dir: directory for what gnuplot reads and writes
 * @plots: how many plots it has
 * @configs: hashes of the kernels' configurations, each once
 * @images: for each of them an image that has it
 */
struct page {
	FILE *out;
	char *dir;
	unsigned int plots;
	struct strv configs;
	struct strv images;
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
	ret = !how ? EXIT_OK : res.end == PROC_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
	if (!how)
		;
	else if (res.end == PROC_INTERRUPTED)
		bench_err("interrupted: there is no page; run the same command again");
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
		fputs("<figure><figcaption>", page->out);
		put_html(page->out, what);
		fprintf(page->out, "</figcaption><img src=\"data:image/svg+xml;base64,%s\" alt=\"",
			data);
		put_html(page->out, what);
		fputs("\"></figure>\n", page->out);
		page->plots++;
		free(data);
		/* The next one must not be taken for this. */
		unlink(svg);
	}
	free(text);
	free(svg);
	return ret;
}

/* The first figure of that name, whichever kernel's. */
static const json_t *any_figure(const json_t *results, const char *group, const char *name)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(results, "figures"), i, f)
		if (!strcmp(results_text(f, "group"), group) &&
		    !strcmp(results_text(f, "name"), name))
			return f;
	return NULL;
}

/* Dots for what is too much for bars; what stands for all of it is a bar. */
static int put_dots(struct page *page, const json_t *results, const char *group,
		    struct strv *names)
{
	size_t n = names->n, first;
	int ret = EXIT_OK;
	char *what;

	if (n && !strcmp(names->v[n - 1], RESULTS_MEAN)) {
		what = xasprintf("%s: " RESULTS_MEAN, group);
		ret = put_plot(page, plot_bars(results, group, RESULTS_MEAN), what);
		free(what);
		/* It stays last in the array, for strv_free(). */
		n--;
	}
	for (first = 0; !ret && first < n; first += PLOT_DOT_ROWS) {
		const struct strv part = { names->v, n };

		what = n > PLOT_DOT_ROWS ? xasprintf("%s, %zu..%zu of %zu", group, first + 1,
						     first + PLOT_DOT_ROWS < n ?
						     first + PLOT_DOT_ROWS : n, n) :
					   xstrdup(group);
		ret = put_plot(page, plot_dots(results, group, &part, first), what);
		free(what);
	}
	return ret;
}

static int put_bars(struct page *page, const json_t *results, const char *group,
		    const struct strv *names)
{
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; !ret && i < names->n; i++)
		ret = put_plot(page, plot_bars(results, group, names->v[i]), names->v[i]);
	return ret;
}

static int put_plots(struct page *page, const json_t *results, const char *group)
{
	const char *where = strstr(group, PLOT_WHERE);
	struct strv names = { 0 }, lines = { 0 }, bars = { 0 };
	unsigned int depth;
	int ret = EXIT_OK;
	size_t i;

	results_list(results, group, "name", &names);
	if (where && !strcmp(where, PLOT_WHERE))
		ret = put_plot(page, plot_stack(results, group), group);
	/* Worth a picture is what is measured in something. */
	for (i = 0; i < names.n; i++) {
		const json_t *f = any_figure(results, group, names.v[i]);
		char *line = plot_line_of(names.v[i], &depth);

		if (line)
			strv_add_once(&lines, line);
		else if (names.v[i][0] != ' ' && *results_text(f, "unit"))
			strv_add(&bars, "%s", names.v[i]);
		free(line);
	}
	if (!ret)
		ret = bars.n > MAX_BARS ? put_dots(page, results, group, &bars) :
					  put_bars(page, results, group, &bars);
	for (i = 0; !ret && i < lines.n; i++) {
		const char *bare = lines.v[i] + strspn(lines.v[i], ", ");
		char *what = xasprintf("%s%s%s", group, *bare ? " " : "", bare);

		ret = put_plot(page, plot_depths(results, group, lines.v[i]), what);
		free(what);
	}
	strv_free(&bars);
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
		fprintf(out, "<small title=\"%s\">%+.1f %%: %s</small>",
			results_text(against, "why"),
			100 * json_number_value(json_object_get(against, "relative")), verdict);
	else if (!strcmp(verdict, "difference") && *unit && json_object_get(against, "relative"))
		fprintf(out, "<small>%+.2f %%</small>",
			100 * json_number_value(json_object_get(against, "relative")));
	fputs("</td>", out);
}

/* A figure's name, with its unit, and with the machine's noise where that has a say. */
static void put_name(FILE *out, const json_t *results, const char *group, const char *name)
{
	const json_t *f = any_figure(results, group, name);
	json_t *noise = results_find_noise(results, group, name);
	const char *unit = results_text(f, "unit"), *text = name;

	/* A part of what stands above is indented. */
	for (; *text == ' '; text++)
		fputs("&nbsp;", out);
	put_html(out, text);
	if (*unit && strcmp(unit, "%") && strstr(name, unit) != name)
		fprintf(out, ", %s", unit);
	if (noise)
		fprintf(out, "<small>noise, a kernel against itself: &plusmn;%.1f %%</small>",
			100 * json_number_value(json_object_get(noise, "relative")));
	else if (!json_is_true(json_object_get(f, "exact")) &&
		 !json_is_true(json_object_get(f, "derived")))
		fputs("<small>noise: not measured</small>", out);
}

/* Kernels are columns, unless there are too many of them. */
static void put_table(FILE *out, const json_t *results, const char *group)
{
	struct strv subjects = { 0 }, names = { 0 };
	const struct strv *rows = &names, *columns = &subjects;
	bool turned;
	size_t i, j;

	results_list(results, group, "subject", &subjects);
	results_list(results, group, "name", &names);
	turned = subjects.n > MAX_COLUMNS && names.n < subjects.n;
	if (turned) {
		rows = &subjects;
		columns = &names;
	}
	fputs("<div class=\"wide\"><table><thead><tr><th></th>", out);
	for (i = 0; i < columns->n; i++) {
		fputs("<th>", out);
		if (turned)
			put_name(out, results, group, columns->v[i]);
		else
			put_html(out, columns->v[i]);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (j = 0; j < rows->n; j++) {
		fputs("<tr><td>", out);
		if (turned)
			put_html(out, rows->v[j]);
		else
			put_name(out, results, group, rows->v[j]);
		fputs("</td>", out);
		for (i = 0; i < columns->n; i++)
			put_cell(out, turned ?
				 results_find(results, group, rows->v[j], columns->v[i]) :
				 results_find(results, group, columns->v[i], rows->v[j]));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
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
	      "<thead><tr><th>on</th><th>verdict</th><th>figures</th></tr></thead>\n",
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

/* The kernels, each with what can be checked and what it was booted with. */
static void put_kernels(struct page *page, const json_t *env)
{
	json_t *images = json_object_get(env, "images"), *image;
	const char *name, *hash;

	if (!json_object_size(images))
		return;
	fputs("<h3>Kernels</h3>\n<table class=\"text\">\n"
	      "<thead><tr><th>kernel</th><th>Linux, compiler</th><th>arguments</th>\n"
	      "<th>SHA-256 of image and configuration</th></tr></thead>\n",
	      page->out);
	json_object_foreach(images, name, image) {
		fputs("<tr><td>", page->out);
		put_html(page->out, name);
		fputs("<br><small>", page->out);
		put_html(page->out, results_text(image, "path"));
		fputs("</small></td><td>", page->out);
		put_html(page->out, results_text(image, "version"));
		fputs("<br>", page->out);
		put_html(page->out, results_text(image, "compiler"));
		fputs("</td><td><code>", page->out);
		put_html(page->out, results_text(image, "args"));
		fputs("</code></td><td><code>", page->out);
		put_html(page->out, results_text(image, "sha256"));
		fputs("</code><br><code>", page->out);
		hash = results_text(image, "config_sha256");
		put_html(page->out, *hash ? hash : "no configuration beside the image");
		fputs("</code></td></tr>\n", page->out);
		if (*hash)
			strv_add_once(&page->configs, hash);
		if (*hash && page->configs.n > page->images.n)
			strv_add(&page->images, "%s", results_text(image, "path"));
	}
	fputs("</table>\n", page->out);
}

static void put_environment(struct page *page, const json_t *results)
{
	json_t *env = json_copy(json_object_get(results, "environment"));

	put_kernels(page, env);
	/* They have a table of their own. */
	json_object_del(env, "images");
	fputs("<h3>Environment</h3>\n<table class=\"text\">\n", page->out);
	put_tree(page->out, "", env);
	fputs("</table>\n", page->out);
	json_decref(env);
}

/* What the section is of: the subcommand, and its kernels' groups when there are few. */
static char *section_title(const json_t *results)
{
	char *title = xstrdup(results_text(results, "scs_bench")), *longer;
	struct strv groups = { 0 };
	size_t i, n = 0;

	results_list(results, NULL, "group", &groups);
	for (i = 0; i < groups.n; i++)
		n += !strchr(groups.v[i], ':') && !strchr(groups.v[i], ',');
	for (i = 0; i < groups.n && n <= 4; i++) {
		if (strchr(groups.v[i], ':') || strchr(groups.v[i], ','))
			continue;
		longer = xasprintf("%s%s%s", title, strchr(title, ':') ? ", " : ": ",
				   groups.v[i]);
		free(title);
		title = longer;
	}
	strv_free(&groups);
	return title;
}

static int put_results(struct page *page, const json_t *results, size_t nr)
{
	char *title = section_title(results);
	struct strv groups = { 0 };
	int ret = EXIT_OK;
	json_t *note;
	size_t i;

	fprintf(page->out, "<h2 id=\"results-%zu\">", nr);
	put_html(page->out, title);
	fprintf(page->out, "</h2>\n<p>Finished %s. Seed %lld.</p>\n",
		results_text(results, "finished"),
		json_integer_value(json_object_get(results, "seed")));
	free(title);
	put_verdicts(page->out, results);
	results_list(results, NULL, "group", &groups);
	for (i = 0; !ret && i < groups.n; i++) {
		fputs("<h3>", page->out);
		put_html(page->out, groups.v[i]);
		fputs("</h3>\n", page->out);
		ret = put_plots(page, results, groups.v[i]);
		put_table(page->out, results, groups.v[i]);
	}
	strv_free(&groups);
	if (json_array_size(json_object_get(results, "notes")))
		fputs("<h3>Notes</h3>\n", page->out);
	json_array_foreach(json_object_get(results, "notes"), i, note) {
		fputs("<p class=\"note\">", page->out);
		put_html(page->out, json_string_value(note));
		fputs("</p>\n", page->out);
	}
	put_environment(page, results);
	return ret;
}

/* The configurations that are still beside their images, to be unfolded; each once. */
static void put_configs(struct page *page)
{
	size_t i;

	if (!page->configs.n)
		return;
	fputs("<section class=\"screen\">\n<h2 id=\"configs\">Configurations</h2>\n"
	      "<p>By their SHA-256; on paper they are left out.</p>\n", page->out);
	for (i = 0; i < page->configs.n; i++) {
		const char *image = page->images.v[i], *slash = strrchr(image, '/');
		char *path = xasprintf("%.*sconfig", slash ? (int)(slash - image) + 1 : 0, image);
		char *hash = env_hash_file(path), *text = NULL;

		if (hash && !strcmp(hash, page->configs.v[i]))
			text = read_file(path, NULL);
		fprintf(page->out, "<details><summary><code>%.16s...</code> ", page->configs.v[i]);
		put_html(page->out, path);
		fputs(text ? "</summary><pre>" : " (not there any more)</summary>", page->out);
		if (text) {
			put_html(page->out, text);
			fputs("</pre>", page->out);
		}
		fputs("</details>\n", page->out);
		free(text);
		free(hash);
		free(path);
	}
	fputs("</section>\n", page->out);
}

static void put_contents(FILE *out, json_t * const *all, size_t n)
{
	size_t i;

	fputs("<nav><ul>\n", out);
	for (i = 0; i < n; i++) {
		char *title = section_title(all[i]);

		fprintf(out, "<li><a href=\"#results-%zu\">", i);
		put_html(out, title);
		fputs("</a></li>\n", out);
		free(title);
	}
	fputs("</ul></nav>\n", out);
}

static int put_page(struct page *page, const char *title, char * const *paths, size_t n)
{
	json_t **all = xrealloc(NULL, (n + 1) * sizeof(*all));
	int ret = EXIT_OK;
	size_t i, read;

	for (read = 0; read < n; read++) {
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
	put_contents(page->out, all, read);
	for (i = 0; !ret && i < read; i++)
		ret = put_results(page, all[i], i);
	put_configs(page);
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
	strv_free(&page.configs);
	strv_free(&page.images);
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

/* Those of the subcommands in their order, and after each those of other kinds of kernel. */
static void find_results(struct strv *paths, const char *build)
{
	static const char * const commands[] = {
		"claims", "boot", "micro", "memory", "load", "record", "replay", "selftest",
	};
	static const char * const places[] = { "", "*/" };
	glob_t found;
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		for (j = 0; j < ARRAY_SIZE(places); j++) {
			char *pattern = xasprintf("%s/bench/%s%s.json", build, places[j],
						  commands[i]);

			if (!glob(pattern, 0, NULL, &found)) {
				for (k = 0; k < found.gl_pathc; k++)
					strv_add(paths, "%s", found.gl_pathv[k]);
				globfree(&found);
			}
			free(pattern);
		}
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
