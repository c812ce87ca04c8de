// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "record": boots a kernel that records what its stack depot is asked for.
 *
 * The kernel has CONFIG_SCS_BENCH_RECORD. It appends each save and each put to a log in its memory
 * and says on the console where that lies. The guest's memory is a file on the host, so the log can
 * be read when QEMU has ended, and recording costs the guest neither a device nor a system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_record.h"
#include "parse.h"
#include "proc.h"
#include "qemu.h"

/* Where QEMU's "virt" machine has its memory. */
#define RAM_BASE	0x40000000ULL

#define KERNEL_ARGS	"console=ttyAMA0 kunit.enable=0 panic=-1"

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
	fputs("Usage: scs_bench record --qemu PATH --image FILE --initrd FILE --output FILE\n"
	      "                        [options]\n"
	      "       scs_bench record --show FILE\n"
	      "\n"
	      "Boots a kernel that records what is saved in its stack depot, and writes that stream to\n"
	      "a file; or says what such a file holds.\n"
	      "\n"
	      "  --qemu PATH      qemu-system-aarch64, 10.0 or newer\n"
	      "  --image FILE     the kernel, with CONFIG_SCS_BENCH_RECORD (VARIANT=record)\n"
	      "  --initrd FILE    initramfs with the init of scs_bench\n"
	      "  --output FILE    the stream; beside it come FILE.log, the console, and, while the\n"
	      "                   guest runs, FILE.ram, its memory\n"
	      "  --init MODE      what init shall do: boot, workload (boot)\n"
	      "  --append ARGS    more kernel arguments, e.g. page_owner=on\n"
	      "  --label TEXT     what the stream is of; kept in the file (MODE of --init and ARGS)\n"
	      "  --log-size SIZE  memory of the guest for the log, e.g. 512M (256M)\n"
	      "  --cpus N         number of CPUs (1)\n"
	      "  --mem SIZE       guest memory (2G)\n"
	      "  --timeout S      seconds that QEMU may take (300)\n"
	      "  --show FILE      only print what the stream in FILE holds\n"
	      "  --help           this text\n", out);
}

/**
 * struct record_options - what "record" is asked for
 * @spec: the run of QEMU
 * @output: the stream's file
 * @init: what init shall do
 * @append: kernel arguments beyond our own
 * @label: what the stream is of, or NULL
 * @log_size: memory of the guest for the log
 * @show: a stream to describe instead
 */
struct record_options {
	struct qemu_spec spec;
	const char *output;
	const char *init;
	const char *append;
	const char *label;
	const char *log_size;
	const char *show;
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

/* --- Reporting ------------------------------------------------------------------ */

static int print_summary(const struct stream *s, const char *path)
{
	struct stream_summary sum;

	if (!stream_summarize(s, &sum)) {
		bench_err("there is not enough memory for %s: close other programs", path);
		return EXIT_FAILED;
	}
	printf("%s: %s\n", path, *s->label ? s->label : "(no label)");
	printf("  saves                       %10zu (%zu without a handle)\n", sum.saves,
	       sum.failed);
	printf("  puts                        %10zu\n", sum.puts);
	printf("  different traces            %10zu\n", sum.traces);
	printf("  mean frames of a save       %10.2f\n", sum.mean_saved);
	printf("  mean frames of a trace      %10.2f (%u at most)\n", sum.mean_unique, sum.max);
	printf("  different return addresses  %10zu (%zu outside the kernel's image)\n",
	       sum.addresses, sum.outside);
	printf("  tree nodes a trace          %10.2f (root at the outermost frame)\n",
	       sum.traces ? (double)sum.nodes / sum.traces : 0);
	printf("  page_owner                  %10s\n",
	       s->flags & STREAM_PAGE_OWNER ? "on" : "off");
	return EXIT_OK;
}

static int show(const char *path)
{
	struct stream s;
	const char *error = stream_read(&s, path);
	int ret;

	if (error) {
		bench_err("cannot use %s: %s", path, error);
		return EXIT_UNUSABLE;
	}
	ret = print_summary(&s, path);
	stream_free(&s);
	return ret;
}

/* --- The subcommand ----------------------------------------------------------------- */

static int parse_args(int argc, char **argv, struct record_options *o)
{
	static const struct option options[] = {
		{ "qemu", required_argument, NULL, 'q' },
		{ "image", required_argument, NULL, 'i' },
		{ "initrd", required_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "init", required_argument, NULL, 'I' },
		{ "append", required_argument, NULL, 'a' },
		{ "label", required_argument, NULL, 'l' },
		{ "log-size", required_argument, NULL, 's' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "mem", required_argument, NULL, 'm' },
		{ "timeout", required_argument, NULL, 't' },
		{ "show", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	bool complete;
	int opt;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'q':
			o->spec.qemu = optarg;
			break;
		case 'i':
			o->spec.image = optarg;
			break;
		case 'r':
			o->spec.initrd = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'I':
			o->init = optarg;
			break;
		case 'a':
			o->append = optarg;
			break;
		case 'l':
			o->label = optarg;
			break;
		case 's':
			o->log_size = optarg;
			break;
		case 'c':
			if (!parse_uint(optarg, 1, 512, &o->spec.cpus)) {
				bench_err("--cpus %s: give a whole number from 1 to 512", optarg);
				return EXIT_UNUSABLE;
			}
			break;
		case 'm':
			o->spec.mem = optarg;
			break;
		case 't':
			if (!parse_seconds(optarg, &o->spec.timeout)) {
				bench_err("--timeout %s: give seconds from 0.1 to 86400", optarg);
				return EXIT_UNUSABLE;
			}
			break;
		case 'S':
			o->show = optarg;
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			bench_err("see scs_bench record --help");
			return EXIT_UNUSABLE;
		}
	}
	complete = o->show || (o->spec.qemu && o->spec.image && o->spec.initrd && o->output);
	if (optind < argc || !complete) {
		bench_err("record needs --qemu, --image, --initrd and --output, or --show, and nothing but options; see scs_bench record --help");
		return EXIT_UNUSABLE;
	}
	if (o->label && strpbrk(o->label, "\r\n")) {
		bench_err("--label: give one line");
		return EXIT_UNUSABLE;
	}
	return EXIT_OK;
}

/* Read the log of a guest that has ended, and write the stream. */
static int keep_stream(const struct record_options *o)
{
	char *log = read_file(o->spec.log, NULL);
	struct stream s = { 0 };
	int ret = EXIT_FAILED;
	const char *error;
	u64 address;

	address = log ? log_address(log) : 0;
	if (!address || !log_has(log, "scs_bench: done")) {
		bench_err("%s: see what the guest did instead in %s",
			  address ? "init did not finish" :
			  "the kernel does not record: is it VARIANT=record?", o->spec.log);
		show_log_tail(o->spec.log);
		goto out;
	}
	ret = record_parse(o->spec.ram, address, &s);
	if (ret)
		goto out;
	s.label = o->label ? xstrdup(o->label) :
		  xasprintf("%s%s%s", o->init, *o->append ? ", " : "", o->append);
	error = stream_write(&s, o->output);
	if (error) {
		bench_err("cannot write %s: %s", o->output, error);
		ret = EXIT_FAILED;
		goto out;
	}
	ret = print_summary(&s, o->output);
out:
	stream_free(&s);
	free(log);
	return ret;
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
	struct record_options o = {
		.spec = { .mem = "2G", .cpus = 1, .timeout = 300, .icount = true },
		.init = "boot",
		.append = "",
		.log_size = "256M",
	};
	char *kernel_args, *log, *ram;
	double seconds;
	int ret;

	ret = parse_args(argc, argv, &o);
	if (ret)
		return ret < 0 ? EXIT_OK : ret;
	if (o.show)
		return show(o.show);
	/* Instructions can only be counted on one CPU; with that, each run is the same. */
	if (o.spec.cpus > 1)
		o.spec.icount = false;
	log = xasprintf("%s.log", o.output);
	ram = xasprintf("%s.ram", o.output);
	kernel_args = xasprintf("%s scs_bench_record=%s%s%s -- %s", KERNEL_ARGS, o.log_size,
				*o.append ? " " : "", o.append, o.init);
	o.spec.log = log;
	o.spec.ram = ram;
	o.spec.append = kernel_args;
	ret = qemu_run(&o.spec, &seconds);
	if (!ret)
		ret = keep_stream(&o);
	/* It is as large as the guest's memory. */
	unlink(ram);
	free(kernel_args);
	free(ram);
	free(log);
	return ret;
}
