// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "replay": plays recorded streams on the depots, on the host.
 *
 * The program that plays them belongs to the depot (tools/testing/stackdepot_fast/replay.c). Here
 * it is run many times, with the depots interleaved at random, and its times are judged.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_replay.h"
#include "env.h"
#include "opts.h"
#include "plan.h"
#include "proc.h"
#include "results.h"
#include "store.h"

#define RUN_PLAY	"play"
#define RUN_AGAIN	"again"
#define FIGURE_TIME	"time of an operation"
#define MAX_LOG		(1024 * 1024)

/* The depots, the baseline first. */
static const struct {
	const char *name;
	const char *args;
} depots[] = {
	{ "upstream", "--depot upstream" },
	{ "fast", "--depot fast" },
	{ "fast, shadow stack", "--depot fast --shadow" },
};

/**
 * struct replay - what is asked for
 * @opts: the common options
 * @program: the one that plays
 * @streams: recorded streams
 * @store: the finished runs
 * @plan: all runs; a subject is a stream and a depot
 */
struct replay {
	struct common_opts opts;
	char *program;
	struct strv streams;
	struct store store;
	struct plan plan;
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench replay [options] [STREAM...]\n"
	      "\n"
	      "Plays recorded streams (make record) on upstream's depot and on the fast one, on the host:\n"
	      "traces, memory, and time with the machine's own noise beside it. Without STREAM, all in\n"
	      "build/record.\n"
	      "\n"
	      "  --program FILE   the program that plays them (build/depot/plain/replay)\n"
	      "  --out FILE       the finished runs (build/bench/replay.runs)\n"
	      "  --resume         go on with what --out has, after an interruption\n"
	      "  --json FILE      the results (build/bench/replay.json; - for the terminal)\n"
	      "  --runs N         times that each is played (10)\n"
	      "  --timeout S      seconds that playing one may take (300)\n"
	      "  --seed N         for the order of the runs and for intervals (random)\n"
	      "  --help           this text\n", out);
}

static const char *stream_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A line "name: value" of what the program prints. */
static bool find_number(const char *text, const char *name, double *value)
{
	char *needle = xasprintf("%s: ", name), *p = strstr(text, needle), *end;
	bool ok = false;

	if (p && (p == text || p[-1] == '\n')) {
		*value = strtod(p + strlen(needle), &end);
		ok = end != p + strlen(needle) && *end == '\n';
	}
	free(needle);
	return ok;
}

static int play(void *ctx, const struct plan_step *step, const char *log_path, json_t **record)
{
	static const char * const names[] = {
		"saves", "puts", "traces", "bytes", "bytes_per_trace", "ns_per_operation",
	};
	struct replay *r = ctx;
	const char *stream = r->streams.v[step->subject / ARRAY_SIZE(depots)];
	struct proc_spec spec = {
		.log = log_path, .timeout = r->opts.timeout, .max_file = MAX_LOG,
	};
	struct strv argv = { 0 };
	struct proc_result res;
	char *how, *text = NULL;
	int ret = EXIT_FAILED;
	double value;
	size_t i;

	strv_add(&argv, "%s", r->program);
	strv_split(&argv, depots[step->subject % ARRAY_SIZE(depots)].args, " ");
	strv_add(&argv, "%s", stream);
	spec.argv = argv.v;
	proc_run(&spec, &res);
	strv_free(&argv);
	how = proc_describe(&res);
	if (res.end == PROC_INTERRUPTED) {
		bench_err("interrupted: the run in progress does not count");
		ret = EXIT_INTERRUPTED;
		goto out;
	}
	if (how) {
		bench_err("%s failed on %s: %s; is that a stream of this version? 'make record' makes new ones (log: %s)",
			  r->program, stream, how, log_path);
		show_log_tail(log_path);
		goto out;
	}
	text = read_file(log_path, NULL);
	*record = json_object();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!text || !find_number(text, names[i], &value)) {
			bench_err("%s did not print %s: it is not the depot's replay, or of another version (log: %s)",
				  r->program, names[i], log_path);
			json_decref(*record);
			*record = NULL;
			goto out;
		}
		json_object_set_new(*record, names[i], json_real(value));
	}
	ret = EXIT_OK;
out:
	free(text);
	free(how);
	return ret;
}

static void make_plan(struct replay *r)
{
	size_t subject, n = r->streams.n * ARRAY_SIZE(depots);
	unsigned int nr;

	for (subject = 0; subject < n; subject++) {
		const char *stream = stream_name(r->streams.v[subject / ARRAY_SIZE(depots)]);
		const char *depot = depots[subject % ARRAY_SIZE(depots)].name;

		/* Number 0 is the warm-up. */
		for (nr = 0; nr <= r->opts.runs; nr++) {
			plan_add(&r->plan, nr, RUN_PLAY, subject, nr,
				 "%s/%s/" RUN_PLAY "/%u", stream, depot, nr);
			if (nr && subject % ARRAY_SIZE(depots) == 0)
				plan_add(&r->plan, nr, RUN_AGAIN, subject, nr,
					 "%s/%s/" RUN_AGAIN "/%u", stream, depot, nr);
		}
	}
	plan_shuffle(&r->plan, r->opts.seed);
}

static json_t *find_run(const struct replay *r, size_t subject, const char *kind, unsigned int nr)
{
	char *key = xasprintf("%s/%s/%s/%u",
			      stream_name(r->streams.v[subject / ARRAY_SIZE(depots)]),
			      depots[subject % ARRAY_SIZE(depots)].name, kind, nr);
	json_t *record = store_find(&r->store, key);

	free(key);
	return record;
}

static void add_times(const struct replay *r, size_t subject, const char *kind,
		      json_t *results)
{
	double *v = xrealloc(NULL, r->opts.runs * sizeof(*v));
	struct figure f = {
		stream_name(r->streams.v[subject / ARRAY_SIZE(depots)]),
		depots[subject % ARRAY_SIZE(depots)].name, FIGURE_TIME, "ns", false,
		{ v, r->opts.runs },
	};
	unsigned int nr;

	for (nr = 1; nr <= r->opts.runs; nr++)
		v[nr - 1] = json_number_value(json_object_get(find_run(r, subject, kind, nr),
							      "ns_per_operation"));
	if (!strcmp(kind, RUN_AGAIN))
		results_noise(results, &f);
	else
		results_figure(results, &f);
	free(v);
}

static json_t *make_results(const struct replay *r, json_t *env)
{
	static const char * const figures[][3] = {
		{ "saves", "saves", "" }, { "puts", "puts", "" }, { "traces", "traces", "" },
		{ "bytes", "all of the depot", "bytes" },
		{ "bytes_per_trace", "the same, a trace", "bytes" },
	};
	json_t *results = results_new("replay", env, r->opts.seed);
	size_t subject, i;

	for (subject = 0; subject < r->streams.n * ARRAY_SIZE(depots); subject++) {
		json_t *record = find_run(r, subject, RUN_PLAY, 1);

		for (i = 0; i < ARRAY_SIZE(figures); i++)
			results_exact(results,
				      stream_name(r->streams.v[subject / ARRAY_SIZE(depots)]),
				      depots[subject % ARRAY_SIZE(depots)].name, figures[i][1],
				      figures[i][2],
				      json_number_value(json_object_get(record, figures[i][0])));
		add_times(r, subject, RUN_PLAY, results);
		if (subject % ARRAY_SIZE(depots) == 0)
			add_times(r, subject, RUN_AGAIN, results);
	}
	results_against(results, depots[0].name);
	results_note(results,
		     "Times are of the depot built for the host, %u runs of each, interleaved at random, seed %llu.",
		     r->opts.runs, r->opts.seed);
	return results;
}

static int find_streams(struct replay *r, const char *build)
{
	char *pattern;
	glob_t found;
	size_t i;

	if (!r->streams.n) {
		pattern = xasprintf("%s/record/*.stream", build);
		if (!glob(pattern, 0, NULL, &found)) {
			for (i = 0; i < found.gl_pathc; i++)
				strv_add(&r->streams, "%s", found.gl_pathv[i]);
			globfree(&found);
		}
		free(pattern);
	}
	if (!r->streams.n) {
		bench_err("there is no recorded stream in %s/record: 'make record' makes some, or name one",
			  build);
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/* What is played with what, by their hashes. */
static int identify(struct replay *r, json_t *env)
{
	json_t *files = json_object();
	int ret = EXIT_OK;
	size_t i;

	json_object_set_new(env, "files", files);
	for (i = 0; !ret && i <= r->streams.n; i++) {
		const char *path = i < r->streams.n ? r->streams.v[i] : r->program;
		char *hash = env_hash_file(path);

		if (!hash) {
			bench_err("cannot read %s: %s; %s", path, strerror(errno),
				  i < r->streams.n ? "name a recorded stream" :
				  "'make check' builds it, or see --program");
			ret = EXIT_UNUSABLE;
		} else {
			json_object_set_new(files, stream_name(path), json_string(hash));
		}
		free(hash);
	}
	return ret;
}

static int take_option(void *ctx, int opt, const char *arg)
{
	struct replay *r = ctx;

	if (opt == 'p')
		set_string(&r->program, arg);
	return EXIT_OK;
}

static int measure(struct replay *r)
{
	json_t *env = json_pack("{s:o}", "host", env_host()), *identity, *results;
	int ret = identify(r, env);

	if (!ret) {
		identity = json_pack("{s:O, s:O}", "files", json_object_get(env, "files"), "CPU",
				     json_object_get(json_object_get(env, "host"), "cpu"));
		ret = store_open(&r->store, r->opts.out, "replay", identity, &r->opts.seed,
				 r->opts.resume);
		json_decref(identity);
	}
	if (!ret) {
		make_plan(r);
		ret = plan_execute(&r->plan, &r->store, play, r);
	}
	if (ret) {
		json_decref(env);
		return ret;
	}
	results = make_results(r, env);
	ret = results_show(results, r->opts.json);
	json_decref(results);
	return ret;
}

/**
 * cmd_replay - the subcommand "replay"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_replay(int argc, char **argv)
{
	static const struct option own[] = {
		{ "program", required_argument, NULL, 'p' },
		{ 0 }
	};
	struct replay r = { .store.fd = -1 };
	const struct command command = { "replay", usage, own, NULL, take_option, &r.streams };
	char *build = bench_build_dir();
	int ret;

	common_init(&r.opts);
	ret = common_parse(&r.opts, &command, argc, argv, &r);
	if (!ret) {
		common_finish(&r.opts, "replay");
		if (!r.program)
			r.program = xasprintf("%s/depot/plain/replay", build);
		ret = find_streams(&r, build);
	}
	if (!ret)
		ret = measure(&r);
	free(build);
	free(r.program);
	strv_free(&r.streams);
	plan_free(&r.plan);
	store_close(&r.store);
	common_free(&r.opts);
	return ret;
}
