#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diffprops.py: laws for every pair of traces, on made-up ones, as TAP.

usage: diffprops.py [PAIRS]

PAIRS (10000) pairs of small call trees come from diffgen.py, many per file;
planted changes come from tl-gen.
"""
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import diff
import diffgen
import diffmirror
import difftables
import difftree
import hostile
from diffmirror import groups, table

PER_FILE = 500
ORACLE_EVERY = 10  # files: it is slow
CHECKS = {
    "slow": "the trees and tables of the slow program",
    "once": "each GPU event of both sides once",
    "sums": "the sums of a side are its own",
    "mirror": "the same the other way round",
    "self": "a trace and itself are identical",
    "wild": "all that for traces of any shape",
    "moved": "lines, addresses and files of frames do not matter",
}


class Case:
    """Files of one run, and failures."""

    def __init__(self, folder, python):
        self.folder, self.python = folder, python
        self.bad = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def say(self, check, text):
        self.bad.append((check, text[:400]))

    def tree(self, name):
        # exit status 3: hostile traces have skipped events
        p = subprocess.run(["tl-tree", self.path(name + ".json"), "-o", self.path(name + ".tl")],
                           check=False, stderr=subprocess.DEVNULL)
        if p.returncode not in (0, 3):
            raise ValueError("tl-tree: %d" % p.returncode)

    def oracle(self, a, b):
        trees = [difftree.Tree(self.path(x + ".tl"), self.python) for x in (a, b)]
        merge = difftree.Merge(*trees, difftree.OURS)
        return merge, difftables.Tables(merge)

    def diff(self, a, b):
        return diff.run_diff(self.folder, self.path(a + ".tl"), self.path(b + ".tl"), self.python)


def stats(files):
    """rows of diff_stats, times in ns"""
    rows = table(files, "diff_stats")
    for r in rows:
        r["ns"] = round(float(r["kernel_time"]) * 1000)
        r["uid"] = int(r["gpu_op_uid"])
    return rows


def check_once(case, rows, sides):
    for source, work in zip(("trace1", "trace2"), sides):
        got = Counter(r["uid"] for r in rows if r["source"] == source)
        for uid in set(work) ^ set(got) | {u for u, n in got.items() if n > 1}:
            case.say("once", "%s: event %d %d times" % (source, uid, got[uid]))


def numbers(*command):
    p = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(line) for line in p.stdout.split()]


def check_sums(case, rows, sides):
    """against the trace's own sums for each side, and tl-kernels' sums"""
    for source, work, name in zip(("trace1", "trace2"), sides, "ab"):
        mine = [r for r in rows if r["source"] == source]
        want = sum(numbers("tl-kernels", "--linked-only", "-c", "dur_ns_sum", "--no-header",
                           case.path(name + ".tl")))
        got = sum(r["ns"] for r in mine if not r["name"].startswith("Mem"))
        if got != want or sum(r["ns"] for r in mine) != sum(g[3] for g in work.values()):
            case.say("sums", "%s: %d ns of kernels instead of %d" % (name, got, want))


def check_self(case, files):
    rows = stats(files)
    once = Counter((r["lowest_common_ancestor_id"], r["source"]) for r in rows)
    sides = [[{k: v for k, v in r.items() if k != "source"} for r in rows if r["source"] == s]
             for s in ("trace1", "trace2")]
    if sides[0] != sides[1] or max(once.values()) > 1:
        case.say("self", "rows differ")
    for line in files["merged_tree_output.txt"].splitlines():
        if any(mark in line for mark in ("combined: ", ">> trace1", "<< trace2")):
            case.say("self", line)
            break
    path = case.path("a.tl")
    for other, identical in ((path, True), (case.path("b.tl"), False)):
        p = subprocess.run(["tl-diff", path, other], capture_output=True, text=True, check=False)
        if p.returncode != 0 or ("identical" in p.stderr) != identical:
            case.say("self", "%d: %s" % (p.returncode, p.stderr))


def moved(root, rng):
    """the same calls with other lines, objects and files"""
    out = root.copy()
    for c in out.all():
        if c.kind == "frame" and ".py(" in c.name:
            c.name = "%s(%d):%s" % (c.name.split("(")[0], rng.randrange(1000),
                                    c.name.split(":")[1])
        elif c.kind == "frame" and " at 0x" in c.name:
            c.name = "%s0x%x>" % (c.name.split("0x")[0], rng.randrange(1 << 40))
    return out


def renamed(root):
    out = root.copy()
    for c in out.all():
        if c.kind == "frame" and ".py(" in c.name:
            c.name = "src/" + c.name.replace("net.py", "network.py")
    return out


def chunk(number):
    """one file's worth of pairs"""
    python = number % 2 == 1
    maker = diffgen.Maker(number, python)
    a, b = maker.pair(PER_FILE)
    rep = diff.Report()
    with tempfile.TemporaryDirectory() as tmp:
        case = Case(tmp, python)
        made = {"a": (a, 1), "b": (b, 2)}
        if python:
            made.update(m=([moved(r, maker.rng) for r in b], 2), r=([renamed(r) for r in a], 1))
        work = {}
        for name, (roots, seed) in made.items():
            work[name] = diffgen.write(case.path(name + ".json"), roots, seed)
            case.tree(name)
        files, same = case.diff("a", "b"), case.diff("a", "a")
        rows = stats(files)
        if number % ORACLE_EVERY == 0 or number % ORACLE_EVERY == 3:
            diff.on_big_stack(lambda: diff.against_oracle(rep, files, *case.oracle("a", "b")))
        for text in rep.bad:
            case.say("slow", text)
        check_once(case, rows, (work["a"], work["b"]))
        check_sums(case, rows, (work["a"], work["b"]))
        for text in diffmirror.differences(files, case.diff("b", "a")):
            case.say("mirror", text)
        check_self(case, same)
        if python:
            if groups(stats(case.diff("a", "m"))) != groups(rows):
                case.say("moved", "other groups")
            if groups(stats(case.diff("a", "r"))) != groups(stats(same)):
                case.say("moved", "other groups, files renamed")
    bad = [(c, "seed %d: %s" % (number, text)) for c, text in case.bad]
    return len(a), rep.cells, bad


WILD = 60  # pairs with files of their own: mostly the top of a trace


def wild_files(case, number):
    if number % 4 == 3:
        for name, seed in (("a", number), ("b", number + 1)):
            with open(case.path(name + ".json"), "w", encoding="utf-8") as f:
                f.write(hostile.text(seed))
    else:
        a, b = diffgen.Maker(1000000 + number, number % 2 == 1).wild_pair()
        diffgen.write(case.path("a.json"), a, number)
        diffgen.write(case.path("b.json"), b, number + 1)
    case.tree("a")
    case.tree("b")


def wild(number):
    """with frames, if there are some, and the same streams without them"""
    rep = diff.Report()
    with tempfile.TemporaryDirectory() as tmp:
        case = Case(tmp, False)
        wild_files(case, number)
        for case.python in (False, True)[:1 + number % 2]:
            if not all(difftree.Tree(case.path(x + ".tl")).first_ops for x in "ab"):
                continue
            files = case.diff("a", "b")
            merge, tables = case.oracle("a", "b")
            diff.against_oracle(rep, files, merge, tables)
            rep.bad += diffmirror.differences(files, case.diff("b", "a"))
            # and work without op or launch, which has no place in a tree
            rows = table(files, "diff_ops_summary")
            for tree, column in ((merge.tree1, "before_ns"), (merge.tree2, "after_ns")):
                rep.cell(column, str(sum(int(r[column]) for r in rows)),
                         str(sum(g.dur for g in tree.all_gpu + tree.unlinked)))
    return rep.cells, ["seed %d: %s" % (number, text) for text in rep.bad]


# ---- planted changes are found, and nothing else

# the change; ops whose GPU work differs, and their number of rows. A swap has none:
# each event has its match, and the verdict mentions their order.
PLANTED = [
    ("slow=aten::gelu:50@2.1", ["aten::gelu"], 2),
    ("slow=aten::_flash_attention_forward:-20@3.0", ["aten::_flash_attention_forward"], 2),
    ("slow=aten::linear:7@1.1", ["aten::addmm"], 12),
    ("add=aten::native_dropout@2.1", ["planted::op"], 2),
    ("add=aten::gelu@3.0", ["planted::op"], 1),
    ("wrap=aten::addmm@2.0", [], 0),
    ("rename=aten::gelu@1.1", ["aten::gelu"], 2),
    ("rename=aten::linear@3.1", ["aten::addmm"], 12),
    ("fuse@2.1", ["aten::add", "aten::native_dropout", "custom::fused_dropout_add"], 6),
    ("swap@2.0", [], 0),
    ("slow=aten::mul:0", [], 0),
]
CODE = ("lines", "folders", "files")


def generate(case, name, *args):
    path = case.path(name + ".json")
    subprocess.run(["tl-gen", "--layers", "2", "--jitter", "0", "-o", path] + list(args),
                   check=True)
    case.tree(name)
    with open(path, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def ancestors(rows):
    """rows by their ancestor; without one, each by itself"""
    out = defaultdict(list)
    for r in rows:
        out[r["lowest_common_ancestor_id"] or (r["source"], r["uid"])].append(r)
    return out.values()


def is_pair(rows):
    """a kernel and the same kernel, of the same time"""
    return (len(rows) == 2 and rows[0]["source"] != rows[1]["source"]
            and rows[0]["name"] == rows[1]["name"] and rows[0]["ns"] == rows[1]["ns"]
            and rows[0]["lowest_common_ancestor_name"] == difftables.plain(rows[0]["name"]))


def in_step(events, uid, step):
    name = "ProfilerStep#%s" % step
    span = next(e for e in events if e.get("name") == name and e["cat"] == "user_annotation")
    return span["ts"] <= events[uid]["ts"] < span["ts"] + span["dur"]


def planted(job):
    """what differs is what was planted, there and as much"""
    (plant, ops, count), python = job
    bad = []
    with tempfile.TemporaryDirectory() as tmp:
        case = Case(tmp, python)
        events = {"trace1": generate(case, "a"), "trace2": generate(case, "b", "--plant", plant)}
        files = case.diff("a", "b")
        rows = stats(files)
        for source, name in (("trace1", "a"), ("trace2", "b")):
            own = sum(numbers("tl-ops", "-c", "direct_ns_sum", "--no-header",
                              case.path(name + ".tl")))
            if own != sum(r["ns"] for r in rows if r["source"] == source):
                bad.append("%s: not %d ns as tl-ops says" % (source, own))
            column = {"trace1": "before_ns", "trace2": "after_ns"}[source]
            if own != sum(int(r[column]) for r in table(files, "diff_ops_summary")):
                bad.append("diff_ops_summary: %s: not %d ns as tl-ops says" % (source, own))
    changed = {r["name"] for r in table(files, "diff_ops_summary") if int(r["diff_ns"])}
    if changed != (set(ops) if plant.startswith(("slow", "add", "fuse")) else set()):
        bad.append("diff_ops_summary: %s" % sorted(changed))
    found = [r for at in ancestors(rows) if not is_pair(at) for r in at]
    if sorted({r["cpu_op_name"] for r in found}) != ops or len(found) != count:
        bad.append("%d rows of %s" % (len(found), sorted({r["cpu_op_name"] for r in found})))
    step = plant.split("@")[-1].split(".")[0]
    bad += ["in another step: %s" % r for r in found
            if not in_step(events[r["source"]], int(r["cpu_op_uid"]), step)]
    times = [sum(round(e["dur"] * 1000) for e in events[s]
                 if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
             for s in ("trace1", "trace2")]
    got = sum(r["ns"] if r["source"] == "trace2" else -r["ns"] for r in found)
    if got != times[1] - times[0]:
        bad.append("%d ns instead of %d" % (got, times[1] - times[0]))
    return "planted %s%s: %d rows, %+d ns" % (plant, ", frames" if python else "", len(found),
                                              got), bad


def edited(code):
    """edited Python sources make no difference"""
    with tempfile.TemporaryDirectory() as tmp:
        case = Case(tmp, True)
        generate(case, "a")
        generate(case, "b", "--code", code)
        rows = stats(case.diff("a", "b"))
    found = [r for at in ancestors(rows) if not is_pair(at) for r in at]
    return "--code %s: %d rows" % (code, len(rows)), [str(r) for r in found]


def say(number, text, bad):
    print("%sok %d - %s" % ("not " if bad else "", number, text), flush=True)
    for line in sorted(bad)[:8]:
        print("# " + line[:400])
    return bool(bad)


def main():
    counts = [a for a in sys.argv[1:] if a.isdigit()]
    pairs = int(counts[0]) if counts else 10000
    jobs = [(p, python) for p in PLANTED for python in (False, True)]
    print("1..%d" % (len(CHECKS) + len(jobs) + len(CODE)))
    found, done, slow, cells, failed = defaultdict(list), 0, 0, 0, 0
    with multiprocessing.Pool(2) as pool:
        for some, c, bad in pool.imap_unordered(chunk, range(-(-pairs // PER_FILE)), 1):
            done, cells, slow = done + some, cells + c, slow + some * bool(c)
            for check, text in bad:
                found[check].append(text)
        some = max(WILD, pairs // 100)
        for c, bad in pool.imap(wild, range(some), 4):
            cells += c
            found["wild"] += bad
        for n, (check, text) in enumerate(CHECKS.items(), 1):
            count = {"wild": some, "slow": slow, "moved": done // 2}.get(check, done)
            failed += say(n, "%s: %d pairs" % (text, count), found[check])
        print("# %d cells as the slow program has them" % cells)
        results = pool.imap(planted, jobs), pool.imap(edited, CODE)
        for text, bad in itertools.chain(*results):
            n += 1
            failed += say(n, text, bad)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
