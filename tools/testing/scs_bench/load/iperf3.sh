#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: sends $1 bytes over the loopback device with iperf3, server and client on this machine.

iperf3 --server --one-off --port 5201 >/dev/null &
tries=0
until iperf3 --client 127.0.0.1 --port 5201 --bytes "$1" --interval 0 2>/tmp/iperf3.err; do
	tries=$((tries + 1))
	if [ $tries -eq 50 ]; then
		cat /tmp/iperf3.err
		exit 1
	fi
	sleep 0.1
done
wait
