#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-export: decoded traces come back, and viewers get what they need.
. tests/cli/lib.sh
same_json() {
	python3 "$ROOT/tests/oracle/same_json.py" "$@"
}
# jq_py EXPRESSION FILE: of t, the file's JSON value, and ev, its events.
value() {
	python3 -c '
import json, sys
t = json.load(open(sys.argv[2]))
ev = t["traceEvents"] if isinstance(t, dict) else t
print(eval(sys.argv[1]))' "$1" "$2"
}

tl-gen -s 7 -n 1 --layers 1 -o a.json
tl-decode a.json >a.tl

# --- there and back ---
tl-export a.tl >b.json
ok 'a trace comes back' same_json a.json b.json
tl-export <a.tl >c.json
same 'from standard input' b.json c.json
tl-export a.json >c.json
same 'from a raw trace' b.json c.json
tl-cat a.tl | tl-export >c.json
same 'from NDJSON' b.json c.json
tl-export --to chrome -o c.json a.tl
same 'to a file' b.json c.json
tl-tree a.tl | tl-export --sort id >c.json
same 'a tree by id' b.json c.json
tl-link a.tl | tl-export >c.json
same 'links are not shown' b.json c.json
is 'an event a line' "$(grep -c '^{"ph"' b.json)" "$(value 'len(ev)' a.json)"
tl-gen -s 7 -n 1 --layers 1 --metadata-last --pretty -o m.json
tl-decode m.json | tl-export >c.json
ok 'metadata behind the events' same_json m.json c.json
is 'stays there' "$(tail -n 3 c.json | head -n 1 | cut -c 1)" '"'

tl-export -o c.json.gz a.tl
gzip -dc c.json.gz >c.json
same 'gzip by name' b.json c.json
tl-export --gzip=1 a.tl | gzip -dc >c.json
same 'gzip by option' b.json c.json
tl-export -z a.tl >c.zst
tl-export c.zst >c.json
same 'zstd' b.json c.json

# --- every quirk ---
bad='' pairs=''
for q in $(tl-gen --list-quirks | awk '{ print $1 }'); do
	tl-gen -n 1 --layers 1 -q "$q" -o "q-$q"
	tl-decode "q-$q" >q.tl 2>/dev/null || continue
	tl-export q.tl >"r-$q" &&
		tl-cat q.tl | tl-export | cmp -s - "r-$q" || bad="$bad $q"
	pairs="$pairs q-$q r-$q"
done
is 'quirks through NDJSON' "$bad" ''
# shellcheck disable=SC2086 # names without spaces
ok 'quirks come back' same_json $pairs

# --- unchanged as written ---
cat >odd.json <<'END'
[{"ph":"X","ts":"17.5","dur":-3,"name":"a","pid":"1","tid":null,
"args":{"n":NaN,"i":-Infinity,"big":18446744073709551615,"e":12e0,"z":-0,
"s":"\ud800 \u0001 \\ \" é","l":[1, {"a" : "\u00e9"}],"d":0.10}},
{"ts":1712195495519689.04712,"dur":0.0005,"ph":"X","args":[1]},
{"ph":"XX","name":5,"cat":null,"args":null},{},
{"ph":"s","id":"0x1","ts":-0.25,"pid":1,"tid":2,"bp":"e","args":{}},
END
tl-decode odd.json 2>/dev/null >odd.tl
tl-export odd.tl >odd.out
ok 'odd values come back' same_json -a odd.json odd.out
is 'a bare array comes back as one' "$(head -c 1 odd.out)" '['
tl-export --object odd.tl >odd.out
is 'or as an object' "$(value 'type(t).__name__, len(ev)' odd.out)" \
	"('dict', 5)"
printf '[]' >empty.json
is 'an empty array' "$(tl-export empty.json | tr -d '\n')" '[]'
printf '{"traceEvents":[],"a":1}' >empty.json
is 'an empty trace' "$(tl-export empty.json | tr -d '\n')" \
	'{"traceEvents":[],"a":1}'
printf '[{"ph":"X","ph":"B","args":{"a":1,"a":2},"args":{"a":3,"b":1,"b":2}}]' \
	>dup.json
is 'the last value of a key' "$(tl-export dup.json | tr -d '\n')" \
	'[{"ph":"B","args":{"a":3,"b":2}}]'

# --- what a tree knows ---
tl-export --with-tree a.tl >c.json
is 'every event has its id' \
	"$(value 'sorted(e["args"]["tl.id"] for e in ev)[-1] + 1' c.json)" \
	"$(value 'len(ev)' a.json)"
is 'kernels have their launches' "$(value 'len([e for e in ev
if e.get("cat") == "kernel" and "tl.launch" not in e["args"]
and e["args"].get("tl.flags") != "unlinked"])' c.json)" 0
tl-gen -s 7 -n 1 --layers 1 --no-flows -o noflow.json
tl-export --flows noflow.json >c.json
is 'arrows from links' "$(value '(lambda s, f: (len(f) > 50, f <= s))(
{e["id"] for e in ev if e["ph"] == "s"},
{e["id"] for e in ev if e["ph"] == "f" and e["cat"] == "ac2g"})' c.json)" \
	'(True, True)'
tl-tree a.tl | tl-export --flows >d.json
is 'each arrow has two ends' "$(value 'sorted(set(e["id"] for e in ev
if e["ph"] == "s" and e["cat"] == "ac2g")) == sorted(set(e["id"] for e in ev
if e["ph"] == "f" and e["cat"] == "ac2g"))' d.json)" True

# --- other formats ---
tl-gen --rocprof -n 1 --layers 1 -o roc.json
tl-export roc.json >c.json
is 'kernels stand under their device' "$(value 'all(
e["pid"] == e["args"]["device"] and e["tid"] == e["args"]["stream"]
for e in ev if e.get("cat") == "kernel_dispatch")' c.json)" True
is 'which has a name' "$(value '[e["args"]["name"] for e in ev
if e["ph"] == "M" and e["name"] == "process_name"][0]' c.json)" 'GPU 0'

# --- several sources ---
tl-gen -s 7 -n 1 --layers 1 --ranks 2 -d r
tl-export r/*.json >c.json
is 'processes of two ranks are apart' "$(value '(lambda n, p: len(p) == n and
not any(a in p[k] for k in range(n) for j in range(k) for a in p[j]))(
2, [set(str(e["pid"]) for e in part) for part in
(lambda h: (ev[:h], ev[h:]))(len(ev) // 2)])' c.json)" True
is 'and named' "$(value '[e["args"]["name"][:7] for e in ev
if e["name"] == "process_name" and e["pid"] == 10000000]' c.json)" \
	"['rank 1 ']"
is 'and so is the first' "$(value 'sorted({e["args"]["name"][:7] for e in ev
if e["name"] == "process_name"})' c.json)" "['rank 0 ', 'rank 1 ']"
tl-export r/rank-0.json >one.json
is 'a single one is not' "$(value '[e for e in ev
if e["name"] == "process_name" and "rank" in e["args"]["name"]]' one.json)" '[]'
is 'the second is described' "$(value '[(s["src"], s["rank"],
s["metadata"]["schemaVersion"]) for s in t["sources"]]' c.json)" '[(1, 1, 1)]'
for f in r/*.json; do tl-decode "$f" >"$f.tl"; done
tl-merge --align none r/*.tl | tl-export >d.json
is 'one stream of both gives the same events' \
	"$(grep -c . d.json) $(grep '^{"ph"' c.json | cksum)" \
	"$(grep -c . c.json) $(grep '^{"ph"' d.json | cksum)"
tl-export --pids keep r/*.json >d.json
is 'or as they were' "$(value 'max(e["pid"] for e in ev
if isinstance(e["pid"], int)) < 10000000' d.json)" True

# --- like the reference's fusion ---
tl-export --fuse r/*.json >f.json
is 'processes: a rank is below the one before, its GPU below its CPU' \
	"$(value '[(e["args"].get("name") or e["args"]["sort_index"]) for e in ev
if e["name"].startswith("process_")][-4:]' f.json)" \
	"['RANK 1 - GPU', 3, 'RANK 1 - CPU', 2]"
is 'only these' "$(value '{e["args"]["name"][:5] for e in ev
if e["name"] == "process_name"}' f.json)" "{'RANK '}"
is 'every event has its rank' "$(value '{e["args"].get("rank") for e in ev
if not e["name"].startswith("process_")}' f.json)" '{0, 1}'
is 'and the ids that it had' "$(value 'all(
e["pid"] == e["args"]["pid_raw"] + e["args"]["rank"] * 10**7 for e in ev
if e["name"][:8] != "process_" and isinstance(e["pid"], int)) and all(
e["args"]["correlation"] == e["args"]["correlation_raw"] +
e["args"]["rank"] * 10**12 for e in ev if "correlation" in e["args"]) and all(
e["id"] == e["args"]["id_raw"] + e["args"]["rank"] * 10**12 for e in ev
if isinstance(e.get("id"), int))' f.json)" True
is 'links hold' "$(value 'len({e["args"]["correlation"] for e in ev
if e.get("cat") == "kernel"} - {e["args"]["correlation"] for e in ev
if e.get("cat") == "cuda_runtime"})' f.json)" 0
printf '[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1},' >bare.json
printf '{"ph":"X","name":"b","ts":1,"pid":1,"tid":1,"args":[]}]' >>bare.json
is 'arguments are made, where there are none' \
	"$(tl-export --fuse bare.json | tr -d '\n')" \
	'{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"rank":0,"pid_raw":1}},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"args":[]},{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"RANK 0 - CPU"}},{"name":"process_sort_index","ph":"M","pid":1,"tid":0,"args":{"sort_index":0}}]}'
refuses 3 'several inputs are rank 1: ' \
	'tl-export --fuse r/*1.json r/*1.json >g.json'
printf '{"distributedInfo":{"rank":9223372036854775807},"traceEvents":[%s]}' \
	'{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"pid":0,"tid":7}' >last.json
is 'the last rank of all' "$(tl-export --fuse last.json |
	grep -o 'sort_index":[0-9]*')" 'sort_index":9223372036854775807'
refuses 2 'not with --pids keep' 'tl-export --fuse --pids keep r/*.json'

# --- failure ---
refuses 1 'empty' 'tl-export </dev/null'
refuses 1 'not a trace' 'echo hello | tl-export'
refuses 1 'No such file' 'tl-export missing.tl'
refuses 1 'No space left' 'tl-export a.tl >/dev/full'
refuses 1 'No space left' 'tl-export --gzip a.tl >/dev/full'
refuses 1 'irectory' 'tl-export . '
refuses 2 'needs chrome' 'tl-export --to xml a.tl'
refuses 2 'sort' 'tl-export --sort name a.tl'
quiet 'a reader may leave' 'tl-export a.tl | head -c 1'
n=$(wc -c <a.tl) bad=
for i in 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987; do
	head -c $((n * i / 988)) a.tl >cut.tl
	tl-export -o cut.json cut.tl 2>/dev/null
	[ $? -eq 1 ] && [ ! -e cut.json ] || bad="$bad $i"
done
head -c $((n - 1)) a.tl | tl-export >/dev/null 2>&1 && bad="$bad last"
is 'a stream that was cut off is refused' "$bad" ''
tl-cat a.tl | head -n 100 >cut.nd
refuses -o 1 'cut off' 'tl-export cut.nd'
if have_failio; then
	refuses -o 1 'Input/output' "$(inject write:1:EIO 'tl-export a.tl')"
	refuses -o 1 'emory' "$(inject malloc:40:ENOMEM 'tl-export a.tl')"
fi
page_examples tl-export.1
done_testing
