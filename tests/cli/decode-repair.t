#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-decode --repair: what can't be right is mended, counted and reported.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

plant() { python3 "$ROOT/tests/gen/health.py" "$@"; }
fact() { tl-cat "$1" | jq -c 'select(.source.final).source.facts.repaired'; }
# checks FILE: findings of time and file
checks() { tl-health -q -c check,count --no-header "$1" 2>err | grep -e '^time' -e '^file' | tr '\t\n' ': '; }

# ---- kernels that overrun the next ----
plant overrun=4 >in.json
tl-decode --repair clip-overrun in.json -o out.tl 2>err
is 'status' $? 0
is 'it is said' "$(cat err)" 'tl-decode: in.json: repaired by tl-decode: clip-overrun 4'
# each lasts 2 periods and 40.123 us, until the next but one; it is cut after
# one
is 'the fact' "$(fact out.tl)" \
	"{\"clip-overrun\":{\"n\":4,\"ns\":$(python3 -c 'print(4 * (100500 * 2 + 30123 + 10000 - 201000))')}}"
is 'the repaired events, and no other' "$(tl-cat --tsv -F id,dur out.tl >a; tl-decode in.json | tl-cat --tsv -F id,dur >b
	diff b a | grep '^>' | tr '\t' ':' | tr '\n' ' ')" \
	'> 84:201000 > 88:201000 > 92:201000 > 96:201000 '
is 'the check finds none' "$(checks out.tl)" 'file.repaired:4 '
is 'before it did' "$(checks in.json)" 'time.overrun:4 '
is 'twice is once' "$(tl-decode --repair clip-overrun in.json 2>err | tl-cat --tsv -F id,dur | cksum)" "$(cksum <a)"
is 'who prints figures notes it' "$(tl-kernels out.tl 2>&1 >out; echo $?)" \
	'tl-kernels: out.tl: repaired by tl-decode: clip-overrun 4
0'
is 'it is in the provenance' "$(tl-cat out.tl | head -n 1 | jq -c '.prov[0].args')" \
	'["--repair","clip-overrun","in.json","-o","out.tl"]'

# ---- events that can't be ----
plant zero=3 >in.json
tl-decode --repair drop-impossible in.json -o out.tl 2>err
is 'at time 0' "$(fact out.tl) $(checks out.tl)" '{"drop-impossible":{"n":3}} file.repaired:3 '
is 'the first event and their number are those that stay' \
	"$(tl-cat out.tl | jq -r 'select(.source.final).source.facts | .first, .events' | tr '\n' ' ')" \
	"$(tl-cat --tsv -F ts --no-header out.tl | sort -n | head -n 1) $(tl-cat --tsv -F ts --no-header out.tl | grep -c .) "
is 'they are gone' "$(tl-cat out.tl | jq -r 'select(.kind == "kernel").id' | head -n 1)" 87
plant huge=2 negative=1 >in.json
tl-decode --repair drop-impossible in.json -o out.tl 2>err
is 'over a day, and negative' "$(fact out.tl) $(checks out.tl)" '{"drop-impossible":{"n":3}} file.skipped:1 file.repaired:3 '

# ---- bytes ----
plant >in.json
python3 - <<'EOT'
text = open("in.json", "rb").read()
at = text.index(b"aten::mm")
open("bad.json", "wb").write(text[:at] + b"\xff\xc3(" + text[at:])
print(at, file=open("at", "w"))
EOT
refuses 1 'invalid UTF-8' 'tl-decode bad.json -o x.tl'
tl-decode --repair fix-utf8 bad.json -o out.tl 2>err
is 'bytes that are no UTF-8' "$? $(fact out.tl)" "0 {\"fix-utf8\":{\"n\":2,\"first\":$(cat at)}}"
is 'the name' "$(tl-cat out.tl | jq -r 'select(.kind == "op").name' | head -n 1)" "$(printf '\357\277\275\357\277\275(aten::mm')"
is 'it is said' "$(cat err)" 'tl-decode: bad.json: repaired by tl-decode: fix-utf8 2'
{ printf '\357\273\277\n '; cat bad.json; } >behind.json
is 'behind a byte order mark and white space' \
	"$(tl-decode --repair fix-utf8 behind.json 2>/dev/null | tl-cat | jq -c 'select(.id)' | cksum)" \
	"$(tl-cat out.tl | jq -c 'select(.id)' | cksum)"
python3 - <<'EOT'
import random
rng = random.Random(7)
text = open("in.json", "rb").read().decode()
names = "".join(rng.choice(["\u00e9", "\u20ac", "\U0001f600", "a"]) for _ in range(200000))
open("wide.json", "w").write(text.replace("aten::mm", names, 1))
EOT
is 'of what is UTF-8 nothing is changed, across windows' \
	"$(tl-decode --repair fix-utf8 wide.json | tl-cat | jq -c 'del(.prov)' | cksum)" \
	"$(tl-decode wide.json | tl-cat | jq -c 'del(.prov)' | cksum)"
python3 - <<'EOT'
import zipfile
with zipfile.ZipFile("one.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("bad.json")
with zipfile.ZipFile("two.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("in.json")
    z.write("bad.json")
EOT
if tl-decode --repair fix-utf8 one.zip -o zip.tl 2>err; then
	is 'in a zip archive' "$(tl-cat zip.tl | jq -c 'select(.id)' | cksum)" \
		"$(tl-cat out.tl | jq -c 'select(.id)' | cksum)"
	is 'where, in its member' "$(fact zip.tl)" "$(fact out.tl)"
	tl-decode --repair fix-utf8 two.zip -o zip.tl 2>err
	is 'of two members in the one' "$(cat err)" \
		'tl-decode: two.zip/bad.json: repaired by tl-decode: fix-utf8 2'
	tl-decode --repair all two.zip -o zip.tl 2>err
	is 'whatever else is repaired' "$(fact zip.tl | tail -n 1)" "$(fact out.tl)"
else
	like 'without minizip' "$(cat err)" 'lacks minizip'
fi
gzip -k bad.json
is 'compressed, and from a pipe' "$(tl-decode --repair fix-utf8 2>err <bad.json.gz | tl-cat | jq -c 'select(.id)' | cksum)" \
	"$(tl-cat out.tl | jq -c 'select(.id)' | cksum)"

# ---- all, and none ----
plant overrun=2 huge=1 >in.json
python3 - <<'EOT'
text = open("in.json", "rb").read()
open("all.json", "wb").write(text.replace(b"aten::mm", b"aten::m\xff", 1))
EOT
tl-decode --repair all all.json -o out.tl 2>err
is 'all: one fact' "$(fact out.tl | jq -c 'map_values(.n)')" '{"fix-utf8":1,"clip-overrun":2,"drop-impossible":1}'
is 'all: one line' "$(cat err)" \
	'tl-decode: all.json: repaired by tl-decode: fix-utf8 1, clip-overrun 2, drop-impossible 1'
plant >in.json
is 'nothing to mend: nothing is said or changed' \
	"$(tl-decode --repair all in.json 2>err | tl-cat | jq -c 'del(.prov)' | cksum) $(cat err)" \
	"$(tl-decode in.json | tl-cat | jq -c 'del(.prov)' | cksum) "
is 'without it nothing is mended' "$(plant overrun=4 | tl-decode | tl-cat | jq -c 'select(.source).source.facts.repaired' | sort -u)" null
plant overrun=4 >in.json
cp in.json two.json
tl-decode --repair all -d dir in.json two.json 2>err
is '-d: a fact each' "$(fact dir/in.tl)$(fact dir/two.tl)" "$(fact dir/in.tl)$(fact dir/in.tl)"
like '-d: it is there' "$(fact dir/two.tl)" '"n":4'
is 'two sources: a fact each' "$(tl-decode --repair all in.json two.json 2>err | tl-cat |
	jq -c 'select(.source.final).source.facts.repaired."clip-overrun".n' | tr '\n' ' ')" '4 4 '
head -c 9000 in.json >cut.json
refuses 1 'cut off' 'tl-decode --repair all cut.json -o x.tl'
tl-decode --salvage --repair all cut.json -o x.tl 2>err
is 'salvaged and mended' $? 3
refuses 2 "not 'x'" 'tl-decode --repair x in.json'
refuses -o 1 'No space left' 'tl-decode --repair all in.json >/dev/full'
ok 'nothing is left in TMPDIR' sh -c 'mkdir t && TMPDIR=t tl-decode --repair all in.json -o y.tl 2>err && rmdir t'

# ---- other formats ----
if have_data; then
	for f in "$TL_DATA"/rocprofv3_csv_decode/*.csv "$TL_DATA"/rocprofv3_pftrace_taylor/* "$TL_DATA"/rpd_matmul/*.rpd; do
		[ -f "$f" ] || continue
		tl-decode "$f" 2>/dev/null | tl-cat 2>/dev/null | jq -c 'select(.id) | select(.kind != "kernel")' | cksum >a
		tl-decode --repair clip-overrun "$f" 2>/dev/null | tl-cat 2>/dev/null | jq -c 'select(.id) | select(.kind != "kernel")' | cksum >b
		is "${f##*/}: what is no kernel stays" "$(cat b)" "$(cat a)"
	done
else
	skip 'other formats' 'no TL_DATA'
fi
done_testing
