/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Builds QEMU's command line and runs it once, with every way to fail told apart.
 */
#ifndef SCS_BENCH_QEMU_H
#define SCS_BENCH_QEMU_H

#include <stdbool.h>

#include "util.h"

/**
 * struct qemu_spec - one run of QEMU
 * @qemu: the program
 * @image: the kernel
 * @initrd: the initramfs, or NULL for none
 * @bios: firmware that starts the kernel, or NULL for none
 * @mem: memory, as for -m
 * @ram: file that shall be the guest's memory, or NULL
 * @cpu: what -cpu shall be, or NULL for all that QEMU has, with memory tags
 * @cpus: number of CPUs
 * @icount: count instructions instead of following the clock; everything random or taken from the
 *	host is fixed then
 * @kvm: let the host's CPU run the guest
 * @append: the whole kernel command line
 * @exec_log: where to log executed code, or NULL
 * @dfilter: addresses to log, as for -dfilter
 * @log: console and QEMU's own messages
 * @timeout: seconds until it is killed
 * @perf_out: file for the output of "perf stat" around QEMU, or NULL to run it without perf
 */
struct qemu_spec {
	const char *qemu;
	const char *image;
	const char *initrd;
	const char *bios;
	const char *mem;
	const char *ram;
	const char *cpu;
	unsigned int cpus;
	bool icount;
	bool kvm;
	const char *append;
	const char *exec_log;
	const char *dfilter;
	const char *log;
	double timeout;
	const char *perf_out;
};

void qemu_argv(const struct qemu_spec *spec, struct strv *argv);
int qemu_run(const struct qemu_spec *spec, double *seconds);
char *qemu_version(const char *qemu, const char *log);
bool perf_usable(const char *log, const char *out);

#endif /* SCS_BENCH_QEMU_H */
