#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON cases are sound: each has one verdict, and a strict reader agrees.
. tests/cli/lib.sh
plan 3
ok 'JSON cases' python3 "$ROOT/tests/golden/json/check"
cd "$ROOT" || exit 1
for seed in 1 2; do
	ok "mutants, seed $seed: our reader and Python's agree" \
		python3 tests/oracle/json_mutants.py 40000 $seed
done
