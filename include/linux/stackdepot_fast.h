/* SPDX-License-Identifier: GPL-2.0 */
/* What the fast stack depot offers beyond <linux/stackdepot.h>: saves in place, and counts. */
#ifndef _LINUX_STACKDEPOT_FAST_H
#define _LINUX_STACKDEPOT_FAST_H

#include <linux/array_size.h>
#include <linux/compiler.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>

/*
 * Flag for stack_depot_save_flags() and the functions below: the trace gets a
 * count of its own, which stack_depot_count_add() changes. A trace that is saved
 * with this flag and without it has two handles. The fast depot only.
 */
#define STACK_DEPOT_FLAG_COUNT	((depot_flags_t)0x8000)

/*
 * Frames of a trace that is saved without the caller's buffer, at most. Where it has
 * to be copied, the copy is on the stack, below any caller of an allocator.
 */
#define STACK_DEPOT_CURRENT_FRAMES \
	(CONFIG_STACKDEPOT_MAX_FRAMES < 64 ? CONFIG_STACKDEPOT_MAX_FRAMES : 64)

#ifdef CONFIG_STACKDEPOT_FAST

depot_stack_handle_t __stack_depot_save_current(unsigned int skipnr,
						unsigned int max,
						gfp_t alloc_flags,
						depot_flags_t depot_flags);
unsigned int stack_depot_copy(depot_stack_handle_t handle, unsigned int from,
			      unsigned long *store, unsigned int size);
bool stack_depot_count_add(depot_stack_handle_t handle, int nr);
depot_stack_handle_t stack_depot_next_counted(depot_stack_handle_t handle,
					      int *count);

/**
 * stack_depot_save_current_max() - save the current task's trace, without a copy
 * @skipnr: how many of the newest frames to leave out; with 0 the first frame lies
 *	in the function that this is inlined into
 * @max: how many frames to keep at most, STACK_DEPOT_CURRENT_FRAMES or less
 * @alloc_flags: as for stack_depot_save_flags()
 * @depot_flags: as for stack_depot_save_flags()
 *
 * Context: any. Allocates memory if @depot_flags say that it can; not in NMI.
 * Return: the trace's handle, or 0 as stack_depot_save_flags().
 */
static __always_inline depot_stack_handle_t
stack_depot_save_current_max(unsigned int skipnr, unsigned int max,
			     gfp_t alloc_flags, depot_flags_t depot_flags)
{
	depot_stack_handle_t handle;

	if (!max)
		return 0;
	if (max > STACK_DEPOT_CURRENT_FRAMES)
		max = STACK_DEPOT_CURRENT_FRAMES;
	handle = __stack_depot_save_current(skipnr, max, alloc_flags,
					    depot_flags);
	/* No tail call: the caller is a frame of its own trace. */
	barrier();
	return handle;
}

#define stack_depot_save_current_counted(skipnr, max, alloc_flags)	\
	stack_depot_save_current_max((skipnr), (max), (alloc_flags),	\
				     STACK_DEPOT_FLAG_CAN_ALLOC |	\
				     STACK_DEPOT_FLAG_COUNT)

#define stack_depot_save_counted(entries, nr_entries, alloc_flags)	\
	stack_depot_save_flags((entries), (nr_entries), (alloc_flags),	\
			       STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_COUNT)

#else /* CONFIG_STACKDEPOT_FAST */

#define stack_depot_save_current_max(skipnr, max, alloc_flags, depot_flags)	\
({										\
	unsigned long __entries[max];						\
	unsigned int __nr = stack_trace_save(__entries, ARRAY_SIZE(__entries),	\
					     (skipnr));				\
										\
	stack_depot_save_flags(__entries, __nr, (alloc_flags), (depot_flags));	\
})

#define stack_depot_save_current_counted(skipnr, max, alloc_flags)		\
({										\
	unsigned long __entries[max];						\
	unsigned int __nr = stack_trace_save(__entries, ARRAY_SIZE(__entries),	\
					     (skipnr));				\
										\
	stack_depot_save(__entries, __nr, (alloc_flags));			\
})

#define stack_depot_save_counted(entries, nr_entries, alloc_flags)	\
	stack_depot_save((entries), (nr_entries), (alloc_flags))

static inline unsigned int stack_depot_copy(depot_stack_handle_t handle,
					    unsigned int from,
					    unsigned long *store,
					    unsigned int size)
{
	return 0;
}

static inline bool stack_depot_count_add(depot_stack_handle_t handle, int nr)
{
	return false;
}

static inline depot_stack_handle_t
stack_depot_next_counted(depot_stack_handle_t handle, int *count)
{
	return 0;
}

#endif /* CONFIG_STACKDEPOT_FAST */

/**
 * stack_depot_save_current() - save the current task's trace, without a copy
 * @skipnr: as for stack_depot_save_current_max()
 * @alloc_flags: as for stack_depot_save_flags()
 * @depot_flags: as for stack_depot_save_flags()
 *
 * Return: the trace's handle, or 0. For the rest see
 * stack_depot_save_current_max(), of which this is the case without a limit of
 * the caller's.
 */
#define stack_depot_save_current(skipnr, alloc_flags, depot_flags)	\
	stack_depot_save_current_max((skipnr), STACK_DEPOT_CURRENT_FRAMES, \
				     (alloc_flags), (depot_flags))

/**
 * stack_depot_fetch_into() - get a trace where nothing may be allocated
 * @handle: the trace's handle
 * @buf: where it is copied to, if the depot doesn't have it as an array
 * @size: how many frames fit
 * @entries: set to the trace, the newest frame first
 *
 * Context: any.
 * Return: number of frames; 0 where the trace was evicted.
 */
static inline unsigned int stack_depot_fetch_into(depot_stack_handle_t handle,
						  unsigned long *buf,
						  unsigned int size,
						  unsigned long **entries)
{
	if (!IS_ENABLED(CONFIG_STACKDEPOT_FAST))
		return stack_depot_fetch(handle, entries);
	*entries = buf;
	return stack_depot_copy(handle, 0, buf, size);
}

#endif /* _LINUX_STACKDEPOT_FAST_H */
