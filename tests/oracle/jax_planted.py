#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jax_planted.py: what tests/gen/xplane.py planted, found again by each program.

    jax_planted.py DIR CHECK...

DIR has the generator's files and its truth.json; see CHECKS at the end.
"""
import collections
import glob
import json
import os
import subprocess
import sys

from worked import table


class Job:
    def __init__(self, folder):
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as f:
            self.truth = json.load(f)
        self.files = sorted(glob.glob(os.path.join(folder, "host*.xplane.pb*")),
                            key=lambda p: int(os.path.basename(p)[4:].split(".")[0]))
        self.gpus, self.wrong = self.truth["gpus"], []

    def same(self, where, got, want):
        if got != want:
            self.wrong.append(f"{where}: {got!r} instead of {want!r}")

    def of_host(self, host):
        return [g for g in self.gpus if g["host"] == host]


def timeline(job):
    rows = {"computation_time": "computation", "exposed_comm_time": "exposed_comm", "idle_time": "idle",
            "exposed_memcpy_time": "exposed_memcpy", "busy_time": "busy", "total_time": "total",
            "total_comm_time": "total_comm", "total_memcpy_time": "total_memcpy"}
    for host, path in enumerate(job.files):
        got = {(str(r["dev"]), r["type"]): r["time_ns"] for r in table(["tl-timeline", "--by", "dev", path])}
        for g in job.of_host(host):
            for row, key in rows.items():
                job.same(f"host {host} GPU {g['dev']} {row}", got.get((str(g["dev"]), row)), g[key])


def sums(rows, key):
    out = collections.defaultdict(lambda: [0, 0])
    for r in rows:
        out[r["name"]][0] += r[key]
        out[r["name"]][1] += r["count"] if "count" in r else 1
    return {k: tuple(v) for k, v in out.items()}


def kernels(job):
    for host, path in enumerate(job.files):
        count = sum(r["count"] for r in table(["tl-kernels", path]))
        copies = sum(i["kernels"] for g in job.of_host(host) for i in g["instructions"]
                     if i["opcode"] == "copy" and not job.truth["options"]["tpu"])
        job.same(f"host {host} kernels", count, sum(g["events"] for g in job.of_host(host)) - copies)


def ops(job):
    """GPU time of each instruction by name, summed over programs with that name."""
    for host, path in enumerate(job.files):
        want = collections.defaultdict(lambda: [0, 0])
        for g in job.of_host(host):
            for i in g["instructions"]:
                want[i["name"]][0] += i["time"]
                want[i["name"]][1] += i["runs"]
        got = sums(table(["tl-ops", "--include-comm", path]), "direct_ns_sum")
        job.same(f"host {host} instructions", got, {k: tuple(v) for k, v in want.items()})


def modules(job):
    """Busy time of the GPU in each scope."""
    for host, path in enumerate(job.files):
        got, want = collections.Counter(), collections.Counter()
        for r in table(["tl-modules", "--no-fold", "--min-time", "0ns", path]) or []:
            got[r["path"]] += r["gpu_ns"]
        for g in job.of_host(host):
            want.update(g["scopes"])
        for scope in got.keys() | want.keys():
            job.same(f"host {host} scope {scope}", got[scope], want[scope])


def steps(job):
    """Clock, GPU time and kernels of each step."""
    for host, path in enumerate(job.files):
        got = [r for r in table(["tl-steps", path]) if r["what"] == "step"]
        want = [s for s in job.truth["steps"] if s["host"] == host]
        job.same(f"host {host} steps", len(got), len(want))
        for r, s in zip(got, want):
            runs = [r for g in job.of_host(host) for r in g["runs"] if r["step"] == s["step"]]
            job.same(f"step {s['step']} of host {host}", (r["step"], r["wall_ns"], r["kernels"]),
                     (s["step"], s["end"] - s["start"], sum(r["kernels"] - r["copies"] for r in runs)))


def runs(job):
    """Without annotations the steps are the runs of the module with most GPU time."""
    for host, path in enumerate(job.files):
        spent, kernels = collections.Counter(), collections.defaultdict(collections.Counter)
        for g in job.of_host(host):
            for r in g["runs"]:
                spent[r["module"]] += r["time"]
                kernels[r["module"]][r["index"]] += r["kernels"] - r["copies"]
        main = max(spent, key=spent.get)
        job.same(f"host {host} runs", [(r["name"], r["step"], r["kernels"]) for r in table(["tl-steps", path])],
                 [(main, n, kernels[main][i]) for n, i in enumerate(sorted(kernels[main]), 1)])


def idle(job):
    """All idle time has a cause; several GPUs are idle together if none is busy."""
    for host, path in enumerate(job.files):
        got = sum(r["time_ns"] for r in table(["tl-idle", path]))
        job.same(f"host {host} idle", got, job.truth["hosts"][host]["idle"])


def flops(job):
    """FLOPs and bytes of one run of each instruction; two programs may have its name."""
    for host, path in enumerate(job.files):
        got, want = collections.Counter(), collections.Counter()
        for r in table(["tl-roofline", "-c", "+details", path]):
            if r["moved_mib"] is not None:
                got[r["name"], round(r["gflop"] * 1e9), round(r["moved_mib"] * 2**20)] += r["kernel_ns_sum"]
        for g in job.of_host(host):
            for i in g["instructions"]:
                if i["flops"] is not None:
                    want[i["name"], i["flops"], i["bytes"]] += i["time"]
        for key in got.keys() | want.keys():
            job.same(f"host {host} model of {key}", got[key], want[key])


def exported(job):
    """Chrome and Perfetto exports have the same when read back."""
    files = job.files
    for form in ("chrome", "perfetto"):
        job.files = []
        for n, path in enumerate(files):
            job.files.append(f"exported-{n}.{form}")
            subprocess.run(["tl-export", "--to", form, "-o", job.files[-1], path], check=True)
        for check in (timeline, kernels, ops):
            check(job)
    job.files = files


def merged(job):
    """All hosts in one stream, merged, and their parts again."""
    files = job.files
    subprocess.run(["tl-decode", "-o", "all.tl", *files], check=True)
    # 3: hosts without common collectives have no comparison of their clocks
    job.same("tl-merge", subprocess.run(["tl-merge", "-o", "merged.tl", "all.tl"],
                                        check=False).returncode in (0, 3), True)
    subprocess.run(["tl-split", "--by", "rank", "-d", "parts", "merged.tl"], check=True)
    job.files = sorted(glob.glob("parts/*.tl"))
    job.same("parts", len(job.files), len(files))
    timeline(job)
    ops(job)
    job.files = files


def expand(text):
    """The ranks of 0,3 or 0-7 or 1-7/2."""
    out = []
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        out += range(int(first), int(last or first) + 1, int(step or 1))
    return tuple(out)


def collective(job):
    """Each exchange: who took part, when each came, what was sent, how long it took."""
    exchanges = job.truth["collectives"]
    rows = table(["tl-collective", "--table", "nccl_implicit_sync"] + job.files)
    got = collections.Counter((r["collective"], expand(r["group_ranks"]), r["in_bytes"], r["latency_ns"],
                               r["start_skew_ns"]) for r in rows)
    # a permutation sends from one rank to another; no rank waits as in other collectives
    want = collections.Counter((e["type"], tuple(e["group"]), e["in_bytes"], e["transfer"], e["skew"])
                               for e in exchanges if e["type"] != "collective-permute")
    job.same("exchanges", got - want, collections.Counter())
    job.same("exchanges missing", want - got, collections.Counter())
    rows = table(["tl-collective", "--table", "nccl_long"] + job.files)
    got = collections.Counter((r["collective"], r["rank"], r["dur_ns"]) for r in rows)
    want = collections.Counter((e["type"], rank, ns) for e in exchanges for rank, ns in zip(e["ranks"], e["durations"]))
    job.same("collectives of ranks", got - want, collections.Counter())
    job.same("collectives of ranks missing", want - got, collections.Counter())


CHECKS = {f.__name__: f for f in (timeline, kernels, ops, modules, steps, runs, idle, flops,
                                 collective, exported, merged)}


def main(folder, *names):
    job = Job(folder)
    for name in names:
        CHECKS[name](job)
    for line in job.wrong[:20]:
        print(line[:600])
    if job.wrong:
        print(len(job.wrong), "wrong")
    return bool(job.wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
