#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

# ev CAT NAME TID TS_US DUR_US [ARGS]: an event of a trace, a line
ev() {
	printf '{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":%s,"ts":%s,"dur":%s,"args":{%s}}\n' \
		"$1" "$2" "$3" "$4" "$5" "${6:-}"
}
# trace: lines of events on stdin to a trace
trace() {
	printf '{"traceEvents":[\n'
	sed '$!s/$/,/'
	printf ']}\n'
}
op() { # op NAME TS DUR [DIMS]
	ev cpu_op "$1" 1 "$2" "$3" ${4:+"\"Input Dims\":$4"}
}
call() { ev cuda_runtime "${3:-cudaLaunchKernel}" 1 "$1" 1 "\"correlation\":$2"; }
gpu() { # gpu NAME TS DUR CORR [CAT]
	ev "${5:-kernel}" "$1" 7 "$2" "$3" \
		"\"device\":0,\"stream\":7,\"correlation\":$4"
}
rows() { # rows CMD: a table without its header, on one line
	sh -c "$1" 2>"$TMP/err" | sed 1d | tr '\t\n' ' .' | sed 's/  */ /g'
}

# ---- an op that does its work with other ops ----

# net: linear (addmm: 2 kernels; relu) before; linear (mm, add_; relu) after,
# and one op more at the top of after.
before() {
	op net 0 100
	op linear 10 30 '[[4,8]]'
	op addmm 12 20 '[[8,4]]'
	call 13 1
	call 15 2
	op relu 50 20 '[[4]]'
	call 52 3
	op tail 110 10
	call 111 4 cudaMemsetAsync
	gpu k_bias 200 5 1
	gpu k_mm 205 20 2
	gpu k_relu 225 7 3
	gpu 'Memset (Device)' 240 2 4 gpu_memset
	gpu stray 500 9 99
}
after() {
	op zero 0 5
	op net 10 100
	op linear 20 30 '[[4,8]]'
	op mm 22 10 '[[8,4]]'
	call 23 1
	op add_ 33 10 '[[8]]'
	call 34 2
	op relu 60 20 '[[4]]'
	call 62 3
	op tail 120 10
	call 121 4 cudaMemsetAsync
	gpu k_mm 200 24 1
	gpu k_add 224 4 2
	gpu k_relu 230 7 3
	gpu 'Memset (Device)' 240 2 4 gpu_memset
}
before | trace >before.json
after | trace >after.json
tl-tree before.json >before.tl
tl-tree after.json >after.tl

tab=$(printf '\t')
tl-diff --print before.tl after.tl >tree.txt
is '--print: the tree' "$(cat tree.txt)" '├── << trace2: zero
├── net
│   ├── linear
│   │   ├── >> trace1: addmm
│   │   │   ├── >> trace1: cudaLaunchKernel
│   │   │   │   └── >> trace1: k_bias
│   │   │   └── >> trace1: cudaLaunchKernel
│   │   │       └── >> trace1: k_mm
│   │   ├── << trace2: mm
│   │   │   └── << trace2: cudaLaunchKernel
│   │   │       └── << trace2: k_mm
│   │   └── << trace2: add_
│   │       └── << trace2: cudaLaunchKernel
│   │           └── << trace2: k_add
│   └── relu
│       └── cudaLaunchKernel
│           └── k_relu
└── tail
    └── cudaMemsetAsync
        └── Memset (Device)'
is 'by op: work belongs to the op at which the trees part' \
	"$(rows 'tl-diff -c name,owner,input_dims,count_before,count_after,kernels_before,kernels_after,before_ns,after_ns,diff_ns,ratio,pct_of_diff before.tl after.tl')" \
	'(no launch) none 0 0 1 0 9000 0 -9000 0.0 -75.0.linear op [[4,8]] 1 1 2 2 25000 28000 3000 1.12 25.0.relu op [[4]] 1 1 1 1 7000 7000 0 1.0 0.0.tail op 1 1 1 1 2000 2000 0 1.0 0.0.'
is 'what is in no tree is told' "$(cat err)" \
	'tl-diff: before: 1 GPU events without a launch (0.009 ms) are in no tree'
is 'diff_stats' \
	"$(rows 'tl-diff --table diff_stats -c name,cpu_op_name,cpu_op_uid,source,input_dims,kernel_ns,busy_ns,lca_name,lca_id,gpu_op_uid,nn_module_stack before.tl after.tl')" \
	'k_bias addmm 2 trace1 [[8,4]] 5000 25000 linear 2 9 root.k_mm addmm 2 trace1 [[8,4]] 20000 25000 linear 2 10 root.k_mm mm 3 trace2 [[8,4]] 24000 28000 linear 2 11 root.k_add add_ 5 trace2 [[8]] 4000 28000 linear 2 12 root.k_relu relu 5 trace1 [[4]] 7000 7000 k_relu 16 11 root.k_relu relu 7 trace2 [[4]] 7000 7000 k_relu 16 13 root.Memset (Device) tail 7 trace1 2000 2000 Memset (Device) 19 12 root.Memset (Device) tail 9 trace2 2000 2000 Memset (Device) 19 14 root.'
is 'lca_summary' \
	"$(rows 'tl-diff --table lca_summary -c name,lca_id,before_ns,after_ns,kernels_before,kernels_after,kernel_names_after,ratio,diff_ns before.tl after.tl')" \
	'addmm 2 25000 28000 2 2 ["k_mm","k_add"] 1.12 3000.relu 16 7000 7000 1 1 ["k_relu"] 1.0 0.tail 19 2000 2000 1 1 ["Memset (Device)"] 1.0 0.'
is 'diff_stats_unique_args_summary: by time' \
	"$(rows 'tl-diff --table diff_stats_unique_args_summary -c name,source,kernel_ns_sum,cpu_op_common before.tl after.tl')" \
	'k_mm trace2 24000 mm.k_mm trace1 20000 mm.k_relu trace1 7000 relu.k_relu trace2 7000 relu.k_bias trace1 5000 mm.k_add trace2 4000 add_.Memset (Device) trace1 2000 tail.Memset (Device) trace2 2000 tail.'
is 'diff_inline: a row for each op above a point, and each kernel' \
	"$(rows 'tl-diff --table diff_inline -c name,ex_uid,count,kernel_ns_sum,ratio,diff_ns,lca_count_after,lca_ids,lca_names,lca_before_ns,lca_after_ns before.tl after.tl')" \
	'net 0 1 32000 1.09375 3000 2 2; 16 linear; k_relu 32000 35000.linear 1 1 25000 1.12 3000 1 2 linear 25000 28000.addmm 2 1 25000 1.12 3000 1 2 linear 25000 28000.relu 5 1 7000 1.0 0 1 16 k_relu 7000 7000.tail 7 1 2000 1.0 0 1 19 Memset (Device) 2000 2000.addmm->k_bias (Synthetic Op) 9 1 5000 1.12 23000 1 2 linear 25000 28000.addmm->k_mm (Synthetic Op) 10 1 20000 1.12 8000 1 2 linear 25000 28000.relu->k_relu (Synthetic Op) 11 1 7000 1.0 0 1 16 k_relu 7000 7000.tail->Memset (Device) (Synthetic Op) 12 1 2000 1.0 0 1 19 Memset (Device) 2000 2000.'
is 'diff_verdict' "$(rows 'tl-diff --table diff_verdict before.tl after.tl')" \
	"$(tl-diff --format table before.tl after.tl | sed '/^name /,$d' | tr '\n ' '. ')"
like 'diff_verdict of kernels' \
	"$(tl-diff --table diff_verdict --by kernel before.tl after.tl)" \
	'^GPU time 0.043 ms to 0.037 ms$'
is '--uid-map' "$(rows 'tl-diff --uid-map before.tl after.tl' | cut -c 1-60)" \
	' 0 trace2 0.0 1 combined 1.1 2 combined 2.2 trace1 3.3 trace'
is '--by kernel: with what has no launch' \
	"$(rows 'tl-diff --by kernel -c name,name_after,count_before,count_after,before_ns,after_ns,diff_ns before.tl after.tl')" \
	'stray 1 0 9000 0 -9000.k_bias 1 0 5000 0 -5000.k_mm 1 1 20000 24000 4000.k_add 0 1 0 4000 4000.k_relu 1 1 7000 7000 0.Memset (Device) 1 1 2000 2000 0.'
like 'a table for people begins with sentences' \
	"$(tl-diff --format table before.tl after.tl | head -n 1)" \
	'^GPU time 43\.0 us to 37\.0 us \(-14\.0 %\)$'
is '--names' "$(tl-diff --names old,new --format table before.tl after.tl | sed -n 3p)" \
	'GPU events without a launch: old 1 (9.0 us)'
is 'raw traces say the same' "$(tl-diff before.json after.json 2>&1)" \
	"$(tl-diff before.tl after.tl 2>&1)"
is '--list-tables' "$(tl-diff --list-tables | cut -f 1 | tr '\n' ' ')" \
	'diff_ops_summary diff_verdict diff_stats diff_stats_unique_args_summary lca_summary diff_inline uid_map diff_kernels '

# ---- what is printed ----

is '--subtree1' "$(tl-diff --subtree1 5 before.tl after.tl 2>/dev/null)" '└── relu
    └── cudaLaunchKernel
        └── k_relu'
is '--subtree2' "$(tl-diff --subtree2 10 before.tl after.tl 2>/dev/null)" \
	'└── cudaMemsetAsync
    └── Memset (Device)'
is '--min-diff' "$(tl-diff --print --min-diff 1us before.tl after.tl 2>/dev/null | grep -c relu)" 0
like '--min-diff keeps what differs' \
	"$(tl-diff --print --min-diff 1us before.tl after.tl 2>/dev/null)" 'trace1: addmm'
tl-diff -d out before.tl after.tl 2>/dev/null
is '-d' "$(cd out && echo *)" \
	'cpu_op_map.json cpu_op_map_trace1.json cpu_op_map_trace2.json diff_inline.csv diff_ops_summary.csv diff_stats.csv diff_stats_unique_args_summary.csv diff_verdict.csv lca_summary.csv merged_tree_output.txt uid_map.csv'
same '-d: the tree' out/merged_tree_output.txt tree.txt
is '-d: the map of a side' "$(tr -d ' \n' <out/cpu_op_map_trace1.json)" \
	'{"addmm":["k_bias","k_mm"],"relu":["k_relu"],"tail":["Memset(Device)"]}'
is '-d: labels' "$(head -n 1 out/diff_stats.csv)" \
	'name,cpu_op_name,cpu_op_uid,source,Input Dims,Input Strides,Input type,Concrete Inputs,kernel_time,busy_time,lowest_common_ancestor_name,lowest_common_ancestor_id,gpu_op_uid,nn_module_stack,nn_module_parent'

# ---- the same trace ----

is 'identical: said' "$(tl-diff after.tl after.tl 2>&1 >/dev/null)" 'tl-diff: identical'
is 'identical: rows of both sides' \
	"$(tl-diff --table diff_stats -c source after.tl after.tl 2>/dev/null | sort | uniq -c | tr -s ' \n' ' ')" \
	' 1 source 4 trace1 4 trace2 '

# ---- names ----

# one_op NAME: a trace of one op that launches by NAME
one_op() {
	op net 0 50
	op a 10 10
	call 12 1 "$1"
	gpu "$2" 100 5 1
}
one_op hipModuleLaunchKernel 'k_0x7f01' | trace >hip.json
one_op cuLaunchKernel 'k_0xabcd' | trace >cuda.json
one_op cudaLaunchKernel 'k2' | trace >other.json
is 'launches of drivers are one, addresses are none' \
	"$(tl-diff --uid-map hip.json cuda.json | grep -c trace)" 0
is 'other launches differ' \
	"$(tl-diff --uid-map hip.json other.json | grep -c trace)" 4
printf '# names\n\nhipModuleLaunchKernel\tcudaLaunchKernel\nk_0x1\tk2\n' >equiv
is '--equiv' "$(tl-diff --equiv equiv --uid-map hip.json other.json | grep -c trace)" 0

# frames: the second is elsewhere, another line
framed() {
	ev python_function "$1/a.py($2): f" 1 0 60
	ev python_function 'nn.Module: Net_0' 1 1 58
	op a 10 10
	call 12 1
	gpu k 100 5 1
	op b 30 10
	call 32 2
	gpu k 110 5 2
}
framed /x 1 | trace >f1.json
framed /y 22 | trace >f2.json
is '--python: lines and folders do not matter' \
	"$(rows 'tl-diff --python --table diff_stats -c cpu_op_name,source,lca_name,lca_id,nn_module_stack,nn_module_parent f1.json f2.json')" \
	'a trace1 k 3 nn.Module: Net nn.Module: Net.a trace2 k 3 nn.Module: Net nn.Module: Net.b trace1 k 6 nn.Module: Net nn.Module: Net.b trace2 k 6 nn.Module: Net nn.Module: Net.'
is 'without frames there are no modules' \
	"$(tl-diff --table diff_stats -c nn_module_stack --no-header f1.json f2.json | sort -u)" root

# ---- selection ----

is '--min-dur' "$(rows 'tl-diff --min-dur 8us -c name,before_ns,after_ns before.tl after.tl')" \
	'(no launch) 9000 0.addmm | mm 20000 24000.'
is '--kind' "$(rows 'tl-diff --kind memset -c name,before_ns,after_ns before.tl after.tl')" \
	'tail 2000 2000.'

# ---- steps, runs, noise and the gate ----

# steps SCALE...: a step of 100 us for each; op a lasts SCALE us, op b 10
steps() {
	n=0
	for scale; do
		t=$((n * 100))
		ev user_annotation "ProfilerStep#$n" 1 $t 90
		op a $((t + 1)) 10
		call $((t + 2)) $((2 * n + 1))
		op b $((t + 20)) 10
		call $((t + 21)) $((2 * n + 2))
		gpu ka $((t + 30)) "$scale" $((2 * n + 1))
		gpu kb $((t + 70)) $((9 + n % 3)) $((2 * n + 2))
		n=$((n + 1))
	done
}
steps 20 21 19 20 | trace >s1.json
steps 30 31 29 30 | trace >s2.json
steps 30 31 29 | trace >s3.json
is '--per step: means, and what is noise' \
	"$(rows 'tl-diff --per step -c name,before_ns,after_ns,diff_ns,is_noise s1.json s3.json')" \
	'a 20000 30000 10000 false.b 9750 10000 250 true.'
is 'spread of four and four steps' \
	"$(rows 'tl-diff --name ka -c name,diff_ns,spread_ns s1.json s2.json')" \
	'a 40000 5651.'
is 'one run and no steps: no spread' \
	"$(tl-diff -c spread_ns,is_noise --no-header --top 1 before.tl after.tl 2>/dev/null)" "$tab"
is 'several runs a side' \
	"$(rows 'tl-diff -B s1.json -B s2.json -A s3.json -c name,count_before,count_after,before_ns,after_ns')" \
	'b 8 3 39000 30000.a 8 3 100000 90000.'
mkdir old && cp s1.json s2.json old && echo no >old/README
is 'a folder' "$(tl-diff old s3.json)" "$(tl-diff -B s1.json -B s2.json -A s3.json)"
gate() { # gate ARGS: the exit status
	tl-diff "$@" >/dev/null 2>gate.err
	echo $?
}
is '--fail-over: slower' "$(gate --fail-over 3% s1.json s2.json)" 4
like '--fail-over: says by how much' "$(cat gate.err)" \
	'^tl-diff: slower than allowed: .* from 0\.119 to 0\.159 ms; .* \+0\.040 ms, allowed are 3 % \(0\.004 ms\)'
is '--fail-over: not by so much' "$(gate --fail-over 50us s1.json s2.json)" 0
is '--fail-over: more than int64 has' "$(gate --fail-over 1e300% s1.json s2.json)" 0
is '--min-diff: more than int64 has' \
	"$(tl-diff --print --min-diff 1e300% s1.json s2.json; echo $?)" 0
is '--fail-over: faster' "$(gate --fail-over 0% s2.json s1.json)" 0
is '--fail-over: noise is no reason' "$(gate --per step --name kb --fail-over 0% s1.json s3.json)" 0
is '--junit: a failure' \
	"$(gate --fail-over 3% --junit j.xml --names 'a<b,c' s1.json s2.json; grep -c '<failure' j.xml)" \
	"4
1"
ok '--junit: XML' python3 -c 'import xml.dom.minidom, sys; xml.dom.minidom.parse("j.xml")'
is '--junit: a success' \
	"$(gate --fail-over 50% --junit j.xml s1.json s2.json; grep -c '<failure' j.xml)" "0
0"

# ---- replays ----

replay() { # replay NAME...: a launch of a graph with these kernels
	ev user_annotation 'decode_1 (7)' 1 0 50
	call 10 1 cudaGraphLaunch
	t=100
	for k; do
		gpu "$k" $t 5 1
		t=$((t + 10))
	done
}
replay ka kb kc kd | trace >r1.json
replay ka kx kc kd ke | trace >r2.json
is '--by kernel: a replay' \
	"$(rows 'tl-diff --by kernel -c kind,name,name_after,count_before,count_after r1.json r2.json')" \
	'replay: decode_# (#) ke 0 1.replay: decode_# (#) ka 1 1.replay: decode_# (#) kb kx 1 1.replay: decode_# (#) kc 1 1.replay: decode_# (#) kd 1 1.'

# ---- refusals ----

refuses 1 'r1\.json: no op is the root of a tree.* --by kernel' 'tl-diff r1.json r2.json'
refuses 2 'two traces' 'tl-diff before.tl'
refuses 2 'either two traces, or -B and -A' 'tl-diff -B before.tl after.tl'
refuses 2 "'--after' is missing" 'tl-diff -B before.tl'
refuses 2 'one trace only' 'tl-diff - -'
is 'standard input' "$(tl-diff - after.tl <before.tl 2>&1)" \
	"$(tl-diff before.tl after.tl 2>&1)"
refuses 2 'no table' 'tl-diff --table nosuch before.tl after.tl'
refuses 2 "'--fail-over'.*percentage" 'tl-diff --fail-over x% before.tl after.tl'
refuses 2 "'--junit' needs --fail-over" 'tl-diff --junit x before.tl after.tl'
refuses 2 "'--min-diff' needs --print" 'tl-diff --min-diff 1us before.tl after.tl'
refuses 2 "'--print' takes no options of tables" 'tl-diff --print --top 3 before.tl after.tl'
refuses 2 "'--names'" 'tl-diff --names one before.tl after.tl'
refuses 2 "'--names'" 'tl-diff --names one,two,three before.tl after.tl'
refuses 2 'one table at a time' \
	'tl-diff --uid-map --table lca_summary before.tl after.tl'
refuses 2 "'--per': table 'diff_stats'" \
	'tl-diff --per step --table diff_stats before.tl after.tl'
refuses 2 "'--per'" 'tl-diff --per step --print before.tl after.tl'
refuses 2 "'--fail-over' needs a time .* or a percentage" \
	'tl-diff --fail-over 3 before.tl after.tl'
refuses 2 'no column' 'tl-diff -c nosuch before.tl after.tl'
refuses 1 'no event 999' 'tl-diff --subtree1 999 before.tl after.tl'
printf 'one\n' >bad
refuses 1 'bad: line 1: expected two names' 'tl-diff --equiv bad before.tl after.tl'
{
	ev cpu_op 'aten::m\u009b2J\u202e' 1 0 5
	call 1 1 cudaLaunchKernel
	gpu k 10 1 1
} | trace >evil.json
is 'the merged tree: names that would drive a terminal' \
	"$(tl-diff --print evil.json evil.json 2>/dev/null | grep -o 'aten.*')" \
	'aten::m\u009b2J\u202e'
printf '{"traceEvents":[]}' >nothing.json
refuses 1 'nothing\.json: no event in this trace' 'tl-diff s1.json nothing.json'
ev cpu_op aten::mm 1 0 5 | trace >cpu.json
is 'a side without GPU events' \
	"$(tl-diff s1.json cpu.json 2>&1 >/dev/null)/$(tl-diff s1.json cpu.json >/dev/null 2>&1; echo $?)" \
	'tl-diff: cpu.json: no GPU event: was the GPU recorded?/3'
refuses 1 'cpu\.json: no GPU event: there is nothing to judge' \
	'tl-diff --fail-over 1% s1.json cpu.json'
mkdir empty
refuses 1 'empty: no trace' 'tl-diff empty after.tl'
head -c 300 after.tl >cut.tl
refuses 1 'cut\.tl' 'tl-diff before.tl cut.tl'

page_examples tl-diff.1
done_testing
