// SPDX-License-Identifier: GPL-2.0
/* The kernel log, warnings, and the faults that end a test. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define LOG_SIZE	(256 * 1024)

static struct log {
	unsigned int lock;
	unsigned int len;
	unsigned long warnings;
	unsigned long deferred;
	char text[LOG_SIZE];
} kernel_log;

static int warnings_expected;
static const char *text_expected;

void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* Interrupts allocate, but not while their thread is in the C library: see mem.c. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0:halt_on_error=1";
}

/* The kernel's pointer formats lose the letters after %p. */
static void plain_format(const char *fmt, char *out, size_t size)
{
	size_t n = 0;

	while (*fmt && n + 2 < size) {
		if (fmt[0] == '%' && fmt[1] == '%') {
			out[n++] = *fmt++;
		} else if (fmt[0] == '%') {
			while (*fmt && !strchr("diouxXpscn", *fmt) && n + 2 < size)
				out[n++] = *fmt++;
			if (*fmt == 'p') {
				out[n++] = *fmt++;
				while (*fmt && strchr("SsBbxK", *fmt))
					fmt++;
				continue;
			}
		}
		if (*fmt)
			out[n++] = *fmt++;
	}
	out[n] = 0;
}

int shim_vsnprintf(char *buf, unsigned long size, const char *fmt, va_list args)
{
	char plain[512];

	plain_format(fmt, plain, sizeof(plain));
	return vsnprintf(buf, size, plain, args);
}

int shim_snprintf(char *buf, unsigned long size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = shim_vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

static void log_add(const char *text)
{
	struct log *log = &kernel_log;
	size_t len = strlen(text);
	int tries = 0;

	/* The thread that has the lock may be the one below this handler. */
	while (__atomic_exchange_n(&log->lock, 1, __ATOMIC_ACQUIRE)) {
		if (++tries > 100000)
			return;
	}
	if (len < LOG_SIZE - log->len) {
		memcpy(log->text + log->len, text, len + 1);
		log->len += len;
	}
	__atomic_store_n(&log->lock, 0, __ATOMIC_RELEASE);
}

void shim_printk(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	/* A log level. */
	if (fmt[0] == 1 && fmt[1])
		fmt += 2;
	va_start(args, fmt);
	shim_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_add(text);
}

const char *shim_log(void)
{
	return kernel_log.text;
}

void shim_log_clear(void)
{
	kernel_log.len = 0;
	kernel_log.text[0] = 0;
}

void shim_fault(const char *fmt, ...)
{
	va_list args;

	fputs("FAULT: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	if (__sanitizer_print_stack_trace)
		__sanitizer_print_stack_trace();
	abort();
}

void shim_warn(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	shim_vsnprintf(text, sizeof(text) - 1, fmt, args);
	va_end(args);
	__atomic_fetch_add(&kernel_log.warnings, 1, __ATOMIC_RELAXED);
	if (shim_self()->deferring)
		__atomic_fetch_add(&kernel_log.deferred, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&warnings_expected, __ATOMIC_RELAXED) &&
	    !(text_expected && strstr(text, text_expected)))
		shim_fault("unexpected warning at %s:%d: %s", file, line, text);
	log_add("WARNING: ");
	log_add(text);
	log_add("\n");
}

void shim_expect_warnings(int expect)
{
	__atomic_store_n(&warnings_expected, expect, __ATOMIC_RELAXED);
}

void shim_expect_text(const char *text)
{
	text_expected = text;
}

unsigned long shim_warnings(void)
{
	return __atomic_load_n(&kernel_log.warnings, __ATOMIC_RELAXED);
}

unsigned long shim_warnings_deferred(void)
{
	return __atomic_load_n(&kernel_log.deferred, __ATOMIC_RELAXED);
}
