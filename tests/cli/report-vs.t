#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report --vs with several traces a side: ranks, repeated runs, the gate.
. tests/cli/lib.sh
[ -x "$B/bin/tl-roofline" ] || skip_all 'tl-roofline is not built'

# rows FILE [COLUMN=VALUE]: of CSV, those of a rank or source, without its column
rows() {
	python3 -c 'import csv, sys
lead = {"rank", "src"}
key, value = (sys.argv[2:] or ["="])[0].split("=")
for r in csv.DictReader(open(sys.argv[1])):
    if r.get(key, "") == value:
        print([(k, v) for k, v in r.items() if k not in lead])' "$@"
}
# whole FILE: is it a table with rows and columns of the comparison?
whole() {
	rows "$1" | grep -c "'lca_id', '[0-9]"
}

tl-gen --ranks 2 -n 1 --layers 3 --jitter 5 -d a
tl-gen --ranks 2 -n 1 --layers 3 --jitter 5 -s 5 --plant slow=aten::mm:20 -d b

# ---- ranks ----

for r in 0 1; do
	tl-report a/rank-$r.json --vs b/rank-$r.json -d one$r 2>err
	is "a pair has columns in all rows" "$(whole one$r/unified_perf_summary.csv)" \
		"$(sed 1d one$r/unified_perf_summary.csv | wc -l)"
done
mkdir c && cp b/rank-1.json c/0.json && cp b/rank-0.json c/1.json
tl-merge a/rank-0.json a/rank-1.json -o a.tl
tl-merge b/rank-1.json b/rank-0.json -o b.tl
for pair in 'a --vs b' 'a/rank-0.json a/rank-1.json --vs c/0.json --vs c/1.json' 'a.tl --vs b.tl'; do
	# shellcheck disable=SC2086 # words
	tl-report $pair -d both 2>err
	is "$pair: status" $? 0
	for sheet in unified_perf_summary diff_stats diff_stats_unique_args_summary lca_summary; do
		for r in 0 1; do
			is "$pair: $sheet of rank $r" "$(rows both/$sheet.csv rank=$r)" \
				"$(rows one$r/$sheet.csv)"
		done
	done
done
tl-diff --pair rank --format csv --labels --table diff_ops_summary a b >want.csv 2>err
same 'diff_ops_summary is that of both' both/diff_ops_summary.csv want.csv
tl-report a --vs b --overlap -d overlap
is 'columns in the rows split by overlap' \
	"$(rows overlap/unified_perf_summary_kl_overlap.csv | grep -c "'lca_id', '[0-9]")" \
	"$(sed 1d overlap/unified_perf_summary_kl_overlap.csv | wc -l)"
like 'the screen begins with it' "$(tl-report a --vs b | sed -n 3p)" \
	"^S$(tl-diff --pair rank --table diff_verdict --no-header a b 2>err | sed -n 's/^s//;s/[(+].*//;1p')"

# missing data are about one side; tl-diff's messages are about both
tl-gen -n 1 --layers 3 --no-shapes -o bare.json
like 'warnings say of which side they are' "$(tl-report bare.json --vs a/rank-0.json | sed -n '/^warnings/,$p')" \
	'^  - before: 100.0 % of op time has no recorded shapes'
like 'by its name, in the summary' "$(tl-report bare.json --vs a/rank-0.json --names old,new --format ndjson 2>err)" \
	'"warning","name":"old: 100.0 % of op time has no recorded'

rm c/1.json
tl-report a --vs c -d few 2>err
is 'a rank that is missing: status' $? 3
like 'which one is told' "$(cat err)" '^tl-report: before: .* 0$'
is 'the other has its own' "$(rows few/unified_perf_summary.csv rank=1)" \
	"$(rows one1/unified_perf_summary.csv)"
is 'and this one none' \
	"$(rows few/unified_perf_summary.csv rank=0 | grep -c "'lca_id', ''")" \
	"$(rows one0/unified_perf_summary.csv | wc -l)"
tl-report a/rank-0.json --vs b/rank-1.json -d other 2>err
is 'one rank against another one is compared' $? 0

# ---- what limits each side ----

# Verdict, timeline and warnings of the second side are those of a report of it
# alone. alone SIDE TRACE...: these lines, each after the name of the side
alone() {
	side=$1
	shift
	tl-report --width 900 "$@" 2>err | awk -v side="$side: " '
		/^warnings/ { list = 1; next }
		list && /^  - / { print "  - " side substr($0, 5) }
		NR > 2 && /^[A-Z].*[:.]/ && !list { print side $0 }'
}
# side SIDE: lines of the screen that name it, without those of its lists
side() {
	sed -n "s/^\(  - \)*$1: /&/p" screen
}
for pair in 'a/rank-0.json b/rank-1.json' 'a b' 'a/rank-0.json bare.json' 'bare.json b/rank-0.json'; do
	tl-report --width 900 "${pair% *}" --vs "${pair#* }" --names old,new >screen 2>err
	is "$pair: what is said of the first" "$(side old)" "$(alone old "${pair% *}")"
	is 'of the second' "$(side new)" "$(alone new "${pair#* }")"
	is 'a bar or more of each' "$(grep -c '^# comp' screen)" 2
	same 'the parts of the last' "$(grep '^# comp' screen | tail -n 1 >got; echo got)" \
		"$(tl-report --width 900 "${pair#* }" 2>err | grep '^# comp' >want; echo want)"
done
tl-report a/rank-0.json --vs b/rank-1.json --format ndjson >both.ndjson 2>err
is 'in the summary the parts of both' "$(python3 -c 'import json, sys
for l in map(json.loads, open("both.ndjson")):
    if l.get("part") == "timeline" and l["name"] != "total":
        print(l["name"], l["time_ns"], l["before_ns"], l["after_ns"])')" "$(for r in a/rank-0 b/rank-1; do
	tl-report $r.json --format ndjson 2>err | python3 -c 'import json, sys
for l in map(json.loads, sys.stdin):
    if l.get("part") == "timeline" and l["name"] != "total":
        print(l["name"], l["time_ns"])' >"${r#*/}.parts"
	done
	python3 -c 'for a, b in zip(open("rank-0.parts"), open("rank-1.parts")):
    name, ns = a.rsplit(" ", 1)
    print(name, int(ns), int(ns), int(b.rsplit(" ", 1)[1]))')"
tl-gen -n 2 --layers 3 -o short.json
tl-report short.json --vs a/rank-0.json >screen 2>err
python3 - <<'END' >got
import re
text = open("screen").read()
unit = {"us": 1e-3, "ms": 1, "s": 1e3}
heads = re.findall(r": GPU, .*: ([0-9.]+) ([mu]?s)\n\[(.*)\]", text)
times = [float(n) * unit[u] for n, u, _ in heads]
print([len(bar) == int(72 * t / max(times) + .5) for t, (_, _, bar) in zip(times, heads)])
END
is 'both bars have one scale' "$(cat got)" '[True, True]'

like 'of ranks the steps of all' "$(tl-report --width 900 a)" '^MFU .*, 2 steps over 2 ranks[.;]'

# ---- the title ----

tl-gen --backend cuda -n 1 --layers 1 -o b/cuda.json
cp a/rank-1.json a/cuda.json
title() { tl-report "$@" | sed '/^$/,$d' | tr '\n' ' '; }
is 'two of one name: their folders; and the other GPU' "$(title a/cuda.json --vs b/cuda.json)" \
	'a/cuda.json, rank 1 of 2, AMD Instinct MI300X against b/cuda.json, NVIDIA H100 80GB HBM3 '
is 'two names, and one GPU' "$(title a/rank-1.json --vs b/rank-0.json)" \
	'rank-1.json, rank 1 of 2, AMD Instinct MI300X against rank-0.json '
is 'one trace' "$(title a/rank-1.json --vs a/rank-1.json 2>err)" \
	'rank-1.json, rank 1 of 2, AMD Instinct MI300X against rank-1.json '
rm a/cuda.json b/cuda.json

# ---- runs ----

tl-report a/rank-0.json a/rank-0.json --vs b/rank-0.json -d runs 2>err
for src in 0 1; do
	is "runs of one rank: trace $src with the last one" \
		"$(rows runs/unified_perf_summary.csv src=$src)" \
		"$(rows one0/unified_perf_summary.csv)"
done
tl-report a/rank-0.json --vs b/rank-0.json --vs a/rank-0.json -d runs1 --html page.html 2>err
same 'one run against several: columns of the first' runs1/unified_perf_summary.csv \
	one0/unified_perf_summary.csv
tl-diff -B a/rank-0.json -A b/rank-0.json -A a/rank-0.json --table diff_ops_summary \
	--format csv --labels >want.csv 2>err
same 'but sums of all' runs1/diff_ops_summary.csv want.csv
like 'with their spread' "$(head -n 1 want.csv)" 'spread_ns,is_noise'
like 'and the title says so' "$(tl-report a/rank-0.json --vs b/rank-0.json --vs a/rank-0.json |
	head -n 2 | tr '\n' ' ')" 'against 2 traces'
mkdir traces && cp a/rank-0.json traces/1.json && cp a/rank-1.json traces/2.json
is 'an operand that is a folder' "$(tl-report traces 2>&1)" \
	"$(tl-report traces/1.json traces/2.json 2>&1)"

# ---- replays of graphs, among ops ----

tl-gen --graph -n 2 --layers 1 --jitter 0 -o graph1.json
tl-gen --graph -n 2 --layers 1 --jitter 40 -o graph2.json
tl-report graph1.json --vs graph2.json >screen
tl-diff --by kernel --no-header -c kind,diff_ns,is_noise graph1.json graph2.json 2>err |
	awk '/^replay/ && $(NF - 1) != 0 && $NF != "true"' >moved
is 'what changed is their kernels' \
	"$(sed -n '/^what changed/,/^$/p' screen | grep -c ' us *[0-9.]*$')" "$(wc -l <moved)"
is 'not what launched them' "$(sed -n '/^what changed/,/^$/p' screen | grep -c GraphLaunch)" 0
tl-report graph1.json --vs graph2.json -d graphs 2>err
tl-diff --table diff_kernels --format csv --labels graph1.json graph2.json >want.csv 2>err
same 'the sheet of kernels' graphs/diff_kernels.csv want.csv
is 'beside that of ops' "$(sed 1d graphs/diff_ops_summary.csv | wc -l)" 3

# ---- every column, computed once more ----

plants='slow=aten::mm:20 wrap=aten::gelu rename=aten::mm fuse'
! sanitized || plants=
for plant in '' $plants; do
	tl-gen -n 1 --layers 1 --jitter 5 -s 9 ${plant:+--plant "$plant"} -o planted.json
	like "columns of a trace against one with ${plant:-no change}" \
		"$(python3 "$ROOT/tests/oracle/inline.py" it a/rank-0.json --vs planted.json)" '^ok'
done
like 'columns of ranks' "$(python3 "$ROOT/tests/oracle/inline.py" it a/rank-0.json a/rank-1.json \
	--vs b/rank-0.json b/rank-1.json)" '^ok'

# ---- the gate ----

tl-report a --vs b -d gated --fail-over 0.1% 2>err
is '--fail-over: status' $? 4
like 'why' "$(tr '\n' ' ' <err)" 'slower than allowed: step time .*slower than allowed: GPU time '
is 'the report is whole' "$(cd gated && cksum -- *)" \
	"$(tl-report a --vs b -d ungated 2>err; cd ungated && cksum -- *)"
tl-report a --vs b --fail-over gpu:0.1% >screen 2>err
is '--fail-over gpu: one of them' "$?$(grep -c slower err)" 41
tl-report a --vs b --fail-over 0.1% -o gate.xlsx 2>err
is 'with a workbook' "$?$(grep -c slower err)$(test -s gate.xlsx && echo there)" 42there
tl-report b --vs a --fail-over 0.1% >screen
is 'faster passes' $? 0
gzip -dc "$SAMPLE" | sed 's/"cat": *"cpu_op"/"cat":"x"/' >opless.json
tl-report opless.json --vs opless.json --fail-over 0% >screen 2>err
is 'by kernel, too' $? 0
refuses 2 "'--fail-over' needs --vs" 'tl-report a --fail-over 1%'
refuses 2 "'--fail-over' needs a time" 'tl-report a --vs b --fail-over 3'
refuses 2 "'b' after --vs" 'tl-report a --vs a b'
refuses 2 "'b' after --vs" 'tl-report a --vs=a b'
refuses 2 "'a/rank-0.json' after --vs" 'tl-report --vs b a/rank-0.json a/rank-1.json'
refuses 2 "'b' after --vs" 'tl-report --vs b b a'
like 'but behind --' "$(tl-report --vs b -- a/rank-0.json a/rank-1.json | head -n 2 | tr '\n' ' ')" \
	'against b|against 2 ranks'
like 'but not as the first trace' "$(tl-report --vs b a | head -n 2 | tr '\n' ' ')" 'against 2 ranks'
refuses 2 'only one trace can be standard input' 'tl-report --vs - -'
refuses 1 'empty: no trace' 'mkdir empty; tl-report a --vs empty'

# a status of warnings is told from one of the gate
{
	echo '{"traceEvents":['
	echo '{"ph":"X","cat":"cpu_op","name":"op","ts":0,"dur":9,"pid":1,"tid":1},'
	echo '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":1,"dur":2,"pid":1,"tid":1,"args":{"correlation":1}}'
	for i in 1 2 3 4 5 6 7 8; do
		echo ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":${i}00,\"dur\":90,\"pid\":0,\"tid\":7,\"args\":{\"device\":0,\"stream\":7,\"correlation\":$i}}"
	done
	echo ']}'
} >linkless.json
run 'tl-report linkless.json --vs linkless.json --fail-over 3%'
is 'a misleading trace that passes the gate' "$rc" 3
like 'why it is no 0' "$(cat "$log/err")" '^tl-report: linkless.json: misleading: '
reports 3 gate-passes 'tl-report linkless.json --vs linkless.json --fail-over 3%'
run 'tl-report a --vs b --fail-over gpu:0.1%'
is 'not if it fails' "$rc$(grep -c passes "$log/err")" 40
run 'tl-report linkless.json --vs linkless.json'
is 'not without a gate' "$rc$(grep -c tl-health "$log/err")" 30
run 'tl-report bare.json --vs a/rank-0.json -d lacking'
like 'a message names its side' "$(cat "$log/err")" '^tl-report: before: '
run 'tl-report bare.json --vs bare.json -d lacking'
is 'not if it is about both' "$(grep -c '^tl-report: [0-9]' "$log/err")$(grep -c 'before:' "$log/err")" 10

# ---- a side is forgotten ----

reports 0 perhaps-vs 'tl-report a/rank-0.json b/rank-0.json'
run 'tl-report a/rank-0.json a/rank-1.json'
is 'not of two ranks' "$rc$(grep -c -e --vs "$log/err")" 00
for in in 'printf "" |' '</dev/null' '<empty.json'; do
	: >empty.json
	case $in in
	*'|') refuses 2 "'--vs' needs a trace" "$in tl-report --vs b" ;;
	*) refuses 2 "'--vs' needs a trace" "tl-report --vs b $in" ;;
	esac
done
ok 'a trace from a pipe' sh -c 'tl-tree a/rank-0.json | tl-report --vs b/rank-0.json'

# ---- sheets of both sides ----

# of_side FILE NAME: its rows of that side, without the column
of_side() {
	python3 -c 'import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    if r.pop("side") == sys.argv[2]:
        print(list(r.items()))' "$@"
}
tl-report a/rank-0.json --vs b/rank-0.json --names old,new -d sides 2>err
for side in old:a new:b; do
	rm -rf own && tl-report "${side#*:}/rank-0.json" -d own 2>err
	for sheet in steps idle critical_path GEMM; do
		is "$sheet of ${side%:*} is its own" "$(of_side sides/${sheet}_vs.csv "${side%:*}")" \
			"$(rows own/$sheet.csv)"
		ok '... with rows' test "$(of_side sides/${sheet}_vs.csv "${side%:*}" | wc -l)" -gt 0
	done
done
tl-report a --vs b/rank-0.json -d sides2 2>err
is 'a rank is the cell of one side only' \
	"$(python3 -c 'import csv
print(sorted({(r["side"], r["rank"]) for r in csv.DictReader(open("sides2/steps_vs.csv"))}))')" \
	"[('after', ''), ('before', '0'), ('before', '1')]"
tl-report a/rank-0.json --vs b/rank-0.json -d unnamed -o sides.md 2>err
mv unnamed/critical_path_vs.csv own_vs.csv
for side in before after; do
	n=$(rows own_vs.csv "side=$side" | wc -l)
	is "as Markdown 20 rows of each side: $side" "$(sed -n '/critical_path_vs/,/GEMM_vs/p' sides.md |
		grep -c "^| $side ")" "$((n < 20 ? n : 20))"
done
# what the joined sheets do not need is not started
mkdir counted
for program in "$B"/bin/tl-*; do
	printf '#!/bin/sh\necho "${0##*/}" >>%s\nexec %s "$@"\n' "$TMP/started" "$program" >counted/"${program##*/}"
done
chmod +x counted/*
cp "$B/bin/tl-report" counted
PATH=$PWD/counted:$PATH counted/tl-report a/rank-0.json --vs b/rank-0.json -d counts 2>err
is 'for a folder the other side has its part only' "$(sort "$TMP/started" | uniq -c | awk '$1 > 1 { print $2 }' | tr '\n' ' ')" \
	'tl-critical tl-health tl-idle tl-roofline tl-steps tl-timeline tl-tree '
# a program that dies leaves no table of one side that looks like both
mkdir dies
for program in "$B"/bin/tl-*; do ln -s "$program" dies; done
rm dies/tl-report dies/tl-roofline
cp "$B/bin/tl-report" dies
cat >dies/tl-roofline <<END
#!/bin/sh
mkdir "$TMP/once" 2>/dev/null || kill -9 \$\$
exec "$B/bin/tl-roofline" "\$@"
END
chmod +x dies/tl-roofline
reports 3 side-killed 'PATH=$PWD/dies:$PATH dies/tl-report a/rank-0.json --vs b/rank-0.json -d sides4'
like 'and the side is named' "$(cat "$log/status")" '"id":"side-killed","text":"(before|after): tl-roofline '
is 'its tables are of neither' "$(cd sides4 && echo *_vs.csv)" 'critical_path_vs.csv idle_vs.csv steps_vs.csv'
tl-gen --rocprof -n 1 --seed 3 -o roc.json
ok 'of traces with other uids' tl-report a/rank-0.json --vs roc.json -d sides3

done_testing
