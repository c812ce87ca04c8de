// SPDX-License-Identifier: GPL-2.0
/*
 * Runs all tests of scs_bench, and holds the few helpers that they share.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "test.h"
#include "util.h"

/**
 * replace - replace every occurrence of one text by another
 * @text: where to look
 * @from: what to replace; a test that looks for what is not there fails
 * @to: what to put in its place
 *
 * Return: the new text, to be freed.
 */
char *replace(const char *text, const char *from, const char *to)
{
	const char *p;
	char *out = xstrdup(""), *longer;

	assert_non_null(strstr(text, from));
	while ((p = strstr(text, from))) {
		longer = xasprintf("%s%.*s%s", out, (int)(p - text), text, to);
		free(out);
		out = longer;
		text = p + strlen(from);
	}
	longer = xasprintf("%s%s", out, text);
	free(out);
	return longer;
}

/**
 * temp_dir - make an empty directory
 *
 * Return: its path, for remove_dir().
 */
char *temp_dir(void)
{
	char *dir = xstrdup("/tmp/scs_bench_test.XXXXXX");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/**
 * remove_dir - remove a directory and everything in it
 * @dir: its path, freed
 */
void remove_dir(char *dir)
{
	assert_int_equal(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	free(dir);
}

/**
 * run_program - run a program to its end
 * @argv: its arguments, freed
 * @log: a file for what it prints
 * @printed: NULL, or what it printed the last time; becomes what it printed
 *
 * Return: its exit code.
 */
int run_program(struct strv *argv, const char *log, char **printed)
{
	struct proc_spec spec = {
		.argv = argv->v, .log = log, .timeout = 120, .max_file = 1 << 30,
	};
	struct proc_result res;

	proc_run(&spec, &res);
	strv_free(argv);
	assert_int_equal(res.end, PROC_EXITED);
	free(*printed);
	*printed = read_file(log, NULL);
	assert_non_null(*printed);
	return res.code;
}

/**
 * assert_in - fail unless a text was printed
 * @text: the text
 * @printed: all that was printed
 */
void assert_in(const char *text, const char *printed)
{
	if (!strstr(printed, text))
		fail_msg("\"%s\" is not in what was printed: %s", text, printed);
}

int main(void)
{
	int failed = 0;

	if (proc_init())
		return 1;
	failed += run_parse_tests();
	failed += run_stats_tests();
	failed += run_stacks_tests();
	failed += run_args_tests();
	failed += run_fault_tests();
	failed += run_stream_tests();
	failed += run_store_tests();
	failed += run_results_tests();
	failed += run_guest_tests();
	failed += run_report_tests();
	return failed ? 1 : 0;
}
