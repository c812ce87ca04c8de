/* SPDX-License-Identifier: GPL-2.0 */
/* Work for a hard interrupt: done by the thread that queued it, once it may be interrupted. */
#ifndef SHIM_LINUX_IRQ_WORK_H
#define SHIM_LINUX_IRQ_WORK_H

#include <linux/types.h>

struct irq_work {
	void (*func)(struct irq_work *work);
	struct irq_work *next;
	int queued;
};

#define IRQ_WORK_INIT(fn)	{ .func = (fn) }
#define DEFINE_IRQ_WORK(name, fn) struct irq_work name = IRQ_WORK_INIT(fn)

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
	*work = (struct irq_work)IRQ_WORK_INIT(func);
}

bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

#endif /* SHIM_LINUX_IRQ_WORK_H */
