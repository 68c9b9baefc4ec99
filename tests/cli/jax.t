#!/bin/sh
# SPDX-License-Identifier: MIT
# Generated and recorded JAX profiles: the stream has all of their contents, and
# each program finds the figures that the generator planted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

gen() { # gen DIR OPTION...
	dir=$1
	shift
	python3 "$ROOT/tests/gen/xplane.py" -o "$dir" "$@"
}
whole() { # whole FILE: every event, stat and name
	tl-decode "$1" | tl-cat >whole.nd
	python3 "$ROOT/tests/oracle/xplane_events.py" "$1" whole.nd
}
planted() { # planted DIR CHECK...
	python3 "$ROOT/tests/oracle/jax_planted.py" "$@"
}

gen job --hosts 2 --gpus 2 --iota --late 3:40000
gen one --ps --memory --gz
gen amd --amd --zst --no-scopes
gen bare --no-launches
gen graphs --graphs --no-launches --no-steps
gen launched --graphs
gen unmarked --no-steps --steps 4
gen tpu --tpu --hosts 2 --gpus 2

for f in job/host1.xplane.pb one/host0.xplane.pb.gz amd/host0.xplane.pb.zst graphs/host0.xplane.pb \
	launched/host0.xplane.pb tpu/host1.xplane.pb "$ROOT"/tests/data/h100/*.xplane.pb.gz; do
	ok "${f##"$ROOT"/}: every event and stat is in the stream" whole "$f"
done

command -v tl-roofline >/dev/null || { # a build without Lua
	done_testing
	exit
}

programs() { python3 "$ROOT/tests/oracle/jax.py" --programs "$1"; }
for f in "$ROOT"/tests/data/h100/*.xplane.pb.gz; do
	ok "${f##*/}: time of kernels and instructions, FLOPs and bytes" programs "$f"
done

for dir in job one amd; do
	ok "$dir: timelines, instructions, scopes, FLOPs, bytes, steps, idle time" \
		planted $dir timeline kernels ops modules flops steps idle
done
ok 'without annotations: steps' planted unmarked runs
like '... and the report says which' "$(tl-report --width 200 unmarked/host0.xplane.pb 2>/dev/null | tr '\n' ' ')" \
	' with [0-9]+ runs of the main module.*MFU [^;]* runs of the main module'
ok 'without launches: instructions and scopes' planted bare timeline kernels ops modules flops
ok 'exported as Chrome and Perfetto traces, and back' planted job exported
ok 'two hosts in one stream, and apart again' planted job merged
ok 'each exchange of five collectives over hosts' planted job collective
for dir in graphs launched; do
	ok "$dir: timeline and kernels" planted $dir timeline kernels
done
if command -v tl-kernels >/dev/null; then
	like 'a process whose GPUs are ranks: network and waiting are told apart' \
		"$(tl-report --width 999 job/host0.xplane.pb 2>/dev/null)" 'waiting is [0-9.]+ % of the time in collectives\. '
fi
ok 'tpu: timeline, instructions, FLOPs and bytes' planted tpu timeline kernels ops flops

warnings() { tl-report --width 999 "$@" 2>/dev/null | sed -n 's/^  - \(.* of \(op time\|the time\) \)/\1/p'; }
like 'ops of kernels without a launch are in op tables' "$(warnings bare)" \
	'^[0-9.]* % of the time is GPU work without a launch in the trace: no launch tables$'
tl-decode "$ROOT"/tests/data/h100/jax_mlp.xplane.pb.gz | tl-cat | grep -v '"key":"hlo ' | tl-cat >nohlo.tl
like 'a profile without HLO' "$(warnings nohlo.tl)" \
	'^100.0 % of op time has no recorded shapes: the profile has no HLO for these ops'

like 'several devices of a process: the bar is of all together' "$(tl-report tpu/host0.xplane.pb 2>/dev/null)" \
	'2 TPUs together, (first to last event|[0-9]+ (inferred )?(step|run)s?( of the main module)?)(, [a-z0-9. ]+)?: [0-9.]+ [mu]s, busy if any is'
is 'copies and communication need no model' "$(tl-report --width 999 tpu 2>/dev/null | grep -c '^  - no performance model')" 0
tl-report --width 999 tpu >tpu.txt 2>/dev/null
like 'a TPU is called so' "$(tr '\n' ' ' <tpu.txt)" '; TPU work is '
is 'and is no GPU, which may have graphs' "$(grep -c 'GPU\|graph' tpu.txt)" 0

tl-decode "$ROOT"/tests/data/h100/jax_mlp.xplane.pb.gz | tl-tree >mlp.tl
is 'block_until_ready waits for kernels, some of which overlap on their stream' \
	"$(tl-critical --no-header -c bound,kind,count mlp.tl | head -n 1 | tr '\t' ' ')" 'compute kernel 90'
is 'and is a synchronisation, no work of the host' "$(tl-idle --no-header -c cause,longest_in mlp.tl | grep block_until)" \
	"sync	\$api.py:2757 block_until_ready"
is 'advice for a TPU is none for GPUs' "$(tl-idle --no-header -c advice tpu/*.pb | grep -c 'graph\|GPU')" 0

tl-decode one/host0.xplane.pb.gz | tl-cat | grep -v '"kind":"\(kernel\|memcpy\|memset\|gpu_annotation\)"' | tl-cat >cpu.tl
like 'a profile of the host' "$(tl-report --width 999 cpu.tl 2>/dev/null)" \
	'  - no GPU work: JAX ran on the CPU, or the profiler did not record the GPU'

gen slow --ps --slower cublas-gemm.0:1.5
is 'an instruction that became slower' "$(tl-diff -c name,count_before,diff_ns one/host0.xplane.pb.gz slow/host0.xplane.pb |
	sed -n 2p | tr '\t' ' ')" 'cublas-gemm.0 2 52000'
is 'and nothing else' "$(tl-diff -c diff_ns --no-header one/host0.xplane.pb.gz slow/host0.xplane.pb | grep -vc '^0$')" 1
is 'with the scopes that it is in' "$(tl-diff --table lca_summary --no-header -c name,nn_module_stack,diff_ns one/host0.xplane.pb.gz slow/host0.xplane.pb |
	awk -F'\t' '$3 > 0 { print $1, $2, $3 }')" 'cublas-gemm.0 jit_train_step;jit(train_step);layer_0;mlp 26000
cublas-gemm.0 jit_train_step;jit(train_step);layer_0;mlp 26000'
# Python makes host 1 late
is 'the critical path of a job of hosts with two GPUs each' \
	"$(tl-critical --job --no-header -c src,bound,longest_in --top 1 job/*.pb 2>/dev/null | tr '\t' ' ')" \
	'1 python $train.py:12 train_step'
# collectives of two steps are too few for clocks
gen long --hosts 2 --gpus 2 --iota --late 3:40000 --steps 4
is 'the rank that is late' "$(tl-collective --table nccl_groups -c ranks,late_rank,pct_late,verdict long/*.pb | grep ^1,3 | tr '\t' ' ')" \
	'1,3 3 100.0 host'
done_testing
