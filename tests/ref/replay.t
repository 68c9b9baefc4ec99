#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-replay on the real traces: its ops are those of tl-ops, its scripts
# compile, and run so much of the GPU time.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
if ! command -v tl-replay || ! command -v tl-ops; then
	skip_all 'tl-replay or tl-ops is not built'
fi >/dev/null
python3 "$ROOT/tests/oracle/replay.py"
