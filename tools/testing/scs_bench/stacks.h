/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the stack traces that KASAN reports and page_owner records print, and compares two logs.
 */
#ifndef SCS_BENCH_STACKS_H
#define SCS_BENCH_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util.h"

/**
 * struct stack - a stack trace
 * @what: whose it is: "Allocated by task", or order and gfp mask of a page
 * @frames: function names, newest first
 */
struct stack {
	char *what;
	struct strv frames;
};

/**
 * struct report - a KASAN report
 * @title: kind of bug and function
 * @by_tag: a tag-based mode found the stacks by the address and the tag of the pointer
 * @stacks: the traces that were stored when memory was allocated, freed, or work was queued
 * @nstacks: how many
 */
struct report {
	char *title;
	bool by_tag;
	struct stack *stacks;
	size_t nstacks;
};

/**
 * struct test_case - a KUnit test and its reports, in order
 * @name: suite.test
 * @status: "ok", "not ok" or "skip"
 * @reports: the reports
 * @nreports: how many
 */
struct test_case {
	char *name;
	const char *status;
	struct report *reports;
	size_t nreports;
};

/**
 * struct stack_log - what a console log holds that can be compared
 * @tests: KUnit tests, in order
 * @ntests: how many
 * @records: page_owner records, those left out that depend on the state of an allocator
 * @nrecords: how many
 * @has_records: the log has a page_owner section
 * @left_out: how many page_owner records were left out
 * @problem: why the log cannot be used, or NULL
 */
struct stack_log {
	struct test_case *tests;
	size_t ntests;
	struct stack *records;
	size_t nrecords;
	bool has_records;
	size_t left_out;
	char *problem;
};

/**
 * struct stack_result - outcome of a comparison
 * @passed: tests whose traces agree
 * @failed: tests whose traces differ
 * @skipped: tests with nothing to compare
 */
struct stack_result {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

bool stack_log_parse(const char *text, struct stack_log *log);
void stack_log_free(struct stack_log *log);
void stack_log_compare(const struct stack_log *a, const struct stack_log *b, FILE *out,
		       struct stack_result *res);
int cmd_stacks(int argc, char **argv);

#endif /* SCS_BENCH_STACKS_H */
