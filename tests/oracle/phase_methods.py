#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""phase_methods.py: tl-ops --phase-method against the text of the specification.

    phase_methods.py FOLDER...

Each trace is read by kineto.py. For every op or launch that owns GPU work each
method guesses a phase by regular expressions over its name, its kernels' names and
its shapes. Time, count and deciding method of each op in each phase must agree with
tl-ops. tl-steps' phase_summary must agree with the iterations' annotations and the
GPU work launched in them; for files only that is checked.
"""
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import groups
import kineto
import ops

THRESHOLD = 10
LENGTH = re.compile(r"(?:(?<=[_\s])|^)(?:sl|seqlen_?|seq)(\d+)(?=[_\s]|$)", re.I)
FLAT = re.compile("varlen|unified_attention|ragged|paged|mla_|batch_prefill|pa_decode", re.I)
METHODS = ("hybrid", "union", "kernel_names", "operation_frequency", "framework_apis",
           "attention_patterns", "gemm_params")
MIXED = "mixed"


def has(text, words):
    return re.search(words, text, re.I) is not None


def either(prefill, decode):
    return MIXED if prefill == decode else "prefill" if prefill else "decode"


def first(text, decode, prefill):
    return "decode" if has(text, decode) else "prefill" if has(text, prefill) else MIXED


def quantile(values, q):
    values = sorted(values)
    at = (len(values) - 1) * q
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def lengths(text):
    found = [int(n) for n in LENGTH.findall(text) if int(n) > 0]
    if not found:
        return MIXED
    mean = sum(found) / len(found)
    return "decode" if mean == 1 else "prefill" if mean > 10 else MIXED


def is_int(n):
    return isinstance(n, int) and not isinstance(n, bool)


def shape(dims):
    """the first tensor of three or four dimensions"""
    for d in dims:
        if isinstance(d, list) and len(d) in (3, 4):
            return d
    return None


def sized(n, threshold):
    return MIXED if not is_int(n) or n <= 0 else "prefill" if n > threshold else "decode"


def rows(dims):
    if len(dims) < 2 or not isinstance(dims[0], list) or not dims[0]:
        return MIXED
    return sized(dims[0][0], THRESHOLD)


def kernel_names(op, text, dims):
    del op, dims
    found = lengths(text)
    if found != MIXED:
        return found
    if has(text, "prefill|context|prompt|initialization|first_token"):
        return "prefill"
    return "decode" if has(
        text, "decode|generation|autoregressive|continuous_batch|paged_attention|kv_cache|"
        "reshape_and_cache|incremental|single_token") else MIXED


def framework_apis(op, text, dims):
    del text, dims
    low = op.lower()
    if "vllm::" in op or has(low, "paged_attention|reshape_and_cache|batch_decode"):
        return first(low, "decode|cache", "prefill")
    if "sglang::" in op or has(low, "radix_attention|prefix_cache|tree_attention"):
        return first(low, "decode|cache", "prefill")
    if "tgi::" in op or has(low, "continuous_batch|decode_kernel|token_generation"):
        return first(low, "decode|generation", "prefill|encode")
    if has(low, "context_phase|generation_phase|mha_|mlp_"):
        return first(low, "generation|decode", "context|prefill")
    return MIXED


def attention_patterns(op, text, dims):
    del text
    if not has(op, "attention|attn|sdpa"):
        return MIXED
    found = first(op, "paged_attention|kv_cache|reshape_and_cache|batch_decode|decode_attention",
                  "prefill_attention|chunked_prefill|batch_prefill")
    d = shape(dims)
    if found != MIXED or d is None:
        return found
    return sized(d[2] if len(d) == 4 else d[0] if FLAT.search(op) else d[1], 10)


def gemm_params(op, text, dims):
    del op
    prefill, decode = has(text, "prefill"), has(text, "decode|continuous_batch")
    return either(prefill, decode) if prefill or decode else rows(dims)


class Counts:
    def __init__(self, names):
        self.of = Counter(names)
        self.values = list(self.of.values())

    def frequency(self, op):
        n = self.of[op]
        if n > quantile(self.values, 0.5):
            return "decode"
        return "prefill" if n < quantile(self.values, 0.15) else "decode"

    def refined(self, op):
        n = self.of[op]
        return ("decode" if n > quantile(self.values, 0.7)
                else "prefill" if n < quantile(self.values, 0.3) else MIXED)


def union(op, text, dims):
    votes = Counter()
    votes[rows(dims)] += 3
    found = lengths(text)
    if found == MIXED:
        found = either(
            has(text, "prefill|context_attention|prompt_attention|context_phase|first_token|"
                "initialization|prompt_processing"),
            has(text, "decode|generation|continuous_batch|paged_attention|autoregressive|"
                "incremental|single_token|next_token"))
    votes[found] += 4
    votes[first(text, r"paged_attention.*decode|paged_attn_v2|kv_cache|reshape_and_cache|"
                r"block_sparse_attention|page_attention|flash_attn.*decode|flash_decode|"
                r"varlen.*decode",
                r"paged_attention.*prefill|chunked_prefill|block_prefill|flash_attn.*prefill|"
                r"flash_prefill|varlen.*prefill")] += 2
    for space, decode, prefill in (("vllm::", "decode|cache|paged", "prefill"),
                                   ("sglang::", "decode|cache|radix", "prefill"),
                                   ("tgi::", "decode|generation|continuous", "prefill|encode")):
        if space in op.lower():
            votes[first(op, decode, prefill)] += 2
            break
    votes[either(has(op, "single_request|request_init|batch_prefill"),
                 has(op, "continuous_batch|dynamic_batch|batch_decode|multi_request|"
                     "request_batch"))] += 1
    p, d = votes["prefill"], votes["decode"]
    return MIXED if p + d < 2 or p == d else "prefill" if p > d else "decode"


def guess(method, counts, op, text, dims):
    """phase, and the method that decided"""
    plain = {"kernel_names": kernel_names, "framework_apis": framework_apis,
             "attention_patterns": attention_patterns, "gemm_params": gemm_params}
    if method in plain:
        return plain[method](op, text, dims), method
    if method == "operation_frequency":
        return counts.frequency(op), method
    if method == "union":
        found = union(op, text, dims)
        return ((found, method) if found != MIXED
                else (counts.refined(op), "operation_frequency"))
    d = shape(dims)
    if d is not None and has(op, "attention|attn|sdpa") and not (len(d) == 3 and FLAT.search(op)):
        found = sized(d[2] if len(d) == 4 else d[1], 10)
        if found != MIXED:
            return found, "attention_patterns"
    for name in ("kernel_names", "framework_apis"):
        found = plain[name](op, text, dims)
        if found != MIXED:
            return found, name
    return counts.frequency(op), "operation_frequency"


def check(folder):
    trace, _ = ops.find_trace(groups.DATA, folder, "default")
    bad, n = [], 0
    with tempfile.NamedTemporaryFile(suffix=".tl") as f:
        subprocess.run(["tl-tree", trace, "-o", f.name], check=True, capture_output=True)
        read_back = kineto.Trace(trace).link().tree()
        calls = groups.Calls(read_back)
        if folder.startswith("inference"):
            n += check_summary(read_back, f.name, bad)
        launchers = []
        for e in calls.events.values():
            own = sorted(calls.own[e.id], key=lambda g: (g.ts, g.id))
            dims = e.args.get("Input Dims")
            launchers.append((e.name, " ".join([e.name] + [g.name for g in own]),
                              dims if isinstance(dims, list) else [], groups.busy(own)))
        counts = Counts([x[0] for x in launchers])
        for method in METHODS:
            want = defaultdict(lambda: [0, 0])
            for op, text, dims, ns in launchers:
                phase, by = guess(method, counts, op, text, dims)
                want[phase, groups.escaped(op), by][0] += ns
                want[phase, groups.escaped(op), by][1] += 1
            got = {}
            for phase in ("prefill", "decode", "mixed"):
                for r in groups.table("tl-ops", "--table", "ops_summary_" + phase,
                                      "--phase-method", method, f.name):
                    got[phase, r["name"], r["phase_method"]] = [
                        int(r["direct_ns_sum"]), int(r["count"])]
            n += len(got)
            for k in sorted(set(got) | set(want)):
                if got.get(k) != want.get(k):
                    bad.append("%s: %s: %s instead of %s" % (method, k, got.get(k), want.get(k)))
    return n, bad


VLLM = re.compile(r"execute_(?:\d+_)?context_(\d+)\((?:sq)?(\d+)[^)]*\)_generation_(\d+)\((?:sq)?(\d+)")
DIFFUSION = re.compile(r"execute_diffusion_\d+_\d+x\d+")


def said(name):
    """phase and tokens in an iteration's annotation; or None"""
    m = VLLM.match(name)
    if m:
        context, tokens, generation, more = (int(x) for x in m.groups())
        return (either(context > 0, generation > 0), tokens + more)
    return ("generic", 0) if DIFFUSION.match(name) else None


def check_summary(trace, path, bad):
    """iterations, tokens, kernels, GPU time of launches and of graphs, by phase"""
    notes = [e for e in trace.events if e.slice and e.cat == "user_annotation" and said(e.name)]
    want = defaultdict(lambda: [0, 0, 0, 0, 0, 0])
    for note in notes:
        phase, tokens = said(note.name)
        own = [g for g in trace.gpu if g.launch is not None and not g.launch.gone
               and g.launch.pid == note.pid and note.ts <= g.launch.ts < note.end]
        by_graph = [g for g in own if "graphlaunch" in g.launch.name.lower()]
        for i, v in enumerate((1, tokens, sum(g.cat == "kernel" for g in own), groups.busy(own),
                               sum(g.end - g.ts for g in own),
                               sum(g.end - g.ts for g in by_graph))):
            want[phase][i] += v
    got = groups.table("tl-steps", "--table", "phase_summary", path)
    if sorted(r["phase"] for r in got) != sorted(want):
        bad.append("phases %s instead of %s" % ([r["phase"] for r in got], sorted(want)))
        return 0
    for r in got:
        n, tokens, kernels, gpu, work, graphs = want[r["phase"]]
        mine = (n, tokens, gpu, kernels / n, 100 * graphs / work)
        theirs = (int(r["iterations"]), int(r["tokens_sum"] or 0), int(r["gpu_ns_sum"]),
                  float(r["kernels_mean"]), float(r["pct_graph"]))
        if any(abs(a - b) > 1e-9 * abs(b) for a, b in zip(theirs, mine)):
            bad.append("%s: %s instead of %s" % (r["phase"], theirs, mine))
    return len(got)


def check_file(path):
    bad = []
    return check_summary(kineto.Trace(path).link().tree(), path, bad), bad


def main():
    folders = sys.argv[1:]
    print("1..%d" % len(folders))
    failed = 0
    for i, folder in enumerate(folders, 1):
        n, bad = check_file(folder) if "/" in folder else check(folder)
        failed += bool(bad) or n == 0
        print("%sok %d - %s: %d ops by phase and method" % (
            "not " if bad or n == 0 else "", i, folder, n), flush=True)
        for line in bad[:10]:
            print("# " + line[:300])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
