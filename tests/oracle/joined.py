#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""joined.py: tl-compare of our report and the reference's of the same trace, as TAP.

    joined.py [--only GLOB,...] [--variants NAME,...]

This file pairs the rows of a sheet in plain Python. Each row without a match must
be a difference with a name (report.py compares the cells). Rows that differ only in
spelling match.
"""
import argparse
import collections
import csv
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

import ops
import report
import roofline

ARGS = ["name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"]
LONG = ["Collective name", "rank", "Process Group Name", "Process Group Ranks", "Group size",
        "dtype", "In msg nelems", "Out msg nelems", "In split size", "Out split size"]
SYNC = ["Collective name", "Process Group Name", "Group size", "dtype", "In msg nelems"]
KEYS = (
    (r"gpu_timeline$", ["type"]), (r"ops_summary$", ["name"]),
    (r"(ops|kernel)_summary_by_category$", ["op category"]),
    (r"kernel_summary$", ["Kernel name"]),
    (r"(ops_unique_args|unified_perf_summary)_kl_overlap$", ARGS + ["overlapping_kernel_names"]),
    (r"(ops_unique_args|unified_perf_summary)$", ARGS),
    (r"(coll_analysis|nccl_summary_long)$", LONG), (r"nccl_summary_implicit_sync$", SYNC),
)
SOURCES = ["rank", "src", "gpu_pid"]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [r for r in csv.reader(file) if r]
    return (rows[0], [dict(zip(rows[0], r)) for r in rows[1:]]) if rows else ([], [])


def keys_of(sheet, heads):
    """columns that all reports have; None: the sheet is not compared"""
    both = [c for c in heads[0] if all(c in h for h in heads)]
    wanted = next((k for pattern, k in KEYS if re.match(pattern, sheet)), None)
    if wanted == ["Kernel name"] and "Kernel name" not in both:
        wanted = ["name"]
    if wanted is None:
        params = sorted(c for c in both if c.startswith("param: "))
        wanted = ["name"] + params if params and "name" in both else None
    return wanted and [k for k in wanted + [s for s in SOURCES if s not in wanted] if k in both]


def left_over(rows, others, keys):
    """unmatched rows, counting repetitions"""
    there = collections.Counter(key(r, keys) for r in others)
    left = []
    for r in rows:
        k = key(r, keys)
        if there[k] > 0:
            there[k] -= 1
        else:
            left.append(r)
    return left


def key(row, keys):
    return roofline.freeze([roofline.canon("" if row[k] == "Unknown" else row[k])
                            for k in keys])


class Sheet:
    """one sheet of both reports"""

    def __init__(self, where, folder, sheet, ours, theirs):
        self.where, self.folder, self.sheet = where, folder, sheet
        (self.head, self.ours), (want, self.theirs) = read(ours), read(theirs)
        self.paths = ours, theirs
        self.keys = keys_of(sheet, [self.head, want]) if self.ours and self.theirs else None

    def left(self):
        return (left_over(self.ours, self.theirs, self.keys),
                left_over(self.theirs, self.ours, self.keys))

    def is_split(self, gs):
        """are they calls of one row there, but with another number of kernels?"""
        there = {key(w, self.keys) for w in self.theirs}
        return "num_kernels" in self.head and all(key(g, self.keys) in there for g in gs)

    def has_link(self, gs):
        """are they beside copies over the link with the same arguments, or such copies?"""
        keys = {key(g, self.keys) for g in gs}
        return self.sheet == "unified_perf_summary" and \
            keys <= {key(w, self.keys) for w in self.theirs} and \
            keys <= {key(g, self.keys) for g in self.ours if g["Roofline Bound"] == "LINK_BOUND"}

    def reason(self, name, gs, ws):
        if self.folder in ops.COARSE:
            return "12.3 doubles of 250 ns"
        if self.sheet.endswith("_by_category"):
            return "15 more models: a category of its own"
        if self.sheet == "coll_analysis" and not ws:
            return "collectives without their arguments have a row"
        if gs and not ws and self.is_split(gs):
            return "launches that the reference misses: another number of kernels"
        if gs and not ws and self.has_link(gs):
            return roofline.LINK
        if self.folder in ops.HIDDEN and self.sheet.startswith("ops_") and \
                self.where.split("/")[1] in ("capture_full", "module_pseudo_nk"):
            return "tl-ops(1): pseudo-ops own nothing in the reference's tables of ops"
        if "operation_count" not in self.head and "name_count" not in self.head:
            return None
        if not gs and any(name in (roofline.canon(g.get("stands_for", "")) or ())
                          for g in self.ours):
            return roofline.ONCE
        if name in roofline.MORE:
            return "15 more models"
        if not self.sheet.startswith(("ops_", "unified_")):
            if sum(float(g["name_count"]) for g in gs) == \
                    sum(float(w["name_count"]) for w in ws):
                return roofline.wrong_model(name, (ws or gs)[0])
            return self.roofline_reason(name, gs, ws)
        return self.roofline_reason(name, gs, ws) if self.sheet.startswith("unified_") else None

    def roofline_reason(self, name, gs, ws):
        got, want = (roofline.Table(p) for p in self.paths)
        c = roofline.Compare(roofline.Report(), self.where, got, want,
                             self.sheet.startswith("unified_"), roofline.coarse([want]),
                             self.where.split("/")[1] in roofline.GRAFTED)
        return c.rows_differ(name, ws, gs)

    def check(self, said, named, bad):
        mine, theirs = self.left()
        both = len(self.ours) - len(mine)
        want = (both, len(mine), len(theirs))
        if said != want:
            bad.append("%s: both, only ours, only theirs: %s, not %s" % (self.where, said, want))
        by_name = collections.defaultdict(lambda: ([], []))
        for side, rows in ((0, mine), (1, theirs)):
            for r in rows:
                by_name[r.get("name") or r[self.keys[0]]][side].append(r)
        for name, (gs, ws) in sorted(by_name.items()):
            why = self.reason(name, gs, ws)
            if why:
                named[why] += len(gs) + len(ws)
            else:
                bad.append("%s: %s is apart: %s" % (self.where, name, [
                    [r[k][:60] for k in self.keys] for r in (gs + ws)[:4]]))
        return both


def compared(ours, theirs):
    """(both, only ours, only theirs) by sheet"""
    run = subprocess.run(["tl-compare", "--names", "a,b", ours, theirs, "--table", "summary",
                          "--format", "csv"], capture_output=True, text=True, check=False)
    out = {}
    for r in csv.DictReader(run.stdout.splitlines()):
        if r["what"] == "total":
            out[r["sheet"]] = tuple(int(r[c]) for c in ("both", "only_before", "only_after"))
    return run, out


def check(data, folder, traces, variant, plain, files, tmp):
    """one report: joins rows, and collects errors"""
    where = "%s/%s" % (folder, variant)
    options = (report.ROCPROF if folder.startswith("rocprofv3_") else report.VARIANTS)[plain]
    top = os.path.join(data, folder, "capture_traces")
    captures = ["--capture", top] if plain in ops.GRAFTED and os.path.isdir(top) else []
    ours, theirs = os.path.join(tmp, "ours"), os.path.join(tmp, "theirs")
    os.mkdir(theirs)
    for sheet, path in files.items():
        shutil.copy(path, os.path.join(theirs, sheet + ".csv"))
    run = subprocess.run(["tl-report", "-d", ours, "-o", ours + ".xlsx"] + options + captures +
                         ["--"] + traces, capture_output=True, text=True, check=False)
    named, bad, joined, sheets = collections.Counter(), [], 0, 0
    if run.returncode not in (0, 3):
        return ["%s: tl-report: %s" % (where, run.stderr[:300])], named, 0, 0
    run, said = compared(ours, theirs)
    apart = False
    for sheet in sorted(files):
        mine = os.path.join(ours, sheet + ".csv")
        s = os.path.exists(mine) and Sheet(where + "/" + sheet, folder, sheet, mine, files[sheet])
        if not s or not s.keys or sheet == "gpu_timeline":
            continue
        sheets += 1
        both = s.check(said.get(sheet), named, bad)
        joined += both
        apart |= both == 0
    if run.returncode != (3 if apart else 0):
        bad.append("%s: exit status %d: %s" % (where, run.returncode, run.stderr[:300]))
    book = compared(ours + ".xlsx", theirs)[1]
    bad += ["%s: workbook: %s %s, not %s" % (where, k, book.get(k), v)
            for k, v in said.items() if k in files and book.get(k) != v]
    return bad, named, joined, sheets


def main():
    ap = argparse.ArgumentParser(description="our report and the reference's, joined, as TAP")
    ap.add_argument("--only", default="*")
    ap.add_argument("--variants", default="")
    ap.add_argument("--few", default="", help="variants of which every fifth is tried")
    a = ap.parse_args()
    data = os.environ["TL_DATA"]
    jobs, _ = report.jobs_of(data, "*")
    roofline.load_more()
    total, rows, n, wrong = collections.Counter(), 0, 0, 0
    few = dict.fromkeys(a.few.split(","), 0)
    for _, folder, trace, variants in jobs:
        for variant, plain, files in variants:
            of = variant if isinstance(variant, tuple) else (folder, variant)
            if of[0].startswith(("pair_", "rocprofv3_pftrace")) or \
                    not any(fnmatch.fnmatch(of[0], p) for p in a.only.split(",")) or \
                    (a.variants and of[1] not in a.variants.split(",")):
                continue
            if of[1] in few:
                few[of[1]] += 1
                if few[of[1]] % 5 != 1:
                    continue
            top = os.path.join(data, folder)
            traces = [trace] if trace else sorted(
                os.path.join(top, f) for f in os.listdir(top) if ops.is_trace(f))
            with tempfile.TemporaryDirectory() as tmp:
                bad, named, joined, sheets = check(data, of[0], traces, of[1], plain, files, tmp)
            n += 1
            wrong += bool(bad)
            print("%sok %d - %s/%s: %d rows of %d sheets joined, %d apart for a reason" % (
                "not " if bad else "", n, *of, joined, sheets, sum(named.values())))
            for text in bad[:12]:
                print("# " + text)
            total.update(named)
            rows += joined
    print("1..%d" % n)
    print("#: %d rows joined" % rows)
    for name, count in sorted(total.items()):
        print("#: apart: %s: %d" % (name, count))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
