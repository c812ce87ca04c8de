// SPDX-License-Identifier: GPL-2.0
/* Arenas: room for evictable records of any size, and what happens when one is freed. */

#include <linux/bitmap.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "depot.h"

/* === Data ================================================================= */

/**
 * struct depot_arena - pools of evictable records, and the records freed in them
 * @lock: for all of it; NMIs only try
 * @newest: number of the newest pool, plus 1
 * @head: the record that was freed first, linked through @hash to the one that was
 *	freed next; 0 if none waits
 * @tail: the last one
 *
 * A freed record waits for an RCU grace period: until then a reader may look at it.
 */
struct depot_arena {
	raw_spinlock_t lock;
	u32 newest;
	u32 head;
	u32 tail;
} ____cacheline_aligned_in_smp;

/* Enough for CPUs to seldom meet; each costs half a pool. */
#define DEPOT_NR_ARENAS		4

static struct depot_arena depot_arenas[DEPOT_NR_ARENAS] = {
	[0 ... DEPOT_NR_ARENAS - 1] = {
		.lock = __RAW_SPIN_LOCK_UNLOCKED(depot_arenas.lock),
	},
};

/* Records that were freed in NMI, linked through their first words. */
static u32 depot_freed_in_nmi;

/* Freed records that are looked at for each one that is saved. */
#define DEPOT_RECLAIM_BATCH	8

/* Where a freed record keeps its RCU cookie, and one freed in NMI its link. */
static u64 *depot_cookie(struct depot_record *rec)
{
	return (u64 *)&rec->word[1];
}

static u32 *depot_nmi_link(struct depot_record *rec)
{
	return &rec->word[1];
}

/* === Room ================================================================= */

/* Return units to their pool. The arena is locked. */
static void depot_free_units(u32 ref, unsigned int units)
{
	struct depot_pool *pool = depot_pool(ref >> DEPOT_SEQ_SHIFT);

	bitmap_clear(pool->used, ref & DEPOT_UNIT_MASK, units);
	WRITE_ONCE(pool->longest, DEPOT_POOL_UNITS);
}

/* Free what was freed long enough ago. */
static void depot_reclaim(struct depot_arena *arena)
{
	int batch;

	lockdep_assert_held(&arena->lock);

	for (batch = 0; arena->head && batch < DEPOT_RECLAIM_BATCH; batch++) {
		u32 ref = arena->head;
		struct depot_record *rec = depot_record(ref);

		if (!poll_state_synchronize_rcu(*depot_cookie(rec)))
			return;
		arena->head = rec->hash;
		depot_free_units(ref, depot_record_units(rec->next, depot_own(rec)));
		depot_count(DEPOT_RECLAIMED);
	}
}

static bool depot_take_units(struct depot_arena *arena, unsigned int units,
			     struct depot_space *space)
{
	u32 seq = arena->newest;

	lockdep_assert_held(&arena->lock);

	while (seq--) {
		struct depot_pool *pool = depot_pool(seq);
		unsigned long at;

		if (pool->longest >= units) {
			at = bitmap_find_next_zero_area(pool->used,
							DEPOT_POOL_UNITS, 0,
							units, 0);
			if (at < DEPOT_POOL_UNITS) {
				bitmap_set(pool->used, at, units);
				space->pool = pool;
				space->seq = seq;
				space->rec = depot_record_in(pool, at);
				space->ref = seq << DEPOT_SEQ_SHIFT | at;
				space->units = units;
				return true;
			}
			pool->longest = units - 1;
		}
		seq = pool->next;
	}
	return false;
}

/* Find room in arena number @n; in NMI only if it isn't locked. */
static bool depot_reserve_in(unsigned int n, unsigned int units,
			     struct depot_space *space)
{
	struct depot_arena *arena = &depot_arenas[n];
	unsigned long flags;
	bool found;

	if (!depot_lock(&arena->lock, &flags)) {
		space->why = DEPOT_DROP_CONTENDED;
		return false;
	}
	depot_reclaim(arena);
	found = depot_take_units(arena, units, space);
	raw_spin_unlock_irqrestore(&arena->lock, flags);
	return found;
}

static void depot_drain_nmi(void);

/**
 * depot_evictable_reserve() - find room for an evictable record
 * @units: how much
 * @gfp: how a pool may be allocated
 * @can_alloc: whether it may
 * @space: filled in, or only @why
 *
 * The CPU's own arena comes first, but another pool only if none has room: at the
 * limit an arena may have got no pool at all.
 *
 * Context: any.
 * Return: false if there is none.
 */
bool depot_evictable_reserve(unsigned int units, gfp_t gfp, bool can_alloc,
			     struct depot_space *space)
{
	unsigned int i, n = raw_smp_processor_id() % DEPOT_NR_ARENAS;
	struct depot_arena *arena = &depot_arenas[n];
	struct depot_pool *pool;
	unsigned long flags;
	bool found;

	depot_drain_nmi();

	space->why = DEPOT_DROP_NOMEM;
	for (i = 0; i < DEPOT_NR_ARENAS; i++)
		if (depot_reserve_in((n + i) % DEPOT_NR_ARENAS, units, space))
			return true;

	/* A pool that is had must get into the arena, so that an NMI can't have one. */
	if (in_nmi())
		return false;
	pool = depot_new_pool(DEPOT_USE_EVICTABLE, gfp, can_alloc, units, &space->why);
	if (!pool)
		return false;
	depot_refill(gfp, can_alloc);

	raw_spin_lock_irqsave(&arena->lock, flags);
	pool->arena = n;
	pool->next = arena->newest;
	arena->newest = (READ_ONCE(pool->state) >> DEPOT_STATE_SEQ_SHIFT) + 1;
	found = depot_take_units(arena, units, space);
	raw_spin_unlock_irqrestore(&arena->lock, flags);
	return found;
}

/**
 * depot_evictable_release() - give back room that no reader can know of
 * @space: the room
 *
 * Context: any. In NMI the room is lost if the arena is locked.
 */
void depot_evictable_release(const struct depot_space *space)
{
	struct depot_arena *arena = &depot_arenas[space->pool->arena];
	unsigned long flags;

	if (!depot_lock(&arena->lock, &flags))
		return;
	depot_free_units(space->ref, space->units);
	raw_spin_unlock_irqrestore(&arena->lock, flags);
}

/* === Freed records ======================================================== */

/* Take a record out of its bucket. Readers that are at it still get on. */
static void depot_unlink(u32 ref, struct depot_record *rec)
{
	unsigned long flags;
	u32 *bucket, *link, head, at;

	bucket = depot_bucket_lock(&depot_evictable, rec->hash, &flags);
	head = READ_ONCE(*bucket) & DEPOT_REF_MASK;
	for (link = NULL, at = head; at && at != ref;
	     at = *link & DEPOT_REF_MASK)
		link = &depot_record(at)->next;
	at = rec->next & DEPOT_REF_MASK;
	if (link)
		WRITE_ONCE(*link, (*link & ~DEPOT_REF_MASK) | at);
	else
		head = at;
	depot_bucket_unlock(bucket, head, flags);
}

static void depot_free_now(u32 ref)
{
	struct depot_record *rec = depot_record(ref);
	struct depot_pool *pool = depot_pool_of(rec);
	struct depot_arena *arena = &depot_arenas[pool->arena];
	unsigned long flags;

	depot_unlink(ref, rec);
	depot_flat_drop(ref);

	raw_spin_lock_irqsave(&arena->lock, flags);
	clear_bit(ref & DEPOT_UNIT_MASK, pool->starts);
	/* Pairs with the barrier in stack_depot_copy(): before frames are lost. */
	smp_wmb();
	/*
	 * We may be called from RCU itself or inside an allocator: neither waiting
	 * nor call_rcu() will do. Ask for a cookie, and look at it later.
	 */
	*depot_cookie(rec) = get_state_synchronize_rcu();
	WRITE_ONCE(rec->hash, 0);
	if (arena->head)
		WRITE_ONCE(depot_record(arena->tail)->hash, ref);
	else
		arena->head = ref;
	arena->tail = ref;
	raw_spin_unlock_irqrestore(&arena->lock, flags);

	depot_count(DEPOT_QUARANTINED);
}

static void depot_drain_nmi(void)
{
	u32 ref;

	if (likely(!READ_ONCE(depot_freed_in_nmi)) || in_nmi())
		return;
	/* Pairs with the cmpxchg() in depot_evictable_free(). */
	ref = xchg(&depot_freed_in_nmi, 0);
	while (ref) {
		u32 next = *depot_nmi_link(depot_record(ref));

		depot_free_now(ref);
		ref = next;
	}
}

/**
 * depot_evictable_free() - free a record whose last reference is gone
 * @ref: the record's reference
 *
 * In NMI the record is only put aside, for the next one who saves or frees.
 *
 * Context: any.
 */
void depot_evictable_free(u32 ref)
{
	depot_count(DEPOT_REFD_FREES);
	depot_drain_nmi();

	if (in_nmi()) {
		struct depot_record *rec = depot_record(ref);
		u32 *link = depot_nmi_link(rec);
		u32 old = READ_ONCE(depot_freed_in_nmi);

		clear_bit(ref & DEPOT_UNIT_MASK, depot_pool_of(rec)->starts);
		/* Pairs with the barrier in stack_depot_copy(). */
		smp_wmb();
		do {
			WRITE_ONCE(*link, old);
			/* Pairs with the xchg() in depot_drain_nmi(). */
		} while (!try_cmpxchg(&depot_freed_in_nmi, &old, ref));
		return;
	}
	depot_free_now(ref);
}
