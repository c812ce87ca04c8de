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
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "cmd_load.h"
#include "guest.h"
#include "parse.h"
#include "results.h"

#define MARK		"scs_bench: "

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
	      CLEAN_HELP
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
	const char *kind = strcmp(step->kind, RUN_AGAIN) ? step->kind : RUN_WALL;
	json_t *clean = session_record(&l->guest.session, clean_kernel(l), kind, 1), *job;
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

/* The clean kernel comes first, since the others are held against it; it is run again for noise. */
static void make_plan(void *ctx)
{
	struct load *l = ctx;
	struct session *s = &l->guest.session;
	unsigned int nr, block = 0;
	size_t i;

	for (nr = 1; nr <= l->exact_runs; nr++, block += 2)
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, nr == 1 && !i ? block : block + 1, RUN_EXACT, i, nr,
				 "%s/" RUN_EXACT "/%u", s->kernels[i].name, nr);
	if (!l->wall)
		return;
	/* Number 0 is the warm-up, of the host: one will do, as runs are long. */
	plan_add(&s->plan, block, RUN_WALL, 0, 0, "%s/" RUN_WALL "/0", s->kernels[0].name);
	block += 1;
	for (nr = 1; nr <= s->opts.runs; nr++, block += 2) {
		for (i = 0; i < s->nkernels; i++)
			plan_add(&s->plan, nr == 1 && !i ? block : block + 1, RUN_WALL, i, nr,
				 "%s/" RUN_WALL "/%u", s->kernels[i].name, nr);
		plan_add(&s->plan, block + 1, RUN_AGAIN, 0, nr, "%s/" RUN_AGAIN "/%u",
			 s->kernels[0].name, nr);
	}
}

/* CPU time of a job in one run, in seconds. */
static double job_seconds(const json_t *record, const void *key)
{
	return cpu_us(json_object_get(json_object_get(record, "jobs"), key)) / 1e6;
}

static bool all_same(const struct samples *s)
{
	size_t i;

	for (i = 1; i < s->n; i++)
		if (s->v[i] != s->v[0])
			return false;
	return true;
}

/* The name of a figure's group: the job's, what is shown, and how it was counted; to be freed. */
static char *group_of(const char *key, const char *what, const char *kind)
{
	return xasprintf("%.*s, %s%s", (int)strcspn(key, "/"), key, what,
			 strcmp(kind, RUN_EXACT) ? "" : ", by instructions");
}

/* Adds the CPU time of one job of one kernel; the noise comes with the clean one's. */
static void add_job(const struct load *l, const struct kernel *k, const char *kind,
		    const char *key, json_t *results)
{
	const struct session *s = &l->guest.session;
	char *group = group_of(key, "CPU time", kind);
	struct figure f = { group, k->name, strchr(key, '/') + 1, "s", false, { 0 } };
	double *v = session_collect(s, k, kind, job_seconds, key, &f.samples);

	f.exact = !strcmp(kind, RUN_EXACT) && all_same(&f.samples);
	results_figure(results, &f);
	free(v);
	if (k == clean_kernel(l) && !strcmp(kind, RUN_WALL)) {
		v = session_collect(s, k, RUN_AGAIN, job_seconds, key, &f.samples);
		results_noise(results, &f);
		free(v);
	}
	free(group);
}

/*
 * How much of the clean kernel's work is done in the same time: the geometric mean over jobs. Of
 * each job there are two medians, the clean kernel's first.
 */
static double mean_speed(const double *medians, const void *ctx)
{
	const size_t *jobs = ctx;
	double *speeds = xrealloc(NULL, *jobs * sizeof(*speeds)), mean;
	size_t i;

	for (i = 0; i < *jobs; i++)
		speeds[i] = medians[2 * i] / medians[2 * i + 1];
	mean = 100 * stats_geometric_mean(speeds, *jobs);
	free(speeds);
	return mean;
}

/* @sets has two sets of samples for each job, as mean_speed() wants their medians. */
static void add_speed(json_t *results, const char *key, const struct kernel *k, const char *kind,
		      const struct samples *sets, size_t jobs)
{
	char *group = group_of(key, "work per CPU second, per cent of the clean kernel's", kind);
	struct estimate est;
	bool exact = !strcmp(kind, RUN_EXACT);
	size_t i;

	for (i = 0; i < 2 * jobs; i++)
		exact &= all_same(&sets[i]);
	if (stats_bootstrap(sets, 2 * jobs, mean_speed, &jobs,
			    json_integer_value(json_object_get(results, "seed")), &est) &&
	    isfinite(est.value))
		results_derived(results, group, k->name, strchr(key, '/') + 1, "%", exact, &est);
	free(group);
}

static void add_kernel_results(const struct load *l, const struct kernel *k, const char *kind,
			       json_t *results)
{
	const struct session *s = &l->guest.session;
	json_t *clean = session_record(s, clean_kernel(l), kind, 1), *job;
	json_t *jobs = json_object_get(clean, "jobs");
	struct samples *sets = xrealloc(NULL, 2 * (json_object_size(jobs) + 1) * sizeof(*sets));
	double **v = xrealloc(NULL, 2 * (json_object_size(jobs) + 1) * sizeof(*v));
	const char *key;
	size_t n = 0, i;

	json_object_foreach(jobs, key, job) {
		if (!job_good(job) || cpu_us(job) < MIN_CPU_US)
			continue;
		add_job(l, k, kind, key, results);
		v[2 * n] = session_collect(s, clean_kernel(l), kind, job_seconds, key,
					   &sets[2 * n]);
		v[2 * n + 1] = session_collect(s, k, kind, job_seconds, key, &sets[2 * n + 1]);
		add_speed(results, key, k, kind, &sets[2 * n], 1);
		if (!strncmp(key, STRESS_GROUP "/", strlen(STRESS_GROUP "/"))) {
			n++;
		} else {
			free(v[2 * n]);
			free(v[2 * n + 1]);
		}
	}
	if (n)
		add_speed(results, STRESS_GROUP "/" RESULTS_MEAN, k, kind, sets, n);
	for (i = 0; i < 2 * n; i++)
		free(v[i]);
	free(v);
	free(sets);
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

static json_t *make_results(void *ctx)
{
	static const char * const kinds[] = { RUN_EXACT, RUN_WALL };
	const struct load *l = ctx;
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

static int take_option(void *ctx, int opt, const char *arg)
{
	struct load *l = ctx;

	switch (opt) {
	case 'f':
		set_string(&l->rootfs, arg);
		break;
	case 'j':
		strv_free(&l->jobs);
		strv_split(&l->jobs, arg, ",");
		break;
	case 'e':
		if (parse_uint(arg, 0, 100, &l->exact_runs))
			break;
		bench_err("--exact-runs %s: give a whole number from 0 to 100", arg);
		return EXIT_UNUSABLE;
	case 'w':
		l->wall = true;
		break;
	default:
		guest_option(&l->guest, opt, arg);
	}
	return EXIT_OK;
}

/* What was not given, and what cannot be. */
static int finish_options(struct load *l)
{
	struct common_opts *opts = &l->guest.session.opts;
	char *build;

	if (!l->jobs.n || (!l->exact_runs && !l->wall)) {
		bench_err("nothing to do: name jobs with --jobs, and ask for --exact-runs or --wall");
		return EXIT_UNUSABLE;
	}
	common_finish(opts, "load");
	if (!l->rootfs) {
		build = bench_build_dir();
		l->rootfs = xasprintf("%s/guest/%s/rootfs.ext4", build, opts->kver);
		free(build);
	}
	if (access(l->rootfs, R_OK)) {
		bench_err("cannot read %s: make it with 'make guest', or name another with --rootfs",
			  l->rootfs);
		return EXIT_UNUSABLE;
	}
	/* The session looks for what it boots with; here that is the root file system. */
	set_string(&opts->initrd, l->rootfs);
	return EXIT_OK;
}

static int add_kernels(void *ctx)
{
	struct load *l = ctx;

	return guest_add_kernels(&l->guest);
}

static json_t *json_arguments(const void *ctx)
{
	const struct load *l = ctx;
	json_t *jobs = json_array();
	size_t i;

	for (i = 0; i < l->jobs.n; i++)
		json_array_append_new(jobs, json_string(l->jobs.v[i]));
	return json_pack("{s:o, s:s, s:b, s:i}", "jobs", jobs, "clean", l->guest.clean, "wall",
			 l->wall, "exact runs", (int)l->exact_runs);
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
	static const struct option own[] = {
		{ "clean", required_argument, NULL, 'c' },
		{ "rootfs", required_argument, NULL, 'f' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "exact-runs", required_argument, NULL, 'e' },
		{ "wall", no_argument, NULL, 'w' },
		{ 0 }
	};
	static const struct command command = {
		"load", usage, own, guest_options, take_option, NULL,
	};
	struct experiment experiment = {
		add_kernels, json_arguments, make_plan, load_run, make_results, false,
	};
	struct load l = { .exact_runs = 1 };
	struct session *s = &l.guest.session;
	int ret;

	guest_init(&l.guest, "load", LOAD_SUFFIX, "generic", "upstream,scs", "plain,page_owner=on");
	l.guest.clean = xstrdup("");
	s->opts.timeout = 3600;
	s->opts.runs = 3;
	strv_add(&l.jobs, "all");
	ret = common_parse(&s->opts, &command, argc, argv, &l);
	if (!ret)
		ret = finish_options(&l);
	if (!ret) {
		experiment.wall = l.wall;
		ret = session_measure(s, &experiment, &l);
	}
	free(l.rootfs);
	strv_free(&l.jobs);
	guest_free(&l.guest);
	return ret;
}
