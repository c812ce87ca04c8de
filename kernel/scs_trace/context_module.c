// SPDX-License-Identifier: GPL-2.0
/* A module whose init and exit functions have their traces taken, for context_test.c to judge. */

#include <linux/init.h>
#include <linux/module.h>

#include "context_test.h"

/* A frame of the module's own, in what is freed after init. */
static int __init context_module_init(void)
{
	scs_trace_context_shoot();
	barrier();
	return 0;
}

static void __exit context_module_exit(void)
{
	scs_trace_context_shoot();
	barrier();
}

module_init(context_module_init);
module_exit(context_module_exit);

MODULE_DESCRIPTION("Module init and exit for the KUnit test of stack traces");
MODULE_LICENSE("GPL");
