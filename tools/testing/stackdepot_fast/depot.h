/* SPDX-License-Identifier: GPL-2.0 */
/* A depot as the tests see it: the functions of linux/stackdepot.h, once for each of the two. */
#ifndef DEPOT_H
#define DEPOT_H

#ifndef __KERNEL__
#include <stdbool.h>
#endif

#include <shim/shim.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

#define DEPOT_CAN_ALLOC		1u
#define DEPOT_GET		2u
#define DEPOT_COUNT		0x8000u		/* where there is count_add() */
#define DEPOT_MAX_FRAMES	64
#define DEPOT_EXTRA_BITS	5
#define DEPOT_HANDLE_MASK	((1u << (32 - DEPOT_EXTRA_BITS)) - 1)

struct depot {
	const char *name;
	int unit;
	void (*request_early_init)(void);
	int (*early_init)(void);
	int (*init)(void);
	unsigned int (*save)(unsigned long *entries, unsigned int nr, unsigned int gfp);
	unsigned int (*save_flags)(unsigned long *entries, unsigned int nr, unsigned int gfp,
				   unsigned int flags);
	unsigned int (*fetch)(unsigned int handle, unsigned long **entries);
	void (*put)(unsigned int handle);
	void (*print)(unsigned int handle);
	int (*snprint)(unsigned int handle, char *buf, unsigned long size, int spaces);
	unsigned int (*set_extra)(unsigned int handle, unsigned int bits);
	unsigned int (*get_extra)(unsigned int handle);

	/* What linux/stackdepot_fast.h adds; NULL for upstream's. */
	unsigned int (*save_current)(unsigned int skip, unsigned int max, unsigned int gfp,
				     unsigned int flags);
	unsigned int (*copy)(unsigned int handle, unsigned int from, unsigned long *store,
			     unsigned int size);
	bool (*count_add)(unsigned int handle, int nr);
	unsigned int (*next_counted)(unsigned int handle, int *count);
};

extern const struct depot upstream_depot, fast_depot;

/* Flags of allocations, with the kernel's values. */
extern const unsigned int depot_gfp_kernel, depot_gfp_atomic, depot_gfp_nowait, depot_gfp_nofs,
			  depot_gfp_nested, depot_gfp_nolockdep, depot_gfp_zone_bits;

#endif /* DEPOT_H */
