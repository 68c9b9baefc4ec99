#!/bin/sh
# SPDX-License-Identifier: MIT
# JAX profiles in the slow programs, cell by cell against the reference's
# tables; differences are counted by reason.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'

oracle() { python3 "$ROOT/tests/oracle/jax.py" "$TL_DATA/$1"; }

is 'GEMMs of six modules with one name' "$(oracle jax08_gemm)" \
	'jax08_gemm: 493 cells equal, 0 differ; of ours the reference has otherwise: 12 module chosen by prefix (3), 4 module chosen by prefix (3), FLOPs, 3 rocclr copies counted as computation (7), 3 root instructions ignored (4), 3 root instructions ignored (4), kernels without a model'
is 'convolutions on eight GPUs' "$(oracle jax_conv_minimal_08)" \
	'jax_conv_minimal_08: 1821 cells equal, 0 differ; of ours the reference has otherwise: 2 input channels lost (5), FLOPs, 3 rocclr copies counted as computation (7)'
is 'the older form' "$(oracle jax_conv_minimal_legacy)" \
	'jax_conv_minimal_legacy: 251 cells equal, 0 differ; of ours the reference has otherwise: 2 input channels lost (5), FLOPs'

# ---- our programs on the same files ----

whole() {
	tl-decode "$1" | tl-cat >whole.nd
	python3 "$ROOT/tests/oracle/xplane_events.py" "$1" whole.nd
}
for file in "$TL_DATA"/jax*/*.xplane.pb "$TL_DATA"/xprof_tpu_inference_v1/*.xplane.pb; do
	name=$(basename "$(dirname "$file")")
	ok "$name: every event and stat is in the stream" whole "$file"
	if command -v tl-roofline >/dev/null; then
		ok "$name: timelines, kernels, instructions, FLOPs and bytes" \
			python3 "$ROOT/tests/oracle/jax.py" --programs "$file"
	fi
done
if command -v tl-roofline >/dev/null; then
	is 'instructions without arrays have their HLO' \
		"$(tl-report "$TL_DATA"/xprof_tpu_inference_v1/*.xplane.pb 2>/dev/null | grep -c 'recorded shapes')" 0
fi
done_testing
