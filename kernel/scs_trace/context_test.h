/* SPDX-License-Identifier: GPL-2.0 */
/* What context_test.c has for a module to call. */
#ifndef _KERNEL_SCS_TRACE_CONTEXT_TEST_H
#define _KERNEL_SCS_TRACE_CONTEXT_TEST_H

void scs_trace_context_shoot(void);

#endif /* _KERNEL_SCS_TRACE_CONTEXT_TEST_H */
