#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-roofline: figures worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

gpu() { # gpu NAME STREAM TS DUR CORR
	ev kernel "$1" "$2" "$3" "$4" "\"device\":0,\"stream\":$2,\"correlation\":$5"
}
launch() { ev cuda_runtime cudaLaunchKernel 1 "$1" 2 "\"correlation\":$2"; }
args() { # args DIMS TYPES CONCRETE
	printf '"Input Dims":%s,"Input type":%s,"Concrete Inputs":%s' "$1" "$2" "$3"
}
# cells COLUMNS COMMAND: the rows, without a header, blanks for tabs
cells() {
	sh -c "$2 --no-header -c $1" 2>"$TMP/err" | tr '\t' ' '
}

# 1 TFLOP/s and 1 GB/s: a roof of round figures.
cat >one.json <<'X'
{ "name": "one", "mem_bw_gbps": 1,
  "peak_tflops": { "matrix_fp32": 1, "vector_fp32": 1 },
  "max_achievable_tflops": { "matrix_fp32": 0.5 } }
X

# ---- one product, by hand ----
# 64 x 128 by 128 x 32: 2 x 64 x 128 x 32 = 524288 operations,
# (8192 + 4096 + 2048) x 4 = 57344 bytes, in two kernels that overlap: 1 to 3
# and 2 to 6 make 5 us.

mm() {
	ev cpu_op aten::mm 1 10 20 \
		"$(args '[[64,128],[128,32]]' '["float","float"]' '["",""]')"
	launch 11 1
	launch 15 2
	gpu gemm 7 101 2 1
	gpu split 8 102 4 2
}
mm | trace >mm.json
is 'a product' "$(cells name,op_category,operation_count,gflop,moved_mib,flop_per_byte,compute_spec,kernel_ns_sum \
	'tl-roofline mm.json')" \
	'aten::mm GEMM 1 0.000524288 0.0546875 9.142857142857142 matrix_fp32 5000'
# 524288 / 5e-6 s = 0.1048576 TFLOP/s; 57344 / 5e-6 = 0.0114688 TB/s
is 'its rates' "$(cells tflop_s_mean,tb_s_mean 'tl-roofline mm.json')" \
	'0.1048576 0.0114688'
is 'unknown GPU: no roof' "$(cells roof,roofline_bound,lost_ns 'tl-roofline mm.json' | cat -A)" '  $'
reports 5 no-table-ops 'tl-roofline --table CONV_fwd mm.json'
like 'which tables have rows' "$(tl-roofline --table CONV_fwd mm.json 2>&1)" \
	': the table CONV_fwd has no rows; tables with rows: unified_perf_summary, GEMM$'
# no name, but memory and compute units that only one GPU has
mm | trace ',"deviceProperties":[{"id":0,"name":"","totalGlobalMem":206141652992,"numSms":304}]' >nameless.json
reports 0 gpu-assumed 'tl-roofline nameless.json'
is 'the GPU that is assumed' "$(cells roof 'tl-roofline nameless.json')" 'MI300X peak'
is 'one that was named is not' "$(tl-roofline --arch MI300X nameless.json 2>&1 >/dev/null | grep -c assumed)" 0
# 524288 / 1e12 = 0.524288 us; 57344 / 1e9 = 57.344 us
is 'bound by the memory' "$(cells roof,roofline_bound,roofline_ns,pct_roofline_mean,lost_ns \
	'tl-roofline --arch ./one.json mm.json')" 'one peak MEMORY_BOUND 57344.0 1146.8799999999999 -52344.0'
is 'bound by a bandwidth of which there is only a peak' \
	"$(cells roof 'tl-roofline --arch ./one.json --roof achievable mm.json')" 'one peak'
is 'the roofs themselves' "$(cells roof_tflop_s,roof_tb_s \
	'tl-roofline --arch ./one.json --roof achievable mm.json')" '0.5 0.001'
is 'are none of an unknown GPU' "$(cells roof_tflop_s,roof_tb_s 'tl-roofline mm.json' | cat -A)" ' $'
# 57344 bytes; 5 us, of two kernels whose times are whole microseconds
above() { # above GBPS CACHE_MIB [TRACE]
	printf '{"name":"x","mem_bw_gbps":%s,"l2_mib":%s,"peak_tflops":{}}' "$1" "$2" >x.json
	cells above_roof "tl-roofline --arch ./x.json ${3:-mm.json}"
}
is 'faster than its roof' "$(above 1 null)" unexplained
is 'by what is in the cache' "$(above 1 0.0546875)" '0.0546875 MiB of cache'
is 'by half of it, where all took 11.5 us' "$(above 5 0.02734375)" '0.0273438 MiB of cache'
is 'not by less' "$(above 5 0.005)" unexplained
is 'by less than the times are rounded by' "$(above 8.2 null)" 'times are multiples of 1000 ns'
sed 's/"ts":101,/"ts":101.001,/' mm.json >sharp.json
is 'which must be so' "$(above 8.2 null sharp.json)" unexplained
is 'not faster' "$(above 12 null)" ''
slower() { # slower TFLOPS TRACE
	printf '{"name":"x","mem_bw_gbps":1e6,"peak_tflops":{"matrix_fp32":%s}}' "$1" >x.json
	cells above_roof "tl-roofline --arch ./x.json $2"
}
# conv NAME DUR: a 3 x 3 convolution of 8 x 8 x 6 x 6 to 8 x 8 x 4 x 4, with 2 x
# 8 x 8 x 16 x 8 x 9 = 147456 operations, in a kernel of 16 us and another. Its
# times are multiples of 1 ns. Winograd's F(2x2,3x3) computes a tile of 4 with
# 16 products instead of 36, 2.25 times fewer; F(4x4,3x3) one of 16 with 36
# instead of 144, 4 times fewer.
conv() {
	{
		ev cpu_op aten::convolution 1 10 20 "$(args '[[8,8,6,6],[8,8,3,3],[],[],[],[],[],[],[]]' \
			'["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]' \
			'["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"]')"
		launch 11 1
		launch 15 2
		gpu "$1" 7 101 16 1
		gpu "$2" 7 120.001 "$3" 2
	} | trace
}
conv winograd_fwd_3x3 winograd_transform 4 >winograd.json
conv direct_fwd_3x3 transform 4 >direct.json
conv direct_fwd_3x3 winograd_transform 4 >small.json
# fewer FACTOR TRACE: with a roof where the count takes FACTOR times the 20 us
fewer() {
	slower "$(awk -v f="$1" 'BEGIN { printf "%.9g", 147456 / (f * 20e-6) / 1e12 }')" "$2"
}
for factor in 2.25 3.99; do
	is "$factor times fewer operations" "$(fewer $factor winograd.json)" 'Winograd: fewer operations than counted'
	is "$factor times fewer without it" "$(fewer $factor direct.json)" unexplained
done
is 'no algorithm makes it 4.1' "$(fewer 4.1 winograd.json)" unexplained
# 16 us, and 4 us for the work that otherwise takes 16, are 1.6 times 20
is 'a small kernel explains as much as it does' "$(fewer 1.59 small.json)" 'Winograd: fewer operations than counted'
is 'and no more' "$(fewer 1.61 small.json) $(fewer 2.25 small.json)" 'unexplained unexplained'
sed 's/"mem_bw_gbps": 1/"mem_bw_gbps": 1e6/' one.json >fast.json
is 'bound by the units' "$(cells roofline_bound,roofline_ns,lost_ns \
	'tl-roofline --arch ./fast.json mm.json')" 'COMPUTE_BOUND 524.288 4475.7119999999995'
is 'another roof: half of the rate, twice the time' "$(cells roof,roofline_ns \
	'tl-roofline --arch ./fast.json --roof achievable mm.json')" 'one achievable 1048.576'
sed 's/float/c10::Half/g' mm.json >half.json
sed 's/"vector_fp32": 1/"matrix_fp16": 2/' fast.json >few.json
is 'a rate of which there is only a peak' "$(cells roof,roofline_ns \
	'tl-roofline --arch ./few.json --roof achievable half.json')" 'one peak 262.144'
sed 's/peak_tflops/_none/' fast.json >measured.json
is 'or only a measured one' "$(cells roof,roofline_ns \
	'tl-roofline --arch ./measured.json mm.json')" 'one achievable 1048.576'
is 'the sheet' "$(cells name,param_M,param_N,param_K,param_bias,operation_count,first_uid \
	'tl-roofline --table GEMM mm.json')" 'aten::mm 64 32 128 false 1 0'
like 'what has no roof is told' "$(tl-roofline --format table mm.json)" \
	'^no roofline: .* its GPU; name it with --arch$'
sed '1s/^{/{"deviceProperties":[{"name":"Tesla P100-PCIE-16GB"}],/' mm.json >p100.json
like 'and which GPU' "$(tl-roofline --format table p100.json)" \
	'^no roofline: no figures for Tesla P100-PCIE-16GB; name the GPU with --arch$'
like 'a peak that stands in for the bandwidth is told' \
	"$(tl-roofline --format table --arch ./one.json --roof achievable mm.json)" \
	'^roofs: one, achievable; that of the memory: peak$'
sed 's/"mem_bw_gbps": 1/&, "max_achievable_mem_bw_gbps": 0.5/' one.json >half-bw.json
like 'a measured one isn'"'"'t' \
	"$(tl-roofline --format table --arch ./half-bw.json --roof achievable mm.json)" \
	'^roofs: one, achievable$'
is 'and counts, also where only the peak of the rate is known' \
	"$(for rate in 0.5 null; do
		sed "s/\"matrix_fp32\": 0.5/\"matrix_fp32\": $rate/" half-bw.json >rate.json
		cells roof,roofline_ns 'tl-roofline --arch ./rate.json --roof achievable mm.json'
	done)" 'one achievable 114688.0
one achievable 114688.0'
like 'a named GPU' "$(cells roof 'tl-roofline --arch mi300x mm.json')" '^MI300X peak$'

# ---- an op whose backward op has more of its arguments ----
# 2 tables, 3 indices in 2 x 2 bags; only the gradient, (2, 12) floats, shows
# that rows have 6: 18 operations, 3 x 6 + 4 x 6 floats, 3 indices and 5 offsets
# of 8 bytes. Its own number went to the op before.

lookup() {
	ev cpu_op aten::zero_ 1 5 1 '"Sequence number":5'
	ev cpu_op fbgemm::split_embedding_codegen_lookup_sgd_function 1 10 20 "$(args \
		'[[0],[120],[0],[0,0],[2],[2],[3],[],[],[3],[],[3],[5]]' \
		'["float","float","float","float","int","long","int","","","long","","long","long"]' '[]')"
	launch 11 1
	gpu forward 7 101 2 1
	ev cpu_op aten::view 1 40 1 '"Sequence number":6'
	ev cpu_op "autograd::engine::evaluate_function: torch::autograd::CppNode<SplitLookupFunction_sgd_Op>" \
		2 50 20 '"Sequence number":5'
	ev cpu_op "torch::autograd::CppNode<SplitLookupFunction_sgd_Op>" 2 51 18 \
		"$(args "${1:-[[2,12]]}" '["float"]' '[]'),\"Sequence number\":5"
	ev cuda_runtime cudaLaunchKernel 2 52 2 '"correlation":2'
	gpu backward 7 111 4 2
}
lookup | trace >lookup.json
is 'a lookup with its backward' "$(cells gflop,moved_mib,kernel_ns_sum,model_reason \
	'tl-roofline --name "fbgemm*" lookup.json')" "1.8e-08 $(awk 'BEGIN{printf "%.17g", 232 / 1048576}') 2000 "
is 'and how it is explained' "$(tl-roofline --explain 1 lookup.json | grep -E '^(bytes|parameters)')" \
	'parameters       {"num_tables":2,"num_indices":3,"num_bags":4,"is_weighted":false,"total_D":12}
bytes            232.0'
like 'the backward has its forward' "$(cells perf_params 'tl-roofline --name "torch*" lookup.json')" \
	'"num_indices":3'
lookup '[[7,12]]' | trace >other.json
is 'a backward of something else' "$(cells gflop,model_reason \
	'tl-roofline --name "fbgemm*" other.json' | sed 's/embedding.*: //')" \
	' the linked ops are not of one lookup'
lookup | grep -v CppNode | trace >alone.json
like 'no backward' "$(cells model_reason 'tl-roofline --name "fbgemm*" alone.json')" \
	'total_D is not recorded .Concrete Inputs., nor is there a backward op$'
like 'counts as one that failed' "$(cat "$TMP/err")" '1 op lacks recorded'

# ---- an op inside another of its table ----
# Four kernels: the outer product launches one, one of its name below it two,
# and one of its name with other sizes the last.

nested() {
	ev cpu_op aten::mm 1 0 90 \
		"$(args '[[64,128],[128,32]]' '["float","float"]' '["",""]')"
	launch 1 1
	mm | sed 's/"correlation":1/"correlation":8/; s/"correlation":2/"correlation":9/'
	ev cpu_op aten::mm 1 40 20 \
		"$(args '[[4,8],[8,2]]' '["float","float"]' '["",""]')"
	launch 41 4
	gpu first 7 90 3 1
	gpu last 7 120 1 4
}
nested | trace >nested.json
is 'a row counts an op nested in one of the same name once' \
	"$(cells name,param_M,operation_count,kernel_ns_sum,first_uid 'tl-roofline --table GEMM nested.json')" \
	'aten::mm 64 1 9000 0'
is 'with its kernels' \
	"$(cells num_kernels,operation_count,kernel_ns_sum 'tl-roofline --num-kernels --table GEMM nested.json')" \
	'4 1 9000'
nested | sed '0,/aten::mm/s//aten::addmm/; 0,/\[\[64,128/s//[[32],[64,128/; 0,/\["float"/s//["float","float"/' |
	trace >within.json
is 'what it stands for is named' \
	"$(cells name,kernel_ns_sum,stands_for 'tl-roofline --table GEMM within.json')" \
	'aten::addmm 9000 ["aten::mm"]'

# ---- which op a GPU event belongs to ----
# A module op around a product and a kernel of its own; an op without a model; a
# collective; a launch outside ops; a kernel without a launch.

tree() {
	ev cpu_op my::layer 1 0 100
	ev cpu_op aten::mm 1 10 20 \
		"$(args '[[64,128],[128,32]]' '["float","float"]' '["",""]')"
	launch 11 1
	launch 40 2
	ev cpu_op my::plain 1 200 50
	launch 210 3
	launch 220 4
	ev cpu_op c10d::allreduce_ 1 300 50
	launch 310 5
	launch 400 6
	gpu gemm 7 500 10 1
	gpu extra 7 510 20 2
	gpu a 7 530 3 3
	gpu b 7 540 4 4
	gpu ncclDevKernel_AllReduce 8 560 50 5
	gpu alone 7 700 1 6
	gpu stray 7 800 5 99
}
tree | trace >tree.json
is 'each GPU event once' "$(cells name,kernel_ns_sum,first_uid,op_category 'tl-roofline tree.json')" \
	'my::layer->extra (Synthetic Op) 20000 11 other
aten::mm 10000 1 GEMM
my::plain 7000 4 other
cudaLaunchKernel->alone (Synthetic Op) 1000 15 other'
like 'what has no launch is told' "$(tl-roofline --format table tree.json)" \
	'^1 of 7 GPU events has no launch'
is 'shares are of the table' \
	"$(cells pct_of_kernel,cumulative_pct 'tl-roofline tree.json' | awk '{ s += $1; c = $2 } END { print s, c }')" \
	'100 100.0'
tl-gen -n 1 --layers 1 -o gen.json
is 'shares of a sheet, of its time' \
	"$(cells kernel_ns_sum,pct_of_family 'tl-roofline --table GEMM gen.json' |
		awk '{ ns[NR] = $1; pct[NR] = $2; all += $1 }
			END { for (i = 1; i <= NR; i++) bad += (100 * ns[i] / all - pct[i]) ^ 2 > 1e-9; print (NR > 2), bad + 0 }')" '1 0'
is '--name' "$(cells name "tl-roofline --name 'my::p*' tree.json")" 'my::plain'
is 'kernels in the order of their time' \
	"$(cells trunc_kernel_details "tl-roofline --name my::plain tree.json")" \
	'[{"name":"a","stream":7,"mean_duration_us":3.0},{"name":"b","stream":7,"mean_duration_us":4.0}]'
tl-tree tree.json -o tree.tl
is 'a tree gives the same' "$(tl-roofline tree.tl)" "$(tl-roofline tree.json)"

# ---- models that the reference lacks ----
# A loss has a kernel of its own and an op below it: the figures belong to the
# first.

mse() {
	ev cpu_op aten::mse_loss 1 0 90 \
		"$(args '[[8,16],[8,16],[]]' '["float","float","Scalar"]' '["","","1"]')"
	launch 1 1
	ev cpu_op aten::mean 1 10 20 \
		"$(args '[[8,16],[]]' '["float",""]' '["",""]')"
	launch 11 2
	gpu mse_kernel 7 100 4 1
	gpu reduce 7 110 3 2
}
mse | trace >mse.json
is 'a kernel beside ops below' \
	"$(cells name,kernel_ns_sum,gflop,has_perf_model 'tl-roofline mse.json')" \
	'aten::mse_loss->mse_kernel (Synthetic Op) 4000 2.56e-07 true
aten::mean 3000 1.28e-07 true'
{
	mse
	launch 40 3
	gpu more 7 120 2 3
} | trace >mse2.json
is 'of two kernels neither has its figures' \
	"$(cells name,gflop,model_reason "tl-roofline --name '*Synthetic*' mse2.json")" \
	'aten::mse_loss->mse_kernel (Synthetic Op)  one of several kernels of an op with a model
aten::mse_loss->more (Synthetic Op)  one of several kernels of an op with a model'
linear() { # linear OP: aten::linear, which another op computes
	ev cpu_op aten::linear 1 0 90 \
		"$(args '[[64,128],[32,128],[]]' '["float","float",""]' '["","",""]')"
	ev cpu_op "$1" 1 10 20 \
		"$(args '[[64,128],[128,32]]' '["float","float"]' '["",""]')"
	launch 11 1
	gpu gemm 7 101 5 1
}
linear my::backend | trace >linear.json
is 'linear stands for an op without a model' \
	"$(cells name,gflop,first_uid 'tl-roofline linear.json')" 'aten::linear 0.000524288 0'
is 'and in the sheet' "$(cells name 'tl-roofline --table GEMM linear.json')" 'aten::linear'
linear aten::mm | trace >linear.json
is 'and not for one with' \
	"$(cells name,gflop,first_uid 'tl-roofline linear.json')" 'aten::mm 0.000524288 1'
is 'nor in the sheet' "$(cells name 'tl-roofline --table GEMM linear.json')" 'aten::mm'

# ---- forward and backward ----

bwd() {
	ev cpu_op aten::sum 1 0 10 '"Sequence number":7,'"$(
		args '[[8,16],[0],[],[]]' '["float","","",""]' '["","[0]","False",""]')"
	launch 2 1
	ev cpu_op 'autograd::engine::evaluate_function: SumBackward0' 2 100 50 '"Sequence number":7'
	ev cpu_op SumBackward0 2 101 40 '"Sequence number":7'
	ev cuda_runtime cudaLaunchKernel 2 110 2 '"correlation":2'
	gpu fwd 7 200 4 1
	gpu bwd 7 300 9 2
}
bwd | trace >bwd.json
is 'a forward op in its sheet' "$(cells name,kernel_ns_sum 'tl-roofline --table Reduce bwd.json')" \
	'aten::sum 4000'
is 'its backward in the other' "$(cells name,kernel_ns_sum 'tl-roofline --table Reduce_bwd bwd.json')" \
	'aten::sum 9000'

# ---- overlap, recompute, call stack, kernels ----

over() {
	mm
	ev cpu_op my::other 3 0 9
	ev cuda_runtime cudaLaunchKernel 3 1 2 '"correlation":3'
	gpu beside 9 103 1.5 3
}
over | trace >over.json
is 'what ran beside' \
	"$(cells name,overlapping_kernel_names,overlap_pct_mean 'tl-roofline --overlap over.json')" \
	'aten::mm ["beside"] 0.3
my::other ["split"] 1.0'
frames() {
	ev python_function 'src/train.py(7): step' 1 0 90
	ev python_function 'nn.Module: Net_0' 1 1 80
	ev python_function 'torch/nn/modules/module.py(5): _call_impl' 1 2 70
	mm
}
frames | trace >frames.json
is 'the call stack' \
	"$(cells entry_point,call_stack_full 'tl-roofline --call-stack frames.json')" \
	'src/train.py(7): step ["src/train.py(7): step","nn.Module: Net","torch/nn/modules/module.py(5): _call_impl","aten::mm",["gemm"],["split"]]'
is 'frames change no figure' "$(cells name,kernel_ns_sum,first_uid 'tl-roofline frames.json')" \
	'aten::mm 5000 3'
is '--recompute' "$(cells is_recompute 'tl-roofline --recompute mm.json')" 'false'
is '--num-kernels' "$(cells num_kernels 'tl-roofline --num-kernels --table GEMM mm.json')" 2

# ---- pseudo-ops ----

moe() {
	ev cpu_op vllm::outplace_fused_experts 1 0 90 \
		"$(args '[[8,64],[16,128,64],[16,64,64],[8,2],[8,2]]' '["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int"]' '["","","","",""]')"
	launch 10 1
	launch 20 2
	launch 30 3
	gpu fused_moe_kernel_gptq_awq 7 110 5 1
	gpu act 7 120 1 2
	gpu fused_moe_kernel_gptq_awq 7 130 4 3
	ev cpu_op sglang_profiler::rms_norm_12 1 200 9
	launch 201 4
	gpu norm 7 210 2 4
}
moe | trace >moe.json
is 'without: one op' "$(cells name,kernel_ns_sum 'tl-roofline moe.json')" \
	'vllm::outplace_fused_experts 10000
sglang_profiler::rms_norm_12 2000'
is '--pseudo-ops: its steps' "$(cells name,op_category,kernel_ns_sum 'tl-roofline --pseudo-ops moe.json')" \
	'pseudo_op::moe_gptq_awq_up MoE_unfused 5000
pseudo_op::moe_gptq_awq_down MoE_unfused 4000
sglang_profiler::rms_norm other 2000
vllm::outplace_fused_experts->act (Synthetic Op) other 1000'
stage() {
	ev cpu_op aiter::fused_moe_ 1 0 90
	ev python_function 'aiter/fused_moe.py(9): flydsl_moe_stage1' 1 10 20
	launch 11 1
	ev python_function 'aiter/fused_moe.py(19): flydsl_moe_stage2' 1 40 20
	launch 41 2
	gpu one 7 110 5 1
	gpu two 7 120 3 2
}
stage | trace >stage.json
is '--pseudo-ops: above frames' "$(cells name,kernel_ns_sum 'tl-roofline --pseudo-ops stage.json')" \
	'pseudo_op::moe_flydsl_stage1 5000
pseudo_op::moe_flydsl_stage2 3000'
mla() {
	ev python_function 'aiter/mla.py(150): mla_decode_fwd' 1 0 90
	ev cpu_op aiter::mla_decode_stage1_asm_fwd 1 10 20 "$(args '[[8,16,576]]' '["c10::BFloat16"]' '[""]')"
	launch 11 1
	launch 50 2
	gpu stage1 7 110 5 1
	gpu reduce 7 120 3 2
}
mla | trace >mla.json
is '--pseudo-ops: around what is below a frame' \
	"$(cells name,kernel_ns_sum,input_dims 'tl-roofline --pseudo-ops mla.json')" \
	'pseudo_mla_decode_fwd 8000 [[8,16,576]]'

# X (2, 4, 64) and W (32, 64) in fp8: 8 rows. Forward (8, 64) by (64, 32),
# then the gradients (8, 32) by (32, 64) and (32, 8) by (8, 64).
layer() { # layer SEQ TS: forward
	ev cpu_op _Linear 1 "$2" 20 "\"Sequence number\":$1,$(args \
		'[[32,64],[2,4,64],[],[],[]]' '["c10::BFloat16","c10::BFloat16","","",""]' \
		'["","","","","True"]')"
	launch "$(($2 + 1))" "$1"1
	launch "$(($2 + 5))" "$1"2
	gpu quantise 7 "$(($2 + 500))" 1 "$1"1
	gpu nvjet_x_NTN 7 "$(($2 + 502))" 4 "$1"2
}
unlayer() { # unlayer TID TS CORR: backward
	ev cpu_op _LinearBackward "$1" "$2" 30
	ev cuda_runtime cudaLaunchKernel "$1" "$(($2 + 1))" 2 "\"correlation\":$3""1"
	ev cuda_runtime cudaLaunchKernel "$1" "$(($2 + 4))" 2 "\"correlation\":$3""2"
	gpu Cijk_Ailk_Bljk_x 7 "$(($2 + 510))" 3 "$3"1
	gpu Cijk_Ailk_Bjlk_x 7 "$(($2 + 520))" 2 "$3"2
}
te() {
	layer 7 0
	ev cpu_op 'autograd::engine::evaluate_function: _LinearBackward' 2 100 50 '"Sequence number":7'
	unlayer 2 101 8
}
te | trace >te.json
is '--pseudo-ops: products of linear layers' \
	"$(cells name,input_dims,kernel_ns_sum,gflop,compute_spec "tl-roofline --name '_Linear*mm' --pseudo-ops te.json")" \
	'_Linear_yfwd_mm [[8,64],[64,32]] 4000 3.2768e-05 matrix_fp8
_LinearBackward_xgrad_mm [[8,32],[32,64]] 3000 3.2768e-05 matrix_fp8
_LinearBackward_wgrad_mm [[32,8],[8,64]] 2000 3.2768e-05 matrix_fp8'
{
	ev cpu_op CheckpointFunctionBackward 1 0 200
	layer 7 1
	layer 9 31
	unlayer 1 71 8
	unlayer 1 111 6
} | sed 's/\[32,64\],\[2,4,64\]\(.*"Sequence number":9\)/\1/; /"ts":31,/s/\[2,4,64\]/[5,64]/' | trace >ckpt.json
is '--pseudo-ops: below a checkpoint the last layer comes first' \
	"$(cells input_dims,first_uid "tl-roofline --name '_LinearBackward_wgrad*' --pseudo-ops ckpt.json")" \
	'[[32,5],[5,64]] 13.1
[[32,8],[8,64]] 18.1'
paged() {
	ev user_annotation 'execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk400sqsq4sqsk400)' 1 0 99
	ev cpu_op vllm::unified_attention_with_output 1 1 90 \
		"$(args '[[4,8,64],[4,1,64],[4,1,64]]' '["c10::BFloat16","c10::BFloat16","c10::BFloat16"]' '["","",""]')"
	ev cpu_op _rocm_C::paged_attention 1 10 50 '"KCache_dtype":"c10::Float8_e4m3fn"'
	launch 11 1
	gpu paged 7 110 5 1
}
paged | trace >paged.json
# (8 + 1) x 4 x 128 x 2 bytes, and 396 x 128 in the cache, of one byte or two
is 'the type of the cache without --pseudo-ops' \
	"$(cells moved_mib 'tl-roofline paged.json' | awk '{ print $1 * 1048576 }')" 110592
is 'and with' "$(cells moved_mib 'tl-roofline --pseudo-ops paged.json' | awk '{ print $1 * 1048576 }')" 59904
{
	paged
	ev user_annotation 'ProfilerStep#3' 1 0 100
	ev user_annotation 'execute_context_0(0)_generation_4(4)' 1 0.5 99
	ev user_annotation 'forward' 1 0.9 95
	ev user_annotation 'execute_9_context_0(sq0sk0sqsq0sqsk0)_generation_9(sq9sk9sqsq9sqsk9)' 1 92 1
} | trace >steps.json
is 'a step counts that others lie around' \
	"$(cells moved_mib 'tl-roofline steps.json' | awk '{ print $1 * 1048576 }')" 110592
v4() {
	ev user_annotation 'execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk400sqsq4sqsk400)' 1 0 99
	ev cpu_op aiter::v4_attention_with_output 1 1 90 "$(args '[[4,512]]' '["c10::BFloat16"]' '[""]')"
	ev python_function 'atom/paged_decode.py(7): sparse_attn_v4_paged_decode' 1 10 50
	launch 11 1
	gpu decode 7 110 5 1
}
v4 | trace >v4.json
is 'DeepSeek-V4 by its name' \
	"$(TL_MODEL=DeepSeek-V4-Pro TL_TP=4 tl-roofline --pseudo-ops --table InferenceAttention \
		--no-header -c name,param_H_Q v4.json | tr '\t' ' ')" 'pseudo_v4_paged_decode_swa 32'

# ---- one op ----

one="tl-roofline --op aten::mm --dims '[[40960,1536],[1536,6144]]' --dtype bf16 --arch MI300X --roof achievable"
is 'one op without a trace' \
	"$(sh -c "$one" | grep -E '^(flops |bytes|compute  |memory|bound)' | tr -s ' ')" \
	'flops 773094113280.0
bytes 648019968.0
compute 1091.9408379661018 us
memory 151.7966661981729 us
bound COMPUTE_BOUND'
is 'types one by one' \
	"$(tl-roofline --op aten::mm --dims '[[4,4],[4,4]]' --dtype fp16,fp32 | grep '^Input type' | tr -s ' ')" \
	'Input type ["c10::Half","float"]'
like 'operands that do not fit' \
	"$(tl-roofline --op aten::mm --dims '[[4096,4096],[409,4096]]' 2>&1)" \
	'the inner dimensions differ: 4096 and 409'
refuses 1 'no backward' \
	"tl-roofline --op '{\"op\":\"aten::mm\",\"dims\":[[4,4],[4,4]],\"backward\":true}'"
refuses 2 "'--dims': byte 3: " "tl-roofline --op aten::mm --dims '[[4'"
refuses 2 "'--op': " "tl-roofline --op '{\"op\":\"aten::mm\",\"dims\":[x]}'"
refuses 2 "not 'bf17'" "tl-roofline --op aten::mm --dims '[[4,4],[4,4]]' --dtype bf17"
refuses 1 'no list of sizes' "tl-roofline --op aten::mm --dims 4"
refuses 2 'no performance model' "tl-roofline --op my::op --dims '[[4]]'"
refuses 2 'needs --dims; to select ops of a trace use --name' 'tl-roofline --op aten::mm'
refuses 2 'needs --op' "tl-roofline --dims '[[4]]' mm.json"

# ---- explain, lists ----

is '--explain says which entry' \
	"$(tl-roofline --explain 0 mm.json | grep -E '^(op|model|flops |kernel time)' | tr -s ' ' | sed 's/lua:.*/lua/')" \
	'op aten::mm
model gemm.lua
flops 524288.0
kernel time 5.0 us'
like 'and the formula' "$(tl-roofline --explain 0 mm.json)" 'inner\(dim\(0, 1\), dim\(1, 0\)\)'
refuses 1 'is not an op of a table' 'tl-roofline --explain 77 mm.json'
refuses 2 'needs an event, UID' 'tl-roofline --explain x mm.json'
like '--list-models' "$(tl-roofline --list-models | grep -P '^aten::mm\t')" 'GEMM.GEMM.gemm.lua:'
like '--list-tables' "$(tl-roofline --list-tables)" '^SDPA_bwd'

# ---- wrapper files of torch.compile ----

mkdir -p cache/ab/cd
cat >cache/ab/cd/wrapper.py <<'X'
from torch._inductor.async_compile import AsyncCompile
# Topologically Sorted Source Nodes: [x]
# Original ATen: [aten.mean, aten.mul]
triton_red_fused_mean_mul_0 = async_compile.triton('triton_red_fused_mean_mul_0', '''
@triton_heuristics.reduction(
    size_hints={'x': 32768, 'r0_': 2048},
    triton_meta={'signature': {'in_ptr0': '*bf16', 'in_ptr1': '*bf16', 'out_ptr1': '*bf16', 'xnumel': 'i32'}, 'device': 0},
)
''', device_str='cuda')
# Original ATen: [aten.exp]
triton_poi_fused_exp_1 = async_compile.triton('triton_poi_fused_exp_1', '''
    size_hints=[4096],
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': 0},
''', device_str='cuda')
X
cp cache/ab/cd/wrapper.py cache/later.py # of two definitions the first counts
echo 'not python' >cache/readme.txt
{
	ev cpu_op triton_red_fused_mean_mul_0 1 0 9
	launch 1 1
	gpu triton_red_fused_mean_mul_0 7 100 20 1
	ev cpu_op triton_poi_fused_exp_1 1 20 9
	launch 21 2
	gpu triton_poi_fused_exp_1 7 130 2 2
} | trace >compiled.json
is 'without wrapper files: no model' \
	"$(cells name,has_perf_model 'tl-roofline compiled.json')" \
	'triton_red_fused_mean_mul_0 false
triton_poi_fused_exp_1 false'
# (2 + 2) x 32768 x 2048 + 2 x 32768 bytes; 4096 x 4, read and written
is '--inductor-cache' \
	"$(cells name,gflop,moved_mib,compute_spec 'tl-roofline --inductor-cache cache compiled.json')" \
	'triton_red_fused_mean_mul_0 0.134217728 256.0625 vector_bf16
triton_poi_fused_exp_1 1.6384e-05 0.03125 vector_fp32'
like 'a folder without any' "$(tl-roofline --inductor-cache . --list-tables 2>&1)" '^unified'
mkdir none
like 'is told' "$(tl-roofline --inductor-cache none --list-tables 2>&1)" 'none: no wrapper file'
refuses 1 'No such file' 'tl-roofline --inductor-cache nowhere compiled.json'

# ---- all tables in a folder ----

tl-roofline -d out tree.json
is '-d writes those that have rows' "$(cd out && echo *)" 'GEMM.csv unified_perf_summary.csv'
like 'with labels' "$(head -n 1 out/GEMM.csv)" '^name,param: M,param: N,.*,Kernel Time \(µs\)_mean,'
tl-roofline --overlap -d both mm.json
is '-d --overlap writes both' "$(cd both && echo *)" \
	'GEMM.csv GEMM_kl_overlap.csv unified_perf_summary.csv unified_perf_summary_kl_overlap.csv'

# ---- models of one's own: the README's example ----

sed -n '/^op {/,/^}/p' "$ROOT/README.md" >my.lua
if [ -s my.lua ]; then
	is 'the model of the README' \
		"$(tl-roofline --models my.lua --op my::scale --dims '[[1024,1024]]' --dtype bf16 |
			grep -E '^(model|flops |bytes)' | tr -s ' ')" \
		'model my.lua:4
flops 1048576.0
bytes 4194304.0'
	{
		ev cpu_op my::scale 1 0 9 "$(args '[[1024,1024]]' '["c10::BFloat16"]' '[""]')"
		launch 1 1
		gpu scale 7 100 2 1
	} | trace >scale.json
	is 'and its sheet' "$(cells name,param_num_elems,tb_s_mean \
		'tl-roofline --models my.lua --table UnaryElementwise scale.json')" \
		'my::scale 1048576 2.097152'
else
	skip 'the model of the README' 'not there'
	skip 'and its sheet' 'not there'
fi
echo 'op { names = ' >bad.lua
refuses 1 'bad.lua:' 'tl-roofline --models bad.lua mm.json'
cat >raise.lua <<'X'
op { names = { "aten::mm" }, eval = function (_ENV) while true do end end }
X
is 'a model that loops marks its op' \
	"$(cells name,kernel_ns_sum,has_perf_model,gflop 'tl-roofline --models raise.lua mm.json')" \
	'aten::mm 5000 true '
like 'and is told once' "$(cat err)" \
	'^tl-roofline: models failed on 1 op, first on aten::mm: '
is 'with a warning of its own' \
	"$(tl-roofline --models raise.lua mm.json >/dev/null 2>&1; echo $?)" 3
echo 'op { names = { "aten::mm" }, eval = function (_ENV) local t = {}
	while true do t[#t + 1] = ("x"):rep(1000) end end }' >grow.lua
is 'one that grows' "$(cells name,kernel_ns_sum,gflop 'tl-roofline --models grow.lua mm.json')" \
	'aten::mm 5000 '
echo 'op { names = { "aten::mm" }, eval = function (_ENV) return io.open("x") end }' >io.lua
is 'one that wants a file' "$(cells name,kernel_ns_sum,gflop 'tl-roofline --models io.lua mm.json')" \
	'aten::mm 5000 '
printf 'op { names = { "a" }, eval = function (_ENV) return 1, 2 end }\n\nop { eval = 7 }\n' >late.lua
refuses 1 'late.lua:3: ' 'tl-roofline --models late.lua mm.json'
printf 'while true do end\n' >forever.lua
refuses 1 'forever.lua:1: ' 'tl-roofline --models forever.lua mm.json'

# ---- arguments that are missing, cut, unknown, many ----

sed 's/"Input Dims":[^"]*"Input type":[^"]*"[^]]*],//' mm.json >noshape.json
is 'no shapes' "$(cells name,kernel_ns_sum,gflop 'tl-roofline noshape.json')" 'aten::mm 5000 '
like 'it is the trace that lacks them' "$(tl-roofline noshape.json 2>&1 >/dev/null)" \
	'^tl-roofline: 1 op lacks recorded shapes or values: no FLOP or byte counts \(first: aten::mm: '
sed 's/"float","float"/"c10::Strange","float"/' mm.json >strange.json
is 'an unknown type: no bytes, but operations' \
	"$(cells gflop,moved_mib 'tl-roofline strange.json')" '0.000524288 '
sed 's/\[128,32\]\]/[128]]/' mm.json >cut.json
is 'a cut shape' "$(cells name,kernel_ns_sum,gflop 'tl-roofline cut.json')" 'aten::mm 5000 '
sed 's/64,128/9223372036854775807,9223372036854775807/' mm.json >huge.json
like 'a shape beyond all bounds' "$(cells name,kernel_ns_sum 'tl-roofline huge.json')" 'aten::mm 5000'
awk 'BEGIN {
	print "{\"traceEvents\":["
	for (i = 0; i < 100000; i++) {
		printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"Input Dims\":[[%d,8],[8,4]],\"Input type\":[\"float\",\"float\"],\"Concrete Inputs\":[\"\",\"\"]}},\n", i * 10, i + 1
		printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},\n", i * 10 + 1, i + 1
		printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}%s\n", i * 10 + 3, i + 1, i < 99999 ? "," : ""
	}
	print "]}"
}' >many.json
tl-tree many.json -o many.tl
is '100000 distinct sets of arguments' "$(tl-roofline many.tl | wc -l)" 100001
case $B in
*asan* | *tsan*) skip 'in bounded memory' 'sanitizers take their own' ;;
*)
	is 'in bounded memory' "$(tl-roofline -v many.tl 2>&1 >many.tsv |
		sed -n 's/.* CPU, \([0-9]*\).* MB$/\1/p' | awk '{ print $1 < 130 }')" 1
	;;
esac

# ---- every kind of input ----

want=$(tl-roofline mm.json)
gzip -k mm.json && zstd -q mm.json
tl-tree mm.json -o mm.tl && gzip -k mm.tl && zstd -q mm.tl
for f in mm.json.gz mm.json.zst mm.tl mm.tl.gz mm.tl.zst; do
	is "$f" "$(tl-roofline $f)" "$want"
done
is 'a stream from stdin' "$(tl-roofline <mm.tl)" "$want"
is 'a raw trace from stdin' "$(tl-roofline - <mm.json)" "$want"
is 'a pipe' "$(tl-decode mm.json | tl-link | tl-tree | tl-roofline)" "$want"
is 'two files' "$(cells src,name 'tl-roofline mm.json mm.json')" '0 aten::mm
1 aten::mm'
head -c 200 mm.tl >cut.tl
refuses 1 'cut.tl: ' 'tl-roofline cut.tl'
: >empty.tl
refuses 1 'empty' 'tl-roofline empty.tl'
head -c 4000 /dev/urandom >noise
refuses 1 'noise' 'tl-roofline noise'
refuses 1 'No such file' 'tl-roofline none.tl'
gpu k 7 1 2 1 | trace >lonely.json
refuses 5 'has its launch' 'tl-roofline lonely.json'
echo '{"traceEvents":[]}' >none.json
refuses 5 'no GPU event' 'tl-roofline none.json'
{
	ev cpu_op c10d::allreduce_ 1 300 50
	launch 310 5
	gpu ncclDevKernel_AllReduce 8 560 50 5
} | trace >comm.json
refuses 5 'tl-collective' 'tl-roofline comm.json'
refuses 1 'No space left' 'tl-roofline mm.tl >/dev/full'
quiet 'a reader may leave' 'tl-roofline many.tl | head -n 1'
refuses 2 'no table .*; see --list-tables' 'tl-roofline --table NOPE mm.tl'
refuses 2 'has no column' 'tl-roofline -c nope mm.tl'
# ---- many ops from stdin ----
tab=$(printf '\t')
cat >ops.ndjson <<'END'
{"op":"aten::mm","dims":[[40960,1536],[1536,6144]],"types":"bf16"}

{"id":3,"kind":"op","name":"aten::mm","args":{"Ev Idx":7,"Input Dims": [[128, 64],[64,32]],"Input type":["float","float"]}}
{"op":"aten::mm","dims":[[8,4],[4,2]],"types":["float","float"],"kernels":["Cijk_Ailk_Bjlk_SB_MT64x64x8"]}
END
is '--op -: a row for each line' "$(tl-roofline --op - --arch MI300X --roof achievable \
	-c name,input_dims,flops,bytes,roofline_ns,roofline_bound --no-header <ops.ndjson)" \
	"aten::mm${tab}[[40960,1536],[1536,6144]]${tab}773094113280.0${tab}648019968.0${tab}1091940.8379661017${tab}COMPUTE_BOUND
aten::mm${tab}[[128,64],[64,32]]${tab}524288.0${tab}57344.0${tab}13.43265401733427${tab}MEMORY_BOUND
aten::mm${tab}[[8,4],[4,2]]${tab}128.0${tab}224.0${tab}0.052471304755211993${tab}MEMORY_BOUND"
is '--op -: dtype as the option' "$(echo '{"op":"aten::mm","dims":[[8,4],[4,2]],"dtype":"bf16"}' |
	tl-roofline --op - -c bytes --no-header)" 112.0
like '--op -: kernels count' "$(tl-roofline --op - -c perf_params --no-header <ops.ndjson | tail -n 1)" \
	'"transpose":\[false,true\]'
is '--op -: backward' "$(echo '{"op":"aten::mm","dims":[[8,4],[4,2]],"backward":true}' |
	tl-roofline --op - -c status,flops --no-header)" "skipped$tab"
refuses 3 '1 op has no figures' 'echo "{\"op\":\"no::op\",\"dims\":[]}" | tl-roofline --op - >o.tsv'
refuses 1 'stdin: line 2: ' '{ head -n 1 ops.ndjson; echo "{\"op\":\"aten::mm\",\"dims\":[[1,}"; } | tl-roofline --op -'
refuses 1 'stdin: line 1: no name' 'echo "{}" | tl-roofline --op -'
refuses 2 "needs --op NAME" 'tl-roofline --op - --dims "[[1]]" <ops.ndjson'
is '--op -: no line' "$(tl-roofline --op - -c name </dev/null)" name
is '--op -: many lines' "$(yes "$(head -n 1 ops.ndjson)" | head -n 5000 | tl-roofline --op - -c flops --no-header |
	sort -u)" 773094113280.0

printf 'op { globs = { "aten::m?", "a*z" }, eval = function (_ENV) return 7, 7 end }\n' >glob.lua
is 'an entry by a pattern' "$(echo '{"op":"aten::mq","dims":[[1]]}' |
	tl-roofline --models glob.lua --op - -c flops,model --no-header)" "7.0${tab}glob.lua:1"
is 'an exact name comes first' "$(head -n 1 ops.ndjson |
	tl-roofline --models glob.lua --op - -c flops --no-header)" 773094113280.0
like 'patterns are listed' "$(tl-roofline --models glob.lua --list-models | tail -n 1)" '^a\*z'

cat >notes.lua <<'END'
annotation { prefix = { "batch[" },
  read = function (text)
    local sq, sk = text:match("^batch%[(%d+) of (%d+)%]")
    if not sq then return nil end
    sq, sk = int(sq), int(sk)
    return { c_sq = 0, c_sk = 0, c_sqsq = 0, c_sqsk = 0, g_sq = sq, g_sk = sk, g_sqsq = sq, g_sqsk = sk }
  end }
END
paged | sed 's/execute_4[^"]*/batch[4 of 400]/' | trace >batch.json
is 'annotations of a form of one'"'"'s own' "$(cells moved_mib 'tl-roofline --models notes.lua batch.json')" \
	"$(cells moved_mib 'tl-roofline paged.json')"
is 'are none without it' "$(cells moved_mib 'tl-roofline batch.json')" ''
printf '\nannotation { prefix = {}, read = function () end }\n' >notes.lua
refuses 1 'notes.lua:2: an annotation without prefix' 'tl-roofline --models notes.lua mm.json'
refuses 2 'no GPU' 'tl-roofline --arch NOPE mm.tl'
refuses 2 'kernel, memcpy or memset' 'tl-roofline --kind op mm.tl'

# ---- another trace's times ----

cat >one.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"two","pid":1,"tid":1,"ts":0,"dur":50,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":9,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"cpu_op","name":"one","pid":1,"tid":1,"ts":60,"dur":50,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":61,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"cpu_op","name":"none","pid":1,"tid":1,"ts":120,"dur":50,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":121,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":200,"dur":10,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":300,"dur":20,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":400,"dur":5,"args":{"device":0,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":500,"dur":4,"args":{"device":0,"stream":7,"correlation":4}}
]}
END
# Points 10 and 2 have two's work, 2 also that of one; 3 is not in this trace.
cat >versus.ndjson <<'END'
{"table":"diff_stats","columns":[{"id":"source","type":"text"},{"id":"gpu_op_uid","type":"int"},{"id":"lca_id","type":"int"},{"id":"lca_name","type":"text"},{"id":"busy_ns","type":"int","unit":"ns"}]}
{"source":"trace1","gpu_op_uid":7,"lca_id":10,"lca_name":"ten","busy_ns":10000}
{"source":"trace1","gpu_op_uid":8,"lca_id":2,"lca_name":"two; 2","busy_ns":25000}
{"source":"trace1","gpu_op_uid":9,"lca_id":2,"lca_name":"two; 2","busy_ns":25000}
{"source":"trace1","gpu_op_uid":10,"lca_id":null,"lca_name":null,"busy_ns":4000}
{"source":"trace2","gpu_op_uid":7,"lca_id":2,"lca_name":"two; 2","busy_ns":50000}
{"source":"trace2","gpu_op_uid":8,"lca_id":3,"lca_name":"three","busy_ns":70000}
{"end":{"rows":6}}
END
is '--diff: points of a row, each once' "$(tl-roofline --diff versus.ndjson -c \
	name,kernel_ns_sum,ratio,diff_ns,lca_count_after,lca_ids,lca_names,lca_before_ns,lca_after_ns \
	--no-header one.json | tr '\t' '|')" \
	'two|30000|1.4285714285714286|20000|1|2; 10|two; 2; ten|35000|50000
one|5000|2.0|45000|1|2|two; 2|25000|50000
none|4000|||||||'
like '--diff: what counts in several rows' \
	"$(tl-roofline --diff versus.ndjson --format table one.json)" \
	'^common ancestors span rows'
like '--diff: only the first of several traces, where runs have no number' \
	"$(tl-roofline --diff versus.ndjson -c src,name,lca_ids --no-header one.json one.json |
		tr '\t\n' '|,')" \
	'^0[|]two[|]2; 10,0[|]one[|]2,0[|]none[|],1[|]two[|],1[|]one[|],1[|]none[|],$'
# run 1 has numbers and events that are also in run 0
{
	sed -e 's/"columns":\[/&{"id":"src","type":"int"},/' -e 's/^{"source"/{"src":0,"source"/' \
		-e '$d' versus.ndjson
	cat <<'END'
{"src":1,"source":"trace1","gpu_op_uid":7,"lca_id":2,"lca_name":"of 1","busy_ns":10000}
{"src":1,"source":"trace1","gpu_op_uid":8,"lca_id":3,"lca_name":"three","busy_ns":20000}
{"src":1,"source":"trace2","gpu_op_uid":8,"lca_id":3,"lca_name":"three","busy_ns":90000}
{"end":{"rows":9}}
END
} >versus2.ndjson
is '--diff: several traces, each with its own' "$(tl-roofline --diff versus2.ndjson -c \
	src,name,ratio,lca_ids,lca_names,lca_after_ns --no-header one.json one.json |
	tr '\t' '|')" \
	'0|two|1.4285714285714286|2; 10|two; 2; ten|50000
0|one|2.0|2|two; 2|50000
0|none||||
1|two|3.0|2; 3|of 1; three|90000
1|one||||
1|none||||'
is '--diff: rows split by overlap' "$(tl-roofline --overlap --diff versus2.ndjson \
	--table unified_perf_summary_kl_overlap -c src,name,lca_ids,lca_after_ns --no-header \
	one.json one.json | tr '\t\n' '|,')" \
	'0|two|2; 10|50000,0|one|2|50000,0|none||,1|two|2; 3|90000,1|one||,1|none||,'
refuses 1 'big.ndjson: the number 4294967296 is out of range' \
	"sed 's/\"lca_id\":10/\"lca_id\":4294967296/' versus.ndjson >big.ndjson; \
		tl-roofline --diff big.ndjson one.json"
refuses 1 'not a table of tl-diff' \
	"sed 's/busy_ns/other/g' versus.ndjson >v.ndjson; tl-roofline --diff v.ndjson one.json"
refuses 1 'cut.ndjson: the table was cut off|cut.ndjson: line' \
	'head -n 3 versus.ndjson >cut.ndjson; tl-roofline --diff cut.ndjson one.json'
refuses 1 'No such file' 'tl-roofline --diff nosuch one.json'

# ---- by phase of serving ----
# A large product is compute-bound: 2 x 4096^3 operations take 137.4 ms at 1
# TFLOP/s. One with one row is memory-bound: (64 + 64 x 64 + 64) x 4 = 16896
# bytes take 1.6896 us at 10 GB/s. An op without a model and one outside.
cat >unit.json <<'X'
{ "name": "one", "mem_bw_gbps": 10,
  "peak_tflops": { "matrix_fp32": 1, "vector_fp32": 1 } }
X

phases() {
	ev user_annotation 'execute_context_2(4096)_generation_0(0)' 1 0 100
	ev user_annotation 'execute_context_0(0)_generation_1(1)' 1 200 100
	ev cpu_op aten::mm 1 10 20 "$(args '[[4096,4096],[4096,4096]]' '["float","float"]' '["",""]')"
	launch 11 1
	ev cpu_op aten::mm 1 210 20 "$(args '[[1,64],[64,64]]' '["float","float"]' '["",""]')"
	launch 211 2
	ev cpu_op my::op 1 240 20
	launch 241 3
	ev cpu_op my::op 1 400 20
	launch 401 4
	gpu gemm 7 1000 200000 1
	gpu gemv 7 300000 6.6 2
	gpu mine 7 300100 3.4 3
	gpu mine 7 300200 10 4
}
phases | trace >phases.json
is 'by phase' "$(cells phase,operation_count,kernel_ns_sum,modelled_ns_sum,compute_bound_ns,memory_bound_ns \
	'tl-roofline --arch unit.json --table roofline_by_phase phases.json' | tr '\n' '.')" \
	'prefill 1 200000000 200000000 200000000 0.decode 2 10000 6600 0 6600.outside 1 10000 0  .'
is 'of the roof' "$(cells pct_of_roof,roof 'tl-roofline --arch unit.json --table roofline_by_phase phases.json' | sed 's/\(\.[0-9][0-9]\)[0-9]*/\1/' | tr '\n' '|')" \
	'68.71 one peak|25.6 one peak| |'
is 'a folder of serving has it' "$(tl-roofline --arch unit.json -d dir phases.json; find dir -type f -printf "%f\n" | sort | grep -c by_phase)" 1
is 'another has not' "$(rm -rf dir; tl-roofline --arch unit.json -d dir mm.json; find dir -type f -printf "%f\n" | sort | grep -c by_phase)" 0
is 'a report says it' "$(tl-report --arch unit.json --width 200 phases.json 2>/dev/null | grep -o '[a-z]*-bound: .* of the roofline (.*), ')" \
	"compute-bound: 68.7 % of the roofline (one peak), 
memory-bound: 25.6 % of the roofline (one peak), "

refuses 2 "no table 'gemm': is it GEMM\\?" 'tl-roofline --table gemm mm.json'
refuses 2 "no table 'x'; see --list-tables" 'tl-roofline --table x mm.json'
page_examples tl-roofline.1
done_testing
