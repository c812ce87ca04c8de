#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages that building and testing need; does nothing when all are there.
#
# usage: setup.sh [PACKAGE...]
#
# As root it installs them. Otherwise it prints the command to run and fails. PACKAGE is a further
# one, which only one of the tests needs.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES="
	linux-source-6.12
	clang-19 lld-19 llvm-19 ccache
	make gcc libc6-dev flex bison bc perl python3 patch xz-utils cpio
	libelf-dev libssl-dev
	pkg-config libjansson-dev libcmocka-dev libgsl-dev gnuplot-nox
	sparse git linux-perf
	libclang-rt-19-dev binutils valgrind e2fsprogs
	$*
"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	# shellcheck disable=SC2086 # a list of words
	die "this machine has no dpkg and apt: install by hand what these Debian packages hold:" $PACKAGES
fi

installed()
{
	# shellcheck disable=SC2016,SC2086 # dpkg's own fields; a list of words
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $PACKAGES 2>/dev/null |
		sed -n 's/^installed //p'
}

missing()
{
	local have package

	have=$(installed) || :
	for package in $PACKAGES; do
		grep -qx "$package" <<<"$have" || printf '%s ' "$package"
	done
}

lists_are_there()
{
	apt-cache show linux-source-6.12 >/dev/null 2>&1
}

need=$(missing)
if [ -z "$need" ]; then
	say "setup: every package is installed"
	exit 0
fi

say "setup: missing: $need"
if [ "$(id -u)" -ne 0 ]; then
	die "these packages are missing. Run: sudo apt-get install --no-install-recommends $need"
fi

plan 1
export DEBIAN_FRONTEND=noninteractive
log=$BUILD/log/setup.log

if ! lists_are_there; then
	step "apt-get update"
	run_logged "apt-get update" "$log" '' apt-get update
fi
lists_are_there ||
	die "apt knows no linux-source-6.12. It is in Debian 12 (bookworm): see 'apt-get update' in $log, and the entries in /etc/apt"

step "apt-get install $need"
# shellcheck disable=SC2086 # a list of words
if ! (run_logged "apt-get install" "$log" '' apt-get install -y --no-install-recommends $need); then
	# Lists that are older than the mirror name files that are gone from it.
	say "setup: fetching apt's lists anew and trying once more"
	run_logged "apt-get update" "$log" '' apt-get update
	# shellcheck disable=SC2086 # a list of words
	run_logged "apt-get install" "$log" '' apt-get install -y --no-install-recommends $need
fi

need=$(missing)
[ -z "$need" ] || die "apt-get succeeded, yet these are not installed: $need"
say "setup: done"
