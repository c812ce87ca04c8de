/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "report": results as one HTML page, with plots, environment and verdicts.
 */
#ifndef SCS_BENCH_CMD_REPORT_H
#define SCS_BENCH_CMD_REPORT_H

char *html_escape(const char *text);
int cmd_report(int argc, char **argv);

#endif /* SCS_BENCH_CMD_REPORT_H */
