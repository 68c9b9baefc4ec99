#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-modules: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

module() { ev python_function "nn.Module: $1" 1 "$2" "$3"; }
op() { ev cpu_op "$1" "$2" "$3" "$4" "${5:-}"; }
# work NAME TID LAUNCH_US TS DUR CORR: a launch and its kernel
work() {
	ev cuda_runtime cudaLaunchKernel "$2" "$3" 5 "\"correlation\":$6"
	ev kernel "$1" 7 "$4" "$5" "\"device\":0,\"stream\":7,\"correlation\":$6"
}

# Two layers; k1 and k2 overlap by 50 us; Dropouts do nothing on the GPU; kb is
# the backward work of Linear_0; k3 is launched in no module.
net() {
	ev python_function 'train.py(3): main' 1 0 1500
	module Net_0 0 1000
	module Layer_0 10 190
	module Linear_0 20 80
	op aten::mm 1 30 30 '"Sequence number":5,"Fwd thread id":0'
	work k1 1 35 300 100 1
	module Dropout_0 120 30
	op aten::add 1 160 20
	work k2 1 165 350 100 2
	module Layer_1 210 190
	module Linear_1 220 80
	work k1 1 230 500 200 3
	module Dropout_1 310 10
	op aten::sum 1 1100 50
	work k3 1 1105 1200 10 4
	op 'autograd::engine::evaluate_function: MmBackward0' 2 600 100 \
		'"Sequence number":5,"Fwd thread id":1'
	work kb 2 610 800 40 5
	${1:-:}
}
stray() {
	ev kernel k4 7 1300 5 '"device":0,"stream":7,"correlation":99'
}
net stray | trace >net.json
tl-tree net.json >net.tl
tab=$(printf '\t')

# tsv COLUMNS ARGUMENT...: a table without its header, blanks between cells
tsv() {
	c=$1
	shift
	tl-modules --no-header -c "$c" "$@" 2>&1 | tr '\t' ' '
}

is 'busy time of each call' "$(tsv depth,module,gpu_ns,self_ns,non_module_ns,kernels net.tl)" \
	'0 Net_0 350000 0 0 3
1 Layer_0 150000 100000 100000 2
2 Linear_0 100000 100000  1
1 Layer_1 200000 0 0 1
2 Linear_1 200000 200000  1
0 Non-nn.Module GPU Ops 55000 55000  3'
# two GPUs work at the same time, 100 and 50 us: each call on its own GPU; a
# call over both has no share of their sum
gpus() {
	module A_0 0 90
	ev cuda_runtime cudaLaunchKernel 1 10 5 '"correlation":1'
	ev kernel k 7 300 100 '"device":0,"stream":7,"correlation":1'
	module "${1:-A_1}" "${2:-100}" 50
	ev cuda_runtime cudaLaunchKernel 1 "${3:-110}" 5 '"correlation":2'
	ev kernel k 9 300 50 '"device":1,"stream":7,"correlation":2'
}
gpus | trace >two.json
is 'shares of the time of both GPUs' "$(tsv module,gpu_ns,pct_of_busy two.json)" \
	'A_0 100000 66.66666666666667
A_1 50000 33.333333333333336'
gpus B_0 20 30 | trace >spread.json
is 'a call on both has none' "$(tsv module,gpu_ns,pct_of_busy spread.json)" \
	'A_0 100000 
B_0 50000 '
is 'names and places' "$(tsv uid,type,instance,parent_uid,ts_ns,cpu_ns,path --root Layer_0 net.tl)" \
	"2 Layer 0 1 10000 190000 Layer_0
3 Linear 0 2 20000 80000 Layer_0/Linear_0"
is 'shares' "$(tsv pct_of_parent,pct_of_root,pct_of_busy net.json | sed -n '1p;3p;6p')" \
	" 100.0 86.41975308641975
66.66666666666667 28.571428571428573 24.691358024691358
  13.580246913580247"
is 'all modules' "$(tsv module,gpu_ns --min-time 0ns net.tl | grep Drop)" \
	'Dropout_0 0
Dropout_1 0'
is '--min-time' "$(tsv module --min-time 150us net.tl | tr '\n' ' ')" \
	'Net_0 Layer_0 Layer_1 Linear_1 '
is '--depth' "$(tsv module --depth 2 net.tl | tr '\n' ' ')" \
	'Net_0 Layer_0 Layer_1 Non-nn.Module GPU Ops '
is '--root by pattern' "$(tsv depth,module --root 'Lin*' net.tl | tr '\n' ' ')" \
	'0 Linear_0 0 Linear_1 '
is '--root with its prefix, and by uid' \
	"$(tsv module --root 'nn.Module: Linear_1' --root 0:3 net.tl | tr '\n' ' ')" \
	'Linear_0 Linear_1 '
is '--fold' "$(tsv depth,type,instances,count,gpu_ns_sum,gpu_ns_mean,gpu_ns_min,gpu_ns_max,self_ns_sum,non_module_ns,kernels,path --fold net.tl)" \
	'0 Net 1 1 350000 350000.0 350000 350000 0 0 3 Net
1 Layer 2 2 350000 175000.0 150000 200000 100000 100000 3 Net/Layer
2 Linear 2 2 300000 150000.0 100000 200000 300000  2 Net/Layer/Linear
0 Non-nn.Module GPU Ops   55000    55000  3 Non-nn.Module GPU Ops'
is '--bwd' "$(tsv module,gpu_ns,bwd_ns --bwd net.tl)" \
	'Net_0 350000 40000
Layer_0 150000 40000
Linear_0 100000 40000
Layer_1 200000 0
Linear_1 200000 0
Non-nn.Module GPU Ops 55000 '
is '--name selects GPU work' "$(tsv module,gpu_ns --name k2 net.tl)" \
	'Net_0 100000
Layer_0 100000'
is '--min-dur' "$(tsv module,gpu_ns --min-dur 150us --depth 1 net.tl)" \
	'Net_0 200000'
is 'the header of a table' "$(tl-modules net.tl | head -n 1)" \
	"depth${tab}module${tab}type${tab}instance${tab}uid${tab}gpu_ns${tab}self_ns${tab}non_module_ns${tab}pct_of_parent${tab}pct_of_root${tab}pct_of_busy${tab}kernels${tab}path"
is 'labels are in us' "$(tl-modules --labels -c module,gpu_ns --format csv net.tl | sed -n 1,2p)" \
	'Name,GPU Time
Net_0,350'
is 'a column of ours keeps its name, and the unit in it' \
	"$(tl-modules --labels -c gpu_ns,self_ns,ts_ns --format csv net.tl | sed -n 1p\;3p)" \
	'GPU Time,self_ns,ts_ns
150,100000,10000'
like 'a table says how much is unlinked' \
	"$(tl-modules --format table net.tl | head -n 1)" \
	'^1 of 6 GPU events has no launch in the trace and no module'

is 'dots' "$(tl-modules --print net.tl)" "\
                                                       (GPU Time µs) of parent
nn.Module: Net_0 .......................................... (350.00)  86.42 %
└── nn.Module: Layer x 2 .................................. (350.00) 100.00 %  mean 175.00, min 150.00, max 200.00
    ├── nn.Module: Linear x 2 ............................. (300.00)  85.71 %  mean 150.00, min 100.00, max 200.00
    └── Non-nn.Module GPU Ops ............................. (100.00)  28.57 %
Non-nn.Module GPU Ops ...................................... (55.00)  13.58 %
1 of 6 GPU events has no launch in the trace and no module"
is 'on a narrow terminal name, time and share' "$(tl-modules --print --width 60 net.tl)" "\
                                      (GPU Time µs) of parent
nn.Module: Net_0 ......................... (350.00)  86.42 %
└── nn.Module: Layer x 2 ................. (350.00) 100.00 %
    ├── nn.Module: Linear x 2 ............ (300.00)  85.71 %
    └── Non-nn.Module GPU Ops ............ (100.00)  28.57 %
Non-nn.Module GPU Ops ..................... (55.00)  13.58 %
1 of 6 GPU events has no launch in the trace and no module
(no room for: mean, min, max)"
is 'dots of each call' "$(tl-modules -p --no-fold --root Layer_0 net.tl | tail -n 4)" "\
nn.Module: Layer_0 ........................................ (150.00)  37.04 %
├── nn.Module: Linear_0 ................................... (100.00)  66.67 %
└── Non-nn.Module GPU Ops ................................. (100.00)  66.67 %
1 of 6 GPU events has no launch in the trace and no module"
{ module 'A\u001b[2J\u009b_0' 0 100; work k 1 10 200 10 1; } | trace >esc.json
like 'a tree with backward work' "$(tl-modules --print --bwd --depth 2 --root Net_0 net.tl)" \
	'^└── nn.Module: Layer x 2 .* max 200.00  backward 40.00$'
like 'names are no commands' "$(tl-modules --print esc.json)" \
	'^nn.Module: A\\x1b\[2J\\u009b_0 \.*'
tl-modules -p -o out.txt net.tl
is '-o' "$(cat out.txt)" "$(tl-modules -p net.tl)"
tl-modules -d tables net.tl
is '-d' "$(head -n 1 tables/nn_modules.csv | cut -d, -f 1,2)" 'depth,Name'

# ---- FLOPs ----

# linear's model needs shapes, that of mm below it has some, also for what is
# below; own::op has no model, Idle no work.
shapes='"Input type":["float","float"],"Input Dims":[[4,8],[8,2]]'
{
	module Net_0 0 1000
	module Linear_0 10 200
	op aten::linear 1 20 100
	op aten::mm 1 30 50 "$shapes"
	op aten::zeros 1 32 20
	work k1 1 35 300 100 1
	op own::op 1 230 20
	work k2 1 235 400 100 2
	module Idle_0 300 10
	op aten::mm 1 302 5 "$shapes"
} | trace >flops.json
is '--flops: an op with a model stands for what is below, one without work for nothing' \
	"$(tsv module,gflop,tflop_s,mib,tb_s,pct_modelled,no_model --flops flops.json |
		awk -F' ' '{ printf "%s %.9f %.9f %.6f %.9f %s %s\n", $1, $2, $3, $4, $5, $6, $7 }')" \
	'Net_0 0.000000128 0.000000640 0.000214 0.000001120 50.0 ["own::op"]
Linear_0 0.000000128 0.000001280 0.000214 0.000002240 100.0 '
is 'what has no model has no FLOPs' \
	"$(tsv gflop,tflop_s,pct_modelled --flops net.tl | sed '$d' | sort -u)" '  '
is 'folded' "$(tsv type,gflop --flops --fold flops.json)" \
	"Net 1.28e-07
Linear 1.28e-07"
like 'in a tree for people' "$(tl-modules -p --flops flops.json | sed -n 2p)" \
	'TFLOP/s of 50 % of the time$'
echo 'op { names = { "own::op" }, eval = function (_ENV) return 1e9, 8 end }' >own.lua
is '--models' "$(tsv module,gflop,no_model --flops --models ./own.lua flops.json | head -n 1)" \
	"Net_0 1.000000128 "

# outside: the backward op of a custom function, whose model reads the forward
# op's arguments; an op with a model around a module, which counts with its own
# work; a launch in no op; own::op
conv='"Input type":["float","float","float"],"Input Dims":[[1,1,4,4],[1,1,3,3],[1]],"Input Strides":[[16,16,4,1],[9,9,3,1],[1]],"Concrete Inputs":["","",""]'
{
	module Net_0 0 100
	op ConvBias_ 1 10 50 "\"Sequence number\":5,$conv"
	work k1 1 20 300 100 1
	op aten::linear 1 200 100 "$shapes"
	module Inner_0 210 50
	op aten::mm 1 220 20 "$shapes"
	work k2 1 225 500 100 2
	op aten::mm 1 270 20 "$shapes"
	work k3 1 275 700 10 3
	work k4 1 310 720 10 4
	op own::op 1 320 20
	work k5 1 325 740 30 5
	op 'autograd::engine::evaluate_function: ConvBias_Backward' 2 400 100 '"Sequence number":5'
	op ConvBias_Backward 2 410 80
	work k6 2 420 800 50 6
} | trace >outside.json
is '--flops: of what is in no module as well' \
	"$(tsv module,gpu_ns,pct_modelled,no_model --flops outside.json)" \
	'Net_0 100000 100.0 
Inner_0 100000 100.0 
Non-nn.Module GPU Ops 100000 60.0 ["own::op"]'
is 'backward by the forward op, and a product' \
	"$(tsv gflop --flops outside.json | tail -n 1)" \
	"$(tl-roofline -c name,gflop --no-header outside.json |
		awk -F'\t' '$1 == "ConvBias_Backward" { f = $2 } $1 == "aten::mm" { m = $2 }
			END { printf "%.9g\n", f + m }')"
refuses 2 'needs --flops' 'tl-modules --models own.lua flops.json'

# ---- a type wherever it is, shares ----

is '--by-type' \
	"$(tsv type,instances,count,gpu_ns_sum,gpu_ns_min,gpu_ns_max,self_ns_sum --by-type net.tl)" \
	'Net 1 1 350000 350000 350000 0
Layer 2 2 350000 150000 200000 100000
Linear 2 2 300000 100000 200000 300000
Non-nn.Module GPU Ops   55000   55000'
is '--by-type below a root' "$(tsv type,gpu_ns_sum --by-type --root 'Layer_*' --depth 1 net.tl)" \
	"Layer 350000"
is '--min-pct is of the module above' "$(tsv module,pct_of_parent --min-pct 50 net.tl)" \
	"Net_0 
Layer_1 57.142857142857146
Linear_1 100.0"
refuses 2 'takes no --fold' 'tl-modules --by-type --fold net.tl'
refuses 2 'min-pct' 'tl-modules --min-pct 101 net.tl'

# Two steps call the same module: two calls, one instance.
{
	for t in 0 1000; do
		ev user_annotation "ProfilerStep#$((t / 1000))" 1 $t 1000
		module Net_0 $((t + 10)) 500
		work k 1 $((t + 20)) $((t + 100)) $((10 + t / 100)) $((t + 1))
	done
} | trace >steps.json
is 'calls of one instance' "$(tsv instances,count,gpu_ns_sum --fold steps.json)" '1 2 30000'
is '--step' "$(tsv gpu_ns --step last steps.json)" 20000

# ---- several sources ----

for r in 0 1; do
	{ module Net_0 0 100; work k 1 10 200 $((10 + r)) 1; } |
		trace ",\"distributedInfo\":{\"rank\":$((3 - r))}" >rank$r.json
done
is 'by rank' "$(tsv rank,gpu_ns rank0.json rank1.json | tr '\n' ' ')" '3 10000 2 11000 '
is 'by number' "$(tsv src,gpu_ns rank0.json rank0.json | tr '\n' ' ')" '0 10000 1 10000 '
is '--rank' "$(tsv gpu_ns --rank 2 rank0.json rank1.json)" 11000
{
	module Net_0 0 100
	work k 1 10 200 11 1
	ev kernel k 7 210 10 '"device":0,"stream":7,"correlation":99'
} | trace ',"distributedInfo":{"rank":4}' >rank4.json
like 'without a launch are those of the ranks asked for' \
	"$(tl-modules -p --rank 4 rank4.json rank0.json)" '^1 of 2 GPU events has no launch'
is 'none of other ranks' \
	"$(tl-modules -p --rank 3 rank4.json rank0.json | grep -c 'no launch')" 0
is 'printed by rank' "$(tl-modules -p rank0.json rank1.json | grep -c '^rank [23]:$')" 2
tl-cat rank0.json rank1.json >both.tl
is 'two sources in one stream' "$(tl-modules both.tl)" "$(tl-modules rank0.json rank1.json)"
op aten::mm 1 0 10 | trace >none.json
refuses -o 3 'none.json: no Python frames' 'tl-modules rank0.json none.json'

# ---- every kind of input ----

tl-modules net.tl >want
same 'a raw trace' want "$(tl-modules net.json >got; echo got)"
same 'a stream that is no tree' want "$(tl-decode net.json | tl-modules >got; echo got)"
same 'stdin as -' want "$(tl-modules - <net.tl >got; echo got)"
gzip -k net.tl
same 'gzip' want "$(tl-modules net.tl.gz >got; echo got)"
zstd -q net.tl
same 'zstd' want "$(tl-modules net.tl.zst >got; echo got)"
tl-cat net.tl >net.ndjson
same 'NDJSON' want "$(tl-modules net.ndjson >got; echo got)"
same 'a filtered tree keeps its modules' want \
	"$(tl-filter --kind kernel net.tl | tl-modules >got; echo got)"
refuses_cuts net.tl 60 tl-modules
refuses 1 '.' 'tl-modules </dev/null'
refuses 1 'not_a_trace' 'echo hello >not_a_trace; tl-modules not_a_trace'
refuses 1 'directory' 'tl-modules .'
refuses 1 'No such file' 'tl-modules missing.tl'
refuses 1 'No space left' 'tl-modules net.tl >/dev/full'
refuses 1 'No space left' 'tl-modules -p net.tl >/dev/full'
refuses -o 1 'Bad file descriptor|closed' 'tl-modules net.tl >&-'
quiet 'a reader may leave' 'tl-modules -p net.tl | head -n 1'

# ---- backward work of discarded launches ----

# c begins in the backward op and ends far after it: it is discarded, and what
# it launched is not that op's work
{
	module Net_0 0 100
	op aten::mm 1 10 30 '"Sequence number":5'
	work k1 1 15 50 10 1
	op 'autograd::engine::evaluate_function: MmBackward0' 2 200 100 '"Sequence number":5'
	work k2 2 210 300 20 2
	ev cuda_runtime cudaLaunchKernel 2 290 50 '"correlation":3'
	ev kernel k3 7 400 40 '"device":0,"stream":7,"correlation":3'
} | trace >loose.json
is '--bwd: without what no backward op launched' \
	"$(tsv module,bwd_ns --bwd loose.json | sed -n '/^Net/p')" 'Net_0 20000'

# ---- no answer, and usage ----

refuses 5 'none.json: no Python frames: record with .*with_stack=True' 'tl-modules none.json'
ev python_function 'train.py(3): main' 1 0 1500 | trace >frames.json
refuses 5 'none of 1 Python frames is an nn.Module' 'tl-modules frames.json'
module Net_0 0 10 | trace >host.json
refuses 5 'module calls have less GPU time: --min-time 0ns' 'tl-modules host.json'
is 'modules without GPU work' "$(tsv module,gpu_ns,pct_of_busy --min-time 0ns host.json)" 'Net_0 0 '
refuses 5 "no nn.Module matches 'X'" 'tl-modules --root X net.tl'
reports 5 no-match 'tl-modules --name nosuch net.tl'
refuses 5 'all 7 module calls have less' 'tl-modules --min-time 1s net.tl'
refuses 2 "needs kernel, memcpy or memset" 'tl-modules --kind op net.tl'
refuses 2 'takes no options of tables' 'tl-modules -p --format csv net.tl'
refuses 2 'needs a time' 'tl-modules --min-time 5 net.tl'
refuses 2 'column' 'tl-modules -c nosuch net.tl'
refuses 2 'depth' 'tl-modules --depth 0 net.tl'
run 'tl-modules -v net.tl'
like '-v' "$(cat "$log/err")" ': 6 GPU events, 6 [a-z ]*, 1 without a launch'
like '-v: modules' "$(cat "$log/err")" ': 7 calls of modules, 8 Python frames'

page_examples tl-modules.1
done_testing
