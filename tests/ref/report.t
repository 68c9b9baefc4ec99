#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report -d on the real traces: each table of each report that the reference
# made of them, by the options of its variant, cell by cell.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
export TL_MODELS="$ROOT/tests/oracle/reference"
for program in tl-report tl-ops tl-kernels tl-roofline tl-collective tl-graft; do
	command -v "$program" >/dev/null || skip_all "$program was not built"
done
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/report.py"
