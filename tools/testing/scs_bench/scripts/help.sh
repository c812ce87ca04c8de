#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints what `make help` says.

# shellcheck source=tools/testing/scs_bench/scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat <<EOT
Stack traces from the shadow call stack: build, measure, test.

  make bench                 set up all that is needed, boot the variants in QEMU,
                             print what stack traces cost; figures in build/bench/boot.json
        MODE=MODE            KASAN mode (generic)
        RUNS=N               wall-clock samples of each variant (7)
        PAGE_OWNER=1         boot with page_owner=on
  build/host/scs_bench --help  the harness itself: claims, compare, report, selftest ...
  make micro                 measure inside the kernel what one stack trace costs, by depth
  make memory                measure what debugging costs in memory, as slabs grow
  make load                  run iperf3, stress-ng and gcc in a guest, with and without debugging
        MODE="MODE..."       KASAN modes (generic); memory and load add a clean kernel
        RUNS=N               wall-clock samples of each kernel, beside instructions
  make record                record what is saved in the stack depot during a boot and a
                             workload, for replay: build/record/*.stream
  make integrate KDIR=DIR    put the collector into your own kernel tree
  make check                 all tests
  make check-all             the same and those that take much longer
  make fuzz                  the depot's random tests for an hour: FUZZ_SECONDS=N

Single steps, each of which does only what is left to do:
  make setup                 install the Debian packages that are missing (as root)
  make qemu                  QEMU $QEMU_MIN_MAJOR or newer, as build/tools/bin/qemu-system-aarch64
  make source                unpack Linux, and a patched copy, in build/linux/
  make image                 one kernel: build/images/KVER/MODE-VARIANT/Image
        MODE=MODE            KASAN mode (generic)
        VARIANT=VARIANT      (scs)
        TEST=1               with the KUnit suites built in: .../MODE-VARIANT-test/Image
        LOAD=1               with what micro and load need: .../MODE-VARIANT-load/Image
  make guest                 the root file system of load, from Debian's arm64 packages
  make images                that of every variant
  make clean                 remove images, programs, results and logs
  make distclean             remove all of build/

KVER:    $(kernel_lines | paste -sd' ')
MODE:    $MODES
VARIANT: $ALL_VARIANTS
JOBS=N limits the jobs of a kernel build ($JOBS here). ccache is used, with its own
settings and CCACHE_DIR.
EOT
