#!/bin/sh
# SPDX-License-Identifier: MIT
# What tl-diff takes for noise, on made-up traces that vary: how often traces of
# one job seem to differ, and how often a change of known size is found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
pairs=20
! sanitized || pairs=1
python3 "$ROOT/tests/oracle/diffnoise.py" $pairs
