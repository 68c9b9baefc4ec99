#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oddtables.py: rows of the tables, as the pages describe them, from oddfacts.py."""
import copy
import json
import re
import statistics
from fractions import Fraction

import timeline
from oddfacts import (KIND, argument, above, busy, category, device, first, is_module, is_op,
                      module_of, share, stats, stream)

THREAD = ("process_name", "process_label", "thread_name")
ARGS = (("input_dims", "Input Dims"), ("input_types", "Input type"),
        ("input_strides", "Input Strides"), ("concrete_inputs", "Concrete Inputs"))
OUTSIDE = "Non-nn.Module GPU Ops"


def grouped(items, key):
    out = {}
    for i in items:
        out.setdefault(json.dumps(key(i)), []).append(i)
    return list(out.values())


# ---- tl-timeline


def gaps_in(windows, all_):
    """between intervals of a window, and from them to its ends"""
    out = []
    for start, end in windows:
        at = start
        for a, b in all_:
            if start <= a < end:
                out.append(a - at)
                at = b
        out.append(end - at)
    return [x for x in out if x > 0]


def figures(events, o, windows=None):
    sets = {c: timeline.union((g.ts, g.end) for g in events if timeline.bucket(g) == c)
            for c in "KCM"}
    all_ = timeline.union((g.ts, g.end) for g in events)
    exposed = timeline.minus(timeline.minus(sets["M"], sets["K"]), sets["C"])
    length = lambda u: sum(b - a for a, b in u)
    windows = windows or [(all_[0][0], all_[-1][1])]
    total = length(windows)
    gaps = gaps_in(windows, all_)
    rows = {"computation_time": length(sets["K"]),
            "exposed_comm_time": length(timeline.minus(sets["C"], sets["K"])),
            "exposed_memcpy_time": length(exposed), "busy_time": length(all_)}
    if "micro" in o:
        rows["micro_idle_time"] = sum(x for x in gaps if x < o["micro"])
        rows["macro_idle_time"] = sum(x for x in gaps if x >= o["micro"])
    else:
        rows["idle_time"] = total - length(all_)
    rows.update(total_time=total, total_comm_time=length(sets["C"]),
                total_memcpy_time=length(sets["M"]))
    if "linked_only" not in o:
        rows["unlinked_time"] = busy(g for g in events if g.launch is None)
    return [{"type": k, "time_ns": v, "percent": share(v, total)} for k, v in rows.items()]


def key_of(facts, g, o, by):
    at = facts.when(g, o)
    if by == "dev":
        return device(g)
    if by == "recompute":
        return g.recompute
    if by is None or at is None:
        return None
    return facts.note_at(*at)


def clipped(g, start, end):
    part = copy.copy(g)
    part.ts, part.end = max(g.ts, start), min(g.end, end)
    return part


def without(o, *options):
    return {k: v for k, v in o.items() if k not in options}


def parts_in(g, windows):
    return [clipped(g, w[0], w[1]) for w in windows
            if g.ts < w[1] and (g.end > w[0] or g.ts == w[0])]


def of_steps(facts, o, by, asked):
    """by the clock: all of the time of steps, whoever launched their work"""
    groups = {}
    for g in facts.chosen(without(o, "step", "annotation")):
        at, parts = facts.when(g, o), parts_in(g, asked)
        if parts or at is not None and any(
                a <= at[1] < b and p == at[0][0] for a, b, p in asked):
            groups.setdefault(key_of(facts, g, o, by), []).extend(parts)
    time = timeline.union(w[:2] for w in asked)
    return [{**({by: k} if by else {}), **r}
            for k in sorted(groups, key=lambda k: (k is None, isinstance(k, str), k or 0))
            for r in figures(groups[k], o, time)]


def by_step(facts, o):
    """by the clock: all of a step's time, whoever launched its work"""
    asked = facts.asked_steps(o)
    events = facts.chosen(without(o, "step", *(["annotation"] if "step" not in o and asked else [])))
    if not events:
        return []
    groups = {}
    known = {facts.step_at(g.launch.ts, g.launch.pid) for g in facts.gpu
             if g.launch is not None and g.launch.ts is not None and not o.get("by_gpu_time")}
    for w in facts.all_steps:
        if asked is not None and (w.number is None or (w.start, w.end, w.pid) not in asked):
            continue
        mine = groups.setdefault("between" if w.number is None else w.number, ([], []))
        mine[1].append((w.start, w.end))
        if any(parts_in(g, [w]) for g in facts.gpu):
            known.add(w.number)
        mine[0].extend(part for g in events for part in parts_in(g, [w]))
    rows = [{"step": k, **r} for k in sorted(groups, key=lambda k: (isinstance(k, str), k))
            for r in figures(groups[k][0], o, timeline.union(groups[k][1]))]
    for r in rows:  # without GPU work in it or launched by it
        if isinstance(r["step"], int) and r["step"] not in known:
            r.update(flags="no-gpu-event")
    if asked is not None:
        return rows
    steps = timeline.union((w.start, w.end) for w in facts.all_steps)
    outside = [clipped(g, a, b) for g in events
               for a, b in (timeline.minus([(g.ts, g.end)], steps) if steps else [(g.ts, g.end)])]
    if outside:
        span = [(min(g.ts for g in events), max(g.end for g in events))]
        rows += [{"step": None, **r} for r in
                 figures(outside, o, timeline.minus(span, steps) if steps else span)]
    return rows


def apart(facts, events, o):
    """from the first to the last event of each window; adjacent windows are one"""
    if "annotation" not in o:
        return None
    asked = timeline.union((a, b) for w in facts.windows({"annotation": o["annotation"]}) for a, b, _ in w)
    spans = {}
    for g in events:
        t = facts.when(g, o)[1]
        k = max(a for a, _ in asked if a <= t)
        start, end = spans.get(k, (g.ts, g.end))
        spans[k] = min(start, g.ts), max(end, g.end)
    return timeline.union(spans.values())


def timelines(facts, o, by):
    if by == "step":
        return by_step(facts, o)
    groups, asked = {}, facts.asked_steps(o)
    if asked is not None and by in (None, "dev") and "from" not in o and \
            not ("step" in o and "annotation" in o):
        return of_steps(facts, o, by, asked)
    for g in facts.chosen(o):
        groups.setdefault(key_of(facts, g, o, by), []).append(g)
    by_time = by == "annotation"
    order = sorted(groups, key=lambda k: (
        k is None, isinstance(k, str), min(g.ts for g in groups[k]) if by_time else k or 0))
    column = {"recompute": "is_recompute"}.get(by, by)
    return [{**({column: k} if by else {}), **r} for k in order
            for r in figures(groups[k], o, apart(facts, groups[k], o))]


# ---- tl-ops


def details(lists, with_share=False):
    """lists of (name, stream, ns[, share]) of calls, position by position"""
    like = first(x for x in lists if x)
    if like is None:
        return None, None
    same = [x for x in lists if len(x) == len(like)]
    out = []
    for i, x in enumerate(like):
        ns = [c[i][2] for c in same]
        row = {"name": x[0], "stream": x[1], **({"overlap_pct": x[3]} if with_share else {}),
               "count": len(ns), "total_duration_us": sum(ns) / 1e3,
               "mean_duration_us": sum(ns) / len(ns) / 1e3,
               "median_duration_us": statistics.median(ns) / 1e3,
               "std_dev_duration_us": statistics.pstdev(ns) / 1e3,
               "min_duration_us": min(ns) / 1e3, "max_duration_us": max(ns) / 1e3}
        names = len({c[i][0] for c in same})
        if names > 1 and not with_share:
            row["names"] = names
        out.append((sum(ns), x[0].encode(), i, row))
    rows = [x[3] for x in sorted(out, key=lambda x: x[:3])]
    return rows, [{"name": r["name"][:64] + ("..." if len(r["name"]) > 64 else ""),
                   "stream": r["stream"], "mean_duration_us": round(r["mean_duration_us"], 2)}
                  for r in rows]


def words_of(c, by):
    if by == "args":
        return {"name": c.e.name, "op_category": c.category, **dict(zip(THREAD, c.thread)),
                **{k: argument(c.e, a) for k, a in ARGS}}
    if by == "thread":
        return dict(zip(THREAD, c.thread))
    return {"category": {"op_category": c.category}, "name": {"name": c.e.name},
            "module": {"module": c.module}, "annotation": {"annotation": c.annotation},
            "step": {"step": c.step}}[by]


def more_words(c, how):
    out = {}
    if "overlap" in how:
        out["overlapping_kernel_names"] = c.beside_names
    if "num_kernels" in how:
        out["num_kernels"] = len(c.work)
    if "recompute" in how:
        out["is_recompute"] = c.e.recompute
    if "parent_module" in how:
        out["parent_module"] = c.type
    return out


def args_figures(calls, how, start):
    ns = [[(k.name, stream(k), k.end - k.ts) for k in c.work] for c in calls]
    row = {"operation_count": len(calls), "first_uid": calls[0].e.id,
           **stats([c.direct for c in calls], "direct_ns"),
           **stats([c.subtree for c in calls], "subtree_ns")}
    row["kernel_details_summary"], row["trunc_kernel_details"] = details(ns)
    if "first" in how:
        row["first_occurrence_ns"] = calls[0].e.ts - start
    if "overlap" in how:
        found, short = details([c.beside for c in calls], True)
        row.update(overlapping_kernels_details_summary=found,
                   trunc_overlapping_kernels_details=short)
        shares = [c.beside_share for c in calls if c.beside_share is not None]
        if shares:
            row.update(stats(shares, "overlap_pct", False))
            if len(shares) == 1:
                row["overlap_pct_std"] = "any"  # 0 as in the reference
    return row


def ops_figures(calls, by, table, how, start):
    direct, subtree = sum(c.direct for c in calls), sum(c.subtree for c in calls)
    n = len(calls)
    if table == "all":
        return {"count": n, "launching_count": sum(bool(c.work) for c in calls),
                "subtree_ns_sum": subtree, "subtree_ns_mean": subtree / n,
                "direct_ns_sum": direct}
    if table == "cpu":
        total = sum(c.total for c in calls)
        return {"count": n, "cpu_self_ns": sum(c.self for c in calls), "cpu_total_ns": total,
                "cpu_total_ns_mean": total / n, "subtree_ns_sum": subtree}
    if by == "category":
        return {"count": n, "direct_ns_sum": direct}
    if by == "args":
        return args_figures(calls, how, start)
    row = {"count": n, "direct_ns_sum": direct}
    if by == "name":
        row.update(subtree_ns_sum=subtree, direct_ms_sum=direct / 1e6,
                   subtree_ms_sum=subtree / 1e6, categories=sorted({c.category for c in calls}))
    return row


RANK = {"gpu": ("direct", "pct_of_direct"), "all": ("subtree", "pct_of_busy"),
        "cpu": ("self", "pct_of_self")}


def ops(facts, o, by, table="gpu", how=()):
    calls = [c for c in facts.calls(o, table != "gpu") if table != "cpu" or c.is_op]
    if "overlap" in how:
        besides = facts.besides(o)
        for c in calls:
            facts.set_beside(c, besides)
    attr, pct = RANK[table]
    whole = sum(getattr(c, attr) for c in calls) if table != "all" else busy(
        g for g in facts.chosen(o, names=False) if g.launch is not None)
    start = min((c.e.ts for c in calls if c.e.ts is not None), default=0)
    rows = []
    for group in grouped(calls, lambda c: [words_of(c, by), more_words(c, how)]):
        c, words = group[0], words_of(group[0], by)
        rank = sum(getattr(x, attr) for x in group)
        word = first(words.values())
        tie = ((word is not None, (word or "").encode())
               if by in ("category", "name", "module") else c.e.id)
        lead = (word is None, isinstance(word, str), word or 0) if by == "step" else 0
        row = {**words, **more_words(c, how), **ops_figures(group, by, table, how, start),
               pct: share(rank, whole)}
        rows.append((lead, -rank, tie, "recompute" in how and c.e.recompute,
                     "parent_module" in how and c.type.encode(), row))
    rows.sort(key=lambda x: x[:5])
    total = 0
    for r in rows:
        total -= r[1]
        if table != "all":
            r[5]["cumulative_pct"] = share(total, whole)
    return [r[5] for r in rows]


# ---- tl-kernels


class Kernel:
    def __init__(self, facts, g, direct, has_ops):
        self.g, self.ns = g, g.end - g.ts
        op = first(a for a in above(g) if a.cat == "cpu_op")
        self.op, self.category, self.is_owned = None, None, op is not None
        if op is not None:
            work = sorted(direct.get(op.id, ()), key=lambda x: (x.ts, x.id))
            self.op, self.category = op.name, category(op.name, work[0].name if work else None)
        elif g.launch is not None:
            name = g.launch.name.lower()
            self.op = g.launch.name if has_ops else None
            self.category = "graph" if re.search("cudagraph|graphlaunch", name) else "runtime"
        self.args = {k: argument(op, a) if op is not None else None for k, a in ARGS}
        self.module = module_of(g)


class Kernels:
    def __init__(self, facts, o):
        self.work = facts.chosen(o)
        self.has_ops = any(is_op(e) for e in facts.trace.events)
        direct = {}
        for g in self.work:
            if g.launch is not None and timeline.bucket(g) != "C":
                direct.setdefault(facts.owner(g).id, []).append(g)
        self.list = [Kernel(facts, g, direct, self.has_ops) for g in self.work
                     if KIND[g.cat] == "kernel"]
        self.sum = sum(k.ns for k in self.list)
        self.total = (max(g.end for g in self.work) - min(g.ts for g in self.work)
                      if self.work else 0)

    def rows(self, kernels, key):
        for group in grouped(kernels, key):
            row = {**key(group[0]), "count": len(group), **stats([k.ns for k in group], "dur_ns")}
            row["pct_of_kernels"] = share(row["dur_ns_sum"], self.sum)
            row["pct_of_total"] = share(row["dur_ns_sum"], self.total)
            yield row

    def by_name(self):
        return list(self.rows(self.list, lambda k: {"name": k.g.name}))

    def by_config(self):
        def key(k):
            return {"name": k.g.name, "grid": argument(k.g, "grid"),
                    "block": argument(k.g, "block")}

        rows = list(self.rows(self.list, key))
        for row in rows:
            ns = [k.ns for k in self.list if key(k) == {n: row[n] for n in key(k)}]
            row["dur_ns_std_all"] = statistics.pstdev(ns)
        return rows

    def by_op(self):
        return list(self.rows(self.list, lambda k: {
            "op_category": k.category, "op": k.op, "name": k.g.name, "gpu_stream": stream(k.g)}))

    def short(self, limit, keep):
        some = [k for k in self.list if k.ns < limit]
        names = ("input_dims", "input_strides", "concrete_inputs")
        if self.has_ops and not keep:
            some = [k for k in some
                    if k.is_owned and None not in [k.args[n] for n in names]]
        return list(self.rows(some, lambda k: {
            "op": k.op, **{n: k.args[n] for n in names}, "name": k.g.name}))

    def histogram(self, limit, bins):
        ns = [k.ns for k in self.list if k.ns < limit]
        if not ns:
            return []
        low, high = Fraction(min(ns)), Fraction(max(ns))
        if low == high:
            low, high = low - 500, high + 500
        edges = [low + (high - low) * i / bins for i in range(bins + 1)]
        return [{"bin_start_ns": float(a), "bin_end_ns": float(b),
                 "count": sum(a <= x < b or x == b == high for x in ns)}
                for a, b in zip(edges, edges[1:])]

    def module_figures(self, k):
        below = [g for g in self.work if k.module in above(g)]
        n = sum(KIND[g.cat] == "kernel" for g in below)
        return {"module": k.module.name, "module_uid": k.module.id, "module_kernels": n,
                "module_busy_ns": busy(below),
                "pct_of_module": 100.0 if n == 1 else share(k.ns, busy(below))}

    def events(self, base):
        return [{"id": k.g.id, "name": k.g.name, "op": k.op, "op_category": k.category,
                 "input_dims": k.args["input_dims"], "ts_ns": k.g.ts - base, "dur_ns": k.ns,
                 "queue_delay_ns": k.g.ts - k.g.launch.end if k.g.launch else None,
                 "grid": argument(k.g, "grid"), "block": argument(k.g, "block"),
                 "dev": device(k.g), "gpu_stream": stream(k.g), "corr": k.g.arg("correlation"),
                 **(self.module_figures(k) if k.module is not None else {})}
                for k in sorted(self.list, key=lambda k: (k.g.ts, k.g.id))]


# ---- tl-modules


def short_name(name):
    return name[11:] if name.startswith("nn.Module: ") else name


def type_of(name):
    return re.sub(r"(?<=.)_\d+$", "", short_name(name))


class Module:
    def __init__(self, e):
        self.e, self.up, self.work, self.own, self.bwd = e, None, [], [], []
        self.has_below = False


def calls_of_modules(facts):
    mods = {e.id: Module(e) for e in facts.trace.order if is_module(e)}
    outside = []
    for m in mods.values():
        m.up = first(a.id for a in above(m.e) if a.id in mods)
        if m.up is not None:
            mods[m.up].has_below = True
    for g in facts.gpu:
        inside = [mods[a.id] for a in above(g) if a.id in mods]
        for m in inside:
            m.work.append(g)
        (inside[0].own if inside else outside).append(g)
        back = first(a for a in above(g) if a.fwd is not None)
        for a in above(back.fwd) if back is not None else ():
            if a.id in mods:
                mods[a.id].bwd.append(g)
    return mods, outside


def busy_of_gpus(gpu):
    """of each GPU, summed"""
    by = {}
    for g in gpu:
        by.setdefault(device(g), []).append(g)
    return sum(busy(of) for of in by.values())


def module_row(calls, how, whole):
    ns = [busy(m.work) for m in calls]
    e = calls[0].e
    inner = [busy(m.own) for m in calls if m.has_below]
    row = {"type": type_of(e.name), "pct_of_busy": share(sum(ns), whole),
           "kernels": sum(KIND[g.cat] == "kernel" for m in calls for g in m.work),
           "non_module_ns": sum(inner) if inner else None}
    if "bwd" in how:
        row["bwd_ns"] = sum(busy(m.bwd) for m in calls)
    if "fold" in how or "by-type" in how:
        return {**row, "instances": len({m.e.name for m in calls}), "count": len(calls),
                "gpu_ns_sum": sum(ns), "gpu_ns_mean": sum(ns) / len(ns), "gpu_ns_min": min(ns),
                "gpu_ns_max": max(ns), "self_ns_sum": sum(busy(m.own) for m in calls)}
    number = re.search(r"(?<=.)_(\d+)$", short_name(e.name))
    return {**row, "module": short_name(e.name), "uid": e.id, "parent_uid": calls[0].up,
            "instance": int(number.group(1)) if number else None, "cpu_ns": e.end - e.ts,
            "gpu_ns": ns[0], "self_ns": busy(calls[0].own)}


def modules(facts, how):
    """how: words of options; min-time=0ns, fold, by-type, bwd"""
    mods, outside = calls_of_modules(facts)
    whole, fold, by_type = busy_of_gpus(facts.gpu), "fold" in how, "by-type" in how
    if any(len({device(g) for g in m.work}) > 1 for m in mods.values()):
        whole = 0  # a union over GPUs is no part of their sum
    node_of, nodes = {}, {}
    for i, m in mods.items():
        up = node_of[m.up] if m.up is not None and not by_type else None
        key = (up, type_of(m.e.name)) if fold or by_type else i
        node_of[i] = key
        nodes.setdefault(key, (up, []))[1].append(m)
    rows = []

    def put(key, depth, path, root):
        up, calls = nodes[key]
        ns = sum(busy(m.work) for m in calls)
        if ns == 0 and "min-time=0ns" not in how:
            return
        name = calls[0].e.name
        path = path + [type_of(name) if fold else short_name(name)]
        row = module_row(calls, how, whole)
        if not by_type:
            above_ns = sum(busy(m.work) for m in nodes[up][1]) if up is not None else 0
            row.update(depth=depth, path="/".join(path), pct_of_parent=share(ns, above_ns),
                       pct_of_root=share(ns, ns if root is None else root))
        rows.append(row)
        for k, node in nodes.items():
            if node[0] == key:
                put(k, depth + 1, path, ns if root is None else root)
    roots = [k for k, node in nodes.items() if node[0] is None]
    if by_type:
        roots.sort(key=lambda k: -sum(busy(m.work) for m in nodes[k][1]))
    for k in roots:
        put(k, 0, [], None)
    ns = busy_of_gpus(outside)
    if mods and ns:
        row = {"type": OUTSIDE, "pct_of_busy": share(ns, whole),
               "kernels": sum(KIND[g.cat] == "kernel" for g in outside)}
        if not by_type:
            row.update(depth=0, path=OUTSIDE)
        row.update({"gpu_ns_sum": ns, "self_ns_sum": ns} if fold or by_type
                   else {"module": OUTSIDE, "gpu_ns": ns, "self_ns": ns})
        rows.append(row)
    return rows
