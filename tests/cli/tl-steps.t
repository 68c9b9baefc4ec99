#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-steps: what a step is and each of its figures with a trace made for it,
# options, bad input. tests/ref/steps.t has the real traces.
. tests/cli/lib.sh

step() { ev user_annotation "ProfilerStep#$1" "${4:-1}" "$2" "$3"; }
# launch CORR CALL START DUR [NAME [TID [STREAM]]]: a call and its kernel
launch() {
	ev cuda_runtime cudaLaunchKernel "${6:-1}" "$2" 5 "\"correlation\":$1"
	ev kernel "${5:-k}" "${7:-7}" "$3" "$4" \
		"\"device\":0,\"stream\":${7:-7},\"correlation\":$1"
}
steps() { rows "tl-steps -c $1 ${2:-} t.json"; }

# ---- what a step is ----

{
	step 3 100 80
	step 4 200 80
	launch 1 110 150 20
	launch 2 210 290 30
} | trace >t.json
is 'up to the next one, the last to its own end' "$(steps what,step,ts_ns,wall_ns)" \
	'step 3 100000 100000.step 4 200000 80000.'
{
	step 3 100 80
	step 3 110 20
	launch 1 110 150 20
} | trace >t.json
is 'of nested ones the outermost' "$(steps step,ts_ns,wall_ns)" '3 100000 80000.'
{
	step 3 100 150
	step 4 200 100
	launch 1 110 150 20
} | trace >t.json
is 'what overlaps is cut, and says so' "$(steps step,wall_ns,flags)" \
	'3 100000 overlap.4 100000 no-gpu-event.'
{
	step 1 100 80
	step 2 200 80
	step 11 100 80 2
	step 12 200 80 2
	launch 1 110 150 20 k 2
} | trace >t.json
is 'of two threads the one that launches' "$(steps step)" '11.12.'
{
	step 1 100 80
	step 2 200 80
	step 11 100 50 3
	step 12 150 50 3
	launch 1 110 150 20
} | sed '/"tid":3/s/"pid":1/"pid":2/' | trace >t.json
is 'each process has its own' "$(steps pid,step)" '1 1.1 2.2 11.2 12.'
{
	step 1 100 80
	step 2 200 80
	step 11 100 50 3
	step 12 150 50 3
	launch 1 110 150 20
	launch 2 90 100 5
	launch 3 300 310 5 k 3
	launch 4 310 320 5 k 3
	ev kernel k 7 1 5 '"device":0,"stream":7,"correlation":9'
} | sed '/"tid":3/s/"pid":1/"pid":2/' | trace >t.json
is 'what is outside of the steps is that of the process' "$(rows 'tl-steps --format csv \
	--table steps_summary -c pid,unlinked_count,outside_count t.json')" '1,,1.2,,2.'
launch 1 110 150 20 | trace >t.json
is 'no steps: the span of the GPU' "$(steps what,step,wall_ns,launches)" 'whole 20000 1.'
is 'which are 0 steps' \
	"$(rows 'tl-steps --table steps_summary -c steps,time_ns_median,window_ns t.json')" \
	'0 20000.0 20000.'
is 'with one there is no time from step to step' \
	"$(rows 'tl-steps --table steps_summary -c step_time,reason t.json')" \
	'wall fewer than two steps have GPU work.'
{
	step 1 0 1000
	launch 1 110 150 20
	ev user_annotation 'execute_context_1(5)_generation_0(0)' 1 100 100
	ev user_annotation 'step[EXTEND bs=2 toks=5]' 1 110 50
	ev user_annotation 'execute_context_0(0)_generation_3(4)' 1 250 100
} | trace >t.json
is 'serving comes before one ProfilerStep; nested ones are one' \
	"$(steps what,step,ts_ns,wall_ns)" \
	'step 1 100000 100000.between 1 200000 50000.step 2 250000 100000.'
is 'steps and what is between them are the window' \
	"$(rows 'tl-steps --table steps_summary -c steps,window_ns,between_ns t.json')" \
	'2 250000 50000.'
is '--annotation names them' "$(steps name,wall_ns "--annotation 'step*'")" \
	'step[EXTEND bs=2 toks=5] 50000.'
is '--annotation ProfilerStep*' "$(steps step,wall_ns "--annotation 'ProfilerStep*'")" \
	'1 1000000.'

# ---- steps that repeat ----

# three times a b c, with a pause of the host in front of a, and half of one in front
{
	i=0 t=0
	for name in c a b c a b c a b c a b; do
		test $name = a && t=$((t + 100))
		launch $i $((t += 10)) $((t + 20)) 5 $name
		i=$((i + 1))
	done
} | trace >t.json
is 'calls that repeat' "$(steps what,step,ts_ns,wall_ns,launches,is_inferred)" \
	'step 1 15000 130000 3 true.step 2 145000 130000 3 true.step 3 275000 130000 3 true.'
is 'how many' "$(rows 'tl-steps --table steps_summary -c steps,repeat_calls,outside_count t.json')" \
	'3 3 3.'
is '--annotation is not inferred' "$(tl-steps --annotation 'x*' t.json 2>err; echo $?)" 5
{
	for i in 1 2 3 4 5 6 7 8 9; do
		launch $i $((i * 10)) $((i * 10 + 20)) 5
	done
} | trace >t.json
is 'one kernel again and again is no step' "$(steps what)" 'whole.'
{
	t=0
	for i in 1 2 3 4; do
		for name in x y$i; do
			launch $((t + 1)) $((t += 10)) $((t + 20)) 5 "$name"
		done
	done
} | trace >t.json
is 'nor is what leaves names out' "$(steps what)" 'whole.'
{
	for i in 0 1 2; do
		ev cpu_op aten::mm 1 $((i * 100)) 10
		ev cpu_op aten::add 1 $((i * 100 + 20)) 10
		ev cpu_op aten::fill_ 1 $((i * 100 + 22)) 5
	done
} | trace >t.json
is 'without GPU work, ops' "$(rows 'tl-steps --format csv -c what,ts_ns,wall_ns,busy_ns t.json')" \
	'step,0,30000,.step,30000,100000,.step,130000,100000,.' 

# ---- what an annotation says ----

# Steps of these names, in a line each; "between" left out.
named() {
	i=0
	while read -r name; do
		ev user_annotation "$name" 1 $((i += 100)) 50
	done | trace >t.json
	rows "tl-steps --format csv -c what,phase,batch,tokens t.json" |
		sed 's/between,,,\.//g'
}

named >detailed <<'EOF'
execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)
step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]
decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 sk=65536]
EOF
is 'phase, requests and tokens: detailed names' "$(cat detailed)" \
	'step,mixed,5,6147.step,mixed,2,6.step,decode,32,128.'
is 'details' "$(rows 'tl-steps --format csv -c batch_size,c_sq,g_sk,g_sqsk,spec_tokens,format t.json')" \
	'6147,6144,6144,6144,,vllm_detailed.,,,,,.6,5,12,12,,sglang_detailed.,,,,,.128,0,65536,262144,3,atom_detailed.'
named >native <<'EOF'
execute_context_2(6144)_generation_0(0)
step[EXTEND bs=2 toks=14721]
step[DECODE bs=64]
decode[bs=117/128 tok=117 p=3 d=114]
prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3]
execute_diffusion_1_1024x1024
EOF
is 'details of native names: no sums' "$(rows 'tl-steps --format csv -c context_requests,c_sq,c_sk,padded_batch,context_lengths t.json' |
	sed 's/,,,,\.//g')" \
	'2,6144,,,.2,14721,,,.0,0,,,.0,0,,128,.6,17408,,,"[4096, 4096, 4096]...+3".0,0,,,.'
is 'what ATOM counts besides' "$(rows 'tl-steps --format csv -c p_requests,d_requests,two_batch_overlap t.json' | cut -d. -f 7)" \
	'3,114,'
is 'native names' "$(cat native)" \
	'step,prefill,2,6144.step,prefill,2,14721.step,decode,64,64.step,mixed,117,117.step,prefill,6,17408.step,generic,1,.'
{
	ev user_annotation 'execute_context_0(0)_generation_3(3)' 1 0 100
	ev user_annotation 'step[DECODE bs=3 g_sq=3 g_sqsq=3]' 1 10 50
} | trace >t.json
is 'of names nested in each other the detailed ones count' \
	"$(rows 'tl-steps --format csv -c name,wall_ns t.json')" \
	'step[DECODE bs=3 g_sq=3 g_sqsq=3],50000.'

{
	step 1 0 100
	ev user_annotation 'step[DECODE bs=3]' 1 10 50
	step 2 100 100
} | trace >t.json
is 'an iteration is marked in a step, too' \
	"$(tl-tree t.json | tl-cat | jq -c 'select(.flags != null) | [.name, .flags]' | paste -sd' ' -)" \
	'["ProfilerStep#1",["step","slowest"]] ["step[DECODE bs=3]",["step"]] ["ProfilerStep#2",["step"]]'
is 'and is no step' "$(rows 'tl-steps --format csv -c name t.json')" 'ProfilerStep#1.ProfilerStep#2.'

# ---- figures ----

{
	step 1 0 100
	step 2 100 100
	launch 1 10 20 50
	launch 2 20 60 50 k 2 8
	launch 3 110 130 90
	launch 4 120 125 20 ncclKernel 1 8
	ev kernel old 7 180 100 '"device":0,"stream":7,"correlation":99'
} | trace >t.json
is 'busy by the clock and by launch; drain, lead' \
	"$(steps busy_launched_ns,busy_ns,idle_ns,drain_ns,lead_ns,kernels,launches)" \
	'90000 80000 20000 10000 35000 2 2.95000 85000 15000 20000 15000 2 2.'
is 'from end to end of the work' "$(rows 'tl-steps --format csv -c gpu_wall_ns t.json')" \
	'.110000.'
is 'exposed communication' "$(steps exposed_comm_ns)" '0.5000.'
is 'unlinked work is counted' \
	"$(rows 'tl-steps --table steps_summary -c unlinked_count,outside_count t.json')" '1 0.'
is 'gaps at the borders' "$(steps gap_ns,gap_cause,idle_cause_ns)" \
	'20000 between_ops 10000.15000 launch_call 10000.'
is '--comm-pattern' "$(steps exposed_comm_ns "--comm-pattern '^k$'")" '80000.65000.'

{
	step 1 0 1000
	step 2 1000 1000
	launch 1 10 20 10
	launch 2 1010 1020 10
	ev user_annotation 'data_loading' 1 1100 400
	ev cpu_op aten::item 1 1200 100
} | trace >t.json
is 'data loading, and below it' "$(steps data_ns)" '0.400000.'
{
	step 1 0 1000
	launch 1 10 20 10
	ev python_function 'mine.py(1): get' 1 100 300
	launch 2 510 520 10
} | trace >t.json
cat >mine.json <<'EOF'
[{"cause": "data", "of": "above", "like": ["mine.py(*"], "examples": ["mine.py(1): get"]}]
EOF
is '--causes' "$(steps data_ns,idle_cause '--causes mine.json')" '300000 between_ops.'

# ---- how steps compare ----

{
	for i in 1 2 3 4 5 6; do
		step $i $((i * 1000)) 1000
		launch $i $((i * 1000 + 10)) $((i * 1000 + 20)) 10
	done
	step 7 7000 3000
	launch 7 7010 7020 10
	ev cpu_op aten::slow 1 7100 2500
} | trace >t.json
is 'an outlier' "$(rows 'tl-steps --step 6-7 --format csv -c step,wall_ns,flags t.json')" \
	'6,1000000,.7,3000000,slow.'
sed '/"name":"ProfilerStep#7"/s/"dur":3000/"dur":300/' t.json >short.json
is 'or a short one' "$(rows 'tl-steps --step 6-7 --format csv -c step,wall_ns,flags short.json')" \
	'6,1000000,.7,300000,fast.'
is 'the slowest, and by what' "$(rows 'tl-steps --table steps_summary -c \
	steps,step_time,slowest,slowest_by,slowest_by_ns,median_step_ns,slowest_in t.json')" \
	'7 wall 7 op 2500000 0 aten::slow.'
is 'quantiles and spread' "$(tl-steps --table steps_summary -c \
	time_ns_median,time_ns_p95,time_ns_p99,spread_percent t.json |
	awk 'NR > 1 { printf "%.0f %.0f %.0f %.0f", $1, $2, $3, $4 }')" \
	'1000000 2400000 2880000 200'
is '--step last' "$(steps step '--step last')" '7.'
is '--step slowest' "$(steps step '--step slowest')" '7.'
is 'who made it slow' "$(rows 'tl-steps --table steps_slow --format csv \
	-c step,cause,call,op,time_ns,median_ns,more_ns,median_step,call_uid t.json')" \
	'7,op,aten::slow,aten::slow,2500000,0,2500000,4,21.7,between_ops,,,480000,980000,-500000,4,18.'
is 'not for some of the steps' "$(tl-steps --step 7 --table steps_slow --no-header t.json)" ''
# walls of 100, 110, 1000, 1050 and 1100: the median step is a slow one, too
walls() {
	at=0 i=0
	for wall in "$@"; do
		i=$((i + 1))
		step $i $at "$wall"
		launch $i $((at + 10)) $((at + 20)) 10
		ev cpu_op aten::slow 1 $((at + 40)) $((wall - 50))
		at=$((at + wall))
	done | trace >walls.json
}
compared() { # the step, with whose time, of which steps
	rows 'tl-steps --table steps_slow --format csv -c step,median_step,median_of,cause,more_ns --top 1 walls.json' \
		&& rows 'tl-steps --table steps_summary --format csv -c slowest,slowest_by_ns,median_step_ns,median_of walls.json'
}
walls 100 110 1000 1050 1100
is 'most steps are slow: against a fast one' "$(compared)" '5,2,fast,op,990000.5,1050000,60000,fast.'
walls 500 700 900 1050 1100
is 'without a gap, against the median one' "$(compared)" '5,3,all,op,200000.5,1050000,850000,all.'
walls 1000 110 1000 1050 1100
is 'nor is a single short step the measure' "$(compared)" '5,3,all,op,100000.5,1050000,950000,all.'
walls 100 110 120 1050 1100
is 'nor where the median one is fast' "$(compared)" '5,3,all,op,980000.5,1050000,70000,all.'

# each launches as much, but work of step 2 runs in the time of step 3, in place
# of idle time; step 1 has no step before it and is no median
{
	step 1 0 900
	launch 1 10 20 500
	step 2 900 1100
	launch 2 910 920 500
	launch 12 1900 2000 400
	step 3 2000 1450
	launch 3 2410 2420 500
	ev cpu_op aten::slow 1 2950 450
	step 4 3450 1100
	launch 4 3460 3470 500
} | trace >t.json
is 'work of another step is not its own' "$(rows 'tl-steps --table steps_slow --format csv \
	-c step,cause,call,time_ns,median_ns,more_ns,median_step t.json')" \
	'3,between_ops,,90000,590000,-500000,4.3,op,aten::slow,450000,0,450000,4.3,other_steps,,400000,0,400000,4.'
is 'nor what makes it slow' "$(rows 'tl-steps --table steps_summary -c slowest,slowest_by,slowest_by_ns t.json')" \
	'3 op 450000.'
# step 2 is the median: 400 of its own 900 us run in step 3, nothing of others in it
{
	sed '1d;$d;s/,$//' t.json
	step 5 4550 1000
	launch 5 4560 4570 500
} | trace >behind.json
is 'no part of a step is negative; the largest difference comes first' \
	"$(rows 'tl-steps --table steps_slow --format csv -c step,cause,time_ns,median_ns,more_ns behind.json')" \
	'3,op,450000,0,450000.3,other_steps,400000,0,400000.3,between_ops,90000,490000,-400000.3,launch_latency,5000,100000,-95000.3,launch_call,5000,10000,-5000.'
# an op of 300 us in each, and in step 4 three of 150 us
{
	for i in 1 2 3 4; do
		step $i $((i * 1000)) $((i == 4 ? 1600 : 1000))
		launch $i $((i * 1000 + 10)) $((i * 1000 + 20)) 10
		ev cpu_op aten::long 1 $((i * 1000 + 100)) 300
	done
	for at in 4500 4700 4900; do ev cpu_op aten::small 1 $at 150; done
} | trace >small.json
is 'not in what is long in all steps' \
	"$(rows 'tl-steps --table steps_summary -c slowest,slowest_by,slowest_in small.json')" \
	'4 op aten::small.'
# ten of 1 ms, one of 3, nine of 1, then twelve of 1.5
{
	t=0
	for i in $(seq 32); do
		d=1000
		test "$i" = 11 && d=3000
		test "$i" -gt 20 && d=1500
		step "$i" $t $d
		launch "$i" $((t + 10)) $((t + 20)) 10
		t=$((t + d))
	done
} | trace >changes.json
is 'step times change for good once' \
	"$(rows 'tl-steps --format csv -c step,flags changes.json' | tr . '\n' |
		sed -n 's/,.*change.*//p')" 21
{
	launch 1 10 10 40 ncclKernel 1 8
	launch 2 11 30 40
	step 1 0 50
	step 2 50 50
} | trace >overlap.json
is 'communication behind computation' "$(rows 'tl-steps -c exposed_comm_ns,overlap_ns overlap.json')" \
	'20000 20000.0 0.'
{
	for i in 0 1 2 3; do
		step $i $((i * 100)) 100
		launch $i $((i * 100 + 10)) $((i * 300 + 20)) 300
	done
} | trace >t.json
is 'where the host only enqueues, a step is as long as on the GPU' \
	"$(rows 'tl-steps --table steps_summary -c \
	step_time,time_ns_median,wall_ns_median,drain_ns_first,drain_ns_last t.json')" \
	'gpu_wall 300000.0 100000.0 220000 820000.'
tl-steps --table steps_slow --format csv t.json >out 2>err
is 'no step is compared: a note where the table shows none' "$? $(wc -l <err)" '0 1'
like 'which says why' "$(cat err)" '^tl-steps: t.json: steps_slow has no rows: the host only enqueues, '
tl-steps -d without t.json 2>err
is 'no note where nobody asked for the table' "$? $(wc -l <err)" '0 0'
grep -v ProfilerStep t.json >none.json
like 'nor can a trace without steps have a slow one' \
	"$(tl-steps --table steps_slow --format table none.json | tr '\n' ' ')" '^no steps in the trace .*\(no rows\) $'
tl-steps --table steps_slow --format md t.json >out 2>err
is 'where the table says it that is enough' "$(wc -l <err)" 0
like 'and why no step is compared then' "$(tl-steps --table steps_slow --format table t.json | tr '\n' ' ')" \
	'^the host only enqueues, .* gpu_wall: .*\(no rows\) $'
{
	at=0 i=0
	for wall in 10 50 100 100; do
		step $i $at $wall
		at=$((at + wall))
		launch $i $((at - 3)) $((at - 2)) $((i + 4))
		i=$((i + 1))
	done
} | trace >t.json
is 'a first step that is shorter does not make the GPU slow' \
	"$(rows 'tl-steps --table steps_summary -c \
	step_time,wall_ns_median,gpu_wall_ns_median,drain_ns_first,drain_ns_last t.json')" \
	'wall 75000.0 101000.0 2000 5000.'
{
	step 1 0 9000
	launch 1 10 20 10
	ev cuda_runtime cuModuleLoadData 1 100 8000
	launch 2 8810 8820 10
} | trace >t.json
is 'start-up' "$(steps flags)" 'warm-up.'
{
	step 1 0 9000
	launch 1 10 20 10
	launch 2 30 8820 10
} | trace >t.json
is 'work is missing' "$(steps flags)" 'incomplete.'

# ---- phases of serving ----

# 40 iterations of 100 us with two kernels of 8 us: one of a prompt, 8 of both,
# 31 of 16 requests that generate
serving() { python3 "$ROOT/tests/gen/serving.py" "$@" >serving.json; }
in_phases() { rows "tl-steps --table phase_summary -c phase,$1 serving.json"; }
serving
is 'iterations, requests, tokens' "$(in_phases iterations,requests_mean,tokens_sum,tokens_per_s,token_ns_median)" \
	'decode 31 16.0 496 160000.0 100000.0.mixed 8 11.125 4177 5221250.0 100000.0.prefill 1 1.0 512 5120000.0 .'
is 'time' "$(in_phases took_ns_median,wall_ns_sum,gpu_ns_sum,pct_of_gpu,busy_ns_sum,idle_ns_sum,pct_idle_of_wall)" \
	'decode 100000.0 3100000 496000 77.5 496000 2604000 84.0.mixed 100000.0 800000 128000 20.0 128000 672000 84.0.prefill 100000.0 100000 16000 2.5 16000 84000 84.0.'
is 'what bounds them' "$(in_phases kernels_mean,launches_mean,pct_starved,pct_graph,idle_by,bound)" \
	'decode 2.0 2.0 100.0 0.0 between_ops launch.mixed 2.0 2.0 100.0 0.0 between_ops host.prefill 2.0 2.0 100.0 0.0 between_ops host.'
tl-steps --table phase_summary serving.json >plain.tsv
serving --profiler
is 'the same where ProfilerStep#N are the steps' "$(tl-steps --table phase_summary serving.json)" "$(cat plain.tsv)"
is 'which stay the steps' "$(tl-steps serving.json | wc -l)" 5
serving --graph
is 'graphs' "$(in_phases launches_mean,kernels_mean,pct_graph)" \
	'decode 1.0 2.0 100.0.mixed 2.0 2.0 0.0.prefill 2.0 2.0 0.0.'
serving --late
is 'GPU work is that of the iteration that launched it' "$(in_phases gpu_ns_sum,busy_ns_sum,pct_missing)" \
	'decode 496000 341000 77.0.mixed 128000 88000 77.0.prefill 16000 0 0.0.'
is 'no rate over time of which most is missing' "$(in_phases tokens_sum,tokens_per_s)" \
	'decode 496 .mixed 4177 .prefill 512 5120000.0.'
is 'nor what bounds all of it' "$(in_phases bound,bound_recorded)" \
	'decode gpu.mixed gpu.prefill host host.'
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
is 'nor of GPU work for four fifths, where most is missing' "$(in_phases bound,pct_missing,bound_recorded)" \
	'decode gpu 37.25806451612903 gpu.mixed 62.5 gpu.prefill 82.0 gpu.'
serving --format diffusion_native
is 'no phase, no tokens' "$(in_phases iterations,tokens_sum,token_ns_median)" 'generic 40 .'
python3 "$ROOT/tests/gen/serving.py" --steps 2000 --schedule phases --truth >truth.tsv
awk -F '\t' 'NR > 1 { n[$1]++; t[$1] += $4 + $8; r[$1] += $2 + $3 }
	END { for (p in n) print p, n[p], t[p], r[p] / n[p] }' truth.tsv | sort >planted
for format in vllm_detailed vllm_native sglang_detailed sglang_native atom_detailed atom_native; do
	serving --steps 2000 --schedule phases --format "$format"
	is "2,000 iterations as planted: $format" "$(tl-steps --table phase_summary --no-header \
		-c phase,iterations,tokens_sum,requests_mean serving.json | sort | tr '\t' ' ')" "$(cat planted)"
done
# an iteration of 10 us whose kernel takes 50: it can't be done before that
{
	ev user_annotation 'execute_context_0(0)_generation_4(8)' 1 0 10
	launch 1 5 20 50
} | trace >serving.json
is 'GPU work that outlasts its iteration' "$(in_phases took_ns_median,wall_ns_sum,tokens_per_s,bound)" 'decode 50000.0 10000 160000.0 gpu.'
is 'two tokens for each request: time of a token unknown' "$(in_phases token_ns_median)" 'decode .'
{
	ev user_annotation 'execute_context_9223372036854775807(9223372036854775807)_generation_0(0)' 1 0 10
	ev user_annotation 'execute_context_9223372036854775807(9223372036854775807)_generation_0(0)' 1 20 10
	launch 1 5 20 50
} | trace >serving.json
is 'more tokens than a number holds' "$(in_phases iterations,tokens_sum)" 'prefill 2 9223372036854775807.'
{
	ev user_annotation 'step[DECODE foo]' 1 0 10
	launch 1 5 20 50
	ev user_annotation 'step[DECODE bs=4]' 1 100 10
	launch 2 105 120 50
	ev user_annotation 'step[EXTEND toks=9]' 1 200 10
	ev user_annotation 'prefill[]' 1 300 10
} | trace >serving.json
reports 3 iterations-untold 'tl-steps serving.json >out'
is 'without numbers: no batch of 0' "$(tl-steps --format csv --no-header -c phase,batch,tokens,batch_size,context_requests,generation_sum,c_sq serving.json 2>/dev/null |
	grep -v '^,' | paste -sd' ' -)" 'decode,,,,,, decode,4,4,4,0,4,0 prefill,,9,9,,0,9 prefill,,,,,,'
is 'they count, their requests do not' "$(tl-steps --table phase_summary --format csv --no-header -c phase,iterations,requests_mean,tokens_sum serving.json 2>/dev/null | paste -sd' ' -)" \
	'decode,2,4.0,4 prefill,2,,9'
is 'no iterations, no rows' "$(tl-steps --table phase_summary t.json | wc -l)" 1
tl-steps -d dir t.json
is 'nor a file' "$(find dir -type f -printf "%f\n" | sort | grep -c phase)" 0

# ---- the same iteration of several ranks ----

# Ranks 0 to 2, of which 1 has three times the requests and tokens, and computes
# 20 us where others compute 16; all wait for each other in a collective
of_rank() {
	rank=$1
	shift
	python3 "$ROOT/tests/gen/serving.py" --ranks 3 --rank "$rank" "$@" >"r$rank.json"
}
of_ranks() { rows "tl-steps --table phase_ranks ${1-} r0.json r1.json r2.json"; }
for r in 0 1 2; do
	of_rank $r --schedule phases --format sglang_native --load $((r == 1 ? 3 : 1))
done
is 'a row for all ranks' "$(of_ranks '-c iteration,phase,ranks,requests_min,requests_max,tokens_min,tokens_max --top 4')" \
	'1 prefill 3 1 3 128 384.2 prefill 3 1 3 129 387.3 prefill 3 1 3 130 390.4 mixed 3 5 15 68 204.'
is 'who computes longest, where all wait for it' \
	"$(of_ranks '-c gpu_ns_min,gpu_ns_max,compute_ns_min,compute_ns_max,slowest_rank' | tr . '\n' | sort -u | grep .)" \
	'33000 35000 16000 20000 1'
is 'imbalance: 20 us against 52/3' "$(of_ranks '-c imbalance_percent --top 1' | cut -c1-8)" 15.38461
is 'of those asked for' "$(of_ranks '--rank 0,2 -c ranks,tokens_min,tokens_max,slowest_rank --top 1')" '2 128 128 0.'
is 'not of one' "$(of_ranks '--rank 0')" ''
is 'nor of some steps' "$(of_ranks '--step 3')" ''
is '--rank: the last source counts no more than others' "$(tl-steps --rank 0 r0.json r2.json)" "$(tl-steps r0.json)"
of_rank 2 --schedule phases --format sglang_native --steps 41
is 'iterations are as many' "$(of_ranks '-c ranks,tokens_max --top 1')" '2 384.'
# decode alone: names are the same or nothing shows which iterations correspond
decode() {
	for i in 1 2 3 4; do
		ev user_annotation "step[DECODE bs=$(($1 + (i == $2)))]" 1 $((i * 100)) 50
		launch "$i" $((i * 100 + 2)) $((i * 100 + 10)) 20
	done | trace
}
decode 4 2 >r0.json
decode 4 2 >r1.json
decode 5 2 >r2.json
is 'by names' "$(of_ranks '-c group,iteration,phase,ranks,tokens_max --top 2')" \
	'1 1 decode 2 4.1 2 decode 2 5.'
decode 4 4 >r0.json
decode 4 4 >r1.json
decode 5 4 >r2.json
is 'one change may coincide' "$(of_ranks)" ''
like 'which is said' "$(tl-steps --table phase_ranks --format table r0.json r1.json)" 'do not tell which iterations'
tl-steps -d none r0.json r1.json
is 'nor is there a file' "$(find none -name 'phase_ranks*' | wc -l)" 0

# ---- nothing of the kind ----

reports 5 no-step-matches "tl-steps --annotation 'nosuch*' t.json"
reports 5 no-such-step 'tl-steps --step 9 t.json'
{
	step 1 0 10
	step 2 10 10
} | trace >t.json
is 'no GPU work: the clock alone' "$(rows 'tl-steps --format csv -c step,wall_ns,busy_ns t.json')" \
	'1,10000,.2,10000,.'
ev cpu_op x 1 0 5 | trace >t.json
reports 5 no-gpu-events 'tl-steps t.json'
launch 1 110 150 20 | trace >t.json
is 'two inputs' "$(rows 'tl-steps -c src,what t.json t.json')" '0 whole.1 whole.'
refuses 2 'steps such as' 'tl-steps --step x t.json'

# ---- a trace of a data loader that sleeps in each fourth batch ----

is 'a data loader that is late' \
	"$(rows "tl-steps -c step,flags $ROOT/tests/data/h100/data_loading.json.gz")" \
	'2 .3 .4 slow.5 .6 .7 .'
is 'and that it was the loader' "$(rows "tl-steps --table steps_summary -c \
	slowest,slowest_by,slowest_in $ROOT/tests/data/h100/data_loading.json.gz")" \
	'4 data torch/utils/data/dataloader.py(736): __next__.'

python3 "$ROOT/tests/gen/health.py" steps=1 >bare.json
is 'a step without GPU events is idle, and says so' \
	"$(tl-steps --table steps -c step,wall_ns,busy_ns,idle_ns,flags --no-header bare.json | sed -n 1,2p | tr '\t' '|')" \
	"0|1005000|301230|703770|
1|1005000|0|1005000|incomplete,no-gpu-event"
# GPU events without launches, on a host that recorded nothing but the steps
{
	ev kernel k 7 20 30 '"device":0,"stream":7'
	ev user_annotation ProfilerStep#1 1 0 100
} | trace >unlinked.json
is 'no launches: what was launched is unknown' "$(tl-steps -c \
	busy_launched_ns,busy_ns,idle_ns,kernels,launches --no-header unlinked.json |
	tr '\t' '|')" '|30000|70000||'
is 'one step has no spread' \
	"$(rows 'tl-steps --table steps_summary -c steps,spread_percent unlinked.json')" '1 .'
# of five steps one only loads data
{
	for i in 1 2 3 4 5; do
		at=$((100 * i + (i > 3 ? 400 : 0)))
		step "$i" $at $((i == 3 ? 500 : 100))
		[ "$i" = 3 ] || launch "$i" $((at + 10)) $((at + 20)) 70
	done
	ev python_function 'torch/utils/data/dataloader.py(628): __next__' 1 301 490
} | trace >loads.json
is 'a step that only loads data is the slowest, and why' \
	"$(rows 'tl-steps --table steps_summary -c slowest,slowest_by,slowest_in loads.json')" \
	'3 data torch/utils/data/dataloader.py(628): __next__.'
is 'its idle time has a cause' "$(steps step,busy_ns,idle_ns,idle_cause,flags '--step 3 loads.json #')" \
	'3 0 500000 data slow,no-gpu-event.'
if command -v tl-report >/dev/null; then
	like 'the report says so' "$(tl-report loads.json | tr '\n' ' ')" \
		'1 step of 500.0 us takes .* leaves the GPU idle for 100.0 % of it .mostly data'
fi
is 'its gap is all of it' "$(tl-steps -c step,gap_ns,gap_cause,idle_cause,exposed_comm_ns \
	--no-header bare.json | sed -n 2p | tr '\t' '|')" '1|1005000|none|none|0'
# all GPU events last 0 ns: there is no busy time, and no law to break
{
	ev kernel k 7 42 0 '"device":0,"stream":7'
	ev kernel k 7 62 0 '"device":0,"stream":7'
	ev user_annotation 'ProfilerStep#1' 1 1 100
} | trace >instants.json
is 'of instants' "$(tl-steps -c step,wall_ns,busy_ns --no-header instants.json)" '1	100000	0'
page_examples tl-steps.1
like 'on 80 columns: the cause, and what it took more' \
	"$(tl-steps --table steps_slow --format table --width 80 "$SAMPLE" | head -n 2 | tr -s ' \n' ' ')" \
	'step cause.* more \[ms\]|more'
like 'of a phase: how many iterations, how long, what bounds them' \
	"$(python3 "$ROOT/tests/gen/serving.py" --steps 40 --schedule phases | tl-steps --table phase_summary --format table --width 80 |
		head -n 3 | tr -s ' \n' ' ')" 'iterations.*bound|bound.*iterations'

done_testing
