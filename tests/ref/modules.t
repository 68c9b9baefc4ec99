#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-modules and tl-fold on the real traces: every call of a module and every
# stack equal to an independent slow program, to the nanosecond.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/modules.py"
