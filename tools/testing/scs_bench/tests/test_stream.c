// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of streams: their file, damage to it, and the log in a guest's memory that they are from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_record.h"
#include "proc.h"
#include "qemu.h"
#include "test.h"
#include "util.h"

#define TEXT_START	0xffff800080000000ULL
#define TEXT_END	0xffff800082000000ULL
#define RAM_BASE	0x40000000ULL

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* A trace of few addresses, so that traces share outer frames and come again. */
static uint32_t random_trace(uint64_t *entries)
{
	uint32_t nr = random_below(20), i;

	for (i = 0; i < nr; i++)
		entries[i] = TEXT_START + 0x1000 * (nr - i) + 4 * random_below(2);
	if (nr && !random_below(50))
		entries[0] = random_below(2) ? 0 : ~0ULL;
	return nr;
}

static void fill_stream(struct stream *s, unsigned int nops)
{
	uint64_t entries[20];
	uint32_t nr;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->label = xstrdup("a test, made up");
	s->flags = STREAM_PAGE_OWNER;
	s->text_start = TEXT_START;
	s->text_end = TEXT_END;
	for (i = 0; i < nops; i++) {
		if (i && !random_below(4)) {
			/* Every other put is of a handle that other traces have had, too. */
			assert_int_equal(stream_add_put(s, random_below(4), 1), 0);
			continue;
		}
		nr = random_trace(entries);
		assert_int_equal(stream_add_save(s, entries, nr, random_below(4), random_below(4),
						 i ? random_below(3) : 1), 0);
	}
}

static void assert_same(const struct stream *a, const struct stream *b)
{
	size_t i;

	assert_string_equal(a->label, b->label);
	assert_int_equal(a->flags, b->flags);
	assert_true(a->text_start == b->text_start && a->text_end == b->text_end);
	assert_int_equal(a->ntraces, b->ntraces);
	for (i = 0; i < a->ntraces; i++) {
		assert_int_equal(a->traces[i].nr, b->traces[i].nr);
		if (a->traces[i].nr)
			assert_memory_equal(a->entries + a->traces[i].first,
					    b->entries + b->traces[i].first,
					    a->traces[i].nr * sizeof(*a->entries));
	}
	assert_int_equal(a->nops, b->nops);
	for (i = 0; i < a->nops; i++)
		assert_memory_equal(&a->ops[i], &b->ops[i], sizeof(a->ops[i]));
}

static void test_round_trip(void **state)
{
	static const unsigned int sizes[] = { 0, 1, 2, 100, 3000 };
	char *dir = temp_dir(), *path = xasprintf("%s/stream", dir);
	struct stream s, back;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill_stream(&s, sizes[i]);
		assert_null(stream_write(&s, path));
		assert_null(stream_read(&back, path));
		assert_same(&s, &back);
		stream_free(&back);
		stream_free(&s);
	}
	free(path);
	remove_dir(dir);
}

/* By hand, what the summary says of a stream of four saves and a put. */
static void test_summary(void **state)
{
	const uint64_t in[] = { TEXT_START + 4, TEXT_START + 8, TEXT_START + 12, TEXT_END };
	struct stream_summary sum;
	struct stream s = { .text_start = TEXT_START, .text_end = TEXT_END };

	(void)state;
	assert_int_equal(stream_add_save(&s, in, 3, STREAM_TASK, 1, 7), 0);
	assert_int_equal(stream_add_save(&s, in + 1, 2, STREAM_TASK, 1, 8), 0);
	assert_int_equal(stream_add_save(&s, in + 1, 3, STREAM_NMI, 1, 0), 0);
	assert_int_equal(stream_add_save(&s, in, 3, STREAM_TASK, 1, 7), 0);
	assert_int_equal(stream_add_put(&s, STREAM_TASK, 8), 0);
	assert_int_equal(s.ops[4].trace, 1);
	assert_true(stream_summarize(&s, &sum));
	assert_int_equal(sum.saves, 4);
	assert_int_equal(sum.failed, 1);
	assert_int_equal(sum.puts, 1);
	assert_int_equal(sum.traces, 3);
	assert_float_equal(sum.mean_saved, 11.0 / 4, 0.001);
	assert_float_equal(sum.mean_unique, 8.0 / 3, 0.001);
	assert_int_equal(sum.max, 3);
	assert_int_equal(sum.addresses, 4);
	assert_int_equal(sum.outside, 1);
	/* 12, 12 8, 12 8 4; END, END 12, END 12 8 */
	assert_int_equal(sum.nodes, 6);
	stream_free(&s);
}

static void test_handles(void **state)
{
	const uint64_t one = TEXT_START, two = TEXT_START + 4;
	struct stream s = { 0 };

	(void)state;
	assert_int_equal(stream_add_save(&s, &one, 1, STREAM_TASK, 2, 5), 0);
	assert_int_equal(stream_add_put(&s, STREAM_TASK, 5), 0);
	assert_int_equal(stream_add_save(&s, &two, 1, STREAM_TASK, 2, 5), 0);
	assert_int_equal(stream_add_put(&s, STREAM_TASK, 5), 0);
	assert_int_equal(s.ops[1].trace, 0);
	assert_int_equal(s.ops[3].trace, 1);
	assert_int_equal(stream_add_put(&s, STREAM_TASK, 6), -ENOENT);
	stream_free(&s);
}

static void write_bytes(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static const char *read_bytes(const char *path, const void *p, size_t n)
{
	struct stream s;
	const char *error;

	write_bytes(path, p, n);
	error = stream_read(&s, path);
	if (!error)
		stream_free(&s);
	else
		assert_null(s.traces);
	return error;
}

static void test_truncated(void **state)
{
	char *dir = temp_dir(), *path = xasprintf("%s/stream", dir), *whole;
	struct stream s;
	size_t len, n;

	(void)state;
	fill_stream(&s, 40);
	assert_null(stream_write(&s, path));
	stream_free(&s);
	whole = read_file(path, &len);
	assert_non_null(whole);
	for (n = 0; n < len; n++)
		assert_non_null(read_bytes(path, whole, n));
	assert_null(read_bytes(path, whole, len));
	free(whole);
	free(path);
	remove_dir(dir);
}

static void test_not_a_stream(void **state)
{
	char *dir = temp_dir(), *path = xasprintf("%s/stream", dir), *whole;
	const char *error;
	struct stream s;
	size_t len;

	(void)state;
	assert_string_equal(stream_read(&s, path), strerror(ENOENT));
	assert_non_null(stream_read(&s, dir));
	fill_stream(&s, 10);
	assert_null(stream_write(&s, path));
	stream_free(&s);
	whole = read_file(path, &len);
	assert_non_null(whole);
	whole[6]++;	/* another version */
	error = read_bytes(path, whole, len);
	assert_non_null(error);
	assert_non_null(strstr(error, "not a stream"));
	free(whole);
	free(path);
	remove_dir(dir);
}

static void set_checksum(char *p, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < n - 8; i++)
		sum = (sum ^ (uint8_t)p[i]) * 0x100000001b3ULL;
	for (i = 0; i < 8; i++)
		p[n - 8 + i] = sum >> 8 * i;
}

/*
 * Any one byte that differs is noticed. With the checksum set right again the file may be a good
 * one; reading it must not go wrong, which the sanitizers watch.
 */
static void test_damaged(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0x7f, 0xff };
	char *dir = temp_dir(), *path = xasprintf("%s/stream", dir), *whole;
	unsigned int refused = 0;
	struct stream s;
	size_t len, n, i;

	(void)state;
	fill_stream(&s, 30);
	assert_null(stream_write(&s, path));
	stream_free(&s);
	whole = read_file(path, &len);
	assert_non_null(whole);
	for (n = 0; n < len; n++) {
		for (i = 0; i < ARRAY_SIZE(flips); i++) {
			whole[n] ^= flips[i];
			assert_non_null(read_bytes(path, whole, len));
			if (n < len - 8) {
				set_checksum(whole, len);
				refused += !!read_bytes(path, whole, len);
			}
			whole[n] ^= flips[i];
			set_checksum(whole, len);
		}
	}
	assert_true(refused > len);
	free(whole);
	free(path);
	remove_dir(dir);
}

/* What the guest writes: a head of 56 bytes, then entries. */
struct log {
	char magic[8];
	uint32_t version;
	uint32_t flags;
	uint64_t size;
	uint64_t used;
	uint64_t dropped;
	uint64_t text_start;
	uint64_t text_end;
	uint64_t words[57];
};

static const struct log good_log = {
	.magic = "SCSRECRD",
	.version = 1,
	.flags = STREAM_KASAN,
	.size = sizeof(struct log),
	.used = 56 + 6 * 8,
	.text_start = TEXT_START,
	.text_end = TEXT_END,
	.words = {
		/* saves of two frames and of one, in a hardirq, with GET, handles 0x11 and 0x12 */
		2 | 2 << 16 | 1 << 24 | 2U << 28 | 0x11ULL << 32, TEXT_START + 4, TEXT_START + 8,
		1 | 2 << 16 | 1 << 24 | 2U << 28 | 0x12ULL << 32, TEXT_START + 8,
		/* put of the first, in a task */
		2 << 24 | 0x11ULL << 32,
	},
};

static int parse_log(const struct log *log, uint64_t address, struct stream *s)
{
	char *dir = temp_dir(), *path = xasprintf("%s/ram", dir);
	char *ram = xrealloc(NULL, 4096 + sizeof(*log));
	int ret;

	memset(ram, 0, 4096);
	memcpy(ram + 4096, log, sizeof(*log));
	write_bytes(path, ram, 4096 + sizeof(*log));
	memset(s, 0, sizeof(*s));
	ret = record_parse(path, address, s);
	free(ram);
	free(path);
	remove_dir(dir);
	return ret;
}

static void test_log(void **state)
{
	struct stream s;

	(void)state;
	assert_int_equal(parse_log(&good_log, RAM_BASE + 4096, &s), EXIT_OK);
	assert_int_equal(s.flags, STREAM_KASAN);
	assert_true(s.text_end == TEXT_END);
	assert_int_equal(s.ntraces, 2);
	assert_int_equal(s.nops, 3);
	assert_int_equal(s.traces[0].nr, 2);
	assert_true(s.entries[1] == TEXT_START + 8);
	assert_int_equal(s.ops[0].context, STREAM_HARDIRQ);
	assert_int_equal(s.ops[0].depot_flags, 2);
	assert_int_equal(s.ops[2].kind, STREAM_PUT);
	assert_int_equal(s.ops[2].trace, 0);
	stream_free(&s);
}

static void refuse_log(const struct log *log, uint64_t address)
{
	struct stream s;

	assert_int_equal(parse_log(log, address, &s), EXIT_FAILED);
	stream_free(&s);
}

static void test_bad_log(void **state)
{
	const uint64_t address = RAM_BASE + 4096;
	struct log log;

	(void)state;
	refuse_log(&good_log, RAM_BASE);
	refuse_log(&good_log, address + 1);
	refuse_log(&good_log, address + sizeof(log) - 8);
	refuse_log(&good_log, RAM_BASE - 4096);
	refuse_log(&good_log, ~7ULL);

#define REFUSE(change) do { log = good_log; change; refuse_log(&log, address); } while (0)
	REFUSE(log.version++);
	REFUSE(log.dropped = 1);
	REFUSE(log.size++);
	REFUSE(log.used = log.size + 8);
	REFUSE(log.used = 8);
	REFUSE(log.used++);
	/* the last save's address is cut off */
	REFUSE(log.used -= 16);
	/* an entry that was not finished */
	REFUSE(log.words[3] = 0);
	REFUSE(log.words[3] |= 0xffff);
	REFUSE(log.words[3] |= 4U << 28);
	REFUSE(log.words[3] |= 3 << 24);
	/* a put of what was not saved */
	REFUSE(log.words[5] |= 0xffULL << 32);
#undef REFUSE
}

/* Run "scs_bench record" on a guest that has @log in its memory and prints @console. */
static int boot_log(const char *dir, const struct log *log, const char *console, const char *more,
		    char **printed)
{
	char *ram = xasprintf("%s/memory", dir), *out = xasprintf("%s/printed", dir);
	char *args = xasprintf("record boot/generic/page_owner=on %s --images %s --initrd %s/Image",
			       more, dir, dir);
	char *outputs = xasprintf("--dir %s --out %s/runs --json %s/json --qemu", dir, dir, dir);
	struct strv argv = { 0 };
	int ret;

	write_bytes(ram, log, sizeof(*log));
	setenv("FAKE_RAM", ram, 1);
	setenv("FAKE_CONSOLE", console, 1);
	strv_add(&argv, "%s", getenv("SCS_BENCH"));
	strv_split(&argv, args, " ");
	strv_split(&argv, outputs, " ");
	strv_add(&argv, "%s/fake-record.sh", getenv("SCS_BENCH_TESTS"));
	ret = run_program(&argv, out, printed);
	free(outputs);
	free(args);
	free(ram);
	free(out);
	return ret;
}

#define LOG_LINE "[    0.000000] scs_bench_record: 512 bytes at 0x0000000040000000\n"

static void put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);

	assert_int_equal(write_file_atomic(path, text), 0);
	free(path);
}

static void test_record(void **state)
{
	char *dir = temp_dir(), *path = xasprintf("%s/boot-generic-page_owner.stream", dir);
	char *image = xasprintf("%s/generic-record", dir), *printed = NULL;
	struct log full = good_log;
	struct stream s;

	(void)state;
	assert_int_equal(mkdir(image, 0700), 0);
	put(image, "Image", "Linux version 6.12.117 (a@b) (clang 19, LLD 19) #1 SMP\n");
	put(image, "config", "CONFIG_PAGE_OWNER=y\n");
	put(dir, "Image", "initrd");
	full.dropped = 1;
	assert_int_equal(boot_log(dir, &good_log, "scs_bench: done", "", &printed), EXIT_FAILED);
	assert_in("does not record", printed);
	assert_int_equal(boot_log(dir, &good_log, LOG_LINE, "--resume", &printed), EXIT_FAILED);
	assert_in("init did not finish", printed);
	assert_int_equal(boot_log(dir, &full, LOG_LINE "scs_bench: done", "--resume", &printed),
			 EXIT_FAILED);
	assert_in("--log-size", printed);
	assert_int_not_equal(access(path, F_OK), 0);

	assert_int_equal(boot_log(dir, &good_log, LOG_LINE "scs_bench: done", "--resume",
				  &printed), EXIT_OK);
	assert_in("KASAN generic page_owner=on, init boot", printed);
	assert_in("[  1/1 ", printed);
	assert_null(stream_read(&s, path));
	assert_int_equal(s.nops, 3);
	stream_free(&s);

	/* what is recorded is not recorded again, but for a stream that is lost */
	assert_int_equal(boot_log(dir, &good_log, "nothing", "", &printed), EXIT_UNUSABLE);
	assert_int_equal(boot_log(dir, &good_log, "nothing", "--resume", &printed), EXIT_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(boot_log(dir, &good_log, "nothing", "--resume", &printed), EXIT_FAILED);
	assert_in("is recorded again", printed);
	assert_int_equal(boot_log(dir, &good_log, LOG_LINE "scs_bench: done", "--resume",
				  &printed), EXIT_OK);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(boot_log(dir, &good_log, "", "nonsense", &printed), EXIT_UNUSABLE);
	assert_in("is no recording", printed);
	free(printed);
	free(image);
	free(path);
	remove_dir(dir);
}

/* The stream that comes with the sources. */
static void test_committed(void **state)
{
	char *path = xasprintf("%s/../../stackdepot_fast/streams/boot-generic.stream",
			       getenv("SCS_BENCH_TESTS"));
	struct stream_summary sum;
	const char *error;
	struct stream s;

	(void)state;
	error = stream_read(&s, path);
	if (error)
		fail_msg("%s: %s", path, error);
	assert_true(stream_summarize(&s, &sum));
	assert_true(sum.saves > 10000 && sum.traces > 2000 && sum.nodes > sum.traces);
	assert_int_equal(sum.failed, 0);
	stream_free(&s);
	free(path);
}

static void test_qemu_ram(void **state)
{
	struct qemu_spec spec = {
		.qemu = "q", .image = "i", .mem = "3G", .cpus = 1, .append = "", .ram = "/a/ram",
	};
	struct strv argv = { 0 };
	bool found = false;
	size_t i;

	(void)state;
	qemu_argv(&spec, &argv);
	for (i = 0; i < argv.n; i++)
		found |= !strcmp(argv.v[i],
				 "memory-backend-file,id=ram,size=3G,mem-path=/a/ram,share=on");
	assert_true(found);
	strv_free(&argv);
}

int run_stream_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_not_a_stream),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_bad_log),
		cmocka_unit_test(test_qemu_ram),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_committed),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
