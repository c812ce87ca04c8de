#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds one kernel image into build/images/KVER/MODE-VARIANT[-test|-load]/ unless it is there and up to date.
#
# usage: image.sh KVER MODE VARIANT [1|load]
#
# Beside Image lie System.map, config, and info: what it was built from and with.
# With 1 at the end (TEST=1) the KUnit suites are built in; with load (LOAD=1) the
# benchmark inside the kernel, and what a userland needs.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
MODE=${2:-}
VARIANT=${3:-}
TEST=${4:-}
check_kver "$KVER"
check_mode "$MODE"
check_variant "$VARIANT"
check_build_path
case $TEST in
0) TEST= ;;
''|1|load) ;;
*) die "TEST=$TEST is not known: one of 0 1" ;;
esac

suffix=${TEST:+-test}
[ "$TEST" != load ] || suffix=-load
NAME=$MODE-$VARIANT$suffix
TREE=$BUILD/linux/$KVER/tree
OBJ=$TREE/obj-$MODE
IMAGE=$BUILD/images/$KVER/$NAME
LOG=$BUILD/log/image-$KVER-$NAME.log

# Everything that decides what the image will be.
fingerprint()
{
	cat "$BUILD/linux/$KVER/source.id" "$BUILD/linux/$KVER/tree.id"
	merged_config "$MODE" "$VARIANT" "$TEST"
	"clang$LLVM_SUFFIX" --version
	printf '%s\n' "${KMAKE[@]}" | grep -vE '^-j|ccache'
}

write_info()
{
	local compiler

	compiler=$("clang$LLVM_SUFFIX" --version | head -n 1)
	cat <<-INFO
	kernel=$(cat "$OBJ/include/config/kernel.release")
	source=$(cut -d' ' -f1,2 "$BUILD/linux/$KVER/source.id")
	mode=$MODE
	variant=$VARIANT
	test=${TEST:-0}
	compiler=$compiler
	INFO
	"llvm-size$LLVM_SUFFIX" "$OBJ/vmlinux" |
		awk 'NR == 2 { print "text=" $1 "\ndata=" $2 "\nbss=" $3 }'
}

install_image()
{
	local tmp=$BUILD/images/$KVER/.tmp-$NAME

	rm -rf "$tmp"
	mkdir -p "$tmp"
	cp "$OBJ/arch/arm64/boot/Image" "$OBJ/System.map" "$tmp"
	cp "$OBJ/.config" "$tmp/config"
	write_info >"$tmp/info"
	printf '%s\n' "$stamp" >"$tmp/stamp"
	rm -rf "$IMAGE"
	mv "$tmp" "$IMAGE"
}

plan 4
lock "linux-$KVER"
step_script "$NAME: source" "$SCRIPTS/source.sh" "$KVER"

kernel_make "$TREE" "obj-$MODE"
stamp=$(fingerprint | hash_of_stdin)
if [ "$(cat "$IMAGE/stamp" 2>/dev/null)" = "$stamp" ]; then
	say "image: $NAME is up to date"
	exit 0
fi

step "$NAME: configure"
configure "$OBJ" "$MODE" "$VARIANT" "$TEST" "$LOG"

step "$NAME: compile with $JOBS jobs"
run_logged "$NAME" "$LOG" "$KBUILD_OBJECT" "${KMAKE[@]}" Image

step "$NAME: install"
install_image
say "image: $IMAGE/Image"
