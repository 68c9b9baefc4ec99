#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ops.py: the tables of tl-ops and tl-kernels against the reference's, as TAP.

    ops.py [ops|kernels|sums|all] [--only GLOB] [-v]

Each table of the reference that applies is compared cell by cell with the output
of `-d DIR`. Links are first cut to those that the reference finds
(tl-tree --link=flow). Lists are Python literals there and JSON here. No other
tolerance: times within 0.1 us or 1e-5, shares within what that is of their sum
(spec 12.3), counts, names and arguments exactly. Rows are matched by their keys;
their order is compared where the sort column decides it. Intended differences have
a name and are counted.

sums: figures that must agree to the nanosecond, on every trace with all links: time
by op, by category and by arguments; time of kernels by name, by op, by launch
configuration and by event; ops against their kernels; ops, kernels, roofline and
busy time against the events, with unlinked work by name.
"""
import argparse
import ast
import csv
import fnmatch
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

from ours import labels as marked_columns

csv.field_size_limit(1 << 30)

WHATS = ("ops", "kernels", "rocprof", "sums")
OPS = ("ops_summary_by_category", "ops_summary", "ops_unique_args", "ops_unique_args_kl_overlap")
KERNELS = ("kernel_summary", "short_kernels_summary", "short_kernel_histogram")
ROCPROF = ("kernel_summary", "kernel_summary_by_category", "kernel_details",
           "short_kernels_summary", "short_kernel_histogram")
SHORT5 = ["--short", "5us", "--bins", "20"]
# options of tl-ops and tl-kernels by the reference's variant
VARIANTS = {
    "default": ([], []), "kernels": ([], []), "roofline_mi300x": ([], []),
    "unlinked": ([], []), "unlinked_only": ([], []), "report_with_comparison": ([], []),
    "overlap": (["--overlap", "--first-occurrence", "--linked-only"], []),
    "callstack_nk": (["--num-kernels"], []),
    "topk": ([], SHORT5),
    "recompute": (["--recompute"], []),
    # the inference report
    "nocapture": ([], []), "capture": ([], []),
    "full": (["--parent-module", "--call-stack"], []),
    "capture_full": (["--parent-module", "--call-stack"], []),
    "module_pseudo_nk": (["--parent-module", "--call-stack", "--num-kernels"], []),
    "details": ([], []), "short": ([], []), "all": ([], SHORT5), "nosummary": ([], []),
}
INFERENCE = ("nocapture", "capture", "full", "capture_full", "module_pseudo_nk")
GRAFTED = ("capture", "capture_full", "module_pseudo_nk")
PSEUDO = ("full", "capture_full", "module_pseudo_nk")
# traces whose pseudo-ops own kernels, which the reference's tables of launchers miss
HIDDEN = ("inference_vllm_decode_full",)
# ops whose own kernels run concurrently
SAME_OP = {"hta_alexnet": "aten::cudnn_convolution", "hta_simple_add_e2e": "aten::cudnn_convolution"}
COARSE = {"hta_ns_resolution": 25.0}
PAIRS = {"pair_bert_small": "mi300_bert_small", "pair_nsfw_vit": "mi300_nsfw_vit",
         "pair_timesformer": "mi300_timesformer", "pair_tpt_steps": "tpt_transformer_step1"}


class Report:
    def __init__(self, name):
        self.name = name
        self.tables = self.cells = self.equal = 0
        self.unequal = 0  # cells with a named difference
        self.bad = []
        self.named = {}

    def fail(self, text):
        self.bad.append(text)

    def differs(self, name, n=1):
        self.named[name] = self.named.get(name, 0) + n


def run(argv):
    p = subprocess.run(argv, capture_output=True, text=True, check=False)
    return p.returncode, p.stderr


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    return (rows[0], rows[1:]) if rows and rows[0] else ([], [])


# ---- what there is


def table_files(ref, variant, names):
    """{table: path} of a variant, including those of SAME_AS.txt"""
    out = {}
    top = os.path.join(ref, variant)
    for n in names:
        if os.path.exists(os.path.join(top, n + ".csv")):
            out[n] = os.path.join(top, n + ".csv")
    same = os.path.join(top, "SAME_AS.txt")
    if os.path.exists(same):
        with open(same, encoding="utf-8") as f:
            for line in f:
                name, _, other = line.rstrip("\n").partition("\t")
                n = name[:-4]
                if n in names and n not in out:
                    out[n] = os.path.join(ref, other, name)
    return out


def is_trace(name):
    return name.endswith((".json", ".json.gz")) and not name.startswith("execution_details")


def find_trace(data, folder, variant):
    """the trace, and the variant's plain name"""
    top = os.path.join(data, PAIRS.get(folder, folder))
    m = re.match(r"(rank\d+|capture_pytorch|pytorch)_(.*)", variant)
    if m and m.group(1) == "capture_pytorch":
        top = os.path.join(top, "capture_traces")
    if not os.path.isdir(top):
        return None, None
    files = sorted(f for f in os.listdir(top) if is_trace(f))
    plain = m.group(2) if m else variant
    if m and m.group(1).startswith("rank"):
        n = m.group(1)[4:]
        files = [f for f in files if re.match(r"(rank|worker|sampled_rank-)%s\D" % n, f)]
    return (os.path.join(top, files[0]) if len(files) == 1 else None), plain


# ---- values


def literal(text):
    """a Python literal there, JSON here; None if it is neither"""
    if not text or text[0] not in "[({":
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return plain(ast.literal_eval(re.sub(r"\bnan\b", "None", text)))
    except (ValueError, SyntaxError):
        return None


def plain(v):
    if isinstance(v, (tuple, list)):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return v


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def close(a, b, slack):
    return abs(a - b) <= max(slack, 1e-5 * abs(b))


def same(got, want, slack):
    """compares nested values; times may be close"""
    if isinstance(want, list) and isinstance(got, list):
        return len(got) == len(want) and all(same(a, b, slack) for a, b in zip(got, want))
    if isinstance(want, dict) and isinstance(got, dict):
        keys = [k for k in got if k != "names"]
        return keys == list(want) and all(same(got[k], want[k], slack) for k in keys)
    if isinstance(want, float) or isinstance(got, float):
        return (isinstance(want, (int, float)) and isinstance(got, (int, float))
                and close(got, want, slack))
    return got == want


def same_set(got, want, slack):
    """lists of dicts; those with equal sums may be in any order"""
    if same(got, want, slack):
        return True
    if not (isinstance(got, list) and isinstance(want, list) and len(got) == len(want)):
        return False
    left = list(got)
    for w in want:
        hit = next((x for x in left if same(x, w, slack)), None)
        if hit is None:
            return False
        left.remove(hit)
    return True


# ---- tables

KEYS = {
    "ops_summary_by_category": ("op category", "parent_module", "is_recompute"),
    "ops_summary": ("name", "parent_module", "is_recompute"),
    "ops_unique_args": ("name", "op category", "parent_module", "process_name", "process_label", "thread_name",
                        "Input Dims", "Input type", "Input Strides", "Concrete Inputs",
                        "num_kernels", "is_recompute"),
    "kernel_summary": ("Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream",
                       "name"),
    "short_kernels_summary": ("Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs",
                              "Kernel name", "name"),
    "short_kernel_histogram": ("bin_start",),
    "kernel_summary_by_category": ("op category",),
}
KEYS["ops_unique_args_kl_overlap"] = ("overlapping_kernel_names",) + KEYS["ops_unique_args"]


def is_share(name):
    return "ercent" in name


def cell_same(name, got, want, slack, shares):
    """(equal, within tolerance)"""
    if got == want:
        return True, True
    a, b = literal(got), literal(want)
    if a is not None and b is not None:
        return a == b, same_set(a, b, max(slack, 0.011))
    if name.startswith("Kernel stream") or name == "stream":
        return False, number(got) is not None and number(got) == number(want)
    x, y = number(got), number(want)
    if x is None or y is None:
        return False, False
    if x == y:
        return True, True
    if re.search(r"[Cc]ount|UID|num_kernels", name):
        return False, False
    if is_share(name):
        return False, close(x, y, shares)
    if name.endswith("_ms"):
        return False, close(x, y, slack / 1000)
    return False, close(x, y, slack)


def key_of(row, names):
    out = []
    for n in names:
        text = row.get(n, "")
        v = literal(text)
        if v is None and n == "Kernel stream" and number(text) is not None:
            text = repr(number(text))
        out.append(json.dumps(v, sort_keys=True) if v is not None else text)
    return tuple(out)


def compare(rep, folder, where, name, got, want, coarse, rescale=None):
    gh, grows = got
    wh, wrows = want
    rep.tables += 1
    missing = [c for c in wh if c not in gh]
    extra = [c for c in gh if c not in wh]
    if not wrows and not grows:
        return
    if missing and wrows:
        rep.fail("%s: no column %s" % (where, missing))
        return
    grows = [dict(zip(gh, r)) for r in grows]
    wrows = [dict(zip(wh, r)) for r in wrows]
    marked = marked_columns("tl-ops" if name in OPS else "tl-kernels", name) if extra else ()
    for c in extra:
        if any(r[c] for r in grows) and c != "names" and c not in marked and not (
                c == "total_subtree_kernel_time_ms" and where.split("/")[0] in INFERENCE):
            rep.fail("%s: a column that the reference lacks: %s" % (where, c))
    order = [c for c in gh if c in wh]
    if wrows and [c for c in wh if c in order] != order:
        rep.fail("%s: columns in another order" % where)
    keys = [k for k in KEYS[name] if k in wh]
    total = next((c for c in wh if re.search(
        r"kernel_time_(ms|sum)$|\)_sum$|Total Kernel|\) sum$", c)), None)
    whole = sum(number(r[total]) or 0 for r in wrows) if total else 0
    if total and total.endswith("_ms"):
        whole *= 1000
    shares = 100 * max(coarse, 0.1) / whole if whole else 0
    if name == "short_kernel_histogram":
        edge_cases(rep, where, grows, wrows, rescale)
        pairs = list(zip(grows, wrows))
        if len(grows) != len(wrows):
            rep.fail("%s: %d rows instead of %d" % (where, len(grows), len(wrows)))
    else:
        by_key = {}
        for r in grows:
            by_key.setdefault(key_of(r, keys), []).append(r)
        pairs = []
        for w in wrows:
            hits = by_key.get(key_of(w, keys))
            if not hits and named_row(folder, name, key_of(w, keys)):
                rep.differs(named_row(folder, name, key_of(w, keys)))
                continue
            if not hits:
                rep.fail("%s: no row %s" % (where, key_of(w, keys)[:6]))
                continue
            pairs.append((hits.pop(0), w))
        left = [k for k, v in by_key.items() if v]
        for k in left[:5]:
            rep.fail("%s: a row that the reference lacks: %s" % (where, k[:6]))
    ties = ties_of(wrows, total, coarse)
    for g, w in pairs:
        for c in wh:
            rep.cells += 1
            equal, ok = cell_same(c, g[c], w[c], coarse, shares)
            rep.equal += equal
            if ok:
                continue
            why = named_cell(folder, name, c, g, w, total and w[total] in ties)
            if not why and rescale:
                why = rescale(c, g, w, shares)
            if why:
                rep.differs(why)
                rep.unequal += 1
            else:
                rep.fail("%s: %s: %s: %s instead of %s" % (
                    where, key_of(w, keys)[:2], c, g[c][:300], w[c][:300]))
    if total and not rep.bad:
        check_order(rep, where, pairs, grows, total, coarse)


def edge_cases(rep, where, grows, wrows, durations):
    """durations on an edge belong above it; doubles may put them on either side"""
    ahead = 0
    for i, (g, w) in enumerate(zip(grows, wrows)):
        ahead += int(w["count"]) - int(g["count"])
        if g["count"] != w["count"]:
            rep.differs("11: the reference's doubles put durations that are an edge below it")
        ns = sorted(durations.ns) if durations else []
        if ahead and ns:
            low, high, n = ns[0], ns[-1], len(grows)
            edges = ({low * n + (i + 1) * (high - low)} if high > low
                     else {low * n - 500 * n + (i + 1) * 1000})
            if ahead != sum(d * n in edges for d in ns):
                rep.fail("%s: bin %d: %d more before its end" % (where, i, ahead))
        w["count"] = g["count"]
    if ahead:
        rep.fail("%s: %d more in all" % (where, ahead))


def ties_of(rows, total, coarse):
    """sums that another row has as well, within the precision of doubles"""
    if not total:
        return set()
    slack = max(coarse, 0.1) / (1000 if total.endswith("_ms") else 1)
    v = sorted((number(r[total]) or 0, r[total]) for r in rows)
    out = set()
    for a, b in zip(v, v[1:]):
        if b[0] - a[0] <= slack:
            out.update((a[1], b[1]))
    return out


def check_order(rep, where, pairs, grows, total, coarse):
    """our rows must descend, and so must the reference's in our order"""
    want = {id(g): number(w[total]) or 0 for g, w in pairs}
    last = None
    for g in grows:
        v = want.get(id(g))
        if v is None:
            continue
        slack = max(2 * coarse, 0.2) / (1000 if total.endswith("_ms") else 1)
        if last is not None and v > last + slack:
            rep.fail("%s: rows in another order: %s" % (where, g.get("name", "")))
            return
        last = v


# ---- one data set


def tree_of(trace, tmp, flow):
    path = os.path.join(tmp, "t.tl")
    rc, err = run(["tl-tree"] + (["--link=flow"] if flow else []) + ["-o", path, trace])
    return (path, None) if rc in (0, 3) else (None, err.strip()[:200])


def named_cell(folder, table, c, g, w, tied):
    """the name of an intended difference, or None"""
    if g[c] == "" and w[c] == "[]":
        return "an empty list is an empty cell"
    if c == "ex_UID" and folder.startswith("inference"):
        return "inference 5.4: uid of a grafted op"
    if c.startswith("Cumulative") and tied:
        return "rows of equal sums stand in any order: cumulative shares"
    if folder in COARSE:
        x, y = number(g[c]), number(w[c])
        if g.get("name") in ("aten::mul", "torch::distributed::reducer::mul_out"):
            return "12.3: doubles of 250 ns misplace one launcher"
        if x is not None and y is not None and abs(x - y) <= (1 if is_share(c) else 30):
            return "12.3: doubles of 250 ns"
        if "details" in c:
            return "12.3: doubles of 250 ns"
    if table.endswith("kl_overlap") and folder in SAME_OP and (
            g["name"] == SAME_OP[folder] or c.startswith("Cumulative")):
        return "5 (b), 14.4: the reference counts kernels of the same op as overlap"
    return None


def named_row(folder, table, key):
    if folder in COARSE and "torch::distributed::reducer::mul_out" in key:
        return "12.3: doubles of 250 ns misplace one launcher"
    if table.endswith("kl_overlap") and SAME_OP.get(folder) in key:
        return "5 (b), 14.4: the reference counts kernels of the same op as overlap"
    return None


def compare_ops(rep, folder, tree, tmp, variant, plain_name, files):
    options = VARIANTS[plain_name][0]
    out = os.path.join(tmp, variant + ".ops")
    rc, err = run(["tl-ops", "-d", out] + options + [tree])
    if rc not in (0, 3):
        if not files:
            return
        rep.fail("%s: tl-ops: %s" % (variant, err.strip()[:200]))
        return
    check_ops(rep, folder, variant, out, files)


def check_ops(rep, folder, variant, out, files):
    for name, path in sorted(files.items()):
        compare(rep, folder, variant + "/" + name, name, read(os.path.join(out, name + ".csv")),
                without_count(read(path)), COARSE.get(folder, 0.1))


def inference_tree(folder, trace, tree, plain_name):
    """the tree with the inference report's grafts"""
    captures = os.path.join(os.path.dirname(trace), "capture_traces")
    argv = []
    if plain_name in GRAFTED and os.path.isdir(captures):
        argv += ["--capture", captures]
    if plain_name in PSEUDO and folder not in HIDDEN:
        argv += ["--pseudo-ops"]
    if not argv:
        return tree
    out = tree + "".join(a[2:9] for a in argv if a[0] == "-")
    if not os.path.exists(out):
        subprocess.run(["tl-graft", "-o", out] + argv + [tree], check=True)
    return out


def without_count(table):
    """the inference report counts instances twice"""
    head, rows = table
    name = "total_subtree_kernel_time_count"
    if name not in head:
        return table
    i, j = head.index(name), head.index("Count")
    assert all(r[i] == r[j] for r in rows), "subtree counts"
    return head[:i] + head[i + 1:], [r[:i] + r[i + 1:] for r in rows]


def total_us(path):
    """total_time of a gpu_timeline in us"""
    head, rows = read(path)
    for r in rows:
        if r[0] == "total_time":
            return float(r[head.index("time ms")]) * 1000
    return None


def our_total(tree):
    p = subprocess.run(["tl-timeline", "-c", "type,time_ns", tree], capture_output=True,
                       text=True, check=False)
    for line in p.stdout.splitlines():
        if line.startswith("total_time"):
            return int(line.split()[1]) / 1000
    return None


def durations_of(tree):
    p = subprocess.run(["tl-kernels", "--by", "event", "-c", "dur_ns", "--no-header", tree],
                       capture_output=True, text=True, check=False)
    return [int(v) for v in p.stdout.split()]


def compare_kernels(rep, data, folder, tree, tmp, variant, plain_name, files, durations):
    out = os.path.join(tmp, variant + ".kernels")
    rc, err = run(["tl-kernels", "-d", out] + VARIANTS[plain_name][1] + [tree])
    if rc not in (0, 3):
        rep.fail("%s: tl-kernels: %s" % (variant, err.strip()[:200]))
        return
    check_kernels(rep, data, folder, tree, out, variant, plain_name, files, durations)


def check_kernels(rep, data, folder, tree, out, variant, plain_name, files, durations):
    # the reference divides by the time of linked events only: undo that
    ref = os.path.join(data, folder, "reference")
    timeline = table_files(ref, variant, ("gpu_timeline",)).get("gpu_timeline")
    theirs, ours = timeline and total_us(timeline), our_total(tree)

    def rescale(c, g, w, shares):
        x, y = number(g[c]), number(w[c])
        if "total time" not in c.lower() or not theirs or not ours or None in (x, y):
            return None
        if close(x * ours, y * theirs, max(shares, 0.1) * ours):
            return "14.9: the reference's total is that of linked events only"
        return None

    limit = 5000 if plain_name == "topk" else 10000
    rescale.ns = [d for d in durations if d < limit]
    for name, path in sorted(files.items()):
        got, want = read(os.path.join(out, name + ".csv")), read(path)
        if want[0][:1] == ["Kernel duration (µs)"] or not want[0]:
            rep.tables += 1
            if got[1]:
                rep.fail("%s/%s: %d rows instead of none" % (variant, name, len(got[1])))
            rep.differs("11: the reference's headers of empty tables are broken")
            continue
        if plain_name == "topk" and name == "short_kernels_summary":
            got = (got[0], got[1][:5])
        compare(rep, folder, variant + "/" + name, name, got, want, 0.0005, rescale)


# ---- rocprofv3

NANO = {"Mean Kernel Time (µs)", "Median Kernel Time (µs)", "Std Kernel Time (µs)",
        "Min Kernel Time (µs)", "Max Kernel Time (µs)", "Total Kernel Time (ms)",
        "total_direct_kernel_time_ms", "Kernel duration (µs)"}


def compare_rocprof(rep, tmp, trace, variant, plain_name, files):
    """the reference's times are 1000 times too long, its shares are summed in another order"""
    out = os.path.join(tmp, variant)
    rc, err = run(["tl-kernels", "-d", out] + VARIANTS[plain_name][1] + [trace])
    if rc != 0:
        rep.fail("%s: tl-kernels: %s" % (variant, err.strip()[:200]))
        return
    check_rocprof(rep, out, variant, plain_name, files)


def check_rocprof(rep, out, variant, plain_name, files):
    for name, path in sorted(files.items()):
        got, want = read(os.path.join(out, name + ".csv")), read(path)
        if name.startswith("short"):
            rep.tables += 1
            if want[1]:
                rep.fail("%s: rows of the reference" % name)
            rep.differs("rocprof 2.7: the reference's short kernels are none")
            continue
        rows = [[repr(number(v) / 1000) if h in NANO and v else v for h, v in zip(want[0], r)]
                for r in want[1]]
        rep.differs("rocprof 2.3: the reference's times are 1000 times too long",
                    sum(h in NANO for h in want[0]) * len(rows))
        if name == "kernel_details":
            if plain_name == "all":
                got = (got[0], got[1][:10])
            rows = [[str(-(-int(v) // int(r[i + 3]))) if h.startswith("grid_") else v
                     for i, (h, v) in enumerate(zip(want[0], r))] for r in rows]
            rep.differs("rocprof 1: the reference's grids count work-items", 3 * len(rows))
            same_rows(rep, variant + "/" + name, got, (want[0], rows))
            continue
        drop = [i for i, h in enumerate(want[0]) if h.startswith("Cumulative")]
        rep.differs("rocprof 2.3: the reference adds shares up before it sorts",
                    len(drop) * len(rows))
        keep = [i for i in range(len(want[0])) if i not in drop]
        pick = [i for i, h in enumerate(got[0]) if not h.startswith("Cumulative")]
        compare(rep, "rocprof", variant + "/" + name, name,
                ([got[0][i] for i in pick], [[r[i] for i in pick] for r in got[1]]),
                ([want[0][i] for i in keep], [[r[i] for i in keep] for r in rows]), 0.0005,
                rocprof_named)
        check_cumulative(rep, name, got)


def rocprof_named(c, g, w, _shares):
    comm = re.search("rccl|nccl|cross_device_reduce", g.get("name", ""), re.I)
    if c == "Category" and comm and g[c] == "COMM":
        return "rocprof 2.4: collectives are COMM"
    return None


def check_cumulative(rep, name, got):
    i = got[0].index("Cumulative Percentage (%)")
    j = got[0].index("Percentage (%)")
    total = 0.0
    for r in got[1]:
        total += float(r[j])
        if abs(total - float(r[i])) > 1e-6:
            rep.fail("%s: cumulative share %s instead of %s" % (name, r[i], total))
            return


def same_rows(rep, where, got, want):
    """rows in order; those of equal duration in any"""
    rep.tables += 1
    if got[0] != want[0] or len(got[1]) != len(want[1]):
        rep.fail("%s: %d rows of %s" % (where, len(got[1]), got[0]))
        return
    n = len(want[0])
    d = want[0].index("Kernel duration (µs)")
    key = lambda r: tuple(number(v) if i == d else v for i, v in enumerate(r))
    a = sorted((key(r) for r in got[1]), key=lambda r: (-r[d], r))
    b = sorted((key(r) for r in want[1]), key=lambda r: (-r[d], r))
    rep.cells += n * len(b)
    order = [number(r[d]) for r in got[1]]
    if order != sorted(order, reverse=True):
        rep.fail("%s: the longest do not come first" % where)
    if len(b) == 10:  # the last duration of a cut list may have more rows
        a = [r for r in a if r[d] > b[-1][d]]
        b = [r for r in b if r[d] > b[-1][d]]
    bad = [(x, y) for x, y in zip(a, b) if x != y]
    rep.equal += n * len(b) - len(bad)
    for x, y in bad[:5]:
        rep.fail("%s: %s instead of %s" % (where, x, y))


# ---- sums


def column_sum(argv, column):
    p = subprocess.run(argv + ["--format", "tsv", "-c", column], capture_output=True, text=True,
                       check=False)
    if p.returncode not in (0, 3):
        return None, p.stderr.strip()
    return sum(int(v or 0) for v in p.stdout.split()[1:]), None


def check_sums(rep, tree):
    kinds = ["tl-ops", "tl-kernels"]
    ops = [("name", "direct_ns_sum"), ("category", "direct_ns_sum"), ("args", "direct_ns_sum"),
           ("thread", "direct_ns_sum"), ("step", "direct_ns_sum"), ("module", "direct_ns_sum"),
           ("annotation", "direct_ns_sum")]
    for program, what in ((kinds[0], ops), (kinds[1], [(b, "dur_ns_sum") for b in (
            "name", "op", "launch-config", "op,args,kernel")] + [("event", "dur_ns")])):
        first = None
        for by, column in what:
            total, err = column_sum([program, "--by", by, tree], column)
            rep.tables += 1
            if total is None:
                if first is not None:
                    rep.fail("%s --by %s: %s" % (program, by, err))
                break
            if first is None:
                first = total
            rep.cells += 1
            rep.equal += total == first
            if total != first:
                rep.fail("%s --by %s: %d instead of %d" % (program, by, total, first))
    against_kernels(rep, tree)


def against_kernels(rep, tree):
    """the ops' details have all linked kernels; collectives, too"""
    p = subprocess.run(["tl-ops", "--include-comm", "--kind", "kernel", "--by", "args",
                        "--num-kernels", "--no-header", "-c",
                        "direct_ns_sum,kernel_details_summary", tree], capture_output=True,
                       text=True, check=False)
    if p.returncode not in (0, 3):
        return
    rows = [line.split("\t") for line in p.stdout.splitlines()]
    busy = sum(int(r[0]) for r in rows)
    work = sum(round(k["total_duration_us"] * 1000) for r in rows
               for k in json.loads(r[1].replace("\\\\", "\\")))
    total, _ = column_sum(["tl-kernels", "--linked-only", "--by", "name", tree], "dur_ns_sum")
    rep.tables += 1
    rep.cells += 1
    rep.equal += work == total
    if work != total or busy > total:
        rep.fail("ops launched %s ns of %s ns of kernels" % (work, total))


GPU = ("kernel", "memcpy", "memset")


def gpu_events(tree):
    """[kind, start, end, is linked] of all events that count"""
    p = subprocess.run(["tl-cat", "-F", "kind,ts,dur,launch,flags", "--no-header", tree],
                       capture_output=True, text=True, check=True)
    out = []
    for line in p.stdout.splitlines():
        kind, ts, dur, launch, flags = line.split("\t")
        if kind in GPU and ts and "duplicate" not in flags:
            out.append((kind, int(ts), int(ts) + int(dur or 0), launch != ""))
    return out


def union(events):
    total, end = 0, None
    for _, a, b, _ in sorted(events, key=lambda e: e[1:3]):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def timeline_of(tree, *options):
    p = subprocess.run(["tl-timeline", "-c", "type,time_ns", "--no-header"] + list(options) + [tree],
                       capture_output=True, text=True, check=False)
    return {k: int(v) for k, v in (line.split("\t") for line in p.stdout.splitlines()) if v}


def listed(argv):
    """the time of all kernels in a table's details, each call by its number of them"""
    p = subprocess.run(argv + ["--num-kernels", "--format", "ndjson", "-c",
                               "operation_count,kernel_details_summary"],
                       capture_output=True, text=True, check=False)
    total = 0
    for line in p.stdout.splitlines():
        total += sum(round(k["total_duration_us"] * 1000)
                     for k in json.loads(line).get("kernel_details_summary") or [])
    return total


def against_timeline(rep, tree):
    """ops, kernels, roofline and timeline against the events themselves, unlinked work named"""
    events = gpu_events(tree)
    if not events:
        return
    linked = [e for e in events if e[3]]
    work = sum(e[2] - e[1] for e in linked)
    everything, some = timeline_of(tree), timeline_of(tree, "--linked-only")
    launched = listed(["tl-ops", "--by", "args", "--include-comm", tree])
    no_comm = listed(["tl-ops", "--by", "args", tree])
    roofline = column_sum(["tl-roofline", tree], "kernel_ns_sum")[0] or 0
    checks = [
        ("busy time", everything.get("busy_time"), union(events)),
        ("busy time of linked work", some.get("busy_time", 0), union(linked)),
        ("busy time, linked and unlinked",
         some.get("busy_time", 0) + everything.get("unlinked_time", 0), union(events)),
        ("kernels", column_sum(["tl-kernels", "--by", "name", tree], "dur_ns_sum")[0] or 0,
         sum(e[2] - e[1] for e in events if e[0] == "kernel")),
        ("linked kernels",
         column_sum(["tl-kernels", "--linked-only", "--by", "name", tree], "dur_ns_sum")[0] or 0,
         sum(e[2] - e[1] for e in linked if e[0] == "kernel")),
        ("what ops launched", launched, work),
        # roofline gives each event to one op, unless its own events overlap; it has
        # collectives below a modelled op, but not those below others
        ("what roofline attributes", min(max(roofline, no_comm if work == union(linked) else 0),
                                         work), roofline),
    ]
    for what, got, want in checks:
        rep.cells += 1
        rep.equal += got == want
        if got != want:
            rep.fail("%s: %s ns instead of %s ns" % (what, got, want))


def one(job):
    what, data, folder, trace, variants = job
    rep = Report("%s %s" % (folder, os.path.basename(trace)[:40]))
    try:
        with tempfile.TemporaryDirectory() as tmp:
            if folder.startswith("rocprofv3_json"):
                for variant, plain_name, files in variants:
                    compare_rocprof(rep, tmp, trace, variant, plain_name, files)
                return rep
            tree, err = tree_of(trace, tmp, what != "sums")
            if tree is None:
                rep.fail("tl-tree: %s" % err)
                return rep
            ns = durations_of(tree) if what == "kernels" else []
            if what == "sums":
                check_sums(rep, tree)
                against_timeline(rep, tree)
            for variant, plain_name, files in variants:
                grown = inference_tree(folder, trace, tree, plain_name)
                if what == "ops":
                    compare_ops(rep, folder, grown, tmp, variant, plain_name, files)
                elif what == "kernels":
                    compare_kernels(rep, data, folder, grown, tmp, variant, plain_name, files, ns)
    except Exception as e:  # a failed check; others go on
        rep.fail("%s: %s" % (type(e).__name__, e))
    return rep


def jobs_of(what, data, only):
    jobs = {}
    for folder in sorted(os.listdir(data)):
        ref = os.path.join(data, folder, "reference")
        if not os.path.isdir(ref) or folder.startswith(("jax", "xprof", "rpd")):
            continue
        is_rocprof = folder.startswith("rocprofv3_json")
        names = ROCPROF if is_rocprof else OPS if what == "ops" else KERNELS
        for variant in sorted(os.listdir(ref)):
            trace, plain_name = find_trace(data, folder, variant)
            if trace is None or plain_name not in VARIANTS or not fnmatch.fnmatch(folder, only):
                continue
            files = table_files(ref, variant, names)
            if what == "sums" and not folder.startswith("pair"):
                jobs.setdefault((folder, trace), [])
            elif files and is_rocprof == (what == "rocprof") and what != "sums":
                jobs.setdefault((folder, trace), []).append((variant, plain_name, files))
    out = [(what, data, folder, trace, v) for (folder, trace), v in jobs.items()]
    return sorted(out, key=lambda j: -os.path.getsize(j[3]))


def main():
    ap = argparse.ArgumentParser(description="tables of ops and kernels, as TAP")
    ap.add_argument("what", choices=WHATS + ("all",))
    ap.add_argument("--only", default="*", metavar="GLOB")
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("-v", action="store_true")
    a = ap.parse_args()
    data = os.environ.get("TL_DATA", "../shared/data")
    if not os.path.isdir(data):
        print("1..0 # SKIP no reference traces (TL_DATA)")
        return 0
    jobs = [j for w in (WHATS if a.what == "all" else (a.what,)) for j in jobs_of(w, data, a.only)]
    print("1..%d" % len(jobs), flush=True)
    tables = cells = equal = failed = wrong = n_named = 0
    named = {}
    with multiprocessing.Pool(a.j, maxtasksperchild=1) as pool:
        for n, (job, rep) in enumerate(zip(jobs, pool.imap(one, jobs, 1)), 1):
            print("%sok %d - %s of %s: %d tables, %d cells, %d equal"
                  % ("not " if rep.bad else "", n, job[0], rep.name,
                     rep.tables, rep.cells, rep.equal))
            for text in rep.bad if a.v else rep.bad[:8]:
                print("#   " + text)
            if len(rep.bad) > 8 and not a.v:
                print("#   ... %d more" % (len(rep.bad) - 8))
            sys.stdout.flush()
            tables += rep.tables
            cells += rep.cells
            equal += rep.equal
            n_named += rep.unequal
            failed += bool(rep.bad)
            wrong += len(rep.bad)
            for k, v in rep.named.items():
                named[k] = named.get(k, 0) + v
    print("# %s: %d tables, %d cells compared: %d equal, %d within tolerance, %d with a named"
          " difference; %d failures in %d data sets"
          % (a.what, tables, cells, equal, cells - equal - n_named - wrong, n_named, wrong, failed))
    for k, v in sorted(named.items()):
        print("#   named: %s: %d" % (k, v))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
