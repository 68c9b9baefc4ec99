#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of rocprofv3's traces: a small Perfetto trace with figures worked out by
# hand. tests/ref/report.t compares real ones with the reference.
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/activity.py" --worked w.pftrace
tl-tree w.pftrace -o w.tl

# ---- classes of kernels ----

is 'classes of each GPU, and what of the communication is overlapped' \
	"$(tl-kernels --table category_summary --min-dur 5us --no-header -c dev,class,dur_ns_sum,count w.tl)" "\
2	rccl	60000	1
2	gemm	50000	1
2	xla	42000	2
2	overlapped_comm	54000	
2	non_overlapped_comm	6000	
2	compute_total	92000	
2	total_incl_comm	152000	
3	ckbwd	90000	1
3	overlapped_comm	0	
3	non_overlapped_comm	0	
3	compute_total	90000	
3	total_incl_comm	90000	"
is 'fractions, under the labels of the reference' \
	"$(tl-kernels --table category_summary --min-dur 5us --labels --format csv w.tl | grep -e GPU -e xla)" "\
GPU ID,Category,Total runtime (ms),Total count,Fraction of compute runtime,Fraction of total runtime
2,xla,0.042,2,0.45652173913043476,0.27631578947368424"
is 'a pattern of collectives' \
	"$(rows 'tl-kernels --table category_summary --comm-pattern loop_add --dev 2 -c class,dur_ns_sum w.tl' | cut -d. -f 1-3)" \
	'rccl 102000.gemm 50000.overlapped_comm 15000'
is 'kernels of no other class' "$(rows 'tl-kernels --table xla_top w.tl')" \
	'loop_add_fusion_13 22000 1 47.82608695652174.loop_add_fusion_12 20000 1 43.47826086956522.short_kernel 4000 1 8.695652173913043.'
is 'what a kernel takes of the GPU' "$(rows 'tl-kernels --by launch-config --top 1 -c grid,block,registers,accum_registers,scalar_registers,shared_bytes,scratch_bytes,count w.tl')" \
	'256 256 64 4 32 1024 0 1.'
tl-kernels --by launch-config --format csv "$SAMPLE" >config.csv
is 'not known is empty' "$(sed -n 2p config.csv | grep -c ',,,')" 1

# ---- categories by name ----

echo '{"MY": ["FUSION"], "Forward": ["*Fmha*"], "none": []}' >mine.json
is 'categories of a file' "$(rows 'tl-kernels --table kernel_summary_by_category --categories mine.json -c op_category,count,dur_ns_sum w.tl')" \
	'Other 3 114000.Forward 1 90000.MY 2 42000.'
is 'built-in ones by their word' "$(rows 'tl-kernels --table kernel_summary_by_category --categories activity -c op_category,dur_ns_sum w.tl')" \
	'ckbwd 90000.rccl 60000.gemm 50000.xla 46000.'
refuses 1 'gone.json: No such file' 'tl-kernels --categories gone.json w.tl'
for bad in '' '[' '[["x"]]' '{"a": "b"}' '{"a": [1]}' '{"a": ["b"]} x' '{"a"}'; do
	echo "$bad" >bad.json
	refuses 1 'bad.json: no JSON object of categories' 'tl-kernels --categories bad.json w.tl'
done

# ---- calls ----

is 'API calls' "$(rows 'tl-launch --table hip_summary -c api,count,api_ns_sum,api_ns_mean,api_ns_median,api_ns_min,api_ns_max w.tl')" \
	'hipStreamSynchronize 1 60000 60000.0 60000.0 60000 60000.hipModuleLaunchKernel 4 31000 7750.0 8000.0 5000 10000.hipMemcpyAsync 1 30000 30000.0 30000.0 30000 30000.hipMemcpyHtoDAsync 1 7000 7000.0 7000.0 7000 7000.hipExtLaunchKernel 1 6000 6000.0 6000.0 6000 6000.'
is 'deviations are of all calls' "$(rows 'tl-launch --table hip_summary -c api_ns_std_all --top 2 w.tl')" '0.0.1785.3571071357126.'
cat >hsa_results.json <<'EOF'
{"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"init_time":0,"fini_time":10000},
"agents":[{"id":{"handle":1},"type":1,"name":"AMD RYZEN AI MAX+ 395 w/ Radeon 8060S"},{"id":{"handle":2},"type":2,"name":"gfx1151"}],
"strings":{"buffer_records":[{"kind":"HIP_RUNTIME_API","operations":["hipMalloc"]},{"kind":"HSA_CORE_API","operations":["hsa_memory_allocate"]}]},
"kernel_symbols":[{"kernel_id":1,"kernel_name":"k"}],
"buffer_records":{"kernel_dispatch":[{"thread_id":1,"correlation_id":{"internal":9},"start_timestamp":5000,"end_timestamp":6000,"dispatch_info":{"agent_id":{"handle":2},"kernel_id":1}}],
"hip_api":[{"kind":0,"operation":0,"thread_id":1,"correlation_id":{"internal":1},"start_timestamp":1000,"end_timestamp":2000}],
"hsa_api":[{"kind":1,"operation":0,"thread_id":1,"correlation_id":{"internal":2},"start_timestamp":1100,"end_timestamp":1900}]}}]}
EOF
is 'HSA calls lie in HIP calls' "$(rows 'tl-launch --table hip_summary -c api,pct_of_api hsa_results.json'; rows 'tl-launch --table api_summary -c api hsa_results.json')" \
	'hipMalloc 100.0.hipMalloc.hsa_memory_allocate.'
is 'the GPU, not the processor' "$(tl-report hsa_results.json | head -n 1)" 'hsa_results.json, gfx1151'
is 'several tables' "$(rows 'tl-launch --table hip_summary,copies -c count w.tl' | tr -d '.')" '21count14111'
refuses 2 'takes one table' 'tl-kernels --table xla_top,kernel_summary w.tl'
refuses 2 "no table 'gone'" 'tl-launch --table copies,gone w.tl'
is 'their shares' "$(rows 'tl-launch --table hip_summary -c pct_of_api --top 1 w.tl')" '44.776119402985074.'
is 'by stream and thread' "$(rows 'tl-launch --table hip_summary --by gpu_stream,pid -c gpu_stream,pid,count,api_ns_sum w.tl')" \
	'0 100 8 134000.'
refuses 2 'hip_summary is by api, thread, pid or gpu_stream' 'tl-launch --table hip_summary --by api,op w.tl'
is 'T = A + Q + K' "$(tl-launch --table api_kernel_summary --no-header -c pid,tid,dev,api,kernel,count,total_ns_mean,api_ns_mean,queue_ns_mean,kernel_ns_mean w.tl | tr '\t' ' ')" "\
100 100 3 hipModuleLaunchKernel void ck_tile::FmhaBwdDQDKDV kernel_func 1 100000.0 5000.0 5000.0 90000.0
100 100 2 hipExtLaunchKernel ncclDevKernel_Generic_1 1 88000.0 6000.0 22000.0 60000.0
100 100 2 hipModuleLaunchKernel Cijk_Ailk_Bljk_HHS_BH 1 75000.0 10000.0 15000.0 50000.0
100 100 2 hipMemcpyHtoDAsync MEMORY_COPY_HOST_TO_DEVICE 1 35000.0 7000.0 3000.0 25000.0
100 100 2 hipModuleLaunchKernel loop_add_fusion_13 1 101000.0 8000.0 71000.0 22000.0
100 100 2 hipModuleLaunchKernel loop_add_fusion_12 1 88000.0 8000.0 60000.0 20000.0
100 100 2 hipMemcpyAsync MEMORY_COPY_HOST_TO_DEVICE 1 45000.0 30000.0 0.0 15000.0"
{
	ev cuda_runtime cudaGraphLaunch 1 0 10 '"correlation":1'
	ev kernel a 7 20 5 '"device":0,"stream":7,"correlation":1'
	ev kernel b 7 30 5 '"device":0,"stream":7,"correlation":1'
	ev cuda_runtime cudaEventQuery 1 50 10 '"correlation":2'
} | trace >graph.json
is 'of several kernels each counts with its call' \
	"$(rows 'tl-launch --table api_kernel_summary -c kernel,total_ns_mean,api_ns_mean,queue_ns_mean,kernel_ns_mean graph.json')" \
	'a 25000.0 10000.0 10000.0 5000.0.b 35000.0 10000.0 20000.0 5000.0.'
is 'the calls of other traces' "$(rows 'tl-launch --table api_summary -c api,count,api_ns_sum,pct_of_api graph.json')" \
	'cudaGraphLaunch 1 10000 50.0.cudaEventQuery 1 10000 50.0.'

# ---- copies ----

is 'copies by size and direction' "$(rows 'tl-launch --table memory_copy_by_copy_bytes w.tl')" \
	'8192 d2d (GPU 2 -> GPU 3) 1 8192 25000 25000.0 25000 25000 0.32768.20138 h2d (GPU 2) 2 40276 40000 20000.0 15000 25000 1.0069.'
{
	ev gpu_memcpy CopyHostToDevice 0 10 4 '"device":1,"stream":0,"bytes":16'
	ev gpu_memcpy CopyDeviceToHost 0 20 5 '"device":2,"stream":0,"bytes":32'
	ev gpu_memcpy CopyDeviceToDevice 0 30 6 '"device":3,"stream":0,"bytes":64'
} | trace >rpd-names.json
is 'the directions in the names of .rpd' \
	"$(rows 'tl-launch --table memory_copy_by_copy_bytes -c copy_bytes,direction rpd-names.json')" \
	'16 h2d (GPU 1).32 d2h (GPU 2).64 d2d (GPU 3).'
is 'bytes of all copies' "$(rows 'tl-launch --table copies -c bytes_sum w.tl')" '40276.8192.'

# ---- the report ----

tl-report -d out w.tl
is 'sheets' "$(cd out && echo *)" \
	'api_kernel_summary.csv category_summary.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv gpu_timeline_by_agent.csv health.csv hip_summary.csv idle_window.csv kernel_summary.csv kernel_summary_by_category.csv kernels_by_launch_config.csv kernels_by_pid.csv memory_copy_by_copy_bytes.csv steps.csv steps_summary.csv xla_top.csv'
is 'labels of the calls' "$(head -n 1 out/hip_summary.csv)" \
	'Name,Instances,Total Time (ns),Time %,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),sample StdDev (ns)'
tl-report -o out.md w.tl
is 'Markdown: tables' "$(grep '^## ' out.md | cut -c 4- | tr '\n' ' ')" \
	'summary health gpu_timeline gpu_timeline_by_agent gpu_busy_kinds steps steps_summary idle_window critical_path api_kernel_summary hip_summary memory_copy_by_copy_bytes kernel_summary kernel_summary_by_category kernels_by_pid kernels_by_launch_config category_summary xla_top '
is 'with times in a unit' "$(sed -n '/^## xla_top/,$p' out.md | tail -n +3)" "\
| name | dur_sum [us] | count | pct_of_xla |
| --- | ---: | ---: | ---: |
| loop_add_fusion_13 | 22.000 | 1 | 47.83 |
| loop_add_fusion_12 | 20.000 | 1 | 43.48 |
| short_kernel | 4.000 | 1 | 8.70 |"
tl-report -o long.md "$SAMPLE"
is 'and their first rows' "$(awk '/^## / { name = $2 } name == "ops_unique_args" && /^\|/ { n++ } END { print n - 2 }' long.md)" 20

# ---- captures of simulations ----

for form in csv json pftrace; do
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/activity.py" --genesis $form.cap $form
	tl-report --genesis $form.cap -d $form.d
	is "$form: two candidates" "$(cat $form.d/steady_state.csv)" "\
method,is_chosen,from ms,dispatches,window ms,busy ms,busy_percent
after_max_gap_2499.7ms,True,3000,10,26.404,24.004,90.9104681108923
last_0.0s,False,3005.404,8,19.104,17.004,89.00753768844221"
	is "$form: timeline of the steady state" "$(grep -e window -e steady $form.d/gpu_timeline.csv)" "\
window,type,time ms,percent
steady,total_time,26.404,100.0
steady,kernel,24.004,90.91046811089228
steady,memory,0,0.0
steady,busy_time,24.004,90.91046811089228
steady,idle,2.4,9.089531889107711"
	is "$form: categories of both windows" "$(cut -d, -f 1-5 $form.d/kernel_summary_by_category.csv)" "\
window,op category,Count,total_direct_kernel_time_ms,Percentage (%)
steady,Rigid Body Solver,3,15,62.48958506915514
steady,Broadphase Collision,3,6,24.995834027662056
steady,Time Integration,3,3,12.497917013831028
steady,PyTorch Runtime,1,0.004,0.016663889351774704
all,Rigid Body Solver,3,15,61.21449559255632
all,Broadphase Collision,3,6,24.48579823702253
all,Time Integration,3,3,12.242899118511264
all,Runtime Init,2,0.5,2.040483186418544
all,PyTorch Runtime,1,0.004,0.01632386549134835"
	is "$form: short kernels" "$(cut -d, -f 1-4 $form.d/short_kernels_summary.csv | sed 1d)" "\
steady,at::native::vectorized_elementwise_kernel,1,4
all,at::native::vectorized_elementwise_kernel,1,4"
done
is 'shares add up in the order of the rows' \
	"$(cut -d, -f 1,6 csv.d/kernel_summary_by_category.csv | sed -n '/^all/s/all,//p' | cut -c 1-7 | tr '\n' ' ')" \
	'61.2144 85.7002 97.9431 99.9836 100.0 '
is 'the whole of a process' "$(grep all,total json.d/gpu_timeline.csv)" 'all,total_time,19000,100.0'
is 'the screen' "$(tl-report --genesis csv.cap --width 200 | head -n 4 | sed 's/: no ops, calls[^.]*//')" "\
kernel_kernel_trace.csv, Genesis, 20260821, n_envs=4096, steps=500, fp32

Steady state, after the longest gap, 2.500 s: 10 of 12 dispatches in 26.404 ms, 90.9 % busy.
26.404 ms: 90.9 % kernels, 9.1 % idle; can't tell why. Rigid Body Solver is 62.5 % of kernel time."
is 'no such gap: the last time of the log, and 5 %' "$(tl-report --genesis csv.cap --steady-gap 3s | sed -n 3p)" \
	'Steady state, the last 21.000 ms: 8 of 12 dispatches in 19.104 ms, 89.0 % busy.'
is 'or what is given' "$(tl-report --genesis csv.cap --steady-gap 3s --steady-window 10ms | sed -n 3p)" \
	'Steady state, the last 10.000 ms: 4 of 12 dispatches in 8.804 ms, 90.9 % busy.'
cp -r csv.cap two.cap
sed -n '$s/Agent 2/Agent 3/;$s/[0-9]*,[0-9]*,64,/40000000000,40000100000,64,/p' \
	csv.cap/kernel_trace/kernel_kernel_trace.csv >>two.cap/kernel_trace/kernel_kernel_trace.csv
is 'with --dev the steady state is that of its kernels' \
	"$(tl-report --genesis two.cap 2>err | grep '^Steady state')
$(tl-report --genesis two.cap --dev 2 --width 200 2>err | grep '^Steady state')" \
	'Steady state, after the longest gap, 26.974 s: 1 of 13 dispatches in 100.0 us,
Steady state, after the longest gap, 2.500 s: 10 of 12 dispatches in 26.404 ms, 90.9 % busy.'
rm csv.cap/run.log csv.cap/*.json
is 'without log and manifest' "$(tl-report --genesis csv.cap --steady-gap 3s | sed -n '1p;3p')" "\
kernel_kernel_trace.csv, Genesis, csv.cap
Steady state, the last 5.000 s: 12 of 12 dispatches in 3.026 s, 0.8 % busy."
mkdir one.cap
head -n 2 csv.cap/kernel_trace/kernel_kernel_trace.csv >one.cap/x_kernel_trace.csv
is 'one dispatch' "$(tl-report --genesis one.cap --width 100 | sed -n 3p)" \
	'Steady state: 1 of 1 dispatch in 200.0 us, 100.0 % busy.'
sed '2s/,10000000000,/,,/' csv.cap/kernel_trace/kernel_kernel_trace.csv >one.cap/x_kernel_trace.csv
is 'what was skipped is said of the trace, not of our tree' "$(tl-report --genesis one.cap -d one.d 2>&1 | sed -n 's,\(^tl-report: .*skipped: 1\) with.*\(time\),\1 of \2,p')" \
	'tl-report: one.cap/x_kernel_trace.csv: 1 event skipped: 1 of time'
is 'other categories' "$(tl-report --genesis csv.cap --categories activity -d act.d &&
	cut -d, -f 1-3 act.d/kernel_summary_by_category.csv | sed -n 2p)" 'steady,xla,10'
mkdir own && tl-report --genesis csv.cap --format ndjson >own/cap.ndjson
is 'the page names the columns of the steady state' \
	"$("$ROOT/tests/oracle/columns.py" "$ROOT/man/tl-report.1" own steady_state summary)" ''
tl-report --genesis csv.cap -o cap.md -o cap.xlsx -o cap.html
like 'Markdown' "$(grep '^| window' cap.md | head -n 1)" '^\| window \| Steady state, '
cat >host.cap.json <<'EOF'
{"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"init_time":1000,"fini_time":100000},
"strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API","operations":["hipMalloc"]}]},
"buffer_records":{"hip_api":[{"kind":1,"operation":0,"thread_id":1,"correlation_id":{"internal":1},"start_timestamp":2000,"end_timestamp":9000}]}}]}
EOF
mkdir host.cap && mv host.cap.json host.cap/x_results.json
is 'no kernel: one warning, no windows' "$(tl-report --genesis host.cap -d host.d 2>&1
	echo $?; cut -d, -f 1 host.d/host_timeline.csv)" "\
tl-report: host.cap/x_results.json: no GPU work in the trace: the report is about host time
3
thread_name
Unknown"
is 'a folder with a slash behind it' "$(tl-report --genesis ./one.cap// | head -n 1)" \
	'x_kernel_trace.csv, Genesis, one.cap'
for option in --from=1s --to=1s --step=first --annotation=x; do
	refuses 2 'contradict --genesis' "tl-report --genesis csv.cap $option"
done
refuses 1 'act.d: no \*_kernel_trace.csv' 'tl-report --genesis act.d'
refuses 2 'takes no further trace' 'tl-report --genesis csv.cap w.tl'
refuses 2 'need --genesis' 'tl-report --steady-gap 1s w.tl'
done_testing
