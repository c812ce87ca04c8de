/* SPDX-License-Identifier: GPL-2.0 */
/* Memory's size and numbering. */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <linux/gfp.h>
#include <linux/align.h>

#define nr_free_buffer_pages()	shim_free_buffer_pages
#define totalram_pages()	shim_free_buffer_pages
#define PAGE_ALIGN(addr)	ALIGN(addr, PAGE_SIZE)
#define offset_in_page(p)	((unsigned long)(p) & ~PAGE_MASK)

#endif /* SHIM_LINUX_MM_H */
