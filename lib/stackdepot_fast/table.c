// SPDX-License-Identifier: GPL-2.0
/* Hash tables of records, which grow by one bucket at a time while they are in use. */

#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include "depot.h"

/* === Data ================================================================= */

/*
 * The first page of buckets of the persistent table; the other one's is allocated
 * when the first evictable trace is saved. Until then all of its buckets are the
 * one below.
 */
static u32 depot_first_buckets[DEPOT_BUCKETS_PER_PAGE];
static u32 depot_no_bucket[1];
#define DEPOT_NOT_STARTED	DEPOT_GEOMETRY(0, 1)
#define DEPOT_FIRST_GEOMETRY \
	DEPOT_GEOMETRY(DEPOT_BUCKETS_PER_PAGE - 1, DEPOT_BUCKETS_PER_PAGE)

#define DEPOT_FIRST_DIR	8

static u32 *depot_persistent_dir[DEPOT_FIRST_DIR] = { depot_first_buckets };
static u32 *depot_evictable_dir[DEPOT_FIRST_DIR] = { depot_no_bucket };

/*
 * Records that come and go, and records that stay until their pool is evicted, are
 * kept apart: in the persistent table a chain runs from younger to older pools, so
 * it may end where it reaches a pool that was evicted, and eviction needs no look
 * at the table. (CPUs that fill two pools at the same time may link records in
 * another order. Then a trace may be cut off and be stored again one day; its old
 * handle stays good.)
 */
struct depot_table depot_persistent = {
	.geometry = DEPOT_FIRST_GEOMETRY,
	.dir = depot_persistent_dir,
	.dir_size = DEPOT_FIRST_DIR,
	.dir_bytes = sizeof(depot_persistent_dir),
};

struct depot_table depot_evictable = {
	.geometry = DEPOT_NOT_STARTED,
	.dir = depot_evictable_dir,
	.dir_size = DEPOT_FIRST_DIR,
	.dir_bytes = sizeof(depot_evictable_dir),
};

/* === Locks ================================================================ */

/**
 * depot_bucket_wait() - what depot_bucket_lock() does where it can't at once
 * @table: the table
 * @hash: the hash
 *
 * Context: any, with interrupts off.
 * Return: the bucket, or NULL in NMI.
 */
u32 *depot_bucket_wait(struct depot_table *table, u32 hash)
{
	u32 *bucket;

	do {
		if (in_nmi())
			return NULL;
		cpu_relax();
		bucket = depot_bucket_trylock(table, hash);
	} while (!bucket);
	return bucket;
}

/* === Growth =============================================================== */

/*
 * Deal the records of bucket @from out to it and to the new bucket @to, in their
 * order. Who walks the chain meanwhile may end up in the other one and miss a
 * record, but meets no record twice.
 */
static void depot_deal(u32 *from, u32 *to, u32 bit)
{
	u32 ref = READ_ONCE(*from) & DEPOT_REF_MASK, heads[2] = { };
	u32 *link[2] = { &heads[0], &heads[1] };

	while (ref) {
		struct depot_record *rec = depot_record(ref);
		u32 **last;

		if (!rec)
			break;
		last = &link[!!(rec->hash & bit)];
		if (*last == &heads[0] || *last == &heads[1])
			**last = ref;
		else
			WRITE_ONCE(**last, (**last & ~DEPOT_REF_MASK) | ref);
		*last = &rec->next;
		ref = rec->next & DEPOT_REF_MASK;
	}
	if (link[0] != &heads[0])
		WRITE_ONCE(*link[0], *link[0] & ~DEPOT_REF_MASK);
	if (link[1] != &heads[1])
		WRITE_ONCE(*link[1], *link[1] & ~DEPOT_REF_MASK);
	WRITE_ONCE(*to, heads[1]);
	/* The caller unlocks @from. */
	WRITE_ONCE(*from, heads[0] | DEPOT_BUCKET_LOCK);
}

/* Make room in the directory for page number @page. */
static bool depot_grow_dir(struct depot_table *table, unsigned int page,
			   gfp_t gfp)
{
	unsigned int order, size;
	u32 **dir;

	if (page < table->dir_size)
		return true;

	order = table->dir_size * sizeof(*dir) < PAGE_SIZE ? 0 :
		ilog2(table->dir_size * sizeof(*dir) / PAGE_SIZE) + 3;
	size = (PAGE_SIZE << order) / sizeof(*dir);
	if (!depot_may_grow(PAGE_SIZE << order))
		return false;
	dir = (u32 **)__get_free_pages(gfp | __GFP_ZERO, order);
	if (!dir)
		return false;
	memcpy(dir, table->dir, table->dir_size * sizeof(*dir));
	/*
	 * The old one stays: it may be in use. Pairs with READ_ONCE() in
	 * depot_bucket(), and comes before the geometry that needs it.
	 */
	smp_store_release(&table->dir, dir);
	WRITE_ONCE(table->dir_size, size);
	WRITE_ONCE(table->dir_bytes, table->dir_bytes + (PAGE_SIZE << order));
	return true;
}

static bool depot_add_page(struct depot_table *table, unsigned int page,
			   gfp_t gfp)
{
	u32 *buckets;

	if (!depot_grow_dir(table, page, gfp))
		return false;
	if (!table->dir[page]) {
		if (!depot_may_grow(PAGE_SIZE))
			return false;
		buckets = (u32 *)get_zeroed_page(gfp);
		if (!buckets)
			return false;
		WRITE_ONCE(table->dir[page], buckets);
	}
	return true;
}

/* Split one bucket. The caller has set table->growing. */
static void depot_table_split(struct depot_table *table)
{
	u32 n = table->geometry;
	u32 bit = rounddown_pow_of_two(n);
	u32 *from, *to;
	unsigned long flags;

	/* The hash of the bucket to be split maps to it before the split. */
	from = depot_bucket_lock(table, n - bit, &flags);
	if (!from)
		return;
	to = &table->dir[n >> DEPOT_BUCKETS_SHIFT]
			[n & (DEPOT_BUCKETS_PER_PAGE - 1)];
	depot_deal(from, to, bit);
	/* Pairs with the acquire in depot_bucket(): @to is ready. */
	smp_store_release(&table->geometry,
			  DEPOT_GEOMETRY(roundup_pow_of_two(n + 1) - 1, n + 1));
	depot_bucket_unlock(from, READ_ONCE(*from), flags);
}

#define DEPOT_GROW_BUCKETS	8

/**
 * depot_table_grow() - add buckets
 * @table: the table
 * @gfp: how a page of buckets may be allocated
 * @can_alloc: whether it may
 *
 * Called when a record went into a bucket with six others, this keeps the table at
 * somewhat less than two records a bucket. If there is no memory, or another CPU
 * is at it, the buckets get fuller until the next time. All CPUs read the geometry,
 * so it changes in bursts.
 *
 * Context: any.
 */
void depot_table_grow(struct depot_table *table, gfp_t gfp, bool can_alloc)
{
	unsigned int i;
	u32 n;

	/* Pairs with the release below. */
	if (in_nmi() || atomic_cmpxchg_acquire(&table->growing, 0, 1))
		return;

	for (i = 0; i < DEPOT_GROW_BUCKETS; i++) {
		n = table->geometry;
		/*
		 * Where traces come and go, buckets get full now and then although
		 * there are no more of them: a pool holds about 300.
		 */
		if (n >= depot_nr_pools() * (DEPOT_POOL_UNITS / 4) &&
		    n >= DEPOT_BUCKETS_PER_PAGE)
			break;
		/* Only the first bucket of a page can lack it. */
		if (!(n % DEPOT_BUCKETS_PER_PAGE) &&
		    !(can_alloc && depot_add_page(table, n / DEPOT_BUCKETS_PER_PAGE,
						  gfp_nested_mask(gfp))))
			break;
		depot_table_split(table);
	}
	atomic_set_release(&table->growing, 0);
}

/**
 * depot_table_start() - give a table its first page of buckets
 * @table: the table
 * @gfp: how that may be allocated
 * @can_alloc: whether it may
 *
 * Context: any.
 * Return: whether the table has buckets.
 */
bool depot_table_start(struct depot_table *table, gfp_t gfp, bool can_alloc)
{
	u32 *buckets;

	/* Pairs with the release below. */
	if (smp_load_acquire(&table->geometry) != DEPOT_NOT_STARTED)
		return true;
	/* With "evict" it has its place already. */
	if (!can_alloc || !(depot_policy == DEPOT_EVICT || depot_may_grow(PAGE_SIZE)))
		return false;
	buckets = (u32 *)get_zeroed_page(gfp_nested_mask(gfp));
	if (!buckets)
		return false;
	if (cmpxchg(&table->dir[0], depot_no_bucket, buckets) != depot_no_bucket)
		free_page((unsigned long)buckets);
	/*
	 * Whoever comes first: the page is there. Pairs with the acquires here and in
	 * depot_bucket().
	 */
	cmpxchg(&table->geometry, DEPOT_NOT_STARTED, DEPOT_FIRST_GEOMETRY);
	return true;
}

/**
 * depot_table_started() - whether a table has buckets
 * @table: the table
 *
 * Context: any.
 * Return: true if it has.
 */
bool depot_table_started(const struct depot_table *table)
{
	return READ_ONCE(table->geometry) != DEPOT_NOT_STARTED;
}

/**
 * depot_table_bytes() - memory that a table takes
 * @table: the table
 *
 * Context: any.
 * Return: bytes of buckets and of directories, those included that were replaced.
 */
unsigned long depot_table_bytes(const struct depot_table *table)
{
	u64 geometry = READ_ONCE(table->geometry);
	unsigned long pages = DIV_ROUND_UP((u32)geometry, DEPOT_BUCKETS_PER_PAGE);

	if (geometry == DEPOT_NOT_STARTED)
		pages = 0;
	return pages * PAGE_SIZE + READ_ONCE(table->dir_bytes);
}
