# SPDX-License-Identifier: MIT
"""tl-collective against the reference's tables, cell by cell; speaks TAP.

usage: collective.py DATA

Differences by intent are in NAMED, with the reason's number in the spec, and
are themselves checked.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile

from ours import labels as marked_columns

# ns between two neighbouring doubles at the size of the data set's times
STEP = {"multirank_cifar_mi300x_4r": 0.244, "multirank_dlrm_v100_8r": 250,
        "mi300_resnet_ckpt": 0.488, "hta_nccl_parser": 0.977}
KEYS = {
    "nccl_long": ["collective_id", "rank"],
    "nccl_implicit_sync": ["collective_id"],
    "nccl_summary_implicit_sync": ["Collective name", "dtype", "In msg nelems"],
    "nccl_summary_long": ["rank", "Process Group Name", "Process Group Ranks",
                          "Collective name", "Group size", "dtype",
                          "In msg nelems", "Out msg nelems", "In split size",
                          "Out split size", "stream"],
    "straggler_summary": ["rank"],
}
KEYS["coll_analysis"] = KEYS["nccl_summary_long"]
ROUNDED = {"total_wait_time_us", "mean_wait_time_us", "pct_arrived_last",
           "total_nccl_dur_us"}  # to one decimal, in the reference
NAMED = {
    "2.4": "rows with an empty key are kept",
    "3.4": "an empty key is empty, not 'Unknown'",
    "1.2": "a list that is JSON prints as JSON, not as a Python tuple",
    "bandwidth": "the bandwidths of a summary are not left out where all are empty",
}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows = [r for r in rows if r]
    return (rows[0], rows[1:]) if rows else ([], [])


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def key_text(text):
    """The same key in both: integers may print as floats in the reference."""
    n = number(text)
    if text == "Unknown":
        return ""
    if n is not None:
        return repr(n)
    return re.sub(r"[()\[\], ]+", " ", text).strip()


def tolerance(column, value, step):
    """Times in us are off by a step or two of a double."""
    if column in ROUNDED:
        return 0.0501
    if "bw" in column or "ms" in column or "pct" in column:
        return abs(value) * 1e-9 + 1e-12
    if any(w in column for w in ("skew", "wait", "latency", "_ts", "ts")):
        return max(1e-3, 2.5 * step / 1000) if step < 100 else 1e-6
    return abs(value) * 1e-9 + 1e-9


def same(column, ours, theirs, step):
    a, b = number(ours), number(theirs)
    if a is not None and b is not None:
        return abs(a - b) <= tolerance(column, b, step)
    return key_text(ours) == key_text(theirs)


def exact(ours, theirs):
    a, b = number(ours), number(theirs)
    return a == b if b is not None else key_text(ours) == key_text(theirs)


class Tap:
    def __init__(self):
        self.n = self.cells = self.equal = 0
        self.failed = False

    def result(self, good, text, why=()):
        self.n += 1
        self.failed |= not good
        print("%sok %d - %s" % ("" if good else "not ", self.n, text))
        for line in list(why)[:12]:
            print("# " + line)


def compare(tap, name, table, ours_path, theirs_path, step, traces):
    head, rows = read(theirs_path)
    ours_head, ours_rows = read(ours_path)
    bad, cells = [], 0
    text = "%s: %s" % (name, table)
    if table == "nccl_summary_long" and head and not rows:
        keys = [ours_head.index(k) for k in KEYS[table]]
        empty = all(any(r[k] == "" for k in keys) for r in ours_rows)
        tap.result(empty and ours_rows, "%s # 2.4: %s" % (text, NAMED["2.4"]))
        return
    missing = [c for c in head if c not in ours_head]
    if missing:
        bad.append("no columns: " + ", ".join(missing[:5]))
    # the reference has the statistics of its --agg_metrics, we have all
    more = [c for c in ours_head if c not in head and not (
            table == "nccl_summary_implicit_sync" and
            re.match("(algo|bus) bw|.*_(mean|median|std|min|max)$", c))]
    unmarked = set(more) - marked_columns("tl-collective", table, inputs=tuple(traces)) \
        if more else set()
    if unmarked:
        bad.append("columns that are not marked as ours: " + ", ".join(sorted(unmarked)))
    order = [c for c in ours_head if c in head]
    if order != [c for c in head if c in ours_head]:
        bad.append("the columns' order differs")

    def index(columns, row):
        return tuple(key_text(row[columns.index(k)]) for k in KEYS[table])
    mine = {}
    for row in ours_rows:
        mine[index(ours_head, row)] = row
    for row in rows:
        own = mine.pop(index(head, row), None)
        if own is None:
            bad.append("no row " + str(index(head, row)))
            continue
        for column, value in zip(head, row):
            if column not in ours_head:
                continue
            cells += 1
            tap.equal += exact(own[ours_head.index(column)], value)
            if not same(column, own[ours_head.index(column)], value, step):
                bad.append("%s %s: ours %r, reference %r" % (
                    index(head, row), column,
                    own[ours_head.index(column)], value))
    extra = [k for k in mine
             if table not in ("coll_analysis", "nccl_summary_long") or
             "" not in k]
    if extra:
        bad.append("rows too many: " + str(extra[:2]))
    tap.cells += cells
    tap.result(not bad, "%s: %d cells of %d rows" % (text, cells, len(rows)),
               bad)


def run(out, options, traces):
    return subprocess.run(["tl-collective", "-d", out] + options + traces,
                          check=False, stderr=subprocess.PIPE)


def reference(variant, table):
    path = os.path.join(variant, table + ".csv")
    if os.path.exists(path):
        return path
    with open(os.path.join(variant, "SAME_AS.txt"), encoding="utf-8") as file:
        for line in file:
            name, other = line.split()
            if name == table + ".csv":
                return os.path.join(os.path.dirname(variant), other, name)
    raise FileNotFoundError(path)


def multirank(tap, data, name, nodes):
    folder = os.path.join(data, name)
    traces = sorted(os.path.join(folder, f) for f in os.listdir(folder)
                    if f.endswith(".json.gz"))
    variants = {"detailed": [],
                "node_span_heatmap": ["--gpus-per-node", nodes]}
    for variant, options in variants.items():
        with tempfile.TemporaryDirectory() as out:
            done = run(out, options, traces)
            tap.result(done.returncode == 0, "%s %s: exit 0" % (name, variant),
                       done.stderr.decode().splitlines())
            for table in sorted(KEYS):
                if table == "coll_analysis":
                    continue
                ref = reference(os.path.join(folder, "reference", variant),
                                table)
                compare(tap, name + " " + variant, table,
                        os.path.join(out, table + ".csv"), ref, STEP[name],
                        traces)


def single(tap, data, name, trace, variant):
    folder = os.path.join(data, name)
    ref = os.path.join(folder, "reference", variant, "coll_analysis.csv")
    with tempfile.TemporaryDirectory() as out:
        done = run(out, ["--table", "coll_analysis"],
                   [os.path.join(folder, trace)])
        tap.result(done.returncode == 0, "%s: exit 0" % name,
                   done.stderr.decode().splitlines())
        compare(tap, name, "coll_analysis",
                os.path.join(out, "coll_analysis.csv"), ref, STEP[name],
                [os.path.join(folder, trace)])


def main():
    data = sys.argv[1]
    tap = Tap()
    multirank(tap, data, "multirank_cifar_mi300x_4r", "2")
    multirank(tap, data, "multirank_dlrm_v100_8r", "4")
    single(tap, data, "multirank_cifar_mi300x_4r", "rank0_trace.json.gz",
           "rank0_default")
    single(tap, data, "mi300_resnet_ckpt", "resnet_act_checkpoint.json.gz",
           "default")
    single(tap, data, "hta_nccl_parser", "nccl_data.json.gz", "default")
    print("# %d cells compared" % tap.cells)
    print("1..%d" % tap.n)
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
