// SPDX-License-Identifier: GPL-2.0
/*
 * A session of measuring: the kernels that are booted, the tools, the environment and the store.
 */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "env.h"
#include "parse.h"
#include "proc.h"
#include "results.h"
#include "session.h"

#define KERNEL_ARGS	"console=ttyAMA0 kunit.enable=0 panic=-1"
#define ANY_PANIC	"Kernel panic - not syncing: "

/**
 * session_init - begin a session
 * @s: the session; session_free() is due
 * @command: the subcommand
 */
void session_init(struct session *s, const char *command)
{
	*s = (struct session){ .command = command, .suffix = "", .store.fd = -1 };
	common_init(&s->opts);
}

/* What needs an option that the kernel does not have would measure nothing. */
static int check_args(const struct kernel *k)
{
	static const struct {
		const char *arg;
		const char *option;
		const char *advice;
	} needs[] = {
		{ "page_owner=on", "CONFIG_PAGE_OWNER", "set it in the kernel's configuration" },
		{ "page_poison=1", "CONFIG_PAGE_POISONING",
		  "boot images built with LOAD=1 (boot --load-images)" },
		{ "scs_trace=walk", "CONFIG_SCS_TRACE", "boot variant scs with it" },
	};
	size_t i;

	for (i = 0; k->config && i < ARRAY_SIZE(needs); i++) {
		if (!strstr(k->args, needs[i].arg) || config_has(k->config, needs[i].option))
			continue;
		bench_err("%s has no %s, so %s would do nothing: %s, or leave that argument out",
			  k->image, needs[i].option, needs[i].arg, needs[i].advice);
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/**
 * session_group - name the group of kernels of one mode with the same arguments
 * @mode: KASAN mode
 * @args: kernel arguments
 *
 * Return: the name, to be freed.
 */
char *session_group(const char *mode, const char *args)
{
	return xasprintf("%s%s%s", mode, *args ? " " : "", args);
}

/**
 * session_add_image - add any kernel
 * @s: the session, with its options complete (common_finish())
 * @group: group of its figures
 * @subject: subject of its figures
 * @image: the Image; System.map and config beside it are used if they are there
 * @args: further kernel arguments
 *
 * Return: EXIT_OK, or EXIT_UNUSABLE after an error was told.
 */
int session_add_image(struct session *s, const char *group, const char *subject,
		      const char *image, const char *args)
{
	const char *slash = strrchr(image, '/');
	int dir = slash ? slash - image + 1 : 0;
	char *config = xasprintf("%.*sconfig", dir, image);
	struct kernel *k;
	bool kaslr;
	size_t i;

	s->kernels = xrealloc(s->kernels, (s->nkernels + 1) * sizeof(*s->kernels));
	k = &s->kernels[s->nkernels++];
	*k = (struct kernel){
		.group = xstrdup(group),
		.subject = xstrdup(subject),
		.image = xstrdup(image),
		.system_map = xasprintf("%.*sSystem.map", dir, image),
		.config = read_file(config, NULL),
	};
	free(config);
	k->name = xasprintf("%s/%s", k->group, subject);
	kaslr = !k->config || config_has(k->config, "CONFIG_RANDOMIZE_BASE");
	k->args = xasprintf(KERNEL_ARGS "%s%s%s", kaslr ? " nokaslr" : "", *args ? " " : "", args);
	if (access(k->system_map, R_OK)) {
		free(k->system_map);
		k->system_map = NULL;
	}
	if (access(k->image, R_OK)) {
		bench_err("cannot read %s: %s; 'make image' builds one: MODE-VARIANT is the end of that directory's name; or see --images",
			  k->image, strerror(errno));
		return EXIT_UNUSABLE;
	}
	for (i = 0; i + 1 < s->nkernels; i++) {
		if (strcmp(s->kernels[i].name, k->name))
			continue;
		bench_err("%s is asked for twice: name each mode, variant and image once", k->name);
		return EXIT_UNUSABLE;
	}
	return check_args(k);
}

/**
 * session_add - add one of the images that this project builds
 * @s: the session, with its options complete (common_finish())
 * @mode: KASAN mode
 * @variant: a variant; "fallback" is scs, with frame records alone followed
 * @args: further kernel arguments
 *
 * Return: EXIT_OK, or EXIT_UNUSABLE after an error was told.
 */
int session_add(struct session *s, const char *mode, const char *variant, const char *args)
{
	bool fallback = !strcmp(variant, "fallback");
	char *image = xasprintf("%s/%s-%s%s/Image", s->opts.images, mode,
				fallback ? "scs" : variant, s->suffix);
	char *all = xasprintf("%s%s%s", fallback ? "scs_trace=walk" : "",
			      fallback && *args ? " " : "", args);
	char *group = session_group(mode, args);
	int ret = session_add_image(s, group, variant, image, all);

	if (ret && *s->suffix)
		bench_err("images whose names end in %s are made with LOAD=1", s->suffix);
	free(group);
	free(all);
	free(image);
	return ret;
}

/**
 * session_is_first - is a kernel the first of its group, which the others are compared with?
 * @s: the session
 * @kernel: which of its kernels
 *
 * Return: true if it is.
 */
bool session_is_first(const struct session *s, size_t kernel)
{
	return !kernel || strcmp(s->kernels[kernel].group, s->kernels[kernel - 1].group);
}

/* KVM needs a host of the guest's kind, and to be allowed. */
static bool kvm_usable(void)
{
	struct utsname uts;

	return !uname(&uts) && !strcmp(uts.machine, "aarch64") && !access("/dev/kvm", R_OK | W_OK);
}

static int check_place(const struct session *s)
{
	char *copy = xstrdup(s->opts.out), *dir = dirname(copy);
	int ret = EXIT_OK;

	if (access(dir, W_OK | X_OK)) {
		bench_err("cannot write to %s: %s; choose another --out", dir, strerror(errno));
		ret = EXIT_UNUSABLE;
	}
	free(copy);
	return ret;
}

static int check_tools(struct session *s, bool wall)
{
	char *log = xasprintf("%s.check-%d", s->opts.out, getpid());
	char *perf = xasprintf("%s.perf-%d", s->opts.out, getpid());
	int ret = EXIT_OK;

	s->qemu_version = qemu_version(s->opts.qemu, log);
	if (!s->qemu_version)
		ret = EXIT_UNUSABLE;
	if (!ret && wall) {
		s->wall_method = WALL_OWN;
		if (!s->opts.no_perf && perf_usable(log, perf))
			s->wall_method = WALL_PERF;
		else if (!s->opts.no_perf && !proc_interrupted())
			bench_err("perf stat cannot be used here (is linux-perf installed?): the wall time is taken with CLOCK_MONOTONIC");
		s->kvm = kvm_usable();
	}
	unlink(perf);
	unlink(log);
	free(perf);
	free(log);
	/* What was asked for meanwhile was not answered. */
	if (proc_interrupted()) {
		bench_err("interrupted before the first run: nothing was begun");
		ret = EXIT_INTERRUPTED;
	}
	return ret;
}

/* What init does until it counts is part of what is counted. */
static int check_initrd(struct session *s)
{
	char *hash = env_hash_file(s->opts.initrd);

	if (!hash) {
		bench_err("cannot read %s: %s; 'make bench' builds it, or see --initrd",
			  s->opts.initrd, strerror(errno));
		return EXIT_UNUSABLE;
	}
	json_object_set_new(s->env, "initrd", json_pack("{s:s, s:s}", "path", s->opts.initrd,
							"sha256", hash));
	free(hash);
	return EXIT_OK;
}

/* All kernels of a group are of one version and one compiler, or cannot be compared. */
static int check_images(struct session *s)
{
	const char *version, *compiler, *first_version = NULL, *first_compiler = NULL;
	size_t i, len = strlen(s->opts.kver);

	for (i = 0; i < s->nkernels; i++) {
		json_t *image = env_image(s->kernels[i].image);

		if (!image)
			return EXIT_UNUSABLE;
		json_object_set_new(image, "args", json_string(s->kernels[i].args));
		env_add_image(s->env, s->kernels[i].name, image);
		version = json_string_value(json_object_get(image, "version"));
		compiler = json_string_value(json_object_get(image, "compiler"));
		if (strncmp(version, s->opts.kver, len) ||
		    strspn(version + len, "0123456789")) {
			bench_err("%s is Linux %s, not %s: see --images and --kver",
				  s->kernels[i].image, version, s->opts.kver);
			return EXIT_UNUSABLE;
		}
		first_version = first_version ? first_version : version;
		first_compiler = first_compiler ? first_compiler : compiler;
		if (strcmp(version, first_version) || strcmp(compiler, first_compiler)) {
			bench_err("%s (Linux %s, %s) and %s (Linux %s, %s) cannot be compared: build both from one source with one compiler",
				  s->kernels[0].image, first_version, first_compiler,
				  s->kernels[i].image, version, compiler);
			return EXIT_UNUSABLE;
		}
	}
	return EXIT_OK;
}

/* As it can be pasted into a shell. */
static json_t *json_command(const struct qemu_spec *spec)
{
	struct strv argv = { 0 };
	char *text = xstrdup(""), *longer;
	const char *quote;
	json_t *string;
	size_t i;

	qemu_argv(spec, &argv);
	for (i = 0; i < argv.n; i++) {
		quote = strpbrk(argv.v[i], " ()") ? "\"" : "";
		longer = xasprintf("%s%s%s%s%s", text, i ? " " : "", quote, argv.v[i], quote);
		free(text);
		text = longer;
	}
	string = json_string(text);
	free(text);
	strv_free(&argv);
	return string;
}

/* Those of the first kernel; the others differ in image and arguments, which are recorded, too. */
static json_t *json_commands(const struct session *s)
{
	struct qemu_spec spec = session_spec(s, &s->kernels[0]);
	json_t *commands = json_object();

	spec.kvm = s->kvm;
	if (s->wall_method && !strcmp(s->wall_method, WALL_PERF))
		spec.perf_out = "FILE";
	if (s->wall_method)
		json_object_set_new(commands, "wall time", json_command(&spec));
	spec.kvm = false;
	spec.perf_out = NULL;
	spec.icount = true;
	spec.initrd = s->opts.initrd;
	json_object_set_new(commands, "instructions", json_command(&spec));
	return commands;
}

/* Check all that can be wrong before the first run, and open the store; consumes @arguments. */
static int begin(struct session *s, json_t *arguments, bool wall)
{
	int ret = check_place(s);
	json_t *identity;

	json_object_set_new(arguments, "memory", json_string(s->opts.mem));
	if (!ret)
		ret = check_tools(s, wall);
	if (!ret) {
		s->env = env_new(s->opts.qemu, s->qemu_version, s->wall_method);
		json_object_set_new(s->env, "kvm", json_boolean(s->kvm));
		json_object_set(s->env, "arguments", arguments);
		json_object_set_new(s->env, "commands", json_commands(s));
		ret = check_initrd(s);
	}
	if (!ret)
		ret = check_images(s);
	if (!ret) {
		identity = env_identity(s->env);
		json_object_set(identity, "arguments", arguments);
		ret = store_open(&s->store, s->opts.out, s->command, identity, &s->opts.seed,
				 s->opts.resume);
		json_decref(identity);
	}
	json_decref(arguments);
	return ret;
}

/**
 * session_measure - do all of an experiment: check, run what is left to run, show and write results
 * @s: the session, with its options complete (common_finish())
 * @e: the experiment
 * @ctx: for its functions
 *
 * Return: EXIT_OK when all runs are finished and the results are written; otherwise another exit
 * code, after an error was told.
 */
int session_measure(struct session *s, const struct experiment *e, void *ctx)
{
	int ret = e->add(ctx);
	json_t *results;

	if (!ret)
		ret = begin(s, e->arguments ? e->arguments(ctx) : json_object(), e->wall);
	if (ret)
		return ret;
	e->plan(ctx);
	plan_shuffle(&s->plan, s->opts.seed);
	ret = plan_execute(&s->plan, &s->store, e->run, ctx);
	if (ret)
		return ret;
	results = e->results(ctx);
	ret = results_show(results, s->opts.json);
	json_decref(results);
	return ret;
}

/**
 * session_spec - begin the description of a run
 * @s: the session
 * @k: the kernel
 *
 * Return: a run with one CPU, without initramfs.
 */
struct qemu_spec session_spec(const struct session *s, const struct kernel *k)
{
	return (struct qemu_spec) {
		.qemu = s->opts.qemu,
		.image = k->image,
		.mem = s->opts.mem,
		.cpus = 1,
		.append = k->args,
		.timeout = s->opts.timeout,
	};
}

/**
 * session_record - look for a finished run; its key is "<kernel's name>/<kind>/<nr>"
 * @s: the session
 * @k: its kernel
 * @kind: its kind
 * @nr: its number
 *
 * Return: its record, or NULL.
 */
json_t *session_record(const struct session *s, const struct kernel *k, const char *kind,
		       unsigned int nr)
{
	char *key = xasprintf("%s/%s/%u", k->name, kind, nr);
	json_t *record = store_find(&s->store, key);

	free(key);
	return record;
}

/**
 * session_collect - collect what the runs of a kind gave, from number 1 on
 * @s: the session
 * @k: the kernel
 * @kind: the kind
 * @value: takes one value from a run's record
 * @ctx: for @value
 * @samples: the samples
 *
 * Return: their memory, to be freed.
 */
double *session_collect(const struct session *s, const struct kernel *k, const char *kind,
			session_value_fn value, const void *ctx, struct samples *samples)
{
	double *v = NULL, one;
	unsigned int nr;
	json_t *record;
	size_t n = 0;

	for (nr = 1; (record = session_record(s, k, kind, nr)); nr++) {
		one = value(record, ctx);
		if (isnan(one))
			continue;
		v = xrealloc(v, (n + 1) * sizeof(*v));
		v[n++] = one;
	}
	*samples = (struct samples){ v, n };
	return v;
}

static double value_of_field(const json_t *record, const void *field)
{
	return json_number_value(json_object_get(record, field));
}

/**
 * session_samples - the same for a number of their records
 * @s: the session
 * @k: the kernel
 * @kind: the kind
 * @field: the number's name
 * @samples: the samples
 *
 * Return: their memory, to be freed.
 */
double *session_samples(const struct session *s, const struct kernel *k, const char *kind,
			const char *field, struct samples *samples)
{
	return session_collect(s, k, kind, value_of_field, field, samples);
}

/**
 * session_results - begin the results of a session
 * @s: the session
 *
 * Return: a new object.
 */
json_t *session_results(struct session *s)
{
	return results_new(s->command, json_incref(s->env), s->opts.seed);
}

/**
 * session_free - end a session
 * @s: the session
 */
void session_free(struct session *s)
{
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		struct kernel *k = &s->kernels[i];

		free(k->name);
		free(k->group);
		free(k->subject);
		free(k->image);
		free(k->system_map);
		free(k->config);
		free(k->args);
	}
	free(s->kernels);
	free(s->qemu_version);
	json_decref(s->env);
	plan_free(&s->plan);
	store_close(&s->store);
	common_free(&s->opts);
}

/**
 * fail_run - tell that a run cannot count, since its log does not show what it should
 * @k: the kernel
 * @log_path: the log
 * @log: its text, or NULL
 * @what: what is wrong
 * @advice: what to do
 *
 * Return: EXIT_FAILED.
 */
int fail_run(const struct kernel *k, const char *log_path, const char *log, const char *what,
	     const char *advice)
{
	const char *panic = log ? strstr(log, ANY_PANIC) : NULL;

	if (panic)
		bench_err("%s: %s: \"%.*s\"; %s (log: %s)", k->name, what,
			  (int)strcspn(panic, "\r\n"), panic, advice, log_path);
	else
		bench_err("%s: %s; %s (log: %s)", k->name, what, advice, log_path);
	show_log_tail(log_path);
	return EXIT_FAILED;
}
