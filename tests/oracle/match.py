#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""match.py: tl-match against a slow implementation of the reference's rules.

    match.py A B [OPTION...]       runs tl-match on two Chrome traces, and
                                   compares its reports and what it extracts
    match.py --make SEED STEPS FORM [US [STEP [PROCESSES]]] >TRACE
                                   a serving trace with a random schedule; FORM
                                   is one of those below; kernels last US,
                                   every STEP iterations are a ProfilerStep, and
                                   each of PROCESSES has its own schedule

Compares all pairs of blocks, exactly. Prints differences; exit status 1 if there
are any.
"""
import gzip
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

# ---- a trace ----

NAMES = {
    "vllm_detailed": "execute_{i}_context_{c}(sq{c_sq}sk{c_sk}sqsq{c_q2}sqsk{c_qk})"
    "_generation_{g}(sq{g_sq}sk{g_sk}sqsq{g_q2}sqsk{g_qk})",
    "vllm_native": "execute_context_{c}({c_sq})_generation_{g}({g_sq})",
    "sglang_detailed": "step[{word} bs={bs} {cg}c_sq={c_sq} c_sk={c_sk} c_sqsq={c_q2} "
    "c_sqsk={c_qk} g_sq={g_sq} g_sk={g_sk} g_sqsq={g_q2} g_sqsk={g_qk}]",
}


def schedule(rnd, steps, form):
    """Requests at their prompt and generating, with runs of each phase."""
    out, c, g = [], 1, 0
    loads = [(0, 8), (0, 8), (0, 9), (1, 8), (1, 7), (2, 0)]
    if form.startswith("vllm"):  # SGLang's names have a phase even without requests
        loads.append((0, 0))
    for _ in range(steps):
        if rnd.random() < 0.1:
            c, g = rnd.choice(loads)
        c_sq = c * rnd.choice([256, 512])
        out.append((c, c_sq, c_sq + 100 * c, g, g, 1000 * g + rnd.randrange(40)))
    return out


def make(seed, steps, form, us=18, profiled=0, processes=1):
    events = []
    for p in range(processes):
        events += process(random.Random(seed + p), steps, form, us, profiled, p + 1)
    return {"traceEvents": events}


def process(rnd, steps, form, us, profiled, pid):
    events = []
    ts = 1000 + 10 * (pid - 1)

    def add(**e):
        events.append({"ph": "X", "pid": pid, "tid": 1, **e})

    for i, (c, c_sq, c_sk, g, g_sq, g_sk) in enumerate(schedule(rnd, steps, form)):
        word = "MIXED" if c and g else "EXTEND" if c else "DECODE"
        name = NAMES[form].format(
            i=i, c=c, g=g, c_sq=c_sq, c_sk=c_sk, g_sq=g_sq, g_sk=g_sk, bs=c + g, word=word,
            cg=f"c={c} g={g} " if word == "MIXED" else "",
            c_q2=c_sq * 7, c_qk=c_sk * 7, g_q2=g_sq, g_qk=g_sk)
        add(cat="user_annotation", name=name, ts=ts, dur=90)
        if profiled and i % profiled == 0:
            add(cat="user_annotation", name=f"ProfilerStep#{i // profiled}", ts=ts - 1,
                dur=100 * profiled)
        for k, tid in enumerate((1, 1, 2)):
            corr = 10 ** 6 * (pid - 1) + 10 * i + k + 1
            add(cat="cpu_op", name="aten::mm", ts=ts + 5 + 20 * k, dur=15, tid=tid)
            add(cat="cuda_runtime", name="cudaLaunchKernel", ts=ts + 7 + 20 * k, dur=5, tid=tid,
                args={"correlation": corr})
            add(cat="kernel", name="gemm", ts=ts + 30 + 20 * k, dur=us, pid=0, tid=7,
                args={"correlation": corr, "device": 0, "stream": 7})
        ts += 100
    return events


# ---- its iterations ----

NUM = r"(\d+)"
GROUP = rf"\(sq{NUM}sk{NUM}sqsq{NUM}sqsk{NUM}\)"
VLLM_DETAILED = re.compile(rf"execute_\d+_context_{NUM}{GROUP}_generation_{NUM}{GROUP}")
VLLM_NATIVE = re.compile(rf"execute_context_{NUM}\({NUM}\)_generation_{NUM}\({NUM}\)")
SGLANG_DETAILED = re.compile(r"step\[(EXTEND|DECODE|MIXED)\b[^\]]*sqsq=\d+[^\]]*\]")
SGLANG_NATIVE = re.compile(r"step\[(EXTEND|DECODE|MIXED)\b.*\]")
SGLANG_BODY = re.compile(r"step\[(\w+)\s+bs=(\d+)(?:\s+toks=(\d+))?\]")
OTHERS = re.compile(r"execute_diffusion_\d+_\d+x\d+")


def detail(c=0, g=0, c_sq=0, c_sk=0, g_sq=0, g_sk=0, sums=False):
    return {"context_requests": c, "generation_requests": g, "c_sq": c_sq, "c_sk": c_sk,
            "g_sq": g_sq, "g_sk": g_sk, "has_sqsk": sums}


def parse(name):
    """Tier and fields; None: no iteration."""
    if m := VLLM_DETAILED.match(name):
        c, c_sq, c_sk, _, _, g, g_sq, g_sk, _, _ = map(int, m.groups())
        return 0, detail(c, g, c_sq, c_sk, g_sq, g_sk, True)
    if m := VLLM_NATIVE.match(name):
        c, c_sq, g, g_sq = map(int, m.groups())
        return 1, detail(c, g, c_sq, 0, g_sq, 0)
    if m := SGLANG_DETAILED.match(name):
        v = {k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", m[0])}
        bs, word = v.get("bs", 0), m[1]
        c = v.get("c", 0) if word == "MIXED" else bs if word == "EXTEND" else 0
        g = v.get("g", 0) if word == "MIXED" else bs if word == "DECODE" else 0
        sums = [v.get(k, 0) for k in ("c_sq", "c_sk", "g_sq", "g_sk")]
        return 0, detail(c, g, *sums, True)
    if SGLANG_NATIVE.match(name):
        m = SGLANG_BODY.match(name)
        if not m:
            return 1, detail(0, 1)
        bs, toks = int(m[2]), int(m[3] or 0)
        return 1, detail(0, bs, 0, 0, bs, 0) if m[1] == "DECODE" else detail(bs, 0, toks)
    return (1, detail()) if OTHERS.match(name) else None


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        trace = json.load(f)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def iterations(events):
    """Roots of the best tier by time, with their fields, process by process."""
    found = []
    for e in events:
        if e.get("cat") == "user_annotation" and e.get("ph") == "X":
            p = parse(e["name"])
            if p:
                found.append((p[0], e, p[1]))
    best = min((t for t, _, _ in found), default=None)
    roots = [(e, d) for t, e, d in found if t == best]
    pids = list(dict.fromkeys(e["pid"] for e, _ in roots))
    roots.sort(key=lambda r: (pids.index(r[0]["pid"]), r[0]["ts"]))
    return roots


# ---- blocks and matches ----

WORDS = {"decode": "decode_only", "mixed": "prefilldecode", "prefill": "prefill_only"}


def phase_of(d):
    if d["context_requests"] > 0:
        return "prefilldecode" if d["generation_requests"] > 0 else "prefill_only"
    return "decode_only" if d["generation_requests"] > 0 else None


def blocks_of(roots, num_steps):
    runs, before = [], None
    for i, (e, d) in enumerate(roots):
        p = phase_of(d)
        if p is not None and (p, e["pid"]) == before:
            runs[-1][2] = i + 1
        elif p is not None:
            runs.append([p, i, i + 1])
        before = p, e["pid"]
    out = []
    for p, a, b in runs:
        n = b - a
        if p == "decode_only" and n < 2:
            continue
        size = num_steps if 0 < num_steps < n else n
        out += [(p, a + k * size, a + (k + 1) * size, n) for k in range(n // size)]
    return out


def distance(a, b, phase, approx):
    if phase == "decode_only":
        keys = ("g_sq",) if approx else ("g_sq", "g_sk")
    else:
        keys = ("context_requests", "generation_requests", "c_sq", "g_sq")
    return tuple(sum(abs(x[1][k] - y[1][k]) for x, y in zip(a, b)) for k in keys)


def matches_of(sides, blocks, phases, approx, top):
    found, notes = [], []
    for phase in phases:
        pairs, eligible, with_candidate = [], 0, 0
        whole = math.lcm(*(b[2] - b[1] for b in blocks[0]))  # means as integers
        ok = [[(k, *b) for k, b in enumerate(blocks[s])
               if b[0] == phase and (approx or all(d["has_sqsk"] for _, d in sides[s][b[1]:b[2]]))]
              for s in (0, 1)]
        for i, _, a0, a1, a_run in ok[0]:
            others = [o for o in ok[1] if o[3] - o[2] == a1 - a0]
            eligible += 1
            with_candidate += bool(others)
            for j, _, b0, b1, b_run in others:
                d = distance(sides[0][a0:a1], sides[1][b0:b1], phase, approx)
                d = tuple(x * (whole // (a1 - a0)) for x in d)
                pairs.append((d, -min(a_run, b_run), -(a1 - a0), i, j))
        pairs.sort()
        found += [(phase, p[3], p[4], [Fraction(x, whole) for x in p[0]]) for p in pairs[:top]]
        if not pairs:
            notes.append({"phase": phase, "reason": "no eligible (A, B) pair found (A blocks of "
                          f"phase: {eligible}, with same-size B candidate: {with_candidate})"})
    return found, notes


# ---- figures of the reports ----

def mean(values, digits):
    return round(float(sum(values) / Fraction(len(values))), digits)


def side_of(roots, block, number, base):
    _, a, b, run = block
    d = [x for _, x in roots[a:b]]
    side = {"block_index": number, "trace": base}
    for key in ("context_requests", "generation_requests", "c_sq", "c_sk", "g_sq", "g_sk"):
        side["avg_" + key] = mean([x[key] for x in d], 3)
    side |= {"start": a, "end": b, "num_steps": b - a, "original_num_steps": run,
             "truncated": run != b - a}
    side["steps"] = [{"step": a + k, "name": e["name"], "num_context": x["context_requests"],
                      "num_generation": x["generation_requests"], "c_sq": x["c_sq"],
                      "c_sk": x["c_sk"], "g_sq": x["g_sq"], "g_sk": x["g_sk"]}
                     for k, (e, x) in enumerate(roots[a:b])]
    return side


def base_of(path):
    name = Path(path).name
    for end in (".pt.trace", ".json.gz", ".json", ".zip"):
        name = name.replace(end, "")
    return name


def name_of(phase, i, j, letter, roots, block, base):
    d = [x for _, x in roots[block[1]:block[2]]]
    count = [sum(phase_of(x) == p for x in d)
             for p in ("prefill_only", "prefilldecode", "decode_only")]
    bs = sum(x["c_sq"] + x["g_sq"] for x in d) // len(d)
    conc = sum(x["context_requests"] + x["generation_requests"] for x in d) // len(d)
    return (f"{phase}/{phase}_best_A{i}_B{j}_{letter}_prefill_{count[0]}_prefilldecode_{count[1]}"
            f"_decode_{count[2]}_bs{bs}_conc{conc}_{base}")


def kernels_within(events, roots, block):
    """Correlation ids of GPU work whose launch starts in a step, on any thread."""
    steps = [(e["ts"], e["ts"] + e["dur"], e["pid"]) for e, _ in roots[block[1]:block[2]]]
    first, last = steps[0][0], steps[-1][1]
    launched = {e["args"]["correlation"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and
                first <= e["ts"] < last and
                "correlation" in e.get("args", {}) and
                any(a <= e["ts"] < b and e["pid"] == pid for a, b, pid in steps)}
    return sorted(e["args"]["correlation"] for e in events
                  if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and
                  e.get("args", {}).get("correlation") in launched)


def kernels_in(path):
    if path.endswith(".tl"):
        text = subprocess.run(["tl-cat", path], stdout=subprocess.PIPE, check=True).stdout
        events = [json.loads(x) for x in text.splitlines()]
        return sorted(e["corr"] for e in events if e.get("kind") in ("kernel", "memcpy", "memset"))
    return sorted(e["args"]["correlation"] for e in load(path)
                  if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))


def options_of(words):
    opts = {"--num-steps": "16", "--phase": "decode,mixed", "--top": "1", "--to": "tl"}
    approx = "--approx" in words
    it = iter(w for w in words if w != "--approx")
    opts.update(dict(zip(it, it)))
    return opts, approx


def compare(paths, words):
    opts, approx = options_of(words)
    events = [load(p) for p in paths]
    sides = [iterations(e) for e in events]
    blocks = [blocks_of(s, int(opts["--num-steps"])) for s in sides]
    phases = [WORDS[w] for w in opts["--phase"].split(",")]
    found, notes = matches_of(sides, blocks, phases, approx, int(opts["--top"]))
    wrong = []

    def check(what, got, want):
        if got != want:
            wrong.append(f"{what}: {str(got)[:300]}\n  instead of {str(want)[:300]}")

    with tempfile.TemporaryDirectory() as tmp:
        run = subprocess.run(["tl-match", "-d", tmp, *words, *paths], stderr=subprocess.PIPE)
        if not found:
            check("exit status", run.returncode, 5)
            return wrong, 0
        if run.returncode != 0:
            return [f"exit status {run.returncode}: {run.stderr.decode()}"], 0
        check("notes", json.loads(Path(tmp, "match_notes.json").read_text()), notes)
        report = json.loads(Path(tmp, "match_report.json").read_text())
        check("matches", len(report), len(found))
        for k, (got, (phase, i, j, dist)) in enumerate(zip(report, found)):
            want = {"match_id": k, "phase": phase, "num_steps": blocks[0][i][2] - blocks[0][i][1],
                    "distance": [round(float(x), 6) for x in dist]}
            for s, (letter, no) in enumerate((("A", i), ("B", j))):
                block, base = blocks[s][no], base_of(paths[s])
                side = got["Trace" + letter]
                path = side.pop("output_path")
                end = ".json.gz" if opts["--to"] == "chrome" else ".tl"
                check("path", path, f"{tmp}/" + name_of(
                    phase, i, j, letter, sides[s], block, base) + end)
                check(f"work in {path}", kernels_in(path),
                      kernels_within(events[s], sides[s], block))
                want["Trace" + letter] = side_of(sides[s], block, no, base)
            check(f"match {k}", got, want)
    return wrong, len(found)


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        sys.stdout.write(json.dumps(make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], *map(int, sys.argv[5:]))))
        sys.exit(0)
    bad, n = compare(sys.argv[1:3], sys.argv[3:])
    print(*bad[:5], sep="\n")
    print(f"{n} matches")
    sys.exit(bool(bad))
