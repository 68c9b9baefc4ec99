# SPDX-License-Identifier: MIT
"""diffmirror.py: whether a diff with its sides swapped is the same diff.

Every event has the same match, every GPU event is at the same ancestor with the
same others, and every row of ops has the opposite sign.
"""
import csv
import io
from collections import Counter, defaultdict

TURNED = {"trace1": "trace2", "trace2": "trace1", "combined": "combined"}


def table(files, name):
    return list(csv.DictReader(io.StringIO(files[name + ".csv"], newline="")))


def groups(rows):
    """the sets of GPU events at one ancestor"""
    out = defaultdict(set)
    for r in rows:
        at = r["lowest_common_ancestor_id"]
        event = r["source"], r["gpu_op_uid"]
        out[at if at else event].add(event)
    return Counter(frozenset(v) for v in out.values())


def partners(files):
    return Counter((r["uid1"], r["uid2"], r["type"]) for r in table(files, "uid_map"))


def ops(files, first, second, sign):
    out = Counter()
    for r in table(files, "diff_ops_summary"):
        sides = [(r["count_" + s], r[s + "_ns"]) for s in (first, second)]
        share = sign * float(r["pct_of_diff"]) if r["pct_of_diff"] else None
        out[(" | ".join(sorted(r["name"].split(" | "))), *sides, sign * int(r["diff_ns"]), share,
             r["spread_ns"], r["is_noise"])] += 1
    return out


def differences(files, back):
    """between a diff's files and those of the same with sides swapped"""
    there, here = groups(table(files, "diff_stats")), groups(table(back, "diff_stats"))
    here = Counter({frozenset((TURNED[s], u) for s, u in g): n for g, n in here.items()})
    kinds = {
        "events": (partners(files), Counter({(b, a, TURNED[t]): n for (a, b, t), n
                                             in partners(back).items()})),
        "groups": (there, here),
        "ops": (ops(files, "before", "after", 1), ops(back, "after", "before", -1)),
    }
    return ["%s: %d of %d differ: %s" % (kind, sum((x - y).values()) + sum((y - x).values()),
                                         sum(x.values()), list((x - y) + (y - x))[:2])
            for kind, (x, y) in kinds.items() if x != y]
