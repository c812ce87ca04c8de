#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs our KUnit suites, with a case for each context, in every kind of kernel that traces differ in.
#
# usage: test-contexts.sh KVER [KIND...]
#
# Kinds are the files configs/context-*.config; without KIND all of them. How each case ended lies
# in build/check/contexts/KIND-BOOT.cases; table.rst there is the documentation's table.
# CONTEXT_TREE is a kernel tree to build instead of the one in build/linux/KVER.

# shellcheck source=tools/testing/scs_bench/scripts/testlib.sh
. "$(dirname "${BASH_SOURCE[0]}")/testlib.sh"
# shellcheck source=tools/testing/scs_bench/scripts/config.sh
. "$SCRIPTS/config.sh"

KVER=${1:-}
check_kver "$KVER"
shift
mapfile -t KINDS < <(cd "$TOP/configs" && printf '%s\n' context-*.config | sed 's/^context-//; s/\.config$//')
for kind; do
	one_of KIND "$kind" "${KINDS[@]}"
done
[ $# -gt 0 ] || set -- "${KINDS[@]}"

TREE=${CONTEXT_TREE:-$BUILD/linux/$KVER/tree}
OUT=$BUILD/check/contexts

# A kind takes the place of a mode; what it says wins. See config.sh.
config_fragments()
{
	printf "$TOP/configs/%s.config\n" base variant-scs test test-scs test-context "context-$1"
}

# Debian's firmware for QEMU, of package qemu-efi-aarch64.
BIOS=/usr/share/qemu-efi-aarch64/QEMU_EFI.fd

# boots KIND: a line "NAME CPUS CPU PASSES ARGUMENTS" for each boot, of which PASSES cases must pass.
# Those that are called efi are started by firmware.
boots()
{
	local nmi=irqchip.gicv3_pseudo_nmi=1

	case $1 in
	scs)
		echo "1 1 max 60"
		echo "2 2 cortex-a72 60 $nmi"
		echo "8 8 max 60"
		echo "efi 1 cortex-a72 60" ;;
	dynamic)
		echo "scs 2 cortex-a72 60 $nmi"
		echo "pac 2 max 40 $nmi" ;;
	verify)
		echo "1 1 max 60 scs_trace_verify=panic"
		echo "4 4 max 60 scs_trace_verify=panic $nmi"
		echo "efi 1 cortex-a72 60 scs_trace_verify=panic" ;;
	noscs|gcc)
		echo "1 1 max 40"
		echo "4 4 max 40 $nmi" ;;
	*)
		echo "1 1 max 60"
		echo "2 2 max 60 $nmi" ;;
	esac
}

# must NAME CPUS ARGUMENTS: the cases that a boot is made for, which it must not skip.
must()
{
	[ "$1" != efi ] || echo efi_runtime_call efi_each_instruction efi_fault
	[ "$2" -eq 1 ] || echo cpu_going_down cpu_after_hotplug secondary_cpu_coming_up
	case ${3:-} in
	*pseudo_nmi*) echo pseudo_nmi pseudo_nmi_in_hardirq ;;
	esac
}

# make_for KIND: fills KMAKE. A build with gcc takes the binutils that come with it.
make_for()
{
	local i

	kernel_make "$TREE" "obj-context-$1"
	[ "$1" = gcc ] || return 0
	# On arm64 it comes with gcc.
	command -v aarch64-linux-gnu-gcc >/dev/null ||
		run_child "$SCRIPTS/setup.sh" gcc-aarch64-linux-gnu
	for i in "${!KMAKE[@]}"; do
		case ${KMAKE[i]} in
		LLVM=*) KMAKE[i]=CROSS_COMPILE=aarch64-linux-gnu- ;;
		CC=ccache*) KMAKE[i]="CC=ccache aarch64-linux-gnu-gcc" ;;
		CC=*) KMAKE[i]=CC=aarch64-linux-gnu-gcc ;;
		esac
	done
}

build_kind()
{
	local log=$BUILD/log/image-$KVER-context-$1.log

	make_for "$1"
	configure "$TREE/obj-context-$1" "$1" '' '' "$log"
	run_logged "context-$1" "$log" "$KBUILD_OBJECT" "${KMAKE[@]}" Image modules
	mkdir -p "$OUT/module"
	cp "$TREE/obj-context-$1/arch/arm64/boot/Image" "$OUT/$1.Image"
	# An archive behind another is unpacked, too.
	cp "$TREE/obj-context-$1/kernel/scs_trace/context_module.ko" "$OUT/module/scs_trace_context.ko"
	cp "$BUILD/initramfs/$KVER/initramfs.cpio" "$OUT/$1.cpio"
	(cd "$OUT/module" && cpio -o -H newc --quiet <<<scs_trace_context.ko) >>"$OUT/$1.cpio"
}

# boot_kind KIND NAME CPUS CPU PASSES ARGUMENTS
boot_kind()
{
	local name="$1-$2" test status n=0 bios=

	if [ "$2" = efi ]; then
		[ -f "$BIOS" ] || run_child "$SCRIPTS/setup.sh" qemu-efi-aarch64
		bios=$BIOS
	fi
	# Eight CPUs that share two take minutes to probe each instruction of SHA-256.
	if ! KUNIT_IMAGE=$OUT/$1.Image KUNIT_INITRD=$OUT/$1.cpio KUNIT_BIOS=$bios \
		KUNIT_BASE=$OUT/$name KUNIT_TIMEOUT=1800 KUNIT_CPU=$4 KUNIT_APPEND=${6:-} \
		run_child "$SCRIPTS/kunit-run.sh" "$KVER" "$1" scs 's[ct]*' "$3"; then
		fail "$name boots" "see above and $OUT/$name.log"
		return
	fi
	while read -r test status; do
		case $status in
		PASS) n=$((n + 1)); pass "$name: $test" ;;
		SKIP) skip "$name: $test" ;;
		*) fail "$name: $test" "$status: see $OUT/$name.log" ;;
		esac
	done <"$OUT/$name.cases"
	for test in $(must "$2" "$3" "${6:-}"); do
		grep -q "\.test_$test PASS" "$OUT/$name.cases" ||
			fail "$name: test_$test" "it did not pass: see $OUT/$name.log"
	done
	if [ "$n" -ge "$5" ]; then
		pass "$name: at least $5 cases pass"
	else
		fail "$name: at least $5 cases pass" "only $n: see $OUT/$name.log"
	fi
}

# heading: what comes before the table, of the last line of each configuration's comment.
heading()
{
	local kind

	cat <<EOT
.. SPDX-License-Identifier: GPL-2.0

=============================================
scs_trace: results by context and kernel kind
=============================================

How each case of the KUnit suites ended in each kind of kernel, made by \`\`make check-all\`\` (group
\`\`contexts\`\`) with Linux $(cat "$TREE"/obj-context-*/include/config/kernel.release | head -n 1).
A kind is booted several times: with different numbers of CPUs, with pseudo-NMIs and, \`\`scs\`\`, by
EFI firmware. A case passed if it failed in none of these and passed in one. A dash: that kernel was
built without the case.

EOT
	for kind; do
		sed -n "s/^# Kind \"$kind\" of test-contexts.sh: \(.*\)/* \`\`$kind\`\`: \1/p" \
			"$TOP/configs/context-$kind.config"
	done
	echo
}

plan $(($# + 1))
if [ -z "${CONTEXT_TREE:-}" ]; then
	step_script "source" "$SCRIPTS/source.sh" "$KVER"
	lock "linux-$KVER"
else
	step "source: $TREE"
fi
for kind; do
	step "kind $kind"
	build_kind "$kind"
	while read -r name cpus cpu passes arguments; do
		boot_kind "$kind" "$name" "$cpus" "$cpu" "$passes" "$arguments"
	done < <(boots "$kind")
done
# Each boot is another column where it finds another kind of kernel.
columns=()
for log in "$OUT"/*.log; do
	name=$(basename "$log" .log)
	case $name in
	dynamic-*) columns+=("$name=$log") ;;
	*) columns+=("${name%%-*}=$log") ;;
	esac
done
{
	heading "${KINDS[@]}"
	"$SCRIPTS/context-table.sh" "${columns[@]}"
} >"$OUT/table.rst" || :
if grep -q scs_trace_context "$OUT/table.rst"; then
	pass "table of contexts and kinds: $OUT/table.rst"
else
	fail "table of contexts and kinds" "see $OUT/table.rst"
fi
finish contexts
