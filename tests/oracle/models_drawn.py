#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""models_drawn.py: op models on drawn arguments against the specification's formulas, as TAP.

    models_drawn.py [--seed N] [--each N] [--only NAME] [-v]

Each family of draw_*.py draws arguments (odd shapes, types without a size, no strides) and the
expected result: status, FLOPs, bytes, compute spec, parameters in their order. model-eval (in PATH)
evaluates all at once. No figure comes from the program itself. Then each gets sizes that no tensor
has: no figure may follow from such a size.
"""
import argparse
import copy
import fnmatch
import json
import re
import subprocess
import sys

import draw
import draw_attention
import draw_conv
import draw_engines
import draw_experts
import draw_extra
import draw_gemm
import draw_hlo
import draw_more
import draw_pointwise
import draw_rest
import draw_triton

PARTS = (draw_gemm, draw_conv, draw_attention, draw_pointwise, draw_experts, draw_triton,
         draw_extra, draw_engines, draw_more, draw_rest, draw_hlo)


def field(value):
    return "" if value is None else json.dumps(value)


def line(d):
    def lists(x):
        return [field(x.dims), field(x.types), field(x.strides),
                field(x.values if x.values is not None else None)]
    out = ["bwd" if d.backward else "fwd", d.name] + lists(d) + [
        json.dumps(d.kernels), d.annotation, ";".join("%s=%s" % x for x in d.args.items())]
    if d.forward is not None:
        out += [d.forward.name] + lists(d.forward)
    elif d.hlo is not None:
        out += [""] * 5 + [d.hlo]
    return "\t".join(out)


def lost(s):
    """a trace without concrete inputs: what depends on them is unknown"""
    d = s.of([draw_gemm.te_ts, draw_gemm.primus, draw_conv.conv, draw_conv.conv_backward,
              draw_attention.sdpa, draw_attention.varlen])(s)
    if d.name == "flash_attn::_flash_attn_backward":  # causal if it doesn't say
        return lost(s)
    d.values = None
    return d.fails()


def near(a, b):
    return a is not None and abs(a - b) <= 1e-12 * abs(b)


def same(a, b):
    if isinstance(a, list) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if b is None or isinstance(b, float) and b != b:
        return a is None
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(b, str):
        return a is b or a == b and isinstance(a, type(b))
    return isinstance(a, (int, float)) and isinstance(a, type(b)) and near(a, b)


def wrong(d, got):
    """how the result differs"""
    status, flops, moved, spec, params = d.want
    if got["status"] != status:
        return "status %s (%s) instead of %s" % (got["status"], got.get("reason"), status)
    if status != "ok":
        return None
    if not near(got["flops"], flops):
        return "FLOPs %s instead of %s" % (got["flops"], flops)
    if moved != moved:
        if got["bytes"] is not None:
            return "bytes %s, which can't be known" % got["bytes"]
    elif not near(got["bytes"], moved):
        return "bytes %s instead of %s" % (got["bytes"], moved)
    if got["spec"] != spec:
        return "spec '%s' instead of '%s'" % (got["spec"], spec)
    if list(got["params"]) != list(params):
        return "parameters %s instead of %s" % (list(got["params"]), list(params))
    for k, v in params.items():
        if not same(got["params"][k], v):
            return "%s %s instead of %s" % (k, got["params"][k], v)
    return None


HUGE = 2 ** 62


def spoil_size(s, d):
    """one size becomes negative, or so large that no memory holds the tensor"""
    if d.hlo is not None:
        m = s.of(list(re.finditer(r'shape": "\w+\[([1-9])', d.hlo)))
        d.hlo = d.hlo[:m.start(1)] + s.of(["-" + m[1], "%d,4,%s" % (HUGE, m[1])]) + d.hlo[m.end():]
        return True
    of = s.of([x for x in (d, d.forward) if x is not None])
    places = [(a, k) for a in of.dims for k, n in enumerate(a) if isinstance(n, int)]
    if places:
        a, k = s.of(places)
        a[k] = s.of([-1, -max(1, a[k]), -HUGE, HUGE * max(2, max(a))])
        a += [4] * (a[k] > 0)
    return bool(places)


def spoil_value(s, d):
    """one number among the values becomes very negative"""
    of = s.of([x for x in (d, d.forward) if x is not None])
    places = [i for i, v in enumerate(of.values or ()) if isinstance(v, str) and re.search(r"\d", v)]
    if places:
        i = s.of(places)
        m = s.of(list(re.finditer(r"-?\d+", of.values[i])))
        of.values[i] = of.values[i][:m.start()] + s.of(["-%d" % HUGE, "nan", "inf"]) + of.values[i][m.end():]
    return bool(places)


def figures(got):
    return [got[k] for k in ("flops", "bytes")] if got["status"] == "ok" else None


def spoilt(spoil, before, after):
    """the error of a spoilt op's result; before: the result of the sound op"""
    sound, got = figures(before), figures(after)
    if got is None or got == sound:  # an entry may ignore it
        return None
    if spoil is spoil_size:
        return "%s from a size that no tensor has" % got
    # dimensions, windows and factors may be negative; a size would show
    if any(x is not None and not 0 <= x <= 1e6 * (y or 1) for x, y in zip(got, sound or (1, 1))):
        return "%s, and %s before" % (got, sound)
    return None


def ask(ops):
    run = subprocess.run(["model-eval"], input="".join(line(d) + "\n" for d in ops),
                         stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(x) for x in run.stdout.splitlines()]


def check_spoilt(s, families, number):
    """failures: each family twelve times, in each way"""
    pairs = []
    for spoil in (spoil_size, spoil_value):
        for f in families:
            for _ in range(12):
                d = f(s)
                bad = copy.deepcopy(d)
                if spoil(s, bad):
                    pairs.append((spoil, d, bad))
    answers = ask([d for p in pairs for d in p[1:]])
    wrongs = [(p, spoilt(p[0], *answers[2 * i:2 * i + 2])) for i, p in enumerate(pairs)]
    out = ["%s\n#     %s" % (w, line(p[2])) for p, w in wrongs if w]
    print("%sok %d - no figure from spoilt sizes and values, %d ops" % (
        "not " if out or len(pairs) < 12 * len(families) else "", number, len(pairs)))
    return out


def undrawn(names):
    """formulas without a drawn op, except XLA's, which have their own names"""
    table = subprocess.run(["tl-roofline", "--list-models"], stdout=subprocess.PIPE, text=True, check=True)
    of = {}
    for row in table.stdout.splitlines()[1:]:
        op, *_, where = row.split("\t")
        if not where.startswith("hlo"):
            of.setdefault(where, []).append(op)
    return [(w, ops[0]) for w, ops in sorted(of.items())
            if not any(fnmatch.fnmatchcase(n, op) for op in ops for n in names)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    s = draw.Source(args.seed)
    families = [f for part in PARTS for f in part.FAMILIES if args.only in f.__name__]
    families += [lost] if args.only in "lost" else []
    drawn = [(f, f(s)) for f in families for _ in range(args.each)]
    answers = ask([d for _, d in drawn])
    failed = 0
    print("1..%d" % (len(families) + 2))
    for n, f in enumerate(families, 1):
        bad = []
        for (g, d), got in zip(drawn, answers):
            why = wrong(d, got) if g is f else None
            if why:
                bad.append("%s\n#     %s" % (why, line(d)))
        print("%sok %d - %s" % ("not " if bad else "", n, f.__name__))
        for text in bad[:1000 if args.v else 3]:
            print("#   " + text)
        if len(bad) > 3:
            print("#   %d of %d" % (len(bad), args.each))
        failed += bool(bad)
    bad = check_spoilt(s, families, len(families) + 1)
    for text in bad[:1000 if args.v else 5]:
        print("#   " + text)
    left = [] if args.only else undrawn({d.name for _, d in drawn})
    print("%sok %d - each formula is drawn" % ("not " if left else "", len(families) + 2))
    for where, op in left:
        print("#   %s, of %s, is not" % (where, op))
    return failed > 0 or len(left) > 0 or len(bad) > 0


sys.exit(main())
