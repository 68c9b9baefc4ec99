#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dumps of PyTorch's flight recorder, from a job that hangs or does not.

    flight.py DIR [--ranks N] [--steps N] [--plant PLANT[:RANK]]... [--json] [--buffer N] [--lose RANK]...

Each rank runs a program of collectives. Each step has one all-gather and one all-reduce in its group of four (tp), a
send to the next group's rank (pp, with --p2p), and an all-reduce of the world. The host calls up to AHEAD of them
before it waits. A collective completes when all members have called it alike and all their earlier calls are
complete. If nothing moves any more, the job hangs, and the dumps are written.

Plants, in the last step but one: stop (the rank calls nothing more), stop-tp (the same before a collective of its
tp group), size, dtype, type (its call of the world's all-reduce differs), swap (it calls two collectives of its tp
group in reverse order), skip (it skips one), stop-p2p (a rank does not receive), order (it calls two groups in another
order than the others: a deadlock), stuck (all call, none completes).
"""
import argparse
import json
import os
import pickle

AHEAD = 6
START_NS = 1_724_779_200_000_000_000
TORCH = "/opt/venv/lib/python3.11/site-packages/torch/distributed/"


def frames(line, where="training_step"):
    stack = [("all_reduce", TORCH + "distributed_c10d.py", 2806), ("wrapper", TORCH + "c10d_logger.py", 81),
             (where, "/home/user/train.py", line), ("main", "/home/user/train.py", 12), ("<module>", "/home/user/train.py", 40)]
    return [{"name": n, "filename": f, "line": l} for n, f, l in stack]


class Call:
    def __init__(self, group, name, sizes, line, dtype="BFloat16", out=None):
        self.group, self.name, self.sizes, self.line, self.dtype = group, name, sizes, line, dtype
        self.out = out or sizes
        self.is_p2p = name.startswith(("send", "recv"))
        self.done = False

    def alike(self):
        return self.name, self.sizes, self.out, self.dtype


def groups_of(n):
    """By name: description and ranks."""
    groups = {"0": ("default_pg", list(range(n)))}
    for i in range(0, n, 4):
        groups[str(1 + i // 4)] = (f"tp_{i // 4}", list(range(i, min(i + 4, n))))
    return groups


def program(rank, n, steps, p2p):
    tp, calls = str(1 + rank // 4), []
    size = min(4, n - rank // 4 * 4)
    for _ in range(steps):
        calls.append(Call(tp, "_all_gather_base", [[1024, 8]], 101, out=[[1024 * size, 8]]))
        calls.append(Call(tp, "all_reduce", [[4096, 1024]], 102))
        if p2p and rank + 4 < n:
            calls.append(Call("0", f"send {rank}->{rank + 4}", [[512, 64]], 103))
        if p2p and rank >= 4:
            calls.append(Call("0", f"recv {rank}<-{rank - 4}", [[512, 64]], 104))
        calls.append(Call("0", "all_reduce", [[1 << 20]], 105, "Float"))
    return calls


def plant(calls, what, per_step):
    """Into the last step but one of a rank's program; None: it stops there."""
    at = len(calls) - 2 * per_step
    world = at + per_step - 1
    if what == "stop":
        return calls[:world]
    if what == "stop-tp":
        return calls[:at + 1]
    if what == "stop-p2p":
        return calls[:next(i for i in range(at, world) if calls[i].is_p2p)]
    if what == "size":
        calls[world].sizes = calls[world].out = [[1 << 19]]
    elif what == "dtype":
        calls[world].dtype = "Half"
    elif what == "type":
        calls[world].name = "reduce"
    elif what == "swap":
        calls[at], calls[at + 1] = calls[at + 1], calls[at]
    elif what == "skip":
        del calls[at]
    elif what == "order":
        calls[at + 1], calls[world] = calls[world], calls[at + 1]
    elif what == "stuck":
        calls[world].stuck = True
    return calls


def number(calls):
    seqs = {}
    for op, c in enumerate(calls):
        key = c.group, c.is_p2p
        seqs[key] = seqs.get(key, 0) + 1
        c.seq, c.p2p_seq = seqs.get((c.group, False), 0), seqs.get((c.group, True), 0)
        c.op = op + 1


def key_of(c):
    """What all of these must call: (key, members)."""
    if not c.is_p2p:
        return c.group, c.seq
    a, b = c.name[5:].replace("<", "").replace(">", "").split("-")
    a, b = (int(a), int(b)) if c.name.startswith("send") else (int(b), int(a))
    return c.group, a, b, c.pair


def run(programs, groups):
    """Marks calls and completions."""
    called = [0] * len(programs)
    first = [0] * len(programs)
    waiting = {}
    for calls in programs:
        pairs = {}
        for c in calls:
            if c.is_p2p:
                c.pair = pairs[c.name] = pairs.get(c.name, 0) + 1
    for now in range(10 ** 9):
        moved = False
        for r, calls in enumerate(programs):
            while called[r] < len(calls) and called[r] < first[r] + AHEAD:
                calls[called[r]].created = START_NS + now * 1_000_000 + r * 1000 + called[r]
                called[r] += 1
                moved = True
            if first[r] < called[r]:
                waiting.setdefault(key_of(calls[first[r]]), {})[r] = calls[first[r]]
        for key, there in list(waiting.items()):
            one = next(iter(there.values()))
            size = 2 if one.is_p2p else len(groups[one.group][1])
            alike = one.is_p2p or len({str(c.alike()) for c in there.values()}) == 1
            if len(there) < size or not alike or any(hasattr(c, "stuck") for c in there.values()):
                continue
            for r, c in there.items():
                c.done, c.completed = True, START_NS + now * 1_000_000 + 500_000
                first[r] += 1
            del waiting[key]
            moved = True
        if not moved:
            return called


def entry(i, c, has_frames):
    is_json = not has_frames
    e = {"frames": frames(c.line)} if has_frames else {}
    e.update({
        "record_id": i, "pg_id": int(c.group), "process_group": None, "thread_name": "pt_main", "thread_id": "1",
        "collective_seq_id": c.seq, "p2p_seq_id": c.p2p_seq, "op_id": c.op, "profiling_name": "nccl:" + c.name,
        "time_created_ns": c.created,
        "input_sizes": c.sizes, "input_dtypes": [c.dtype], "output_sizes": c.out, "output_dtypes": [c.dtype],
        "state": "completed" if c.done else "scheduled", "time_discovered_started_ns": 0 if is_json else None,
        "time_discovered_completed_ns": c.completed if c.done else 0 if is_json else None,
        "retired": c.done, "timeout_ms": 600000, "is_p2p": c.is_p2p})
    return e


def dump(rank, calls, ncalled, groups, args):
    entries, status = [], {}
    for i, c in enumerate(calls[:ncalled]):
        e = entry(i, c, not args.json)
        e["process_group"] = [c.group, groups[c.group][0]] if args.json else (c.group, groups[c.group][0])
        entries.append(e)
        s = status.setdefault(c.group, {"last_enqueued_collective": -1, "last_started_collective": -1,
                                        "last_completed_collective": -1})
        if not c.is_p2p:
            s["last_enqueued_collective"] = c.seq
            if c.done:
                s["last_completed_collective"] = c.seq
    if args.json:
        status = {g: {k: str(v) for k, v in s.items()} for g, s in status.items()}
    config = {g: {"name": g, "desc": d, "ranks": str(r)} for g, (d, r) in groups.items() if rank in r}
    return {"version": "2.10", "comm_lib_version": "2.27.3", "pg_config": config, "pg_status": status,
            "entries": entries[-args.buffer:]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir")
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("--plant", action="append", default=[])
    p.add_argument("--lose", type=int, action="append", default=[])
    p.add_argument("--buffer", type=int, default=2000)
    p.add_argument("--json", action="store_true")
    p.add_argument("--p2p", action="store_true")
    args = p.parse_args()
    groups = groups_of(args.ranks)
    programs = [program(r, args.ranks, args.steps, args.p2p) for r in range(args.ranks)]
    for what in args.plant:
        what, _, ranks = what.partition(":")
        for r in map(int, ranks.split(",")):
            programs[r] = plant(programs[r], what, len(programs[r]) // args.steps)
    for calls in programs:
        number(calls)
    called = run(programs, groups)
    os.makedirs(args.dir, exist_ok=True)
    for r, calls in enumerate(programs):
        if r in args.lose:
            continue
        data = dump(r, calls, called[r], groups, args)
        if args.json:
            with open(f"{args.dir}/nccl_trace_rank_{r}.json", "w", encoding="utf-8") as f:
                f.write(json.dumps(data, sort_keys=True, separators=(",", ":")))
        else:
            with open(f"{args.dir}/nccl_trace_rank_{r}", "wb") as f:
                pickle.dump(data, f, protocol=2)


main()
