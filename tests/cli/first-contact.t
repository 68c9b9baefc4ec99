#!/bin/sh
# SPDX-License-Identifier: MIT
# What users type first: a part of an option, a word of another program, a name
# as the table shows it. It works, or the message says what would.
. tests/cli/lib.sh

for program in tl-kernels tl-modules jq; do
	command -v $program >/dev/null || skip_all "no $program"
done
cat >t.json <<'END_JSON'
{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5,
 "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm[bf16]", "pid": 0, "tid": 7, "ts": 25, "dur": 30,
 "args": {"correlation": 7, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 55, "dur": 5,
 "args": {"correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "gemmx", "pid": 0, "tid": 7, "ts": 70, "dur": 10,
 "args": {"correlation": 8, "device": 0, "stream": 7}}]}
END_JSON

# ---- a selection ----

names() { tl-kernels --no-header -c name,count,dur_ns_sum "$@" t.json | tr '\t\n' ' ;'; }
is 'a name with brackets is itself' "$(names --name 'gemm[bf16]')" 'gemm[bf16] 1 30000;'
is 'brackets are a set where that matches' "$(names --name 'gemm[x]')" 'gemmx 1 10000;'
is 'one event is one line of NDJSON' "$(tl-cat --id 0 t.json | jq -c .args)" '{"External id":3}'
refuses 5 "it has '[^']*gemm" "tl-kernels --name 'gem' t.json"

# ---- a suggestion is right, or absent ----

refuses 2 "unknown option '--colums': is it --columns\\?$" 'tl-kernels --colums x t.json'
refuses 2 "unknown option '--qqq'$" 'tl-kernels --qqq t.json'
refuses 2 "unknown option '--capture'$" 'tl-diff --capture x t.json t.json'
refuses 2 "unknown option '--by': is it --by-type\\?$" 'tl-modules --by type t.json'
refuses 2 "unknown option '--by': tl-ops and tl-kernels have one$" 'tl-roofline --by step t.json'
refuses 2 "unknown option '--by': tl-ops and tl-kernels have one$" 'tl-collective --by group t.json'
refuses 2 "unknown option '--cause': is it --causes\\?$" 'tl-idle --cause data t.json'
refuses 2 "unknown option '--gpu': --arch names the GPU, --dev selects one$" 'tl-roofline --gpu H100 t.json'
refuses 2 "unknown option '--step': is it --by step\\?$" 'tl-split --step 5 -d parts t.json'

# ---- a report ----

command -v tl-report >/dev/null || { done_testing && exit; }
refuses 2 "unknown option '--hmtl': is it --html\\?$" 'tl-report --hmtl x t.json'
refuses 2 "unknown option '--name': tl-ops and tl-kernels have one$" 'tl-report --name x t.json'
refuses 2 'CSV is one file per table: use -d DIR$' 'tl-report -o x.csv t.json'
ok 'which is not written' test ! -e x.csv
tl-report --step slowest t.json >out 2>err
is 'no steps: what there is instead, and no usage of another program' \
	"$? $(grep -c -- '--annotation GLOB' err) $(grep -ci usage err) $(cat out)" '5 1 0 '
# what is missing is said once; that nothing is left of the trace is not
# repeated
tl-report --annotation nope t.json >out 2>err
is 'no such annotation' "$? $(wc -l <err) $(grep -c "'nope'" err)" '5 1 1'
tl-report --annotation nope t.json --vs t.json >out 2>err
is 'of both sides' "$? $(wc -l <err) $(grep -c "'nope'" err)" '5 1 1'
tl-gen --ranks 2 -n 1 -d two
tl-report --from 100s two >out 2>err
is 'no such time, of several ranks' "$? $(wc -l <err) $(grep -c 'it has events from' err)" '5 1 1'
for o in '--step 99' '--phase decode' '--dev 99'; do
	sh -c "tl-report $o t.json" >out 2>err
	is "$o: messages are of the program typed" \
		"$(sed 's/: .*//' err | sort -u)" tl-report
done
refuses 1 '^tl-report: nosuch.json: ' 'tl-report nosuch.json'
refuses 1 '^tl-report: nope.json: ' 'tl-report t.json --vs nope.json'
tl-report --gpu-stream 99 t.json >out 2>err
is 'no such stream' "$? $(wc -l <err) $(grep -c 'it has GPU stream 7$' err)" '5 1 1'
true | tl-decode 2>err1 | tl-tree 2>err2 | tl-timeline >out 2>err
is 'an empty pipe is a line of each program' "$(cat err1 err2 err)" \
	'tl-decode: stdin: the input is empty
tl-tree: stdin: the input is empty
tl-timeline: stdin: the input is empty'
tl-gen --ranks 3 -n 1 -d .
is 'one rank of three is titled so' "$(tl-report --rank 1 rank-*.json 2>err | head -n 1)" \
	'rank-1.json, rank 1 of 3, AMD Instinct MI300X'
is 'all are as many as there are' "$(tl-report rank-*.json 2>err | head -n 1)" \
	'3 of 3 ranks, AMD Instinct MI300X'
tl-report "$SAMPLE" >out 2>err
is 'no place in our sources is on the screen' "$(grep -E '\.(lua|c):[0-9]' out err)" ''
done_testing
