#!/bin/sh
# SPDX-License-Identifier: MIT
# The format itself: every rule of tl-stream(5), a second reader, the dump in
# the page, and damaged bytes.
. tests/cli/lib.sh

GOLDEN=$ROOT/tests/golden/stream
oracle() { python3 "$ROOT/tests/oracle/tl_stream.py" "$@"; }

# The files are the script's output.
"$GOLDEN/make" made
ok 'golden streams are as made' diff -r made/valid "$GOLDEN/valid"
ok 'and the invalid ones' diff -r made/invalid "$GOLDEN/invalid"

# ---- valid ----

for f in "$GOLDEN"/valid/*.tl; do
	name=$(basename "$f" .tl)
	oracle "$f" >expected 2>&1
	tl-cat "$f" >got 2>/dev/null
	sed 1d expected >expected.1
	sed 1d got >got.1
	same "$name: both readers agree" expected.1 got.1
	sed 1q expected >expected.1
	tl-cat --header --ndjson "$f" | sed 1q >got.1
	same "$name: and on the header" expected.1 got.1
	ok "$name: is JSON" python3 -c 'import json; [json.loads(l) for l in open("got", encoding="utf-8")]'
	tl-cat got >got.2 2>/dev/null
	sed 1d got.2 >got.1
	sed 1d got >expected.1
	same "$name: NDJSON and back" expected.1 got.1
	tl-cat --binary got >back.tl
	tl-cat back.tl 2>/dev/null | sed 1d >got.1
	same "$name: to binary and back" expected.1 got.1
	oracle back.tl 2>&1 | sed 1d >got.1
	same "$name: what we write is what the page says" expected.1 got.1
done

# The same bytes through NDJSON and without it, for entries in order of groups.
for name in ten-events value-types roles every-field tracks groups; do
	f=$GOLDEN/valid/$name.tl
	tl-cat --binary <"$f" >direct.tl
	tl-cat "$f" | sed '1s/,{"program":"tl-cat"[^}]*}//' >lines
	tl-cat --binary <lines >through.tl
	same "$name: the same bytes through NDJSON" direct.tl through.tl
done

# Thread ids that are numbers but no int64: equal ones are one thread, and its
# shorter event is below the longer.
{
	echo '{"tl":1}'
	id=0
	for tid in 1e309 '"#10e308"' 2e309 '"#36893488147419103232"' \
		'"#18446744073709551615"' 1.5 '"#1.50"' 1.7 '"1.7"' 2; do
		id=$((id + 1))
		echo '{"id":'$id',"kind":"op","ts":'$id',"dur":'$((100 - 2 * id))',"pid":1,"tid":'"$tid"'}'
	done
	echo '{"source":{"src":0,"final":true}}'
	echo '{"end":{}}'
} >numbers.nd
tl-tree numbers.nd | tl-cat | jq -cs '[.[] | select(.id) | [.id, .parent]]' >got
tl-cat --binary numbers.nd | tl-tree | tl-cat | jq -cs '[.[] | select(.id) | [.id, .parent]]' >got.1
is 'ids of threads that are no integers' "$(cat got)" \
	'[[1,null],[2,1],[3,null],[4,null],[5,null],[6,null],[7,6],[8,null],[9,8],[10,null]]'
same 'the same of a binary stream' got.1 got

# ---- invalid ----

for f in "$GOLDEN"/invalid/*.tl; do
	cp "$f" bad.tl
	if oracle bad.tl >out 2>err; then
		fail "$(basename "$f"): the second reader accepts it"
	else
		pass "$(basename "$f"): the second reader refuses it"
	fi
	refuses 1 'bad.tl: ' 'tl-cat --check bad.tl'
done

# Values that no program needs are decoded only to be printed.
for f in "$GOLDEN"/invalid/event-argument-*.tl; do
	cp "$f" bad.tl
	refuses -o 1 'malformed' 'tl-cat --ndjson bad.tl'
	refuses -o 1 'malformed' 'tl-cat --tsv -F id,args bad.tl'
	refuses -o 1 'malformed' 'tl-cat -F args.a bad.tl'
	refuses -o 1 'malformed' 'tl-cat --binary bad.tl | tl-cat'
	refuses -o 1 'malformed' 'tl-export bad.tl'
done

# ---- the page ----

sed -n '/^\.Sh EXAMPLES/,/^\.Sh COMP/p' "$ROOT/man/tl-stream.5" |
	grep -E '^[0-9a-f]{4}  ' | cut -c 7-41 | tr -d ' \n' >hex
od -An -v -tx1 "$GOLDEN/valid/ten-events.tl" | tr -d ' \n' >hex.file
same 'the dump in the page is the file' hex hex.file

# ---- damage ----

cat >damage.py <<'END'
"""damage.py FILE: tl-cat on all prefixes and on all flips of one byte."""
import concurrent.futures
import subprocess
import sys

data = open(sys.argv[1], "rb").read()


def cat(bytes_):
    p = subprocess.run(["tl-cat", "--check"], input=bytes_,
                       capture_output=True)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")


def cut(n):
    rc, out, err = cat(data[:n])
    return rc == 1 and out == b"" and "tl-" in err, f"cut at {n}: {rc} {err}"


def flip(n):
    for bits in (0x01, 0x80, 0xff):
        bad = bytearray(data)
        bad[n] ^= bits
        rc, out, err = cat(bytes(bad))
        if rc == 0 and out == whole[1] and 20 <= n < 24:
            continue  # reserved bytes of the first block
        if rc != 1 or out:
            return False, f"byte {n} ^ {bits:02x}: {rc} {err}"
    return True, ""


whole = cat(data)
if whole[0]:
    sys.exit("not whole: " + whole[2])
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    bad = [why for f in (cut, flip)
           for good, why in pool.map(f, range(len(data))) if not good]
print("\n".join(bad[:10]))
sys.exit(bool(bad))
END
ok 'every cut and every flipped byte is found out' \
	python3 damage.py "$GOLDEN/valid/small.tl"

done_testing
