// SPDX-License-Identifier: GPL-2.0
/* Finds which parts of which arm64 shadow call stacks make up a trace. */

#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/scs.h>
#include <linux/scs_trace.h>

#include <asm/alternative.h>
#include <asm/insn.h>

/* Set once at boot by init_IRQ(); NULL before, and where SCS is not enabled. */
DECLARE_PER_CPU(unsigned long *, irq_shadow_call_stack_ptr);

static bool scs_trace_within(const unsigned long *base, const unsigned long *sp)
{
	return base && arch_scs_trace_depth(base, sp) < SCS_TRACE_MAX_DEPTH;
}

/**
 * arch_scs_trace_current() - find the trace of the current task
 * @sp: x18 as it is now, or was when a function that is still active ran
 * @src: filled in: one span in task context, two on the IRQ stack
 *
 * On the IRQ stack the first span is this CPU's IRQ shadow call stack, the
 * second the interrupted task's up to and including the slot above the top that
 * call_on_irq_stack() saved: its own return address lies there. Both the save
 * and the switch of x18 run with all exceptions masked, so whoever finds x18 in
 * the IRQ shadow call stack finds them complete.
 *
 * Return: 0, or -EFAULT where @sp lies in neither. Any context.
 */
int arch_scs_trace_current(const unsigned long *sp,
			   struct scs_trace_source *src)
{
	const unsigned long *task_base = task_scs(current);
	const unsigned long *task_sp, *irq_base;

	src->has_pc = false;
	if (scs_trace_within(task_base, sp)) {
		src->span[0] = (struct scs_trace_span){ sp, task_base };
		src->nr_spans = 1;
		return 0;
	}

	/* A per-CPU shadow call stack in use means that we can't migrate. */
	if (preemptible())
		return -EFAULT;

	irq_base = raw_cpu_read(irq_shadow_call_stack_ptr);
	task_sp = task_scs_sp(current);
	if (!scs_trace_within(irq_base, sp) ||
	    !scs_trace_within(task_base, task_sp))
		return -EFAULT;

	src->span[0] = (struct scs_trace_span){ sp, irq_base };
	src->span[1] = (struct scs_trace_span){ task_sp + 1, task_base };
	src->nr_spans = 2;
	return 0;
}

/**
 * arch_scs_trace_task() - find the trace of a task that is switched out
 * @tsk: the task; the caller holds a reference and sees to it that what was
 *	found is dropped if @tsk ran meanwhile
 * @src: filled in: one span, and the program counter before it
 *
 * cpu_switch_to() pushes nothing; its return address is the saved PC.
 *
 * Return: 0; -ESRCH where the task has no shadow call stack, -EFAULT where its
 * saved x18 does not point into it, -EUCLEAN where its end marker was
 * overwritten. Any context.
 */
int arch_scs_trace_task(struct task_struct *tsk, struct scs_trace_source *src)
{
	const unsigned long *base = task_scs(tsk);
	const unsigned long *sp = task_scs_sp(tsk);

	if (!base)
		return -ESRCH;
	if (!scs_trace_within(base, sp))
		return -EFAULT;
	if (task_scs_end_corrupted(tsk))
		return -EUCLEAN;

	src->pc = thread_saved_pc(tsk);
	src->has_pc = true;
	src->span[0] = (struct scs_trace_span){ sp, base };
	src->nr_spans = 1;
	return 0;
}

/**
 * arch_scs_trace_regs() - find the trace of what an exception interrupted
 * @regs: registers of the current task
 * @sp: x18 as it is now
 * @src: filled in: the interrupted PC and the one or two spans below it
 *
 * Kernel entry pushes the interrupted PC at the interrupted x18. The entry is
 * there as long as the exception is being handled, and tells registers that an
 * exception saved from others: those that a probe changed the PC of, those that
 * some caller filled in by hand without x18, and those that are no longer live.
 *
 * Return: 0, -EINVAL where @regs were not saved by a live exception from the
 * kernel, or an error of arch_scs_trace_current(). Any context.
 */
int arch_scs_trace_regs(const struct pt_regs *regs, const unsigned long *sp,
			struct scs_trace_source *src)
{
	const unsigned long *at;
	int err;

	if (!regs || user_mode(regs))
		return -EINVAL;

	err = arch_scs_trace_current(sp, src);
	if (err)
		return err;

	at = (const unsigned long *)regs->regs[18];
	if (src->nr_spans == 2 && !scs_trace_within(src->span[0].base, at)) {
		src->span[0] = src->span[1];
		src->nr_spans = 1;
	}
	if (!scs_trace_within(src->span[0].base, at) ||
	    at >= src->span[0].top || *at != regs->pc)
		return -EINVAL;

	src->pc = regs->pc;
	src->has_pc = true;
	src->span[0].top = at;
	return 0;
}

/**
 * arch_scs_trace_replace() - replace what an exception pushed
 * @regs: the registers that the exception saved
 * @old: the entry
 * @new: what to put in its place
 *
 * Does nothing unless @old is there.
 *
 * Context: the exception that @regs belong to, of any kind.
 */
void __kprobes arch_scs_trace_replace(const struct pt_regs *regs,
				      unsigned long old, unsigned long new)
{
	unsigned long *entry = (unsigned long *)regs->regs[18];
	struct scs_trace_source src;

	if (scs_is_enabled() && !arch_scs_trace_current(entry, &src) &&
	    *entry == old)
		*entry = new;
}

#ifdef CONFIG_DYNAMIC_SCS
/*
 * Called while alternatives are applied, after dynamic_scs_init(): takes the
 * pushes of <asm/scs_trace.h> out of a kernel that has no shadow call stacks.
 */
void noinstr scs_trace_patch_nop(struct alt_instr *alt, __le32 *origptr,
				 __le32 *updptr, int nr_inst);
void noinstr scs_trace_patch_nop(struct alt_instr *alt, __le32 *origptr,
				 __le32 *updptr, int nr_inst)
{
	int i;

	if (static_branch_likely(&dynamic_scs_enabled))
		return;

	for (i = 0; i < nr_inst; i++)
		updptr[i] = cpu_to_le32(aarch64_insn_gen_nop());
}
EXPORT_SYMBOL_GPL(scs_trace_patch_nop);	/* for NEON crypto in modules */
#endif
