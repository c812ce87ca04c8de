// SPDX-License-Identifier: GPL-2.0
/* The switch and the statistics: the early parameter scs_trace= and <debugfs>/scs_trace/. */

#define pr_fmt(fmt) "scs_trace: " fmt

#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/scs_trace.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "scs_trace.h"

/* === Data ================================================================= */

DEFINE_PER_CPU(struct scs_trace_counters, scs_trace_counters);

/*
 * Whether traces are taken here at all, and whether shadow call stacks are read. Written
 * by the early parameter and by debugfs, both together under scs_trace_mode_lock; a save
 * that finds but one of them changed takes another source, each of which is right.
 */
DEFINE_STATIC_KEY_TRUE(scs_trace_enabled);
DEFINE_STATIC_KEY_TRUE(scs_trace_shadow);
static DEFINE_MUTEX(scs_trace_mode_lock);

static const char * const scs_trace_modes[] = {
	[SCS_TRACE_MODE_OFF]	= "off",
	[SCS_TRACE_MODE_WALK]	= "walk",
	[SCS_TRACE_MODE_ON]	= "on",
};

static const struct {
	int err;
	const char *name;
} scs_trace_reasons[SCS_TRACE_NR_REASONS] = {
	[SCS_TRACE_OFF]			= { -ECANCELED,  "off" },
	[SCS_TRACE_NO_SCS]		= { -EOPNOTSUPP, "no_scs" },
	[SCS_TRACE_HOOKED]		= { -EBUSY,      "hooked" },
	[SCS_TRACE_UNKNOWN_STACK]	= { -EFAULT,     "unknown_stack" },
	[SCS_TRACE_CORRUPTED]		= { -EUCLEAN,    "corrupted" },
	[SCS_TRACE_RUNNING]		= { -EAGAIN,     "running" },
	[SCS_TRACE_NO_STACK]		= { -ESRCH,      "no_stack" },
	[SCS_TRACE_FOREIGN_REGS]	= { -EINVAL,     "foreign_regs" },
};

/* === Counting ============================================================= */

/**
 * scs_trace_count_fallback() - count a trace that was refused
 * @err: why, one of the errnos in scs_trace_reasons[]
 *
 * Context: any, NMI included.
 * Return: @err.
 */
int scs_trace_count_fallback(int err)
{
	struct scs_trace_counters *counters = raw_cpu_ptr(&scs_trace_counters);
	int i;

	for (i = 0; i < SCS_TRACE_NR_REASONS; i++) {
		if (scs_trace_reasons[i].err == err) {
			raw_atomic64_inc(&counters->fallbacks[i]);
			break;
		}
	}
	return err;
}

/**
 * scs_trace_sum() - add up the counters of all CPUs
 * @sum: filled in; exact for a system that takes no traces meanwhile
 *
 * Context: any.
 */
void scs_trace_sum(struct scs_trace_counters *sum)
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		struct scs_trace_counters *counters =
			per_cpu_ptr(&scs_trace_counters, cpu);

		sum->peeks += READ_ONCE(counters->peeks);
		sum->plain_walks += READ_ONCE(counters->plain_walks);
		sum->plain_walk_frames += READ_ONCE(counters->plain_walk_frames);
		atomic64_add(atomic64_read(&counters->traces), &sum->traces);
		atomic64_add(atomic64_read(&counters->frames), &sum->frames);
		atomic64_add(atomic64_read(&counters->walks), &sum->walks);
		atomic64_add(atomic64_read(&counters->walk_frames),
			     &sum->walk_frames);
		atomic64_add(atomic64_read(&counters->walks_declined),
			     &sum->walks_declined);
		for (i = 0; i < SCS_TRACE_NR_REASONS; i++)
			atomic64_add(atomic64_read(&counters->fallbacks[i]),
				     &sum->fallbacks[i]);
	}

	/* Plain walks are those for want of a shadow call stack. */
	atomic64_add(sum->plain_walks, &sum->walks);
	atomic64_add(sum->plain_walk_frames, &sum->walk_frames);
	atomic64_add(sum->plain_walks, &sum->fallbacks[SCS_TRACE_NO_SCS]);
}

/*
 * What was counted before the per-CPU areas were set up lies in the template
 * that all of them were copied from. Leave it with the CPU that counted it; no
 * other one runs yet.
 */
static int __init scs_trace_counters_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (cpu != smp_processor_id())
			memset(per_cpu_ptr(&scs_trace_counters, cpu), 0,
			       sizeof(struct scs_trace_counters));
	return 0;
}
early_initcall(scs_trace_counters_init);

/* === Switching ============================================================ */

/**
 * scs_trace_mode() - tell where traces are taken from
 *
 * Context: any.
 * Return: what scs_trace_set_mode() was told last.
 */
enum scs_trace_mode scs_trace_mode(void)
{
	if (!static_key_enabled(&scs_trace_enabled))
		return SCS_TRACE_MODE_OFF;
	return static_key_enabled(&scs_trace_shadow) ? SCS_TRACE_MODE_ON :
						       SCS_TRACE_MODE_WALK;
}

static void scs_trace_set_key(struct static_key_true *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/**
 * scs_trace_set_mode() - say where traces are to be taken from
 * @mode: where from
 *
 * Context: process context, may sleep; or early boot with one CPU.
 */
void scs_trace_set_mode(enum scs_trace_mode mode)
{
	mutex_lock(&scs_trace_mode_lock);
	scs_trace_set_key(&scs_trace_shadow, mode == SCS_TRACE_MODE_ON);
	scs_trace_set_key(&scs_trace_enabled, mode != SCS_TRACE_MODE_OFF);
	mutex_unlock(&scs_trace_mode_lock);
}

static int __init scs_trace_setup(char *arg)
{
	int mode = match_string(scs_trace_modes, ARRAY_SIZE(scs_trace_modes),
				arg ?: "");

	if (mode >= 0)
		scs_trace_set_mode(mode);
	else
		pr_warn("unknown value scs_trace=%s, use on, walk or off; it stays %s\n",
			arg ?: "", scs_trace_modes[scs_trace_mode()]);
	return 0;
}
early_param("scs_trace", scs_trace_setup);

/* === debugfs ============================================================== */

static int scs_trace_mode_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%s\n", scs_trace_modes[scs_trace_mode()]);
	return 0;
}

static ssize_t scs_trace_mode_write(struct file *file, const char __user *from,
				    size_t len, loff_t *pos)
{
	char text[8];
	int mode;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;

	mode = sysfs_match_string(scs_trace_modes, text);
	if (mode < 0)
		return mode;
	scs_trace_set_mode(mode);
	return len;
}
DEFINE_SHOW_STORE_ATTRIBUTE(scs_trace_mode);

static int scs_trace_stats_show(struct seq_file *m, void *unused)
{
	struct scs_trace_counters sum;
	int i;

	scs_trace_sum(&sum);
	seq_printf(m, "traces: %lld\n",
		   atomic64_read(&sum.traces) + (s64)sum.peeks);
	seq_printf(m, "in_place: %lu\n", sum.peeks);
	seq_printf(m, "frames: %lld\n", atomic64_read(&sum.frames));
	for (i = 0; i < SCS_TRACE_NR_REASONS; i++)
		seq_printf(m, "fallback_%s: %lld\n", scs_trace_reasons[i].name,
			   atomic64_read(&sum.fallbacks[i]));
	seq_printf(m, "walks: %lld\n", atomic64_read(&sum.walks));
	seq_printf(m, "walk_frames: %lld\n", atomic64_read(&sum.walk_frames));
	seq_printf(m, "walks_declined: %lld\n",
		   atomic64_read(&sum.walks_declined));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(scs_trace_stats);

static int __init scs_trace_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("scs_trace", NULL);

	debugfs_create_file("mode", 0644, dir, NULL, &scs_trace_mode_fops);
	debugfs_create_file("stats", 0444, dir, NULL, &scs_trace_stats_fops);
	scs_trace_verify_debugfs(dir);
	return 0;
}
late_initcall(scs_trace_debugfs_init);
