# SPDX-License-Identifier: MIT
"""difftree.py: two call trees merged into one, in the plainest way.

A trace becomes a Tree (from the lines of tl-cat), a pair of trees a Merge: its
nodes by id, with a node of either trace or of both, and children. Nothing here
is fast: every rule is applied literally, to lists of whole names.

Rules says which errors of the reference to repeat: REFERENCE all, OURS none.
"""
import functools
import json
import re
import subprocess
from collections import Counter, namedtuple

Rules = namedtuple("Rules", "one_root align_roots permuted memset keep_source common root_name json odd_pair turned wrapped moved")
REFERENCE = Rules(*[False] * 12)
OURS = Rules(*[True] * 12)

GRAPH_LAUNCH = ("hipGraphLaunch", "cudaGraphLaunch")
LAUNCH_KERNEL = ("hipModuleLaunchKernel", "cuLaunchKernel")
GPU = ("kernel", "memcpy", "memset")


@functools.lru_cache(maxsize=None)
def normal(name):
    """a name without what changes from run to run"""
    name = re.sub("0x[0-9a-fA-F]+", "0xXXXX", name)
    name = re.sub(r"\.py\(\d+\):", ".py:", name)
    return "__kernel_launch__" if name in LAUNCH_KERNEL else name


@functools.lru_cache(maxsize=None)
def stripped(name):
    """the file of a Python frame alone"""
    name = re.sub("0x[0-9a-fA-F]+", "0xXXXX", name)
    name = re.sub(r"\.py\(\d+\):", ".py:", name)
    name = re.sub(r":\s+\S+$", "", name)
    name = re.sub(r"^.*/([^/]+\.py)$", r"\1", name)
    return "__kernel_launch__" if name in LAUNCH_KERNEL else name


class Node:
    def __init__(self, line):
        self.uid = line["id"]
        self.name = line.get("name", "")
        self.n, self.s = normal(self.name), stripped(self.name)
        self.kind = line["kind"]
        self.ts, self.dur = line.get("ts", 0), line.get("dur", 0)
        self.args = line.get("args")
        self.parent = None
        self.children = []
        self.gpu = []  # all GPU work below
        self.stack = ["root"]
        self.is_gpu = self.kind in GPU
        self.is_op = self.kind == "op"
        self.is_launch = self.kind in ("runtime", "driver") and self.name not in GRAPH_LAUNCH

    @property
    def on_path(self):
        return self.is_gpu or bool(self.gpu)

    @property
    def kids(self):
        return [c for c in self.children if c.on_path]

    @property
    def op(self):
        """the nearest op above"""
        up = self.parent
        while up is not None and not up.is_op:
            up = up.parent
        return up


def above(node):
    while node.parent is not None:
        node = node.parent
        yield node


class Tree:
    """The tree section of a stream, with Python frames or as if without."""

    def __init__(self, path, python=False):
        self.nodes, self.unlinked, self.all_gpu = {}, [], []
        section = None
        with subprocess.Popen(["tl-cat", path], stdout=subprocess.PIPE, text=True) as out:
            for text in out.stdout:
                line = json.loads(text)
                section = line.get("section", section)
                if "id" not in line or "kind" not in line:
                    continue
                if section == "tree":
                    self.add(line, python)
                elif (line["kind"] in GPU and section == "tail"
                      and "duplicate" not in line.get("flags", [])):
                    self.unlinked.append(Node(line))
        if out.returncode not in (0, 3):
            raise ValueError(path)
        self.finish()

    def add(self, line, python):
        node = Node(line)
        up = self.nodes.get(line["parent"]) if "parent" in line else None
        node.parent = up
        self.nodes[node.uid] = node
        if up is not None and python:
            node.stack = up.stack
            if up.kind == "python" and up.name.startswith("nn.Module:"):
                module = re.sub(r"_\d+$", "", up.name)
                node.stack = [m for m in up.stack if m != "root"] + [module]
        if node.kind == "python":
            node.skipped = not python
        else:
            node.skipped = False
        while node.parent is not None and node.parent.skipped:
            node.parent = node.parent.parent
        if node.parent is not None and not node.skipped:
            node.parent.children.append(node)

    def finish(self):
        self.nodes = {u: n for u, n in self.nodes.items() if not n.skipped}
        launched = [n for n in self.nodes.values() if n.is_gpu]
        launched.sort(key=lambda g: (g.parent.uid if g.parent else -1, g.uid))
        for g in launched:
            for up in above(g):
                up.gpu.append(g)
        self.all_gpu = launched
        for n in self.nodes.values():
            host = [c for c in n.children if not c.is_gpu]
            host.sort(key=lambda c: (c.ts, -c.ts - c.dur, c.uid))
            n.children = host + sorted((c for c in n.children if c.is_gpu), key=lambda c: c.uid)
        first = [n for n in self.nodes.values() if n.is_op and n.op is None]
        self.first_ops = sorted(first, key=lambda n: (n.ts, -n.ts - n.dur, n.uid))

    def roots(self, rules):
        """where the comparison starts: below mere wrappers"""
        out, moved = [], {}
        for op in self.first_ops:
            top = ([op] + list(above(op)))[-1]
            if rules.one_root and top in moved:
                continue
            end = top
            while len(end.children) == 1 and not (
                    end.children[0].is_op or end.children[0].is_launch):
                end = end.children[0]
            moved[top] = end
            if end is not top:
                top.children = end.children
                for c in end.children:
                    c.parent = top
            if end not in out:
                out.append(end)
        return out


def collapse(x):
    while True:
        if x.is_launch or (x.is_op and any(c.is_launch for c in x.children)):
            return x, []
        kids = x.kids
        if len(kids) != 1:
            return x, kids
        x = kids[0]


def levels(node, cache):
    if node not in cache:
        out, row = [], [node]
        for _ in range(4):
            row = [k for x in row for k in x.kids]
            out.append(sorted(k.n for k in row))
            if not row:
                break
        cache[node] = out
    return cache[node]


def likeness(a, b):
    for k in range(max(len(a), len(b))):
        x = a[k] if k < len(a) else []
        y = b[k] if k < len(b) else []
        if x != y:
            return k, sum((Counter(x) & Counter(y)).values())
    return len(a), 0


def texts(nodes, key):
    return [key(v) or str(v.uid) for v in nodes]


def is_turned(a, b, key):
    """whether b comes first, so that the result is the same both ways"""
    x, y = texts(a, key), texts(b, key)
    return (len(y), y) < (len(x), x)


def edit(a, b, key, turned):
    """(i, j) pairs; None stands for nothing"""
    if turned:
        return [(i, j) for j, i in edit(b, a, key, False)]
    m, n = len(a), len(b)
    x, y = texts(a, key), texts(b, key)
    cost = [[i + j if i == 0 or j == 0 else 0 for j in range(n + 1)] for i in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost[i][j] = min(cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (x[i - 1] != y[j - 1]))
    ops, i, j = [], m, n
    while i > 0 or j > 0:
        if i > 0 and j > 0 and x[i - 1] == y[j - 1]:
            i, j = i - 1, j - 1
            ops.append((i, j))
        elif i > 0 and (j == 0 or cost[i][j] == cost[i - 1][j] + 1):
            i -= 1
            ops.append((i, None))
        else:
            j -= 1
            ops.append((None, j))
    return ops[::-1]


def disambiguate(a, b, ops, cache):
    count1, count2 = Counter(v.n for v in a), Counter(v.n for v in b)
    old = {op for op in ops if None not in op}
    matched = {a[i].n for i, _ in old} | {b[j].n for _, j in old}
    names = [n for n in count1 if n and n in count2 and n in matched
             and max(count1[n], count2[n]) > 1]
    new = set()
    for name in names:
        ones = [i for i, v in enumerate(a) if v.n == name]
        twos = [j for j, v in enumerate(b) if v.n == name]
        pairs = []
        for i in ones:
            for j in twos:
                k, o = likeness(levels(a[i], cache), levels(b[j], cache))
                pairs.append((-k, -o, (i, j) not in old, i, j))
        for _, _, _, i, j in sorted(pairs):
            if i in ones and j in twos:
                new.add((i, j))
                ones.remove(i)
                twos.remove(j)
    if new <= old:
        return ops
    out = [(i, j) for i, j in ops if not (i is not None and a[i].n in names)
           and not (j is not None and b[j].n in names)]
    out += sorted(new)
    got1, got2 = {i for i, _ in out}, {j for _, j in out}
    out += [(i, None) for i in range(len(a)) if i not in got1]
    out += [(None, j) for j in range(len(b)) if j not in got2]
    return out


class Merged:
    def __init__(self, number):
        self.id = number
        self.one = self.two = None
        self.children = []

    @property
    def kind(self):
        if self.one is not None and self.two is not None:
            return "combined"
        return "trace1" if self.two is None else "trace2"

    @property
    def text(self):
        a = None if self.one is None else self.one.name or str(self.one.uid)
        b = None if self.two is None else self.two.name or str(self.two.uid)
        if self.kind == "combined":
            return a if a == b else "combined: %s | %s" % (a, b)
        return ">> trace1: " + a if self.kind == "trace1" else "<< trace2: " + b


class Merge:
    def __init__(self, tree1, tree2, rules):
        self.rules, self.cache = rules, {}
        self.nodes, self.done = [], {}
        self.tree1, self.tree2 = tree1, tree2
        self.roots = []
        for pair in self.pair_roots(tree1.roots(rules), tree2.roots(rules)):
            node = self.merge(*pair)
            if node not in self.roots:
                self.roots.append(node)

    def pair_roots(self, a, b):
        if self.rules.align_roots and [v.n for v in a] != [v.n for v in b]:
            return self.align_roots(a, b)
        n = max(len(a), len(b))
        return zip(a + [None] * (n - len(a)), b + [None] * (n - len(b)))

    def align_roots(self, a, b):
        """equal whole trees, then equal names, then what is between two pairs if both
        sides have as many"""
        shape = {}

        def key(v):
            if v not in shape:
                shape[v] = "%s(%s)" % (v.n or v.uid, ",".join(map(key, by_start(v.kids))))
            return shape[v]

        ops = edit(a, b, key, self.rules.turned and is_turned(a, b, lambda v: v.n))
        out = [(a[i], b[j]) for i, j in ops if i is not None and j is not None]
        left1 = [a[i] for i, j in ops if j is None]
        left2 = [b[j] for i, j in ops if i is None]
        out += self.align(left1, left2)
        return in_order(between(out, a, b), a, b)

    def align(self, a, b, key=lambda v: v.n):
        turned = self.rules.turned and is_turned(a, b, key)
        ops = disambiguate(a, b, edit(a, b, key, turned), self.cache)
        return [(None if i is None else a[i], None if j is None else b[j]) for i, j in ops]

    def is_kernel(self, v):
        return v.kind in ("kernel", "memcpy") or (self.rules.memset and v.kind == "memset")

    def merge(self, one, two):
        if self.rules.wrapped:
            one, two = look_in(one, two)
        if (one, two) in self.done:
            return self.done[one, two]
        node = self.done[one, two] = Merged(len(self.nodes))
        self.nodes.append(node)
        a, b = lists(one, two)
        if len(a) != len(b):
            if len(a) == 1:
                end, kids = collapse(a[0])
                if kids:
                    one, a = end, kids
            elif len(b) == 1:
                end, kids = collapse(b[0])
                if kids:
                    two, b = end, kids
        node.one, node.two = one, two
        ops = self.wrappers(self.unwrap(self.pair(a, b)))
        node.children = [self.merge(x, y) for x, y in ops]
        return node

    def pair(self, a, b):
        if len(a) == len(b) and not any(v.is_launch for v in a + b):
            names1, names2 = [v.n for v in a], [v.n for v in b]
            if not self.rules.permuted or names1 == names2 or sorted(names1) != sorted(names2):
                return list(zip(a, b))
        return moved(self.align(a, b)) if self.rules.moved else self.align(a, b)

    def unwrap(self, ops):
        """ops around the other side's ops are replaced by what they contain"""
        gone = [x for x, y in ops if y is None]
        come = [y for x, y in ops if x is None]
        free1 = [v for v in gone if not self.is_kernel(v) and not v.is_launch]
        free2 = [v for v in come if not self.is_kernel(v) and not v.is_launch]
        open1 = {v for v in free1 if opens(v, free2)}
        open2 = {v for v in free2 if opens(v, free1)}
        if not open1 and not open2:
            return ops
        a = by_start(k for v in gone for k in (v.kids if v in open1 else [v]))
        b = by_start(k for v in come for k in (v.kids if v in open2 else [v]))
        pinned = [op for op in ops if None not in op]
        if a and b:
            return pinned + self.pair(a, b)
        return pinned + [(v, None) for v in a] + [(None, v) for v in b]

    def wrappers(self, ops):
        """the rest is compared below its wrappers"""
        gone = [x for x, y in ops if y is None]
        come = [y for x, y in ops if x is None]
        if not gone or not come:
            return ops
        matches = [op for op in ops if None not in op]
        second = self.align([collapse(v)[0] for v in gone], [collapse(v)[0] for v in come])
        gone = [x for x, y in second if y is None]
        come = [y for x, y in second if x is None]
        if not gone or not come:
            return matches + second
        third = self.align(gone, come, lambda v: v.s)
        return matches + [op for op in second if None not in op] + third

    def print(self, write):
        def line(node, prefix, last):
            write("%s%s %s\n" % (prefix, "└──" if last else "├──", node.text))
            kinds = ("combined", "trace1", "trace2")
            below = sorted(node.children, key=lambda c: kinds.index(c.kind))
            for c in below:
                line(c, prefix + ("    " if last else "│   "), c is below[-1])

        for node in self.roots:
            line(node, "", node is self.roots[-1])


def by_start(nodes):
    return sorted(nodes, key=lambda v: v.ts)


def in_order(pairs, a, b):
    """by the first side; what only the second has goes before its successor"""
    place1, place2 = {v: n for n, v in enumerate(a)}, {v: n for n, v in enumerate(b)}
    alone = sorted((y for x, y in pairs if x is None), key=lambda y: place2[y])
    out = []
    for x, y in sorted((p for p in pairs if p[0] is not None), key=lambda p: place1[p[0]]):
        while alone and y is not None and place2[alone[0]] < place2[y]:
            out.append((None, alone.pop(0)))
        out.append((x, y))
    return out + [(None, y) for y in alone]


def between(pairs, a, b):
    """equally many unmatched ones between the same two matches belong together"""
    place = {v: n for n, v in enumerate(b)}
    partner = {x: y for x, y in pairs if x is not None and y is not None}
    taken = set(partner.values())
    ends = [(-1, -1)] + [(n, place[partner[v]]) for n, v in enumerate(a) if v in partner]
    for (i, j), (k, l) in zip(ends, ends[1:] + [(len(a), len(b))]):
        come = b[j + 1:l]
        if k - i == l - j and not taken & set(come):
            partner.update(zip(a[i + 1:k], come))
    taken = set(partner.values())
    return [(v, partner.get(v)) for v in a] + [(None, v) for v in b if v not in taken]


def lists(one, two):
    """GPU-path children, and what the other side has of the same name"""
    a = one.kids if one is not None else []
    b = two.kids if two is not None else []
    names1, names2 = {v.n for v in a if v.n}, {v.n for v in b if v.n}
    more1 = {c.n: c for c in one.children if c.n in names2 - names1} if one is not None else {}
    more2 = {c.n: c for c in two.children if c.n in names1 - names2} if two is not None else {}
    a = by_start(a + list(more1.values()))
    b = by_start(b + list(more2.values()))
    return a, b


def moved(ops):
    """unmatched calls of one name on both sides belong together"""
    come = [y for x, y in ops if x is None and y.n and not y.is_gpu and not y.is_launch]
    partner = {}
    for x in (x for x, y in ops if y is None and not x.is_gpu and not x.is_launch):
        y = next((v for v in come if v.n == x.n), None)
        if y is not None:
            partner[x] = y
            come.remove(y)
    taken = set(partner.values())
    return [(x, y or partner.get(x)) for x, y in ops if x is not None or y not in taken]


def look_in(one, two):
    """if one only wraps a call with the other's name, that call is compared"""
    if one is None or two is None or one.n == two.n or not one.n or not two.n:
        return one, two
    if any(v.is_gpu or v.is_launch for v in (one, two)):
        return one, two
    in1, in2 = wrapped(one, two.n), wrapped(two, one.n)
    if in1 and not in2:
        return in1, two
    return (one, in2) if in2 and not in1 else (one, two)


def wrapped(v, name):
    for _ in range(16):
        if len(v.kids) != 1:
            break
        v = v.kids[0]
        if v.n == name:
            return v
    return None


def opens(v, others):
    names = [k.n for k in v.kids]
    if any(o.n and o.n in names for o in others):
        return True
    return bool(names) and all(names) and any(names == [k.n for k in o.kids] for o in others)
