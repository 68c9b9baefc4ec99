#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""split.py: parts by serving iterations, computed from raw JSON by the specification
(inference.md 3) alone.

usage: split.py check TRACE DIR MODE [OPTION=VALUE...]   output of tl-split --to chrome
       split.py reference TRACE ROWS DIR                 the same against the reference's rows

Modes: iteration, range, steady, phase. Prints TAP.
"""
import bisect
import collections
import csv
import gzip
import json
import math
import os
import re
import sys

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
# parts that only we write
MORE_PARTS = {"inference_xdit_sd_3_5/split_steady": 1}

COUNT = 0
FAILED = 0


def ok(held, text, *more):
    global COUNT, FAILED
    COUNT += 1
    FAILED += not held
    print("%sok %d - %s" % ("" if held else "not ", COUNT, text))
    for line in more if not held else ():
        print("# %s" % (line,))


# ---- what an annotation says (1.1, 1.2) ----

def number(pattern, name):
    found = re.search(r"(?:^|[\s\[])%s=(\d+)" % pattern, name)
    return int(found.group(1)) if found else 0


def detail(name):
    """(tier, phase, fields) or None."""
    n = r"(\d+)"
    sums = r"\(sq%ssk%ssqsq%ssqsk%s\)" % (n, n, n, n)
    found = re.match("execute_%s_context_%s%s_generation_%s%s" % (n, n, sums, n, sums), name)
    if found:
        v = list(map(int, found.groups()))
        return 0, step(v[1], v[2], v[6], v[7], v[2] + v[7])
    found = re.match(r"execute_context_%s\(%s\)_generation_%s\(%s\)" % (n, n, n, n), name)
    if found:
        v = list(map(int, found.groups()))
        return 1, step(v[0], v[1], v[2], v[3], v[1] + v[3])
    found = re.match(r"step\[(EXTEND|DECODE|MIXED)\b[^\]]*\]", name)
    if found:
        bs, toks, word = number("bs", name), number("toks", name), found.group(1)
        if "sqsq=" in name:
            c_sq, g_sq = number("c_sq", name), number("g_sq", name)
            batch = c_sq + g_sq or toks or bs
            if word == "DECODE":
                return 0, step(0, 0, bs, g_sq, batch)
            if word == "EXTEND":
                return 0, step(bs, c_sq, 0, 0, batch)
            return 0, step(number("c", name), c_sq, number("g", name), g_sq, batch)
        if word == "DECODE":
            return 1, step(0, 0, bs, bs, bs)
        # it does not say how many requests are at their prompt
        return 1, step(bs, toks, 0, 0, toks or bs, word == "MIXED")
    found = re.match(r"(prefill|decode)\[.*\]", name)
    if found:
        bs, tok = number("bs", name), number("tok", name)
        tier = 0 if "sqsq=" in name else 1
        if found.group(1) == "prefill":
            return tier, step(bs, tok, 0, 0, tok)
        # prompts among generating requests do not count as requests
        return tier, step(0, 0, bs, tok, tok, number("p", name) > 0)
    found = re.match(r"execute_diffusion_%s_\d+x\d+" % n, name)
    if found:
        return 1, step(0, 0, 0, 0, int(found.group(1)))
    return None


class Step(dict):
    """Its fields, and the annotation's phase."""
    phase = None

    @property
    def has_prefill(self):
        return self.phase in ("prefill", "mixed")


def step(context, context_sum, generation, generation_sum, batch, is_mixed=False):
    it = Step({"batch_size": batch, "num_requests": context + generation,
            "context_requests": context, "context_sum": context_sum,
            "generation_requests": generation, "generation_sum": generation_sum})
    it.phase = "mixed" if is_mixed or context and generation else \
        "prefill" if context else "decode" if generation else "generic"
    return it


def summary(steps):
    phases = collections.Counter(s.phase for s in steps)
    n = max(1, len(steps))
    return {"num_prefill": phases["prefill"], "num_prefilldecode": phases["mixed"],
            "num_decode": phases["decode"],
            "avg_bs": sum(s["batch_size"] for s in steps) // n,
            "avg_conc": sum(s["num_requests"] for s in steps) // n}


# ---- windows (3.3, with the region's last step) ----

def regions_of(steps, num_steps):
    n, peak = len(steps), max([s["num_requests"] for s in steps] or [0])
    near = max(1, (0.1 if n >= num_steps else 0.2) * peak)
    found, count, start = [], 0, None
    for i, s in enumerate(steps):
        inside = abs(s["num_requests"] - peak) <= near
        if inside and start is None:
            count += 1
        if not inside and start is not None:
            count -= 1
        if count > 5 and start is None:
            start = i - count + 1
        if start is not None and count <= 0:
            found.append((start, i))
            count, start = 0, None
    if start is not None:
        found.append((start, n))
    if not found and n:
        d = min(n, max(8, num_steps - n))
        found.append((d // 2, max(d // 2 + 1, n - d // 2)))
    return found


def longest_run(steps, region, held, num_steps):
    best, start = (0, 0), None
    for i in range(region[0], region[1] + 1):
        if i < region[1] and held(steps[i]):
            start = i if start is None else start
        elif start is not None:
            if i - start > best[1] - best[0]:
                best = (start, i)
            start = None
    return best[0], min(best[1], best[0] + num_steps)


def steady_of(steps, regions, num_steps, conc=0, osl=0.0, ratio=None):
    context = [s.has_prefill for s in steps]
    total = sum(e - s for s, e in regions)
    rho = sum(sum(context[s:e]) for s, e in regions) / total
    region = max(regions, key=lambda r: r[1] - r[0])
    mixed = num_steps
    if conc and osl and ratio is not None:
        rho = 2 * conc / (osl * (1 + ratio))
        mixed = max(num_steps, math.ceil(1 / rho))
    stride = max(1, mixed // max(1, min(mixed // 2, 10)))
    starts = range(region[0], region[1] - mixed + 1, stride)
    windows = [(s, s + mixed) for s in starts] or [region]
    windows = [w for w in windows if sum(context[slice(*w)])] or windows
    def badness(w):
        n = w[1] - w[0]
        return (abs(sum(context[slice(*w)]) / n - rho),
                -sum(s["num_requests"] for s in steps[slice(*w)]) / n)
    yield "mixed_steady_state", min(windows, key=badness)
    yield "decode_only_steady_state", longest_run(
        steps, region, lambda s: not s.has_prefill, num_steps)
    yield "prefilldecode_steady_state", longest_run(
        steps, region, lambda s: s.has_prefill, num_steps)


# ---- parts: (idx, path, numbers of iterations) ----

def text_of(name):
    return re.sub(r"[^0-9A-Za-z.-]", "_", name.replace(")", "").replace(":", ""))


def structured(label, steps):
    s = summary(steps)
    return "%s_prefill_%d_prefilldecode_%d_decode_%d_bs%d_conc%d" % (
        label, s["num_prefill"], s["num_prefilldecode"], s["num_decode"], s["avg_bs"],
        s["avg_conc"])


def parts_of(mode, base, roots, steps, opt):
    num_steps = int(opt.get("num_steps", 32))
    chosen = range(len(roots))
    regions = regions_of(steps, num_steps)
    if opt.get("iterations"):
        a, b = map(int, opt["iterations"].split(":"))
        chosen = chosen[a:b]
        regions = [(a, min(b, len(roots)))]
    if mode == "iteration":
        for i in chosen:
            yield i, "%s_annotation_iteration_%d_%s" % (base, i, text_of(roots[i]["name"])), [i]
    elif mode == "range":
        label = "%s_annotation_iteration_%d" % (base, chosen[0])
        yield chosen[0], structured(label, [steps[i] for i in chosen]), list(chosen)
    elif mode == "steady":
        plan = {}
        if "conc" in opt:
            plan = {"conc": int(opt["conc"]), "osl": float(opt["osl"]),
                    "ratio": float(opt["osl_ratio"])}
        for label, (a, b) in steady_of(steps, regions, num_steps, **plan):
            if a < b:
                yield 0, structured(label, steps[a:b]) + "_" + base, list(range(a, b))
    else:
        runs, count = [], collections.Counter()
        for i in (i for a, b in regions for i in range(a, b)):
            label = {"decode": "decode_only", "generic": "generic"}.get(
                steps[i].phase, "prefilldecodemix")
            if not runs or runs[-1][0] != label:
                runs.append((label, []))
            runs[-1][1].append(i)
        for label, numbers in runs:
            own = [steps[i] for i in numbers]
            s = summary(own)
            chunk = "%s_chunk%d_steps%d_bs%d_conc%d" % (
                label, count[label], len(own), s["avg_bs"], s["avg_conc"])
            yield count[label], "%s/%s_%s" % (label, structured(chunk, own), base), numbers
            count[label] += 1


# ---- what belongs to an iteration ----

def ns(us):
    return round(us * 1000)


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def events_of(events, roots):
    """The events of each iteration; those without a time separately."""
    starts = [ns(r["ts"]) for r in roots]
    owner, rest, of_corr = {}, [], {}
    for i, e in enumerate(events):
        if "ts" not in e or e["ph"] == "M":
            rest.append(i)
            continue
        k = bisect.bisect_right(starts, ns(e["ts"])) - 1
        if k < 0 or e.get("pid") != roots[k]["pid"] or \
                ns(e["ts"]) >= starts[k] + ns(roots[k]["dur"]):
            continue
        owner[i] = k
        if "correlation" in e.get("args", {}):
            of_corr[e["args"]["correlation"]] = k
    for i, e in enumerate(events):
        is_arrow = e["ph"] in ("s", "f")
        if is_arrow or e.get("cat") in GPU:
            owner.pop(i, None)
            key = e.get("id") if is_arrow else e.get("args", {}).get("correlation")
            if key in of_corr:
                owner[i] = of_corr[key]
    of_root = collections.defaultdict(list)
    for i, k in owner.items():
        of_root[k].append(i)
    return of_root, rest


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        return json.load(file)


def is_part(some, events):
    """Whether they are among the events, in their order."""
    rest = iter(events)
    return all(any(e == other for other in rest) for e in some)


def roots_of(events):
    known = [(e, detail(e["name"])) for e in events if e.get("cat") == "user_annotation"]
    best = min((d[0] for _, d in known if d), default=None)
    pairs = sorted(((e, d[1]) for e, d in known if d and d[0] == best),
                   key=lambda p: ns(p[0]["ts"]))
    return [p[0] for p in pairs], [p[1] for p in pairs]


def context_of(events, roots, of_root, numbers):
    """Annotations that begin before an iteration of the part and reach into it."""
    own = {i for k in numbers for i in of_root[k]}
    reach = [(i, ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for i, e in enumerate(events)
             if e.get("cat") == "user_annotation" and detail(e["name"]) is None]
    return [i for i, start, end in reach if i not in own and any(
        events[i]["pid"] == r["pid"] and start < ns(r["ts"]) + ns(r["dur"]) and end > ns(r["ts"])
        for r in (roots[k] for k in numbers))]


def figures_of(events, of_root, numbers):
    gpu = [[(ns(events[i]["ts"]), ns(events[i]["ts"]) + ns(events[i]["dur"]))
            for i in of_root[k] if events[i].get("cat") in GPU] for k in numbers]
    every = [s for spans in gpu for s in spans]
    return {
        "num_gpu_events": len(every),
        "gpu_duration": sum(max(b for _, b in s) - min(a for a, _ in s)
                            for s in gpu if s) / 1000,
        "gpu_busy_duration": union(every) / 1000,
        "gpu_sum": sum(b - a for a, b in every) / 1000}


def details(folder):
    with open(os.path.join(folder, "execution_details.json"), encoding="utf-8") as file:
        entries = json.load(file)
    with open(os.path.join(folder, "execution_details.csv"), encoding="utf-8") as file:
        return entries, list(csv.DictReader(file))


def flat(entry):
    """An entry of the JSON as a row of the CSV."""
    row = {k: v for k, v in entry.items() if k not in ("steps", "phase")}
    row["num_steps"] = len(entry["steps"])
    row.update(("phase_" + k, v) for k, v in entry["phase"].items())
    return {k: v if k == "output_path" else float(v) for k, v in row.items()}


def check(path, folder, mode, opt):
    events = load(path)["traceEvents"]
    base = os.path.basename(path).replace(".json.gz", "").replace(".json", "")
    roots, steps = roots_of(events)
    of_root, rest = events_of(events, roots)
    want = list(parts_of(mode, base, roots, steps, opt))
    got, rows = details(folder)
    bad = []
    for (idx, name, numbers), entry in zip(want, got):
        own = sorted([i for k in numbers for i in of_root[k]] + rest +
                     context_of(events, roots, of_root, numbers))
        figures = figures_of(events, of_root, numbers)
        figures.update(idx=idx, output_path=name + ".json.gz", event_count=len(own),
                       steps=[steps[i] for i in numbers],
                       phase=summary([steps[i] for i in numbers]))
        if figures != entry:
            bad.append((figures, entry))
        part = load(os.path.join(folder, entry["output_path"]))["traceEvents"]
        if [events[i] for i in own] != part:
            bad.append((name, len(own), len(part)))
    ok(want and len(want) == len(got) and not bad,
       "%s by %s: %d parts" % (os.path.basename(path), mode, len(want)),
       len(got), *bad[:2])
    ok([flat(e) for e in got] == [{k: v if k == "output_path" else float(v)
                                   for k, v in row.items()} for row in rows],
       "the CSV says the same as the JSON")


def reference(path, rows_dir, folder):
    """Names and figures are equal; what only ours has is counted."""
    with open(os.path.join(rows_dir, "execution_details.csv"), encoding="utf-8") as file:
        want = {r["output_path"]: r for r in csv.DictReader(file)}
    with open(os.path.join(rows_dir, "manifest.csv"), encoding="utf-8") as file:
        held = {r["file"]: r for r in csv.DictReader(file)}
    name = "/".join(rows_dir.split("/")[-3::2])
    events = load(path)["traceEvents"]
    rows = {r["output_path"]: r for r in details(folder)[1]}
    # a diffusion step is decode-like for us; the reference has no window of it
    more = [p for p in rows if p not in want]
    ok(all(p.startswith("decode_only_steady") and rows[p]["phase_num_decode"] == "0"
           for p in more) and len(more) == (MORE_PARTS.get(name, 0)),
       "%s: %d parts of ours only" % (name, len(more)), more)
    bad, excused = [], collections.Counter()
    for part, row in want.items():
        ours = rows.get(part)
        if ours is None:
            bad.append(part)
            continue
        for column, value in row.items():
            mine = ours["gpu_sum" if column == "gpu_busy_duration" else column]
            if column == "event_count":
                continue
            if column.startswith("gpu_"):
                if abs(float(mine) - float(value)) > 0.00501:
                    bad.append((part, column, mine, value))
            elif mine != value:
                bad.append((part, column, mine, value))
        own = load(os.path.join(folder, part))["traceEvents"]
        cats = collections.Counter(e.get("cat", e["ph"]) for e in own)
        theirs = collections.Counter(
            {k: int(v) for k, v in (c.split("=") for c in
                                    held[part]["events_by_category"].split(";"))})
        if theirs - cats or len(own) != int(ours["event_count"]) or \
                int(held[part]["events"]) != int(row["event_count"]):
            bad.append((part, cats, theirs))
        root = next(e for e in own if e["name"].startswith("execute_"))
        for e in own:
            if e["ph"] == "M":
                excused["metadata"] += "ts" in e
            elif e.get("cat") == "gpu_user_annotation":
                excused["gpu annotation"] += 1
            elif e["ph"] == "X" and e.get("cat") not in GPU and (
                    ns(e["ts"]) < ns(root["ts"]) or
                    ns(e["ts"]) + ns(e["dur"]) > ns(root["ts"]) + ns(root["dur"])):
                # all of it begins before the root ends and ends after it begins
                excused["reaches beyond"] += 1
        beyond = len(own) - int(row["event_count"])
        if beyond != sum(excused.values()):
            bad.append((part, "events beyond the reference's", beyond, dict(excused)))
        excused.clear()
        if not is_part(own, events):
            bad.append((part, "events that the trace lacks"))
    ok(want and not bad, "%s: %d rows as the reference's" % (name, len(want)), *bad[:3])


def main(argv):
    if argv[:1] == ["check"] and len(argv) >= 4:
        check(argv[1], argv[2], argv[3], dict(a.split("=") for a in argv[4:]))
    elif argv[:1] == ["reference"] and len(argv) == 4:
        reference(*argv[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print("1..%d" % COUNT)
    return FAILED > 0


sys.exit(main(sys.argv[1:]))
