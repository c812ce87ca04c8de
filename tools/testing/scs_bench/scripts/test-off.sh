#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Off means off: with the options off, every existing kernel object is byte for byte that of the unmodified source.
#
# usage: test-off.sh KVER MODE [all]
#
# Compared are the objects of variant upstream in the patched tree, with the
# test suites in, that were compiled from any file that overlay or patches
# change or add; with `all` those of the whole kernel, and how they are linked.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
MODE=${2:-}
ALL=${3:-}
check_kver "$KVER"
check_mode "$MODE"

DIR=$BUILD/linux/$KVER
OURS=$DIR/tree/obj-$MODE
THEIRS=$DIR/pristine/obj-$MODE
LOG=$BUILD/log/off-$KVER-$MODE
WORK=$(mktemp -d)
# shellcheck disable=SC2317 # lib.sh calls it
cleanup()
{
	rm -rf "$WORK"
}

# Prints the sections (and symbol table) in which two objects differ.
differing_parts()
{
	local part

	"llvm-readelf$LLVM_SUFFIX" -SW "$1" "$2" |
		sed -n 's/^ *\[ *[0-9]*\] \([^ ]*\) .*/\1/p' | sort -u |
	while read -r part; do
		rm -f "$WORK/a" "$WORK/b"
		"llvm-objcopy$LLVM_SUFFIX" -O binary --only-section="$part" \
			--set-section-flags "$part=alloc" "$1" "$WORK/a" 2>/dev/null || :
		"llvm-objcopy$LLVM_SUFFIX" -O binary --only-section="$part" \
			--set-section-flags "$part=alloc" "$2" "$WORK/b" 2>/dev/null || :
		cmp -s "$WORK/a" "$WORK/b" || printf '%s ' "$part"
	done
}

# Copies object $1 to $2 with names of initcalls that don't tell their line: a
# line more above one changes nothing but its name.
without_lines()
{
	"llvm-nm$LLVM_SUFFIX" -j "$1" |
		sed -nE 's/^(__initcall__kmod_.*__[0-9]+)_[0-9]+_(.*)$/& \1_LINE_\2/p' >"$WORK/names"
	"llvm-objcopy$LLVM_SUFFIX" --redefine-syms="$WORK/names" "$1" "$2"
}

# same_object THEIRS OURS
same_object()
{
	cmp -s "$1" "$2" && return
	without_lines "$1" "$WORK/theirs.o"
	without_lines "$2" "$WORK/ours.o"
	cmp -s "$WORK/theirs.o" "$WORK/ours.o"
}

# Targets of make, one a line: the objects that OURS has and that were compiled
# from a touched file. Those of files that the overlay adds have no counterpart.
dependents()
{
	local added

	sed 's|.*|../&|' "$DIR/touched" >"$WORK/patterns"
	added=$(while read -r path; do
		[ -e "$DIR/pristine/$path" ] || printf '%s\n' "${path%.*}.o"
	done <"$DIR/touched")
	(cd "$OURS" && grep -lrwF --include='.*.o.cmd' -f "$WORK/patterns" .) |
		sed 's|^\./||; s|\(.*/\)\{0,1\}\.\(.*\)\.cmd$|\1\2|' |
		grep -vxF -e "$added" | sort
}

check_configs()
{
	local name=".configs differ in our symbols only" diff

	diff=$(diff "$THEIRS/.config" "$OURS/.config" | grep '^[<>]' |
		grep -vE '^[<>] (# )?CONFIG_((HAVE_ARCH_)?SCS|STACKDEPOT_FAST)[A-Z_]*( is not set|=y)$' || :)
	if [ -z "$diff" ]; then
		pass "$MODE: $name"
	else
		fail "$MODE: $name" "$diff"
	fi
}

# linked DIR: the whole kernel's objects, in the order in which they are linked.
linked()
{
	local archive

	for archive in vmlinux.a lib/lib.a arch/arm64/lib/lib.a; do
		(cd "$1" && "llvm-ar$LLVM_SUFFIX" t "$archive")
	done
}

# An image is its objects, in their order, as the linker's script puts them together. (The images
# themselves differ, since the symbol table has names of initcalls that tell their line.)
check_link()
{
	local name="the same objects are linked in the same order"

	if diff <(linked "$THEIRS") <(linked "$OURS") &&
		cmp "$THEIRS/arch/arm64/kernel/vmlinux.lds" "$OURS/arch/arm64/kernel/vmlinux.lds"; then
		pass "$MODE: $name"
	else
		fail "$MODE: $name"
	fi
}

check_objects()
{
	local object

	for object in "${objects[@]}"; do
		if [ ! -f "$THEIRS/$object" ]; then
			fail "$MODE: $object" "the unmodified source makes no such object"
		elif same_object "$THEIRS/$object" "$OURS/$object"; then
			pass "$MODE: $object"
		else
			fail "$MODE: $object" "differs in: $(differing_parts "$THEIRS/$object" "$OURS/$object")"
		fi
	done
}

# One changed byte of code must not go unnoticed.
check_self()
{
	local name="a changed object is noticed" object=$1 parts

	cp "$object" "$WORK/changed.o"
	"llvm-objcopy$LLVM_SUFFIX" -O binary --only-section=.text "$object" "$WORK/text"
	[ -s "$WORK/text" ] || { fail "$MODE: $name" "$object has no .text"; return; }
	printf '\377' | dd of="$WORK/text" bs=1 seek=1 conv=notrunc status=none
	"llvm-objcopy$LLVM_SUFFIX" --update-section=.text="$WORK/text" "$WORK/changed.o"
	parts=$(differing_parts "$object" "$WORK/changed.o")
	if same_object "$object" "$WORK/changed.o"; then
		fail "$MODE: $name" "the comparison saw no difference"
	elif [[ " $parts " != *" .text "* ]]; then
		fail "$MODE: $name" "it was said to differ in: $parts"
	else
		pass "$MODE: $name"
	fi
}

plan 3
lock "linux-$KVER"
step_script "$MODE-upstream, to compare" "$SCRIPTS/image.sh" "$KVER" "$MODE" upstream 1

# The image may have been there already, and its objects be those of another variant.
kernel_make "$DIR/tree" "obj-$MODE"
configure "$OURS" "$MODE" upstream 1 "$LOG-tree.log"
run_logged "$MODE-upstream, patched" "$LOG-tree.log" "$KBUILD_OBJECT" "${KMAKE[@]}" Image

step "$MODE, unmodified source"
kernel_make "$DIR/pristine" "obj-$MODE"
configure_pristine "$THEIRS" "$MODE" 1 "$LOG-pristine.log"
check_configs

if [ -n "$ALL" ]; then
	run_logged "$MODE, unmodified" "$LOG-pristine.log" "$KBUILD_OBJECT" "${KMAKE[@]}" Image
	mapfile -t objects < <(linked "$THEIRS")
	step "compare ${#objects[@]} objects"
	check_link
	check_objects
	finish "off, whole kernel"
fi

mapfile -t objects < <(dependents)
[ ${#objects[@]} -gt 0 ] || die "no object depends on what overlay and patches touch: $DIR/touched"
printf '%s\n' "${objects[@]}" >"$BUILD/check/off-$MODE.objects"
run_logged "$MODE, unmodified: ${#objects[@]} objects" "$LOG-pristine.log" "$KBUILD_OBJECT" \
	"${KMAKE[@]}" "${objects[@]}"

step "compare ${#objects[@]} objects"
check_objects
check_self "$THEIRS/kernel/stacktrace.o"
finish off
