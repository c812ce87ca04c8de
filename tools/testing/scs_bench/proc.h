/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a child program under a deadline, with its output in a log and with Ctrl-C handled.
 */
#ifndef SCS_BENCH_PROC_H
#define SCS_BENCH_PROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

/**
 * struct proc_spec - what to run
 * @argv: program and arguments
 * @log: file that stdout and stderr go to
 * @timeout: seconds until it is killed
 * @max_file: the largest file that it may write, in bytes
 */
struct proc_spec {
	char *const *argv;
	const char *log;
	double timeout;
	off_t max_file;
};

/**
 * enum proc_end - how a child ended
 * @PROC_EXITED: by itself, see @code
 * @PROC_KILLED: by signal @code
 * @PROC_TIMEOUT: the deadline passed and it was killed
 * @PROC_INTERRUPTED: we were asked to stop and killed it
 * @PROC_NOT_STARTED: it could not be started; @code is an errno
 */
enum proc_end {
	PROC_EXITED,
	PROC_KILLED,
	PROC_TIMEOUT,
	PROC_INTERRUPTED,
	PROC_NOT_STARTED,
};

/**
 * struct proc_result - how a run went
 * @end: how it ended
 * @code: exit status, signal or errno, by @end
 * @seconds: wall time from fork to end
 */
struct proc_result {
	enum proc_end end;
	int code;
	double seconds;
};

int proc_init(void);
bool proc_interrupted(void);
void proc_run(const struct proc_spec *spec, struct proc_result *res);
char *proc_describe(const struct proc_result *res);

#endif /* SCS_BENCH_PROC_H */
