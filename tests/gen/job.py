#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small job of several ranks with known collectives: DIR/rankN.json.

    job.py -o DIR [--ranks 4] [--group NAME=0,1:TYPE:BYTES:US[:COUNT]]... [OPTION]...

Each --group has COUNT collectives (10) of TYPE (all_reduce, all_gather,
reduce_scatter, all_to_all) and BYTES full size; each takes US once all ranks have
arrived. --noise X varies that by X %, with --seed. --late RANK=US makes a rank late in
every collective. --slow NAME=FACTOR[:FROM-TO] slows those from FROM to TO. --skew
RANK=US is that rank's clock at the start, --drift RANK=PPM how much it runs fast.
--ends US varies the ends of each, one in 20 by much more; --order US is by how much
each rank always leaves a group later. In any case ranks wait 0 to 20 us for the last
one; collectives are --gap US (100) apart, and up to some times --jitter US more.
--host RANK=NUMBER names its host. --work US is a kernel before each collective;
--throttle RANK=US makes it longer, so that the rank is late. --device NAME, --gpus N:
N GPUs of that name per node.
"""
import argparse
import json
import os
import random

NAMES = {"all_reduce": "allreduce", "all_gather": "_allgather_base",
         "reduce_scatter": "_reduce_scatter_base", "all_to_all": "all_to_all"}


def group(text):
    name, rest = text.split("=")
    ranks, kind, size, us, *count = rest.split(":")
    members = [int(r) for part in ranks.split(",") for r in
               (range(int(part.split("-")[0]), int(part.split("-")[1]) + 1)
                if "-" in part else [part])]
    return {"name": name, "ranks": members, "kind": kind, "bytes": int(size),
            "us": float(us), "count": int(count[0]) if count else 10}


def plant(texts):
    return {int(k): float(v) for k, v in (t.split("=") for t in texts)}


def slowed(texts, name, i):
    factor = 1.0
    for t in texts:
        who, how = t.split("=")
        f, _, part = how.partition(":")
        first, _, last = part.partition("-")
        if who == name and (not part or int(first) <= i <= int(last)):
            factor *= float(f)
    return factor


def event(g, ts, dur, seq):
    n, elems = len(g["ranks"]), g["bytes"] // 4
    out = elems // n if g["kind"] == "reduce_scatter" else elems
    return {"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "pid": 0,
            "tid": 7, "ts": round(ts, 3), "dur": round(dur, 3), "args": {
                "correlation": 1, "stream": 7, "Seq": seq, "dtype": "Float",
                "Collective name": NAMES[g["kind"]], "Group size": n,
                "In msg nelems": elems // n if g["kind"] == "all_gather" else elems,
                "Out msg nelems": out, "Process Group Name": g["name"],
                "Process Group Ranks": str(g["ranks"])}}


def gemm(end, dur):
    return {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 1,
            "ts": round(end - dur, 3), "dur": round(dur, 3),
            "args": {"correlation": 2, "stream": 1, "grid": [8, 1, 1]}}


def ends_late(rng, us):
    if not us:
        return 0
    return us * (rng.gauss(0, 1) + rng.expovariate(1)) + \
        (rng.expovariate(1 / 50) if rng.random() < 0.05 else 0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-o", required=True)
    ap.add_argument("--ranks", type=int, default=4)
    ap.add_argument("--group", type=group, action="append", default=[])
    ap.add_argument("--noise", type=float, default=0)
    ap.add_argument("--seed", type=int, default=1)
    for name in ("late", "slow", "skew", "throttle", "drift", "host"):
        ap.add_argument("--" + name, action="append", default=[])
    ap.add_argument("--work", type=float, default=0)
    ap.add_argument("--ends", type=float, default=0)
    ap.add_argument("--order", type=float, default=0)
    ap.add_argument("--gap", type=float, default=100)
    ap.add_argument("--jitter", type=float, default=0)
    ap.add_argument("--device")
    ap.add_argument("--gpus", type=int, default=0)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    late, skew, throttle = plant(a.late), plant(a.skew), plant(a.throttle)
    drift, host = plant(a.drift), plant(a.host)
    events = {r: [] for r in range(a.ranks)}

    def clock(r, t):
        return t + skew.get(r, 0) + drift.get(r, 0) / 1e6 * (t - 1e6)

    order = {(g["name"], r): rng.gauss(0, a.order) if a.order else 0
             for g in a.group for r in g["ranks"]}
    now = {r: 1e6 for r in range(a.ranks)}
    for i in range(max(g["count"] for g in a.group)):
        for g in (g for g in a.group if i < g["count"]):
            begin = max(now[r] for r in g["ranks"]) + a.gap + \
                (rng.expovariate(1 / a.jitter) if a.jitter else 0)
            starts = {r: begin + rng.randint(0, 20) + late.get(r, 0) +
                      throttle.get(r, 0) for r in g["ranks"]}
            took = g["us"] * slowed(a.slow, g["name"], i) * \
                (1 + a.noise / 100 * abs(rng.gauss(0, 1)))
            end = max(starts.values()) + took
            for r in g["ranks"]:
                at = clock(r, starts[r])
                left = end + ends_late(rng, a.ends) + order[g["name"], r]
                if a.work:
                    events[r].append(gemm(at, a.work + throttle.get(r, 0)))
                events[r].append(event(g, at, clock(r, left) - at, i))
                now[r] = left
    os.makedirs(a.o, exist_ok=True)
    for r, list_ in events.items():
        trace = {"distributedInfo": {"rank": r, "world_size": a.ranks}}
        if r in host:
            trace["hostname"] = "host%d" % host[r]
        if a.gpus:
            trace["deviceProperties"] = [{"id": k, "name": a.device} for k in range(a.gpus)]
        trace["traceEvents"] = list_
        with open(f"{a.o}/rank{r}.json", "w", encoding="ascii") as f:
            f.write(json.dumps(trace))


main()
