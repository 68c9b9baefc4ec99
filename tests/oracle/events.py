#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the stream of tl-decode have everything of a Chrome trace?

usage: events.py TRACE NDJSON

Reads the trace with Python's JSON reader, rebuilds each event from the lines of
tl-cat, and compares them as JSON values: every member, argument and number, and
the metadata around the events. Exits 1 with the first differences.
"""
import gzip
import json
import sys
from decimal import Decimal

FIXED = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"}


def number(text):
    if text in ("NaN", "Infinity", "-Infinity"):
        return text
    value = Decimal(text)
    return int(text) if text.lstrip("-").isdigit() else value


def untag(value):
    """Undoes the marks of NDJSON: '#123' is a number, '##a' the text '#a'."""
    if isinstance(value, str) and value.startswith("#"):
        return value[1:] if value.startswith("##") else number(value[1:])
    return value


def same(a, b):
    if type(a) is not type(b) and not (
            isinstance(a, (int, Decimal)) and isinstance(b, (int, Decimal))
            and not isinstance(a, bool) and not isinstance(b, bool)):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def rebuild(line, base):
    event = {k: line[k] for k in ("ph", "cat", "name") if k in line}
    for key in ("pid", "tid"):
        if key in line:
            event[key] = untag(line[key])
    if "ts" in line:
        event["ts"] = Decimal(untag(line["ts"]) + base) / 1000
    if "dur" in line:
        event["dur"] = Decimal(untag(line["dur"])) / 1000
    if "args" in line:
        event["args"] = {k: untag(v) for k, v in line["args"].items()}
    for key, value in line.get("top", {}).items():
        event[key] = untag(value)
    return event


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig", "surrogatepass")
    options = {"parse_float": Decimal, "parse_constant": str}
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError:
        # the array may be left open, also after a comma
        text = text.rstrip()
        return json.loads(text.rstrip(",") + "]", **options)


def main(trace, ndjson):
    whole = load(trace)
    events = whole if isinstance(whole, list) else whole.pop("traceEvents")
    expected_meta = {} if isinstance(whole, list) else whole
    meta, base, seen, wrong = {}, 0, 0, 0
    with open(ndjson, encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text, parse_float=Decimal, parse_constant=str)
            if "meta" in line:
                meta[line["meta"]["key"]] = untag(line["meta"]["value"])
            elif "source" in line:
                base = int(line["source"]["facts"].get("base", "0"))
            elif "id" in line:
                got = rebuild(line, base)
                if line["id"] != seen or not same(got, events[seen]):
                    wrong += 1
                    if wrong <= 5:
                        print(f"event {seen}:\n  trace  {events[seen]}\n"
                              f"  stream {got}")
                seen += 1
    if seen != len(events):
        wrong += 1
        print(f"{len(events)} events in the trace, {seen} in the stream")
    for key in expected_meta.keys() | meta.keys():
        if key not in meta or key not in expected_meta or not same(
                meta[key], expected_meta[key]):
            wrong += 1
            print(f"metadata {key!r} differs")
    print(f"{seen} events, {len(meta)} metadata members, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
