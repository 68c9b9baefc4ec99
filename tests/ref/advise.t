#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise on real traces: known figures, and each finding computed again from
# the tables.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

[ -d "$TL_DATA" ] || skip_all "no traces in $TL_DATA"
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'

# Roofs of the reference's MI300X: measured compute, peak bandwidth.
cat >arch.json <<'END'
{"name": "R", "mem_bw_gbps": 5300, "max_achievable_mem_bw_gbps": 5300,
 "peak_tflops": {"matrix_bf16": 708, "matrix_fp16": 654, "matrix_fp32": 163, "matrix_fp8": 1273,
  "vector_fp16": 163, "vector_bf16": 163, "vector_fp32": 81, "vector_fp64": 40},
 "max_achievable_tflops": {"matrix_bf16": 708, "matrix_fp16": 654, "matrix_fp32": 163, "matrix_fp8": 1273,
  "vector_fp16": 163, "vector_bf16": 163, "vector_fp32": 81, "vector_fp64": 40}}
END
T=$TL_DATA/inference_sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz
tl-advise --arch arch.json "$T" -d out --format tsv 2>err
# the worked figures are of means over calls, all that tables without lost_ns have
tl-report --arch arch.json --roof achievable --format ndjson "$T" -d means 2>err.report >screen
grep -q '"lost_ns":[0-9]' means/unified_perf_summary.ndjson
is 'there are times lost' $? 0
sed -i 's/"lost_ns":[^,}]*/"lost_ns":null/' means/unified_perf_summary.ndjson
tl-advise means -d mean --format tsv 2>err.mean
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["section"] == "compute" {
		printf "%s %.3f %.3f %.3f\n", $at["category"], $at["gain_ns_low"] / t,
			$at["gain_ns"] / t, $at["gain_ns_high"] / t }' \
	t="$(awk -F '\t' 'NR == 2 { print $1 * 1e4 }' mean/advice_metrics.tsv)" \
	mean/advice.tsv >got
cat >expected <<'END'
GEMM 8.997 10.497 11.996
RMSNorm 1.165 1.359 1.554
InferenceAttention 1.027 1.198 1.369
elementwise 0.670 0.781 0.893
END
same 'ops of a serving step, percent of its time' got expected
is 'ops that wait in the host' \
	"$(grep -c 'take 493.235 ms longer on the host than .* call of aten::copy_ (493.211 ms)' out/advice.tsv)" 1
is 'work that is not recorded wins nothing' \
	"$(awk -F '\t' 'NR > 1 && $2 == "system" && $7 != ""' out/advice.tsv)" ''

# What runs at once, from the raw trace: kernels without a known launch count,
# collectives do not.
cat >once.py <<'END'
import gzip, json, sys
events = json.load(gzip.open(sys.argv[1]))["traceEvents"]
spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in events
               if e.get("cat") in ("kernel", "gpu_memset", "mtia_ccp_events") and
               "nccl" not in e["name"].lower())
union, end = 0, spans[0][0]
for a, b in spans:
    union += max(0, b - max(a, end))
    end = max(end, b)
total = sum(b - a for a, b in spans)
print("%.4f" % (total / union if total > 1.01 * union else 1))
END
for t in hta_mtia_inference/mtia_inference_rank_0 hta_nccl_parser/nccl_data; do
	[ -f "$TL_DATA/$t.json.gz" ] || continue
	is "$(dirname $t): what works at once" "$(tl-advise "$TL_DATA/$t.json.gz" \
		--no-header --table advice_metrics -c work_at_once 2>/dev/null |
		awk '{ printf "%.4f", $1 }')" "$(python3 once.py "$TL_DATA/$t.json.gz")"
done

for t in "$TL_DATA"/*/; do
	name=$(basename "$t")
	slow || case $name in
		h100_bert_small | mi300_ddp_resnet18 | multirank_cifar* | \
			hta_nccl_parser | mi300_resnet_ckpt | jax_conv_minimal_08) ;;
		*) continue ;;
	esac
	case $name in pair_*) continue ;; esac
	find "$t" -maxdepth 1 -type f ! -name '*.md' | sort >files
	case $name in
		multirank*) ;;
		*) head -n 1 files >one && mv one files ;;
	esac
	# shellcheck disable=SC2046 # paths without blanks
	tl-report --format ndjson --kernels --launch --roof achievable \
		$(cat files) >tables 2>err || [ $? -eq 3 ] || continue
	[ -s tables ] || continue
	rm -rf out
	tl-advise tables --format ndjson -d out 2>err
	status=$?
	if [ ! -d out ]; then # 5: no GPU work
		is "$name: nothing to judge" "$status" 5
		[ "$status" -eq 5 ] && continue
		show stderr err
		continue
	fi
	ok "$name: each finding" python3 "$ROOT/tests/oracle/advise.py" \
		tables out "$ROOT/cmd/tl-advise/rules"
done
done_testing
