#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make record`: records which stack traces are saved, during boots and a workload, into build/record/*.stream.
#
# Environment: KVER (6.12). The streams are those that scs_bench records unless told otherwise:
#   boot-generic                   KASAN generic, up to init
#   workload-generic-page_owner    the same with page_owner=on, and init's workload
#   workload-hw_tags               KASAN hw_tags, whose records are evicted (puts), and the workload
# scs_bench record --show FILE says what one of them holds.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KVER=${KVER:-6.12}
check_kver "$KVER"

plan 7
step_script "packages" "$SCRIPTS/setup.sh"
step_script "QEMU" "$SCRIPTS/qemu.sh"
for mode in generic hw_tags; do
	step_script "image $mode-record" "$SCRIPTS/image.sh" "$KVER" "$mode" record
done
step_script "host program" "$SCRIPTS/host.sh" host
step_script "initramfs" "$SCRIPTS/host.sh" initramfs "$KVER"

step "record"
measure record --kver "$KVER"
