#!/bin/sh
# SPDX-License-Identifier: MIT
# All programs agree on steps: if two threads mark steps, those of the one that
# launches most count. The slowest took longest, by the GPU's time where the GPU
# sets the pace.
. tests/cli/lib.sh

mark() { ev user_annotation "ProfilerStep#$1" "$2" "$3" "$4"; }
launch() { # CORR TID CALL START DUR
	ev cpu_op "aten::op$1" "$2" $(($3 - 2)) 9
	ev cuda_runtime cudaLaunchKernel "$2" "$3" 5 "\"correlation\":$1"
	ev kernel "k$1" 7 "$4" "$5" "\"device\":0,\"stream\":7,\"correlation\":$1"
}
# thread 1 marks earlier and more, thread 2 launches more; 11 is the longest on the
# host's clock, 13 on the GPU
{
	mark 1 1 1000 60
	mark 2 1 1060 60
	mark 3 1 1120 60
	mark 4 1 1180 60
	mark 5 1 1240 60
	launch 9 1 1160 1370 10
	mark 11 2 1010 150
	launch 1 2 1020 1030 30
	launch 5 2 1070 1080 250
	mark 12 2 1160 50
	launch 2 2 1170 1380 400
	mark 13 2 1210 50
	launch 3 2 1220 1780 900
	mark 14 2 1260 50
	launch 4 2 1270 2680 400
} | trace >t.json
tl-tree t.json -o t.tl

is 'tl-tree marks them' "$(tl-cat t.tl | sed -n 's/.*ProfilerStep#\([0-9]*\)".*"flags":\[\([^]]*\)\].*/\1 \2/p')" \
	'11 "step"
12 "step"
13 "step","slowest"
14 "step"'
is 'and they stay marked in a part of it' \
	"$(tl-filter --step 12 t.tl | tl-cat | grep -c '"step","slowest"')" 1
is 'made anew, they are found anew' "$(tl-cat t.tl | sed 's/"step","slowest"/"step"/; s/#11/#21/' |
	tl-cat | tl-tree --link auto | tl-cat | grep -c '"step","slowest"')" 1
is 'the slowest by its step time' \
	"$(rows 'tl-steps --table steps_summary -c steps,step_time,slowest t.tl')" '4 gpu_wall 13.'

for file in t.json t.tl; do
	is "$file: tl-steps" "$(rows "tl-steps -c step $file")" '11.12.13.14.'
	for prog in tl-timeline tl-ops; do
		command -v "$prog" >/dev/null || continue # a library is missing
		is "$file: $prog --by step" \
			"$($prog --by step -c step $file | grep '[0-9]' | sort -u | tr '\n' ' ')" '11 12 13 14 '
	done
	is "$file: tl-idle --by step" "$(rows "tl-idle --by step -c step,time_ns $file")" \
		' 40000.11 40000.'
	is "$file: tl-filter --step slowest" \
		"$(tl-filter --kind kernel --step slowest $file | tl-cat --tsv -F name,step | grep '^k')" \
		"$(printf 'k3\t13')"
	tl-split --by step -d parts.$file $file
	is "$file: tl-split" "$(cd "parts.$file" && echo *)" \
		'rest.tl step-11.tl step-12.tl step-13.tl step-14.tl'
	for prog in tl-steps tl-timeline tl-ops tl-kernels tl-idle tl-launch tl-critical \
		"tl-diff $file"; do
		command -v "${prog%% *}" >/dev/null || continue
		$prog --step slowest $file >of-slowest 2>slowest.err
		$prog --step 13 $file >by-number 2>/dev/null
		$prog --step 11 $file >other 2>/dev/null
		ok "$file: $prog --step slowest" \
			sh -c 'cmp of-slowest by-number && [ -s of-slowest ] && ! cmp -s of-slowest other'
		ok 'which it names' grep -q "step 13 is the slowest of 4 by the GPU's time$" slowest.err
	done
done
# steps of ranks are matched by number
for cmd in 'tl-collective' 'tl-critical --job' 'tl-report'; do
	command -v "${cmd%% *}" >/dev/null || continue
	refuses 2 'each rank has a slowest step' "$cmd --step slowest t.json t.json"
done
{
	mark 1 1 1000 60
	launch 1 1 1010 1020 10
} | trace >one.json
is 'nothing is said of the only one' "$(tl-timeline --step slowest one.json 2>&1 >/dev/null)" ''
if command -v tl-report >/dev/null; then
	is 'in a report it is no warning' \
		"$(tl-report --step slowest t.tl 2>/dev/null | sed -n '/^warnings/q; /slowest/p')" \
		"t.tl: step 13 is the slowest of 4 by the GPU's time"
fi
# without marks, as in another program's tree: the thread that begins first
tl-cat t.tl | sed 's/"flags":\["step"[^]]*\],//' | tl-cat >plain.tl
is 'a tree without marks' "$(rows 'tl-timeline --by step -c step plain.tl' | tr . '\n' |
	sort -u | tr '\n' ' ')" ' 1 2 3 4 5 '

# ---- without annotations ----

# three times a b c after a pause, the second one longest
calls() {
	i=0 t=1000
	for name in a b c a b c a b c; do
		test $name = a && t=$((t + 100))
		test $i = 4 && t=$((t + 70))
		ev cuda_runtime cudaLaunchKernel 1 $((t += 10)) 5 "\"correlation\":$i"
		ev kernel $name 7 $((t + 10)) 5 "\"device\":0,\"stream\":7,\"correlation\":$i"
		i=$((i + 1))
	done
}
calls | trace >t.json
is 'inferred' "$(rows 'tl-steps -c step,ts_ns,wall_ns,is_inferred t.json')" \
	'1 1110000 25000 true.2 1135000 200000 true.3 1335000 130000 true.'
is 'the window of the verdict' \
	"$(rows 'tl-idle --table idle_window -c window,steps,window_ts_ns,window_ns t.json')" \
	'inferred 3 1110000 365000.'
is 'which says so' "$(tl-report t.json | tr '\n' ' ' | grep -o 'of 3[0-9.]* us with 3 inferred steps')" \
	'of 365.0 us with 3 inferred steps'
like 'as does the bar' "$(tl-report t.json)" \
	'^GPU, first to last event with 3 inferred steps: 365.0 us'
path() { tl-critical --no-header -c time_ns "$@" t.json | awk '{ n += $1 } END { print n }'; }
is 'the critical path is as long' "$(path)" 365000
is 'and that of the slowest' "$(path --step slowest)" 200000
like 'it says so, too' "$(tl-critical --format table t.json | head -n 1)" \
	'^no step markers: steps inferred from '
# and others, too
for cmd in 'tl-timeline --by step' 'tl-timeline --step 2' 'tl-kernels --step 2' 'tl-idle --by step' \
	'tl-launch --step 1-2' 'tl-launch --table graph_estimate' \
	'tl-roofline --table roofline_by_step'; do
	command -v "${cmd%% *}" >/dev/null || continue
	is "$cmd says so" "$($cmd --format table t.json | grep -c '^no step markers: steps inferred')" 1
	is "$cmd of marked ones does not" "$($cmd --format table t.tl | grep -c '^no step markers')" 0
done
diff_note() { tl-diff --by kernel --table diff_steps --format table "$@" | grep -e '^no step markers' -e '^steps of'; }
is 'tl-diff says so' "$(diff_note t.json t.json | grep -c '^no step markers: steps inferred from ')" 1
is 'of marked ones it does not' "$(diff_note t.tl t.tl)" ''
# inferred steps are not compared with marked ones
{
	mark 1 1 1110 25
	mark 2 1 1135 200
	mark 3 1 1335 130
	calls
} | trace >marked.json
is 'tl-diff: a kind of their own' "$(rows 'tl-diff --by kernel --table diff_steps -c kind,term,before_ns t.json t.json' | tr . '\n' |
	grep ' step ')" 'step (inferred) step 130000'
is 'tl-diff: inferred and marked ones' "$(rows 'tl-diff --by kernel --table diff_steps -c kind t.json marked.json')" ''
for pair in 't.json marked.json before after' 'marked.json t.json after before'; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	is "tl-diff $1 $2: a note" "$(diff_note "$1" "$2")" \
		"steps of $3 are inferred, as it has no markers; those of $4 are not"
	reports 5 no-steps-to-judge "tl-diff --by kernel --fail-over step:1% $1 $2"
done
is 'a note by the names of the sides' "$(diff_note --names old,new t.json marked.json)" \
	'steps of old are inferred, as it has no markers; those of new are not'
# they are no events of the trace
if command -v tl-sql >/dev/null && python3 -c "import sqlite3" 2>/dev/null; then
	tl-sql -o t.db t.json
	is 'tl-sql has them as numbers' "$(python3 -c 'import sqlite3
print(*sqlite3.connect("t.db").execute(
    "SELECT step, kind, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2"), sep="; ")')" \
		"(1, 'kernel', 3); (1, 'runtime', 3); (2, 'kernel', 3); (2, 'runtime', 3); (3, 'kernel', 3); (3, 'runtime', 3)"
fi
tl-html -o p.html t.json
is 'tl-html draws none' "$(python3 "$ROOT/tests/oracle/page.py" p.html | grep -o "spans [0-9]*")" "spans 18"
is 'nor where no step is shown' "$(tl-timeline --format table t.json | grep -c '^no step markers')" 0
tl-tree t.json -o i.tl
for cmd in tl-timeline tl-idle tl-steps tl-critical; do
	reports 5 no-such-annotation "$cmd --annotation 'inferred*' i.tl"
done
reports 3 no-such-annotation "tl-filter --annotation 'inferred*' i.tl"
tl-split --annotation '*' -d parts.i i.tl
is 'nor for tl-split' "$(find parts.i -name '*inferred*')" ''
if command -v tl-roofline >/dev/null; then
	for i in 0 1 2 3 4 5 6 7 8; do
		ev cpu_op "aten::op$((i % 3))" 1 $((1000 + 50 * i)) 20
		ev cuda_runtime cudaLaunchKernel 1 $((1005 + 50 * i)) 5 "\"correlation\":$i"
		ev kernel "k$((i % 3))" 7 $((1020 + 50 * i)) 5 "\"device\":0,\"stream\":7,\"correlation\":$i"
	done | trace | tl-tree >ops.tl
	cat >noted.lua <<'END'
op { names = { "aten::op1" }, category = "GEMM", sheet = "GEMM", unit = "matrix", prec = 0, reads = { "annotation" },
  eval = function (_ENV) note = annotation() return 1, 1 end }
END
	is 'nor for op models' "$(tl-cat ops.tl | grep -c inferred_step) $(
		rows 'tl-roofline --models noted.lua --table GEMM -c name,param_note,count ops.tl')" \
		'3 aten::op1 NA 3.'
fi
is 'not of annotations' "$(tl-critical --annotation 'x*' t.json 2>&1 | grep -c inferred)" 0

done_testing
