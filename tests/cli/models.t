#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of op models and GPUs: what tl-models(5) shows works as it stands, the
# shipped example holds, and a broken file is refused with its line.
. tests/cli/lib.sh
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
plan 8

# display BEGIN FILE: the page's literal display that begins so.
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
	"$(model-eval --arch H900 2>&1)" "no GPU 'H900': .* H100-SXM .*MI300X"
