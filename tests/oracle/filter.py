#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""filter.py: tl-filter against a slow implementation of its options.

    filter.py TREE <SELECTIONS     a line of options each

Reads the tree as NDJSON (tl-cat), decides for each line by its parents and
launches what is kept, runs tl-filter, and compares event by event: order, stubs,
and the counts of what is below. The output must also be a tree by itself. Prints
differences; exit status 1 if there are any.
"""
import argparse
import fnmatch
import json
import re
import shlex
import subprocess
import sys

from windows import Note, Window, Work, phases, slowest, windows as steps_of

GPU = {"kernel", "memcpy", "memset"}
OF_PROCESS = {"op", "runtime", "driver", "python", "annotation"}
CONTEXT = {"meta", "annotation"}
STEP = {"step", "slowest"}  # written after "stub"
UNIT = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}


def number(v):
    return int(v[1:]) if isinstance(v, str) and v.startswith("#") else v


def read(stream):
    """Events with facts of the source record, by section."""
    text = subprocess.run(["tl-cat", stream], stdout=subprocess.PIPE, check=True).stdout
    events, facts, others, section = [], {}, [], None
    lines = text.decode("utf-8", "surrogatepass").rstrip("\n").split("\n")
    # parsed at once: half of the time of one by one
    for line, d in zip(lines, json.loads("[%s]" % ",".join(lines))):
        if "section" in d:
            section = d["section"]
            others.append(line)
        elif "source" in d:
            facts[d["source"]["src"]] = d["source"]["facts"]
            others.append(line)
        elif "meta" in d:
            others.append(line)
        elif "kind" in d:
            for key in ("ts", "dur"):
                if key in d:
                    d[key] = number(d[key])
            d["section"] = section
            d["id"] += d.pop("inst", 0) << 40  # it has no children, so no id refers to it
            events.append(d)
    return events, facts, others


def time(text):
    m = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", text)
    return int(float(m[1]) * UNIT[m[2]])


def step_asked(text, number, process, words_of):
    """Whether 3-7, last or 3-7@SRC:PID names a step of this process."""
    for part in text.split(","):
        numbers, _, where = part.partition("@")
        src, colon, pid = where.rpartition(":")
        if (not colon or int(src) == process[0]) and pid in ("", str(process[1])) and \
                in_list(numbers, number, words_of(pid)):
            return True
    return False


def in_list(text, value, words=()):
    """Whether 0,2-3 or a word has the value."""
    for part in text.split(","):
        m = re.fullmatch(r"(-?\d+)(?:-(\d+))?", part)
        if m and isinstance(value, int) and int(m[1]) <= value <= int(m[2] or m[1]):
            return True
        if not m and (value == part or (part in words and words[part] == value)):
            return True
    return False


def end_of(e):
    return e["ts"] + e.get("dur", 0)


class Selection:
    def __init__(self, options, events, facts):
        p = argparse.ArgumentParser()
        for name in "kind rank dev gpu-stream min-dur from to step phase".split():
            p.add_argument("--" + name)
        for name in ("name", "annotation"):
            p.add_argument("--" + name, action="append", default=[])
        p.add_argument("--by-gpu-time", action="store_true")
        p.add_argument("--subtree", action="store_true")
        self.o = vars(p.parse_args(options))
        self.facts = facts
        self.at = {(e["src"], e["id"]): e for e in events}
        self.phases = {}  # by source: iterations and their phases
        self.windows = {src: self.windows_of(src, events) for src in facts}

    def windows_of(self, src, events):
        notes = sorted(
            (e for e in events
             if e["src"] == src and e["kind"] == "annotation" and "ts" in e),
            key=lambda e: (e["ts"], -end_of(e), e["id"]))
        out = []
        if self.o["step"] or self.o["phase"]:
            threads = {}
            for e in events:
                threads.setdefault((e["src"], e.get("pid"), e.get("tid")), len(threads))
            work = [Work(up.get("pid"), threads[src, up.get("pid"), up.get("tid")],
                         up["ts"], end_of(e)) for e, up in self.launched(src, events)]
            marks = [Note(e["ts"], end_of(e), e["id"], e.get("name", ""), e.get("pid"),
                          threads[src, e.get("pid"), e.get("tid")]) for e in notes]
            self.phases[src] = phases(marks, work)
        if self.o["step"]:
            steps = [w for w in steps_of(marks, work) if w.number is not None]
            # else those that tl-tree inferred
            steps = steps or [Window(e["ts"], end_of(e), e["args"]["step_num"], e.get("pid"), e["id"])
                              for e in notes if e.get("cat") == "inferred_step"]

            def words(pid):
                numbers = [w.number for w in steps if pid in ("", str(w.pid))]
                return {"first": min(numbers), "last": max(numbers)} if numbers else {}
            longest = slowest(steps, work)
            out.append([(w.start, w.end, w.pid) for w in steps
                        if step_asked(self.o["step"], w.number, (src, w.pid), words)
                        or (w == longest and "slowest" in self.o["step"].split(","))])
        if self.o["annotation"]:
            mine = []
            notes = [e for e in notes if e.get("cat") != "inferred_step"]
            for name in self.o["annotation"]:
                found = [e for e in notes if fnmatch.fnmatchcase(e.get("name", ""), name)]
                if not found and "#" in name:
                    name, n = name.rsplit("#", 1)
                    found = [e for e in notes
                             if fnmatch.fnmatchcase(e.get("name", ""), name)]
                    found = found[int(n) - 1:int(n)]
                mine += found
            out.append([(e["ts"], end_of(e), None) for e in mine])
        return out

    def launched(self, src, events):
        """GPU events and their calls"""
        for e in events:
            up = self.at.get((src, e.get("launch")))
            if e["src"] == src and e["kind"] in GPU and up is not None:
                yield e, up

    def when(self, e):
        """time and process, None: any"""
        if e["kind"] in GPU and not self.o["by_gpu_time"]:
            launch = self.at.get((e["src"], e.get("launch")))
            return (launch["ts"], launch.get("pid")) if launch else (None, None)
        return e.get("ts"), e.get("pid") if e["kind"] in OF_PROCESS else None

    def in_time(self, e):
        o = self.o
        if not (o["from"] or o["to"] or o["step"] or o["phase"] or o["annotation"]):
            return True
        t, pid = self.when(e)
        if t is None:
            return False
        for windows in self.windows[e["src"]]:
            if not any(a <= t < b and (p is None or pid is None or p == pid)
                       for a, b, p in windows):
                return False
        if o["phase"]:
            mine = next((phase for w, phase in self.phases[e["src"]]
                         if w.start <= t < w.end and pid in (None, w.pid)), "outside")
            if mine not in o["phase"].split(","):
                return False
        first = int(number(self.facts[e["src"]].get("first", 0)))
        return (not o["from"] or t - first >= time(o["from"])) and (
            not o["to"] or t - first < time(o["to"]))

    def asked(self, src):
        rank = self.facts.get(src, {}).get("rank")
        return not self.o["rank"] or (rank is not None and in_list(self.o["rank"], rank))

    def chosen(self, e):
        o = self.o
        return ((not o["kind"] or e["kind"] in o["kind"].split(",")) and
                "stub" not in e.get("flags", []) and
                (not o["name"] or any(fnmatch.fnmatchcase(e.get("name", "\0"), g)
                                      for g in o["name"])) and
                (not o["dev"] or in_list(o["dev"], e.get("dev"))) and
                (not o["gpu_stream"] or in_list(o["gpu_stream"], e.get("gpu_stream"))) and
                (not o["min_dur"] or e.get("dur", 0) >= time(o["min_dur"])) and
                self.in_time(e))


def expected(sel, events):
    key = {(e["src"], e["id"]) for e in events if sel.asked(e["src"]) and sel.chosen(e)}
    if sel.o["subtree"]:
        below = set(key)
        for e in events:  # a parent precedes what is below it
            if "parent" in e and (e["src"], e["parent"]) in below:
                below.add((e["src"], e["id"]))
        key = {me for me in below if "stub" not in sel.at[me].get("flags", [])}
    below = {}
    keep, todo = set(), list(key)
    while todo:  # what is above, and the forward op of each backward op
        me = todo.pop()
        if me in keep:
            continue
        keep.add(me)
        e = sel.at[me]
        if "parent" in e:
            todo.append((e["src"], e["parent"]))
        fwd = sel.at.get((e["src"], e.get("fwd")))
        if fwd is not None and fwd["section"] == e["section"] == "tree" and "bwd" in fwd:
            todo.append((e["src"], e["fwd"]))
    for e in events:
        if e["section"] == "prologue" and e["kind"] in CONTEXT and sel.asked(e["src"]):
            keep.add((e["src"], e["id"]))
    for me in keep:
        gpu = sel.at[me]["kind"] in GPU
        up = me
        while "parent" in sel.at[up]:
            up = (me[0], sel.at[up]["parent"])
            n = below.setdefault(up, [0, 0])
            n[0] += 1
            n[1] += gpu
    for e in events:
        me = (e["src"], e["id"])
        if me not in keep:
            continue
        e = {k: v for k, v in e.items() if k not in ("ndesc", "ngpu")}
        if me not in key:
            flags = [f for f in e.get("flags", []) if f != "stub"]
            at = next((i for i, f in enumerate(flags) if f in STEP), len(flags))
            e["flags"] = flags[:at] + ["stub"] + flags[at:]
        for k, n in zip(("ndesc", "ngpu"), below.get(me, (0, 0))):
            if n:
                e[k] = n
        yield e


def not_a_tree(events):
    """The first event without a place, by the output alone."""
    stack, src = [], None

    def close(depth):
        while len(stack) > depth:
            e, n, gpu = stack.pop()
            if e.get("ndesc", 0) != n or e.get("ngpu", 0) != gpu:
                return f"{e['id']}: {n} events and {gpu} of the GPU are below"
            if stack:
                stack[-1][1] += n + 1
                stack[-1][2] += gpu + (e["kind"] in GPU)
        return None

    for e in events:
        depth = e.get("depth", 0)
        if e["src"] != src:
            depth, src = 0, e["src"]
        why = close(depth)
        if why:
            return why
        if depth != len(stack):
            return f"{e['id']}: depth {depth} below {len(stack)} events"
        if depth and e.get("parent") != stack[-1][0]["id"]:
            return f"{e['id']}: its parent is not above it"
        if not depth and "parent" in e:
            return f"{e['id']}: a parent at depth 0"
        stack.append([e, 0, 0])
    return close(0)


def compare(options, got, want):
    if got == want:
        return True
    print(f"{options}: {len(got)} events, {len(want)} expected")
    for g, w in zip(got, want):
        if g != w:
            keys = [k for k in {**g, **w} if g.get(k) != w.get(k)]
            print("  got", g["id"], {k: g.get(k) for k in keys})
            print("  not", w["id"], {k: w.get(k) for k in keys})
            break
    return False


def without_window(line):
    """a source cut in time no longer has the recording's whole window"""
    d = json.loads(line)
    if "source" in d:
        for key in ("window_start", "window_end"):
            d["source"]["facts"].pop(key, None)
    return json.dumps(d)


def main():
    tree = sys.argv[1]
    events, facts, others = read(tree)
    good, nchecked, nkept = True, 0, 0
    for line in sys.stdin:
        options = shlex.split(line)
        sel = Selection(options, events, facts)
        done = subprocess.run(["tl-filter", "-o", "filtered.tl", *options, tree],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            print(f"{line.strip()}: {done.stderr}")
            good = False
            continue
        got, _, beside = read("filtered.tl")
        good &= compare(line.strip(), got, list(expected(sel, events)))
        why = not_a_tree(got)
        if why:
            print(f"{line.strip()}: no tree: {why}")
            good = False
        if any(sel.o[x] for x in ("from", "to", "step", "phase", "annotation")):
            others_left = [without_window(line) for line in others]
            beside = [json.dumps(json.loads(line)) for line in beside]
        else:
            others_left = others
        if not sel.o["rank"] and beside != others_left:
            print(f"{line.strip()}: sources, metadata or sections differ")
            good = False
        nchecked += 1
        nkept += len(got)
    print(f"{nchecked} selections, {nkept} events kept")
    return 0 if good else 1


sys.exit(main())
