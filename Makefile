# SPDX-License-Identifier: GPL-2.0
# The driver: sets up, builds images, boots, measures and tests. `make help` says how.

SCRIPTS := tools/testing/scs_bench/scripts

# Handed to the scripts in the environment, so that no value needs quoting.
KVER ?= 6.12
MODE ?= generic
VARIANT ?= scs
export KVER MODE VARIANT TEST LOAD RUNS PAGE_OWNER KDIR JOBS DEPOT_SECONDS FUZZ_SECONDS

# An image is one kernel build with all jobs; two at a time gain nothing.
.NOTPARALLEL:
.PHONY: help setup qemu source image images bench micro memory load guest record check fuzz check-all integrate clean distclean

help:
	@$(SCRIPTS)/help.sh

setup:
	@$(SCRIPTS)/setup.sh

qemu: setup
	@$(SCRIPTS)/qemu.sh

source: setup
	@$(SCRIPTS)/source.sh "$$KVER"

image: setup
	@$(SCRIPTS)/image.sh "$$KVER" "$$MODE" "$$VARIANT" "$(if $(filter 1,$(LOAD)),load,$$TEST)"

images: setup
	@$(SCRIPTS)/images.sh "$$KVER" "$$MODE" "$$TEST"

bench:
	@$(SCRIPTS)/bench.sh

micro memory load:
	@$(SCRIPTS)/guests.sh $@

guest: setup
	@$(SCRIPTS)/guest.sh "$$KVER"

record:
	@$(SCRIPTS)/record.sh

check:
	@$(SCRIPTS)/check.sh

fuzz: setup
	@$(SCRIPTS)/fuzz.sh

check-all:
	@$(SCRIPTS)/check.sh all

integrate:
	@$(SCRIPTS)/integrate.sh "$$KDIR"

clean:
	@echo "removing the images, the initramfs, host programs, results and logs (kernel trees and QEMU stay)"
	@rm -rf build/images build/initramfs build/host build/bench build/record build/depot build/check build/log build/locks

distclean:
	@echo "removing build/: all of the above, the kernel trees and QEMU"
	@rm -rf build
