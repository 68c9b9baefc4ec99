#!/bin/sh
# SPDX-License-Identifier: MIT
# Ops of XLA in profiles of JAX: runs and GPU time of instructions against the
# figures of an independent reader, and what is in the CUDA graphs of JAX 0.11.
. tests/cli/lib.sh

ops() { # ops TRACE: of each instruction of a program: runs, GPU events, ns
	tl-tree "$1" | tl-cat | jq -rn 'reduce inputs as $e ({};
		if $e.cat == "hlo" and $e.kind == "op" then
			.op = $e.name + " " + $e.args.program_id | .runs[.op] += 1
		elif $e.launch != null and $e.args.hlo_op != null then
			.n[.op] += 1 | .ns[.op] += $e.dur
		else . end) | . as $all | .runs | keys[] |
		"\(.) \($all.runs[.]) \($all.n[.]) \($all.ns[.])"'
}
graph() { # graph TRACE: of what the GPU work in its command buffers is
	tl-tree "$1" | tl-cat | jq -rn 'reduce inputs as $e ({};
		if $e.cat == "hlo" and $e.kind == "op" then
			.op = $e.name + " " + ($e.args.matched_by // "-")
		elif $e.launch != null and
			($e.args.hlo_op | startswith("command_buffer")) then
			.out += [($e.name | sub("_sm90.*_"; "_")) + " " + .op]
		else . end) | .out[]'
}

if have_data; then
	is 'six programs of GEMMs' "$(ops "$TL_DATA"/jax08_gemm/tw003.xplane.pb)" \
		'copy.1 1 12 12 27640
custom-call.1 21 3 3 31360
custom-call.1 34 3 3 449280
custom-call.1 49 3 3 1833003
custom-call.1 64 3 3 352280
custom-call.1 79 3 3 552961
gemm_fusion_dot_general.1 5 3 3 15000
wrapped_broadcast 19 2 2 11000
wrapped_broadcast 3 2 2 11080
wrapped_broadcast 32 2 2 29600
wrapped_broadcast 45 1 1 23160
wrapped_broadcast 47 1 1 22920
wrapped_broadcast 60 1 1 16160
wrapped_broadcast 62 1 1 15440
wrapped_broadcast 75 1 1 13800
wrapped_broadcast 77 1 1 10560'
	is 'a convolution: two kernels a run, five runs' \
		"$(ops "$TL_DATA"/jax_conv_minimal_legacy/*.xplane.pb | grep conv)" \
		'cudnn-conv.1.0 15 5 10 1539832'
	# on each TPU the line XLA Modules has as many runs of jit_f
	is 'runs of the main module are steps' "$(for f in "$TL_DATA"/jax*/*.xplane.pb "$TL_DATA"/xprof_tpu_inference_v1/*.pb; do
		tl-steps --table steps_summary --no-header -c steps,unlinked_count "$f" 2>/dev/null | tr '\t' ' '
	done)" '3 0
5 3
5 0
100 0'
else
	skip 'reference traces' 'no TL_DATA'
fi

mlp=$ROOT/tests/data/h100/jax_mlp.xplane.pb.gz
graph "$mlp" >nodes
is 'what a CUDA graph of a training step holds' "$(sed 30q nodes)" \
	'Memset 0 custom-call.6 order
nvjet_NNT custom-call.6 order
loop_convert_multiply_fusion loop_convert_multiply_fusion order
nvjet_NNT cublas-lt-matmul.2 order
Memset 0 custom-call.7 order
nvjet_NNT custom-call.7 order
loop_convert_multiply_fusion loop_convert_multiply_fusion.1 order
gemm_fusion_dot_general_14 gemm_fusion_dot_general.14 name
input_reduce_fusion input_reduce_fusion name
input_reduce_fusion_1 input_reduce_fusion.1 name
loop_multiply_fusion loop_multiply_fusion name
loop_convert_fusion loop_convert_fusion name
Memset 0 custom-call.1 order
nvjet_NTT custom-call.1 order
Memset 0 custom-call.4 order
nvjet_TNN custom-call.4 order
loop_add_fusion_1 loop_add_fusion.1 order
gemm_fusion_dot_general_18 gemm_fusion_dot_general.18 name
wrapped_add wrapped_add name
Memset 0 custom-call.2 order
nvjet_NTT custom-call.2 order
Memset 0 custom-call.0 order
nvjet_NTT custom-call.0 order
loop_subtract_fusion_1 loop_subtract_fusion.1 name
Memset 0 custom-call.5 order
nvjet_TNN custom-call.5 order
loop_add_fusion_1 loop_add_fusion order
Memset 0 custom-call.3 order
nvjet_NTT custom-call.3 order
loop_subtract_fusion loop_subtract_fusion name'
is 'the same in each step' "$(sort nodes | uniq -c | awk '$1 % 3')" ''
is 'StepTraceAnnotations' \
	"$(tl-steps -c step,what,wall_ns,kernels --no-header "$mlp" | grep step | tr '\t' ' ')" \
	'0 step 2953177 22
1 step 2692016 22
2 step 2765410 22'

done_testing
