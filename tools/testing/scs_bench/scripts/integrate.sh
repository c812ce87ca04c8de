#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts the overlay and the patches of integration/<version>/ into a user's kernel tree, or refuses and changes nothing.
#
# usage: integrate.sh KDIR
#
# Exit status:
#   0  done
#   2  no KDIR given
#   3  KDIR is not a kernel source tree
#   4  its version is not supported
#   5  it is integrated already, wholly or in part
#   6  a patch does not apply
#   7  the tree has a file of its own where the overlay puts one
#   8  the tree can't be written, or writing failed or was interrupted: undone
#   9  as 8, but undoing it failed as well; the message says where the originals are

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/overlay.sh
. "$SCRIPTS/overlay.sh"

WORK=
NEW=.scs_trace-new

refuse()
{
	local status=$1

	shift
	printf 'integrate: %s\n' "$@" >&2
	[ "$status" -ge 8 ] || echo "integrate: nothing was changed" >&2
	exit "$status"
}

# Value of variable $1 in the tree's top Makefile.
makefile_var()
{
	[ ! -f "$KDIR/Makefile" ] ||
		sed -n "s/^$1 = *\([0-9A-Za-z._-]*\).*/\1/p" "$KDIR/Makefile" | head -n 1
}

check_tree()
{
	local version patchlevel lines

	[ -n "$KDIR" ] ||
		refuse 2 "KDIR is not given" "run: make integrate KDIR=/path/to/linux"
	[ -e "$KDIR" ] || refuse 3 "$KDIR does not exist" "give the top directory of a Linux source tree"
	[ -d "$KDIR" ] || refuse 3 "$KDIR is not a directory" "give the top directory of a Linux source tree"
	KDIR=$(cd "$KDIR" && pwd -P)
	if grep -q '^include .*Makefile$' "$KDIR/Makefile" 2>/dev/null && [ ! -e "$KDIR/Kbuild" ]; then
		refuse 3 "$KDIR holds the objects of a kernel build, not its source" \
			"give the source tree that its Makefile includes"
	fi
	version=$(makefile_var VERSION)
	patchlevel=$(makefile_var PATCHLEVEL)
	if [ -z "$version" ] || [ -z "$patchlevel" ] || [ ! -f "$KDIR/Kbuild" ] ||
	   [ ! -f "$KDIR/Kconfig" ] || [ ! -d "$KDIR/arch/arm64" ]; then
		refuse 3 "$KDIR is not a Linux source tree" \
			"give a directory whose Makefile says VERSION and PATCHLEVEL and that has Kbuild, Kconfig and arch/arm64"
	fi
	LINE=$version.$patchlevel
	lines=$(kernel_lines | paste -sd' ')
	kernel_lines | grep -qxF "$LINE" ||
		refuse 4 "$KDIR is Linux $LINE.$(makefile_var SUBLEVEL); supported: $lines" \
			"use a tree of one of these, or write patches for it: start from those in integration/ that are nearest"
}

# Refuses a tree that has our files or patches in it.
check_not_integrated()
{
	local from to patch i same=0 other=0

	while IFS=$'\t' read -r from to; do
		if cmp -s "$TOP/$from" "$KDIR/$to"; then
			same=$((same + 1))
		elif [ -e "$KDIR/$to" ]; then
			other=$((other + 1))
		else
			case $to in
			kernel/scs_trace/*) other=$((other + 1)) ;;
			esac
		fi
	done <<<"$FILES"
	if [ -d "$KDIR/kernel/scs_trace" ]; then
		[ $other -eq 0 ] ||
			refuse 5 "$KDIR has another version of scs_trace in it, or a part of it (kernel/scs_trace/ exists)" \
				"go back to the tree as it was without it (undo the patches and remove its files, or unpack it anew), then run this again"
		# Take them back on copies, the last first: one may lie in another's context.
		mkdir -p "$WORK/undo"
		for patch in "${PATCHES[@]}"; do
			(cd "$KDIR" && patch_paths "$patch" | xargs cp --parents -t "$WORK/undo" 2>/dev/null) || :
		done
		for ((i = ${#PATCHES[@]} - 1; i >= 0; i--)); do
			patch=${PATCHES[i]}
			patch -d "$WORK/undo" -p1 -R --fuzz=0 --force --silent <"$patch" >/dev/null 2>&1 ||
				refuse 5 "$KDIR is integrated in part: kernel/scs_trace/ is there, but ${patch#"$TOP"/} is not applied" \
					"remove the files that scs_trace added, or unpack the tree anew, then run this again"
		done
		refuse 5 "$KDIR is integrated already: its scs_trace is the same as here" \
			"there is nothing to do but to switch CONFIG_SCS_TRACE on, see README.md"
	fi
	for patch in "${PATCHES[@]}"; do
		if patch -d "$KDIR" -p1 -R --dry-run --fuzz=0 --force --silent <"$patch" >/dev/null 2>&1; then
			refuse 5 "$KDIR is integrated in part: ${patch#"$TOP"/} is applied, but kernel/scs_trace/ is missing" \
				"take the patch back (patch -p1 -R), or unpack the tree anew, then run this again"
		fi
	done
}

stage_all()
{
	local why

	if ! stage_patches "$KDIR" "$WORK/stage" "${PATCHES[@]}"; then
		why="    ${FAILED_WHY//$'\n'/$'\n    '}"
		refuse 6 "${FAILED_PATCH#"$TOP"/} does not apply to $KDIR (Linux $LINE.$(makefile_var SUBLEVEL)):" "$why" \
			"the tree has changes of its own there. Apply integration/$LINE/*.patch by hand, in order, and copy the files in integration/$LINE/overlay.list"
	fi
	stage_overlay "$LINE" "$KDIR" "$WORK/stage" ||
		refuse 7 "$KDIR has a file of its own that the overlay would overwrite: $FAILED_PATH" \
			"move it away, or see what it is for"
}

# The deepest directory on the way to $1 that exists.
existing_dir()
{
	local dir

	dir=$(dirname "$1")
	while [ ! -d "$dir" ]; do
		dir=$(dirname "$dir")
	done
	printf '%s\n' "$dir"
}

check_writable()
{
	local path dir

	while read -r path; do
		dir=$(existing_dir "$KDIR/$path")
		[ -w "$dir" ] ||
			refuse 8 "$dir can't be written" "nothing was changed; make it writable for $(id -un), or run this as its owner"
	done <"$WORK/paths"
}

# Brings every file back that install_all() may have touched.
undo()
{
	local path dir failed=0

	trap '' INT TERM HUP
	while read -r path; do
		rm -f "$KDIR/$path$NEW" || failed=1
		if [ -e "$WORK/backup/$path" ]; then
			# -p: with its old time, mode and owner it is as it was.
			cmp -s "$WORK/backup/$path" "$KDIR/$path" ||
				cp -p "$WORK/backup/$path" "$KDIR/$path" || failed=1
		else
			rm -f "$KDIR/$path" || failed=1
		fi
	done <"$WORK/paths"
	while read -r dir; do
		[ ! -d "$dir" ] || rmdir "$dir" || failed=1
	done < <(tac "$WORK/dirs")
	return $failed
}

give_up()
{
	if undo; then
		refuse 8 "$1" "all that was written has been undone: $KDIR is as it was"
	fi
	KEEP=1
	refuse 9 "$1" "undoing what was written failed as well; the original files are in $WORK/backup"
}

make_dirs()
{
	local dir=$1

	[ ! -d "$dir" ] || return 0
	make_dirs "$(dirname "$dir")" || return
	mkdir "$dir" && printf '%s\n' "$dir" >>"$WORK/dirs"
}

# Everything is first written beside its place, where a full disk or a missing
# permission does no harm, and then renamed.
install_all()
{
	local path like

	while read -r path; do
		like=$KDIR
		if [ -e "$KDIR/$path" ]; then
			like=$KDIR/$path
			mkdir -p "$WORK/backup/$(dirname "$path")"
			cp -p "$KDIR/$path" "$WORK/backup/$path" || give_up "copying $KDIR/$path failed"
		fi
	done <"$WORK/paths"

	trap 'give_up "interrupted"' INT TERM HUP
	while read -r path; do
		make_dirs "$(dirname "$KDIR/$path")" || give_up "making a directory for $KDIR/$path failed"
		cp "$WORK/stage/$path" "$KDIR/$path$NEW" || give_up "writing $KDIR/$path failed"
		if [ -e "$KDIR/$path" ]; then
			chmod --reference="$KDIR/$path" "$KDIR/$path$NEW" || :
			like=$KDIR/$path
		else
			like=$KDIR
		fi
		# Only root can, and only for root is there something to do.
		[ "$(id -u)" -ne 0 ] || chown --reference="$like" "$KDIR/$path$NEW" || :
	done <"$WORK/paths"
	while read -r path; do
		mv -f "$KDIR/$path$NEW" "$KDIR/$path" || give_up "writing $KDIR/$path failed"
	done <"$WORK/paths"
	trap '' INT TERM HUP
}

KDIR=${1:-}
KEEP=
check_tree
FILES=$(overlay_files "$LINE")
mapfile -t PATCHES < <(overlay_patches "$LINE")

exec {tree_lock}<"$KDIR"
flock -n "$tree_lock" || refuse 8 "another run of this is at work on $KDIR" "wait for it to end"

check_not_integrated
WORK=$(mktemp -d)
cleanup()
{
	[ -n "$KEEP" ] || rm -rf "$WORK"
}
mkdir -p "$WORK/stage" "$WORK/backup"
: >"$WORK/dirs"
stage_all
staged_paths "$WORK/stage" >"$WORK/paths"
check_writable
install_all

say "integrate: scs_trace is in $KDIR (Linux $LINE.$(makefile_var SUBLEVEL)): ${#PATCHES[@]} patches, $(wc -l <<<"$FILES") new files"
cat <<EOT
Next, in that tree, for a kernel built with clang:
  make ARCH=arm64 LLVM=1 menuconfig                                (LLVM=-19 for clang-19)
    General architecture-dependent options -> Shadow Call Stack    (CONFIG_SHADOW_CALL_STACK)
    Kernel hacking -> Stack traces from the shadow call stack      (CONFIG_SCS_TRACE)
Its documentation is there as Documentation/dev-tools/scs_trace.rst.
EOT
