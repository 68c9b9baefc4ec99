#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-ops: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

op() { # op NAME TS DUR [DIMS]
	ev cpu_op "$1" 1 "$2" "$3" \
		"${4:+\"Input Dims\":$4,\"Input type\":[\"float\"],\"Input Strides\":[[1]],\"Concrete Inputs\":[\"\"]}"
}
call() { ev cuda_runtime "${3:-cudaLaunchKernel}" 1 "$1" 1 "\"correlation\":$2"; }
gpu() { # gpu NAME STREAM TS DUR CORR [DEV] [CAT]
	ev "${7:-kernel}" "$1" "$2" "$3" "$4" \
		"\"device\":${6:-0},\"stream\":$2,\"correlation\":$5"
}

# ---- direct and subtree time ----

# outer launches k1 itself and contains inner, which launches k2 and k3 on two
# streams at once; a collective; a launch outside ops; an unlinked kernel.
nested() {
	meta process_name 1 0 name python
	meta process_labels 1 0 labels CPU
	meta thread_name 1 1 name main
	ev user_annotation ProfilerStep#5 1 0 99
	ev user_annotation ProfilerStep#6 1 100 99
	ev user_annotation fwd 1 5 60
	ev python_function 'nn.Module: Net_0' 1 1 90
	op my::outer 10 40 '[[4,8]]'
	call 11 1
	ev python_function 'a.py(1): f' 1 15 30
	op my::inner 20 20 '[[8,4]]'
	call 21 2
	call 23 3
	op c10d::allreduce_ 70 10
	call 71 4
	call 110 5 cudaGraphLaunch
	op my::inner 120 20 '[[8,4]]'
	op execute 121 15
	call 122 6
	gpu k1 7 100 10 1
	gpu k2 7 110 10 2
	gpu k3 8 115 10 3
	gpu ncclDevKernel 9 200 50 4
	gpu k5 7 300 5 5
	gpu k5 7 305 5 5
	gpu k2 7 400 4 6
	gpu stray 7 500 9 99
}
nested | trace >nested.json
tl-tree nested.json >small.tl

tab=$(printf '\t')
is 'by name: two of the same stream add up, of two streams they overlap' \
	"$(tl-ops small.tl)" "\
name${tab}direct_ns_sum${tab}subtree_ns_sum${tab}count${tab}pct_of_direct${tab}cumulative_pct
my::inner${tab}19000${tab}19000${tab}2${tab}48.717948717948715${tab}48.717948717948715
cudaGraphLaunch${tab}10000${tab}10000${tab}1${tab}25.64102564102564${tab}74.35897435897436
my::outer${tab}10000${tab}25000${tab}1${tab}25.64102564102564${tab}100.0"
is 'a stream without frames says the same' \
	"$(tl-tree --no-python nested.json | tl-ops)" "$(tl-ops nested.json)"
is '--by category' "$(rows 'tl-ops --by category -c op_category,count,direct_ns_sum small.tl')" \
	'other 4 39000.'
is '--by args' \
	"$(rows 'tl-ops --by args -c name,thread_name,process_name,process_label,input_dims,input_types,input_strides,concrete_inputs,operation_count,first_uid small.tl')" \
	'my::inner main python CPU [[8,4]] ["float"] [[1]] [""] 2 10.my::outer main python CPU [[4,8]] ["float"] [[1]] [""] 1 7.cudaGraphLaunch main python CPU 1 15.'
is '--by args: statistics' \
	"$(rows 'tl-ops --by args --name my::inner -c direct_ns_mean,direct_ns_median,direct_ns_std,direct_ns_min,direct_ns_max,subtree_ns_sum small.tl')" \
	'9500.0 9500.0 7778.174593052023 4000 15000 19000.'
is 'one call has no deviation' \
	"$(tl-ops --by args --name my::outer -c direct_ns_std --no-header small.tl)" ''
is '--by module' "$(rows 'tl-ops --by module -c module,count,direct_ns_sum small.tl')" \
	'nn.Module: Net_0 2 25000. 2 14000.'
is '--by annotation' "$(rows 'tl-ops --by annotation -c annotation,count small.tl')" \
	'fwd 2. 2.'
is '--by step' "$(rows 'tl-ops --by step -c step,direct_ns_sum small.tl')" \
	'5 25000.6 14000.'
is '--by thread' "$(rows 'tl-ops --by thread -c thread_name,count small.tl')" 'main 4.'
is '--include-comm' \
	"$(rows 'tl-ops --include-comm --top 1 -c name,direct_ns_sum small.tl')" \
	'c10d::allreduce_ 50000.'
is '--all-ops' "$(rows 'tl-ops --all-ops -c name,count,launching_count,subtree_ns_sum,direct_ns_sum small.tl')" \
	'c10d::allreduce_ 1 0 50000 0.my::outer 1 1 25000 10000.my::inner 2 2 19000 19000.cudaGraphLaunch 1 1 10000 10000.execute 1 0 4000 0.'
is '--clock cpu' "$(rows 'tl-ops --clock cpu -c name,count,cpu_self_ns,cpu_total_ns small.tl')" \
	'my::inner 2 25000 40000.my::outer 1 20000 40000.execute 1 15000 15000.c10d::allreduce_ 1 10000 10000.'
is '--num-kernels' \
	"$(rows 'tl-ops --by args --num-kernels --name my::inner -c num_kernels,direct_ns_sum small.tl')" \
	'2 15000.1 4000.'
is '--first-occurrence' \
	"$(rows 'tl-ops --by args --first-occurrence -c name,first_occurrence_ns small.tl')" \
	'my::inner 10000.my::outer 0.cudaGraphLaunch 100000.'
is 'details: calls with as many kernels as the first' \
	"$(tl-ops --by args --name my::inner -c kernel_details_summary --no-header small.tl)" \
	'[{"name":"k2","stream":7,"count":1,"total_duration_us":10.0,"mean_duration_us":10.0,"median_duration_us":10.0,"std_dev_duration_us":0.0,"min_duration_us":10.0,"max_duration_us":10.0},{"name":"k3","stream":8,"count":1,"total_duration_us":10.0,"mean_duration_us":10.0,"median_duration_us":10.0,"std_dev_duration_us":0.0,"min_duration_us":10.0,"max_duration_us":10.0}]'
is 'details, short' \
	"$(tl-ops --by args --name my::outer -c trunc_kernel_details --no-header small.tl)" \
	'[{"name":"k1","stream":7,"mean_duration_us":10.0}]'
is '--table' "$(tl-ops --table ops_by_step small.tl)" "$(tl-ops --by step small.tl)"
like '--list-tables' "$(tl-ops --list-tables)" '^ops_unique_args_kl_overlap'
like 'a table says how much has no op' "$(tl-ops --format table small.tl)" \
	'^1 of 8 GPU events has no launch'
like 'and how much is left out' "$(tl-ops --format table small.tl | sed -n 2p)" \
	'^1 collectives, 0.050 ms of GPU time, are not counted: see --include-comm'
is 'nothing is, with --include-comm' \
	"$(tl-ops --format table --include-comm small.tl | grep -c 'collectives')" 0
is 'nor of the time on the host' \
	"$(tl-ops --format table --clock cpu small.tl | grep -c 'collectives')" 0
is 'a selection leaves out what it has' \
	"$(tl-ops --format table --to 65us small.tl | grep -c 'collectives')" 0

# ---- places ----

# the profiler's first step is 0
{
	ev user_annotation ProfilerStep#0 1 0 50
	ev user_annotation ProfilerStep#1 1 50 50
	for i in 1 61 161; do
		op a $i 10
		call $((i + 1)) $i
		gpu k 7 $((i + 5)) $i $i
	done
} | trace >steps.json
is 'steps from 0 on, then what is in none' \
	"$(rows 'tl-ops --by step -c step,direct_ns_sum steps.json')" '0 1000.1 61000. 161000.'

# one thread, written in two ways; an annotation of another thread began later
{
	ev cpu_op my::op '"1"' 0 50
	call 10 1
	gpu k 7 20 5 1
	ev user_annotation mine '"1"' 0 40
	ev user_annotation other 2 5 40
} | trace >written.json
is 'a thread as a number and as its digits is one' \
	"$(rows 'tl-ops -c name,subtree_ns_sum written.json')$(
		rows 'tl-ops --all-ops --by annotation -c annotation,count written.json')" \
	'my::op 5000.mine 1.'

# g and d begin within the last 0.5 us of a, and end after it
{
	ev python_function 'a.py(1): f' 1 0 100
	op a 10 10
	call 11 1
	ev python_function 'b.py(1): g' 1 19.5 50
	op d 19.6 20
	call 21 2
	gpu k 7 30 5 1
	gpu k 7 40 7 2
} | trace >beside.json
is 'an op that reaches out of another is none of it, also without frames' \
	"$(rows 'tl-ops --all-ops -c name,subtree_ns_sum beside.json')" 'd 7000.a 5000.'
is 'nor in tl-roofline' \
	"$(tl-roofline -c name,kernel_ns_sum --no-header beside.json | tr '\t\n' ' .')" 'd 7000.a 5000.'

# a module without GPU work
{
	ev python_function 'nn.Module: Idle_0' 1 0 50
	op aten::view 10 10
	op my::op 60 5
	call 61 1
	gpu k 7 70 5 1
} | trace >idle.json
is 'the module of an op without GPU work' \
	"$(rows 'tl-ops --clock cpu --by module -c module,count idle.json')" \
	'nn.Module: Idle_0 1. 1.'
is 'and its type' \
	"$(rows 'tl-ops --all-ops --name aten::view --parent-module -c parent_module,count idle.json')" \
	'nn.Module: Idle 1.'

# graph replay: two of the same op
{
	for i in 0 1; do
		op aten::graph $((i * 100)) 50 '[]'
		call $((i * 100 + 10)) $((i + 1)) cudaGraphLaunch
	done
	gpu A 7 1000 20 1
	gpu B 7 1020 30 1
	gpu C 7 1050 40 1
	gpu A 7 2000 22 2
	gpu B 7 2022 28 2
	gpu C 7 2050 41 2
} | trace >graph.json
{
	tl-ops --all-ops -c pct_of_busy --no-header small.tl
	tl-ops --all-ops -c pct_of_busy --no-header graph.json
} >apart.tsv
is 'of two sources, each a share of its own busy time' \
	"$(tl-ops --all-ops -c pct_of_busy --no-header small.tl graph.json)" "$(cat apart.tsv)"
is 'graph replay' "$(rows 'tl-ops --by args -c direct_ns_sum,trunc_kernel_details graph.json')" \
	'181000 [{"name":"A","stream":7,"mean_duration_us":21.0},{"name":"B","stream":7,"mean_duration_us":29.0},{"name":"C","stream":7,"mean_duration_us":40.5}].'

# ---- overlap: the worked example ----

{
	op opA 0 10 '[]'
	call 1 1
	op opB 20 10 '[]'
	call 21 2
	op opC 40 10 '[]'
	call 41 3
	call 43 4
	gpu kA 7 100 50 1
	gpu kB 8 120 80 2
	gpu kC 7 300 50 3
	gpu kD 8 310 50 4
} | trace >overlap.json
over='tl-ops --by args --overlap -c name,overlapping_kernel_names,overlap_pct_mean'
is '--overlap; not of the same op' "$(rows "$over overlap.json")" \
	'opB ["kA"] 0.38.opC .opA ["kB"] 0.6.'
is '--overlap: lists' \
	"$(tl-ops --by args --overlap --name opA -c overlapping_kernels_details_summary --no-header overlap.json)" \
	'[{"name":"kB","stream":8,"overlap_pct":0.6,"count":1,"total_duration_us":80.0,"mean_duration_us":80.0,"median_duration_us":80.0,"std_dev_duration_us":0.0,"min_duration_us":80.0,"max_duration_us":80.0}]'
{
	op opA 0 10 '[]'
	call 1 1
	op opB 20 10 '[]'
	call 21 2
	gpu kA 7 100 50 1
	gpu kB 7 120 80 2 1
	gpu stray 9 149 100 9
} | trace >devices.json
is '--overlap: the same stream of another device is another' \
	"$(rows "$over --linked-only devices.json")" 'opB ["kA"] 0.38.opA ["kB"] 0.6.'
is '--overlap: unlinked work runs beside; 1us is enough' \
	"$(rows "$over devices.json")" 'opB ["kA","stray"] 1.0.opA ["kB","stray"] 0.6.'

# ---- selection ----

is '--step' "$(rows 'tl-ops --step 6 -c name,direct_ns_sum small.tl')" \
	'cudaGraphLaunch 10000.my::inner 4000.'
is '--annotation' "$(rows 'tl-ops --annotation fwd -c name,direct_ns_sum small.tl')" \
	'my::inner 15000.my::outer 10000.'
is '--name is of ops' "$(rows 'tl-ops --name "*outer" -c name,count small.tl')" 'my::outer 1.'
is '--gpu-stream' "$(rows 'tl-ops --gpu-stream 8 -c name,direct_ns_sum small.tl')" \
	'my::inner 10000.'
is '--min-dur' "$(rows 'tl-ops --min-dur 10us -c name,direct_ns_sum small.tl')" \
	'my::inner 15000.my::outer 10000.'
is '--from, --to' "$(rows 'tl-ops --from 100us --to 119us -c name,direct_ns_sum small.tl')" \
	'cudaGraphLaunch 10000.'
{
	op my::conv 0 10
	call 1 1
	ev python_function 'torch/utils/checkpoint.py(9): recompute_fn' 1 20 50
	op my::conv 30 10
	call 31 2
	gpu a 7 100 5 1
	gpu a 7 200 7 2
} | trace >again.json
is '--recompute' "$(rows 'tl-ops --recompute -c name,is_recompute,direct_ns_sum again.json')" \
	'my::conv true 7000.my::conv false 5000.'

# ---- several sources, folders ----

for r in 0 1; do
	nested | trace ",\"distributedInfo\":{\"rank\":$((3 - r))}" >rank$r.json
done
is 'sources apart, by rank' \
	"$(rows 'tl-ops --by category -c rank,direct_ns_sum,cumulative_pct rank0.json rank1.json')" \
	'3 39000 100.0.2 39000 100.0.'
is 'the same rank twice is known by number' \
	"$(rows 'tl-ops --by category -c src,direct_ns_sum rank0.json rank0.json')" '0 39000.1 39000.'
is '--rank' "$(rows 'tl-ops --rank 2 --by category -c count rank0.json rank1.json')" '4.'
like 'without a launch are those of the ranks asked for' \
	"$(tl-ops --rank 2 --format table rank0.json rank1.json)" \
	'^1 of 8 GPU events has no launch'
tl-ops -d dir --overlap --by thread small.tl
is '-d writes the tables of the reference, and the one asked for' "$(echo dir/*)" \
	'dir/ops_by_thread.csv dir/ops_summary.csv dir/ops_summary_by_category.csv dir/ops_unique_args.csv dir/ops_unique_args_kl_overlap.csv'
is '-d has its labels' "$(sed -n 1,2p dir/ops_summary_by_category.csv)" \
	"op category,Count,total_direct_kernel_time_ms,Percentage (%),Cumulative Percentage (%)
other,4,0.039,100.0,100.0"
is '-d has its columns' "$(head -n 1 dir/ops_summary.csv)" \
	'name,total_direct_kernel_time_sum,total_subtree_kernel_time_sum,total_direct_kernel_time_ms,total_subtree_kernel_time_ms,Count,Categories,Percentage (%),Cumulative Percentage (%)'
tl-ops -o out.tsv small.tl
is '-o' "$(cat out.tsv)" "$(tl-ops small.tl)"
for form in tsv csv ndjson md; do
	tl-ops -o "out.$form" small.tl
	is "-o out.$form is $form" "$(cat "out.$form")" "$(tl-ops --format $form small.tl)"
done
tl-ops -o out.json small.tl
is '-o out.json is NDJSON' "$(cat out.json)" "$(tl-ops --format ndjson small.tl)"
tl-ops --format tsv -o out.csv small.tl
is '--format comes first' "$(cat out.csv)" "$(tl-ops small.tl)"
rm -f out.xlsx out.html
refuses 2 'a table is no workbook: see tl-report and tl-xlsx' 'tl-ops -o out.xlsx small.tl'
refuses 2 'a table is no page: see tl-report and tl-html' 'tl-ops -o out.html small.tl'
is 'nor is one begun' "$(ls out.xlsx out.html 2>/dev/null)" ''
is 'NDJSON is valid: lists are lists' \
	"$(tl-ops --by args --format ndjson -c +details small.tl | python3 -c '
import json, sys
rows = [json.loads(x) for x in sys.stdin]
print(len(rows), rows[-1])')" "5 {'end': {'rows': 3}}"

# ---- every kind of input ----

tl-decode "$SAMPLE" >plain.tl
tl-tree plain.tl >sample.tl
tl-ops sample.tl >want
same 'a stream that is no tree' want "$(tl-ops plain.tl >got; echo got)"
same 'a raw trace' want "$(tl-ops "$SAMPLE" >got; echo got)"
same 'stdin' want "$(tl-ops <sample.tl >got; echo got)"
same 'stdin as -' want "$(tl-ops - <sample.tl >got; echo got)"
same 'a raw trace from stdin' want "$(tl-ops <"$SAMPLE" >got; echo got)"
gzip -k sample.tl
same 'gzip' want "$(tl-ops sample.tl.gz >got; echo got)"
zstd -q sample.tl
same 'zstd' want "$(tl-ops sample.tl.zst >got; echo got)"
tl-cat sample.tl >sample.ndjson
same 'NDJSON' want "$(tl-ops sample.ndjson >got; echo got)"
refuses_cuts small.tl 100 tl-ops
refuses 1 'cut off' 'head -c 900 sample.tl | tl-ops'
refuses 1 '.' 'tl-ops </dev/null'
refuses 1 'not_a_trace' 'echo hello >not_a_trace; tl-ops not_a_trace'
refuses 1 'directory' 'tl-ops .'
refuses 1 'No such file' 'tl-ops missing.tl'
refuses 1 'No space left' 'tl-ops sample.tl >/dev/full'
refuses -o 1 'Bad file descriptor|closed' 'tl-ops sample.tl >&-'
quiet 'a reader may leave' 'tl-ops --by args -c +details sample.tl | head -n 1'
quiet 'nothing on stderr' 'tl-ops sample.tl'

# ---- no answer, and usage ----

{ gpu a 7 1 1 1; } | trace >gpu.json
op aten::mm 1 2 | trace >host.json
{ op aten::mm 1 5; call 2 1; gpu ncclDevKernel 7 5 5 1; } | trace >comm.json
reports 5 no-gpu-events 'tl-ops host.json'
refuses 5 'none of 1 GPU events has its launch' 'tl-ops gpu.json'
refuses 5 'are collectives' 'tl-ops comm.json'
refuses 5 'no op of that name' 'tl-ops --name nosuch small.tl'
refuses 5 'the selection matches none' 'tl-ops --gpu-stream 77 small.tl'
refuses 5 'none of these steps' 'tl-ops --step 9 small.tl'
refuses 5 'no source has a rank' 'tl-ops --rank 7 rank0.json'
is '--clock cpu needs no GPU' "$(rows 'tl-ops --clock cpu -c name,cpu_self_ns host.json')" \
	'aten::mm 2000.'
is 'what it did on a GPU is unknown then' \
	"$(rows 'tl-ops --clock cpu -c name,subtree_ns_sum host.json')" 'aten::mm .'
{ call 1 1; gpu a 7 5 5 1; } | trace >calls.json
is 'no ops: calls are the owners' "$(rows 'tl-ops -c name,count calls.json')" 'cudaLaunchKernel 1.'
is 'no arguments: empty' \
	"$(tl-ops --by args -c input_dims,first_uid --no-header calls.json)" "${tab}0"
refuses 2 'needs .*args' 'tl-ops --overlap small.tl'
refuses 2 'args' 'tl-ops --by shape small.tl'
refuses 2 'no table' 'tl-ops --table nosuch small.tl'
refuses 2 'needs kernel, memcpy or memset' 'tl-ops --kind op small.tl'
refuses 2 'column' 'tl-ops -c nosuch small.tl'
refuses 2 'column' 'tl-ops --sort nosuch small.tl'
refuses 2 'unknown option' 'tl-ops --nosuch small.tl'
run 'tl-ops -v small.tl'
like '-v: a summary' "$(cat "$log/err")" \
	'small.tl: 8 GPU events, 8 counted, 1 without a launch, 0 duplicates'
printf 'nonsense' >bad.lua
refuses 1 'bad.lua' 'tl-ops --models bad.lua small.tl'
ok '--help' sh -c 'tl-ops --help | grep -q all-ops'

# ---- modules ----

{
	ev python_function 'nn.Module: Net_0' 1 0 100
	ev python_function 'nn.Module: Fast_2_Linear_12' 1 10 30
	op aten::mm 11 10 '[[4,8]]'
	call 12 1
	ev python_function 'nn.Module: Fast_2_Linear_13' 1 50 30
	op aten::mm 51 10 '[[4,8]]'
	call 52 2
	op aten::mm 200 10 '[[4,8]]'
	call 201 3
	gpu k 7 300 10 1
	gpu k 7 320 20 2
	gpu k 7 350 40 3
} | trace >modules.json
is '--parent-module' "$(rows 'tl-ops --parent-module -c name,parent_module,count,direct_ns_sum modules.json')" \
	'aten::mm NA 1 40000.aten::mm nn.Module: Fast_Linear 2 30000.'
is '--call-stack' "$(rows 'tl-ops --call-stack -c name,call_stack modules.json')" \
	'aten::mm ["aten::mm","nn.Module: Fast_2_Linear_12","nn.Module: Net_0"].'
is 'both, by args' \
	"$(rows 'tl-ops --by args --parent-module --call-stack -c parent_module,call_stack modules.json')" \
	'NA ["aten::mm"].nn.Module: Fast_Linear ["aten::mm","nn.Module: Fast_2_Linear_12","nn.Module: Net_0"].'
is 'both, by category' \
	"$(rows 'tl-ops --by category --parent-module --call-stack -c op_category,parent_module,count modules.json')" \
	'GEMM NA 1.GEMM nn.Module: Fast_Linear 2.'
refuses 2 'needs --by name, category or args' 'tl-ops --by step --parent-module modules.json'
refuses 2 'needs --by name, category or args' 'tl-ops --by thread --call-stack modules.json'
{
	op vllm::outplace_fused_experts 10 80 '[[1],[2],[3],[4],[5,2]]'
	call 12 1
	gpu fused_moe_kernel_gptq_awq 7 300 10 1
	call 42 2
	gpu fused_moe_kernel_gptq_awq 7 320 10 2
} | trace >experts.json
is '--pseudo-ops' "$(rows 'tl-ops --pseudo-ops --sort name -c name,direct_ns_sum experts.json')" \
	'pseudo_op::moe_gptq_awq_down 10000.pseudo_op::moe_gptq_awq_up 10000.'

# ---- invalid arguments ----

# The text of each is kept or the cell is empty; the time counts in any case.
i=0
while read -r dims; do
	i=$((i + 1))
	op aten::mm $((i * 100)) 50 "$dims"
	call $((i * 100 + 1)) $i
	gpu k 7 $((9000 + i * 100)) 3 $i
done >lines <<'END'
"[[4,8],[8"
7
null
true
{"a":1}
[[4,"8"],[8,2]]
[[-4.5,8],[8,2]]
[[NaN,8],[8,2]]
[[9223372036854775808,8],[8,2]]
[]
[[[[[[[[[4]]]]]]]]]
END
trace <lines >odd.json
is 'odd arguments: all time is there' \
	"$(tl-ops --by args -c direct_ns_sum --no-header odd.json | awk '{ n += $1 } END { print n }')" \
	$((i * 3000))
is 'odd arguments: what is no list or object is empty' \
	"$(rows 'tl-ops --by args -c input_dims,direct_ns_sum odd.json' | cut -d . -f 1)" ' 12000'
is 'odd arguments: by op,args,kernel too' \
	"$(rows 'tl-kernels --by op,args,kernel -c input_dims,dur_ns_sum odd.json' | cut -d . -f 1)" ' 12000'
is 'without shapes: one row an op' \
	"$(sed 's/"Input [A-Z]*"/"x"/g; s/"Input /"x /g; s/"Concrete Inputs"/"c"/' odd.json >plain.json
	rows 'tl-ops --by args -c name,input_dims,operation_count plain.json')" 'aten::mm 11.'

# ---- 100,000 sets of arguments ----

python3 - <<'EOF'
import json
ev = []
for i in range(100000):
    ev.append({"ph": "X", "cat": "cpu_op", "name": "my::op", "pid": 1, "tid": 1, "ts": i * 10,
               "dur": 8, "args": {"Input Dims": [[i, 3]], "Input type": ["float"]}})
    ev.append({"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1,
               "ts": i * 10 + 1, "dur": 2, "args": {"correlation": i + 1}})
    ev.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": i * 10 + 5,
               "dur": 3, "args": {"correlation": i + 1, "device": 0, "stream": 7}})
open("many.json", "w").write(json.dumps({"traceEvents": ev}))
EOF
tl-tree many.json -o many.tl
is '100,000 sets of arguments' \
	"$(tl-ops --by args -c direct_ns_sum many.tl | sed 1d | sort | uniq -c | tr -s ' ')" \
	' 100000 3000'

# ---- shares do not change ----
tl-ops -c name,pct_of_direct,cumulative_pct --no-header small.tl | sort >shares
is '--sort changes no share' \
	"$(tl-ops -c name,pct_of_direct,cumulative_pct --sort name --no-header small.tl | sort)" "$(cat shares)"
is 'nor does --top' \
	"$(tl-ops -c name,pct_of_direct,cumulative_pct --sort -name --top 1 --no-header small.tl)" \
	"$(tail -n 1 shares)"

# ---- a selection that matches nothing lists what there is ----
refuses 5 "GPU events; it has GPU streams? [0-9]" 'tl-ops --gpu-stream 77 small.tl'
refuses 5 "GPU events; it has device 0$" 'tl-ops --dev 9 small.tl'
refuses 5 "has no annotation 'nosuch'; it has '" 'tl-ops --annotation nosuch small.tl'
cat >reach.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":200,"dur":12.5,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":5300,"dur":2,"args":{"device":0,"stream":7}}
]}
END
refuses 5 'of 2 GPU events; it has events from 0ns to 5.1ms$' 'tl-kernels --by-gpu-time --from 10s reach.json'
refuses 5 'of 2 GPU events; the longest is 12.5us$' 'tl-kernels --min-dur 1ms reach.json'
tl-ops --annotation "$(tl-cat -F name --kind annotation --no-header small.tl | head -n 1)" -c name small.tl >out 2>err
is 'what it names can be selected' "$? $(cat err)" '0 '

# ---- unknown columns ----
refuses 2 "no column 'time': is it direct_ns_sum or subtree_ns_sum\?$" 'tl-ops --sort time small.tl'
for c in "direct_ns_smu:direct_ns_sum or direct_ms_sum" dir_ns:direct_ns_sum cuont:count 'pct:pct_of_direct or cumulative_pct'; do
	refuses 2 "has no column '${c%%:*}': is it ${c#*:}\?$" "tl-ops -c ${c%%:*} small.tl"
done
refuses 2 "^tl-ops: --sort: ops_summary has no column 'names': is it name" 'tl-ops --sort -names small.tl'
refuses 2 "no column 'zzz'; it has rank name .* and [0-9]+ more: see the page$" 'tl-ops -c zzz small.tl'

# ---- phases ----

# A prefill iteration, a decode one with a kernel of another thread, a mixed
# one; a launch after them; a collective, which owns nothing.
phases() {
	meta process_name 1 0 name engine
	ev user_annotation 'execute_context_2(600)_generation_0(0)' 1 100 100
	ev user_annotation 'execute_context_0(0)_generation_4(4)' 1 300 100
	ev user_annotation 'execute_context_1(5)_generation_3(3)' 1 500 100
	op aten::mm 110 20 '[[600,64],[64,64]]'
	call 115 1
	op aten::mm 310 20 '[[4,64],[64,64]]'
	call 315 2
	op c10d::allreduce_ 340 9
	call 341 7
	ev cpu_op vllm::unified_attention 2 350 20 '"Input Dims":[[4,8,64],[4,8,64]]'
	ev cuda_runtime cudaLaunchKernel 2 355 1 '"correlation":3'
	op aten::mm 510 20 '[[8,64],[64,64]]'
	call 515 4
	op aten::add 700 20 '[[8,64],[64,64]]'
	call 705 5
	gpu Cijk_x 7 1000 600 1
	gpu Cijk_x 7 2000 30 2
	gpu paged_attention_v1 7 2100 10 3
	gpu ncclDevKernel_AllReduce 7 2200 70 7
	gpu Cijk_F8_x 7 3000 50 4
	gpu k_add 7 4000 1 5
	gpu stray 7 5000 1 99
}
phases | trace >phases.json
tl-tree phases.json >phases.tl
in_phase() { # in_phase PHASE [OPTION...]: name, time, count, share, method
	phase=$1
	shift
	rows "tl-ops --table ops_summary_$phase $* -c name,direct_ns_sum,count,pct_of_direct,phase,phase_method phases.tl"
}
is 'prefill' "$(in_phase prefill)" 'aten::mm 600000 1 100.0 prefill annotation.'
is 'decode: other threads of the process too' "$(in_phase decode)" \
	'aten::mm 30000 1 75.0 decode annotation.vllm::unified_attention 10000 1 25.0 decode annotation.'
is 'mixed' "$(in_phase mixed)" 'aten::mm 50000 1 100.0 mixed annotation.'
is 'outside' "$(in_phase outside)" 'aten::add 1000 1 100.0 outside annotation.'
is 'categories of kernels' "$(rows 'tl-ops --table ops_summary_mixed -c kernel_categories phases.tl')" 'GEMM-FP8.'
is 'each op and way to its kernels is guessed alike' "$(in_phase prefill --phase-method gemm_params)" \
	'aten::mm 600000 1 100.0 prefill gemm_params.'
is 'a threshold' "$(in_phase decode --phase-method gemm_params --phase-threshold 600)" \
	'aten::mm 680000 3 98.4081041968162 decode gemm_params.vllm::unified_attention 10000 1 1.447178002894356 decode gemm_params.aten::add 1000 1 0.1447178002894356 decode gemm_params.'
is 'hybrid says which method decided' "$(in_phase decode --phase-method hybrid)" \
	'aten::mm 680000 3 98.4081041968162 decode operation_frequency.vllm::unified_attention 10000 1 1.447178002894356 decode kernel_names.aten::add 1000 1 0.1447178002894356 decode operation_frequency.'
is 'a folder has those with rows' "$(rm -rf dir; tl-ops -d dir phases.tl; find dir -type f -printf "%f\n" | sort | grep -E 'prefill|decode|mixed|generic|outside' | tr '\n' ' ')" \
	'ops_summary_decode.csv ops_summary_mixed.csv ops_summary_outside.csv ops_summary_prefill.csv '
is '-d has its labels' "$(head -n 1 dir/ops_summary_prefill.csv)" \
	'Kernel categories,name,total_direct_kernel_time_sum,Count,total_direct_kernel_time_ms,Percentage (%),Cumulative Percentage (%),phase,phase_method'
is 'without iterations a folder has none' "$(rm -rf dir; tl-ops -d dir small.tl; find dir -type f -printf "%f\n" | sort | grep -c -E 'decode|outside')" 0
is 'unless asked for' "$(rm -rf dir; tl-ops -d dir --phase-method hybrid small.tl; find dir -type f -printf "%f\n" | sort | grep -c decode)" 1
is 'a later source without iterations has no phase of an earlier one' \
	"$(rows 'tl-ops --table ops_summary_decode --phase-method annotation -c count phases.tl small.tl')" '1.1.'
ev user_annotation ProfilerStep#1 1 0 2000 >two.txt
is 'steps of the profiler change nothing' "$({ cat two.txt; phases; } | trace | tl-ops --table ops_summary_decode)" \
	"$(tl-ops --table ops_summary_decode phases.tl)"
is 'kernels' "$(rows 'tl-kernels --table kernel_summary_decode -c kernel_category,op,name,dur_ns_sum,count,pct_of_kernels,phase,phase_method phases.tl')" \
	'Comm-AllReduce c10d::allreduce_ ncclDevKernel_AllReduce 70000 1 63.63636363636363 decode annotation.GEMM-CK aten::mm Cijk_x 30000 1 27.27272727272727 decode annotation.PagedAttention-Generic vllm::unified_attention paged_attention_v1 10000 1 9.090909090909092 decode annotation.'
is 'kernels without a launch are outside' "$(rows 'tl-kernels --table kernel_summary_outside -c name,count phases.tl')" 'stray 1.k_add 1.'
is 'kernels by a guess' "$(rows 'tl-kernels --table kernel_summary_prefill --phase-method gemm_params -c name,phase_method phases.tl')" 'Cijk_x gemm_params.'
refuses 2 "option '--phase-method'" 'tl-ops --phase-method x phases.tl'
refuses 2 'needs -d, --by phase or a table of a phase' 'tl-ops --by args --phase-method union phases.tl'
refuses 2 'needs -d, --by phase or a table of a phase' 'tl-kernels --by op --phase-method union phases.tl'
refuses 2 "option '--phase-threshold'" 'tl-ops --phase-threshold -1 phases.tl'

page_examples tl-ops.1
done_testing
