#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs KUnit suites in booted kernels: ours in every mode on 1 and 4 CPUs, and KASAN's, compared with the unmodified kernel.
#
# usage: test-kunit.sh KVER ours MODE...    each case must pass (or skip)
#        test-kunit.sh KVER kasan MODE...   each case of KASAN's suite must end as it does in
#                                           variant upstream, and not by failing
#        test-kunit.sh KVER reports MODE... the stacks in the reports of that suite, and
#                                           page_owner's, must be those of variant upstream
#
# In the tag-based modes, "kasan" and "reports" try a case again that chance may have failed.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

KVER=${1:-}
WHAT=${2:-}
check_kver "$KVER"
one_of "the second argument" "$WHAT" ours kasan reports
shift 2

plan 1

# run MODE VARIANT GLOB CPUS [BOOT]: false, and a failed test, when there are no results.
run()
{
	local boot=${5:-1}

	if KUNIT_TRY=$boot run_child "$SCRIPTS/kunit-run.sh" "$KVER" "${@:1:4}"; then
		return 0
	fi
	fail "$1-$2 boots and runs '$3' on $4 CPU" "boot $boot: see above and $BUILD/check/"
	return 1
}

# The collector's suite and the depot's, in one boot: no other suite has such a name.
OURS='s[ct]*'

ours()
{
	local mode cpus test status base

	for mode; do
		for cpus in 1 4; do
			base=$BUILD/check/$mode-scs-${OURS//[^A-Za-z0-9_]/}-${cpus}cpu
			run "$mode" scs "$OURS" "$cpus" || continue
			while read -r test status; do
				test="$mode, $cpus CPU: $test"
				case $status in
				PASS) pass "$test" ;;
				SKIP) skip "$test" ;;
				*) fail "$test" "$status: see $base.log" ;;
				esac
			done <"$base.cases"
		done
	done
}

# --- Chance, and boots to tell it from a fault ------------------------------
#
# A tag-based mode misses a bad access to memory that has, by chance, the tag of the pointer, and
# its reports find an object's stacks by that tag. Tags are random: 14 for hw_tags, 254 for
# sw_tags, seeded from a counter that no two boots read at the same time. So what ended otherwise
# than it should is tried again in fresh boots of both variants, and counts as passed if it ended
# well in both in one of them. A fault of ours fails in each boot. One access that can be missed
# fails a pair of boots with 1 - (13/14)^2 = 14 % in hw_tags, and four pairs with 0.14^4 = 0.04 %;
# in sw_tags that is 0.8 % and 0.000,000,4 %. Generic KASAN leaves nothing to chance: one boot.
# Nor is it chance when a kernel crashes or only one of the two has a test: that stays a failure.

# boots MODE: how many pairs of boots a case has.
boots()
{
	case $1 in
	sw_tags|hw_tags) echo 4 ;;
	*) echo 1 ;;
	esac
}

# base MODE VARIANT BOOT: how the files begin that kunit-run.sh leaves.
base()
{
	local suffix=

	[ "$3" -eq 1 ] || suffix=-try$3
	echo "$BUILD/check/$1-$2-kasan-1cpu$suffix"
}

# boot_pair MODE BOOT: runs KASAN's suite in both variants, unless that boot of that image has.
boot_pair()
{
	local variant

	for variant in upstream scs; do
		[ "$(base "$1" $variant "$2").cases" -nt \
		  "$BUILD/images/$KVER/$1-$variant-test/Image" ] ||
			run "$1" $variant kasan 1 "$2" || return 1
	done
}

# A verdict is a line "NAME VERDICT BOOT WHY". VERDICT is pass or skip; fail, which no other boot
# can mend; or, where chance may be at work, differ. Where results differ, but there is no stack
# to compare, it is result: then a boot that has no stack either, but equal results, settles it.

# case_verdicts BOOT A.cases B.cases. A case that only one has is compared with "none".
case_verdicts()
{
	join -a 1 -a 2 -e none -o 0,1.2,2.2 <(sort "$2") <(sort "$3") | awk -v boot="$1" '
		{ both = $2 $3; verdict = "fail" }
		both == "PASSPASS"				{ verdict = "pass" }
		both == "SKIPSKIP"				{ verdict = "skip" }
		both ~ /^(PASSFAIL|FAILPASS|FAILFAIL)$/		{ verdict = "differ" }
		{ print $1, verdict, boot, "upstream " $2 ", scs " $3 }'
}

# stack_verdicts BOOT <OUTPUT, of scs_bench stacks. WHY is the first difference.
stack_verdicts()
{
	awk -v boot="$1" '
		/^#/ && why == "" && !/, left out$/ { why = $0; sub(/^# */, "", why) }
		!/^(not )?ok - / { next }
		{ name = /^not/ ? $4 : $3; verdict = "fail" }
		/^ok/				{ verdict = / # SKIP / ? "skip" : "pass" }
		/^not.* stacks\)$/		{ verdict = "differ" }
		/^not.* reports, 0 stacks\)$/	{ verdict = "result" }
		{ print name, verdict, boot, why; why = "" }'
}

# merge <VERDICTS, boot after boot: the one that counts, for each name.
merge()
{
	awk '
		BEGIN {
			rank["result"] = 1; rank["skip"] = 2; rank["differ"] = 3
			rank["pass"] = 4; rank["fail"] = 5
		}
		NF == 0 { next }
		!($1 in verdict) { names[++n] = $1; verdict[$1] = "result" }
		$2 == "fail" || (verdict[$1] ~ /^(result|differ)$/ && rank[$2] >= rank[verdict[$1]]) {
			verdict[$1] = $2
			line[$1] = $0
		}
		END { for (i = 1; i <= n; i++) print line[names[i]] }'
}

# still_open <VERDICTS: those that a further boot may settle.
still_open()
{
	awk '$2 == "differ" || $2 == "result"'
}

# judge MODE GET: boots until all is settled or no boot is left, and leaves the merged verdicts in
# $judged. GET MODE BOOT appends one boot's to $verdicts. False when there are none.
judge()
{
	local mode=$1 get=$2 boot=1 open name why

	verdicts=
	judged=
	while boot_pair "$mode" $boot && "$get" "$mode" $boot; do
		judged=$(merge <<<"$verdicts")
		open=$(still_open <<<"$judged")
		if [ -z "$open" ] || [ $boot -ge "$(boots "$mode")" ]; then
			break
		fi
		boot=$((boot + 1))
		while read -r name _ _ why; do
			say "$mode: $name: $why. That may be chance: tried again in boot $boot of both"
		done <<<"$open"
	done
	[ -n "$judged" ]
}

# shellcheck disable=SC2317 # judge() calls it
case_boot()
{
	verdicts+=$(case_verdicts "$2" "$(base "$1" upstream "$2").cases" \
		"$(base "$1" scs "$2").cases")$'\n'
}

kasan()
{
	local mode name verdict boot why

	test_merging
	for mode; do
		rm -f "$BUILD/check/$mode"-{upstream,scs}-kasan-1cpu[-.]*
		judge "$mode" case_boot || continue
		while read -r name verdict boot why; do
			name="$mode: $name"
			case $verdict in
			pass) pass "$name" ;;
			skip) skip "$name" ;;
			*) fail "$name" "$why in boot $boot: see $(base "$mode" upstream "$boot").log, $(base "$mode" scs "$boot").log" ;;
			esac
		done <<<"$judged"
	done
}

# stack_diff NAME FILE.stacks: what that test's result there says of differences.
stack_diff()
{
	awk -v name="$1" '
		/^#/ { diff = diff "\n" $0; next }
		/^(not )?ok - / { if ((/^not/ ? $4 : $3) == name) print substr(diff, 2); diff = "" }' "$2" |
		head -n 60
}

# compare NAME BOOT A.log B.log: appends what scs_bench makes of two logs to $verdicts.
compare()
{
	local out=${4%.log}.stacks rc=0

	"$BUILD/host/scs_bench" stacks "$3" "$4" >"$out" 2>&1 || rc=$?
	if [ $rc -gt 1 ]; then
		fail "$1" "boot $2: nothing could be compared: $(tail -n 5 "$out")"
		return 1
	fi
	verdicts+=$(stack_verdicts "$2" <"$out")$'\n'
}

# shellcheck disable=SC2317 # judge() calls it
stack_boot()
{
	compare "$1: KASAN reports" "$2" "$(base "$1" upstream "$2").log" "$(base "$1" scs "$2").log"
}

# report NAME LOG...: counts the verdicts in $judged; the n-th log is that of boot n.
report()
{
	local title=$1 name verdict boot why p=0 s=0 f=0 out

	shift
	while read -r name verdict boot why; do
		out=${*:boot:1}
		out=${out%.log}.stacks
		case $verdict in
		pass) p=$((p + 1)) ;;
		skip) s=$((s + 1)) ;;
		*)
			f=$((f + 1))
			fail "$title: $name" "$why in boot $boot: see $out
$(stack_diff "$name" "$out")"
			;;
		esac
	done <<<"$judged"
	passed=$((passed + p))
	skipped=$((skipped + s))
	say "$title: $p stacks agree, $f differ, $s left out: see ${1%.log}.stacks"
	[ $((p + f)) -gt 0 ] || fail "$title" "no stack was compared"
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
	local mode boot logs

	for mode; do
		# Group "kasan" has booted them, as a rule.
		if judge "$mode" stack_boot; then
			logs=()
			for ((boot = 1; boot <= $(boots "$mode"); boot++)); do
				logs+=("$(base "$mode" scs $boot).log")
			done
			report "$mode: KASAN reports" "${logs[@]}"
		fi
		if ! (page_owner_log "$mode" upstream && page_owner_log "$mode" scs); then
			fail "$mode: page_owner" "did not boot"
			continue
		fi
		logs=("$BUILD/check/$mode-scs-page_owner.log")
		verdicts=
		if compare "$mode: page_owner" 1 "$BUILD/check/$mode-upstream-page_owner.log" \
			"${logs[@]}"; then
			judged=$(merge <<<"$verdicts")
			report "$mode: page_owner" "${logs[@]}"
		fi
	done
}

# --- The above on made-up boots ---------------------------------------------

# expect_merge NAME "VERDICT BOOT" <VERDICTS on one case
expect_merge()
{
	local all is

	all=$(cat)
	is=$(merge <<<"$all" | cut -d' ' -f2,3)
	if [ "$is" = "$2" ]; then
		pass "several boots: $1"
	else
		fail "several boots: $1" "not '$2', but '$is' came of
$all"
	fi
}

# cases "UPSTREAM SCS"...: verdicts on a case that ended so in one boot after the other.
cases()
{
	local boot=0 pair up scs

	for pair; do
		boot=$((boot + 1))
		read -r up scs <<<"$pair"
		case_verdicts $boot <([ "$up" = - ] || echo "kasan.a $up") \
			<([ "$scs" = - ] || echo "kasan.a $scs")
	done
}

# stacks LINE...: verdicts on a test for which scs_bench prints one LINE in each boot.
stacks()
{
	local boot=0 line

	for line; do
		boot=$((boot + 1))
		stack_verdicts $boot <<<"$line"
	done
}

test_merging()
{
	local good="ok - kasan.a (1 reports, 2 stacks)" bad="not ok - kasan.a (1 reports, 2 stacks)"
	local none="ok - kasan.a # SKIP no stack to compare"
	local unequal="not ok - kasan.a (1 reports, 0 stacks)"

	expect_merge "a case passes in the second" "pass 2" < <(cases "FAIL PASS" "PASS PASS")
	expect_merge "upstream may fail, too" "pass 3" < <(cases "PASS FAIL" "FAIL FAIL" "PASS PASS")
	expect_merge "a case that fails in each fails" "differ 4" \
		< <(cases "PASS FAIL" "PASS FAIL" "PASS FAIL" "PASS FAIL")
	expect_merge "both must pass in the same" "differ 2" < <(cases "PASS FAIL" "FAIL PASS")
	expect_merge "what passed stays so" "pass 1" < <(cases "PASS PASS" "PASS FAIL")
	expect_merge "a case that one lacks fails" "fail 1" < <(cases "PASS -" "PASS PASS")
	expect_merge "a case that one lacks later fails" "fail 2" < <(cases "PASS PASS" "- PASS")
	expect_merge "a crash fails" "fail 1" < <(cases "PASS ERROR" "PASS PASS")
	expect_merge "a case that only one skips fails" "fail 1" < <(cases "SKIP PASS" "PASS PASS")
	expect_merge "stacks agree in the second" "pass 2" < <(stacks "$bad" "$good")
	expect_merge "stacks that differ in each fail" "differ 4" \
		< <(stacks "$bad" "$bad" "$bad" "$bad")
	expect_merge "no stack is not agreement" "differ 1" < <(stacks "$bad" "$none")
	expect_merge "nor is it before stacks differ" "differ 3" \
		< <(stacks "$unequal" "$bad" "$bad" "$none")
	expect_merge "results agree, and there is no stack" "skip 2" < <(stacks "$unequal" "$none")
	expect_merge "a test that one lacks fails" "fail 1" < <(stacks "not ok - kasan.a" "$good")
	if [ "$(boots generic) $(boots sw_tags) $(boots hw_tags)" = "1 4 4" ]; then
		pass "several boots: only where tags tell memory apart"
	else
		fail "several boots: only where tags tell memory apart"
	fi
	if [ "$(cases "PASS PASS" "PASS FAIL" "- FAIL" | still_open | cut -d' ' -f3)" = 2 ]; then
		pass "several boots: only for what chance may have failed"
	else
		fail "several boots: only for what chance may have failed"
	fi
}

case $WHAT in
ours) ours "$@" ;;
kasan) kasan "$@" ;;
reports) reports "$@" ;;
esac
finish "$WHAT"
