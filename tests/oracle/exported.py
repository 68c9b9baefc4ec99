#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exported.py TRACE...: reads back what tl-export --to perfetto writes.

Each trace is exported, read by the reader in this file, which knows protobuf but
nothing of our programs, and decoded by tl-decode. The reader must find slices
that nest on their tracks. tl-decode must find the events of the trace: kinds,
names, times, processes and threads, arguments, ids and launches. Perfetto has no
place for arrows of category ac2g (launches are arrows), names of processes and
threads (tracks have them), and members of Chrome's events that are no arguments.
"""
import collections
import json
import re
import subprocess
import sys


def varint(b, i):
    r = s = 0
    while True:
        r |= (b[i] & 127) << s
        s += 7
        i += 1
        if b[i - 1] < 128:
            return r, i


def fields(b):
    """(number, value) of a message; messages are bytes"""
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        if key & 7 == 0:
            v, i = varint(b, i)
        elif key & 7 == 1:
            v, i = int.from_bytes(b[i:i + 8], "little"), i + 8
        else:
            assert key & 7 == 2, key
            n, i = varint(b, i)
            v, i = b[i:i + n], i + n
        yield key >> 3, v


def signed(u):
    return u - (1 << 64) if u >> 63 else u


def text(name):
    return None if name is None else name.decode("utf-8", "replace")


def check_tracks(data):
    """slices by tracks, as Perfetto pairs them: sorted by time, a stack each"""
    clocks, names, parents, events = {}, {}, set(), []
    flows = collections.Counter(), collections.Counter()
    for n, packet in fields(data):
        assert n == 1
        p = {}
        for f, v in fields(packet):
            p.setdefault(f, v)
        q = p[10]
        if 6 in p:
            for f, v in fields(p[6]):
                c = dict(fields(v)) if f == 1 else {}
                if c.get(1) == 64:
                    assert c[3] == 1
                    clocks[q] = c[2]
        if 12 in p:
            for f, v in fields(p[12]):
                entry = dict(fields(v))
                names[q, f, entry[1]] = entry[2]
        if 60 in p:
            d = dict(fields(p[60]))
            assert d.get(5, 0) == 0 or d[5] in parents
            parents.add(d[1])
        if 11 not in p:
            continue
        clocks[q] += p[8]
        e = {}
        for f, v in fields(p[11]):
            assert f not in (47, 48) or len(e.setdefault(f, [])) < 999
            if f in (47, 48):
                flows[f - 47][v] += 1
            e.setdefault(f, v)
        assert e[11] in parents, "a track is not described"
        assert 10 not in e or (q, 2, e[10]) in names, "a name is not told"
        if e.get(9) in (1, 2):
            events.append((signed(clocks[q]), e[11], e[9], names.get((q, 2, e.get(10)))))
    stacks, slices = collections.defaultdict(list), collections.Counter()
    for ts, track, kind, name in sorted(events, key=lambda e: e[0]):
        if kind == 1:
            stacks[track].append((ts, name))
        else:
            begin, name = stacks[track].pop()
            slices[text(name),
                   begin, ts - begin] += 1
    for stack in stacks.values():
        for begin, name in stack:
            slices[text(name),
                   begin, None] += 1
    return slices, flows


def plain(v):
    if isinstance(v, str) and v[:1] == "#" and v[1:2] in list("0123456789-"):
        return json.loads(v[1:])
    return v


def events_of(command):
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command + " | tl-link | tl-cat"],
                       capture_output=True, check=False)
    base, events = 0, []
    for line in filter(None, p.stdout.decode("utf-8", "surrogatepass").split("\n")):
        e = json.loads(line)
        if "source" in e:
            base = int(e["source"]["facts"].get("base", base))
        elif "id" in e:
            events.append(e)
    return base, events


def clean(v):
    """half a surrogate pair is no UTF-8: each byte is replaced"""
    return re.sub(r"[\ud800-\udfff]", "\ufffd" * 3, v) if isinstance(v, str) else v


ROLES = ("device", "stream", "correlation", "External id", "tid", "flow_ids")


def canonical(base, events):
    """each event as a text, without what the exporter may add"""
    where = {(e["id"], e.get("inst", 0)): "%s %s" % (e.get("name"), e.get("ts")) for e in events}
    out, texts = [], {}
    for e in events:
        kind, args = e["kind"], e.get("args", {})
        if kind in ("meta", "end") or "ts" not in e or e.get("cat") == "ac2g" and kind == "flow":
            continue
        if not isinstance(args, dict):
            args = {}
        args = {k: plain(v) for k, v in args.items() if k not in ROLES}
        ident = [v if isinstance(v, int) else int(v) if isinstance(v, str) and v.isdigit()
                 else texts.setdefault(json.dumps(v), "text")
                 if v is not None else None for v in (e.get("pid"), e.get("tid"))]
        if ident[0] is None:
            ident[1] = None  # a track always has a number
        ident = ["text" if isinstance(v, int) and v >= 10**9 else v for v in ident]
        if kind == "counter":
            for k, v in args.items():
                if isinstance(v, (int, float)) and not isinstance(v, bool):
                    name = e["name"] if k == "value" else e["name"] + " " + k
                    out.append(json.dumps([kind, name, e["ts"] + base, float(v), ident[0]]))
            continue
        launch = e.get("launch")
        if launch is not None:
            launch = where.get((launch, 0), "elsewhere")
            launch = launch.rsplit(" ", 1)
            launch = [launch[0], int(launch[1]) + base]
        roles = [e.get(k) if isinstance(e.get(k), int) else None for k in ("corr", "ext")]
        out.append(json.dumps([kind, clean(e.get("name")), e["ts"] + base, e.get("dur"), ident,
                               roles, launch, args], sort_keys=True))
    return collections.Counter(out)


def check(trace):
    done = subprocess.run(["tl-export", "--to", "perfetto", trace], capture_output=True, check=False)
    if done.returncode == 1 and b"no trace" in done.stderr:
        return []
    if done.returncode not in (0, 3):
        return ["tl-export: " + done.stderr.decode()]
    slices, flows = check_tracks(done.stdout)
    with open("exported.pftrace", "wb") as f:
        f.write(done.stdout)
    base, theirs = events_of("tl-decode '%s'" % trace)
    own_base, ours = events_of("tl-decode exported.pftrace")
    a, b = canonical(base, theirs), canonical(own_base, ours)
    wrong = ["%s: lost %s" % (trace, x[:300]) for x in (a - b)] + \
        ["%s: new %s" % (trace, x[:300]) for x in (b - a)]
    expected = collections.Counter(
        (e.get("name"), e["ts"] + own_base, e.get("dur")) for e in ours
        if e.get("ph") == "X" and "ts" in e)
    wrong += ["%s: the reader lacks %s" % (trace, x) for x in expected - slices]
    wrong += ["%s: the reader has %s" % (trace, x) for x in slices - expected]
    nlinked = sum(1 for e in theirs if "launch" in e and "ts" in e)
    if not any("flow_ids" in e.get("args", {}) for e in theirs) and \
            (sum(flows[1].values()) != nlinked or set(flows[1]) - set(flows[0])):
        wrong.append("%s: %d arrows end, %d events have a launch" %
                     (trace, sum(flows[1].values()), nlinked))
    return wrong


def main(traces):
    bad = 0
    for trace in traces:
        wrong = check(trace)
        bad += bool(wrong)
        for w in wrong[:6]:
            print("# " + w)
        print("%sok - %s" % ("not " if wrong else "", trace))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
