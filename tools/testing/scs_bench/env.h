/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The environment of a measurement: host, tools, and the kernels with their configurations.
 */
#ifndef SCS_BENCH_ENV_H
#define SCS_BENCH_ENV_H

#include <jansson.h>
#include <stdbool.h>

#include "util.h"

/* What wall time is taken with. */
#define WALL_PERF	"perf stat --null"
#define WALL_OWN	"CLOCK_MONOTONIC from fork to exit"

char *env_hash_file(const char *path);
json_t *env_host(void);
json_t *env_image(const char *image);
json_t *env_new(const char *qemu, const char *qemu_version, const char *wall_method);
void env_add_image(json_t *env, const char *name, json_t *image);
json_t *env_identity(const json_t *env);

#endif /* SCS_BENCH_ENV_H */
