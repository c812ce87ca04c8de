// SPDX-License-Identifier: GPL-2.0
/* KUnit: the depot gives back what was saved, in each context, and nothing else. */

#define pr_fmt(fmt) "stackdepot_fast_test: " fmt

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kmsg_dump.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/scs_trace.h>
#include <linux/smp.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_fast.h>
#include <linux/stacktrace.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include <asm/sections.h>

#include "depot.h"
#include "depot_testlib.h"

#define MAX_FRAMES	CONFIG_STACKDEPOT_MAX_FRAMES
#define CAN_ALLOC	STACK_DEPOT_FLAG_CAN_ALLOC

/* === Made-up traces ======================================================= */

static atomic_t keys_used = ATOMIC_INIT(0);

/* Keys that no trace was made from yet. */
static u32 new_keys(u32 nr)
{
	return (u32)atomic_fetch_add(nr, &keys_used) % (DEPOT_TORTURE_KEYS - nr);
}

/* Depths as they occur, for traces of which the depth doesn't matter. */
static unsigned int depth_of(u32 key)
{
	return 2 + key * 7 % 39;
}

/*
 * Save a trace in task context. At the limit with policy "evict", evicted pools may
 * have to wait for a grace period first.
 */
static depot_stack_handle_t save(unsigned long *frames, unsigned int nr,
				 depot_flags_t flags)
{
	depot_stack_handle_t handle;
	int i;

	for (i = 0; i < 20; i++) {
		handle = stack_depot_save_flags(frames, nr, GFP_KERNEL,
						flags | CAN_ALLOC);
		if (handle || depot_policy != DEPOT_EVICT)
			break;
		synchronize_rcu();
	}
	return handle;
}

static depot_stack_handle_t save_key(u32 key, depot_flags_t flags)
{
	unsigned long frames[MAX_FRAMES];

	depot_make(frames, key, depth_of(key), false);
	return save(frames, depth_of(key), flags);
}

/* The same where nothing may be allocated. */
static depot_stack_handle_t save_key_atomic(u32 key, depot_flags_t flags)
{
	unsigned long frames[MAX_FRAMES];

	depot_make(frames, key, depth_of(key), false);
	return stack_depot_save_flags(frames, depth_of(key), 0, flags);
}

static unsigned int fetch(depot_stack_handle_t handle, unsigned long **entries)
{
	unsigned int nr, i;

	for (i = 0; i < 20; i++) {
		nr = stack_depot_fetch(handle, entries);
		if (nr || depot_policy != DEPOT_EVICT)
			break;
		synchronize_rcu();
	}
	return nr;
}

/* Whether @handle's trace is that of @key. */
static bool holds_key(depot_stack_handle_t handle, u32 key)
{
	unsigned long frames[MAX_FRAMES], stored[MAX_FRAMES + 1];
	unsigned int nr;

	depot_make(frames, key, depth_of(key), false);
	nr = stack_depot_copy(handle, 0, stored, ARRAY_SIZE(stored));
	return nr == depth_of(key) && !memcmp(stored, frames, nr * sizeof(*frames));
}

static unsigned long *new_frames(struct kunit *test, unsigned int nr)
{
	unsigned long *frames = kunit_kcalloc(test, nr, sizeof(*frames), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, frames);
	return frames;
}

static void expect_fetch(struct kunit *test, depot_stack_handle_t handle,
			 unsigned long *frames, unsigned int nr)
{
	unsigned long *entries;

	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_ASSERT_EQ(test, fetch(handle, &entries), nr);
	KUNIT_EXPECT_MEMEQ(test, entries, frames, nr * sizeof(*frames));
}

/* === What is saved is what is fetched ===================================== */

static const depot_flags_t kinds[] = {
	CAN_ALLOC,
	CAN_ALLOC | STACK_DEPOT_FLAG_COUNT,
	CAN_ALLOC | STACK_DEPOT_FLAG_GET,
};

static void round_trip(struct kunit *test, bool wide)
{
	unsigned long *frames = new_frames(test, MAX_FRAMES + 20);
	depot_stack_handle_t handle[ARRAY_SIZE(kinds)];
	unsigned int nr, kept, i, j;

	for (nr = 1; nr <= MAX_FRAMES + 20; nr++) {
		kept = min(nr, MAX_FRAMES);
		depot_make(frames, new_keys(1), nr, wide);
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			handle[i] = save(frames, nr, kinds[i]);
			expect_fetch(test, handle[i], frames, kept);
			for (j = 0; j < i; j++)
				KUNIT_EXPECT_NE(test, handle[i], handle[j]);
		}
		/* The same trace has the same handle. */
		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			KUNIT_EXPECT_EQ(test, handle[i],
					stack_depot_save_flags(frames, nr, 0,
							       kinds[i] & ~CAN_ALLOC));
		KUNIT_EXPECT_EQ(test, handle[0],
				stack_depot_save(frames, nr, GFP_KERNEL));
		KUNIT_EXPECT_EQ(test, handle[0],
				stack_depot_save(frames, kept, GFP_KERNEL));
		stack_depot_put(handle[2]);
		expect_fetch(test, handle[2], frames, kept);
		stack_depot_put(handle[2]);
	}
}

static void test_round_trip(struct kunit *test)
{
	round_trip(test, false);
}

static void test_wide(struct kunit *test)
{
	unsigned long wide = depot_sum(DEPOT_WIDE_COUNT);

	round_trip(test, true);
	KUNIT_EXPECT_GE(test, depot_sum(DEPOT_WIDE_COUNT), wide + 2 * MAX_FRAMES);
}

/* A trace is no other one that differs from it by a frame, its upper half or its length. */
static void test_similar(struct kunit *test)
{
	unsigned long *frames = new_frames(test, MAX_FRAMES);
	unsigned int i, flags, nr = 40;
	depot_stack_handle_t handle;
	unsigned long old;
	u32 key;

	for (flags = 0; flags < ARRAY_SIZE(kinds); flags++) {
		DECLARE_BITMAP(met, 64) = { };
		depot_stack_handle_t handles[3 * 40];
		unsigned int n = 0, j;

		key = new_keys(1);
		depot_make(frames, key, nr, false);
		for (i = 0; i < nr; i++) {
			old = frames[i];
			frames[i] += 4;
			handle = save(frames, nr, kinds[flags]);
			expect_fetch(test, handle, frames, nr);
			handles[n++] = handle;
			frames[i] = old ^ BIT(40);
			handle = save(frames, nr, kinds[flags]);
			expect_fetch(test, handle, frames, nr);
			handles[n++] = handle;
			frames[i] = old;
			handle = save(frames, i + 1, kinds[flags]);
			expect_fetch(test, handle, frames, i + 1);
			handles[n++] = handle;
			__set_bit(i, met);
		}
		KUNIT_EXPECT_EQ(test, bitmap_weight(met, 64), nr);
		for (i = 0; i < n; i++)
			for (j = 0; j < i; j++)
				KUNIT_EXPECT_NE(test, handles[i], handles[j]);
		if (kinds[flags] & STACK_DEPOT_FLAG_GET)
			while (n)
				stack_depot_put(handles[--n]);
	}
}

static void test_nothing(struct kunit *test)
{
	unsigned long frame = depot_narrow_base();
	unsigned long *entries = &frame;
	unsigned long bad = depot_sum(DEPOT_BAD_HANDLES);
	char buf[8] = "before";

	KUNIT_EXPECT_EQ(test, stack_depot_save(&frame, 0, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_save_flags(&frame, 0, GFP_KERNEL,
						     CAN_ALLOC | STACK_DEPOT_FLAG_GET), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_fetch(0, &entries), 0);
	KUNIT_EXPECT_NULL(test, entries);
	KUNIT_EXPECT_EQ(test, stack_depot_snprint(0, buf, sizeof(buf), 0), 0);
	KUNIT_EXPECT_STREQ(test, buf, "before");
	KUNIT_EXPECT_EQ(test, stack_depot_copy(0, 0, &frame, 1), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_set_extra_bits(0, 1), 0);
	stack_depot_put(0);
	stack_depot_print(0);
	KUNIT_EXPECT_EQ(test, depot_sum(DEPOT_BAD_HANDLES), bad);
}

static void test_extra_bits(struct kunit *test)
{
	unsigned long *frames = new_frames(test, 9);
	depot_stack_handle_t handle, with;
	unsigned int bits;

	depot_make(frames, new_keys(1), 9, false);
	handle = save(frames, 9, kinds[2]);
	KUNIT_EXPECT_EQ(test, stack_depot_get_extra_bits(handle), 0);
	for (bits = 0; bits < BIT(STACK_DEPOT_EXTRA_BITS); bits++) {
		with = stack_depot_set_extra_bits(handle, bits);
		KUNIT_EXPECT_EQ(test, stack_depot_get_extra_bits(with), bits);
		expect_fetch(test, with, frames, 9);
		KUNIT_EXPECT_EQ(test, stack_depot_set_extra_bits(with, 0), handle);
		/* One more reference, and one less. */
		save(frames, 9, kinds[2]);
		stack_depot_put(with);
	}
	expect_fetch(test, handle, frames, 9);
	stack_depot_put(with);
}

/**
 * struct filtered - a trace that is saved in hardirq context
 * @work: saves it
 * @frames: the trace
 * @handle: its handle
 */
struct filtered {
	struct irq_work work;
	unsigned long frames[20];
	depot_stack_handle_t handle;
};

static void filtered_save(struct irq_work *work)
{
	struct filtered *f = container_of(work, struct filtered, work);

	f->handle = stack_depot_save_flags(f->frames, ARRAY_SIZE(f->frames), 0, 0);
}

/* What an interrupt interrupted is cut off: it says nothing. */
static void test_filter(struct kunit *test)
{
	struct filtered *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->work = IRQ_WORK_INIT_HARD(filtered_save);
	for (i = 0; i < ARRAY_SIZE(f->frames); i++) {
		depot_make(f->frames, new_keys(1), ARRAY_SIZE(f->frames), false);
		f->frames[i] = (unsigned long)__irqentry_text_start;
		/* What is left of it, so that there is room for it. */
		save(f->frames, i + 1, CAN_ALLOC);
		irq_work_queue(&f->work);
		irq_work_sync(&f->work);
		expect_fetch(test, f->handle, f->frames, i + 1);
		KUNIT_EXPECT_EQ(test, save(f->frames, i + 1, CAN_ALLOC), f->handle);
	}
}

/* === References ============================================================ */

static bool gone(depot_stack_handle_t handle)
{
	struct depot_record *rec;

	return depot_look_up(handle, &rec) != DEPOT_FOUND;
}

static void test_get_put(struct kunit *test)
{
	unsigned long *frames = new_frames(test, 17), *entries, *again;
	unsigned long allocs = depot_sum(DEPOT_REFD_ALLOCS);
	unsigned long frees = depot_sum(DEPOT_REFD_FREES);
	depot_stack_handle_t handle;
	unsigned int i, gets = 100;

	depot_make(frames, new_keys(1), 17, false);
	handle = save(frames, 17, kinds[2]);
	expect_fetch(test, handle, frames, 17);
	stack_depot_fetch(handle, &entries);
	for (i = 1; i < gets; i++)
		KUNIT_EXPECT_EQ(test, handle,
				save(frames, 17, kinds[2]));
	KUNIT_EXPECT_GT(test, depot_sum(DEPOT_REFD_ALLOCS), allocs);
	for (i = 1; i < gets; i++) {
		stack_depot_put(handle);
		stack_depot_fetch(handle, &again);
		KUNIT_EXPECT_PTR_EQ(test, again, entries);
	}
	KUNIT_EXPECT_MEMEQ(test, entries, frames, 17 * sizeof(*frames));
	KUNIT_EXPECT_FALSE(test, gone(handle));
	stack_depot_put(handle);
	KUNIT_EXPECT_TRUE(test, gone(handle));
	KUNIT_EXPECT_GT(test, depot_sum(DEPOT_REFD_FREES), frees);
}

/* What was freed serves traces of any other size. */
static void test_reuse(struct kunit *test)
{
	enum { ROUNDS = 40, TRACES = 300 };
	unsigned long *frames = new_frames(test, MAX_FRAMES);
	depot_stack_handle_t *handles;
	unsigned long bytes = 0;
	unsigned int round, i, nr;

	handles = kunit_kcalloc(test, TRACES, sizeof(*handles), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, handles);

	for (round = 0; round < ROUNDS; round++) {
		u32 key = new_keys(TRACES);

		/* Large ones and small ones take turns. */
		for (i = 0; i < TRACES; i++) {
			nr = 1 + (round & 1 ? i % 10 : (i + round) % MAX_FRAMES);
			depot_make(frames, key + i, nr, false);
			handles[i] = save(frames, nr, kinds[2]);
			KUNIT_EXPECT_NE(test, handles[i], 0);
			if (i % 50 == 0)
				expect_fetch(test, handles[i], frames, nr);
		}
		for (i = 0; i < TRACES; i++)
			stack_depot_put(handles[i]);
		for (i = 0; i < TRACES; i++)
			KUNIT_EXPECT_TRUE(test, gone(handles[i]));
		synchronize_rcu();
		if (round == 5)
			bytes = depot_bytes();
	}
	/* These rounds saved more than 1 MB, of which at most 60 kB at a time. */
	KUNIT_EXPECT_LE(test, depot_bytes(), bytes + 256 * SZ_1K);
}

/* Each of these is answered by a warning, and by nothing else. */
static void test_bad_handles(struct kunit *test)
{
	unsigned long bad = depot_sum(DEPOT_BAD_HANDLES);
	unsigned long frees;
	u32 key = new_keys(3);
	depot_stack_handle_t persistent, once, twice;
	unsigned long *entries;

	persistent = save_key(key, kinds[0]);
	once = save_key(key + 1, kinds[2]);
	twice = save_key(key + 2, kinds[2]);
	KUNIT_ASSERT_NE(test, persistent, 0);
	KUNIT_ASSERT_NE(test, once, 0);
	KUNIT_ASSERT_NE(test, twice, 0);

	pr_info("begin of expected warnings\n");
	/* Not where a record begins. */
	entries = &bad;
	KUNIT_EXPECT_EQ(test, stack_depot_fetch(persistent + 1, &entries), 0);
	KUNIT_EXPECT_NULL(test, entries);
	stack_depot_put(once);
	entries = &bad;
	KUNIT_EXPECT_EQ(test, stack_depot_fetch(once, &entries), 0);
	KUNIT_EXPECT_NULL(test, entries);
	stack_depot_put(twice);
	frees = depot_sum(DEPOT_REFD_FREES);
	stack_depot_put(twice);
	if (!IS_ENABLED(CONFIG_KASAN_SW_TAGS) && !IS_ENABLED(CONFIG_KASAN_HW_TAGS))
		KUNIT_EXPECT_EQ(test, depot_sum(DEPOT_REFD_FREES), frees);
	stack_depot_put(persistent);
	pr_info("end of expected warnings\n");

	KUNIT_EXPECT_TRUE(test, holds_key(persistent, key));
	KUNIT_EXPECT_EQ(test, depot_sum(DEPOT_BAD_HANDLES), bad + 4);
	/* No warning, and no trace. */
	KUNIT_EXPECT_EQ(test, stack_depot_copy(DEPOT_REF_MASK, 0, &bad, 1), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_copy(persistent + 1, 0, &bad, 1), 0);
}

/* A record with more references than can be counted stays for good. */
static void test_saturated(struct kunit *test)
{
	u32 key = new_keys(1);
	depot_stack_handle_t handle = save_key(key, kinds[2]);
	atomic_t *refs;
	int i;

	KUNIT_ASSERT_NE(test, handle, 0);
	refs = depot_refs(depot_record(handle & DEPOT_REF_MASK));
	atomic_set(refs, DEPOT_REFS_SATURATED - 1);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, save_key(key, kinds[2]), handle);
		KUNIT_EXPECT_EQ(test, atomic_read(refs), DEPOT_REFS_SATURATED);
	}
	for (i = 0; i < 5; i++)
		stack_depot_put(handle);
	KUNIT_EXPECT_EQ(test, atomic_read(refs), DEPOT_REFS_SATURATED);
	KUNIT_EXPECT_TRUE(test, holds_key(handle, key));
}

/* === Traces that count ==================================================== */

static void test_counts(struct kunit *test)
{
	enum { COUNTED = 150 };
	depot_stack_handle_t handles[COUNTED], plain, handle = 0, last = 0;
	unsigned int i, met = 0;
	u32 key = new_keys(COUNTED);
	int count;

	plain = save_key(key, kinds[0]);
	for (i = 0; i < COUNTED; i++) {
		handles[i] = save_key(key + i, kinds[1]);
		KUNIT_ASSERT_NE(test, handles[i], 0);
		KUNIT_EXPECT_TRUE(test, stack_depot_count_add(handles[i], 1000));
		KUNIT_EXPECT_TRUE(test, stack_depot_count_add(handles[i], -(int)i));
		/* Another save of it changes nothing. */
		KUNIT_EXPECT_EQ(test, save_key(key + i, kinds[1]),
				handles[i]);
	}
	/* It has none. */
	KUNIT_EXPECT_TRUE(test, stack_depot_count_add(plain, 5));
	KUNIT_EXPECT_TRUE(test, holds_key(plain, key));
	KUNIT_EXPECT_TRUE(test, stack_depot_count_add(0, 5));

	while ((handle = stack_depot_next_counted(handle, &count))) {
		KUNIT_EXPECT_GT(test, handle, last);
		KUNIT_EXPECT_NE(test, handle, plain);
		last = handle;
		for (i = 0; i < COUNTED; i++) {
			if (handle != handles[i])
				continue;
			KUNIT_EXPECT_EQ(test, count, 1000 - (int)i);
			KUNIT_EXPECT_TRUE(test, holds_key(handle, key + i));
			met++;
		}
	}
	KUNIT_EXPECT_EQ(test, met, COUNTED);
}

/* === Text ================================================================== */

/* A few frames that have names, so that lines differ in length. */
static void make_named(unsigned long *frames, unsigned int nr)
{
	static void *const names[] = {
		stack_depot_save_flags, stack_trace_save, synchronize_rcu, memcmp,
		kthread_stop, msleep,
	};
	unsigned int i;

	depot_make(frames, new_keys(1), nr, false);
	for (i = 1; i < nr; i++)
		if (i % 3)
			frames[i] = (unsigned long)names[i % ARRAY_SIZE(names)] + 4 * i;
}

static void test_snprint(struct kunit *test)
{
	static const unsigned int depths[] = { 1, 2, 7, 8, 9, 16, 17, MAX_FRAMES };
	unsigned long *frames = new_frames(test, MAX_FRAMES);
	char *is = kunit_kzalloc(test, SZ_8K, GFP_KERNEL);
	char *want = kunit_kzalloc(test, SZ_8K, GFP_KERNEL);
	depot_stack_handle_t handle;
	unsigned int i, spaces;
	size_t size, step;
	int len;

	KUNIT_ASSERT_NOT_NULL(test, is);
	KUNIT_ASSERT_NOT_NULL(test, want);
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		make_named(frames, depths[i]);
		handle = save(frames, depths[i], CAN_ALLOC);
		KUNIT_ASSERT_NE(test, handle, 0);
		for (spaces = 0; spaces <= 8; spaces += 4) {
			len = stack_trace_snprint(want, SZ_8K, frames, depths[i],
						  spaces);
			KUNIT_EXPECT_EQ(test, len,
					stack_depot_snprint(handle, is, SZ_8K,
							    spaces));
			KUNIT_EXPECT_STREQ(test, is, want);
		}
		/* And where it does not fit. */
		step = len / 50 + 1;
		for (size = 0; size <= len + 1; size += step) {
			memset(is, 'x', SZ_8K);
			memset(want, 'x', SZ_8K);
			KUNIT_EXPECT_EQ(test,
					stack_trace_snprint(want, size, frames,
							    depths[i], 2),
					stack_depot_snprint(handle, is, size, 2));
			KUNIT_EXPECT_MEMEQ(test, is, want, SZ_8K);
		}
	}
}

/* Look for @text in one of the lines of the kernel's log that come next. */
static bool logged(struct kmsg_dump_iter *iter, const char *text)
{
	char line[256];
	size_t len;

	while (kmsg_dump_get_line(iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		if (text && strstr(line, text))
			return true;
	}
	return false;
}

static void test_print(struct kunit *test)
{
	unsigned long *frames = new_frames(test, 20);
	struct kmsg_dump_iter iter;
	depot_stack_handle_t handle;
	char text[200];
	unsigned int i;

	make_named(frames, 20);
	handle = save(frames, 20, CAN_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);

	kmsg_dump_rewind(&iter);
	logged(&iter, NULL);
	stack_depot_print(handle);
	for (i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), " %pS\n", (void *)frames[i]);
		KUNIT_EXPECT_TRUE_MSG(test, logged(&iter, text), "line %u: %s", i,
				      text);
	}
}

/* === What was fetched stays, or says that it is gone ====================== */

static void save_many(struct kunit *test, unsigned int nr)
{
	u32 key = new_keys(nr);
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_NE(test, save_key(key + i, CAN_ALLOC), 0);
}

static void test_fetch_stays(struct kunit *test)
{
	enum { FETCHED = 90 };
	struct {
		depot_stack_handle_t handle;
		unsigned int nr;
		unsigned long *entries;
		unsigned long frames[MAX_FRAMES];
	} *f;
	unsigned long *again;
	unsigned int i;

	f = kunit_kcalloc(test, FETCHED, sizeof(*f), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f);
	for (i = 0; i < FETCHED; i++) {
		bool wide = i % 7 == 0;

		/* The limit drops nothing that can be freed. */
		if (depot_policy == DEPOT_EVICT && i % 3 != 2)
			continue;
		f[i].nr = 1 + i % MAX_FRAMES;
		depot_make(f[i].frames, new_keys(1), f[i].nr, wide);
		f[i].handle = save(f[i].frames, f[i].nr, kinds[i % 3]);
		KUNIT_ASSERT_EQ(test, fetch(f[i].handle, &f[i].entries), f[i].nr);
	}
	save_many(test, 10000);
	for (i = 0; i < FETCHED; i++) {
		if (!f[i].handle)
			continue;
		KUNIT_EXPECT_MEMEQ(test, f[i].entries, f[i].frames,
				   f[i].nr * sizeof(*f[i].frames));
		KUNIT_EXPECT_EQ(test, stack_depot_fetch(f[i].handle, &again), f[i].nr);
		KUNIT_EXPECT_PTR_EQ(test, again, f[i].entries);
		if (kinds[i % 3] & STACK_DEPOT_FLAG_GET)
			stack_depot_put(f[i].handle);
	}
}

static void test_evicted(struct kunit *test)
{
	unsigned long evicted = depot_sum(DEPOT_EVICTED_POOLS);
	unsigned long bad = depot_sum(DEPOT_BAD_HANDLES);
	depot_stack_handle_t handle, fresh;
	unsigned long *entries;
	unsigned int i;
	char text[100];
	u32 key = new_keys(2);

	if (depot_policy != DEPOT_EVICT || depot_max_pools > 64)
		kunit_skip(test, "needs stack_depot_policy=evict stack_depot_max_pools=16");

	handle = save_key(key, kinds[1]);
	KUNIT_EXPECT_TRUE(test, holds_key(handle, key));
	/* As much as fits twice. */
	for (i = 0; i < 2 * depot_max_pools * DEPOT_POOL_UNITS / 8; i++) {
		save_many(test, 1);
		KUNIT_EXPECT_TRUE(test, gone(handle) || holds_key(handle, key));
	}
	KUNIT_EXPECT_GT(test, depot_sum(DEPOT_EVICTED_POOLS), evicted);

	KUNIT_EXPECT_EQ(test, stack_depot_fetch(handle, &entries), 0);
	KUNIT_EXPECT_NULL(test, entries);
	KUNIT_EXPECT_GT(test, stack_depot_snprint(handle, text, sizeof(text), 0), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "evicted"));
	KUNIT_EXPECT_TRUE(test, stack_depot_count_add(handle, 1));
	KUNIT_EXPECT_EQ(test, depot_sum(DEPOT_BAD_HANDLES), bad);

	/* The same trace is a new one now. */
	fresh = save_key(key, kinds[1]);
	KUNIT_EXPECT_NE(test, fresh, 0);
	KUNIT_EXPECT_NE(test, fresh, handle);
	KUNIT_EXPECT_TRUE(test, holds_key(fresh, key));
	KUNIT_EXPECT_LE(test, depot_nr_pools(), depot_max_pools);
}

/* === The fused save: what stack_trace_save() gives at the same place ====== */

enum { VIA_FUSED, VIA_ARRAY, NR_WAYS };

/**
 * struct capture - one trace, saved in two ways from one place
 * @depth: how many calls deep a task's trace is
 * @skip: how many frames to leave out
 * @max: how many to keep
 * @flags: how to save
 * @gfp: how memory may be allocated
 * @handle: what each way returned
 * @nr: length of the trace that stack_trace_save() gave
 * @cut: how many of its frames filter_irq_stacks() left
 * @entries: the trace
 * @hardirq: whether the place was in hardirq context
 * @softirq: whether it was in softirq context
 * @where: the task that ran there
 * @done: set at last
 * @work: runs in a worker
 * @irq_work: runs in hardirq context
 * @tasklet: runs in softirq context
 * @timer: runs in softirq context
 */
struct capture {
	unsigned int depth;
	unsigned int skip;
	unsigned int max;
	depot_flags_t flags;
	gfp_t gfp;
	depot_stack_handle_t handle[NR_WAYS];
	unsigned int nr;
	unsigned int cut;
	unsigned long entries[MAX_FRAMES];
	bool hardirq;
	bool softirq;
	struct task_struct *where;
	struct completion done;
	struct work_struct work;
	struct irq_work irq_work;
	struct tasklet_struct tasklet;
	struct timer_list timer;
};

/* Each way has a frame of its own, which it skips: the first entry is take_both()'s. */
static noinline depot_stack_handle_t via_fused(struct capture *c)
{
	return stack_depot_save_current_max(c->skip + 1, c->max, c->gfp, c->flags);
}

static noinline depot_stack_handle_t via_array(struct capture *c)
{
	depot_stack_handle_t handle;

	c->nr = stack_trace_save(c->entries, min(c->max, MAX_FRAMES), c->skip + 1);
	handle = stack_depot_save_flags(c->entries, c->nr, c->gfp, c->flags);
	c->cut = filter_irq_stacks(c->entries, c->nr);
	return handle;
}

static depot_stack_handle_t (*const ways[])(struct capture *c) = {
	[VIA_FUSED]	= via_fused,
	[VIA_ARRAY]	= via_array,
};

/* One call instruction for both, or their first entries would differ. */
static noinline void take_both(struct capture *c)
{
	int i;

	for (i = 0; i < NR_WAYS; i++) {
		OPTIMIZER_HIDE_VAR(i);
		c->handle[i] = ways[i](c);
	}
}

static noinline void take(struct capture *c)
{
	c->hardirq = in_hardirq();
	c->softirq = in_serving_softirq();
	c->where = current;
	take_both(c);
	complete(&c->done);
}

static noinline void chain(struct capture *c, int depth)
{
	if (depth > 1)
		chain(c, depth - 1);
	else
		take(c);
	barrier();
}

static void expect_fused(struct kunit *test, struct capture *c)
{
	unsigned long frames[MAX_FRAMES];
	unsigned int nr;

	KUNIT_EXPECT_EQ_MSG(test, c->handle[VIA_FUSED], c->handle[VIA_ARRAY],
			    "skip %u, max %u, %u frames", c->skip, c->max, c->cut);
	KUNIT_EXPECT_EQ(test, !!c->handle[VIA_FUSED], !!c->cut);
	nr = stack_depot_copy(c->handle[VIA_FUSED], 0, frames, ARRAY_SIZE(frames));
	KUNIT_EXPECT_EQ(test, nr, c->cut);
	if (nr == c->cut)
		KUNIT_EXPECT_MEMEQ(test, frames, c->entries, nr * sizeof(*frames));
	if (c->flags & STACK_DEPOT_FLAG_GET) {
		stack_depot_put(c->handle[VIA_FUSED]);
		stack_depot_put(c->handle[VIA_ARRAY]);
	}
}

static void work_take(struct work_struct *work)
{
	chain(container_of(work, struct capture, work), 1);
}

static void irq_work_take(struct irq_work *work)
{
	chain(container_of(work, struct capture, irq_work), 1);
}

static void irq_work_schedule_tasklet(struct irq_work *work)
{
	tasklet_schedule(&container_of(work, struct capture, irq_work)->tasklet);
}

static void tasklet_take(struct tasklet_struct *tasklet)
{
	chain(container_of(tasklet, struct capture, tasklet), 1);
}

static void timer_take(struct timer_list *timer)
{
	chain(container_of(timer, struct capture, timer), 1);
}

static void ipi_take(void *c)
{
	chain(c, 1);
}

static struct capture *new_capture(struct kunit *test, bool can_alloc)
{
	struct capture *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->depth = 3;
	c->max = MAX_FRAMES;
	c->flags = can_alloc ? CAN_ALLOC : 0;
	c->gfp = can_alloc ? GFP_KERNEL : 0;
	init_completion(&c->done);
	INIT_WORK(&c->work, work_take);
	c->irq_work = IRQ_WORK_INIT_HARD(irq_work_take);
	tasklet_setup(&c->tasklet, tasklet_take);
	timer_setup(&c->timer, timer_take, 0);
	return c;
}

/* The ways into other contexts. Each waits until the capture is there. */
static void run_task(struct capture *c)
{
	chain(c, c->depth);
}

static void run_worker(struct capture *c)
{
	schedule_work(&c->work);
	flush_work(&c->work);
}

static void run_irq_work(struct capture *c)
{
	irq_work_queue(&c->irq_work);
	irq_work_sync(&c->irq_work);
}

static void run_own_ipi(struct capture *c)
{
	smp_call_function_single(get_cpu(), ipi_take, c, true);
	put_cpu();
}

static void run_other_ipi(struct capture *c)
{
	int cpu = get_cpu();

	smp_call_function_single(cpumask_any_but(cpu_online_mask, cpu), ipi_take, c,
				 true);
	put_cpu();
}

static void run_tasklet(struct capture *c)
{
	c->irq_work = IRQ_WORK_INIT_HARD(irq_work_schedule_tasklet);
	irq_work_queue(&c->irq_work);
	wait_for_completion(&c->done);
	irq_work_sync(&c->irq_work);
	tasklet_kill(&c->tasklet);
}

static void run_timer(struct capture *c)
{
	mod_timer(&c->timer, jiffies + 1);
	wait_for_completion(&c->done);
	timer_delete_sync(&c->timer);
}

static void run_ksoftirqd(struct capture *c)
{
	tasklet_schedule(&c->tasklet);
	wait_for_completion(&c->done);
	tasklet_kill(&c->tasklet);
}

/* Run until both are saved, as save() does. */
static void run_saved(void (*run)(struct capture *c), struct capture *c)
{
	int i;

	for (i = 0; i < 20; i++) {
		reinit_completion(&c->done);
		run(c);
		if (depot_policy != DEPOT_EVICT || !c->cut ||
		    (c->handle[VIA_FUSED] && c->handle[VIA_ARRAY]))
			break;
		if (c->flags & STACK_DEPOT_FLAG_GET) {
			stack_depot_put(c->handle[VIA_FUSED]);
			stack_depot_put(c->handle[VIA_ARRAY]);
		}
		synchronize_rcu();
	}
}

/* Compare with all numbers of frames to skip and some to keep. */
static void compare(struct kunit *test, void (*run)(struct capture *c),
		    struct capture *c)
{
	static const unsigned int keep[] = { MAX_FRAMES, 0, 1, 11, 4 * MAX_FRAMES };
	unsigned int total = 0, i;

	for (i = 0; i < ARRAY_SIZE(keep); i++) {
		c->max = keep[i];
		for (c->skip = 0; c->skip <= total + 2; c->skip++) {
			/* There is room for another trace, or a pool in reserve. */
			save_many(test, 1);
			run_saved(run, c);
			expect_fused(test, c);
			if (!c->skip)
				total = max(total, c->nr);
		}
	}
	KUNIT_EXPECT_GT(test, total, 3);
	c->max = MAX_FRAMES;
	c->skip = INT_MAX;
	run(c);
	expect_fused(test, c);
	KUNIT_EXPECT_EQ(test, c->handle[VIA_FUSED], 0);
	c->skip = 0;
}

static void test_fused_depths(struct kunit *test)
{
	struct capture *c = new_capture(test, true);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		c->flags = kinds[i];
		for (c->depth = 1; c->depth <= MAX_FRAMES + 6; c->depth++) {
			run_saved(run_task, c);
			expect_fused(test, c);
			KUNIT_EXPECT_EQ(test, c->cut, min(c->nr, MAX_FRAMES));
			KUNIT_EXPECT_GE(test, c->cut, min(c->depth, MAX_FRAMES));
		}
	}
}

static void test_fused_task(struct kunit *test)
{
	struct capture *c = new_capture(test, true);

	compare(test, run_task, c);
	KUNIT_EXPECT_FALSE(test, c->hardirq || c->softirq);
	c->flags |= STACK_DEPOT_FLAG_GET;
	compare(test, run_task, c);
	c->flags = CAN_ALLOC | STACK_DEPOT_FLAG_COUNT;
	compare(test, run_task, c);
}

static void test_fused_worker(struct kunit *test)
{
	struct capture *c = new_capture(test, true);

	compare(test, run_worker, c);
	KUNIT_EXPECT_TRUE(test, c->where->flags & PF_WQ_WORKER);
}

static void test_fused_irq_work(struct kunit *test)
{
	struct capture *c = new_capture(test, false);

	compare(test, run_irq_work, c);
	KUNIT_EXPECT_TRUE(test, c->hardirq);
	run_irq_work(c);
	expect_fused(test, c);
	KUNIT_EXPECT_LT(test, c->cut, c->nr);
	c->flags = STACK_DEPOT_FLAG_GET;
	compare(test, run_irq_work, c);
}

static void test_fused_ipi(struct kunit *test)
{
	struct capture *c = new_capture(test, false);

	compare(test, run_own_ipi, c);
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");
	compare(test, run_other_ipi, c);
	KUNIT_EXPECT_TRUE(test, c->hardirq);
}

static void test_fused_tasklet(struct kunit *test)
{
	struct capture *c = new_capture(test, false);

	compare(test, run_tasklet, c);
	KUNIT_EXPECT_TRUE(test, c->softirq);
	KUNIT_EXPECT_FALSE(test, c->hardirq);
}

static void test_fused_timer(struct kunit *test)
{
	struct capture *c = new_capture(test, false);

	compare(test, run_timer, c);
	KUNIT_EXPECT_TRUE(test, c->softirq);
	KUNIT_EXPECT_FALSE(test, c->hardirq);
}

static void test_fused_ksoftirqd(struct kunit *test)
{
	struct capture *c = new_capture(test, false);
	bool seen = false;
	int i;

	compare(test, run_ksoftirqd, c);
	/* It is left to ksoftirqd if no interrupt comes before. */
	for (i = 0; i < 50 && !seen; i++) {
		reinit_completion(&c->done);
		run_ksoftirqd(c);
		expect_fused(test, c);
		seen = !strncmp(c->where->comm, "ksoftirqd/", 10);
	}
	KUNIT_EXPECT_TRUE(test, seen);
	KUNIT_EXPECT_TRUE(test, c->softirq);
}

#ifdef CONFIG_KPROBES
static struct capture *kprobe_capture;

static int kprobe_take(struct kprobe *kp, struct pt_regs *regs)
{
	chain(kprobe_capture, 1);
	return 0;
}

static noinline void kprobe_target(int *count)
{
	WRITE_ONCE(*count, *count + 1);
}

static void run_kprobe(struct capture *c)
{
	int count = 0;

	kprobe_capture = c;
	kprobe_target(&count);
}

/* An exception that is taken in the kernel leaves a frame that no call left. */
static void test_fused_kprobe(struct kunit *test)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)kprobe_target,
		.pre_handler = kprobe_take,
	};
	struct capture *c = new_capture(test, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	compare(test, run_kprobe, c);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_FALSE(test, c->hardirq || c->softirq);
}
#endif /* CONFIG_KPROBES */

#ifdef CONFIG_SCS_TRACE
/* Without the collector, or with walks alone, all traces go through an array. */
static void fall_back(struct kunit *test, enum scs_trace_mode mode)
{
	enum scs_trace_mode before = scs_trace_mode();
	struct capture *c = new_capture(test, true);
	depot_stack_handle_t handle;

	run_task(c);
	handle = c->handle[VIA_FUSED];
	scs_trace_set_mode(mode);
	run_task(c);
	compare(test, run_task, c);
	c->flags = 0;
	c->gfp = 0;
	compare(test, run_irq_work, c);
	compare(test, run_tasklet, c);
	scs_trace_set_mode(before);
	KUNIT_EXPECT_NE(test, handle, 0);
}

static void test_fused_fallback(struct kunit *test)
{
	fall_back(test, SCS_TRACE_MODE_OFF);
	fall_back(test, SCS_TRACE_MODE_WALK);
}
#endif /* CONFIG_SCS_TRACE */

/* Where nothing may sleep and no ordinary lock may be taken. */
static void test_atomic(struct kunit *test)
{
	enum { TRACES = 300 };
	static DEFINE_RAW_SPINLOCK(lock);
	u32 key = new_keys(2 * TRACES);
	depot_stack_handle_t handle, get;
	unsigned long flags;
	unsigned int i, stored = 0;

	for (i = 0; i < TRACES; i++) {
		raw_spin_lock_irqsave(&lock, flags);
		handle = save_key_atomic(key + i, 0);
		get = save_key_atomic(key + TRACES + i, STACK_DEPOT_FLAG_GET);
		raw_spin_unlock_irqrestore(&lock, flags);
		KUNIT_EXPECT_TRUE(test, !handle || holds_key(handle, key + i));
		if (get) {
			KUNIT_EXPECT_TRUE(test, holds_key(get, key + TRACES + i));
			raw_spin_lock_irqsave(&lock, flags);
			stack_depot_put(get);
			raw_spin_unlock_irqrestore(&lock, flags);
			KUNIT_EXPECT_TRUE(test, gone(get));
		}
		stored += !!handle + !!get;
		/* Sees to it that there is a pool in reserve. */
		if (!handle || !get) {
			save_many(test, 1);
			get = save_key(key + TRACES + i, kinds[2]);
			stack_depot_put(get);
		}
	}
	KUNIT_EXPECT_GT(test, stored, 19 * TRACES / 10);
}

/* === All CPUs at once ===================================================== */

/**
 * struct crowd - what the threads of a test share
 * @fn: what each of them does
 * @nr: number of them
 * @ready: how many have come to the start
 * @stop: set when they shall end
 * @errors: how often something was wrong
 * @done: completed by each at its end
 */
struct crowd {
	void (*fn)(struct crowd *crowd, unsigned int i);
	unsigned int nr;
	atomic_t ready;
	bool stop;
	atomic_t errors;
	struct completion done;
	struct member {
		struct crowd *crowd;
		unsigned int i;
	} member[8];
};

static int crowd_thread(void *data)
{
	struct member *member = data;
	struct crowd *crowd = member->crowd;

	atomic_inc(&crowd->ready);
	while (atomic_read(&crowd->ready) < READ_ONCE(crowd->nr))
		cond_resched();
	crowd->fn(crowd, member->i);
	complete(&crowd->done);
	return 0;
}

/* Start two threads on each CPU, eight at most; the first ones on a CPU each. */
static void crowd_start(struct kunit *test, struct crowd *crowd,
			void (*fn)(struct crowd *crowd, unsigned int i))
{
	unsigned int i, cpu = cpumask_first(cpu_online_mask);

	memset(crowd, 0, sizeof(*crowd));
	crowd->fn = fn;
	init_completion(&crowd->done);
	crowd->nr = min(2 * num_online_cpus(), ARRAY_SIZE(crowd->member));
	for (i = 0; i < crowd->nr; i++) {
		struct task_struct *t;

		crowd->member[i] = (struct member){ crowd, i };
		t = kthread_create(crowd_thread, &crowd->member[i],
				   "depot_test/%u", i);
		if (IS_ERR(t)) {
			/* The others shall not wait for it. */
			WRITE_ONCE(crowd->nr, i);
			KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(t));
			break;
		}
		kthread_bind(t, cpu);
		wake_up_process(t);
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
}

static void crowd_end(struct kunit *test, struct crowd *crowd)
{
	unsigned int i;

	WRITE_ONCE(crowd->stop, true);
	for (i = 0; i < crowd->nr; i++)
		wait_for_completion(&crowd->done);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->errors), 0);
}

enum { RACED = 700 };

static u32 raced_keys;
static depot_stack_handle_t (*raced)[RACED];

static void race_persistent(struct crowd *crowd, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < RACED; n++)
		raced[i][n] = save_key(raced_keys + n, kinds[0]);
}

static void race_get(struct crowd *crowd, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < RACED; n++)
		raced[i][n] = save_key(raced_keys + n, kinds[2]);
}

static void race_put(struct crowd *crowd, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < RACED; n++) {
		if (!holds_key(raced[i][n], raced_keys + n))
			atomic_inc(&crowd->errors);
		stack_depot_put(raced[i][n]);
	}
}

/* All CPUs save the same new traces at the same time: each trace has one handle. */
static void test_race(struct kunit *test)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	unsigned int i, n;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	raced = kunit_kzalloc(test, ARRAY_SIZE(crowd->member) * sizeof(*raced),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, raced);

	raced_keys = new_keys(RACED);
	crowd_start(test, crowd, race_persistent);
	crowd_end(test, crowd);
	for (n = 0; n < RACED; n++) {
		bool stays = depot_policy != DEPOT_EVICT;

		for (i = 0; i < crowd->nr; i++) {
			KUNIT_EXPECT_NE(test, raced[i][n], 0);
			if (stays)
				KUNIT_EXPECT_EQ(test, raced[i][n], raced[0][n]);
		}
		KUNIT_EXPECT_TRUE(test, holds_key(raced[0][n], raced_keys + n) ||
				  (!stays && gone(raced[0][n])));
	}

	raced_keys = new_keys(RACED);
	crowd_start(test, crowd, race_get);
	crowd_end(test, crowd);
	for (n = 0; n < RACED; n++)
		for (i = 0; i < crowd->nr; i++)
			KUNIT_EXPECT_EQ(test, raced[i][n], raced[0][n]);
	crowd_start(test, crowd, race_put);
	crowd_end(test, crowd);
	for (n = 0; n < RACED; n++)
		KUNIT_EXPECT_TRUE(test, gone(raced[0][n]));
}

/* Save, and free, until told to stop. */
static void save_on(struct crowd *crowd, unsigned int i)
{
	depot_stack_handle_t held[16] = { };
	u32 keys[16], key;
	unsigned int n;

	for (n = 0; !READ_ONCE(crowd->stop) && n < 3000; n++) {
		unsigned int slot = n % ARRAY_SIZE(held);

		key = new_keys(2);
		if (!save_key(key, kinds[n & 1]))
			atomic_inc(&crowd->errors);
		if (held[slot]) {
			if (!holds_key(held[slot], keys[slot]))
				atomic_inc(&crowd->errors);
			stack_depot_put(held[slot]);
		}
		keys[slot] = key + 1;
		held[slot] = save_key(key + 1, kinds[2]);
		if (!held[slot])
			atomic_inc(&crowd->errors);
		cond_resched();
	}
	for (n = 0; n < ARRAY_SIZE(held); n++)
		stack_depot_put(held[n]);
}

/* A walk over all traces meets each one once that is there all the while. */
static void test_iterate(struct kunit *test)
{
	enum { MARKED = 600 };
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	unsigned long *met = new_frames(test, BITS_TO_LONGS(MARKED));
	bool stays = depot_policy != DEPOT_EVICT;
	unsigned int i, pass, twice = 0;
	u32 key = new_keys(MARKED), ref, last;
	unsigned long frame;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	for (i = 0; i < MARKED; i++)
		KUNIT_EXPECT_NE(test, save_key(key + i, CAN_ALLOC), 0);

	crowd_start(test, crowd, save_on);
	for (pass = 0; pass < 5; pass++) {
		bitmap_zero(met, MARKED);
		last = 0;
		while ((ref = depot_next_record(last))) {
			KUNIT_EXPECT_GT(test, ref, last);
			last = ref;
			if (stack_depot_copy(ref, 0, &frame, 1) &&
			    depot_key_of(frame) - key < MARKED)
				twice += __test_and_set_bit(depot_key_of(frame) - key, met);
		}
		if (stays)
			KUNIT_EXPECT_TRUE(test, bitmap_full(met, MARKED));
		msleep(20);
	}
	crowd_end(test, crowd);
	KUNIT_EXPECT_EQ(test, twice, 0);
}

/* === NMI ================================================================== */

#ifdef CONFIG_PERF_EVENTS
/* How far apart NMIs are, and how many must have come in the middle of a save. */
#define NMI_CYCLES	400000
#define NMI_INSIDE	1000UL

/**
 * struct nmi_load - what a CPU's NMIs do and find
 * @saving: the interrupted thread is in a save or a put
 * @nmis: NMIs so far
 * @inside: those of them that came while @saving
 * @stored: traces that they stored, or found
 * @failed: traces that they could not store
 * @wrong: traces that were not what they should have been
 * @held: a reference that the next NMI drops
 * @held_key: of that trace
 * @c: for the fused save
 */
struct nmi_load {
	bool saving;
	unsigned long nmis;
	unsigned long inside;
	unsigned long stored;
	unsigned long failed;
	unsigned long wrong;
	depot_stack_handle_t held;
	u32 held_key;
	struct capture c;
};

static struct nmi_load __percpu *nmi_loads;
static u32 nmi_known_key;

static void nmi_check(struct nmi_load *load, depot_stack_handle_t handle, u32 key)
{
	struct depot_record *rec;

	if (!handle)
		load->failed++;
	else if (holds_key(handle, key))
		load->stored++;
	else if (depot_look_up(handle, &rec) != DEPOT_GONE)
		load->wrong++;
}

static void nmi_save(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct nmi_load *load = this_cpu_ptr(nmi_loads);
	depot_stack_handle_t fused, array;
	struct depot_record *rec;
	u32 key;

	if (!in_nmi())
		return;
	load->nmis++;
	WRITE_ONCE(load->inside, load->inside + READ_ONCE(load->saving));

	/* A trace that is there, and a new one. */
	nmi_check(load, save_key_atomic(nmi_known_key, 0), nmi_known_key);
	key = new_keys(2);
	nmi_check(load, save_key_atomic(key, 0), key);

	/* One that is freed, or saved, while another thread or NMI does so. */
	if (load->held) {
		nmi_check(load, load->held, load->held_key);
		stack_depot_put(load->held);
	}
	load->held_key = load->nmis & 1 ? key + 1 : nmi_known_key;
	load->held = save_key_atomic(load->held_key, STACK_DEPOT_FLAG_GET);

	/* The same trace in both ways. */
	load->c.skip = load->nmis % 5;
	take_both(&load->c);
	fused = load->c.handle[VIA_FUSED];
	array = load->c.handle[VIA_ARRAY];
	if (!fused || !array)
		load->failed++;
	else if (fused == array)
		load->stored++;
	else if (depot_look_up(fused, &rec) != DEPOT_GONE)
		load->wrong++;
}

/* What the NMIs interrupt. */
static void nmi_victim(struct crowd *crowd, unsigned int i)
{
	depot_stack_handle_t handle;
	struct nmi_load *load;
	u32 key;

	if (i >= num_online_cpus())
		return;
	/* Bound to its CPU. */
	load = raw_cpu_ptr(nmi_loads);
	while (!READ_ONCE(crowd->stop)) {
		key = new_keys(1);
		WRITE_ONCE(load->saving, true);
		handle = save_key(key, kinds[key % 3]);
		WRITE_ONCE(load->saving, false);
		if (!handle || !(holds_key(handle, key) || gone(handle)))
			atomic_inc(&crowd->errors);
		if (kinds[key % 3] & STACK_DEPOT_FLAG_GET) {
			WRITE_ONCE(load->saving, true);
			stack_depot_put(handle);
			WRITE_ONCE(load->saving, false);
		}
		/* The same traces as the NMIs. */
		WRITE_ONCE(load->saving, true);
		handle = save_key(nmi_known_key, kinds[2]);
		stack_depot_put(handle);
		WRITE_ONCE(load->saving, false);
		cond_resched();
	}
}

static unsigned long nmi_inside(void)
{
	unsigned long inside = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		inside += READ_ONCE(per_cpu_ptr(nmi_loads, cpu)->inside);
	return inside;
}

static void test_nmi(struct kunit *test)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	unsigned long bad = depot_sum(DEPOT_BAD_HANDLES);
	unsigned long deadline, nmis = 0, stored = 0, failed = 0, wrong = 0;
	long in_use;
	int cpu, err;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	nmi_loads = alloc_percpu(struct nmi_load);
	KUNIT_ASSERT_TRUE(test, !!nmi_loads);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(nmi_loads, cpu)->c.max = MAX_FRAMES;
	nmi_known_key = new_keys(1);
	save_key(nmi_known_key, CAN_ALLOC);
	in_use = depot_sum(DEPOT_REFD_ALLOCS) - depot_sum(DEPOT_REFD_FREES);

	err = depot_nmi_start(nmi_save, NMI_CYCLES);
	if (!err) {
		crowd_start(test, crowd, nmi_victim);
		deadline = jiffies + 10 * HZ;
		while (nmi_inside() < NMI_INSIDE && time_before(jiffies, deadline))
			msleep(20);
		crowd_end(test, crowd);
		depot_nmi_stop();
	}
	for_each_possible_cpu(cpu) {
		struct nmi_load *load = per_cpu_ptr(nmi_loads, cpu);

		nmis += load->nmis;
		stored += load->stored;
		failed += load->failed;
		wrong += load->wrong;
		stack_depot_put(load->held);
	}
	kunit_info(test, "%lu NMIs, %lu of them in a save or put, %lu traces, %lu not stored\n",
		   nmis, nmi_inside(), stored, failed);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, depot_sum(DEPOT_BAD_HANDLES), bad);
	if (nmis) {
		KUNIT_EXPECT_GE(test, nmi_inside(), NMI_INSIDE);
		KUNIT_EXPECT_GT(test, stored, failed);
		/* Nobody else frees traces without tags. */
		if (!IS_ENABLED(CONFIG_KASAN_SW_TAGS) &&
		    !IS_ENABLED(CONFIG_KASAN_HW_TAGS))
			KUNIT_EXPECT_EQ(test, in_use,
					(long)(depot_sum(DEPOT_REFD_ALLOCS) -
					       depot_sum(DEPOT_REFD_FREES)));
	}
	free_percpu(nmi_loads);
	if (!nmis)
		kunit_skip(test, "needs a PMU and irqchip.gicv3_pseudo_nmi=1");
}
#endif /* CONFIG_PERF_EVENTS */

static int depot_test_suite_init(struct kunit_suite *suite)
{
	return stack_depot_init();
}

static struct kunit_case depot_test_cases[] = {
	KUNIT_CASE(test_round_trip),
	KUNIT_CASE(test_wide),
	KUNIT_CASE(test_similar),
	KUNIT_CASE(test_nothing),
	KUNIT_CASE(test_extra_bits),
	KUNIT_CASE(test_filter),
	KUNIT_CASE(test_get_put),
	KUNIT_CASE(test_reuse),
	KUNIT_CASE(test_bad_handles),
	KUNIT_CASE(test_saturated),
	KUNIT_CASE(test_counts),
	KUNIT_CASE(test_snprint),
	KUNIT_CASE(test_print),
	KUNIT_CASE(test_fetch_stays),
	KUNIT_CASE(test_evicted),
	KUNIT_CASE(test_fused_depths),
	KUNIT_CASE(test_fused_task),
	KUNIT_CASE(test_fused_worker),
	KUNIT_CASE(test_fused_irq_work),
	KUNIT_CASE(test_fused_ipi),
	KUNIT_CASE(test_fused_tasklet),
	KUNIT_CASE(test_fused_timer),
	KUNIT_CASE(test_fused_ksoftirqd),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(test_fused_kprobe),
#endif
#ifdef CONFIG_SCS_TRACE
	KUNIT_CASE(test_fused_fallback),
#endif
	KUNIT_CASE(test_atomic),
	KUNIT_CASE(test_race),
	KUNIT_CASE(test_iterate),
#ifdef CONFIG_PERF_EVENTS
	KUNIT_CASE(test_nmi),
#endif
	{}
};

static struct kunit_suite depot_test_suite = {
	.name = "stackdepot_fast",
	.suite_init = depot_test_suite_init,
	.test_cases = depot_test_cases,
};

kunit_test_suite(depot_test_suite);
