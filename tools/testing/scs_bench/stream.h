/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recorded stream of stack depot operations: which traces were saved and put, in which order.
 *
 * It needs nothing but the C library, since programs beside scs_bench read streams, too.
 */
#ifndef SCS_BENCH_STREAM_H
#define SCS_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More frames than any caller of the depot has. */
#define STREAM_MAX_FRAMES	1024

/* What &struct stream.flags tells of the kernel. */
#define STREAM_PAGE_OWNER	0x1
#define STREAM_KASAN		0x2

/* What an operation was. */
enum stream_kind {
	STREAM_SAVE,
	STREAM_PUT,
};

/* Where the caller ran. */
enum stream_context {
	STREAM_TASK,
	STREAM_SOFTIRQ,
	STREAM_HARDIRQ,
	STREAM_NMI,
};

/**
 * struct stream_op - one call of the depot
 * @trace: index of the trace in &struct stream.traces
 * @kind: &enum stream_kind
 * @context: &enum stream_context
 * @depot_flags: the flags of a save, as of stack_depot_save_flags(): 1 CAN_ALLOC, 2 GET
 * @failed: a save that gave no handle
 */
struct stream_op {
	uint32_t trace;
	uint8_t kind;
	uint8_t context;
	uint8_t depot_flags;
	uint8_t failed;
};

/**
 * struct stream_trace - a trace, as the depot stores it
 * @first: index of its innermost return address in &struct stream.entries
 * @nr: how many there are
 */
struct stream_trace {
	size_t first;
	uint32_t nr;
};

/**
 * struct stream - a recording
 * @label: what was recorded, in words; one line
 * @flags: STREAM_PAGE_OWNER, STREAM_KASAN
 * @text_start: where the kernel's image begins
 * @text_end: and where it ends
 * @traces: the different traces, in the order in which they were saved first
 * @ntraces: how many
 * @entries: their return addresses
 * @nentries: how many
 * @ops: the operations in order
 * @nops: how many
 * @index: finds traces again while a stream is put together; NULL in one that was read
 */
struct stream {
	char *label;
	uint32_t flags;
	uint64_t text_start;
	uint64_t text_end;
	struct stream_trace *traces;
	size_t ntraces;
	uint64_t *entries;
	size_t nentries;
	struct stream_op *ops;
	size_t nops;
	struct stream_index *index;
};

/**
 * struct stream_summary - what there is to say about a stream in a few numbers
 * @saves: saves
 * @failed: of these, without a handle
 * @puts: puts
 * @traces: different traces
 * @mean_saved: mean number of frames of the saves
 * @mean_unique: that of the different traces
 * @max: the most frames
 * @addresses: different return addresses
 * @outside: of these, outside the kernel's image
 * @nodes: nodes of the traces as a tree whose root is the outermost frame
 */
struct stream_summary {
	size_t saves;
	size_t failed;
	size_t puts;
	size_t traces;
	double mean_saved;
	double mean_unique;
	uint32_t max;
	size_t addresses;
	size_t outside;
	size_t nodes;
};

int stream_add_save(struct stream *s, const uint64_t *entries, uint32_t nr,
		    enum stream_context context, uint8_t depot_flags, uint32_t handle);
int stream_add_put(struct stream *s, enum stream_context context, uint32_t handle);
bool stream_summarize(const struct stream *s, struct stream_summary *sum);
const char *stream_write(const struct stream *s, const char *path);
const char *stream_read(struct stream *s, const char *path);
void stream_free(struct stream *s);

#endif /* SCS_BENCH_STREAM_H */
