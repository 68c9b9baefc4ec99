#!/bin/sh
# SPDX-License-Identifier: MIT
# What holds for the diff of any two traces, on thousands of made-up pairs, and
# that what is planted is found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
slow || skip_all 'tests/run --slow'
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
command -v tl-kernels >/dev/null ||
	skip_all 'tl-kernels, which adds up each side, was not built'
pairs=5000
! everything || pairs=10000
python3 "$ROOT/tests/oracle/diffprops.py" $pairs
