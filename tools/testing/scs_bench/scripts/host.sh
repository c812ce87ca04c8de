#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds what the benchmark runs beside the kernel: the host program (host.sh host) or the initramfs (host.sh initramfs KVER).

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BENCH=$TOP/tools/testing/scs_bench

plan 1
case ${1:-} in
host)
	lock host
	mkdir -p "$BUILD/host"
	[ -n "${SCS_STEP:-}" ] || step "host program"
	run_logged "host program" "$BUILD/log/host.log" '' \
		make -C "$BENCH" "O=$BUILD/host" "-j$JOBS"
	;;
initramfs)
	check_kver "${2:-}"
	lock "linux-$2"
	"$SCRIPTS/source.sh" "$2"
	mkdir -p "$BUILD/initramfs/$2"
	[ -n "${SCS_STEP:-}" ] || step "initramfs"
	run_logged "initramfs" "$BUILD/log/initramfs-$2.log" '' \
		make -C "$BENCH" "KDIR=$BUILD/linux/$2/pristine" "O=$BUILD/initramfs/$2" initramfs
	;;
*)
	die "usage: host.sh host | host.sh initramfs KVER" ;;
esac
