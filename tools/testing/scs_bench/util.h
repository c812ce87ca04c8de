/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages, progress, growing arrays of strings, and whole-file reading and writing for scs_bench.
 */
#ifndef SCS_BENCH_UTIL_H
#define SCS_BENCH_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit codes of every subcommand. */
enum {
	EXIT_OK		= 0,
	EXIT_FAILED	= 1,	/* a run failed, or a difference was found */
	EXIT_UNUSABLE	= 2,	/* arguments or input that cannot be used */
	EXIT_INTERRUPTED = 130,
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))

typedef unsigned long long u64;

/**
 * struct strv - a growing array of strings that it owns
 * @v: the strings, followed by NULL (NULL itself while empty)
 * @n: how many there are
 */
struct strv {
	char **v;
	size_t n;
};

__printf(2, 3)
void strv_add(struct strv *sv, const char *fmt, ...);
void strv_add_once(struct strv *sv, const char *text);
void strv_split(struct strv *sv, const char *text, const char *separators);
void strv_free(struct strv *sv);

void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *s);
void set_string(char **var, const char *value);
__printf(1, 2)
char *xasprintf(const char *fmt, ...);
__printf(1, 0)
char *xvasprintf(const char *fmt, va_list ap);

__printf(1, 2)
void bench_err(const char *fmt, ...);

void progress_start(unsigned int total);
void progress_left(double seconds);
void progress_skip(void);
__printf(1, 2)
void progress_step(const char *fmt, ...);

bool parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *value);
bool parse_seconds(const char *text, double *seconds);

double now_seconds(void);
char *read_file(const char *path, size_t *len);
int write_file_atomic(const char *path, const char *text);
void show_log_tail(const char *path);

#endif /* SCS_BENCH_UTIL_H */
