#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff --by kernel finds what is planted in replays of graphs, with its place
# and size, and nothing else.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
pairs=12
! sanitized || pairs=1
python3 "$ROOT/tests/oracle/diffkernels.py" $pairs
