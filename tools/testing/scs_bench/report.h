/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes what "boot" measured as a text table and as JSON.
 */
#ifndef SCS_BENCH_REPORT_H
#define SCS_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "boot.h"

void report_table(const struct boot_result *res, FILE *out);
json_t *report_json(const struct boot_result *res);

#endif /* SCS_BENCH_REPORT_H */
