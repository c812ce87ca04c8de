/* SPDX-License-Identifier: GPL-2.0 */
/* What an architecture provides below linux/atomic.h, by the compiler's atomics. */
#ifndef SHIM_ASM_ATOMIC_H
#define SHIM_ASM_ATOMIC_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

#define ATOMIC64_INIT(i)	{ (i) }

/*
 * ThreadSanitizer sees no fences: the acquire that follows the release in
 * refcount_dec_and_test() has to be part of it.
 */
#if __has_feature(thread_sanitizer)
#define SHIM_FETCH_RELEASE	__ATOMIC_ACQ_REL
#else
#define SHIM_FETCH_RELEASE	__ATOMIC_RELEASE
#endif

#define shim_cmpxchg(ptr, old, new, order)					\
({										\
	__typeof_unqual__(*(ptr)) __shim_o = (old);			\
	__typeof_unqual__(*(ptr)) __shim_n = (new);			\
										\
	__atomic_compare_exchange((typeof(__shim_o) *)(unsigned long)(ptr),	\
				  &__shim_o, &__shim_n, false, order,		\
				  order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED :\
				  order);					\
	(typeof(*(ptr)))__shim_o;						\
})

#define shim_try_cmpxchg(ptr, oldp, new, order)					\
({										\
	__typeof_unqual__(*(ptr)) __shim_n = (new);			\
										\
	__atomic_compare_exchange((typeof(__shim_n) *)(unsigned long)(ptr),	\
				  (typeof(__shim_n) *)(unsigned long)(oldp),	\
				  &__shim_n, false, order,			\
				  order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED :\
				  order);					\
})

#define shim_xchg(ptr, new, order)						\
({										\
	__typeof_unqual__(*(ptr)) __shim_o, __shim_n = (new);		\
										\
	__atomic_exchange((typeof(__shim_n) *)(unsigned long)(ptr), &__shim_n,	\
			  &__shim_o, order);					\
	(typeof(*(ptr)))__shim_o;						\
})

#define arch_cmpxchg(p, o, n)			shim_cmpxchg(p, o, n, __ATOMIC_SEQ_CST)
#define arch_cmpxchg_acquire(p, o, n)		shim_cmpxchg(p, o, n, __ATOMIC_ACQUIRE)
#define arch_cmpxchg_release(p, o, n)		shim_cmpxchg(p, o, n, __ATOMIC_RELEASE)
#define arch_cmpxchg_relaxed(p, o, n)		shim_cmpxchg(p, o, n, __ATOMIC_RELAXED)
#define arch_cmpxchg_local			arch_cmpxchg_relaxed
#define arch_cmpxchg64				arch_cmpxchg
#define arch_cmpxchg64_acquire			arch_cmpxchg_acquire
#define arch_cmpxchg64_release			arch_cmpxchg_release
#define arch_cmpxchg64_relaxed			arch_cmpxchg_relaxed
#define arch_cmpxchg64_local			arch_cmpxchg_relaxed
#define arch_try_cmpxchg(p, o, n)		shim_try_cmpxchg(p, o, n, __ATOMIC_SEQ_CST)
#define arch_try_cmpxchg_acquire(p, o, n)	shim_try_cmpxchg(p, o, n, __ATOMIC_ACQUIRE)
#define arch_try_cmpxchg_release(p, o, n)	shim_try_cmpxchg(p, o, n, __ATOMIC_RELEASE)
#define arch_try_cmpxchg_relaxed(p, o, n)	shim_try_cmpxchg(p, o, n, __ATOMIC_RELAXED)
#define arch_try_cmpxchg64			arch_try_cmpxchg
#define arch_try_cmpxchg64_acquire		arch_try_cmpxchg_acquire
#define arch_try_cmpxchg64_release		arch_try_cmpxchg_release
#define arch_try_cmpxchg64_relaxed		arch_try_cmpxchg_relaxed
#define arch_xchg(p, n)				shim_xchg(p, n, __ATOMIC_SEQ_CST)
#define arch_xchg_acquire(p, n)			shim_xchg(p, n, __ATOMIC_ACQUIRE)
#define arch_xchg_release(p, n)			shim_xchg(p, n, __ATOMIC_RELEASE)
#define arch_xchg_relaxed(p, n)			shim_xchg(p, n, __ATOMIC_RELAXED)

#define SHIM_ATOMIC_VOID(name, atomic, type, op, expr)				\
static __always_inline void arch_##atomic##_##name(type i, atomic##_t *v)	\
{										\
	__atomic_##op(&v->counter, expr, __ATOMIC_RELAXED);			\
}

#if __has_feature(thread_sanitizer)
/* That of set_bit(), after smp_mb__before_atomic(). */
#define SHIM_ATOMIC_OR(atomic, type)						\
static __always_inline void arch_##atomic##_or(type i, atomic##_t *v)		\
{										\
	if (shim_self()->fenced)						\
		__atomic_fetch_or(&v->counter, i, __ATOMIC_RELEASE);		\
	else									\
		__atomic_fetch_or(&v->counter, i, __ATOMIC_RELAXED);		\
	shim_self()->fenced = 0;						\
}
#else
#define SHIM_ATOMIC_OR(atomic, type)						\
	SHIM_ATOMIC_VOID(or, atomic, type, fetch_or, i)
#endif

#define SHIM_ATOMIC_VALUE(name, atomic, type, op, expr, suffix, order)		\
static __always_inline type							\
arch_##atomic##_##name##suffix(type i, atomic##_t *v)				\
{										\
	return __atomic_##op(&v->counter, expr, order);				\
}

#define SHIM_ATOMIC_VALUES(name, atomic, type, op, expr)			\
	SHIM_ATOMIC_VALUE(name, atomic, type, op, expr, , __ATOMIC_SEQ_CST)	\
	SHIM_ATOMIC_VALUE(name, atomic, type, op, expr, _acquire, __ATOMIC_ACQUIRE) \
	SHIM_ATOMIC_VALUE(name, atomic, type, op, expr, _release, SHIM_FETCH_RELEASE) \
	SHIM_ATOMIC_VALUE(name, atomic, type, op, expr, _relaxed, __ATOMIC_RELAXED)

#define SHIM_ATOMIC_TYPE(atomic, type)						\
static __always_inline type arch_##atomic##_read(const atomic##_t *v)		\
{										\
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);			\
}										\
static __always_inline void arch_##atomic##_set(atomic##_t *v, type i)		\
{										\
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);			\
}										\
SHIM_ATOMIC_VOID(add, atomic, type, fetch_add, i)				\
SHIM_ATOMIC_VOID(sub, atomic, type, fetch_sub, i)				\
SHIM_ATOMIC_VOID(and, atomic, type, fetch_and, i)				\
SHIM_ATOMIC_OR(atomic, type)							\
SHIM_ATOMIC_VOID(xor, atomic, type, fetch_xor, i)				\
SHIM_ATOMIC_VOID(andnot, atomic, type, fetch_and, ~i)				\
SHIM_ATOMIC_VALUES(add_return, atomic, type, add_fetch, i)			\
SHIM_ATOMIC_VALUES(sub_return, atomic, type, sub_fetch, i)			\
SHIM_ATOMIC_VALUES(fetch_add, atomic, type, fetch_add, i)			\
SHIM_ATOMIC_VALUES(fetch_sub, atomic, type, fetch_sub, i)			\
SHIM_ATOMIC_VALUES(fetch_and, atomic, type, fetch_and, i)			\
SHIM_ATOMIC_VALUES(fetch_or, atomic, type, fetch_or, i)				\
SHIM_ATOMIC_VALUES(fetch_xor, atomic, type, fetch_xor, i)			\
SHIM_ATOMIC_VALUES(fetch_andnot, atomic, type, fetch_and, ~i)

SHIM_ATOMIC_TYPE(atomic, int)
SHIM_ATOMIC_TYPE(atomic64, s64)

/* linux/atomic/ asks the preprocessor what there is. */
#define arch_atomic_andnot arch_atomic_andnot
#define arch_atomic_add_return arch_atomic_add_return
#define arch_atomic_add_return_acquire arch_atomic_add_return_acquire
#define arch_atomic_add_return_release arch_atomic_add_return_release
#define arch_atomic_add_return_relaxed arch_atomic_add_return_relaxed
#define arch_atomic_sub_return arch_atomic_sub_return
#define arch_atomic_sub_return_acquire arch_atomic_sub_return_acquire
#define arch_atomic_sub_return_release arch_atomic_sub_return_release
#define arch_atomic_sub_return_relaxed arch_atomic_sub_return_relaxed
#define arch_atomic_fetch_add arch_atomic_fetch_add
#define arch_atomic_fetch_add_acquire arch_atomic_fetch_add_acquire
#define arch_atomic_fetch_add_release arch_atomic_fetch_add_release
#define arch_atomic_fetch_add_relaxed arch_atomic_fetch_add_relaxed
#define arch_atomic_fetch_sub arch_atomic_fetch_sub
#define arch_atomic_fetch_sub_acquire arch_atomic_fetch_sub_acquire
#define arch_atomic_fetch_sub_release arch_atomic_fetch_sub_release
#define arch_atomic_fetch_sub_relaxed arch_atomic_fetch_sub_relaxed
#define arch_atomic_fetch_and arch_atomic_fetch_and
#define arch_atomic_fetch_and_acquire arch_atomic_fetch_and_acquire
#define arch_atomic_fetch_and_release arch_atomic_fetch_and_release
#define arch_atomic_fetch_and_relaxed arch_atomic_fetch_and_relaxed
#define arch_atomic_fetch_or arch_atomic_fetch_or
#define arch_atomic_fetch_or_acquire arch_atomic_fetch_or_acquire
#define arch_atomic_fetch_or_release arch_atomic_fetch_or_release
#define arch_atomic_fetch_or_relaxed arch_atomic_fetch_or_relaxed
#define arch_atomic_fetch_xor arch_atomic_fetch_xor
#define arch_atomic_fetch_xor_acquire arch_atomic_fetch_xor_acquire
#define arch_atomic_fetch_xor_release arch_atomic_fetch_xor_release
#define arch_atomic_fetch_xor_relaxed arch_atomic_fetch_xor_relaxed
#define arch_atomic_fetch_andnot arch_atomic_fetch_andnot
#define arch_atomic_fetch_andnot_acquire arch_atomic_fetch_andnot_acquire
#define arch_atomic_fetch_andnot_release arch_atomic_fetch_andnot_release
#define arch_atomic_fetch_andnot_relaxed arch_atomic_fetch_andnot_relaxed
#define arch_atomic64_andnot arch_atomic64_andnot
#define arch_atomic64_add_return arch_atomic64_add_return
#define arch_atomic64_add_return_acquire arch_atomic64_add_return_acquire
#define arch_atomic64_add_return_release arch_atomic64_add_return_release
#define arch_atomic64_add_return_relaxed arch_atomic64_add_return_relaxed
#define arch_atomic64_sub_return arch_atomic64_sub_return
#define arch_atomic64_sub_return_acquire arch_atomic64_sub_return_acquire
#define arch_atomic64_sub_return_release arch_atomic64_sub_return_release
#define arch_atomic64_sub_return_relaxed arch_atomic64_sub_return_relaxed
#define arch_atomic64_fetch_add arch_atomic64_fetch_add
#define arch_atomic64_fetch_add_acquire arch_atomic64_fetch_add_acquire
#define arch_atomic64_fetch_add_release arch_atomic64_fetch_add_release
#define arch_atomic64_fetch_add_relaxed arch_atomic64_fetch_add_relaxed
#define arch_atomic64_fetch_sub arch_atomic64_fetch_sub
#define arch_atomic64_fetch_sub_acquire arch_atomic64_fetch_sub_acquire
#define arch_atomic64_fetch_sub_release arch_atomic64_fetch_sub_release
#define arch_atomic64_fetch_sub_relaxed arch_atomic64_fetch_sub_relaxed
#define arch_atomic64_fetch_and arch_atomic64_fetch_and
#define arch_atomic64_fetch_and_acquire arch_atomic64_fetch_and_acquire
#define arch_atomic64_fetch_and_release arch_atomic64_fetch_and_release
#define arch_atomic64_fetch_and_relaxed arch_atomic64_fetch_and_relaxed
#define arch_atomic64_fetch_or arch_atomic64_fetch_or
#define arch_atomic64_fetch_or_acquire arch_atomic64_fetch_or_acquire
#define arch_atomic64_fetch_or_release arch_atomic64_fetch_or_release
#define arch_atomic64_fetch_or_relaxed arch_atomic64_fetch_or_relaxed
#define arch_atomic64_fetch_xor arch_atomic64_fetch_xor
#define arch_atomic64_fetch_xor_acquire arch_atomic64_fetch_xor_acquire
#define arch_atomic64_fetch_xor_release arch_atomic64_fetch_xor_release
#define arch_atomic64_fetch_xor_relaxed arch_atomic64_fetch_xor_relaxed
#define arch_atomic64_fetch_andnot arch_atomic64_fetch_andnot
#define arch_atomic64_fetch_andnot_acquire arch_atomic64_fetch_andnot_acquire
#define arch_atomic64_fetch_andnot_release arch_atomic64_fetch_andnot_release
#define arch_atomic64_fetch_andnot_relaxed arch_atomic64_fetch_andnot_relaxed

#endif /* SHIM_ASM_ATOMIC_H */
