#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One kernel with dynamic SCS, on a CPU that gets shadow call stacks and on one that keeps pointer authentication.
#
# usage: test-dynamic.sh KVER

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

KVER=${1:-}
check_kver "$KVER"
plan 3

# boots CPU SMP PASSED: the suite must run there, fail nowhere, and pass PASSED cases.
boots()
{
	local cpu=$1 cpus=$2 at_least=$3 test status n=0 name
	local base=$BUILD/check/dynamic-scs-scs_trace-${cpus}cpu${cpu:+-$cpu}

	name="dynamic SCS on ${cpu:-max}, $cpus CPU"
	if ! KUNIT_CPU=$cpu run_child "$SCRIPTS/kunit-run.sh" "$KVER" dynamic scs 'scs_trace*' "$cpus"; then
		fail "$name boots" "see above and $BUILD/check/"
		return
	fi
	while read -r test status; do
		case $status in
		PASS) n=$((n + 1)); pass "$name: $test" ;;
		SKIP) skip "$name: $test" ;;
		*) fail "$name: $test" "$status: see $base.log" ;;
		esac
	done <"$base.cases"
	[ "$n" -ge "$at_least" ] || fail "$name" "only $n cases passed: see $base.log"
}

step_script "image dynamic-scs-test" "$SCRIPTS/image.sh" "$KVER" dynamic scs 1
boots cortex-a72 1 20
boots cortex-a72 4 20
boots "" 1 1
finish dynamic
