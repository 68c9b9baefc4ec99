#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py: GPU time of ops without a model, as TAP.

    coverage.py [--only GLOB] [-v]

For each trace, over kernels below an op: the time of rows without a model (less
than LIMIT of it), and of rows whose model gives no figures, because the trace
lacks what it needs. Not counted: copies and memsets (only kernels are asked for),
collectives (no row has them: tl-collective), and kernels launched outside all ops
(nothing could have a model; their share is printed). With traces of captured
graphs tl-graft gives replayed kernels their ops; such traces are checked with and
without it.
"""
import argparse
import collections
import csv
import fnmatch
import os
import subprocess
import sys
import tempfile

import compare

LIMIT = 3.0
# Names in made-up traces.
NO_OPS = {"op1": "of a document's drawing"}
# Models without figures although there are shapes: what the trace lacks.
LACKS = {
    "total_D is not recorded": "Concrete Inputs are missing",
    "its size is not recorded": "Concrete Inputs are missing",
    "is not recorded (Concrete Inputs)": "Concrete Inputs are missing",
    "no kernel size": "Concrete Inputs are missing",
    "no annotation": "the iteration's annotation is missing",
    "one of several kernels": "other kernels of the op are below ops of their own",
    "no shapes of the list": "Kineto has no shapes of the list of tensors",
}
csv.field_size_limit(1 << 30)


def run(argv):
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def op_names(tl):
    _, out, _ = run(["tl-cat", "--tsv", "-F", "kind,name", tl])
    return {line.split("\t", 1)[1] for line in out.splitlines() if line.startswith("op\t")}


class Shares:
    """times in ns of one trace"""

    def __init__(self):
        self.ops = self.none = self.mute = self.unrecorded = self.no_op = 0
        self.worst = collections.Counter()
        self.bad = collections.Counter()

    def add(self, row, names):
        ns = int(row["kernel_ns_sum"])
        name = row["name"]
        above = name.split("->")[0] if name.endswith("(Synthetic Op)") else name
        if above not in names or name in NO_OPS:
            self.no_op += ns
            return
        self.ops += ns
        if row["has_perf_model"] != "true":
            self.none += ns
            self.worst[name] += ns
        elif row["gflop"] == "":
            self.mute += ns
            if row["input_dims"] == "":
                self.unrecorded += ns
            elif not any(r in row["model_reason"] for r in LACKS):
                self.bad["%s: %s" % (name, row["model_reason"])] += ns

    def pct(self, part):
        return 100 * part / self.ops if self.ops else 0


def shares_of(s, captures):
    """the shares, or None: no GPU event has an op or a launch"""
    with tempfile.TemporaryDirectory() as tmp:
        tl = os.path.join(tmp, "t.tl")
        code, _, err = run(["tl-tree", s.path, "-o", tl])
        if code not in (0, 3):
            return None, err
        if captures:
            plain, tl = tl, os.path.join(tmp, "g.tl")
            code, _, err = run(["tl-graft", "--capture", captures, "--pseudo-ops", plain, "-o", tl])
            if code not in (0, 3):
                return None, err
        code, out, err = run(["tl-roofline", tl, "--kind", "kernel", "-c", "name,kernel_ns_sum,gflop,"
                              "input_dims,has_perf_model,model_reason"])
        if code not in (0, 3):
            return None, err
        names = op_names(tl)
    got = Shares()
    for row in csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        got.add(row, names)
    return got, ""


def main():
    ap = argparse.ArgumentParser(description="GPU time of ops without a model, as TAP")
    ap.add_argument("--only", default="*")
    ap.add_argument("-v", action="store_true")
    args = ap.parse_args()
    n, bad, whole, none, looks = 0, 0, 0, 0, []
    for s in compare.find_sets(os.environ["TL_DATA"], args.only):
        if not fnmatch.fnmatch(s.name, args.only):
            continue
        captures = os.path.join(os.path.dirname(s.path), "capture_traces")
        looks += [(s, None)] + [(s, captures)] * os.path.isdir(captures)
    for s, captures in looks:
        got, why = shares_of(s, captures)
        if got is None or got.ops == 0:
            if args.v:
                print("# %s: %s" % (s.name, why.strip() or "no kernel is below an op"))
            continue
        n += 1
        whole += got.ops
        none += got.none
        fine = got.pct(got.none) < LIMIT and got.pct(sum(got.bad.values())) < LIMIT
        bad += not fine
        print("%sok %d - %s: %.3f ms of ops, %.2f %% without a model, %.2f %% without figures "
              "(%.2f %% without shapes); %.3f ms of no op" %
              ("" if fine else "not ", n,
               s.name + " with captured graphs" * bool(captures), got.ops / 1e6, got.pct(got.none),
               got.pct(got.mute), got.pct(got.unrecorded), got.no_op / 1e6))
        for name, ns in (got.worst + got.bad).most_common(None if args.v else 3):
            print("# %.2f %%: %s" % (got.pct(ns), name[:150]))
        sys.stdout.flush()
    print("1..%d" % n)
    print("# %.3f ms of ops in all, %.3f %% without a model" %
          (whole / 1e6, 100 * none / whole if whole else 0))
    return 1 if bad or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
