#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

# shellcheck source=tests/cli/diff-events.sh
. "$ROOT/tests/cli/diff-events.sh"

# ---- an op that works through other ops ----

# net: linear (addmm: 2 kernels; relu) before; linear (mm, add_; relu) after,
# and one more op at the top.
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
# alone NAME...: roots with one kernel each
alone() {
	n=0
	for name; do
		n=$((n + 10))
		op "$name" $n 5
		call $((n + 1)) $n
		gpu "k_$name" $((n + 100)) 5 $n
	done
}
alone x a | trace >xa.json
alone a y | trace >ay.json
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
	"$(rows 'tl-diff -c name,launcher,input_dims,count_before,count_after,kernels_before,kernels_after,before_ns,after_ns,diff_ns,ratio,pct_of_diff before.tl after.tl')" \
	'(no launch) none 0 0 1 0 9000 0 -9000 0.0 -75.0.linear op [[4,8]] 1 1 2 2 25000 28000 3000 1.12 25.0.relu op [[4]] 1 1 1 1 7000 7000 0 1.0 0.0.tail op 1 1 1 1 2000 2000 0 1.0 0.0.'
is 'what is in no tree is told' "$(cat err)" \
	'tl-diff: before: 1 GPU event without a launch (0.009 ms) is in no tree
tl-diff: GPU span 309.0 us to 42.0 us (-86.4 %): 258.0 us less time between ops; GPU time -14.0 % (-9.0 us without a launch)
tl-diff: noise unknown: pass several runs or steps'
is 'diff_stats' \
	"$(rows 'tl-diff --table diff_stats -c name,cpu_op_name,cpu_op_uid,source,input_dims,kernel_ns,busy_ns,lca_name,lca_id,gpu_op_uid,nn_module_stack before.tl after.tl')" \
	'k_bias addmm 2 trace1 [[8,4]] 5000 25000 linear 2 9 root.k_mm addmm 2 trace1 [[8,4]] 20000 25000 linear 2 10 root.k_mm mm 3 trace2 [[8,4]] 24000 28000 linear 2 11 root.k_add add_ 5 trace2 [[8]] 4000 28000 linear 2 12 root.k_relu relu 5 trace1 [[4]] 7000 7000 k_relu 16 11 root.k_relu relu 7 trace2 [[4]] 7000 7000 k_relu 16 13 root.Memset (Device) tail 7 trace1 2000 2000 Memset (Device) 19 12 root.Memset (Device) tail 9 trace2 2000 2000 Memset (Device) 19 14 root.'
is 'diff_stats: which run of before it is about, as a detail' \
	"$(tl-diff --table diff_stats -c +details before.tl after.tl 2>err | head -n 1 | cut -f 3-17 --complement)" \
	"$(printf 'rank\tsrc')"
is 'diff_stats: a root of one side has no LCA' \
	"$(rows 'tl-diff --table diff_stats -c name,source,lca_id xa.json ay.json')" \
	'k_x trace1 .k_a trace1 5.k_a trace2 5.k_y trace2 .'
is 'lca_summary' \
	"$(rows 'tl-diff --table lca_summary -c name,lca_id,before_ns,after_ns,kernels_before,kernels_after,kernel_names_after,ratio,diff_ns before.tl after.tl')" \
	'addmm 2 25000 28000 2 2 ["k_mm","k_add"] 1.12 3000.relu 16 7000 7000 1 1 ["k_relu"] 1.0 0.tail 19 2000 2000 1 1 ["Memset (Device)"] 1.0 0.'
is 'diff_stats_unique_args_summary: by time' \
	"$(rows 'tl-diff --table diff_stats_unique_args_summary -c name,source,kernel_ns_sum,cpu_op_name before.tl after.tl')" \
	'k_mm trace2 24000 mm.k_mm trace1 20000 addmm.k_relu trace1 7000 relu.k_relu trace2 7000 relu.k_bias trace1 5000 addmm.k_add trace2 4000 add_.Memset (Device) trace1 2000 tail.Memset (Device) trace2 2000 tail.'
is 'diff_verdict' "$(rows 'tl-diff --table diff_verdict before.tl after.tl')" \
	"$(tl-diff --format table --width 200 before.tl after.tl | sed '/^name /,$d' | tr '\n ' '. ')"
before | sed 's/k_relu/k_relu_v2/' | trace >renamed.json
like 'diff_verdict: kernels under other names' \
	"$(tl-diff --table diff_verdict before.json renamed.json | sed -n '/different names/p')" \
	'^matched GPU events with different names: 1 before \(7\.0 us\), 1 after \(7\.0 us\)$'
is 'diff_verdict: no others' \
	"$(tl-diff --table diff_verdict before.json after.json | grep -c 'different names')" 0
like 'diff_verdict of kernels: each way by itself' \
	"$(tl-diff --table diff_verdict --by kernel before.tl after.tl)" \
	'^GPU time 43\.0 us to 37\.0 us \(-14\.0 %\), \+8\.0 us in 2 kernels, -14\.0 us in 2 kernels$'
is 'uid_map' "$(rows 'tl-diff --table uid_map before.tl after.tl' | cut -c 1-60)" \
	' 0 trace2 0.0 1 combined 1.1 2 combined 2.2 trace1 3.3 trace'
is '--by kernel: with what has no launch' \
	"$(rows 'tl-diff --by kernel -c name,name_after,count_before,count_after,before_ns,after_ns,diff_ns before.tl after.tl')" \
	'stray 1 0 9000 0 -9000.k_bias 1 0 5000 0 -5000.k_mm 1 1 20000 24000 4000.k_add 0 1 0 4000 4000.k_relu 1 1 7000 7000 0.Memset (Device) 1 1 2000 2000 0.'
like 'a table for people begins with sentences' \
	"$(tl-diff --format table before.tl after.tl | head -n 1)" \
	'^GPU span 309\.0 us to 42\.0 us \(-86\.4 %\): .*; GPU time -14\.0 % \(-9\.0 us without a launch\)$'
is '--names' "$(tl-diff --names old,new --format table before.tl after.tl | grep -o '1 old .*us)$' | uniq)" \
	'1 old (9.0 us)'
is 'raw traces say the same' "$(tl-diff before.json after.json 2>&1)" \
	"$(tl-diff before.tl after.tl 2>&1)"
is '--list-tables' "$(tl-diff --list-tables | cut -f 1 | tr '\n' ' ')" \
	'diff_steps diff_ops_summary diff_kernels diff_verdict diff_ranks diff_stats diff_stats_unique_args_summary lca_summary uid_map '

# ---- what is printed ----

is '--min-diff PERCENT: of the GPU time before' \
	"$(for p in 5% 200%; do tl-diff --print --min-diff $p before.tl after.tl 2>/dev/null | grep -c k_mm; done | tr '\n' ' ')" \
	'2 0 '
is '--min-diff' "$(tl-diff --print --min-diff 1us before.tl after.tl 2>/dev/null | grep -c relu)" 0
like '--min-diff keeps what differs' \
	"$(tl-diff --print --min-diff 1us before.tl after.tl 2>/dev/null)" 'trace1: addmm'
sed 's/"dur":24,/"dur":44,/' after.json >slow.json
is '--min-diff: where the trees part, both sides are whole' \
	"$(tl-diff --print --min-diff 10us before.json slow.json 2>/dev/null | grep -o '[<>][<>].*')" \
	"$(grep -o '[<>][<>].*' tree.txt | sed 1d)"
tl-diff -d out before.tl after.tl 2>/dev/null
is '-d' "$(cd out && echo *)" \
	'diff_ops_summary.csv diff_stats.csv diff_stats_unique_args_summary.csv diff_steps.csv diff_verdict.csv lca_summary.csv merged_tree_output.txt uid_map.csv'
same '-d: the tree' out/merged_tree_output.txt tree.txt
is '-d: labels' "$(head -n 1 out/diff_stats.csv)" \
	'name,cpu_op_name,cpu_op_uid,source,Input Dims,Input Strides,Input type,Concrete Inputs,kernel_time,busy_time,lowest_common_ancestor_name,lowest_common_ancestor_id,gpu_op_uid,nn_module_stack,nn_module_parent'

# ---- the same trace ----

is 'identical: said' "$(tl-diff after.tl after.tl 2>&1 >/dev/null)" 'tl-diff: the traces are identical'
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
	"$(tl-diff --table uid_map hip.json cuda.json | grep -c trace)" 0
is 'other launches differ' \
	"$(tl-diff --table uid_map hip.json other.json | grep -c trace)" 4
printf '# names\n\nhipModuleLaunchKernel\tcudaLaunchKernel\nk_0x1\tk2\n' >equiv
is '--equiv' "$(tl-diff --equiv equiv --table uid_map hip.json other.json | grep -c trace)" 0

# frames: the second in another file, on another line
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

steps 20 21 19 20 | trace >s1.json
steps 30 31 29 30 | trace >s2.json
steps 30 31 29 | trace >s3.json
is '--per step: means, and what is noise' \
	"$(rows 'tl-diff --per step -c name,before_ns,after_ns,diff_ns,is_noise s1.json s3.json')" \
	'a 20000 30000 10000 false.b 9750 10000 250 true.'
is 'spread of four and four steps' \
	"$(rows 'tl-diff --name ka -c name,diff_ns,spread_ns s1.json s2.json')" \
	'a 40000 5683.'
is 'one run and no steps: no spread' \
	"$(tl-diff -c spread_ns,is_noise --no-header --top 1 before.tl after.tl 2>/dev/null)" "$tab"
is 'several runs a side' \
	"$(rows 'tl-diff -B s1.json -B s2.json -A s3.json -c name,count_before,count_after,before_ns,after_ns')" \
	'a 4 3 100000 90000.b 4 3 39000 30000.'
is 'several runs: counts are of one, as are times' \
	"$(rows 'tl-diff -B s1.json -B s3.json -A s3.json -c name,count_before,count_after,kernels_before,kernels_after,before_ns')" \
	'a 3.5 3 3.5 3 85000.b 3.5 3 3.5 3 34500.'
is 'of one kernel, too' \
	"$(rows 'tl-diff --by kernel -B s1.json -B s3.json -A s3.json -c name,count_before,count_after,alone_before,alone_after,before_ns')" \
	'ka 3.5 3 0.5 0 85000.kb 3.5 3 0.5 0 34500.'
is '--per step: counts are of a step' \
	"$(rows 'tl-diff --per step -B s1.json -A s3.json -c name,count_before,count_after')" \
	'a 1 1.b 1 1.'
{ steps 20 21; gpu stray 900 5 99; } | trace >outside.json
is '--per step: no row of what is in no step' \
	"$(rows 'tl-diff --per step -c name,before_ns outside.json outside.json')" 'a 20500.b 9500.'
is 'the type of counts tells that they can be means' \
	"$(for side in s1.json 's1.json -B s2.json'; do
		# shellcheck disable=SC2086 # words
		tl-diff -B $side -A s3.json --format ndjson -c count_after | sed -n '1s/.*"type":"\([a-z]*\)".*/\1/p'
	done | tr '\n' ' ')" 'int real '
mkdir old && cp s1.json s2.json old && echo no >old/README
is 'a folder' "$(tl-diff old s3.json)" "$(tl-diff -B s1.json -B s2.json -A s3.json)"
for table in diff_stats diff_stats_unique_args_summary lca_summary uid_map; do
	tl-diff --table $table s1.json s3.json >one 2>err
	tl-diff --table $table --no-header s2.json s3.json >two 2>err
	tl-diff --table $table -B s1.json -B s2.json -A s3.json >both 2>err
	is "$table of several runs of before" "$(cut -f 3- both)" "$(cat one two)"
	is "$table: which run" "$(cut -f 1,2 both | uniq -c | tr -s '\t\n ' ' ')" \
		" 1 rank src $(($(wc -l <one) - 1)) 0 0 $(wc -l <two) 0 1 "
	is "$table: runs of after that are left" \
		"$(tl-diff --table $table -B s3.json -A s1.json -A s2.json 2>err)" \
		"$(tl-diff --table $table s3.json s1.json 2>err)"
done
tl-diff -d several -B s1.json -B s2.json -A s3.json 2>err
is 'several runs: a folder' "$(head -n 1 several/diff_stats.csv | cut -c 1-14)$(wc -l <several/diff_stats.csv)" \
	'rank,src,name,29'
is 'identical runs are told' "$(tl-diff -B s1.json -B s2.json -A s1.json -A s2.json 2>&1 >/dev/null)" \
	'tl-diff: the traces are identical'
for n in 1 2; do
	{
		op a 500 10
		call 501 9
		gpu kc 600 3 9
		replay ka | sed "s/\"dur\":5,/\"dur\":$n,/"
	} | trace >outside$n.json
done
is 'work outside of ops that differs' "$(tl-diff outside1.json outside2.json 2>&1 >/dev/null | grep -c identical)" 0
is 'and that does not' "$(tl-diff outside1.json outside1.json 2>&1 >/dev/null | grep -c identical)" 1
is 'one of two that differs' "$(tl-diff -B s1.json -B s2.json -A s1.json -A s3.json 2>&1 >/dev/null)" \
	'tl-diff: step unchanged (100.0 us)'

# ---- ranks ----

ranked() { trace | sed "1s/{/{\"distributedInfo\":{\"rank\":$1,\"world_size\":4},/"; }
mkdir was is
steps 20 21 19 20 | ranked 0 >was/a.json
steps 60 61 59 60 | ranked 1 >was/b.json
steps 70 71 69 70 | ranked 1 >is/a.json
steps 30 31 29 30 | ranked 0 >is/b.json
is '--pair rank: steps vary around the mean of their rank' \
	"$(rows 'tl-diff --pair rank --name ka -c name,before_ns,after_ns,spread_ns,is_noise was is')" \
	'a 160000 200000 4223 false.'
is '--pair place: runs are repetitions' \
	"$(rows 'tl-diff --pair place --name ka -c name,diff_ns,spread_ns,is_noise was is')" \
	'a 40000 486790 true.'
pairs() { # pairs ARGS: time of each rank and side
	tl-diff --table diff_stats --name ka --no-header -c rank,source,kernel_ns "$@" 2>err |
		awk '{ ns[$1 " " $2] += $3 } END { for (i in ns) print i, ns[i] }' | sort | tr '\n' ','
}
is '--pair rank: each with its own' "$(pairs --pair rank was is)" \
	'0 trace1 80000,0 trace2 120000,1 trace1 240000,1 trace2 280000,'
is '--pair place: each with that of its place' "$(pairs was is)" \
	'0 trace1 80000,0 trace2 280000,1 trace1 240000,1 trace2 120000,'
steps 10 | ranked 2 >was/0.json
steps 10 | ranked 3 >is/0.json
is '--pair rank: one that only one side has is left out' "$(pairs --pair rank was is)" \
	'0 trace1 80000,0 trace2 120000,1 trace1 240000,1 trace2 280000,'
is '--pair rank: which is told' "$(tl-diff --pair rank was is 2>&1 >/dev/null; echo $?)" \
	'tl-diff: before: skipped ranks that the other side lacks: 2
tl-diff: after: skipped ranks that the other side lacks: 3
tl-diff: step unchanged (100.0 us); GPU time +20.1 % beyond noise
3'
steps 10 | ranked 4 >was/1.json
is '--pair rank: several are told together' "$(tl-diff --pair rank was is 2>&1 >/dev/null | head -n 1)" \
	'tl-diff: before: skipped ranks that the other side lacks: 2, 4'
refuses 1 'no rank is on both sides' 'tl-diff --pair rank was/0.json is/0.json'
tl-tree s1.json | tl-cat --ndjson | sed 's/"rank":0,//' >rankless.ndjson
refuses 1 'rankless.ndjson: rank unknown' 'tl-diff --pair rank rankless.ndjson s1.json'

gate() { # gate ARGS: the exit status
	tl-diff "$@" >/dev/null 2>gate.err
	echo $?
}
is '--fail-over: slower' "$(gate --fail-over 3% s1.json s2.json)" 4
like '--fail-over: says by how much' "$(cat gate.err)" \
	'^tl-diff: slower than allowed: GPU time 119\.0 us to 159\.0 us \(\+33\.6 %\), \+40\.0 us ± 5\.7 us beyond noise; allowed: 3 % \(3\.6 us\); 4 and 4 steps of one run each'
like '--fail-over: what is noise is not known' \
	"$(tl-diff --fail-over 0% before.json slow.json 2>&1 >/dev/null)" \
	'GPU time 43\.0 us to 57\.0 us \(\+32\.6 %\), \+14\.0 us: -9\.0 us by work of one side only, \+23\.0 us \(noise unknown\); allowed: '
is '--fail-over: not by so much' "$(gate --fail-over 50us s1.json s2.json)" 0
is '--fail-over: more than int64 has' "$(gate --fail-over 1e300% s1.json s2.json)" 0
is '--min-diff: more than int64 has' \
	"$(tl-diff --print --min-diff 1e300% s1.json s2.json; echo $?)" 0
is '--fail-over: faster' "$(gate --fail-over 0% s2.json s1.json)" 0
is '--fail-over: noise is no reason' "$(gate --per step --name kb --fail-over 0% s1.json s3.json)" 0
sed '$d' s1.json >cut.json
tl-decode --salvage -o cut.tl cut.json 2>/dev/null
is '--fail-over: doubts' "$(gate --fail-over 500% cut.tl s2.json)" 3
is '--fail-over: slower, doubts or not' "$(gate --fail-over 3% cut.tl s2.json)" 4
echo '{}' >none.json
is '--fail-over: no answer, no verdict' \
	"$(gate --fail-over 3% s1.json none.json)" 1
steps 20 21 59 20 | trace >once.json
is 'one slow step is noise' \
	"$(rows 'tl-diff --name ka -c name,diff_ns,is_noise s1.json once.json')" 'a 40000 true.'
is '--fail-over: and no reason' "$(gate --fail-over 0% --name ka s1.json once.json)" 0
is '--fail-over: the step alone is' "$(gate --fail-over 0% --name ka --step 2 s1.json once.json)" 4

# ---- replays ----

replay ka kb kc kd | trace >r1.json
replay ka kx kc kd ke | trace >r2.json
is '--by kernel: a replay' \
	"$(rows 'tl-diff --by kernel -c kind,name,name_after,count_before,count_after r1.json r2.json')" \
	'replay: decode_# (#) ke 0 1.replay: decode_# (#) ka 1 1.replay: decode_# (#) kb kx 1 1.replay: decode_# (#) kc 1 1.replay: decode_# (#) kd 1 1.'

is '--by kernel: other annotations, the same replays' \
	"$(sed s/decode_/step_of_/ r2.json >r3.json; rows 'tl-diff --by kernel -c kind,name r1.json r3.json')" \
	'replay ke.replay ka.replay kb.replay kc.replay kd.'
# the same kernels in a step, and launched one by one outside steps
{
	ev user_annotation ProfilerStep#3 1 0 90
	for n in 1 2 3; do call $((n * 10)) $n; gpu k$n $((n * 10 + 5)) 4 $n; done
} | trace >in-step.json
{
	for n in 1 2 3; do call $((n * 10)) $n; gpu k$n $((n * 10 + 5)) 5 $n; done
	call 50 4
	gpu k4 60 5 4
} | trace >no-step.json
is '--by kernel: steps, and none of them' \
	"$(rows 'tl-diff --by kernel -c kind,name,count_before,count_after in-step.json no-step.json')" \
	'rest k4 0 1.rest k1 1 1.rest k2 1 1.rest k3 1 1.'
refuses 5 'no-step\.json: no step has GPU work: --per step has no answer' \
	'tl-diff --by kernel --per step in-step.json no-step.json'
is '--by kernel: spreads of steps' \
	"$(rows 'tl-diff --by kernel --name ka -c name,diff_ns,spread_ns,is_noise s1.json s2.json')" \
	'ka 40000 5683 false.'
is '--by kernel: noise is no reason' \
	"$(gate --by kernel --per step --name kb --fail-over 0% s1.json s3.json)" 0

# ---- refusals ----

refuses 5 'r1\.json: no op is a root.* --by kernel' 'tl-diff r1.json r2.json'
refuses 2 'two traces' 'tl-diff before.tl'
refuses 2 'pass two traces, or -B and -A' 'tl-diff -B before.tl after.tl'
refuses 2 "'--after' is missing" 'tl-diff -B before.tl'
refuses 2 'only one trace can be standard input' 'tl-diff - -'
is 'standard input' "$(tl-diff - after.tl <before.tl 2>&1)" \
	"$(tl-diff before.tl after.tl 2>&1)"
refuses 2 'no table .nosuch.; see --list-tables' 'tl-diff --table nosuch before.tl after.tl'
refuses 2 'no table .steps.: is it diff_steps' 'tl-diff --table steps before.tl after.tl'
refuses 2 "'--fail-over'.*percentage" 'tl-diff --fail-over x% before.tl after.tl'
refuses 2 "'--fail-over' needs a time" 'tl-diff --fail-over gpu: before.tl after.tl'
refuses 2 "'--fail-over': 'wall:3%' is no percentage" \
	'tl-diff --fail-over wall:3% before.tl after.tl'
refuses 2 "'--min-diff' needs --print" 'tl-diff --min-diff 1us before.tl after.tl'
refuses 2 "'--print' takes no options of tables" 'tl-diff --print --top 3 before.tl after.tl'
refuses 2 "'--names'" 'tl-diff --names one before.tl after.tl'
refuses 2 "'--names'" 'tl-diff --names one,two,three before.tl after.tl'
refuses 2 "'--per': table 'diff_stats'" \
	'tl-diff --per step --table diff_stats before.tl after.tl'
refuses 2 "'--per'" 'tl-diff --per step --print before.tl after.tl'
refuses 2 "'--fail-over' needs a time .* or a percentage" \
	'tl-diff --fail-over 3 before.tl after.tl'
refuses 2 'no column' 'tl-diff -c nosuch before.tl after.tl'
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
refuses 5 'nothing\.json: no events' 'tl-diff s1.json nothing.json'
ev cpu_op aten::mm 1 0 5 | trace >cpu.json
is 'a side without GPU events' \
	"$(tl-diff s1.json cpu.json 2>&1 >/dev/null)/$(tl-diff s1.json cpu.json >/dev/null 2>&1; echo $?)" \
	'tl-diff: cpu.json: no GPU events: was the GPU recorded?
tl-diff: GPU time 119.0 us to 0 ns (-100.0 %), 100 % of it from 2 ops
tl-diff: noise unknown: pass several runs or steps/3'
refuses 5 'cpu\.json: no GPU events: nothing to judge' \
	'tl-diff --fail-over 1% s1.json cpu.json'
mkdir empty
refuses 1 'empty: no trace' 'tl-diff empty after.tl'
head -c 300 after.tl >cut.tl
refuses 1 'cut\.tl' 'tl-diff before.tl cut.tl'

page_examples tl-diff.1
done_testing
