// SPDX-License-Identifier: GPL-2.0
/* Proves where an arm64 shadow call stack rightly knows more than the frame records do. */

#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/scs_trace.h>
#include <linux/stacktrace.h>
#include <linux/types.h>

#include <asm/insn.h>
#include <asm/patching.h>
#include <asm/pointer_auth.h>
#include <asm/stacktrace.h>
#include <asm/traps.h>

/* === Data ================================================================= */

#define INSN_PUSH_X30		0xf800865e	/* str x30, [x18], #8 */
#define INSN_PUSH_PAIR		0xa8810240	/* stp x0, x0, [x18], #16 */
#define INSN_PUSH_PAIR_MASK	0xffff83e0	/* with any other registers */
#define INSN_POP_X30		0xf85f8e5e	/* ldr x30, [x18, #-8]! */
#define INSN_DROP		0xd1002252	/* sub x18, x18, #8 */
#define INSN_DROP_PAIR		0xd1004252	/* sub x18, x18, #16 */
#define INSN_POP_PAIR		0xa9ff7a49	/* ldp x9, x30, [x18, #-16]! */
#define INSN_UNWIND		0x91002152	/* add x18, x10, #8 */
#define INSN_SET_FP		0x910003fd	/* add x29, sp, #0 */
#define INSN_SET_FP_MASK	0xff8003ff	/* with any other number for 0 */
#define INSN_ADD_SP		0x910003ff	/* add sp, sp, #0 */
#define INSN_SUB_SP		0xd10003ff	/* sub sp, sp, #0 */
#define INSN_MOVE_SP_MASK	0xff8003ff	/* with any other number for 0 */

/* Loads and stores of 64-bit registers, at the stack pointer. */
#define INSN_PAIR		0xa80003e0	/* stp x0, x0, [sp, #0] */
#define INSN_PAIR_MASK		0xfe0003e0	/* ldp, too, any mode, registers, number */
#define INSN_SINGLE		0xf90003e0	/* str x0, [sp, #0] */
#define INSN_SINGLE_MASK	0xff8003e0	/* ldr, too, any register and number */
#define INSN_INDEXED		0xf80007e0	/* str x0, [sp], #0 */
#define INSN_INDEXED_MASK	0xffa007e0	/* ldr, too, pre- and post-index */
#define INSN_LOAD		BIT(22)	/* of all these */
#define INSN_SHIFT_12		BIT(22)	/* of the numbers added to sp */

/* More than any function has between a push and the record, or record and pop. */
#define MAX_INSNS		64

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
 * makes, so follow the records, from @fp or from the newest on: it is @fp or the one
 * after a record that leads to entry code. Another task may run meanwhile, which leads
 * anywhere, but not off its stack, and the caller drops what was found then.
 */
static noinline const struct pt_regs *
interrupted_regs(struct task_struct *tsk, unsigned long fp,
		 const unsigned long *at)
{
	bool from_entry = fp;
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
static unsigned long unprobed_pc(struct task_struct *tsk, const struct pt_regs *regs)
{
	unsigned long pc = regs->stackframe[1];
#ifdef CONFIG_KPROBES
	struct kprobe *kp;

	/* Nothing but an NMI comes between, where only this CPU's can be meant. */
	if (tsk != current || preemptible())
		return pc;
	kp = raw_cpu_read(current_kprobe);
	if (kp && pc == (unsigned long)kp->ainsn.api.insn)
		return (unsigned long)kp->addr;
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

/**
 * struct function - the instructions of a function
 * @start: the first one
 * @end: past the last one
 */
struct function {
	unsigned long start;
	unsigned long end;
};

static bool find_function(unsigned long pc, struct function *f)
{
	unsigned long size, offset;
	bool found;

	/* It relies on that for a module's symbols, and may trace it. */
	preempt_disable_notrace();
	found = kallsyms_lookup_size_offset(pc, &size, &offset);
	preempt_enable_notrace();
	f->start = pc - offset;
	f->end = f->start + size;
	return found;
}

static bool is_push(u32 insn)
{
	return insn == INSN_PUSH_X30 ||
	       (insn & INSN_PUSH_PAIR_MASK) == INSN_PUSH_PAIR;
}

/* Whether there is a push before @pc in the same function. */
static bool has_pushed(unsigned long pc)
{
	struct function f;
	u32 insn;

	if (!find_function(pc, &f))
		return false;
	for (; f.start < pc; f.start += AARCH64_INSN_SIZE)
		if (read_unprobed(f.start, &insn) && is_push(insn))
			return true;
	return false;
}

/*
 * How many entries there are, right above those of the records that x29 leads to,
 * whose records the code at @pc either is going to make or has left. It is read on
 * straight ahead, with no branch in between, and no push either, which would be that
 * of the entry: in a prologue, after a push, to where x29 is made to point to a new
 * record, once or twice; in an epilogue to where x30 is popped, or in assembly what was
 * pushed is taken off. A pair that is popped had two records, which are left one after
 * the other right before.
 */
static unsigned int entries_ahead(unsigned long pc)
{
	unsigned int i, records = 0, popped = 0;
	unsigned long at = pc;
	u32 insn;

	for (i = 0; i < MAX_INSNS && !popped; i++, at += AARCH64_INSN_SIZE) {
		if (!read_unprobed(at, &insn) ||
		    aarch64_insn_is_branch(insn) ||
		    aarch64_insn_is_exception(insn) ||
		    aarch64_insn_is_eret(insn))
			break;
		if (is_push(insn))
			return 0;
		if ((insn & INSN_SET_FP_MASK) == INSN_SET_FP)
			records++;
		else if (insn == INSN_POP_X30 || insn == INSN_DROP)
			popped = 1;
		else if (insn == INSN_POP_PAIR)
			popped = i ? 1 : 2;
	}
	if (records)
		return has_pushed(pc) ? records : 0;
	return popped;
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

/* === Functions without a record =========================================== */

/**
 * struct stack_insn - what an instruction has to do with the stack
 * @moves: how far it moves the stack pointer
 * @stores: whether it stores the register there
 * @loads: whether it loads the register from there
 * @at: where the register lies, above the stack pointer as it was before
 */
struct stack_insn {
	int moves;
	bool stores;
	bool loads;
	int at;
};

static struct stack_insn decode_stack_insn(u32 insn, u32 reg)
{
	enum { POST_INDEX = 1, OFFSET = 2, PRE_INDEX = 3 } mode;
	u32 first = aarch64_insn_decode_register(AARCH64_INSN_REGTYPE_RT, insn);
	u32 second = first;
	struct stack_insn d = { };
	int number;

	if ((insn & INSN_MOVE_SP_MASK) == INSN_ADD_SP ||
	    (insn & INSN_MOVE_SP_MASK) == INSN_SUB_SP) {
		d.moves = aarch64_insn_decode_immediate(AARCH64_INSN_IMM_12, insn);
		if (insn & INSN_SHIFT_12)
			d.moves <<= 12;
		if ((insn & INSN_MOVE_SP_MASK) == INSN_SUB_SP)
			d.moves = -d.moves;
		return d;
	}

	if ((insn & INSN_PAIR_MASK) == INSN_PAIR) {
		number = aarch64_insn_decode_immediate(AARCH64_INSN_IMM_7, insn);
		number = sign_extend32(number, 6) * (int)sizeof(u64);
		mode = insn >> 23 & 3;
		second = aarch64_insn_decode_register(AARCH64_INSN_REGTYPE_RT2,
						      insn);
	} else if ((insn & INSN_SINGLE_MASK) == INSN_SINGLE) {
		number = aarch64_insn_decode_immediate(AARCH64_INSN_IMM_12, insn);
		number *= sizeof(u64);
		mode = OFFSET;
	} else if ((insn & INSN_INDEXED_MASK) == INSN_INDEXED) {
		number = aarch64_insn_decode_immediate(AARCH64_INSN_IMM_9, insn);
		number = sign_extend32(number, 8);
		mode = insn >> 10 & 3;
	} else {
		return d;
	}

	if (mode == POST_INDEX || mode == PRE_INDEX)
		d.moves = number;
	if (mode != POST_INDEX)
		d.at = number;
	if (first != reg)
		d.at += sizeof(u64);
	d.stores = (first == reg || second == reg) && !(insn & INSN_LOAD);
	d.loads = (first == reg || second == reg) && insn & INSN_LOAD;
	return d;
}

/**
 * struct saved_reg - where a register lies as the function was called with it
 * @on_stack: whether it is on the stack, and not in the register still or again
 * @at: where, above the stack pointer
 */
struct saved_reg {
	bool on_stack;
	int at;
};

/*
 * Where the function from @start on, interrupted at @pc, has @reg. Where it stores it
 * first, it saves it, and it makes its stack complete before it branches. What moves
 * the stack pointer in another way than compiled code does is not understood; what is
 * found then isn't the shadow call stack's.
 */
static bool find_saved(unsigned long start, unsigned long pc, u32 reg,
		       struct saved_reg *saved)
{
	bool prologue = false;
	struct stack_insn d;
	unsigned long at;
	u32 insn;

	*saved = (struct saved_reg){ };
	for (at = start; at < pc; at += AARCH64_INSN_SIZE) {
		if (!read_unprobed(at, &insn))
			return false;
		d = decode_stack_insn(insn, reg);
		if (d.stores && !saved->on_stack) {
			saved->on_stack = true;
			saved->at = d.at;
			prologue = true;
		}
		if (aarch64_insn_is_branch(insn))
			prologue = false;
		if (prologue)
			saved->at -= d.moves;
	}
	return true;
}

/*
 * The same where the way out of the function leads straight on from @pc to @end at
 * most: what is loaded last is what the function was called with. After the stack is
 * given back, or the shadow call stack's entry is taken, a branch is a tail call.
 */
static void find_restored(unsigned long pc, unsigned long end, u32 reg,
			  struct saved_reg *saved)
{
	struct saved_reg loaded = { };
	struct stack_insn d;
	bool out = false;
	int moved = 0;
	u32 insn;

	for (; pc < end; pc += AARCH64_INSN_SIZE) {
		if (!read_unprobed(pc, &insn))
			return;
		if (aarch64_insn_is_branch(insn) ||
		    aarch64_insn_is_exception(insn) ||
		    aarch64_insn_is_eret(insn))
			break;
		d = decode_stack_insn(insn, reg);
		if (d.loads)
			loaded = (struct saved_reg){
				.on_stack = true,
				.at = moved + d.at,
			};
		moved += d.moves;
		out |= insn == INSN_POP_X30 || insn == INSN_DROP || moved > 0;
	}
	if (pc < end && (out || aarch64_insn_is_ret(insn) ||
			 aarch64_insn_is_ret_auth(insn)))
		*saved = loaded;
}

/* What @reg was when @f was called, which was interrupted at @pc and with @regs. */
static bool called_with(struct task_struct *tsk, const struct pt_regs *regs,
			const struct function *f, unsigned long pc, u32 reg,
			unsigned long *value)
{
	struct saved_reg saved;
	unsigned long at;

	if (!find_saved(f->start, pc, reg, &saved))
		return false;
	if (saved.on_stack)
		find_restored(pc, f->end, reg, &saved);
	if (!saved.on_stack) {
		*value = regs->regs[reg];
		return true;
	}
	at = regs->sp + saved.at;
	if (at & 7 || !on_known_stack(tsk, at, sizeof(u64)))
		return false;
	*value = READ_ONCE(*(unsigned long *)at);
	return true;
}

/*
 * Whether @f has no instruction that lets x29 point to a record of its own. Set @pushes
 * to whether it pushes x30.
 */
static bool never_sets_fp(const struct function *f, bool *pushes)
{
	unsigned long at;
	u32 insn;

	*pushes = false;
	for (at = f->start; at < f->end; at += AARCH64_INSN_SIZE) {
		if (!read_unprobed(at, &insn) ||
		    (insn & INSN_SET_FP_MASK) == INSN_SET_FP)
			return false;
		*pushes |= insn == INSN_PUSH_X30;
	}
	return true;
}

/* === Proofs =============================================================== */

/**
 * arch_scs_trace_extra() - whether a walk must miss what the shadow call stack has
 * @tsk: whose shadow call stack it is
 * @from: the record to look for the interrupted registers from, 0 for the newest
 * @at: one past the entry that the walk doesn't have
 * @base: the oldest entry
 * @verdict: set to the explanation, if there is one
 *
 * Only right after the entry that kernel entry pushed: the interrupted program
 * counter, at x18 as it was interrupted. @at[-1] was the newest entry then.
 *
 * SCS_TRACE_EXPLAINED_RECORD: a function F was interrupted between its push and
 * its record. There is a push before the interrupted instruction, and x30 as
 * interrupted is @at[-1], which is F's return address: F has not called anything
 * since it pushed x30, or has loaded it again in order to return. Were F's record
 * the one that x29 points to, the walk would have found the same address there. From
 * the interrupted instruction straight ahead the code comes to where x29 is set to a
 * new record, or where x30 is popped, and not to a push before. So F is active, and
 * its caller is missing in the walk. The same holds for code that makes
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
 * Context: any, NMI included.
 * Return: how many entries the walk must miss, or 0 where there is no proof that
 * it must miss any.
 */
unsigned int arch_scs_trace_extra(struct task_struct *tsk, unsigned long from,
				  const unsigned long *at,
				  const unsigned long *base,
				  enum scs_trace_verdict *verdict)
{
	const struct pt_regs *regs = interrupted_regs(tsk, from, at);
	unsigned int ahead, unwound;
	unsigned long pc;

	if (!regs || at <= base)
		return 0;
	pc = unprobed_pc(tsk, regs);
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
 * @at: one past the entry that the walk doesn't have; moved past the function's own
 * @base: the oldest entry
 *
 * As for arch_scs_trace_extra(), (*@at)[-1] was the newest entry when a function F
 * was interrupted, whose program counter is the last entry that the walk has.
 *
 * SCS_TRACE_EXPLAINED_FRAMELESS: F has no instruction that sets x29 to a record, so
 * x29 doesn't tell F's caller. A compiler may do so in a leaf, whose frame pointer it
 * leaves out, and keeps anything in x29, and in x30, where it runs out of registers:
 * clang does in blake2s_compress_generic() and inflate_fast(). Such a function saves
 * what it was called with on its stack, and F's instructions tell where. If F pushes
 * its return address, that is what x30 was, so it has to be the entry, and no
 * record has it. What x29 was leads to the record of F's caller. That is the way on, if
 * all records from there are the shadow call stack's entries: the checker compares
 * them, down to the oldest one. No place on the stack is guessed, so an entry too
 * few, or one that is stale, stays without explanation.
 *
 * Context: any, NMI included.
 * Return: the record for arch_scs_trace_follow(), or 0 where there is none.
 */
unsigned long arch_scs_trace_frameless(struct task_struct *tsk,
				       unsigned long from,
				       const unsigned long **at,
				       const unsigned long *base)
{
	const struct pt_regs *regs = interrupted_regs(tsk, from, *at);
	unsigned long pc, fp, lr;
	struct function f;
	bool pushes;

	if (!regs || *at <= base)
		return 0;
	pc = unprobed_pc(tsk, regs);
	if (!find_function(pc, &f) || !never_sets_fp(&f, &pushes) ||
	    !called_with(tsk, regs, &f, pc, AARCH64_INSN_REG_FP, &fp))
		return 0;
	if (pushes) {
		if (!called_with(tsk, regs, &f, pc, AARCH64_INSN_REG_LR, &lr) ||
		    !entry_is(*at - 1, lr))
			return 0;
		--*at;
	}
	return fp;
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
 * Return: whether it came to the task's last record, which none is behind.
 */
bool arch_scs_trace_follow(struct task_struct *tsk, unsigned long fp,
			   stack_trace_consume_fn consume, void *cookie)
{
	unsigned int i;

	for (i = 0; i < 2 * SCS_TRACE_MAX_DEPTH; i++) {
		const u64 *record = (const u64 *)fp;

		if (fp == (unsigned long)task_pt_regs(tsk)->stackframe)
			return true;
		if (fp & 7 || !on_known_stack(tsk, fp, 2 * sizeof(*record)) ||
		    !consume(cookie,
			     ptrauth_strip_kernel_insn_pac(READ_ONCE(record[1]))))
			return false;
		fp = READ_ONCE(record[0]);
	}
	return false;
}
