#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of random odd traces, against figures computed from their JSON in
# Python.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-modules; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
python3 "$ROOT/tests/oracle/odd.py" 1 8
