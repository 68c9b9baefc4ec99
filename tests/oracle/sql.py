#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the events of a database with the lines of the tree it is made of.

usage: tl-cat TREE | tests/oracle/sql.py DATABASE

By the pages tl-sql and tl-stream(5) alone: parents are looked up again, arguments
are compared as values.
"""
import json
import sqlite3
import sys

GPU = ("kernel", "memcpy", "memset")


def untag(v):
    """The value that a line holds."""
    if isinstance(v, dict):
        return {k: untag(x) for k, x in v.items()}
    if isinstance(v, str) and v.startswith("#"):
        if v.startswith("##"):
            return v[1:]
        try:
            return json.loads(v[1:], parse_constant=str)
        except ValueError:
            return v[1:]
    return v


def number(v):
    return untag(v) if isinstance(v, str) else v


def uid(v, inst=0):
    """A reference: 12, "#12" or "12.3"."""
    if isinstance(v, str) and "." in v:
        return tuple(int(x) for x in v.split("."))
    return number(v), inst


def text(v):
    return None if v is None else str(untag(v))


def main():
    db = sqlite3.connect(sys.argv[1])
    rows = db.execute(
        "SELECT e.*, c.text AS cat, n.text AS name FROM events e"
        " LEFT JOIN strings c ON c.id = e.cat_id"
        " LEFT JOIN strings n ON n.id = e.name_id ORDER BY seq")
    names = [d[0] for d in rows.description]
    seq_of, info, open_, forward, src, seq, bad = {}, {}, [], [], None, 0, []
    sources, seen = 0, {"kernel": 0, "op": 0, "launch": 0}
    for line in sys.stdin:
        line = json.loads(line)
        if "source" in line:
            sources = max(sources, line["source"]["src"] + 1)
        if "id" not in line or line.get("cat") == "inferred_step":
            continue
        row = dict(zip(names, next(rows)))
        seq += 1
        me = number(line["id"]), line.get("inst", 0)
        if line["src"] != src:
            src, seq_of, open_ = line["src"], {}, []
        seq_of[me] = seq
        flags = line.get("flags", [])
        del open_[line.get("depth", 0):]
        above = {"op": None, "module": None}
        for s in reversed(open_):
            kind, name = info[s]
            if kind == "op" and above["op"] is None:
                above["op"] = s
            if (kind == "python" and (name or "").startswith("nn.Module: ")
                    and above["module"] is None):
                above["module"] = s
        open_.append(seq)
        info[seq] = line["kind"], line.get("name")
        want = {"seq": seq, "src": src, "id": me[0], "inst": me[1],
                "kind": line["kind"], "cat": line.get("cat"),
                "name": line.get("name"), "ts_ns": number(line.get("ts")),
                "dur_ns": number(line.get("dur")),
                "depth": line.get("depth"), "ndesc": line.get("ndesc"),
                "ngpu": line.get("ngpu"), "flags": ",".join(flags) or None,
                "pid": text(line.get("pid")), "tid": text(line.get("tid")),
                **above}
        for key in ("dev", "gpu_stream", "corr", "ext"):
            want[key] = number(line.get(key))
        for key in ("parent", "launch"):
            want[key] = (seq_of.get(uid(line[key], me[1])) if key in line
                         else None)
        if "fwd" in line:
            forward.append((seq_of, uid(line["fwd"], me[1]), row["fwd"]))
        for key, v in want.items():
            if row[key] != v:
                bad.append(f"{me} {key}: {row[key]!r}, not {v!r}")
        got = row["args"]
        if ("args" in line) != (got is not None) or (
                got is not None and json.loads(got, parse_constant=str)
                != untag(line["args"])):
            bad.append(f"{me} args: {got}")
        if line["kind"] in ("kernel", "op"):
            seen[line["kind"]] += not {"duplicate", "stub"} & set(flags)
        if line["kind"] in GPU and "launch" in line:
            seen["launch"] += "duplicate" not in flags
    for places, of, got in forward:
        if places.get(of) != got:
            bad.append(f"fwd {of}: {got}")
    if next(rows, None) is not None:
        bad.append("more rows than events")
    for view, n in (("kernels", seen["kernel"]), ("ops", seen["op"]),
                    ("launches", seen["launch"]), ("sources", sources)):
        got, = db.execute(f"SELECT count(*) FROM {view}").fetchone()
        if got != n:
            bad.append(f"{view}: {got} rows, not {n}")
    print("\n".join(bad[:10]) or f"{seq} events")
    return bool(bad)


sys.exit(main())
