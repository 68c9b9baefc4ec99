#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective on the real traces: equal to the reference's tables of several
# ranks and of one, within the precision of its doubles.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/collective.py" "$TL_DATA"
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
