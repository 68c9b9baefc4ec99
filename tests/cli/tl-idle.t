#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-idle: each rule of a gap's cause with a trace made for it, options, files
# of causes, bad input. tests/ref/idle.t has the real traces.
. tests/cli/lib.sh

# gap END CALL [STREAM]: a kernel ends at 100 us; the next one begins at END,
# launched by a call of 5 us from CALL. Host events come on stdin.
gap() {
	{
		cat
		ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":1'
		ev kernel first 7 10 90 '"device":0,"stream":7,"correlation":1'
		ev cuda_runtime cudaLaunchKernel 1 "$2" 5 '"correlation":2'
		ev kernel second "${3:-7}" "$1" 10 \
			"\"device\":0,\"stream\":${3:-7},\"correlation\":2"
	} | trace >gap.json
}
causes() { rows 'tl-idle -c cause,time_ns gap.json'; }
none() { :; }
frame() { ev python_function "$@"; }

# ---- late: what the thread did ----

frame 'model.py(3): forward' 1 50 400 | gap 300 250
is 'a frame; then the call, then latency' "$(causes)" \
	'python 150000.launch_latency 45000.launch_call 5000.'
ev cpu_op aten::add 1 120 100 | gap 300 250
is 'an op, and nothing around it' "$(causes)" \
	'op 100000.between_ops 50000.launch_latency 45000.launch_call 5000.'
# the second thread launches the kernel that ends the gap; nothing is open on it
gap_thread() {
	rows 'tl-idle --by cause,thread -c cause,thread,time_ns gap.json' | tr . '\n' | grep "^$1"
}
{
	meta thread_name 1 1 name main
	meta thread_name 1 2 name backward
	meta thread_name 1 7 name 'stream 7'
} >names
gap 300 250 <names
is 'no event is open: the thread that launches next' "$(gap_thread between_ops)" \
	'between_ops main 150000'
is 'in the list of gaps, too' "$(rows 'tl-idle --table idle_gaps -c cause,thread gap.json')" \
	'between_ops main.'
{
	cat names
	ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":1'
	ev kernel first 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaLaunchKernel 2 250 5 '"correlation":2'
	ev kernel second 7 300 10 '"device":0,"stream":7,"correlation":2'
} | trace >gap.json
is 'not the one that launched before' "$(gap_thread between_ops)" 'between_ops backward 150000'
{
	frame 'model.py(3): forward' 1 110 50
	ev cpu_op aten::add 1 125 20
	frame 'model.py(9): loss' 1 170 25
} | gap 260 250
is 'the call that took longest, though an op came between' \
	"$(rows 'tl-idle -c cause,calls,call_ns_max,longest_in gap.json' | tr . '\n' | grep python)" \
	'python 2 30000 model'
is 'pieces that differ in no column are one row, by however many' \
	"$(rows 'tl-idle --by class,cause,call,op,module,thread,step,phase,opened_by,dev,gpu_stream -c count,call gap.json' | tr . '\n' | grep model | sort -r)" \
	'2 model
1 model'
# activity of other threads while the launching one was at rest
crowd() {
	for tid in $(seq 100 "$1"); do
		frame 'threading.py(320): wait' "$tid" 0 600
	done
	ev cpu_op aten::copy_ 90 150 60
	ev cpu_op aten::cat 175 180 40
}
crowd 100 | gap 300 250
alone=$(causes)
like 'others work' "$alone" 'op 70000'
crowd 180 | gap 300 250
is 'the same among many at rest' "$(causes)" "$alone"
ev cuda_runtime cudaFree 1 90 150 | gap 260 250
is 'an allocation' "$(causes)" \
	'alloc 140000.between_ops 10000.launch_call 5000.launch_latency 5000.'
is 'which opened the gap' "$(rows 'tl-idle --by opened_by -c opened_by,time_ns gap.json')" \
	'cudaFree 160000.'
is 'host work behind it, in the row of the call' \
	"$(rows 'tl-idle -c cause,time_ns,behind_ns gap.json' | tr . '\n' | head -n 2)" \
	'alloc 140000 20000
between_ops 10000 0'
ev cuda_runtime cudaFree 1 90 150 | gap 1101 1091
is 'a long gap is not all due to the call that opened it' \
	"$(rows 'tl-idle --by opened_by -c opened_by,time_ns,behind_ns gap.json')" ' 1001000 0.'
ev cuda_runtime cudaDeviceSynchronize 1 90 30 | gap 260 250
is 'a short synchronisation' "$(causes)" \
	'between_ops 130000.sync 20000.launch_call 5000.launch_latency 5000.'
ev cuda_runtime cudaDeviceSynchronize 1 90 155 | gap 260 250
is 'a long one waits for what is not in the trace' "$(causes)" \
	'gpu_missing 145000.launch_call 5000.launch_latency 5000.between_ops 5000.'
{
	frame 'torch/utils/data/dataloader.py(1): __next__' 1 90 155
	frame 'mine.py(2): read' 1 95 100
} | gap 260 250
is 'below a data loader all is data' "$(causes)" \
	'data 145000.launch_call 5000.launch_latency 5000.between_ops 5000.'
{
	ev user_annotation 'ProfilerStep#1' 1 0 5000
	ev user_annotation 'ProfilerStep#2' 1 5000 50
} | gap 2300 2290
is 'nothing for a millisecond' "$(causes)" \
	'none 2190000.launch_call 5000.launch_latency 5000.'
ev overhead 'Buffer Flush' 1 120 60 | gap 260 250
is "the profiler's own cost" "$(causes)" \
	'between_ops 90000.profiler 60000.launch_call 5000.launch_latency 5000.'
ev user_annotation 'data_loading' 1 90 155 | gap 260 250
is 'an annotation that says so' "$(causes)" \
	'data 145000.launch_call 5000.launch_latency 5000.between_ops 5000.'

# ---- what a cause is due to ----

due() { rows "tl-idle --table idle_gaps -c cause,cause_ns,call gap.json"; }
{
	frame 'a.py(1): a' 1 90 155
	frame 'b.py(1): b' 1 130 40
} | gap 260 250
is 'what took most of the gap, in all its pieces' "$(due)" 'python 145000 a.py(1): a.'
{
	frame 'torch/utils/data/dataloader.py(1): __next__' 1 90 155
	ev cpu_op aten::stack 1 95 60
	frame 'mine.py(2): read' 1 160 70
} | gap 260 250
is 'of data the outermost event' "$(due)" \
	'data 145000 torch/utils/data/dataloader.py(1): __next__.'
is 'is one row, with all that is below' \
	"$(tl-idle --by cause,call -c cause,time_ns,count,calls --no-header gap.json |
		grep '^data' | tr '\t' ' ')" \
	'data 145000 4 1'
{
	frame 'mine.py(2): train' 1 90 155
	ev user_annotation 'Optimizer.step#SGD.step' 1 91 150
	ev cpu_op aten::add_ 1 95 60
	ev cpu_op aten::mul_ 1 160 70
} | gap 260 250
is 'of the optimizer, too' "$(due)" 'optimizer 141000 Optimizer.step#SGD.step.'

# ---- another thread ----

{
	frame '<built-in method acquire of _thread.lock object at 0x1>' 1 90 160
	frame 'worker.py(1): collate' 2 110 100
} | gap 260 250
is 'a thread that waits is at what the other does' "$(causes)" \
	'python 100000.wait 50000.launch_call 5000.launch_latency 5000.'
{
	frame '<built-in method run_backward of torch._C._EngineBase object at 0x1>' 1 90 160
	ev cpu_op MmBackward0 2 110 100
} | gap 260 250
is 'the backward pass on its own thread' "$(causes)" \
	'autograd 150000.launch_call 5000.launch_latency 5000.'
ev cuda_runtime cudaStreamSynchronize 2 110 100 | gap 260 250
is 'a watchdog that only waits is no cause' "$(causes)" \
	'between_ops 150000.launch_call 5000.launch_latency 5000.'

# ---- launched in time ----

none | gap 129 60
is 'soon after: the queue' "$(causes)" 'queue_gap 29000.'
none | gap 150 60 8
is 'another GPU stream' "$(causes)" 'dependency 50000.'
is 'which is inferred' "$(rows 'tl-idle --table idle_gaps -c is_inferred gap.json')" 'true.'
awaited() { rows 'tl-idle --table idle_gaps -c cause,awaited_name,awaited_uid,is_inferred gap.json'; }
is 'of the one before' "$(awaited)" 'dependency first 1 true.'
# other_work US: on a third GPU stream; the second launch waits for it
other_work() {
	ev cuda_runtime cudaLaunchKernel 1 6 4 '"correlation":3'
	ev kernel source 9 12 "$1" '"device":0,"stream":9,"correlation":3'
	ev cuda_runtime cudaEventRecord 1 20 2 '"correlation":4'
	ev cuda_runtime cudaStreamWaitEvent 1 55 2 '"correlation":5'
	ev cuda_sync 'Stream Wait Event' 8 149 1 '"device":0,"stream":8,"correlation":5,"wait_on_stream":9,"wait_on_cuda_event_record_corr_id":4'
}
other_work 83 | gap 150 60 8
is 'a row says for what it waited' "$(awaited)" 'dependency source 1 false.'
is 'and nothing is inferred' "$(rows 'tl-idle -c cause,time_ns,inferred_ns gap.json')" \
	'dependency 50000 0.'
other_work 30 | gap 150 60 8
is 'not for what had ended long before' "$(awaited)" 'dependency first 6 true.'
none | gap 150 60
is 'no dependency, none that is awaited' "$(awaited)" 'late_start false.'
none | gap 150 60
is 'without a reason' "$(causes)" 'late_start 50000.'
ev cuda_runtime cudaDeviceSynchronize 1 70 300 | gap 350 60
is 'while the host waits: not in the trace' "$(causes)" 'gpu_missing 250000.'
none | gap 125 97
is 'a call that had just ended' "$(causes)" 'launch_latency 23000.launch_call 2000.'
{
	ev cuda_runtime cudaGraphLaunch 1 0 5 '"correlation":1'
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev kernel b 7 130 10 '"device":0,"stream":7,"correlation":1'
} | trace >gap.json
is 'within a graph' "$(causes)" 'graph_gap 30000.'
{
	ev cuda_runtime hipMemcpy 1 0 150 '"correlation":1'
	ev gpu_memcpy a 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev gpu_memcpy b 7 130 10 '"device":0,"stream":7,"correlation":1'
} | trace >gap.json
is 'a copy in pieces is no graph' "$(causes)" 'copy_block 30000.'
{
	ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":10'
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":3'
	ev kernel b 7 130 10 '"device":0,"stream":7,"correlation":4'
} | trace >gap.json
is 'launched before the recording' "$(causes)" 'queued_before 30000.'
is 'what nothing tells is empty' "$(tl-idle --steps --table idle_window \
	-c launched,launch_interval_ns,launch_work_ns,graph_ns gap.json | tail -n 1)" \
	"$(printf '0\t\t\t')"
{
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":3'
	ev kernel b 7 130 10 '"device":0,"stream":7,"correlation":4'
} | trace >gap.json
is 'no host at all' "$(causes)" 'no_host 30000.'
is 'nor a thread' "$(tl-idle --by cause,thread -c cause,thread --no-header gap.json | tr '\t' '|')" 'no_host|'

# ---- long for its name ----

{
	i=0
	while [ $i -lt 12 ]; do
		ev cpu_op aten::copy_ 1 $((10000 + i * 10)) 4
		i=$((i + 1))
	done
	ev cpu_op aten::copy_ 1 100 2000
} | gap 2300 2290
cp gap.json stall.json
is 'a stall' "$(causes)" \
	'stall 2000000.between_ops 190000.launch_call 5000.launch_latency 5000.'
{
	ev cpu_op aten::mm 1 50 12000
	ev cpu_op aten::mm 1 20000 10
} | gap 12100 12040
is 'the first call of an op' "$(causes)" \
	'init 11940000.launch_latency 55000.launch_call 5000.'

{
	i=0
	while [ $i -lt 12 ]; do
		ev cuda_runtime cudaEventRecord 1 $((10000 + i * 10)) 4
		i=$((i + 1))
	done
	ev cuda_runtime cudaEventRecord 1 110 100
	ev cuda_runtime cudaMalloc 2 150 60
} | gap 260 250
is 'two threads in the runtime' \
	"$(rows 'tl-idle --table idle_gaps -c call,is_lock gap.json')" 'cudaEventRecord true.'
sed 's/"ts":150,"dur":60/"ts":170,"dur":40/' gap.json >short.json
is 'for less than half of the call' \
	"$(rows 'tl-idle --table idle_gaps -c call,is_lock short.json')" 'cudaEventRecord false.'

sed s/aten::copy_/aten::add_/ stall.json >other.json
is 'a source is judged by its own events' \
	"$(rows 'tl-idle --by cause,call -c src,cause,call,time_ns stall.json other.json' |
		tr . '\n' | grep stall)" '0 stall aten::copy_ 2000000
1 stall aten::add_ 2000000'

# ---- hostile ----

python3 - >many.json <<'EOF'
import json
x = lambda cat, name, tid, ts, dur, **args: {
    "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
events = [x("cpu_op", "op", 1000 + i, 5, 10) for i in range(60000)]
for i in range(3000):
    events += [x("cuda_runtime", "cudaLaunchKernel", 1, 100 * i + 60, 5, correlation=i + 1),
               x("kernel", "k", "s%d" % i, 100 * i + 90, 10, device=0, stream=i, correlation=i + 1)]
print(json.dumps({"traceEvents": events}))
EOF
is 'as many threads and GPU streams as may be' \
	"$(rows 'tl-idle -c cause,time_ns many.json')" \
	'between_ops 179940000.launch_latency 74975000.launch_call 14995000.'
is 'none of these has an interval' \
	"$(rows 'tl-idle --table idle_by_stream many.json')" ''
none | gap 129 60
tl-decode gap.json | tl-cat | sed 's/"ts":0,/"ts":-9000000000000000000,/
	s/"ts":129000,/"ts":9000000000000000000,/' >far.ndjson
refuses 1 'span more than 292 years' 'tl-idle far.ndjson'
refuses 1 'span more than 292 years' 'tl-steps far.ndjson'

# ---- files of causes ----

ev python_function 'corp/prefetch.py(7): fetch' 1 90 155 | gap 260 250
cat >mine.json <<'EOF'
[{"cause": "data", "of": "above", "like": ["*corp/{prefetch,cache}.py*"],
  "examples": ["corp/cache.py(1): get"]}]
EOF
is "a site's own names" "$(rows 'tl-idle --causes mine.json -c cause,time_ns gap.json')" \
	'data 145000.launch_call 5000.launch_latency 5000.between_ops 5000.'
# and in all programs that tell causes
is 'of steps' "$(rows 'tl-steps --causes mine.json -c idle_cause gap.json')" 'data.'
if command -v tl-report >/dev/null; then
	like 'in the verdict' "$(tl-report --causes mine.json gap.json)" '^Data-bound: '
	refuses 1 'bad.json: no list of rules' 'echo "{}" >bad.json; tl-report --causes bad.json gap.json'
	like 'in what to do first' "$(tl-advise --causes mine.json --text gap.json)" 'workers'
fi
ev python_function 'corp/prefetch.py(7): fetch' 1 90 255 | gap 360 350
mv gap.json longer.json
ev python_function 'corp/prefetch.py(7): fetch' 1 90 155 | gap 260 250
like 'of what changed' "$(tl-diff --by kernel --causes mine.json gap.json longer.json 2>&1 >/dev/null)" \
	' 100.0 us more data loading in corp/prefetch.py: fetch'
bad() { # bad TEXT REASON
	printf '%s' "$1" >bad.json
	refuses 1 "bad.json: $2" 'tl-idle --causes bad.json gap.json'
}
bad '{}' 'no list of rules'
bad '[{"cause":"data","of":"above"}]' 'a rule needs'
bad '[{"cause":"rain","of":"above","like":["x"]}]' "no cause is called 'rain'"
bad '[{"cause":"data","of":"below","like":["x"]}]' "no 'of' is called 'below'"
bad '[{"cause":"sync","of":"above","like":["x"]}]' "sync can't be"
bad '[{"cause":"data","of":"above","like":["a{b"]}]' 'a pattern lacks a }'
bad "[{\"cause\":\"data\",\"of\":\"above\",\"like\":[\"$(printf '{a}%.0s' $(seq 65))\"]}]" \
	'a pattern has too many {'
bad '[{"cause":"data","of":"above","like":["a"],"examples":["b"]}]' "the rule of data does not fit 'b'"
bad '[{"cause":"data","like":["a"],"when":1}]' "no member is called 'when'"
bad '[{"cause":"data","of":"op","like":["a"]}' 'malformed'
bad "[{\"cause\":\"data\",\"of\":\"op\",\"like\":[\"$(printf '{a,b}%.0s' $(seq 20))\"]}]" \
	'too many patterns'

# ---- options ----

{
	frame 'nn.Module: Linear_0' 1 100 150
	ev cpu_op aten::linear 1 110 100
	for i in $(seq 600); do frame "f$i" 1 110 100; done
} | gap 300 250
is 'below 600 frames, too' "$(rows 'tl-idle --by module,op -c module,op,time_ns gap.json' | head -c 40)" \
	'nn.Module: Linear_0 aten::linear 100000.'
{
	frame 'net.py(1): nn.Module' 1 0 1000
	frame 'nn.Module: Linear_0' 1 100 150
	ev cpu_op aten::linear 1 110 100
	ev user_annotation 'ProfilerStep#4' 1 0 1000
} | gap 300 250
is '--by op and module' "$(rows 'tl-idle --by module,op -c module,op,time_ns gap.json' | head -c 40)" \
	'nn.Module: Linear_0 aten::linear 100000.'
is 'the stack that took longest' \
	"$(tl-idle --by op -c op,longest_stack gap.json | sed -n 's/^aten::linear	//p')" \
	'net.py(1): nn.Module;ProfilerStep#4;nn.Module: Linear_0;aten::linear'
is 'is there by name only' "$(tl-idle -c +details gap.json | head -n 1 | grep -c stack)" 0
is '--by step: all of its time' "$(rows 'tl-idle --by step -c step,time_ns gap.json')" '4 900000.'
is 'a gap belongs to the work that ends it' \
	"$(rows "tl-idle --step 4 --name '*' -c cause gap.json" | tr . '\n' | wc -l)" 4
# a gap of 80 us over a border
{
	ev user_annotation ProfilerStep#1 1 0 150
	ev user_annotation ProfilerStep#2 1 150 100
	for i in 1 2; do
		ev cuda_runtime cudaLaunchKernel 1 $((i * 80)) 5 "\"correlation\":$i"
		ev kernel k 7 $((i * 90)) 10 "\"device\":0,\"stream\":7,\"correlation\":$i"
	done
} | trace >border.json
is 'by the clock, not by the step that ends the gap' \
	"$(rows 'tl-idle --by step -c step,time_ns border.json')" '1 140000.2 90000.'
is 'as in tl-steps' "$(rows 'tl-idle --by step -c step,time_ns border.json')" \
	"$(rows 'tl-steps -c step,idle_ns border.json')"
is 'and tl-timeline' "$(rows 'tl-idle --by step -c step,time_ns border.json')" \
	"$(tl-timeline --by step -c step,type,time_ns --no-header border.json |
		awk -F '\t' '$2 == "idle_time" && $1 != "" { printf "%s %s.", $1, $3 }')"
is 'with or without --steps' "$(tl-idle --by step border.json)" "$(tl-idle --by step --steps border.json)"
is 'of each device, too' "$(rows 'tl-idle --by step,dev -c step,dev,time_ns border.json')" \
	'1 0 140000.2 0 90000.'
is 'of steps asked for' "$(rows 'tl-idle --by step,dev --step 2 -c step,time_ns border.json')" '2 90000.'
reports 5 no-such-step 'tl-idle --by step,dev --step 9 border.json'
is 'another selection counts the gaps before its events' \
	"$(rows 'tl-idle --by step --kind kernel -c step,time_ns border.json')" '1 50000.2 30000.'
# step 2 has no GPU work: all of it is idle
{
	ev user_annotation ProfilerStep#1 1 0 100
	ev user_annotation ProfilerStep#2 1 100 100
	ev user_annotation ProfilerStep#3 1 200 100
	for i in 1 3; do
		ev cuda_runtime cudaLaunchKernel 1 $((i * 100 - 90)) 5 "\"correlation\":$i"
		ev kernel k 7 $((i * 100 - 50)) 10 "\"device\":0,\"stream\":7,\"correlation\":$i"
	done
} | trace >bare.json
is 'a step without GPU work is idle, and says so' \
	"$(tl-idle --by step -c step,time_ns,percent,count,calls,time_ns_median,call_ns_max,flags \
		--no-header bare.json | cut -f1,2,3,8 | tr '\t\n' '|.')" \
	'2|100000|35.714285714285715|no-gpu-event.1|90000|32.142857142857146|.3|90000|32.142857142857146|.'
sum() { sh -c "$1 --no-header" | awk '{ n += $1 } END { print n }'; }
is 'steps and their causes add up' "$(sum 'tl-steps bare.json -c idle_ns') \
$(sum 'tl-idle --by step,cause -c time_ns bare.json') $(sum 'tl-idle --steps -c time_ns bare.json')" \
	'280000 280000 280000'
is 'its gap is one' "$(rows 'tl-idle --table idle_gaps -c gap_ns bare.json')" '190000.'
is '--min-gap hides rows' "$(rows 'tl-idle --table idle_gaps --min-gap 1ms gap.json')" ''
is '--by dev' "$(rows 'tl-idle --by dev -c dev,time_ns gap.json')" '0 200000.'
is 'advice where rows are of one cause' "$(tl-idle --by op gap.json | head -1 | grep -c advice) $(tl-idle --by op,cause gap.json | head -1 | grep -c advice)" '0 1'
none | gap 310 250
jq -c '.traceEvents += [{ph: "X", cat: "python_function", name: "f", pid: 9,
	tid: 2, ts: 0, dur: 1}]' gap.json >python.json
advice() { # advice FILE
	tl-idle --format ndjson -c cause,advice "$1" | jq -r 'select(.cause == "between_ops").advice'
}
jq -c '.traceEvents += [{ph: "X", cat: "cpu_op", name: "aten::mm", pid: 9,
	tid: 3, ts: 0, dur: 1}]' gap.json >ops.json
is 'time between calls: mark ranges' "$(advice gap.json)" \
	'mark ranges to see what runs there'
is 'time between ops: record Python frames' "$(advice ops.json)" \
	'record Python frames to see what runs between ops'
is 'time between ops, where Python frames are recorded' "$(advice python.json)" \
	'sample the host: no event is recorded there'
refuses 2 "'rain' is none of class" 'tl-idle --by rain gap.json'
refuses 2 'names op twice' 'tl-idle --by op,op gap.json'

{
	ev user_annotation 'ProfilerStep#1' 1 0 500
	ev user_annotation 'ProfilerStep#2' 1 500 500
} | gap 310 250
cp gap.json steps.json
window() { # window COLUMNS [OPTION...]
	rows "tl-idle --table idle_window -c $1 ${2:-} ${3:-steps.json}"
}
is 'the steps reach before and behind the GPU events' \
	"$(window window,window_ns,gpu_ns,host_ns,missing_ns)" \
	'steps 1000000 100000 900000 0.'
is 'how their work was launched' \
	"$(window launched,starved,launch_interval_ns,launch_work_ns,has_python)" \
	'2 1 250000 90000 false.'
is 'the largest gap is behind the last event' \
	"$(window gap_ns,cause,prev_uid,call_uid)" '680000 between_ops 5 1.'
is 'head and tail are in the causes' \
	"$(rows 'tl-idle --steps --by class,cause -c class,cause,time_ns steps.json')" \
	'host between_ops 830000.host launch_latency 60000.host launch_call 10000.'
is 'of one step its wall, with what is before and behind its GPU events' \
	"$(window window,steps,window_ts_ns,window_ns,gpu_ns,host_ns '--step 1')" \
	'steps 1 0 500000 100000 400000.'
is 'its causes are those of its wall' \
	"$(rows 'tl-idle --steps --step 1 --by class -c class,time_ns steps.json')" \
	'host 400000.'
is 'steps and a name: the span of these events' \
	"$(window window,window_ns,gpu_ns '--step 1 --name second')" 'gpu 10000 10000.'
is 'a step is its window without being told' "$(tl-idle --step 1 steps.json)" \
	"$(tl-idle --steps --step 1 steps.json)"
like 'and what one of steps' "$(tl-idle --step 1 --format table steps.json)" \
	'^in the time of the steps asked for$'
like 'by device' "$(tl-idle --by dev --step 1 --format table steps.json)" \
	'^idle time before each GPU event of the steps asked for'
like 'or of events' "$(tl-idle --name '*' --format table steps.json)" \
	'^idle time before each GPU event of the selection'
like 'what the default is of' "$(tl-idle --format table steps.json)" \
	'from the first to the last GPU event; --steps: '
is 'but not where events are chosen' \
	"$(window window,window_ns,gpu_ns '--to 100us')" 'gpu 90000 90000.'
refuses 2 'covers all GPU streams' 'tl-idle --steps --by dev steps.json'
{
	ev user_annotation 'ProfilerStep#1' 1 0 9000
	ev user_annotation 'ProfilerStep#2' 1 9000 100
	ev cuda_runtime cudaLaunchKernel 1 20 5 '"correlation":1'
	ev kernel a 7 5000 90 '"device":0,"stream":7,"correlation":1'
} | trace >steps.json
is 'a head without a cause is left out' \
	"$(window window_ns,head_ns,head_cause,missing_ns,starved)" \
	'4100000 5000000 gpu_missing 3910000 1.'
{
	ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":1'
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaMemcpyAsync 1 60 5 '"correlation":2'
	ev cuda_runtime cudaStreamSynchronize 1 95 150
	ev cuda_runtime cudaLaunchKernel 1 250 5 '"correlation":3'
	ev kernel ncclDevKernel 7 260 40 '"device":0,"stream":7,"correlation":3'
	ev gpu_memcpy 'Memcpy HtoD' 8 290 30 '"device":0,"stream":8,"correlation":2'
} | trace >steps.json
is 'exposed communication and copies, and what opened a gap' \
	"$(window gpu_ns,communication_ns,copy_ns,sync_ns,host_ns,missing_ns,opened_ns,opened_by)" \
	'90000 40000 20000 0 15000 145000 160000 cudaStreamSynchronize.'
{
	ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":1'
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaStreamWaitEvent 1 40 5
	ev cuda_runtime cudaEventDestroy 1 46 2
	ev cuda_runtime cudaLaunchKernel 1 50 5 '"correlation":2'
	ev kernel b 7 900 90 '"device":0,"stream":7,"correlation":2'
	ev cuda_runtime cudaMemcpy 1 60 840
} | trace >steps.json
is 'what waits for work that is missing' \
	"$(window missing_ns,blocked_in,blocked_uid,waits_by,waits_uid)" \
	'800000 cudaMemcpy 6 cudaStreamWaitEvent 2.'
{
	ev user_annotation 'ProfilerStep#1' 1 0 5500
	ev user_annotation 'ProfilerStep#2' 1 5500 500
	ev cuda_runtime cudaStreamWaitEvent 1 10 5
	ev cuda_runtime cudaLaunchKernel 1 20 5 '"correlation":1'
	ev cuda_runtime cudaDeviceSynchronize 1 30 4900
	ev kernel a 7 5000 90 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaLaunchKernel 1 4950 5 '"correlation":2'
	ev cuda_runtime cudaMemcpy 1 4960 940
	ev kernel b 7 5900 90 '"device":0,"stream":7,"correlation":2'
} | trace >steps.json
is 'not what a head that does not count waits for' \
	"$(window head_cause,head_ns,missing_ns,blocked_in,waits_by)" \
	'gpu_missing 5000000 810000 cudaMemcpy .'
{
	ev cuda_runtime cudaGraphLaunch 1 100 10 '"correlation":1'
	ev kernel a 7 200 10 '"device":0,"stream":7,"correlation":1'
	ev kernel b 8 205 10 '"device":0,"stream":8,"correlation":1'
	ev kernel c 7 230 10 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaLaunchKernel 2 150 5 '"correlation":2'
	ev kernel other 9 207 1 '"device":0,"stream":9,"correlation":2'
} | trace >steps.json
is 'the start of a graph, among the work of another launch' \
	"$(window launched,launch_work_ns,graph_ns)" '4 25000 145000.'
none | gap 300 250

# ---- idle time that graphs would leave ----

# two steps of 2 and 3 launches: 3 gaps of 1 us and 2 launches of 10 us
{
	ev user_annotation 'ProfilerStep#1' 1 0 200
	ev user_annotation 'ProfilerStep#2' 1 200 300
	for i in 10 110 210 310 410; do
		ev cuda_runtime cudaLaunchKernel 1 $i 5 "\"correlation\":$i"
		ev kernel a 7 $((i + 40)) 20 "\"device\":0,\"stream\":7,\"correlation\":$i"
	done
} | trace >steps.json
is 'a graph of each step' "$(window steps,launched,graph_ns)" '2 5 23000.'
is 'of the second step' "$(window steps,launched,graph_ns '--step 2')" '1 3 12000.'
# in each step 10 us before the first launch and 30 us after the last work
is 'what is outside of them' "$(window outside_ns).$(window outside_ns '--step 2')" '80000..40000.'
if command -v tl-launch >/dev/null; then
	is 'the terms of the estimates of steps' "$(tl-launch --table graph_estimate \
		-c what,gaps_ns,start_ns --no-header steps.json |
		awk '$1 == "step" { n += $2 + $3 } END { print n }')" 23000
fi

{
	ev cuda_runtime cudaLaunchKernel 1 0 5 '"correlation":1'
	ev cuda_runtime cudaLaunchKernel 1 10 5 '"correlation":2'
	ev cuda_runtime cudaLaunchKernel 1 150 5 '"correlation":3'
	ev cuda_runtime cudaLaunchKernel 1 160 5 '"correlation":4'
	ev kernel a 7 10 90 '"device":0,"stream":7,"correlation":1'
	ev kernel b 7 102 18 '"device":0,"stream":7,"correlation":2'
	ev kernel c 7 160 40 '"device":0,"stream":7,"correlation":3'
	ev kernel d 7 205 5 '"device":0,"stream":7,"correlation":4'
	ev kernel e 8 0 300 '"device":0,"stream":8,"correlation":9'
} | trace >streams.json
is 'the classes of a GPU stream' \
	"$(rows 'tl-idle --table idle_by_stream -c gpu_stream,cause,time_ns streams.json')" \
	'7 host_wait 40000.7 kernel_wait 7000.'
is 'and their bound' \
	"$(rows 'tl-idle --table idle_by_stream --kernel-wait 5us -c cause,time_ns streams.json')" \
	'host_wait 40000.other 5000.kernel_wait 2000.'
is 'from the first selected event of a GPU stream on' \
	"$(rows 'tl-idle --table idle_by_stream --name "[bcd]" -c gpu_stream,cause,time_ns streams.json')" \
	'7 host_wait 40000.7 kernel_wait 5000.'
is 'in between other work fills it' \
	"$(rows 'tl-idle --table idle_by_stream --name "[bd]" -c gpu_stream,cause,time_ns streams.json')" \
	'7 kernel_wait 5000.'
tl-tree streams.json | tl-filter --name c >one.tl
tl-idle --table idle_by_stream --name c streams.json >want 2>err
is 'one event has none, which is an answer' "$? $(wc -l <want)" '0 1'
tl-idle --table idle_by_stream one.tl >out 2>err
is 'the same after tl-filter' "$? $(cat out)" "0 $(cat want)"
reports 5 never-idle 'tl-idle one.tl'
reports 5 never-idle 'tl-idle streams.json'
ev cpu_op x 1 0 5 | trace >host.json
reports 5 no-gpu-events 'tl-idle host.json'
reports 5 no-match 'tl-idle --name nosuch gap.json'
is 'two inputs' "$(rows 'tl-idle -c src,time_ns --by dev gap.json gap.json')" '0 200000.1 200000.'

# gaps of 2 s and of 15 us: in the unit of the first the other is no 0.000
cat >unlike.json <<'END_JSON'
{"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 0, "dur": 10, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 25, "dur": 10, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 2000035, "dur": 10, "args": {"device": 0, "stream": 7}}]}
END_JSON
is 'a small gap beside a large one' \
	"$(tl-idle --table idle_gaps --format table -c gap_ns unlike.json | awk '$1 ~ /^[0-9]/ { print $1 }' | sort)" \
	'0.000015
2.000'

page_examples tl-idle.1
is '--no-python: no frame is a cause, and the sum stays' \
	"$(tl-idle --no-python "$SAMPLE" | awk -F '\t' '
		{ sum += $2; n += $1 == "python" } END { print n, sum }')" \
	"0 $(tl-idle "$SAMPLE" | awk -F '\t' '{ sum += $2 } END { print sum }')"

# all GPU events take 0 ns: nothing is known, and no law is broken
{
	ev kernel k 7 42 0 '"device":0,"stream":7'
	ev user_annotation 'ProfilerStep#1' 1 1 100
} | trace >instant.json
reports 5 never-idle 'tl-idle instant.json'
is 'of instants, in steps' "$(tl-idle --steps --table idle_window -c steps,gpu_ns,host_ns --no-header instant.json)" '1	0	0'
done_testing
