#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-cat: every mode and option, every kind of input, errors.
. tests/cli/lib.sh

TEN=$ROOT/tests/golden/stream/valid/ten-events.tl
cp "$TEN" ten.tl
cp "$ROOT/tests/golden/stream/valid/two-sources.tl" two.tl
cp "$ROOT/tests/golden/stream/valid/small.tl" small.tl
tl-cat ten.tl >ten.ndjson
tab=$(printf '\t')

# body CMD: its lines without the first (provenance)
body() { sh -c "$1" | sed 1d; }

# ---- forms of input ----

gzip -c ten.tl >ten.tl.gz
zstd -q ten.tl -o ten.tl.zst
gzip -c ten.ndjson >ten.ndjson.gz
for f in ten.tl.gz ten.tl.zst ten.ndjson ten.ndjson.gz; do
	is "$f" "$(body "tl-cat $f")" "$(body 'tl-cat ten.tl')"
done
is 'stdin' "$(body 'tl-cat <ten.tl')" "$(body 'tl-cat ten.tl')"
is '-' "$(body 'cat ten.tl | tl-cat -')" "$(body 'tl-cat ten.tl')"
is 'behind --' "$(body 'tl-cat -- ten.tl')" "$(body 'tl-cat ten.tl')"
is 'byte by byte' "$(body 'dribble <small.tl | tl-cat')" \
	"$(body 'tl-cat small.tl')"
is 'lines byte by byte' "$(body 'tl-cat small.tl | dribble | tl-cat')" \
	"$(body 'tl-cat small.tl')"
is 'compressed output' "$(body 'tl-cat -bz ten.tl | zstd -dc | tl-cat')" \
	"$(body 'tl-cat ten.tl')"
ok '-o' sh -c 'tl-cat -b -o out.tl ten.tl && tl-cat --check out.tl'
printf '{"traceEvents":[{"ph":"X","name":"a","ts":1.5,"dur":2,"pid":1,"tid":2}]}' \
	>raw.json
is 'a raw trace' "$(tl-cat -F name,dur --no-header raw.json)" "a${tab}2000"

# ---- lines written by hand ----

head='{"tl":1,"marks":[],"prov":[]}'
end='{"end":{}}'
lines() { printf '%s\n' "$head" "$@" "$end"; }
event() { lines "$@" | tl-cat | sed '1d;$d'; }
is 'the least event' "$(event '{"id":3,"kind":"op"}')" \
	'{"id":3,"src":0,"kind":"op"}'
is 'any order, white space, own keys' \
	"$(event ' { "kind" : "op" , "_mine":[1, {"a":2}], "args":{ } , "id":3 } ')" \
	'{"id":3,"src":0,"kind":"op","args":{}}'
is 'null is missing' "$(event '{"id":1,"kind":"op","dur":null,"pid":null}')" \
	'{"id":1,"src":0,"kind":"op","pid":null}'
is 'lists are minified' "$(event '{"id":1,"kind":"op","args":{"l":[ 1 , [ ] ]}}')" \
	'{"id":1,"src":0,"kind":"op","args":{"l":[1,[]]}}'
is 'tagged numbers' \
	"$(event '{"id":1,"kind":"op","args":{"a":9007199254740993,"b":"#5","c":"##5","d":"#x","e":1e999,"f":-0}}')" \
	'{"id":1,"src":0,"kind":"op","args":{"a":"#9007199254740993","b":5,"c":"##5","d":"#x","e":"#1e999","f":"#-0"}}'
lines '{"id":1,"kind":"kernel","dev":2,"corr":"7"}' >hand.ndjson
is 'fields by hand' "$(tl-cat -F dev,corr --no-header hand.ndjson)" "2${tab}7"
lines '{"id":1,"kind":"kernel","dev":2,"args":{"device":1,"stream":4}}' >hand.ndjson
is 'an edited field wins' \
	"$(tl-cat -b hand.ndjson | tl-cat -F dev,gpu_stream,args.device --no-header)" \
	"2${tab}4${tab}1"
lines '{"id":1,"kind":"op"}' '{"id":2,"kind":"op"}' | sed '3d' >fewer
sed 's/"end":{}/"end":{"events":2}/' fewer >fewer.ndjson
like 'a line less is edited' "$(tl-cat --header fewer.ndjson)" 'marks: edited'

# bad ERE LINE...: such lines are refused
bad() {
	ere=$1
	shift
	lines "$@" >bad.ndjson
	refuses 1 "$ere" 'tl-cat --check bad.ndjson'
}
bad 'line 2\): unknown key "nam" in an event' '{"id":1,"kind":"op","nam":"x"}'
bad 'byte 45 \(line 2\): there is no kind "ops"' '{"id":1,"kind":"ops"}'
bad 'an event needs "id"' '{"kind":"op"}'
bad 'an event needs "kind"' '{"id":1}'
bad '"ts" needs a whole number' '{"id":1,"kind":"op","ts":1.5}'
bad 'the number of "dur" is out of range' '{"id":1,"kind":"op","dur":-1}'
bad 'the number of "id" is out of range' '{"id":"#4611686018427387904","kind":"op"}'
bad 'line 2\): the event ends beyond 2' \
	'{"id":1,"kind":"op","ts":"#9223372036854775807","dur":1}'
bad 'byte 56 \(line 2\): the number of a source is far' \
	'{"id":1,"kind":"op","src":65537}'
bad 'line 2\): the number of a source is far' '{"source":{"src":16777215}}'
lines '{"id":1,"kind":"op","src":65536}' '{"id":1,"kind":"op","src":65537}' >far
ok 'numbers of sources may be ahead' tl-cat --check far
bad '"parent" needs an event' '{"id":1,"kind":"op","parent":"1.x"}'
bad 'does not know the word' '{"id":1,"kind":"op","flags":["lost"]}'
bad '"ph" needs one character' '{"id":1,"kind":"op","ph":"XX"}'
bad 'expected an object' '{"id":1,"kind":"op","args":[]}'
bad 'pair of key and value' '{"id":1,"kind":"op","dup":[["a"]]}'
bad "expected ','" '{"id":1 "kind":"op"}'
bad 'line ends within a value' '{"id":1,"kind":"op","args":{"a":[1'
bad 'line ends within a value' '{"id":1,"kind":"op","name":"a'
bad 'text follows' '{"id":1,"kind":"op"} {}'
bad 'expected a value' '{"id":1,"kind":"op","args":{"a":nope}}'
bad 'expected a value' '{"id":1,"kind":"op","args":{"a":}}'
bad 'invalid UTF-8' "$(printf '{"id":1,"kind":"op","name":"\377"}')"
bad 'knows corr, ext' '{"id":1,"kind":"op","roles":{"args":{"a":"x"}}}'
bad 'a section is unknown' '{"section":"trees"}'
bad 'unknown key "sources" in "source"' '{"source":{"sources":1}}'
bad 'a second header' "$head"
bad 'tree order is broken at event 2' '{"section":"tree"}' \
	'{"id":1,"kind":"op","depth":0}' \
	'{"id":2,"kind":"op","depth":1,"parent":7}'
bad 'tree order is broken at event 2' '{"section":"tree"}' \
	'{"id":2,"kind":"op","depth":1,"parent":1}'
bad 'tree order is broken at event 2' '{"section":"tree"}' \
	'{"id":1,"kind":"op","depth":0}' '{"id":2,"kind":"op","parent":1}'
printf '%s\n' '{"tl":2}' >bad.ndjson
refuses 1 'newer version' 'tl-cat bad.ndjson'
printf '%s\n' "$head" '{"id":1,"kind":"op"}' >cut.ndjson
refuses 1 'cut off' 'tl-cat --check cut.ndjson'
printf '%s\n%s\n%s' "$head" '{"id":1,"kind":"op"}' "$end" >cut.ndjson
refuses 1 'cut off' 'tl-cat --check cut.ndjson'
refuses 1 'text follows' 'cat ten.ndjson ten.ndjson | tl-cat --check'
refuses 1 'reseal' 'sed 1d hand.ndjson | tl-cat'

# ---- choosing ----

ids() { sh -c "$1" | tr '\n' ' '; }
is '--id' "$(ids 'tl-cat -F id --no-header --id 3 --id 0:7 --id 1:8 ten.tl')" '3 7 '
is '--kind' "$(ids 'tl-cat -F id --no-header --kind kernel ten.tl')" '7 8 9 '
is '--skip' "$(ids 'tl-cat -F id --no-header --skip kernel,op ten.tl')" '0 3 4 6 '
is '--head' "$(ids 'tl-cat -F id --no-header -n 2 ten.tl two.tl')" '0 1 '
like 'what is left is no tree' \
	"$(tl-cat --kind kernel ten.tl | tl-cat --header)" '^marks: linked, edited'
like 'a beginning is one' \
	"$(tl-cat -n 5 ten.tl | tl-cat --header)" '^marks: linked, tree, edited'
is 'a beginning is whole' "$(tl-cat -n 1 two.tl | tl-cat --check)" \
	'stdin: whole, 1 event, 1 source'
is 'nothing at all' "$(tl-cat -n 0 ten.tl | tl-cat --check)" \
	'stdin: whole, 0 events, 0 sources'

# ---- several ----

is 'sources are kept apart' \
	"$(tl-cat two.tl two.tl ten.tl | tl-cat -F src,id --no-header | tr '\t\n' ': ')" \
	'0:0 1:0 2:0 3:0 4:0 4:1 4:2 4:3 4:7 4:4 4:8 4:5 4:9 4:6 '
is 'and in columns' \
	"$(tl-cat -F src,id --no-header two.tl two.tl | tr '\t\n' ': ')" \
	'0:0 1:0 2:0 3:0 '
like 'two trees are a tree' "$(tl-cat ten.tl ten.tl | tl-cat --header)" \
	'^marks: linked, tree$'
like 'a tree and none are none' "$(tl-cat ten.tl two.tl | tl-cat --header)" \
	'^marks: none$'
is 'raw traces too' "$(tl-cat raw.json ten.tl raw.json | tl-cat --check)" \
	'stdin: whole, 12 events, 3 sources'

# ---- columns ----

is 'all columns' "$(tl-cat -F id,inst,src,rank,kind,cat,name,ph,ts,dur,pid,tid,dev,gpu_stream,corr,ext,launch,parent,fwd,bwd,depth,ndesc,ngpu,flags --id 8 --no-header ten.tl | tr '\t' '|')" \
	'8|0|0|0|kernel|kernel|add|X|39000|2500|0|20|0|20|12||4|4|||3|||'
is 'the stack' "$(tl-cat -F id,op,op_id,module,step --kind kernel --no-header ten.tl | tr '\t' '|')" \
	'7|aten::addmm|2||1
8|aten::addmm|2||1
9||||'
is 'arguments' "$(tl-cat -F 'args.Input Dims,args,top.s' --no-header --id 2 --id 6 ten.tl | tr '\t' '|')" \
	'[[8],[4,16],[16,8]]|{"External id":2,"Input Dims":[[8],[4,16],[16,8]]}|
||t'
lines '{"id":1,"kind":"op","name":"a\tb\nc\\d\u001b","flags":["stub","paired"],"args":{"x,y":null,"u":"#18446744073709551615"}}' >esc.ndjson
is 'escapes' "$(tl-cat -F 'name,flags,args.x\,y,args.u' --no-header esc.ndjson | tr '\t' '|')" \
	"a\\tb\\nc\\\\d\\x1b|paired,stub|null|18446744073709551615"
is 'names of columns' "$(tl-cat -F 'id,args.a b' -n 0 ten.tl)" "id${tab}args.a b"
is 'default columns' "$(tl-cat --tsv -n 1 ten.tl | tr '\t' ' ')" \
	'id kind name ts dur pid tid
0 annotation ProfilerStep#1 0 100000 7 7'
is '--abs' "$(tl-cat --abs -F id,ts --id 1 ten.tl | tr '\t' ' ')" \
	'id ts_abs
1 1700000000000001000'
is '--abs in a stream moves the base' \
	"$(tl-cat --abs ten.tl | tl-cat --abs -F ts --id 1 --no-header)" \
	1700000000000001000
refuses 1 'names its base only after its events' 'tl-cat --abs -F ts --no-header two.tl'

# ---- header, check ----

like '--header' "$(tl-cat --header ten.tl)" '"make" "1" \["golden"\]'
like '--header --ndjson is a stream' \
	"$(tl-cat --header --ndjson ten.tl | tl-cat --check)" 'whole, 0 events'
is '--check' "$(tl-cat --check ten.tl two.tl)" 'ten.tl: whole, 10 events, 1 source
two.tl: whole, 2 events, 2 sources'
head -c 300 ten.tl >cut.tl
refuses -o 1 'cut.tl: byte 300: the stream was cut off' \
	'tl-cat --check ten.tl cut.tl two.tl'
is 'the others are checked' "$(tl-cat --check cut.tl two.tl 2>/dev/null)" \
	'two.tl: whole, 2 events, 2 sources'
is '--check of a salvaged stream warns' \
	"$(tl-cat --check "$ROOT/tests/golden/stream/valid/all-marks.tl" >/dev/null 2>&1; echo $?)" 3

# ---- reseal ----

sed '1d;$d' ten.ndjson >events
is 'edited lines are a stream again' \
	"$(tl-cat --reseal --from ten.tl events | sed 1d | grep -v '^{"s')" \
	"$(sed 1d ten.ndjson | grep -v '^{"s' | sed 's/"tree"]}}/"tree","edited"]}}/')"
grep -v '"section"\|"source"' events >bare
is 'sections come back' \
	"$(tl-cat --reseal --from ten.tl bare | grep -c section)" 3
grep -v gemm bare >fewer
is 'numbers below are counted anew' \
	"$(tl-cat --reseal --from ten.tl fewer | tl-cat -F id,ndesc,ngpu --kind op,runtime --no-header | tr '\t\n' ': ')" \
	'1:4:1 2:3:1 3:0:0 4:1:1 5:0:0 '
like 'still a tree' "$(tl-cat --reseal --from ten.tl fewer | tl-cat --header)" \
	'^marks: linked, tree, edited$'
grep -v addmm bare >fewer
like 'not without a parent' \
	"$(tl-cat --reseal --from ten.tl fewer | tl-cat --header)" \
	'^marks: linked, edited$'
refuses 1 'events were removed' \
	'tl-cat --reseal --from ten.tl fewer | tl-cat -F op'
is 'from standard input, to binary' \
	"$(tl-cat --reseal --from ten.tl --binary <bare | tl-cat --check)" \
	'stdin: whole, 10 events, 1 source'
echo '{"id":1,"kind":"op","src":3}' >bare
refuses 1 'has no source 3' 'tl-cat --reseal --from ten.tl bare'
echo '{"id":1,"kind":"op","sr":3}' >bare
refuses 1 'bare: byte 25 \(line 1\): unknown key "sr"' \
	'tl-cat --reseal --from ten.tl bare'

# ---- what goes wrong ----

refuses 2 'exclude each other' 'tl-cat --tsv --check ten.tl'
refuses 2 'exclude each other' 'tl-cat --header --check ten.tl'
refuses 2 'exclude each other' 'tl-cat --binary --tsv ten.tl'
refuses 2 'exclude each other' 'tl-cat --binary --ndjson ten.tl'
refuses 2 'exclude each other' 'tl-cat --ndjson -F id ten.tl'
refuses 2 'go together' 'tl-cat --reseal ten.tl'
refuses 2 "'--from' needs a time" 'tl-cat --from ten.tl ten.tl'
refuses 2 'one file' 'tl-cat --reseal --from ten.tl ten.tl two.tl'
refuses 2 'both be standard input' 'tl-cat --reseal --from -'
refuses 2 'does not go with --check' 'tl-cat --check --abs ten.tl'
refuses 2 '--header takes no selection' 'tl-cat --header --kind op ten.tl'
refuses 2 'goes with --tsv' 'tl-cat --no-header ten.tl'
refuses 2 "no kind of event 'kernels'" 'tl-cat --kind op,kernels ten.tl'
for program in tl-cat tl-decode tl-filter tl-tree; do
	refuses 2 "option '--kind': no kind of event ''" "$program --kind kernel, ten.tl"
done
refuses 2 "no kind of event ''" 'tl-cat --skip "" ten.tl'
is '--id: an event is all that is printed' \
	"$(tl-cat --id 3 --id 7 ten.tl | jq -c .id | tr '\n' ' ')" '3 7 '
is 'with --ndjson it is a stream' \
	"$(tl-cat --id 3 --ndjson ten.tl | tl-cat --check 2>&1 | grep -c whole)" 1
is 'with -b, too' "$(tl-cat --id 3 -b ten.tl | tl-cat -F id --no-header)" 3
refuses 5 'ten.tl: .* matches no event$' 'tl-cat --id 9999 ten.tl'
refuses 5 'ten.tl: .* matches no event$' 'tl-cat -F id --id 9999 ten.tl'
refuses 2 "needs an event, UID" 'tl-cat --id x ten.tl'
refuses 2 "needs an event, UID" 'tl-cat --id 1: ten.tl'
refuses 2 "'-1'" 'tl-cat --head -1 ten.tl'
refuses 2 "no column 'foo'" 'tl-cat -F id,foo ten.tl'
refuses 2 "unknown option '--foo'" 'tl-cat --foo'
refuses 1 'No such file' 'tl-cat missing.tl'
refuses 1 'missing.tl: .*No such file' 'tl-cat ten.tl missing.tl'
refuses 1 'irectory' 'tl-cat .'
refuses 1 'empty' 'tl-cat </dev/null'
refuses 1 'not a trace' 'echo hello | tl-cat'
refuses 1 'No space left' 'tl-cat ten.tl >/dev/full'
refuses 1 'No space left' 'tl-cat -F id ten.tl >/dev/full'
refuses 1 'No space left' 'tl-cat --header ten.tl >/dev/full'
refuses 1 'No space left' 'tl-cat --check ten.tl >/dev/full'
refuses 1 'Bad file descriptor' 'tl-cat ten.tl >&-'
refuses 1 'tl-cat a.tl b.tl' 'cat ten.tl ten.tl | tl-cat --check'
# shellcheck disable=SC2016 # for the inner shell
quiet 'a reader may leave' \
	'yes "$(sed -n 5p ten.ndjson)" | head -n 100000 | tl-cat --reseal --from ten.tl | head -n 1'
quiet 'even at once' 'tl-cat ten.tl | true'
quiet 'of columns too' 'tl-cat -F id ten.tl | head -c 1'

page_examples tl-cat.1
done_testing
