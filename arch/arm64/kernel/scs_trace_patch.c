// SPDX-License-Identifier: GPL-2.0
/* Dynamic SCS: the patching of a module's code, as code that pushes what it returns to. */

#include <asm/scs.h>

/*
 * pi/ is built without return address protection of any kind, because it runs
 * before the kernel is mapped. An interrupt that hits it while a module is loaded
 * finds frame records that nothing was pushed for. So build its source once more,
 * as ordinary code, for modules alone.
 */
#define scs_patch		scs_trace_patch_module
#define dynamic_scs_is_enabled	scs_trace_patch_unused

#include "pi/patch-scs.c"
