/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session of measuring: the kernels that are booted, the tools, the environment and the store.
 */
#ifndef SCS_BENCH_SESSION_H
#define SCS_BENCH_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "opts.h"
#include "plan.h"
#include "qemu.h"
#include "stats.h"
#include "store.h"
#include "util.h"

#define ALL_MODES "none,generic,sw_tags,hw_tags"

/* The mode without KASAN, of the same size: hw_tags is a smaller kernel than the others. */
#define CLEAN_OF(mode)	(strncmp(mode, "hw_", 3) ? "none" : "hw_none")

/* What the directories of images built with LOAD=1 end in. */
#define LOAD_SUFFIX	"-load"

/**
 * struct kernel - a kernel, and how it is booted
 * @name: unique, of its group and subject
 * @group: group of its figures: mode and arguments
 * @subject: subject of its figures: the variant
 * @image: the Image
 * @system_map: its symbols; NULL where there are none
 * @config: text of its configuration; NULL where there is none
 * @args: the whole kernel command line
 */
struct kernel {
	char *name;
	char *group;
	char *subject;
	char *image;
	char *system_map;
	char *config;
	char *args;
};

/**
 * struct session - see above
 * @opts: the common options
 * @command: the subcommand
 * @suffix: what the directories of this project's images end in, for kernels built for a purpose
 * @kernels: the kernels
 * @nkernels: how many
 * @env: the environment
 * @qemu_version: what QEMU says of itself
 * @wall_method: WALL_PERF or WALL_OWN; NULL when no wall time is wanted
 * @kvm: wall time can be taken with KVM
 * @store: the finished runs
 * @plan: all runs
 */
struct session {
	struct common_opts opts;
	const char *command;
	const char *suffix;
	struct kernel *kernels;
	size_t nkernels;
	json_t *env;
	char *qemu_version;
	const char *wall_method;
	bool kvm;
	struct store store;
	struct plan plan;
};

/**
 * struct experiment - what a subcommand measures; all functions get the subcommand's own context
 * @add: adds its kernels to the session: EXIT_OK, or another exit code after an error was told
 * @arguments: a new object: those of its arguments that results depend on
 * @plan: plans all runs
 * @run: does one
 * @results: makes the results, when all runs are finished
 * @wall: wall time is going to be taken
 */
struct experiment {
	int (*add)(void *ctx);
	json_t *(*arguments)(const void *ctx);
	void (*plan)(void *ctx);
	plan_run_fn run;
	json_t *(*results)(void *ctx);
	bool wall;
};

/**
 * typedef session_value_fn - take one value from what a run gave
 * @record: the run's record
 * @ctx: the caller's
 *
 * Return: the value; NaN if it has none.
 */
typedef double (*session_value_fn)(const json_t *record, const void *ctx);

void session_init(struct session *s, const char *command);
int session_add(struct session *s, const char *mode, const char *variant, const char *args);
int session_add_image(struct session *s, const char *group, const char *subject,
		      const char *image, const char *args);
char *session_group(const char *mode, const char *args);
bool session_is_first(const struct session *s, size_t kernel);
int session_measure(struct session *s, const struct experiment *e, void *ctx);
struct qemu_spec session_spec(const struct session *s, const struct kernel *k);
json_t *session_record(const struct session *s, const struct kernel *k, const char *kind,
		       unsigned int nr);
double *session_collect(const struct session *s, const struct kernel *k, const char *kind,
			session_value_fn value, const void *ctx, struct samples *samples);
double *session_samples(const struct session *s, const struct kernel *k, const char *kind,
			const char *field, struct samples *samples);
json_t *session_results(struct session *s);
void session_free(struct session *s);
int fail_run(const struct kernel *k, const char *log_path, const char *log, const char *what,
	     const char *advice);

#endif /* SCS_BENCH_SESSION_H */
