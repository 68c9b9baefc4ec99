#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-health: each check finds what is planted, and nothing in a sound trace.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

plant() { python3 "$ROOT/tests/gen/health.py" "$@"; }

# health FILE [OPTION...]: findings as severity:check:count, and the status,
# without notes that the sound trace has, or that follow from what is planted
health() {
	tl-health -c severity,check,count --no-header "$@" 2>err |
		grep -v -e 'note.content.few' -e 'note.content.idle' \
			-e 'note.content.unstable' -e 'note.coverage.uneven' |
		tr '\t' ':' | tr '\n' ' '
	tl-health "$@" >/dev/null 2>&1
	echo "$?"
}

# finds "FINDINGS STATUS" DEFECT...
finds() {
	expected=$1
	shift
	plant "$@" >in.json
	is "planted: $*" "$(health in.json)" "$expected"
}

# notes "COUNT" CHECK DEFECT...: the count of a finding that is a note
notes() {
	expected=$1 check=$2
	shift 2
	plant "$@" >in.json
	is "planted: $*: $check" "$(tl-health -c severity,check,count --no-header in.json 2>err |
		grep -F "	$check	" | tr '\t' ':')" "${expected:+note:$check:$expected}"
}

plant >sound.json
is 'a sound trace: nothing' "$(health sound.json)" 0
like 'the verdict' "$(tl-health sound.json 2>&1)" \
	'^tl-health: sound.json: sound \(2 notes\)$'
is 'it is small, and idle' \
	"$(tl-health -c check,count,time_ns --no-header sound.json 2>err | tr '\t\n' ': ')" \
	"content.few:40: content.idle:39:$(python3 -c 'print(39 * (100500 - 30123))') "

# ---- time ----
finds 'misleading:time.zero:3 4' zero=3
finds 'warning:time.zero:5 note:links.no_op:5 3' zero_host=5
finds 'misleading:time.huge:2 4' huge=2
finds 'warning:time.negative:1 warning:file.skipped:1 3' negative=1
finds 'misleading:time.negative:4 warning:file.skipped:4 4' negative=4
finds 'note:time.no_duration:3 0' no_duration=3
finds 'warning:time.no_duration:4 3' no_duration=4
finds 'misleading:time.no_duration:20 4' no_duration=20
finds 'warning:time.jump:1 3' jump=60
finds 0 jump=5
finds 'warning:time.before_launch:2 3' before_launch=2
finds 'misleading:time.before_launch:10 4' before_launch=10
finds 'note:time.outside:3 0' outside=3
finds 'warning:time.outside:4 3' outside=4
finds 'warning:time.overrun:1 3' overrun=1
finds 'warning:time.overrun:4 3' overrun=4
finds 'note:time.overlap:9 0' overlap=9
finds 'note:time.dominant:1 0' dominant=2
finds 0 dominant=1
finds 'note:time.coarse:40 0' coarse

finds 'warning:time.burst:3 note:time.overlap:3 3' burst=3

# ---- links ----
finds 'note:links.no_launch:1 0' no_launch=1
finds 'warning:links.no_launch:2 3' no_launch=2
finds 'misleading:links.no_launch:20 4' no_launch=20
finds 'warning:links.no_work:1 3' no_work=1
finds 'misleading:links.no_work:8 4' no_work=8
finds 'note:links.no_op:4 0' no_op=4
finds 'warning:links.no_work:3 warning:links.no_id:3 3' no_id=3
finds 'warning:links.shared:2 3' shared=2
finds 'warning:links.processes:2 3' processes=2
finds 0 inside=5
finds 0 graphs=0
finds 'warning:links.graphs:1 3' graphs=1
finds 'misleading:links.graphs:3 4' graphs=3
finds 'note:links.no_op:1 0' captured=12
finds 'note:links.backward:3 0' backward=3

# ---- coverage ----
finds 'misleading:coverage.blocked:1 4' blocked=4
finds 'warning:coverage.blocked:1 3' blocked=1
finds 'warning:coverage.late:1 3' late=4
finds 'note:coverage.begin:9 0' begin=9
finds 'warning:coverage.begin:10 3' begin=10
finds 'note:coverage.end:1 0' end=1
finds 'warning:coverage.end:2 3' end=2
finds 'misleading:links.no_work:12 warning:coverage.starved:1 4' starved=12
plant starved=60 far=15 >in.json
like 'also far from the first launch' "$(health in.json)" 'warning:coverage.starved:1 '
finds 'warning:coverage.steps:1 3' steps=1
finds 'misleading:coverage.steps:2 4' steps=2
finds 'warning:coverage.lost:1 3' lost=2
finds 'note:coverage.no_calls:40 0' no_calls
finds 'note:coverage.no_steps:1 0' no_steps
plant rank=0 >rank0.json
plant rank=2 later=100 >rank2.json
is 'ranks missing, and of another time' "$(health rank0.json rank2.json)" \
	'warning:time.ranks:1 warning:coverage.ranks:2 3'
mkdir ranks && cp rank0.json rank2.json ranks
is 'a folder: its files' "$(health ranks)" "$(health rank0.json rank2.json)"
is 'one rank says nothing of others' "$(health rank0.json)" 0
plant blocked=4 >in.json
is 'what blocks: the call, how long, where' \
	"$(tl-health -c time_ns,uid,finding --no-header in.json 2>err | head -1 | tr '\t' '|')" \
	"$(python3 -c '
begun = round((5000.25 + 20 * 100.5 + 5 + 4.75) * 1000)
ended = round((5000.25 + 20 * 100.5 + 15 + 4000) * 1000)
print(f"{ended - begun}|124|the host waits for GPU work that is not recorded: cudaDeviceSynchronize, 4.005 ms")')"

# ---- content ----
finds 0 uneven=1
notes 1 coverage.uneven uneven=1
notes '' coverage.uneven
finds 'note:content.no_ops:1 0' no_ops
finds 'note:content.no_shapes:5 0' no_shapes=5
finds 'note:content.no_strides:40 0' no_strides
finds 'note:content.no_types:40 0' no_types
finds 'note:content.no_stacks:1 0' no_stacks
finds 'note:content.cut:5 0' cut=5
finds 'note:content.names:4 0' names=4
finds 'note:content.unknown:3 0' unknown=3
notes 1 content.unstable unstable
notes '' content.unstable other_grid
notes '' content.unstable other_sizes
notes '' content.unstable collective
notes '' content.unstable
plant unstable no_shapes=2 >in.json
is 'limits as the reference has them' \
	"$(health --set content.idle=30,60 --set content.no_shapes=20,60 --set content.unstable=0 in.json)" \
	'misleading:content.idle:39 warning:content.unstable:1 note:content.no_shapes:2 4'

# ---- expensive checks ----
plant flows=7 >in.json
is 'flows are not read' "$(health in.json)" 0
if command -v tl-roofline >/dev/null; then # --deep runs it
	is '--deep: flows without an end' "$(health --deep in.json)" 'note:links.flows:7 0'
	plant flows=0 >in.json
	is '--deep: none lacks one' "$(health --deep in.json)" 0
	plant no_model=3 >in.json
	is '--deep: ops without a model' "$(health --deep in.json)" 'note:content.no_model:3 0'
	is 'their share of op time, and the first' \
		"$(tl-health --deep -c check,percent,percent_of,uid --no-header in.json 2>err | grep no_model)" \
		'content.no_model	7.5	op time	4'
	plant above_roof=2 >in.json
	is '--deep: above the roof' "$(health --deep in.json)" 'warning:content.above_roof:2 3'
	# 2 x 8192^3 operations in 30.123 us are 36,500 TFLOP/s; fp32 has 67
	like 'which op, which type, which roof' \
		"$(tl-health --deep -c finding --no-header in.json 2>err | grep roof)" \
		'^ops exceed the roofline: aten::mm, 5[0-9]{4} % of matrix_fp32 on H100-SXM peak$'
	plant device >in.json
	is '--deep: within the roof' "$(health --deep in.json)" 0
fi

# ---- the file ----
finds 'warning:file.skipped:2 3' skipped=2
finds 'note:file.twice:3 0' twice=3
finds 'note:file.keys:6 0' keys=6
finds 'warning:file.several:3 3' several=3
finds 0 several=1
plant no_gpu >in.json
reports 5 no-gpu-events 'tl-health in.json'

# ---- together ----
finds 'misleading:time.huge:1 warning:time.before_launch:2 warning:file.skipped:1 note:file.keys:3 4' \
	huge=1 before_launch=3 skipped=1 keys=3

finds 'misleading:coverage.blocked:1 warning:links.no_work:2 warning:coverage.lost:1 note:links.backward:1 note:coverage.end:1 4' \
	blocked=9 no_work=2 lost=1 backward=1 end=1
finds 'warning:time.overrun:1 warning:links.shared:1 warning:coverage.end:2 note:links.no_launch:2 note:coverage.no_steps:1 3' \
	shared=1 overrun=1 end=2 no_launch=2 no_steps

if command -v tl-roofline >/dev/null; then
	plant flows=3 no_types overrun=2 shared=1 no_stacks no_model=1 lost=1 no_launch=2 >in.json
	is 'eight at a time' "$(health --deep in.json | tr ' ' '\n' | sort | tr '\n' ' ')" \
		'3 note:content.no_model:1 note:content.no_stacks:1 note:content.no_types:40 note:links.flows:3 note:links.no_launch:2 warning:coverage.lost:1 warning:links.shared:1 warning:time.overrun:2 '
fi

# ---- figures ----
plant overrun=4 >in.json
is 'time of overruns: four times one kernel and 10 us of none' \
	"$(tl-health -c time_ns,percent,percent_of,uid --no-header in.json 2>err | head -1 | tr '\t' '|')" \
	"$(python3 -c '
long = 2 * 100500 + 30123 + 10000
print(f"{4 * 30123}|{100 * 4 * 30123 / (4 * long + 36 * 30123)!r}|GPU time|84")')"
like 'evidence in the verdict' "$(tl-health in.json 2>&1 >out)" \
	'usable, with 1 warning: GPU events end after .* \(5.88 % of GPU time, time.overrun\)$'
# a kernel then takes 30 us
plant coarse >coarse.json
like 'a verdict is whole by itself' "$(tl-health --set time.coarse=1 coarse.json 2>&1 >out)" \
	': times are multiples of 1 us \(3.33 % of a mean GPU event, time.coarse\)$'
plant lost=2 >lost.json
like 'one of something is no number' "$(tl-health lost.json 2>&1 >out)" \
	': the profiler reported lost events \(coverage.lost\)$'
plant several=3 >several.json
like 'several are one' "$(tl-health several.json 2>&1 >out)" ' profilers \(3, file.several\)$'
like 'whole sentences on a narrow terminal' "$(tl-health --format table --width 60 in.json 2>err)" \
	'    GPU events end after the next one of their GPU stream$'
plant before_launch=2 >in.json
like 'by how much clocks differ' "$(tl-health -c finding in.json 2>err)" 'by up to 2 us$'

# ---- damaged files ----
plant >whole.json
head -c "$(($(wc -c <whole.json) - 300))" whole.json >cut.json
tl-decode --salvage cut.json -o cut.tl 2>err
is 'a cut file' "$(health cut.tl)" 'warning:coverage.end:2 warning:file.cut:1 3'
refuses 1 'salvage' 'tl-health cut.json'
sed 's/},{"ph":"X","cat":"kernel"/},garbage,&/3' whole.json | sed 's/garbage,},/garbage,/' >lost.json
tl-decode --salvage lost.json -o lost.tl 2>err
like 'damage within' "$(health lost.tl)" 'warning:file.lost:1 .*3$'
# an invalid UTF-8 byte in each of two names
sed 's/"aten::mm"/"aten::m\xffm"/; s/"ProfilerStep#1"/"\xfeProfilerStep#1"/' whole.json >bytes.json
is 'bytes that are no text' "$(tl-decode --salvage bytes.json 2>err | tl-health --no-header -c severity,check,count 2>err |
	grep mended | tr '\t' ' ')" 'note file.mended 2'
tl-tree sound.json -o sound.tl
tl-filter --kind kernel sound.tl -o part.tl
like 'an edited stream' "$(health part.tl)" 'note:file.edited:1 '

# ---- every form of input ----
plant overrun=4 >overrun.json
want=$(tl-health overrun.json 2>err)
is 'standard input' "$(tl-health <overrun.json 2>err)" "$want"
is 'a pipe of programs' "$(tl-decode overrun.json | tl-tree | tl-health 2>err)" "$want"
is 'NDJSON' "$(tl-decode --ndjson overrun.json | tl-health 2>err)" "$want"
is 'several sources' "$(tl-health -c src,severity,check --no-header overrun.json sound.json overrun.json 2>err |
	grep -v note | tr '\t\n' ': ')" '0:warning:time.overrun 2:warning:time.overrun '
is 'a verdict on each' "$(tl-health overrun.json sound.json 2>&1 >out | sed 's/:.*json: /: /; s/ (.*//')" \
	'tl-health: usable, with 1 warning: GPU events end after the next one of their GPU stream has ended
tl-health: sound'

# ---- options ----
is '--set: a warning from another share on' "$(health --set time.overrun=50 overrun.json)" \
	'note:time.overrun:4 0'
is '--set: misleading' "$(health --set time.overrun=0.5,1 overrun.json)" \
	'misleading:time.overrun:4 4'
is '--set: never' "$(health --set time.overrun=never,never overrun.json)" \
	'note:time.overrun:4 0'
tl-health --junit health.xml --set content.idle=never,10 overrun.json sound.json >table 2>err
is '--junit: a limit of idle time is a gate' $? 4
is '--junit: cases and failures' "$(python3 - health.xml <<'EOT'
import sys
import xml.etree.ElementTree as tree

cases = list(tree.parse(sys.argv[1]).getroot().iter("testcase"))
print(len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases),
      [(c.get("classname"), c.get("name")) for c in cases if c.find("failure") is not None],
      len(cases))
EOT
)" "True [('content.idle', 'overrun.json'), ('content.idle', 'sound.json')] $((2 * $(tl-health --list-checks | wc -l)))"
refuses -o 1 'No such file' 'tl-health --junit missing/x.xml sound.json'
is '--list-checks: each once' "$(tl-health --list-checks | cut -f 1 | sort | uniq -d)" ''
refuses 2 'no check' 'tl-health --set time.nothing=1 sound.json'
refuses 2 "'x' is neither" 'tl-health --set time.zero=x sound.json'
refuses 2 'not CHECK=' 'tl-health --set time.zero sound.json'
refuses 2 'more than two' 'tl-health --set time.zero=1,2,3 sound.json'
refuses 1 'No such file' 'tl-health missing.json'
refuses -o 1 'No space left' 'tl-health overrun.json >/dev/full'

# ---- decisions while reading ----
plant overrun=4 no_work=1 backward=2 processes=3 graphs=2 no_shapes=2 >mixed.json
tl-decode mixed.json | tl-cat --ndjson >asis.ndjson
want=$(tl-health --format tsv mixed.json 2>err)
events() { grep '^{"id"' asis.ndjson; }
{ head -n 4 asis.ndjson && events | tac && tail -n 2 asis.ndjson; } >shuffled.ndjson
is 'events in another order' "$(tl-health --format tsv shuffled.ndjson 2>err)" "$want"
sed '4s/"base":"0"/"base":"7"/' asis.ndjson >late.ndjson
is 'a base that is another one in the end' "$(grep -c '"base":"7"' late.ndjson; tl-health --format tsv late.ndjson 2>err)" \
	"1
$want"
is 'a tree' "$(tl-tree mixed.json | tl-health --format tsv 2>err)" "$want"

# ---- real traces: which are misleading, and no others ----
if have_data; then
	for f in "$TL_DATA"/*/*.json.gz "$TL_DATA"/*/*.json "$TL_DATA"/*/*.pb \
		"$TL_DATA"/*/*.csv "$TL_DATA"/*/*.pftrace "$TL_DATA"/*/*.rpd; do
		case $f in */not_a_trace/* | *hlo_proto* | */README*) continue ;; esac
		tl-health "$f" >out 2>err
		[ $? -eq 4 ] && basename "$(dirname "$f")"
	done | sort | uniq -c | sed 's/^ *//' >misleading
	is 'real traces that are misleading' "$(cat misleading)" \
		'1 hta_trace_compare_base
1 hta_trace_compare_test
1 inference_sglang_decode
1 inference_sglang_prefilldecode
2 rocprofv3_csv_decode'
else
	skip 'real traces' 'no TL_DATA'
fi

for c in $(tl-health --list-checks | cut -f 1); do
	grep -q "^\.It Cm $c\$" "$ROOT/man/tl-health.1" || echo "$c"
done >lacking
is 'the page has every check' "$(cat lacking)" ''
page_examples tl-health.1
done_testing
