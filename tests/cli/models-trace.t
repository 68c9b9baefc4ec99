#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models on ops in a trace: missing arguments, backward ops.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'
plan 26

# op NAME TS DIMS TYPES [CONCRETE]: an op with a kernel of 5 us
op() {
	n=$((${n:-0} + 1))
	printf '{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%s,"dur":8,"args":{"Input Dims":%s,"Input type":%s%s}}\n' \
		"$1" "$2" "$3" "$4" "${5:+,\"Concrete Inputs\":$5}"
	printf '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%s,"dur":1,"args":{"correlation":%s}}\n' \
		$(($2 + 2)) $n
	printf '{"ph":"X","cat":"kernel","name":"k%s","pid":0,"tid":7,"ts":%s,"dur":5,"args":{"device":0,"stream":7,"correlation":%s}}\n' \
		$n $(($2 + 1000)) $n
}
trace() { printf '{"traceEvents":['; sed '$!s/$/,/'; printf ']}\n'; }
# ask FILE COLUMNS [OPTIONS]: its rows with blanks for tabs, in the order of the
# ops
ask() {
	file=$1 columns=$2
	shift 2
	tl-roofline "$@" --no-header -c "$columns,first_uid" "$file" 2>"$TMP/err" |
		sort -t"$(printf '\t')" -k"$(echo "$columns,x" | tr , '\n' | grep -c .)n" |
		sed 's/	[0-9]*$//; s/[a-z_]*\.lua:[0-9]*: //' | tr '\t' ' '
}

# ---- a trace without concrete inputs, as PyTorch made them before 2.1 ----

x='[[8,16,32,32],[32,16,3,3],[],[],[],[],[],[],[]]'
f='["float","float","","","","","","",""]'
qkv='[[2,4,64,32],[2,4,64,32],[2,4,64,32],[],[]]'
{
	op aten::convolution 0 "$x" "$f"
	op aten::batch_norm 10 '[[8,32,16,16],[32],[32],[32],[32],[],[],[],[]]' \
		'["float","float","float","float","float","","","",""]'
	op aten::layer_norm 20 '[[8,64],[],[64],[64],[],[]]' '["float","","float","float","",""]'
	op aten::layer_norm 30 '[[8,64],[],[],[],[],[]]' '["float","","","","",""]'
	op aten::_scaled_dot_product_flash_attention 40 "$qkv" '["float","float","float","",""]'
	op aten::mm 50 '[[8,64],[64,16]]' '["float","float"]'
	op aten::sum 60 '[[8,64],[]]' '["float",""]'
} | trace >old.json
is 'what depends on them has no figures' "$(ask old.json name,gflop,model_reason)" \
	'aten::convolution  its stride is not recorded (Concrete Inputs)
aten::batch_norm  whether it is in training is not recorded (Concrete Inputs)
aten::layer_norm 2.944e-06 
aten::layer_norm  its normalized_shape is not recorded (Concrete Inputs)
aten::_scaled_dot_product_flash_attention  whether it is causal is not recorded (Concrete Inputs)
aten::mm 1.6384e-05 
aten::sum 5.12e-07 '
like 'and they are counted' "$(cat "$TMP/err")" '^tl-roofline: 4 ops lack recorded shapes or values'
like 'by hand the default is meant' "$(tl-roofline --op aten::convolution --dims "$x" --dtype fp32)" \
	'^flops  *66355200'
like 'and in lines of ops' "$(echo '{"op":"aten::convolution","dims":[[8,16,32,32],[32,16,3,3]]}' |
	tl-roofline --op - --no-header -c flops,status)" '^66355200.0	ok$'
is 'but not in lines of a trace' "$(echo '{"name":"aten::convolution","args":{"Input Dims":[[8,16,32,32],[32,16,3,3]],"Input type":["float","float"]}}' |
	tl-roofline --op - --no-header -c flops,status)" '	failed'

# ---- backward ops with models ----

b='"c10::BFloat16"'
q='[2,4,64,32]'
{
	op aten::_scaled_dot_product_flash_attention_backward 0 \
		"[$q,$q,$q,$q,$q,[2,4,64],[],[],[],[],[],[]]" "[$b,$b,$b,$b,$b,\"float\",\"\",\"\",\"\",\"\",\"\",\"\"]" \
		'["","","","","","","","","64","64","0.","True"]'
	op flash_attn::_flash_attn_backward 10 "[$q,$q,$q,$q,$q,[2,64,4],$q,$q,$q,[],[],[]]" \
		"[$b,$b,$b,$b,$b,\"float\",$b,$b,$b,\"\",\"\",\"\"]" \
		'["","","","","","","","","","0.","0.125","True"]'
	op aten::_efficient_attention_backward 20 "[$q,$q,$q,$q]" "[$b,$b,$b,$b]" \
		'["","","","","","","","","","","","0.","","","1"]'
	op aten::cudnn_convolution_backward 30 '[[8,16,32,32],[8,32,16,16],[32,16,3,3]]' \
		'["float","float","float"]'
	op aten::instance_norm_backward 40 '[[8,16,4,4],[8,16,4,4]]' '["float","float"]' '["",""]'
} | trace >bwd.json
is 'none stands in _fwd' "$(ask bwd.json name --table SDPA_fwd; ask bwd.json name --table CONV_fwd)" ''
is 'all in _bwd' "$(ask bwd.json name,gflop --table SDPA_bwd)" \
	'aten::_scaled_dot_product_flash_attention_backward 0.00524288
flash_attn::_flash_attn_backward 0.00032768
aten::_efficient_attention_backward 0.000262144'
is 'of convolutions, too' "$(ask bwd.json name,gflop --table CONV_bwd)" \
	'aten::cudnn_convolution_backward 0.037748736'
is 'in their category, too' "$(ask bwd.json name,op_category --name '*convolution*')" \
	'aten::cudnn_convolution_backward CONV_bwd'
# launches below aten::convolution have its category, so that tl-ops and
# tl-roofline agree
for fwd in cudnn_convolution cudnn_convolution_transpose miopen_depthwise_convolution _conv_depthwise2d; do
	op aten::$fwd $((${n:-0} * 10)) '[[8,16,32,32],[32,16,3,3]]' '["float","float"]'
	op aten::${fwd}_backward $((n * 10)) '[[8,16,32,32],[8,32,16,16],[32,16,3,3]]' '["float","float","float"]'
done | trace >conv.json
is 'every library has its convolutions there' \
	"$(tl-ops --no-header --table ops_summary_by_category -c op_category,count conv.json 2>&1 | sort)" \
	'CONV_bwd	4
CONV_fwd	4'
is 'what is not defined keeps its time' \
	"$(ask bwd.json name,kernel_ns_sum,has_perf_model,model_reason --name '*instance*')" \
	'aten::instance_norm_backward 5000 true not defined'

# ---- an op of several kernels, with a copy below it ----

{
	op aten::_flash_attention_backward 0 "[$q,$q,$q,$q]" "[$b,$b,$b,$b]" \
		'["","","","","","","","","","","0.","False"]'
	op aten::copy_ 3 "[$q,$q,[]]" "[$b,$b,\"Scalar\"]" '["","","False"]'
} | sed 's/"ts":3,"dur":8/"ts":3,"dur":4/' | trace >whole.json
is 'it stands for all' "$(ask whole.json name,op_category,kernel_ns_sum,gflop)" \
	'aten::_flash_attention_backward SDPA_bwd 8000 0.00065536'
is 'of another one the copy stands apart' \
	"$(sed s/_flash_attention_backward/scatter/ whole.json >apart.json; ask apart.json name,kernel_ns_sum)" \
	'aten::scatter->k1 (Synthetic Op) 5000
aten::copy_ 5000'

{
	op vllm::outplace_fused_experts 0 '[[33,4096],[64,4096,2048],[64,4096,1024],[33,6],[33,6]]' \
		"[$b,\"unsigned char\",\"unsigned char\",\"float\",\"int\"]" '["","","","",""]'
	op _C::silu_and_mul 10 '[[198,2048],[198,4096]]' "[$b,$b]" '["",""]'
} | sed 's/"ts":0,"dur":8/"ts":0,"dur":40/; s/"name":"k1"/"name":"fused_moe_kernel_gptq_awq"/' | trace >experts.json
is 'so do all experts at once' "$(ask experts.json name,kernel_ns_sum,gflop)" \
	'vllm::outplace_fused_experts 10000 9.967153152'
is 'unless pseudo-ops tell their parts' "$(ask experts.json name,kernel_ns_sum,gflop --pseudo-ops | cut -d' ' -f1-3)" \
	'pseudo_op::moe_gptq_awq_up 5000 6.643777536
_C::silu_and_mul 5000 0.00202752'

is 'attention without a model has its category' "$(for op in trtllm::attn_custom_op_inplace \
	xformers_flash::flash_bwd 'hipGraphLaunch->kernel_unified_attention_2d (Synthetic Op)' mylib::op; do
	printf '{"op":"%s"}\n' "$op"
done | tl-roofline --op - --no-header -c op_category 2>/dev/null | tr '\n' ' ')" \
	'InferenceAttention SDPA_bwd InferenceAttention other '

# ---- copies ----

{
	op aten::copy_ 0 '[[8,64],[],[]]' '["float","double","Scalar"]' '["","","False"]'
	op aten::max 10 '[[8,1],[16]]' '["float","float"]' '["",""]'
} | trace >small.json
is 'a copy of one number; a larger shape' \
	"$(ask small.json gflop,moved_mib | awk '{ print $1, $2 * 1048576 }')" \
	'5.12e-07 2056
1.28e-07 608'

# ---- sums of an annotation ----

{
	op vllm::unified_attention_with_output 10 '[[8,128,128],[8,1,128]]' "[$b,$b]" '["",""]'
	printf '%s\n' '{"ph":"X","cat":"user_annotation","name":"step[EXTEND c_sq=8 c_sk=8 c_sqsq=0 c_sqsk=1000000000000000]","pid":1,"tid":1,"ts":0,"dur":50,"args":{}}'
	op vllm::unified_attention_with_output 60 '[[9,128,128],[9,1,128]]' "[$b,$b]" '["",""]'
} | trace >note.json
is 'beyond 64 bits; none around' "$(ask note.json gflop,model_reason)" \
	'65536000000.0 
 no annotation around it'

# ---- examples of megatron.lua in a trace ----

m="$ROOT/common/model/examples/megatron.lua"
e='[],[],[],[],[],[],[],[],[]'
{
	op GroupedGemm 0 '[[4096,512],[8,1024,512],[],[]]' "[$b,$b,\"\",\"\"]" '["","","","True"]'
	op FusedAttnFunc 10 "[$e,[512,2,16,64],[512,2,4,64],[512,2,4,128]]" \
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",$b,$b,$b]" '[]'
	op LayerNormFn 20 '[[8,1024],[1024],[1024]]' "[$b,$b,$b]" '["","",""]'
	op FusedAttnFuncBackward 30 '[[512,2,16,128]]' "[$b]" '[""]'
	op GroupedGemmBackward 40 '[[4096,1024]]' "[$b]" '[""]'
} | trace >mega.json
is 'a file of models' "$(ask mega.json name,op_category,gflop --models "$m")" \
	'GroupedGemm GroupedGEMM_fwd 4.294967296
FusedAttnFunc SDPA_fwd 1.610612736
LayerNormFn NORM_fwd 4.7104e-05
FusedAttnFuncBackward SDPA_bwd 
GroupedGemmBackward GroupedGEMM_bwd '
is 'without it' "$(ask mega.json op_category,gflop | sort -u)" \
	"$(printf 'SDPA_bwd \nSDPA_fwd \nother \nother 4.096e-05')"

# ---- TL_MODELS with tl-graft before the program: it finds the files itself ----

mkdir own && cp "$m" own
is 'TL_MODELS and --pseudo-ops' \
	"$(TL_MODELS=own tl-roofline --pseudo-ops old.json)" "$(tl-roofline old.json)"

# ---- shapes without types, as emit_nvtx marks ops: types from kernels' names ----

cat >names <<'END'
float ampere_sgemm_128x64_tn
float void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4>(cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4::Params)
float sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16
float void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)
double cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1
c10::Half turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn
c10::Half volta_h884gemm_64x64_ldg8_nn
c10::Half nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT
c10::Half Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x64
c10::BFloat16 nvjet_sm100_tst_128x128_64x8_1x2_h_bz_TNT
c10::BFloat16 Custom_Cijk_Ailk_Bljk_BBS_BH_MT256x256x64
c10::BFloat16 ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn
c10::BFloat16 void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)
- ampere_s16816gemm_128x128
- void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase)::{lambda(float)#1}, c10::Half>
- sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128
- nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT
- void kernel<float, double>()
- gemm
END
n=0
while read -r _ kernel; do
	op aten::mm $((n * 10)) "[[8,4],[4,$((n + 1))]]" null | sed "s|,\"Input type\":null||; s|\"name\":\"k[0-9]*\"|\"name\":\"$kernel\"|"
	n=$((n + 1))
done <names | trace >names.json
typed() { tl-roofline --no-header "$@" names.json 2>"$TMP/err" | sort -n | cut -f2-; }
is 'names of kernels say the type' "$(typed -c first_uid,input_types | sed 's/^$/-/; s/\["//; s/".*//')" \
	"$(cut -d' ' -f1 names)"
like 'where none does, there is no roofline' "$(cat "$TMP/err")" 'no types of 6 ops, first aten::mm; set --dtype'
is '... and rows say why' "$(typed -c first_uid,gflop,moved_mib,model_reason | grep 'types recorded' | head -n 1)" \
	'8.96e-07		no types recorded: see --dtype'
# 8x4, 4x14 and 8x14 elements of two bytes
is 'an option does' "$(typed --dtype bf16 -c first_uid,moved_mib | sed -n 14p)" \
	"$(awk 'BEGIN { printf "%.17g", 400 / 1048576 }' | sed 's/^0*0\./0./')"
refuses 2 'one type' 'tl-roofline --dtype bf16,fp16 names.json'
