#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the images of every variant of one mode: images.sh KVER MODE [1].

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

check_kver "${1:-}"
check_mode "${2:-}"

plan 3
for variant in $VARIANTS; do
	step_script "image $2-$variant${3:+-test}" "$SCRIPTS/image.sh" "$1" "$2" "$variant" "${3:-}"
done
