#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic_sqlite.py: semantic.py for databases: nsys, rpd, rocpd.

    semantic_sqlite.py [--sample N] [--write] SCHEMA TABLE

A value is what SQLite holds; only integers are times and numbers. tl-timeline, tl-kernels
and tl-launch must show what is computed here from the rows.
"""
import sqlite3
import sys

import semantic
from semantic_events import event, integer, outcome

# ---- the databases: table -> (columns, rows)

PID = 77 << 24


def nsys():
    gpu = ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"]
    at = lambda a, b, stream, corr: [a, b, 0, 1, stream, corr, PID]
    dims = ["gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"]
    call = lambda a, b, corr, name: [a, b, 0, name, 0, PID + 42, corr]
    return {
        "StringIds": (["id", "value"], [
            [0, ""], [1, "gemm"], [2, "add"], [3, "cudaLaunchKernel_v7000"],
            [4, "cudaMemcpyAsync_v3020"], [5, "cudaMemsetAsync_v3020"], [6, "step"]]),
        "CUPTI_ACTIVITY_KIND_KERNEL": (gpu + ["demangledName", "shortName", *dims], [
            [*at(1000, 1500, 7, 1), 1, 1, 4, 1, 1, 128, 1, 1],
            [*at(1400, 2400, 8, 2), 2, 2, 4, 1, 1, 128, 1, 1],
            [*at(5000, 6001, 7, 3), 1, 1, 4, 1, 1, 128, 1, 1],
            [*at(7000, 7500, 7, 6), 2, 2, 4, 1, 1, 128, 1, 1]]),
        "CUPTI_ACTIVITY_KIND_MEMCPY": (gpu + ["bytes", "copyKind"], [
            [*at(2300, 3000, 7, 4), 4096, 1], [*at(9000, 9100, 7, 5), 4096, 2]]),
        "CUPTI_ACTIVITY_KIND_MEMSET": (gpu + ["value", "bytes"], [
            [*at(3500, 3600, 7, 7), 0, 512], [*at(3700, 3800, 7, 8), 0, 512]]),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (
            ["start", "end", "eventClass", "nameId", "returnValue", "globalTid", "correlationId"],
            [call(100 * n, 100 * n + 50, n, {4: 4, 5: 4, 7: 5, 8: 5}.get(n, 3))
             for n in range(1, 9)]),
        "NVTX_EVENTS": (["start", "end", "eventType", "textId", "globalTid"], [
            [50, 450, 59, 6, PID + 42], [460, 950, 59, 6, PID + 42]]),
    }


def rpd():
    op = lambda n, a, b, name, what: [n, 0, 1, a, b, name, what]
    calls = {4: 5, 5: 5, 7: 6, 8: 6}
    return {
        "rocpd_string": (["id", "string"], [
            [1, ""], [2, "gemm"], [3, "add"], [4, "hipLaunchKernel"], [5, "hipMemcpyAsync"],
            [6, "hipMemsetAsync"], [7, "KernelExecution"], [8, "CopyHostToDevice"],
            [9, "FillBuffer"]]),
        "rocpd_api": (["id", "pid", "tid", "start", "end", "apiName_id", "args_id"], [
            [n, 77, 42, 100 * n, 100 * n + 50, calls.get(n, 4), 1] for n in range(1, 9)]),
        "rocpd_op": (["id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"], [
            op(1, 1000, 1500, 2, 7), op(2, 1400, 2400, 3, 7), op(3, 5000, 6001, 2, 7),
            op(6, 7000, 7500, 3, 7), op(4, 2300, 3000, 1, 8), op(5, 9000, 9100, 1, 8),
            op(7, 3500, 3600, 1, 9), op(8, 3700, 3800, 1, 9)]),
        "rocpd_api_ops": (["api_id", "op_id"], [[n, n] for n in range(1, 9)]),
    }


def rocpd():
    s = "_f0"
    calls = {4: 3, 5: 3}
    return {
        "rocpd_metadata" + s: (["tag", "value"], [["schema_version", "3"]]),
        "rocpd_string" + s: (["id", "string"], [
            [1, "KERNEL_DISPATCH"], [2, "hipLaunchKernel"], [3, "hipMemcpyAsync"],
            [4, "HIP_RUNTIME_API"], [5, "MEMORY_COPY"], [6, "MEMORY_COPY_HOST_TO_DEVICE"]]),
        "rocpd_info_process" + s: (["id", "pid"], [[77, 77]]),
        "rocpd_info_thread" + s: (["id", "pid", "tid"], [[42, 77, 42]]),
        "rocpd_info_agent" + s: (["id", "pid", "type", "type_index", "absolute_index"],
                                 [[1, 77, "CPU", 0, 0], [2, 77, "GPU", 0, 1]]),
        "rocpd_info_kernel_symbol" + s: (["id", "display_name"], [[1, "gemm"], [2, "add"]]),
        "rocpd_event" + s: (["id", "category_id", "stack_id"], [
            *[[n, 4, n] for n in range(1, 7)],
            *[[10 + n, 5 if n in (4, 5) else 1, n] for n in range(1, 7)]]),
        "rocpd_region" + s: (["pid", "tid", "start", "end", "name_id", "event_id"], [
            [77, 42, 100 * n, 100 * n + 50, calls.get(n, 2), n] for n in range(1, 7)]),
        "rocpd_kernel_dispatch" + s: (
            ["pid", "tid", "agent_id", "kernel_id", "dispatch_id", "stream_id", "start", "end",
             "workgroup_size_x", "grid_size_x", "event_id"],
            [[77, 42, 2, k, n, 1, a, b, 64, 640, 10 + n] for n, k, a, b in (
                (1, 1, 1000, 1500), (2, 2, 1400, 2400), (3, 1, 5000, 6001), (6, 2, 7000, 7500))]),
        "rocpd_memory_copy" + s: (
            ["pid", "tid", "start", "end", "name_id", "dst_agent_id", "size", "event_id"],
            [[77, 42, 2300, 3000, 6, 2, 4096, 14], [77, 42, 9000, 9100, 6, 2, 4096, 15]]),
    }


SCHEMAS = {"nsys": nsys, "rpd": rpd, "rocpd": rocpd}


def write(tables, path):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN")  # one write to the disk, not one per row
    for name, (columns, rows) in tables.items():
        db.execute('CREATE TABLE "%s" (%s)' % (name, ", ".join('"%s"' % c for c in columns)))
        db.executemany('INSERT INTO "%s" VALUES (%s)' % (name, ", ".join("?" * len(columns))), rows)
    db.execute("COMMIT")
    db.close()


# ---- the mutations: (value, that of the next row) -> value

MUTATIONS = {
    "missing": None,  # the column
    "null": lambda v, w: None, "word": lambda v, w: "soon", "empty": lambda v, w: "",
    "text": lambda v, w: str(v), "real": lambda v, w: (v if isinstance(v, int) else 0) + 0.5,
    "blob": lambda v, w: b"\x01\x02", "negative": lambda v, w: -1, "zero": lambda v, w: 0,
    "huge": lambda v, w: 9 * 10 ** 18, "next": lambda v, w: w,
    "again": None,  # the row
}


def mutated(tables, kind, member, mutation, extent):
    columns, rows = tables[kind]
    several = range({"one": 1, "half": (len(rows) + 1) // 2, "all": len(rows)}[extent])
    if mutation == "again":
        rows += [list(rows[i]) for i in several]
        return tables
    at = columns.index(member)
    if mutation == "missing":
        tables[kind] = (columns[:at] + columns[at + 1:], [r[:at] + r[at + 1:] for r in rows])
        return tables
    values = [r[at] for r in rows]
    for i in several:
        rows[i][at] = MUTATIONS[mutation](values[i], values[(i + 1) % len(rows)])
    return tables


# for columns that are neither times nor kinds of rows, each type once
FEW = ("null", "word", "next")
WHOLE = ("start", "end", "demangledName", "correlationId", "description_id", "opType_id",
         "kernel_id", "event_id", "category_id", "stack_id")


def cases(schema):
    for kind, (columns, _) in SCHEMAS[schema]().items():
        if "metadata" in kind:
            continue
        for member in columns:
            for mutation in MUTATIONS:
                if mutation != "again" and (member in WHOLE or mutation in FEW):
                    yield kind, member, mutation
        yield kind, "(row)", "again"


# ---- what to expect, from the mutated rows


class Row(dict):
    """a missing column is None"""

    def __missing__(self, key):
        return None


class Rows:
    def __init__(self, tables):
        self.tables = tables

    def of(self, name):
        columns, rows = self.tables[name]
        return [Row(zip(columns, r)) for r in rows]

    def find(self, name, key, value):
        """the first row with that integer in a column"""
        if integer(value) is None:
            return Row()
        return next((r for r in self.of(name) if integer(r[key]) == value), Row())

    def text(self, name, key, value, column):
        t = self.find(name, key, value)[column]
        return t if isinstance(t, str) else ""


def events_nsys(t):
    part = lambda v: v & ~0xffffff if integer(v) is not None else None
    string = lambda v: t.text("StringIds", "id", v, "value")
    for r in t.of("CUPTI_ACTIVITY_KIND_KERNEL"):
        yield event("kernel", string(r["demangledName"]) or string(r["shortName"]) or
                    "unknown_kernel", r["start"], r["end"], part(r["globalPid"]),
                    tuple(integer(r[k]) for k in ("deviceId", "streamId", "correlationId")),
                    integer(r["correlationId"]))
    for kind, name in (("copy", "MEMCPY"), ("fill", "MEMSET")):
        for r in t.of("CUPTI_ACTIVITY_KIND_" + name):
            yield event(kind, "", r["start"], r["end"], part(r["globalPid"]),
                        call=integer(r["correlationId"]))
    for r in t.of("CUPTI_ACTIVITY_KIND_RUNTIME"):
        yield event("call", string(r["nameId"]).split("_v")[0], r["start"], r["end"],
                    part(r["globalTid"]), call=integer(r["correlationId"]))
    for r in t.of("NVTX_EVENTS"):
        if integer(r["eventType"]) == 59:
            yield event("range", "", r["start"], r["end"], part(r["globalTid"]))


def events_rpd(t):
    string = lambda v: t.text("rocpd_string", "id", v, "string")
    for r in t.of("rocpd_op"):
        apis = [t.find("rocpd_api", "id", link["api_id"]) for link in t.of("rocpd_api_ops")
                if integer(link["op_id"]) is not None and link["op_id"] == integer(r["id"])]
        api = apis[0] if apis else None
        name, what = string(r["description_id"]), string(r["opType_id"])
        kind = "kernel" if name or what == "KernelExecution" else \
            "copy" if "Copy" in what or "Memcpy" in what else \
            "fill" if "Fill" in what or "Memset" in what else "slice" if what else "?"
        yield event(kind, name or "unknown_kernel", r["start"], r["end"],
                    integer(api["pid"]) if api else None,
                    (*(integer(r[k]) for k in ("gpuId", "queueId")), str(api and api["id"])),
                    [integer(a["id"]) for a in apis if a])
    for r in t.of("rocpd_api"):
        yield event("call", string(r["apiName_id"]), r["start"], r["end"], integer(r["pid"]),
                    call=integer(r["id"]))


def events_rocpd(t):
    s = "_f0"
    string = lambda v: t.text("rocpd_string" + s, "id", v, "string")
    of = lambda r: t.find("rocpd_event" + s, "id", r["event_id"])

    def call(r):
        stack = integer(of(r)["stack_id"])
        return None if stack is None else (integer(r["pid"]), stack)

    for r in t.of("rocpd_kernel_dispatch" + s):
        name = t.text("rocpd_info_kernel_symbol" + s, "id", r["kernel_id"], "display_name")
        yield event("kernel", name or "unknown_kernel_%d" % (integer(r["kernel_id"]) or 0),
                    r["start"], r["end"], 0, (integer(r["agent_id"]), integer(r["stream_id"]),
                                              str(of(r)["stack_id"])),
                    call(r))
    for r in t.of("rocpd_memory_copy" + s):
        yield event("copy", "", r["start"], r["end"], call=call(r))
    for r in t.of("rocpd_region" + s):
        category = string(of(r)["category_id"])
        kind = "call" if category.startswith("HIP_") else "slice" if category else "?"
        yield event(kind, string(r["name_id"]), r["start"], r["end"], call=call(r))


EVENTS = {"nsys": events_nsys, "rpd": events_rpd, "rocpd": events_rocpd}


# ---- one mutant


def read(path):
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    out = {}
    for (name,) in db.execute("SELECT name FROM sqlite_master"):
        rows = db.execute('SELECT * FROM "%s" ORDER BY rowid' % name)
        out[name] = ([c[0] for c in rows.description], [list(r) for r in rows])
    db.close()
    return out


class Database(semantic.Format):
    extents, name, put = ("one", "half", "all"), "t.db", staticmethod(write)

    def __init__(self, schema):
        self.schema, self.before = schema, SCHEMAS[schema]()

    def mutated(self, *case):
        return mutated(SCHEMAS[self.schema](), *case)

    def outcome(self, path, tree):
        return outcome(path, tree, lambda p: EVENTS[self.schema](Rows(read(p))))


if __name__ == "__main__":
    sys.exit(semantic.check(sys.argv[1:], list(cases(sys.argv[-2])), Database(sys.argv[-2]),
                            list(MUTATIONS)))
