#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py SEED: a small trace on standard output that real profilers seldom
write: host events that overlap by more and by less than 1 us, frames that cut
ops, equal starts and ends, zero, missing and negative durations, text for times
and threads, B/E pairs, launches with one correlation, repeated kernels, several
forward threads, recompute frames. The same seed gives the same bytes.
"""
import json
import random
import sys

KERNELS = ("gemm", "ncclDevKernel_AllReduce", "__amd_rocclr_copyBuffer.kd",
           "__amd_rocclr_fillBufferAligned", "Cross_Device_Reduce", "elementwise")
RECOMPUTE = "torch/utils/checkpoint.py(12): recompute_fn"


def us(r, t):
    """t in ns as a number or text of us, in one of the ways that occur"""
    text = "%d.%03d" % (t // 1000, t % 1000)
    way = r.random()
    if way < 0.1:
        return '"%s"' % text
    if way < 0.2 and t % 1000 == 0:
        return str(t // 1000)
    if way < 0.3:
        return "%de-3" % t
    if way < 0.4:
        return text + "000"
    return text


def nest(r, out, tid, start, end, depth):
    """events inside [start, end), some of them not quite"""
    t = start
    while t < end and len(out) < 250:
        t += r.choice((0, 0, 1, 300, 999, 1000, 2500))
        d = r.choice((0, 1, 500, 1500, 4000, 9000, end - t))
        slip = r.choice((0, 0, 0, 0, -300, 1, 400, 999, 1000, 1001, 2600))
        last = max(t, min(t + d, end + slip))
        cat = r.choice(("cpu_op", "cpu_op", "python_function", "python_function",
                        "cuda_runtime", "cuda_driver"))
        out.append([cat, tid, t, last])
        if depth < 6 and last - t > 600 and r.random() < 0.8:
            nest(r, out, tid, t, last, depth + 1)
        t = last if r.random() < 0.9 else max(t, last - r.choice((1, 500, 999, 1000, 3000)))
        if r.random() < 0.08:
            break


def lines(seed):
    r = random.Random(seed)
    host = []
    for tid in (11, 12, 13):
        nest(r, host, tid, r.randrange(0, 3000), r.randrange(40000, 90000), 0)
    out, corr = [], 0
    for cat, tid, a, b in host:
        args, name = {}, "f%d" % r.randrange(20)
        if cat == "python_function":
            name = r.choice(("a.py(1): f", "nn.Module: Linear_%d" % r.randrange(4), RECOMPUTE))
        elif cat == "cpu_op":
            name = r.choice(("aten::mm", "aten::add", "autograd::engine::evaluate_function: B"))
            if r.random() < 0.5:
                args["Sequence number"] = r.randrange(12)
            if "engine" in name and r.random() < 0.3:
                args["Fwd thread id"] = r.randrange(3)
        else:
            name = r.choice(("cudaLaunchKernel", "hipMemcpyAsync", "cudaGraphLaunch"))
            corr += r.random() < 0.9
            args["correlation"] = str(corr) if r.random() < 0.1 else corr
            g = r.randrange(0, 70000)
            for _ in range(r.choice((0, 1, 1, 1, 3))):
                e = g + r.choice((0, 1, 700, 2000, 5000, 12000))
                k = event("kernel", r.choice(KERNELS), 0, r.choice((7, 20)), us(r, g), us(r, e - g),
                          {"device": r.choice((0, 0, 1)), "stream": 7, "correlation": corr})
                if r.random() < 0.2:
                    k = k.replace('"kernel"', r.choice(('"gpu_memcpy"', '"gpu_memset"')))
                out += [k, k] if r.random() < 0.1 else [k]
                g = r.choice((e, g, e + 1, e + 5000, e + 4999))
        tid = '"%d"' % tid if r.random() < 0.2 else tid
        dur = us(r, b - a)
        if a == b and r.random() < 0.5:
            dur = r.choice((None, '-0.5', "0", "NaN"))
        if dur is not None and r.random() < 0.05 and b > a:
            out.append(event(cat, name, 5, tid, us(r, a), None, args, "B"))
            out.append(event(cat, name, 5, tid, us(r, b), None, {}, "E"))
        else:
            out.append(event(cat, name, 5, tid, us(r, a), dur, args))
    for _ in range(3):
        out.append(event("kernel", "alone", 0, 7, us(r, r.randrange(70000)), "3.5",
                         {"correlation": 10 ** 6 + r.randrange(9), "device": 0, "stream": 7}))
        out.append(event("user_annotation", "step", 5, 11, us(r, r.randrange(70000)), "9", {}))
    pairs = [(x, y) for x, y in zip(out, out[1:]) if '"ph": "B"' in x]
    for x, y in pairs:
        out.remove(y)
        out[out.index(x):out.index(x) + 1] = [x + ",\n" + y]
    r.shuffle(out)
    return out


def event(cat, name, pid, tid, ts, dur, args, ph="X"):
    return ('{"ph": "%s", "cat": "%s", "name": "%s", "pid": %s, "tid": %s, "ts": %s%s, "args": %s}'
            % (ph, cat, name, pid, tid, ts, "" if dur is None else ', "dur": ' + dur,
               json.dumps(args)))


def text(seed):
    return '{"traceEvents": [\n' + ",\n".join(lines(seed)) + "\n]}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        print("usage: hostile.py SEED", file=sys.stderr)
        sys.exit(2)
    sys.stdout.write(text(int(sys.argv[1])))
