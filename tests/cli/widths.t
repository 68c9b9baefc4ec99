#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables on terminals of 60 to 200 columns: no line is longer, and at 80 it has
# what a reader asks first: name, shape, time, share, share of the roof, time
# lost, bound, count.
. tests/cli/lib.sh

for program in tl-roofline tl-report; do
	command -v $program >/dev/null || skip_all "no $program"
done
tl-tree -o t.tl "$SAMPLE"
tl-filter --step 1 -o before.tl t.tl
tl-filter --step 2 -o after.tl t.tl
tl-gen --ranks 2 --late-rank 1=300000 -n 2 -d ranks
widths='60 80'
[ -z "${TL_SLOW-}" ] || widths='60 80 140 200 250'

# longer WIDTH: the lines of stdin that are longer
longer() { awk -v w="$1" 'length > w' | head -n 2; }

# ---- every table of every program ----

# look WIDTH COMMAND...: lines that are longer, or that it has no answer
look() {
	w=$1
	shift
	"$@" --width "$w" >shown 2>err
	status=$?
	case $status in
	0 | 3) [ -s shown ] || echo "$*: prints nothing" ;;
	5) [ -s err ] || echo "$*: says nothing" ;;
	*) echo "$*: status $status" ;;
	esac
	longer "$w" <shown | sed "s|^|$* at $w: |"
}
# tables PROGRAM INPUT: each of its tables; a line for each in the file seen
tables() {
	"$1" --list-tables --no-header </dev/null | cut -f 1 | sort -u >tables
	[ -s tables ] || echo "$1: no tables"
	while read -r table; do
		echo "$1 $table" >>seen
		for w in $widths; do
			case $table in
			critical_ranks) look "$w" tl-critical --job --table "$table" --format table ranks/* ;;
			nccl_vs) look "$w" tl-collective --vs ranks --format table "$2" ;;
			*) look "$w" "$1" --table "$table" --format table "$2" ;;
			esac
		done
	done <tables
}
for program in timeline ops kernels roofline idle steps critical launch; do
	tables tl-$program t.tl
done >long
tables tl-collective ranks >>long
for w in $widths; do
	for table in diff_ops_summary diff_steps diff_verdict lca_summary; do
		look "$w" tl-diff --table $table --format table before.tl after.tl
	done
	look "$w" tl-modules --format table t.tl
	look "$w" tl-health --format table t.tl
	look "$w" tl-advise --format table t.tl
	look "$w" tl-report t.tl
	look "$w" tl-report ranks/*
	look "$w" tl-report before.tl --vs after.tl
done >>long
is 'no line is longer than the terminal' "$(cat long)" ''
ok 'of many tables' test "$(wc -l <seen)" -gt 100

# ---- columns that stay ----

# stays WIDTH WORDS COMMAND...: there is room for all of the words
stays() {
	w=$1 words=$2
	shift 2
	"$@" --format table --width "$w" 2>/dev/null | tr '\n' ' ' |
		sed -n 's/.*(no room for: *\([^)]*\)).*/\1/p' | tr -d ' ' | tr ',' '\n' |
		sed 's/\[.*//' >without
	"$@" --format table --width "$w" 2>/dev/null >shown
	for word in $words; do
		grep -qxF "$word" without && echo "$word"
	done >gone
	is "$(echo "$* at $w" | cut -c 1-70)" "$(tr '\n' ' ' <gone) $(wc -l <shown | awk '$1 < 4')" ' '
}
stays 60 'name N K roof_mean lost kernel_sum' tl-roofline --table GEMM t.tl
stays 80 'name M N K bound roof_mean lost kernel_sum count pct_of_family' tl-roofline --table GEMM t.tl
# batches and counts that differ: the share goes after them
batch() { # batch ID B M K N CALLS
	for call in $(seq "$6"); do
		id=$(($1 * 10 + call)) at=$((($1 * 10 + call) * 1000))
		ev cpu_op aten::bmm 1 $at 50 "\"External id\":$id,\"Input Dims\":[[$2,$3,$4],[$2,$4,$5]],\"Input type\":[\"c10::BFloat16\",\"c10::BFloat16\"],\"Input Strides\":[[$(($3 * $4)),$4,1],[$(($4 * $5)),$5,1]]"
		ev cuda_runtime cudaLaunchKernel 1 $((at + 10)) 5 "\"External id\":$id,\"correlation\":$id"
		ev kernel gemm 7 $((at + 20)) 900 "\"External id\":$id,\"device\":0,\"stream\":7,\"correlation\":$id"
	done
}
{
	batch 1 96 3137 64 3137 2
	batch 2 37632 8 64 16 1
	batch 3 4 25088 768 2304 1
} | trace >batches.json
stays 80 'name M N K bound roof_mean lost kernel_sum pct_of_family' \
	tl-roofline --arch MI300X --table GEMM batches.json
stays 80 'name input_dims bound roof_mean lost kernel_sum count' tl-roofline t.tl
stays 80 'name input_dims direct_sum pct_of_direct count' tl-ops --by args t.tl
stays 80 'name dur_sum pct_of_kernels count' tl-kernels t.tl
stays 80 'cause time percent count' tl-idle t.tl
stays 80 'bound kind time percent count longest_in' tl-critical t.tl
stays 80 'step wall busy idle' tl-steps t.tl
python3 "$ROOT/tests/gen/serving.py" --format vllm_detailed --steps 6 >serving.json
stays 80 'step what wall idle busy flags phase' tl-steps serving.json
# the end of a long list of columns is not told: look at the heads
python3 "$ROOT/tests/gen/serving.py" --format vllm_detailed --steps 1 >phase.json
for w in 80 140; do
	like "what the recording shows of phases at $w" \
		"$(tl-steps --table phase_summary --format table --width $w phase.json | head -n 3 | tr '\n' ' ')" \
		'phase .*missing.* bound .*recorded'
	like "what forbids a graph at $w" \
		"$(tl-launch --table graph_estimate --format table --width $w "$ROOT/tests/data/capture.json.gz" | head -n 3 | tr '\n' ' ')" \
		' forbidden_by '
done
stays 60 'name before after diff ratio' tl-diff before.tl after.tl
stays 80 'name input_dims before after diff ratio' tl-diff before.tl after.tl
stays 60 'group ranks verdict late_rank cost' tl-collective ranks
stays 140 'group ranks collectives latency_sum wait pct_wait late_rank pct_late cost verdict' \
	tl-collective ranks
for w in 120 200; do
	like "what is said of a group is whole at $w" \
		"$(tl-collective --table nccl_groups --format table --width $w ranks 2>err | tr -s ' \n' ' ')" \
		"collectives.*$(tl-collective --table nccl_groups -c says --no-header ranks 2>err | head -n 1 |
			sed 's/[][().*+?|\\^$]/./g')"
done

like 'a list below its row has the name of its column' \
	"$(tl-critical --job --table critical_ranks --format table --width 80 ranks/*)" \
	' chain: \['

# ---- one unit for what is added or compared ----

is 'times of steps have one unit' \
	"$(tl-steps --table steps -c wall_ns,gpu_wall_ns,busy_ns,idle_ns,idle_cause_ns,data_ns --format table t.tl |
		sed -n '1s/[^[]*\[\([a-z]*\)\]/\1 /gp')" 'ms ms ms ms ms ms '

# ---- and where there is nothing ----

like 'a table without rows says so, and why' \
	"$(tl-steps --table phase_summary --format table t.tl | tr '\n' ' ')" \
	'^no serving iterations: no phases .*\(no rows\) $'
cat >one.json <<'END_JSON'
{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5,
 "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 25, "dur": 30,
 "args": {"correlation": 7, "device": 0, "stream": 7}}]}
END_JSON
like 'nor is there a graph to estimate' \
	"$(tl-launch --table graph_estimate --format table one.json | tr '\n' ' ')" \
	'^no step, and no 20 launches that keep the GPU waiting .*\(no rows\) $'
is 'a file has the heads alone' "$(tl-steps --table phase_summary --format tsv t.tl 2>/dev/null | wc -l)" 1
done_testing
