# SPDX-License-Identifier: MIT
"""Collectives of generated JAX profiles: tables against the planted figures.

    jax_collectives.py DIR [STREAMS]

DIR is written by tests/gen/xplane.py; STREAMS is a folder with the same, decoded. All figures of tl-collective for
each collective, per rank and overall, are computed again from truth.json.
"""
import csv
import json
import subprocess
import sys


def table(name, where):
    """Rows of a table; 3 is an answer with warnings (late clocks)."""
    p = subprocess.run(["tl-collective", "--table", name, where], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, check=False)
    assert p.returncode in (0, 3), p.stderr
    return list(csv.DictReader(p.stdout.splitlines(), delimiter="\t"))


def short(ranks):
    """0-3, 0-24/8, or 0,2,3."""
    steps = {b - a for a, b in zip(ranks, ranks[1:])}
    if len(steps) == 1 and len(ranks) > 2 and steps != {1}:
        return f"{ranks[0]}-{ranks[-1]}/{steps.pop()}"
    text, i = [], 0
    while i < len(ranks):
        k = i
        while k + 1 < len(ranks) and ranks[k + 1] == ranks[k] + 1:
            k += 1
        text.append(str(ranks[i]) if k == i else f"{ranks[i]}{',' if k == i + 1 else '-'}{ranks[k]}")
        i = k + 1
    return ",".join(text)


def same(what, got, wanted):
    assert got == wanted, f"{what}: {got}, not {wanted}"


def compare_each(truth, where):
    """Every collective on every rank, by its group, name and run."""
    rows = {}
    for r in table("nccl_long", where):
        rows.setdefault((r["group"], r["instruction"]), {}).setdefault(int(r["rank"]), []).append(r)
    runs, n = {}, 0
    for c in truth["collectives"]:
        ranks = sorted(c["ranks"])
        key = (short(ranks), c["name"])
        run = runs.setdefault(key, 0)
        runs[key] += 1
        last = max(c["starts"])
        for rank, start, dur in zip(c["ranks"], c["starts"], c["durations"]):
            r = rows[key][rank][run]
            same("type", r["collective"], c["type"])
            same("dur", int(r["dur_ns"]), dur)
            same("wait", int(r["wait_ns"]), last - start)
            same("size", int(r["in_bytes"]), c["in_bytes"])
            same("group size", int(r["group_size"]), len(ranks))
            n += 1
    same("collectives on ranks", sum(len(v) for g in rows.values() for v in g.values()), n)
    return n


def compare_exposed(truth, where):
    """No two collectives overlap on a GPU, so their exposed times add up."""
    exposed = {}
    for r in table("nccl_long", where):
        exposed[int(r["rank"])] = exposed.get(int(r["rank"]), 0) + int(r["exposed_ns"])
    for g in truth["gpus"]:
        wanted = g["exposed_comm"]
        if truth["options"]["tpu"]:  # starts and ends are work of the core, but no collectives
            assert exposed[g["rank"]] <= wanted
        else:
            same("exposed", exposed[g["rank"]], wanted)


def compare_types(truth, where):
    """As in the reference: bytes both ways over the shortest, in GiB/s."""
    by_run = {}
    for c in truth["collectives"]:
        by_run.setdefault((c["type"], c["name"], c["run"]), []).append(c)
    means = {}
    for (kind, _, _), groups in by_run.items():
        rates = []
        for c in groups:
            n, d = len(c["ranks"]), c["in_bytes"]
            both = {"all-gather": 2 * d * (n - 1), "all-reduce": 2 * d, "reduce-scatter": d + d / n,
                    "all-to-all": 2 * d * (n - 1) / n, "collective-permute": 2 * d}[kind]
            rates.append(both / 2**30 / (min(c["durations"]) * 1e-9))
        means.setdefault(kind, []).append(sum(rates) / len(rates))
    rows = {r["collective"]: r for r in table("hlo_bandwidth", where)}
    same("types", sorted(rows), sorted(means))
    for kind, rates in means.items():
        got, wanted = float(rows[kind]["both_ways_gib_per_s_mean"]), sum(rates) / len(rates)
        assert abs(got - wanted) <= 1e-9 * wanted, f"{kind}: {got}, not {wanted}"
        same("slices", int(rows[kind]["slices"]), len(rates))


def compare_best(truth, where):
    """Each instruction at its best, and results by size and band of bandwidth."""
    best = {}
    for c in truth["collectives"]:
        ns, n, size = min(c["durations"]), len(c["ranks"]), c["in_bytes"]
        out = {"all-gather": size * n, "reduce-scatter": size // n}.get(c["type"], size)
        if c["name"] not in best or ns < best[c["name"]][0]:
            best[c["name"]] = ns, out, c["type"], max(size, out) / ns
    rows = {r["instruction"]: r for r in table("hlo_latency", where)}
    same("instructions", sorted(rows), sorted(best))
    for name, (ns, out, kind, rate) in best.items():
        same("type", rows[name]["collective"], kind)
        same("latency", int(rows[name]["latency_ns"]), ns)
        same("buffer", int(rows[name]["buffer_bytes"]), out)
        assert abs(float(rows[name]["effective_gb_per_s"]) - rate) <= 1e-9 * rate
    total = {k: sum(b[0] for b in best.values() if b[2] == k) for _, _, k, _ in best.values()}
    for r in table("hlo_sizes", where):
        mine = [b for b in best.values() if (b[2], b[1]) == (r["collective"], int(r["buffer_bytes"]))]
        same("of a size", int(r["instructions"]), len(mine))
        same("time of a size", int(r["latency_ns_sum"]), sum(b[0] for b in mine))
        mean = sum(b[3] for b in mine) / len(mine)
        assert abs(float(r["effective_gb_per_s_mean"]) - mean) <= 1e-9 * mean
        assert abs(float(r["pct_latency"]) - 100 * sum(b[0] for b in mine) / total[r["collective"]]) < 1e-9
    counted = 0
    for r in table("hlo_rates", where):
        low, high = (400, 1e300) if r["gb_per_s"] == ">=400" else map(float, r["gb_per_s"].split("-"))
        mine = [b for b in best.values() if b[2] == r["collective"] and low <= b[3] < high]
        same("of a band", int(r["instructions"]), len(mine))
        assert abs(float(r["pct_latency"]) - 100 * sum(b[0] for b in mine) / total[r["collective"]]) < 1e-9
        counted += len(mine)
    same("in bands", counted, len(best))


def main():
    where = sys.argv[-1]
    with open(f"{sys.argv[1]}/truth.json", encoding="utf-8") as f:
        truth = json.load(f)
    n = compare_each(truth, where)
    compare_exposed(truth, where)
    compare_types(truth, where)
    compare_best(truth, where)
    print(f"{n} collectives compared")


main()
