#!/bin/sh
# SPDX-License-Identifier: MIT
# Phases that tl-ops guesses on real traces, and the summary of annotated ones,
# equal to an independent program.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/phase_methods.py" inference_sglang_decode \
	inference_sglang_prefilldecode inference_vllm_decode_full \
	h100_nsfw_vit mi300_bert_small tpt_transformer_step1 norm_layer_test inference_xdit_sd_3_5 \
	"$ROOT/tests/data/h100/serving_steps.json.gz"
