/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommand "claims": what was claimed in public of stack traces, against what is measured.
 */
#ifndef SCS_BENCH_CMD_CLAIMS_H
#define SCS_BENCH_CMD_CLAIMS_H

#include "stats.h"

/* What a claim turns out to be. */
enum claim_verdict {
	CLAIM_HOLDS,
	CLAIM_REFUTED,
	CLAIM_UNDECIDED,
};

enum claim_verdict claim_at_least(const struct estimate *share, double claimed);
enum claim_verdict claim_at_most(const struct estimate *share, double claimed);
int cmd_claims(int argc, char **argv);

#endif /* SCS_BENCH_CMD_CLAIMS_H */
