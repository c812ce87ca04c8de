// SPDX-License-Identifier: GPL-2.0
/* The contract of a depot, point by point; and a test for each fault that was met. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "depot.h"
#include "listed.h"

/* The depot under test. */
static const struct depot *d;

/* --- Helpers --------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Trace number @n, of @nr frames, all of them its own. */
static void fill(unsigned long *entries, unsigned int nr, unsigned int n)
{
	for (unsigned int i = 0; i < nr; i++)
		entries[i] = shim_text + 4 * (mix(n * 101ULL + i) % 0x400000);
	entries[0] = shim_text + 4UL * n;
}

static unsigned int save_as(unsigned int n, unsigned int nr, unsigned int flags)
{
	unsigned long entries[128];

	fill(entries, nr, n);
	/* Time passes. */
	if (shim_rcu_poll_advances)
		shim_rcu_advance();
	return d->save_flags(entries, nr, depot_gfp_kernel, flags);
}

static unsigned int save(unsigned int n, unsigned int nr)
{
	return save_as(n, nr, DEPOT_CAN_ALLOC);
}

static unsigned int save_get(unsigned int n, unsigned int nr)
{
	return save_as(n, nr, DEPOT_CAN_ALLOC | DEPOT_GET);
}

static int is_trace(unsigned int handle, unsigned int n, unsigned int nr)
{
	unsigned long expect[128], *entries;

	fill(expect, nr, n);
	return d->fetch(handle, &entries) == nr && !memcmp(entries, expect, nr * sizeof(long));
}

static char *read_stats(void)
{
	char *text = shim_debugfs_read(d->unit, "stackdepot/stats", 4096, NULL, NULL);

	assert_non_null(text);
	return text;
}

static unsigned long stat(const char *name)
{
	char *text = read_stats(), line[64], *p;
	unsigned long value;

	snprintf(line, sizeof(line), "%s: ", name);
	p = strstr(text, line);
	while (p && p != text && p[-1] != '\n')
		p = strstr(p + 1, line);
	if (!p)
		fail_msg("there is no %s in:\n%s", name, text);
	value = strtoul(p + strlen(line), NULL, 10);
	free(text);
	return value;
}

static void boot_with(const char *name, const char *value)
{
	if (name)
		assert_int_equal(shim_boot_param(d->unit, name, value), 0);
	d->request_early_init();
	assert_int_equal(d->early_init(), 0);
	assert_int_equal(d->init(), 0);
	shim_run_initcalls(d->unit);
}

static void boot(void)
{
	boot_with(NULL, NULL);
}

/* How many warnings there were since the test expects some. */
static unsigned long warnings_before;

static int setup(void **state)
{
	d = *state;
	shim_free_buffer_pages = 16384;
	shim_log_clear();
	warnings_before = shim_warnings();
	return 0;
}

static int teardown(void **state)
{
	shim_expect_warnings(0);
	shim_fail_all = 0;
	shim_self()->fail_nth = 0;
	shim_self()->irq_hook = NULL;
	shim_self()->locked_hook = NULL;
	shim_rcu_poll_advances = 1;
	shim_kasan_enabled = 0;
	shim_reboot(d->unit);
	return 0;
}

static void expect_warnings(void)
{
	shim_expect_warnings(1);
	warnings_before = shim_warnings();
}

static unsigned long warnings(void)
{
	return shim_warnings() - warnings_before;
}

/* --- Boot ------------------------------------------------------------------ */

static void test_early_init(void **state)
{
	unsigned int handle;

	d->request_early_init();
	assert_int_equal(d->early_init(), 0);
	handle = save(1, 5);
	assert_true(is_trace(handle, 1, 5));
	/* A later init changes nothing. */
	assert_int_equal(d->init(), 0);
	assert_int_equal(save(1, 5), handle);
}

static void test_late_init(void **state)
{
	assert_int_equal(d->early_init(), 0);
	assert_int_equal(d->init(), 0);
	assert_true(is_trace(save(1, 5), 1, 5));
}

static void test_second_early_init_warns(void **state)
{
	boot();
	expect_warnings();
	assert_int_equal(d->early_init(), 0);
	assert_int_equal(warnings(), 1);
}

static void test_request_after_early_init_warns(void **state)
{
	boot();
	expect_warnings();
	d->request_early_init();
	assert_int_equal(warnings(), 1);
}

static void test_disabled(void **state)
{
	unsigned long *entries = (unsigned long *)1;
	struct shim_mem mem;

	boot_with("stack_depot_disable", "on");
	assert_non_null(strstr(shim_log(), "disabled"));
	mem = shim_mem(d->unit);
	assert_int_equal(save(1, 5), 0);
	assert_int_equal(save_get(1, 5), 0);
	assert_int_equal(d->fetch(0x1234, &entries), 0);
	assert_null(entries);
	d->put(0x1234);
	assert_int_equal(shim_mem(d->unit).allocs, mem.allocs);
	assert_null(shim_debugfs_read(d->unit, "stackdepot/stats", 100, NULL, NULL));
}

static void test_disable_off(void **state)
{
	boot_with("stack_depot_disable", "0");
	assert_true(is_trace(save(1, 5), 1, 5));
}

static void test_kasan_boot(void **state)
{
	shim_kasan_enabled = 1;
	boot();
	assert_true(is_trace(save(1, 5), 1, 5));
}

/* --- Saving and fetching --------------------------------------------------- */

static void test_fetch_is_what_was_saved(void **state)
{
	boot();
	for (unsigned int nr = 1; nr <= DEPOT_MAX_FRAMES; nr++)
		assert_true(is_trace(save(nr, nr), nr, nr));
}

static void test_same_trace_same_handle(void **state)
{
	unsigned int handles[200];

	boot();
	for (unsigned int n = 0; n < 200; n++)
		handles[n] = save(n, 1 + n % 30);
	for (unsigned int n = 0; n < 200; n++) {
		assert_int_equal(save(n, 1 + n % 30), handles[n]);
		for (unsigned int m = 0; m < n; m++)
			assert_int_not_equal(handles[m], handles[n]);
	}
}

static void test_wide_addresses(void **state)
{
	unsigned long edges[] = {
		0, 1, -1UL, shim_text - (1UL << 31), shim_text - (1UL << 31) - 1,
		shim_text + (1UL << 31), shim_text + (1UL << 31) - 1, shim_text + (1UL << 32),
		0xffffffff, 1UL << 32, 1UL << 63, shim_modules, shim_end,
	};
	unsigned long entries[3], *got;
	unsigned int handles[13], nr = ARRAY_SIZE(edges);

	boot();
	for (unsigned int i = 0; i < nr; i++) {
		entries[0] = shim_text;
		entries[1] = edges[i];
		entries[2] = shim_text + 8;
		handles[i] = d->save(entries, 3, depot_gfp_kernel);
		assert_int_not_equal(handles[i], 0);
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(handles[i], handles[j]);
	}
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(d->fetch(handles[i], &got), 3);
		assert_true(got[1] == edges[i]);
	}
}

static void test_empty_trace(void **state)
{
	unsigned long entry = shim_text;

	boot();
	assert_int_equal(d->save(&entry, 0, depot_gfp_kernel), 0);
}

static void test_unknown_flags_warn(void **state)
{
	boot();
	expect_warnings();
	assert_int_equal(save_as(1, 5, 0x10), 0);
	assert_int_equal(warnings(), 1);
}

static void test_too_many_frames(void **state)
{
	unsigned int handle;

	boot();
	handle = save(1, DEPOT_MAX_FRAMES + 30);
	assert_true(is_trace(handle, 1, DEPOT_MAX_FRAMES));
}

static void test_cut_at_interrupt(void **state)
{
	unsigned long entry[] = { SHIM_IRQENTRY_TEXT, SHIM_SOFTIRQENTRY_TEXT };
	unsigned long entries[10], *got;
	unsigned int handle, other;

	boot();
	for (unsigned int i = 0; i < 2; i++) {
		fill(entries, 10, i);
		entries[4] = entry[i] + 16;
		handle = d->save(entries, 10, depot_gfp_kernel);
		assert_int_equal(d->fetch(handle, &got), 5);
		assert_memory_equal(got, entries, 5 * sizeof(long));
		/* Whatever was interrupted. */
		entries[5] += 4;
		other = d->save(entries, 9, depot_gfp_kernel);
		assert_int_equal(handle, other);
	}
}

static void test_caller_keeps_its_array(void **state)
{
	unsigned long entries[20], before[20];

	boot();
	fill(entries, 20, 1);
	memcpy(before, entries, sizeof(before));
	d->save(entries, 20, depot_gfp_kernel);
	assert_memory_equal(entries, before, sizeof(before));
	memset(entries, 0, sizeof(entries));
	assert_true(is_trace(save(1, 20), 1, 20));
}

static void test_handle_0(void **state)
{
	unsigned long *entries = (unsigned long *)1;
	char text[8] = "x";

	boot();
	assert_int_equal(d->fetch(0, &entries), 0);
	assert_null(entries);
	assert_int_equal(d->snprint(0, text, sizeof(text), 0), 0);
	d->put(0);
	d->print(0);
	assert_int_equal(d->set_extra(0, 3), 0);
}

static void test_extra_bits(void **state)
{
	unsigned int handle;

	boot();
	handle = save(1, 5);
	assert_int_equal(d->get_extra(handle), 0);
	for (unsigned int bits = 0; bits < 1u << DEPOT_EXTRA_BITS; bits++) {
		unsigned int with = d->set_extra(handle, bits);

		assert_int_equal(d->get_extra(with), bits);
		assert_int_equal(with & DEPOT_HANDLE_MASK, handle);
		assert_true(is_trace(with, 1, 5));
		/* They replace each other. */
		assert_int_equal(d->set_extra(with, 0), handle);
	}
}

static void test_pointer_stays_good(void **state)
{
	unsigned long expect[16], *first;
	unsigned int handle;

	boot();
	handle = save(0, 16);
	assert_int_equal(d->fetch(handle, &first), 16);
	for (unsigned int n = 1; n < 20000; n++)
		assert_true(is_trace(save(n, 16), n, 16));
	fill(expect, 16, 0);
	assert_memory_equal(first, expect, sizeof(expect));
}

static void test_handles_outlive_growth(void **state)
{
	unsigned int *handles = calloc(100000, sizeof(*handles));

	boot();
	for (unsigned int n = 0; n < 100000; n++) {
		handles[n] = save(n, 1 + n % 20);
		assert_int_not_equal(handles[n], 0);
	}
	for (unsigned int n = 0; n < 100000; n++) {
		assert_int_equal(save(n, 1 + n % 20), handles[n]);
		if (n % 10 == 0)
			assert_true(is_trace(handles[n], n, 1 + n % 20));
	}
	free(handles);
}

/* --- Printing -------------------------------------------------------------- */

static void test_print(void **state)
{
	unsigned long entries[20];
	unsigned int handle;
	char *expect = calloc(1, 4096);

	boot();
	fill(entries, 20, 1);
	handle = save(1, 20);
	for (unsigned int i = 0; i < 20; i++)
		sprintf(expect + strlen(expect), " %p\n", (void *)entries[i]);
	shim_log_clear();
	d->print(handle);
	assert_string_equal(shim_log(), expect);
	free(expect);
}

static void test_snprint(void **state)
{
	unsigned long entries[20];
	char expect[2048] = "", text[2048];
	unsigned int handle, len;

	boot();
	fill(entries, 20, 1);
	handle = save(1, 20);
	for (unsigned int i = 0; i < 20; i++)
		sprintf(expect + strlen(expect), "    %p\n", (void *)entries[i]);
	len = strlen(expect);
	assert_int_equal(d->snprint(handle, text, sizeof(text), 3), len);
	assert_string_equal(text, expect);
	/* As much as fits, with a null at the end. */
	for (unsigned int size = 1; size <= len; size++) {
		memset(text, 'x', sizeof(text));
		assert_true(d->snprint(handle, text, size, 3) >= (int)size);
		assert_memory_equal(text, expect, size - 1);
		assert_int_equal(text[size - 1], 0);
		assert_int_equal(text[size], 'x');
	}
	assert_int_equal(d->snprint(handle, text, 0, 3), 0);
}

/* --- References ------------------------------------------------------------ */

static void test_put_frees_with_the_last_reference(void **state)
{
	unsigned long *entries;
	unsigned int handle;

	boot();
	handle = save_get(1, 9);
	assert_int_equal(save_get(1, 9), handle);
	assert_int_equal(save_get(1, 9), handle);
	assert_int_equal(stat("refcounted_in_use"), 1);
	d->put(handle);
	d->put(d->set_extra(handle, 7));
	assert_true(is_trace(handle, 1, 9));
	d->put(handle);
	assert_int_equal(stat("refcounted_in_use"), 0);
	assert_int_equal(stat("refcounted_allocations"), 1);
	assert_int_equal(stat("refcounted_frees"), 1);
	expect_warnings();
	assert_int_equal(d->fetch(handle, &entries), 0);
	assert_null(entries);
	assert_in_range(warnings(), 1, 2);
}

static void test_freed_memory_is_used_again(void **state)
{
	struct shim_mem mem;

	boot();
	for (unsigned int n = 0; n < 200; n++)
		d->put(save_get(n, 16));
	mem = shim_mem(d->unit);
	for (unsigned int n = 0; n < 20000; n++)
		d->put(save_get(n, 16));
	assert_int_equal(shim_mem(d->unit).pages, mem.pages);
}

static void test_freed_memory_waits_for_readers(void **state)
{
	unsigned int handle, n;

	boot();
	shim_rcu_poll_advances = 0;
	handle = save_get(0, 16);
	d->put(handle);
	for (n = 1; n < 100; n++)
		assert_int_not_equal(save_get(n, 16), handle);
	/* Two steps are a grace period for sure. */
	shim_rcu_poll_advances = 1;
	for (; n < 1000; n++)
		if (save_get(n, 16) == handle)
			return;
	fail_msg("the memory was not used again after a grace period");
}

static void test_freed_trace_can_be_saved_again(void **state)
{
	unsigned int handle;

	boot();
	for (unsigned int i = 0; i < 100; i++) {
		shim_rcu_poll_advances = i % 2;
		handle = save_get(1, 10);
		assert_true(is_trace(handle, 1, 10));
		d->put(handle);
	}
}

/* --- Memory ---------------------------------------------------------------- */

static void test_without_can_alloc_nothing_is_allocated(void **state)
{
	unsigned long allocs;
	unsigned int refused = 0;

	boot();
	allocs = shim_mem(d->unit).allocs;
	for (unsigned int n = 0; n < 5000; n++) {
		unsigned int handle = save_as(n, 16, n & 1 ? DEPOT_GET : 0);

		refused += !handle;
		if (handle)
			assert_true(is_trace(handle, n, 16) || d->copy);
		allocs += d->copy ? shim_mem(d->unit).allocs - allocs : 0;
		assert_int_equal(shim_mem(d->unit).allocs, allocs);
	}
	assert_int_not_equal(refused, 0);
	assert_true(is_trace(save(6000, 16), 6000, 16));
}

static void test_failing_allocations(void **state)
{
	unsigned int refused = 0;

	boot();
	shim_fail_all = 1;
	for (unsigned int n = 0; n < 5000; n++)
		refused += !save_as(n, 16, DEPOT_CAN_ALLOC | (n & 1 ? DEPOT_GET : 0));
	assert_true(refused > 1000);
	shim_fail_all = 0;
	for (unsigned int n = 5000; n < 6000; n++)
		assert_true(is_trace(save(n, 16), n, 16));
}

/* Each allocation of the first saves fails in turn: those after it are served. */
static void test_each_allocation_fails_once(void **state)
{
	for (unsigned int nth = 1; nth < 12; nth++) {
		boot();
		shim_self()->fail_nth = nth;
		for (unsigned int n = 0; n < 3000; n++)
			save_as(n, 16, DEPOT_CAN_ALLOC | (n & 1 ? DEPOT_GET : 0));
		assert_int_equal(shim_self()->fail_nth, 0);
		for (unsigned int n = 0; n < 3000; n++)
			assert_true(is_trace(n & 1 ? save_get(n, 16) : save(n, 16), n, 16));
		shim_reboot(d->unit);
	}
	boot();
}

static void check_gfp(unsigned int gfp)
{
	unsigned long entries[16];
	unsigned int last;

	for (unsigned int n = 0; n < 3000; n++) {
		fill(entries, 16, n);
		d->save(entries, 16, gfp);
	}
	last = shim_mem(d->unit).last_gfp;
	assert_int_equal(last & depot_gfp_zone_bits, 0);
	assert_int_equal(last & depot_gfp_nolockdep, gfp & depot_gfp_nolockdep);
	/* It may sleep, or dig deep, no more than the caller may. */
	assert_int_equal(last & depot_gfp_kernel & ~gfp, 0);
	assert_int_equal(last & depot_gfp_nested, depot_gfp_nested);
	shim_reboot(d->unit);
	boot();
}

static void test_gfp_flags(void **state)
{
	boot();
	check_gfp(depot_gfp_kernel);
	check_gfp(depot_gfp_kernel | depot_gfp_nolockdep | depot_gfp_zone_bits);
	check_gfp(depot_gfp_nowait);
	check_gfp(depot_gfp_atomic);
	check_gfp(depot_gfp_nofs);
}

static unsigned int nested_handle;

static void save_nested(void *arg)
{
	static unsigned int n = 100000;

	nested_handle = save_as(n, 12, DEPOT_CAN_ALLOC);
	if (nested_handle)
		assert_true(is_trace(nested_handle, n, 12) || d->copy);
	n++;
}

/* As page_owner without its guard: the allocator saves while the depot allocates. */
static void test_recursion(void **state)
{
	boot();
	shim_self()->alloc_hook = save_nested;
	for (unsigned int n = 0; n < 20000; n++) {
		unsigned int handle = save_as(n, 16, DEPOT_CAN_ALLOC | (n & 1 ? DEPOT_GET : 0));

		assert_int_not_equal(handle, 0);
	}
	shim_self()->alloc_hook = NULL;
	assert_int_not_equal(nested_handle, 0);
	assert_true(is_trace(save(0, 16), 0, 16));
}

static unsigned int steals, thefts_failed;

/* Use up all room there is, the pool in reserve included, without having any allocated. */
static void steal_room(void)
{
	static unsigned int n = 200000;
	unsigned int cpu = shim_self()->cpu;

	if (!steals)
		return;
	steals--;
	shim_self()->cpu = cpu + 1;
	while (save_as(n++, 16, 0))
		;
	while (save_as(n++, 16, DEPOT_GET))
		;
	thefts_failed += 2;
	shim_self()->cpu = cpu;
}

/* Who may allocate gets room in the end, however often others are faster. */
static void test_others_take_the_reserve(void **state)
{
	boot();
	save(0, 16);
	save_get(0, 16);
	shim_self()->lock_hook = steal_room;
	for (unsigned int n = 1; n < 50; n++) {
		steals = n;
		assert_int_not_equal(save(n, 16), 0);
		steals = n;
		assert_int_not_equal(save_get(n, 16), 0);
	}
	shim_self()->lock_hook = NULL;
	/* What was not lost isn't counted as lost. */
	assert_int_equal(stat("dropped_nomem"), thefts_failed);
	assert_in_range(thefts_failed, 1000, 10000);
}

/* --- Contexts -------------------------------------------------------------- */

static void test_contexts(void **state)
{
	unsigned long entries[16];
	unsigned int handle, again;

	boot();
	save(9999, 16);
	for (unsigned int n = 0; n < 3000; n++) {
		fill(entries, 16, n);
		shim_hardirq_enter();
		handle = d->save_flags(entries, 16, depot_gfp_atomic, DEPOT_CAN_ALLOC);
		shim_hardirq_exit();
		assert_true(is_trace(handle, n, 16));
		shim_softirq_enter();
		again = d->save_flags(entries, 16, depot_gfp_nowait, DEPOT_CAN_ALLOC);
		assert_int_equal(again, handle);
		shim_softirq_exit();
		shim_nmi_enter();
		assert_int_equal(d->save_flags(entries, 16, 0, 0), handle);
		shim_nmi_exit();
	}
}

/* --- Statistics ------------------------------------------------------------ */

static void test_statistics(void **state)
{
	static const char * const names[] = {
		"pools", "refcounted_allocations", "refcounted_frees", "refcounted_in_use",
		"freelist_size", "persistent_count", "persistent_bytes",
	};
	char *text, *p;

	boot();
	save(1, 5);
	save(2, 5);
	save_get(3, 5);
	text = read_stats();
	p = text;
	for (unsigned int i = 0; i < 7; i++) {
		assert_int_equal(strncmp(p, names[i], strlen(names[i])), 0);
		assert_int_equal(p[strlen(names[i])], ':');
		p = strchr(p, '\n') + 1;
	}
	free(text);
	assert_int_equal(stat("persistent_count"), 2);
	assert_int_equal(stat("refcounted_in_use"), 1);
	assert_int_not_equal(stat("persistent_bytes"), 0);
}

/* --- The fast depot only: limits ------------------------------------------- */

static void test_limit_stop(void **state)
{
	unsigned int handles[20000], n, refused = 0;
	unsigned long got[64], pages;

	boot_with("stack_depot_max_pools", "8");
	expect_warnings();
	for (n = 0; n < 20000; n++) {
		handles[n] = save(n, 16);
		refused += !handles[n];
	}
	assert_true(refused > 1000);
	assert_true(refused < 19500);
	assert_int_equal(warnings(), 1);
	assert_non_null(strstr(shim_log(), "limit"));
	assert_int_equal(stat("dropped_limit"), refused);
	assert_in_range(stat("pools"), 1, 8);
	pages = shim_mem(d->unit).pages;
	/* What is there stays good, and is found. */
	for (n = 0; n < 20000; n++) {
		if (!handles[n])
			continue;
		assert_int_equal(save(n, 16), handles[n]);
		assert_int_equal(d->copy(handles[n], 0, got, 64), 16);
	}
	assert_int_equal(shim_mem(d->unit).pages, pages);
	assert_int_equal(warnings(), 1);
}

static void test_limit_bytes(void **state)
{
	struct shim_mem mem;

	boot_with("stack_depot_max_bytes", "300K");
	expect_warnings();
	for (unsigned int n = 0; n < 40000; n++)
		save_as(n, 16, DEPOT_CAN_ALLOC | (n % 3 ? 0 : DEPOT_GET));
	mem = shim_mem(d->unit);
	assert_in_range(mem.pages * 4096 + mem.heap, 200 * 1024, 300 * 1024);
	assert_int_not_equal(stat("dropped_limit"), 0);
}

static void test_limit_evict(void **state)
{
	unsigned int n, handle, gone = 0, here = 0, refused = 0, nr;
	unsigned int *handles = calloc(60000, sizeof(*handles));
	unsigned long expect[16], got[64], pages = 0, *entries;

	boot_with("stack_depot_max_pools", "8");
	shim_boot_param(d->unit, "stack_depot_policy", "evict");
	for (n = 0; n < 60000; n++) {
		handles[n] = save(n, 16);
		refused += !handles[n];
		if (n == 30000)
			pages = shim_mem(d->unit).pages;
	}
	/* Grace periods end at once here, so next to none is refused. */
	assert_in_range(refused, 0, 20);
	/* The table may still grow a little. */
	assert_in_range(shim_mem(d->unit).pages, pages, pages + 4);
	for (n = 0; n < 60000; n++) {
		if (!handles[n])
			continue;
		nr = d->copy(handles[n], 0, got, 64);
		if (!nr) {
			gone++;
			assert_int_equal(d->fetch(handles[n], &entries), 0);
			assert_null(entries);
			continue;
		}
		here++;
		fill(expect, 16, n);
		assert_int_equal(nr, 16);
		assert_memory_equal(got, expect, sizeof(expect));
	}
	assert_true(gone > 30000);
	assert_true(here > 500);
	/* The oldest are those that go. */
	assert_int_equal(d->copy(handles[0], 0, got, 64), 0);
	assert_int_equal(d->copy(handles[59999], 0, got, 64), 16);
	shim_log_clear();
	d->print(handles[0]);
	assert_non_null(strstr(shim_log(), "evicted"));
	assert_true(d->snprint(handles[0], (char *)got, sizeof(got), 0) > 0);
	assert_non_null(strstr((char *)got, "evicted"));
	assert_int_not_equal(stat("evicted_pools"), 0);
	/* One that was evicted can be saved again. */
	handle = save(0, 16);
	assert_int_not_equal(handle, handles[0]);
	assert_true(is_trace(handle, 0, 16));
	assert_int_equal(shim_warnings(), warnings_before);
	free(handles);
}

static void test_bad_parameters(void **state)
{
	static const struct {
		const char *name, *value;
	} bad[] = {
		{ "stack_depot_max_pools", "0" },
		{ "stack_depot_max_pools", "-1" },
		{ "stack_depot_max_pools", "many" },
		{ "stack_depot_max_pools", "99999999999" },
		{ "stack_depot_max_pools", "" },
		{ "stack_depot_max_bytes", "1" },
		{ "stack_depot_max_bytes", "lots" },
		{ "stack_depot_max_bytes", "" },
		{ "stack_depot_policy", "never" },
		{ "stack_depot_policy", "" },
		{ "stack_depot_max_pools", NULL },
		{ "stack_depot_max_bytes", NULL },
		{ "stack_depot_policy", NULL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		shim_log_clear();
		assert_int_not_equal(shim_boot_param(d->unit, bad[i].name, bad[i].value), -1);
		if (!strstr(shim_log(), bad[i].name))
			fail_msg("%s=%s: no word about it", bad[i].name,
				 bad[i].value ? bad[i].value : "(null)");
	}
	boot();
	assert_true(is_trace(save(1, 5), 1, 5));
	assert_int_equal(stat("max_pools"), 8192);
}

/* As many pools as there can be: the numbers of pools run out, the depot does not fail. */
static void test_handles_run_out(void **state)
{
	unsigned long entries[DEPOT_MAX_FRAMES], got[DEPOT_MAX_FRAMES];
	unsigned int handle, last = 0, last_n = 0, n, refused = 0;

	boot_with("stack_depot_max_pools", "4");
	shim_boot_param(d->unit, "stack_depot_policy", "evict");
	expect_warnings();
	for (n = 0; n < 4000000; n++) {
		fill(entries, 2, n);
		for (unsigned int i = 2; i < DEPOT_MAX_FRAMES; i++)
			entries[i] = ((uint64_t)n << 20) + i;
		shim_rcu_advance();
		handle = d->save(entries, DEPOT_MAX_FRAMES, depot_gfp_kernel);
		if (!handle) {
			if (++refused == 1000)
				break;
			continue;
		}
		refused = 0;
		assert_int_equal(handle & ~DEPOT_HANDLE_MASK, 0);
		assert_true(handle > last);
		last = handle;
		last_n = n;
	}
	assert_in_range(n, 100000, 3999999);
	assert_int_equal(warnings(), 1);
	/* The last ones are there, also for those who save them again. */
	assert_int_equal(d->copy(last, 0, got, DEPOT_MAX_FRAMES), DEPOT_MAX_FRAMES);
	fill(entries, 2, last_n);
	for (unsigned int i = 2; i < DEPOT_MAX_FRAMES; i++)
		entries[i] = ((uint64_t)last_n << 20) + i;
	assert_memory_equal(got, entries, sizeof(got));
	assert_int_equal(d->save(entries, DEPOT_MAX_FRAMES, depot_gfp_kernel), last);
	assert_true(last > DEPOT_HANDLE_MASK - 4096);
}

/* --- The fast depot only: the rest ----------------------------------------- */

static void test_memory_is_reused_across_sizes(void **state)
{
	struct shim_mem mem = {};

	boot();
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int handles[100], nr = 1 + round * 7 % DEPOT_MAX_FRAMES;

		for (unsigned int n = 0; n < 100; n++)
			handles[n] = save_get(round * 1000 + n, nr);
		for (unsigned int n = 0; n < 100; n++)
			d->put(handles[n]);
		if (round == 64)
			mem = shim_mem(d->unit);
	}
	assert_in_range(shim_mem(d->unit).pages, 0, mem.pages + 8);
}

static void test_no_other_number_is_a_handle(void **state)
{
	unsigned char valid[1 << 16] = {};
	unsigned long *entries;

	boot();
	for (unsigned int n = 0; n < 500; n++) {
		unsigned int handle = n & 1 ? save_get(n, 1 + n % 40) : save(n, 1 + n % 40);

		if (handle < sizeof(valid))
			valid[handle] = 1 + n % 40;
	}
	expect_warnings();
	for (unsigned int handle = 1; handle < sizeof(valid); handle++)
		assert_int_equal(d->fetch(handle, &entries), valid[handle]);
	for (unsigned int bit = 0; bit < 27; bit++)
		assert_int_equal(d->fetch(0x07ffffff ^ 1u << bit, &entries), 0);
	shim_log_clear();
}

static void test_unbalanced_put_warns(void **state)
{
	unsigned int handle, persistent;

	boot();
	handle = save_get(1, 5);
	persistent = save(2, 5);
	d->put(handle);
	expect_warnings();
	d->put(handle);
	assert_in_range(warnings(), 1, 2);
	d->put(persistent);
	assert_in_range(warnings(), 2, 4);
	assert_true(is_trace(persistent, 2, 5));
	assert_int_equal(stat("refcounted_frees"), 1);
}

static void test_kinds_are_kept_apart(void **state)
{
	unsigned int plain, get, counted;

	boot();
	plain = save(1, 8);
	get = save_get(1, 8);
	counted = save_as(1, 8, DEPOT_CAN_ALLOC | DEPOT_COUNT);
	assert_true(plain && get && counted);
	assert_true(plain != get && plain != counted && get != counted);
	assert_int_equal(save(1, 8), plain);
	assert_int_equal(save_get(1, 8), get);
	assert_int_equal(save_as(1, 8, DEPOT_CAN_ALLOC | DEPOT_COUNT), counted);
	assert_true(is_trace(plain, 1, 8) && is_trace(get, 1, 8) && is_trace(counted, 1, 8));
}

static void test_counts(void **state)
{
	unsigned int handles[50], handle, seen = 0;
	int count;

	boot();
	for (unsigned int n = 0; n < 50; n++) {
		handles[n] = save_as(n, 3 + n % 9, DEPOT_CAN_ALLOC | DEPOT_COUNT);
		save(n, 3 + n % 9);
		save_get(n, 3 + n % 9);
		assert_true(d->count_add(d->set_extra(handles[n], 3), n));
		assert_true(d->count_add(handles[n], -5));
	}
	for (handle = 0; (handle = d->next_counted(handle, &count)); seen++) {
		assert_int_equal(handle, handles[seen]);
		assert_int_equal(count, (int)seen - 5);
	}
	assert_int_equal(seen, 50);
}

static void test_nmi_with_can_alloc_warns(void **state)
{
	unsigned long allocs;

	boot();
	save(1, 5);
	allocs = shim_mem(d->unit).allocs;
	expect_warnings();
	shim_nmi_enter();
	save(2, 5);
	save(3, 5);
	shim_nmi_exit();
	assert_int_equal(warnings(), 1);
	assert_int_equal(shim_mem(d->unit).allocs, allocs);
}

static void test_save_before_init(void **state)
{
	unsigned long *entries;

	assert_int_equal(save(1, 5), 0);
	assert_int_equal(save_get(1, 5), 0);
	assert_int_equal(d->fetch(0x1234, &entries), 0);
	boot();
	assert_true(is_trace(save(1, 5), 1, 5));
}

struct growth {
	unsigned int n;
};

static void grow(void *arg)
{
	struct growth *growth = arg;

	for (unsigned int i = 0; i < 20 && growth->n < 5000; i++)
		save(growth->n++, 16);
}

static unsigned int count_of(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void test_traces_file_while_growing(void **state)
{
	struct growth growth = { .n = 300 };
	char *text;

	boot();
	for (unsigned int n = 0; n < 300; n++)
		save(n, 16);
	text = shim_debugfs_read(d->unit, "stackdepot/traces", 333, grow, &growth);
	assert_int_equal(growth.n, 5000);
	assert_in_range(count_of(text, "handle "), 300, 5000);
	assert_int_equal(count_of(text, "frames 16\n"), count_of(text, "handle "));
	free(text);
}

static void test_records_are_small(void **state)
{
	unsigned long before, after;

	boot();
	save(0, 16);
	save_get(1, 16);
	before = shim_mem(d->unit).pages;
	for (unsigned int n = 2; n < 10002; n++)
		save_get(n, 16);
	after = shim_mem(d->unit).pages;
	/* 544 bytes in upstream's; this counts the table, too. */
	assert_in_range((after - before) * 4096 / 10000, 64, 110);
}

/* --- The fast depot only: what is listed ------------------------------------ */

/* Handles that stackdepot/traces has listed at some time. */
static unsigned int listed[20000], nr_listed;

static void list_all(void)
{
	nr_listed = list_traces(d, listed, nr_listed, ARRAY_SIZE(listed), 0);
}

/*
 * What is listed must stay: the room of a record that goes again is given to the
 * next one at once, and who reads the list may be at it.
 */
static void check_all_stayed(void)
{
	unsigned int lost = list_lost(d, listed, nr_listed, 0);

	if (lost)
		fail_msg("%08x was listed, and is no trace any more", lost);
}

static unsigned int race_n, race_flags, race_handle;

/* Another CPU saves the same trace first, and then someone reads the list. */
static void be_faster(void)
{
	unsigned int cpu = shim_self()->cpu;

	shim_self()->cpu = (cpu + 1) % SHIM_NR_CPUS;
	race_handle = save_as(race_n, 16, race_flags);
	shim_self()->cpu = cpu;
	list_all();
}

static void check_raced(unsigned int flags, unsigned int from)
{
	race_flags = flags | DEPOT_CAN_ALLOC;
	for (race_n = from; race_n < from + 50; race_n++) {
		unsigned int handle;

		race_handle = 0;
		shim_self()->irq_hook = be_faster;
		handle = save_as(race_n, 16, race_flags);
		shim_self()->irq_hook = NULL;
		assert_int_not_equal(handle, 0);
		assert_int_equal(handle, race_handle);
	}
	check_all_stayed();
}

static void test_raced_insert_is_not_listed(void **state)
{
	nr_listed = 0;
	boot();
	check_raced(0, 0);
	check_raced(DEPOT_COUNT, 1000);
	check_raced(DEPOT_GET, 2000);
	assert_in_range(stat("raced"), 30, 150);
	assert_int_equal(nr_listed, 150);
}

/* --- The fast depot only: traces whose hash is the same --------------------- */

#define NR_ALIKE	24

/* They differ in their outermost frame alone, so that they share neither it nor the others. */
static unsigned int save_alike(unsigned int n, unsigned int flags)
{
	unsigned long entries[DEPOT_MAX_FRAMES];

	fill(entries, DEPOT_MAX_FRAMES, 77);
	entries[DEPOT_MAX_FRAMES - 1] = shim_text + 4UL * n;
	return d->save_flags(entries, DEPOT_MAX_FRAMES, depot_gfp_kernel, flags);
}

static unsigned int alike[NR_ALIKE], alike_flags, alike_turn;

static void save_all_alike(unsigned int flags)
{
	for (unsigned int n = 0; n < NR_ALIKE; n++) {
		alike[n] = save_alike(n, flags);
		assert_int_not_equal(alike[n], 0);
		for (unsigned int m = 0; m < n; m++)
			assert_int_not_equal(alike[m], alike[n]);
	}
}

static void check_all_alike(unsigned int flags)
{
	for (unsigned int n = 0; n < NR_ALIKE; n++) {
		assert_int_equal(save_alike(n, flags), alike[n]);
		if (flags & DEPOT_GET)
			d->put(alike[n]);
	}
}

/* From large traces to small ones, until there is no room for any. */
static void use_up_room(unsigned int flags)
{
	unsigned int n = 500000;

	for (unsigned int nr = DEPOT_MAX_FRAMES; nr; nr /= 2) {
		while (save_as(n, nr, flags)) {
			n++;
			assert_in_range(n, 0, 600000);
		}
		n++;
	}
}

static void check_alike_at_limit(unsigned int get)
{
	boot_with("stack_depot_max_pools", "4");
	expect_warnings();
	save_all_alike(DEPOT_CAN_ALLOC | get);
	use_up_room(DEPOT_CAN_ALLOC);
	use_up_room(DEPOT_CAN_ALLOC | DEPOT_GET);
	check_all_alike(DEPOT_CAN_ALLOC | get);
	check_all_alike(get);
	shim_nmi_enter();
	check_all_alike(get);
	shim_nmi_exit();
}

static void test_alike_are_found_at_the_limit(void **state)
{
	check_alike_at_limit(0);
}

static void test_alike_get_are_found_at_the_limit(void **state)
{
	check_alike_at_limit(DEPOT_GET);
}

static void check_alike_take_no_room(unsigned int get)
{
	boot();
	save_all_alike(DEPOT_CAN_ALLOC | get);
	for (unsigned int round = 0; round < 420; round++) {
		unsigned long allocs, pools, bytes;

		/* However full the pool in use is. */
		save_as(1000 + round, 24, DEPOT_CAN_ALLOC | get);
		allocs = shim_mem(d->unit).allocs;
		pools = stat("pools");
		bytes = stat("persistent_bytes");
		check_all_alike(DEPOT_CAN_ALLOC | get);
		assert_int_equal(shim_mem(d->unit).allocs, allocs);
		assert_int_equal(stat("pools"), pools);
		assert_int_equal(stat("persistent_bytes"), bytes);
	}
}

static void test_alike_take_no_room(void **state)
{
	check_alike_take_no_room(0);
}

static void test_alike_get_take_no_room(void **state)
{
	check_alike_take_no_room(DEPOT_GET);
}

/* Another CPU, which fills the same pool: one of the others, and a small trace that is new. */
static void save_another(void)
{
	unsigned int n = alike_turn++, cpu = shim_self()->cpu;

	shim_self()->cpu = cpu ^ 4;
	assert_int_equal(save_alike(n % NR_ALIKE, alike_flags), alike[n % NR_ALIKE]);
	if (alike_flags & DEPOT_GET)
		d->put(alike[n % NR_ALIKE]);
	assert_int_not_equal(save_as(100000 + n, 1, alike_flags), 0);
	shim_self()->cpu = cpu;
}

static void check_alike_of_two_cpus(unsigned int get)
{
	unsigned long pools;

	boot();
	alike_flags = DEPOT_CAN_ALLOC | get;
	alike_turn = 0;
	save_all_alike(alike_flags);
	pools = stat("pools");
	for (unsigned int round = 0; round < 420; round++) {
		shim_self()->cpu ^= 4;
		shim_self()->irq_hook = save_another;
		check_all_alike(alike_flags);
		shim_self()->irq_hook = NULL;
	}
	/* What is new takes 4 units at most, of the 1900 or so that a pool has. */
	assert_in_range(stat("pools"), pools, pools + 2 + alike_turn * 4 / 1900);
}

static void test_alike_of_two_cpus(void **state)
{
	check_alike_of_two_cpus(0);
}

static void test_alike_get_of_two_cpus(void **state)
{
	check_alike_of_two_cpus(DEPOT_GET);
}

/* --- The fast depot only: limits, once more --------------------------------- */

/* A trace that takes as much room as one can. */
static unsigned int save_big(unsigned int n, unsigned int flags)
{
	unsigned long entries[DEPOT_MAX_FRAMES];

	for (unsigned int i = 0; i < DEPOT_MAX_FRAMES; i++)
		entries[i] = ((uint64_t)n << 20) + i;
	shim_rcu_advance();
	return d->save_flags(entries, DEPOT_MAX_FRAMES, depot_gfp_kernel, flags);
}

/* The number of a handle's pool. */
static unsigned int pool_of(unsigned int handle)
{
	return handle >> 11;
}

static void boot_evict(const char *name, const char *value)
{
	assert_int_equal(shim_boot_param(d->unit, "stack_depot_policy", "evict"), 0);
	boot_with(name, value);
}

/* Where traces are evicted, grace periods are asked for only where that may be done. */
static void test_evict_in_any_context(void **state)
{
	unsigned int refused = 0, n;
	unsigned long entries[16];

	boot_evict("stack_depot_max_pools", "6");
	for (n = 0; n < 20000; n++) {
		unsigned int gfp = n & 1 ? depot_gfp_atomic : depot_gfp_nowait;
		unsigned int flags = DEPOT_CAN_ALLOC | (n % 8 == 7 ? DEPOT_GET : 0);
		unsigned int handle;

		fill(entries, 16, n);
		shim_rcu_advance();
		switch (n / 1000 % 4) {
		case 0:
			shim_atomic_enter();
			handle = d->save_flags(entries, 16, gfp, flags);
			shim_atomic_exit();
			break;
		case 1:
			shim_hardirq_enter();
			handle = d->save_flags(entries, 16, gfp, flags);
			shim_hardirq_exit();
			break;
		case 2:
			shim_softirq_enter();
			handle = d->save_flags(entries, 16, gfp, flags);
			shim_softirq_exit();
			break;
		default:
			handle = d->save_flags(entries, 16, depot_gfp_kernel, flags);
			break;
		}
		if (handle && flags & DEPOT_GET)
			d->put(handle);
		refused += !handle;
	}
	assert_in_range(refused, 0, 200);
	assert_in_range(stat("evicted_pools"), 20, 20000);
}

/* Printing may save a trace, or wake someone under a lock that the caller holds. */
static void test_limit_warns_deferred(void **state)
{
	unsigned long deferred = shim_warnings_deferred();

	boot_with("stack_depot_max_pools", "3");
	expect_warnings();
	use_up_room(DEPOT_CAN_ALLOC);
	assert_non_null(strstr(shim_log(), "reached limit capacity"));
	assert_int_equal(warnings(), 1);
	assert_int_equal(shim_warnings_deferred() - deferred, 1);
	assert_int_equal(shim_self()->deferring, 0);
}

static void test_evict_keeps_limit_bytes(void **state)
{
	const unsigned long limit = 128 * 1024;
	unsigned int handle, pool = 0, refused = 0, n;

	boot_evict("stack_depot_max_bytes", "128K");
	for (n = 0; pool < 21000; n++) {
		assert_in_range(n, 0, 4000000);
		handle = save_big(n, DEPOT_CAN_ALLOC);
		refused += !handle;
		if (!handle || pool_of(handle) == pool)
			continue;
		pool = pool_of(handle);
		if (stat("bytes") > limit)
			fail_msg("%lu bytes after %u pools", stat("bytes"), pool);
		assert_in_range(shim_mem(d->unit).pages * 4096, 0, limit);
	}
	assert_in_range(refused, 0, n / 100);
}

/* The least value of stack_depot_max_bytes= that is accepted, in KiB. */
static unsigned int least_max_bytes(void)
{
	char text[16];

	for (unsigned int kib = 4; kib <= 256; kib += 4) {
		shim_log_clear();
		snprintf(text, sizeof(text), "%uK", kib);
		shim_boot_param(d->unit, "stack_depot_max_bytes", text);
		if (!strstr(shim_log(), "stack_depot_max_bytes"))
			return kib;
		shim_reboot(d->unit);
	}
	fail_msg("a limit of 256 KiB isn't accepted");
	return 0;
}

/*
 * After 3000 traces of one kind, 3000 of the other: of these next to none may be
 * refused, and the last ones none the less. Evictable ones are put at once.
 */
static void check_room_for(unsigned int get, unsigned int kib)
{
	unsigned int refused = 0, late = 0, n, handle;
	char text[16];

	snprintf(text, sizeof(text), "%uK", kib);
	boot_evict("stack_depot_max_bytes", text);
	for (n = 0; n < 3000; n++)
		save_as(n, 16, DEPOT_CAN_ALLOC | (get ^ DEPOT_GET));
	for (n = 3000; n < 6000; n++) {
		handle = save_as(n, 16, DEPOT_CAN_ALLOC | get);
		if (handle && get)
			d->put(handle);
		refused += !handle;
		late += !handle && n >= 5000;
	}
	if (refused > 60 || late > 20)
		fail_msg("limit %s: of 3000 %s traces, %u are refused, %u of the last 1000", text,
			 get ? "evictable" : "persistent", refused, late);
	assert_in_range(stat("bytes"), 0, kib * 1024UL);
	shim_reboot(d->unit);
}

static void test_evict_has_room_for_both(void **state)
{
	unsigned int least = least_max_bytes();

	shim_reboot(d->unit);
	for (unsigned int kib = least; kib <= 256; kib += 4) {
		check_room_for(0, kib);
		check_room_for(DEPOT_GET, kib);
	}
	boot();
}

/* A reader may be at an evicted pool's traces: nothing is stored there before it is done. */
static void test_evicted_pools_wait_for_readers(void **state)
{
	unsigned int refused = 0, stored = 0;
	unsigned long entries[16];

	boot_evict("stack_depot_max_pools", "4");
	shim_rcu_poll_advances = 0;
	for (unsigned int n = 0; n < 5000; n++) {
		fill(entries, 16, n);
		if (d->save(entries, 16, depot_gfp_kernel))
			stored++;
		else
			refused++;
	}
	/* Four pools' worth at most. */
	assert_in_range(stored, 300, 4 * 2048 / 10);
	assert_in_range(refused, 1000, 5000);
	shim_rcu_poll_advances = 1;
	assert_int_not_equal(save(6000, 16), 0);
}

/* --- The fast depot only: work, not time ------------------------------------ */

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

/* Instructions of this thread so far; without a counter of them, its time. */
static uint64_t work_done(int counter)
{
	struct timespec ts;
	uint64_t value;

	if (counter >= 0 && read(counter, &value, sizeof(value)) == sizeof(value))
		return value;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* What 100 more pools take, at the least, until those numbered below @end have been used. */
static uint64_t work_up_to(int counter, unsigned int end)
{
	static unsigned int n;
	unsigned int pool = 0, next = 0;
	uint64_t start = 0, least = -1ULL;

	while (pool < end) {
		unsigned int handle = save_big(n++, DEPOT_CAN_ALLOC);
		uint64_t now;

		assert_in_range(n, 0, 10000000);
		pool = handle ? pool_of(handle) : pool;
		if (pool < next)
			continue;
		now = work_done(counter);
		if (next && now - start < least)
			least = now - start;
		start = now;
		next = pool + 100;
	}
	return least;
}

/* One evictable pool that stays must not make each eviction look at all numbers since. */
static void test_eviction_costs_the_same(void **state)
{
	int counter = open_counter();
	uint64_t early, late;

	boot_evict("stack_depot_max_pools", "8");
	assert_int_not_equal(save_get(1, 16), 0);
	early = work_up_to(counter, 5000);
	work_up_to(counter, 58000);
	late = work_up_to(counter, 63000);
	print_message("# %s: %" PRIu64 " for 100 early pools, %" PRIu64 " for 100 late ones\n",
		      counter >= 0 ? "instructions" : "ns", early, late);
	if (counter >= 0)
		close(counter);
	/* The try that others disturbed least: by time, too, it tells. */
	assert_true(2 * late < 5 * early);
}

/* --- The fast depot only: what is counted ----------------------------------- */

static void test_wide_count(void **state)
{
	boot();
	save(1, 16);
	save_get(2, 16);
	assert_int_equal(stat("wide_count"), 0);
	save_big(1, DEPOT_CAN_ALLOC);
	save_big(2, DEPOT_CAN_ALLOC | DEPOT_GET);
	save_big(3, DEPOT_CAN_ALLOC | DEPOT_COUNT);
	assert_int_equal(stat("wide_count"), 3);
	save_big(1, DEPOT_CAN_ALLOC);
	save_big(2, DEPOT_CAN_ALLOC | DEPOT_GET);
	assert_int_equal(stat("wide_count"), 3);
}

/* A trace that is stored already isn't dropped. */
static void test_failed_flat_copy_drops_nothing(void **state)
{
	static const char * const drops[] = {
		"dropped_nomem", "dropped_limit", "dropped_contended",
	};
	unsigned int plain, get;
	unsigned long before[3], *entries;

	boot();
	plain = save(1, DEPOT_MAX_FRAMES);
	get = save_get(2, DEPOT_MAX_FRAMES);
	shim_fail_all = 1;
	use_up_room(DEPOT_CAN_ALLOC);
	use_up_room(DEPOT_CAN_ALLOC | DEPOT_GET);
	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++)
		before[i] = stat(drops[i]);
	assert_int_equal(d->fetch(plain, &entries), 0);
	assert_null(entries);
	assert_int_equal(d->fetch(get, &entries), 0);
	assert_null(entries);
	assert_int_equal(stat("flat_copies_failed"), 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++)
		assert_int_equal(stat(drops[i]), before[i]);
	shim_fail_all = 0;
	assert_true(is_trace(plain, 1, DEPOT_MAX_FRAMES));
	assert_true(is_trace(get, 2, DEPOT_MAX_FRAMES));
}

static unsigned int arenas_held;

/* Called with an arena's lock held: another CPU takes that of its own, then an NMI comes. */
static void hold_next_arena(void)
{
	unsigned int cpu = shim_self()->cpu;

	if (++arenas_held < 4) {
		shim_self()->locked_hook = hold_next_arena;
		shim_self()->cpu = (cpu + 1) % SHIM_NR_CPUS;
		save_as(100000 + arenas_held, 16, DEPOT_GET);
		shim_self()->cpu = cpu;
	} else if (arenas_held == 4) {
		shim_nmi_enter();
		assert_int_equal(save_as(200000, 16, DEPOT_GET), 0);
		shim_nmi_exit();
	}
}

static void test_nmi_finds_all_arenas_locked(void **state)
{
	unsigned int fit = 0, first, cpu = shim_self()->cpu;
	unsigned long nomem;

	/* Each arena has a pool, which is full but for one trace. */
	boot();
	first = pool_of(save_get(0, 16));
	do
		fit++;
	while (pool_of(save_get(fit, 16)) == first);
	shim_reboot(d->unit);
	boot();
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int handle = 0;

		shim_self()->cpu = (cpu + i) % SHIM_NR_CPUS;
		for (unsigned int n = 0; n < fit; n++)
			handle = save_get(10000 * i + n, 16);
		d->put(handle);
	}
	shim_self()->cpu = cpu;
	shim_rcu_advance();
	shim_rcu_advance();

	nomem = stat("dropped_nomem");
	arenas_held = 0;
	shim_self()->locked_hook = hold_next_arena;
	save_as(100000, 16, DEPOT_GET);
	shim_self()->locked_hook = NULL;
	assert_in_range(arenas_held, 4, 100);
	assert_int_equal(stat("dropped_contended"), 1);
	assert_int_equal(stat("dropped_nomem"), nomem);
}

/* --- The fast depot only: frames that are nearly the same ------------------- */

/* Traces that differ in one frame are two, whichever it is. */
static void test_one_frame_differs(void **state)
{
	for (unsigned int nr = 1; nr <= DEPOT_MAX_FRAMES; nr += nr < 20 ? 1 : 11) {
		unsigned int handles[DEPOT_MAX_FRAMES + 1];
		unsigned long entries[DEPOT_MAX_FRAMES], got[DEPOT_MAX_FRAMES];

		boot();
		for (unsigned int at = 0; at <= nr; at++) {
			fill(entries, nr, nr);
			if (at < nr)
				entries[at]++;
			handles[at] = d->save(entries, nr, depot_gfp_kernel);
			for (unsigned int i = 0; i < at; i++)
				assert_int_not_equal(handles[i], handles[at]);
			assert_int_equal(d->copy(handles[at], 0, got, nr), nr);
			assert_memory_equal(got, entries, nr * sizeof(long));
		}
		shim_reboot(d->unit);
	}
	boot();
}

/*
 * Outer frames whose hash is the same, more often than not, but the newest of which
 * is another one: see depot_hash_finish(). They must not be shared.
 */
static void test_tails_of_the_same_hash(void **state)
{
	unsigned long entries[16], got[16];

	boot();
	for (unsigned int n = 0; n < 200; n++) {
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int handle;

			/* Of the newer frames, no four are the same. */
			fill(entries, 16, 2 * n + i);
			fill(entries + 8, 8, 10000 + n);
			entries[8 + n % 2 * 4] += i;
			handle = d->save(entries, 16, depot_gfp_kernel);
			assert_int_equal(d->copy(handle, 0, got, 16), 16);
			assert_memory_equal(got, entries, sizeof(entries));
		}
	}
}

/* --- Running them ---------------------------------------------------------- */

#define TEST(name)	{ #name, test_##name }

static const struct {
	const char *name;
	CMUnitTestFunction fn;
} both[] = {
	TEST(early_init),
	TEST(late_init),
	TEST(second_early_init_warns),
	TEST(request_after_early_init_warns),
	TEST(disabled),
	TEST(disable_off),
	TEST(kasan_boot),
	TEST(fetch_is_what_was_saved),
	TEST(same_trace_same_handle),
	TEST(wide_addresses),
	TEST(empty_trace),
	TEST(unknown_flags_warn),
	TEST(too_many_frames),
	TEST(cut_at_interrupt),
	TEST(caller_keeps_its_array),
	TEST(handle_0),
	TEST(extra_bits),
	TEST(pointer_stays_good),
	TEST(handles_outlive_growth),
	TEST(print),
	TEST(snprint),
	TEST(put_frees_with_the_last_reference),
	TEST(freed_memory_is_used_again),
	TEST(freed_memory_waits_for_readers),
	TEST(freed_trace_can_be_saved_again),
	TEST(without_can_alloc_nothing_is_allocated),
	TEST(failing_allocations),
	TEST(each_allocation_fails_once),
	TEST(gfp_flags),
	TEST(recursion),
	TEST(contexts),
	TEST(statistics),
}, fast_only[] = {
	TEST(others_take_the_reserve),
	TEST(limit_stop),
	TEST(limit_bytes),
	TEST(limit_evict),
	TEST(bad_parameters),
	TEST(handles_run_out),
	TEST(memory_is_reused_across_sizes),
	TEST(no_other_number_is_a_handle),
	TEST(unbalanced_put_warns),
	TEST(kinds_are_kept_apart),
	TEST(counts),
	TEST(nmi_with_can_alloc_warns),
	TEST(save_before_init),
	TEST(traces_file_while_growing),
	TEST(records_are_small),
	TEST(raced_insert_is_not_listed),
	TEST(alike_are_found_at_the_limit),
	TEST(alike_get_are_found_at_the_limit),
	TEST(alike_take_no_room),
	TEST(alike_get_take_no_room),
	TEST(alike_of_two_cpus),
	TEST(alike_get_of_two_cpus),
	TEST(evict_in_any_context),
	TEST(limit_warns_deferred),
	TEST(evict_keeps_limit_bytes),
	TEST(evict_has_room_for_both),
	TEST(evicted_pools_wait_for_readers),
	TEST(eviction_costs_the_same),
	TEST(wide_count),
	TEST(failed_flat_copy_drops_nothing),
	TEST(nmi_finds_all_arenas_locked),
	TEST(one_frame_differs),
	TEST(tails_of_the_same_hash),
};

static struct CMUnitTest tests[2 * ARRAY_SIZE(both) + ARRAY_SIZE(fast_only)];
static unsigned int nr_tests;

static void add(const struct depot *depot, const char *name, CMUnitTestFunction fn)
{
	char *full;

	if (asprintf(&full, "%s: %s", depot->name, name) < 0)
		exit(2);
	tests[nr_tests++] = (struct CMUnitTest){
		.name = full, .test_func = fn, .setup_func = setup, .teardown_func = teardown,
		.initial_state = (void *)depot,
	};
}

int main(int argc, char **argv)
{
	int failed;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	for (unsigned int i = 0; i < ARRAY_SIZE(both); i++) {
		add(&upstream_depot, both[i].name, both[i].fn);
		add(&fast_depot, both[i].name, both[i].fn);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fast_only) && fast_depot.copy; i++)
		add(&fast_depot, fast_only[i].name, fast_only[i].fn);

	/* The macro would run those that were left out, too. */
	failed = _cmocka_run_group_tests("depot", tests, nr_tests, NULL, NULL);
	while (nr_tests)
		free((char *)tests[--nr_tests].name);
	return failed;
}
