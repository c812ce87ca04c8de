#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds build/guest/KVER/rootfs.ext4: a userland of Debian's arm64 packages with the programs that load a kernel.
#
# usage: guest.sh KVER
#
# Nothing here needs root, and nothing is installed: packages are downloaded with
# an apt of our own, as if for an arm64 machine, and unpacked. What can't be of
# use to the jobs is left out, since the guest has all of the image in memory.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/apt.sh
. "$SCRIPTS/apt.sh"

KVER=${1:-}
check_kver "$KVER"

BENCH=$TOP/tools/testing/scs_bench
GUEST=$BUILD/guest/$KVER
IMAGE=$GUEST/rootfs.ext4
ROOT=$GUEST/root
DEBS=$BUILD/guest/load-debs
APT=$BUILD/guest/apt
INIT=$BUILD/initramfs/$KVER/init/init
SOURCE=$BUILD/linux/$KVER/pristine
LOG=$BUILD/log/guest-$KVER.log

PACKAGES="stress-ng iperf3 gcc-12 libc6-dev dash coreutils"
# Come with these, to install packages or to be linked with, and are not run.
UNUSED="adduser debconf dpkg init-system-helpers libfile-find-rule-perl
	libgdbm-compat4 libgdbm6 libgprofng0 libnumber-compare-perl libpam-modules
	libpam-modules-bin libpam0g libperl5.36 libsemanage-common libsemanage2 libsepol2
	libtext-glob-perl libx11-data linux-libc-dev-dbg passwd perl perl-base
	perl-modules-5.36 tar usrmerge libasan8 libhwasan0 liblsan0 libtsan2 libubsan1"
UNUSED_PATHS="usr/share/doc usr/share/man usr/share/locale usr/share/info usr/share/lintian
	usr/lib/aarch64-linux-gnu/gconv usr/bin/*lto-dump* usr/lib/gcc/*/*/lto1
	usr/bin/*ld.gold usr/bin/*dwp usr/lib/*/*.a usr/lib/gcc/*/*/*.a usr/lib/*/gprofng"

# Everything that decides what the image will be.
fingerprint()
{
	cat "${BASH_SOURCE[0]}" "$BENCH"/load/* "$INIT" "$BUILD/linux/$KVER/source.id"
	(cd "$DEBS" && ls)
}

unpack()
{
	local deb name path

	rm -rf "$ROOT"
	mkdir -p "$ROOT"
	for deb in "$DEBS"/*.deb; do
		name=$(basename "$deb")
		# shellcheck disable=SC2086 # a list of words
		if ! printf '%s\n' $UNUSED | grep -qx -- "${name%%_*}"; then
			dpkg-deb -x "$deb" "$ROOT"
		fi
	done
	for path in $UNUSED_PATHS; do
		# shellcheck disable=SC2086 # a pattern
		(cd "$ROOT" && rm -rf -- $path)
	done
}

add_own()
{
	local own=$ROOT/scs_bench dir

	for dir in dev proc sys tmp run root var/tmp; do
		mkdir -p "$ROOT/$dir"
	done
	# What asks for its user finds one.
	mkdir -p "$ROOT/etc"
	echo 'root:x:0:0:root:/tmp:/bin/sh' >"$ROOT/etc/passwd"
	echo 'root:x:0:' >"$ROOT/etc/group"
	printf '127.0.0.1\tlocalhost\n' >"$ROOT/etc/hosts"
	mkdir -p "$own/src"
	cp "$INIT" "$own/init"
	cp "$BENCH"/load/*.sh "$BENCH/load/jobs" "$own"
	chmod +x "$own"/*.sh
	cp -r "$SOURCE/scripts/dtc/libfdt" "$own/src"
	mkdir "$own/src/dtc"
	cp "$SOURCE"/scripts/dtc/*.h "$SOURCE"/scripts/dtc/{data,srcpos,util}.c "$own/src/dtc"
	[ -e "$ROOT/bin/sh" ] || ln -s dash "$ROOT/bin/sh"
}

# Of the same files comes the same image, but for the times of the files.
make_image()
{
	local kib

	kib=$(du -sk --apparent-size "$ROOT" | cut -f1)
	rm -f "$IMAGE.tmp"
	E2FSPROGS_FAKE_TIME=1 run_logged "mke2fs" "$LOG" '' /sbin/mke2fs -q -t ext4 -b 4096 \
		-O ^has_journal -m 0 -U 00000000-0000-0000-0000-000000000001 \
		-E root_owner=0:0,hash_seed=00000000-0000-0000-0000-000000000001,lazy_itable_init=0 \
		-d "$ROOT" "$IMAGE.tmp" $((kib * 5 / 4 + 16384))k
	mv "$IMAGE.tmp" "$IMAGE"
}

plan 5
[ -x /sbin/mke2fs ] || die "mke2fs is missing: install the package e2fsprogs"
"$SCRIPTS/host.sh" initramfs "$KVER"
lock guest
mkdir -p "$GUEST"
# shellcheck disable=SC2086 # a list of words
[ -d "$DEBS" ] || fetch_arm64 "$DEBS" "$LOG" $PACKAGES
stamp=$(fingerprint | hash_of_stdin)
if [ "$(cat "$IMAGE.stamp" 2>/dev/null)" = "$stamp" ]; then
	say "guest: $IMAGE is up to date"
	exit 0
fi
step "unpack"
unpack
add_own
step "make the image"
make_image
printf '%s\n' "$stamp" >"$IMAGE.stamp"
rm -rf "$ROOT"
say "guest: $IMAGE ($(du -h --apparent-size "$IMAGE" | cut -f1))"
