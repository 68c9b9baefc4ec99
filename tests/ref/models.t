#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models on every row of the reference's roofline tables: equal to the last
# digit, or different with a name and a formula.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
python3 "$ROOT/tests/oracle/models.py"
