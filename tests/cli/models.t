#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of op models and GPUs: the text of tl-models(5) works as printed, the
# shipped example holds, and a broken file is refused with its line.
. tests/cli/lib.sh
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
plan 35

# display BEGIN FILE: the page's literal display with this beginning.
display() {
	awk -v begin="$1" '
		/^\.Bd -literal/ { getline; on = index($0, begin) == 1 }
		/^\.Ed/ { on = 0 }
		on' "$ROOT/man/tl-models.5" >"$2"
}

display '-- my.lua' my.lua
is 'the entry of the page' "$(model-eval --check my.lua)" \
	"ok my.lua:6 mylib::axpb
1 examples, 0 failed"
display '{' mine.json
is 'the GPU of the page' "$(model-eval --arch ./mine.json)" \
	"mine 5300 GB/s
matrix_bf16 1307.4 708
vector_fp32 163.4 nan"

op='fwd\tmylib::axpb_\t[[8,64],[8,64],[64]]\t["float","float","float"]\n'
printf '%b' "$op" >ops.tsv
is 'without the file there is no model' \
	"$(model-eval <ops.tsv)" '{"status":"none","category":"other"}'
like 'with it there is' "$(model-eval --models my.lua <ops.tsv)" \
	'"flops":1024.0,"bytes":6144.0,.*"has_b":true'
is 'inner ops have the category of their kind' \
	"$(printf 'fwd\taten::%s\n' _flash_attention_forward _flash_attention_backward _log_softmax |
		model-eval | grep -o '"category":"[^"]*"' | tr '\n' ' ')" \
	'"category":"SDPA_fwd" "category":"SDPA_bwd" "category":"Softmax" '
like 'what only writes is bound by the memory' \
	"$(tl-roofline --op aten::zero_ --dims '[[8,64]]' --dtype fp64 --arch MI300X | tr -s ' ')" \
	'^flops 0.0$'
ok 'the examples of megatron.lua' \
	model-eval --check "$ROOT/common/model/examples/megatron.lua"

printf 'op { names = { "x" },\n  eval = 1 }\n' >bad.lua
is 'a broken file is refused' \
	"$(model-eval --models ./bad.lua </dev/null 2>&1; echo $?)" \
	'model-eval: ./bad.lua:1: eval must be a function (_ENV)
1'
echo '{ "name": "x", "mem_bw_gbps": "fast" }' >bad.json
is 'so are bad figures' "$(model-eval --arch ./bad.json 2>&1)" \
	'model-eval: ./bad.json: a figure must be a number or null'
like 'an unknown GPU names the known ones' \
	"$(model-eval --arch ZX900 2>&1)" "no GPU 'ZX900': .* H100-SXM .*MI300X"

# ---- folders of a user ----

mkdir one two
op='op { names = { "my::op" }, sheet = "GEMM", eval = function (_ENV) return %d, 8 end }\n'
# shellcheck disable=SC2059
printf "$op" 1 >one/a.lua
# shellcheck disable=SC2059
printf "$op" 2 >one/b.lua
# shellcheck disable=SC2059
printf "$op" 3 >two/a.lua
echo 'nothing' >one/readme.txt
ask() { tl-roofline "$@" --op my::op --dims '[[4]]' | sed -n 's/^flops  *//p'; }
is 'the last file of a folder counts' "$(TL_MODELS=one ask)" 2.0
is 'the last folder' "$(TL_MODELS=one::two ask)" 3.0
is '--models comes behind' "$(TL_MODELS=two ask --models one/a.lua)" 1.0
like 'what it is by' "$(TL_MODELS=two tl-roofline --op my::op --dims '[[4]]')" 'a.lua:1'
refuses 1 'TL_MODELS: .*nowhere: No such file' 'TL_MODELS=nowhere tl-roofline --list-models'
for p in tl-kernels tl-ops tl-roofline; do
	refuses 1 "^$p: " "TL_MODELS=nowhere $p step.json"
done
echo 'op {' >two/z.lua
refuses 1 'two/z.lua:' 'TL_MODELS=two tl-roofline --list-models'

display '{' one/mine.json
sed 's/"mine"/"MI300X"/; s/5300/1/' one/mine.json >one/other.json
mm() { tl-roofline --op aten::mm --dims '[[4,4],[4,4]]' --dtype bf16 "$@"; }
like 'a GPU by its name' "$(TL_ARCH_PATH=one mm --arch mine)" 'arch  *mine, peak .*one/mine.json'
like 'in the place of another' "$(TL_ARCH_PATH=one mm --arch MI300X)" 'roof  *1.0 GB/s'
like 'prefixes are listed' "$(tl-roofline --list-models)" '^triton_poi_\*'
refuses 1 'TL_ARCH_PATH: .*nowhere' 'TL_ARCH_PATH=nowhere tl-roofline --arch MI300X --op aten::mm --dims "[[4,4],[4,4]]"'

# ---- files that misbehave ----

ev cpu_op my::op 1 0 9 '"Input Dims":[[8]]' | trace >sheet.json
sed 's/GEMM/Gemm/' one/a.lua >sheet.lua
case $B in *san*) limit= ;; *) limit='ulimit -v 4000000;' ;; esac
refuses 1 'sheet.lua:1: sheet Gemm is not declared' \
	"$limit tl-roofline --models sheet.lua sheet.json"
{
	cat sheet.lua
	echo 'sheets { order = { "Gemm" } }'
} >late.lua
is 'a sheet may be declared behind its entries' \
	"$(tl-roofline --models late.lua --list-tables | grep -c ^Gemm_bwd)" 1

file() { cat >"$1.lua"; }
by() { tl-roofline --models "$1.lua" --op my::op --dims '[[4]]' --dtype fp32 2>&1; }
echo 'local s = "x" for i = 1, 100 do s = s .. s end' | file big
is 'the file is named where Lua has no line' "$(by big)" 'tl-roofline: big.lua: not enough memory'
echo 'local t = {} for i = 1, 1e5 do table.insert(t, 1, i) end' | file front
is 'work in library functions is bounded' "$(by front)" \
	'tl-roofline: front.lua:1: too much work in a library function'
printf '\033Lua' | file code
like 'compiled code is none' "$(by code)" 'tl-roofline: code.lua: attempt to load a binary chunk'
printf '\357\273\277op { names = { "my::op" },\n eval = function (_ENV) return 3, 8 end }' | file mark
like 'a byte order mark may stand in front' "$(by mark)" '^flops  *3.0$'
printf 'op { names = { "my::op" },\n eval = function (_ENV) end }' | file none
is 'an entry without result has its line' "$(by none)" \
	'tl-roofline: my::op: failed: none.lua:2: no FLOPs were returned'
is 'what the trace lacks of a built-in one has none' \
	"$(echo '{"op":"aten::mm"}' | tl-roofline --op - -c model_reason --no-header 2>/dev/null)" \
	'no argument 0'
printf 'op { names = { "my::op" },\n eval = function (_ENV) M = tuple return 1 end }' | file wrong
like 'a parameter is named' "$(by wrong)" 'wrong.lua:2: parameter M must be a number'

# Our entries use a user's form of annotations.
cat >step.json <<'X'
{"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"batch[4]","pid":1,"tid":1,"ts":0,"dur":50,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aiter::mha_varlen_fwd","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Input Dims":[[4,16,64],[4,2,64]],"Input type":["float","float"],"Concrete Inputs":["",""]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}]}
X
form() { # form BODY: what becomes of the op
	echo "annotation { prefix = { \"batch[\" }, read = function (text) $1 end }" | file form
	timeout 20 tl-roofline --models form.lua --no-header -c gflop,model_reason step.json 2>/dev/null
}
like 'one that loops ends' "$(form 'while true do end')" 'form.lua:1: too many steps: an endless loop?'
timeout 20 tl-roofline --models form.lua step.json >/dev/null 2>&1
is 'which is a warning' $? 3
like 'one that counts badly is told' "$(form 'return { c_sq = -1 }')" "the annotation's c_sq is no count"
