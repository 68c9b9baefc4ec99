#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-timeline on the real traces: equal to an independent slow program to the
# nanosecond, and to the reference's tables within the precision of its doubles.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/compare.py" timeline
