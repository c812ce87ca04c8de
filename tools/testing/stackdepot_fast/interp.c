// SPDX-License-Identifier: GPL-2.0
/* Drives two depots alike and checks their answers against a model, and each other. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "depot.h"
#include "interp.h"

#define MAX_TRACES	256
#define MAX_CONTENTS	512
#define MAX_RECORDS	2048
#define LONGEST		96

struct interp_stats interp_stats;

/* What a caller has. */
struct trace {
	unsigned int nr;
	unsigned long entries[LONGEST];
};

/* What a depot makes of it: what came before an interrupt and what is too much left out. */
struct content {
	unsigned int nr;
	unsigned long entries[DEPOT_MAX_FRAMES];
	/* Saved with DEPOT_GET; never with and without: what that does is not defined. */
	int refcounted;
};

struct record {
	unsigned int handle;
	unsigned int content;
	unsigned int refs;
	/* Of a trace with more frames than are kept. */
	int too_long;
};

/* What one of the depots must have by now. */
struct model {
	const struct depot *depot;
	struct record records[MAX_RECORDS];
	unsigned int nr_records;
	unsigned long refd_allocs, refd_frees, persistent;
};

/* References that were taken in both depots. */
struct held {
	unsigned int content;
	unsigned int handle[2];
};

/* Where a call is made. */
enum context { TASK, ATOMIC, SOFTIRQ, HARDIRQ, NMI, NR_CONTEXTS };

static struct {
	int verbose;
	enum context context;
	int disabled;
	/* The second depot has little room, and at the end of it stops or evicts. */
	int limited;
	int evicting;
	int failing;
	int reading;
	struct trace traces[MAX_TRACES];
	unsigned int nr_traces;
	struct content contents[MAX_CONTENTS];
	unsigned int nr_contents;
	struct model models[2];
	struct held held[MAX_RECORDS];
	unsigned int nr_held;
} st;

/* --- Failing --------------------------------------------------------------- */

__attribute__((format(printf, 1, 2), noreturn))
static void wrong(const char *fmt, ...)
{
	va_list args;

	fputs("WRONG: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

__attribute__((format(printf, 1, 2)))
static void tell(const char *fmt, ...)
{
	va_list args;

	if (!st.verbose)
		return;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}

/* --- Traces ---------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185ULL;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44dULL;
	return x ^ x >> 33;
}

/* Few functions, so that traces share frames. */
static unsigned long text_address(uint64_t r)
{
	return shim_text + (r % 61) * 0x140 + (r >> 8) % 3 * 4;
}

static unsigned long any_address(uint64_t r)
{
	switch (r % 16) {
	case 0:
		return mix(r);
	case 1:
		return shim_modules + mix(r) % (shim_modules_end - shim_modules);
	case 2:		/* about the edges of 32 bits around the text */
		return shim_text + (1UL << 31) - 4 + (r >> 8) % 8;
	case 3:
		return shim_text - (1UL << 31) - 4 + (r >> 8) % 8;
	case 4:
		return (r >> 8) % 3 - 1UL;
	case 6:
		return SHIM_ENTRY_TEXT - 4 + (r >> 8) % (SHIM_ENTRY_TEXT_END - SHIM_ENTRY_TEXT + 8);
	case 5:		/* the same low half */
		return text_address(r >> 8) ^ (1UL << (32 + (r >> 16) % 32));
	default:
		return text_address(r >> 8);
	}
}

/* A new trace; most look like others, as those of call paths do. */
static void make_trace(unsigned int kind, unsigned int from, uint64_t r)
{
	struct trace *t = &st.traces[st.nr_traces % MAX_TRACES];
	struct trace other = st.traces[from % MAX_TRACES];
	unsigned int n, i;

	memset(t, 0, sizeof(*t));
	if (!other.nr) {
		other.nr = 1 + r % 8;
		for (i = 0; i < other.nr; i++)
			other.entries[i] = text_address(mix(r + i));
	}
	switch (kind % 10) {
	case 0:	/* all new */
		t->nr = 1 + r % DEPOT_MAX_FRAMES;
		for (i = 0; i < t->nr; i++)
			t->entries[i] = text_address(mix(r + i));
		break;
	case 1:	/* other callees below the same callers */
	case 2:
		n = 1 + (r >> 32) % 12;
		i = (r >> 16) % other.nr;
		t->nr = n + other.nr - i;
		if (t->nr > LONGEST)
			t->nr = LONGEST;
		memcpy(t->entries + n, other.entries + i, (t->nr - n) * sizeof(long));
		for (i = 0; i < n; i++)
			t->entries[i] = text_address(mix(r + i));
		break;
	case 3:	/* callers only */
		i = r % other.nr;
		t->nr = other.nr - i;
		memcpy(t->entries, other.entries + i, t->nr * sizeof(long));
		break;
	case 4:	/* callees only */
		*t = other;
		t->nr = 1 + r % other.nr;
		break;
	case 5:	/* one frame differs */
		*t = other;
		t->entries[r % t->nr] = any_address(mix(r));
		break;
	case 6:	/* two frames differ in their upper halves */
		*t = other;
		t->entries[r % t->nr] ^= (r & 0xffff0000) << 16;
		t->entries[(r >> 8) % t->nr] ^= (mix(r) & 0xffff0000) << 16;
		break;
	case 7:	/* anything */
		t->nr = 1 + r % 20;
		for (i = 0; i < t->nr; i++)
			t->entries[i] = any_address(mix(r + i));
		break;
	case 8:	/* longer than is kept, or just not */
		t->nr = DEPOT_MAX_FRAMES - 2 + r % (LONGEST - DEPOT_MAX_FRAMES + 3);
		for (i = 0; i < t->nr; i++)
			t->entries[i] = i < other.nr ? other.entries[i] : text_address(r + i / 8);
		break;
	case 9:	/* an interrupt came */
		*t = other;
		t->entries[r % t->nr] =
			(r & 256 ? SHIM_IRQENTRY_TEXT : SHIM_SOFTIRQENTRY_TEXT) + (r >> 16) % 4096;
		break;
	}
	tell("  trace %u: %u frames, kind %u\n", st.nr_traces % MAX_TRACES, t->nr, kind % 10);
	st.nr_traces++;
}

static int is_irq_entry(unsigned long addr)
{
	return (addr >= SHIM_IRQENTRY_TEXT && addr < SHIM_IRQENTRY_TEXT_END) ||
	       (addr >= SHIM_SOFTIRQENTRY_TEXT && addr < SHIM_SOFTIRQENTRY_TEXT_END);
}

/* What a depot is to make of @t; -1 if there are too many of them. */
static int content_of(const struct trace *t, int *too_long)
{
	struct content c = {};
	uint64_t sum = 0;
	unsigned int nr;

	for (nr = 0; nr < t->nr; nr++) {
		if (is_irq_entry(t->entries[nr])) {
			interp_stats.cut += nr + 1 < t->nr;
			nr++;
			break;
		}
	}
	*too_long = nr > DEPOT_MAX_FRAMES;
	c.nr = *too_long ? DEPOT_MAX_FRAMES : nr;
	memcpy(c.entries, t->entries, c.nr * sizeof(long));

	for (unsigned int i = 0; i < st.nr_contents; i++) {
		struct content *have = &st.contents[i];

		if (have->nr == c.nr && !memcmp(have->entries, c.entries, c.nr * sizeof(long)))
			return i;
	}
	if (st.nr_contents == MAX_CONTENTS)
		return -1;
	for (unsigned int i = 0; i < c.nr; i++)
		sum = mix(sum + c.entries[i]);
	c.refcounted = sum % 5 < 2;
	st.contents[st.nr_contents] = c;
	return st.nr_contents++;
}

/* --- Checks ---------------------------------------------------------------- */

static struct record *find_content(struct model *m, unsigned int content)
{
	for (unsigned int i = 0; i < m->nr_records; i++) {
		if (m->records[i].content == content && !m->records[i].too_long)
			return &m->records[i];
	}
	return NULL;
}

static struct record *find_handle(struct model *m, unsigned int handle)
{
	for (unsigned int i = 0; i < m->nr_records; i++) {
		if (m->records[i].handle == (handle & DEPOT_HANDLE_MASK))
			return &m->records[i];
	}
	return NULL;
}

/* Forgets a trace that was evicted: nothing else may become of it. */
static int was_evicted(struct model *m, struct record *rec)
{
	unsigned long store[1], *entries = store;

	if (!st.evicting || m == &st.models[0] || st.contents[rec->content].refcounted ||
	    m->depot->copy(rec->handle, 0, store, 1))
		return 0;
	if (m->depot->fetch(rec->handle, &entries) || entries)
		wrong("%08x was evicted, but fetches", rec->handle);
	*rec = m->records[--m->nr_records];
	return 1;
}

static void forget_evicted(struct model *m)
{
	for (unsigned int i = 0; i < m->nr_records; )
		i += !was_evicted(m, &m->records[i]);
}

/* What the handle fetches. Without memory, a depot that makes copies may have none to give. */
static void check_fetch(struct model *m, unsigned int handle, unsigned int content)
{
	const struct content *c = &st.contents[content];
	unsigned long *entries = (unsigned long *)1;
	unsigned int nr = m->depot->fetch(handle, &entries);

	interp_stats.fetches++;
	if (!nr && (st.failing || st.context != TASK || (st.limited && m == &st.models[1]))) {
		if (entries)
			wrong("%s: fetch of %08x fails, but leaves a pointer", m->depot->name,
			      handle);
		return;
	}
	if (nr != c->nr)
		wrong("%s: %08x fetches %u frames, not %u", m->depot->name, handle, nr, c->nr);
	for (unsigned int i = 0; i < nr; i++) {
		if (entries[i] != c->entries[i])
			wrong("%s: %08x has %#lx as frame %u, not %#lx", m->depot->name, handle,
			      entries[i], i, c->entries[i]);
	}
}

/*
 * Whether a shadow call stack may have these: return addresses into the kernel or
 * its modules, but what an exception interrupted may be anywhere.
 */
static int may_be_shadow(const struct trace *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		if (i && t->entries[i - 1] >= SHIM_ENTRY_TEXT &&
		    t->entries[i - 1] < SHIM_ENTRY_TEXT_END)
			continue;
		if (t->entries[i] < shim_modules || t->entries[i] >= shim_end)
			return 0;
	}
	return 1;
}

/* Has @d take the trace off the shadow call stack, or by stack_trace_save() without one. */
__attribute__((noinline))
static unsigned int save_current(const struct depot *d, const struct trace *t, unsigned int way,
				 unsigned int gfp, unsigned int flags)
{
	struct shim_thread *self = shim_self();
	unsigned int skip = way / 2 % 4, nr = t->nr + skip, handle;
	unsigned long shadow[LONGEST + 4], walked[LONGEST + 4];

	for (unsigned int i = 0; i < nr; i++) {
		unsigned long frame = i < skip ? shim_text + i : t->entries[i - skip];

		shadow[nr - 1 - i] = frame;
		walked[i] = frame;
	}
	if (way & 1 && may_be_shadow(t)) {
		self->scs_base = shadow;
		self->scs_top = shadow + nr;
		self->scs_whole = way & 4;
	}
	self->trace_frame = __builtin_frame_address(0);
	self->trace = walked;
	self->trace_len = nr;
	handle = d->save_current(skip, way & 8 ? DEPOT_MAX_FRAMES : t->nr, gfp, flags);
	self->scs_top = NULL;
	self->trace_len = 0;
	return handle;
}

static unsigned int save_one(struct model *m, const struct trace *t, int content, int too_long,
			     unsigned int gfp, unsigned int flags, int may_fail, unsigned int way)
{
	struct content *c = &st.contents[content];
	struct record *rec = find_content(m, content), *other;
	unsigned long entries[LONGEST];
	unsigned int handle;
	int hit;

	if (rec && was_evicted(m, rec))
		rec = NULL;
	/* The depot may write to the array, and must not depend on its staying there. */
	memcpy(entries, t->entries, sizeof(entries));
	if (c->refcounted)
		flags |= DEPOT_GET;
	if (m->depot->save_current && way && !too_long &&
	    (c->nr == t->nr || st.context >= SOFTIRQ))
		handle = save_current(m->depot, t, way, gfp, flags);
	else if (flags == DEPOT_CAN_ALLOC && gfp == depot_gfp_kernel)
		handle = m->depot->save(entries, t->nr, gfp);
	else
		handle = m->depot->save_flags(entries, t->nr, gfp, flags);
	memset(entries, 0xa5, sizeof(entries));

	if (st.disabled) {
		if (handle)
			wrong("%s: disabled, but saves", m->depot->name);
		return 0;
	}
	if (handle >> (32 - DEPOT_EXTRA_BITS))
		wrong("%s: new handle %08x has extra bits", m->depot->name, handle);

	/* A trace with too many frames may or may not be found again. */
	hit = rec && (!too_long || rec->handle == handle);
	if (hit && rec->handle != handle)
		wrong("%s: a trace that is %08x is saved as %08x", m->depot->name, rec->handle,
		      handle);
	if (!handle) {
		if (!may_fail && !(st.limited && m == &st.models[1]))
			wrong("%s: a save fails for no reason", m->depot->name);
		interp_stats.refused++;
		return 0;
	}
	if (!hit)
		forget_evicted(m);
	other = find_handle(m, handle);
	if (!hit && other && other->content != (unsigned int)content)
		wrong("%s: two traces are %08x", m->depot->name, handle);
	if (other) {
		rec = other;
		interp_stats.hits++;
	} else {
		if (m->nr_records == MAX_RECORDS)
			wrong("raise MAX_RECORDS");
		rec = &m->records[m->nr_records++];
		*rec = (struct record){
			.handle = handle, .content = content, .too_long = too_long,
		};
		interp_stats.misses++;
		if (c->refcounted)
			m->refd_allocs++;
		else
			m->persistent++;
	}
	rec->refs++;
	check_fetch(m, handle, content);
	return handle;
}

static void context_enter(enum context context)
{
	st.context = context;
	switch (context) {
	case ATOMIC:
		shim_atomic_enter();
		break;
	case SOFTIRQ:
		shim_softirq_enter();
		break;
	case HARDIRQ:
		if (!shim_hardirq_enter())
			wrong("no interrupt is possible");
		break;
	case NMI:
		if (!shim_nmi_enter())
			wrong("no NMI is possible");
		break;
	default:
		break;
	}
}

static void context_exit(enum context context)
{
	st.context = TASK;
	switch (context) {
	case ATOMIC:
		shim_atomic_exit();
		break;
	case SOFTIRQ:
		shim_softirq_exit();
		break;
	case HARDIRQ:
		shim_hardirq_exit();
		break;
	case NMI:
		shim_nmi_exit();
		break;
	default:
		break;
	}
}

static void do_put(struct model *m, unsigned int handle)
{
	struct record *rec = find_handle(m, handle);
	unsigned long warnings = shim_warnings(), *entries;

	m->depot->put(handle);
	if (--rec->refs)
		return;
	interp_stats.evicted++;
	m->refd_frees++;
	*rec = m->records[--m->nr_records];

	/* Nothing was saved since, so its memory is nobody else's yet. */
	shim_expect_warnings(1);
	if (m->depot->fetch(handle, &entries) || entries)
		wrong("%s: %08x was put, but still fetches", m->depot->name, handle);
	shim_expect_warnings(0);
	if (shim_warnings() == warnings)
		wrong("%s: fetch after put of %08x: no warning", m->depot->name, handle);
}

/* --- Operations ------------------------------------------------------------ */

static void op_save(unsigned int which, unsigned int how, uint64_t r)
{
	struct trace *t = &st.traces[which % MAX_TRACES];
	enum context context = how % 8 < NR_CONTEXTS ? how % 8 : TASK;
	unsigned int gfps[] = {
		depot_gfp_kernel, depot_gfp_atomic, depot_gfp_nowait, depot_gfp_nofs,
		depot_gfp_kernel | depot_gfp_nolockdep | depot_gfp_zone_bits,
	};
	unsigned int gfp = gfps[context == TASK ? r % 5 : 1 + r % 2];
	unsigned int flags = context == NMI || how & 0x80 ? 0 : DEPOT_CAN_ALLOC;
	unsigned int handle[2];
	int content, too_long;

	if (!t->nr)
		return;
	content = content_of(t, &too_long);
	if (content < 0)
		return;
	interp_stats.saves++;
	interp_stats.too_long += too_long;
	tell("  save trace %u: %u frames%s, context %d, flags %u\n", which % MAX_TRACES, t->nr,
	     st.contents[content].refcounted ? ", refcounted" : "", context, flags);
	for (unsigned int i = 0; i < 2; i++) {
		context_enter(context);
		handle[i] = save_one(&st.models[i], t, content, too_long, gfp, flags,
				     st.failing || !flags, r >> 24 & 15);
		context_exit(context);
		tell("    %s: %08x\n", st.models[i].depot->name, handle[i]);
	}
	if (!st.contents[content].refcounted)
		return;
	/* What only one depot could save is dropped again. */
	if (handle[0] && handle[1] && st.nr_held < MAX_RECORDS) {
		st.held[st.nr_held].content = content;
		memcpy(st.held[st.nr_held++].handle, handle, sizeof(handle));
		return;
	}
	for (unsigned int i = 0; i < 2; i++)
		if (handle[i])
			do_put(&st.models[i], handle[i]);
}

static void op_put(unsigned int which, unsigned int how)
{
	struct held *held;

	if (!st.nr_held)
		return;
	held = &st.held[which % st.nr_held];
	for (unsigned int i = 0; i < 2; i++) {
		const struct depot *d = st.models[i].depot;
		unsigned int handle = d->set_extra(held->handle[i], how % 32);

		tell("  put %s: %08x\n", d->name, handle);
		context_enter(how & 32 ? HARDIRQ : TASK);
		do_put(&st.models[i], handle);
		context_exit(how & 32 ? HARDIRQ : TASK);
	}
	*held = st.held[--st.nr_held];
}

/* A handle of each depot's; the two are of the same trace if both have it. */
static int pick(unsigned int which, struct record *out[2])
{
	struct model *m = &st.models[0];

	if (!m->nr_records)
		return 0;
	out[0] = &m->records[which % m->nr_records];
	forget_evicted(&st.models[1]);
	out[1] = find_content(&st.models[1], out[0]->content);
	return 1;
}

static void op_fetch(unsigned int which, unsigned int bits)
{
	struct record *rec[2];

	if (!pick(which, rec))
		return;
	for (unsigned int i = 0; i < 2 && rec[i]; i++) {
		const struct depot *d = st.models[i].depot;
		unsigned int handle = d->set_extra(rec[i]->handle, bits % 32);

		if (d->get_extra(handle) != bits % 32 ||
		    (handle & DEPOT_HANDLE_MASK) != rec[i]->handle)
			wrong("%s: extra bits %u make %08x of %08x", d->name, bits % 32, handle,
			      rec[i]->handle);
		check_fetch(&st.models[i], handle, rec[i]->content);
	}
}

static void op_snprint(unsigned int which, unsigned int size, int spaces)
{
	struct record *rec[2];
	char text[2][2048];
	int len[2] = {};

	size %= sizeof(text[0]);
	if (!pick(which, rec) || !rec[1])
		return;
	interp_stats.prints++;
	for (unsigned int i = 0; i < 2; i++) {
		memset(text[i], 'x', sizeof(text[i]));
		len[i] = st.models[i].depot->snprint(rec[i]->handle, text[i], size, spaces);
	}
	if (len[0] != len[1])
		wrong("snprint into %u bytes returns %d and %d", size, len[0], len[1]);
	if (memcmp(text[0], text[1], sizeof(text[0])))
		wrong("snprint into %u bytes: '%.*s' and '%.*s'", size, (int)size, text[0],
		      (int)size, text[1]);
}

static void op_print(unsigned int which)
{
	struct record *rec[2];
	char *text[2];

	if (!pick(which, rec) || !rec[1])
		return;
	interp_stats.prints++;
	for (unsigned int i = 0; i < 2; i++) {
		shim_log_clear();
		st.models[i].depot->print(rec[i]->handle);
		text[i] = strdup(shim_log());
	}
	if (strcmp(text[0], text[1]) || !text[0][0])
		wrong("print: '%s' and '%s'", text[0], text[1]);
	free(text[0]);
	free(text[1]);
	shim_log_clear();
}

/* Handles that mean nothing. */
static void op_nothing(unsigned int which)
{
	char text[16];
	unsigned long *entries = (unsigned long *)1, entry = shim_text;

	for (unsigned int i = 0; i < 2; i++) {
		const struct depot *d = st.models[i].depot;

		if (d->fetch(0, &entries) || entries || d->snprint(0, text, sizeof(text), 0) ||
		    d->set_extra(0, which % 32) || d->get_extra(0))
			wrong("%s: handle 0 means something", d->name);
		d->put(0);
		d->print(0);
		if (d->save_flags(&entry, 0, depot_gfp_kernel, DEPOT_CAN_ALLOC))
			wrong("%s: a trace without frames has a handle", d->name);
		shim_expect_warnings(1);
		if (d->save_flags(&entry, 1, depot_gfp_kernel, 0x4000))
			wrong("%s: unknown flags are taken", d->name);
		shim_expect_warnings(0);
	}
}

static unsigned long stat_value(const char *text, const char *name)
{
	char line[64];
	const char *p;

	snprintf(line, sizeof(line), "\n%s: ", name);
	p = strstr(text, line);
	if (!p)
		wrong("the statistics have no %s:\n%s", name, text);
	return strtoul(p + strlen(line), NULL, 10);
}

static void check_stat(struct model *m, const char *text, const char *name, unsigned long expect)
{
	unsigned long value = stat_value(text, name);

	if (value != expect)
		wrong("%s: %s is %lu, not %lu:\n%s", m->depot->name, name, value, expect, text);
}

static void op_stats(unsigned int chunk)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct model *m = &st.models[i];
		char *text = shim_debugfs_read(m->depot->unit, "stackdepot/stats", 1 + chunk % 300,
					       NULL, NULL);

		if (!text)
			wrong("%s: there is no stackdepot/stats", m->depot->name);
		if (strncmp(text, "pools: ", 7))
			wrong("%s: the statistics don't begin with pools:\n%s", m->depot->name,
			      text);
		check_stat(m, text, "refcounted_allocations", m->refd_allocs);
		check_stat(m, text, "refcounted_frees", m->refd_frees);
		check_stat(m, text, "refcounted_in_use", m->refd_allocs - m->refd_frees);
		if (!st.evicting || !i)
			check_stat(m, text, "persistent_count", m->persistent);
		stat_value(text, "freelist_size");
		stat_value(text, "persistent_bytes");
		free(text);
	}
}

/* Each trace that a depot has is shown once, with the frames that it should have. */
static void op_traces(unsigned int chunk)
{
	struct model *m = &st.models[1];
	unsigned char seen[MAX_RECORDS] = {};
	unsigned int shown = 0;
	char *text, *p;

	if (!m->depot->copy)
		return;
	text = shim_debugfs_read(m->depot->unit, "stackdepot/traces", 1 + chunk % 700, NULL, NULL);
	if (!text)
		wrong("there is no stackdepot/traces");
	forget_evicted(m);
	for (p = text; *p; p++) {
		const struct content *c;
		struct record *rec;
		unsigned int handle, nr;

		if (sscanf(p, "handle %x frames %u", &handle, &nr) != 2)
			wrong("the traces go on with '%.100s'", p);
		rec = find_handle(m, handle);
		if (!rec || seen[rec - m->records]++)
			wrong("trace %08x is shown, but %s", handle,
			      rec ? "was before" : "not there");
		shown++;
		c = &st.contents[rec->content];
		if (nr != c->nr)
			wrong("trace %08x is shown with %u frames, not %u", handle, nr, c->nr);
		p = strchr(p, '\n') + 1;
		for (unsigned int i = 0; i < nr; i++) {
			unsigned long frame = strtoul(p, NULL, 16);

			if (frame != c->entries[i])
				wrong("trace %08x is shown with %#lx as frame %u, not %#lx",
				      handle, frame, i, c->entries[i]);
			p = strchr(p, '\n') + 1;
		}
	}
	if (shown != m->nr_records)
		wrong("%u traces are shown, not %u", shown, m->nr_records);
	free(text);
}

/* A handle that means nothing may be anything, and do no harm. */
static void op_corrupt(unsigned int which, unsigned int how, unsigned int r)
{
	struct model *m = &st.models[1];
	unsigned long warnings, *entries = (unsigned long *)1, store[4];
	unsigned int handle = r;
	char text[64] = "";

	if (!m->depot->copy || st.disabled)
		return;
	/* Mostly one that is nearly right. */
	if (how % 8 && m->nr_records)
		handle = m->records[which % m->nr_records].handle + (how & 8 ? 1 : -1U) * (r % 64);
	if (!(handle & DEPOT_HANDLE_MASK) || find_handle(m, handle))
		return;
	/* What was evicted is no news, and prints as such. */
	if (st.evicting)
		return;
	tell("  corrupt handle %08x\n", handle);
	warnings = shim_warnings();
	shim_expect_warnings(1);
	if (m->depot->fetch(handle, &entries) || entries)
		wrong("%08x is no handle, but fetches", handle);
	if (shim_warnings() == warnings)
		wrong("%08x is no handle, but fetching it warns of nothing", handle);
	m->depot->put(handle);
	m->depot->print(handle);
	m->depot->count_add(handle, 1);
	if (m->depot->snprint(handle, text, sizeof(text), 0) || m->depot->copy(handle, 0, store, 4))
		wrong("%08x is no handle, but prints", handle);
	shim_expect_warnings(0);
	shim_log_clear();
}

static void set_reading(int reading)
{
	if (st.reading == reading)
		return;
	st.reading = reading;
	/* No grace period ends: what was freed must not be used again. */
	shim_rcu_poll_advances = !reading;
}

static void op_init(void)
{
	for (unsigned int i = 0; i < 2; i++)
		if (st.models[i].depot->init())
			wrong("%s: a second init fails", st.models[i].depot->name);
}

static void do_op(const uint8_t *op)
{
	unsigned int a = op[1], b = op[2] | op[3] << 8;
	uint64_t r = op[4] | op[5] << 8 | op[6] << 16 | (uint64_t)op[7] << 24;
	uint64_t wide = mix(r * 0x9e3779b97f4a7c15ULL + b);

	interp_stats.ops++;
	if (!st.reading)
		shim_rcu_advance();
	switch (op[0] % 32) {
	case 0 ... 5:
		make_trace(a, b, wide);
		op_save(st.nr_traces - 1, a >> 4, r);
		break;
	case 6 ... 15:
		op_save(b, a, r);
		break;
	case 16 ... 20:
		op_put(b, a);
		break;
	case 21 ... 23:
		if (!st.disabled)
			op_fetch(b, a);
		break;
	case 24:
		if (!st.disabled)
			op_snprint(b, r, a % 20);
		break;
	case 25:
		if (!st.disabled)
			op_print(b);
		break;
	case 26:
		st.failing = a % 2;
		shim_fail_all = st.failing;
		tell("  allocations %s\n", st.failing ? "fail" : "succeed");
		break;
	case 27:
		set_reading(a % 2);
		break;
	case 28:
		op_nothing(a);
		break;
	case 29:
		if (!st.disabled)
			op_stats(b);
		break;
	case 30:
		if (a % 4)
			op_corrupt(b, a >> 2, wide);
		else
			op_init();
		break;
	case 31:
		if (a % 4 == 3 && !st.disabled)
			op_traces(b);
		shim_set_cpu(a % SHIM_NR_CPUS);
		break;
	}
}

/* --- From boot to the end -------------------------------------------------- */

static void boot(unsigned int how)
{
	st.disabled = how % 64 == 63;
	if (how % 64 >= 32 && st.models[1].depot->copy) {
		st.limited = 1;
		st.evicting = how % 2;
		shim_expect_text("limit capacity");
		shim_boot_param(SHIM_FAST, "stack_depot_max_pools", how % 4 < 2 ? "3" : "5");
		shim_boot_param(SHIM_FAST, "stack_depot_policy", st.evicting ? "evict" : "stop");
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct depot *d = st.models[i].depot;

		shim_boot_param(d->unit, "stack_depot_disable", st.disabled ? "on" : "off");
		if (how & 64)
			d->request_early_init();
		d->early_init();
		if (d->init())
			wrong("%s: init fails", d->name);
		shim_run_initcalls(d->unit);
	}
}

static void finish(void)
{
	shim_fail_all = 0;
	st.failing = 0;
	set_reading(0);
	for (unsigned int i = 0; i < 2 && !st.disabled; i++) {
		struct model *m = &st.models[i];

		forget_evicted(m);
		for (unsigned int j = 0; j < m->nr_records; j++)
			check_fetch(m, m->records[j].handle, m->records[j].content);
	}
	while (st.nr_held)
		op_put(0, 0);
	if (!st.disabled) {
		op_stats(4096);
		op_traces(511);
	}
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < st.models[i].nr_records; j++)
			if (st.contents[st.models[i].records[j].content].refcounted)
				wrong("%s: a record is left over", st.models[i].depot->name);
		shim_reboot(st.models[i].depot->unit);
	}
}

void interp_run(const uint8_t *data, size_t len, int verbose)
{
	memset(&st, 0, sizeof(st));
	shim_expect_text(NULL);
	shim_free_buffer_pages = 16384;
	st.verbose = verbose;
	st.models[0].depot = &upstream_depot;
	st.models[1].depot = &fast_depot;
	boot(len ? data[0] : 0);
	for (size_t i = 1; i + INTERP_OP_SIZE <= len; i += INTERP_OP_SIZE)
		do_op(data + i);
	finish();
}
