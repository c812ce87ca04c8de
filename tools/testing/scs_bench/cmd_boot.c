// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "boot": boots variants of a kernel and measures what their stack traces cost.
 *
 * Four kinds of run, each independent of the others:
 *
 * - exact: QEMU counts instructions (-icount), init reads the count. Two runs have to agree.
 * - calls: the same, while QEMU logs every entry to a few kernel functions.
 * - initcalls: the same, while the kernel prints how long each of its initcalls took.
 * - wall: as a user would run it, without init, timed from outside. The first variant runs twice as
 *   often: what it differs from itself by is the machine's noise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "cmd_boot.h"
#include "results.h"

/* The depot takes memory in pools of this many pages (DEPOT_POOL_ORDER is 2). */
#define POOL_PAGES	4

#define SAVE_FUNCTIONS	"stack_depot_save_flags,__stack_depot_save_current"

static void usage(FILE *out)
{
	fputs("Usage: scs_bench boot [options]\n"
	      "\n"
	      "Boots variants of a kernel and measures what their stack traces cost: instructions\n"
	      "(exact), calls, initcalls, and wall time with the machine's own noise beside it.\n"
	      "\n"
	      "  --modes LIST     KASAN modes, separated by commas, or all (generic)\n"
	      "  --variants LIST  variants: upstream, null (no traces), fallback (walks alone),\n"
	      "                   scs; or none. The others are compared with the first one\n"
	      "                   (upstream,null,scs)\n"
	      "  --image NAME=FILE\n"
	      "                   one more variant: an Image of yours; may be given more than once\n"
	      "  --args LIST      sets of kernel arguments to boot with, each a table of its own,\n"
	      "                   separated by commas; plain is the empty one, all is\n"
	      "                   plain,page_owner=on,page_poison=1,page_owner=on page_poison=1\n"
	      "  --append ARGS    more kernel arguments for all\n"
	      "  --load-images    boot the images that micro and load boot (built with LOAD=1); those\n"
	      "                   have what page_poison=1 needs\n"
	      "  --count LIST     kernel functions to count calls of, or none\n"
	      "                   (" SAVE_FUNCTIONS ")\n"
	      "  --initcalls N    show the N initcalls that differ most; 0 for none (10)\n"
	      "  --no-wall        leave the wall time out\n"
	      COMMON_HELP, out);
}

static int check_options(struct boot_options *opts)
{
	size_t i;

	if (!opts->variants.n && !opts->images.n) {
		bench_err("nothing to boot: name variants with --variants, or images with --image");
		return EXIT_UNUSABLE;
	}
	for (i = 0; i < opts->images.n; i++) {
		const char *eq = strchr(opts->images.v[i], '=');

		if (eq && eq > opts->images.v[i] && eq[1])
			continue;
		bench_err("--image %s: give NAME=FILE, e.g. mine=arch/arm64/boot/Image",
			  opts->images.v[i]);
		return EXIT_UNUSABLE;
	}
	if (!opts->modes.n || !opts->args.n) {
		bench_err("--modes and --args need at least one each; see scs_bench boot --help");
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/* A list of which one value stands for none, and one for all. */
static void split(struct strv *sv, const char *list, const char *none, const char *all)
{
	strv_free(sv);
	if (!strcmp(list, none))
		return;
	strv_split(sv, all && !strcmp(list, "all") ? all : list, ",");
}

static int take_option(void *ctx, int opt, const char *arg)
{
	struct boot_options *opts = ctx;

	switch (opt) {
	case 'm':
		split(&opts->modes, arg, "", ALL_MODES);
		break;
	case 'v':
		split(&opts->variants, arg, "none", NULL);
		break;
	case 'i':
		strv_add(&opts->images, "%s", arg);
		break;
	case 'A':
		split(&opts->args, arg, "",
		      "plain,page_owner=on,page_poison=1,page_owner=on page_poison=1");
		break;
	case 'a':
		set_string(&opts->append, arg);
		break;
	case 'c':
		split(&opts->count, arg, "none", NULL);
		break;
	case 'n':
		if (parse_uint(arg, 0, 1000, &opts->top))
			break;
		bench_err("--initcalls %s: give a whole number from 0 to 1000", arg);
		return EXIT_UNUSABLE;
	case 'L':
		opts->session.suffix = LOAD_SUFFIX;
		break;
	case 'W':
		opts->no_wall = true;
		break;
	}
	return EXIT_OK;
}

/**
 * boot_parse_args - read the arguments of "boot"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 * @opts: what they ask for; boot_free_options() is due in any case
 *
 * Return: EXIT_OK; EXIT_UNUSABLE after an error was told; PARSED_HELP.
 */
int boot_parse_args(int argc, char **argv, struct boot_options *opts)
{
	static const struct option own[] = {
		{ "modes", required_argument, NULL, 'm' },
		{ "variants", required_argument, NULL, 'v' },
		{ "image", required_argument, NULL, 'i' },
		{ "args", required_argument, NULL, 'A' },
		{ "append", required_argument, NULL, 'a' },
		{ "count", required_argument, NULL, 'c' },
		{ "initcalls", required_argument, NULL, 'n' },
		{ "load-images", no_argument, NULL, 'L' },
		{ "no-wall", no_argument, NULL, 'W' },
		{ 0 }
	};
	static const struct command command = { "boot", usage, own, NULL, take_option, NULL };
	int ret;

	*opts = (struct boot_options){ .top = 10, .append = xstrdup("") };
	session_init(&opts->session, "boot");
	strv_split(&opts->modes, "generic", ",");
	strv_split(&opts->variants, "upstream,null,scs", ",");
	strv_split(&opts->args, "plain", ",");
	strv_split(&opts->count, SAVE_FUNCTIONS, ",");

	ret = common_parse(&opts->session.opts, &command, argc, argv, opts);
	if (ret)
		return ret;
	common_finish(&opts->session.opts, "boot");
	return check_options(opts);
}

/**
 * boot_free_options - free what boot_parse_args() allocated
 * @opts: the options
 */
void boot_free_options(struct boot_options *opts)
{
	session_free(&opts->session);
	strv_free(&opts->modes);
	strv_free(&opts->variants);
	strv_free(&opts->images);
	strv_free(&opts->args);
	strv_free(&opts->count);
	free(opts->append);
}

/* The kernels of one mode with one set of arguments. */
static int add_group(struct boot_options *opts, const char *mode, const char *args)
{
	struct session *s = &opts->session;
	char *all = xasprintf("%s%s%s", args, *args && *opts->append ? " " : "", opts->append);
	char *group = session_group(mode, all);
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; !ret && i < opts->variants.n; i++)
		ret = session_add(s, mode, opts->variants.v[i], all);
	for (i = 0; !ret && i < opts->images.n; i++) {
		const char *eq = strchr(opts->images.v[i], '=');
		char *name = xasprintf("%.*s", (int)(eq - opts->images.v[i]), opts->images.v[i]);

		ret = session_add_image(s, group, name, eq + 1, all);
		free(name);
	}
	free(group);
	free(all);
	return ret;
}

static int add_kernels(void *ctx)
{
	struct boot_options *opts = ctx;
	int ret = EXIT_OK;
	size_t i, j;

	for (i = 0; !ret && i < opts->modes.n; i++)
		for (j = 0; !ret && j < opts->args.n; j++)
			ret = add_group(opts, opts->modes.v[i], strcmp(opts->args.v[j], "plain") ?
					opts->args.v[j] : "");
	return ret;
}

/* Calls are counted when init's address is known; wall time is taken when all else is done. */
enum { BLOCK_EXACT, BLOCK_DETAILS, BLOCK_WALL };

static void make_plan(void *ctx)
{
	struct boot_options *opts = ctx;
	struct session *s = &opts->session;
	size_t i;

	for (i = 0; i < s->nkernels; i++)
		boot_plan_exact(s, i);
	for (i = 0; i < s->nkernels; i++) {
		if (opts->count.n && s->kernels[i].system_map)
			plan_add(&s->plan, BLOCK_DETAILS, RUN_CALLS, i, 1, "%s/" RUN_CALLS "/1",
				 s->kernels[i].name);
		else if (opts->count.n)
			bench_err("there is no System.map beside %s: its calls are not counted",
				  s->kernels[i].image);
		if (opts->top)
			plan_add(&s->plan, BLOCK_DETAILS, RUN_INITCALLS, i, 1,
				 "%s/" RUN_INITCALLS "/1", s->kernels[i].name);
	}
	if (!opts->no_wall)
		for (i = 0; i < s->nkernels; i++)
			boot_plan_wall(s, i, session_is_first(s, i), BLOCK_WALL);
}

/* The addresses that QEMU shall log, as -dfilter takes them: one instruction each. */
static char *make_dfilter(const struct call_count *calls, size_t ncalls, u64 time_init, u64 entry)
{
	char *filter = xasprintf("0x%llx+0x4,0x%llx+0x4", time_init, entry), *longer;
	size_t i, j;

	for (i = 0; i < ncalls; i++) {
		for (j = 0; j < calls[i].naddr; j++) {
			longer = xasprintf("%s,0x%llx+0x4", filter, calls[i].addr[j]);
			free(filter);
			filter = longer;
		}
	}
	return filter;
}

static int read_symbols(const struct kernel *k, struct call_count *calls, size_t ncalls,
			u64 *time_init)
{
	struct call_count anchor = { .name = "time_init" };
	FILE *f = fopen(k->system_map, "r");
	int ret = -1;

	if (f) {
		ret = system_map_lookup(f, calls, ncalls);
		rewind(f);
		if (!ret)
			ret = system_map_lookup(f, &anchor, 1);
		fclose(f);
	}
	if (ret || anchor.naddr != 1) {
		bench_err("%s has no usable symbols: copy it from the object tree that %s is from",
			  k->system_map, k->image);
		return EXIT_FAILED;
	}
	*time_init = anchor.addr[0];
	return EXIT_OK;
}

static int read_exec_log(const struct kernel *k, const char *path, struct call_count *calls,
			 size_t ncalls, u64 time_init, u64 entry)
{
	FILE *f = fopen(path, "r");
	u64 anchors = 0;
	int ret = EXIT_OK;

	if (!f || exec_log_count(f, calls, ncalls, time_init, entry, &anchors) || anchors != 1) {
		bench_err("%s: calls cannot be counted: QEMU logged time_init() %llu times instead of once; is %s of the same build as %s? (log: %s)",
			  k->name, anchors, k->system_map, k->image, path);
		ret = EXIT_FAILED;
	}
	if (f)
		fclose(f);
	return ret;
}

static json_t *json_calls(const struct call_count *calls, size_t ncalls)
{
	json_t *obj = json_object();
	size_t i;

	for (i = 0; i < ncalls; i++)
		if (calls[i].naddr)
			json_object_set_new(obj, calls[i].name,
					    json_pack("{s:I, s:I}", "until_init",
						      (json_int_t)calls[i].total,
						      "before_time_init",
						      (json_int_t)calls[i].early));
	return json_pack("{s:o}", "calls", obj);
}

static int calls_run(struct boot_options *opts, const struct kernel *k, const char *log_path,
		     json_t **record)
{
	json_t *exact = session_record(&opts->session, k, RUN_EXACT, 1);
	u64 entry = json_integer_value(json_object_get(exact, "entry")), time_init;
	struct qemu_spec spec = session_spec(&opts->session, k);
	char *exec_path = xasprintf("%s.exec", log_path), *filter = NULL, *log = NULL;
	size_t n = opts->count.n, i;
	struct call_count *calls = xrealloc(NULL, n * sizeof(*calls));
	struct boot_log parsed = { 0 };
	double seconds;
	int ret;

	for (i = 0; i < n; i++)
		calls[i] = (struct call_count){ .name = opts->count.v[i] };
	ret = read_symbols(k, calls, n, &time_init);
	if (ret)
		goto out;
	filter = make_dfilter(calls, n, time_init, entry);
	spec.icount = true;
	spec.initrd = opts->session.opts.initrd;
	spec.log = log_path;
	spec.exec_log = exec_path;
	spec.dfilter = filter;
	ret = qemu_run(&spec, &seconds);
	if (ret)
		goto out;
	/* Logging takes no guest time: this run has to agree with the exact ones, too. */
	log = read_file(log_path, NULL);
	if (log)
		boot_log_parse(log, &parsed);
	if (!parsed.done || (json_int_t)parsed.cntvct !=
	    json_integer_value(json_object_get(exact, "cntvct")))
		ret = fail_run(k, log_path, log,
			       "the run that counts calls is not the same as the exact ones",
			       "check the kernel arguments");
	else
		ret = read_exec_log(k, exec_path, calls, n, time_init, entry);
	if (!ret)
		*record = json_calls(calls, n);
out:
	if (!ret || ret == EXIT_INTERRUPTED)
		unlink(exec_path);
	boot_log_free(&parsed);
	free(log);
	free(filter);
	free(exec_path);
	free(calls);
	return ret;
}

static int initcalls_run(struct boot_options *opts, const struct kernel *k, const char *log_path,
			 json_t **record)
{
	char *args = xasprintf("%s initcall_debug ignore_loglevel", k->args), *log;
	struct qemu_spec spec = session_spec(&opts->session, k);
	json_t *initcalls = json_object();
	struct boot_log parsed = { 0 };
	double seconds;
	int ret;

	spec.append = args;
	spec.icount = true;
	spec.initrd = opts->session.opts.initrd;
	spec.log = log_path;
	ret = qemu_run(&spec, &seconds);
	free(args);
	if (ret) {
		json_decref(initcalls);
		return ret;
	}
	log = read_file(log_path, NULL);
	if (log) {
		boot_log_parse(log, &parsed);
		initcalls_parse(log, initcalls);
	}
	if (!parsed.done || !json_object_size(initcalls)) {
		ret = fail_run(k, log_path, log, "the kernel did not say what its initcalls took",
			       "has it CONFIG_PRINTK? --initcalls 0 leaves them out");
		json_decref(initcalls);
	} else {
		*record = json_pack("{s:o}", "initcalls", initcalls);
	}
	boot_log_free(&parsed);
	free(log);
	return ret;
}

static int run_step(void *ctx, const struct plan_step *step, const char *log_path, json_t **record)
{
	static const struct boot_wall no_root = { NULL, "" };
	struct boot_options *opts = ctx;
	const struct kernel *k = &opts->session.kernels[step->subject];

	if (!strcmp(step->kind, RUN_EXACT))
		return boot_exact_run(&opts->session, k, step->nr, log_path, record);
	if (!strcmp(step->kind, RUN_CALLS))
		return calls_run(opts, k, log_path, record);
	if (!strcmp(step->kind, RUN_INITCALLS))
		return initcalls_run(opts, k, log_path, record);
	return boot_wall_run(&opts->session, k, &no_root, log_path, record);
}

/* What part of the cost that a kernel without traces does not have the others got rid of, too. */
static void add_share(const struct kernel *k, json_t *results)
{
	static const char * const names[][2] = {
		{ FIGURE_RESET, "removable cost removed, from reset" },
		{ FIGURE_AFTER, "removable cost removed, after time_init()" },
	};
	size_t i;

	if (!strcmp(k->subject, "upstream") || !strcmp(k->subject, "null"))
		return;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		json_t *up = results_find(results, k->group, "upstream", names[i][0]);
		json_t *null = results_find(results, k->group, "null", names[i][0]);
		json_t *own = results_find(results, k->group, k->subject, names[i][0]);
		double share;

		if (up && null && own &&
		    share_removed(results_value(up), results_value(null), results_value(own),
				  &share))
			results_exact(results, k->group, k->subject, names[i][1], "%",
				      100 * share);
	}
}

static void add_calls(const struct session *s, const struct kernel *k, json_t *results)
{
	json_t *record = session_record(s, k, RUN_CALLS, 1), *calls;
	const char *function;
	char *name;

	json_object_foreach(json_object_get(record, "calls"), function, calls) {
		name = xasprintf("calls of %s", function);
		results_exact(results, k->group, k->subject, name, "",
			      json_number_value(json_object_get(calls, "until_init")));
		free(name);
		name = xasprintf("  early calls of %s", function);
		results_exact(results, k->group, k->subject, name, "",
			      json_number_value(json_object_get(calls, "before_time_init")));
		free(name);
	}
}

static double counter(const json_t *counters, const char *name)
{
	return json_number_value(json_object_get(counters, name));
}

static void add_depot(const struct session *s, const struct kernel *k, json_t *results)
{
	json_t *record = session_record(s, k, RUN_EXACT, 1), *value;
	json_t *depot = json_object_get(record, "stackdepot");
	const char *name;
	char *label;

	if (json_object_size(depot)) {
		results_exact(results, k->group, k->subject, "depot: traces", "",
			      counter(depot, "persistent_count") +
			      counter(depot, "refcounted_in_use"));
		results_exact(results, k->group, k->subject, "depot: persistent records", "bytes",
			      counter(depot, "persistent_bytes"));
		results_exact(results, k->group, k->subject, "depot: pools", "bytes",
			      counter(depot, "pools") * POOL_PAGES *
			      json_number_value(json_object_get(record, "pagesize")));
	}
	/* The fast depot knows more of itself. */
	if (json_object_get(depot, "table_bytes"))
		results_exact(results, k->group, k->subject, "depot: all of it", "bytes",
			      counter(depot, "bytes"));
	json_object_foreach(json_object_get(record, "scs_trace"), name, value) {
		label = xasprintf("scs_trace: %s", name);
		results_exact(results, k->group, k->subject, label, "", json_number_value(value));
		free(label);
	}
}

struct initcall {
	const char *name;
	double spread;
};

static int by_spread(const void *a, const void *b)
{
	const struct initcall *x = a, *y = b;

	if (x->spread != y->spread)
		return x->spread < y->spread ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* How much an initcall's time differs between the kernels of a group. */
static double initcall_spread(const struct session *s, size_t first, size_t end, const char *name)
{
	double least = 0, most = 0, us;
	size_t i;

	for (i = first; i < end; i++) {
		json_t *record = session_record(s, &s->kernels[i], RUN_INITCALLS, 1);

		us = counter(json_object_get(record, "initcalls"), name);
		least = i == first || us < least ? us : least;
		most = us > most ? us : most;
	}
	return most - least;
}

/* Where the time of a boot goes: its phases, and the initcalls that differ most. */
static void add_initcalls(const struct boot_options *opts, size_t first, size_t end,
			  json_t *results)
{
	const struct session *s = &opts->session;
	json_t *all = json_object_get(session_record(s, &s->kernels[first], RUN_INITCALLS, 1),
				      "initcalls"), *value;
	struct initcall *list = xrealloc(NULL, (json_object_size(all) + 1) * sizeof(*list));
	const char *name;
	size_t n = 0, i, j;

	json_object_foreach(all, name, value)
		list[n++] = (struct initcall){ name, initcall_spread(s, first, end, name) };
	qsort(list, n, sizeof(*list), by_spread);
	for (i = first; i < end; i++) {
		const struct kernel *k = &s->kernels[i];
		json_t *exact = session_record(s, k, RUN_EXACT, 1);
		double reset = json_number_value(json_object_get(exact, "reset"));
		double after = json_number_value(json_object_get(exact, "after")), sum = 0;
		char *group = xasprintf("%s: where it goes", k->group);

		all = json_object_get(session_record(s, k, RUN_INITCALLS, 1), "initcalls");
		json_object_foreach(all, name, value)
			sum += 1000 * json_number_value(value);
		results_exact(results, group, k->subject, "before time_init()", "", reset - after);
		results_exact(results, group, k->subject, "initcalls", "", sum);
		results_exact(results, group, k->subject, "the rest until init", "", after - sum);
		for (j = 0; j < n && j < opts->top && list[j].spread > 0; j++) {
			char *label = xasprintf("  initcall %s", list[j].name);

			results_exact(results, group, k->subject, label, "",
				      1000 * counter(all, list[j].name));
			free(label);
		}
		free(group);
	}
	free(list);
}

static void add_notes(const struct boot_options *opts, json_t *results)
{
	const struct session *s = &opts->session;
	json_t *exact = session_record(s, &s->kernels[0], RUN_EXACT, 1);
	char buf[COUNT_SIZE];
	json_t *image;

	image = json_object_get(json_object_get(s->env, "images"), s->kernels[0].name);
	results_note(results, "Linux %s, %s, 1 CPU, %s; %s",
		     json_string_value(json_object_get(image, "version")), s->opts.mem,
		     json_string_value(json_object_get(image, "compiler")), s->qemu_version);
	results_note(results,
		     "Instructions: exact, the same in %d runs, in steps of %.0f; after time_init() by a microsecond\n"
		     "stamp, at most %s too high, by nearly the same everywhere.", EXACT_RUNS,
		     json_number_value(json_object_get(exact, "resolution")),
		     format_count(json_integer_value(json_object_get(exact, "after_error")), buf));
	results_note(results,
		     "Calls: until init's first instruction; early: before time_init(). Depot: read by init. -: not there.");
	if (opts->top)
		results_note(results,
			     "Initcalls: instructions, by initcall_debug, in steps of 1000, with whatever else ran meanwhile.");
	if (s->wall_method)
		results_note(results,
			     "Wall: whole runs of QEMU (%s) by %s, median of %u; interleaved at random, seed %llu.\n"
			     "A difference is claimed at p <= %.2f in the rank test, if the interval and the noise allow.",
			     s->kvm ? "KVM" : "TCG", s->wall_method, s->opts.runs, s->opts.seed,
			     STATS_ALPHA);
}

static json_t *make_results(void *ctx)
{
	struct boot_options *opts = ctx;
	struct session *s = &opts->session;
	json_t *results = session_results(s);
	size_t i, first = 0;

	for (i = 0; i < s->nkernels; i++)
		boot_add_exact(s, &s->kernels[i], results);
	for (i = 0; i < s->nkernels; i++)
		add_share(&s->kernels[i], results);
	for (i = 0; i < s->nkernels; i++)
		add_calls(s, &s->kernels[i], results);
	for (i = 0; i < s->nkernels; i++)
		add_depot(s, &s->kernels[i], results);
	if (!opts->no_wall)
		for (i = 0; i < s->nkernels; i++)
			boot_add_wall(s, &s->kernels[i], session_is_first(s, i), results);
	for (i = 1; opts->top && i <= s->nkernels; i++) {
		if (i < s->nkernels && !session_is_first(s, i))
			continue;
		add_initcalls(opts, first, i, results);
		first = i;
	}
	results_against(results, s->kernels[0].subject);
	add_notes(opts, results);
	return results;
}

static json_t *json_arguments(const void *ctx)
{
	const struct boot_options *opts = ctx;
	json_t *count = json_array();
	size_t i;

	for (i = 0; i < opts->count.n; i++)
		json_array_append_new(count, json_string(opts->count.v[i]));
	return json_pack("{s:o, s:b}", "count", count, "initcalls", opts->top > 0);
}

/**
 * cmd_boot - the subcommand "boot"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_boot(int argc, char **argv)
{
	struct experiment experiment = {
		add_kernels, json_arguments, make_plan, run_step, make_results, true,
	};
	struct boot_options opts;
	int ret = boot_parse_args(argc, argv, &opts);

	experiment.wall = !opts.no_wall;
	if (!ret)
		ret = session_measure(&opts.session, &experiment, &opts);
	boot_free_options(&opts);
	return ret;
}
