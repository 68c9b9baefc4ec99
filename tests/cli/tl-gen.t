#!/bin/sh
# SPDX-License-Identifier: MIT
# The generator that other tests depend on.
# shellcheck disable=SC2086 # lists of options are split
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
plan 45

small='--layers 1 --steps 2'

# sum OPTION...: a checksum of the output
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

# With any plant in ranks, traces have all that ran.
if command -v tl-health >/dev/null; then
	for planted in '' '--late-rank 2=2000000' '--late-rank 1=300000 --late-rank 2=500000' \
		'--graph --late-rank 0=9000' '--slow-link 2' '--clock-skew 1=4000000'; do
		# shellcheck disable=SC2086
		tl-gen $small --layers 2 -n 3 --ranks 4 -d planted $planted
		ok "tl-health finds $planted sound" tl-health -q planted/rank-?.json -o /dev/null
	done
fi

# Ranks agree on their common work.
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

# A plant is at its place, and all else is unchanged.
cat >planted.py <<'EOF'
import json, subprocess, sys
from collections import Counter
from itertools import zip_longest

def run(*args):
    out = subprocess.run(('tl-gen', '--layers', '2', '--jitter', '0') + args,
                         capture_output=True, check=True).stdout
    return [e for e in json.loads(out)['traceEvents'] if e['ph'] == 'X']

def time_of(e):
    return round(e['dur'] * 1000) if e['cat'][:3] in ('ker', 'gpu') else 0

def step(events, e):
    return sum(s['name'][:13] == 'ProfilerStep#' and s['cat'] == 'user_annotation'
               and s['ts'] <= e['ts'] for s in events)

def counted(events, cats):
    return Counter((e['cat'], e['name'], time_of(e)) for e in events if e['cat'] in cats)

def differs(plain, planted, cats=('cpu_op', 'kernel', 'gpu_memcpy', 'cuda_runtime')):
    a, b = counted(plain, cats), counted(planted, cats)
    return sorted((a - b).elements()), sorted((b - a).elements())

def names(rows):
    return [(cat, name.split('<')[0]) for cat, name, _ in rows]

plain = run()
exec(sys.argv[1])
EOF
ok '--plant slow' python3 planted.py "
gone, come = differs(plain, run('--plant', 'slow=aten::gelu:50@2.1'))
assert len(gone) == len(come) == 1 and come[0][2] * 2 == gone[0][2] * 3, (gone, come)
assert gone[0][1] == come[0][1] and 'Gelu' in gone[0][1], gone"
ok '--plant add, wrap, in one step' python3 planted.py "
events = run('--plant', 'add=aten::gelu@2', '--plant', 'wrap=aten::cos@3.1')
gone, come = differs(plain, events)
assert not gone and Counter(n for _, n in names(come)) == {'aten::empty_like': 2,
    'planted::op': 2, 'planted::wrapper': 1, 'hipLaunchKernel': 2,
    'void at::native::unrolled_elementwise_kernel': 2}, come
assert {step(events, e) for e in events if e['name'] == 'planted::op'} == {2}
assert {step(events, e) for e in events if e['name'] == 'planted::wrapper'} == {3}"
ok '--plant rename' python3 planted.py "
gone, come = differs(plain, run('--plant', 'rename=aten::gelu@*.0'))
assert len(gone) == len(come) == 3, (gone, come)
assert all(a[1] != b[1] and a[2] == b[2] for a, b in zip(gone, come)), (gone, come)"
ok '--plant fuse' python3 planted.py "
gone, come = differs(plain, run('--plant', 'fuse@1.1'))
assert [n for c, n in names(come)] == ['custom::fused_dropout_add'] * 2 + [
    'triton_poi_fused_add_native_dropout_1'] * 2, come
gone = Counter(n for c, n in names(gone) if c == 'cpu_op')
assert gone['aten::dropout'] == gone['aten::add'] == 2 and not gone['aten::mul'], gone"
ok '--plant swap' python3 planted.py "
def trig(events):
    return [e['name'][6:] for e in events if e['cat'] == 'cpu_op' and e['name'][6:] in ('cos', 'sin')]
events = run('--plant', 'swap@2.0')
assert differs(plain, events) == ([], [])
assert trig(plain) == ['cos', 'sin'] * 6 and trig(events) == ['cos', 'sin'] * 2 + [
    'sin', 'cos'] + ['cos', 'sin'] * 3, trig(events)"
ok '--code and --jitter' python3 planted.py "
for code in 'lines', 'folders', 'files':
    frames = {e['name'] for e in run('--code', code) if e['cat'] == 'python_function'}
    assert ('moved/model/layers_v2.py(105): forward' in frames) == (code == 'files'), frames
    assert not any(e['cat'] == 'python_function' and '.py(' in e['name'] and e['name'] in frames
                   for e in plain)
    assert differs(plain, run('--code', code)) == ([], [])
noisy = run('--jitter', '10', '--seed', '5')
ratios = [time_of(b) / time_of(a) for a, b in zip_longest(plain, noisy) if time_of(a)]
assert 0.97 < min(ratios) < 1.02 and 1.05 < max(ratios) < 1.13, (min(ratios), max(ratios))"

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

# Quirks add events beside the job, whose lines stay.
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
refuses 2 "bad value 'slow=aten::mul'" 'tl-gen --plant slow=aten::mul'
refuses 1 'No space left' 'tl-gen >/dev/full'
