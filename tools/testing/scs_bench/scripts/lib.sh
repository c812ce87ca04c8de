#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the scripts here share: places, messages, progress, locks, children and the kernel's make line.
#
# Sourced, not run. A script that sources it gets `set -eu`, no standard
# input, and a trap that ends its children when it is told to stop.

# shellcheck disable=SC2034 # used by the scripts that source this

set -eu -o pipefail
exec </dev/null

SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
TOP=$(cd "$SCRIPTS/../../../.." && pwd -P)
BUILD=${SCS_BUILD:-$TOP/build}
JOBS=${JOBS:-$(nproc)}

LLVM_SUFFIX=-19
QEMU_MIN_MAJOR=10
QEMU=$BUILD/tools/bin/qemu-system-aarch64

MODES="generic sw_tags hw_tags none hw_none noscs"
# Those that are measured against each other, and those that can be built.
VARIANTS="upstream null scs"
ALL_VARIANTS="$VARIANTS record cost"

# A make or a shell above must not steer the kernel's build: its variables
# (MODE=..., O=..., -j) would all be handed down.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
unset ARCH CROSS_COMPILE LLVM CC CFLAGS LDFLAGS O KBUILD_OUTPUT KCONFIG_CONFIG
unset KCFLAGS KAFLAGS KCPPFLAGS KCONFIG_ALLCONFIG LOCALVERSION V C W
export LC_ALL=C

say()
{
	printf '%s\n' "$*"
}

warn()
{
	printf 'warning: %s\n' "$*" >&2
}

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

duration()
{
	printf '%dm%02ds' $(($1 / 60)) $(($1 % 60))
}

# --- Progress --------------------------------------------------------------
#
# The outermost script plans its steps and counts them. A script that it runs
# as one of them inherits SCS_STEP and announces its parts under that number.

step_nr=0
step_total=0

plan()
{
	step_total=$1
	export SCS_T0=${SCS_T0:-$EPOCHSECONDS}
}

step_label()
{
	printf '%s' "${SCS_STEP:-$step_nr/$step_total}"
}

step()
{
	step_nr=$((step_nr + 1))
	say "[$(step_label)] $* ($(duration $((EPOCHSECONDS - SCS_T0))) so far)"
}

# Runs another script as one step of this one.
step_script()
{
	local title=$1

	shift
	step "$title"
	if ! SCS_STEP=$(step_label) run_child "$@"; then
		die "step $(step_label) failed: $title"
	fi
}

# --- Children --------------------------------------------------------------
#
# Each long-running child leads a process group of its own, so that a signal
# to this script can end all of it: make, compilers, QEMU.

child=

end_child()
{
	[ -n "$child" ] || return 0
	kill -TERM -- "-$child" 2>/dev/null || :
	# One that was stopped takes the signal only once it goes on.
	kill -CONT -- "-$child" 2>/dev/null || :
	wait "$child" 2>/dev/null || :
	child=
}

# The child is ended on every way out: a signal to the whole process group also
# ends the `sleep` or the like that this shell waits for, so `set -e` may come
# before the signal's trap. A script that has more to do then defines cleanup().
on_exit()
{
	trap '' INT TERM HUP PIPE
	end_child
	if declare -F cleanup >/dev/null; then
		cleanup
	fi
}

trap on_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
# Whoever read our output may have been ended first.
trap 'exit 141' PIPE

run_child()
{
	local rc=0

	setsid "$@" &
	child=$!
	wait "$child" || rc=$?
	child=
	return "$rc"
}

# run_logged LABEL LOG PATTERN COMMAND...
# Sends the output to LOG. Every 15 seconds one line says how many lines of it
# match PATTERN so far. When COMMAND fails, the tail of LOG is shown and the
# script ends, unless it runs under `if` or `||` in a subshell of its own.
run_logged()
{
	local label=$1 log=$2 pattern=$3 rc=0 start=$EPOCHSECONDS beat=15 count

	shift 3
	mkdir -p "$(dirname "$log")"
	setsid "$@" >"$log" 2>&1 &
	child=$!
	while kill -0 "$child" 2>/dev/null; do
		sleep 0.2
		[ $((EPOCHSECONDS - start)) -ge $beat ] || continue
		beat=$((beat + 15))
		count=
		if [ -n "$pattern" ]; then
			count="$(grep -cE "$pattern" "$log" || :) objects, "
		fi
		say "[$(step_label)] $label: $count$(duration $((EPOCHSECONDS - start)))"
	done
	wait "$child" || rc=$?
	child=
	[ "$rc" -ne 0 ] || return 0

	{
		say "error: $label failed (status $rc). The end of its log:"
		tail -n 30 "$log" | sed 's/^/    /'
		say "The whole log: $log"
	} >&2
	exit 1
}

# --- Locks -----------------------------------------------------------------
#
# A child inherits the lock's descriptor: should this script be killed outright,
# the next run still waits for a compiler that is left behind.

declare -A lock_fds

lock()
{
	local name=$1 file=$BUILD/locks/$1 fd

	case " ${SCS_LOCKS:-} " in
	*" $name "*) return 0 ;;
	esac
	mkdir -p "$BUILD/locks"
	exec {fd}>>"$file"
	if ! flock -n "$fd"; then
		say "another run is at work on $name (process $(cat "$file.pid" 2>/dev/null || echo unknown)): waiting for it"
		run_child flock "$fd"
	fi
	echo $$ >"$file.pid"
	lock_fds[$name]=$fd
	export SCS_LOCKS="${SCS_LOCKS:-} $name"
}

# unlock NAME: lets others have it, unless whoever called this script holds it.
unlock()
{
	local fd=${lock_fds[$1]:-}

	[ -n "$fd" ] || return 0
	exec {fd}>&-
	unset "lock_fds[$1]"
	SCS_LOCKS=${SCS_LOCKS/ $1/}
}

# --- Checks of what the user asked for -------------------------------------

kernel_lines()
{
	local dir

	for dir in "$TOP"/integration/*/; do
		[ -f "$dir/overlay.list" ] && basename "$dir"
	done
	return 0
}

# one_of NAME VALUE CHOICE...
one_of()
{
	local name=$1 value=$2 choice

	shift 2
	for choice; do
		[ "$value" != "$choice" ] || return 0
	done
	if [ -z "$value" ]; then
		die "$name is not given: one of $*"
	fi
	die "$name=$value is not known: one of $*"
}

check_kver()
{
	# shellcheck disable=SC2046 # one word per line
	one_of KVER "$1" $(kernel_lines)
}

check_mode()
{
	# shellcheck disable=SC2086 # a list of words
	one_of MODE "$1" $MODES
}

check_variant()
{
	# shellcheck disable=SC2086 # a list of words
	one_of VARIANT "$1" $ALL_VARIANTS
}

# kbuild takes no source directory with a space or a colon in its path.
check_build_path()
{
	case $BUILD in
	*[[:space:]:]*)
		die "the kernel can't be built in '$BUILD': its make takes no path with a space or a colon. Move this checkout, or set SCS_BUILD to another directory." ;;
	esac
}

# --- The kernel's build ----------------------------------------------------

# Fills KMAKE with the make line for source tree $1 and object directory $2.
# Object directories lie directly in their source tree: kbuild then uses
# relative paths throughout, and ccache's entries serve any other checkout.
kernel_make()
{
	local cc=clang$LLVM_SUFFIX

	check_build_path
	if command -v ccache >/dev/null; then
		cc="ccache $cc"
		# The user's own cache, so that a fresh clone builds fast, too.
		export CCACHE_BASEDIR=$BUILD CCACHE_NOHASHDIR=1
	elif [ -z "${SCS_NO_CCACHE_SAID:-}" ]; then
		warn "ccache is not installed: every kernel file is compiled anew"
		export SCS_NO_CCACHE_SAID=1
	fi
	# The names and dates are in the images; they must not differ by who builds.
	KMAKE=(make -C "$1" "-j$JOBS" ARCH=arm64 "LLVM=$LLVM_SUFFIX" "CC=$cc"
	       "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970"
	       KBUILD_BUILD_USER=scs_trace KBUILD_BUILD_HOST=build KBUILD_BUILD_VERSION=1
	       "O=$2")
}

# Regular expression of the lines that kbuild prints for an object file.
KBUILD_OBJECT='^  (CC|AS|HOSTCC|LDS|AR)  '

# --- Measuring -------------------------------------------------------------

# measure COMMAND [OPTION...]: a subcommand of scs_bench, with its results in
# build/bench/. What was interrupted is gone on with, what is finished is begun anew.
measure()
{
	local command=$1 out=$BUILD/bench/$1.runs json=$BUILD/bench/$1.json

	shift
	mkdir -p "$BUILD/bench"
	if [ "$json" -nt "$out" ]; then
		rm -rf "$out" "$out.logs"
	fi
	[ ! -e "$out" ] || set -- --resume "$@"
	SCS_BUILD=$BUILD run_child "$BUILD/host/scs_bench" "$command" --out "$out" --json "$json" "$@"
}

hash_of_stdin()
{
	sha256sum | cut -d' ' -f1
}
