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
# above then end with it.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 5 ] || die "usage: kunit-run.sh KVER MODE VARIANT GLOB CPUS"
KVER=$1
MODE=$2
VARIANT=$3
GLOB=$4
CPUS=$5
check_kver "$KVER"
check_mode "$MODE"
check_variant "$VARIANT"

base=$BUILD/check/$MODE-$VARIANT-${GLOB//[^A-Za-z0-9_]/}-${CPUS}cpu${KUNIT_CPU:+-$KUNIT_CPU}
# A kernel that hangs must not hang the tests. The suites take a minute or two.
TIMEOUT=600

plan 1
mkdir -p "$BUILD/check"
rm -f "$base".*
run_logged "boot $MODE-$VARIANT, $GLOB, $CPUS CPU" "$base.run" '' \
	"$BUILD/host/scs_bench" run --qemu "$QEMU" \
	--image "$BUILD/images/$KVER/$MODE-$VARIANT-test/Image" \
	--initrd "$BUILD/initramfs/$KVER/initramfs.cpio" --init boot \
	--log "$base.log" --cpus "$CPUS" --timeout $TIMEOUT \
	${KUNIT_CPU:+--cpu "$KUNIT_CPU"} \
	--append "kunit.enable=1 kunit.filter_glob=$GLOB"

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
