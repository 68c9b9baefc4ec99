#!/bin/sh
# SPDX-License-Identifier: MIT
# The README works as printed: its first example, every question's command and
# every recipe, in the folder that `make traces` writes.
. tests/cli/lib.sh
sanitized && skip_all 'what is shown is the same under sanitizers'

for program in tl-roofline tl-replay tl-xlsx jq; do
	command -v $program >/dev/null || skip_all "no $program"
done
scripts=$ROOT/scripts
"$scripts/traces" . || fail 'scripts/traces'

# ---- the first example ----

sed -n '/^```$/,/^```$/p' "$ROOT/README.md" | sed -n '/^\$ tl-report/,/^```$/p' |
	sed '1d; $d' >expected
tl-report trace.json.gz >got 2>&1
same 'the first example' got expected

# ---- the command of each question, and the reports as files ----

# The gate fails: after.json.gz is slower. Notes about the health of a recording
# may be on stderr.
{
	sed -n 's/^| .* | `\(tl [^`]*\)` |$/\1/p' "$ROOT/README.md"
	sed -n '/^Reports as files/,/^\[tl-record/s/^    //p' "$ROOT/README.md"
} >commands
n=0
while read -r command; do
	n=$((n + 1))
	expect=0
	case $command in *--fail-over*) expect=4 ;; esac
	bash -c "$command" >out 2>err </dev/null
	is "$(echo "$command" | cut -c 1-60)" $? $expect
	[ -s out ] || case $command in *' -o '* | *' -d '*) ;;
	*) fail "$command prints nothing" ;; esac
done <commands
is 'commands of questions and reports' "$((n > 15))" 1
rm -r report.* sheets

# ---- many ranks: without Slurm, in the clone ----

sed -n '/^Without Slurm/,/^## Recipes/s/^    //p' "$ROOT/README.md" >ranks.sh
mkdir -p clone/build
ln -s "$scripts" clone/scripts
ln -s "$PWD" clone/build/traces
command -v parallel >/dev/null || sed -i '/^seq.*parallel/d' ranks.sh
sed '/^tl-merge/d' ranks.sh >cluster.sh
(cd clone && bash -e ../cluster.sh) >out 2>err
is 'many ranks without Slurm' "$? $(cat err)" '0 '
is 'its tables' "$(wc -l <clone/work/tables/nccl_groups.csv)" \
	"$(tl-collective rank?.json.gz | wc -l)"
is 'its tables, by xargs' "$(cat clone/work/tables/*.csv | cksum)" \
	"$(cat clone/work2/tables/*.csv | cksum)"
grep '^tl-merge' ranks.sh >merge.sh
bash -e merge.sh >out 2>err
is 'all ranks on one timeline' "$? $(cat err)" '0 '
kernels() { tl-cat --kind kernel --tsv -F id --no-header "$@" | wc -l; }
is 'its kernels' "$(kernels all.json.gz)" "$(kernels rank?.json.gz)"

# ---- recipes: indented blocks run in order, in one folder ----

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
	[ "$rc$(cat err)" = 0 ] || diag "$(cat err)"
	{ [ -s out ] && ! grep -qx null out; } || grep -q '>' "$recipe" ||
		fail "$recipe prints nothing"
done

# A Python with the module $1: from PATH, or the system's.
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
