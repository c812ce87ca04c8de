/* SPDX-License-Identifier: GPL-2.0 */
/* The page of zeroes. */
#ifndef SHIM_LINUX_PGTABLE_H
#define SHIM_LINUX_PGTABLE_H

#include <linux/mm.h>

static const char shim_zero_page[PAGE_SIZE] __aligned(PAGE_SIZE);
#define ZERO_PAGE(addr)		((struct page *)shim_zero_page)

#endif /* SHIM_LINUX_PGTABLE_H */
