#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes build/initramfs/verify.cpio: stress-ng and busybox for arm64, out of Debian packages, for test-verify.sh.
#
# The packages come from where this machine's own apt takes them, but are looked
# up and unpacked in build/guest/ without installing anything. Does nothing when
# all is there.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

GUEST=$BUILD/guest
INIT=$TOP/tools/testing/scs_bench/guest/verify-init
OUT=$BUILD/initramfs/verify.cpio
PROGRAMS="usr/bin/stress-ng bin/busybox"

# apt with a state and a cache of its own, for arm64 alone.
write_apt_conf()
{
	mkdir -p "$GUEST/apt/state/lists/partial" "$GUEST/apt/cache/archives/partial"
	: >"$GUEST/apt/status"
	cat >"$GUEST/apt.conf" <<-EOT
	APT::Architecture "arm64";
	APT::Architectures { "arm64"; };
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "3";
	Dir::State "$GUEST/apt/state";
	Dir::State::status "$GUEST/apt/status";
	Dir::Cache "$GUEST/apt/cache";
	EOT
	export APT_CONFIG=$GUEST/apt.conf
}

fetch()
{
	local packages

	write_apt_conf
	run_logged "apt-get update" "$BUILD/log/guest-update.log" '' apt-get update
	packages=$(apt-get -s install stress-ng busybox-static | awk '$1 == "Inst" { print $2 }')
	[ -n "$packages" ] || die "apt finds no stress-ng and busybox-static for arm64: see $BUILD/log/guest-update.log"
	rm -rf "$GUEST/debs" "$GUEST/unpacked"
	mkdir -p "$GUEST/debs" "$GUEST/unpacked"
	cd "$GUEST/debs" || die "no $GUEST/debs"
	# shellcheck disable=SC2086 # a list of words
	run_logged "apt-get download" "$BUILD/log/guest-download.log" '' apt-get download $packages
	cd "$TOP" || die "no $TOP"
	for deb in "$GUEST"/debs/*.deb; do
		dpkg-deb -x "$deb" "$GUEST/unpacked"
	done
	touch "$GUEST/unpacked.done"
}

# install_with_libraries FILE: and what it is linked with, once each.
install_with_libraries()
{
	local name from

	for name in $("llvm-readelf$LLVM_SUFFIX" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$GUEST/root/lib/$name" ] || continue
		from=$(find "$GUEST/unpacked" -name "$name" | head -n 1)
		[ -n "$from" ] || die "$1 needs $name, which is in none of the packages"
		cp -L "$from" "$GUEST/root/lib/$name"
		install_with_libraries "$from"
	done
}

make_root()
{
	local program

	rm -rf "$GUEST/root"
	mkdir -p "$GUEST/root/"{bin,lib,proc,sys,dev,tmp,etc}
	echo "root:x:0:0:root:/:/bin/sh" >"$GUEST/root/etc/passwd"
	for program in $PROGRAMS; do
		cp "$GUEST/unpacked/$program" "$GUEST/root/bin/"
		install_with_libraries "$GUEST/unpacked/$program"
	done
	ln -s busybox "$GUEST/root/bin/sh"
	cp "$INIT" "$GUEST/root/init"
	# It holds the console's device, which a kernel opens before /dev is mounted.
	mknod "$GUEST/root/dev/console" c 5 1 2>/dev/null || :
}

pack()
{
	mkdir -p "$(dirname "$OUT")"
	(cd "$GUEST/root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$OUT.tmp"
	mv "$OUT.tmp" "$OUT"
}

plan 1
lock guest
[ -n "${SCS_STEP:-}" ] || step "guest"
[ -e "$GUEST/unpacked.done" ] || fetch
if [ ! -e "$OUT" ] || [ "$INIT" -nt "$OUT" ] || [ "${BASH_SOURCE[0]}" -nt "$OUT" ]; then
	make_root
	pack
fi
say "guest: $OUT"
