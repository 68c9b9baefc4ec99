#!/bin/sh
# SPDX-License-Identifier: MIT
# What tl-diff judges, against a second writing of the same rules, on drawn pairs:
# with --slow eight of each kind. How often it errs exactly needs more, by hand:
# tests/oracle/diffdraw.py 500
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
pairs=''
! slow || pairs=8
! everything || pairs=15
! sanitized || pairs='0 first'
# shellcheck disable=SC2086 # words
python3 "$ROOT/tests/oracle/diffdraw.py" $pairs
