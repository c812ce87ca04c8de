#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make fuzz`: runs the depot's random tests, in turn, until FUZZ_SECONDS are over or one fails.
#
# FUZZ_SECONDS is an hour if not given. What libFuzzer finds worth keeping stays in
# build/depot/corpus, so that the next run goes on from there. KVER as for make.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/depot.sh
. "$SCRIPTS/depot.sh"

KVER=${KVER:-6.12}
check_kver "$KVER"
TOTAL=${FUZZ_SECONDS:-3600}
if ! [[ $TOTAL =~ ^[1-9][0-9]*$ ]]; then
	die "FUZZ_SECONDS=$TOTAL is not a number of seconds"
fi

plan 1
depot_build "$KVER" all
end=$((EPOCHSECONDS + TOTAL))
mkdir -p "$DEPOT/corpus"
round=0

# one NAME COMMAND...: a failure ends it all, with what is needed to see it again.
one()
{
	local name=$1 file=$BUILD/log/fuzz-${1// /-}.log status=0

	shift
	run_child nice -n 10 "$@" >"$file" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		pass "round $round: $name: $(grep -hE '^# |^Done' "$file" | tail -n 1 | sed 's/^# //')"
		return
	fi
	fail "round $round: $name" "status $status of: $*
the whole log is $file. Its end:
$(tail -n 30 "$file")"
	finish fuzz
}

# Each round is longer than the one before, up to half an hour a test.
slice=20
while [ $EPOCHSECONDS -lt $end ]; do
	round=$((round + 1))
	left=$(((end - EPOCHSECONDS) / 8 + 1))
	[ $slice -le $left ] || slice=$left
	one "fuzzer" "$DEPOT/fuzz/fuzz" "-max_total_time=$slice" -max_len=16001 -timeout=120 \
		"-artifact_prefix=$DEPOT/failing-" "$DEPOT/corpus"
	one "property" "$DEPOT/asan/property" --seconds "$slice" --save "$DEPOT/failing-property"
	one "stress asan" "$DEPOT/asan/stress" --seconds "$slice" \
		--threads $((2 + round % 15)) --ids $((1000 + RANDOM * 12))
	one "stress tsan" "$DEPOT/tsan/stress" --seconds "$slice" \
		--threads $((2 + round % 7)) --ids $((1000 + RANDOM * 12))
	one "stress plain" "$DEPOT/plain/stress" --seconds "$slice" \
		--threads $((2 + round % 15)) --ids $((1000 + RANDOM * 12))
	one "evicting asan" "$DEPOT/asan/stress" --evict --seconds "$slice" --threads $((2 + round % 15))
	one "evicting tsan" "$DEPOT/tsan/stress" --evict --seconds "$slice" --threads $((2 + round % 7))
	one "evicting plain" "$DEPOT/plain/stress" --evict --seconds "$slice" --threads $((2 + round % 15))
	one "step" "$DEPOT/asan/step" --stride $((211 - (round < 40 ? 5 * round : 200)))
	slice=$((slice * 2 < 1800 ? slice * 2 : 1800))
done
say "fuzz took $(duration $((EPOCHSECONDS - SCS_T0)))"
finish fuzz
