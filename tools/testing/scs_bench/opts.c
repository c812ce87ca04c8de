// SPDX-License-Identifier: GPL-2.0
/*
 * The options that subcommands have in common, with their defaults.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "opts.h"

/**
 * bench_build_dir - find the directory that all that is built is in
 *
 * Return: $SCS_BUILD, or else the directory above that of this program; to be freed.
 */
char *bench_build_dir(void)
{
	const char *env = getenv("SCS_BUILD");
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (env)
		return xstrdup(env);
	if (n < 0)
		return xstrdup("build");
	path[n] = '\0';
	return xstrdup(dirname(dirname(path)));
}

static bool parse_seed(const char *text, u64 *seed)
{
	char *end;

	errno = 0;
	*seed = strtoull(text, &end, 10);
	return *text != '-' && end != text && !*end && !errno && *seed <= LLONG_MAX;
}

/**
 * common_init - set the defaults
 * @opts: the options; common_free() is due
 */
void common_init(struct common_opts *opts)
{
	*opts = (struct common_opts){ .timeout = 300, .runs = 10 };
	opts->mem = xstrdup("2G");
	opts->kver = xstrdup("6.12");
	if (getrandom(&opts->seed, sizeof(opts->seed), 0) != sizeof(opts->seed))
		opts->seed = time(NULL);
	opts->seed >>= 32;	/* short enough to be typed again */
}

static const struct option common_options[] = {
	{ "out", required_argument, NULL, OPT_OUT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "images", required_argument, NULL, OPT_IMAGES },
	{ "qemu", required_argument, NULL, OPT_QEMU },
	{ "initrd", required_argument, NULL, OPT_INITRD },
	{ "kver", required_argument, NULL, OPT_KVER },
	{ "mem", required_argument, NULL, OPT_MEM },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "no-perf", no_argument, NULL, OPT_NO_PERF },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 }
};

/* Append @more to @all, which has @n. */
static struct option *add_options(struct option *all, size_t *n, const struct option *more)
{
	size_t i;

	for (i = 0; more && more[i].name; i++) {
		all = xrealloc(all, (*n + 2) * sizeof(*all));
		all[(*n)++] = more[i];
	}
	memset(&all[*n], 0, sizeof(*all));
	return all;
}

/* All of a subcommand's options in one array, to be freed. */
static struct option *all_options(const struct command *cmd)
{
	struct option *all = NULL;
	size_t n = 0;

	all = add_options(all, &n, common_options);
	all = add_options(all, &n, cmd->shared);
	return add_options(all, &n, cmd->own);
}

/* EXIT_OK; EXIT_UNUSABLE after an error was told, also for what is no common option. */
static int common_option(struct common_opts *opts, const char *command, int opt, const char *arg)
{
	char **strings[] = {
		[OPT_OUT - OPT_OUT] = &opts->out,
		[OPT_JSON - OPT_OUT] = &opts->json,
		[OPT_IMAGES - OPT_OUT] = &opts->images,
		[OPT_QEMU - OPT_OUT] = &opts->qemu,
		[OPT_INITRD - OPT_OUT] = &opts->initrd,
		[OPT_KVER - OPT_OUT] = &opts->kver,
		[OPT_MEM - OPT_OUT] = &opts->mem,
	};

	switch (opt) {
	case OPT_RESUME:
		opts->resume = true;
		return EXIT_OK;
	case OPT_NO_PERF:
		opts->no_perf = true;
		return EXIT_OK;
	case OPT_TIMEOUT:
		if (parse_seconds(arg, &opts->timeout))
			return EXIT_OK;
		bench_err("--timeout %s: give seconds from 0.1 to 86400", arg);
		return EXIT_UNUSABLE;
	case OPT_RUNS:
		if (parse_uint(arg, 1, 10000, &opts->runs))
			return EXIT_OK;
		bench_err("--runs %s: give a whole number from 1 to 10000", arg);
		return EXIT_UNUSABLE;
	case OPT_SEED:
		if (parse_seed(arg, &opts->seed))
			return EXIT_OK;
		bench_err("--seed %s: give a whole number from 0 to %lld", arg, LLONG_MAX);
		return EXIT_UNUSABLE;
	case OPT_OUT ... OPT_MEM:
		set_string(strings[opt - OPT_OUT], arg);
		return EXIT_OK;
	default:
		bench_err("see scs_bench %s --help", command);
		return EXIT_UNUSABLE;
	}
}

/**
 * common_parse - read a subcommand's arguments
 * @opts: the common options
 * @cmd: the subcommand
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 * @ctx: for @cmd->take
 *
 * Return: EXIT_OK; EXIT_UNUSABLE after an error was told; PARSED_HELP when help was asked for, and
 * printed.
 */
int common_parse(struct common_opts *opts, const struct command *cmd, int argc, char **argv,
		 void *ctx)
{
	struct option *options = all_options(cmd);
	int opt, ret = EXIT_OK;

	optind = 1;
	while (!ret && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == OPT_HELP) {
			cmd->usage(stdout);
			ret = PARSED_HELP;
		} else if (opt < OPT_OUT && opt != '?') {
			ret = cmd->take(ctx, opt, optarg);
		} else {
			ret = common_option(opts, cmd->name, opt, optarg);
		}
	}
	free(options);
	for (; !ret && optind < argc; optind++) {
		if (cmd->words) {
			strv_add(cmd->words, "%s", argv[optind]);
		} else {
			bench_err("%s is not an option; see scs_bench %s --help", argv[optind],
				  cmd->name);
			ret = EXIT_UNUSABLE;
		}
	}
	return ret;
}

/* What fails is told by whoever opens the file. */
static void make_parents(const char *path)
{
	char *copy = xstrdup(path), *p;

	for (p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0777);
		*p = '/';
	}
	free(copy);
}

/**
 * common_finish - fill in what was not given
 * @opts: the options
 * @command: the subcommand
 */
void common_finish(struct common_opts *opts, const char *command)
{
	char *build = bench_build_dir();

	if (!opts->out)
		opts->out = xasprintf("%s/bench/%s.runs", build, command);
	if (!opts->json)
		opts->json = xasprintf("%s/bench/%s.json", build, command);
	if (!opts->images)
		opts->images = xasprintf("%s/images/%s", build, opts->kver);
	if (!opts->qemu)
		opts->qemu = xasprintf("%s/tools/bin/qemu-system-aarch64", build);
	if (!opts->initrd)
		opts->initrd = xasprintf("%s/initramfs/%s/initramfs.cpio", build, opts->kver);
	free(build);
	make_parents(opts->out);
}

/**
 * common_free - free the options
 * @opts: the options
 */
void common_free(struct common_opts *opts)
{
	free(opts->out);
	free(opts->json);
	free(opts->images);
	free(opts->qemu);
	free(opts->initrd);
	free(opts->kver);
	free(opts->mem);
	*opts = (struct common_opts){ 0 };
}
