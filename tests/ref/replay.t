#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-replay on the real traces: its ops are those of tl-ops, its scripts compile, and how
# much of the GPU time they run.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-replay >/dev/null && command -v tl-ops >/dev/null || skip_all 'not built'
python3 "$ROOT/tests/oracle/replay.py"
