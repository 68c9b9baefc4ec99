#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports with a comparison of the real traces against the reference's.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
export TL_MODELS="$ROOT/tests/oracle/reference"
[ -x "$B/bin/tl-roofline" ] || skip_all 'tl-roofline is not built'
python3 "$ROOT/tests/oracle/versus.py"
