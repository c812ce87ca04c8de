/* SPDX-License-Identifier: GPL-2.0 */
/* What every file of the kernel is compiled with here: options, and what comes first. */
#ifndef SHIM_KCONFIG_H
#define SHIM_KCONFIG_H

#include <linux/kconfig.h>
#include <linux/compiler_types.h>

#endif /* SHIM_KCONFIG_H */
