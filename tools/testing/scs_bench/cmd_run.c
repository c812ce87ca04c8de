// SPDX-License-Identifier: GPL-2.0
/*
 * The subcommand "run": boots one kernel once and keeps its console log.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_run.h"
#include "parse.h"
#include "proc.h"
#include "qemu.h"

static void usage(FILE *out)
{
	fputs("Usage: scs_bench run --qemu PATH --image FILE --log FILE [options]\n"
	      "\n"
	      "Boots a kernel in QEMU, with a deadline, and keeps its console log.\n"
	      "\n"
	      "  --qemu PATH      qemu-system-aarch64, 10.0 or newer\n"
	      "  --image FILE     the kernel\n"
	      "  --log FILE       where the console goes\n"
	      "  --initrd FILE    initramfs (none)\n"
	      "  --init MODE      what the init of scs_bench shall do: boot, pageowner, procstack\n"
	      "  --bios FILE      firmware to start the kernel with (none)\n"
	      "  --append ARGS    more kernel arguments, e.g. kunit.enable=1 kunit.filter_glob=kasan*\n"
	      "  --expect TEXT    fail unless the log has this text; may be given more than once\n"
	      "  --cpu MODEL      CPU that QEMU shall emulate, e.g. cortex-a72 (max, with MTE)\n"
	      "  --cpus N         number of CPUs (1)\n"
	      "  --mem SIZE       guest memory (2G)\n"
	      "  --icount         count instructions instead of following the clock\n"
	      "  --timeout S      seconds that QEMU may take (300)\n"
	      "  --help           this text\n", out);
}

static int check_log(const struct qemu_spec *spec, const struct strv *expected)
{
	char *log = read_file(spec->log, NULL);
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; i < expected->n; i++) {
		if (log && log_has(log, expected->v[i]))
			continue;
		bench_err("the guest did not print \"%s\": see what it did instead in %s",
			  expected->v[i], spec->log);
		ret = EXIT_FAILED;
	}
	if (ret)
		show_log_tail(spec->log);
	free(log);
	return ret;
}

/**
 * cmd_run - the subcommand "run"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "qemu", required_argument, NULL, 'q' },
		{ "image", required_argument, NULL, 'i' },
		{ "log", required_argument, NULL, 'l' },
		{ "initrd", required_argument, NULL, 'r' },
		{ "init", required_argument, NULL, 'I' },
		{ "bios", required_argument, NULL, 'b' },
		{ "append", required_argument, NULL, 'a' },
		{ "expect", required_argument, NULL, 'e' },
		{ "cpu", required_argument, NULL, 'u' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "mem", required_argument, NULL, 'm' },
		{ "icount", no_argument, NULL, 'C' },
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct qemu_spec spec = { .mem = "2G", .cpus = 1, .timeout = 300 };
	const char *init = NULL, *append = "";
	struct strv expected = { 0 };
	char *kernel_args = NULL, *version = NULL;
	int opt, ret = EXIT_UNUSABLE;
	double seconds;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'q':
			spec.qemu = optarg;
			break;
		case 'i':
			spec.image = optarg;
			break;
		case 'l':
			spec.log = optarg;
			break;
		case 'r':
			spec.initrd = optarg;
			break;
		case 'b':
			spec.bios = optarg;
			break;
		case 'I':
			init = optarg;
			break;
		case 'a':
			append = optarg;
			break;
		case 'e':
			strv_add(&expected, "%s", optarg);
			break;
		case 'u':
			spec.cpu = optarg;
			break;
		case 'c':
			if (!parse_uint(optarg, 1, 512, &spec.cpus)) {
				bench_err("--cpus %s: give a whole number from 1 to 512", optarg);
				goto out;
			}
			break;
		case 'm':
			spec.mem = optarg;
			break;
		case 'C':
			spec.icount = true;
			break;
		case 't':
			if (!parse_seconds(optarg, &spec.timeout)) {
				bench_err("--timeout %s: give seconds from 0.1 to 86400", optarg);
				goto out;
			}
			break;
		case 'h':
			usage(stdout);
			ret = EXIT_OK;
			goto out;
		default:
			bench_err("see scs_bench run --help");
			goto out;
		}
	}
	if (optind < argc || !spec.qemu || !spec.image || !spec.log) {
		bench_err("run needs --qemu, --image and --log, and nothing but options; see scs_bench run --help");
		goto out;
	}
	kernel_args = xasprintf("console=ttyAMA0 panic=-1%s%s%s%s", *append ? " " : "", append,
				init ? " -- " : "", init ? init : "");
	spec.append = kernel_args;
	version = qemu_version(spec.qemu, spec.log);
	if (!version) {
		ret = proc_interrupted() ? EXIT_INTERRUPTED : EXIT_UNUSABLE;
		goto out;
	}
	ret = qemu_run(&spec, &seconds);
	if (!ret)
		ret = check_log(&spec, &expected);
out:
	free(version);
	free(kernel_args);
	strv_free(&expected);
	return ret;
}
