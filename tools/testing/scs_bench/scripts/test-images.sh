#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the test images that other groups boot; each is a test.
#
# usage: test-images.sh KVER MODE...

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

KVER=${1:-}
check_kver "$KVER"
shift

plan 1
for mode; do
	for variant in upstream scs; do
		if run_child "$SCRIPTS/image.sh" "$KVER" "$mode" "$variant" 1; then
			pass "image $mode-$variant-test"
		else
			fail "image $mode-$variant-test"
		fi
	done
done
finish images
