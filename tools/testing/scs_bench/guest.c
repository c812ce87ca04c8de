// SPDX-License-Identifier: GPL-2.0
/*
 * What "micro", "memory" and "load" have in common: their kernels, and a guest that works in them.
 */
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "parse.h"

/**
 * guest_init - begin a session
 * @g: the session; guest_free() is due
 * @command: the subcommand
 * @suffix: what the directories of its images end in
 * @modes: default for --modes
 * @variants: default for --variants
 * @args: default for --args
 */
void guest_init(struct guest *g, const char *command, const char *suffix, const char *modes,
		const char *variants, const char *args)
{
	*g = (struct guest){ 0 };
	session_init(&g->session, command);
	g->session.suffix = suffix;
	strv_split(&g->modes, modes, ",");
	strv_split(&g->variants, variants, ",");
	strv_split(&g->args, args, ",");
}

/* Of all three; "clean" is an option of those that have it. */
const struct option guest_options[] = {
	{ "modes", required_argument, NULL, 'm' },
	{ "variants", required_argument, NULL, 'v' },
	{ "args", required_argument, NULL, 'A' },
	{ 0 }
};

static void set_list(struct strv *list, const char *text)
{
	strv_free(list);
	strv_split(list, text, ",");
}

/**
 * guest_option - take an option that all three have
 * @g: the session
 * @opt: what getopt_long() returned
 * @arg: optarg
 */
void guest_option(struct guest *g, int opt, const char *arg)
{
	switch (opt) {
	case 'm':
		set_list(&g->modes, strcmp(arg, "all") ? arg : ALL_MODES);
		break;
	case 'v':
		set_list(&g->variants, arg);
		break;
	case 'A':
		set_list(&g->args, arg);
		break;
	case 'c':
		set_string(&g->clean, arg);
		break;
	}
}

/* Finds the clean kernel that goes with all the modes. */
static int choose_clean(struct guest *g)
{
	const char *mode = CLEAN_OF(g->modes.v[0]);
	size_t i;

	for (i = 1; i < g->modes.n; i++) {
		if (!strcmp(CLEAN_OF(g->modes.v[i]), mode))
			continue;
		bench_err("%s and %s have no clean kernel in common, as that of hw_tags is smaller: measure hw_tags alone, or give --clean",
			  g->modes.v[0], g->modes.v[i]);
		return EXIT_UNUSABLE;
	}
	free(g->clean);
	g->clean = xasprintf("%s/upstream", mode);
	return EXIT_OK;
}

/**
 * guest_add_kernels - add the clean kernel, and then all others that were asked for
 * @g: the session, with its options complete
 *
 * Return: EXIT_OK, or EXIT_UNUSABLE after an error was told.
 */
int guest_add_kernels(struct guest *g)
{
	struct strv clean = { 0 };
	size_t m, v, a;
	int ret = EXIT_OK;

	if (!g->modes.n || !g->variants.n || !g->args.n) {
		bench_err("--modes, --variants and --args need at least one each; see scs_bench %s --help",
			  g->session.command);
		return EXIT_UNUSABLE;
	}
	if (g->clean && !*g->clean)
		ret = choose_clean(g);
	if (g->clean && !ret) {
		strv_split(&clean, g->clean, "/");
		if (clean.n == 2) {
			ret = session_add(&g->session, clean.v[0], clean.v[1], "");
		} else {
			bench_err("--clean %s: give MODE/VARIANT, e.g. none/upstream", g->clean);
			ret = EXIT_UNUSABLE;
		}
	}
	for (m = 0; m < g->modes.n; m++) {
		for (a = 0; a < g->args.n; a++) {
			const char *args = strcmp(g->args.v[a], "plain") ? g->args.v[a] : "";

			for (v = 0; !ret && v < g->variants.n; v++) {
				/* The clean kernel may be one of them. */
				if (clean.n == 2 && !*args && !strcmp(clean.v[0], g->modes.v[m]) &&
				    !strcmp(clean.v[1], g->variants.v[v]))
					continue;
				ret = session_add(&g->session, g->modes.v[m],
						  g->variants.v[v], args);
			}
		}
	}
	strv_free(&clean);
	return ret;
}

/* What init complains of, to be freed; NULL when it is content. */
static char *find_error(const char *log)
{
	char *line, *error = NULL;

	while (!error && (line = log_line(&log))) {
		if (!strncmp(line, "scs_bench: error ", 17))
			error = xstrdup(line + 17);
		free(line);
	}
	return error;
}

/**
 * guest_boot - run a guest to its end
 * @spec: the run, with all but the command line
 * @k: its kernel
 * @append: what is added to the kernel's command line, init's mode included
 * @log: the console's text, to be freed
 *
 * Return: EXIT_OK; another exit code after an error was told, then there is no @log.
 */
int guest_boot(struct qemu_spec *spec, const struct kernel *k, const char *append, char **log)
{
	char *args = xasprintf("%s %s", k->args, append), *error;
	double seconds;
	int ret;

	*log = NULL;
	spec->append = args;
	ret = qemu_run(spec, &seconds);
	free(args);
	spec->append = NULL;
	if (ret)
		return ret;
	*log = read_file(spec->log, NULL);
	error = *log ? find_error(*log) : NULL;
	if (error) {
		ret = fail_run(k, spec->log, *log, error, "init could not do its work");
	} else if (!*log || !log_has(*log, "scs_bench: done")) {
		ret = fail_run(k, spec->log, *log, "the guest did not come to its end",
			       "the kernel failed, or --initrd is not that of this scs_bench");
	}
	free(error);
	if (ret) {
		free(*log);
		*log = NULL;
	}
	return ret;
}

/**
 * guest_check_same - check that an exact run gave what the first of its kind gave
 * @s: the session
 * @k: the kernel
 * @kind: the kind of run
 * @nr: the number of this one
 * @record: what it gave
 *
 * Return: EXIT_OK, or EXIT_FAILED after the difference was told.
 */
int guest_check_same(const struct session *s, const struct kernel *k, const char *kind,
		     unsigned int nr, const json_t *record)
{
	const char *key;
	json_t *value, *other;
	unsigned int i;

	for (i = 1; i < nr + 2; i++) {
		json_t *old = i == nr ? NULL : session_record(s, k, kind, i);

		json_object_foreach((json_t *)record, key, value) {
			other = json_object_get(old, key);
			if (!other || json_equal(value, other))
				continue;
			bench_err("%s: run %u is not the same as run %u: they differ in \"%s\". Instructions are only counted exactly with one CPU and nothing from outside the guest: check --args",
				  k->name, nr, i, key);
			return EXIT_FAILED;
		}
	}
	return EXIT_OK;
}

/**
 * guest_free - end a session
 * @g: the session
 */
void guest_free(struct guest *g)
{
	session_free(&g->session);
	strv_free(&g->modes);
	strv_free(&g->variants);
	strv_free(&g->args);
	free(g->clean);
}
