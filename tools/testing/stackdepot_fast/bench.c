// SPDX-License-Identifier: GPL-2.0
/* What a depot costs: instructions of a hit and of a miss (under callgrind), and calls a second. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

#include "depot.h"

#define MAX_REPEATS	99
#define MAX_THREADS	8
#define CALLS		20000	/* under callgrind */
#define MAX_REFERENCED	200000

static unsigned int nr_traces = 1000;
static unsigned int nr_frames = 12;
static unsigned int nr_repeats = 5;
static unsigned int milliseconds = 300;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Traces of eight have their outer half in common, of 64 the half of that. */
static void make_trace(unsigned int id, unsigned long *entries)
{
	for (unsigned int i = 0; i < nr_frames; i++) {
		unsigned int group = id;

		if (i >= nr_frames * 3 / 4)
			group = id / 64;
		else if (i >= nr_frames / 2)
			group = id / 8;

		entries[i] = shim_text + 4 * (mix(group * 64ULL + i) % 0x400000);
	}
	entries[0] = shim_text + 4UL * id;
}

static unsigned long *make_traces(unsigned int n)
{
	unsigned long *traces = malloc((size_t)n * nr_frames * sizeof(long) + 1);

	if (!traces) {
		fprintf(stderr, "error: not enough memory for %u traces\n", n);
		exit(2);
	}
	for (unsigned int i = 0; i < n; i++)
		make_trace(i, traces + (size_t)i * nr_frames);
	return traces;
}

static void boot(const struct depot *d)
{
	/* As with KASAN: upstream's table has 2^20 buckets. */
	shim_kasan_enabled = 1;
	d->request_early_init();
	d->early_init();
	shim_run_initcalls(d->unit);
}

static void insert(const struct depot *d, unsigned long *traces, unsigned int from,
		   unsigned int to, unsigned int flags)
{
	for (unsigned int i = from; i < to; i++) {
		if (!d->save_flags(traces + (size_t)i * nr_frames, nr_frames, depot_gfp_kernel,
				   DEPOT_CAN_ALLOC | flags)) {
			fprintf(stderr, "error: %s is full with %u traces: try fewer\n",
				d->name, i);
			exit(1);
		}
	}
}

/* --- Instructions ---------------------------------------------------------- */

static void count_begin(void)
{
	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_TOGGLE_COLLECT;
}

/* Callgrind writes what it counted to a file of its own, with this name in it. */
static void count_end(const char *what)
{
	CALLGRIND_TOGGLE_COLLECT;
	(void)what;
	CALLGRIND_DUMP_STATS_AT(what);
	CALLGRIND_STOP_INSTRUMENTATION;
}

static void hits(const struct depot *d, unsigned long *traces, const unsigned int *ids,
		 unsigned int n, unsigned int flags)
{
	for (unsigned int i = 0; i < n; i++)
		d->save_flags(traces + (size_t)ids[i] * nr_frames, nr_frames, depot_gfp_kernel,
			      DEPOT_CAN_ALLOC | flags);
}

static void count(const struct depot *d)
{
	unsigned int n = nr_traces + CALLS;
	unsigned long *traces = make_traces(n), *entries;
	unsigned int *ids = malloc(CALLS * sizeof(*ids));

	for (unsigned int i = 0; i < CALLS; i++)
		ids[i] = mix(i) % nr_traces;
	boot(d);
	insert(d, traces, 0, nr_traces, 0);

	count_begin();
	hits(d, traces, ids, CALLS, 0);
	count_end("hit");
	count_begin();
	insert(d, traces, nr_traces, n, 0);
	count_end("miss");

	printf("calls: %u\n", CALLS);
	/* Upstream's depot has room for no more records with references. */
	if (n > MAX_REFERENCED)
		return;
	shim_reboot(d->unit);
	boot(d);
	insert(d, traces, 0, nr_traces, DEPOT_GET);
	count_begin();
	hits(d, traces, ids, CALLS, DEPOT_GET);
	count_end("hit-get");
	count_begin();
	insert(d, traces, nr_traces, n, DEPOT_GET);
	count_end("miss-get");
	for (unsigned int i = 0; i < CALLS; i++)
		ids[i] = d->save_flags(traces + (size_t)(nr_traces + i) * nr_frames, nr_frames,
				       depot_gfp_kernel, DEPOT_CAN_ALLOC);
	count_begin();
	for (unsigned int i = 0; i < CALLS; i++)
		d->fetch(ids[i], &entries);
	count_end("first-fetch");
	shim_reboot(d->unit);
	free(traces);
	free(ids);
}

/* --- Time ------------------------------------------------------------------ */

static struct {
	const struct depot *depot;
	unsigned long *traces;
	unsigned int threads;
	int inserting;
	int go;
} job;

static struct worker {
	pthread_t thread;
	unsigned int nr;
	unsigned long done;
	unsigned long long ns;
} workers[MAX_THREADS];

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t random = w->nr + 1;
	unsigned long long t0, limit = milliseconds * 1000000ULL;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(w->nr % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	shim_set_cpu(w->nr % SHIM_NR_CPUS);
	while (!__atomic_load_n(&job.go, __ATOMIC_ACQUIRE))
		;
	t0 = shim_time_ns();
	if (job.inserting) {
		unsigned int from = (uint64_t)nr_traces * w->nr / job.threads;
		unsigned int to = (uint64_t)nr_traces * (w->nr + 1) / job.threads;

		insert(job.depot, job.traces, from, to, 0);
		w->done = to - from;
	} else {
		do {
			for (unsigned int i = 0; i < 256; i++) {
				unsigned int id;

				random = random * 6364136223846793005ULL + 1442695040888963407ULL;
				id = (random >> 32) * nr_traces >> 32;
				job.depot->save_flags(job.traces + (size_t)id * nr_frames,
						      nr_frames, depot_gfp_kernel,
						      DEPOT_CAN_ALLOC);
			}
			w->done += 256;
		} while (shim_time_ns() - t0 < limit);
	}
	w->ns = shim_time_ns() - t0;
	return NULL;
}

/* Calls a second of all threads together. */
static double run_job(const struct depot *d, unsigned long *traces, unsigned int threads,
		      int inserting)
{
	unsigned long done = 0;
	unsigned long long ns = 0;

	shim_reboot(d->unit);
	boot(d);
	if (!inserting)
		insert(d, traces, 0, nr_traces, 0);
	memset(workers, 0, sizeof(workers));
	job.depot = d;
	job.traces = traces;
	job.threads = threads;
	job.inserting = inserting;
	job.go = 0;
	for (unsigned int i = 0; i < threads; i++) {
		workers[i].nr = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	__atomic_store_n(&job.go, 1, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
		if (workers[i].ns > ns)
			ns = workers[i].ns;
	}
	return done * 1e9 / ns;
}

/*
 * The kernel's memory is there and mapped in large pages, and no two of its CPUs
 * wait for each other to get it mapped. See to it that this is so here, too.
 */
static void map_memory(void)
{
	size_t size = 64UL << 20 | (size_t)nr_traces << 11;
	void *memory;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	memory = malloc(size);
	if (!memory) {
		fprintf(stderr, "error: not enough memory for %u traces\n", nr_traces);
		exit(2);
	}
	madvise((void *)(((uintptr_t)memory + 4095) & -4096UL), size - 4096, MADV_HUGEPAGE);
	memset(memory, 1, size);
	free(memory);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure_time(void)
{
	static double rates[2][2][2][MAX_REPEATS];
	static const struct depot *depots[] = { &upstream_depot, &fast_depot };
	static const char * const what[] = { "hits", "inserts" };
	unsigned long *traces;

	map_memory();
	traces = make_traces(nr_traces);
	/* In turn, so that what else the machine does hits all alike. */
	for (unsigned int r = 0; r < nr_repeats; r++)
		for (unsigned int kind = 0; kind < 2; kind++)
			for (unsigned int threads = 1; threads <= 2; threads++)
				for (unsigned int i = 0; i < 2; i++)
					rates[i][kind][threads - 1][r] =
						run_job(depots[i], traces, threads, kind);

	printf("%-10s %-8s %15s %15s %8s\n", "depot", "", "1 thread", "2 threads", "ratio");
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int kind = 0; kind < 2; kind++) {
			double median[2];

			for (unsigned int t = 0; t < 2; t++) {
				qsort(rates[i][kind][t], nr_repeats, sizeof(double), compare);
				median[t] = rates[i][kind][t][nr_repeats / 2];
			}
			printf("%-10s %-8s %13.0f/s %13.0f/s %8.2f\n", depots[i]->name, what[kind],
			       median[0], median[1], median[1] / median[0]);
		}
	}
	free(traces);
}

/* --- Which ----------------------------------------------------------------- */

static void say_usage(void)
{
	fprintf(stderr,
		"usage: bench [--traces N] [--frames N] [--repeats N] [--ms N]\n"
		"           calls a second, both depots in turn, medians\n"
		"       valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no\n"
		"           bench --count fast|upstream [--traces N] [--frames N]\n"
		"           instructions: cost.sh adds them up\n");
	exit(2);
}

static unsigned long to_number(const char *text, unsigned long min, unsigned long max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (*end || end == text || errno || n < min || n > max) {
		fprintf(stderr, "error: '%s' is not a number from %lu to %lu\n", text, min, max);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "traces", required_argument, NULL, 'n' },
		{ "frames", required_argument, NULL, 'f' },
		{ "repeats", required_argument, NULL, 'r' },
		{ "ms", required_argument, NULL, 'm' },
		{ }
	};
	const struct depot *counted = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			if (!strcmp(optarg, "fast"))
				counted = &fast_depot;
			else if (!strcmp(optarg, "upstream"))
				counted = &upstream_depot;
			else
				say_usage();
			break;
		case 'n':
			nr_traces = to_number(optarg, 1, 3000000);
			break;
		case 'f':
			nr_frames = to_number(optarg, 1, DEPOT_MAX_FRAMES);
			break;
		case 'r':
			nr_repeats = to_number(optarg, 1, MAX_REPEATS);
			break;
		case 'm':
			milliseconds = to_number(optarg, 1, 100000);
			break;
		default:
			say_usage();
		}
	}
	if (optind != argc)
		say_usage();
	if (counted)
		count(counted);
	else
		measure_time();
	return 0;
}
