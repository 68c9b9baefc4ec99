#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective blames the rank that was made late in real jobs of 4 and 8.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/collective_jobs.py" real "$TL_DATA"
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
