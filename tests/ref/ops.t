#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-ops and tl-kernels on the real traces: every table of the reference cell by
# cell, and sums that must agree to the nanosecond.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
export TL_MODELS="$ROOT/tests/oracle/reference"
python3 "$ROOT/tests/oracle/ops.py" all
