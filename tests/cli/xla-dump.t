#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-decode --xla-dump: which dump belongs to a trace, and its contents.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

trace() { # FILE [ARGUMENT,]: a Chrome trace of JAX with one collective
	mkdir -p "${1%/*}"
	cat >"$1" <<E
{"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
{"ph":"X","pid":1,"tid":14,"ts":10,"dur":5.5,"name":"ncclDevKernel_AllReduce","args":{${2-}"hlo_module":"jit_f","hlo_op":"all-reduce.1"}}
]}
E
}
dump() { # FILE N [MODULE]: of an all-reduce of f32[N]
	mkdir -p "${1%/*}"
	cat >"$1" <<E
HloModule ${3:-jit_f}, is_scheduled=true, num_partitions=2

ENTRY %main (p: f32[$2]) -> f32[$2] {
  %p = f32[$2]{0} parameter(0)
  ROOT %all-reduce.1 = f32[$2]{0} all-reduce(%p), replica_groups={}
}
E
}
shapes() { # DIR|FILE TRACE: key, shape and groups that come of these dumps
	tl-decode --xla-dump "$1" "$2" 2>err | tl-cat | jq -r '
		select(.meta.key? // "" | startswith("hlo")) | .meta |
		"\(.key) \(.value.instructions[0].shape) \(.value.instructions[0].groups)"'
}
name=gpu_after_optimizations.txt

trace a/t.json '"program_id":7,'
trace b/t.json '"program_id":7,'
dump a/xla/module_0003.jit_f.sm_9.0_$name 8
dump b/xla/module_0003.jit_f.sm_9.0_$name 4
dump b/xla/module_0004.jit_g.sm_9.0_$name 2 jit_g
dump b/xla/module_0003.jit_f.before_optimizations.txt 3
is 'the dump nearest to the trace' "$(shapes . a/t.json; shapes . b/t.json)" \
	'hlo 7 f32[8]{0} [[0,1]]
hlo 7 f32[4]{0} [[0,1]]'
gzip -c a/xla/module_0003* >a.gz
is 'a file, compressed' "$(shapes a.gz b/t.json)" 'hlo 7 f32[8]{0} [[0,1]]'
dump b/xla/module_0007.jit_f.sm_9.0_$name 16
is 'of several the one with the number of the program' "$(shapes b b/t.json)" \
	'hlo 7 f32[16]{0} [[0,1]]'
trace c/t.json
reports 3 dumps-differ 'tl-decode --xla-dump b -o out.tl c/t.json'
dump b/xla/module_0007.jit_f.sm_9.0_$name 4
is 'several that say the same; a trace without ids of programs' \
	"$(shapes b c/t.json | sed 's/hlo [0-9]* //'; cat err)" 'f32[4]{0} [[0,1]]'
dump only/module_0004.jit_g.$name 2 jit_g
reports 0 no-dump 'tl-decode --xla-dump only -o out.tl b/t.json'
refuses 1 'no HLO module as text' 'tl-decode --xla-dump a/t.json -o out.tl a/t.json'
refuses 2 'reads no pipe' 'tl-decode --xla-dump - -o out.tl a/t.json'
refuses 1 'nowhere: No such file' 'tl-decode --xla-dump nowhere -o out.tl a/t.json'

# ---- the same as from modules in the file, except bodies and what only protos have ----

instructions() { # DIR OPTION...
	python3 "$ROOT/tests/gen/xplane.py" -o "$@" --hosts 1 --gpus 2 --iota >/dev/null
	tl-decode --xla-dump "$1" "$1/host0.xplane.pb" | tl-cat | jq -cS '
		select(.meta.key? // "" | startswith("hlo")) | .meta.key as $key | .meta.value.instructions[] |
		select(.opcode | test("^(async|reduce-scatter|fusion)") | not) | .key = $key |
		del(.body, .conv, .window, .feature_groups, .batch_groups, .op_type)' | sort
}
mkdir none
dump none/module.$name 2 jit_none
mkdir with && cp none/* with
instructions with >with.json
instructions dumped --dump >dumped.json
is 'instructions of a module and of its dump' "$(diff with.json dumped.json)" ''
is '... with configurations, groups and pairs' \
	"$(grep -c 'gemm_backend_config\|"groups"\|"pairs"' dumped.json)" 10

# ---- without details in a dump: no model, and no other kind of work ----

trace prod/t.json
cat >prod.txt <<'E'
HloModule jit_f

ENTRY %main (a: f32[64,32], b: f32[32,16]) -> f32[64,16] {
  %a = f32[64,32]{1,0} parameter(0)
  %b = f32[32,16]{1,0} parameter(1)
  ROOT %all-reduce.1 = f32[64,16]{1,0} WORK
}
E
product() { # TEXT: category and FLOPs of an instruction
	sed "s/WORK/$1/" prod.txt >one.txt
	tl-decode --xla-dump one.txt prod/t.json | tl-roofline --arch H100-SXM \
		--no-header -c op_category,gflop 2>/dev/null
}
if command -v tl-roofline >/dev/null; then
	is 'a product without its dimension numbers' \
		"$(product 'dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}')" 'GEMM	'
	is 'a GEMM in a fusion without its body' \
		"$(product 'fusion(%a, %b), kind=kCustom, backend_config={"fusion_backend_config":{"kind":"__triton_gemm"}}')" 'GEMM	'
else
	skip 'products of dumps' 'tl-roofline was not built'
fi

# ---- a Chrome trace of JAX as a process with several GPUs ----

cat >jax.json <<'E'
{"traceEvents":[
{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:GPU:2"}},
{"ph":"M","pid":3,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
{"ph":"M","pid":4,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":4,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
{"ph":"M","pid":9,"name":"process_name","args":{"name":"/device:GPU:3"}},
{"ph":"X","pid":3,"tid":14,"ts":10,"dur":5.5,"name":"ncclDevKernel_AllReduce","args":{"hlo_module":"jit_f","hlo_op":"all-reduce.1"}},
{"ph":"X","pid":4,"tid":14,"ts":11,"dur":4.5,"name":"ncclDevKernel_AllReduce","args":{"hlo_module":"jit_f","hlo_op":"all-reduce.1"}}
]}
E
cat >jax.txt <<'E'
HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %all-reduce.1 = f32[8]{0} all-reduce(%p), replica_groups=[2,2]<=[2,2]T(1,0)
}
E
tl-decode --xla-dump jax.txt -o jax.tl jax.json
is 'its GPUs are ranks, by their names' "$(tl-collective --table nccl_long --no-header \
	-c rank,group,instruction,dur_ns,in_bytes jax.tl)" \
	"0	0,2	all-reduce.1	4500	32
2	0,2	all-reduce.1	5500	32"
is '... also without a dump' "$(tl-collective --table nccl_long --no-header \
	-c rank,instruction,in_bytes jax.json)" "0	all-reduce.1	
2	all-reduce.1	"
done_testing
