#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report: what the verdict says of made-up traces, and what it may not say.
. tests/cli/lib.sh

# ---- steps of several kinds, whose mean is the time of none ----

# steps WALL_US:WAIT_US...: a trace of such ProfilerSteps, each with data loading for
# WAIT_US, then an op whose kernel runs to 10 us before the step's end; N*WALL_US:WAIT_US:
# N of them; of RANK, if set
cat >steps.py <<'END'
import json, os, sys
events, at = [], 0
def add(cat, name, ts, dur, tid, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur,
                   "pid": 1, "tid": tid, "args": args})
words = [w.rpartition("*") for w in sys.argv[1:]]
for i, step in enumerate([step for n, _, step in words for _ in range(int(n or 1))]):
    wall, wait = map(int, step.split(":"))
    add("user_annotation", "ProfilerStep#%d" % i, at, wall, 1)
    if wait:
        add("user_annotation", "data_loading", at, wait, 1)
    add("cpu_op", "aten::mm", at + wait, 40, 1)
    add("cuda_runtime", "cudaLaunchKernel", at + wait + 20, 5, 1, correlation=i + 1)
    add("kernel", "k", at + wait + 30, wall - wait - 40, 7, correlation=i + 1, device=0, stream=7)
    at += wall
doc = {"traceEvents": events}
if "RANK" in os.environ:
    doc["distributedInfo"] = {"rank": int(os.environ["RANK"]), "world_size": 2}
json.dump(doc, sys.stdout)
END
steps() {
	python3 steps.py "$@"
}
verdict() { # verdict FILE...: its line
	tl-report --width 9999 "$@" 2>err | sed -n '/-bound/p'
}

none() { # none WHAT FILE: nothing is said of kinds of its steps
	is "$1" "$(verdict "$2" | grep -c 'steps* of \|steps* takes* ')" 0
}

# 3 x 1 ms, of which 40 us idle, and 10 ms with 8.04 idle: 3/13 and 10/13 of 13 ms
steps 1000:0 1000:0 10000:8000 1000:0 >two.json
is 'each kind with its number, time and share' "$(verdict two.json | sed 's/ of the rest\..*//')" \
	'Data-bound: data loading is 61.5 % of 13.000 ms in 4 steps: data_loading (8.000 ms: uid 9). 1 step of 10.000 ms takes 76.9 % of step time and leaves the GPU idle for 80.4 % of it (mostly data). 3 steps of 1.000 ms take 23.1 % of step time and leave the GPU idle for 4.0 % of it. One gap takes 8.040 ms, before GPU event 12 (data, uid 9); the GPU is busy for 97.6 %'
steps 1000:0 1000:0 1999:0 1000:0 >alike.json
none 'less than twice as long is of the same kind' alike.json
steps 1000:500 2000:1100 4000:3000 8000:7000 >four.json
none 'more than three are a spread' four.json
steps 1000:600 1000:600 10000:6500 10000:6500 >same.json
none 'the GPU idles alike in all of them' same.json
# of 20 x 1 and 2 x 20 ms, 60 us are 0.1 %, and one step of 23 under a tenth
steps 60:20 '20*1000:200' 20000:19000 20000:19000 >short.json
like 'one that takes next to no time is not described' "$(verdict short.json)" \
	' in 23 steps: .*\. 2 steps of 20\.000 ms take 66\.6 % .* 20 steps of 1\.000 ms take 33\.3 % of step time and leave the GPU idle for 24\.0 % of it \(mostly data\)\. [^0-9]'
steps 200:0 20000:12000 20000:12000 >one.json
none 'next to all time in one kind' one.json
steps 1000:500 1010:500 20000:19000 20400:19000 >about.json
like 'the median of times that differ' "$(verdict about.json)" \
	' 2 steps of about 20\.200 ms take 95\.3 % .* 2 steps of about 1\.005 ms take '
for r in 0 1; do
	RANK=$r steps 1000:700 10000:7000 >r$r.json
done
like 'of several ranks all steps' "$(verdict r0.json r1.json)" \
	'\. Over 2 ranks, 2 steps take 1\.000 ms, 2 take 10\.000 ms\. '
like 'in the sheet, too' "$(tl-report two.json --format ndjson 2>err)" \
	'"name":"Data-bound: .*4 steps: .* 1 step of 10\.000 ms takes 76\.9 % '

# where the GPU bounds the steps: from the end of one's work to that of the next's
steps 1000:0 1000:0 4000:0 1000:0 4000:0 >gpu.json
like 'steps by their time on the GPU' "$(verdict gpu.json)" \
	'^GPU-bound: .* in 5 steps\. 2 steps take 1\.000 ms on the GPU, 2 take 4\.000 ms, 1 takes an unknown time\. '
steps 1000:0 100:0 '20*1000:0' 4000:0 4000:0 >less.json
like 'shorter than any kind' "$(verdict less.json)" \
	' 20 steps take 1\.000 ms on the GPU, 2 take 4\.000 ms, 1 takes less, 1 takes an unknown time\. '
steps '200*1000:0' 3000:0 '20*10000:0' >more.json
like 'neither shorter nor of a kind' "$(verdict more.json)" \
	' 199 steps take 1\.000 ms on the GPU, 20 take 10\.000 ms, 1 takes another time, 1 takes an unknown time\. '

# ---- copies between host and GPU, which the link limits ----

# copies WORK...: 4 calls of aten::copy_, with each WORK in turn: NAME=US+NAME=US...
cat >copies.py <<'END'
import json, sys
events = []
def add(cat, name, ts, dur, tid, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur,
                   "pid": 1, "tid": tid, "args": args})
for i in range(4):
    t = 1000 * i
    add("cpu_op", "aten::copy_", t, 20, 1, **{"Input Dims": [[1048576], [1048576], []],
        "Input type": ["float", "float", "Scalar"], "Input Strides": [[1], [1], []],
        "Concrete Inputs": ["", "", "False"]})
    for k, work in enumerate(sys.argv[1 + i % (len(sys.argv) - 1)].split("+")):
        name, _, us = work.partition("=")
        corr = 10 * i + k + 1
        add("cuda_runtime", "cudaMemcpyAsync", t + 4 + 4 * k, 3, 1, correlation=corr)
        add("gpu_memcpy" if name.startswith("Memcpy") else "kernel", name, t + 10 + 300 * k,
            int(us or 990), 7, correlation=corr, device=0, stream=7, bytes=4194304)
json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
           "traceEvents": events}, sys.stdout)
END
if command -v tl-roofline >/dev/null; then
	for name in 'Memcpy HtoD (Pageable -> Device)' 'Memcpy DtoH (Device -> Pinned)'; do
		python3 copies.py "$name" >copies.json
		is "$name: the link is its roof, at a rate that is not known" \
			"$(tl-roofline -c roofline_bound,roof,pct_roofline_mean,lost_ns,roofline_ns,gflop \
				--no-header copies.json)" "$(printf 'LINK_BOUND\t\t\t\t\t0.001048576')"
		tl-report --width 999 copies.json >screen 2>err
		is "$name: no share of the memory's roof" \
			"$(grep -c 'of the memory roof\|lost to\|fuse' screen)" 0
		is "$name: findings are about copies" "$(tl-advise --no-header -c rule copies.json 2>err |
			grep -c 'roof\|fusion\|compute')" 0
	done
	python3 copies.py 'Memcpy DtoD (Device -> Device)' >copies.json
	is 'on the GPU it is the memory' "$(tl-roofline -c roofline_bound --no-header copies.json)" MEMORY_BOUND
	# link WORK...: rows with their roof, whatever their order
	link() {
		python3 copies.py "$@" >copies.json
		tl-roofline -c roofline_bound,operation_count,kernel_ns_sum --no-header copies.json | sort | tr '\t\n' ' ,'
	}
	for way in HtoD DtoH; do
		is "$way: a row of its own beside copies on the GPU" "$(link "Memcpy $way=900" 'Memcpy DtoD=500')" \
			'LINK_BOUND 2 1800000,MEMORY_BOUND 2 1000000,'
		is 'whichever comes first' "$(link 'k=500' "Memcpy $way=900")" \
			'LINK_BOUND 2 1800000,MEMORY_BOUND 2 1000000,'
		quiet 'no saving counts twice' 'tl-advise -o /dev/null copies.json'
		is "$way: few of an op's time keep its roof" "$(link "k=200+Memcpy $way=100+k=200")" \
			'MEMORY_BOUND 4 2000000,'
		is 'most of it does not' "$(link "k=60+Memcpy $way=290")" 'LINK_BOUND 4 1400000,'
		is '--explain gives one bound and no roof' \
			"$(tl-roofline --explain 0 copies.json | grep -E '^(bound|roof|memory|compute {3}|of the)' | sed 's/:.*//')" \
			'bound            LINK_BOUND'
	done
fi

# ---- GPU work that was launched outside ops ----

# outside US: an op's kernel of 500 us, and one of US launched outside any op
outside() {
	printf '{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":0,"dur":20,"pid":1,"tid":1},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":5,"dur":5,"pid":1,"tid":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","ts":20,"dur":500,"pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":30,"dur":5,"pid":1,"tid":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","ts":520,"dur":%s,"pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":2}}]}\n' "$1"
}
if command -v tl-ops >/dev/null; then
	outside 300 >some.json
	like 'is no op time' "$(verdict some.json)" ' GEMM is 62\.5 % of launched GPU time\.$'
	outside 4 >little.json
	like 'but for less than 1 %' "$(verdict little.json)" ' GEMM is 99\.2 % of op time\.$'
fi
if command -v tl-roofline >/dev/null; then
	like 'its share' "$(tl-report --width 999 some.json)" \
		'^  - 37\.5 % of launched GPU time is kernels launched outside any op$'
fi

# ---- databases, each with one thing that takes the time ----

# share NS WHOLE: as it is shown
share() {
	awk "BEGIN { printf \"%.1f %%\", 100 * $1 / $2 }"
}
# says SCHEMA CAUSE: whether the verdict is that of the planted cause, else the verdict
says() {
	rm -f run.db
	# shellcheck disable=SC2046 # three numbers
	set -- "$@" $(PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/planted_databases.py" "$1" "$2" run.db)
	tl-report --width 9999 run.db 2>err | grep -e '-bound:' -e 'start-up:' >screen
	part="$(share "$3" "$4") of $(awk "BEGIN { printf \"%.3f\", $4 / 1e6 }") ms"
	took="$(awk "BEGIN { printf \"%.3f\", $3 / 1e6 }") ms: $5 calls"
	case $2 in
	allocation) want="^Allocation-bound: allocation is $part: (cuda|hip)Free \\($took" ;;
	sync) want="^Sync-bound: blocking calls are $part: (cuda|hip)Memcpy \\($took" ;;
	start) want="^Recorded during start-up: start-up is $part: (cu|hip)ModuleLoadData \\($took" ;;
	gpu) want="^GPU-bound: GPU work is $part; no ops recorded\\." ;;
	copy) want="^Copy-bound: exposed copies are $part\\." ;;
	esac
	grep -Eq "$want" screen || cat screen
}
printf 'SQLite format 3\000' >none
if python3 -c 'import sqlite3' 2>/dev/null && ! tl-decode none 2>&1 | grep -q libsqlite3; then
	causes='allocation copy'
	[ -z "${TL_SLOW-}" ] || causes='allocation sync start gpu copy'
	for schema in nsys rpd rocpd; do
		for cause in $causes; do
			is "$schema: $cause" "$(says "$schema" "$cause")" ''
		done
	done
fi

# ---- kernels alone: the path is the GPU's ----

cat >alone.json <<'END'
{"traceEvents":[
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}},
{"ph":"M","name":"thread_name","pid":0,"tid":9,"args":{"name":"stream 9"}},
{"ph":"X","cat":"kernel","name":"a","ts":0,"dur":100,"pid":0,"tid":7,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"b","ts":150,"dur":200,"pid":0,"tid":7,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"c","ts":400,"dur":300,"pid":0,"tid":7,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"d","ts":500,"dur":100,"pid":0,"tid":9,"args":{"device":0,"stream":9}}]}
END
path() { # path FILE: the sheet's named columns
	rm -rf sheets
	tl-report "$1" -d sheets 2>err
	python3 -c 'import csv
for r in csv.DictReader(open("sheets/critical_path.csv")):
    print(*(r[c] for c in ("kind", "name", "thread", "time_ns")))'
}
is 'time on the path by kernel and GPU stream' "$(path alone.json | grep ^kernel)" 'kernel c stream 7 300000
kernel b stream 7 200000
kernel a stream 7 100000'
grep -v thread_name alone.json >nameless.json
is 'and if no metadata names them' "$(path nameless.json)" "$(path alone.json)"
is 'and the gaps between them' "$(path alone.json | grep -v ^kernel |
	awk '{ s += $NF } END { print s }')" 100000
is 'where the host is recorded by bound' \
	"$(path two.json >/dev/null 2>&1; head -n 1 sheets/critical_path.csv | cut -d, -f 1-3)" bound,kind,time_ns

done_testing
