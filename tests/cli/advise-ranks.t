#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise on jobs of several ranks: the gain of a finding is what the same job
# gains when it is simulated without it.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'

# job NAME CALL...: into NAME, and what it gains without its calls "load"
job() {
	name=$1
	shift
	for call do set -- "$@" --call "$call"; shift; done
	ns=$(python3 "$ROOT/tests/gen/late.py" -o "$name" "$@")
	gain=$((ns - $(python3 "$ROOT/tests/gen/late.py" -o without --without load "$@")))
	tl-advise --format tsv -d "$name.out" "$name" 2>err
}
# within PERCENT NAME RULE INSIGHT: the high gain of its finding
within() {
	got=$(tl-advise --no-header --format tsv -c rule,insight,gain_ns_high "$2" 2>/dev/null |
		grep "^$3	$4" | cut -f3)
	is "$5: $got ns, of $gain" "$(awk "BEGIN { print ($got <= 1.001 * $gain && $got >= (1 - $1 / 100) * $gain) }")" 1
}

# The first step's gap is before the first GPU event, and no part of the window.
job alike all:load=1000
# 4 ranks, a call in each of 6 steps
like 'calls are a mean as their time is' "$(tl-advise alike --no-header -c rule,insight 2>/dev/null)" \
	'^gap_host	load \(op, 6 calls on average, longest wait 1.000 ms, '
within 17 alike gap_host load 'ranks that are alike: their mean'
job late all:load=1000 2:load=2000
like 'those of one rank are no mean' "$(tl-advise late --no-header -c rule,insight 2>/dev/null)" \
	'^gap_host	load \(op, 12 calls, longest wait 2.000 ms, '
within 1 late gap_host load 'a late rank: its own, as none is as late'
job close 2:load=3000 1:tokens=2800
within 1 close gap_host load 'one that is hardly later than the next: as far as that waits'
# 12 ms of the late rank's own time are also its cost: no ns counts twice
is 'what it costs is the same time' "$(tl-advise late --no-header -c rule,overlaps 2>/dev/null |
	grep -c -e '^gap_host	$' -e '^late_host	1$')" 2
like 'the report says the same' "$(tl-report --width 200 late 2>/dev/null | tr '\n' ' ')" \
	'1\. [0-9.]+ ms \([0-9.]+ ms to 17\.88[0-9]* ms\): load \(op, 12 calls,.*2\. [0-9.]+ ms \([0-9.]+ us to 11\.99[0-9]* ms, shared with 1\): rank 2 arrives late'

# the gain of a faster host, from the path through all ranks
tl-critical --job --table critical_ranks late 2>/dev/null --no-header -c loss_ns,rank |
	sort -n | tail -n 1 | awk '{ printf "host of rank %d as fast as the median rank.s, the job would end %.3f ms ", $2, $1 / 1e6 }' >loss
like 'the screen has it if asked' \
	"$(tl-report --critical-path --width 999 late 2>/dev/null)" "$(cat loss)"
is 'else not' "$(tl-report --width 999 late 2>/dev/null | grep -c 'as fast as the median')" 0
is 'one rank has none' "$(tl-report --critical-path "$(find late -type f | sort | head -n 1)" 2>&1 >/dev/null | grep -c 'critical-path.*one rank')" 1
refuses 2 'not with --no-collective' 'tl-report --critical-path --no-collective late'

# tables of an older release lack the bound, and the cost takes its place
tl-report --format ndjson -d late.old late >/dev/null 2>&1
tl-report -d late.csv late >/dev/null 2>&1
is 'CSV of several ranks, with its units' "$(tl-advise --format tsv late.csv)" "$(tl-advise --format tsv late.old)"
sed 's/"gain_ns_high"/"unknown"/' late.old/*.ndjson >old.ndjson
like 'without the bound the gain is the cost, and nothing is said of a bound' \
	"$(tl-advise old.ndjson --no-header -c rule,gain_ns_high,insight 2>/dev/null)" \
	'^late_host	11999[0-9]+	rank 2 arrives late .* of the steps$'

# ---- ops: the mean of all ranks; for one that bounds the job its own ----

# head TABLE COLUMN:TYPE...
head_of() {
	printf '{"table":"%s","columns":[' "$1"
	shift
	between=
	for c; do
		printf '%s{"id":"%s","label":"%s","type":"%s","unit":null}' "$between" "${c%:*}" "${c%:*}" "${c#*:}"
		between=,
	done
	printf ']}\n'
}
# rank 0 loses 8 of 100 ms in products, rank 1 12: both are at 60 % of the roof;
# chains of two ops could save 4 and 6
ops() {
	head_of gpu_timeline rank:int type:text time_ns:int
	for r in 0 1; do
		for t in total_time:100 busy_time:80 computation_time:60 exposed_comm_time:20 total_comm_time:20; do
			printf '{"rank":%d,"type":"%s","time_ns":%d000000}\n' $r "${t%:*}" "${t#*:}"
		done
	done
	printf '{"end":{"rows":10}}\n'
	head_of unified_perf_summary rank:int name:text op_category:text operation_count:int kernel_ns_sum:int \
		roofline_bound:text roof:text pct_roofline_mean:real first_uid:int
	for r in 0 1; do
		printf '{"rank":%d,"name":"aten::mm","op_category":"GEMM","operation_count":%d,"kernel_ns_sum":%d,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":60,"first_uid":1}\n' \
			$r $((3 + r)) $((20000000 + r * 10000000))
	done
	printf '{"end":{"rows":2}}\n'
	head_of fusion_chains rank:int chain:text ops:int count:int kernels:int kernel_ns_sum:int saved_ns_sum:real
	for r in 0 1; do
		printf '{"rank":%d,"chain":"aten::mul > aten::add","ops":2,"count":5,"kernels":%d,"kernel_ns_sum":9000000,"saved_ns_sum":%d}\n' \
			$r $((10 + r)) $((4000000 + r * 2000000))
	done
	printf '{"end":{"rows":2}}\n'
}
# rank 1 causes all 20 ms of waiting; on time it would gain 1 ms
late() {
	head_of idle_window rank:int window:text steps:int window_ns:int gpu_ns:int communication_ns:int \
		host_ns:int launched:int starved:int
	for r in 0 1; do
		printf '{"rank":%d,"window":"steps","steps":2,"window_ns":100000000,"gpu_ns":60000000,"communication_ns":20000000,"host_ns":20000000,"launched":100,"starved":0}\n' $r
	done
	printf '{"end":{"rows":2}}\n'
	head_of nccl_groups group:text wait_ns_sum:int latency_ns_sum:int
	printf '{"group":"0-1","wait_ns_sum":20000000,"latency_ns_sum":1000000}\n{"end":{"rows":1}}\n'
	head_of straggler_cause rank:int caused_wait_ns:int cost_ns:int
	printf '{"rank":1,"caused_wait_ns":20000000,"cost_ns":10000000}\n{"end":{"rows":1}}\n'
	head_of straggler_summary rank:int gain_ns_high:int
	printf '{"rank":1,"gain_ns_high":1000000}\n{"end":{"rows":1}}\n'
}
said() { tl-advise --no-header -c insight,gain_ns_high "$1" | grep -e '::mm' -e '::mul'; }
ops >alike.ndjson
is 'ranks that are alike' "$(said alike.ndjson)" \
	'GEMM at 60.0 % of the compute roof (X achievable): 25.000 ms on average in 1 shape (3.5 calls), aten::mm	10000000
aten::mul > aten::add: 9.000 ms in 10.5 kernels of 5 occurrences on average	5000000'
{ ops && late; } >one.ndjson
# 12 ms: 4 are its own, 1 can be gained
is 'one that bounds the job' "$(said one.ndjson)" \
	'GEMM at 60.0 % of the compute roof (X achievable): 30.000 ms in 1 shape (4 calls) of rank 1, aten::mm	9000000
aten::mul > aten::add: 9.000 ms in 11 kernels of 5 occurrences on rank 1	6000000'
is 'the ops themselves are of each' "$(tl-advise --no-header --table advice_ops -c rank,count,kernel_ns_sum one.ndjson |
	tr '\t\n' '  ')" '0 3 20000000 1 4 30000000 '
# rank 1 computes 30 ms, communicates 40 (20 exposed), and is idle 50; rank 0 is
# idle 20 and overlaps nothing: all three times are of one of them, or means
uneven() {
	sed -e 's/\("rank":1,"type":"busy_time","time_ns":\)80/\150/' -e 's/\("rank":1,"type":"computation_time","time_ns":\)60/\130/' \
		-e 's/\("rank":1,"type":"total_comm_time","time_ns":\)20/\140/' "$1" >uneven.ndjson
	tl-advise --no-header --sort rule -c rule,insight uneven.ndjson | grep -e ^idle -e ^overlap -e ^exposed
}
is 'the window of the one that bounds the job' "$(uneven one.ndjson)" \
	'exposed_communication	exposed communication of rank 1 (20.0 % of the window; 50.0 % of communication is overlapped; 10.000 ms of computation can overlap it)
idle	the GPU of rank 1 is idle 50.000 ms, 50.0 % of what was recorded; 0.0 % of its work was launched after it had run dry
overlap	only 50.0 % of 40.000 ms of communication on rank 1 is overlapped with computation'
is 'or the mean of all' "$(uneven alike.ndjson)" \
	'exposed_communication	exposed communication (20.0 % of the window on average; 33.3 % of communication is overlapped; 20.000 ms of computation can overlap it)
idle	the GPU is idle 35.000 ms on average, 35.0 % of what was recorded
overlap	only 33.3 % of 30.000 ms of communication on average is overlapped with computation'

# ranks with different ops, as stages of a pipeline: both ranks' ops are listed
stages() {
	ops | head -n 12
	head_of unified_perf_summary rank:int name:text op_category:text operation_count:int kernel_ns_sum:int \
		kernel_ns_mean:real kernel_ns_std:real roofline_bound:text roof:text pct_roofline_mean:real \
		perf_params:json first_uid:int
	for r in 0:mm:GEMM:20:1:80 1:mm:GEMM:24:1:80 1:attn:SDPA_fwd:45:5:11; do
		IFS=: read -r rank name category ms std pct <<-END
			$r
		END
		printf '{"rank":%d,"name":"aten::%s","op_category":"%s","operation_count":20,"kernel_ns_sum":%d000000,"kernel_ns_mean":2000000,"kernel_ns_std":%d000000,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":%d,"perf_params":{"N_Q":4196},"first_uid":1}\n' \
			"$rank" "$name" "$category" "$ms" "$std" "$pct"
	done
	printf '{"end":{"rows":3}}\n'
}
stages >stages.ndjson
is 'each op of alike ranks is looked at once' "$(tl-advise --no-header -c rule,insight stages.ndjson | grep -e ^spread -e ^attention_4096)" \
	'spread	aten::attn of rank 1 takes 2.000 ms on average over 20 calls, with a deviation of 5.000 ms
attention_4096	aten::attn of rank 1 over 4,196 queries reaches 11.0 % of the roof (X achievable): 50 to 70 % is usual'
is 'and counts once' "$(tl-advise --no-header -c insight stages.ndjson | grep ^GEMM)" \
	'GEMM at 80.0 % of the compute roof (X achievable): 22.000 ms on average in 1 shape (20 calls), aten::mm'
is 'Markdown lists each of the rank where it takes longest' \
	"$(tl-advise --markdown stages.ndjson | sed -n 's/^| aten::\([a-z]*\) .* | \([0-9.]* | [0-9.]*\) | 20 .*/\1 \2/p')" \
	'attn 45.000 | 45.00
mm 24.000 | 24.00'
done_testing
