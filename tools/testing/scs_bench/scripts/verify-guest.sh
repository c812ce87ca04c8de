#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes build/initramfs/verify.cpio: stress-ng and busybox for arm64, out of Debian packages, for test-verify.sh.
#
# The packages are unpacked in build/guest/verify/, nothing is installed. Does
# nothing when all is there.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/apt.sh
. "$SCRIPTS/apt.sh"

GUEST=$BUILD/guest/verify
DEBS=$GUEST/debs
APT=$BUILD/guest/apt
INIT=$TOP/tools/testing/scs_bench/guest/verify-init
OUT=$BUILD/initramfs/verify.cpio
PROGRAMS="usr/bin/stress-ng bin/busybox"

unpack()
{
	local deb

	rm -rf "$GUEST/unpacked"
	mkdir -p "$GUEST/unpacked"
	for deb in "$DEBS"/*.deb; do
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

plan 3
lock guest
[ -n "${SCS_STEP:-}" ] || step "guest"
mkdir -p "$GUEST"
[ -d "$DEBS" ] || fetch_arm64 "$DEBS" "$BUILD/log/guest-verify.log" stress-ng busybox-static
[ -e "$GUEST/unpacked.done" ] || unpack
if [ ! -e "$OUT" ] || [ "$INIT" -nt "$OUT" ] || [ "${BASH_SOURCE[0]}" -nt "$OUT" ]; then
	make_root
	pack
fi
say "guest: $OUT"
