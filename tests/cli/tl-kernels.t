#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-kernels: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

op() { # op NAME TS DUR [DIMS]
	ev cpu_op "$1" 1 "$2" "$3" \
		"${4:+\"Input Dims\":$4,\"Input type\":[\"float\"],\"Input Strides\":[[1]],\"Concrete Inputs\":[\"\"]}"
}
call() { ev cuda_runtime "${3:-cudaLaunchKernel}" 1 "$1" 1 "\"correlation\":$2"; }
gpu() { # gpu NAME STREAM TS DUR CORR [CAT]
	ev "${6:-kernel}" "$1" "$2" "$3" "$4" \
		"\"device\":0,\"stream\":$2,\"correlation\":$5,\"grid\":[$2,1,1],\"block\":[64,1,1]"
}

# An op with two kernels, one of them of the wrapped op below it; a graph launch
# and a call outside ops; a collective; a copy; a kernel without a launch.
work() {
	ev python_function 'nn.Module: Net_0' 1 0 100
	op aten::mm 10 30 '[[64,32],[32,16]]'
	call 11 1
	op execute 20 15
	call 21 2
	op c10d::allreduce_ 50 10
	call 51 3
	call 110 4 cudaGraphLaunch
	call 120 5 cudaLaunchKernel
	call 130 6 cudaMemcpyAsync
	gpu Cijk_Alik_Bljk_BBS_MT128x64x32_X 7 100 20 1
	gpu 'void at::native::elementwise_kernel' 7 120 2 2
	gpu ncclDevKernel 9 200 50 3
	gpu k5 7 300 5 4
	gpu k5 7 305 5 4
	gpu k5 8 320 8 5
	gpu 'Memcpy HtoD' 8 390 10 6 gpu_memcpy
	gpu stray 7 500 100 99
}
work | trace >work.json
tl-tree work.json >small.tl

tab=$(printf '\t')
is 'by name' "$(tl-kernels small.tl)" "\
name${tab}count${tab}dur_ns_sum${tab}dur_ns_mean${tab}pct_of_kernels${tab}cumulative_pct
stray${tab}1${tab}100000${tab}100000.0${tab}52.63157894736842${tab}52.63157894736842
ncclDevKernel${tab}1${tab}50000${tab}50000.0${tab}26.31578947368421${tab}78.94736842105263
Cijk_Alik_Bljk_BBS_MT128x64x32_X${tab}1${tab}20000${tab}20000.0${tab}10.526315789473683${tab}89.47368421052632
k5${tab}3${tab}18000${tab}6000.0${tab}9.473684210526317${tab}98.94736842105263
void at::native::elementwise_kernel${tab}1${tab}2000${tab}2000.0${tab}1.0526315789473684${tab}100.0"
is 'statistics' \
	"$(rows 'tl-kernels --name k5 -c dur_ns_median,dur_ns_std,dur_ns_min,dur_ns_max small.tl')" \
	'5000.0 1732.0508075688772 5000 8000.'
is '--by op' "$(rows 'tl-kernels --by op -c op_category,op,gpu_stream,dur_ns_sum,count small.tl')" \
	' 7 100000 1.other c10d::allreduce_ 9 50000 1.GEMM aten::mm 7 20000 1.graph cudaGraphLaunch 7 10000 2.runtime cudaLaunchKernel 8 8000 1.other execute 7 2000 1.'
is '--by op: the share of the time from the first start to the last end' \
	"$(rows 'tl-kernels --by op --name stray -c pct_of_kernels,pct_of_total small.tl')" \
	'100.0 100.0.'
is '--linked-only' \
	"$(rows 'tl-kernels --by op --linked-only --top 1 -c op,pct_of_total small.tl')" \
	'c10d::allreduce_ 16.666666666666664.'
is '--by launch-config' \
	"$(rows 'tl-kernels --by launch-config --name k5 -c name,grid,block,count small.tl')" \
	'k5 [7,1,1] [64,1,1] 2.k5 [8,1,1] [64,1,1] 1.'
is '--by op,args,kernel' \
	"$(rows 'tl-kernels --by op,args,kernel --name "Cijk*" -c op,input_dims,tile,gflop small.tl')" \
	'aten::mm [[64,32],[32,16]] 128x64x32 6.5536e-05.'
is 'TFLOP/s: 2 x 64 x 32 x 16 in 20 us' \
	"$(tl-kernels --by op,args,kernel --name 'Cijk*' -c tflop_s_mean --no-header small.tl | cut -c 1-9)" \
	0.0032768
# 64 x 16 in a tile of 64 x 128; one tile on 304 compute units
is 'how tiles fit, and the roof' \
	"$(rows 'tl-kernels --arch MI300X --by op,args,kernel --name "Cijk*" -c pct_tile,pct_wave small.tl')" \
	'12.5 0.3289473684210526.'
is 'without a GPU: what tiles cover' \
	"$(rows 'tl-kernels --by op,args,kernel --name "Cijk*" -c pct_tile,pct_wave,pct_roofline small.tl')" \
	'12.5 .'
is 'the roof is that of tl-roofline' \
	"$(tl-kernels --arch MI300X --by op,args,kernel --name 'Cijk*' -c pct_roofline --no-header small.tl)" \
	"$(tl-roofline --arch MI300X --name aten::mm -c pct_roofline_mean --no-header small.tl)"
refuses 2 'nosuch' 'tl-kernels --arch nosuch small.tl'
refuses 2 'roof' 'tl-kernels --roof nosuch small.tl'
is '--by event' \
	"$(rows 'tl-kernels --by event -c name,op,module,ts_ns,dur_ns,queue_delay_ns,dev,gpu_stream,corr small.tl' | cut -d . -f 1-6)" \
	'Cijk_Alik_Bljk_BBS_MT128x64x32_X aten::mm nn.Module: Net_0 100000 20000 88000 0 7 1.void at::native::elementwise_kernel execute nn.Module: Net_0 120000 2000 98000 0 7 2.ncclDevKernel c10d::allreduce_ nn.Module: Net_0 200000 50000 148000 0 9 3'
is '--table' "$(tl-kernels --table kernel_summary small.tl)" "$(tl-kernels --by op small.tl)"
like '--list-tables' "$(tl-kernels --list-tables)" '^short_kernel_histogram'

# ---- short ones ----

short='tl-kernels --table short_kernels_summary -c op,name,dur_ns_sum,count'
is 'short kernels without op or arguments are left out' "$(rows "$short small.tl")" ''
is '--keep-unowned' "$(rows "$short --keep-unowned small.tl")" \
	'cudaGraphLaunch k5 10000 2.cudaLaunchKernel k5 8000 1.execute void at::native::elementwise_kernel 2000 1.'
is '--short' "$(rows "$short --short 21us small.tl")" \
	'aten::mm Cijk_Alik_Bljk_BBS_MT128x64x32_X 20000 1.'
refuses 2 "'--short' needs -d or --table" 'tl-kernels --short 10us small.tl'
refuses 2 "'--bins' needs -d or --table" 'tl-kernels --bins 5 small.tl'
is '--short is below' "$(rows "$short --short 20us small.tl")" ''
like 'how many are left out' "$(tl-kernels --table short_kernels_summary --format table small.tl)" \
	'^4 short kernels'
hist='tl-kernels --table short_kernel_histogram'
is 'histogram: an edge belongs to the bin above, the last one to the last' \
	"$(rows "$hist --bins 2 small.tl")" '2000.0 5000.0 1.5000.0 8000.0 3.'
is '--bins' "$(tl-kernels --table short_kernel_histogram small.tl | sed 1d | wc -l | tr -d ' ')" 100
is 'histogram of equal ones' "$(rows "$hist --bins 2 --name 'void*' small.tl")" \
	'1500.0 2000.0 0.2000.0 2500.0 1.'
is 'histogram of none: a header' "$(tl-kernels --table short_kernel_histogram --short 1us small.tl)" \
	"bin_start_ns${tab}bin_end_ns${tab}count"
grep -v cpu_op work.json >calls.json
is 'without ops none is left out' "$(rows "$short calls.json")" \
	' k5 18000 3. void at::native::elementwise_kernel 2000 1.'

# ---- rocprofv3 ----

dispatch() { # dispatch ID KERNEL START END
	printf '{"thread_id":1,"correlation_id":{"internal":%s,"external":0},"start_timestamp":%s,"end_timestamp":%s,"stream_id":{"handle":0},"dispatch_info":{"agent_id":{"handle":77},"queue_id":{"handle":1},"kernel_id":%s,"dispatch_id":%s,"workgroup_size":{"x":64,"y":2,"z":1},"grid_size":{"x":512,"y":4,"z":1}}}' \
		"$1" "$3" "$4" "$2" "$1"
}
cat >rocprof.json <<EOF
{"rocprofiler-sdk-tool":[{"metadata":{"pid":9,"init_time":1000,"fini_time":110000},
"agents":[{"id":{"handle":77},"type":2,"name":"gfx950","logical_node_id":2,"gpu_index":0}],
"strings":{"buffer_records":[]},"kernel_symbols":[
{"kernel_id":1,"kernel_name":"g","formatted_kernel_name":"g()","truncated_kernel_name":"my_gemm"},
{"kernel_id":2,"kernel_name":"c","formatted_kernel_name":"c()","truncated_kernel_name":"ncclDevKernel_AllReduce_Sum"}],
"buffer_records":{"kernel_dispatch":[
$(dispatch 1 1 2000 3000),$(dispatch 2 1 4000 7000),$(dispatch 3 2 20000 36000)]}}]}
EOF
is 'rocprofv3: kernel_summary' "$(tl-kernels --table kernel_summary --labels --format csv -c +details rocprof.json)" "\
name,Count,Mean Kernel Time (µs),Median Kernel Time (µs),Std Kernel Time (µs),Min Kernel Time (µs),Max Kernel Time (µs),Percentage (%),Cumulative Percentage (%),Total Kernel Time (ms),Category
ncclDevKernel_AllReduce_Sum,1,16.0,16.0,,16,16,80.0,80.0,0.016,COMM
my_gemm,2,2.0,2.0,1.4142135623730951,1,3,20.0,100.0,0.004,GEMM"
is 'rocprofv3: by category' "$(rows 'tl-kernels --table kernel_summary_by_category -c op_category,count,dur_ns_sum rocprof.json')" \
	'COMM 1 16000.GEMM 2 4000.'
is 'rocprofv3: kernel_details, the longest first' "$(rows 'tl-kernels --table kernel_details rocprof.json')" \
	'ncclDevKernel_AllReduce_Sum 16000 0 3 8 2 1 64 2 1 77 1.my_gemm 3000 0 2 8 2 1 64 2 1 77 1.my_gemm 1000 0 1 8 2 1 64 2 1 77 1.'
tl-gen --rocprof --layers 1 --steps 2 --processes 2 >two.json
is 'rocprofv3: of equal length the first in the file' \
	"$(tl-kernels --table kernel_details -c agent_id,dispatch_id two.json | sed 1d)" \
	"$(python3 -c '
import json
rows = [r for p in json.load(open("two.json"))["rocprofiler-sdk-tool"]
        for r in p["buffer_records"]["kernel_dispatch"]]
rows.sort(key=lambda r: r["start_timestamp"] - r["end_timestamp"])
for r in rows:
    d = r["dispatch_info"]
    print(d["agent_id"]["handle"], d["dispatch_id"], sep="\t")')"
is 'rocprofv3: short kernels' "$(rows 'tl-kernels --table short_kernels_summary rocprof.json')" \
	'my_gemm 2 4000 2000.0 20.0.'
tl-kernels -d dir rocprof.json
is 'rocprofv3: -d' "$(echo dir/*)" \
	'dir/category_summary.csv dir/kernel_details.csv dir/kernel_summary.csv dir/kernel_summary_by_category.csv dir/kernels_by_launch_config.csv dir/short_kernel_histogram.csv dir/short_kernels_summary.csv dir/xla_top.csv'
rm -r dir
tl-kernels -d dir --by event small.tl
is '-d writes the tables of the reference, and the one asked for' "$(echo dir/*)" \
	'dir/kernel_events.csv dir/kernel_summary.csv dir/short_kernel_histogram.csv dir/short_kernels_summary.csv'
is '-d has its columns' "$(head -n 1 dir/kernel_summary.csv)" \
	'Parent op category,Parent cpu_op,Kernel name,Kernel stream,Kernel duration (µs)_sum,Kernel duration (µs)_count,Kernel duration (µs)_mean,Kernel duration (µs)_min,Kernel duration (µs)_max,Percent of kernels time (%),Percent of total time (%)'

# products as in rocprofv3's .pftrace: work-items, in blocks if they divide
cat >products.json <<'EOT'
[{"ph":"X","cat":"kernel_dispatch","name":"a","ts":1,"dur":1,"args":{"grid_size":1024,"workgroup_size":256}},
{"ph":"X","cat":"kernel_dispatch","name":"b","ts":3,"dur":1,"args":{"workgroup_size":256,"grid_size":1000}},
{"ph":"X","cat":"kernel_dispatch","name":"c","ts":5,"dur":1,"args":{"grid_size":1024}}]
EOT
is 'work-items are shown in blocks' \
	"$(tl-kernels --by launch-config -c name,grid,block products.json 2>/dev/null | tr '\t' ,)" \
	'name,grid,block
a,4,256
b,,256
c,,'

# ---- selection, several sources ----

is '--min-dur' "$(rows 'tl-kernels --min-dur 20us -c name small.tl')" \
	'stray.ncclDevKernel.Cijk_Alik_Bljk_BBS_MT128x64x32_X.'
is '--from' "$(rows 'tl-kernels --from 100us --to 115us -c name,count small.tl')" 'k5 2.'
is 'sources apart' "$(rows 'tl-kernels --name stray -c src,count work.json work.json')" '0 1.1 1.'

# ---- every kind of input ----

tl-decode "$SAMPLE" >plain.tl
tl-tree plain.tl >sample.tl
tl-kernels sample.tl >want
same 'a stream that is no tree' want "$(tl-kernels plain.tl >got; echo got)"
same 'a raw trace' want "$(tl-kernels "$SAMPLE" >got; echo got)"
same 'stdin' want "$(tl-kernels <sample.tl >got; echo got)"
same 'stdin as -' want "$(tl-kernels - <sample.tl >got; echo got)"
same 'a raw trace from stdin' want "$(tl-kernels <"$SAMPLE" >got; echo got)"
gzip -k sample.tl
same 'gzip' want "$(tl-kernels sample.tl.gz >got; echo got)"
zstd -q sample.tl
same 'zstd' want "$(tl-kernels sample.tl.zst >got; echo got)"
tl-cat sample.tl >sample.ndjson
same 'NDJSON' want "$(tl-kernels sample.ndjson >got; echo got)"
refuses_cuts small.tl 100 tl-kernels
refuses 1 'cut off' 'head -c 900 sample.tl | tl-kernels'
refuses 1 '.' 'tl-kernels </dev/null'
refuses 1 'not_a_trace' 'echo hello >not_a_trace; tl-kernels not_a_trace'
refuses 1 'directory' 'tl-kernels .'
refuses 1 'No such file' 'tl-kernels missing.tl'
refuses 1 'No space left' 'tl-kernels sample.tl >/dev/full'
refuses -o 1 'Bad file descriptor|closed' 'tl-kernels sample.tl >&-'
quiet 'a reader may leave' 'tl-kernels --by event sample.tl | head -n 1'
quiet 'nothing on stderr' 'tl-kernels sample.tl'

# ---- no answer, and usage ----

op aten::mm 1 2 | trace >host.json
gpu copy 7 1 1 1 gpu_memcpy | trace >copy.json
gpu a 7 1 1 1 | trace >gpu.json
reports 5 no-gpu-events 'tl-kernels host.json'
refuses 5 'the selection matches none' 'tl-kernels copy.json'
reports 5 no-linked-gpu-events 'tl-kernels --linked-only gpu.json'
refuses 5 "the selection matches none of [0-9]+ GPU events; it has '[^']+'" 'tl-kernels --name nosuch small.tl'
reports 5 no-table-here 'tl-kernels --table kernel_details small.tl'
refuses 2 'no table' 'tl-kernels --table nosuch small.tl'
refuses 2 'event' 'tl-kernels --by shape small.tl'
refuses 2 'needs kernel' 'tl-kernels --kind memcpy small.tl'
refuses 2 'bins' 'tl-kernels --bins 0 small.tl'
refuses 2 'needs a time' 'tl-kernels --short 5 small.tl'
refuses 2 'column' 'tl-kernels -c nosuch small.tl'
refuses 2 'unknown option' 'tl-kernels --nosuch small.tl'
run 'tl-kernels -v small.tl'
like '-v: a summary' "$(cat "$log/err")" \
	'small.tl: 8 GPU events, 7 counted, 1 without a launch'
printf 'nonsense' >bad.lua
refuses 1 'bad.lua' 'tl-kernels --models bad.lua small.tl'
for r in 0 1; do
	gpu k 7 100 20 1 | trace ",\"distributedInfo\":{\"rank\":$r}" >stray$r.json
done
like 'without a launch are those of the ranks asked for' \
	"$(tl-kernels --rank 1 --format table stray0.json stray1.json)" \
	'^1 GPU event has no launch'
ok '--help' sh -c 'tl-kernels --help | grep -q launch-config'

# ---- sequences ----

# a b c  a b c  x  a b; copies and long gaps end a run
{
	call 0 1; gpu a 7 10 5 1
	call 2 2; gpu b 7 18 5 2
	call 4 3; gpu c 7 24 5 3
	call 6 4; gpu a 7 30 5 4
	call 8 5; gpu b 7 36 5 5
	call 10 6; gpu c 7 45 5 6
	call 12 7; gpu a 7 2000 5 7
	call 14 8; gpu b 7 2007 5 8
	call 16 9; gpu 'Memcpy HtoD' 7 2013 5 9 gpu_memcpy
	call 18 10; gpu a 7 2020 5 10
	call 20 11; gpu b 7 2026 5 11
	op my::both 0 13
	op my::inner 1 11
	op my::both 13 20
	op my::inner 13 2
} | trace >runs.json
is 'sequences' "$(rows 'tl-kernels --sequences -c sequence,length,count,gap_ns_sum,launch_ns_sum,dur_ns_sum runs.json')" \
	'a | b | c 3 2 9000 4000 30000.a | b 2 2 3000 2000 20000.'
is 'shorter ones' "$(rows 'tl-kernels --sequences --max-length 2 -c sequence,count,gap_ns_sum runs.json')" \
	'a | b 4 7000.'
is 'none so long' "$(rows 'tl-kernels --sequences --min-length 4 runs.json')" ''
is 'below the outermost ops' \
	"$(rows 'tl-kernels --sequences --op "my::*" -c under,sequence,count,gap_ns_sum,op_ns_sum runs.json')" \
	'my::both a | b | c | a | b | c | a 1 1960000 13000.my::both b | Memcpy HtoD | a | b 1 4000 20000.'
{
	for i in 0 1; do
		call $((i * 3000)) $((i * 4 + 1)); gpu a 7 $((i * 3000 + 10)) 5 $((i * 4 + 1))
		call $((i * 3000 + 2)) $((i * 4 + 2)); gpu a 8 $((i * 3000 + 12)) 5 $((i * 4 + 2))
		call $((i * 3000 + 4)) $((i * 4 + 3)); gpu b 7 $((i * 3000 + 20)) 5 $((i * 4 + 3))
		call $((i * 3000 + 6)) $((i * 4 + 4)); gpu b 8 $((i * 3000 + 30)) 5 $((i * 4 + 4))
	done
} | trace >streams.json
is 'the gaps of a kernel after another are those of its stream' \
	"$(rows 'tl-kernels --sequences -c sequence,count,gap_ns_sum streams.json')" \
	'a | b 4 36000.'
is 'of one stream' \
	"$(rows 'tl-kernels --sequences -c sequence,count,gap_ns_sum --gpu-stream 8 streams.json')" \
	'a | b 2 26000.'
# 300 nested ops, each with a kernel of its own, and 6000 kernels below all of
# them
awk 'BEGIN {
	print "{\"traceEvents\":["
	x = "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d,\"stream\":7}}"
	for (i = 1; i <= 6300; i++) {
		if (i <= 300)
			printf x ",\n", 1, "cpu_op", "deep", 10 * i - 1, 200000 - 20 * i, 0
		printf x ",\n", 1, "cuda_runtime", "cudaLaunchKernel", 10 * i, 5, i
		printf x "%s\n", 7, "kernel", "a_kernel_with_a_name_of_more_than_forty_letters_" i % 7,
			10 * i + 6, 4, i, i < 6300 ? "," : "]}"
	}
}' | tl-tree -o deep.tl
case $B in *san*) limit= ;; *) limit='ulimit -v 60000;' ;; esac
is 'of nested ops the memory of one' \
	"$(rows "$limit tl-kernels --sequences --op '*' -c under,length,count deep.tl")" 'deep 6300 1.'
screen='tl-kernels --sequences --format table --width 80'
$screen "$SAMPLE" >out
is 'on a terminal, each kernel has its own lines' "$(grep -c ' | ' out) $(awk 'length > 80' out | wc -l)" '0 0'
for name in Functor_add layer_norm_kernel; do
	like "which say what it does: $name" "$(cat out)" "$name<"
done
like 'of many, the first' "$($screen --op '*' deep.tl)" '^    [.][.][.] 6284 more$'
refuses 2 'needs --sequences' 'tl-kernels --op x runs.json'
reports 5 no-such-op 'tl-kernels --sequences --op nope runs.json'
outside() { # two kernels launched by no op
	call 0 1 && ev kernel k 7 10 5 '"device":0,"stream":7,"correlation":1'
	call 20 2 && ev kernel k2 7 30 5 '"device":0,"stream":7,"correlation":2'
}
outside | trace >outside.json
reports 5 no-ops "tl-kernels --sequences --op '*' outside.json"
{ outside && ev cpu_op aten::empty 1 100 3; } | trace >unused.json
reports 5 no-gpu-ops "tl-kernels --sequences --op '*' unused.json"
refuses 2 'above --max-length' 'tl-kernels --sequences --min-length 9 runs.json'

# mm writes 64 x 16 floats, 4096 bytes, which silu reads, whose result add reads: fused,
# both are neither written nor read. At 2 GB/s that takes 2048 ns each time, but of mm at
# most 4096 / 14336 of its 5000 ns, of add 4096 / 12288 of its 1500: 1428 + 2048 + 2048 +
# 500. What add wrote nothing reads; twice
own() { # own NAME KERNEL TS DUR CORR DIMS TYPES [VALUES]: an op with one kernel
	ev cpu_op "$1" 1 "$3" 3 "\"Input Dims\":$6,\"Input type\":$7,\"Concrete Inputs\":${8:-[\"\"]}"
	call $(($3 + 1)) "$5"
	ev kernel "$2" 7 "$(($3 + 9))" "$4" "\"device\":0,\"stream\":7,\"correlation\":$5"
}
chain() { # chain DIMS TYPES: of the second op
	for i in 0 1; do
		own aten::mm gemm $((i * 100)) 5 $((i * 4 + 1)) '[[64,32],[32,16]]' '["float","float"]'
		own aten::silu act $((i * 100 + 10)) 5 $((i * 4 + 2)) "$1" "$2"
		own aten::add sum $((i * 100 + 20)) 1.5 $((i * 4 + 3)) '[[1024],[1024],[]]' '["float","float","Scalar"]'
		own aten::mm gemm2 $((i * 100 + 30)) 5 $((i * 4 + 4)) '[[8,4],[4,8]]' '["float","float"]'
	done | trace
}
again='tl-kernels --sequences -c count,saved_ns_sum,gap_ns_sum,spared_bytes_sum,spared_ns_sum,spared_reason'
echo '{"name":"slow","mem_bw_gbps":2,"peak_tflops":{}}' >slow.json
chain '[[64,16]]' '["float"]' >again.json
is 'bytes that one kernel does not move' "$(rows "$again --arch ./slow.json again.json")" \
	'2 49048 37000 32768 12048 .'
is 'their time needs the memory bandwidth' "$(rows "$again again.json")" \
	'2 37000 37000 32768 memory bandwidth unknown: name the GPU with --arch.'
is 'pairs that are not known, and why' \
	"$(chain '[[64,16]]' '["?"]' | rows "$again --arch ./slow.json")" \
	'2 37000 37000 0 0 2 of 6 pairs: no types recorded; 2: no model of the result.'
is 'of a tensor that no GPU holds' "$(chain '[[2147483647,2147483647]]' '["float"]' |
	rows "$again --arch ./slow.json" | grep -o '2 of 6 pairs.*')" \
	'2 of 6 pairs: a tensor larger than the memory of any GPU.'
for i in 0 1 2; do
	ev kernel first_kernel_with_quite_a_long_name 7 $((i * 100)) 5
	ev kernel other_kernel_with_quite_a_long_name 7 $((i * 100 + 20)) 5
done | trace >long.json
is 'on a narrow terminal it is below the kernels, whole' \
	"$(tl-kernels --sequences --format table --width 60 long.json 2>/dev/null | sed -n '/^  *first_/,/pairs/p')" \
	'    first_kernel_with_quite_a_long_name
    other_kernel_with_quite_a_long_name
    spared_reason: 3 of 3 pairs: no op recorded'
is 'where none recurs it is said' \
	"$(own aten::mm gemm 0 5 1 '[[8,4],[4,8]]' '["float","float"]' | trace |
		tl-kernels --sequences --format table 2>/dev/null | grep '^[n(]' | tr '\n' ' ')" \
	'no sequence recurs (no rows) '
# silu has written 4096 bytes: what the next op does to arguments of that size
F='"float"'
next() { # next NAME DIMS TYPES [VALUES]
	for i in 0 1; do
		own aten::silu act $((i * 100)) 5 $((i * 2 + 1)) '[[64,16]]' "[$F]"
		own "$1" k $((i * 100 + 10)) 5 $((i * 2 + 2)) "$2" "$3" "${4:-}"
	done | trace | rows 'tl-kernels --sequences --arch ./slow.json -c spared_bytes_sum,spared_reason'
}
unsure='2 of 2 pairs: whether the next op reads it is unknown.'
S='[64,16]'
is 'a source is read' "$(next aten::copy_ "[$S,$S,[]]" "[\"double\",$F,\"Scalar\"]")" '16384 .'
is 'where it goes is not' "$(next aten::copy_ "[$S,[64,1],[]]" "[$F,$F,\"Scalar\"]")" '0 .'
is 'nor what is filled' "$(next aten::fill_ "[$S,[]]" "[$F,\"Scalar\"]")" '0 .'
is 'nor the last of a product (out=)' "$(next aten::mm "[[64,8],[8,16],$S]" "[$F,$F,$F]")" '0 .'
is 'nor of an operation' "$(next aten::mul "[[16],[64,1],$S]" "[$F,$F,$F]")" '0 .'
is 'nor of a sum' "$(next aten::sum "[[9,64,16],[],[],[],$S]" "[$F,\"ScalarList\",\"Scalar\",\"\",$F]" \
	'["","[0]","False","",""]')" '0 .'
is 'nor what only has the size of the result' \
	"$(next aten::avg_pool2d_backward "[[1,16,2,2],[1,16,8,8]]" "[$F,$F]")" '0 .'
is 'the first of a Triton kernel is read' \
	"$(next triton_poi_fused_mul_0 "[$S,$S,[]]" "[$F,$F,\"Scalar\"]" '["","","1024"]')" '16384 .'
is 'of others, or one alone, it is not known' \
	"$(next triton_poi_fused_mul_0 "[[512],$S,[]]" "[$F,$F,\"Scalar\"]" '["","","1024"]'
	next triton_poi_fused_mul_0 "[$S,[]]" "[$F,\"Scalar\"]" '["","1024"]')" " $unsure $unsure"
is 'nor without a model' "$(next my::op "[$S]" "[$F]")" " $unsure"
is 'but nothing has the size' "$(next my::op '[[4]]' "[$F]")" '0 .'
is 'of a table that is gathered from, what is gathered' \
	"$(next aten::embedding "[$S,[2],[]]" "[$F,\"long int\",\"Scalar\"]")" '8448 .'
# two kernels each: one of both ops does without the result, whichever wrote it
both() { # both TS NAME KERNELS...: an op of 64 x 16 floats with these kernels
	ev cpu_op "$2" 1 "$1" 9 "\"Input Dims\":[$S],\"Input type\":[$F],\"Concrete Inputs\":[\"\"]"
	at=$1
	shift 2
	for name; do
		call $((at + 1)) "$((at + 1))"
		ev kernel "$name" 7 "$((at + 9))" 1 "\"device\":0,\"stream\":7,\"correlation\":$((at + 1))"
		at=$((at + 3))
	done
}
wide='tl-kernels --sequences --arch ./slow.json -c sequence,spared_bytes_sum,spared_reason'
is 'ops of two kernels, all of them' "$(for i in 0 100; do
	both $i aten::silu a b
	both $((i + 10)) aten::relu c d
done | trace | rows "$wide")" \
	'a | b | c | d 16384 4 of 6 pairs: kernels of one op, results between them not recorded.'
is 'and only one of them' "$(for i in 0 100; do
	both $i aten::silu a "b$i"
	both $((i + 10)) aten::relu c "d$i"
done | trace | rows "$wide --op 'aten::relu'")" \
	'c | d0 1 of 1 pair: kernels of one op, results between them not recorded.c | d100 1 of 1 pair: kernels of one op, results between them not recorded.'
is 'cut by the sequence' "$(for i in 0 100; do
	both $i aten::silu "a$i" b
	both $((i + 10)) aten::relu c
done | trace | rows "$wide")" 'b | c 2 of 2 pairs: other GPU work of an op is not beside it.'
is 'sizes that no GPU has, and lists that are none' "$(for dims in '[[4611686018427387904,16]]' '[[1e300]]' '[[-1]]' '{}' '[[[[]]]]' '[]' null '"x"' '"[[64,16]"'; do
	chain "$dims" '["float"]' >odd.json
	rows "$again --arch ./slow.json odd.json" >odd.out 2>&1 || echo "status of $dims"
	grep -q '^2 ' odd.out || echo "$dims: $(cat odd.out err 2>/dev/null)"
done)" ''
python3 "$ROOT/tests/oracle/sequences.py" 1 30 >seq.out
is 'the same as plain Python finds' "$(head -n 1 seq.out | cut -c1-4)" 'ok 1'

# ---- categories of inference ----

# name of a kernel, category; another rule decides each
cat >categories.txt <<'END'
Cijk_Alik_Bljk_BBS_MT64x32 GEMM-CK
Cijk_Alik_F8F8S_MT64x32 GEMM-FP8
Cijk_Alik_AF4EM1 GEMM-CK
gemm_splitk_fp8 GEMM-SplitK
hgemm GEMM-Generic
ampere_bf16_s16816gemm_64x64 GEMM-Generic
nvjet_tst_64x8 GEMM-NVJET
_matmul_ogs_bf16xmxfp4 GEMM-FP4
void flash_fwd_kernel<Flash_bwd<64>>(Params) Attention-Forward
fmha_x Attention-Generic
_fwd_kernel_stage2 Kernel-Forward
paged_attention_v1 PagedAttention-Generic
void paged_attention_ll4mi_reduce_kernel<bf16>(int) PagedAttention-Generic
void vllm::x_paged_attention_reduce(float *) PagedAttention-Reduce
void vllm::x_paged_attention_kernel(float *) PagedAttention-Compute
x_chunked_prefill_x InferenceBatching
void at::native::vectorized_elementwise_kernel<4, at::native::softmax<float> >(int) Elementwise
void at::native::softmax_warp_forward<float>(int) Activation-Softmax
act_and_mul_kernel Activation-Gated
x_swish_y Activation-SiLU
convert_types Memory-Reshape
DeviceConvFwd Conv-Forward
conv2d_forward Conv-Forward
x_fused_add Fused-AddNorm
fused_padding Fused-Generic
x_layer_norm_grad Norm-Layer
normal_distribution Uncategorized
administer_adder Uncategorized
x_ArgMax Reduce
x_argmax Uncategorized
x_max_y Reduce
ncclDevKernel_AllReduce_Sum_f32 Comm-AllReduce
ncclDevKernel_SendRecv Comm-Send
ncclDevKernel_Other Comm-Generic
x_broadcast_copy Memory-Copy
dynamic_per_group_quant Quant-PerGroup
x_rotary_embedding RoPE-Generic
x_europe_bound Uncategorized
x_kv_cache_append KVCache-Update
vllm::x_cache_y KVCache-vLLM
x_paged_cache Uncategorized
x_scatter Indexing-Scatter
upsample_nearest Uncategorized
top_k_y Sampling-TopK
x_draft_y SpeculativeDecoding
x_logits TokenGeneration
sgl_hip::x_y SGLang-Custom
triton_red_fused_add Triton-Custom
END
at=0
while read -r line; do
	at=$((at + 10))
	gpu "${line% *}" 7 "$at" 5 ""
done <categories.txt | sed 's/,"correlation":,/,/' | trace >categories.json
is 'categories of inference' "$(tl-kernels --by name --categories inference --format ndjson categories.json | jq -r 'select(.name) | .name + " " + .kernel_category' | sort)" \
	"$(sort categories.txt)"
is 'no such column unless asked for' "$(tl-kernels categories.json | head -1 | grep -c category)" 0
echo '{"a": {"of": ["!kx", "k"], "b": ["<k>"]}, "c": ["^k"], "d": ["*"]}' >own.json
work | sed 's/k5/kx 1/; s/stray/xk_k/' | trace >own_names.json
is 'groups, exceptions, words' "$(tl-kernels --categories own.json -c name,kernel_category own_names.json | grep '^[ksx]' | sort | tr '\t\n' '  ')" \
	'kx 1 c xk_k b '
for bad in '{"a": {"of": "b"}}' '{"a": {"of": ["b"], "c": {"of": []}}}' '{"a": {"of": [1]}}'; do
	echo "$bad" >bad.json
	refuses 1 'bad.json: no JSON object of categories' 'tl-kernels --categories bad.json small.tl'
done

# ---- by step, phase and annotation ----

# Step 1 from 0, step 2 from 100 to 200. An op that begins in step 1 launches k2
# in step 2, which runs after both; k1 of step 1 runs in step 2; k3 is from
# thread 2, which has no annotation of its own; k4 has no launch; k5's is after
# all steps
{
	ev user_annotation 'ProfilerStep#1' 1 0 100
	ev user_annotation 'ProfilerStep#2' 1 100 100
	ev user_annotation outer 1 20 160
	ev user_annotation inner 1 100 20
	op aten::a 30 10
	call 31 1
	gpu k1 7 110 20 1
	op aten::b 95 15
	call 105 2
	gpu k2 7 210 7 2
	ev cuda_runtime cudaLaunchKernel 2 130 1 '"correlation":3'
	gpu k3 7 140 5 3
	gpu k4 8 150 300 99
	call 220 5
	gpu k5 7 500 11 5
} | trace >steps.json
steps() { rows "tl-kernels $* -c $by,count,dur_ns_sum,dur_ns_max steps.json"; }
by=step
is '--by step' "$(steps --by step)" '1 1 20000 20000.2 2 12000 7000. 2 311000 300000.'
is '--by step: where they run' "$(steps --by step --by-gpu-time)" '2 3 325000 300000. 2 18000 11000.'
is '--by step: only linked ones' "$(steps --by step --linked-only)" '1 1 20000 20000.2 2 12000 7000. 1 11000 11000.'
is 'a step and what is selected' "$(steps --by step --step 2)" '2 2 12000 7000.'
is 'by name' "$(steps --table kernels_by_step)" "$(steps --by step)"
by=annotation
is '--by annotation' "$(steps --by annotation)" ' 2 311000 300000.outer 2 25000 20000.inner 1 7000 7000.'
is '--by annotation: where they run' "$(steps --by annotation --by-gpu-time)" \
	'outer 2 305000 300000.inner 1 20000 20000. 2 18000 11000.'
like 'shares of all kernels' "$(rows 'tl-kernels --by step -c step,pct_of_kernels,cumulative_pct steps.json')" \
	'^1 5\.83.* 5\.83.*\.2 3\.49.* 9\.32.*\. 90\.67.* 100\.0\.$'
is 'written beside the others' "$(tl-kernels -d by --by step steps.json && head -n 2 by/kernels_by_step.csv | tail -n 1 | cut -d, -f1-3)" \
	'1,1,20'

# Iterations with time between them, and the same trace without any annotation
loop() { # loop MARKED: three times two kernels, 3 + 4 us; between 1 and 2 another one
	for i in 1 2 3; do
		[ "$1" = no ] || ev user_annotation "step[DECODE bs=$i]" 1 $((100 * i)) 60
		for k in 1 2; do
			at=$((100 * i + 10 * k))
			ev cpu_op "aten::o$k" 1 $at 5
			call $at "$i$k"
			gpu "k$k" 7 $((at + 5)) $((k + 2)) "$i$k"
		done
	done
	[ "$1" = no ] || call 170 9
	[ "$1" = no ] || gpu k9 7 180 9 9
}
loop yes | trace >iterations.json
loop no | trace >bare.json
is 'between steps' "$(rows 'tl-kernels --by step -c step,count,dur_ns_sum iterations.json')" \
	'1 2 7000.2 2 7000.3 2 7000.between 1 9000.'
is 'inferred steps' "$(rows 'tl-kernels --by step -c step,count,dur_ns_sum bare.json')" '1 2 7000.2 2 7000.3 2 7000.'
for file in steps.json iterations.json bare.json "$SAMPLE"; do
	all=$(tl-kernels -c count,dur_ns_sum --no-header "$file" | awk '{ n += $1; t += $2 } END { print n, t }')
	for by in step phase annotation; do
		for gpu in '' --by-gpu-time; do
			# shellcheck disable=SC2086 # an option or none
			is "${file##*/}: the sum by $by $gpu" "$(tl-kernels --by $by $gpu -c count,dur_ns_sum --no-header "$file" |
				awk '{ n += $1; t += $2 } END { print n, t }')" "$all"
		done
	done
done
# like others, if ops begin in the step in which they launch and, for
# tl-timeline, which
# goes by the clock, kernels run in it one by one
of_step() { awk '$1 ~ /^[0-9]/ { print $1, $NF }'; }
for file in iterations.json bare.json; do
	tl-kernels --by step -c step,dur_ns_sum --no-header $file | of_step >got
	command -v tl-ops >/dev/null || continue
	tl-ops --by step -c step,direct_ns_sum --no-header $file | of_step >want
	same "$file: tl-ops has the same by step" got want
done
tl-kernels --by step -c step,dur_ns_sum --no-header iterations.json | of_step >got
tl-timeline --by step -c step,type,time_ns --no-header iterations.json | grep busy_time | of_step >want
same 'so does tl-timeline' got want

page_examples tl-kernels.1
done_testing
