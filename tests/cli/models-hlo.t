#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models of XLA's instructions: how they are looked up, their figures and
# their category in every table, worked out by hand.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'
plan 11

# ask COLUMNS: of each line of standard input, an op
ask() { tl-roofline --op - --no-header -c "$1" 2>/dev/null; }

is 'an opcode, a fusion by its body, a target, one that nothing knows' "$(ask op_category,flops,bytes <<'E'
{"op":"add.1","dims":[],"hlo":{"opcode":"add","shape":"f32[8]{0}","operands":[{"name":"a","shape":"f32[8]{0}"},{"name":"b","shape":"f32[]"}]}}
{"op":"fusion.1","dims":[],"hlo":{"opcode":"fusion","shape":"f32[]","operands":[{"name":"a","shape":"bf16[8]{0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"bf16[8]{0}"},{"opcode":"constant","shape":"f32[]"},{"opcode":"convert","shape":"f32[8]{0}","operands":[0]},{"opcode":"multiply","shape":"f32[8]{0}","operands":[2,2]},{"opcode":"reduce","shape":"f32[]","dimensions":[0],"operands":[3,1],"root":true}]}}
{"op":"custom-call.1","dims":[],"hlo":{"opcode":"custom-call","target":"__gpu$xla.gpu.triton","shape":"(f32[8]{0},u8[99]{0})","operands":[{"name":"a","shape":"f32[8]{0}"}]}}
{"op":"all-reduce.1","dims":[],"hlo":{"opcode":"all-reduce","shape":"f32[8]{0}","operands":[{"name":"a","shape":"f32[8]{0}"}]}}
{"op":"fusion-start.1","dims":[],"hlo":{"opcode":"async-start","shape":"((f32[8]{0}),f32[8]{0},u32[])","operands":[{"name":"a","shape":"f32[8]{0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"f32[8]{0}"},{"opcode":"fusion","shape":"f32[8]{0}","operands":[0],"root":true},{"opcode":"parameter","parameter":0,"shape":"f32[8]{0}"},{"opcode":"negate","shape":"f32[8]{0}","operands":[2],"root":true}]}}
{"op":"fusion.9","dims":[],"hlo":{"opcode":"fusion","shape":"f32[2,2]{1,0}","operands":[{"name":"a","shape":"f32[2,3]{1,0}"},{"name":"b","shape":"f32[3,2]{1,0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"f32[2,3]{1,0}"},{"opcode":"parameter","parameter":1,"shape":"f32[3,2]{1,0}"},{"opcode":"convolution","shape":"f32[2,2]{1,0}","operands":[0,1],"conv":{"input_feature":1,"kernel_input_feature":0,"kernel_output_feature":1,"kernel_spatial":[]},"root":true}]}}
{"op":"copy-start.1","dims":[],"hlo":{"opcode":"copy-start","shape":"(f32[8]{0:S(5)},f32[8]{0},u32[])","operands":[{"name":"a","shape":"f32[8]{0}"}]}}
{"op":"while.1","dims":[],"hlo":{"opcode":"while","shape":"f32[8]{0}"}}
{"op":"reduce-scatter-start","dims":[],"hlo":{"opcode":"async-start","shape":"((f32[8]{0}),f32[4]{0},u32[])","operands":[{"name":"a","shape":"f32[8]{0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"f32[8]{0}"},{"opcode":"reduce-scatter","shape":"f32[4]{0}","operands":[0],"root":true}]}}
E
)" 'elementwise	8.0	68.0
reduce	16.0	20.0
triton	0.0	64.0
communication		
other		
GEMM	24.0	64.0
memcpy		
other		
communication		'
like 'a name of its own goes first' "$(echo '{"op":"aten::mm","dims":[[8,4],[4,2]],"types":"fp32","hlo":{"opcode":"add","shape":"f32[8]"}}' |
	ask op_category,flops)" '^GEMM	128.0'
cat >own.lua <<'X'
op { names = { "hlo::custom-call:my_kernel" }, category = "mine",
  eval = function (_ENV) return 4 * array_of(hlo(), 1).n, hlo_bytes(hlo()) end }
X
is 'an entry of ones own' "$(echo '{"op":"c.1","dims":[],"hlo":{"opcode":"custom-call","target":"my_kernel","shape":"s4[8]{0}","operands":[{"name":"a","shape":"f32[8]{0}"}]}}' |
	tl-roofline --models own.lua --op - --no-header -c op_category,flops,bytes)" 'mine	32.0	36.0'

# ---- what can go wrong ----

is 'a text that is no JSON' "$(echo '{"op":"add.1","dims":[],"hlo":"{1"}' | ask status,model_reason)" \
	'none	no model'
is 'an unknown type leaves the bytes unknown' \
	"$(echo '{"op":"a","dims":[],"hlo":{"opcode":"add","shape":"x7[8]","operands":[{"shape":"f32[8]"}]}}' | ask status,flops,bytes)" \
	'ok	8.0	'
# bitcasts in a circle, invalid places
is 'a body that is none' "$(ask status,flops <<'E'
{"op":"f","dims":[],"hlo":{"opcode":"fusion","shape":"f32[8]","operands":[{"shape":"f32[8]"}],"body":[{"opcode":"parameter","parameter":0,"shape":"f32[8]"},{"opcode":"bitcast","shape":"f32[8]","operands":[2]},{"opcode":"bitcast","shape":"f32[8]","operands":[1],"root":true},{"opcode":"add","shape":"f32[8]","operands":[77,-3]},{"opcode":"bitcast","operands":[0,4,4]}]}}
E
)" 'ok	8.0'
python3 -c '
import json
body = [{"opcode": "parameter", "parameter": 0, "shape": "f32[8]"}]
body += [{"opcode": "bitcast", "shape": "f32[8]", "operands": [k, k]} for k in range(60)]
body += [{"opcode": "add", "shape": "f32[8]", "operands": [0, 60]} for k in range(10000)]
hlo = {"opcode": "fusion", "shape": "f32[8]", "operands": [{"shape": "f32[8]"}], "body": body}
print(json.dumps({"op": "f", "dims": [], "hlo": hlo}))' >wide.json
is 'a large one' "$(timeout 20 tl-roofline --op - --no-header -c status,flops <wide.json)" 'ok	80000.0'
is 'no array has elements beyond 64 bits' \
	"$(echo '{"op":"a","dims":[],"hlo":{"opcode":"add","shape":"f32[4294967296,4294967296]","operands":[]}}' | ask status,model_reason)" \
	'failed	an array of more than 2^63 elements'

# ---- in a trace ----

cat >step.json <<'X'
{"deviceProperties":[{"name":"NVIDIA H100 80GB HBM3"}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"loop_add_fusion.1","pid":1,"tid":1,"ts":0,"dur":9,"args":{"Input Dims":[[1024,1024],[1024]],"Input type":["f32","f32"],"hlo":{"opcode":"fusion","fusion":"kLoop","shape":"f32[1024,1024]{1,0}","operands":[{"name":"a","shape":"f32[1024,1024]{1,0}"},{"name":"b","shape":"f32[1024]{0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"f32[1024,1024]{1,0}"},{"opcode":"parameter","parameter":1,"shape":"f32[1024]{0}"},{"opcode":"broadcast","shape":"f32[1024,1024]{1,0}","operands":[1]},{"opcode":"add","shape":"f32[1024,1024]{1,0}","operands":[0,2],"root":true}]}}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"loop_add_fusion_1","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}]}
X
is 'in the roofline' "$(tl-roofline --no-header -c name,op_category,gflop,moved_mib,compute_spec step.json)" \
	'loop_add_fusion.1	elementwise	0.001048576	8.00390625	vector_fp32'
is 'its category elsewhere' "$(tl-ops --by args --no-header -c op_category step.json; tl-kernels --by op --no-header -c op_category step.json)" \
	'elementwise
elementwise'
is 'f32 of default precision is TF32 on an H100, so within its roof' \
	"$(tl-roofline --no-header -c name,compute_spec,pct_roofline_mean "$ROOT/tests/data/h100/jax_scan.xplane.pb.gz" |
		awk '$1 == "gemm_fusion_dot" { printf "%s %.1f\n", $2, $3 }')" 'matrix_tf32 40.3'
