#!/bin/sh
# SPDX-License-Identifier: MIT
# A change of a step that is planted in generated pairs of traces is found.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
python3 "$ROOT/tests/oracle/diffsteps.py" planted
