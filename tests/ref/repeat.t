#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-steps without markers: the steps that repeat, on real traces.
. tests/cli/lib.sh
slow || skip_all 'tests/run --slow'
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'
python3 "$ROOT/tests/oracle/repeat.py"
