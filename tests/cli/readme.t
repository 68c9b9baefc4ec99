#!/bin/sh
# SPDX-License-Identifier: MIT
# The README does what it shows: its first example, and every recipe.
. tests/cli/lib.sh

for program in tl-roofline tl-xlsx jq; do
	command -v $program >/dev/null || skip_all "no $program"
done
cp "$SAMPLE" trace.json.gz

# ---- the first example ----

sed -n '/^```$/,/^```$/p' "$ROOT/README.md" | sed -n '/^\$ tl-report/,/^```$/p' |
	sed '1d; $d' >expected
tl-report trace.json.gz >got 2>&1
same 'the first example' got expected

# ---- recipes: indented blocks run in order, in one folder ----

tl-gen --ranks 2 -d . --gzip -n 1 # rank0.json.gz, as ranks are named
for file in rank-*.json.gz; do mv "$file" "rank${file#rank-}"; done
sed -n '/^## Recipes/,/^## Speed/p' "$ROOT/README.md" >recipes
sed -n '/^```lua/,/^```$/p' recipes | sed '1d; $d' >my.lua
awk '/^```/ { fenced = !fenced }
fenced { next }
/^    / { if (!open) file = sprintf("r%02d.sh", ++n)
	open = 1; print substr($0, 5) >file; next } { open = 0 }' recipes
for recipe in r??.sh; do
	bash -e "$recipe" >out 2>err
	rc=$?
	is "$(head -n 1 "$recipe" | cut -c 1-60)" "$rc $(grep -c '' err)" '0 0'
	[ "$rc" -eq 0 ] || diag "$(cat err)"
	[ -s out ] || grep -q '>' "$recipe" || fail "$recipe prints nothing"
done

sed -n '/^```python/,/^```$/p' recipes | sed '1d; $d' >recipe.py
if python3 -c 'import pandas' 2>/dev/null; then
	like 'pandas' "$(python3 recipe.py 2>&1)" '^GEMM  *4\.49'
else
	skip 'pandas' 'pandas is not installed'
fi
sed -n '/^```sql/,/^```$/p' recipes | sed '1d; $d' >recipe.sql
if python3 -c 'import duckdb' 2>/dev/null; then
	like 'DuckDB' "$(python3 -c 'import duckdb
for row in duckdb.sql(open("recipe.sql").read()).fetchall():
    print(row)' 2>&1)" "nccl.*, 7, 1\.[0-9]*\)"
else
	skip 'DuckDB' 'duckdb is not installed'
fi
done_testing
