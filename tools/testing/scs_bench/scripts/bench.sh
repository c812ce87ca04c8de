#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make bench`: from a fresh machine to the table of what stack traces cost a boot, and build/bench/boot.json.
#
# Environment: KVER (6.12), MODE (generic), RUNS (wall-clock samples a variant, 7),
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
store=$out/boot.runs
# The results are written when all runs are finished. Runs without are those of a
# measurement that was interrupted: it is gone on with.
if [ "$out/boot.json" -nt "$store" ]; then
	mv -f "$store" "$store.last" 2>/dev/null || :
fi
rc=0
run_child "$BUILD/host/scs_bench" boot --images "$BUILD/images/$KVER" --kver "$KVER" \
	--modes "$MODE" --variants "$(tr ' ' , <<<"$VARIANTS")" \
	--qemu "$QEMU" --initrd "$BUILD/initramfs/$KVER/initramfs.cpio" \
	--out "$store" --resume --json "$out/boot.json" --runs "${RUNS:-7}" \
	${append:+--append "$append"} || rc=$?
[ $rc -ne 2 ] || say "to begin anew, remove $store and run make bench again"
exit $rc
