#!/bin/sh
# SPDX-License-Identifier: MIT
# Trace diff on the real traces: a slow program against the reference's outputs,
# tl-diff against both, and on more pairs against the slow program alone.
# shellcheck disable=SC2086 # no word, or one
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
what=
! slow || what=oracle # the slow program itself
! command -v tl-diff >/dev/null || what="$what programs"
[ -n "$what" ] || skip_all 'tl-diff is not built'
python3 "$ROOT/tests/oracle/diff.py" $what
