#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report: verdicts, warnings and its own tables by hand-made tables, which
# programs in the place of tl-timeline and the others give it.
. tests/cli/lib.sh

. "$ROOT"/tests/cli/report-fakes.sh
seq 0 63 | while read -r r; do
	with_members "\"distributedInfo\":{\"rank\":$r,\"world_size\":64}" >"r$r.json"
done
tl-merge r?.json r??.json -o r64.tl 2>err
verdict() {
	report --width 999 | sed -n 1p
}
unified() { # unified BOUND GFLOP MIB ROOF_NS KERNEL_NS
	schema u name:text input_dims:json op_category:text gflop:real moved_mib:real \
		compute_spec:text roofline_bound:text kernel_ns_sum:int roof:text \
		roof_tflop_s:real roof_tb_s:real roofline_ns:real lost_ns:real \
		flop_per_byte:real \
		above_roof:text kernel_details_summary:json >d/unified_perf_summary.ndjson
	printf '{"flop_per_byte":4,"name":"aten::mm","input_dims":[[2,3],[3,2]],"op_category":"GEMM","gflop":%s,"moved_mib":%s,"compute_spec":"matrix_bf16","roofline_bound":"%s","kernel_ns_sum":%s,"roof":"X peak","roof_tflop_s":200,"roof_tb_s":2.5,"roofline_ns":%s,"lost_ns":%s,"above_roof":"%s","kernel_details_summary":[{"name":"x","lost_ns":7}]}\n{"end":{}}\n' \
		"$2" "$3" "$1" "$5" "$4" $(($5 - $4)) "${ABOVE-unexplained}" >>d/unified_perf_summary.ndjson
}

timeline 900 0 0 100
is 'without causes only shares' "$(verdict)" '1.0 us: 90.0 % compute, 10.0 % idle.'

MEMBERS=
timeline 9000 0 0 1000
idle host op aten::mm 1000 1000 0
is 'computation' "$(verdict)" 'GPU-bound: GPU work is 90.0 % of 10.0 us.'
# 9 us at 40 % of the peak: 5.4 us at most, half of it in the middle
unified COMPUTE_BOUND 0.1 1.0 3600 9000
sed -e '1s/"u","columns":\[/"unified_perf_summary","columns":[{"id":"pct_roofline_mean","type":"real"},/' -e '2s/{/&"pct_roofline_mean":40,/' \
	d/unified_perf_summary.ndjson >u && mv u d/unified_perf_summary.ndjson
is 'what its kernels could win' "$(report --width 999 | sed -n '/^recov/,/^$/p')" \
	'recoverable
  1. 2.7 us (1.4 us to 5.4 us): GEMM at 40.0 % of the compute roof (X peak): 9.0 us in 1 shape, aten::mm; compare with a measured roof first (--roof achievable, or --arch FILE where the GPU has no achievable figures)
  2. 500 ns (250 ns to 1.0 us): aten::mm (op, 2,000 calls, longest wait 1.0 us, uid 77); capture a graph, compile, or use a larger batch'
timeline 5000 3000 100 1900
idle host op aten::mm 1900 1900 0
is 'communication' "$(verdict)" \
	"Partly communication-bound: exposed communication is 30.0 % of 10.0 us; GPU work is 50.0 %. One rank: can't tell skew from bandwidth."
timeline 4000 2500 0 3500
idle host op aten::mm 2000 2000 0 data data next 1500 1500 0
is 'no class is half as large again as the next' "$(verdict)" \
	'Mixed: GPU work 40.0 %, exposed communication 25.0 %, host work 20.0 % of 10.0 us. One rank: can'\''t tell skew from bandwidth.'
timeline 1000 0 5000 4000
idle host op aten::mm 3000 3000 0 gpu graph_gap k 1000 1000 0
is 'copies; gaps of the GPU itself are its own' "$(verdict)" \
	'Copy-bound: exposed copies are 50.0 % of 10.0 us.'
timeline 1000 0 0 9000
idle allocation alloc hipFree 8900 3000 0 host op aten::mm 100 100 0
is 'one call' "$(verdict)" \
	'Allocation-bound: allocation is 89.0 % of 10.0 us: hipFree (8.9 us: 2,000 calls, longest wait 3.0 us, uid 77).'
idle allocation alloc hipFree 4000 4000 0 allocation alloc hipMalloc 4900 3000 0 \
	host op aten::mm 100 100 0
is 'several' "$(verdict)" \
	'Allocation-bound: allocation is 89.0 % of 10.0 us, the largest part in hipMalloc (4.9 us: 2,000 calls, longest wait 3.0 us, uid 77).'
is 'what could be won back' "$(report --width 99 | sed -n '/^recov/,/^$/p')" \
	'recoverable
  1. 3.7 us (2.5 us to 4.9 us): hipMalloc (alloc, 2,000 calls, longest wait 3.0 us, uid 77); let
     the caching allocator keep memory
  2. 3.0 us (2.0 us to 4.0 us): hipFree (alloc, 2,000 calls, longest wait 4.0 us, uid 77); let the
     caching allocator keep memory
  3. 50 ns (25 ns to 100 ns): aten::mm (op, 2,000 calls, longest wait 100 ns, uid 77); capture a
     graph, compile, or use a larger batch'
book
is 'and in the table' "$(grep -c '"recoverable","name":"hip.*"time_ns":3[06][07][05],"percent":3[06].*"uids":\[77\]' xl/summary.ndjson)" 2
BEHIND=1100
idle allocation alloc hipFree 4000 4000 0 host op aten::mm 1100 1100 0
like 'with the host work that waited for it' "$(report --width 999)" \
	'1\. 3\.8 us \(2\.5 us to 5\.1 us\): hipFree \(alloc, .*, uid 77\) and the host work after it \(1\.1 us\); let the caching'
MEMBERS='"launched":20,"starved":20,"launch_interval_ns":50,"launch_work_ns":5'
BEHIND=1
idle sync sync cudaStreamSynchronize 200 200 0 host op aten::mm 8800 8800 0
like 'not where the host would be late without it, too' "$(report --width 999)" \
	'\(100 ns to 200 ns\): cudaStreamSynchronize \(sync, [^()]*\); avoid'
MEMBERS='' BEHIND=0
idle start_up init cudaFree 6000 6000 4000 start_up module_load cuModuleLoad 2900 2900 0 \
	host op aten::mm 100 100 0
is 'by lengths alone' "$(verdict)" \
	'Recorded during start-up: start-up is 89.0 % of 10.0 us: cudaFree (6.0 us: 2,000 calls, longest wait 6.0 us, uid 77).'
idle start_up init cudaFree 8900 8900 4500 host op aten::mm 100 100 0
like 'most of it: likely' "$(verdict)" '^Likely recorded during start-up: '
idle host op aten::mm 4000 4000 0 host launch_call launch 3000 3000 0 host python f 2000 2000 0
is 'layers of the host, two thirds of them' "$(verdict)" \
	'Host-bound: host work is 90.0 % of 10.0 us (most: op 4.0 us, launch call 3.0 us).'
MEMBERS='"steps":2,"has_python":true,"gap_ns":4500,"cause":"op","call":"aten::mm","call_uid":5,"prev_uid":3,"next_uid":9'
idle host op aten::mm 9000 9000 0
is 'in one gap' "$(verdict)" \
	'Host-bound: host work is 90.0 % of 10.0 us in 2 steps (op 9.0 us). One gap takes 4.5 us, before GPU event 9 (op, uid 5); the GPU is busy for 18.2 % of the rest. Recording Python frames inflates host times.'
idle host between_ops ProfilerStep#1 9000 9000 0
like 'time between ops, where frames are recorded' "$(report --width 200)" \
	'to 9\.0 us\): ProfilerStep#1 .*; sample the host: no event is recorded there'
timeline 300 200 500 9000
MEMBERS='"gap_ns":5000,"cause":"op","prev_uid":3'
idle host op aten::mm 8900 8900 0 communication queue_gap k 100 100 0
like 'busy with communication and copies, too' "$(verdict)" 'is busy for 20\.0 % of the rest\.'
timeline 1000 0 0 9000
MEMBERS=
idle host between_ops ProfilerStep#1 9000 9000 0
like 'and where they are not' "$(report --width 200)" '; record Python frames to see'
launched='"launched":20,"launch_interval_ns":500,"launch_work_ns":50'
MEMBERS="$launched,\"starved\":10,\"gap_ns\":2249,\"graph_ns\":1000"
idle host op aten::mm 9000 9000 0
is 'launches' "$(verdict)" \
	'Launch-bound: host work is 90.0 % of 10.0 us (op 9.0 us). 10 of 20 GPU events were launched to an idle GPU: 50 ns of work per launch and a launch every 500 ns (medians).'
like 'a graph leaves some of it' "$(report --width 99)" \
	'1\. 6\.0 us \(4\.0 us to 8\.0 us\): host work between launches \(1.0 us would remain in a graph\);'
for other in '"starved":9' '"launched":19,"starved":19' '"launch_work_ns":500,"starved":20' \
	'"starved":10,"gap_ns":2251'; do
	MEMBERS="$launched,$other"
	idle host op aten::mm 9000 9000 0
	like "host, not launches: $other" "$(verdict)" '^Host-bound'
done
MEMBERS='"opened_ns":4501,"opened_by":"cudaStreamSynchronize","opened_uid":8'
idle host op aten::mm 9000 9000 0
is 'blocking calls took the lead' "$(verdict)" \
	'Sync-bound: gaps after blocking calls are 45.0 % of 10.0 us (the longest after cudaStreamSynchronize, uid 8).'
like 'its gain' "$(report --width 999)" \
	'1\. 3\.4 us \(2\.3 us to 4\.5 us\): gaps after blocking calls .*; avoid .item\(\) and synchronize\(\) in the loop'
MEMBERS=
idle host launch_call cudaGraphLaunch 9000 9000 0
like 'a graph launch is not told to use graphs' "$(report --width 999)" \
	'cudaGraphLaunch .*; launch the'
MEMBERS='"opened_ns":4499'
idle host op aten::mm 9000 9000 0
like 'half of it, not less' "$(verdict)" '^Host-bound'
MEMBERS='"head_ns":7000,"head_cause":"gpu_missing"'
idle host op aten::mm 8000 8000 0 host profiler Flush 1000 1000 0
is 'what was left out, and what recording costs' "$(verdict)" \
	'Host-bound: host work is 90.0 % of 10.0 us (most: op 8.0 us). Not counted: 7.0 us before the first GPU event (gpu missing). Figures include 1.0 us of profiler overhead.'
MEMBERS='"head_ns":7000,"head_cause":"none"'
idle host op aten::mm 8000 8000 0
like 'nothing recorded in front' "$(verdict)" 'Not counted: 7\.0 us before the first GPU event [(]no host event[)]\.'
MEMBERS=
idle missing gpu_missing hipMemcpyWithStream 6000 6000 0 host op aten::mm 3000 3000 0
is 'what was not recorded can not be judged' "$(verdict)" \
	"Can't tell: 60.0 % of 10.0 us is not in the recording: gpu missing, the largest part in hipMemcpyWithStream (6.0 us: 2,000 calls, longest wait 6.0 us, uid 77); record all GPU work. The rest is host-bound: host work is 75.0 % of 4.0 us (op 3.0 us)."
MEMBERS='"blocked_in":"hipStreamSynchronize","blocked_uid":"92","waits_by":"hipStreamWaitEvent","waits_uid":"85"'
idle missing gpu_missing hipLaunchKernel 6000 6000 0 host op aten::mm 3000 3000 0
sed 's/"calls":2000/"calls":1/' d/idle.ndjson >x && mv x d/idle.ndjson
is 'what waits for it' "$(verdict)" \
	"Can't tell: for 6.0 us of 10.0 us (60.0 %) no GPU work is recorded although the host waits for some (hipStreamSynchronize, uid 92). The next kernel (hipLaunchKernel, uid 77) waits for an event of another GPU stream (hipStreamWaitEvent, uid 85) whose work is missing. Record all GPU work. The rest is host-bound: host work is 75.0 % of 4.0 us (op 3.0 us)."
idle missing gpu_missing hipLaunchKernel 6000 6000 0 host op aten::mm 3000 3000 0
like 'of several gaps' "$(verdict)" 'uid 77\) behind hipStreamWaitEvent, uid 85, while the host waits in hipStreamSynchronize, uid 92; record all'
MEMBERS=
timeline 6000 0 0 4000
idle missing late_start '' 3800 3800 0 host op aten::mm 200 200 0
is 'some of it' "$(verdict)" \
	'Recording incomplete: 38.0 % of 10.0 us is not in the recording: late start; record more. The rest is GPU-bound: GPU work is 96.8 % of 6.2 us.'
idle missing none '' 2840 2840 0 missing queued_before '' 160 160 0 host op aten::mm 1000 1000 0
like 'several causes' "$(verdict)" ' in the recording: no host event 2\.8 us, queued before 160 ns; record '
idle missing none '' 2850 2850 0 missing queued_before '' 150 150 0 host op aten::mm 1000 1000 0
like 'one that is nearly all' "$(verdict)" ' in the recording: no host event; record '
idle missing no_host '' 4000 4000 0
is 'nor without the host' "$(verdict)" \
	"10.0 us: 60.0 % compute, 40.0 % idle; can't tell why: no ops, calls or Python frames in the recording."
idle data data enumerate 3000 3000 0 host op aten::mm 1000 1000 0
is 'partly' "$(verdict)" \
	'Partly data-bound: data loading is 30.0 % of 10.0 us: enumerate (3.0 us: 2,000 calls, longest wait 3.0 us, uid 77); GPU work is 60.0 %.'
is 'causes on the screen' "$(report --width 80 | sed -n '/^idle by/,/^$/p')" \
	'idle by cause                         time    share   pieces  most in
  data                              3.0 us   75.0 %        1  enumerate
  op                                1.0 us   25.0 %        1  aten::mm'
idle host none '' 3000 3000 0
is 'a gap without a host event is named as in the verdict' \
	"$(report --width 80 | sed -n '/^idle by/,/^$/s/  *3.0 us.*//p')" '  no host event'
idle data data enumerate 3000 3000 0 host op aten::mm 1000 1000 0
book
is 'and in the table' "$(grep '"idle","name":"data' xl/summary.ndjson)" \
	'{"part":"idle","name":"data","note":"enumerate","time_ns":3000,"percent":75.0,"count":1,"uids":null}'
timeline 1 0 4 995
is 'few copies, but more than computation' "$(verdict)" \
	'1.0 us: 0.1 % compute, 0.4 % exposed copies, 99.5 % idle.'
timeline 4 1 0 995
like 'little beside more is not told' "$(verdict)" ': 0.4 % compute, 99.5 % idle\.$'
# unlinked NS: the warning, of the last timeline with so much without a launch
unlinked() { # unlinked NS [OPTION...]
	sed -i "\$i {\"type\":\"unlinked_time\",\"time_ns\":$1,\"percent\":1}" d/gpu_timeline.ndjson
	shift
	report --width 999 "$@" | sed -n 's/^  - \(.* launch\).*/\1/p'
}
timeline 6 0 0 994
is 'without a launch: most of the little work' "$(unlinked 5)" \
	"83.3 % of GPU time has no launch"
timeline 600 0 0 400
is 'without a launch: of the time' "$(unlinked 500)" '50.0 % of the time is GPU work without a launch'
timeline 600 0 0 400
MEMBERS='"missing_ns":50'
idle host op x 350 350 0
MEMBERS=
is 'without a launch: of a time that the bar is not of' "$(unlinked 500)" \
	'50.0 % of the time from first to last event is GPU work without a launch'
timeline 600 0 0 400
MEMBERS='"missing_ns":50'
idle host op x 350 350 0
MEMBERS=
is 'without a launch: of steps that the GPU outlasts' "$(unlinked 500 --step 1)" \
	"50.0 % of the steps' wall time is GPU work without a launch"
timeline 600 0 0 400
is 'only with a launch: shares, and why no more' "$(report --linked-only --width 999 | sed -n 1p)" \
	'1.0 us: 60.0 % compute, 40.0 % idle. No verdict with --linked-only: verdicts are about all GPU work.'
refuses 2 "'--critical-path' is about all GPU work" 'tl-report --linked-only --critical-path t.tl'
timeline 600 0 0 400
is 'without a launch: little of the work' "$(unlinked 5)" ''
timeline 1000 0 0 0
idle host op x 0 0 0
is 'never idle' "$(verdict)" 'GPU-bound: GPU work is 100.0 % of 1.0 us.'
timeline 0 600 0 400
like 'nothing computed' "$(verdict)" '^1.0 us: 0.0 % compute, 60.0 % exposed'
timeline 999999 0 0 1
like 'a little is not nothing' "$(verdict)" 'over 99.9 % compute, under 0.1 % idle'
timeline 20 0 0 0
like 'less than a microsecond' "$(verdict)" '^20 ns: 100'

# ---- what the computation is ----

# tables CATEGORY NS NAME NS CATEGORY NS NAME NS: of ops, into d/
tables() {
	{
		schema c op_category:text direct_ns_sum:int
		printf '{"op_category":"%s","direct_ns_sum":%s}\n' "$1" "$2" "$5" "$6"
		echo '{"end":{"rows":2}}'
	} >d/ops_summary_by_category.ndjson
	{
		schema o name:text direct_ns_sum:int count:int categories:json
		printf '{"name":"%s","direct_ns_sum":%s,"count":1,"categories":["x"]}\n' \
			"$3" "$4" "$7" "$8"
		echo '{"end":{"rows":2}}'
	} >d/ops_summary.ndjson
}
timeline 900 0 0 100
tables GEMM 600 mm 600 other 300 add 300
like 'what took most' "$(verdict)" ' GEMM is 66\.7 % of op time\.$'
tables GEMM 400 mm 400 CONV_fwd 401 conv 401
sed '/"end"/i {"op_category":"rest","direct_ns_sum":200}' \
	d/ops_summary_by_category.ndjson >x && mv x d/ops_summary_by_category.ndjson
like 'of three' "$(verdict)" ' CONV_fwd is 40\.1 % of op time\.$'
tables other 500 my::op 500 GEMM 400 mm 400
like 'other says nothing: the op does' "$(verdict)" ' my::op is 55\.6 % of op time'
tables GEMM 900 mm 900 GEMM 0 mm 0
like 'all of it' "$(verdict)" ' GEMM is 100\.0 % of op time'
tables elementwise 300 copy_ 300 GEMM 100 mm 100
like 'too little is known' "$(verdict)" 'idle\.$'
timeline 100 0 300 600
sed '/"end"/i {"type":"total_memcpy_time","time_ns":300,"percent":1}' \
	d/gpu_timeline.ndjson >x && mv x d/gpu_timeline.ndjson
tables elementwise 300 copy_ 300 GEMM 100 mm 100
like 'copies are no computation' "$(verdict)" 'idle\.$'

# ---- the roofline ----

timeline 900 0 0 100
tables GEMM 900 mm 900 other 0 add 0
unified COMPUTE_BOUND 0.1 1.0 450 900
like 'how near the roof' "$(verdict)" \
	'GEMM is 100.0 % of op time and runs at 50.0 % of the compute roof \(X peak\)\.$'
unified MEMORY_BOUND 0.1 1.0 450 900
like 'memory' "$(verdict)" 'and runs at 50.0 % of the memory roof'
sed 's/"GEMM","gflop"/"CONV","gflop"/' d/unified_perf_summary.ndjson >u && mv u d/unified_perf_summary.ndjson
like 'of another category nothing' "$(verdict)" 'GEMM is 100.0 % of op time\.$'
# without a roofline: has_perf_model NAME REASON
unmodelled() {
	schema u name:text gflop:real kernel_ns_sum:int roof:text lost_ns:real \
		roofline_bound:text has_perf_model:bool model_reason:text \
		>d/unified_perf_summary.ndjson
	printf '{"name":"%s","gflop":null,"kernel_ns_sum":900,"roof":null,"lost_ns":null,"roofline_bound":null,"has_perf_model":%s,"model_reason":"%s"}\n{"end":{}}\n' \
		"$2" "$1" "$3" >>d/unified_perf_summary.ndjson
}
warnings() { report --width 999 | sed -n 's/^  - //p'; }
unmodelled false 'my::op->k (Synthetic Op)' 'no model'
like 'an op without a model has a name' "$(warnings)" \
	'^no performance model for 100.0 % of op time: my::op$'
unmodelled true aten::mm 'gemm.lua:62: no argument 1'
like 'what a model lacks, not where in it' "$(warnings)" \
	'^100.0 % of op time lacks what its performance model needs: aten::mm \(no argument 1\)$'
sed 's/"name":"mm","direct_ns_sum":900/"name":"aten::mm","direct_ns_sum":800/' d/ops_summary.ndjson >x &&
	mv x d/ops_summary.ndjson
like 'the list of ops has less for it' "$(warnings)" ' needs: aten::mm \(with its children, no argument 1\)$'
sed '2{p; s/aten::mm/relu/; s/900/100/}' d/unified_perf_summary.ndjson >x &&
	mv x d/unified_perf_summary.ndjson
like 'one of several' "$(warnings)" \
	' needs: aten::mm \(90.0 % with its children, no argument 1\), relu \(10.0 %, no argument 1\)$'
tables GEMM 900 mm 900 other 0 add 0
unmodelled true aten::mm 'gemm.lua:62: no argument 1'
schema a name:text input_dims:json direct_ns_sum:int >d/ops_unique_args.ndjson
echo '{"name":"aten::mm","input_dims":null,"direct_ns_sum":900}
{"end":{}}' >>d/ops_unique_args.ndjson
is 'without shapes that is why' "$(warnings | grep roofline)" \
	'100.0 % of op time has no recorded shapes, and so no roofline: set record_shapes, see tl-record(7)'
unmodelled false 'cudaLaunchKernel->k (Synthetic Op)' 'no model'
like 'a call is no op' "$(warnings)" '^100.0 % of launched GPU time is kernels launched outside any op'
unmodelled false 'hipGraphLaunch->k (Synthetic Op)' 'no model'
is 'nor is a graph' "$(warnings | grep -c 'no model\|outside')" 0
unified COMPUTE_BOUND 0.1 1.0 1800 900
like 'more than the roofline' "$(warnings)" \
	'^100.0 % of op time with a model exceeds the roofline \(TF32.*: aten::mm at 200 %$'
ABOVE='50 MiB of cache' unified COMPUTE_BOUND 0.1 1.0 1800 900
is 'unless it came from a cache' "$(warnings | grep -c roofline)" 0
unified COMPUTE_BOUND 0.1 1.0 1800 900
like 'is no share of it' "$(verdict)" 'op time\.$'
sed '2{p;s/"lost_ns":-900/"lost_ns":300/;s/aten::mm/add/;}' \
	d/unified_perf_summary.ndjson >x && mv x d/unified_perf_summary.ndjson
like 'and hides no loss of others' "$(report)" '^  add \[\[2,3\],\[3,2\]\]  *300 ns'
unified MEMORY_BOUND 0.1 1.0 450 900
rm d/ops_unique_args.ndjson d/ops_summary_by_category.ndjson

schema ops_summary name:text direct_ns_sum:int count:int categories:json \
	>d/ops_summary.ndjson
cat >>d/ops_summary.ndjson <<'END'
{"name":"a\"b\\\u001b[31m","direct_ns_sum":600,"count":2,"categories":["GEMM","A,B [c]"]}
{"name":"hipGraphLaunch","direct_ns_sum":300,"count":1,"categories":["other"]}
{"end":{"rows":2}}
END
report --width 80 >screen
book
mv xl/summary.ndjson t.ndjson
like 'names stay escaped' "$(cat screen)" \
	'^  a"b\\\\x1b\[31m  *600 ns   66\.7 %        2  GEMM, A,B \[c\]$'
is 'no control characters' "$(tr -d '\n' <screen | tr -cd '\000-\037')" ''
like 'graph launches' "$(cat screen)" '33.3 % of launched GPU time is inside graph replays: pass'
sed 's/:300,/:900,/' d/ops_summary.ndjson >o && cp d/ops_summary.ndjson was &&
	mv o d/ops_summary.ndjson
like 'most of it in graphs' "$(verdict)" \
	' 60.0 % of launched GPU time is inside graph replays\.$'
mv was d/ops_summary.ndjson
is 'the table is JSON' "$(python3 -c '
import json
rows = [json.loads(l) for l in open("t.ndjson")]
print(rows[0]["table"], rows[-1]["end"]["rows"] == len(rows) - 2,
      [r["name"] for r in rows[1:-1] if r["part"] == "op"][0])' | cat -v)" \
	'summary True a"b\^[[31m'
book
is 'roofs begin where the ops do, whatever bounds these' \
	"$(sed -n 2p xl/roofs.ndjson)" '{"flop_per_byte":4.0,"matrix_bf16":10.0}'
is 'reach over the bend and are flat there' \
	"$(tail -n 2 xl/roofs.ndjson | head -n 1)" \
	'{"flop_per_byte":160.0,"matrix_bf16":200.0}'

# ---- names that are cut look different ----

schema u name:text input_dims:json roofline_bound:text kernel_ns_sum:int \
	roof:text lost_ns:real >d/unified_perf_summary.ndjson
for n in 512 128; do
	printf '{"name":"aten::native_batch_norm_backward","input_dims":[[512,64,%s,112],[512,64,%s,112],[64],[64],[64],[64],[64],[],[],[]],"roofline_bound":"MEMORY_BOUND","kernel_ns_sum":900,"roof":"X","lost_ns":%s}\n' \
		"$n" "$n" "$n"
done >>d/unified_perf_summary.ndjson
echo '{"end":{}}' >>d/unified_perf_summary.ndjson
is 'shapes that differ are told apart' \
	"$(report --width 80 | sed -n '/^lost/,/^$/p' | grep '^  ' |
		cut -c 1-46 | sort -u | wc -l)" 2
is 'scalars at the end are left out' \
	"$(report --width 80 | grep -c '\[\],\[\]')" 0

is 'a wide screen keeps figures beside names' \
	"$(report --width 400 | sed -n '/^lost/,/^$/p' | awk 'length($0) > 180')" ''
timeline 900 0 0 100
tables GEMM 600 中文中文 600 other 300 add 300
is 'wide characters do not move them' "$(report | sed -n '/^top/,/^$/p' | grep -c '^  中文中文 \{22\} ')" 1

# screen COLUMNS: on a terminal of so many, the width of its longest line
screen() {
	python3 -c 'import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, int(sys.argv[1]), 0, 0))
    os.environ["PATH"] = os.environ["TMP"] + "/fake:/usr/bin:/bin"
    os.execvp("tl-report", ["tl-report", "t.tl"])
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
os.waitpid(pid, 0)
print(max(len(line) for line in text.decode().splitlines()))' "$1"
}
is 'as wide as the terminal' "$(COLUMNS=70 screen 200)" \
	"$(COLUMNS=70 report --width 200 | awk '{ if (length($0) > n) n = length($0) } END { print n }')"
is 'else as COLUMNS says' "$(COLUMNS=200 report | cksum)" "$(report --width 200 | cksum)"

# ---- a trace ----

title() { # title MEMBERS: of the trace with these
	with_members "$1" >v.json
	PATH=$TMP/fake:/usr/bin:/bin fake/tl-report v.json | head -n 1
}
rm -f d/unified_perf_summary.ndjson
voodoo='"deviceProperties":[{"id":0,"name":"AMD EPYC 9654"},{"id":1,"name":"Voodoo 2"}]'
is 'a rank that is only a place is none' "$(title "$voodoo")" 'v.json, Voodoo 2'
is 'one that the trace says' \
	"$(title '"distributedInfo":{"rank":3,"world_size":8}')" 'v.json, rank 3 of 8'

sed '/"cat":"kernel"/s/"ts":[0-9]*,//' t.json >untimed.json
is 'into a folder, where no title has it, health is of a named trace' \
	"$(tl-report untimed.json -d o 2>&1 | sed -n 's|^\(tl-report: untimed.json\): no GPU .*|\1|p')" \
	'tl-report: untimed.json'
is 'no advice where no GPU event has a time' \
	"$(tl-report untimed.json 2>&1 | grep -c tl-advise)" 0

# ---- a GPU of which nothing is known ----

timeline 900 0 0 100
unified '' 0.1 1.0 450 900
sed '2s/"roof":"[^"]*"/"roof":null/; 2s/"roofline_bound":""/"roofline_bound":null/
	2s/"roofline_ns":[0-9]*,"lost_ns":[0-9]*/"roofline_ns":null,"lost_ns":null/' \
	d/unified_perf_summary.ndjson >u && mv u d/unified_perf_summary.ndjson
like 'no roofline without a GPU' "$(report --width 999)" \
	'^  - no roofline: the trace does not name its GPU; name the GPU with --arch'
title "$voodoo" >/dev/null
trace=v.json
like 'nor of one without figures' "$(report --width 999)" \
	'^  - no roofline: no figures for Voodoo 2; name the GPU with --arch'
sed '2s/"moved_mib":[0-9.]*/"moved_mib":null/' d/unified_perf_summary.ndjson >u &&
	mv u d/unified_perf_summary.ndjson
is 'ops without bytes say nothing of the GPU' \
	"$(report --width 999 | grep -c 'no roofline: no figures')" 0
trace=t.tl

# ---- many ranks ----

# ranks N: into d/, each with less to wait for than the one before
ranks() {
	rm -rf d
	mkdir d
	{
		schema gpu_timeline rank:int type:text time_ns:int percent:real
		seq 0 $(($1 - 1)) | awk '{
			split("computation_time 4e8 exposed_comm_time 3e8 busy_time 7e8 idle_time 1e8 total_time 8e8", v, " ")
			for (i = 1; i < 10; i += 2)
				printf "{\"rank\":%d,\"type\":\"%s\",\"time_ns\":%d,\"percent\":1}\n",
				    $1, v[i], v[i + 1] - (v[i] ~ /comm|busy|total/) * 1e6 * $1
		}'
		echo '{"end":{"rows":0}}'
	} >d/gpu_timeline.ndjson
	{
		schema nccl_groups group:text desc:text ranks:text latency_ns_sum:int \
			wait_ns_sum:real late_rank:int verdict:text says:text
		echo '{"group":"1","desc":"tp","latency_ns_sum":900,"wait_ns_sum":900.0,"verdict":"none","says":"ranks arrive together"}'
		echo '{"group":"0","desc":"dp","ranks":"0-63","latency_ns_sum":100,"wait_ns_sum":300.0,"late_rank":1,"verdict":"host","says":"rank 1 late by 2.000 ms"}'
		echo '{"end":{"rows":2}}'
	} >d/nccl_groups.ndjson
	{
		schema nccl_verdict verdict:text text:text rank:int
		echo '{"verdict":"host","text":"the others wait 2.000 ms","rank":1}'
		echo '{"verdict":"network","text":"group tp: network at 50 %"}'
		echo '{"end":{"rows":2}}'
	} >d/nccl_verdict.ndjson
	{
		schema straggler_summary rank:int wait_ns_total:int times_last:int
		echo '{"rank":1,"wait_ns_total":7,"times_last":3}'
		echo '{"end":{"rows":1}}'
	} >d/straggler_summary.ndjson
	{
		schema straggler_cause rank:int late_ns_sum:int verdict:text
		echo '{"rank":0,"late_ns_sum":0,"verdict":"none"}'
		echo '{"rank":1,"late_ns_sum":4000000,"verdict":"host"}'
		echo '{"rank":0,"late_ns_sum":5,"verdict":"host"}'
		echo '{"rank":1,"late_ns_sum":9,"verdict":"network"}'
		echo '{"end":{"rows":3}}'
	} >d/straggler_cause.ndjson
}
ranks 2
trace=r2.tl
report >screen
book -d csv
mv xl/summary.ndjson t.ndjson
mv csv/gpu_timeline_by_rank.csv ranks.csv
is 'what costs most in collectives comes first' \
	"$(head -n 2 screen | tr '\n' '|')" \
	'The others wait 2.000 ms. Waiting is 54.5 % of the time in collectives.||'
like 'shares are of the mean' "$(sed -n 3p screen)" \
	'^799.500 ms \(mean of 2 ranks\): 50.0 % compute'
is 'in the table too' "$(sed -n 3p t.ndjson | cut -c 1-42)" \
	'{"part":"late","name":"The others wait 2.0'
like 'bars are as long as the ranks took' "$(grep -c '#.*ms' screen)" '^2$'
like 'the late one is marked' "$(grep '799' screen)" \
	'^   1 \[#+=+\.+\] +799.000 ms late: host$'
like 'groups' "$(cat screen)" '  - tp: ranks arrive together'
report --linked-only >screen
is 'none is late where only linked work counts' "$(grep -c -e ' late' -e 'arrive' screen)" 0
is 'ranks side by side' "$(cut -d, -f 1,2,4,14-17 ranks.csv)" \
	'rank,total_time ms,exposed_comm_time ms,wait_time ms,times_last,late ms,late_cause
0,800,300,,,,
1,799,299,7e-06,3,4,host'
cost_of() { # cost_of RANK: as tl-critical has it
	{
		schema critical_ranks rank:int loss_ns:int loss_percent:real
		printf '{"rank":%d,"loss_ns":300000,"loss_percent":0.4}\n{"end":{}}\n' "$1"
	} >d/critical_ranks.ndjson
	report --width 999 | head -n 1
	rm d/critical_ranks.ndjson
}
like 'what the critical path has of the late rank is first' "$(cost_of 1)" \
	"^On the critical path rank 1's host costs the job 300.0 us\\. The others wait 2.000 ms\\. "
like 'nothing of another' "$(cost_of 0)" '^The others wait 2.000 ms\. '
sed 's/"verdict":"host","says":"rank 1 late by 2.000 ms"/"verdict":"none","says":"ranks arrive together"/
	s/"latency_ns_sum"/"collectives":5,&/; 1s/"collectives":5,//
	1s/{"id":"latency/{"id":"collectives","type":"int"},&/' d/nccl_groups.ndjson >x &&
	mv x d/nccl_groups.ndjson
sed 's/"verdict":"[a-z]*","text":"[^"]*"/"verdict":"none","text":"ranks arrive together"/' \
	d/nccl_verdict.ndjson >x && mv x d/nccl_verdict.ndjson
report >screen
is 'where none is late that is said of all' "$(head -n 2 screen | tr '\n' ' ')" \
	'Ranks arrive together in all 2 process groups. Waiting is 54.5 % of the time in collectives. '
is 'once' "$(grep -c 'arrive together' screen)" 1
sed 's/"desc":"dp",\(.*\)"collectives":5/"desc":"dp",\1"collectives":0/' d/nccl_groups.ndjson >x &&
	mv x d/nccl_groups.ndjson
like 'or of those with collectives' "$(report --width 200 | head -n 1)" \
	'^Ranks arrive together in 1 of 2 process groups; the other has no complete collective'
sed 's/"collectives":5/"collectives":0/' d/nccl_groups.ndjson >x && mv x d/nccl_groups.ndjson
is 'or of none' "$(report --width 200 | head -n 1)" \
	'Arrival skew unknown: none of 2 process groups has a complete collective.'
ranks 64
trace=r64.tl
report >screen
is 'of many, those that wait least and the late one' \
	"$(grep -c '#.*ms' screen) $(grep '\.\.\. 48 more' screen)" \
	'16      ... 48 more, which wait longer'
like 'with the late one' "$(cat screen)" 'late: host'
sed 's/"rank"/"src"/' d/gpu_timeline.ndjson >x &&
	mv x d/gpu_timeline.ndjson
is 'no line is wider than asked for' "$(report --width 60 |
	awk 'length($0) > 60')" ''

# ---- what the ranks wait for ----

# waits GPU COMM HOST [RANK:MS:LAST]...: what three of the ranks spend of 100 ms, and
# how long others waited for these, which were last in so many of 9
# collectives
waits() {
	{
		schema idle_window rank:int window_ns:int gpu_ns:int communication_ns:int \
			"${class:-host}_ns:int"
		for r in 0 1 2; do
			echo "{\"rank\":$r,\"window_ns\":100000000,\"gpu_ns\":$1,\"communication_ns\":$2,\"${class:-host}_ns\":$3}"
		done
		echo '{"end":{}}'
	} >d/idle_window.ndjson
	shift 3
	{
		schema straggler_cause rank:int late_ns_sum:int verdict:text caused_wait_ns:int \
			times_last:int times_late:int collectives:int
		for r do
			IFS=: read -r rank ms last <<-END
				$r
			END
			echo "{\"rank\":$rank,\"verdict\":\"none\",\"caused_wait_ns\":${ms}000000,\"times_last\":$last,\"times_late\":$((last > 6 ? 6 : last)),\"collectives\":9}"
		done
		echo '{"end":{}}'
	} >d/straggler_cause.ndjson
	report --width 999 | sed -n 3p
}
ranks 64
sed 's/"latency_ns_sum":900,"wait_ns_sum":900.0/"latency_ns_sum":90,"wait_ns_sum":900.0/' d/nccl_groups.ndjson >x &&
	mv x d/nccl_groups.ndjson
is 'ranks that take turns' "$(waits 10000000 60000000 30000000 0:30:3 1:40:3 2:31:3)" \
	'Communication-bound: exposed communication is 60.0 % of 100.000 ms (mean of 3 ranks). Arrival skew: waiting is 86.3 % of the time in collectives; ranks take turns: rank 1 causes 39.6 % of it, the most.'
is 'one that is always late' "$(waits 10000000 60000000 30000000 0:30:3 1:80:6)" \
	'Communication-bound on rank 1: exposed communication is 60.0 % of 100.000 ms. Rank 1 is last in 6 of 9 collectives and causes 72.7 % of the waiting.'
like 'in all, measurably or not' "$(waits 10000000 60000000 30000000 0:30:3 1:80:9)" \
	' Rank 1 is last in all 9 collectives, measurably late in 6, and causes 72\.7 % of the waiting\.$'
is 'one that is not' "$(waits 10000000 60000000 30000000 0:30:4 1:80:5)" \
	'Communication-bound, likely on rank 1: exposed communication is 60.0 % of 100.000 ms. Rank 1 is last in 5 of 9 collectives and causes 72.7 % of the waiting.'

{
	schema critical_ranks rank:int loss_ns:int loss_percent:real by_ns:int name:text uid:int \
		excess_ns:int chain:text
	echo '{"rank":0,"loss_ns":1,"loss_percent":0.1}'
	echo '{"rank":2,"loss_ns":4100000,"loss_percent":4.1,"by_ns":4000000,"name":"load","uid":7,"excess_ns":4200000,"chain":"[\"load\",\"...\",\"nccl\"]"}'
	echo '{"end":{}}'
} >d/critical_ranks.ndjson
like 'what a slower host loses the job' "$(waits 10000000 60000000 30000000 0:30:3 1:40:3 2:31:3)" \
	' With the host of rank 2 as fast as the median rank.s, the job would end 4.100 ms \(4.1 %\) earlier: 4.000 ms of it in load, uid 7, which takes 4.200 ms longer than on the median rank; on the critical path: load > ... > nccl\.$'
rm d/critical_ranks.ndjson
{
	schema idle rank:int class:text cause:text call:text time_ns:int calls:int \
		call_ns_max:int longest_uid:int
	for r in 0 1 2; do
		echo "{\"rank\":$r,\"class\":\"data\",\"cause\":\"data\",\"call\":\"next\",\"time_ns\":60000000,\"calls\":4,\"call_ns_max\":$((r + 20))000000,\"longest_uid\":7}"
	done
	echo '{"end":{}}'
} >d/idle.ndjson
is 'one call: the mean of the ranks, as of the whole' \
	"$(class=data waits 10000000 30000000 60000000 0:30:3 1:40:3 2:31:3)" \
	'Data-bound: data loading is 60.0 % of 100.000 ms (mean of 3 ranks): next (60.000 ms: 4 calls on average, longest wait 22.000 ms, uid 7 of rank 2).'
sed '/"rank":1,/s/"time_ns":60/"time_ns":90/' d/idle.ndjson >x && mv x d/idle.ndjson
like 'the late one: idle time of its GPU, and of those that wait' \
	"$(class=data waits 10000000 30000000 60000000 0:30:3 1:80:6)" \
	' the waiting: its GPU is idle 90\.000 ms \(cause: data\), 60\.000 ms on the others \(mean\), whose GPUs meanwhile wait in collectives\.$'
sed 's/"latency_ns_sum":90,/"latency_ns_sum":900,/' d/nccl_groups.ndjson >x &&
	mv x d/nccl_groups.ndjson
like 'half of it waiting' "$(waits 10000000 60000000 30000000 0:30:3 1:40:3 2:31:3)" \
	'Skew and bandwidth: waiting is [45][0-9.]* % of the time in collectives\.$'

# ---- how far the host is ahead ----

# ahead NS [MEMBERS]: GPU work ends so long after the last step
ahead() {
	timeline 9000 0 0 1000
	MEMBERS=$2 idle host op aten::mm 1000 1000 0
	{
		schema steps_summary step_time:text wall_ns_median:int drain_ns_last:int
		printf '{"step_time":"wall","wall_ns_median":9,"drain_ns_last":%s}\n{"end":{}}\n' "$1"
	} >d/steps_summary.ndjson
	report --width 999 | sed -n 1p
}
trace=t.tl
is 'the host is ahead' "$(ahead 2000 '')" \
	'GPU-bound: GPU work is 90.0 % of 10.0 us. At the end of the last step the host is 2.0 us ahead of the GPU.'
is 'by nothing to speak of' "$(ahead 99 '')" 'GPU-bound: GPU work is 90.0 % of 10.0 us.'
is 'or by what is missing' "$(ahead 2000 '"head_ns":9,"head_cause":"late_start"')" \
	'GPU-bound: GPU work is 90.0 % of 10.0 us. Not counted: 9 ns before the first GPU event (late start).'

# ---- what goes wrong ----

trace=t.tl
ranks 2
head -n 4 d/gpu_timeline.ndjson > xl/cut && mv xl/cut d/gpu_timeline.ndjson
refuses 1 'gpu_timeline.ndjson: line 5: .*cut off' 'PATH=$TMP/fake:$PATH; tl-report t.tl'
refuses 2 'gives both the same name' 'tl-report --vs t.tl --names a,a t.tl'

# ---- a comparison ----

timeline 900 0 0 100
{
	schema diff_verdict text:text
	echo '{"text":"GPU time 1 ms to 2 ms"}'
	echo '{"end":{"rows":1}}'
} >d/diff_verdict.ndjson
{
	schema diff_ops_summary name:text input_dims:json count_before:int \
		count_after:int before_ns:int after_ns:int diff_ns:int is_noise:bool
	printf '{"name":"%s","input_dims":[[4]],"count_before":1,"count_after":2,"before_ns":%s,"after_ns":%s,"diff_ns":%s,"is_noise":%s}\n' \
		slower 4000000 5000000 1000000 null \
		gone 700000 0 -700000 false \
		new 0 600000 600000 null \
		noise 100 90 -10 true \
		equal 100 100 0 false
	echo '{"end":{"rows":5}}'
} >d/diff_ops_summary.ndjson
is 'a comparison comes first' "$(report --vs t.tl | sed '/^before/q')" \
	'GPU time 1 ms to 2 ms.

what changed most                        before       after         diff   ratio
  slower [[4]]                         4.000 ms    5.000 ms    +1.000 ms   1.250
  gone [[4]]                           700.0 us        0 ns    -700.0 us    gone
  new [[4]]                                0 ns    600.0 us    +600.0 us     new

before: 1.0 us: 90.0 % compute, 10.0 % idle.'
is '--names' "$(report --vs t.tl --names old,new | sed -n '3p; /^old/p')" \
	'what changed most                           old         new         diff   ratio
old: 1.0 us: 90.0 % compute, 10.0 % idle.
old: GPU, first to last event: 1.0 us'
book --vs t.tl --names old,new
cat xl/front >>"$SCREENS"
is 'whose the sheets are' "$(tail -n 2 xl/front)" "
Sheets are of old, except summary, diff_*, lca_* and *_vs."
book --vs t.tl
mv xl/summary.ndjson s.ndjson
is 'as a table' "$(grep -e '"diff"' -e '"change"' s.ndjson)" \
	'{"part":"diff","name":"GPU time 1 ms to 2 ms.","note":null,"time_ns":null,"percent":null,"count":null,"uids":null,"before_ns":null,"after_ns":null}
{"part":"change","name":"slower [[4]]","note":null,"time_ns":1000000,"percent":25.0,"count":2,"uids":null,"before_ns":4000000,"after_ns":5000000}
{"part":"change","name":"gone [[4]]","note":null,"time_ns":-700000,"percent":-100.0,"count":2,"uids":null,"before_ns":700000,"after_ns":0}
{"part":"change","name":"new [[4]]","note":null,"time_ns":600000,"percent":null,"count":2,"uids":null,"before_ns":0,"after_ns":600000}'

sed '2s/"count_after":2/"count_after":2.5/' d/diff_ops_summary.ndjson >x &&
	mv x d/diff_ops_summary.ndjson
book --vs t.tl
mv xl/summary.ndjson s.ndjson
is 'the mean of counts is one' "$(grep -o '"slower.*"before' s.ndjson | grep -o '"count":[^,]*')" \
	'"count":2.5'

# ---- phases of serving ----

serving() { python3 "$ROOT/tests/gen/serving.py" "$@" >serving.json; }
phases() { tl-report --width 300 serving.json | grep 'iterations\? of'; }
serving --graph
is 'a sentence of each phase' "$(phases)" "\
decode: 31 iterations of 100.0 us (median; p99 100.0 us), 160,000 tokens/s, \
100.0 % of GPU time in graphs; launch-bound: GPU idle 84.0 % of wall time; 100.0 % of launches (1 per iteration) find it idle.
mixed: 8 iterations of 100.0 us (median; p99 100.0 us), 5,221,250 tokens/s; host-bound: GPU idle 84.0 % of wall time, between ops 70.0 %.
prefill: 1 iteration of 100.0 us, 5,120,000 tokens/s; host-bound: GPU idle 84.0 % of wall time, between ops 70.0 %."
serving --late --steps 5
is 'what the recording lacks is said' "$(phases | sed -n 1p)" \
	'mixed: 4 iterations of 100.0 us (median; p99 100.0 us); 77.0 % of wall time is not in the recording; the rest is GPU-bound: 16.0 us of GPU work per iteration (mean).'
serving --late
# kernels of 45 us one after the other, from 1 ms later on
python3 - <<'END' >x
import json
t = json.load(open("serving.json"))
k = sorted((e for e in t["traceEvents"] if e.get("cat") == "kernel"), key=lambda e: e["ts"])
for i, e in enumerate(k):
    e["ts"], e["dur"] = k[0]["ts"] + 1000 + 45 * i, 45
print(json.dumps(t))
END
mv x serving.json
is 'GPU work that takes longer than the rest runs later; no rate' "$(phases | sed -n 2p)" \
	'mixed: 8 iterations of 100.0 us (median; p99 100.0 us); 62.5 us of 100.0 us of host time (mean) is not in the recording, and some GPU work runs after that time; GPU-bound: 90.0 us of GPU work per iteration (mean).'
python3 - <<'END' >x
import json
t = json.load(open("serving.json"))
for e in t["traceEvents"]:
    if e.get("cat") == "kernel":
        e["dur"] *= 3
print(json.dumps(t))
END
mv x serving.json
is 'no missing share where GPU work takes longer than the host' "$(phases | sed -n 2p)" \
	'mixed: 8 iterations of 180.0 us (median; p99 180.0 us), 2,900,694 tokens/s; GPU-bound: 180.0 us of GPU work per iteration (mean).'
# decode and prefill in turns, 98 us of every 100: the GPU is not idle between
# the work of one of them
python3 - >serving.json <<-'END'
	import json, sys
	events = []
	for i in range(40):
	    t, corr = 100 * i, i + 1
	    name = "step[DECODE bs=4]" if i % 2 else "step[EXTEND bs=1 toks=512]"
	    events += [dict(ph="X", cat="user_annotation", name=name, pid=1, tid=1, ts=t, dur=99),
	               dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=t + 1, dur=2,
	                    args=dict(correlation=corr)),
	               dict(ph="X", cat="kernel", name="k", pid=0, tid=7, ts=t + 5, dur=98,
	                    args=dict(device=0, stream=7, correlation=corr))]
	json.dump(dict(traceEvents=events), sys.stdout)
END
is 'no verdict on one phase of several' "$(tl-report --phase decode serving.json | grep -E 'bound|recoverable|^[0-9.]* ms')" \
	'1.960 ms: 100.0 % compute.'
# the same of steps
python3 - >apart.json <<-'END'
	import json, sys
	events = json.load(open("serving.json"))["traceEvents"]
	for i, event in enumerate(e for e in events if e["cat"] == "user_annotation"):
	    event["name"] = f"ProfilerStep#{i}"
	json.dump(dict(traceEvents=events), sys.stdout)
END
# kernels of 98 us begin 5 us after their step
is 'a verdict on steps apart' "$(tl-report --step 2,4,6 apart.json | sed -n '3p;5p')" \
	"$(printf '%s\n' 'GPU-bound: GPU work is 98.0 % of 300.0 us in 3 steps; no ops recorded.' 'GPU, 3 steps: 300.0 us')"
is 'the last one, too' "$(tl-report --step 4,last apart.json | grep -o 'of .* in 2 steps')" \
	'of 199.0 us in 2 steps'
is 'no verdict on annotations apart' "$(tl-report --annotation 'step*DECODE*' serving.json | grep -c bound)" 0
is 'nor on one, which takes the time of the step that it marks' \
	"$(tl-report --annotation 'step*DECODE*#2' serving.json | sed -n '3,6p' | tr '\n' ' ')" \
	'99.0 us inside annotation step*DECODE*#2: 98.0 % compute, 2.0 % idle or not selected.  GPU, inside annotation step*DECODE*#2: 99.0 us '
like 'of several it says how many' "$(tl-report --annotation 'step*DECODE*' serving.json)" \
	'^GPU, inside 20 annotations like step\*DECODE\*: 1.980 ms'
is 'steps that follow each other have one' "$(tl-report --step 2,3,4-6 apart.json | grep -o '^GPU-bound')" GPU-bound
# 20 us of computation and 65 us of an all-reduce in iterations of 98 us; a copy
# instead; the GPU computes for 50 us of 80
decode() {
	python3 - "$@" >serving.json <<-'END'
		import json, sys
		events, wall, work = [], int(sys.argv[1]), []
		for i in range(40):
		    t = 100 * i
		    events.append(dict(ph="X", cat="user_annotation", name="step[DECODE bs=4]", pid=1, tid=1, ts=t, dur=wall))
		    for k in range(2, len(sys.argv), 4):
		        corr = len(events)
		        cat, name, start, dur = sys.argv[k:k + 4]
		        events.append(dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=t + k, dur=2,
		                           args=dict(correlation=corr)))
		        events.append(dict(ph="X", cat=cat, name=name, pid=0, tid=7, ts=t + int(start), dur=int(dur),
		                           args=dict(device=0, stream=7, correlation=corr)))
		json.dump(dict(traceEvents=events), sys.stdout)
	END
	phases | sed 's@.*tokens/s; @@'
}
is 'communication-bound' "$(decode 98 kernel gemm 10 20 kernel ncclDevKernel_AllReduce 30 65)" \
	'communication-bound: exposed communication 66.3 % of wall time.'
is 'copy-bound' "$(decode 98 kernel gemm 10 20 gpu_memcpy 'Memcpy HtoD (Pinned -> Device)' 30 65)" \
	'copy-bound: exposed copies 66.3 % of wall time.'
is 'partly' "$(decode 80 kernel gemm 10 50)" \
	'partly launch-bound: GPU idle 37.5 % of wall time; 100.0 % of launches (1 per iteration) find it idle.'
is 'GPU work that fills the time' "$(decode 98 kernel gemm 90 95)" \
	'GPU-bound: 95.0 us of GPU work per iteration (mean).'
serving --late --steps 5
mv serving.json two.json
serving
is 'of several ranks the slowest' "$(sed 's/"traceEvents"/"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents"/' serving.json >r0.json
	sed 's/"dur": 100,/"dur": 110,/g; s/"traceEvents"/"distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents"/' serving.json >r1.json
	tl-report --width 300 r0.json r1.json >both
	grep '^decode' both)" \
	'decode: 31 iterations of 110.0 us (median; p99 110.0 us) on rank 1, the slowest of 2, 145,455 tokens/s; launch-bound: GPU idle 85.5 % of wall time; 100.0 % of launches (2 per iteration) find it idle.'
if command -v tl-ops >/dev/null; then
	like 'times of a list are a sum' "$(grep '^top' both)" '^top ops +sum of ranks +share '
	like 'or of traces' "$(tl-report serving.json serving.json 2>/dev/null | grep '^top')" ' sum of traces +share '
fi
# kernels of the slower rank take 95 us, those of the other 90
if command -v tl-roofline >/dev/null; then
	python3 - <<-'END'
		import json, sys
		for rank, dur in (0, 90), (1, 95):
		    events = []
		    for i in range(10):
		        t, corr = 100 * i, i + 1
		        events += [dict(ph="X", cat="user_annotation", name="step[DECODE bs=4]", pid=1, tid=1, ts=t, dur=98 + rank),
		                   dict(ph="X", cat="cpu_op", name="aten::mm", pid=1, tid=1, ts=t + 1, dur=3,
		                        args={"Input Dims": [[2048, 2048]] * 2, "Input type": ["c10::BFloat16"] * 2}),
		                   dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=t + 2, dur=1,
		                        args=dict(correlation=corr)),
		                   dict(ph="X", cat="kernel", name="gemm", pid=0, tid=7, ts=t + 4, dur=dur,
		                        args=dict(device=0, stream=7, correlation=corr))]
		    json.dump(dict(deviceProperties=[dict(id=0, name="NVIDIA H100 80GB HBM3")],
		                   distributedInfo=dict(rank=rank, world_size=2), traceEvents=events), open(f"roof{rank}.json", "w"))
	END
	roof_of() { tl-report --width 300 "$@" 2>/dev/null | grep -o 'compute-bound: .* of the roofline.*'; }
	is 'the roofline of the slowest rank' "$(roof_of roof0.json roof1.json)" "$(roof_of roof1.json)"
fi
for r in 0 1 2; do # 20 us of computation and three times the load where others have 16
	python3 "$ROOT/tests/gen/serving.py" --ranks 3 --rank $r --load $((r == 1 ? 3 : 1)) --schedule phases >load$r.json
done
differ() { tl-report --width 300 "$@" 2>/dev/null | grep '^Ranks differ'; }
is 'imbalance of the ranks of an iteration' "$(differ load?.json)" \
	'Ranks differ: in 40 iterations the slowest computes 15.4 % longer than the mean (rank 1 in 40), the most tokens are 3 times the fewest.'
sed 's/"dur": 8,/"dur": 10,/g; s/"rank": 0/"rank": 1/' load0.json >slow.json
is 'at the same load' "$(differ load0.json slow.json)" \
	'Ranks differ: in 40 iterations the slowest computes 11.1 % longer than the mean (rank 1 in 40), with equal tokens.'
sed 's/"dur": 10,/"dur": 8,/g; s/"rank": 1/"rank": 2/' slow.json >even.json
is 'but not of even ones' "$(differ load0.json even.json)" ''
tl-report -o serving.md serving.json
is 'as a table' "$(grep -o '^| phase | [dmp][a-z]*' serving.md | tr '\n' ' ')" \
	'| phase | decode | phase | mixed | phase | prefill '
if command -v tl-xlsx >/dev/null; then
	tl-report -o serving.xlsx serving.json
	is 'bars of phases' "$(python3 -m zipfile -e serving.xlsx parts && grep -o '<c:f>[^<]*' parts/xl/charts/chart1.xml | sed 's/<c:f>//' | tr '\n' ' ')" \
		'phase_summary!$K$1 phase_summary!$B$2:$B$4 phase_summary!$K$2:$K$4 '
fi
if command -v tl-compare >/dev/null; then
	rm -rf before after
	tl-report -d before serving.json
	serving --steps 60
	tl-report -d after serving.json
	is 'phases of two reports' "$(rows 'tl-compare before after --table phase_summary -c phase,before.iterations,after.iterations,after.gpu_ns_sum')" \
		'decode 31 49 784000.mixed 8 10 160000.prefill 1 1 16000.'
	is 'their GPU time adds up, times of an iteration do not' \
		"$(rows 'tl-compare before after' | grep -o 'phase_summary total after [0-9]* [0-9]*')" \
		'phase_summary total after 640000 960000'
fi
if command -v tl-kernels >/dev/null; then
	rm -rf dir
	tl-report -d dir --kernels --phase-method gemm_params serving.json
	is 'sheets' "$(find dir -type f -printf "%f\n" | sort | grep -E 'mixed|decode|prefill|phase' | tr '\n' ' ')" \
		'kernel_summary_mixed.csv ops_summary_mixed.csv phase_summary.csv roofline_by_phase.csv '
fi

done_testing
