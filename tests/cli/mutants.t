# SPDX-License-Identifier: MIT
# Every program on inputs that are well formed but wrong inside: streams with
# records changed, moved, repeated or removed and checksums repaired; tables,
# traces, models and architectures with other words. It answers, or says why
# not, in bounded time and memory; two ways to one answer agree.
. tests/cli/lib.sh

tl-gen -s 7 -n 2 --layers 1 -o g.json
tl-decode g.json -o g.tl
tl-tree g.tl -o g.tree
tl-filter --step 2 g.tree -o step.tree
tl-gen -s 8 -n 1 --layers 1 --ranks 2 -d ranks
tl-merge ranks/*.json -o ranks.tl
cp g.tree other.tree
tl-collective --partial -o part ranks/*0.json 2>err
streams="g.tl g.tree step.tree ranks.tl $ROOT/tests/golden/stream/valid/*.tl"
seed=${TL_SEED:-1} n=20
! slow || n=40
! everything || n=60
! sanitized || n=10 # each takes ten times as long

# mutants FILES [OPTION...] -- COMMAND...
mutants() {
	files=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	text=$*
	text=${text#-- }
	seen "$2"
	program=$2
	[ "$2" != sh ] || program=$(echo "$text" | grep -o 'tl-[a-z]*' | tail -n 1)
	command -v "$program" >/dev/null || {
		skip "$text" 'not built'
		return
	}
	# shellcheck disable=SC2086 # lists
	ok "$text" "$T/mutants" -n $n -s "$seed" $options $files "$@"
}
streams() {
	mutants "$streams" -- "$@"
}

streams tl-cat
streams tl-cat --tsv -F id,name,op,args,module,step
streams tl-cat --check
streams tl-cat --binary
streams tl-link
streams tl-tree
streams tl-tree --print
streams tl-graft --capture @ g.tree
streams tl-filter --kind kernel
streams tl-filter --step last
streams tl-merge @ g.tl
streams tl-export
streams tl-export --to perfetto
streams tl-timeline
streams tl-health
streams tl-idle --by cause
streams tl-launch
streams tl-steps
streams tl-critical
streams tl-critical --what-if '*=0.5'
streams tl-ops --by args
streams tl-ops --by module
streams tl-ops --pseudo-ops
streams tl-kernels
streams tl-fold
streams tl-modules --bwd
streams tl-collective
streams tl-collective @ g.tree
streams tl-roofline --arch H100-SXM
streams tl-replay
streams tl-diff @ other.tree
streams tl-match @ other.tree
streams tl-html -o out.html -
streams tl-sql --events -o out.sqlite
streams tl-split --by step -d split @
streams tl-split --by iteration -d split @

# a reader may refuse what another accepts, but must not read it differently
line="sed 1d" # the first line of NDJSON tells by which programs it went
for c in 'tl-timeline' 'tl-ops --by args' 'tl-kernels' 'tl-critical' \
	'tl-idle' 'tl-steps'; do
	mutants "$streams" -r -- sh -c "$c" ++ sh -c "tl-cat | $c"
	mutants "$streams" -r -- sh -c "$c" ++ sh -c "tl-tree | $c"
done
mutants "$streams" -- sh -c "tl-tree | tl-cat | $line" ++ \
	sh -c "tl-tree --mem 4M | tl-cat | $line"
mutants "$streams" -- sh -c "tl-tree | tl-cat | $line" ++ \
	sh -c "tl-link | tl-tree | tl-cat | $line"
mutants "$streams" -- tl-collective -j 1 @ g.tree ++ tl-collective -j 3 @ g.tree
mutants "$streams" -r -- sh -c 'tl-export | tl-timeline' ++ \
	sh -c 'tl-cat | tl-export | tl-timeline'

# ---- text ----

corpus=$ROOT/tests/fuzz/corpus
text() {
	f=$1
	shift
	mutants "$f" -t -- "$@"
}

tl-cat step.tree >step.ndjson
tl-timeline --format ndjson g.tree >t.ndjson
tl-timeline --format csv g.tree >t.csv
tl-kernels --top 9 g.tree >k.tsv
head -c 20000 g.json >cut.json
text step.ndjson tl-cat
text step.ndjson tl-timeline
text step.ndjson tl-fold
text 'g.json cut.json' tl-decode
text g.json tl-decode --salvage
text g.json tl-timeline
text "$corpus/kineto/*" tl-decode
text "$corpus/rocprof/*" tl-decode
text "$corpus/rocprof/*" tl-timeline
text "$corpus/rocprof_csv/*" tl-decode
text "$corpus/flight/json" tl-collective
text 't.ndjson' tl-xlsx -o out.xlsx
text 't.csv k.tsv' tl-xlsx -o out.xlsx @
text 't.csv k.tsv' tl-compare @ t.csv
text t.ndjson tl-html -o out.html @
text "$ROOT/common/model/rope.lua $ROOT/common/model/comm.lua" \
	tl-ops --models @ step.tree
text "$ROOT/common/model/rope.lua $ROOT/common/model/elementwise.lua" \
	tl-roofline --arch MI300X --models @ step.tree
text "$ROOT/common/model/arch/*.json" tl-roofline --arch @ step.tree
mutants part -- tl-collective @
all_seen tl-report tl-advise
done_testing
