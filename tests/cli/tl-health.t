#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-health: each check finds what is planted, and nothing in a sound trace.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

plant() { python3 "$ROOT/tests/gen/health.py" "$@"; }

# health FILE [OPTION...]: findings as severity:check:count, and the status
health() {
	tl-health -c severity,check,count --no-header "$@" 2>err | tr '\t' ':' |
		tr '\n' ' '
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

plant >sound.json
is 'a sound trace: nothing' "$(health sound.json)" 0
like 'the verdict' "$(tl-health sound.json 2>&1)" \
	'^tl-health: sound.json: sound \(0 notes\)$'

# ---- time ----
finds 'misleading:time.zero:3 4' zero=3
finds 'warning:time.zero:5 3' zero_host=5
finds 'misleading:time.huge:2 4' huge=2
finds 'warning:time.negative:1 3' negative=1
finds 'misleading:time.negative:4 4' negative=4
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

# ---- figures ----
plant overrun=4 >in.json
is 'time of overruns: four times one kernel and 10 us of none' \
	"$(tl-health -c time_ns,percent,percent_of,uid --no-header in.json 2>err | tr '\t' '|')" \
	"$(python3 -c '
long = 2 * 100500 + 30123 + 10000
print(f"{4 * 30123}|{100 * 4 * 30123 / (4 * long + 36 * 30123)!r}|GPU time|84")')"
like 'evidence in the verdict' "$(tl-health in.json 2>&1 >out)" \
	'usable, with 1 warning: time.overrun \(5.88 % of GPU time\)$'
plant before_launch=2 >in.json
like 'by how much clocks differ' "$(tl-health -c finding in.json 2>err)" 'by up to 2 us$'

# ---- damaged files ----
plant >whole.json
head -c "$(($(wc -c <whole.json) - 300))" whole.json >cut.json
tl-decode --salvage cut.json -o cut.tl 2>err
is 'a cut file' "$(health cut.tl)" 'warning:file.cut:1 3'
refuses 1 'salvage' 'tl-health cut.json'
sed 's/},{"ph":"X","cat":"kernel"/},garbage,&/3' whole.json | sed 's/garbage,},/garbage,/' >lost.json
tl-decode --salvage lost.json -o lost.tl 2>err
like 'damage within' "$(health lost.tl)" 'warning:file.lost:1 .*3$'
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
	tr '\t\n' ': ')" '0:warning:time.overrun 2:warning:time.overrun '
is 'a verdict on each' "$(tl-health overrun.json sound.json 2>&1 >out | sed 's/:.*json: /: /; s/ (.*//')" \
	'tl-health: usable, with 1 warning: time.overrun
tl-health: sound'

# ---- options ----
is '--set: a warning from another share on' "$(health --set time.overrun=50 overrun.json)" \
	'note:time.overrun:4 0'
is '--set: misleading' "$(health --set time.overrun=0.5,1 overrun.json)" \
	'misleading:time.overrun:4 4'
is '--set: never' "$(health --set time.overrun=never,never overrun.json)" \
	'note:time.overrun:4 0'
is '--list-checks: each once' "$(tl-health --list-checks | cut -f 1 | sort | uniq -d)" ''
refuses 2 'no check' 'tl-health --set time.nothing=1 sound.json'
refuses 2 "'x' is neither" 'tl-health --set time.zero=x sound.json'
refuses 2 'not CHECK=' 'tl-health --set time.zero sound.json'
refuses 2 'more than two' 'tl-health --set time.zero=1,2,3 sound.json'
refuses 1 'No such file' 'tl-health missing.json'
refuses -o 1 'No space left' 'tl-health overrun.json >/dev/full'
for c in $(tl-health --list-checks | cut -f 1); do
	grep -q "^\.It Cm $c\$" "$ROOT/man/tl-health.1" || echo "$c"
done >lacking
is 'the page has every check' "$(cat lacking)" ''
page_examples tl-health.1
done_testing
