#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-split: parts add up to the whole, and equal tl-filter's output.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# sums FILE...: number and time of events by kind and of kernels by name, GPU
# time by op (one that continues in the next part has work in both)
sums() {
	for f in "$@"; do
		tl-cat --tsv -F kind,dur,flags --no-header "$f" |
			awk -F'\t' '$1 != "meta" && $3 !~ /stub/ {
				print $1 "\t1\t" $2 }'
		tl-kernels -c name,count,dur_ns_sum --no-header "$f" 2>err
		tl-ops -c name,direct_ns_sum --no-header "$f" 2>err |
			awk -F'\t' '{ print "op " $1 "\t0\t" $2 }'
	done | awk -F'\t' '{ n[$1] += $2; s[$1] += $3 }
		END { for (k in n) print k, n[k], s[k] }' | sort
}
adds_up() { # TEXT WHOLE OPTION... FILE...
	what=$1 whole=$2
	shift 2
	rm -rf parts
	tl-split "$@" -d parts 2>err
	sums parts/*.tl >got
	same "$what: parts add up" "$whole" got
}

tl-tree "$SAMPLE" -o t.tl
sums t.tl >whole
adds_up 'by step' whole --by step t.tl
is 'a part for each step, and the rest' "$(cd parts && echo *)" \
	'rest.tl step-1.tl step-2.tl step-3.tl'
# --from: what it launched, see selections.sh
tl-timeline --from 0ns --step 2 t.tl >want
tl-timeline parts/step-2.tl >got
same 'a part is what the option chooses' want got
# of_part FILE: events without stubs, in the order of ids
of_part() {
	tl-cat "$1" | grep '^{"id"' | grep -v -e '"stub"' -e '"kind":"meta"' |
		sed 's/"\(ndesc\|ngpu\)":[0-9]*,*//g' | sort
}
tl-filter --step 2 t.tl | tl-cat >f.ndjson
of_part f.ndjson | grep -v '"kind":"gpu_annotation"' >want
of_part parts/step-2.tl | grep -v '"kind":"gpu_annotation"' >got
ok 'it has events' test "$(wc -l <want)" -gt 100
same 'event by event' want got
is 'annotations of other steps stay away' \
	"$(tl-cat parts/step-2.tl | grep -o 'ProfilerStep#.' | sort -u)" \
	'ProfilerStep#2'
like 'a part is a tree' "$(tl-cat parts/step-2.tl | head -n 1)" '"tree"'
ok 'parts are whole' sh -c 'for f in parts/*; do tl-cat --check $f || exit 1; done'
is 'nothing else is left' "$(find parts -name '.*' -type f)" ''
adds_up 'by time' whole --every 2ms t.tl
# a backward op needs its forward op, in another part
analyse='tl-roofline --arch mi300x'
command -v tl-roofline >/dev/null || analyse=tl-timeline # built without Lua
k=0
for f in parts/time-?.tl; do
	n=${f#parts/time-} n=${n%.tl}
	tl-filter --from $((2 * n))ms --to $((2 * n + 2))ms t.tl -o f.tl 2>err
	$analyse f.tl >want 2>err
	$analyse "$f" >got 2>err
	cmp -s want got || k=$((k + 1))
	cat want >>wants
done
is 'parts by time analyse as what tl-filter makes' "$k" 0
ok 'to something' test "$(wc -l <wants)" -gt 20
adds_up 'by time of the GPU' whole --every 2ms --by-gpu-time t.tl
adds_up 'by annotation' whole --annotation 'Optimizer.step*' t.tl
adds_up 'by rank' whole --by rank t.tl
adds_up 'of a trace' whole --by step "$SAMPLE"
adds_up 'compressed' whole --by step -z t.tl
is 'they are' "$(od -An -tx1 -N4 parts/step-2.tl | tr -d ' ')" 28b52ffd

# more parts than open files are allowed: files are closed in between
# shellcheck disable=SC3045 # every sh here has it
(ulimit -n 80 && tl-split --every 100us -d many t.tl) 2>err
is 'over 64 parts' "$(test "$(find many -name '*.tl' | wc -l)" -gt 64 &&
	echo yes)" yes
sums many/*.tl >got
same 'many parts: they add up' whole got
# shellcheck disable=SC3045
(ulimit -n 80 && tl-split --every 100us -z -d manyz t.tl) 2>err
sums manyz/*.tl >got
same 'and compressed' whole got

# several inputs, of several ranks
tl-gen --ranks 2 --steps 2 --layers 1 --no-python --no-memory -d job
tl-merge job/*.json >two.tl
tl-split --by rank -d ranks - <two.tl
is 'ranks of a merged stream' "$(cd ranks && echo *)" 'rank-0.tl rank-1.tl'
tl-timeline job/rank-1.json >want
tl-timeline ranks/rank-1.tl >got
same 'a rank is as before it was merged' want got
tl-merge ranks/*.tl -o again.tl
tl-tree two.tl | tl-cat | grep '^{"[is][dr]' >want
tl-cat again.tl | grep '^{"[is][dr]' >got
same 'merged again, all is there' want got
for i in 0 1; do
	tl-tree job/rank-$i.json -o job/$i.tl
done
# events FILE: without names and annotations, which all parts have
events() {
	tl-cat "$1" | grep '^{"id"' | grep -v -e '"kind":"meta"' -e annotation | sort
}
# a backward op that is a stub needs its forward op, too
tl-split --every 2ms -d by-time job/0.tl
for f in by-time/time-*.tl; do
	n=${f#by-time/time-} n=${n%.tl}
	tl-filter --from $((2 * n))ms --to $((2 * n + 2))ms job/0.tl -o f.tl 2>err
	events f.tl >>by-filter
	events "$f" >>by-split
done
same 'parts by time, event by event' by-filter by-split
sums job/0.tl job/1.tl >whole
adds_up 'two inputs, by step' whole --by step job/0.tl job/rank-1.json
adds_up 'two inputs, by rank' whole --by rank job/0.tl job/rank-1.json
adds_up 'two inputs, by time' whole --every 1ms job/0.tl job/rank-1.json
adds_up 'two inputs, by annotation' whole --annotation 'Optimizer.step*' \
	job/0.tl job/rank-1.json
tl-split --by step -d steps job/0.tl job/rank-1.json
is 'a part has its step of each rank' \
	"$(tl-cat --tsv -F src --no-header steps/step-2.tl | sort -u | tr '\n' ' ')" \
	'0 1 '
tl-split --annotation 'Optimizer.step*' -d notes job/0.tl job/1.tl
is 'the Nth annotation of each' "$(cd notes && echo *)" \
	'annotation-1.tl annotation-2.tl rest.tl'
# nested annotations: an event has several parts
sed 's/"Optimizer.step[^"]*"/"ProfilerStep#9"/' job/rank-0.json >nested.json
tl-split --annotation '*' -d nested nested.json
tl-cat nested/annotation-2.tl | grep '^{"id"' | grep -v '"stub"' >inner
ok 'an inner part is in the outer one' sh -c 'test -s inner && for id in $(
	grep -o "^{\"id\":[0-9]*" inner | tr -cd "0-9\n"); do
	tl-cat nested/annotation-1.tl | grep "^{\"id\":$id," | grep -qv "\"stub\"" ||
		exit 1
	break
done'

refuses 2 'what to split by' 'tl-split -d x t.tl'
refuses 2 "'--by-gpu-time'" 'tl-split -d x --by rank --by-gpu-time t.tl'
refuses 2 'exclude each other' 'tl-split -d x --by step --every 1ms t.tl'
refuses 1 'No such file' 'tl-split -d x --by step t.tl nothing.tl'
refuses 5 'no such annotation' 'tl-split -d x --annotation nothing t.tl'
refuses 1 'over 100000 parts' 'tl-split -d x --every 1ns t.tl'
head -c 3000 t.tl >cut.tl
refuses 1 'cut off' 'tl-split -d x --by step cut.tl'
refuses 1 'cut off' 'tl-split -d x --by step t.tl cut.tl'
is 'and nothing is left' "$(ls -A x)" ''
mkdir used && : >used/step-1.txt && : >used/notes.tl
ok 'a folder with other files' tl-split -d used --by step t.tl
ok 'the same split again' tl-split -d used --by step t.tl
tl-filter --step 2 t.tl -o two.tl
cp used/step-2.tl kept
refuses 1 'used/(step-[13]|rest)\.tl is from an earlier split' \
	'tl-split -d used --by step two.tl'
ok 'which stays as it was' cmp -s used/step-2.tl kept
# of the other iterations only the annotation is left, as a stub
ok 'iterations of a trace that was cut down to one' \
	tl-split -d one --by iteration two.tl
is '... of which only that one has a file' "$(find one -name '*.tl' | wc -l)" 1
is '... and a row' "$(grep -c 'iteration' one/execution_details.csv)" 1
# an export that takes its time
mkdir with
printf '#!/bin/sh\n: >started\nexec sleep 1\n' >with/tl-export
chmod +x with/tl-export
cp "$B/bin/tl-split" with
files_in() { # DIR
	find "$1" -type f -printf '%f\n' | sort | tr '\n' ' '
}
streams_in() { # DIR: of steps 1 to 3, and the run's lock
	[ "$(find "$1" -name 'step-[123].json.gz.*.tl-split' | wc -l)" = 3 ] &&
		[ "$(find "$1" -name '.??????.tl-split' | wc -l)" = 1 ]
}
with/tl-split --to chrome --by step -d killed t.tl &
victim=$!
while [ ! -e started ]; do sleep 0.05; done
ok 'streams of parts are there while they are exported' streams_in killed
kill -TERM $victim
wait $victim
is 'a signal leaves none of them' "$(find killed -name '*.tl-split*')" ''
rm started
with/tl-split --to chrome --by step -d killed t.tl &
victim=$!
while [ ! -e started ]; do sleep 0.05; done
kill -KILL $victim
wait $victim 2>/dev/null
: >killed/step-9.json.gz.QwErTy.tl-split.tmpAbCdEf
: >killed/mine.tmpAbCdEf
ok 'killed outright it leaves them' streams_in killed
ok 'until the folder is used again' tl-split --to chrome --by step -d killed two.tl
is '... and what others left stays' "$(files_in killed)" 'mine.tmpAbCdEf step-2.json.gz '
# two runs at once, the second of which ends while the first one exports
printf '#!/bin/sh\n: >began\nwhile [ ! -e go ]; do sleep 0.05; done\nexec "%s" "$@"\n' "$B/bin/tl-export" >with/tl-export
with/tl-split --to chrome --by step -d both t.tl &
first=$!
while [ ! -e began ]; do sleep 0.05; done
ok 'a second run into a folder' tl-split --to chrome --by step -d both two.tl
ok "... leaves a running one's streams" streams_in both
: >go
ok '... which ends well' wait $first
is '... with all of its parts' "$(files_in both)" 'rest.json.gz step-1.json.gz step-2.json.gz step-3.json.gz '
tl-split --to chrome --by step -d alone t.tl
ok '... as they are alone' diff -r alone both
page_examples tl-split.1
done_testing
