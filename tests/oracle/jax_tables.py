#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jax_tables.py: tables of JAX profiles against tables computed from the file.

usage: jax_tables.py FILE FOLDER      FOLDER: what tl-report -d wrote for FILE

The reader and the rules are those of jax.py, which reproduces the reference's
tables with its faults; here they are left out. Prints how many cells of each
table are equal, and up to ten that differ.
"""
import csv
import json
import os
import statistics
import sys

from jax import COPY, NONE, Kernels, Checked, category, timeline
from xplane import Space


def read(folder, name):
    path = os.path.join(folder, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def dims_of(i):
    """Includes scalars and truth values, which the reference omits."""
    arrays = [] if i is None else [a for o in i.operands if not o.shape.startswith("(") for a in o.arrays]
    return [list(d) for _, d in arrays], [t for t, _ in arrays]


def launches(call):
    """A wait for another stream's event launches no kernel, whatever its id says."""
    return call is not None and "WaitEvent" not in call.name


def check_timelines(folder, planes, out):
    tables = {p.device: timeline(p) for p in planes}
    rows = read(folder, "gpu_timeline_by_agent")
    for r in rows:
        if r["type"] != "unlinked_time":
            table = tables[int(r["dev"])]
            out.cell("timeline", table[r["type"]] / 1e6, r["time ms"])
            out.cell("timeline percent", table[r["type"]] / table["total_time"] * 100, r["percent"])
    for r in read(folder, "gpu_events_averages"):
        if r["type"] != "unlinked_time":
            mean = statistics.fmean(t[r["type"]] for t in tables.values())
            out.cell("averages", mean / 1e6, r["time ms"])
    out.cell("timelines", len(rows), str(9 * len(planes)))


def check_launchers(folder, rows, out):
    """Each kernel: its kind, instruction and time."""
    ours = {(int(r["dev"]), int(r["Kernel stream"]), int(r["ts_ns"]), r["name"]): r
            for r in read(folder, "kernel_launchers")}
    out.cell("kernels", len(ours), str(len(rows)))
    for plane, line, e, launch, i in rows:
        r = ours.get((plane.device, int(line.name.split("#")[1].split("(")[0]), e.ts, e.name))
        if r is None:
            out.wrong.append(f"no kernel {e.name} at {e.ts}")
            continue
        dims, types = dims_of(i)
        for column, want in (("op category", category(e)), ("hlo_op", e.stats.get("hlo_op", "")),
                             ("hlo_module", e.stats.get("hlo_module", ""))):
            out.cell(f"{e.name} {column}", r[column], want)
        out.cell(e.name + " time", e.dur / 1000, r["total_direct_kernel_time"])
        latency = (e.ts - launch.ts) / 1000 if launches(launch) else ""
        out.cell(e.name + " latency", latency, r["GPU_kernel_launch_latency"])
        out.cell(e.name + " dims", json.loads(r["Input Dims"] or "[]"), dims)
        out.cell(e.name + " types", json.loads(r["Input type"] or "[]"), types)


def check_arguments(folder, rows, out):
    groups = {}
    for _, _, e, _, i in rows:
        groups.setdefault((e.name, category(e), *map(json.dumps, dims_of(i))), []).append(e.dur)
    ours = read(folder, "kernel_launchers_unique_args")
    out.cell("unique_args rows", len(ours), str(len(groups)))
    for r in ours:
        key = [json.dumps(json.loads(r[k] or "[]")) for k in ("Input Dims", "Input type")]
        g = groups.get((r["name"], r["op category"], *key), [0])
        for figure, want in (("_sum", sum(g)), ("_mean", statistics.fmean(g)), ("_max", max(g)),
                             ("_std", statistics.stdev(g) if len(g) > 1 else 0)):
            out.cell("unique_args" + figure, want / 1000, r["total_direct_kernel_time" + figure] or "0")
        out.cell("unique_args count", len(g), r["operation_count"])


def check_groups(folder, name, rows, keys, of, out):
    """Sums and counts of a table of groups."""
    groups = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row[2].dur)
    ours = read(folder, name)
    out.cell(name + " rows", len(ours), str(len(groups)))
    total = sum(row[2].dur for row in rows)
    gpus = len({row[0].device for row in rows})
    for r in ours:
        g = groups.get(tuple(r[k] for k in keys), [])
        out.cell(name + " time", sum(g) / 1e6, r["total_direct_kernel_time_ms"])
        out.cell(name + " count", len(g), r["Count"])
        out.cell(name + " percentage", sum(g) / total * 100, r["Percentage (%)"])
        out.cell(name + " per gpu", sum(g) / 1e6 / gpus, r["time ms per gpu"])


def plain(name):
    end = ".kd" if name.endswith(".kd") else ""
    base = name[:len(name) - len(end)]
    bare = base.rstrip("0123456789")
    return bare[:-1] + end if bare != base and len(bare) > 1 and bare[-1] in "._" else name


def main():
    path, folder = sys.argv[1:]
    space, out = Space(path), Checked()
    kernels = Kernels(space)
    rows = [r for r in kernels.rows if not COPY.fullmatch(r[2].name) or "fillBuffer" in r[2].name]
    check_timelines(folder, space.device_planes(), out)
    check_launchers(folder, rows, out)
    check_arguments(folder, rows, out)
    check_groups(folder, "kernel_launchers_summary", rows, ("name", "op category"),
                 lambda r: (r[2].name, category(r[2])), out)
    check_groups(folder, "kernel_launchers_summary_by_category", rows, ("op category",),
                 lambda r: (category(r[2]),), out)
    check_groups(folder, "xla_summary", [r for r in rows if category(r[2]) == NONE], ("name",),
                 lambda r: (plain(r[2].name),), out)
    print(f"{out.equal} cells equal, {len(out.wrong)} differ")
    for line in out.wrong[:10]:
        print(line)


if __name__ == "__main__":
    main()
