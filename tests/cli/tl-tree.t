#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-tree: sections and fields, rules, printed trees, every kind of input,
# errors. tests/unit/trace_tree.c has nesting in detail, and tests/ref/tree.t
# compares all real traces with a slow tree builder.
. tests/cli/lib.sh

cat >small.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":60,"dur":5.25,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,"args":{"External id":5,"Sequence number":3,"Input Dims":[[4,2],[],["a'b",null,true]],"Concrete Inputs":["","1","it's"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":1,"tid":1,"ts":0,"dur":90},
{"ph":"X","cat":"cpu_op","name":"aten::empty","pid":1,"tid":1,"ts":5,"dur":1},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"kernel","name":"before","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7,"correlation":9}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":40,"dur":30,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":70,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0","pid":1,"tid":2,"ts":200,"dur":50,"args":{"Sequence number":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":210,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"k\u001b[2J3","pid":0,"tid":7,"ts":300,"dur":1000,"args":{"device":0,"stream":7,"correlation":3}}
],"deviceProperties":[{"id":0,"name":"X"}]}
END
tl-decode small.json >small.tl
tl-tree small.tl >tree.tl

rows() { sh -c "$1" | tl-cat -F "$2" --no-header | tr '\t' '|'; }

# ---- the stream ----

is 'order and fields' \
	"$(rows 'cat tree.tl' id,depth,parent,launch,fwd,bwd,ndesc,ngpu,flags)" \
	'5||||||||step,slowest
7||||||||
3|0|||||4|1|
1|1|3|||10|3|1|
4|2|1||||||
2|2|1||||1|1|
0|3|2|2|||||
10|0|||1||2|1|
11|1|10||||1|1|
12|2|11|11|||||
6||||||||unlinked
8||||||1|1|discarded
9|1|8|8|||||'
is 'sections, facts in front' \
	"$(tl-cat tree.tl | sed -n 's/^{"\(section\|source\|meta\)".*/\1/p' | tr '\n' ' ')" \
	'section source meta section section '
like 'final facts' "$(tl-cat tree.tl | grep '^{"source"')" '"events":13'
like 'marks' "$(tl-cat --header tree.tl)" '^marks: linked, tree$'
is 'the step is known' "$(rows 'cat tree.tl' id,step | grep '|1' | tr '\n' ' ')" \
	'3|1 1|1 4|1 2|1 0|1 8|1 9|1 '
is 'a tree goes through' "$(tl-tree tree.tl | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"
is 'a tree can be made anew' "$(tl-tree --link=auto tree.tl | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"
is 'with other rules, and back' \
	"$(tl-tree --link=ext tree.tl | tl-tree --link=auto | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"
is '--no-python: frames are left out' \
	"$(tl-tree --no-python small.tl | tl-cat --tsv -F id,kind --no-header | grep python)" ''
is '--no-python: of a raw trace, too, and all else stays' \
	"$(tl-tree --no-python "$SAMPLE" | tl-cat --tsv -F id,kind,launch,op --no-header | grep -v python | sort)" \
	"$(tl-tree "$SAMPLE" | tl-cat --tsv -F id,kind,launch,op --no-header | grep -v python | sort)"
is '--on-overlap=clip: cut at the end above' \
	"$(rows 'tl-tree --on-overlap=clip small.tl' id,parent,dur,flags | grep '^8|')" \
	'8|1|10000|'
is '--link=flow: nothing without arrows' \
	"$(rows 'tl-tree --link=flow small.tl' id,launch,flags | grep -c 'unlinked')" 4
tl-cat small.tl small.tl >two.tl
is 'each source has its tree' \
	"$(rows 'tl-tree two.tl' src,id,depth | grep '|0$' | tr '\n' ' ')" \
	'0|3|0 0|10|0 1|3|0 1|10|0 '
is 'all events come out once' \
	"$(tl-tree "$SAMPLE" | tl-cat -F id --no-header | sort -n)" \
	"$(tl-decode "$SAMPLE" | tl-cat -F id --no-header | sort -n)"
is 'ops have the same ops above, with and without frames' \
	"$(tl-tree "$SAMPLE" | tl-cat -F id,op_id --kind op,runtime --no-header | sort)" \
	"$(tl-tree --no-python "$SAMPLE" | tl-cat -F id,op_id --kind op,runtime --no-header | sort)"

# ---- forms of input and output ----

tl-cat tree.tl | sed 1d >want
gzip -c small.tl >in.gz
zstd -q small.tl -o in.zst
tl-cat small.tl >in.ndjson
for f in in.gz in.zst in.ndjson; do
	is "$f" "$(tl-tree $f | tl-cat | sed 1d)" "$(cat want)"
done
is 'a raw trace' "$(tl-tree small.json | tl-cat | sed 1d | grep -v '^{"source"')" \
	"$(grep -v '^{"source"' want)"
gzip -c small.json >small.json.gz
is 'a packed one' "$(tl-tree small.json.gz | tl-cat | sed 1d | grep -v '^{"source"')" \
	"$(grep -v '^{"source"' want)"
is 'standard input' "$(tl-tree <small.tl | tl-cat | sed 1d)" "$(cat want)"
is 'byte by byte' "$(dribble <small.tl | tl-tree - | tl-cat | sed 1d)" \
	"$(cat want)"
is '--ndjson' "$(tl-tree --ndjson small.tl | sed 1d)" "$(cat want)"
is '--zstd' "$(tl-tree -z3 small.tl | zstd -dc | tl-cat | sed 1d)" "$(cat want)"
tl-tree small.tl -o out.tl
is '-o' "$(tl-cat out.tl | sed 1d)" "$(cat want)"

# ---- printed trees ----

is '--print' "$(tl-tree -p small.tl)" '└── UID: 3, Category: python_function, Name: nn.Module: Net_0
    └── UID: 1, Category: cpu_op, Name: aten::mm
        └── UID: 2, Category: cuda_runtime, Name: cudaLaunchKernel
            └── UID: 0, Category: kernel, Name: k1, Duration: 5.25
└── UID: 10, Category: cpu_op, Name: autograd::engine::evaluate_function: MmBackward0
    └── UID: 11, Category: cuda_runtime, Name: cudaLaunchKernel
        └── UID: 12, Category: kernel, Name: k\x1b[2J3, Duration: 1000'
is '--root, --fields, --bwd, --no-prune' \
	"$(tl-tree --root 1 --fields 'Input Dims,nothing,Concrete Inputs' --bwd --no-prune tree.tl)" \
	"└── UID: 1, Category: cpu_op, Name: aten::mm
    |   Input Dims: [[4, 2], [], [\"a'b\", None, True]]
    |   Concrete Inputs: ['', '1', \"it's\"]
    |   
    ├── UID: 4, Category: cpu_op, Name: aten::empty
    ├── UID: 2, Category: cuda_runtime, Name: cudaLaunchKernel
    │   └── UID: 0, Category: kernel, Name: k1, Duration: 5.25
    └── [BWD] autograd::engine::evaluate_function: MmBackward0 (UID: 10)
        └── UID: 11, Category: cuda_runtime, Name: cudaLaunchKernel
            └── UID: 12, Category: kernel, Name: k\\x1b[2J3, Duration: 1000"
is '--up, --follow-fwd' "$(tl-tree --up 12 --follow-fwd --fields 'Sequence number' tree.tl)" \
	'Node:
  UID: 12, Category: kernel, Name: k\x1b[2J3, Duration: 1000
1-up:
  UID: 11, Category: cuda_runtime, Name: cudaLaunchKernel
2-up:
  UID: 10, Category: cpu_op, Name: autograd::engine::evaluate_function: MmBackward0
    Sequence number: 3

============================================================
Following fwd_event link to forward call stack (UID: 1)
============================================================
Node:
  UID: 1, Category: cpu_op, Name: aten::mm
    Sequence number: 3
1-up:
  UID: 3, Category: python_function, Name: nn.Module: Net_0'
is '--stack' "$(tl-tree --stack 0 tree.tl)" 'k1
cudaLaunchKernel
aten::mm
nn.Module: Net_0'
is '--stack --follow-fwd' "$(tl-tree --stack 11 --follow-fwd tree.tl | tail -n 3)" \
	'[FWD]
aten::mm
nn.Module: Net_0'
is '--kind, --depth' "$(tl-tree --kind op,kernel --depth 2 tree.tl --root 3)" \
	'└── UID: 3, Category: python_function, Name: nn.Module: Net_0
    └── UID: 1, Category: cpu_op, Name: aten::mm'
is '--root NAME: a pattern, the outermost' "$(tl-tree --root 'a*' --depth 1 tree.tl)" \
	'└── UID: 1, Category: cpu_op, Name: aten::mm
└── UID: 10, Category: cpu_op, Name: autograd::engine::evaluate_function: MmBackward0'
is '--ext-id' "$(tl-tree --ext-id 5 --pid 1 --tid 1 --depth 1 tree.tl)" \
	'└── UID: 1, Category: cpu_op, Name: aten::mm'
is '--gpu-time' "$(tl-tree --root 10 --gpu-time tree.tl | sed 's/.*, GPU/GPU/')" \
	'GPU busy us: 1000, Kernels: 1, Share: 100.0 %
GPU busy us: 1000, Kernels: 1, Share: 100.0 %
GPU busy us: 1000, Kernels: 1, Share: 100.0 %'
is 'SRC:UID' "$(tl-tree --stack 1:0 two.tl | head -n 1)" k1
long=$(printf '%070d' 0)
printf '[{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":0,"dur":1}]' \
	"$long" >long.json
is 'a long name is cut' "$(tl-tree -p --no-prune long.json)" \
	"└── UID: 0, Category: cpu_op, Name: $(printf '%064d' 0).."

# ---- -v ----

tl-tree -v small.tl 2>err >/dev/null
like '-v: events' "$(cat err)" '13 events, 8 in the tree, 2 roots'
like '-v: discarded' "$(cat err)" 'overlap others: 1 of kind runtime'
like '-v: links' "$(cat err)" '3 linked by correlation, 1 without launch'
like '-v: memory' "$(cat err)" 'bytes an event and strings'

tl-tree -v tree.tl 2>err >/dev/null
like '-v: passed on' "$(cat err)" '13 events, passed on: a tree already'

# ---- missing data, in the source's record ----

like 'ops and launches in no tree are counted' "$(tl-cat tree.tl)" '"discarded":1[,}]'
reports 3 overlaps 'tl-tree small.tl -o over.tl'
reports 3 overlaps 'tl-idle over.tl'
reports 3 overlaps 'tl-critical small.tl'
quiet 'figures that no tree is asked for' 'tl-timeline over.tl'
quiet 'cut, they are in the tree' 'tl-tree --on-overlap=clip small.tl'
is 'none is cut and counted' "$(tl-tree --on-overlap=clip small.tl | tl-cat | grep -c discarded)" 0
cat >shared.json <<'END'
[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":9,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":5,"dur":9,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"either","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":40,"dur":9,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"none","pid":0,"tid":7,"ts":50,"dur":5,"args":{"correlation":2}}]
END
tl-decode shared.json -o shared.tl
reports 3 ambiguous-launch 'tl-tree shared.tl -o links.tl'
reports 3 no-such-launch 'tl-link shared.tl -o linked.tl'
for f in links.tl linked.tl; do
	is 'links that are none are counted' "$(tl-cat $f | grep -o '"ambiguous":1,"no_launch":1')" \
		'"ambiguous":1,"no_launch":1'
	reports 3 ambiguous-launch "tl-timeline $f"
	reports 3 no-such-launch "tl-timeline $f"
	quiet 'what looks at no links' "tl-cat $f"
done

# ---- what goes wrong ----

refuses 2 'unknown option' 'tl-tree --nosuch'
refuses 2 "'cut'" 'tl-tree --on-overlap cut small.tl'
refuses 2 'takes one input' 'tl-tree small.tl small.tl'
refuses 2 'writes no stream' 'tl-tree -p --ndjson small.tl'
refuses 2 'narrow --ext-id' 'tl-tree -p --pid 3 small.tl'
refuses 2 'exclude one another' 'tl-tree --up 1 --stack 1 small.tl'
refuses 2 'no kind of event' 'tl-tree --kind kernels small.tl'
refuses 5 'the selection matches no event' 'tl-tree --root nosuch small.tl'
refuses 5 'the selection matches no event' 'tl-tree --up 99 small.tl'
refuses 1 'run tl-filter after' \
	'tl-cat --skip kernel small.tl | tl-tree'
refuses 1 'No such file' 'tl-tree missing.tl'
refuses 1 'irectory' 'tl-tree .'
refuses 1 'empty' 'tl-tree </dev/null'
refuses 1 'not a trace' 'echo hello | tl-tree'
refuses 1 'No space left' 'tl-tree small.tl >/dev/full'
refuses 1 'No space left' 'tl-tree tree.tl >/dev/full'
refuses 1 'No space left' 'tl-tree small.json >/dev/full'
refuses 1 'No space left' 'tl-tree -p small.tl >/dev/full'
quiet 'a reader may leave' "tl-tree '$SAMPLE' | head -c 100"
quiet 'at once' 'tl-tree --on-overlap=clip small.tl | true'
quiet 'of a printed tree' "tl-tree -p '$SAMPLE' | head -n 1"
size=$(wc -c <small.tl) step=1
! sanitized || step=11 # a start takes ten times as long
cat >cuts <<'END'
i=0
while [ $i -lt "$1" ]; do
	head -c $i small.tl >cut.tl
	tl-tree cut.tl >out.tl 2>err
	if [ $? != 1 ] || tl-cat --check out.tl >/dev/null 2>&1; then
		echo "cut at $i passed"
		exit 1
	fi
	i=$((i + $2))
done
END
ok "cut in steps of $step bytes: no whole stream, exit 1" sh cuts "$size" $step

page_examples tl-tree.1
done_testing
