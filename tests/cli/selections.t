#!/bin/sh
# SPDX-License-Identifier: MIT
# A selection that matches nothing: each program says what there is instead, the
# names nearest to it first.
. tests/cli/lib.sh

for program in tl-kernels tl-ops tl-report; do
	command -v $program >/dev/null || skip_all "no $program"
done
# one module, in which two ops launch a kernel each, in one step with two
# annotations; a rank, a process and times are told
cat >t.json <<'END_JSON'
{"distributedInfo": {"rank": 3, "world_size": 4}, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 1, "tid": 1, "ts": 1, "dur": 50},
{"ph": "X", "cat": "user_annotation", "name": "backward", "pid": 1, "tid": 1, "ts": 52, "dur": 40},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 5, "dur": 80,
 "args": {"Python id": 1, "Python parent id": null, "Python module id": 0}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5,
 "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 25, "dur": 30,
 "args": {"correlation": 7, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 53, "dur": 20, "args": {"External id": 4}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 55, "dur": 5,
 "args": {"correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "elementwise", "pid": 0, "tid": 7, "ts": 70, "dur": 10,
 "args": {"correlation": 8, "device": 0, "stream": 7}}]}
END_JSON

# nothing TEXT PROGRAM SELECTION...: an answer of nothing says this
nothing() {
	text=$1
	shift
	run "$* t.json"
	like "$*: $text" "$rc $(cat "$log/err")" "^[035] .*$text( |\$)"
}

# ---- how names are shown ----

# of 60 bytes whole, of more the beginning, in whole characters
for n in 60 59; do
	name=$(printf 'x%.0s' $(seq $n))
	[ $n -eq 60 ] || name=$name$(printf '\303\251')
	sed "s/gemm/$name/" t.json >long.json
	run 'tl-timeline --name zz long.json'
	like "a name of $n letters" "$(cat "$log/err")" "; it has .*'x{$n}$([ $n -eq 60 ] || echo '\.\.\.')'"
done

# ---- by every program that selects ----

for p in tl-idle tl-kernels tl-launch tl-modules tl-ops tl-roofline tl-timeline 'tl-diff t.json' tl-fold tl-filter 'tl-cat -F id' tl-export tl-tree; do
	nothing "it has '?(0|device 0)" "$p --dev 9"
	nothing "it has GPU stream 7" "$p --gpu-stream 99"
	nothing "it has 'forward', 'backward', 'ProfilerStep#5'" "$p --annotation zzz"
done
for p in tl-steps tl-critical 'tl-split -d parts'; do
	nothing "it has 'forward', 'backward', 'ProfilerStep#5'" "$p --annotation zzz"
done
for p in tl-idle tl-timeline tl-filter tl-steps tl-critical tl-kernels; do
	nothing 'it has rank 3' "$p --rank 7"
done
nothing 'it has rank 3' 'tl-diff t.json --rank 7'
nothing 'it has process 1' 'tl-steps --step 5@77'
for p in tl-roofline tl-launch 'tl-diff t.json'; do
	nothing 'it has process 1' "$p --step 5@77"
done
refuses 5 't.json: [a-z ]* no event$' 'tl-critical --step 99 t.json'
nothing 'it has events from 0ns to 100us' 'tl-critical --from 9s'

# ---- names: the nearest first ----

nothing "it has 'gemm', 'elementwise'" "tl-kernels --name gem"
nothing "it has 'elementwise', 'gemm'" "tl-kernels --name '*elemntwise*'"
nothing "it has 'aten::add', 'aten::mm'" "tl-ops --name add"
nothing "it has 'aten::mm', 'aten::add'" "tl-ops --name aten::nm"
nothing "it has 'aten::add', 'aten::mm'" "tl-ops --name ad"
nothing "it has 'aten::mm', 'ProfilerStep#5', .*'aten::add'" 'tl-filter --kind op,annotation --name mm'
nothing "it has 'aten::add', 'aten::mm'" "tl-roofline --name 'aten::addd'"
nothing "it has 'aten::mm', 'aten::add'" "tl-kernels --sequences --op 'aten::m'"
nothing "it has 'aten::mm', 'aten::add'" "tl-replay --name 'aten::m'"
nothing "it has 'Linear_0'" 'tl-replay --module Lin'
nothing "it has 'nn.Module: Linear_0'" 'tl-modules --root Lin'
nothing "it has 'gemm', .* and more" "tl-critical --what-if 'gem=0.5'"
nothing "it has 'aten::mm', 'ProfilerStep#5', 'forward', 'backward', 'aten::add'" 'tl-filter --kind op,annotation --name aten::m'

nothing 'it has kinds op, runtime, python, annotation, kernel' 'tl-filter --kind overhead'

# of GPU events alone: no longer host event, no earlier one
nothing 'the longest is 30us' 'tl-kernels --min-dur 1s'
nothing 'it has events from 15us to 55us' 'tl-ops --from 1s'

# to the ns, in the form that --from takes
sed 's/"ts": 53/"ts": 3000000000000.25/;s/"ts": 55/"ts": 3000000000001.25/;s/"ts": 70/"ts": 3000000000009.25/' \
	t.json >late.json
run 'tl-ops --from 4000000s late.json'
like 'an exact time' "$(cat "$log/err")" '; it has events from 15us to 3000000\.00000125s$'
is 'which is as good for --to' \
	"$(tl-ops --to 3000000.00000125s -c name --no-header late.json; tl-ops --from 3000000.00000125s -c name --no-header late.json)" \
	'aten::mm
aten::add'

# ---- whose steps, annotations, phases ----

cp t.json u.json
tl-merge -o both.tl t.json u.json 2>err || cat err
for p in tl-ops tl-steps tl-critical 'tl-idle --steps'; do
	for input in both.tl 't.json u.json'; do
		run "$p --step 99 $input"
		is "$p: each trace by its name: $input" \
			"$(sed -n 's/^[a-z-]*: \(.*\) has none of these.*/\1/p' "$log/err" | sort -u | wc -l)" 2
	done
done
run 'tl-ops --annotation zzz both.tl'
is 'the same for annotations' "$(sed -n "s/^tl-ops: \(.*\) has .*'zzz'.*/\1/p" "$log/err" | tr '\n' '.')" \
	'both.tl.both.tl: u.json.'
run 'tl-ops --phase decode t.json'
like 'or phases, of one trace' "$(cat "$log/err")" '^tl-ops: t.json has no phases'

# only what the other options leave: no name of another kind, no other device
nothing "it has 'gemm', 'elementwise'" 'tl-filter --kind kernel --name gem'
nothing 'it has device 0' 'tl-kernels --name gemm --dev 9'

# ---- several arguments of one option ----

is 'one option, two arguments' \
	"$(tl-critical --what-if 'gemm=0.5' 'aten::*=0' --by name t.json)" \
	"$(tl-critical --what-if 'gemm=0.5' --what-if 'aten::*=0' --by name t.json)"
cp t.json 'a=1'
is 'a file is no argument' "$(tl-critical --what-if 'gemm=0.5' 'a=1')" \
	"$(tl-critical --what-if 'gemm=0.5' t.json)"

refuses 1 "run=x.json" "tl-critical --what-if 'gemm=0.5' run=x.json"

# ---- by the programs that tl-report runs ----

refuses 2 "^tl-report: option '--dtype' needs" 'tl-report --dtype zzz t.json'
done_testing
