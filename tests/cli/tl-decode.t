#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-decode: what it reads, what it refuses, and that it loses nothing.
# shellcheck disable=SC2086,SC2046,SC2016,SC2094 # lists are split, CMDs quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

events=$ROOT/tests/oracle/events.py

# whole TEXT TRACE [DECODE-OPTION...]: the stream has all of the trace
whole() {
	text=$1 trace=$2
	shift 2
	tl-decode "$@" "$trace" 2>err >whole.tl
	tl-cat whole.tl >whole.nd 2>/dev/null # 3: events were skipped
	like "$text" "$(cat err; python3 "$events" "$trace" whole.nd 2>&1)" \
		' 0 wrong$'
}

# items: a stream as lines, without its provenance
items() {
	tl-cat "$@" | sed -e 1d -e 's/"name":"[^"]*[/]*small[^"]*",//' \
		-e 's/"name":"stdin",//'
}

cat >small.json <<'EOT'
{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
"traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 8, "ts": 1712195495519689.047, "dur": 12.5,
  "args": {"External id": 5, "Input Dims": [[2, 3], []], "w\u00e9": "\ud83d\ude00 \"q\"", "big": 18446744073709551615}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1712195495519700.5, "dur": -1,
  "args": {"stream": 7, "device": 0, "correlation": 9, "f": 1e-05, "n": null, "b": true}},
 {"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "s": "t", "ts": "1712195495519701", "pid": "a", "tid": []},
 {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python"}}
], "traceName": "x.json"}
EOT

# ---- ways in ----

gzip -k small.json
{ head -c 300 small.json | gzip; tail -c +301 small.json | gzip; } >members.gz
{ head -c 400 small.json | zstd -q; tail -c +401 small.json | zstd -q; } >frames.zst
tl-decode small.json >small.tl 2>/dev/null
items small.tl >small.items
is 'events of a file' "$(grep -c '^{"id"' small.items)" 4
n=0
for cmd in 'tl-decode <small.json' 'tl-decode - <small.json' \
	'cat small.json | tl-decode' 'cat small.json | tl-decode -- -' \
	'dribble <small.json | tl-decode' 'tl-decode small.json.gz' \
	'dribble <small.json.gz | tl-decode' 'tl-decode members.gz' \
	'tl-decode <members.gz' 'tl-decode frames.zst' \
	'cat frames.zst | tl-decode' 'tl-decode -z small.json' \
	'tl-decode --zstd=9 small.json' 'tl-decode --ndjson small.json' \
	'tl-decode -o out.tl small.json; cat out.tl' \
	'tl-decode -z -o out.zst small.json; zstd -dc out.zst'; do
	eval "$cmd" 2>/dev/null | items >got.items
	grep -v '"facts"' small.items >want
	grep -v '"facts"' got.items >got
	if cmp -s got want; then n=$((n + 1)); else diag "differs: $cmd"; fi
done
is 'the same events from everywhere' "$n" 16
sed 's/, "/ ,\n\t "/g; s/": /" : /g; s/$/   /' small.json >spaced.json
tl-decode spaced.json 2>/dev/null | items | grep '^{"id"' >got
grep '^{"id"' small.items >want
same 'white space makes no difference' got want
tl-gen --size 3M >m.json
is 'mapped or in a window: the same events' \
	"$(tl-decode m.json | tl-cat | grep '^{"id"' | cksum)" \
	"$({
		head -c 1000000 m.json
		tail -c +1000001 m.json | head -c 100000 | dribble
		tail -c +1100001 m.json
	} | tl-decode | tl-cat | grep '^{"id"' | cksum)"

# ---- inputs that are no traces ----

refuses 1 'small.cut: byte [0-9]+' \
	'head -c 600 small.json >small.cut; tl-decode --ndjson small.cut >/dev/null'
size=$(($(wc -c <small.json) - 1)) step=3
! slow || step=1
! sanitized || step=11
python3 - $step >cuts <<'EOF'
import subprocess, sys
data = open('small.json', 'rb').read().rstrip()
bad = []
for n in range(0, len(data), int(sys.argv[1])):
    p = subprocess.run(['tl-decode'], input=data[:n], capture_output=True)
    err = p.stderr.decode()
    if p.returncode != 1 or 'stdin: ' not in err or (
            n > 0 and 'byte ' not in err and 'white space' not in err):
        bad.append((n, p.returncode, err))
    if n % 50 == 0 and p.stdout and subprocess.run(
            ['tl-cat', '--check'], input=p.stdout, capture_output=True).returncode != 1:
        bad.append((n, 'its stream passes'))
print(bad)
EOF
is "cut anywhere (of $size bytes) it says where" "$(cat cuts)" '[]'
refuses 1 'empty' 'tl-decode </dev/null'
refuses 1 'only white space' 'echo | tl-decode -o x.tl'
refuses 1 'directory' 'tl-decode /'
refuses 1 'No such file' 'tl-decode nowhere.json'
while IFS='|' read -r why text; do
	# shellcheck disable=SC2059 # the escapes are meant
	printf "$text" >what.bad
	refuses 1 "$why" 'tl-decode -o x.tl what.bad'
done <<'EOF'
zip|PK\003\004aaaa
Git LFS|version https://git-lfs.github.com/spec/v1
database|SQLite format 3\000aaaa
no Perfetto trace|\n\004\010\001\020\002
rocprof.s CSV: pass the JSON|"Index","KernelName","gpu-id"\n
bzip2|BZh91AY
xz|\3757zXZ\000
picture|\211PNG\r\n
cut off|\200\004\225abc
HTML|<html>
UTF-16|\377\376{\000
no known format|hello
Chakra|{"nodes":[]}
memory snapshot|{"segments":[]}
no list|{"traceEvents":{}}
text follows|[] []
second list|{"traceEvents":[],"traceEvents":[]}
EOF
refuses 1 'compressed twice' 'gzip <small.json | gzip | tl-decode -o x.tl'
cat >times.json <<'END'
[{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":5},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":0.49,"dur":0.49},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":-18.9,"dur":18.9},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1234567,"dur":1234567},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":12345678,"dur":12345678},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":12345678.5,"dur":12345678.5},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":123456789.25,"dur":123456789.25},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":2915995397672.546,"dur":2915995397672.546},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495523.60,"dur":1712195495523.60},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495523713.603,"dur":1712195495523713.603},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495523713,"dur":1712195495523713},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":12345678.1234,"dur":12345678.1234},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1e3,"dur":1e3}]
END
is 'times of every form' "$(tl-decode times.json | tl-cat --abs -F ts,dur --no-header | tr '\t\n' ': ')" \
	'5000:5000 490:490 -18900:18900 1234567000:1234567000 12345678000:12345678000 12345678500:12345678500 123456789250:123456789250 2915995397672546:2915995397672546 1712195495523600:1712195495523600 1712195495523713603:1712195495523713603 1712195495523713000:1712195495523713000 12345678123:12345678124 1000000:1000000 '
printf 'SQLite format 3\000rocpd_api' | gzip | head -c 39 >cut-sqlite.gz
is 'no hint at --salvage where it reads nothing' "$(tl-decode cut-sqlite.gz 2>&1 >/dev/null)" \
	'tl-decode: cut-sqlite.gz: byte 39: gzip data end too early'
refuses 1 'zstd within' 'zstd -q <small.json | gzip | tl-decode -o x.tl'
refuses 1 'program' 'tl-decode -o x.tl "$(command -v tl-decode)"'
refuses 1 'tar archive' 'tar cf - small.json | tl-decode -o x.tl'
refuses 1 'event stream already' 'tl-cat --binary small.tl | tl-decode -o x.tl'
refuses 1 'event stream already' 'tl-cat small.tl | head -n 1 | tl-decode -o x.tl'
printf '[\n\n  1]' >one.json
refuses 1 'byte 5 .line 3.: expected an event' 'tl-decode -o x.tl one.json'

# ---- ways out ----

refuses 1 'No space left' 'tl-decode m.json >/dev/full'
quiet 'a reader may leave' 'tl-decode m.json | head -c 1000'
head -c 500000 m.json >cut.json
refuses 1 'byte 500000' 'tl-decode -o no.tl cut.json'
is '-o: whole or nothing' "$(find . -name 'no.tl*')" ''
refuses 2 'exclude each other' 'tl-decode -d x -o y small.json'
refuses 2 'no kind' 'tl-decode --kind op,nonsense small.json'
refuses 2 'needs a group' 'tl-decode --rank-regex "[0-9]" small.json'
refuses 2 'rank-regex' 'tl-decode --rank-regex "(" small.json'
like 'no binary on a terminal' "$(python3 -c '
import os, subprocess
master, slave = os.openpty()
p = subprocess.run(["tl-decode", "small.json"], stdout=slave,
                   stderr=subprocess.PIPE)
print(p.returncode, p.stderr.decode())')" '^2 .*terminal.*tl-cat'

mkdir in in/a in/b
for f in in/a/t.json in/b/t.json.gz in/t-2.pt.trace.json in/rank-5.json; do
	case $f in *.gz) gzip -c small.json >$f ;; *) cp small.json $f ;; esac
done
tl-decode -d out -j 3 in/a/t.json in/b/t.json.gz in/t-2.pt.trace.json \
	in/rank-5.json 2>/dev/null
is '-d: a stream each, and no name twice' "$(cd out && echo *)" \
	'rank-5.tl t-2-2.tl t-2.tl t.tl'
n=0
for f in out/*.tl; do # each has a negative duration
	tl-cat --check $f >/dev/null 2>&1
	[ $? -eq 3 ] && n=$((n + 1))
done
is '-d: all of them whole' $n 4
refuses 1 'cut.json' 'tl-decode -d out2 small.json cut.json m.json'
is '-d: the others go on' "$(cd out2 && echo *)" 'm.tl small.tl'

mkfifo slow.json
(
	cat m.json
	i=0
	while [ $i -lt 100 ] && ! pid=$(pgrep -P "$(cat parent)" -x tl-decode); do
		sleep 0.1
		i=$((i + 1))
	done
	kill -KILL "$pid"
) >slow.json &
sh -c 'echo $$ >parent; exec tl-decode -d out3 slow.json small.json' 2>err
is '-d: a child that is killed: exit 1' $? 1
wait
like '... the input and the signal are named' "$(cat err)" \
	'tl-decode: slow.json: .*signal 9'
is '... and nothing is left of it' "$(cd out3 && ls -A)" small.tl

facts() { tl-cat "$@" | grep '"final":true' | sed 's/.*"facts"://'; }
like 'rank from distributedInfo' "$(facts small.tl)" \
	'"rank":3,"rank_from":"distributedInfo"'
echo '{"traceEvents":[]}' >a-rank12.json
cp a-rank12.json run_77_x.json
like 'rank from the name' "$(tl-decode a-rank12.json | facts)" \
	'"rank":12,"rank_from":"name"'
cp a-rank12.json worker5.pt.trace.json
like 'rank of a worker' "$(tl-decode worker5.pt.trace.json | facts)" \
	'"rank":5,"rank_from":"name"'
like 'rank by --rank-regex' \
	"$(tl-decode --rank-regex 'run_([0-9]+)_' run_77_x.json | facts)" \
	'"rank":77,"rank_from":"name"'
tl-decode small.json run_77_x.json - <run_77_x.json 2>/dev/null >three.tl
is 'several inputs are several sources, ranked in order at last' \
	"$(facts three.tl | grep -o '"rank":[0-9]*' | tr '\n' ' ')" \
	'"rank":3 "rank":1 "rank":2 '
is 'the format is told' "$(facts three.tl | grep -c '"format":"chrome"')" 3
is 'metadata and where it stood' "$(tl-cat small.tl | grep '^{"meta"' |
	sed 's/.*"after":\([a-z]*\),"key":"\([^"]*\)".*/\2 \1/' | tr '\n' ' ')" \
	'schemaVersion false distributedInfo false traceName true '
tl-decode -v small.json >/dev/null 2>err
like '-v: kinds' "$(cat err)" 'kernel +1$'
like '-v: seconds since the start' "$(cat err)" ' 0\.[0-9]+ s wall'
like '-v: memory' "$(cat err)" 'peak memory [0-9.]+ MiB'
like 'negative durations are counted' "$(cat err)" '1 negative durations'

# ---- selection ----

tl-gen --layers 1 --steps 1 -q dup-keys -q no-cat -q no-ph -q begin-end -o sel.json
tl-decode sel.json >sel.tl
for o in '--kind kernel,op' '--kind flow' '--kind other'; do
	tl-decode $o sel.json | tl-cat | grep '^{"id"' >a
	tl-cat sel.tl | python3 -c '
import json, sys
kinds = sys.argv[2].split(",")
for line in sys.stdin:
    e = json.loads(line)
    if "id" in e and e["kind"] in kinds:
        sys.stdout.write(line)' $o >b
	same "tl-decode $o is as selecting later" a b
done
cat >esc.json <<'X'
{"traceEvents":[
{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":1,"args":{"cat":"cpu_op","x":[{"ph":1}]}},
{"ph":"X","cat":"kernel","name":"b","ts":2,"dur":1,"args":{},"c\u0061t":"cpu_op"},
{"ph":"X","cat":"kernel","name":"c","ts":3,"dur":1,"args":{} , "ph" : "M"},
{"ph":"X","cat":"cpu_op","name":"d","ts":4,"dur":1}]}
X
is 'a later category counts, however it is written' \
	"$(tl-decode --kind op,meta esc.json | tl-cat --tsv -F id,name --no-header | tr '\t\n' '= ')" \
	'1=b 2=c 3=d '
like 'selecting is marked' "$(tl-decode --kind op sel.json | tl-cat | tail -n 1)" \
	'edited'

# ---- every quirk ----

tl-gen --list-quirks >quirks
while read -r quirk _; do
	f=q-$quirk.json
	case $quirk in
	symbols-last | bad-utf8 | raw-quote | trailing-comma | truncated)
		continue ;;
	esac
	tl-gen --layers 1 --steps 1 --ranks 4 --no-python -q $quirk >$f
	whole "quirk $quirk" $f
done <quirks
for q in bad-utf8:UTF-8 raw-quote:expected trailing-comma:expected \
	'truncated:not closed|cut off|expected'; do
	tl-gen --layers 1 --steps 1 -q ${q%%:*} >bad.json
	refuses 1 "bad.json: byte [0-9]+ .line [0-9]+.*(${q#*:})" \
		'tl-decode -o x.tl bad.json'
done
tl-decode q-neg-dur.json 2>err | tl-cat >nd
is 'negative durations are 0, marked and kept' \
	"$(grep -c '"dur":0,.*"clamped".*"top":{"dur":-' nd)" \
	"$(sed -n 's/^tl-decode: \([0-9]*\) negative.*/\1/p' err)"
is 'text as ts' "$(tl-decode q-string-ts.json | tl-cat | grep -c '"top":{[^}]*"ts":"[0-9]')" \
	"$(grep -c '"ts": *"' q-string-ts.json)"
is 'earlier values of repeated keys' \
	"$(tl-decode q-dup-keys.json | tl-cat | grep -c '"duptop":.*"dup":')" \
	"$(tl-decode q-dup-keys.json | tl-cat | grep -c 'quirk::dup_keys')"

# ---- numbers and repetitions at the edges ----

cat >edge.json <<'EOF'
[{"ph":"X","ph":"B","cat":"kernel","cat":"cpu_op","name":"a","name":"b","pid":1,"pid":"x","tid":2,"tid":[3, 4],"ts":1,"ts":"5.5","ts":2.25,"dur":3,"dur":-4,"args":{"a":1},"args":null,"args":{"b":2,"b":3}},
{"ph":"X","ph":null,"name":"a","name":null,"ts":9999999999999999.000,"dur":1},
{"ph":"X","name":"a","ts":4611686018427387.904,"dur":1},
{"ph":"X","name":"a","ts":4611686018427387.903,"dur":4611686018427387.903},
{"ph":"X","name":"a","ts":-4611686018427387.904,"dur":1,"ts":"abc"},
{"ph":"X","name":"a","ts":1e400,"dur":1e-400},
{"ph":"X","name":"a","ts":1e999999999999,"dur":-1e-99999999999},
{"ph":"X","name":"a","ts":9223372036854775807,"dur":-9223372036854775808},
{"ph":"X","name":"a","ts":18446744073709551615,"dur":NaN}]
EOF
whole 'edges of numbers, all members twice' edge.json
is 'repeated members are residue in their order' \
	"$(grep -o '"duptop":.*,"top"' whole.nd | head -n 1)" \
	'"duptop":[["ph","X"],["cat","kernel"],["name","a"],["pid",1],["tid",2],["ts","#1.000"],["ts","5.5"],["dur","#3.000"],["args",null]],"top"'
like 'beyond 2^62 ns there is no time' "$(grep '"id":2,' whole.nd)" \
	'"top":\{"ts":"#4611686018427387.904"\}'
like 'below it there is' "$(grep '"id":3,' whole.nd)" \
	'"ts":"#4611686018427387903"'

# ---- big ones ----

cat >big.py <<'EOF'
import sys
def ev(args, name='n'):
    return '{"ph":"X","name":"%s","ts":1.5,"dur":1,"args":{%s}}' % (name, args)
def keys(n, first=0):
    return ','.join('"k%d":%d' % (i, i) for i in range(first, first + n))
cases = {
    'names': lambda: [ev('"a":"%d","b":[%d]' % (i, i), 'n%d-%s' % (i, 'x' * 90))
                      for i in range(600000)],
    'keys': lambda: [ev('"k%d":1,"j%d":"x"' % (i, i)) for i in range(30000)],
    'name': lambda: [ev('"a":1', 'n' * 1000000)] * 3,
    'digits': lambda: [ev('"a":%s,"b":0.%s' % ('7' * 1000, '3' * 1000)),
                       '{"ts":%s,"dur":0.%s}' % ('7' * 1000, '3' * 1000)],
    'args': lambda: [ev(keys(2000)), ev(keys(2000, 50))],
    'toomany': lambda: [ev(keys(5000))],
    'same': lambda: [ev(','.join(['"k":1'] * 2000))],
    'deep': lambda: [ev('"a":%s1%s' % ('[' * 9996, ']' * 9996))],
    'toodeep': lambda: [ev('"a":%s1%s' % ('[' * 9997, ']' * 9997))],
    'string': lambda: [ev('"a":"%s"' % ('x' * 100000000))],
}
print('{"traceEvents":[' + ',\n'.join(cases[sys.argv[1]]()) + ']}')
EOF
for c in keys name digits args same; do
	python3 big.py $c >$c.json
	whole "hostile: $c" $c.json
done
is 'a list of depth 10,000' "$(stages \
	'python3 big.py deep | tl-decode | tl-cat --check')" '0 0 0'
refuses 1 'nesting deeper' 'python3 big.py toodeep | tl-decode -o x.tl'
refuses 1 'more than 2048 members' 'python3 big.py toomany | tl-decode -o x.tl'
python3 big.py names >names.json
tl-decode names.json | tl-cat | python3 -c '
import sys
n = 0
for line in sys.stdin:
    if line.startswith("{\"id\""):
        end = "\"args\":{\"a\":\"%d\",\"b\":[%d]}}\n" % (n, n)
        assert line.startswith("{\"id\":%d," % n) and line.endswith(end), line
        assert "\"n%d-%s\"" % (n, "x" * 90) in line, line
        n += 1
print(n)' >n 2>&1
is 'strings beyond 64 MiB are forgotten everywhere' "$(cat n)" 600000
case $B in
*san*) skip 'memory is bounded' 'sanitizers need more' ;;
*)
	tl-decode -v names.json 2>err >/dev/null
	is "memory is bounded: $(grep -o 'peak.*' err)" \
		"$(sed -n 's/.*peak memory \([0-9]*\).*/\1/p' err | awk '{print ($1 < 90)}')" 1
	;;
esac
is 'a string of 100 MB' "$(stages \
	'python3 big.py string | tl-decode | tl-cat --check')" '0 0 0'

# ---- JSON by the letter ----

cat >cases.py <<'EOF'
import os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
root = os.environ['ROOT'] + '/tests/golden/json/'
head = (b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1,"args":{"v":')
# four containers are open around it, and it is not the beginning
other = {'accept/array-depth-10000.json', 'accept/array-and-object-depth-10000.json',
         'free/accept-bom-utf8-then-object.json',
         'free/accept-bom-utf8-then-space-array.json'}
def run(case):
    folder, name = case
    with open(root + folder + '/' + name, 'rb') as f:
        data = f.read()
    if folder != 'trace':
        data = head + data + b'}}]}'
    want = folder if folder in ('accept', 'reject') else name.split('-')[0]
    if folder + '/' + name in other:
        want = 'reject'
    p = subprocess.run(['tl-decode'], input=data, capture_output=True)
    got = {0: 'accept', 1: 'reject'}.get(p.returncode, p.returncode)
    return [] if got == want else [(folder, name, got, p.stderr)]
cases = [(d, n) for d in ('accept', 'reject', 'free', 'trace')
         for n in sorted(os.listdir(root + d))]
with ThreadPoolExecutor(2) as pool:
    print(len(cases) > 400, sum(pool.map(run, cases), []))
EOF
is 'all JSON cases as decided' "$(python3 cases.py)" 'True []'

# ---- rocprofv3 ----

cat >rocprof.py <<'EOF'
import json, sys
trace, stream = sys.argv[1:]
with open(trace) as f:
    processes = json.load(f)['rocprofiler-sdk-tool']
got, facts = [], {}
for line in open(stream):
    line = json.loads(line)
    if 'id' in line:
        got.append(line)
    elif 'source' in line:
        facts = line['source']['facts']
base, n = int(facts.get('base', 0)), 0
for p in processes:
    gpu = {a['id']['handle']: a['gpu_index'] for a in p['agents'] if a['type'] == 2}
    names = {s['kernel_id']: s['truncated_kernel_name'] or s['formatted_kernel_name']
             or s['kernel_name'] for s in p['kernel_symbols']}
    for buffer, records in p['buffer_records'].items():
        for r in records:
            e = got[n]
            n += 1
            a, b = r['start_timestamp'], r['end_timestamp']
            assert e['cat'] == buffer and e['ts'] + base == a, e
            assert e['dur'] == max(0, b - a) and e['pid'] == p['metadata']['pid'], e
            d = r.get('dispatch_info')
            if d:
                assert e['name'] == names.get(d['kernel_id'], 'unknown_kernel_%d' % d['kernel_id']), e
                assert e['dev'] == gpu[d['agent_id']['handle']], e
                grid, block = ([d[s].get(k, 1) for k in 'xyz'] for s in ('grid_size', 'workgroup_size'))
                assert e['args']['block'] == block, e
                assert e['args']['grid'] == [-(-a // b) for a, b in zip(grid, block)], e
            if buffer == 'memory_copy':
                dst, src = r['dst_agent_id']['handle'], r['src_agent_id']['handle']
                assert e['dev'] == gpu.get(dst, gpu.get(src)), e
assert n == len(got), (n, len(got))
init = min(p['metadata']['init_time'] for p in processes)
fini = max(p['metadata']['fini_time'] for p in processes)
assert (facts['window_start'] + base, facts['window_end'] + base) == (init, fini)
EOF
for o in '' '--processes 3' '-q symbols-last' '-q symbols-last --processes 2'; do
	tl-gen --rocprof --layers 1 --steps 2 $o >rp.json
	tl-decode rp.json | tl-cat >rp.nd
	ok "rocprofv3 $o" python3 rocprof.py rp.json rp.nd
done
cat >odd.json <<'EOF'
{"rocprofiler-sdk-tool":[{"metadata":{"pid":5},
"agents":[{"id":{"handle":10},"type":1,"gpu_index":-1,"logical_node_id":0},{"id":{"handle":11},"type":2,"gpu_index":0,"logical_node_id":1},{"id":{"handle":12},"type":2,"gpu_index":1,"logical_node_id":2}],
"strings":{"buffer_records":[]},"kernel_symbols":[],
"buffer_records":{"memory_copy":[
{"start_timestamp":5,"end_timestamp":3,"dst_agent_id":{"handle":10},"src_agent_id":{"handle":12}},
{"start_timestamp":5,"end_timestamp":5,"dst_agent_id":{"handle":11},"src_agent_id":{"handle":12}},
{"dst_agent_id":{"handle":10},"src_agent_id":{"handle":10}}],
"kernel_dispatch":[{"dispatch_info":{"kernel_id":77,"agent_id":{"handle":12},"grid_size":{"y":3}},"start_timestamp":9,"end_timestamp":9223372036854775807}]}}]}
EOF
tl-decode odd.json 2>/dev/null | tl-cat >odd.nd
is 'rocprofv3: what is missing or odd' \
	"$(grep '^{"id"' odd.nd | sed 's/"src":0,//')" \
	'{"id":0,"kind":"memcpy","cat":"memory_copy","name":"memory_copy","ts":5,"dur":0,"pid":5,"dev":1,"flags":["clamped"],"ph":"X","args":{"dst_agent":10,"src_agent":12,"device":1,"end_timestamp":3}}
{"id":1,"kind":"memcpy","cat":"memory_copy","name":"memory_copy","ts":5,"dur":0,"pid":5,"dev":0,"ph":"X","args":{"dst_agent":11,"src_agent":12,"src_device":1,"device":0}}
{"id":2,"kind":"memcpy","cat":"memory_copy","name":"memory_copy","pid":5,"ph":"X","args":{"dst_agent":10,"src_agent":10}}
{"id":3,"kind":"kernel","cat":"kernel_dispatch","name":"unknown_kernel_77","ts":9,"pid":5,"dev":1,"ph":"X","args":{"agent_id":12,"device":1,"block":[1,1,1],"grid":[1,3,1],"kernel_id":77,"end_timestamp":"#9223372036854775807"}}'
refuses 1 'line [0-9]+.: ' \
	'sed "s/\"y\":3/\"y\":03/" odd.json >odd2.json; tl-decode -o x.tl odd2.json'

# ---- kinds without a category ----

cat >rows.json <<'END'
[{},{"ph":"M","name":"process_name","pid":"2","args":{"name":"GPU2"}},
{"ph":"M","name":"process_name","pid":6,"args":{"name":"6 GPU0"}},
{"ph":"M","name":"process_name","pid":1,"args":{"name":"1 COPY"}},
{"ph":"M","name":"process_name","pid":7,"args":{"name":"GPU Process"}},
{"ph":"M","name":"process_name","pid":8,"args":{"name":"GPU1"}},
{"ph":"M","name":"process_name","pid":8,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":9,"tid":2,"args":{"name":"Stream 2"}},
{"ph":"M","name":"process_name","pid":9,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":"x","args":{"name":"/device:GPU:0"}},
{"ph":"M","name":"thread_name","pid":"x","tid":"s","args":{"name":"Stream #20(Compute)"}},
{"ph":"X","name":"gemm","pid":2,"tid":"0","ts":"1","dur":"5"},
{"ph":"X","name":"CopyHostToDevice","pid":"2","tid":"0","ts":7,"dur":2,"args":{"desc":"x"}},
{"ph":"X","name":"FillBuffer","pid":2,"tid":0,"ts":9,"dur":2},
{"ph":"X","name":"Barrier","pid":2,"tid":0,"ts":9,"dur":2},
{"ph":"X","name":"k","pid":6,"tid":0,"ts":1,"dur":5},
{"ph":"X","name":"x","pid":1,"tid":0,"ts":1,"dur":5},
{"ph":"X","name":"host","pid":7,"tid":0,"ts":1,"dur":5},
{"ph":"X","name":"host","pid":8,"tid":0,"ts":1,"dur":5},
{"ph":"X","cat":"AI_CORE","name":"MatMul","pid":9,"tid":2,"ts":1,"dur":5},
{"ph":"X","name":"EVENT_WAIT","pid":9,"tid":2,"ts":1,"dur":5},
{"ph":"X","name":"Iteration","pid":9,"tid":70001,"ts":1,"dur":5},
{"ph":"X","name":"fusion","pid":"x","tid":"s","ts":1,"dur":5},
{"ph":"X","name":"XLA Modules","pid":"x","tid":"m","ts":1,"dur":5},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":2,"tid":0,"ts":1,"dur":5},
{"ph":"X","name":"hipMemcpyWithStream","pid":8,"tid":1,"ts":1,"dur":5},
{"ph":"X","name":"cuMemAlloc_v2","pid":8,"tid":1,"ts":7,"dur":5},
{"ph":"X","name":"cuDNN_conv","pid":8,"tid":1,"ts":7,"dur":5},
{"ph":"X","name":"cuConv_v2_ptsz","pid":8,"tid":1,"ts":7,"dur":5},
{"ph":"X","name":"cuConv_forward","pid":8,"tid":1,"ts":7,"dur":5},
{"ph":"X","name":"hipblasSgemm","pid":8,"tid":1,"ts":13,"dur":5},
{"ph":"X","name":"cudaMalloc: retry","pid":8,"tid":1,"ts":19,"dur":5},
{"ph":"X","name":"hip","pid":8,"tid":1,"ts":25,"dur":5},
{"ph":"i","name":"i","pid":2,"tid":0,"ts":1}]
END
is 'the processes of devices' "$(tl-decode rows.json |
	tl-cat --tsv -F kind,name,pid,dev --no-header | sed 1,11d | tr '\t\n' ': ')" \
	'kernel:gemm:2:2 memcpy:CopyHostToDevice:2:2 memset:FillBuffer:2:2 sync:Barrier:2:2 kernel:k:6:6 memcpy:x:1:1 slice:host:7: slice:host:8: kernel:MatMul:9:9 sync:EVENT_WAIT:9:9 slice:Iteration:9: kernel:fusion:x:x slice:XLA Modules:x: op:aten::mm:2: runtime:hipMemcpyWithStream:8: runtime:cuMemAlloc_v2:8: slice:cuDNN_conv:8: runtime:cuConv_v2_ptsz:8: slice:cuConv_forward:8: slice:hipblasSgemm:8: slice:cudaMalloc: retry:8: slice:hip:8: instant:i:2: '
is 'only what is GPU work' "$(tl-decode --kind kernel rows.json |
	tl-cat --tsv -F name --no-header | tr '\n' ' ')" 'gemm k MatMul fusion '
is 'and it goes back as it was' "$(tl-decode rows.json | tl-export --to chrome |
	tl-decode - | tl-cat | grep '^{"id"')" "$(tl-decode rows.json | tl-cat | grep '^{"id"')"
cat >steps.json <<'END'
{"traceEvents":[{"ph":"X","cat":"Operator","name":"ProfilerStep#4","pid":1,"tid":1,"ts":1,"dur":90},
{"ph":"X","cat":"Operator","name":"aten::mm","pid":1,"tid":1,"ts":2,"dur":8},
{"ph":"X","cat":"Operator","name":"ProfilerStep#5","pid":1,"tid":1,"ts":100,"dur":9}]}
END
is 'steps of 2021' "$(tl-tree steps.json | tl-cat --tsv -F kind,name,step --no-header | tr '\t\n' ': ')" \
	'annotation:ProfilerStep#4: annotation:ProfilerStep#5: op:aten::mm:4 '
is 'of which --kind annotation takes the steps' "$(tl-decode --kind annotation steps.json |
	tl-cat --tsv -F name --no-header | tr '\n' ' ')" 'ProfilerStep#4 ProfilerStep#5 '

# ---- finer than ns ----

# A start and an end are rounded once each: what ends with another event, or
# before it, in the file also does so in ns.
cat >fine.json <<'EOF'
[{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":3.3003,"dur":10.4003},
{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":12.7006,"dur":1},
{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1700000000001343.200500,"dur":10.700501},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":"1700000000001443.300499","dur":"4.000499"},
{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":-5.0004,"dur":0.0008},
{"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":1,"ts":1.00049e1,"dur":0.0005}]
EOF
tl-decode fine.json >fine.tl
is 'ends finer than ns are rounded once' \
	"$(tl-cat --abs --tsv -F name,ts,dur --no-header fine.tl | tr '\t\n' ' .')" \
	'outer 3300 10401.inner 12701 1000.a 1700000000001343201 10700.b 1700000000001443300 4001.c -5000 0.d 10005 0.'
is 'so what lies in an event still does' \
	"$(tl-tree fine.tl | tl-cat --tsv -F name,parent --no-header | awk '$1 == "inner"' | tr '\t' ' ')" 'inner 0'
is 'and it is written as it was' "$(tl-export --to chrome fine.tl | grep -o '3.3003\|10.4003\|1700000000001343.200500\|4.000499' | tr '\n' ' ')" \
	'3.3003 10.4003 1700000000001343.200500 4.000499 '
# Only half of a ns before 0 may be rounded away.
cat >half.json <<'EOF'
[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":-0.0005,"dur":1},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":-2.0015,"dur":1.001}]
EOF
is 'a dur in whole ns stays as it is' \
	"$(tl-decode half.json | tl-export --to chrome | grep -o '"dur":[^,}]*' | tr '\n' ' ')" \
	'"dur":1 "dur":1.001 '

# a key that determines the format far from the file's beginning
tl-gen --rocprof -n 1 -o roc.json
python3 - <<'EOP'
import json
with open("roc.json") as f:
    trace = json.load(f)
with open("late.json", "w") as f:
    json.dump({"notes": ["x" * 1000] * 100, **trace}, f)
EOP
is 'rocprofv3, its key far behind' \
	"$(tl-decode late.json | tl-cat --tsv -F id,kind,name,ts | cksum)" \
	"$(tl-decode roc.json | tl-cat --tsv -F id,kind,name,ts | cksum)"
head -c -300 late.json >cut.json
refuses 3 'cut.json: salvaged: events [1-9]' 'tl-decode --salvage -o cut.tl cut.json'

# ---- Perfetto ----

# PyTorch's form: begins, then their ends; work on the GPU without a track
cat >made.py <<'EOP'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import num, text
def begin(ts, track, name, cat, args, more=b""):
    notes = b"".join(text(4, text(10, k) + v) for k, v in args)
    return text(11, num(9, 1) + num(11, track) + num(10, name) + num(3, cat) + notes + more), ts
def end(ts, track):
    return text(11, num(9, 2) + num(11, track)), ts
names = [(2, 1, "aten::mm"), (2, 2, "cudaLaunchKernel"), (2, 3, "gemm"), (1, 1, "cpu_op"),
         (1, 2, "cuda_runtime"), (24, 1, "Kernel"), (24, 100, "[7] stream 7")]
interned = b"".join(text(f, num(1, i) + text(2, s)) for f, i, s in names) + \
    text(23, num(1, 1) + num(2, 7))
dims = text(12, text(12, num(3, 8)) + text(12, num(3, 16)))
stage = num(1, 1) + num(2, 500) + num(11, 0) + num(13, 100) + num(14, 1) + num(5, 1) + \
    num(20, 3) + text(21, text(1, num(1, 2)) + text(2, num(1, 128))) + \
    text(6, text(1, "stream id") + text(2, "7")) + text(6, text(1, "correlation") + text(2, "9"))
packets = [(text(6, text(1, num(1, 6) + num(2, 1000)) + text(1, num(1, 1) + num(2, 1000))), None),
           (text(60, num(1, 1) + text(3, num(1, 7) + text(6, "python"))), None),
           (text(60, num(1, 2) + num(5, 1) + text(4, num(1, 7) + num(2, 7))), None),
           (text(12, interned) + num(10, 1) + num(13, 1), None),
           begin(1000, 2, 1, 1, [("External id", num(3, 5)), ("Input Dims", dims)]),
           end(1050, 2),
           begin(1010, 2, 2, 2, [("cbid", num(3, 211)), ("correlation", num(3, 9))]),
           end(1020, 2), begin(2000, 2, 1, 1, []), begin(2010, 2, 1, 1, []), end(2010, 2),
           end(2020, 2), (text(53, stage), 1030)]
with open("made.pftrace", "wb") as f:
    for p, ts in packets:
        state = b"" if ts is None else num(8, ts) + num(10, 1) + num(13, 2)
        f.write(text(1, p + state))
EOP
python3 made.py
is 'slices and GPU work' \
	"$(tl-tree made.pftrace | tl-cat | jq -c 'select(.kind | IN("op", "runtime", "kernel"))
		| [.name, .ts, .dur, .dev, .gpu_stream, .corr, .launch, .args.grid, .args["Input Dims"]]')" \
	'["aten::mm",1000,50,null,null,null,null,null,[[8,16]]]
["cudaLaunchKernel",1010,10,null,null,9,null,null,null]
["gemm",1030,500,0,7,9,1,[2,1,1],null]
["aten::mm",2000,10,null,null,null,null,null,null]
["aten::mm",2010,10,null,null,null,null,null,null]'
is 'names of process and thread' "$(tl-decode made.pftrace | tl-cat |
	jq -c 'select(.kind == "meta") | [.name, .pid, .args.name]')" '["process_name",7,"python"]'
head -c -5 made.pftrace >cut.pftrace
refuses 1 'cut.pftrace: byte 380: the data end in a field \(tl-decode --salvage' 'tl-decode cut.pftrace'
refuses 3 'cut.pftrace: salvaged: events 5, losses 1' \
	'tl-decode --salvage cut.pftrace -o cut.tl'
is 'its whole packets are there' "$(tl-cat --tsv -F name --no-header cut.tl 2>/dev/null | sort | uniq -c | tr -s ' \n' ' ')" \
	' 3 aten::mm 1 cudaLaunchKernel 1 process_name '
gzip -c made.pftrace >made.bin
is 'compressed, under any name' "$(tl-decode made.bin | tl-cat --tsv -F id,ts | cksum)" \
	"$(tl-decode made.pftrace | tl-cat --tsv -F id,ts | cksum)"
printf '\n\003\010\001\017' >bad.pftrace
refuses 1 'bad.pftrace: byte [0-9]*: not a trace: this looks like a protobuf' 'tl-decode bad.pftrace'
# events without begin, time or value are counted; too many are refused
cat >odd.py <<'EOP'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import num, text
def event(ts, what, *more):
    time = b"" if ts is None else num(8, ts)
    return text(1, time + num(10, 1) + text(11, num(9, what) + num(11, 5) + b"".join(more)))
def trace(name, *packets):
    with open(name, "wb") as f:
        f.write(b"".join(packets))
named = text(23, "a")
notes = [text(4, text(10, "k%d" % i) + num(4, i)) for i in range(4100)]
trace("lacking.pftrace", event(100, 2), event(200, 1, named), event(300, 2),
      event(None, 1, named), event(None, 3, named), event(400, 4))
trace("annotated.pftrace", event(100, 1, named, *notes), event(200, 2))
trace("clocks.pftrace", *[text(1, num(10, 1) + text(6, b"".join(
    text(1, num(1, first + i) + num(2, 5)) for i in range(200)))) for first in (200, 400)])
EOP
python3 odd.py
refuses 3 'lacking.pftrace: events are missing: 4 packets lack a begin, a time, a value or names$' \
	'tl-decode -o lacking.tl lacking.pftrace'
is 'and no event is made of them' "$(tl-cat --tsv -F kind,ts,dur --no-header lacking.tl | tr '\t' ,)" slice,200,100
refuses 1 'annotated.pftrace: byte [0-9]*: an event has too many annotations' 'tl-decode annotated.pftrace'
refuses 1 'clocks.pftrace: byte [0-9]*: more than 256 clocks' 'tl-decode clocks.pftrace'

# two sequences on one track: an end closes what the other began, and the first
# one's run of begins is over
cat >shared.py <<'EOP'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import num, text
def slice(sequence, ts, name=None):
    what = num(9, 1) + text(23, name) if name else num(9, 2)
    return text(1, num(8, ts) + num(10, sequence) + text(11, what + num(11, 5)))
def trace(name, *slices):
    with open(name, "wb") as f:
        f.write(b"".join(slice(*s) for s in slices))
trace("ended.pftrace", (1, 10, "a"), (2, 20), (2, 30, "b"), (1, 40), (1, 50, "c"))
trace("begun.pftrace", (2, 10, "b"), (2, 11, "c"), (1, 12, "a"), (2, 30), (2, 20),
      (2, 60, "z"), (1, 70), (1, 80))
EOP
python3 shared.py
slices() { tl-decode "$1" | tl-cat --tsv -F name,ts,dur --no-header | paste -sd ' '; }
is 'two sequences on a track, one ends what the other began' "$(slices ended.pftrace | tr '\t' ,)" \
	'a,10,10 b,30,10 c,50,'
is 'two sequences on a track, both begin' "$(slices begun.pftrace | tr '\t' ,)" \
	'a,12,18 c,11,9 z,60,10 b,10,70'
is 'drawn traces' "$(python3 "$ROOT/tests/oracle/perfetto.py" 1 20)" \
	'ok - traces drawn from seeds 1 to 20'

page_examples tl-decode.1
done_testing
