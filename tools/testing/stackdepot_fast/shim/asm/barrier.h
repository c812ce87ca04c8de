/* SPDX-License-Identifier: GPL-2.0 */
/* Memory barriers, by the compiler's atomics. */
#ifndef SHIM_ASM_BARRIER_H
#define SHIM_ASM_BARRIER_H

#include <linux/compiler.h>
#include <shim/shim.h>

#define __smp_mb()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __smp_rmb()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define __smp_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)

#define __smp_store_release(p, v)						\
do {										\
	__typeof_unqual__(*(p)) __shim_v = (v);				\
										\
	__atomic_store((typeof(__shim_v) *)(unsigned long)(p), &__shim_v,	\
		       __ATOMIC_RELEASE);					\
} while (0)

#define __smp_load_acquire(p)							\
({										\
	__typeof_unqual__(*(p)) __shim_v;					\
										\
	__atomic_load((typeof(__shim_v) *)(unsigned long)(p), &__shim_v,	\
		      __ATOMIC_ACQUIRE);					\
	(typeof(*(p)))__shim_v;							\
})

/* ThreadSanitizer sees no fences: what follows is to be a release, see asm/atomic.h. */
#if __has_feature(thread_sanitizer)
#define __smp_mb__before_atomic()						\
do {										\
	__smp_mb();								\
	shim_self()->fenced = 1;						\
} while (0)
#endif

#include <asm-generic/barrier.h>

#endif /* SHIM_ASM_BARRIER_H */
