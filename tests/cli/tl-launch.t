#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-launch: planted launches, queues, copies and runs with figures worked out by
# hand, options, bad input. tests/ref/launch.t has the real traces.
. tests/cli/lib.sh

call() { ev cuda_runtime "$@"; }
kernel() { # kernel NAME STREAM TS DUR CORRELATION
	ev kernel "$1" "$2" "$3" "$4" "\"device\":0,\"stream\":$2,\"correlation\":$5"
}
copy() { # copy NAME TS DUR BYTES: without a launch
	ev gpu_memcpy "$1" 7 "$2" "$3" "\"device\":0,\"stream\":7,\"correlation\":99,\"bytes\":$4"
}

# ---- launches ----

# A = 5, 10, 60, 10; Q = 5, 0, 140, 150; K = 2, 100, 50, 30 (two kernels, one union)
{
	ev cpu_op outer 1 0 100
	ev cpu_op inner 1 10 50
	call cudaLaunchKernel 1 20 5 '"correlation":1'
	kernel a 7 30 2 1
	call cudaLaunchKernel 1 40 10 '"correlation":2'
	kernel b 7 45 100 2
	call cuLaunchKernel 1 200 60 '"correlation":3'
	kernel c 7 400 50 3
	ev cpu_op replay 2 280 100
	call cudaGraphLaunch 2 300 10 '"correlation":4'
	kernel d 7 460 20 4
	kernel e 8 470 20 4
	kernel old 7 500 10 98
} | trace >basic.json
is 'launches by API' "$(rows 'tl-launch -c api,count,gpu_events,total_ns_sum,api_ns_sum,queue_ns_sum,kernel_ns_sum basic.json')" \
	'cuLaunchKernel 1 1 250000 60000 140000 50000.cudaLaunchKernel 2 2 122000 15000 5000 102000.cudaGraphLaunch 1 2 190000 10000 150000 30000.'
is 'medians and percentiles' "$(rows 'tl-launch -c api,api_ns_median,api_ns_p95,api_ns_p99,queue_ns_median basic.json')" \
	'cuLaunchKernel 60000.0 60000.0 60000.0 140000.0.cudaLaunchKernel 7500.0 9750.0 9950.0 2500.0.cudaGraphLaunch 10000.0 10000.0 10000.0 150000.0.'
is 'classes' "$(rows 'tl-launch -c api,api_longer_count,short_kernel_count,api_outlier_count,delay_outlier_count basic.json')" \
	'cuLaunchKernel 1 0 1 1.cudaLaunchKernel 1 1 0 0.cudaGraphLaunch 0 0 0 1.'
is 'and their bounds' "$(rows 'tl-launch --api-outlier 4us --delay-outlier 140us --by dev -c short_kernel_count,api_outlier_count,delay_outlier_count basic.json')" \
	'0 4 1.'
is 'by GPU stream and kernel' "$(rows 'tl-launch --by gpu_stream,kernel -c gpu_stream,kernel,count basic.json')" \
	'7 c 1.7 b 1.7 d 1.7 a 1.'
is 'each launch, the longest call first' "$(rows 'tl-launch --table launches -c uid,api_ns,queue_ns,kernel_ns,kernel_uid,op,op_delay_ns basic.json')" \
	'6 60000 140000 50000 7 .4 10000 0 100000 5 inner .9 10000 150000 30000 10 replay 20000.2 5000 5000 2000 3 inner 10000.'
is 'by the innermost op, with the delays of its first launch' \
	"$(rows 'tl-launch --table launches_by_op -c op,op_count,count,op_delay_ns_sum,start_delay_ns_sum basic.json')" \
	'replay 1 1 20000 160000.inner 1 2 10000 10000. 0 1 .'
is 'GPU events without a launch are counted' "$(tl-launch --format md basic.json | head -n 1)" \
	'1 of 6 GPU events has no launch in the trace and no row'
is 'a selection' "$(rows "tl-launch --name d -c api,gpu_events,kernel_ns_sum basic.json")" \
	'cudaGraphLaunch 1 20000.'

# ---- queues ----

is 'lengths over points and time' \
	"$(rows 'tl-launch --full 2 --table queue_length -c gpu_stream,points,length_mean,length_max,span_ns,full_ns basic.json')" \
	'7 8 0.75 2 440000 100000.8 2 0.5 1 170000 0.'
is 'over time' \
	"$(rows 'tl-launch --table queue_length -c length_time_mean,length_time_median,length_time_p95,length_time_p99,full_percent basic.json')" \
	'0.8522727272727273 1 2 2 0.0.1.0 1 1 1 0.0.'
is 'the series' "$(rows 'tl-launch --table queue_length_series --gpu-stream 7 -c ts_ns,length basic.json')" \
	'20000 1.30000 0.40000 1.45000 0.200000 1.300000 2.400000 1.460000 0.'
{
	call cudaLaunchKernel 1 10 5 '"correlation":1'
	call cudaLaunchKernel 1 30 5 '"correlation":2'
	kernel a 7 30 5 1
	kernel b 7 25 3 2
} | trace >edge.json
is 'a launch comes before a start at its time; no start before its launch' \
	"$(rows 'tl-launch --table queue_length_series -c ts_ns,length edge.json')" \
	'10000 1.30000 2.30000 1.30000 0.'

# ---- copies ----

{
	copy 'Memcpy HtoD (Pageable -> Device)' 0 4 4096
	copy 'Memcpy HtoD (Pageable -> Device)' 2 4 4096
	copy 'Memcpy HtoD (Pageable -> Device)' 9 0 100
	copy 'Memcpy DtoH (Device -> Pinned)' 20 2 100
	ev gpu_memset 'Memset (Device)' 7 30 1 '"device":0,"stream":7'
} | trace >copies.json
is 'copies by kind and size' \
	"$(tl-launch --table copies copies.json | sed 1d | cut -f 2- | tr '\t' ,)" \
	'Memcpy HtoD (Pageable -> Device),4-64 KiB,true,2,8192,8000,6000,1.3653333333333333,0
Memcpy DtoH (Device -> Pinned),< 4 KiB,false,1,100,2000,2000,0.05,0
Memset (Device),,,1,,1000,1000,,0
Memcpy HtoD (Pageable -> Device),< 4 KiB,true,1,100,0,0,,1'
is 'bandwidth over time' \
	"$(rows "tl-launch --table copy_bandwidth_series --name '*HtoD*' -c ts_ns,gb_per_s copies.json")" \
	'0 1.024.2000 2.048.4000 1.024.6000 0.0.'

# ---- launch-bound ----

# starved LATE: a launch every 100 us from 50 us, call 5 us, kernel 10 us from
# 60 us; a pause of LATE us after the 13th.
starved() {
	i=0
	while [ $i -lt 25 ]; do
		at=$((100 * i + (i > 12 ? ${1:-0} : 0)))
		call cudaLaunchKernel 1 $((at + 50)) 5 "\"correlation\":$((i + 1))"
		kernel short 7 $((at + 60)) 10 $((i + 1))
		i=$((i + 1))
	done
}
runs() {
	rows "tl-launch --table graph_estimate -c what,launches,gpu_events,launch_interval_ns,launch_work_ns,wall_ns,busy_ns,gaps_ns,start_ns,sync_ns,graph_ns,forbidden_by $1"
}
starved | trace >run.json
is 'a run, but for the first launch: no gap before it' "$(runs run.json)" \
	'run 24 24 100000 10000 2320000 240000 23000 10000 0 2047000 .'
is 'the cost' "$(rows 'tl-launch --table launch_cost run.json')" \
	'25 25 24 100000 10000 1000 assumed 10000 assumed.'
{
	starved
	ev cpu_op aten::item 1 565 40
	call cudaStreamSynchronize 1 568 17
} | trace >sync.json
is 'a graph cannot hold what waits; while a kernel runs that is busy time' "$(runs sync.json)" \
	'run 24 24 100000 10000 2320000 240000 23000 10000 15000 2032000 ["aten::item"].'
is 'host time by layer' \
	"$(rows 'tl-launch --table launch_layers -c over,layer,time_ns,per_launch_ns sync.json')" \
	'all op 23000 920.0.all between_ops 2240000 89600.0.all launch_call 125000 5000.0.all sync 17000 680.0.runs op 23000 958.3333333333334.runs between_ops 2145000 89375.0.runs launch_call 120000 5000.0.runs sync 17000 708.3333333333334.'
# A thread that rests while another one launches adds no time: of 10 + 10
# launches in 2,000 us, the second thread has the last 1,000.
{
	for i in 0 1 2 3 4 5 6 7 8 9; do
		for tid in 1 2; do
			at=$((1000 * (tid - 1) + 100 * i))
			call cudaLaunchKernel $tid $at 10 "\"correlation\":$((10 * tid + i))"
			kernel short 7 $((at + 20)) 10 $((10 * tid + i))
		done
	done
	ev cpu_op aten::mm 1 915 60 # when the second one has not begun
	call cudaLaunchKernel 1 1990 10 '"correlation":90'
	kernel short 7 2010 10 90
} | trace >two.json
is 'host time of two threads counts once' \
	"$(rows 'tl-launch --table launch_layers -c over,layer,time_ns two.json')" \
	'all op 60000.all between_ops 1730000.all launch_call 210000.'
starved 900 | trace >long.json
is 'ten intervals between late launches are still a run' "$(runs long.json | cut -d ' ' -f 1,2)" 'run 24'
starved 901 | trace >pause.json
is 'more are none: both halves are short' "$(runs pause.json)" ''
{
	starved
	call cudaLaunchKernel 1 1030 5 '"correlation":30'
	kernel long 7 1070 5 30
} | trace >queued.json
is 'a launch in time may lie between' "$(runs queued.json | cut -d ' ' -f 1,2)" 'run 25'
{
	starved
	ev user_annotation 'ProfilerStep#1' 1 0 1000
	ev user_annotation 'ProfilerStep#2' 1 1000 1500
} | trace >steps.json
is 'steps have estimates, too, without what comes before their launches and after their work' \
	"$(rows 'tl-launch --table graph_estimate -c what,step,launches,wall_ns,graph_ns steps.json')" \
	'run 25 2420000 2136000.step 2 15 1500000 1246000.step 1 10 1000000 801000.'
# Each step of 1 ms launches 400 us of work at its end, which runs in the next
# one: the first has no work within it, nothing waits.
for step in 0 1; do
	ev user_annotation "ProfilerStep#$step" 1 $((1000 * step)) 1000
	ev cpu_op aten::work 1 $((1000 * step + 1)) 940
	for no in 0 1 2 3; do
		call cudaLaunchKernel 1 $((1000 * step + 950 + 10 * no)) 5 "\"correlation\":$((4 * step + no + 1))"
		kernel k 7 $((1000 * step + 1000 + 100 * no)) 100 $((4 * step + no + 1))
	done
done | trace >behind.json
is 'work behind a step is busy time, though its window is idle' \
	"$(rows 'tl-launch --table graph_estimate --sort ts_ns -c step,wall_ns,busy_ns,sync_ns,host_ns,other_ns behind.json')" \
	'0 1000000 400000 0 1000000 -400000.1 1000000 400000 0 600000 0.'
{
	call cudaGraphLaunch 1 0 20 '"correlation":1'
	kernel a 7 30 10 1
	kernel b 7 43 10 1
	kernel c 7 58 10 1
} | trace >graph.json
is 'terms of the estimate that the trace has' \
	"$(rows 'tl-launch --table launch_cost -c graph_gap_ns,graph_gap_from,graph_launch_ns,graph_launch_from graph.json')" \
	'5000 graph_gap 30000 graph_launch.'
{
	starved 3000
	call hipMemcpy 1 5440 60 '"correlation":90'
	copy 'Memcpy HtoD (Pageable -> Device)' 5445 10 4096 | sed 's/"correlation":99/"correlation":90/'
	copy 'Memcpy HtoD (Pageable -> Device)' 5475 10 4096 | sed 's/"correlation":99/"correlation":90/'
} | trace >pieces.json
is 'a copy in pieces is no graph' \
	"$(rows 'tl-launch --table launch_cost -c gpu_events,graph_gap_from,graph_launch_from pieces.json')" \
	'27 assumed assumed.'
# A step of 6,000 us with 25 kernels of 10 us; 3,080 us without any event after
# the 13th: their reason is unknown, no graph saves them. 25 - 1 gaps and a
# launch: 24 + 10 us.
{
	starved 3000
	ev user_annotation 'ProfilerStep#1' 2 0 6000
	ev user_annotation 'ProfilerStep#2' 2 6000 10
} | trace >unexplained.json
is 'idle time that nothing explains stays' \
	"$(rows 'tl-launch --table graph_estimate -c what,wall_ns,busy_ns,missing_ns,outside_ns,host_ns,other_ns,graph_ns unexplained.json')" \
	'step 6000000 250000 3080000 580000 2670000 0 2056000.'

# ---- trees ----

# In a tree with frames the op of the first frame is not above the call in the second.
{
	ev python_function 'a.py(1): a' 1 0 10
	ev python_function 'a.py(2): b' 1 1 8
	ev cpu_op aten::empty 1 2 5
	call cudaLaunchKernel 1 3 2 '"correlation":9'
	kernel k 7 20 1 9
	ev python_function 'a.py(3): c' 1 20 30
	ev python_function 'a.py(4): d' 1 21 20
	ev python_function 'a.py(5): e' 1 22 15
	ev python_function 'a.py(6): f' 1 23 12
	call cudaLaunchKernel 1 25 5 '"correlation":10'
	kernel k 7 40 1 10
} | trace | tl-tree -o frames.tl
is 'frames that are not read' "$(rows 'tl-launch --table launches --sort ts_ns -c op,api_ns frames.tl')" \
	'aten::empty 2000. 5000.'
if command -v tl-graft >/dev/null; then # it needs Lua
	tl-graft --capture "$ROOT/tests/data/capture.json.gz" -o grafted.tl \
		"$ROOT/tests/data/replay.json.gz" 2>/dev/null
	for table in launches launches_by_op queue_length launch_cost launch_layers graph_estimate; do
		is "a captured graph is one launch: $table" "$(tl-launch --table $table grafted.tl)" \
			"$(tl-launch --table $table "$ROOT/tests/data/replay.json.gz")"
	done
fi
is 'two inputs' "$(rows 'tl-launch -c src,api,count graph.json run.json')" \
	'0 cudaGraphLaunch 1.1 cudaLaunchKernel 25.'

# ---- ranges ----

{
	sed '1d;$d;s/,$//' basic.json
	ev user_annotation step 1 0 250
	ev user_annotation inner 1 15 10
	ev user_annotation inner 1 39 10
	ev user_annotation cross 1 30 270
	ev user_annotation nothing 1 261 10
	ev user_annotation graph 2 290 100
} | trace >range.json
is 'each range has the work of the calls that start in it' \
	"$(rows 'tl-launch --table launches_by_range -c range,count,gpu_events,range_ns_sum,proj_ns_sum,proj_ns_min,proj_ns_max range.json')" \
	'step 1 3 250000 420000 420000 420000.cross 1 2 270000 405000 405000 405000.inner 2 2 20000 102000 2000 100000.graph 1 2 100000 30000 30000 30000.'
is 'of a selection its own' \
	"$(rows 'tl-launch --table launches_by_range --name a -c range,count,gpu_events,proj_ns_sum range.json')" \
	'step 1 1 2000.inner 1 1 2000.'
{
	for at in 100 200 300 500; do
		call cudaLaunchKernel 1 $at 5 "\"correlation\":$at"
		kernel "$([ $at = 200 ] && echo j || echo k)" 7 $((at + 20)) $((at / 10)) $at
	done
	ev user_annotation r 1 90 250
	ev user_annotation r 1 490 50
	ev user_annotation within 1 190 20
	ev gpu_memset set 7 600 10 '"device":0,"stream":7,"correlation":501'
	call cudaMemsetAsync 1 510 5 '"correlation":501'
} | trace >inside.json
is 'kernels by range: ranges, kernels, their ns; no copies' \
	"$(rows 'tl-launch --table kernels_by_range -c range,kernel,range_count,count,kernel_ns_sum,kernel_ns_min,kernel_ns_max,kernel_ns_median,kernel_ns_std inside.json')" \
	'r k 2 3 90000 10000 50000 30000.0 20000.0.r j 1 1 20000 20000 20000 20000.0 .within j 1 1 20000 20000 20000 20000.0 .'

# ---- options, bad input ----

tl-launch -d out "$SAMPLE"
is 'files of a folder' "$(cd out && echo *)" \
	'api_kernel_summary.csv api_summary.csv copies.csv graph_estimate.csv launch_cost.csv launch_layers.csv launches.csv launches_by_api.csv launches_by_op.csv memory_copy_by_copy_bytes.csv queue_length.csv'
refuses 2 "'call' is none of api" 'tl-launch --by call run.json'
refuses 2 'names op twice' 'tl-launch --by op,op run.json'
refuses 2 'full' 'tl-launch --full 0 run.json'
ev cpu_op x 1 0 5 | trace >host.json
reports 5 no-gpu-events 'tl-launch host.json'
reports 5 no-match 'tl-launch --name nosuch run.json'
reports 5 not-launched 'tl-launch copies.json'
reports 5 not-launched 'tl-launch --table graph_estimate copies.json'
reports 5 no-match 'tl-launch --table copies --name nosuch copies.json'
tl-decode basic.json | tl-cat | sed 's/"ts":20000,/"ts":-9000000000000000000,/
	s/"ts":400000,/"ts":9000000000000000000,/' >far.ndjson
refuses 1 'span more than 292 years' 'tl-launch far.ndjson'
refuses 1 'span more than 292 years' 'tl-launch --table graph_estimate far.ndjson'
python3 - >many.json <<'EOP'
import json
x = lambda cat, name, tid, ts, dur, **args: {
    "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
events = []
for i in range(20000):
    events += [x("cuda_runtime", "cudaLaunchKernel", i, 10 * i, 5, correlation=i + 1),
               x("kernel", "k%d" % i, "s%d" % i, 300000 + 20 * i, 10, device=0, stream=i,
                 correlation=i + 1)]
    events.append(x("user_annotation", "ProfilerStep#%d" % i, 1, 10 * i, 10))
print(json.dumps({"traceEvents": events}))
EOP
is 'as many threads, queues and steps as may be' \
	"$(tl-launch -d many many.json && wc -l <many/queue_length.csv)" 20001

page_examples tl-launch.1
done_testing
