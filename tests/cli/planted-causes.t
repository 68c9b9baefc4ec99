#!/bin/sh
# SPDX-License-Identifier: MIT
# Causes of idle time planted in random traces are found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-idle >/dev/null || skip_all 'tl-idle is not built'
last=40
! sanitized || last=2
python3 "$ROOT/tests/oracle/planted.py" 1 $last
