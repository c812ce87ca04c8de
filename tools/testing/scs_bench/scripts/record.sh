#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make record`: records which stack traces are saved, during boots and a workload, into build/record/*.stream.
#
# Environment: KVER (6.12). The streams, each with the console beside it:
#   boot-generic                   KASAN generic, up to init
#   workload-generic-page_owner    the same with page_owner=on, and init's workload
#   workload-hw_tags               KASAN hw_tags, whose records are evicted (puts), and the workload
# scs_bench record --show FILE says what one of them holds.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KVER=${KVER:-6.12}
check_kver "$KVER"
OUT=$BUILD/record

# record NAME MODE INIT [ARGUMENT]: ARGUMENT is one more for the kernel.
record()
{
	local name=$1 mode=$2 init=$3 append=${4:-} image release

	step "record $name"
	image=$BUILD/images/$KVER/$mode-record
	release=$(sed -n 's/^kernel=//p' "$image/info")
	run_child "$BUILD/host/scs_bench" record --qemu "$QEMU" --image "$image/Image" \
		--initrd "$BUILD/initramfs/$KVER/initramfs.cpio" --init "$init" \
		${append:+--append "$append"} --output "$OUT/$name.stream" \
		--label "Linux $release, KASAN $mode, ${append:+$append, }init $init"
}

plan 9
step_script "packages" "$SCRIPTS/setup.sh"
step_script "QEMU" "$SCRIPTS/qemu.sh"
for mode in generic hw_tags; do
	step_script "image $mode-record" "$SCRIPTS/image.sh" "$KVER" "$mode" record
done
step_script "host program" "$SCRIPTS/host.sh" host
step_script "initramfs" "$SCRIPTS/host.sh" initramfs "$KVER"

mkdir -p "$OUT"
record boot-generic generic boot
record workload-generic-page_owner generic workload page_owner=on
record workload-hw_tags hw_tags workload
