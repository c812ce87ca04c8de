// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, progress, growing arrays of strings, and whole-file reading and writing for scs_bench.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define TAIL_LINES 12

static unsigned int progress_total;
static unsigned int progress_done;
static double progress_began;
/* Seconds that are left, or less than 0 while that is not known. */
static double progress_rest = -1;

/**
 * xrealloc - realloc() that ends the program when there is no memory
 * @ptr: memory to resize, or NULL
 * @size: its new size in bytes
 *
 * Return: the memory.
 */
void *xrealloc(void *ptr, size_t size)
{
	ptr = realloc(ptr, size);
	if (!ptr) {
		bench_err("out of memory: close other programs, or shorten the logs");
		exit(EXIT_FAILED);
	}
	return ptr;
}

/**
 * xstrdup - strdup() that ends the program when there is no memory
 * @s: the string
 *
 * Return: its copy.
 */
char *xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xrealloc(NULL, size), s, size);
}

/**
 * set_string - give a string variable another value
 * @var: the variable: NULL, or memory of its own, which is freed
 * @value: what is copied to it
 */
void set_string(char **var, const char *value)
{
	free(*var);
	*var = xstrdup(value);
}

/**
 * xvasprintf - format into a new string
 * @fmt: as for vprintf()
 * @ap: its arguments
 *
 * Return: the string.
 */
char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0) {
		bench_err("out of memory: close other programs, or shorten the logs");
		exit(EXIT_FAILED);
	}
	return s;
}

/**
 * xasprintf - format into a new string
 * @fmt: as for printf()
 *
 * Return: the string.
 */
char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

/**
 * strv_add - append a formatted string
 * @sv: the array
 * @fmt: as for printf()
 */
void strv_add(struct strv *sv, const char *fmt, ...)
{
	va_list ap;

	sv->v = xrealloc(sv->v, (sv->n + 2) * sizeof(*sv->v));
	va_start(ap, fmt);
	sv->v[sv->n++] = xvasprintf(fmt, ap);
	va_end(ap);
	sv->v[sv->n] = NULL;
}

/**
 * strv_add_once - append a string, unless the array has it
 * @sv: the array
 * @text: the string
 */
void strv_add_once(struct strv *sv, const char *text)
{
	size_t i;

	for (i = 0; i < sv->n; i++)
		if (!strcmp(sv->v[i], text))
			return;
	strv_add(sv, "%s", text);
}

/**
 * strv_split - append the non-empty parts of a text
 * @sv: the array
 * @text: the text
 * @separators: characters that separate parts
 */
void strv_split(struct strv *sv, const char *text, const char *separators)
{
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, separators);
		len = strcspn(text, separators);
		if (len)
			strv_add(sv, "%.*s", (int)len, text);
	}
}

/**
 * strv_free - free the strings and empty the array
 * @sv: the array
 */
void strv_free(struct strv *sv)
{
	size_t i;

	for (i = 0; i < sv->n; i++)
		free(sv->v[i]);
	free(sv->v);
	sv->v = NULL;
	sv->n = 0;
}

/**
 * bench_err - print an error message
 * @fmt: as for printf(); says what to do about it, too
 */
void bench_err(const char *fmt, ...)
{
	va_list ap;

	fputs("scs_bench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * progress_start - begin to count steps
 * @total: how many there will be
 */
void progress_start(unsigned int total)
{
	progress_total = total;
	progress_done = 0;
	progress_began = now_seconds();
	progress_rest = -1;
}

/**
 * progress_left - say how much time all that is left will take
 * @seconds: that time; 0 when it is not known
 */
void progress_left(double seconds)
{
	progress_rest = seconds > 0 ? seconds : -1;
}

/**
 * progress_skip - count a step that need not be done
 */
void progress_skip(void)
{
	progress_done++;
}

/**
 * progress_step - say which step begins
 * @fmt: as for printf(): what the step does
 */
void progress_step(const char *fmt, ...)
{
	unsigned int elapsed = now_seconds() - progress_began;
	va_list ap;

	fprintf(stderr, "[%3u/%u %02u:%02u", ++progress_done, progress_total, elapsed / 60,
		elapsed % 60);
	if (progress_rest >= 0)
		fprintf(stderr, ", %02u:%02u left", (unsigned int)progress_rest / 60,
			(unsigned int)progress_rest % 60);
	fputs("] ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * parse_uint - read a whole number
 * @text: the number and nothing else
 * @min: the least that is allowed
 * @max: the greatest that is allowed
 * @value: the result
 *
 * Return: false when it is not such a number.
 */
bool parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *value)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (*end || errno || number < min || number > max)
		return false;
	*value = number;
	return true;
}

/**
 * parse_seconds - read a time limit: seconds, from a tenth to a day
 * @text: the number and nothing else
 * @seconds: the result
 *
 * Return: false when it is not such a number.
 */
bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*seconds = strtod(text, &end);
	return !*end && *seconds >= 0.1 && *seconds <= 86400;
}

/**
 * now_seconds - read the monotonic clock
 *
 * Return: seconds since some fixed point.
 */
double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/**
 * read_file - read a whole file
 * @path: the file
 * @len: where its length goes, or NULL
 *
 * Return: its text, terminated, to be freed; NULL with errno set when it cannot be read.
 */
char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	size_t size = 32768, n = 0;
	char *text = NULL;
	int err;

	if (!f)
		return NULL;
	do {
		size *= 2;
		text = xrealloc(text, size);
		n += fread(text + n, 1, size - n - 1, f);
	} while (n == size - 1);
	err = ferror(f) ? EIO : 0;
	fclose(f);
	if (err) {
		free(text);
		errno = err;
		return NULL;
	}
	text[n] = '\0';
	if (len)
		*len = n;
	return text;
}

/**
 * write_file_atomic - write a file so that it is there whole or not at all
 * @path: the file
 * @text: what it shall hold
 *
 * Return: 0, or -1 with errno set; then @path is as it was before.
 */
int write_file_atomic(const char *path, const char *text)
{
	char *tmp = xasprintf("%s.tmp", path);
	size_t len = strlen(text);
	FILE *f = fopen(tmp, "w");
	int err = 0;

	if (!f) {
		err = errno;
	} else {
		if (fwrite(text, 1, len, f) != len || fflush(f) || fsync(fileno(f)))
			err = errno;
		if (fclose(f) && !err)
			err = errno;
		if (!err && rename(tmp, path))
			err = errno;
		if (err)
			unlink(tmp);
	}
	free(tmp);
	errno = err;
	return err ? -1 : 0;
}

/**
 * show_log_tail - print the last lines of a log to stderr
 * @path: the log
 */
void show_log_tail(const char *path)
{
	size_t len, lines = 0;
	char *text = read_file(path, &len), *p;

	if (!text || !len) {
		fprintf(stderr, "  (the log %s is empty)\n", path);
		free(text);
		return;
	}
	for (p = text + len - 1; p > text; p--)
		if (*p == '\n' && p[1] && ++lines == TAIL_LINES)
			break;
	if (*p == '\n')
		p++;
	fprintf(stderr, "  last lines of %s:\n", path);
	while (*p) {
		size_t n = strcspn(p, "\n");

		fprintf(stderr, "  | %.*s\n", (int)strcspn(p, "\r\n"), p);
		p += n + !!p[n];
	}
	free(text);
}
