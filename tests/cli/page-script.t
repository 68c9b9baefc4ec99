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
done_testing
