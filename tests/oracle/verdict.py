#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verdict.py: tl-report's verdicts, and the evidence in them, against the raw JSON.

On each trace of TL_DATA and on traces with a planted reason: the window, GPU work, exposed
communication and copies, idle time, late launches and their medians are computed from the
file (kineto.py, timeline.py), and the verdict from the classes. Each share and time of its
sentence must be the figure's. Each event that the sentences name must be in the file under
its uid, with this name and duration. Verdicts worked out by hand are in WORKED.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import kineto
import repeat
import rocprof
import rocprof_events
import rocprof_forms
import timeline
from worked import is_left, names_of, table, traces

# trace: its verdict
WORKED = {
    "h100_bert_small": r"Launch-bound: host work is 92\.8 % of 4\.426 ms in 1 step "
                       r"\(most: python 2\.076 ms, op 1\.498 ms\)\. 61 of 61 .* 3\.6 us .* 55\.7 us \(medians\)\.",
    "h100_nsfw_vit": r"Launch-bound: host work is 84\.4 % of 7\.894 ms .*\(most: op 3\.276 ms, "
                     r"python 2\.209 ms\)\. 148 of 156 ",
    "mi300_nsfw_vit": r"Launch-bound: host work is 76\.5 % of 7\.453 ms",
    "mi300_bert_small": r"Launch-bound: host work is 88\.9 % of 4\.007 ms in 1 step \(most: op 1\.269 ms, "
                        r"python 1\.110 ms\)",
    "h100_timesformer": r"Host-bound: host work is 54\.8 % of 382\.536 ms in 1 step "
                        r"\(python 206\.\d+ ms\)\. One gap takes 218\.120 ms, before the first",
    "mi300_timesformer": r"Host-bound: host work is 64\.4 % of 390\.680 ms .* One gap takes 268\.753 ms,",
    "mi300_ddp_resnet18": r"(?!.*sets the pace)Allocation-bound: allocation is 88\.6 % of 3\.393 s with 5 "
                          r"inferred steps: hipFree \(2\.997 s: 1,360 calls, longest wait 68\.153 ms, "
                          r"uid 26612\)\. 3 steps of about 1\.068 s take 96\.5 % .* 1 step of 115\.643 ms",
    "mi300_resnet_ckpt": r"Communication-bound: exposed communication is 65\.8 % of 84\.286 ms in 3 "
                         r"steps, including .*ends 37\.925 ms after the last step\. One rank: can't tell skew",
    "hpct_replay": r"\S+-bound: GPU work is 100\.0 % of 28\.926 ms.*GPU sets the pace: the host enqueues a "
                   r"step in .*Not counted: 1\.8",
    "hta_alexnet": r"Likely recorded during start-up: start-up is 90\.2 % of 12\.920 s.*uid 619",
    "hta_simple_add_e2e": r"Likely recorded during start-up: start-up is 97\.1 %",
    "hta_amd_mi250_minitoy": r"Likely recorded during start-up: start-up is 69\.8 % .*"
                             r"hipLaunchKernel \(6\.543 ms: uid 115\)",
    "hta_old_inference_rank1": r"Likely recorded during start-up: start-up is 85\.8 % .*uid 2\)",
    "norm_layer_test": r"Likely recorded during start-up: start-up is 91\.9 % of 1\.069 s.*"
                       r"longest wait 331\.627 ms, uid 7657\)",
    "hta_event_sync": r"Host-bound: host work is 96\.7 % of 3\.154 ms .*One gap takes 2\.810 ms, "
                      r"before the first",
    "hta_gpu_user_annotation": r"Launch-bound: host work is 95\.7 % .* 130 of 140 ",
    "hta_nccl_parser": r"Launch-bound: host work is 76\.2 % of 667\.226 ms in 3 steps \(most: op 292\.571 ms, "
                       r"comm host 71\.0.* 2,441 of 3,774 .* 5\.7 us .* 91\.5 us",
    "hta_ns_resolution": r"\S+-bound: GPU work is 98\.1 % of .*, including gaps between queued kernels \(1\.1 %\)\. .* the host is 89\.238 ms ahead",
    "mi210": r"GPU-bound: GPU work is 89\.4 % of 5\.980 ms; no ops recorded\.",
    "torch_compile": r"\S+-bound: GPU work is (over 99\.9|100\.0) %",
    "kineto_resnet50_w0_step1": r"Partly data-bound: data loading is 33\.1 % of 1\.066 s in 6 steps"
                                r".*GPU work is 56\.5 %, including ",
    "inference_sglang_prefilldecode": r"Recording incomplete: for 493\.239 ms of 987\.367 ms in 1 step "
                                      r"\(50\.0 %\) .*\(hipMemcpyWithStream, uid 57114\)\. .*uid 57112\) waits "
                                      r".*\(hipStreamWaitEvent, uid 57110\) .* The rest is .*: GPU work is 99\.7 %",
    "inference_sglang_decode": r"Can't tell: for 463\.252 ms of 473\.831 ms in 1 step \(97\.8 %\) .*"
                               r"\(hipMemcpyWithStream, uid 892\)\. .*\(hipLaunchKernel, uid 887\) waits for an "
                               r"event of another GPU stream \(hipStreamWaitEvent, uid 885\) whose work is "
                               r"missing\. .* GPU-bound: GPU work is "
                               r"94\.9 % of 10\.579 ms in 1 step, including gaps between queued kernels \(2\.7 %\)",
    "inference_vllm_decode_full/graph_execution": r"GPU-bound: GPU work is 99\.6 % of 10\.743 ms .*Not "
                                                  r"counted: 8\.371 ms before the first .*96\.9 % of launched GPU time",
    "inference_xdit_sd_3_5": r"Partly host-bound: host work is 40\.0 % of 1\.195 s in 1 step "
                             r"\(most: python 355\.410 ms\); GPU work is 59\.6 %",
    "tpt_transformer_step1": r"Launch-bound: host work is 86\.3 % .* 46 of 48 .* 7\.0 us .* 45\.0 us"
                             r".*283\.0 us of profiler",
    "param_linear": r"Launch-bound: host work is 62\.6 % .*\(most: op 222\.162 ms, launch call 125\.239 ms",
    "multirank_cifar_mi300x_4r/rank0": r"Mixed: host work 34\.2 %, GPU work 34\.0 %, exposed "
                                       r"communication 29\.4 % of 140\.113 ms in 3 steps, ",
    "multirank_cifar_mi300x_4r/rank3": r"Host-bound: host work is 64\.7 %",
    "multirank_dlrm_v100_8r/worker0": r"Mixed: host work 45\.6 %, exposed communication 38\.3 %",
    "multirank_dlrm_v100_8r/worker7": r"Launch-bound: host work is 68\.3 %",
    "multirank_hta_sampled_2of128/sampled_rank-0": r"Recording incomplete: .* The rest is "
                                                   r"communication-bound: exposed communication is 48\.8 %",
    "hta_trace_compare_base": r"Can't tell: 99\.0 %",
    "hta_triton_example": r"Can't tell: over 99\.9 %",
    "rocprofv3_pftrace_taylor": r"Recording incomplete: 10\.4 % of 8\.623 s .*: no host "
                                r"event; .* The rest is GPU-bound: GPU work is 97\.5 % of 7\.730 s; no ops",
    "rocprofv3_csv_decode": r"Can't tell: 84\.3 % of 180\.266 ms .*: no host event; .* "
                            r"host-bound: host work is 81\.0 % of 28\.256 ms \(between ops 22\.308 ms\)",
    "rocprofv3_csv_taylor": r"6\.665 s: 84\.5 % kernels, 15\.5 % idle; can't tell why",
    "rocprofv3_json_908": r"19\.208 s of the process, its start and end included: 22\.0 % kernels, 78\.0 % "
                          r"idle; can't tell why",
    "rpd_matmul/matmul_result.rpd": r"Can't tell: 91\.1 % of 2\.964 s .* copy-bound: exposed copies are 59\.5 %",
    "kineto_doc_before_fix": r"20 ns: 100\.0 % compute",
    "kineto_doc_after_fix": r"20 ns: 100\.0 % compute",
}

# trace: figures worked out besides the sentence, ms of causes and classes, percent of the
# recorded time. Ours differ in two: in hta_gpu_user_annotation 140 GPU events have a launch,
# not 139; h100_timesformer's head is named by the frame with most self time in it, not by the
# one around the whole step.
FIGURES = {
    "h100_bert_small": {"launch_call ms": "0.338", "window ms": "4.426"},
    "h100_timesformer": {"span ms": "160.0", "busy ms": "158.4", "head ms": "218.1"},
    "mi300_timesformer": {"head ms": "268.8", "window ms": "390.7"},
    "mi300_nsfw_vit": {"launch_latency ms": "2.084", "idle ms": "5.737"},
    "mi300_bert_small": {"launch_latency ms": "0.853", "window ms": "4.007"},
    "mi300_resnet_ckpt": {"exposed ms": "55.4", "recorded ms": "84.3"},
    "hpct_replay": {"busy ms": "28.926", "window ms": "28.926", "older": "9", "gpu events": "29"},
    "norm_layer_test": {"module_load ms": "981.8", "window ms": "1068.8"},
    "hta_gpu_user_annotation": {"gpu events": "140", "launched": "140", "starved": "130"},
    "hta_nccl_parser": {"op ms": "292.6", "comm_host ms": "71.0", "optimizer ms": "43.8",
                        "window ms": "667.2", "communication %": "5.9"},
    "kineto_resnet50_w0_step1": {"host %": "9.3", "data ms": "352.4", "window ms": "1065.6"},
    "inference_sglang_decode": {"missing ms": "463.3", "window ms": "473.8"},
    "inference_xdit_sd_3_5": {"python ms": "355.4", "window ms": "1194.8"},
    "tpt_transformer_step1": {"profiler ms": "0.283", "host ms": "2.470"},
    "param_linear": {"gpu %": "37.1", "launch_call ms": "125.2", "window ms": "1008.6"},
    "multirank_cifar_mi300x_4r/rank0": {"op ms": "17.3"},
    "multirank_cifar_mi300x_4r/rank3": {"op ms": "34.3", "communication %": "2.4"},
    "multirank_dlrm_v100_8r/worker0": {"host %": "45.6", "launch-bound": "True"},
    "multirank_dlrm_v100_8r/worker7": {"communication %": "12.6", "launch-bound": "True"},
    "multirank_hta_sampled_2of128/sampled_rank-0": {
        "late_start ms": "389.0", "none ms": "147.8", "window ms": "1227.4"},
}

# several ranks: a part of the path, and the job's verdict
JOBS = {
    "multirank_cifar_mi300x_4r": r"Host-bound on rank 3: host work is 64\.7 % .*Rank 3 is last in all 21 collectives, "
                                 r"measurably late in 18, and causes 100\.0 % of the waiting: its GPU is idle 34\.280 ms \(cause: op\), "
                                 r"18\.283 ms on the others \(mean\), whose GPUs meanwhile wait in collectives",
    "multirank_dlrm_v100_8r": r"Launch-bound, likely on rank 7: host work is 68\.3 % .*Rank 7 is last in "
                              r"5 of 8 collectives and causes 75\.9 % of the waiting",
}

CLASSES = {"host": "host work", "gpu": "GPU work", "sync": "blocking calls",
           "allocation": "allocation", "data": "data loading", "compile": "compilation",
           "start_up": "start-up", "communication": "exposed communication",
           "copy": "exposed copies"}
WORDS = {"host": "host-bound", "sync": "sync-bound", "allocation": "allocation-bound",
         "data": "data-bound", "compile": "compile-bound", "start_up": "recorded during start-up",
         "communication": "communication-bound", "copy": "copy-bound"}
LONG = 10 ** 6  # ns without host events: what the host did is unknown
UNITS = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}
STEP = re.compile(r"ProfilerStep#\d+$")
SERVING = re.compile(r"execute_\d+_context_|execute_context_|execute_diffusion_|step\[(DECODE|EXTEND|"
                     r"MIXED)[^\]]*\]|(prefill|decode)\[[^\]]*\]")


# ---- contents of the file ----

class Facts:
    """Computed from the raw events, in ns."""

    def __init__(self, t):
        t.link()
        self.events = {e.id: e for e in t.events}
        self.names = collections.Counter(e.name for e in t.events)
        gpu = sorted((g for g in t.gpu if g.ts is not None and g.end is not None),
                     key=lambda g: (g.ts, -g.end, g.id))
        self.real = [g for g in gpu if g.end > g.ts]
        self.n = len(gpu)
        if not self.real:
            return
        sets = {"K": [], "C": [], "M": []}
        for g in self.real:
            sets[timeline.bucket(g)].append((g.ts, g.end))
        k, c, m = (timeline.union(sets[x]) for x in "KCM")
        busy = timeline.union(sets["K"] + sets["C"] + sets["M"])
        self.compute = timeline.length(k)
        self.comm = timeline.length(timeline.minus(c, k))
        self.copy = timeline.length(timeline.minus(timeline.minus(m, k), c))
        self.busy = timeline.length(busy)
        self.of = {"computation": k, "exposed communication": timeline.minus(c, k),
                   "copies": timeline.minus(timeline.minus(m, k), c)}
        self.gpu_span = (busy[0][0], busy[-1][1])
        self.is_inferred = False
        self.numbers = []  # of ProfilerStep#N, if they are the steps
        self.steps = self.markers(t)
        self.start = min([self.gpu_span[0]] + [s for s, _ in self.steps])
        self.end = max([self.gpu_span[1]] + [e for _, e in self.steps])
        self.gaps = [(self.start, busy[0][0])] + [
            (busy[i][1], busy[i + 1][0]) for i in range(len(busy) - 1)] + [(busy[-1][1], self.end)]
        self.gaps = [g for g in self.gaps if g[1] > g[0]]
        self.launches(t, gpu)
        calls = timeline.union([(e.ts, e.end) for e in t.launches])
        self.silence = [b - a for a, b in timeline.minus([list(g) for g in self.gaps], calls)]

    def markers(self, t):
        """the steps of each process, by the thread that launches most inside them"""
        notes = [e for e in t.events if e.slice and e.cat == "user_annotation" and e.ts is not None]
        for pattern, least in ((STEP, 2), (SERVING, 1), (STEP, 1)):
            marks = [e for e in notes if pattern.match(e.name)]
            if len(marks) < least:
                continue
            threads = collections.defaultdict(list)
            for e in marks:
                threads[e.pid, e.tid].append(e)
            best = {}
            for (pid, tid), own in threads.items():
                n = sum(1 for g in t.gpu if g.launch is not None and
                        (g.launch.pid, g.launch.tid) == (pid, tid) and
                        any(m.ts <= g.launch.ts < m.end for m in own))
                if pid not in best or n > best[pid][0]:
                    best[pid] = (n, own)
            if pattern is STEP and least == 2 and len(best) == 1:
                self.numbers = [int(m.name.split("#")[1]) for _, own in best.values() for m in own]
            return [(m.ts, m.end) for _, own in best.values() for m in own]
        return self.inferred(t)

    def inferred(self, t):
        """without markers, repetitions"""
        self.is_inferred = True
        calls = [c[:1] + c[2:] for c in sorted(
            (g.launch.ts, g.id, g.launch.end, g.name) for g in t.gpu if g.launch is not None)]
        by_optimizer = repeat.by_optimizer(t, calls) if calls else None
        found = repeat.find(calls) if not by_optimizer and len(calls) > 5 else None
        at = by_optimizer[0] if by_optimizer else repeat.starts(calls, found[0]) if found else []
        steps = list(zip(at, at[1:]))
        return steps if all(a < b for a, b in steps) else []

    def launches(self, t, gpu):
        linked = [g for g in gpu if g.launch is not None]
        self.ends = [(g.launch.ts, g.end) for g in linked]
        self.spans = [(g.launch.ts, g.ts, g.end) for g in linked]
        self.launched = len(linked)
        starts = {}
        for g in self.real:
            starts.setdefault(g.ts, g)
        first = {end: starts[end] for _, end in self.gaps if end in starts}
        self.starved = sum(1 for start, end in self.gaps if end in first
                           and first[end].launch is not None and first[end].launch.ts > start)
        threads, work = collections.defaultdict(list), collections.defaultdict(list)
        for g in linked:
            work[g.launch.id].append((g.ts, g.end))
        for uid in work:
            e = self.events[uid]
            threads[e.pid, e.tid].append(e.ts)
        intervals = []
        for v in threads.values():
            v.sort()
            intervals += [b - a for a, b in zip(v, v[1:])]
        self.interval = median(intervals)
        self.work = median([timeline.length(timeline.union(v)) for v in work.values()])


def median(values):
    return sorted(values)[len(values) // 2] if values else None


# ---- figures against the file ----

def check_window(w, f):
    bad = []

    def same(what, got, want):
        if got != want:
            bad.append("%s: %s, from the file %s" % (what, got, want))

    start = f.start
    if w["head_ns"]:
        start = f.gpu_span[0]
        same("head", w["head_ns"], start - f.start)
    same("window", w["window_ns"], f.end - start)
    same("copies", w["copy_ns"], f.copy)
    idle = f.end - start - f.busy
    rest = sum(w[c + "_ns"] for c in (*CLASSES, "missing")) - f.busy
    same("idle time of all classes", rest, idle)
    if w["gpu_ns"] < f.compute or w["communication_ns"] < f.comm:
        bad.append("less GPU work than in the file")
    same("launched", w["launched"], f.launched)
    same("starved", w["starved"], f.starved)
    same("launch interval", w["launch_interval_ns"], f.interval)
    same("work of a launch", w["launch_work_ns"], f.work)
    if w["gap_ns"]:
        gap = [b - a for a, b in f.gaps if w["next_uid"] is None and b == f.end or
               w["next_uid"] is not None and b == f.events[w["next_uid"]].ts]
        if not gap or w["gap_ns"] > gap[0] or w["cause_ns"] > w["gap_ns"] and not w["missing_ns"]:
            bad.append("gap of %d: from the file %s" % (w["gap_ns"], gap))
    return bad


def is_launch_bound(w):
    """if it is host-bound"""
    return (w["launched"] >= 20 and 2 * w["starved"] >= w["launched"]
            and w["launch_work_ns"] < w["launch_interval_ns"]
            and 4 * w["gap_ns"] < w["host_ns"])


def check_figures(want, trace, f):
    """worked out besides the sentence, rounded as there"""
    w = table(["tl-idle", "--steps", "--table", "idle_window", trace])[0]
    ns = {k[:-3]: v for k, v in w.items() if k.endswith("_ns")}
    ns |= {r["cause"]: r["time_ns"]
           for r in table(["tl-idle", "--steps", "--by", "cause", trace])}
    recorded = w["window_ns"] - w["missing_ns"]
    ns |= {"busy": f.busy, "span": f.gpu_span[1] - f.gpu_span[0], "exposed": f.comm,
           "idle": w["window_ns"] - f.busy, "head": f.gpu_span[0] - f.start,
           "recorded": recorded}
    counts = {"gpu events": f.n, "older": f.n - f.launched, "launched": w["launched"],
              "starved": w["starved"], "launch-bound": is_launch_bound(w)}
    bad = []
    for key, text in want.items():
        name, _, unit = key.rpartition(" ")
        digits = len(text.partition(".")[2])
        got = str(counts[key]) if key in counts else "%.*f" % (
            digits, ns[name] / 10 ** 6 if unit == "ms" else 100 * ns[name] / recorded)
        if got != text:
            bad.append("%s: %s, not %s" % (key, got, text))
    return bad


def decide(w):
    """the verdict's first words, as a pattern"""
    ns = {c: w[c + "_ns"] for c in CLASSES}
    whole, gpu = w["window_ns"] - w["missing_ns"], w["gpu_ns"]
    if 5 * gpu >= 4 * whole:
        return r"(GPU|compute|memory)-bound"
    first, second = sorted((c for c in ns if c != "gpu"), key=lambda c: -ns[c])[:2]
    if 2 * ns[first] < whole - gpu or 2 * ns[first] < 3 * ns[second]:
        return "mixed"
    word = WORDS[first]
    if first == "host":
        launches = is_launch_bound(w)
        # without blocking calls a host with less to do than the GPU stays ahead
        if (2 * w["opened_ns"] > ns["host"] and 10 * w["opened_ns"] >= whole
                and (not launches or gpu > ns["host"])):
            word = "sync-bound"
        elif launches:
            word = "launch-bound"
    return "(likely )?" + ("partly " if 2 * gpu >= whole else "") + word


# ---- sentences ----

def shown(ns):
    """as a time is shown"""
    for unit, div, digits in (("s", 10 ** 9, 3), ("ms", 10 ** 6, 3), ("us", 10 ** 3, 1)):
        if ns >= div:
            return "%.*f %s" % (digits, ns / div, unit)
    return "%d ns" % ns


def part(ns, whole):
    share = 100 * ns / whole
    if ns > 0 and share < 0.05:
        return "under 0.1 %"
    if ns < whole and share >= 99.95:
        return "over 99.9 %"
    return "%.1f %%" % share


def times(text):
    """ns of a time, and how far it may be off"""
    number, unit = text.split()
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * UNITS[unit], 0.51 * UNITS[unit] / 10 ** digits


def check_sentence(verdict, w, f):
    whole = w["window_ns"] - w["missing_ns"]
    rest = re.sub(r".*The rest is ", "", verdict)
    bad = []
    if not re.match(decide(w) + ": ", rest, re.IGNORECASE):
        bad.append("not %s" % decide(w))
    if 10 * w["missing_ns"] >= w["window_ns"] and w["missing_ns"]:
        lead = "Can't tell" if 2 * w["missing_ns"] >= w["window_ns"] else "Recording incomplete"
        share = part(w["missing_ns"], w["window_ns"])
        leads = [lead + ": %s of %s" % (share, shown(w["window_ns"])),
                 lead + ": for %s of %s" % (shown(w["missing_ns"]), shown(w["window_ns"]))]
        if not verdict.startswith(leads[0]) and not (
                verdict.startswith(leads[1]) and "(%s) no GPU work" % share in verdict):
            bad.append("does not begin with: " + lead)
    of = " of " + shown(whole)
    named = [c for c, word in CLASSES.items() if re.search(
        r"(?<!gaps after )\b%s (is|are|\d|under)" % word, rest.split(". ")[0])]
    for c in named:
        figure = part(w[c + "_ns"], whole)
        if "%s %s" % (CLASSES[c], figure) not in rest and \
                not re.search(r"%s (is|are) %s" % (CLASSES[c], re.escape(figure)), rest):
            bad.append("%s is not %s" % (CLASSES[c], figure))
    # of work that was queued: what is no work of the GPU in the bar
    gaps = sum(w[c + "_ns"] - ran for c, ran in (("gpu", f.compute), ("communication", f.comm))
               if c in named)
    m = re.search(r"includ(?:e|ing) gaps between queued kernels \((.*?)\)", rest)
    if (m and m[1]) != (part(gaps, whole) if 100 * gaps / whole >= 0.05 else None):
        bad.append("gaps between queued kernels: not %s" % part(gaps, whole))
    m = re.search(r"gaps after blocking calls are (.*?) of ", rest)
    if m and m[1] != part(w["opened_ns"], whole):
        bad.append("opened: %s" % m[0])
    causes = re.search(r"host work is \S+ % of [^(]*\((most: )?((?:[a-z ]+ [\d.]+ [num]?s(?:, )?)+)\)", rest)
    listed = sum(times(t)[0] for t in re.findall(r"[\d.]+ [num]?s", causes[2])) if causes else 0
    if causes and (causes[1] is None) != (100 * listed >= 95 * w["host_ns"]):
        bad.append("all of it, or most: %s" % causes[0])
    if not (named or m) or of not in rest:
        bad.append("no share%s" % of)
    m = re.search(r" ([\d,]+) of ([\d,]+) GPU events .*?: (\S+ \S+) of .* every (\S+ \S+)\.", rest)
    if m and m.groups() != ("{:,}".format(w["starved"]), "{:,}".format(w["launched"]),
                            shown(w["launch_work_ns"]), shown(w["launch_interval_ns"])):
        bad.append("launches: %s" % m[0])
    m = re.search(r" One gap takes (\S+ \S+), .*the GPU is busy for (.*?) of the rest", rest)
    if m and m.groups() != (shown(w["gap_ns"]), part(f.busy, whole - w["gap_ns"])):
        bad.append("gap: %s" % m[0])
    if ("One gap takes" in rest) != (2 * w["gap_ns"] >= whole - w["gpu_ns"] > 0
                                        and 5 * w["gpu_ns"] < 4 * whole and w["gap_ns"] > 0):
        bad.append("whether one gap is half of it")
    return bad


def kinds_of(steps):
    """those at least twice as long as the next shorter one are of another kind"""
    kinds = []
    for i, s in enumerate(sorted(steps)):
        if i == 0 or s[0] >= 2 * kinds[-1][-1][0]:
            kinds.append([])
        kinds[-1].append(s)
    whole = sum(s[0] for s in steps)
    kept = [k for k in kinds if 100 * sum(s[0] for s in k) >= whole or 10 * len(k) >= len(steps)]
    less = sum(len(k) for k in kinds[:kinds.index(kept[0])]) if kept else 0
    small = len(steps) - sum(map(len, kept))
    return (kept if 2 <= len(kept) <= 3 else []), less, small - less


def length(kind):
    """of its steps: the median"""
    low, high = kind[(len(kind) - 1) // 2][0], kind[len(kind) // 2][0]
    about = "about " if shown(kind[0][0]) != shown(kind[-1][0]) else ""
    return about + shown(low + (high - low) // 2)


def own_ns(kind, f, busy):
    """of a step: what it launched, and what the GPU idles in it"""
    ns = 0
    for wall, a, b in kind:
        ns += wall - clip(busy, a, b)
        ns += timeline.length(timeline.union([x[1:] for x in f.spans if a <= x[0] < b]))
    return ns / len(kind)


def check_list(verdict, kinds, others):
    want = ", ".join("%d%s take%s %s%s" % (
        len(k), "" if i else " step" + "s" * (len(k) > 1), "s" * (len(k) == 1), length(k),
        "" if i else " on the GPU") for i, k in enumerate(kinds))
    want += "".join(", %d take%s %s" % (n, "s" * (n == 1), word) for n, word in others if n)
    m = re.search(r"(?<=\. )\d+ steps? takes? (?:about )?[\d.]+ \w+ on the GPU.*?(?=\. )", verdict + " ")
    return [] if (m[0] if m else "") == (want if kinds else "") else ["kinds of steps: not %s" % want]


def check_kinds(verdict, w, f):
    """steps of several kinds: by time on the GPU where that bounds them, else each with its idle time"""
    if len(f.steps) > len(f.numbers) > 0 or any(
            b[0] < a[1] for a, b in zip(sorted(f.steps), sorted(f.steps)[1:])):
        return []  # of several processes
    walls, is_pace = walls_of(f)
    each = re.findall(r" (\d+) steps? of ((?:about )?\S+ \S+) takes? (\S+ %|\w+ \S+ %) of step time and "
                      r"leaves? the GPU idle for ((?:under |over )?\S+ %) of it", verdict)
    if w["missing_ns"] and 10 * w["missing_ns"] >= w["window_ns"]:
        return check_list(verdict, [], []) + ["kinds, and much is missing"] * bool(each)
    if is_pace or re.match(r"((likely|partly) )*(GPU|compute|memory|communication|copy)-bound", verdict, re.I):
        gpu = walls if is_pace else gpu_walls(f, walls)
        kinds, less, other = kinds_of([(b - a, a, b) for a, b, _ in gpu])
        return ["idle time of steps, and the GPU's time bounds them"] * bool(each) + check_list(
            verdict, kinds, ((less, "less"), (other, "another time"),
                             (len(f.steps) - len(gpu), "an unknown time")))
    steps = [(b - a, a, b) for a, b, _ in walls[f.is_inferred:]]
    kinds = kinds_of(steps)[0]
    busy = timeline.union([list(x) for spans in f.of.values() for x in spans])
    for k, more in zip(kinds, kinds[1:]):
        if own_ns(more, f, busy) - own_ns(k, f, busy) < (mean(more) - mean(k)) / 2:
            kinds = []  # the host waits for the work of other steps
            break
    rows = []  # those with most time first
    for k in sorted(kinds, key=lambda k: -sum(s[0] for s in k)):
        wall, idle = sum(s[0] for s in k), sum(s[0] - clip(busy, *s[1:]) for s in k)
        rows.append((idle / wall, wall, (str(len(k)), length(k), part(wall, sum(s[0] for s in steps)),
                                         part(idle, wall))))
    must = [r[2] for r in rows[1:] if abs(r[0] - rows[0][0]) >= .2
            and 100 * r[1] >= sum(s[0] for s in steps)]
    may = [r[2] for r in rows]
    bad = check_list(verdict, [], []) + ["no kind: %s" % (r,) for r in must if r not in each]
    if each and (each[:1] != may[:1] or [r for r in may if r in each] != each or len(each) < 2):
        bad.append("each kind: %s, of %s" % (each, may))
    return bad


def mean(kind):
    return sum(s[0] for s in kind) / len(kind)


def clip(spans, start, end):
    return sum(max(0, min(b, end) - max(a, start)) for a, b in spans)


def check_bar(bar, f, start, end, missing):
    """its window, and the shares of what ran, are those of the file"""
    whole = end - start
    if 10 * missing < whole:
        whole -= missing
    head = bar.split("\n")[0].replace(", busy if any is", "")
    bad = [] if head.endswith(": " + shown(whole)) else ["window: " + bar.split("\n")[0]]
    said = {w: float(s) for w, s in re.findall(r"[#=+.] ([a-z ]+) (\d+\.\d) %", bar)}
    busy = 0
    for word, spans in f.of.items():
        ns = clip(spans, start, end)
        busy += ns
        if abs(said.get(word, 0) - 100 * ns / whole) > 0.06:
            bad.append("%s: %s, in the file %.1f %%" % (word, said.get(word), 100 * ns / whole))
    if abs(said.get("idle", 0) - 100 * (whole - busy) / whole) > 0.06:
        bad.append("idle %s" % said.get("idle"))
    return bad


def ends_of(f, walls):
    """when the work of each step ends; 0: it has none"""
    return [max([e for ts, e in f.ends if a <= ts < b] or [0]) for a, b, _ in walls]


def gpu_walls(f, walls):
    """from the end of the work of one step to that of the next"""
    done = ends_of(f, walls)
    return [(x, y, w[2]) for x, y, w in zip(done, done[1:], walls[1:]) if x]


def walls_of(f):
    """steps in order: start, end, number; whether the host only enqueues"""
    starts = sorted(zip(f.steps, f.numbers or range(len(f.steps))))
    walls = [(s[0], starts[i + 1][0][0] if i + 1 < len(starts) else s[1], n)
             for i, (s, n) in enumerate(starts)]
    done, gpu = ends_of(f, walls), gpu_walls(f, walls)
    if gpu and median([b - a for a, b, _ in gpu]) > 1.05 * median([b - a for a, b, _ in walls[1:]]) \
            and done[-1] - walls[-1][1] > max(0, done[0] - walls[0][1]):
        return gpu, True
    return walls, False


def check_step(trace, f):
    """--step of the longest: verdict and bar are over its wall, to the next one's start"""
    walls, is_gpu = walls_of(f)
    if not is_gpu:  # not what launches nothing
        walls = [w for w in walls if any(w[0] <= ts < w[1] for ts, _ in f.ends)]
    if not walls:
        return []
    return check_longest(trace, f, max(walls, key=lambda w: w[1] - w[0])) + \
        check_apart(trace, walls)


def check_apart(trace, walls):
    """--step of two that do not follow each other: their times, added up"""
    if len(walls) < 3:
        return []
    two = (walls[0], walls[2])
    numbers = "%d,%d" % (two[0][2], two[1][2])
    want = sum(w[1] - w[0] for w in two)
    w = table(["tl-idle", "--step", numbers, "--table", "idle_window", trace])[0]
    verdict, _, bar = report([trace], "--step", numbers)
    if (w["window_ns"] + w["head_ns"], w["steps"]) != (want, 2) or " in 2 step" not in verdict:
        return ["steps %s: %d steps of %d ns, in the file %d; %s" % (
            numbers, w["steps"], w["window_ns"], want, verdict)]
    # each part of the bar to 0.1 %
    total = sum(w[k] for k in w if k.endswith("_ns") and k[:-3] in CLASSES)
    return [] if total == w["window_ns"] and bar else ["steps %s: %d of %d ns" % (
        numbers, total, w["window_ns"])]


def check_longest(trace, f, longest):
    start, end, number = longest
    w = table(["tl-idle", "--step", str(number), "--table", "idle_window", trace])[0]
    verdict, _, bar = report([trace], "--step", str(number))
    bad = []
    if (w["window_ns"] + w["head_ns"], w["steps"]) != (end - start, 1):
        bad.append("step %d: %d steps of %d ns, in the file %d" % (
            number, w["steps"], w["window_ns"], end - start))
    if " of " + shown(w["window_ns"] - w["missing_ns"]) not in verdict:
        bad.append("step %d: %s" % (number, verdict))
    return bad + check_bar(bar, f, start + w["head_ns"], end, w["missing_ns"])


# NAME (..., N calls, longest wait TIME, uid N): of a verdict and of what could be won back
NAMED = re.compile(r"(?:in|:) (\S[^;]*?) \((?:(\S+ [num]?s): |([a-z ]+), )?"
                   r"(?:([\d,]+) calls, longest wait (\S+ [num]?s), )?uid (\d+)\)")
# causes that are behind the end of the call that is named
BEHIND = ("launch latency", "late start", "gpu missing")


def check_events(text, f):
    """each event named: under its uid, by its name, as long as said"""
    bad, n = [], 0
    is_missing = re.match("Can't tell|Recording incomplete", text)
    for name, total, cause, calls, longest, uid in NAMED.findall(text):
        e = f.events.get(int(uid))
        n += 1
        if e is None:
            bad.append("uid %s is not in the file" % uid)
        if e is None or "One gap " in name:
            continue
        name = name.split(": ")[-1].split(" in ")[-1] if e.name not in name else e.name
        # markers of steps share a name
        ends = [x for x in re.split(r"\.\.\.|<\.\.\.>|(?<=Step#)\*", name) if x]
        if not all(x in e.name for x in ends):
            bad.append("uid %s is %s, not %s" % (uid, e.name, name))
        length = longest or total
        if cause in BEHIND or is_missing:
            continue
        if length and times(length)[0] - times(length)[1] > e.end - e.ts:
            bad.append("uid %s lasts %d ns, not %s" % (uid, e.end - e.ts, length))
        if calls and int(calls.replace(",", "")) > f.names[e.name]:
            bad.append("%s calls of %s: the file has %d" % (calls, e.name, f.names[e.name]))
    return bad, n


def report(paths, *options):
    """the verdict, what could be won back, and the bar"""
    p = subprocess.run(["tl-report", "--width", "99999", *options] + paths, capture_output=True, check=False)
    if p.returncode not in (0, 3):
        raise ValueError("status %d: %s" % (p.returncode, p.stderr.decode()))
    parts = [x for x in p.stdout.decode().split("\n\n")
             # the verdict of tl-health on the trace
             if not re.search(r": (misleading|usable, with \d+ warnings?): ", x)]
    gains = [x for x in parts if x.startswith("recoverable\n")]
    bars = [x for x in parts if re.match(r"GPU, |\d+ GPUs together, ", x)]
    return (parts[1 if len(paths) == 1 else 2].strip(), gains[0] if gains else "",
            bars[0] if bars else "")


def check_plain(verdict, bar, trace, f):
    """nothing of the host: shares of GPU time, of the process if its time is known"""
    whole, words = f.end - f.start, ""
    if trace.endswith(".json.gz"):
        whole = rocprof.timeline(rocprof.load(trace))[0][1]
        words = " of the process, its start and end included"
    kernels = f.compute + f.comm
    begin = "%s%s: %s kernels, " % (shown(whole), words, part(kernels, whole))
    bad = [] if verdict.startswith(begin) else ["does not begin with: " + begin]
    if part(whole - f.busy, whole) + " idle; can't tell why: no ops, calls or" not in verdict:
        bad.append("idle: not " + part(whole - f.busy, whole))
    for says in (": " + shown(whole) + "\n", "kernels " + part(kernels, whole)):
        if says not in bar:
            bad.append("bar: not " + says)
    return bad


def check_silence(trace, f):
    """where calls are all of the host: what of a gap is in none of them, if it is long"""
    said = {r["cause"]: r["time_ns"] for r in table(["tl-idle", "--steps", "--by", "cause", trace])}
    silent = sum(ns for ns in f.silence if ns >= LONG)
    return [] if said.get("none", 0) == silent else [
        "no host event: %s, in the file %d" % (said.get("none"), silent)]


def check(trace, read=kineto.Trace, has_uids=True):
    """what is wrong, the sentence, and how many events it names"""
    rows = table(["tl-idle", "--steps", "--table", "idle_window", trace])
    if rows is None:
        return [], None, 0
    if len(rows) != 1:
        return ["%d windows" % len(rows)], None, 0
    f = Facts(read(trace))
    verdict, gains, bar = report([trace])
    if read is not kineto.Trace and "can't tell why" in verdict:
        return check_plain(verdict, bar, trace, f), verdict, 0
    if not f.real or f.busy < 1000 or "can't tell why" in verdict:
        return [], verdict, 0
    bad = check_window(rows[0], f) + check_sentence(verdict, rows[0], f)
    bad += check_bar(bar, f, f.start if not rows[0]["head_ns"] else f.gpu_span[0], f.end,
                     rows[0]["missing_ns"])
    if f.numbers:
        bad += check_step(trace, f)
    if read is kineto.Trace:
        bad += check_kinds(verdict, rows[0], f)
    if read is not kineto.Trace:
        bad += check_silence(trace, f)
    for worked, want in FIGURES.items():
        if "/%s" % worked in trace and "capture_traces" not in trace:
            bad += check_figures(want, trace, f)
    if not has_uids:
        return bad, verdict, 0
    more, n = check_events(verdict + "\n" + gains, f)
    return bad + more, verdict, n


def check_job(paths, verdict):
    """who is last, and what of the collectives is waiting, by their kernels alone

    Waiting is within a rank's kernel: the root of a broadcast ends long before a late rank
    comes. Lags from start to start would be 92.1 % in the first job, and add up to 167 ms
    where all kernels of collectives take 165."""
    ranks = [sorted((g.ts, g.end) for g in kineto.Trace(p).gpu
                    if re.search("nccl", g.name, re.IGNORECASE)) for p in paths]
    m = re.search(r" Rank (\d+) is last in (?:all|(\d+) of) (\d+) collectives(?:, measurably late in \d+,)? "
                  r"and causes (\S+ %)", verdict)
    if m is None:
        return ["nobody is last"]
    wait, caused, latency, last = 0, 0, 0, 0
    for together in zip(*ranks):
        latest = max(s for s, _ in together)
        ns = sum(min(e, latest) - s for s, e in together)
        is_last = together[int(m[1])][0] == latest
        last += is_last
        wait += ns
        caused += ns * is_last
        latency += len(together) * min(e - s for s, e in together)
    out = subprocess.run(["tl-report", "--width", "99999", *paths], capture_output=True, check=False)
    want = ". Waiting is %s of the time in collectives" % part(wait, wait + latency)
    bad = [] if want in out.stdout.decode() else ["not%s" % want[1:]]
    want = (str(last), str(len(ranks[0])), part(caused, wait))
    return bad + ([] if (m[2] or m[3], m[3], m[4]) == want else ["last: %s, not %s" % (m[0], want)])


# ---- planted ----

class Plan:
    """A thread that launches 40 kernels, each behind something of the host."""

    def __init__(self, busy_us=10, every_us=100):
        self.events = []
        self.at = self.gpu = 0
        self.corr = 0
        self.busy_us, self.every_us = busy_us, every_us

    def add(self, cat, name, ts, dur, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
                            "ts": ts, "dur": dur, "args": args})

    def host(self, cat, name, dur):
        self.add(cat, name, self.at, dur)
        self.at += dur

    def kernel(self, name="k", cat="kernel"):
        self.corr += 1
        self.add("cuda_runtime", "cudaLaunchKernel", self.at, 2, correlation=self.corr)
        self.gpu = max(self.gpu, self.at + 5)
        self.add(cat, name, self.gpu, self.busy_us, 7, correlation=self.corr, device=0, stream=7)
        self.gpu += self.busy_us
        self.at += 2

    def item_loop(self, n=40):
        for _ in range(n):
            self.host("cpu_op", "aten::x", 30)
            self.kernel()
            self.add("cuda_runtime", "cudaStreamSynchronize", self.at, self.gpu + 1 - self.at)
            self.at = self.gpu + 1
        return self

    def loop(self, cat, name, n=40, kernel="k", kind="kernel"):
        for _ in range(n):
            self.host(cat, name, self.every_us)
            self.kernel(kernel, kind)
            self.at = max(self.at, self.gpu)
        return self


def planted():
    """name, plan, pattern of the verdict, and ns of classes that are known"""
    op = ("cpu_op", "aten::x")
    yield "op", Plan().loop(*op), "Launch-bound", {"gpu_ns": 400000}
    yield "one op is long", Plan().loop(*op, 19), "Host-bound: ", {}
    yield "kernels are long", Plan(500, 900).loop(*op), "Launch-bound: host work is 63.8 %", {}
    yield "GPU", Plan(500, 20).loop(*op), "GPU-bound", {"gpu_ns": 20000000}
    yield "data", Plan().loop("user_annotation", "data_loading", 40), "Data-bound", {}
    yield "frames of a loader", Plan().loop(
        "python_function", "torch/utils/data/dataloader.py(1): __next__"), "Data-bound", {}
    yield "python", Plan().loop("python_function", "m.py(1): forward"), \
        r"Launch-bound.*Recording Python frames", {}
    yield "hipFree", Plan().loop("cuda_runtime", "hipFree"), \
        r"Allocation-bound: .*: hipFree \(3\.900 ms: 39 calls", {"allocation_ns": 3900000}
    yield "pinning", Plan().loop("cuda_runtime", "cudaHostAlloc"), "Allocation-bound", {}
    yield "blocking copies", Plan().loop("cuda_runtime", "cudaMemcpy"), "Sync-bound", {}
    yield "item() behind each op", Plan(60).item_loop(), \
        "Partly sync-bound: gaps after blocking calls are", {}
    yield "item(), and launches take longer than kernels", Plan(10).item_loop(), "Launch-bound", {}
    yield "compiling", Plan(10, 3000).loop(
        "python_function", "torch/_inductor/graph.py(1): codegen", 5), "Compile-bound", {}
    yield "loading code", Plan(10, 3000).loop("cuda_runtime", "cuModuleLoadData", 5), \
        "Recorded during start-up", {}
    yield "collectives", Plan(300, 100).loop(*op, kernel="ncclDevKernel_AllReduce"), \
        r"Communication-bound: .*One rank: can't tell", {"communication_ns": 12000000}
    yield "copies", Plan(300, 100).loop(*op, kernel="Memcpy HtoD", kind="gpu_memcpy"), \
        "Copy-bound", {"copy_ns": 12000000}
    mixed = Plan(100, 60)
    for _ in range(20):
        mixed.host("cuda_runtime", "hipFree", 100)
        mixed.host(*op, 100)
        mixed.kernel()
        mixed.at = max(mixed.at, mixed.gpu)
    yield "two reasons", mixed, "Mixed: ", {}
    head = Plan().loop(*op, 5)
    for e in head.events:
        e["ts"] += 100000
    head.add("user_annotation", "ProfilerStep#1", 0, 110000)
    head.add("python_function", "video.py(1): decode", 10, 99000)
    yield "before the first event", head, r"Host-bound: .* One gap takes [^,]*, before the first GPU event", {}
    kinds = Plan(1000)
    for i in range(4):
        kinds.at = max(kinds.at, kinds.gpu)
        start = kinds.at
        if i == 2:
            kinds.host("user_annotation", "data_loading", 9000)
        kinds.loop("cpu_op", "aten::x", 5)
        kinds.add("user_annotation", "ProfilerStep#%d" % i, start, kinds.gpu - start)
    yield "steps of two kinds", kinds, \
        r"Partly data-bound: data loading is 28\.\d % of \S+ ms in 4 steps: .*" \
        r" 3 steps of 5\.\d+ ms take \S+ % of step time and leave the GPU idle for \S+ % of it \(mostly op\)\. " \
        r"1 step of 14\.\d+ ms takes .* \(mostly data\)\.", {}
    none = r"(?!.* steps? (of|takes?) )"
    ahead = Plan(9990)
    for i in range(10):  # the same work, whatever the host takes for it
        start = ahead.at
        for _ in range(10):
            ahead.host(*op, 2000 if i < 3 else 10000)
            ahead.kernel()
        ahead.add("user_annotation", "ProfilerStep#%d" % i, start, ahead.at - start)
    yield "a queue fills", ahead, none + "GPU-bound: ", {}
    behind = Plan(4000)
    for i in range(18):  # each sixth waits for the work of six
        start = behind.at
        behind.host(*op, 100)
        behind.kernel()
        if i % 6 == 5:
            behind.add("cuda_runtime", "cudaDeviceSynchronize", behind.at, behind.gpu - behind.at)
            behind.at = behind.gpu
            behind.host(*op, 19000)
        behind.add("user_annotation", "ProfilerStep#%d" % i, start, behind.at - start)
    yield "the host waits for work of other steps", behind, none + "Likely partly host-bound: ", {}
    for slow, verdict in ("aten::x", "Launch-bound: .*"), ("", "Can't tell: .*"):
        alike = Plan()  # the first has no gap before it
        for _ in range(12):
            for name, us in (("k1", 300), ("k2", 200), ("k3", 500), ("k4", 50)):
                alike.busy_us = us
                alike.host("cpu_op", "aten::" + name, 30)
                alike.kernel(name)
                alike.at = alike.gpu
            if slow:
                alike.host("cpu_op", slow, 4000)
            else:
                alike.at += 4000
        yield "gaps between inferred steps, " + (slow or "unknown"), alike, \
            none + verdict + " with 12 inferred steps ", {}
    late = Plan().loop(*op, 5)
    late.kernel()
    late.events[-1]["ts"] += 50000
    late.add("cuda_runtime", "cudaDeviceSynchronize", late.at, 50000)
    yield "GPU work that is missing", late, r"Can't tell: .*gpu missing", {}


def check_planted(folder, name, plan, pattern, want):
    path = os.path.join(folder, "trace.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps({"traceEvents": plan.events}))
    bad, verdict, _ = check(path)
    row = table(["tl-idle", "--table", "idle_window", path])[0]
    bad += ["%s: %s, not %d" % (k, row[k], v) for k, v in want.items() if row[k] != v]
    if not re.match(pattern, verdict):
        bad.append("not: " + pattern)
    return bad, verdict


# ---- one run in the forms of rocprofv3 ----

def check_forms(folder, seed):
    """its facts are those drawn; each form gives them the same verdict"""
    calls, kernels, copies = rocprof_forms.draw(seed)
    rows = [("hip_api", name, a, b, tid, corr, {}) for name, tid, corr, a, b in calls]
    rows += [("kernel_dispatch", name, a, b, tid, corr, {"device": node, "stream": stream})
             for name, tid, corr, a, b, node, stream, *_ in kernels]
    rows += [("memory_copy", "copy", a, b, tid, corr, {"device": src, "stream": dst})
             for _, tid, corr, a, b, src, dst, *_ in copies]
    doc = [rocprof_events.event(kind, name, a, b, rocprof_forms.PID, tid, corr, **args)
           for kind, name, a, b, tid, corr, args in rows]
    rocprof_forms.main(seed, folder)
    said = {}
    for name in ("run_kernel_trace.csv", "run_results.json", "run.pftrace"):
        bad, verdict, _ = check(os.path.join(folder, name), lambda _: kineto.Trace(doc=doc), False)
        # a .pftrace has the agents of the node for GPUs
        said[re.sub(r", uid \d+|GPUs \d and \d", "", verdict)] = name
        yield bad, "drawn run %d: %s" % (seed, name), verdict
    yield [] if len(said) == 1 else list(said), "drawn run %d: one verdict" % seed, None


# ---- all ----

class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def say(self, bad, name, text=None):
        self.n += 1
        self.failed += bool(bad)
        print("%sok %d - %s" % ("not " if bad else "", self.n, name))
        for line in [text] * bool(bad and text) + list(bad):
            print("# " + line)
        sys.stdout.flush()


def main():
    root, tap, seen, nevents, nverdicts = os.environ.get("TL_DATA"), Tap(), set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, plan, pattern, want in planted():
            bad, verdict = check_planted(folder, name, plan, pattern, want)
            tap.say(bad, "planted: " + name, verdict)
            nverdicts += 1
        for seed in range(1, 4):
            for bad, name, verdict in check_forms(folder, seed):
                tap.say(bad, name, verdict)
                nverdicts += verdict is not None
    readers = [(t, kineto.Trace) for t in traces(root)] if root else []
    for trace in rocprof_events.recordings(root) if root else ():
        readers.append((trace, lambda t: kineto.Trace(doc=rocprof_events.reader(t)(t))))
    for trace, read in readers:
        rest = os.path.relpath(trace, root)
        if sys.argv[1:] and not any(a in rest for a in sys.argv[1:]):
            continue
        names = names_of(WORKED, seen, rest)
        if is_left(trace) and read is kineto.Trace:
            seen.update(names)
            continue
        try:
            bad, verdict, n = check(trace, read)
        except (ValueError, kineto.BadTrace) as e:
            if not names:  # what no program reads is another test's
                continue
            bad, verdict, n = [str(e)], None, 0
        for w in names:
            seen.add(w)
            if not re.match(WORKED[w], verdict or ""):
                bad.append("not: " + WORKED[w])
        nevents += n
        nverdicts += verdict is not None
        if verdict is not None:
            tap.say(bad, rest, verdict)
    if root and not sys.argv[1:]:
        for job, pattern in JOBS.items():
            folder = os.path.join(root, job)
            paths = [os.path.join(folder, f) for f in sorted(os.listdir(folder))
                     if f.endswith((".json", ".json.gz"))]
            verdict, _, _ = report(paths)
            bad = [] if re.match(pattern, verdict) else ["not: " + pattern]
            tap.say(bad + check_job(paths, verdict), job, verdict)
        missing = sorted(set(WORKED) - seen)
        tap.say(missing, "all worked verdicts were looked at")
        few = nverdicts < 40 or nevents < 40
        tap.say(["too few"] if few else [], "%d verdicts, %d events" % (nverdicts, nevents))
    print("1..%d" % tap.n)
    return bool(tap.failed)


sys.exit(main())
