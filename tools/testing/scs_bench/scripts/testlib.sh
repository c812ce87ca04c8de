#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the test scripts share: counting results, in TAP, and the line that check.sh reads; sourced.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

passed=0
failed=0
skipped=0

pass()
{
	passed=$((passed + 1))
	say "ok - $1"
}

# fail NAME [WHY]
fail()
{
	failed=$((failed + 1))
	say "not ok - $1"
	if [ -n "${2:-}" ]; then
		say "    # ${2//$'\n'/$'\n    # '}"
	fi
}

skip()
{
	skipped=$((skipped + 1))
	say "ok - $1 # SKIP ${2:-}"
}

# finish GROUP: the last thing that a test script does.
finish()
{
	say "$1: $passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ] || exit 1
	exit 0
}
