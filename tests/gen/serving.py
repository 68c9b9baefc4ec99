#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A made-up trace of a serving engine with a known schedule.

    serving.py --format vllm_detailed --steps 2000 >trace.json
    serving.py --format vllm_detailed --steps 2000 --truth >truth.tsv

Each iteration is an annotation of 100 us with two kernels of 8 us, whose
starts are 20 us apart; iterations are 20 us apart. Around each kernel's launch is
an op; a pair of flow events joins launch and kernel.

Schedules: "worked" begins with four iterations of one prompt and i generating
requests; then every 8th has one prompt of 512 tokens and 15 that generate, the
others 16. "phases" repeats 3 prefill, 2 mixed and 5 decode iterations, with other
loads each time.
"""
import argparse
import json
import sys


def worked(i):
    """Requests and tokens of prompts; generating requests."""
    if i < 4:
        return 1, 512, i
    return (1, 512, 15) if i % 8 == 4 else (0, 0, 16)


def phases(i):
    k, load = i % 10, 1 + i // 10 % 7
    if k < 3:
        return load, 128 * load + k, 0
    if k < 5:
        return 1, 64 * load, 4 * load
    return 0, 0, 4 * load


SCHEDULES = {"worked": worked, "phases": phases}


def plan(args):
    """The contents of each iteration."""
    for i in range(args.steps):
        c, c_sq, g = (args.load * v for v in SCHEDULES[args.schedule](i))
        g_sk = (11200 + args.slope * i) if g else 0
        yield {
            "phase": ("mixed" if g else "prefill") if c else "decode",
            "context_requests": c, "generation_requests": g,
            "c_sq": c_sq, "c_sk": c_sq, "c_sqsq": c_sq * c_sq, "c_sqsk": c_sq * c_sq,
            "g_sq": g, "g_sk": g_sk, "g_sqsq": g, "g_sqsk": g_sk,
            "start_us": 120 * i,
        }


def both(s, pattern):
    return pattern.format(*(s[p + k] for p in "cg" for k in ("_sq", "_sk", "_sqsq", "_sqsk")),
                          c=s["context_requests"], g=s["generation_requests"])


def sglang(s, is_detailed):
    word = {"prefill": "EXTEND", "decode": "DECODE", "mixed": "MIXED"}[s["phase"]]
    bs = s["context_requests"] + s["generation_requests"]
    if not is_detailed:
        toks = "" if word == "DECODE" else f" toks={s['c_sq'] + s['g_sq']}"
        return f"step[{word} bs={bs}{toks}]"
    split = f" c={s['context_requests']} g={s['generation_requests']}" if word == "MIXED" else ""
    return both(s, f"step[{word} bs={bs}{split} c_sq={{0}} c_sk={{1}} c_sqsq={{2}} c_sqsk={{3}} "
                   "g_sq={4} g_sk={5} g_sqsq={6} g_sqsk={7}]")


def atom(s, is_detailed):
    """Prompts among generating requests are the key p in decode."""
    bs = s["context_requests"] + s["generation_requests"]
    tok = s["c_sq"] + s["g_sq"]
    sums = f" sqsq={s['c_sqsq'] + s['g_sqsq']} sqsk={s['c_sqsk'] + s['g_sqsk']} sk={s['c_sk'] + s['g_sk']}"
    sums = sums if is_detailed else ""
    if s["phase"] == "prefill":
        return f"prefill[bs={bs} tok={tok} ctx=[{s['c_sq']}, 0]...+3{sums}]"
    p = f" p={s['context_requests']}" if s["context_requests"] else ""
    return f"decode[bs={bs}/{bs + bs % 8} tok={tok}{p} d={s['generation_requests']}{sums}]"


FORMATS = {
    "vllm_detailed": lambda i, s: f"execute_{i}_" + both(
        s, "context_{c}(sq{0}sk{1}sqsq{2}sqsk{3})_generation_{g}(sq{4}sk{5}sqsq{6}sqsk{7})"),
    "vllm_native": lambda i, s: both(s, "execute_context_{c}({0})_generation_{g}({4})"),
    "sglang_detailed": lambda i, s: sglang(s, True),
    "sglang_native": lambda i, s: sglang(s, False),
    "atom_detailed": lambda i, s: atom(s, True),
    "atom_native": lambda i, s: atom(s, False),
    "diffusion_native": lambda i, s: f"execute_diffusion_{1 + i % 4}_1024x1024",
    "none": None,
}


def host(cat, name, start, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": dur, "args": args}


def kernel(name, corr, start, dur=8):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur,
            "args": {"device": 0, "stream": 7, "correlation": corr}}


def flow(ph, corr, start, pid, tid):
    return {"ph": ph, "cat": "ac2g", "name": "ac2g", "id": corr, "pid": pid, "tid": tid, "ts": start,
            **({"bp": "e"} if ph == "f" else {})}


def iteration(i, s, args):
    t, by_graph = s["start_us"], args.graph and s["phase"] == "decode"
    if args.format != "none":
        yield host("user_annotation", FORMATS[args.format](i, s), t, 100)
    for k in range(2):
        corr, at = 2 * i + (0 if by_graph else k) + 1, t + 10 + 20 * k
        tid = 2 if args.threads and k == 1 else 1
        if not (by_graph and k == 1):
            if not by_graph:
                yield host("cpu_op", f"aten::{'mm' if k == 0 else 'add'}", at, 15, tid)
            call = "hipGraphLaunch" if by_graph else "hipLaunchKernel"
            yield host("cuda_runtime", call, at + 2, 6, tid, correlation=corr)
            yield flow("s", corr, at + 2, 1, tid)
            yield flow("f", corr, at + 5, 0, 7)
        yield kernel(f"k{k}", corr, at + 5 + (100 if args.late else 0), 7 + args.load)
    if args.ranks > 1:  # all wait for the slowest, up to 60 us after the start
        corr, at = -i - 1, t + 35 + 7 + args.load
        yield host("cuda_runtime", "hipLaunchKernel", t + 40, 1, correlation=corr)
        yield kernel("ncclDevKernel_AllReduce", corr, at, t + 60 - at)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--format", choices=sorted(FORMATS), default="vllm_detailed")
    p.add_argument("--schedule", choices=sorted(SCHEDULES), default="worked")
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--slope", type=int, default=1, help="g_sk grows by it each iteration")
    p.add_argument("--rank", type=int, default=0)
    p.add_argument("--ranks", type=int, default=1, help="several: each iteration ends with a collective")
    p.add_argument("--load", type=int, default=1, help="so many times the requests and tokens, kernels 1 us longer each")
    p.add_argument("--threads", action="store_true", help="the second kernel is another thread's")
    p.add_argument("--late", action="store_true", help="kernels run 100 us later, in the next iteration")
    p.add_argument("--graph", action="store_true", help="decode iterations replay a graph")
    p.add_argument("--profiler", action="store_true", help="ProfilerStep#N around every ten")
    p.add_argument("--truth", action="store_true", help="the schedule as TSV instead")
    args = p.parse_args()
    steps = list(plan(args))
    if args.truth:
        print("\t".join(steps[0]))
        for s in steps:
            print("\t".join(str(v) for v in s.values()))
        return
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "engine"}}]
    for i in range(0, args.steps if args.profiler else 0, 10):
        events.append(host("user_annotation", f"ProfilerStep#{i // 10}", 120 * i - 1, 1199))
    for i, s in enumerate(steps):
        events.extend(iteration(i, s, args))
    trace = {"traceEvents": events}
    if args.ranks > 1:
        trace["distributedInfo"] = {"rank": args.rank, "world_size": args.ranks}
    sys.stdout.write(json.dumps(trace))


main()
