#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make bench`: from a fresh machine to the table of what stack traces cost a boot, and build/bench/boot.json.
#
# Environment: KVER (6.12), MODE (generic), RUNS (wall-clock samples a variant),
# PAGE_OWNER=1 (boot with page_owner=on). Any MODE but generic and any use of
# page_owner have a directory of their own below build/bench/.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KVER=${KVER:-6.12}
MODE=${MODE:-generic}
check_kver "$KVER"
check_mode "$MODE"
case ${RUNS:-1} in
*[!0-9]*|0) die "RUNS=$RUNS: give a whole number from 1 on" ;;
esac
case ${PAGE_OWNER:-} in
1|on) append=page_owner=on ;;
''|0|off) append= ;;
*) die "PAGE_OWNER=$PAGE_OWNER: give 1 or 0" ;;
esac

out=$BUILD/bench
kind=$MODE${append:+-page_owner}
[ "$kind" = generic ] || out=$out/$kind

plan 8
step_script "packages" "$SCRIPTS/setup.sh"
step_script "QEMU" "$SCRIPTS/qemu.sh"
for variant in $VARIANTS; do
	step_script "image $MODE-$variant" "$SCRIPTS/image.sh" "$KVER" "$MODE" "$variant"
done
step_script "host program" "$SCRIPTS/host.sh" host
step_script "initramfs" "$SCRIPTS/host.sh" initramfs "$KVER"

step "boot and measure"
mkdir -p "$out"
run_child "$BUILD/host/scs_bench" boot --images "$BUILD/images/$KVER" --kver "$KVER" \
	--mode "$MODE" --variants "$(tr ' ' , <<<"$VARIANTS")" \
	--qemu "$QEMU" --initrd "$BUILD/initramfs/$KVER/initramfs.cpio" \
	--output "$out/boot.json" ${RUNS:+--runs "$RUNS"} ${append:+--append "$append"}
