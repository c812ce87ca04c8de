/* SPDX-License-Identifier: GPL-2.0 */
/* The collector's interface: stack traces read off the shadow call stack. */
#ifndef _LINUX_SCS_TRACE_H
#define _LINUX_SCS_TRACE_H

#include <linux/types.h>
#include <asm/errno.h>

struct pt_regs;
struct task_struct;

/**
 * struct scs_trace_span - a part of a shadow call stack that belongs to a trace
 * @top: one past the newest entry
 * @base: the oldest entry
 */
struct scs_trace_span {
	const unsigned long *top;
	const unsigned long *base;
};

#ifdef CONFIG_SCS_TRACE

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/scs.h>
#include <linux/stacktrace.h>

#include <asm/scs_trace.h>

/**
 * enum scs_trace_reason - why a trace was not taken from the shadow call stack
 *
 * The errno that each one is reported as, and its name in the statistics, are in
 * kernel/scs_trace/stats.c.
 */
enum scs_trace_reason {
	SCS_TRACE_OFF,		/* switched off by parameter or debugfs */
	SCS_TRACE_NO_SCS,	/* none, not in use on this CPU or not yet, or not wanted */
	SCS_TRACE_HOOKED,	/* a tracer has replaced return addresses */
	SCS_TRACE_UNKNOWN_STACK,	/* x18 points into no known shadow stack */
	SCS_TRACE_CORRUPTED,	/* the end marker was overwritten */
	SCS_TRACE_RUNNING,	/* another task, and it runs or has run meanwhile */
	SCS_TRACE_NO_STACK,	/* another task, without a shadow stack or dead */
	SCS_TRACE_FOREIGN_REGS,	/* registers that no live exception saved */
	SCS_TRACE_NR_REASONS,
};

/**
 * struct scs_trace_source - where a trace lies, as the architecture found it
 * @pc: the newest entry, where that is on no shadow call stack
 * @has_pc: whether it is so
 * @nr_spans: how many of @span are filled in
 * @span: what follows, from the newest to the oldest
 */
struct scs_trace_source {
	unsigned long pc;
	bool has_pc;
	unsigned int nr_spans;
	struct scs_trace_span span[2];
};

/**
 * struct scs_trace_counters - one CPU's share of the statistics
 * @traces: traces taken from a shadow call stack
 * @frames: entries handed out in them
 * @fallbacks: traces refused, by &enum scs_trace_reason
 * @walks: refused ones that a walk over frame records gave instead
 * @walk_frames: entries handed out in them
 * @walks_declined: refused ones that such a walk could not give either
 * @peeks: traces that were read in place; not atomic for the sake of speed, so
 *	that an interrupt or a migration in the middle may cost the count of some
 * @plain_walks: walks where no shadow call stack is read, not counted among
 *	@fallbacks and @walks; not atomic either
 * @plain_walk_frames: entries handed out in them
 *
 * The others are updated atomically and without a barrier: the sums are exact in
 * every context including NMI, and a task that migrates between finding its CPU's
 * counters and adding to them merely adds to another CPU's.
 */
struct scs_trace_counters {
	unsigned long peeks;
	unsigned long plain_walks;
	unsigned long plain_walk_frames;
	atomic64_t traces;
	atomic64_t frames;
	atomic64_t walks;
	atomic64_t walk_frames;
	atomic64_t walks_declined;
	atomic64_t fallbacks[SCS_TRACE_NR_REASONS];
};

DECLARE_PER_CPU(struct scs_trace_counters, scs_trace_counters);
DECLARE_STATIC_KEY_TRUE(scs_trace_enabled);
DECLARE_STATIC_KEY_TRUE(scs_trace_shadow);

/**
 * enum scs_trace_mode - where traces are taken from
 * @SCS_TRACE_MODE_OFF: the frame-pointer unwinder
 * @SCS_TRACE_MODE_WALK: the collector's own walk over frame records
 * @SCS_TRACE_MODE_ON: shadow call stacks, and that walk where they don't tell
 */
enum scs_trace_mode {
	SCS_TRACE_MODE_OFF,
	SCS_TRACE_MODE_WALK,
	SCS_TRACE_MODE_ON,
};

enum scs_trace_mode scs_trace_mode(void);
void scs_trace_set_mode(enum scs_trace_mode mode);

/*
 * The function graph tracer and kretprobes put their own return address in the
 * place of a function's before that function pushes it. As long as one of them
 * is pending for @tsk, its shadow call stack doesn't tell the trace.
 */
static __always_inline bool scs_trace_hooked(struct task_struct *tsk)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (READ_ONCE(tsk->curr_ret_stack))
		return true;
#endif
#ifdef CONFIG_KRETPROBES
	if (READ_ONCE(tsk->kretprobe_instances.first))
		return true;
#endif
#ifdef CONFIG_RETHOOK
	if (READ_ONCE(tsk->rethooks.first))
		return true;
#endif
	return false;
}

/**
 * enum scs_trace_verdict - what the checker found of a trace
 *
 * In this order: what is right, what was not checked, what is explained, and what
 * is not. kernel/scs_trace/verify.c has their names in the statistics, and
 * Documentation/dev-tools/scs_trace.rst what they mean.
 */
enum scs_trace_verdict {
	SCS_TRACE_SAME,
	SCS_TRACE_UNCHECKED_RAN,
	SCS_TRACE_UNCHECKED_EMPTY,
	SCS_TRACE_EXPLAINED_RECORD,
	SCS_TRACE_EXPLAINED_FTRACE,
	SCS_TRACE_EXPLAINED_FRAMELESS,
	SCS_TRACE_MISSING,
	SCS_TRACE_EXTRA,
	SCS_TRACE_SWAPPED,
	SCS_TRACE_CHANGED,
	SCS_TRACE_SHORTER,
	SCS_TRACE_LONGER,
	SCS_TRACE_OVERRUN,
	SCS_TRACE_NR_VERDICTS,
};

#ifdef CONFIG_SCS_TRACE_VERIFY
unsigned int arch_scs_trace_extra(struct task_struct *tsk, unsigned long from,
				  const unsigned long *at,
				  const unsigned long *base,
				  enum scs_trace_verdict *verdict);
unsigned long arch_scs_trace_frameless(struct task_struct *tsk,
				       unsigned long from,
				       const unsigned long **at,
				       const unsigned long *base);
bool arch_scs_trace_follow(struct task_struct *tsk, unsigned long fp,
			   stack_trace_consume_fn consume, void *cookie);
void scs_trace_verify_in_place(const unsigned long *top, unsigned long nr,
			       bool whole);
void scs_trace_verify_walk(unsigned long pc, unsigned long fp,
			   const unsigned long *store, unsigned int nr,
			   unsigned int size, unsigned int skipnr);
#else
static __always_inline void
scs_trace_verify_in_place(const unsigned long *top, unsigned long nr, bool whole)
{
}

static __always_inline void
scs_trace_verify_walk(unsigned long pc, unsigned long fp,
		      const unsigned long *store, unsigned int nr,
		      unsigned int size, unsigned int skipnr)
{
}
#endif

/*
 * The return address of the function that this is used in, and the frame pointer
 * of the function that it lies in: from the frame record, so as not to keep x30 for
 * a path that is rarely taken.
 */
#define scs_trace_caller_pc()						\
	ptrauth_strip_kernel_insn_pac(((unsigned long *)		\
				       __builtin_frame_address(0))[1])
#define scs_trace_caller_fp()						\
	(((unsigned long *)__builtin_frame_address(0))[0])

/* Whether this kernel has no shadow call stacks to read: all traces are walks. */
static __always_inline bool scs_trace_always_walks(void)
{
	return !IS_ENABLED(CONFIG_SCS_TRACE_SHADOW);
}

/* The same, or they aren't to be read, or this machine has none. */
static __always_inline bool scs_trace_walks(void)
{
	return scs_trace_always_walks() || !scs_is_enabled() ||
	       !static_branch_likely(&scs_trace_shadow);
}

/**
 * scs_trace_walk() - follow frame records, where no shadow call stack is read
 * @pc: the first entry, a return address
 * @fp: the frame pointer of the function that @pc lies in
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out
 *
 * Context: any, NMI included.
 * Return: the number of entries stored. An errno, which nothing has counted yet,
 * where the trace must be had from stack_trace_save().
 */
static __always_inline int scs_trace_walk(unsigned long pc, unsigned long fp,
					  unsigned long *store,
					  unsigned int size, unsigned int skipnr)
{
	struct scs_trace_counters *counters;
	int nr;

	if (!static_branch_likely(&scs_trace_enabled))
		return -ECANCELED;

	nr = arch_scs_trace_walk(pc, fp, store, size, skipnr);
	if (likely(nr >= 0)) {
		scs_trace_verify_walk(pc, fp, store, nr, size, skipnr);
		counters = raw_cpu_ptr(&scs_trace_counters);
		counters->plain_walks++;
		counters->plain_walk_frames += nr;
	}
	return nr;
}

#ifdef CONFIG_SCS_TRACE_SHADOW

/* The part of scs_trace_save() and scs_trace_peek() that is their fast path. */
static __always_inline bool scs_trace_plain(const unsigned long *sp,
					    unsigned long *depth)
{
	*depth = arch_scs_trace_depth(task_scs(current), sp);

	return likely(static_branch_likely(&scs_trace_shadow) &&
		      scs_is_enabled() && *depth < SCS_TRACE_MAX_DEPTH &&
		      !scs_trace_hooked(current));
}

/**
 * scs_trace_peek() - find the current task's trace where it lies
 * @top: set to one past its newest entry, the return address of the function that
 *	this is inlined into, which must not be inlined itself
 * @wanted: false to only have @top set
 *
 * Only where that is simple: in no interrupt that has a stack of its own. What is
 * found stays as it is until the function returns.
 *
 * Context: any, NMI included.
 * Return: number of entries below @top; 0 where the trace must be had otherwise:
 * from scs_trace_peek_current() or from stack_trace_save().
 */
static __always_inline unsigned long scs_trace_peek(const unsigned long **top,
						    bool wanted)
{
	unsigned long depth;

	*top = arch_scs_trace_sp();
	/* Entries that have to be stripped can't be used in place. */
	if (arch_scs_trace_stripped() || !wanted || !scs_trace_plain(*top, &depth))
		return 0;

	raw_cpu_inc(scs_trace_counters.peeks);
	scs_trace_verify_in_place(*top, depth, true);
	return depth;
}

bool scs_trace_peek_current(const unsigned long *top,
			    struct scs_trace_span *span, bool *whole);

#endif /* CONFIG_SCS_TRACE_SHADOW */

int scs_trace_save(unsigned long *store, unsigned int size, unsigned int skipnr);
int scs_trace_save_tsk(struct task_struct *tsk, unsigned long *store,
		       unsigned int size, unsigned int skipnr);
int scs_trace_save_regs(struct pt_regs *regs, unsigned long *store,
			unsigned int size, unsigned int skipnr);

#else /* CONFIG_SCS_TRACE */

#define scs_trace_caller_pc()	0UL
#define scs_trace_caller_fp()	0UL

static inline bool scs_trace_always_walks(void)
{
	return false;
}

static inline bool scs_trace_walks(void)
{
	return false;
}

static inline int scs_trace_walk(unsigned long pc, unsigned long fp,
				 unsigned long *store, unsigned int size,
				 unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

static inline int scs_trace_save(unsigned long *store, unsigned int size,
				 unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

static inline int scs_trace_save_tsk(struct task_struct *tsk,
				     unsigned long *store, unsigned int size,
				     unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

static inline int scs_trace_save_regs(struct pt_regs *regs,
				      unsigned long *store, unsigned int size,
				      unsigned int skipnr)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_SCS_TRACE */

#ifndef CONFIG_SCS_TRACE_SHADOW

static inline unsigned long scs_trace_peek(const unsigned long **top,
					   bool wanted)
{
	return 0;
}

static inline bool scs_trace_peek_current(const unsigned long *top,
					  struct scs_trace_span *span,
					  bool *whole)
{
	return false;
}

#endif /* CONFIG_SCS_TRACE_SHADOW */

#endif /* _LINUX_SCS_TRACE_H */
