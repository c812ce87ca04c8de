/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a subcommand measured, in one form for all: as a text table, as JSON, and for comparisons.
 *
 * Results are figures. A figure belongs to a group (what is the same for all that are compared,
 * e.g. "generic page_owner=on"), a subject (a kernel, e.g. "scs") and has a name ("wall time").
 */
#ifndef SCS_BENCH_RESULTS_H
#define SCS_BENCH_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "stats.h"
#include "util.h"

#define RESULTS_SCHEMA	2
#define COUNT_SIZE	32

/* The name of a figure that stands for all others of its group. */
#define RESULTS_MEAN	"geometric mean"

/**
 * struct figure - something that was measured
 * @group: see above; one table each
 * @subject: a column of that table
 * @name: a row of it
 * @unit: "instructions", "s", "bytes", "%", or "" for a mere number
 * @exact: every run gives the same; then one sample is enough
 * @samples: the samples in the order in which they were taken
 */
struct figure {
	const char *group;
	const char *subject;
	const char *name;
	const char *unit;
	bool exact;
	struct samples samples;
};

json_t *results_new(const char *command, json_t *env, u64 seed);
void results_figure(json_t *results, const struct figure *f);
void results_exact(json_t *results, const char *group, const char *subject, const char *name,
		   const char *unit, double value);
void results_derived(json_t *results, const char *group, const char *subject, const char *name,
		     const char *unit, bool exact, const struct estimate *est);
void results_noise(json_t *results, const struct figure *again);
void results_against(json_t *results, const char *baseline);
__printf(4, 5)
void results_verdict(json_t *results, const char *title, const char *verdict, const char *fmt,
		     ...);
__printf(2, 3)
void results_note(json_t *results, const char *fmt, ...);
json_t *results_find(const json_t *results, const char *group, const char *subject,
		     const char *name);
json_t *results_find_noise(const json_t *results, const char *group, const char *name);
double results_noise_value(const json_t *results, const json_t *figure);
double results_value(const json_t *figure);
const char *results_text(const json_t *obj, const char *key);
double *results_samples(const json_t *figure, struct samples *samples);
void results_table(const json_t *results, FILE *out);
int results_write(const json_t *results, const char *path);
int results_show(const json_t *results, const char *path);
json_t *results_read(const char *path);
const char *format_count(u64 value, char buf[COUNT_SIZE]);
char *format_value(double value, const char *unit, bool exact);

#endif /* SCS_BENCH_RESULTS_H */
