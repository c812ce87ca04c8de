#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests `make integrate`: each refusal by message, status and an unchanged tree; success; undoing a failure.
#
# usage: test-integrate.sh KVER
#
# The trees are small: the files that the patches touch and what makes a tree
# recognisable, copied from the pristine source.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/overlay.sh
. "$SCRIPTS/overlay.sh"

KVER=${1:-}
check_kver "$KVER"
PRISTINE=$BUILD/linux/$KVER/pristine
NOBODY=65534

WORK=$(mktemp -d)
# shellcheck disable=SC2317 # lib.sh calls it
cleanup()
{
	rm -rf "$WORK"
}
chmod 755 "$WORK"
tree=$WORK/linux

mapfile -t patches < <(overlay_patches "$KVER")

new_tree()
{
	local path

	rm -rf "${tree:?}"
	mkdir -p "$tree/arch/arm64"
	for path in Makefile Kbuild Kconfig $(for p in "${patches[@]}"; do patch_paths "$p"; done); do
		[ -f "$PRISTINE/$path" ] || continue
		mkdir -p "$tree/$(dirname "$path")"
		cp -p "$PRISTINE/$path" "$tree/$path"
	done
}

# Names, modes, times of change and contents of all of a tree; not the times
# of directories, which renames in them change.
state_of()
{
	(cd "$1" && find . \( -type d -printf '%p %m\n' \) -o -printf '%p %m %u %T@\n' | sort &&
	 find . -type f -print0 | sort -z | xargs -0 -r sha256sum) | hash_of_stdin
}

integrate()
{
	status=0
	output=$("$SCRIPTS/integrate.sh" "$@" 2>&1) || status=$?
}

# expect NAME STATUS TEXT...: about the last call of integrate.
expect()
{
	local name=$1 want=$2 text

	shift 2
	if [ "$status" -ne "$want" ]; then
		fail "$name" "status $status instead of $want: $output"
		return
	fi
	for text; do
		if ! grep -qF -- "$text" <<<"$output"; then
			fail "$name" "does not say '$text': $output"
			return
		fi
	done
	pass "$name"
}

# refused NAME STATUS KDIR TEXT...: and nothing in the tree changed.
refused()
{
	local name=$1 want=$2 kdir=$3 before

	shift 3
	before=$(state_of "$tree")
	integrate "$kdir"
	if [ "$(state_of "$tree")" != "$before" ]; then
		fail "$name" "the tree changed: $output"
		return
	fi
	expect "$name" "$want" "$@"
}

# Puts a program $1 in front of the real one. Of its calls with $2 among the
# arguments, those from number $3 on fail.
failing()
{
	mkdir -p "$WORK/bin"
	cat >"$WORK/bin/$1" <<-FAKE
	#!/bin/sh
	case "\$*" in
	*$2*)
		echo >>"$WORK/calls.$1"
		[ "\$(wc -l <"$WORK/calls.$1")" -lt $3 ] || { echo "$1: No space left on device" >&2; exit 1; } ;;
	esac
	exec $(command -v "$1") "\$@"
	FAKE
	chmod +x "$WORK/bin/$1"
	rm -f "$WORK/calls.$1"
}

no_failing()
{
	rm -rf "${WORK:?}/bin"
}

# Are the files of the tree what overlay and patches ask for?
complete()
{
	local from to

	while IFS=$'\t' read -r from to; do
		cmp -s "$TOP/$from" "$1/$to" || return 1
	done < <(overlay_files "$KVER")
	# Taken back in reverse order, the patches must give the pristine files.
	rm -rf "$WORK/back"
	cp -a "$1" "$WORK/back"
	printf '%s\n' "${patches[@]}" | tac | while read -r patch; do
		patch -d "$WORK/back" -p1 -R --fuzz=0 --force --silent <"$patch" || return 1
	done || return 1
	while read -r path; do
		cmp -s "$PRISTINE/$path" "$WORK/back/$path" || return 1
	done < <(for p in "${patches[@]}"; do patch_paths "$p"; done)
	! find "$1" -name '*.orig' -o -name '*.rej' -o -name '*.scs_trace-new' | grep -q .
}

success()
{
	local name=$1 kdir=$2

	integrate "$kdir"
	if [ "$status" -ne 0 ]; then
		fail "$name" "$output"
	elif ! complete "$kdir"; then
		fail "$name" "the tree is not as overlay and patches ask for"
	else
		expect "$name" 0 "CONFIG_SCS_TRACE" "menuconfig"
	fi
}

# --- Refusals --------------------------------------------------------------

new_tree
refused "no KDIR" 2 '' "KDIR is not given" "make integrate KDIR="
refused "KDIR does not exist" 3 "$WORK/nowhere" "does not exist" "top directory"
refused "KDIR is a file" 3 "$tree/Makefile" "is not a directory"
refused "KDIR is not a kernel tree" 3 "$tree/arch" "not a Linux source tree"
mkdir "$tree/obj"
echo "include ../Makefile" >"$tree/obj/Makefile"
refused "KDIR is an object directory" 3 "$tree/obj" "holds the objects" "source tree"
new_tree
sed -i 's/^VERSION = .*/VERSION = 5/; s/^PATCHLEVEL = .*/PATCHLEVEL = 4/' "$tree/Makefile"
refused "version not supported" 4 "$tree" "is Linux 5.4" "supported: $(kernel_lines | paste -sd' ')"

new_tree
victim=$(patch_paths "${patches[-1]}" | tail -n 1)
sed -i 's/^\(.*[a-zA-Z].*\)$/\1 changed/' "$tree/$victim"
refused "last patch does not apply" 6 "$tree" "${patches[-1]##*/} does not apply" "$victim" "by hand"
new_tree
victim=$(patch_paths "${patches[0]}" | head -n 1)
rm "${tree:?}/$victim"
refused "file of the first patch is missing" 6 "$tree" "${patches[0]##*/} does not apply" "$victim"

new_tree
mkdir -p "$tree/include/linux"
echo "/* someone else's */" >"$tree/include/linux/scs_trace.h"
refused "overlay would overwrite a file" 7 "$tree" "would overwrite" "include/linux/scs_trace.h"

new_tree
patch -d "$tree" -p1 --silent <"${patches[0]}"
refused "patched, but without the overlay" 5 "$tree" "integrated in part" "${patches[0]##*/}"

new_tree
exec 8<"$tree"
flock 8
refused "another run at work" 8 "$tree" "another run" "wait"
exec 8<&-

# --- Failing half way ------------------------------------------------------

new_tree
failing cp .scs_trace-new 3
PATH=$WORK/bin:$PATH refused "copying fails half way" 8 "$tree" "failed" "has been undone"
no_failing
failing mv .scs_trace-new 5
PATH=$WORK/bin:$PATH refused "renaming fails half way" 8 "$tree" "failed" "has been undone"

# Backups are made, one for each file that the patches touch; none can be restored.
failing cp /backup/ $(($(for p in "${patches[@]}"; do patch_paths "$p"; done | sort -u | wc -l) + 1))
rm -f "$WORK/calls.mv"
PATH=$WORK/bin:$PATH TMPDIR=$WORK integrate "$tree"
no_failing
expect "undoing fails" 9 "failed as well" "$WORK/tmp."
name="originals are kept when undoing fails"
backup=$(sed -n 's/.*original files are in //p' <<<"$output")
if cmp -s "$backup/kernel/Makefile" "$PRISTINE/kernel/Makefile"; then
	pass "$name"
else
	fail "$name" "$output"
fi

name="not writable"
new_tree
if [ "$(id -u)" -ne 0 ]; then
	chmod -R a-w "$tree"
	refused "$name" 8 "$tree" "can't be written"
	chmod -R u+w "$tree"
elif setpriv --reuid=$NOBODY --clear-groups test -r "$SCRIPTS/lib.sh" 2>/dev/null; then
	before=$(state_of "$tree")
	status=0
	output=$(setpriv --reuid=$NOBODY --clear-groups "$SCRIPTS/integrate.sh" "$tree" 2>&1) || status=$?
	if [ "$(state_of "$tree")" = "$before" ]; then
		expect "$name" 8 "can't be written" "nothing was changed"
	else
		fail "$name" "the tree changed: $output"
	fi
else
	skip "$name" "no other user can read this checkout"
fi

# --- Success ---------------------------------------------------------------

new_tree
success "success" "$tree"
refused "integrated already" 5 "$tree" "integrated already" "nothing to do"
echo "/* older */" >>"$tree/include/linux/scs_trace.h"
refused "integrated with another version" 5 "$tree" "another version"

new_tree
mv "$tree" "$WORK/my linux tree"
success "path with spaces and a trailing slash" "$WORK/my linux tree/"
rm -rf "$WORK/my linux tree"

new_tree
ln -s "$tree" "$WORK/link"
success "symbolic link" "$WORK/link"

new_tree
name="relative path"
if (cd "$WORK" && "$SCRIPTS/integrate.sh" ./linux >/dev/null 2>&1) && complete "$tree"; then
	pass "$name"
else
	fail "$name"
fi

new_tree
chmod 640 "$tree/kernel/Makefile"
integrate "$tree"
if [ "$(stat -c %a "$tree/kernel/Makefile")" = 640 ]; then
	pass "file modes are kept"
else
	fail "file modes are kept" "kernel/Makefile is $(stat -c %a "$tree/kernel/Makefile")"
fi

new_tree
if make -C "$TOP" integrate KDIR="$tree" >/dev/null 2>&1 && complete "$tree"; then
	pass "make integrate KDIR="
else
	fail "make integrate KDIR="
fi

finish integrate
