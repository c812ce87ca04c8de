/* SPDX-License-Identifier: GPL-2.0 */
/* Where code lies: printed as numbers here. */
#ifndef SHIM_LINUX_KALLSYMS_H
#define SHIM_LINUX_KALLSYMS_H

#include <asm/sections.h>

#endif /* SHIM_LINUX_KALLSYMS_H */
