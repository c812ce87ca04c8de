// SPDX-License-Identifier: GPL-2.0
/*
 * A recorded stream of stack depot operations: putting it together, its figures, and its file.
 *
 * The file:
 *
 *	magic		8 bytes
 *	payload		see below
 *	checksum	8 bytes, FNV-1a of magic and payload, little-endian
 *
 * Of the payload, every number is a varint: seven bits a byte, the lowest first, the top bit set in
 * all but the last byte. A difference may be negative and has its sign in bit 0.
 *
 *	flags, text_start, text_end
 *	label		length, then the bytes
 *	addresses	how many, then each as difference to the one before, the first to text_start
 *	traces		how many, then each:
 *		nr	frames
 *		back	how many traces before this one is the one that it shares outer frames with;
 *			0: none
 *		shared	with back != 0: how many frames
 *		index	of the address, for each frame that is not shared, innermost first
 *	operations	how many, then each:
 *		code	2 * (0: save of the trace that comes next in "traces"; n: of trace n - 1),
 *			plus 1 if a tag follows
 *		tag	kind, context << 1, failed << 3, depot_flags << 4; otherwise as before,
 *			at first 0
 *
 * Traces share their outer frames, operations repeat the tag and use few traces: so a boot of
 * 18,000 saves takes less than 100 kB.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

#define MAGIC		"SCSTRM1\n"
#define MAGIC_LEN	8
#define CHECKSUM_LEN	8

/* More frames than any recording has; it bounds what a damaged file makes the reader allocate. */
#define MAX_ENTRIES	0x10000000UL

#define NO_MEMORY	"there is not enough memory for it: close other programs"

/* --- Growing arrays --------------------------------------------------------- */

/*
 * Make room for @n more elements after the @used ones; false if there is no memory. An array is
 * always grown at its end: with a lower @used it would shrink.
 */
static bool grow(void *array, size_t used, size_t n, size_t size)
{
	size_t need = used + n, room = 16;
	void *p;

	/* @array points to a pointer of any type. */
	memcpy(&p, array, sizeof(p));

	/* The room is a power of two, so it can be told from what is used. */
	while (room < used)
		room *= 2;
	if (p && need <= room)
		return true;
	while (room < need)
		room *= 2;
	p = realloc(p, room * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	return true;
}

/* --- A hash table of keys of two numbers ------------------------------------- */

/*
 * struct table - hash table with open addressing
 * @slots: indexes into @keys plus 1; 0 is a free slot
 * @mask: number of slots less 1
 * @keys: the keys, in the order in which they were added
 * @n: how many
 */
struct table {
	uint32_t *slots;
	size_t mask;
	struct key {
		uint64_t a;
		uint64_t b;
	} *keys;
	size_t n;
};

static size_t hash_key(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;

	h = (h ^ h >> 31 ^ b) * 0x94d049bb133111ebULL;
	return h ^ h >> 29;
}

static bool table_resize(struct table *t, size_t slots)
{
	uint32_t *bigger = calloc(slots, sizeof(*bigger));
	size_t i, at;

	if (!bigger)
		return false;
	for (i = 0; i < t->n; i++) {
		at = hash_key(t->keys[i].a, t->keys[i].b) & (slots - 1);
		while (bigger[at])
			at = (at + 1) & (slots - 1);
		bigger[at] = i + 1;
	}
	free(t->slots);
	t->slots = bigger;
	t->mask = slots - 1;
	return true;
}

/* The slot that has a key, or the free one where it belongs. The table has been resized once. */
static size_t table_slot(const struct table *t, uint64_t a, uint64_t b)
{
	size_t at = hash_key(a, b) & t->mask;

	while (t->slots[at] &&
	       (t->keys[t->slots[at] - 1].a != a || t->keys[t->slots[at] - 1].b != b))
		at = (at + 1) & t->mask;
	return at;
}

/* The index of a key, which is added if it is not there: then *index is what t->n was. */
static bool table_get(struct table *t, uint64_t a, uint64_t b, uint32_t *index)
{
	size_t at;

	if ((!t->slots || t->n * 2 > t->mask) &&
	    !table_resize(t, t->slots ? (t->mask + 1) * 2 : 1024))
		return false;
	at = table_slot(t, a, b);
	if (t->slots[at]) {
		*index = t->slots[at] - 1;
		return true;
	}
	if (!grow(&t->keys, t->n, 1, sizeof(*t->keys)))
		return false;
	*index = t->n;
	t->keys[t->n++] = (struct key){ a, b };
	t->slots[at] = t->n;
	return true;
}

static void table_free(struct table *t)
{
	free(t->slots);
	free(t->keys);
}

/* --- Traces as a tree --------------------------------------------------------- */

/*
 * The root stands for no frames, its children for the outermost frames. A node is the key (parent,
 * address), numbered from 1 on; 0 is the root.
 */

/* Node of frame @depth, counted from the outermost, whose parent is @parent. */
static bool tree_step(struct table *tree, uint32_t parent, uint64_t address, uint32_t *node)
{
	if (!table_get(tree, parent, address, node))
		return false;
	++*node;
	return true;
}

static bool tree_add(struct table *tree, const uint64_t *entries, uint32_t nr, uint32_t *node)
{
	*node = 0;
	while (nr--)
		if (!tree_step(tree, *node, entries[nr], node))
			return false;
	return true;
}

/* --- Putting a stream together ------------------------------------------------ */

/*
 * struct stream_index - to find a trace again
 * @tree: the traces' tree
 * @traces: by node, the trace that begins there, plus 1
 * @ntraces: nodes for which @traces says something
 * @handles: the handles that the depot gave
 * @handle_traces: by index in @handles, the trace that it stood for last
 */
struct stream_index {
	struct table tree;
	uint32_t *traces;
	size_t ntraces;
	struct table handles;
	uint32_t *handle_traces;
};

/* Find a trace, or add it. */
static bool add_trace(struct stream *s, const uint64_t *entries, uint32_t nr, uint32_t *trace)
{
	struct stream_index *index = s->index;
	uint32_t node;
	size_t nodes;

	if (!tree_add(&index->tree, entries, nr, &node))
		return false;
	nodes = index->tree.n + 1;
	if (index->ntraces < nodes) {
		if (!grow(&index->traces, index->ntraces, nodes - index->ntraces,
			  sizeof(*index->traces)))
			return false;
		memset(index->traces + index->ntraces, 0,
		       (nodes - index->ntraces) * sizeof(*index->traces));
		index->ntraces = nodes;
	}
	if (index->traces[node]) {
		*trace = index->traces[node] - 1;
		return true;
	}
	if (!grow(&s->traces, s->ntraces, 1, sizeof(*s->traces)) ||
	    !grow(&s->entries, s->nentries, nr, sizeof(*s->entries)))
		return false;
	*trace = s->ntraces;
	s->traces[s->ntraces++] = (struct stream_trace){ .first = s->nentries, .nr = nr };
	if (nr)
		memcpy(s->entries + s->nentries, entries, nr * sizeof(*entries));
	s->nentries += nr;
	index->traces[node] = s->ntraces;
	return true;
}

static bool add_op(struct stream *s, struct stream_op op)
{
	if (!grow(&s->ops, s->nops, 1, sizeof(*s->ops)))
		return false;
	s->ops[s->nops++] = op;
	return true;
}

/**
 * stream_add_save - append a save to a stream that is being put together
 * @s: the stream; all zeroes at first
 * @entries: return addresses, the innermost first
 * @nr: how many
 * @context: where the caller ran
 * @depot_flags: flags of the save
 * @handle: what the depot returned
 *
 * Return: 0, or -ENOMEM.
 */
int stream_add_save(struct stream *s, const uint64_t *entries, uint32_t nr,
		    enum stream_context context, uint8_t depot_flags, uint32_t handle)
{
	struct stream_index *index;
	struct stream_op op = {
		.kind = STREAM_SAVE,
		.context = context,
		.depot_flags = depot_flags,
		.failed = !handle,
	};
	uint32_t slot;
	size_t known;

	if (!s->index)
		s->index = calloc(1, sizeof(*s->index));
	index = s->index;
	if (!index || !add_trace(s, entries, nr, &op.trace))
		return -ENOMEM;
	if (handle) {
		/* Handles of evicted traces come back for others. */
		known = index->handles.n;
		if (!table_get(&index->handles, handle, 0, &slot) ||
		    (slot == known && !grow(&index->handle_traces, slot, 1,
					    sizeof(*index->handle_traces))))
			return -ENOMEM;
		index->handle_traces[slot] = op.trace;
	}
	return add_op(s, op) ? 0 : -ENOMEM;
}

/**
 * stream_add_put - append a put to a stream that is being put together
 * @s: the stream
 * @context: where the caller ran
 * @handle: what was put
 *
 * Return: 0; -ENOENT if no save returned @handle, or -ENOMEM.
 */
int stream_add_put(struct stream *s, enum stream_context context, uint32_t handle)
{
	struct stream_index *index = s->index;
	struct stream_op op = { .kind = STREAM_PUT, .context = context };
	size_t at;

	if (!index || !index->handles.slots)
		return -ENOENT;
	at = table_slot(&index->handles, handle, 0);
	if (!index->handles.slots[at])
		return -ENOENT;
	op.trace = index->handle_traces[index->handles.slots[at] - 1];
	return add_op(s, op) ? 0 : -ENOMEM;
}

/**
 * stream_free - free what a stream holds
 * @s: the stream, empty afterwards
 */
void stream_free(struct stream *s)
{
	if (s->index) {
		table_free(&s->index->tree);
		free(s->index->traces);
		table_free(&s->index->handles);
		free(s->index->handle_traces);
		free(s->index);
	}
	free(s->label);
	free(s->traces);
	free(s->entries);
	free(s->ops);
	memset(s, 0, sizeof(*s));
}

/**
 * stream_summarize - count what a stream holds
 * @s: the stream
 * @sum: where the figures go
 *
 * Return: false if there is no memory.
 */
bool stream_summarize(const struct stream *s, struct stream_summary *sum)
{
	struct table tree = { 0 }, addresses = { 0 };
	bool ret = false;
	double frames = 0;
	uint32_t node;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < s->ntraces; i++) {
		const struct stream_trace *t = &s->traces[i];

		if (!tree_add(&tree, s->entries + t->first, t->nr, &node))
			goto out;
		if (t->nr > sum->max)
			sum->max = t->nr;
	}
	for (i = 0; i < s->nentries; i++)
		if (!table_get(&addresses, s->entries[i], 0, &node))
			goto out;
	for (i = 0; i < addresses.n; i++)
		if (addresses.keys[i].a < s->text_start || addresses.keys[i].a >= s->text_end)
			sum->outside++;
	for (i = 0; i < s->nops; i++) {
		if (s->ops[i].kind == STREAM_PUT) {
			sum->puts++;
			continue;
		}
		sum->saves++;
		sum->failed += s->ops[i].failed;
		frames += s->traces[s->ops[i].trace].nr;
	}
	sum->traces = s->ntraces;
	sum->mean_saved = sum->saves ? frames / sum->saves : 0;
	sum->mean_unique = s->ntraces ? (double)s->nentries / s->ntraces : 0;
	sum->addresses = addresses.n;
	sum->nodes = tree.n;
	ret = true;
out:
	table_free(&tree);
	table_free(&addresses);
	return ret;
}

/* --- Writing -------------------------------------------------------------------- */

/*
 * struct buffer - a file that is being put together
 * @p: its bytes
 * @n: how many
 * @failed: there was no memory; all further bytes are lost
 */
struct buffer {
	uint8_t *p;
	size_t n;
	bool failed;
};

static void put_bytes(struct buffer *b, const void *p, size_t n)
{
	if (b->failed || !grow(&b->p, b->n, n, 1)) {
		b->failed = true;
		return;
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_number(struct buffer *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = value | 0x80;
	bytes[n++] = value;
	put_bytes(b, bytes, n);
}

static void put_difference(struct buffer *b, uint64_t value)
{
	put_number(b, value << 1 ^ -(value >> 63));
}

static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	while (n--)
		sum = (sum ^ *p++) * 0x100000001b3ULL;
	return sum;
}

static void put_checksum(struct buffer *b)
{
	uint64_t sum = checksum(b->p, b->n);
	uint8_t bytes[CHECKSUM_LEN];
	size_t i;

	for (i = 0; i < CHECKSUM_LEN; i++)
		bytes[i] = sum >> 8 * i;
	put_bytes(b, bytes, sizeof(bytes));
}

/* The addresses, in the order in which the traces use them first. */
static bool put_addresses(struct buffer *b, const struct stream *s, struct table *addresses)
{
	uint64_t last = s->text_start;
	uint32_t index;
	size_t i;

	for (i = 0; i < s->nentries; i++)
		if (!table_get(addresses, s->entries[i], 0, &index))
			return false;
	put_number(b, addresses->n);
	for (i = 0; i < addresses->n; i++) {
		put_difference(b, addresses->keys[i].a - last);
		last = addresses->keys[i].a;
	}
	return true;
}

static bool put_traces(struct buffer *b, const struct stream *s, struct table *addresses)
{
	struct table tree = { 0 };
	uint32_t *owners = NULL;	/* by node, the trace that it came with */
	bool ret = false;
	size_t i;

	put_number(b, s->ntraces);
	for (i = 0; i < s->ntraces; i++) {
		const uint64_t *entries = s->entries + s->traces[i].first;
		uint32_t nr = s->traces[i].nr, shared = 0, base = i, left = nr, node = 0, index;
		size_t known = tree.n;

		while (left) {
			if (!tree_step(&tree, node, entries[--left], &node))
				goto out;
			if (node > known) {
				if (!grow(&owners, node - 1, 1, sizeof(*owners)))
					goto out;
				owners[node - 1] = i;
			} else {
				base = owners[node - 1];
				shared++;
			}
		}
		put_number(b, nr);
		put_number(b, i - base);
		if (base != i)
			put_number(b, shared);
		for (left = 0; left < nr - shared; left++) {
			if (!table_get(addresses, entries[left], 0, &index))
				goto out;
			put_number(b, index);
		}
	}
	ret = true;
out:
	table_free(&tree);
	free(owners);
	return ret;
}

static unsigned int tag_of(const struct stream_op *op)
{
	return op->kind | op->context << 1 | op->failed << 3 | op->depot_flags << 4;
}

static void put_ops(struct buffer *b, const struct stream *s)
{
	unsigned int tag = 0;
	uint32_t next = 0;
	uint64_t code;
	size_t i;

	put_number(b, s->nops);
	for (i = 0; i < s->nops; i++) {
		const struct stream_op *op = &s->ops[i];

		code = op->trace == next ? 0 : op->trace + 1ULL;
		next += op->trace == next;
		put_number(b, code << 1 | (tag_of(op) != tag));
		if (tag_of(op) != tag) {
			tag = tag_of(op);
			put_number(b, tag);
		}
	}
}

static const char *write_whole(const char *path, const struct buffer *b)
{
	char *tmp;
	FILE *f;
	bool ok;

	if (asprintf(&tmp, "%s.tmp", path) < 0)
		return NO_MEMORY;
	f = fopen(tmp, "w");
	ok = f && fwrite(b->p, 1, b->n, f) == b->n;
	if (f && fclose(f))
		ok = false;
	if (ok && rename(tmp, path))
		ok = false;
	if (!ok && f)
		unlink(tmp);
	free(tmp);
	return ok ? NULL : strerror(errno);
}

/**
 * stream_write - write a stream to a file
 * @s: the stream; its traces are in the order in which the operations name them first
 * @path: the file, which is there as a whole or not at all
 *
 * Return: NULL, or what went wrong.
 */
const char *stream_write(const struct stream *s, const char *path)
{
	struct table addresses = { 0 };
	struct buffer b = { 0 };
	const char *error = NO_MEMORY;
	const char *label = s->label ? s->label : "";

	put_bytes(&b, MAGIC, MAGIC_LEN);
	put_number(&b, s->flags);
	put_number(&b, s->text_start);
	put_number(&b, s->text_end);
	put_number(&b, strlen(label));
	put_bytes(&b, label, strlen(label));
	if (put_addresses(&b, s, &addresses) && put_traces(&b, s, &addresses)) {
		put_ops(&b, s);
		put_checksum(&b);
		if (!b.failed)
			error = write_whole(path, &b);
	}
	table_free(&addresses);
	free(b.p);
	return error;
}

/* --- Reading -------------------------------------------------------------------- */

#define DAMAGED		"it is damaged: record it anew, or get it again from where it is from"

/*
 * struct cursor - where the reader is
 * @p: the next byte
 * @end: the end of the payload
 * @bad: something could not be what the writer wrote; all further numbers are 0
 */
struct cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static uint64_t get_number(struct cursor *c)
{
	unsigned int shift = 0;
	uint64_t value = 0;

	while (!c->bad && c->p < c->end && shift < 64) {
		value |= (uint64_t)(*c->p & 0x7f) << shift;
		if (!(*c->p++ & 0x80))
			return value;
		shift += 7;
	}
	c->bad = true;
	return 0;
}

/* A number that is at most @max. */
static uint64_t get_below(struct cursor *c, uint64_t max)
{
	uint64_t value = get_number(c);

	if (value <= max)
		return value;
	c->bad = true;
	return 0;
}

/* How many of something follow, each of which takes a byte at least. */
static size_t get_count(struct cursor *c)
{
	return get_below(c, c->end - c->p);
}

static uint64_t get_difference(struct cursor *c)
{
	uint64_t value = get_number(c);

	return value >> 1 ^ -(value & 1);
}

static bool get_label(struct cursor *c, struct stream *s)
{
	size_t len = get_count(c);

	s->label = calloc(1, len + 1);
	if (!s->label)
		return false;
	memcpy(s->label, c->p, len);
	c->p += len;
	return true;
}

static bool get_traces(struct cursor *c, struct stream *s, const uint64_t *addresses,
		       size_t naddresses)
{
	size_t n = get_count(c), i;

	s->traces = calloc(n + 1, sizeof(*s->traces));
	if (!s->traces)
		return false;
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t nr = get_below(c, STREAM_MAX_FRAMES), shared = 0, j;
		size_t back = get_below(c, i);
		const struct stream_trace *base = &s->traces[i - back];
		uint64_t *entries;

		if (back)
			shared = get_below(c, nr < base->nr ? nr : base->nr);
		if (s->nentries + nr > MAX_ENTRIES)
			c->bad = true;
		if (!grow(&s->entries, s->nentries, nr, sizeof(*s->entries)))
			return false;
		entries = s->entries + s->nentries;
		for (j = 0; j < nr - shared; j++) {
			size_t index = get_below(c, naddresses);

			if (c->bad || index == naddresses) {
				c->bad = true;
				return true;
			}
			entries[j] = addresses[index];
		}
		for (; j < nr; j++)
			entries[j] = s->entries[base->first + base->nr - nr + j];
		s->traces[i] = (struct stream_trace){ .first = s->nentries, .nr = nr };
		s->nentries += nr;
		s->ntraces++;
	}
	return true;
}

static bool get_ops(struct cursor *c, struct stream *s)
{
	size_t n = get_count(c), next = 0, i;
	unsigned int tag = 0;

	s->ops = calloc(n + 1, sizeof(*s->ops));
	if (!s->ops)
		return false;
	for (i = 0; i < n && !c->bad; i++) {
		uint64_t code = get_below(c, s->ntraces * 2 + 1);
		size_t trace = code / 2 ? code / 2 - 1 : next++;

		if (code & 1)
			tag = get_below(c, 0xfff);
		/* A trace is not used before its first save. */
		if (trace >= next || trace >= s->ntraces)
			c->bad = true;
		s->ops[i] = (struct stream_op){
			.trace = trace,
			.kind = tag & 1,
			.context = tag >> 1 & 3,
			.failed = tag >> 3 & 1,
			.depot_flags = tag >> 4,
		};
		s->nops++;
	}
	return true;
}

static const char *parse(struct stream *s, struct cursor *c)
{
	uint64_t *addresses, last;
	const char *error = NULL;
	size_t n, i;

	s->flags = get_below(c, UINT32_MAX);
	s->text_start = get_number(c);
	s->text_end = get_number(c);
	if (!get_label(c, s))
		return NO_MEMORY;
	n = get_count(c);
	addresses = calloc(n + 1, sizeof(*addresses));
	if (!addresses)
		return NO_MEMORY;
	last = s->text_start;
	for (i = 0; i < n; i++) {
		last += get_difference(c);
		addresses[i] = last;
	}
	if (!get_traces(c, s, addresses, n) || !get_ops(c, s))
		error = NO_MEMORY;
	else if (c->bad || c->p != c->end)
		error = DAMAGED;
	free(addresses);
	return error;
}

static const char *read_whole(const char *path, struct buffer *b)
{
	FILE *f = fopen(path, "r");
	const char *error = NULL;
	size_t n;

	if (!f)
		return strerror(errno);
	do {
		if (!grow(&b->p, b->n, 65536, 1)) {
			error = NO_MEMORY;
			break;
		}
		n = fread(b->p + b->n, 1, 65536, f);
		b->n += n;
	} while (n);
	if (!error && ferror(f))
		error = strerror(errno);
	fclose(f);
	return error;
}

/**
 * stream_read - read a stream from a file
 * @s: where it goes
 * @path: the file
 *
 * Return: NULL; or what is wrong with the file, and @s is empty.
 */
const char *stream_read(struct stream *s, const char *path)
{
	struct buffer b = { 0 };
	struct cursor c;
	const char *error;
	uint64_t sum = 0;
	size_t i;

	memset(s, 0, sizeof(*s));
	error = read_whole(path, &b);
	if (error)
		goto out;
	if (b.n < MAGIC_LEN || memcmp(b.p, MAGIC, MAGIC_LEN)) {
		error = "it is not a stream that scs_bench record wrote, or one of another version";
		goto out;
	}
	if (b.n < MAGIC_LEN + CHECKSUM_LEN) {
		error = DAMAGED;
		goto out;
	}
	for (i = 0; i < CHECKSUM_LEN; i++)
		sum |= (uint64_t)b.p[b.n - CHECKSUM_LEN + i] << 8 * i;
	if (sum != checksum(b.p, b.n - CHECKSUM_LEN)) {
		error = DAMAGED;
		goto out;
	}
	c = (struct cursor){ .p = b.p + MAGIC_LEN, .end = b.p + b.n - CHECKSUM_LEN };
	error = parse(s, &c);
	if (error)
		stream_free(s);
out:
	free(b.p);
	return error;
}
