// SPDX-License-Identifier: GPL-2.0
/* Flat copies of traces, for those who fetch one: made once, kept for as long as the trace. */

#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "depot.h"

/* === Data ================================================================= */

/**
 * struct depot_flat - a trace as an array
 * @next: reference of the next one in the list
 * @ref: reference of the trace's record
 * @entries: the frames, the newest first
 */
struct depot_flat {
	u32 next;
	u32 ref;
	unsigned long entries[];
};

#define DEPOT_FLAT_SHIFT	6

/*
 * A flat copy lies in a pool of its trace's kind: a persistent one's is no older
 * than the trace, so that it isn't evicted before it; a list ends where it reaches
 * an evicted pool. An evictable trace's copy is freed with the trace.
 */
static u32 depot_persistent_flats[BIT(DEPOT_FLAT_SHIFT)];
static u32 depot_evictable_flats[BIT(DEPOT_FLAT_SHIFT)];

/* Protects both lists. Few traces are ever fetched. */
static DEFINE_RAW_SPINLOCK(depot_flat_lock);

static unsigned int depot_flat_units(unsigned int nr)
{
	return DIV_ROUND_UP(sizeof(struct depot_flat) +
			    nr * sizeof(unsigned long), DEPOT_UNIT_SIZE);
}

static u32 *depot_flat_head(u32 ref, bool evictable)
{
	u32 *heads = evictable ? depot_evictable_flats : depot_persistent_flats;

	return &heads[hash_32(ref, DEPOT_FLAT_SHIFT)];
}

static struct depot_flat *depot_flat_find(u32 ref, u32 *link)
{
	lockdep_assert_held(&depot_flat_lock);

	while (*link) {
		struct depot_flat *flat = (void *)depot_record(*link);

		if (!flat) {
			WRITE_ONCE(*link, 0);
			break;
		}
		if (flat->ref == ref)
			return flat;
		link = &flat->next;
	}
	return NULL;
}

/* === Making one =========================================================== */

/*
 * Whether memory may be allocated, without waiting for any: a report may be printed
 * from inside the allocator. That has interrupts off where it holds its locks; with
 * PREEMPT_RT, where it has not, preemptible() tells.
 */
static bool depot_flat_can_alloc(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		return preemptible();
	return in_task() && !irqs_disabled();
}

static bool depot_flat_reserve(bool evictable, unsigned int units,
			       struct depot_space *space)
{
	bool can_alloc = depot_flat_can_alloc();
	gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;

	if (evictable)
		return depot_evictable_reserve(units, gfp, can_alloc, space);
	do {
		if (!depot_writable_pool(DEPOT_USE_FLAT, gfp, can_alloc, units,
					 space))
			return false;
	} while (!depot_reserve(space, units));
	return true;
}

/**
 * depot_flat_get() - get a trace as an array
 * @handle: its handle
 * @nr: how many frames it has
 * @evictable: whether its record is evictable
 * @entries: set to the array, if there is one
 *
 * Context: any.
 * Return: number of frames, or 0.
 */
unsigned int depot_flat_get(depot_stack_handle_t handle, unsigned int nr,
			    bool evictable, unsigned long **entries)
{
	u32 ref = handle & DEPOT_REF_MASK;
	unsigned int units = depot_flat_units(nr);
	u32 *head = depot_flat_head(ref, evictable);
	struct depot_flat *flat, *made;
	struct depot_space space;
	unsigned long flags;

	if (!depot_lock(&depot_flat_lock, &flags))
		goto failed;
	flat = depot_flat_find(ref, head);
	raw_spin_unlock_irqrestore(&depot_flat_lock, flags);
	if (flat)
		goto found;

	if (!depot_flat_reserve(evictable, units, &space))
		goto failed;
	made = (void *)space.rec;
	made->ref = ref;
	if (stack_depot_copy(handle, 0, made->entries, nr) != nr) {
		/* Evicted meanwhile. */
		nr = 0;
		goto release;
	}

	if (!depot_lock(&depot_flat_lock, &flags)) {
		nr = 0;
		depot_count(DEPOT_FLAT_FAILED);
		goto release;
	}
	flat = depot_flat_find(ref, head);
	if (!flat) {
		made->next = *head;
		/* Pairs with READ_ONCE() in depot_flat_drop(). */
		WRITE_ONCE(*head, space.ref);
	}
	raw_spin_unlock_irqrestore(&depot_flat_lock, flags);
	if (flat)
		goto release;

	flat = made;
	depot_count(DEPOT_FLAT_COUNT);
	depot_count_add(DEPOT_FLAT_UNITS, units);
	if (!evictable)
		depot_commit(&space);
found:
	*entries = flat->entries;
	return nr;

release:
	if (evictable)
		depot_evictable_release(&space);
	else
		depot_abandon(&space);
	if (nr)
		goto found;
	return 0;

failed:
	depot_count(DEPOT_FLAT_FAILED);
	return 0;
}

/**
 * depot_flat_drop() - free the flat copy of an evictable trace
 * @ref: reference of the trace's record, whose last reference is gone
 *
 * Context: not NMI.
 */
void depot_flat_drop(u32 ref)
{
	u32 *link = depot_flat_head(ref, true);
	struct depot_space space = { };
	struct depot_flat *flat;
	unsigned long flags;

	/* Who makes one for this trace holds a reference: there will be none. */
	if (likely(!READ_ONCE(*link)))
		return;
	raw_spin_lock_irqsave(&depot_flat_lock, flags);
	while (*link) {
		flat = (void *)depot_record(*link);
		if (flat->ref == ref) {
			space.ref = *link;
			WRITE_ONCE(*link, flat->next);
			break;
		}
		link = &flat->next;
	}
	raw_spin_unlock_irqrestore(&depot_flat_lock, flags);

	if (!space.ref)
		return;
	space.pool = depot_pool(space.ref >> DEPOT_SEQ_SHIFT);
	space.units = depot_flat_units(depot_size(depot_record(ref)));
	depot_evictable_release(&space);
}
