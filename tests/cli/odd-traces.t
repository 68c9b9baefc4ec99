#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of random odd traces, worked out from their JSON in Python.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-modules; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
python3 "$ROOT/tests/oracle/odd.py" 1 8
