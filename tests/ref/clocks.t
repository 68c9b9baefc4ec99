#!/bin/sh
# SPDX-License-Identifier: MIT
# Clocks of real jobs of 4 and 8 ranks: none is off, except moved ones.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/clock_jobs.py" real "$TL_DATA"
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
