#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-link: links, --stats, every kind of input, errors.
. tests/cli/lib.sh

cat >small.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":60,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,"args":{"Sequence number":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":70,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"k3","pid":0,"tid":7,"ts":80,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"k3","pid":0,"tid":7,"ts":80,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"gpu_memcpy","name":"before","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7,"correlation":9}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":30,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":90,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0","pid":1,"tid":2,"ts":200,"dur":50,"args":{"Sequence number":3}},
{"ph":"B","cat":"cpu_op","name":"begun","pid":1,"tid":3,"ts":300},
{"ph":"E","pid":1,"tid":3,"ts":310.5},
{"ph":"B","cat":"cpu_op","name":"open","pid":1,"tid":3,"ts":320}
]}
END
tl-decode small.json >small.tl

# rows CMD COLUMNS: text with a bar between columns, a line per event
rows() { sh -c "$1 2>err" | tl-cat -F "$2" --no-header | tr '\t' '|'; }

is 'links and marks, order kept' "$(rows 'tl-link small.tl' id,launch,fwd,bwd,dur,flags)" \
	'0|2|||5000|
1|||10|50000|
2||||5000|
3||||5000|
4|3|||5000|
5|3|||5000|
6||||5000|duplicate
7||||5000|unlinked
8||||5000|
9||||5000|
10||1||50000|
11||||10500|paired
12|||||paired
13|||||unclosed'
reports 3 duplicates 'tl-link small.tl'
reports 3 unclosed 'tl-link small.tl'
like 'the marks of the stream' "$(tl-link small.tl 2>err | tl-cat --header)" \
	'^marks: linked$'

# ---- forms of input and output ----

tl-link small.tl 2>err | tl-cat | sed 1d >want
for f in gz zst ndjson; do
	case $f in
	gz) gzip -c small.tl >in.gz ;;
	zst) zstd -q small.tl -o in.zst ;;
	ndjson) tl-cat small.tl >in.ndjson ;;
	esac
	is "$f" "$(tl-link in.$f 2>err | tl-cat | sed 1d)" "$(cat want)"
done
is 'a raw trace' "$(tl-link small.json 2>err | tl-cat | sed 1d | grep -v '^{"source"')" \
	"$(grep -v '^{"source"' want)"
is 'standard input' "$(tl-link <small.tl 2>err | tl-cat | sed 1d)" "$(cat want)"
is 'byte by byte' "$(dribble <small.tl | tl-link - 2>err | tl-cat | sed 1d)" \
	"$(cat want)"
is '--ndjson' "$(tl-link --ndjson small.tl 2>err | sed 1d)" "$(cat want)"
is '--zstd' "$(tl-link -z small.tl 2>err | zstd -dc | tl-cat | sed 1d)" \
	"$(cat want)"
tl-link small.tl -o linked.tl 2>err
is '-o' "$(tl-cat linked.tl | sed 1d)" "$(cat want)"
is 'a linked stream goes through' \
	"$(tl-link linked.tl 2>err2 | tl-cat | sed 1d; cat err2)" "$(cat want)"
tl-tree small.tl -o tree.tl 2>err
is 'so does a tree' "$(tl-link tree.tl | tl-cat | sed 1d)" \
	"$(tl-cat tree.tl | sed 1d)"
is 'links are kept by tl-tree' \
	"$(tl-link small.tl 2>err | tl-tree 2>err | tl-cat | sed 1d | sort)" \
	"$(tl-cat tree.tl | sed 1d | sort)"
tl-cat small.tl small.tl >two.tl
is 'each source for itself' \
	"$(rows 'tl-link two.tl' src,id,launch | grep '|[0-9]*|[0-9]' | tr '\n' ' ')" \
	'0|0|2 0|4|3 0|5|3 1|0|2 1|4|3 1|5|3 '

# ---- rules ----

is '--link=flow without arrows' \
	"$(rows 'tl-link --link=flow small.tl' id,launch | grep '|[0-9]' | tr '\n' ' ')" \
	'4|3 5|3 '
is '--link=ext without ids' \
	"$(rows 'tl-link --link=ext small.tl' id,launch | grep -c '|[0-9]')" 0
is '--link of a linked stream links anew' \
	"$(rows 'tl-link --link=ext linked.tl' id,launch,flags | grep '^[047]|' | tr '\n' ' ')" \
	'0||unlinked 4||unlinked 7||unlinked '

# MTIA: no call has the name of a launch, but calls have correlations.
cat >mtia.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"mtia_runtime","name":"runFunction","pid":1,"tid":1,"ts":0,"dur":5,"args":{"External id":4,"correlation":1}},
{"ph":"X","cat":"mtia_ccp_events","name":"k","pid":17,"tid":3,"ts":9,"dur":5,"args":{"device":17,"correlation":1}}
]}
END
is 'a correlation counts whatever the call is named' \
	"$(rows 'tl-link mtia.json' id,launch,flags | tr '\n' ' ')" '0|| 1|0| '

# ---- --stats, -v ----

is '--stats' "$(tl-link --stats --format tsv small.tl 2>err | tr '\t' '|')" \
	'kind|outcome|events|percent
runtime|linked|2|66.66666666666667
runtime|target is no GPU work|1|33.333333333333336
kernel|linked|3|75.0
kernel|duplicate|1|25.0
memcpy|launch not in the trace|1|100.0
backward op|linked|1|100.0'
is '--stats of a tree' "$(tl-link --stats tree.tl 2>err)" \
	"$(tl-link --stats small.tl 2>err)"
like '--stats with arrows' \
	"$(tl-link --stats --link=flow small.tl 2>err | tr '\t' '|')" \
	'^kernel\|no arrow between them\|1\|25'
tl-link --stats --format csv -o stats.csv small.tl 2>err
is '--stats -o' "$(head -n 1 stats.csv)" 'kind,outcome,events,percent'
tl-link -v small.tl 2>err >/dev/null
like '-v' "$(cat err)" \
	'14 events; GPU events: 3 linked by correlation, 1 without launch, 1 dup'

# ---- what goes wrong ----

refuses 2 'unknown option' 'tl-link --nosuch'
refuses 2 "'both'" 'tl-link --link both small.tl'
refuses 2 'takes one input' 'tl-link small.tl small.tl'
refuses 1 'pass --link to tl-tree' 'tl-link --link=ext tree.tl'
refuses 1 'No such file' 'tl-link missing.tl'
refuses 1 'irectory' 'tl-link .'
refuses 1 'empty' 'tl-link </dev/null'
refuses 1 'not a trace' 'echo hello | tl-link'
refuses 1 'No space left' 'tl-link linked.tl >/dev/full'
refuses 1 'No space left' 'tl-link small.json >/dev/full'
refuses 1 'No space left' 'tl-link --stats linked.tl >/dev/full'
quiet 'a reader may leave' 'tl-link linked.tl | true'
quiet 'a reader may leave while much is linked' \
	"tl-link '$SAMPLE' | head -c 100"
size=$(wc -c <small.tl) step=1
! sanitized || step=11 # a start takes ten times as long
cat >cuts <<'END'
i=0
while [ $i -lt "$1" ]; do
	head -c $i small.tl >cut.tl
	tl-link cut.tl >out.tl 2>err
	if [ $? != 1 ] || tl-cat --check out.tl >/dev/null 2>&1; then
		echo "cut at $i passed"
		exit 1
	fi
	i=$((i + $2))
done
END
ok "cut in steps of $step bytes: no whole stream, exit 1" sh cuts "$size" $step

# ---- two processes with one correlation ----

cat >merged.json <<'END'
[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":1,"tid":1,"ts":11,"dur":2,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":60,"dur":5,"args":{"device":0,"stream":7,"correlation":4}}
END
(cat merged.json && echo ']') >alone.json
ok 'a runtime call and the driver call within it are no warning' \
	tl-link -o /dev/null alone.json
(cat merged.json && echo ',{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":2,"tid":2,"ts":10,"dur":5,"args":{"correlation":4}}]') >two.json
for program in tl-link tl-tree; do
	$program -o /dev/null two.json 2>err
	is "$program: those of two processes are" "$? $(cat err)" "3 $program: two.json: 1 GPU event is unlinked: several calls may have launched it (merged traces? pass each by itself)"
done

page_examples tl-link.1
done_testing
