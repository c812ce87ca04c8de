/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the modes of scs_bench's init share: small files, the counter, and how to give up.
 */
#ifndef SCS_BENCH_INIT_H
#define SCS_BENCH_INIT_H

#define DEBUGFS		"/sys/kernel/debug"

void fail(const char *what);
void quiet_console(void);
void mount_all(void);
int read_text(const char *path, char *buf, int size);
void print_file(const char *name, const char *path);
unsigned long read_counter(void);
unsigned long read_counter_freq(void);

#endif /* SCS_BENCH_INIT_H */
