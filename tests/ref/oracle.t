#!/bin/sh
# SPDX-License-Identifier: MIT
# The slow programs themselves: the worked examples, known exact figures, and
# the reference's tables.
. tests/cli/lib.sh
slow || skip_all 'tests/run --slow'
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/compare.py" oracle
