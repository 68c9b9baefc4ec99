#!/bin/sh
# SPDX-License-Identifier: MIT
# The verdict of tl-health travels with a stream, and programs warn of figures
# that it affects.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

plant() { python3 "$ROOT/tests/gen/health.py" "$@"; }

# fact FILE...: the fact of each source
fact() { tl-cat "$@" | jq -c 'select(.source.final).source.facts.health | select(.)'; }

# warned COMMAND: its warnings and exit status
warned() {
	sh -c "$1" >/dev/null 2>err
	rc=$?
	sed 's/.*tl-health/tl-health/; s/.*misleading by/misleading by/' err | tr '\n' ' '
	echo "$rc"
}

plant overrun=4 no_work=1 >bad.json
tl-health -q --mark bad.tl bad.json >table 2>err
is '--mark: the status is that of the verdict' $? 3
is 'the table is printed, too' "$(cut -f 2 table | head -n 3 | tr '\n' ' ')" \
	'check time.overrun links.no_work '
OVERRUN=$(awk -F '\t' '$2 == "time.overrun" { printf "%.3g", $5 }' table)
WORK=$(awk -F '\t' '$2 == "links.no_work" { printf "%.3g", $5 }' table)
# one of four has no successor any more
is 'the fact of the source' "$(fact bad.tl)" \
	'{"verdict":"usable","marks":[{"check":"time.overrun","severity":"warning","count":3,"evidence":"'"$OVERRUN"' % of GPU time","touches":["kernels","ops","roofline"]},{"check":"links.no_work","severity":"warning","count":1,"evidence":"'"$WORK"' % of launches","touches":["busy time","idle time","kernels","ops","launches"]}]}'
tl-tree bad.json -o plain.tl
is 'nothing else is changed' \
	"$(tl-cat bad.tl | jq -c 'del(.source.facts.health, .prov)' | cksum)" \
	"$(tl-cat plain.tl | jq -c 'del(.prov)' | cksum)"
is 'and it is in the provenance' "$(tl-cat bad.tl | head -n 1 | jq -r '.prov[-2].program')" tl-health

# ---- who warns ----
is 'kernels: both' "$(warned 'tl-kernels bad.tl')" \
	"tl-health warns of its kernels: time.overrun ($OVERRUN % of GPU time), links.no_work ($WORK % of launches) 3"
is 'launches: one' "$(warned 'tl-launch bad.tl')" \
	"tl-health warns of its launches: links.no_work ($WORK % of launches) 3"
is 'modules: none' "$(warned 'tl-modules bad.tl' | grep -c 'tl-health')" 0
is 'the timeline' "$(warned 'tl-timeline bad.tl')" \
	"tl-health warns of its busy time, idle time: links.no_work ($WORK % of launches) 3"
is 'two sides' "$(warned 'tl-diff bad.tl bad.tl' | grep -o 'tl-health warns' | wc -l | tr -d ' ')" 2
is 'of no stream of a trace' "$(warned 'tl-timeline bad.json')" 0
plant blocked=4 >blocked.json
tl-health -q --mark blocked.tl blocked.json >table 2>err
is 'misleading: its status' $? 4
like 'misleading: is said' "$(tl-idle blocked.tl 2>&1 >out)" \
	'^tl-idle: blocked.tl: misleading by tl-health, in its idle time: coverage.blocked \([0-9.]* % of the GPU span\)$'
is 'which it does not touch' "$(warned 'tl-ops blocked.tl')" 0
plant >sound.json
tl-health -q --mark sound.tl sound.json >table 2>err
is 'sound' "$(fact sound.tl)" '{"verdict":"sound","marks":[]}'
is 'nothing is said' "$(warned 'tl-kernels sound.tl')" 0
tl-health -q --mark again.tl blocked.tl >table 2>err
is 'judged again: one verdict' "$(fact again.tl)" "$(fact blocked.tl)"
is 'tl-health itself says nothing of it' "$(grep -c 'by tl-health' err)" 0

# ---- who passes it on ----
want=$(fact bad.tl)
carries() { is "$1 carries it" "$(fact "$2" | sort -u)" "$want"; }
tl-filter --kind kernel bad.tl -o f.tl && carries tl-filter f.tl
tl-filter --flat bad.tl -o f.tl && carries 'tl-filter --flat' f.tl
tl-tree bad.tl -o t.tl && carries tl-tree t.tl
tl-cat --ndjson bad.tl >c.ndjson && carries 'tl-cat --ndjson' c.ndjson
tl-cat bad.tl bad.tl -o c.tl 2>err && carries tl-cat c.tl
tl-graft --pseudo-ops bad.tl -o g.tl 2>err && carries tl-graft g.tl
tl-split --by step -d parts bad.tl >out 2>err
for f in parts/*; do carries "tl-split, ${f##*/}," "$f"; done
tl-merge bad.tl bad.tl -o m.tl 2>err && carries tl-merge m.tl
tl-link plain.tl -o l.tl 2>err
is 'in a pipe one line' "$(warned 'tl-filter --step 1 bad.tl | tl-tree | tl-launch' | tr -d '0-9')" \
	"$(echo "tl-health warns of its launches: links.no_work ($WORK % of launches) 3" | tr -d '0-9')"

# ---- options, and facts from elsewhere ----
is '--mark -: a stream, no table' "$(tl-health -q --mark - sound.json 2>err | tl-kernels | head -n 1)" \
	"$(tl-kernels sound.json | head -n 1)"
refuses 2 "'--junit' needs a file" 'tl-health --mark - --junit - sound.json'
refuses 2 "'--sarif' needs a file" 'tl-health --sarif - sound.json'
refuses 2 'exclude each other' 'tl-health --mark - -o - sound.json'
refuses 2 'one file' 'tl-health --mark x.tl sound.json sound.json'
refuses -o 1 'No such file' 'tl-health --mark missing/x.tl sound.json'
for odd in '1' '[]' '"x"' '{"marks":1}' '{"marks":[1,{},{"check":2,"touches":["ops",1]},{"check":"\u0007","touches":"ops"}]}'; do
	tl-cat sound.tl | jq -c --argjson odd "$odd" \
		'if .source.final then .source.facts.health = $odd else . end' >odd.ndjson
	is "an odd fact: $odd" "$(warned 'tl-kernels odd.ndjson' | grep -c 'crash')" 0
	tl-ops odd.ndjson >out 2>err
	case $? in 0 | 3) pass "which is no error" ;; *) fail "which is no error" ;; esac
done
done_testing
