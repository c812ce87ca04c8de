#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stands in for QEMU in the tests of "record": its guest's memory is a copy of FAKE_RAM, its console FAKE_CONSOLE.

while [ $# -gt 0 ]; do
	case $1 in
	memory-backend-file,*) ram=${1#*mem-path=}; ram=${ram%%,*} ;;
	esac
	shift
done
cp "$FAKE_RAM" "$ram"
printf '%s\n' "$FAKE_CONSOLE"
