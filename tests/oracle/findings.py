#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""findings.py: what TraceLens's rules find in TraceLens's tables, as TAP.

    findings.py [--only GLOB] [-v]

The rules are those of TraceLens's agent, computed here from the reference's tables
and, for copies and short kernels, from the raw trace. tl-advise must have each
finding, for the same op or category and with the same figure (ops without a
roofline: by name alone; ops above it: by category). If not, a rule about values
says why, as in CAVEATS of tl-advise or tl-roofline. How often each of these
excuses is used on a trace is part of the test.
"""
import argparse
import collections
import csv
import fnmatch
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import ours
import roofline
import worked

# The tables with shares of the roofline, and what a report needs for them.
VARIANTS = ("roofline_mi300x", "full", "capture_full")
# The timeline that the rules read: of linked GPU events.
LINKED = ("default", "pytorch_default", "rank0_default", "capture_pytorch_default")
CAVEATS = {
    "missing": "work that was not recorded",
    "window": "shares of the window with its steps",
    "roof": "groups by roof, too",
    "figure": "another figure of tl-roofline",
    "time": "by time, not by call",
    "model": "ops that only tl-roofline models",
    "library": "more libraries",
    "replay": "host time of a replay, or without an op, is no op's",
    "links": "more kernels have a launch",
    "copies": "copies of ops are no computation",
    "pseudo": "ops are not parted into pseudo-ops",
    "unlinked": "all GPU events count",
    "below": "an op below it has its kernels",
}
# How often, by trace.
EXCUSED = {
    "h100_nsfw_vit": {"library": 1},
    "h100_timesformer": {"model": 3, "window": 2},
    "hta_amd_mi250_minitoy": {"copies": 1},
    "inference_sglang_decode": {"missing": 1, "replay": 6},
    "inference_sglang_prefilldecode": {"missing": 1},
    "inference_vllm_decode_full": {"replay": 5, "pseudo": 3},
    "mi300_bert_small": {"model": 1},
    "mi300_nsfw_vit": {"model": 1},
    "mi300_resnet_ckpt": {"links": 3, "model": 2},
    "mi300_timesformer": {"model": 2, "window": 3},
    "pair_bert_small": {"below": 1},
    "pair_nsfw_vit": {"below": 1},
    "pair_timesformer": {"window": 5},
    "torch_compile_triton": {"model": 1, "time": 1},
    "tpt_transformer_step1": {"model": 1},
}
COMM = ("all_reduce", "collective", "ncclkernel", "rccl", "broadcast", "allgather")
OF_OP = (("AITER", ("aiter::", "rocm_aiter")), ("FBGEMM", ("fbgemm",)),
         ("MIOpen", ("miopen",)), ("Triton", ("triton",)))
OF_KERNEL = (("AITER", ("aiter",)),
             ("CK", ("ck_tile::", "ck_tile6kentry", "FmhaFwd", "FmhaBwd")),
             ("Tensile", ("Cijk_",)), ("rocBLAS", ("wvSplitK", "splitKreduce")),
             ("rocPRIM", ("rocprim::",)), ("Triton", ("triton_",)),
             ("PyTorch Native", ("void at::native::",)))
# libraries that only tl-advise tells apart
UNKNOWN = ("cuBLAS", "CUTLASS", "cuDNN", "NCCL", None)
DIRECTIONS = {"DtoH": ("dtoh", "device -> host", "devicetohost"),
              "HtoD": ("htod", "host -> device", "hosttodevice")}
INSIGHT = re.compile(r"^(?P<category>\S+)(?: of (?P<library>.+?))? at (?P<percent>[\d.]+) % of "
                     r"the(?: (?P<bound>compute|memory))? roof(?: \((?P<roof>.+?)\))?: ")
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def near(a, b, least=2000):
    """Sums of doubles of microseconds, and of figures with four digits."""
    return abs(a - b) <= least + 2e-3 * abs(b)


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def library(op, kernels):
    for name, like in OF_OP:
        if any(x in op for x in like):
            return name
    for name, like in OF_KERNEL:
        if any(x in kernels for x in like):
            return name
    return "Unknown"


def band(percent):
    return 0 if percent < 30 else 30 if percent < 60 else 60


class Reference:
    """The reference's tables of a data set."""

    def __init__(self, folder, variant):
        self.folder = os.path.join(folder, "reference")
        self.rows_of = {}
        self.variant = variant

    def rows(self, table, *variants):
        for v in variants or (self.variant,):
            path = os.path.join(self.folder, v, table + ".csv")
            same = os.path.join(self.folder, v, "SAME_AS.txt")
            if not os.path.exists(path) and os.path.exists(same):
                for line in open(same, encoding="utf-8"):
                    name, other = line.split("\t")
                    if name == table + ".csv":
                        path = os.path.join(self.folder, other.strip(), name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", newline="") as f:
                    return list(csv.DictReader(f))
        return []

    def timeline(self, *variants):
        return {r["type"]: 1e6 * float(r["time ms"])
                for r in self.rows("gpu_timeline", *variants)}

    def ops(self):
        """Rows that count, by the first rule of the findings."""
        for r in self.rows("unified_perf_summary"):
            category = (r["op category"] or "other").lower().replace(" ", "_").replace("/", "_")
            if category == "other" and any(x in r["name"].lower() for x in COMM):
                continue
            # the link limits copies between host and GPU, not the memory
            over_link = re.search("HtoD|DtoH", r["kernel_details_summary"]) is not None
            yield {"name": r["name"], "category": category, "over_link": over_link,
                   "ns": 1e3 * float(r["Kernel Time (µs)_sum"] or 0),
                   "host_ns": 1e3 * float(r["total_duration_us"] or 0),
                   "count": int(r["operation_count"]),
                   "mean": number(r["Kernel Time (µs)_mean"]),
                   "std": number(r["Kernel Time (µs)_std"]),
                   "reached": None if over_link else number(r.get("Pct Roofline_mean", "")),
                   "bound": (r.get("Roofline Bound") or "").split("_")[0].lower(),
                   "dims": r["Input Dims"],
                   "library": library(r["name"], r["kernel_details_summary"])}


class Ours:
    """tl-advise's findings, and the tables behind them."""

    def __init__(self, path, folder, words):
        tables = os.path.join(folder, "tables")
        run(["tl-report", "--format", "ndjson", "--kernels", "--launch", "--short=10us",
             "--roof", "achievable", "--arch", ours.MI300X] + words + [path], tables)
        self.tables = read_tables(tables)
        out = os.path.join(folder, "out")
        run(["tl-advise", tables, "-d", out, "--format", "ndjson"])
        for name in os.listdir(out):
            self.tables.update(read_tables(os.path.join(out, name)))
        self.advice = self.tables["advice"]
        self.metrics = self.tables["advice_metrics"][0]

    def of(self, *rules):
        return [f for f in self.advice if f["rule"] in rules]

    def groups(self):
        """Gains by category, bound, library and band, from the findings."""
        out = collections.Counter()
        for f in self.advice:
            m = INSIGHT.match(f["insight"]) if f["evidence"] == "compute" else None
            if m:
                lib = "Unknown" if m["library"] in UNKNOWN else m["library"]
                out[m["category"].lower(), m["bound"] or "", lib,
                    band(float(m["percent"]))] += f["gain_ns_high"]
        return out

    def is_replayed(self, op):
        """Whether a row of the reference has no time on the host here."""
        alike = [(abs(r["kernel_ns_sum"] - op["ns"]), r.get("host_ns_sum") is None)
                 for r in self.tables.get("unified_perf_summary", []) if r["name"] == op["name"]]
        return not alike or min(alike)[1]

    def ops(self):
        for r in self.tables.get("unified_perf_summary", []):
            # by time: the mean over calls, which the reference takes, is beside it
            e = mean = r.get("pct_roofline_mean")
            if e is not None and r.get("lost_ns") is not None and r["kernel_ns_sum"] > 0:
                e = 100 * (1 - r["lost_ns"] / r["kernel_ns_sum"])
            yield {"mean": mean, "name": r["name"],
                   "category": (r["op_category"] or "other").lower(),
                   "ns": r["kernel_ns_sum"], "reached": e, "roof": r.get("roof"),
                   "bound": (r.get("roofline_bound") or "").split("_")[0].lower(),
                   "library": library(r["name"], json.dumps(r.get("kernel_details_summary")))}


def run(words, path=None):
    with open(path or os.devnull, "wb") as f:
        p = subprocess.run(words, stdout=f, stderr=subprocess.PIPE, check=False)
    if p.returncode not in (0, 3):
        raise ValueError("%s: status %d: %s" % (words[0], p.returncode, p.stderr.decode()))


def read_tables(path):
    tables, rows = {}, None
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        o = json.loads(line)
        if "table" in o and "columns" in o:
            rows = tables.setdefault(o["table"], [])
        elif list(o) == ["end"]:
            rows = None
        else:
            rows.append(o)
    return tables


def grouped(ops):
    """The quantified findings: lost time by group."""
    gains = collections.Counter()
    for o in ops:
        if o["reached"] is None or o["reached"] > 110:
            continue
        key = o["category"], o["bound"], o["library"], band(o["reached"])
        gains[key] += max(0, 1 - o["reached"] / 100) * o["ns"]
    return gains


# ---- each kind of finding: what it is, whether it is ours, else the excuse ----

def system(ref, got, raw):
    """The window, from the timeline of all GPU events."""
    linked = ref.timeline(*LINKED)
    t = ref.timeline("unlinked", "pytorch_unlinked") or linked
    if 100 * linked["idle_time"] > 15 * linked["total_time"]:
        missing = got.metrics["missing_ns"]
        share = 100 * (t["idle_time"] - missing) / (t["total_time"] - missing)
        said = any("%.1f %% of what was recorded" % share in f["insight"] or
                   "%.1f %% of what was recorded" % (share - 0.05) in f["insight"] or
                   "%.1f %% of what was recorded" % (share + 0.05) in f["insight"]
                   for f in got.of("idle"))
        yield "idle", said, share <= 15 and ("missing" if missing > 0 else "unlinked")
    if 100 * linked.get("exposed_comm_time", 0) > 5 * linked["total_time"]:
        # TraceLens's gain is all of it, even while something computes
        alone = t["computation_time"] - t["total_comm_time"] + t["exposed_comm_time"]
        yield ("exposed communication",
               any(near(f["gain_ns_high"], min(alone, t["exposed_comm_time"]))
                   for f in got.of("exposed_communication")), None)
    comm = linked.get("total_comm_time", 0)
    if comm >= 1e5 and 1 - linked["exposed_comm_time"] / comm < 0.7:
        hidden = 100 * (1 - t["exposed_comm_time"] / t["total_comm_time"])
        yield ("overlap", any("only %.1f %% of " % hidden in f["insight"]
                              for f in got.of("overlap")), hidden >= 70 and "unlinked")
    for word, like in DIRECTIONS.items():
        copies = [d for cat, name, d in raw if cat == "gpu_memcpy" and
                  any(x in name.lower() for x in like)]
        if len(copies) > 10 or 1e3 * sum(copies) > 0.05 * linked["total_time"]:
            yield ("%d %s" % (len(copies), word),
                   any(f["insight"].startswith("%d %s cop" % (len(copies), word))
                       for f in got.advice if f["rule"].startswith("copies_")), None)
    kernels = [d for cat, name, d in raw if cat == "kernel"]
    short = sum(d < 10 for d in kernels)
    if short >= 20 and 2 * short >= len(kernels):
        said = "{:,} of {:,} kernels".format(short, len(kernels))
        yield said, any(f["insight"].startswith(said) for f in
                        got.of("short_kernels", "short_kernels_in_graphs")), None


def quality(ref, got):
    """Anomalies of ops."""
    host, kernel = collections.Counter(), collections.Counter()
    e2e = ref.timeline(*LINKED)["total_time"]
    replayed = collections.Counter()
    for o in ref.ops():
        kernel[o["category"]] += o["ns"]
        if o["host_ns"] > 5 * o["ns"]:
            host[o["category"]] += o["host_ns"] - o["ns"]
            if o["name"].endswith(" (Synthetic Op)") or got.is_replayed(o):
                replayed[o["category"]] += o["host_ns"] - o["ns"]
        if o["count"] > 10 and o["ns"] >= 0.05 * e2e and o["std"] and o["std"] > o["mean"]:
            yield ("spread of " + o["name"],
                   any(f["insight"].startswith(o["name"]) for f in got.of("spread")), None)
        if o["reached"] is not None and o["reached"] > 110:
            alike = [x for x in got.ops() if x["name"] == o["name"] and near(x["ns"], o["ns"])]
            yield ("above the roof: " + o["name"],
                   any(f["category"].lower() == o["category"] for f in got.of("above_roof")),
                   all(x["reached"] is None or x["reached"] <= 110 for x in alike) and "figure")
    for category, ns in host.items():
        if ns <= 0.1 * kernel[category] or ns <= 1e6:
            continue
        less = ns - replayed[category]
        yield ("host time of %s" % category,
               any(f["category"].lower() == category and any(
                   near(float(n.replace(",", "")) * UNITS[u], less, 1e4)
                   for n, u in re.findall(r"([\d.,]+) (s|ms|us|ns)\b", f["insight"]))
                   for f in got.of("host_blocked", "host_blocked_once")),
               (less <= 0.1 * kernel[category] or less <= 1e6) and "replay")
    whole = sum(1e6 * float(r["total_direct_kernel_time_ms"])
                for r in ref.rows("ops_summary_by_category", "default", "pytorch_default"))
    t = ref.timeline(*LINKED)
    if abs(whole - t["computation_time"]) > 0.1 * t["computation_time"]:
        copies = t["total_memcpy_time"]
        yield "coverage of ops", bool(got.of("coverage")), copies > 0 and \
            abs(whole - copies - t["computation_time"]) <= 0.1 * t["computation_time"] and "copies"


def compute(ref, got):
    """Ops by their distance from the roof, and those without a roof."""
    e2e = ref.timeline(*LINKED)["total_time"]
    window = max(got.metrics["window_ns"], got.metrics["total_ns"])
    gains = grouped(ref.ops())
    found, mine = got.groups(), grouped(got.ops())
    calls = [{**o, "reached": o["mean"]} for o in got.ops()]
    by_call = grouped(calls)
    modelled = [(o["name"], o["ns"]) for o in ref.ops() if o["reached"] is not None]
    alike = grouped(o for o in calls if any(
        name == o["name"] and near(o["ns"], ns, 1000) for name, ns in modelled))
    whole, linked = collections.Counter(), collections.Counter()
    for o in got.ops():
        whole[o["category"]] += o["ns"]
    for o in ref.ops():
        linked[o["category"]] += o["ns"]
    for key, gain in gains.items():
        if 0.875 * gain < 0.005 * e2e:
            continue
        excuse = None
        if near(by_call.get(key, 0), gain) and near(found.get(key, 0), mine.get(key, 0)):
            excuse = "time"
        elif not near(mine.get(key, 0), gain):
            excuse = "links" if whole[key[0]] > 1.002 * linked[key[0]] else \
                "model" if near(alike.get(key, 0), gain) else "figure"
        elif 0.875 * gain < 0.005 * window:
            excuse = "window"
        elif near(sum(v for k, v in found.items() if k[:2] + k[3:] == key[:2] + key[3:]),
                  sum(v for k, v in mine.items() if k[:2] + k[3:] == key[:2] + key[3:] and
                      0.875 * v >= 0.005 * window)):
            excuse = "library"
        elif len({o["roof"] for o in got.ops() if o["category"] == key[0]}) > 1:
            excuse = "roof"
        yield "%s %s of %s, %d" % key, near(found.get(key, 0), gain), excuse
    others = collections.Counter()
    for o in ref.ops():
        if not o["over_link"] and (o["reached"] is None or o["reached"] > 110):
            others[o["name"]] += o["ns"]
    modelled = collections.Counter({o["name"]: 0 for o in got.ops()})
    for o in got.ops():
        modelled[o["name"]] += o["reached"] is not None
    for name, ns in others.items():
        if 0.3 * ns < 0.005 * e2e:
            continue
        yield ("no roofline: " + name,
               any(f["insight"].startswith(name[:40]) for f in got.of("no_roof")) or
               "GraphLaunch->" in name and bool(got.of("in_graphs")),
               "pseudo" if name not in modelled else modelled[name] > 0 and "model")


# ---- two traces ----

# The traces of each comparison.
PAIRS = {
    "pair_bert_small": ("mi300_bert_small", "h100_bert_small"),
    "pair_nsfw_vit": ("mi300_nsfw_vit", "h100_nsfw_vit"),
    "pair_timesformer": ("mi300_timesformer", "h100_timesformer"),
    "pair_tpt_steps": ("tpt_transformer_step1", "tpt_transformer_step2"),
}


def trace_in(name):
    folder = os.path.join(os.environ["TL_DATA"], name, "")
    return sorted(glob.glob(folder + "*.json") + glob.glob(folder + "*.json.gz"))[0]


def check_pair(name):
    """Ops that are faster in the second trace, each with its figure."""
    ref = Reference(os.path.join(os.environ["TL_DATA"], name), "report_with_comparison")
    e2e = ref.timeline("report_with_comparison")["total_time"]
    with tempfile.TemporaryDirectory() as temp:
        run(["tl-advise", "--format", "ndjson", "--vs", trace_in(PAIRS[name][1]),
             trace_in(PAIRS[name][0]), "-d", temp])
        gains = [(f["insight"], f["gain_ns_high"]) for f in
                 read_tables(os.path.join(temp, "advice.ndjson"))["advice"]
                 if f["section"] == "comparison" and f["gain_ns_high"] is not None]
        window = read_tables(
            os.path.join(temp, "advice_metrics.ndjson"))["advice_metrics"][0]["window_ns"]
    n, excused, bad = 0, collections.Counter(), []
    for row in ref.rows("unified_perf_summary"):
        less = -1e3 * float(row["delta_us (trace2 - trace1)"] or 0)
        if 0.875 * less < 0.005 * e2e:
            continue
        like = [says for says, gain in gains if near(gain, less, 600)]
        if any(says.startswith(row["name"] + " ") for says in like):
            n += 1
        elif like:
            excused["below"] += 1
        elif 0.875 * less < 0.005 * window:
            excused["window"] += 1
        else:
            bad.append("not found: %s takes %.0f ns less" % (row["name"], less))
    return n, excused, bad


# ---- all of them ----

def raw_events(path):
    data = open(path, "rb").read()
    doc = json.loads(gzip.decompress(data) if path.endswith(".gz") else data)
    for e in doc["traceEvents"] if isinstance(doc, dict) else doc:
        if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy"):
            yield e["cat"], e["name"], float(e.get("dur", 0))


def check(folder, variant, path, verbose):
    """TAP of one data set, with counts of findings and excuses."""
    ref, bad = Reference(folder, variant), []
    excused, n = collections.Counter(), 0
    words = ["--capture", os.path.join(folder, "capture_traces")] if variant == "capture_full" \
        else []
    with tempfile.TemporaryDirectory() as temp:
        got = Ours(path, temp, words)
        raw = list(raw_events(path))
        # without shares of the roofline the reference guesses the rest
        rest = () if variant == "default" else (*quality(ref, got), *compute(ref, got))
        for what, is_there, excuse in [*system(ref, got, raw), *rest]:
            if is_there:
                n += 1
            elif excuse:
                excused[excuse] += 1
            else:
                bad.append("not found: " + what)
            if verbose:
                print("# %s: %s" % (what, "yes" if is_there else excuse or "NO"))
    return n, excused, bad


def jobs(only):
    """Requested data sets, as arguments of check()."""
    for folder in sorted(glob.glob(os.path.join(os.environ["TL_DATA"], "*", ""))):
        name = os.path.basename(folder.rstrip("/"))
        paths = [trace_in(t) for t in PAIRS[name]] if name in PAIRS else \
            sorted(glob.glob(folder + "*.json") + glob.glob(folder + "*.json.gz"))[:1]
        if not paths or not fnmatch.fnmatch(name, only) or \
                any(worked.is_left(path, 160_000) for path in paths):
            continue
        variant = next((v for v in VARIANTS if "Pct Roofline_mean" in next(iter(
            Reference(folder, v).rows("unified_perf_summary")), {})), "default")
        if name in PAIRS or Reference(folder, variant).rows("ops_summary", *LINKED):
            yield name, (folder, variant, paths[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--only", default="*")
    p.add_argument("-v", action="store_true")
    args = p.parse_args()
    csv.field_size_limit(1 << 30)
    tests = failed = 0
    for name, job in jobs(args.only):
        n, excused, bad = check_pair(name) if name in PAIRS else check(*job, args.v)
        if excused != EXCUSED.get(name, {}):
            bad.append("excuses: %s instead of %s" % (dict(excused), EXCUSED.get(name, {})))
        tests += 1
        failed += bool(bad)
        print("%sok %d - %s: %d findings%s" % ("not " if bad else "", tests, name, n, "".join(
            ", %d: %s" % (k, CAVEATS[e]) for e, k in sorted(excused.items()))))
        for line in bad:
            print("#   " + line)
        sys.stdout.flush()
    print("1..%d" % tests)
    return bool(failed)


sys.exit(main())
