#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tl-compare on drawn reports against a join in plain Python, cell by cell.

usage: tests/oracle/compare_drawn.py SEED COUNT

Two to four reports, folders and workbooks, with columns in any order, missing
ones, keys that repeat or are spelled in several ways, empty tables, and texts
that CSV and XML must escape.
"""
import ast
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import write_xlsx

US = "Kernel Time (µs)"
# sheet: keys, measures, dropped, dropped of variants, three tables?, base name
SHEETS = {
    "ops_summary": (["name"], ["total_direct_kernel_time_ms", "Count"],
                    ["total_direct_kernel_time_sum"],
                    ["Cumulative Percentage (%)"], False, "ops_summary"),
    "unified_perf_summary": (
        ["name", "Input type", "Input Dims", "Input Strides",
         "Concrete Inputs"],
        [US + "_sum", US + "_mean", "operation_count"], [], [], True,
        "unified_perf_summary"),
    "UnaryElementwise": (
        ["name"], [US + "_sum", US + "_mean", "name_count", "TFLOPS/s_mean",
                   "TB/s_mean"], [], ["GFLOPS_first", "Input Dims_first"],
        True, "un_eltwise"),
    "gpu_timeline": (["type"], ["time ms"], [], [], False, "gpu_timeline"),
}
TEXTS = ["a", "b", "ab", "µ", "((1, 2),)", 'x,"y"', "two\nlines", "=1+1",
         "None", "Unknown", "_x0041_", "  pad ", "A", "nan", "é😀", "True", "<&>",
         "[[1,2]]", "('c10::Half', 0.5)", '["float16",0.50]', "[null,true]",
         "(None, True)", "(np.float64(2.0), 'é')", '[2,"\\u00e9"]', "(1",
         "c10::BFloat16", "bf16", "{'a': [1]}", '{"a":[1.0]}']
EMPTY = {"", "nan"}
NONE = {"", "nan", "NaN", "None", "null", "Unknown"}
TYPES = {"c10::Half": "float16", "c10::BFloat16": "bfloat16",
         "bf16": "bfloat16"}


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def value(self, kind):
        r = self.r
        if r.random() < .15:
            return ""
        if kind == "key":
            return r.choice(["a", "b", "c", "long name of a kernel", "ü"])
        if kind == "number":
            return repr(r.choice([r.randint(0, 5), round(r.random() * 99, 3),
                                  r.random() * 1e4, float(r.randint(-3, 9)),
                                  -r.random()]))
        if kind == "parameter":
            return r.choice(["1", "2", "2.5", "True", "False", "bf16", ""])
        return r.choice(TEXTS)

    def sheet(self, name):
        r = self.r
        keys, measures, drop, drop_variant, _, _ = SHEETS[name]
        columns = [(keys[0], "key")]
        columns += [(k, "text") for k in keys[1:] if r.random() < .9]
        columns += [(m, "number") for m in measures
                    if m == measures[0] or r.random() < .9]
        columns += [(d, "number") for d in drop + drop_variant
                    if r.random() < .7]
        columns += [(e, r.choice(["number", "text"]))
                    for e in ("extra", "more (µs)", "ex_UID")
                    if r.random() < .5]
        if name == "UnaryElementwise":
            columns += [("param: " + p, "parameter") for p in "NMKX"
                        if r.random() < .8]
        if r.random() < .1:
            columns.append(("rank", "parameter"))
        r.shuffle(columns)
        rows = [[self.value(kind) for _, kind in columns]
                for _ in range(r.choice([0, 1, 3, 8, 15]))]
        # a workbook has no row without cells
        return [c for c, _ in columns], [row for row in rows if any(row)]

    def report(self):
        return {name: self.sheet(name) for name in SHEETS
                if name == "ops_summary" or self.r.random() < .85}


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def scalar(text, is_type):
    if text in NONE:
        return None
    if text in ("True", "False"):
        return text == "True"
    value = number(text)
    if value is None:
        return TYPES.get(text, text) if is_type else text
    return float("%.15g" % value)


def plain(value, is_type):
    """lists and tuples alike, and what is in them"""
    if isinstance(value, (list, tuple)):
        return [plain(v, is_type) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v, is_type) for k, v in value.items()}
    if value is None or isinstance(value, bool):
        return value
    return scalar(str(value), is_type)


def key_of(text, column):
    """the meaning of a cell, as bytes"""
    is_type = "type" in column
    value = scalar(text, is_type)
    if text[:1] in ("[", "(", "{"):
        try:
            value = plain(json.loads(text), is_type)
        except ValueError:
            try:
                value = plain(ast.literal_eval(
                    re.sub(r"np\.float64\(([^)]*)\)", r"\1", text)), is_type)
            except SyntaxError:
                pass
    return json.dumps(value)


def written(text):
    """a cell as written, for the order of rows"""
    if text in EMPTY:
        return (2, "")
    value = number(text)
    return (1, text.encode()) if value is None else (0, float("%.15g" % value))


class Join:
    def __init__(self, name, reports, tags):
        (self.keys, self.measures, self.drop, self.drop_variant, self.split,
         self.base) = SHEETS[name]
        self.sheets = [r.get(name, ([], [])) for r in reports]
        self.tags = tags
        self.tables = {}
        self.status = 0
        self.unclear = set()
        full = [s for s in self.sheets if s[1]]
        if full:
            self.keys = self.find_keys(full)
            rows = self.order(self.pair())
            self.status = 3 if self.warns(rows) else 0
            self.make(rows, name == "gpu_timeline")

    def find_keys(self, full):
        def in_all(column):
            return all(column in columns for columns, _ in full)
        keys = [k for k in self.keys if in_all(k)]
        if self.base == "un_eltwise":
            keys += sorted(c for c in full[0][0]
                           if c.startswith("param: ") and in_all(c))
        return keys + [c for c in ("rank",) if c not in keys and in_all(c)]

    def keys_of(self, how):
        """the key of each row of each report"""
        return [[tuple(how(row[columns.index(k)], k) for k in self.keys)
                 for row in rows] for columns, rows in self.sheets]

    def pair(self):
        """(key, how often) -> the row of each report"""
        joined = {}
        means = self.keys_of(key_of)
        stands = self.keys_of(lambda text, _: written(text))
        self.unclear = set()
        for keys, texts in zip(means, stands):
            first = {}
            self.unclear.update(k for k, t in zip(keys, texts)
                                if first.setdefault(k, t) != t)
        for at, (_, rows) in enumerate(self.sheets):
            seen = {}
            for row, key, text in zip(rows, means[at], stands[at]):
                if key in self.unclear:
                    key = text
                nth = seen[key] = seen.get(key, -1) + 1
                found = joined.setdefault((key, nth),
                                          [None] * len(self.sheets) + [text])
                found[at] = row
        return joined

    @staticmethod
    def order(joined):
        """by the first report's key; equal ones stay in order"""
        return [row[:-1] for _, row in sorted(
            joined.items(), key=lambda item: (item[1][-1], item[0][1]))]

    def warns(self, rows):
        """are keys unclear, or is a report apart from the first?"""
        return bool(self.unclear) or any(
            self.sheets[0][1] and self.sheets[at][1] and
            not any(row[0] and row[at] for row in rows)
            for at in range(1, len(self.sheets)))

    def cell(self, row, at, column):
        columns = self.sheets[at][0]
        if row[at] is None or column not in columns:
            return ""
        text = row[at][columns.index(column)]
        return "" if text in EMPTY else text

    def by_measure(self, rows, at):
        def rank(row):
            value = number(self.cell(row, at, self.measures[0]))
            return (value is None, -(value or 0))
        return sorted(rows, key=rank)

    def make(self, rows, is_timeline):
        if not is_timeline:
            rows = self.by_measure(rows, 0)
        if not self.split:
            self.table(self.base, rows, range(len(self.tags)))
            return
        for at, tag in list(enumerate(self.tags))[1:]:
            for part, base, variant in (("intersect", True, True),
                                        ("only_baseline", True, False),
                                        ("only_variant", False, True)):
                chosen = [row for row in rows
                          if (row[0] is not None) == base
                          and (row[at] is not None) == variant]
                if not base:
                    chosen = self.by_measure(chosen, at)
                self.table(f"{self.base}_{part}_{tag}", chosen,
                           [0] * base + [at] * variant)

    def difference(self, row, at, measure, is_percent):
        a = number(self.cell(row, 0, measure))
        b = number(self.cell(row, at, measure))
        if a is None or b is None or (is_percent and a == 0):
            return ""
        return 100 * (b - a) / a if is_percent else b - a

    def table(self, name, rows, shown):
        head, out = list(self.keys), [[self.key(row, k) for k in self.keys]
                                      for row in rows]
        for m in self.measures:
            for at in shown:
                if at == 0 or 0 not in shown or any(
                        m not in self.sheets[i][0] for i in (0, at)):
                    continue
                for word, is_percent in (("diff", False), ("pct", True)):
                    head.append(f"{m}__{self.tags[at]}_{word}")
                    for row, cells in zip(rows, out):
                        cells.append(self.difference(row, at, m, is_percent))
        for at in shown:
            for column in self.sheets[at][0]:
                if column in self.keys + self.drop or (
                        at and column in self.drop_variant):
                    continue
                head.append(f"{self.tags[at]}::{column}")
                for row, cells in zip(rows, out):
                    cells.append(self.cell(row, at, column))
        self.tables[name] = head, out

    def key(self, row, column):
        return self.cell(row, next(i for i, r in enumerate(row)
                                   if r is not None), column)


def write(report, path, is_book):
    if is_book:
        book = write_xlsx.Book(path)
        for name, (columns, rows) in report.items():
            book.rows(name, [columns] + rows)
        book.finish()
        return
    os.mkdir(path)
    for name, (columns, rows) in report.items():
        with open(f"{path}/{name}.csv", "w", encoding="utf-8",
                  newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([columns] + rows)


def equal(want, got):
    if isinstance(want, str):
        a, b = number(want), number(got)
        return want == got or (a is not None and a == b)
    return number(got) is not None and math.isclose(
        want, float(got), rel_tol=1e-12, abs_tol=1e-12)


def compare(draw, folder):
    reports = [draw.report() for _ in range(draw.r.choice([2, 2, 3, 4]))]
    tags = [f"r{i}" for i in range(len(reports))]
    paths = []
    for tag, report in zip(tags, reports):
        is_book = draw.r.random() < .5
        paths.append(f"{folder}/{tag}" + (".xlsx" if is_book else ""))
        write(report, paths[-1], is_book)
    want, status = {}, 0
    for name in SHEETS:
        join = Join(name, reports, tags)
        want.update(join.tables)
        status = max(status, join.status)
    run = subprocess.run(["tl-compare", "-d", f"{folder}/out"] + paths,
                         capture_output=True, text=True, check=False)
    if not want:
        return [] if run.returncode == 1 else ["no table was wanted"]
    if run.returncode != status:
        return [f"status {run.returncode}: {run.stderr}"]
    bad = []
    names = {f[:-4] for f in os.listdir(f"{folder}/out")}
    if names - {"summary", "changes"} != set(want):
        return [f"tables {names ^ set(want)}"]
    for name, (head, rows) in want.items():
        with open(f"{folder}/out/{name}.csv", encoding="utf-8",
                  newline="") as file:
            got = list(csv.reader(file))
        if got[0] != head or len(got) - 1 != len(rows):
            bad.append(f"{name}: {got[0]} and {len(got) - 1} rows, not {head} "
                       f"and {len(rows)}")
            continue
        for i, (a, b) in enumerate(zip(rows, got[1:])):
            bad += [f"{name} row {i} {c}: {y!r}, not {x!r}"
                    for c, x, y in zip(head, a, b) if not equal(x, y)]
    return bad


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    for i in range(count):
        with tempfile.TemporaryDirectory() as folder:
            bad = compare(Draw(seed + i), folder)
        if bad:
            print(f"seed {seed + i}:", *bad[:5], sep="\n")
            sys.exit(1)


if __name__ == "__main__":
    main()
