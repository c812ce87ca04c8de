/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scripts for gnuplot that draw results.
 */
#ifndef SCS_BENCH_PLOT_H
#define SCS_BENCH_PLOT_H

#include <jansson.h>

#include "util.h"

/* A group whose figures are the parts of a whole has a name that ends like this. */
#define PLOT_WHERE	": where it goes"

/* So many rows of dots fit on a printed page. */
#define PLOT_DOT_ROWS	40

void results_list(const json_t *results, const char *group, const char *key, struct strv *sv);
char *plot_line_of(const char *name, unsigned int *depth);
char *plot_bars(const json_t *results, const char *group, const char *name);
char *plot_stack(const json_t *results, const char *group);
char *plot_depths(const json_t *results, const char *group, const char *line);
char *plot_dots(const json_t *results, const char *group, const struct strv *names, size_t first);

#endif /* SCS_BENCH_PLOT_H */
