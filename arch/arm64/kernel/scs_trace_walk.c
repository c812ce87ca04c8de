// SPDX-License-Identifier: GPL-2.0
/* Follows the current task's frame records, where no shadow call stack tells its trace. */

#include <linux/bits.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/scs_trace.h>

#include <asm/compiler.h>
#include <asm/stacktrace.h>

/* === Data ================================================================= */

/**
 * struct walk - where a walk has come to
 * @fp: a frame record that may be read
 * @last: the last place on the stack in use where one may lie
 * @stacks: what else may be read
 */
struct walk {
	unsigned long fp;
	unsigned long last;
	const struct scs_trace_stacks *stacks;
};

/* === Fast path: no return address is replaced ============================= */

/*
 * A task that no tracer is pending for has none of their trampolines in its records. The
 * function graph tracer counts curr_ret_stack up before it replaces an address, and
 * down when the function's record is gone. A kretprobe's instance is listed before,
 * and what is left when it no longer is arch_kretprobe_fixup_return() has put right.
 */

/* Frame records are aligned as the stack pointer is. */
static __always_inline bool walk_misaligned(unsigned long fp)
{
	return fp & (SCS_TRACE_RECORD_SIZE - 1);
}

/*
 * Whether @fp does not lie from @low up to @last: one branch, where the compiler makes
 * two of them.
 */
static __always_inline bool walk_outside(unsigned long fp, unsigned long low,
					 unsigned long last)
{
	asm goto("	cmp	%0, %1\n"
		 "	ccmp	%0, %2, #2, hs\n"
		 "	b.hi	%l[outside]\n"
		 : : "r" (fp), "r" (low), "r" (last) : "cc" : outside);
	return false;
outside:
	return true;
}

/**
 * struct walk_record - a frame record
 * @next: where the caller's lies
 * @pc: the return address into the caller
 */
struct walk_record {
	unsigned long next;
	unsigned long pc;
};

static_assert(sizeof(struct walk_record) == SCS_TRACE_RECORD_SIZE);

/* Read a frame record once: what is checked must be what is used. */
static __always_inline unsigned long walk_read(unsigned long fp,
					       unsigned long *next)
{
	const struct walk_record *record = (const struct walk_record *)fp;
	unsigned long pc;

	asm volatile("ldp %0, %1, %2" : "=r" (*next), "=r" (pc) : "Q" (*record));
	return ptrauth_strip_kernel_insn_pac(pc);
}

/* Begin at @fp, on the stack that it lies on. False if it lies on none. */
static __always_inline bool walk_begin(struct walk *w, unsigned long fp)
{
	const struct scs_trace_stacks *s = w->stacks;

	if (unlikely(walk_misaligned(fp)))
		return false;
	w->fp = fp;
	w->last = s->final - SCS_TRACE_RECORD_SIZE;
	if (likely(!walk_outside(fp, s->task, w->last)))
		return true;
	w->last = s->irq_end - SCS_TRACE_RECORD_SIZE;
	return s->irq && !walk_outside(fp, s->irq, w->last);
}

/*
 * Go on at @next, which does not follow on the stack in use. That is right where
 * the IRQ stack ends; all else is left to the frame-pointer unwinder: it ends
 * there, or knows one more stack.
 */
static __always_inline bool walk_cross(struct walk *w, unsigned long next)
{
	const struct scs_trace_stacks *s = w->stacks;
	unsigned long last = s->final - SCS_TRACE_RECORD_SIZE;

	if (w->last == last || walk_misaligned(next) ||
	    walk_outside(next, s->task, last))
		return false;
	w->fp = next;
	w->last = last;
	return true;
}

/*
 * Go on at @next, whose record must lie further up the stack than that at @w->fp, or
 * on the next stack.
 */
static __always_inline bool walk_follow(struct walk *w, unsigned long next)
{
	if (likely(next != w->fp && !walk_misaligned(next) &&
		   !walk_outside(next, w->fp, w->last))) {
		w->fp = next;
		return true;
	}
	return walk_cross(w, next);
}

/*
 * Leave out @skipnr entries, the first of which is in the record at @w->fp. Return
 * 0 if the trace ends with them, 1 if it doesn't, or an errno to decline.
 */
static __always_inline int walk_skip(struct walk *w, unsigned int skipnr)
{
	unsigned long next;

	for (; skipnr; skipnr--) {
		walk_read(w->fp, &next);
		if (next == w->stacks->final)
			return 0;
		if (!walk_follow(w, next))
			return -EFAULT;
	}
	return 1;
}

/*
 * Store at @p and below @end the entries of the records from @w->fp on, in steps of
 * two. Return where the next one would go, or NULL to decline. This is where a walk
 * costs most.
 *
 * Each record is checked to lie on the stack, no lower than the one before, before it
 * is read. That it is aligned, and not its own caller, is checked at the end: neither
 * keeps a walk from ending, if only when the buffer is full.
 */
static __always_inline unsigned long *
walk_store(struct walk *w, unsigned long *p, unsigned long *end)
{
	unsigned long fp = w->fp, last = w->last;
	unsigned long even = 0, odd, bits = 0, pc, pc2;

	end--;
	/* Else the compiler makes several pointers of it. */
	OPTIMIZER_HIDE_VAR(p);
again:
	while (p < end) {
		pc = walk_read(fp, &even);
		if (unlikely(walk_outside(even, fp, last))) {
			*p++ = pc;
			odd = even;
			goto left;
		}
		pc2 = walk_read(even, &odd);
		p[0] = pc;
		p[1] = pc2;
		p += 2;
		bits |= even;
		if (unlikely(walk_outside(odd, even, last)))
			goto left;
		bits |= odd;
		fp = odd;
	}

	if (unlikely(fp == even))
		return NULL;
	if (p == end)
		*p++ = walk_read(fp, &odd);
	if (unlikely(walk_misaligned(bits)))
		return NULL;
	return p;

left:
	if (unlikely(walk_misaligned(bits)))
		return NULL;
	if (likely(odd == w->stacks->final))
		return p;
	if (!walk_cross(w, odd))
		return NULL;
	fp = w->fp;
	last = w->last;
	goto again;
}

/* The trace that begins with @pc and goes on in the record at @w->fp. */
static __always_inline int walk_plain(struct walk *w, unsigned long pc,
				      unsigned long *store, unsigned int size,
				      unsigned int skipnr)
{
	unsigned long *p = store;
	int err;

	if (unlikely(skipnr)) {
		err = walk_skip(w, skipnr - 1);
		if (unlikely(err <= 0))
			return err;
	} else {
		*p++ = pc;
	}
	p = walk_store(w, p, store + size);
	return likely(p) ? p - store : -EFAULT;
}

/* === Rare path: from an interrupt into the task =========================== */

static noinline int walk_stacks(unsigned long pc, unsigned long fp,
				unsigned long *store, unsigned int size,
				unsigned int skipnr,
				const struct scs_trace_stacks *stacks)
{
	struct walk w = { .stacks = stacks };

	if (!size)
		return 0;
	if (fp == stacks->final) {
		if (skipnr)
			return 0;
		store[0] = pc;
		return 1;
	}
	if (!walk_begin(&w, fp))
		return -EFAULT;
	return walk_plain(&w, pc, store, size, skipnr);
}

/* === Rare path: return addresses to be recovered ========================== */

/**
 * struct walk_recovery - how far the tracers' records of return addresses are used up
 * @graph_idx: the function graph tracer's
 * @kr_cur: the kretprobes'
 */
struct walk_recovery {
	int graph_idx;
	struct llist_node *kr_cur;
};

/* Put in @pc's place what a tracer put it in the place of, if any did. */
static bool walk_recover(struct walk_recovery *r, unsigned long *pc,
			 unsigned long fp)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (*pc == (unsigned long)return_to_handler) {
		*pc = ftrace_graph_ret_addr(current, &r->graph_idx, *pc,
					    (unsigned long *)fp);
		if (*pc == (unsigned long)return_to_handler)
			return false;
	}
#endif
#ifdef CONFIG_KRETPROBES
	if (is_kretprobe_trampoline(*pc)) {
		*pc = kretprobe_find_ret_addr(current, (void *)fp, &r->kr_cur);
		return *pc;
	}
#endif
	return true;
}

static noinline int walk_hooked(unsigned long pc, unsigned long next,
				unsigned long *store, unsigned int size,
				unsigned int skipnr,
				const struct scs_trace_stacks *stacks)
{
	struct walk w = { .stacks = stacks };
	struct walk_recovery recovery = {};
	unsigned int nr = 0;

	if (!size)
		return 0;

	for (;;) {
		if (!walk_recover(&recovery, &pc, next))
			return -EFAULT;
		if (skipnr)
			skipnr--;
		else
			store[nr++] = pc;
		if (nr == size || next == stacks->final)
			return nr;

		if (!w.fp) {
			if (!walk_begin(&w, next))
				return -EFAULT;
		} else if (!walk_follow(&w, next)) {
			return -EFAULT;
		}
		pc = walk_read(w.fp, &next);
	}
}

/* === Interface ============================================================ */

#define WALK_FINAL	(THREAD_SIZE - sizeof(struct pt_regs) + \
			 offsetof(struct pt_regs, stackframe))

static_assert(IS_ALIGNED(WALK_FINAL, SCS_TRACE_RECORD_SIZE));
static_assert(IS_ALIGNED(IRQ_STACK_SIZE, SCS_TRACE_RECORD_SIZE));

static __always_inline struct scs_trace_stacks walk_task_stack(void)
{
	unsigned long task = (unsigned long)task_stack_page(current);

	return (struct scs_trace_stacks){
		.task = task,
		.final = task + WALK_FINAL,
	};
}

static noinline int walk_current(unsigned long pc, unsigned long fp,
				 unsigned long *store, unsigned int size,
				 unsigned int skipnr, bool hooked)
{
	struct scs_trace_stacks stacks = walk_task_stack();

	/* A per-CPU stack in use means that we can't migrate. */
	if (!preemptible()) {
		stacks.irq = (unsigned long)raw_cpu_read(irq_stack_ptr);
		stacks.irq_end = stacks.irq + IRQ_STACK_SIZE;
	}
	if (hooked)
		return walk_hooked(pc, fp, store, size, skipnr, &stacks);
	return walk_stacks(pc, fp, store, size, skipnr, &stacks);
}

/**
 * arch_scs_trace_walk() - follow the current task's frame records
 * @pc: the first entry, not replaced by a tracer unless one is pending
 * @fp: the frame pointer that goes with it: the record of the function that @pc
 *	lies in
 * @store: where to put the entries, the newest first
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out
 *
 * The entries are those that arch_stack_walk() would report, return addresses that
 * a tracer replaced included. Only the task's and this CPU's IRQ stack are known
 * here, and only a chain of records that leads to the task's final one, or fills the
 * buffer, is vouched for. What is read belongs to callers and stays as it is until
 * they return; what is not a chain of records is neither followed out of the stacks
 * nor for ever.
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: the number of entries stored; -EFAULT where the chain leaves the two
 * stacks or ends before the final record, or what was replaced can't be told. Then
 * @store may have been written to.
 */
int arch_scs_trace_walk(unsigned long pc, unsigned long fp, unsigned long *store,
			unsigned int size, unsigned int skipnr)
{
	struct scs_trace_stacks stacks = walk_task_stack();
	struct walk w = {
		.fp = fp,
		.last = stacks.final - SCS_TRACE_RECORD_SIZE,
		.stacks = &stacks,
	};

	if (unlikely(scs_trace_hooked(current)))
		return walk_current(pc, fp, store, size, skipnr, true);
	if (unlikely(!size || walk_misaligned(fp) ||
		     walk_outside(fp, stacks.task, w.last)))
		return walk_current(pc, fp, store, size, skipnr, false);
	return walk_plain(&w, pc, store, size, skipnr);
}

/**
 * arch_scs_trace_walk_regs() - follow frame records from where an exception was taken
 * @regs: the registers that were saved, or made up
 * @store: where to put the entries; the first is the program counter
 * @size: how many fit into @store
 * @skipnr: how many of the newest to leave out
 *
 * Context: any, NMI included. Never sleeps, takes no locks.
 * Return: as arch_scs_trace_walk(); or -EINVAL without registers of the kernel's.
 */
int arch_scs_trace_walk_regs(const struct pt_regs *regs, unsigned long *store,
			     unsigned int size, unsigned int skipnr)
{
	if (!regs || user_mode(regs))
		return -EINVAL;
	return walk_current(regs->pc, regs->regs[29], store, size, skipnr, true);
}

#ifdef CONFIG_KRETPROBES
/**
 * arch_kretprobe_fixup_return() - put the real return address into traces
 * @regs: what the breakpoint of the kretprobe trampoline saved
 * @addr: where the function whose return was probed returns to
 *
 * The handlers have run, and the kretprobe is about to be no longer pending, from
 * which unwinders know what to put in the trampoline's place. Yet what follows
 * may save a trace: an instance that is let go of goes through call_rcu(). So put
 * the address where they look for it, in the frame record of @regs and on the shadow
 * call stack.
 *
 * Context: debug exception.
 */
void __kprobes arch_kretprobe_fixup_return(struct pt_regs *regs,
					   kprobe_opcode_t *addr)
{
	unsigned long trampoline = (unsigned long)kretprobe_trampoline_addr();

	if (regs->stackframe[1] == trampoline)
		regs->stackframe[1] = (unsigned long)addr;
	arch_scs_trace_replace(regs, trampoline, (unsigned long)addr);
}
#endif

#ifdef CONFIG_SCS_TRACE_KUNIT_TEST
/**
 * arch_scs_trace_walk_within() - follow frame records on made-up stacks, for tests
 * @stacks: the stacks; aligned as stacks are
 * @pc: as for arch_scs_trace_walk()
 * @fp: as for arch_scs_trace_walk(), or anything at all
 * @store: as for arch_scs_trace_walk()
 * @size: as for arch_scs_trace_walk()
 * @skipnr: as for arch_scs_trace_walk()
 * @hooked: whether to recover return addresses, which the current task's tracers
 *	are asked for
 *
 * Context: any.
 * Return: as arch_scs_trace_walk().
 */
int arch_scs_trace_walk_within(const struct scs_trace_stacks *stacks,
			       unsigned long pc, unsigned long fp,
			       unsigned long *store, unsigned int size,
			       unsigned int skipnr, bool hooked)
{
	if (hooked)
		return walk_hooked(pc, fp, store, size, skipnr, stacks);
	return walk_stacks(pc, fp, store, size, skipnr, stacks);
}
#endif
