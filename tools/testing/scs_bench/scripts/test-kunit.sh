#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs KUnit suites in booted kernels: ours in every mode on 1 and 4 CPUs, and KASAN's, compared with the unmodified kernel.
#
# usage: test-kunit.sh KVER ours MODE...    each case must pass (or skip)
#        test-kunit.sh KVER kasan MODE...   each case of KASAN's suite must end as it does in
#                                           variant upstream, and not by failing
#        test-kunit.sh KVER reports MODE... the stacks in the reports of that suite, and
#                                           page_owner's, must be those of variant upstream

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

KVER=${1:-}
WHAT=${2:-}
check_kver "$KVER"
one_of "the second argument" "$WHAT" ours kasan reports
shift 2

plan 1

# run MODE VARIANT GLOB CPUS: false, and a failed test, when there are no results.
run()
{
	if run_child "$SCRIPTS/kunit-run.sh" "$KVER" "$@"; then
		return 0
	fi
	fail "$1-$2 boots and runs '$3' on $4 CPU" "see above and $BUILD/check/"
	return 1
}

ours()
{
	local mode cpus test status

	for mode; do
		for cpus in 1 4; do
			run "$mode" scs 'scs_trace*' "$cpus" || continue
			while read -r test status; do
				test="$mode, $cpus CPU: $test"
				case $status in
				PASS) pass "$test" ;;
				SKIP) skip "$test" ;;
				*) fail "$test" "$status: see $BUILD/check/$mode-scs-scs_trace-${cpus}cpu.log" ;;
				esac
			done <"$BUILD/check/$mode-scs-scs_trace-${cpus}cpu.cases"
		done
	done
}

kasan()
{
	local mode a b test was is

	for mode; do
		run "$mode" upstream kasan 1 || continue
		run "$mode" scs kasan 1 || continue
		a=$BUILD/check/$mode-upstream-kasan-1cpu.cases
		b=$BUILD/check/$mode-scs-kasan-1cpu.cases
		# A case that only one of the two has is compared with "none".
		while read -r test was is; do
			test="$mode: $test"
			case $was$is in
			PASSPASS) pass "$test" ;;
			SKIPSKIP) skip "$test" ;;
			*) fail "$test" "upstream $was, scs $is: see ${a%.cases}.log, ${b%.cases}.log" ;;
			esac
		done < <(join -a 1 -a 2 -e none -o 0,1.2,2.2 <(sort "$a") <(sort "$b"))
	done
}

# compare NAME A.log B.log: what scs_bench makes of two logs.
compare()
{
	local out=${3%.log}.stacks counts p f s

	"$BUILD/host/scs_bench" stacks "$2" "$3" >"$out" 2>&1 || :
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$out" | tail -n 1)
	if [ -z "$counts" ]; then
		fail "$1" "nothing could be compared: $(tail -n 5 "$out")"
		return
	fi
	read -r p f s <<<"$counts"
	if [ "$((p + f))" -eq 0 ]; then
		fail "$1" "no stack was compared: $(tail -n 5 "$out")"
		return
	fi
	say "$1: $p stacks agree, $f differ, $s left out: see $out"
	[ "$f" -eq 0 ] || head -n 60 "$out" | sed 's/^/    # /'
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

# Without norandmaps it is chance which of two calls faults a page of the stack in.
page_owner_log()
{
	local mode=$1 variant=$2

	run_logged "boot $mode-$variant, page_owner" "$BUILD/check/$mode-$variant-page_owner.run" '' \
		"$BUILD/host/scs_bench" run --qemu "$QEMU" \
		--image "$BUILD/images/$KVER/$mode-$variant-test/Image" \
		--initrd "$BUILD/initramfs/$KVER/initramfs.cpio" --init pageowner --icount \
		--log "$BUILD/check/$mode-$variant-page_owner.log" --timeout 900 \
		--append "page_owner=on kunit.enable=0 norandmaps"
}

reports()
{
	local mode variant

	for mode; do
		for variant in upstream scs; do
			# Group "kasan" has run it, as a rule.
			[ "$BUILD/check/$mode-$variant-kasan-1cpu.cases" -nt \
			  "$BUILD/images/$KVER/$mode-$variant-test/Image" ] ||
				run "$mode" "$variant" kasan 1 || continue 2
		done
		compare "$mode: KASAN reports" "$BUILD/check/$mode-upstream-kasan-1cpu.log" \
			"$BUILD/check/$mode-scs-kasan-1cpu.log"
		if ! (page_owner_log "$mode" upstream && page_owner_log "$mode" scs); then
			fail "$mode: page_owner" "did not boot"
			continue
		fi
		compare "$mode: page_owner" "$BUILD/check/$mode-upstream-page_owner.log" \
			"$BUILD/check/$mode-scs-page_owner.log"
	done
}

case $WHAT in
ours) ours "$@" ;;
kasan) kasan "$@" ;;
reports) reports "$@" ;;
esac
finish "$WHAT"
