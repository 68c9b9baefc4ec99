# SPDX-License-Identifier: MIT
"""tl-collective's --link and --vs, computed again from the raw traces; TAP.

usage: collective_link.py

Jobs come from tests/gen/job.py: eight ranks, four per node. The share of a link
is the bus bandwidth over the bound of the group that the page defines.
"""
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

from collective_jobs import HERE, JOB, Tap, collectives, load, run

LINKS = os.path.join(HERE, "..", "..", "cmd", "tl-collective", "links")
PER_NODE = 4
GROUPS = {  # name: ranks, type, bytes, us
    "0": ([0, 1, 2, 3, 4, 5, 6, 7], "all_reduce", 400000000, 9000),
    "1": ([0, 1, 2, 3], "all_reduce", 400000000, 3000),
    "2": ([0, 4], "all_gather", 100000000, 6000),
    "3": ([0, 1, 2, 3, 4, 5, 6, 7], "all_to_all", 200000000, 15000),
    "4": ([0, 1, 4], "reduce_scatter", 100000000, 7000),
    "5": ([4, 5, 6, 7], "all_reduce", 4096, 20),
}
CLASSES = {"all_reduce": "allreduce", "all_gather": "allgather",
           "reduce_scatter": "reducescatter", "all_to_all": "alltoall"}


def link(name):
    with open(os.path.join(LINKS, name + ".json"), encoding="utf-8") as f:
        d = json.load(f)
    return d["max_achievable_link_gbps"], d["hop_latency_us"]


def bound(ranks, kind, inner, outer):
    """GB/s on the bus with so much per GPU; and microseconds of a step."""
    nodes = collections.Counter(r // PER_NODE for r in ranks)
    fewest, n = min(nodes.values()), len(ranks)
    if len(nodes) == 1:
        return inner
    if kind == "all_to_all":
        return outer[0] * (n - 1) / (n - fewest), outer[1]
    if fewest > 1 and inner[0] <= outer[0] * fewest:
        return inner
    return outer[0] * fewest, outer[1]


def make(folder, *options):
    args = [sys.executable, JOB, "-o", folder, "--ranks", "8", "--noise", "10"]
    for name, (ranks, kind, size, us) in GROUPS.items():
        args += ["--group", "%s=%s:%s:%d:%d:12" %
                 (name, ",".join(map(str, ranks)), kind, size, us)]
    subprocess.run(args + list(options), check=True)
    found = collections.defaultdict(list)
    for (group, _), ranks in sorted(collectives(load(folder)).items()):
        found[group].append(ranks)
    return found


def near(cell, want):
    return (cell == "") if want is None else \
        cell != "" and abs(float(cell) - want) <= 1e-9 * abs(want) + 1e-9


def latency(ranks):
    return min(d for _, d in ranks.values())


def bus(name, ranks):
    members, kind, size, _ = GROUPS[name]
    n = len(members)
    factor = (2 if kind == "all_reduce" else 1) * (n - 1) / n
    return size / latency(ranks) * factor  # bytes a ns: GB/s


def links(tap, folder, found, inner, outer):
    options = ["--gpus-per-node", str(PER_NODE), "--link", inner, "--link", outer]
    _, curve, _ = run(folder, "--table", "nccl_bandwidth", *options)
    _, groups, err = run(folder, "--table", "nccl_groups", *options)
    for name, (members, kind, size, _) in GROUPS.items():
        gbps, hop = bound(members, kind, link(inner), link(outer))
        want = statistics.median(100 * bus(name, r) / gbps for r in found[name])
        rows = [r for r in curve if r["class"] == CLASSES[kind] and
                r["group_size"] == str(len(members)) and r["full_bytes"] == str(size)]
        tap.ok(len(rows) == 1 and near(rows[0]["pct_of_link"], want),
               "%s, %s: %s of %d ranks is at %.2f %%" %
               (inner, outer, kind, len(members), want), rows)
        big = size >= 10 * len(members) * hop * 1e3 * gbps
        mine = [r for r in groups if r["group"] == name]
        tap.ok(len(mine) == 1 and near(mine[0]["pct_of_link"], want if big else None),
               "the group: %s" % ("judged" if big else "bound by latency"), mine, err)


def quantile(values, q):
    v = sorted(values)
    at = (len(v) - 1) * q
    low = int(at)
    return v[low] + (v[min(low + 1, len(v) - 1)] - v[low]) * (at - low)


def figures(name, found):
    starts = [[s for s, _ in r.values()] for r in found]
    return {
        "count": len(found),
        "latency_ns_mean": statistics.fmean(latency(r) for r in found),
        "bus_gib_per_s_p50": statistics.median(bus(name, r) for r in found) * 1e9 / 2**30,
        "start_skew_ns_p95": quantile([max(s) - min(s) for s in starts], 0.95),
        "wait_ns_mean": statistics.fmean(max(s) - statistics.fmean(s) for s in starts),
    }


def versus(tap, before, after, one, two):
    _, rows, err = run(before, "--vs=" + after)
    for name in GROUPS:
        mine = [r for r in rows if r["group"] == name]
        a, b = figures(name, one[name]), figures(name, two[name])
        bad = [k for k in a for side, want in (("before", a), ("after", b))
               if not near(mine[0][k + "_" + side], want[k])] if len(mine) == 1 else ["rows"]
        change = b["latency_ns_mean"] - a["latency_ns_mean"]
        tap.ok(not bad and near(mine[0]["latency_ns_diff"], change) and
               near(mine[0]["latency_ratio"], b["latency_ns_mean"] / a["latency_ns_mean"]),
               "--vs: group %s: %+.1f us" % (name, change / 1e3), bad, mine, err)
        tap.ok(mine[0]["beyond_noise"] == ("True" if name == "2" else "False"),
               "beyond noise: %s" % (name == "2"), mine)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        before, after = os.path.join(base, "a"), os.path.join(base, "b")
        one = make(before)
        two = make(after, "--slow", "2=1.5", "--seed", "2")
        links(tap, before, one, "NVLink3", "IB-HDR")
        links(tap, before, one, "PCIe4", "IB-NDR")
        versus(tap, before, after, one, two)
    print("1..%d" % tap.n)
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
