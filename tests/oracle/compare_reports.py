#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tl-compare against the reference's comparison of the same two reports.

usage: tests/oracle/compare_reports.py report DATASET VARIANT FOLDER
       tests/oracle/compare_reports.py tags REFERENCE
       tests/oracle/compare_reports.py check OURS REFERENCE [unordered]

report copies the tables of one variant into FOLDER, with those that SAME_AS.txt
names. check compares every table and cell of the folder REFERENCE with ours:
numbers to 1e-9, rows in the reference's order, except rows that are equal in the
column it sorts by; unordered: columns may be in another order. Intended
differences are counted by name:

  headers   a table without rows has no columns there
  empty     a column that is empty in all rows is missing there
  repeated  rows of a repeated key: there each with each, here in order; each of
            our rows must be one of theirs
"""
import collections
import csv
import math
import os
import re
import shutil
import sys

csv.field_size_limit(1 << 30)
KEYS = {
    "gpu_timeline": ["type"], "ops_summary": ["name"],
    "ops": ["name", "Input type", "Input Dims", "Input Strides",
            "Concrete Inputs"],
}
# (column that decides the order, in the baseline)
ORDER = [("kernel_summary", ("Kernel duration (µs)_sum",
                             "Total Kernel Time (ms)")),
         ("ops_summary", ("total_direct_kernel_time_ms",)),
         ("ops_unique_args", ("total_direct_kernel_time_sum",)),
         ("", ("Kernel Time (µs)_sum",))]


def copy_report(dataset, variant, folder):
    base = os.path.join(dataset, "reference")
    os.makedirs(folder)
    for name in os.listdir(os.path.join(base, variant)):
        if name.endswith(".csv"):
            shutil.copy(os.path.join(base, variant, name), folder)
    same = os.path.join(base, variant, "SAME_AS.txt")
    if os.path.exists(same):
        with open(same, encoding="utf-8") as file:
            for line in file:
                table, other = line.split()
                shutil.copy(os.path.join(base, other, table), folder)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    return (rows[0], rows[1:]) if rows else ([], [])


def number(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def equal(a, b):
    if a == b:
        return True
    x, y = number(a), number(b)
    return x is not None and y is not None and math.isclose(
        x, y, rel_tol=1e-9, abs_tol=1e-12)


def normal(text):
    """For keys: equal numbers are equal texts."""
    value = number(text)
    return text if value is None else f"{value:.12g}"


def tags(reference):
    head, _ = read(os.path.join(reference, "gpu_timeline.csv"))
    return [c[:-len("::time ms")] for c in head if c.endswith("::time ms")]


def keys_of(head):
    return [c for c in head if "::" not in c
            and not re.search(r"__.*_(diff|pct)$", c)]


class Check:
    def __init__(self):
        self.count = collections.Counter()
        self.bad = []

    def say(self, table, text):
        self.bad.append(f"{table}: {text}")

    def columns(self, table, ours, theirs):
        """The same columns in the same order, except those empty there."""
        common = [c for c in ours if c in theirs]
        if common != theirs:
            self.say(table, "columns " + ", ".join(
                [f"-{c}" for c in theirs if c not in ours]
                + [f"+{c}" for c in ours if c not in theirs]))
        return [c for c in ours if c not in theirs]

    def row(self, table, head, ours, theirs):
        same = 0
        for column, a, b in zip(head, ours, theirs):
            if equal(a, b):
                same += 1
            else:
                self.say(table, f"{column}: {a[:60]!r}, not {b[:60]!r}")
        return same

    def table(self, table, ours, theirs):
        ohead, orows = ours
        head, rows = theirs
        self.count["tables"] += 1
        if not head:
            self.count["headers"] += 1
            if orows:
                self.say(table, f"{len(orows)} rows, not 0")
            return
        for column in self.columns(table, ohead, head):
            at = ohead.index(column)
            self.count["empty"] += 1
            if any(row[at] for row in orows):
                self.say(table, f"{column} is not in the reference")
        if any(c not in ohead for c in head):
            return
        pick = [ohead.index(c) for c in head]
        orows = [[row[i] for i in pick] for row in orows]
        nkeys = len(keys_of(head))
        groups = self.group(orows, nkeys), self.group(rows, nkeys)
        if set(groups[0]) != set(groups[1]):
            self.say(table, "other keys")
            return
        for key, wanted in groups[1].items():
            self.rows(table, head, groups[0][key], wanted)
        self.order(table, head, orows, rows, nkeys)

    @staticmethod
    def group(rows, nkeys):
        found = collections.OrderedDict()
        for row in rows:
            found.setdefault(tuple(map(normal, row[:nkeys])), []).append(row)
        return found

    def rows(self, table, head, ours, theirs):
        if len(ours) == len(theirs) == 1:
            self.count["cells"] += len(head)
            self.count["equal"] += self.row(table, head, ours[0], theirs[0])
            return
        self.count["repeated keys"] += 1
        for row in ours:
            self.count["rows of repeated keys"] += 1
            fits = [t for t in theirs
                    if all(equal(a, b) for a, b in zip(row, t))]
            if fits:
                self.count["cells"] += len(head)
                self.count["equal"] += len(head)
            elif not self.is_single(head, row, theirs):
                self.say(table, f"no such row of {row[0][:60]}")

    def is_single(self, head, row, theirs):
        """A row without a match here that has several there."""
        copies = [i for i, c in enumerate(head) if "::" in c and row[i] != ""]
        good = any(all(equal(row[i], t[i]) for i in copies) for t in theirs)
        self.count["cells"] += len(copies)
        self.count["equal"] += len(copies) if good else 0
        return good and copies

    def order(self, table, head, ours, theirs, nkeys):
        names = next(n for start, n in ORDER if table.startswith(start))
        found = [i for i, c in enumerate(head) if "::" in c
                 and c.split("::", 1)[1] in names]
        if not found or table == "gpu_timeline":
            found = [0]

        def order_of(rows):
            out = []
            for row in rows:
                value, key = normal(row[found[0]]), tuple(
                    map(normal, row[:nkeys]))
                if not out or out[-1][0] != value:
                    out.append((value, set()))
                out[-1][1].add(key)
            return out
        if order_of(ours) != order_of(theirs):
            self.say(table, "another order of rows")


def arranged(table, head):
    """The columns in the order of head, followed by others."""
    names, rows = table
    order = [names.index(c) for c in head if c in names]
    order += [i for i, c in enumerate(names) if c not in head]
    return [names[i] for i in order], [[row[i] for i in order] for row in rows]


def check(ours, reference, unordered=None):
    c = Check()
    for name in sorted(os.listdir(reference)):
        path = os.path.join(ours, name)
        if not os.path.exists(path):
            c.say(name, "is missing")
            continue
        table, want = read(path), read(os.path.join(reference, name))
        c.table(name[:-4], arranged(table, want[0]) if unordered else table, want)
    print(", ".join(f"{v} {k}" for k, v in c.count.items()))
    for line in c.bad[:30]:
        print(line)
    return bool(c.bad) or c.count["cells"] != c.count["equal"]


def main():
    if sys.argv[1] == "report":
        copy_report(*sys.argv[2:])
    elif sys.argv[1] == "tags":
        print(",".join(tags(sys.argv[2])))
    else:
        sys.exit(check(*sys.argv[2:]))


if __name__ == "__main__":
    main()
