#!/bin/sh
# SPDX-License-Identifier: MIT
# rocprofv3's traces of several processes and GPUs: a timeline for each.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

# Process 100 has 61 kernels of 10 us on GPU 0 and 36 on GPU 1, process 200 has
# 19 on GPU 2, in 10 ms each. On GPU 0 and 1 every second of 36 run together.
cat >draw.py <<'END'
import json

T = 10 ** 12


def agent(handle, gpu):
    return {"id": {"handle": handle}, "type": 2 if gpu >= 0 else 1,
            "name": "gfx942", "logical_node_id": handle, "gpu_index": gpu}


def process(pid, work):
    calls, kernels = [], []
    for i, (gpu, start) in enumerate(sorted(work, key=lambda w: w[1])):
        head = {"thread_id": pid + 1,
                "correlation_id": {"internal": i + 1, "external": 0}}
        calls.append({**head, "kind": 1, "operation": 0,
                      "start_timestamp": T + start - 9000,
                      "end_timestamp": T + start - 4000})
        kernels.append({**head, "kind": 2, "operation": 0,
                        "start_timestamp": T + start,
                        "end_timestamp": T + start + 10000,
                        "dispatch_info": {"agent_id": {"handle": 11 + gpu},
                                          "kernel_id": 1 + gpu % 2}})
    return {"metadata": {"pid": pid, "init_time": T, "fini_time": T + 10 ** 7},
            "agents": [agent(10, -1)] + [agent(11 + i, i) for i in range(3)],
            "strings": {"buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel"]},
                {"kind": "KERNEL_DISPATCH", "operations": ["ENQUEUE"]}]},
            "kernel_symbols": [{"kernel_id": i, "kernel_name": n}
                               for i, n in ((1, "gemm"), (2, "add"))],
            "buffer_records": {"kernel_dispatch": kernels, "hip_api": calls}}


a = process(100, [(0, 10000 + i * 150000) for i in range(61)] +
            [(1, 10000 + i * 200000) for i in range(36)])
b = process(200, [(2, 10000 + i * 500000) for i in range(19)])
for name, processes in (("two", [a, b]), ("a", [a]), ("b", [b])):
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump({"rocprofiler-sdk-tool": processes}, file)
for p in (a, b):  # kernels alone
    p["buffer_records"]["hip_api"] = []
for name, processes in (("two.kernels", [a, b]), ("a.kernels", [a])):
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump({"rocprofiler-sdk-tool": processes}, file)
END
python3 draw.py

says() { # says FILE: the verdict, without the ops that only a build with Lua knows
	tl-report "$1" --width 200 2>/dev/null |
		awk -v RS= '/ ms of the process|-bound: / { print $0 "\n" }' | tr '\n' ' ' |
		sed "s/ GEMM is [0-9.]* % of kernel time\.//; s/ can't tell why: [^.]*\./ no verdict./"
}
# from the first call, 9 us before a kernel, to the last kernel's end; 7 kernels of
# process 200 run while the other's don't
is 'how busy each is' "$(says two.json)" \
	'Launch-bound: host work is 89.8 % of 9.019 ms with 60 inferred steps (most: between ops 7.271 ms). 91 of 116 GPU events were launched to an idle GPU: 10.0 us of work per launch and a launch every 100.0 us (medians). The 3 GPUs are busy for 2.1 to 6.8 % of the window, GPU 2 least. Processes 100 and 200 are busy for 9.4 and 2.1 % of the window.  '
is 'one process, two GPUs' "$(says a.json)" \
	'Launch-bound: host work is 90.6 % of 9.019 ms with 60 inferred steps (most: between ops 7.404 ms). 84 of 97 GPU events were launched to an idle GPU: 10.0 us of work per launch and a launch every 100.0 us (medians). GPUs 0 and 1 are busy for 6.8 and 4.0 % of the window.  '
summary() { # summary PART OPTION...: names, before and after, and shares
	part=$1
	shift
	tl-report --format ndjson "$@" 2>/dev/null | jq -r "select(.part == \"$part\") |
		[.name, .before_ns, .after_ns, ((.percent // 0) * 10 | round)] | map(. // \"-\") | @tsv"
}
# 61 and 36 kernels of 10 us in 9.019 ms
is 'the sheet has the shares of the verdict' "$(summary gpu a.json)" "$(printf '0\t-\t-\t68\n1\t-\t-\t40')"
! command -v tl-diff >/dev/null || is 'kernels of one side, computation of the other' \
	"$(summary timeline a.kernels.json --vs a.json | cut -f 1-3 | grep -e kernels -e comput -e communication)" \
	"$(printf 'kernels\t850000\t-\ncomputation\t-\t850000\nexposed communication\t-\t0')"
is 'fewer than 20 launches' "$(says b.json)" \
	'Host-bound: host work is 97.9 % of 9.010 ms (between ops 8.658 ms).  '
is 'kernels alone: shares of the time of the processes' "$(says two.kernels.json)" \
	'10.000 ms of the processes, start and end included: 9.2 % kernels, 90.8 % idle; no verdict. The 3 GPUs are busy for 1.9 to 6.1 % of the window, GPU 2 least. Processes 100 and 200 are busy for 8.5 and 1.9 % of the window.  '
is 'of one' "$(says a.kernels.json)" \
	'10.000 ms of the process, its start and end included: 8.5 % kernels, 91.5 % idle; no verdict. GPUs 0 and 1 are busy for 6.1 and 3.6 % of the window.  '
is 'and so is the bar' "$(tl-report a.kernels.json 2>/dev/null | grep '^2 GPUs together')" \
	'2 GPUs together, start to end of the process: 10.000 ms, busy if any is'
for name in two a b; do
	tl-report $name.json -d $name
done
is 'and sheets of each' \
	"$(find two a b -name 'gpu_timeline*' | sort | tr '\n' ' ')" \
	'a/gpu_timeline.csv a/gpu_timeline_by_agent.csv b/gpu_timeline.csv two/gpu_timeline.csv two/gpu_timeline_by_agent.csv two/gpu_timeline_by_process.csv '
is 'a process in the time of all' \
	"$(grep -e kernel -e total -e idle two/gpu_timeline_by_process.csv)" \
	'100,total_time,10,100.0
100,kernel,0.85,8.5
100,idle,9.15,91.5
200,total_time,10,100.0
200,kernel,0.19,1.9
200,idle,9.81,98.1'
is 'kernels of each process and GPU' \
	"$(rows 'tl-kernels --by pid -c pid,dev,name,count,dur_ns_sum,pct_of_kernels two.json' | sed 's/\.[0-9]*\././g')" \
	'100 0 gemm 61 610000 52.100 1 add 36 360000 31.200 2 gemm 19 190000 16.'
is 'calls of each process' "$(rows 'tl-ops --by pid -c pid,count,direct_ns_sum two.json')" \
	'100 97 970000.200 19 190000.'
is 'the same in the report' "$(cut -d, -f 1-4 two/kernels_by_pid.csv | sed 1d | tr '\n' ' ')" \
	'100,0,gemm,61 100,1,add,36 200,2,gemm,19 '
ok 'of one process and GPU there is none' test ! -e b/kernels_by_pid.csv
# two processes of PyTorch in one trace: the one that launched
{
	for p in 1 2; do
		ev cpu_op mm $p 0 100 | sed "s/\"pid\":[0-9]*/\"pid\":1$p/"
		ev cuda_runtime cudaLaunchKernel $p 10 1 "\"correlation\":$p" |
			sed "s/\"pid\":[0-9]*/\"pid\":1$p/"
		ev kernel k 7 $((100 * p)) $((10 * p)) \
			"\"device\":0,\"stream\":7,\"correlation\":$p"
	done
	ev kernel stray 7 500 5 '"device":0,"stream":7,"correlation":99'
} | trace >torch.json
is 'who launched' "$(rows 'tl-kernels --by pid -c pid,dev,name,dur_ns_sum torch.json')" \
	'12 0 k 20000.11 0 k 10000. 0 stray 5000.'
is 'ops of each' "$(rows 'tl-ops --by pid -c pid,count,direct_ns_sum torch.json')" '12 1 20000.11 1 10000.'
is 'their time on the host' \
	"$(rows 'tl-ops --clock cpu --by pid -c pid,cpu_total_ns torch.json')" '11 100000.12 100000.'
is 'a GPU from its first event to its last' \
	"$(tl-timeline --by dev two.json --format csv | grep -e kernel -e total)" \
	'0,total_time,9010000,100.0
0,kernel,610000,6.770255271920089
1,total_time,7010000,100.0
1,kernel,360000,5.1355206847360915
2,total_time,9010000,100.0
2,kernel,190000,2.108768035516093'
is '--by pid' "$(tl-timeline --by pid two.json --format csv | grep -e pid -e busy)" \
	'pid,type,time_ns,percent
100,busy_time,850000,8.5
200,busy_time,190000,1.9'
is 'a GPU of PyTorch is of no process' \
	"$(tl-gen --seed 3 | tl-timeline --by pid -c pid,type,time_ns --no-header | head -n 1 | cut -f 1)" ''

for form in run_results.json run_kernel_trace.csv run.pftrace; do
	rm -rf run
	mkdir run
	python3 "$ROOT/tests/oracle/rocprof_forms.py" 2 run
	tl-report --width 200 run/$form | grep -o 'GPUs.*% of the window' >$form.says
done
like 'two GPUs in each form' "$(cat run_results.json.says)" \
	'^GPUs 0 and 1 are busy for [0-9.]* and [0-9.]* % of the window$'
same 'CSV' run_kernel_trace.csv.says run_results.json.says
# pftrace numbers agents differently
is 'pftrace' "$(sed 's/.*busy//' run.pftrace.says)" \
	"$(sed 's/.*busy//' run_results.json.says)"
done_testing
