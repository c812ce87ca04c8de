#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts the fragments in configs/ together to a kernel's .config and checks that each symbol came out as asked; sourced.

# Prints the fragments that make up an image, the later ones winning.
config_fragments()
{
	local mode=$1 variant=$2 test=$3 dir=$TOP/configs

	echo "$dir/base.config"
	echo "$dir/mode-$mode.config"
	echo "$dir/variant-$variant.config"
	case $test in
	'')
		return 0 ;;
	load)
		echo "$dir/load.config"
		return 0 ;;
	esac
	echo "$dir/test.config"
	case $mode in
	none|hw_none) ;;
	*) echo "$dir/test-kasan.config" ;;
	esac
	[ "$variant" != scs ] || echo "$dir/test-scs.config"
}

# Prints each symbol of the fragments once, with the value that wins.
merged_config()
{
	local fragments

	mapfile -t fragments < <(config_fragments "$@")
	awk '
	{ symbol = "" }
	/^CONFIG_[A-Za-z0-9_]+=/ { symbol = substr($0, 1, index($0, "=") - 1) }
	/^# CONFIG_[A-Za-z0-9_]+ is not set$/ { symbol = $2 }
	symbol != "" {
		if (!(symbol in line))
			order[++n] = symbol
		line[symbol] = $0
	}
	END {
		for (i = 1; i <= n; i++)
			print line[order[i]]
	}' "${fragments[@]}"
}

# Prints the lines of asked-for configuration $1 that did not make it into .config $2.
config_misses()
{
	local line symbol

	while read -r line; do
		case $line in
		'#'*)
			symbol=${line#\# }
			symbol=${symbol%% *}
			! grep -q "^$symbol=" "$2" || echo "$line" ;;
		*)
			grep -qxF -- "$line" "$2" || echo "$line" ;;
		esac
	done <"$1"
}

# configure OBJ MODE VARIANT TEST LOG: needs KMAKE for OBJ's tree.
configure()
{
	local obj=$1 asked=$1/scs_trace.config log=$5 misses

	mkdir -p "$obj"
	merged_config "$2" "$3" "$4" >"$asked"
	KCONFIG_ALLCONFIG=$asked run_logged "configure" "$log" '' "${KMAKE[@]}" allnoconfig
	misses=$(config_misses "$asked" "$obj/.config")
	if [ -n "$misses" ]; then
		rm -f "$obj/.config"
		die "the kernel's configuration refused, for want of what they depend on:
$misses
Asked for in $asked, put together from configs/"
	fi
}

# configure_pristine OBJ MODE TEST LOG
# Configures the unmodified source as variant upstream is, as far as it has the symbols.
configure_pristine()
{
	local obj=$1 asked=$1/scs_trace.config

	mkdir -p "$obj"
	merged_config "$2" upstream "$3" >"$asked"
	KCONFIG_ALLCONFIG=$asked run_logged "configure" "$4" '' "${KMAKE[@]}" allnoconfig
}
