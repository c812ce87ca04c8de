/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel log, which tests read with shim_log(). */
#ifndef SHIM_LINUX_PRINTK_H
#define SHIM_LINUX_PRINTK_H

#include <linux/stdarg.h>
#include <linux/kern_levels.h>
#include <linux/linkage.h>
#include <linux/types.h>
#include <shim/shim.h>

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif

#define printk(fmt, ...)	shim_printk(fmt, ##__VA_ARGS__)
#define printk_deferred		printk
#define pr_emerg(fmt, ...)	printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert		pr_emerg
#define pr_crit			pr_emerg
#define pr_err			pr_emerg
#define pr_warn			pr_emerg
#define pr_notice		pr_emerg
#define pr_info			pr_emerg
#define pr_cont			pr_emerg
#define pr_debug(fmt, ...)	((void)0)

#define printk_once(fmt, ...)						\
do {									\
	static bool __shim_once;					\
									\
	if (!__atomic_exchange_n(&__shim_once, true, __ATOMIC_RELAXED))	\
		printk(fmt, ##__VA_ARGS__);				\
} while (0)

#define pr_err_once(fmt, ...)	printk_once(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_once		pr_err_once
#define pr_info_once		pr_err_once
#define pr_notice_once		pr_err_once
#define pr_err_ratelimited	pr_err
#define pr_warn_ratelimited	pr_warn
#define pr_info_ratelimited	pr_info

/*
 * The kernel counts per CPU, so what defers must stay on its CPU. Upstream's depot
 * doesn't see to that.
 */
static inline void shim_printk_deferred(int unit, int by)
{
	struct shim_thread *self = shim_self();

	if (unit != SHIM_UPSTREAM && !self->pins)
		shim_fault("printk is deferred by who may move to another CPU");
	self->deferring += by;
}

#define printk_deferred_enter()	shim_printk_deferred(SHIM_UNIT, 1)
#define printk_deferred_exit()	shim_printk_deferred(SHIM_UNIT, -1)

#endif /* SHIM_LINUX_PRINTK_H */
