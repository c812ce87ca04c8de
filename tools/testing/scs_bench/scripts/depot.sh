#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Building the depot's host programs; sourced.

# shellcheck disable=SC2034 # used by the scripts that source this

DEPOT=$BUILD/depot
DEPOT_SOURCE=$TOP/tools/testing/stackdepot_fast

# Mutants by the test that is to notice them; the second line of each says which.
depot_mutants()
{
	local m

	for m in "$DEPOT_SOURCE"/mutants/*.sed; do
		[ "$(sed -n 2p "$m")" != "# $1" ] || basename "$m" .sed
	done
}

DEPOT_PROPERTY_MUTANTS=$(depot_mutants property)
DEPOT_STRESS_MUTANTS=$(depot_mutants stress)

# depot_build KVER TARGET...
depot_build()
{
	local kver=$1

	shift
	lock depot
	run_logged "the depot's host programs" "$BUILD/log/depot.log" '^  [a-z]+ ' \
		nice -n 5 make -C "$DEPOT_SOURCE" "-j$JOBS" "O=$DEPOT" \
		"KSRC=$BUILD/linux/$kver/pristine" "$@"
}
