#!/bin/sh
# SPDX-License-Identifier: MIT
# What tl-diff judges, against a second writing of the same rules, on drawn pairs:
# with --slow some 105 with changes and 60 without. How often it errs exactly needs
# more, by hand: tests/oracle/diffdraw.py 500
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $B in */asan* | */tsan*) skip_all 'figures are the same under sanitizers' ;; esac
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'
python3 "$ROOT/tests/oracle/diffdraw.py" ${TL_SLOW:+15}
