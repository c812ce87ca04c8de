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
#define DEPOT_TAIL_UNIT		DEPOT_UNIT_MASK

static u32 depot_tail_entries[BIT(DEPOT_TAILS_SHIFT)];

/* Records that make up a trace at most: a hit walks over all of them. */
#define DEPOT_MAX_PARTS		4

/* === Hashes of tails ====================================================== */

static __always_inline u32 *depot_tail_slot(u32 hash)
{
	return &depot_tail_entries[hash >> (32 - DEPOT_TAILS_SHIFT)];
}

static __always_inline u32 depot_tail_entry(u32 hash, u32 seq, u32 unit)
{
	u32 check = hash * 8 ^ seq * GOLDEN_RATIO_32;

	return (check & ~DEPOT_TAIL_UNIT) | unit;
}

/* Whether the frame after @frame is a return address, too: see depot_scan(). */
static __always_inline bool depot_plain_frame(unsigned long frame)
{
	return frame - (unsigned long)__entry_text_start >=
	       (unsigned long)(__entry_text_end - __entry_text_start);
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
	unsigned int n, quads = (trace->nr - 1) / DEPOT_TAIL_STEP;
	unsigned int left = trace->nr - quads * DEPOT_TAIL_STEP;
	const unsigned long window = depot_window;
	const long step = trace->step;
	const unsigned long *p = trace->newest + (long)(trace->nr - 1) * step;
	unsigned long a, b, c, d, outside = 0;
	unsigned int strange = 0;
	u64 sum = 0;

	/* A trace has a frame of its own at least: the newest one is in no tail. */
	tails->nr = quads;
	for (n = 0; n < quads; n++) {
		a = p[0];
		b = p[-step];
		c = p[-2 * step];
		d = p[-3 * step];
		sum = depot_hash_one(sum, a);
		sum = depot_hash_one(sum, b);
		sum = depot_hash_one(sum, c);
		sum = depot_hash_one(sum, d);
		tails->hash[n] = depot_hash_finish(sum);
		outside |= (a - window) | (b - window) | (c - window) | (d - window);
		/* The oldest frame of all, with n = 0, may lie there. */
		if (unlikely(!((depot_plain_frame(a) || !n) &&
			       depot_plain_frame(b) && depot_plain_frame(c) &&
			       depot_plain_frame(d))))
			strange++;
		p -= DEPOT_TAIL_STEP * step;
	}
	for (; left; left--) {
		outside |= *p - window;
		if (unlikely(!depot_plain_frame(*p)) &&
		    p != trace->newest + (long)(trace->nr - 1) * step)
			strange++;
		p -= step;
	}
	return !strange && !(outside >> 32);
}

/* === Search =============================================================== */

/*
 * Whether the outer @nr frames of @trace are those of the trace at @rec, and the
 * newest of them is that record's own.
 */
static bool depot_tail_fits(const struct depot_record *rec,
			    const struct depot_trace *trace, unsigned int nr)
{
	const struct depot_record *part;
	unsigned int parts = 2;

	if (rec->rest >= nr || depot_size(rec) < nr ||
	    (READ_ONCE(rec->next) & (DEPOT_WIDE | DEPOT_EVICTABLE)))
		return false;
	for (part = rec; part->rest; parts++) {
		if (parts == DEPOT_MAX_PARTS)
			return false;
		part = depot_outer(part);
	}
	return depot_equal_narrow(depot_oldest(trace), -trace->step, nr, rec, 0);
}

/**
 * depot_find_tail() - find a record that holds a trace's outer frames
 * @space: the pool that the trace will be stored in
 * @trace: the trace
 * @tails: what depot_scan() made of it
 * @tail: the longest such part that was found
 *
 * What is found is good if space can be reserved in the same pool afterwards.
 *
 * Context: any, with preemption off.
 */
void depot_find_tail(const struct depot_space *space,
		     const struct depot_trace *trace,
		     const struct depot_tails *tails, struct depot_tail *tail)
{
	unsigned int n;

	tail->unit = 0;
	tail->nr = 0;
	if (!depot_holds(space))
		return;
	for (n = tails->nr; n; n--) {
		u32 hash = tails->hash[n - 1];
		/* Pairs with the release in depot_offer_tails(). */
		u32 entry = smp_load_acquire(depot_tail_slot(hash));
		u32 unit = entry & DEPOT_TAIL_UNIT;

		if (entry == depot_tail_entry(hash, space->seq, unit) &&
		    test_bit(unit, space->pool->starts) &&
		    depot_tail_fits(depot_record_in(space->pool, unit), trace,
				    n * DEPOT_TAIL_STEP)) {
			tail->unit = unit;
			tail->nr = n * DEPOT_TAIL_STEP;
			return;
		}
	}
}

/**
 * depot_offer_tails() - let later traces share the frames of a new record
 * @space: where the record is
 * @tails: what depot_scan() made of its trace
 * @tail: the part of it that another record holds
 *
 * Context: any.
 */
void depot_offer_tails(const struct depot_space *space,
		       const struct depot_tails *tails,
		       const struct depot_tail *tail)
{
	u32 unit = space->ref & DEPOT_UNIT_MASK;
	unsigned int n;

	for (n = tail->nr / DEPOT_TAIL_STEP; n < tails->nr; n++) {
		u32 hash = tails->hash[n];

		/* Pairs with the acquire in depot_find_tail(). */
		smp_store_release(depot_tail_slot(hash),
				  depot_tail_entry(hash, space->seq, unit));
	}
}
