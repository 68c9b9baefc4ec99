#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-timeline: figures worked out by hand, every option, every kind of input,
# and random traces against the slow oracle.
. tests/cli/lib.sh

gpu() { # gpu CAT NAME DEV STREAM TS DUR CORR
	ev "$1" "$2" "$4" "$5" "$6" \
		"\"device\":$3,\"stream\":$4,\"correlation\":$7"
}
launch() { ev cuda_runtime cudaLaunchKernel 1 "$1" 5 "\"correlation\":$2"; }

# column N of the table of a command without its header: figures 'CMD'
figures() {
	sh -c "$1" 2>"$TMP/err" | awk -F '\t' 'NR == 1 {
			for (i = 1; i <= NF; i++) if ($i ~ /^(time|mean)_ns$/) at = i
			next
		}
		{ print $at }' |
		tr '\n' ' ' | sed 's/ $//'
}
types() {
	sh -c "$1" 2>"$TMP/err" | sed 1d | awk -F '\t' '{ print $(NF - 2) }' |
		tr '\n' ' ' | sed 's/ $//'
}
# keys CMD: the first column, each once
keys() {
	sh -c "$1" 2>"$TMP/err" | cut -f 1 | uniq | tr '\n' ' ' |
		sed 's/ $//'
}

# when CMD TEXT REASON: whether CMD works; if not, TEXT is skipped
when() {
	sh -c "$1" >"$TMP/out" 2>&1 && return 0
	skip "$2" "$3"
	return 1
}

# ---- the worked example of the specification ----

{
	gpu kernel a 0 7 100 100 1
	gpu kernel b 0 7 283 17 2
	gpu kernel ncclDevKernel_AllReduce 0 8 150 100 3
	gpu gpu_memcpy 'Memcpy HtoD (Pinned -> Device)' 0 9 240 40 4
} | trace >worked.json

tab=$(printf '\t')
is 'the worked example' "$(tl-timeline worked.json)" "\
type${tab}time_ns${tab}percent
computation_time${tab}117000${tab}58.5
exposed_comm_time${tab}50000${tab}25.0
exposed_memcpy_time${tab}30000${tab}15.0
busy_time${tab}197000${tab}98.5
idle_time${tab}3000${tab}1.5
total_time${tab}200000${tab}100.0
total_comm_time${tab}100000${tab}50.0
total_memcpy_time${tab}40000${tab}20.0
unlinked_time${tab}197000${tab}98.5"
is 'no kinds at once but for 50 us' "$(rows 'tl-timeline --table gpu_busy_kinds worked.json')" \
	'computation 67000 34.01015228426396.communication 40000 20.304568527918782.memory 30000 15.228426395939088.computation + communication 50000 25.380710659898476.communication + memory 10000 5.0761421319796955.'
# 0-5 a; 5-8 a, nccl; 8-10 and the copy; 10-12 nccl, copy; 12-20 nccl; 30-32 fill; 32-33 and b; 33-40 b
{
	gpu kernel a 0 7 0 10 1
	gpu kernel nccl 0 8 5 15 2
	gpu gpu_memcpy copy 0 9 8 4 3
	gpu gpu_memset fill 0 9 30 3 4
	gpu kernel b 0 7 32 8 5
	gpu kernel point 0 7 31 0 6
} | trace >kinds.json
is 'all kinds at once, and a fill is memory' \
	"$(rows 'tl-timeline --table gpu_busy_kinds -c kinds,time_ns kinds.json')" \
	'computation 12000.communication 8000.memory 2000.computation + communication 3000.computation + memory 1000.communication + memory 2000.computation + communication + memory 2000.'
# two that overlap, together longer than a time can be
{
	gpu kernel a 0 7 0 1 1
	gpu kernel b 0 8 1 1 2
} | trace >far.json
tl-decode far.json | tl-cat | sed 's/"ts":0,"dur":1000/"ts":-9000000000000000000,"dur":9000000000000000000/
	s/"ts":1000,"dur":1000/"ts":-1,"dur":9000000000000000000/' >far.ndjson
like 'both are far' "$(grep -c 9000000000000000000 far.ndjson)" '^2$'
refuses 1 'span more than 292 years' 'tl-timeline --table gpu_busy_kinds far.ndjson'
# a step from one end of time to the next step
{
	ev user_annotation 'ProfilerStep#1' 1 0 1
	ev user_annotation 'ProfilerStep#2' 1 1 1
	gpu kernel a 0 7 2 1 1
} | trace >far.json
tl-decode far.json | tl-cat | sed 's/"ts":0,/"ts":-9223372036854775807,/; s/"ts":1000,/"ts":1,/' >far.ndjson
refuses 1 'steps span more than' 'tl-timeline --by step far.ndjson'
is 'of each device' "$(rows 'tl-timeline --table gpu_busy_kinds --by dev -c dev,kinds,time_ns kinds.json' | cut -d. -f 1)" \
	'0 computation 12000'
is 'gaps below 5us are micro' \
	"$(tl-timeline --micro-idle 5us worked.json | sed -n 6,7p)" "\
micro_idle_time${tab}3000${tab}1.5
macro_idle_time${tab}0${tab}0.0"
is 'a gap as long as the bound is macro' \
	"$(tl-timeline --micro-idle 3us worked.json | sed -n 6,7p)" "\
micro_idle_time${tab}0${tab}0.0
macro_idle_time${tab}3000${tab}1.5"
is 'labels are those of the reference' \
	"$(tl-timeline --labels --format csv worked.json | sed -n 1,2p)" "\
type,time ms,percent
computation_time,0.117,58.5"
is 'columns, rows and order' \
	"$(tl-timeline -c time_ns,type --sort -time_ns --top 2 --no-header worked.json)" \
	"200000${tab}total_time
197000${tab}busy_time"
is 'typed NDJSON ends with its end' \
	"$(tl-timeline --format ndjson worked.json | tail -n 1)" '{"end":{"rows":9}}'
like 'a table says how much is unlinked' \
	"$(tl-timeline --format table --width 80 worked.json)" \
	'^4 of 4 GPU events have no launch in the trace'
tl-timeline -d tables --labels worked.json
is '-d writes a file' "$(cat tables/gpu_timeline.csv)" \
	"$(tl-timeline --format csv --labels worked.json)"
tl-timeline -o out.tsv worked.json
is '-o writes a file' "$(sed -n 2p out.tsv)" "computation_time${tab}117000${tab}58.5"

# ---- windows, groups, selection ----

# Two steps of 100 us; k1 and k2 are launched in the first, k2 runs in the
# second; a
# collective on another device, a copy; the last kernel has no launch.
steps() {
	ev user_annotation ProfilerStep#1 1 0 100
	ev user_annotation ProfilerStep#2 1 100 100
	ev user_annotation fwd 1 10 40
	ev user_annotation fwd 1 110 40
	ev python_function 'torch/utils/checkpoint.py(9): recompute_fn' 1 55 20
	launch 20 1
	launch 60 2
	launch 120 3
	launch 160 4
	gpu kernel k1 0 7 50 50 1
	gpu kernel k2 0 7 105 20 2
	gpu kernel "${1:-ncclDevKernel_Sum}" 1 8 130 30 3
	gpu gpu_memcpy 'Memcpy HtoD' 0 9 170 10 4
	gpu kernel stray 0 7 200 30 99
}
steps | trace >steps.json
tl-tree steps.json >steps.tl

is 'all GPU events count' "$(figures 'tl-timeline steps.tl')" \
	'100000 30000 10000 140000 40000 180000 30000 10000 30000'
is '--linked-only' "$(figures 'tl-timeline --linked-only steps.tl')" \
	'70000 30000 10000 110000 20000 130000 30000 10000'
is '--linked-only has no row unlinked_time' \
	"$(types 'tl-timeline --linked-only steps.tl')" \
	'computation_time exposed_comm_time exposed_memcpy_time busy_time idle_time total_time total_comm_time total_memcpy_time'
like '--linked-only says in a table what is missing' \
	"$(tl-timeline --linked-only --format table steps.tl)" \
	'^1 GPU event without a launch is skipped'
is 'of what is asked for' \
	"$(tl-timeline --linked-only --kind memcpy --format table steps.tl | head -n 1)" \
	"$(tl-timeline --kind memcpy --format table steps.tl | head -n 1)"
for r in 0 1; do
	steps | trace ",\"distributedInfo\":{\"rank\":$r,\"world_size\":2}" >"asked$r.json"
done
like 'and of the ranks asked for' \
	"$(tl-timeline --linked-only --rank 1 --format table asked0.json asked1.json)" \
	'^1 GPU event without a launch is skipped'
dev='100000 0 10000 110000 70000 180000 0 10000 30000 0 30000 0 30000 0 30000 30000 0 0'
is '--by dev' "$(figures 'tl-timeline --by dev steps.tl')" "$dev"
is '--by dev: keys' "$(keys 'tl-timeline --by dev steps.tl')" 'dev 0 1'
# by the clock: the first step's second kernel continues in the second step
step='50000 0 0 50000 50000 100000 0 0 0 20000 30000 10000 60000 40000 100000 30000 10000 0 30000 0 0 30000 0 30000 0 0 30000'
is '--by step' "$(figures 'tl-timeline --by step steps.tl')" "$step"
is '--by step: keys, outside last' \
	"$(keys 'tl-timeline --by step steps.tl' | sed 's/ $/./')" 'step 1 2.'
is '--by step --step' "$(figures 'tl-timeline --by step --step 2 steps.tl')" \
	'20000 30000 10000 60000 40000 100000 30000 10000 0'
is 'a step without GPU work' "$({
	steps
	ev user_annotation ProfilerStep#9 1 1000 50
} | trace >idle.json
tl-timeline --by step --step 9 -c type,time_ns,percent,flags --no-header idle.json |
	grep -E 'busy|idle|total_time' | tr '\t\n' '|.')" \
	'busy_time|0|0.0|no-gpu-event.idle_time|50000|100.0|no-gpu-event.total_time|50000|100.0|no-gpu-event.'
is 'and with GPU work of other names' \
	"$(tl-timeline --by step --step 9 --name k1 -c type,time_ns --no-header idle.json |
		grep idle | tr '\t' '|')" 'idle_time|50000'
# launched in step 2, it runs after step 3: the GPU is idle in both
{
	ev user_annotation ProfilerStep#2 1 0 100
	ev user_annotation ProfilerStep#3 1 100 100
	ev cuda_runtime cudaLaunchKernel 1 50 5 '"correlation":1'
	ev kernel k 7 300 20 '"device":0,"stream":7,"correlation":1'
} | trace >late.json
is 'one whose work runs later was idle' \
	"$(tl-timeline --by step -c step,type,time_ns --no-header late.json |
		grep idle | tr '\t\n' '|.')" '2|idle_time|100000.3|idle_time|100000.|idle_time|0.'
is 'as in tl-steps' "$(tl-steps -c step,idle_ns --no-header late.json | tr '\t\n' '|.')" \
	'2|100000.3|100000.'
is 'also if selected' "$(figures 'tl-timeline --step 2 late.json')" '0 0 0 0 100000 100000 0 0 0'
like 'a table says so' "$(tl-timeline --step 2 --format table late.json)" \
	'^1 GPU event that these steps launched ran outside them$'
is 'also with no GPU event at all' "$(figures 'tl-timeline --step 3 late.json')" '0 0 0 0 100000 100000 0 0 0'
is '--by annotation' "$(figures 'tl-timeline --by annotation steps.tl')" \
	'50000 30000 0 80000 30000 110000 30000 0 0 50000 0 10000 60000 65000 125000 0 10000 30000'
is '--by recompute' "$(figures 'tl-timeline --by recompute steps.tl')" \
	'80000 30000 10000 120000 60000 180000 30000 10000 30000 20000 0 0 20000 0 20000 0 0 0'
is '--by recompute: keys' \
	"$(keys 'tl-timeline --by recompute steps.tl')" 'is_recompute false true'
is '--by recompute: an empty half is left out' \
	"$(keys 'tl-timeline --by recompute --step 2 steps.tl')" 'is_recompute false'

# by the clock, as with --by step: the whole step, and what runs in it
one='50000 0 0 50000 50000 100000 0 0 0'
is '--step N' "$(figures 'tl-timeline --step 1 steps.tl')" "$one"
is '--step first' "$(figures 'tl-timeline --step first steps.tl')" "$one"
is '--step last' "$(figures 'tl-timeline --step last steps.tl')" \
	'20000 30000 10000 60000 40000 100000 30000 10000 0'
is '--step N-M of a raw trace' \
	"$(figures 'tl-timeline --step 1-2 steps.json')" \
	'70000 30000 10000 110000 90000 200000 30000 10000 0'
is '--by dev: each over the steps' \
	"$(figures 'tl-timeline --by dev --step 2 steps.tl')" \
	'20000 0 10000 30000 70000 100000 0 10000 0 0 30000 0 30000 70000 100000 30000 0 0'
is '--annotation of the marker of a step' \
	"$(figures 'tl-timeline --annotation ProfilerStep#1 steps.tl')" "$one"
is 'of those of all steps' \
	"$(figures "tl-timeline --annotation 'ProfilerStep#*' steps.tl")" \
	"$(figures 'tl-timeline --step 1-2 steps.tl')"
is 'also --by step' "$(keys 'tl-timeline --by step --annotation ProfilerStep#1 steps.tl')" 'step 1'
is 'of one and something else' \
	"$(figures 'tl-timeline --annotation ProfilerStep#1 --annotation fwd steps.tl')" \
	'70000 30000 0 100000 5000 105000 30000 0 0'
is '--annotation NAME: what lies between two is not idle' \
	"$(figures 'tl-timeline --annotation fwd steps.tl')" \
	'50000 30000 0 80000 0 80000 30000 0 0'
is '--annotation NAME#N' "$(figures 'tl-timeline --annotation "f*#2" steps.tl')" \
	'0 30000 0 30000 0 30000 30000 0 0'
is '--step and --annotation' \
	"$(figures 'tl-timeline --step 2 --annotation fwd steps.tl')" \
	'0 30000 0 30000 0 30000 30000 0 0'
has_first='tl-cat steps.tl | grep -q "\"first\":"'
nofirst='no fact "first" in the source'
when "$has_first" '--from and --to' "$nofirst" &&
	is '--from and --to, from the first event on' \
		"$(figures 'tl-timeline --from 60us --to 120us steps.tl')" \
		'20000 0 0 20000 0 20000 0 0 0'
when "$has_first" '--from --by-gpu-time' "$nofirst" &&
	is '--from --by-gpu-time' \
		"$(figures 'tl-timeline --from 170us --by-gpu-time steps.tl')" \
		'30000 0 10000 40000 20000 60000 0 10000 30000'
is '--kind' "$(figures 'tl-timeline --kind memcpy,memset steps.tl')" \
	'0 0 10000 10000 0 10000 0 10000 0'
is '--name' "$(figures 'tl-timeline --name "k?" --name stray steps.tl')" \
	'100000 0 0 100000 80000 180000 0 0 30000'
is '--dev' "$(figures 'tl-timeline --dev 1-3 steps.tl')" \
	'0 30000 0 30000 0 30000 30000 0 0'
is '--gpu-stream' "$(figures 'tl-timeline --gpu-stream 8,9 steps.tl')" \
	'0 30000 10000 40000 10000 50000 30000 10000 0'
is '--min-dur' "$(figures 'tl-timeline --min-dur 30us steps.tl')" \
	'80000 30000 0 110000 70000 180000 30000 0 30000'

steps multimem_all_reduce_kernel | trace >symm.json
is 'an unknown collective computes' "$(figures 'tl-timeline symm.json')" \
	'130000 0 10000 140000 40000 180000 0 10000 30000'
is '--comm-pattern' \
	"$(figures 'tl-timeline --comm-pattern "^MULTIMEM_.*reduce" symm.json')" \
	'100000 30000 10000 140000 40000 180000 30000 10000 30000'

{
	steps
	gpu kernel k1 0 7 50 50 1
} | trace >twice.json
is 'an event that is there twice counts once' \
	"$(tl-timeline twice.json 2>/dev/null)" "$(tl-timeline steps.json)"
{
	gpu kernel a 0 7 10 5 1
	gpu kernel b 0 7 20 0 2
	gpu kernel c 0 7 40 5 3
} | trace >point.json
is 'an event without length parts a gap' \
	"$(figures 'tl-timeline --micro-idle 6us point.json')" \
	'10000 0 0 10000 5000 20000 35000 0 0 10000'
gpu kernel a 0 7 10 0 1 | trace >nothing.json
is 'a share of nothing is empty' \
	"$(tl-timeline -c percent --no-header nothing.json | tr '\n' .)" .........

# ---- several sources ----

for r in 0 1; do
	{
		gpu kernel a 0 7 $((100 + r * 50)) 100 1
		gpu kernel nccl 0 8 $((200 + r * 10)) 30 2
	} | trace ",\"distributedInfo\":{\"rank\":$((3 - r))}" >rank$r.json
done
two='100000 30000 0 130000 0 130000 30000 0 130000 100000 0 0 100000 0 100000 30000 0 100000'
is 'sources apart, by rank' \
	"$(keys 'tl-timeline rank0.json rank1.json')" 'rank 2 3'
is 'sources apart: figures' "$(figures 'tl-timeline rank1.json rank0.json')" \
	'100000 0 0 100000 0 100000 30000 0 100000 100000 30000 0 130000 0 130000 30000 0 130000'
is '--by src' "$(figures 'tl-timeline --by src rank0.json rank1.json')" "$two"
is '--by src: keys' "$(keys 'tl-timeline --by src rank0.json rank1.json')" 'src 0 1'
is 'the same file twice is known by number' \
	"$(keys 'tl-timeline rank0.json rank0.json')" 'src 0 1'
is '--by rank of one' "$(keys 'tl-timeline --by rank rank0.json')" 'rank 3'
is '--rank' "$(keys 'tl-timeline --rank 2 --by rank rank0.json rank1.json')" 'rank 2'
is '--join' "$(figures 'tl-timeline --join rank0.json rank1.json')" \
	'150000 0 0 150000 0 150000 40000 0 150000'
is '--join --by dev' \
	"$(figures 'tl-timeline --join --by dev rank0.json rank1.json')" \
	'150000 0 0 150000 0 150000 40000 0 150000'
tl-cat rank0.json rank1.json >both.tl
is 'two sources in one stream' "$(tl-timeline both.tl)" \
	"$(tl-timeline rank0.json rank1.json)"
refuses 5 'no source has a rank' 'tl-timeline --rank 7 rank0.json'
ev cpu_op aten::mm 1 1 2 | trace >host.json
run 'tl-timeline rank0.json host.json'
is 'a source without GPU events is a warning' "$rc" 3
refuses -o 3 'host.json: no GPU events' 'tl-timeline rank0.json host.json'

# ---- the host ----

{
	ev cpu_op aten::mm 1 1 2
	ev cpu_op aten::empty 1 2 1
	ev cuda_runtime cudaLaunchKernel 1 7 2
} | trace >two.json
is 'the host, by thread' "$(tl-timeline --clock cpu -c count,total_ns,busy_ns,percent,op_ns,call_ns two.json)" \
	"count${tab}total_ns${tab}busy_ns${tab}percent${tab}op_ns${tab}call_ns
3${tab}8000${tab}4000${tab}50.0${tab}2000${tab}2000"
is 'no Python frames: their time is unknown' \
	"$(tl-timeline --clock cpu -c python_ns,slice_ns --no-header two.json)" "$tab"
is 'by the name of its table' \
	"$(tl-timeline --table host_timeline two.json)" \
	"$(tl-timeline --clock cpu two.json)"
refuses 5 'no host time among 0 events' \
	"echo '{\"traceEvents\":[]}' | tl-timeline --clock cpu"
echo '[{"ph":"B","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":30,"dur":10},
{"ph":"E","pid":1,"tid":1,"ts":25}]' >pairs.json
is 'an op from B to E' "$(tl-timeline --clock cpu -c count,busy_ns --no-header pairs.json | tr '\t' ' ')" '2 25000'
refuses 2 "'--by' needs --clock gpu" 'tl-timeline --clock cpu --by step two.json'

# ---- rocprofv3 ----

cat >rocprof.json <<'EOF'
{"rocprofiler-sdk-tool":[{"metadata":{"pid":9,"init_time":1000,"fini_time":11000},
"agents":[{"id":{"handle":77},"type":2,"name":"gfx950","logical_node_id":2,"gpu_index":0}],
"strings":{"buffer_records":[]},"kernel_symbols":[
{"kernel_id":1,"kernel_name":"k.kd","formatted_kernel_name":"k()","truncated_kernel_name":"k"},
{"kernel_id":2,"kernel_name":"c.kd","formatted_kernel_name":"__amd_rocclr_copyBuffer","truncated_kernel_name":"__amd_rocclr_copyBuffer"}],
"buffer_records":{"kernel_dispatch":[
{"thread_id":1,"correlation_id":{"internal":1,"external":0},"start_timestamp":2000,"end_timestamp":3000,"stream_id":{"handle":0},"dispatch_info":{"agent_id":{"handle":77},"queue_id":{"handle":1},"kernel_id":1,"dispatch_id":1,"workgroup_size":{"x":1,"y":1,"z":1},"grid_size":{"x":1,"y":1,"z":1}}},
{"thread_id":1,"correlation_id":{"internal":2,"external":0},"start_timestamp":2500,"end_timestamp":4500,"stream_id":{"handle":0},"dispatch_info":{"agent_id":{"handle":77},"queue_id":{"handle":1},"kernel_id":2,"dispatch_id":2,"workgroup_size":{"x":1,"y":1,"z":1},"grid_size":{"x":1,"y":1,"z":1}}}],
"memory_copy":[
{"kind":10,"operation":2,"thread_id":1,"correlation_id":{"internal":3,"external":0},"start_timestamp":4000,"end_timestamp":5000,"dst_agent_id":{"handle":77},"src_agent_id":{"handle":5},"bytes":64,"stream_id":{"handle":0}}]}}]}
EOF
is 'rocprofv3 has its own rows' "$(tl-timeline rocprof.json)" "\
type${tab}time_ns${tab}percent
total_time${tab}10000${tab}100.0
kernel${tab}2500${tab}25.0
memory${tab}1000${tab}10.0
busy_time${tab}3000${tab}30.0
idle${tab}7000${tab}70.0"
when 'tl-decode rocprof.json | tl-cat | grep memory_copy | grep -q "\"dev\":0"' \
	'rocprofv3 by device' 'copies have no device' &&
	is 'rocprofv3 by device has the window of the device' \
		"$(figures 'tl-timeline --by dev rocprof.json')" \
		'3000 2500 1000 3000 0'
is 'rocprofv3: the ends of the process are gaps' \
	"$(figures 'tl-timeline --micro-idle 2us rocprof.json')" \
	'10000 2500 1000 3000 1000 6000'

# ---- every kind of input ----

tl-decode "$SAMPLE" >plain.tl
tl-link plain.tl >sample.tl
tl-timeline sample.tl >want
same 'a stream that is not linked' want "$(tl-timeline plain.tl >got; echo got)"
same 'a raw trace' want "$(tl-timeline "$SAMPLE" >got; echo got)"
same 'a tree' want "$(tl-tree sample.tl | tl-timeline >got; echo got)"
same 'stdin' want "$(tl-timeline <sample.tl >got; echo got)"
same 'stdin as -' want "$(tl-timeline - <sample.tl >got; echo got)"
same 'a raw trace from stdin' want "$(tl-timeline <"$SAMPLE" >got; echo got)"
gzip -k sample.tl
same 'gzip' want "$(tl-timeline sample.tl.gz >got; echo got)"
zstd -q sample.tl
same 'zstd' want "$(tl-timeline sample.tl.zst >got; echo got)"
tl-cat sample.tl >sample.ndjson
same 'NDJSON' want "$(tl-timeline sample.ndjson >got; echo got)"
tl-decode steps.json | tl-link >small.tl
refuses_cuts small.tl 150 tl-timeline
refuses 1 'cut off' 'head -c 900 sample.tl | tl-timeline'
refuses 1 'sample' 'head -c 2000 sample.tl.gz >sample2.gz; tl-timeline sample2.gz'
refuses 1 '.' 'tl-timeline </dev/null'
refuses 1 'not_a_trace' 'echo hello >not_a_trace; tl-timeline not_a_trace'
refuses 1 'directory' 'tl-timeline .'
refuses 1 'No such file' 'tl-timeline missing.tl'
refuses 1 'No space left' 'tl-timeline sample.tl >/dev/full'
quiet 'a reader may leave' 'tl-timeline --by step steps.tl | head -n 1'
quiet 'nothing on stderr' 'tl-timeline sample.tl'
refuses -o 1 'Bad file descriptor|closed' 'tl-timeline sample.tl >&-'

# ---- no answer, and usage ----

reports 5 no-gpu-events 'tl-timeline host.json'
reports 5 no-linked-gpu-events 'tl-timeline --linked-only worked.json'
reports 5 no-match 'tl-timeline --name nosuch steps.tl'
when "$has_first" '--from behind all launches' "$nofirst" &&
	refuses 5 'launch: try --by-gpu-time' \
		'tl-timeline --from 190us steps.tl'
refuses 5 'none of these steps: it has 1 to 2' 'tl-timeline --step 7 steps.tl'
refuses 5 "no annotation 'bwd'" 'tl-timeline --annotation bwd steps.tl'
refuses 2 'needs annotation, dev' 'tl-timeline --by kind worked.json'
refuses 2 'one timeline of all' 'tl-timeline --join --by rank worked.json'
refuses 2 'needs kernel, memcpy or memset' 'tl-timeline --kind op worked.json'
refuses 2 'no kind of event' 'tl-timeline --kind kernels worked.json'
refuses 2 'needs a time' 'tl-timeline --micro-idle 5 worked.json'
refuses 2 'needs a time' 'tl-timeline --from 5 worked.json'
refuses 2 'needs steps' 'tl-timeline --step x worked.json'
refuses 2 'no regular expression' 'tl-timeline --comm-pattern "(" worked.json'
refuses 2 'column' 'tl-timeline -c nosuch worked.json'
refuses 2 'column' 'tl-timeline --sort nosuch worked.json'
refuses 2 'unknown option' 'tl-timeline --nosuch worked.json'
run 'tl-timeline -v steps.tl'
like '-v: a summary' "$(cat "$log/err")" \
	'steps.tl: 5 GPU events, 5 counted, 1 without a launch, 0 duplicates'
ok '--help' sh -c 'tl-timeline --help | grep -q linked-only'

# ---- random traces against the oracle ----

cat >random-traces.py <<'EOF'
import json, random, subprocess, sys
root, seed = sys.argv[1], int(sys.argv[2])
rnd = random.Random(seed)
NAMES = ["gemm", "ncclDevKernel", "rcclAllReduce", "__amd_rocclr_copyBuffer.kd",
         "__amd_rocclr_fillBuffer", "Cross_Device_Reduce", "elementwise"]
events = []
for corr in range(rnd.randint(1, 60)):
    cat = rnd.choice(["kernel"] * 4 + ["gpu_memcpy", "gpu_memset"])
    if rnd.random() < .7:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                       "pid": 1, "tid": 1, "ts": corr, "dur": 1,
                       "args": {"correlation": corr}})
    dev = rnd.randint(0, 2)
    events.append({"ph": "X", "cat": cat, "name": rnd.choice(NAMES), "pid": dev, "tid": 7,
                   "ts": rnd.randint(0, 300000) / 1000, "dur": rnd.choice([0, 1, 5.5, 20.125]),
                   "args": {"device": dev, "stream": 7, "correlation": corr}})
with open("random.json", "w") as f:
    f.write(json.dumps({"traceEvents": events}))
KINDS = ["--table", "gpu_busy_kinds"]
busy = {}
for extra in ([], ["--linked-only"], ["--by", "dev"], ["--micro-idle", "5us"],
              KINDS, KINDS + ["--by", "dev"], KINDS + ["--linked-only"]):
    theirs = [x.replace("5us", "5000").replace("--table", "--kinds") for x in extra
              if x != "gpu_busy_kinds"]
    want = subprocess.run(["python3", root + "/tests/oracle/timeline.py"] + theirs +
                          ["random.json"], capture_output=True, text=True)
    got = subprocess.run(["tl-timeline"] + extra + ["random.json"],
                         capture_output=True, text=True)
    lines = [x for x in got.stdout.splitlines() if "unlinked_time" not in x]
    if got.returncode != want.returncode or lines != want.stdout.splitlines():
        sys.exit("seed %d %s\n%s%s---\n%s" % (seed, extra, got.stdout, got.stderr, want.stdout))
    rows = {}
    for line in lines[1:]:
        *key, name, ns, _ = line.split("\t")
        rows.setdefault(tuple(key), {})[name] = int(ns)
    for key, r in rows.items():
        if extra[:2] == KINDS:
            if sum(r.values()) != busy[key, "--linked-only" in extra]:
                sys.exit("seed %d: the kinds are not the busy time" % seed)
            continue
        busy[key, "--linked-only" in extra] = r["busy_time"]
        idle = r.get("idle_time", r.get("micro_idle_time", 0) + r.get("macro_idle_time", 0))
        if (r["computation_time"] + r["exposed_comm_time"] + r["exposed_memcpy_time"] + idle
                != r["total_time"]):
            sys.exit("seed %d: the parts are not the whole" % seed)
EOF
# shellcheck disable=SC2016 # for the inner shell
ok 'random traces: as the oracle says, and parts add up' \
	sh -ec 'for seed in 1 2 3 4 5 6 7 8; do python3 random-traces.py "$ROOT" $seed; done'

page_examples tl-timeline.1
done_testing
