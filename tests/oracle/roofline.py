#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""roofline.py: tl-roofline against the reference's tables, cell by cell, as TAP.

    roofline.py [--only GLOB] [-j N] [-v]

Each data set becomes a tree once, with the reference's rule of linking, and each set
of options gives a folder of tables. A cell that differs is either within the
precision of the reference's doubles, or a difference with a name, counted, or an
error. Lists are Python literals there and JSON here.
"""
import argparse
import ast
import collections
import csv
import fnmatch
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

import compare
import models
import ours

VARIANTS = {
    "default": [], "kernels": [], "topk": [], "unlinked": [], "unlinked_only": [],
    "roofline_mi300x": ["--arch", ours.MI300X, "--roof", "achievable"],
    "overlap": ["--overlap", "--linked-only"],
    "recompute": ["--recompute"],
    "callstack_nk": ["--call-stack", "--num-kernels", "--pseudo-ops"],
    # the inference report, without grafted capture traces
    "nocapture": [],
    "full": ["--arch", ours.MI300X, "--roof", "achievable", "--call-stack", "--pseudo-ops"],
    "module_pseudo_nk": ["--call-stack", "--num-kernels", "--pseudo-ops"],
    # the first trace: the second one's columns are tl-diff's
    "report_with_comparison": [],
    # with grafted capture traces
    "capture": [],
    "capture_full": ["--arch", ours.MI300X, "--roof", "achievable", "--call-stack", "--pseudo-ops"],
}
# Columns that compare with a second trace.
SECOND = re.compile(r"(speedup|delta_us) |lca_")
# Variants with such tables that aren't compared here.
LEFT_OUT = {
    "compare_reports": "two traces' tables joined: tl-diff",
    "jax_report": "of an XSpace, which tl-decode doesn't read",
    "jax_roofline": "of an XSpace, which tl-decode doesn't read",
    "upstream_perf_report": "of an XSpace, which tl-decode doesn't read",
}
INFERENCE = ("nocapture", "full", "module_pseudo_nk", "capture", "capture_full")
# with frames in its tree, which it counts as levels
LEAF = "9.1 an op behind more than ten frames is none of its leaves"
# of a sheet
ONCE = "5 an op within another of the sheet is counted there"
GRAFTED = ("capture", "capture_full", "module_pseudo_nk")
SHEET = re.compile(r"^(unified_perf_summary|GEMM|SDPA|CONV|InferenceAttention|BinaryElementwise|"
                   r"GroupedGEMM|MoE_\w+?|SSM|RoPE|CrossEntropy|UnaryElementwise|RMSNorm|elementwise|"
                   r"GroupQuant|FusedRoPE|CustomCollective|mHC|Normalization|Reduce)"
                   r"(_fwd|_bwd)?(_kl_overlap)?\.csv$")
# These, and what other reports make of them.
OTHER = re.compile(SHEET.pattern[:-len(r"\.csv$")] + r"|op_(gemm|conv)|df_xla_perf")
KEYS = ("name", "op category", "process_name", "process_label", "thread_name", "Input Dims",
        "Input type", "Input Strides", "Concrete Inputs", "is_recompute", "overlapping_kernel_names")
# A row's columns from its first call.
FIRST = ("Input Dims_first", "Input type_first", "Input Strides_first", "Concrete Inputs_first",
         "UID_first")
csv.field_size_limit(1 << 30)


def canon(text):
    """a cell as a value: numbers, texts, lists; tuples are lists"""
    if text in ("", "nan", "None"):
        return None
    if text in ("True", "true"):
        return True
    if text in ("False", "false"):
        return False
    try:
        return float(text)
    except ValueError:
        pass
    if text[0] in "[({":
        try:
            return plain(json.loads(text))
        except ValueError:
            pass
        try:
            return plain(ast.literal_eval(re.sub(r"np\.float64\(([^)]*)\)", r"\1",
                                                 re.sub(r"\bnan\b", "None", text))))
        except (ValueError, SyntaxError):
            return text
    return text


def plain(v):
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, bool) or v is None or isinstance(v, str):
        return v
    return float(v)


def freeze(v):
    return json.dumps(v, sort_keys=True)


class Table:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as f:
            rows = list(csv.reader(f))
        self.head = rows[0] if rows else []
        self.rows = [dict(zip(self.head, r)) for r in rows[1:]]


def key_columns(ref, is_unified):
    if is_unified:
        return [c for c in KEYS if c in ref.head]
    out = ["name"] + [c for c in ref.head if c.startswith("param: ")]
    return out + [c for c in ("num_kernels", "is_recompute", "overlapping_kernel_names_first")
                  if c in ref.head]


class Report:
    def __init__(self):
        self.tables = self.cells = self.equal = self.close = self.unlike = 0
        self.named = collections.Counter()
        self.bad = []


def number(a):
    return isinstance(a, float)


def is_close(col, got, want, tol):
    """tol: us that a time may be off; the row's mean time; the table's sum; the greatest
    rate, of which a deviation is a difference"""
    us, mean, whole, rate = tol
    if got == want:
        return True
    if isinstance(want, list) and isinstance(got, list):
        return len(got) == len(want) and all(
            is_close(col, a, b, tol) for a, b in zip(got, want))
    if isinstance(want, dict) and isinstance(got, dict):
        # only we count the names at one place
        return set(want) == set(got) - {"names"} and all(
            is_close(k, got[k], want[k], tol) for k in want)
    if not number(got) or not number(want):
        return False
    err = abs(got - want)
    rel = 1e-5 * abs(want)
    if "uration" in col or "(µs)" in col and "Roofline" not in col and "Origami" not in col:
        return err <= us + rel
    if "ercentage" in col:
        return err <= 100 * us / whole + rel if whole else False
    if re.match(r"TB/s|TFLOPS/s|Pct ", col) and mean:
        return err <= max(abs(want), rate) * 2 * us / mean + rel
    return err <= 1e-9 * abs(want)


MODEL = re.compile(r"GFLOPS|Data Moved|FLOPS/Byte|TB/s|TFLOPS/s|Compute Spec|perf_params|param: |"
                   r"(Pct )?Roofline|has_perf_model")
GEMM = re.compile(r"mm$|gemm|linear", re.I)
NORM = re.compile(r"(batch|layer|group|instance|rms)_?norm", re.I)
# Where a model of the reference is wrong: the number in the op models' specification, the
# ops.
WRONG = (
    ("D8, D9 bias of convolutions", re.compile(r"aten::convolution|ConvBias")),
    ("D12 reductions", re.compile(r"aten::(sum|mean|max|min|norm|linalg_norm|std|var|logsumexp|"
                                  r"cumsum|cumprod|amin|amax)$")),
    ("D13 normalisations", NORM),
    ("D14, D15 attention", re.compile(r"attn|attention|mha|fmha", re.I)),
    ("D3, D4, D7 Triton", re.compile(r"triton_")),
)
SCALARS = re.compile(r"aten::(add_?|mul_?|div_?|pow|clamp_m\w+|copy_?|sigmoid_backward|"
                     r"threshold_backward)$")


def wrong_model(name, row):
    """the reason why the reference's model of this row is wrong, or None"""
    for text, pattern in WRONG:
        if pattern.search(name):
            return text
    types = row.get("Input type", row.get("Input type_first", "")) or ""
    if SCALARS.match(name):
        if name.startswith("aten::copy"):
            return "D17 copies count the source's bytes"
        if re.search(r"'(bool|short int|unsigned \w+|c10::complex\S*|c10::Float8_e5m2\w*)'", types):
            return "D1, D2 types"
        dims = row.get("Input Dims", row.get("Input Dims_first", "")) or ""
        if "'Scalar'" in types or "()" in dims or "[]" in dims:
            return "D29 a scalar moves nothing"
        if name == "aten::pow":
            return "D17 pow"
    return None


# How many cells of a hundred a reason may excuse.
SHARES = {
    "12.3 order of kernels in a call stack": 0.093,
    "12.3 order of rows with equal sums": 0.0042,
    "12.3 times in steps of 250 ns": 0.12,
    "15 attention inside graph replays": 0.0058,
    "15 more models": 4.5,
    "5 an op within another of the sheet is counted there": 3.5,
    "5 kernels of one op are not beside each other": 0.25,
    "6.6 call stacks inside of kernel details": 0.13,
    "7 transposes of other kernels": 0.047,
    "9.1 an op behind more than ten frames is none of its leaves": 0.063,
    "9.1 uid of a synthetic op": 0.066,
    "9.5 a synthetic op has a call stack": 0.0077,
    "9.5 an empty list for equal kernels": 0.0012,
    "D1-D29 failed there": 0.069,
    "D12 reductions": 0.35,
    "D13 normalisations": 1.2,
    "D14, D15 attention": 0.042,
    "D16 the op itself has a row, not one of its name below it": 0.021,
    "D17 copies count the source's bytes": 0.19,
    "D27 without strides": 1.2,
    "D29 a scalar moves nothing": 0.22,
    "D3, D4, D7 Triton": 0.094,
    "D5 the memory's roof": 0.093,
    "D8, D9 bias of convolutions": 0.54,
    "a kernel's name proves tf32": 0.08,
    "columns of a second trace": 0.14,
    "inference 5.4 grafted ops have no host time": 0.12,
    "inference 5.4 uid of a grafted op": 0.043,
    "inference 7 the chain above a pseudo-op stands once": 0.0014,
    "the link limits copies between host and GPU": 0.4,
}

# Columns that the reference omits if they have no figure.
FIGURES = re.compile(r"((Pct )?Roofline|T(FLOPS|B)/s|GFLOPS|FLOPS/Byte|Data Moved|Compute Spec|param:)")


# Copies that no memory roof is about.
OVER_LINK = re.compile("HtoD|DtoH|HostToDevice|DeviceToHost|HOST_TO_DEVICE|DEVICE_TO_HOST")
LINK = "the link limits copies between host and GPU"
REPLAYED = re.compile(r"(cuda|hip)GraphLaunch->.*(_attention|reshape_and_cache)")


class Compare:
    """one table of the reference and ours"""

    def __init__(self, rep, where, got, want, is_unified, us, is_grafted):
        self.rep, self.where, self.us, self.is_grafted = rep, where, us, is_grafted
        self.got, self.want, self.is_unified = got, want, is_unified
        self.uid = "ex_UID" if is_unified else "UID_first"
        self.count = "operation_count" if is_unified else "name_count"
        self.whole = sum(canon(r.get("Kernel Time (µs)_sum", "")) or 0 for r in want.rows)
        self.is_beside = where.endswith("_kl_overlap")
        self.names = "overlapping_kernel_names" + ("" if is_unified else "_first")
        self.stood_for = collections.Counter()  # time of rows that count an op's work, by its name
        for r in got.rows:
            for n in canon(r.get("stands_for", "")) or ():
                self.stood_for[n] += canon(r["Kernel Time (µs)_sum"])
        self.is_leafy = is_grafted and is_unified and self.leaves()
        self.halves = set()  # our rows of which the reference has one for two

    def named(self, text, n=1):
        self.rep.named[text] += n

    def bad(self, text, n=1):
        self.rep.bad.append("%s: %s" % (self.where, text))
        self.rep.unlike += n

    def replayed(self):
        """attention inside graph replays, whose category is other there"""
        ours = {r["name"]: r.get("op category") for r in self.got.rows if REPLAYED.match(r["name"])}
        for w in self.want.rows:
            if w.get("op category") == "other" and ours.get(w["name"]) == "InferenceAttention":
                w["op category"] = ours[w["name"]]
                self.rep.equal -= 1
                self.named("15 attention inside graph replays")

    def run(self):
        self.further_columns()
        self.replayed()
        keys = key_columns(self.want, self.is_unified)
        self.find_halves(keys)
        loose = ["name", self.uid] + [c for c in keys if c in ("num_kernels", "is_recompute",
                                                              self.names)]
        left = self.match(self.want.rows, self.got.rows, keys)
        left = self.match(left[0], left[1], loose)
        self.unmatched(*left)

    def find_halves(self, keys):
        """copies over the link have a row of their own beside others with the same arguments"""
        c, both = "Kernel Time (µs)_sum", collections.defaultdict(lambda: ([], []))
        for i, rows in enumerate((self.got.rows, self.want.rows)):
            for r in rows:
                both[freeze([canon(r.get(k, "")) for k in keys])][i].append(r)
        for gs, ws in both.values():
            links = [g for g in gs if "LINK_BOUND" in (g.get("Roofline Bound"),
                                                       g.get("Roofline Bound_first"))]
            if (len(gs), len(links), len(ws)) == (2, 1, 1) and \
                    OVER_LINK.search(json.dumps(links[0])) and \
                    sum(canon(g[self.count]) for g in gs) <= canon(ws[0][self.count]) and \
                    abs(sum(canon(g[c]) for g in gs) - canon(ws[0][c])) <= self.us:
                self.halves.update(id(g) for g in gs)

    def further_columns(self):
        """columns that the reference lacks are marked as ours"""
        further = [c for c in self.got.head
                   if c not in self.want.head and not FIGURES.match(c)]
        marked = ours.labels("tl-roofline", "unified_perf_summary" if self.is_unified else
                             "GEMM") if further else ()
        for c in further:
            if c not in marked:
                self.bad("a column that the reference lacks: %s" % c)

    def leaves(self):
        """do rows of one side only have the same kernels, split at other ops?"""
        name = "Kernel Time (µs)_sum"
        ours, theirs = [{r["name"]: 0.0 for r in t.rows} for t in (self.got, self.want)]
        for rows, sums in ((self.got.rows, ours), (self.want.rows, theirs)):
            for r in rows:
                sums[r["name"]] += canon(r[name]) or 0
        more = sum(v for k, v in ours.items() if k not in theirs)
        fewer = sum(v for k, v in theirs.items() if k not in ours)
        return more > 0 and abs(more - fewer) < 0.1 * len(self.want.rows)

    def match(self, want, got, keys):
        ours = collections.defaultdict(list)
        for r in got:
            ours[freeze([canon(r.get(k, "")) for k in keys])].append(r)
        left = []
        for w in want:
            at = ours.get(freeze([canon(w[c]) for c in keys]))
            if at:
                self.row(at.pop(0), w)
            else:
                left.append(w)
        return left, [g for rows in ours.values() for g in rows]

    def row(self, g, w):
        mean = canon(w.get("Kernel Time (µs)_mean", ""))
        self.rep.cells += len(self.want.head)
        regrouped = self.regrouped(g, w)
        for c in self.want.head:
            a, b = canon(g.get(c, "")), canon(w[c])
            if SECOND.match(c):
                self.named("columns of a second trace")
            elif a == b:
                self.rep.equal += 1
            elif is_close(c, a, b, (self.us, mean, self.whole, self.rate(c, w))):
                self.rep.close += 1
            else:
                why = self.cell(c, a, b, g, w) or regrouped
                if why:
                    self.named(why)
                else:
                    self.bad("%s [%s]: %s instead of %s" % (c, w["name"], str(a)[:200],
                                                            str(b)[:200]))

    @staticmethod
    def rate(c, w):
        top = canon(w.get(c[:-4] + "_max", "")) if c.endswith("_std") else None
        return top or 0

    def regrouped(self, g, w):
        """other parameters group calls differently"""
        if canon(g[self.count]) == canon(w[self.count]):
            return None
        if id(g) in self.halves:
            return LINK
        if self.is_within(w["name"], [w], [g]):
            return ONCE
        if self.is_beside:
            return self.same_op(w)
        return wrong_model(w["name"], w) if not self.is_unified else None

    def is_within(self, name, ws, gs):
        """are there fewer calls, and is the rest's time in rows above?"""
        c = "Kernel Time (µs)_sum"
        less = sum(canon(w[c]) or 0 for w in ws) - sum(canon(g[c]) or 0 for g in gs)
        return sum(canon(w[self.count]) for w in ws) > sum(canon(g[self.count]) for g in gs) and \
            less <= self.stood_for[name] + self.us + \
            sum(canon(r[c]) or 0 for r in self.got.rows if r["name"] == name)

    def same_op(self, w):
        """does the reference count an op's own kernels as overlapping it?"""
        def total(rows, c):
            return sum(canon(r[c]) or 0 for r in rows if r["name"] == w["name"])
        if total(self.got.rows, self.count) == total(self.want.rows, self.count):
            return "5 kernels of one op are not beside each other"
        return wrong_model(w["name"], w)

    def same_work(self, g, w):
        """as many calls, with the same time?"""
        return canon(g[self.count]) == canon(w[self.count]) and abs(
            canon(g["Kernel Time (µs)_sum"]) - canon(w["Kernel Time (µs)_sum"])) <= self.us

    def same_sum(self, g):
        c = "Kernel Time (µs)_sum"
        return sum(r[c] == g[c] for r in self.got.rows) > 1

    def cell(self, c, a, b, g, w):
        name = w["name"]
        if c.startswith("Cumulative") and self.halves:
            return LINK
        if self.is_grafted:
            if c == self.uid:
                return "inference 5.4 uid of a grafted op"
            if "duration_us" in c and a is None:
                return "inference 5.4 grafted ops have no host time"
            if c == "call_stack_full" and name.startswith("pseudo_op::") and is_part(a, b):
                return "inference 7 the chain above a pseudo-op stands once"
            if c.startswith("Cumulative") and self.is_leafy:
                return LEAF
        if c == self.uid and name.endswith("(Synthetic Op)"):
            return "9.1 uid of a synthetic op"
        if c == "entry_point" and name.endswith("(Synthetic Op)") and b == "Not found":
            return "9.5 a synthetic op has a call stack"
        if c == "call_stack_full" and name.endswith("(Synthetic Op)"):
            return "9.5 a synthetic op has a call stack"
        if c == "call_stack_full" and isinstance(b, list) and b[-1:] == [[]] and b[:-1] == a:
            return "9.5 an empty list for equal kernels"
        if c == "call_stack_full" and isinstance(a, list) and same_tails(a, b):
            return "12.3 order of kernels in a call stack"
        if c.startswith("Cumulative") and self.same_sum(g) and \
                abs(a - b) <= 2 * canon(w["Percentage (%)"]):
            return "12.3 order of rows with equal sums"
        if self.us > 1 and not MODEL.match(c):
            return "12.3 times in steps of 250 ns"
        if c == "call_stack_full" and is_part(b, a):
            return "pytorch-trace 7.3 frames that doubles discard"
        if "kernel_details" in c and isinstance(b, list):
            if without(b, "call_stack") != b and isinstance(a, list) and is_close(
                    c, a, without(b, "call_stack"), (self.us, 0, 0, 0)):
                return "6.6 call stacks inside of kernel details"
        if self.is_beside and re.search("overlap|Cumulative", c) and self.same_op(w):
            return self.same_op(w)
        if c in FIRST and self.same_work(g, w) and name.startswith("aten::upsample") and \
                0 < canon(w[self.uid]) - canon(g[self.uid]) < 10:
            return "D16 the op itself has a row, not one of its name below it"
        if not MODEL.match(c):
            return None
        if w.get("has_perf_model") == "False" and g.get("has_perf_model") in ("True", "true"):
            return "15 more models"
        if g["Compute Spec"] == "matrix_tf32" and w["Compute Spec"] == "matrix_fp32" and \
                "tf32" in json.dumps(g) and not (number(a) and a > b):
            return "a kernel's name proves tf32"
        if "Roofline" in c and "LINK_BOUND" in (g.get("Roofline Bound"), g.get("Roofline Bound_first")) \
                and OVER_LINK.search(json.dumps(w)):
            return LINK
        if "Roofline" in c and b is None:
            return "D5 the memory's roof"
        if c in ("perf_params", "param: transpose") and GEMM.search(name):
            if c[0] != "p" or a is None or b is None or same_but(a, b, "transpose"):
                return "7 transposes of other kernels"
        if w.get("GFLOPS") == "" and w.get("perf_params") in ("", "{}") and b is None:
            return "D27 without strides" if w.get("Input Strides") == "" else "D1-D29 failed there"
        return self.model_cell(c, a, b, g, w)

    def model_cell(self, c, a, b, g, w):
        """figures of a model follow from formulas, rates and times from the figures"""
        why = wrong_model(w["name"], w)
        if why is None or not self.model_differs(g, w):
            return None
        head = "" if self.is_unified else "_first"
        mean = canon(w["Kernel Time (µs)_min"]) or self.us
        m = re.match("(GFLOPS|Data Moved|TFLOPS/s|TB/s)", c)
        if m and number(a) and number(b) and not c.endswith("_std"):
            of = "GFLOPS" + head if "FLOPS" in m[1] else "Data Moved (MB)" + head
            x, y = canon(g[of]), canon(w[of])
            if not c.startswith(of) and number(x) and number(y) and y and \
                    g[self.count] == w[self.count] and \
                    abs(a * y - b * x) > (1e-5 + 3 * self.us / mean) * abs(a * y):
                return None
        both = self.formulas(w)
        if both and c in ("GFLOPS" + head, "Data Moved (MB)" + head, "Compute Spec"):
            at = ("GFLOPS" + head, "Data Moved (MB)" + head, "Compute Spec").index(c)
            div = (1e9, 1048576, None)[at]
            want = [x[at] if div is None else x[at] / div if x[at] == x[at] else None for x in both]
            return why if [b or "", a or ""] == [x or "" for x in want] else None
        return why

    def formulas(self, w):
        """a row's figures with the reference's errors and without, or None"""
        row = models.Row(self.where, self.is_unified, w)
        if row.name not in models.FAMILY or None in row.lists[:2]:
            return None
        function = models.FAMILY[row.name][0]
        return [function(models.Op(row.name, row.lists, row.kernels, o)) for o in (False, True)]

    def model_differs(self, g, w):
        """does the model itself differ, not only times?"""
        return any(canon(g.get(c, "")) != canon(w[c]) for c in self.want.head
                   if re.match(r"GFLOPS|Data Moved|Compute Spec|perf_params|param: ", c))

    def unmatched(self, want, got):
        names = collections.defaultdict(lambda: ([], []))
        for w in want:
            names[w["name"]][0].append(w)
        for g in got:
            if id(g) in self.halves:
                self.named(LINK, len(self.want.head))
            else:
                names[g["name"]][1].append(g)
        for name, (ws, gs) in sorted(names.items()):
            cells = len(ws) * len(self.want.head)
            self.rep.cells += cells
            why = self.rows_differ(name, ws, gs)
            if why:
                self.named(why, max(cells, len(gs) * len(self.want.head)))
                continue
            for w in ws:
                self.bad("no row %s" % [w[c] for c in self.want.head[:14]], len(self.want.head))
            for g in gs:
                self.bad("a row too many: %s" % list(g.values())[:14])

    def rows_differ(self, name, ws, gs):
        if self.us > 1:
            return "12.3 times in steps of 250 ns"
        if self.is_beside:
            why = self.same_op((ws or gs)[0])
            if why:
                return why
        if self.is_unified:
            return LEAF if self.is_leafy else None
        if self.is_within(name, ws, gs):
            return ONCE
        if not any(r["name"] == name for r in self.want.rows):
            if all(g.get("model_reason") for g in gs):
                return "5 rows without a result are kept"
            if name in MORE:
                return "15 more models"
            if canon(gs[0].get("Input Strides_first", "")) is None:
                return "D27 without strides"
        if not self.same_total(name):
            return None
        if ws and GEMM.search(name):
            return "7 transposes of other kernels"
        return wrong_model(name, (ws or gs)[0])

    def same_total(self, name):
        """the same calls of an op, grouped differently?"""
        c, ws, gs = "Kernel Time (µs)_sum", *([r for r in t.rows if r["name"] == name]
                                              for t in (self.want, self.got))
        return not ws or (
            sum(canon(r[self.count]) for r in ws) == sum(canon(r[self.count]) for r in gs) and
            abs(sum(canon(r[c]) or 0 for r in ws) - sum(canon(r[c]) or 0 for r in gs)) <= self.us)


MORE = set()


def load_more():
    """ops that only we model"""
    text = subprocess.run(["tl-roofline", "--list-models"], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    for line in text.splitlines()[1:]:
        name, category = line.split("\t")[:2]
        if category == "":
            MORE.add(name)


def is_part(part, whole):
    """is one list the other without some elements?"""
    if not isinstance(part, list) or not isinstance(whole, list):
        return False
    it = iter(whole)
    return all(any(x == y or is_part(x, y) for y in it) for x in part)


def same_tails(a, b):
    """the same frames, followed by the same lists in any order"""
    if not isinstance(b, list):
        return False
    x, y = [[freeze(t) for t in v if isinstance(t, list)] for v in (a, b)]
    heads = [[t for t in v if isinstance(t, str)] for v in (a, b)]
    return sorted(x) == sorted(y) and is_part(heads[1], heads[0])


def without(v, key):
    if isinstance(v, list):
        return [without(x, key) for x in v]
    if isinstance(v, dict):
        return {k: x for k, x in v.items() if k != key}
    return v


def same_but(a, b, key):
    return isinstance(a, dict) and isinstance(b, dict) and without(a, key) == without(b, key)


def compare_table(rep, where, got, want, is_unified, us, is_grafted):
    rep.tables += 1
    Compare(rep, where, got, want, is_unified, us, is_grafted).run()


def variants(folder, left_out):
    """(variant, data set, options) and its tables by name"""
    ref = os.path.join(folder, "reference")
    if not os.path.isdir(ref):
        return
    for v in sorted(os.listdir(ref)):
        m = re.match(r"(?:(rank\d+|capture_pytorch|pytorch)_)?(.*)$", v)
        if m.group(2) not in VARIANTS:
            if any(OTHER.match(f) for f in os.listdir(os.path.join(ref, v))):
                left_out.append((os.path.basename(folder), v))
            continue
        tables = {}
        top = os.path.join(ref, v)
        for f in os.listdir(top):
            if SHEET.match(f):
                tables[f] = os.path.join(top, f)
        same = os.path.join(top, "SAME_AS.txt")
        if os.path.exists(same):
            with open(same, encoding="utf-8") as f:
                for line in f:
                    if "\t" in line:
                        t, other = line.rstrip("\n").split("\t")
                        if SHEET.match(t):
                            tables[t] = os.path.join(ref, other, t)
        if tables:
            yield v, (m.group(1) or ""), m.group(2), tables


def graft(tl, captures, pseudo):
    """the tree with the ops of its captured graphs"""
    out = tl + (".pseudo" if pseudo else ".graft")
    if not os.path.exists(out):
        subprocess.run(["tl-graft", "--capture", captures, "-o", out, tl] +
                       (["--pseudo-ops"] if pseudo else []), check=True)
    return out


def coarse(tables):
    """us that times may be off: those since 1970 are doubles 250 ns apart"""
    times = [canon(r.get("Kernel Time (µs)_sum", "")) or 0 for t in tables for r in t.rows]
    return 25.0 if all(x * 4 == int(x * 4) for x in times) and any(x != int(x) for x in times) else 0.1


def check_tables(rep, folder, v, kind, out, tables, grafted):
    """the tables of a variant against those in a folder"""
    us = coarse([Table(p) for p in tables.values()])
    for t, path in sorted(tables.items()):
        where = "%s/%s/%s" % (folder, v, t[:-4])
        # the inference report has two sheets where the other has one
        mine = os.path.join(out, t.replace("Normalization_fwd", "Normalization")
                            if kind in INFERENCE else t)
        want = Table(path)
        if not os.path.exists(mine):
            if want.rows:
                rep.bad.append("%s: no such table" % where)
            continue
        compare_table(rep, where, Table(mine), want, t.startswith("unified"),
                      us, grafted)


def check_set(job):
    s, todo, verbose = job
    rep = Report()
    with tempfile.TemporaryDirectory() as tmp:
        tl = os.path.join(tmp, "t.tl")
        p = subprocess.run(
            ["bash", "-c", "set -o pipefail; tl-decode \"$1\" | tl-tree --link=flow -o \"$2\"",
             "sh", s.path, tl], stderr=subprocess.PIPE, check=False)
        if p.returncode not in (0, 3):
            rep.bad.append("%s: %s" % (s.name, p.stderr.decode()[:300]))
            return s.name, rep, verbose
        done = {}
        captures = os.path.join(os.path.dirname(s.path), "capture_traces")
        for folder, v, kind, tables in todo:
            grafted = kind in GRAFTED and os.path.isdir(captures)
            opts = tuple(VARIANTS[kind]) + (("grafted",) if grafted else ())
            if opts not in done:
                out = os.path.join(tmp, str(len(done)))
                os.mkdir(out)
                tree = tl
                if grafted:
                    tree = graft(tl, captures, "--pseudo-ops" in opts)
                q = subprocess.run(["tl-roofline", tree, "-d", out, "--labels"] + VARIANTS[kind],
                                   stderr=subprocess.PIPE, check=False)
                if q.returncode not in (0, 3):
                    rep.bad.append("%s/%s: %s" % (folder, v, q.stderr.decode()[:300]))
                    out = None
                done[opts] = out
            if done[opts] is None:
                continue
            check_tables(rep, folder, v, kind, done[opts], tables, grafted)
    return s.name, rep, verbose


def shares(total):
    """reasons that excused no cell, or more cells than SHARES allows"""
    out = []
    for why in sorted(set(SHARES) | set(total.named)):
        n, most = total.named[why], SHARES.get(why, 0)
        if not 0 < n <= most * total.cells / 100:
            out.append("reason '%s' excused %d of %d cells, at most %g %% are its share" %
                       (why, n, total.cells, most))
    return out


def main():
    ap = argparse.ArgumentParser(description="tl-roofline against the reference's tables, as TAP")
    ap.add_argument("--only", default="*")
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("-v", action="store_true")
    args = ap.parse_args()
    data = os.environ["TL_DATA"]
    sets = {s.name: s for s in compare.find_sets(data, "*")}
    jobs = collections.OrderedDict()
    left_out = []
    for folder in sorted(os.listdir(data)):
        name = compare.PAIRS.get(folder, folder)
        for v, prefix, kind, tables in variants(os.path.join(data, folder),
                                                 left_out):
            which = name
            if prefix.startswith("rank"):
                which += "/" + prefix
            elif prefix.startswith("capture"):
                which += "/capture"
            if which in sets and fnmatch.fnmatch(which, args.only):
                jobs.setdefault(which, []).append((folder, v, kind, tables))
    load_more()
    todo = [(sets[n], list(j), args.v) for n, j in jobs.items()]
    todo.sort(key=lambda j: -os.path.getsize(j[0].path))
    total, n = Report(), 0
    print("1..%d" % len(todo))
    with multiprocessing.Pool(args.j) as pool:
        for name, rep, _ in pool.imap(check_set, todo):
            n += 1
            print("%sok %d - %s: %d tables, %d cells, %d equal, %d within the doubles' error" %
                  ("not " if rep.bad else "", n, name, rep.tables, rep.cells, rep.equal, rep.close))
            for b in rep.bad[:10000 if args.v else 12]:
                print("# " + b)
            for f in ("tables", "cells", "equal", "close", "unlike"):
                setattr(total, f, getattr(total, f) + getattr(rep, f))
            total.named.update(rep.named)
            total.bad += rep.bad
            sys.stdout.flush()
    print("# %d tables, %d cells compared: %d equal, %d within the doubles' error, "
          "%d unlike" % (total.tables, total.cells, total.equal, total.close, total.unlike))
    for k, c in sorted(total.named.items()):
        print("# named: %s: %d cells" % (k, c))
    if args.only == "*":
        total.bad += shares(total)
    for folder, v in left_out:
        print("# left out: %s/%s: %s" % (folder, v, LEFT_OUT.get(v, "no reason")))
        total.bad += [] if v in LEFT_OUT else ["%s/%s is left out" % (folder, v)]
    for line in total.bad if args.only == "*" else ():
        if line.startswith("reason "):
            print("not ok - " + line)
    return 1 if total.bad else 0


if __name__ == "__main__":
    sys.exit(main())
