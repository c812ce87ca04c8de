// SPDX-License-Identifier: GPL-2.0
/* Memory of the depots: counted, made to fail, and freed for real, for sanitizers to see. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define PAGE_SIZE		4096UL
#define GFP_BIT_ZERO		shim_gfp_zero
#define GFP_BIT_RECLAIM		shim_gfp_direct_reclaim

/* From kernel-lib.c, which knows the kernel's headers. */
extern const unsigned int shim_gfp_zero, shim_gfp_direct_reclaim;

unsigned long shim_free_buffer_pages = 524288;
int shim_fail_all;
int shim_kasan_enabled;

/* What is allocated is found again by its address. */
struct block {
	struct block *next;
	void *addr;
	unsigned long size;
	int is_pages;
	unsigned int order;
};

#define BLOCK_BUCKETS	4096

static struct unit_mem {
	unsigned int lock;
	struct block *blocks[BLOCK_BUCKETS];
	struct shim_mem stats;
} units[SHIM_NR_UNITS + 1];

static void lock_unit(struct unit_mem *u)
{
	while (__atomic_exchange_n(&u->lock, 1, __ATOMIC_ACQUIRE))
		shim_cpu_yield();
}

static void unlock_unit(struct unit_mem *u)
{
	__atomic_store_n(&u->lock, 0, __ATOMIC_RELEASE);
}

static struct block **bucket_of(struct unit_mem *u, const void *addr)
{
	return &u->blocks[((uintptr_t)addr >> 4) * 0x9e3779b97f4a7c15ULL >> 52];
}

/* Interrupts of this thread wait meanwhile: the C library's heap has locks. */
static void libc_enter(void)
{
	shim_self()->libc_busy++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void libc_exit(void)
{
	struct shim_thread *self = shim_self();

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!--self->libc_busy && self->irq_pending)
		shim_irq_run_pending();
}

static int must_fail(struct shim_thread *self)
{
	if (shim_fail_all)
		return 1;
	if (self->fail_nth && !--self->fail_nth)
		return 1;
	return self->fail_percent && shim_random_u32() % 100 < self->fail_percent;
}

static void check_context(unsigned int gfp, const char *what)
{
	struct shim_thread *self = shim_self();

	if (self->nmi)
		shim_fault("%s in an NMI", what);
	if (self->raw_locks)
		shim_fault("%s under a raw spinlock, which PREEMPT_RT can't have", what);
	if (self->reader_nest > self->context_nest)
		shim_fault("%s by a reader or with preemption off, which PREEMPT_RT can't have",
			   what);
	if ((gfp & GFP_BIT_RECLAIM) && self->reader_nest)
		shim_fault("%s that may sleep where that is not allowed (gfp %#x)", what, gfp);
}

static void *block_new(int unit, unsigned long size, unsigned long align, unsigned int gfp,
		       int is_pages, unsigned int order)
{
	struct unit_mem *u = &units[unit];
	struct shim_thread *self = shim_self();
	struct block *block, **bucket;
	void *addr = NULL;

	if (self->alloc_hook) {
		void (*hook)(void *arg) = self->alloc_hook;

		self->alloc_hook = NULL;
		hook(self->alloc_hook_arg);
		self->alloc_hook = hook;
	}
	__atomic_store_n(&u->stats.last_gfp, gfp, __ATOMIC_RELAXED);
	if (must_fail(self)) {
		__atomic_fetch_add(&u->stats.failures, 1, __ATOMIC_RELAXED);
		return NULL;
	}

	libc_enter();
	block = malloc(sizeof(*block));
	if (posix_memalign(&addr, align < 16 ? 16 : align, size ? size : 1) || !block)
		shim_fault("out of memory for %lu bytes", size);
	/* Whoever relies on what they find in new memory is to find out. */
	memset(addr, gfp & GFP_BIT_ZERO ? 0 : 0x5a, size);
	*block = (struct block){
		.addr = addr, .size = size, .is_pages = is_pages, .order = order,
	};
	lock_unit(u);
	bucket = bucket_of(u, addr);
	block->next = *bucket;
	*bucket = block;
	u->stats.allocs++;
	if (is_pages)
		u->stats.pages += 1UL << order;
	else
		u->stats.heap += size;
	unlock_unit(u);
	libc_exit();
	return addr;
}

static void block_free(int unit, const void *addr, int is_pages, unsigned int order)
{
	struct unit_mem *u = &units[unit];
	struct block *block = NULL, **link;

	libc_enter();
	lock_unit(u);
	for (link = bucket_of(u, addr); *link; link = &(*link)->next) {
		if ((*link)->addr == addr) {
			block = *link;
			*link = block->next;
			break;
		}
	}
	if (!block)
		shim_fault("%p is freed, but was never allocated or is freed twice", addr);
	if (block->is_pages != is_pages || block->order != order)
		shim_fault("%p is freed by another way or with another order than it was allocated",
			   addr);
	if (is_pages)
		u->stats.pages -= 1UL << order;
	else
		u->stats.heap -= block->size;
	unlock_unit(u);
	free(block->addr);
	free(block);
	libc_exit();
}

void *shim_pages_alloc(int unit, unsigned int gfp, unsigned int order)
{
	check_context(gfp, "a page allocation");
	/* Aligned to its size, as by the buddy allocator. */
	return block_new(unit, PAGE_SIZE << order, PAGE_SIZE << order, gfp, 1, order);
}

void shim_pages_free(int unit, void *addr, unsigned int order)
{
	if (!addr)
		return;
	check_context(0, "free_pages()");
	block_free(unit, addr, 1, order);
}

void *shim_mem_alloc(int unit, unsigned long size, unsigned long align, unsigned int gfp)
{
	if (size > 1UL << 40)
		return NULL;
	check_context(gfp, "an allocation");
	return block_new(unit, size, align, gfp, 0, 0);
}

void shim_mem_free(int unit, const void *addr)
{
	if (!addr)
		return;
	check_context(0, "kfree()");
	block_free(unit, addr, 0, 0);
}

void *shim_early_alloc(int unit, unsigned long size, unsigned long align)
{
	return block_new(unit, size, align, GFP_BIT_ZERO, 0, 0);
}

/* As alloc_large_system_hash() sizes a table. */
void *shim_large_hash(int unit, unsigned long bucketsize, unsigned long entries, int scale,
		      unsigned int *mask, unsigned long low, unsigned long high)
{
	void *table;

	if (!entries) {
		entries = shim_free_buffer_pages;
		if (scale > 12)
			entries >>= scale - 12;
		else
			entries <<= 12 - scale;
	}
	while (entries & (entries - 1))
		entries += entries & -entries;
	if (entries < low)
		entries = low;
	if (entries > high)
		entries = high;
	table = block_new(unit, bucketsize * entries, PAGE_SIZE, 0, 0, 0);
	if (table && mask)
		*mask = entries - 1;
	return table;
}

struct shim_mem shim_mem(int unit)
{
	struct shim_mem stats;

	lock_unit(&units[unit]);
	stats = units[unit].stats;
	unlock_unit(&units[unit]);
	stats.statics = shim_statics(unit);
	return stats;
}

void shim_mem_reset(int unit)
{
	struct unit_mem *u = &units[unit];

	for (unsigned int i = 0; i < BLOCK_BUCKETS; i++) {
		while (u->blocks[i]) {
			struct block *block = u->blocks[i];

			u->blocks[i] = block->next;
			free(block->addr);
			free(block);
		}
	}
	memset(&u->stats, 0, sizeof(u->stats));
}

void *shim_libc_alloc(unsigned long size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		shim_fault("out of memory for %lu bytes", size);
	return p;
}

void *shim_libc_realloc(void *p, unsigned long size)
{
	p = realloc(p, size);
	if (!p)
		shim_fault("out of memory for %lu bytes", size);
	return p;
}

void shim_libc_free(void *p)
{
	free(p);
}
