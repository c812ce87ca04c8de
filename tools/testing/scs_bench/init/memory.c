// SPDX-License-Identifier: GPL-2.0
/*
 * The mode "memory" of scs_bench's init: how much memory is in use, at rest and while slabs grow.
 *
 * A point is /proc/meminfo and the depot's statistics. There is one after boot, one for each of a
 * few numbers of objects that are kept, one in the middle of the workload, and one after all of it.
 */
#include "nolibc.h"

#include "init.h"
#include "memory.h"
#include "workload.h"

/* A file costs an inode and a directory entry, and a directory per so many more of both. */
#define FILES_PER_DIR	1000
#define NAME_SIZE	64
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
/* Into the workload: about twice through it, at an instruction a nanosecond. */
#define LOAD_MSEC	800

#define SIGKILL		9
#define SIGSTOP		19

/* How many files there are at each of the points "files-N". */
static const int steps[] = { 2000, 10000, 50000 };

static void print_point(const char *name)
{
	printf("scs_bench: point %s\n", name);
	print_file("meminfo", "/proc/meminfo");
	print_file("stackdepot", DEBUGFS "/stackdepot/stats");
}

static void path_of(char *path, int nr)
{
	*path = '\0';
	strlcat(path, "/tmp/d", NAME_SIZE);
	u64toa_r(nr / FILES_PER_DIR, path + strlen(path));
	if (nr % FILES_PER_DIR == 0 && mkdir(path, 0700))
		fail("making a directory on tmpfs");
	strlcat(path, "/f", NAME_SIZE);
	u64toa_r(nr % FILES_PER_DIR, path + strlen(path));
}

static void make_file(int nr)
{
	char path[NAME_SIZE];
	int fd;

	path_of(path, nr);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0)
		fail("creating a file on tmpfs (is the guest's memory large enough?)");
	close(fd);
}

/* The workload goes on and on in a child, which is stopped for as long as the point takes. */
static void print_point_under_load(void)
{
	int pid = fork();

	if (pid < 0)
		fail("forking");
	if (!pid) {
		close(1);
		for (;;)
			run_workload();
	}
	msleep(LOAD_MSEC);
	if (kill(pid, SIGSTOP))
		fail("stopping the workload");
	print_point("load");
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		fail("ending the workload");
}

/** run_memory - print the points; /proc, /sys and debugfs are mounted, and tmpfs on /tmp */
void run_memory(void)
{
	char name[NAME_SIZE];
	unsigned int i;
	int nr = 0;

	print_point("boot");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		while (nr < steps[i])
			make_file(nr++);
		*name = '\0';
		strlcat(name, "files-", NAME_SIZE);
		u64toa_r(nr, name + strlen(name));
		print_point(name);
	}
	print_point_under_load();
	print_point("end");
}
