#!/bin/sh
# SPDX-License-Identifier: MIT
# No op of the real traces is above its roof without a reason, and a sheet counts
# each kernel once.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-roofline >/dev/null || skip_all 'no tl-roofline (Lua is missing)'
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/law.py"
