#!/bin/sh
# SPDX-License-Identifier: MIT
# The generator that the other tests lean on.
# shellcheck disable=SC2086 # lists of options are split
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
plan 32

small='--layers 1 --steps 2'

# sum OPTION...: what the options give
sum() {
	tl-gen $small "$@" | cksum
}

strict() { # strict FILE [CODE]: JSON by the letter, and CODE holds for it
	python3 - "$@" <<'EOF'
import json, sys
def refuse(name):
    raise ValueError(name)
with open(sys.argv[1], encoding='utf-8') as f:
    d = json.load(f, parse_constant=refuse)
T = d if isinstance(d, list) else d.get('traceEvents', [])
if len(sys.argv) > 2:
    assert eval(sys.argv[2]), sys.argv[2]
EOF
}

# near TEXT GOT WANT: within a tenth
near() {
	is "$1" "$(($2 * 10 > $3 * 9 && $2 * 10 < $3 * 11))" 1
}

is 'a seed gives its bytes' "$(sum --seed 7)" "$(sum --seed 7)"
ok 'another gives others' test "$(sum --seed 7)" != "$(sum --seed 8)"

for opt in '' --metadata-last --bare-array --pretty --minified --fp-epoch \
	--int-us --recompute --conv --graph --moe '--backend cuda' \
	'--rocprof --processes 2' '--rocprof --quirk symbols-last'; do
	tl-gen $small --ranks 4 $opt >t.json
	ok "JSON: ${opt:-plain}" strict t.json
done

# Every host thread nests, every GPU stream is a row, all work is launched.
cat >sound.py <<'EOF'
import json, sys
from decimal import Decimal
from collections import defaultdict
with open(sys.argv[1]) as f:
    T = json.load(f, parse_float=Decimal)['traceEvents']
host, gpu, launch, launched = defaultdict(list), defaultdict(list), {}, []
flow = {'s': set(), 'f': set()}
for e in T:
    if e.get('cat') == 'fwdbwd':
        flow[e['ph']].add(e['id'])
    if e['ph'] != 'X' or e['cat'] == 'Trace':
        continue
    row = (e['ts'], -(e['ts'] + e['dur']), e['name'])
    if e['cat'] in ('kernel', 'gpu_memcpy', 'gpu_memset'):
        gpu[e['pid'], e['tid']].append(row)
        launched.append((e['args']['correlation'], e['ts']))
    elif e['cat'] not in ('cuda_sync', 'gpu_user_annotation'):
        host[e['pid'], e['tid']].append(row)
    if e['cat'] == 'cuda_runtime':
        launch[e['args']['correlation']] = e['ts']
for rows in host.values():
    open_ends = []
    for ts, end, name in sorted(rows):
        while open_ends and ts >= open_ends[-1]:
            open_ends.pop()
        assert not open_ends or -end <= open_ends[-1], name
        open_ends.append(-end)
for rows in gpu.values():
    rows.sort()
    for a, b in zip(rows, rows[1:]):
        assert -a[1] <= b[0], (a, b)
for corr, ts in launched:
    assert launch[corr] <= ts, corr
assert flow['s'] == flow['f'] and (flow['s'] or 'graph' in sys.argv)
EOF
{
	tl-gen $small --ranks 4 --streams 3 -o a.json
	ok 'a sound job' python3 sound.py a.json
	tl-gen $small --backend cuda --recompute --conv --moe -o a.json
	ok 'a sound job with recomputation' python3 sound.py a.json
	tl-gen $small --graph --late-rank 0=9000 -o a.json
	ok 'a sound job with graphs' python3 sound.py a.json graph
}

# Ranks agree on what they do together.
tl-gen $small --ranks 8 -d ranks --late-rank 5=90000 --drop-collective 2:3 --gzip
cat >ranks.py <<'EOF'
import glob, gzip, json
from collections import Counter, defaultdict
all = defaultdict(dict)
for path in glob.glob('ranks/rank-*.json.gz'):
    with gzip.open(path) as f:
        d = json.load(f)
    for e in d['traceEvents']:
        a = e.get('args', {})
        if e.get('cat') == 'kernel' and 'Seq' in a:
            key = a['Process Group Name'], a['Process Group Ranks'], a['Seq']
            all[key][d['distributedInfo']['rank']] = e
holes, last = 0, Counter()
for (name, ranks, seq), by_rank in all.items():
    holes += len(json.loads(ranks)) - len(by_rank)
    ends = [e['ts'] + e['dur'] for e in by_rank.values()]
    starts = {r: e['ts'] for r, e in by_rank.items()}
    assert max(ends) - min(ends) < 1, seq
    assert max(starts.values()) < min(ends), seq
    assert len({e['args']['Collective name'] for e in by_rank.values()}) == 1
    if 5 in starts:
        last[max(starts, key=starts.get)] += 1
assert holes == 1, holes
assert list(last) == [5], last
EOF
ok 'ranks agree, but for what was planted' python3 ranks.py

# Sizes
near 'size' "$(tl-gen --size 5M | wc -c)" 5000000
near 'size, minified' "$(tl-gen --size 2M --minified | wc -c)" 2000000
near 'size, rocprof' "$(tl-gen --size 3M --rocprof | wc -c)" 3000000
tl-gen --events 20000 -o t.json
near 'events' "$(python3 -c 'import json
print(len(json.load(open("t.json"))["traceEvents"]))')" 20000
case $B in
*san*) skip 'constant memory' 'sanitizers reserve address space' ;;
*)
	ok 'constant memory' sh -c \
		'ulimit -v 40000; tl-gen --size 60M >/dev/null'
	;;
esac

# Quirks
tl-gen --list-quirks >quirks
while read -r quirk _; do
	case $quirk in
	symbols-last) tl-gen $small --rocprof -q "$quirk" ;;
	*) tl-gen $small --ranks 4 -q "$quirk" ;;
	esac >"quirk-$quirk"
done <quirks
{
	tl-gen $small --ranks 4 >plain
	tl-gen $small --ranks 4 --rocprof >rocprof
}
same=$(for f in quirk-*; do
	cmp -s "$f" plain || cmp -s "$f" rocprof && echo "$f"
done)
broken=$(python3 - <<'EOF'
import glob, json
def refuse(name):
    raise ValueError(name)
for path in sorted(glob.glob('quirk-*')):
    try:
        with open(path, encoding='utf-8') as f:
            json.load(f, parse_constant=refuse)
    except ValueError:
        print(path[6:], end=' ')
EOF
)
is 'each quirk shows' "$same" ''
is 'quirks that are not strict JSON' "$broken" \
	'bad-utf8 bom nan-args raw-quote trailing-comma truncated '

# shellcheck disable=SC2046 # a list of options
tl-gen $small $(sed -e '/raw-quote\|trailing-comma\|truncated\|bad-utf8\|bom\|nan-args/d' \
	-e 's/^\([^ ]*\) .*/-q \1/' quirks) -o all.json
ok 'quirks go together' strict all.json

# What quirks add stands beside the job, whose lines stay.
tl-gen $small -q deep -q hostile -q bleed-small -q counters -q triton -q xpu \
	-q begin-end -o more.json
tl-gen $small -q xpu -o xpu.json
python3 - >left <<'EOF'
import json
def events(path):
    with open(path) as f:
        return {json.dumps(e) for e in json.load(f)['traceEvents']}
print(len(events('xpu.json') - events('more.json')))
EOF
is 'added events leave the job as it is' "$(cat left)" 0

refuses 2 'bad value' 'tl-gen --quirk nonsense'
refuses 2 'bad value' 'tl-gen --size 3Q'
refuses 1 'No space left' 'tl-gen >/dev/full'
