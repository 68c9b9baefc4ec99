#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff's comparison of steps on real traces: known figures to the nanosecond,
# sums.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/diffsteps.py" worked
