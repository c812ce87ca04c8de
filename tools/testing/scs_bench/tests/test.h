/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the test files of scs_bench share: cmocka with what it needs, and the groups of tests.
 */
#ifndef SCS_BENCH_TEST_H
#define SCS_BENCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util.h"

char *replace(const char *text, const char *from, const char *to);
char *temp_dir(void);
void remove_dir(char *dir);
int run_program(struct strv *argv, const char *log, char **printed);
void assert_in(const char *text, const char *printed);

int run_parse_tests(void);
int run_stats_tests(void);
int run_stacks_tests(void);
int run_args_tests(void);
int run_fault_tests(void);
int run_stream_tests(void);
int run_store_tests(void);
int run_results_tests(void);
int run_guest_tests(void);
int run_report_tests(void);

#endif /* SCS_BENCH_TEST_H */
