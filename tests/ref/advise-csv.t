#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise says the same about a report in CSV and in NDJSON.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

[ -d "$TL_DATA" ] || skip_all "no traces in $TL_DATA"
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'

# same_of SET FILE...: except ids of events with instances, "8.10", which CSV
# has as numbers
same_of() {
	name=$1
	shift
	rm -rf csv ndjson
	for format in csv ndjson; do
		tl-report --kernels --launch --short 10us --format $format -d $format "$@" >out 2>&1
		tl-advise --format tsv -c 'place,section,category,insight,action,gain_ns_low,gain_ns,gain_ns_high,confidence,overlaps,rule,rows' \
			$format >$format.tsv 2>&1
		echo "exit $?" >>$format.tsv
		sed -i "s/^tl-advise: $format:/tl-advise:/" $format.tsv
	done
	same "$name: findings of CSV and NDJSON" csv.tsv ndjson.tsv
}
first() { find "$TL_DATA/$1" -maxdepth 1 -type f -name "$2" | sort | head -n 1; }

same_of 'PyTorch' "$(first mi300_resnet_ckpt '*.json*')"
same_of 'rocprofv3' "$(first rocprofv3_json_908 '*.json*')"
same_of 'host only' "$(first hta_cpu_only_rank34 '*.json*')"
if slow; then
	same_of 'serving' "$(first inference_vllm_decode_full '*.json*')"
	same_of 'JAX' "$(first jax08_gemm '*.pb*')"
	same_of 'TPU' "$(first xprof_tpu_inference_v1 '*.pb*')"
	same_of 'rpd' "$(first rpd_matmul '*.rpd*')"
	same_of 'several ranks' "$TL_DATA"/multirank_cifar_mi300x_4r/*.json.gz
fi
done_testing
