#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""law.py: no figure above the roof without a reason, each kernel once in a sheet; as TAP.

    law.py [--only GLOB] [-j N]

For each trace and each table of tl-roofline: no call takes less than its roofline, except
by the rounding of the trace's times, or by what fits the last cache in the GPU's file;
above_roof says which. Both are computed here again, from the raw events' times and the
file. The times of a sheet add up to no more than those of all ops.
"""
import argparse
import csv
import fnmatch
import glob
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile

import compare

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TIME = "Kernel Time (µs)_"
csv.field_size_limit(1 << 30)


def caches():
    out = {}
    for path in glob.glob(os.path.join(ROOT, "common/model/arch/*.json")):
        with open(path, encoding="utf-8") as f:
            a = json.load(f)
        out[a["name"]] = a.get("last_level_mib") or a.get("l2_mib") or 0
    return out


def tick_of(tl):
    """the ns of which all times of GPU work are multiples"""
    p = subprocess.run(["tl-cat", "--tsv", "-F", "kind,ts,dur", tl], stdout=subprocess.PIPE,
                       text=True, check=True)
    tick = 0
    for line in p.stdout.splitlines():
        kind, ts, dur = line.split("\t")
        if kind in ("kernel", "memcpy", "memset"):
            tick = math.gcd(tick, int(ts), int(dur))
    return min(tick or 1000, 1000)


def number(text):
    return float(text) if text else math.nan


def reason(r, tick, cache):
    """why a row's shortest call is faster than the first one's roof; "": it is not"""
    roof, least = number(r.get("Roofline Time (µs)_first")), number(r.get(TIME + "min"))
    if not roof > least > 0:
        return ""
    kernels = json.loads(r.get("kernel_details_summary") or "[]")
    n = sum(k["count"] for k in kernels) / float(r["operation_count"]) if kernels else 1
    most = least + n * tick / 1e3
    if roof <= most:
        return "times are multiples of %d ns" % tick
    moved = number(r.get("Data Moved (MB)") or r.get("Data Moved (MB)_first"))
    is_memory = (r.get("Roofline Bound") or r.get("Roofline Bound_first")) == "MEMORY_BOUND"
    if is_memory and roof * (moved - cache) / moved <= most:
        return "%g MiB of cache" % cache
    # F(4x4, 3x3) has 36 products, the direct sum 144; cli/tl-roofline has cases of this
    # rule, computed by hand
    its = sum(k["min_duration_us"] * k["count"] for k in kernels
              if "winograd" in k["name"].lower()) / float(r["operation_count"])
    if not is_memory and roof <= most + (144 / 36 - 1) * its:
        return "Winograd: fewer operations than counted"
    return "unexplained"


def check(job):
    s, all_caches = job
    bad, told = [], []
    with tempfile.TemporaryDirectory() as tmp:
        tl, out = os.path.join(tmp, "t.tl"), os.path.join(tmp, "d")
        for argv in (["tl-tree", s.path, "-o", tl], ["tl-roofline", tl, "-d", out]):
            p = subprocess.run(argv, stderr=subprocess.DEVNULL, check=False)
            if p.returncode not in (0, 3):
                return s.name, None, []
        tick, sums = tick_of(tl), {}
        for f in sorted(os.listdir(out)):
            with open(os.path.join(out, f), encoding="utf-8", newline="") as table:
                rows = [r for r in csv.DictReader(table) if TIME + "sum" in r and "name" in r]
            sums[f] = sum(number(r[TIME + "sum"]) for r in rows)
            for r in rows:
                cache = all_caches.get(r["roof"].rpartition(" ")[0], 0)
                why = reason(r, tick, cache) if f.startswith("unified") else r["above_roof"]
                line = "%s: %s %s: %s" % (f[:-4], r["name"], (r.get("Input Dims") or "")[:80],
                                          r["above_roof"])
                if why != r["above_roof"] or why == "unexplained":
                    bad.append(line + " instead of " + why)
                elif why:
                    told.append(line)
        whole = sums.get("unified_perf_summary.csv", 0)
        bad += ["%s: %.3f us of %.3f" % (f, v, whole) for f, v in sums.items()
                if v > whole * (1 + 1e-9) + 1e-3]
    return s.name, bad, told


def main():
    ap = argparse.ArgumentParser(description="no figure above the roof without a reason, as TAP")
    ap.add_argument("--only", default="*")
    ap.add_argument("-j", type=int, default=2)
    args = ap.parse_args()
    known = caches()
    todo = [(s, known) for s in compare.find_sets(os.environ["TL_DATA"], args.only)
            if fnmatch.fnmatch(s.name, args.only)]
    n, failed = 0, 0
    with multiprocessing.Pool(args.j) as pool:
        for name, bad, told in pool.imap(check, todo):
            if bad is None:
                continue
            n, failed = n + 1, failed + bool(bad)
            print("%sok %d - %s: %d above the roof with a reason" %
                  ("not " if bad else "", n, name, len(told)))
            for line in bad + told:
                print("# " + line)
            sys.stdout.flush()
    print("1..%d" % n)
    return 1 if failed or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
