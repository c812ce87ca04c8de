/* SPDX-License-Identifier: GPL-2.0 */
/* Data per CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#include <linux/percpu-defs.h>

#endif /* SHIM_LINUX_PERCPU_H */
