// SPDX-License-Identifier: GPL-2.0
/*
 * Builds QEMU's command line and runs it once, with every way to fail told apart.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse.h"
#include "proc.h"
#include "qemu.h"

/* The largest file that QEMU may write: no console log and no sane execution log come near. */
#define MAX_LOG		(64L << 20)
#define MAX_EXEC_LOG	(2L << 30)
/* Older ones count in steps of 16 instructions, and see false tag faults. */
#define QEMU_MIN_MAJOR	10
/* It may have to write the guest's memory, too; no guest here has as much. */
#define MAX_RAM		(64L << 30)

static void add_perf(struct strv *argv, const char *out)
{
	strv_split(argv, "perf stat --null -o", " ");
	strv_add(argv, "%s", out);
	strv_add(argv, "--");
}

/**
 * qemu_argv - build the command line
 * @spec: the run
 * @argv: where it is appended
 */
void qemu_argv(const struct qemu_spec *spec, struct strv *argv)
{
	if (spec->perf_out)
		add_perf(argv, spec->perf_out);
	strv_add(argv, "%s", spec->qemu);
	if (spec->kvm) {
		strv_split(argv, "-machine virt,gic-version=host -accel kvm -cpu host", " ");
	} else if (spec->cpu) {
		strv_split(argv, "-machine virt,gic-version=3 -cpu", " ");
		strv_add(argv, "%s", spec->cpu);
	} else {
		strv_split(argv, "-machine virt,mte=on,gic-version=3 -cpu max,pauth-impdef=on",
			   " ");
	}
	if (spec->ram) {
		strv_add(argv, "-machine");
		strv_add(argv, "memory-backend=ram");
		strv_add(argv, "-object");
		strv_add(argv, "memory-backend-file,id=ram,size=%s,mem-path=%s,share=on", spec->mem,
			 spec->ram);
	}
	strv_add(argv, "-m");
	strv_add(argv, "%s", spec->mem);
	strv_add(argv, "-smp");
	strv_add(argv, "%u", spec->cpus);
	strv_split(argv, "-nodefaults -display none -monitor none -serial stdio -no-reboot", " ");
	if (spec->icount)
		strv_split(argv, "-icount shift=0,sleep=off -seed 1 -rtc base=2000-01-01,clock=vm",
			   " ");
	strv_add(argv, "-kernel");
	strv_add(argv, "%s", spec->image);
	if (spec->initrd) {
		strv_add(argv, "-initrd");
		strv_add(argv, "%s", spec->initrd);
	}
	if (spec->bios) {
		/* Or it hands on ACPI tables, which a small kernel has no use for. */
		strv_split(argv, "-machine acpi=off -bios", " ");
		strv_add(argv, "%s", spec->bios);
	}
	if (spec->exec_log) {
		strv_split(argv, "-d exec,nochain -dfilter", " ");
		strv_add(argv, "%s", spec->dfilter);
		strv_add(argv, "-D");
		strv_add(argv, "%s", spec->exec_log);
	}
	strv_add(argv, "-append");
	strv_add(argv, "%s", spec->append);
}

static const char *advice(const struct proc_result *res)
{
	switch (res->end) {
	case PROC_TIMEOUT:
		return "see where it hangs, or give it more with --timeout";
	case PROC_NOT_STARTED:
		return "check --qemu, and that the output directory can be written";
	case PROC_KILLED:
		return "if memory was short, give the guest less with --mem";
	default:
		return "see the log for the reason";
	}
}

/* perf exits with 0 when a signal ends its child, and only prints which: "PROGRAM: SIGNAL". */
static void killed_under_perf(const struct qemu_spec *spec, struct proc_result *res)
{
	char *log = read_file(spec->log, NULL), *line;
	bool killed = false;
	int sig;

	for (sig = 1; log && !killed && sig < NSIG; sig++) {
		line = xasprintf("%s: %s\n", spec->qemu, strsignal(sig));
		killed = strstr(log, line);
		free(line);
		if (killed)
			*res = (struct proc_result){ PROC_KILLED, sig, res->seconds };
	}
	free(log);
}

/**
 * qemu_run - run QEMU once
 * @spec: the run
 * @seconds: its wall time: perf's if there is @spec->perf_out, else that of our own clock
 *
 * Return: 0; EXIT_FAILED or EXIT_INTERRUPTED when the run cannot count, which has been told then.
 */
int qemu_run(const struct qemu_spec *spec, double *seconds)
{
	struct proc_spec proc = {
		.log = spec->log,
		.timeout = spec->timeout,
		.max_file = spec->ram ? MAX_RAM : spec->exec_log ? MAX_EXEC_LOG : MAX_LOG,
	};
	struct strv argv = { 0 };
	struct proc_result res;
	char *how, *perf;

	qemu_argv(spec, &argv);
	proc.argv = argv.v;
	proc_run(&proc, &res);
	strv_free(&argv);
	if (spec->perf_out && res.end == PROC_EXITED && !res.code)
		killed_under_perf(spec, &res);
	how = proc_describe(&res);
	if (how) {
		if (res.end == PROC_INTERRUPTED) {
			bench_err("interrupted: QEMU was ended and the run in progress does not count");
		} else {
			bench_err("QEMU failed on %s: %s; %s (log: %s)", spec->image, how,
				  advice(&res), spec->log);
			if (res.end != PROC_NOT_STARTED)
				show_log_tail(spec->log);
		}
		free(how);
		return res.end == PROC_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
	}
	if (!spec->perf_out) {
		*seconds = res.seconds;
		return 0;
	}
	perf = read_file(spec->perf_out, NULL);
	if (!perf || !perf_parse(perf, seconds)) {
		bench_err("perf stat gave no wall time in %s: try 'perf stat --null true', or use --no-perf",
			  spec->perf_out);
		free(perf);
		return EXIT_FAILED;
	}
	free(perf);
	return 0;
}

/* Run what answers at once, and wait for its answer; takes @argv over. */
static void ask(struct strv *argv, const char *log, struct proc_result *res)
{
	struct proc_spec spec = {
		.argv = argv->v,
		.log = log,
		.timeout = 30,
		.max_file = MAX_LOG,
	};

	proc_run(&spec, res);
	strv_free(argv);
}

/**
 * qemu_version - ask QEMU for its version
 * @qemu: the program
 * @log: a file for its answer
 *
 * Return: the first line of the answer, to be freed; NULL when we were interrupted, or after an
 * error was told.
 */
char *qemu_version(const char *qemu, const char *log)
{
	struct strv argv = { 0 };
	struct proc_result res;
	char *how, *text, *line;
	const char *pos;

	strv_add(&argv, "%s", qemu);
	strv_add(&argv, "--version");
	ask(&argv, log, &res);
	if (res.end == PROC_INTERRUPTED)
		return NULL;
	how = proc_describe(&res);
	if (how) {
		bench_err("'%s --version' failed: %s; give a working QEMU with --qemu (log: %s)",
			  qemu, how, log);
		free(how);
		return NULL;
	}
	text = read_file(log, NULL);
	pos = text ? text : "";
	line = log_line(&pos);
	free(text);
	if (!line || strncmp(line, "QEMU emulator version ", 22)) {
		bench_err("%s does not say which QEMU it is: give one with --qemu (log: %s)", qemu,
			  log);
		free(line);
		return NULL;
	}
	if (atoi(line + 22) < QEMU_MIN_MAJOR) {
		bench_err("%s is too old (%s): %d.0 or newer is needed; 'make qemu' gets one, or give one with --qemu",
			  qemu, line, QEMU_MIN_MAJOR);
		free(line);
		return NULL;
	}
	return line;
}

/**
 * perf_usable - can "perf stat --null" be used here?
 * @log: a file for its messages
 * @out: a file for its output
 *
 * Return: true if it ran and its output was understood.
 */
bool perf_usable(const char *log, const char *out)
{
	struct strv argv = { 0 };
	struct proc_result res;
	double seconds;
	char *text;
	bool ok;

	add_perf(&argv, out);
	strv_add(&argv, "true");
	ask(&argv, log, &res);
	if (res.end != PROC_EXITED || res.code)
		return false;
	text = read_file(out, NULL);
	ok = text && perf_parse(text, &seconds);
	free(text);
	return ok;
}
