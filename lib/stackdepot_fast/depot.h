/* SPDX-License-Identifier: GPL-2.0 */
/* How the depot keeps traces: handles, records, pools, tables, and the walk over a stored trace. */
#ifndef _LIB_STACKDEPOT_FAST_DEPOT_H
#define _LIB_STACKDEPOT_FAST_DEPOT_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/percpu-defs.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/stackdepot_fast.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/* === Handles ============================================================== */

/*
 * Without its extra bits a handle is a reference: the place of a record, in
 * units, in an address space of pools that are numbered in the order in which
 * they came into use. A pool's number is never used again, so a handle can't
 * come to mean another pool's trace.
 */
#define DEPOT_UNIT_SHIFT	3
#define DEPOT_UNIT_SIZE		BIT(DEPOT_UNIT_SHIFT)
#define DEPOT_REF_BITS		(DEPOT_HANDLE_BITS - STACK_DEPOT_EXTRA_BITS)
#define DEPOT_REF_MASK		GENMASK_U32(DEPOT_REF_BITS - 1, 0)

/* A pool is 16 KiB, or a page where that is larger, and naturally aligned. */
#define DEPOT_PAGES_ORDER	(PAGE_SHIFT < 14 ? 14 - PAGE_SHIFT : 0)
#define DEPOT_POOL_SHIFT	(PAGE_SHIFT + DEPOT_PAGES_ORDER)
#define DEPOT_POOL_BYTES	BIT(DEPOT_POOL_SHIFT)
#define DEPOT_SEQ_SHIFT		(DEPOT_POOL_SHIFT - DEPOT_UNIT_SHIFT)
#define DEPOT_POOL_UNITS	BIT(DEPOT_SEQ_SHIFT)
#define DEPOT_UNIT_MASK		(DEPOT_POOL_UNITS - 1)
#define DEPOT_MAX_SEQ		BIT(DEPOT_REF_BITS - DEPOT_SEQ_SHIFT)

/* === Records ============================================================== */

/**
 * struct depot_record - a stored trace, or the inner part of one
 * @next: reference of the next record in the bucket, and the record's kind;
 *	changed under the bucket's lock
 * @hash: of the whole trace and its kind; links freed records, too
 * @shared: where in the same pool, in units, the record lies that holds the
 *	trace's outer frames; 0 if this one holds all
 * @size: frames of the trace; 0 stands for 256
 * @rest: frames of the trace that this record doesn't hold, a multiple of
 *	DEPOT_TAIL_STEP
 * @word: the others, the oldest first, by the low halves of their addresses; with
 *	DEPOT_WIDE, whole ones from @word[1] on. With DEPOT_REFS there is a number
 *	of references or pages, too: see depot_refs()
 *
 * A record's outer frames, if they aren't its own, are the outermost frames of
 * the other record's trace: with the oldest frame first, those of them that are the
 * other record's own are its first words. All but @next and the number of references
 * of a record that can be found stays as it is.
 */
struct depot_record {
	u32 next;
	u32 hash;
	u16 shared;
	u8 size;
	u8 rest;
	u32 word[];
};

#define DEPOT_WIDE		BIT(27)	/* frames take 64 bits */
#define DEPOT_REFS		BIT(28)	/* @word[0] counts */
#define DEPOT_EVICTABLE		BIT(29)	/* freed with its last reference */
#define DEPOT_HASHED_ALL	BIT(30)	/* hashed by all of its frames */
#define DEPOT_KIND_MASK		(DEPOT_WIDE | DEPOT_REFS | DEPOT_EVICTABLE | \
				 DEPOT_HASHED_ALL)

/* What @size and @rest can tell. */
static_assert(CONFIG_STACKDEPOT_MAX_FRAMES <= 256);

static __always_inline unsigned int depot_size(const struct depot_record *rec)
{
	return (u8)(rec->size - 1) + 1U;
}

static __always_inline unsigned int depot_own(const struct depot_record *rec)
{
	return depot_size(rec) - rec->rest;
}

/*
 * Index into a record's words of its oldest frame. Persistent narrow records have
 * it in front, so that a walk from one to the other needs no look at their kind.
 */
static __always_inline unsigned int depot_first_word(u32 kind)
{
	return kind & (DEPOT_WIDE | DEPOT_EVICTABLE) ? 1 : 0;
}

/* Units that a record with @own frames takes. */
static inline unsigned int depot_record_units(u32 kind, unsigned int own)
{
	size_t words = (size_t)own * (kind & DEPOT_WIDE ? 2 : 1) +
		       (kind & (DEPOT_WIDE | DEPOT_REFS) ? 1 : 0);
	size_t bytes = sizeof(struct depot_record) + words * sizeof(u32);

	/* Once freed, a record holds a list's link and an RCU cookie. */
	if (kind & DEPOT_EVICTABLE)
		bytes = max(bytes, sizeof(struct depot_record) +
				   sizeof(u32) + sizeof(u64));
	return DIV_ROUND_UP(bytes, DEPOT_UNIT_SIZE);
}

/*
 * References of an evictable record, or the count of one that has a count: the
 * first word where that isn't a frame, else the one after the frames.
 */
static __always_inline atomic_t *depot_refs(struct depot_record *rec)
{
	unsigned int at = 0;

	if (!depot_first_word(READ_ONCE(rec->next)))
		at = depot_own(rec);
	return (atomic_t *)&rec->word[at];
}

/* A record with as many references stays for good. */
#define DEPOT_REFS_SATURATED	INT_MAX

/*
 * Take a reference, unless the record is being freed. Like refcount_t, but without
 * its warning: a bucket may be locked, and printing may save a trace.
 */
static __always_inline bool depot_get(struct depot_record *rec)
{
	atomic_t *refs = depot_refs(rec);
	int old = atomic_read(refs);

	do {
		if (!old)
			return false;
		if (unlikely(old == DEPOT_REFS_SATURATED))
			return true;
	} while (!atomic_try_cmpxchg(refs, &old, old + 1));
	return true;
}

/* === Locks ================================================================ */

/*
 * Lock, with interrupts off. An NMI only tries, as it may have interrupted the
 * holder: then this may fail.
 */
static inline bool __depot_lock(raw_spinlock_t *lock, unsigned long *flags)
{
	if (!in_nmi())
		raw_spin_lock_irqsave(lock, *flags);
	else if (!raw_spin_trylock_irqsave(lock, *flags))
		return false;
	/* For sparse: it is the macro that acquires. */
	__release(lock);
	return true;
}

#define depot_lock(lock, flags)						\
({									\
	raw_spinlock_t *__lock = (lock);				\
									\
	__cond_lock(__lock, __depot_lock(__lock, (flags)));		\
})

/* === Policy =============================================================== */

enum depot_policy {
	DEPOT_STOP,	/* at the limit, new traces are dropped */
	DEPOT_EVICT,	/* at the limit, the oldest pool's traces are */
};

extern enum depot_policy depot_policy;
extern unsigned int depot_max_pools;
extern unsigned long depot_max_bytes;
extern bool depot_ready;
extern bool stack_depot_disabled;

/* === Statistics =========================================================== */

enum depot_counter {
	DEPOT_REFD_ALLOCS,	/* evictable records saved */
	DEPOT_REFD_FREES,	/* evictable records whose last reference went */
	DEPOT_PERSIST_COUNT,	/* persistent records saved */
	DEPOT_PERSIST_UNITS,
	DEPOT_WIDE_COUNT,
	DEPOT_FLAT_COUNT,	/* flat copies that stack_depot_fetch() made */
	DEPOT_FLAT_UNITS,
	DEPOT_QUARANTINED,	/* freed records ... */
	DEPOT_RECLAIMED,	/* ... and those of them whose space is free again */
	DEPOT_EVICTED_POOLS,
	DEPOT_EVICTED_FETCHES,
	DEPOT_BAD_HANDLES,
	DEPOT_RACED,		/* records that another CPU saved first */
	DEPOT_DROP_NOMEM,	/* traces not saved: no memory, or not allowed to ask */
	DEPOT_DROP_LIMIT,	/* ... the limit is reached */
	DEPOT_DROP_CONTENDED,	/* ... an NMI met a lock that was held */
	DEPOT_FLAT_FAILED,	/* fetches that found no memory for a flat copy */
	DEPOT_NR_COUNTERS,
};

struct depot_counters {
	unsigned long n[DEPOT_NR_COUNTERS];
};

DECLARE_PER_CPU(struct depot_counters, depot_counters);

#define depot_count_add(counter, by) \
	this_cpu_add(depot_counters.n[counter], by)
#define depot_count(counter)	depot_count_add(counter, 1)

unsigned long depot_sum(enum depot_counter counter);

/* === Pools ================================================================ */

/**
 * struct depot_pool - what a pool begins with
 * @state: its number, how many write to it, how far it is used: see DEPOT_STATE_*
 * @evicted: the pool that was evicted after this one
 * @cookie: for the RCU grace period after which it may be used again
 * @evictable: whether it holds evictable records, which an arena manages
 * @arena: the arena's number
 * @next: number of the arena's next older pool
 * @longest: no free run of units is longer than this
 * @starts: a bit for each unit at which a record begins
 * @used: evictable records only: a bit for each unit that is not free
 */
struct depot_pool {
	u64 state;
	struct depot_pool *evicted;
	unsigned long cookie;
	bool evictable;
	u8 arena;
	u16 longest;
	u32 next;
	unsigned long starts[BITS_TO_LONGS(DEPOT_POOL_UNITS)];
	unsigned long used[];
};

/*
 * One word, so that space can only be had in the pool that was meant: the number
 * in the upper half, below it the writers that pin the pool, then the units used.
 */
#define DEPOT_STATE_USED	GENMASK_ULL(15, 0)
#define DEPOT_STATE_WRITER	BIT_ULL(16)
#define DEPOT_STATE_WRITERS	GENMASK_ULL(31, 16)
#define DEPOT_STATE_SEQ_SHIFT	32

/* Numbers map to pools in two steps; the second step's page is a leaf. */
#define DEPOT_LEAF_SHIFT	(PAGE_SHIFT - 3)
#define DEPOT_LEAF_SIZE		BIT(DEPOT_LEAF_SHIFT)
#define DEPOT_NR_LEAVES		DIV_ROUND_UP(DEPOT_MAX_SEQ, DEPOT_LEAF_SIZE)

extern struct depot_pool **depot_leaves[DEPOT_NR_LEAVES];

/*
 * The pool numbered @seq. NULL where that was evicted or never existed.
 *
 * A pool that is evicted stays as it is for an RCU grace period: whoever looks at
 * one without pinning it has preemption or interrupts off.
 *
 * Pairs with the release that made a reference into the pool visible: who has
 * the reference finds the pool through an address that depends on it.
 */
static __always_inline struct depot_pool *depot_pool(u32 seq)
{
	return READ_ONCE(depot_leaves[seq >> DEPOT_LEAF_SHIFT]
				     [seq & (DEPOT_LEAF_SIZE - 1)]);
}

static __always_inline struct depot_record *
depot_record_in(const struct depot_pool *pool, u32 unit)
{
	return (void *)pool + ((unit & DEPOT_UNIT_MASK) << DEPOT_UNIT_SHIFT);
}

/* The record that @ref means, which was found in a table. NULL as above. */
static __always_inline struct depot_record *depot_record(u32 ref)
{
	struct depot_pool *pool = depot_pool(ref >> DEPOT_SEQ_SHIFT);

	return likely(pool) ? depot_record_in(pool, ref) : NULL;
}

static __always_inline struct depot_pool *
depot_pool_of(const struct depot_record *rec)
{
	return (void *)((unsigned long)rec & ~(DEPOT_POOL_BYTES - 1));
}

/* The record that holds the outer frames of @rec's trace, or names the one that does. */
static __always_inline const struct depot_record *
depot_outer(const struct depot_record *rec)
{
	return depot_record_in(depot_pool_of(rec), rec->shared);
}

/**
 * struct depot_space - room for a record that is being written
 * @pool: the pool
 * @seq: its number
 * @rec: where in it
 * @ref: the reference of that place
 * @units: how much
 * @why: what a trace counts as for which there was no room
 */
struct depot_space {
	struct depot_pool *pool;
	u32 seq;
	struct depot_record *rec;
	u32 ref;
	unsigned int units;
	enum depot_counter why;
};

/**
 * enum depot_use - what a pool is asked for
 * @DEPOT_USE_PERSISTENT: records that stay
 * @DEPOT_USE_FLAT: a flat copy, for which the limit may be exceeded
 * @DEPOT_USE_EVICTABLE: an arena's records; no other kind shares that pool
 */
enum depot_use {
	DEPOT_USE_PERSISTENT,
	DEPOT_USE_FLAT,
	DEPOT_USE_EVICTABLE,
};

/*
 * The pools in use. CPUs with the same number modulo DEPOT_NR_CURRENT share one:
 * room is had with a cmpxchg(), and a cache line that another CPU wrote last costs
 * as much as all the rest of a save. With "evict" there is but one, so that pools
 * are as old as their numbers say.
 */
#define DEPOT_NR_CURRENT	4U

extern struct depot_pool *depot_current[DEPOT_NR_CURRENT];
extern u32 depot_next_seq;

/* pool.c */
bool depot_make_room(enum depot_use use, gfp_t gfp, bool can_alloc,
		     unsigned int units, struct depot_space *space);
void depot_abandon(struct depot_space *space);
struct depot_pool *depot_new_pool(enum depot_use use, gfp_t gfp, bool can_alloc,
				  unsigned int units, enum depot_counter *why);
bool depot_refill(gfp_t gfp, bool can_alloc);
void depot_unpin(const struct depot_space *space);
bool depot_may_grow(unsigned long bytes);
unsigned long depot_bytes(void);
unsigned int depot_nr_pools(void);
u32 depot_next_record(u32 ref);

static __always_inline unsigned int depot_state_used(u64 state)
{
	return state & DEPOT_STATE_USED;
}

static __always_inline struct depot_pool **depot_current_slot(void)
{
	if (depot_policy == DEPOT_EVICT)
		return &depot_current[0];
	return &depot_current[raw_smp_processor_id() % DEPOT_NR_CURRENT];
}

/* Whether the pool in @slot has @units left: then fill pool and number in. */
static __always_inline bool depot_room_in(struct depot_pool **slot,
					  unsigned int units,
					  struct depot_space *space)
{
	/* Pairs with the release in depot_install_pool(). */
	struct depot_pool *pool = smp_load_acquire(slot);
	u64 state;

	if (!pool)
		return false;
	state = READ_ONCE(pool->state);
	if (depot_state_used(state) + units > DEPOT_POOL_UNITS)
		return false;
	space->pool = pool;
	space->seq = state >> DEPOT_STATE_SEQ_SHIFT;
	return true;
}

/**
 * depot_writable_pool() - find a pool with room
 * @use: what for; not for evictable records
 * @gfp: how a new one may be allocated
 * @can_alloc: whether it may
 * @units: how much room
 * @space: set to the pool and its number; or @why to the reason
 *
 * The reserve is for those who can't allocate. As long as a quarter of the pool in
 * use is left, they need none.
 *
 * Context: any.
 * Return: false if there is none.
 */
static __always_inline bool depot_writable_pool(enum depot_use use, gfp_t gfp,
						bool can_alloc,
						unsigned int units,
						struct depot_space *space)
{
	if (likely(depot_room_in(depot_current_slot(),
				 units + DEPOT_POOL_UNITS / 4, space)))
		return true;
	return depot_make_room(use, gfp, can_alloc, units, space);
}

/**
 * depot_holds() - whether a pool is still the one that was found
 * @space: pool and number, which depot_writable_pool() filled in
 *
 * Context: any. While preemption is off, a pool that was stays readable.
 * Return: true if it is.
 */
static __always_inline bool depot_holds(const struct depot_space *space)
{
	return READ_ONCE(space->pool->state) >> DEPOT_STATE_SEQ_SHIFT == space->seq;
}

/* What a writer adds to a pool's state. Only with "evict" does a pool need pins. */
static __always_inline u64 depot_writer(void)
{
	return depot_policy == DEPOT_EVICT ? DEPOT_STATE_WRITER : 0;
}

/**
 * depot_reserve() - take room from a pool and pin the pool
 * @space: pool and number, which depot_writable_pool() filled in; gets the rest
 * @units: how much
 *
 * The pool stays pinned until depot_commit() or depot_abandon(): it can't be
 * evicted.
 *
 * Context: any.
 * Return: false if the pool is full now, or another one.
 */
static __always_inline bool depot_reserve(struct depot_space *space,
					  unsigned int units)
{
	u64 *state = &space->pool->state;
	u64 old = READ_ONCE(*state);
	unsigned int at;

	do {
		at = depot_state_used(old);
		if (old >> DEPOT_STATE_SEQ_SHIFT != space->seq ||
		    at + units > DEPOT_POOL_UNITS ||
		    (old & DEPOT_STATE_WRITERS) == DEPOT_STATE_WRITERS)
			return false;
		/*
		 * Pairs with the cmpxchg() in depot_evict_oldest(), and with the
		 * release in depot_install_pool().
		 */
	} while (!try_cmpxchg_acquire(state, &old, old + depot_writer() + units));

	space->rec = depot_record_in(space->pool, at);
	space->ref = space->seq << DEPOT_SEQ_SHIFT | at;
	space->units = units;
	return true;
}

/**
 * depot_commit() - finish what depot_reserve() began
 * @space: the room; what was written there can be found
 *
 * Context: any.
 */
static __always_inline void depot_commit(const struct depot_space *space)
{
	if (unlikely(depot_policy == DEPOT_EVICT))
		depot_unpin(space);
}

/*
 * Let handles and lists find the record. Nothing but freeing it or evicting its pool
 * ends that: who walks over all records relies on RCU alone.
 */
static inline void depot_mark_start(const struct depot_space *space)
{
	/* Pairs with the acquire in depot_starts_at(). */
	smp_mb__before_atomic();
	set_bit(space->ref & DEPOT_UNIT_MASK, space->pool->starts);
}

/* Whether a record begins at @unit of @pool. Then its header can be read. */
static __always_inline bool depot_starts_at(const struct depot_pool *pool,
					    u32 unit)
{
	/* Pairs with the barrier in depot_mark_start(). */
	return test_bit_acquire(unit & DEPOT_UNIT_MASK, pool->starts);
}

/* arena.c */
bool depot_evictable_reserve(unsigned int units, gfp_t gfp, bool can_alloc,
			     struct depot_space *space);
void depot_evictable_release(const struct depot_space *space);
void depot_evictable_free(u32 ref);

/* === Traces that are being saved ========================================== */

/**
 * struct depot_trace - a trace where the caller has it, and how to save it
 * @newest: its newest frame
 * @step: from a frame to the next older one: 1 in an array, -1 on a stack
 * @nr: number of frames, not 0
 * @kind: DEPOT_KIND_MASK of its record
 * @gfp: how memory may be allocated
 * @flags: the caller's
 *
 * Who finds it stored needs the first four; the rest is here, too, so that it
 * takes up no registers until then.
 */
struct depot_trace {
	const unsigned long *newest;
	long step;
	unsigned int nr;
	u32 kind;
	gfp_t gfp;
	depot_flags_t flags;
};

static __always_inline unsigned long
depot_frame(const struct depot_trace *trace, unsigned int i)
{
	return trace->newest[(long)i * trace->step];
}

static __always_inline const unsigned long *
depot_oldest(const struct depot_trace *trace)
{
	return trace->newest + (long)(trace->nr - 1) * trace->step;
}

/*
 * Kernel and modules lie within 2 GiB of each other, so a window of 4 GiB around
 * the kernel's text holds all return addresses but those of code that something
 * generated elsewhere.
 */
extern unsigned long depot_window;

static __always_inline unsigned long depot_widen(u32 low)
{
	return depot_window + (u32)(low - (u32)depot_window);
}

/*
 * Traces are hashed by their number of frames and by eight of them: the newest
 * three are much the same in all of a caller's traces, and the eight that follow
 * tell nearly all traces from each other. That is measured on recorded traces: a
 * hit compares with 1.03 records on average, and of 4769 traces at most 24 have
 * the same eight. So as not to depend on it, DEPOT_SAME_HASH of them share a hash;
 * those that come later are hashed by all of their frames, see depot_save_slow().
 *
 * The multiplier is odd, from the digits of the golden ratio; 32 bits of them, as
 * the code loads those in two instructions.
 */
#define DEPOT_HASH_MULTIPLIER	0x9e3779b1ULL
#define DEPOT_HASH_SKIP		3
#define DEPOT_HASH_FRAMES	8
#define DEPOT_SAME_HASH		8

static __always_inline u64 depot_hash_one(u64 sum, unsigned long frame)
{
	return sum * DEPOT_HASH_MULTIPLIER + frame;
}

static __always_inline u32 depot_hash_finish(u64 sum)
{
	return (sum * DEPOT_HASH_MULTIPLIER) >> 32;
}

static inline u32 depot_hash_all(const struct depot_trace *trace)
{
	u64 sum = trace->nr + (trace->kind >> 16);
	unsigned int i;

	for (i = 0; i < trace->nr; i++)
		sum = depot_hash_one(sum, depot_frame(trace, i));
	return depot_hash_finish(sum);
}

static __always_inline u32 depot_hash(const struct depot_trace *trace)
{
	const unsigned long *p = trace->newest + DEPOT_HASH_SKIP * trace->step;
	u64 sum = trace->nr + (trace->kind >> 16);
	int i;

	if (unlikely(trace->nr < DEPOT_HASH_SKIP + DEPOT_HASH_FRAMES))
		return depot_hash_all(trace);

#pragma GCC unroll 8
	for (i = 0; i < DEPOT_HASH_FRAMES; i++)
		sum = depot_hash_one(sum, p[i * trace->step]);
	return depot_hash_finish(sum);
}

/* === Stored traces ======================================================== */

/**
 * struct depot_cursor - a walk over a stored trace, from the newest frame on
 * @rec: the record that holds the next frame, or that names the one that does
 * @left: frames left, this one included
 */
struct depot_cursor {
	const struct depot_record *rec;
	unsigned int left;
};

static inline void depot_cursor_init(struct depot_cursor *cur,
				     const struct depot_record *rec)
{
	cur->rec = rec;
	cur->left = depot_size(rec);
}

/* Get the next frame into @frame. False at the end. */
static inline bool depot_cursor_next(struct depot_cursor *cur,
				     unsigned long *frame)
{
	const struct depot_record *rec = cur->rec;
	const u32 *word;
	unsigned int at;
	u32 kind;

	if (!cur->left)
		return false;

	if (cur->left == rec->rest) {
		rec = depot_outer(rec);
		cur->rec = rec;
	}
	at = --cur->left - rec->rest;
	kind = READ_ONCE(rec->next);
	word = &rec->word[depot_first_word(kind)];
	*frame = kind & DEPOT_WIDE ?
		 get_unaligned((const unsigned long *)word + at) :
		 depot_widen(word[at]);
	return true;
}

/* tail.c */

/* Tails of this many frames, twice as many, and so on can be shared. */
#define DEPOT_TAIL_STEP		4
#define DEPOT_NR_TAILS		DIV_ROUND_UP(CONFIG_STACKDEPOT_MAX_FRAMES, \
					     DEPOT_TAIL_STEP)

/**
 * struct depot_tails - a trace's tails
 * @nr: number of them that could be shared
 * @rest: frames of the longest one that a record holds already; 0 if none does
 * @shared: where that record lies in the pool
 * @hash: that of the tail with (n + 1) * DEPOT_TAIL_STEP frames
 */
struct depot_tails {
	unsigned int nr;
	unsigned int rest;
	u32 shared;
	u32 hash[DEPOT_NR_TAILS];
};

bool depot_scan(const struct depot_trace *trace, struct depot_tails *tails);
void depot_find_tail(const struct depot_space *space,
		     const struct depot_trace *trace, struct depot_tails *tails);
void depot_offer_tails(const struct depot_space *space,
		       const struct depot_tails *tails);

/* Two frames as a record holds them, in one load. @step leads to the newer one. */
static __always_inline u64 depot_pair(const unsigned long *p, long step)
{
	unsigned long older = p[0], newer = p[step];

	/* Keeps the compiler from loading halves, as it can load pairs at once. */
	OPTIMIZER_HIDE_VAR(newer);
	OPTIMIZER_HIDE_VAR(older);
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		swap(newer, older);
	return (u32)older | (u64)newer << 32;
}

/**
 * depot_equal_narrow() - compare frames with those of a narrow record
 * @oldest: the oldest of the frames
 * @newest: the newest
 * @step: from a frame to the next newer one: 1 or -1
 * @nr: how many, not 0; a multiple of DEPOT_TAIL_STEP, or as many as @rec's trace has
 * @rec: the record; it holds the newest of @nr frames itself
 * @first: index of its first frame, for records that share no frames
 *
 * What records share comes in fours. So only the newest frames of all may make less
 * than four, and a record's share of the others is compared four at a time.
 *
 * Return: whether all are the outermost frames of the record's trace.
 */
static __always_inline bool
depot_equal_narrow(const unsigned long *oldest, const unsigned long *newest,
		   long step, unsigned int nr, const struct depot_record *rec,
		   unsigned int first)
{
	unsigned int rest = rec->rest;
	const u32 *word = &rec->word[first + nr - rest];
	const unsigned long *p = newest;

	if (nr & 1) {
		if ((u32)*p != *--word)
			return false;
		p -= step;
	}
	if (nr & 2) {
		word -= 2;
		if (depot_pair(p - step, step) !=
		    get_unaligned((const u64 *)word))
			return false;
	}

	nr &= ~3U;
	if (nr == rest) {
		if (!rest)
			return true;
		rec = depot_outer(rec);
		rest = rec->rest;
	}
	for (;;) {
		const u64 *pair = (const u64 *)&rec->word[first];
		unsigned int own = nr - rest;

		/* Keeps the compiler from adding up the address each time. */
		OPTIMIZER_HIDE_VAR(pair);
		p = oldest + (long)rest * step;
		do {
			/* Without a branch between the two. */
			if ((int)(depot_pair(p, step) != get_unaligned(pair)) |
			    (int)(depot_pair(p + 2 * step, step) !=
				  get_unaligned(pair + 1)))
				return false;
			p += 4 * step;
			pair += 2;
			own -= 4;
		} while (own);
		if (!rest)
			return true;
		nr = rest;
		rec = depot_outer(rec);
		rest = rec->rest;
	}
}

/* === Tables =============================================================== */

/**
 * struct depot_table - a hash table that grows by a bucket at a time
 * @geometry: number of buckets in the lower half; in the upper one that number
 *	less one, rounded up to all ones
 * @dir: pages of buckets
 * @dir_size: pages that @dir has room for
 * @dir_bytes: what it takes, with those that it replaced
 * @growing: set by who adds a bucket
 *
 * A bucket is the reference of its first record. Bucket n was split off the one
 * that n is without its highest bit. Bits 0-26 of a bucket are the reference, bit
 * 31 is its lock.
 */
struct depot_table {
	u64 geometry;
	u32 **dir;
	unsigned int dir_size;
	unsigned long dir_bytes;
	atomic_t growing;
};

#define DEPOT_BUCKET_LOCK	BIT(31)
#define DEPOT_BUCKETS_SHIFT	(PAGE_SHIFT - 2)
#define DEPOT_BUCKETS_PER_PAGE	BIT(DEPOT_BUCKETS_SHIFT)

/* A macro, so that it can initialize. */
#define DEPOT_GEOMETRY(mask, buckets)	((u64)(mask) << 32 | (buckets))

/* Persistent records and evictable ones: see the comments in table.c. */
extern struct depot_table depot_persistent;
extern struct depot_table depot_evictable;

static __always_inline u32 *
depot_bucket_of(const struct depot_table *table, u64 geometry, u32 hash)
{
	u32 n = hash & (u32)(geometry >> 32);

	if (n >= (u32)geometry)
		n &= (u32)(geometry >> 33);
	return &READ_ONCE(READ_ONCE(table->dir)[n >> DEPOT_BUCKETS_SHIFT])
		[n & (DEPOT_BUCKETS_PER_PAGE - 1)];
}

static __always_inline u32 *
depot_bucket(const struct depot_table *table, u32 hash)
{
	/* Pairs with the release in depot_table_split(). */
	return depot_bucket_of(table, smp_load_acquire(&table->geometry), hash);
}

u32 *depot_bucket_wait(struct depot_table *table, u32 hash);

/**
 * depot_bucket_unlock() - unlock a bucket
 * @bucket: the bucket
 * @ref: what its first record is now
 * @flags: what depot_bucket_lock() stored
 *
 * Context: as depot_bucket_lock() left it.
 */
static __always_inline void depot_bucket_unlock(u32 *bucket, u32 ref,
						unsigned long flags)
{
	/* Makes the record complete for whoever finds it: an address dependency. */
	smp_store_release(bucket, ref & DEPOT_REF_MASK);
	local_irq_restore(flags);
}

/* Try to lock the bucket of @hash, with interrupts off. */
static __always_inline u32 *depot_bucket_trylock(struct depot_table *table,
						 u32 hash)
{
	/* Pairs with the release in depot_table_split(). */
	u64 geometry = smp_load_acquire(&table->geometry);
	u32 *bucket = depot_bucket_of(table, geometry, hash);
	u32 old = READ_ONCE(*bucket) & ~DEPOT_BUCKET_LOCK;

	/* Pairs with the release in depot_bucket_unlock(). */
	if (!try_cmpxchg_acquire(bucket, &old, old | DEPOT_BUCKET_LOCK))
		return NULL;
	/* Was it split before we had it? A split ends before its bucket is unlocked. */
	if (likely(READ_ONCE(table->geometry) == geometry) ||
	    bucket == depot_bucket(table, hash))
		return bucket;
	/* As it was: nobody else can have changed it. Pairs with the acquire above. */
	smp_store_release(bucket, old);
	return NULL;
}

/**
 * depot_bucket_lock() - lock the bucket of a hash
 * @table: the table
 * @hash: the hash
 * @flags: the caller's interrupt state, for depot_bucket_unlock()
 *
 * Interrupts are off while a bucket is locked, and no other lock is taken under
 * it: whoever holds it is done after a few dozen instructions.
 *
 * Context: any.
 * Return: the bucket, which can't be split until it is unlocked. NULL if an NMI
 * found it locked, maybe by what it interrupted.
 */
static __always_inline u32 *depot_bucket_lock(struct depot_table *table, u32 hash,
					      unsigned long *flags)
{
	unsigned long saved;
	u32 *bucket;

	local_irq_save(saved);
	bucket = depot_bucket_trylock(table, hash);
	if (unlikely(!bucket)) {
		bucket = depot_bucket_wait(table, hash);
		if (!bucket)
			local_irq_restore(saved);
	}
	*flags = saved;
	return bucket;
}

bool depot_table_started(const struct depot_table *table);
bool depot_table_start(struct depot_table *table, gfp_t gfp, bool can_alloc);
void depot_table_grow(struct depot_table *table, gfp_t gfp, bool can_alloc);
unsigned long depot_table_bytes(const struct depot_table *table);

/* === Handles that callers bring back ====================================== */

/**
 * enum depot_lookup - what became of a handle's trace
 * @DEPOT_FOUND: it is there
 * @DEPOT_GONE: the policy evicted it
 * @DEPOT_BAD: no such trace was ever stored, or it was freed
 */
enum depot_lookup {
	DEPOT_FOUND,
	DEPOT_GONE,
	DEPOT_BAD,
};

enum depot_lookup depot_look_up(depot_stack_handle_t handle,
				struct depot_record **rec);

/* flat.c */
unsigned int depot_flat_get(depot_stack_handle_t handle, unsigned int nr,
			    bool evictable, unsigned long **entries);
void depot_flat_drop(u32 ref);

#endif /* _LIB_STACKDEPOT_FAST_DEPOT_H */
