#!/bin/sh
# SPDX-License-Identifier: MIT
# What the page's script computes, run without a browser: numbers, names and
# colours. tl-html.t looks at whole pages.
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
says 'the same is white, twice as long the deepest' \
	'[tint(1, 1), tint(1, 2), tint(1, 9), ink(1, 2), ink(1, 1)].join(" ")' \
	'rgb(245,245,245) rgb(179,88,6) rgb(179,88,6) #fff #000'
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
	"$(drawn two.html cats which roof)" 'cats 8, which 1, roof 0'
if command -v tl-roofline >/dev/null; then # all of its figures
	tl-report "$SAMPLE" --html r.html 2>/dev/null
	like 'all of a report' "$(drawn r.html cats roof which table tops)" \
		'^cats [0-9]{1,}, roof [0-9]{2,}, which [0-9]{1,}, table [0-9]{2,}, tops [0-9]{2,}$'
	like 'gaps have the colour of their reason, and what could be won back a line' \
		"$(drawn r.html tlkey gains)" '^tlkey [0-9]{1,}, gains [2-9]$'
fi
says_gap() { # says_gap NAME EXPRESSION WANT: of the marks of two gaps
	(cat stub.js "$ROOT/cmd/tl-html/base.js" "$ROOT/cmd/tl-html/timeline.js"
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
done_testing
