/* SPDX-License-Identifier: GPL-2.0 */
/* The page allocator, with allocations that can be made to fail and are counted. */
#ifndef SHIM_LINUX_GFP_H
#define SHIM_LINUX_GFP_H

#include <linux/gfp_types.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <asm/page.h>
#include <shim/shim.h>

/* Real page structures would serve nobody: the pointer is the address of the memory. */
struct page;

static inline bool gfpflags_allow_blocking(const gfp_t flags)
{
	return !!(flags & __GFP_DIRECT_RECLAIM);
}

/* What an allocation inside an allocation may use; as linux/gfp.h has it. */
static inline gfp_t gfp_nested_mask(gfp_t flags)
{
	return (flags & (GFP_KERNEL | GFP_ATOMIC | __GFP_NOLOCKDEP)) |
	       __GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_NOWARN;
}

#define __get_free_pages(gfp, order) \
	((unsigned long)shim_pages_alloc(SHIM_UNIT, (__force unsigned int)(gfp), order))
#define __get_free_page(gfp)		__get_free_pages(gfp, 0)
#define get_zeroed_page(gfp)		__get_free_pages((gfp) | __GFP_ZERO, 0)
#define alloc_pages(gfp, order)		((struct page *)__get_free_pages(gfp, order))
#define alloc_page(gfp)			alloc_pages(gfp, 0)
#define alloc_pages_node(nid, gfp, order) alloc_pages(gfp, order)
#define free_pages(addr, order)		shim_pages_free(SHIM_UNIT, (void *)(addr), order)
#define free_page(addr)			free_pages(addr, 0)
#define __free_pages(page, order)	free_pages((unsigned long)(page), order)
#define __free_page(page)		__free_pages(page, 0)
#define page_address(page)		((void *)(page))
#define virt_to_page(addr)		((struct page *)((unsigned long)(addr) & PAGE_MASK))

#endif /* SHIM_LINUX_GFP_H */
