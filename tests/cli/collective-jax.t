#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective on JAX: ranks of processes with several GPUs, details in XLA's
# instructions, the spec's worked example, async pairs, TPUs.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tab=$(printf '\t')

# xplane FILE: a stream of one source. Lines of standard input:
#	fact KEY VALUE		VALUE is JSON
#	module ID NAME		what follows are its instructions, a JSON object each
#	GPU STREAM NAME TS DUR [INSTRUCTION [ID [CATEGORY]]]
cat >xplane.py <<'E'
import json, sys
facts, modules, events = {"format": "xplane"}, {}, []
for line in sys.stdin:
    w = line.split()
    if w[0] == "fact":
        facts[w[1]] = json.loads(w[2])
    elif w[0] == "module":
        to = modules.setdefault(w[1], {"module": w[2], "instructions": []})
    elif line[0] == "{":
        to["instructions"].append(json.loads(line))
    else:
        keys = "hlo_op", "program_id", "hlo_category"
        events.append({"id": len(events), "src": 0, "kind": "kernel",
            "cat": "kernel", "name": w[2], "ts": int(w[3]), "dur": int(w[4]),
            "pid": int(w[0]) + 1, "tid": int(w[1]), "dev": int(w[0]),
            "gpu_stream": int(w[1]), "args": dict(zip(keys, w[5:]))})
out = [{"tl": 1, "marks": [], "prov": []},
    {"source": {"src": 0, "final": False, "facts": facts}},
    {"section": "events"}] + events
for k, v in modules.items():
    out.append({"meta": {"src": 0, "after": True, "key": "hlo " + k, "value": v}})
out.append({"end": {"events": len(events), "sources": 1, "marks": []}})
with open(sys.argv[1], "w") as f:
    for o in out:
        print(json.dumps(o), file=f)
E
xplane() {
	python3 xplane.py "$1"
}
# column TABLE COLUMNS FILE...: without header
column() {
	t=$1 c=$2
	shift 2
	tl-collective --table "$t" -c "$c" --no-header "$@" 2>err
}
three() { # three decimals of all numbers
	sed 's/\(\.[0-9]\{3\}\)[0-9]*/\1/g'
}

# ---- the specification's example: 4 hosts, 8 GPUs each ----

operands='' shape=''
for x in 48 8 8; do
	x="bf16[1,96,$x,128]{3,2,0,1}"
	operands="$operands${operands:+,}{\"shape\":\"$x\"}"
	shape="$shape${shape:+,}$x"
done
gather="{\"name\":\"all-gather\",\"opcode\":\"all-gather-start\",\"operands\":[$operands],\
\"shape\":\"(($shape),($(echo "$shape" | sed 's/1,96/1,768/g')))\",\
\"groups\":[[0,1,2,3,4,5,6,7],[8,9,10,11,12,13,14,15],[16,17,18,19,20,21,22,23],[24,25,26,27,28,29,30,31]]}"
node() { # HOST FILE START+DUR...: one per GPU
	host=$1 file=$2 gpu=0
	shift 2
	{
		echo "fact hostname \"node_$host\""
		for x; do
			echo "$gpu 1 ncclDevKernel_AllGather ${x%+*} ${x#*+} all-gather 5"
			gpu=$((gpu + 1))
		done
		echo 'module 5 jit_train_step'
		echo "$gather"
	} | xplane "$file"
}
mkdir example
node 0 example/host0.ndjson 12456123+485123 12421567+492856 12389234+507234 \
	12578891+412785 12367892+523467 12345678+538912 12298456+556891 12467789+445623
node 1 example/host1.ndjson 13678234+678234 13524567+712456 14234891+426891 \
	13789123+642173 13587456+695587 13498234+734912 14156789+458921 13712345+689345
node 2 example/host2.ndjson 15123456+467234 15098234+471856 15067891+489123 \
	15089567+493567 15034789+524789 15045234+518234 14987891+556891 15012678+541678
node 3 example/host3.ndjson 16789234+534789 16687567+587234 16734891+551456 \
	16823456+478912 16745678+523678 16556234+634567 16712891+512891 16678123+567123

is 'the example: bandwidth as the reference has it' "$(column hlo_bandwidth \
	collective,instructions,slices,measured,both_ways_gib_per_s_mean,both_ways_bus_gib_per_s_mean,in_mib_mean \
	example/host0.ndjson | three)" \
	"all-gather${tab}1${tab}1${tab}1${tab}49.681${tab}43.471${tab}1.5"
is 'a slice is the mean of its groups' "$(column hlo_bandwidth \
	slices,measured,both_ways_gib_per_s_mean,both_ways_gib_per_s_std example | three)" \
	"1${tab}1${tab}46.108${tab}0.0"
is 'by NCCL: what comes out over the shortest' "$(column nccl_implicit_sync \
	collective_id,group_size,in_bytes,out_bytes,latency_ns,algo_gib_per_s example |
	head -n 2 | three)" \
	"0-7_0${tab}8${tab}1572864${tab}12582912${tab}412785${tab}28.389
8-15_0${tab}8${tab}1572864${tab}12582912${tab}426891${tab}27.451"
is 'at its best: what comes out over the shortest' "$(column hlo_latency \
	instruction,latency_ns,buffer_bytes,effective_gb_per_s example | three)" \
	"all-gather${tab}412785${tab}12582912${tab}30.482"
is 'ranks count on from host to host' "$(column nccl_clocks rank,hostname,gpu example |
	sed -n '1p;9p;32p')" "\
0${tab}node_0${tab}0
8${tab}node_1${tab}0
31${tab}node_3${tab}7"
is 'module and instruction' "$(column nccl_long module,instruction example | sort -u)" \
	"jit_train_step${tab}all-gather"

mkdir gap
cp example/host0.ndjson gap/rank0.ndjson
cp example/host2.ndjson gap/rank2.ndjson
is 'a host that was not given keeps its ranks' "$(column nccl_groups group gap)" '0-7
16-23'
reports 3 ranks-missing 'tl-collective --table nccl_groups gap'
is '... and is missed' "$(grep -c '8-15,24-31' err)" 1
reports 3 ranks-missing-by-order \
	'tl-collective --table nccl_groups example/host0.ndjson example/host2.ndjson'
xplane unsized.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 all-reduce.1 7
1 1 ncclDevKernel_AllReduce 1010 90 all-reduce.1 7
module 7 jit_u
{"name":"all-reduce.1","opcode":"all-reduce","groups":[[0,1]]}
E
is 'a size that is not known is no 0' \
	"$(column hlo_bandwidth collective,measured,in_mib_mean unsized.ndjson)" \
	"all-reduce${tab}0${tab}"

echo cut >cut.ndjson
is 'an input that cannot be read keeps its place in the order' "$(column nccl_groups group \
	example/host0.ndjson cut.ndjson example/host2.ndjson)" '0-7
16-23'
is 'a process without a clock is named once' "$(tl-merge --align collective \
	example/host0.ndjson 2>&1 >/dev/null | grep -c 'shows its clock')" 1

xplane idle.ndjson <<'E'
1 1 gemm 100 10
4 1 gemm 100 10
E
is 'GPUs of a process that did nothing are not missing' \
	"$(tl-collective --table nccl_clocks -c rank --no-header idle.ndjson 2>&1)" "1
4"

mkdir single
for r in 0 1 2 3; do
	xplane single/rank$r.ndjson <<E
$r 1 ncclDevKernel_AllReduce 10$r 100 all-reduce.1 5
module 5 jit_f
{"name":"all-reduce.1","opcode":"all-reduce","shape":"f32[]","operands":[{"name":"a","shape":"f32[]"}],"groups":[[0,1,2,3]]}
E
done
is 'a process with one GPU is one rank' "$(column nccl_implicit_sync \
	group,ranks_present,start_skew_ns,in_bytes single)" "0-3${tab}4${tab}3${tab}4"

# ---- whose number is whose ----

nodes() { # OPERAND...: ranks of hosts
	tl-collective --table nccl_clocks -c rank,hostname,gpu --no-header "$@" 2>err
}
mkdir order logs
cat >order.in <<'E'
fact hostname "host0"
0 1 ncclDevKernel_AllReduce 300 100 all-reduce.1 5
1 1 ncclDevKernel_AllReduce 300 100 all-reduce.1 5
E
for h in 2 10; do
	xplane order/host$h.ndjson <<E
fact hostname "host$h"
0 1 ncclDevKernel_AllReduce 1$h 100 all-reduce.1 5
1 1 ncclDevKernel_AllReduce 1$h 100 all-reduce.1 5
E
done
is 'as a shell lists them, host2 is before host10' "$(nodes order/host10.ndjson order/host2.ndjson)" "\
0${tab}host2${tab}0
1${tab}host2${tab}1
2${tab}host10${tab}0
3${tab}host10${tab}1"
xplane order.ndjson <order.in
is '... but an order of their own counts' "$(nodes order/host2.ndjson order.ndjson order/host10.ndjson |
	cut -f 2 | uniq | tr '\n' ' ')" 'host2 host0 host10 '
printf 'export NODE_RANK="1"\nlocalhost:80\nhostname: host2.example.com\n' >logs/a.log
echo 'Host: host10' >logs/job_node_rank_0.log
echo 'NODE_RANK=7 no host' >logs/b_c.log
is 'nodes by the logs of the job' "$(nodes --node-logs logs order | cut -f 1,2)" "\
0${tab}host10
1${tab}host10
2${tab}host2
3${tab}host2"
cp order/host2.ndjson first.ndjson
is '... by the name that the trace has' "$(nodes --node-logs logs first.ndjson order/host10.ndjson |
	cut -f 1,2 | tail -n 1)" "3${tab}host2"
refuses 1 'no log has' 'tl-collective --node-logs logs/b_c.log order'
echo 'NODE_RANK: 5000000 Running on host9' >many.log
refuses 1 'NODE_RANK 5000000: ' 'tl-collective --node-logs many.log order'
echo 'NODE_RANK: 5 Running on host10' >logs/z.log
refuses 1 'host10 is node 5, in another log 0' 'tl-collective --node-logs logs order'

mkdir nothing
cp order/host2.ndjson nothing/rank0.ndjson
cp order/host10.ndjson nothing/rank2.ndjson
xplane nothing/rank1.ndjson <<'E'
fact hostname "no_gpu_work"
E
reports 3 process-idle 'tl-collective --table nccl_groups nothing'
is 'a process without GPU work has GPUs too' "$(nodes nothing | cut -f 1,2)" "\
0${tab}host2
1${tab}host2
4${tab}host10
5${tab}host10"

# ---- the second of two hosts is 10 ms ahead; most collectives stay in one ----

for h in 0 1; do
	xplane clock$h.ndjson <<E
fact rank 0
fact rank_from "order"
fact epoch 1
0 1 ncclDevKernel_AllReduce ${h}5000000 100000 all-reduce.1 5
1 1 ncclDevKernel_AllReduce ${h}5000000 100000 all-reduce.1 5
0 1 ncclDevKernel_AllGather ${h}6000000 100000 all-gather.1 5
1 1 ncclDevKernel_AllGather ${h}6000000 100000 all-gather.1 5
0 1 ncclDevKernel_AllGather ${h}7000000 100000 all-gather.1 5
1 1 ncclDevKernel_AllGather ${h}7000000 100000 all-gather.1 5
0 1 ncclDevKernel_AllReduce ${h}8000000 100000 all-reduce.1 5
1 1 ncclDevKernel_AllReduce ${h}8000000 100000 all-reduce.1 5
0 1 ncclDevKernel_AllReduce ${h}9000000 100000 all-reduce.1 5
1 1 ncclDevKernel_AllReduce ${h}9000000 100000 all-reduce.1 5
module 5 jit_f
{"name":"all-reduce.1","opcode":"all-reduce","shape":"f32[]","operands":[{"shape":"f32[]"}],"groups":[[0,1,2,3]]}
{"name":"all-gather.1","opcode":"all-gather","shape":"f32[2]","operands":[{"shape":"f32[1]"}],"groups":[[0,1],[2,3]]}
E
done
is 'GPUs of a process have one clock' "$(column nccl_clocks process,offset_ns clock0.ndjson clock1.ndjson)" "\
0${tab}0
0${tab}0
1${tab}10000000
1${tab}10000000"
is '... which tl-merge takes out' "$(tl-merge --align collective clock0.ndjson clock1.ndjson |
	tl-cat | grep -o '"base":"[^"]*"' | uniq)" '"base":"-10000000"'

# ---- details in instructions ----

# Groups 0,2 and 1,3 (a transposed iota); a chain 0>1>2 and a lone 3.
xplane kinds.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 all-reduce-start.1 7
1 1 ncclDevKernel_AllReduce 1010 90 all-reduce-start.1 7
2 1 ncclDevKernel_AllReduce 1020 80 all-reduce-start.1 7
3 1 ncclDevKernel_AllReduce 1030 70 all-reduce-start.1 7
0 1 ncclDevKernel_ReduceScatter 2000 100 rs-start 7
1 1 ncclDevKernel_ReduceScatter 2010 90 rs-start 7
2 1 ncclDevKernel_ReduceScatter 2020 80 rs-start 7
3 1 ncclDevKernel_ReduceScatter 2030 70 rs-start 7
0 1 ncclDevKernel_SendRecv 3000 100 all-to-all.2 7
1 1 ncclDevKernel_SendRecv 3010 90 all-to-all.2 7
2 1 ncclDevKernel_SendRecv 3020 80 all-to-all.2 7
3 1 ncclDevKernel_SendRecv 3030 70 all-to-all.2 7
0 2 ncclDevKernel_SendRecv 4000 100 collective-permute-start 7
1 2 ncclDevKernel_SendRecv 4010 90 collective-permute-start 7
2 2 ncclDevKernel_SendRecv 4020 80 collective-permute-start 7
3 2 ncclDevKernel_SendRecv 4030 70 collective-permute-start 7
module 7 jit_g
{"name":"all-reduce-start.1","opcode":"all-reduce-start","shape":"(f8e4m3fn[3,5]{1,0:T(8,128)},bf16[4])","operands":[{"name":"a","shape":"f8e4m3fn[3,5]{1,0:T(8,128)}"},{"name":"b","shape":"bf16[4]"}],"groups":[[0,2],[1,3]]}
{"name":"rs-start","opcode":"async-start","shape":"((f32[96,384]),f32[48,384])","operands":[{"name":"a","shape":"f32[96,384]{1,0}"}],"body":[{"opcode":"parameter","shape":"f32[96,384]"},{"opcode":"reduce-scatter","shape":"f32[48,384]","operands":[0],"groups":[[0,1],[2,3]],"root":true}]}
{"name":"all-to-all.2","opcode":"all-to-all","op_name":"jit(g)/moe/all_to_all","source":"moe.py:7","shape":"s4[33]","operands":[{"name":"a","shape":"s4[33]{0}"}],"groups":[[3,1,0,2]]}
{"name":"collective-permute-start","opcode":"collective-permute-start","shape":"(pred[8],pred[8],u32[],u32[])","operands":[{"name":"a","shape":"pred[8]"}],"pairs":[[0,1],[1,2],[3,3]]}
E
is 'types, groups and sizes' "$(column hlo_collectives \
	instruction,collective,dtype,group_size,in_bytes,out_bytes kinds.ndjson | sort)" "\
all-reduce-start.1${tab}all-reduce${tab}mixed${tab}2${tab}23${tab}23
all-to-all.2${tab}all-to-all${tab}s4${tab}4${tab}17${tab}17
collective-permute-start${tab}collective-permute${tab}pred${tab}1${tab}8${tab}8
collective-permute-start${tab}collective-permute${tab}pred${tab}3${tab}8${tab}8
rs-start${tab}reduce-scatter${tab}f32${tab}2${tab}147456${tab}73728"
is 'where the program has it' "$(column hlo_collectives op_name,source kinds.ndjson |
	sort | tail -n 1)" "jit(g)/moe/all_to_all${tab}moe.py:7"
is 'groups' "$(column nccl_groups group,collectives kinds.ndjson | sort)" "\
0,1${tab}1
0,2${tab}1
0-2${tab}1
0-3${tab}1
1,3${tab}1
2,3${tab}1
3${tab}1"
# 147456 bytes in 90 ns, and in 70 ns: 1.5 times that both ways
is 'reduce-scatter counts what goes in' "$(column hlo_bandwidth \
	collective,both_ways_gib_per_s_max kinds.ndjson | awk '$1 == "reduce-scatter" {
	printf "%.3f\n", $2 / ((147456 * 1.5 / 90 + 147456 * 1.5 / 70) / 2 * 1e9 / 2^30)}')" 1.000

# ---- sizes and bands ----

xplane bands.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 3 a 7
0 1 ncclDevKernel_AllReduce 2000 1 a 7
0 1 ncclDevKernel_AllReduce 3000 2 b 7
0 1 ncclDevKernel_AllReduce 4000 3 c 7
0 1 ncclDevKernel_AllReduce 5000 9 d 7
module 7 jit_g
{"name":"a","opcode":"all-reduce","shape":"s8[400]","operands":[{"shape":"s8[400]"}],"groups":[[0]]}
{"name":"b","opcode":"all-reduce","shape":"s8[400]","operands":[{"shape":"s8[400]"}],"groups":[[0]]}
{"name":"c","opcode":"all-reduce","shape":"s8[149]","operands":[{"shape":"s8[149]"}],"groups":[[0]]}
{"name":"d","opcode":"all-reduce","groups":[[0]]}
E
is 'by size, without what has none' "$(column hlo_sizes \
	buffer_bytes,instructions,effective_gb_per_s_mean,effective_gb_per_s_std,latency_ns_sum,pct_latency \
	bands.ndjson | three)" "\
149${tab}1${tab}49.666${tab}${tab}3${tab}50.0
400${tab}2${tab}300.0${tab}141.421${tab}3${tab}50.0"
is 'by band' "$(column hlo_rates gb_per_s,instructions,pct_latency bands.ndjson | three)" "\
0-50${tab}1${tab}50.0
50-100${tab}0${tab}0.0
100-200${tab}0${tab}0.0
200-300${tab}1${tab}33.333
300-400${tab}0${tab}0.0
>=400${tab}1${tab}16.666"

# ---- exposed time ----

xplane exposed.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 all-reduce.1 7
0 2 fusion 900 150 fusion 7
0 2 fusion 1080 5 fusion 7
0 3 ncclDevKernel_AllReduce 1090 50 all-reduce.2 7
module 7 jit_g
{"name":"all-reduce.1","opcode":"all-reduce","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0]]}
{"name":"all-reduce.2","opcode":"all-reduce","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0]]}
E
is 'what computation hides is not exposed' "$(column nccl_long instruction,exposed_ns exposed.ndjson)" "\
all-reduce.1${tab}45
all-reduce.2${tab}50"
is '... in sums' "$(column hlo_collectives instruction,exposed_ns_sum,pct_exposed exposed.ndjson)" "\
all-reduce.1${tab}45${tab}45.0
all-reduce.2${tab}50${tab}100.0"

# ---- matching ----

# The two are on different streams and start in different order.
xplane swapped.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 all-reduce.1 7
0 2 ncclDevKernel_AllReduce 1001 100 all-reduce.2 7
1 1 ncclDevKernel_AllReduce 1005 100 all-reduce.1 7
1 2 ncclDevKernel_AllReduce 1004 100 all-reduce.2 7
module 7 jit_g
{"name":"all-reduce.1","opcode":"all-reduce","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0,1]]}
{"name":"all-reduce.2","opcode":"all-reduce","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0,1]]}
E
is 'runs of an instruction are matched in any order' "$(column nccl_implicit_sync \
	instruction,start_skew_ns,mismatch swapped.ndjson)" "\
all-reduce.1${tab}5${tab}false
all-reduce.2${tab}3${tab}false"
is '... as nccl_groups says' "$(column nccl_groups matched_by swapped.ndjson)" instruction

# A CUDA graph with one instruction that gathers and two that reduce.
xplane graph.ndjson <<'E'
0 1 ncclDevKernel_AllGather 1000 100 command_buffer_1 7
0 1 ncclDevKernel_AllReduce 2000 100 command_buffer_1 7
module 7 jit_g
{"name":"command_buffer_1","opcode":"command-buffer","calls":["all-gather.1","all-reduce.1","all-reduce.2"]}
{"name":"all-gather.1","opcode":"all-gather","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0]]}
{"name":"all-reduce.1","opcode":"all-reduce","shape":"f32[8]","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0]]}
{"name":"all-reduce.2","opcode":"all-reduce","shape":"f32[4]","operands":[{"name":"a","shape":"f32[4]"}],"groups":[[0]]}
E
is 'in a graph, what the kernel alone can be' "$(column nccl_long \
	collective,in_bytes graph.ndjson)" "\
all-gather${tab}32
${tab}"

# ---- TPU ----

xplane tpu.ndjson <<'E'
0 1 all-reduce 1000 100 all-reduce 9 all-reduce
1 1 all-reduce 1010 90 all-reduce 9 all-reduce
0 1 all-gather-start.1 2000 1 all-gather-start.1 9 all-gather-start
0 4 async-all-gather 2001 400 all-gather-start.1 9 all-gather-start
0 1 fusion 2100 200 fusion 9 loop fusion
0 1 all-gather-done.1 2301 100 all-gather-done.1 9 all-gather-done
1 1 all-gather-start.1 2000 1 all-gather-start.1 9 all-gather-start
1 4 async-all-gather 2001 410 all-gather-start.1 9 all-gather-start
1 1 all-gather-done.1 2100 311 all-gather-done.1 9 all-gather-done
module 9 jit_t
{"name":"all-gather-start.1","opcode":"all-gather-start","shape":"(f32[8],f32[16])","operands":[{"name":"a","shape":"f32[8]"}],"groups":[[0,1]]}
{"name":"all-gather-done.1","opcode":"all-gather-done","shape":"f32[16]","operands":[{"name":"all-gather-start.1","shape":"(f32[8],f32[16])"}]}
E
is 'TPU: from start to end, and what hides it' "$(column nccl_long \
	rank,collective,dur_ns,exposed_ns,in_bytes,out_bytes tpu.ndjson)" "\
0${tab}all-reduce${tab}100${tab}100${tab}${tab}
0${tab}all-gather${tab}400${tab}200${tab}32${tab}64
1${tab}all-reduce${tab}90${tab}90${tab}${tab}
1${tab}all-gather${tab}410${tab}410${tab}32${tab}64"

# Without a line of spans the core's start and end are joined.
grep -v async- tpu.ndjson >pairs.ndjson
is '... from its start to its end' "$(column nccl_long \
	rank,collective,ts_ns,dur_ns,exposed_ns,in_bytes pairs.ndjson | grep gather)" "\
0${tab}all-gather${tab}2000${tab}401${tab}201${tab}32
1${tab}all-gather${tab}2000${tab}411${tab}411${tab}32"

grep -v 'all-gather-done.*"dev": 1' pairs.ndjson | sed 's/"end".*/"end":{"events":6,"sources":1,"marks":[]}}/' >open.ndjson
reports 3 collectives-no-duration 'tl-collective --table nccl_long open.ndjson'

# ---- partials ----

tl-collective --partial -o example.tl example 2>err
for t in nccl_groups straggler_cause nccl_long nccl_implicit_sync \
	hlo_collectives hlo_bandwidth hlo_latency; do
	is "a partial gives the same $t" "$(tl-collective --table $t example.tl 2>&1)" \
		"$(tl-collective --table $t example 2>&1)"
done

# ---- made-up jobs: all output of tl-collective, against what was planted ----

planted() { # DIR OPTION...
	dir=$1
	shift
	python3 "$ROOT/tests/gen/xplane.py" -o "$dir" "$@" >/dev/null
	ok "planted: $*" python3 "$ROOT/tests/oracle/jax_collectives.py" "$dir"
}
planted late --hosts 8 --gpus 8 --steps 3 --layers 1 --late 13:2000000
is 'the late rank, in its own groups' "$(column nccl_groups group,late_rank,verdict late |
	grep host)" "\
5-61/8${tab}13${tab}host
8-15${tab}13${tab}host"
is 'its clock is as good as that of the others' \
	"$(column nccl_clocks process,offset_ns late | awk '$2 > 3000 || $2 < -3000')" ''
planted iota --hosts 2 --gpus 4 --steps 1 --layers 1 --iota --ps --graphs --gz
planted tpu --hosts 2 --gpus 2 --steps 1 --layers 1 --tpu --no-steps
python3 "$ROOT/tests/gen/xplane.py" -o dump --hosts 2 --gpus 4 --steps 2 --layers 2 --iota --dump >/dev/null
is 'without HLO and dumps no sizes' "$(column nccl_long in_bytes dump | sort -u)" ''
ok 'with dumps decodes' tl-decode --xla-dump dump -d undumped dump/host0.xplane.pb dump/host1.xplane.pb
ok 'planted: all of it from dumps' python3 "$ROOT/tests/oracle/jax_collectives.py" dump undumped
is '... all sizes' "$(column hlo_collectives instruction,in_bytes,out_bytes,op_name undumped |
	grep reduce-scatter)" \
	"reduce-scatter-start${tab}2097152${tab}1048576${tab}jit(train_step)/update/reduce_scatter"
tl-report -d report late/*.pb >/dev/null 2>&1
is 'in a report of several hosts' "$(tail -n +2 report/hlo_collectives.csv | wc -l)" 5
tl-report -d single late/host0.xplane.pb >/dev/null 2>&1
is '... and of one with several GPUs' "$(tail -n +2 single/straggler_summary.csv | wc -l)" 8

# ---- a real job on 8 TPUs, 4 of them on this host; groups [4,2]<=[2,4]T(1,0) ----

if have_data; then
	tpu=$TL_DATA/xprof_tpu_inference_v1/tpu_inference_2.xplane.pb
	is 'real TPUs: transposed groups, sizes' "$(column nccl_implicit_sync \
		group,collective,group_size,in_bytes,instruction "$tpu" | uniq -c | sed 's/^ *//')" "\
3 0,4${tab}all-reduce${tab}2${tab}5368709120${tab}all-reduce
3 1,5${tab}all-reduce${tab}2${tab}5368709120${tab}all-reduce
3 2,6${tab}all-reduce${tab}2${tab}5368709120${tab}all-reduce
3 3,7${tab}all-reduce${tab}2${tab}5368709120${tab}all-reduce"
	is '... exposed, as the timeline has it' "$(column nccl_long rank,exposed_ns "$tpu" |
		awk '{ sum[$1] += $2 } END { print sum[0], sum[1] }')" '365076257 365112928'
fi

# ---- what is unknown, and what is wrong ----

xplane bare.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 all-reduce.1 7
1 1 ncclDevKernel_AllReduce 1005 100 all-reduce.1 7
E
is 'without the module no size is made up' "$(column nccl_long \
	instruction,group,collective,in_bytes bare.ndjson)" "\
all-reduce.1${tab}all${tab}${tab}
all-reduce.1${tab}all${tab}${tab}"
echo '-1 1 ncclDevKernel 1000 100' | xplane wrong.ndjson
refuses 1 'no GPU that can be a rank' 'tl-collective wrong.ndjson'
xplane hostile.ndjson <<'E'
0 1 ncclDevKernel_AllReduce 1000 100 a 7
0 1 ncclDevKernel_AllReduce 2000 100 b 7
0 1 ncclDevKernel_AllReduce 3000 100 c 7
module 7 jit_g
{"name":"a","opcode":"all-reduce","shape":"f32[9223372036854775807,9223372036854775807]","operands":[{"shape":"f32[9223372036854775807,3]"},null],"groups":[[99999999999999999999]]}
{"name":"b","opcode":"all-reduce","shape":7,"operands":"x","groups":[[9000000000],[0]]}
{"name":"c","opcode":"async-start","shape":"f[]{[","operands":[[1]],"body":[{"opcode":"all-reduce-start"}],"groups":{"a":[0]}}
E
is 'hostile instructions' "$(column nccl_long instruction,collective,group,in_bytes hostile.ndjson)" "\
a${tab}all-reduce${tab}all${tab}
b${tab}all-reduce${tab}all${tab}
c${tab}all-reduce${tab}all${tab}"

done_testing
