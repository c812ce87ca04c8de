// SPDX-License-Identifier: GPL-2.0
/* Proves where an arm64 shadow call stack rightly knows more than the frame records do. */

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/scs_trace.h>
#include <linux/types.h>

#include <asm/insn.h>
#include <asm/patching.h>
#include <asm/pointer_auth.h>
#include <asm/processor.h>
#include <asm/stacktrace.h>
#include <asm/traps.h>

/* === Data ================================================================= */

#define INSN_POP_X30		0xf85f8e5e	/* ldr x30, [x18, #-8]! */
#define INSN_DROP		0xd1002252	/* sub x18, x18, #8 */
#define INSN_DROP_PAIR		0xd1004252	/* sub x18, x18, #16 */
#define INSN_POP_PAIR		0xa9ff7a49	/* ldp x9, x30, [x18, #-16]! */
#define INSN_UNWIND		0x91002152	/* add x18, x10, #8 */
#define INSN_SET_FP		0x910003fd	/* add x29, sp, #0 */
#define INSN_SET_FP_MASK	0xff8003ff	/* with any other number for 0 */

/* More than any function has between a push and the record, or record and pop. */
#define MAX_INSNS		64

/* More than lies between the stack pointer of a leaf and its caller's record. */
#define MAX_WORDS		512

/* === Finding what was interrupted ========================================= */

static bool on_known_stack(struct task_struct *tsk, unsigned long addr,
			   unsigned long size)
{
	if (on_task_stack(tsk, addr, size))
		return true;
	return tsk == current && !preemptible() && on_irq_stack(addr, size);
}

/*
 * Find the registers that kernel entry saved when it pushed the entry at @at of a
 * shadow call stack of @tsk. They lie around the frame record that entry code
 * makes, so follow the records, from @fp or from the newest on: it is the one after
 * a record that leads to entry code. Another task may run meanwhile, which leads
 * anywhere, but not off its stack, and the caller drops what was found then.
 */
static noinline const struct pt_regs *
interrupted_regs(struct task_struct *tsk, unsigned long fp,
		 const unsigned long *at)
{
	bool from_entry = false;
	unsigned int i;

	if (!fp && tsk == current)
		fp = (unsigned long)__builtin_frame_address(0);
	else if (!fp)
		fp = thread_saved_fp(tsk);

	for (i = 0; i < 2 * SCS_TRACE_MAX_DEPTH; i++) {
		const unsigned long *record = (const unsigned long *)fp;
		const struct pt_regs *regs;
		unsigned long lr;

		if (fp & 7 || !on_known_stack(tsk, fp, 2 * sizeof(*record)))
			return NULL;
		lr = READ_ONCE(record[1]);
		regs = container_of((const u64 (*)[2])record, struct pt_regs,
				    stackframe);
		if (from_entry &&
		    on_known_stack(tsk, (unsigned long)regs, sizeof(*regs)) &&
		    regs->regs[18] == (unsigned long)at &&
		    lr == READ_ONCE(*at) && regs->regs[29] == record[0])
			return regs;
		from_entry = in_entry_text(ptrauth_strip_kernel_insn_pac(lr));
		fp = READ_ONCE(record[0]);
	}
	return NULL;
}

/* The program counter without kprobes, which have instructions executed elsewhere. */
static unsigned long unprobed_pc(const struct pt_regs *regs)
{
	unsigned long pc = regs->stackframe[1];
#ifdef CONFIG_KPROBES
	struct kprobe *kp = raw_cpu_read(current_kprobe);

	if (kp && pc == (unsigned long)(kp->ainsn.api.insn + 1))
		return (unsigned long)(kp->addr + 1);
#endif
	return pc;
}

/* Read the instruction at @pc, or what a kprobe has taken its place. */
static bool read_unprobed(unsigned long pc, u32 *insn)
{
	if (aarch64_insn_read((void *)pc, insn))
		return false;
#ifdef CONFIG_KPROBES
	if (aarch64_insn_is_brk(*insn)) {
		struct kprobe *kp;

		/* For get_kprobe(). */
		rcu_read_lock_sched_notrace();
		kp = get_kprobe((void *)pc);
		if (kp)
			*insn = kp->opcode;
		rcu_read_unlock_sched_notrace();
	}
#endif
	return true;
}

/*
 * How many entries there are, right above those of the records that x29 leads to,
 * whose records the code at @pc either is going to make or has left. It is read on
 * straight ahead, with no branch in between: in a prologue to where x29 is made to
 * point to a new record, once or twice; in an epilogue to where x30 is popped, or in
 * assembly what was pushed is taken off. A pair that is popped had two records,
 * which are left one after the other right before.
 */
static unsigned int entries_ahead(unsigned long pc)
{
	unsigned int i, records = 0;
	u32 insn;

	for (i = 0; i < MAX_INSNS; i++, pc += AARCH64_INSN_SIZE) {
		if (!read_unprobed(pc, &insn))
			break;
		if ((insn & INSN_SET_FP_MASK) == INSN_SET_FP)
			records++;
		else if (insn == INSN_POP_X30 || insn == INSN_DROP)
			return records ?: 1;
		else if (insn == INSN_POP_PAIR)
			return records ?: (i ? 1 : 2);
		else if (aarch64_insn_is_branch(insn) ||
			 aarch64_insn_is_exception(insn) ||
			 aarch64_insn_is_eret(insn))
			break;
	}
	return records;
}

static bool at_insn(unsigned long pc, u32 wanted)
{
	u32 insn;

	return read_unprobed(pc, &insn) && insn == wanted;
}

static bool entry_is(const unsigned long *entry, unsigned long reg)
{
	return arch_scs_trace_strip(READ_ONCE(*entry)) ==
	       ptrauth_strip_kernel_insn_pac(reg);
}

/*
 * How many entries a BPF exception callback is going to take off with the next
 * instruction, which lets x18 point one past the entry that x10 points to.
 */
static unsigned int entries_unwound(const struct pt_regs *regs, unsigned long pc,
				    const unsigned long *at,
				    const unsigned long *base)
{
	const unsigned long *found = (const unsigned long *)regs->regs[10];

	if (!at_insn(pc, INSN_UNWIND) || regs->regs[10] & 7 ||
	    found < base || found >= at || !entry_is(found, regs->regs[30]))
		return 0;
	return at - found - 1;
}

/*
 * Whether the function around @pc has no instruction that lets x29 point to a record
 * of its own. What is in it then is its caller's, or anything at all.
 */
static bool never_sets_fp(unsigned long pc)
{
	unsigned long size, offset, at;
	u32 insn;

	if (!kallsyms_lookup_size_offset(pc, &size, &offset))
		return false;
	for (at = pc - offset; at < pc - offset + size; at += AARCH64_INSN_SIZE)
		if (!read_unprobed(at, &insn) ||
		    (insn & INSN_SET_FP_MASK) == INSN_SET_FP)
			return false;
	return true;
}

/* Whether a record, and the one that it leads to, return to what lies below @at. */
static bool record_returns(struct task_struct *tsk, const u64 *record,
			   const unsigned long *at, const unsigned long *base)
{
	const u64 *next = (const u64 *)READ_ONCE(record[0]);

	if (!entry_is(at - 1, READ_ONCE(record[1])) || (unsigned long)next & 7 ||
	    !on_known_stack(tsk, (unsigned long)next, 2 * sizeof(*next)))
		return false;
	return at - base < 2 || entry_is(at - 2, READ_ONCE(next[1]));
}

/* === Proofs =============================================================== */

/**
 * arch_scs_trace_extra() - whether a walk must miss what the shadow call stack has
 * @tsk: whose shadow call stack it is
 * @at: one past the entry that the walk doesn't have
 * @base: the oldest entry
 * @verdict: set to the explanation, if there is one
 *
 * Only right after the entry that kernel entry pushed: the interrupted program
 * counter, at x18 as it was interrupted. @at[-1] was the newest entry then.
 *
 * SCS_TRACE_EXPLAINED_RECORD: a function F was interrupted between its push and
 * its record. x30 as interrupted is @at[-1], which is F's return address: F has
 * not called anything since it pushed x30, or has loaded it again in order to
 * return. Were F's record the one that x29 points to, the walk would have found
 * the same address there. From the interrupted instruction straight ahead the
 * code comes to where x29 is set to a new record, or where x30 is popped. So F is
 * active, and its caller is missing in the walk. The same holds for code that makes
 * two records, between the two: its x30 belongs to the second. And for a BPF
 * exception, between the two instructions that take x29 and x18 back to the
 * program that is left: x10 tells where its entry is, and x30 what that is.
 *
 * SCS_TRACE_EXPLAINED_FTRACE: ftrace_caller and BPF trampolines push two entries,
 * x9 and x30, before they make two records. Where both registers are the two newest
 * entries, and two records are still to be made or were just left, none of them is
 * what x29 leads to. ftrace_caller drops its entries after it restored x29, by an
 * instruction that is nowhere else.
 *
 * Return: how many entries the walk must miss, or 0 where there is no proof that
 * it must miss any. Any context.
 */
unsigned int __kprobes arch_scs_trace_extra(struct task_struct *tsk,
					    const unsigned long *at,
					    const unsigned long *base,
					    enum scs_trace_verdict *verdict)
{
	const struct pt_regs *regs = interrupted_regs(tsk, 0, at);
	unsigned int ahead, unwound;
	unsigned long pc;

	if (!regs || at <= base)
		return 0;
	pc = unprobed_pc(regs);
	ahead = entries_ahead(pc);

	if (at - base >= 2 &&
	    (at_insn(pc, INSN_DROP_PAIR) ||
	     (ahead == 2 && entry_is(at - 1, regs->regs[30]) &&
	      entry_is(at - 2, regs->regs[9])))) {
		*verdict = SCS_TRACE_EXPLAINED_FTRACE;
		return 2;
	}
	if (ahead == 1 && entry_is(at - 1, regs->regs[30])) {
		*verdict = SCS_TRACE_EXPLAINED_RECORD;
		return 1;
	}
	unwound = entries_unwound(regs, pc, at, base);
	if (unwound)
		*verdict = SCS_TRACE_EXPLAINED_RECORD;
	return unwound;
}

/**
 * arch_scs_trace_frameless() - where a walk goes on that a function without a
 * record ended or led astray
 * @tsk: whose shadow call stack it is
 * @from: the record to look for the interrupted registers from, 0 for the newest
 * @at: one past the entry that the walk doesn't have
 * @base: the oldest entry
 *
 * As for arch_scs_trace_extra(), @at[-1] was the newest entry when a function F was
 * interrupted, whose program counter is the last entry that the walk has.
 *
 * SCS_TRACE_EXPLAINED_FRAMELESS: F has no instruction that sets x29 to a record, so
 * x29 doesn't tell F's caller. A compiler may do so in a leaf, whose frame pointer it
 * leaves out, and keeps anything in x29 where it runs out of registers: clang does in
 * blake2s_compress_generic() and inflate_fast(). F has saved x29 on its stack, beside
 * x30 where it pushed that; and if it didn't, the record of F's caller comes next
 * there. Either returns to what @at[-1] says, and so does the pair of both registers
 * where nothing is saved yet. The record that it leads to returns to @at[-2]. That is
 * the way on, if all records from there are the shadow call stack's entries: the
 * checker compares them, down to the oldest one.
 *
 * Return: the record for arch_scs_trace_follow(), or 0 where there is none. Any context.
 */
unsigned long __kprobes arch_scs_trace_frameless(struct task_struct *tsk,
						 unsigned long from,
						 const unsigned long *at,
						 const unsigned long *base)
{
	const struct pt_regs *regs = interrupted_regs(tsk, from, at);
	const u64 *record;
	unsigned int i;

	if (!regs || !never_sets_fp(unprobed_pc(regs)))
		return 0;
	if (record_returns(tsk, &regs->regs[29], at, base))
		return (unsigned long)&regs->regs[29];

	record = (const u64 *)(regs->sp & ~7UL);
	for (i = 0; i < MAX_WORDS; i++, record++) {
		if (!on_known_stack(tsk, (unsigned long)record,
				    2 * sizeof(*record)))
			break;
		if (record_returns(tsk, record, at, base))
			return (unsigned long)record;
	}
	return 0;
}

/**
 * arch_scs_trace_follow() - walk from any record on
 * @tsk: whose it is
 * @fp: where it lies
 * @consume: called with each return address, until it returns false
 * @cookie: handed to @consume
 *
 * For the checker alone: it knows no stacks but the task's and the interrupts', and
 * no return addresses that were replaced.
 *
 * Context: any, NMI included.
 */
void __kprobes arch_scs_trace_follow(struct task_struct *tsk, unsigned long fp,
				     bool (*consume)(void *cookie,
						     unsigned long entry),
				     void *cookie)
{
	unsigned int i;

	for (i = 0; i < 2 * SCS_TRACE_MAX_DEPTH; i++) {
		const u64 *record = (const u64 *)fp;

		if (fp == (unsigned long)task_pt_regs(tsk)->stackframe ||
		    fp & 7 || !on_known_stack(tsk, fp, 2 * sizeof(*record)) ||
		    !consume(cookie,
			     ptrauth_strip_kernel_insn_pac(READ_ONCE(record[1]))))
			return;
		fp = READ_ONCE(record[0]);
	}
}
