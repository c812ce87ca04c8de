// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "record": boots a kernel that records what its stack depot is asked for.
 *
 * The kernel has CONFIG_SCS_BENCH_RECORD. It appends each save and each put to a log in its memory
 * and says on the console where that lies. The guest's memory is a memfd of ours, so the log can be
 * read when QEMU has ended, recording costs the guest neither a device nor a system call, and
 * however we end, nothing as large is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_record.h"
#include "env.h"
#include "parse.h"
#include "results.h"
#include "session.h"

/* Where QEMU's "virt" machine has its memory. */
#define RAM_BASE	0x40000000ULL

#define RUN_RECORD	"record"

#define RECORD_MAGIC	"SCSRECRD"
#define RECORD_VERSION	1
#define RECORD_SAVE	1
#define RECORD_PUT	2

/* The log's head and its entries, as lib/scs_bench_record.c writes them in the guest. */
struct record_header {
	char magic[8];
	uint32_t version;
	uint32_t flags;
	uint64_t size;
	uint64_t used;
	uint64_t dropped;
	uint64_t text_start;
	uint64_t text_end;
};

struct record_entry {
	uint16_t nr_entries;
	uint8_t depot_flags;
	uint8_t kind_context;
	uint32_t handle;
	uint64_t entries[];
};

static void usage(FILE *out)
{
	fputs("Usage: scs_bench record [options] [INIT/MODE[/ARGS]...]\n"
	      "       scs_bench record --show FILE\n"
	      "\n"
	      "Boots kernels that record what is saved in their stack depots (VARIANT=record), and writes\n"
	      "a stream of each: of what init does (boot or workload), in a KASAN mode, with kernel\n"
	      "arguments (boot/generic workload/generic/page_owner=on workload/hw_tags).\n"
	      "\n"
	      "  --dir DIR        where the streams go (build/record)\n"
	      "  --log-size SIZE  memory of the guest for the log, e.g. 512M (256M)\n"
	      "  --cpus N         number of CPUs; with one, each recording is the same (1)\n"
	      "  --show FILE      only print what the stream in FILE holds\n"
	      "  --out FILE       the finished recordings (build/bench/record.runs; logs go to FILE.logs)\n"
	      "  --resume         go on with what --out has, after an interruption\n"
	      "  --json FILE      what they hold (build/bench/record.json; - for the terminal)\n"
	      "  --images DIR     directory of the images, MODE-record/Image each (build/images/KVER)\n"
	      "  --kver VERSION   kernel version line; images of another are refused (6.12)\n"
	      "  --qemu PATH      qemu-system-aarch64, 10.0 or newer (the one in build/tools)\n"
	      "  --initrd FILE    initramfs with the init of scs_bench (build/initramfs/KVER)\n"
	      "  --mem SIZE       guest memory (2G)\n"
	      "  --timeout S      seconds that one run of QEMU may take (300)\n"
	      "  --help           this text\n", out);
}

/**
 * struct record - what is asked for
 * @session: kernels, tools, store; a kernel for each recording, whose subject is what init does
 * @recordings: the recordings, as given
 * @dir: where the streams go
 * @log_size: memory of the guest for the log
 * @show: a stream to describe instead, or NULL
 * @cpus: number of CPUs
 */
struct record {
	struct session session;
	struct strv recordings;
	char *dir;
	char *log_size;
	char *show;
	unsigned int cpus;
};

/* --- The log in the guest's memory ------------------------------------------- */

static const char *check_header(const struct record_header *h, uint64_t room)
{
	if (memcmp(h->magic, RECORD_MAGIC, sizeof(h->magic)))
		return "there is no log where the kernel said that it lies";
	if (h->version != RECORD_VERSION)
		return "the log is of another version: build the image again";
	if (h->size > room || h->used > h->size || h->used < sizeof(*h) || h->used % 8)
		return "the log's head makes no sense";
	if (h->dropped)
		return "the log was full too early: give it more memory with --log-size";
	return NULL;
}

/* Append what the log holds to @s; NULL, or what is wrong with the log. */
static const char *read_entries(const struct record_header *h, struct stream *s)
{
	const char *p = (const char *)(h + 1), *end = (const char *)h + h->used;
	int ret;

	while (p < end) {
		const struct record_entry *e = (const void *)p;
		unsigned int kind = e->kind_context & 0xf, context = e->kind_context >> 4;

		p += sizeof(*e) + e->nr_entries * sizeof(e->entries[0]);
		if (!kind)
			return "an entry of the log was not finished when the guest ended";
		if (p > end || e->nr_entries > STREAM_MAX_FRAMES || context > STREAM_NMI)
			return "an entry of the log makes no sense";
		if (kind == RECORD_SAVE)
			ret = stream_add_save(s, e->entries, e->nr_entries, context,
					      e->depot_flags, e->handle);
		else if (kind == RECORD_PUT)
			ret = stream_add_put(s, context, e->handle);
		else
			return "an entry of the log makes no sense";
		if (ret == -ENOENT)
			return "the log has a put of a handle that no save returned";
		if (ret)
			return "there is not enough memory: close other programs";
	}
	return NULL;
}

/**
 * record_parse - read the log out of a guest's memory
 * @ram: file with the guest's memory
 * @address: physical address of the log in the guest
 * @s: the stream; all zeroes
 *
 * Return: 0, or EXIT_FAILED after an error was told; then @s may hold a part.
 */
int record_parse(const char *ram, unsigned long long address, struct stream *s)
{
	const struct record_header *h;
	const char *error = NULL;
	struct stat st;
	uint64_t room;
	void *mem;
	int fd;

	fd = open(ram, O_RDONLY);
	if (fd < 0 || fstat(fd, &st)) {
		bench_err("cannot read the guest's memory in %s: %s", ram, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_FAILED;
	}
	mem = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (mem == MAP_FAILED) {
		bench_err("cannot map the guest's memory in %s: %s", ram, strerror(errno));
		return EXIT_FAILED;
	}
	if (address < RAM_BASE || address % 8 ||
	    address - RAM_BASE + sizeof(*h) > (uint64_t)st.st_size) {
		error = "the kernel said that the log lies where it has no memory";
	} else {
		room = st.st_size - (address - RAM_BASE);
		h = (const void *)((const char *)mem + (address - RAM_BASE));
		error = check_header(h, room);
		if (!error) {
			s->flags = h->flags;
			s->text_start = h->text_start;
			s->text_end = h->text_end;
			error = read_entries(h, s);
		}
	}
	munmap(mem, st.st_size);
	if (error)
		bench_err("the recording cannot be used: %s", error);
	return error ? EXIT_FAILED : EXIT_OK;
}

/* Find the address of the log in the console's; 0 if the kernel did not say. */
static u64 log_address(const char *log)
{
	const char *pos = strstr(log, "scs_bench_record: ");
	u64 size, address = 0;

	if (!pos || sscanf(pos, "scs_bench_record: %llu bytes at %llx", &size, &address) != 2)
		return 0;
	return address;
}

/* --- What a stream holds -------------------------------------------------------- */

static const struct {
	const char *key;
	const char *title;
} numbers[] = {
	{ "saves", "saves" },
	{ "failed", "  without a handle" },
	{ "puts", "puts" },
	{ "traces", "different traces" },
	{ "mean_saved", "mean frames of a save" },
	{ "mean_unique", "mean frames of a trace" },
	{ "max", "  frames at most" },
	{ "addresses", "different return addresses" },
	{ "outside", "  outside the kernel's image" },
	{ "nodes", "tree nodes a trace" },
};

/* A new object with @numbers; NULL after an error was told. */
static json_t *describe(const struct stream *s, const char *path)
{
	struct stream_summary sum;

	if (!stream_summarize(s, &sum)) {
		bench_err("there is not enough memory for %s: close other programs", path);
		return NULL;
	}
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:i, s:I, s:I, s:f}",
			 "label", s->label, "saves", (json_int_t)sum.saves,
			 "failed", (json_int_t)sum.failed, "puts", (json_int_t)sum.puts,
			 "traces", (json_int_t)sum.traces, "mean_saved", sum.mean_saved,
			 "mean_unique", sum.mean_unique, "max", (int)sum.max,
			 "addresses", (json_int_t)sum.addresses,
			 "outside", (json_int_t)sum.outside,
			 "nodes", sum.traces ? (double)sum.nodes / sum.traces : 0);
}

static int show(const char *path)
{
	struct stream s;
	const char *error = stream_read(&s, path);
	json_t *what;
	size_t i;

	if (error) {
		bench_err("cannot use %s: %s; 'make record' makes new ones", path, error);
		return EXIT_UNUSABLE;
	}
	what = describe(&s, path);
	if (what) {
		printf("%s: %s\n", path, *s.label ? s.label : "(no label)");
		for (i = 0; i < ARRAY_SIZE(numbers); i++)
			printf("  %-28s %10.6g\n", numbers[i].title,
			       json_number_value(json_object_get(what, numbers[i].key)));
		printf("  %-28s %10s\n", "page_owner", s.flags & STREAM_PAGE_OWNER ? "on" : "off");
	}
	stream_free(&s);
	json_decref(what);
	return what ? EXIT_OK : EXIT_FAILED;
}

/* --- Recording ------------------------------------------------------------------- */

/* Its file, to be freed: "workload-generic-page_owner.stream" of workload/generic/page_owner=on. */
static char *stream_path(const struct record *r, const struct kernel *k)
{
	char *path = xasprintf("%s/%s-%s", r->dir, k->subject, k->group), *p, *whole;

	for (p = path + strlen(r->dir) + 1; *p; p++) {
		if (!strncmp(p, "=on", 3))
			memmove(p, p + 3, strlen(p + 3) + 1);
		if (strchr(" /=,", *p) && *p)
			*p = '-';
	}
	whole = xasprintf("%s.stream", path);
	free(path);
	return whole;
}

/* Read the log of a guest that has ended, and write the stream. */
static int keep_stream(const struct record *r, const struct kernel *k, const struct qemu_spec *spec,
		       json_t **record)
{
	json_t *image = json_object_get(json_object_get(r->session.env, "images"), k->name);
	char *log = read_file(spec->log, NULL), *path = stream_path(r, k), *hash = NULL;
	struct stream s = { 0 };
	int ret = EXIT_FAILED;
	const char *error;
	u64 address;

	address = log ? log_address(log) : 0;
	if (!address || !log_has(log, "scs_bench: done")) {
		fail_run(k, spec->log, log, address ? "init did not finish" :
			 "the kernel does not record", "build it with 'make image VARIANT=record'");
		goto out;
	}
	ret = record_parse(spec->ram, address, &s);
	if (ret)
		goto out;
	s.label = xasprintf("Linux %s, KASAN %s, init %s",
			    json_string_value(json_object_get(image, "version")), k->group,
			    k->subject);
	error = stream_write(&s, path);
	hash = error ? NULL : env_hash_file(path);
	if (!hash) {
		bench_err("cannot write %s: %s; make room there, or see --dir", path,
			  error ? error : strerror(errno));
		ret = EXIT_FAILED;
		goto out;
	}
	*record = describe(&s, path);
	if (*record)
		json_object_set_new(*record, "sha256", json_string(hash));
	else
		ret = EXIT_FAILED;
out:
	stream_free(&s);
	free(hash);
	free(path);
	free(log);
	return ret;
}

static int run_step(void *ctx, const struct plan_step *step, const char *log_path, json_t **record)
{
	struct record *r = ctx;
	const struct kernel *k = &r->session.kernels[step->subject];
	struct qemu_spec spec = session_spec(&r->session, k);
	int fd = memfd_create("guest", MFD_CLOEXEC), ret;
	char *args, *ram;
	double seconds;

	if (fd < 0) {
		bench_err("there can be no memory for the guest: %s", strerror(errno));
		return EXIT_FAILED;
	}
	/* A path that is good in QEMU, too. */
	ram = xasprintf("/proc/%d/fd/%d", getpid(), fd);
	args = xasprintf("%s scs_bench_record=%s -- %s", k->args, r->log_size, k->subject);
	spec.initrd = r->session.opts.initrd;
	spec.log = log_path;
	spec.ram = ram;
	spec.append = args;
	spec.cpus = r->cpus;
	/* Instructions can only be counted on one CPU; with that, each run is the same. */
	spec.icount = r->cpus == 1;
	ret = qemu_run(&spec, &seconds);
	if (!ret)
		ret = keep_stream(r, k, &spec, record);
	close(fd);
	free(args);
	free(ram);
	return ret;
}

static int add_kernels(void *ctx)
{
	struct record *r = ctx;
	struct session *s = &r->session;
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; !ret && i < r->recordings.n; i++) {
		char *text = xstrdup(r->recordings.v[i]), *mode = strchr(text, '/'), *args = NULL;
		char *image, *group;

		if (mode) {
			*mode++ = '\0';
			args = strchr(mode, '/');
		}
		if (args)
			*args++ = '\0';
		if (!mode || !*mode || (strcmp(text, "boot") && strcmp(text, "workload"))) {
			bench_err("%s is no recording: give INIT/MODE or INIT/MODE/ARGS, with INIT boot or workload, e.g. workload/generic/page_owner=on",
				  r->recordings.v[i]);
			free(text);
			return EXIT_UNUSABLE;
		}
		image = xasprintf("%s/%s-record/Image", s->opts.images, mode);
		group = session_group(mode, args ? args : "");
		ret = session_add_image(s, group, text, image, args ? args : "");
		if (ret)
			bench_err("kernels that record are made with VARIANT=record");
		free(group);
		free(image);
		free(text);
	}
	return ret;
}

static json_t *json_arguments(const void *ctx)
{
	const struct record *r = ctx;

	return json_pack("{s:s, s:i, s:s}", "log size", r->log_size, "CPUs", (int)r->cpus,
			 "streams", r->dir);
}

/* A recording whose stream is gone, or another by now, is not finished. */
static void make_plan(void *ctx)
{
	struct record *r = ctx;
	struct session *s = &r->session;
	size_t i;

	for (i = 0; i < s->nkernels; i++) {
		const struct kernel *k = &s->kernels[i];
		json_t *old = session_record(s, k, RUN_RECORD, 1);
		char *path = stream_path(r, k), *hash = old ? env_hash_file(path) : NULL;

		plan_add(&s->plan, 0, RUN_RECORD, i, 1, "%s/" RUN_RECORD "/1", k->name);
		if (old && (!hash || strcmp(hash, results_text(old, "sha256")))) {
			bench_err("%s is not what was recorded any more: it is recorded again",
				  path);
			json_object_del(s->store.runs, s->plan.v[s->plan.n - 1].key);
		}
		free(hash);
		free(path);
	}
}

static json_t *make_results(void *ctx)
{
	struct record *r = ctx;
	struct session *s = &r->session;
	json_t *results = session_results(s);
	size_t i, j;

	for (i = 0; i < s->nkernels; i++) {
		const struct kernel *k = &s->kernels[i];
		json_t *record = session_record(s, k, RUN_RECORD, 1);
		char *path = stream_path(r, k);

		for (j = 0; j < ARRAY_SIZE(numbers); j++)
			results_exact(results, k->group, k->subject, numbers[j].title, "",
				      json_number_value(json_object_get(record, numbers[j].key)));
		results_note(results, "%s: %s", path, results_text(record, "label"));
		free(path);
	}
	return results;
}

/* --- The subcommand ----------------------------------------------------------------- */

static int take_option(void *ctx, int opt, const char *arg)
{
	struct record *r = ctx;

	switch (opt) {
	case 'd':
		set_string(&r->dir, arg);
		break;
	case 's':
		set_string(&r->log_size, arg);
		break;
	case 'S':
		set_string(&r->show, arg);
		break;
	case 'c':
		if (parse_uint(arg, 1, 512, &r->cpus))
			break;
		bench_err("--cpus %s: give a whole number from 1 to 512", arg);
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/* What was not given. */
static int finish_options(struct record *r)
{
	char *build;

	common_finish(&r->session.opts, "record");
	if (!r->recordings.n)
		strv_split(&r->recordings,
			   "boot/generic workload/generic/page_owner=on workload/hw_tags", " ");
	if (!r->dir) {
		build = bench_build_dir();
		r->dir = xasprintf("%s/record", build);
		free(build);
	}
	if ((mkdir(r->dir, 0777) && errno != EEXIST) || access(r->dir, W_OK | X_OK)) {
		bench_err("cannot write to %s: %s; choose another --dir", r->dir, strerror(errno));
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/**
 * cmd_record - the subcommand "record"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_record(int argc, char **argv)
{
	static const struct option own[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "log-size", required_argument, NULL, 's' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "show", required_argument, NULL, 'S' },
		{ 0 }
	};
	static const struct experiment experiment = {
		add_kernels, json_arguments, make_plan, run_step, make_results, false,
	};
	struct record r = { .log_size = xstrdup("256M"), .cpus = 1 };
	const struct command command = {
		"record", usage, own, NULL, take_option, &r.recordings,
	};
	int ret;

	session_init(&r.session, "record");
	ret = common_parse(&r.session.opts, &command, argc, argv, &r);
	if (!ret && r.show) {
		ret = show(r.show);
	} else if (!ret) {
		ret = finish_options(&r);
		if (!ret)
			ret = session_measure(&r.session, &experiment, &r);
	}
	session_free(&r.session);
	strv_free(&r.recordings);
	free(r.dir);
	free(r.log_size);
	free(r.show);
	return ret;
}
