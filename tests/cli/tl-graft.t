#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-graft: captures under launches of graphs, each way of pairing, pseudo-ops,
# errors. tests/ref/roofline.t and ops.t compare real ones with the reference's
# tables.
. tests/cli/lib.sh
command -v tl-ops >/dev/null ||
	skip_all 'tl-ops, which shows what was grafted, was not built'

# replay [STREAM...]: a step with one launch of a graph, which runs a, b, c and
# a fill, each on the given GPU stream
replay() {
	ev user_annotation 'step[DECODE bs=3]' 1 0 1000
	ev cpu_op outer 1 5 100
	ev cuda_runtime hipGraphLaunch 1 10 50 '"correlation":7'
	at=100
	for k in ${KERNELS:-a b c}; do
		ev kernel "$k" 7 $at 10 "\"device\":0,\"stream\":${1:-7},\"correlation\":7"
		at=$((at + 20))
		[ $# -gt 1 ] && shift
	done
	ev gpu_memset 'Memset (Device)' 7 $at 5 "\"device\":0,\"stream\":${1:-7},\"correlation\":7"
}
# launch NAME TS [KERNEL]
launch() {
	ev cuda_runtime "$1" 1 "$2" 5 "\"correlation\":$2${3:+,\"kernel\":\"$3\"}"
}
# capture [KERNEL...]: an op each, in a module; and a fill
capture() {
	ev python_function 'run.py(1): main' 1 0 3000
	launch hipStreamBeginCapture 10
	ev python_function 'nn.Module: Net_0' 1 20 900
	at=30
	for k; do
		ev cpu_op "op::$k" 1 $at 40 '"Input Dims":[[3,8],[5]]'
		launch hipLaunchKernel $((at + 10)) "$k"
		at=$((at + 50))
	done
	ev python_function 'idle.py(2): f' 1 $at 5
	launch hipMemsetAsync $((at + 10))
	launch hipStreamEndCapture 1000
}
replay | trace >replay.json
capture a b c | trace >capture.json

# grafted ARGUMENT...: GPU work with its op and module
grafted() {
	tl-graft "$@" 2>/dev/null | tl-cat -F kind,name,op,module --no-header |
		sed -n 's/^\(kernel\|memset\)\t//p' | tr '\t' ' '
}
want='a op::a Net_0
b op::b Net_0
c op::c Net_0
Memset (Device) outer Net_0'
is 'kernels under the ops of the capture' "$(grafted --capture capture.json replay.json)" "$want"
is 'their time is as before' "$(tl-graft --capture capture.json replay.json | tl-timeline)" \
	"$(tl-timeline replay.json)"

# ---- what is written ----
tl-graft --capture capture.json replay.json >g.tl
is 'and so is why the GPU waited: what is grafted has no time' \
	"$(tl-idle -c cause,time_ns g.tl)" "$(tl-idle -c cause,time_ns replay.json)"
tl-cat g.tl >g.ndjson
is 'uids, marks and where it came from' \
	"$(grep '"name":"op::a"' g.ndjson | grep -o '"id":[^,]*,"inst":[^,]*\|"flags":[^]]*\]\|"capture [^,}]*' | tr '\n' ' ')" \
	'"id":2,"inst":2 "flags":["synthetic","untimed"] "capture uid":3 "capture dur (ns)":40000 '
like 'the header says so' "$(head -n 1 g.ndjson)" '"marks":\["linked","tree","synthetic"\]'
tl-cat g.ndjson >back.tl
is 'NDJSON and back' "$(tl-cat back.tl | sed 1d)" "$(sed 1d g.ndjson)"
is 'each lies in what is above it, and they come in order' "$(python3 - g.ndjson <<'END'
import json, sys
up, bad, last = {}, 0, {}
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e.get("kind") in ("op", "runtime", "python") and "depth" in e:
        up[e["depth"]] = e
        for d in range(e["depth"]):
            a = up[d]
            bad += not (a["ts"] <= e["ts"] and e["ts"] + e["dur"] <= a["ts"] + a["dur"]
                        and e["ts"] < a["ts"] + a["dur"])
        if "untimed" in e.get("flags", []):
            bad += e["ts"] < last.get("ts", 0)
            last = e
print(bad)
END
)" 0
is 'only what led to a launch' "$(tl-cat -F name --no-header g.tl | grep -c idle.py)" 0
is '--full-stack: all of it' \
	"$(tl-graft --full-stack --capture capture.json replay.json | tl-cat -F name --no-header | grep -c idle.py)" 1
is 'ops have no time on the host' \
	"$(tl-ops --clock cpu -c name,cpu_total_ns --no-header g.tl | tr '\t' ' ')" 'outer 100000
op::a 0
op::b 0
op::c 0'
is 'queue delays count from the graph' \
	"$(tl-kernels --by event -c name,queue_delay_ns --no-header g.tl 2>/dev/null | head -n 1)" \
	"$(tl-kernels --by event -c name,queue_delay_ns --no-header replay.json 2>/dev/null | head -n 1)"

# ---- ways of pairing ----
how() { # how REPLAY CAPTURE: the way that was found
	tl-graft -v --capture "$2" "$1" 2>&1 >/dev/null | sed -n 's/.*json: //p'
}
is 'in order' "$(how replay.json capture.json)" 'in order'
capture c a b | trace >order.json
is 'by name' "$(how replay.json order.json)" 'by name'
is 'by name: a copy has no name' "$(grafted --capture order.json replay.json | sort)" "$(echo "$want" | sort)"
capture a x b c | trace >more.json
is 'in order, with more' "$(how replay.json more.json)" 'in order'
is 'in order: what is between is dropped' "$(grafted --capture more.json replay.json)" "$want"
replay 7 8 7 8 | trace >streams.json
is 'stream by stream' "$(how streams.json more.json)" 'stream by stream'
is 'stream by stream: owners' "$(grafted --capture more.json streams.json)" "$want"
capture a b | trace >fewer.json
refuses 3 'its kernels are not those captured' 'tl-graft --capture fewer.json replay.json >o.tl'
is '--min-match: the longest common sequence' \
	"$(grafted --min-match 70 --capture fewer.json replay.json)" 'c outer 
a op::a Net_0
b op::b Net_0
Memset (Device) outer Net_0'
capture a b x | trace >other.json
refuses 3 'launch 2: nothing is grafted: its kernels' 'tl-graft --capture other.json replay.json >o.tl'
is 'what is refused stays' "$(tl-ops -c name --no-header o.tl)" outer

# ---- folders ----
mkdir -p caps list bad
cp capture.json caps/b.json
sed 's/\[3,8\]/[2,8]/g' capture.json | sed 's/op::/small::/g' >caps/a.json
is 'a folder: the smallest size that is enough' "$(grafted --capture caps replay.json)" "$want"
sed 's/bs=3/bs=2/' replay.json >two.json
is 'another size' "$(grafted --capture caps two.json | head -n 1)" 'a small::a Net_0'
sed 's/bs=3/bs=4/' replay.json >four.json
refuses 3 'no capture has its batch size or more' 'tl-graft --capture caps four.json >o.tl'
cp capture.json caps/*.json list
printf '[{"file":"a.json","batch_size":8,"mode":"FULL","x":[1,{}]},{"file":"gone.json","batch_size":3,"mode":"FULL"},{"file":"../capture.json","batch_size":3}]\n' \
	>list/execution_details.json
run 'tl-graft --capture list four.json | tl-ops -c name --no-header'
is 'a list: sizes as it says' "$(head -n 2 "$log/out" | tr '\n' ' ')" 'small::a small::b '
like 'a list: files that are not there' "$(cat "$log/err")" 'gone.json is missing'
like 'a list: files of other folders' "$(cat "$log/err")" 'names no file of this folder'
echo '[{"file":1' >bad/execution_details.json
refuses 1 'execution_details.json: expected a list' 'tl-graft --capture bad replay.json >o.tl'
echo '{}' >bad/execution_details.json
refuses 1 'expected a list of objects' 'tl-graft --capture bad replay.json >o.tl'
rm bad/execution_details.json
refuses 1 'no trace or stream in this folder' 'tl-graft --capture bad replay.json >o.tl'
refuses 1 'nosuch: No such file' 'tl-graft --capture nosuch replay.json >o.tl'

# ---- steps ----
for name in 'execute_9_context_1(sq1sk7sqsq2sqsk3)_generation_2(sq2sk6sqsq2sqsk6)' \
	'execute_context_1(1)_generation_2(2)' 'step[MIXED bs=2 toks=3]' \
	'step[DECODE bs=9 c_sq=1 g_sq=2 sqsq=4]' 'decode[bs=2/4 tok=3 d=2]' \
	'execute_diffusion_3_16x16'; do
	sed "s|step.DECODE bs=3.|$name|" replay.json >named.json
	is "batch of $name" "$(grafted --capture caps named.json | head -n 1)" 'a op::a Net_0'
done
grep -v user_annotation replay.json >nostep.json
is 'without steps: one capture is for all' "$(grafted --capture capture.json nostep.json)" "$want"
refuses 3 'more than one capture' 'tl-graft --capture caps nostep.json >o.tl'
sed 's/"dur":50,/"dur":0.001,/' replay.json >short.json
refuses 3 'it lasted fewer ns than ops were captured' 'tl-graft --capture capture.json short.json >o.tl'
grep -v hipGraphLaunch replay.json | sed 's/"name":"[abc]"/"name":"k"/' >nograph.json
refuses 1 'nosuch: No such file' 'tl-graft --capture nosuch nograph.json >o.tl'
refuses 2 "'--full-stack' needs --capture" 'tl-graft --full-stack replay.json >o.tl'
refuses 2 "'--min-match' needs --capture" 'tl-graft --min-match 90 replay.json >o.tl'
refuses 2 'standard input' 'tl-graft --capture - <replay.json >o.tl'
is 'a capture from standard input' \
	"$(tl-graft --capture - replay.json <capture.json | tl-cat | grep -v '^{"tl"')" \
	"$(tl-graft --capture capture.json replay.json | tl-cat | grep -v '^{"tl"')"
refuses 3 'no graph launches in this trace' 'tl-graft --capture capture.json nograph.json >o.tl'

# ---- pseudo-ops ----
expert() { # expert TS KERNEL: a launch and what it launched
	ev cuda_runtime hipLaunchKernel 1 "$1" 5 "\"correlation\":$1"
	ev kernel "$2" 7 $((1000 + $1)) 5 "\"device\":0,\"stream\":7,\"correlation\":$1"
}
{
	ev cpu_op vllm::moe_forward 1 0 500 '"Input Dims":[[4,8]],"Sequence number":9'
	ev cpu_op TopK 1 10 20 '"Input Dims":[[4,8],[]],"Concrete Inputs":["","2"]'
	expert 15 topk
	expert 100 matmul_ogs_1_swiglu
	expert 200 matmul_ogs_2
	expert 300 finalize_matmul_scatter
	ev cpu_op sglang_profiler::thing_12 1 600 50
	expert 610 k
} | trace >moe.json
is 'pseudo-ops' "$(tl-graft moe.json | tl-ops --sort name -c name,count --no-header | tr '\t' ' ')" \
	'TopK 1
pseudo_op::moe_triton_unfused_down 1
pseudo_op::moe_triton_unfused_finalize_matmul_scatter 1
pseudo_op::moe_triton_unfused_up 1
sglang_profiler::thing 1'
is 'their arguments' "$(tl-graft moe.json | tl-cat | grep '"pseudo_op::moe_triton_unfused_up"' | grep -o '"args":.*')" \
	'"args":{"Input Dims":[[4,8]],"Sequence number":9,"Pseudo op":true,"External id":100,"MoE GEMM type":"up","MoE GEMM index":0,"MoE GEMM gated":true,"MoE topk":2}}'
is 'their uids: the number of the launch and a small one of their own' \
	"$(tl-graft moe.json | tl-cat -F id,inst,name --no-header | grep pseudo_op | tr '\t\n' ' .')" \
	"$(tl-graft moe.json | tl-cat -F id,name --no-header | awk '$2 ~ /^pseudo_op/ { sub(/ .*/, "", $1); print $1 " 1 " $2 }' | tr '\n' '.')"
is 'twice is once' "$(tl-graft moe.json | tl-roofline --pseudo-ops -c name --no-header | sort | uniq -d)" ''
is 'sums stay' "$(tl-graft moe.json | tl-kernels --by name)" "$(tl-kernels --by name moe.json)"
is 'a trace without any goes through as it is' \
	"$(tl-graft "$ROOT/tests/data/sample.json.gz" | tl-cat | sed '1d;$d' | cksum)" \
	"$(tl-tree "$ROOT/tests/data/sample.json.gz" | tl-cat | sed '1d;$d' | cksum)"
is 'both at once' "$(tl-graft --pseudo-ops --capture capture.json replay.json | tl-cat | sed 1d | cksum)" \
	"$(tl-cat g.tl | sed 1d | cksum)"

# the other built-in rules, in sequence on a thread
frame() { ev python_function "$1" 1 "$2" "$3"; }
five='"Input Dims":[[4,8],[8,8],[8],[1],[4,6]]'
{
	ev cpu_op vllm::moe_forward 1 0 90
	ev cpu_op vllm::rocm_aiter_fused_moe 1 1 80 "$five,\"Sequence number\":7"
	expert 5 aiter::MoeSortingKernel
	expert 15 'void aiter::fmoe_g1u1'
	expert 25 aiter::fmoe_quant
	ev cpu_op vllm::outplace_fused_experts 1 100 90 "$five"
	expert 105 fused_moe_kernel_gptq_awq
	expert 115 other
	expert 125 fused_moe_kernel_gptq_awq
	ev cpu_op aiter::fused_moe_ 1 200 90 "$five"
	frame 'x/y.py(3): flydsl_moe_stage1' 201 20
	expert 205 s1
	frame 'x/y.py(9): flydsl_moe_stage2' 241 20
	expert 245 s2
	frame 'aiter/mla.py(12): mla_decode_fwd' 300 90
	ev cpu_op aiter::mla_decode_stage1_asm_fwd 1 301 20 "$five"
	expert 305 m1
	expert 345 m2
	frame 'z.py(5): mla_fp8_prefill_attn' 400 90
	ev cpu_op aiter::mla_prefill_ps_asm_fwd 1 401 20 "$five"
	expert 405 f1
	ev cpu_op aiter::v4_attention_with_output 1 500 90 "$five"
	expert 505 qk_norm_rope_H32_D512_RD64_flydsl
	frame 'q/paged_decode.py(7): sparse_attn_v4_paged_decode' 520 50
	expert 525 hca_x
} | trace >rules.json
is 'all rules' "$(tl-kernels --pseudo-ops --by event -c name,op --no-header rules.json | tr '\t' ' ')" \
	'aiter::MoeSortingKernel vllm::rocm_aiter_fused_moe
void aiter::fmoe_g1u1 pseudo_op::moe_aiter_fused_1stage
aiter::fmoe_quant vllm::rocm_aiter_fused_moe
fused_moe_kernel_gptq_awq pseudo_op::moe_gptq_awq_up
other vllm::outplace_fused_experts
fused_moe_kernel_gptq_awq pseudo_op::moe_gptq_awq_down
s1 pseudo_op::moe_flydsl_stage1
s2 pseudo_op::moe_flydsl_stage2
m1 aiter::mla_decode_stage1_asm_fwd
m2 pseudo_mla_decode_fwd
f1 aiter::mla_prefill_ps_asm_fwd
qk_norm_rope_H32_D512_RD64_flydsl aiter::v4_attention_with_output
hca_x pseudo_v4_paged_decode_hca'
is 'what they tell their models' \
	"$(tl-graft --pseudo-ops rules.json | tl-cat | sed -n 's/.*"name":"\(pseudo_[^"]*\)".*"Sequence number":\([^}]*\)}.*/\1 \2/p' | tr -d '"')" \
	'pseudo_op::moe_aiter_fused_1stage 7,Pseudo op:true,External id:15
pseudo_op::moe_gptq_awq_up 8,Pseudo op:true,External id:105,MoE GEMM type:up,MoE GEMM index:0,MoE GEMM gated:true,MoE topk:6
pseudo_op::moe_gptq_awq_down 8,Pseudo op:true,External id:125,MoE GEMM type:down,MoE GEMM index:1,MoE GEMM gated:false,MoE topk:6
pseudo_op::moe_flydsl_stage1 15,Pseudo op:true,MoE flydsl stage:1
pseudo_op::moe_flydsl_stage2 15,Pseudo op:true,MoE flydsl stage:2
pseudo_mla_decode_fwd 22,Pseudo op:true
pseudo_mla_prefill_fwd 28,Pseudo op:true
pseudo_v4_paged_decode_hca 35,Pseudo op:true,v4_mode:hca,v4_call_index:0,v4_tp:1,v4_H_Q:32,v4_d_h:512'

# ---- added events have names, which tables print and options take ----
uid=$(tl-ops --by args -c name,first_uid --no-header g.tl | sed -n 's/^op::b\t//p')
like 'of a copy' "$uid" '^2\.[0-9]+$'
like 'a column with such names is of texts' \
	"$(tl-ops --by args -c first_uid --format ndjson g.tl | head -n 1)" '"type":"text"'
like 'and else of numbers' \
	"$(tl-ops --by args -c first_uid --format ndjson replay.json | head -n 1)" '"type":"int"'
is 'tl-cat takes it' "$(tl-cat --id "$uid" -F name --no-header g.tl)" op::b
is 'tl-tree, too' "$(tl-tree --stack "$uid" g.tl | head -n 1)" op::b
module=$(tl-modules -c uid --no-header g.tl | head -n 1)
is 'tl-modules' "$(tl-modules --root "0:$module" -c module --no-header g.tl)" Net_0
if command -v tl-roofline >/dev/null; then
	uid=$(tl-roofline --pseudo-ops -c name,first_uid --no-header moe.json |
		sed -n 's/^pseudo_op::moe_triton_unfused_up\t//p')
	is 'tl-roofline' "$(tl-roofline --pseudo-ops --explain "$uid" moe.json |
		sed -n 's/^op  *//p')" pseudo_op::moe_triton_unfused_up
fi

# ---- a user's rules ----
{
	ev cpu_op my::mlp_3 1 0 500 '"Input Dims":[[4,8],[8,2]],"Input type":["float","float"]'
	expert 100 my_gemm
	expert 200 my_gemm
	expert 300 other
} | trace >mlp.json
cat >mlp.lua <<'END'
op {
  names = { "my::product" }, category = "GEMM", sheet = "GEMM", unit = "matrix", prec = 0,
  reads = { "which" },
  eval = function (_ENV)
    which = argument("which")
    return 2 * dim(0, 0) * dim(0, 1) * dim(1, 1), 0
  end,
}
pseudo {
  ops = { "my::mlp*" },
  make = function (e, nth)
    assert(e == e:inside(e.name) and e.kind == "op" and not e.parent and nth == 0)
    assert(e:first("kernel", "other").parent.parent == e)
    for i, k in ipairs(e:below("kernel", "my_gemm")) do
      k:wrap_launch { name = "my::product", from = e, args = { { "which", i } } }
    end
    e:set("seen", true)
    e:rename("my::mlp")
  end,
}
END
tl-graft --models mlp.lua mlp.json | tl-cat >mlp.ndjson
is 'a rule of --models: its ops' "$(grep -o '"name":"my::[a-z]*"\|"which":[0-9]*\|"seen":true' mlp.ndjson | tr '\n' ' ')" \
	'"name":"my::mlp" "seen":true "name":"my::product" "which":1 "name":"my::product" "which":2 '
if command -v tl-roofline >/dev/null; then
	is 'tl-roofline hands its --models on' \
		"$(tl-roofline --models mlp.lua --pseudo-ops --table GEMM -c name,param_which,input_dims --no-header mlp.json | tr '\t' ' ')" \
		'my::product 1 [[4,8],[8,2]]
my::product 2 [[4,8],[8,2]]'
fi
# rule TEXT: its make, for the op; the output is the same as without it
rule() {
	printf 'pseudo { ops = { "my::mlp_3" }, make = function (e) %s end }\n' "$1" >rule.lua
	tl-graft --models rule.lua mlp.json 2>err | tl-cat | sed 1d
}
plain=$(tl-graft mlp.json | tl-cat | sed 1d)
is 'one that fails does nothing' "$(rule 'e:rename("x") fail("why")')" "$plain"
like 'and is counted' "$(cat err)" 'failed on 1 event, first: rule.lua:1: why'
refuses 3 'from --models' 'tl-graft --models rule.lua mlp.json >o.tl'
is 'one that loops' "$(rule 'while true do end')" "$plain"
is 'one that wants a file' "$(rule 'io.open("x")')" "$plain"
is 'an op without a name' "$(rule 'e:wrap {}')" "$plain"
like 'is told' "$(cat err)" 'rule.lua:1: a pseudo-op without a name'
is 'a word that is none' "$(rule 'e:wrap { name = "a", shapes = {} }')" "$plain"
is 'another kind' "$(rule 'e:below("nokind")')" "$plain"
like 'is told' "$(cat err)" 'there is no kind nokind'
is 'above, and around what is below' "$(rule 'e:wrap { name = "a" } e:wrap_children { name = "b" }' |
	grep -o '"name":"[^"]*"' | head -n 5 | tr '\n' ' ')" \
	'"name":"mlp.json" "name":"a" "name":"my::mlp_3" "name":"b" "name":"hipLaunchKernel" '
is 'shapes of its own' "$(rule 'e:wrap { name = "a", dims = { { 1, 2 }, {} }, types = { "x", "" } }' |
	grep -o '"Input Dims":\[\[1.*"Input type":\["x"[^]]*')" '"Input Dims":[[1,2],[]],"Input type":["x",""'
is 'unless another op is there' "$(
	printf 'pseudo { ops = { "my::mlp_3" }, unless = { "my::mlp_3" }, make = function (e) e:rename("x") end }\n' >off.lua
	tl-graft --models off.lua mlp.json | tl-cat | sed 1d)" "$plain"
printf '\npseudo { ops = { "a" } }\n' >bad.lua
refuses 1 'bad.lua:2: a pseudo without make' 'tl-graft --models bad.lua mlp.json >o.tl'
printf '\npseudo { make = function () end }\n' >bad.lua
refuses 1 'bad.lua:2: a pseudo without ops or frames' 'tl-graft --models bad.lua mlp.json >o.tl'
refuses 2 'needs --pseudo-ops' 'tl-graft --capture capture.json --models mlp.lua replay.json >o.tl'

# ---- two sources ----
tl-cat replay.json replay.json >both.tl
is 'each source by itself' "$(grafted --capture capture.json both.tl)" "$want
$want"

# ---- what goes wrong ----
refuses 2 'takes one input' 'tl-graft a b'
refuses 2 'min-match' 'tl-graft --min-match 101 replay.json'
refuses 1 'cut off' 'head -c 700 g.tl | tl-graft >o.tl'
refuses 1 'No space left' 'tl-graft replay.json >/dev/full'
refuses 1 'events were removed' 'tl-filter --flat --kind kernel g.tl | tl-graft >o.tl'
quiet 'a reader may leave' 'tl-graft moe.json | head -c 1'
cat >nameless.ndjson <<'END'
{"tl":1,"marks":["tree"],"prov":[]}
{"source":{"src":0,"final":true,"facts":{}}}
{"id":1,"src":0,"kind":"op","pid":1,"tid":1,"ts":0,"dur":1}
{"end":{"events":1,"sources":1,"marks":["tree"]}}
END
is 'an op without a name' "$(tl-graft --pseudo-ops nameless.ndjson | tl-cat | grep '^{"id"')" \
	'{"id":1,"src":0,"kind":"op","ts":0,"dur":1,"pid":1,"tid":1}'

page_examples tl-graft.1
done_testing
