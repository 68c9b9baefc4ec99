#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-match: matching blocks of iterations, its output, refusals.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

oracle() { python3 "$ROOT/tests/oracle/match.py" "$@"; }

# ---- the worked example: prompts at first and in every eighth iteration ----

example() { # example GROWTH: of g_sk, per iteration
	for i in $(seq 0 39); do
		c=0 g=16
		[ "$i" -lt 4 ] && c=1 g=$i
		[ "$i" -ge 4 ] && [ $((i % 8)) -eq 4 ] && c=1 g=15
		sq=$((512 * c)) sk=$((11200 + $1 * i))
		ev user_annotation "execute_${i}_context_$c(sq${sq}sk${sq}sqsq1sqsk1)_generation_$g(sq${g}sk${sk}sqsq1sqsk1)" \
			1 $((100 * i)) 100
		for k in 1 2; do
			corr=$((2 * i + k))
			ev cuda_runtime cudaLaunchKernel 1 $((100 * i + 10 * k)) 5 "\"correlation\":$corr"
			ev kernel k 7 $((100 * i + 20 * k)) 8 "\"correlation\":$corr,\"device\":0,\"stream\":7"
		done
	done | trace
}
example 1 >a.json
example 2 >b.json
match='tl-match --num-steps 4 a.json b.json'
is 'which blocks' "$(rows "$match -c phase,steps,distance,a_block,a_start,a_end,b_block,b_start,b_end")" \
	'decode 4 0.0|1.5 4 13 17 2 5 9.mixed 4 0.0|0.0|0.0|0.0 1 1 5 1 1 5.'
is 'runs, and whether they were cut' "$(rows "$match -c a_run_steps,a_is_cut,b_run_steps")" \
	'7 true 7.4 false 4.'
is 'numbers of steps' "$(rows "$match -c a_steps,b_steps")" '14-17 6-9.2-5 2-5.'
is 'mean loads' "$(rows "$match -c a_c_req_mean,a_g_req_mean,a_g_sk_mean,b_g_sk_mean,b_c_sq_mean")" \
	'0.0 16.0 11214.5 11213.0 0.0.1.0 5.25 11202.5 11205.0 512.0.'
is 'its iterations side by side' \
	"$(rows "$match --table match_steps -c side,step,g_sk,wall_ns --phase decode" | cut -d. -f 1-4)" \
	'A 14 11213 100000.B 6 11210 100000.A 15 11214 100000.B 7 11212 100000'
is 'a phase without a match' "$($match --phase prefill,decode -c phase --no-header 2>&1)" \
	'prefill
decode'
example 1 | sed 's/context_1(sq512/context_2(sq900/; s/execute_0_context_2/execute_0_context_0/' >c.json
is 'is said' "$(tl-match --phase prefill,decode -c phase --no-header a.json c.json 2>&1)" \
	'tl-match: prefill: no match: 1 block of a.json, 0 with one of the same length in c.json
decode'
is 'of equals the first' "$(rows 'tl-match --num-steps 2 --phase decode -c a_start,b_start --top 3 a.json a.json')" \
	'5 5.7 7.9 9.'
is 'of equals the longer runs' "$(rows 'tl-match --num-steps 3 --phase decode -c a_run_steps,b_run_steps a.json b.json')" \
	'7 7.'
is 'whole runs' "$(rows 'tl-match --num-steps 0 --phase decode -c steps,a_is_cut a.json b.json')" '7 false.'
is 'on a terminal' "$(tl-match --num-steps 4 --format table -c phase,distance,a_steps a.json b.json | sed -n 2p)" \
	'decode  0.0|1.5          14-17'
tl-tree a.json -o a.tl
is 'a tree and standard input' "$(rows 'tl-match --num-steps 4 -c a_steps a.tl - <b.json')" '14-17.2-5.'

# ---- output of -d ----

tl-match --num-steps 4 -d out a.json b.json 2>err
is 'files' "$(cd out && find . -type f | sort)" \
	'./decode_only/decode_only_best_A4_B2_A_prefill_0_prefilldecode_0_decode_4_bs16_conc16_a.tl
./decode_only/decode_only_best_A4_B2_B_prefill_0_prefilldecode_0_decode_4_bs16_conc16_b.tl
./match_notes.json
./match_report.csv
./match_report.json
./match_steps.csv
./prefilldecode/prefilldecode_best_A1_B1_A_prefill_0_prefilldecode_4_decode_0_bs517_conc6_a.tl
./prefilldecode/prefilldecode_best_A1_B1_B_prefill_0_prefilldecode_4_decode_0_bs517_conc6_b.tl'
is 'columns of the reference come first' "$(head -n 1 out/match_report.csv | cut -d, -f 1-17)" \
	'match_id,phase,num_steps,distance,TraceA_trace,TraceA_block_index,TraceA_start,TraceA_end,TraceA_original_num_steps,TraceA_truncated,TraceA_avg_c_req,TraceA_avg_g_req,TraceA_avg_c_sq,TraceA_avg_c_sk,TraceA_avg_g_sq,TraceA_avg_g_sk,TraceA_output_path'
is 'no notes' "$(cat out/match_notes.json)" '[]'
is 'a part is a tree with the work of its steps' \
	"$(tl-cat out/decode_only/*_A_*.tl | grep -c '"kind":"kernel"')" 8

# ---- against the oracle ----

agrees() { # agrees TEXT ARGUMENT...
	what=$1
	shift
	is "as the oracle: $what" "$(oracle "$@" | grep -v '^$')" "$n"
}
n='2 matches'
agrees 'the example' a.json b.json --num-steps 4
agrees 'as Chrome traces' a.json b.json --num-steps 4 --to chrome
steps=2000
! sanitized || steps=300
for form in vllm_detailed sglang_detailed vllm_native; do
	oracle --make 1 $steps $form >$form.1.json
	oracle --make 2 $steps $form 19 >$form.2.json
done
agrees "$steps iterations" vllm_detailed.1.json vllm_detailed.2.json
agrees 'of two servers' vllm_detailed.1.json sglang_detailed.2.json --num-steps 5
agrees 'without keys read' vllm_native.1.json sglang_detailed.2.json --approx
oracle --make 3 300 vllm_detailed 18 10 >profiled.json
agrees 'inside ProfilerStep#N' profiled.json vllm_detailed.2.json --num-steps 6
n='30 matches'
agrees 'all phases, the ten nearest' sglang_detailed.1.json vllm_detailed.2.json \
	--phase mixed,prefill,decode --top 10 --num-steps 3
n='0 matches'
agrees 'no sums' vllm_native.1.json vllm_detailed.2.json

# ---- names ----

# the longest name and characters of all kinds: a file's name is 200 bytes at most
evil=$(printf 'a"b\\n%0200d' 0)
cp a.json "$evil.json"
tl-match --num-steps 4 --phase decode -d evil "$evil.json" b.json 2>err
is 'names of files are cut' "$(cd evil/decode_only && for f in *; do
	test ${#f} -le 200 && echo yes; done | tr '\n' ' ')" 'yes yes '
ok 'and the report is JSON' python3 -c 'import json; json.load(open("evil/match_report.json"))'
sed 's/execute_13_/execute_99999999999999999999999_/; s/sk11214sqsq/sk99999999999999999999999sqsq/' a.json >huge.json
ok 'numbers beyond int64' tl-match --num-steps 4 huge.json b.json

# ---- known schedules, in every format of annotations ----

# Of ten iterations three are prompts, two mixed, five decode; the load depends
# on the ten, modulo 7. Keys grow by 1 in A and 2 in B. Those of decode in the
# tens j of A and i of B are 10 (j - 2 i) - k apart, k from 5 to 9: at least 3,
# for j - 2 i = 1. Of equal load they are first for i = 6, j = 13. Without keys,
# or with equal ones, the first of all matches.
serving() { python3 "$ROOT/tests/gen/serving.py" --schedule phases --steps "$nsteps" "$@"; }
slow && nsteps=2000 || nsteps=200
for form in vllm_detailed sglang_detailed atom_detailed; do
	serving --format $form >x.json
	serving --format $form --slope 2 >y.json
	is "$form: what was planted" \
		"$(rows 'tl-match --phase decode,mixed,prefill -c phase,distance,a_steps,b_steps x.json y.json')" \
		'decode 0.0|3.0 136-140 66-70.mixed 0.0|0.0|0.0|0.0 4-5 4-5.prefill 0.0|0.0|0.0|0.0 1-3 1-3.'
done
for form in vllm_native sglang_native atom_native; do
	serving --format $form >x.json
	serving --format $form --slope 2 >y.json
	is "$form: by tokens alone" \
		"$(rows 'tl-match --approx --phase decode,mixed,prefill -c phase,distance,a_steps,b_steps x.json y.json')" \
		'decode 0.0 6-10 6-10.mixed 0.0|0.0|0.0|0.0 4-5 4-5.prefill 0.0|0.0|0.0|0.0 1-3 1-3.'
done
# prompts on one server, generation on another: each has one phase, so no pair
python3 - <<'END'
import json
events = json.load(open("x.json"))["traceEvents"]
for name, words in (("prompts", ("prefill[",)), ("tokens", ("decode[",))):
    keep = [e for e in events if e.get("cat") == "user_annotation" and e["name"].startswith(words)
            and " p=" not in e["name"]]
    open(name + ".json", "w").write(json.dumps({"traceEvents": keep}))
END
is 'disaggregated prefill' "$(for t in prompts tokens; do
	tl-steps --format tsv --no-header -c what,phase $t.json | grep ^step | sort | uniq -c | tr -s ' \t' ' '
done | paste -sd, -)" " $((nsteps * 3 / 10)) step prefill, $((nsteps / 2)) step decode"
reports 5 no-blocks-match 'tl-match --approx --phase prefill,decode,mixed prompts.json tokens.json'

# ---- several processes, and several sources ----

oracle --make 1 100 vllm_detailed 18 0 3 >three.json
oracle --make 7 100 vllm_detailed 18 0 2 >two.json
n='6 matches'
agrees 'of all processes' three.json two.json --num-steps 5 --top 3
is 'whose they are' \
	"$(rows 'tl-match --num-steps 5 --phase decode -c a_steps,a_process,b_steps,b_process three.json two.json')" \
	'45-49@0:3 0:3 30-34@0:2 0:2.'
# the second rank of A did B's work; both have the same process
sed 's/generation_16(sq16sk/&9/' a.json >far.json
cp far.json rank-0.json
cp b.json rank-1.json
tl-merge rank-0.json rank-1.json -o ranks.tl 2>err
example='tl-match --num-steps 4 --phase decode ranks.tl a.json'
is 'of another rank' "$(rows "$example -c distance,a_steps,a_rank,a_process,b_steps,b_rank")" \
	'0.0|1.5 6-9@1:1 1 1:1 14-17 0.'
rm -r out
tl-match --num-steps 4 --phase decode -d out ranks.tl a.json 2>err
is 'its work alone' "$(tl-cat out/decode_only/*_A_*.tl | grep '"kind":"kernel"' |
	grep -o '"src":[0-9]*' | sort | uniq -c | tr -s ' ')" ' 8 "src":1'
# names of processes, for which --step takes patterns
is 'a process with a name' "$(sed 's/"pid":1,/"pid":"a,b",/' b.json >named.json
	sed 's/"pid":1,/"pid":2,/' far.json >far2.json
	python3 -c 'import json
print(json.dumps({"traceEvents": [e for f in ("far2.json", "named.json")
                                  for e in json.load(open(f))["traceEvents"]]}))' >both.json
	rows 'tl-match --num-steps 4 --phase decode -c a_steps both.json a.json')" '6-9@0:a?b.'

# ---- refusals ----

reports 5 no-iterations "tl-match a.json $SAMPLE"
reports 5 no-blocks-with-sums 'tl-match vllm_native.1.json vllm_native.2.json'
ev user_annotation 'execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk1)' 1 0 9 | trace >one.json
reports 5 no-blocks-match 'tl-match one.json a.json'
refuses 2 'two traces' 'tl-match a.json'
refuses 2 'standard input' 'tl-match - - <a.json'
refuses 2 'standard input' 'tl-match -d x - a.json <a.json'
refuses 2 'needs -d' 'tl-match --to chrome a.json b.json'
refuses 2 'no table .nosuch.; see --list-tables' 'tl-match --table nosuch a.json b.json'
refuses 2 'no table .steps.: is it match_steps' 'tl-match --table steps a.json b.json'
refuses 2 'writes all tables' 'tl-match --table match_steps -d x a.json b.json'
refuses 2 'prefill, decode or mixed' 'tl-match --phase decode_only a.json b.json'
refuses 2 'prefill, decode or mixed' 'tl-match --phase outside a.json b.json'
refuses 2 "'--top'" 'tl-match --top 0 a.json b.json'
refuses 1 'No such file' 'tl-match a.json nothing.json'
refuses 1 'No space left' "$match >/dev/full"
head -c 3000 a.tl >cut.tl
refuses 1 'cut off' 'tl-match cut.tl b.json'
page_examples tl-match.1
done_testing
