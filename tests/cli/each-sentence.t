#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report: each sentence of its sources, and each that tl-advise's rules give it,
# is on a screen: of tests/cli/report-verdict*.t, or of the traces and tables below.
# TL_SENTENCES=FILE writes them all there, to be read by a person.
. tests/cli/lib.sh
for program in tl-ops tl-xlsx tl-sql tl-collective; do
	command -v $program >/dev/null || skip_all "$program is not built"
done

# screens of the other tests, as they were left or in a run of their own
parts=
for part in "$ROOT"/tests/cli/report-verdict*.t; do
	kept=$B/screens/${part##*/}
	if [ ! -f "$kept" ] || [ -n "$(find "$B/bin" "$part" "$ROOT/tests/cli/lib.sh" \
		"$ROOT/tests/cli/report-fakes.sh" "$ROOT/tests/gen" \
		"$ROOT/tests/oracle/tables.py" -type f ! -name '*.pyc' -newer "$kept" |
		head -n 1)" ]; then
		(cd "$ROOT" && sh "$part" >/dev/null 2>&1) &
	fi
	parts="$parts $kept"
done

keep_screens
. "$ROOT"/tests/cli/report-fakes.sh
PATH=$log/bin:$PATH
says() { # says WORDS...: tl-report, whatever comes of it
	tl-report "$@" >out 2>err </dev/null
}
fake() { # the same of hand-made tables
	# shellcheck disable=SC2086 # several words
	PATH=$TMP/fake:/usr/bin:/bin fake/tl-report "$@" $trace >>"$SCREENS" 2>&1
}
fake_book() { # its screen and sheets
	book "$@"
	cat xl/front xl/*.ndjson >>"$SCREENS"
	rm -f xl/*
}

# ---- what the command line gets ----

says --help
for words in '-o x.csv' '-o x.odd' '--format csv' '--bins 4' \
	'--linked-only --critical-path' '--title x' '--events' '-d x --width 80' \
	'--kernels' '--critical-path --no-collective' '--steady-gap 1s' \
	'- --vs -' '--vs a b c' '--names a,b' \
	'--vs a --match=approx b c' '--vs a b --match --step 1' '--genesis . a' \
	'--gpu x' '--name x' '--vs a'; do
	# shellcheck disable=SC2086 # words
	says $words
done
mkdir alone empty
cp "$B/bin/tl-report" alone
printf '#!/bin/sh\nkill -9 $$\n' >alone/tl-tree
chmod +x alone/tl-tree
for words in '' '-o x.xlsx' '-o x.html' '-o x.sqlite' '--vs t.json' '--capture t.json'; do
	# shellcheck disable=SC2086 # words
	PATH=/usr/bin:/bin alone/tl-report $words t.json >>"$SCREENS" 2>&1
	: >alone/tl-timeline
	chmod +x alone/tl-timeline
done
PATH=/usr/bin:/bin alone/tl-report t.json >>"$SCREENS" 2>&1
TMPDIR=$TMP/none says t.json
says --genesis empty

# ---- what was recorded ----

sed 's/"cat":"kernel"/"cat":"x"/' t.json >none.json
echo '{"traceEvents":[{"ph":"X","name":"a","cat":"x","pid":1,"tid":1,"ts":0,"dur":5}]}' >other.json
sed 's/"cat":"cpu_op"/"cat":"x"/' t.json >opless.json
sed 's/"name":"k"/"name":"ncclDevKernel_AllReduce_Sum"/' t.json >comm.json
tl-gen --rocprof --seed 3 >rocprof.json
for input in none.json other.json opless.json comm.json; do
	says $input
done
is 'of all kernels' "$(tl-report --width 200 rocprof.json | grep -c ' of kernel time\.')" 1
is 'shares of all kernels are not beside a list of some' \
	"$(tl-report --width 200 --linked-only rocprof.json | grep -c ' of kernel time')" 0
is 'whose threads' "$(tl-report none.json --vs t.json 2>err | grep 'threads, busiest first')" \
	'before: host threads, busiest first:'
tl-report --vs - t.json <none.json >out 2>err
tl-report --by module <"$SAMPLE" >out 2>err
for gpu in H100 A100; do
	with_members "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA $gpu\"}]" |
		sed 's/"name":"aten::mm",/&"args":{"Input Dims":[[9,9],[9,9]],"Input type":["float","float"]},/' \
			>"on$gpu.json"
done
says onH100.json onA100.json
sed 's/"ts":493100/"ts":1/' t.json >early.json
sed 's/"dur":90/"dur":-1/' t.json >bad1.json
says bad1.json early.json
for tid in 1 2 3 4 5 6 7 8 9; do
	ev cpu_op a $tid 0 5
done | trace >threads.json
says threads.json
says threads.json threads.json
mkdir evidence
(cd evidence && python3 "$ROOT/tests/oracle/evidence.py")
for name in lock gpus processes uneven; do
	says evidence/$name.json
done
says evidence/later.json --step 0
head -c 300 threads.json >half.json
tl-decode --salvage half.json -o half.tl 2>err
says half.tl
says --check t.tl
sed '/cpu_op/d' t.json | tl-report --check >out 2>err
for first in 50 150; do # of two calls one has two kernels
	{
		for i in 0 1 2; do
			ev cuda_runtime cudaLaunchKernel 1 $((100 * i + 1)) 5 "\"correlation\":$i"
			ev kernel "k$i" 7 $((100 * i + 20)) 10 "\"correlation\":$i,\"device\":0,\"stream\":7"
		done
		ev cpu_op aten::c 1 0 $first
		ev cpu_op aten::c 1 $((first + 50)) 150
	} | trace | tl-report --check >out 2>err
done
# a step with a product and an op without a model
{
	ev user_annotation 'ProfilerStep#1' 1 0 4000
	ev cpu_op aten::mm 1 100 20 '"Input Dims":[[2048,2048],[2048,2048]],"Input type":["float","float"]'
	ev cuda_runtime cudaLaunchKernel 1 102 5 '"correlation":1'
	ev kernel gemm 7 1000 2000 '"correlation":1,"device":0,"stream":7'
	ev cpu_op my::op 1 200 20
	ev cuda_runtime cudaLaunchKernel 1 202 5 '"correlation":2'
	ev kernel mine 7 3000 100 '"correlation":2,"device":0,"stream":7'
} | trace ',"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}]' >mfu.json
says mfu.json

# ---- rocprofv3 ----

python3 - <<'END'
import json
T = 10 ** 15


def process(pid, starts):
    dispatches = [
        {"thread_id": pid, "correlation_id": {"internal": i + 1, "external": 0},
         "kind": 2, "operation": 0, "start_timestamp": T + start,
         "end_timestamp": T + start + 10000,
         "dispatch_info": {"agent_id": {"handle": 10 + gpu}, "kernel_id": 1}}
        for i, (gpu, start) in enumerate(starts)]
    return {"metadata": {"pid": pid, "init_time": T, "fini_time": T + 10 ** 7},
            "agents": [{"id": {"handle": 10 + i}, "type": min(i, 1) + 1, "node_id": i,
                        "logical_node_id": i, "logical_node_type_id": i - 1,
                        "product_name": "gfx942"} for i in range(3)],
            "strings": {"buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel"]},
                {"kind": "KERNEL_DISPATCH", "operations": ["ENQUEUE"]}]},
            "kernel_symbols": [{"kernel_id": 1, "kernel_name": "add"}],
            "buffer_records": {"kernel_dispatch": dispatches, "hip_api": []}}


a = process(100, [(1, 10000), (2, 40000), (1, 9000000)])
b = process(200, [(2, 70000)])
for name, all in ("one", [a]), ("two", [a, b]):
    with open(name + ".agents.json", "w", encoding="utf-8") as file:
        json.dump({"rocprofiler-sdk-tool": all}, file)
END
says one.agents.json
says one.agents.json -d one
cat one/idle.csv >>"$SCREENS"
says two.agents.json
mkdir run capture late
python3 "$ROOT/tests/oracle/rocprof_forms.py" 3 run
says run/run_kernel_trace.csv
cp run/run_kernel_trace.csv capture/x_kernel_trace.csv
says --genesis capture --steady-gap 1ns
says --genesis capture --step 1
says --genesis capture --steady-gap 3s -d capture.d
head -n 1 capture.d/steady_state.csv >>"$SCREENS"
# two dispatches, 3 s apart; as a stream, where time may be negative, three, 1e9 and
# 17e9 s apart
{
	head -n 1 run/run_kernel_trace.csv
	for time in 1000,1010 3000001010,3000001020; do
		echo "KERNEL_DISPATCH,Agent 3,1,1,4000,1,1,k,1,$time,256,1,1,512,2,1"
	done
} >late/x_kernel_trace.csv
says --genesis late
tl-decode late/x_kernel_trace.csv 2>err | tl-cat |
	sed -e 's/"ts":1000,/"ts":-9000000000000000000,/; s/"ts":3000001010,/"ts":9000000000000000000,/' \
		-e '/"ts":-9/{p; s/"ts":-9/"ts":-8/; s/"id":0,/"id":2,/; }' -e '/"end"/s/.*/{"end":{}}/' \
		>late/x_results.json
rm late/x_kernel_trace.csv
says --genesis late

# ---- XLA ----

xplane() { python3 "$ROOT/tests/gen/xplane.py" "$@"; }
xplane -o jax --no-steps --steps 4
xplane -o tpu --tpu --gpus 2
xplane -o bare --no-launches
# one of two launches is not recorded
tl-cat jax/*.pb >jax.ndjson
awk '!/"kind":"runtime"/ || n++ % 2' jax.ndjson | tl-cat >some.tl
for input in jax tpu bare some.tl; do
	says $input
done
grep -v '"key":"hlo ' jax.ndjson | tl-cat >nohlo.tl
grep -v '"kind":"\(kernel\|memcpy\|memset\|gpu_annotation\)"' jax.ndjson | tl-cat >cpu.tl
says nohlo.tl
says cpu.tl

# ---- serving ----

serving() { python3 "$ROOT/tests/gen/serving.py" "$@"; }
serving --steps 40 >serving.json
says --phase decode serving.json
make() { python3 "$ROOT/tests/oracle/match.py" --make "$@"; }
make 1 200 vllm_detailed >a.json
make 2 200 vllm_detailed 20 >b.json
says a.json --vs b.json --match

# ---- by hand-made tables ----

tables() { # of JSON on stdin, into d/
	rm -rf d
	mkdir d
	python3 "$ROOT/tests/oracle/tables.py" d
}
trace=t.tl
timeline 1000 0 0 9000
MEMBERS='"gap_ns":4500,"cause":"op","prev_uid":3' idle host op aten::mm 9000 100 0
fake
timeline 1000 0 0 9000
MEMBERS='"launched":20,"starved":20,"launch_interval_ns":500,"launch_work_ns":50,"opened_ns":1000,"opened_by":"x","opened_uid":8' \
	idle host op aten::mm 9000 100 0
fake

# what each trace of several ranks lacks in front, and their labels
tables <<'END'
{"gpu_timeline": [
 {"rank": 0, "type": "computation_time", "time_ns": 900, "percent": 1.0},
 {"rank": 0, "type": "busy_time", "time_ns": 900, "percent": 1.0},
 {"rank": 0, "type": "total_time", "time_ns": 1000, "percent": 1.0},
 {"rank": 1, "type": "computation_time", "time_ns": 900, "percent": 1.0},
 {"rank": 1, "type": "busy_time", "time_ns": 900, "percent": 1.0},
 {"rank": 1, "type": "total_time", "time_ns": 1000, "percent": 1.0}],
 "idle": [{"rank": 0, "class": "host", "cause": "op", "call": "x", "time_ns": 100, "calls": 1}],
 "idle_window": [
 {"rank": 0, "gpu_ns": 900, "steps": 2, "head_ns": 50, "has_ops": true},
 {"rank": 1, "gpu_ns": 900, "steps": 2, "head_ns": 70, "has_ops": true}],
 "ops_summary_by_category": [{"rank": 0, "op_category": "GEMM", "direct_ns_sum": 5, "count": 1}]}
END
trace=r2.tl
fake_book
trace=t.tl
# phases of two processes, and one of which a part is missing
timeline 9000 0 0 1000
idle host op aten::mm 1000 100 0
mv d both
tables <<'END'
{"phase_summary": [
 {"phase": "decode", "iterations": 4, "took_ns_median": 100.0, "took_ns_p99": 100.0, "wall_ns_sum": 400,
  "gpu_ns_sum": 200, "bound_recorded": "host", "idle_by": "between_ops", "idle_by_ns": 80,
  "exposed_comm_ns_sum": 0, "exposed_copy_ns_sum": 0, "launches_mean": 1.0, "pct_graph": 0.0,
  "pct_idle_of_wall": 50.0, "pct_starved": 0.0, "pct_missing": 20.0},
 {"phase": "decode", "iterations": 4, "took_ns_median": 90.0, "wall_ns_sum": 360, "gpu_ns_sum": 200}],
 "nccl_vs": [
 {"collective": "allreduce", "group": "0", "full_bytes": 100000000.0, "beyond_noise": true,
  "latency_ns_mean_before": 1000000.0, "latency_ns_mean_after": 1250000.0, "count_after": 10}]}
END
mv both/* d
fake_book --vs t.tl

# ---- what tl-advise finds ----

# findings KIND: tables of a window of 1 s, of whose ops each has a rule
findings() {
	python3 - "$1" <<-'END' | tables
		import json, sys
		kind, ms = sys.argv[1], 1000000
		ops = [("mm", "GEMM", 20000, "cublas", "COMPUTE", 65), ("mm_far", "GEMM", 4, "Cijk_", "COMPUTE", 40),
		       ("w8a8_mm", "GEMM", 4, "cutlass", "COMPUTE", 65), ("bmm", "GEMM", 4, "Cijk_", "COMPUTE", 65),
		       ("mv", "GEMM", 4, "Cijk_", "MEMORY", 40), ("flash", "SDPA_fwd", 4, "", "COMPUTE", 40),
		       ("flash2", "SDPA_fwd", 4, "", "COMPUTE", 70), ("conv", "CONV_fwd", 4, "batched_transpose", "COMPUTE", 40),
		       ("rms", "RMSNorm", 4, "", "MEMORY", 12), ("layer_norm", "LayerNorm", 4, "", "MEMORY", 45),
		       ("fused", "other", 4, "triton_", "MEMORY", 12), ("moe", "MoE_unfused", 4, "", "COMPUTE", 40),
		       ("softmax", "Softmax", 4, "", "MEMORY", 40), ("moe", "MoE_fused", 4, "", "MEMORY", 40),
		       ("add", "elementwise", 5000, "", "MEMORY", 80), ("sum", "reduce", 4, "", "MEMORY", 40),
		       ("fft", "fft", 4, "", "COMPUTE", 40)]
		chains = ["_log_softmax > nll_loss_forward", "_foreach_mul_ > _foreach_add_", "mul > _softmax", "add > layer_norm",
		          "mul > relu", "mul > add"]
		causes = [("host", "python", "Optimizer.zero_grad#SGD", 300 * ms)]
		window = dict(gpu_ns=540 * ms, copy_ns=60 * ms, has_ops=True, is_tpu=kind == "tpu", graph_ns=3 * ms,
		              launched=100, starved=80, launch_interval_ns=50000, launch_work_ns=4000)
		if kind == "tpu":
		    ops = [op for op in ops if op[0] == "conv"]
		if kind == "graph":
		    window["gpu_ns"], causes[0] = 240 * ms, ("host", "op", "mm", 700 * ms)
		times = dict(total_time=1000, busy_time=600, computation_time=540, exposed_memcpy_time=60, exposed_comm_time=0,
		             total_comm_time=0)
		tables = dict(
		    gpu_timeline=[dict(type=t, time_ns=n * ms, percent=1.0) for t, n in times.items()],
		    idle_window=[window],
		    idle=[{"class": c, "cause": w, "call": call, "time_ns": ns, "percent": 1.0, "count": 1, "calls": 20,
		           "call_ns_max": 9, "longest_uid": "7", "inferred_ns": 0, "behind_ns": 0} for c, w, call, ns in causes],
		    graph_estimate=[dict(forbidden_by=["aten::item"])],
		    fusion_chains=[dict(chain=c, input_dims=[[8, 8]], ops=2, count=12, kernels=48, kernel_ns_sum=60 * ms,
		                        saved_ns_sum=40.0 * ms, first_uid="7") for c in chains],
		    unified_perf_summary=[
		        dict(name=name, op_category=category, operation_count=n, host_ns_sum=1, kernel_ns_sum=40 * ms,
		             kernel_ns_mean=1.0, kernel_ns_std=0.0, roofline_bound=bound + "_BOUND", roof="X achievable",
		             pct_roofline_mean=float(reached),
		             lost_ns=(100 - reached) * 0.4 * ms, flop_per_byte=1.0, first_uid=str(i), input_dims=[],
		             input_types=[], kernel_details_summary=[
		                 {"name": kernel, "total_duration_us": 8000 if kind == "tpu" else 20000}])
		        for i, (name, category, n, kernel, bound, reached) in enumerate(ops)])
		json.dump(tables, sys.stdout)
	END
	fake_book
}
for kind in gpu graph tpu; do
	findings $kind
done

# a late rank: of whose host, or of another cause; slow links
for verdict in host throttled; do
	tables <<-END
		{"gpu_timeline": [
		 {"rank": 0, "type": "computation_time", "time_ns": 50000000, "percent": 1.0},
		 {"rank": 0, "type": "exposed_comm_time", "time_ns": 50000000, "percent": 1.0},
		 {"rank": 0, "type": "busy_time", "time_ns": 100000000, "percent": 1.0},
		 {"rank": 0, "type": "total_time", "time_ns": 100000000, "percent": 1.0},
		 {"rank": 1, "type": "computation_time", "time_ns": 100000000, "percent": 1.0},
		 {"rank": 1, "type": "busy_time", "time_ns": 100000000, "percent": 1.0},
		 {"rank": 1, "type": "total_time", "time_ns": 100000000, "percent": 1.0}],
		 "idle_window": [
		 {"rank": 0, "gpu_ns": 50000000, "communication_ns": 50000000, "has_ops": true},
		 {"rank": 1, "gpu_ns": 100000000, "has_ops": true}],
		 "nccl_groups": [
		 {"group": "0", "desc": "dp", "collectives": 9, "latency_ns_sum": 100, "wait_ns_sum": 300.0, "verdict": "$verdict", "says": "x"}],
		 "nccl_verdict": [
		 {"verdict": "$verdict", "text": "the others wait 2.000 ms", "rank": 1, "cost_ns": 2000000, "pct_of_step": 2.0},
		 {"verdict": "network", "text": "the network costs 2.000 ms", "rank": null, "cost_ns": 2000000}],
		 "straggler_cause": [
		 {"rank": 1, "verdict": "$verdict", "caused_wait_ns": 40000000, "cost_ns": 30000000, "gain_ns_high": 35000000,
		  "pct_of_step": 20.0, "times_last": 1, "times_late": 1, "collectives": 1, "late_ns_sum": 30000000}],
		 "straggler_summary": [{"rank": 1, "wait_ns_total": 7, "times_last": 3, "gain_ns_high": 35000000}]}
	END
	trace=r2.tl
	fake_book
done
trace=t.tl
# idle time of each cause: what to do about it
for of in '"has_ops":true' '"has_ops":true,"has_python":true' '"has_ops":false' '"has_ops":true,"is_tpu":true'; do
	timeline 1000 0 0 9000
	# shellcheck disable=SC2046 # words
	MEMBERS=$of idle $(sed -n 's/^\tX([A-Z_]*, "\([a-z_]*\)", \(HOST\|SYNC\|ALLOCATION\|DATA\|COMPILE\|START\),.*/\2 \1 call 300 300 0/p' \
		"$ROOT/common/trace/cause.h" | sed 's/^START/start_up/' | tr '[:upper:]' '[:lower:]')
	fake_book
done
for cause in late_start queued_before none gpu_missing; do
	MEMBERS=$of idle missing $cause call 8000 300 0 host op call 1000 300 0
	fake
done

# ---- what is wrong ----

timeline 9000000000000000000 0 0 1
schema idle class:text cause:text call:text time_ns:int >d/idle.ndjson
for call in a b; do
	echo '{"class":"host","cause":"op","call":"'$call'","time_ns":9000000000000000000}'
done >>d/idle.ndjson
echo '{"end":{}}' >>d/idle.ndjson
fake
timeline 900 0 0 100
schema unified_perf_summary name:text kernel_ns_sum:int operation_count:int \
	kernel_details_summary:json >d/unified_perf_summary.ndjson
printf '{"name":"a","kernel_ns_sum":1,"operation_count":1,"kernel_details_summary":[3]}\n{"end":{}}\n' \
	>>d/unified_perf_summary.ndjson
fake --check
# a table has another column in the steady state
cat >fake/tl-kernels <<'END'
#!/bin/sh
for word do
	case $word in --from=*) more=',{"id":"b","type":"int"}' ;; esac
done
while [ "$1" != -d ]; do shift; done
printf '{"table":"kernel_summary","columns":[{"id":"a","type":"int"}%s]}\n{"a":1}\n{"end":{}}\n' \
	"${more-}" >"$2/kernel_summary.ndjson"
END
timeline 900 0 0 100
trace=
fake --genesis capture --kernels -d capture.d
trace=t.tl
for end in '{"a":1}' '{"a":1}x'; do
	timeline 900 0 0 100
	schema mine a:int >d/mine.ndjson
	printf '{"a":1}\n{"a":2}\n%s' "${end%x}" >>d/mine.ndjson
	[ "$end" = "${end%x}" ] || echo >>d/mine.ndjson
	fake -o x.json
done

# two tables of one name in a file
timeline 900 0 0 100
for column in a b; do
	schema mine $column:int
	printf '{"%s":1}\n{"end":{"rows":1}}\n' $column
done >d/mine.ndjson
fake -o x.md

# advice of causes
sed -n '/^advice_on_tpu/,/^enum subject/p' "$ROOT/common/trace/cause.c" >advice.c
says_all() { # the sources and rules, of which no screen has them
	python3 "$ROOT/tests/oracle/sentences.py" "$SCREENS" "$ROOT"/cmd/tl-report/*.[ch] \
		"$ROOT"/cmd/tl-advise/rules/*.json \
		"$ROOT/common/trace/cause.h" advice.c
}
wait
# shellcheck disable=SC2086 # names without blanks
cat $parts >>"$SCREENS"
says_all >unsaid # its last line says that it came to its end
ok 'causes have advice' grep -q '"' advice.c
is 'each sentence is on a screen' \
	"$(sed "s,^$ROOT/,,; s/^[1-9][0-9]* strings/N strings/" unsaid)" \
	'N strings, all said'
[ -z "${TL_SENTENCES-}" ] ||
	python3 "$ROOT/tests/oracle/sentences.py" --list "$SCREENS" >"$TL_SENTENCES"

done_testing
