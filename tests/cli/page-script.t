#!/bin/sh
# SPDX-License-Identifier: MIT
# The page's script, run without a browser: numbers, names and colours.
# tl-html.t tests whole pages.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

command -v node >/dev/null || skip_all 'no node here'

cat >stub.js <<'EOF2'
// As much of a browser as the first lines ask for.
const texts = { tables: '[]', names: '[""]', sides: '["a","b"]' };
const style = { getPropertyValue: () => ' #123 ' };
globalThis.document = { getElementById: id => ({ textContent: texts[id] }),
  documentElement: {} };
globalThis.getComputedStyle = () => style;
globalThis.addEventListener = () => {};
globalThis.matchMedia = () => ({ addEventListener: () => {} });
EOF2

says() { # says NAME EXPRESSION WANT
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/first.js"
	echo "console.log(String($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}

says 'times choose their unit' \
	'[0, 999, -1500, 2.5e6, 3e9].map(time).join(" | ")' \
	'0 ns | 999 ns | -1.50 us | 2.500 ms | 3.000 s'
says 'as the screen has them' '[1500, 2.5e6].map(brief).join(" | ")' \
	'1.5 us | 2.500 ms'
says 'the ending of a kernel goes' '[bare("k.kd"), bare("k [clone .kd]")]' 'k,k'
says 'a figure keeps its percent sign' 'figures("12 % of 3 %").length' 11
says 'empty lists at the end of shapes go' 'scalars("[[1,2],[],[]]")' '[[1,2]]'
says 'where names begin to differ' \
	'places(["a_common_beginning_of_names_one_and_more_of_it", "a_common_beginning_of_names_two_and_more_of_it", "other"])' \
	'28,28,0'
says 'differences have a sign' '[signed(1500), signed(-2.5e6)].join(" | ")' \
	'+1.5 us | −2.500 ms'
says 'ratios, and what is on one side only' \
	'[change(2, 3), change(0, 1), change(1, 0)]' '1.500,new,gone'
says 'the same is light, the most that was lost or won the deepest' \
	'[tint(0, 8), tint(8, 8), tint(9, 8), tint(-8, 8), ink(8, 8), ink(0, 8), tint(0, 0)].join(" ")' \
	'rgb(245,245,245) rgb(179,88,6) rgb(179,88,6) rgb(33,102,172) #fff #000 rgb(245,245,245)'
says 'the largest by name; without the whole table no share' \
	"[0, 3].map(left => topOf({ left, rows: [{ name: 'a', t: 1, count: 2 }, { name: 'b', t: 6, count: 1 },
		{ name: 'a', t: 1, count: 3 }] }, 't').map(r => [r.name, r.time_ns, r.count, r.percent]).join(' ')).join(' | ')" \
	'b,6,1,75 a,2,5,25 | b,6,1, a,2,5,'
tables='[{ side: 1, schema: { table: "gpu_timeline" }, rows: [{ type: "total_time", time_ns: 40 }, { type: "kernel", time_ns: 10 },
	{ type: "busy_time", time_ns: 10 }, { type: "idle", time_ns: 30 }] }]'
says 'the bar of the other side, of kernels alone' \
	"(tables.push(...$tables), barParts(1).map(r => [r.name, r.time_ns, r.percent]).join(' '))" \
	'kernels,10,25 idle,30,75'
rows='[{ side: 0, listed: true, schema: { table: "other", columns: [{ id: "uid" }] }, rows: [{ uid: 7, name: "o" }] },
	{ side: 0, listed: true, schema: { table: "idle", columns: [{ id: "rank" }, { id: "longest_uid" }] },
	rows: [{ rank: 1, longest_uid: 7, name: "a" }, { rank: 10, longest_uid: 7, name: "b" }] }]'
says 'the row of an id: of the table that tells gains, of the rank that is named' \
	"(tables.push(...$rows), ['x (uid 7)', 'x (uid 7 of rank 10)'].map(s => rowOf(7, s, 0)[1].name).concat(rowOf(8, 'x', 0)).join(' '))" \
	'a b '
says_figure() { # says_figure NAME EXPRESSION WANT: of the figures' functions
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/figures.js"
	echo "console.log(String($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}
rows='{ compute_spec: "matrix_bf16", roof_tflop_s: 1000, roof_tb_s: 5, kernel_ns_sum: 7 },
{ compute_spec: "vector_bf16", roof_tflop_s: 100, roof_tb_s: 5, kernel_ns_sum: 20 },
{ compute_spec: "vector_fp32", roof_tflop_s: 100, roof_tb_s: 5, kernel_ns_sum: 30 },
{ compute_spec: "matrix_fp64", roof_tflop_s: 60, roof_tb_s: 5, kernel_ns_sum: 1 },
{ compute_spec: null, roof_tflop_s: null, roof_tb_s: 5, kernel_ns_sum: 90 }'
says_figure 'the roofs of what took most, those of one rate as one' \
	"JSON.stringify(roofsOf([$rows]))" \
	'{"memory":5,"specs":[{"name":"matrix bf16","rate":1000,"ns":7},{"name":"vector fp32, vector bf16","rate":100,"ns":30}]}'
says_figure 'memory alone bounds what has no FLOPs; of an unknown GPU there is no roof' \
	'JSON.stringify([roofsOf([{ roof_tb_s: 5 }]), roofsOf([{ roof_tb_s: null }])])' \
	'[{"memory":5,"specs":[]},{"memory":0,"specs":[]}]'
says_figure 'ticks: decades, or 1, 2, 5 of them where there is room' \
	'[ticks(-1, 2.5), ticks(.5, 1.8)].map(l => l.map(tickText).join(",")).join(" | ")' \
	'0.1,1,10,100 | 5,10,20,50'
says_view() { # says_view NAME EXPRESSION WANT: of what is seen
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/gestures.js"
	echo "console.log(JSON.stringify($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}
says_view 'a view moves within what there is, and keeps its width' \
	'[within([0, 100], 1, [-5, 15]), within([0, 100], 1, [90, 130]), within([0, 100], 10, [50, 51]), within([0, 100], 1, [-50, 90])]' \
	'[[0,20],[60,100],[50,60],[0,100]]'
says_view 'and is closer about a place, up to the least' \
	'[closer([0, 100], 2, 25, 1), closer([0, 100], .5, 50, 1), closer([0, 10], 4, 0, 5)]' \
	'[[12.5,62.5],[-50,150],[0,5]]'
says_figure 'an op of several ranks has one name' \
	"firstOps([{ name: 'aten::mm', rank: 1 }, { name: 'aten::mm', rank: 0 }, { name: 'aten::mm', input_dims: [[8, 9]], rank: 0 },
		{ name: 'aten::add', rank: 2 }], 2).map(r => r.rank + JSON.stringify(r.input_dims || '')).join(' ')" '1"" 0[[8,9]]'
says_figure 'words stand apart' \
	'apart([10, 10, 11, 60].map(y => ({ x: 0, y: y + 40, word: "abc" })), 0, 100).map(l => l.y)' '50,62,75,88'
says_figure 'however many there are' \
	'new Set(apart(Array.from({ length: 9 }, (_, i) => ({ x: 0, y: 150 + i * 5 % 12, word: "abc" })), 0, 400)
		.map(l => l.y).sort((a, b) => a - b).map((y, i, l) => i && y - l[i - 1] < 12)).has(true)' false
# ---- whole pages ----
drawn() { # drawn PAGE ID...: what its script puts into these elements
	node "$ROOT/tests/oracle/page_run.js" "$@" 2>&1
}
for t in ops_summary_by_category category_share; do
	cat <<END
{"table":"$t","columns":[{"id":"op_category"},{"id":"time_ns","unit":"ns"},{"id":"direct_ns_sum"}]}
{"op_category":"a","time_ns":3,"direct_ns_sum":0}
{"op_category":"b","time_ns":1,"direct_ns_sum":0}
{"end":{"rows":2}}
END
done >two.ndjson
tl-html -o two.html two.ndjson
is 'a figure is drawn from the last of its tables; what is for figures is not listed' \
	"$(drawn two.html figures which)" 'figures 11, which 1'
if command -v tl-roofline >/dev/null; then # all of its figures
	tl-report "$SAMPLE" --html r.html 2>/dev/null
	like 'all of a report' "$(drawn r.html figures which table tops)" \
		'^figures [0-9]{3,}, which [0-9]{1,}, table [0-9]{2,}, tops [0-9]{2,}$'
	like 'gaps have the colour of their reason, and what could be won back a line' \
		"$(drawn r.html tlkey gains)" '^tlkey [0-9]{1,}, gains ([2-9]|[1-9][0-9])$'
fi
# copies that an op launched, and those that another op launched for it, have
# its
# category, as in the table
if command -v tl-ops >/dev/null; then
	{
		ev cpu_op aten::mul 1 0 40
		ev cuda_runtime cudaLaunchKernel 1 1 2 '"correlation":1'
		ev kernel k 7 10 100 '"correlation":1,"device":0,"stream":7'
		ev cpu_op aten::convolution 1 100 40
		ev cpu_op aten::add_ 1 110 20
		ev cuda_runtime cudaLaunchKernel 1 111 2 '"correlation":2'
		ev kernel k 7 120 7 '"correlation":2,"device":0,"stream":7'
		ev cpu_op aten::copy_ 1 200 40
		ev cuda_runtime cudaMemcpyAsync 1 201 2 '"correlation":3'
		ev gpu_memcpy 'Memcpy HtoD (Pinned -> Device)' 7 210 50 '"correlation":3,"device":0,"stream":7'
	} | trace >copies.json
	is 'the table' "$(rows 'tl-ops --table ops_summary_by_category -c op_category,direct_ns_sum copies.json')" \
		'elementwise 157000.'
	tl-report copies.json --html copies.html 2>err
	is 'the key of the timeline' "$(drawn --text copies.html tlkey)" \
		'elementwise 107.0 us + 50.0 us copies|copies 50.0 us|idle: host'
fi
says_gap() { # says_gap NAME EXPRESSION WANT: of the marks of two gaps
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/spans.js"
	cat <<'END'
tables.push({ schema: { table: 'idle_gaps' }, rows: [
  { rank: 4, ts_ns: 10, gap_ns: 2000, class: 'data', cause: 'data', cause_ns: 1500, call: 'next', call_uid: 7 },
  { src: 0, ts_ns: 90, gap_ns: 5, class: 'gpu', cause: 'queue_gap', cause_ns: 5, call: null, call_uid: null }] });
const marks = gaps([{ rank: 3 }, { rank: 4, first_ns: 8 }]);
END
	echo "console.log(String($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}
says_gap 'a gap is of the source of its rank' 'marks.map(m => m.src)' '1,0'
says_gap 'on the clock of its spans' 'marks.map(m => m.at)' '2,90'
says_gap 'and says why it is there' 'marks.map(m => m.text.split(String.fromCharCode(10)).join(" / ")).join(" | ")' \
	'idle 2.00 us / data 1.50 us / next (uid 7) | idle 5 ns / queue_gap 5 ns'
# CIE 1976 distance of any two colours of solid spans, and of any two of hatched
# gaps
says_spans() { # says_spans NAME EXPRESSION WANT
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/spans.js"
	cat <<'END'
const lab = hex => {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const [x, y, z] = [(.4124 * r + .3576 * g + .1805 * b) / .9505, .2126 * r + .7152 * g + .0722 * b,
    (.0193 * r + .1192 * g + .9505 * b) / 1.089].map(t => t > .008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};
const near = list => list.flatMap((a, i) => list.slice(i + 1).filter(b =>
  Math.hypot(...lab(a).map((v, k) => v - lab(b)[k])) < 20).map(b => a + ' ' + b));
END
	echo "console.log(String($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}
says_spans 'no two categories have like colours' 'near([...Object.values(tints), ...spare])' ''
says_spans 'nor have two causes of gaps' 'near(Object.values(reasons))' ''
says_spans 'like colours are seen' "near(['#e0954a', '#d9822b', '#3b76b5'])" '#e0954a #d9822b'
says_spans 'gaps are hatched, not solid' "hatched('#d9822b')" \
	'repeating-linear-gradient(-45deg,#d9822b 0 2px,transparent 0 4.95px)'
says_steps() { # says_steps NAME EXPRESSION WANT
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/first.js" "$ROOT/cmd/tl-html/steps.js"
	cat <<'END'
const step = (step, wall_ns, gpu_wall_ns, what) => ({ what: what || 'step', step, pid: 1, wall_ns, gpu_wall_ns });
const list = [step(1, 50, 8), step(2, 60, null), step(2, 70, 9, 'between'), step(3, 40, 9)];
const bars = clock => stepTimes(list, { step_time: clock, slowest: 2, pid: 1 })
  .map(s => s.row.step + ' ' + s.ns + (s.slowest ? ' slowest' : '')).join(', ');
END
	echo "console.log(String($2));") >one.js
	is "$1" "$(node one.js 2>&1)" "$3"
}
says_steps 'steps by wall time, not what is between' 'bars("wall")' '1 50, 2 60 slowest, 3 40'
says_steps 'or by the GPU' 'bars("gpu_wall")' '1 8, 3 9'
says_steps 'of very many the longest' \
	'(l => [l.length, l[0].ns, l[199].ns])(stepTimes(Array.from({ length: 300 }, (_, i) => step(i, i)), undefined))' '200,100,299'
says_steps 'the path by bound' \
	'[...bounds([{ bound: "a", time_ns: 3 }, { bound: "b", time_ns: 4 }, { bound: "a", time_ns: 2 }])].join(" ")' 'a,5 b,4'
done_testing
