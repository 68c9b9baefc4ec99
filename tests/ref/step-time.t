#!/bin/sh
# SPDX-License-Identifier: MIT
# One time of a step: of tl-timeline, tl-steps and tl-idle, on all real traces.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/step_time.py"
