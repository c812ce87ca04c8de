/* SPDX-License-Identifier: GPL-2.0 */
/* RCU over the little grace-period engine of rcu.c. */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#include <linux/compiler.h>
#include <linux/atomic.h>
#include <linux/preempt.h>
#include <linux/lockdep.h>
#include <shim/shim.h>

static inline void rcu_read_lock(void)
{
	struct shim_thread *self = shim_self();

	self->rcu_nest++;
	shim_reader_enter(self);
}

static inline void rcu_read_unlock(void)
{
	struct shim_thread *self = shim_self();

	shim_reader_exit(self);
	self->rcu_nest--;
}

#define rcu_read_lock_sched		rcu_read_lock
#define rcu_read_unlock_sched		rcu_read_unlock
#define rcu_read_lock_sched_notrace	rcu_read_lock
#define rcu_read_unlock_sched_notrace	rcu_read_unlock
#define rcu_read_lock_held()		(shim_self()->reader_nest != 0)
#define rcu_read_lock_sched_held()	rcu_read_lock_held()
#define rcu_read_lock_any_held()	rcu_read_lock_held()
#define RCU_LOCKDEP_WARN(c, s)		WARN_ONCE(c, s)

#define RCU_INITIALIZER(v)		((typeof(*(v)) *)(v))
#define RCU_INIT_POINTER(p, v)		WRITE_ONCE(p, v)
#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)
#define rcu_dereference_raw(p)		READ_ONCE(p)
#define rcu_dereference(p)		READ_ONCE(p)
#define rcu_dereference_sched(p)	READ_ONCE(p)
#define rcu_dereference_check(p, c)	READ_ONCE(p)
#define rcu_dereference_protected(p, c)	(p)
#define rcu_access_pointer(p)		READ_ONCE(p)

#define get_state_synchronize_rcu()	shim_rcu_get_state()
#define start_poll_synchronize_rcu()	shim_rcu_start_poll()
#define poll_state_synchronize_rcu(s)	((bool)shim_rcu_poll_state(s))
#define synchronize_rcu()		shim_rcu_synchronize()

#endif /* SHIM_LINUX_RCUPDATE_H */
