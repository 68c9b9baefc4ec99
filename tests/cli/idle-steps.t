#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-idle over steps out of the ordinary: without GPU work, of two processes,
# done in another order, apart.
. tests/cli/lib.sh

# work N TS CORR NAME AT DUR [STREAM]: step N of 1 ms, its launch, a GPU event
work() {
	ev user_annotation "ProfilerStep#$1" 1 "$2" 1000
	ev cuda_runtime cudaLaunchKernel 1 $(($2 + 100)) 5 "\"correlation\":$3"
	ev kernel "$4" "${7:-7}" "$5" "$6" \
		"\"device\":0,\"stream\":${7:-7},\"correlation\":$3"
}
ev user_annotation 'ProfilerStep#1' 1 1000 1000 | trace >bare.json
work 1 1000 1 k 1120 200 | trace >full.json
for o in '--step 1' '--by step --step 1' '--by step,dev --step 1' '--steps --step 1'; do
	reports 5 no-gpu-events "tl-idle $o bare.json"
	is "steps without GPU events beside others: $o" \
		"$(rows "tl-idle $o -c src,time_ns bare.json full.json" | tr . '\n' |
			awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }')" \
		'1 800000'
done
# two processes, the second 0.6 ms behind
{
	for n in 0 1 2; do
		work $n $((1000 + 1000 * n)) $n k $((1120 + 1000 * n)) 200
		work $n $((1600 + 1000 * n)) $((9 + n)) k $((1720 + 1000 * n)) 200 8 |
			sed 's/"pid":1,"tid":1,/"pid":2,"tid":1,/'
	done
} | trace >processes.json
for o in '1@2 1 1 1' '1 1 2 2' '0-1 2 4 2'; do
	is "steps of two processes: ${o%% *}" "$(rows \
		"tl-idle --step ${o%% *} --table idle_window -c steps,steps_all,step_processes processes.json")" \
		"${o#* }."
	is 'time belongs to those' "$(rows "tl-idle --by step --step ${o%% *} -c step processes.json" |
		tr . '\n' | sort | tr -d '\n')" "$(echo "${o%% *}" | sed 's/@.*//; s/-//')"
done
# the GPU sets the pace; the work of step 3 ends before that of step 2
{
	for n in 0 1 2 4 5; do
		work $n $((1000 + 1000 * n)) $n k $((9000 + 9000 * n)) 9000
	done
	work 3 4000 3 k 4120 30 8
} | trace >early.json
is 'a step whose work ends before that of the one before' \
	"$(rows 'tl-idle --step 3 --table idle_window -c window_ns,gpu_ns early.json')" \
	"$(rows 'tl-timeline --step 3 -c type,time_ns early.json' | tr . '\n' |
		awk '{ n[$1] = $2 } END { print n["total_time"], n["busy_time"] "." }')"
{
	work 1 1000 1 k 1120 0
	work 2 2000 2 k 2120 0
} | trace >instants.json
is 'a window of steps alone, if no GPU event lasts' \
	"$(rows 'tl-idle --table idle_window --steps -c window_ts_ns,window_ns instants.json')" \
	'1000000 2000000.'
{
	for n in 0 1 2; do
		work $n $((1000 + 1000 * n)) $n ncclDevKernel_AllReduce \
			$((1120 + 1000 * n)) $((n == 1 ? 700 : 200))
	done
} | trace >apart.json
is 'the longest collective of the steps' \
	"$(rows 'tl-idle --step 0,2 --table idle_window -c communication_ns,comm_uid apart.json')" \
	'400000 2.'
# both threads wait for one kernel
{
	for n in 0 1 2 3 4 5 6 7 8 9 10 11; do
		work $n $((1000 + 1000 * n)) $n k $((1120 + 1000 * n)) $((n == 2 ? 600 : 20))
		ev cuda_runtime cudaStreamSynchronize 1 $((1110 + 1000 * n)) $((n == 2 ? 640 : 40))
	done
	ev cuda_runtime cudaEventSynchronize 2 3105 640
} | trace >both.json
is 'calls that wait for the GPU wait for no lock' \
	"$(rows 'tl-idle --steps -c lock_call both.json' | tr -d '. ')" ''
done_testing
