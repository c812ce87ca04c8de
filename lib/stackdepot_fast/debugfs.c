// SPDX-License-Identifier: GPL-2.0
/* What the depot shows in debugfs: its statistics, and every trace that it holds. */

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/stackdepot_fast.h>

#include "depot.h"

/* === stackdepot/stats ===================================================== */

/**
 * depot_sum() - sum a counter over all CPUs
 * @counter: the counter
 *
 * Context: any.
 * Return: the sum; exact when nobody counts meanwhile.
 */
unsigned long depot_sum(enum depot_counter counter)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(depot_counters, cpu).n[counter]);
	return sum;
}

static const struct {
	enum depot_counter counter;
	const char *name;
} depot_counter_names[] = {
	{ DEPOT_WIDE_COUNT,		"wide_count" },
	{ DEPOT_FLAT_COUNT,		"flat_copies" },
	{ DEPOT_EVICTED_POOLS,		"evicted_pools" },
	{ DEPOT_EVICTED_FETCHES,	"evicted_fetches" },
	{ DEPOT_BAD_HANDLES,		"bad_handles" },
	{ DEPOT_RACED,			"raced" },
	{ DEPOT_DROP_NOMEM,		"dropped_nomem" },
	{ DEPOT_DROP_LIMIT,		"dropped_limit" },
	{ DEPOT_DROP_CONTENDED,		"dropped_contended" },
	{ DEPOT_FLAT_FAILED,		"flat_copies_failed" },
};

static int stats_show(struct seq_file *seq, void *v)
{
	unsigned long allocs = depot_sum(DEPOT_REFD_ALLOCS);
	unsigned long frees = depot_sum(DEPOT_REFD_FREES);
	unsigned int i;

	/* The names and the order of upstream's depot. */
	seq_printf(seq, "pools: %u\n", depot_nr_pools());
	seq_printf(seq, "refcounted_allocations: %lu\n", allocs);
	seq_printf(seq, "refcounted_frees: %lu\n", frees);
	seq_printf(seq, "refcounted_in_use: %ld\n", (long)(allocs - frees));
	seq_printf(seq, "freelist_size: %ld\n",
		   (long)(depot_sum(DEPOT_QUARANTINED) -
			  depot_sum(DEPOT_RECLAIMED)));
	seq_printf(seq, "persistent_count: %lu\n",
		   depot_sum(DEPOT_PERSIST_COUNT));
	seq_printf(seq, "persistent_bytes: %lu\n",
		   depot_sum(DEPOT_PERSIST_UNITS) * DEPOT_UNIT_SIZE);

	/* Ours. */
	seq_printf(seq, "bytes: %lu\n", depot_bytes());
	seq_printf(seq, "table_bytes: %lu\n",
		   depot_table_bytes(&depot_persistent) +
		   depot_table_bytes(&depot_evictable));
	seq_printf(seq, "max_pools: %u\n", depot_max_pools);
	seq_printf(seq, "policy: %s\n",
		   depot_policy == DEPOT_EVICT ? "evict" : "stop");
	for (i = 0; i < ARRAY_SIZE(depot_counter_names); i++)
		seq_printf(seq, "%s: %lu\n", depot_counter_names[i].name,
			   depot_sum(depot_counter_names[i].counter));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* === stackdepot/traces ==================================================== */

/*
 * The position is the reference of a record: it stays good while records come and
 * go, and nothing is kept between two reads.
 */
static void *traces_next_from(u32 ref, loff_t *pos)
{
	ref = depot_next_record(ref);
	*pos = ref ?: DEPOT_REF_MASK + 1;
	return ref ? (void *)(unsigned long)ref : NULL;
}

static void *traces_start(struct seq_file *seq, loff_t *pos)
{
	if (*pos > DEPOT_REF_MASK)
		return NULL;
	/* A record at the position itself was not shown yet. */
	return traces_next_from(*pos ? *pos - 1 : 0, pos);
}

static void *traces_next(struct seq_file *seq, void *v, loff_t *pos)
{
	return traces_next_from((unsigned long)v, pos);
}

static void traces_stop(struct seq_file *seq, void *v)
{
}

/**
 * struct traces_buffer - the trace that is being shown, copied at once
 * @frames: its frames
 */
struct traces_buffer {
	unsigned long frames[CONFIG_STACKDEPOT_MAX_FRAMES];
};

static int traces_show(struct seq_file *seq, void *v)
{
	depot_stack_handle_t handle = (unsigned long)v;
	struct traces_buffer *buffer = seq->private;
	struct depot_record *rec;
	unsigned int i, nr = 0;
	u32 kind = 0;
	int refs = 0;

	rcu_read_lock_sched_notrace();
	if (depot_look_up(handle, &rec) == DEPOT_FOUND) {
		nr = stack_depot_copy(handle, 0, buffer->frames,
				      ARRAY_SIZE(buffer->frames));
		kind = READ_ONCE(rec->next);
		refs = kind & DEPOT_REFS ? atomic_read(depot_refs(rec)) : 0;
	}
	rcu_read_unlock_sched_notrace();
	/* Freed or evicted since it was found. */
	if (!nr)
		return 0;

	seq_printf(seq, "handle %08x frames %u", handle, nr);
	if (kind & DEPOT_EVICTABLE)
		seq_printf(seq, " references %d", refs);
	else if (kind & DEPOT_REFS)
		seq_printf(seq, " count %d", refs);
	seq_putc(seq, '\n');
	for (i = 0; i < nr; i++)
		seq_printf(seq, " %pS\n", (void *)buffer->frames[i]);
	seq_putc(seq, '\n');
	return 0;
}

static const struct seq_operations traces_sops = {
	.start	= traces_start,
	.next	= traces_next,
	.stop	= traces_stop,
	.show	= traces_show,
};

static int traces_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &traces_sops, sizeof(struct traces_buffer));
}

static const struct file_operations traces_fops = {
	.owner		= THIS_MODULE,
	.open		= traces_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

/* === What page_owner shows ================================================ */

/**
 * stack_depot_next_counted() - find the next trace with a count
 * @handle: the one before, or 0
 * @count: set to its count
 *
 * Context: any.
 * Return: its handle, or 0 after the last one.
 */
depot_stack_handle_t stack_depot_next_counted(depot_stack_handle_t handle,
					      int *count)
{
	u32 ref = handle & DEPOT_REF_MASK;
	struct depot_record *rec;
	bool counted = false;

	while (!counted) {
		ref = depot_next_record(ref);
		if (!ref)
			break;
		rcu_read_lock_sched_notrace();
		if (depot_look_up(ref, &rec) == DEPOT_FOUND &&
		    (READ_ONCE(rec->next) & (DEPOT_REFS | DEPOT_EVICTABLE)) ==
			    DEPOT_REFS) {
			*count = atomic_read(depot_refs(rec));
			counted = true;
		}
		rcu_read_unlock_sched_notrace();
	}
	return ref;
}

static int __init depot_debugfs_init(void)
{
	struct dentry *dir;

	/* It may be made ready only later, by the first driver that wants it. */
	if (stack_depot_disabled)
		return 0;

	dir = debugfs_create_dir("stackdepot", NULL);
	debugfs_create_file("stats", 0444, dir, NULL, &stats_fops);
	debugfs_create_file("traces", 0400, dir, NULL, &traces_fops);
	return 0;
}
late_initcall(depot_debugfs_init);
