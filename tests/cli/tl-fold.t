#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-fold: stacks worked out by hand, every option, every kind of input.
. tests/cli/lib.sh

frame() { ev python_function "$1" 1 "$2" "$3"; }
op() { ev cpu_op "$1" 1 "$2" "$3"; }
# work NAME LAUNCH_US TS DUR CORR: a launch and its kernel
work() {
	ev cuda_runtime cudaLaunchKernel 1 "$2" 5 "\"correlation\":$5"
	ev kernel "$1" 7 "$3" "$4" "\"device\":0,\"stream\":7,\"correlation\":$5"
}
{
	frame 'a/train.py(3): main' 0 1000
	frame 'nn.Module: Net_0' 10 400
	op aten::linear 20 100
	op aten::mm 30 50
	work 'void k<int>(int)' 40 200 10 1
	op aten::mm 90 10
	work 'void k<int>(int)' 92 220 1.5 2
	op aten::add 500 20
	work k2 505 600 7 3
	work bare 1100 1200 3 4
	ev kernel stray 7 1300 2 '"device":0,"stream":7,"correlation":99'
} | trace >t.json
tl-tree t.json >t.tl

is 'GPU time by stack' "$(tl-fold t.tl)" '[no launch];stray 2000
a/train.py(3): main;aten::add;k2 7000
a/train.py(3): main;nn.Module: Net_0;aten::linear;aten::mm;void k<int>(int) 11500
bare 3000'
is '--frames ops' "$(tl-fold --frames ops t.tl)" '[no launch];stray 2000
aten::add;k2 7000
aten::linear;aten::mm;void k<int>(int) 11500
bare 3000'
is '--frames python' "$(tl-fold --frames python t.tl)" '[no launch];stray 2000
a/train.py(3): main;k2 7000
a/train.py(3): main;nn.Module: Net_0;void k<int>(int) 11500
bare 3000'
is '--frames modules' "$(tl-fold --frames modules t.tl)" 'Net_0;void k<int>(int) 11500
[no launch];stray 2000
bare 3000
k2 7000'
is '--no-kernels' "$(tl-fold --no-kernels --frames ops t.tl)" '[no frame] 3000
[no launch] 2000
aten::add 7000
aten::linear;aten::mm 11500'
is '--linked-only' "$(tl-fold --linked-only t.tl | grep -c stray)" 0
is '--clock cpu' "$(tl-fold --clock cpu t.tl)" 'a/train.py(3): main 580000
a/train.py(3): main;aten::add 15000
a/train.py(3): main;aten::add;cudaLaunchKernel 5000
a/train.py(3): main;nn.Module: Net_0 300000
a/train.py(3): main;nn.Module: Net_0;aten::linear 40000
a/train.py(3): main;nn.Module: Net_0;aten::linear;aten::mm 50000
a/train.py(3): main;nn.Module: Net_0;aten::linear;aten::mm;cudaLaunchKernel 10000
cudaLaunchKernel 5000'
is '--clock cpu --frames modules' "$(tl-fold --clock cpu --frames modules t.tl)" 'Net_0 400000'
is '--clock cpu --kind op' "$(tl-fold --clock cpu --frames ops --kind op t.tl)" 'aten::add 20000
aten::linear 40000
aten::linear;aten::mm 60000'
is '--short' "$(tl-fold --short t.tl | tail -n 2)" 'train.py(3): main;aten::add;k2 7000
train.py(3): main;nn.Module: Net_0;aten::linear;aten::mm;k<int>(int) 11500'
is '--short=8' "$(tl-fold --short=8 --frames ops --name 'void*' t.tl)" \
	'linear;aten::mm;k<int> 11500'
is '--name' "$(tl-fold --name k2 --no-kernels --frames ops t.tl)" 'aten::add 7000'
is '-o' "$(tl-fold -o out t.tl; cat out)" "$(tl-fold t.tl)"

{
	op 'a;b\\c\n\t\u0001\u0085\u00e9' 0 10
	work 'k;1 2' 2 20 1 1
	op '' 20 10
	work '' 22 40 1 2
} | trace >hostile.json
is 'names are escaped' "$(tl-fold hostile.json)" '[no name];[no name] 1000
a\x3bb\\c\n\t\x01\xc2\x85é;k\x3b1\x202 1000'

# 'a' is a prefix of 'a b' and of 'ab'; ';' is between blank and 'b'
{
	i=0
	for n in a ab 'a b' 'a<' 'a;' A é; do
		op "$n" $((i * 100)) 50
		op x $((i * 100 + 1)) 40
		work k $((i * 100 + 2)) $((i * 100)) 1 $((i + 1))
		i=$((i + 1))
		work k2 $((i * 100 - 55)) $((i * 100)) 1 $((i + 50))
	done
} | trace >order.json
for o in '' --no-kernels '--clock cpu'; do
	# shellcheck disable=SC2086 # options
	tl-fold $o order.json | sed 's/ [0-9]*$//' >stacks
	ok "in the order of bytes: $o" sort -c stacks
done

for r in 0 1; do
	{ op mm 0 10; work k 2 20 $((1 + r)) 1; } |
		trace ",\"distributedInfo\":{\"rank\":$((3 - r))}" >rank$r.json
done
is 'the rank is the first frame' "$(tl-fold rank0.json rank1.json)" \
	'rank 2;mm;k 2000
rank 3;mm;k 1000'
is 'or the number' "$(tl-fold rank0.json rank0.json)" 'src 0;mm;k 1000
src 1;mm;k 1000'
is '--rank' "$(tl-fold --rank 3 rank0.json rank1.json)" 'mm;k 1000'

for args in '' --no-kernels '--frames ops' '--frames python' '--frames modules' --short; do
	# shellcheck disable=SC2086 # options
	is "sums: all GPU time $args" \
		"$(tl-fold $args "$SAMPLE" | awk '{ s += $NF } END { print s }')" \
		"$(tl-tree "$SAMPLE" | tl-cat --kind kernel,memcpy,memset --tsv -F dur --no-header | awk '{ s += $1 } END { print s }')"
done

# ---- --diff ----

# The same with other lines and addresses, one op slower, one op new, one gone.
{
	frame 'a/train.py(7): main' 0 1000
	frame 'nn.Module: Net_0' 10 400
	op aten::linear 20 100
	op aten::mm 30 50
	work 'void k<int>(int)' 40 200 14.5 1
	frame 'a/train.py(99): <lambda at 0x7f12>' 500 30
	op aten::mul 505 20
	work k3 506 600 4 3
	work bare 1100 1200 3 4
} | trace >after.json
is '--diff: time before and after' "$(tl-fold --diff t.tl after.json)" \
	'[no launch];stray 2000 0
a/train.py: main;a/train.py: <lambda at 0xXXXX>;aten::mul;k3 0 4000
a/train.py: main;aten::add;k2 7000 0
a/train.py: main;nn.Module: Net_0;aten::linear;aten::mm;void k<int>(int) 11500 14500
bare 3000 3000'
is '--diff the other way round' "$(tl-fold --diff after.json t.tl)" \
	"$(tl-fold --diff t.tl after.json | sed 's/\([0-9]*\) \([0-9]*\)$/\2 \1/')"
is '--diff: each column adds up to its side' \
	"$(tl-fold --diff t.tl after.json |
		awk '{ a += $(NF - 1); b += $NF } END { print a, b }')" '23500 21500'
is '--diff --short' "$(tl-fold --diff --short --name k3 after.json after.json)" \
	'train.py: main;train.py: <lambda at 0xXXXX>;aten::mul;k3 4000 4000'
is '--diff --clock cpu' "$(tl-fold --diff --clock cpu --frames ops --kind op t.tl after.json)" \
	'aten::add 20000 0
aten::linear 40000 50000
aten::linear;aten::mm 60000 50000
aten::mul 0 20000'
is '--diff: a trace and itself' "$(tl-fold --diff "$SAMPLE" "$SAMPLE" |
	awk '$NF != $(NF - 1)')" ''
for side in 1 2; do
	is "--diff: all GPU time of side $side" \
		"$(tl-fold --diff --step 2 "$SAMPLE" "$SAMPLE" |
			awk -v n=$((2 - side)) '{ s += $(NF - n) } END { print s }')" \
		"$(tl-fold --step 2 "$SAMPLE" | awk '{ s += $NF } END { print s }')"
done
tl-merge rank0.json rank1.json -o both.tl
tl-merge rank1.json rank0.json -o other.tl
is '--diff: ranks belong together' "$(tl-fold --diff both.tl other.tl)" \
	'rank 2;mm;k 2000 2000
rank 3;mm;k 1000 1000'
is '--diff: one rank against several' "$(tl-fold --diff rank0.json both.tl)" \
	'rank 2;mm;k 0 2000
rank 3;mm;k 1000 1000'
is '--diff: one of each' "$(tl-fold --diff rank0.json rank1.json)" 'mm;k 1000 2000'
is '--diff: files of several ranks' \
	"$(tl-fold --diff -B rank0.json -B rank1.json -A rank1.json -A rank0.json)" \
	"$(tl-fold --diff both.tl other.tl)"
mkdir both && cp rank0.json rank1.json both
is '--diff: a folder' "$(tl-fold --diff -B both -A both)" "$(tl-fold --diff both.tl both.tl)"
is '--diff: two folders' "$(tl-fold --diff both both)" "$(tl-fold --diff both.tl both.tl)"
is '--diff: runs of one rank by their place' \
	"$(tl-fold --diff -B rank0.json -B rank0.json -A rank0.json -A rank0.json -A rank0.json)" \
	'src 0;mm;k 1000 1000
src 1;mm;k 1000 1000
src 4;mm;k 0 1000'
refuses 2 'need --diff' 'tl-fold -B t.tl -A t.tl'
refuses 2 'pass two files' 'tl-fold --diff -B t.tl -A t.tl t.tl'
refuses 2 "'--after' is missing" 'tl-fold --diff -B t.tl'
refuses 2 'needs two files' 'tl-fold --diff t.tl'
grep -v python_function after.json | sed 's/},$/}/' | sed '$d;1d' | trace >frameless.json
like '--diff: frames of one side only are told' "$(tl-fold --diff t.tl frameless.json 2>&1 >/dev/null)" \
	'^tl-fold: frameless.json: no Python frames, which the other side has'
is '--diff: frames of both, or asked of none' \
	"$(tl-fold --diff t.tl after.json 2>&1 >/dev/null; tl-fold --diff --frames ops t.tl frameless.json 2>&1 >/dev/null)" ''
refuses 2 'only one trace can be standard input' 'tl-fold --diff - -'
refuses 2 'only one trace can be standard input' 'tl-fold --diff -B - -A t.tl -A -'
refuses 2 'needs two files' 'tl-fold --diff t.tl t.tl t.tl'
op mm 0 10 | trace >host.json
reports 5 no-gpu-events 'tl-fold --diff t.tl host.json'
reports 5 no-gpu-events 'tl-fold --diff host.json t.tl'

# ---- every kind of input ----

tl-fold t.tl >want
same 'a raw trace' want "$(tl-fold t.json >got; echo got)"
same 'a stream that is no tree' want "$(tl-decode t.json | tl-fold >got; echo got)"
same 'stdin as -' want "$(tl-fold - <t.tl >got; echo got)"
gzip -k t.tl
same 'gzip' want "$(tl-fold t.tl.gz >got; echo got)"
zstd -q t.tl
same 'zstd' want "$(tl-fold t.tl.zst >got; echo got)"
tl-cat t.tl >t.ndjson
same 'NDJSON' want "$(tl-fold t.ndjson >got; echo got)"
refuses_cuts t.tl 60 tl-fold
refuses 1 '.' 'tl-fold </dev/null'
refuses 1 'not_a_trace' 'echo hello >not_a_trace; tl-fold not_a_trace'
refuses 1 'directory' 'tl-fold .'
refuses 1 'No such file' 'tl-fold missing.tl'
refuses 1 'No space left' 'tl-fold t.tl >/dev/full'
refuses -o 1 'Bad file descriptor|closed' 'tl-fold t.tl >&-'
quiet 'a reader may leave' "tl-fold '$SAMPLE' | head -n 1"

# ---- no answer, and usage ----

op mm 0 10 | trace >host.json
reports 5 no-gpu-events 'tl-fold host.json'
is 'a host alone has CPU time' "$(tl-fold --clock cpu host.json)" 'mm 10000'
refuses 5 'no Python frames: record with' 'tl-fold --frames python rank0.json'
refuses 5 'no nn.Module among the Python frames' 'tl-fold --frames modules rank0.json'
reports 5 no-match 'tl-fold --name nosuch t.tl'
refuses 5 'no source has a rank' 'tl-fold --rank 9 rank0.json'
refuses 2 'needs --clock gpu' 'tl-fold --clock cpu --no-kernels t.tl'
refuses 2 'needs kernel' 'tl-fold --kind op t.tl'
refuses 2 'needs op' 'tl-fold --clock cpu --kind kernel t.tl'
run 'tl-fold -v t.tl'
like '-v' "$(cat "$log/err")" '^tl-fold: 4 stacks, 23500 ns in all'

page_examples tl-fold.1
done_testing
