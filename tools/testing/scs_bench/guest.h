/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "micro", "memory" and "load" have in common: their kernels, and a guest that works in them.
 */
#ifndef SCS_BENCH_GUEST_H
#define SCS_BENCH_GUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "session.h"
#include "util.h"

/**
 * struct guest - a session of such a subcommand
 * @session: kernels, tools, store
 * @modes: KASAN modes
 * @variants: variants
 * @args: sets of kernel arguments
 * @clean: the kernel that all are compared with, "MODE/VARIANT"; "" for the one that goes
 *	with the modes; NULL for none
 */
struct guest {
	struct session session;
	struct strv modes;
	struct strv variants;
	struct strv args;
	char *clean;
};

/* For a subcommand's usage(), and that of those that have a clean kernel. */

#define GUEST_HELP \
	"  --modes LIST     KASAN modes, separated by commas, or all\n" \
	"  --variants LIST  variants: upstream, null (no traces), fallback (walks alone),\n" \
	"                   scs\n" \
	"  --args LIST      sets of kernel arguments, separated by commas; plain is the empty one\n"

#define CLEAN_HELP \
	"  --clean MODE/VARIANT\n" \
	"                   the kernel that all are compared with (none/upstream; with hw_tags,\n" \
	"                   whose kernel is smaller, hw_none/upstream)\n"

extern const struct option guest_options[];

void guest_init(struct guest *g, const char *command, const char *suffix, const char *modes,
		const char *variants, const char *args);
void guest_option(struct guest *g, int opt, const char *arg);
int guest_add_kernels(struct guest *g);
int guest_boot(struct qemu_spec *spec, const struct kernel *k, const char *append, char **log);
int guest_check_same(const struct session *s, const struct kernel *k, const char *kind,
		     unsigned int nr, const json_t *record);
void guest_free(struct guest *g);

#endif /* SCS_BENCH_GUEST_H */
