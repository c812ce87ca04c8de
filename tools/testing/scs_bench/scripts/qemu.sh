#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Provides build/tools/bin/qemu-system-aarch64, QEMU 10 or newer: the machine's own, or one from Debian's backports.
#
# Debian 12's QEMU 7.2 can't boot a kernel with KASAN hw_tags. The packages from
# backports are downloaded with an apt configuration of their own and unpacked
# under build/: the machine's apt configuration and its packages stay as they are.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/apt.sh
. "$SCRIPTS/apt.sh"

PACKAGE=qemu-system-arm
# Of one version with it, so they must come from the same suite.
PARTS="qemu-system-common qemu-system-data"
# Holds the boot ROM of the network card that a QEMU without options has.
ROMS=ipxe-qemu
APT=$BUILD/tools/apt
ROOT=$BUILD/tools/qemu

version_of()
{
	"$1" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p'
}

new_enough()
{
	local version

	version=$(version_of "$1") || return 1
	[ -n "$version" ] && [ "${version%%.*}" -ge $QEMU_MIN_MAJOR ]
}

# It must start with the machine and the CPU that every boot here uses.
works()
{
	new_enough "$1" &&
		"$1" -machine virt,mte=on,gic-version=3 -cpu max,pauth-impdef=on \
			-display none -monitor none -serial none -S -daemonize \
			-pidfile "$BUILD/tools/qemu.pid" >/dev/null 2>&1 &&
		kill "$(cat "$BUILD/tools/qemu.pid")"
}

fetch()
{
	local extra='' from log=$BUILD/log/qemu.log candidate deb tmp

	command -v apt-get >/dev/null ||
		die "this machine has no apt: install a qemu-system-aarch64 >= $QEMU_MIN_MAJOR yourself, in the PATH"
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") ||
		die "this is not Debian: install a qemu-system-aarch64 >= $QEMU_MIN_MAJOR yourself, in the PATH"
	[ "$codename" != bookworm ] || extra=bookworm-backports
	from=${extra:-$codename}

	write_apt_config "$extra"
	step "apt lists of $from, for this use only"
	export APT_CONFIG=$APT/apt.conf
	run_logged "apt-get update (private)" "$log" '' apt-get update
	candidate=$(apt-cache madison "$PACKAGE" | awk -F' *[|] *' -v s="$from/" 'index($3, s) { print $2; exit }')
	case $candidate in
	*[0-9]*) ;;
	*) die "$from has no $PACKAGE. See $log" ;;
	esac
	dpkg --compare-versions "$candidate" ge "1:$QEMU_MIN_MAJOR" ||
		die "$from has only $PACKAGE $candidate, and $QEMU_MIN_MAJOR is needed: install a newer qemu-system-aarch64 yourself, in the PATH"

	step "download $PACKAGE $candidate and what it needs"
	# shellcheck disable=SC2046,SC2086 # lists of words
	run_logged "apt-get download (private)" "$log" '' \
		apt-get install -y --download-only --reinstall --no-install-recommends \
		$(printf "%s/$from " $PACKAGE $PARTS) $ROMS
	unset APT_CONFIG

	step "unpack"
	tmp=$ROOT.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	for deb in "$APT"/archives/*.deb; do
		case $(basename "$deb") in
		# A C library beside the machine's own would break every program.
		libc6_*|libc-bin_*) continue ;;
		esac
		dpkg-deb -x "$deb" "$tmp"
	done
	rm -rf "$ROOT"
	mv "$tmp" "$ROOT"
	rm -rf "$APT"
}

write_wrapper()
{
	local libs

	# Library directories, as the unpacked packages have them.
	# shellcheck disable=SC2016 # the wrapper expands it
	libs=$(cd "$ROOT" && find . -name '*.so*' -printf '%h\n' | sort -u |
		grep -E '^\./(usr/)?lib/[^/]*(/pulseaudio)?$' |
		sed 's|^\.|$root|' | paste -sd:)

	mkdir -p "$(dirname "$QEMU")"
	rm -f "$QEMU.tmp"
	cat >"$QEMU.tmp" <<-WRAPPER
	#!/bin/sh
	# Runs the QEMU that scripts/qemu.sh unpacked, with the libraries it came with.
	root=\$(dirname "\$(readlink -f "\$0")")/../qemu
	LD_LIBRARY_PATH=$libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	exec "\$root/usr/bin/qemu-system-aarch64" \\
		-L "\$root/usr/share/qemu" -L "\$root/usr/lib/ipxe/qemu" "\$@"
	WRAPPER
	chmod +x "$QEMU.tmp"
	mv "$QEMU.tmp" "$QEMU"
}

lock qemu
plan 3
mkdir -p "$(dirname "$QEMU")"

own=$(command -v qemu-system-aarch64 || :)
if [ -n "$own" ] && new_enough "$own"; then
	ln -sfn "$own" "$QEMU"
elif [ -L "$QEMU" ] || ! works "$QEMU"; then
	rm -f "$QEMU"
	[ -z "$own" ] || say "qemu: $own is version $(version_of "$own"), and $QEMU_MIN_MAJOR is needed"
	fetch
	write_wrapper
	lacking=$(LD_LIBRARY_PATH=$(find "$ROOT" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:) \
		ldd "$ROOT/usr/bin/qemu-system-aarch64" | grep 'not found' || :)
	[ -z "$lacking" ] || die "the QEMU in $ROOT lacks libraries:
$lacking"
fi

works "$QEMU" || die "$QEMU does not start: try '$QEMU -machine virt -cpu max'"
say "qemu: $("$QEMU" --version | head -n 1) ($(readlink -f "$QEMU"))"
