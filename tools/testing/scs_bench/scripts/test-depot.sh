#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the stack depot on the host: its contract, against upstream's depot, under sanitizers, with many threads.
#
# usage: test-depot.sh KVER
#
# DEPOT_SECONDS is how long each of the random tests runs. fuzz.sh runs them for hours.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/depot.sh
. "$SCRIPTS/depot.sh"

KVER=${1:-}
check_kver "$KVER"
SECONDS_EACH=${DEPOT_SECONDS:-15}
log=$BUILD/check/depot
mkdir -p "$log"

# tap NAME FILE STATUS PLAN: counts a program's TAP output. PLAN is how many tests
# it has; "plan" if it says so itself.
tap()
{
	local name=$1 file=$2 status=$3 planned=$4 line ran=$((passed + failed + skipped)) failures=$failed

	if [ "$planned" = plan ]; then
		planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$file" | head -n 1)
	fi
	while read -r line; do
		case $line in
		ok*'# SKIP'*) skip "$name: ${line#*- }" ;;
		ok*) pass "$name: ${line#*- }" ;;
		'not ok'*) fail "$name: ${line#*- }" "see $file" ;;
		esac
	done < <(grep -E '^(not )?ok ' "$file" || :)
	ran=$((passed + failed + skipped - ran))
	if [ "$status" -ne 0 ] && [ "$failed" -eq "$failures" ]; then
		fail "$name ends well" "status $status. The end of $file:
$(tail -n 25 "$file")"
	elif [ "$status" -eq 0 ] && { [ "$ran" -eq 0 ] || [ "$ran" -ne "${planned:-0}" ]; }; then
		fail "$name: all ${planned:-0} tests that were planned ran" "$ran did: see $file"
	fi
}

# run NAME PLAN COMMAND...
run()
{
	local name=$1 planned=$2 status=0 file

	shift 2
	file=$log/${name//[^a-z0-9-]/-}.out
	run_child nice -n 5 timeout 600 "$@" >"$file" 2>&1 || status=$?
	tap "$name" "$file" "$status" "$planned"
}

# A depot with a fault in it: the test that runs until it sees the fault must do so.
mutant()
{
	local name=$1 file=$log/mutant-$1.out status=0

	shift
	run_child nice -n 5 timeout 300 "$@" >"$file" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		fail "mutant $name is noticed" "'$*' found nothing wrong"
	elif grep -qE '^(WRONG|FAULT|not ok)|data race|ERROR: AddressSanitizer' "$file"; then
		pass "mutant $name is noticed"
	else
		fail "mutant $name is noticed" "'$*' ended with status $status for another reason: see $file"
	fi
}

# One of this depot's own sources. The second line of its file is the program, and arguments.
own_mutant()
{
	local name program
	local -a arguments

	name=$(basename "$1" .sed)
	read -r program arguments < <(sed -n '2s/^# //p' "$1")
	read -ra arguments <<<"$arguments"
	CMOCKA_MESSAGE_OUTPUT=TAP mutant "own-$name" "$DEPOT/$program-own-$name" "${arguments[@]}"
}

fuzz()
{
	local file=$log/fuzz.out status=0

	mkdir -p "$DEPOT/corpus"
	run_child nice -n 5 "$DEPOT/fuzz/fuzz" "-max_total_time=$SECONDS_EACH" -max_len=2401 -timeout=60 \
		"-artifact_prefix=$DEPOT/failing-" "$DEPOT/corpus" >"$file" 2>&1 || status=$?
	if [ "$status" -eq 0 ] && grep -q '^Done [1-9]' "$file"; then
		pass "fuzzer: $(grep '^Done' "$file")"
	else
		fail "fuzzer" "status $status; the input is $DEPOT/failing-*, which property --replay shows. The end of $file:
$(tail -n 25 "$file")"
	fi
}

# Of both depots every handle is checked against the stream.
replay()
{
	local stream=$1 options status file

	for options in "--depot upstream" "--depot fast" "--depot fast --shadow" "--depot fast --all-get"; do
		file=$log/replay.out
		status=0
		# shellcheck disable=SC2086 # a list of options
		run_child "$DEPOT/asan/replay" $options "$stream" >"$file" 2>&1 || status=$?
		if [ "$status" -eq 0 ] && grep -q '^traces: [1-9]' "$file"; then
			pass "replay $options: $(sed -n 's/^traces: //p' "$file") traces, $(sed -n 's/^bytes: //p' "$file") bytes"
		else
			fail "replay $options" "$(tail -n 25 "$file")"
		fi
	done
}

# A hit in a depot of a million traces against one in a depot of a thousand.
cost()
{
	local file=$log/cost.out small large

	if ! command -v valgrind >/dev/null; then
		skip "cost of a hit" "valgrind is not installed"
		return
	fi
	if ! run_child nice -n 5 "$DEPOT_SOURCE/cost.sh" "$DEPOT" traces 1000 1000000 >"$file" 2>&1; then
		fail "cost of a hit" "$(tail -n 25 "$file")"
		return
	fi
	small=$(awk '$1 == "fast" && $2 == 1000 && $3 == "hit" { print $4 }' "$file")
	large=$(awk '$1 == "fast" && $2 == 1000000 && $3 == "hit" { print $4 }' "$file")
	if [ -n "$small" ] && [ -n "$large" ] && awk "BEGIN { exit !($large <= 1.2 * $small) }"; then
		pass "a hit among 1000000 traces costs at most 1.2 times that among 1000: $large and $small instructions"
	else
		fail "a hit among 1000000 traces costs at most 1.2 times that among 1000" "$(cat "$file")"
	fi
}

plan 1
depot_build "$KVER" all mutants
say "each random test runs for $SECONDS_EACH seconds"

CMOCKA_MESSAGE_OUTPUT=TAP run "contract" plan "$DEPOT/asan/unit"
run "property" 1 "$DEPOT/asan/property" --seconds "$SECONDS_EACH" --save "$DEPOT/failing-property"
fuzz
run "stress asan" 1 "$DEPOT/asan/stress" --seconds "$SECONDS_EACH"
run "stress tsan" 1 "$DEPOT/tsan/stress" --seconds "$SECONDS_EACH"
run "race asan" 1 "$DEPOT/asan/stress" --race --seconds "$((SECONDS_EACH / 3 + 1))"
run "race tsan" 1 "$DEPOT/tsan/stress" --race --seconds "$((SECONDS_EACH / 3 + 1))"
run "evicting asan" 1 "$DEPOT/asan/stress" --evict --seconds "$SECONDS_EACH"
run "evicting tsan" 1 "$DEPOT/tsan/stress" --evict --seconds "$SECONDS_EACH"
run "step" 18 "$DEPOT/asan/step" --stride 211
replay "$DEPOT_SOURCE/streams/boot-generic.stream"
cost
for m in $DEPOT_PROPERTY_MUTANTS; do
	mutant "$m" "$DEPOT/plain/property-$m" --seconds 60 --no-shrink
done
for m in $DEPOT_STRESS_MUTANTS; do
	mutant "$m" "$DEPOT/tsan/stress-$m" --seconds 60
done
for sed in "$DEPOT_SOURCE"/mutants/own/*.sed; do
	own_mutant "$sed"
done
finish depot
