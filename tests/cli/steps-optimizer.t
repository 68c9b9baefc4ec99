#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps of training without markers, in random loops of differing steps.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-steps >/dev/null || skip_all 'tl-steps is not built'
if slow; then last=400; else last=24; fi
python3 "$ROOT/tests/oracle/optimizer_steps.py" 1 $last
