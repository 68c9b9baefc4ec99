#!/bin/sh
# SPDX-License-Identifier: MIT
# Op models on drawn arguments against the formulas of the specification,
# implemented a second time.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
[ -x "$T/model-eval" ] || skip_all 'no op models (Lua is missing)'
python3 "$ROOT/tests/oracle/models_drawn.py"
