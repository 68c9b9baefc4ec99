#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff --match, tl-report --vs --match: iterations that did the same work.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

make() { python3 "$ROOT/tests/oracle/match.py" --make "$@"; }

# tl-match and tests/oracle/match.py test which iterations match; each has three
# kernels, which take 18 us in a and 20 in b
make 1 300 vllm_detailed >a.json
make 2 300 vllm_detailed 20 >b.json
make 2 300 vllm_detailed 20 10 >profiled.json

over='over decode steps 170-185 of before and 205-220 of after; mixed steps 249-262 of before and 287-300 of after'
is 'which ones is said on standard error' "$(tl-diff --match a.json b.json 2>&1 >/dev/null)" \
	"tl-diff: $over
tl-diff: decode step unchanged (90.0 us); GPU time +11.1 % beyond noise"
is 'it is the first sentence' \
	"$(rows 'tl-diff --match --table diff_verdict a.json b.json' | cut -d. -f 1)" "$over"
# 16 and 14 iterations of 3 kernels
is 'GPU work of both' "$(rows 'tl-diff --match -c name,count_before,count_after,before_ns,after_ns \
	a.json b.json')" 'aten::mm 90 90 1620000 1800000.'
is 'of one phase' "$(rows 'tl-diff --match=decode -c count_before,count_after,before_ns,after_ns \
	a.json b.json')" '48 48 864000 960000.'
is 'steps of a phase are of one kind' \
	"$(rows 'tl-diff --match --table diff_steps -c kind,term,steps_before,steps_after a.json b.json' |
		tr . '\n' | grep ' step [0-9]')" \
	'decode step step 16 16
mixed step step 14 14
time between steps step 30 29'
# the same as --step on both sides
tl-filter --step 170-185 a.json -o a.tl
tl-filter --step 205-220 b.json -o b.tl
tl-diff --by kernel -c name,count_before,count_after,before_ns,after_ns a.tl b.tl >want 2>err
tl-diff --match=decode --by kernel -c name,count_before,count_after,before_ns,after_ns a.json \
	b.json >got 2>err
same 'as what tl-filter takes of either side' want got
tl-diff --match a.json b.json --table diff_steps >want 2>err
tl-diff --match a.json profiled.json --table diff_steps 2>err |
	cut -f 1-12 >got
cut -f 1-12 want >want.cut
same 'iterations inside ProfilerStep#N are the steps' want.cut got
is 'the gate is about them' \
	"$(tl-diff --match --fail-over gpu:5% a.json b.json >/dev/null 2>&1; echo $?)" 4
is 'of a trace against itself' "$(tl-diff --match a.json a.json 2>&1 >/dev/null | tail -n 1)" \
	'tl-diff: the traces are identical'

tl-report a.json --vs b.json --match >screen 2>err
like 'tl-report says over which' "$(sed -n '/^Over/{N;p;}' screen | tr '\n' ' ')" \
	'^Over decode steps 170-185 of before and 205-220 of after; mixed steps 249-262'
like 'and compares them' "$(cat screen)" 'aten::mm +1\.620 ms +1\.800 ms'

is 'verdicts are about them, and say so' "$(grep -Ec '^(before|after), matched iterations: ' screen)" 2
# before: 16 and 14 iterations with three kernels of 18 us
tl-report a.json --vs b.json --match -d sheets 2>err
if command -v tl-ops >/dev/null; then
	is 'sheets are of them: ops' \
		"$(cut -d, -f 1,2,6 sheets/ops_unique_args.csv | sed 1d | grep -c .)" \
		"$(tl-ops --by args --no-header --step iteration:170-185,249-262 a.json | grep -c .)"
	is 'ops, by hand' "$(python3 -c 'import csv
print([(r["name"], r["Count"], float(r["total_direct_kernel_time_ms"]))
       for r in csv.DictReader(open("sheets/ops_summary.csv"))])')" "[('aten::mm', '90', 1.62)]"
fi
is 'steps' "$(sed 1d sheets/steps.csv | grep -c .)" 30
is 'the timeline' "$(tl-timeline --step iteration:170-185,249-262 --format csv --labels a.json |
	grep -e total_time -e busy)" "$(grep -e total_time -e busy sheets/gpu_timeline.csv)"
# of their time, without what runs in it; none between blocks
is 'idle time, of the raw trace' "$(python3 - <<'END'
import csv, json
events = json.load(open("a.json"))["traceEvents"]
marks = sorted((e["ts"], e["dur"]) for e in events if e.get("cat") == "user_annotation")
kernels = [(e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "kernel"]
idle = 0
for number, (t, d) in enumerate(marks, 1):
    if 170 <= number <= 185 or 249 <= number <= 262:
        idle += d - sum(max(0, min(b, t + d) - max(a, t)) for a, b in kernels)
print(idle > 0, round(idle * 1000) -
      sum(int(r["time_ns"]) for r in csv.DictReader(open("sheets/idle.csv"))))
END
)" 'True 0'
ok 'there is some' test "$(wc -l <sheets/idle_gaps.csv)" -gt 1
tl-report a.json --vs a.json --match=decode -d decode 2>err
is 'of one phase' "$(sed 1d decode/steps.csv | grep -c .)" 16
tl-report a.json --vs b.json --match --html page.html 2>err
tl-report a.json --vs b.json --html all.html 2>err
ok 'the page has events of them only' \
	test "$(wc -c <page.html)" -lt "$(wc -c <all.html)"

# ---- several processes: on each side the one whose iterations match ----

make 1 300 vllm_detailed 18 0 3 >three.json
make 7 300 vllm_detailed 20 0 2 >two.json
over='over decode steps 217-223@0:3 of before and 256-262@0:1 of after; mixed steps 89-100@0:3 of before and 289-300@0:1 of after'
is 'of each side one process' "$(tl-diff --match three.json two.json 2>&1 >/dev/null)" \
	"tl-diff: $over
tl-diff: decode step unchanged (90.0 us); GPU time +11.1 % beyond noise"
# 7 and 12 iterations of three kernels; other processes are not included
is 'and its work alone' "$(rows 'tl-diff --match -c count_before,count_after,before_ns,after_ns \
	three.json two.json')" '57 57 1026000 1140000.'
tl-report three.json --vs two.json --match -d processes 2>err
is 'in the report, too' "$(sed 1d processes/steps.csv | cut -d, -f 1 | tr '\n' ' ')" \
	"$(seq 89 100 | tr '\n' ' ')$(seq 217 223 | tr '\n' ' ')"
# in which those of other processes run, too
is 'its busy time' "$(grep busy processes/gpu_timeline.csv | cut -d, -f 2)" \
	"$(tl-steps --step 89-100@0:3,217-223@0:3 -c busy_ns --no-header three.json |
		awk '{ n += $1 } END { print n / 1e6 }')"

# ---- every sheet is about the matched iterations ----

if command -v tl-ops >/dev/null; then
	tl-report a.json --step iteration:170-185,249-262 -d alike 2>err
	# --vs adds the other side's figures to the roofline; tl-steps has no
	# selection but --match
	is 'as those of the same steps, but for what --vs adds' "$(for f in alike/*.csv; do
		cmp -s "$f" "sheets/${f#alike/}" || echo "${f#alike/}"
		done | grep -v unified | tr '\n' ' ')" ''
	is 'others are of the comparison' "$(cd sheets && for f in *.csv; do
		test -e "../alike/$f" || echo "$f"; done | grep -v ^diff_ | tr '\n' ' ')" \
		'GEMM_vs.csv idle_vs.csv lca_summary.csv phase_summary.csv steps.csv steps_summary.csv steps_vs.csv '
	is 'phases' "$(cut -d, -f 2,3 sheets/phase_summary.csv | sed 1d | tr '\n' ' ')" 'decode,16 mixed,14 '
	is 'the summary of steps' "$(cut -d, -f 2 sheets/steps_summary.csv | tail -n 1)" 30
fi

refuses 2 'prefill, decode or mixed' 'tl-diff --match=decode,decode a.json b.json'
refuses 2 'prefill, decode or mixed' 'tl-diff --match=generic a.json b.json'
refuses 2 'exclude each other' 'tl-diff --match --step 3 a.json b.json'
refuses 2 'a file of each side' 'tl-diff --match - b.json <a.json'
refuses 2 'a file of each side' 'tl-diff --match -B a.json -A b.json -A b.json'
refuses 2 'needs --vs' 'tl-report --match a.json'
refuses 2 'one trace with one' 'tl-report a.json b.json --vs b.json --match'
refuses 2 'exclude each other' 'tl-report a.json --vs b.json --match --step 3'
reports 5 no-iterations "tl-diff --match a.json $SAMPLE"
make 1 300 vllm_native >native.json
reports 5 no-blocks-with-sums 'tl-diff --match a.json native.json'
refuses 5 '--match=approx matches' 'tl-diff --match a.json native.json'
like 'which helps' "$(tl-diff --match=decode,approx a.json native.json 2>&1 >/dev/null)" \
	'^tl-diff: over decode steps'
reports 5 no-blocks-with-sums 'tl-report a.json --vs native.json --match'
refuses 2 'or approx' 'tl-diff --match=approx,decode,some a.json b.json'
done_testing
