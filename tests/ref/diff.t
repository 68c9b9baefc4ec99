#!/bin/sh
# SPDX-License-Identifier: MIT
# Trace diff on the real traces: the slow program against the reference's
# outputs.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/diff.py" oracle
