#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every trace checked: a kernel that compares each one with the frame-pointer unwinder's, under KUnit and under stress-ng.
#
# usage: test-verify.sh KVER kunit      the KUnit suites, where the first unexplained mismatch panics
#        test-verify.sh KVER TRACES     stress-ng and tracers, until so many traces were checked
#
# Both boot MODE=generic with the options of configs/test-verify.config, the second with those of
# test-stress.config, too. VERIFY_SECONDS is how long stress-ng may take at most (14400); a run that gets to fewer traces
# fails. VERIFY_TREE is a kernel tree to build instead of the one in build/linux/KVER, VERIFY_CPUS
# what the guest has (2).

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
WANTED=${2:-}
check_kver "$KVER"
[[ $WANTED =~ ^(kunit|[1-9][0-9]*)$ ]] ||
	die "the second argument is '$WANTED': give kunit or how many traces are to be checked"

SECS=${VERIFY_SECONDS:-14400}
[[ $SECS =~ ^[1-9][0-9]*$ ]] || die "VERIFY_SECONDS=$SECS is not a number of seconds: give 1 or more"
CPUS=${VERIFY_CPUS:-2}
[[ $CPUS =~ ^[1-9][0-9]*$ ]] || die "VERIFY_CPUS=$CPUS is not a number of CPUs: give 1 or more"
TREE=${VERIFY_TREE:-$BUILD/linux/$KVER/tree}
OUT=$BUILD/check/verify
IMAGE=$OUT/Image
[ "$WANTED" = kunit ] || IMAGE=$OUT/stress.Image
CLASSES="pipe memory scheduler vm interrupt"
# In which contexts, and by which ways, traces must have been checked. Nothing here takes one in NMI.
WAYS="task softirq hardirq saved in_place other_task walked"

# See config.sh.
config_fragments()
{
	local stress=test-stress

	[ "$WANTED" != kunit ] || stress=
	printf "$TOP/configs/%s.config\n" base mode-generic variant-scs test test-kasan test-scs \
		test-verify $stress
}

build()
{
	local log=$BUILD/log/image-$KVER-verify.log obj=obj-verify

	# For KUnit it is the kernel that group "ours" boots, but for a few objects.
	[ "$WANTED" != kunit ] || obj="obj-generic"
	kernel_make "$TREE" "$obj"
	configure "$TREE/$obj" verify '' '' "$log"
	run_logged verify "$log" "$KBUILD_OBJECT" "${KMAKE[@]}" Image
	mkdir -p "$OUT"
	cp "$TREE/$obj/arch/arm64/boot/Image" "$IMAGE"
}

# boot NAME CPUS INITRD EXPECT TIMEOUT APPEND [ARGUMENT...]
boot()
{
	local name=$1 cpus=$2 initrd=$3 expect=$4 timeout=$5 append=$6

	shift 6
	rm -f "$OUT/$name.log"
	if (run_logged "boot $name" "$OUT/$name.run" '' \
		"$BUILD/host/scs_bench" run --qemu "$QEMU" --image "$IMAGE" \
		--initrd "$initrd" --log "$OUT/$name.log" --cpus "$cpus" \
		--timeout "$timeout" --expect "$expect" --append "$append" "$@"); then
		pass "$name: runs to its end"
	else
		fail "$name: runs to its end" "see above and $OUT/$name.log"
	fi
	[ ! -f "$OUT/$name.log" ] || sed -i 's/\r$//' "$OUT/$name.log"
}

# counter NAME <CONSOLE: its last value, or nothing where it was not printed.
counter()
{
	sed -nE "s/^(\[[^]]*\] )?verify: $1: ([0-9]+)\$/\2/p" | tail -n 1
}

# judge NAME LOG WANTED: what the counters at the end of a console say.
judge()
{
	local name=$1 log=$2 wanted=$3 checked unexplained class way said

	checked=$(counter checked <"$log")
	unexplained=$(counter unexplained <"$log")
	if [ "${checked:-0}" -ge "$wanted" ]; then
		pass "$name: $checked traces checked"
	else
		fail "$name: $wanted traces are checked" "only ${checked:-none, nothing was printed}: see $log"
	fi
	if [ "${unexplained:-1}" -eq 0 ]; then
		pass "$name: no mismatch without explanation"
	else
		fail "$name: no mismatch without explanation" "${unexplained:-nothing was printed}: see $log"
	fi
	if grep -q '^verify: done$' "$log" && ! grep -q '^verify: error' "$log"; then
		pass "$name: the workload ran"
	else
		fail "$name: the workload ran" "see $log"
	fi
	for way in $WAYS; do
		if [ "$(counter "checked_$way" <"$log")" -gt 0 ] 2>/dev/null; then
			pass "$name: checked_$way"
		else
			fail "$name: checked_$way" "none, or nothing was printed: see $log"
		fi
	done
	for class in $CLASSES; do
		if grep -q "^verify: classes:.* $class" "$log"; then
			pass "$name: class $class"
		else
			fail "$name: class $class" "it did not run: see $log"
		fi
	done
	if [ "$(sed -n 's/^verify: tracers: \([0-9]*\) rounds$/\1/p' "$log" | tail -n 1)" -gt 0 ] 2>/dev/null &&
	   [ "$(sed -n 's/^verify: kretprobes: \([0-9]*\) hits$/\1/p' "$log" | tail -n 1)" -gt 0 ] 2>/dev/null &&
	   [ "$(sed -n 's/^verify: stats: fallback_hooked: //p' "$log" | tail -n 1)" -gt 0 ] 2>/dev/null; then
		pass "$name: tracers came and went"
	else
		fail "$name: tracers came and went" "see $log"
	fi
	said=$(complaints <"$log")
	if [ -z "$said" ]; then
		pass "$name: the kernel complains of nothing"
	else
		fail "$name: the kernel complains of nothing" "$(head -n 10 <<<"$said")
See $log"
	fi
}

# complaints <CONSOLE. That stress-ng runs out of memory is all right.
complaints()
{
	grep -E 'scs_trace: mismatch|BUG: |WARNING: |Internal error|Kernel panic|Unable to handle kernel' || :
}

# --- judge() on made-up consoles --------------------------------------------

# expect NAME FAILURES LINE...: how many failures judge() must count for 100 traces.
expect()
{
	local name=$1 failures=$2 is

	shift 2
	printf '%s\n' "$@" >"$OUT/console"
	is=$(failed=0; judge x "$OUT/console" 100 >/dev/null; echo "$failed")
	if [ "$is" -eq "$failures" ]; then
		pass "consoles: $name"
	else
		fail "consoles: $name" "$is failures, not $failures"
	fi
}

test_judging()
{
	local counts=("verify: checked: 100" "verify: unexplained: 0")
	local rest=("verify: tracers: 3 rounds" "verify: kretprobes: 5 hits"
		"verify: stats: fallback_hooked: 7"
		"verify: classes: pipe memory scheduler vm interrupt" "verify: done")
	local way

	for way in $WAYS; do
		counts+=("verify: checked_$way: 1")
	done

	mkdir -p "$OUT"
	expect "a good one" 0 "${counts[@]}" "${rest[@]}"
	expect "no counters" 9 "${rest[@]}"
	expect "too few" 1 "${counts[@]}" "verify: checked: 99" "${rest[@]}"
	expect "none of another task" 1 "${counts[@]}" "verify: checked_other_task: 0" "${rest[@]}"
	expect "the last report counts" 1 "${counts[@]}" "verify: unexplained: 1" "${rest[@]}"
	expect "a mismatch" 2 "${counts[@]}" "verify: unexplained: 1" \
		"[ 1.0] scs_trace: mismatch_extra at entry 3" "${rest[@]}"
	expect "died" 8 "${counts[@]}" "Kernel panic - not syncing: x"
	expect "no tracer" 1 "${counts[@]}" "verify: tracers: 0 rounds" "${rest[@]:1}"
	expect "no kretprobe" 1 "${counts[@]}" "${rest[@]}" "verify: kretprobes: 0 hits"
	expect "no class vm" 1 "${counts[@]}" "${rest[@]:0:3}" \
		"verify: classes: pipe memory scheduler interrupt" "verify: done"
	expect "stress-ng failed" 1 "${counts[@]}" "${rest[@]}" "verify: error: x"
}

# --- The two workloads ------------------------------------------------------

# KUnit's console, of our suites and KASAN's, which must have no panic; their results are the
# business of test-kunit.sh, but for those of the checker itself.
kunit()
{
	local cpus name said

	for cpus in 1 4; do
		name=kunit-${cpus}cpu
		boot "$name" "$cpus" "$BUILD/initramfs/$KVER/initramfs.cpio" "scs_bench: done" 1200 \
			"kunit.enable=1 kunit.filter_glob=[sk][act]* kasan_multi_shot page_owner=on scs_trace_verify=panic" \
			--init boot
		[ -f "$OUT/$name.log" ] || continue
		if grep -qE '^(\[[^]]*\] *)?ok [0-9]+ scs_trace_verify$' "$OUT/$name.log"; then
			pass "$name: suite scs_trace_verify"
		else
			fail "$name: suite scs_trace_verify" "see $OUT/$name.log"
		fi
		said=$(grep -E 'Kernel panic|scs_trace: mismatch' "$OUT/$name.log" || :)
		if [ -z "$said" ]; then
			pass "$name: no mismatch without explanation"
		else
			fail "$name: no mismatch without explanation" "$said"
		fi
	done
}

stress()
{
	step_script "guest" "$SCRIPTS/verify-guest.sh"
	boot stress "$CPUS" "$BUILD/initramfs/verify.cpio" "verify: done" $((SECS + 600)) \
		"kunit.enable=0 page_owner=on rdinit=/init -- $WANTED $SECS"
	[ ! -f "$OUT/stress.log" ] || judge stress "$OUT/stress.log" "$WANTED"
	sed -n 's/^verify: \([a-z_]*: [0-9]*\)$/\1/p' "$OUT/stress.log" | tail -n 30 || :
}

plan 3
step "how consoles are judged"
test_judging
lock verify
lock "linux-$KVER"
[ -n "${VERIFY_TREE:-}" ] || step_script "source" "$SCRIPTS/source.sh" "$KVER"
build
# The guest may work for hours, while others build.
unlock "linux-$KVER"
case $WANTED in
kunit) kunit ;;
*) stress ;;
esac
finish verify
