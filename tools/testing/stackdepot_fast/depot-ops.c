// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a depot's functions. Compiled once for each depot, with DEPOT its
 * name; when the two are linked, only these tables stay visible of them.
 */
#include <linux/stackdepot.h>
#include <linux/stackdepot_fast.h>
#include <linux/stacktrace.h>
#include <linux/stringify.h>

#include "depot.h"

static_assert(DEPOT_CAN_ALLOC == STACK_DEPOT_FLAG_CAN_ALLOC);
static_assert(DEPOT_GET == STACK_DEPOT_FLAG_GET);
static_assert(DEPOT_COUNT == STACK_DEPOT_FLAG_COUNT);
static_assert(DEPOT_MAX_FRAMES == CONFIG_STACKDEPOT_MAX_FRAMES);
static_assert(DEPOT_EXTRA_BITS == STACK_DEPOT_EXTRA_BITS);

#define DEPOT_NAME(depot, what)		depot##what
#define DEPOT_SYMBOL(depot, what)	DEPOT_NAME(depot, what)
#define SECTION_NAME(bound, depot, what) __##bound##_##depot##what
#define SECTION_BOUND(bound, depot, what) SECTION_NAME(bound, depot, what)

const struct depot DEPOT_SYMBOL(DEPOT, _depot) = {
	.name = __stringify(DEPOT),
	.unit = SHIM_UNIT,
	.request_early_init = stack_depot_request_early_init,
	.early_init = stack_depot_early_init,
	.init = stack_depot_init,
	.save = stack_depot_save,
	.save_flags = stack_depot_save_flags,
	.fetch = stack_depot_fetch,
	.put = stack_depot_put,
	.print = stack_depot_print,
	.snprint = stack_depot_snprint,
	.set_extra = stack_depot_set_extra_bits,
	.get_extra = stack_depot_get_extra_bits,
#ifdef DEPOT_EXTRAS
	.save_current = __stack_depot_save_current,
	.copy = stack_depot_copy,
	.count_add = stack_depot_count_add,
	.next_counted = stack_depot_next_counted,
#endif
};

/* depot.lds gathers the depot's data in these sections. */
extern char SECTION_BOUND(start, DEPOT, _data)[], SECTION_BOUND(stop, DEPOT, _data)[];
extern char SECTION_BOUND(start, DEPOT, _percpu)[] __weak;
extern char SECTION_BOUND(stop, DEPOT, _percpu)[] __weak;

static void __attribute__((constructor)) register_data(void)
{
	shim_register_data(SHIM_UNIT,
			   SECTION_BOUND(start, DEPOT, _data), SECTION_BOUND(stop, DEPOT, _data),
			   SECTION_BOUND(start, DEPOT, _percpu),
			   SECTION_BOUND(stop, DEPOT, _percpu));
}
