/* SPDX-License-Identifier: GPL-2.0 */
/* The thread's CPU number. */
#ifndef SHIM_LINUX_SMP_H
#define SHIM_LINUX_SMP_H

#include <linux/preempt.h>
#include <linux/cpumask.h>

#define raw_smp_processor_id()	(shim_self()->cpu)
#define smp_processor_id()	(shim_self()->cpu)
#define __smp_processor_id()	(shim_self()->cpu)
#define get_cpu()		({ preempt_disable(); shim_self()->cpu; })
#define put_cpu()		preempt_enable()

#endif /* SHIM_LINUX_SMP_H */
