#!/bin/sh
# SPDX-License-Identifier: MIT
# Dumps of PyTorch's flight recorder: tl-decode reads them.
. tests/cli/lib.sh

flight() { # DIR [OPTION...]
	python3 "$ROOT/tests/gen/flight.py" "$@"
}

# ---- tl-decode ----

flight pickle --ranks 5 --steps 2 --p2p --plant stop:3
flight json --ranks 5 --steps 2 --p2p --plant stop:3 --json

cat >same.py <<'END'
"""Whether each entry of a dump is an event with all of its members."""
import json, pickle, sys
path, ndjson = sys.argv[1:]
with open(path, "rb") as f:
    dump = json.load(f) if path.endswith("json") else pickle.load(f)
def plain(v):  # integers beyond 2^53 are text, tuples lists
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return f"#{v}" if isinstance(v, int) and abs(v) > 2**53 else v
base, events, meta = 0, [], {}
for line in open(ndjson):
    r = json.loads(line)
    base = int(r.get("source", {}).get("facts", {}).get("base", base))
    if "meta" in r:
        meta[r["meta"]["key"]] = r["meta"]["value"]
    if "id" in r:
        events.append(r)
for e, entry in zip(events, dump["entries"], strict=True):
    name, start, end = (entry.pop(k) for k in ("profiling_name", "time_created_ns", "time_discovered_completed_ns"))
    assert e["name"] == name and e["ts"] + base == start and e["kind"] == "async", e
    assert e.get("dur") == (end - start if end else None), e
    entry["time_discovered_completed_ns"] = end
    assert e["args"] == plain(entry), (e["args"], entry)
del dump["entries"]
assert meta == plain(dump), meta
END
for f in pickle/nccl_trace_rank_4 json/nccl_trace_rank_4.json; do
	tl-decode --ndjson $f >dump.nd
	ok "$f: each entry is an event, nothing is lost" python3 same.py $f dump.nd
done
is 'facts: rank, size of the job, clock' \
	"$(grep '"final":true' dump.nd | grep -o '"\(world_size\|format\|epoch\|rank\)":["a-z0-9]*' | sort | tr -d '"\n')" \
	'epoch:0format:flightrank:4world_size:5'
tl-decode pickle/nccl_trace_rank_4 | tl-export --to chrome | tl-decode --ndjson >again.nd
is 'a Chrome trace of it reads back' "$(grep -c '"kind":"async","cat":"flight_recorder"' again.nd)" \
	"$(grep -c '"id"' dump.nd)"
is 'a dump holds no GPU work' "$(stages 'tl-timeline pickle/nccl_trace_rank_4')" 5
is 'Python'"'"'s own pickles, of other protocols' \
	"$(tl-decode --ndjson "$ROOT/tests/fuzz/corpus/flight/python4" | sed -n 's/.*"x":\(.*]\).*/\1/p')" \
	'[[],[1],[1,2],[1,2,3],[1,2,3,4],-1,-70000,1099511627776,true,false,null,[],{}]'
is 'an empty buffer is a dump without events' \
	"$(tl-decode --ndjson "$ROOT/tests/fuzz/corpus/flight/none" | grep -c '"events":0,"sources":1')" 1

# ---- bad input ----

bad=''
size=$(wc -c <pickle/nccl_trace_rank_4)
for n in $(seq 3 97 "$size"); do
	head -c "$n" pickle/nccl_trace_rank_4 >cut.bad
	run 'tl-decode cut.bad'
	[ "$rc" -eq 1 ] && [ ! -s "$log/out" ] && grep -q "^tl-decode: cut.bad: byte [0-9]*: " "$log/err" || bad="$bad $n:$rc"
done
is 'a pickle cut anywhere: file and byte' "$bad" ''
cat >bad.py <<'END'
import json, pickle
class Run:
    def __reduce__(self):
        return print, ("run",)
def put(name, data):
    with open(name, "wb") as f:
        f.write(data)
put("class", pickle.dumps({"entries": [Run()]}, protocol=2))
deep = []
for _ in range(200):
    deep = [deep]
put("deep", pickle.dumps({"entries": deep}, protocol=4))
wide = ["x" * 100] * 10
for _ in range(12):
    wide = [wide] * 10
put("wide", pickle.dumps({"entries": wide}, protocol=4))
circle = []
circle.append(circle)
put("circle", pickle.dumps({"entries": circle}, protocol=2))
put("long", pickle.dumps({"entries": 2**70}, protocol=2))
put("get", b"\x80\x02h\x05.")
put("item", b"\x80\x02K\x01K\x01a.")
put("mark", b"\x80\x02]e.")
put("odd", b"\x80\x02}(K\x01u.")
put("key", b"\x80\x02}]K\x01s.")
put("empty", b"\x80\x02.")
put("huge", b"\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff.")
put("number.json", b'{"pg_status":{},"entries":[1]}')
put("quote.json", b'{"pg_status":{},"entries":[{"a":"' + b"a" * 40 + b'\x01"}]}')
put("memory.pickle", pickle.dumps({"segments": [], "device_traces": []}, protocol=4))
put("other.pickle", pickle.dumps({"a": 1}, protocol=4))
put("many.json", b'{"pg_status":{},"entries":[{' + b",".join(b'"%d":1' % i for i in range(5000)) + b'}]}')
END
python3 bad.py
while IFS='|' read -r file why; do
	refuses 1 "^tl-decode: $file: .*$why" "tl-decode -o x.tl $file"
done <<'EOF'
class|byte [0-9]+: this pickle holds more than plain values
deep|byte [0-9]+: the values are nested too deep
circle|byte [0-9]+: the values are nested too deep
long|byte [0-9]+: an integer of more than 64 bits
get|byte 2: a value that was not kept before
item|byte 6: a member of what is no such container
mark|byte 3: a mark is missing
odd|byte 6: a key without a value
key|a key that is neither text nor an integer
empty|byte 2: no value is left
huge|byte 2: the file ends in this value
number.json|byte 27 .line 1.: expected a record
quote.json|byte 73 .line 1.: control
memory.pickle|looks like a PyTorch memory snapshot
other.pickle|no dump of the flight recorder
many.json|an entry has too many members
EOF
done_testing
