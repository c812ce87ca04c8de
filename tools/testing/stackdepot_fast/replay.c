// SPDX-License-Identifier: GPL-2.0
/* Plays a recorded stream on a depot: memory and time; and all that it stored is checked. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "../scs_bench/stream.h"
#include "depot.h"

/* The handles that the traces have: those of their saves with DEPOT_GET and without are two. */
struct handles {
	unsigned int handle[2];
	unsigned int refs;
};

static const struct depot *depot = &fast_depot;
static struct stream stream;
static struct handles *handles;
static unsigned long *entries;
static unsigned long saves, refused, nr_puts, unmatched;
/* What each operation's flags are changed to, if not 0. */
static unsigned int forced_flags;
static int drop_puts;
/* Traces lie on a shadow call stack, the oldest entry first. */
static int shadow;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "error: %s: %s\n", what, why);
	exit(2);
}

static void context_enter(unsigned int context)
{
	if (context == STREAM_NMI)
		shim_nmi_enter();
	else if (context == STREAM_HARDIRQ)
		shim_hardirq_enter();
	else if (context == STREAM_SOFTIRQ)
		shim_softirq_enter();
}

static void context_exit(unsigned int context)
{
	if (context == STREAM_NMI)
		shim_nmi_exit();
	else if (context == STREAM_HARDIRQ)
		shim_hardirq_exit();
	else if (context == STREAM_SOFTIRQ)
		shim_softirq_exit();
}

static void play_save(const struct stream_op *op)
{
	const struct stream_trace *t = &stream.traces[op->trace];
	unsigned int flags = forced_flags ? forced_flags : op->depot_flags;
	unsigned int nr = t->nr < DEPOT_MAX_FRAMES ? t->nr : DEPOT_MAX_FRAMES;
	unsigned int get = !!(flags & DEPOT_GET), handle;
	unsigned int gfp = op->context == STREAM_TASK ? depot_gfp_kernel : depot_gfp_nowait;

	if (op->context == STREAM_NMI)
		flags &= ~DEPOT_CAN_ALLOC;
	saves++;
	if (shadow) {
		struct shim_thread *self = shim_self();

		self->scs_base = entries + t->first;
		self->scs_top = entries + t->first + t->nr;
		self->scs_whole = 1;
		handle = depot->save_current(0, DEPOT_MAX_FRAMES, gfp, flags);
	} else {
		handle = depot->save_flags(entries + t->first, nr, gfp, flags);
	}
	if (!handle) {
		refused++;
		return;
	}
	if (get)
		handles[op->trace].refs++;
	handles[op->trace].handle[get] = handle;
}

static void play_put(const struct stream_op *op)
{
	struct handles *h = &handles[op->trace];

	if (drop_puts)
		return;
	if (!h->refs) {
		unmatched++;
		return;
	}
	nr_puts++;
	depot->put(h->handle[1]);
	if (!--h->refs)
		h->handle[1] = 0;
}

static void play(void)
{
	for (size_t i = 0; i < stream.nops; i++) {
		const struct stream_op *op = &stream.ops[i];

		if (op->failed)
			continue;
		context_enter(op->context);
		if (op->kind == STREAM_SAVE)
			play_save(op);
		else
			play_put(op);
		context_exit(op->context);
	}
}

/* Whether @got are the frames of trace @t. */
static int same(const struct stream_trace *t, const unsigned long *got, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (got[i] != stream.entries[t->first + i])
			return 0;
	return 1;
}

static unsigned long check(void)
{
	unsigned long checked = 0;

	for (size_t i = 0; i < stream.ntraces; i++) {
		const struct stream_trace *t = &stream.traces[i];
		unsigned int nr = t->nr < DEPOT_MAX_FRAMES ? t->nr : DEPOT_MAX_FRAMES;

		for (unsigned int get = 0; get < 2; get++) {
			unsigned int handle = handles[i].handle[get];
			unsigned long *got;

			if (!handle)
				continue;
			checked++;
			if (depot->fetch(handle, &got) == nr && same(t, got, nr))
				continue;
			fprintf(stderr, "WRONG: %s: trace %zu is not what %08x fetches\n",
				depot->name, i, handle);
			exit(1);
		}
	}
	return checked;
}

static void say_usage(void)
{
	fprintf(stderr,
		"usage: replay [--depot fast|upstream] [--shadow] [--all-get] [--no-puts] STREAM\n"
		"  --shadow   traces are taken off a shadow call stack\n"
		"  --all-get  every save is one with STACK_DEPOT_FLAG_GET\n"
		"  --no-puts  nothing is put\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "depot", required_argument, NULL, 'd' },
		{ "all-get", no_argument, NULL, 'g' },
		{ "no-puts", no_argument, NULL, 'p' },
		{ "shadow", no_argument, NULL, 's' },
		{ }
	};
	unsigned long long t0, t1;
	struct shim_mem mem;
	unsigned long bytes, traces;
	const char *why;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd' && !strcmp(optarg, "upstream"))
			depot = &upstream_depot;
		else if (c == 'g')
			forced_flags = DEPOT_CAN_ALLOC | DEPOT_GET;
		else if (c == 'p')
			drop_puts = 1;
		else if (c == 's')
			shadow = 1;
		else if (c != 'd' || strcmp(optarg, "fast"))
			say_usage();
	}
	if (optind != argc - 1)
		say_usage();
	if (shadow && !depot->save_current)
		die(depot->name, "it takes no traces off a shadow call stack");
	why = stream_read(&stream, argv[optind]);
	if (why)
		die(argv[optind], why);
	handles = calloc(stream.ntraces + 1, sizeof(*handles));
	entries = calloc(stream.nentries + 1, sizeof(*entries));
	if (!handles || !entries)
		die(argv[optind], strerror(ENOMEM));
	for (size_t i = 0; i < stream.ntraces; i++) {
		const struct stream_trace *t = &stream.traces[i];

		for (unsigned int j = 0; j < t->nr; j++)
			entries[t->first + (shadow ? t->nr - 1 - j : j)] =
				stream.entries[t->first + j];
	}

	shim_text = stream.text_start;
	shim_etext = stream.text_end;
	shim_end = stream.text_end;
	/* Upstream's table is that of a KASAN kernel. */
	shim_kasan_enabled = 1;
	depot->request_early_init();
	if (depot->early_init())
		die(depot->name, "init fails");
	shim_run_initcalls(depot->unit);

	t0 = shim_time_ns();
	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_TOGGLE_COLLECT;
	play();
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_STOP_INSTRUMENTATION;
	t1 = shim_time_ns();

	mem = shim_mem(depot->unit);
	bytes = mem.pages * 4096 + mem.heap + mem.statics;
	traces = check();
	printf("depot: %s\n", depot->name);
	printf("stream: %s\n", stream.label);
	printf("saves: %lu\n", saves);
	printf("puts: %lu\n", nr_puts);
	printf("refused: %lu\n", refused);
	printf("unmatched_puts: %lu\n", unmatched);
	printf("traces: %lu\n", traces);
	printf("bytes: %lu\n", bytes);
	printf("bytes_in_pages: %lu\n", mem.pages * 4096);
	printf("bytes_of_tables: %lu\n", mem.heap);
	printf("bytes_of_data: %lu\n", mem.statics);
	printf("bytes_per_trace: %.1f\n", traces ? (double)bytes / traces : 0);
	printf("ns_per_operation: %.1f\n", (double)(t1 - t0) / (saves + nr_puts + !saves));
	if (refused || unmatched) {
		fprintf(stderr, "WRONG: %s: %lu saves were refused, %lu puts had no save\n",
			depot->name, refused, unmatched);
		return 1;
	}
	return 0;
}
