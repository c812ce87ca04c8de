#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots kernels of further kinds, in which the stack depot is tortured and tested, and fails if they complain of it.
#
# usage: test-kinds.sh KVER [KIND...]
#
# Kinds are the files configs/kind-*.config; without KIND all of them. Each is booted on 4 CPUs, once
# for each policy of the depot at its limit, and where it has pseudo-NMIs once more with those.
# KIND_SECONDS is how long the torture test runs in each boot (20). KIND_TREE is a kernel tree to
# build instead of the one in build/linux/KVER.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
check_kver "$KVER"
shift
mapfile -t KINDS < <(cd "$TOP/configs" && printf '%s\n' kind-*.config | sed 's/^kind-//; s/\.config$//')
for kind; do
	one_of KIND "$kind" "${KINDS[@]}"
done
[ $# -gt 0 ] || set -- "${KINDS[@]}"

SECS=${KIND_SECONDS:-20}
[[ $SECS =~ ^[1-9][0-9]*$ ]] || die "KIND_SECONDS=$SECS is not a number of seconds: give 1 or more"
TREE=${KIND_TREE:-$BUILD/linux/$KVER/tree}
OUT=$BUILD/check/kinds
CPUS=4

# A kind takes the place of a mode; what it says wins. See config.sh.
config_fragments()
{
	printf "$TOP/configs/%s.config\n" base variant-scs test test-scs "kind-$1"
}

# boots KIND: a line "NAME ARGUMENTS" for each boot.
boots()
{
	local evict="stack_depot_policy=evict stack_depot_max_pools=16"
	local all="" nmi="irqchip.gicv3_pseudo_nmi=1"

	case $1 in
	rt) all="page_owner=on" ;;
	fault) all="page_owner=on depot_torture.fail=30" ;;
	esac
	echo "stop $all"
	echo "evict $all $evict"
	if grep -qx CONFIG_ARM64_PSEUDO_NMI=y "$TOP/configs/kind-$1.config"; then
		echo "nmi-stop $all $nmi"
		echo "nmi-evict $all $nmi $evict"
	fi
}

# complaints <CONSOLE: the lines in which the kernel complains. Races that KCSAN finds elsewhere in
# the kernel are not ours; of all else nothing is expected but what the KUnit suite announces.
complaints()
{
	awk '
		/stackdepot_fast_test: begin of expected warnings/ { expected = 1 }
		/stackdepot_fast_test: end of expected warnings/ { expected = 0 }
		# A report of KCSAN ends with a line of equal signs.
		race != "" && /====================/ {
			if (ours)
				print race
			race = ""
			next
		}
		race != "" {
			if (/depot_|depot\/|torture_/)
				ours = 1
			next
		}
		/BUG: KCSAN: / { race = $0; ours = /depot_|depot\/|torture_/; next }
		expected && /WARNING: / { next }
		/BUG: |WARNING: |INFO: possible|suspicious RCU|sleeping function/ ||
		/inconsistent lock state|[Ii]nvalid wait context|stalls on CPUs|self-detected stall/ ||
		/soft lockup|blocked for more than|Internal error|Kernel panic|UBSAN: / ||
		/Unable to handle kernel|depot_torture: error|Stack depot (reached|used up)/ { print }
		END { if (race != "" && ours) print race }'
}

# cases <CONSOLE: "CASE pass|skip|fail" for each case of the KUnit suite.
cases()
{
	sed -nE 's/^(\[[^]]*\])? *(not )?ok [0-9]+ (test_[a-z_]+)( # SKIP)?.*/\3 \2\4/p' |
		sed -E 's/ not .*$/ fail/; s/  # SKIP$/ skip/; s/ $/ pass/'
}

# stored <CONSOLE: of 1000 traces that the torture test saved, how many were stored; nothing if it
# doesn't say.
stored()
{
	sed -nE 's/.*depot_torture: end: .* ([0-9]+) traces stored, ([0-9]+) refused$/\1 \2/p' |
		awk 'NR == 1 && $1 + $2 { print int(1000 * $1 / ($1 + $2)) }'
}

# least_stored NAME: how many of 1000 must be. With "stop" no boot comes near the limit: only
# interrupts and NMIs, which may not allocate, find no room now and then (30 of 1000 in the worst one,
# rt-nmi-stop), and where allocations fail some more may. With "evict" new traces wait for grace
# periods, which take long on CPUs that are this busy: 700 of 1000 are refused in fault-evict.
least_stored()
{
	case $1 in
	fault-stop*) echo 900 ;;
	*-stop) echo 940 ;;
	*) echo 100 ;;
	esac
}

# judge NAME LOG: counts what one boot showed.
judge()
{
	local name=$1 log=$2 test status said n=0 ops errors nmis fails share least

	said=$(complaints <"$log")
	if [ -z "$said" ]; then
		pass "$name: the kernel complains of nothing"
	else
		fail "$name: the kernel complains of nothing" "$(head -n 10 <<<"$said")
See $log"
	fi

	ops=$(sed -nE 's/.*depot_torture: end: ([0-9]+) operations, ([0-9]+) errors.*/\1 \2/p' "$log" | head -n 1)
	read -r ops errors <<<"${ops:-0 1}"
	if [ "$ops" -gt 1000 ] && [ "$errors" -eq 0 ]; then
		pass "$name: torture, $ops operations"
	else
		fail "$name: torture" "$ops operations, $errors errors: see $log"
	fi
	share=$(stored <"$log")
	least=$(least_stored "$name")
	if [ "${share:-0}" -ge "$least" ]; then
		pass "$name: torture, $share of 1000 traces are stored"
	else
		fail "$name: torture, at least $least of 1000 traces are stored" "only ${share:-0}: see $log"
	fi
	if [[ $name == *nmi* ]]; then
		nmis=$(sed -nE 's/.*depot_torture: .* ([0-9]+) in NMI$/\1/p' "$log" | head -n 1)
		if [ "${nmis:-0}" -gt 100 ]; then
			pass "$name: torture, $nmis operations in NMI"
		else
			fail "$name: torture in NMI" "only ${nmis:-0} operations: see $log"
		fi
	fi

	# At the limit "evict" allocates nothing.
	if [ "$name" = fault-stop ]; then
		fails=$(sed -nE 's/.*depot_torture: ([0-9]+) allocations failed$/\1/p' "$log" | head -n 1)
		if [ "${fails:-0}" -gt 100 ]; then
			pass "$name: torture, $fails allocations failed"
		else
			fail "$name: torture" "only ${fails:-0} allocations failed: see $log"
		fi
	fi

	while read -r test status; do
		n=$((n + 1))
		case $test-$status in
		*-pass) pass "$name: $test" ;;
		*-skip)
			if [[ $test == test_nmi && $name == *nmi* ]]; then
				fail "$name: $test" "skipped: see $log"
			else
				skip "$name: $test"
			fi ;;
		*) fail "$name: $test" "see $log" ;;
		esac
	done < <(cases <"$log")
	[ "$n" -ge 20 ] || fail "$name: KUnit" "only $n cases ran: see $log"
}

# boot_kind KIND NAME ARGUMENTS
boot_kind()
{
	local log=$OUT/$1-$2.log

	mkdir -p "$OUT"
	rm -f "$log"
	if (run_logged "boot $1-$2" "$OUT/$1-$2.run" '' \
		"$BUILD/host/scs_bench" run --qemu "$QEMU" --image "$OUT/$1.Image" \
		--initrd "$BUILD/initramfs/$KVER/initramfs.cpio" --init boot \
		--log "$log" --cpus $CPUS --timeout $((600 + 2 * SECS)) --expect "scs_bench: done" \
		--append "kunit.enable=1 kunit.filter_glob=stackdepot_fast depot_torture.seconds=$SECS $3"); then
		pass "$1-$2 boots"
	else
		fail "$1-$2 boots" "see above and $log"
	fi
	if [ -f "$log" ]; then
		sed -i 's/\r$//' "$log"
		judge "$1-$2" "$log"
	fi
}

build_kind()
{
	local log=$BUILD/log/image-$KVER-kind-$1.log

	kernel_make "$TREE" "obj-kind-$1"
	configure "$TREE/obj-kind-$1" "$1" '' '' "$log"
	run_logged "kind-$1" "$log" "$KBUILD_OBJECT" "${KMAKE[@]}" Image
	mkdir -p "$OUT"
	cp "$TREE/obj-kind-$1/arch/arm64/boot/Image" "$OUT/$1.Image"
}

# --- complaints(), stored() and cases() on made-up consoles -----------------

# expect NAME FUNCTION LINES <INPUT: how many lines it must print.
expect()
{
	local is

	is=$("$2" | grep -c . || :)
	if [ "$is" -eq "$3" ]; then
		pass "consoles: $1"
	else
		fail "consoles: $1" "$is lines, not $3"
	fi
}

test_judging()
{
	local line="=================================================================="
	local begin="stackdepot_fast_test: begin of expected warnings"
	local end="stackdepot_fast_test: end of expected warnings"

	expect "a quiet one" complaints 0 <<<"[ 1.0] depot_torture: end: 1 operations, 0 errors"
	expect "a warning" complaints 1 <<<"[ 1.0] WARNING: CPU: 0 PID: 1 at lib/x.c:1 f+0x0/0x1"
	expect "an expected one" complaints 0 <<<"$begin"$'\nWARNING: CPU: 0\n'"$end"
	expect "one too late" complaints 1 <<<"$begin"$'\n'"$end"$'\nWARNING: CPU: 0'
	expect "no bug is expected" complaints 1 <<<"$begin"$'\nBUG: KASAN: use-after-free\n'"$end"
	expect "a race elsewhere" complaints 0 \
		<<<"$line"$'\nBUG: KCSAN: data-race in f / g\n f+0x1/0x2\n'"$line"
	expect "a race of ours" complaints 1 \
		<<<"$line"$'\nBUG: KCSAN: data-race in f / depot_link\n f+0x1/0x2\n'"$line"
	expect "a race below us" complaints 1 \
		<<<"$line"$'\nBUG: KCSAN: data-race in memcmp / g\n depot_link+0x1/0x2\n'"$line"
	expect "what follows a race" complaints 1 \
		<<<"$line"$'\nBUG: KCSAN: data-race in f / g\n'"$line"$'\nBUG: sleeping function called'
	expect "lockdep" complaints 1 <<<"WARNING: possible circular locking dependency detected"
	expect "torture finds something" complaints 1 <<<"depot_torture: error: held: handle 1, key 2"
	expect "how many are stored" stored 1 \
		<<<"[ 1.0] depot_torture: end: 9 operations, 0 errors, 3 traces stored, 1 refused"
	expect "none was saved" stored 0 \
		<<<"[ 1.0] depot_torture: end: 9 operations, 0 errors, 0 traces stored, 0 refused"
	expect "cases" cases 2 <<<$'[    1.0]     ok 1 test_a\n    not ok 2 test_b\nok 1 suite'
	if [ "$(cases <<<$'    ok 3 test_c # SKIP needs a PMU\n    not ok 4 test_d\nok 5 test_e')" = \
		$'test_c skip\ntest_d fail\ntest_e pass' ]; then
		pass "consoles: how cases end"
	else
		fail "consoles: how cases end"
	fi
}

plan $(($# + 2))
if [ -z "${KIND_TREE:-}" ]; then
	step_script "source" "$SCRIPTS/source.sh" "$KVER"
	lock "linux-$KVER"
else
	step "source: $TREE"
fi
step "how consoles are judged"
test_judging
for kind; do
	step "kind $kind"
	build_kind "$kind"
	while read -r name arguments; do
		boot_kind "$kind" "$name" "$arguments"
	done < <(boots "$kind")
done
finish kinds
