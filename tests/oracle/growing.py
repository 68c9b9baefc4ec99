#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""growing.py WHAT N: a trace on standard output that has N of something.

    depth      nested ops
    names      distinct names of kernels
    crafted    names whose hash was 0 whatever else they have, before it had a seed
    ids        correlation ids that were neighbours in a table, likewise
    threads    threads with an op, a launch and a kernel
    arguments  ops of one name, each with other shapes
    shared     launches and kernels with one correlation id
    own        names, arguments and threads
    bad        names and ids that are crafted, and arguments, on one thread
"""
import json
import sys

ONE_OF_HASH = 0xe7037ed1a0b428db.to_bytes(8, "little").decode("latin-1")


def mixed(a, b):
    return (a * b & (1 << 64) - 1) ^ a * b >> 64


def crowded():
    """numbers with hashes that differed only in the lowest 7 of 15 bits, before there was a seed"""
    n = 0
    while True:
        n += 1
        if not mixed(mixed(n ^ 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db) ^ 1,
                     0x9e3779b97f4a7c15) & 0x7f80:
            yield n


def slice_(cat, name, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid,
            "ts": ts, "dur": dur, "args": args}


def launched(name, i, tid=1, corr=None, op=None, **args):
    corr = i if corr is None else corr
    return [slice_("cpu_op", op or "aten::mm", tid, 100 * i, 90, **args),
            slice_("cuda_runtime", "cudaLaunchKernel", tid, 100 * i + 10, 5, correlation=corr),
            slice_("kernel", name, 7, 100 * i + 50, 30, device=0, stream=7, correlation=corr)]


def events(what, n):
    ids = crowded()
    if what == "depth":
        yield from launched("k", n // 100 + 1)
        yield from (slice_("cpu_op", "aten::mm", 2, i, 3 * n - 2 * i) for i in range(n))
    for i in range(n if what != "depth" else 0):
        if what == "names":
            yield from launched("kernel_%d" % i, i)
        elif what == "crafted":
            yield from launched("%016d%s%08d" % (i, ONE_OF_HASH, i % 7), i)
        elif what == "ids":
            yield from launched("k", i, corr=next(ids))
        elif what == "threads":
            yield from launched("k", i, tid=i)
        elif what == "arguments":
            yield from launched("k", i, **{"Input Dims": [[i, 8], [8, i]]})
        elif what == "shared":
            yield from launched("k", i, corr=1)
        elif what == "own":
            yield from launched("kernel_%d" % i, i, tid=i, **{"Input Dims": [[i, 8], [8, i]]})
        elif what == "bad":
            yield from launched("%016d%s%08d" % (i, ONE_OF_HASH, i % 7), i, corr=next(ids),
                                **{"Input Dims": [[i, 8], [8, i]]})


def main():
    what, n = sys.argv[1], int(sys.argv[2])
    sys.stdout.write(json.dumps({"traceEvents": list(events(what, n))}))


if __name__ == "__main__":
    main()
