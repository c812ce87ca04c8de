// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a child program under a deadline, with its output in a log and with Ctrl-C handled.
 *
 * The child leads a process group of its own, so that killing the group also ends what it started
 * (perf starts QEMU). Our own SIGINT, SIGTERM and SIGHUP are blocked and read from a signalfd: one
 * poll() waits for the child, for the deadline and for Ctrl-C.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"

/* How long a child has to end by itself after SIGTERM. */
#define GRACE_MS 3000

static int signal_fd = -1;
static sigset_t our_signals;
static bool interrupted;

/**
 * proc_init - take SIGINT, SIGTERM and SIGHUP over
 *
 * Return: 0, or -1 with errno set.
 */
int proc_init(void)
{
	if (signal_fd >= 0)
		return 0;
	sigemptyset(&our_signals);
	sigaddset(&our_signals, SIGINT);
	sigaddset(&our_signals, SIGTERM);
	sigaddset(&our_signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &our_signals, NULL))
		return -1;
	signal_fd = signalfd(-1, &our_signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd < 0 ? -1 : 0;
}

/**
 * proc_interrupted - were we asked to stop?
 *
 * Return: true from the first SIGINT, SIGTERM or SIGHUP on.
 */
bool proc_interrupted(void)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		interrupted = true;
	return interrupted;
}

/* In the child: never returns. An exec that fails reports its errno through @error_fd. */
static void child(const struct proc_spec *spec, int log_fd, int error_fd)
{
	struct rlimit limit = { spec->max_file, spec->max_file };
	int err, null_fd;

	setpgid(0, 0);
	/* Should we be killed outright, the child must not go on alone. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* A guest that prints without end must not fill the disk. */
	setrlimit(RLIMIT_FSIZE, &limit);
	sigprocmask(SIG_UNBLOCK, &our_signals, NULL);

	null_fd = open("/dev/null", O_RDONLY);
	if (null_fd >= 0 && dup2(null_fd, 0) >= 0 && dup2(log_fd, 1) >= 0 && dup2(log_fd, 2) >= 0)
		execvp(spec->argv[0], spec->argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static pid_t start(const struct proc_spec *spec, struct proc_result *res)
{
	int log_fd, fds[2], err = 0;
	pid_t pid;

	log_fd = open(spec->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (log_fd < 0) {
		res->code = errno;
		return -1;
	}
	if (pipe2(fds, O_CLOEXEC)) {
		res->code = errno;
		close(log_fd);
		return -1;
	}
	pid = fork();
	if (!pid)
		child(spec, log_fd, fds[1]);
	if (pid < 0)
		err = errno;
	close(fds[1]);
	close(log_fd);
	if (pid > 0) {
		setpgid(pid, pid);
		if (read(fds[0], &err, sizeof(err)) == sizeof(err)) {
			waitpid(pid, NULL, 0);
			pid = -1;
		}
	}
	close(fds[0]);
	if (pid < 0)
		res->code = err;
	return pid;
}

/* Wait for the child: true when it has ended, false when something else came first. */
static bool wait_child(int pidfd, int timeout_ms, bool stop_on_signal)
{
	struct pollfd fds[2] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	double deadline = now_seconds() + timeout_ms / 1e3;
	int n;

	do {
		n = poll(fds, stop_on_signal ? 2 : 1, timeout_ms);
		timeout_ms = (deadline - now_seconds()) * 1e3;
	} while (n < 0 && errno == EINTR && timeout_ms > 0);
	return n > 0 && (fds[0].revents & POLLIN);
}

/**
 * proc_run - run a program until it ends, its deadline passes, or we are asked to stop
 * @spec: what to run
 * @res: how it went
 *
 * When it returns, the program and all that it started in its process group are gone.
 */
void proc_run(const struct proc_spec *spec, struct proc_result *res)
{
	double begin = now_seconds();
	int pidfd, status;
	pid_t pid;

	memset(res, 0, sizeof(*res));
	res->end = PROC_INTERRUPTED;
	if (proc_interrupted())
		return;
	res->end = PROC_NOT_STARTED;
	pid = start(spec, res);
	if (pid < 0)
		return;
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		res->code = errno;
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
	if (wait_child(pidfd, spec->timeout * 1e3, true)) {
		res->end = PROC_EXITED;
	} else {
		res->end = proc_interrupted() ? PROC_INTERRUPTED : PROC_TIMEOUT;
		kill(-pid, SIGTERM);
		wait_child(pidfd, GRACE_MS, false);
	}
	res->seconds = now_seconds() - begin;
	close(pidfd);
	/* While the leader is not reaped, its group cannot be anyone else's. */
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (res->end != PROC_EXITED)
		return;
	if (WIFSIGNALED(status)) {
		res->end = PROC_KILLED;
		res->code = WTERMSIG(status);
	} else {
		res->code = WEXITSTATUS(status);
	}
}

/**
 * proc_describe - say how a run ended
 * @res: the run
 *
 * Return: the text, to be freed; NULL when the program exited with status 0.
 */
char *proc_describe(const struct proc_result *res)
{
	switch (res->end) {
	case PROC_EXITED:
		return res->code ? xasprintf("it exited with status %d", res->code) : NULL;
	case PROC_KILLED:
		return xasprintf("it was killed by signal %d (%s)", res->code,
				 strsignal(res->code));
	case PROC_TIMEOUT:
		return xasprintf("it did not end within %.0f s and was killed", res->seconds);
	case PROC_INTERRUPTED:
		return xstrdup("interrupted");
	case PROC_NOT_STARTED:
		break;
	}
	return xasprintf("it could not be started: %s", strerror(res->code));
}
