/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's string functions, which need no header of it. */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/overflow.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
char *strsep(char **s, const char *sep);
size_t strspn(const char *s, const char *accept);
unsigned long long memparse(const char *s, char **end);
char *skip_spaces(const char *s);

static inline void *memset64(u64 *s, u64 v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s[i] = v;
	return s;
}

static inline void *memset32(u32 *s, u32 v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s[i] = v;
	return s;
}

#define sysfs_streq(a, b)	(!strcmp(a, b))

/* The first byte that is not @c, or NULL. */
static inline void *memchr_inv(const void *start, int c, size_t size)
{
	const unsigned char *p = start;

	for (; size; size--, p++)
		if (*p != (unsigned char)c)
			return (void *)p;
	return NULL;
}

#endif /* SHIM_LINUX_STRING_H */
