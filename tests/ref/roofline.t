#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-roofline on the real traces: every cell of the reference's unified table
# and sheets is equal, or within the precision of its doubles, or differs for a
# named reason.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
export TL_MODELS="$ROOT/tests/oracle/reference"
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/roofline.py"
