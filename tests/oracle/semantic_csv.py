#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic_csv.py: semantic.py for rocprofv3's CSV files.

    semantic_csv.py [--sample N] [--write] TABLE

Fields are text, and only integers are times. A file's name gives the kind of rows that
do not have it.
"""
import csv
import os
import sys

import semantic
from semantic_events import event, outcome

KERNELS, COPIES, CALLS = "kernel_trace.csv", "memory_copy_trace.csv", "hip_api_trace.csv"
BUFFERS = {COPIES: "memory_copy", CALLS: "hip_api"}


def trace():
    """file -> (columns, rows)"""
    return {
        KERNELS: (
            ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id",
             "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp",
             "Workgroup_Size_X", "Grid_Size_X"],
            [["KERNEL_DISPATCH", "4", "1", "1", "42", str(n), str(k), name, str(n), str(a), str(b),
              "64", "640"] for n, k, name, a, b in (
                  (1, 7, "gemm", 1000, 1500), (2, 8, "add", 1400, 2400),
                  (3, 7, "gemm", 5000, 6001), (6, 8, "add", 7000, 7500))]),
        COPIES: (
            ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id",
             "Correlation_Id", "Start_Timestamp", "End_Timestamp"],
            [["MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", "1", "0", "4", n, a, b] for n, a, b in (
                ("4", "2300", "3000"), ("5", "9000", "9100"))]),
        CALLS: (
            ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp",
             "End_Timestamp"],
            [["HIP_RUNTIME_API", "hipMemcpyAsync" if n in (4, 5) else "hipLaunchKernel", "77", "42",
              str(n), str(100 * n), str(100 * n + 50)] for n in range(1, 7)]),
    }


def put(files, path):
    for name, (columns, rows) in files.items():
        with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8",
                  newline="") as f:
            out = csv.writer(f, quoting=csv.QUOTE_ALL, lineterminator="\n")
            out.writerows([columns, *rows])


MUTATIONS = {
    "missing": None,  # the column
    "empty": lambda v, w: "", "word": lambda v, w: "soon", "real": lambda v, w: v + ".5",
    "negative": lambda v, w: "-1", "zero": lambda v, w: "0", "huge": lambda v, w: "9" + "0" * 18,
    "beyond": lambda v, w: "9" * 30, "next": lambda v, w: w,
    "again": None,  # the row
    "twice": None,  # the column
}


def mutated(kind, member, mutation, extent):
    files = trace()
    columns, rows = files[kind]
    several = range({"one": 1, "half": (len(rows) + 1) // 2, "all": len(rows)}[extent])
    if mutation == "again":
        rows += [list(rows[i]) for i in several]
        return files
    at = columns.index(member)
    if mutation == "missing":
        files[kind] = (columns[:at] + columns[at + 1:], [r[:at] + r[at + 1:] for r in rows])
    elif mutation == "twice":
        files[kind] = (columns + [member], [r + [r[at]] for r in rows])
    else:
        values = [r[at] for r in rows]
        for i in several:
            rows[i][at] = MUTATIONS[mutation](values[i], values[(i + 1) % len(rows)])
    return files


# for columns that are neither times nor kinds of rows
FEW = ("missing", "word", "next")
WHOLE = ("Kind", "Domain", "Start_Timestamp", "End_Timestamp", "Kernel_Id", "Kernel_Name",
         "Correlation_Id")


def cases():
    for kind, (columns, _) in trace().items():
        for member in columns:
            for mutation in MUTATIONS:
                if mutation != "again" and (member in WHOLE or mutation in FEW):
                    yield kind, member, mutation
        yield kind, "(row)", "again"


# ---- what to expect, from the mutated files


def number(text):
    try:
        v = int(text)
    except (TypeError, ValueError):
        return None
    return v if -(1 << 63) <= v < 1 << 63 else None


def kind_of(file, r):
    """by the row, else by the file"""
    word = r.get("Kind", r.get("Domain", "")).split("_")[0]
    return {"KERNEL": "kernel", "MEMORY": "copy", "HIP": "call"}.get(
        word, {KERNELS: "kernel", COPIES: "copy", CALLS: "call"}[file])


def rows_of(path, file):
    with open(os.path.join(os.path.dirname(path), file), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def read(path):
    """GPU work belongs to the process of the calls, if that is known"""
    process = next((n for n in (number(r.get("Process_Id")) for r in rows_of(path, CALLS))
                    if n is not None), None)
    for file in (KERNELS, COPIES, CALLS):
        for r in rows_of(path, file):
            n = number(r.get("Kernel_Id"))
            name = r.get("Kernel_Name") or (
                "unknown_kernel" if n is None else "unknown_kernel_%d" % n)
            corr = number(r.get("Correlation_Id"))
            of = number(r.get("Process_Id")) if file == CALLS else process
            yield event(kind_of(file, r), name if file == KERNELS else r.get("Function", BUFFERS[file]),
                        number(r.get("Start_Timestamp")), number(r.get("End_Timestamp")), 0,
                        tuple(r.get(k) for k in ("Agent_Id", "Stream_Id", "Correlation_Id")),
                        None if corr is None else (of, corr))


class Files(semantic.Format):
    extents, name, put = ("one", "half", "all"), KERNELS, staticmethod(put)

    def outcome(self, path, tree):
        return outcome(path, tree, read)


if __name__ == "__main__":
    sys.exit(semantic.check(sys.argv[1:], list(cases()), Files(mutated, None, trace()),
                            list(MUTATIONS)))
