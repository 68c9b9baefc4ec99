#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff's sentences and marks: each says what was changed, and is absent
# without that change.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/cli/diff-events.sh
. "$ROOT/tests/cli/diff-events.sh"

# says ARGS: the sentences, without those about the whole
says() {
	tl-diff --table diff_verdict --no-header "$@" 2>err |
		grep -v '^GPU time\|^GPU span\|^step \|^by part: '
}
on_screen() { tl-diff --format table --width 200 "$@" 2>err; }
whole() { tl-diff --table diff_verdict --no-header "$@" 2>err | grep '^GPU time'; }
tree() { tl-diff --print "$@" 2>err; }

# ---- wrappers ----

# inner [NAME...]: an op with two kernels, in calls of these names
inner() {
	n=0
	for name; do
		n=$((n + 1))
		op "$name" $((10 + n)) $((80 - 2 * n))
	done
	op mm 30 20 '[[4,8]]'
	call 31 1
	call 40 2
	gpu k_mm 200 20 1
	gpu k_add 220 5 2
}
{ op net 0 100; inner; } | trace >plain.json
{ op net 0 100; inner cast check; } | trace >wrap2.json
is 'a wrapper: what it wraps has its partner' \
	"$(rows 'tl-diff -c name,count_before,count_after,diff_ns plain.json wrap2.json')" 'mm 1 1 0.'
is 'a wrapper: no line of its own in the tree' "$(tree plain.json wrap2.json)" '└── net
    └── mm
        ├── cudaLaunchKernel
        │   └── k_mm
        └── cudaLaunchKernel
            └── k_add'
{
	op net 0 100
	op cast 11 80
	inner
	call 95 3
	gpu k_cast 230 5 3
} | sed 's/"ts":95,/"ts":70,/' | trace >more.json
is 'a call that does more than wrap is no wrapper' \
	"$(rows 'tl-diff -c name,count_before,count_after,diff_ns plain.json more.json')" \
	'mm | cast 1 1 5000.'
{ op net 0 100; inner old; } | trace >old.json
{ op net 0 100; inner new; } | trace >new.json
is 'a call under another name is none' "$(says old.json new.json)" \
	'1 matched call differs by name (old | new)'
is 'wrappers are a difference' "$(tl-diff plain.json wrap2.json 2>&1 >/dev/null)" \
	'tl-diff: GPU time unchanged (25.0 us)'

# two NAME NAME: ops in this order, below one
two() {
	op net 0 100
	n=0
	for name; do
		n=$((n + 1))
		op "$name" $((n * 20)) 10
		call $((n * 20 + 1)) $n
		gpu "k_$name" $((200 + n * 20)) 10 $n
	done
}
two sin cos tan | trace >sct.json
two sin tan cos | trace >stc.json
is 'calls in another order have their partners' \
	"$(rows 'tl-diff -c name,count_before,count_after,diff_ns sct.json stc.json')" \
	'cos 1 1 0.sin 1 1 0.tan 1 1 0.'
is 'and are a difference' "$(tl-diff sct.json stc.json 2>&1 >/dev/null)" \
	'tl-diff: GPU time unchanged (30.0 us)'

# ---- other sentences about pairs ----

two a b | sed 's/"name":"a",\(.*\)"args":{}/"name":"a",\1"args":{"Input Dims":[[4,8]]}/' |
	trace >dims.json
sed 's/\[\[4,8\]\]/[[5,8]]/' dims.json >dims5.json
two a b | trace >nodims.json
is 'arguments: told, with the shape of one' "$(says dims.json dims5.json)" \
	'1 call differs in arguments (a [[4,8]] | [[5,8]])'
is 'arguments: the row has both' \
	"$(rows 'tl-diff -c name,input_dims dims.json dims5.json')" 'a [[4,8]] | [[5,8]].b .'
is 'arguments: what is not recorded is said' \
	"$(rows 'tl-diff -c name,input_dims dims.json nodims.json')" 'a [[4,8]] | (none).b .'
# held DIMS: an op with these dimensions, and below it another with two kernels,
# or two others with one each
held() {
	op net 0 100
	op linear 1 98 "$1"
	op "$2" 10 30 "[[$#]]"
	call 11 1
	[ $# -eq 2 ] || op "$3" 50 30 "[[9]]"
	call $(($# == 2 ? 13 : 51)) 2
	gpu k1 200 20 1
	gpu k2 220 "1$#" 2
}
held '[[4,8]]' addmm | trace >held1.json
held '[[5,8]]' mm add_ | trace >held2.json
is 'arguments: those of the op at which the trees part' \
	"$(rows 'tl-diff -c name,input_dims,diff_ns held1.json held2.json')" 'linear [[4,8]] | [[5,8]] 1000.'
is 'arguments: of a point those of the first op on each side' \
	"$(tl-diff --table lca_summary --format ndjson -c name,input_dims held1.json held2.json | sed -n 2p)" \
	'{"name":"addmm","input_dims":"[[2]] | [[3]]"}'
is 'arguments: the same' "$(says dims.json dims.json)" 'the traces are identical'
is 'arguments: of one side only' "$(says dims.json nodims.json)" 'after has no arguments of ops'

# streams A B C: three kernels on these streams
streams() {
	two a b c | sed "/k_a/s/\"stream\":7/\"stream\":$1/;/k_b/s/\"stream\":7/\"stream\":$2/
		/k_c/s/\"stream\":7/\"stream\":$3/" | trace
}
streams 7 7 7 >s777.json
streams 9 9 9 >s999.json
streams 7 7 8 >s778.json
streams 8 8 7 >s887.json
is 'streams: another number is no change' "$(says s777.json s999.json)" 'the traces are identical'
is 'streams: two in turn are none' "$(says s778.json s887.json)" 'the traces are identical'
is 'streams: another stream' "$(says s777.json s778.json)" \
	'matched GPU events on another stream: 1 before (10.0 us), 1 after (10.0 us)'
is 'streams: of kernels' "$(says --by kernel s777.json s778.json | grep another)" \
	'matched GPU events on another stream: 1 before (10.0 us), 1 after (10.0 us)'
two a b c | sed 's/cudaLaunchKernel/hipLaunchKernel/;s/k_/other_/' | trace >hip.json
is 'other launches: what has no partner' "$(says s777.json hip.json)" \
	'GPU events with other names or launches, compared by op: 3 before (30.0 us), 3 after (30.0 us)
3 launches differ by API name (cudaLaunchKernel | hipLaunchKernel)'
is 'other launches: what to do, on the screen of tl-diff' "$(on_screen s777.json hip.json | grep API)" \
	'3 launches differ by API name (cudaLaunchKernel | hipLaunchKernel); --equiv maps them'
{
	op a 0 10
	call 1 1 cudaMemsetAsync
	gpu Memset 100 10 1 gpu_memset
} | trace >set.json
{
	op a 0 10
	call 1 1
	gpu k_set 100 10 1
} | trace >fill.json
is 'a kernel instead of a memset is no other name' "$(says set.json fill.json)" \
	'GPU events with other names or launches, compared by op: 1 before (10.0 us), 1 after (10.0 us)'
{
	op a 0 10
	call 1 1 hipMemsetAsync
	gpu Memset 100 10 1 gpu_memset
	call 3 2 hipLaunchKernel
	gpu k_set 110 10 2
} | trace >both.json
is 'behind the memset the kernel has one' "$(says both.json fill.json | grep -o '([a-z][^)]*)$')" \
	'(hipLaunchKernel | cudaLaunchKernel)'
printf 'hipLaunchKernel\tcudaLaunchKernel\n' >equiv
is 'other launches: made one' "$(says --equiv equiv s777.json hip.json)" \
	'matched GPU events with different names: 3 before (30.0 us), 3 after (30.0 us)'
is 'other kernels: by kernel' "$(says --by kernel s777.json hip.json | grep -v sequences)" \
	'matched GPU events with different names: 3 before (30.0 us), 3 after (30.0 us)'
two a b | trace >ab.json
is 'kernels without a partner: by kernel' "$(says --by kernel s777.json ab.json | grep unmatched)" \
	'unmatched GPU events in matched sequences: 1 before (10.0 us)'
{
	ev python_function 'net.py(1): f' 1 0 110
	two a b
} | trace >frames.json
is '--python: a side without frames' "$(on_screen --python frames.json ab.json | grep frames)" \
	'after has no Python frames: without --python the trees are compared below them'
is '... in the table, which others show: no option' \
	"$(says --python frames.json ab.json | grep frames)" 'after has no Python frames'
is 'frames that are not compared' "$(says frames.json ab.json | grep -c frames)" 0
{
	op a 0 10
	call 1 1
	gpu k_a 100 1 1
	gpu stray 110 90 77
} | trace >stray.json
is 'mostly without ops: what to do' "$(on_screen ab.json stray.json | grep 'by kernel')" \
	'most GPU work of after belongs to no op: --by kernel compares kernels one by one'
is 'mostly without ops: the other side' "$(on_screen stray.json ab.json | grep -o '.*by kernel')" \
	'most GPU work of before belongs to no op: --by kernel'
is 'mostly without ops: both' "$(on_screen stray.json stray.json | grep -o '.*by kernel')" \
	'most GPU work belongs to no op: --by kernel'
is 'mostly without ops: no option in the table, which others show' \
	"$(says stray.json stray.json | grep 'no op')" 'most GPU work belongs to no op'
is 'mostly of ops' "$(says before.json ab.json 2>&1 | grep -c 'by kernel')" 0

# ---- noise, and real changes ----

sed 's/"dur":10,\(.*"stream"\)/"dur":12,\1/' ab.json >ab12.json
is 'one run: what is not known is said' "$(says ab.json ab12.json)" \
	'noise unknown: pass several runs or steps'

# counted N...: steps with N kernels of a and two of b, which vary a bit
counted() {
	step=0 corr=0
	for count; do
		t=$((step * 1000))
		ev user_annotation "ProfilerStep#$step" 1 $t 900
		i=0
		while [ $i -lt "$count" ]; do
			corr=$((corr + 1))
			op a $((t + i * 20)) 10
			call $((t + i * 20 + 1)) $corr
			gpu k_a $((t + i * 20 + 2)) 10 $corr
			i=$((i + 1))
		done
		corr=$((corr + 1))
		op b $((t + 500)) 10
		call $((t + 501)) $corr
		gpu k_b $((t + 510)) "1${VARY:-0}$((step % 3)).5" $corr
		step=$((step + 1))
	done
}
counted 4 4 4 | trace >c444.json
counted 4 4 2 | trace >c442.json
counted 4 5 3 | trace >c453.json
counted 3 4 6 | trace >c346.json
counted 2 2 2 | trace >c222.json
is 'fewer calls in each step: no noise' \
	"$(rows 'tl-diff -c name,count_before,count_after,diff_ns,is_noise c444.json c222.json' | cut -d . -f 1)" \
	'a 12 6 -60000 false'
is 'fewer calls: the whole' "$(whole c444.json c222.json)" \
	'GPU time -14.1 %: -60.0 us beyond noise, 100 % of it from 1 op'
is 'more calls: the gate' "$(tl-diff --fail-over 0% c222.json c444.json >/dev/null 2>&1; echo $?)" 4
is 'fewer calls in one step: noise like times' \
	"$(rows 'tl-diff -c name,count_before,count_after,diff_ns,is_noise c444.json c442.json' | cut -d . -f 1)" \
	'a 12 10 -20000 true'
is 'calls that vary on both sides: noise' \
	"$(rows 'tl-diff -c name,diff_ns,is_noise c453.json c346.json' | cut -d . -f 1)" 'a 10000 true'
is 'calls that vary: no reason' \
	"$(tl-diff --fail-over 0% c453.json c346.json >/dev/null 2>&1; echo $?)" 0
sed 's/102\.5/142.5/' c444.json | sed 's/100\.5/90.5/' >vary444.json
sed 's/102\.5/82.5/;s/101\.5/131.5/' c222.json >vary222.json
is 'fewer calls, and times that vary: both' "$(whole vary444.json vary222.json)" \
	'GPU time -13.2 %: -60.0 us beyond noise, 100 % of it from 1 op; -20.0 us within noise'
is 'the gate counts what is none' \
	"$(tl-diff --fail-over gpu:0% vary222.json vary444.json 2>&1 >/dev/null | grep -o ', [-+.0-9]* us')" \
	', +60.0 us'
is 'as many calls a step, of more steps' \
	"$(counted 4 4 4 4 4 | trace >c5.json; says --per step c444.json c5.json | grep -c 'only side')" 0

# outside US US: an op and a launch outside it, whose kernels take US
outside() {
	op a 0 10
	call 1 1
	call 20 2 cudaGraphLaunch
	gpu ka 100 "$1" 1
	gpu kb 200 "$2" 2
}
outside 10 10 | trace >out1.json
outside 20 30 | trace >out2.json
outside 10 30 | trace >out3.json
is 'launches outside of ops are no ops' "$(whole out1.json out2.json)" \
	'GPU time 20.0 us to 50.0 us (+150.0 %), 100 % of it from 1 op and launches outside ops'
is 'not even alone' "$(whole out1.json out3.json)" \
	'GPU time 20.0 us to 40.0 us (+100.0 %), 100 % of it from launches outside ops'

# together BIG MORE: 8 steps of an op of BIG us and 20 of 100 us and MORE, which
# vary by 12 us, half of them up while the others go down
together() {
	corr=0
	for s in 0 1 2 3 4 5 6 7; do
		t=$((s * 10000))
		ev user_annotation "ProfilerStep#$s" 1 $t 9000
		i=0
		while [ $i -le 20 ]; do
			corr=$((corr + 1))
			op "op$i" $((t + i * 20)) 10
			call $((t + i * 20 + 1)) $corr
			us=$((100 + $2 + 12 - 24 * ((s + i) % 2)))
			gpu "k$i" $((t + 500 + i * 200)) $((i > 0 ? us : $1)) $corr
			i=$((i + 1))
		done
	done | trace
}
together 500 0 >was.json
together 700 5 >up.json
together 700 -5 >mixed.json
# 500 + 20 * 100 us: 200 more in an op, and 20 * 5 more or less in all others
is 'what is spread has its part of the whole' "$(whole --per step was.json up.json)" \
	'GPU time +12.0 %: +300.0 us a step beyond noise, 67 % of it from 1 op, +100.0 us spread over 20 rows, none by itself'
is 'and where it goes the other way no share is told' "$(whole --per step was.json mixed.json)" \
	'GPU time +4.0 %: +100.0 us a step beyond noise, +200.0 us in 1 op, -100.0 us spread over 20 rows, none by itself'

# ranked RANK N...: counted steps of a rank
ranked() {
	rank=$1
	shift
	counted "$@" | trace |
		sed "1s/{/{\"distributedInfo\":{\"rank\":$rank,\"world_size\":2},/"
}
mkdir was is
ranked 0 4 4 4 >was/0.json
ranked 1 2 2 2 >was/1.json
ranked 0 4 4 4 >is/0.json
ranked 1 3 3 3 >is/1.json
is 'more calls of one rank: no noise, though ranks differ in number' \
	"$(rows 'tl-diff --pair rank -c name,diff_ns,is_noise was is' | cut -d . -f 1)" 'a 15000 false'

steps 20.1 21.1 20.6 20.3 | trace >v1.json
steps 20.2 20.9 59.5 20.6 | trace >v2.json
sed 's/"dur":59\.5/"dur":61.5/' v2.json >v3.json

# hosted MS...: steps of MS ms in which the GPU does the same
hosted() {
	step=0 t=0
	for ms; do
		step=$((step + 1))
		ev user_annotation "ProfilerStep#$step" 1 $t $((ms * 1000))
		op a $((t + 10)) 10
		call $((t + 11)) $step
		gpu k_a $((t + 30)) 500 $step
		t=$((t + ms * 1000))
	done
}
# loading US...: steps that load for twice US, in two ops of the data loader
loading() {
	n=0 t=0
	for us; do
		ev user_annotation "ProfilerStep#$n" 1 $t $((2 * us + 1000))
		ev user_annotation 'enumerate(DataLoader)#_Iter.__next__' 1 $((t + 100)) $((2 * us))
		op aten::stack $((t + 100)) "$us"
		op aten::cat $((t + 100 + us)) "$us"
		n=$((n + 1))
		op mm $((t + 2 * us + 150)) 50
		call $((t + 2 * us + 160)) $n
		gpu k_mm $((t + 2 * us + 200)) 300 $n
		t=$((t + 2 * us + 1000))
	done
}
loading 1000 1010 1005 1002 | trace >load1.json
loading 3000 3010 3005 3002 | trace >load2.json
like 'one cause is one finding, whatever it does' \
	"$(tl-diff --table diff_verdict --no-header load1.json load2.json 2>err | grep '^step')" \
	'^step 3\.007 ms to 7\.007 ms \(\+133\.0 %\): 4\.000 ms more data loading in enumerate\(DataLoader\)#_Iter\.__next__; '
hosted 10 11 10 11 10 | trace >host10.json
hosted 11 10 11 10 10 | trace >host10b.json
hosted 25 26 25 26 25 | trace >host25.json
hosted 10 | trace >one10.json
hosted 11 | trace >one11.json
is 'the same GPU work, steps that take longer: not identical' \
	"$(tl-diff --table diff_verdict --no-header host10.json host25.json)" \
	'the GPU work is identical, step times are not
step 10.000 ms to 25.000 ms (+150.0 %): 15.000 ms more idle time without recorded host work; GPU time unchanged'
is 'of the same trace twice, what did not change is said once' \
	"$(tl-diff --table diff_verdict --no-header host10.json host10.json)" \
	'the traces are identical
step unchanged (10.000 ms); GPU time unchanged'
is 'in a pipe both are on standard error' "$(tl-diff host10.json host25.json 2>&1 >/dev/null)" \
	'tl-diff: the GPU work is identical, step times are not
tl-diff: step 10.000 ms to 25.000 ms (+150.0 %): 15.000 ms more idle time without recorded host work; GPU time unchanged'
is 'beside other formats, too' "$(tl-diff --format ndjson host10.json host25.json 2>&1 >/dev/null)" \
	"$(tl-diff host10.json host25.json 2>&1 >/dev/null)"
is 'as messages, once' "$(tl-diff --status-fd 3 host10.json host25.json 3>&1 >/dev/null 2>/dev/null |
	grep -c '"id":"sides-compared"')" 2
is 'in a folder they are a table' "$(tl-diff -d compared host10.json host25.json 2>&1; sed 1d compared/diff_verdict.*)" \
	"$(tl-diff --table diff_verdict --no-header --format csv host10.json host25.json)"
is 'a selection of GPU work has no step time' "$(tl-diff --kind kernel host10.json host25.json 2>&1 >/dev/null)" \
	'tl-diff: the GPU work is identical; host time is not compared'
is 'nor is it asked for with --no-steps' "$(tl-diff --no-steps host10.json host25.json 2>&1 >/dev/null)" \
	'tl-diff: the GPU work is identical; host time is not compared'
is 'where a gate is about GPU time' "$(tl-diff --no-steps --fail-over 1% host10.json host25.json >/dev/null 2>&1; echo $?)" 0
refuses 2 'leaves no step times to judge' 'tl-diff --no-steps --fail-over step:1% host10.json host25.json'
refuses 2 'leaves no step times to judge' 'tl-diff --no-steps --table diff_steps host10.json host25.json'
{
	hosted 25 26 25 26 25
	ev kernel k_old 7 0 9000 '"device":0,"stream":7,"correlation":99'
} | trace >queued.json
like 'GPU work that was queued before the recording is no slower step' \
	"$(on_screen host10.json queued.json)" \
	'; GPU time \+360\.0 % beyond noise \(\+9\.000 ms without a launch: --per step leaves it out\)$'
# step_says BEFORE AFTER: GPU time in the sentence about the step and the next
# one
step_says() {
	tl-diff --table diff_verdict --no-header "$@" 2>err | grep -o 'GPU time.*'
}
is '... in the table: no option; and it is no op' "$(step_says host10.json queued.json)" \
	'GPU time +360.0 % beyond noise (+9.000 ms without a launch)
GPU time +360.0 %: +9.000 ms beyond noise'
# 2.5 ms, 0.5 more or less by the op in 5 steps
sed 's/"dur":500,/"dur":600,/' queued.json >queued600.json
sed 's/"dur":500,/"dur":400,/' queued.json >queued400.json
is 'and an op more: its share is that of all' "$(whole host10.json queued600.json)" \
	'GPU time +380.0 %: +9.500 ms beyond noise, 5 % of it from 1 op'
is 'and an op less: no share' "$(whole host10.json queued400.json)" \
	'GPU time +340.0 %: +8.500 ms beyond noise, -500.0 us in 1 op'
for us in 2400 4800; do
	{
		hosted 10 11 10 11 10
		ev kernel k_old 7 0 $us '"device":0,"stream":7,"correlation":99'
	} | trace >old$us.json
done
sed 's/"dur":500,/"dur":600,/' old4800.json >old600.json
is 'queued on both sides: nothing is beyond noise' "$(step_says old2400.json old4800.json)" \
	'GPU time +49.0 %, noise unknown (+2.400 ms without a launch)
GPU time 4.900 ms to 7.300 ms: noise unknown for +2.400 ms'
is '... but the op' "$(step_says old2400.json old600.json)" \
	'GPU time +10.2 % beyond noise, noise unknown for +2.400 ms (+2.400 ms without a launch)
GPU time +10.2 %: +500.0 us beyond noise, 100 % of it from 1 op; noise unknown for +2.400 ms'
is 'which counts in the gate as in the sentence, and is said to' \
	"$(tl-diff --fail-over gpu:3% host10.json queued.json 2>&1 >/dev/null | sed -n '$s/.*: GPU/GPU/p')" \
	'GPU time 2.500 ms to 11.500 ms (+360.0 %), +9.000 ms beyond noise (+9.000 ms without a launch: --per step leaves it out); allowed: 3 % (75.0 us); 5 and 5 steps of one run each'
is 'but not in that of a step' \
	"$(tl-diff --per step --fail-over gpu:3% host10.json queued.json >/dev/null 2>&1; echo $?)" 0
# waiting [CALL]: steps of 4 launches, each after an op of 80 us, with 200 us of
# GPU work each; with a CALL that waits for it
waiting() {
	t=0 g=0 corr=0
	for step in 1 2 3 4 5 6; do
		begin=$t
		for i in 1 2 3 4; do
			corr=$((corr + 1))
			op "op$i" $t 80
			call $((t + 70)) $corr
			g=$((g > t + 80 ? g : t + 80))
			gpu k $g 200 $corr
			g=$((g + 200)) t=$((t + 80))
			[ $# -eq 0 ] && continue
			ev cuda_runtime "$1" 1 $t $((g + 1 - t))
			t=$((g + 1))
		done
		t=$((t > g ? t : g))
		ev user_annotation "ProfilerStep#$step" 1 $begin $((t - begin))
	done
}
waiting | trace >ahead.json
waiting cudaStreamSynchronize | trace >waits.json
is 'calls that wait for the GPU: the gaps that they open' \
	"$(tl-diff --table diff_verdict --no-header ahead.json waits.json | grep '^step')" \
	'step 880.0 us to 1.124 ms (+27.7 %): 210.0 us more op dispatch (70.0 us in op2), +320.0 us of host work in gaps that cudaStreamSynchronize opened; GPU time unchanged'
is 'and their row' \
	"$(tl-diff --table diff_steps -c term,call,before_ns,after_ns ahead.json waits.json |
		grep opened | tr '\t' ' ')" \
	'opened_gaps  0.0 320000.0
opened_gaps cudaStreamSynchronize 0.0 320000.0'
is 'steps that vary: within noise' "$(says host10.json host10b.json)" \
	'the traces are identical, and step times within noise'
is 'one step each: noise is unknown' "$(says one10.json one11.json)" \
	'the GPU work is identical, step times are not'
is 'no steps: the span of the GPU work stands for them' \
	"$({ op a 0 10; call 1 1; gpu k 20 5 1; } | trace >h1.json
	{ op a 0 90; call 1 1; gpu k 20 5 1; } | trace >h2.json; says h1.json h2.json)" \
	'the GPU work and the time it spans are identical; other host time is not compared'
two a b c | sed 's/"ts":260/"ts":410/; s/"ts":6\([01]\),/"ts":40\1,/' | trace >span.json
# slower ARGS: the exit status of the gate
slower() {
	tl-diff "$@" >/dev/null 2>gate.err
	echo $?
}
is 'the gate: steps that take longer' "$(slower --fail-over 3% host10.json host25.json)" 4
is 'the gate: by how much' "$(cat gate.err)" \
	'tl-diff: the GPU work is identical, step times are not
tl-diff: slower than allowed: step time 10.000 ms to 25.000 ms (+150.0 %), +15.000 ms ± 818.7 us beyond noise; allowed: 3 % (300.0 us); 5 and 5 steps of one run each
tl-diff: GPU time passes: unchanged (2.500 ms); --fail-over gpu:3% judges it alone'
is 'the gate: not by so much' "$(slower --fail-over 150% host10.json host25.json)" 0
# a kernel takes 500 us of steps of 25 ms, and 900 of steps of 10 ms
hosted 10 11 10 11 10 | sed 's/"dur":500/"dur":900/' | trace >busy10.json
is 'the gate: which time fails, and that the other passes' \
	"$(slower --fail-over 3ms host25.json busy10.json; slower --fail-over 1ms host25.json busy10.json
	sed 's/\(allowed: GPU\).*/\1/' gate.err)" '0
4
tl-diff: slower than allowed: GPU
tl-diff: step time passes: 25.000 ms to 10.000 ms (-60.0 %); --fail-over step:1ms judges it alone'
wild() { # wild US...: of the steps on stdin the kernels take so long
	awk -v us="$*" 'BEGIN { split(us, v) }
	/k_a/ { sub(/"dur":500/, "\"dur\":" v[++n]) } { print }'
}
hosted 10 11 10 11 10 | wild 300 500 700 300 500 | trace >wild10.json
hosted 25 26 25 26 25 | wild 320 540 740 310 540 | trace >wild25.json
like 'the gate: it passes, as growth is within noise' \
	"$(tl-diff --fail-over 3% wild10.json wild25.json 2>&1 >/dev/null | tail -n 1)" \
	'^tl-diff: GPU time passes: 2\.300 ms to 2\.450 ms \(\+6\.5 %\), within noise; '
is 'the gate: of one time, none of the other' \
	"$(slower --fail-over gpu:1ms host25.json busy10.json; grep -c passes gate.err)" '4
0'
is 'the gate: steps within noise' "$(slower --fail-over 0% host10.json host10b.json)" 0
hosted 10 10 12 18 20 | trace >wide10.json
hosted 10 11 14 18 19 | trace >wide14.json
reports 3 gate-in-noise 'tl-diff --fail-over step:3% wide10.json wide14.json'
is 'the gate: less than allowed, within noise' "$(slower --fail-over step:20% wide10.json wide14.json)" 0
is 'the gate: one step each' "$(slower --fail-over 3% one10.json one11.json)" 4
is 'the gate: of selected GPU events, steps say nothing' \
	"$(slower --fail-over 3% --name k_a host10.json host25.json)" 0
is 'the gate: of kernels, too' "$(slower --by kernel --fail-over 3% host10.json host25.json)" 4
is 'the gate: GPU time alone' "$(slower --fail-over gpu:3% host10.json host25.json)" 0
is 'the gate: step time alone' "$(slower --fail-over step:3% host10.json host25.json)" 4
is 'the gate: step time, not GPU time' "$(slower --fail-over step:3% c442.json c444.json)" 0
refuses 5 'h1\.json: no steps of the other side.s kind' \
	'tl-diff --fail-over step:3% host10.json h1.json'
is 'the gate: no steps of one kind, GPU time' "$(slower --fail-over 3% host10.json h1.json)" 0
like 'the gate: says that steps are not judged' "$(cat gate.err)" 'only GPU time is judged$'
is 'the gate: not where it is told to leave them out' \
	"$(slower --fail-over gpu:3% host10.json h1.json; grep -c judged gate.err)" '0
0'
is 'no steps of one kind: is said' "$(says host10.json h1.json | grep 'same kind')" \
	'the sides have no steps of the same kind: step times are not compared'
is 'the gate: no steps, the span of the GPU work' \
	"$(slower --fail-over 3% s777.json span.json; grep -o 'GPU span .* us ' gate.err)" \
	'4
GPU span 50.0 us to 200.0 us (+300.0 %), +150.0 us '
# the host enqueues a step in 50 us, the GPU takes 200
{
	for i in 0 1 2 3 4; do
		ev user_annotation 'execute_context_0(0)_generation_4(4)' 1 $((i * 70)) 50
		call $((i * 70 + 1)) $((i + 1)); gpu k $((i * 200 + 10)) 200 $((i + 1))
	done
} | trace >paced.json
is 'steps that the GPU paces leave no time between them' \
	"$(rows 'tl-diff --by kernel --table diff_steps -c kind,term,before_ns paced.json paced.json')" \
	'decode step (batch 4) step 200000.0.decode step (batch 4) gpu_busy 200000.0.decode step (batch 4) compute 200000.0.'
refuses 2 'a selection of GPU events has no step time' \
	'tl-diff --fail-over step:3% --name k_a host10.json host25.json'
is 'the gate: runs whose steps take longer' \
	"$(slower --fail-over 3% -B host10.json -B host10b.json -A host25.json -A host25.json)" 4

is 'as many runs' "$(says -B v1.json -B v2.json -A v2.json -A v3.json | grep -c ' runs$')" 0
is 'more runs of one side' "$(says -B v1.json -B v2.json -A v2.json | grep ' runs$')" \
	'the sides have 2 and 1 runs'
is 'several runs: sums are said to be' \
	"$(says -B s777.json -B s777.json -A ab.json -A ab.json | grep only)" \
	'rows on one side only: 1 before (10.0 us)
GPU events in calls of one side only, over all runs: 2 before (20.0 us)'
# four_steps US: four steps of two ops, the first of which takes US on the GPU
four_steps() {
	for s in 0 1 2 3; do
		ev user_annotation "ProfilerStep#$s" 1 $((s * 1000)) 1000
		for i in 1 2; do
			at=$((s * 1000 + i * 50)) n=$((s * 2 + i))
			ev cpu_op "op$i" 1 $at 40
			ev cuda_runtime cudaLaunchKernel 1 $((at + 1)) 5 "\"correlation\":$n"
			ev kernel "k$i" 7 $((s * 1000 + 600 - 200 * i)) "$([ $i -eq 1 ] && echo "$1" || echo 10)" \
				"\"correlation\":$n,\"device\":0,\"stream\":7"
		done
	done | trace
}
four_steps 10 >ten.json
four_steps 210 >more.json
four_steps 350 >many.json
# per step: 20 us
is 'up to ten times more: percent' "$(whole ten.json more.json | cut -d : -f 1)" 'GPU time +1000.0 %'
is 'above: a factor' "$(whole ten.json many.json | cut -d : -f 1)" 'GPU time x 18'
like '... in the step, too' "$(tl-diff --table diff_verdict --no-header ten.json many.json)" 'GPU time x 18 beyond noise'
is 'sentences tell of hostile names safely' \
	"$(two 'a\u001b[2J' b | trace >evil.json; { op net 0 100; op cast 15 60; two 'a\u001b[2J' b | sed 1d; } | trace >evil2.json
	tl-diff --table diff_verdict --format table evil.json evil2.json | tr -d '\n -~')" ''
done_testing
