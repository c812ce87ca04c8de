#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the host program's own tests and counts their TAP output.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"

out=$BUILD/check/host.tap
rc=0
mkdir -p "$BUILD/check" "$BUILD/host"
make -C "$TOP/tools/testing/scs_bench" "O=$BUILD/host" "-j$JOBS" test >"$out" 2>&1 || rc=$?

planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$out" | awk '{ n += $1 } END { print n + 0 }')
while read -r line; do
	case $line in
	ok*'# SKIP'*|ok*'# skip'*) skip "${line#ok }" ;;
	ok*) pass "${line#ok }" ;;
	'not ok'*) fail "${line#not ok }" "see $out" ;;
	esac
done < <(grep -E '^(not )?ok ' "$out" || :)

ran=$((passed + failed + skipped))
if [ "$ran" -eq 0 ] || [ "$ran" -ne "$planned" ]; then
	fail "all $planned tests that were planned ran" "$ran did. The end of $out:
$(tail -n 20 "$out")"
elif [ "$rc" -ne 0 ] && [ $failed -eq 0 ]; then
	fail "make test ends well" "status $rc. The end of $out:
$(tail -n 20 "$out")"
elif [ $failed -ne 0 ]; then
	tail -n 40 "$out"
fi
finish host
