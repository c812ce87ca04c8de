// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of a boot: counting instructions exactly and timing; other subcommands use them.
 *
 * A run that did not end as it should is an error, so it can never count as a fast one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "env.h"
#include "results.h"

#define NO_ROOT_PANIC	"Kernel panic - not syncing: VFS: Unable to mount root fs"
/* A kernel without block devices does not even look for one. */
#define NO_INIT_PANIC	"Kernel panic - not syncing: No working init found"
#define INIT_IS_DONE	"scs_bench: done"

#define NSEC_PER_SEC	1000000000ULL

static u64 ticks_to_instructions(u64 ticks, u64 frequency)
{
	return ticks / frequency * NSEC_PER_SEC + ticks % frequency * NSEC_PER_SEC / frequency;
}

/**
 * boot_exact_from_log - compute instruction counts from what init printed
 * @log: what init printed
 * @exact: the counts
 * @resolution: instructions that one tick of the counter stands for
 * @after_error: how many instructions @exact->after can be too high
 *
 * With "-icount shift=0" an instruction takes one nanosecond of guest time, and everything that
 * measures time counts instructions. The counter runs from reset, sched_clock() from time_init():
 * one stamp of the latter, and the counter at that moment, give the distance between the two. That
 * moment lies between two readings of the counter; the first of them is taken.
 *
 * Return: false when the log does not have what is needed.
 */
bool boot_exact_from_log(const struct boot_log *log, struct exact *exact, double *resolution,
			 u64 *after_error)
{
	u64 stamp = log->kmsg_us * 1000, since;

	if (!log->done || !log->cntfrq || !log->cntvct || !log->entry || !log->kmsg_us ||
	    log->kmsg_before < log->cntvct || log->kmsg_after < log->kmsg_before)
		return false;
	since = ticks_to_instructions(log->kmsg_before - log->cntvct, log->cntfrq);
	if (since > stamp)
		return false;
	exact->reset = ticks_to_instructions(log->cntvct, log->cntfrq);
	exact->after = stamp - since;
	if (exact->after > exact->reset)
		return false;
	*resolution = (double)NSEC_PER_SEC / log->cntfrq;
	*after_error = ticks_to_instructions(log->kmsg_after - log->kmsg_before, log->cntfrq);
	return true;
}

static json_t *json_counters(const struct counters *c)
{
	json_t *obj = json_object();
	size_t i;

	for (i = 0; i < c->n; i++)
		json_object_set_new(obj, c->v[i].name, json_integer(c->v[i].value));
	return obj;
}

/* Two counts of one kernel have to be the same. */
static int check_same(const struct session *s, const struct kernel *k, unsigned int nr,
		      const struct exact *exact, const char *log_path)
{
	json_t *other = session_record(s, k, RUN_EXACT, 3 - nr);
	u64 reset, after;

	if (!other)
		return EXIT_OK;
	reset = json_integer_value(json_object_get(other, "reset"));
	after = json_integer_value(json_object_get(other, "after"));
	if (reset == exact->reset && after == exact->after)
		return EXIT_OK;
	bench_err("%s: two runs do not agree: %llu and %llu instructions from reset, %llu and %llu after time_init(); the count is only exact with one CPU and nothing from outside the guest: check the kernel arguments, and begin anew with another --out (logs: %s and the one before)",
		  k->name, reset, exact->reset, after, exact->after, log_path);
	return EXIT_FAILED;
}

/**
 * boot_exact_run - count a boot's instructions
 * @s: the session
 * @k: the kernel
 * @nr: number of the run: 1 or 2
 * @log_path: for the log
 * @record: what was counted
 *
 * Return: EXIT_OK, or another exit code after an error was told.
 */
int boot_exact_run(struct session *s, const struct kernel *k, unsigned int nr, const char *log_path,
		   json_t **record)
{
	struct qemu_spec spec = session_spec(s, k);
	struct boot_log parsed = { 0 };
	struct exact exact;
	double seconds, resolution;
	char *log = NULL;
	u64 after_error;
	int ret;

	spec.icount = true;
	spec.initrd = s->opts.initrd;
	spec.log = log_path;
	ret = qemu_run(&spec, &seconds);
	if (ret)
		return ret;
	log = read_file(log_path, NULL);
	if (log)
		boot_log_parse(log, &parsed);
	if (parsed.error)
		ret = fail_run(k, log_path, log, parsed.error, "init could not do its work");
	else if (!boot_exact_from_log(&parsed, &exact, &resolution, &after_error))
		ret = fail_run(k, log_path, log, "init did not report what it measured",
			       "the kernel did not come up to it, or --initrd is not ours");
	else
		ret = check_same(s, k, nr, &exact, log_path);
	if (!ret)
		*record = json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:o, s:o}", "reset",
				    (json_int_t)exact.reset, "after", (json_int_t)exact.after,
				    "resolution", resolution, "after_error",
				    (json_int_t)after_error, "cntvct", (json_int_t)parsed.cntvct,
				    "entry", (json_int_t)parsed.entry, "pagesize",
				    (json_int_t)parsed.pagesize, "stackdepot",
				    json_counters(&parsed.stackdepot), "scs_trace",
				    json_counters(&parsed.scs_trace));
	boot_log_free(&parsed);
	free(log);
	return ret;
}

/**
 * boot_wall_run - time a boot from outside
 * @s: the session
 * @k: the kernel
 * @wall: what to boot
 * @log_path: for the log
 * @record: the time
 *
 * Return: EXIT_OK, or another exit code after an error was told.
 */
int boot_wall_run(struct session *s, const struct kernel *k, const struct boot_wall *wall,
		  const char *log_path, json_t **record)
{
	char *args = xasprintf("%s%s", k->args, wall->append);
	char *perf_path = xasprintf("%s.perf", log_path);
	struct qemu_spec spec = session_spec(s, k);
	double seconds;
	char *log;
	bool good;
	int ret;

	spec.append = args;
	spec.initrd = wall->initrd;
	spec.log = log_path;
	spec.kvm = s->kvm;
	if (!strcmp(s->wall_method, WALL_PERF))
		spec.perf_out = perf_path;
	ret = qemu_run(&spec, &seconds);
	if (ret)
		goto out;
	log = read_file(log_path, NULL);
	good = log && (wall->initrd ? log_has(log, INIT_IS_DONE) :
		       log_has(log, NO_ROOT_PANIC) || log_has(log, NO_INIT_PANIC));
	if (good)
		*record = json_pack("{s:f}", "seconds", seconds);
	else
		ret = fail_run(k, log_path, log,
			       wall->initrd ? "init did not come to its end" :
			       "the kernel did not come to look for its root file system",
			       "it failed earlier, or its arguments lead it elsewhere");
	free(log);
out:
	unlink(perf_path);
	free(perf_path);
	free(args);
	return ret;
}

/**
 * boot_plan_exact - plan the exact runs of a kernel, in block 0
 * @s: the session
 * @kernel: which of its kernels
 */
void boot_plan_exact(struct session *s, size_t kernel)
{
	unsigned int nr;

	for (nr = 1; nr <= EXACT_RUNS; nr++)
		plan_add(&s->plan, 0, RUN_EXACT, kernel, nr, "%s/" RUN_EXACT "/%u",
			 s->kernels[kernel].name, nr);
}

/**
 * boot_plan_wall - plan the wall runs of a kernel, one a block, and one to warm up
 * @s: the session
 * @kernel: which of its kernels
 * @again: run it twice as often, to compare it with itself
 * @first_block: the block of the warm-up
 */
void boot_plan_wall(struct session *s, size_t kernel, bool again, unsigned int first_block)
{
	const char *name = s->kernels[kernel].name;
	unsigned int nr;

	for (nr = 0; nr <= s->opts.runs; nr++) {
		plan_add(&s->plan, first_block + nr, RUN_WALL, kernel, nr, "%s/" RUN_WALL "/%u",
			 name, nr);
		if (again && nr)
			plan_add(&s->plan, first_block + nr, RUN_AGAIN, kernel, nr,
				 "%s/" RUN_AGAIN "/%u", name, nr);
	}
}

/**
 * boot_add_exact - add the counts of a kernel to the results
 * @s: the session
 * @k: the kernel
 * @results: the results
 */
void boot_add_exact(const struct session *s, const struct kernel *k, json_t *results)
{
	static const char * const fields[][2] = {
		{ "reset", FIGURE_RESET }, { "after", FIGURE_AFTER },
	};
	struct figure f = { k->group, k->subject, NULL, "instructions", true, { 0 } };
	double *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		v = session_samples(s, k, RUN_EXACT, fields[i][0], &f.samples);
		f.name = fields[i][1];
		results_figure(results, &f);
		free(v);
	}
}

/**
 * boot_add_wall - add the wall time of a kernel to the results, and the noise if it was measured
 * @s: the session
 * @k: the kernel
 * @again: the kernel was run twice as often
 * @results: the results
 */
void boot_add_wall(const struct session *s, const struct kernel *k, bool again, json_t *results)
{
	struct figure f = { k->group, k->subject, FIGURE_WALL, "s", false, { 0 } };
	double *v = session_samples(s, k, RUN_WALL, "seconds", &f.samples);

	results_figure(results, &f);
	free(v);
	if (!again)
		return;
	v = session_samples(s, k, RUN_AGAIN, "seconds", &f.samples);
	results_noise(results, &f);
	free(v);
}
