#!/bin/sh
# SPDX-License-Identifier: MIT
# What tl-diff judges, against a second writing of the same rules, on drawn pairs.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
pairs=0
! slow || pairs=500
python3 "$ROOT/tests/oracle/diffdraw.py" $pairs
