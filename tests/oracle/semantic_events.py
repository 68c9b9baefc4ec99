# SPDX-License-Identifier: MIT
"""What programs must show of events with valid and invalid starts and ends.

For the oracles of formats other than Chrome traces: read(path) gives event()s, of the kinds
kernel, copy, fill, call, range, slice (not counted), and ? (it may be any of them).
"""
import json
import subprocess

import odd
import semantic
import timeline


def integer(v):
    return v if isinstance(v, int) else None


def event(kind, name, start, end, part=0, key=None, call=None):
    """part: the process, if each is a source of its own; key: what else makes events differ;
    call: what ties GPU work to the call that launched it, or a list of these, None among them
    meaning maybe none"""
    return {"kind": kind, "name": name, "start": start, "end": end, "part": part, "key": key,
            "call": call}


def time_of(v):
    return v if isinstance(v, int) and abs(v) < semantic.LIMIT else None


def span(e):
    """(start, end) as far as they are valid; without an end it lasts 0 ns"""
    a, b = time_of(e["start"]), time_of(e["end"])
    return (a, b if a is not None and b is not None and b >= a else a)


def is_whole(e):
    a, b = time_of(e["start"]), time_of(e["end"])
    return a is not None and b is not None and b >= a


def why_not(events):
    why = set()
    for e in events:
        if e["kind"] == "?":
            why.add("c")
        elif e["kind"] != "slice" and not is_whole(e):
            why.add("t" if time_of(e["start"]) is None else
                    "o" if e["kind"] == "range" and integer(e["end"]) is None else "d")
    return why


GPU = ("kernel", "copy", "fill")


def union(events):
    return timeline.length(timeline.union(span(e) for e in events))


def figures(events):
    """of the timeline: busy, copies and total, by part"""
    gpu = [e for e in events if e["kind"] in GPU and span(e)[0] is not None]
    first = min((e["part"] for e in events if e["kind"] in GPU and e["part"] is not None),
                default=None)
    out = []
    for part in dict.fromkeys(e["part"] or first for e in gpu):
        some = [e for e in gpu if (e["part"] or first) == part]
        out.append((union(some), union([e for e in some if e["kind"] == "copy"]),
                    max(span(e)[1] for e in some) - min(span(e)[0] for e in some)))
    return sorted(out)


def kernels(events):
    """repeated records count once"""
    names, seen = {}, set()
    for e in events:
        same = (e["name"], *span(e), e["part"], e["key"])
        if e["kind"] == "kernel" and span(e)[0] is not None and same not in seen:
            seen.add(same)
            names.setdefault(e["name"], []).append(span(e)[1] - span(e)[0])
    return {n: (len(v), sum(v)) for n, v in names.items()}


def calls(events):
    names = {}
    for e in events:
        if e["kind"] == "call" and None not in (time_of(e["start"]), time_of(e["end"])):
            names.setdefault(e["name"], []).append(max(0, e["end"] - e["start"]))
    return {n: (len(v), sum(v)) for n, v in names.items()}


def launches(events):
    """start and end of GPU work -> starts of calls that may have launched it; if several share
    its id it may be any of them, or none"""
    found, out = {}, {}
    for e in events:
        if e["kind"] == "call" and e["call"] is not None:
            found.setdefault((e["part"], e["call"]), set()).add(time_of(e["start"]))
    for e in events:
        if e["kind"] in GPU and span(e)[0] is not None:
            ids = e["call"] if isinstance(e["call"], list) else [e["call"]]
            may = set().union(*[found.get((e["part"], i), set()) for i in ids]) or {None}
            may |= {None} if None in ids else set()
            out.setdefault(span(e), set()).update(may if len(may) < 2 else may | {None})
    return out


def shown_launches(tree):
    """(start, end, start of the launch or None) of GPU work"""
    p = subprocess.run(["tl-cat", "--abs", tree], capture_output=True, check=False, text=True)
    if p.returncode not in (0, 3):
        raise ValueError(p.stderr)
    lines = [json.loads(line) for line in p.stdout.splitlines()]
    events = [e for e in lines if "kind" in e]
    starts = {(e["src"], e["id"]): e.get("ts") for e in events}
    return sorted(((int(e["ts"]), int(e["ts"]) + e.get("dur", 0),
                    starts.get((e["src"], e.get("launch")))) for e in events
                   if e["kind"] in ("kernel", "memcpy", "memset") and "ts" in e), key=str)


def differ_launches(shown_, events):
    """only one of repeated records has a launch"""
    may, seen = launches(events), {}
    for a, b, call in shown_:
        seen.setdefault((a, b), set()).add(call)
    for work, found in seen.items():
        want = may.get(work, set())
        if not found & want or found - want - {None}:
            return "launch of the work from %d to %d: %s, not %s" % (*work, found, want)
    return None


# ---- one mutant

LETTERS = {"ambiguous-launch": "u", "ambiguous-ops": "u", "no-op-launch": "u",
           "packets-dropped": "m"}


def overlap(events):
    """whether a host event ends within another that begins after it"""
    host = [span(e) for e in events if e["kind"] not in (*GPU, "?") and span(e)[0] is not None]
    return any(a < c < b < d for a, b in host for c, d in host)


BUSY = {"busy_time": 0, "total_memcpy_time": 1, "memory": 1, "total_time": 2}


def by_name(rows, name, total):
    """over all parts; no name is the same as an empty one"""
    out = {}
    for r in rows:
        n = out.get(r[name] or "", (0, 0))
        out[r[name] or ""] = (n[0] + r["count"], n[1] + r[total])
    return out


def shown(tree):
    """([rows of tl-timeline, tl-kernels, tl-launch], statuses, messages)"""
    rc, rows, err = odd.table(["tl-timeline", "--format", "ndjson", tree])
    parts = {}
    for r in rows:
        if r["type"] in BUSY:
            parts.setdefault(r.get("rank"), [0, 0, 0])[BUSY[r["type"]]] = r["time_ns"]
    rc2, names, err2 = odd.table(["tl-kernels", "--format", "ndjson", tree])
    rc3, apis, err3 = odd.table(["tl-launch", "--table", "api_summary", "--format", "ndjson",
                                 tree])
    return ([sorted(map(tuple, parts.values())), by_name(names, "name", "dur_ns_sum"),
             by_name(apis, "api", "api_ns_sum")], (rc, rc2, rc3), err + err2 + err3)


def outcome(path, tree, read):
    with open(tree + ".said", "w+", encoding="utf-8") as said:
        p = subprocess.run(["tl-tree", "--status-fd", str(said.fileno()), "-o", tree, path],
                           pass_fds=[said.fileno()], capture_output=True, check=False, text=True)
        said.seek(0)
        said = [json.loads(line) for line in said]
    if p.returncode == 1 and "error" in [r["level"] for r in said]:
        return None, "1", None
    if p.returncode not in (0, 3):
        return "tl-tree: exit %d: %s" % (p.returncode, p.stderr), "", None
    events = list(read(path))
    why = why_not(events)
    want = [figures(events), kernels(events), calls(events)]
    got, statuses, err = shown(tree)
    launched = shown_launches(tree)
    bad = differ_launches(launched, events)
    why |= {LETTERS[r["id"]] for r in said if r.get("id") in LETTERS}
    if "overlaps" in [r.get("id") for r in said] and overlap(events):
        why.add("v")  # which is outside the tree is not asked here
        got[2] = want[2]
    status = 3 if why else 0
    if p.returncode != status:
        return "tl-tree: exit %d instead of %s: %s" % (p.returncode, why, said), "", None
    for program, rc, g, w in zip(("tl-timeline", "tl-kernels", "tl-launch"), statuses, got, want):
        if program == "tl-timeline" and why == {"v"}:
            rc = rc or 3  # it is about the GPU alone
        if rc not in ((5,) if not w else (status, 5)):
            return "%s: exit %d instead of %d: %s" % (program, rc, status, err), "", None
        if g != w and rc != 5:
            return "%s: %s instead of %s" % (program, g, w), "", None
    if bad:
        return bad, "", None
    return None, "0" if not want[0] else "".join(sorted(why)), got + [launched]
