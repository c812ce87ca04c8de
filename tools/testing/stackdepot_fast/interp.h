/* SPDX-License-Identifier: GPL-2.0 */
/* The interpreter of operations that the property test and the fuzzer share. */
#ifndef INTERP_H
#define INTERP_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of an operation; of what follows the last whole one nothing is used. */
#define INTERP_OP_SIZE	8

/* Boots both depots, has them do what @data says, and checks each answer. Aborts on a wrong one. */
void interp_run(const uint8_t *data, size_t len, int verbose);

/* What interp_run() did so far, to see that the operations reach what they should. */
struct interp_stats {
	unsigned long ops;
	unsigned long saves;
	unsigned long hits;
	unsigned long misses;
	unsigned long refused;
	unsigned long evicted;
	unsigned long fetches;
	unsigned long prints;
	unsigned long wide;
	unsigned long cut;
	unsigned long too_long;
};

extern struct interp_stats interp_stats;

#endif /* INTERP_H */
