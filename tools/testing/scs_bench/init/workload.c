// SPDX-License-Identifier: GPL-2.0
/*
 * The mode "workload" of scs_bench's init: system calls of many kinds, for the traces they make.
 *
 * Nothing here is random or waits for a clock, so that two runs on one kernel make the same calls
 * in the same order. What a kernel is not configured for fails with an error that is of no
 * interest; each part says how many of its calls succeeded, so that a workload that does nothing
 * can't go unseen.
 */
#include "nolibc.h"

#include <stdbool.h>

#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/inotify.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <linux/timerfd.h>
#include <asm/ioctls.h>

#include "workload.h"

#define ROUNDS		6
#define DIR		"/tmp/workload"
#define PAGE		4096
#define MAP_PAGES	96
#define TREE_DEPTH	8
#define FILES		24
#define FORKS		8
#define READ_LIMIT	(256 * 1024)
#define WALK_DEPTH	10
#define PATH_SIZE	1024
#define NAME_SIZE	64

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define AF_UNIX		1
#define AF_INET		2
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOL_SOCKET	1
#define SO_REUSEADDR	2
#define SOCK_NONBLOCK	O_NONBLOCK
#define EPOLLIN		1
#define EPOLL_CTL_ADD	1
#define EPOLL_CTL_DEL	2
#define IPC_PRIVATE	0
#define IPC_RMID	0
#define IPC_CREAT	01000
#define IFF_UP		1
#define SIGUSR1		10
#define SIGKILL		9
#define SIG_BLOCK	0
#define CLOCK_MONOTONIC	1
#define F_SETLK		6
#define F_WRLCK		1
#define MADV_DONTNEED	4
#define MREMAP_MAYMOVE	1
#define MS_SYNC		4

static char page[PAGE];
static unsigned int calls, successes;

static long count(long ret)
{
	calls++;
	if (ret >= 0)
		successes++;
	return ret;
}

/* A system call, by number, with as many arguments as the kernel takes. */
static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	return count(my_syscall6(nr, a, b, c, d, e, f));
}

#define CALL6(nr, a, b, c, d, e, f) \
	call(__NR_##nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define CALL5(nr, a, b, c, d, e)	CALL6(nr, a, b, c, d, e, 0)
#define CALL4(nr, a, b, c, d)		CALL5(nr, a, b, c, d, 0)
#define CALL3(nr, a, b, c)		CALL4(nr, a, b, c, 0)
#define CALL2(nr, a, b)			CALL3(nr, a, b, 0)
#define CALL1(nr, a)			CALL2(nr, a, 0)
#define CALL0(nr)			CALL1(nr, 0)

static int open_at(const char *path, int flags)
{
	return CALL4(openat, AT_FDCWD, path, flags, 0600);
}

static void shut(int fd)
{
	if (fd >= 0)
		CALL1(close, fd);
}

/* --- Files ---------------------------------------------------------------- */

static void join(char *path, size_t size, const char *a, const char *b)
{
	*path = '\0';
	strlcat(path, a, size);
	strlcat(path, b, size);
}

static void name_of(char *path, const char *what, unsigned int nr)
{
	join(path, NAME_SIZE, DIR "/", what);
	u64toa_r(nr, path + strlen(path));
}

static void do_one_file(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK };
	char linked[NAME_SIZE + 8], text[256];
	int fd = open_at(path, O_CREAT | O_RDWR);
	unsigned int i;
	char *mem;

	for (i = 0; i < 6; i++)
		CALL3(write, fd, page, i % 2 ? 100 : PAGE);
	CALL3(lseek, fd, 0, SEEK_SET);
	CALL3(read, fd, page, PAGE);
	CALL4(pread64, fd, page, 64, 128);
	CALL4(pwrite64, fd, page, 64, 40000);
	CALL4(fallocate, fd, 0, 0, 8 * PAGE);
	CALL4(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, 2 * PAGE);
	CALL2(ftruncate, fd, 3 * PAGE);
	CALL1(fsync, fd);
	CALL3(fcntl, fd, F_SETLK, &lock);
	CALL5(statx, AT_FDCWD, path, 0, 0x7ff, text);
	CALL2(fstatfs, fd, text);
	CALL5(setxattr, path, "user.scs_bench", "value", 5, 0);
	CALL5(setxattr, path, "trusted.scs_bench", "value", 5, 0);
	CALL4(getxattr, path, "trusted.scs_bench", text, sizeof(text));
	CALL3(listxattr, path, text, sizeof(text));
	CALL2(fchmod, fd, 0640);
	CALL3(fchown, fd, 1, 1);
	CALL4(utimensat, AT_FDCWD, path, NULL, 0);

	mem = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem != MAP_FAILED) {
		mem[0] = 1;
		mem[2 * PAGE] = 1;
		CALL3(msync, mem, 3 * PAGE, MS_SYNC);
		CALL3(madvise, mem, 3 * PAGE, MADV_DONTNEED);
		CALL2(munmap, mem, 3 * PAGE);
	}
	mem = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (mem != MAP_FAILED) {
		mem[PAGE] = 1;
		CALL2(munmap, mem, 3 * PAGE);
	}
	shut(fd);

	join(linked, sizeof(linked), path, ".link");
	CALL5(linkat, AT_FDCWD, path, AT_FDCWD, linked, 0);
	CALL5(renameat2, AT_FDCWD, linked, AT_FDCWD, path, RENAME_EXCHANGE);
	CALL3(unlinkat, AT_FDCWD, linked, 0);
	CALL3(symlinkat, path, AT_FDCWD, linked);
	CALL4(readlinkat, AT_FDCWD, linked, text, sizeof(text));
	fd = open_at(linked, O_RDONLY);
	shut(fd);
	CALL3(unlinkat, AT_FDCWD, linked, 0);
}

static void do_tree(unsigned int depth)
{
	char text[512];
	int fd;

	CALL3(mkdirat, AT_FDCWD, "sub", 0700);
	CALL4(mknodat, AT_FDCWD, "fifo", S_IFIFO | 0600, 0);
	fd = open_at("file", O_CREAT | O_RDWR);
	CALL3(write, fd, page, 2 * depth);
	shut(fd);
	fd = open_at(".", O_RDONLY | O_DIRECTORY);
	while (CALL3(getdents64, fd, text, sizeof(text)) > 0)
		;
	shut(fd);
	if (depth && !CALL1(chdir, "sub")) {
		do_tree(depth - 1);
		CALL2(getcwd, text, sizeof(text));
		CALL1(chdir, "..");
	}
	CALL3(unlinkat, AT_FDCWD, "file", 0);
	CALL3(unlinkat, AT_FDCWD, "fifo", 0);
	CALL3(unlinkat, AT_FDCWD, "sub", AT_REMOVEDIR);
}

static void do_files(void)
{
	int in, out, watch;
	char path[NAME_SIZE];
	unsigned int i;

	CALL3(mkdirat, AT_FDCWD, DIR, 0700);
	CALL5(mount, "none", DIR, "tmpfs", 0, NULL);
	watch = CALL1(inotify_init1, O_NONBLOCK);
	CALL3(inotify_add_watch, watch, DIR, IN_ALL_EVENTS);
	for (i = 0; i < FILES; i++) {
		name_of(path, "file", i);
		do_one_file(path);
	}
	CALL3(read, watch, page, PAGE);
	shut(watch);

	name_of(path, "file", 0);
	in = open_at(path, O_RDONLY);
	name_of(path, "file", 1);
	out = open_at(path, O_WRONLY);
	CALL4(sendfile, out, in, NULL, 2 * PAGE);
	CALL6(copy_file_range, in, NULL, out, NULL, PAGE, 0);
	shut(in);
	shut(out);

	CALL1(chdir, DIR);
	do_tree(TREE_DEPTH);
	CALL1(chdir, "/");
	for (i = 0; i < FILES; i++) {
		name_of(path, "file", i);
		CALL3(unlinkat, AT_FDCWD, path, 0);
	}
	CALL2(umount2, DIR, 0);
}

/* Files whose reading blocks, or that hold all of memory. */
static bool is_endless(const char *name)
{
	return !strcmp(name, "kmsg") || !strcmp(name, "kcore") || !strcmp(name, "trace_pipe") ||
	       !strcmp(name, "trace_pipe_raw") || !strcmp(name, "page_owner") ||
	       !strcmp(name, "snapshot_raw") || !strcmp(name, "pagemap") || !strcmp(name, "mem");
}

static void read_through(const char *path)
{
	long total = 0, n;
	int fd = open_at(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return;
	do {
		n = CALL3(read, fd, page, PAGE);
		total += n;
	} while (n > 0 && total < READ_LIMIT);
	shut(fd);
}

/* Read all files below @path, which has PATH_SIZE bytes; not through symbolic links. */
static void walk(char *path, unsigned int depth)
{
	/* One buffer a level: nolibc's malloc() gives nothing back. */
	static char buffers[WALK_DEPTH + 1][2048];
	char *buf = buffers[depth], *end = path + strlen(path);
	struct linux_dirent64 *entry;
	int fd = open_at(path, O_RDONLY | O_DIRECTORY);
	long n, pos;

	while ((n = CALL3(getdents64, fd, buf, sizeof(buffers[0]))) > 0) {
		for (pos = 0; pos < n; pos += entry->d_reclen) {
			entry = (struct linux_dirent64 *)(buf + pos);
			if (entry->d_name[0] == '.' || is_endless(entry->d_name) ||
			    end - path + strlen(entry->d_name) + 2 > PATH_SIZE)
				continue;
			strlcat(path, "/", PATH_SIZE);
			strlcat(path, entry->d_name, PATH_SIZE);
			if (entry->d_type == DT_DIR && depth < WALK_DEPTH)
				walk(path, depth + 1);
			else if (entry->d_type == DT_REG)
				read_through(path);
			else if (entry->d_type == DT_LNK)
				CALL4(readlinkat, AT_FDCWD, path, page, PAGE);
			*end = '\0';
		}
	}
	shut(fd);
}

static void do_proc_and_sys(void)
{
	static const char *const tops[] = {
		"/proc/self", "/proc/1/task", "/proc/sys", "/proc/fs", "/proc/irq", "/proc/tty",
		"/sys/kernel/mm", "/sys/kernel/slab", "/sys/class", "/sys/devices", "/sys/bus",
		"/sys/fs", "/sys/module", "/dev",
	};
	static const char *const files[] = {
		"/proc/meminfo", "/proc/slabinfo", "/proc/vmstat", "/proc/zoneinfo", "/proc/stat",
		"/proc/interrupts", "/proc/mounts", "/proc/cpuinfo", "/proc/iomem", "/proc/devices",
		"/proc/buddyinfo", "/proc/vmallocinfo", "/proc/timer_list", "/proc/kallsyms",
		"/proc/locks", "/proc/partitions", "/proc/filesystems", "/proc/crypto",
		"/sys/kernel/debug/stackdepot/stats", "/sys/kernel/debug/sched/debug",
		"/sys/kernel/debug/tracing/available_tracers", "/sys/kernel/debug/tracing/trace",
	};
	static char path[PATH_SIZE];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tops); i++) {
		join(path, sizeof(path), tops[i], "");
		walk(path, 0);
	}
	for (i = 0; i < ARRAY_SIZE(files); i++)
		read_through(files[i]);
}

/* --- Pipes, sockets and events --------------------------------------------- */

static void do_pipes(void)
{
	int a[2], b[2], event, signals, timer, poller;
	struct { unsigned int events; unsigned long data; } ready = { EPOLLIN, 0 };
	struct pollfd fds[2];
	unsigned long mask = 1UL << (SIGUSR1 - 1), one = 1;
	struct itimerspec soon = { .it_value = { 0, 1 } };
	unsigned int i;

	CALL2(pipe2, a, O_NONBLOCK);
	CALL2(pipe2, b, O_NONBLOCK);
	for (i = 0; i < 20; i++)
		CALL3(write, a[1], page, PAGE);
	CALL4(tee, a[0], b[1], 8 * PAGE, 0);
	CALL6(splice, a[0], NULL, b[1], NULL, 4 * PAGE, 0);
	CALL3(fcntl, a[0], F_SETPIPE_SZ, 64 * PAGE);
	fds[0] = (struct pollfd){ .fd = a[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = b[0], .events = POLLIN };
	CALL5(ppoll, fds, 2, NULL, NULL, 0);

	event = CALL2(eventfd2, 0, O_NONBLOCK);
	CALL4(rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
	signals = CALL4(signalfd4, -1, &mask, sizeof(mask), O_NONBLOCK);
	timer = CALL2(timerfd_create, CLOCK_MONOTONIC, O_NONBLOCK);
	CALL4(timerfd_settime, timer, 0, &soon, NULL);
	poller = CALL1(epoll_create1, 0);
	CALL4(epoll_ctl, poller, EPOLL_CTL_ADD, a[0], &ready);
	CALL4(epoll_ctl, poller, EPOLL_CTL_ADD, event, &ready);
	CALL4(epoll_ctl, poller, EPOLL_CTL_ADD, signals, &ready);
	CALL4(epoll_ctl, poller, EPOLL_CTL_ADD, timer, &ready);
	CALL3(write, event, &one, sizeof(one));
	CALL2(kill, CALL0(getpid), SIGUSR1);
	CALL6(epoll_pwait, poller, page, 16, 0, NULL, 0);
	CALL3(read, signals, page, PAGE);
	CALL3(read, timer, page, 8);
	CALL4(epoll_ctl, poller, EPOLL_CTL_DEL, event, NULL);
	while (CALL3(read, a[0], page, PAGE) > 0)
		;
	shut(poller);
	shut(timer);
	shut(signals);
	shut(event);
	for (i = 0; i < 2; i++) {
		shut(a[i]);
		shut(b[i]);
	}
}

static void do_unix_sockets(void)
{
	struct { unsigned short family; char path[14]; } addr = { AF_UNIX, "/tmp/socket" };
	unsigned int type, i;
	int pair[2], listener, client, server;

	for (type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
		if (CALL4(socketpair, AF_UNIX, type | SOCK_NONBLOCK, 0, pair) < 0)
			return;
		for (i = 0; i < 8; i++)
			CALL6(sendto, pair[0], page, 500 * (i + 1), 0, NULL, 0);
		while (CALL6(recvfrom, pair[1], page, PAGE, 0, NULL, NULL) > 0)
			;
		shut(pair[0]);
		shut(pair[1]);
	}
	listener = CALL3(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CALL3(bind, listener, &addr, sizeof(addr));
	CALL2(listen, listener, 4);
	client = CALL3(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CALL3(connect, client, &addr, sizeof(addr));
	server = CALL4(accept4, listener, NULL, NULL, SOCK_NONBLOCK);
	CALL3(write, client, page, 100);
	CALL3(read, server, page, 100);
	shut(server);
	shut(client);
	shut(listener);
	CALL3(unlinkat, AT_FDCWD, addr.path, 0);
}

/* As the kernel's struct ifreq; <linux/if.h> needs a C library. */
struct interface_request {
	char name[16];
	short flags;
	char rest[22];
};

static void loopback_up(void)
{
	struct interface_request req = { .name = "lo" };
	int fd = CALL3(socket, AF_INET, SOCK_DGRAM, 0);

	CALL3(ioctl, fd, SIOCGIFFLAGS, &req);
	req.flags |= IFF_UP;
	CALL3(ioctl, fd, SIOCSIFFLAGS, &req);
	shut(fd);
}

static void do_inet_sockets(unsigned int round)
{
	struct { unsigned short family, port; unsigned int address; char zero[8]; } addr = {
		AF_INET, __builtin_bswap16(5000 + round), __builtin_bswap32(0x7f000001), ""
	};
	int listener, client, server, one = 1, i;

	loopback_up();
	listener = CALL3(socket, AF_INET, SOCK_STREAM, 0);
	if (listener < 0)
		return;
	CALL5(setsockopt, listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CALL3(bind, listener, &addr, sizeof(addr));
	CALL2(listen, listener, 4);
	/* On the loopback device a connection is there when connect() returns. */
	client = CALL3(socket, AF_INET, SOCK_STREAM, 0);
	if (CALL3(connect, client, &addr, sizeof(addr)) >= 0) {
		server = CALL4(accept4, listener, NULL, NULL, SOCK_NONBLOCK);
		for (i = 0; i < 8; i++) {
			CALL3(write, client, page, PAGE);
			CALL3(read, server, page, PAGE);
		}
		shut(server);
	}
	shut(client);
	shut(listener);

	server = CALL3(socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	client = CALL3(socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	CALL3(bind, server, &addr, sizeof(addr));
	for (i = 0; i < 8; i++)
		CALL6(sendto, client, page, 1000, 0, &addr, sizeof(addr));
	while (CALL6(recvfrom, server, page, PAGE, 0, NULL, NULL) > 0)
		;
	shut(client);
	shut(server);
}

/* --- Memory, processes and the rest ---------------------------------------- */

static void do_memory(void)
{
	size_t size = MAP_PAGES * PAGE;
	unsigned int i;
	char *mem, *moved;
	int fd;

	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return;
	for (i = 0; i < MAP_PAGES; i++)
		mem[i * PAGE] = 1;
	CALL3(mprotect, mem + 8 * PAGE, 8 * PAGE, PROT_READ);
	CALL3(madvise, mem + 24 * PAGE, 8 * PAGE, MADV_DONTNEED);
	CALL2(munmap, mem + 40 * PAGE, 4 * PAGE);
	CALL2(mlock, mem, 4 * PAGE);
	CALL3(mincore, mem, 8 * PAGE, page);
	moved = (char *)CALL5(mremap, mem, 4 * PAGE, 600 * PAGE, MREMAP_MAYMOVE, 0);
	if ((long)moved > 0) {
		moved[500 * PAGE] = 1;
		CALL2(munmap, moved, 600 * PAGE);
	}
	CALL2(munmap, mem, size);

	fd = CALL2(memfd_create, "workload", 0);
	CALL2(ftruncate, fd, 16 * PAGE);
	mem = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem != MAP_FAILED) {
		for (i = 0; i < 16; i++)
			mem[i * PAGE] = 1;
		CALL2(munmap, mem, 16 * PAGE);
	}
	shut(fd);
}

static void do_sysv_ipc(void)
{
	struct { short num, op, flags; } up = { 0, 1, 0 };
	int shm = CALL3(shmget, IPC_PRIVATE, 8 * PAGE, IPC_CREAT | 0600);
	int sem = CALL3(semget, IPC_PRIVATE, 4, IPC_CREAT | 0600);
	int msg = CALL2(msgget, IPC_PRIVATE, IPC_CREAT | 0600);
	char *mem = (char *)CALL3(shmat, shm, NULL, 0);
	struct { long type; char text[200]; } message = { .type = 1 };

	if ((long)mem > 0) {
		mem[PAGE] = 1;
		CALL1(shmdt, mem);
	}
	CALL3(shmctl, shm, IPC_RMID, NULL);
	CALL3(semop, sem, &up, 1);
	CALL4(semctl, sem, 0, IPC_RMID, 0);
	CALL4(msgsnd, msg, &message, sizeof(message.text), 0);
	CALL5(msgrcv, msg, &message, sizeof(message.text), 1, 0);
	CALL3(msgctl, msg, IPC_RMID, NULL);
}

static void do_timers(void)
{
	struct itimerspec soon = { .it_value = { 0, 1000000 } };
	struct itimerspec none = { 0 };
	struct timespec pause = { 0, 2000000 };
	int timer = 0;

	CALL3(timer_create, CLOCK_MONOTONIC, NULL, &timer);
	CALL4(timer_settime, timer, 0, &soon, NULL);
	CALL4(timer_settime, timer, 0, &none, NULL);
	CALL1(timer_delete, timer);
	CALL4(clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	CALL6(futex, page, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void do_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};
	int fd = CALL5(perf_event_open, &attr, 0, -1, -1, 0);
	char *mem = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CALL3(read, fd, page, 64);
	if (mem != MAP_FAILED)
		CALL2(munmap, mem, 3 * PAGE);
	shut(fd);
}

/* What the forked children do, by number; none returns. */
static void be_child(unsigned int nr)
{
	static char *const argv[] = { "init", WORKLOAD_EXEC, NULL };
	static char *const envp[] = { NULL };
	char *mem;

	switch (nr % 5) {
	case 0:
		execve("/init", argv, envp);
		break;
	case 1:
		CALL1(unshare, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_FILES);
		CALL5(mount, "none", "/tmp", "tmpfs", 0, NULL);
		do_one_file("/tmp/child");
		break;
	case 2:
		do_memory();
		CALL0(setsid);
		break;
	case 3:
		/* It waits to be killed, with memory of its own. */
		mem = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mem != MAP_FAILED)
			mem[PAGE] = 1;
		CALL2(kill, CALL0(getpid), SIGKILL);
		break;
	}
	exit(0);
}

static void do_processes(void)
{
	unsigned int i;
	int pid;

	for (i = 0; i < FORKS; i++) {
		pid = count(fork());
		if (!pid)
			be_child(i);
		CALL2(setpgid, pid, 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void do_names(void)
{
	struct utsname uts;

	CALL1(uname, &uts);
	CALL2(sethostname, "workload", 8);
	CALL5(prctl, PR_SET_NAME, "workload", 0, 0, 0);
	CALL2(setgroups, 0, NULL);
	CALL1(sched_getparam, 0);
	CALL3(sched_setaffinity, 0, 8, "\1\0\0\0\0\0\0\0");
	CALL0(sched_yield);
	CALL2(dup3, 1, 200);
	CALL1(close, 200);
}

static void do_part(const char *name, void (*part)(void))
{
	calls = 0;
	successes = 0;
	part();
	printf("scs_bench: workload %s %u calls %u successful\n", name, calls, successes);
}

static unsigned int current_round;

static void do_inet(void)
{
	do_inet_sockets(current_round);
}

/** run_workload - make all the calls, ROUNDS times; /proc and /sys are mounted */
void run_workload(void)
{
	for (current_round = 0; current_round < ROUNDS; current_round++) {
		do_part("files", do_files);
		do_part("pipes", do_pipes);
		do_part("unix", do_unix_sockets);
		do_part("inet", do_inet);
		do_part("memory", do_memory);
		do_part("ipc", do_sysv_ipc);
		do_part("timers", do_timers);
		do_part("perf", do_perf);
		do_part("processes", do_processes);
		do_part("names", do_names);
		/* Once for what is there, and once for how what came since is seen. */
		if (current_round == 0 || current_round == ROUNDS - 1)
			do_part("procsys", do_proc_and_sys);
	}
}
