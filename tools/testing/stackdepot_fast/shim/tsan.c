// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel reads and writes as volatile, it means to be atomic: tells ThreadSanitizer so.
 *
 * The compiler calls these before each such access (-tsan-distinguish-volatile).
 * The access of ours is one more, of the same kind, that changes nothing.
 */
#include <stdint.h>

#if __has_feature(thread_sanitizer)

#define TELL(size, type)								\
void __tsan_volatile_read##size(type *p);						\
void __tsan_volatile_read##size(type *p)						\
{											\
	(void)__atomic_load_n(p, __ATOMIC_ACQUIRE);					\
}											\
											\
void __tsan_volatile_write##size(type *p);						\
void __tsan_volatile_write##size(type *p)						\
{											\
	(void)__atomic_fetch_add(p, 0, __ATOMIC_RELAXED);				\
}

TELL(1, uint8_t)
TELL(2, uint16_t)
TELL(4, uint32_t)
TELL(8, uint64_t)

#endif
