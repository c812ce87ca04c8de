// SPDX-License-Identifier: GPL-2.0
/* The checker: compares each trace that is handed out with arch_stack_walk()'s, on the spot. */

#define pr_fmt(fmt) "scs_trace: " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/panic.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/scs_trace.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "scs_trace.h"

/* === Data ================================================================= */

/* Where a trace was taken. Each checked trace is counted once here ... */
enum verify_context { IN_TASK, IN_SOFTIRQ, IN_HARDIRQ, IN_NMI, NR_CONTEXTS };

/* ... and once here, by how it was had. */
enum verify_way { SAVED, IN_PLACE, OTHER_TASK, FROM_REGS, WALKED, NR_WAYS };

static const char *const verify_contexts[NR_CONTEXTS] = {
	[IN_TASK]	= "task",
	[IN_SOFTIRQ]	= "softirq",
	[IN_HARDIRQ]	= "hardirq",
	[IN_NMI]	= "nmi",
};

static const char *const verify_ways[NR_WAYS] = {
	[SAVED]		= "saved",
	[IN_PLACE]	= "in_place",
	[OTHER_TASK]	= "other_task",
	[FROM_REGS]	= "regs",
	[WALKED]	= "walked",
};

static const char *const verify_verdicts[SCS_TRACE_NR_VERDICTS] = {
	[SCS_TRACE_SAME]		= "same",
	[SCS_TRACE_UNCHECKED_RAN]	= "unchecked_ran",
	[SCS_TRACE_UNCHECKED_EMPTY]	= "unchecked_empty",
	[SCS_TRACE_EXPLAINED_RECORD]	= "explained_record",
	[SCS_TRACE_EXPLAINED_FTRACE]	= "explained_ftrace",
	[SCS_TRACE_EXPLAINED_FRAMELESS]	= "explained_frameless",
	[SCS_TRACE_MISSING]		= "mismatch_missing",
	[SCS_TRACE_EXTRA]		= "mismatch_extra",
	[SCS_TRACE_SWAPPED]		= "mismatch_swapped",
	[SCS_TRACE_CHANGED]		= "mismatch_changed",
	[SCS_TRACE_SHORTER]		= "mismatch_shorter",
	[SCS_TRACE_LONGER]		= "mismatch_longer",
	[SCS_TRACE_OVERRUN]		= "mismatch_overrun",
};

/**
 * struct verify_counters - one CPU's share of what was checked
 * @frames: entries handed out in checked traces
 * @context: checked traces, by &enum verify_context
 * @way: checked traces, by &enum verify_way
 * @verdict: all traces, by what the check found
 *
 * Updated as struct scs_trace_counters is.
 */
struct verify_counters {
	atomic64_t frames;
	atomic64_t context[NR_CONTEXTS];
	atomic64_t way[NR_WAYS];
	atomic64_t verdict[SCS_TRACE_NR_VERDICTS];
};

static DEFINE_PER_CPU(struct verify_counters, verify_counters);

/* Which verdicts were printed once. */
static unsigned long verify_printed;

/* Held by this CPU while it prints: an NMI that finds something has to be silent. */
static DEFINE_PER_CPU(int, verify_printing);

/* Whether the first unexplained mismatch is to be the last. */
static bool verify_panic __read_mostly;

/* === Comparing ============================================================ */

/**
 * struct verify_cursor - what arch_stack_walk()'s next entry is compared with
 * @skip: how many entries the walk is to leave out
 * @nosched: leave out the scheduler's functions, before anything is counted
 * @at: the next entry of the trace
 * @step: where the one after it lies: +1, or -1 on a shadow call stack
 * @left: how many are left of the trace
 * @whole: whether nothing is to follow the last one
 * @index: how many matched
 * @entry: what the walk had where the trace didn't match it
 * @verdict: what was found
 */
struct verify_cursor {
	unsigned int skip;
	bool nosched;
	const unsigned long *at;
	int step;
	unsigned int left;
	bool whole;
	unsigned int index;
	unsigned long entry;
	enum scs_trace_verdict verdict;
};

static unsigned long verify_entry(const unsigned long *at)
{
	/* Racy for another task: it is found out at the end. */
	return arch_scs_trace_strip(READ_ONCE(*at));
}

/* Tell kinds of differences by the walk's entry after the one that didn't match. */
static enum scs_trace_verdict verify_kind(const struct verify_cursor *c,
					  unsigned long next)
{
	unsigned long have = verify_entry(c->at);
	unsigned long then = c->left > 1 ? verify_entry(c->at + c->step) : 0;

	if (next == have)
		return then == c->entry ? SCS_TRACE_SWAPPED : SCS_TRACE_MISSING;
	if (then == c->entry)
		return SCS_TRACE_EXTRA;
	return SCS_TRACE_CHANGED;
}

static bool verify_consume(void *cookie, unsigned long entry)
{
	struct verify_cursor *c = cookie;

	if (c->nosched && in_sched_functions(entry))
		return true;
	if (c->skip) {
		c->skip--;
		return true;
	}
	if (c->verdict == SCS_TRACE_CHANGED) {
		c->verdict = verify_kind(c, entry);
		return false;
	}
	if (!c->left) {
		c->verdict = SCS_TRACE_SHORTER;
		return false;
	}
	if (verify_entry(c->at) != entry) {
		c->verdict = SCS_TRACE_CHANGED;
		c->entry = entry;
		return true;
	}
	c->index++;
	c->left--;
	c->at += c->step;
	/* One more shows whether the trace is whole. */
	return c->left || c->whole;
}

static void verify_end(struct verify_cursor *c)
{
	if (c->verdict == SCS_TRACE_SAME && c->left)
		c->verdict = SCS_TRACE_LONGER;
	else if (c->verdict == SCS_TRACE_CHANGED && c->left > 1 &&
		 verify_entry(c->at + c->step) == c->entry)
		/* The walk ended with the entry that didn't match. */
		c->verdict = SCS_TRACE_EXTRA;
}

/* === Explaining =========================================================== */

/**
 * struct verify_raw - a shadow call stack's entries as they lie, against the walk
 * @src: where they lie
 * @tsk: whose they are
 * @skip: how many entries the walk is to leave out
 * @span: which part of @src comes next
 * @at: one past the next entry
 * @pc_left: whether the program counter comes before it
 * @from: the record that the walk was taken up at, 0 from its start on
 * @verdict: the explanation, the last one where there are several
 */
struct verify_raw {
	const struct scs_trace_source *src;
	struct task_struct *tsk;
	unsigned int skip;
	unsigned int span;
	const unsigned long *at;
	bool pc_left;
	unsigned long from;
	enum scs_trace_verdict verdict;
};

static bool verify_raw_left(struct verify_raw *r)
{
	if (r->pc_left)
		return true;
	while (r->span < r->src->nr_spans &&
	       r->at == r->src->span[r->span].base)
		if (++r->span < r->src->nr_spans)
			r->at = r->src->span[r->span].top;
	return r->span < r->src->nr_spans;
}

static bool verify_raw_take(struct verify_raw *r, unsigned long entry)
{
	if (!verify_raw_left(r))
		return false;
	if (r->pc_left) {
		if (r->src->pc != entry)
			return false;
		r->pc_left = false;
		return true;
	}
	if (verify_entry(r->at - 1) != entry)
		return false;
	r->at--;
	return true;
}

static bool verify_raw_consume(void *cookie, unsigned long entry)
{
	struct verify_raw *r = cookie;
	struct verify_raw before;
	unsigned int extra;

	if (r->skip) {
		r->skip--;
		return true;
	}
	if (verify_raw_take(r, entry))
		return true;

	if (verify_raw_left(r) && !r->pc_left) {
		before = *r;
		extra = arch_scs_trace_extra(r->tsk, r->from, r->at,
					     r->src->span[r->span].base,
					     &r->verdict);
		r->at -= extra;
		if (extra && verify_raw_take(r, entry))
			return true;
		*r = before;
	}
	/* What can't be explained has the verdict of the plain comparison. */
	r->verdict = SCS_TRACE_NR_VERDICTS;
	return false;
}

/* Whether the collector would store the same again from what it was shown. */
static bool verify_copied(const struct scs_trace_source *src,
			  const unsigned long *store, unsigned int nr,
			  unsigned int size, unsigned int skip, bool nosched)
{
	struct verify_raw r = { .src = src, .at = src->span[0].top,
				.pc_left = src->has_pc };
	unsigned int n = 0;

	while (n < size && verify_raw_left(&r)) {
		unsigned long entry = r.pc_left ? src->pc :
						  verify_entry(--r.at);

		r.pc_left = false;
		if (nosched && in_sched_functions(entry))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		if (n >= nr || store[n++] != entry)
			return false;
	}
	return n == nr;
}

/**
 * struct verify_trace - a trace that was handed out
 * @way: how it was had
 * @tsk: whose it is
 * @regs: where it starts; NULL for the collector's caller
 * @top: one past its first entry, on the shadow call stack of the current task
 * @own: how many entries of a walk lie before it, when verify_run() walks
 * @at: its first entry
 * @step: where the next one lies
 * @nr: how many entries it has
 * @size: how many it was allowed to have
 * @skip: how many were left out
 * @nosched: whether the scheduler's functions were left out
 * @whole: whether it goes on to the end
 * @index: set to the first entry that differs
 */
struct verify_trace {
	enum verify_way way;
	struct task_struct *tsk;
	struct pt_regs *regs;
	const unsigned long *top;
	unsigned int own;
	const unsigned long *at;
	int step;
	unsigned int nr;
	unsigned int size;
	unsigned int skip;
	bool nosched;
	bool whole;
	unsigned int index;
};

/* Go on behind a function whose x29 has ended the walk or led it astray. */
static void verify_resume(struct verify_raw *r)
{
	const unsigned long *at;

	do {
		if (r->pc_left || !verify_raw_left(r))
			return;
		at = r->at;
		r->from = arch_scs_trace_frameless(r->tsk, r->from, &r->at,
						   r->src->span[r->span].base);
		if (!r->from)
			return;
		r->verdict = SCS_TRACE_EXPLAINED_FRAMELESS;
		if (!arch_scs_trace_follow(r->tsk, r->from, verify_raw_consume, r))
			r->verdict = SCS_TRACE_NR_VERDICTS;
	} while (r->at != at);
}

/* Whether a trace to be read in place is what lies on the shadow call stack. */
static bool verify_placed(const struct scs_trace_source *src,
			  const struct verify_trace *t)
{
	unsigned long size = src->span[0].top - src->span[0].base;

	return !src->has_pc && t->nr == size && t->whole == (src->nr_spans == 1);
}

/* The walk starts in here, one call further down than verify_run()'s. */
static noinline enum scs_trace_verdict
verify_explain(const struct verify_trace *t, enum scs_trace_verdict verdict)
{
	struct scs_trace_source src;
	struct verify_raw r = { .src = &src, .tsk = t->tsk };
	int err;

	if (t->regs)
		err = arch_scs_trace_regs(t->regs, t->top, &src);
	else if (t->tsk == current)
		err = arch_scs_trace_current(t->top, &src);
	else
		err = arch_scs_trace_task(t->tsk, &src);
	if (err)
		return verdict;

	if (t->way == IN_PLACE ? !verify_placed(&src, t) :
				 !verify_copied(&src, t->at, t->nr, t->size,
						t->skip, t->nosched))
		return verdict;

	r.at = src.span[0].top;
	r.pc_left = src.has_pc;
	r.skip = t->own ? t->own + 1 : 0;
	r.from = t->regs ? (unsigned long)t->regs->stackframe : 0;
	r.verdict = SCS_TRACE_SAME;
	arch_stack_walk(verify_raw_consume, &r, t->tsk, t->regs);
	verify_resume(&r);
	if (r.verdict == SCS_TRACE_NR_VERDICTS || verify_raw_left(&r))
		return verdict;
	return r.verdict == SCS_TRACE_SAME ? verdict : r.verdict;
}

static noinline enum scs_trace_verdict verify_run(struct verify_trace *t)
{
	enum scs_trace_verdict verdict;
	struct verify_cursor c = {
		.skip = t->own + t->skip,
		.nosched = t->nosched,
		.at = t->at,
		.step = t->step,
		.left = t->nr,
		.whole = t->whole,
	};

	if (t->nr > t->size)
		return SCS_TRACE_OVERRUN;
	if (!t->size)
		return SCS_TRACE_UNCHECKED_EMPTY;

	/*
	 * The checker's own frames are left out with those that the caller
	 * skips: none of them is one of the scheduler's.
	 */
	arch_stack_walk(verify_consume, &c, t->tsk, t->regs);
	verify_end(&c);
	t->index = c.index;
	verdict = c.verdict;
	if (verdict != SCS_TRACE_SAME && t->way != WALKED)
		verdict = verify_explain(t, verdict);
	/* No tail call: it counts the frames. */
	barrier();
	return verdict;
}

/* === Reporting ============================================================ */

static enum verify_context verify_context(void)
{
	if (in_nmi())
		return IN_NMI;
	if (in_hardirq())
		return IN_HARDIRQ;
	return in_serving_softirq() ? IN_SOFTIRQ : IN_TASK;
}

struct verify_print {
	const struct verify_trace *trace;
	unsigned int skip;
	unsigned int index;
};

static bool verify_print_entry(void *cookie, unsigned long entry)
{
	struct verify_print *p = cookie;
	const struct verify_trace *t = p->trace;
	unsigned long have;

	if (t->nosched && in_sched_functions(entry))
		return true;
	if (p->skip) {
		p->skip--;
		return true;
	}
	if (p->index < t->nr) {
		have = verify_entry(t->at + t->step * (int)p->index);
		pr_warn("%3u %s %pS | %pS\n", p->index,
			have == entry ? " " : "!", (void *)have, (void *)entry);
	} else {
		pr_warn("%3u ! - | %pS\n", p->index, (void *)entry);
	}
	p->index++;
	return true;
}

/* The walk starts in here, one call further down than verify_run()'s. */
static noinline void verify_print(const struct verify_trace *t,
				  enum scs_trace_verdict verdict)
{
	struct verify_print p = {
		.trace = t,
		.skip = t->own + t->skip + !!t->own,
	};
	enum verify_context context = verify_context();

	pr_warn("%s at entry %u: %s, %u of %u entries, skip %u, in %s%s of %s/%d on CPU %d\n",
		verify_verdicts[verdict], t->index, verify_ways[t->way], t->nr,
		t->size, t->skip, verify_contexts[context],
		t->regs ? ", from registers" : "", t->tsk->comm,
		task_pid_nr(t->tsk), raw_smp_processor_id());
	pr_warn("    handed out | arch_stack_walk()\n");
	arch_stack_walk(verify_print_entry, &p, t->tsk, t->regs);
	for (; p.index < t->nr; p.index++)
		pr_warn("%3u ! %pS | -\n", p.index,
			(void *)verify_entry(t->at + t->step * (int)p.index));
}

static noinline void verify_report(const struct verify_trace *t,
				   enum scs_trace_verdict verdict)
{
	unsigned long flags;

	/*
	 * The caller may hold any lock, the console's and a run queue's
	 * included, and may be an NMI that interrupted this very function.
	 */
	local_irq_save(flags);
	if (!raw_cpu_xchg(verify_printing, 1)) {
		if (!test_and_set_bit(verdict, &verify_printed)) {
			printk_deferred_enter();
			verify_print(t, verdict);
			printk_deferred_exit();
		}
		raw_cpu_write(verify_printing, 0);
	}
	local_irq_restore(flags);

	if (verify_panic && verdict >= SCS_TRACE_MISSING)
		panic("scs_trace: %s, unexplained, and scs_trace_verify=panic\n",
		      verify_verdicts[verdict]);
}

static void verify_count(const struct verify_trace *t,
			 enum scs_trace_verdict verdict)
{
	struct verify_counters *counters = raw_cpu_ptr(&verify_counters);

	raw_atomic64_inc(&counters->verdict[verdict]);
	if (verdict == SCS_TRACE_UNCHECKED_RAN ||
	    verdict == SCS_TRACE_UNCHECKED_EMPTY)
		return;
	raw_atomic64_add(t->nr, &counters->frames);
	raw_atomic64_inc(&counters->context[verify_context()]);
	raw_atomic64_inc(&counters->way[t->way]);
}

/* === Interface ============================================================ */

/*
 * How many entries a walk in verify_run() has before the newest one on the shadow
 * call stack of its caller: its own and that of its caller.
 */
#define VERIFY_OWN	2

static __always_inline void
verify_count_and_report(const struct verify_trace *t,
			enum scs_trace_verdict verdict)
{
	verify_count(t, verdict);
	if (unlikely(verdict >= SCS_TRACE_EXPLAINED_RECORD))
		verify_report(t, verdict);
}

/**
 * scs_trace_verify() - check a trace of the current task
 * @top: one past the trace's first entry, none skipped, on the shadow call stack
 *	in use; NULL where that is the return address of our caller
 * @store: its entries, the newest first
 * @nr: how many
 * @size: how many could have been stored
 * @skipnr: how many of the newest were left out
 * @tsk: the current task, where the scheduler's functions were left out; or NULL
 * @regs: where the trace starts; or NULL
 *
 * What lies above @top are the collector's functions and this one: so many entries
 * of the walk are left out.
 *
 * Context: any, NMI included. Takes no locks; a report is printed deferred.
 */
noinline void scs_trace_verify(const unsigned long *top,
			       const unsigned long *store, unsigned int nr,
			       unsigned int size, unsigned int skipnr,
			       struct task_struct *tsk, struct pt_regs *regs)
{
	const unsigned long *sp = arch_scs_trace_sp();
	struct verify_trace t = {
		.way = regs ? FROM_REGS : SAVED,
		.tsk = current,
		.regs = regs,
		.top = top ?: sp - 1,
		.at = store,
		.step = 1,
		.nr = nr,
		.size = size,
		.skip = skipnr,
		.nosched = tsk,
		.whole = nr < size,
	};

	if (!regs)
		t.own = VERIFY_OWN + (sp - t.top);
	verify_count_and_report(&t, verify_run(&t));
}

/**
 * scs_trace_verify_task() - check a trace of another task
 * @store: its entries, the newest first
 * @nr: how many
 * @size: how many could have been stored
 * @skipnr: how many of the newest were left out
 * @tsk: the task; the caller holds a reference to it and its stack
 * @switches: how often it had been switched out before the trace was read
 *
 * Context: any, NMI included. Takes no locks; a report is printed deferred.
 */
noinline void scs_trace_verify_task(const unsigned long *store,
				    unsigned int nr, unsigned int size,
				    unsigned int skipnr,
				    struct task_struct *tsk,
				    unsigned long switches)
{
	struct verify_trace t = {
		.way = OTHER_TASK,
		.tsk = tsk,
		.at = store,
		.step = 1,
		.nr = nr,
		.size = size,
		.skip = skipnr,
		.nosched = true,
		.whole = nr < size,
	};
	enum scs_trace_verdict verdict = verify_run(&t);

	/* Pairs with the full barrier in __switch_to(), as in the collector. */
	smp_rmb();
	if (verdict != SCS_TRACE_UNCHECKED_EMPTY &&
	    scs_trace_task_ran(tsk, switches))
		verdict = SCS_TRACE_UNCHECKED_RAN;
	verify_count_and_report(&t, verdict);
}

/**
 * scs_trace_verify_walk() - check a trace off the current task's frame records
 * @pc: the trace's first entry, none skipped
 * @fp: the frame pointer of the function that @pc lies in
 * @store: its entries, the newest first
 * @nr: how many
 * @size: how many could have been stored
 * @skipnr: how many of the newest were left out
 *
 * Nothing explains a difference between two ways to read the same records.
 *
 * Context: any, NMI included. Takes no locks; a report is printed deferred.
 */
noinline void scs_trace_verify_walk(unsigned long pc, unsigned long fp,
				    const unsigned long *store,
				    unsigned int nr, unsigned int size,
				    unsigned int skipnr)
{
	/* All that arch_stack_walk() looks at. */
	struct pt_regs regs = { .pc = pc, .regs[29] = fp };
	struct verify_trace t = {
		.way = WALKED,
		.tsk = current,
		.regs = &regs,
		.at = store,
		.step = 1,
		.nr = nr,
		.size = size,
		.skip = skipnr,
		.whole = nr < size,
	};

	verify_count_and_report(&t, verify_run(&t));
}

/**
 * scs_trace_verify_in_place() - check a trace that is going to be read in place
 * @top: one past its newest entry, on the shadow call stack in use
 * @nr: how many entries it has
 * @whole: whether it goes on to the end
 *
 * Context: any, NMI included. Takes no locks; a report is printed deferred.
 */
noinline void scs_trace_verify_in_place(const unsigned long *top,
					unsigned long nr, bool whole)
{
	const unsigned long *sp = arch_scs_trace_sp();
	struct verify_trace t = {
		.way = IN_PLACE,
		.tsk = current,
		.top = top,
		.own = VERIFY_OWN + (sp - top),
		.at = top - 1,
		.step = -1,
		.nr = nr,
		.size = nr,
		.whole = whole,
	};

	verify_count_and_report(&t, verify_run(&t));
}

/**
 * scs_trace_compare() - what scs_trace_verify() would find, without counting it
 * @store: entries of the current task's trace, the newest first
 * @nr: how many
 * @size: how many could have been stored
 * @skipnr: how many of the newest were left out; with 0 none of the entries that
 *	lie after the caller's
 *
 * Context: any, NMI included.
 * Return: the verdict.
 */
noinline enum scs_trace_verdict scs_trace_compare(const unsigned long *store,
						  unsigned int nr,
						  unsigned int size,
						  unsigned int skipnr)
{
	const unsigned long *sp = arch_scs_trace_sp();
	struct verify_trace t = {
		.way = SAVED,
		.tsk = current,
		.top = sp,
		.own = VERIFY_OWN,
		.at = store,
		.step = 1,
		.nr = nr,
		.size = size,
		.skip = skipnr,
		.whole = nr < size,
	};
	enum scs_trace_verdict verdict = verify_run(&t);

	/* No tail call: verify_run() counts the frames. */
	barrier();
	return verdict;
}

/* === Switches and statistics ============================================== */

static int __init scs_trace_verify_setup(char *arg)
{
	if (arg && !strcmp(arg, "panic"))
		verify_panic = true;
	else if (arg && !strcmp(arg, "report"))
		verify_panic = false;
	else
		pr_warn("unknown value scs_trace_verify=%s, use panic or report; it stays %s\n",
			arg ?: "", verify_panic ? "panic" : "report");
	return 0;
}
early_param("scs_trace_verify", scs_trace_verify_setup);

/* See scs_trace_counters_init(). */
static int __init verify_counters_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (cpu != smp_processor_id())
			memset(per_cpu_ptr(&verify_counters, cpu), 0,
			       sizeof(struct verify_counters));
	return 0;
}
early_initcall(verify_counters_init);

static u64 verify_sum(size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		void *counters = per_cpu_ptr(&verify_counters, cpu);

		sum += atomic64_read((atomic64_t *)(counters + offset));
	}
	return sum;
}

#define VERIFY_SUM(member) \
	verify_sum(offsetof(struct verify_counters, member))

static int scs_trace_verify_show(struct seq_file *m, void *unused)
{
	u64 checked = 0, unexplained = 0;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++)
		checked += VERIFY_SUM(context[i]);
	for (i = SCS_TRACE_MISSING; i < SCS_TRACE_NR_VERDICTS; i++)
		unexplained += VERIFY_SUM(verdict[i]);

	seq_printf(m, "checked: %llu\n", checked);
	seq_printf(m, "unexplained: %llu\n", unexplained);
	seq_printf(m, "frames: %llu\n", VERIFY_SUM(frames));
	for (i = 0; i < NR_CONTEXTS; i++)
		seq_printf(m, "checked_%s: %llu\n", verify_contexts[i],
			   VERIFY_SUM(context[i]));
	for (i = 0; i < NR_WAYS; i++)
		seq_printf(m, "checked_%s: %llu\n", verify_ways[i],
			   VERIFY_SUM(way[i]));
	for (i = 0; i < SCS_TRACE_NR_VERDICTS; i++)
		seq_printf(m, "%s: %llu\n", verify_verdicts[i],
			   VERIFY_SUM(verdict[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(scs_trace_verify);

/**
 * scs_trace_verify_debugfs() - show what was checked
 * @dir: where
 *
 * Context: process context, may sleep.
 */
void __init scs_trace_verify_debugfs(struct dentry *dir)
{
	debugfs_create_file("verify", 0444, dir, NULL, &scs_trace_verify_fops);
}
