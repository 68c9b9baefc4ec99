#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-health: drawn defects, two and three at once, are found with their counts,
# and no others; for pairs of all kinds the figures that they spoil are marked.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
draws=60 pairs=25
! slow || draws=400 pairs=250
! everything || draws=800 pairs=500
! sanitized || draws=2 pairs=2
command -v tl-kernels >/dev/null || pairs=0 # not built: neither are others
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/health_drawn.py" 1 "$draws" "$pairs"
