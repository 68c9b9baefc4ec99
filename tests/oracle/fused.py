# SPDX-License-Identifier: MIT
"""tl-merge | tl-export --fuse against the reference's fusion of ranks.

usage: fused.py OURS.json REFERENCE.json.gz
       fused.py OURS.json TRACE-OF-RANK-0 TRACE-OF-RANK-1 ...

Compares event by event, in order, every field. Only the numbers that keep ids
apart differ: there a power of ten times the rank, found in the first file, here a
fixed step. For several traces the fusion is made here, by the rules of the
specification, with our steps.
"""
import gzip
import json
import sys

PID_STEP, ID_STEP = 10 ** 7, 10 ** 12
OURS_TO_GIVE = {"process_name", "process_sort_index", "process_labels"}
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}


def events(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        doc = json.load(file)
    return doc if isinstance(doc, list) else doc["traceEvents"]


def shifted(value, number, step):
    if isinstance(value, int):
        return value + number * step
    # the reference lets texts collide
    return ("rank %d %s" % (number, value)).strip() if number else value


def processes(kept):
    """The metadata after the events, from their rank, old and new pid."""
    seen = {}
    for e in kept:
        key = e["args"]["rank"], e["args"]["pid_raw"], e["pid"]
        if e["ph"] != "M" and isinstance(e["pid"], int):
            seen[key] = seen.get(key, False) or e.get("cat") in GPU
    for (rank, _, pid), is_gpu in sorted(seen.items()):
        for what, args in (
                ("process_name", {"name": "RANK %d - %s" % (
                    rank, "GPU" if is_gpu else "CPU")}),
                ("process_sort_index", {"sort_index": 2 * rank + is_gpu})):
            yield {"name": what, "ph": "M", "pid": pid, "tid": 0,
                   "args": args}


def fuse(paths):
    kept = []
    for rank, path in enumerate(paths):
        for e in events(path):
            if e.get("ph") == "M" and e["name"] in OURS_TO_GIVE:
                continue
            args = e.setdefault("args", {})
            args["rank"] = rank
            for where, key, step in ((e, "pid", PID_STEP),
                                     (e, "id", ID_STEP),
                                     (args, "correlation", ID_STEP)):
                if key in where:
                    args[key + "_raw"] = where[key]
                    where[key] = shifted(where[key], rank, step)
            kept.append(e)
    return kept + list(processes(kept))


def with_our_steps(theirs):
    """The reference's events, their ids kept apart as ours are."""
    pids = {}
    for e in theirs:
        args = e["args"]
        if "pid_raw" in args:
            ours = shifted(args["pid_raw"], args["rank"], PID_STEP)
            assert pids.setdefault(e["pid"], ours) == ours
            e["pid"] = ours
            if "correlation_raw" in args:
                args["correlation"] = shifted(args["correlation_raw"],
                                              args["rank"], ID_STEP)
            if "id_raw" in args:
                e["id"] = shifted(args["id_raw"], args["rank"], ID_STEP)
        else:
            e["pid"] = pids[e["pid"]]
    return theirs


def main():
    ours, paths = events(sys.argv[1]), sys.argv[2:]
    if len(paths) > 1:
        theirs = fuse(paths)
    else:
        theirs = with_our_steps(events(paths[0]))
        # its filter drops names of threads, ours does not
        ours = [e for e in ours if not e["name"].startswith("thread_")]
    if len(ours) != len(theirs):
        sys.exit("%d events, the reference has %d" % (len(ours), len(theirs)))
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            sys.exit("event %d:\n%s\n%s" % (number, a, b))
    named = [e for e in ours if e["ph"] == "M"
             and e["name"] == "process_name"]
    print("%d events, %d processes" % (len(ours), len(named)))


main()
