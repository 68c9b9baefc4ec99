#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diffnoise.py [PAIRS]: what tl-diff takes for noise in made-up traces, as TAP.

Traces of one job vary by --jitter. Pairs of such traces must seldom differ. A
planted change must be found, by rows and by the gate. Of fewer than 20 pairs no rate is
checked, only that all are compared.
"""
import csv
import multiprocessing
import os
import subprocess
import sys
import tempfile

PAIRS = int(sys.argv[1]) if sys.argv[1:] else 20
SHAPE = ["--steps", "5", "--layers", "1", "--no-python", "--jitter", "3"]
ROW = "aten::gelu"  # 2 kernels a step
PLANTED = [  # change; one of its rows; found at least so often, in percent
    ("slow=aten::gelu:10", ROW, 60),
    ("slow=aten::gelu:50", ROW, 97),
    ("slow=aten::linear:7", "aten::addmm", 97),
]
LIMIT = "1%"


def make(folder, seed, plant=None):
    path = os.path.join(folder, "%d%s.tl" % (seed, plant or ""))
    with subprocess.Popen(["tl-gen", "--seed", str(seed)] + SHAPE
                          + (["--plant", plant + "@*"] if plant else []),
                          stdout=subprocess.PIPE) as gen:
        subprocess.run(["tl-tree", "-", "-o", path], stdin=gen.stdout, check=True)
    return path


def compare(before, after, limit):
    """(rows without a difference, rows with one, verdict of the gate)"""
    p = subprocess.run(["tl-diff", "--format", "tsv", "--fail-over", limit, before, after],
                       capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3, 4):  # 3: noise hides more than is allowed
        raise ValueError(p.stderr)
    rows = [r for r in csv.DictReader(p.stdout.splitlines(), delimiter="\t") if r["is_noise"]]
    real = [r for r in rows if r["is_noise"] == "false" and int(r["diff_ns"])]
    return len(rows), real, p.returncode == 4


def trial(number):
    """a trace against another of the same job, and against that with changes"""
    with tempfile.TemporaryDirectory() as tmp:
        before = make(tmp, 2 * number)
        rows, real, failed = compare(before, make(tmp, 2 * number + 1), "0%")
        out = {"": (rows, len(real), failed)}
        for plant, name, _ in PLANTED:
            _, real, failed = compare(before, make(tmp, 2 * number + 1, plant), LIMIT)
            found = any(r["name"] == name and int(r["diff_ns"]) > 0 for r in real)
            others = sum(r["name"] != name for r in real)
            out[plant] = (found, others, failed)
    return out


def share(values):
    values = list(values)
    return 100 * sum(values) / len(values)


def main():
    with multiprocessing.Pool(2) as pool:
        trials = pool.map(trial, range(PAIRS))
    checks = []
    rows = sum(t[""][0] for t in trials)
    wrong, gate = 100 * sum(t[""][1] for t in trials) / rows, share(t[""][2] for t in trials)
    print("#: %d pairs alike: %.2f %% of %d rows differ, --fail-over 0%% fails %.1f %%"
          % (PAIRS, wrong, rows, gate))
    checks += [("rows that are alike differ seldom", wrong < 1),
               ("traces that are alike fail seldom", gate <= 7.5)]
    for plant, name, least in PLANTED:
        found = share(t[plant][0] for t in trials)
        others = sum(t[plant][1] for t in trials) / PAIRS
        gate = share(t[plant][2] for t in trials)
        print("#: %s: found %.0f %%, %.2f other rows, --fail-over %s fails %.0f %%"
              % (plant, found, others, LIMIT, gate))
        if least:
            checks.append(("%s is found" % plant, found >= least))
            checks.append(("%s: little else is" % plant, others < 0.5))
    if PAIRS < 20:
        checks = [("%d pairs are compared" % PAIRS, rows > 0)]
    print("1..%d" % len(checks))
    for n, (text, good) in enumerate(checks, 1):
        print("%sok %d - %s" % ("" if good else "not ", n, text))
    return not all(good for _, good in checks)


if __name__ == "__main__":
    sys.exit(main())
