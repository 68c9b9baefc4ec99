#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report's verdicts on planted and real traces: each of their figures against
# the raw JSON, and verdicts worked out by hand.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/verdict.py"
