// SPDX-License-Identifier: GPL-2.0
/* Many threads save, put and fetch at once, interrupted, moved between CPUs and short of memory. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "depot.h"

#define MAX_THREADS	32
#define MAX_IDS		400000
#define MAX_HELD	512

static const struct depot *depot = &fast_depot;
static unsigned int nr_threads = 4;
static unsigned int max_ids = 50000;
static unsigned int interrupts = 1;
/* There is room for few traces: old ones are evicted. */
static int evicting;
/* In rounds, all threads save the same few traces, which are new, at the same time. */
static int racing;

/* Grows: traces up to here are saved. */
static unsigned int nr_ids = 64;
/* By id: the handle of a trace that is never freed; published as any pointer is. */
static unsigned int handles[MAX_IDS];
/* By id: as what the list of traces has it. */
static unsigned int listed[MAX_IDS];
static int stop;

static struct worker {
	pthread_t thread;
	uint64_t random;
	uint64_t irq_random;
	unsigned int nr_held;
	struct {
		unsigned int id;
		unsigned int handle;
	} held[MAX_HELD];
	unsigned long saves, refused, puts, nmis, irqs;
} workers[MAX_THREADS];

static __thread struct worker *self;

__attribute__((format(printf, 1, 2), noreturn))
static void wrong(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "WRONG: %s: ", depot->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t next(uint64_t *random)
{
	return mix(*random += 0x9e3779b97f4a7c15ULL);
}

/* --- Traces: a function of a number ---------------------------------------- */

static int is_refcounted(unsigned int id)
{
	return id % 3 == 0;
}

static unsigned int make_trace(unsigned int id, unsigned long *entries)
{
	uint64_t r = mix(id);
	unsigned int nr = 1 + r % 30, i;

	/* The outer frames are those of 8, 64, 512... neighbours, too. */
	for (i = 0; i < nr; i++) {
		unsigned int from_root = nr - 1 - i;
		unsigned int group = from_root < 12 ? id >> (3 * (12 - from_root) / 4) : id;

		entries[i] = shim_text + mix(group * 64ULL + from_root) % 0x800000;
	}
	/* It is to be told from all others. */
	entries[0] = shim_text + 4UL * id;
	if (r >> 60 == 0 && nr > 1)
		entries[nr / 2] = mix(r);
	return nr;
}

static void check_frames(unsigned int id, unsigned int handle, const unsigned long *entries,
			 unsigned int nr)
{
	unsigned long expect[DEPOT_MAX_FRAMES];
	unsigned int want = make_trace(id, expect);

	if (nr != want)
		wrong("%08x has %u frames, not %u", handle, nr, want);
	for (unsigned int i = 0; i < nr; i++)
		if (entries[i] != expect[i])
			wrong("%08x has %#lx as frame %u, not %#lx", handle, entries[i], i,
			      expect[i]);
}

static void check(unsigned int id, unsigned int handle, int may_fail)
{
	unsigned long copy[DEPOT_MAX_FRAMES], *entries = copy;
	unsigned int got;

	/* What fetch() returns may go while we look at it, where traces are evicted. */
	if (evicting && !is_refcounted(id)) {
		got = depot->copy(handle, 0, copy, DEPOT_MAX_FRAMES);
		may_fail = 1;
	} else {
		got = depot->fetch(handle, &entries);
	}

	if (got || !may_fail)
		check_frames(id, handle, entries, got);
}

/* Saves a trace that is never freed: it must have the same handle each time. */
static void save_persistent(unsigned int id, unsigned int gfp, unsigned int flags, int may_fail)
{
	unsigned long entries[DEPOT_MAX_FRAMES];
	unsigned int nr = make_trace(id, entries), was;
	unsigned int known = __atomic_load_n(&handles[id], __ATOMIC_ACQUIRE);
	unsigned int handle = depot->save_flags(entries, nr, gfp, flags);

	self->saves++;
	if (handle && evicting) {
		check(id, handle, 1);
		__atomic_store_n(&handles[id], handle, __ATOMIC_RELEASE);
		return;
	}
	if (!handle) {
		if (known && !evicting)
			wrong("%08x is not found again", known);
		if (!may_fail && flags && !evicting)
			wrong("a save fails for no reason");
		self->refused++;
		return;
	}
	was = 0;
	if (!__atomic_compare_exchange_n(&handles[id], &was, handle, 0, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED) && was != handle)
		wrong("one trace is both %08x and %08x", was, handle);
}

static unsigned int pick_id(uint64_t r)
{
	unsigned int n = __atomic_load_n(&nr_ids, __ATOMIC_RELAXED);

	/* Mostly few, so that threads meet; some, so that new ones are among them. */
	if (r % 4 == 0)
		return (r >> 8) % n;
	if (r % 4 == 1)
		return n - 1 - (r >> 8) % 64 % n;
	return (r >> 8) % 48;
}

/* --- Interrupts ------------------------------------------------------------ */

static void interrupt(void)
{
	uint64_t r = next(&self->irq_random);
	unsigned int id = pick_id(r);

	if (!shim_hardirq_enter())
		return;
	self->irqs++;
	if (!is_refcounted(id)) {
		save_persistent(id, depot_gfp_atomic, DEPOT_CAN_ALLOC, 1);
	} else {
		unsigned long entries[DEPOT_MAX_FRAMES];
		unsigned int nr = make_trace(id, entries);
		unsigned int handle = depot->save_flags(entries, nr, depot_gfp_atomic,
							DEPOT_CAN_ALLOC | DEPOT_GET);

		if (handle) {
			check(id, handle, 1);
			depot->put(handle);
		}
	}
	shim_hardirq_exit();
}

static void on_signal(int sig)
{
	int saved = errno;
	unsigned int id;

	if (!self)
		return;
	if (sig == SIGUSR2) {
		interrupt();
	} else if (shim_nmi_enter()) {
		self->nmis++;
		id = pick_id(next(&self->irq_random));
		if (!is_refcounted(id))
			save_persistent(id, depot_gfp_atomic, 0, 1);
		shim_nmi_exit();
	}
	errno = saved;
}

/* --- Threads --------------------------------------------------------------- */

static void save_refcounted(unsigned int id, unsigned int gfp, unsigned int flags, int may_fail)
{
	unsigned long entries[DEPOT_MAX_FRAMES];
	unsigned int nr = make_trace(id, entries);
	unsigned int handle = depot->save_flags(entries, nr, gfp, flags | DEPOT_GET);
	int known = 0;

	self->saves++;
	for (unsigned int i = 0; i < self->nr_held; i++) {
		if (self->held[i].id != id)
			continue;
		known = 1;
		if (self->held[i].handle != handle)
			wrong("a trace that is %08x is saved as %08x", self->held[i].handle,
			      handle);
	}
	if (!handle) {
		if (!may_fail && flags && !known && !evicting)
			wrong("a save fails for no reason");
		self->refused++;
		return;
	}
	check(id, handle, may_fail);
	self->held[self->nr_held].id = id;
	self->held[self->nr_held++].handle = handle;
}

static void put_one(uint64_t r, int may_fail)
{
	unsigned int i = r % self->nr_held;

	check(self->held[i].id, self->held[i].handle, may_fail);
	depot->put(self->held[i].handle);
	self->held[i] = self->held[--self->nr_held];
	self->puts++;
}

static void *work(void *arg)
{
	struct shim_thread *thread = shim_self();
	unsigned int id, gfp, handle;
	int atomic, may_fail;
	sigset_t signals;
	uint64_t r;

	self = arg;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	if (interrupts)
		pthread_sigmask(SIG_UNBLOCK, &signals, NULL);

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		r = next(&self->random);
		if (r % 1024 == 0)
			shim_set_cpu((r >> 12) % SHIM_NR_CPUS);
		if (r % 512 == 1)
			thread->fail_percent = (r >> 12) % 3 ? 0 : (r >> 16) % 120;
		/* An interrupt handler may have seen it otherwise. */
		may_fail = thread->fail_percent || interrupts;

		atomic = (r >> 32) % 4 == 0;
		gfp = atomic ? depot_gfp_nowait : depot_gfp_kernel;
		id = pick_id(next(&self->random));
		if (atomic)
			shim_atomic_enter();
		if (!is_refcounted(id))
			save_persistent(id, gfp, (r >> 36) % 8 ? DEPOT_CAN_ALLOC : 0, may_fail);
		else if (self->nr_held < MAX_HELD && (r >> 40) % 5 < 3)
			save_refcounted(id, gfp, DEPOT_CAN_ALLOC, may_fail);
		else if (self->nr_held)
			put_one(r >> 44, 1);
		if (atomic)
			shim_atomic_exit();
		if ((r >> 50) % 64 == 0) {
			id = pick_id(next(&self->random));
			handle = __atomic_load_n(&handles[id], __ATOMIC_ACQUIRE);
			if (handle)
				check(id, handle, 1);
		}
	}
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	thread->fail_percent = 0;
	while (self->nr_held)
		put_one(0, 0);
	return NULL;
}

/* --- The list of traces ---------------------------------------------------- */

/*
 * Each trace that is listed was saved, as a whole. One that is never freed is listed
 * as one handle for good: room that was taken for it in vain is nothing to be listed.
 */
static void check_listed(unsigned int handle, const unsigned long *entries, unsigned int nr,
			 int stays)
{
	unsigned int id = (entries[0] - shim_text) / 4, was = 0;

	if (entries[0] < shim_text || id >= __atomic_load_n(&nr_ids, __ATOMIC_RELAXED))
		wrong("%08x is listed with %#lx as frame 0, which no trace has", handle,
		      entries[0]);
	check_frames(id, handle, entries, nr);
	if (!stays || evicting)
		return;
	if (!__atomic_compare_exchange_n(&listed[id], &was, handle, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) && was != handle)
		wrong("one trace is listed both as %08x and as %08x", was, handle);
}

static void read_traces(void (*between)(void *arg))
{
	char *text = shim_debugfs_read(depot->unit, "stackdepot/traces", 4096, between, NULL);
	unsigned long entries[DEPOT_MAX_FRAMES];
	char *p = text;

	while (*p) {
		static const char before_handle[] = "handle ", before_nr[] = " frames ";
		unsigned long handle = 0, nr = 0;
		const char *line = p;
		int refs;

		/* No sscanf(): it measures all that follows, and the list may be long. */
		if (!strncmp(p, before_handle, strlen(before_handle)))
			handle = strtoul(p + strlen(before_handle), &p, 16);
		if (handle && !strncmp(p, before_nr, strlen(before_nr)))
			nr = strtoul(p + strlen(before_nr), &p, 10);
		if (!nr || nr > DEPOT_MAX_FRAMES)
			wrong("the list of traces has this:\n%.100s", line);
		refs = *p != '\n';
		p = strchr(p, '\n') + 1;
		for (unsigned int i = 0; i < nr; i++) {
			entries[i] = strtoul(p, &p, 16);
			if (*p++ != '\n')
				wrong("the list of traces has this in %08lx: %.100s", handle,
				      p - 1);
		}
		if (*p++ != '\n')
			wrong("the list of traces has more frames for %08lx:\n%.100s", handle, p);
		check_listed(handle, entries, nr, !refs);
	}
	free(text);
}

#define ROUND_IDS	200

static pthread_barrier_t round_begins, round_ends;
static unsigned int round_left;
static uint64_t race_random;
/* How often another thread was faster to save a trace. */
static unsigned long raced;

static void *read_until_stop(void *arg)
{
	/* An interrupt's traces are those of a worker. */
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		read_traces(NULL);
		usleep(50000);
	}
	return NULL;
}

static unsigned long stat_value(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	if (!p || p[strlen(name)] != ':')
		wrong("the statistics have no %s:\n%s", name, text);
	return strtoul(p + strlen(name) + 1, NULL, 10);
}

static void finish(unsigned long long seed)
{
	unsigned long saves = 0, refused = 0, puts = 0, nmis = 0, irqs = 0, persistent = 0;
	char *text;

	for (unsigned int id = 0; id < max_ids; id++) {
		if (!handles[id])
			continue;
		persistent++;
		check(id, handles[id], evicting);
	}
	text = shim_debugfs_read(depot->unit, "stackdepot/stats", 100, NULL, NULL);
	if (stat_value(text, "refcounted_in_use"))
		wrong("all references were put, but some are in use:\n%s", text);
	if (evicting && !stat_value(text, "evicted_pools"))
		wrong("nothing was evicted:\n%s", text);
	if (!evicting && stat_value(text, "persistent_count") != persistent)
		wrong("%lu traces were saved for good, but the statistics say otherwise:\n%s",
		      persistent, text);
	free(text);

	for (unsigned int i = 0; i < nr_threads; i++) {
		saves += workers[i].saves;
		refused += workers[i].refused;
		puts += workers[i].puts;
		nmis += workers[i].nmis;
		irqs += workers[i].irqs;
	}
	printf("# %s, seed %llu: %lu saves (%lu refused), %lu puts, %lu interrupts, %lu NMIs,",
	       depot->name, seed, saves, refused, puts, irqs, nmis);
	printf(" %lu traces for good, %lu pages\n", persistent, shim_mem(depot->unit).pages);
	if (!saves || !puts || (interrupts && !nmis))
		wrong("this was no stress");
	if (racing)
		printf("# %lu times others were faster\n", raced);
	if (racing && raced < 100)
		wrong("this was no race");
	printf("ok - %s: %u threads at once%s\n", depot->name, nr_threads,
	       evicting ? ", traces are evicted" : racing ? ", all with the same new traces" : "");
}

/* --- Rounds ---------------------------------------------------------------- */

/* Between the time that a record is written and that it can be found, others may be faster. */
static void dawdle(void)
{
	if (self && next(&self->irq_random) % 8 == 0)
		sched_yield();
}

static void *race(void *arg)
{
	sigset_t signals;

	self = arg;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	shim_self()->irq_hook = dawdle;
	for (;;) {
		pthread_barrier_wait(&round_begins);
		if (stop)
			break;
		if (interrupts)
			pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
		for (unsigned int id = 0; id < ROUND_IDS; id++) {
			if (!is_refcounted(id))
				save_persistent(id, depot_gfp_kernel, DEPOT_CAN_ALLOC, 0);
			else
				save_refcounted(id, depot_gfp_kernel, DEPOT_CAN_ALLOC, 0);
			if (self->nr_held > 8)
				put_one(next(&self->random), 0);
		}
		while (self->nr_held)
			put_one(0, 0);
		pthread_sigmask(SIG_BLOCK, &signals, NULL);
		__atomic_fetch_sub(&round_left, 1, __ATOMIC_RELEASE);
		pthread_barrier_wait(&round_ends);
	}
	return NULL;
}

static void interrupt_one(void *arg)
{
	uint64_t r = next(&race_random);

	if (interrupts && r % 4 == 0)
		pthread_kill(workers[(r >> 8) % nr_threads].thread,
			     r >> 32 & 1 ? SIGUSR1 : SIGUSR2);
	shim_rcu_advance();
}

static void race_round(void)
{
	char *text;

	nr_ids = ROUND_IDS;
	memset(handles, 0, ROUND_IDS * sizeof(*handles));
	memset(listed, 0, ROUND_IDS * sizeof(*listed));
	round_left = nr_threads;
	pthread_barrier_wait(&round_begins);
	while (__atomic_load_n(&round_left, __ATOMIC_ACQUIRE))
		read_traces(interrupt_one);
	pthread_barrier_wait(&round_ends);
	read_traces(NULL);
	for (unsigned int id = 0; id < ROUND_IDS; id++)
		if (listed[id] != handles[id])
			wrong("a trace is %08x, but listed as %08x", handles[id], listed[id]);
	text = shim_debugfs_read(depot->unit, "stackdepot/stats", 100, NULL, NULL);
	raced += stat_value(text, "raced");
	free(text);
}

static void say_usage(void)
{
	fprintf(stderr,
		"usage: stress [--depot fast|upstream] [--seconds N] [--threads N] [--ids N] [--seed N]\n"
		"              [--evict | --race] [--no-interrupts]\n");
	exit(2);
}

static unsigned long to_number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (*end || end == text || errno || n > max) {
		fprintf(stderr, "error: '%s' is not a number up to %lu\n", text, max);
		exit(2);
	}
	return n;
}

static void boot(void)
{
	shim_free_buffer_pages = 16384;
	if (evicting) {
		if (!depot->copy)
			wrong("it evicts nothing");
		shim_boot_param(depot->unit, "stack_depot_max_pools", "64");
		shim_boot_param(depot->unit, "stack_depot_policy", "evict");
		shim_expect_text("limit capacity");
	}
	depot->request_early_init();
	if (depot->early_init() || depot->init())
		wrong("init fails");
	shim_run_initcalls(depot->unit);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "depot", required_argument, NULL, 'd' },
		{ "seconds", required_argument, NULL, 't' },
		{ "threads", required_argument, NULL, 'n' },
		{ "ids", required_argument, NULL, 'i' },
		{ "seed", required_argument, NULL, 's' },
		{ "evict", no_argument, NULL, 'e' },
		{ "race", no_argument, NULL, 'r' },
		{ "no-interrupts", no_argument, NULL, 'x' },
		{ }
	};
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	unsigned long long seed = time(NULL), now, end;
	unsigned long seconds = 5;
	pthread_t reader;
	uint64_t random;
	sigset_t signals;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			if (!strcmp(optarg, "upstream"))
				depot = &upstream_depot;
			else if (strcmp(optarg, "fast"))
				say_usage();
			break;
		case 't':
			seconds = to_number(optarg, 1000000);
			break;
		case 'n':
			nr_threads = to_number(optarg, MAX_THREADS);
			break;
		case 'i':
			max_ids = to_number(optarg, MAX_IDS);
			break;
		case 's':
			seed = to_number(optarg, ~0UL);
			break;
		case 'e':
			evicting = 1;
			break;
		case 'r':
			racing = 1;
			break;
		case 'x':
			interrupts = 0;
			break;
		default:
			say_usage();
		}
	}
	if (racing)
		max_ids = ROUND_IDS;
	if (optind != argc || max_ids < 64 || !nr_threads || (racing && (evicting || !depot->copy)))
		say_usage();

	boot();
	/* Threads may be on one CPU, but then only one at a time may stay there. */
	shim_cpu_exclusive = 1;
	shim_irq_handler = interrupt;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_barrier_init(&round_begins, NULL, nr_threads + 1);
	pthread_barrier_init(&round_ends, NULL, nr_threads + 1);
	for (unsigned int i = 0; i < nr_threads; i++) {
		workers[i].random = mix(seed * MAX_THREADS + i);
		workers[i].irq_random = mix(workers[i].random);
		pthread_create(&workers[i].thread, NULL, racing ? race : work, &workers[i]);
	}

	random = seed;
	race_random = seed;
	end = shim_time_ns() + seconds * 1000000000ULL;
	while (racing) {
		race_round();
		if (shim_time_ns() >= end)
			break;
		shim_reboot(depot->unit);
		boot();
	}
	if (!racing && depot->copy)
		pthread_create(&reader, NULL, read_until_stop, NULL);
	while (!racing && (now = shim_time_ns()) < end) {
		uint64_t r = next(&random);

		if (interrupts)
			pthread_kill(workers[r % nr_threads].thread,
				     r >> 32 & 1 ? SIGUSR1 : SIGUSR2);
		if (nr_ids + 8 < max_ids)
			__atomic_store_n(&nr_ids, nr_ids + (r >> 40) % 8, __ATOMIC_RELAXED);
		if ((r >> 44) % 256 == 0)
			free(shim_debugfs_read(depot->unit, "stackdepot/stats", 64, NULL, NULL));
		shim_rcu_advance();
		usleep(r >> 48 & 127);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	if (racing)
		pthread_barrier_wait(&round_begins);
	else if (depot->copy)
		pthread_join(reader, NULL);
	for (unsigned int i = 0; i < nr_threads; i++)
		pthread_join(workers[i].thread, NULL);
	finish(seed);
	return 0;
}
