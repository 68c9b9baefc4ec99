#!/bin/sh
# SPDX-License-Identifier: MIT
# Perfetto's protobuf: older writers' Chrome-like events, counters of GPUs and
# of other events, arrows, and the output of rocpd's converter.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

cat >made.py <<'EOP'
import os, struct, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import fixed, num, text
def trace(name, *packets):
    with open(name, "wb") as f:
        f.write(b"".join(text(1, p + num(10, 1)) for p in packets))
def event(ts, *fields):
    return num(8, ts) + text(11, b"".join(fields))
def legacy(ph, *fields):
    return text(6, num(2, ord(ph)) + b"".join(fields))
def note(key, v):
    return text(4, text(10, key) + (text(6, v) if isinstance(v, str) else num(3, v)))
def packed(field, *numbers):
    return text(field, b"".join(num(0, n)[1:] for n in numbers))

# no track but a thread; times in microseconds from the thread's
thread = text(44, num(1, 7) + num(2, 8) + text(5, "worker") + num(6, 1000) + num(7, 50))
trace("legacy.pftrace",
      thread + text(43, num(1, 7) + text(6, "browser")),
      text(12, text(2, num(1, 4) + text(2, "by number"))),
      text(11, num(1, 5) + text(22, "cpu_op") + legacy("X", num(1, 4), num(3, 20), num(4, 9)) + num(2, 3)),
      text(11, num(1, 1) + text(22, "toplevel") + text(23, "outer") + legacy("B") + note("a", 1)),
      text(11, num(1, 4) + legacy("E")),
      text(11, num(16, 2000) + text(22, "c") + text(23, "i") + legacy("i", num(14, 2))),
      text(11, num(16, 2001) + text(22, "c") + text(23, "async") + legacy("b", num(10, 31), text(7, "s"))),
      text(11, num(16, 2002) + text(22, "c") + text(23, "async") + legacy("e", num(6, 2**63 + 1))),
      text(11, num(16, 2003) + text(23, "flow") + legacy("s", num(8, 5), num(12, 1), num(13, 3),
                                                          num(19, 99))),
      text(11, num(16, 2004) + text(23, "n") + legacy("C", num(18, 70), num(19, 71)) + note("v", 3)))
trace("late.pftrace", thread, text(11, num(1, 2**63 - 1) + text(23, "late") + legacy("X")))

# an annotation named as arrows are; more categories than anybody has
for i, v in (("0", 7), ("x", "x")):
    trace(f"flow{i}.pftrace", event(5, num(9, 3), text(22, "kernel"), text(23, "k"), note("flow_ids", v), note("begin_ns", 5),
                                    note("end_ns", 9)))
trace("categories.pftrace", num(13, 1) + num(41, 1) + text(12, text(1, num(1, 1) + text(2, "c" * 10))),
      event(5, num(9, 3), text(23, "k"), packed(3, *[1] * 40000)))

# texts by number and in place, up to the longest that a stream numbers and beyond
for n in 4096, 4097:
    trace(f"number{n}.pftrace", num(13, 1) + num(41, 1) + text(12, text(29, num(1, 1) + text(2, "x" * n))),
          event(5, num(9, 3), text(23, "i"), text(4, text(10, "k") + num(17, 1))))
    trace(f"place{n}.pftrace", event(5, num(9, 3), text(23, "i"), note("k", "x" * n)))

# counters of GPUs: by a descriptor, by its number, and one without a name
spec = text(1, num(1, 1) + text(2, "SM Clock")) + text(1, num(1, 2) + text(2, "Power"))
trace("gpu.pftrace",
      num(8, 10) + text(52, text(1, spec) + text(2, num(1, 1) + num(2, 1500)) + num(3, 2)),
      num(8, 20) + text(52, text(2, num(1, 2) + fixed(3, struct.pack("<d", 1.5))) + num(3, 2)),
      text(12, text(47, num(1, 9) + text(2, text(1, num(1, 1) + text(2, "Temp"))) + num(3, 5))) + num(13, 1),
      num(8, 30) + text(52, num(4, 9) + text(2, num(1, 1) + num(2, -4)) + num(3, 6)),
      num(8, 40) + text(52, text(2, num(1, 3) + num(2, 1)) + num(3, 2)))

# counters in another event: their tracks are its own, or the sequence's
def track(uuid, name, counter=b""):
    return text(60, num(1, uuid) + text(2, name) + text(8, counter))
trace("more.pftrace", track(5, "a", num(5, 1)), track(6, "b"), track(7, "r"),
      text(59, text(11, packed(31, 5) + packed(45, 7) + num(11, 1))) + num(13, 1),
      event(10, num(9, 3), text(23, "x"), packed(12, 4)),
      event(20, num(9, 3), text(23, "x"), packed(12, 3), fixed(46, struct.pack("<d", 2.5))),
      event(30, num(9, 3), text(23, "x"), packed(31, 6, 5), packed(12, 8, 1)))

# launch and kernel that an arrow ties; a converter's dimensions and instants
def span(track, ts, cat, name, *fields):
    return [event(ts, num(9, 1), num(11, track), text(22, cat), text(23, name), *fields),
            event(ts + 5, num(9, 2), num(11, track))]
flow = fixed(47, struct.pack("<Q", 2**64 - 2))
trace("arrows.pftrace",
      text(60, num(1, 1) + text(3, num(1, 7) + text(2, "app"))),
      text(60, num(1, 2) + num(5, 1) + text(4, num(1, 7) + num(2, 8))),
      text(60, num(1, 3) + num(5, 2) + text(2, "below the thread")),
      text(2, text(1, num(1, 7) + text(3, "listed")) + text(2, num(1, 8) + text(2, "listed thread"))),
      *span(2, 100, "hip_api", "hipLaunchKernel", flow),
      *span(3, 100, "c", "inner"),
      *span(9, 200, "kernel_dispatch", "k", flow, note("agent", "GPU-3"),
            note("workgroup_size", "128 (x=64, y=2, z=1)"), note("grid_size", "9 (x=9)")),
      *span(9, 250, "kernel_dispatch", "l", note("agent", "GPU-3"),
            note("grid_size", "3072 (x=512, y=3, z=2)"), note("workgroup_size", "128 (x=64, y=2, z=1)")),
      event(300, num(9, 3), num(11, 2), text(22, "hip_api"), text(23, "hipGetDevice"),
            note("begin_ns", 290), note("end_ns", 290), num(52, 77)))

# a type that comes again behind annotations that came in that order before
begin = [num(9, 1), num(11, 2), num(3, 1), text(23, "ev"), text(4, num(1, 1) + num(4, 42)) + text(4, num(1, 2) + num(17, 1))]
names = num(13, 1) + text(12, text(1, num(1, 1) + text(2, "cpu_op")) + text(3, num(1, 1) + text(2, "n")) +
                          text(3, num(1, 2) + text(2, "t")) + text(29, num(1, 1) + text(2, "word")))
trace("types.pftrace", names, *(p for i in range(3) for p in (event(100 * i, *begin),
                                                               event(100 * i + 5, num(9, 2), num(11, 2)))),
      event(400, *begin, num(9, 3)),
      event(500, num(9, 1), num(11, 2), num(3, 1), text(23, "open")), event(505, *begin, num(9, 2)))

# rows of GPUs that are called as PyTorch calls them
trace("rows.pftrace",
      text(60, num(1, 1) + text(3, num(1, 2) + text(6, "GPU 2"))),
      text(60, num(1, 2) + num(5, 1) + text(4, num(1, 2) + num(2, 7) + text(5, "stream 7"))),
      text(60, num(1, 3) + num(5, 1) + text(2, "stream x")),
      *span(2, 100, "kernel", "k"), *span(2, 200, "gpu_memcpy", "m", note("device", 5), note("stream", 6)),
      *span(3, 300, "kernel", "l"), *span(2, 400, "cpu_op", "o"))

# arguments as JSON text, as Kineto's builder writes them; what is none, or too much, stays a text
def plain(ts, name, *fields):
    return [event(ts, num(9, 1), num(11, 50), text(23, name), *fields), event(ts + 2, num(9, 2), num(11, 50))]
trace("builder.pftrace",
      text(60, num(1, 1) + text(3, num(1, 0) + text(6, "Kineto Trace"))),
      text(11, num(9, 3) + num(11, 1) + text(23, "device_properties") + note("properties", '[{"id": 0, "name": "H100"}]')),
      text(11, num(9, 3) + num(11, 1) + text(23, "trace_metadata") + note("distributedInfo", '{"rank": 3, "world_size": 8}')),
      text(11, num(9, 3) + num(11, 1) + text(23, "trace_metadata") + note("hostname", "a b")),
      text(11, num(9, 3) + num(11, 1) + text(23, "untimed") + note("x", "y")),
      text(12, text(29, num(1, 1) + text(2, '{"correlation": 4, "cbid": 1}'))) + num(13, 1) + num(41, 1) +
      event(5, num(9, 1), num(11, 50), text(23, "cudaMalloc"), text(4, text(10, "debug") + num(17, 1))),
      event(7, num(9, 2), num(11, 50)),
      *plain(10, "aten::mm", note("metadata", '"External id": 5, "Input Dims": [[8,16], [ ]]')),
      *plain(20, "forward", note("metadata", '{"Python id": 3, "s": "\\u00e9", "metadata": "x"}')),
      *plain(30, "gemm", note("metadata", '"device": 1, "stream": 7, "correlation": 9'), note("correlation_id", 9)),
      *sum((plain(40 + 3 * i, "odd", note("metadata", v)) for i, v in enumerate((
          "", "x", "{", '"a": 1}', '"a": 1, ', "[1]", '"a": ' + "[" * 5000, "{} {}"))), []),
      *plain(90, "many", note("metadata", ",".join('"k%d":1' % i for i in range(257)))))
EOP
python3 made.py
events() { tl-decode "$1" 2>/dev/null | tl-cat | jq -c "select(.id != null) | $2"; }
for n in 4096 4097; do
	tl-decode <"number$n.pftrace" >number.tl
	tl-decode <"place$n.pftrace" >place.tl
	ok "a text of $n bytes is the same by number" cmp -s number.tl place.tl
done
is 'members of JSON in a text are arguments' "$(events builder.pftrace 'select(.name != "odd" and .name != "many") |
	[.kind, .dev, .gpu_stream, .corr, .ext, .args]')" \
	'["runtime",null,null,4,null,{"correlation":4,"cbid":1}]
["op",null,null,null,5,{"External id":5,"Input Dims":[[8,16],[]]}]
["python",null,null,null,null,{"Python id":3,"s":"é","metadata":"x"}]
["kernel",1,7,9,null,{"device":1,"stream":7,"correlation":9,"correlation_id":9}]'
is 'facts of the source without a time' "$(tl-decode builder.pftrace 2>/dev/null | tl-cat |
	jq -c 'select(.source.final) | .source.facts | [.devices, .rank, .world_size, .hostname, .packets_dropped]')" \
	'[[{"id":0,"name":"H100"}],3,8,"a b",1]'
is 'any other text stays one' "$(events builder.pftrace 'select(.name == "odd" or .name == "many") | .args.metadata | length' | tr '\n' ' ')" \
	'0 1 1 7 8 3 5005 5 2202 '
is 'events of older writers' "$(events legacy.pftrace 'del(.id, .src)')" \
	'{"kind":"op","cat":"cpu_op","name":"by number","ts":1005000,"dur":20000,"pid":7,"tid":8,"ph":"X","top":{"tdur":9,"tts":53}}
{"kind":"instant","cat":"c","name":"i","ts":2000000,"pid":7,"tid":8,"ph":"i","top":{"s":"p"}}
{"kind":"async","cat":"c","name":"async","ts":2001000,"pid":7,"tid":8,"ph":"b","top":{"id2":{"local":"0x1f"},"scope":"s"}}
{"kind":"async","cat":"c","name":"async","ts":2002000,"pid":7,"tid":8,"ph":"e","top":{"id":"#9223372036854775809"}}
{"kind":"flow","cat":"","name":"flow","ts":2003000,"pid":7,"tid":99,"ph":"s","top":{"bind_id":5,"bp":"e","flow_in":true,"flow_out":true}}
{"kind":"counter","cat":"","name":"n","ts":2004000,"pid":70,"tid":71,"ph":"C","args":{"v":3}}
{"kind":"slice","cat":"toplevel","name":"outer","ts":1006000,"dur":4000,"pid":7,"tid":8,"ph":"X","args":{"a":1}}
{"kind":"meta","cat":"","name":"process_name","pid":7,"ph":"M","args":{"name":"browser"}}
{"kind":"meta","cat":"","name":"thread_name","pid":7,"tid":8,"ph":"M","args":{"name":"worker"}}'
refuses 1 'late.pftrace: byte [0-9]*: a time is out of range' 'tl-decode -o x.tl late.pftrace'
is 'counters of GPUs' "$(events gpu.pftrace '[.name, .ts, .dev, .args.value]' | tr '\n' ' ')" \
	'["SM Clock",10,2,1500] ["Power",20,2,1.5] ["Temp",30,5,-4] '
reports 3 packets-dropped 'tl-decode -o x.tl gpu.pftrace'
is 'counters of other events' "$(events more.pftrace 'select(.kind == "counter") | [.name, .ts, .args.value]' | tr '\n' ' ')" \
	'["a",10,4] ["a",20,7] ["r",20,2.5] ["b",30,8] ["a",30,8] '
is 'an arrow ties a kernel to its launch' \
	"$(tl-tree arrows.pftrace | tl-cat | jq -c 'select(.kind == "kernel") | [.dev, .launch, .args.block, .args.grid]')" \
	'[3,0,[64,2,1],null]
[3,null,[64,2,1],[8,2,2]]'
is 'tracks say on which GPU and stream it ran, where the work does not' \
	"$(events rows.pftrace 'select(.kind != "meta") | [.name, .dev, .gpu_stream]' | paste -sd' ' -)" \
	'["k",2,7] ["m",5,6] ["l",2,null] ["o",null,null]'
is 'what a converter has as an instant is a call' \
	"$(events arrows.pftrace 'select(.name == "hipGetDevice") | [.kind, .ts, .dur, .corr]')" '["runtime",290,0,77]'
is 'a track below a thread is in the thread, but does not name it' \
	"$(events arrows.pftrace 'select(.name == "inner" or .kind == "meta") | [.name, .pid, .tid, .args.name]' | tr '\n' ' ')" \
	'["inner",7,8,null] ["process_name",7,null,"app"] ["thread_name",7,8,"listed thread"] '
is 'an event whose type comes twice is of the last one and keeps its arguments' \
	"$(events types.pftrace 'select(.ts >= 400) | [.kind, .name, .dur, .args.n, .args.t]' | tr '\n' ' ')" \
	'["instant","ev",null,42,"word"] ["op","open",5,42,"word"] '
is 'an annotation that is named as arrows are is one' "$(events flow0.pftrace '[.kind, .corr, .args.flow_ids]
	')$(events flowx.pftrace '[.kind, .corr, .args.flow_ids]')" '["kernel",null,7]["kernel",null,"x"]'
# names of which none comes again, below a slice that stays open
cat >names.py <<'EOP'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import num, text
def put(ts, *fields, more=b""):
    sys.stdout.buffer.write(text(1, num(8, ts) + text(11, b"".join(fields)) + num(10, 1) + more))
keys = text(12, text(3, num(1, 1) + text(2, "key")) + text(3, num(1, 2) + text(2, "n")) +
            text(29, num(1, 1) + text(2, "value")))
args = text(4, num(1, 1) + num(17, 1)) + text(4, num(1, 2) + num(4, -5))
for i in range(2):
    put(0, num(9, 1), text(22, "open"), text(23, "before"), args, more=keys + num(13, 1 - i))
    put(0, num(9, 2))
put(1, num(9, 1), text(22, "open"), text(23, "outer"), args)
for i in range(25000):
    put(10 * i + 10, num(9, 1), text(23, "%04000d" % i))
    put(10 * i + 15, num(9, 2))
put(1000000, num(9, 2))
EOP
python3 names.py | measure ram tl-decode -o names.tl
case $B in
*san*) skip '100 MB of names take less than 120 MB' 'sanitizers need more' ;;
*)
	# shellcheck disable=SC2046
	set -- $(cat ram)
	ok '100 MB of names take less than 120 MB' [ "$4" -lt 120000 ]
	;;
esac
is 'what was open meanwhile keeps its texts' \
	"$(tl-filter --name outer names.tl | tl-cat | jq -c 'select(.dur) | [.cat, .name, .dur, .args]')" \
	'["open","outer",999999,{"key":"value","n":-5}]'
is 'and all names are right' "$(tl-cat --tsv -F name --no-header names.tl | awk '$1 + 0 != NR - 3' | cut -c 1-20 | paste -sd' ' -)" \
	'before before outer'
# annotations of which ever others follow each other, below a slice that stays open
cat >keys.py <<'EOP'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from perfetto import num, text
def put(ts, *fields, more=b""):
    sys.stdout.buffer.write(text(1, num(8, ts) + text(11, b"".join(fields)) + num(10, 1) + more))
def note(key, field, v):
    return text(4, num(1, key) + num(field, v))
names = b"".join(text(3, num(1, i) + text(2, "k%d" % i)) for i in range(1, 91))
outer = num(9, 1), text(22, "c"), text(23, "outer"), note(90, 17, 1), note(1, 4, -2**63)
said = '{"k90":"a text","k1":%d}' % -2**63
put(0, *outer, more=num(13, 1) + text(12, names + text(29, num(1, 1) + text(2, "a text"))))
put(0, num(9, 2))
put(0, *outer)
put(0, num(9, 2))
put(1, *outer)
out = [said, said]
for i in range(1, 61):
    for j in range(1, 61):
        if i != j:
            k = 61 + (i + j) % 29
            put(len(out), num(9, 1), text(22, "c"), note(i, 3, len(out)), note(j, 4, -j), note(k, 3, 2**63))
            put(len(out), num(9, 2))
            out.append('{"k%d":%d,"k%d":%d,"k%d":%d}' % (i, len(out), j, -j, k, 2**63))
put(99999, num(9, 2))
with open("keys.want", "w") as f:
    print(*out, said, sep="\n", file=f)
EOP
python3 keys.py | tl-decode | tl-cat | jq -c 'select(.ts != null) | .args' | sed 's/"#\(-*[0-9]*\)"/\1/g' >keys.got
ok 'all annotations are right' cmp keys.want keys.got
refuses 1 'categories.pftrace: byte [0-9]*: an event has too many categories' 'tl-decode -o x.tl categories.pftrace'
done_testing
