#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-steps on the real traces: known figures to the nanosecond, and sums.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/steps.py"
