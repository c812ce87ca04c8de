#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make micro`, `make memory` and `make load`: builds what the subcommand of that name boots, and runs it.
#
# usage: guests.sh micro|memory|load
#
# Environment: KVER (6.12), MODE (generic; may be several), RUNS (wall-clock
# samples of each kernel; without it only instructions are counted).
# A run that was interrupted is gone on with when the same is asked for again.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

COMMAND=${1:-}
one_of "the subcommand" "$COMMAND" micro memory load
KVER=${KVER:-6.12}
check_kver "$KVER"
case ${RUNS:-1} in
*[!0-9]*|0) die "RUNS=$RUNS: give a whole number from 1 on" ;;
esac

MODE=${MODE:-generic}
for mode in $MODE; do
	check_mode "$mode"
done

# Pairs of mode and variant; all but micro hold theirs against a clean kernel.
images=()
for mode in $MODE; do
	images+=("$mode upstream" "$mode scs")
done
clean=none
if [[ " $MODE" == *" hw_"* ]]; then
	clean=hw_none
	if [ "$COMMAND" != micro ] && [[ " $MODE" =~ \ (generic|sw_tags|none|noscs) ]]; then
		die "MODE=$MODE: the clean kernel of hw_tags is another one; give MODE=hw_tags alone"
	fi
fi
if [ "$COMMAND" != micro ] && [[ " $MODE " != *" $clean "* ]]; then
	images+=("$clean upstream")
fi
kind=load
[ "$COMMAND" != memory ] || kind=

plan $((${#images[@]} + 6))
step_script "packages" "$SCRIPTS/setup.sh"
step_script "QEMU" "$SCRIPTS/qemu.sh"
for image in "${images[@]}"; do
	read -r mode variant <<<"$image"
	step_script "image $mode-$variant${kind:+-$kind}" "$SCRIPTS/image.sh" "$KVER" "$mode" "$variant" "$kind"
done
step_script "host program" "$SCRIPTS/host.sh" host
step_script "initramfs" "$SCRIPTS/host.sh" initramfs "$KVER"
if [ "$COMMAND" = load ]; then
	step_script "guest" "$SCRIPTS/guest.sh" "$KVER"
fi

step "measure"
options=(--kver "$KVER" --modes "$(tr ' ' , <<<"$MODE")")
[ "$COMMAND" = memory ] || [ -z "${RUNS:-}" ] || options+=(--wall --runs "$RUNS")
measure "$COMMAND" "${options[@]}"
