/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests share: traces made from a number, and functions that are called in NMI. */
#ifndef _LIB_STACKDEPOT_FAST_DEPOT_TESTLIB_H
#define _LIB_STACKDEPOT_FAST_DEPOT_TESTLIB_H

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>

#include <asm/sections.h>

/* === Made-up traces ======================================================= */

/*
 * A trace is made from a key, so that nobody has to remember it. Its newest frame
 * tells the key. Its older half it has in common with traces of the same family, as
 * traces of the real kind do.
 *
 * Each test has keys of its own, below DEPOT_KEYS.
 */
#define DEPOT_KEYS		BIT(27)
#define DEPOT_TORTURE_KEYS	BIT(26)
#define DEPOT_KEY_FAMILY	15U

/* Where a wide trace's frames lie: in nobody's window. */
#define DEPOT_WIDE_BASE		0x5a00000000000000UL

/* Nor is there code here, so that no frame is taken for the entry of an interrupt. */
static inline unsigned long depot_narrow_base(void)
{
	return PAGE_ALIGN((unsigned long)_end) + SZ_1M;
}

static inline void depot_make(unsigned long *frames, u32 key, unsigned int nr,
			      bool wide)
{
	unsigned long base = wide ? DEPOT_WIDE_BASE : depot_narrow_base();
	unsigned int i;

	for (i = 1; i < nr; i++) {
		u64 seed = i <= nr / 2 ? (u64)key << 32 | i << 16 | nr :
					 (u64)(key & DEPOT_KEY_FAMILY) << 8 | (nr - i);

		frames[i] = base + 4UL * hash_64(seed, 27);
	}
	frames[0] = base + 4UL * key;
}

/* The key of a trace that isn't wide. If nobody made it, a number past DEPOT_KEYS. */
static inline unsigned long depot_key_of(unsigned long newest)
{
	return (newest - depot_narrow_base()) / 4;
}

/* === NMI ================================================================== */

#ifdef CONFIG_PERF_EVENTS

static DEFINE_PER_CPU(struct perf_event *, depot_nmi_event);

/* Undo depot_nmi_start(). No call is under way any more afterwards. */
static inline void depot_nmi_stop(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct perf_event *event = per_cpu(depot_nmi_event, cpu);

		if (event)
			perf_event_release_kernel(event);
		per_cpu(depot_nmi_event, cpu) = NULL;
	}
}

/*
 * Call @fn each time that a CPU has made @cycles, in NMI where the PMU's interrupt is
 * one. Nothing keeps it out, so that in time it comes between any two instructions.
 */
static inline int depot_nmi_start(perf_overflow_handler_t fn, u64 cycles)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.pinned		= 1,
		.sample_period	= cycles,
	};
	int cpu;

	for_each_online_cpu(cpu) {
		struct perf_event *event;

		event = perf_event_create_kernel_counter(&attr, cpu, NULL, fn, NULL);
		if (IS_ERR(event)) {
			depot_nmi_stop();
			return PTR_ERR(event);
		}
		per_cpu(depot_nmi_event, cpu) = event;
	}
	return 0;
}

#endif /* CONFIG_PERF_EVENTS */

#endif /* _LIB_STACKDEPOT_FAST_DEPOT_TESTLIB_H */
