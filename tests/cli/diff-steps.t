#!/bin/sh
# SPDX-License-Identifier: MIT
# Changes planted in steps of generated pairs of traces are found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
changes=''
! sanitized || changes=2
# shellcheck disable=SC2086 # a word or none
python3 "$ROOT/tests/oracle/diffsteps.py" planted $changes
