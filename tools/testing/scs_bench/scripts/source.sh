#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Unpacks Linux for KVER twice: as it is (pristine) and with the overlay and patches in it (tree); keeps the second in step.
#
# usage: source.sh KVER
#
# Under build/linux/KVER/:
#   pristine/   the unmodified source
#   tree/       the same with overlay, integration patches and benchmark patches
#   source.id   what pristine/ was unpacked from
#   touched     the files in tree/ that may differ from pristine/
#   tree.id     hash over the contents of those files, documentation aside
# A file in tree/ is written only when its content changes, so that make
# rebuilds no more than it must. Being stopped anywhere does no harm: the next
# run repairs what this one left.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/overlay.sh
. "$SCRIPTS/overlay.sh"

KVER=${1:-}
check_kver "$KVER"
check_build_path
DIR=$BUILD/linux/$KVER
TARBALL=/usr/src/linux-source-$KVER.tar.xz

unpack_pristine()
{
	step "unpack $TARBALL"
	# The id goes first and comes last: without it, all is done anew. Trees
	# that another version left go with it, and their objects.
	rm -rf "$DIR/source.id" "$DIR/pristine" "$DIR/tree" "$DIR/touched" "$DIR/tree.id" "$DIR"/tmp.*
	mkdir -p "$DIR/tmp.unpack"
	run_logged "unpack" "$BUILD/log/source-$KVER.log" '' \
		tar -C "$DIR/tmp.unpack" --strip-components=1 -xf "$TARBALL"
	mv "$DIR/tmp.unpack" "$DIR/pristine"
	printf '%s\n' "$identity" >"$DIR/source.id"
}

# Copies pristine/ without the object directories in it.
copy_tree()
{
	step "copy the source for the patched tree"
	rm -rf "$DIR/tmp.tree"
	mkdir -p "$DIR/tmp.tree"
	run_logged "copy" "$BUILD/log/source-$KVER.log" '' \
		find "$DIR/pristine" -mindepth 1 -maxdepth 1 ! -name 'obj-*' \
			-exec cp -a --reflink=auto -t "$DIR/tmp.tree" {} +
	rm -f "$DIR/touched"
	mv "$DIR/tmp.tree" "$DIR/tree"
}

sync_tree()
{
	local stage=$DIR/tmp.stage path changed=0 patches

	rm -rf "$stage"
	mkdir -p "$stage"
	mapfile -t patches < <(overlay_patches "$KVER" bench)
	if ! stage_patches "$DIR/pristine" "$stage" "${patches[@]}"; then
		die "$FAILED_PATCH does not apply to $DIR/pristine:
$FAILED_WHY"
	fi
	stage_overlay "$KVER" "$DIR/pristine" "$stage" ||
		die "the overlay's $FAILED_PATH exists in $DIR/pristine, or a patch adds it"
	staged_paths "$stage" >"$DIR/tmp.paths"

	# A file must be on the list before it is touched, and stay on it until
	# it is as in pristine/ again.
	sort -u "$DIR/tmp.paths" "$DIR/touched" >"$DIR/tmp.touched" 2>/dev/null ||
		cp "$DIR/tmp.paths" "$DIR/tmp.touched"
	mv "$DIR/tmp.touched" "$DIR/touched"
	while read -r path; do
		if [ ! -f "$stage/$path" ] && [ -f "$DIR/pristine/$path" ]; then
			mkdir -p "$stage/$(dirname "$path")"
			cp "$DIR/pristine/$path" "$stage/$path"
		fi
		if [ ! -f "$stage/$path" ]; then
			rm -f "$DIR/tree/$path"
			rmdir -p --ignore-fail-on-non-empty "$DIR/tree/$(dirname "$path")" 2>/dev/null || :
			changed=$((changed + 1))
		elif ! cmp -s "$stage/$path" "$DIR/tree/$path"; then
			mkdir -p "$DIR/tree/$(dirname "$path")"
			mv "$stage/$path" "$DIR/tree/$path"
			changed=$((changed + 1))
		fi
	done <"$DIR/touched"
	mv "$DIR/tmp.paths" "$DIR/touched"

	(cd "$DIR/tree" && grep -v '^Documentation/' "$DIR/touched" | tr '\n' '\0' |
		xargs -0 -r sha256sum) |
		hash_of_stdin >"$DIR/tmp.id"
	mv "$DIR/tmp.id" "$DIR/tree.id"
	rm -rf "$stage"
	[ $changed -eq 0 ] || say "source: $changed files of the patched tree brought up to date"
}

[ -f "$TARBALL" ] || die "$TARBALL is missing: run 'make setup'"
identity="$(dpkg-query -W "linux-source-$KVER" 2>/dev/null | tr '\t' ' ') $(stat -c '%s bytes, changed %Y' "$TARBALL")"

lock "linux-$KVER"
plan 3
mkdir -p "$DIR"
if [ ! -d "$DIR/pristine" ] || [ "$(cat "$DIR/source.id" 2>/dev/null)" != "$identity" ]; then
	unpack_pristine
fi
[ -d "$DIR/tree" ] || copy_tree
sync_tree
say "source: Linux $(make -s -C "$DIR/pristine" kernelversion) in $DIR"
