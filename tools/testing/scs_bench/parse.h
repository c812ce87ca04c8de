/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsers for what scs_bench reads: console logs, perf's output, QEMU's execution log, System.map.
 */
#ifndef SCS_BENCH_PARSE_H
#define SCS_BENCH_PARSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "util.h"

/**
 * struct counter - one line of a debugfs stats file
 * @name: what is counted
 * @value: its value
 */
struct counter {
	char *name;
	long long value;
};

/**
 * struct counters - all lines of a debugfs stats file
 * @v: the counters
 * @n: how many there are
 * @present: the file was there
 */
struct counters {
	struct counter *v;
	size_t n;
	bool present;
};

/**
 * struct boot_log - what a boot of our init says
 * @banner: the "Linux version" line from the kernel
 * @error: what init complained of, or NULL
 * @entry: address of init's first instruction
 * @cntvct: the counter when init executed it
 * @cntfrq: ticks of the counter a second
 * @kmsg_before: the counter before a line was written to /dev/kmsg
 * @kmsg_after: the counter after that
 * @kmsg_us: sched_clock() stamp of that line, in microseconds
 * @pagesize: bytes in a page
 * @stackdepot: the depot's statistics
 * @scs_trace: the collector's statistics
 * @done: init came to its end
 */
struct boot_log {
	char *banner;
	char *error;
	u64 entry;
	u64 cntvct;
	u64 cntfrq;
	u64 kmsg_before;
	u64 kmsg_after;
	u64 kmsg_us;
	u64 pagesize;
	struct counters stackdepot;
	struct counters scs_trace;
	bool done;
};

/**
 * struct call_count - how often a kernel function was entered
 * @name: the function
 * @addr: its addresses (several static functions can have one name)
 * @naddr: how many; 0 when the image does not have it
 * @total: entries until init's first instruction
 * @early: of these, entries before time_init()
 */
struct call_count {
	const char *name;
	u64 addr[4];
	size_t naddr;
	u64 total;
	u64 early;
};

const char *printk_text(const char *line);
char *log_line(const char **pos);
bool log_has(const char *log, const char *needle);
void boot_log_parse(const char *log, struct boot_log *out);
void boot_log_free(struct boot_log *log);
const struct counter *counter_find(const struct counters *c, const char *name);
bool banner_split(const char *banner, char **version, char **compiler);
bool perf_parse(const char *text, double *seconds);
int exec_log_count(FILE *f, struct call_count *calls, size_t ncalls, u64 time_init,
		   u64 init_entry, u64 *time_init_calls);
int system_map_lookup(FILE *f, struct call_count *calls, size_t ncalls);
void initcalls_parse(const char *log, json_t *initcalls);
bool config_has(const char *config, const char *option);

#endif /* SCS_BENCH_PARSE_H */
