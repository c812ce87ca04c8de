#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes, in a staging directory, what the overlay and the patches turn a kernel tree into; sourced by source.sh and integrate.sh.
#
# Nothing in the kernel tree is touched here: the caller compares and installs.

# shellcheck disable=SC2034 # FAILED_* are for the caller

# Prints "from<TAB>to" for every file of the overlay for kernel line $1;
# "from" is a path in this repository, "to" one in the kernel tree.
overlay_files()
{
	local list=$TOP/integration/$1/overlay.list from to file

	while read -r from to; do
		case $from in
		''|'#'*) continue ;;
		esac
		case $to in
		'-> '?*) to=${to#-> } ;;
		*) die "$list: not of the form 'from -> to': $from $to" ;;
		esac
		[ -e "$TOP/$from" ] || die "$list: $TOP/$from does not exist"
		case $from in
		*/)
			# Not what editors and compilers leave beside the sources.
			(cd "$TOP/$from" && find . -type f ! -name '.*' ! -name '*~' ! -name '*.o' -printf '%P\n') |
			sort | while read -r file; do
				printf '%s\t%s\n' "$from$file" "$to$file"
			done ;;
		*)
			printf '%s\t%s\n' "$from" "$to" ;;
		esac
	done <"$list"
}

# Prints the patches for kernel line $1; with $2=bench those of the benchmark, too.
overlay_patches()
{
	local dir=$TOP/integration/$1 patch

	for patch in "$dir"/*.patch; do
		[ ! -f "$patch" ] || printf '%s\n' "$patch"
	done
	[ "${2:-}" = bench ] || return 0
	for patch in "$dir"/bench/*.patch; do
		[ ! -f "$patch" ] || printf '%s\n' "$patch"
	done
}

# Prints the files that patch $1 touches.
patch_paths()
{
	awk '
	/^--- (a\/|\/dev\/null)/ { old = $2; next }
	/^\+\+\+ (b\/|\/dev\/null)/ && old != "" {
		path = $2 == "/dev/null" ? old : $2
		sub(/^[ab]\//, "", path)
		print path
	}
	{ old = "" }' "$1"
}

# Of what patch(1) says, the complaints, and before each the file that it is about.
patch_complaints()
{
	awk '
	/^patching file / { file = $0; next }
	/FAILED|find file|No file|malformed|No such/ {
		if (file != "")
			print file
		file = ""
		print
	}
	/^\|\+\+\+ / { print substr($0, 2) }'
}

# stage_patches BASE STAGE PATCH...
# Copies to STAGE those files of kernel tree BASE that the patches touch and
# applies the patches there, in order and without fuzz. Fails at the first that
# does not apply: FAILED_PATCH names it and FAILED_WHY says what patch(1) said.
stage_patches()
{
	local base=$1 stage=$2 patch path said

	shift 2
	for patch; do
		while read -r path; do
			if [ -f "$base/$path" ] && [ ! -e "$stage/$path" ]; then
				mkdir -p "$stage/$(dirname "$path")"
				# Without -p: what is installed must look newer than objects.
				cp "$base/$path" "$stage/$path"
			fi
		done < <(patch_paths "$patch")
	done
	for patch; do
		if ! said=$(patch -d "$stage" -p1 --fuzz=0 --force \
			    --no-backup-if-mismatch --reject-file=- <"$patch" 2>&1); then
			FAILED_PATCH=$patch
			FAILED_WHY=$(patch_complaints <<<"$said")
			return 1
		fi
	done
}

# stage_overlay LINE BASE STAGE
# Adds the overlay's files to STAGE. Fails, with the path in FAILED_PATH, when
# kernel tree BASE or a patch has such a file already.
stage_overlay()
{
	local files from to

	files=$(overlay_files "$1")
	while IFS=$'\t' read -r from to; do
		if [ -e "$2/$to" ] || [ -e "$3/$to" ]; then
			FAILED_PATH=$to
			return 1
		fi
		mkdir -p "$3/$(dirname "$to")"
		cp "$TOP/$from" "$3/$to"
	done <<<"$files"
}

# Prints the paths of all files in staging directory $1.
staged_paths()
{
	(cd "$1" && find . -type f -printf '%P\n' | sort)
}
