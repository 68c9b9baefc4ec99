#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planted_databases.py SCHEMA CAUSE FILE: a run in which one thing takes the time.

SCHEMA is nsys, rpd or rocpd. 40 times (start: 5) a call before it, a launch of 2 us,
and 3 us behind it GPU work; the next call begins when that ends, or, if the GPU is the
limit, at once. Prints the figures of the verdict: ns of the cause, of the window, how
many calls are between the first and the last GPU event.
"""
import sys

from semantic_sqlite import PID, SCHEMAS, write

US = 1000
# cause: the call before each launch, its us, us of GPU work, whether it is a copy, times
CAUSES = {
    "allocation": ("Free", 100, 10, False, 40),
    "sync": ("Memcpy", 100, 10, False, 40),
    "start": ("ModuleLoadData", 3000, 10, False, 5),
    "gpu": ("EventRecord", 20, 500, False, 40),
    "copy": ("EventRecord", 100, 300, True, 40),
}


def run(cause):
    """calls (name, start, end), and GPU work (start, end) of every second one"""
    name, call_us, work_us, is_copy, n = CAUSES[cause]
    calls, work, at, gpu = [], [], 0, 0
    for _ in range(n):
        calls.append((name, at, at + call_us * US))
        at += call_us * US
        calls.append(("MemcpyAsync" if is_copy else "LaunchKernel", at, at + 2 * US))
        gpu = max(gpu, at + 5 * US)
        work.append((gpu, gpu + work_us * US))
        gpu += work_us * US
        at = at + 2 * US if cause == "gpu" else gpu
    return calls, work, is_copy


def nsys_name(name):
    return {"ModuleLoadData": "cuModuleLoadData"}.get(name, "cuda%s_v3020" % name)


def fill(schema, calls, work, is_copy):
    """the rows of the schema's example, replaced"""
    tables = SCHEMAS[schema]()
    names = sorted({name for name, _, _ in calls})

    def rows(start, new):
        for name, (columns, _) in tables.items():
            if name.startswith(start):
                tables[name] = (columns, new)
                return
        raise KeyError(start)

    if schema == "nsys":
        at = lambda a, b, corr: [a, b, 0, 1, 7, corr, PID]
        rows("StringIds", [[0, ""], [1, "gemm"]] + [[2 + i, nsys_name(n)] for i, n in enumerate(names)])
        rows("CUPTI_ACTIVITY_KIND_RUNTIME", [
            [a, b, 0, 2 + names.index(n), 0, PID + 42, i] for i, (n, a, b) in enumerate(calls)])
        rows("CUPTI_ACTIVITY_KIND_KERNEL", [] if is_copy else [
            [*at(a, b, 2 * i + 1), 1, 1, 4, 1, 1, 128, 1, 1] for i, (a, b) in enumerate(work)])
        rows("CUPTI_ACTIVITY_KIND_MEMCPY", [
            [*at(a, b, 2 * i + 1), 4096, 1] for i, (a, b) in enumerate(work)] if is_copy else [])
        rows("CUPTI_ACTIVITY_KIND_MEMSET", [])
        rows("NVTX_EVENTS", [])
    elif schema == "rpd":
        rows("rocpd_string", [[1, ""], [2, "gemm"], [3, "KernelExecution"], [4, "CopyHostToDevice"]]
             + [[5 + i, "hip" + n] for i, n in enumerate(names)])
        rows("rocpd_api_ops", [[2 * i + 2, i + 1] for i in range(len(work))])
        rows("rocpd_api", [[i + 1, 77, 42, a, b, 5 + names.index(n), 1] for i, (n, a, b) in enumerate(calls)])
        rows("rocpd_op", [[i + 1, 0, 1, a, b, 1 if is_copy else 2, 4 if is_copy else 3]
                          for i, (a, b) in enumerate(work)])
    else:
        first = 1 + len(calls)
        rows("rocpd_string", [[1, "KERNEL_DISPATCH"], [2, "HIP_RUNTIME_API"], [3, "MEMORY_COPY"],
                              [4, "MEMORY_COPY_HOST_TO_DEVICE"]]
             + [[5 + i, "hip" + n] for i, n in enumerate(names)])
        rows("rocpd_event", [[i + 1, 2, i + 1] for i in range(len(calls))]
             + [[first + i, 3 if is_copy else 1, 2 * i + 2] for i in range(len(work))])
        rows("rocpd_region", [[77, 42, a, b, 5 + names.index(n), i + 1] for i, (n, a, b) in enumerate(calls)])
        rows("rocpd_kernel_dispatch", [] if is_copy else [
            [77, 42, 2, 1, i, 1, a, b, 64, 640, first + i] for i, (a, b) in enumerate(work)])
        rows("rocpd_memory_copy", [
            [77, 42, a, b, 4, 2, 4096, first + i] for i, (a, b) in enumerate(work)] if is_copy else [])
    return tables


def main():
    schema, cause, path = sys.argv[1:]
    calls, work, is_copy = run(cause)
    write(fill(schema, calls, work, is_copy), path)
    window = work[-1][1] - work[0][0]
    busy = sum(b - a for a, b in work)
    inside = [b - a for n, a, b in calls if n == CAUSES[cause][0] and a >= work[0][1]]
    print(busy if cause in ("gpu", "copy") else sum(inside), window, len(inside))


main()
