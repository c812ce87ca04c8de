#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Style of the sources: checkpatch over files and patches, sparse over the kernel code, shellcheck over the scripts.
#
# usage: test-style.sh KVER MODE

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/overlay.sh
. "$SCRIPTS/overlay.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
MODE=${2:-}
check_kver "$KVER"
check_mode "$MODE"
TREE=$BUILD/linux/$KVER/tree
OBJ=$TREE/obj-$MODE

checkpatch()
{
	local name=$1 out

	shift
	if out=$(cd "$TREE" && perl scripts/checkpatch.pl --strict --no-summary --terse "$@" 2>&1) && [ -z "$out" ]; then
		pass "checkpatch: $name"
	else
		fail "checkpatch: $name" "$out"
	fi
}

check_patches()
{
	local patch

	while read -r patch; do
		# Whoever mails the series signs it off. Assembly includes what is in asm/.
		checkpatch "${patch#"$TOP"/}" --no-signoff \
			--ignore FILE_PATH_CHANGES,ARCH_INCLUDE_LINUX "$patch"
	done < <(overlay_patches "$KVER" bench)
}

check_files()
{
	local from to file

	while IFS=$'\t' read -r from to; do
		case $to in
		# It takes the arguments of assembler macros (name:req) for C.
		*/asm/*.h) checkpatch "$from" --ignore SPACING -f "$to" ;;
		*.[chS]) checkpatch "$from" -f "$to" ;;
		esac
	done < <(overlay_files "$KVER")
	while read -r file; do
		# User space has no __used and no __printf(), and cmocka has CamelCase.
		checkpatch "${file#"$TOP"/}" --ignore CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO -f "$file"
	done < <(find "$TOP/tools/testing" -name '*.[ch]' ! -path '*/shim/*' | sort)
}

# See config.sh: all that is ours.
config_fragments()
{
	printf "$TOP/configs/%s.config\n" base "mode-$1" variant-scs test test-kasan test-scs test-verify
}

# sparse looks at our files, as an image with everything in has them.
check_sparse()
{
	local from to object log=$BUILD/log/sparse-$KVER.log noise

	lock "linux-$KVER"
	kernel_make "$TREE" "obj-$MODE"
	configure "$OBJ" "$MODE" scs 1 "$log"
	while IFS=$'\t' read -r from to; do
		case $to in
		*.c) object=${to%.c}.o ;;
		*) continue ;;
		esac
		# C=2 checks a file even when its object is up to date.
		"${KMAKE[@]}" C=2 CHECK=sparse "$object" >"$log" 2>&1 || {
			fail "sparse: $from" "$(tail -n 20 "$log")"
			continue
		}
		if ! grep -q "CHECK .*$to" "$log"; then
			fail "sparse: $from" "it was not run: $(tail -n 5 "$log")"
			continue
		fi
		noise=$(grep -E "(scs_trace|depot)[^:]*:[0-9]+:[0-9]+:" "$log" || :)
		if [ -z "$noise" ]; then
			pass "sparse: $from"
		else
			fail "sparse: $from" "$noise"
		fi
	done < <(overlay_files "$KVER")
}

check_scripts()
{
	local script out

	for script in "$SCRIPTS"/*.sh "$TOP"/tools/testing/stackdepot_fast/*.sh "$TOP/.ci/run"; do
		if ! command -v shellcheck >/dev/null; then
			skip "shellcheck: ${script##*/}" "shellcheck is not installed"
		elif out=$(cd "$TOP" && shellcheck -x "$script" 2>&1); then
			pass "shellcheck: ${script##*/}"
		else
			fail "shellcheck: ${script##*/}" "$out"
		fi
	done
}

plan 1
check_patches
check_files
check_scripts
check_sparse
finish style
