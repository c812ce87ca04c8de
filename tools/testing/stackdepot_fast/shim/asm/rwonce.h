/* SPDX-License-Identifier: GPL-2.0 */
/* READ_ONCE() and WRITE_ONCE(): the kernel's own, but ThreadSanitizer knows they are atomic. */
#ifndef SHIM_ASM_RWONCE_H
#define SHIM_ASM_RWONCE_H

#include <asm-generic/rwonce.h>

#if __has_feature(thread_sanitizer)

/*
 * What is read at an address that depends on what READ_ONCE() returned is ordered
 * after it in the kernel's memory model. ThreadSanitizer knows no dependencies, so
 * to it each such read is an acquire.
 */
#undef __READ_ONCE
#define __READ_ONCE(x)								\
({										\
	__typeof_unqual__(x) __shim_once;					\
										\
	__atomic_load((typeof(__shim_once) *)(unsigned long)&(x), &__shim_once,	\
		      __ATOMIC_ACQUIRE);					\
	__shim_once;								\
})

#undef __WRITE_ONCE
#define __WRITE_ONCE(x, val)							\
do {										\
	__typeof_unqual__(x) __shim_once = (val);				\
										\
	__atomic_store((typeof(__shim_once) *)(unsigned long)&(x),		\
		       &__shim_once, __ATOMIC_RELAXED);				\
} while (0)

#endif

#endif /* SHIM_ASM_RWONCE_H */
