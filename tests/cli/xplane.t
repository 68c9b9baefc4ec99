#!/bin/sh
# SPDX-License-Identifier: MIT
# XPlane files made field by field: times, stats, kinds, names, damage.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# make FILE: a Python expression on standard input, the fields of an XSpace
make() {
	PYTHONPATH=$ROOT/tests/gen python3 -c '
import gzip, sys
from xspace import msg
def plane(name, *lines, id=0, metas=(), keys=(), stats=()):
    """metas and keys by number from 1; a meta is a name or fields."""
    entry = lambda n, v: msg((1, n), (2, msg((1, n), *([(2, v)] if isinstance(v, str) else v))))
    return msg((1, id), (2, name), (3, list(lines)), (4, [entry(n, m) for n, m in enumerate(metas, 1)]),
               (5, [entry(n, k) for n, k in enumerate(keys, 1)]), (6, list(stats)))
def line(id, name, ts, *events, more=()):
    return msg((1, id), (2, name), (3, ts), (4, list(events)), *more)
def ev(meta, start, dur, *stats):
    return msg((1, meta), (2, start), (3, dur), (4, [msg((1, k), (f, v)) for k, f, v in stats]))
open(sys.argv[1], "wb").write(eval(sys.stdin.read()))
' "$1"
}
# of FILTER: the events of x.pb by jq
of() {
	tl-decode x.pb 2>/dev/null | tl-cat | jq -c "select(.kind != null and .kind != \"meta\") | $1"
}

# ---- times ----
make x.pb <<'END'
msg((1, plane("/device:GPU:0", line(3, "Stream #3(Kernel)", 100, *[ev(1, s, d) for s, d in
    [(499, 1), (500, 999), (1499, 2), (-500, 0), (-501, 2), (1500, 0), (5000, -2000), (2**63 - 1, 5)]]
    + [msg((1, 1), (5, 7), (3, 9000)), msg((1, 1))]), metas=["k"])))
END
is 'start and end to the nearest ns, halves up; durations are their difference' "$(of '[.ts, .dur]' | tr -d '\n')" \
	'[100,1][101,0][101,1][100,0][99,1][102,0][105,0][null,null][null,null][100,0]'
is 'an end before the start is clamped' "$(of 'select(.flags) | [.id, .flags]')" '[6,["clamped"]]'
is 'aggregated events have no time' "$(of 'select(.args.num_occurrences) | [.id, .args.num_occurrences]')" '[8,7]'
is 'events without a time are counted' "$(tl-decode x.pb 2>/dev/null | tl-cat | jq -c 'select(.source.final).source.facts.skipped')" \
	'{"time":2,"duration":1}'
make x.pb <<'END'
msg((1, [plane("/host:CPU", line(1, "a", 0, ev(9, 1000, 2000), ev(1, 5000, -1), msg((1, 2), (1, 1), (3, 3000))), metas=["op"]),
    plane("", line(1, "b", 0, ev(1, 0, 1000), ev(1, 1000, 1000)), metas=["op"])]))
END
is 'of several metadata numbers the last counts' "$(of '[.name, .kind]' | tr -d '\n')" \
	'["#9","slice"]["op","op"]["op","op"]["op","slice"]["op","slice"]'
is 'unknown host events, planes without a name, less than no time are counted' "$(tl-decode x.pb 2>/dev/null | tl-cat |
	jq -c 'select(.source.final).source.facts.skipped')" '{"duration":1,"category":3}'
cat >epoch.py <<'END'
msg((1, plane("/host:CPU", line(1, "a", 1757516928109201518, ev(1, 2000, 3000)), line(2, "b", 1757516928109201500, ev(1, 1000, 0)), line(3, "c", 0),
    metas=["op"])), STOP)
END
sed 's/, STOP/)/; s/))$/)/' epoch.py | make x.pb
is 'times since 1970 count from the first line' "$(of '[.ts, .dur]' | tr -d '\n')$(tl-decode x.pb | tl-cat | jq -c \
	'select(.source.final).source.facts.base')" '[20,3][1,null]"1757516928109201500"'
sed 's/STOP/(1, plane("Task Environment", keys=["profile_start_time"], stats=[msg((1, 1), (3, 1757516928109201000))]))/' epoch.py | make x.pb
is 'or from the beginning of the recording' "$(of '[.ts, .dur]' | tr -d '\n')$(tl-decode x.pb | tl-cat | jq -c \
	'select(.source.final).source.facts.base')" '[520,3][501,null]"1757516928109201000"'

# ---- stats ----
make x.pb <<'END'
msg((1, plane("/device:GPU:12", line(9, "Stream #31(Kernel)", 0,
    ev(1, 0, 1000, (1, 2, 0.5), (2, 3, 2**64 - 1), (3, 4, -5), (4, 5, "caf\u00e9"), (5, 6, b"\xff"), (6, 7, 8), (99, 4, 1),
       (7, 2, float("inf")), (9, 8, gzip.compress(b"long text", mtime=0)), (10, 4, 0)),
    ev(1, 0, 1000, (11, 5, "regs:32 static_shared:1024 dynamic_shared:2048 grid:4,2,1 block:128,1,1 occ_pct:50"), (10, 4, 17)),
    ev(1, 0, 1000, (11, 5, " grid:4,2 block:1,2,x regs:2191500840 static_shared:8 dynamic_shared:0 private_mem:3 junk :::")),
    ev(2, 0, 1000, (12, 5, "kind_src:device kind_dst:host size:4096 dest:0 async:1"))),
    metas=["k", "MemcpyD2H"], keys=["half", "big", "minus", "text", "bytes", "ref", "inf", "the text", "gzip", "correlation_id",
    "kernel_details", "memcpy_details"])))
END
is 'all types' "$(of 'select(.id == 0) | .args')" \
	'{"device":12,"stream":31,"half":0.5,"big":"#18446744073709551615","minus":-5,"text":"café","ref":"the text","#99":1,"inf":"#Infinity","gzip":"long text","correlation_id":0}'
is 'a correlation of 0 is none' "$(of '[.corr]' | head -n 2 | tr -d '\n')" '[null][17]'
is 'details of a kernel' "$(of 'select(.id == 1) | .args | del(.kernel_details, .device, .stream, .correlation_id)')" \
	'{"grid":[4,2,1],"block":[128,1,1],"registers per thread":32,"shared memory":3072}'
is 'garbage among them is left out' "$(of 'select(.id == 2) | .args | del(.kernel_details, .device, .stream)')" \
	'{"private_segment_size":3}'
is 'a copy' "$(of 'select(.id == 3) | [.kind, .dev, .gpu_stream, .args.bytes]')" '["memcpy",12,31,4096]'

# ---- kinds ----
make x.pb <<'END'
msg((1, plane("/host:CPU", line(2**63 + 5, "py", 0, ev(1, 0, 9000), ev(2, 1000, 2000, (1, 4, 3)), ev(3, 1000, 0),
    ev(4, 2000, 1000, (2, 3, 256)), ev(5, 2000, 0, (2, 3, 256)), ev(3, 3000, 1000, (3, 4, 7)), ev(3, 4000, 1000, (4, 5, "named")),
    ev(77, 5000, 10), more=[(10, 2**32 + 6), (11, "main thread")]),
    metas=["$a.py:1 f", "train", "op", "MemoryAllocation", "MemoryDeallocation"],
    keys=["step_num", "allocation_bytes", "correlation_id", "step_name"])), (4, "node7"),
    (1, plane("/device:CUSTOM:x", line(1, "l", 0, ev(1, 0, 5)), id=3, metas=["c"])),
    (1, plane("/host:other", line(1, "l", 0, ev(1, 0, 5000)), metas=["scope"])),
    (1, plane("/device:GPU:0", line(4, "Stream #4(Memset,Compute)", 0, *[ev(n, n, 1) for n in range(1, 9)]),
        line(5, "XLA Modules", 0, ev(8, 0, 9)), id=3, metas=["Memset 0", "copy.3", "MEMORY_COPY_HOST_TO_DEVICE",
        "__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_copyBuffer.kd", "fusion_copy", "CopyDeviceToDevice", "jit_f(5)"])),
    (1, plane("/device:GPU:1", line(4, "", 0, ev(1, 0, 9)), id=3, metas=["same id"])), (1, plane("/device:GPU:2")))
END
is 'on the host' "$(of 'select(.pid == 701) | .kind' | tr -d '\n"')" 'pythonannotationinstantmemorymemoryruntimeopslice'
is 'on a GPU' "$(of 'select(.pid == 4) | .kind' | tr -d '\n"')" 'memsetmemcpymemcpymemsetmemcpykernelmemcpykernelgpu_annotation'
is 'allocations' "$(of 'select(.kind == "memory") | [.ph, .args.Bytes]' | tr -d '\n')" '["i",256]["i",-256]'
is 'step_name is the name, and an id that the file lacks is one' "$(of 'select(.id >= 6 and .id <= 7) | [.name, .args.metadata_id]' | tr -d '\n')" \
	'["named",null]["#77",77]'
is 'processes are told apart, and threads have their display id and name' "$(tl-decode x.pb | tl-cat | jq -c \
	'select(.kind == "meta") | [.pid, .tid // "-", .args.name]')" '[701,6,"main thread"]
[701,"-","node7 /host:CPU"]
[504,1,"l"]
[504,"-","node7 /device:CUSTOM:x"]
[1002,1,"l"]
[1002,"-","node7 /host:other"]
[4,4,"Stream #4(Memset,Compute)"]
[4,5,"XLA Modules"]
[4,"-","node7 /device:GPU:0"]
[1004,"-","node7 /device:GPU:1"]'
is 'hostname and devices' "$(tl-decode x.pb | tl-cat | jq -c 'select(.source.final).source.facts | [.format, .hostname, .devices]')" \
	'["xplane","node7",[{"id":0},{"id":1},{"id":2}]]'
is '--kind, gzip, zstd and pipes' "$(zstd -qc x.pb | tl-decode --kind kernel | tl-cat --tsv -F id --no-header | tr '\n' ' ')$(
	gzip -c x.pb | tl-decode | tl-cat | wc -l)" "15 17 19 $(tl-decode x.pb | tl-cat | wc -l)"

# ---- TPUs ----
make x.pb <<'END'
msg((1, plane("/host:CPU", line(1, "w", 0, ev(1, 0, 1000, (1, 3, 2**64 - 9), (2, 3, 12)), ev(1, 0, 1000, (1, 3, 2**64 - 9), (2, 3, 7))),
    metas=["DoEnqueueProgram"], keys=["_p", "_pt"])),
    (1, plane("/device:TPU:0", line(3, "XLA Ops", 0, ev(2, 5000, 1000), ev(3, 6000, 1000), ev(4, 20000, 10)),
    line(4, "Async XLA Ops", 0, ev(5, 5000, 2000, (3, 5, "copy-done"))),
    line(2, "XLA Modules", 0, ev(1, 4000, 8000, (1, 4, -9), (2, 3, 12))), line(6, "XLA TraceMe", 0, ev(6, 0, 9)),
    metas=["jit_f(7)", [(2, "%add.1 = f32[2]{0} add(...)"), (4, "add.1"), (5, msg((1, 4), (5, "loop fusion"))), (5, msg((1, 5), (3, 2**64 - 2)))],
    [(2, "%copy-done = f32[2]{0} copy-done(...)"), (4, "copy-done"), (5, msg((1, 4), (5, "copy-done")))], "late",
    [(2, "%copy-start = f32[2]{0} copy-start(...)"), (4, "async-copy"), (5, msg((1, 4), (5, "copy-start")))], "wait"],
    keys=["_c", "_ct", "hlo_op", "hlo_category", "program_id"])))
END
is 'ops of TPUs belong to the run of the module, and so does its launch' "$(of '[.kind, .corr, .args.hlo_op, .args.program_id]')" \
	'["runtime",-9,null,null]
["op",null,null,null]
["kernel",-9,"add.1","#18446744073709551614"]
["memcpy",-9,"copy-done",null]
["kernel",null,"late",null]
["memcpy",-9,"copy-start",null]
["gpu_annotation",null,null,null]
["slice",null,null,null]'
is 'all linked but what is outside of runs' "$(tl-tree x.pb | tl-cat --tsv -F kind,launch --no-header |
	awk -F'\t' '$1 == "kernel" || $1 == "memcpy" { n[$2]++ } END { print n["0"], n[""] }')" '3 1'

# ---- damage ----
make x.pb <<'END'
msg((1, plane("/device:GPU:0", line(3, "Stream #3", 0, ev(1, 0, 1000), ev(1, 2000, 1000)), metas=["k"])),
    (1, plane("/host:CPU", line(1, "t", 0, ev(1, 0, 1000), ev(1, 2000, 1000)), metas=["op"])))
END
python3 - <<'END'
whole = open("x.pb", "rb").read()
open("group.pb", "wb").write(whole + b"\x0b")
open("zero.pb", "wb").write(whole + b"\x02\x00")
open("long.pb", "wb").write(whole + b"\x08" + b"\xff" * 11)
open("cut.pb", "wb").write(whole[:-20])
at = whole.index(b"Stream #3") + 9
open("event.pb", "wb").write(whole[:at + 3] + b"\x7f" + whole[at + 4:])
open("text.pb", "wb").write(whole.decode(errors="replace").encode())
END
size=$(wc -c <x.pb)
refuses 1 "byte $size: a group, which is not read" 'tl-decode group.pb -o y.tl'
refuses 1 "byte $size: a field's number is out of range" 'tl-decode zero.pb -o y.tl'
refuses 1 "byte $size: a number of more than 64 bits" 'tl-decode long.pb -o y.tl'
refuses 1 'byte [0-9]*: field 4 is 127 bytes long, [0-9]* are left .tl-decode --salvage' 'tl-decode event.pb -o y.tl'
refuses 1 'copied as text; get the original$' 'tl-decode --salvage text.pb -o y.tl'
is 'no output' "$(test -e y.tl || echo none)" none
# saved FILE: exit status, then events by process
saved() {
	tl-decode --salvage --status-fd 5 "$1" -o y.tl 5>y.ids 2>y.err
	echo $? "$(tl-cat y.tl 2>/dev/null | jq -c 'select(.kind != null and .kind != "meta") | [.pid, .name]' | tr -d '\n')"
}
all='[1,"k"][1,"k"][701,"op"][701,"op"]'
is 'salvage: whole' "$(saved x.pb)" "0 $all"
is 'salvage: garbage behind' "$(saved group.pb)" "3 $all"
is 'salvage: a length in an event costs the line' "$(saved event.pb)" '3 [701,"op"][701,"op"]'
is 'salvage: names that are cut off are numbers' "$(saved cut.pb)" '3 [1,"k"][1,"k"][701,"#1"]'
is 'salvage: it says so, and that events have no name now' "$(jq -r .id y.ids | tail -n 2 | tr '\n' ' ')" 'salvage-cut skipped '
is 'salvage: a cut is one loss, of what is no whole event' "$(jq -r 'select(.id == "salvage-cut") | [.losses, .bytes] | join(" ")' y.ids)" '1 2'
like 'salvage: and what it costs' "$(cat y.ids)" 'the HLO modules are cut off: ops have no shapes'
like 'salvage: the stream is marked' "$(tl-cat --check y.tl 2>&1)" 'salvaged from a damaged trace'
python3 - <<'END'
import subprocess
whole, bad = open("x.pb", "rb").read(), []
for n in range(1, len(whole)):
    for option in ([], ["--salvage"]):
        open("c.pb", "wb").write(whole[:n])
        p = subprocess.run(["tl-decode", *option, "-o", "c.tl", "c.pb"], capture_output=True)
        if p.returncode not in (0, 1, 3) or (not option and n > 20 and p.returncode == 0 and whole[n:n + 1] != b"\n"):
            bad.append((n, option, p.returncode, p.stderr))
open("bad", "w").write(str(bad))
END
is 'cut anywhere it ends well' "$(cat bad)" '[]'
make x.pb <<'END'
msg((1, plane("/host:CPU", line(1, "t", 0, ev(1, 0, 1000, *[(n, 4, n) for n in range(1, 1026)])), metas=["op"])))
END
refuses 1 'an event of more than 1,024 stats' 'tl-decode -o y.tl x.pb'
make x.pb <<'END'
msg((1, plane("/host:CPU", line(1, "t", 0, ev(1, 0, 1000)), metas=[[(2, "op"), *[(5, msg((1, 1), (6, b"x")))] * 1024]])))
END
refuses 1 "an event's metadata of more than 1,024 fields" 'tl-decode -o y.tl x.pb'
is 'salvage: the metadata is what is in front' "$(saved x.pb)" '3 [701,"op"]'
make x.pb <<'END'
msg((1, plane("/device:GPU:0", line(1, "Stream #1", 0, ev(1, 0, 1000, (1, 5, "b"), (2, 4, 7))), metas=["k"], keys=["hlo_op", "program_id"])),
    (1, plane("/host:metadata", metas=[[(2, "m(7)"), (5, msg((1, 1), (6, msg((1, msg((3, msg(
        (2, msg((1, "a"), (2, "add"), (35, 1)) + b"\x60\1" * 10**5), (2, msg((1, "b"), (2, "add"), (35, 2), (36, [1] * 10**5)))))))))))]],
    keys=["Hlo Proto"])))
END
timeout 20 tl-decode --status-fd 5 x.pb -o y.tl 5>y.ids 2>y.err
is 'an instruction that is read again and again ends the record' "$? $(jq -r .id y.ids)" '0 hlo-too-large'
make x.pb <<'END'
msg((1, plane("/host:CPU", line(1, "t", 0, ev(1, 0, 1000)), metas=["op"])), (2, "CUPTI could not be loaded"),
    (3, "12 events dropped"))
END
tl-decode --status-fd 5 x.pb -o y.tl 5>y.ids 2>y.err
is 'what the recorder says' "$? $(jq -r '.id + ": " + .reason' y.ids)" '3 recording-losses: CUPTI could not be loaded
recorder-warned: 12 events dropped'
make x.pb <<'END'
msg((1, plane("/device:GPU:0", line(1, "Stream #1", 0, *[ev(1, 0, 1000)] * 50),
    metas=[[(2, "\u00e9" * 40000), (4, "k"), (5, [msg((1, 1), (5, "t" * 5000)), msg((1, 2), (7, 3)),
        msg((1, 4), (8, gzip.compress(b"z" * 5000)))])]], keys=["long", "ref", "r" * 70000, "zip"])))
END
is 'long texts of metadata are in the stream once' "$(test $(($(tl-decode x.pb | wc -c) / 2)) -lt $(($(wc -c <x.pb))) && echo small)" small
is 'and with each event, up to 64 KiB' \
	"$(of '.args | [(.long_name, .ref | length, .[-16:]), (.long, .zip | length)]' | uniq -c | tr -s ' ')" \
	' 50 [32785,".. (80000 bytes)",65553,".. (70000 bytes)",5000,5000]'
make x.pb <<'END'
msg((1, plane("/device:GPU:0", line(1, "Stream #1", 0, ev(1, 0, 1000, (1, 5, "a"), (2, 5, "m"))), metas=["k"], keys=["hlo_op", "hlo_module"])),
    (1, plane("/host:metadata", metas=[[(2, "m(7)"), (5, msg((1, 1), (6, msg((1, msg((1, "m"), (3, msg((2, msg((1, "a"), (2, "add"), (35, 1)))))))))))]],
    keys=["Hlo Proto"])))
END
# events at 0, 10 and 20 us of 1, 3 and 4 us: 3 of 8 us name their instruction
make y.pb <<'END'
msg((1, plane("/device:GPU:0", line(1, "Stream #1", 0, ev(1, 0, 1000000), ev(1, 10000000, 3000000, (1, 5, "a")),
    ev(1, 20000000, 4000000)), metas=["k"], keys=["hlo_op"])))
END
is 'kernels without an instruction are a finding, by their time' \
	"$(tl-health y.pb --no-header -c severity,check,count,time_ns,percent 2>/dev/null | grep no_hlo | tr '\t' ' ')" \
	'warning content.no_hlo 2 5000 62.5'
is 'a module by its name has the program of that, not its entry'"'"'s number' \
	"$(tl-decode x.pb | tl-cat | jq -r 'select(.meta).meta.key')" 'hlo 7'
done_testing
