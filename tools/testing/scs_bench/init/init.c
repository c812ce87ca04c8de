// SPDX-License-Identifier: GPL-2.0
/*
 * The static init that scs_bench boots: it reads the guest's instruction counter first of all, or
 * makes stack traces of a known kind, prints what it saw between markers and powers off.
 *
 * What to do is its first argument ("-- pageowner" on the kernel command line); "boot" is the
 * default. Every line for the harness starts with "scs_bench: ".
 */
#include "nolibc.h"

#include <linux/reboot.h>

#include "init.h"
#include "jobs.h"
#include "memory.h"
#include "workload.h"

#define SCS_MODE	DEBUGFS "/scs_trace/mode"
#define OWNER_COMM	"scs_owner"
#define TOUCH_PAGES	64
#define BLOCKED_FORKS	4
#define MAX_RECORDS	256
#define TEXT_SIZE	8192

/* Written by scs_bench_entry(), before any other code of this program runs. */
unsigned long boot_counter;

/*
 * The program's entry: the counter is read by the first instruction that user space executes, so
 * that nothing of this program is in the figure.
 */
__attribute__((naked)) void scs_bench_entry(void)
{
	asm volatile("mrs	x9, cntvct_el0\n\t"
		     "adrp	x10, boot_counter\n\t"
		     "str	x9, [x10, :lo12:boot_counter]\n\t"
		     "b	_start");
}

/** read_counter - the counter, now */
unsigned long read_counter(void)
{
	unsigned long val;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(val) :: "memory");
	return val;
}

/** read_counter_freq - ticks of the counter a second */
unsigned long read_counter_freq(void)
{
	unsigned long val;

	asm volatile("mrs %0, cntfrq_el0" : "=r"(val));
	return val;
}

static void block_forever(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static void power_off(void)
{
	ioctl(1, TCSBRK, (void *)1);	/* wait until the UART has sent everything */
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	block_forever();
}

/**
 * fail - say what could not be done, and power off
 * @what: that
 */
void fail(const char *what)
{
	printf("scs_bench: error %s: errno %d\n", what, errno);
	power_off();
}

/** quiet_console - keep printk away from the console, where it could cut a line of ours in two */
void quiet_console(void)
{
	my_syscall3(__NR_syslog, 6 /* SYSLOG_ACTION_CONSOLE_OFF */, NULL, 0);
}

/* nolibc has no strstr() everywhere. */
static char *find(char *text, const char *what)
{
	int len = strlen(what);

	for (; *text; text++)
		if (!strncmp(text, what, len))
			return text;
	return NULL;
}

/** mount_all - mount /proc, /sys and debugfs */
void mount_all(void)
{
	if (mount("proc", "/proc", "proc", 0, NULL))
		fail("mounting /proc");
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		fail("mounting /sys");
	if (mount("debugfs", DEBUGFS, "debugfs", 0, NULL))
		fail("mounting " DEBUGFS " (is CONFIG_DEBUG_FS set?)");
}

static void mount_tmp(void)
{
	if (mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		fail("mounting /tmp");
}

/**
 * read_text - read a whole small file
 * @path: the file
 * @buf: where its text goes, terminated
 * @size: how large that is; what is more is left out
 *
 * Return: the length of the text, or -1.
 */
int read_text(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY);
	int len = 0, n;

	if (fd < 0)
		return -1;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

/**
 * print_file - print a small file between marks, or a mark that says that it is not there
 * @name: what it is called in the marks
 * @path: the file
 */
void print_file(const char *name, const char *path)
{
	static char text[TEXT_SIZE];

	if (read_text(path, text, sizeof(text)) < 0) {
		printf("scs_bench: absent %s\n", name);
		return;
	}
	printf("scs_bench: begin %s\n%sscs_bench: end %s\n", name, text, name);
}

/*
 * sched_clock() starts in time_init() and runs on the counter, but user space cannot read it. A
 * line written to /dev/kmsg is stamped with it, in microseconds; the counter on either side of the
 * write says how far off the stamp can be.
 */
static void print_sched_clock(void)
{
	static const char line[] = "<7>scs_bench: stamp\n";
	char record[256], *stamp;
	unsigned long before, after;
	int wr, rd, n;

	wr = open("/dev/kmsg", O_WRONLY);
	rd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (wr < 0 || rd < 0)
		fail("opening /dev/kmsg");
	lseek(rd, 0, SEEK_END);
	before = read_counter();
	n = write(wr, line, sizeof(line) - 1);
	after = read_counter();
	if (n < 0)
		fail("writing to /dev/kmsg");
	n = read(rd, record, sizeof(record) - 1);
	if (n <= 0)
		fail("reading /dev/kmsg");
	record[n] = '\0';
	/* "level,sequence,microseconds,flags;text" */
	stamp = strchr(record, ',');
	stamp = stamp ? strchr(stamp + 1, ',') : NULL;
	if (!stamp)
		fail("understanding /dev/kmsg");
	printf("scs_bench: kmsg %lu %lu %lu\n", before, after, strtoul(stamp + 1, NULL, 10));
	close(wr);
	close(rd);
}

static void run_boot(void)
{
	quiet_console();
	print_sched_clock();
	printf("scs_bench: entry 0x%lx\n", (unsigned long)scs_bench_entry);
	printf("scs_bench: cntfrq %lu\n", read_counter_freq());
	printf("scs_bench: cntvct %lu\n", boot_counter);
	printf("scs_bench: pagesize %d\n", getpagesize());
	mount_all();
	print_file("stackdepot", DEBUGFS "/stackdepot/stats");
	print_file("scs_trace", DEBUGFS "/scs_trace/stats");
}

/* What the child that owns the pages does; never returns. */
static void own_pages(int ready)
{
	static char page[4096];
	char *mem;
	int fd, pipefd[2], i;

	prctl(PR_SET_NAME, (unsigned long)OWNER_COMM, 0, 0, 0);

	mem = mmap(NULL, TOUCH_PAGES * sizeof(page), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		fail("mapping pages");
	for (i = 0; i < TOUCH_PAGES; i++)
		mem[i * sizeof(page)] = 1;

	fd = open("/tmp/file", O_CREAT | O_WRONLY, 0600);
	if (fd < 0)
		fail("creating a file on tmpfs");
	for (i = 0; i < TOUCH_PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			fail("writing a file on tmpfs");

	if (pipe(pipefd))
		fail("making a pipe");
	for (i = 0; i < 8; i++)
		if (write(pipefd[1], page, sizeof(page)) != sizeof(page))
			fail("filling a pipe");

	for (i = 0; i < BLOCKED_FORKS; i++) {
		int pid = fork();

		if (pid < 0)
			fail("forking");
		if (!pid) {
			mem[0] = 2;	/* copy on write */
			write(ready, "", 1);
			block_forever();
		}
	}
	write(ready, "", 1);
	block_forever();
}

/*
 * Reduce a record to what must be the same on every kernel that allocates the same pages: "order
 * and gfp mask", then the stack. The rest (pid, time, frame number) is cut out in place.
 */
static int reduce_record(char *text)
{
	char *start = find(text, "order "), *pid = find(text, ", pid ");
	char *frames, *end;
	int len;

	if (!start || !pid || !find(pid, "(" OWNER_COMM ")"))
		return -1;
	frames = strchr(pid, '\n');
	frames = frames ? strchr(frames + 1, '\n') : NULL;
	if (!frames)
		return -1;
	for (end = frames + 1; *end == ' '; end++) {
		end = strchr(end, '\n');
		if (!end)
			return -1;
	}
	*end = '\0';
	len = pid - start;
	memmove(text, start, len);
	memmove(text + len, frames, end - frames + 1);
	return 0;
}

static void print_unique_records(void)
{
	static char text[TEXT_SIZE];
	static char *seen[MAX_RECORDS];
	int fd, n, i, count = 0;

	fd = open(DEBUGFS "/page_owner", O_RDONLY);
	if (fd < 0)
		fail("opening page_owner (boot with page_owner=on)");
	while ((n = read(fd, text, sizeof(text) - 1)) > 0) {
		text[n] = '\0';
		if (reduce_record(text))
			continue;
		for (i = 0; i < count; i++)
			if (!strcmp(seen[i], text))
				break;
		if (i < count)
			continue;
		if (count == MAX_RECORDS)
			fail("keeping page_owner records: there are too many");
		seen[count] = strdup(text);
		if (!seen[count])
			fail("allocating memory");
		count++;
	}
	if (n < 0)
		fail("reading page_owner (boot with page_owner=on)");
	close(fd);

	printf("scs_bench: begin page_owner\n");
	for (i = 0; i < count; i++)
		printf("scs_bench: record %s", seen[i]);
	printf("scs_bench: end page_owner\n");
}

static void run_pageowner(void)
{
	int pipefd[2], i, pid;
	char byte;

	quiet_console();
	mount_all();
	mount_tmp();
	if (pipe(pipefd))
		fail("making a pipe");
	pid = fork();
	if (pid < 0)
		fail("forking");
	if (!pid)
		own_pages(pipefd[1]);
	for (i = 0; i < BLOCKED_FORKS + 1; i++)
		if (read(pipefd[0], &byte, 1) != 1)
			fail("waiting for the child");
	print_unique_records();
}

/* Read /proc/<pid>/<name>. */
static void read_proc(int pid, const char *name, char *text, int size)
{
	char path[64] = "/proc/";

	u64toa_r(pid, path + strlen(path));
	strlcat(path, "/", sizeof(path));
	strlcat(path, name, sizeof(path));
	if (read_text(path, text, size) <= 0)
		fail("reading about the child in /proc");
}

static void wait_until_blocked(int pid)
{
	char text[512], *state;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		read_proc(pid, "stat", text, sizeof(text));
		state = strrchr(text, ')');
		if (state && state[1] == ' ' && state[2] == 'S')
			return;
		msleep(20);
	}
	fail("waiting for the child to block");
}

/* The stack of a blocked task, through the frame pointers and through the shadow call stack. */
static void run_procstack(void)
{
	static char off[TEXT_SIZE], on[TEXT_SIZE];
	int pid;

	quiet_console();
	mount_all();
	pid = fork();
	if (pid < 0)
		fail("forking");
	if (!pid)
		block_forever();
	wait_until_blocked(pid);

	if (write_text(SCS_MODE, "off")) {
		read_proc(pid, "stack", off, sizeof(off));
		printf("scs_bench: begin procstack\n%sscs_bench: end procstack\n", off);
		printf("scs_bench: absent scs_trace\n");
		return;
	}
	read_proc(pid, "stack", off, sizeof(off));
	if (write_text(SCS_MODE, "on"))
		fail("switching scs_trace on");
	read_proc(pid, "stack", on, sizeof(on));
	printf("scs_bench: begin procstack off\n%sscs_bench: end procstack off\n", off);
	printf("scs_bench: begin procstack on\n%sscs_bench: end procstack on\n", on);
	printf("scs_bench: procstack %s\n", strcmp(off, on) ? "different" : "equal");
	print_file("scs_trace", DEBUGFS "/scs_trace/stats");
}

/* Calls of many kinds, for the traces that they make. */
static void run_work(void)
{
	quiet_console();
	mount_all();
	run_workload();
	print_file("stackdepot", DEBUGFS "/stackdepot/stats");
}

static void run_memory_points(void)
{
	quiet_console();
	mount_all();
	mount_tmp();
	run_memory();
}

/* Programs of a root file system of their own expect a little more. */
static void run_load(char **names)
{
	quiet_console();
	mount_all();
	mount_tmp();
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		fail("mounting /dev");
	mkdir("/dev/shm", 01777);
	if (mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL))
		fail("mounting /dev/shm");
	mkdir("/dev/pts", 0755);
	mount("devpts", "/dev/pts", "devpts", 0, NULL);
	run_jobs(names);
}

/* For tests in the kernel that need a module. */
static int load_module(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 || my_syscall3(__NR_finit_module, fd, "", 0) < 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "boot";

	if (!strcmp(mode, "block"))
		block_forever();

	if (!strcmp(mode, WORKLOAD_EXEC))
		return 0;

	if (!strcmp(mode, "insmod"))
		return load_module(argc > 2 ? argv[2] : "");
	if (!strcmp(mode, "rmmod"))
		return my_syscall2(__NR_delete_module, argc > 2 ? argv[2] : "", 0) < 0;

	if (!strcmp(mode, "boot")) {
		run_boot();
	} else if (!strcmp(mode, "off")) {
		/* Nothing but the end that is below. */
	} else if (!strcmp(mode, "workload")) {
		run_work();
	} else if (!strcmp(mode, "pageowner")) {
		run_pageowner();
	} else if (!strcmp(mode, "procstack")) {
		run_procstack();
	} else if (!strcmp(mode, "memory")) {
		run_memory_points();
	} else if (!strcmp(mode, "load")) {
		run_load(argv + 2);
	} else if (!strcmp(mode, "idle")) {
		printf("scs_bench: idle\n");
		block_forever();
	} else {
		printf("scs_bench: error unknown mode %s\n", mode);
		power_off();
	}
	printf("scs_bench: done\n");
	power_off();
	return 0;
}
