#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-critical on the real traces against an independent program.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/critical.py"
