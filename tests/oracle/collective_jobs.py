# SPDX-License-Identifier: MIT
"""tl-collective blames what is planted into jobs; speaks TAP.

usage: collective_jobs.py generated[=QUIET] RANKS... | real DATA

Generated jobs come from tests/gen/job.py, with groups of 2, 4 or 8 ranks and one
of all; QUIET (20) more jobs have no plant. In real traces a rank is made late: its
events are shifted, and the collectives of the others last until it arrives. Costs
are computed again from the events.
"""
import collections
import csv
import gzip
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "..", "gen", "job.py")


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = False

    def ok(self, good, text, *why):
        self.n += 1
        self.failed |= not good
        print("%sok %d - %s" % ("" if good else "not ", self.n, text))
        for line in [] if good else why:
            print("# " + str(line)[:600])


def run(folder, *options):
    done = subprocess.run(["tl-collective", "--format", "csv", *options, folder],
                          check=False, capture_output=True, text=True)
    return done.returncode, list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def verdicts(folder, *options):
    return run(folder, "--table", "nccl_verdict", *options)


def near(a, b, share):
    return abs(a - b) <= share * abs(b)


# ---- jobs ----

def load(folder):
    return {r: json.load(open(os.path.join(folder, "rank%d.json" % r), encoding="ascii"))
            for r in range(len(os.listdir(folder)))}


def collectives(traces):
    """By group and number: start and duration in ns on each rank."""
    found = collections.defaultdict(dict)
    for rank, trace in traces.items():
        for e in trace["traceEvents"]:
            if "Collective name" in e.get("args", {}):
                key = e["args"]["Process Group Name"], e["args"]["Seq"]
                found[key][rank] = round(e["ts"] * 1000), round(e["dur"] * 1000)
    return found


def share_of(starts, rank):
    """What this rank costs of the time from the median start (of a pair: from the first)
    to the last."""
    m = statistics.median(starts.values()) if len(starts) > 2 else min(starts.values())
    cost, at = 0, m
    for s in sorted(t for t in starts.values() if t > m):
        late = [r for r, t in starts.items() if t >= s]
        if rank in late:
            cost += (s - at) / len(late)
        at = s
    return cost


def cost_of(found, rank):
    cost = 0
    for ranks in found.values():
        starts = {r: s for r, (s, _) in ranks.items()}
        last = max(starts, key=lambda r: (starts[r], -r))
        late = starts[last] - statistics.median(
            [s for r, s in starts.items() if r != last])
        if late >= max(10000, 0.05 * min(d for _, d in ranks.values())):
            cost += share_of(starts, rank)
    return cost


def make(folder, ranks, *options):
    size = 2 if ranks <= 4 else 4 if ranks <= 16 else 8
    count = 24 if ranks <= 16 else 12
    groups = ["--group", "0=0-%d:all_reduce:200000000:1000:%d" % (ranks - 1, count)]
    for g in range(ranks // size):
        groups += ["--group", "%d=%d-%d:all_gather:50000000:300:%d" %
                   (g + 1, g * size, g * size + size - 1, count)]
    subprocess.run([sys.executable, JOB, "-o", folder, "--ranks", str(ranks), "--noise",
                    "3", "--work", "60", *groups, *options], check=True)
    return count


def planted(tap, ranks, base):
    def folder(name):
        return os.path.join(base, name)
    who = ranks // 2 + 1

    count = make(folder("late"), ranks, "--late", "%d=400" % who)
    rc, rows, err = verdicts(folder("late"))
    want = cost_of(collectives(load(folder("late"))), who)
    tap.ok(rc == 0 and rows[0]["rank"] == str(who) and
           near(int(rows[0]["cost_ns"]), want, 0.01),
           "%d ranks: rank %d is late: %.3f ms" % (ranks, who, want / 1e6), rc, rows[:2], err)
    tap.ok(len(rows) == 1 and rows[0]["verdict"] == "host",
           "%d ranks: nobody else, and why" % ranks, rows)
    gain = 2 * count * 400000  # before a collective of each of its two groups
    tap.ok(0.9 * gain <= int(rows[0]["gain_ns_high"]) <= 1.01 * gain,
           "%d ranks: on time, %.3f ms less" % (ranks, gain / 1e6), rows[0])

    make(folder("slow"), ranks, "--throttle", "%d=300" % who)
    rc, rows, err = verdicts(folder("slow"))
    want = cost_of(collectives(load(folder("slow"))), who)
    tap.ok(rc == 0 and rows[0]["rank"] == str(who) and rows[0]["verdict"] == "throttled" and
           near(int(rows[0]["cost_ns"]), want, 0.01),
           "%d ranks: rank %d computes longer: %.3f ms" % (ranks, who, want / 1e6),
           rc, rows[:2], err)

    count = make(folder("link"), ranks, "--slow", "2=3")
    rc, rows, err = verdicts(folder("link"))
    tap.ok(rc == 0 and rows[0]["verdict"] == "network" and
           rows[0]["text"].startswith("group 2: ") and
           near(int(rows[0]["cost_ns"]), count * 600000, 0.1) and len(rows) == 1,
           "%d ranks: a slow link in group 2" % ranks, rc, rows[:2], err)

    make(folder("episode"), ranks, "--slow", "0=4:5-9")
    rc, rows, err = verdicts(folder("episode"))
    least = [min(d for _, d in v.values()) for (g, _), v in
             collectives(load(folder("episode"))).items() if g == "0"]
    usual = statistics.median(least)
    want = sum(d - usual for d in least if d > 1.5 * usual)
    tap.ok(rc == 0 and rows[0]["verdict"] == "unstable" and len(rows) == 1 and
           "5 of %d all-reduces" % len(least) in rows[0]["text"] and
           near(int(rows[0]["cost_ns"]), want, 0.01),
           "%d ranks: an episode: %.3f ms" % (ranks, want / 1e6), rc, rows[:2], err)

    damaged(tap, ranks, folder("damaged"), who)


def damaged(tap, ranks, folder, who):
    make(folder, ranks)
    path = os.path.join(folder, "rank%d.json" % who)
    with open(path, encoding="ascii") as f:
        text = f.read()
    trace = json.loads(text)
    at = [i for i, e in enumerate(trace["traceEvents"])
          if e["args"].get("Process Group Name") == "0"][7]
    del trace["traceEvents"][at]
    write(path, json.dumps(trace))
    rc, rows, err = run(folder, "--table", "nccl_missing")
    tap.ok(rc == 3 and [(r["collective_id"], r["ranks_missing"]) for r in rows] ==
           [("0_7", str(who))], "%d ranks: rank %d lacks a collective" % (ranks, who),
           rc, rows, err)
    write(path, text[:len(text) // 2])
    rc, rows, err = verdicts(folder)
    tap.ok(rc == 3 and "rank%d.json: skipped" % who in err and rows[0]["verdict"] == "none",
           "%d ranks: a trace that is cut off" % ranks, rc, rows, err)
    trace = json.loads(text)
    trace["distributedInfo"]["world_size"] = ranks * 2
    write(path, json.dumps(trace))
    rc, rows, err = verdicts(folder)
    tap.ok(rc == 3 and "its job has %d ranks, not %d" % (ranks * 2, ranks) in err and
           rows[0]["verdict"] == "none", "%d ranks: another world size" % ranks, rc, rows, err)


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def unplanted(tap, base, n):
    found = []
    for seed in range(n):
        folder = os.path.join(base, "quiet%d" % seed)
        make(folder, (4, 8, 16)[seed % 3], "--seed", str(seed))
        rc, rows, _ = verdicts(folder)
        if rc != 0 or [r["verdict"] for r in rows] != ["none"]:
            found.append((seed, rc, rows))
    tap.ok(not found, "nothing is found in %d jobs without a plant" % n, found)


# ---- real ----

def is_collective(e):
    return e.get("cat", "").lower() == "kernel" and "nccl" in e["name"].lower()


def in_order(trace):
    return sorted((e for e in trace["traceEvents"] if is_collective(e)),
                  key=lambda e: e["ts"])


def shift(trace, begin, by, keep=None):
    for e in trace["traceEvents"]:
        if e is not keep and isinstance(e.get("ts"), (int, float)) and e["ts"] >= begin:
            e["ts"] = round(e["ts"] + by, 3)


def make_late(traces, rank, by):
    """From the last one on, so that earlier events stay."""
    lists = [in_order(t) for t in traces]
    for k in reversed(range(len(lists[0]))):
        for r, trace in enumerate(traces):
            e = lists[r][k]
            if r == rank:
                shift(trace, e["ts"], by)
            else:
                shift(trace, e["ts"] + e["dur"], by, e)
                e["dur"] = round(e["dur"] + by, 3)


def make_slow(traces, places, factor):
    """Multiplies the time of collectives at these places."""
    lists = [in_order(t) for t in traces]
    for k in sorted(places, reverse=True):
        by = round((factor - 1) * min(own[k]["dur"] for own in lists), 3)
        for own, trace in zip(lists, traces):
            shift(trace, own[k]["ts"] + own[k]["dur"], by, own[k])
            own[k]["dur"] = round(own[k]["dur"] + by, 3)


def largest(traces):
    """Places of the largest all-reduces."""
    sizes = [e["args"]["In msg nelems"] if e["args"]["Collective name"] == "allreduce" else 0
             for e in in_order(traces[0])]
    return [k for k, n in enumerate(sizes) if n == max(sizes)]


def load_real(data, name):
    folder = os.path.join(data, name)
    files = sorted(f for f in os.listdir(folder) if f.endswith(".gz"))
    return files, [json.load(gzip.open(os.path.join(folder, f))) for f in files]


def save(folder, files, traces):
    os.mkdir(folder)
    for f, t in zip(files, traces):
        write(os.path.join(folder, f[:-3]), json.dumps(t))


def repeat(events, times, apart_us):
    """The events, and the same again so much later."""
    return [dict(e, ts=round(e["ts"] + apart_us * k, 3),
                 args=dict(e["args"], correlation=e["args"]["correlation"] + 10**7 * k))
            for k in range(times) for e in events]


def slow_at_times(tap, data, base, name, some):
    """The job's collectives twelve times over; some alike ones take 4 x."""
    files, traces = load_real(data, name)
    for trace in traces:
        trace["traceEvents"] = repeat(in_order(trace), 12, 6e5)
    places = largest(traces)
    make_slow(traces, places[8:8 + some], 4)
    lists = [in_order(t) for t in traces]
    least = [min(own[k]["dur"] for own in lists) * 1000 for k in places]
    want = sum(least[8:8 + some]) - some * statistics.median(least)
    out = os.path.join(base, name + "-slow")
    save(out, files, traces)
    _, rows, err = verdicts(out)
    said = [r for r in rows if r["verdict"] == "unstable"]
    tap.ok(len(said) == 1 and near(int(said[0]["cost_ns"]), want, 0.001) and
           said[0]["text"].startswith("%d of %d all-reduces" % (some, len(places))),
           "%s: %d of %d all-reduces take 4 x: %.3f ms" % (name, some, len(places), want / 1e6),
           rows, err)


def real(tap, data, base, name, ranks, late_us):
    for rank in ranks:
        files, traces = load_real(data, name)
        out = os.path.join(base, "%s-%d" % (name, rank))
        make_late(traces, rank, late_us)
        save(out, files, traces)
        found = collections.defaultdict(dict)
        for r, t in enumerate(traces):
            base_ns = int(t.get("baseTimeNanoseconds", 0))
            for k, e in enumerate(in_order(t)):
                found[k][r] = base_ns + round(e["ts"] * 1000), round(e["dur"] * 1000)
        want = cost_of(found, rank)
        rc, rows, err = verdicts(out)
        tap.ok(rows and rows[0]["rank"] == str(rank) and
               0.7 * want <= int(rows[0]["cost_ns"]) <= 1.01 * want,
               "%s: rank %d is late by %.1f ms %d times: %.3f ms" %
               (name, rank, late_us / 1000, len(found), want / 1e6), rc, rows[:3], err)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        if sys.argv[1] == "real":
            real(tap, sys.argv[2], base, "multirank_cifar_mi300x_4r", (0, 3), 5000)
            real(tap, sys.argv[2], base, "multirank_dlrm_v100_8r", (2, 5), 5000)
            slow_at_times(tap, sys.argv[2], base, "multirank_cifar_mi300x_4r", 12)
        else:
            for n in sys.argv[2:]:
                sub = os.path.join(base, n)
                os.mkdir(sub)
                planted(tap, int(n), sub)
            unplanted(tap, base, int(sys.argv[1].partition("=")[2] or 20))
    print("1..%d" % tap.n)
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
