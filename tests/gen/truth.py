# SPDX-License-Identifier: MIT
"""What programs must find in a profile of tests/gen/xplane.py. Times in ns."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
from timeline import length, minus, union  # noqa: E402


def ns(ps):
    """Start and end are rounded once each, half up."""
    return (ps + 500) // 1000


def span(k):
    return ns(k.start), ns(k.start + k.dur)


def kind(k, is_tpu):
    """On a TPU only copy-start and copy-done move data; they are no ops here."""
    if k.instr.coll or k.instr.waits:
        return "comm"
    return "memcpy" if k.instr.opcode == "copy" and not is_tpu else "comp"


def timeline(kernels, is_tpu):
    kinds = collections.defaultdict(list)
    for k in kernels:
        kinds[kind(k, is_tpu)].append(span(k))
    comp, comm, memcpy = (union(kinds[k]) for k in ("comp", "comm", "memcpy"))
    busy = union(map(span, kernels))
    total = busy[-1][1] - busy[0][0]
    return {"computation": length(comp), "exposed_comm": length(minus(comm, comp)),
            "exposed_memcpy": length(minus(minus(memcpy, comp), comm)), "busy": length(busy),
            "idle": total - length(busy), "total": total, "total_comm": length(comm),
            "total_memcpy": length(memcpy), "events": len(kernels)}


def time(kernels):
    return sum(b - a for a, b in map(span, kernels))


def instructions(kernels):
    groups = collections.defaultdict(list)
    for k in kernels:
        groups[k.run["module"].program, k.instr.name].append(k)
    return [{"program_id": p, "name": name, "module": ks[0].run["module"].name, "opcode": ks[0].instr.opcode,
             "op_name": ks[0].instr.op_name, "time": time(ks), "kernels": len(ks),
             "runs": len({(k.gpu.rank, k.run["index"]) for k in ks}), "flops": ks[0].instr.flops,
             "bytes": ks[0].instr.bytes} for (p, name), ks in sorted(groups.items())]


def scopes(gpus):
    """By path of op_name without the primitive, below the module: the time in which any of
    it ran, summed over its calls; work without a scope separates two calls."""
    out, calls = collections.Counter(), []
    for run, k in ((run, k) for g in gpus for run in by_run(g).values() for k in [None] + run):
        m = k and k.run["module"]
        path = [f"{m.name}({m.program})"] + k.instr.op_name.split("/")[:-1] if k else []
        keep = 0
        while keep < min(len(calls), len(path)) and calls[keep][0] == path[keep]:
            keep += 1
        calls[keep:] = [(p, []) for p in path[keep:]]
        for n in range(len(path)):
            spans = calls[n][1]
            before = length(union(spans))
            spans.append(span(k))
            out["/".join(path[:n + 1])] += length(union(spans)) - before
    return dict(sorted(out.items()))


def by_run(gpu):
    out = collections.defaultdict(list)
    for k in gpu.kernels:
        out[k.run["index"]].append(k)
    return out


def runs(gpu):
    out, of_run = [], by_run(gpu)
    for run, _, _ in gpu.runs:
        ks = of_run[run["index"]]
        m = run["module"]
        out.append({"module": f"{m.name}({m.program})", "index": run["index"], "step": run["step"], "kernels": len(ks),
                    "copies": sum(k.instr.opcode == "copy" for k in ks), "time": time(ks),
                    "start": min(span(k)[0] for k in ks), "end": max(span(k)[1] for k in ks),
                    "busy": length(union(map(span, ks)))})
    return out


def exchanges(gpus):
    """Each exchange of each collective: when each rank arrived, in absolute times."""
    groups = collections.defaultdict(list)
    for g in gpus:
        for k in g.kernels:
            if k.instr.coll:
                ring = k.instr.coll["type"] == "collective-permute"
                group = [] if ring else next(m for m in k.instr.coll["groups"] if g.rank in m)
                groups[k.run["index"], k.instr.name, tuple(group)].append(k)
    out = []
    for (index, name, group), ks in groups.items():
        starts = [span(k)[0] for k in ks]
        c = ks[0].instr.coll
        out.append({"run": index, "name": name, "type": c["type"], "group": list(group) or c["groups"],
                    "ranks": [k.gpu.rank for k in ks], "starts": starts, "durations": [time([k]) for k in ks],
                    "skew": max(starts) - min(starts), "transfer": min(time([k]) for k in ks),
                    "in_bytes": c["in_bytes"], "d": c["d"]})
    return out


def figures(args, gpus, modules, steps):
    del modules
    everything = [k for g in gpus for k in g.kernels]
    return {
        "options": {k: v for k, v in vars(args).items() if k != "output"},
        "gpus": [{"rank": g.rank, "host": g.host, "dev": g.dev, **timeline(g.kernels, args.tpu), "runs": runs(g),
                  "instructions": instructions(g.kernels), "scopes": scopes([g])} for g in gpus],
        "hosts": [timeline([k for k in everything if k.gpu.host == h], args.tpu) for h in range(args.hosts)],
        "instructions": instructions(everything), "scopes": scopes(gpus),
        "steps": [s | {"start": ns(s["start"]), "end": ns(s["end"])} for s in steps],
        "collectives": exchanges(gpus),
    }
