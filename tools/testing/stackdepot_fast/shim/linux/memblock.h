/* SPDX-License-Identifier: GPL-2.0 */
/* Early memory. */
#ifndef SHIM_LINUX_MEMBLOCK_H
#define SHIM_LINUX_MEMBLOCK_H

#include <linux/mm.h>

#define memblock_alloc(size, align)		shim_early_alloc(SHIM_UNIT, size, align)
#define memblock_alloc_raw(size, align)		shim_early_alloc(SHIM_UNIT, size, align)
#define memblock_alloc_node(size, align, nid)	shim_early_alloc(SHIM_UNIT, size, align)
#define memblock_free(p, size)			shim_mem_free(SHIM_UNIT, p)

#define HASH_EARLY	0x00000001
#define HASH_ZERO	0x00000002

void *shim_large_hash(int unit, unsigned long bucketsize, unsigned long entries, int scale,
		      unsigned int *mask, unsigned long low, unsigned long high);

#define alloc_large_system_hash(name, bucketsize, entries, scale, flags, shift, mask, low, high) \
	shim_large_hash(SHIM_UNIT, bucketsize, entries, scale, mask, low, high)

#endif /* SHIM_LINUX_MEMBLOCK_H */
