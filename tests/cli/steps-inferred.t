#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps without annotations are the same in all programs as with annotations.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for prog in tl-steps tl-ops tl-roofline; do
	command -v $prog >/dev/null || skip_all "$prog is not built"
done
seeds='104 105'
! slow || seeds=$(seq 100 119)
! everything || seeds=$(seq 100 139)
! sanitized || seeds=104
# shellcheck disable=SC2086 # words
python3 "$ROOT/tests/oracle/inferred.py" $seeds
