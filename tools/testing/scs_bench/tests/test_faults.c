// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that run scs_bench itself against a QEMU that misbehaves: every fault must end in an
 * error, with a message that names it, and without results.
 */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "results.h"
#include "test.h"
#include "util.h"

#define VARIANTS 3

static char *dir;
static char *printed;

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void put(const char *name, const char *text)
{
	char *path = in_dir(name);

	assert_int_equal(write_file_atomic(path, text), 0);
	free(path);
}

static void put_image(const char *variant, const char *version)
{
	char *path = xasprintf("generic-%s/Image", variant);
	char *text = xasprintf("kernel\nLinux version %%s (\n"
			       "Linux version %s (a@b) (clang 19, LLD 19) #1 SMP\n", version);

	put(path, text);
	free(text);
	free(path);
}

static void take_away(const char *name)
{
	char *path = in_dir(name);

	assert_int_equal(unlink(path), 0);
	free(path);
}

static bool exists(const char *name)
{
	char *path = in_dir(name);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static int setup(void **state)
{
	static const char * const names[VARIANTS] = { "upstream", "null", "scs" };
	char *path;
	int i;

	(void)state;
	dir = temp_dir();
	for (i = 0; i < VARIANTS; i++) {
		path = xasprintf("%s/generic-%s", dir, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		free(path);
		put_image(names[i], "6.12.117");
		path = xasprintf("generic-%s/System.map", names[i]);
		put(path, "ffff000000001000 T time_init\n"
			  "ffff000000002000 T stack_depot_save_flags\n"
			  "ffff000000003000 T __stack_depot_save_current\n");
		free(path);
		path = xasprintf("generic-%s/config", names[i]);
		put(path, "CONFIG_RANDOMIZE_BASE=y\n");
		free(path);
	}
	put("initrd", "initrd");
	path = in_dir("state");
	setenv("FAKE_STATE", path, 1);
	free(path);
	unsetenv("FAKE_QEMU");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	remove_dir(dir);
	free(printed);
	printed = NULL;
	return 0;
}

static void make_argv_perf(struct strv *argv, const char *more)
{
	strv_add(argv, "%s", getenv("SCS_BENCH"));
	strv_split(argv, "boot --runs 2 --seed 1 --timeout 20", " ");
	strv_add(argv, "--images");
	strv_add(argv, "%s", dir);
	strv_add(argv, "--qemu");
	strv_add(argv, "%s/fake-qemu.sh", getenv("SCS_BENCH_TESTS"));
	strv_add(argv, "--initrd");
	strv_add(argv, "%s/initrd", dir);
	strv_add(argv, "--out");
	strv_add(argv, "%s/boot.runs", dir);
	strv_add(argv, "--json");
	strv_add(argv, "%s/boot.json", dir);
	strv_split(argv, more, " ");
}

static void make_argv(struct strv *argv, const char *more)
{
	make_argv_perf(argv, "--no-perf");
	strv_split(argv, more, " ");
}

/* Run a program, keep what it prints, return its exit code. Takes @argv over. */
static int run_argv(struct strv *argv)
{
	char *log = in_dir("printed");
	int ret = run_program(argv, log, &printed);

	free(log);
	return ret;
}

/* Run "scs_bench boot" with more arguments. */
static int run(const char *fault, const char *more)
{
	struct strv argv = { 0 };

	setenv("FAKE_QEMU", fault, 1);
	make_argv(&argv, more);
	return run_argv(&argv);
}

static void assert_printed(const char *text)
{
	assert_in(text, printed);
}

static void assert_no_results(void)
{
	assert_false(exists("boot.json"));
	assert_false(exists("boot.json.tmp"));
}

/* A fault of QEMU that ends in EXIT_FAILED, a message, and no results. */
static void expect_failure(const char *fault, const char *more, const char *message)
{
	assert_int_equal(run(fault, more), EXIT_FAILED);
	assert_printed(message);
	assert_no_results();
}

static json_t *load_results(void)
{
	char *path = in_dir("boot.json");
	json_t *json = results_read(path);

	assert_non_null(json);
	free(path);
	return json;
}

/* How many finished runs the store has. */
static size_t finished(void)
{
	char *path = in_dir("boot.runs"), *text = read_file(path, NULL), *p;
	size_t n = 0;

	assert_non_null(text);
	for (p = text; (p = strstr(p, "\"key\":")); p++)
		n++;
	free(text);
	free(path);
	return n;
}

/* Two figures of one name would be taken for one. */
static void assert_unique(const json_t *json)
{
	json_t *f, *figures = json_object_get(json, "figures");
	size_t i;

	json_array_foreach(figures, i, f)
		if (results_find(json, results_text(f, "group"), results_text(f, "subject"),
				 results_text(f, "name")) != f)
			fail_msg("there are two figures \"%s\"", results_text(f, "name"));
}

static void test_good(void **state)
{
	json_t *json, *f;

	(void)state;
	assert_int_equal(run("good", ""), EXIT_OK);
	assert_printed("2,000,000");
	assert_printed("[ 23/23");
	assert_int_equal(finished(), 23);
	json = load_results();
	assert_unique(json);
	f = results_find(json, "generic", "scs", "calls of stack_depot_save_flags");
	assert_float_equal(results_value(f), 2, 0);
	f = results_find(json, "generic", "null", "wall time of a run");
	assert_int_equal(json_array_size(json_object_get(f, "samples")), 2);
	assert_non_null(results_find_noise(json, "generic", "wall time of a run"));
	f = results_find(json, "generic: where it goes", "scs", "initcalls");
	assert_float_equal(results_value(f), 125000, 0);
	f = json_object_get(json_object_get(json, "environment"), "images");
	f = json_object_get(json_object_get(f, "generic/scs"), "args");
	assert_non_null(strstr(json_string_value(f), "nokaslr"));
	json_decref(json);
	/* a second time: nothing is overwritten, and with --resume nothing is left to do */
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	assert_printed("go on with --resume");
	assert_int_equal(run("crash", "--resume"), EXIT_OK);
	assert_printed("23 of 23 runs are in");
	assert_printed("2,000,000");
}

/* Modes and sets of arguments are groups, the user's image is a column of each. */
static void test_matrix(void **state)
{
	char *more = xasprintf("--args plain,page_owner=on --variants upstream --no-wall %s%s%s",
			       "--image mine=", dir, "/generic-scs/Image");
	json_t *json;
	char *path;

	(void)state;
	put("generic-upstream/config", "CONFIG_PAGE_OWNER=y\n");
	put("generic-scs/config", "CONFIG_PAGE_OWNER=y\n");
	assert_int_equal(run("good", more), EXIT_OK);
	json = load_results();
	assert_non_null(results_find(json, "generic", "mine", "instructions, reset to init"));
	assert_non_null(results_find(json, "generic page_owner=on", "upstream",
				     "instructions, reset to init"));
	json_decref(json);
	free(more);
	/* an argument that the kernel does not know would measure nothing */
	assert_int_equal(run("good", "--args page_poison=1"), EXIT_UNUSABLE);
	assert_printed("CONFIG_PAGE_POISONING");
	assert_printed("--load-images");
	/* those with the argument's option are images of their own */
	assert_int_equal(run("good", "--args page_poison=1 --load-images"), EXIT_UNUSABLE);
	assert_printed("generic-upstream-load/Image");
	assert_printed("LOAD=1");
	put("generic-scs/config", "CONFIG_PAGE_POISONING=y\n");
	take_away("boot.runs");
	path = in_dir("generic-scs-load");
	assert_int_equal(symlink("generic-scs", path), 0);
	free(path);
	assert_int_equal(run("good", "--args page_poison=1 --load-images --variants scs --no-wall"),
			 EXIT_OK);
}

/* Fails late: what is finished is kept, and only the rest is done. */
static void test_resumed(void **state)
{
	char *path = in_dir("boot.runs"), *text, *cut;
	json_t *json;
	size_t n;

	(void)state;
	assert_int_equal(run("late", "--timeout 0.5"), EXIT_FAILED);
	assert_printed("did not end within");
	assert_printed("the same command with --resume does the rest");
	assert_no_results();
	n = finished();
	assert_int_equal(n, 17);

	/* the file is cut short on top of it: one run is lost, and said to be */
	text = read_file(path, NULL);
	cut = xasprintf("%.*s", (int)strlen(text) - 3, text);
	assert_int_equal(write_file_atomic(path, cut), 0);
	free(cut);
	free(text);
	assert_int_equal(run("good", "--resume"), EXIT_OK);
	assert_printed("was cut short");
	assert_printed("16 of 23 runs are in");
	assert_int_equal(finished(), 23);
	json = load_results();
	json_decref(json);
	free(path);
}

/* Another image, or another machine: the runs don't belong together. */
static void test_not_resumed(void **state)
{
	(void)state;
	assert_int_equal(run("late", "--timeout 0.5"), EXIT_FAILED);
	put("generic-scs/Image", "Linux version 6.12.117 (a@b) (clang 19, LLD 19) #2 SMP\n");
	assert_int_equal(run("good", "--resume"), EXIT_UNUSABLE);
	assert_printed("cannot be resumed");
	assert_printed("images:");
	put_image("scs", "6.12.117");
	put("initrd", "another");
	assert_int_equal(run("good", "--resume"), EXIT_UNUSABLE);
	assert_printed("initrd:");
	assert_int_equal(finished(), 17);
	assert_no_results();
}

static void test_old_qemu(void **state)
{
	(void)state;
	setenv("FAKE_QEMU_VERSION", "7.2.19", 1);
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	unsetenv("FAKE_QEMU_VERSION");
	assert_printed("is too old");
	assert_printed("make qemu");
	assert_no_results();
}

/* perf is missing: said, and the wall time is taken all the same. */
static void test_no_perf(void **state)
{
	static const char * const tools[] = { "sh", "cat", "true" };
	char *old = xstrdup(getenv("PATH")), *bin = in_dir("bin");
	struct strv argv = { 0 };
	size_t i;
	int ret;

	(void)state;
	setenv("FAKE_QEMU", "good", 1);
	make_argv_perf(&argv, "");
	assert_int_equal(mkdir(bin, 0700), 0);
	for (i = 0; i < ARRAY_SIZE(tools); i++) {
		char *from = xasprintf("/bin/%s", tools[i]);
		char *to = xasprintf("%s/%s", bin, tools[i]);

		assert_int_equal(symlink(from, to), 0);
		free(from);
		free(to);
	}
	setenv("PATH", bin, 1);
	ret = run_argv(&argv);
	setenv("PATH", old, 1);
	free(old);
	free(bin);
	assert_int_equal(ret, EXIT_OK);
	assert_printed("perf stat cannot be used here");
	assert_printed("CLOCK_MONOTONIC");
}

/* By signal 9, as from the kernel when memory is short: not by us. */
static void test_killed_from_outside(void **state)
{
	(void)state;
	expect_failure("killed", "", "killed by signal 9");
	assert_printed("--mem");
}

/*
 * QEMU crashes when all that a wall run waits for has been printed: too early an end is no fast
 * run. perf says nothing of it in its exit status.
 */
static void test_dies_at_last(void **state)
{
	struct strv argv = { 0 };
	char *more;

	(void)state;
	expect_failure("dies", "", "killed by signal 11");
	assert_int_equal(finished(), 12);
	more = xasprintf("--out %s/perf.runs", dir);
	make_argv_perf(&argv, more);
	free(more);
	assert_int_equal(run_argv(&argv), EXIT_FAILED);
	assert_printed("killed by signal 11");
	assert_no_results();
}

static void test_hang(void **state)
{
	(void)state;
	expect_failure("hang", "--timeout 0.5", "did not end within");
}

/* SIGTERM does not help: it is killed. */
static void test_stubborn(void **state)
{
	char *path = in_dir("state.pid"), *text;

	(void)state;
	expect_failure("stubborn", "--timeout 0.5", "did not end within");
	text = read_file(path, NULL);
	assert_non_null(text);
	assert_int_equal(kill(atoi(text), 0), -1);
	assert_int_equal(errno, ESRCH);
	free(text);
	free(path);
}

static void test_crash(void **state)
{
	(void)state;
	expect_failure("crash", "", "killed by signal 11");
	/* the end of the log is shown, and where it is */
	assert_printed("| about to crash");
	assert_printed("/boot.runs.logs/generic-");
}

static void test_exit(void **state)
{
	(void)state;
	expect_failure("exit", "", "exited with status 1");
	assert_printed("cannot set up guest memory");
}

static void test_silent(void **state)
{
	(void)state;
	expect_failure("silent", "", "init did not report");
}

static void test_garbage(void **state)
{
	(void)state;
	expect_failure("garbage", "", "init did not report");
}

static void test_flood(void **state)
{
	(void)state;
	expect_failure("flood", "", "QEMU failed");
}

static void test_panic(void **state)
{
	(void)state;
	expect_failure("panic", "", "Attempted to kill the idle task!");
}

static void test_no_end(void **state)
{
	(void)state;
	expect_failure("noend", "", "init did not report");
}

static void test_drift(void **state)
{
	(void)state;
	expect_failure("drift", "", "two runs do not agree: 2000001 and 2000002");
}

static void test_watched(void **state)
{
	(void)state;
	expect_failure("watched", "", "counts calls is not the same as the exact ones");
}

static void test_early(void **state)
{
	(void)state;
	expect_failure("early", "", "Fatal exception");
	assert_printed("did not come to look for its root file system");
}

static void test_strangers(void **state)
{
	(void)state;
	expect_failure("strangers", "", "logged time_init() 0 times");
}

static void test_wrong_version(void **state)
{
	(void)state;
	put_image("scs", "6.1.170");
	assert_int_equal(run("good", "--kver 6.12"), EXIT_UNUSABLE);
	assert_printed("is Linux 6.1.170, not 6.12");
	/* a version is not the start of another; and versions are not mixed */
	put_image("scs", "6.12.117");
	assert_int_equal(run("good", "--kver 6.1"), EXIT_UNUSABLE);
	assert_printed("is Linux 6.12.117, not 6.1");
	put_image("scs", "6.12.118");
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	assert_printed("cannot be compared");
	put("generic-scs/Image", "no kernel");
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	assert_printed("is not an uncompressed kernel");
	assert_no_results();
}

static void test_no_qemu(void **state)
{
	(void)state;
	assert_int_equal(run("good", "--qemu /nonexistent/qemu"), EXIT_UNUSABLE);
	assert_printed("could not be started");
	assert_int_equal(run("good", "--qemu /bin/true"), EXIT_UNUSABLE);
	assert_printed("does not say which QEMU it is");
	assert_no_results();
}

static void test_missing_files(void **state)
{
	(void)state;
	take_away("initrd");
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	assert_printed("/initrd");
	put("initrd", "initrd");
	assert_int_equal(run("good", "--modes hw_tags"), EXIT_UNUSABLE);
	assert_printed("hw_tags-upstream/Image");
	assert_printed("'make image' builds one");
	assert_no_results();
	put("generic-scs/System.map", "");
	assert_int_equal(run("good", ""), EXIT_FAILED);
	assert_printed("no usable symbols");
	assert_no_results();
	take_away("generic-scs/System.map");
	assert_int_equal(run("good", "--resume"), EXIT_OK);
	assert_printed("its calls are not counted");
}

static void test_output_not_writable(void **state)
{
	char *more = xasprintf("--out %s/initrd/boot.runs", dir);

	(void)state;
	assert_int_equal(run("good", more), EXIT_UNUSABLE);
	assert_printed("choose another --out");
	free(more);
}

/* What can only be found out at the end: the table is there all the same. */
static void test_output_in_the_way(void **state)
{
	char *path = in_dir("boot.json");

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(run("good", ""), EXIT_FAILED);
	assert_printed("cannot write");
	assert_printed("2,000,000");
	assert_false(exists("boot.json.tmp"));
	free(path);
}

/* Another subcommand, with the files of setup(). */
static int run_command(const char *command, const char *fault, const char *more)
{
	struct strv argv = { 0 };

	setenv("FAKE_QEMU", fault, 1);
	make_argv(&argv, "");
	/* its name is the second argument */
	free(argv.v[1]);
	argv.v[1] = xstrdup(command);
	strv_split(&argv, more, " ");
	return run_argv(&argv);
}

static void copy_image(const char *to)
{
	char *path = in_dir(to);

	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	path = xasprintf("%s/Image", to);
	put(path, "Linux version 6.12.117 (a@b) (clang 19, LLD 19) #1 SMP\n");
	free(path);
}

static void test_selftest(void **state)
{
	json_t *json;

	(void)state;
	assert_int_equal(run_command("selftest", "good", "--no-wall"), EXIT_UNUSABLE);
	assert_printed("generic-cost/Image");
	copy_image("generic-cost");
	assert_int_equal(run_command("selftest", "good", "--no-wall"), EXIT_OK);
	assert_printed("1000 instructions a save, counted without interrupts: found exactly");
	assert_printed("9 saves: 9000 instructions were injected, 9000 are found");
	json = load_results();
	assert_int_equal(json_array_size(json_object_get(json, "verdicts")), 6);
	json_decref(json);
}

/* One instruction of nine thousand is missed: the self test must not pass. */
static void test_selftest_deaf(void **state)
{
	(void)state;
	copy_image("generic-cost");
	assert_int_equal(run_command("selftest", "deaf", "--no-wall"), EXIT_FAILED);
	assert_printed("counted without interrupts: MISSED");
	assert_printed("do not trust");
}

/* With as few runs, or as little between them, wall time shows nothing; and that is said. */
static void test_selftest_wall(void **state)
{
	(void)state;
	copy_image("generic-cost");
	assert_int_equal(run_command("selftest", "good", ""), EXIT_OK);
	assert_printed("Wall time: NOT FOUND");
	assert_printed("too few runs");
}

static void test_selftest_wrong_image(void **state)
{
	char *more = xasprintf("--no-wall --cost 2000");

	(void)state;
	copy_image("generic-cost");
	assert_int_equal(run_command("selftest", "panic", more), EXIT_FAILED);
	assert_int_equal(run_command("selftest", "good", "--cost 2001"), EXIT_UNUSABLE);
	assert_printed("even number");
	free(more);
}

static void test_claims(void **state)
{
	(void)state;
	assert_int_equal(run_command("claims", "good", "--modes generic"), EXIT_UNUSABLE);
	assert_printed("none-upstream/Image");
	copy_image("none-upstream");
	assert_int_equal(run_command("claims", "good", "--modes hw_tags"), EXIT_UNUSABLE);
	assert_printed("hw_none-upstream/Image");
	assert_int_equal(run_command("claims", "noinit", "--modes generic"), EXIT_FAILED);
	assert_printed("did not come to");
	assert_no_results();
	assert_int_equal(run_command("claims", "good", "--modes generic --resume"), EXIT_OK);
	/* all boots of the fake are alike: nothing is saved */
	assert_printed("shadow call stack, generic, instructions: refuted");
	assert_printed("claimed: 30 %; measured: 0.0 % (exact)");
	assert_printed("6 % of a whole run, generic, instructions: holds");
	assert_printed("Deviations from what was published");
}

/* Each of the others, too, ends in an error and has no results, whatever QEMU does. */
static void test_every_command(void **state)
{
	static const char * const images[] = {
		"none-upstream", "generic-cost", "none-upstream-load", "generic-upstream-load",
		"generic-record",
	};
	static const char * const commands[][2] = {
		{ "claims", "--modes generic" },
		{ "selftest", "" },
		{ "micro", "--variants upstream --args plain" },
		{ "memory", "--modes generic --variants upstream --args plain" },
		{ "load", "--variants upstream --args plain" },
		{ "record", "boot/generic" },
	};
	static const char * const faults[][2] = {
		{ "hang", "did not end within" }, { "killed", "killed by signal 9" },
		{ "crash", "killed by signal 11" }, { "exit", "exited with status 1" },
		{ "panic", "Attempted to kill the idle task!" }, { "silent", "(log: " },
		{ "garbage", "(log: " }, { "noend", "(log: " }, { "flood", "QEMU failed" },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(images); i++)
		copy_image(images[i]);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *name = commands[i][0];
		char *more = xasprintf("--timeout 0.3 --%s %s/initrd --out %s/%s.runs %s%s%s",
				       strcmp(name, "load") ? "initrd" : "rootfs", dir, dir, name,
				       commands[i][1], strcmp(name, "record") ? "" : " --dir ",
				       strcmp(name, "record") ? "" : dir);
		char *again = xasprintf("%s --resume", more);

		for (j = 0; j < ARRAY_SIZE(faults); j++) {
			int ret = run_command(name, faults[j][0], j ? again : more);

			if (ret != EXIT_FAILED)
				fail_msg("%s, %s: status %d: %s", name, faults[j][0], ret,
					 printed);
			assert_printed(faults[j][1]);
			assert_printed("--resume does the rest");
			assert_no_results();
		}
		setenv("FAKE_QEMU_VERSION", "7.2.19", 1);
		assert_int_equal(run_command(name, "good", again), EXIT_UNUSABLE);
		assert_printed("is too old");
		unsetenv("FAKE_QEMU_VERSION");
		free(again);
		free(more);
	}
}

static int run_line(const char *line)
{
	struct strv argv = { 0 };

	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_split(&argv, line, " ");
	return run_argv(&argv);
}

static void test_help(void **state)
{
	static const char * const commands[] = {
		"boot", "claims", "micro", "memory", "load", "record", "replay", "report",
		"compare", "selftest", "run", "stacks",
	};
	char *line, *usage;
	size_t i;

	(void)state;
	assert_int_equal(run_line("--help"), EXIT_OK);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		line = xasprintf("  %s ", commands[i]);
		assert_int_equal(run_line("--help"), EXIT_OK);
		assert_printed(line);
		free(line);
		line = xasprintf("%s --help", commands[i]);
		usage = xasprintf("Usage: scs_bench %s", commands[i]);
		assert_int_equal(run_line(line), EXIT_OK);
		assert_printed(usage);
		free(usage);
		free(line);
		line = xasprintf("%s --nonsense", commands[i]);
		assert_int_equal(run_line(line), EXIT_UNUSABLE);
		assert_printed("--help");
		free(line);
	}
	assert_int_equal(run_line("nonsense"), EXIT_UNUSABLE);
}

static void test_run(void **state)
{
	char *line = xasprintf("run --image %s/generic-scs/Image --initrd %s/initrd --log %s/%s",
			       dir, dir, dir, "log --expect scs_bench: --qemu ");
	char *whole = xasprintf("%s%s/fake-qemu.sh", line, getenv("SCS_BENCH_TESTS"));

	(void)state;
	setenv("FAKE_QEMU", "good", 1);
	assert_int_equal(run_line(whole), EXIT_OK);
	setenv("FAKE_QEMU", "panic", 1);
	assert_int_equal(run_line(whole), EXIT_FAILED);
	assert_printed("did not print");
	setenv("FAKE_QEMU_VERSION", "9.2.0", 1);
	assert_int_equal(run_line(whole), EXIT_UNUSABLE);
	assert_printed("is too old");
	unsetenv("FAKE_QEMU_VERSION");
	free(whole);
	free(line);
}

/* Results that were cut short at any place are none. */
static void test_results_cut_short(void **state)
{
	char *path = in_dir("boot.json"), *text, *line, *part;
	size_t len, cut;

	(void)state;
	assert_int_equal(run("good", "--no-wall --initcalls 0"), EXIT_OK);
	text = read_file(path, &len);
	for (cut = 0; cut + 2 < len; cut += len / 7) {
		part = xasprintf("%.*s", (int)cut, text);
		put("cut.json", part);
		free(part);
		line = xasprintf("compare %s %s/cut.json", path, dir);
		assert_int_equal(run_line(line), EXIT_UNUSABLE);
		assert_printed("cut.json: ");
		assert_printed("cut short");
		free(line);
		line = xasprintf("report --out %s/page.html %s %s/cut.json", dir, path, dir);
		assert_int_equal(run_line(line), EXIT_UNUSABLE);
		assert_printed("cut short");
		assert_false(exists("page.html"));
		free(line);
	}
	free(text);
	free(path);
}

static int compare_with(const char *from, const char *to, const char *more)
{
	char *path = in_dir("boot.json"), *text = read_file(path, NULL), *changed;
	struct strv argv = { 0 };
	char *args;
	int ret;

	assert_non_null(text);
	changed = replace(text, from, to);
	put("other.json", changed);
	args = xasprintf("%s/boot.json %s/other.json %s", dir, dir, more);
	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_split(&argv, "compare", " ");
	strv_split(&argv, args, " ");
	ret = run_argv(&argv);
	free(args);
	free(changed);
	free(text);
	free(path);
	return ret;
}

static void test_compare(void **state)
{
	(void)state;
	assert_int_equal(run("good", ""), EXIT_OK);
	assert_int_equal(compare_with("2000000", "2000000", ""), EXIT_OK);
	assert_printed("0 figures differ");
	assert_printed("  the same\n");
	/* a single instruction is a difference */
	assert_int_equal(compare_with("2000000", "2000001", ""), EXIT_FAILED);
	assert_printed("3 figures differ");
	assert_printed("2,000,000 -> 2,000,001");
	/* what only one of them has is no difference, but is told */
	assert_int_equal(compare_with("\"qemu\":", "\"extra\": 5, \"qemu\":", ""), EXIT_OK);
	assert_printed("extra: not there -> 5");
	/* another machine: nothing is said of wall time */
	assert_int_equal(compare_with("\"cpus\":", "\"cpus\": 1, \"was\":", "--all"), EXIT_OK);
	assert_printed("not comparable, since the machines");
	assert_int_equal(compare_with("\"boot\"", "\"claims\"", ""), EXIT_UNUSABLE);
	assert_int_equal(compare_with("\"generic", "\"other", ""), EXIT_UNUSABLE);
	assert_printed("no figure in common");
	assert_int_equal(compare_with("{", "[", ""), EXIT_UNUSABLE);
	assert_printed("cannot read results");
}

/* Start scs_bench on a QEMU that hangs, as @fault says; returns when that QEMU runs. */
static pid_t start_hanging(const char *fault, bool perf, pid_t *qemu)
{
	char *path = in_dir("state.pid"), *log = in_dir("printed"), *text = NULL;
	struct strv argv = { 0 };
	int tries;
	pid_t pid;

	setenv("FAKE_QEMU", fault, 1);
	if (perf)
		make_argv_perf(&argv, "");
	else
		make_argv(&argv, "");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!freopen(log, "w", stdout) || dup2(1, 2) < 0)
			_exit(126);
		execv(argv.v[0], argv.v);
		_exit(127);
	}
	for (tries = 0; tries < 1000 && (!text || !*text); tries++) {
		free(text);
		usleep(20000);
		text = read_file(path, NULL);
	}
	assert_non_null(text);
	*qemu = atoi(text);
	assert_true(*qemu > 1);
	free(text);
	strv_free(&argv);
	free(log);
	free(path);
	return pid;
}

static void assert_gone(pid_t pid)
{
	int tries;

	for (tries = 0; tries < 500 && !kill(pid, 0); tries++)
		usleep(20000);
	assert_int_equal(kill(pid, 0), -1);
}

static void interrupt(pid_t pid, pid_t qemu)
{
	char *log = in_dir("printed");
	int status;

	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERRUPTED);
	assert_gone(qemu);
	free(printed);
	printed = read_file(log, NULL);
	assert_printed("interrupted");
	assert_no_results();
	free(log);
}

static void test_interrupted(void **state)
{
	pid_t qemu, pid = start_hanging("hang", false, &qemu);

	(void)state;
	interrupt(pid, qemu);
	assert_printed("--resume does the rest");
	assert_int_equal(run("good", "--resume"), EXIT_OK);
}

/* While tools are tried out: that is not taken for a tool that does not work. */
static void test_interrupted_early(void **state)
{
	pid_t qemu, pid = start_hanging("mute", false, &qemu);

	(void)state;
	interrupt(pid, qemu);
	assert_null(strstr(printed, "working QEMU"));
	assert_int_equal(run("good", ""), EXIT_OK);
}

/* What perf started is gone, too, and what is finished is kept. */
static void test_interrupted_under_perf(void **state)
{
	pid_t qemu, pid = start_hanging("late", true, &qemu);

	(void)state;
	interrupt(pid, qemu);
	assert_int_equal(finished(), 17);
}

/* Killed outright, it cannot clean up: the kernel ends its QEMU for it. */
static void test_killed(void **state)
{
	pid_t qemu, pid = start_hanging("hang", false, &qemu);
	int status;

	(void)state;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_gone(qemu);
	assert_no_results();
	/* and the next run is not hindered */
	assert_int_equal(run("good", "--resume"), EXIT_OK);
}

static void test_two_at_once(void **state)
{
	pid_t qemu, pid = start_hanging("hang", false, &qemu);
	int status;

	(void)state;
	assert_int_equal(run("good", ""), EXIT_UNUSABLE);
	assert_printed("another scs_bench");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERRUPTED);
	assert_gone(qemu);
	assert_int_equal(run("good", "--resume"), EXIT_OK);
}

/*
 * A disk that is full: a file system of its own, in a namespace of its own, where that is allowed.
 * The runs before are kept, and with room the rest is done.
 */
static void test_disk_full(void **state)
{
	static const char script[] =
		"d=$1; shift; mkdir $d/small && mount -t tmpfs -o size=1200k none $d/small || exit 77\n"
		"head -c 100k /dev/zero > $d/small/filler\n"
		"\"$@\"; [ $? = 1 ] || exit 1\n"
		"[ -s $d/small/runs ] && [ ! -e $d/small/json ] || exit 2\n"
		"n=$(grep -c '\"key\"' $d/small/runs); [ $n -ge 1 ] && [ $n -lt 23 ] || exit 3\n"
		"mount -o remount,size=8m $d/small || exit 4\n"
		"\"$@\" --resume || exit 5\n"
		"[ $(grep -c '\"key\"' $d/small/runs) = 23 ] && [ -s $d/small/json ] || exit 6\n";
	char *more = xasprintf("--out %s/small/runs --json %s/small/json", dir, dir);
	struct strv argv = { 0 };
	int ret;

	(void)state;
	setenv("FAKE_QEMU", "fill", 1);
	strv_split(&argv, "unshare -rm sh -c", " ");
	strv_add(&argv, "%s", script);
	strv_add(&argv, "sh");
	strv_add(&argv, "%s", dir);
	make_argv(&argv, more);
	free(more);
	ret = run_argv(&argv);
	if (strstr(printed, "unshare:") || ret == 77)
		skip();
	if (ret)
		fail_msg("status %d: %s", ret, printed);
	assert_printed("make room there");
}

#define fault_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/**
 * run_fault_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_fault_tests(void)
{
	const struct CMUnitTest tests[] = {
		fault_test(test_good),
		fault_test(test_matrix),
		fault_test(test_resumed),
		fault_test(test_not_resumed),
		fault_test(test_old_qemu),
		fault_test(test_no_perf),
		fault_test(test_disk_full),
		fault_test(test_killed_from_outside),
		fault_test(test_dies_at_last),
		fault_test(test_hang),
		fault_test(test_stubborn),
		fault_test(test_crash),
		fault_test(test_exit),
		fault_test(test_silent),
		fault_test(test_garbage),
		fault_test(test_flood),
		fault_test(test_panic),
		fault_test(test_no_end),
		fault_test(test_drift),
		fault_test(test_watched),
		fault_test(test_early),
		fault_test(test_strangers),
		fault_test(test_wrong_version),
		fault_test(test_no_qemu),
		fault_test(test_missing_files),
		fault_test(test_output_not_writable),
		fault_test(test_output_in_the_way),
		fault_test(test_selftest),
		fault_test(test_selftest_deaf),
		fault_test(test_selftest_wall),
		fault_test(test_selftest_wrong_image),
		fault_test(test_claims),
		fault_test(test_every_command),
		fault_test(test_help),
		fault_test(test_run),
		fault_test(test_results_cut_short),
		fault_test(test_compare),
		fault_test(test_interrupted),
		fault_test(test_interrupted_early),
		fault_test(test_interrupted_under_perf),
		fault_test(test_killed),
		fault_test(test_two_at_once),
	};

	if (!getenv("SCS_BENCH") || !getenv("SCS_BENCH_TESTS")) {
		fputs("SCS_BENCH and SCS_BENCH_TESTS are not set: run the tests with 'make test'\n",
		      stderr);
		return 1;
	}
	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
