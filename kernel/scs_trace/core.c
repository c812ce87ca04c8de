// SPDX-License-Identifier: GPL-2.0
/* The collector: copies a trace from where the shadow call stack holds it, or says why it can't. */

#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/scs.h>
#include <linux/scs_trace.h>

#include "scs_trace.h"

/* === Fast path: the current task, in task context ========================= */

static __always_inline int scs_trace_count(unsigned int frames)
{
	struct scs_trace_counters *counters = raw_cpu_ptr(&scs_trace_counters);

	raw_atomic64_inc(&counters->traces);
	raw_atomic64_add(frames, &counters->frames);
	return frames;
}

/* Load a pair before storing it, so that both take one instruction. */
static __always_inline void
scs_trace_copy_pair(unsigned long *store, const unsigned long *newest)
{
	unsigned long newer = newest[0];
	unsigned long older = newest[-1];

	store[0] = arch_scs_trace_strip(newer);
	store[1] = arch_scs_trace_strip(older);
}

static __always_inline void
scs_trace_copy_quad(unsigned long *store, const unsigned long *newest)
{
	scs_trace_copy_pair(store, newest);
	scs_trace_copy_pair(store + 2, newest - 2);
}

/*
 * Copy @nr entries, from the one at @newest down to older ones. This is where a
 * trace costs most: steps of eight make it less than two instructions an entry.
 */
static __always_inline void
scs_trace_copy(unsigned long *store, const unsigned long *newest,
	       unsigned int nr)
{
	unsigned int eights;

	for (eights = nr / 8; eights; eights--) {
		scs_trace_copy_quad(store, newest);
		scs_trace_copy_quad(store + 4, newest - 4);
		store += 8;
		newest -= 8;
	}
	if (nr & 4) {
		scs_trace_copy_quad(store, newest);
		store += 4;
		newest -= 4;
	}
	if (nr & 2) {
		scs_trace_copy_pair(store, newest);
		store += 2;
		newest -= 2;
	}
	if (nr & 1)
		*store = arch_scs_trace_strip(*newest);
}

static int scs_trace_save_slow(unsigned long *store, unsigned int size,
			       unsigned int skipnr, const unsigned long *sp,
			       unsigned long pc, unsigned long fp);

/**
 * scs_trace_save() - save the current task's trace from the shadow call stack
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out; with 0 the first entry lies in
 *	the caller of this function
 *
 * The entries are those that arch_stack_walk() would report. In hard- and
 * softirq context they go on through the IRQ stack into the interrupted task.
 * What is read lies below x18 and stays as it is until the callers return, so
 * nothing needs to be locked or read twice.
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: the number of entries stored, off the shadow call stack or else off the
 * frame records; or, where neither can be vouched for, what is wrong with the shadow
 * call stack: -ECANCELED (switched off), -EOPNOTSUPP (not in use on this machine, or
 * not wanted),
 * -EBUSY (a tracer replaced return addresses), -EFAULT (x18 points into no known
 * shadow call stack).
 */
noinline int scs_trace_save(unsigned long *store, unsigned int size,
			    unsigned int skipnr)
{
	const unsigned long *sp = arch_scs_trace_sp();
	unsigned long depth;
	int nr;

	if (!scs_trace_plain(sp, &depth))
		return scs_trace_save_slow(store, size, skipnr, sp,
					   scs_trace_caller_pc(),
					   scs_trace_caller_fp());

	if (unlikely(skipnr >= depth)) {
		scs_trace_verify(sp, store, 0, size, skipnr, NULL, NULL);
		return scs_trace_count(0);
	}

	nr = min_t(unsigned long, size, depth - skipnr);
	scs_trace_copy(store, sp - skipnr - 1, nr);
	scs_trace_verify(sp, store, nr, size, skipnr, NULL, NULL);
	return scs_trace_count(nr);
}

/* === Rare path: interrupts, other tasks, saved registers ================== */

/**
 * struct scs_trace_cursor - where the next entry of a trace goes
 * @store: the caller's buffer
 * @size: how many entries fit
 * @skip: how many are still to be left out
 * @len: how many were stored
 */
struct scs_trace_cursor {
	unsigned long *store;
	unsigned int size;
	unsigned int skip;
	unsigned int len;
};

static bool scs_trace_emit(struct scs_trace_cursor *cur, unsigned long entry,
			   bool nosched)
{
	if (nosched && in_sched_functions(entry))
		return true;
	if (cur->len >= cur->size)
		return false;
	if (cur->skip) {
		cur->skip--;
		return true;
	}
	cur->store[cur->len++] = entry;
	return true;
}

static void scs_trace_emit_source(struct scs_trace_cursor *cur,
				  const struct scs_trace_source *src,
				  bool nosched)
{
	const unsigned long *top;
	unsigned int i;

	if (src->has_pc && !scs_trace_emit(cur, src->pc, nosched))
		return;

	for (i = 0; i < src->nr_spans; i++) {
		for (top = src->span[i].top; top > src->span[i].base; top--) {
			/* Racy for another task: the caller finds out. */
			unsigned long entry = READ_ONCE(top[-1]);

			if (!scs_trace_emit(cur, arch_scs_trace_strip(entry),
					    nosched))
				return;
		}
	}
}

/* What forbids any trace from a shadow call stack of @tsk: 0 or an errno. */
static int scs_trace_forbidden(struct task_struct *tsk)
{
	if (!static_branch_likely(&scs_trace_enabled))
		return -ECANCELED;
	if (scs_trace_walks())
		return -EOPNOTSUPP;
	if (scs_trace_hooked(tsk))
		return -EBUSY;
	return 0;
}

static noinline int scs_trace_save_slow(unsigned long *store, unsigned int size,
					unsigned int skipnr,
					const unsigned long *sp,
					unsigned long pc, unsigned long fp)
{
	struct scs_trace_cursor cur = { store, size, skipnr };
	struct scs_trace_source src;
	int err;

	err = scs_trace_forbidden(current);
	if (!err)
		err = arch_scs_trace_current(sp, &src);
	if (err)
		return scs_trace_fall_back(err, pc, fp, store, size, skipnr);

	scs_trace_emit_source(&cur, &src, false);
	scs_trace_verify(sp, store, cur.len, size, skipnr, NULL, NULL);
	return scs_trace_count(cur.len);
}

/**
 * scs_trace_peek_current() - find the newest part of a trace where it lies
 * @top: what scs_trace_peek() set, which failed
 * @span: set to the part of the trace that lies on the shadow call stack in use
 * @whole: set to whether that is all of it
 *
 * For interrupts, too, whose trace goes on in what they interrupted: then @whole
 * is set to false.
 *
 * Context: any, NMI included.
 * Return: false where the trace must be had from stack_trace_save().
 */
noinline bool scs_trace_peek_current(const unsigned long *top,
				     struct scs_trace_span *span, bool *whole)
{
	struct scs_trace_source src;

	if (arch_scs_trace_stripped() || scs_trace_forbidden(current) ||
	    arch_scs_trace_current(top, &src))
		return false;

	raw_cpu_inc(scs_trace_counters.peeks);
	*span = src.span[0];
	*whole = src.nr_spans == 1;
	scs_trace_verify_in_place(span->top, span->top - span->base, *whole);
	return true;
}

/**
 * scs_trace_save_regs() - save the trace of what an exception interrupted
 * @regs: the registers that the exception saved
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out; with 0 the first entry is the
 *	interrupted program counter
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: as scs_trace_save(); or -EINVAL where @regs were not saved by an
 * exception from the kernel that is still being handled by the current task, nor
 * lead to frame records of that task.
 */
noinline int scs_trace_save_regs(struct pt_regs *regs, unsigned long *store,
				 unsigned int size, unsigned int skipnr)
{
	struct scs_trace_cursor cur = { store, size, skipnr };
	struct scs_trace_source src;
	int err;

	err = scs_trace_forbidden(current);
	if (!err)
		err = arch_scs_trace_regs(regs, arch_scs_trace_sp(), &src);
	if (err)
		return scs_trace_fall_back_regs(err, regs, store, size, skipnr);

	scs_trace_emit_source(&cur, &src, false);
	scs_trace_verify(NULL, store, cur.len, size, skipnr, NULL, regs);
	return scs_trace_count(cur.len);
}

/**
 * scs_trace_save_tsk() - save a task's trace, without the scheduler's functions
 * @tsk: the task; the caller holds a reference
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out, as scs_trace_save() counts them
 *	where @tsk is the current task
 *
 * Another task must be switched out all the while: a task that gets a CPU
 * between the two looks at it has on_cpu set or its switches counted, and the
 * full barrier in __switch_to() orders both before anything that it pushes.
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: as scs_trace_save(); or -EAGAIN where another task runs or ran while
 * it was looked at, -ESRCH where it has no shadow call stack or is dead, -EUCLEAN where
 * the end marker of its shadow call stack was overwritten.
 */
noinline int scs_trace_save_tsk(struct task_struct *tsk, unsigned long *store,
				unsigned int size, unsigned int skipnr)
{
	struct scs_trace_cursor cur = { store, size, skipnr };
	struct scs_trace_source src;
	unsigned long switches;
	int err;

	err = scs_trace_forbidden(tsk);
	if (err)
		return scs_trace_count_fallback(err);

	if (tsk == current) {
		err = arch_scs_trace_current(arch_scs_trace_sp(), &src);
		if (err)
			return scs_trace_count_fallback(err);
		scs_trace_emit_source(&cur, &src, true);
		scs_trace_verify(NULL, store, cur.len, size, skipnr, tsk, NULL);
		return scs_trace_count(cur.len);
	}

	/*
	 * A grace period after a task is dead, what kretprobes had pending for it is
	 * dropped, while their trampoline stays in its stacks. If that is why
	 * scs_trace_forbidden() found nothing pending, the task is seen to be dead
	 * here. Pairs with the grace period before delayed_put_task_struct().
	 */
	smp_rmb();
	if (READ_ONCE(tsk->exit_state) == EXIT_DEAD)
		return scs_trace_count_fallback(-ESRCH);

	if (scs_trace_task_running(tsk))
		return scs_trace_count_fallback(-EAGAIN);
	switches = scs_trace_task_switches(tsk);

	err = arch_scs_trace_task(tsk, &src);
	if (err)
		return scs_trace_count_fallback(err);
	scs_trace_emit_source(&cur, &src, true);

	/* Pairs with the full barrier in __switch_to(), see above. */
	smp_rmb();
	if (scs_trace_task_ran(tsk, switches))
		return scs_trace_count_fallback(-EAGAIN);

	scs_trace_verify_task(store, cur.len, size, skipnr, tsk, switches);
	return scs_trace_count(cur.len);
}
