#!/bin/sh
# SPDX-License-Identifier: MIT
# The script of tl-replay, on a stub of PyTorch that checks each call against the
# operator's schema: its calls, messages and files. If PyTorch is installed,
# some ops on its CPU.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

cp "$ROOT/cmd/tl-replay/ops.py" .
cat ops.py "$ROOT/cmd/tl-replay/replay.py" >replay.py

cat >schemas.txt <<'EOF2'
# as PyTorch prints them
aten::mm(Tensor self, Tensor mat2) -> Tensor
aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
aten::mul.Tensor(Tensor self, Tensor other) -> Tensor
aten::relu_(Tensor(a!) self) -> Tensor(a!)
aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
aten::cat(Tensor[] tensors, int dim=0) -> Tensor
aten::gelu(Tensor self, *, str approximate='none') -> Tensor
aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor
aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
aten::ends(Tensor a, str how, Tensor b) -> Tensor
aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor
EOF2

# ir OP...: an op is NAME ARG...; the words become JSON, as below.
cat >ir.py <<'EOF2'
import json
import sys

def tensor(text):
    """bf16[2,3](3,1)normal: type, shape, strides, init, low, high"""
    head, rest = text.split("[")
    shape, rest = rest.split("]")
    strides, rest = rest[1:].split(")")
    init, *bounds = rest.split(":")
    sizes = [[int(n) for n in part.split(",") if n]
             for part in (shape, strides)]
    v = {"shape": sizes[0], "dtype": head, "strides": sizes[1], "init": init}
    v.update(zip(("low", "high"), map(int, bounds)))
    return v

def value(text):
    if text.startswith("json="):
        return json.loads(text[5:])
    if text.startswith("list="):
        return {"list": [tensor(t) for t in text[5:].split(";")]}
    return tensor(text)

def op(words):
    name, *args = words.split(" ")
    name, _, overload = name.partition(".")
    return {"op_name": name, "overload": overload or None, "uid": "7",
            "count": 3, "profile_us": 4.0, "kernels": [
                {"name": name, "us": 4.0, "calls": 1}],
            "replay_ir": {"list_pos_args": [
                {"arg_name": f"arg{i}", "arg_type": "", "value": value(a)}
                for i, a in enumerate(args)], "list_kwargs": []}}

print(json.dumps({"version": 2, "device": "Stub 90", "source": "a.json",
                  "ops": [op(words) for words in sys.argv[1:]]}))
EOF2

# What was called: name, overload, each argument in a few words.
cat >calls.py <<'EOF2'
import json

def short(v):
    if isinstance(v, list):
        return "[" + "; ".join(map(short, v)) + "]"
    if not isinstance(v, dict):
        return json.dumps(v)
    text = "{dtype}{shape}{strides} {init}".format(**v).replace(", ", ",")
    if v["init"] in ("arange", "randint"):
        text += " {low}..{high}".format(**v)
    where = "pinned" if v["pinned"] else v["device"]
    return text + ("" if where == "cpu" else " " + where)

def words(call):
    return " ".join([f"{call['op']}.{call.get('overload')}"] + [
        f"{name}={short(v)}" for name, v in call.get("args", {}).items()])

# Of ops that are not called the script's own line.
calls = [words(json.loads(line)) for line in open("calls")]
for line in open("out"):
    if ": skipped: " in line:
        print(line.rstrip("\n").split(" ", 1)[1])
    elif line.startswith("[") and calls:
        print(calls.pop(0))
print(*calls, sep="\n", end="")
EOF2

# replay OPTIONS IR: the script on the stub, one call per op; its status in rc.
export TORCH_SCHEMAS="$TMP/schemas.txt" TORCH_CALLS="$TMP/calls"
replay() {
	: >calls
	# shellcheck disable=SC2086 # options are words
	PYTHONPATH=$ROOT/tests/tools PYTHONDONTWRITEBYTECODE=1 \
		python3 replay.py --warmup 0 --iters 1 $1 ${2:-} >out 2>err
	rc=$?
}

# makes TEXT OP CALL: the op becomes this call; says TEXT OP LINE: it is not
# called, for this reason. compare runs all at once.
: >cases
makes() {
	printf '%s\n' "$1" "$2" "$3" >>cases
}
says() {
	makes "$@"
}
compare() {
	python3 - <<'EOF3' >all.json
import subprocess
lines = open("cases").read().split("\n")
subprocess.run(["python3", "ir.py", *lines[1::3]], check=True)
EOF3
	replay '' all.json
	python3 calls.py >got
	exec 3<got
	while read -r text && read -r _ && read -r line; do
		read -r call <&3
		is "$text" "$call" "$line"
	done <cases
}

# ---- arguments ----

makes 'shapes, strides, types' \
	'aten::mm float[2,3](3,1)normal c10::BFloat16[3,4](1,3)normal' \
	'aten::mm. self=float32[2,3][3,1] normal mat2=bfloat16[3,4][1,3] normal'
makes 'an expanded tensor is a view of a small storage' \
	'aten::mm float[2,3](0,1)normal float[3,4](1,0)zeros' \
	'aten::mm. self=float32[2,3][0,1] normal mat2=float32[3,4][1,0] zeros'
makes 'types of 8 bits, whose normal numbers are converted' \
	'aten::mm c10::Float8_e4m3fnuz[2,3](3,1)normal c10::Float8_e5m2[3,4](4,1)normal' \
	'aten::mm. self=float8_e4m3fnuz[2,3][3,1] normal mat2=float8_e5m2[3,4][4,1] normal'
makes 'indices within bounds, a mask, none' \
	'aten::index.Tensor float[9,3](3,1)normal json=[null]' \
	'aten::index.Tensor self=float32[9,3][3,1] normal indices=[null]'
makes 'integers from low to below high, in order, rising to the last' \
	'aten::cat list=long[5](1)randint:2:9;int[4](1)arange:0:3;int[3](1)offsets:0:12' \
	'aten::cat. tensors=[int64[5][1] randint 2..8; int32[4][1] arange 0..2; int32[3][1] arange 0..12]'
makes 'experts for each token, all different' \
	'aten::argmax long[7,2](2,1)routing:0:8' \
	'aten::argmax. self=int64[7,2][2,1] uniform'
makes 'an optional number' \
	'aten::argmax float[4](1)normal json=-1 json=true' \
	'aten::argmax. self=float32[4][1] normal dim=-1 keepdim=true'
makes 'constants, and the device that runs it' \
	'aten::_to_copy float[4](1)normal json={"dtype":"float16"} json={"layout":"strided"} json={"device":"target"} json=null json=false json={"memory_format":"channels_last"}' \
	'aten::_to_copy. self=float32[4][1] normal dtype="torch.float16" layout="strided" device="cpu" pin_memory=null non_blocking=false memory_format="channels_last"'
makes 'a number without end' \
	'aten::add.Scalar float[4](1)normal json={"float":"-inf"} json=2.5' \
	'aten::add.Scalar self=float32[4][1] normal other="-inf" alpha=2.5'

# ---- overloads ----

makes 'the overload that takes a number' \
	'aten::add float[4](1)normal json=2 json=1' \
	'aten::add.Scalar self=float32[4][1] normal other=2 alpha=1'
makes 'the overload that takes a tensor, keywords by name' \
	'aten::add float[4](1)normal float[4](1)normal json=1' \
	'aten::add.Tensor self=float32[4][1] normal other=float32[4][1] normal alpha=1'
makes 'the recorded overload comes first' \
	'aten::mm.out float[2,2](2,1)normal float[2,2](2,1)normal float[2,2](2,1)none' \
	'aten::mm.out self=float32[2,2][2,1] normal mat2=float32[2,2][2,1] normal out=float32[2,2][2,1] none'
makes 'a text is not recorded: its default' \
	'aten::gelu float[4](1)normal json={"unknown":"str"}' \
	'aten::gelu. self=float32[4][1] normal'
makes 'one that may be none is none' \
	'aten::div.Tensor_mode float[4](1)normal float[4](1)normal json={"unknown":"str?"}' \
	'aten::div.Tensor_mode self=float32[4][1] normal other=float32[4][1] normal rounding_mode=null'
makes 'a number that was not recorded, and is no matter' \
	'aten::add float[4](1)normal json={"assumed":1} json=1' \
	'aten::add.Scalar self=float32[4][1] normal other=1 alpha=1'
makes 'an undefined tensor' \
	'aten::mm.out json=null float[2,2](2,1)normal float[2,2](2,1)none' \
	'aten::mm.out self=null mat2=float32[2,2][2,1] normal out=float32[2,2][2,1] none'
says 'no overload takes these' 'aten::add float[4](1)normal json="x" json=1' \
	'aten::add: skipped: no overload takes these arguments (Tensor: other is Tensor; Scalar: other is Scalar)'
says 'a text without a default' \
	'aten::ends float[4](1)normal json={"unknown":"str"} float[4](1)normal' \
	'aten::ends: skipped: no overload takes these arguments (default: how is not recorded)'
says 'an operator that is not here' 'vllm::none float[4](1)normal' \
	'vllm::none: skipped: PyTorch 0.stub has no operator vllm::none; --import the library that registers it'
says 'a name that is an attribute of torch.ops is none' \
	'__init__::__globals__ float[4](1)normal' \
	'__init__::__globals__: skipped: PyTorch 0.stub has no operator __init__::__globals__; --import the library that registers it'
says 'a constant that is none' \
	'aten::_to_copy float[4](1)normal json={"dtype":"manual_seed"}' \
	'aten::_to_copy: skipped: PyTorch 0.stub has no manual_seed'
says 'a type that this version lacks' 'aten::mm c10::Float3[2,2](2,1)normal' \
	'aten::mm: skipped: PyTorch 0.stub has no float3'
compare
like 'a default is told' "$(cat out)" \
	'aten::gelu: .*not recorded, assumed: approximate'

python3 ir.py 'aten::mm float[2000000,2000000](2000000,1)normal' \
	"$(printf 'a::\033[31m float[4](1)normal')" >one.json
replay '' one.json
is 'nothing was replayed: exit status' "$rc" 1
like 'more memory than there is' "$(cat out)" \
	'skipped: needs 16000.0 GB of memory, [0-9.]* GB are free'
like 'control characters of a name' "$(cat out)" 'a::.x1b\[31m: skipped'

# ---- calls that are no operators ----

python3 - <<'EOF2'
import json
import subprocess

def op(words, **more):
    made = json.loads(subprocess.run(["python3", "ir.py", words],
                                     stdout=subprocess.PIPE).stdout)
    made["ops"][0].update(more)
    return made["ops"][0]

def write(name, *ops, **more):
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"version": 2, "ops": ops, **more}, file)

mm = op("aten::mm float[2,3](3,1)normal float[3,4](4,1)normal")
relu = op("aten::relu_ float[4](1)normal")
gone = {"op_name": "c10d::x", "overload": None, "missing": "a collective"}
write("backward.json", {"op_name": "MmBackward0", "backward_of": mm},
      {"op_name": "ReluBackward0", "backward_of": relu})
triton = {"kernel_file": "/tmp/elsewhere/k/cabc.py", "kernel_kwargs":
          "XBLOCK=2", "num_warps": 1, "num_stages": 1, "grid": None,
          "name": "triton_poi_0"}
write("triton.json", op("triton_poi_0 float[6](1)normal json=3 json=2",
                        triton=triton))
write("segment.json", mm, relu, gone,
      segment={"name": "layer", "order": [0, 2, 1, 0]})
copies = [op("aten::copy_ float[4](1)none float[4](1)normal json=false",
             kernels=[{"name": name, "us": 4.0, "calls": 1}]) for name in (
          "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Host -> Device)",
          "Memcpy DtoH (Device -> Pageable)", "direct_copy_kernel")]
write("copies.json", *copies)
write("numbers.json",
      op("aten::mul float[4](1)normal double[]()normal"),
      op("aten::mul double[4](1)normal double[]()normal"),
      op("aten::mul float[]()normal double[]()normal"))
write("broken.json", op("aten::mul long[4](1)randint:0:9 float[4](9)normal"),
      op("aten::add float[4](1)normal json=2 json=1"))
with open("broken.json", encoding="utf-8") as file:
    broken = json.load(file)
broken["ops"][0]["replay_ir"]["list_pos_args"][1]["value"]["strides"] = [1, 1]
write("broken.json", *broken["ops"])
write("failing.json", *broken["ops"],
      segment={"name": "layer", "order": [0, 1, 0]})
with open("v1.json", "w", encoding="utf-8") as file:
    json.dump([{"op_name": "aten::mm", "replay_ir": mm["replay_ir"]}], file)
EOF2

replay '' backward.json
is 'backward through autograd of the forward op' "$(python3 calls.py)" \
	"aten::mm. self=float32[2,3][3,1] normal mat2=float32[3,4][4,1] normal
autograd.grad.None
aten::relu_. self=float32[4][1] normal
autograd.grad.None"

replay '' triton.json
like 'the file of a Triton kernel is code: not run unasked' "$(cat out)" \
	'--kernel-dir names the folder with its file, recorded as /tmp/elsewhere/k/cabc.py'
mkdir kernels
replay '--kernel-dir kernels' triton.json
like 'a kernel that is not there' "$(cat out)" 'no cabc.py in kernels'
cat >kernels/cabc.py <<'EOF2'
class Tuner:
    class fn:
        arg_names = ["out", "xnumel", "rnumel"]

    def run(self, *args, stream, grid=None):
        print("ran with", len(args), args[1:], "grid", grid, "stream", stream)

def grid(*sizes):
    return sizes

import sys
import types
Tuner.__module__ = "tuner"  # of PyTorch, and has grid() too
sys.modules["tuner"] = types.SimpleNamespace(grid=grid)
triton_poi_0 = Tuner()
EOF2
replay '--kernel-dir kernels' triton.json
like 'its arguments, grid and stream' "$(cat out)" \
	'ran with 3 \(3, 2\) grid \(3,\) stream 7'

replay '' v1.json
is 'the first version of the IR' "$rc $(python3 calls.py)" \
	'0 aten::mm. self=float32[2,3][3,1] normal mat2=float32[3,4][4,1] normal'

# ---- on a GPU ----

export TORCH_GPU=1
replay '' copies.json
is 'copies between host and device are those again' "$(python3 calls.py |
	sed 's/float32.4..1. //g')" \
	'aten::copy_. self=none cuda src=normal pinned non_blocking=false
aten::copy_. self=none cuda src=normal non_blocking=false
aten::copy_. self=none src=normal cuda non_blocking=false
aten::copy_. self=none cuda src=normal cuda non_blocking=false'
replay '' numbers.json
is 'a Python number among tensors stays on the host' "$(python3 calls.py)" \
	'aten::mul.Tensor self=float32[4][1] normal cuda other=float64[][] normal
aten::mul.Tensor self=float64[4][1] normal cuda other=float64[][] normal cuda
aten::mul.Tensor self=float32[][] normal cuda other=float64[][] normal cuda'

python3 ir.py 'aten::mm float[2,2](2,1)normal float[2,2](2,1)normal' >mm.json
replay '--warmup 2 --iters 3 --check --json results.json' mm.json
is 'GPU time against the recorded one' "$(sed 's/launched in .*/launched/' out)" \
	'PyTorch 0.stub on Stub 100, recorded on Stub 90
[1/1] aten::mm: 3 calls, recorded 4.00 us of GPU time, replayed 6.00 us (+50.0 %), launched
  aten::mm: 4.00 us recorded, 5.00 us replayed (+25.0 %)
1 op: 1 replayed, 0 skipped, 0 failed'
is 'warm-up, calls, and those of the profiler' "$(wc -l <calls)" 15
is 'results for tl-replay --compare' "$(python3 -c '
import json
r = json.load(open("results.json"))
del r["ops"][0]["host_us"]
print(json.dumps(r, sort_keys=True))')" \
	'{"device": "Stub 100", "flush_mb": 0, "iters": 3, "ops": [{"count": 3, "defaults": [], "kernels": [{"calls": 1.0, "name": "aten::mm", "us": 5.0}], "op_name": "aten::mm", "overload": null, "recorded_us": 4.0, "replayed_us": 6.0, "status": "ok", "uid": "7"}], "recorded_device": "Stub 90", "seed": 0, "source": "a.json", "torch": "0.stub", "version": 2, "warmup": 2}'
replay '--flush-mb 1 --iters 4 --check' mm.json
is 'a call at a time behind a flush, which is not measured' \
	"$(sed -n 's/^.*replayed 6.00 us.*/replayed 6.00 us/p; 3p' out)" \
	'replayed 6.00 us
  aten::mm: 4.00 us recorded, 5.00 us replayed (+25.0 %)'

replay '--json -' segment.json
is 'a segment: in order, eager and as a graph' "$(python3 -c '
import json
r = json.load(open("out"))["segment"]
del r["host_us"]
print(json.dumps(r, sort_keys=True))')" \
	'{"eager_us": 18.0, "graph_us": 6.0, "left_out": 1, "name": "layer", "ops": 3, "recorded_us": 12.0, "status": "ok"}'
like 'with --json - the words go to stderr' "$(cat err)" \
	'segment layer: 3 ops, recorded 12.00 us of GPU time, 18.00 us eager, 6.00 us as a graph, launch overhead 12.00 us, 1 op left out'
python3 ir.py 'aten::mm c10::BFloat16[2000000,2000000](2000000,1)normal float[2,2](2,1)normal' >one.json
replay '' one.json
like 'memory that others take meanwhile' "$(cat out)" 'failed: out of memory'
unset TORCH_GPU

# ---- options ----

replay '--device cuda' mm.json
is 'no GPU' "$rc $(cat err)" \
	'1 --device cuda: PyTorch 0.stub finds no GPU; cpu runs what the CPU has'
replay '--device xpu' mm.json
is 'another device' "$rc $(cat err)" '1 --device xpu: neither cuda nor cpu'
replay '' broken.json
is 'a failure: the rest is run' "$rc $(tail -n 1 out)" \
	'1 2 ops: 1 replayed, 0 skipped, 1 failed'
replay '' failing.json
like 'a segment without an op that fails' "$(cat out)" 'segment layer: 1 op, recorded 4.00 us of GPU time, .* 2 ops left out'
replay '--stop-on-error' broken.json
is 'a failure ends it' "$rc $(tail -n 1 out)" \
	'1 2 ops: 0 replayed, 0 skipped, 1 failed'
replay '--op-filter *add' broken.json
is 'ops by name' "$rc $(tail -n 1 out)" '0 1 op: 1 replayed, 0 skipped, 0 failed'
replay '--op-limit 1' segment.json
is 'the first ops' "$rc $(sed -n 3p out)" \
	'0 1 op: 1 replayed, 0 skipped, 0 failed'
replay '--list' segment.json
is 'the list' "$(cat out)" '0 aten::mm uid 7
1 aten::relu_ uid 7
2 c10d::x uid None: a collective'
replay '--iters 0' mm.json
is 'a usage error' "$rc $(tail -n 1 err)" \
	'2 replay.py: error: --iters is 1 or more, --warmup and --flush-mb 0 or more'
replay --dump-schemas
is 'schemas, for --schema' "$(wc -l <out)" "$(grep -c '^aten' schemas.txt)"
quiet 'a reader may leave' \
	"PYTHONPATH=$ROOT/tests/tools python3 -B replay.py --verbose --iters 1 all.json | head -n 1"
replay '--init ones --verbose' mm.json
is 'other data' "$(python3 calls.py)" \
	'aten::mm. self=float32[2,2][2,1] ones mat2=float32[2,2][2,1] ones'

# ---- PyTorch itself ----

real=
for python in python3 /usr/bin/python3; do
	[ -n "$real" ] || ! "$python" -c 'import torch' 2>err || real=$python
done
if [ -z "$real" ]; then
	skip 'on the CPU' 'no PyTorch here'
	done_testing
	exit
fi

python3 ir.py 'aten::mm float[20,30](1,20)normal float[30,4](0,1)normal' \
	'aten::add c10::BFloat16[4](1)normal double[]()normal json=1' \
	'aten::cat list=long[5](1)randint:2:9;long[4](1)arange:0:3 json=0' \
	'aten::argmax long[7,2](2,1)routing:0:8 json=null json=false' \
	'aten::_to_copy float[4](1)uniform json={"dtype":"float16"} json=null json=null json=null json=false json=null' \
	'aten::empty json=[3,4] json=6 json=null json=null json=false json={"memory_format":"contiguous_format"}' \
	'aten::miopen_convolution float[1,1,4,4](16,16,4,1)normal float[1,1,3,3](9,9,3,1)normal json=null json=[0,0] json=[1,1] json=[1,1] json=1 json=false json=false' \
	>real.json
cat >real.py <<'EOF2'
import json
import sys
import replay

for name in ("real.json", "backward.json"):
    sys.argv = ["", "--warmup", "1", "--iters", "2", "--device", "cpu",
                "--json", "results.json", name]
    replay.main()
    with open("results.json", encoding="utf-8") as file:
        print("status", *(op["status"] for op in json.load(file)["ops"]))

def made(init, shape, **bounds):
    return replay.Builder(replay.Device("cpu"), None).tensor({
        "shape": shape, "strides": [shape[-1], 1][-len(shape):],
        "dtype": "long int", "init": init, **bounds})

print(made("offsets", [5], low=0, high=10).tolist(),
      made("arange", [5], low=0, high=3).tolist())
rows = made("routing", [50, 3], low=0, high=4).tolist()
print(all(len(set(row)) == 3 and set(row) <= {0, 1, 2, 3} for row in rows))
print(sorted(set(made("randint", [500], low=2, high=5).tolist())))
EOF2
"$real" real.py >out 2>err
is 'on the CPU' "$(sed -n '/^\[[0-9]*.[0-9]*\] /d; /PyTorch/d; /replayed/d; p' out; cat err)" 'status ok ok ok ok ok ok skipped
status ok ok
[0, 2, 5, 7, 10] [0, 1, 2, 0, 1]
True
[2, 3, 4]'

done_testing
