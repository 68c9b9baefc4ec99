#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py: tl-report -d against every report of the reference, as TAP.

    report.py [--only GLOB] [-j N] [-v]

For each folder of tables that the reference made of a trace, tl-report runs once
with the variant's options (the page has their table). Each sheet of the reference
is compared with the file of that name: the same labels in the same order, and the
cells by the rules of ops.py, roofline.py, compare.py, collective.py and versus.py.
Links are first cut to those that the reference finds. Intended differences have a
name and are counted.
"""
import argparse
import collections
import fnmatch
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

import activity
import collective
import compare
import diff
import ops
import ours
import roofline
import versus

LINKED = ["--linked-only"]
SHORT = ["--kernels", "--short", "10us"]
MI300X = ["--arch", ours.MI300X, "--roof", "achievable"]
FULL = LINKED + SHORT + MI300X + ["--parent-module", "--call-stack", "--pseudo-ops"]
# options of tl-report by the reference's variant
VARIANTS = {
    "default": LINKED,
    "report_with_comparison": LINKED,
    "kernels": LINKED + SHORT,
    "unlinked": ["--kernels"],
    "unlinked_only": [],
    "roofline_mi300x": LINKED + MI300X,
    "overlap": LINKED + ["--overlap", "--first-occurrence", "--micro-idle", "5us"],
    "callstack_nk": LINKED + ["--call-stack", "--num-kernels", "--pseudo-ops"],
    "topk": LINKED + ["--kernels", "--short", "5us", "--bins", "20", "--top-kernels", "5"],
    "recompute": LINKED + ["--recompute"],
    # the inference report
    "nocapture": LINKED, "capture": LINKED, "full": FULL, "capture_full": FULL,
    "module_pseudo_nk": LINKED + ["--parent-module", "--call-stack", "--num-kernels",
                                  "--pseudo-ops", "--no-collective"],
    # of several ranks
    "detailed": [],
    "node_span_heatmap": [],
}
ROCPROF = {
    "default": [], "details": ["--kernels"], "short": ["--short", "10us"],
    "all": ["--kernels", "--short", "5us", "--bins", "20", "--top-kernels", "10"],
    "nosummary": ["--kernels"],
}
# folders of the reference that are no report of a trace, or of one that is not read
OTHER = (
    (r"compare_reports$", "two reports joined: tl-compare"),
    (r"tracediff$", "tl-diff"),
    (r"split_", "tl-split"),
    (r"fused$", "tl-merge"),
    (r"(xplane_dump|track_events)$", "a plain decoding, no report"),
    (r"(jax_report|jax_roofline|upstream_perf_report)$", "of an XSpace: the sheets are JAX's"),
)
COUNTED_TWICE = "total_subtree_kernel_time_count"


class Result:
    """what one TAP result compares"""

    def __init__(self, name):
        self.name = name
        self.reports = self.sheets = self.cells = self.equal = 0
        self.bad = []
        self.named = collections.Counter()

    def fail(self, text):
        self.bad.append(text)

    def take(self, rep):
        """adds the result for some sheets"""
        self.cells += rep.cells
        self.equal += rep.equal
        self.bad += rep.bad
        self.named.update(getattr(rep, "named", {}))


def sheets_of(ref, variant):
    """{sheet: path} of a variant, including those of SAME_AS.txt"""
    top = os.path.join(ref, variant)
    out = {}
    for f in os.listdir(top):
        if f.endswith(".csv"):
            out[f[:-4]] = os.path.join(top, f)
    same = os.path.join(top, "SAME_AS.txt")
    if os.path.exists(same):
        with open(same, encoding="utf-8") as f:
            for line in f:
                name, _, other = line.rstrip("\n").partition("\t")
                if other:
                    out.setdefault(name[:-4], os.path.join(ref, other, name))
    return out


def run_report(rep, where, options, traces, out):
    p = subprocess.run(["tl-report", "-d", out] + options + ["--"] + traces,
                       capture_output=True, text=True, check=False)
    rep.reports += 1
    if p.returncode not in (0, 3):
        rep.fail("%s: tl-report: exit %d: %s" % (where, p.returncode, p.stderr.strip()[:300]))
        return False
    return True


def is_there(rep, where, ours, theirs, is_inference):
    """does the sheet's file exist, with its labels in order?"""
    head, rows = ops.read(theirs)
    rep.sheets += 1
    if not os.path.exists(ours):
        if rows:
            rep.fail("%s: no such sheet" % where)
        else:
            rep.named["a sheet without rows is left out: sheets"] += 1
        return False
    own, own_rows = ops.read(ours)
    if head[:1] == ["Kernel duration (µs)"] or not head:
        return True  # broken, and ours then has no rows: check_kernels()
    want = [c for c in head if not (is_inference and c == COUNTED_TWICE)]
    within = parameters_within(own, own_rows, head, rows)
    if within:
        rep.named[roofline.ONCE + ": parameters: sheets"] += 1
    want = [c for c in want if c not in within]
    if is_other_order(own, want):
        rep.named["15 more models: parameters of the sheet in another order: sheets"] += 1
    elif [c for c in own if c in want] != want:
        rep.fail("%s: labels %s instead of %s" % (where, own, want))
    return True


def parameters_within(own, own_rows, want, rows):
    """parameters of ops whose work only rows of other ops count"""
    own_rows, rows = [dict(zip(own, r)) for r in own_rows], [dict(zip(want, r)) for r in rows]
    stood_for = {n for r in own_rows for n in json.loads(r.get("stands_for") or "[]")}
    return [c for c in want if c.startswith("param: ") and c not in own and
            all(r["name"] in stood_for for r in rows if r[c] not in ("", "nan", "None"))]


def is_other_order(own, want):
    """the same labels, with parameters of more models between them"""
    def split(labels):
        params = [c for c in labels if c.startswith("param: ")]
        return params, [c for c in labels if c not in params]
    (mine, rest), (theirs, others) = split(own), split(want)
    return (set(mine) > set(theirs) and [c for c in mine if c in theirs] != theirs and
            [c for c in rest if c in others] == others)


def check_timeline(rep, folder, where, ours, theirs):
    part = compare.Report()
    rows, got = [], {}
    for r in compare.read_csv(ours):
        key = (r.get("is_recompute") or "", r["type"])
        if not key[1].startswith("unlinked"):
            rows.append((key, round(float(r["time ms"]) * 1e6)))
            got[key] = (rows[-1][1], float(r["percent"]) if r["percent"] else None)
    compare.against_table(part, where, rows, got, theirs, ops.COARSE.get(folder, 0.1))
    rep.take(part)


class Said:
    """replaces a TAP stream for collective.compare()"""

    def __init__(self):
        self.cells = self.equal = 0
        self.bad = []
        self.named = collections.Counter()

    def result(self, good, text, why=()):
        if not good:
            self.bad += ["%s: %s" % (text, w) for w in why] or [text]
        elif "#" in text:
            self.named[text.partition("# ")[2]] += 1


class Compared:
    """replaces a TAP stream for versus.py"""

    def __init__(self, rep):
        self.rep = rep
        self.cells = 0

    def check(self, name, cells, bad):
        self.rep.bad += ["%s: %s" % (name, b) for b in bad]
        if name.endswith("compared"):
            return  # rows, not cells
        self.cells += cells
        self.rep.cells += cells


def check_collective(rep, folder, where, sheet, ours, theirs, traces):
    said = Said()
    collective.compare(said, where, sheet, ours, theirs, collective.STEP.get(folder, 250),
                       traces)
    rep.take(said)


def pick(files, names):
    return {n: p for n, p in files.items() if n in names}


class Trace:
    """a trace, its tree, and the reports that the reference made of it"""

    def __init__(self, rep, data, folder, path, tmp):
        self.rep, self.data, self.folder, self.path, self.tmp = rep, data, folder, path, tmp
        self.tree, error = ops.tree_of(path, tmp, True)
        self.durations = []
        self.done = {}
        if error:
            rep.fail("tl-tree: %s" % error)
        else:
            self.durations = ops.durations_of(self.tree)

    def captures(self, plain):
        top = os.path.join(os.path.dirname(self.path), "capture_traces")
        return ["--capture", top] if plain in ops.GRAFTED and os.path.isdir(top) else []

    def other(self):
        """the second trace of a pair"""
        name = next(second for pair, _, second in diff.pairs() if pair == self.folder)
        tmp = os.path.join(self.tmp, "other")
        os.mkdir(tmp)
        return ["--vs", ops.tree_of(diff.trace_of(name), tmp, True)[0]]

    def report(self, where, options):
        """the folder that tl-report wrote with these options, made once"""
        key = tuple(options)
        if key not in self.done:
            out = os.path.join(self.tmp, "report%d" % len(self.done))
            ok = run_report(self.rep, where, options, [self.tree], out)
            self.done[key] = out if ok else None
        return self.done[key]

    def check(self, variant, plain, files):
        where = "%s/%s" % (self.folder, variant)
        grafts = self.captures(plain)
        other = self.other() if plain == "report_with_comparison" else []
        out = self.report(where, VARIANTS[plain] + grafts + other)
        if out is None:
            return
        inference = plain in ops.INFERENCE
        for sheet in sorted(files):
            own = sheet.replace("Normalization_fwd", "Normalization") if inference else sheet
            if not is_there(self.rep, where + "/" + sheet, os.path.join(out, own + ".csv"),
                              files[sheet], inference):
                del files[sheet]
        self.cells(where, variant, plain, out, files, bool(grafts))

    def without_pseudo(self, where, plain, out):
        """the report in which ops own what their pseudo-ops own with --pseudo-ops"""
        options = [o for o in VARIANTS[plain] if o != "--pseudo-ops"]
        plainly = self.report(where, options + self.captures(plain))
        sums = []
        for folder in (out, plainly):
            head, rows = ops.read(os.path.join(folder, "ops_summary_by_category.csv"))
            at = head.index("total_direct_kernel_time_ms")
            sums.append(sum(round(float(r[at]) * 1e6) for r in rows))
        if sums[0] != sums[1]:
            self.rep.fail("%s: ops own %d ns with pseudo-ops and %d without" % (where, *sums))
        self.rep.named["tl-ops(1): pseudo-ops own nothing in the reference's tables of ops:"
                       " reports"] += 1
        return plainly

    def cells(self, where, variant, plain, out, files, grafted):
        if "gpu_timeline" in files:
            check_timeline(self.rep, self.folder, where, os.path.join(out, "gpu_timeline.csv"),
                           files["gpu_timeline"])
        if "coll_analysis" in files:
            check_collective(self.rep, self.folder, where, "coll_analysis",
                             os.path.join(out, "coll_analysis.csv"), files["coll_analysis"],
                             [self.tree])
        launchers = out
        if self.folder in ops.HIDDEN and "--pseudo-ops" in VARIANTS[plain]:
            launchers = self.without_pseudo(where, plain, out)
        part = ops.Report(where)
        ops.check_ops(part, self.folder, variant, launchers, pick(files, ops.OPS))
        kernels = pick(files, ops.KERNELS)
        if kernels:
            ops.check_kernels(part, self.data, self.folder, self.tree, launchers, variant, plain,
                              kernels, self.durations)
        part.bad = [where + ": " + b for b in part.bad]
        self.rep.take(part)
        part = roofline.Report()
        sheets = {n + ".csv": p for n, p in files.items() if roofline.SHEET.match(n + ".csv")}
        roofline.check_tables(part, self.folder, variant, plain, out, sheets, grafted)
        if plain == "report_with_comparison":
            theirs = os.path.join(self.data, self.folder, "reference", variant)
            compared = Compared(self.rep)
            versus.check_unified(compared, where, out, theirs)
            self.rep.cells -= compared.cells  # they are among those above
            if "diff_stats" in files:
                versus.check_stats(compared, where, out, theirs)
            del part.named["columns of a second trace"]
        self.rep.take(part)
        known = set(ops.OPS + ops.KERNELS + ("gpu_timeline", "coll_analysis", "diff_stats"))
        for sheet in files:
            if sheet not in known and sheet + ".csv" not in sheets:
                self.rep.fail("%s/%s: nothing compares this sheet" % (where, sheet))


def check_ranks(rep, data, folder, variants, tmp):
    top = os.path.join(data, folder)
    traces = sorted(os.path.join(top, f) for f in os.listdir(top) if ops.is_trace(f))
    for variant, plain, files in variants:
        where = "%s/%s" % (folder, variant)
        out = os.path.join(tmp, variant)
        nodes = ["--gpus-per-node", "2" if len(traces) <= 4 else "4"]
        if not run_report(rep, where, VARIANTS[plain] +
                          (nodes if plain == "node_span_heatmap" else []), traces, out):
            continue
        for sheet, path in sorted(files.items()):
            ours = os.path.join(out, sheet + ".csv")
            if is_there(rep, where + "/" + sheet, ours, path, False):
                check_collective(rep, folder, where, sheet, ours, path, traces)


def check_rocprof(rep, folder, trace, variants, tmp):
    for variant, plain, files in variants:
        where = "%s/%s" % (folder, variant)
        out = os.path.join(tmp, variant)
        if not run_report(rep, where, ROCPROF[plain], [trace], out):
            continue
        for sheet, path in sorted(files.items()):
            if not is_there(rep, where + "/" + sheet, os.path.join(out, sheet + ".csv"), path,
                            False):
                del files[sheet]
        if "gpu_timeline" in files:
            check_timeline(rep, folder, where, os.path.join(out, "gpu_timeline.csv"),
                           files.pop("gpu_timeline"))
        part = ops.Report(where)
        ops.check_rocprof(part, out, variant, plain, files)
        rep.take(part)


def check_activity(rep, folder, trace, variants, tmp):
    out = os.path.join(tmp, "report")
    if not run_report(rep, folder, ["--kernels"], [trace], out):
        return
    for variant, _, files in variants:
        where = "%s/%s" % (folder, variant)
        for sheet in files:
            if not os.path.exists(os.path.join(out, sheet + ".csv")):
                rep.fail("%s: no such sheet: %s" % (where, sheet))
        activity.check(rep, where, trace, variant, files)


def one(job):
    data, folder, trace, variants = job
    rep = Result("%s %s" % (folder, os.path.basename(trace or "ranks")[:40]))
    try:
        with tempfile.TemporaryDirectory() as tmp:
            if trace is None:
                check_ranks(rep, data, folder, variants, tmp)
            elif folder.startswith("rocprofv3_pftrace"):
                check_activity(rep, folder, trace, variants, tmp)
            elif folder.startswith("rocprofv3_json"):
                check_rocprof(rep, folder, trace, variants, tmp)
            else:
                t = Trace(rep, data, folder, trace, tmp)
                for variant, plain, files in variants if t.tree else ():
                    t.folder = variant[0]
                    t.check(variant[1], plain, files)
    except Exception as e:  # a failed check; others go on
        rep.fail("%s: %s" % (type(e).__name__, e))
    return rep


def perfetto_of(top):
    return next(os.path.join(top, f) for f in sorted(os.listdir(top)) if f.endswith(".pftrace"))


def jobs_of(data, only):
    """jobs, the largest first, and the folders left out"""
    jobs, left_out = {}, []
    for folder in sorted(os.listdir(data)):
        ref = os.path.join(data, folder, "reference")
        if not os.path.isdir(ref) or not fnmatch.fnmatch(folder, only):
            continue
        for variant in sorted(os.listdir(ref)):
            files = sheets_of(ref, variant)
            if not files:
                continue
            why = next((w for p, w in OTHER if re.match(p, variant)), None)
            trace, plain = ops.find_trace(data, folder, variant)
            is_rocprof = folder.startswith("rocprofv3_")
            if folder.startswith("rocprofv3_pftrace"):
                trace, plain = perfetto_of(os.path.join(data, folder)), "default"
            if why:
                left_out.append((why, len(files)))
            elif plain in ("detailed", "node_span_heatmap"):
                jobs.setdefault((folder, None), []).append((variant, plain, files))
            elif trace is None or plain not in (ROCPROF if is_rocprof else VARIANTS):
                left_out.append((None, folder + "/" + variant))
            else:
                jobs.setdefault((ops.PAIRS.get(folder, folder), trace), []).append(
                    (variant if is_rocprof else (folder, variant), plain, files))
    size = lambda j: os.path.getsize(j[2]) if j[2] else 1 << 30
    return sorted(((data,) + k + (v,) for k, v in jobs.items()), key=size, reverse=True), left_out


def main():
    ap = argparse.ArgumentParser(description="tl-report against the reference's reports, as TAP")
    ap.add_argument("--only", default="*", metavar="GLOB", help="data sets")
    ap.add_argument("-j", type=int, default=2, metavar="N", help="processes")
    ap.add_argument("-v", action="store_true", help="each cell that differs")
    a = ap.parse_args()
    jobs, left_out = jobs_of(os.environ["TL_DATA"], a.only)
    roofline.load_more()
    print("1..%d" % (len(jobs) + 1), flush=True)
    total = Result("all")
    with multiprocessing.Pool(a.j, maxtasksperchild=1) as pool:
        for n, rep in enumerate(pool.imap(one, jobs, 1), 1):
            print("%sok %d - %s: %d reports, %d tables, %d cells, %d equal" % (
                "not " if rep.bad else "", n, rep.name, rep.reports, rep.sheets, rep.cells,
                rep.equal))
            for text in rep.bad if a.v else rep.bad[:12]:
                print("# " + text)
            sys.stdout.flush()
            total.reports += rep.reports
            total.sheets += rep.sheets
            total.take(rep)
    unknown = [f for why, f in left_out if why is None]
    print("%sok %d - every folder of the reference is compared, or known to be another's" % (
        "not " if unknown else "", len(jobs) + 1))
    for f in unknown:
        print("# " + f)
    print("#: %d reports, %d tables, %d cells compared: %d equal, %d within the reference's"
          " rounding or named; %d wrong" % (total.reports, total.sheets, total.cells, total.equal,
                                            total.cells - total.equal, len(total.bad)))
    for name, n in sorted(total.named.items()):
        print("#: named: %s: %d" % (name, n))
    for why in sorted({w for w, _ in left_out if w}):
        print("#: left out: %s: %d tables" % (why, sum(n for w, n in left_out if w == why)))
    return 1 if total.bad or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
