#!/bin/sh
# SPDX-License-Identifier: MIT
# Worked numbers of the analyses that HTA has, and none of its defects: exact
# times (it rounds to microseconds), GPU stream 0 and HIP's calls count.
. tests/cli/lib.sh

# ---- the classes of intervals, by hand (6) ----

kernel() { # kernel TS END LAUNCH CORR
	ev kernel k 7 "$1" $(($2 - $1)) "\"device\":0,\"stream\":7,\"correlation\":$4"
	ev cuda_runtime cudaLaunchKernel 1 "$3" 1 "\"correlation\":$4"
}
{
	kernel 100 110 95 1
	kernel 112 120 101 2
	kernel 160 170 130 3
	kernel 175 180 115 4
} | trace >small.json
is 'waiting for the host, and for a kernel' \
	"$(rows 'tl-idle --table idle_by_stream -c cause,time_ns small.json')" \
	'host_wait 40000.kernel_wait 7000.'

# ---- a real trace, the work that its steps launched ----

have_data || skip_all 'no reference traces (TL_DATA)'
tl-filter --step 15-17 -o steps.tl "$TL_DATA"/mi300_resnet_ckpt/*.json.gz
is 'its GPU events' "$(tl-cat steps.tl | jq -c 'select(.kind == ("kernel", "memcpy", "memset"))' |
	grep -c .)" 2685
is 'span, idle and communication' \
	"$(rows 'tl-timeline -c type,time_ns steps.tl' | tr . '\n' | grep -E '^(idle|total|total_comm)_time')" \
	'idle_time 283536
total_time 56517603
total_comm_time 47200310'
is 'intervals of GPU streams' \
	"$(rows 'tl-idle --table idle_by_stream -c gpu_stream,cause,time_ns steps.tl')" \
	'0 other 32974828.4 other 8901355.0 kernel_wait 2347418.4 kernel_wait 111940.'

done_testing
