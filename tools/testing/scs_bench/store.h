/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store of finished runs: a file of JSON lines that only grows and survives whatever happens.
 */
#ifndef SCS_BENCH_STORE_H
#define SCS_BENCH_STORE_H

#include <jansson.h>
#include <stdbool.h>

#include "util.h"

/**
 * struct store - an open store
 * @path: the file
 * @logs: directory beside it, for the logs of the runs
 * @fd: the file, locked
 * @size: bytes of whole lines in it
 * @header: its first line: what is measured
 * @runs: object of the finished runs by their keys
 */
struct store {
	char *path;
	char *logs;
	int fd;
	off_t size;
	json_t *header;
	json_t *runs;
};

int store_open(struct store *s, const char *path, const char *command, json_t *identity,
	       u64 *seed, bool resume);
json_t *store_find(const struct store *s, const char *key);
int store_append(struct store *s, const char *key, json_t *record);
char *store_log(const struct store *s, const char *key);
bool store_disk_full(const struct store *s);
void store_close(struct store *s);

#endif /* SCS_BENCH_STORE_H */
