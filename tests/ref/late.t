#!/bin/sh
# SPDX-License-Identifier: MIT
# How long ranks of real jobs wait for the late one, on all screens, against the
# raw
# traces.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'
python3 "$ROOT/tests/oracle/late.py" "$TL_DATA"
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
