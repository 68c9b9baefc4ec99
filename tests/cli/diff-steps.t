#!/bin/sh
# SPDX-License-Identifier: MIT
# A change of a step that is planted in generated pairs of traces is found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
sanitized && skip_all 'figures are the same under sanitizers'
python3 "$ROOT/tests/oracle/diffsteps.py" planted
