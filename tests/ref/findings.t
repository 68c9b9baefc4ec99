#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise finds what TraceLens's rules find in TraceLens's tables of its traces.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
[ -d "$TL_DATA" ] || skip_all "no traces in $TL_DATA"
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/findings.py"
