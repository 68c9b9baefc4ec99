#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-critical: each kind of edge with a trace made for it, what-if, slack, windows,
# options, bad input. tests/ref/critical.t compares real traces with an
# independent program.
. tests/cli/lib.sh

gpu() { # gpu CAT NAME STREAM TS DUR CORR
	ev "$1" "$2" "$3" "$4" "$5" \
		"\"device\":0,\"stream\":$3,\"correlation\":$6"
}
launch() { # launch CORR TS KERNEL STREAM START DUR: of 10 us, on thread 1
	ev cuda_runtime cudaLaunchKernel 1 "$2" 10 "\"correlation\":$1"
	gpu kernel "$3" "$4" "$5" "$6" "$1"
}
step() { ev user_annotation "ProfilerStep#$1" 1 "$2" "$3"; }
path() { rows "tl-critical -c bound,kind,time_ns t.json"; }
events() { rows "tl-critical --table critical_events -c kind,name,time_ns,residual_ns t.json"; }
long() { # long OPTION...: the window
	tl-critical -c time_ns "$@" t.json | awk 'NR > 1 { n += $1 } END { print n + 0 }'
}
total() { # total OPTION...: before, upper, lower
	tl-critical -c bound,before_ns,after_ns,after_no_gaps_ns "$@" t.json 2>/dev/null |
		awk '$1 == "total" { print $2, $3, $4 }'
}

# ---- a step that waits for a kernel ----

{
	step 1 0 1000
	ev cpu_op aten::mm 1 100 200
	launch 1 200 gemm 7 215 485
	ev cuda_runtime cudaDeviceSynchronize 1 310 410
} | trace >t.json
is 'the path by bound' "$(path)" \
	'compute kernel 485000.between_ops host 380000.op host 100000.latency block 20000.latency launch 15000.'
is 'the path itself' "$(events)" \
	'host ProfilerStep#1 100000 0.host aten::mm 100000 0.launch cudaLaunchKernel 15000 15000.kernel gemm 485000 0.block cudaDeviceSynchronize 20000 20000.host ProfilerStep#1 280000 0.'
is 'nothing else: as it is, and without residuals' "$(total --what-if 'gemm=1')" \
	'1000000 1000000 965000'
is 'half of a kernel' "$(total --what-if 'gemm=0.5')" '1000000 757500 722500'
is 'no kernel: the host' "$(total --what-if 'gpu:*=0')" '1000000 590000 590000'
is 'the subtree of an op' "$(total --what-if 'aten::mm=0')" '1000000 900000 865000'
is 'and its kernels' "$(total --what-if 'aten::mm=0' --gpu)" '1000000 415000 390000'
is 'no call that waits: the longer of host and GPU' "$(total --what-if 'cudaDevice*=0')" \
	'1000000 700000 685000'
is 'one that takes half of its time waits' "$(total --what-if 'cudaDevice*=0.5')" \
	'1000000 1000000 965000'
is 'the first of two counts' "$(total --what-if 'gemm=0.5' --what-if 'gpu:*=0')" \
	'1000000 757500 722500'
is 'a host event is no GPU event' "$(total --what-if 'host:gemm=0')" '1000000 1000000 965000'
is 'what is longer' "$(total --what-if 'cudaLaunch*=42')" '1000000 1000000 1000000'
is 'beyond the slack' "$(total --what-if 'cudaLaunch*=43')" '1000000 1010000 1010000'
is 'who becomes the limit' "$(rows "tl-critical --what-if 'gpu:*=0' -c bound,after_ns,change t.json")" \
	'total 590000 -41.0 %.between_ops 390000 +2.6 %.op 190000 +90.0 %.launch_call 10000 entered.latency 0 left.compute 0 left.'
gain() { tl-critical --format table --width 200 "$@" t.json 2>/dev/null | head -n 1; }
is 'what is gained, in words' "$(gain --what-if 'gpu:*=0')" \
	'saves 410.0 us of the window (41.0 %). The limit becomes between_ops, 390.0 us of 590.0 us.'
is 'what a longer one costs' "$(gain --what-if 'cudaLaunch*=43')" \
	'costs 10.0 us of the window (1.0 %). The limit becomes launch_call, 430.0 us of 1.010 ms.'
is 'what is off the path gains nothing' "$(gain --what-if 'cudaLaunch*=0.5')" \
	'no gain: nothing of --what-if is on the critical path. The limit stays compute, 485.0 us of 1.000 ms.'
is 'nor does waiting' "$(gain --what-if 'cudaDevice*=0.5')" \
	'no gain: its time on the critical path is waiting, or another path takes as long. The limit stays compute, 485.0 us of 1.000 ms.'
is 'where nothing gains, nothing changes' \
	"$(tl-critical --what-if 'cudaLaunch*=0.5' -c change t.json | sort -u | tr '\n' ' ')" '0.0 % change '
is 'of a name that is not there no gain is spoken of' "$(gain --what-if 'nosuch=0' | cut -c 1-5)" bound
is 'no gaps: the lower bound alone' "$(rows 'tl-critical --no-gaps t.json' | cut -d . -f 1)" \
	'total 1000000 965000 -3'
is 'slack' "$(rows 'tl-critical --table slack -c slack_ns,name,time_ns t.json')" \
	'410000 cudaLaunchKernel 10000.'
reports 3 no-such-name "tl-critical --what-if 'nosuch=0' t.json"

# ---- a collective of one rank ----

{
	step 1 0 1000
	launch 1 200 ncclDevKernel_AllReduce 7 215 485
	ev cuda_runtime cudaDeviceSynchronize 1 310 410
} | trace >rank0.json
reports 3 what-if-waits "tl-critical --what-if 'gpu:nccl*=0.5' rank0.json"
quiet 'a longer one is no less waiting' "tl-critical --what-if 'gpu:nccl*=2' rank0.json"

# ---- a hole, and its successor ----

{
	ev user_annotation mark 2 0 400
	ev cpu_op before 1 0 100
	ev cpu_op after 1 300 100
	launch 1 350 k 7 360 100
} | trace >t.json
is 'the time between ops is not that of the next op' \
	"$(rows 'tl-critical --annotation mark --table critical_events -c bound,name,time_ns t.json')" \
	'op before 100000.between_ops after 200000.op after 50000.launch_latency cudaLaunchKernel 10000.compute k 40000.'

# ---- the path drawn ----

{
	step 1 0 1000
	launch 1 200 gemm 7 215 485
	ev cpu_op aside 2 10 20
	ev cuda_runtime cudaDeviceSynchronize 1 310 410
} | trace >t.json
tl-critical --overlay t.json -o o.tl
is 'a stream that is whole' "$(tl-cat --check o.tl)" 'o.tl: whole, 9 events, 1 source'
is 'its events are marked' "$(tl-cat o.tl | grep '"critical":1' | grep -o '"name":"[^"]*"' | sort)" \
	'"name":"ProfilerStep#1"
"name":"cudaDeviceSynchronize"
"name":"cudaLaunchKernel"
"name":"gemm"'
is 'arrows for a viewer' "$(tl-export --to chrome o.tl | python3 -c '
import json, sys
for e in json.load(sys.stdin)["traceEvents"]:
    if e.get("cat") == "critical_path":
        print(e["ph"], e["id"], e["ts"], e["tid"], e.get("args", {}).get("type"))')" \
	's 1 200 1 launch
f 1 215 7 None
s 2 699.999 7 block
f 2 719.999 1 None'
is 'nothing else is different' "$(tl-timeline o.tl)" "$(tl-timeline t.json)"
is 'nor is the path' "$(tl-critical o.tl)" "$(tl-critical t.json)"
is 'of two inputs' "$(tl-critical --overlay t.json t.json | tl-cat --check)" \
	'stdin: whole, 18 events, 2 sources'
refuses 2 'twice' 'tl-critical --overlay - <t.json'
refuses 2 'not a table' 'tl-critical --overlay --no-gaps t.json'

# ---- launches and queues ----

{
	step 1 0 500
	launch 1 0 first 7 20 50
	launch 2 100 second 7 107 93
	launch 3 130 third 7 202 98
	ev cuda_runtime cudaStreamSynchronize 1 150 160
} | trace >t.json
is 'a launch that the GPU waited for, one that queued' "$(events)" \
	'host cudaLaunchKernel 10000 0.host ProfilerStep#1 90000 0.launch cudaLaunchKernel 7000 0.kernel second 93000 0.queue second 2000 2000.kernel third 98000 0.block cudaStreamSynchronize 10000 10000.host ProfilerStep#1 190000 0.'
{
	step 1 0 500
	ev cuda_runtime cudaGraphLaunch 1 10 5 '"correlation":1'
	gpu kernel a 7 30 100 1
	gpu kernel b 7 140 100 1
	gpu kernel c 8 150 50 1
	ev cuda_runtime cudaDeviceSynchronize 1 20 230
} | trace >t.json
is 'a graph: its first event, then the queue' "$(events)" \
	'host ProfilerStep#1 10000 0.launch cudaGraphLaunch 20000 20000.kernel a 100000 0.queue a 10000 10000.kernel b 100000 0.block cudaDeviceSynchronize 10000 10000.host ProfilerStep#1 250000 0.'
is 'without it' "$(total --what-if 'a=0')" '500000 400000 360000'

# ---- GPU streams ----

waits() { # waits: the second stream waits for the first, or not
	step 1 0 500
	launch 1 10 producer 7 30 200
	[ -z "$1" ] || ev cuda_runtime cudaStreamWaitEvent 1 25 2
	launch 2 40 consumer 8 240 100
	ev cuda_runtime cudaDeviceSynchronize 1 60 290
}
waits yes | trace >t.json
is 'a stream that was told to wait' "$(events | tr . '\n' | sed -n 3,5p)" \
	'kernel producer 200000 0
depend producer 10000 10000
kernel consumer 100000 0'
{
	step 1 0 500
	launch 1 10 producer 7 30 200
	ev cuda_runtime cudaStreamWaitEvent 1 40 0
	launch 2 40 consumer 8 235 100
	ev cuda_runtime cudaDeviceSynchronize 1 60 290
} | trace >t.json
is 'by a call of the same tick' "$(events | tr . '\n' | grep depend)" 'depend producer 5000 5000'
waits '' | trace >t.json
is 'a hand-over by the length of the gap' "$(events | tr . '\n' | grep depend)" \
	'depend producer 10000 10000'
{
	step 1 0 500
	launch 1 10 producer 7 30 200
	launch 3 30 other 9 50 188
	ev cuda_runtime cudaEventRecord 1 22 2 '"correlation":10'
	ev cuda_runtime cudaStreamWaitEvent 1 45 2 '"correlation":11'
	launch 2 50 consumer 8 240 100
	ev cuda_sync 'Stream Wait Event' 8 231 1 '"device":0,"stream":8,"correlation":11,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":10'
	ev cuda_runtime cudaStreamSynchronize 1 70 290 '"correlation":12'
	ev cuda_sync 'Stream Sync' 8 70 280 '"device":0,"stream":8,"correlation":12'
} | trace >t.json
is 'rows say which' "$(events | tr . '\n' | grep -e depend -e block)" \
	'depend producer 10000 10000
block cudaStreamSynchronize 20000 20000'
inferred() { rows 'tl-critical --table critical_events -c kind,is_inferred t.json' | tr . '\n' | grep depend; }
is 'which is not inferred' "$(inferred)" 'depend false'
{
	step 1 0 800
	launch 1 10 copy 9 30 400
	launch 3 30 gemm 8 50 20
	ev cuda_runtime cudaStreamWaitEvent 1 45 2 '"correlation":11'
	ev cuda_sync 'Stream Wait Event' 8 431 1 '"device":0,"stream":8,"correlation":11,"wait_on_stream":-1,"wait_on_cuda_event_record_corr_id":-1'
	launch 2 50 consumer 8 440 100
	ev cuda_runtime cudaDeviceSynchronize 1 70 480 '"correlation":12'
} | trace >t.json
is 'rows that do not say which' "$(events | tr . '\n' | grep -e kernel -e depend)" \
	'kernel copy 400000 0
depend copy 10000 10000
kernel consumer 100000 0'

{
	gpu kernel before 7 100 50 1
	gpu kernel other 8 160 500 2
	gpu kernel after 7 680 50 3
} | trace >t.json
is 'a stream that would stall waits for another one' "$(events | tr . '\n' | grep -v source | head -n 3)" \
	'kernel other 500000 0
depend other 20000 20000
kernel after 50000 0'
is 'which is inferred' "$(inferred)" 'depend true'
{
	gpu kernel before 7 100 50 1
	gpu kernel other 8 160 400 2
	gpu kernel after 7 680 50 3
} | trace >t.json
is 'not if that is long ago' "$(events | tr . '\n' | sed -n 3,4p)" \
	'queue before 530000 530000
kernel after 50000 0'

# ---- the GPU sets the pace ----

{
	for i in 0 1 2; do
		step $i $((i * 100)) 100
		launch $i $((i * 100 + 10)) gemm 7 $((i * 300 + 20)) 300
	done
} | trace >t.json
is 'where the host only enqueues, until the GPU is done' "$(path)" \
	'compute kernel 900000.between_ops host 10000.latency launch 10000.'
is 'a step that is asked for is the host'"'"'s' "$(long --step 1)" 100000

{
	step 1 0 100
	launch 1 10 gemm 7 20 300
} | trace >t.json
is 'of a single step, too' "$(path)" \
	'compute kernel 300000.between_ops host 10000.latency launch 10000.'
is 'which is the window of the verdict' "$(rows 'tl-idle --table idle_window -c window_ns t.json')" 320000.
is 'without the GPU the host remains' "$(total --what-if 'gpu:*=0')" '320000 100000 100000'
{
	step 1 100 400
	launch 1 110 early 7 130 20
	gpu kernel older 7 60 20 0
} | trace >t.json
is 'from the first GPU event on' "$(long)" 440000
is 'which a step that is asked for is not' "$(long --step 1)" 400000

# ---- threads ----

{
	step 1 0 1000
	ev cpu_op aten::forward 1 10 190
	ev cpu_op aten::optimizer 1 720 100
	ev cpu_op MmBackward0 2 230 470
	ev cpu_op aten::other 3 0 90
} | trace >t.json
is 'the backward pass on its own thread' "$(events)" \
	'host ProfilerStep#1 10000 0.host aten::forward 190000 0.thread MmBackward0 30000 30000.host MmBackward0 470000 0.thread aten::optimizer 20000 20000.host aten::optimizer 100000 0.host ProfilerStep#1 180000 0.'
is 'what nothing waits for has no slack' \
	"$(rows 'tl-critical --table slack -c name t.json' 2>/dev/null)" ''
{
	step 1 0 1000
	ev cpu_op aten::forward 1 10 190
	ev cpu_op aten::optimizer 1 720 100
	ev cpu_op load 2 230 400
	ev cpu_op unpack 2 640 100
} | trace >t.json
is 'a thread that is still at work then' "$(events)" \
	'host ProfilerStep#1 10000 0.host aten::forward 190000 0.thread load 30000 30000.host load 400000 0.host unpack 10000 0.thread aten::optimizer 80000 80000.host aten::optimizer 100000 0.host ProfilerStep#1 180000 0.'
{
	step 1 0 1000
	ev python_function '<built-in method acquire of _thread.lock object at 0x1>' 1 100 500
	ev python_function 'worker.py(1): collate' 2 50 530
	ev python_function 'worker.py(1): next' 2 580 400
} | trace >t.json
is 'a thread that waits for a worker' "$(total --what-if '*collate=0.5')" \
	'1000000 735000 715000'

{
	step 1 0 1000
	launch 1 10 k 7 30 100
	ev python_function '$api.py:9 block_until_ready' 1 100 600
	ev cpu_op 'BufferSequencingEvent::Execute' 2 150 500
} | trace >t.json
is 'one that waits for the GPU without a call waits for a thread, too' \
	"$(rows 'tl-critical -c bound,kind,time_ns t.json')" \
	'op host 500000.between_ops host 450000.latency thread 50000.'

{
	step 1 0 1000
	ev python_function 'loader.py(1): next' 1 0 400
	ev python_function '<built-in method __enter__>' 1 10 20
	ev user_annotation 'enumerate(DataLoader)' 1 20 300
	ev python_function 'fetch' 1 30 250
	ev python_function '<built-in method __exit__>' 1 310 20
} | trace >t.json
is 'what lies in an annotation that crosses frames' "$(total --what-if '*DataLoader*=0')" \
	'1000000 750000 750000'

# ---- copies, polls ----

{
	step 1 0 500
	ev cuda_runtime cudaMemcpy 1 10 300 '"correlation":1'
	gpu gpu_memcpy 'Memcpy HtoD (Pageable -> Device)' 7 20 280 1
} | trace >t.json
is 'a blocking copy waits for itself' "$(path)" \
	'copy kernel 280000.between_ops host 200000.latency block 10000.latency launch 10000.'
{
	step 1 0 500
	ev cuda_runtime cudaMemcpy 1 10 300 '"correlation":1'
	gpu gpu_memcpy 'Memcpy HtoD (Pageable -> Device)' 7 20 320 1
} | trace >t.json
is 'one that returns before the copy has ended waits for most of it' "$(path)" \
	'copy kernel 290000.between_ops host 200000.latency launch 10000.'
is 'without the copy' "$(total --what-if 'Memcpy*=0')" '500000 210000 200000'
is 'without the call' "$(total --what-if 'cudaMemcpy=0')" '500000 340000 330000'
{
	step 1 0 1000
	launch 1 10 k 7 30 400
	ev cuda_runtime hipFree 1 100 500
} | trace >t.json
is 'freeing waits for the GPU, and works itself' "$(path)" \
	'between_ops host 410000.compute kernel 400000.alloc block 170000.latency launch 20000.'
is 'without the GPU' "$(total --what-if 'gpu:*=0')" '1000000 670000 670000'
is 'without freeing' "$(total --what-if 'hipFree=0')" '1000000 500000 500000'
is 'at half of its time' "$(total --what-if 'hipFree=0.5')" '1000000 915000 895000'
sed 's/hipFree/hipMalloc/' t.json >malloc.json
is 'allocating does not' "$(rows 'tl-critical -c bound,kind,time_ns malloc.json' | tr . '\n' | grep alloc)" \
	'alloc host 500000'
{
	step 1 0 500
	launch 1 10 k 7 30 200
	ev cuda_runtime cudaEventQuery 1 100 10
	ev cuda_runtime cudaEventQuery 1 220 20
} | trace >t.json
is 'the query that returned' "$(events | tr . '\n' | grep -e block -e Query)" \
	'block cudaEventQuery 10000 10000'

# ---- the ranks of a job ----

mkdir job one short
cat >ranks.py <<'EOP'
"""four steps, or one, of 8 ranks, in us: a data loader of 100, of rank 5 LATE more, in one call
or in some of 0.4 each; a kernel of 300; an all-reduce that takes 50 when all have come,
and the host waits for it"""
import json
import sys

folder, late, skew = sys.argv[1], int(sys.argv[2]), {2: 2000, 6: -700}
for rank in range(8):
    t, events, corr = 10000 + skew.get(rank, 0), [], 0

    def x(cat, name, tid, ts, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "tid": tid, "ts": ts,
                       "pid": 0 if cat == "kernel" else 9, "dur": dur, "args": args})

    for step in range(1 if "once" in sys.argv else 4):
        start, load = t, 100 + (late if rank == 5 else 0)
        there = start + 100 + late + 355 + 2  # when all have come
        for call in range(load * 5 // 2 if "calls" in sys.argv else 1):
            x("python_function", "loader.py(3): __iter__", rank, round(t + call * .4, 1),
              .4 if "calls" in sys.argv else load)
        x("cpu_op", "aten::mm", rank, t + load, 60)
        corr += 2
        x("cuda_runtime", "cudaLaunchKernel", rank, t + load + 40, 10, correlation=corr)
        x("kernel", "gemm", 7, t + load + 55, 300, device=0, stream=7, correlation=corr)
        x("cuda_runtime", "cudaLaunchKernel", rank, t + load + 65, 10, correlation=corr + 1)
        s = t + load + 357
        x("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7, s, there + 50 - s, device=0,
          stream=7, correlation=corr + 1, Seq=step, dtype="Float",
          **{"Collective name": "allreduce", "Process Group Name": "0", "Group size": 8,
             "Process Group Ranks": str(list(range(8))), "In msg nelems": 1024, "Out msg nelems": 1024})
        x("cuda_runtime", "cudaDeviceSynchronize", rank, t + load + 80, there + 55 - t - load - 80)
        t = there + 60
        x("user_annotation", "ProfilerStep#%d" % step, rank, start, t - start)
    with open("%s/rank-%d.json" % (folder, rank), "w", encoding="ascii") as f:
        f.write(json.dumps({"distributedInfo": {"rank": rank, "world_size": 8}, "traceEvents": events}))
EOP
python3 ranks.py job 300
python3 ranks.py one 0
python3 ranks.py short 200 calls
job() { tl-critical --job "$@" 2>/dev/null; }
is 'a late data loader, though clocks are off' \
	"$(job --table critical_ranks -c rank,loss_ns,by_ns,name,excess_ns job/* | tr '\t' ' ')" \
	'rank loss_ns by_ns name excess_ns
0 0   
1 0   
2 0   
3 0   
4 0   
5 1200000 1200000 loader.py(3): __iter__ 1200000
6 0   
7 0   '
is 'said above the table: 1.2 of 3.268 ms' \
	"$(job --table critical_ranks --format table --width 300 job/* | sed -n 1p)" \
	"rank 5's host costs the job 1.200 ms (36.7 % of the window). loader.py(3): __iter__ costs most: 1.200 ms; all its calls together take 1.200 ms longer than the median (e.g. uid 0)."
# 3,000 calls of 400 ns, 1,000 in the median: a third of each, rounded up, is
# 134 ns
is 'of many short calls no more is lost than they take longer' \
	"$(job --table critical_ranks -c rank,loss_ns,by_ns,name,excess_ns short/* | grep ^5 | tr '\t' ' ')" \
	'5 798000 798000 loader.py(3): __iter__ 800000'
is 'above no other' "$(job --format table job/* | grep -c costs)" 0
is 'and what it led to, up to the collective' \
	"$(job --table critical_ranks -c uid,chain job/* | grep -v '^	*$' | tail -n 1 | tr '\t' ' ')" \
	'0 ["loader.py(3): __iter__","...","cudaLaunchKernel","gemm","ncclDevKernel_AllReduce_Sum_f32_RING_LL"]'
tl-report -d sheets --critical-path job/* 2>err
is 'a sheet of a report' "$(grep '^5' sheets/critical_ranks.csv)" \
	"$(job --table critical_ranks --labels --format csv job/* | grep '^5')"
is 'one path over all ranks' "$(job -c time_ns job/* | awk 'NR > 1 { n += $1 } END { print n }')" \
	'3268000'
is 'which goes through the late one' "$(job --by name -c rank,name,time_ns job/* | grep -c '^5.*loader')" 1
is 'without a late one' "$(job --table critical_ranks -c loss_ns one/* | sort -u | tr '\n' ' ')" \
	'0 loss_ns '
is 'and said' "$(job --table critical_ranks --format table --width 300 one/* | sed -n 1p)" \
	"no rank's host costs the job time: on the critical path none is slower than the median rank's"
is 'what one rank would gain the job' \
	"$(job --what-if '*loader*=0' --format table --width 200 job/* 2>/dev/null | head -n 1)" \
	'saves 1.600 ms of the window (49.0 %). The limit becomes compute on rank 0, 1.200 ms of 1.668 ms.'
is 'and without that loader' "$(job --what-if '*loader*=0' -c bound,before_ns,after_ns job/* |
	awk '$1 == "total" { print $2, $3 }')" '3268000 1668000'
is 'in any order' "$(job job/rank-6.json job/rank-[0-57].json | sort)" "$(job job/* | sort)"
tl-critical --job --overlay job/* -o o.tl 2>err
is 'the path over all ranks drawn: a stream that is whole' "$(tl-cat --check o.tl)" \
	'o.tl: whole, 282 events, 8 sources'
is 'each arrow begins and ends in an event, some on another rank' \
	"$(tl-export --to chrome o.tl | python3 -c '
import json, sys
events, ends = json.load(sys.stdin)["traceEvents"], {}
slices = {}
for e in events:
    if e["ph"] == "X":
        slices.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
for e in events:
    if e.get("cat") == "critical_path":
        ends.setdefault(e["id"], []).append(e)
lost = [a for a in ends.values() if sorted(e["ph"] for e in a) != ["f", "s"]]
out = [e for a in ends.values() for e in a
       if not any(s <= e["ts"] < t for s, t in slices[e["pid"], e["tid"]])]
across = [a for a in ends.values() if len({e["pid"] // 10000000 for e in a}) > 1]
print(len(ends), len(lost), len(out), len(across), *{e["args"]["type"] for a in across for e in a if e["ph"] == "s"})')" \
	'13 0 0 1 peer'
is 'nothing else is different on any rank' "$(tl-timeline o.tl 2>/dev/null)" "$(tl-timeline job/* 2>/dev/null)"
mkdir once
python3 ranks.py once 300 once
is 'unjudged without clocks' "$(job --table critical_ranks -c loss_ns,loss_percent once/* | sort -u | tr '\t' ' ' | tr '\n' '|')" \
	' |loss_ns loss_percent|'
like 'and said' "$(job --table critical_ranks --format table --width 300 once/* | sed -n 1p)" \
	"^clocks are not known: what each rank's host costs is not judged"
rm job/rank-7.json
like 'hedged where ranks are missing' "$(job --table critical_ranks --format table --width 300 job/* | sed -n 1p)" \
	'% of the window, as 7 of 8 ranks show it\)'
refuses 2 "'--job'" 'tl-critical --table critical_ranks t.json'
refuses 2 'twice' 'tl-critical --job - <t.json'
refuses 1 'rank of the job' 'tl-critical --job t.json'

# ---- windows ----

{
	for i in 1 2 3; do
		step $i $((i * 100)) 100
		launch $i $((i * 100 + 10)) k$i 7 $((i * 100 + 30)) 20
		ev user_annotation mark 1 $((i * 100 + 5)) 50
	done
} | trace >t.json
is 'all steps' "$(long)" '300000'
is 'one' "$(long --step 2)" '100000'
is 'two of three' "$(long --step 2-3)" '200000'
is 'the last' "$(long --step last)" '100000'
is 'annotations' "$(long --annotation mark)" '250000'
is 'one of them' "$(long --annotation 'mark#2')" '50000'
is 'a time' "$(long --from 10us --to 130us)" '120000'
reports 5 no-such-step 'tl-critical --step 9 t.json'
reports 5 no-such-annotation 'tl-critical --annotation nosuch t.json'
launch 1 0 k 7 30 20 | trace >t.json
is 'without steps: GPU events' "$(long)" '20000'
reports 5 no-steps 'tl-critical --step 1 t.json'
ev cpu_op x 1 0 5 | trace >t.json
reports 5 no-gpu-events 'tl-critical t.json'

# ---- usage ----

refuses 2 'GLOB=FACTOR' 'tl-critical --what-if gemm t.json'
refuses 2 'GLOB=FACTOR' 'tl-critical --what-if gemm=-1 t.json'
refuses 2 'GLOB=FACTOR' 'tl-critical --what-if gemm=1e4 t.json'
refuses 2 'GLOB=FACTOR' 'tl-critical --what-if =1 t.json'
refuses 2 'none of bound' 'tl-critical --by colour t.json'
refuses 2 'names kind twice' 'tl-critical --by kind,kind t.json'
refuses 2 'what-if' 'tl-critical --gpu t.json'

# ---- hostile: as many threads and GPU streams as possible ----

python3 - >many.json <<'EOP'
import json
x = lambda cat, name, tid, ts, dur, **args: {
    "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
events = [x("cpu_op", "op", 1000 + i, 5, 10) for i in range(60000)]
for i in range(3000):
    events += [x("cuda_runtime", "cudaLaunchKernel", 1, 100 * i + 60, 5, correlation=i + 1),
               x("cuda_runtime", "cudaStreamSynchronize", 2, 100 * i + 70, 40, correlation=9000 + i),
               x("kernel", "k", "s%d" % i, 100 * i + 90, 10, device=0, stream=i, correlation=i + 1)]
print(json.dumps({"traceEvents": events}))
EOP
is 'many threads and GPU streams' \
	"$(tl-critical -c time_ns many.json | awk 'NR > 1 { n += $1 } END { printf "%d", n }')" \
	'299910000'

page_examples tl-critical.1
done_testing
