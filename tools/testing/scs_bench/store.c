// SPDX-License-Identifier: GPL-2.0
/*
 * The store of finished runs: a file of JSON lines that only grows and survives whatever happens.
 *
 * The first line says what is measured; each further one is a finished run. A line is written with
 * one write() and is on disk (fsync) before the next run starts. So the only damage that a crash, a
 * kill or a full disk can do is a last line that was cut short: it has no newline. That line was
 * not finished, so it is cut off and its run is done again. Damage anywhere else is nothing that
 * this program can have done; then nothing is changed, and the user decides.
 *
 * The file itself is the lock: whoever writes it holds flock().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

#define STORE_SCHEMA	1
/* A run's log and its line take less than this. */
#define ROOM_NEEDED	(1024 * 1024)

/**
 * store_disk_full - is there too little room for another run?
 * @s: the store
 *
 * Return: true if less than a MiB is left where the store is.
 */
bool store_disk_full(const struct store *s)
{
	struct statvfs vfs;

	return !fstatvfs(s->fd, &vfs) && vfs.f_bavail * vfs.f_frsize < ROOM_NEEDED;
}

static int write_line(struct store *s, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS), *whole;
	size_t len;
	ssize_t n;
	int err;

	if (!text) {
		bench_err("a result cannot be written as JSON: is a path or an argument not UTF-8?");
		return EXIT_FAILED;
	}
	whole = xasprintf("%s\n", text);
	free(text);
	len = strlen(whole);
	n = pwrite(s->fd, whole, len, s->size);
	err = n < 0 ? errno : (size_t)n < len ? ENOSPC : 0;
	if (!err && fsync(s->fd))
		err = errno;
	free(whole);
	if (!err) {
		s->size += len;
		return EXIT_OK;
	}
	/* Best leave no part of a line; but reading copes with one, too. */
	if (ftruncate(s->fd, s->size))
		bench_err("%s now ends in a line that is cut short; --resume repairs it", s->path);
	bench_err("cannot write to %s: %s; make room there and run the same command again with --resume: all %zu finished runs before this one are kept",
		  s->path, strerror(err), json_object_size(s->runs));
	return EXIT_FAILED;
}

/* One line of the file; false if it is not what we write. */
static bool take_line(struct store *s, const char *text, size_t len)
{
	json_t *line = json_loadb(text, len, 0, NULL);
	const char *key;

	if (!json_is_object(line)) {
		json_decref(line);
		return false;
	}
	if (!s->header) {
		s->header = line;
		return json_is_string(json_object_get(line, "scs_bench"));
	}
	key = json_string_value(json_object_get(line, "key"));
	if (!key) {
		json_decref(line);
		return false;
	}
	json_object_set_new(s->runs, key, line);
	return true;
}

static int read_lines(struct store *s)
{
	size_t len, pos = 0, nr = 0, n;
	char *text = read_file(s->path, &len), *end;
	int ret = EXIT_OK;

	if (!text) {
		bench_err("cannot read %s: %s; choose another --out", s->path, strerror(errno));
		return EXIT_UNUSABLE;
	}
	while ((end = memchr(text + pos, '\n', len - pos))) {
		n = end - (text + pos);
		nr++;
		if (!take_line(s, text + pos, n)) {
			bench_err("line %zu of %s is damaged or is not from scs_bench; nothing was changed: choose another --out, or take that line out",
				  nr, s->path);
			ret = EXIT_UNUSABLE;
			goto out;
		}
		pos += n + 1;
	}
	s->size = pos;
	if (pos < len) {
		bench_err("%s was cut short in the middle of a line: its last %zu bytes, of a run that was not finished, are cut off; the %zu finished runs are kept",
			  s->path, len - pos, json_object_size(s->runs));
		if (ftruncate(s->fd, pos) || fsync(s->fd)) {
			bench_err("cannot repair %s: %s", s->path, strerror(errno));
			ret = EXIT_FAILED;
		}
	}
out:
	free(text);
	return ret;
}

static int new_store(struct store *s, const char *command, json_t *identity, u64 seed)
{
	s->header = json_pack("{s:s, s:i, s:O, s:I, s:I}", "scs_bench", command, "schema",
			      STORE_SCHEMA, "identity", identity, "seed", (json_int_t)seed,
			      "started", (json_int_t)time(NULL));
	return write_line(s, s->header);
}

/* What differs between what is measured and what is asked for, for the user. */
static void tell_difference(const struct store *s, const json_t *identity)
{
	json_t *old = json_object_get(s->header, "identity"), *theirs;
	const char *key;
	json_t *ours;

	json_object_foreach((json_t *)identity, key, ours) {
		theirs = json_object_get(old, key);
		if (!json_equal(theirs, ours)) {
			char *was = theirs ? json_dumps(theirs, JSON_ENCODE_ANY) : xstrdup("none");
			char *is = json_dumps(ours, JSON_ENCODE_ANY);

			bench_err("  %s: %s there, %s now", key, was, is);
			free(was);
			free(is);
		}
	}
}

static int old_store(struct store *s, const char *command, json_t *identity, u64 *seed,
		     bool resume)
{
	const char *other = json_string_value(json_object_get(s->header, "scs_bench"));

	if (!resume) {
		bench_err("%s is there already, with %zu finished runs: go on with --resume, choose another --out, or remove it",
			  s->path, json_object_size(s->runs));
		return EXIT_UNUSABLE;
	}
	if (strcmp(other, command) ||
	    json_integer_value(json_object_get(s->header, "schema")) != STORE_SCHEMA) {
		bench_err("%s is from scs_bench %s, or from another version: choose another --out",
			  s->path, other);
		return EXIT_UNUSABLE;
	}
	if (!json_equal(json_object_get(s->header, "identity"), identity)) {
		bench_err("%s cannot be resumed: it was begun with other arguments, images, tools or on another machine. Give the same ones, or choose another --out",
			  s->path);
		tell_difference(s, identity);
		return EXIT_UNUSABLE;
	}
	/* Same seed, same order. */
	*seed = json_integer_value(json_object_get(s->header, "seed"));
	return EXIT_OK;
}

/**
 * store_open - open a store, or begin one
 * @s: the store; store_close() is due in any case
 * @path: the file
 * @command: the subcommand
 * @identity: object: all that has to be the same for runs to be comparable (arguments, hashes of
 *	images, tools, machine); an existing store with another one is refused
 * @seed: the seed to begin with; replaced by that of an existing store
 * @resume: an existing store shall be gone on with
 *
 * Return: EXIT_OK, or another exit code after an error was told.
 */
int store_open(struct store *s, const char *path, const char *command, json_t *identity,
	       u64 *seed, bool resume)
{
	int ret;

	*s = (struct store){ .path = xstrdup(path), .runs = json_object() };
	s->logs = xasprintf("%s.logs", path);
	s->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (s->fd < 0) {
		bench_err("cannot write %s: %s; choose another --out", path, strerror(errno));
		return EXIT_UNUSABLE;
	}
	if (flock(s->fd, LOCK_EX | LOCK_NB)) {
		bench_err("another scs_bench is writing %s: wait for it, or choose another --out",
			  path);
		return EXIT_UNUSABLE;
	}
	if (mkdir(s->logs, 0777) && errno != EEXIST) {
		bench_err("cannot make the directory %s: %s; choose another --out", s->logs,
			  strerror(errno));
		return EXIT_UNUSABLE;
	}
	ret = read_lines(s);
	if (ret)
		return ret;
	if (s->header)
		return old_store(s, command, identity, seed, resume);
	return new_store(s, command, identity, *seed);
}

/**
 * store_find - look for a finished run
 * @s: the store
 * @key: its key
 *
 * Return: what store_append() was given; NULL when there is none.
 */
json_t *store_find(const struct store *s, const char *key)
{
	return json_object_get(s->runs, key);
}

/**
 * store_append - keep a finished run; it is on disk when this returns
 * @s: the store
 * @key: the run's key
 * @record: object with its results; consumed
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error was told.
 */
int store_append(struct store *s, const char *key, json_t *record)
{
	int ret;

	json_object_set_new(record, "key", json_string(key));
	json_object_set_new(record, "at", json_integer(time(NULL)));
	ret = write_line(s, record);
	if (ret)
		json_decref(record);
	else
		json_object_set_new(s->runs, key, record);
	return ret;
}

/**
 * store_log - name the log of a run
 * @s: the store
 * @key: the run's key
 *
 * Return: a path below @s->logs, to be freed.
 */
char *store_log(const struct store *s, const char *key)
{
	char *path = xasprintf("%s/%s.log", s->logs, key), *p;

	for (p = path + strlen(s->logs) + 1; *p; p++)
		if (strchr("/ =,", *p))
			*p = '-';
	return path;
}

/**
 * store_close - close the store and give up the lock
 * @s: the store
 */
void store_close(struct store *s)
{
	json_decref(s->header);
	json_decref(s->runs);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s->logs);
	*s = (struct store){ .fd = -1 };
}
