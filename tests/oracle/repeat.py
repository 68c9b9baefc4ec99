#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""repeat.py: steps of traces without markers, against slow finders and known figures.

Real traces with their ProfilerStep annotations removed, and those without any: how
many steps tl-steps infers, from how many calls, where they begin, and which traces it
refuses. tl-report's verdict must be that of the trace with its markers. Each is
checked again without the optimizer's annotations.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

import kineto
from worked import names_of, table, traces

# trace: steps, calls in each, None: refused
WORKED = {
    "kineto_resnet50_w0_step1": (6, 1516), "hta_ns_resolution": (5, 1219),
    "mi300_resnet_ckpt": (3, 895), "hta_nccl_parser": (3, 1258),
    "multirank_cifar_mi300x_4r/rank0": (3, 1365), "mi300_ddp_resnet18": (5, 475),
    "param_linear": (39, 261), "hta_gpu_user_annotation": (5, 28),
}
# without the optimizer's annotations
BARE = {
    "kineto_resnet50_w0_step1": (6, 1516), "hta_ns_resolution": (5, 1219),
    "mi300_resnet_ckpt": (3, 895), "hpct_replay": (10, 2), "tpt_transformer_step1": (3, 16),
    "hta_nccl_parser": (2, 1258), "multirank_cifar_mi300x_4r/rank0": (2, 1365),
    "mi300_ddp_resnet18": (4, 475), "param_linear": (39, 261),
    "hta_gpu_user_annotation": (5, 28), "h100_nsfw_vit": None, "inference_xdit_sd_3_5": None,
}
# the optimizer ends so long before the next marker; the first marker may be before all
# that it marks: 851 us
BEFORE = (40000, 130000)
FIRST = 900000
MARKED = ("kineto_resnet50_w0_step1", "hta_ns_resolution", "mi300_resnet_ckpt",
          "hta_nccl_parser", "multirank_cifar_mi300x_4r/rank0")
# their borders are so long before the markers; the first step is cut short
BARE_BEFORE = (28000, 209000)
NEAR = ("kineto_resnet50_w0_step1", "hta_ns_resolution", "mi300_resnet_ckpt", "hpct_replay",
        "tpt_transformer_step1")


def upper_median(v):
    return sorted(v)[len(v) // 2] if v else -1


def best_units(names):
    """the anchor's places and the commonest unit"""
    n, count = len(names), Counter(names)
    where = {}
    for i, name in enumerate(names):
        where.setdefault(name, []).append(i)
    best, found = None, None
    for m in sorted(set(count.values()), reverse=True):
        for name in [x for x in where if count[x] == m][:8] if m >= 3 else []:
            p = where[name]
            units = [tuple(sorted(names[a:b])) for a, b in zip(p, p[1:])]
            unit, times = Counter(units).most_common(1)[0]
            if times * 100 < 60 * len(units) or (p[-1] - p[0]) * 2 < n:
                continue
            share = sum(c for c in count.values() if c % m == 0) / n
            score = (int(share * 100 + 0.5), upper_median([len(u) for u in units]))
            if best is None or score > best:
                best, found = score, (p, unit)
            break
    return found


def find(calls):
    """calls (start, end, name) in order: where steps begin, the end, calls in each"""
    names = [c[2] for c in calls]
    found = best_units(names)
    if found is None:
        return None
    p, unit = found
    own, size = set(unit), len(unit)
    if size < 2 or sum(x not in own for x in names) * 50 > len(names):
        return None
    firsts = [a for a, b in zip(p, p[1:]) if tuple(sorted(names[a:b])) == unit]
    gaps = [upper_median([max(0, calls[a + o][0] - calls[a + o - 1][1])
                          for a in firsts if a + o > 0]) for o in range(size)]
    offset = gaps.index(max(gaps))
    if p[0] <= size and gaps[-p[0] % size] >= max(gaps) // 2:
        offset = -p[0] % size
    sample = names[firsts[0]:firsts[0] + size]
    name = sample[offset]
    before, behind = sample[:offset].count(name), sample[offset:].count(name)
    borders = []
    head = [i for i in range(p[0]) if names[i] == name]
    if offset > 0 and len(head) >= behind:
        borders.append(head[-behind])
    for a, b in zip(p, [*p[1:], len(names)]):
        mine = [i for i in range(a, b) if names[i] == name]
        if len(mine) > before:
            borders.append(mine[before])
    if borders and tuple(sorted(names[borders[-1]:])) == unit:
        borders.append(len(names))
    return (borders, size) if len(borders) > 1 else None


def alike(units, distance):
    """the share of calls that units so far apart have in common; the first may be cut off"""
    pairs = list(zip(units[1:], units[1 + distance:]))
    size = sum((a + b).total() for a, b in pairs)
    return 2 * sum((a & b).total() for a, b in pairs) / size if size else -1


def by_optimizer(trace, calls):
    """the borders, and the calls of the median step; None: no optimizer"""
    ends, tracks = [], {(g.launch.pid, g.launch.tid) for g in trace.gpu if g.launch}
    notes = sorted((e for e in trace.events if e.name.startswith("Optimizer.step")
                    and e.cat in ("user_annotation", "cpu_op") and e.slice
                    and (e.pid, e.tid) in tracks), key=lambda e: (e.ts, -e.end))
    for e in notes:
        if ends and not any(ends[-1] <= c[0] < e.ts for c in calls):
            ends[-1] = max(ends[-1], e.end)
        else:
            ends.append(e.end)
    if len(ends) < 2:
        return None
    if notes[-1].ts == notes[-1].end:
        ends[-1] = max(c[1] for c in calls)
    edges = [min(c[0] for c in calls), *ends]
    units = [Counter(c[2] for c in calls if a <= c[0] < b) for a, b in zip(edges, edges[1:])]
    if len(units) > 2 and alike(units, 1) < 0.5:
        return None
    common = units[1]
    for u in units[2:]:
        common = common & u
    lengths = [u.total() for u in units]
    track = (notes[0].pid, notes[0].tid)
    first = min(e.ts for e in trace.events if e.slice and (e.pid, e.tid) == track and not e.is_frame
                and not e.name.startswith("ProfilerStep#"))
    leads = [min((c[0] for c in calls if a <= c[0] < b), default=a) - a
             for a, b in zip(edges[1:], edges[2:])]
    walls = [b - a for a, b in zip(edges[1:], edges[2:])]
    if first < edges[0] and edges[0] - first - max(leads) <= min(walls) // 10:
        edges[0] = first
    if (common - units[0]).total() * 50 > common.total() or lengths[0] > max(lengths[1:]):
        del edges[0], lengths[0]
    return (edges, upper_median(lengths)) if len(lengths) > 1 else None


def starts(calls, borders):
    out = []
    for i in borders:
        if i == len(calls):
            out.append(calls[-1][1])
        else:
            out.append(min(calls[i][0], calls[i - 1][1]) if i > 0 else calls[i][0])
    return out


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.load(f, strict=False)


def stripped(path, to, more=()):
    """without markers of steps, and without events of the given names"""
    raw = load(path)
    events = raw["traceEvents"] if isinstance(raw, dict) else raw
    names = ("ProfilerStep#", "execute_diffusion_", *more)
    events[:] = [e for e in events if not str(e.get("name")).startswith(names)]
    with open(to, "w", encoding="utf-8") as f:
        f.write(json.dumps(raw))


def verdict(path):
    """the verdict, and its first sentence"""
    text = subprocess.run(["tl-report", path], capture_output=True, text=True).stdout
    parts = [" ".join(x.split()) for x in text.split("\n\n")]
    if re.search(r": (misleading|usable, with \d+ warnings?): ", parts[1]):
        del parts[1]  # the verdict of tl-health on the trace
    sentence = parts[1].split(". ")[0]
    return sentence.split(":")[0], sentence


def near(path, ours, before, first):
    """errors of borders, compared with the trace's markers"""
    marked = [r["ts_ns"] for r in table(["tl-steps", path])]
    off = [b - a for a, b in zip(ours, marked)]
    if len(marked) != len(ours) - 1:
        return ["%d steps of %d" % (len(ours) - 1, len(marked))]
    if not all(before[0] <= x <= before[1] for x in off[1:]) or \
            (first is not None and abs(off[0]) > first):
        return ["%s ns before the markers" % off]
    return []


def check_others(path, trace, times):
    """other programs find the same steps: the kernels launched in them, and their lengths"""
    bad = []
    walls = [r["time_ns"] for r in table(["tl-timeline", "--by", "step", path])
             if r["type"] == "total_time" and r["step"] is not None]
    if walls[:len(times) - 1] != [b - a for a, b in zip(times, times[1:])]:
        bad.append("tl-timeline: %s" % walls)
    for word, i in (("first", 0), ("2", 1), ("last", len(times) - 2)):
        want = [g.end - g.ts for g in trace.gpu if g.cat.lower() == "kernel" and
                g.launch is not None and times[i] <= g.launch.ts < times[i + 1]]
        rows = table(["tl-kernels", "--kind", "kernel", "--step", word, path]) or []
        got = (sum(r["count"] for r in rows), sum(r["dur_ns_sum"] for r in rows))
        if got != (len(want), sum(want)):
            bad.append("tl-kernels --step %s: %s, not %s" % (word, got, (len(want), sum(want))))
    slow = [r["slowest"] for r in table(["tl-steps", "--table", "steps_summary", path])][0]
    texts = [subprocess.run(["tl-ops", "--step", x, path], capture_output=True, check=False).stdout
             for x in ("slowest", str(slow))]
    return bad if texts[0] == texts[1] else [*bad, "--step slowest is not %s" % slow]


def check(path, want, to, is_bare, markers):
    bad = []
    stripped(path, to, ("Optimizer.step",) if is_bare else ())
    trace = kineto.Trace(to).link()
    calls = [c[:1] + c[2:] for c in sorted(
        (g.launch.ts, g.id, g.launch.end, g.name) for g in trace.gpu
        if g.launch is not None and g.ts is not None)]
    if is_bare:
        found = find(calls)
        mine = (starts(calls, found[0]), found[1]) if found else None
    else:
        mine = by_optimizer(trace, calls)
    steps = [r for r in table(["tl-steps", to]) if r["what"] == "step"]
    summary = table(["tl-steps", "--table", "steps_summary", to])[0]
    got = (len(steps), summary["repeat_calls"]) if steps else None
    if got != want:
        bad.append("%s steps and calls, not %s" % (got, want))
    if verdict(path)[0] != verdict(to)[0]:
        bad.append("the verdict is %s, without markers %s" % (verdict(path), verdict(to)))
    if ("%d inferred step" % len(steps) in verdict(to)[1]) != bool(steps):
        bad.append("%d steps: %s" % (len(steps), verdict(to)[1]))
    if mine is None or not steps:
        return bad if (mine is None) == (not steps) else [*bad, "the slow finder: %s" % (mine,)]
    times, calls_in_step = mine
    ours = [r["ts_ns"] for r in steps] + [steps[-1]["ts_ns"] + steps[-1]["wall_ns"]]
    base = times[0] - ours[0]
    if base % 10**9 or times != [t + base for t in ours] or calls_in_step != want[1]:
        bad.append("borders %s, not %s of %d calls" % (ours, times, calls_in_step))
    bad += check_others(to, trace, times)
    return bad + (near(path, ours, *markers) if markers else [])


def main():
    failed, root = 0, os.environ["TL_DATA"]
    rounds = ((False, WORKED, MARKED, (BEFORE, FIRST)), (True, BARE, NEAR, (BARE_BEFORE, None)))
    with tempfile.TemporaryDirectory() as folder:
        for is_bare, worked, marked, markers in rounds:
            paths = {}
            for path in traces(root):
                for label in names_of(worked, paths, os.path.relpath(path, root)):
                    paths[label] = path
            for label, want in worked.items():
                bad = check(paths[label], want, os.path.join(folder, "t.json"), is_bare,
                            markers if label in marked else None)
                failed += bool(bad)
                print("%sok - steps of %s without markers%s" % (
                    "not " if bad else "", label, ", nor the optimizer's" if is_bare else ""))
                for line in bad:
                    print("# " + line)
    print("1..%d" % (len(WORKED) + len(BARE)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
