#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-match on the reference's inference traces, each against each.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference data'

agrees() { # agrees MATCHES A B: so many, and their whole output
	got=$(python3 "$ROOT/tests/oracle/match.py" "$2" "$3" --phase prefill,decode,mixed | grep -v '^$')
	is "$(basename "$2") and $(basename "$3")" "$got" "$1"
}

cd "$TL_DATA" || exit 1
# one iteration each: a prompt, and two that generate, which form no run
prefill=$PWD/inference_sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz
sglang=$PWD/inference_sglang_decode/sglang_Qwen3-8B_decode.json.gz
vllm=$PWD/inference_vllm_decode_full/graph_execution.json.gz
diffusion=$PWD/inference_xdit_sd_3_5/profile_trace_rank_0.json.gz
cd "$TMP" || exit 1
agrees '1 matches' "$prefill" "$prefill"
agrees '0 matches' "$prefill" "$sglang"
agrees '0 matches' "$sglang" "$vllm"
agrees '0 matches' "$diffusion" "$prefill"
done_testing
