#!/bin/sh
# SPDX-License-Identifier: MIT
# MFU and HFU: worked out by hand, drawn traces against formulas, reasons for
# none.
. tests/cli/lib.sh
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'
export PYTHONDONTWRITEBYTECODE=1

python3 "$ROOT/tests/oracle/mfu.py" >drawn
is 'drawn traces' "$(grep -v '^ok' drawn)" "1..$(grep -c '^ok' drawn)"

# 1 TFLOP/s: a product of 1000 x 1000 x 500 needs 1 ms.
cat >one.json <<'X'
{ "name": "one", "mem_bw_gbps": 1000,
  "peak_tflops": { "matrix_fp32": 1, "matrix_bf16": 2, "vector_fp32": 1 } }
X
mfu="tl-roofline --arch ./one.json --table roofline_by_step"
gpu() { # gpu NAME TS DUR CORR [DEVICE]
	ev kernel "$1" 7 "$2" "$3" "\"device\":${5:-0},\"stream\":7,\"correlation\":$4"
}
mm() { # mm TS CORR TYPE
	ev cpu_op aten::mm 1 "$1" 20 \
		"\"Input Dims\":[[1000,1000],[1000,500]],\"Input type\":[\"$3\",\"$3\"],\"Concrete Inputs\":[\"\",\"\"]"
	ev cuda_runtime cudaLaunchKernel 1 $(($1 + 2)) 5 "\"correlation\":$2"
}
op() { # op NAME TS CORR
	ev cpu_op "$1" 1 "$2" 20 '"Input Dims":[[8]],"Input type":["float"]'
	ev cuda_runtime cudaLaunchKernel 1 $(($2 + 2)) 5 "\"correlation\":$3"
}
step() { ev user_annotation "ProfilerStep#$1" 1 "$2" "$3"; }

# Step 1: 4 ms with one product: 25 %. Step 2: 5 ms with a product of each type,
# 1 + 0.5 ms: 30 %. Step 3: 10 % of its GPU time has no model; above that there
# is no MFU.
{
	step 1 0 4000
	mm 100 1 float
	gpu gemm 1000 2000 1
	step 2 4000 5000
	mm 4100 2 float
	gpu gemm 4500 1500 2
	mm 4300 3 c10::BFloat16
	gpu gemm 6000 1500 3
	step 3 9000 10000
	mm 9100 4 float
	gpu gemm 10000 1800 4
	op my::op 9300 5
	gpu mine 12000 200 5
	step 4 19000 10000
	mm 19100 6 float
	gpu gemm 20000 1799 6
	op my::op 19300 7
	gpu mine 22000 200 7
	step 5 29000 1000
} | trace >steps.json
is 'by hand' "$(rows "$mfu -c step,wall_ns_sum,model_tflop,mfu,hfu,peak,pct_unmodelled steps.json" 2>&1)" \
	'1 4000000 0.001 25.0 25.0 one matrix_fp32 1 0.0.2 5000000 0.002 30.0 30.0 one matrix_fp32 1, matrix_bf16 2 0.0.3 10000000 0.001 10.0 10.0 one matrix_fp32 1 10.0.4 10000000 0.001 10.005002501250624.'
is 'what refuses it' "$($mfu -c step,mfu,hfu,mfu_reason --no-header steps.json 2>/dev/null | tail -n 1 | tr '\t' ' ')" \
	'4   less than 90 % of GPU time has a performance model'
is 'unmodelled' "$($mfu --step 4 -c step,mfu_reason --no-header steps.json 2>/dev/null | tr '\t' ' ')" \
	'4 less than 90 % of GPU time has a performance model'
is 'a step alone is the same' "$($mfu --step 2 -c step,mfu --no-header steps.json | tr '\t' ' ')" '2 30.0'
is 'with a part of its ops there is none' \
	"$($mfu --name aten::mm --step 1 -c mfu,mfu_reason --no-header steps.json | tr '\t' ' ')" ' --name leaves ops out'
is 'nor with a part of its GPU work' \
	"$($mfu --step 2 --from 5.9ms --by-gpu-time -c mfu,mfu_reason --no-header steps.json 2>/dev/null | tr '\t' ' ')" \
	' less than 90 % of GPU time has a performance model'
is 'without figures of the GPU' "$(tl-roofline --table roofline_by_step --step 1 -c mfu,mfu_reason --no-header steps.json | tr '\t' ' ')" \
	' no figures for the GPU: see --arch'
sed 's/"matrix_bf16": 2, //' one.json >few.json
is 'a type without a peak' "$(tl-roofline --arch ./few.json --table roofline_by_step --step 2 -c mfu,mfu_reason --no-header steps.json | tr '\t' ' ')" \
	' no peak for one of the types'
is 'of a capped clock' "$(sed 's/"mem_bw/"clock_mhz": 2000, &/' one.json >clock.json
	tl-roofline --arch ./clock.json:clock=1000 --table roofline_by_step --step 1 -c mfu,peak --no-header steps.json | tr '\t' ' ')" \
	'50.0 one at 1000 MHz matrix_fp32 0.5'
is 'a report says it' "$(tl-report --arch ./one.json --width 200 steps.json 2>/dev/null | grep '^MFU')" \
	'MFU 18.4 % inside 3 of 4 steps, 65.5 % of the window (one matrix_fp32 1, matrix_bf16 2 TFLOP/s); 5.3 % of GPU time has no performance model.'
is 'and has the table' "$(tl-report --arch ./one.json -d d steps.json >/dev/null 2>&1; sed 1d d/roofline_by_step.csv | wc -l)" 4

# GPU work without a launch belongs to no step, whenever it runs. Up to 10 % of
# all is tolerated; with more there is no MFU.
lost() { # lost DUR
	step 1 0 4000
	mm 100 1 float
	gpu gemm 1000 1800 1
	gpu mine 3000 "$1" 9
}
lost 200 | trace >lost.json
is 'GPU work without a launch belongs to no step' \
	"$($mfu -c mfu,pct_unmodelled,mfu_reason --no-header lost.json | tr '\t' ' ')" '25.0 0.0 '
like 'which is said' "$($mfu --format md lost.json)" '^1 of 2 GPU events has no launch in the trace and no step'
lost 201 | trace >lost.json
is 'much of it refuses the figures' "$($mfu -c mfu,pct_unmodelled,mfu_reason --no-header lost.json | tr '\t' ' ')" \
	' 0.0 more than 10 % of GPU time from here on has no launch in the trace: its step is unknown'
{
	lost 2000
	step 2 5000 4000
	mm 5100 2 float
	gpu gemm 6000 1800 2
} | trace >lost.json
is 'it is of no step that begins behind it' "$($mfu -c step,mfu --no-header lost.json | tr '\t\n' ' .')" '1 .2 25.0.'

# Two GPUs in step 1. The GPU sets the pace: a step takes as long as the GPU
# needs; for the first step that is unknown.
{
	step 1 0 1000
	mm 100 1 float
	gpu gemm 1000 2000 1
	mm 200 2 float
	gpu gemm 1000 2000 2 1
	step 2 1000 1000
	mm 1100 3 float
	gpu gemm 3000 4000 3
	step 3 2000 1000
	mm 2100 4 float
	gpu gemm 7000 4000 4
} | trace >behind.json
is 'the GPU sets the pace' "$($mfu -c step,wall_ns_sum,mfu --no-header behind.json | tr '\t\n' ' .')" \
	'1  .2 4000000 25.0.3 4000000 25.0.'
is 'a step of unknown time' "$($mfu -c mfu,mfu_reason --no-header --step 1 behind.json | tr '\t' ' ')" \
	' time unknown: there is no step before to measure from'
is 'as tl-steps has it' "$(tl-steps -c step,gpu_wall_ns --no-header behind.json | tr '\t\n' ' .')" '1 .2 4000000.3 4000000.'
{
	step 1 0 4000
	mm 100 1 float
	gpu gemm 1000 2000 1
	mm 200 2 float
	gpu gemm 1000 2000 2 1
} | trace >two.json
is 'two GPUs have twice the peak' "$($mfu -c model_tflop,mfu --no-header two.json | tr '\t' ' ')" '0.002 25.0'
mm 100 1 float >e
gpu gemm 1000 2000 1 >>e
trace <e >whole.json
like 'without steps: all of it' "$($mfu -c wall_ns_sum,mfu --format md whole.json)" \
	'^no steps: the span of all GPU work.*2.000 | 50.00 |'
like 'and in a report' "$(tl-report --arch ./one.json --width 200 whole.json 2>/dev/null)" \
	'MFU 50 % .one matrix_fp32 1 TFLOP/s., first to last GPU event\.'
step 1 0 4000 >>e
op aten::mul 300 2 >>e
trace <e >none.json
is 'GPU work of the host alone' "$($mfu -c step,mfu --no-header none.json | tr '\t' ' ')" '1 25.0'

# Serving: iterations are steps, and each phase has its own.
{
	ev user_annotation 'execute_context_2(4096)_generation_0(0)' 1 0 4000
	mm 100 1 float
	gpu gemm 1000 2000 1
	ev user_annotation 'execute_context_0(0)_generation_1(1)' 1 5000 10000
	mm 5100 2 float
	gpu gemm 6000 2000 2
	mm 16000 3 float
	gpu gemm 17000 2000 3
} | trace >serving.json
is 'by phase' "$(tl-roofline --arch ./one.json --table roofline_by_phase --no-header \
	-c phase,wall_ns_sum,mfu,tokens_per_s,mfu_reason serving.json | sort | tr '\t\n' ' .')" \
	'decode 10000000 10.0 100.0 .outside    outside of steps and iterations.prefill 4000000 25.0 1024000.0 .'
# Decode: the first iteration has no known time, the others count.
{
	for i in 0 1 2; do
		ev user_annotation 'execute_context_0(0)_generation_1(1)' 1 $((i * 1000)) 1000
		mm $((i * 1000 + 100)) $((i + 1)) float
		gpu gemm $((i * 4000 + 3000)) 4000 $((i + 1))
	done
} | trace >untimed.json
is 'a phase without its iterations of unknown time' "$(tl-roofline --arch ./one.json --table roofline_by_phase \
	--no-header -c phase,wall_ns_sum,model_tflop,mfu,tokens_per_s,mfu_reason untimed.json | tr '\t' ' ')" \
	'decode 8000000 0.002 25.0 250.0 without 1 of 3: time unknown'
is 'outside of iterations operations are unknown, not 0' "$(tl-roofline --arch ./one.json --table roofline_by_phase \
	--no-header -c phase,model_tflop,hardware_tflop serving.json | grep outside | tr '\t' ' ')" 'outside  '
is 'by step' "$($mfu --no-header -c step,wall_ns_sum,mfu,tokens_per_s,mfu_reason serving.json | tr '\t\n' ' .')" \
	'1 4000000 25.0 1024000.0 .2 10000000 10.0 100.0 .    outside of steps and iterations.'
done_testing
