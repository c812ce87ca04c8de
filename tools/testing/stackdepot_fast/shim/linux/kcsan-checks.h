/* SPDX-License-Identifier: GPL-2.0 */
/* KCSAN's hooks: ThreadSanitizer takes data_race() at its word, too. */
#ifndef SHIM_LINUX_KCSAN_CHECKS_H
#define SHIM_LINUX_KCSAN_CHECKS_H

#include_next <linux/kcsan-checks.h>

#if __has_feature(thread_sanitizer)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static inline void shim_ignore_begin(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void shim_ignore_end(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#undef __kcsan_disable_current
#undef __kcsan_enable_current
#define __kcsan_disable_current()	shim_ignore_begin()
#define __kcsan_enable_current()	shim_ignore_end()
#endif

#endif /* SHIM_LINUX_KCSAN_CHECKS_H */
