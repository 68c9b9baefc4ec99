#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""activity.py: the tables of rocprofv3's Perfetto traces.

    activity.py --worked FILE.pftrace
    activity.py --genesis DIR csv|json|pftrace
    activity.py --raw FILE

The first two write a small trace, and a capture of a simulation, with known
figures. The third computes our tables from rocprofv3's JSON or CSV. report.py
compares ours with the reference's tables of real traces: HIP activity, API and
kernels (T = A + Q + K), copies by size. Each cell must be the same, or differ by
one of the rules below, which are about its value. Each use of a rule is counted.
"""
import collections
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys

import perfetto
import rocprof
from timeline import length, union

LAUNCHES = re.compile("hipMemset|hipMemcpyHtoDAsync|hipMemcpyDtoHAsync|hipMemsetD32Async|"
                      "hip.*Launch.*Kernel.*")
REDZONE = re.compile(r"(?:^|\W)redzone_checker_kernel(?:\W|$)")
CLASSES = ("xla", "aiterfwd", "aiterbwd", "gemm", "ckbwd", "ckfwd", "te", "memcpy/memset",
           "fillBuffer", "rccl")


# ---- the worked example ----

B = 10**12
CALLS = [(1, "hipModuleLaunchKernel", 0, 10000), (2, "hipModuleLaunchKernel", 12000, 8000),
         (3, "hipModuleLaunchKernel", 22000, 8000), (4, "hipExtLaunchKernel", 32000, 6000),
         (5, "hipModuleLaunchKernel", 40000, 5000), (7, "hipMemcpyAsync", 46000, 30000),
         (8, "hipMemcpyHtoDAsync", 80000, 7000), (10, "hipStreamSynchronize", 90000, 60000)]
KERNELS = [(1, "Cijk_Ailk_Bljk_HHS_BH", 2, 25000, 50000), (2, "loop_add_fusion_12", 2, 80000, 20000),
           (3, "loop_add_fusion_13", 2, 101000, 22000),
           (4, "ncclDevKernel_Generic_1", 2, 60000, 60000),
           (5, "void ck_tile::FmhaBwdDQDKDV kernel_func", 3, 50000, 90000),
           (6, "short_kernel", 3, 141000, 4000)]
COPIES = [(7, "HOST_TO_DEVICE", "Agent-0", "Agent-2", 20138, 50000, 15000),
          (8, "HOST_TO_DEVICE", 0, 2, 20138, 90000, 25000),
          (9, "DEVICE_TO_DEVICE", "Agent-2", "Agent-3", 8192, 120000, 25000)]


def slice_of(track, name, cat, start, dur, args):
    times = {"begin_ns": B + start, "end_ns": B + start + dur, "delta_ns": dur}
    event = perfetto.num(9, 1) + perfetto.num(11, track) + perfetto.text(22, cat) + \
        perfetto.text(23, name)
    for k, v in {**times, **args}.items():
        value = perfetto.num(3, v) if isinstance(v, int) else perfetto.text(6, v)
        event += perfetto.text(4, perfetto.text(10, k) + value)
    end = perfetto.num(9, 2) + perfetto.num(11, track)
    return packet(perfetto.text(11, event), B + start) + \
        packet(perfetto.text(11, end), B + start + dur)


def packet(payload, ts=None):
    return perfetto.text(1, (perfetto.num(8, ts) if ts is not None else b"") +
                         perfetto.num(10, 1) + payload)


def track(uuid, parent=None, name=None, thread=None):
    out = perfetto.num(1, uuid)
    out += perfetto.num(5, parent) if parent else perfetto.text(3, perfetto.num(1, 100))
    out += perfetto.text(2, name) if name else b""
    out += perfetto.text(4, perfetto.num(1, 100) + perfetto.num(2, thread)) if thread else b""
    return packet(perfetto.text(60, out))


def worked():
    out = track(1) + track(2, 1, thread=100)
    for corr, name, start, dur in CALLS:
        out += slice_of(2, name, "hip_api", start, dur,
                        {"corr_id": corr, "tid": 100, "kind": 5, "operation": 1, "stream_ID": 0})
    for i, (corr, name, agent, start, dur) in enumerate(KERNELS):
        out += track(10 + i, 1, "COMPUTE [%d]" % i)
        out += slice_of(10 + i, name, "kernel_dispatch", start, dur, {
            "agent": "Agent-%d" % agent, "agent_type": "GPU", "corr_id": corr, "tid": 100,
            "queue": i, "kernel_id": i + 1, "Scratch_Size": 0, "LDS_Block_Size": 1024,
            "VGPR_Count": 64, "Accum_VGPR_Count": 4, "SGPR_Count": 32, "workgroup_size": 256,
            "grid_size": 65536, "stream_ID": 0})
    for i, (corr, what, src, dst, size, start, dur) in enumerate(COPIES):
        out += track(30 + i, 1, "COPY [%d]" % i)
        out += slice_of(30 + i, "MEMORY_COPY_" + what, "memory_copy", start, dur, {
            "src_agent": src, "dst_agent": dst, "copy_bytes": size, "corr_id": corr, "tid": 100,
            "stream_ID": 0})
    return out


# ---- a capture of a simulation ----

MS = 10**6
DISPATCHES = [("runtime_initialize_0", 10000 * MS, 200000),
              ("kernel_init_geom_fields_c0", 10500 * MS, 300000)]
for lap in range(3):
    at = 13000 * MS + lap * 8800000
    DISPATCHES += [("_kernel_solve_body_c402", at, 5 * MS),
                   ("func_broad_phase_c1", at + 5200000, 2 * MS),
                   ("kernel_step_1_c9", at + 7300000, MS)]
DISPATCHES.append(("at::native::vectorized_elementwise_kernel", 13000 * MS + 3 * 8800000, 4000))
COLUMNS = ("Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
           "Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
           "Grid_Size_X,Grid_Size_Y,Grid_Size_Z")


def kernels_csv():
    lines = [COLUMNS]
    for i, (name, start, dur) in enumerate(DISPATCHES, 1):
        lines.append("KERNEL_DISPATCH,Agent 2,1,100,%d,%d,%s,%d,%d,%d,64,1,1,640,1,1" % (
            i, i, name, i, start, start + dur))
    return "\n".join(lines) + "\n"


def kernels_json():
    """of a process that lives longer than its work"""
    size = {"x": 64, "y": 1, "z": 1}
    return json.dumps({"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 1, "init_time": 1000 * MS, "fini_time": 20000 * MS},
        "agents": [{"id": {"handle": 7}, "type": 2, "gpu_index": 0, "logical_node_id": 2}],
        "strings": {"buffer_records": []},
        "kernel_symbols": [{"kernel_id": i, "kernel_name": name, "truncated_kernel_name": name}
                           for i, (name, _, _) in enumerate(DISPATCHES)],
        "buffer_records": {"kernel_dispatch": [{
            "thread_id": 100, "correlation_id": {"internal": i + 1, "external": 0},
            "start_timestamp": start, "end_timestamp": start + dur,
            "dispatch_info": {"agent_id": {"handle": 7}, "kernel_id": i, "dispatch_id": i + 1,
                              "workgroup_size": size, "grid_size": size}}
            for i, (_, start, dur) in enumerate(DISPATCHES)]}}]})


def kernels_pftrace():
    out = track(1) + track(10, 1, "COMPUTE")
    for i, (name, start, dur) in enumerate(DISPATCHES, 1):
        out += slice_of(10, name, "kernel_dispatch", start, dur, {
            "agent": "Agent-2", "corr_id": i, "tid": 100, "queue": 0, "kernel_id": i,
            "workgroup_size": 64, "grid_size": 640})
    return out


def capture(folder, form):
    inner = os.path.join(folder, "kernel_trace")
    os.makedirs(inner)
    name, data = {"csv": ("kernel_kernel_trace.csv", kernels_csv()),
                  "json": ("a_results.json", kernels_json()),
                  "pftrace": ("a_results.pftrace", kernels_pftrace())}[form]
    with open(os.path.join(inner, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    with open(os.path.join(folder, "run.log"), "w", encoding="utf-8") as f:
        f.write("wall_time=s\nwall_time=0.02s wall_time=9s\n")
    with open(os.path.join(folder, "capture_manifest.json"), "w", encoding="utf-8") as f:
        json.dump({"timestamp": "20260821", "n_envs": 4096, "num_steps": 500,
                   "precision": "32"}, f)


# ---- against the reference ----


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def table(argv):
    p = subprocess.run(argv + ["--labels", "--format", "csv", "-c", "+details"],
                       capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3, 5):
        raise ValueError("%s: %s" % (" ".join(argv), p.stderr))
    return list(csv.DictReader(p.stdout.splitlines()))


def pretty(ns):
    """as the reference writes a time"""
    if ns >= 1e6:
        return "%.3f ms" % (ns / 1e6)
    return "%.3f μs" % (ns / 1e3) if ns >= 1e3 else "%d ns" % ns


def population(row, label, n):
    """standard deviation of all values, from that of a sample"""
    n = int(n)
    return float(row[label] or 0) * math.sqrt((n - 1) / n) if n > 1 else 0.0


class Cells:
    """the cells of one table"""

    def __init__(self, rep, where):
        self.rep, self.where = rep, where

    def same(self, label, ours, theirs, named=None):
        self.rep.cells += 1
        try:
            good = math.isclose(float(ours), float(theirs), rel_tol=1e-9, abs_tol=1e-12)
        except ValueError:
            good = ours == theirs
        if not good:
            self.rep.fail("%s: %s: %s instead of %s" % (self.where, label, ours, theirs))
        elif named:
            self.rep.named[named] += 1
        else:
            self.rep.equal += 1

    def rows(self, ours, theirs, key):
        """pairs of rows by key; those that only one side has are wrong"""
        self.rep.sheets += 1
        mine = {key(r): r for r in ours}
        want = {key(r): r for r in theirs}
        for k in set(mine) ^ set(want):
            self.rep.fail("%s: only one side has %s" % (self.where, k))
        return [(mine[k], want[k]) for k in want if k in mine]


DEVIATION = "5.6: in kernel_summary the deviation is that of a sample (n - 1): cells"


def check_times(cells, ours, theirs, count, whole):
    """the columns that summaries of kernels and of calls share"""
    n = ours[count]
    cells.same("Instances", n, theirs["Instances"])
    share = 100 * float(ours["Total Time (ns)"]) / whole
    cells.same("Time %", share, theirs["Time %"])
    cells.same("Time", "%.1f%%" % share, theirs["Time"])
    for label in ("Avg", "Med", "Min", "Max"):
        ns = float(ours[label + " (ns)"])
        cells.same(label + " (ns)", ns, theirs[label + " (ns)"])
        cells.same(label, pretty(ns), theirs[label])
    cells.same("Total Time", pretty(float(ours["Total Time (ns)"])), theirs["Total Time"])
    cells.same("Total Time (ns)", ours["Total Time (ns)"], theirs["Total Time (ns)"])
    std, named = float(ours["StdDev (ns)"]), None
    if count == "Count":
        std, named = population(ours, "StdDev (ns)", n), DEVIATION
    cells.same("StdDev (ns)", std, theirs["StdDev (ns)"], named)
    cells.same("StdDev", pretty(std), theirs["StdDev"], named)


def kernel_summary(rep, where, trace, theirs, least, compute):
    cells = Cells(rep, where)
    ours = table(["tl-kernels", "--by", "launch-config", "--min-dur", least, trace])
    by_config = "GridX" in theirs[0]
    whole = sum(int(r["Total Time (ns)"]) for r in ours if not compute or
                not re.search("[nr]ccl|cross_device_reduce", r["Name"], re.I))
    if not by_config:
        ours = table(["tl-kernels", "--table", "kernel_summary", "--min-dur", least, trace])
        for r in ours:
            r["Name"] = r["name"]
            r["Total Time (ns)"] = round(float(r["Total Kernel Time (ms)"]) * 1e6)
            for to, label in (("Avg", "Mean"), ("Med", "Median"), ("Min", "Min"), ("Max", "Max"),
                              ("StdDev", "Std")):
                r[to + " (ns)"] = float(r[label + " Kernel Time (µs)"] or 0) * 1e3
    if by_config:  # the reference's grids count work-items
        for r in ours:
            r["GridX"], r["BlockX"] = str(int(r["grid"]) * int(r["block"])), r["block"]
        rep.named["1: grids are in blocks: cells"] += 2 * len(ours)
    key = lambda r: (r["Name"],) + ((r["GridX"], r["BlockX"]) if by_config else ())
    for o, t in cells.rows(ours, theirs, key):
        check_times(cells, o, t, "Instances" if by_config else "Count", whole)
        if not by_config:
            continue
        for label in ("VGPR", "AccumVGPR", "SGPR"):
            cells.same(label, o[label] or 0, t[label])
        for label in ("LDS", "Scratch"):
            if t[label] == "0" and o[label] != "0":
                t[label] = o[label]
                rep.named["5.6: LDS and Scratch by their names of 2024: cells"] += 1
            cells.same(label, o[label], t[label])
        for what in ("Grid", "Block"):
            size = int(o[what + "X"])
            cells.same(what, "%7d %4d %4d" % (size, 1, 1), t[what + "XYZ"])
            cells.same(what, "1 1", t[what + "Y"] + " " + t[what + "Z"])


def hip_summary(rep, where, trace, theirs, least):
    cells = Cells(rep, where)
    ours = table(["tl-launch", "--table", "hip_summary", "--min-dur", least, trace])
    whole = sum(int(r["Total Time (ns)"]) for r in ours)
    for o, t in cells.rows(ours, theirs, lambda r: r["Name"]):
        check_times(cells, o, t, "Instances", whole)
        if "Stream" in t:
            cells.same("Stream", "0", t["Stream"])


def category_summary(rep, where, trace, theirs):
    cells = Cells(rep, where)
    rows = table(["tl-kernels", "--table", "category_summary", "--min-dur", "5us", trace])
    gpus = sorted({r["GPU ID"] for r in rows}, key=int)
    ours = {(str(gpus.index(r["GPU ID"])), r["Category"]): r for r in rows}
    labels = ("Total runtime (ms)", "Total count", "Fraction of compute runtime",
              "Fraction of total runtime")
    rep.sheets += 1
    for t in theirs:
        for label in labels:
            of = [float(ours.get((str(g), t["Category"]), {}).get(label) or 0)
                  for g in range(len(gpus))]
            named = None
            if t["GPU ID"] == "Avg":
                value, named = sum(of) / len(of), "5.4: no means over GPUs: cells"
            else:
                value = of[int(t["GPU ID"])]
            cells.same(" ".join((t["GPU ID"], t["Category"], label)), value, t[label], named)
    rep.named["4: GPUs by the numbers of their agents: rows"] += len(ours)


def xla_top(rep, where, trace, theirs):
    cells = Cells(rep, where)
    ours = table(["tl-kernels", "--table", "xla_top", trace])
    for o, t in cells.rows(ours, theirs, lambda r: r["Kernel"]):
        for label in t:
            cells.same(label, o[label], t[label])


def check_api(rep, where, trace, theirs, is_default):
    cells = Cells(rep, where)
    ours = table(["tl-launch", "--table", "api_kernel_summary", trace])
    calls = {r["Name"]: r for r in table(["tl-launch", "--table", "hip_summary", trace])}
    key = lambda r: (r["PID"], r["TID"], r["API Name"], r["Kernel Name"])
    if is_default:
        ours = [r for r in ours if LAUNCHES.fullmatch(r["API Name"]) and
                not REDZONE.search(r["Kernel Name"])]
    several = collections.Counter(
        r["api"] for r in table(["tl-launch", "--table", "launches", trace])
        if int(r["gpu_events"]) > 1)
    for o, t in cells.rows(ours, [r for r in theirs if r["Kernel Name"]], key):
        if is_default and 0 < int(o["Count"]) - int(t["Count"]) <= several[o["API Name"]]:
            rep.named["6: each kernel of a call that launches several: rows"] += 1
            continue
        cells.same("QCount", o["Count"], t["QCount"])
        cells.same("Count", o["Count"], t["Count"])
        for x in "TAQK":
            for label in ("Avg", "Med", "Min", "Max", "StdDev"):
                label = x + label + "_ns"
                cells.same(label, o[label], t[label])
        if o["DevId"] != t["DevId"]:
            rep.named["4: GPUs by the numbers of their agents: rows"] += 1
    for t in theirs:
        if t["Kernel Name"]:
            continue
        o = calls[t["API Name"]]
        if o["Instances"] != t["Count"]:
            rep.fail("%s: %s calls of %s" % (where, o["Instances"], t["API Name"]))
        rep.named["6: calls without a kernel are in hip_summary: rows"] += 1
        for label in ("Avg", "Med", "Min", "Max", "StdDev"):
            cells.same(label, o[label + " (ns)"], t["A" + label + "_ns"])


def memory_copy(rep, where, trace, theirs):
    cells = Cells(rep, where)
    ours = table(["tl-launch", "--table", "memory_copy_by_copy_bytes", trace])
    for o, t in cells.rows(ours, theirs, lambda r: (r["copy_bytes"], r["direction"])):
        cells.same("count", o["count"], t["count"])


def check(rep, where, trace, variant, files):
    """the tables of one variant"""
    default = variant.endswith(".default")
    least = "5us" if default else "1us"
    for sheet, path in sorted(files.items()):
        theirs, at = read(path), where + "/" + sheet
        if sheet == "kernel_summary":
            kernel_summary(rep, at, trace, theirs, least, not default)
        elif sheet == "hip_summary":
            hip_summary(rep, at, trace, theirs, least)
        elif sheet == "category_summary" and default:
            category_summary(rep, at, trace, theirs)
        elif sheet == "xla_top":
            xla_top(rep, at, trace, theirs)
        elif sheet == "api_kernel_summary":
            check_api(rep, at, trace, theirs, default)
        elif sheet == "memory_copy_by_copy_bytes":
            memory_copy(rep, at, trace, theirs)
        elif sheet != "category_summary":
            rep.fail("%s: nothing compares this sheet" % at)


# ---- from the raw files ----

PATTERNS = (("rccl", "rccl|nccl|cross_device_reduce"), ("gemm", "cublasLt|Cijk|gemm|nvjet"),
            ("ckbwd", "FmhaBwd|kernel_func|flash_bprop"), ("ckfwd", "FmhaFwd|flash_fprop"),
            ("memcpy/memset", "copy|memcpy|memset"), ("te", "transformer_engine"),
            ("aiterfwd", "aiter::fmha_fwd"), ("aiterbwd", "aiter::fmha_bwd"),
            ("fillBuffer", "fillbuffer"))


RESOURCES = (("VGPR_Count", ""), ("Accum_VGPR_Count", ""), ("SGPR_Count", ""),
             ("LDS_Block_Size", "Group_Segment_Size"), ("Scratch_Size", "Private_Segment_Size"))


def class_of(name):
    return next((c for c, p in PATTERNS if re.search(p, name, re.I)), "xla")


def blocks(items, block):
    """a grid in blocks, and the block"""
    return tuple(-(-a // b) for a, b in zip(items, block)), tuple(block)


def raw_json(path):
    """[(device, name, start, end, corr, config)], no calls"""
    out = []
    for p in rocprof.load(path):
        gpus = {a["id"]["handle"]: a["gpu_index"] for a in p["agents"] if a["type"] == 2}
        names = {s["kernel_id"]: s.get("truncated_kernel_name") or s.get("formatted_kernel_name")
                 or s["kernel_name"] for s in p["kernel_symbols"]}
        registers = {s["kernel_id"]: tuple(str(s[k + "_count"]) for k in (
            "arch_vgpr", "accum_vgpr", "sgpr")) for s in p["kernel_symbols"]}
        for r in p["buffer_records"].get("kernel_dispatch", ()):
            d = r["dispatch_info"]
            dims = tuple("[%d,%d,%d]" % v for v in blocks(
                *[[d[k][x] for x in "xyz"] for k in ("grid_size", "workgroup_size")]))
            out.append((gpus[d["agent_id"]["handle"]], names[d["kernel_id"]],
                        r["start_timestamp"], r["end_timestamp"], None,
                        dims + registers[d["kernel_id"]] + (
                            str(d["group_segment_size"]), str(d["private_segment_size"]))))
    return out, {}


def raw_csv(path):
    """the same, and {corr: (pid, tid, api, start, end)} of the calls of its run"""
    out, calls = [], {}
    for r in read(path):
        dims = tuple("[%d,%d,%d]" % v for v in blocks(
            *[[int(r[k + x]) for x in "XYZ"] for k in ("Grid_Size_", "Workgroup_Size_")]))
        out.append((int(r["Agent_Id"].split()[-1]), r["Kernel_Name"], int(r["Start_Timestamp"]),
                    int(r["End_Timestamp"]), int(r["Correlation_Id"]), dims + tuple(
                        r.get(k) or r.get(old) or "" for k, old in RESOURCES)))
    path = path.replace("kernel_trace", "hip_api_trace")
    for r in read(path) if os.path.exists(path) else ():
        calls[int(r["Correlation_Id"])] = (r["Process_Id"], r["Thread_Id"], r["Function"],
                                           int(r["Start_Timestamp"]), int(r["End_Timestamp"]))
    return out, calls


def stats(values):
    return (float(statistics.fmean(values)), float(statistics.median(values)), min(values),
            max(values))


def same_rows(bad, what, got, want):
    """{key: numbers}, equal to 1e-12"""
    for k in got.keys() | want.keys():
        a, b = got.get(k), want.get(k)
        if a is None or b is None or any(
                not math.isclose(float(x), float(y), rel_tol=1e-12) for x, y in zip(a, b)):
            bad.append("%s: %s: %s instead of %s" % (what, k, a, b))
    return len(want)


def ids(argv):
    p = subprocess.run(argv + ["-c", "+details", "--format", "csv"], capture_output=True,
                       text=True, check=False)
    return list(csv.DictReader(p.stdout.splitlines()))


def check_classes(bad, path, dispatches):
    want = {}
    for dev in {d[0] for d in dispatches}:
        sums, comm, rest = {}, [], []
        for _, name, start, end, _, _ in (d for d in dispatches if d[0] == dev):
            ns, n = sums.get(class_of(name), (0, 0))
            sums[class_of(name)] = (ns + end - start, n + 1)
            (comm if class_of(name) == "rccl" else rest).append((start, end))
        total = sum(ns for ns, _ in sums.values())
        compute = total - sums.get("rccl", (0, 0))[0]
        both = length(union(comm)) + length(union(rest)) - length(union(comm + rest))
        sums.update({"overlapped_comm": (both,), "compute_total": (compute,),
                     "non_overlapped_comm": (length(union(comm)) - both,),
                     "total_incl_comm": (total,)})
        want.update({(str(dev), c): v for c, v in sums.items()})
    got = {(r["dev"], r["class"]): (r["dur_ns_sum"],) + ((r["count"],) if r["count"] else ())
           for r in ids(["tl-kernels", "--table", "category_summary", path])}
    return same_rows(bad, "category_summary", got, want)


def check_configs(bad, path, dispatches):
    want = collections.defaultdict(list)
    for _, name, start, end, _, config in dispatches:
        want[(name,) + config].append(end - start)
    keys = ("name", "grid", "block", "registers", "accum_registers", "scalar_registers",
            "shared_bytes", "scratch_bytes")
    got = {tuple(r[k] for k in keys): [r["dur_ns_" + k] for k in ("mean", "median", "min", "max")]
           for r in ids(["tl-kernels", "--by", "launch-config", path])}
    return same_rows(bad, "launch configurations", got, {k: stats(v) for k, v in want.items()})


def check_calls(bad, path, dispatches, calls):
    by_api, pairs = collections.defaultdict(list), collections.defaultdict(list)
    for _, _, api, start, end in calls.values():
        by_api[api].append(end - start)
    got = {r["api"]: [r["api_ns_" + k] for k in ("mean", "median", "min", "max")]
           for r in ids(["tl-launch", "--table", "hip_summary", path])}
    n = same_rows(bad, "hip_summary", got, {k: stats(v) for k, v in by_api.items()})
    for dev, name, start, end, corr, _ in dispatches:
        if corr in calls:
            pid, tid, api, begin, back = calls[corr]
            a, q, k = back - begin, max(0, start - back), end - start
            pairs[(pid, tid, str(dev), api, name)].append((a + q + k, a, q, k))
    got = {tuple(r[k] for k in ("pid", "tid", "dev", "api", "kernel")):
           [r["count"]] + [r[x + "_ns_" + k] for x in ("total", "api", "queue", "kernel")
                           for k in ("mean", "median", "min", "max")]
           for r in ids(["tl-launch", "--table", "api_kernel_summary", path])
           if not r["kernel"].startswith("MEMORY_COPY")}
    return n + same_rows(bad, "api_kernel_summary", got, {
        k: (len(v),) + sum((stats(x) for x in zip(*v)), ()) for k, v in pairs.items()})


def check_raw(path):
    dispatches, calls = raw_csv(path) if path.endswith(".csv") else raw_json(path)
    bad = []
    n = check_classes(bad, path, dispatches) + check_configs(bad, path, dispatches)
    if calls:
        n += check_calls(bad, path, dispatches, calls)
    for b in bad[:10]:
        print("# " + b[:300])
    print("%sok - %d rows of %s" % ("not " if bad else "", n, os.path.basename(path)))
    return 1 if bad else 0


def main(argv):
    if argv[0] == "--raw":
        return check_raw(argv[1])
    if argv[0] == "--genesis":
        capture(argv[1], argv[2])
        return 0
    with open(argv[1], "wb") as f:
        f.write(worked())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
