#!/bin/sh
# SPDX-License-Identifier: MIT
# Figures of GPUs: those compiled in follow the rules of tests/oracle/arch.py,
# which finds planted errors, and a clock of one's own scales what follows from
# it. tests/unit/model_arch.c has the names of devices.
. tests/cli/lib.sh
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
plan 13
export PYTHONDONTWRITEBYTECODE=1

rules() { python3 "$ROOT/tests/oracle/arch.py" "${1:-$ROOT/common/model/arch}"; }
is 'the built-in figures' "$(rules | grep -v '^ok')" "1..$(rules | grep -c '^ok')"
# planted SED FILE: what the rules say of a file that was changed so.
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
refuses 2 'no clock_mhz of H20: ' "$op --arch H20:clock=1410"
refuses 2 "no GPU 'A100:power=300'" "$op --arch A100:power=300"
