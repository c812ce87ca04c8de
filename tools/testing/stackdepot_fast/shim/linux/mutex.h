/* SPDX-License-Identifier: GPL-2.0 */
/* Mutexes, which nobody may take where sleeping is not allowed. */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

#include <linux/spinlock_types.h>
#include <shim/shim.h>

struct mutex {
	unsigned int locked;
	unsigned int owner;
};

#define DEFINE_MUTEX(name)	struct mutex name = {}

void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int mutex_trylock(struct mutex *lock);

#define mutex_lock_interruptible(lock)	(mutex_lock(lock), 0)

#endif /* SHIM_LINUX_MUTEX_H */
