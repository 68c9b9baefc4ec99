# SPDX-License-Identifier: MIT
"""The clocks of a job's ranks, computed a second time in the plainest way.

A stratum is a group's collectives of one type and size. Inside it each end is
t of the collective + m of the member; strata are joined by m = T of the stratum
+ o of the clock. Here every system is a full matrix, and every collective of a
stratum has its own row; the program eliminates both and sorts nothing.

    solve(read(DIR)) -> {rank: Clock}
    compare(DIR)     -> where the program's table differs
"""
import collections
import csv
import gzip
import io
import itertools
import json
import math
import os
import statistics
import subprocess

SYNC = {"allreduce": "allreduce", "_allgather_base": "allgather", "all_gather": "allgather",
        "_reduce_scatter_base": "reducescatter", "reducescatter": "reducescatter",
        "all_to_all": "alltoall", "barrier": "barrier"}
MOST = 200
US = 1000.0

Clock = collections.namedtuple("Clock", "offset u drift u_drift residual ties island off")


# ---- numbers ----

def t_quantile(df, chance=.05, high=13.0):
    """The value that Student's t exceeds so often, by Simpson's rule and bisection."""
    def density(x):
        return math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / \
            math.sqrt(df * math.pi) * (1 + x * x / df) ** (-(df + 1) / 2)

    def within(x):
        n = 400
        h = x / n
        return 2 * h / 3 * (density(0) + density(x) + sum(
            (4 if i % 2 else 2) * density(i * h) for i in range(1, n)))
    low = 1.9
    for _ in range(40):
        mid = (low + high) / 2
        low, high = (mid, high) if within(mid) < 1 - chance else (low, mid)
    return low


def least_u(nclocks):
    """The least ratio of a drift to its uncertainty, for so many clocks."""
    return max(4, t_quantile(15, .01 / nclocks, 40.0) / t_quantile(15) * 1.96)


def inverse(a):
    n = len(a)
    a = [row[:] + [float(i == k) for k in range(n)] for i, row in enumerate(a)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(a[r][c]))
        a[c], a[p] = a[p], a[c]
        a[c] = [v / a[c][c] for v in a[c]]
        for r in range(n):
            if r != c and a[r][c] != 0:
                f = a[r][c]
                a[r] = [x - f * y for x, y in zip(a[r], a[c])]
    return [row[n:] for row in a]


def biweight(z):
    return (1 - (z / 4.685) ** 2) ** 2 if abs(z) < 4.685 else 1e-6


# ---- traces ----

def read(folder):
    """Collectives (group, name, rest, {rank: (start, duration)}), hosts, ticks."""
    found = collections.defaultdict(list)
    hosts, shift, ticks = {}, {}, {}
    for number, name in enumerate(sorted(os.listdir(folder))):
        path = os.path.join(folder, name)
        with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
            trace = json.load(f)
        rank = trace.get("distributedInfo", {}).get("rank", number)
        shift[rank] = int(trace.get("baseTimeNanoseconds", 0))
        if "hostname" in trace or "host_name" in trace:
            hosts[rank] = trace.get("hostname", trace.get("host_name"))
        whole = True
        for e in sorted((e for e in trace["traceEvents"] if e.get("cat", "").lower() == "kernel"
                         and "nccl" in e["name"].lower()), key=lambda e: e["ts"]):
            a = e["args"]
            key = a.get("Process Group Name", "all"), str(a.get("Process Group Ranks"))
            whole = whole and e["ts"] % 1 == 0 and e["dur"] % 1 == 0
            found[key, rank].append((a, shift[rank] + round(e["ts"] * 1000),
                                     round(e["dur"] * 1000)))
        ticks[rank] = 1000 if whole else 1
    colls = []
    for group in sorted({g for g, _ in found}):
        of = {r: v for (g, r), v in found.items() if g == group}
        all_seq = all("Seq" in a for v in of.values() for a, _, _ in v)
        by_no = collections.defaultdict(dict)
        for r, v in of.items():
            for i, (a, start, dur) in enumerate(v):
                by_no[a["Seq"] if all_seq else i][r] = a, start, dur
        for no in sorted(by_no):
            kinds = {(a.get("Collective name"), a.get("dtype"), a.get("In msg nelems"),
                      a.get("Out msg nelems")) for a, _, _ in by_no[no].values()}
            if len(kinds) == 1:
                kind = kinds.pop()
                colls.append((group, kind[0], kind[1:3],
                              {r: (s, d) for r, (_, s, d) in by_no[no].items()}))
    return colls, hosts, ticks


class Stratum:
    def __init__(self, colls, ticks):
        if len(colls) > MOST:
            colls = [colls[i * len(colls) // MOST] for i in range(MOST)]
        self.ends = [{r: s + d for r, (s, d) in c.items()} for c in colls]
        self.members = sorted({r for e in self.ends for r in e})
        self.tick = max(ticks[r] for r in self.members)
        self.latency = statistics.median(min(d for _, d in c.values()) for c in colls)


def is_sync(name):
    """Without a name it may be; in a group of all ranks it counts as one."""
    return name is None or name in SYNC


def strata_of(colls, ticks):
    lists = collections.OrderedDict()
    for group, name, rest, ranks in colls:
        if is_sync(name) and len(ranks) > 1:
            lists.setdefault((group, name, rest), []).append(ranks)
    return [Stratum(v, ticks) for v in lists.values() if len(v) >= 3]


# ---- a stratum by itself ----

def bounded(z):
    return min(1, 1.345 / abs(z)) if z else 1.0


def tie(s, drift, middle, weigh=biweight):
    """{member: [m, variance, ties, slope, weight of it, its variance]}"""
    x = [next(iter(e.values())) - middle for e in s.ends]
    y = []
    for e, at in zip(s.ends, x):
        v = {r: (t - min(e.values())) - drift.get(r, 0) * at for r, t in e.items()}
        mean = sum(v.values()) / len(v)
        y.append({r: t - mean for r, t in v.items()} if len(v) > 1 else {})
    m = dict.fromkeys(s.members, 0.0)

    def centred(m):
        mean = sum(m.values()) / len(m)
        return {r: v - mean for r, v in m.items()}
    for _ in range(4):
        t = [statistics.median(v[r] - m[r] for r in v) if v else 0 for v in y]
        m = centred({r: statistics.median(v[r] - t[i] for i, v in enumerate(y) if r in v)
                     for r in s.members if any(r in v for v in y)})
    h = [math.sqrt(1 - 1 / len(v)) if v else 1 for v in y]
    for turn in range(30):
        left = [{r: v[r] - t[i] - m[r] for r in v} for i, v in enumerate(y)]
        if turn < 6:
            scale = max(200.0, s.tick / 2, 1.4826 * statistics.median(
                abs(left[i][r]) / h[i] for i, v in enumerate(y) for r in v))
        w = [{r: weigh(left[i][r] / (h[i] * scale)) for r in v} for i, v in enumerate(y)]
        t = [sum(w[i][r] * (v[r] - m[r]) for r in v) / sum(w[i].values()) if v else 0
             for i, v in enumerate(y)]
        new = centred({r: sum(w[i][r] * (v[r] - t[i]) for i, v in enumerate(y) if r in v) /
                       sum(w[i][r] for i, v in enumerate(y) if r in v) for r in m})
        step = max(abs(new[r] - m[r]) for r in m)
        m = new
        if step < 5 and turn >= 6:
            break
    left = [{r: v[r] - t[i] - m[r] for r in v} for i, v in enumerate(y)]
    n, blocks = len(s.members), min(16, len(y))
    out, pool, line_pool, known = {}, 0.0, 0.0, 0
    for r in m:
        mine = [i for i, v in enumerate(y) if r in v]
        if len(mine) < 3:
            continue
        sw = sum(w[i][r] for i in mine)
        psi = 0.0
        for i in mine:
            z = min(1, abs(left[i][r] / (h[i] * scale)) / 4.685) if weigh is biweight else 0
            psi += (1 - z * z) * (1 - 5 * z * z)
        kappa = max(.3, psi / sw)
        g = [0.0] * blocks
        for i in mine:
            g[i * blocks // len(y)] += w[i][r] * left[i][r]
        v = sum(k * k for k in g) / (kappa * sw) ** 2 * blocks / (blocks - 1) / (1 - 1 / n)
        mean = sum(w[i][r] * x[i] for i in mine) / sw
        xx = sum(w[i][r] * (x[i] - mean) ** 2 for i in mine)
        slope = sum(w[i][r] * (x[i] - mean) * left[i][r] for i in mine) / xx if xx else 0
        g = [0.0] * blocks
        for i in mine:
            g[i * blocks // len(y)] += w[i][r] * (x[i] - mean) * (left[i][r] - slope * (x[i] - mean))
        lv = sum(k * k for k in g) / (1 - 2.8 / blocks) / xx ** 2 / (1 - 1 / n) / kappa ** 2 if xx else 0
        out[r] = [m[r], v, len(mine), slope, xx, lv, sw]
        pool += v * sw
        line_pool += lv * xx
        known += 1
    for k in out.values():
        df = blocks - 1 if n == 2 else blocks + 3
        wide = (t_quantile(df) / 1.96) ** 2
        if n > 2:
            k[1] = ((blocks - 1) * k[1] + 4 * pool / known / k[6]) / (blocks + 3)
            k[5] = ((blocks - 1) * k[5] + 4 * line_pool / known / k[4]) / (blocks + 3) if k[4] else 0
        k[1] = k[1] * wide + s.tick ** 2 / 12 / k[2]
        k[5] *= wide
        k[4] /= scale * scale
    return out


# ---- strata joined ----

def least_squares(eqs, w, clocks, nstrata):
    """Unknowns: each clock, each stratum; the first clock is 0."""
    n = len(clocks) + nstrata
    a = [[0.0] * n for _ in range(n)]
    b = [0.0] * n
    for (k, c, m), wi in zip(eqs, w):
        i, j = clocks.index(c), len(clocks) + k
        for p, q in itertools.product((i, j), (i, j)):
            a[p][q] += wi
        b[i] += wi * m
        b[j] += wi * m
    a[0][0] += sum(w)
    x = [sum(u * v for u, v in zip(row, b)) for row in inverse(a)]
    return x[:len(clocks)], x[len(clocks):]


def joined(ties, latencies, clocks, clock_of):
    """Offsets, residuals, weights of the equations, growth of variances."""
    numbers = {k: i for i, k in enumerate(sorted({k for k, _ in ties}))}
    keys = sorted(ties)
    eqs = [(numbers[k], clock_of[r], ties[k, r][0]) for k, r in keys]
    v = [ties[key][1] for key in keys]
    f = len(eqs) - len(numbers) - len(clocks) + 1
    tau0 = [((2 * US) ** 2 + (.01 * latencies[k]) ** 2) * (4 if f <= 2 else 1) for k, _ in keys]
    tau2 = 0.0

    def fit(w):
        o, t = least_squares(eqs, w, clocks, len(numbers))
        return o, [m - o[clocks.index(c)] - t[k] for k, c, m in eqs]

    def mean_square(tau2):
        return sum(min(9, r * r / ((max(tau2, z) + vi) * f / len(eqs)))
                   for r, z, vi in zip(res, tau0, v)) / len(eqs)
    o, res = fit([1 / (z + vi) for z, vi in zip(tau0, v)])
    for _ in range(15):
        sd = [math.sqrt(z + vi) for z, vi in zip(tau0, v)]
        o, res = fit([1 / (s * max(abs(r), .1 * s)) for s, r in zip(sd, res)])
    for _ in range(8):
        tau2 = 0.0
        if f > 0:
            want = .985 * max(.5, 1 - math.sqrt(.5 / f))
            if mean_square(0) > want:
                low, high = 0.0, 1e18
                for _ in range(120):
                    tau2 = (low + high) / 2
                    low, high = (tau2, high) if mean_square(tau2) > want else (low, tau2)
        var = [tau2 + z + vi for z, vi in zip(tau0, v)]
        w = [biweight(r / math.sqrt(k)) / k for r, k in zip(res, var)]
        o, res = fit(w)
    share = sum(tau2 / k for k in var) / len(var)
    growth = 1 + (((t_quantile(f) / 1.96) ** 2 if f > 0 else 1) - 1) * share
    return dict(zip(clocks, o)), res, w, growth, eqs


def contrasts(eqs, w, clocks, zero):
    """Variance of each clock less the zero's mean."""
    n = len(clocks)
    lap = [[zero[a] * zero[b] * sum(w) for b in clocks] for a in clocks]
    for k in {k for k, _, _ in eqs}:
        mine = [(clocks.index(c), wi) for (q, c, _), wi in zip(eqs, w) if q == k]
        total = sum(wi for _, wi in mine)
        for i, wi in mine:
            lap[i][i] += wi
            for j, wj in mine:
                lap[i][j] -= wi * wj / total
    inv = inverse(lap)
    out = {}
    for c in clocks:
        z = [float(k == c) - zero[k] for k in clocks]
        out[c] = max(0, sum(z[i] * z[j] * inv[i][j] for i in range(n) for j in range(n)))
    return out


def zero_of(offset, drift, half, nranks):
    best = None
    for c in sorted(offset, key=lambda c: (offset[c], c)):
        near = [k for k in offset if abs(offset[k] - offset[c]) <= 25 * US and
                abs(drift[k] - drift[c]) * half <= 25 * US]
        rating = sum(nranks[k] for k in near), -min(near)
        if best is None or rating > best[0]:
            best = rating, near
    total = sum(nranks[k] for k in best[1])
    return {k: nranks[k] / total if k in best[1] else 0.0 for k in offset}


# ---- a job ----

def islands_of(ties, counted):
    sets = []
    for k in sorted({k for k, _ in ties}):
        new = {r for q, r in ties if q == k}
        for old in [s for s in sets if s & new]:
            new |= old
            sets.remove(old)
        sets.append(new)
    return sorted((sorted(s & counted) for s in sets if len(s & counted) > 1), key=min)


def solve(job):
    colls, hosts, ticks = job
    strata = strata_of(colls, ticks)
    ranks = sorted({r for c in colls for r in c[3]})
    all_ends = {r: [e[r] for s in strata for e in s.ends if r in e] for r in ranks}
    drift = {r: 0.0 for r in ranks}
    u_drift = {r: 0.0 for r in ranks}
    middle = 0

    def ties_of(weigh=biweight):
        return {(k, r): v for k, s in enumerate(strata)
                for r, v in tie(s, drift, middle, weigh).items()}
    ties = ties_of()
    counts = collections.Counter()
    for (_, r), v in ties.items():
        counts[r] += v[2]
    out = {r: Clock(None, None, None, None, None, counts[r], None, False) for r in ranks}
    broken = is_broken(colls, ticks)
    latencies = [s.latency for s in strata]
    for number, island in enumerate(islands_of(ties, {r for r in counts if counts[r] >= 3})):
        clock_of = {r: r for r in island}
        one = {r: 1 for r in island}

        def own(ties):
            return {key: v for key, v in ties.items() if key[1] in clock_of}
        o, _, _, _, _ = joined(own(ties), latencies, island, clock_of)
        low = min(min(all_ends[r]) - o[r] for r in island)
        high = max(max(all_ends[r]) - o[r] for r in island)
        span, middle = high - low, int((low + high) / 2)
        if span >= 1e9 and all(counts[r] >= 20 for r in island):
            phases = [lambda z: 1.0] * 3 + [bounded] * 16 + [biweight] * 16
            settled = None
            for weigh in phases:
                if weigh is settled:
                    continue
                ties = ties_of(weigh)
                mine = own(ties)
                keys = sorted(mine)
                numbers = {k: i for i, k in enumerate(sorted({k for k, _ in keys}))}
                d, _ = least_squares([(numbers[k], r, mine[k, r][3]) for k, r in keys],
                                     [mine[key][4] for key in keys], island, len(numbers))
                step = max(abs(v - d[0]) for v in d) * span / 2
                for r, v in zip(island, d):
                    drift[r] += v - d[0]
                if step < 200 and weigh in (bounded, biweight):
                    settled = weigh
            ties = ties_of()
            mine = own(ties)
            keys = sorted(mine)
            o, _, _, _, _ = joined(mine, latencies, island, clock_of)
            zero = zero_of(o, {r: drift[r] for r in island}, span / 2, one)
            mean = sum(zero[r] * drift[r] for r in island)
            # else one that happens to be low would count most
            known = [mine[key][5] * mine[key][4] for key in keys if mine[key][4]]
            usual = sum(known) / len(known)
            var = contrasts([(k, r, 0) for k, r in keys],
                            [1 / max(mine[key][5], usual / mine[key][4]) for key in keys],
                            island, zero)
            for r in island:
                drift[r] -= mean
                u_drift[r] = math.sqrt(var[r])
            if not any(abs(drift[r]) * span / 2 >
                       max(10 * US, least_u(len(island)) * u_drift[r] * span / 2)
                       for r in island):
                for r in island:
                    drift[r] = u_drift[r] = 0.0
            ties = ties_of()

        def offsets(clock_of, nranks):
            clocks = sorted(set(clock_of.values()))
            o, res, w, growth, eqs = joined(own(ties), latencies, clocks, clock_of)
            zero = zero_of(o, drift, span / 2, nranks)
            mean = sum(zero[c] * o[c] for c in clocks)
            slow = sum(zero[c] * drift[c] for c in clocks)
            var = contrasts(eqs, w, clocks, zero)
            off = {}
            for c in clocks:
                mine = [(r * r * wi, wi) for (_, q, _), r, wi in zip(eqs, res, w) if q == c]
                off[c] = o[c] - mean, math.sqrt(var[c] * growth), drift[c] - slow, \
                    math.sqrt(sum(a for a, _ in mine) / sum(b for _, b in mine))
            return off
        off = offsets(clock_of, one)
        for host in sorted(set(hosts.get(r) for r in island) - {None}):
            mine = [r for r in island if hosts.get(r) == host]
            mean = sum(off[r][0] for r in mine) / len(mine)
            slope = sum(off[r][2] for r in mine) / len(mine)
            if len(mine) > 1 and all(
                    abs(off[r][0] - mean) + abs(off[r][2] - slope) * span / 2 <=
                    max(20 * US, 4 * math.hypot(off[r][1], u_drift[r] * span / 2))
                    for r in mine):
                for r in mine:
                    clock_of[r] = mine[0]
                    drift[r] = slope
        if len(set(clock_of.values())) < len(island):
            ties = ties_of()
            off = offsets(clock_of, collections.Counter(clock_of.values()))
        for r in island:
            o, u, d, residual = off[clock_of[r]]
            u_most = math.hypot(u, u_drift[clock_of[r]] * span / 2)
            is_off = abs(o) + abs(d) * span / 2 > max((10 if broken else 50) * US, 4 * u_most)
            out[r] = Clock(o, u, d, u_drift[clock_of[r]], residual, counts[r], number, is_off)
    return out


def is_broken(colls, ticks):
    """Whether 1 % of a group's collectives end on a rank before all have arrived."""
    n, bad = collections.Counter(), collections.Counter()
    for group, name, _, ranks in colls:
        if name in SYNC and len(ranks) > 1:
            n[group] += 1
            bad[group] += min(s + d for s, d in ranks.values()) + \
                max(1000, 2 * max(ticks[r] for r in ranks)) < max(s for s, _ in ranks.values())
    return any(bad[g] * 100 >= n[g] for g in n if bad[g])


# ---- the program ----

def table(folder, *options):
    done = subprocess.run(["tl-collective", "--table", "nccl_clocks", "--format", "csv",
                           "-c", "+details", *options, folder], check=False, capture_output=True, text=True)
    rows = csv.DictReader(io.StringIO(done.stdout))
    return done.returncode, {int(r["rank"]): r for r in rows}, done.stderr


def compare(folder, room_u=.03):
    """room_u: allowed difference, as a share of u: with few ends the solution settles slowly."""
    job = read(folder)
    ours, (_, theirs, _) = solve(job), table(folder)
    ends = [s + d for c in job[0] for s, d in c[3].values()]
    settled = 200 / max(1, (max(ends) - min(ends)) / 2)  # where the rounds of drift stop
    wrong = [] if sorted(ours) == sorted(theirs) else ["ranks", sorted(ours), sorted(theirs)]
    for r, c in ours.items():
        row = theirs.get(r, {})

        def far(column, value, room):
            if (row.get(column, "") == "") != (value is None):
                return True
            return value is not None and abs(float(row[column]) - value) > room
        for column, value, room in (
                ("offset_ns", c.offset, 30 + room_u * (c.u or 0)),
                ("u_ns", c.u, 2 + room_u * (c.u or 0)),
                ("drift", c.drift, .05 * (c.u_drift or 0) + settled),
                ("u_drift", c.u_drift, .1 * (c.u_drift or 0) + 1e-12),
                ("residual_ns", c.residual, 30 + room_u * (c.u or 0)),
                ("collectives", c.ties, 0), ("island", c.island, 0)):
            if far(column, value, room):
                wrong.append((r, column, row.get(column), value))
        if row.get("off") != str(c.off):
            wrong.append((r, "off", row.get("off"), c.off))
    return wrong
