#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tables.py DIR <TABLES: typed NDJSON as tl-report's programs write it.

TABLES is JSON, {"name": [{"column": value, ...}, ...], ...}; a column's type is
that of its first value. Time of the parts of a window is summed here: a table
"idle_window" gets "window_ns" and "class_ns" of the rows of "idle" if it lacks them.
"""
import json
import os
import sys

CLASSES = "host sync data compile start_up allocation missing".split()


def type_of(values):
    value = next((v for v in values if v is not None), "")
    return {bool: "bool", int: "int", float: "real", str: "text", list: "json",
            dict: "json"}[type(value)]


def sum_window(row, idle):
    for c in CLASSES:
        row.setdefault(c + "_ns", sum(
            r["time_ns"] for r in idle
            if r["class"] == c and r.get("rank") == row.get("rank")))
    for c in ("gpu", "communication", "copy"):
        row.setdefault(c + "_ns", 0)
    row.setdefault("window_ns", sum(row[c + "_ns"] for c in CLASSES + [
        "gpu", "communication", "copy"]))


def main():
    tables = json.load(sys.stdin)
    for row in tables.get("idle_window", []):
        sum_window(row, tables.get("idle", []))
    for name, rows in tables.items():
        ids = list(dict.fromkeys(k for row in rows for k in row))
        columns = [{"id": i, "type": type_of([r.get(i) for r in rows])} for i in ids]
        with open(os.path.join(sys.argv[1], name + ".ndjson"), "w",
                  encoding="utf-8") as file:
            for line in ([{"table": name, "columns": columns}] +
                         [{i: r.get(i) for i in ids} for r in rows] +
                         [{"end": {"rows": len(rows)}}]):
                print(json.dumps(line), file=file)


if __name__ == "__main__":
    main()
