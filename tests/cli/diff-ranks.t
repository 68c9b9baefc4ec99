#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff --pair rank: which rank differs, in table, sentence and gate.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/cli/diff-events.sh
. "$ROOT/tests/cli/diff-events.sh"

# job DIR FACTOR...: a folder of ranks, whose GEMMs take so many percent; MORE:
# a rank with one more call per step; STEPS steps; FIRST FACTOR...: percent of
# that in each rank's first step. The all-reduce waits for the slowest
job() {
	mkdir -p "$1"
	dir=$1
	shift
	rank=0
	for percent; do
		corr=0 t=0
		first=$(echo "${FIRST:-100 100 100 100}" | cut -d ' ' -f $((rank + 1)))
		for wobble in 0 3 -2 4 1 -3 2; do
			[ "$t" -eq 0 ] || first=100
			[ "$t" -lt "$((${STEPS:-7} * 10000))" ] || break
			ev user_annotation "ProfilerStep#$((t / 10000))" 1 $t 9900
			for call in 1 2 ${MORE:+3}; do
				[ "$call" -lt 3 ] || [ "$rank" = "$MORE" ] || continue
				corr=$((corr + 1))
				op gemm $((t + call * 50)) 20
				call $((t + call * 50 + 1)) $corr
				gpu k_gemm $((t + call * 1500)) \
					$((percent * first / 10 + (wobble * (rank + call)) % 5)) $corr
			done
			corr=$((corr + 1))
			op all_reduce $((t + 300)) 20
			call $((t + 301)) $corr
			gpu ncclDevKernel_AllReduce $((t + 6000)) \
				$((2000 - 15 * percent + 40 * wobble)) $corr
			t=$((t + 10000))
		done | trace | sed "1s/{/{\"distributedInfo\":{\"rank\":$rank,\"world_size\":4},/" \
			>"$dir/$rank.json"
		rank=$((rank + 1))
	done
}
job was 100 100 103 100
job same 100 100 103 100
job is 100 110 103 100
job two 100 110 90 100
MORE=3 job more 100 100 103 100
STEPS=1 job once 100 110 103 100

# ranks ARGS: the table
ranks() { rows "tl-diff --pair rank --table diff_ranks $*"; }
verdict() { tl-diff --pair rank --table diff_verdict --no-header "$@" 2>err | grep '^rank\|^slowest\|ranks'; }
# gate LIMIT AFTER
gate() {
	tl-diff --pair rank --fail-over "rank:$1" was "$2" >/dev/null 2>gate.err
	echo $?
}

is 'one slow rank: the table' "$(ranks -c rank,is_noise,structure_ns,steps_before,steps_after was is)" \
	'0 false 0 7 7.1 false 0 7 7.2 false 0 7 7.3 false 0 7 7.'
is 'one slow rank: only its difference is judged' \
	"$(tl-diff --pair rank --table diff_ranks --no-header -c rank,diff_ns,judged_ns was is |
		awk '{ print $1, ($2 == $3), ($3 > 150000 && $3 < 250000) }')" \
	'0 1 0
1 1 1
2 1 0
3 1 0'
like 'one slow rank: the sentence' "$(verdict was is | head -n 1)" \
	'^rank 1 alone regressed: compute .* \(\+[0-9.]* %\) a step, .* beyond noise, 100 % of it from 1 op: gemm; the other 3 within noise$'
is 'which leads' "$(tl-diff --pair rank --table diff_verdict --no-header was is 2>err | head -n 1 | cut -c 1-12)" \
	'rank 1 alone'
is 'nobody differs: it does not' \
	"$(tl-diff --pair rank --table diff_verdict --no-header was same 2>err | head -n 1 | cut -c 1-5)" 'the t'
is 'what in it became slower' \
	"$(ranks -c rank,row,row_ns was is | sed 's/[0-9]\{3\}\././')" "0 .1 gemm 200.2 .3 ."
like 'and who is the slowest' "$(verdict was is | sed -n 2p)" \
	'^slowest rank: .* of compute a step \(rank 2\) to .* \(rank 1\); it sets the pace'
is 'the gate' "$(gate 3% is)" 4
like 'the gate names it alone' "$(cat gate.err)" \
	'^tl-diff: slower than allowed: rank 1: compute a step .* us beyond noise; allowed: 3 % \(.*\); 7 and 7 steps, which vary like those of all 4 ranks$'
is 'the gate: one message' "$(grep -c allowed gate.err)" 1
is 'the gate: not by so much' "$(gate 20% is)" 0
is 'the gate: nothing changed' "$(gate 0% same)" 0
is 'nothing changed' "$(verdict was same)" 'compute of each of 4 ranks is within noise'
like 'one slower, one faster: the larger' "$(verdict was two | head -n 1)" \
	'^2 of 4 ranks differ beyond noise, most rank 2: compute '
job all 110 110 113 110
is 'all slower: none alone' "$(verdict was all | head -n 1 | grep -o '.*compute')" \
	'4 of 4 ranks differ beyond noise, most rank 0: compute'
is 'one slower, one faster: the gate is about the slower' "$(gate 3% two; grep -c 'rank 1' gate.err)" '4
1'
is 'a call more is no noise' \
	"$(tl-diff --pair rank --table diff_ranks --no-header -c rank,structure_ns,judged_ns was more |
		awk '{ print $1, ($2 > 900000), ($2 == $3) }')" '0 0 1
1 0 1
2 0 1
3 1 1'
is 'one step: noise is unknown' "$(ranks -c rank,is_noise,judged_ns once once)" '0 .1 .2 .3 .'
tl-diff --pair rank --fail-over rank:3% once once >/dev/null 2>&1
is 'one step each: the same' $? 0
STEPS=1 job first 100 100 103 100
tl-diff --pair rank --fail-over rank:3% first once >/dev/null 2>gate.err
is 'one step each: slower' "$?$(grep -c 'rank 1.*noise unknown' gate.err)" 41

# ---- first steps that stand out ----

# in each rank's 7 steps, twice a call of 1,000 us (rank 2: 1,030); first steps
# alone are no sample
FIRST='150 150 150 150' job cold 100 100 103 100
FIRST='150 150 400 150' job colder 100 100 103 100
is 'a first step is part of no other' \
	"$(ranks -c rank,before_ns,diff_ns,is_noise,first_step_ns,steps_after cold colder |
		sed 's/ 20[0-9]\{5\} / T /g')" \
	'0 T 0 false 0 6.1 T 0 false 0 6.2 T 0 false 735714 6.3 T 0 false 0 6.'
tl-diff --pair rank --fail-over rank:3% cold colder >/dev/null 2>gate.err
is 'the gate: how it varies is not known, which counts' "$? $(cat gate.err)" \
	'4 tl-diff: slower than allowed: rank 2: first step 3.090 ms to 8.240 ms (+166.7 %), +735.7 us a step (noise unknown); allowed: 3 % (61.9 us)'
tl-diff --pair rank --fail-over rank:40% cold colder >/dev/null 2>&1
is 'the gate: not by so much' $? 0
tl-diff --pair rank --fail-over rank:3% colder cold >/dev/null 2>&1
is 'the gate: a shorter one' $? 0
tl-diff --pair rank --fail-over rank:0% cold cold >/dev/null 2>&1
is 'the gate: the same' $? 0
# first steps of 8,000 and 4,000 or 4,400 us shrink by more than steps of 2,000
# us grow; six of these, each 200 us longer, are 1.2 ms of 20 and 17.6
FIRST='400 400 400 400' job shrinks 100 100 100 100
FIRST='200 200 200 200' job shrunk 100 100 110 100
for sure in '' --sure; do
	# shellcheck disable=SC2086
	tl-diff --pair rank --fail-over rank:3% $sure shrinks shrunk >/dev/null 2>gate.err
	like "the gate: a shorter first step pays for no slower ones $sure" "$? $(cat gate.err)" \
		'^4 tl-diff: slower than allowed: rank 2: compute a step 2\.[0-9]* ms to 2\.2[0-9]* ms \([^ ]* %\), \+[12][0-9][0-9]\.[0-9] us .* us beyond noise; allowed: 3 % \(60\.0 us\); 6 and 6 steps[^:]*$'
	# shellcheck disable=SC2086
	tl-diff --name k_gemm --fail-over gpu:3% $sure shrinks/2.json shrunk/2.json >/dev/null 2>gate.err
	like "... nor in GPU time $sure" "$? $(cat gate.err)" \
		'^4 tl-diff: slower than allowed: GPU time 20\.0[0-9]* ms to 17\.6[0-9]* ms \(-12\.0 %\), \+1\.[12][0-9]* ms .* us beyond noise, -3\.600 ms \(noise unknown\), all by first steps, not counted; allowed'
done
tl-diff --pair rank --fail-over rank:15% shrinks shrunk >/dev/null 2>&1
is '... of less than allowed' $? 0
is 'none stands out' "$(ranks -c rank,first_step_ns was is)" '0 .1 .2 .3 .'

# ---- a rank that a side has twice ----

for side in was is; do
	mkdir "twice_$side"
	cp $side/*.json "twice_$side"
	cp $side/1.json "twice_$side/9.json"
done
reports 3 rank-twice 'tl-diff --pair rank --table diff_ranks twice_was is'
is 'it is skipped' "$(tl-diff --pair rank --table diff_ranks twice_was is 2>err)" \
	"$(tl-diff --pair rank --table diff_ranks was is)"
is '... by name' "$(grep -o '[^ ]*9.json.*rank 1 .*1.json' err | sed 's/:.*in/:/')" \
	'twice_was/9.json: twice_was/1.json'
reports 3 rank-twice 'tl-diff --pair rank --table diff_ranks was twice_is'
is '... after, too' "$(tl-diff --pair rank --table diff_ranks was twice_is 2>err)" \
	"$(tl-diff --pair rank --table diff_ranks was is)"
is '... and is not said to be missing before' "$(grep -c . err)" 1

refuses 2 'rank: needs --pair rank' 'tl-diff --fail-over rank:3% was is'
refuses 2 'needs --pair rank' 'tl-diff --table diff_ranks was is'
refuses 2 '--per step with --by kernel' 'tl-diff --by kernel --pair rank --table diff_ranks was is'

# ---- ranks that are not recorded ----

# 0.json records none, so it is the first; 1.json is rank 0, 2.json is 2
for side in was is; do
	mkdir "part_$side"
	sed '1s/"distributedInfo":{[^}]*},//' $side/1.json >"part_$side/0.json"
	cp $side/0.json "part_$side/1.json"
	cp $side/2.json "part_$side"
done
is 'a rank that is recorded comes before a guess' \
	"$(tl-diff --pair rank --table diff_ranks --no-header -c rank,judged_ns part_was part_is 2>err |
		awk '{ print $1, ($2 > 150000 && $2 < 250000) }'; cat err)" '0 0
1 1
2 0'
tl-merge --align none part_was/*.json -o part.tl 2>/dev/null
is '... in a merged stream, too' \
	"$(ranks -c rank,after_ns part.tl part_is)" "$(ranks -c rank,after_ns part_was part_is)"
is '... which is selected' "$(ranks -c rank --rank 1 part.tl part_is)" '1.'
cp was/0.json twice_was/0b.json
tl-merge --align none was/0.json twice_was/0b.json -o twice.tl 2>/dev/null
like 'of a merged stream the source is named' \
	"$(tl-diff --pair rank --table diff_ranks twice.tl was 2>&1 >/dev/null | grep source)" \
	'twice\.tl, source 1: .* twice\.tl, source 0$'
mkdir anon_was anon_is
for i in 0 1 2 3; do
	sed '1s/"distributedInfo":{[^}]*},//' was/$i.json >anon_was/x$i.json
	sed '1s/"distributedInfo":{[^}]*},//' is/$i.json >anon_is/x$i.json
done
is 'nothing tells ranks: their order does' \
	"$(tl-diff --pair rank --table diff_ranks anon_was anon_is)" \
	"$(tl-diff --pair rank --table diff_ranks was is)"
is '... and which are selected' \
	"$(tl-diff --pair rank --rank 1,3 --table diff_ranks -c rank,before_ns,after_ns anon_was anon_is)" \
	"$(tl-diff --pair rank --rank 1,3 --table diff_ranks -c rank,before_ns,after_ns was is)"
reports 5 no-such-rank 'tl-diff --pair rank --rank 7 anon_was anon_is'
reports 5 no-such-rank 'tl-diff --rank 1 anon_was anon_is'
like 'several runs are no ranks' "$(tl-diff --rank 1 anon_was anon_is 2>&1 >/dev/null)" \
	'traces record no rank: --pair rank'
reports 5 no-such-rank 'tl-report --rank 1 anon_was/x0.json anon_was/x1.json'
is '... which is said once, with the traces named' \
	"$(tl-report --rank 1 anon_was/x0.json anon_was/x1.json 2>&1 | grep -o '^tl-[a-z]*: all traces\|tl-advise')" \
	'tl-report: all traces'
is '... and of one it is a number' \
	"$(tl-report --rank 7 was/0.json was/1.json 2>&1 | grep -o 'it has.*')" 'it has ranks 0, 1'
is '... as it does for collectives' "$(tl-collective --table nccl_long -c rank anon_was 2>err | sort | uniq -c)" \
	"$(tl-collective --table nccl_long -c rank was 2>err | sort | uniq -c)"
is 'of kernels' "$(ranks --by kernel --per step -c rank,steps_after was is)" '0 7.1 7.2 7.3 7.'
done_testing
