/* SPDX-License-Identifier: GPL-2.0 */
/* Data per CPU: as in the kernel, copies of a section, at an offset that the CPU number selects. */
#ifndef SHIM_LINUX_PERCPU_DEFS_H
#define SHIM_LINUX_PERCPU_DEFS_H

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <shim/shim.h>

#define DEFINE_PER_CPU(type, name)	__section("shim_percpu") typeof(type) name
#define DECLARE_PER_CPU(type, name)	extern __section("shim_percpu") typeof(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) DEFINE_PER_CPU(type, name) __aligned(64)
#define DEFINE_PER_CPU_SHARED_ALIGNED	DEFINE_PER_CPU_ALIGNED
#define DEFINE_PER_CPU_READ_MOSTLY	DEFINE_PER_CPU

#define per_cpu_ptr(ptr, cpu) \
	((typeof(*(ptr)) *)((unsigned long)(ptr) + shim_percpu_offset[SHIM_UNIT][cpu]))
#define raw_cpu_ptr(ptr)		per_cpu_ptr(ptr, shim_self()->cpu)
#define this_cpu_ptr(ptr)		raw_cpu_ptr(ptr)
#define per_cpu(var, cpu)		(*per_cpu_ptr(&(var), cpu))
#define get_cpu_ptr(ptr)		({ preempt_disable(); raw_cpu_ptr(ptr); })
#define put_cpu_ptr(ptr)		preempt_enable()
#define get_cpu_var(var)		(*get_cpu_ptr(&(var)))
#define put_cpu_var(var)		preempt_enable()

/* Those of this_cpu are one step to interrupts and, threads sharing a CPU, to other threads. */
#define this_cpu_read(var)		READ_ONCE(*raw_cpu_ptr(&(var)))
#define this_cpu_write(var, val)	WRITE_ONCE(*raw_cpu_ptr(&(var)), val)
#define this_cpu_add(var, val) \
	((void)__atomic_fetch_add(raw_cpu_ptr(&(var)), val, __ATOMIC_RELAXED))
#define this_cpu_sub(var, val) \
	((void)__atomic_fetch_sub(raw_cpu_ptr(&(var)), val, __ATOMIC_RELAXED))
#define this_cpu_inc(var)		this_cpu_add(var, 1)
#define this_cpu_dec(var)		this_cpu_sub(var, 1)
#define this_cpu_add_return(var, val) \
	__atomic_add_fetch(raw_cpu_ptr(&(var)), val, __ATOMIC_RELAXED)
#define this_cpu_inc_return(var)	this_cpu_add_return(var, 1)
#define this_cpu_xchg(var, val)		xchg_relaxed(raw_cpu_ptr(&(var)), val)
#define this_cpu_cmpxchg(var, o, n)	cmpxchg_relaxed(raw_cpu_ptr(&(var)), o, n)
#define this_cpu_try_cmpxchg(var, o, n)	try_cmpxchg_relaxed(raw_cpu_ptr(&(var)), o, n)

/* Those of raw_cpu are two: others in between are forgotten. */
#define raw_cpu_read			this_cpu_read
#define raw_cpu_write			this_cpu_write
#define raw_cpu_add(var, val)						\
do {									\
	typeof(var) *__shim_var = raw_cpu_ptr(&(var));			\
									\
	WRITE_ONCE(*__shim_var, READ_ONCE(*__shim_var) + (val));	\
} while (0)
#define raw_cpu_sub(var, val)		raw_cpu_add(var, -(val))
#define raw_cpu_inc(var)		raw_cpu_add(var, 1)
#define raw_cpu_dec(var)		raw_cpu_sub(var, 1)
#define __this_cpu_read			raw_cpu_read
#define __this_cpu_write		raw_cpu_write
#define __this_cpu_add			raw_cpu_add
#define __this_cpu_sub			raw_cpu_sub
#define __this_cpu_inc			raw_cpu_inc
#define __this_cpu_dec			raw_cpu_dec

#endif /* SHIM_LINUX_PERCPU_DEFS_H */
