/* SPDX-License-Identifier: GPL-2.0 */
/* Formatting, with the kernel's %pS. */
#ifndef SHIM_LINUX_SPRINTF_H
#define SHIM_LINUX_SPRINTF_H

#include <linux/stdarg.h>
#include <linux/types.h>
#include <shim/shim.h>

#define snprintf	shim_snprintf
#define vsnprintf	shim_vsnprintf

static inline int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int n = shim_vsnprintf(buf, size, fmt, args);

	if (n < (int)size)
		return n;
	return size ? size - 1 : 0;
}

static inline int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

#endif /* SHIM_LINUX_SPRINTF_H */
