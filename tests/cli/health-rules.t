#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-health --rules: a site's demands, judged on a trace with known figures.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

plant() { python3 "$ROOT/tests/gen/health.py" "$@"; }

# rule TEXT: a file of one rule
rule() { printf '[r]\n%s\n' "$1" >r.rules; }

# verdict [FILE]: findings about rules, and the exit status
verdict() {
	tl-health -q --rules r.rules -c severity,check,count,uid,finding --no-header \
		"${1:-sound.json}" 2>err | grep 'rule\.' | tr '\t' '|'
	tl-health -q --rules r.rules "${1:-sound.json}" >/dev/null 2>&1
	echo "$?"
}

# 40 kernels of 30.123 us from 100.5 us to 100.5 us, in 4 steps
plant >sound.json
idle=$(python3 -c 'print(100 * 39 * (100500 - 30123) / (39 * 100500 + 30123))')

rule 'table gpu_timeline
where type = idle_time
require percent <= 10'
is 'a table: broken' "$(verdict)" "failed|rule.r|1||type idle_time: percent $idle is not <= 10
4"
like 'on standard error' "$(tl-health -q --rules r.rules sound.json 2>&1 >out)" \
	'^tl-health: sound.json: rule r failed: type idle_time: percent .* is not <= 10$'
rule 'table gpu_timeline
where type = idle_time
require percent <= 80'
is 'a table: kept' "$(verdict)" 0
rule 'events kernel
name nosuch*
require dur_ns_max < 1ns'
is 'no event is like it: not judged' "$(verdict | tail -n 1)" 3
rule 'table kernel_summary
with -o x
require count > 0'
refuses 2 "'-o' is not for rules" 'tl-health --rules r.rules sound.json'
rule 'table gpu_timeline
where type = idle*
where time_ns > 4ms
require percent <= 0'
is 'no row is like it: not judged' "$(verdict)" \
	'not judged|rule.r|||no such row in table gpu_timeline
3'
rule 'table kernel_summary
gpu-stream 7
require dur_ns_mean <= 30us'
is 'a time' "$(verdict)" \
	'failed|rule.r|1||op_category GEMM: dur_ns_mean 30123 is not <= 30000
4'
rule 'table kernel_summary
require dur_ns_max < 1 * dur_ns_min
say kernels must differ'
like 'another column, and the own words' "$(tl-health -q --rules r.rules sound.json 2>&1 >out)" \
	'dur_ns_max 30123 is not < 30123 \(dur_ns_max < 1 \* dur_ns_min\); kernels must differ$'
rule 'table steps
step 1-2
level warning
require kernels < 10'
is 'two steps of a selection, the first with its event; a warning' "$(verdict)" \
	'warning|rule.r|2|1|step 1: kernels 10 is not < 10
3'
rule 'table steps
level note
require kernels != 10'
is 'a note' "$(verdict)" 'note|rule.r|4|0|step 0: kernels 10 is not != 10
0'
rule 'table ops_summary
with --linked-only
where name != aten::mm
require count > 1'
is 'rows of other names: none' "$(verdict | tail -n 1)" 3
plant no_calls >bare.json
rule 'table launches_by_api
require count > 0'
like 'nothing of the kind: not judged' "$(verdict bare.json)" \
	'^not judged.rule.r...none of 40 GPU events has its launch in the trace'

# ---- events: ids are steps 0-3, ops 4-43, calls 44-83, kernels 84-123 ----
rule 'events runtime
name cudaLaunch*
require count <= 39'
is 'events' "$(verdict)" 'failed|rule.r|40|44|count 40 is not <= 39
4'
rule 'events runtime
under aten::m?
step 1
require dur_ns_sum <= 47us'
is 'below an op, in a step' "$(verdict)" \
	'failed|rule.r|10|54|dur_ns_sum 47500 is not <= 47000
4'
rule 'events runtime
under aten::add
require count <= 0'
is 'below no such op' "$(verdict)" 0
plant dominant=2 >dominant.json
rule 'events kernel
require dur_ns_max < 1ms'
is 'the longest' "$(verdict dominant.json)" \
	'failed|rule.r|40|123|dur_ns_max 2000123 is not < 1000000
4'

# ---- the page's rules in place of the reference's checks ----
sed -n '/^# sdpa_count/,/^\.Ed/p' "$ROOT/man/tl-health.1" | sed '$d' >page.rules
grep -v flash_fwd page.rules >r.rules # any kernel is one of 96
is 'no attention, 40 kernels, no nesting' "$(verdict)" 'warning|rule.attention|0||count 0 is not > 0
failed|rule.attention-kernels|40|84|count 40 is not = 96
4'
# 96 kernels of attention; an op below it launches two of three
python3 - >attention.json <<'EOT'
import json

events = []
for i in range(96):
    at, below = 100 * i, i % 3 > 0
    for cat, name, ts, dur, tid, args in (
            ("cpu_op", "my::attention", at, 50, 1, {}),
            *([("cpu_op", "aten::mm", at + 10, 20, 1, {})] if below else []),
            ("cuda_runtime", "cudaLaunchKernel", at + 12, 5, 1, {"correlation": i + 1}),
            ("kernel", "flash_fwd_kernel", at + 20, 30, 7,
             {"correlation": i + 1, "device": 0, "stream": 7})):
        events.append({"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": 1,
                       "tid": tid, "args": args})
json.dump({"traceEvents": events}, __import__("sys").stdout)
EOT
cp page.rules r.rules
is 'attention with all its kernels, and its nesting' "$(verdict attention.json)" \
	'warning|rule.nesting|1||name my::attention: direct_ns_sum 960000 is not > 1728000 (direct_ns_sum > 0.6 * subtree_ns_sum)
3'

# ---- outputs ----
cat >site.rules <<'EOT'
# comment
[kept]
table gpu_timeline
require percent <= 100

[broken "<&]
events kernel
require count = 1

[open]
table steps
where name = nothing
require wall_ns < 1s

[let]
table steps
level warning
require kernels = 1
EOT
cp sound.json 'a: b%.json'
tl-health -q --rules site.rules --junit r.xml --sarif r.sarif sound.json 'a: b%.json' >out 2>err
is 'two files: failed' "$?" 4
is 'JUnit: rules' "$(python3 - r.xml <<'EOT'
import sys
import xml.etree.ElementTree as tree

for c in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    if c.get("classname").startswith("rule."):
        print(c.get("classname"), c.get("name"), [x.tag for x in c])
EOT
)" "rule.kept sound.json []
rule.broken \"<& sound.json ['failure']
rule.open sound.json ['error']
rule.let sound.json []
rule.kept a: b%.json []
rule.broken \"<& a: b%.json ['failure']
rule.open a: b%.json ['error']
rule.let a: b%.json []"
is 'SARIF: by the standard, and the results' \
	"$(python3 "$ROOT/tests/oracle/sarif.py" r.sarif 2>&1 | grep -v -e content -e time)" \
	"rule.broken \"<&	error	fail	sound.json	84
rule.open	none	open	sound.json
rule.let	warning	fail	sound.json	0
rule.broken \"<&	error	fail	./a%3A%20b%25.json	84
rule.open	none	open	./a%3A%20b%25.json
rule.let	warning	fail	./a%3A%20b%25.json	0"
plant overrun=4 huge=1 no_launch=2 >bad.json
tl-health --sarif bad.sarif "$TMP/bad.json" >out 2>err
is 'SARIF: the checks' "$(python3 "$ROOT/tests/oracle/sarif.py" bad.sarif 2>&1 | grep -v note)" \
	"$(tl-health -c severity,check,uid --no-header bad.json 2>err | grep -v note |
		sed 's/^misleading/error/' | awk -F '\t' -v f="file://$TMP/bad.json" \
		'{ print $2 "\t" $1 "\tfail\t" f ($3 != "" ? "\t" $3 : "") }')"
refuses -o 1 'No such file' 'tl-health --sarif missing/x.sarif sound.json'
is 'standard input' "$(tl-health -q --rules site.rules <sound.json 2>err)" \
	"$(tl-health -q --rules site.rules sound.json 2>err)"
tl-tree sound.json -o sound.tl
is 'a tree' "$(tl-health -q --rules site.rules sound.tl 2>err)" \
	"$(tl-health -q --rules site.rules sound.json 2>err)"
ok 'nothing is left in TMPDIR' sh -c 'mkdir t && TMPDIR=t tl-health -q --rules site.rules sound.json >/dev/null 2>&1; rmdir t'

# ---- files that are not rules: file and line ----
bad() {
	rule "$2"
	refuses 2 "^tl-health: r.rules: line $1" 'tl-health --rules r.rules sound.json'
}
bad "2: no table 'nothing'" 'table nothing'
bad '2: table .diff_steps. is not made of one trace' 'table diff_steps'
bad '2: table .health. is not made of one trace' 'table health'
bad "3: table gpu_timeline has no column 'x'; it has type, time_ns" 'table gpu_timeline
require x <= 1'
bad "4: table gpu_timeline has no column 'y'" 'table gpu_timeline
require percent <= 1
where y = 1'
bad "3: column 'percent' is no time" 'table gpu_timeline
require percent <= 1ms'
bad '3: .type <= 1. compares a text' 'table gpu_timeline
require type <= 1'
bad '3: expected COLUMN' 'table gpu_timeline
require percent'
bad '3: .1 of 2. is no number' 'table gpu_timeline
require percent <= 1 of 2'
bad '1: rule .r. has no .require.' 'table steps'
bad "2: a rule begins with 'table NAME'" 'require x < 1'
bad '3: a rule is about one table' 'table steps
events kernel'
bad '4: a rule has one' 'events kernel
require count < 1
require count < 2'
bad '3: .sort. is no key' 'table steps
sort x'
bad '3: .where. is no key' 'events kernel
where count = 1'
bad '3: level is error' 'events kernel
level fatal'
bad '3: of events count' 'events kernel
require dur < 1'
bad '3: count is no time' 'events kernel
require count < 1us'
bad '3: .step. needs a value' 'events kernel
step'
bad '4: rule .r. is there already' 'events kernel
require count < 1
[r]'
bad '1: tl-steps: ' 'table steps
with --nothing
require wall_ns < 1s'
rule 'events kernel
step x'
refuses 2 "step, r.rules: line 3" 'tl-health --rules r.rules sound.json'
printf 'table x\n' >r.rules
refuses 2 'r.rules: line 1: a rule begins with its name' 'tl-health --rules r.rules sound.json'
printf '[a\n' >r.rules
refuses 2 "line 1: expected ']'" 'tl-health --rules r.rules sound.json'
printf '[]\n' >r.rules
refuses 2 'line 1: a rule needs a name' 'tl-health --rules r.rules sound.json'
printf '[\377]\n' >r.rules
refuses 2 'line 1: bytes that are no UTF-8' 'tl-health --rules r.rules sound.json'
: >r.rules
refuses 2 'line 1: no rule' 'tl-health --rules r.rules sound.json'
refuses 1 'No such file' 'tl-health --rules missing sound.json'

# ---- mutants of a file of rules: never a crash ----
is 'mutants' "$(python3 - site.rules <<'EOT'
import random
import subprocess
import sys

rng, text = random.Random(19), open(sys.argv[1], "rb").read()
lines = text.split(b"\n")
for i in range(60):
    new = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(new))
        what = rng.randrange(3)
        if what == 0:
            new[at] = rng.randrange(256)
        elif what == 1:
            del new[at:at + rng.randint(1, 9)]
        else:
            new[at:at] = b"\n" + rng.choice(lines) + b"\n"
    with open("m.rules", "wb") as f:
        f.write(new)
    rc = subprocess.run(["tl-health", "--rules", "m.rules", "none.json"],
                        capture_output=True).returncode
    if rc not in (1, 2):
        print(i, rc)
EOT
)" ''
done_testing
