/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts off and on, per thread; one that comes in between is run when they are on again. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include <linux/preempt.h>
#include <linux/typecheck.h>

static inline unsigned long shim_irq_save(void)
{
	struct shim_thread *self = shim_self();
	unsigned long flags = self->irqs_off;

	/* What an NMI does is no different where they are off already. */
	if (!flags || self->nmi)
		shim_call_hook(&self->irq_hook);
	self->irqs_off = 1;
	if (!flags) {
		shim_pin(self);
		shim_reader_enter(self);
	}
	return flags;
}

static inline void shim_irq_restore(unsigned long flags)
{
	struct shim_thread *self = shim_self();

	if (flags || !self->irqs_off)
		return;
	shim_reader_exit(self);
	shim_unpin(self);
	self->irqs_off = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(self->irq_pending))
		shim_irq_run_pending();
}

#define local_irq_save(flags)		((flags) = shim_irq_save())
#define local_irq_restore(flags)	shim_irq_restore(flags)
#define local_irq_disable()		((void)shim_irq_save())
#define local_irq_enable()		shim_irq_restore(0)
#define raw_local_irq_save		local_irq_save
#define raw_local_irq_restore		local_irq_restore
#define raw_local_irq_disable		local_irq_disable
#define raw_local_irq_enable		local_irq_enable
#define irqs_disabled()			(shim_self()->irqs_off != 0)
#define raw_irqs_disabled()		irqs_disabled()
#define lockdep_assert_irqs_disabled()	WARN_ON_ONCE(!irqs_disabled())
#define lockdep_assert_preemption_disabled() WARN_ON_ONCE(!in_atomic())

#endif /* SHIM_LINUX_IRQFLAGS_H */
