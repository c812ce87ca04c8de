/* SPDX-License-Identifier: GPL-2.0 */
/* The raw spinlock's type. */
#ifndef SHIM_LINUX_SPINLOCK_TYPES_H
#define SHIM_LINUX_SPINLOCK_TYPES_H

#include <linux/types.h>

typedef struct raw_spinlock {
	unsigned int locked;
	unsigned int owner;
} raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(name)	((raw_spinlock_t){})
#define __RAW_SPIN_LOCK_INITIALIZER(name) {}
#define DEFINE_RAW_SPINLOCK(name)	raw_spinlock_t name

#endif /* SHIM_LINUX_SPINLOCK_TYPES_H */
