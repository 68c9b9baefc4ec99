#!/bin/sh
# SPDX-License-Identifier: MIT
# All records of XLA modules, rebuilt by another reader.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
oracle() {
	python3 "$ROOT/tests/oracle/hlo.py" "$@"
}
is 'JAX 0.11 on an H100' "$(oracle "$ROOT"/tests/data/h100/jax_*.xplane.pb.gz)" \
	"jax_attention.xplane.pb.gz command-buffer 1 custom-call 2 fusion 5
jax_conv.xplane.pb.gz custom-call 4 fusion 7
jax_mlp.xplane.pb.gz command-buffer 1 custom-call 9 fusion 13
jax_scan.xplane.pb.gz command-buffer 1 copy 2 fusion 8"
for option in --layers=2 --iota; do
	python3 "$ROOT/tests/gen/xplane.py" -o gen --hosts 2 $option
	is "generated with $option: collectives of all kinds" "$(oracle gen/host0.xplane.pb | sed 's/ custom-call.*//')" \
		'host0.xplane.pb all-gather-start 2 all-reduce 1 all-to-all 1 async-start 1 collective-permute-start 1 copy 2'
done

# the kernels of the graph, in the order of the module's schedule
tl-decode "$ROOT/tests/data/h100/jax_attention.xplane.pb.gz" >a.tl
is 'what a command buffer runs' "$(tl-cat a.tl | jq -r '
	select(.meta.key == "hlo 307485").meta.value.instructions[] | select(.opcode == "command-buffer").calls | join(" ")')" \
	'wrapped_transpose.1 wrapped_transpose gemm_fusion_dot.5 fusion.8 custom-call.1 input_transpose_fusion'
done_testing
