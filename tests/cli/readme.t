#!/bin/sh
# SPDX-License-Identifier: MIT
# The README does what it shows: its first example, and every recipe.
. tests/cli/lib.sh

for program in tl-roofline tl-replay tl-xlsx jq; do
	command -v $program >/dev/null || skip_all "no $program"
done
cp "$SAMPLE" trace.json.gz
python3 "$ROOT/tests/gen/xplane.py" -o traces/plugins/profile/2026_11_22 --hosts 2 --gpus 2 --steps 4

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

# A Python that has the module $1: that of the path, or the system's.
python_with() {
	for python in python3 /usr/bin/python3; do
		if $python -c "import $1" 2>/dev/null; then
			echo $python
			return
		fi
	done
}

sed -n '/^```python/,/^```$/p' recipes | sed '1d; $d' >recipe.py
python=$(python_with pandas)
if [ "$python" ]; then
	like 'pandas' "$($python recipe.py 2>&1)" '^GEMM  *4\.49'
else
	skip 'pandas' 'pandas is not installed'
fi

sed -n '/^```sql/,/^```$/p' recipes | sed '1d; $d' >recipe.sql
cat >in_duckdb.py <<'EOF'
import duckdb
for row in duckdb.sql(open("recipe.sql").read()).fetchall():
    print(*row, sep="\t")
EOF
cat >in_duckdb.js <<'EOF'
const { DuckDBInstance } = require("@duckdb/node-api");
const sql = require("fs").readFileSync("recipe.sql", "utf8");
DuckDBInstance.create()
  .then((db) => db.connect())
  .then((connection) => connection.runAndReadAll(sql))
  .then((reader) => {
    for (const row of reader.getRowsJson()) console.log(row.join("\t"));
  });
EOF
python=$(python_with duckdb)
if [ "$python" ]; then
	set -- "$python" in_duckdb.py
elif command -v duckdb >/dev/null; then
	set -- duckdb -noheader -separator "$(printf '\t')" -f recipe.sql
elif NODE_PATH=$(npm root --global 2>/dev/null) && export NODE_PATH &&
	node -e 'require.resolve("@duckdb/node-api")' 2>/dev/null; then
	set -- node in_duckdb.js
else
	set --
fi
if [ $# -gt 0 ]; then
	like 'DuckDB' "$("$@" 2>&1)" "nccl.*	7	1\.[0-9]*"
else
	skip 'DuckDB' 'no duckdb, and neither Python nor node has it'
fi
done_testing
