# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# tl-decode --salvage: only undamaged events come out; and zip archives.
. tests/cli/lib.sh

# the names of the events saved
names() {
	sh -c "$1" 2>err | tl-cat --tsv -F name 2>/dev/null | sed 1d |
		tr '\007' '@' | paste -sd' ' -
}

# ---- against the undamaged trace ----

# Arguments: seed and number of damaged files.
oracle() { # oracle TEXT ARGUMENT...
	text=$1
	shift
	is "$text" "$(python3 "$ROOT/tests/oracle/salvage.py" "$@" 2>&1)" ''
}
few=200 all=400
! slow || few=1000 all=100000
oracle 'gzip cut at many places, and zstd' cut-packed 1 $few
oracle 'JSON cut at each byte, or at many' cut-json 1 $all
oracle 'a byte changed' flip 1 $few
oracle 'garbage between events' garbage 1 $few
oracle 'rocprofv3 cut at each byte, or at many, and a damaged record' rocprof 1 $all

# ---- an undamaged trace is unchanged ----

tl-decode --ndjson "$SAMPLE" | sed 1d >whole
tl-decode --salvage --ndjson "$SAMPLE" >saved 2>err
is 'a whole trace: exit status' "$?" 0
sed 1d saved >saved.1
same 'a whole trace: the same events' saved.1 whole
is 'a whole trace: no word' "$(cat err)" ''
tl-gen --rocprof -n 1 -o roc.json
is 'a whole trace of rocprofv3' \
	"$(tl-decode --salvage --ndjson roc.json | sed 1d | cksum)" \
	"$(tl-decode --ndjson roc.json | sed 1d | cksum)"

# ---- quirks of the generator ----

quirk() { # quirk NAME STRICT LOSSES MENDED
	tl-gen -n 1 -q "$1" -o quirk.json
	refuses 1 "$2.*--salvage gets" 'tl-decode -o x.tl quirk.json'
	tl-decode --salvage -o q.tl quirk.json 2>err
	is "$1: exit status" "$?" 3
	like "$1: the sum" "$(tail -n 1 err)" \
		": events [0-9]+, losses $3 \(bytes [0-9]+\), characters mended $4"
}
quirk bad-utf8 'invalid UTF-8' 0 10
like 'U+FFFD' "$(tl-cat q.tl 2>/dev/null | grep 'quirk::bad')" 'bad �� �\('
quirk raw-quote 'expected' 0 2
like 'bare quotes' "$(tl-cat q.tl 2>/dev/null | grep 'quirk::raw')" \
	'"quirk::raw \\"quote\\" inside"'
quirk trailing-comma 'expected an event' 0 1
quirk truncated 'cut off' 1 0
like 'the fact' "$(tl-cat q.tl 2>/dev/null | grep '"final":true')" \
	'"salvaged":\{"losses":1,"bytes":[0-9]+,"mended":0,"cut":true\}'

# ---- by hand ----

while IFS='|' read -r text want input; do
	# shellcheck disable=SC2059 # the escapes are meant
	printf "$input" >in.json
	is "$text" "$(names 'tl-decode --salvage in.json')" "$want"
	refuses 1 'in.json: ' 'tl-decode -o x.tl in.json'
done <<'E2'
cut inside an event|a|{"traceEvents":[{"ph":"X","name":"a"},{"ph":"X","na
cut inside a string|a|{"traceEvents":[{"ph":"X","name":"a"},{"ph":"X","name":"b
cut inside an escape|a|{"traceEvents":[{"ph":"X","name":"a"},{"ph":"X","name":"b\\\\
cut behind a brace that is not the event's|a|{"traceEvents":[{"ph":"X","name":"a"},{"ph":"X","name":"b","args":{}
missing closers|a b|{"traceEvents":[{"ph":"X","name":"a"},{"ph":"X","name":"b"}
a missing comma|a b|{"traceEvents":[{"ph":"X","name":"a"}{"ph":"X","name":"b"}]}
commas too many|a b|{"traceEvents":[,{"ph":"X","name":"a"},,{"ph":"X","name":"b",},]}
NUL bytes between|a b|[{"ph":"X","name":"a"},\000\000\000{"ph":"X","name":"b"}]
NUL bytes inside|b|[{"ph":"X","na\000\000\000"a"},{"ph":"X","name":"b"}]
NUL bytes at the end|a|{"traceEvents":[{"ph":"X","name":"a"}]}\000\000\000
NUL bytes in front|a|\000\000\000[{"ph":"X","name":"a"}]
a line's end in a name|a\nb|[{"ph":"X","name":"a\nb"}]
a bell in a name|a\x07b|[{"ph":"X","name":"a\007b"}]
a bare quote|say "x" b|[{"ph":"X","name":"say "x""},{"ph":"X","name":"b"}]
a bare quote before a comma|f("x", 1) b|[{"ph":"X","name":"f("x", 1)","pid":1},{"ph":"X","name":"b"}]
a quote that is missing|b|[{"ph":"X","name":"a,"pid":1},{"ph":"X","name":"b"}]
a quote too many|b|[{"ph":"X","name":"a""pid":1},{"ph":"X","name":"b"}]
a backslash|C:\\Users|[{"ph":"X","name":"C:\\Users"}]
garbage between|a b|[{"ph":"X","name":"a"},garbage}],{"ph":"X","name":"b"}]
half an event between|a b|[{"ph":"X","name":"a"},{"ph":"X","args":{"x":1,{"ph":"X","name":"b"}]
no event|a|[{"ph":"X","name":"a"},12,null]
inf instead of a key|a b|[{"ph":"X","name":"a"},{-inf"x":1},{"ph":"X","name":"b"}]
a damaged head|a|{"deviceProperties":[{"id":0,,}],"traceEvents":[{"ph":"X","name":"a"}]}
a damaged key of the list|a|{"trXceEvents":[{"ph":"X","name":"a"}],"x":1,}
two traces in one file|a|{"traceEvents":[{"ph":"X","name":"a"}]}{"traceEvents":[{"ph":"X","name":"b"}]}
a second list|a|{"traceEvents":[{"ph":"X","name":"a"}],"traceEvents":[{"ph":"X","name":"b"}]}
E2
printf '{"traceEvents":[{"ph":"X","name":"a","args":{"x":[1,]}}],"a":12,"b":{"c":1},"d":1' >in.json
is 'metadata before the cut' "$(tl-decode --salvage --ndjson in.json 2>/dev/null |
	grep '"meta"' | cut -d, -f2- | paste -sd' ' -)" \
	"$(printf '{"traceEvents":[{"ph":"X"}],"a":12,"b":{"c":1}}' |
		tl-decode --ndjson | grep '"meta"' | cut -d, -f2- | paste -sd' ' -)"
refuses 1 'no event is whole' \
	'printf "{\"traceEvents\":[{\"ph\":" | tl-decode --salvage -o x.tl'
refuses 1 'SQLite' 'printf "SQLite format 3" | tl-decode --salvage -o x.tl'
refuses 1 'empty' 'tl-decode --salvage -o x.tl </dev/null'

# Twelve losses: ten are reported, then sums.
{
	echo '['
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo '{"ph":"X","name":"e"} x'
	done
	echo '{"ph":"X","name":"e"}]'
} | tl-decode --salvage -o x.tl 2>err
is 'ten are told' "$(grep -c 'byte .* skipped' err)" 10
like 'then sums' "$(cat err)" 'stdin: 12 times: garbage between two events'

# Hostile garbage takes no quadratic time.
python3 -c 'print("[" + "{\"a\":" * 400000)' >deep.json
ok 'nesting without end' sh -c 'timeout 20 tl-decode --salvage -o x.tl deep.json; [ $? = 1 ]'

# ---- downstream ----

head -c 135000 "$SAMPLE" >cut.json.gz
tl-decode --salvage -o cut.tl cut.json.gz 2>err
like 'the compression is named' "$(cat err)" \
	'cut.json.gz: byte 135000: gzip data end too early'
for p in tl-tree tl-link 'tl-filter --kind op' tl-cat tl-timeline \
	'tl-cat --check' 'tl-export --to chrome'; do
	refuses -o 3 'cut.tl: salvaged from a damaged trace' "$p cut.tl"
done
is 'a pipe of warnings' "$(stages 'tl-decode --salvage cut.json.gz |
	tl-tree | tl-timeline')" '3 3 3'
is 'the mark stays' "$(tl-tree cut.tl 2>/dev/null | tl-cat 2>/dev/null |
	tail -n 1 | grep -c salvaged)" 1
mkdir many
cp "$SAMPLE" many/a.json.gz
cp cut.json.gz many/b.json.gz
tl-decode --salvage -d streams many/*.gz 2>/dev/null
is 'with -d' "$?" 3
is 'only what is damaged is marked' \
	"$(tl-cat --check streams/a.tl >/dev/null 2>&1; echo $?)" 0

# ---- zip ----

zcat "$SAMPLE" >sample.json
python3 - <<'EOF'
import io, zipfile
text = open("sample.json", "rb").read()
def make(name, members, **kw):
    with zipfile.ZipFile(name, "w", **kw) as z:
        for n, t in members:
            z.writestr(n, t)
make("stored.zip", [("readme.txt", "hello"), ("t.json", text)])
make("deflated.zip", [("readme.txt", "hello"), ("t.json", text)], compression=8)
make("order.zip", [("b", " 1"), ("t.json", text), ("a.json", "[1]")], compression=8)
make("none.zip", [("readme.txt", "hello")])
make("empty.zip", [])
make("lzma.zip", [("t.json", text)], compression=14)
with zipfile.ZipFile("wide.zip", "w", 8) as z, z.open("t.json", "w", force_zip64=True) as m:
    m.write(text)
class Pipe(io.RawIOBase):
    def __init__(self, f): self.f = f
    def writable(self): return True
    def write(self, b): self.f.write(b); return len(b)
with open("behind.zip", "wb") as f, zipfile.ZipFile(Pipe(f), "w", 8) as z:
    z.writestr("readme.txt", "hello"); z.writestr("t.json", text)
b = bytearray(open("deflated.zip", "rb").read())
at = b.rindex(b"PK\1\2")
b[at + 8] |= 1
at = b.index(b"PK\3\4", 4)
b[at + 6] |= 1
open("locked.zip", "wb").write(b)
b = bytearray(open("stored.zip", "rb").read())
b[len(b) // 2] ^= 1
open("flip.zip", "wb").write(b)
import copy, gzip
make("several.zip", [("r/rank1.json", text), ("notes.json", '{"a": 1}'), ("rank5.json", '[{"ph":'
    '"X","name":"k","cat":"kernel","ts":1,"dur":2,"pid":0,"tid":7}]')], compression=8)
make("packed.zip", [("a.json", text), ("b.json.gz", gzip.compress(text))])
make("names.zip", [("../../up.json", text), ("a\n\x1b[2J\u202e.json", b"{\"traceEvents\": [}")])
deep = "d/" * 4500
make("deep.zip", [(deep + "a.json", text), (deep + "b.json", text)])
at = bytearray(open("deep.zip", "rb").read())
at[at.rindex(b"a.json")] = 0
open("nul.zip", "wb").write(at)
make("notes.zip", [("notes.json", '{"a": 1}')])
with zipfile.ZipFile("overlap.zip", "w", 8) as z:
    z.writestr("a.json", text)
    z.filelist.append(copy.copy(z.filelist[0]))
EOF
if tl-decode -o none.tl none.zip 2>&1 | grep -q 'lacks minizip'; then
	skip 'zip archives' 'minizip is missing'
	page_examples tl-decode.1
	done_testing
	exit
fi
tl-decode --ndjson sample.json | sed 1d | sed 's/"name":"sample.json"//' >want
for f in stored deflated order wide behind; do
	tl-decode --ndjson $f.zip | sed 1d | sed "s/\"name\":\"$f.zip\"//" >got
	same "$f" got want
	tl-decode --ndjson <$f.zip | sed 1d |
		sed 's/"name":"stdin"//' >got
	same "$f, redirected" got want
	# shellcheck disable=SC2002 # a pipe is meant
	cat $f.zip | tl-decode --ndjson | sed 1d |
		sed 's/"name":"stdin"//' >got
	same "$f, from a pipe" got want
done
dribble=$T/dribble
if [ -x "$dribble" ]; then
	"$dribble" <behind.zip 2>/dev/null | tl-decode --ndjson | sed 1d |
		sed 's/"name":"stdin"//' >got
	same 'by single bytes' got want
fi
is 'programs take it' "$(tl-timeline deflated.zip | cksum)" \
	"$(tl-timeline sample.json | cksum)"
refuses 1 'none.zip: the zip archive has no member with JSON' \
	'tl-decode -o x.tl none.zip'
refuses 1 'has no directory: .* or empty' 'tl-decode -o x.tl empty.zip'
refuses 1 'compression other than deflate' 'tl-decode -o x.tl lzma.zip'
refuses 1 'a zip member is encrypted' 'tl-decode -o x.tl locked.zip'
refuses 1 'zip data are damaged: wrong checksum' \
	'tl-decode -o x.tl flip.zip'
head -c 50000 deflated.zip >cut.zip
refuses 1 'has no directory: it is cut off' 'tl-decode -o x.tl cut.zip'
refuses 1 'has no directory: it is cut off' 'cat cut.zip | tl-decode --salvage -o x.tl'
tl-decode --salvage --ndjson flip.zip 2>err | sed -n '/"id"/s/"id".*//p' | wc -l >got
like 'a damaged member: what is in front of the damage' "$(cat got)" '^[1-9][0-9]+$'
gzip -k deflated.zip
same 'within gzip' "$(tl-timeline deflated.zip.gz >got; echo got)" \
	"$(tl-timeline sample.json >want.tsv; echo want.tsv)"

# ---- several members ----

python3 -m zipfile -e several.zip parts
tl-decode --ndjson parts/r/rank1.json parts/rank5.json | sed 1d |
	sed 's/"name":"parts/"name":"several.zip/' >want
tl-decode --ndjson several.zip | sed 1d |
	grep -v '"facts":{"name":"several.zip"}' >got
same 'each member with events is a source' got want
is 'with its rank and name' "$(tl-decode several.zip | tl-cat | sed -n \
	's/.*"final":true,"facts":{"name":"\([^"]*\)".*"rank":\([0-9]*\).*/\1 \2/p' | tr '\n' ' ')" \
	'several.zip/r/rank1.json 0 several.zip/rank5.json 5 '
reports 3 members-unread 'tl-decode -o x.tl packed.zip'
is 'the others are read' "$(tl-timeline x.tl | cksum)" "$(tl-timeline sample.json | cksum)"
refuses 1 'names.zip/a.*byte 17' 'tl-decode -o x.tl names.zip'
is 'no file is made by its name' "$(ls ../../up.json up.json 2>/dev/null)" ''
is 'names of 9,000 bytes are whole' "$(tl-decode deep.zip | tl-cat | sed -n \
	's|.*"final":true,"facts":{"name":"deep.zip/\([d/]*\)\([ab].json\)".*|\2 \1|p' |
	awk '{ print $1, length($2) }' | tr '\n' ' ')" 'a.json 9000 b.json 9000 '
refuses 1 'nul.zip: the zip directory is damaged' 'tl-decode -o x.tl nul.zip'
refuses 1 'members overlap' 'tl-decode -o x.tl overlap.zip'
refuses 1 'notes.zip: no events: ' 'tl-decode -o x.tl notes.zip'

page_examples tl-decode.1
done_testing
