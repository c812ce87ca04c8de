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

#include <cmocka.h>

#include "depot.h"

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
