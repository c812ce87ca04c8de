// SPDX-License-Identifier: GPL-2.0
/* The property test: random sequences of operations, shrunk when one fails. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interp.h"

#define MAX_LEN	(1 + 4000 * INTERP_OP_SIZE)

/* What the process that runs the sequences tells the one that waits. */
static struct {
	uint64_t seed;
	struct interp_stats stats;
} *shared;

static uint64_t random_state;

static uint64_t random_u64(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static size_t make_sequence(uint64_t seed, uint8_t *data)
{
	size_t ops, len;

	random_state = seed * 0xd1342543de82ef95ULL;
	ops = random_u64() % 8 ? random_u64() % 400 : random_u64() % 4000;
	len = 1 + ops * INTERP_OP_SIZE;
	for (size_t i = 0; i < len; i++)
		data[i] = random_u64();
	return len;
}

/* Whether @data fails, seen from outside. */
static int fails(const uint8_t *data, size_t len)
{
	pid_t pid = fork();
	int status, null;

	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, 2);
		alarm(20);
		interp_run(data, len, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status != 0;
}

/* Leaves out operations as long as it still fails. */
static size_t shrink(uint8_t *data, size_t len)
{
	uint8_t *less = malloc(len);
	time_t end = time(NULL) + 60;

	for (size_t ops = (len / INTERP_OP_SIZE + 1) / 2; ops && time(NULL) < end; ) {
		size_t step = ops * INTERP_OP_SIZE;
		int gained = 0;

		for (size_t at = 1; at < len && time(NULL) < end; ) {
			size_t gone = step < len - at ? step : len - at;

			memcpy(less, data, at);
			memcpy(less + at, data + at + gone, len - at - gone);
			if (fails(less, len - gone)) {
				len -= gone;
				memcpy(data, less, len);
				gained = 1;
			} else {
				at += step;
			}
		}
		if (!gained || ops == 1)
			ops /= 2;
	}
	free(less);
	return len;
}

static void run_all(uint64_t seed, uint64_t count, double seconds)
{
	static uint8_t data[MAX_LEN];
	struct timespec t0, t;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (uint64_t i = 0; i < count; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (seconds && t.tv_sec - t0.tv_sec + (t.tv_nsec - t0.tv_nsec) / 1e9 > seconds)
			break;
		shared->seed = seed + i;
		interp_run(data, make_sequence(seed + i, data), 0);
		shared->stats = interp_stats;
	}
}

static int report_failure(int do_shrink, const char *save)
{
	static uint8_t data[MAX_LEN];
	size_t len = make_sequence(shared->seed, data);
	FILE *f;

	printf("not ok - sequence of seed %" PRIu64 ", %zu operations\n", shared->seed,
	       len / INTERP_OP_SIZE);
	fflush(stdout);
	if (!do_shrink)
		return 1;
	if (!fails(data, len)) {
		printf("# it does not fail by itself: run the seeds before it, too\n");
		return 1;
	}
	len = shrink(data, len);
	printf("# shrunk to %zu operations:\n", len / INTERP_OP_SIZE);
	if (save) {
		f = fopen(save, "w");
		if (!f || fwrite(data, 1, len, f) != len || fclose(f))
			perror(save);
		else
			printf("# kept in %s: --replay runs it\n", save);
	}
	fflush(stdout);
	interp_run(data, len, 1);
	return 1;
}

static int replay(const char *path)
{
	static uint8_t data[MAX_LEN];
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f) {
		fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
		return 2;
	}
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	interp_run(data, len, 1);
	printf("ok - %s\n", path);
	return 0;
}

static void say_usage(void)
{
	fprintf(stderr,
		"usage: property [--seed N] [--count N] [--seconds N] [--no-shrink] [--save FILE]\n"
		"       property --replay FILE\n");
	exit(2);
}

static uint64_t to_number(const char *text)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (*end || end == text || errno) {
		fprintf(stderr, "error: '%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 't' },
		{ "no-shrink", no_argument, NULL, 'x' },
		{ "save", required_argument, NULL, 'o' },
		{ "replay", required_argument, NULL, 'r' },
		{ }
	};
	uint64_t seed = time(NULL) * 1000003ULL, count = UINT64_MAX, seconds = 10;
	const char *save = NULL;
	int do_shrink = 1, c, status;
	pid_t pid;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			seed = to_number(optarg);
			break;
		case 'n':
			count = to_number(optarg);
			seconds = 0;
			break;
		case 't':
			seconds = to_number(optarg);
			break;
		case 'x':
			do_shrink = 0;
			break;
		case 'o':
			save = optarg;
			break;
		case 'r':
			return replay(optarg);
		default:
			say_usage();
		}
	}
	if (optind != argc)
		say_usage();

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	pid = fork();
	if (!pid) {
		run_all(seed, count, seconds);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (status)
		return report_failure(do_shrink, save);

	printf("# first seed %" PRIu64 ": %lu operations, %lu saves", seed, shared->stats.ops,
	       shared->stats.saves);
	printf(" (%lu hits, %lu misses, %lu refused), %lu traces freed, %lu fetches, %lu prints,",
	       shared->stats.hits, shared->stats.misses, shared->stats.refused,
	       shared->stats.evicted, shared->stats.fetches, shared->stats.prints);
	printf(" %lu cut at an interrupt, %lu too long\n", shared->stats.cut,
	       shared->stats.too_long);
	printf("ok - random sequences of operations get the same answers from both depots\n");
	return 0;
}
