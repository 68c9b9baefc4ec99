#!/bin/sh
# SPDX-License-Identifier: MIT
# Groups of tl-ops and tl-kernels for which the reference has no table, on real
# traces of several origins, equal to an independent slow program.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
set --
slow && set -- kineto_resnet50_w0_step1 # 8,800 kernels
python3 "$ROOT/tests/oracle/groups.py" mi300_bert_small h100_nsfw_vit \
	tpt_transformer_step1 hta_alexnet norm_layer_test torch_compile_triton \
	mi300_resnet_ckpt hta_gpu_user_annotation hta_amd_mi250_minitoy \
	inference_sglang_decode "$@"
