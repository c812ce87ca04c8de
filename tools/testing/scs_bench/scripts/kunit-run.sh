#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a test image with KUnit suites enabled and writes down how each test case ended.
#
# usage: kunit-run.sh KVER MODE VARIANT GLOB CPUS
#
# GLOB chooses suites, as in kunit.filter_glob. Results lie in build/check/ as
# MODE-VARIANT-GLOB-CPUScpu: .log (the console), .json (what the kernel's own
# kunit.py makes of it) and .cases ("suite.case PASS|FAIL|SKIP|ERROR" a line).
# KUNIT_CPU in the environment chooses the CPU that QEMU emulates; the names
# above then end with it. KUNIT_TRY counts boots of the same suites, from 1:
# the names of a later one end with "-try2" and so on. KUNIT_IMAGE and KUNIT_BASE
# are another image, of any MODE, and where its results go instead; KUNIT_INITRD is
# another initramfs, KUNIT_BIOS firmware to start with, KUNIT_APPEND further arguments
# for the kernel, KUNIT_TIMEOUT how many seconds it may take (600).
#
# A kernel that did not get to its end, or died under a test, has no results.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 5 ] || die "usage: kunit-run.sh KVER MODE VARIANT GLOB CPUS"
KVER=$1
MODE=$2
VARIANT=$3
GLOB=$4
CPUS=$5
check_kver "$KVER"
[ -n "${KUNIT_IMAGE:-}" ] || check_mode "$MODE"
check_variant "$VARIANT"

TRY=${KUNIT_TRY:-1}
[[ $TRY =~ ^[1-9][0-9]*$ ]] || die "KUNIT_TRY=$TRY is not the number of a boot: give 1, 2, ..."

base=$BUILD/check/$MODE-$VARIANT-${GLOB//[^A-Za-z0-9_]/}-${CPUS}cpu${KUNIT_CPU:+-$KUNIT_CPU}
[ "$TRY" -eq 1 ] || base+=-try$TRY
base=${KUNIT_BASE:-$base}
# A kernel that hangs must not hang the tests. The suites take a minute or two.
TIMEOUT=${KUNIT_TIMEOUT:-600}

# An invalid free of what no slab cache holds makes sw_tags' kasan_complete_mode_report_info()
# look for address NULL among the entries of its ring. Unused ones match a pointer with tag 0,
# by chance one in 254, and then it follows the NULL cache. This ring is full before the suites
# start (after 17,000 entries), and big enough for all that a test's reports look for.
append="kunit.enable=1 kunit.filter_glob=$GLOB${KUNIT_APPEND:+ $KUNIT_APPEND}"
[ "$MODE" != sw_tags ] || append+=" kasan.stack_ring_size=4096"

plan 1
mkdir -p "$BUILD/check"
rm -f "$base".*
run_logged "boot $MODE-$VARIANT, $GLOB, $CPUS CPU" "$base.run" '' \
	"$BUILD/host/scs_bench" run --qemu "$QEMU" \
	--image "${KUNIT_IMAGE:-$BUILD/images/$KVER/$MODE-$VARIANT-test/Image}" \
	--initrd "${KUNIT_INITRD:-$BUILD/initramfs/$KVER/initramfs.cpio}" --init boot \
	--log "$base.log" --cpus "$CPUS" --timeout "$TIMEOUT" --expect "scs_bench: done" \
	${KUNIT_CPU:+--cpu "$KUNIT_CPU"} ${KUNIT_BIOS:+--bios "$KUNIT_BIOS"} \
	--append "$append"

# KUnit outlives an oops in a test, and calls it a failure like any other. One test
# announces one.
if awk '/scs_trace_context: an oops is expected:/ { expected++ }
	/Internal error: Oops - BUG: / && expected { expected--; next }
	/Internal error: / { print; found = 1; exit }
	END { exit !found }' "$base.log" >&2; then
	die "the kernel crashed: see $base.log"
fi

# Fails when a test failed, which is for the caller to judge.
python3 "$BUILD/linux/$KVER/pristine/tools/testing/kunit/kunit.py" parse \
	--json="$base.json" "$base.log" >"$base.parsed" 2>&1 || :
[ -s "$base.json" ] || die "kunit.py found no results in $base.log: see $base.parsed"

python3 - "$base.json" >"$base.cases" <<'EOT'
import json, sys

def walk(group, path):
    for case in group.get("test_cases", []):
        print("%s %s" % (".".join(path + [case["name"]]).replace(" ", "_"), case["status"]))
    for sub in group.get("sub_groups", []):
        walk(sub, path + [sub["name"]])

for suite in json.load(open(sys.argv[1])).get("sub_groups", []):
    walk(suite, [suite["name"]])
EOT
[ -s "$base.cases" ] || die "no test of '$GLOB' ran: see $base.log"
