#!/bin/sh
# SPDX-License-Identifier: MIT
# Dumps of PyTorch's flight recorder: tl-decode reads them, tl-collective finds
# who
# waits for whom.
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
is 'facts: rank, clock' \
	"$(grep '"final":true' dump.nd | grep -o '"\(format\|epoch\|rank\)":["a-z0-9]*' | sort | tr -d '"\n')" \
	'epoch:0format:flightrank:4'
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
item|byte 6: a member of something that is not a container
mark|byte 3: a mark is missing
odd|byte 6: a key without a value
key|a key that is neither text nor an integer
empty|byte 2: no value is left
huge|byte 2: the file ends in this value
number.json|byte 27 .line 1.: expected a record
quote.json|byte 73 .line 1.: control
memory.pickle|looks like a PyTorch memory snapshot
other.pickle|not a dump of the flight recorder
many.json|an entry has too many members
EOF
# ---- tl-collective ----

# hang [OPTION...]: the causes in a job's dumps, their rows on one line each
hang() {
	rm -rf job
	flight job "$@"
	tl-collective job --no-header -c cause,group,seq,collective,verdict,role,ranks,count,last_call >all.tsv 2>err
	rc=$?
	grep ^true all.tsv | cut -f 2- | tr '\t' ' '
}
# told [N]: the sentences about the same job
told() {
	tl-collective job --format table --width 200 2>/dev/null | head -n "${1:-3}"
}

is 'a rank that stopped' "$(hang --plant stop:3)" \
	'0 3 all_reduce rank missing waits 0-2,4-7 7 
0 3 all_reduce rank missing did not call 3 1 all_reduce 6 of group 1 (tp_0)'
is 'who, where, since when' "$(told 4)" \
	'rank 3 did not call all_reduce 3 of group 0 (default_pg)
  7 of 8 ranks wait in it, the first since 2024-08-27 17:20:00 UTC; timeout 600 s
  rank 3: last call all_reduce 6 of group 1 (tp_0), completed, at training_step (train.py:102)
2 more calls are not complete, behind this one: see the table'
is 'that is exit status 4' "$(stages 'tl-collective job')" 4
is 'since when, to the ns' "$(tl-collective job --no-header -c since_ns | head -n 1)" 1724779200003000008
is 'the whole stack, from the caller on' "$(tl-collective job --no-header -c stack | sed -n 2p)" \
	'training_step (/home/user/train.py:102) < main (/home/user/train.py:12) < <module> (/home/user/train.py:40)'
is 'the first cause is in a smaller group: the world waits behind it' "$(hang --plant stop-tp:6)" \
	'2 6 all_reduce rank missing waits 4,5,7 3 
2 6 all_reduce rank missing did not call 6 1 _all_gather_base 5 of group 2 (tp_1)'
is 'JSON: the same, without a stack' "$(hang --json --plant stop-tp:6)$(told | grep -c 'no stack: JSON')" \
	'2 6 all_reduce rank missing waits 4,5,7 3 
2 6 all_reduce rank missing did not call 6 1 _all_gather_base 5 of group 2 (tp_1)1'
is 'two ranks stopped, in two groups' "$(hang --plant stop-tp:2 --plant stop-tp:5 | grep 'did not')" \
	'1 6 all_reduce rank missing did not call 2 1 _all_gather_base 5 of group 1 (tp_0)
2 6 all_reduce rank missing did not call 5 1 _all_gather_base 5 of group 2 (tp_1)'
while IFS='|' read -r plant text; do
	hang --plant "$plant" >/dev/null
	is "differing calls: $plant" "$(told 1) $rc" "$text 4"
done <<'EOF'
size:5|rank 5 passes 524288 elements to all_reduce 3 of group 0 (default_pg), the others 1048576
dtype:1|rank 1 passes Half to all_reduce 3 of group 0 (default_pg), the others Float
type:0|rank 0 calls reduce where the others call all_reduce 3 of group 0 (default_pg)
swap:2|rank 2 calls all_reduce where the others call _all_gather_base 5 of group 1 (tp_0): two calls in the other order
skip:7|rank 7 skipped _all_gather_base 5 of group 2 (tp_1): later calls are one ahead of the others'
order:2|deadlock: ranks call in different orders all_reduce 6 of group 1 (tp_0) and all_reduce 3 of group 0 (default_pg)
stuck:0,1,2,3,4,5,6,7|all 8 ranks called all_reduce 3 of group 0 (default_pg) alike, but it did not complete: look at the network and the GPUs
EOF
is 'a send that is not received' "$(hang --p2p --plant stop-p2p:5)" \
	'0 3 send 1->5 rank missing waits 1 1 
0 3 send 1->5 rank missing did not call 5 1 all_reduce 6 of group 2 (tp_1)'
is 'a rank that sent no dump' "$(hang --plant stop:5 --lose 5)" \
	'0 3 all_reduce no dump waits 0-4,6,7 7 
0 3 all_reduce no dump no dump 5 1 '
hang --p2p >/dev/null
is 'no hang, with sends' "$(cat all.tsv)$(told 1) $rc" 'no rank waits: all 128 calls on record of 8 ranks are complete 0'
flight lost --lose 5
reports 3 ranks-missing 'tl-collective lost' # no hang, but a warning
is 'buffers that lost older calls: not recorded is not missing' "$(hang --buffer 3)$(told 2)" \
	'no rank waits: all 24 calls on record of 8 ranks are complete
8 of 8 buffers hold the last calls only: earlier ones are not recorded'
# rank 7's buffer holds only calls of its tp group, which come after the world's
flight job --buffer 12 --plant stop:3
python3 - <<'END'
import pickle
path = "job/nccl_trace_rank_7"
with open(path, "rb") as f:
    dump = pickle.load(f)
dump["entries"] = [e for e in dump["entries"] if e["process_group"][0] != "0"][1:]
with open(path, "wb") as f:
    pickle.dump(dump, f, protocol=2)
END
is 'a group that a buffer no longer holds' "$(tl-collective job --no-header -c group,role,ranks | grep '^0' | tr '\t\n' ' .')" \
	'0 waits 0-2,4-6.0 did not call 3.0 not recorded 7.'

# a batch of sends and receives: "coalesced" completes its calls with the last
cat >batch.py <<'END'
import json, os, sys
os.makedirs("batch", exist_ok=True)
for rank in range(2):
    def entry(i, name, seq, state, sizes):
        return {"record_id": i, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 0,
                "p2p_seq_id": seq, "op_id": i, "profiling_name": "nccl:" + name, "time_created_ns": 10**18 + i,
                "input_sizes": sizes, "input_dtypes": ["Float"], "output_sizes": sizes, "output_dtypes": ["Float"],
                "state": state, "time_discovered_completed_ns": 10**18 + 100 if state == "completed" else 0,
                "is_p2p": name != "coalesced", "timeout_ms": 600000}
    last = sys.argv[1]
    entries = []
    for k, state in enumerate(["completed", last]):
        entries.append(entry(3 * k, f"send {rank}->{1 - rank}", k + 1, "scheduled", [[8]]))
        entries.append(entry(3 * k + 1, f"recv {rank}<-{1 - rank}", k + 1, "scheduled", [[9 if k and rank else 8]]))
        entries.append(entry(3 * k + 2, "coalesced", k + 1, state, []))
    with open(f"batch/rank{rank}.json", "w") as f:
        json.dump({"pg_status": {}, "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
                   "version": "2.10", "entries": entries}, f)
END
python3 batch.py completed
is 'a batch that completed' "$(tl-collective batch --format table | head -n 1)" \
	'no rank waits: all 8 calls on record of 2 ranks are complete'
python3 batch.py scheduled
is 'a batch that did not: one size differs' "$(tl-collective batch --format table --width 200 | head -n 1)" \
	'rank 1 passes 9 elements to send 0->1 of group 0 (default_pg), the others 8'

# ---- what is not a job ----

flight job --plant stop:3
head -c 3000 job/nccl_trace_rank_4 >cut4
mkdir odd.d
cp job/nccl_trace_rank_[0-3] odd.d
cp cut4 odd.d/nccl_trace_rank_4
reports 4 input-failed 'tl-collective odd.d'
sed 's/train.py/other.py/g' job/nccl_trace_rank_1 >odd.d/x_trace_rank_2
reports 4 dump-twice 'tl-collective odd.d'
reports 5 not-of-dumps 'tl-collective --table nccl_groups job'
reports 5 not-of-dumps 'tl-collective --table nccl_hang "$SAMPLE"'
refuses 1 'are dumps of the flight recorder, the others are traces' 'tl-collective job/nccl_trace_rank_1 "$SAMPLE"'
refuses 2 'partial needs traces' 'tl-collective --partial job -o x.tl'
is 'the default table, and -d has no other' "$(tl-collective -d out job; ls out)" nccl_hang.csv

# ---- drawn plants: the first cause names the planted rank ----

bad=''
for draw in stop:0 stop-tp:15 swap:9 skip:4 dtype:11 ${TL_SLOW:+$(for p in stop stop-tp size dtype type swap skip; do
	for r in 0 3 7 8 13; do echo "$p:$r"; done; done)}; do
	hang --ranks 16 --steps 5 --plant "$draw" >causes
	told 1 | grep -q "^rank ${draw#*:} " && [ "$rc" -eq 4 ] || bad="$bad $draw"
done
is 'drawn plants are named' "$bad" ''
page_examples tl-collective.1
done_testing
