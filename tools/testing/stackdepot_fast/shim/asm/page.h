/* SPDX-License-Identifier: GPL-2.0 */
/* The size of a page. */
#ifndef SHIM_ASM_PAGE_H
#define SHIM_ASM_PAGE_H

#include <linux/const.h>

#define PAGE_SHIFT	CONFIG_PAGE_SHIFT
#define PAGE_SIZE	(_AC(1, UL) << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

#endif /* SHIM_ASM_PAGE_H */
