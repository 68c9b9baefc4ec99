#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective blames what is planted into generated jobs, and nothing else.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
ranks='4 8 16' quiet=20
[ -z "${TL_SLOW:-}" ] || ranks='4 8 16 64 256'
! sanitized || ranks='' quiet=2
# shellcheck disable=SC2086 # words
python3 "$ROOT/tests/oracle/collective_jobs.py" "generated=$quiet" $ranks
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
