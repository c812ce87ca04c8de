/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "report": results as one HTML page, with plots, environment and verdicts.
 */
#ifndef SCS_BENCH_CMD_REPORT_H
#define SCS_BENCH_CMD_REPORT_H

#include <jansson.h>

#include "util.h"

char *html_escape(const char *text);
char *plot_bars(const json_t *results, const char *group, const char *name);
char *plot_stack(const json_t *results, const char *group);
char *plot_depths(const json_t *results, const char *group, const char *line);
int cmd_report(int argc, char **argv);

#endif /* SCS_BENCH_CMD_REPORT_H */
