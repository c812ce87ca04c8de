#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests what building images refuses, and that a configuration which the kernel does not grant is noticed.
#
# usage: test-image.sh KVER

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
check_kver "$KVER"
WORK=$(mktemp -d)
# shellcheck disable=SC2317 # lib.sh calls it
cleanup()
{
	rm -rf "$WORK"
}

# refuses NAME TEXT ARGUMENT...
refuses()
{
	local name=$1 text=$2 output

	shift 2
	if output=$("$SCRIPTS/image.sh" "$@" 2>&1); then
		fail "$name" "it was taken: $output"
	elif ! grep -qF -- "$text" <<<"$output"; then
		fail "$name" "does not say '$text': $output"
	else
		pass "$name"
	fi
}

refuses "no KVER" "KVER is not given: one of $KVER"
refuses "unknown KVER" "KVER=5.4 is not known: one of" 5.4 generic scs
refuses "unknown MODE" "MODE=fast is not known: one of $MODES" "$KVER" fast scs
refuses "no MODE" "MODE is not given" "$KVER" '' scs
refuses "unknown VARIANT" "VARIANT=best is not known: one of $ALL_VARIANTS" "$KVER" generic best
refuses "MODE with a path in it" "is not known" "$KVER" ../generic scs
refuses "unknown TEST" "TEST=yes is not known: one of 0 1" "$KVER" generic scs yes
SCS_BUILD="$WORK/a b" refuses "build path with a space" "space or a colon" "$KVER" generic scs

cat >"$WORK/asked" <<-CONF
CONFIG_A=y
CONFIG_B=12
# CONFIG_C is not set
# CONFIG_D is not set
CONFIG_E=y
CONF
cat >"$WORK/config" <<-CONF
CONFIG_A=y
CONFIG_B=123
CONFIG_C=y
CONFIG_EE=y
CONF
if [ "$(config_misses "$WORK/asked" "$WORK/config" | paste -sd,)" = "CONFIG_B=12,# CONFIG_C is not set,CONFIG_E=y" ]; then
	pass "symbols that did not come out as asked are named"
else
	fail "symbols that did not come out as asked are named" "$(config_misses "$WORK/asked" "$WORK/config")"
fi

for mode in $MODES; do
	for variant in $ALL_VARIANTS; do
		name="$mode-$variant: each symbol once, the last fragment wins"
		if [ -z "$(merged_config "$mode" "$variant" 1 | grep -o 'CONFIG_[A-Za-z0-9_]*' | sort | uniq -d)" ] &&
		   merged_config "$mode" "$variant" 1 | grep -qx '# CONFIG_KUNIT_DEFAULT_ENABLED is not set'; then
			pass "$name"
		else
			fail "$name"
		fi
	done
done

finish image
