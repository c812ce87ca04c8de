#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stands in for QEMU in the fault tests: answers --version, then does what FAKE_QEMU says, or
# prints what a good guest would.

[ "$FAKE_QEMU" = mute ] && { echo $$ > "$FAKE_STATE.pid"; exec sleep 600; }
[ "$1" = --version ] && { echo "QEMU emulator version ${FAKE_QEMU_VERSION:-10.0.2} (fake)"; exit 0; }

initrd='' exec_log='' append='' icount=''
while [ $# -gt 0 ]; do
	case $1 in
	-initrd) initrd=$2; shift ;;
	-D) exec_log=$2; shift ;;
	-append) append=$2; shift ;;
	-icount) icount=$2; shift ;;
	esac
	shift
done

trace() { echo "Trace 0: 0x7f00 [00/$1/00/00] " >> "$exec_log"; }

counter=2000000
case $FAKE_QEMU in
hang) echo $$ > "$FAKE_STATE.pid"; exec sleep 600 ;;
stubborn) trap '' TERM; echo $$ > "$FAKE_STATE.pid"; while :; do sleep 1; done ;;
killed) kill -KILL $$ ;;
crash) echo "about to crash"; kill -SEGV $$ ;;
exit) echo "qemu: cannot set up guest memory"; exit 1 ;;
silent) exit 0 ;;
garbage) head -c 100000 /dev/urandom; exit 0 ;;
flood) exec yes "the same line again and again" ;;
panic) echo "Kernel panic - not syncing: Attempted to kill the idle task!"; exit 0 ;;
# Each run counts one instruction more than the one before.
drift) echo x >> "$FAKE_STATE.runs"; counter=$((counter + $(wc -l < "$FAKE_STATE.runs"))) ;;
# The run that is logged is another one than those that are not.
watched) [ "$exec_log" ] && counter=$((counter + 1)) ;;
# Init is never started by the wall runs that need it.
noinit) [ "$icount" ] || { echo "Linux version 6.12.117"; exit 0; } ;;
# What all wall runs wait for is printed, but then QEMU does not end well.
dies) [ "$initrd" ] || {
	echo "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"
	kill -SEGV $$; } ;;
# The second round of wall runs hangs: everything before it is good.
late) [ "$icount" ] || { echo x >> "$FAKE_STATE.wall"
	[ "$(wc -l < "$FAKE_STATE.wall")" -le 5 ] || { echo $$ > "$FAKE_STATE.pid"; exec sleep 600; } } ;;
# The console log is large.
fill) head -c 150000 /dev/zero | tr '\0' '\n' ;;
# A wall run that ends early must not count as a fast one.
early) [ "$initrd" ] || { echo "Kernel panic - not syncing: Fatal exception"; exit 0; } ;;
esac

# A kernel with a known cost of each save; "deaf" does not feel the last instruction of it.
cost=${append##*scs_bench_cost=} all=20 early=10
case $append in
*scs_bench_cost=*)
	cost=${cost%% *}
	[ "$FAKE_QEMU" = deaf ] && [ "$cost" -gt 0 ] && early_off=1
	counter=$((counter + cost * all))
	echo "scs_bench_cost: cost $cost early $early counter $((1000 + cost * (early - 1) - ${early_off:-0})) all $all" ;;
esac

echo "Linux version 6.12.117 (a@b) (clang 19, LLD 19) #1 SMP"
if [ -z "$initrd" ]; then
	echo "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"
	exit 0
fi
if [ "$exec_log" ]; then
	[ "$FAKE_QEMU" = strangers ] || trace ffff000000001000
	for pc in ffff000000002000 ffff000000002000 0000000000210000; do trace $pc; done
fi
case $append in
*initcall_debug*) cat << END ;;
calling  slow_init+0x0/0x10 @ 1
initcall slow_init+0x0/0x10 returned 0 after 120 usecs
initcall same_init+0x0/0x10 returned 0 after 5 usecs
END
esac
cat << END
scs_bench: kmsg $((counter + 1000)) $((counter + 2000)) 1000
scs_bench: entry 0x210000
scs_bench: cntfrq 1000000000
scs_bench: cntvct $counter
scs_bench: pagesize 4096
END
[ "$FAKE_QEMU" = noend ] || echo "scs_bench: done"
