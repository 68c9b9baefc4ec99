#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the stream of tl-decode have everything of an XPlane file?

usage: xplane_events.py FILE NDJSON

Compares event by event: id, name, start, duration, kind, device, stream, thread,
correlation, and each stat as an argument. Exits 1 with the first differences.
"""
import collections
import json
import re
import sys

from xplane import Space

MEMCPY = re.compile(r"(?i:copy|memcpy)|MEMORY_COPY_|__amd_rocclr_copyBuffer")
MEMSET = re.compile(r"(?i:memset)|__amd_rocclr_fillBuffer")
INSTANT = "instant"


def untag(v):
    """'#123' is a number, '##a' the text '#a'."""
    if isinstance(v, str) and v.startswith("#"):
        return v[1:] if v.startswith("##") else int(v[1:])
    return v


def kind(e):
    if e.plane.device is not None:
        if "/device:TPU" in e.plane.name:
            return {"XLA Modules": "gpu_annotation"}.get(e.line.name)
        if e.line.name.startswith("Stream #"):
            return "memcpy" if MEMCPY.match(e.name) else "memset" if MEMSET.match(e.name) else "kernel"
        return None
    if e.corr or "_p" in e.stats and e.name == "DoEnqueueProgram":
        return "runtime"
    if e.name in ("MemoryAllocation", "MemoryDeallocation"):
        return "memory"
    if e.name.startswith("$"):
        return "python"
    if "step_num" in e.stats or "_r" in e.stats:
        return "annotation"
    return "op" if e.dur_ps else INSTANT


def differences(e, line):
    """Where the stream differs."""
    yield "name", e.name, line.get("name", "")
    yield "ts", e.ts, untag(line.get("ts"))
    yield "dur", e.dur, untag(line.get("dur", 0))
    if kind(e):
        yield "kind", kind(e), line["kind"]
    if e.corr and e.plane.device is not None:
        yield "corr", e.corr, untag(line.get("corr"))
    yield "pid", e.plane.pid, line.get("pid")
    if e.plane.device is not None:
        if line["kind"] in ("kernel", "memcpy", "memset"):
            yield "dev", e.plane.device, line.get("dev")
        stream = re.match(r"Stream #(\d+)", e.line.name)
        if stream:
            yield "gpu_stream", int(stream[1]), line.get("gpu_stream")
    args = {k: untag(v) for k, v in line.get("args", {}).items()}
    dup = {k: untag(v) for k, v in line.get("dup", [])}  # a name that has another meaning for us
    for name, v in e.stats.items():
        if v is not None and not isinstance(v, bytes):
            got = dup.get(name, args.get(name))
            if isinstance(v, float) and isinstance(got, (int, float)):
                got = float(got)
            yield "argument " + name, v, got


def main(path, ndjson):
    space, seen, wrong, kinds, base = Space(path), 0, 0, collections.Counter(), None
    with open(ndjson, encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            if "source" in line:
                base = line["source"]["facts"].get("base", base)
            if "id" not in line or line.get("kind") == "meta" or line.get("ph") == "M":
                continue
            if line["id"] >= len(space.events):
                wrong += 1
                print(f"event {line['id']} is not in the file")
                continue
            seen += 1
            kinds[line["kind"]] += 1
            for what, want, got in differences(space.events[line["id"]], line):
                if want != got:
                    wrong += 1
                    if wrong <= 10:
                        print(f"event {line['id']} {what}: {got!r} instead of {want!r}")
    if seen != len(space.events):
        wrong += 1
        print(f"{len(space.events)} events in the file, {seen} in the stream")
    if base is not None and int(base) != space.base:
        wrong += 1
        print(f"base {base} instead of {space.base}")
    print(f"{seen} events, {wrong} wrong: " + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
