#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stands in for QEMU in the tests of "record": its guest's memory is a copy of FAKE_RAM, its console FAKE_CONSOLE.

[ "$1" = --version ] && { echo "QEMU emulator version 10.0.2 (fake)"; exit 0; }

while [ $# -gt 0 ]; do
	case $1 in
	memory-backend-file,*) ram=${1#*mem-path=}; ram=${ram%%,*} ;;
	esac
	shift
done
cat "$FAKE_RAM" > "$ram"
printf '%s\n' "$FAKE_CONSOLE"
