#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-launch on the real traces, against the raw JSON and known figures.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/launch.py"
