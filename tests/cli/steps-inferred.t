#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps that nobody marked are the same in all programs as if they were marked.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for prog in tl-steps tl-ops tl-roofline; do
	command -v $prog >/dev/null || skip_all "$prog is not built"
done
if slow; then
	# shellcheck disable=SC2046
	python3 "$ROOT/tests/oracle/inferred.py" $(seq 100 139)
else
	python3 "$ROOT/tests/oracle/inferred.py" 104 105
fi
