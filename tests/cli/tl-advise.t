#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise: findings in hand-made tables with gains worked out by hand, rules
# as data, inputs, outputs.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# column ID TYPE; table NAME COLUMN... <rows
table() {
	printf '{"table":"%s","columns":[' "$1"
	shift
	between=''
	for c in "$@"; do
		printf '%s{"id":"%s","label":"%s","type":"%s","unit":null}' \
			"$between" "${c%:*}" "${c%:*}" "${c#*:}"
		between=,
	done
	printf ']}\n'
	tee rows
	printf '{"end":{"rows":%d}}\n' "$(wc -l <rows)"
}

# 100 ms: 60 of computation, 10 of exposed communication, 30 idle; 5 of these
# are not recorded
timeline() {
	table gpu_timeline type:text time_ns:int <<-END
		{"type":"total_time","time_ns":100000000}
		{"type":"busy_time","time_ns":70000000}
		{"type":"computation_time","time_ns":60000000}
		{"type":"exposed_comm_time","time_ns":10000000}
		{"type":"exposed_memcpy_time","time_ns":0}
		{"type":"total_comm_time","time_ns":20000000}
	END
}

# window LAUNCHED STARVED GAP_NS [OPENED_NS]
window() {
	table idle_window window:text steps:int window_ns:int gpu_ns:int \
		communication_ns:int copy_ns:int host_ns:int sync_ns:int \
		allocation_ns:int missing_ns:int launched:int starved:int \
		launch_interval_ns:int launch_work_ns:int graph_ns:int \
		gap_ns:int opened_ns:int opened_by:text opened_uid:int <<-END
		{"window":"steps","steps":2,"window_ns":100000000,"gpu_ns":60000000,"communication_ns":10000000,"copy_ns":0,"host_ns":15000000,"sync_ns":4000000,"allocation_ns":6000000,"missing_ns":5000000,"launched":$1,"starved":$2,"launch_interval_ns":50000,"launch_work_ns":4000,"graph_ns":3000000,"gap_ns":$3,"opened_ns":${4:-0},"opened_by":"cudaStreamSynchronize","opened_uid":71}
	END
}

idle() {
	table idle class:text cause:text call:text time_ns:int calls:int \
		call_ns_max:int longest_uid:int inferred_ns:int behind_ns:int \
		<<-END
		{"class":"host","cause":"python","call":"step","time_ns":14000000,"calls":20,"call_ns_max":2000000,"longest_uid":7,"inferred_ns":0,"behind_ns":0}
		{"class":"allocation","cause":"alloc","call":"hipFree","time_ns":6000000,"calls":3,"call_ns_max":3000000,"longest_uid":5,"inferred_ns":0,"behind_ns":2000000}
		{"class":"missing","cause":"gpu_missing","call":"hipLaunchKernel","time_ns":5000000,"calls":1,"call_ns_max":5000000,"longest_uid":8,"inferred_ns":0,"behind_ns":0}
		{"class":"sync","cause":"sync","call":"cudaStreamSynchronize","time_ns":4000000,"calls":1,"call_ns_max":4000000,"longest_uid":9,"inferred_ns":3000000,"behind_ns":0}
		{"class":"host","cause":"op","call":"aten::mm","time_ns":900000,"calls":1,"call_ns_max":900000,"longest_uid":10,"inferred_ns":0,"behind_ns":0}
	END
}

# ops: a GEMM at 60 %, one at 20 %, a kernel above the roof, one without
ops() {
	table unified_perf_summary name:text op_category:text \
		operation_count:int host_ns_sum:int kernel_ns_sum:int \
		kernel_ns_mean:real kernel_ns_std:real roofline_bound:text \
		roof:text pct_roofline_mean:real flop_per_byte:real \
		first_uid:int input_dims:json input_types:json \
		kernel_details_summary:json <<-END
		{"name":"aten::mm","op_category":"GEMM","operation_count":4,"host_ns_sum":1000,"kernel_ns_sum":20000000,"kernel_ns_mean":5000000,"kernel_ns_std":1,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":60,"flop_per_byte":200,"first_uid":100,"input_dims":[[8,4],[4,2],[]],"input_types":["float","float",""],"kernel_details_summary":[{"name":"Cijk_a"}]}
		{"name":"aten::mm","op_category":"GEMM","operation_count":2,"host_ns_sum":1000,"kernel_ns_sum":5000000,"kernel_ns_mean":2500000,"kernel_ns_std":1,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":80,"flop_per_byte":200,"first_uid":101,"input_dims":[[8,8],[8,8]],"input_types":["float","float"],"kernel_details_summary":[{"name":"Cijk_b"}]}
		{"name":"aten::add","op_category":"elementwise","operation_count":20,"host_ns_sum":90000000,"kernel_ns_sum":10000000,"kernel_ns_mean":500000,"kernel_ns_std":600000,"roofline_bound":"MEMORY_BOUND","roof":"X achievable","pct_roofline_mean":20,"flop_per_byte":0.25,"first_uid":102,"input_dims":[[8]],"input_types":["float"],"kernel_details_summary":[{"name":"void at::native::add"}]}
		{"name":"aten::odd","op_category":"other","operation_count":1,"host_ns_sum":1,"kernel_ns_sum":10000000,"kernel_ns_mean":10000000,"kernel_ns_std":0,"roofline_bound":"MEMORY_BOUND","roof":"X achievable","pct_roofline_mean":140,"flop_per_byte":1,"first_uid":103,"input_dims":[],"input_types":[],"kernel_details_summary":[]}
		{"name":"ncclDevKernel_AllReduce","op_category":"other","operation_count":1,"host_ns_sum":1,"kernel_ns_sum":20000000,"kernel_ns_mean":20000000,"kernel_ns_std":0,"roofline_bound":null,"roof":null,"pct_roofline_mean":null,"flop_per_byte":null,"first_uid":104,"input_dims":[],"input_types":[],"kernel_details_summary":[]}
	END
}

{
	timeline
	window 100 10 2000000
	idle
	ops
} >t.ndjson
tl-advise t.ndjson >advice.tsv 2>err

# row RULE COLUMN...: its cells
row() {
	rule=$1
	shift
	tl-advise t.ndjson --no-header \
		-c "rule,$(echo "$*" | tr ' ' ,)" 2>/dev/null |
		sed -n "s/^$rule	//p" | tr '\t\n' '| '
}

G='gain_ns_low gain_ns gain_ns_high'
# shellcheck disable=SC2086
{
	# hipFree 6 ms and 2 ms of host work after it
	is 'a call, and what is behind it' "$(row gap_call $G)" \
		'4000000|6000000|8000000 '
	# 14 ms; one graph of all would leave 3 of 15
	is 'host work' "$(row gap_host $G)" '3000000|6000000|12000000 '
	is 'a call that is inferred' "$(row gap_likely $G)" \
		'1000000|2000000|4000000 '
	is 'exposed communication' "$(row exposed_communication $G)" \
		'2500000|5000000|10000000 '
	# 20 x 0.4 and 5 x 0.2 in one group
	is 'ops of one band' "$(row gemm_compute $G rows uids)" \
		'6750000|7875000|9000000|2|[100,101] '
	is 'ops of another' "$(row memory_bound $G)" '6000000|7000000|8000000 '
	is 'an op above the roof has none, and no gain' \
		"$(row no_roof $G insight confidence)" \
		'|||aten::odd (other, no roofline): 10.000 ms (10.0 % of the time) in 1 shape (1 call)|high '
}
# 10 of 95 ms recorded; 2 ms of them are gaps, which have no gain
is 'the share of a part is the verdict'\''s' "$(row exposed_communication insight)" \
	'exposed communication (10.5 % of the recorded time; 50.0 % of communication is overlapped; 10.000 ms of computation can overlap it) '
gap='{"class":"communication","cause":"comm","call":"nccl","time_ns":2000000,"calls":1,"call_ns_max":2000000,"longest_uid":11,"inferred_ns":0,"behind_ns":0}'
sed -e "s/^{\"class\":\"missing\".*/$gap/" -e 's/"missing_ns":5000000/"missing_ns":0/' t.ndjson >whole.ndjson
is 'with its gaps, of the window if all of it is recorded' \
	"$(tl-advise whole.ndjson --no-header -c rule,insight,gain_ns_high | sed -n 's/^exposed_communication	//p')" \
	'exposed communication (10.0 % of the window; 50.0 % of communication is overlapped; 8.000 ms of computation can overlap it)	8000000'
# 13 of computation, 10 of it during communication: 3 can hide more of it; of 10
# none
computing() { # computing NS: findings about communication
	sed "s/\(\"computation_time\",\"time_ns\":\)60000000/\\1$1/" t.ndjson >computing.ndjson
	tl-advise computing.ndjson --no-header -c rule,gain_ns_low,gain_ns,gain_ns_high | grep -e ^overlap -e ^exposed -e ^comm
}
is 'no more is hidden than computes alone' "$(computing 13000000)" \
	'exposed_communication	750000	1500000	3000000
overlap			'
is 'nothing computes alone: nothing hides it' "$(computing 10000000)" \
	'communication_alone			'
is 'what is below 1 %: none' "$(grep -c 'uid 10)' advice.tsv)" 0
is 'what is not recorded wins nothing' \
	"$(grep -c hipLaunchKernel advice.tsv)" 0
is 'the largest first' "$(tl-advise t.ndjson --no-header -c rule | tr '\n' ' ')" \
	'gemm_compute memory_bound gap_host gap_call exposed_communication gap_likely no_roof host_blocked above_roof spread idle overlap '
sed 's/"call":"step"/"call":"Optimizer.zero_grad#SGD.zero_grad"/' t.ndjson >zero.ndjson
is 'gradients filled with zeros' "$(tl-advise zero.ndjson --no-header -c rule,action,gain_ns | grep zero_grad)" \
	'gap_zero_grad	zero_grad(set_to_none=True): drop gradients instead of filling them with zeros	6000000'
sed '/"call":"aten::mm"/s/900000/14000000/g; s/"call":"step","time_ns":14000000/"call":"step","time_ns":900000/' t.ndjson >lone.ndjson
is 'no graph for a single long call' "$(tl-advise lone.ndjson --no-header -c rule,insight,action | sed -n 's/^gap_host	//p')" \
	'aten::mm (op, uid 10)	find why this one call takes so long; if it starts something up, warm up before recording'
is 'host work behind a call is host work' "$(row gap_call overlaps)" '3 '
is 'its library' "$(row gemm_compute insight)" \
	'GEMM of Tensile at 64.0 % of the compute roof (X achievable): 25.000 ms in 2 shapes (6 calls), most in aten::mm '
# without place 4, which shares its time, and guesses: 7.875 + 7 + 6 + 5
is 'the sum' "$(tl-advise t.ndjson --table advice_metrics -c gain_ns,missing_ns --no-header)" \
	'25875000	5000000'
is 'idle time of what was recorded: 25 of 95 ms' "$(row idle insight)" \
	'the GPU is idle 25.000 ms, 26.3 % of what was recorded; 10.0 % of its work was launched after it had run dry '
is 'an op with its arguments' \
	"$(tl-advise t.ndjson --table advice_ops -c args,kernel --no-header | head -n 1)" \
	'(8, 4) float; (4, 2) float	Cijk_a'

# rocprofv3's timeline has no communication: no finding about it
table gpu_timeline type:text time_ns:int >rocprof.ndjson <<-END
	{"type":"total_time","time_ns":100000000}
	{"type":"kernel","time_ns":40000000}
	{"type":"memory","time_ns":0}
	{"type":"busy_time","time_ns":40000000}
	{"type":"idle","time_ns":60000000}
END
is 'communication that is not known' \
	"$(tl-advise --text rocprof.ndjson 2>/dev/null | sed -n 1p)" \
	'100.000 ms of total_time: 40.0 % compute, 60.0 % idle.'
is 'nor is it a figure' \
	"$(tl-advise rocprof.ndjson --table advice_metrics -c compute_ns,exposed_comm_ns,pct_exposed_comm --no-header)" \
	'40000000		'

# a launch outside ops: each of its kernels has its host time
sed 's/"name":"aten::add"/"name":"cudaGraphLaunch->add (Synthetic Op)"/' t.ndjson >graph.ndjson
is 'host time of a launch is none of its kernels' \
	"$(tl-advise graph.ndjson --no-header -c rule | grep -c host_blocked)" 0

# 80 of 90 ms more than the kernels': one call of 40 ms is at most half
for most in 40000000 40000001; do
	sed 's/"host_ns_sum"[^}]*"type":"int"[^}]*}/&,{"id":"host_ns_max","label":"x","type":"int","unit":null}/
		s/"host_ns_sum":90000000/&,"host_ns_max":'$most/ t.ndjson >once.ndjson
	tl-advise once.ndjson --no-header -c rule,insight | grep host_bl
done >got
cat >expected <<'END'
host_blocked	ops of elementwise take 80.000 ms longer on the host than their kernels (1 row, aten::add)
host_blocked_once	ops of elementwise take 80.000 ms longer on the host than their kernels, most of it in one call of aten::add (40.000 ms)
END
same 'host time of one call' got expected

# shorts GRAPHS TOLD LONGEST: 60 of 61 kernels, one of them long, a summary of
# TOLD of them, and GRAPHS of 100 us launched by graphs
shorts() {
	timeline
	table kernel_summary name:text count:int dur_ns_sum:int dur_ns_mean:real <<-END
		{"name":"add","count":61,"dur_ns_sum":1000000,"dur_ns_mean":16393.4}
	END
	table short_kernel_histogram bin_start_ns:real bin_end_ns:real count:int <<-END
		{"bin_start_ns":1000.0,"bin_end_ns":5000.0,"count":58}
		{"bin_start_ns":5000.0,"bin_end_ns":$3,"count":2}
	END
	table short_kernels_summary name:text count:int dur_ns_sum:int <<-END
		{"name":"add","count":$2,"dur_ns_sum":90000}
	END
	table launches_by_api api:text kernel_ns_sum:int <<-END
		{"api":"cudaGraphLaunch","kernel_ns_sum":$1}
		{"api":"cudaLaunchKernel","kernel_ns_sum":$((100000 - $1))}
	END
}
short='tl-advise short.ndjson --no-header -c rule,insight,action'
shorts 49000 60 9999 >short.ndjson
is 'short kernels, each by itself' "$($short | grep short)" \
	'short_kernels	60 of 61 kernels last under 10 us (90.0 us, 9.0 % of kernel time), most in add	fuse them (torch.compile), or launch them as a graph'
shorts 50000 59 9999 >short.ndjson
is 'of graphs; not all have a time' "$($short | grep short)" \
	'short_kernels_in_graphs	60 of 61 kernels last under 10 us	fuse them (torch.compile): graphs launch them already'
shorts 0 60 10001 >short.ndjson
is 'of another limit: none' "$($short | grep -c short)" 0

# steps of 100 ms around 80 ms of GPU work: ops and gaps are shares of one time
sed 's/"total_time","time_ns":100000000/"total_time","time_ns":80000000/' t.ndjson >within.ndjson
is 'one time for all shares' \
	"$(tl-advise within.ndjson --no-header -c rule,pct_gain | grep -e gemm_ -e gap_host | tr '\t\n' ' ')" \
	'gemm_compute 7.875 gap_host 6.0 '
is 'that is named' "$(tl-advise --text within.ndjson | grep 'what to do')" \
	'what to do first, and the time it saves (of 100.000 ms)'
is 'also in the table' \
	"$(tl-advise within.ndjson --table advice_metrics -c total_ns,window_ns,pct_gain --no-header)" \
	'80000000	100000000	25.875'

# two GPUs at once: 180 ms of ops in 100 ms, 135 of them in one category
{
	timeline
	table ops_summary_by_category op_category:text count:int direct_ns_sum:int <<-END
		{"op_category":"GEMM","count":4,"direct_ns_sum":135000000}
		{"op_category":"other","count":4,"direct_ns_sum":45000000}
	END
	table unified_perf_summary name:text op_category:text \
		operation_count:int kernel_ns_sum:int <<-END
		{"name":"aten::mm","op_category":"GEMM","operation_count":4,"kernel_ns_sum":135000000}
	END
	table copies copy:text count:int time_ns_sum:int <<-END
		{"copy":"Memcpy HtoD","count":60,"time_ns_sum":120000000}
	END
} >gpus.ndjson
like 'shares of GPUs that work at once' \
	"$(tl-advise --text gpus.ndjson | tr '\n' ' ')" \
	' Most compute: GEMM, 75.0 % of op time[.] '
is 'in tables' "$({
	tl-advise --table advice_metrics -c pct_top --no-header gpus.ndjson
	tl-advise --table advice_categories -c pct_of_compute --no-header gpus.ndjson
	tl-advise --table advice_ops -c percent --no-header gpus.ndjson
} | tr '\n' ' ')" '75.0 75.0 25.0 75.0 '
is 'and findings: none above 100' "$(tl-advise gpus.ndjson --no-header -c insight |
	grep -e ::mm -e HtoD)" 'aten::mm (GEMM, no roofline): 135.000 ms (75.0 % of the time) in 1 shape (4 calls)
60 HtoD copies take 120.000 ms'
is 'kernels of graph replays are one finding' "$(sed 's/"name":"aten::mm"/"name":"cudaGraphLaunch->gemm (Synthetic Op)"/' gpus.ndjson |
	tl-advise --no-header -c rule,insight | grep -e '^in_graphs' -e '^no_roof.*Graph')" \
	'in_graphs	135.000 ms of op time (75.0 %) is inside graph replays, whose ops are not recorded'

# the same from a trace: two products of 2 * 10^9 operations take 4 ms, half the
# speed of a roof of 1 TFLOP/s. The second one is on GPU GPU and START us after
# the first. Both in half the time gain half of the time in which any of them
# runs
product() { # product NO GPU START
	ev cpu_op aten::mm "$1" $((10 + $3)) 10 \
		'"Input Dims":[[1000,1000],[1000,1000]],"Input type":["float","float"],"Input Strides":[[1000,1],[1000,1]],"Concrete Inputs":["",""]'
	kernel gemm "$1" "$2" $(($3 + 12)) $(($3 + 20)) 4000
}
kernel() { # kernel NAME NO GPU LAUNCHED START DURATION: in a GPU stream of its own
	ev cuda_runtime cudaLaunchKernel "$2" "$4" 2 "\"correlation\":$(($2 + 1))"
	ev kernel "$1" $((70 + $2)) "$5" "$6" \
		"\"correlation\":$(($2 + 1)),\"device\":$3,\"stream\":$((70 + $2))"
}
products() { # products GPU START
	{
		product 0 0 0
		product 1 "$1" "$2"
	} | trace
}
gemm() { # gemm TRACE: what works at once, and the gain of its products
	{
		tl-advise --arch r.json "$1" --no-header --table advice_metrics -c work_at_once
		tl-advise --arch r.json "$1" --no-header \
			-c rule,gain_ns_low,gain_ns,gain_ns_high,confidence | grep ^gemm
	} 2>/dev/null | tr '\t\n' '  '
}
gain() { # gain GPU START AT_ONCE TOTAL_NS GAIN_NS
	products "$1" "$2" >products.json
	is "products on GPUs 0 and $1, $2 us apart: what the job gains" "$({
		tl-advise --arch r.json products.json --no-header --table advice_metrics -c work_at_once,total_ns
		tl-advise --arch r.json products.json --no-header -c rule,gain_ns_high,insight | grep ^gemm
	} 2>/dev/null | tr '\t\n' ' .')" \
		"$3 $4.gemm_compute_far $5 GEMM at 50.0 % of the compute roof (R achievable): 8.000 ms in 1 shape (2 calls), aten::mm."
}
if command -v tl-roofline >/dev/null; then
	echo '{"name":"R","mem_bw_gbps":9999,"max_achievable_mem_bw_gbps":9999,
		"peak_tflops":{"matrix_fp32":1},"max_achievable_tflops":{"matrix_fp32":1}}' >r.json
	gain 1 0 2.0 4000000 2000000
	like 'the report has each GPU' "$(tl-report products.json 2>/dev/null | tr -s '\n ' ' ')" \
		' 2 GPUs together, .*busy if any is .* 0 \[#*\] 4.000 ms 1 \[#*\] 4.000 ms '
	gain 1 4000 1.0 8000000 4000000
	gain 0 0 2.0 4000000 2000000
	gain 0 2400 1.25 6400000 3200000

	# a copy later, without a launch, is no kernel: nothing works beside it
	{
		product 0 0 0
		product 1 0 0
		ev gpu_memcpy 'Memcpy HtoD (Pinned -> Device)' 72 4100 4000 \
			'"device":0,"stream":72,"bytes":1000000'
	} | trace >copy.json
	is 'a copy without a launch' "$(gemm copy.json)" \
		'2.0 gemm_compute_far 1500000 1750000 2000000 high '

	# then KERNELS of MS each, at once: no table has which of them overlap,
	# so the first one may have run alone, for its 4 ms
	alone() { # alone KERNELS MS
		{
			product 0 0 0
			for no in $(seq "$1"); do
				kernel x "$no" 0 $((20 + 20 * no)) 4020 $((1000 * $2))
			done
		} | trace >alone.json
		gemm alone.json
	}
	# 36 ms of kernels in 8: others could cover all of it, with 28
	is 'an op that runs alone, before others that overlap' "$(alone 8 4)" \
		'4.5 gemm_compute_far 0 388889 2000000 medium '
	# 6 ms in 5: at least 3 of its 4 ms pass
	is 'which others could cover in part' "$(alone 2 1)" \
		'1.2 gemm_compute_far 1125000 1458333 2000000 medium '
fi

# a launch-bound trace: one graph instead of all host work, kernels win less
{
	timeline
	window 100 60 200000
	idle
	ops
} | sed 's/"gpu_ns":60000000/"gpu_ns":6000000/; s/"host_ns":15000000/"host_ns":69000000/' \
	>launch.ndjson
is 'launch-bound: a graph of it all' \
	"$(tl-advise launch.ndjson --no-header -c rule,gain_ns,claims 2>&1 | grep -c claims)" 1
is 'a graph wins all but what it leaves' \
	"$(tl-advise launch.ndjson --no-header -c rule,gain_ns | grep '^graph')" \
	'graph	49500000'
{
	cat launch.ndjson
	table graph_estimate what:text forbidden_by:json <<-END
		{"what":"step","forbidden_by":["aten::item"]}
		{"what":"run","forbidden_by":["aten::item","cudaEventSynchronize"]}
	END
} >forbidden.ndjson
graph_action() { tl-advise "$1" --no-header -c rule,action | sed -n 's/^graph	//p'; }
is 'and what forbids one' "$(graph_action launch.ndjson) $(graph_action forbidden.ndjson)" \
	'capture a graph capture a graph, after removing aten::item, cudaEventSynchronize'
is 'no host part beside it' \
	"$(tl-advise launch.ndjson --no-header -c rule | grep -c gap_host)" 0
is 'shorter kernels may win nothing' \
	"$(tl-advise launch.ndjson --no-header -c rule,gain_ns_low,confidence | grep gemm)" \
	'gemm_compute	0	low'

# a user's rules
rule() { # rule WHEN SAYS [MORE]
	printf '[{"rule":"mine","table":"idle","section":"system","when":{%s},"insight":"{call} in {time_ns}","action":"mend it"%s,"example":{"row":{"call":"a","time_ns":1500,"cause":"alloc"},"says":"%s"%s}}]\n' \
		"$1" "${3:-}" "$2" "${4:-}"
}
rule '"cause":"alloc"' 'a in 1.5 us' >mine.json
is 'a rule about a raw table' \
	"$(tl-advise --rules mine.json t.ndjson --no-header -c rule,insight | grep mine)" \
	'mine	hipFree in 6.000 ms'
rule '"cause":"alloc"' 'a in 1.5 us' ',"gain":"time_ns"' ',"gain_ns":"[1125, 1313, 1500]"' >mine.json
is 'with a gain' \
	"$(tl-advise --rules mine.json t.ndjson --no-header -c rule,gain_ns | grep mine)" \
	'mine	5250000'
rule '"cause":"sync"' 'a in 1.5 us' >bad.json
refuses 1 'its example does not fit' 'tl-advise --rules bad.json t.ndjson'
rule '' 'a in 2.5 us' >bad.json
refuses 1 'of its example it says: a in 1.5 us' 'tl-advise --rules bad.json t.ndjson'
rule '"time_ns":"> x"' '' >bad.json
refuses 1 "rule 'mine': no number: x" 'tl-advise --rules bad.json t.ndjson'
rule '' 'a in 1.5 us' ',"factors":[1,0.5,0]' >bad.json
refuses 1 'three numbers from 0 to 1, rising' 'tl-advise --rules bad.json t.ndjson'
rule '' 'a in 1.5 us' ',"colour":"red"' >bad.json
refuses 1 'no member is called so: colour' 'tl-advise --rules bad.json t.ndjson'
echo '{"rule":' >bad.json
refuses 1 'no JSON list of rules' 'tl-advise --rules bad.json t.ndjson'
is 'each rule is listed' "$(tl-advise --list-rules | grep -c '^gap_')" 6

# single ops: a convolution that spends 3 of 10 ms on layouts, attention over
# 5,000 queries at 11 % of the roof, and a usual one over 4,000
{
	timeline
	table unified_perf_summary name:text op_category:text \
		operation_count:int kernel_ns_sum:int roofline_bound:text \
		roof:text pct_roofline_mean:real first_uid:int \
		kernel_details_summary:json perf_params:json <<-END
		{"name":"aten::conv","op_category":"CONV_fwd","operation_count":4,"kernel_ns_sum":10000000,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":20,"first_uid":1,"kernel_details_summary":[{"name":"batched_transpose_32x32_half","total_duration_us":2000.5},{"name":"igemm","total_duration_us":7000},{"name":"nchw2nhwc","total_duration_us":999.5}],"perf_params":{"groups":1,"filter_shape":[64,64,3,3]}}
		{"name":"attn","op_category":"SDPA_fwd","operation_count":4,"kernel_ns_sum":6000000,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":11,"first_uid":2,"kernel_details_summary":[],"perf_params":{"N_Q":5000}}
		{"name":"attn2","op_category":"SDPA_fwd","operation_count":4,"kernel_ns_sum":6000000,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":45,"first_uid":3,"kernel_details_summary":[],"perf_params":{"N_Q":4000}}
		{"name":"small","op_category":"SDPA_fwd","operation_count":4,"kernel_ns_sum":4000000,"roofline_bound":"COMPUTE_BOUND","roof":"X achievable","pct_roofline_mean":11,"first_uid":4,"kernel_details_summary":[],"perf_params":{"N_Q":5000}}
	END
	table kernel_summary name:text count:int dur_ns_sum:int dur_ns_mean:real <<-END
		{"name":"kernel_paged_attention_2d","count":30,"dur_ns_sum":8000000,"dur_ns_mean":266666}
		{"name":"reshape_and_cache_kernel_flash","count":30,"dur_ns_sum":2000000,"dur_ns_mean":66666}
	END
} >single.ndjson
tl-advise single.ndjson --no-header -c rule,insight,gain_ns,uids |
	grep -e '^layout' -e '^attention_[0-9s]' -e '^convolution_' -e '^paged' >got
cat >expected <<'END'
layout_strong	convolutions spend 3.000 ms of 10.000 ms (30.0 %) only on layout changes, most in batched_transpose_32x32_half	2250000	[1]
attention_4096	attn over 5,000 queries reaches 11.0 % of the roof (X achievable): 50 to 70 % is usual		[2]
convolution_spatial	aten::conv with a spatial filter [64,64,3,3] reaches 20.0 % of the roof (X achievable): over 70 % is usual		[1]
paged_cache	writing the KV cache takes 2.000 ms, 20.0 % of paged attention		
END
same 'layouts, filters, sequence lengths, the cache' got expected
sed 's/2000.5/200.5/; s/999.5/99.5/; s/"dur_ns_sum":2000000/"dur_ns_sum":800000/; s/"pct_roofline_mean":[12][01]/"pct_roofline_mean":72/' single.ndjson >usual.ndjson
is 'as usual: nothing' "$(tl-advise usual.ndjson --no-header -c rule |
	grep -c -e '^layout' -e '^attention_[0-9s]' -e '^convolution_' -e '^paged')" 0

# ops above the roof: the reason for the longest is no reason for others
{
	timeline
	table unified_perf_summary name:text op_category:text operation_count:int \
		kernel_ns_sum:int roof:text pct_roofline_mean:real above_roof:text \
		first_uid:int <<-END
		{"name":"conv","op_category":"other","operation_count":3,"kernel_ns_sum":10000000,"roof":"X peak","pct_roofline_mean":148,"above_roof":"Winograd: fewer operations than counted","first_uid":1}
		{"name":"attn","op_category":"other","operation_count":3,"kernel_ns_sum":9000000,"roof":"X peak","pct_roofline_mean":900,"above_roof":"unexplained","first_uid":2}
		{"name":"mm","op_category":"other","operation_count":3,"kernel_ns_sum":8000000,"roof":"X peak","pct_roofline_mean":700,"above_roof":"unexplained","first_uid":3}
	END
} >above.ndjson
cat >expected <<'END'
above_roof_explained	conv at 148.0 % of X peak exceeds the roofline (Winograd: fewer operations than counted): 10.000 ms in 1 shape (3 calls) have no roofline figure	[1]
above_roof	attn at 900.0 % of X peak exceeds the roofline: 17.000 ms in 2 shapes (6 calls) have no roofline figure	[2,3]
END
tl-advise above.ndjson --no-header -c rule,insight,uids | grep '^above' >got
same 'above the roof: what is explained, and what is not' got expected

# a text with a missing column is no sentence: the next rule is tried
sed 's/"roofline_bound":"COMPUTE_BOUND"/"roofline_bound":null/g' t.ndjson >boundless.ndjson
is 'a roofline without a bound' \
	"$(tl-advise boundless.ndjson --no-header -c rule,insight | grep GEMM)" \
	'compute_bound	GEMM of Tensile at 64.0 % of the roof (X achievable): 25.000 ms in 2 shapes (6 calls), most in aten::mm'
printf '[{"rule":"%s","table":"idle","section":"system","when":{"cause":"alloc"},"insight":"%s","action":"x","example":{"row":{"cause":"alloc","no":1,"call":"a"},"says":"%s"}}]' \
	first '{call} {no}' 'a 1' >first.json
printf '[{"rule":"%s","table":"idle","section":"system","when":{"cause":"alloc"},"insight":"%s","action":"x","example":{"row":{"cause":"alloc","no":1,"call":"a"},"says":"%s"}}]' \
	second '{call}' a >second.json
is 'a rule whose text lacks a column does not fit' \
	"$(tl-advise --rules first.json --rules second.json t.ndjson --no-header -c rule,insight | grep -e first -e second)" \
	'second	hipFree'
sed -i 's/"no":1/"n":1/' first.json
refuses 1 'its example lacks a column of its texts' 'tl-advise --rules first.json t.ndjson'

# chains: of an optimizer, and one that saves less than 2 %
{
	cat t.ndjson
	table fusion_chains chain:text input_dims:json ops:int count:int \
		kernels:int kernel_ns_sum:int saved_ns_sum:real first_uid:int <<-END
		{"chain":"aten::_foreach_mul_ > aten::_foreach_add_","input_dims":[[8,8]],"ops":2,"count":3,"kernels":6,"kernel_ns_sum":9000000,"saved_ns_sum":4000000.0,"first_uid":7}
		{"chain":"aten::mul > aten::add","input_dims":[[8,8]],"ops":2,"count":3,"kernels":6,"kernel_ns_sum":9000000,"saved_ns_sum":1900000.0,"first_uid":8}
	END
} >chains.ndjson
is 'a chain that one kernel could do' \
	"$(tl-advise chains.ndjson --no-header -c rule,insight,gain_ns_low,gain_ns,gain_ns_high,uids | grep '^fus')" \
	'fused_optimizer	aten::_foreach_mul_ > aten::_foreach_add_ on [[8,8]]: 9.000 ms in 6 kernels of 3 occurrences	3000000	3500000	4000000	[7]'
is 'is no part of the sum' "$(tl-advise chains.ndjson --table advice_metrics -c gain_ns --no-header)" 25875000

# against another trace: 3 of 100 ms less in fewer calls, 2 in as many, 1 more,
# noise, and 0.4
{
	cat t.ndjson
	table diff_ops_summary name:text input_dims:text count_before:int \
		count_after:int before_ns:int after_ns:int diff_ns:int is_noise:bool <<-END
		{"name":"aten::mm","input_dims":"[[8,8]]","count_before":5,"count_after":2,"before_ns":5000000,"after_ns":2000000,"diff_ns":-3000000,"is_noise":false}
		{"name":"aten::add","input_dims":"","count_before":4,"count_after":4,"before_ns":3000000,"after_ns":1000000,"diff_ns":-2000000,"is_noise":null}
		{"name":"aten::mul","input_dims":"","count_before":4,"count_after":4,"before_ns":1000000,"after_ns":2000000,"diff_ns":1000000,"is_noise":false}
		{"name":"aten::odd","input_dims":"","count_before":4,"count_after":4,"before_ns":9000000,"after_ns":1000000,"diff_ns":-8000000,"is_noise":true}
		{"name":"aten::sub","input_dims":"","count_before":4,"count_after":4,"before_ns":900000,"after_ns":500000,"diff_ns":-400000,"is_noise":false}
	END
} >vs.ndjson
tl-advise vs.ndjson --no-header -c rule,insight,gain_ns_low,gain_ns_high,confidence | grep 'other trace' >got
cat >expected <<'END'
fewer_calls	aten::mm [[8,8]] takes 3.000 ms less in the other trace: 5.000 ms in 5 calls here, 2.000 ms in 2 there	2250000	3000000	high
faster_there	aten::add takes 2.000 ms less in the other trace: 3.000 ms here, 1.000 ms there, 4 calls each	1500000	2000000	medium
slower_there	aten::mul takes 1.000 ms more in the other trace: 1.000 ms in 4 calls here, 2.000 ms in 4 there			high
END
same 'what takes less in another trace, and what more' got expected
is 'a comparison adds nothing to the sum' "$(tl-advise vs.ndjson --table advice_metrics -c gain_ns --no-header)" 25875000
like 'its section' "$(tl-advise --markdown vs.ndjson)" '## Comparison'

# contradictory tables: more idle time in a call than there is time
sed 's/"time_ns":6000000,/"time_ns":600000000,/' t.ndjson >more.ndjson
refuses 1 'more.ndjson: gap_call would save 602.0* ms of 100.0* ms: its tables or the rules' \
	'tl-advise more.ndjson'
# 3/4 of 98 and 2 ms, 7/8 of 0.4 x 30 + 1 and of 8 of ops, 5 of communication
sed 's/"time_ns":6000000,/"time_ns":98000000,/; s/"kernel_ns_sum":20000000,/"kernel_ns_sum":30000000,/' \
	t.ndjson >more.ndjson
refuses 1 'all findings together would save 98.375 ms of 100.0* ms' 'tl-advise more.ndjson'

# inputs
mkdir folder
tl-report --format ndjson -d folder "$SAMPLE" 2>err
tl-report --format ndjson "$SAMPLE" 2>err >stream.ndjson
tl-advise stream.ndjson >a
tl-advise folder >b
ok 'a folder and a stream of tables: the same' cmp a b
if command -v tl-compare >/dev/null && command -v tl-ops >/dev/null; then # libcsv
	tl-report -d labelled "$SAMPLE" 2>err
	tl-advise labelled >b
	ok 'and a folder of CSV' cmp a b
	mkdir alone && cp labelled/ops_summary.csv alone
	refuses 5 'no GPU events' 'tl-advise alone'
	mkdir both && cp labelled/* folder/gpu_timeline.ndjson both
	refuses 1 'both: gpu_timeline.ndjson and [A-Za-z_]*.csv are of two reports' 'tl-advise both'
	mkdir true && sed '/aten::mm/s/aten::mm/True/' labelled/unified_perf_summary.csv >true/unified_perf_summary.csv
	cp labelled/gpu_timeline.csv true
	like 'an op called True is no bool' "$(tl-advise --no-header --table advice_ops -c name true)" '^True$'
	printf 'severity,check,uid,finding,advice\nmisleading,a.b,892,it is,mend it\n' >true/health.csv
	is 'an event id is a number in CSV, too' "$(tl-advise --no-header -c rule,uids true | grep ^misleading)" 'misleading	[892]'
	mkdir total && cp labelled/gpu_timeline.csv total
	printf 'name,Count,Total Kernel Time (ms)\npaged_attention_k,2,0.75\nreshape_and_cache_k,2,0.25\n' >total/kernel_summary.csv
	like "kernels of rocprofv3's CSV have their time" "$(tl-advise --no-header -c insight total)" \
		'^writing the KV cache takes 250.0 us, 25.0 % of paged attention$'
fi
tl-advise - <stream.ndjson >b
ok 'and from standard input' cmp a b
tl-advise "$SAMPLE" >a 2>err
tl-decode "$SAMPLE" | tl-advise >b 2>err
ok 'a trace and a stream of it: the same' cmp a b
tl-advise --text "$SAMPLE" >a 2>err
tl-advise --text "$SAMPLE" >b 2>err
ok 'the same bytes' cmp a b
like 'sentences' "$(cat a)" '^ [12]\. 2\.322 ms .*, confidence medium$'
refuses 2 'tables, or traces, not both' "tl-advise t.ndjson $SAMPLE"
for format in csv tsv; do
	tl-advise t.ndjson --format $format >rows.$format 2>err
	refuses 1 "rows.$format: a CSV or TSV table is read with its folder" "tl-advise rows.$format"
done
refuses 1 'stdin: a CSV or TSV table is read with its folder' 'tl-advise <rows.tsv'
echo '{"a":1' >not.json; tl-advise not.json 2>err
is 'nor is a bad trace a table' "$(grep -c NDJSON err)" 0
refuses 2 "no table 'x'; see --list-tables" 'tl-advise --table x t.ndjson'
refuses 2 "no table 'metrics': is it advice_metrics" 'tl-advise --table metrics t.ndjson'
refuses 2 'write a report, no table' 'tl-advise --text --format csv t.ndjson'
refuses 5 '^tl-advise: stdin: no GPU events' 'tl-advise <<-END
{"table":"idle","columns":[]}
{"end":{"rows":0}}
END'
refuses 1 'cut off|no end' 'head -n 3 t.ndjson | tl-advise -'
refuses 1 'not-there' 'tl-advise not-there.json'
# rocprofv3's CSV is a trace, not a table
mkdir rocprof
cat >rocprof/x_kernel_trace.csv <<'END'
"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH",1,1,1,"k",1,1000,2000
"KERNEL_DISPATCH",1,1,1,"k",2,9000,11000
END
for of in rocprof rocprof/x_kernel_trace.csv; do
	is "rocprofv3: $of" "$(tl-advise $of --no-header -c rule,insight 2>/dev/null | grep -e ^idle -e ^not)" \
		'not_recorded	7.0 us of the window (70.0 %) is work that was not recorded: no gain is claimed from it'
done

# Markdown: marks for programs, and names that are no marks
sed 's/aten::mm/<!-- a | **b**/g' t.ndjson >hostile.ndjson
tl-advise --markdown hostile.ndjson >r.md
like 'the mark of a gain' "$(cat r.md)" \
	'<!-- impact-begin kind=p_item category=gemm low=6.75 mid=7.88 high=9.00 -->'
is 'as many ends' "$(grep -c 'impact-begin' r.md)" "$(grep -c 'impact-end' r.md)"
is 'a hostile name is none' "$(grep -c '<!-- a' r.md)" 0
sed 's/aten::mm/a\\n## b\\u001b[31m/g' t.ndjson >lines.ndjson
is 'nor a heading, nor what a terminal obeys' \
	"$(tl-advise --markdown lines.ndjson | LC_ALL=C grep -c -e '^## b' -e "$(printf '\033')")" 0
refuses 2 "'-' is the only operand" "tl-advise - $SAMPLE <$SAMPLE"
refuses 2 'write a report, no table' 'tl-advise --text --top 1 t.ndjson'
sed 's/"busy_time","time_ns":70000000/"busy_time","time_ns":700000000/' t.ndjson >absurd.ndjson
refuses 1 'are not within its total' 'tl-advise absurd.ndjson'
like 'sections' "$(grep '^## ' r.md | tr '\n' ' ')" \
	'## Compute Kernel Optimizations .*## System-Level Optimizations '
tl-advise -d out t.ndjson
is 'all tables into a folder' "$(cd out && echo *)" \
	'advice.csv advice_categories.csv advice_metrics.csv advice_ops.csv'

! command -v tl-ops >/dev/null || page_examples tl-advise.1
done_testing
