#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts instructions with callgrind: a hit, a miss and others of both depots, and a stream's operations.
#
# usage: cost.sh DIR traces [N...]     instructions of a call in a depot of N traces (1000 and 1000000)
#        cost.sh DIR stream STREAM     instructions of an operation of a recorded stream
#
# DIR is where the Makefile built the programs (its O). The loops around the calls
# are counted in: about six instructions a call.

set -eu -o pipefail
export LC_ALL=C

usage()
{
	sed -n 's/^# usage: \(.*\)/usage: \1/p; s/^#        \(cost.sh .*\)/       \1/p' "$0" >&2
	exit 2
}

[ $# -ge 2 ] || usage
dir=$1
what=$2
shift 2
for program in bench replay; do
	if [ ! -x "$dir/plain/$program" ]; then
		echo "error: $dir/plain/$program is not there: build it with make O=$dir first" >&2
		exit 2
	fi
done
if ! command -v valgrind >/dev/null; then
	echo "error: valgrind is not installed: apt-get install valgrind" >&2
	exit 2
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# callgrind DEPOT COMMAND...: leaves $tmp/out.DEPOT, and .N for each thing that was counted by name.
callgrind()
{
	local depot=$1

	shift
	if ! valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no \
		--callgrind-out-file="$tmp/out.$depot" "$@" >"$tmp/stdout.$depot" 2>"$tmp/stderr.$depot"; then
		cat "$tmp/stderr.$depot" >&2
		exit 1
	fi
}

# The instructions in file $1.
total()
{
	awk '$1 == "totals:" { sum += $2 } END { printf "%.0f\n", sum }' "$1"
}

cost_of_calls()
{
	local n depot calls file name

	printf '%-10s %10s %-12s %s\n' depot traces call instructions
	for n; do
		for depot in upstream fast; do
			rm -f "$tmp/out.$depot"*
			callgrind "$depot" "$dir/plain/bench" --count "$depot" --traces "$n"
			calls=$(sed -n 's/^calls: //p' "$tmp/stdout.$depot")
			for file in "$tmp/out.$depot".*; do
				name=$(sed -n 's/^desc: Trigger: Client Request: *//p' "$file")
				[ -n "$name" ] || continue
				printf '%-10s %10s %-12s %.1f\n' "$depot" "$n" "$name" \
					"$(awk -v t="$(total "$file")" -v n="$calls" 'BEGIN { print t / n }')"
			done
		done
	done
}

cost_of_stream()
{
	local stream=$1 depot ops options

	printf '%-12s %10s %14s %8s %8s %12s %s\n' depot operations instructions each traces bytes each
	for depot in upstream fast fast-shadow; do
		options=(--depot "${depot%-shadow}")
		[ "$depot" != fast-shadow ] || options+=(--shadow)
		callgrind "$depot" "$dir/plain/replay" "${options[@]}" "$stream"
		ops=$(awk '$1 == "saves:" || $1 == "puts:" { n += $2 } END { print n }' "$tmp/stdout.$depot")
		awk -v depot="$depot" -v ops="$ops" -v total="$(total "$tmp/out.$depot")" '
			{ value[$1] = $2 }
			END {
				printf "%-12s %10d %14.0f %8.1f %8d %12d %s\n", depot, ops, total, total / ops,
					value["traces:"], value["bytes:"], value["bytes_per_trace:"]
			}' "$tmp/stdout.$depot"
	done
}

case $what in
traces)
	[ $# -gt 0 ] || set -- 1000 1000000
	cost_of_calls "$@"
	;;
stream)
	[ $# -eq 1 ] || usage
	cost_of_stream "$1"
	;;
*)
	usage
	;;
esac
