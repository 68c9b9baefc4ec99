#!/bin/sh
# SPDX-License-Identifier: MIT
# Phases of serving: known schedules, in every format of annotations.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

serving() {
	python3 "$ROOT/tests/gen/serving.py" "$@"
}

# kernels PHASE FILE: how many were launched in a phase
kernels() {
	tl-filter --kind kernel --phase "$1" "$2" | tl-cat --tsv -F name | grep -c '^k'
}

serving --schedule phases --steps 2000 --truth | tail -n +2 | cut -f1 >want
for format in vllm_detailed vllm_native sglang_detailed sglang_native \
	atom_detailed atom_native; do
	serving --format $format --schedule phases --steps 2000 --late --threads |
		tl-tree >$format.tl
	# 3 prefills, 2 mixed and 5 decodes, 200 times, 2 kernels each
	is "$format: kernels by phase" "$(tl-launch --by phase --format tsv \
		--no-header -c phase,gpu_events $format.tl | paste -sd' ' -)" \
		"$(printf 'decode\t2000 prefill\t1200 mixed\t800')"
	tl-steps --format tsv --no-header -c what,phase $format.tl |
		grep ^step | cut -f2 >got
	same "$format: the phase of each step" got want
done
is 'what is selected' "$(for phase in prefill decode mixed generic outside; do
	kernels $phase vllm_native.tl; done | paste -sd' ' -)" '1200 2000 800 0 0'
is 'within ProfilerStep#N' "$(serving --format sglang_native --profiler \
	--schedule phases --steps 40 | tl-launch --by phase --format tsv \
	--no-header -c phase,gpu_events | paste -sd' ' -)" \
	"$(printf 'decode\t40 prefill\t24 mixed\t16')"
serving --format diffusion_native --steps 40 | tl-tree >d.tl
is 'no phase is told' "$(kernels generic d.tl)" 80
serving --format none --steps 40 | tl-tree >n.tl
is 'no iterations' "$(kernels outside n.tl)" 80
reports 3 no-phases 'tl-filter --phase decode n.tl >/dev/null'
refuses 2 'needs prefill, decode, mixed, generic or outside' \
	'tl-filter --phase prefill,fast n.tl >/dev/null'

# --late work runs during the next iteration, but belongs to its launch's. In
# each iteration it takes 28 us from end to end, 16 of them busy.
t=vllm_native.tl
is 'timeline: by the launch' "$(tl-timeline --by phase --format tsv --no-header \
	-c phase,type,time_ns $t | grep 'busy_time\|total_time' | cut -f1,3 | paste -sd' ' -)" \
	"$(printf 'decode\t16000000 decode\t28000000 mixed\t6400000 mixed\t11200000 prefill\t9600000 prefill\t16800000')"
if command -v tl-ops >/dev/null; then
	is 'ops: by phase' "$(tl-ops --by phase --format tsv --no-header \
		-c phase,count,direct_ns_sum $t | paste -sd' ' -)" \
		"$(printf 'decode\t2000\t16000000 prefill\t1200\t9600000 mixed\t800\t6400000')"
fi
if command -v tl-kernels >/dev/null; then
	is 'kernels: by phase' "$(rows "tl-kernels --by phase -c phase,count,dur_ns_sum $t")" \
		'decode 2000 16000000.prefill 1200 9600000.mixed 800 6400000.'
	# each kernel begins in the iteration after its launch's
	serving --format vllm_native --schedule phases --steps 200 --late >late.json
	for gpu in '' --by-gpu-time; do
		python3 - late.json "$gpu" >want <<-'END'
			import collections, json, re, sys
			events = json.load(open(sys.argv[1]))["traceEvents"]
			notes = sorted((e["ts"], e["ts"] + e["dur"], *map(int, re.findall(r"_(\d+)\(", e["name"])))
			               for e in events if e.get("cat") == "user_annotation")
			launch = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") == "cuda_runtime"}
			sums = collections.Counter(), collections.Counter()
			for e in events:
			    if e.get("cat") == "kernel":
			        t = e["ts"] if sys.argv[2] else launch[e["args"]["correlation"]]
			        of = [(c > 0, g > 0) for a, b, c, g in notes if a <= t < b] or [(0, 0)]
			        word = {(1, 1): "mixed", (1, 0): "prefill", (0, 1): "decode", (0, 0): "outside"}[of[0]]
			        sums[0][word] += 1
			        sums[1][word] += round(e["dur"] * 1000)
			for word in sorted(sums[0]):
			    print(word, sums[0][word], sums[1][word], sep="\t")
		END
		# shellcheck disable=SC2086 # an option or none
		tl-kernels --by phase $gpu -c phase,count,dur_ns_sum --no-header --format tsv late.json |
			sort >got
		same "kernels: by phase $gpu, from the events" got want
		# shellcheck disable=SC2086
		for phase in prefill decode mixed; do
			tl-kernels --phase $phase $gpu -c count --no-header --format tsv late.json |
				awk -v p=$phase '{ n += $1 } END { print p "\t" n }'
		done | sort >got
		cut -f 1,2 want | grep -v outside >selected
		same "kernels: as --phase selects $gpu" got selected
	done
	# an op may begin before the iteration of its launch
	{
		ev user_annotation 'step[DECODE bs=1]' 1 100 50
		ev user_annotation 'step[EXTEND bs=1 toks=8]' 1 150 50
		ev cpu_op aten::mm 1 140 30
		ev cuda_runtime cudaLaunchKernel 1 155 2 '"correlation":1'
		ev kernel k 7 300 5 '"device":0,"stream":7,"correlation":1'
	} | trace >astride.json
	is 'kernels: the phase of the launch' "$(rows 'tl-kernels --by phase -c phase,count astride.json')" 'prefill 1.'
	is 'in all tables' "$(tl-kernels -d astride --by phase astride.json && (cd astride && echo kernel_summary_* kernels_by_phase*))" \
		'kernel_summary_prefill.csv kernels_by_phase.csv'
	is 'kernels: no iterations' "$(rows 'tl-kernels --by phase -c phase,count n.tl')" 'outside 80.'
	is 'kernels: guessed' "$(rows 'tl-kernels --by phase --phase-method operation_frequency -c phase,count n.tl')" 'decode 80.'
fi
# By the clock: 89 us of 100 in each iteration, as 11 us of the one before run
# in it. Not in the first, which begins before all GPU work.
is 'idle time: by phase' "$(tl-idle --by phase --format tsv --no-header \
	-c phase,time_ns $t | paste -sd' ' -)" \
	"$(printf 'decode\t89000000 prefill\t53311000 mixed\t35600000 outside\t29997000')"
is 'a graph of a decode iteration' "$(serving --format sglang_detailed --graph \
	--steps 40 | tl-launch --by phase,api --format tsv --no-header \
	-c phase,api,gpu_events | sort | paste -sd' ' -)" \
	"$(printf 'decode\thipGraphLaunch\t62 mixed\thipLaunchKernel\t16 prefill\thipLaunchKernel\t2')"
is 'a selection and a timeline of it' "$(tl-timeline --phase prefill --by phase \
	--format tsv --no-header -c phase,type $t | cut -f1 | uniq | paste -sd' ' -)" prefill
# 20 us of each of two iterations, 30 between them; time outside is one window
for i in 1 2 3; do
	[ $i = 2 ] || ev user_annotation 'step[DECODE bs=1]' 1 $((i * 100)) 50
	ev cuda_runtime cudaLaunchKernel 1 $((i * 100 + 1)) 2 "\"correlation\":$i"
	ev kernel k 7 $((i * 100 + 70)) $((20 + 10 * (i == 2))) "\"device\":0,\"stream\":7,\"correlation\":$i"
done | trace | tl-tree >two.tl
lengths() { tl-timeline "$@" -c type,time_ns --format tsv two.tl | grep -E '^(busy|idle|total)_time' | cut -f2 | paste -sd' ' -; }
is 'between two iterations is no idle time' "$(lengths --phase decode)" '40000 0 40000'
is 'outside of them' "$(lengths --phase outside)" '30000 0 30000'
is 'both' "$(lengths --phase decode,outside)" '70000 0 70000'
is 'all' "$(lengths)" '70000 150000 220000'

# ---- chunked prefill, speculative decoding, data-parallel attention ----

# a prompt of 6,000 tokens in chunks of 2,048, with 8 requests that generate:
# its reads grow, and its last chunk is the rest
at=0
while read -r sq sk; do
	at=$((at + 100))
	ev user_annotation "execute_1_context_1(sq${sq}sk${sk}sqsq1sqsk1)_generation_8(sq8sk800sqsq8sqsk800)" 1 $at 50
done <<'END' | trace >chunks.json
2048 2048
2048 4096
1904 6000
END
is 'chunks of a prompt' "$(rows 'tl-steps -c what,phase,context_requests,c_sq,c_sk,generation_requests,batch_size chunks.json' |
	tr . '\n' | grep ^step | paste -sd. -)" \
	'step mixed 1 2048 2048 8 2056.step mixed 1 2048 4096 8 2056.step mixed 1 1904 6000 8 1912'
# three tokens are drafted for each of 8 requests: 32 go through the model. No
# name and no column has how many were accepted
for i in 1 2 3 4; do
	ev user_annotation 'decode[bs=8/16 tok=32 d=8 spec=3 sqsq=128 sqsk=3200 sk=800]' 1 $((100 * i)) 50
done | trace >spec.json
is 'drafted tokens' "$(rows 'tl-steps -c what,phase,generation_requests,batch_size,spec_tokens,padded_batch spec.json' |
	tr . '\n' | grep ^step | uniq)" 'step decode 8 32 3 16'
of_tokens() { rows "tl-steps --table phase_summary -c phase,tokens_sum,token_ns_median $1"; }
is 'go through the model: no time a token of output' "$(of_tokens spec.json)" 'decode 128 .'
sed 's/tok=32/tok=8/; s/ spec=3//' spec.json >plain.json
is 'as there is without them' "$(of_tokens plain.json)" 'decode 32 50000.0.'
# each rank has its own requests, and a prompt is on one: phases are per rank
for r in 0 1; do
	for i in 1 2 3; do
		c=$((r == 1 && i == 2))
		ev user_annotation "execute_context_$c($((100 * c)))_generation_4(4)" 1 $((100 * i)) 50
	done | trace >rank-$r.json
done
is 'a prompt on one rank' "$(rows 'tl-steps -c rank,phase rank-0.json rank-1.json' | tr . '\n' |
	grep 'decode\|mixed' | sort | uniq -c | tr -s ' \n' ' ')" ' 3 0 decode 2 1 decode 1 1 mixed '

# ---- a site's own names ----

cat >own.json <<'END'
[ { "name": "own", "tier": "native", "pattern": "turn p{context_requests} g{generation_requests} *]",
    "keys": { "new": "generation_sum g_sq" },
    "examples": [ { "name": "turn p1 g2 new=2]", "phase": "mixed", "batch_size": 2 } ] } ]
END
serving --format vllm_native --schedule phases --steps 100 |
	sed 's/execute_context_\([0-9]*\)([0-9]*)_generation_\([0-9]*\)(\([0-9]*\))/turn p\1 g\2 new=\3]/g' >own.trace
tl-tree --annotations own.json -o own.tl own.trace
sentences() { tl-report --width 300 "$@" 2>/dev/null | grep -o '^[a-z]*: [0-9]* iterations'; }
printf '%s: %s iterations\n' decode 50 prefill 30 mixed 20 >want
sentences --annotations own.json own.trace >got
same 'a report' want got
sentences --annotations own.json - <own.trace >got
same 'a report of standard input' want got
if command -v tl-graft >/dev/null; then # it needs Lua
	sentences --annotations own.json --capture "$ROOT/tests/data/capture.json.gz" own.trace >got
	same 'a report with captures' want got
	refuses 1 'nix.json: No such file' \
		'tl-report --annotations nix.json --capture own.trace own.trace >out'
	is 'and without a tree no captures' "$(grep -c graft "$log/err")" 0
fi
is 'all programs know them from the tree' "$(for program in tl-launch tl-ops; do
	command -v $program >/dev/null || continue
	$program --by phase --format tsv --no-header -c phase,count own.tl |
		paste -sd' ' -; done | uniq)" "$(printf 'decode\t100 prefill\t60 mixed\t40')"
is 'and from a filtered one' "$(tl-filter --phase prefill own.tl | tl-tree |
	tl-steps -c batch_size,context_requests,format --format tsv --no-header |
	sed -n '1p;3p')" "$(printf '0\t1\town\n0\t1\town')"
is 'without it they are annotations' "$(tl-launch --by phase -c phase,count \
	--format tsv --no-header own.trace)" "$(printf 'outside\t200')"
is 'a tree is made anew' "$(tl-tree own.trace | tl-tree --annotations own.json |
	tl-launch --by phase --format tsv --no-header -c phase | paste -sd' ' -)" \
	'decode prefill mixed'
echo '[{"name":"own","tier":"native","pattern":"turn {nothing}"}]' >bad.json
refuses 1 "bad.json: own: no such field: 'nothing'" \
	'tl-tree --annotations bad.json own.trace >/dev/null'
echo '[{' >bad.json
refuses 1 'bad.json: byte ' 'tl-tree --annotations bad.json own.trace >/dev/null'
tl-cat own.tl | sed 's/"tier":"native"/"tier":"none"/' >bad.nd
refuses 1 "annotations.*no such word: 'none'" 'tl-launch --by phase bad.nd >/dev/null'
done_testing
