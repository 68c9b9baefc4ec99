#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""protobuf_reader.py: Perfetto's protobuf, read by the generic protobuf library.

    protobuf_reader.py FILE.pftrace

The library decodes the messages by the part of Perfetto's schema below, which must
have all of their fields. Slices are paired here, per track by time, as in Perfetto.
Their names, categories, times, lengths and arguments must be those of tl-decode's
events of FILE. Needs Debian's python3-protobuf, or any other.
"""
import collections
import json
import subprocess
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# message: fields as "number label name type", * for repeated ones
SCHEMA = {
    "Trace": "1* packet TracePacket",
    "TracePacket": "6 clocks ClockSnapshot, 8 timestamp uint64, 10 sequence uint32, "
                   "11 event TrackEvent, 12 interned InternedData, 13 flags uint32, "
                   "59 defaults Defaults, 60 track TrackDescriptor, 87 first bool",
    "ClockSnapshot": "1* clock Clock, 2 primary int32",
    "Clock": "1 id uint32, 2 timestamp uint64, 3 incremental bool, 4 multiplier uint64",
    "Defaults": "58 clock uint32",
    "InternedData": "1* category Name, 2* event Name, 3* key Name, 29* text Bytes",
    "Name": "1 iid uint64, 2 name string",
    "Bytes": "1 iid uint64, 2 name bytes",
    "TrackEvent": "3* category_iids uint64, 4* annotation Annotation, 6 legacy Legacy, "
                  "9 type int32, 10 name_iid uint64, 11 track uint64, 30 value int64, "
                  "44 real double, 47* flow fixed64, 48* last_flow fixed64",
    "Legacy": "2 phase int32, 4 thread_us int64, 6 unscoped_id uint64, 7 scope string, "
              "8 bind_id uint64, 12 enclosing bool, 13 direction int32, 14 instant int32",
    "Annotation": "1 name_iid uint64, 2 bool_value bool, 3 uint_value uint64, "
                  "4 int_value int64, 5 double_value double, 6 string_value string, "
                  "9 json string, 10 name string, 17 string_iid uint64",
    "TrackDescriptor": "1 uuid uint64, 2 name string, 3 process Process, 4 thread Thread, "
                       "5 parent uint64, 8 counter Counter",
    "Process": "1 pid int32, 6 name string",
    "Thread": "1 pid int32, 2 tid int32, 5 name string",
    "Counter": "4 multiplier int64, 5 incremental bool"}


def trace_class():
    f = descriptor_pb2.FileDescriptorProto(name="part.proto", package="part", syntax="proto2")
    for name, fields in SCHEMA.items():
        m = f.message_type.add(name=name)
        for field in fields.split(", "):
            number, word, kind = field.split()
            to = m.field.add(name=word, number=int(number.rstrip("*")),
                             label=3 if number.endswith("*") else 1)
            if kind in SCHEMA:
                to.type, to.type_name = 11, ".part." + kind
            else:
                to.type = getattr(to, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    trace = pool.FindMessageTypeByName("part.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(trace)
    return message_factory.MessageFactory(pool).GetPrototype(trace)


def value(a, texts):
    """the number or text of an annotation"""
    for field in ("int_value", "uint_value", "bool_value", "double_value"):
        if a.HasField(field):
            return getattr(a, field)
    if a.HasField("string_iid"):
        return texts[a.string_iid].decode("utf-8", "replace")
    if a.HasField("json"):
        return json.loads(a.json)
    return a.string_value if a.HasField("string_value") else None


def slices(trace):
    names = collections.defaultdict(dict)
    now, events = {}, []
    for p in trace.packet:
        known = names[p.sequence]
        if p.flags & 1:
            known.clear()
        for c in p.clocks.clock:
            if c.id == p.defaults.clock:
                now[p.sequence] = c.timestamp
        for kind in ("category", "event", "key", "text"):
            for one in getattr(p.interned, kind):
                known[kind, one.iid] = one.name
        if not p.HasField("event"):
            continue
        now[p.sequence] += p.timestamp
        # negative times are in two's complement
        ns, e = (now[p.sequence] + 2**63) % 2**64 - 2**63, p.event
        if e.type == 1:
            texts = {iid: s for (kind, iid), s in known.items() if kind == "text"} \
                if any(a.HasField("string_iid") for a in e.annotation) else {}
            args = {known["key", a.name_iid] if a.HasField("name_iid") else a.name:
                    value(a, texts) for a in e.annotation}
            events.append((ns, e.track, known.get(("event", e.name_iid)),
                           known["category", e.category_iids[0]] if e.category_iids else None,
                           {k: v for k, v in args.items() if v is not None}))
        elif e.type == 2:
            events.append((ns, e.track, None))
    stacks, out = collections.defaultdict(list), []
    for e in sorted(events, key=lambda e: e[0]):
        if len(e) > 3:
            stacks[e[1]].append(e)
        else:
            begin = stacks[e[1]].pop()
            out.append((begin[2], begin[3], begin[0], e[0] - begin[0], begin[4]))
    return out, sum(map(len, stacks.values()))


def decoded(path):
    p = subprocess.run("tl-decode '%s' | tl-cat --ndjson --abs" % path, shell=True,
                       capture_output=True, check=True)
    out = []
    for line in filter(None, p.stdout.decode().split("\n")):
        e = json.loads(line)
        if e.get("ph") == "X" and "dur" in e:
            out.append((e.get("name"), e.get("cat") or None, int(str(e["ts"]).lstrip("#")),
                        e["dur"], e.get("args", {})))
    return out


def plain(v):
    if isinstance(v, str) and v[:1] == "#" and v[1:2] in list("0123456789-"):
        return json.loads(v[1:])
    return v


def main(path):
    with open(path, "rb") as f:
        trace = trace_class().FromString(f.read())
    size = trace.ByteSize()
    trace.DiscardUnknownFields()
    wrong = [] if trace.ByteSize() == size else ["there are fields that the schema lacks"]
    theirs, nopen = slices(trace)
    left = collections.defaultdict(list)
    for *slot, args in decoded(path):
        left[tuple(slot)].append({k: plain(v) for k, v in args.items()})
    for *slot, args in theirs:
        match = [a for a in left[tuple(slot)] if all(a.get(k) == v for k, v in args.items())]
        if match:
            left[tuple(slot)].remove(match[0])
        else:
            wrong.append("tl-decode lacks %s %s" % (slot, args))
    wrong += ["tl-decode alone has %s" % (slot,) for slot, rest in left.items() if rest]
    for w in wrong[:5]:
        print("# " + w)
    print("%sok - %d slices, %d open" % ("not " if wrong else "", len(theirs), nopen))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
