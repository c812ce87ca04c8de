/* SPDX-License-Identifier: GPL-2.0 */
/* What is left of many headers of the kernel here: those that the Makefile forwards to this one. */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/kmsan-checks.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/printk.h>
#include <linux/bug.h>
#include <shim/shim.h>

/* linux/cache.h */
#define L1_CACHE_BYTES		64
#define L1_CACHE_SHIFT		6
#define SMP_CACHE_BYTES		L1_CACHE_BYTES
#define __read_mostly
#define __ro_after_init
#define ____cacheline_aligned	__aligned(L1_CACHE_BYTES)
#define ____cacheline_aligned_in_smp ____cacheline_aligned
#define __cacheline_aligned	____cacheline_aligned
#define __cacheline_aligned_in_smp ____cacheline_aligned

/* linux/export.h */
#define EXPORT_SYMBOL(sym)
#define EXPORT_SYMBOL_GPL(sym)

/* linux/kasan-enabled.h, linux/kasan.h, linux/kmsan.h, linux/kmemleak.h */
#define kasan_enabled()				(shim_kasan_enabled != 0)
#define kasan_hw_tags_enabled()			false
#define kasan_reset_tag(p)			((void *)(p))
#define kasan_disable_current()			((void)0)
#define kasan_enable_current()			((void)0)
#define kmemleak_not_leak(p)			((void)(p))
#define kmemleak_ignore(p)			((void)(p))

/* linux/processor.h */
void shim_cpu_relax(void);
#define cpu_relax()		shim_cpu_relax()
#define prefetch(p)		__builtin_prefetch(p)
#define prefetchw(p)		__builtin_prefetch(p, 1)

/* linux/sched.h and what it includes */
struct task_struct;
#define current				((struct task_struct *)shim_self())
#define in_sched_functions(addr)	false
#define try_get_task_stack(task)	((void *)(task))
#define put_task_stack(task)		((void)(task))
#define cond_resched()		__might_sleep(__FILE__, __LINE__)
void __might_sleep(const char *file, int line);

/* linux/device.h: nobody here has one */
struct device;
#define devm_add_action_or_reset(dev, action, data)	((void)(action), -EOPNOTSUPP)

/* linux/random.h */
#define get_random_u32()	shim_random_u32()

/* linux/ktime.h, linux/jiffies.h */
#define HZ			250
#define jiffies			((unsigned long)(shim_time_ns() / (1000000000 / HZ)))
#define ktime_get_ns()		shim_time_ns()
#define local_clock()		shim_time_ns()
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define msecs_to_jiffies(ms)	((unsigned long)(ms) * HZ / 1000)

#endif /* SHIM_KERNEL_H */
