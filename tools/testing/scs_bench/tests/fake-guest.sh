#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stands in for QEMU in the tests of "micro", "memory" and "load": a kernel's console is the file
# "console" beside its image, and from its second run on "console-again", if there is one.

[ "$1" = --version ] && { echo "QEMU emulator version 10.0.2 (fake)"; exit 0; }

while [ $# -gt 0 ]; do
	case $1 in
	-kernel) dir=${2%/*} ;;
	-append) echo "$2" >> "$dir/appended" ;;
	esac
	shift
done
if [ -e "$dir/console-again" ] && [ "$(wc -l < "$dir/appended")" -gt 1 ]; then
	cat "$dir/console-again"
else
	cat "$dir/console"
fi
