#!/bin/sh
# SPDX-License-Identifier: MIT
# The records of XLA modules in recordings, rebuilt by another reader, and the
# operands of the specification's examples.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
records() {
	tl-decode "$TL_DATA/$1"/*.xplane.pb 2>/dev/null | tl-cat |
		jq -r "select(.meta.key? // \"\" | startswith(\"hlo \")).meta | (.key[4:]) as \$program | .value.instructions[] | $2"
}
while read -r name want; do
	is "$name" "$(python3 "$ROOT/tests/oracle/hlo.py" "$TL_DATA/$name"/*.xplane.pb | cut -d' ' -f2-)" "$want"
done <<'END'
jax08_gemm copy 1 custom-call 5 fusion 10
jax_conv_minimal_08 custom-call 1 fusion 3
jax_conv_minimal_legacy custom-call 1 fusion 3
xprof_tpu_inference_v1 all-reduce 1 broadcast 1 copy-done 6 copy-start 6 fusion 3
END
is 'GEMMs of modules that are all called jit_dot' \
	"$(records jax08_gemm 'select(.target) | "\($program) \(.operands[0].shape) \(.operands[1].shape)"' | sort -n)" \
	'21 bf16[1024,1024]{1,0} bf16[1024,1024]{1,0}
34 bf16[4096,4096]{1,0} bf16[4096,4096]{1,0}
49 bf16[8192,4096]{1,0} bf16[4096,8192]{1,0}
64 bf16[2048,8192]{1,0} bf16[8192,2048]{1,0}
79 bf16[16384,1024]{1,0} bf16[1024,4096]{1,0}'
is 'a GEMM in a Triton fusion, the root of its module' \
	"$(records jax08_gemm 'select($program == "5") | .body[] | select(.opcode == "dot") | "\(.shape) \(.dot.lhs_contracting)"')" \
	'bf16[256,256]{1,0} [1]'
for name in jax_conv_minimal_08 jax_conv_minimal_legacy; do
	is "$name: a convolution" \
		"$(records $name 'select(.conv) | "\(.operands[0].shape) \(.operands[1].shape) \(.shape) \(.conv.kernel_input_feature) \(.window | map(.size))"')" \
		'bf16[1,16,32,60,104]{4,3,2,1,0} bf16[5120,16,1,2,2]{4,3,2,1,0} (bf16[1,5120,34,31,53]{4,3,2,1,0},u8[7150336]{0}) 1 [1,2,2]'
done
is 'a TPU: the groups of an all-reduce' "$(records xprof_tpu_inference_v1 'select(.opcode == "all-reduce") | "\(.groups) \(.channel)"')" \
	'[[0,4],[1,5],[2,6],[3,7]] 1'
is 'a TPU without its modules: the texts of instructions say the same' \
	"$(python3 "$ROOT/tests/oracle/hlo.py" --texts "$TL_DATA"/xprof_tpu_inference_v1/*.xplane.pb)" '74 74'
done_testing
