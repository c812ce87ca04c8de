// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "load": what programs of a real userland take with and without debugging.
 *
 * The guest's root file system is an ext4 image that QEMU puts into memory as an initial RAM disk:
 * so no device answers at a time of its own while instructions are counted. Init (init/jobs.c)
 * runs the jobs that the image lists, each of which does a fixed amount of work, and tells what
 * each took. A job that fails on the clean kernel is left out and named; one that fails on another
 * kernel ends the run, for it might have taken less by doing less.
 *
 * What is compared is CPU time: under -icount it is what the kernel's scheduler counted, a
 * nanosecond an instruction, of the job and its children.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_load.h"
#include "env.h"
#include "guest.h"
#include "parse.h"
#include "results.h"

#define MARK		"scs_bench: "

#define RUN_EXACT	"exact"
#define RUN_WALL	"wall"

/* A rootfs with room for it all, in a RAM disk; init says what fails. */
#define BOOT_ARGS	"root=/dev/ram0 rw init=/scs_bench/init -- load"

/* Starting stress-ng takes several times this: below it there is nothing to compare. */
#define MIN_CPU_US	5000

#define STRESS_GROUP	"stress"

static void usage(FILE *out)
{
	fputs("Usage: scs_bench load [options]\n"
	      "\n"
	      "Boots kernels (built with LOAD=1) into a userland of Debian's packages and runs iperf3\n"
	      "over loopback, the stressors of stress-ng and gcc, each with a fixed amount of work.\n"
	      "Shows the CPU time that each takes, against a clean kernel.\n"
	      "\n"
	      GUEST_HELP
	      "                   (generic; upstream,scs; plain,page_owner=on)\n"
	      "  --clean MODE/VARIANT\n"
	      "                   the kernel that all are compared with (none/upstream)\n"
	      "  --rootfs FILE    the guest's root file system (build/guest/KVER/rootfs.ext4)\n"
	      "  --jobs LIST      groups or names of jobs: iperf3, compile, stress, or one of those\n"
	      "                   in tools/testing/scs_bench/load/jobs (all)\n"
	      "  --exact-runs N   runs that count instructions, 0 for none (1)\n"
	      "  --wall           take the time of --runs runs, too, not only instructions\n"
	      COMMON_HELP, out);
}

/**
 * struct load - a running "load"
 * @guest: kernels, tools, store
 * @rootfs: the root file system
 * @jobs: the jobs
 * @exact_runs: runs that count instructions of each kernel
 * @wall: time is taken, too
 */
struct load {
	struct guest guest;
	char *rootfs;
	struct strv jobs;
	unsigned int exact_runs;
	bool wall;
};

static bool parse_job(json_t *jobs, const char *text)
{
	static const char format[] =
		MARK "job %31s %63s status %d ticks %lld user_us %lld system_us %lld faults %lld";
	long long ticks, user, system, faults;
	char group[32], name[64], *key;
	int status;

	if (sscanf(text, format, group, name, &status, &ticks, &user, &system, &faults) != 7)
		return false;
	key = xasprintf("%s/%s", group, name);
	json_object_set_new(jobs, key,
			    json_pack("{s:i, s:I, s:I, s:I, s:I}", "status", status, "ticks",
				      (json_int_t)ticks, "user_us", (json_int_t)user, "system_us",
				      (json_int_t)system, "faults", (json_int_t)faults));
	free(key);
	return true;
}

/**
 * load_parse - read what init told of the jobs
 * @log: the console's text
 * @error: what is wrong with it, to be freed, if the result is NULL
 *
 * Return: a new object: of each job, as "group/name", what it took; in the order of the log.
 */
json_t *load_parse(const char *log, char **error)
{
	json_t *jobs = json_object();
	long long frequency = 0, value;
	const char *text;
	char *line;

	*error = NULL;
	while (!*error && (line = log_line(&log))) {
		text = printk_text(line);
		if (sscanf(text, MARK "cntfrq %lld", &value) == 1)
			frequency = value;
		else if (!strncmp(text, MARK "job ", strlen(MARK "job ")) && !parse_job(jobs, text))
			*error = xasprintf("a line is not understood: \"%s\"", text);
		free(line);
	}
	if (!*error && !frequency)
		*error = xstrdup("init does not tell the counter's frequency");
	if (!*error && !json_object_size(jobs))
		*error = xstrdup("no job ran");
	if (*error) {
		json_decref(jobs);
		return NULL;
	}
	return json_pack("{s:I, s:o}", "frequency", (json_int_t)frequency, "jobs", jobs);
}

static const struct kernel *clean_kernel(const struct load *l)
{
	return &l->guest.session.kernels[0];
}

static double cpu_us(const json_t *job)
{
	return json_number_value(json_object_get(job, "user_us")) +
	       json_number_value(json_object_get(job, "system_us"));
}

static bool job_good(const json_t *job)
{
	return job && !json_integer_value(json_object_get(job, "status"));
}

/* A job that fails must not count as a fast one; on the clean kernel it is left out later. */
static int check_jobs(const struct load *l, const struct plan_step *step, const char *log_path,
		      const json_t *record)
{
	const struct kernel *k = &l->guest.session.kernels[step->subject];
	json_t *clean = session_record(&l->guest.session, clean_kernel(l), step->kind, 1), *job;
	json_t *clean_jobs = json_object_get(clean, "jobs");
	json_t *jobs = json_object_get(record, "jobs");
	const char *key;
	char *what;
	int ret;

	json_object_foreach(clean_jobs, key, job) {
		if (!job_good(job) || job_good(json_object_get(jobs, key)))
			continue;
		what = xasprintf("%s fails there, but not on %s", key, clean_kernel(l)->name);
		ret = fail_run(k, log_path, NULL, what,
			       "see its output in the log, or leave it out with --jobs");
		free(what);
		return ret;
	}
	return EXIT_OK;
}

static int load_run(void *ctx, const struct plan_step *step, const char *log_path,
		    json_t **record)
{
	struct load *l = ctx;
	struct session *s = &l->guest.session;
	const struct kernel *k = &s->kernels[step->subject];
	struct qemu_spec spec = session_spec(s, k);
	char *args = xstrdup(BOOT_ARGS), *log, *error, *longer;
	size_t i;
	int ret;

	for (i = 0; i < l->jobs.n; i++) {
		longer = xasprintf("%s %s", args, l->jobs.v[i]);
		free(args);
		args = longer;
	}
	spec.initrd = l->rootfs;
	spec.log = log_path;
	spec.icount = !strcmp(step->kind, RUN_EXACT);
	ret = guest_boot(&spec, k, args, &log);
	free(args);
	if (ret)
		return ret;
	*record = load_parse(log, &error);
	if (!*record)
		ret = fail_run(k, log_path, log, error,
			       "--rootfs is not that of this scs_bench, or has no such --jobs");
	else
		ret = check_jobs(l, step, log_path, *record);
	free(error);
	free(log);
	return ret;
}

/* The clean kernel comes first, since the others are held against it. */
static void plan(struct load *l)
{
	struct session *s = &l->guest.session;
	unsigned int nr, block = 0;
	size_t i;

	for (nr = 1; nr <= l->exact_runs; nr++) {
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, nr == 1 && !i ? block : block + 1, RUN_EXACT, i, nr,
				 "%s/" RUN_EXACT "/%u", s->kernels[i].name, nr);
		block += 2;
	}
	for (nr = 1; l->wall && nr <= s->opts.runs; nr++) {
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, nr == 1 && !i ? block : block + 1, RUN_WALL, i, nr,
				 "%s/" RUN_WALL "/%u", s->kernels[i].name, nr);
		block += 2;
	}
}

/* CPU time of a job in all runs of a kind, in seconds. */
static double *job_samples(const struct session *s, const struct kernel *k, const char *kind,
			   const char *key, struct samples *samples)
{
	double *v = NULL;
	unsigned int nr;
	json_t *record;
	size_t n = 0;

	for (nr = 1; (record = session_record(s, k, kind, nr)); nr++) {
		v = xrealloc(v, (n + 1) * sizeof(*v));
		v[n++] = cpu_us(json_object_get(json_object_get(record, "jobs"), key)) / 1e6;
	}
	*samples = (struct samples){ v, n };
	return v;
}

static double median_of(const struct samples *samples)
{
	struct summary sum;

	return summarize(samples->v, samples->n, &sum) ? sum.median : 0;
}

/*
 * Adds one job of one kernel: its CPU time, and how much of the clean kernel's work it does in the
 * same time, which is what is returned; a negative number when it was not measured.
 */
static double add_job(const struct load *l, const struct kernel *k, const char *kind,
		      const char *key, json_t *results)
{
	const struct session *s = &l->guest.session;
	struct samples samples, clean_samples;
	double *v = job_samples(s, k, kind, key, &samples), speed = -1;
	double *clean = job_samples(s, clean_kernel(l), kind, key, &clean_samples);
	char *group = xasprintf("%.*s, CPU time%s", (int)strcspn(key, "/"), key,
				strcmp(kind, RUN_EXACT) ? "" : ", by instructions");
	struct figure f = { group, k->name, strchr(key, '/') + 1, "s", samples.n == 1, samples };

	results_figure(results, &f);
	if (samples.n && clean_samples.n && median_of(&samples) > 0)
		speed = median_of(&clean_samples) / median_of(&samples);
	free(group);
	free(clean);
	free(v);
	return speed;
}

static void add_speed(json_t *results, const char *key, const struct kernel *k, const char *kind,
		      double speed)
{
	char *group = xasprintf("%.*s, work per CPU second, per cent of the clean kernel's%s",
				(int)strcspn(key, "/"), key,
				strcmp(kind, RUN_EXACT) ? "" : ", by instructions");

	results_exact(results, group, k->name, strchr(key, '/') + 1, "%", 100 * speed);
	free(group);
}

static void add_kernel_results(const struct load *l, const struct kernel *k, const char *kind,
			       json_t *results)
{
	json_t *clean = session_record(&l->guest.session, clean_kernel(l), kind, 1), *job;
	json_t *jobs = json_object_get(clean, "jobs");
	double *speeds = NULL, speed;
	const char *key;
	size_t n = 0;

	json_object_foreach(jobs, key, job) {
		if (!job_good(job) || cpu_us(job) < MIN_CPU_US)
			continue;
		speed = add_job(l, k, kind, key, results);
		if (speed < 0)
			continue;
		add_speed(results, key, k, kind, speed);
		if (!strncmp(key, STRESS_GROUP "/", strlen(STRESS_GROUP "/"))) {
			speeds = xrealloc(speeds, (n + 1) * sizeof(*speeds));
			speeds[n++] = speed;
		}
	}
	if (n)
		add_speed(results, STRESS_GROUP "/geometric mean", k, kind,
			  stats_geometric_mean(speeds, n));
	free(speeds);
}

/* What was left out is said, or nobody would miss it. */
static void note_left_out(const struct load *l, const char *kind, json_t *results)
{
	json_t *clean = session_record(&l->guest.session, clean_kernel(l), kind, 1), *job;
	char *list = xstrdup(""), *longer;
	size_t n = 0, left_out = 0;
	const char *key;

	json_object_foreach(json_object_get(clean, "jobs"), key, job) {
		n++;
		if (job_good(job) && cpu_us(job) >= MIN_CPU_US)
			continue;
		longer = xasprintf("%s %s", list, key);
		free(list);
		list = longer;
		left_out++;
	}
	if (clean)
		results_note(results, "%zu of %zu jobs (%s) ran on %s and are compared%s%s.",
			     n - left_out, n, kind, clean_kernel(l)->name,
			     left_out ? "; left out (they fail there, or take less than 5 ms):" :
					"",
			     list);
	free(list);
}

static json_t *make_results(const struct load *l)
{
	static const char * const kinds[] = { RUN_EXACT, RUN_WALL };
	json_t *results = session_results((struct session *)&l->guest.session);
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (j = 0; j < l->guest.session.nkernels; j++)
			add_kernel_results(l, &l->guest.session.kernels[j], kinds[i], results);
		note_left_out(l, kinds[i], results);
	}
	results_against(results, clean_kernel(l)->name);
	return results;
}

static void set_string(char **var, const char *value)
{
	free(*var);
	*var = xstrdup(value);
}

/* EXIT_OK; EXIT_UNUSABLE after an error was told; -1 when only help was asked for. */
static int parse_args(struct load *l, int argc, char **argv)
{
	static const struct option own[] = {
		{ "clean", required_argument, NULL, 'c' },
		{ "rootfs", required_argument, NULL, 'f' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "exact-runs", required_argument, NULL, 'e' },
		{ "wall", no_argument, NULL, 'w' },
		{ 0 }
	};
	struct option *options = guest_options(own);
	int opt, ret = EXIT_OK;

	optind = 1;
	while (!ret && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			set_string(&l->guest.clean, optarg);
			break;
		case 'f':
			set_string(&l->rootfs, optarg);
			break;
		case 'j':
			strv_free(&l->jobs);
			strv_split(&l->jobs, optarg, ",");
			break;
		case 'e':
			if (!parse_uint(optarg, 0, 100, &l->exact_runs)) {
				bench_err("--exact-runs %s: give a whole number from 0 to 100",
					  optarg);
				ret = EXIT_UNUSABLE;
			}
			break;
		case 'w':
			l->wall = true;
			break;
		case 'h':
			usage(stdout);
			ret = -1;
			break;
		default:
			ret = guest_option(&l->guest, opt, optarg);
		}
	}
	free(options);
	if (!ret && optind < argc) {
		bench_err("%s is not an option; see scs_bench load --help", argv[optind]);
		ret = EXIT_UNUSABLE;
	}
	if (!ret && (!l->jobs.n || (!l->exact_runs && !l->wall))) {
		bench_err("nothing to do: name jobs with --jobs, and ask for --exact-runs or --wall");
		ret = EXIT_UNUSABLE;
	}
	return ret;
}

static int begin(struct load *l)
{
	struct session *s = &l->guest.session;
	json_t *jobs = json_array();
	char *build, *hash;
	size_t i;
	int ret;

	common_finish(&s->opts, "load");
	if (!l->rootfs) {
		build = bench_build_dir();
		l->rootfs = xasprintf("%s/guest/%s/rootfs.ext4", build, s->opts.kver);
		free(build);
	}
	/* The session looks for what it boots with; here that is the root file system. */
	set_string(&s->opts.initrd, l->rootfs);
	for (i = 0; i < l->jobs.n; i++)
		json_array_append_new(jobs, json_string(l->jobs.v[i]));
	hash = env_hash_file(l->rootfs);
	if (!hash) {
		bench_err("cannot read %s: make it with 'make guest', or name another with --rootfs",
			  l->rootfs);
		json_decref(jobs);
		return EXIT_UNUSABLE;
	}
	ret = guest_add_kernels(&l->guest);
	if (!ret)
		ret = session_begin(s,
				    json_pack("{s:O, s:s, s:s, s:b, s:i}", "jobs", jobs, "rootfs",
					      hash, "clean", l->guest.clean, "wall", l->wall,
					      "exact runs", (int)l->exact_runs), l->wall);
	free(hash);
	json_decref(jobs);
	return ret;
}

/**
 * cmd_load - the subcommand "load"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_load(int argc, char **argv)
{
	struct load l = { .exact_runs = 1 };
	json_t *results;
	int ret;

	guest_init(&l.guest, "load", "-load", "generic", "upstream,scs",
		   "plain,page_owner=on");
	l.guest.clean = xstrdup("none/upstream");
	l.guest.session.opts.timeout = 3600;
	l.guest.session.opts.runs = 3;
	strv_add(&l.jobs, "all");
	ret = parse_args(&l, argc, argv);
	if (!ret)
		ret = begin(&l);
	if (!ret) {
		plan(&l);
		ret = session_run(&l.guest.session, load_run, &l);
	}
	if (!ret) {
		results = make_results(&l);
		ret = session_end(&l.guest.session, results);
		json_decref(results);
	}
	free(l.rootfs);
	strv_free(&l.jobs);
	guest_free(&l.guest);
	return ret < 0 ? EXIT_OK : ret;
}
