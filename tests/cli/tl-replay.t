#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-replay: which ops, contents of a script, hostile names, bad input.
. tests/cli/lib.sh

command -v tl-replay >/dev/null || skip_all 'not built'

cat >make.py <<'END_PY'
"""make.py: a trace of one op for each kind of argument."""
import json
import sys

events, at = [], 0


def op(name, dims, types, values, strides=None, kernel="k", dur=10, **more):
    """An op on the host that launches a kernel of so many us."""
    global at
    at += 100
    args = dict(more)
    if dims is not None:
        args.update({"Input Dims": dims, "Input type": types,
                     "Concrete Inputs": values})
        if strides is not None:
            args["Input Strides"] = strides
    events.append(dict(ph="X", cat="cpu_op", name=name, pid=1, tid=1, ts=at,
                       dur=50, args=args))
    events.append(dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel",
                       pid=1, tid=1, ts=at + 1, dur=1,
                       args={"correlation": at}))
    events.append(dict(ph="X", cat="kernel", name=kernel, pid=0, tid=7,
                       ts=at + 20, dur=dur,
                       args={"correlation": at, "device": 0, "stream": 7}))


H = "c10::Half"
SCALAR = "Scalar"
mm = ([[2, 3], [3, 4]], [H, H], ["", ""], [[3, 1], [1, 3]])
op("aten::mm", *mm, kernel="gemm", dur=40)
op("aten::mm", *mm, kernel="gemm", dur=20)
op("aten::mm", *mm, kernel="splitk", dur=30)
# a stride of 0; a scalar that stays an integer
op("aten::add", [[4, 3], [4, 3], []], ["long int", "long int", SCALAR],
   ["", "", "2"], [[3, 1], [0, 1], []])
# a list of tensors, whose type the op does not say, but the kernel
op("aten::cat", [[[1, 5], [2, 5]], []], ["TensorList", SCALAR], ["", "0"],
   [[[5, 1], [5, 1]], []], kernel="CatArray<c10::BFloat16>")
op("aten::cat", [[], []], ["TensorList", SCALAR], ["", "0"], [[], []])
op("my::convert", [[8], [], [], [], [], [], []],
   ["float", SCALAR, SCALAR, "", SCALAR, SCALAR, SCALAR],
   ["", "5", "0", "", "False", "False", "2"],
   [[1], [], [], [], [], [], []])
op("aten::clamp", [[8], [], []], ["float", SCALAR, SCALAR],
   ["", "-inf", "1e-05"], [[1], [], []])
op("my::thing", [[8], [], [], []], ["float", SCALAR, "ScalarList", ""],
   ["", "True", "[1, -2]", ""], [[1], [], [], []])
op("aten::relu", None, None, None)
op("aten::relu", [[4, 4]], ["float"], [""])
op("aten::huge_", [[9223372036854775807, 9]], ["float"], [""])
op("aten::odd_", [[4, "x"]], ["float"], [""])
op("a label", [[4]], ["float"], [""])
op("triton_poi_0", [[64], []], ["float", SCALAR], ["", "64"], [[1], []],
   kernel_file="/tmp/k.py", kernel_kwargs="XBLOCK=1", num_warps=4)
hostile = '"""\n\'\'\'); import os; os.abort() #\\ {x} \u2028'
op("evil::" + hostile, [[4]], [hostile], [hostile], kernel=hostile)
op("evil::f", [[4], []], ["float", ""], ["", hostile], kernel=hostile)
op("my::back", [[8], []], ["float", ""], ["", ""], [[1], []])
json.dump({"deviceProperties": [{"id": 0, "name": hostile}],
           "traceEvents": events}, open(sys.argv[1], "w"))
END_PY
python3 make.py t.json

# value PROGRAM: of the IR, whose ops by name are in o
cat >look.py <<'END_PY'
import json
import sys

ir = json.load(open(sys.argv[1]))
o = {}
for op in ir["ops"]:
    o.setdefault(op["op_name"], op)


def v(name, at, kind="list_pos_args"):
    return o[name]["replay_ir"][kind][at]["value"]


print(eval(sys.argv[2]))
END_PY
echo 'my::convert(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor
my::back(Tensor grad, Tensor offsets) -> Tensor' >my.txt
tl-replay --schema my.txt --top 0 --ir t.ir t.json 2>err
look() { python3 look.py t.ir "$1"; }

# ---- which ops ----

row() { tl-replay --format tsv --no-header "$@" t.json | tr '\t' ' '; }
is 'calls are one op: 90 us of 240 us, 30 us each' \
	"$(row --top 1 -c name,count,gpu_ns_sum,gpu_ns_mean,pct_of_gpu,overload)" \
	'aten::mm 3 90000 30000.0 37.5 default'
is 'the ten of the most time' "$(row -c name | wc -l | tr -d ' ')" 10
is 'all' "$(row --top 0 -c name | wc -l | tr -d ' ')" 16
is 'by name' "$(row --name 'aten::c*' -c name,reason)" 'aten::cat 
aten::cat argument tensors: the tensors of its list are not recorded
aten::clamp '
is 'by the event of the second call, or of its kernel' \
	"$(row --uid 3 -c name,count; row --uid 0:5 -c name,count)" 'aten::mm 3
aten::mm 3'
is 'by rows with a uid' "$(tl-kernels --by event --name splitk t.json |
	tl-replay --from - --format tsv --no-header -c name,count t.json)" 'aten::mm	3'
printf 'name,Input Dims\naten::mm,"((2, 3), (3, 4))"\nmy::thing,"((8,), (), (), ())"\n' >rows.csv
is 'by rows as TraceLens writes them' "$(row --from rows.csv -c name)" 'aten::mm
my::thing'
is 'a time is a time' "$(row --from 1000us -c name --top 0 | wc -l | tr -d ' ')" 8
reports 5 no-replay 'tl-replay --uid 1 t.json'
reports 3 not-found 'tl-replay --uid 3 --uid 999 -c name t.json'
is 'rows without an op' "$(printf 'name,Input Dims\naten::mm,"((2, 3), (3, 4))"\nno,()\n' |
	tl-replay --from - -c name --no-header t.json 2>&1 | cut -d ' ' -f 2-)" \
	't.json: 1 of 2 uids or rows matches no op that launched GPU work
aten::mm'
reports 5 no-replay "echo uid | tl-replay --from - t.json"
{
	ev cpu_op aten::index 1 100 80 '"Input Dims":[[8,4],[[3],[3]]],"Input type":["float","TensorList"],"Concrete Inputs":["",""]'
	ev cuda_runtime cudaLaunchKernel 1 101 1 '"correlation":1'
	ev kernel k 7 130 5 '"device":0,"stream":7,"correlation":1'
} | trace >index.json
is 'indices of every dimension' "$(tl-replay --ir - index.json | grep -o '"dtype":"long int"[^}]*')" \
	'"dtype":"long int","strides":[1],"storage_elems":3,"init":"randint","low":0,"high":4
"dtype":"long int","strides":[1],"storage_elems":3,"init":"randint","low":0,"high":4'

# an op that launches through another, which has another counted call
{
	for at in 100 200; do
		[ $at = 200 ] || ev cpu_op aten::convolution 1 $at 80 '"Input Dims":[[9]],"Input type":["float"]'
		ev cpu_op aten::cudnn_convolution 1 $((at + 1)) 70 '"Input Dims":[[9]],"Input type":["float"]'
		ev cuda_runtime cudaLaunchKernel 1 $((at + 2)) 1 "\"correlation\":$at"
		ev kernel k 7 $((at + 30)) 5 "\"device\":0,\"stream\":7,\"correlation\":$at"
	done
	ev cpu_op aten::relu 1 300 20 '"Input Dims":[[9]],"Input type":["float"]'
	ev cuda_runtime cudaLaunchKernel 1 301 1 '"correlation":300'
	ev kernel k 7 330 5 '"device":0,"stream":7,"correlation":300'
} | trace >below.json
below() { tl-replay --format tsv --no-header -c name,count "$@" below.json 2>&1 | tr '\t' ' '; }
is 'ops below one that launches through them' "$(below --uid 0)" 'aten::cudnn_convolution 2'
printf 'name,input_dims\naten::convolution,[[9]]\n' >conv.csv
is 'and below that of a row' "$(below --from conv.csv)" 'aten::cudnn_convolution 2'
refuses 1 'no column uid' 'tl-timeline t.json | tl-replay --from - t.json'
refuses 2 'needs --annotation' 'tl-replay --segment t.json'

# ---- contents of a script ----

is 'time of a call and of its kernels' "$(look '[o["aten::mm"][k] for k in
	("count", "profile_us", "uid", "kernels")]')" \
	"[3, 30.0, '0', [{'name': 'gemm', 'us': 20.0, 'calls': 0.6666666666666666}, {'name': 'splitk', 'us': 10.0, 'calls': 0.3333333333333333}]]"
is 'a tensor that is a view' "$(look 'v("aten::mm", 1)')" \
	"{'shape': [3, 4], 'dtype': 'c10::Half', 'strides': [1, 3], 'storage_elems': 12, 'init': 'normal'}"
is 'one that is expanded' "$(look 'v("aten::add", 1)["strides"], v("aten::add", 1)["storage_elems"]')" '([0, 1], 3)'
is 'an integer stays one' "$(look 'o["aten::add"]["replay_ir"]["list_kwargs"]')" \
	"[{'arg_name': 'alpha', 'arg_type': 'Scalar', 'value': 2}]"
is 'a list of tensors' "$(look '[[t[k] for k in ("shape", "dtype")] for t in v("aten::cat", 0)["list"]]')" \
	"[[[1, 5], 'c10::BFloat16'], [[2, 5], 'c10::BFloat16']]"
is 'words of PyTorch, a schema of the user' "$(look '[a["value"] for a in o["my::convert"]["replay_ir"]["list_kwargs"]]')" \
	"[{'dtype': 'float16'}, {'layout': 'strided'}, {'device': 'target'}, False, False, {'memory_format': 'channels_last'}]"
is 'reals' "$(look 'v("aten::clamp", 1), v("aten::clamp", 2)')" "({'float': '-inf'}, 1e-05)"
is 'without a schema' "$(look 'o["my::thing"]["overload"], v("my::thing", 1), v("my::thing", 2), v("my::thing", 3)')" \
	'(None, True, [1, -2], None)'
is 'an undefined tensor' "$(look 'v("my::back", 1)')" None
is 'strides that were not recorded' "$(tl-replay --top 0 --ir - t.json 2>err |
	grep -c '"shape":\[4,4\],"dtype":"float","strides":\[4,1\],"storage_elems":16')" 1
is 'a kernel of inductor' "$(look 'o["triton_poi_0"]["triton"]')" \
	"{'kernel_file': '/tmp/k.py', 'kernel_kwargs': 'XBLOCK=1', 'num_warps': 4}"
is 'what is missing' "$(row --top 0 -c name,reason | grep -v evil | grep -e huge -e odd -e label -e 'relu n' | sort)" \
	'a label not a PyTorch op: a label or an extension function
aten::huge_ argument 0: its sizes overflow
aten::odd_ its argument lists disagree
aten::relu no recorded shapes: record with record_shapes=True'

# The reference's form, with its reals.
tl-replay --name aten::add --ir-v1 - t.json >v1 2>err
is 'as TraceLens writes it' "$(python3 -c 'import json
ops = json.load(open("v1"))
assert open("v1").read().startswith("[\n    {\n        \"op_name\": \"aten::add\",")
print([a["value"] for a in ops[0]["replay_ir"]["list_kwargs"]],
	ops[0]["replay_ir"]["list_pos_args"][0]["value"])')" \
	"[2.0] {'shape': [4, 3], 'dtype': 'long int', 'strides': [3, 1], 'init': 'normal'}"

# ---- scripts: nothing in a trace becomes code ----

reports 3 not-replayed 'tl-replay --schema my.txt --top 0 --script s.py --zip z.zip t.json'
cat >check.py <<'END_PY'
"""The script compiles; its IR is a literal and that of --ir."""
import ast
import json
import zipfile

text = open("s.py", encoding="utf-8").read()
tree = ast.parse(text)
ir = [n.value for n in tree.body
      if isinstance(n, ast.Assign) and n.targets[0].id == "IR"]
assert len(ir) == 1 and isinstance(ir[0], ast.Constant)
assert json.loads(ir[0].value) == json.load(open("t.ir"))
assert text.count("os.abort") == text.count("; os.abort() #") > 3
# without the IR it is the program's own, whatever the trace
mine = "\n".join(text.split("\n")[ir[0].end_lineno + 1:])
assert "abort" not in mine
z = zipfile.ZipFile("z.zip")
assert sorted(z.namelist()) == ["README.txt", "ops.json", "replay.py"]
assert z.read("replay.py").decode() == text
assert json.loads(z.read("ops.json")) == json.load(open("t.ir"))
END_PY
ok 'names in a trace stay in literals' python3 check.py
cp z.zip first.zip
tl-replay --schema my.txt --top 0 --zip z.zip t.json 2>err
same 'the same bytes again' first.zip z.zip
refuses 2 "'--zip' needs a file" 'tl-replay --zip - t.json'
refuses 1 'No space left' 'tl-replay --ir /dev/full t.json'

# ---- segments ----

{
	meta process_name 1 0 name python
	ev user_annotation part 1 0 500
	for at in 10 110 210; do
		ev cpu_op "aten::$([ $at = 110 ] && echo mm || echo relu)" 1 $at 20 \
			"\"Input Dims\":$([ $at = 110 ] && echo '[[2,2],[2,2]]' || echo '[[2]]'),\"Input type\":$([ $at = 110 ] && echo '["float","float"]' || echo '["float"]')"
		ev cuda_runtime cudaLaunchKernel 1 $((at + 1)) 1 "\"correlation\":$at"
		ev kernel k 7 $((at + 30)) 5 "\"device\":0,\"stream\":7,\"correlation\":$at"
	done
} | trace >segment.json
is 'ops in their order' "$(tl-replay --segment --annotation part --ir - segment.json |
	python3 -c 'import json, sys
ir = json.load(sys.stdin)
s = ir["segment"]
print(s["name"], [ir["ops"][i]["op_name"] for i in s["order"]])')" \
	"part ['aten::relu', 'aten::mm', 'aten::relu']"

# ---- paged attention: all sequences are as long as the longest ----
{
	ev cpu_op _vllm_fa2_C::varlen_fwd 1 100 80 '"Input Dims":[[6,8,64],[90,16,2,64],[90,16,2,64],[6,8,64],[4],[],[3],[],[3,4],[],[],[],[],[],[],[],[],[],[],[],[]],"Input type":["c10::Half","c10::Half","c10::Half","c10::Half","int","","int","","int","","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar",""],"Concrete Inputs":["","","","","","","","","","","2","57","0.","0.125","False","True","-1","-1","0.","False",""]'
	ev cuda_runtime cudaLaunchKernel 1 101 1 '"correlation":1'
	ev kernel k 7 130 5 '"device":0,"stream":7,"correlation":1'
} | trace >paged.json
is 'lengths and offsets of sequences, a generator that was not given' \
	"$(tl-replay --ir - paged.json | python3 -c 'import json, sys
for a in json.load(sys.stdin)["ops"][0]["replay_ir"]["list_pos_args"]:
    v = a["value"]
    if isinstance(v, dict) and v.get("dtype") == "int":
        print(a["arg_name"], v["init"], v["low"], v["high"])
    elif a["arg_name"] in ("max_seqlen_k", "gen"):
        print(a["arg_name"], v)')" \
	'cu_seqlens_q offsets 0 6
seqused_k randint 57 58
block_table arange 0 90
max_seqlen_k 57
gen None'

# ---- modules, backward ops, several sources ----

# A linear layer in a module, and its backward: the autograd node launches a
# kernel itself, below the wrapper with the forward op's number.
{
	meta process_name 1 0 name python
	ev python_function 'nn.Module: Net_0' 1 5 90
	ev python_function 'nn.Module: Layer_1' 1 6 80
	ev cpu_op aten::relu 1 10 20 '"Input Dims":[[2,3]],"Input type":["float"],"Input Strides":[[3,1]],"Sequence number":4'
	ev cuda_runtime cudaLaunchKernel 1 11 1 '"correlation":1'
	ev cpu_op aten::sin 1 200 20 '"Input Dims":[[2]],"Input type":["float"]'
	ev cuda_runtime cudaLaunchKernel 1 201 1 '"correlation":2'
	ev cpu_op 'autograd::engine::evaluate_function: ReluBackward0' 2 300 50 '"Sequence number":4,"Fwd thread id":1'
	ev cpu_op ReluBackward0 2 310 30 '"Input Dims":[[2,3]],"Input type":["float"],"Sequence number":4,"Fwd thread id":1'
	ev cuda_runtime cudaLaunchKernel 2 311 1 '"correlation":3'
	for at in 1:40 2:230 3:340; do
		ev kernel "k${at%:*}" 7 "${at#*:}" 5 "\"device\":0,\"stream\":7,\"correlation\":${at%:*}"
	done
} | trace >back.json
is 'ops of a module and those below' "$(for m in Net_0 Net_0/Layer_1 'Net*/L*' Layer_1; do
	tl-replay --module "$m" -c name --format tsv --no-header back.json 2>err | tr '\n' ' '; done)" \
	'aten::relu aten::relu aten::relu '
is 'a backward op by its forward op' "$(tl-replay --name ReluBackward0 --ir - back.json |
	python3 -c 'import json, sys
op = json.load(sys.stdin)["ops"][0]
f = op["backward_of"]
print(op["op_name"], "replay_ir" in op, f["op_name"], f["overload"],
	f["replay_ir"]["list_pos_args"][0]["value"]["shape"])')" \
	"ReluBackward0 False aten::relu  [2, 3]"
is 'all sources are one' "$(tl-replay --name aten::sin -c uid,count,gpu_ns_sum --format tsv --no-header back.json back.json)" '0:5	2	10000'
is 'the op of one of them' "$(tl-replay --uid 1:5 -c name,count --format tsv --no-header back.json back.json)" 'aten::sin	2'

# ---- one op, benchmarks of libraries ----

tl-replay --one --name aten::clamp t.json >one.py
ok 'plain code' python3 -m py_compile one.py
refuses 1 'triton_poi_0: a Triton kernel: --script FILE can run it' 'tl-replay --one --top 0 --name triton_poi_0 t.json'
is 'its arguments' "$(sed -n '/^args/,$p' one.py)" 'args = [
    tensor([8], [1], 8, torch.float32, "normal"),  # self
    float("-inf"),  # min
    1e-05,  # max
]
kwargs = {
}
run(getattr(getattr(torch.ops, "aten"), "clamp").default, args, kwargs)'
refuses 1 'no recorded shapes' 'tl-replay --one --uid 27 t.json'
# a number that is not recorded; one of its products lacks shapes, too
{
	ev cpu_op aten::fill_ 1 10 20 '"Input Dims":[[1],[]],"Input type":["float","Scalar"]'
	ev cpu_op aten::mm 1 50 20
	for at in 11 51; do
		ev cuda_runtime cudaLaunchKernel 1 $at 1 "\"correlation\":$at"
		ev kernel k 7 $((at + 40)) 5 "\"device\":0,\"stream\":7,\"correlation\":$at"
	done
} | trace >plain.json
tl-replay --one --name aten::fill_ plain.json >one.py
ok 'plain code with a number that is not recorded' python3 -m py_compile one.py
is 'that number' "$(sed -n 's/  # value//p' one.py)" '    1,'
is 'why a product has no line' "$(tl-replay --bench hipblaslt plain.json)" \
	'# aten::mm: no recorded shapes: record with record_shapes=True'
is 'a line of a benchmark' "$(tl-replay --bench rocblas t.json | cut -c 1-14)" 'rocblas-bench '
reports 5 no-product-on-top 'tl-replay --bench hipblaslt --top 1 --name aten::clamp t.json'
reports 5 no-product 'tl-replay --bench hipblaslt --name aten::clamp t.json'

# ---- results ----

# results FLUSH_MB GEMM ADD: us of a call of mm, whose second kernel is a
# different one there, and of add. A call of add takes 100 us, its kernel less.
results() {
	cat <<-END
		{"version":2,"device":"${4:-Stub 90}","flush_mb":$1,"ops":[
		{"op_name":"aten::mm","uid":"0","status":"ok","replayed_us":22,
		"kernels":[{"name":"gemm","us":$2,"calls":1},{"name":"other","us":4,"calls":1}]},
		{"op_name":"aten::add","uid":"9","status":"ok","replayed_us":100,
		"kernels":[{"name":"k","us":$3,"calls":1}]},
		{"op_name":"aten::cat","uid":"12","status":"failed","reason":"too large"}]}
	END
}
results 0 15 8 >warm.json
results 256 17 9.5 >cold.json
sed 's/"name": "[^]]*}\]/"name":"Stub 90"}]/' t.json >stub.json
compared() { tl-replay "$@" --format tsv --no-header stub.json | tr '\t' ' '; }
# recorded: gemm 20, splitk 10 us per call; the gap of 11 us is 10 - 4 us of
# other kernels, 2 us of cache and 3 us of the rest
is 'recorded and replayed' "$(compared --compare warm.json --compare cold.json --table replay_compare \
	-c name,recorded_ns,replayed_ns,gap_ns,other_kernels_ns,cache_ns,rest_ns,launch_idle_ns)" \
	'aten::mm 30000.0 19000.0 11000.0 6000.0 2000.0 3000.0 3000.0
aten::add 10000.0 8000.0 2000.0 0.0 1500.0 500.0 92000.0
aten::cat 10000.0      '
is 'what it comes from' "$(compared --compare warm.json --compare cold.json --table replay_compare -c finding)" \
	'other kernels: 1 only recorded, 1 only replayed
same kernels, slower in the trace: cold cache 75 % of it, clocks or overlapping work the rest; launch-bound when replayed
failed: too large'
is 'with a warm cache alone' "$(compared --compare warm.json --uid 9 --table replay_compare -c cache_ns,rest_ns,finding | sed -n 2p)" \
	' 2000.0 same kernels, slower in the trace: cache, clocks or overlapping work; launch-bound when replayed'
is 'by kernel' "$(compared --compare warm.json --compare cold.json --table replay_kernels)" \
	'aten::mm 0 gemm 20000.0 15000.0 17000.0 5000.0
aten::mm 0 splitk 10000.0   
aten::mm 0 other  4000.0 4000.0 
aten::add 9 k 10000.0 8000.0 9500.0 2000.0
aten::cat 12 CatArray<c10::BFloat16> 10000.0   '
results 0 15 8 'Stub 91' >other.json
like 'another device' "$(compared --compare other.json --table replay_compare -c finding)" \
	'recorded on Stub 90, replayed on Stub 91; other kernels'
refuses 1 'uid 0 is aten::addmm there, aten::mm in the trace' \
	'sed s/aten::mm/aten::addmm/ warm.json >others.json; tl-replay --compare others.json t.json'
reports 3 not-found "sed 's/\"9\"/\"99\"/' warm.json >odd.json; tl-replay --compare odd.json t.json"
is 'an op without a result' "$(compared --compare warm.json --uid 21 --table replay_compare -c finding | tail -n 1)" \
	'not in the results'
refuses 1 'no results of a script' 'tl-replay --compare t.json t.json'
refuses 1 'one is with --flush-mb' 'tl-replay --compare warm.json --compare warm.json t.json'
refuses 2 'needs --compare' 'tl-replay --table replay_kernels t.json'

page_examples tl-replay.1
done_testing
