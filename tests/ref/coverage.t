#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models on the real traces: of the GPU time below ops less than 3 % has none.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/coverage.py"
