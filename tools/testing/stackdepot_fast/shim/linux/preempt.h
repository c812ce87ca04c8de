/* SPDX-License-Identifier: GPL-2.0 */
/* Contexts, preemption and interrupts, per thread. */
#ifndef SHIM_LINUX_PREEMPT_H
#define SHIM_LINUX_PREEMPT_H

#include <linux/linkage.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <shim/shim.h>

static inline void preempt_disable(void)
{
	struct shim_thread *self = shim_self();

	self->preempt_off++;
	shim_pin(self);
	shim_reader_enter(self);
}

static inline void preempt_enable(void)
{
	struct shim_thread *self = shim_self();

	shim_reader_exit(self);
	shim_unpin(self);
	self->preempt_off--;
}

#define preempt_disable_notrace		preempt_disable
#define preempt_enable_notrace		preempt_enable
#define preempt_enable_no_resched	preempt_enable
#define migrate_disable			preempt_disable
#define migrate_enable			preempt_enable

#define in_nmi()		(shim_self()->nmi != 0)
#define in_hardirq()		(shim_self()->hardirq != 0)
#define in_irq()		in_hardirq()
#define in_serving_softirq()	(shim_self()->softirq != 0)
#define in_softirq()		in_serving_softirq()
#define in_interrupt()		(in_nmi() || in_hardirq() || in_softirq())
#define in_task()		(!in_interrupt())
#define in_atomic()		(shim_self()->reader_nest != 0)
#define preempt_count()		shim_preempt_count(shim_self())
#define preemptible()		(!preempt_count() && !shim_self()->irqs_off)

static inline unsigned int shim_preempt_count(const struct shim_thread *self)
{
	return self->preempt_off + self->nmi + self->hardirq + self->softirq;
}

#endif /* SHIM_LINUX_PREEMPT_H */
