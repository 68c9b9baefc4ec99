#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables and events as one SQLite file, read back by another program.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

[ -x "$B/bin/tl-sql" ] || skip_all 'tl-sql was not built'
python3 -c 'import sqlite3' 2>/dev/null || skip_all "Python's sqlite3 is not there"

cat >ask.py <<'EOF'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.text_factory = lambda b: b.decode("utf-8")
for row in db.execute(sys.argv[2]):
    print(*(ascii(v) if isinstance(v, str) else v for v in row), sep=" ")
EOF
ask() { # ask DATABASE SQL: one line
	python3 ask.py "$@" 2>&1 | tr '\n' ';'
}

# ---- tables ----
cat >typed.ndjson <<'EOF'
{"table":"gpu_timeline","columns":[{"id":"type","type":"text"},{"id":"time_ns","type":"int","unit":"ns"},{"id":"percent","type":"real"},{"id":"is_ok","type":"bool"},{"id":"dims","type":"json"}]}
{"type":"x","time_ns":9007199254740993,"percent":12,"is_ok":true,"dims":[[1,2],[3]]}
{"type":"007","time_ns":null,"percent":0.25,"is_ok":false,"dims":"a"}
{"end":{"rows":2}}
{"table":"counts","columns":[{"id":"n","type":"int"}]}
{"n":-9223372036854775808}
{"end":{"rows":1}}
EOF
ok 'typed tables' tl-sql -o typed.sqlite typed.ndjson
is 'integers are exact, lists JSON, what is missing NULL' \
	"$(ask typed.sqlite 'SELECT *, typeof(percent) FROM gpu_timeline')" \
	"'x' 9007199254740993 12.0 1 '[[1,2],[3]]' 'real';'007' None 0.25 0 '\"a\"' 'real';"
is 'declared types' "$(ask typed.sqlite "SELECT sql FROM sqlite_master LIMIT 1")" \
	"'CREATE TABLE \"gpu_timeline\" (\"type\" TEXT, \"time_ns\" INTEGER, \"percent\" REAL, \"is_ok\" BOOLEAN, \"dims\" TEXT)';"
is 'several of one input' "$(ask typed.sqlite 'SELECT * FROM counts')" \
	'-9223372036854775808;'
is 'version of the schema' "$(ask typed.sqlite 'PRAGMA user_version')" '1;'
printf 'a b,v,\n"x ""y"", z",1,\n,2.5,007\n12345678901234567890,1e400,-0\n' >c.csv
gzip -c c.csv >g.csv.gz
printf 'k\tv\n\xff\xc3\xa9\\x00z\t2\n' | tl-sql -o plain.sqlite c.csv g.csv.gz 'my "t"=c.csv' -
is 'CSV: cells as they look' "$(ask plain.sqlite 'SELECT * FROM c')" \
	"'x \"y\", z' 1 None;None 2.5 '007';'12345678901234567890' '1e400' 0;"
is 'the same of names that need quotes, compressed, from standard input' \
	"$(ask plain.sqlite 'SELECT name FROM sqlite_master')" \
	"'c';'g';'my \"t\"';'table';"
is 'bytes that are no UTF-8, and NUL' \
	"$(ask plain.sqlite 'SELECT k, v FROM "table"')" "'\\ufffd\\xe9\\x00z' 2;"
is 'a hostile name is a name' "$(
	printf '%s\n1\n' 'x"); DROP TABLE t; --' >hostile.tsv
	tl-sql -o hostile.sqlite 't"; ATTACH=hostile.tsv'
	ask hostile.sqlite 'SELECT * FROM "t""; ATTACH"'
	ask hostile.sqlite 'SELECT name FROM pragma_table_info((SELECT name FROM sqlite_master))')" \
	"1;'x\"); DROP TABLE t; --';"

# ---- events ----
tl-decode "$SAMPLE" -o s.tl
tl-tree s.tl -o t.tl
same_events() { # same_events NAME TREE DATABASE
	ok "$1" sh -c "tl-cat '$2' | python3 '$ROOT/tests/oracle/sql.py' '$3'"
}
tl-sql -o t.sqlite t.tl
same_events 'each event equals its line' t.tl t.sqlite
tl-sql -o ten.sqlite "$ROOT/tests/golden/stream/valid/ten-events.tl"
same_events 'also of a small step' \
	"$ROOT/tests/golden/stream/valid/ten-events.tl" ten.sqlite
is 'by hand: calls, their work, how long it waits' \
	"$(ask ten.sqlite 'SELECT name, api, ts_ns, queue_ns, op_name FROM launches')" \
	"'gemm' 'cudaLaunchKernel' 9000 1000 'aten::addmm';'add' 'cudaLaunchKernel' 39000 24000 'aten::addmm';"
for input in s.tl "$SAMPLE" - '--events -'; do
	# shellcheck disable=SC2086 # an option and an operand
	tl-sql -o other.sqlite $input <"$SAMPLE"
	# the name of the source differs
	is "the same of $input" "$(ask other.sqlite 'SELECT * FROM events' | cksum)" \
		"$(ask t.sqlite 'SELECT * FROM events' | cksum)"
done
tl-cat t.tl >t.ndjson
ok 'lines' tl-sql -o other.sqlite t.ndjson
same 'are the same bytes' t.sqlite other.sqlite
tl-tree "$ROOT/tests/data/replay.json.gz" | tl-graft --pseudo-ops -o grafted.tl
tl-cat --binary t.tl grafted.tl -o two.tl
tl-sql -o two.sqlite t.tl grafted.tl
same_events 'several inputs; events with an instance' two.tl two.sqlite
tl-filter --name '*gemm*,Cijk*' t.tl -o stubs.tl
tl-sql -o stubs.sqlite stubs.tl
same_events 'stubs are no ops' stubs.tl stubs.sqlite
tl-cat t.tl | python3 -c 'import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e.get("kind") == "op" and "args" in e:
        e["args"] = {"k\0\"": "\ud800", "big": "#18446744073709551615",
                     "nan": "#NaN", "list": [1, {"a": None}]}
    print(json.dumps(e, separators=(",", ":")))' >odd.ndjson
tl-sql -o odd.sqlite odd.ndjson
is 'arguments that are odd' "$(ask odd.sqlite 'SELECT DISTINCT args FROM ops')" \
	"'{\"k\\\\u0000\\\\\"\":\"\\\\ud800\",\"big\":18446744073709551615,\"nan\":\"NaN\",\"list\":[1,{\"a\":null}]}';"
python3 -c 'print("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,"
    "\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"words\":[\"NaN\",\"Infinity \\\\\"],\"nans\":[-1,NaN],"
    "\"deep\":%s,\"deeper\":%s,\"Input Dims\":[[2]]}}]}" %
    tuple("[" * n + "]" * n for n in (900, 5000)))' >deep.json
tl-sql -o deep.sqlite deep.json
is 'lists that SQLite does not read are texts, others lists' "$(ask deep.sqlite "SELECT dims, json_extract(args, '\$.words'),
	json_extract(args, '\$.nans'), json_type(args, '\$.deep'), json_type(args, '\$.deeper') FROM ops")" \
	"'[[2]]' '[\"NaN\",\"Infinity \\\\\\\\\"]' '[-1,NaN]' 'array' 'text';"
is 'indexes' "$(ask t.sqlite "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1")" \
	"'events_by_corr';'events_by_kind';'events_by_parent';'events_by_time';"
is 'it is sound' "$(ask two.sqlite 'PRAGMA integrity_check')$(ask two.sqlite 'PRAGMA foreign_key_check')" \
	"'ok';"
is 'sources' "$(ask two.sqlite "SELECT src, name, rank, json_extract(facts, '\$.base') = base_ns FROM sources")" \
	"0 '$SAMPLE' 0 1;1 '$ROOT/tests/data/replay.json.gz' 0 1;"
tl-sql -o both.sqlite t.tl typed.ndjson
is 'tables and events' "$(ask both.sqlite 'SELECT count(*) FROM counts, sources')" '1;'

# ---- a report ----
ok 'a report' tl-report --events -o report.sqlite t.tl
is 'its figures are those of the events' "$(ask report.sqlite \
	"SELECT step, s.kernels = count(*) FROM steps s
		JOIN kernels k USING (step) GROUP BY step")" '1 1;2 1;3 1;'
tl-report -o report2.sqlite t.tl
is 'without events unless asked for' \
	"$(ask report2.sqlite "SELECT count(*) FROM sqlite_master WHERE name = 'events'")" '0;'
refuses 2 'needs -o FILE.sqlite' 'tl-report --events -o r.xlsx t.tl'

# ---- what is refused ----
refuses 2 "'-o' is missing" 'tl-sql typed.ndjson'
refuses 1 'empty' 'tl-sql -o bad.sqlite </dev/null'
refuses 1 'already exists' 'tl-sql -o bad.sqlite typed.ndjson COUNTS=c.csv'
refuses 1 'already exists' 'tl-sql -o bad.sqlite events=c.csv t.tl'
refuses 1 'duplicate column' 'printf "a,A\n1,2\n" | tl-sql -o bad.sqlite'
refuses 1 'reserved' 'tl-sql -o bad.sqlite sqlite_x=c.csv'
refuses 1 'table: table without columns' 'echo | tl-sql -o bad.sqlite'
refuses 1 'too many columns' 'seq -s, 5000 | tl-sql -o bad.sqlite'
refuses 1 'cut off' 'head -n 2 typed.ndjson | tl-sql -o bad.sqlite'
refuses 1 'line 3: 1 fields' 'printf "a\tb\n1\t2\n3\n" | tl-sql -o bad.sqlite'
refuses 1 'No such file' 'tl-sql -o bad.sqlite missing'
refuses 1 'not a pipe or device' 'tl-sql -o /dev/full typed.ndjson'
refuses 1 'not a pipe or device' 'tl-sql -o - typed.ndjson | cat; exit 1'
refuses 1 'full|I/O|too large' \
	'trap "" XFSZ; ulimit -f 64; tl-sql -o bad.sqlite t.tl'
refuses 5 'no events' \
	'printf "{\"traceEvents\":[]}" | tl-sql -o bad.sqlite'
ok 'nothing under its name, nothing beside it' \
	sh -c '! ls bad.sqlite* 2>/dev/null'
cp typed.sqlite kept.sqlite
refuses 1 'cut off' 'head -c 900 t.tl | tl-sql -o kept.sqlite'
same 'an earlier one stays' typed.sqlite kept.sqlite
if command -v sqlite3 >/dev/null; then
	page_examples tl-sql.1
else
	skip 'examples of tl-sql.1' 'no sqlite3 here'
fi
done_testing
