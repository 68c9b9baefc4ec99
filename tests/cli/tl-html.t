#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-html: pages that are whole and self-contained, and can't be broken into.
. tests/cli/lib.sh

command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'

page() { python3 "$ROOT/tests/oracle/page.py" "$@" 2>&1; }

# ---- contents ----

tl-tree "$SAMPLE" -o t.tl
tl-timeline --format ndjson t.tl >timeline.ndjson
tl-ops --format ndjson t.tl >ops.ndjson
ok 'tables and a tree' tl-html -o p.html --title 'A title' timeline.ndjson \
	ops.ndjson t.tl
is 'a selection' "$(tl-html --step 2 -o s.html t.tl && page s.html |
	sed -n 's/^spans //p')" "$(tl-filter --step 2 t.tl |
	tl-html -o s2.html - && page s2.html | sed -n 's/^spans //p')"
like 'are a page' "$(page p.html | tr '\n' ' ')" \
	'^A title tables 2 rows [0-9]+ lanes [0-9]+ spans [0-9]+ stacks [0-9]+ $'
tl-html -o q.html --title 'A title' timeline.ndjson ops.ndjson "$SAMPLE"
same 'a raw trace gives the same bytes' p.html q.html
tl-html -o none.html
is 'nothing gives an empty page' "$(page none.html | tail -n 1)" \
	'tables 0 rows 0 lanes 0 spans 0 stacks 1'
is 'each GPU event has its launch, op and shapes' "$(page --launches p.html | cut -f 1-4 | sort)" \
	"$(tl-cat t.tl | python3 -c 'import json, sys
events, source = {}, None
for e in map(json.loads, sys.stdin):
    if "id" in e:
        events[e["id"]] = e
gpu = [e for e in events.values() if e["kind"] in ("kernel", "memcpy", "memset")]
first = min(int(e["ts"]) for e in events.values() if e["kind"] in
            ("kernel", "memcpy", "memset", "op", "runtime", "driver", "annotation") and "ts" in e)
for e in gpu:
    if "launch" not in e:
        print(int(e["ts"]) - first, "none", sep="\t")
        continue
    above = events[e["launch"]]
    launch = int(above["ts"])
    while above is not None and above["kind"] != "op":
        above = events.get(above.get("parent"))
    dims = above and above["args"].get("Input Dims")
    print(launch - first, int(e["ts"]) - first, above["name"] if above else "",
          json.dumps(dims, separators=(",", ":"))[:400] if dims is not None else "", sep="\t")' | sort)"
kernels=$(tl-cat -F dur --no-header --kind kernel,memcpy,memset t.tl |
	awk '{ s += $1 } END { print s }')
is 'the stacks have all GPU time' "$(python3 -c 'import json, re
text = open("p.html").read()
print(json.loads(re.search("id=\"icicle\">(.*?)</script>", text, re.S)[1])[2])')" \
	"$kernels"
is 'GPU streams have all GPU work' "$(python3 -c 'import json, re
text = open("p.html").read()
lanes = json.loads(re.search("id=\"lanes\">(.*?)</script>", text, re.S)[1])
print(sum(l["n"] for l in lanes["lanes"] if l["gpu"]))')" \
	"$(tl-cat -F id --no-header --kind kernel,memcpy,memset t.tl | wc -l)"
tl-gen --events 400000 --no-python -o big.json
tl-report --html big.html big.json
like 'a large trace' "$(page big.html)" 'spans [0-9]+ '
ok 'is at most 5 MB' [ "$(wc -c <big.html)" -lt 5000000 ]

python3 - >many.ndjson <<'END'
import json
print(json.dumps({"table": "t", "columns": [{"id": "a", "type": "text"}]}))
for i in range(2000):
    print(json.dumps({"a": "%05d" % i + "x" * 4000}))
print('{"end":{"rows":2000}}')
END
# shellcheck disable=SC2046 # a list
tl-html -o tables.html $(yes many.ndjson | head -n 40)
ok 'of 40 long tables too' [ "$(wc -c <tables.html)" -lt 3000000 ]
like 'which keep their heads' "$(page tables.html | tr '\n' ' ')" 'tables 40 rows [0-9]{3} '

# ---- by tl-report ----

if [ -x "$B/bin/tl-roofline" ]; then
	tl-gen --ranks 4 -d ranks -n 2 --late-rank 2=2000000
	tl-report --html four.html ranks/* 2>err
	is 'four ranks' $? 0
	like 'have their lanes' "$(page four.html | tr '\n' ' ')" ' lanes 2[0-9] '
	like 'and clocks' "$(grep -o '"sources":.*"lanes"' four.html)" \
		'"label":"rank 0","rank":0,"side":0,"first_ns":[0-9]+,"offset_ns":[0-9]+},'
	ok 'tl-report' tl-report --html r.html --title Mine "$SAMPLE"
	like 'has all of it' "$(page r.html | tr '\n' ' ')" '^Mine tables 3[0-9] rows'
	ok 'of the sample in less than 1 MB' [ "$(wc -c <r.html)" -lt 1000000 ]
else
	skip 'tl-report' 'tl-roofline is not built'
	skip 'has all of it' 'tl-roofline is not built'
fi

# ---- two traces ----

tl-filter --step 2 -o before.tl t.tl
tl-filter --step 3 -o after.tl t.tl
gpu_ns() { # gpu_ns FILE: all GPU time
	tl-cat -F dur --no-header --kind kernel,memcpy,memset "$1" |
		awk '{ s += $1 } END { print s }'
}
icicle() { # icicle FILE EXPRESSION: of sides, flat (the stacks), names
	python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
sides, flat, names = (json.loads(re.search("id=\"%s\">(.*?)</script>" % i, text, re.S)[1])
    for i in ("sides", "icicle", "names"))
print(eval(sys.argv[2]))' "$1" "$2"
}
ok '--vs' tl-html -o vs.html --vs after.tl before.tl
like 'a page' "$(page vs.html | tr '\n' ' ')" 'stacks [0-9]{2,} $'
is 'both times' "$(icicle vs.html 'sides, flat[2:4]')" \
	"(['before', 'after'], [$(gpu_ns before.tl), $(gpu_ns after.tl)])"
tl-html -o one.html before.tl
is 'without it one' "$(icicle one.html 'sides, flat[2]')" "([], $(gpu_ns before.tl))"
tl-html -o same.html --vs t.tl t.tl
is 'a trace and itself' "$(icicle same.html 'flat[2::4] == flat[3::4]')" True
ok '--names' tl-html -o named.html --vs after.tl --names '</script>,b&"' before.tl
is 'are names' "$(icicle named.html sides)" "['</script>', 'b&\"']"
like 'and no markup' "$(page named.html | tr '\n' ' ')" 'stacks'
# Another line, address, launch and op: linear is slower, add is new, mul is
# gone.
pair() { # pair LINE ADDRESS LAUNCH OP DUR
	cat <<END
{"traceEvents":[
{"ph":"X","cat":"python_function","name":"m.py($1): f <$2>","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},
{"ph":"X","cat":"cpu_op","name":"linear","pid":1,"tid":1,"ts":1,"dur":20,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"$3","pid":1,"tid":1,"ts":2,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"$4","pid":1,"tid":1,"ts":30,"dur":20,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"$3","pid":1,"tid":1,"ts":32,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":200,"dur":$5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":300,"dur":2,"args":{"device":0,"stream":7,"correlation":2}}
]}
END
}
pair 3 0x7f hipLaunchKernel mul 10 >p1.json
pair 9 0x88 cudaLaunchKernel add 15 >p2.json
tl-html -o pair.html --vs p2.json p1.json
is 'what is where' "$(icicle pair.html '[(flat[i], flat[i + 1] and names[flat[i + 1]], flat[i + 2], flat[i + 3])
    for i in range(0, len(flat), 4)]')" \
	"[(0, 0, 12000, 17000), (1, 'm.py: f <0xXXXX>', 12000, 17000), (2, 'linear', 10000, 15000),\
 (3, 'k', 10000, 15000), (2, 'mul', 2000, 0), (3, 'k', 2000, 0), (2, 'add', 0, 2000), (3, 'k', 0, 2000)]"
mkdir runs && cp p1.json p2.json runs
tl-html -o runs.html --vs runs p1.json
is 'of several runs the mean' "$(icicle runs.html '[(i, flat[j + 2], flat[j + 3])
    for j in range(0, len(flat), 4) for i in [names[flat[j + 1]]] if i in ("linear", "mul")]')" \
	"[('linear', 10000, 12500), ('mul', 2000, 1000)]"
tl-html -o runs.html --vs p2.json --vs p1.json p1.json p2.json p1.json
is 'on both sides' "$(icicle runs.html 'flat[2:4]')" '[13667, 14500]'
if [ -x "$B/bin/tl-roofline" ]; then
	ok 'tl-report --vs' tl-report --html both.html before.tl --vs after.tl --names old,new
	is 'has both' "$(icicle both.html 'sides, flat[2:4]')" \
		"(['old', 'new'], [$(gpu_ns before.tl), $(gpu_ns after.tl)])"
	for program in tl-timeline tl-ops tl-roofline; do
		$program --format ndjson -d other after.tl
	done
	for t in gpu_timeline ops_summary unified_perf_summary; do
		sed '1d;$d' other/$t.ndjson | python3 -c 'import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line)))' >want
		python3 -c 'import json, re, sys
for t in json.loads(re.search("id=\"tables\">(.*?)</script>", open("both.html").read(), re.S)[1]):
    if t["schema"]["table"] == sys.argv[1] and t["side"] == 1:
        for row in t["rows"]:
            print(json.dumps(row))' $t >got
		same "and the other side's $t" want got
	done
	for side in before after; do
		tl-report --html $side.html $side.tl
		is "lists of $side as in its own report" "$(python3 -c 'import json, re, sys
parts = ("idle", "op", "roofline")
def rows(page, keep):
    tables = json.loads(re.search("id=\"tables\">(.*?)</script>", open(page).read(), re.S)[1])
    summary = next(t for t in tables if t["schema"]["table"] == "summary")
    return [[r[c] for c in ("part", "name", "note", "time_ns", "percent", "count")]
            for r in summary["rows"] if r["part"] in parts and keep(r)]
side = sys.argv[1]
alone = rows(side + ".html", lambda r: True)
print({r[0] for r in alone} == set(parts), rows("both.html", lambda r: r[side + "_ns"] is not None) == alone)' $side)" \
			'True True'
	done
	like 'and both timelines' "$(page both.html | tr '\n' ' ')" \
		" lanes $((2 * $(page one.html | sed -n 's/.*lanes \([0-9]*\).*/\1/p'))) "
fi

# ---- hostile names ----

cat >evil.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"</script><script>alert(1)</script>","pid":1,"tid":1,"ts":0,"dur":50,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"<!--<script> \"'&\\ \u2028\u001b[31m \u0000 =1+1","pid":0,"tid":7,"ts":9,"dur":40,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"<img src=x onerror=alert(1)>"}}
]}
END
cp "$SAMPLE" 'a"b\c<d>.json.gz'
tl-report --html odd.html 'a"b\c<d>.json.gz'
is 'a trace of an odd name' "$(page odd.html | head -n 1)" \
	'a"b\c<d>.json.gz, rank 0 of 8, AMD Instinct MI300X'
ok 'hostile names' tl-report --html evil.html --title '</title><b>&"' evil.json
is 'stay names' "$(page evil.html | head -n 1)" '</title><b>&"'
is 'and no markup' "$(grep -c -e '<img' -e '<b>' -e '<script>alert' evil.html)" 0

# Names as long as a page, right to left, and with the end of an element.
python3 - <<'END'
import json
def x(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
names = ["\u202e" + "txet \u2067" * 3, "k" * 10000, "\U0001f600" * 3000, "\x07\x1b[2J\t\n", "</textarea><svg onload=alert(1)>",
         "a\u2028b", "${alert(1)}`", "", "\u0600" * 40, "__proto__"]
events = []
for i, n in enumerate(names):
    events += [x("cpu_op", n, 1, 1, 20 * i, 15), x("cuda_runtime", "cudaLaunchKernel", 1, 1, 20 * i + 1, 5, correlation=i + 1),
               x("kernel", n + " kernel", 0, 7, 20 * i + 9, 10, device=0, stream=7, correlation=i + 1)]
open("names.json", "w").write(json.dumps({"traceEvents": events}))
END
ok 'names of all kinds' tl-report --html names.html names.json
like 'are a page' "$(page names.html | tr '\n' ' ')" 'lanes 2 spans [0-9]+ stacks [0-9]+ $'
ok 'of a size' [ "$(wc -c <names.html)" -lt 500000 ]
like 'that can load nothing' "$(cat names.html)" \
	'Content-Security-Policy" content="default-src .none.;'

# ---- without GPU work ----

tl-cat --ndjson t.tl | python3 -c 'import json, sys
events = [json.loads(line) for line in sys.stdin]
print(json.dumps({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": e["name"], "pid": 1, "tid": e.get("tid", 1),
     "ts": e["ts"] / 1000 if isinstance(e["ts"], int) else float(e["ts"]) / 1000, "dur": e["dur"] / 1000, "args": {}}
    for e in events if e.get("kind") == "op"]}))' >host.json
tl-html -o host.html host.json
is 'stacks are those of the host' \
	"$(icicle host.html 'flat[2]') $(grep -o 'id="clock">[^<]*' host.html)" \
	"$(tl-fold --clock cpu host.json | awk '{ s += $NF } END { print s }') id=\"clock\">\"host\""
is 'by their own time' "$(icicle host.html 'sum(flat[2::3]) > flat[2] and min(flat[2::3]) >= 0')" True
cat >nest.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"top","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"x1","pid":1,"tid":1,"ts":10,"dur":20},
{"ph":"X","cat":"cpu_op","name":"x2","pid":1,"tid":1,"ts":40,"dur":30},
{"ph":"X","cat":"cpu_op","name":"mid","pid":1,"tid":1,"ts":50,"dur":15},
{"ph":"X","cat":"cpu_op","name":"x3","pid":1,"tid":1,"ts":55,"dur":5}]}
END
tl-tree nest.json | tl-filter --name 'x*' -o part.tl -
tl-html -o part.html part.tl
is 'what was filtered out has no time, and what is beside stands beside' \
	"$(icicle part.html '[(flat[i], names[flat[i + 1]], flat[i + 2]) for i in range(0, len(flat), 3)]')" \
	"[(0, '', 50000), (1, 'top', 50000), (2, 'x2', 30000), (3, 'mid', 5000), (4, 'x3', 5000), (2, 'x1', 20000)]"
is 'as folded' "$(tl-fold --clock cpu part.tl | sort)" 'top;x1 20000
top;x2 25000
top;x2;mid;x3 5000'
tl-html -o piped.html - <host.json
is 'a pipe, too' "$(icicle piped.html 'len(flat)')" "$(icicle host.html 'len(flat)')"
tl-html -o hosts.html --vs host.json host.json
is 'two of them too' "$(icicle hosts.html 'flat[2] == flat[3] > 0')" True
is 'a GPU has its own' "$(grep -o 'id="clock">[^<]*' p.html)" 'id="clock">"GPU"'

# ---- in a browser ----

for browser in chromium chromium-browser google-chrome ''; do
	! sanitized || browser='' # it is no program of ours
	[ -z "$browser" ] || ! command -v $browser >/dev/null || break
done
drawn() { # drawn FILE [OPTION]: the page in the browser
	# shellcheck disable=SC2086 # an option or none
	python3 "$ROOT/tests/oracle/browser.py" "$browser" "$TMP/browser" "$1" ${2-} 2>browser.err
}
# asked PAGE EXPRESSION [OPTION]: a value from the script of the drawn page
asked() {
	# shellcheck disable=SC2016 # the browser's
	{
		cat "$1"
		printf '<script>window.driving = true; const wait = () => document.body.dataset.ready ?\n'
		printf 'document.body.dataset.said = String(%s) : setTimeout(wait, 10); wait();</script>\n' "$2"
	} >asked.html
	drawn asked.html ${3:+"$3"} | grep -o 'data-said="[^"]*"'
}
[ ! -f r.html ] || cat r.html "$ROOT/tests/cli/page-drive.html" >driven.html
if [ -n "$browser" ] && [ -f driven.html ] &&
	drawn driven.html >dom && grep -q data-ready dom; then
	like 'a browser draws it' "$(grep -o 'data-ready' dom)" .
	is 'without complaint' "$(grep -i 'console' browser.err)" ''
	like 'the verdict' "$(cat dom)" 'id="verdict"><p>Partly communication-bound: '
	like 'a roofline' "$(cat dom)" '<circle'
	like 'MFU, and the window of the bar' "$(cat dom)" '<p>MFU [^<]*</p>.*<b>GPU, 3 steps: [0-9.]+ ms</b>'
	like 'why the GPU is idle' "$(cat dom)" '<h2>Idle by cause</h2>'
	slowest=$(tl-steps -c step,wall_ns --no-header t.tl |
		awk '$2 > m { m = $2 } END { printf "%.3f ms", m / 1e6 }')
	is 'fingers, keys, folding, search, filter and sorting' \
		"$(sed -n 's/.*data-said="\([^"]*\)".*/\1/p' dom | tr ';' '\n')" \
		'first screen painted true
 timeline pinched true dragged true whole true
 stacks pinched true dragged true whole true
 roofline pinched true dragged true whole true
 tapped true 2
 zoom true
 pan true
 all true
 timeline found '"$(tl-cat -F name --kind kernel --no-header t.tl | grep -c ncclDev)"' matches
 details duration,start,on,category,grid,launched by,launch true true
 spans true,true,true,true
 threads true
 walk true
 whole true
 background rgb(255, 255, 255)
 chains true
 found '"$(tl-fold t.tl | awk '{ s += $NF } /[aA]ddmm/ { f += $NF }
			END { printf "%.1f", 100 * f / s }')"' % matches
 filter true
 says c descending
 sort true
 steps 3 step 2: '"$slowest"', slowest row 2 step '"$slowest"'
 beside step 1
 path critical_path
 labels 5, roofs matrix bf16 1307 TFLOP/s | vector bf16, vector fp32 163.4 TFLOP/s | memory 5.3 TB/s
 numbered 1,2,3,4,5 addmm [[50304],[2048,1024],[1024,50304]], in bubbles 1,2,3,4,5
 row aten::addmm
 clicked aten::mm
 gain true row in unified_perf_summary aten::addmm
 op aten::mm [[2048 true closer true stops 1
 roofline whole true
 columns name,kernel_sum,input_dims,pct_of_kernel,pct_roofline_mean,lost
 chosen 1 true
 wide true
 kernel duration,start,on,category,grid,module,launched by,launch
 by aten::addmm [[1024],[2048,1024],[1024,1024]] 
 its row aten::addmm
 call hipLaunchKernel 1 event
 arrows 1
 crumbs 2 train.py(140
 back 0 true
 clock Host time by stack
 clock GPU time by stack
 nameless 
 contrast P:too pale
 small 0
 without width 0'
	like 'heads say of what they are' "$(cat dom)" '<th class="n" scope="col"[^>]*>share<'
	like 'a long name has its end, and is whole in its title' "$(cat dom)" \
		'<td title="[^"]*"><div class="mid"><span>[^<]*</span><span>[^<]{5,18}</span></div></td>'
	drawn driven.html --window-size=390,800 >dom
	like 'on a phone nothing is small or without width' "$(grep -o 'data-said="[^"]*"' dom)" \
		'small 0; without width 0"'
	drawn driven.html --force-dark-mode >dom
	like 'dark where that is wanted' "$(grep -o 'data-said="[^"]*"' dom)" \
		' zoom true;.*background rgb\(27, 28, 30\)'
	(cat names.html
		echo '<script>document.body.dataset.said = document.querySelectorAll("[onload]").length;</script>'
	) >named.html
	drawn named.html >dom
	is 'names of all kinds' "$(grep -o 'data-ready' dom) $(grep -o 'data-said="[^"]*"' dom)" \
		'data-ready data-said="0"'
	is 'without complaint' "$(grep -i 'console' browser.err)" ''
	drawn host.html >dom
	like 'of the host' "$(cat dom)" '>Host time by stack</h2>'
	drawn four.html >dom
	like 'ranks under one another' "$(cat dom)" \
		'<span class="name">2</span>.*late: throttled'
	like 'in the window of the verdict' "$(cat dom)" '>Each rank, [0-9]+ steps</div>'
	is 'by the times of the screen' "$(sed 's/<div class="row"/\n&/g' dom |
		sed -n 's/.*<span class="name">\([0-9]*\)<.*<span class="time">\([^<]*\).*/\1 \2/p' | sort)" \
		"$(tl-report --width 100 ranks/* 2>err | sed -n 's/^ *\([0-9]\) \[.*\] *\([0-9.]* [mu]s\).*/\1 \2/p')"
	is 'whose bars have room on a phone' "$(asked four.html \
		'document.querySelector("#ranks .room").clientWidth > innerWidth * .45' --window-size=390,800)" 'data-said="true"'
	{
		cat four.html
		cat <<'END'
<script>window.driving = true;
const wait = async () => {
  if (!document.body.dataset.ready) return setTimeout(wait, 10);
  await send('Emulation.setEmulatedMedia', { media: 'print' });
  const rows = [...document.querySelectorAll('#table tbody tr')].map(r => r.offsetHeight);
  document.body.dataset.said = (rows.length > 20) + ' ' + (Math.max(...rows) < 80);
};
wait();</script>
END
	} >printed.html
	is 'on paper no row takes half a sheet' "$(drawn printed.html --window-size=1000,700 | grep -o 'data-said="[^"]*"')" \
		'data-said="true true"'
	drawn four.html >dom
	like 'the late one first' "$(grep -o '<span class="name">[0-9]*</span>' dom | head -n 1)" '>2<'
	drawn both.html >dom
	like 'what changed' "$(cat dom)" 'id="verdict">.*<p>GPU time [^<]*</p>'
	like 'what limits each, and its MFU' "$(cat dom)" \
		'<p>old: MFU [^<]*</p>.*<p>new: [^<]*-bound[^<]*: .*<p>new: MFU [^<]*</p>'
	like 'whose time can be won back' "$(cat dom)" '<ul id="gains"><li>[^<]*: old: .*</li><li>[^<]*: new: '
	like 'in a table' "$(cat dom)" '<h2>What changed most</h2><table><tr><th[^>]*>name</th><th[^>]*>old</th>'
	drawn pair.html >dom
	like 'a legend of two traces' "$(cat dom)" 'id="legend"[^>]*><span>[^<]*after less before</span>.*only before.*only after'
	drawn both.html >dom
	is 'bars of both, as on the screen' "$(grep -o '<b>\(old\|new\), [^<]*</b>' dom | sed 's/<[^>]*>//g; s/, /: GPU, /')" \
		"$(tl-report before.tl --vs after.tl --names old,new | grep ': GPU, ')"
	is 'ops, rooflines and what is lost of both' \
		"$(grep -o '<h2>\(Top ops\|Lost to\|Roofline\|Categories\)[^<]*</h2>' dom | sed 's/ (.*//; s/<[^>]*>//g' | tr '\n' ,)" \
		'Top ops: old,Top ops: new,Lost to the roofline: old,Lost to the roofline: new,Roofline: old,Roofline: new,Categories: old,Categories: new,'
	# What is at the same height, and what has a row of its own.
	is 'each beside its counterpart' "$(asked both.html \
		'[...[...document.querySelectorAll(".two > div")].filter(e => e.querySelector("h2")).reduce((m, e) =>
			m.set(e.offsetTop, [...(m.get(e.offsetTop) || []), e.querySelector("h2").textContent.replace(/ \(.*/, "")]),
			new Map()).values()].map(l => l.join(" | ")).filter(l => /: (old|new)/.test(l))' --window-size=1400,900)" \
		'data-said="Steps: old | Steps: new,Critical path: old | Critical path: new,Launches by API: old,Idle by cause: old | Idle by cause: new,Top ops: old | Top ops: new,Lost to the roofline: old | Lost to the roofline: new,Roofline: old | Roofline: new,Categories: old | Categories: new"'
	grep '"kernel"' p1.json | python3 -c 'import json, sys
print(json.dumps({"traceEvents": [json.loads(line.rstrip(",\n")) for line in sys.stdin]}))' >kernels.json
	tl-report --html kernels.html kernels.json --vs kernels.json >out 2>err
	drawn kernels.html >dom
	is 'kernels of both where there are no ops' \
		"$(grep -o '<h2>Top [^<]*</h2>' dom | sed 's/<[^>]*>//g' | tr '\n' ,)" \
		'Top kernels: before,Top kernels: after,'
	tl-report --html jobs.html ranks/* --vs ranks 2>err
	drawn jobs.html >dom
	mean=$(tl-idle --steps --table idle_window -c window_ns --no-header ranks/* |
		awk '{ s += $NF; n++ } END { printf "%.3f ms, mean of %d", s / n / 1e6, n }')
	is 'of several ranks their mean' "$(grep -o '<b>[a-z]*, [^<]*</b>' dom | sed 's/, [0-9]* steps:/,/' | tr '\n' ' ')" \
		"<b>before, $mean</b> <b>after, $mean</b> "
	like 'and the bars of the ranks of one side' "$(cat dom)" '>before: each rank, [0-9]+ steps</div>'
	drawn both.html >dom
	is 'their tables by name' "$(grep -o '<option[^>]*>unified_perf_summary[^<]*' dom | sed 's/.*>//; s/ (.*//' | tr '\n' ,)" \
		'unified_perf_summary: old,unified_perf_summary: new,'
	is 'those of one side, and of both' "$(grep -o '<option[^>]*>\(diff_ops_summary\|steps\|idle\)\(:[^<]*\)\? (' dom |
		sed 's/.*>//; s/ (.*//' | sort | tr '\n' ,)" 'diff_ops_summary,idle: new,idle: old,steps: new,steps: old,'
	drawn pair.html >dom
	is 'what one of them has' "$(grep -o '<h2>Only in.*' dom | grep -o '<td[^>]*>[a-z]*<' | sed 's/.*>\(.*\)</<td>\1/' | tr '\n' ' ')" \
		'<td>mul <td>add '
	is 'without complaint' "$(grep -i 'console' browser.err)" ''
	drawn same.html >dom
	is 'nothing is only here' "$(grep -c '<h2>Only in' dom)" 0
	drawn evil.html >dom
	like 'hostile names' "$(grep -o 'data-ready' dom)" .
	like 'are text' "$(cat dom)" '&lt;/script&gt;&lt;script&gt;alert\(1\)'
	is 'and nothing else' "$(grep -c '<img' dom)" 0
else
	skip 'a browser draws it' 'no chromium that works here'
fi

# ---- what goes wrong ----

refuses 2 'is missing: a page needs a FILE' 'tl-html t.tl'
refuses 2 'not two names' 'tl-html -o x.html --names a --vs t.tl t.tl'
refuses 1 'nosuch' 'tl-html -o x.html --vs nosuch t.tl'
refuses 1 'no table: the file is empty' ': >cut.ndjson; tl-html -o x.html cut.ndjson'
head -n 3 ops.ndjson >cut.ndjson
refuses 1 'cut.ndjson: the table was cut off' 'tl-html -o x.html cut.ndjson'
head -c 1000 ops.ndjson >cut.ndjson
refuses 1 'cut.ndjson: line [0-9]+: the table was cut off' \
	'tl-html -o x.html cut.ndjson'
sed '2s/:/;/' ops.ndjson >bad.ndjson
refuses 1 'bad.ndjson: line 2: ' 'tl-html -o x.html bad.ndjson'
echo '{"a":1}' >no.ndjson
refuses 1 'no schema line' 'tl-html -o x.html no.ndjson'
head -c 5000 t.tl >cut.tl
refuses 1 'cut off' 'tl-html -o x.html cut.tl'
is 'no page is left' "$(echo x.html*)" 'x.html*'
refuses 1 'No space left' 'tl-html -o /dev/full t.tl'
page_examples tl-html.1
done_testing
