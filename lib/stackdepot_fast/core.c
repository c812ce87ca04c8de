// SPDX-License-Identifier: GPL-2.0
/* The depot's interface: saving a trace, and what can be done with its handle. */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/scs_trace.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_fast.h>
#include <linux/stacktrace.h>

#include <asm/sections.h>

#include "depot.h"

/* === Data ================================================================= */

/*
 * Set once, by the first of the two init functions. Before, the tables are empty:
 * the fast path needs no look at it.
 */
bool depot_ready __read_mostly;

unsigned long depot_window __read_mostly;

bool stack_depot_disabled __read_mostly;
static bool depot_early_requested __initdata =
	IS_ENABLED(CONFIG_STACKDEPOT_ALWAYS_INIT);
static bool depot_early_passed __initdata;

DEFINE_PER_CPU(struct depot_counters, depot_counters);

/* === Fast path: a trace that is stored already ============================ */

static __always_inline bool depot_equal_wide(const struct depot_trace *trace,
					     const struct depot_record *rec)
{
	const unsigned long *addr = (const unsigned long *)&rec->word[1];
	unsigned int i;

	for (i = trace->nr; i--; addr++)
		if (depot_frame(trace, i) != get_unaligned(addr))
			return false;
	return true;
}

/*
 * Whether @rec, which is of the same kind, is the record of @trace.
 *
 * Only low halves are compared with a narrow record. For a trace that is known to
 * be narrow that is exact. A trace off the shadow call stack is not known to be,
 * but its entries are return addresses in the window, where modules and what the BPF
 * JIT made lie as well, except that the entry of an exception may leave there
 * whatever the program counter was. Such a trace has the exception entry's own
 * return address right before, as no record that is narrow
 * has it: see depot_scan(). So it can't be taken for one.
 */
static __always_inline bool depot_equal(const struct depot_trace *trace,
					const struct depot_record *rec)
{
	if (rec->size != (u8)trace->nr)
		return false;
	if (trace->kind & DEPOT_WIDE)
		return depot_equal_wide(trace, rec);
	return depot_equal_narrow(depot_oldest(trace), trace->newest,
				  -trace->step, trace->nr, rec,
				  depot_first_word(trace->kind));
}

/*
 * Find @trace in @table, among the records of its kind. What the walk may miss: a
 * record in a bucket that is being split, and one that is being inserted. Who
 * finds nothing must therefore look again with the bucket locked.
 */
static __always_inline u32 depot_find(const struct depot_table *table,
				      const struct depot_trace *trace,
				      u32 hash, bool may_evict)
{
	u32 next = READ_ONCE(*depot_bucket(table, hash));

	while (next & DEPOT_REF_MASK) {
		u32 ref = next & DEPOT_REF_MASK;
		struct depot_pool *pool = depot_pool(ref >> DEPOT_SEQ_SHIFT);
		struct depot_record *rec;

		/* An evicted pool: whatever follows is older still. */
		if (may_evict && !pool)
			break;
		rec = depot_record_in(pool, ref);
		next = READ_ONCE(rec->next);
		if (READ_ONCE(rec->hash) != hash ||
		    ((next ^ trace->kind) & DEPOT_KIND_MASK))
			continue;
		/* A freed record's frames may be its RCU cookie: it has no references. */
		if (data_race(depot_equal(trace, rec)))
			return ref;
	}
	return 0;
}

/*
 * Find a persistent record under policy "evict". Not instrumented: we may be called
 * from what traces or instruments RCU.
 */
static noinline u32 depot_find_before_evicted(const struct depot_trace *trace,
					      u32 hash)
{
	u32 ref;

	/* Keeps evicted pools from being used again, see depot_evict_oldest(). */
	rcu_read_lock_sched_notrace();
	ref = depot_find(&depot_persistent, trace, hash, true);
	rcu_read_unlock_sched_notrace();
	return ref;
}

static __always_inline u32 depot_find_persistent(const struct depot_trace *trace,
						 u32 hash)
{
	if (unlikely(depot_policy == DEPOT_EVICT))
		return depot_find_before_evicted(trace, hash);
	return depot_find(&depot_persistent, trace, hash, false);
}

/*
 * Find an evictable record and take a reference to it. Not inline, as this would
 * cost those who look for persistent ones registers.
 */
static noinline u32 depot_find_evictable(const struct depot_trace *trace, u32 hash)
{
	u32 ref;

	/* Keeps freed records from being overwritten, see depot_free_now(). */
	rcu_read_lock_sched_notrace();
	ref = depot_find(&depot_evictable, trace, hash, false);
	if (ref && !depot_get(depot_record(ref)))
		ref = 0;
	rcu_read_unlock_sched_notrace();
	return ref;
}

static __always_inline u32 depot_find_any(const struct depot_trace *trace, u32 hash)
{
	if (trace->kind & DEPOT_EVICTABLE)
		return depot_find_evictable(trace, hash);
	return depot_find_persistent(trace, hash);
}

static u32 depot_save_slow(struct depot_trace *trace, u32 hash);
static u32 depot_save(unsigned long *entries, unsigned int nr, gfp_t gfp,
		      depot_flags_t flags);

static __always_inline u32 depot_kind(depot_flags_t flags)
{
	if (flags & STACK_DEPOT_FLAG_GET)
		return DEPOT_EVICTABLE | DEPOT_REFS;
	if (flags & STACK_DEPOT_FLAG_COUNT)
		return DEPOT_REFS;
	return 0;
}

static __always_inline u32 depot_find_or_insert(struct depot_trace *trace)
{
	u32 hash = depot_hash(trace);
	u32 ref = depot_find_any(trace, hash);

	if (likely(ref))
		return ref;
	return depot_save_slow(trace, hash);
}

static depot_stack_handle_t depot_save_rare(unsigned int skipnr, unsigned int max,
					    gfp_t gfp, depot_flags_t flags,
					    const unsigned long *top);
static depot_stack_handle_t depot_save_walk(unsigned long pc, unsigned long fp,
					    unsigned int skipnr, unsigned int max,
					    gfp_t gfp, depot_flags_t flags);

/* @depth entries of a shadow call stack lie below @top: save them. */
static __always_inline u32 depot_save_entries(const unsigned long *top,
					      unsigned long depth,
					      unsigned int skipnr,
					      unsigned int max, gfp_t gfp,
					      depot_flags_t flags)
{
	struct depot_trace trace;

	if (unlikely(skipnr >= depth))
		return 0;
	trace.newest = top - 1 - skipnr;
	trace.step = -1;
	trace.nr = min(depth - skipnr, (unsigned long)max);
	trace.kind = depot_kind(flags);
	trace.gfp = gfp;
	trace.flags = flags;

	return depot_find_or_insert(&trace);
}

/*
 * On a kernel without shadow call stacks each save comes here: the trace that begins
 * with @pc, the rest of which is in frame records from the one at @fp on, is written
 * to a buffer and looked up there. What depot_equal() says of entries off a shadow
 * call stack is true of these, too. @above is how many functions lie between the one
 * that this is inlined into and the one that returns to @pc.
 */
static __always_inline depot_stack_handle_t depot_walk(unsigned long pc,
						       unsigned long fp,
						       unsigned int above,
						       unsigned int skipnr,
						       unsigned int max, gfp_t gfp,
						       depot_flags_t flags)
{
	unsigned long entries[STACK_DEPOT_CURRENT_FRAMES] __uninitialized;
	struct depot_trace trace = {
		.newest = entries,
		.step = 1,
		.kind = depot_kind(flags),
		.gfp = gfp,
		.flags = flags,
	};
	unsigned int size = min_t(unsigned int, max, ARRAY_SIZE(entries));
	int nr = scs_trace_walk(pc, fp, entries, size, skipnr);

	if (unlikely(nr < 0))
		return depot_save(entries,
				  stack_trace_save(entries, size,
						   skipnr + above + 1),
				  gfp, flags);
	if (unlikely(!nr || !in_task()))
		return depot_save(entries, nr, gfp, flags);

	trace.nr = nr;
	return depot_find_or_insert(&trace);
}

/* See stack_depot_save_current_max(), which limits @max. */
noinline notrace depot_stack_handle_t
__stack_depot_save_current(unsigned int skipnr, unsigned int max, gfp_t gfp,
			   depot_flags_t flags)
{
	const unsigned long *top;
	depot_stack_handle_t handle;
	unsigned long depth;

	if (scs_trace_always_walks())
		return depot_walk(scs_trace_caller_pc(), scs_trace_caller_fp(),
				  0, skipnr, max, gfp, flags);

	/* A trace out of an interrupt needs to be cut: filter_irq_stacks(). */
	depth = scs_trace_peek(&top, in_task());
	if (likely(depth))
		return depot_save_entries(top, depth, skipnr, max, gfp, flags);

	if (scs_trace_walks())
		handle = depot_save_walk(scs_trace_caller_pc(),
					 scs_trace_caller_fp(), skipnr, max, gfp,
					 flags);
	else
		handle = depot_save_rare(skipnr, max, gfp, flags, top);
	/* No tail call: the newest entry is ours. */
	barrier();
	return handle;
}
EXPORT_SYMBOL_GPL(__stack_depot_save_current);

/* === Rare path: a trace that has to be stored ============================= */

/* @step leads to the next newer frame. */
static __always_inline void depot_fill_narrow(u32 *word, const unsigned long *p,
					      long step, unsigned int own)
{
	for (; own >= 4; own -= 4, p += 4 * step, word += 4) {
		u32 a = p[0], b = p[step], c = p[2 * step], d = p[3 * step];

		word[0] = a;
		word[1] = b;
		word[2] = c;
		word[3] = d;
	}
	for (; own; own--, p += step)
		*word++ = *p;
}

static void depot_fill_wide(unsigned long *addr, const struct depot_trace *trace)
{
	unsigned int i;

	for (i = trace->nr; i--; addr++)
		put_unaligned(depot_frame(trace, i), addr);
}

/* Write the record of @trace, whose outer @rest frames the record at @shared has. */
static __always_inline void depot_fill(struct depot_record *rec,
				       const struct depot_trace *trace, u32 hash,
				       unsigned int rest, u16 shared)
{
	u32 *word = &rec->word[depot_first_word(trace->kind)];
	const unsigned long *oldest = depot_oldest(trace);

	/* depot_refs() needs these. */
	rec->next = trace->kind;
	rec->size = trace->nr;
	rec->rest = rest;
	rec->shared = shared;
	rec->hash = hash;
	if (trace->kind & DEPOT_REFS)
		atomic_set(depot_refs(rec), trace->kind & DEPOT_EVICTABLE ? 1 : 0);
	if (unlikely(trace->kind & DEPOT_WIDE))
		depot_fill_wide((unsigned long *)word, trace);
	else if (trace->step < 0)
		depot_fill_narrow(word, oldest + rest, 1, trace->nr - rest);
	else
		depot_fill_narrow(word, oldest - rest, -1, trace->nr - rest);
}

/* No reference: the hash has as many traces as may share one. */
#define DEPOT_HASH_FULL		DEPOT_BUCKET_LOCK

/*
 * Put @space's record into its bucket, unless another CPU was faster: then return
 * the reference of that record. 0 if an NMI found the bucket locked.
 */
static __always_inline u32 depot_link(struct depot_table *table,
				      const struct depot_trace *trace, u32 hash,
				      const struct depot_space *space, bool *crowded)
{
	unsigned int others = 0, same = 0;
	const u32 kind = trace->kind;
	u32 *bucket, *link, ref, head;
	unsigned long flags;

	bucket = depot_bucket_lock(table, hash, &flags);
	if (unlikely(!bucket)) {
		depot_count(DEPOT_DROP_CONTENDED);
		return 0;
	}

	head = READ_ONCE(*bucket) & DEPOT_REF_MASK;
	for (link = NULL, ref = head; ref; ref = *link & DEPOT_REF_MASK) {
		struct depot_pool *pool = depot_pool(ref >> DEPOT_SEQ_SHIFT);
		struct depot_record *rec = depot_record_in(pool, ref);

		if (!pool) {
			/* The rest was evicted. */
			if (link)
				WRITE_ONCE(*link, *link & ~DEPOT_REF_MASK);
			else
				head = 0;
			break;
		}
		if (unlikely(rec->hash == hash &&
			     !((rec->next ^ kind) & DEPOT_KIND_MASK))) {
			if (depot_equal(trace, rec) &&
			    (!(kind & DEPOT_EVICTABLE) || depot_get(rec))) {
				depot_bucket_unlock(bucket, head, flags);
				return ref;
			}
			same++;
		}
		link = &rec->next;
		others++;
	}

	if (unlikely(same >= DEPOT_SAME_HASH && !(kind & DEPOT_HASHED_ALL))) {
		depot_bucket_unlock(bucket, head, flags);
		return DEPOT_HASH_FULL;
	}
	space->rec->next = kind | head;
	/* From here on it stays: those who walk over all records may see it. */
	depot_mark_start(space);
	depot_bucket_unlock(bucket, space->ref, flags);
	*crowded = others >= 6;
	return space->ref;
}

static __always_inline bool depot_can_alloc(const struct depot_trace *trace)
{
	return trace->flags & STACK_DEPOT_FLAG_CAN_ALLOC;
}

static noinline u32 depot_insert_evictable(const struct depot_trace *trace, u32 hash)
{
	bool can_alloc = depot_can_alloc(trace), crowded;
	struct depot_space space;
	u32 ref;

	if (!depot_table_start(&depot_evictable, trace->gfp, can_alloc)) {
		depot_count(DEPOT_DROP_NOMEM);
		return 0;
	}
	if (!depot_evictable_reserve(depot_record_units(trace->kind, trace->nr),
				     trace->gfp, can_alloc, &space)) {
		depot_count(space.why);
		return 0;
	}
	depot_fill(space.rec, trace, hash, 0, 0);
	ref = depot_link(&depot_evictable, trace, hash, &space, &crowded);
	if (ref != space.ref) {
		depot_evictable_release(&space);
		if (ref && ref != DEPOT_HASH_FULL)
			depot_count(DEPOT_RACED);
		return ref;
	}
	depot_count(DEPOT_REFD_ALLOCS);
	if (trace->kind & DEPOT_WIDE)
		depot_count(DEPOT_WIDE_COUNT);
	if (unlikely(crowded))
		depot_table_grow(&depot_evictable, trace->gfp, can_alloc);
	return ref;
}

static __always_inline u32 depot_insert_persistent(const struct depot_trace *trace,
						   u32 hash,
						   struct depot_tails *tails)
{
	unsigned int units = depot_record_units(trace->kind, trace->nr);
	struct depot_space space;
	bool reserved, crowded;
	u32 ref;

	do {
		if (!depot_writable_pool(DEPOT_USE_PERSISTENT, trace->gfp,
					 depot_can_alloc(trace), units, &space)) {
			depot_count(space.why);
			return 0;
		}
		/* The pool isn't pinned before there is room. */
		rcu_read_lock_sched_notrace();
		depot_find_tail(&space, trace, tails);
		units = depot_record_units(trace->kind, trace->nr - tails->rest);
		reserved = depot_reserve(&space, units);
		rcu_read_unlock_sched_notrace();
	} while (!reserved);

	depot_fill(space.rec, trace, hash, tails->rest, tails->shared);
	ref = depot_link(&depot_persistent, trace, hash, &space, &crowded);
	if (unlikely(ref != space.ref)) {
		depot_abandon(&space);
		if (ref && ref != DEPOT_HASH_FULL)
			depot_count(DEPOT_RACED);
		return ref;
	}
	depot_offer_tails(&space, tails);
	depot_commit(&space);

	depot_count(DEPOT_PERSIST_COUNT);
	depot_count_add(DEPOT_PERSIST_UNITS, units);
	if (trace->kind & DEPOT_WIDE)
		depot_count(DEPOT_WIDE_COUNT);
	if (unlikely(crowded))
		depot_table_grow(&depot_persistent, trace->gfp,
				 depot_can_alloc(trace));
	return ref;
}

static __always_inline u32 depot_insert(const struct depot_trace *trace, u32 hash,
					struct depot_tails *tails)
{
	if (trace->kind & DEPOT_EVICTABLE)
		return depot_insert_evictable(trace, hash);
	return depot_insert_persistent(trace, hash, tails);
}

/* Find @trace after its kind has changed. Set @hash to what its hash is now. */
static noinline u32 depot_find_again(const struct depot_trace *trace, u32 *hash)
{
	*hash = trace->kind & DEPOT_HASHED_ALL ? depot_hash_all(trace) :
						 depot_hash(trace);
	return depot_find_any(trace, *hash);
}

/*
 * Hashes that had as many traces as may share one. Set before any trace is stored by
 * all of its frames instead, and never cleared.
 */
static DECLARE_BITMAP(depot_crowded, 1024);

static __always_inline u32 depot_crowd(u32 hash)
{
	return hash % 1024;
}

static noinline u32 depot_save_slow(struct depot_trace *trace, u32 hash)
{
	struct depot_tails tails;
	u32 ref;

	if (!depot_ready || !trace->nr)
		return 0;
	/* As little can be had in NMI as without the flag. */
	if (WARN_ON_ONCE(depot_can_alloc(trace) && in_nmi()))
		trace->flags &= ~STACK_DEPOT_FLAG_CAN_ALLOC;

	if (unlikely(!depot_scan(trace, &tails))) {
		tails.nr = 0;
		if (!(trace->kind & DEPOT_WIDE)) {
			trace->kind |= DEPOT_WIDE;
			ref = depot_find_again(trace, &hash);
			if (ref)
				return ref;
		}
	}
	/* No room is taken, which there may not be, before it is looked for again. */
	if (unlikely(test_bit(depot_crowd(hash), depot_crowded))) {
		u32 hash_all;

		trace->kind |= DEPOT_HASHED_ALL;
		ref = depot_find_again(trace, &hash_all);
		if (ref)
			return ref;
		trace->kind &= ~DEPOT_HASHED_ALL;
	}
	do {
		ref = depot_insert(trace, hash, &tails);
		if (likely(ref != DEPOT_HASH_FULL))
			return ref;
		set_bit(depot_crowd(hash), depot_crowded);
		trace->kind |= DEPOT_HASHED_ALL;
		ref = depot_find_again(trace, &hash);
	} while (!ref);
	return ref;
}

/* Whether all frames of @trace lie in the window. */
static bool depot_in_window(const struct depot_trace *trace)
{
	const unsigned long window = depot_window;
	const unsigned long *p = trace->newest;
	unsigned long outside = 0;
	unsigned int left;

	for (left = trace->nr; left >= 4; left -= 4, p += 4)
		outside |= (p[0] - window) | (p[1] - window) |
			   (p[2] - window) | (p[3] - window);
	for (; left; left--)
		outside |= *p++ - window;
	return !(outside >> 32);
}

/*
 * Save a trace from an array: upper halves are looked at first, so that none of the
 * narrow records can be taken for a trace outside the window, see depot_equal().
 */
static u32 depot_save(unsigned long *entries, unsigned int nr, gfp_t gfp,
		      depot_flags_t flags)
{
	struct depot_trace trace = {
		.newest = entries,
		.step = 1,
		.kind = depot_kind(flags),
		.gfp = gfp,
		.flags = flags,
	};

	/* Where interrupts come from says nothing, and would fill the depot. */
	nr = filter_irq_stacks(entries, nr);
	if (unlikely(!nr || !depot_ready))
		return 0;

	trace.nr = min_t(unsigned int, nr, CONFIG_STACKDEPOT_MAX_FRAMES);
	if (unlikely(!depot_in_window(&trace)))
		trace.kind |= DEPOT_WIDE;
	return depot_find_or_insert(&trace);
}

static bool depot_in_irqentry_text(unsigned long addr)
{
	return in_range(addr, (unsigned long)__irqentry_text_start,
			__irqentry_text_end - __irqentry_text_start) ||
	       in_range(addr, (unsigned long)__softirqentry_text_start,
			__softirqentry_text_end - __softirqentry_text_start);
}

/*
 * Make @span what filter_irq_stacks() would leave of a trace that is saved in hard-
 * or softirq context, if that lies on one shadow call stack.
 */
static bool depot_peek_interrupt(const unsigned long *top,
				 struct scs_trace_span *span, unsigned int skipnr)
{
	const unsigned long *p;
	bool whole;

	if (!scs_trace_peek_current(top, span, &whole))
		return false;
	for (p = span->top - skipnr; --p >= span->base;) {
		if (depot_in_irqentry_text(*p)) {
			span->base = p;
			return true;
		}
	}
	return whole;
}

static noinline depot_stack_handle_t depot_save_copy(unsigned int skipnr,
						     unsigned int max, gfp_t gfp,
						     depot_flags_t flags)
{
	unsigned long entries[STACK_DEPOT_CURRENT_FRAMES];
	unsigned int nr;

	/* Leaves out this function, depot_save_rare() and its caller, too. */
	nr = stack_trace_save(entries,
			      min_t(unsigned int, max, ARRAY_SIZE(entries)),
			      skipnr + 3);
	return depot_save(entries, nr, gfp, flags);
}

static noinline depot_stack_handle_t depot_save_walk(unsigned long pc,
						     unsigned long fp,
						     unsigned int skipnr,
						     unsigned int max, gfp_t gfp,
						     depot_flags_t flags)
{
	/* Its caller is to be left out, too. */
	return depot_walk(pc, fp, 1, skipnr, max, gfp, flags);
}

static noinline depot_stack_handle_t depot_save_rare(unsigned int skipnr,
						     unsigned int max, gfp_t gfp,
						     depot_flags_t flags,
						     const unsigned long *top)
{
	struct scs_trace_span span;
	depot_stack_handle_t handle;

	if (depot_peek_interrupt(top, &span, skipnr))
		return depot_save_entries(span.top, span.top - span.base, skipnr,
					  max, gfp, flags);

	handle = depot_save_copy(skipnr, max, gfp, flags);
	/* No tail call: it skips this frame. */
	barrier();
	return handle;
}

/**
 * stack_depot_save_flags() - save a trace
 * @entries: the trace, the newest frame first
 * @nr_entries: number of frames; those beyond CONFIG_STACKDEPOT_MAX_FRAMES are
 *	left out
 * @alloc_flags: how memory may be allocated
 * @depot_flags: STACK_DEPOT_FLAG_CAN_ALLOC if memory may be allocated at all,
 *	STACK_DEPOT_FLAG_GET for a record that stack_depot_put() frees,
 *	STACK_DEPOT_FLAG_COUNT for one with a count
 *
 * What precedes an interrupt is left out. A trace that is stored already costs
 * neither a lock nor memory.
 *
 * Context: any. In NMI without STACK_DEPOT_FLAG_CAN_ALLOC.
 * Return: the trace's handle, or 0 if it could not be stored.
 */
depot_stack_handle_t stack_depot_save_flags(unsigned long *entries,
					    unsigned int nr_entries,
					    gfp_t alloc_flags,
					    depot_flags_t depot_flags)
{
	if (WARN_ON(depot_flags &
		    ~(STACK_DEPOT_FLAGS_MASK | STACK_DEPOT_FLAG_COUNT)))
		return 0;

	return depot_save(entries, nr_entries, alloc_flags, depot_flags);
}
EXPORT_SYMBOL_GPL(stack_depot_save_flags);

/**
 * stack_depot_save() - save a trace for good
 * @entries: the trace, the newest frame first
 * @nr_entries: number of frames
 * @alloc_flags: how memory may be allocated
 *
 * Context: any where @alloc_flags are allowed; not NMI.
 * Return: as stack_depot_save_flags().
 */
depot_stack_handle_t stack_depot_save(unsigned long *entries,
				      unsigned int nr_entries,
				      gfp_t alloc_flags)
{
	return depot_save(entries, nr_entries, alloc_flags,
			  STACK_DEPOT_FLAG_CAN_ALLOC);
}
EXPORT_SYMBOL_GPL(stack_depot_save);

/* === Handles that callers bring back ====================================== */

/**
 * depot_look_up() - find the record of a handle
 * @handle: the handle, or anything at all
 * @rec: its record, if found
 *
 * A pool knows where its records begin: no other handle gets past that.
 *
 * Context: any. Preemption must be off for as long as @rec is used, unless the
 * caller has a reference to the trace.
 * Return: what became of the trace.
 */
enum depot_lookup depot_look_up(depot_stack_handle_t handle,
				struct depot_record **rec)
{
	u32 ref = handle & DEPOT_REF_MASK;
	u32 seq = ref >> DEPOT_SEQ_SHIFT;
	struct depot_pool **leaf, *pool;

	/* Pairs with the release in depot_install_pool(). */
	if (!ref || seq >= smp_load_acquire(&depot_next_seq))
		return DEPOT_BAD;
	leaf = READ_ONCE(depot_leaves[seq >> DEPOT_LEAF_SHIFT]);
	pool = leaf ? READ_ONCE(leaf[seq & (DEPOT_LEAF_SIZE - 1)]) : NULL;
	if (!pool)
		return depot_policy == DEPOT_EVICT ? DEPOT_GONE : DEPOT_BAD;
	if (!depot_starts_at(pool, ref))
		return DEPOT_BAD;
	*rec = depot_record_in(pool, ref);
	return DEPOT_FOUND;
}

static void depot_bad_handle(const char *what, depot_stack_handle_t handle)
{
	depot_count(DEPOT_BAD_HANDLES);
	WARN(1, "corrupt handle or %s: %08x\n", what, handle);
}

/**
 * stack_depot_copy() - copy a stored trace, or a part of it
 * @handle: the trace's handle
 * @from: how many of its newest frames to leave out
 * @store: where to put the rest
 * @size: how many frames fit
 *
 * Context: any.
 * Return: number of frames stored; 0 where there are no more, or where the trace
 * was evicted.
 */
unsigned int stack_depot_copy(depot_stack_handle_t handle, unsigned int from,
			      unsigned long *store, unsigned int size)
{
	struct depot_cursor cur;
	struct depot_record *rec;
	unsigned long frame;
	unsigned int n = 0;

	/* Keeps the trace from being overwritten if it is freed or evicted meanwhile. */
	rcu_read_lock_sched_notrace();
	if (depot_look_up(handle, &rec) == DEPOT_FOUND) {
		depot_cursor_init(&cur, rec);
		/* A freed record's frames may be its RCU cookie: see below. */
		while (n < size && data_race(depot_cursor_next(&cur, &frame))) {
			if (from)
				from--;
			else
				store[n++] = frame;
		}
		/* Pairs with the barriers in arena.c. */
		smp_rmb();
		if (depot_look_up(handle, &rec) == DEPOT_BAD)
			n = 0;
	}
	rcu_read_unlock_sched_notrace();
	return n;
}

/*
 * Whether @handle means a trace that is there; if not, say so where it is wrong. The
 * number of its frames goes to @nr, its kind to @kind.
 */
static enum depot_lookup depot_check(depot_stack_handle_t handle, const char *what,
				     unsigned int *nr, u32 *kind)
{
	struct depot_record *rec;
	enum depot_lookup found;

	rcu_read_lock_sched_notrace();
	found = depot_look_up(handle, &rec);
	if (found == DEPOT_FOUND) {
		*nr = depot_size(rec);
		*kind = READ_ONCE(rec->next) & DEPOT_KIND_MASK;
	}
	rcu_read_unlock_sched_notrace();

	if (found == DEPOT_GONE)
		depot_count(DEPOT_EVICTED_FETCHES);
	else if (found == DEPOT_BAD)
		depot_bad_handle(what, handle);
	return found;
}

/**
 * stack_depot_fetch() - get a trace
 * @handle: its handle
 * @entries: set to the trace, the newest frame first, or to NULL
 *
 * The depot makes a flat copy of the trace and keeps it for as long as the trace
 * itself. Who only prints does better with stack_depot_print() or
 * stack_depot_snprint(), which need no copy.
 *
 * Context: any.
 * Return: number of frames; 0 where the trace was evicted, where @handle is 0 or
 * corrupt, and where no memory is to be had for the copy.
 */
unsigned int stack_depot_fetch(depot_stack_handle_t handle,
			       unsigned long **entries)
{
	unsigned int nr;
	u32 kind;

	*entries = NULL;
	/* The caller's pointer is initialized now, although not by its own code. */
	kmsan_unpoison_memory(entries, sizeof(*entries));

	if (!handle || !depot_ready)
		return 0;
	if (depot_check(handle, "use after stack_depot_put()", &nr, &kind) !=
	    DEPOT_FOUND)
		return 0;
	return depot_flat_get(handle, nr, kind & DEPOT_EVICTABLE, entries);
}
EXPORT_SYMBOL_GPL(stack_depot_fetch);

/**
 * stack_depot_put() - drop a reference that STACK_DEPOT_FLAG_GET took
 * @handle: the trace's handle
 *
 * Context: any.
 */
void stack_depot_put(depot_stack_handle_t handle)
{
	static const char what[] = "unbalanced put";
	struct depot_record *rec;
	unsigned int nr;
	u32 kind;
	int refs;

	if (!handle || !depot_ready ||
	    depot_check(handle, what, &nr, &kind) != DEPOT_FOUND)
		return;
	if (!(kind & DEPOT_EVICTABLE)) {
		depot_bad_handle(what, handle);
		return;
	}

	/* The caller's reference keeps it, and no pool of its kind is evicted. */
	rec = depot_record(handle & DEPOT_REF_MASK);
	refs = atomic_read(depot_refs(rec));
	do {
		if (unlikely(refs == DEPOT_REFS_SATURATED))
			return;
		if (refs <= 0) {
			depot_bad_handle(what, handle);
			return;
		}
	} while (!atomic_try_cmpxchg(depot_refs(rec), &refs, refs - 1));
	if (refs == 1)
		depot_evictable_free(handle & DEPOT_REF_MASK);
}
EXPORT_SYMBOL_GPL(stack_depot_put);

/**
 * stack_depot_count_add() - change the count of a trace
 * @handle: its handle, from a save with STACK_DEPOT_FLAG_COUNT
 * @nr: what to add; negative to subtract
 *
 * The count of an evicted trace went with it.
 *
 * Context: any.
 * Return: whether this depot keeps counts at all.
 */
bool stack_depot_count_add(depot_stack_handle_t handle, int nr)
{
	struct depot_record *rec;

	if (!handle || !depot_ready)
		return true;

	/* If it is evicted right now, the count still has its place. */
	rcu_read_lock_sched_notrace();
	if (depot_look_up(handle, &rec) == DEPOT_FOUND &&
	    (READ_ONCE(rec->next) & (DEPOT_REFS | DEPOT_EVICTABLE)) == DEPOT_REFS)
		atomic_add(nr, depot_refs(rec));
	rcu_read_unlock_sched_notrace();
	return true;
}

/**
 * __stack_depot_get_stack_record() - none of upstream's records
 * @handle: a handle
 *
 * page_owner keeps its counts with stack_depot_count_add().
 *
 * Return: NULL.
 */
struct stack_record *__stack_depot_get_stack_record(depot_stack_handle_t handle)
{
	return NULL;
}

/* Frames that are decoded at a time, to go easy on the stack. */
#define DEPOT_PRINT_FRAMES	8

static const char depot_gone_text[] = "(stack was evicted from the stack depot)";

/**
 * stack_depot_print() - print a trace
 * @stack: its handle
 *
 * Context: any.
 */
void stack_depot_print(depot_stack_handle_t stack)
{
	unsigned long frames[DEPOT_PRINT_FRAMES];
	unsigned int from = 0, nr;
	struct depot_record *rec;
	u32 kind;

	if (!stack || !depot_ready)
		return;
	switch (depot_check(stack, "use after stack_depot_put()", &nr, &kind)) {
	case DEPOT_GONE:
		pr_err(" %s\n", depot_gone_text);
		return;
	case DEPOT_BAD:
		return;
	case DEPOT_FOUND:
		break;
	}
	while ((nr = stack_depot_copy(stack, from, frames, ARRAY_SIZE(frames)))) {
		stack_trace_print(frames, nr, 0);
		from += nr;
	}
	/* It may have been evicted meanwhile. */
	if (depot_look_up(stack, &rec) == DEPOT_GONE)
		pr_err(" %s\n", depot_gone_text);
}
EXPORT_SYMBOL_GPL(stack_depot_print);

/**
 * stack_depot_snprint() - print a trace into a buffer
 * @handle: its handle
 * @buf: the buffer
 * @size: its size in bytes
 * @spaces: how far to indent each line
 *
 * Context: any.
 * Return: number of bytes, as stack_trace_snprint().
 */
int stack_depot_snprint(depot_stack_handle_t handle, char *buf, size_t size,
			int spaces)
{
	unsigned long frames[DEPOT_PRINT_FRAMES];
	unsigned int from = 0, nr;
	int total = 0, len;
	u32 kind;

	if (!handle || !depot_ready)
		return 0;
	switch (depot_check(handle, "use after stack_depot_put()", &nr, &kind)) {
	case DEPOT_GONE:
		return snprintf(buf, size, "%*c%s\n", 1 + spaces, ' ',
				depot_gone_text);
	case DEPOT_BAD:
		return 0;
	case DEPOT_FOUND:
		break;
	}
	while (size > 0) {
		nr = stack_depot_copy(handle, from, frames, ARRAY_SIZE(frames));
		if (!nr)
			break;
		len = stack_trace_snprint(buf, size, frames, nr, spaces);
		total += len;
		if (len >= size)
			break;
		buf += len;
		size -= len;
		from += nr;
	}
	return total;
}
EXPORT_SYMBOL_GPL(stack_depot_snprint);

/**
 * stack_depot_set_extra_bits() - keep some bits of the caller's in a handle
 * @handle: the handle
 * @extra_bits: STACK_DEPOT_EXTRA_BITS bits
 *
 * Context: any.
 * Return: @handle with the bits, or 0 if it is 0.
 */
depot_stack_handle_t __must_check
stack_depot_set_extra_bits(depot_stack_handle_t handle, unsigned int extra_bits)
{
	if (!handle)
		return 0;
	return (handle & DEPOT_REF_MASK) | (extra_bits << DEPOT_REF_BITS);
}
EXPORT_SYMBOL(stack_depot_set_extra_bits);

/**
 * stack_depot_get_extra_bits() - what stack_depot_set_extra_bits() kept
 * @handle: the handle
 *
 * Context: any.
 * Return: the bits.
 */
unsigned int stack_depot_get_extra_bits(depot_stack_handle_t handle)
{
	return handle >> DEPOT_REF_BITS;
}
EXPORT_SYMBOL(stack_depot_get_extra_bits);

/* === Boot ================================================================= */

static int __init depot_disable(char *str)
{
	return kstrtobool(str, &stack_depot_disabled);
}
early_param("stack_depot_disable", depot_disable);

static int depot_init(void)
{
	/* Halfway between the limits that the window leaves on both sides. */
	depot_window = (unsigned long)_text - BIT(31);
	/* Pairs with nothing: whoever saves later finds tables that are there. */
	smp_store_release(&depot_ready, true);
	return 0;
}

/**
 * stack_depot_request_early_init() - ask for stack_depot_early_init() to do it
 *
 * Context: early parameters.
 */
void __init stack_depot_request_early_init(void)
{
	/* Too late to request early init now. */
	WARN_ON(depot_early_passed);

	depot_early_requested = true;
}

/**
 * stack_depot_early_init() - make the depot ready, if that was requested
 *
 * Context: mm_core_init(), once.
 * Return: 0.
 */
int __init stack_depot_early_init(void)
{
	if (WARN_ON(depot_early_passed))
		return 0;
	depot_early_passed = true;

	if (stack_depot_disabled) {
		pr_info("disabled\n");
		return 0;
	}
	if (!depot_early_requested)
		return 0;
	return depot_init();
}

/**
 * stack_depot_init() - make the depot ready
 *
 * Context: any; nothing is allocated.
 * Return: 0. With stack_depot_disable= it stays as it is and saves nothing.
 */
int stack_depot_init(void)
{
	if (stack_depot_disabled || depot_ready)
		return 0;
	return depot_init();
}
EXPORT_SYMBOL_GPL(stack_depot_init);
