// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the store of finished runs and of the plan: nothing that was finished may get lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan.h"
#include "store.h"
#include "test.h"

static char *dir;
static char *path;

static int setup(void **state)
{
	(void)state;
	dir = temp_dir();
	path = xasprintf("%s/runs", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(path);
	remove_dir(dir);
	return 0;
}

static int reopen(struct store *s, const char *command, const char *what, bool resume)
{
	json_t *identity = json_pack("{s:s}", "images", what);
	u64 seed = 7;
	int ret = store_open(s, path, command, identity, &seed, resume);

	json_decref(identity);
	return ret;
}

static void append(struct store *s, const char *key, double value)
{
	assert_int_equal(store_append(s, key, json_pack("{s:f}", "value", value)), EXIT_OK);
}

static void assert_has(const struct store *s, const char *key, double value)
{
	json_t *record = store_find(s, key);

	assert_non_null(record);
	assert_float_equal(json_number_value(json_object_get(record, "value")), value, 0);
}

/* What a run appended can be read while the store is still open: it is written at once. */
static void test_kept(void **state)
{
	struct store s;
	char *text;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	append(&s, "scs/wall/1", 2.5);
	text = read_file(path, NULL);
	assert_non_null(strstr(text, "\"value\":2.5"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
	append(&s, "scs/wall/2", 3.5);
	store_close(&s);

	assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
	assert_has(&s, "scs/wall/1", 2.5);
	assert_has(&s, "scs/wall/2", 3.5);
	assert_null(store_find(&s, "scs/wall/3"));
	store_close(&s);
}

static void test_refused(void **state)
{
	struct store s;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	append(&s, "k", 1);
	store_close(&s);
	/* there already; of another command; of other images */
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_UNUSABLE);
	store_close(&s);
	assert_int_equal(reopen(&s, "claims", "a", true), EXIT_UNUSABLE);
	store_close(&s);
	assert_int_equal(reopen(&s, "boot", "b", true), EXIT_UNUSABLE);
	store_close(&s);
	assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
	assert_has(&s, "k", 1);
	store_close(&s);
}

static void test_seed_is_kept(void **state)
{
	json_t *identity = json_object();
	struct store s;
	u64 seed = 41;

	(void)state;
	assert_int_equal(store_open(&s, path, "boot", identity, &seed, false), EXIT_OK);
	store_close(&s);
	seed = 42;
	assert_int_equal(store_open(&s, path, "boot", identity, &seed, true), EXIT_OK);
	assert_int_equal(seed, 41);
	store_close(&s);
	json_decref(identity);
}

/* Cut after each single byte of the last line: that run is gone, the others are not. */
static void test_cut_short(void **state)
{
	struct stat whole, before;
	struct store s;
	char *text;
	off_t size;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	append(&s, "one", 1);
	append(&s, "two", 2);
	assert_int_equal(stat(path, &before), 0);
	append(&s, "three", 3);
	store_close(&s);
	assert_int_equal(stat(path, &whole), 0);
	text = read_file(path, NULL);
	for (size = before.st_size + 1; size < whole.st_size; size++) {
		char *part = xasprintf("%.*s", (int)size, text);

		assert_int_equal(write_file_atomic(path, part), 0);
		free(part);
		assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
		assert_has(&s, "one", 1);
		assert_has(&s, "two", 2);
		assert_null(store_find(&s, "three"));
		/* and it can be gone on with */
		append(&s, "three", 33);
		store_close(&s);
		assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
		assert_has(&s, "three", 33);
		store_close(&s);
	}
	free(text);
}

/* The very first line cut short: nothing was finished, a new store begins. */
static void test_cut_header(void **state)
{
	struct store s;

	(void)state;
	assert_int_equal(write_file_atomic(path, "{\"scs_bench\":\"bo"), 0);
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	append(&s, "one", 1);
	store_close(&s);
	assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
	assert_has(&s, "one", 1);
	store_close(&s);
}

/* Damage that is not ours: refused, and not a byte is changed. */
static void test_damaged(void **state)
{
	static const char * const spoilt[] = {
		"not ours\n", "{}\n", "{\"scs_bench\":\"boot\"}\nnonsense\n{\"key\":\"a\"}\n",
		"{\"scs_bench\":\"boot\"}\n{\"nokey\":1}\n", "[]\n",
	};
	struct store s;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(spoilt); i++) {
		assert_int_equal(write_file_atomic(path, spoilt[i]), 0);
		assert_int_equal(reopen(&s, "boot", "a", true), EXIT_UNUSABLE);
		store_close(&s);
		text = read_file(path, NULL);
		assert_string_equal(text, spoilt[i]);
		free(text);
	}
}

static void test_locked(void **state)
{
	struct store s, t;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	assert_int_equal(reopen(&t, "boot", "a", true), EXIT_UNUSABLE);
	store_close(&t);
	store_close(&s);
	assert_int_equal(reopen(&t, "boot", "a", true), EXIT_OK);
	store_close(&t);
}

/* The disk takes only a part of a line: the error is told, and the file is as it was before. */
static void test_no_room(void **state)
{
	struct stat before, after;
	struct store s;
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	append(&s, "one", 1);
	assert_int_equal(stat(path, &before), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit = { before.st_size + 5, before.st_size + 5 };

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(store_append(&s, "two", json_object()));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILED);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	store_close(&s);
	assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
	assert_has(&s, "one", 1);
	store_close(&s);
}

static void test_log_names(void **state)
{
	struct store s;
	char *log;

	(void)state;
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	log = store_log(&s, "generic page_owner=on/scs/wall/1");
	assert_non_null(strstr(log, "/runs.logs/generic-page_owner-on-scs-wall-1.log"));
	free(log);
	store_close(&s);
}

static void make_plan(struct plan *p, u64 seed)
{
	unsigned int block, i;

	*p = (struct plan){ 0 };
	for (block = 0; block < 3; block++)
		for (i = 0; i < 8; i++)
			plan_add(p, block, "wall", i, block, "k%u/%u", i, block);
	plan_shuffle(p, seed);
}

static bool same_order(const struct plan *a, const struct plan *b)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (strcmp(a->v[i].key, b->v[i].key))
			return false;
	return true;
}

static void test_plan_order(void **state)
{
	struct plan a, b, c;
	unsigned int block, seen;
	size_t i;

	(void)state;
	make_plan(&a, 1);
	make_plan(&b, 1);
	make_plan(&c, 2);
	assert_true(same_order(&a, &b));
	assert_false(same_order(&a, &c));
	/* each block has each kernel once: interleaved */
	for (block = 0; block < 3; block++) {
		for (seen = 0, i = 0; i < 8; i++) {
			assert_int_equal(a.v[8 * block + i].block, block);
			seen |= 1 << a.v[8 * block + i].subject;
		}
		assert_int_equal(seen, 0xff);
	}
	/* and blocks are not in the same order as each other */
	for (seen = 0, i = 0; i < 8; i++)
		seen += a.v[i].subject != a.v[8 + i].subject;
	assert_true(seen > 0);
	plan_free(&a);
	plan_free(&b);
	plan_free(&c);
}

/* Counts the runs, and fails in the one that it is told to. */
struct runner {
	size_t done;
	const char *fail;
};

static int run_one(void *ctx, const struct plan_step *step, const char *log, json_t **record)
{
	struct runner *r = ctx;

	assert_non_null(strstr(log, "runs.logs/"));
	if (r->fail && !strcmp(step->key, r->fail))
		return EXIT_FAILED;
	r->done++;
	*record = json_pack("{s:f}", "value", (double)step->subject);
	return EXIT_OK;
}

static void test_plan_resumed(void **state)
{
	struct runner r = { .fail = "k3/1" };
	struct store s;
	struct plan p;
	size_t first;

	(void)state;
	make_plan(&p, 1);
	assert_int_equal(reopen(&s, "boot", "a", false), EXIT_OK);
	assert_int_equal(plan_execute(&p, &s, run_one, &r), EXIT_FAILED);
	first = r.done;
	assert_true(first >= 8 && first < 16);
	/* what failed did not get in */
	assert_null(store_find(&s, "k3/1"));
	assert_int_equal(json_object_size(s.runs), first);
	store_close(&s);

	assert_int_equal(reopen(&s, "boot", "a", true), EXIT_OK);
	r.fail = NULL;
	assert_int_equal(plan_execute(&p, &s, run_one, &r), EXIT_OK);
	assert_int_equal(r.done, 24);
	assert_has(&s, "k3/1", 3);
	/* nothing is left to do */
	assert_int_equal(plan_execute(&p, &s, run_one, &r), EXIT_OK);
	assert_int_equal(r.done, 24);
	store_close(&s);
	plan_free(&p);
}

#define store_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/**
 * run_store_tests - run the tests of this file
 *
 * Return: the number of tests that failed.
 */
int run_store_tests(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_kept),
		store_test(test_refused),
		store_test(test_seed_is_kept),
		store_test(test_cut_short),
		store_test(test_cut_header),
		store_test(test_damaged),
		store_test(test_locked),
		store_test(test_no_room),
		store_test(test_log_names),
		store_test(test_plan_order),
		store_test(test_plan_resumed),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
