// SPDX-License-Identifier: GPL-2.0
/* Has an NMI, or an interrupt, come after each single instruction of a depot's functions. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "depot.h"
#include "listed.h"

#if defined(__x86_64__)

#define TRAP_FLAG	0x100

#define NR_BEFORE	40	/* traces that are there before */

static const struct depot *d;

/* What the handler is to do, after how many instructions, and what came of it. */
static struct {
	int stepping;
	long countdown;
	int hardirq;
	int evict;
	int came;
	long steps;
	unsigned int same, other, refs;
} trap;

__attribute__((format(printf, 1, 2), noreturn))
static void wrong(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "WRONG: %s: ", d->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/* --- Traces ---------------------------------------------------------------- */

#define NR_FRAMES	14

/* Traces number 0 to 7 have outer frames in common, and so on. */
static void fill(unsigned long *entries, unsigned int n)
{
	for (unsigned int i = 0; i < NR_FRAMES; i++)
		entries[i] = shim_text + 0x100000 + 64 * (i < 6 ? n * 16 + i : n / 8 * 16 + i);
}

static unsigned int save(unsigned int n, unsigned int gfp, unsigned int flags)
{
	unsigned long entries[NR_FRAMES];

	fill(entries, n);
	return d->save_flags(entries, NR_FRAMES, gfp, flags);
}

static void check(unsigned int handle, unsigned int n)
{
	unsigned long expect[NR_FRAMES], *entries;

	fill(expect, n);
	if (d->fetch(handle, &entries) != NR_FRAMES || memcmp(entries, expect, sizeof(expect)))
		wrong("%08x is not trace %u", handle, n);
}

/* --- The handler ----------------------------------------------------------- */

#define SAME	1000	/* what is being saved, put or fetched */
#define OTHER	1001	/* with outer frames of its own, and new */
#define REFS	1002	/* refcounted: being put, or new */

/* New traces, enough to fill all pools that there may be, so that the old ones are gone. */
static void flood(void)
{
	static unsigned int n = 100000;
	unsigned long entries[DEPOT_MAX_FRAMES];

	for (unsigned int i = 0; i < 400; i++, n++) {
		for (unsigned int j = 0; j < DEPOT_MAX_FRAMES; j++)
			entries[j] = shim_text + 4UL * ((n * 2654435761U + j * 40503U) % 0x400000);
		d->save_flags(entries, DEPOT_MAX_FRAMES, depot_gfp_atomic, DEPOT_CAN_ALLOC);
		shim_rcu_advance();
	}
}

/* Traces for good that were listed in stackdepot/traces, as far as a handler has looked. */
static unsigned int listed[400], nr_listed;

static void list_all(void)
{
	nr_listed = list_traces(d, listed, nr_listed, ARRAY_SIZE(listed), 1);
}

/* A record that an NMI can't store, as what it interrupted has the lock, is listed at no time. */
static void check_listed(void)
{
	unsigned int lost = list_lost(d, listed, nr_listed, 1);

	if (lost)
		wrong("%08x was listed, and is no trace any more", lost);
	nr_listed = 0;
}

static void save_in_nmi(void)
{
	unsigned long entries[DEPOT_MAX_FRAMES];

	/* Another CPU reads the list. */
	if (d->copy)
		shim_self()->irq_hook = list_all;
	trap.same = save(SAME, 0, 0);
	trap.other = save(OTHER, 0, 0);
	shim_self()->irq_hook = NULL;
	/* Who finds a trace can read it. */
	if (d->copy && trap.same &&
	    d->copy(trap.same, 0, entries, DEPOT_MAX_FRAMES) != NR_FRAMES)
		wrong("%08x was found, but can't be read", trap.same);
	trap.refs = save(REFS, 0, DEPOT_GET);
	/* Also from an NMI: the last reference, if what was interrupted has none. */
	if (trap.refs)
		d->put(trap.refs);
}

/*
 * Whether another task may run here for as long as it likes: nothing keeps a
 * grace period from ending, nor is anything turned off, of which one may be true
 * without the other between the steps of turning interrupts off or on.
 */
static int may_be_preempted(void)
{
	const struct shim_thread *self = shim_self();

	return !self->reader_nest && !self->irqs_off && !self->preempt_off;
}

static void handler(void)
{
	/* Where no other task may run, an interrupt may come. */
	if (trap.evict && may_be_preempted()) {
		trap.came++;
		flood();
		return;
	}
	if (trap.hardirq) {
		/* Not now: it comes when interrupts are on again. */
		if (!shim_hardirq_enter())
			return;
	} else if (!shim_nmi_enter()) {
		wrong("no NMI is possible");
	}
	trap.came++;
	if (trap.evict) {
		flood();
		shim_hardirq_exit();
		return;
	}
	if (trap.hardirq) {
		trap.same = save(SAME, depot_gfp_atomic, DEPOT_CAN_ALLOC);
		trap.other = save(OTHER, depot_gfp_atomic, DEPOT_CAN_ALLOC);
		trap.refs = save(REFS, depot_gfp_atomic, DEPOT_CAN_ALLOC | DEPOT_GET);
		shim_hardirq_exit();
		return;
	}
	save_in_nmi();
	shim_nmi_exit();
}

static void on_trap(int sig, siginfo_t *info, void *arg)
{
	ucontext_t *uc = arg;

	if (!__atomic_load_n(&trap.stepping, __ATOMIC_RELAXED)) {
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	/* The C library is no part of what is tested. */
	if (shim_self()->libc_busy)
		return;
	trap.steps++;
	if (trap.countdown-- != 0)
		return;
	handler();
	trap.stepping = 0;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void step_begin(long after)
{
	trap.countdown = after;
	trap.steps = 0;
	trap.came = 0;
	trap.same = 0;
	trap.other = 0;
	trap.refs = 0;
	__atomic_store_n(&trap.stepping, 1, __ATOMIC_SEQ_CST);
	asm volatile("sub $128, %%rsp; pushfq; orq %0, (%%rsp); popfq; add $128, %%rsp"
		     : : "i" (TRAP_FLAG) : "memory", "cc");
}

static void step_end(void)
{
	__atomic_store_n(&trap.stepping, 0, __ATOMIC_SEQ_CST);
}

/* --- What is interrupted --------------------------------------------------- */

static unsigned int prepared;

static void nothing(void)
{
}

static void do_miss(void)
{
	prepared = save(SAME, depot_gfp_kernel, DEPOT_CAN_ALLOC);
}

static void prepare_hit(void)
{
	prepared = save(SAME, depot_gfp_kernel, DEPOT_CAN_ALLOC);
}

static void do_miss_get(void)
{
	prepared = save(REFS, depot_gfp_kernel, DEPOT_CAN_ALLOC | DEPOT_GET);
}

static void prepare_get(void)
{
	do_miss_get();
}

static void do_put(void)
{
	d->put(prepared);
	prepared = 0;
}

static void do_fetch(void)
{
	unsigned long *entries;

	if (d->fetch(prepared, &entries) != NR_FRAMES)
		wrong("%08x can't be fetched", prepared);
}

/* The pool in use is nearly full, so that a new one is needed. */
static void prepare_full(void)
{
	unsigned long pages = shim_mem(d->unit).pages;

	for (unsigned int n = 2000; n < 4000; n++) {
		save(n, depot_gfp_kernel, DEPOT_CAN_ALLOC);
		if (n > 2100 && shim_mem(d->unit).pages > pages + 4)
			break;
	}
	/* As found by trying: the rest of a pool without allocating. */
	for (unsigned int n = 4000; n < 4400; n++)
		if (!save(n, 0, 0))
			break;
}

/* What an evicted trace may be: there, or gone; never another one. */
static void check_copy(unsigned int nr, const unsigned long *entries)
{
	unsigned long expect[NR_FRAMES];

	fill(expect, SAME);
	if (nr && (nr != NR_FRAMES || memcmp(entries, expect, sizeof(expect))))
		wrong("the trace that was evicted has turned into another one");
}

static void do_copy(void)
{
	unsigned long entries[DEPOT_MAX_FRAMES];
	unsigned int nr = d->copy(prepared, 0, entries, DEPOT_MAX_FRAMES);

	step_end();
	check_copy(nr, entries);
}

static void do_fetch_evicted(void)
{
	unsigned long *entries, copy[1];
	unsigned int nr = d->fetch(prepared, &entries);

	step_end();
	/* If it was evicted meanwhile, so was what it fetched. */
	if (d->copy(prepared, 0, copy, 1))
		check_copy(nr, entries);
}

static const struct {
	const char *name;
	void (*prepare)(void);
	void (*act)(void);
	int refs;
	int evict;
} cases[] = {
	{ "a new trace is saved", nothing, do_miss, 0 },
	{ "a trace is found", prepare_hit, do_miss, 0 },
	{ "a new trace is saved in a new pool", prepare_full, do_miss, 0 },
	{ "a new trace is saved with a reference", nothing, do_miss_get, 1 },
	{ "a reference is taken", prepare_get, do_miss_get, 2 },
	{ "the last reference is put", prepare_get, do_put, 0 },
	{ "a trace is fetched for the first time", prepare_hit, do_fetch, 0 },
	{ "a trace is found", prepare_hit, do_miss, 0, 1 },
	{ "a new trace is saved", nothing, do_miss, 0, 1 },
	{ "a trace is copied", prepare_hit, do_copy, 0, 1 },
	{ "a trace is fetched", prepare_hit, do_fetch_evicted, 0, 1 },
};

static void boot(int evict)
{
	shim_reboot(d->unit);
	shim_expect_text(evict ? "limit capacity" : NULL);
	if (evict) {
		shim_boot_param(d->unit, "stack_depot_max_pools", "3");
		shim_boot_param(d->unit, "stack_depot_policy", "evict");
	}
	shim_free_buffer_pages = 16384;
	d->request_early_init();
	d->early_init();
	d->init();
	shim_run_initcalls(d->unit);
	for (unsigned int n = 0; n < NR_BEFORE; n++)
		save(n, depot_gfp_kernel, DEPOT_CAN_ALLOC | (n & 1 ? DEPOT_GET : 0));
}

static unsigned long stat_value(const char *name)
{
	char *text = shim_debugfs_read(d->unit, "stackdepot/stats", 4096, NULL, NULL);
	char *p = strstr(text, name);
	unsigned long value = p ? strtoul(p + strlen(name) + 1, NULL, 10) : ~0UL;

	free(text);
	return value;
}

/* Whether it was evicted. */
static int check_evicted(void)
{
	unsigned long entries[DEPOT_MAX_FRAMES];
	unsigned int handle, nr;

	nr = d->copy(prepared, 0, entries, DEPOT_MAX_FRAMES);
	check_copy(nr, entries);
	shim_rcu_advance();
	shim_rcu_advance();
	handle = save(SAME, depot_gfp_kernel, DEPOT_CAN_ALLOC);
	if (d->copy(handle, 0, entries, DEPOT_MAX_FRAMES) != NR_FRAMES)
		wrong("a trace that was evicted can't be saved again");
	check_copy(NR_FRAMES, entries);
	return !nr;
}

/* All is as it must be, whatever came in between. */
static void check_all(unsigned int c)
{
	unsigned int handle, refs = cases[c].refs + (trap.hardirq && trap.refs);

	if (d->copy)
		check_listed();
	if (trap.other) {
		check(trap.other, OTHER);
		if (save(OTHER, depot_gfp_kernel, DEPOT_CAN_ALLOC) != trap.other)
			wrong("what the handler saved is saved twice");
	}
	handle = save(SAME, depot_gfp_kernel, DEPOT_CAN_ALLOC);
	check(handle, SAME);
	if (trap.same && trap.same != handle)
		wrong("one trace is both %08x and %08x", trap.same, handle);
	if (!cases[c].refs && cases[c].act == do_miss && prepared != handle)
		wrong("a trace that was saved as %08x is %08x", prepared, handle);
	/* Each reference is there, and no more. */
	if (stat_value("refcounted_in_use") != NR_BEFORE / 2 + !!refs)
		wrong("%lu records are in use, not %u", stat_value("refcounted_in_use"),
		      NR_BEFORE / 2 + !!refs);
	handle = save(REFS, depot_gfp_kernel, DEPOT_CAN_ALLOC | DEPOT_GET);
	check(handle, REFS);
	for (unsigned int i = 0; i <= refs; i++)
		d->put(handle);
	if (stat_value("refcounted_in_use") != NR_BEFORE / 2)
		wrong("a reference is left over or missing");
	for (unsigned int n = 0; n < NR_BEFORE; n++) {
		handle = save(n, depot_gfp_kernel, DEPOT_CAN_ALLOC | (n & 1 ? DEPOT_GET : 0));
		check(handle, n);
	}
}

static long run(unsigned int c, long after)
{
	boot(cases[c].evict);
	cases[c].prepare();
	step_begin(after);
	cases[c].act();
	step_end();
	return trap.steps;
}

static void run_case(unsigned int c, int hardirq, unsigned int stride, unsigned int phase)
{
	unsigned long runs = 0, came = 0, gone = 0;
	const char *what = hardirq ? "an interrupt" : "an NMI";
	long steps;

	if (cases[c].evict)
		what = "eviction";
	trap.hardirq = hardirq;
	trap.evict = cases[c].evict;
	steps = run(c, -1);
	for (long after = phase % stride; after < steps; after += stride) {
		run(c, after);
		runs++;
		came += trap.came;
		if (cases[c].evict)
			gone += check_evicted();
		else
			check_all(c);
	}
	if (!came)
		wrong("%s: nothing came", cases[c].name);
	printf("ok - %s: %s comes while %s (%lu of %ld instructions", d->name,
	       what, cases[c].name, runs, steps);
	if (cases[c].evict) {
		if (!gone)
			wrong("%s: nothing was evicted", cases[c].name);
		printf(", %lu times it was gone", gone);
	}
	puts(")");
	fflush(stdout);
}

/* Interrupts that had to wait. */
static void pending(void)
{
	if (trap.hardirq && !trap.came)
		handler();
}

static void say_usage(void)
{
	fprintf(stderr, "usage: step [--depot fast|upstream] [--stride N] [--seed N] [--evict]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "depot", required_argument, NULL, 'd' },
		{ "stride", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "evict", no_argument, NULL, 'e' },
		{ }
	};
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned int stride = 1, seed = time(NULL);
	int evict_only = 0, c;

	d = &fast_depot;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd' && !strcmp(optarg, "upstream"))
			d = &upstream_depot;
		else if (c == 's' && atoi(optarg) > 0)
			stride = atoi(optarg);
		else if (c == 'r')
			seed = atoi(optarg);
		else if (c == 'e')
			evict_only = 1;
		else if (c != 'd' || strcmp(optarg, "fast"))
			say_usage();
	}
	if (optind != argc)
		say_usage();
	sigaction(SIGTRAP, &action, NULL);
	shim_irq_handler = pending;
	printf("# --stride %u --seed %u\n", stride, seed);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		if ((cases[i].evict && !d->copy) || (!cases[i].evict && evict_only))
			continue;
		/* An NMI can't evict. */
		for (int hardirq = cases[i].evict; hardirq < 2; hardirq++)
			run_case(i, hardirq, stride, seed + i);
	}
	return 0;
}

#else

int main(void)
{
	printf("ok - an NMI after each instruction # SKIP only on x86-64\n");
	return 0;
}

#endif
