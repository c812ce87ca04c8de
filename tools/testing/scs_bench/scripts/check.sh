#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make check`: sets up, runs every group of tests, and sums them up in its last line.
#
# usage: check.sh [all]
#
# A group is a script that ends with "GROUP: N passed, N failed, N skipped".
# One that dies before it gets there counts as a failure. KVER as for make.
# CHECK_GROUPS="name name" runs only these.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KVER=${KVER:-6.12}
check_kver "$KVER"
ALL=${1:-}
KASAN_MODES="generic sw_tags hw_tags"

# name: script and arguments. What is quick, and needs no kernel, comes first;
# then each mode's two images, which the groups after them use. "off" comes
# before the images of variant scs for the sake of what is compiled anew.
GROUPS_OF_TESTS=(
	"host: test-host.sh"
	"depot: test-depot.sh $KVER"
	"image: test-image.sh $KVER"
	"integrate: test-integrate.sh $KVER"
	"off: test-off.sh $KVER generic"
	"images: test-images.sh $KVER $KASAN_MODES"
	"style: test-style.sh $KVER generic"
	"ours: test-kunit.sh $KVER ours $KASAN_MODES"
	"kasan: test-kunit.sh $KVER kasan $KASAN_MODES"
	"reports: test-kunit.sh $KVER reports $KASAN_MODES"
	"verify: test-verify.sh $KVER kunit"
)
if [ "$ALL" = all ]; then
	GROUPS_OF_TESTS+=(
		"off-all: test-off.sh $KVER generic all"
		"images-none: test-images.sh $KVER none"
		"contexts: test-contexts.sh $KVER"
		"kinds: test-kinds.sh $KVER"
		"verify-all: test-verify.sh $KVER 10000000"
		"bench: test-bench.sh $KVER $KASAN_MODES"
	)
fi

passed=0
failed=0
skipped=0

# Counts what group $1 printed into file $2 before it ended with status $3.
count_group()
{
	local counts p f s

	counts=$(tail -n 1 "$2" |
		sed -n 's/^[^:]*: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	if [ -z "$counts" ]; then
		say "$1: died with status $3 before it could count: 1 failed"
		failed=$((failed + 1))
		return
	fi
	read -r p f s <<<"$counts"
	if [ $((p + f)) -eq 0 ]; then
		say "$1: ran no test: 1 failed"
		f=1
	elif [ "$3" -ne 0 ] && [ "$f" -eq 0 ]; then
		say "$1: ended with status $3: 1 failed"
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

wanted()
{
	[ -z "${CHECK_GROUPS:-}" ] || [[ " $CHECK_GROUPS " == *" $1 "* ]]
}

run_group()
{
	local name=$1 log=$BUILD/check/$1.out rc=0

	shift
	step "tests: $name"
	mkdir -p "$BUILD/check"
	# shellcheck disable=SC2016 # the inner shell expands it
	SCS_STEP=$(step_label) run_child bash -o pipefail -c '"$@" 2>&1 | tee "$0"' "$log" "$@" || rc=$?
	count_group "$name" "$log" $rc
}

plan $((5 + ${#GROUPS_OF_TESTS[@]}))
step_script "packages" "$SCRIPTS/setup.sh"
step_script "QEMU" "$SCRIPTS/qemu.sh"
step_script "source" "$SCRIPTS/source.sh" "$KVER"
step_script "host program" "$SCRIPTS/host.sh" host
step_script "initramfs" "$SCRIPTS/host.sh" initramfs "$KVER"

for group in "${GROUPS_OF_TESTS[@]}"; do
	name=${group%%:*}
	wanted "$name" || continue
	read -ra command <<<"${group#*: }"
	run_group "$name" "$SCRIPTS/${command[0]}" "${command[@]:1}"
done

say "check took $(duration $((EPOCHSECONDS - SCS_T0)))"
if [ $failed -gt 0 ]; then
	grep -h '^not ok' "$BUILD"/check/*.out || :
fi
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + failed)) -gt 0 ]
