#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic.py: traces that are JSON, and wrong in one member of one kind of event.

    semantic.py [--sample N] [--write] TABLE

Every member of every kind of event below goes missing, becomes null, of another
type or extreme, or is given twice; in one event of the kind and in all of them. For
each such trace the tables must have the figures that kineto.py, oddfacts.py and
oddtables.py compute from the same file, and the programs must exit as `expected`
below says. TABLE has each outcome: a row per kind and member, a column per mutation;
one event, then all, separated by a slash:

    =   exit 0, and every table is that of the trace before
    ~   exit 0, and other figures: the file has other valid contents
    t d p c   exit 3: skipped for lack of a time, duration (a negative one is none), phase,
        category
    u   exit 3: unlinked, as calls share an id or can't launch
    o   exit 3: a range that does not end
    m   exit 3: packets that lack required fields
    v   exit 3: host events that overlap others are not in the tree
    1   exit 1: no file of that format
    0   exit 5: no GPU event with a start is left
    -   the member does not exist for this mutation

--sample N takes every Nth of them; --write makes TABLE anew. A difference between
figures never goes into TABLE: it fails.
"""
import decimal
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import kineto
import odd
import oddtables
import windows
from oddfacts import Facts

# ---- the trace: lists of (member, JSON text), nested for args


def event(cat, name, pid, tid, ts, dur, args=(), ph="X"):
    out = [("ph", '"%s"' % ph), ("cat", '"%s"' % cat), ("name", json.dumps(name)),
           ("pid", str(pid)), ("tid", str(tid)), ("ts", ts)]
    return out + ([("dur", dur)] if dur is not None else []) + ([("args", list(args))] if args else [])


def step(n, t):
    """a step from t us on, its correlation ids from 10 n on"""
    def at(us):
        return "%d.%03d" % (t + us, n)

    def gpu(cat, name, corr, us, dur, stream="7", **more):
        return event(cat, name, 0, stream, at(us), dur, [
            ("device", "0"), ("stream", stream), ("correlation", str(10 * n + corr)),
            ("External id", str(n)), *more.items()])

    def call(name, corr, us, dur):
        return event("cuda_runtime", name, 1, 1, at(us), dur,
                     [("correlation", str(10 * n + corr)), ("External id", str(n))])
    dims = [("External id", str(n)), ("Sequence number", str(n)),
            ("Input Dims", "[[4, 8], [8, 2]]"), ("Input type", '["float", "float"]')]
    return [
        event("user_annotation", "ProfilerStep#%d" % n, 1, 1, at(0), "900"),
        event("user_annotation", "fwd", 1, 1, at(5), "400"),
        event("python_function", "nn.Module: Linear_0", 1, 1, at(10), "300.25",
              [("Python id", str(n)), ("Python module id", "0")]),
        event("cpu_op", "aten::mm", 1, 1, at(20), "60", dims),
        call("cudaLaunchKernel", 1, 30, "9.5"),
        event("cpu_op", "aten::copy_", 1, 1, at(100), "50", [("External id", str(100 + n))]),
        call("cudaMemcpyAsync", 2, 110, "20"),
        call("cudaMemsetAsync", 3, 330, "11"),
        event("cpu_op", "aten::sum", 1, 1, at(420), "70", [("External id", str(200 + n))]),
        call("cudaLaunchKernel", 4, 425, "8"),
        call("cudaDeviceSynchronize", 5, 600, "200"),
        gpu("kernel", "gemm_kernel", 1, 40, "101.004", grid="[4, 1, 1]", block="[128, 1, 1]"),
        gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 2, 150, "30", bytes="4096"),
        gpu("gpu_memset", "Memset (Device)", 3, 345, "12.5", bytes="512"),
        gpu("kernel", "ncclDevKernel_AllReduce", 4, 440, "300", stream="9"),
        event("gpu_user_annotation", "fwd", 0, 7, at(40), "140"),
        event("ac2g", "ac2g", 1, 1, at(30), None, ph="s") + [("id", str(10 * n + 1))],
        event("ac2g", "ac2g", 0, 7, at(40), None, ph="f") + [("id", str(10 * n + 1))],
        event("mine", "counter", 1, 0, at(50), None, [("bytes", "7")], ph="C"),
        event("mine", "mark", 1, 1, at(60), None, ph="i"),
    ]


def trace():
    return [event("__metadata", "process_name", 1, 0, "0", None, [("name", '"python"')], ph="M"),
            *step(1, 1000), *step(2, 2000), *step(3, 3000)]


def member_text(v):
    return "{%s}" % ", ".join('"%s": %s' % (k, member_text(x)) for k, x in v) \
        if isinstance(v, list) else v


def text(events):
    return '{"traceEvents": [\n%s]}\n' % ",\n".join(member_text(e) for e in events)


# ---- the mutations: (old text) -> new texts; none: missing, two: given twice

MUTATIONS = {
    "missing": lambda old: [], "null": lambda old: ["null"], "true": lambda old: ["true"],
    "word": lambda old: ['"soon"'], "empty": lambda old: ['""'], "list": lambda old: ["[1]"],
    "object": lambda old: ['{"a": 1}'], "text": lambda old: [json.dumps(old.strip('"'))],
    "negative": lambda old: ["-1"], "huge": lambda old: ["9e18"], "beyond": lambda old: ["1e400"],
    "nan": lambda old: ["NaN"], "infinite": lambda old: ["-Infinity"],
    "again": lambda old: ["3", old], "changed": lambda old: [old, "2"],
    "parts": lambda old: ['"foo,%s"' % old.strip('"')], "unknown": lambda old: ['"?"'],
    "shared": lambda old: ["25"],
}
ONLY = {"parts": ("cat",), "unknown": ("ph", "cat", "name"),
        "shared": ("args.correlation",)}
# for members that are neither kind nor time, each type once
FEW = ("missing", "null", "word", "list", "text", "negative", "huge", "changed")
WHOLE = ("ph", "cat", "ts", "dur", "args.correlation", "args.stream")
KINDS = ["kernel", "gpu_memcpy", "cuda_runtime", "cpu_op", "python_function",
         "user_annotation", "gpu_user_annotation", "ac2g", "mine", "__metadata"]


def mutated(kind, member, mutation, every):
    out, done = [], False
    for e in trace():
        if dict((k, v) for k, v in e if k != "args")["cat"] != '"%s"' % kind or (
                done and not every):
            out.append(e)
            continue
        done = True
        out.append(mutate(e, member.split("."), MUTATIONS[mutation]))
    return text(out)


def mutate(members, path, mutation):
    out = []
    for k, v in members:
        if k != path[0]:
            out.append((k, v))
        elif len(path) > 1:
            out.append((k, mutate(v, path[1:], mutation)))
        else:
            out += [(k, x) for x in mutation(
                v if isinstance(v, str) else '{"stream": "7"}')]
    return out


def cases():
    first = {}
    for e in trace():
        first.setdefault(dict(x for x in e if x[0] != "args")["cat"].strip('"'), e)
    for kind in KINDS:
        for k, v in first[kind]:
            for member in [k] + (["args." + a for a, _ in v] if isinstance(v, list) else []):
                for mutation in MUTATIONS:
                    if member in ONLY.get(mutation, (member,)) and (
                            member in WHOLE or mutation in FEW):
                        yield kind, member, mutation


# ---- what to expect, from the mutated file

LIMIT = 1 << 62
TIMED = kineto.GPU | kineto.LAUNCH | kineto.ANNOTATIONS | {"cpu_op", "python_function"}
PHASES = set("XBEiIsftMCbenNODSTpFPvVRcaA()")


class Constant(float):
    def __new__(cls, text):
        out = super().__new__(cls, text)
        out.text = text
        return out


def exponent(v):
    """of a decimal beyond int64: 10e399 is 1e400"""
    _, digits, exp = v.normalize(decimal.Context(prec=20)).as_tuple()
    return "%se%d" % ("".join(map(str, digits)), exp)


def parsed(path):
    """with our rules for what Python holds otherwise: times out of range are none, the first
    known category of a list counts, constants that are no JSON are null"""
    with open(path, encoding="utf-8") as f:
        doc = json.load(f, parse_float=decimal.Decimal, parse_constant=Constant)
    for e in doc["traceEvents"]:
        for k in ("ts", "dur"):
            n = kineto.number(e.get(k))
            if n is not None and abs(n) * 1000 >= LIMIT:
                e[k] = None
        for k in ("pid", "tid"):
            if isinstance(e.get(k), bool):
                e[k] = str(e[k])
            elif isinstance(e.get(k), Constant):
                e[k] = e[k].text
        args = e["args"] if isinstance(e.get("args"), dict) else {}
        for k in ("device", "stream"):
            if isinstance(args.get(k), Constant):
                args[k] = args[k].text
            elif isinstance(kineto.same(args.get(k)), int) and not isinstance(args[k], bool):
                n = kineto.same(args[k])  # beyond int64 its text counts
                args[k] = n if abs(n) < 1 << 63 else exponent(args[k])
            elif not isinstance(args.get(k, ""), str):
                args[k] = None
        if not isinstance(e.get("name"), str):
            e["name"] = ""
        if not isinstance(e.get("cat", ""), str):
            e["cat"], e["bad"] = None, e["cat"] is not None
        if isinstance(e.get("cat"), str) and "," in e["cat"]:
            e["cat"] = next((c for c in e["cat"].split(",") if c in TIMED), e["cat"])
    return doc


def expected(doc, t):
    """the letters of the warnings, from the file"""
    why = set()
    for e, raw in zip(t.events, doc["traceEvents"]):
        ph, cat = raw.get("ph"), e.cat
        if not isinstance(ph, str) or ph not in PHASES:
            why |= {"p"} if cat in TIMED else set()
            continue
        if ph != "X":
            continue
        if not raw.get("cat"):
            if raw.get("bad") or "correlation" in e.args:
                why.add("c")
        elif cat in TIMED and e.ts is None:
            why.add("t")
        elif cat in TIMED and kineto.number(raw.get("dur")) is None:
            why.add("d")
        if "clamped" in e.flags:
            why.add("d")
    calls = {}
    for e in t.launches:
        calls.setdefault(e.arg("correlation"), []).append(e)
    for g in t.gpu:
        if g.launch is None and t.key == "correlation" and calls.get(g.arg("correlation")):
            why.add("u")
    return why


# ---- one mutant

TABLES = [["tl-timeline"], ["tl-timeline", "--by", "step"],
          ["tl-kernels", "--by", "launch-config"], ["tl-ops", "--by", "args"]]
KEYS = {"tl-kernels": ("name", "grid", "block")}


def wanted(facts, argv):
    if argv[0] == "tl-timeline":
        return oddtables.timelines(facts, {}, argv[2] if len(argv) > 1 else None)
    if argv[0] == "tl-kernels":
        return oddtables.Kernels(facts, {}).by_config()
    return oddtables.ops(facts, {}, "args")


def named(rows):
    """no name is the same as an empty one"""
    return [{**r, "name": r["name"] or ""} if "name" in r else dict(r) for r in rows]


def outcome(path, tree):
    """(what differs or None, letters, tables)"""
    p = subprocess.run(["tl-tree", "-o", tree, path], capture_output=True, check=False, text=True)
    if p.returncode not in (0, 3):
        return "tl-tree: exit %d: %s" % (p.returncode, p.stderr), "", None
    doc = parsed(path)
    why = expected(doc, kineto.Trace(doc=doc).link())
    for e in doc["traceEvents"]:  # without a length nothing is in it
        if e.get("cat") in kineto.ANNOTATIONS and kineto.number(e.get("dur")) is None:
            e["ts"] = None
    facts = Facts(doc)
    facts.all_steps = facts.all_steps or windows.inferred(facts.trace.events, tree)
    if p.returncode != (3 if why else 0):
        return "tl-tree: exit %d instead of %s: %s" % (p.returncode, why, p.stderr), "", None
    tables, statuses = [], set()
    for argv in TABLES:
        rc, got, err = odd.table(argv + ["-c", "+details", "--format", "ndjson", tree])
        tables.append(got)
        want = wanted(facts, argv)
        statuses.add(rc)
        if rc not in ((5,) if not want else (3,) if why else (0,)):
            return "%s: exit %d, %d rows: %s" % (" ".join(argv), rc, len(want), err), "", None
        if want:
            bad = odd.differ(named(got), named(want), KEYS.get(argv[0]))
            if bad:
                return "%s: %s" % (" ".join(argv), bad), "", None
    if statuses == {5}:
        why = {"0"}
    return None, "".join(sorted(why)), tables


def put_text(content, path):
    with open(path, "w", encoding="utf-8") as f:
        f.write(content)


class Format:
    """mutated(kind, member, mutation, extent) is a file's content, put(content, path) writes it,
    outcome(path, tree) checks it; extents: one event of the kind, half of them, all"""
    extents, name, put = (False, True), "t.json", staticmethod(put_text)

    def __init__(self, mutated_, outcome_, before):
        self.mutated, self.before = mutated_, before
        if outcome_:
            self.outcome = outcome_


class Check:
    def __init__(self, form):
        self.form, self.before = form, None
        self.before = self.run(form.before)[2]

    def run(self, content):
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, self.form.name)
            self.form.put(content, path)
            return self.form.outcome(path, os.path.join(tmp, "t.tl"))

    def __call__(self, case):
        """(case, its cell, errors)"""
        cells, bad = [], []
        for extent in self.form.extents:
            try:
                wrong, why, tables = self.run(self.form.mutated(*case, extent))
            except (TypeError, ValueError, KeyError) as e:
                wrong, why, tables = "the oracle: %r" % e, "", None
            if wrong:
                bad.append("%s: %s" % (extent, wrong))
            cells.append(why or ("=" if tables == self.before else "~"))
        return case, "/".join(cells), bad


def read_table(path):
    with open(path, encoding="utf-8") as f:
        head, *rows = [line.rstrip("\n").split("\t") for line in f]
    return {(r[0], r[1], m): c for r in rows for m, c in zip(head[2:], r[2:]) if c != "-"}


def write_table(path, cells, columns):
    rows = list(dict.fromkeys(case[:2] for case in cells))
    with open(path, "w", encoding="utf-8") as f:
        print("kind", "member", *columns, sep="\t", file=f)
        for r in rows:
            print(*r, *[cells.get((*r, m), "-") for m in columns], sep="\t", file=f)


def check(args, all_, form, columns):
    every = int(args[args.index("--sample") + 1]) if "--sample" in args else 1
    known = {} if "--write" in args else read_table(args[-1])
    some, cells, failed = all_[::every], {}, 0
    if known and set(known) != set(all_):
        print("Bail out! the table has other cases")
        return 1
    print("1..%d" % len(some), flush=True)
    letters = Check(form)
    with multiprocessing.Pool(2) as pool:
        for i, (case, cell, bad) in enumerate(pool.imap(letters, some, 4), 1):
            cells[case] = cell
            if known.get(case, cell) != cell:
                bad.append("%s instead of %s" % (cell, known[case]))
            failed += bool(bad)
            print("%sok %d - %s: %s" % ("not " if bad else "", i, " ".join(case), cell))
            for line in bad:
                print("# " + line.strip().replace("\n", "\n# ")[:600])
    if "--write" in args and not failed:
        write_table(args[-1], cells, columns)
    return failed > 0


if __name__ == "__main__":
    sys.exit(check(sys.argv[1:], list(cases()), Format(mutated, outcome, text(trace())),
                   list(MUTATIONS)))
