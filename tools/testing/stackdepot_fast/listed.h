/* SPDX-License-Identifier: GPL-2.0 */
/* The handles that a depot lists in stackdepot/traces, and whether those that it listed stay. */
#ifndef LISTED_H
#define LISTED_H

#include <stdlib.h>
#include <string.h>

#include "depot.h"

static inline int list_has(const unsigned int *list, unsigned int nr, unsigned int handle)
{
	for (unsigned int i = 0; i < nr; i++)
		if (list[i] == handle)
			return 1;
	return 0;
}

/* Add what is listed to the @nr handles in @list, which holds @max; return how many there are. */
static inline unsigned int list_traces(const struct depot *d, unsigned int *list, unsigned int nr,
				       unsigned int max, int skip_counted)
{
	char *text = shim_debugfs_read(d->unit, "stackdepot/traces", 4096, NULL, NULL);
	const char *what = " references ";

	for (const char *p = text; (p = strstr(p, "handle ")); p++) {
		unsigned int handle = strtoul(p + strlen("handle "), NULL, 16);

		if (skip_counted && memmem(p, strcspn(p, "\n"), what, strlen(what)))
			continue;
		if (nr < max && !list_has(list, nr, handle))
			list[nr++] = handle;
	}
	free(text);
	return nr;
}

/* A handle out of @list that isn't listed any more, or 0. */
static inline unsigned int list_lost(const struct depot *d, const unsigned int *list,
				     unsigned int nr, int skip_counted)
{
	unsigned int max = 20000, lost = 0;
	unsigned int *now = malloc(max * sizeof(*now));
	unsigned int nr_now = list_traces(d, now, 0, max, skip_counted);

	for (unsigned int i = 0; i < nr && !lost; i++)
		if (!list_has(now, nr_now, list[i]))
			lost = list[i];
	free(now);
	return lost;
}

#endif /* LISTED_H */
