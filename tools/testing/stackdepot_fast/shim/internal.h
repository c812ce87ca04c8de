/* SPDX-License-Identifier: GPL-2.0 */
/* What the shim's own files share. */
#ifndef SHIM_INTERNAL_H
#define SHIM_INTERNAL_H

#include "shim.h"

void __might_sleep(const char *file, int line);
void shim_irq_work_run(void);
void shim_mem_reset(int unit);
void shim_debugfs_reset(int unit);
void shim_cpu_yield(void);
unsigned long shim_statics(int unit);

#endif /* SHIM_INTERNAL_H */
