// SPDX-License-Identifier: GPL-2.0
/*
 * The mode "load" of scs_bench's init: runs the programs that a root file system lists.
 *
 * Each line of JOBS_FILE is a group, a name, the seconds that the job may take, and the command,
 * which gets no shell. Those whose group or name is asked for are run, one after the other, and for
 * each of them is told what it took: of the counter, and of the CPU, its children included.
 */
#include "nolibc.h"

#include <linux/resource.h>
#include <linux/sockios.h>

#include "init.h"
#include "jobs.h"

#define JOBS_FILE	"/scs_bench/jobs"
#define OUTPUT_FILE	"/tmp/output"
#define FILE_SIZE	65536
#define LINE_SIZE	1024
#define OUTPUT_SIZE	8192
#define MAX_ARGS	64

#define AF_INET		2
#define SOCK_DGRAM	2
#define IFF_UP		1
#define SIGKILL		9

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	write(fd, text, strlen(text));
	close(fd);
}

/* The loopback device is there, but down. */
static void bring_up_loopback(void)
{
	struct { char name[16]; short flags; char rest[22]; } request = {
		.name = "lo", .flags = IFF_UP,
	};
	int fd = my_syscall3(__NR_socket, AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		fail("bringing up the loopback device (is CONFIG_INET set?)");
	close(fd);
}

/* Split @text at blanks, in place. */
static int split(char *text, char **words, int max)
{
	int n = 0;

	while (*text) {
		while (*text == ' ' || *text == '\t')
			*text++ = '\0';
		if (!*text)
			break;
		if (n == max - 1)
			fail("reading the list of jobs: a line has too many words");
		words[n++] = text;
		while (*text && *text != ' ' && *text != '\t')
			text++;
	}
	words[n] = NULL;
	return n;
}

static int wanted(char **names, const char *group, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, "all") || !strcmp(*names, group) || !strcmp(*names, name))
			return 1;
	return 0;
}

/* What the child does; never returns. */
static void be_job(char **argv)
{
	static char * const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LC_ALL=C",
				      NULL };
	int fd;

	setsid();
	fd = open(OUTPUT_FILE, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir("/tmp"))
		exit(126);
	close(fd);
	execve(argv[0], argv, env);
	exit(127);
}

/* Wait at most so long for the child; then end all of its session. Its status, or -1. */
static int wait_job(int pid, int seconds, struct rusage *usage)
{
	int fd = my_syscall2(__NR_pidfd_open, pid, 0), status = -1, timed_out;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		fail("watching a job");
	timed_out = poll(&poll_fd, 1, seconds * 1000) == 0;
	close(fd);
	if (timed_out)
		kill(-pid, SIGKILL);
	if (wait4(pid, &status, 0, usage) != pid)
		fail("waiting for a job");
	/* What it left behind. */
	kill(-pid, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return timed_out ? -1 : status;
}

static void run_job(const char *group, const char *name, int seconds, char **argv)
{
	static char output[OUTPUT_SIZE];
	unsigned long start, end;
	struct rusage usage;
	int pid, status;

	write_file("/proc/sys/vm/drop_caches", "2");
	memset(&usage, 0, sizeof(usage));
	start = read_counter();
	pid = fork();
	if (pid < 0)
		fail("forking");
	if (!pid)
		be_job(argv);
	status = wait_job(pid, seconds, &usage);
	end = read_counter();

	if (read_text(OUTPUT_FILE, output, sizeof(output)) > 0)
		printf("scs_bench: begin output\n%s\nscs_bench: end output\n", output);
	printf("scs_bench: job %s %s status %d ticks %lu user_us %ld system_us %ld faults %ld\n",
	       group, name, status, end - start,
	       usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec,
	       usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec,
	       usage.ru_minflt + usage.ru_majflt);
}

static void run_line(char *line, char **names)
{
	char *words[MAX_ARGS];
	int n;

	if (*line == '#')
		return;
	n = split(line, words, MAX_ARGS);
	if (!n)
		return;
	if (n < 4)
		fail("reading the list of jobs: a line needs group, name, seconds and command");
	if (wanted(names, words[0], words[1]))
		run_job(words[0], words[1], atoi(words[2]), words + 3);
}

/**
 * run_jobs - run jobs; /proc and /sys are mounted, and tmpfs on /tmp
 * @names: groups and names of those that are to be run, up to NULL; "all" for every one
 */
void run_jobs(char **names)
{
	static char text[FILE_SIZE];
	char *line, *end;

	bring_up_loopback();
	if (read_text(JOBS_FILE, text, sizeof(text)) < 0)
		fail("reading " JOBS_FILE " (is this the root file system of scs_bench?)");
	printf("scs_bench: cntfrq %lu\n", read_counter_freq());
	for (line = text; *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		else
			end = line + strlen(line);
		run_line(line, names);
	}
}
