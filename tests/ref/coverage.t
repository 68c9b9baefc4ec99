#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models on the real traces: less than 3 % of the GPU time below ops has
# none.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/coverage.py"
