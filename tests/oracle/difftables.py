# SPDX-License-Identifier: MIT
"""difftables.py: the tables of two merged trees (see difftree.py).

diff_stats has a row per GPU event, as dicts by the reference's labels; times are
whole nanoseconds until they are written.
"""
import json
import re
from collections import defaultdict

ARGS = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs")
COLUMNS = ("name", "cpu_op_name", "cpu_op_uid", "source") + ARGS + (
    "kernel_time", "busy_time", "lowest_common_ancestor_name", "lowest_common_ancestor_id",
    "gpu_op_uid", "nn_module_stack", "nn_module_parent")
SUMMARY = ("name", "operation_count", "cpu_op_name", "cpu_op_uid", "source") + ARGS + (
    "busy_time", "lowest_common_ancestor_name", "nn_module_stack", "nn_module_parent",
    "kernel_time_mean", "kernel_time_sum")
TIMES = ("kernel_time", "busy_time", "kernel_time_mean", "kernel_time_sum")


def as_tuple(v):
    return tuple(as_tuple(x) for x in v) if isinstance(v, list) else v


def union(events):
    total, end = 0, None
    for start, stop in sorted((g.ts, g.ts + g.dur) for g in events):
        if end is None or start > end:
            end = start
        total += max(0, stop - end)
        end = max(end, stop)
    return total


def plain(name):
    return re.sub(r"\(\d+\)", "", name)


def called(node):
    return plain(node.name) or str(node.uid)


def name_of(pair):
    one, two = called(pair.one), called(pair.two)
    return one if one == two else one + " | " + two


class Tables:
    def __init__(self, merge):
        self.merge, self.rules = merge, merge.rules
        self.rows, self.emitted, self.at = [], set(), defaultdict(list)
        for root in merge.roots:
            self.visit(root, None)
        # of all at one ancestor, whichever child it is below
        busy = {at: union(work) for at, work in self.at.items()}
        for r in self.rows:
            r["busy_time"] = busy[r["busy_time"]]
        self.identical = self.is_identical()
        if self.identical and not self.rules.keep_source:
            self.rows = [r for r in self.rows if r["source"] == "trace1"]
        self.names = {}
        self.summary = self.summarise()
        self.rename()

    # ---- diff_stats

    def visit(self, node, parent):
        if node.kind != "combined":
            self.one_sided(node, parent)
            return
        both = node.one.on_path and node.two.on_path
        if both and node not in self.emitted:
            self.emitted.add(node)
            sides = [[c for c in node.children if c.kind == s] for s in ("trace1", "trace2")]
            sides[0] = [c for c in sides[0] if c.one.on_path]
            sides[1] = [c for c in sides[1] if c.two.on_path]
            kernels = self.merge.is_kernel(node.one) and self.merge.is_kernel(node.two)
            if sides[0] or sides[1] or kernels:
                name = name_of(node)
                self.emit("trace1", self.work([c.one for c in sides[0]] + [node.one]), node, name)
                self.emit("trace2", self.work([c.two for c in sides[1]] + [node.two]), node, name)
            self.emitted.update(sides[0] + sides[1])
        if self.rules.odd_pair and not both and node not in self.emitted:
            self.emit_odd(node)
        if node.one.on_path or node.two.on_path:
            for c in node.children:
                self.visit(c, node)

    def emit_odd(self, node):
        """GPU work matched by place with an event that launches nothing"""
        self.emitted.add(node)
        for source, v in (("trace1", node.one), ("trace2", node.two)):
            if self.merge.is_kernel(v):
                self.emit(source, [v], node, name_of(node))

    def one_sided(self, node, parent):
        side = node.one if node.kind == "trace1" else node.two
        if node in self.emitted or not side.on_path:
            return
        self.emitted.add(node)
        work = side.gpu or [side]
        name = None
        if parent is not None:
            name = called(parent.one if node.kind == "trace1" else parent.two)
        self.emit(node.kind, work, parent, name)

    def work(self, nodes):
        """GPU work of one-sided children and, last, the node's own"""
        out = []
        for v in nodes[:-1]:
            out += v.gpu + ([v] if self.merge.is_kernel(v) else [])
        return out + ([nodes[-1]] if self.merge.is_kernel(nodes[-1]) else [])

    def emit(self, source, work, at, name):
        number = None if at is None else at.id
        place = ("nowhere", len(self.at)) if at is None else (at.id, source)
        self.at[place] += work
        for g in work:
            op = g.op
            if op is None:
                continue
            row = {"name": g.name, "cpu_op_name": op.name, "cpu_op_uid": op.uid, "source": source,
                   "kernel_time": g.dur, "busy_time": place, "gpu_op_uid": g.uid,
                   "lowest_common_ancestor_name": name, "lowest_common_ancestor_id": number,
                   "nn_module_stack": ";".join(op.stack), "nn_module_parent": op.stack[-1]}
            for key in ARGS:
                v = (op.args or {}).get(key)
                row[key] = None if v is None else self.list_text(v)
            self.rows.append(row)

    def list_text(self, v):
        if self.rules.json:
            return json.dumps(v, separators=(",", ":"), ensure_ascii=False)
        return str(as_tuple(v))

    def is_identical(self):
        sides = [[{k: v for k, v in r.items() if k != "source"} for r in self.rows
                  if r["source"] == s] for s in ("trace1", "trace2")]
        return bool(self.rows) and sides[0] == sides[1]

    # ---- diff_stats_unique_args_summary

    def summarise(self):
        keys = [c for c in COLUMNS
                if c not in ("kernel_time", "lowest_common_ancestor_id", "gpu_op_uid")]
        groups = defaultdict(list)
        for r in self.rows:
            groups[tuple(r[k] for k in keys)].append(r["kernel_time"])
        out = []
        for key, times in groups.items():
            row = dict(zip(keys, key))
            row["operation_count"] = len(times)
            row["kernel_time_sum"] = sum(times)
            row["kernel_time_mean"] = sum(times) / len(times)
            out.append(row)
        if not self.rules.json:  # the reference compares all columns as text
            out.sort(key=lambda r: ["nan" if r[c] is None else cell(r, c) for c in SUMMARY])
        out.sort(key=lambda r: -r["kernel_time_sum"])
        return out

    # ---- names of ops, as the reference has them in this table

    def rename(self):
        """a common name for ops that replace each other"""
        lcas = defaultdict(lambda: ([], []))
        for r in self.rows:
            if r["lowest_common_ancestor_id"] is not None:
                side = lcas[r["lowest_common_ancestor_id"]][r["source"] == "trace2"]
                if r["cpu_op_name"] not in side:
                    side.append(r["cpu_op_name"])
        seen = set()
        for a, b in lcas.values():
            if not a or not b or seen.issuperset(a + b):
                continue
            seen.update(a + b)
            if len(a) == len(b):
                pairs = [(x, y) for x, y in zip(a, b) if x != y and self.common(x, y)]
            else:
                pairs = self.pairs_of([x for x in a if x not in b], [y for y in b if y not in a])
            for x, y in pairs:
                self.names[x] = self.names[y] = self.common(x, y)
        if not self.rules.common:
            for r in self.summary:
                r["cpu_op_name"] = self.names.get(r["cpu_op_name"], r["cpu_op_name"])
                if r["nn_module_parent"] is not None:
                    r["nn_module_parent"] = r["nn_module_parent"].replace(" ", "")

    def pairs_of(self, a, b):
        out, b = [], list(b)
        for x in a:
            y = next((y for y in b if self.common(x, y)), None)
            if y is not None:
                out.append((x, y))
                b.remove(y)
        return out

    def common(self, a, b):
        x, y = a.split("::")[-1], b.split("::")[-1]
        if x == y or x in y:
            return x
        if y in x:
            return y
        if x[:20] == y[:20]:
            return x + "/" + y
        m, n = self.module(a), self.module(b)
        if m is None or m != n:
            return None
        if m == "root" and self.rules.root_name:
            return x + "|" + y
        return m.replace(" ", "")

    def module(self, op):
        """the one module that holds the op, in trace2 if it is there"""
        parents = defaultdict(set)
        for r in self.rows:
            if r["cpu_op_name"] == op:
                parents[r["source"]].add(r["nn_module_parent"])
        last = parents.get("trace2", parents.get("trace1", ()))
        return next(iter(last)) if len(last) == 1 else None

    def table(self, name):
        """lines of cells, after the header"""
        columns, rows = {"diff_stats": (COLUMNS, self.rows),
                         "diff_stats_unique_args_summary": (SUMMARY, self.summary)}[name]
        columns = [c for c in columns if c != "source" or self.rules.keep_source
                   or not self.identical]
        return [columns] + [[cell(r, c) for c in columns] for r in rows]


def cell(row, column):
    v = row[column]
    if v is None:
        return ""
    return repr(v / 1000) if column in TIMES else str(v)
