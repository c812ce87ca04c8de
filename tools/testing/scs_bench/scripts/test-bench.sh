#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the benchmark in several modes; each must end well. The figures are for people to judge.
#
# usage: test-bench.sh KVER MODE...

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

export KVER=${1:-}
check_kver "$KVER"
shift

plan 1
for mode; do
	for page_owner in 0 1; do
		name="bench $mode, page_owner=$page_owner"
		if MODE=$mode PAGE_OWNER=$page_owner RUNS=3 run_child "$SCRIPTS/bench.sh"; then
			pass "$name"
		else
			fail "$name"
		fi
	done
done
finish bench
