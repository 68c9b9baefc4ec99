#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff: sides of different models, and steps that stand out.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/cli/diff-events.sh
. "$ROOT/tests/cli/diff-events.sh"

# ---- different models ----

# model DIM NAME US...: an op each, with this shape, whose kernel takes US
model() {
	dim=$1
	shift
	n=0
	while [ $# -gt 1 ]; do
		n=$((n + 1))
		op "$1" $((n * 100)) 20 "[[$dim,$n]]"
		call $((n * 100 + 1)) $n
		gpu "k_$1" $((n * 100 + 10)) "$2" $n
		shift 2
	done
}
model 4 mm 30 relu 10 softmax 60 | trace >bert.json
model 8 conv 70 bn 20 relu 10 | trace >resnet.json
model 8 mm 300 relu 100 norm 600 gelu 900 | trace >large.json
model 4 mm 30 relu 10 softmax 10 spin 90 | trace >spun.json
model 4 mm 90 relu 10 softmax 60 | trace >slower.json
model 8 mm 60 relu 20 softmax 90 | trace >batch.json

# verdict AFTER [BEFORE]: the sentences
verdict() { tl-diff --table diff_verdict --no-header "${2:-bert.json}" "$1" 2>err; }
is 'other ops' "$(verdict resnet.json | head -n 1)" \
	'different models? ops that both have take 10 % of compute before, 10 % after; largest on one side only: softmax (60 % before), conv (70 % after)'
is 'other ops: a warning, and why once' \
	"$(tl-diff resnet.json bert.json >/dev/null 2>err; echo $?; cat err
	python3 "$ROOT/tests/cli/on-terminal.py" tl-diff resnet.json bert.json | grep -c 'different models')" \
	'3
tl-diff: bert.json: different models? only work of one side is judged: ops that both have take 10 % of compute before, 10 % after; largest on one side only: conv (70 % before), softmax (60 % after)
tl-diff: GPU time unchanged (100.0 us)
1'
is 'other ops: no row that both have is judged' \
	"$(rows 'tl-diff -c name,diff_ns,is_noise bert.json resnet.json' )" \
	'conv 70000 .softmax -60000 .mm -30000 .bn 20000 .relu 0 .'
is 'other ops: what the gate says' \
	"$(tl-diff --fail-over gpu:3% bert.json batch.json >/dev/null 2>err; echo $?
	tl-diff --fail-over gpu:3% bert.json large.json 2>&1 >/dev/null | tail -n 1)" '4
tl-diff: slower than allowed: GPU time 100.0 us to 1.900 ms (x 19), +1.800 ms: +1.440 ms by work of one side only, +360.0 us (not judged); allowed: 3 % (3.0 us)'
is 'the same in the sentence' "$(verdict large.json | grep '^GPU time')" \
	'GPU time 100.0 us to 1.900 ms (x 19): +1.440 ms by work of one side only, +1.500 ms in 2 ops, -60.0 us in 1 op; not judged: +360.0 us'
like 'a model that has all ops of a small one, of other shapes' "$(verdict large.json | head -n 1)" \
	'^different models\? ops that both have take 40 % of compute before, 21 % after; largest'
model 4 mm 30 relu 10 | trace >small.json
is 'which has none of its shapes' "$(verdict large.json small.json | head -n 1)" \
	'different models? ops that both have take 100 % of compute before, 21 % after; with the same arguments 0 % before, 0 % after; largest on one side only: gelu (47 % after)'
is 'one op more, however long: the same model' "$(verdict spun.json | grep -c models)" 0
is 'other shapes of the same ops: the same model' "$(verdict batch.json | grep -c models)" 0
model 4 fused_mm 30 relu_ 10 softmax_v2 60 | trace >renamed.json
is 'ops under other names that take the same shapes: the same model' \
	"$(verdict renamed.json | grep -c models)" 0
model 8 fused_mm 30 relu_ 10 softmax_v2 60 | trace >other.json
is 'and other shapes: another' "$(verdict other.json | grep -c models)" 1
is 'slower: the same model' "$(tl-diff bert.json slower.json >/dev/null; echo $?)" 0
# in steps, whose times vary: still no row of both sides is judged
stepped() {
	for step in 0 1 2 3 4; do
		t=$((step * 10000)) k=0 corr=$((step * 10))
		ev user_annotation "ProfilerStep#$step" 1 $t 9000
		for name in $1; do
			k=$((k + 1)) corr=$((corr + 1))
			op "$name" $((t + k * 100)) 20
			call $((t + k * 100 + 1)) $corr
			gpu "k_$name" $((t + k * 1000)) "$((k * $2)).$((step * 7 % 3))" $corr
		done
	done | trace
}
stepped 'mm softmax relu' 10 >bert5.json
stepped 'mm conv' 40 >resnet5.json
is 'of several steps' \
	"$(rows 'tl-diff --per step -c name,is_noise bert5.json resnet5.json')" 'conv false.relu false.mm .softmax false.'
# of 60.2 us: relu and softmax 50 less, conv 80 more, mm 30 more
is 'of several steps: one percentage of GPU time' \
	"$(tl-diff --per step --table diff_verdict --no-header bert5.json resnet5.json 2>err | grep -o 'GPU time.*%' | grep -o '[-+0-9.]* %')" \
	'+99.5 %'
is 'of several steps: the sentence' \
	"$(tl-diff --per step --table diff_verdict --no-header bert5.json resnet5.json 2>err | grep '^GPU time')" \
	'GPU time 60.2 us to 120.2 us (+99.5 %) a step: +29.9 us by work of one side only, +80.1 us in 1 op, -50.2 us in 2 ops; not judged: +30.0 us'

mkdir was is
sed '1s/{/{"distributedInfo":{"rank":0,"world_size":1},/' bert5.json >was/0.json
sed '1s/{/{"distributedInfo":{"rank":0,"world_size":1},/' resnet5.json >is/0.json
is 'of ranks: none is judged' \
	"$(rows 'tl-diff --pair rank --table diff_ranks -c rank,is_noise,judged_ns was is')" '0 .'

# ---- steps that are mostly unrecorded ----

# late MS...: steps whose kernel, though launched at once, starts MS later
late() {
	n=0 t=0
	for ms; do
		n=$((n + 1))
		ev user_annotation "ProfilerStep#$n" 1 $t $((ms * 1000 + 2000))
		op mm $((t + 10)) 10
		call $((t + 11)) $n
		gpu k_mm $((t + ms * 1000 + 100)) 1500 $n
		t=$((t + ms * 1000 + 2000))
	done
}
late 1 1 1 1 1 | trace >late1.json
late 0 0 0 0 0 | trace >late0.json
late 6 6 6 6 6 | trace >late6.json
late 7 7 7 7 7 | trace >late7.json
step_of() {
	tl-diff "$@" 2>&1 >/dev/null |
		sed -n 's/^tl-diff: \(step .*\);.*/\1/; s/not in the recor[a-z]*$/not recorded/; /^step/p'
}
is 'half of the step after is unrecorded: no comparison' "$(step_of late1.json late6.json)" \
	'step not compared: 76.1 % of it after is not recorded'
is 'before' "$(step_of late6.json late1.json)" \
	'step not compared: 76.1 % of it before is not recorded'
is 'or of both' "$(step_of late6.json late7.json)" \
	'step not compared: 76.1 % of it before, 78.8 % after is not recorded'
is 'the sentence alone: no parts' \
	"$(tl-diff --table diff_verdict --no-header late6.json late7.json | grep -c '^by part')" 0
is 'the work itself is compared' "$(tl-diff late6.json late7.json 2>&1 >/dev/null | head -n 1)" \
	'tl-diff: the GPU work is identical; host time is not compared'
is 'unchanged: no matter' "$(step_of late6.json late6.json)$(tl-diff late6.json late6.json 2>&1 >/dev/null)" \
	'tl-diff: the traces are identical'
like 'less than half: a comparison' "$(step_of late0.json late1.json)" '^step 2\.000 ms to 3\.000 ms '
is 'the table has the parts' \
	"$(rows 'tl-diff --table diff_steps -c term,diff_ns late1.json late6.json' | cut -d . -f 1)" 'step 5000000'
reports 5 steps-lost 'tl-diff --fail-over step:3% late1.json late6.json'
reports 3 gate-steps-lost 'tl-diff --fail-over 3% late1.json late6.json'
is 'the gate: GPU time alone' "$(tl-diff --fail-over gpu:3% late1.json late6.json >/dev/null 2>&1; echo $?)" 0

# ---- steps of the host before, of the GPU after ----

# paced US: steps that the host enqueues in 60 us; the GPU takes US
paced() {
	for i in 0 1 2 3 4; do
		ev user_annotation "ProfilerStep#$i" 1 $((i * 60)) 60
		op mm $((i * 60 + 1)) 9
		call $((i * 60 + 2)) $((i + 1))
		at=$((i * 60 + 10))
		[ "$1" -le 50 ] || at=$((i * $1 + 10))
		gpu k_mm $at "$1" $((i + 1))
	done
}
paced 50 | trace >host.json
paced 200 | trace >gpu.json
like 'which side is paced by what' "$(step_of host.json gpu.json)" \
	'^step 60\.0 us to 200\.0 us \(\+233\.3 %\), paced by the host before, by the GPU after: 1[0-9.]* us more compute'
like 'in the gate, too' "$(tl-diff --fail-over step:3% host.json gpu.json 2>&1 >/dev/null)" \
	'step time 60\.0 us to 200\.0 us \(\+233\.3 %\), paced by the host before, by the GPU after, \+140'
is 'both by the GPU' "$(step_of gpu.json gpu.json | grep -c paced)" 0

# ---- one step each ----

paced 50 | grep -v ProfilerStep | trace >once.json
paced 40 | grep -v ProfilerStep | trace >once40.json
is 'unknown noise is said in pipes as on screens' \
	"$(tl-diff once.json once40.json 2>&1 >/dev/null | grep -c '^tl-diff: noise unknown: pass several runs or steps$'
	tl-diff --format table once.json once40.json | grep -c '^noise unknown: pass several runs or steps$')" '1
1'

# ---- a step that stands out ----

# run US...: steps of two ops; the second takes US
run() {
	n=0
	for us; do
		t=$((n * 10000))
		ev user_annotation "ProfilerStep#$n" 1 $t 9900
		op steady $((t + 1)) 10
		call $((t + 2)) $((2 * n + 1))
		op wild $((t + 20)) 10
		call $((t + 21)) $((2 * n + 2))
		gpu k_steady $((t + 30)) $((1000 + n % 3)) $((2 * n + 1))
		gpu k_wild $((t + 4000)) "$us" $((2 * n + 2))
		n=$((n + 1))
	done
}
run 500 502 501 500 503 501 | trace >even.json
run 500 502 501 900 503 501 | trace >odd.json
run 500 502 501 540 503 501 | trace >slight.json
run 500 502 501 900 | trace >few.json
out() { tl-diff --table diff_verdict --no-header "$@" 2>err | grep 'stands\{0,1\} out'; }
# others: 1500, 1503, 1503, 1504, 1503; median 1503; step 3: 1000 + 900; wild:
# 900 over the median 501 of the others
is 'a step that stands out' "$(out even.json odd.json)" \
	'step 3 of after stands out: 1.900 ms of compute, 397.0 us (26.4 %) above the median of 5 others, 399.0 us of it in wild'
is 'of the other side, as it is called' "$(out --names old,new odd.json even.json)" \
	'step 3 of old stands out: 1.900 ms of compute, 397.0 us (26.4 %) above the median of 5 others, 399.0 us of it in wild'
is 'below 50 us: none' "$(out even.json slight.json)" ''
is 'fewer than 5 steps: none' "$(out few.json few.json)" ''
is 'none' "$(out even.json even.json)" ''
is 'it is no difference' "$(tl-diff --fail-over gpu:1% even.json odd.json >/dev/null 2>&1; echo $?)" 0
is 'of several runs' "$(out -B even.json -B even.json -A even.json -A odd.json)" \
	'step 3 of after, run 1, stands out: 1.900 ms of compute, 397.0 us (26.4 %) above the median of 5 others, 399.0 us of it in wild'

# ---- a first step that stands out on both sides ----

run 2000 500 502 501 503 501 | trace >warm1.json
run 2200 540 541 542 540 541 | trace >warm2.json
run 2000 540 541 542 540 541 | trace >warm3.json
run 500 540 541 542 540 541 | trace >cold2.json
run 9000 500 502 501 503 501 | trace >hot1.json
run 2000 501 502 501 503 501 | trace >near1.json
said() { tl-diff --table diff_verdict --no-header "$@" 2>err; }
gate() { tl-diff --fail-over "$@" >/dev/null 2>err; echo $?; }
message() {
	tl-diff --fail-over "$@" 2>message >/dev/null
	cat message
}
# wild takes 4507 us before and 4904 after, 200 of the difference in the first
# step; steady takes 6006 on both sides. Steps without the first: 1501 1504 1501
# 1504 1503 us, and 1541 1543 1542 1541 1543; wild in the first: 1499 over 501
# and 1659 over 541 us
is 'a first step, and its largest row' "$(out warm1.json warm2.json)" \
	'the first step stands out on both sides: 3.000 ms to 3.200 ms (+6.7 %) of compute, the median of the others 1.503 ms to 1.542 ms (+2.6 %); largest excess: 1.499 ms in wild before, 1.659 ms in wild after; its noise is unknown'
is 'the others are judged, and its time is told' "$(said warm1.json warm2.json | grep '^GPU time')" \
	'GPU time +1.9 %: +197.0 us beyond noise, 100 % of it from 1 op; noise unknown for +200.0 us, all by first steps'
is 'the rows' "$(rows 'tl-diff -c name,diff_ns,first_step_ns,is_noise warm1.json warm2.json')" \
	'wild 397000 200000 false.steady 0 0 false.'
is 'steps on the clock' \
	"$(tl-diff --table diff_steps --no-header -c term,steps_before,steps_after warm1.json warm2.json | head -1)" \
	"$(printf 'step\t5\t5')"
# 1 us^2 a step, 25 * 2/5 of it, and the allowance: 2 * 0.005^2 of 2605.5 us squared
is 'the gate: the same' "$(message gpu:1% warm1.json warm2.json)" \
	'tl-diff: slower than allowed: GPU time 10.513 ms to 10.910 ms (+3.8 %), +397.0 us: +197.0 us ± 36.6 us beyond noise, +200.0 us (noise unknown), all by first steps; allowed: 1 % (105.1 us); 5 and 5 steps of one run each'
# 197 +- 37 us: above 170 us, but not all of the interval
is 'the gate: above the limit' "$(gate gpu:170us warm1.json warm3.json)" 4
is 'the gate: not surely' "$(gate gpu:170us --sure warm1.json warm3.json)" 0
is 'the gate: surely' "$(gate gpu:150us --sure warm1.json warm3.json)" 4
is 'the gate: what is sure' "$(tl-diff --sure warm1.json warm3.json >/dev/null 2>&1; echo $?)" 2
# 397 of 10513 us are 3.8 %
is 'the gate: a first step of one run counts' \
	"$(gate gpu:3% warm1.json warm2.json; gate gpu:4% warm1.json warm2.json)" '4
0'
is 'of one side only it is judged' "$(out warm1.json cold2.json | grep 'first step')" ''

# ---- nothing but the first step differs ----

is 'of one run its noise is unknown' "$(said warm1.json hot1.json | grep 'GPU time\|within noise')" \
	'step unchanged (10.000 ms); GPU time +66.6 %, noise unknown
GPU time 10.513 ms to 17.513 ms: noise unknown for +7.000 ms, all by first steps'
is '... and the cells of noise are empty' \
	"$(rows 'tl-diff -c name,diff_ns,spread_ns,is_noise,first_step_ns warm1.json hot1.json')" \
	'wild 7000000 7000000.steady 0 69572 false 0.'
is '... and the gate counts it' "$(gate gpu:1% warm1.json hot1.json; grep -o '+7.*steps;' err)" \
	'4
+7.000 ms (noise unknown), all by first steps;'
# two runs of two: the clock ticks 1 us, so 1/12 us^2, twice a half: 4.303 * 0.289 us;
# as shares of the mean, 5500 us, of 2000 and 9000 us: * sqrt(85 / 60.5)
is 'over runs it repeats itself' \
	"$(gate gpu:1% -B warm1.json -B warm1.json -A hot1.json -A hot1.json; cat err)" \
	'4
tl-diff: slower than allowed: GPU time 10.513 ms to 17.513 ms (+66.6 %), +7.000 ms ± 1.5 us beyond noise, all by first steps; allowed: 1 % (105.1 us); 2 and 2 runs'
is '... in the sentence' \
	"$(said -B warm1.json -B warm1.json -A hot1.json -A hot1.json | grep -v '^step')" \
	'GPU time +66.6 %: +7.000 ms a run beyond noise, 100 % of it from 1 op, all by first steps
first steps of most runs stand out on both sides: 3.000 ms to 10.000 ms (+233.3 %) of compute on average, the median of the others unchanged (1.503 ms); largest excess: 1.499 ms in wild before, 8.499 ms in wild after; they are judged by themselves'
is '... in the rows' "$(rows 'tl-diff -c name,diff_ns,is_noise,first_step_ns \
	-B warm1.json -B warm1.json -A hot1.json -A hot1.json')" \
	'wild 7000000 false 7000000.steady 0 false 0.'
for i in 0 1 2; do
	run $((2000 + i)) 500 502 501 503 501 | trace >was$i.json
	run $((3000 + i)) 500 502 501 503 501 | trace >is$i.json
	run $((2000 + 400 * i)) 500 502 501 503 501 | trace >wide$i.json
	run $((2200 + 400 * i)) 500 502 501 503 501 | trace >more$i.json
done
# 1 us^2, two thirds of it: 2.776 * 0.816 us; as shares of 2000 and 3000 us, by
# their mean: * sqrt((1 / 4 + 1 / 9) / 2 * (4 + 9) / 2)
is 'three runs that differ' "$(message gpu:1% -B was0.json -B was1.json -B was2.json \
	-A is0.json -A is1.json -A is2.json | grep -o '+1.*steps')" '+1.000 ms ± 2.5 us beyond noise, all by first steps'
set -- -B wide0.json -B wide1.json -B wide2.json -A more0.json -A more1.json -A more2.json
is 'first steps that vary more than they differ' "$(gate gpu:1% "$@"
	said "$@" | grep 'GPU time\|^1 row')" '0
step unchanged (10.000 ms); GPU time within noise
GPU time 10.913 ms to 11.113 ms a run: within noise
1 row differs, within noise'
is '... in the rows' "$(rows "tl-diff -c name,diff_ns,is_noise,first_step_ns $*")" \
	'wild 200000 true 200000.steady 0 false 0.'
is 'rest and first steps of several runs' \
	"$(said -B warm1.json -B warm1.json -A warm2.json -A warm2.json | grep '^GPU time')" \
	'GPU time +3.8 %: +397.0 us a run beyond noise, 100 % of it from 1 op, +200.0 us by first steps'
is '... and of a step' "$(said --per step -B warm1.json -B warm1.json \
	-A warm2.json -A warm2.json | grep '^GPU time')" \
	'GPU time +3.8 %: +66.2 us a step beyond noise, 100 % of it from 1 op, +33.3 us by first steps'
is 'first steps that do not differ: no word in the sentences' \
	"$(said warm1.json near1.json | grep 'GPU time\|^1 row')" \
	'step unchanged (10.000 ms); GPU time within noise
GPU time 10.513 ms to 10.514 ms: within noise
1 row differs, within noise'

# serve US: a prefill of US, then eight decodes
serve() {
	n=0
	for us in "$1" 500 501 502 500 501 502 500 501; do
		t=$((n * 20000)) name='execute_context_0(0)_generation_8(8)'
		[ $n -gt 0 ] || name='execute_context_1(512)_generation_0(0)'
		ev user_annotation "$name" 1 $t 19000
		op attn $((t + 20)) 10
		call $((t + 21)) $((n + 1))
		gpu k_attn $((t + 4000)) "$us" $((n + 1))
		n=$((n + 1))
	done
}
serve 8000 | trace >serve1.json
serve 12000 | trace >serve2.json
is 'a prefill before decodes is no slow first step' "$(out serve1.json serve2.json)" ''

# 4 % more in each of many ops: no single row is significant
spread() {
	n=0 corr=0
	for us in 100 100 100 "$1" 100 100; do
		t=$((n * 10000))
		ev user_annotation "ProfilerStep#$n" 1 $t 9900
		for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			corr=$((corr + 1))
			op "op$k" $((t + k * 10)) 5
			call $((t + k * 10 + 1)) $corr
			gpu "k$k" $((t + 1000 + 200 * k)) "$us" $corr
		done
		n=$((n + 1))
	done | trace
}
spread 104 >all4.json
spread 112 >all12.json
is 'spread over rows that hardly grew: none' "$(out even.json all4.json)" ''
like 'spread over rows that grew' "$(out even.json all12.json)" \
	'^step 3 of after stands out: 2\.240 ms of compute, 240\.0 us \(12\.0 %\) .* 12\.0 us of it in op'
# ---- steps that launch nothing ----

# two_steps US [LAST]: a step of 1 ms and one of 3 ms, each with an op; a kernel of
# the first takes US, and the second launches one unless LAST is set
two_steps() {
	ev user_annotation 'ProfilerStep#1' 1 0 1000
	op a 610 10
	call 611 1
	gpu k_a 900 "$1" 1
	ev user_annotation 'ProfilerStep#2' 1 1000 3000
	op a 1010 10
	[ -n "${2-}" ] && return
	call 1011 2
	gpu k_a 2000 50 2
}
two_steps 500 | trace >both.json
two_steps 500 none | trace >one.json
step_times() { # step_times ARGS: step times and how many; then the gate
	rows "tl-diff --table diff_steps -c term,before_ns,after_ns,steps_before,steps_after $*" |
		grep -o 'step [^a-z]*'
	tl-diff --fail-over step:3% "$@" >/dev/null 2>err
	echo $?
}
same_steps='step 2000000.0 2000000.0 2 2.
0'
is 'a step that launched nothing, while the GPU works: before' \
	"$(step_times one.json both.json)" "$same_steps"
is 'after' "$(step_times both.json one.json)" "$same_steps"
is 'selected' "$(step_times --step 1-2 one.json both.json)" "$same_steps"
is 'of a selected rank' "$(step_times --pair rank --rank 0 one.json both.json)" "$same_steps"
is 'steps that are not selected' "$(step_times --step 1 one.json both.json)" \
	'step 1000000.0 1000000.0 1 1.
0'
tl-tree both.json | tl-filter --step 1 -o first.tl
is 'marks of steps without events, in a filtered trace' "$(step_times first.tl both.json)" \
	'step 1000000.0 2000000.0 1 2.
4'
is 'GPU work of how many steps' "$(verdict both.json one.json | grep 'launched in')" \
	'GPU work was launched in 1 and 2 steps'
two_steps 50 | trace >both50.json
two_steps 50 none | trace >one50.json
is 'no GPU event is in the step: it is compared on no side' \
	"$(step_times one50.json both50.json; verdict both50.json one50.json | grep 'not compared')" \
	'step 1000000.0 1000000.0 1 1.
0
1 step has no GPU events on one side: not compared'

done_testing
