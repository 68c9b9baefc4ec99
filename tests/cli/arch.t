#!/bin/sh
# SPDX-License-Identifier: MIT
# Figures of GPUs: built-in ones follow the rules of tests/oracle/arch.py, which
# finds planted errors; a given clock scales the figures that depend on it.
# tests/unit/model_arch.c has the names of devices.
. tests/cli/lib.sh
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
plan 30
export PYTHONDONTWRITEBYTECODE=1

rules() { python3 "$ROOT/tests/oracle/arch.py" "${1:-$ROOT/common/model/arch}"; }
is 'the built-in figures' "$(rules | grep -v '^ok')" "1..$(rules | grep -c '^ok')"
# planted SED FILE: errors that the rules find in a file changed so
planted() {
	rm -rf arch
	cp -r "$ROOT/common/model/arch" arch
	sed -i "$1" "arch/$2.json"
	rules arch | grep '^#' | head -n 1
}
is 'a rate with sparsity among dense ones' \
	"$(planted 's/"matrix_tf32": 494.7/"matrix_tf32": 989.4/' H100-SXM)" \
	'# matrix_tf32_sparse is not twice the dense rate'
is 'a rate that does not follow from units and clock' \
	"$(planted 's/"num_cus": 108/"num_cus": 98/' A100 | cut -d' ' -f2-5)" 'vector_fp64 is 9.7, the'
is 'a figure without a source' "$(planted 's/"num_cus, /"/' T4)" '# no source of num_cus'
is 'one measured above its peak' \
	"$(planted 's/"vector_fp32": 130.0/"vector_fp32": 170/' MI300X)" \
	'# vector_fp32 was measured above its peak'
is 'a word that nobody knows' "$(planted 's/clock_mhz/clock_mzh/' L4)" '# unknown member clock_mzh'

# ---- other clocks ----

op="tl-roofline --op aten::mm --dims [[4096,4096],[4096,4096]] --dtype bf16"
mm() { $op "$@" | tr -s ' '; }
flops=137438953472
is 'of a lower clock' "$(mm --arch H100-SXM:clock=1410 | sed -n 's/^compute \(.*\) us/\1/p' | cut -c1-10)" \
	"$(python3 -c "print($flops / (989.4e12 * 1410 / 1830) * 1e6)" | cut -c1-10)"
like 'it says so' "$(mm --arch h100-sxm:clock=1410)" '^arch H100-SXM at 1410 MHz, peak '
like 'a measured rate does not stand in' \
	"$(mm --arch MI300X:clock=1200 --roof achievable)" "^compute 183.* us$"
refuses 2 'clock=fast: needs MHz' "$op --arch A100:clock=fast"
refuses 2 'clock=-1: needs MHz' "$op --arch A100:clock=-1"
refuses 2 'A100.* has at most 1410 MHz' "$op --arch A100:clock=1411"
refuses 2 'no clock_mhz of H20: ' "$op --arch H20:clock=1410"
refuses 2 "no GPU 'A100:power=300'" "$op --arch A100:power=300"

# ---- from traces ----

# copies N DIMS TS DUR: N products of float, apart from each other
copies() {
	for i in $(seq "$1"); do
		at=$(($3 + i * 1000))
		ev cpu_op "${5:-aten::mm}" 1 $at 20 \
			"\"Input Dims\":$2,\"Input type\":[\"float\",\"float\",\"Scalar\"],\"Concrete Inputs\":[\"\",\"\",\"\"]"
		ev cuda_runtime cudaLaunchKernel 1 $((at + 2)) 5 "\"correlation\":$at"
		ev kernel k 7 $((at + 50)) "$4" "\"device\":0,\"stream\":7,\"correlation\":$at"
	done
}
gpu=',"deviceProperties":[{"id":0,"name":"Tesla V100-SXM2-16GB"}]'
# 2 x 4096^3 in 10 ms are 13.74 TFLOP/s of 15.7, 512 MB twice in 1.4 ms are 767 GB/s of 900.
mm='[[4096,4096],[4096,4096]]'
add='[[128000000],[1],[]]'
{
	copies 5 "$mm" 0 10000
	copies 4 '[[8192,4096],[4096,4096]]' 100000 19000
	copies 5 '[[8192,8192],[8192,8192]]' 200000 50000
	copies 5 '[[64,64],[64,64]]' 300000 10
	copies 5 "$add" 400000 1400 aten::add
	copies 5 '[[128],[128],[]]' 500000 25 aten::add
} | trace "$gpu" >v100.json
tl-roofline --arch-from-trace -o traced.json v100.json
is 'the best rate' "$(model-eval --arch ./traced.json | grep matrix_fp32)" "matrix_fp32 15.7 13.7439"
is 'no slow, no short, no rare op, none above the peak' "$(model-eval --arch ./traced.json | grep -cv ' nan$')" 2
is 'the bandwidth, and what it is based on' "$(grep -o '"max_achievable_mem.*' traced.json)" \
	'"max_achievable_mem_bw_gbps": 731.4285742857143,
"max_achievable_mem_bw_gbps": "aten::add [[128000000],[1],[]], median of 5 calls, 81.3 % of the peak"'
is 'of which op' "$(grep -o 'fp32": "aten::mm.*peak"' traced.json)" \
	"fp32\": \"aten::mm $mm, median of 5 calls, 87.5 % of the peak\""
is 'the file is one for --arch' "$(tl-roofline --arch ./traced.json --roof achievable --name aten::mm -c roof,pct_roofline_mean \
	--no-header v100.json | head -n 1 | tr '\t' ' ' | cut -c1-27)" 'V100-SXM2 traced achievable'
copies 5 '[[8192,4096],[4096,4096]]' 0 18000 | trace "$gpu" >more.json
tl-roofline --arch-from-trace v100.json more.json >two.json
is 'of two traces the better one' "$(grep -c '"matrix_fp32": 15.2' two.json)" 1
copies 5 "$mm" 0 10000 | sed 's/4096/409/g' | trace "$gpu" >slow.json
refuses 5 'no op has 5 equal calls' 'tl-roofline --arch-from-trace slow.json'
copies 4 "$mm" 0 10000 | trace "$gpu" >rare.json
refuses 5 'no op has 5 equal calls' 'tl-roofline --arch-from-trace rare.json'
copies 5 "$mm" 0 8000 | trace "$gpu" >fast.json
refuses 5 'no op has 5 equal calls' 'tl-roofline --arch-from-trace fast.json'
copies 5 "$mm" 0 10000 | trace ',"deviceProperties":[{"id":0,"name":"Tesla T4"}]' >t4.json
refuses 2 'writes an arch file: without -c, -d' 'tl-roofline --arch-from-trace -d d v100.json'
refuses 1 'another GPU than before' 'tl-roofline --arch-from-trace v100.json t4.json'
{ copies 5 "$mm" 0 10000; copies 5 '[[1024000000],[1],[]]' 100000 11200 aten::add; } | trace >nameless.json
tl-roofline --arch-from-trace nameless.json >own.json
is 'of an unknown GPU: what is measured' "$(model-eval --arch ./own.json)" "unknown traced 731.429 GB/s
matrix_fp32 nan 13.7439"

# ---- names ----
refuses 2 "^tl-roofline: no GPU 'H100': is it H100-(NVL|PCIe|SXM) or H100-(NVL|PCIe|SXM) or H100-(NVL|PCIe|SXM)\\?$" "tl-roofline --arch H100 '$SAMPLE'"
refuses 2 "no GPU 'zzz': auto, a file.json or one of A10 " "tl-roofline --arch zzz '$SAMPLE'"
is '--list-archs: each is one of --arch' "$(tl-roofline --list-archs | sed 1d | cut -f 1 |
	while read -r name; do
		tl-roofline --arch "$name" --op aten::mm --dims '[[8,4],[4,2]]' --dtype bf16 >out 2>err || echo "$name"
	done)" ''
like 'with its figures' "$(tl-roofline --list-archs | grep '^MI300X	')" '^MI300X	5300	1307\.4	'
