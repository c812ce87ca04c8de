/* SPDX-License-Identifier: GPL-2.0 */
/* kmalloc(), kvmalloc() and vmalloc(): one heap, with allocations that can be made to fail. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <linux/gfp.h>
#include <linux/overflow.h>

#define shim_heap(size, gfp) \
	shim_mem_alloc(SHIM_UNIT, size, 16, (__force unsigned int)(gfp))

#define kmalloc(size, gfp)		shim_heap(size, gfp)
#define kzalloc(size, gfp)		shim_heap(size, (gfp) | __GFP_ZERO)
#define kmalloc_array(n, size, gfp)	shim_heap(array_size(n, size), gfp)
#define kmalloc_array_node(n, size, gfp, node) kmalloc_array(n, size, gfp)
#define kcalloc(n, size, gfp)		shim_heap(array_size(n, size), (gfp) | __GFP_ZERO)
#define kfree(p)			shim_mem_free(SHIM_UNIT, p)
#define kvmalloc			kmalloc
#define kvzalloc			kzalloc
#define kvmalloc_array			kmalloc_array
#define kvcalloc			kcalloc
#define kvfree				kfree
#define vmalloc(size)			shim_heap(size, GFP_KERNEL)
#define vzalloc(size)			shim_heap(size, GFP_KERNEL | __GFP_ZERO)
#define vfree				kfree
#define slab_is_available()		true

#endif /* SHIM_LINUX_SLAB_H */
