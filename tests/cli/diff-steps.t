#!/bin/sh
# SPDX-License-Identifier: MIT
# Changes planted in steps of generated pairs of traces are found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
sanitized && skip_all 'figures are the same under sanitizers'
python3 "$ROOT/tests/oracle/diffsteps.py" planted
