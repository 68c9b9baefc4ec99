#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-split by serving iterations: known schedules, and bad input.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

serving() {
	python3 "$ROOT/tests/gen/serving.py" "$@"
}
# split MODE TRACE [OPTION...]: as traces, into parts
split() {
	mode=$1 trace=$2
	shift 2
	rm -rf parts
	case $mode in
	range) ;;
	*) set -- --by "$mode" "$@" ;;
	esac
	tl-split --to chrome -d parts "$@" "$trace" 2>err
}
# checked TEXT MODE TRACE OPTION=VALUE...: split's output against the oracle
checked() {
	text=$1
	shift
	mode=$2 trace=$1
	shift 2
	python3 "$ROOT/tests/oracle/split.py" check "$trace" parts "$mode" "$@" >out
	is "$text" "$(grep -v '^ok' out)" '1..2'
}
all_modes() { # TEXT TRACE
	for way in iteration steady phase; do
		split $way "$2"
		checked "$1: by $way" "$2" $way
	done
}

# ---- worked numbers ----

serving >worked.json
split steady worked.json --num-steps 16
is 'worked: windows of steady state' \
	"$(cut -d, -f1-4,5-12 parts/execution_details.csv | sed 1d)" \
	'0,mixed_steady_state_prefill_0_prefilldecode_2_decode_14_bs79_conc16_worked.json.gz,177,32,448.0,256.0,0,2,14,79,16,16
0,decode_only_steady_state_prefill_0_prefilldecode_0_decode_7_bs16_conc16_worked.json.gz,78,14,196.0,112.0,0,0,7,16,16,7
0,prefilldecode_steady_state_prefill_0_prefilldecode_1_decode_0_bs527_conc16_worked.json.gz,12,2,28.0,16.0,0,1,0,527,16,1'
is 'the file has that many events' "$(gzip -dc parts/mixed* | grep -o '"ph"' |
	wc -l | tr -d ' ')" 177
checked 'worked: iterations 4 to 19' worked.json steady num_steps=16
split steady worked.json --num-steps 2 --conc 16 --osl 100 --osl-ratio 0.8
checked 'a load that is known: six iterations' worked.json steady num_steps=2 conc=16 \
	osl=100 osl_ratio=0.8
is 'which are' "$(cd parts && echo mixed*)" \
	'mixed_steady_state_prefill_0_prefilldecode_1_decode_5_bs101_conc16_worked.json.gz'
split steady worked.json --iterations 1:12 --num-steps 4
checked 'a range is the region' worked.json steady num_steps=4 iterations=1:12
split phase worked.json --iterations 0:9
checked 'runs of a range' worked.json phase iterations=0:9
is 'in folders' "$(cd parts && echo *)" \
	'decode_only execution_details.csv execution_details.json prefilldecodemix'
split range worked.json --iterations 3:17
checked 'a range is one part' worked.json range iterations=3:17
is 'called' "$(cd parts && echo *.gz)" \
	'worked_annotation_iteration_3_prefill_0_prefilldecode_3_decode_11_bs124_conc15.json.gz'
split range worked.json --iterations 38:1000
checked 'cut to those that are there' worked.json range iterations=38:40
split iteration worked.json --iterations 7
is 'one iteration' "$(cd parts && echo *.gz)" \
	'worked_annotation_iteration_7_execute_7_context_0_sq0sk0sqsq0sqsk0_generation_16_sq16sk11207sqsq16sqsk11207.json.gz'

tl-split --plan --conc 16 --osl 100 --osl-ratio 0.8 >got
printf '%s\t%s\n' figure value num_prompts 160.0 mean_osl 90.0 max_iters 100.0 \
	delay_iters 400.0 total_steps 900.0 prefilldecode_steps 160.0 \
	decode_only_steps 740.0 prefilldecode_ratio 0.17777777777777778 \
	min_steps 6.0 >want
same 'what to record' want got
is 'more prompts than iterations' "$(tl-split --plan --conc 1000 --osl 100 --osl-ratio 0.8 |
	sed -n '6,$p' | cut -f 2 | tr '\n' ' ')" '900.0 900.0 0.0 1.0 1.0 '
is 'the recording begins at once' \
	"$(tl-split --plan --conc 1 --osl 100 --osl-ratio 0.8 | sed -n 5p | cut -f 2)" 0.0

# ---- formats, threads, late kernels ----

forms='vllm_detailed vllm_native sglang_detailed sglang_native atom_detailed
	atom_native diffusion_native'
steps=2000
! sanitized || forms='vllm_detailed diffusion_native' steps=200
for form in $forms; do
	serving --format "$form" --steps 40 --threads --late >"$form.json"
	all_modes "$form" "$form.json"
done
serving --schedule phases --steps 90 --graph --profiler >graph.json
all_modes 'replayed graphs, below ProfilerStep#N' graph.json
serving --steps $steps --threads >long.json
split steady long.json
checked "$steps iterations" long.json steady
split phase long.json
checked "$steps iterations, many parts" long.json phase
if slow; then
	for form in vllm_native sglang_detailed sglang_native atom_detailed atom_native; do
		serving --format $form --schedule phases --steps 2000 --threads --late >long.json
		split steady long.json
		checked "2,000 iterations, $form" long.json steady
	done
fi

# ---- processes ----

# the same 37 us later in another process, on another GPU stream
serving --steps 30 --threads | python3 -c '
import copy, json, sys
trace = json.load(sys.stdin)
for e in copy.deepcopy(trace["traceEvents"]):
    if "ts" in e:
        e["ts"] += 37
    e["pid"], e["tid"] = (2, e["tid"]) if e["pid"] == 1 else (0, 8)
    for at, key in ((e, "id"), (e.get("args", {}), "correlation")):
        if key in at:
            at[key] += 1000
    trace["traceEvents"].append(e)
sys.stdout.write(json.dumps(trace))' >processes.json
split iteration processes.json
is 'each process has the work of its own iterations' \
	"$(cut -d, -f3-6 parts/execution_details.csv | sed 1d | sort | uniq -c | sed 's/^ *//')" \
	'60 13,2,28.0,16.0'
# kernels_of TREE: how many of each name
kernels_of() {
	tl-cat --tsv -F kind,name "$1" | sed -n 's/^kernel\t//p' | sort | uniq -c |
		sed 's/^ *//'
}

tl-split --by step -d steps processes.json
is 'and of its own steps' "$(kernels_of steps/step-7.tl | tr '\n' ' ')" \
	'2 k0 2 k1 '
rm -r steps

# ---- trees ----

tl-tree long.json -o long.tl
tl-split --by iteration -d trees long.tl
is 'a tree for each' "$(find trees -name '*.tl' | wc -l | tr -d ' ')" $steps
f=$(echo trees/long_annotation_iteration_$((steps / 2 + 34))_*.tl)
is 'which is one' "$(tl-cat --check "$f" >err && tl-cat "$f" | grep -c '"kind":"kernel"')" 2
# shellcheck disable=SC2046 # names without blanks
for f in $(find trees -name '*.tl' | sort | sed -n "1~$((steps / 5))p"); do
	kernels_of "$f"
done | sort | uniq -c | sed 's/^ *//' >got
printf '5 1 k0\n5 1 k1\n' >want
same 'with its kernels' want got
tl-split --by iteration -d trees long.tl
is 'again into the same folder' $? 0
serving --format none --profiler --steps 30 >profiler.json
tl-split --by iteration -d profiler profiler.json
is 'without annotations of serving: ProfilerStep#N' "$(cd profiler && echo *.tl)" \
	'profiler_annotation_iteration_0.tl profiler_annotation_iteration_1.tl profiler_annotation_iteration_2.tl'
tl-split --by step --to chrome -d steps profiler.json
is 'other parts as traces' "$(cd steps && echo *)" \
	'step-0.json.gz step-1.json.gz step-2.json.gz'

# ---- bad input ----

mkdir other
cp worked.json other
tl-split --by steady -d two worked.json other/worked.json
is 'two traces of one name' "$(find two -name 'mixed*' | sort | sed 's/.*conc16_//' |
	tr '\n' ' ')" 'worked.tl worked_2.tl '
cp worked.json worked_2.json
tl-split --by steady -d three worked.json other/worked.json worked_2.json
is 'whose numbers are nobody else'"'"'s name' "$(find three -name 'mixed*' | sort |
	sed 's/.*conc16_//' | tr '\n' ' ')" 'worked.tl worked_2.tl worked_2_2.tl '
tl-tree worked.json | tl-split --by steady -d pipe
is 'a tree has the name of its trace' "$(cd pipe && echo mixed*)" \
	'mixed_steady_state_prefill_0_prefilldecode_4_decode_28_bs79_conc16_worked.tl'
is 'both are told' "$(grep -c '"idx"' two/execution_details.json)" 6
tail=$(printf 'x%.0s' $(seq 300))
sed "s|\"execute_6_[^\"]*|&../../$tail\\\\u0007\\\\n|" worked.json >"$(printf '%s' "host\"ile$tail" |
	cut -c 1-230).json"
split iteration host*.json
is 'hostile names stay in the folder' \
	"$(find . -name '*annotation_iteration*' -newer host*.json | grep -c -v '^./parts/[^/]*.gz$')" 0
is 'all of them' "$(find parts -name '*.gz' | wc -l | tr -d ' ')" 40
is 'and are short' "$(cd parts && printf '%s\n' *.gz | awk '{ if (length($0) > n) n = length($0) }
	END { print n }')" 200
checked_json=$(python3 -c 'import json; print(len(json.load(open("parts/execution_details.json"))))')
is 'which the files tell' "$checked_json" 40
sed 's/\("execute_7_[^"]*", [^}]*"dur": \)100/\10/' worked.json >empty.json
split iteration empty.json
is 'an iteration without length' \
	"$(cut -d, -f1,3,4,12 parts/execution_details.csv | sed -n 9p)" 7,2,0,1
split steady worked.json --conc 99
is 'another peak' "$?:$(cat err)" \
	'3:tl-split: worked.json: at most 16 concurrent requests, not 99 (--conc)'
split steady worked.json --iterations 0:3
is 'a range is steady because it was said' $? 0
serving --steps 3 >short.json
split steady short.json
is 'no steady state' "$?:$(cat err)" \
	'3:tl-split: short.json: no steady state among 3 iterations: using the middle, 1 to 1'
serving --steps 1 >one.json
split steady one.json
is 'all there is is no middle' "$?:$(cat err)" \
	'3:tl-split: one.json: too few iterations for a steady state: all 1 kept'
serving --format none --steps 2 >none.json
refuses 5 'no serving iteration' 'tl-split -d s --by iteration none.json'

# ---- without annotations: repetitions ----

serving --format none --steps 30 >none.json
is 'from standard input, too' "$(tl-split -d piped --by iteration <none.json 2>err; find piped -name '*.tl' | wc -l | tr -d ' ')" 30
reports 0 iterations-inferred 'tl-split -d inferred --by iteration none.json'
why() { # why TRACE: what the iterations are inferred from
	tl-split --status-fd 5 -d why --by iteration "$1" 5>&1 >out 2>err |
		sed -n 's/.*"reason":"\([^"]*\)".*/\1/p'
}
is 'from what is told' "$(why none.json)" 'GPU work that repeats'
for i in 0 1 2 3 4 5; do # each other step has another kernel
	for k in 0 1 2 3 4 5; do
		corr=$((10 * i + k)) at=$((1000 * i + 100 * k)) name=k$k
		[ $k = $((i % 5)) ] && name=own$i
		[ $k = 5 ] && ev user_annotation 'Optimizer.step#SGD.step' 1 $at 50
		ev cuda_runtime cudaLaunchKernel 1 $((at + 10)) 5 "\"correlation\":$corr"
		ev kernel $name 7 $((at + 20)) 8 "\"correlation\":$corr,\"device\":0,\"stream\":7"
	done
done | trace >sgd.json
is 'of training' "$(why sgd.json)" "the optimizer's steps"
for i in $(seq 0 9); do
	ev cpu_op aten::a 1 $((100 * i)) 20
	ev cpu_op aten::b 1 $((100 * i + 30)) 20
	ev cpu_op aten::c 1 $((100 * i + 60)) 20
done | trace >ops.json
is 'without a GPU' "$(why ops.json)" 'ops that repeat'
is 'of a stream that does not say it' "$(tl-tree none.json | tl-cat |
	sed 's/,"inferred_from":"gpu_work"//' | tl-cat -o untold.tl; why untold.tl)" 'what repeats'
is 'a table of steps says it, too' "$(tl-steps --format table sgd.json none.json | head -n 1)" \
	"no step markers: steps inferred from the optimizer's steps, of other sources from GPU work that repeats"
tl-steps --format tsv --no-header -c kernels,launches none.json >want
for i in $(seq 0 29); do
	tl-cat "inferred/none_annotation_iteration_$i.tl" | awk '
		/"kind":"kernel"/ { k++ } /"kind":"runtime"/ { l++ } END { print k "\t" l }'
done >got
same 'the iterations that tl-steps infers' want got
is 'of two sources each its own' "$(tl-merge none.json none.json -o two.tl 2>err
	tl-split -d inferred2 --by iteration two.tl 2>err; find inferred2 -name '*.tl' | wc -l | tr -d ' ')" 60

# calls NAMES [FRAME]: of 50 us, each with a kernel of 20 us, one of "long" of
# 2 ms; a FRAME is around each, and one around all
calls() {
	i=0
	[ -z "${2:-}" ] || ev python_function 'main.py(1): main' 1 0 100000
	for name in $1; do
		at=$((3000 * i)) dur=20 op=$name
		[ "$name" != long ] || dur=2000
		if [ -n "${2:-}" ]; then
			ev python_function "$2_$i" 1 $at 60
			op=op$i name=op$i
		fi
		ev cpu_op "$op" 1 $((at + 1)) 50
		ev cuda_runtime cudaLaunchKernel 1 $((at + 10)) 5 "\"correlation\":$i"
		ev kernel "k_$name" 7 $((at + 20)) $dur "\"correlation\":$i,\"device\":0,\"stream\":7"
		i=$((i + 1))
	done | trace >calls.json
}
# parts_of TRACE: the kernels of each iteration
parts_of() {
	rm -rf parts
	tl-split --by iteration -d parts "$1" 2>err || return
	cut -d, -f4 parts/execution_details.csv | sed 1d | tr '\n' ' '
}
calls 'A A A A A B'
is 'calls that repeat: one' "$(parts_of calls.json)" '1 1 1 1 1 '
is 'from what' "$(why calls.json)" 'ops that repeat'
calls 'x x A B C A B C A B C'
is 'three, behind others' "$(parts_of calls.json)" '3 3 3 '
is '... of which the first is' "$(tl-cat --tsv -F kind,name parts/*_iteration_0.tl |
	sed -n 's/^op\t//p' | tr '\n' ' ')" 'A B C '
tl-tree calls.json -o calls.tl
is '... of a tree, too' "$(parts_of calls.tl)" '3 3 3 '
calls 'A A B A A B A A B'
is 'one name twice' "$(parts_of calls.json)" '3 3 3 '
calls 'a b c' 'nn.Module: Block'
is 'frames without their number' "$(parts_of calls.json)" '1 1 1 '
calls 'A B A B'
refuses 5 'no serving iteration' 'tl-split -d s --by iteration calls.json'
calls 'A A A A A long'
refuses 5 'no serving iteration' 'tl-split -d s --by iteration calls.json'
calls 'a a a a a a a long long long'
is 'behind others that come again and launch too little' "$(parts_of calls.json)" '1 1 1 '
# nothing in it occurs three times in a row, but sums of powers are the same for
# many of its parts
python3 - >calls.json <<'EOP'
import json
events = []
for i in range(4096):
    at, args = 100 * i, {"correlation": i + 1, "device": 0, "stream": 7}
    for cat, name, tid, ts, dur in (
        ("cpu_op", "ab"[bin(i).count("1") % 2], 1, at, 50),
        ("cuda_runtime", "cudaLaunchKernel", 1, at + 5, 5),
        ("kernel", f"k{i * 2654435761 % 1000003}", 7, at + 20, 40),
    ):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts,
                       "dur": dur, "args": {} if cat == "cpu_op" else args})
print(json.dumps(events))
EOP
refuses 5 'no serving iteration' 'tl-split -d s --by iteration calls.json'
refuses 5 'no serving iteration in that range' 'tl-split -d s --iterations 40:50 worked.json'
refuses 2 'all, an iteration' 'tl-split -d s --iterations 5:5 worked.json'
refuses 2 'all, an iteration' 'tl-split -d s --iterations 1:2:3 worked.json'
refuses 2 'all, an iteration' 'tl-split -d s --iterations -1 worked.json'
refuses 2 'try --by iteration' 'tl-split -d s --by step --iterations 1 worked.json'
refuses 2 'needs --conc, --osl and --osl-ratio' 'tl-split --plan --conc 3'
refuses 2 'osl-ratio' 'tl-split --plan --conc 3 --osl 3 --osl-ratio 1.5'
refuses 2 'leave out --zstd' 'tl-split -d s --by step --to chrome -z worked.json'
done_testing
