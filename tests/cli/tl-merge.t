#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-merge: separate sources, one clock.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# RANK EPOCH TS: one kernel
trace() {
	printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k%s",' "$1"
	printf '"pid":0,"tid":7,"ts":%s,"dur":5,"args":{"correlation":1}}],' "$3"
	printf '"distributedInfo":{"rank":%s,"world_size":3},' "$1"
	printf '"baseTimeNanoseconds":%s}\n' "$2"
}
trace 0 1000000 100 >r0.json
trace 1 4000000 100 >r1.json
trace 2 500000 100 >r2.json

exported() { # STREAM: name and ts of the slices
	tl-export --to chrome "$1" | grep -o '"name":"k[0-9]"[^{]*"ts":[-0-9.]*' |
		sed 's/.*"name":"\(k.\)".*"ts":/\1 /' | tr '\n' ' ' | sed 's/ $//'
}
tl-merge -o m.tl r0.json r1.json r2.json
is 'on the clock of the first' "$(exported m.tl)" 'k0 100 k1 3100 k2 -400'
tl-merge --align none -o n.tl r0.json r1.json r2.json
is 'as they are' "$(exported n.tl)" 'k0 100 k1 100 k2 100'
is 'three sources' "$(tl-cat --tsv -F src,name --no-header m.tl | tr '\t\n' ': ')" \
	'0:k0 1:k1 2:k2 '
tl-merge --sort rank r2.json r0.json r1.json -o s.tl
is 'in the order of ranks' \
	"$(tl-cat --tsv -F src,name --no-header s.tl | tr '\t\n' ': ')" \
	'0:k0 1:k1 2:k2 '
is 'only some ranks' \
	"$(tl-merge --rank 0,2 r0.json r1.json r2.json | tl-cat --tsv -F name --no-header | tr '\n' ' ')" \
	'k0 k2 '
ok 'the result is whole' tl-cat --check m.tl
tl-merge -o again.tl m.tl
tl-cat m.tl | grep -v '^{"tl"' >want
tl-cat again.tl | grep -v '^{"tl"' >got
same 'what is joined stays as it is' want got
sed 's/"baseTimeNanoseconds":[0-9]*/"x":1/' r1.json >r1n.json
# a rank that comes after the events is known before them
named() { # STREAM: names of processes
	tl-export "$1" | grep -o '"rank [0-9]* P"' | tr '\n' ' '
}
for i in 0 1; do
	sed 's/.*"traceEvents":\[\(.*\)\],\("distr.*\)}$/{"traceEvents":[{"ph":"M","name":"process_name","pid":0,"args":{"name":"P"}},\1],\2}/' \
		r$i.json >late$i.json
done
tl-merge -o late.tl late0.json late1.json
is 'all processes tell their rank' "$(named late.tl)" '"rank 0 P" "rank 1 P" '
refuses -o 3 'only one of this and the first source records its clock.s epoch' 'tl-merge r0.json r1n.json'

# trees
tl-tree "$SAMPLE" -o t.tl
tl-merge t.tl "$SAMPLE" -o two.tl
ok 'two trees are a stream' tl-cat --check two.tl
like 'and a tree' "$(tl-cat two.tl | head -n 1)" '"tree"'
tl-timeline --by src -c src,type,time_ns two.tl | awk -F'\t' '$1 == 1 { print $2 "\t" $3 }' >got
tl-timeline -c type,time_ns --no-header t.tl >want
same 'each analyses as before' want got
refuses 1 'No such file' 'tl-merge nothing.tl'
refuses 2 'twice' 'tl-merge --sort rank - <r0.json'
head -c 3000 t.tl >cut.tl
refuses -o 1 'cut' 'tl-merge cut.tl t.tl'
refuses 1 'No space left' 'tl-merge t.tl t.tl >/dev/full'
quiet 'a reader may leave' 'tl-merge t.tl t.tl | head -c 1'

# clocks by collectives
tl-gen --ranks 4 --steps 2 --layers 2 --no-python --no-memory \
	--clock-skew 2=3000000 -d job
tl-merge --align collective job/*.json -o job.tl
offset=$(tl-collective --table nccl_clocks -c rank,offset_ns job.tl | awk '$1 == 2 { print $2 }')
ok "clocks agree: $offset ns are left" test "${offset#-}" -lt 1000
page_examples tl-merge.1
done_testing
