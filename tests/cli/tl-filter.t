#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-filter: what it keeps, that a tree stays one, that analysing its output is
# the same as analysing with its options; every kind of input, every failure.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# body FILE: the lines of a stream without the first, which names programs
body() {
	tl-cat "$1" | sed 1d
}

tl-decode "$SAMPLE" >plain.tl
tl-tree -o t.tl plain.tl

# ---- identity, idempotence ----

tl-filter t.tl >all.tl
body t.tl >t.nd
body all.tl >all.nd
same 'without options everything passes' t.nd all.nd
tl-filter --kind kernel t.tl >k.tl
tl-filter --kind kernel k.tl >kk.tl
body k.tl >k.nd
body kk.tl >kk.nd
same 'what was chosen is chosen again' k.nd kk.nd
tl-filter --kind op,kernel t.tl | tl-filter --min-dur 20us >two.tl
tl-filter --kind op,kernel --min-dur 20us t.tl >one.tl
body one.tl >one.nd
body two.tl >two.nd
same 'two filters are one with both options' one.nd two.nd
is 'stubs are chosen by nothing' \
	"$(tl-filter --kind python k.tl | tl-cat | grep -c '"kind":"python"')" 0
like 'a small selection is a small file' \
	"$(tl-filter --name '*layer_norm*' t.tl | wc -c) $(wc -c <t.tl)" \
	'^[0-9]{4,5} [0-9]{6}'

# ---- against a slow implementation of the options ----

cat >selections <<'END'

--kind kernel
--kind op --name 'aten::*mm*'
--name 'aten::linear' --subtree
--name '*nothing*'
--min-dur 20us
--min-dur 20us --subtree
--dev 0 --gpu-stream 0
--gpu-stream 1-9
--step 0
--step first,2 --kind kernel,memcpy
--step last --by-gpu-time
--from 2ms --to 5ms
--from 2ms --to 5ms --by-gpu-time --kind kernel
--annotation 'ProfilerStep*#2' --kind op
--annotation 'ProfilerStep#1' --step 1-2
--phase prefill,mixed
--phase decode --kind kernel
--phase outside --by-gpu-time
--rank 0 --kind runtime
--rank 5
--kind python --name '*forward*'
--kind annotation,meta
END
! sanitized || sed -i -n '1~3p' selections # others are the same code
as_slow() { # as_slow TEXT TREE: all selections
	ok "$1" sh -c 'python3 "$1" "$2" <selections' sh \
		"$ROOT/tests/oracle/filter.py" "$2"
}
as_slow 'the sample' t.tl
as_slow 'a filtered tree' k.tl
tl-gen --ranks 3 -d ranks --steps 2 --layers 1 2>/dev/null ||
	tl-gen --ranks 3 -d ranks -n 2 --layers 1
for r in 0 1 2; do tl-tree ranks/rank-$r.json >r$r.tl; done
tl-filter r0.tl r1.tl r2.tl >ranks.tl
tl-cat -b r0.tl r1.tl r2.tl >joined.tl
body ranks.tl >ranks.nd
body joined.tl >joined.nd
same 'several inputs are several sources' joined.nd ranks.nd
as_slow 'three ranks' ranks.tl

# ---- steps of one process ----

# steps 1 to 4 of process 11 and, half a step later, 2 to 5 of process 12; in
# the second of two sources process 12 is the only one
process() { # process PID FIRST START
	for i in 0 1 2 3; do
		at=$(($3 + 100 * i)) corr=$((100 * $1 + i))
		ev user_annotation "ProfilerStep#$(($2 + i))" 1 $at 100
		ev cuda_runtime cudaLaunchKernel 1 $((at + 60)) 5 "\"correlation\":$corr"
		ev kernel k 7 $((at + 70)) 8 "\"correlation\":$corr,\"device\":0,\"stream\":7"
	done | sed "s/\"pid\":[0-9]*/\"pid\":$1/"
}
{
	process 11 1 0
	process 12 2 50
} | trace >procs.json
process 12 2 50 | trace >alone.json
tl-tree procs.json -o procs.tl
tl-tree alone.json | tl-cat -b procs.tl - >sources.tl
kernels() { # kernels STEPS [TREE]: kernels by source, process and launch call
	tl-filter --step "$1" "${2:-procs.tl}" 2>/dev/null | tl-cat --tsv -F src,corr,kind |
		awk '$3 == "kernel" { print $1 ":" $2 }' | sort | paste -sd ' ' -
}
is 'a step of all processes' "$(kernels 2)" '0:1101 0:1200'
is 'of one' "$(kernels 2@12)" '0:1200'
is 'other steps of each' "$(kernels 1-2@11,5@12)" '0:1100 0:1101 0:1203'
is 'first and last are its own' "$(kernels first@12,last@11)" '0:1103 0:1200'
is 'so is the slowest' "$(kernels slowest@12)" '0:1200'
is 'of each source' "$(kernels 3@12 sources.tl)" '0:1201 1:1201'
is 'of one source' "$(kernels 3@1:12 sources.tl)" '1:1201'
is 'all of one source' "$(kernels 3@0: sources.tl)" '0:1102 0:1201'
reports 3 no-process 'tl-filter --step 2@13 procs.tl'
reports 3 no-such-process 'tl-filter --step 2@0:13 procs.tl'
reports 3 no-such-step 'tl-filter --step 1@12 procs.tl'
ok 'other sources are not asked' tl-filter --step 2@1:12 -o f.tl sources.tl
reports 3 no-such-source 'tl-filter --step 2@7: procs.tl'
reports 5 no-such-source 'tl-idle --step 2@7: procs.tl'
reports 5 no-process 'tl-idle --step 2@77 procs.tl'
reports 0 none-passed 'tl-filter --step 2@12 --name nosuch procs.tl'
is 'where nothing else fits its steps are not asked for' "$(grep -c '"id"' "$log/status")" 1
refuses 2 '3-7@PID' 'tl-filter --step 3@ procs.tl'

# sources count over all inputs: that of alone.json is 1
both() { # both PROGRAM...: of two inputs, the second's step 3
	"$@" procs.json alone.json --step 3@1:12 2>/dev/null
}
launched() { tl-cat --tsv -F src,corr,kind | awk '$3 == "kernel" { print $1 ":" $2 }'; }
is 'of two inputs' "$(both tl-filter | launched)" '1:1201'
is 'merged' "$(both tl-merge --align none | launched)" '1:1201'
is 'of steps' "$(both tl-steps --no-header -c src,step,pid | tr '\t' .)" '1.3.12'
! command -v tl-kernels >/dev/null || is 'of kernels' "$(both tl-kernels --by name --no-header -c count)" 1
is 'idle time is that before its kernel, from 150 to 220, and behind it' \
	"$(both tl-idle --no-header -c time_ns | awk '{ n += $1 } END { print n }')" 92000
is 'of the critical path' "$(both tl-critical --no-header -c src | sort -u)" 1
is 'folded' "$(both tl-fold | awk '{ n += $NF } END { print n }')" 8000

is 'joined' "$(both tl-cat --tsv -F src,corr,kind | awk '$3 == "kernel" { print $1 ":" $2 }')" \
	'1:1201'
# what no input has is reported once, also by programs that run tl-filter first
for program in tl-filter 'tl-cat' 'tl-cat --tsv' tl-export 'tl-html -o page.html' 'tl-merge --align none'; do
	reports 3 no-process "$program --step 3@77 procs.json alone.json"
	reports 3 no-such-source "$program --step 3@2:12 procs.json alone.json"
	is "$program: what one of them has" \
		"$($program --step 3@11,2@1:,3@0:11 procs.json alone.json 2>&1 >/dev/null; echo $?)" 0
done
reports 5 no-process 'tl-collective --step 3@77 procs.json alone.json'
refuses 2 'needs --first-source' 'tl-filter --met 5 procs.tl'
is 'exported' "$(both tl-export | grep -c '"kernel"')" 1

# a process of only one of several ranks
for r in 0 1 2; do
	process $((21 + r)) 1 0 | trace ",\"distributedInfo\":{\"rank\":$r}" >rank-$r.json
done
for p in filter 'merge --align=none' kernels timeline idle steps critical fold ops cat export; do
	command -v "tl-${p%% *}" >/dev/null || continue # a library is missing
	# shellcheck disable=SC2086 # the name and its options
	tl-$p --step 2@22 rank-0.json rank-1.json rank-2.json >one 2>err
	is "tl-$p: ranks without the process are no warning" "$? $(cat err) $([ -s one ] && echo answers)" '0  answers'
	case $p in cat | export) continue ;; esac # the inputs of one
	# shellcheck disable=SC2086
	tl-$p --step 2@22,2@29 rank-0.json rank-1.json rank-2.json >one 2>err
	is "tl-$p: one that no rank has is" "$? $(grep -c "'29'" err)" '3 1'
done
is 'all programs mean the same' \
	"$(sh "$ROOT/tests/oracle/selections.sh" procs.tl '--step 2-3@12' 2>&1 | grep -v '^ok|')" ''
is 'steps' "$(rows 'tl-steps --step 2-3@12 -c step,pid procs.tl')" '2 12.3 12.'
# their 200 us, less four kernels of 8 us, whoever launched them
is 'idle time' "$(tl-idle --step 2-3@12 --no-header -c time_ns procs.tl |
	awk '{ n += $1 } END { print n }')" 168000
is 'as in the timeline' "$(tl-timeline --step 2-3@12 --no-header -c type,time_ns procs.tl |
	grep -E 'busy|idle|total_time' | tr '\t\n' ' ;')" \
	'busy_time 32000;idle_time 168000;total_time 200000;'
refuses 2 '3-7@PID' 'tl-filter --step @12 procs.tl'
mv selections all
cat >selections <<'END'
--step 2
--step 2@12
--step 1-2@11,5@12 --kind kernel
--step first@12,last@11 --by-gpu-time
--step 3@1:12
--step 3@0:,4@1:12
END
as_slow 'steps of processes' procs.tl
as_slow 'steps of sources' sources.tl
mv all selections
tl-gen --recompute --streams 2 --moe -n 2 --layers 2 | tl-tree >g.tl
as_slow 'recompute and two streams' g.tl
tl-gen --rocprof --processes 2 | tl-tree >p.tl
as_slow 'rocprofv3' p.tl
for opt in '--format vllm_detailed --threads --late' '--format sglang_native --graph' \
	'--format atom_detailed --profiler --late'; do
	# shellcheck disable=SC2086 # a list of options
	python3 "$ROOT/tests/gen/serving.py" --steps 40 --schedule phases $opt |
		tl-tree >s.tl
	as_slow "serving: $opt" s.tl
done

# ---- filter then analyse ----

# agree TEXT FILE: tl-timeline of filtered traces, and with the options
agree() {
	bad=
	while read -r o; do
		case $o in *--subtree*) continue ;; esac
		for by in '' '--by step' '--by phase' '--by annotation' '--by dev'; do
			# a step's time includes work that another step
			# launched, which a filter drops
			case $o$by in *--step*--by\ step*) continue ;; esac
			# nor does it show that a step without chosen work had
			# some
			case $o$by in *--from*--by\ step*) continue ;; esac
			# nor are whole steps left: see selections.sh
			case $o$by in
			*--by\ [!d]*) launched= ;;
			*--step* | *--annotation*) launched='--from 0ns' ;;
			*) launched= ;;
			esac
			eval "tl-timeline $launched $o $by $2" >want 2>want.err
			w=$?
			case $o in *--by-gpu-time*) by="$by --by-gpu-time" ;; esac
			eval "tl-filter $o $2" 2>got.err |
				sh -c "tl-timeline $by" >got 2>>got.err
			g=$?
			for f in want got; do
				case $o in *--annotation* | *--phase* | *--step*,*)
					sh "$ROOT/tests/oracle/selections.sh" --apart <$f >$f.rows ;;
				*) cp $f $f.rows ;;
				esac
			done
			cmp -s want.rows got.rows || bad="$bad; $o $by"
			[ $((w == 1)) -eq $((g == 1)) ] || bad="$bad; $w $g: $o $by"
		done
	done <selections
	is "$1: filter, then analyse" "$bad" ''
}
sed -i '/--kind \(op\|python\|runtime\|annotation\)/d' selections
agree 'the sample' t.tl
if slow; then
	agree 'three ranks' ranks.tl
	agree 'recompute and two streams' g.tl
	agree 'rocprofv3' p.tl
	agree 'serving' s.tl
fi

# all programs, with all options one after another, and other traces in turn
is 'each option that selects is tried on all programs' "$(
	sed -n 's/.*{ OPT_SELECT_[A-Z_]*, "\([a-z-]*\)".*/--\1/p' \
		"$ROOT/common/trace/select.h" |
		while read -r o; do
			sh "$ROOT/tests/oracle/selections.sh" --list |
				grep -q -e "$o" || echo "$o"
		done)" ''
selections() {
	sh "$ROOT/tests/oracle/selections.sh" "$@"
}
agree_all() { # agree_all TEXT FILE FIRST STEP
	selections --list | awk -v k="$3" -v m="$4" 'NR % m == k' |
		while read -r o; do selections "$2" "$o"; done >answers
	is "$1: filter, then any program" "$(grep -v '^ok|' answers)" ''
	like "$1: they had answers" "$(grep -c '^ok|' answers)" "$5"
}
if slow; then
	agree_all 'the sample' t.tl 0 1 '^[12][0-9]{2}$'
else
	agree_all 'the sample' t.tl 0 3 '^[4-9][0-9]$'
fi
agree_all 'three ranks' ranks.tl 0 4 '^[2-9][0-9]$'
if slow; then
	agree_all 'recompute and two streams' g.tl 1 4 '^[2-9][0-9]$'
	agree_all 'rocprofv3' p.tl 2 4 '^[2-9][0-9]$'
	agree_all 'serving' s.tl 3 4 '^[2-9][0-9]$'
fi

# ---- flat ----

is 'flat: only what was chosen' \
	"$(tl-filter --flat --kind kernel t.tl | tl-cat | grep -c '"kind"')" \
	"$(tl-filter --flat --kind kernel t.tl | tl-cat | grep -c '"kind":"kernel"')"
is 'flat: no place, but its launch' \
	"$(tl-filter --flat --kind kernel t.tl | tl-cat |
		grep -c '"launch":.*"depth"\|"parent"\|"depth"\|"ndesc"')" 0
like 'flat: marked as edited' \
	"$(tl-filter --flat --kind kernel t.tl | tl-cat --header)" edited
refuses -o 1 'events were removed.*tl-filter after tl-tree' \
	'tl-filter --flat --kind kernel t.tl | tl-tree'
# --from: what is launched in the step, of which alone a filter keeps the events
tl-timeline --step 1 --from 0ns t.tl >want
tl-filter --flat --step 1 t.tl | tl-timeline >got
same 'flat: the links of GPU work stay' want got
tl-filter --flat --step 1 plain.tl | tl-timeline >got
same 'flat: of a stream without links' want got
is 'flat with subtrees' \
	"$(tl-filter --flat --subtree --name aten::linear t.tl | tl-cat |
		grep '"kind"' | sed 's/,"kind.*//')" \
	"$(tl-filter --subtree --name aten::linear t.tl | tl-cat |
		grep '"kind"' | grep -v '"stub"' | sed 's/,"kind.*//')"
is 'flat: host events need no links' \
	"$(tl-filter --flat --kind op plain.tl | tl-cat | grep -c '"kind":"op"')" \
	"$(tl-cat plain.tl | grep -c '"kind":"op"')"
refuses 1 'events were removed' \
	'tl-cat -b --kind kernel plain.tl >cut.tl; tl-filter cut.tl'
is 'an edited stream can be filtered flat' \
	"$(tl-filter --flat --kind kernel cut.tl | tl-cat | grep -c '"kind"')" \
	"$(tl-cat cut.tl | grep -c '"kind"')"

# ---- every kind of input ----

tl-cat t.tl >t.ndjson
gzip -c t.tl >t.gz
tl-cat -b -z t.tl >t.zst
# from FORM CMD: kernels as from the tree
from() {
	sh -c "$2" >f.tl
	body f.tl | sed 's/"facts":{"name":"[^"]*"/"facts":{/' >f.nd
	sed 's/"facts":{"name":"[^"]*"/"facts":{/' k.nd >want.nd
	same "$1" f.nd want.nd
}
from 'standard input' 'tl-filter --kind kernel <t.tl'
from 'a pipe' 'cat t.tl | tl-filter --kind kernel -'
from 'gzip' 'tl-filter --kind kernel t.gz'
from 'zstd' 'tl-filter --kind kernel <t.zst'
from 'NDJSON' 'tl-filter --kind kernel t.ndjson'
from 'a stream without links' 'tl-filter --kind kernel plain.tl'
from 'a raw trace' "tl-filter --kind kernel '$SAMPLE'"
from 'a raw trace from a pipe' "gzip -dc '$SAMPLE' | tl-filter --kind kernel"
from 'written as NDJSON' 'tl-filter --kind kernel --ndjson t.tl'
from 'written with zstd' 'tl-filter --kind kernel -z t.tl'
from 'written to a file' 'tl-filter --kind kernel t.tl -o out.tl; cat out.tl'
ok 'tl-cat finds it whole' tl-cat --check k.tl all.tl ranks.tl

# ---- failures ----

bad=
size=$(wc -c <k.tl)
for n in 1 4 8 20 100 900 $((size / 3)) $((size / 2)) $((size - 30)) \
	$((size - 1)); do
	head -c "$n" k.tl >cut.tl
	tl-filter cut.tl >out 2>err
	[ $? -eq 1 ] && grep -q '^tl-[a-z]*: ' err || bad="$bad $n"
	head -c "$n" k.tl | tl-filter --step 1 2>/dev/null | tl-cat --check \
		>out 2>err && bad="$bad pipe:$n"
done
is 'a cut stream, at many places' "$bad" ''
lines=$(wc -l <t.ndjson)
bad=
for n in 1 2 50 $((lines - 1)); do
	head -n "$n" t.ndjson | tl-filter --kind op >out 2>err
	[ $? -eq 1 ] || bad="$bad $n"
done
is 'cut lines' "$bad" ''
refuses -o 1 'tl-' 'head -c 20000 "$SAMPLE" | tl-filter --kind kernel'
head -c 20000 "$SAMPLE" | tl-filter >out 2>err
cp err err.then
sleep 0.2
same 'its helpers end before it' err.then err
refuses -o 1 'tl-' 'tl-filter </dev/null'
refuses -o 1 'tl-' 'echo no trace | tl-filter'
refuses 1 'No such file' 'tl-filter t.tl missing.tl'
refuses 1 'directory' 'tl-filter .'
refuses 1 'No space left' 'tl-filter t.tl >/dev/full'
refuses 1 'No space left' 'tl-filter --kind kernel t.tl >/dev/full'
refuses 1 'No such' 'tl-filter t.tl -o missing/x.tl'
quiet 'a reader may leave' 'tl-filter t.tl | head -c 1'
quiet 'so may a reader of lines' 'tl-filter --ndjson t.tl | head -n 1'
refuses 2 'no kind' 'tl-filter --kind kernels t.tl'
refuses 2 'needs a time' 'tl-filter --min-dur 5 t.tl'
like 'cannot go to a terminal' \
	"$(script -qec 'tl-filter t.tl; echo status $?' /dev/null | tr -d '\r' |
		tr '\n' ' ')" 'binary stream cannot go to a terminal.*status 2'
run 'tl-filter --step 77 t.tl >s.tl'
is 'a step that is not there is a warning' "$rc" 3
like 'which says what steps there are' "$(cat "$log/err")" 'none of these steps'
ok 'and leaves a tree of nothing' tl-cat --check s.tl
ok 'rank without a source' sh -c 'tl-filter --rank 9 t.tl | tl-cat --check'
like 'a summary' "$(tl-filter -v --kind kernel t.tl 2>&1 >/dev/null)" \
	'[0-9]+ chosen, [0-9]+ kept as stubs'
# depth that jumps: a binary stream made of false lines
sed 's/"depth":1,/"depth":7,/' t.ndjson >lies.ndjson
refuses -o 1 'tree order is broken' 'tl-filter --kind kernel lies.ndjson'

page_examples tl-filter.1
done_testing
