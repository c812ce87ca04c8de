#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An apt of our own below build/, to download packages without a trace in the machine's; sourced.
#
# Whoever sources it sets APT, its directory, and codename, that of the Debian release.

# shellcheck disable=SC2154 # that codename

# Copies those entries of the sources file $1 that serve Debian's $codename,
# its updates and security fixes; adds $2 to the suites of the first kind.
# Whatever else an entry says (keyring, proxies) is kept, but for architectures,
# which may be those of this machine only.
deb822_sources()
{
	awk -v codename="$codename" -v extra="$2" '
	function flush(	   n, i, suites, main, out, list) {
		n = split(field["suites"], list, /[ \t\n]+/)
		suites = ""
		for (i = 1; i <= n; i++) {
			if (list[i] == codename && extra != "")
				suites = suites " " list[i] " " extra
			else if (list[i] == codename ||
				 list[i] == codename "-updates" ||
				 list[i] == codename "-security")
				suites = suites " " list[i]
		}
		main = " " field["components"] " "
		gsub(/[ \t\n]+/, " ", main)
		if (suites != "" && index(main, " main ") &&
		    field["types"] ~ /(^|[ \t\n])deb([ \t\n]|$)/ &&
		    tolower(field["enabled"]) !~ /no|false|0/) {
			print "Types: deb"
			print "Suites:" suites
			print "Components: main"
			for (out in text)
				if (out !~ /^(types|suites|components|enabled|architectures)$/)
					printf "%s", text[out]
			print ""
		}
		delete field
		delete text
		name = ""
	}
	/^#/ { next }
	/^[ \t]*$/ { flush(); next }
	/^[ \t]/ { field[name] = field[name] "\n" $0; text[name] = text[name] $0 "\n"; next }
	{
		name = tolower(substr($0, 1, index($0, ":") - 1))
		value = substr($0, index($0, ":") + 1)
		sub(/^[ \t]+/, "", value)
		sub(/[ \t]+$/, "", value)
		field[name] = value
		text[name] = $0 "\n"
	}
	END { flush() }' "$1"
}

# The same for a file of one-line entries.
oneline_sources()
{
	awk -v codename="$codename" -v extra="$2" '
	$1 == "deb" {
		options = ""
		rest = $0
		sub(/^[ \t]*deb[ \t]+/, "", rest)
		if (rest ~ /^\[/) {
			options = substr(rest, 1, index(rest, "]")) " "
			rest = substr(rest, index(rest, "]") + 1)
			gsub(/arch[+-]?=[^] \t]*/, "", options)
			if (options ~ /^\[[ \t]*\] $/)
				options = ""
		}
		sub(/[ \t]#.*/, "", rest)
		n = split(rest, word, /[ \t]+/)
		at = word[1] == "" ? 2 : 1
		uri = word[at]
		suite = word[at + 1]
		main = 0
		for (i = at + 2; i <= n; i++)
			if (word[i] == "main")
				main = 1
		if (!main)
			next
		if (suite == codename || suite == codename "-updates" ||
		    suite == codename "-security")
			print "deb " options uri " " suite " main"
		if (suite == codename && extra != "")
			print "deb " options uri " " extra " main"
	}' "$1"
}

# Is one of the URIs in file $1 Debian's own archive, as far as apt knows?
# Before the first `apt-get update` it knows nothing, and any will do.
from_debian()
{
	local uri known

	# shellcheck disable=SC2016 # apt's own fields
	known=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' "Created-By: Packages" 2>/dev/null |
		sed -n 's/^Debian[^ ]* //p' | sort -u)
	[ -n "$known" ] || return 0
	while read -r uri; do
		! grep -qF "${uri%/}" "$1" || return 0
	done <<<"$known"
	return 1
}

# write_apt_config EXTRA [ARCH]
# Makes an apt of its own in directory APT, for Debian's $codename and suite EXTRA.
# With ARCH it is that of a machine of that architecture with nothing installed.
write_apt_config()
{
	local extra=$1 arch=${2:-} file name

	rm -rf "$APT"
	mkdir -p "$APT/etc/sources.list.d" "$APT/etc/parts" "$APT/lists/partial" "$APT/archives/partial"

	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ -r "$file" ] || continue
		name=$APT/etc/sources.list.d/$(basename "$file")
		case $file in
		*.sources) deb822_sources "$file" "$extra" >"$name" ;;
		*.list) oneline_sources "$file" "$extra" >"$name" ;;
		esac
		[ -f "$name" ] || continue
		if ! [ -s "$name" ] || ! from_debian "$name"; then
			rm -f "$name"
		fi
	done
	if [ -n "$extra" ]; then
		grep -qrw -- "$extra" "$APT/etc/sources.list.d" ||
			die "no entry in /etc/apt/sources.list* serves Debian's '$codename main', so the place of its backports is not known. Add the usual Debian entry, or install a QEMU >= $QEMU_MIN_MAJOR yourself."
	fi

	[ -z "$arch" ] || : >"$APT/status"
	# The machine's way to the network (proxies, timeouts) stays; hooks, which
	# would act on the machine, do not. APT_CONFIG is read before the parts.
	{
		apt-config dump | grep -E '^(Acquire|APT::Architecture)'
		cat <<-CONF
		Dir::Etc::main "/dev/null";
		Dir::Etc::parts "$APT/etc/parts";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$APT/etc/sources.list.d";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "$APT/etc/parts";
		Dir::State::lists "$APT/lists";
		Dir::State::extended_states "$APT/extended_states";
		Dir::Cache "$APT";
		Dir::Cache::archives "$APT/archives";
		Dir::Log "$APT";
		${arch:+#clear APT::Architectures;}
		${arch:+APT::Architecture "$arch";}
		${arch:+Dir::State::status "$APT/status";}
		APT::Sandbox::User "root";
		APT::Get::List-Cleanup "false";
		APT::Keep-Downloaded-Packages "true";
		Debug::NoLocking "true";
		CONF
	} >"$APT/apt.conf"
}

# fetch_arm64 DEBS LOG PACKAGE...
# Downloads packages for arm64 and what they need to DEBS, as if for a machine
# with nothing installed. DEBS is there when all of it is.
fetch_arm64()
{
	local debs=$1 log=$2 candidate

	shift 2
	command -v apt-get >/dev/null ||
		die "this machine has no apt, so the guest's packages can't be had: run it on Debian or a relative"
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") ||
		die "this is not Debian, so the guest's packages can't be had"
	write_apt_config '' arm64
	export APT_CONFIG=$APT/apt.conf
	step "apt lists of $codename for arm64, for this use only"
	run_logged "apt-get update (private)" "$log" '' apt-get update
	candidate=$(apt-cache madison "$1")
	[ -n "$candidate" ] ||
		die "no entry in /etc/apt/sources.list* serves Debian's '$codename main' for arm64. Add the usual Debian entry. See $log"
	step "download $* and what they need"
	run_logged "apt-get download (private)" "$log" '' \
		apt-get install -y --download-only --no-install-recommends "$@"
	unset APT_CONFIG
	rm -rf "$APT/archives/partial" "$APT/archives/lock" "$debs"
	mv "$APT/archives" "$debs"
	rm -rf "$APT"
}
