#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""odd.py: tables of random odd traces against figures computed from their JSON.

    odd.py [-v] [FIRST LAST | TRACE...]

For each seed from FIRST to LAST (1 to 8) it makes a trace with oddtrace.py, and each
program's tables with options and selections that the seed draws. Every cell must
agree, times to the nanosecond. Rows of equal sums may be in any order if the page
does not define it. For a given TRACE it checks timelines and modules: the categories
of all ops are not known here.
"""
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

import oddtrace
from oddfacts import Facts
from oddtables import Kernels, modules, ops, timelines

SELECTIONS = [
    ("--step first", {"step": ("first", 0)}), ("--step 0-1", {"step": (0, 1)}),
    ("--annotation fwd", {"annotation": ("fwd", 0)}),
    ("--annotation fwd#2", {"annotation": ("fwd", 2)}),
    ("--annotation [fb]wd --step last", {"annotation": ("[fb]wd", 0), "step": ("last", 0)}),
    ("--min-dur 3us", {"min_dur": 3000}), ("--kind kernel", {"kind": ["kernel"]}),
    ("--kind memcpy,memset", {"kind": ["memcpy", "memset"]}), ("--dev 0", {"dev": [0]}),
    ("--gpu-stream 7,20-30", {"stream": [7, *range(20, 31)]}),
    ("--from 20us --to 200us", {"from": 20000, "to": 200000}),
    ("--step 0-3 --by-gpu-time", {"step": (0, 3), "by_gpu_time": True}),
    ("--annotation * --by-gpu-time", {"annotation": ("*", 0), "by_gpu_time": True}),
    ("--name *at::native*", {"name": "*at::native*"})]
MODULES = [(), ("min-time=0ns",), ("fold",), ("by-type",), ("bwd",),
           ("fold", "bwd", "min-time=0ns")]


def drawn(rnd, words, p):
    """some of the words {name: option}, and their options"""
    names = [w for w in words if rnd.random() < p]
    return names, [words[w] for w in names]


def timeline_checks(rnd, facts, options, o):
    for by in (None, "dev", "recompute", "step", "annotation"):
        o2, argv = dict(o), []
        x = rnd.random()
        if x < .3:
            o2["linked_only"], argv = True, ["--linked-only"]
        elif x < .6:
            o2["micro"], argv = 2000, ["--micro-idle", "2us"]
        yield (["tl-timeline"] + options + argv + (["--by", by] if by else []),
               timelines(facts, o2, by), None)


def ops_checks(rnd, facts, options, o):
    for by in ("category", "name", "args", "module", "annotation", "step", "thread"):
        o2, words = dict(o), {"recompute": "--recompute"}
        if by in ("category", "name", "args"):
            words["parent_module"] = "--parent-module"
        if by == "args":
            words.update(num_kernels="--num-kernels", overlap="--overlap",
                         first="--first-occurrence")
        how, argv = drawn(rnd, words, .4)
        table = rnd.choice(["gpu", "gpu", "all", "cpu"])
        if table != "gpu" and not {"num_kernels", "overlap", "first"} & set(how):
            argv += ["--all-ops"] if table == "all" else ["--clock", "cpu"]
        else:
            table = "gpu"
        if rnd.random() < .3:
            o2["include_comm"] = True
            argv.append("--include-comm")
        if by in ("name", "args", "thread"):
            argv += ["-c", "+details"]
        yield ["tl-ops", "--by", by] + options + argv, ops(facts, o2, by, table, how), None


def kernels_checks(rnd, facts, options, o, base):
    if rnd.random() < .3:
        o, options = {**o, "linked_only": True}, options + ["--linked-only"]
    k = Kernels(facts, o)
    # a selection without ops reads like a trace without any
    if o and not any(one.is_owned for one in k.list):
        return
    argv = ["tl-kernels", "-c", "+details"] + options
    us, keep, bins = rnd.choice([1, 3, 10]), rnd.random() < .5, rnd.choice([1, 3, 10, 100])
    short = argv + ["--short", "%dus" % us]
    yield argv, k.by_name(), ("name",)
    yield argv + ["--by", "launch-config"], k.by_config(), ("name", "grid", "block")
    yield argv + ["--by", "op"], k.by_op(), ("op_category", "op", "name", "gpu_stream")
    yield argv + ["--by", "event"], k.events(base), None
    yield (short + ["--table", "short_kernels_summary"] + ["--keep-unowned"] * keep,
           k.short(us * 1000, keep),
           ("op", "input_dims", "input_strides", "concrete_inputs", "name"))
    yield (short + ["--table", "short_kernel_histogram", "--bins", str(bins)],
           k.histogram(us * 1000, bins), None)


def checks(rnd, facts, base, is_drawn):
    for words, o in [("", {})] + rnd.sample(SELECTIONS, 3):
        options = words.split()
        yield from timeline_checks(rnd, facts, options, o)
        if not is_drawn:
            continue
        yield from ops_checks(rnd, facts, options, o)
        yield from kernels_checks(rnd, facts, options, o, base)
    for how in MODULES:
        yield (["tl-modules", "-c", "+details"] + ["--" + w for w in how],
               modules(facts, how), None)


# ---- comparison


def equal(got, want):
    if want == "any":
        return True
    if isinstance(got, (list, dict)) or isinstance(want, (list, dict)):
        if type(got) is not type(want) or len(got) != len(want):
            return False
        if isinstance(got, dict):
            return list(got) == list(want) and all(equal(got[k], want[k]) for k in got)
        return all(equal(a, b) for a, b in zip(got, want))
    if isinstance(got, float) or isinstance(want, float):
        return None not in (got, want) and (
            abs(got - want) <= 1e-9 * max(abs(got), abs(want), 1))
    return got == want


def descend(rows):
    """whether sums fall, and shares add up to the cumulative ones"""
    total = 0
    for a, b in zip(rows, rows[1:]):
        if b["dur_ns_sum"] > a["dur_ns_sum"]:
            return False
    for r in rows:
        total += r.get("pct_of_kernels") or 0
        if r.pop("cumulative_pct", None) is not None and total > 100 + 1e-6:
            return False
    return True


def differ(got, want, key):
    """the difference in words, or None; columns that want lacks are ignored, except in the
    first row"""
    if key is not None:
        if not descend(got):
            return "order"
        got, want = (sorted(rows, key=lambda r: json.dumps([r.get(k) for k in key]))
                     for rows in (got, want))
    if len(got) != len(want):
        return "%d rows instead of %d" % (len(got), len(want))
    for i, (g, w) in enumerate(zip(got, want)):
        for k in w:
            if k in g and not equal(g[k], w[k]):
                return "row %d, %s: %r instead of %r" % (i, k, g[k], w[k])
        for k in set(g) - set(w):
            if g[k] is not None and k not in ("rank", "ts_ns"):
                return "row %d: a further column %s: %r" % (i, k, g[k])
        if len(set(g) & set(w)) < len(w) / 2:
            return "row %d: columns %s" % (i, list(g))
    return None


def table(argv):
    """(status, rows, errors); with nulls, so that all rows have all columns"""
    p = subprocess.run(argv, capture_output=True, check=False)
    rows = []
    if p.returncode in (0, 3):
        lines = p.stdout.decode().splitlines()
        names = [c["id"] for c in json.loads(lines[0])["columns"]]
        rows = [{n: None for n in names} | json.loads(line) for line in lines[1:-1]]
    return p.returncode, rows, p.stderr.decode(errors="replace").strip()


def base_of(tree):
    """what --abs adds to times; status 3: events were skipped"""
    texts = [subprocess.run(["tl-cat", *abs_, "-F", "ts", "--no-header", tree], check=False,
                            capture_output=True, text=True).stdout for abs_ in (["--abs"], [])]
    return next((int(a) - int(b) for a, b in zip(*(t.split("\n") for t in texts)) if a and b), 0)


def one(seed):
    """seed: a number to draw a trace from, or the name of a trace"""
    bad, n, is_drawn = [], 0, isinstance(seed, int)
    with tempfile.TemporaryDirectory() as tmp:
        trace, tree = os.path.join(tmp, "t.json"), os.path.join(tmp, "t.tl")
        if is_drawn:
            oddtrace.write(trace, seed)
        else:
            trace = seed
        subprocess.run(["tl-tree", "-o", tree, trace], check=False, stderr=subprocess.DEVNULL)
        facts = Facts(trace)
        for argv, want, key in checks(random.Random(os.path.basename(str(seed))), facts, base_of(tree), is_drawn):
            n += 1
            rc, got, err = table(argv + ["--format", "ndjson", tree])
            nothing = not want or [r.get("type") for r in want] == ["Non-nn.Module GPU Ops"]
            why = (err if not nothing else None) if rc in (1, 5) else differ(
                got, want, key)
            if why:
                bad.append("%s: %s: %s" % (seed, " ".join(argv), why))
    return seed, n, bad


def main():
    words = [a for a in sys.argv[1:] if a != "-v"] or ["1", "8"]
    seeds = range(int(words[0]), int(words[1]) + 1) if words[0].isdigit() else words
    print("1..%d" % len(seeds), flush=True)
    failed = 0
    with multiprocessing.Pool(2) as pool:
        for i, (seed, n, bad) in enumerate(pool.imap(one, seeds, 1), 1):
            failed += bool(bad)
            print("%sok %d - trace %s: %d tables" % ("not " if bad else "", i,
                                                       os.path.basename(str(seed)), n), flush=True)
            for line in bad if "-v" in sys.argv else bad[:4]:
                print("# " + line[:600])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
