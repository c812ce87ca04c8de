/* SPDX-License-Identifier: GPL-2.0 */
/* Raw spinlocks that tell on who takes one twice or spins in an NMI. */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <linux/spinlock_types.h>
#include <linux/irqflags.h>
#include <linux/bug.h>
#include <linux/lockdep.h>

void shim_spin_wait(raw_spinlock_t *lock);

static inline bool shim_spin_try(raw_spinlock_t *lock)
{
	if (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		return false;
	__atomic_store_n(&lock->owner, shim_self()->id, __ATOMIC_RELAXED);
	shim_self()->raw_locks++;
	return true;
}

static inline void shim_spin_release(raw_spinlock_t *lock)
{
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != shim_self()->id)
		shim_fault("a lock is released by who does not hold it");
	shim_self()->raw_locks--;
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	preempt_disable();
	while (unlikely(!shim_spin_try(lock)))
		shim_spin_wait(lock);
}

static inline bool raw_spin_trylock(raw_spinlock_t *lock)
{
	preempt_disable();
	if (shim_spin_try(lock))
		return true;
	preempt_enable();
	return false;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	shim_spin_release(lock);
	preempt_enable();
}

#define raw_spin_lock_init(l)	(*(l) = (raw_spinlock_t){})
#define raw_spin_is_locked(l)	READ_ONCE((l)->locked)
#define assert_raw_spin_locked(l) BUG_ON(!raw_spin_is_locked(l))

#define raw_spin_lock_irqsave(lock, flags)	\
do {						\
	shim_call_hook(&shim_self()->lock_hook); \
	local_irq_save(flags);			\
	raw_spin_lock(lock);			\
	shim_call_hook(&shim_self()->locked_hook); \
} while (0)

#define raw_spin_unlock_irqrestore(lock, flags)	\
do {						\
	raw_spin_unlock(lock);			\
	local_irq_restore(flags);		\
} while (0)

#define raw_spin_trylock_irqsave(lock, flags)	\
({						\
	bool __shim_got;			\
						\
	local_irq_save(flags);			\
	__shim_got = raw_spin_trylock(lock);	\
	if (!__shim_got)			\
		local_irq_restore(flags);	\
	__shim_got;				\
})

#define spin_lock			raw_spin_lock
#define spin_unlock			raw_spin_unlock
#define spin_lock_irqsave		raw_spin_lock_irqsave
#define spin_unlock_irqrestore		raw_spin_unlock_irqrestore

#endif /* SHIM_LINUX_SPINLOCK_H */
