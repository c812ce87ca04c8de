/* SPDX-License-Identifier: GPL-2.0 */
/* Assertions about who holds a lock. */
#ifndef SHIM_LINUX_LOCKDEP_H
#define SHIM_LINUX_LOCKDEP_H

#include <linux/bug.h>
#include <linux/spinlock_types.h>

#define shim_lock_held(l) \
	(READ_ONCE((l)->locked) && READ_ONCE((l)->owner) == shim_self()->id)
#define lockdep_is_held(l)		shim_lock_held(l)
#define lockdep_assert_held(l)		WARN_ON(!shim_lock_held(l))
#define lockdep_assert_not_held(l)	WARN_ON(shim_lock_held(l) && !in_nmi())

#endif /* SHIM_LINUX_LOCKDEP_H */
