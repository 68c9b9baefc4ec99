#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether tl-cat's NDJSON of an XPlane file agrees with a dump of the file.

    tl-decode X.xplane.pb | tl-cat | xplane_dump.py FOLDER

FOLDER has planes.csv, lines.csv and events_by_name.csv in picoseconds. Starts and
ends are these, rounded once, halves up. A sum over n events may be off by less than
n ns, and is exact if all times are whole. Prints differences, then the numbers of
lines, names and events, and the ns by which sums are off.
"""
import collections
import csv
import json
import sys


def ns(ps):
    return (int(ps) + 500) // 1000


def table(name):
    with open(f"{sys.argv[1]}/{name}.csv", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def number(v):
    return int(v[1:]) if isinstance(v, str) and v.startswith("#") else v


class Group:
    def __init__(self):
        self.n, self.total, self.spans = 0, 0, []

    def add(self, ev):
        self.n += 1
        self.total += number(ev.get("dur", 0))
        self.spans.append((number(ev["ts"]), number(ev.get("dur", 0))))


processes, threads = {}, {}
groups, lines = collections.defaultdict(Group), collections.defaultdict(Group)
ids = []
for text in sys.stdin:
    ev = json.loads(text)
    if ev.get("kind") == "meta":
        if ev["name"] == "process_name":
            processes[ev["pid"]] = ev["args"]["name"]
        else:
            threads[ev["pid"], ev["tid"]] = ev["args"]["name"]
    elif "kind" in ev:
        where = ev["pid"], ev["tid"]
        ids.append(ev["id"])
        lines[where].add(ev)
        groups[where + (ev.get("args", {}).get("long_name", ev["name"]),)].add(ev)

bad = []
if ids != list(range(len(ids))):
    bad.append("ids are not the order of the file")
hosts = {p: n[n.index("/"):] if "/" in n else n for p, n in processes.items()}


def plane_of(where):
    return hosts.get(where[0])


def off(what, have, want_ps, count):
    """By how much a sum differs from its exact value, in ns."""
    exact = int(want_ps)
    diff = abs(have * 1000 - exact)
    if diff >= 1000 * count or (exact % 1000 == 0 and diff % 1000):
        bad.append(f"{what}: {have} ns, not {exact} ps")
    return diff / 1000


worst = 0
want = {}
for row in table("lines"):
    key = row["plane"], int(row["line_id"]) % 2**32
    if int(row["events"]):
        want[key] = row
have = {(plane_of(k), k[1]): (k, g) for k, g in lines.items()}
for key in want.keys() ^ have.keys():
    bad.append(f"only here or there: {key}")
for key in want.keys() & have.keys():
    where, g = have[key]
    row = want[key]
    if g.n != int(row["events"]):
        bad.append(f"{key}: {g.n} events, not {row['events']}")
    if threads[where] != (row["display_name"] or row["line_name"]):
        bad.append(f"{key}: {threads[where]}")
    worst = max(worst, off(key, g.total, row["total_duration_ps"], g.n))

counts = collections.Counter()
for where, g in lines.items():
    counts[plane_of(where)] += g.n
for row in table("planes"):
    if counts[row["plane"]] != int(row["events"]):
        bad.append(f"{row['plane']}: {counts[row['plane']]} events, not {row['events']}")

names = {(plane_of(k), k[1], k[2]): g for k, g in groups.items()}
for row in table("events_by_name"):
    key = row["plane"], int(row["line_id"]) % 2**32, row["event_name"]
    g = names.pop(key, None)
    if g is None or g.n != int(row["count"]):
        bad.append(f"{key}: {g and g.n} events, not {row['count']}")
        continue
    off(key, g.total, row["total_duration_ps"], g.n)
    durs = [d for _, d in g.spans]
    off(key, min(durs), row["min_duration_ps"], 1)
    off(key, max(durs), row["max_duration_ps"], 1)
    ends = min(t for t, _ in g.spans), max(t + d for t, d in g.spans)
    if ends != (ns(row["first_start_ps"]), ns(row["last_end_ps"])):
        bad.append(f"{key}: {ends}")
bad += [f"only here: {key}" for key in names]
for b in bad[:20]:
    print(b)
print("ok" if not bad else f"{len(bad)} differ", len(lines), len(groups), len(ids), f"{worst:.3f}")
