/* SPDX-License-Identifier: GPL-2.0 */
/* Traces and arm64's shadow call stacks: x18, bounds, and what assembly records on them. */
#ifndef _ASM_SCS_TRACE_H
#define _ASM_SCS_TRACE_H

#ifdef __ASSEMBLY__

#include <asm/alternative-macros.h>

/*
 * Compiled code pushes its return address on the shadow call stack, assembly
 * doesn't. The macros below record there what a frame-pointer unwinder finds in
 * the frame records that assembly makes, so that both tell the same trace.
 * Nothing ever returns through such an entry.
 *
 * With dynamic SCS the kernel may turn out to run without shadow call stacks:
 * x18 then points nowhere useful and scs_trace_patch_nop() takes the
 * instructions out. Only the boot CPU's init task, whose x18 is valid all the
 * same, can run them before.
 */
	.macro	__scs_trace_insn, insn
#ifdef CONFIG_SCS_TRACE_SHADOW
#ifdef CONFIG_DYNAMIC_SCS
alternative_cb ARM64_ALWAYS_BOOT, scs_trace_patch_nop
	\insn
alternative_cb_end
#else
	\insn
#endif
#endif
	.endm

	/* Push \reg; whoever does so also restores x18 to what it was. */
	.macro	scs_trace_push, reg
	__scs_trace_insn "str \reg, [x18], #8"
	.endm

	/* Take back what scs_trace_push pushed, where nothing else restores x18. */
	.macro	scs_trace_drop
	__scs_trace_insn "sub x18, x18, #8"
	.endm

	/* Push \older, then \recent. */
	.macro	scs_trace_push_pair, older, recent
	__scs_trace_insn "stp \older, \recent, [x18], #16"
	.endm

	/* Take back what scs_trace_push_pair pushed. */
	.macro	scs_trace_drop_pair
	__scs_trace_insn "sub x18, x18, #16"
	.endm

	/*
	 * Leave \reg in the slot above the top, for the time in which x18 points
	 * to another shadow call stack: what was saved as the top stays true, so
	 * there is nothing to take back.
	 */
	.macro	scs_trace_leave, reg
	__scs_trace_insn "str \reg, [x18]"
	.endm

#else /* __ASSEMBLY__ */

#include <linux/bitops.h>
#include <linux/scs.h>

#include <asm/pointer_auth.h>

struct pt_regs;
struct scs_trace_source;

#ifdef CONFIG_SCS_TRACE_SHADOW

/**
 * arch_scs_trace_sp() - read the shadow call stack pointer
 *
 * Claiming that x30 is lost makes the compiler save it before, and saving it
 * means to push it: the newest entry, at the returned pointer - 1, is the
 * return address of the function that this is inlined into.
 *
 * Return: x18, which points one past the newest entry. Any context.
 */
static __always_inline const unsigned long *arch_scs_trace_sp(void)
{
	const unsigned long *sp;

	asm volatile("mov %0, x18" : "=r" (sp) : : "x30");
	return sp;
}

/**
 * arch_scs_trace_depth() - number of entries from @base up to @sp
 * @base: the oldest entry of a shadow call stack
 * @sp: one past an entry, or anything at all
 *
 * The last word of a shadow call stack is no entry but its end marker. The
 * rotation moves misaligned bits to the top, where they look like a distance
 * that is out of bounds.
 *
 * Return: the number of entries; SCS_TRACE_MAX_DEPTH or more where @sp does not
 * point into the shadow call stack at @base. Any context.
 */
static __always_inline unsigned long
arch_scs_trace_depth(const unsigned long *base, const unsigned long *sp)
{
	return ror64((unsigned long)sp - (unsigned long)base, 3);
}

#define SCS_TRACE_MAX_DEPTH	(SCS_SIZE / sizeof(unsigned long))

/**
 * arch_scs_trace_stripped() - whether entries need arch_scs_trace_strip()
 *
 * Return: true if they do. Any context.
 */
static __always_inline bool arch_scs_trace_stripped(void)
{
	return IS_ENABLED(CONFIG_ARM64_PTR_AUTH_KERNEL) &&
	       CONFIG_CLANG_VERSION < 150000;
}

/**
 * arch_scs_trace_strip() - the address that an entry stands for
 * @entry: an entry as it was read off a shadow call stack
 *
 * clang 13 and 14 sign the return address before it is pushed, later ones after.
 * What assembly, the BPF JIT and kernel entry push is not signed, and the latter
 * may be anything, so that only an address of the kernel's half, which bit 55 tells
 * also of a signed one, can be completed.
 *
 * Return: @entry without a pointer authentication code. Any context.
 */
static __always_inline unsigned long arch_scs_trace_strip(unsigned long entry)
{
	if (arch_scs_trace_stripped() && (entry & BIT(55)))
		entry |= ptrauth_kernel_pac_mask();
	return entry;
}

int arch_scs_trace_current(const unsigned long *sp,
			   struct scs_trace_source *src);
int arch_scs_trace_task(struct task_struct *tsk, struct scs_trace_source *src);
int arch_scs_trace_regs(const struct pt_regs *regs, const unsigned long *sp,
			struct scs_trace_source *src);
void arch_scs_trace_replace(const struct pt_regs *regs, unsigned long old,
			    unsigned long new);

#else /* CONFIG_SCS_TRACE_SHADOW */

static inline void arch_scs_trace_replace(const struct pt_regs *regs,
					  unsigned long old, unsigned long new)
{
}

#endif /* CONFIG_SCS_TRACE_SHADOW */

/* A frame pointer and a return address, aligned as the stack pointer is. */
#define SCS_TRACE_RECORD_SIZE	16

/**
 * struct scs_trace_stacks - where the frame records of a walk may lie
 * @task: the lowest address of the task's stack
 * @final: the task's final record, in which every chain ends
 * @irq: the lowest address of the IRQ stack, or 0 where there is none to be read
 * @irq_end: one past its highest
 */
struct scs_trace_stacks {
	unsigned long task;
	unsigned long final;
	unsigned long irq;
	unsigned long irq_end;
};

int arch_scs_trace_walk(unsigned long pc, unsigned long fp, unsigned long *store,
			unsigned int size, unsigned int skipnr);
int arch_scs_trace_walk_regs(const struct pt_regs *regs, unsigned long *store,
			     unsigned int size, unsigned int skipnr);
int arch_scs_trace_walk_within(const struct scs_trace_stacks *stacks,
			       unsigned long pc, unsigned long fp,
			       unsigned long *store, unsigned int size,
			       unsigned int skipnr, bool hooked);

#endif /* __ASSEMBLY__ */

#endif /* _ASM_SCS_TRACE_H */
