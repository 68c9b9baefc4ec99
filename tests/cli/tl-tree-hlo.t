#!/bin/sh
# SPDX-License-Identifier: MIT
# Ops and frames of XLA that tl-tree adds: between host events and GPU work,
# below launches of graphs, and without launches.
. tests/cli/lib.sh

# Arguments: GPU work of an instruction, or an event of the host.
gpu() { # gpu ID NAME TS DUR CORR OP [MORE ARGS]
	echo "{\"id\":$1,\"src\":0,\"kind\":\"kernel\",\"name\":\"$2\",\"ts\":$3,\"dur\":$4,\"pid\":1,\"tid\":16,\"args\":{\"correlation\":$5,\"hlo_op\":\"$6\",\"program_id\":5,\"hlo_module\":\"jit_train\"}}"
}
host() { # host ID KIND NAME TS DUR TID [CORR]
	echo "{\"id\":$1,\"src\":0,\"kind\":\"$2\",\"name\":\"$3\",\"ts\":$4,\"dur\":$5,\"pid\":701,\"tid\":$6,\"args\":{${7:+\"correlation\":$7}}}"
}
trace() { # trace: with the events of stdin
	cat <<'END'
{"tl":1,"marks":[],"prov":[]}
{"source":{"src":0,"final":true,"facts":{"name":"a.xplane.pb","format":"xplane"}}}
{"meta":{"src":0,"after":false,"key":"hlo 5","value":{"module":"jit_train","instructions":[{"name":"gemm.1","opcode":"custom-call","shape":"(bf16[16,32]{1,0},s8[64]{0})","operands":[{"name":"p0","shape":"bf16[16,64]{1,0:T(8,128)}"},{"name":"p1","shape":"bf16[<=64,32]{0,1}"},{"name":"c","shape":"f32[]"},null,{"name":"t","shape":"(f32[2]{0},f32[])"}],"op_name":"jit(train)/layer_0/mlp/dot_general","source":"train.py:12","target":"__cublas$gemm","config":{"a":[1,"x"]}},{"name":"fusion.3","opcode":"fusion","shape":"f32[8]{0}","operands":[{"name":"p0","shape":"pred[8]"}],"op_name":"jit(train)/layer_0/mul","source":"train.py:13"},{"name":"body.4","opcode":"fusion","shape":"f32[8]{0}","op_name":"jit(train)/while/body/add"}]}}}
END
	cat
	echo '{"end":{"events":0,"sources":1,"marks":[]}}'
}
rows() { # rows FIELDS: of the events of a tree, without runs that are steps
	tl-tree in.ndjson | tl-cat | grep -v '"step_num"' | tl-cat -F "$1" --no-header | tr '\t' '|'
}
shape() { # shape: depth and name, of what is put in with a star
	tl-tree in.ndjson | tl-cat | jq -r 'select(.id != null and .args.step_num == null) |
		"  " * (.depth // 0) + .name + (if .cat == "hlo" then "*" else "" end)'
}

# ---- with the host's own events, and without ----

{
	gpu 0 im2col 2000 100 1 gemm.1
	gpu 1 Cijk 2200 200 2 gemm.1
	gpu 2 fusion_3 2500 50 3 fusion.3
	gpu 3 im2col 3000 100 4 gemm.1
	gpu 4 Cijk 3200 200 5 gemm.1
	host 10 op Execute 900 500 1
	host 11 op gemm.1 990 50 1
	host 12 runtime launch 1000 10 1 1
	host 13 runtime launch 1020 10 1 2
	host 14 op fusion.3 1090 50 1
	host 15 runtime launch 1100 10 1 3
	host 16 runtime launch 1200 10 2 4
	host 17 runtime launch 1300 0 2 5
} | trace >in.ndjson
is 'frames around neighbours, ops around launches' "$(shape)" \
	'Execute
  jit_train(5)*
    jit(train)*
      layer_0*
        mlp*
          gemm.1
            gemm.1*
              launch
                im2col
              launch
                Cijk
        fusion.3
          fusion.3*
            launch
              fusion_3
jit_train(5)*
  jit(train)*
    layer_0*
      mlp*
        gemm.1*
          launch
            im2col
          launch
            Cijk'
is 'times, counts and marks' \
	"$(rows id,inst,ts,dur,parent,launch,ndesc,ngpu,flags | sed -n '2,9p;$p')" \
	'0|1|990|150|10||13|3|synthetic,untimed
0|2|990|150|0.1||12|3|synthetic,untimed
0|3|990|150|0.2||11|3|synthetic,untimed
0|4|990|50|0.3||6|2|synthetic,untimed
11|0|990|50|0.4||5|2|
0|5|1000|30|11||4|2|synthetic
12|0|1000|10|0.5||1|1|
0|0|2000|100|12|12|||
4|0|3200|200|17|17|||'
is 'arguments' "$(tl-tree in.ndjson | tl-cat | jq -c 'select(.cat == "hlo" and .kind == "op") | .args' | sort -u)" \
	'{"Input Dims":[[16,64],[64,32],[]],"Input type":["bf16","bf16","f32"],"Input Strides":[[64,1],[1,64],[]],"hlo_module":"jit_train","program_id":"5","hlo_opcode":"custom-call","op_name":"jit(train)/layer_0/mlp/dot_general","source":"train.py:12","hlo":{"opcode":"custom-call","shape":"(bf16[16,32]{1,0},s8[64]{0})","operands":[{"name":"p0","shape":"bf16[16,64]{1,0:T(8,128)}"},{"name":"p1","shape":"bf16[<=64,32]{0,1}"},{"name":"c","shape":"f32[]"},null,{"name":"t","shape":"(f32[2]{0},f32[])"}],"op_name":"jit(train)/layer_0/mlp/dot_general","source":"train.py:12","target":"__cublas$gemm","config":{"a":[1,"x"]}}}
{"Input Dims":[[8]],"Input type":["pred"],"Input Strides":[[1]],"hlo_module":"jit_train","program_id":"5","hlo_opcode":"fusion","op_name":"jit(train)/layer_0/mul","source":"train.py:13","hlo":{"opcode":"fusion","shape":"f32[8]{0}","operands":[{"name":"p0","shape":"pred[8]"}],"op_name":"jit(train)/layer_0/mul","source":"train.py:13"}}'
tl-tree in.ndjson >tree.tl
is 'a tree is read as one' "$(tl-tree -p --no-prune tree.tl)" \
	"$(tl-tree -p --no-prune in.ndjson)"
is 'a tree can be made anew' "$(tl-tree --link=auto tree.tl | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"
is 'in little memory' "$(tl-tree --mem 4M in.ndjson | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"

# ---- runs ----

{
	for i in 0 1 2; do
		gpu $((3 * i)) Memset $((5000 + 100 * i)) 5 $((3 * i + 1)) gemm.1
		gpu $((3 * i + 1)) nvjet $((5010 + 100 * i)) 5 $((3 * i + 2)) gemm.1
		gpu $((3 * i + 2)) reduce $((5020 + 100 * i)) 5 $((3 * i + 3)) gemm.1
	done | sed '/Memset/s/"kernel"/"memset"/'
	for i in 1 2 3 4 5 6 7 8 9; do
		host $((10 + i)) runtime launch $((100 * i)) 10 1 $i
	done
} | trace >in.ndjson
is 'an instruction again, in front of its copies: the module again' \
	"$(rows id,inst,name,ngpu | grep 'jit_\|gemm')" \
	'0|1|jit_train(5)|3
0|5|gemm.1|3
3|1|jit_train(5)|3
3|5|gemm.1|3
6|1|jit_train(5)|3
6|5|gemm.1|3'
{
	gpu 0 loop_fusion 5000 5 1 body.4
	gpu 1 loop_fusion 5010 5 2 body.4
	gpu 2 fusion_3 5020 5 3 fusion.3
	gpu 3 loop_fusion 5030 5 4 body.4
	for i in 1 2 3 4; do host $((10 + i)) runtime launch $((100 * i)) 10 1 $i; done
} | trace >in.ndjson
is 'a loop is one run of the module' "$(shape | grep '\*')" \
	'jit_train(5)*
  jit(train)*
    while*
      body*
        body.4*
        body.4*
    layer_0*
      fusion.3*
    while*
      body*
        body.4*'

# ---- contents of a command buffer ----

buffer() { # buffer KERNEL...: one launch of them; who they are of
	{
		cat <<'END'
{"tl":1,"marks":[],"prov":[]}
{"source":{"src":0,"final":true,"facts":{"name":"a.xplane.pb","format":"xplane"}}}
{"meta":{"src":0,"after":false,"key":"hlo 5","value":{"module":"jit_f","instructions":[{"name":"cb_1","opcode":"command-buffer","calls":["gemm.1","fusion","gemm.2","gemm.3","fusion.1","single.7","copy.1","gemm.4","last.9","named.3"]},{"name":"gemm.1","opcode":"custom-call"},{"name":"gemm.2","opcode":"custom-call"},{"name":"gemm.3","opcode":"custom-call"},{"name":"gemm.4","opcode":"custom-call"},{"name":"copy.1","opcode":"copy"},{"name":"fusion","opcode":"fusion","deduplicated":"fusion"},{"name":"fusion.1","opcode":"fusion","deduplicated":"fusion"},{"name":"single.7","opcode":"fusion"},{"name":"last.9","opcode":"fusion"},{"name":"named.3","opcode":"custom-call"}]}}}
END
		i=0
		for kernel; do
			gpu $i "$kernel" $((5000 + 10 * i)) 5 1 cb_1
			i=$((i + 1))
		done | sed '/Memset/s/"kernel"/"memset"/'
		gpu 98 other 9000 5 2 named.3
		host 99 runtime cuGraphLaunch 100 1000 1 1
		echo '{"end":{"events":0,"sources":1,"marks":[]}}'
	} >in.ndjson
	tl-tree in.ndjson | tl-cat | jq -rn 'reduce inputs as $e ({};
			if $e.cat == "hlo" and $e.kind == "op"
			then .op = $e.name + "/" + ($e.args.matched_by // "-")
			elif $e.launch != null then .out += [$e.name + " " + .op]
			else . end) | .out[]'
}
is 'by names, and by the order between them' \
	"$(buffer nvjet fusion Memset nvjet nvjet fusion single_7.kd x y last_9)" \
	'nvjet gemm.1/order
fusion fusion/order
Memset gemm.2/order
nvjet gemm.2/order
nvjet gemm.3/order
fusion fusion.1/order
single_7.kd single.7/name
x cb_1/-
y cb_1/-
last_9 last.9/name'
is 'two ways: only what its name tells' \
	"$(buffer nvjet fusion nvjet single_7 last_9)" \
	'nvjet cb_1/-
fusion cb_1/-
nvjet cb_1/-
single_7 single.7/name
last_9 last.9/name'
is 'another order, as of branches: no order tells' \
	"$(buffer last_9 gemm single_7 fusion)" \
	'last_9 last.9/name
gemm cb_1/-
single_7 single.7/name
fusion cb_1/-'
is 'more kernels than instructions: none is guessed' \
	"$(buffer nvjet fusion a b c fusion single_7 last_9)" \
	'nvjet gemm.1/order
fusion fusion/order
a cb_1/-
b cb_1/-
c cb_1/-
fusion fusion.1/order
single_7 single.7/name
last_9 last.9/name'

# ---- steps ----

{
	gpu 0 k 5000 5 1 gemm.1
	gpu 1 k 6000 5 2 gemm.1
	host 10 runtime launch 1000 10 1 1
	host 11 runtime launch 2000 10 1 2
	host 12 annotation train 900 500 1 | sed 's/"args":{/&"_r":1,"step_num":7/'
	host 13 annotation train 1900 300 1 | sed 's/"args":{/&"step_num":8/'
} | trace >in.ndjson
is 'StepTraceAnnotations are steps, with their numbers' \
	"$(tl-steps -c step,what,name,wall_ns,busy_launched_ns --no-header in.ndjson | tr '\t' ' ')" \
	'7 step train 500 5
7 between  500 0
8 step train 300 5'
is 'and can be chosen' \
	"$(tl-filter --step 8 in.ndjson | tl-cat --kind kernel -F id,step --no-header | tr '\t' ' ')" \
	'1 8'

# ---- one launch of several instructions, and none ----

{
	gpu 0 nvjet 5000 50 1 gemm.1
	gpu 1 other 5050 50 1 gemm.1
	gpu 2 fusion_3 5100 50 1 fusion.3
	host 10 runtime cuGraphLaunch 100 30 1 1
} | trace >in.ndjson
is 'below the launch of a graph' \
	"$(rows name,depth,ts,dur,parent,launch,flags)" \
	'jit_train(5)|0|100|30|||synthetic,untimed
jit(train)|1|100|30|0.1||synthetic,untimed
layer_0|2|100|30|0.2||synthetic,untimed
cuGraphLaunch|3|100|30|0.3||
mlp|4|100|20|10||synthetic,untimed
gemm.1|5|100|20|0.4||synthetic,untimed
nvjet|6|5000|50|0.5|10|
other|6|5050|50|0.5|10|
fusion.3|4|120|10|10||synthetic,untimed
fusion_3|5|5100|50|2.4|10|'
if command -v tl-kernels >/dev/null; then
	is 'each is of its op' \
		"$(tl-kernels --by event -c name,op,queue_delay_ns --no-header in.ndjson)" \
		"$(printf 'nvjet\tgemm.1\t4870\nother\tgemm.1\t4920\nfusion_3\tfusion.3\t4970')"
fi
sed '/cuGraph/d' in.ndjson >none && mv none in.ndjson
is 'without a launch: on the track of the device, with its times' \
	"$(rows name,depth,ts,dur,tid,launch,flags)" \
	'jit_train(5)|0|5000|150|16||synthetic,untimed
jit(train)|1|5000|150|16||synthetic,untimed
layer_0|2|5000|150|16||synthetic,untimed
mlp|3|5000|100|16||synthetic,untimed
gemm.1|4|5000|100|16||synthetic,untimed
nvjet|5|5000|50|16||unlinked
other|5|5050|50|16||unlinked
fusion.3|3|5100|50|16||synthetic,untimed
fusion_3|4|5100|50|16||unlinked'
if command -v tl-kernels >/dev/null; then
	is 'no latency is made up' \
		"$(tl-kernels --by event -c name,op,queue_delay_ns --no-header in.ndjson)" \
		"$(printf 'nvjet\tgemm.1\t\nother\tgemm.1\t\nfusion_3\tfusion.3\t')"
fi

if command -v tl-modules >/dev/null; then
	is 'modules have it' \
		"$(tl-modules -c module,gpu_ns,self_ns,kernels --no-header in.ndjson | tr '\t' ' ')" \
		'jit_train(5) 150 0 3
jit(train) 150 0 3
layer_0 150 50 3
mlp 100 100 2'
fi
is 'stacks, too' "$(tl-fold in.ndjson)" \
	'jit_train(5);jit(train);layer_0;fusion.3;fusion_3 50
jit_train(5);jit(train);layer_0;mlp;gemm.1;nvjet 50
jit_train(5);jit(train);layer_0;mlp;gemm.1;other 50'
if command -v tl-roofline >/dev/null; then
	is 'rooflines, too' \
		"$(tl-roofline --arch mi300x -c name,kernel_ns_sum --no-header in.ndjson | tr '\t' ' ')" \
		'gemm.1 100
fusion.3 50'
fi
if command -v tl-graft >/dev/null; then
	is 'nothing makes a launch of an op' \
		"$(tl-graft in.ndjson | tl-cat | grep -c '"launch"')" 0
fi
refuses 5 'the GPU was never idle' 'tl-idle in.ndjson'
refuses 5 'has its launch in the trace' 'tl-launch in.ndjson'

# ---- steps: runs of the module that takes most GPU time ----

on() { # on DEVICE PROGRAM: what stdin has, there and of that
	sed "s/\"program_id\":5/\"program_id\":$2,\"device\":$1/"
}
{
	gpu 0 nvjet 2000 300 1 gemm.1 | on 0 5
	gpu 1 nvjet 2050 300 2 gemm.1 | on 1 5
	gpu 2 copy 3000 10 3 copy.9 | on 0 9
	gpu 3 nvjet 4000 300 4 gemm.1 | on 0 5
	gpu 4 nvjet 4050 300 5 gemm.1 | on 1 5
	gpu 5 nvjet 6000 300 6 gemm.1 | on 0 5
	gpu 6 nvjet 6050 300 7 gemm.1 | on 1 5
	host 20 python loop 900 5000 1
	host 21 op Execute 1000 100 1
	host 22 runtime launch 1050 10 1 1
	host 23 op Execute 1020 200 2
	host 24 runtime launch 1100 10 2 2
	host 25 runtime launch 1500 10 1 3
	host 26 op Execute 2100 100 1
	host 27 runtime launch 2150 10 1 4
	host 28 op Execute 2020 90 2
	host 29 runtime launch 2050 10 2 5
	host 30 op Execute 3000 100 1
	host 31 runtime launch 3050 10 1 6
	host 32 op Execute 3020 200 2
	host 33 runtime launch 3100 10 2 7
} | trace >in.ndjson
is 'the nth runs of all devices are one' \
	"$(tl-tree in.ndjson | tl-cat | jq -c 'select(.kind == "annotation") | [.name, .ts, .dur, .flags, .args.step_num]')" \
	'["jit_train(5)",1000,220,["synthetic","step"],1]
["jit_train(5)",2020,180,["synthetic","step"],2]
["jit_train(5)",3000,220,["synthetic","step","slowest"],3]
["jit_train(9)",1500,10,["synthetic"],1]'
steps() { tl-steps --no-header -c step,name,ts_ns,wall_ns,kernels "$@" in.ndjson | tr '\t' ' '; }
is 'a step lasts up to the next one' "$(steps)" '1 jit_train(5) 1000 1020 3
2 jit_train(5) 2020 980 2
3 jit_train(5) 3000 220 2'
is 'another module by its name' "$(steps --annotation 'jit_train(9)')" '1 jit_train(9) 1500 10 1'
is 'the screen says so' "$(tl-steps --format table in.ndjson | grep -o 'steps are runs of [^,]*')" \
	'steps are runs of jit_train(5)'
is 'all programs know them' \
	"$(tl-timeline --no-header --by step -c step,type,time_ns in.ndjson | grep computation | tr '\t' ' ')" \
	'1 computation_time 20
2 computation_time 330
3 computation_time 10
 computation_time 700'
is 'a run can be chosen' "$(tl-tree in.ndjson | tl-filter --step 1 --kind kernel |
	tl-cat --tsv -F kind,name --no-header | grep ^kernel | sort | uniq -c | tr -s '\t ' ' ')" ' 1 kernel copy
 2 kernel nvjet'
is 'also behind a filter' "$(tl-filter --step 2-3 in.ndjson | tl-steps --no-header -c step,kernels | tr '\t' ' ')" '1 0
2 2
3 2'
tl-tree in.ndjson >tree.tl
is 'a tree made anew has them once' "$(tl-tree --link=auto tree.tl | tl-cat | grep -c step_num)" 4
sed '/"kind":"kernel".*"id":[3-6],/d;/"id":[3-6],.*"kind":"kernel"/d' in.ndjson >once.ndjson
is 'one run is no step' "$(tl-steps --no-header -c what once.ndjson)" whole

{
	gpu 0 nvjet 5000 50 1 gemm.1
	gpu 1 nvjet 905000 50 2 gemm.1
	host 10 op 'PjitFunction(f)' 4000 900000 1
} | trace >in.ndjson
is 'without any call, nothing is blamed on the host' \
	"$(tl-idle -c cause,time_ns --no-header in.ndjson)" "$(printf 'none\t899950')"

done_testing
