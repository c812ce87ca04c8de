// SPDX-License-Identifier: GPL-2.0
/*
 * The program scs_bench: measures and checks, on booted kernels, what stack traces cost and hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_boot.h"
#include "cmd_claims.h"
#include "cmd_compare.h"
#include "cmd_load.h"
#include "cmd_memory.h"
#include "cmd_micro.h"
#include "cmd_record.h"
#include "cmd_replay.h"
#include "cmd_report.h"
#include "cmd_run.h"
#include "cmd_selftest.h"
#include "opts.h"
#include "proc.h"
#include "stacks.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "boot", cmd_boot, "boot variants of a kernel and measure what stack traces cost" },
	{ "claims", cmd_claims, "run the set-ups of both public claims, and judge them" },
	{ "compare", cmd_compare, "compare two files of results: what changed, and is it real?" },
	{ "report", cmd_report, "make one HTML page of results: verdicts, plots, environment" },
	{ "replay", cmd_replay, "play recorded streams on the depots, on the host" },
	{ "selftest", cmd_selftest, "inject a known cost, and see whether every method finds it" },
	{ "micro", cmd_micro, "measure inside the kernel what one stack trace costs" },
	{ "memory", cmd_memory, "measure what debugging costs in memory, as slabs grow" },
	{ "load", cmd_load, "run iperf3, stress-ng and a compiler with and without debugging" },
	{ "run", cmd_run, "boot one kernel once and keep its console log" },
	{ "record", cmd_record, "record what a kernel saves in its stack depot, for replay" },
	{ "stacks", cmd_stacks, "compare the stack traces in two console logs" },
};

static void usage(FILE *out)
{
	size_t i;

	fputs("Usage: scs_bench COMMAND [options]\n\n", out);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\nscs_bench COMMAND --help says more.\n", out);
}

int main(int argc, char **argv)
{
	size_t i;
	int ret;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		usage(stdout);
		return EXIT_OK;
	}
	/* What perf and others print is read. */
	setenv("LC_ALL", "C", 1);
	if (proc_init()) {
		perror("scs_bench: cannot take over signals");
		return EXIT_FAILED;
	}
	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[1], commands[i].name)) {
			ret = commands[i].run(argc - 1, argv + 1);
			return ret == PARSED_HELP ? EXIT_OK : ret;
		}
	}
	if (argc > 1)
		bench_err("there is no command %s", argv[1]);
	usage(stderr);
	return EXIT_UNUSABLE;
}
