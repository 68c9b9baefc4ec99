#!/bin/sh
# SPDX-License-Identifier: MIT
# FLOPs, bytes and rates of JAX's ops against the worked examples of the
# specification (6.2, 6.3) and, of our own recordings, against figures by hand.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'

# rates FILE NAME: FLOPs, MiB and TFLOP/s by the mean time of the ops of a name, each once
rates() {
	tl-roofline --no-header -c name,gflop,moved_mib,kernel_ns_mean "$1" 2>/dev/null |
		awk -F '\t' -v name="$2" '$1 ~ name { printf "%.0f %.0f %.2f\n", $2 * 1e9, $3 * 1048576, $2 * 1e6 / $4 }' |
		sort -n
}

if have_data; then
	is 'six products of modules of one name' "$(rates "$TL_DATA"/jax08_gemm/*.pb '^(custom-call|gemm_fusion)')" \
		'33554432 393216 6.71
2147483648 6291456 205.44
68719476736 75497472 585.21
137438953472 100663296 917.73
137438953472 176160768 745.65
549755813888 268435456 899.76'
	is 'a convolution of two kernels' "$(rates "$TL_DATA"/jax_conv_minimal_legacy/*.pb '^cudnn')" \
		'36609720320 579072000 118.88'
	tpu=$TL_DATA/xprof_tpu_inference_v1/tpu_inference_2.xplane.pb
	is 'an op has what a TPU counted' "$(tl-tree "$tpu" | tl-cat --tsv -F kind,name,args.flops,args.bytes_accessed |
		grep '^op	broadcast_add_fusion.2	' | sort -u)" \
		'op	broadcast_add_fusion.2	1342177280	10737418240'
	is 'GPUs without a name are found' "$(tl-roofline "$TL_DATA"/jax08_gemm/*.pb 2>&1 | grep -c 'no GPU')" 0
fi

h100="$ROOT/tests/data/h100"
# 2 x 2048 x 128 for each of 16 x 4 heads and 2048 queries, twice, half of it masked
is 'attention of cuDNN' "$(rates "$h100/jax_attention.xplane.pb.gz" '^dot_product' | cut -d' ' -f1,2)" \
	'68719476736 134217728'
is 'a convolution and both gradients' "$(rates "$h100/jax_conv.xplane.pb.gz" '^cudnn' | cut -d' ' -f1,2)" \
	'77309411328 201474048
77309411328 201474048
77309411328 201474048
77309411328 201474304'
done_testing
