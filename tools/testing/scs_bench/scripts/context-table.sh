#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the documentation's table of contexts and kernel kinds out of the KUnit results in console logs.
#
# usage: context-table.sh KIND=LOG [KIND=LOG ...]
#
# A KIND is the head of a column; give it once for each log that it has, such as
# those of boots with other arguments. Of one case the worst result counts, but a
# pass counts more than a skip. Prints reStructuredText.

set -eu

die()
{
	echo "context-table.sh: $*" >&2
	exit 1
}

[ $# -gt 0 ] || die "usage: context-table.sh KIND=LOG [KIND=LOG ...]"

# results KIND LOG: a line "KIND|SUITE|CASE|pass, skip or fail|WHY" for each case of our suites.
results()
{
	sed -E 's/\r$//; s/^\[ *[0-9.]+\] ?//' "$2" | awk -v kind="$1" '
		/^ *# Subtest: / { suite = $3 }
		suite !~ /^scs_trace/ { next }
		/^ +(not )?ok [0-9]+ test_/ {
			result = $1 == "not" ? "fail" : "pass"
			name = $1 == "not" ? $4 : $3
			why = ""
			if (match($0, /# SKIP/)) {
				result = "skip"
				why = substr($0, RSTART + 7)
			}
			printf "%s|%s|%s|%s|%s\n", kind, suite, name, result, why
		}'
}

for arg; do
	case $arg in
	?*=?*) ;;
	*) die "'$arg' is not of the form KIND=LOG" ;;
	esac
	log=${arg#*=}
	[ -r "$log" ] || die "$log can't be read"
	found=$(results "${arg%%=*}" "$log")
	[ -n "$found" ] || die "$log has no results of a suite scs_trace*"
	echo "$found"
done | awk -F'|' '
	BEGIN { rank["skip"] = 1; rank["pass"] = 2; rank["fail"] = 3 }
	!($1 in kinds) { kinds[$1] = ++nkinds; kind[nkinds] = $1 }
	!(($2, $3) in cases) { cases[$2, $3] = ++ncases; suite[ncases] = $2; name[ncases] = $3 }
	rank[$4] > rank[result[$1, $2, $3]] {
		result[$1, $2, $3] = $4
		why[$1, $2, $3] = $5
	}

	function row(first, cell,    k, s)
	{
		s = sprintf("%-" width[0] "s", first)
		for (k = 1; k <= nkinds; k++)
			s = s sprintf("  %-" width[k] "s", cell[k])
		sub(/ +$/, "", s)
		print s
	}

	function rule(    k, cell)
	{
		for (k = 1; k <= nkinds; k++)
			cell[k] = line(width[k])
		row(line(width[0]), cell)
	}

	function line(n,    s)
	{
		while (n-- > 0)
			s = s "="
		return s
	}

	# The number of a reason for skipping, in the order of their first use.
	function note(text)
	{
		if (!(text in notes)) {
			notes[text] = ++nnotes
			notetext[nnotes] = text
		}
		return notes[text]
	}

	function title(s)
	{
		sub(/^test_/, "", s)
		gsub(/_/, " ", s)
		return s
	}

	END {
		width[0] = 7
		for (c = 1; c <= ncases; c++) {
			if (length(title(name[c])) > width[0])
				width[0] = length(title(name[c]))
			for (k = 1; k <= nkinds; k++) {
				r = result[kind[k], suite[c], name[c]]
				if (r == "")
					r = "\\-"
				else if (r == "fail")
					r = "**fail**"
				else if (r == "skip")
					r = "skip (" note(why[kind[k], suite[c], name[c]]) ")"
				text[c, k] = r
				if (length(r) > width[k])
					width[k] = length(r)
			}
		}
		for (k = 1; k <= nkinds; k++)
			if (length(kind[k]) > width[k])
				width[k] = length(kind[k])

		for (c = 1; c <= ncases; c++) {
			if (suite[c] != suite[c - 1]) {
				if (c > 1) {
					rule()
					printf "\n"
				}
				printf "Suite ``%s``:\n\n", suite[c]
				rule()
				row("Context", kind)
				rule()
			}
			for (k = 1; k <= nkinds; k++)
				cell[k] = text[c, k]
			row(title(name[c]), cell)
		}
		rule()
		for (i = 1; i <= nnotes; i++)
			printf "%s(%d) %s\n", i == 1 ? "\nSkipped because:\n\n" : "", i, notetext[i]
	}'
