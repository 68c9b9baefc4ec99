#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inferred.py: all programs find the steps that have no annotation, and the same ones.

    inferred.py [SEED...]

For each seed it draws a training loop (optimizer_steps.py) with known starts and ends of
steps, and writes it twice: bare, and with ProfilerStep#N at these borders. Each program
must print the same for both: by step, for one step, the last and the slowest. The kernels
of each step, their time and the step's length are counted here, from the raw events.
"""
import json
import os
import subprocess
import sys
import tempfile

from optimizer_steps import drawn
from worked import table

SCENES = ("plain", "several", "turns", "setup")
# the annotation's own name and uid differ
ASKED = (
    "tl-timeline --by step", "tl-ops --by step", "tl-kernels --by step", "tl-launch --step 2",
    "tl-timeline --step 2", "tl-timeline --step 1,3-4", "tl-ops --step last",
    "tl-kernels --step slowest", "tl-kernels --step first", "tl-roofline --step 2",
    "tl-launch --by step", "tl-idle --by step -c step,time_ns",
    "tl-idle --step 2 -c cause,time_ns", "tl-critical --step 3 -c kind,time_ns",
    "tl-steps -c step,ts_ns,wall_ns,busy_launched_ns,busy_ns,idle_ns,kernels,launches",
    "tl-steps --table steps_slow -c step,cause,call,time_ns,median_ns",
    "tl-filter --step 2 --kind kernel %s | tl-cat --tsv -F id,name,step",
    "tl-cat --tsv -F id,kind,name,step", "tl-fold --step 3",
)


def out(command, path):
    command = command % path if "%s" in command else "%s %s" % (command, path)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    lines = [x for x in done.stdout.splitlines() if "ProfilerStep#" not in x and
             "inferred step" not in x]
    return done.returncode, lines


def is_built(command):
    return subprocess.run(["sh", "-c", "command -v %s" % command.split()[0]],
                          capture_output=True).returncode == 0


def marked(trace, borders):
    """with annotations of its steps after all other events, so that these keep their ids"""
    notes = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % (i + 1),
              "pid": 1, "tid": 1, "ts": a / 1000, "dur": (b - a) / 1000}
             for i, (a, b) in enumerate(zip(borders, borders[1:]))]
    return {"traceEvents": trace["traceEvents"] + notes}


def counted(trace, borders):
    """kernels of each step, and their ns"""
    starts = {e["args"]["correlation"]: e["ts"] * 1000 for e in trace["traceEvents"]
              if e["cat"] == "cuda_runtime"}
    work = [(starts[e["args"]["correlation"]], e["dur"] * 1000) for e in trace["traceEvents"]
            if e["cat"] == "kernel"]
    return [(sum(a <= t < b for t, _ in work), sum(d for t, d in work if a <= t < b))
            for a, b in zip(borders, borders[1:])]


def check_counts(path, trace, borders):
    want = counted(trace, borders)
    got = []
    for i in range(1, len(want) + 1):
        rows = table(["tl-kernels", "--step", str(i), path])
        got.append((sum(r["count"] for r in rows), sum(r["dur_ns_sum"] for r in rows)))
    bad = [] if got == want else ["kernels %s, not %s" % (got, want)]
    got = [(r["count"], r["dur_ns_sum"]) for r in table(["tl-kernels", "--by", "step", path])
           if isinstance(r["step"], int)]
    bad += [] if got == want else ["kernels by step %s, not %s" % (got, want)]
    walls = [b - a for a, b in zip(borders, borders[1:])]
    totals = [r["time_ns"] for r in table(["tl-timeline", "--by", "step", path])
              if r["type"] == "total_time" and isinstance(r["step"], int)]
    return bad if totals == walls else [*bad, "walls %s, not %s" % (totals, walls)]


def check_split(bare, full, folder):
    """the parts have the same GPU work"""
    bad = []
    for by in ("step", "iteration"):
        parts = []
        for path in (bare, full):
            to = os.path.join(folder, "parts")
            subprocess.run(["rm", "-rf", to], check=True)
            subprocess.run(["tl-split", "--by", by, "-d", to, path], check=True,
                           capture_output=True)
            parts.append([out("tl-cat --tsv -F kind,id", os.path.join(to, x))[1]
                          for x in sorted(os.listdir(to)) if x.endswith(".tl")])
        kernels = [[[x for x in part if x.startswith("kernel")] for part in half]
                   for half in parts]
        if kernels[0] != kernels[1] or len(kernels[0]) < 2:
            bad.append("tl-split --by " + by)
    return bad


def check(seed, folder):
    scene = SCENES[seed % len(SCENES)]
    trace, borders = drawn(seed, scene)
    # a frame before all else, which some programs do not read: no step begins with it
    trace["traceEvents"].append({"ph": "X", "cat": "python_function", "name": "train.py(1): main",
                                 "pid": 1, "tid": 1, "ts": 0, "dur": 1})
    bare, full = os.path.join(folder, "bare.json"), os.path.join(folder, "full.json")
    with open(bare, "w", encoding="utf-8") as f:
        f.write(json.dumps(trace))
    steps = [r["ts_ns"] for r in table(["tl-steps", bare])]
    if steps == borders[1:-1]:  # may be cut off: optimizer_steps.py limits how often
        del borders[0]
    if steps != borders[:-1]:
        return scene, ["%s begin, not %s" % (steps, borders[:-1])]
    with open(full, "w", encoding="utf-8") as f:
        f.write(json.dumps(marked(trace, borders)))
    bad = check_counts(bare, trace, borders)
    for command in filter(is_built, ASKED):
        a, b = out(command, bare), out(command, full)
        if a != b or not a[1]:
            unlike = [x for x in zip(a[1], b[1]) if x[0] != x[1]][:2]
            bad.append("%s: %s" % (command, unlike or (a[0], b[0], len(a[1]), len(b[1]))))
    tree = os.path.join(folder, "bare.tl")
    subprocess.run(["tl-tree", "-o", tree, bare], check=True)
    for command in ("tl-timeline --by step", "tl-steps", "tl-tree --link auto %s | tl-steps"):
        if out(command, tree) != out(command.replace("tl-tree --link auto %s | ", ""), bare):
            bad.append("of its tree: " + command)
    rows = table(["tl-diff", "--by", "kernel", bare, full])
    if not rows or any(r["diff_ns"] for r in rows):
        bad.append("tl-diff: %s" % rows[:2])
    return scene, bad + check_split(bare, full, folder)


def main():
    seeds = [int(x) for x in sys.argv[1:]] or [8, 9, 10, 11]
    with tempfile.TemporaryDirectory() as folder:
        for i, seed in enumerate(seeds):
            scene, bad = check(seed, folder)
            print("%sok %d - the same steps everywhere: %s, seed %d" % (
                "not " if bad else "", i + 1, scene, seed))
            for line in bad:
                print("# " + line)
    print("1..%d" % len(seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
