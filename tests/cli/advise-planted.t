#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise: each rule about the window, gaps, copies and kernels finds what was
# planted, with its gain, and nothing in a sound trace.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'
python3 "$ROOT/tests/oracle/advise_planted.py"
