#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: compiles libfdt and parts of dtc, from the kernel's source, with gcc, one after the other.

cd /scs_bench/src || exit 1
n=0
for source in libfdt/*.c dtc/*.c; do
	gcc-12 -O2 -DNO_YAML -Ilibfdt -Idtc -c -o /tmp/object.o "$source" || exit 1
	n=$((n + 1))
done
echo "compiled $n files"
