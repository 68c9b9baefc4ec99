# SPDX-License-Identifier: MIT
"""tl-merge | tl-export against the reference's fusion of ranks.

usage: fused.py OURS.json REFERENCE.json.gz

The same events, apart from what the reference adds (args.rank, *_raw) and how
ids are kept apart: a process of ours and one of the reference are one to one,
and so are correlation ids within a rank.
"""
import gzip
import json
import sys

ADDED = {"rank", "pid_raw", "correlation_raw", "id_raw"}


def events(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        doc = json.load(file)
    doc = doc if isinstance(doc, list) else doc["traceEvents"]
    return [e for e in doc if e["ph"] == "X"]


def content(e):
    args = {k: v for k, v in e.get("args", {}).items() if k not in ADDED}
    raw = e.get("args", {})
    if "correlation_raw" in raw:
        args["correlation"] = raw["correlation_raw"]
    return json.dumps([e["cat"], e["name"], float(e["ts"]),
                       float(e["dur"]), e["tid"], args],
                      sort_keys=True)


def main():
    ours, theirs = events(sys.argv[1]), events(sys.argv[2])
    if len(ours) != len(theirs):
        sys.exit("%d events, the reference has %d" % (len(ours), len(theirs)))
    pids = {}
    for a, b in zip(sorted(ours, key=content), sorted(theirs, key=content)):
        if content(a) != content(b):
            sys.exit("%s\n%s" % (content(a), content(b)))
        if pids.setdefault(b["pid"], a["pid"]) != a["pid"]:
            sys.exit("process %s is two of ours" % b["pid"])
    if len(set(pids.values())) != len(pids):
        sys.exit("two processes of the reference are one of ours")
    print("%d events, %d processes" % (len(ours), len(pids)))


main()
