#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of JAX profiles in tl-report, cell by cell against those of a slow
# program that reproduces the reference's.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-kernels >/dev/null || skip_all 'no tl-kernels'

checked() { # checked FILE
	rm -rf tables
	tl-report -d tables "$1" 2>/dev/null
	python3 "$ROOT/tests/oracle/jax_tables.py" "$1" tables
}

for file in "$TL_DATA"/jax*/*.xplane.pb; do
	name=$(basename "$(dirname "$file")")
	like "$name" "$(checked "$file")" '^[0-9]{3,} cells equal, 0 differ$'
done
done_testing
