// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "boot": boots every variant of a kernel and measures what its stack traces cost.
 *
 * Three kinds of run, each independent of the others:
 *
 * - exact: QEMU counts instructions (-icount), init reads the count. Two runs have to agree.
 * - calls: the same, while QEMU logs every entry to a few kernel functions.
 * - wall: as a user would run it, without init, timed from outside.
 *
 * A run that did not end as it should ends the whole program, so it can never count as a fast one.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot.h"
#include "proc.h"
#include "qemu.h"
#include "report.h"

#define KERNEL_ARGS	"console=ttyAMA0 kunit.enable=0 panic=-1"
#define NO_ROOT_PANIC	"Kernel panic - not syncing: VFS: Unable to mount root fs"
/* A kernel without block devices does not even look for one. */
#define NO_INIT_PANIC	"Kernel panic - not syncing: No working init found"
#define ANY_PANIC	"Kernel panic - not syncing: "

#define NSEC_PER_SEC	1000000000ULL

/**
 * struct bench - state of a running "boot"
 * @res: what was measured so far
 * @opts: what was asked for
 * @dir: directory of the logs
 * @lock: file that keeps a second program out of @dir
 * @kaslr: a variant may be anywhere in memory unless told not to
 */
struct bench {
	struct boot_result res;
	struct boot_options opts;
	char *dir;
	int lock;
	bool kaslr;
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench boot --images DIR --qemu PATH --initrd FILE --output FILE\n"
	      "                      [options]\n"
	      "\n"
	      "Boots DIR/<mode>-<variant>/Image for every variant and measures what stack traces cost.\n"
	      "\n"
	      "  --images DIR     directory of the images (Image, System.map and config in each)\n"
	      "  --mode MODE      KASAN mode of the images (generic)\n"
	      "  --variants LIST  variants, separated by commas (upstream,null,scs)\n"
	      "  --kver VERSION   fail unless the images are of this kernel version line, e.g. 6.12\n"
	      "  --qemu PATH      qemu-system-aarch64, 10.0 or newer\n"
	      "  --initrd FILE    initramfs with the init of scs_bench\n"
	      "  --output FILE    results as JSON; logs go to boot-logs beside it\n"
	      "  --runs N         wall time samples of each variant (10)\n"
	      "  --mem SIZE       guest memory (2G)\n"
	      "  --append ARGS    more kernel arguments, e.g. page_owner=on\n"
	      "  --count LIST     kernel functions to count calls of\n"
	      "                   (stack_depot_save_flags,__stack_depot_save_current)\n"
	      "  --timeout S      seconds that one run of QEMU may take (300)\n"
	      "  --seed N         seed for the order of the wall runs (random)\n"
	      "  --no-wall        leave the wall time out\n"
	      "  --no-perf        take the wall time with our own clock instead of perf stat\n"
	      "  --help           this text\n", out);
}

static bool parse_seed(const char *text, u64 *seed)
{
	char *end;

	errno = 0;
	*seed = strtoull(text, &end, 10);
	return *text != '-' && end != text && !*end && !errno && *seed <= LLONG_MAX;
}

static int check_options(const struct boot_options *opts)
{
	const struct {
		const char *name;
		const char *value;
	} needed[] = {
		{ "images", opts->images },
		{ "qemu", opts->qemu },
		{ "initrd", opts->initrd },
		{ "output", opts->output },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		if (needed[i].value)
			continue;
		bench_err("--%s is missing; see scs_bench boot --help", needed[i].name);
		return EXIT_UNUSABLE;
	}
	if (!opts->variants.n || !opts->count.n) {
		bench_err("--variants and --count need at least one name each");
		return EXIT_UNUSABLE;
	}
	for (i = 0; i < opts->variants.n; i++) {
		for (j = 0; j < i; j++) {
			if (strcmp(opts->variants.v[i], opts->variants.v[j]))
				continue;
			bench_err("variant %s is named twice in --variants; name it once",
				  opts->variants.v[i]);
			return EXIT_UNUSABLE;
		}
	}
	return EXIT_OK;
}

/**
 * boot_parse_args - read the arguments of "boot"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 * @opts: what they ask for; boot_free_options() is due in any case
 *
 * Return: EXIT_OK; EXIT_UNUSABLE after an error was told; -1 when only help was asked for.
 */
int boot_parse_args(int argc, char **argv, struct boot_options *opts)
{
	static const struct option options[] = {
		{ "images", required_argument, NULL, 'i' },
		{ "mode", required_argument, NULL, 'm' },
		{ "variants", required_argument, NULL, 'v' },
		{ "kver", required_argument, NULL, 'k' },
		{ "qemu", required_argument, NULL, 'q' },
		{ "initrd", required_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "runs", required_argument, NULL, 'n' },
		{ "mem", required_argument, NULL, 'M' },
		{ "append", required_argument, NULL, 'a' },
		{ "count", required_argument, NULL, 'c' },
		{ "timeout", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "no-wall", no_argument, NULL, 'W' },
		{ "no-perf", no_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *variants = "upstream,null,scs", *count =
		"stack_depot_save_flags,__stack_depot_save_current";
	int opt;

	memset(opts, 0, sizeof(*opts));
	opts->mode = "generic";
	opts->mem = "2G";
	opts->append = "";
	opts->runs = 10;
	opts->timeout = 300;
	if (getrandom(&opts->seed, sizeof(opts->seed), 0) != sizeof(opts->seed))
		opts->seed = time(NULL);
	opts->seed >>= 32;	/* short enough to be typed again */

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'i':
			opts->images = optarg;
			break;
		case 'm':
			opts->mode = optarg;
			break;
		case 'v':
			variants = optarg;
			break;
		case 'k':
			opts->kver = optarg;
			break;
		case 'q':
			opts->qemu = optarg;
			break;
		case 'r':
			opts->initrd = optarg;
			break;
		case 'o':
			opts->output = optarg;
			break;
		case 'M':
			opts->mem = optarg;
			break;
		case 'a':
			opts->append = optarg;
			break;
		case 'c':
			count = optarg;
			break;
		case 'n':
			if (!parse_uint(optarg, 1, 10000, &opts->runs)) {
				bench_err("--runs %s: give a whole number from 1 to 10000", optarg);
				return EXIT_UNUSABLE;
			}
			break;
		case 't':
			if (!parse_seconds(optarg, &opts->timeout)) {
				bench_err("--timeout %s: give seconds from 0.1 to 86400", optarg);
				return EXIT_UNUSABLE;
			}
			break;
		case 's':
			if (!parse_seed(optarg, &opts->seed)) {
				bench_err("--seed %s: give a whole number from 0 to %lld", optarg,
					  LLONG_MAX);
				return EXIT_UNUSABLE;
			}
			break;
		case 'W':
			opts->no_wall = true;
			break;
		case 'P':
			opts->no_perf = true;
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			bench_err("see scs_bench boot --help");
			return EXIT_UNUSABLE;
		}
	}
	if (optind < argc) {
		bench_err("%s is not an option; see scs_bench boot --help", argv[optind]);
		return EXIT_UNUSABLE;
	}
	strv_split(&opts->variants, variants, ",");
	strv_split(&opts->count, count, ",");
	return check_options(opts);
}

/**
 * boot_free_options - free what boot_parse_args() allocated
 * @opts: the options
 */
void boot_free_options(struct boot_options *opts)
{
	strv_free(&opts->variants);
	strv_free(&opts->count);
}

/* A file that is needed: true if it is there and can be read. */
static bool check_file(const char *path, const char *advice)
{
	if (!access(path, R_OK))
		return true;
	bench_err("cannot read %s: %s; %s", path, strerror(errno), advice);
	return false;
}

static bool setup_variant(struct bench *b, struct variant *v, const char *name)
{
	char *dir = xasprintf("%s/%s-%s", b->opts.images, b->opts.mode, name);
	char *config_path = xasprintf("%s/config", dir);
	char *advice = xasprintf("make it with 'make image KVER=%s MODE=%s VARIANT=%s'",
				 b->opts.kver ? b->opts.kver : "...", b->opts.mode, name);
	char *config = NULL;
	bool ok;
	size_t i;

	v->name = name;
	v->image = xasprintf("%s/Image", dir);
	v->system_map = xasprintf("%s/System.map", dir);
	v->calls = xrealloc(NULL, b->opts.count.n * sizeof(*v->calls));
	for (i = 0; i < b->opts.count.n; i++)
		v->calls[i] = (struct call_count){ .name = b->opts.count.v[i] };
	ok = check_file(v->image, advice) && check_file(v->system_map, advice) &&
	     check_file(config_path, advice);
	if (ok) {
		config = read_file(config_path, NULL);
		b->kaslr |= config && config_has(config, "CONFIG_RANDOMIZE_BASE");
	}
	free(config);
	free(advice);
	free(config_path);
	free(dir);
	return ok;
}

static bool setup_dir(struct bench *b)
{
	char *copy = xstrdup(b->opts.output), *lock;

	b->dir = xasprintf("%s/boot-logs", dirname(copy));
	free(copy);
	if (mkdir(b->dir, 0777) && errno != EEXIST) {
		bench_err("cannot make the directory %s: %s; choose another --output", b->dir,
			  strerror(errno));
		return false;
	}
	lock = xasprintf("%s/.lock", b->dir);
	b->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	free(lock);
	if (b->lock < 0) {
		bench_err("cannot write to %s: %s; choose another --output", b->dir,
			  strerror(errno));
		return false;
	}
	if (flock(b->lock, LOCK_EX | LOCK_NB)) {
		bench_err("another scs_bench is writing to %s: wait for it, or choose another --output",
			  b->dir);
		return false;
	}
	return true;
}

/* Everything that can be known to be wrong before the first run is found here. */
static int setup(struct bench *b)
{
	struct boot_result *res = &b->res;
	size_t i;
	char *log, *perf;

	res->opts = &b->opts;
	res->nvariants = b->opts.variants.n;
	res->variants = xrealloc(NULL, res->nvariants * sizeof(*res->variants));
	memset(res->variants, 0, res->nvariants * sizeof(*res->variants));

	for (i = 0; i < res->nvariants; i++)
		if (!setup_variant(b, &res->variants[i], b->opts.variants.v[i]))
			return EXIT_UNUSABLE;
	if (!check_file(b->opts.initrd, "make it with 'make initramfs', or see --initrd"))
		return EXIT_UNUSABLE;
	if (!setup_dir(b))
		return EXIT_UNUSABLE;

	for (i = 0; i < res->nvariants; i++)
		res->variants[i].kernel_args = xasprintf(KERNEL_ARGS "%s%s%s",
							 b->kaslr ? " nokaslr" : "",
							 *b->opts.append ? " " : "",
							 b->opts.append);

	log = xasprintf("%s/qemu-version.log", b->dir);
	res->qemu_version = qemu_version(b->opts.qemu, log);
	free(log);
	if (!res->qemu_version)
		return proc_interrupted() ? EXIT_INTERRUPTED : EXIT_UNUSABLE;

	if (b->opts.no_wall)
		return EXIT_OK;
	log = xasprintf("%s/perf.log", b->dir);
	perf = xasprintf("%s/perf.out", b->dir);
	if (!b->opts.no_perf && perf_usable(log, perf)) {
		res->wall_method = "perf stat --null";
	} else {
		res->wall_method = "CLOCK_MONOTONIC from fork to exit";
		if (!b->opts.no_perf)
			bench_err("perf stat cannot be used (see %s): the wall time is taken with CLOCK_MONOTONIC",
				  log);
	}
	free(perf);
	free(log);
	return EXIT_OK;
}

/* A run whose log does not show what it should. */
static int fail_run(const struct variant *v, const char *log_path, const char *log,
		    const char *what, const char *advice)
{
	const char *panic = log ? strstr(log, ANY_PANIC) : NULL;

	if (panic)
		bench_err("%s: %s: \"%.*s\"; %s (log: %s)", v->name, what,
			  (int)strcspn(panic, "\r\n"), panic, advice, log_path);
	else
		bench_err("%s: %s; %s (log: %s)", v->name, what, advice, log_path);
	show_log_tail(log_path);
	return EXIT_FAILED;
}

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

static struct qemu_spec base_spec(const struct bench *b, const struct variant *v)
{
	return (struct qemu_spec) {
		.qemu = b->opts.qemu,
		.image = v->image,
		.mem = b->opts.mem,
		.cpus = 1,
		.append = v->kernel_args,
		.timeout = b->opts.timeout,
	};
}

/* The first log of a variant says what kernel it is. */
static int identify(struct bench *b, struct variant *v, const char *log_path)
{
	const struct variant *first = &b->res.variants[0];
	const char *kver = b->opts.kver;
	size_t len = kver ? strlen(kver) : 0;

	if (!v->log.banner || !banner_split(v->log.banner, &v->version, &v->compiler))
		return fail_run(v, log_path, NULL, "the log has no \"Linux version\" line",
				"--append must not silence the console (quiet, loglevel=)");
	if (kver && (strncmp(v->version, kver, len) || isdigit((unsigned char)v->version[len]))) {
		bench_err("%s is Linux %s, not %s: see --images and --kver", v->image, v->version,
			  kver);
		return EXIT_FAILED;
	}
	if (strcmp(v->version, first->version) || strcmp(v->compiler, first->compiler)) {
		bench_err("%s (Linux %s, %s) and %s (Linux %s, %s) cannot be compared: build both from one source with one compiler",
			  first->image, first->version, first->compiler, v->image, v->version,
			  v->compiler);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int exact_run(struct bench *b, struct variant *v, unsigned int run)
{
	char *log_path = xasprintf("%s/%s-exact-%u.log", b->dir, v->name, run + 1);
	struct qemu_spec spec = base_spec(b, v);
	struct boot_log parsed = { 0 };
	char *log = NULL;
	double seconds;
	int ret;

	spec.icount = true;
	spec.initrd = b->opts.initrd;
	spec.log = log_path;
	if (!run)
		qemu_argv(&spec, &v->argv_exact);
	progress_step("%s: counting instructions, run %u of %d", v->name, run + 1, EXACT_RUNS);
	ret = qemu_run(&spec, &seconds);
	if (ret)
		goto out;
	log = read_file(log_path, NULL);
	if (log)
		boot_log_parse(log, &parsed);
	if (parsed.error) {
		ret = fail_run(v, log_path, log, parsed.error, "init could not do its work");
	} else if (!boot_exact_from_log(&parsed, &v->exact[run], &v->resolution,
					&v->after_error)) {
		ret = fail_run(v, log_path, log, "init did not report what it measured",
			       "the kernel did not come up to it, or --initrd is not ours");
	} else if (!run) {
		v->log = parsed;
		memset(&parsed, 0, sizeof(parsed));
		ret = identify(b, v, log_path);
	} else if (memcmp(&v->exact[run], &v->exact[0], sizeof(v->exact[0]))) {
		bench_err("%s: two runs do not agree: %llu and %llu instructions from reset, %llu and %llu after time_init(); the count is only exact with one CPU and nothing from outside the guest: check --append (logs: %s and the one before)",
			  v->name, v->exact[0].reset, v->exact[run].reset, v->exact[0].after,
			  v->exact[run].after, log_path);
		ret = EXIT_FAILED;
	}
out:
	boot_log_free(&parsed);
	free(log);
	free(log_path);
	return ret;
}

/* The addresses that QEMU shall log, as -dfilter takes them: one instruction each. */
static char *make_dfilter(const struct variant *v, size_t ncalls, u64 time_init)
{
	char *filter = xasprintf("0x%llx+0x4,0x%llx+0x4", time_init, v->log.entry);
	size_t i, j;

	for (i = 0; i < ncalls; i++) {
		for (j = 0; j < v->calls[i].naddr; j++) {
			char *longer = xasprintf("%s,0x%llx+0x4", filter,
						 v->calls[i].addr[j]);

			free(filter);
			filter = longer;
		}
	}
	return filter;
}

static int read_symbols(struct bench *b, struct variant *v, u64 *time_init)
{
	struct call_count anchor = { .name = "time_init" };
	FILE *f = fopen(v->system_map, "r");
	int ret = -1;

	if (f) {
		ret = system_map_lookup(f, v->calls, b->opts.count.n);
		rewind(f);
		if (!ret)
			ret = system_map_lookup(f, &anchor, 1);
		fclose(f);
	}
	if (ret || anchor.naddr != 1) {
		bench_err("%s has no usable symbols: copy it from the object tree that %s is from",
			  v->system_map, v->image);
		return EXIT_FAILED;
	}
	*time_init = anchor.addr[0];
	return EXIT_OK;
}

static int count_calls(struct bench *b, struct variant *v)
{
	char *log_path = xasprintf("%s/%s-calls.log", b->dir, v->name);
	char *exec_path = xasprintf("%s/%s-calls.exec", b->dir, v->name);
	struct qemu_spec spec = base_spec(b, v);
	char *filter = NULL, *log = NULL;
	u64 time_init, anchors = 0;
	struct boot_log parsed = { 0 };
	double seconds;
	FILE *f;
	int ret;

	progress_step("%s: counting calls", v->name);
	ret = read_symbols(b, v, &time_init);
	if (ret)
		goto out;
	filter = make_dfilter(v, b->opts.count.n, time_init);
	spec.icount = true;
	spec.initrd = b->opts.initrd;
	spec.log = log_path;
	spec.exec_log = exec_path;
	spec.dfilter = filter;
	qemu_argv(&spec, &v->argv_calls);
	ret = qemu_run(&spec, &seconds);
	if (ret)
		goto out;

	/* Logging takes no guest time: this run has to agree with the exact ones, too. */
	log = read_file(log_path, NULL);
	if (log)
		boot_log_parse(log, &parsed);
	if (!parsed.done || parsed.cntvct != v->log.cntvct) {
		ret = fail_run(v, log_path, log,
			       "the run that counts calls is not the same as the exact ones",
			       "check --append");
		goto out;
	}
	f = fopen(exec_path, "r");
	if (!f || exec_log_count(f, v->calls, b->opts.count.n, time_init, v->log.entry,
				 &anchors) || anchors != 1) {
		bench_err("%s: calls cannot be counted: QEMU logged time_init() %llu times instead of once; is %s of the same build as %s? (log: %s)",
			  v->name, anchors, v->system_map, v->image, exec_path);
		ret = EXIT_FAILED;
	}
	if (f)
		fclose(f);
out:
	if (!ret || ret == EXIT_INTERRUPTED)
		unlink(exec_path);
	boot_log_free(&parsed);
	free(log);
	free(filter);
	free(exec_path);
	free(log_path);
	return ret;
}

/* @round 0 is the warm-up. */
static int wall_run(struct bench *b, struct variant *v, unsigned int round)
{
	char *log_path = xasprintf("%s/%s-wall-%u.log", b->dir, v->name, round);
	char *perf_path = xasprintf("%s/%s-wall-%u.perf", b->dir, v->name, round);
	struct qemu_spec spec = base_spec(b, v);
	char *log = NULL;
	double seconds;
	int ret;

	spec.log = log_path;
	if (!strncmp(b->res.wall_method, "perf", 4))
		spec.perf_out = perf_path;
	if (!round)
		qemu_argv(&spec, &v->argv_wall);
	if (round)
		progress_step("%s: wall time, run %u of %u", v->name, round, b->opts.runs);
	else
		progress_step("%s: warming up", v->name);
	ret = qemu_run(&spec, &seconds);
	if (ret)
		goto out;
	log = read_file(log_path, NULL);
	if (!log || !(log_has(log, NO_ROOT_PANIC) || log_has(log, NO_INIT_PANIC))) {
		ret = fail_run(v, log_path, log,
			       "the kernel did not come to look for its root file system",
			       "it failed earlier, or --append gives it one");
		goto out;
	}
	if (round) {
		v->wall = xrealloc(v->wall, (v->nwall + 1) * sizeof(*v->wall));
		v->wall[v->nwall++] = seconds;
	} else {
		v->warmup = seconds;
	}
	unlink(perf_path);
out:
	free(log);
	free(perf_path);
	free(log_path);
	return ret;
}

static int measure_wall(struct bench *b)
{
	size_t n = b->res.nvariants, i;
	size_t *order = xrealloc(NULL, n * sizeof(*order));
	u64 seed = b->opts.seed;
	unsigned int round;
	int ret = 0;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (round = 0; !ret && round <= b->opts.runs; round++) {
		shuffle(order, n, &seed);
		for (i = 0; !ret && i < n; i++)
			ret = wall_run(b, &b->res.variants[order[i]], round);
	}
	free(order);
	return ret;
}

static int measure(struct bench *b)
{
	size_t n = b->res.nvariants, i;
	unsigned int run;
	int ret = 0;

	b->res.started = time(NULL);
	progress_start(n * (EXACT_RUNS + 1 + (b->opts.no_wall ? 0 : b->opts.runs + 1)));
	for (i = 0; !ret && i < n; i++) {
		for (run = 0; !ret && run < EXACT_RUNS; run++)
			ret = exact_run(b, &b->res.variants[i], run);
		if (!ret)
			ret = count_calls(b, &b->res.variants[i]);
	}
	if (!ret && !b->opts.no_wall)
		ret = measure_wall(b);
	return ret;
}

static int write_results(const struct bench *b)
{
	json_t *json = report_json(&b->res);
	char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
	char *with_newline;
	int ret = EXIT_OK;

	json_decref(json);
	if (!text) {
		bench_err("the results cannot be written as JSON: is a path or an argument not UTF-8?");
		return EXIT_FAILED;
	}
	with_newline = xasprintf("%s\n", text);
	if (write_file_atomic(b->opts.output, with_newline)) {
		bench_err("cannot write %s: %s; the table above has the results, choose another --output for the next time",
			  b->opts.output, strerror(errno));
		ret = EXIT_FAILED;
	}
	free(with_newline);
	free(text);
	return ret;
}

static void free_bench(struct bench *b)
{
	size_t i;

	for (i = 0; i < b->res.nvariants; i++) {
		struct variant *v = &b->res.variants[i];

		free(v->image);
		free(v->system_map);
		free(v->kernel_args);
		free(v->version);
		free(v->compiler);
		free(v->calls);
		free(v->wall);
		boot_log_free(&v->log);
		strv_free(&v->argv_exact);
		strv_free(&v->argv_calls);
		strv_free(&v->argv_wall);
	}
	free(b->res.variants);
	free(b->res.qemu_version);
	free(b->dir);
	if (b->lock >= 0)
		close(b->lock);
	boot_free_options(&b->opts);
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
	struct bench b = { .lock = -1 };
	int ret = boot_parse_args(argc, argv, &b.opts);

	if (!ret)
		ret = setup(&b);
	if (!ret)
		ret = measure(&b);
	if (!ret) {
		report_table(&b.res, stdout);
		fflush(stdout);
		ret = write_results(&b);
	}
	free_bench(&b);
	return ret < 0 ? EXIT_OK : ret;
}
