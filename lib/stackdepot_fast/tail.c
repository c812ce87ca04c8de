// SPDX-License-Identifier: GPL-2.0
/* Finds the outer part of a new trace in a record of the same pool, so that it is stored once. */

#include <linux/hash.h>

#include <asm/sections.h>

#include "depot.h"

/* === Data ================================================================= */

/*
 * Traces that share their outermost frames share them from the same record. Where
 * that record lies is kept by a hash of those frames, for the pool in use only, as
 * only records of the same pool may share: so a pool can be evicted without a look
 * at others. An entry that is lost or stale costs a few bytes, never more: frames
 * are compared before they are shared.
 *
 * What to share was decided on recorded traces, a boot's 2492 and a workload's
 * 4769. Bytes a trace with a header of 12: 81 without sharing; 51.4 with tails of
 * a multiple of four frames and at most four records a trace; 50.5 and 50.1 with
 * every second and every one, for two and four times the entries; and no less
 * where records of other pools may be shared, as these chains are longer.
 */
#define DEPOT_TAILS_SHIFT	9

/* An entry is the place of the record in its pool, and above that a check. */
#define DEPOT_TAIL_UNIT		((u32)DEPOT_UNIT_MASK)

static u32 depot_tail_entries[BIT(DEPOT_TAILS_SHIFT)];

/* Records that make up a trace at most: a hit walks over all of them. */
#define DEPOT_MAX_PARTS		4

/* === Tags of tails ======================================================== */

/*
 * A tag is made of the hash of a tail and the number of a pool. Its lowest bits say
 * where the entry is, those above DEPOT_TAIL_UNIT are the entry's check.
 */
static_assert(DEPOT_TAILS_SHIFT <= DEPOT_SEQ_SHIFT);

static __always_inline u32 depot_tail_tag(u32 hash, u32 seq)
{
	return hash ^ seq * GOLDEN_RATIO_32;
}

static __always_inline u32 *depot_tail_slot(u32 tag)
{
	return &depot_tail_entries[tag & (BIT(DEPOT_TAILS_SHIFT) - 1)];
}

/*
 * Whether the frame after @frame is a return address, too: see depot_scan(). Where no
 * trace comes off a shadow call stack that makes no difference, and not all
 * architectures keep their entry text together.
 */
static __always_inline bool depot_plain_frame(unsigned long frame)
{
	if (!IS_ENABLED(CONFIG_SCS_TRACE))
		return true;
	return frame - (unsigned long)__entry_text_start >=
	       (unsigned long)(__entry_text_end - __entry_text_start);
}

/* depot_scan(), with @step leading to the next newer frame. */
static __always_inline bool depot_scan_by(const struct depot_trace *trace,
					  const long step,
					  struct depot_tails *tails)
{
	/* A trace has a frame of its own at least: the newest one is in no tail. */
	unsigned int n, quads = (trace->nr - 1) / DEPOT_TAIL_STEP;
	unsigned int left = trace->nr - quads * DEPOT_TAIL_STEP;
	const unsigned long *p = depot_oldest(trace);
	const unsigned long window = depot_window;
	unsigned long outside = 0;
	bool strange = false;
	u64 sum = 0;

	tails->nr = quads;
	for (n = 0; n < quads; n++, p += DEPOT_TAIL_STEP * step) {
		unsigned long a = p[0], b = p[step], c = p[2 * step], d = p[3 * step];

		sum = depot_hash_one(sum, a);
		sum = depot_hash_one(sum, b);
		sum = depot_hash_one(sum, c);
		sum = depot_hash_one(sum, d);
		tails->hash[n] = depot_hash_finish(sum);
		outside |= (a - window) | (b - window) | (c - window) | (d - window);
		/* The oldest frame of all, with n = 0, may lie there. */
		if (unlikely(!(depot_plain_frame(a) && depot_plain_frame(b) &&
			       depot_plain_frame(c) && depot_plain_frame(d))))
			strange |= n || !(depot_plain_frame(b) &&
					  depot_plain_frame(c) &&
					  depot_plain_frame(d));
	}
	for (; left; left--, p += step) {
		outside |= *p - window;
		if (unlikely(!depot_plain_frame(*p)))
			strange |= p != depot_oldest(trace);
	}
	return !strange && !(outside >> 32);
}

/**
 * depot_scan() - look at a trace once, before it is stored
 * @trace: the trace
 * @tails: the hashes of the tails that could be shared; complete if it is narrow
 *
 * A trace is narrow if each frame lies in the window, and low halves alone tell it
 * from any other, narrow or not. The latter is not so where an exception brought a
 * frame in: the frame before that is in the entry text. What is entered from user
 * space has no older frame.
 *
 * Context: any.
 * Return: whether the trace is narrow.
 */
bool depot_scan(const struct depot_trace *trace, struct depot_tails *tails)
{
	/* With a step that the compiler knows, frames are loaded in pairs. */
	if (trace->step < 0)
		return depot_scan_by(trace, 1, tails);
	return depot_scan_by(trace, -1, tails);
}

/* === Search =============================================================== */

/* Whether the outer @nr frames of @trace are those of the trace at @rec. */
static bool depot_tail_fits(const struct depot_record *rec,
			    const struct depot_trace *trace, unsigned int nr)
{
	const unsigned long *oldest = depot_oldest(trace);
	const long last = nr - 1;
	const struct depot_record *part;
	unsigned int parts = 2;

	/* The newest of them must be its own. */
	if (rec->rest >= nr || depot_size(rec) < nr ||
	    (READ_ONCE(rec->next) & (DEPOT_WIDE | DEPOT_EVICTABLE)))
		return false;
	for (part = rec; part->rest; parts++) {
		if (parts == DEPOT_MAX_PARTS)
			return false;
		part = depot_outer(part);
	}
	if (trace->step < 0)
		return depot_equal_narrow(oldest, oldest + last, 1, nr, rec, 0);
	return depot_equal_narrow(oldest, oldest - last, -1, nr, rec, 0);
}

/**
 * depot_find_tail() - find a record that holds a trace's outer frames
 * @space: the pool that the trace will be stored in
 * @trace: the trace
 * @tails: what depot_scan() made of it; gets the longest part that was found
 *
 * What is found is good if space can be reserved in the same pool afterwards.
 *
 * Context: any, with preemption off.
 */
void depot_find_tail(const struct depot_space *space,
		     const struct depot_trace *trace, struct depot_tails *tails)
{
	const struct depot_pool *pool = space->pool;
	const u32 seq = space->seq;
	unsigned int n;

	tails->rest = 0;
	tails->shared = 0;
	if (!depot_holds(space))
		return;
	for (n = tails->nr; n; n--) {
		u32 tag = depot_tail_tag(tails->hash[n - 1], seq);
		/* Address dependency, pairs with the release in depot_offer_tails(). */
		u32 entry = READ_ONCE(*depot_tail_slot(tag));
		u32 unit = entry & DEPOT_TAIL_UNIT;

		if ((entry ^ tag) <= DEPOT_TAIL_UNIT &&
		    depot_starts_at(pool, unit) &&
		    depot_tail_fits(depot_record_in(pool, unit), trace,
				    n * DEPOT_TAIL_STEP)) {
			tails->rest = n * DEPOT_TAIL_STEP;
			tails->shared = unit;
			return;
		}
	}
}

/**
 * depot_offer_tails() - let later traces share the frames of a new record
 * @space: where the record is
 * @tails: what depot_find_tail() made of them
 *
 * Context: any.
 */
void depot_offer_tails(const struct depot_space *space,
		       const struct depot_tails *tails)
{
	const u32 unit = space->ref & DEPOT_UNIT_MASK, seq = space->seq;
	const unsigned int nr = tails->nr;
	unsigned int n;

	for (n = tails->rest / DEPOT_TAIL_STEP; n < nr; n++) {
		u32 tag = depot_tail_tag(tails->hash[n], seq);

		/* Pairs with READ_ONCE() in depot_find_tail(): the record is there. */
		smp_store_release(depot_tail_slot(tag),
				  (tag & ~DEPOT_TAIL_UNIT) | unit);
	}
}
