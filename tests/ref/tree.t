#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-tree on the real traces, with and without Python frames: parents, links,
# marks and counts of every event equal an independent slow tree builder's.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
python3 "$ROOT/tests/oracle/compare.py" tree
