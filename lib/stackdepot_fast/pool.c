// SPDX-License-Identifier: GPL-2.0
/* Pools: where they come from, how room is had without a lock, and which go at the limit. */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "depot.h"

/* === Data ================================================================= */

/* The first leaf is static, so that the first pools need nothing but themselves. */
static struct depot_pool *depot_first_leaf[DEPOT_LEAF_SIZE];
struct depot_pool **depot_leaves[DEPOT_NR_LEAVES] = { depot_first_leaf };

/*
 * A leaf whose pools were all evicted is used again for numbers to come, once no
 * reader can be at it. The page of zeroes takes its place for the old numbers: it
 * knows of no pool, too. Changed under depot_grow_lock.
 */
static struct depot_pool **depot_idle_leaf;
static unsigned long depot_idle_cookie;
static u32 depot_oldest_leaf = 1;	/* the first one is static */
#define DEPOT_NO_LEAF	((struct depot_pool **)page_address(ZERO_PAGE(0)))

/* Changed under depot_grow_lock, all of them. A pool is live until it is free memory. */
u32 depot_next_seq;
static u32 depot_oldest_seq;
static unsigned int depot_live_pools;
static unsigned int depot_evictable_pools;

struct depot_pool *depot_current[DEPOT_NR_CURRENT];

/*
 * Pools that were evicted, the oldest first. They wait for an RCU grace period: a
 * reader may be at their records. Some are evicted ahead of need, so that new traces
 * don't have to wait.
 */
static struct depot_pool *depot_evicted_first;
static struct depot_pool **depot_evicted_last = &depot_evicted_first;
static unsigned int depot_evicted_pools;

/* A pool in reserve, for those who can't allocate; taken and given with xchg(). */
static struct depot_pool *depot_spare;

/*
 * Held while a pool comes into use: a few dozen instructions, and one pool's worth
 * of bits to clear. NMIs only try.
 */
static DEFINE_RAW_SPINLOCK(depot_grow_lock);

/* As many as upstream's depot takes, 128 MiB of them with pages of 4 KiB. */
#define DEPOT_DEFAULT_MAX_POOLS	8192U

enum depot_policy depot_policy __read_mostly = DEPOT_STOP;
unsigned int depot_max_pools __read_mostly =
	MIN(DEPOT_DEFAULT_MAX_POOLS, DEPOT_MAX_SEQ);
unsigned long depot_max_bytes __read_mostly = ULONG_MAX;

/* With fewer pools "evict" would drop traces before anyone could ask for them. */
#define DEPOT_MIN_POOLS		3

/* Leaves that "evict" has at a time: of the oldest pools, of the newest, an idle one. */
#define DEPOT_EVICT_LEAVES	3

/* === Room for a record ==================================================== */

static __always_inline u64 depot_state(u32 seq, unsigned int used)
{
	return (u64)seq << DEPOT_STATE_SEQ_SHIFT | used;
}

/**
 * depot_abandon() - give back what depot_reserve() took
 * @space: the room; nothing refers to it
 *
 * Context: any.
 */
void depot_abandon(struct depot_space *space)
{
	u64 *state = &space->pool->state;
	u64 old = READ_ONCE(*state);
	u64 new;

	do {
		new = old - depot_writer();
		/* Lost, if others have taken what follows. */
		if (depot_state_used(old) ==
		    (space->ref & DEPOT_UNIT_MASK) + space->units)
			new -= space->units;
	} while (!try_cmpxchg(state, &old, new));
}

/**
 * depot_unpin() - what there is to depot_commit() with "evict"
 * @space: the room; what was written there can be found
 *
 * Context: any.
 */
void depot_unpin(const struct depot_space *space)
{
	u64 *state = &space->pool->state;
	u64 old = READ_ONCE(*state);

	/* Pairs with the cmpxchg() in depot_evict_oldest(): all is written. */
	while (!try_cmpxchg(state, &old, old - DEPOT_STATE_WRITER))
		;
}

/* === Limits =============================================================== */

static unsigned int depot_nr_leaves(void)
{
	unsigned int i, leaves = !!READ_ONCE(depot_idle_leaf);

	for (i = 0; i < DEPOT_NR_LEAVES; i++) {
		struct depot_pool **leaf = READ_ONCE(depot_leaves[i]);

		leaves += leaf && leaf != DEPOT_NO_LEAF;
	}
	return leaves;
}

static unsigned long depot_pool_bytes(void)
{
	return (READ_ONCE(depot_live_pools) + !!READ_ONCE(depot_spare)) *
	       DEPOT_POOL_BYTES;
}

static unsigned long depot_other_bytes(unsigned int leaves)
{
	return depot_table_bytes(&depot_persistent) +
	       depot_table_bytes(&depot_evictable) + leaves * PAGE_SIZE;
}

/*
 * What the limit in bytes leaves for pools. Where those take all that there is, leaves
 * that are to come and the first page of the other table have their place.
 */
static unsigned long depot_bytes_for_pools(void)
{
	unsigned int leaves = depot_nr_leaves();
	unsigned long other;

	if (depot_policy == DEPOT_EVICT)
		leaves = max(leaves, DEPOT_EVICT_LEAVES);
	other = depot_other_bytes(leaves);
	if (depot_policy == DEPOT_EVICT && !depot_table_started(&depot_evictable))
		other += PAGE_SIZE;
	return depot_max_bytes > other ? depot_max_bytes - other : 0;
}

/**
 * depot_bytes() - memory that the depot takes
 *
 * Context: any.
 * Return: bytes: pools, the one in reserve included, tables, and leaves.
 */
unsigned long depot_bytes(void)
{
	return depot_pool_bytes() + depot_other_bytes(depot_nr_leaves());
}

/**
 * depot_may_grow() - whether the limit in bytes leaves room
 * @bytes: for how much
 *
 * Context: any.
 * Return: true if it does.
 */
bool depot_may_grow(unsigned long bytes)
{
	return depot_max_bytes == ULONG_MAX ||
	       depot_pool_bytes() + bytes <= depot_bytes_for_pools();
}

/* Leaves room for the pool in reserve that follows. */
static bool depot_may_add_pool(void)
{
	return READ_ONCE(depot_live_pools) < depot_max_pools &&
	       depot_may_grow(DEPOT_POOL_BYTES);
}

/* === Pools come into use ================================================== */

/* Where the pool that comes next has its leaf; NULL if no number is left. */
static struct depot_pool ***depot_next_leaf(void)
{
	u32 seq = READ_ONCE(depot_next_seq);

	return seq < DEPOT_MAX_SEQ ? &depot_leaves[seq >> DEPOT_LEAF_SHIFT] : NULL;
}

/* False if there is no memory for it. */
static bool depot_add_leaf(gfp_t gfp)
{
	struct depot_pool ***slot = depot_next_leaf();
	struct depot_pool **leaf;

	if (!slot || READ_ONCE(*slot))
		return true;
	/* depot_take_pool() will have that one. */
	if (READ_ONCE(depot_idle_leaf) &&
	    poll_state_synchronize_rcu(READ_ONCE(depot_idle_cookie)))
		return true;
	leaf = (struct depot_pool **)get_zeroed_page(gfp);
	/* Pairs with READ_ONCE() in depot_pool(): an address dependency. */
	if (leaf && cmpxchg_release(slot, NULL, leaf))
		free_page((unsigned long)leaf);
	return leaf;
}

/* The same. */
static bool depot_add_spare(gfp_t gfp)
{
	struct depot_pool *pool;
	struct page *page;

	if (READ_ONCE(depot_spare))
		return true;
	/*
	 * Policy "evict" reuses pools at the limit. With "stop" the reserve is kept
	 * there, for flat copies.
	 */
	if (depot_policy == DEPOT_EVICT && !depot_may_add_pool())
		return true;
	page = alloc_pages(gfp, DEPOT_PAGES_ORDER);
	if (!page)
		return false;
	pool = page_address(page);
	/* Pairs with the xchg() in depot_take_pool(). */
	if (cmpxchg_release(&depot_spare, NULL, pool))
		free_pages((unsigned long)pool, DEPOT_PAGES_ORDER);
	return true;
}

/**
 * depot_refill() - see to it that there is a pool in reserve
 * @gfp: how it may be allocated
 * @can_alloc: whether it may
 *
 * Context: any.
 * Return: false if there is no memory for it, or none may be allocated.
 */
bool depot_refill(gfp_t gfp, bool can_alloc)
{
	if (!can_alloc)
		return false;
	gfp = gfp_nested_mask(gfp);
	return depot_add_leaf(gfp) && depot_add_spare(gfp);
}

/*
 * Evict the oldest pool. Its records are gone when its number has no pool any more;
 * readers that are at them get on until the grace period is over.
 */
static bool depot_evict_oldest(void)
{
	const struct depot_pool *current_pool = *depot_current_slot();
	u32 seq;

	lockdep_assert_held(&depot_grow_lock);

	for (seq = depot_oldest_seq; seq < depot_next_seq; seq++) {
		struct depot_pool *pool = depot_pool(seq);
		u64 state;

		/* Pools of evictable records stay: they are passed by once, too. */
		if (!pool || pool->evictable) {
			if (seq == depot_oldest_seq)
				depot_oldest_seq++;
			continue;
		}
		if (pool == current_pool)
			continue;
		state = READ_ONCE(pool->state) & ~DEPOT_STATE_WRITERS;
		/*
		 * Nobody may be writing to it. From here on nobody can have room.
		 * Pairs with depot_reserve() and depot_commit().
		 */
		if (!try_cmpxchg(&pool->state, &state, ~DEPOT_STATE_WRITERS))
			continue;
		WRITE_ONCE(depot_leaves[seq >> DEPOT_LEAF_SHIFT]
				       [seq & (DEPOT_LEAF_SIZE - 1)], NULL);
		/*
		 * We may be called from RCU itself or inside an allocator: neither
		 * waiting nor call_rcu() will do. Look at the cookie later.
		 */
		pool->cookie = get_state_synchronize_rcu();
		pool->evicted = NULL;
		*depot_evicted_last = pool;
		depot_evicted_last = &pool->evicted;
		depot_evicted_pools++;
		depot_count(DEPOT_EVICTED_POOLS);
		return true;
	}
	return false;
}

/* Keep the oldest leaf for numbers to come, if all of its pools were evicted. */
static void depot_retire_leaf(void)
{
	struct depot_pool **leaf;

	lockdep_assert_held(&depot_grow_lock);

	if (depot_idle_leaf ||
	    depot_oldest_leaf >= depot_oldest_seq >> DEPOT_LEAF_SHIFT)
		return;
	leaf = depot_leaves[depot_oldest_leaf];
	/* Evictable records' pools stay, and their leaf with them. */
	if (!memchr_inv(leaf, 0, PAGE_SIZE)) {
		WRITE_ONCE(depot_leaves[depot_oldest_leaf], DEPOT_NO_LEAF);
		WRITE_ONCE(depot_idle_cookie, get_state_synchronize_rcu());
		/* Pairs with READ_ONCE() in depot_add_leaf(), which only guesses. */
		WRITE_ONCE(depot_idle_leaf, leaf);
	}
	depot_oldest_leaf++;
}

/* Whether the next pool's number has a leaf. */
static bool depot_has_leaf(struct depot_pool ***slot)
{
	lockdep_assert_held(&depot_grow_lock);

	if (READ_ONCE(*slot))
		return true;
	if (!depot_idle_leaf || !poll_state_synchronize_rcu(depot_idle_cookie))
		return false;
	/* Pairs with READ_ONCE() in depot_pool(): an address dependency. */
	if (!cmpxchg_release(slot, NULL, depot_idle_leaf))
		WRITE_ONCE(depot_idle_leaf, NULL);
	return true;
}

/* At the limit, see to it that there will be a pool to use again. */
static void depot_evict_ahead(void)
{
	const unsigned int ahead = clamp(depot_max_pools / 8, 1U, 4U);

	if (depot_policy != DEPOT_EVICT || depot_may_add_pool())
		return;
	while (depot_evicted_pools < ahead && depot_evict_oldest())
		;
	depot_retire_leaf();
}

/* Use a pool again that was evicted long enough ago. */
static struct depot_pool *depot_reuse_evicted(void)
{
	struct depot_pool *pool = depot_evicted_first;

	lockdep_assert_held(&depot_grow_lock);

	if (!pool || !poll_state_synchronize_rcu(pool->cookie))
		return NULL;
	depot_evicted_first = pool->evicted;
	if (!depot_evicted_first)
		depot_evicted_last = &depot_evicted_first;
	depot_evicted_pools--;
	WRITE_ONCE(depot_live_pools, depot_live_pools - 1);
	return pool;
}

/*
 * Pools of evictable records stay theirs. So that "evict" has pools to evict, they
 * may be half of all that the limits allow, without the one in reserve.
 */
static bool depot_may_add_evictable(void)
{
	unsigned long limit = depot_max_pools, pools;

	if (depot_policy != DEPOT_EVICT)
		return true;
	if (depot_max_bytes != ULONG_MAX) {
		pools = depot_bytes_for_pools() >> DEPOT_POOL_SHIFT;
		limit = min(limit, pools ? pools - 1 : 0);
	}
	return depot_evictable_pools < limit / 2;
}

/* Set @why if there is none. */
static struct depot_pool *depot_take_pool(enum depot_use use,
					  enum depot_counter *why)
{
	struct depot_pool ***leaf = depot_next_leaf();

	lockdep_assert_held(&depot_grow_lock);

	*why = DEPOT_DROP_LIMIT;
	if (!leaf || (use == DEPOT_USE_EVICTABLE && !depot_may_add_evictable()))
		return NULL;
	if (!depot_has_leaf(leaf)) {
		*why = DEPOT_DROP_NOMEM;
		return NULL;
	}
	if (depot_may_add_pool() ||
	    (use == DEPOT_USE_FLAT && depot_policy == DEPOT_STOP)) {
		*why = DEPOT_DROP_NOMEM;
		/* Pairs with cmpxchg_release() in depot_add_spare(). */
		return xchg(&depot_spare, NULL);
	}
	return depot_policy == DEPOT_EVICT ? depot_reuse_evicted() : NULL;
}

static void depot_install_pool(struct depot_pool *pool, enum depot_use use,
			       struct depot_pool **slot)
{
	size_t header = sizeof(*pool);
	u32 seq = depot_next_seq;

	lockdep_assert_held(&depot_grow_lock);

	if (use == DEPOT_USE_EVICTABLE)
		header += sizeof(pool->starts);
	header = DIV_ROUND_UP(header, DEPOT_UNIT_SIZE);

	/* Whoever gets a handle of a record may read it, but KMSAN can't know. */
	kmsan_unpoison_memory(pool, DEPOT_POOL_BYTES);
	memset(pool->starts, 0, sizeof(pool->starts));
	pool->evictable = use == DEPOT_USE_EVICTABLE;
	pool->longest = DEPOT_POOL_UNITS;
	pool->next = 0;
	if (use == DEPOT_USE_EVICTABLE) {
		depot_evictable_pools++;
		memset(pool->used, 0, sizeof(pool->starts));
		bitmap_set(pool->used, 0, header);
		header = DEPOT_POOL_UNITS;
	}
	/* The start bits are clear for whoever reserves: pairs with depot_reserve(). */
	smp_store_release(&pool->state, depot_state(seq, header));
	/* Pairs with READ_ONCE() in depot_pool(). */
	smp_store_release(&depot_leaves[seq >> DEPOT_LEAF_SHIFT]
				       [seq & (DEPOT_LEAF_SIZE - 1)], pool);
	/* Pairs with the acquire in depot_look_up(). */
	smp_store_release(&depot_next_seq, seq + 1);
	WRITE_ONCE(depot_live_pools, depot_live_pools + 1);
	if (use != DEPOT_USE_EVICTABLE) {
		/* Pairs with the acquire in depot_room(). */
		smp_store_release(slot, pool);
	}
}

/* Whether this CPU's pool, which may be another one's by now, has @units left. */
static bool depot_room(unsigned int units, struct depot_space *space)
{
	return depot_room_in(depot_current_slot(), units, space);
}

/* The same for any other CPU's. */
static bool depot_room_elsewhere(unsigned int units, struct depot_space *space)
{
	unsigned int i;

	for (i = 0; i < DEPOT_NR_CURRENT; i++)
		if (depot_room_in(&depot_current[i], units, space))
			return true;
	return false;
}

/* Once. Whoever saves a trace may hold any lock, one that printing takes included. */
static noinline void depot_warn_full(void)
{
	unsigned long flags;

	local_irq_save(flags);
	printk_deferred_enter();
	if (!depot_next_leaf())
		WARN_ONCE(1, "Stack depot used up its handles");
	else if (depot_policy == DEPOT_STOP && !depot_may_add_pool())
		WARN_ONCE(1, "Stack depot reached limit capacity");
	printk_deferred_exit();
	local_irq_restore(flags);
}

/**
 * depot_new_pool() - bring a pool into use
 * @use: what for
 * @gfp: how one may be allocated
 * @can_alloc: whether it may
 * @units: only if the one in use has less than this left, or @use is an arena's
 * @why: set to what a trace that finds no room counts as, if there is no pool
 *
 * Context: any.
 * Return: the pool, or NULL. Where another CPU was faster that CPU's.
 */
struct depot_pool *depot_new_pool(enum depot_use use, gfp_t gfp, bool can_alloc,
				  unsigned int units, enum depot_counter *why)
{
	struct depot_space space;
	struct depot_pool *pool;
	unsigned long flags;
	bool refilled;

	/*
	 * Others may take the pool in reserve before we do. Whoever does has room for
	 * many more traces: we don't go round for ever.
	 */
	do {
		refilled = depot_refill(gfp, can_alloc);
		if (!depot_lock(&depot_grow_lock, &flags)) {
			*why = DEPOT_DROP_CONTENDED;
			return NULL;
		}
		if (use != DEPOT_USE_EVICTABLE && depot_room(units, &space)) {
			pool = space.pool;
		} else {
			pool = depot_take_pool(use, why);
			if (pool)
				depot_install_pool(pool, use, depot_current_slot());
			depot_evict_ahead();
		}
		raw_spin_unlock_irqrestore(&depot_grow_lock, flags);
	} while (!pool && refilled && *why == DEPOT_DROP_NOMEM);

	if (unlikely(!pool))
		depot_warn_full();
	return pool;
}

/**
 * depot_make_room() - find a pool with room where this CPU's has little or none
 * @use: what for; not for evictable records
 * @gfp: how a new one may be allocated
 * @can_alloc: whether it may
 * @units: how much room
 * @space: set to the pool and its number; or @why to the reason
 *
 * Context: any.
 * Return: false if there is none.
 */
bool depot_make_room(enum depot_use use, gfp_t gfp, bool can_alloc,
		     unsigned int units, struct depot_space *space)
{
	depot_refill(gfp, can_alloc);
	while (!depot_room(units, space)) {
		struct depot_pool *pool = depot_new_pool(use, gfp, can_alloc,
							 units, &space->why);

		/*
		 * Pools were evicted, and nobody else may be in want of a grace
		 * period. Who may sleep holds none of the locks that waking RCU's
		 * kthread takes.
		 */
		if (depot_policy == DEPOT_EVICT && can_alloc &&
		    gfpflags_allow_blocking(gfp) && !irqs_disabled() &&
		    system_state >= SYSTEM_SCHEDULING)
			start_poll_synchronize_rcu();
		if (!pool)
			return depot_room_elsewhere(units, space);
	}
	return true;
}

/* === All records, in the order in which they were stored ================== */

/**
 * depot_next_record() - find the next record
 * @ref: reference of the one before, or 0
 *
 * Context: any.
 * Return: its reference, or 0 after the last one.
 */
u32 depot_next_record(u32 ref)
{
	u32 seq = ref >> DEPOT_SEQ_SHIFT;
	unsigned long unit = (ref & DEPOT_UNIT_MASK) + !!ref;
	struct depot_pool *pool;

	/* Pairs with the release in depot_install_pool(). */
	for (; seq < smp_load_acquire(&depot_next_seq); seq++, unit = 0) {
		rcu_read_lock_sched_notrace();
		pool = depot_pool(seq);
		/* A bit that is set or cleared meanwhile may be seen or not. */
		unit = pool ? data_race(find_next_bit(pool->starts, DEPOT_POOL_UNITS,
						      unit)) : DEPOT_POOL_UNITS;
		rcu_read_unlock_sched_notrace();
		if (unit < DEPOT_POOL_UNITS)
			return seq << DEPOT_SEQ_SHIFT | unit;
	}
	return 0;
}

/**
 * depot_nr_pools() - how many pools are in use
 *
 * Context: any.
 * Return: their number.
 */
unsigned int depot_nr_pools(void)
{
	return READ_ONCE(depot_live_pools);
}

/* === Boot ================================================================= */

static int __init depot_parse_max_pools(char *str)
{
	unsigned int pools;

	if (!str || kstrtouint(str, 0, &pools) || pools < DEPOT_MIN_POOLS ||
	    pools > DEPOT_MAX_SEQ) {
		pr_warn("stack_depot_max_pools=%s: not a number from %d to %lu; the limit stays %u\n",
			str ?: "", DEPOT_MIN_POOLS, DEPOT_MAX_SEQ,
			depot_max_pools);
		return 0;
	}
	depot_max_pools = pools;
	return 0;
}
early_param("stack_depot_max_pools", depot_parse_max_pools);

static int __init depot_parse_max_bytes(char *str)
{
	/* With a pool in reserve, and what there is not yet of leaves and tables. */
	unsigned long least = (DEPOT_MIN_POOLS + 1) * DEPOT_POOL_BYTES + PAGE_SIZE +
			      depot_other_bytes(DEPOT_EVICT_LEAVES);
	unsigned long bytes;
	char *end;

	bytes = str ? memparse(str, &end) : 0;
	if (!str || *end || end == str || bytes < least) {
		pr_warn("stack_depot_max_bytes=%s: not a size of %lu bytes or more; the limit stays\n",
			str ?: "", least);
		return 0;
	}
	depot_max_bytes = bytes;
	return 0;
}
early_param("stack_depot_max_bytes", depot_parse_max_bytes);

static int __init depot_parse_policy(char *str)
{
	if (str && !strcmp(str, "stop"))
		depot_policy = DEPOT_STOP;
	else if (str && !strcmp(str, "evict"))
		depot_policy = DEPOT_EVICT;
	else
		pr_warn("stack_depot_policy=%s: neither stop nor evict; it stays %s\n",
			str ?: "", depot_policy == DEPOT_EVICT ? "evict" : "stop");
	return 0;
}
early_param("stack_depot_policy", depot_parse_policy);
