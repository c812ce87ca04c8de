/* SPDX-License-Identifier: GPL-2.0 */
/* WARN() and BUG(): counted, and fatal unless the test expects them. */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/printk.h>
#include <shim/shim.h>

#define WARN(condition, fmt, ...)						\
({										\
	bool __shim_warn = !!(condition);					\
										\
	if (unlikely(__shim_warn))						\
		shim_warn(__FILE__, __LINE__, fmt, ##__VA_ARGS__);	\
	unlikely(__shim_warn);							\
})

#define WARN_ON(condition)	WARN(condition, "%s", #condition)

/* As the kernel's, it forgets nothing when two threads get here at once. */
#define WARN_ONCE(condition, fmt, ...)						\
({										\
	static bool __shim_once;						\
	bool __shim_cond = !!(condition);					\
										\
	if (unlikely(__shim_cond) && !__atomic_exchange_n(&__shim_once, true, __ATOMIC_RELAXED)) \
		shim_warn(__FILE__, __LINE__, fmt, ##__VA_ARGS__);	\
	unlikely(__shim_cond);							\
})

#define WARN_ON_ONCE(condition)	WARN_ONCE(condition, "%s", #condition)
#define WARN_TAINT(condition, taint, fmt, ...)	WARN(condition, fmt, ##__VA_ARGS__)

#define BUG()			shim_fault("BUG at %s:%d", __FILE__, __LINE__)
#define BUG_ON(condition)						\
do {									\
	if (unlikely(condition))					\
		shim_fault("BUG at %s:%d: %s", __FILE__, __LINE__, #condition); \
} while (0)

#endif /* SHIM_LINUX_BUG_H */
