#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arch.py: the figures of built-in GPUs against each other, as TAP.

    arch.py DIR

Rules that hold for all makers, and the formula units x operations a clock x
clock, with operations from the makers' papers on each chip.
"""
import glob
import json
import os
import re
import sys

FIGURES = {"num_cus", "clock_mhz", "tensor_clock_mhz", "l2_mib", "last_level_mib",
           "shared_kib_per_cu", "mem_bw_gbps", "max_achievable_mem_bw_gbps", "memory_gb",
           "link_gbps", "power_w"}
RATES = {"peak_tflops", "max_achievable_tflops"}
OTHERS = {"name", "devices", "sources", "_note"}
TYPES = ("fp4", "fp6", "fp8", "int8", "fp16", "bf16", "tf32", "fp32", "fp64")

# Operations a clock and unit: vector fp64, fp32, fp16, then those of the matrix units.
CHIPS = {
    "volta": dict(v64=64, v32=128, v16=256, fp16=1024),
    "turing": dict(v32=128, v16=256, fp16=1024, int8=2048),
    "turing_geforce": dict(v32=128, v16=256, fp16=512, int8=2048),
    "ga100": dict(v64=64, v32=128, v16=512, fp64=128, tf32=1024, fp16=2048, int8=4096),
    "ga102": dict(v32=256, v16=256, tf32=512, fp16=1024, fp8=2048, int8=2048),
    "geforce": dict(v32=256, v16=256, tf32=256, fp16=512, fp8=1024, int8=2048, fp6=1024, fp4=4096),
    "a10g": dict(v32=256, v16=256, tf32=256, fp16=512, int8=1024),
    "l40": dict(v32=256, v16=256, tf32=256, fp16=512, fp8=1024, int8=1024),
    "hopper": dict(v64=128, v32=256, v16=512, fp64=256, tf32=2048, fp16=4096, fp8=8192, int8=8192),
    "blackwell": dict(v64=128, v32=256, v16=256, fp64=128, tf32=4096, fp16=8192, fp8=16384,
                      int8=16384, fp6=16384, fp4=32768),
    "ultra": dict(v64=4, v32=256, v16=256, fp64=4, tf32=4096, fp16=8192, fp8=16384, int8=512,
                  fp6=16384, fp4=49152),
    "pro": dict(v32=256, v16=256, tf32=512, fp16=1024, fp8=2048, int8=2048, fp6=2048, fp4=4096),
    "cdna1": dict(v64=64, v32=128, fp32=256, fp16=1024, bf16=512, int8=1024),
    "cdna2": dict(v64=128, v32=128, v16=256, fp64=256, fp32=256, fp16=1024, int8=1024),
    "cdna3": dict(v64=128, v32=256, v16=256, fp64=256, fp32=256, tf32=1024, fp16=2048, fp8=4096,
                  int8=4096),
    "cdna4": dict(v64=128, v32=256, v16=256, fp64=128, fp32=256, fp16=4096, fp8=8192, int8=8192,
                  fp6=16384, fp4=16384),
    "rdna3": dict(v64=8, v32=256, fp16=512),
    "pvc": dict(fp16=512),
}
CHIP_OF = {
    "V100-SXM2": "volta", "V100-PCIe": "volta", "V100-DGXS": "volta", "T4": "turing",
    "RTX-2080-Ti": "turing_geforce", "A100": "ga100",
    "A100-40GB": "ga100", "A100-PCIe": "ga100", "A30": "ga100", "A10": "ga102", "A40": "ga102",
    "A10G": "a10g", "L4": "ga102", "L40": "l40", "L40S": "ga102", "RTX-6000-Ada": "ga102",
    "RTX-3090": "geforce", "RTX-4090": "geforce", "RTX-5090": "geforce", "RTX-PRO-6000": "pro",
    "H100-PCIe": "hopper", "H100-SXM": "hopper", "H100-NVL": "hopper", "H200": "hopper",
    "H200-NVL": "hopper", "GH200-96GB": "hopper", "GH200-144GB": "hopper", "B200": "blackwell",
    "GB200": "blackwell", "B300": "ultra", "GB300": "ultra", "MI100": "cdna1", "MI210": "cdna2",
    "MI250": "cdna2", "MI250X": "cdna2", "MI300A": "cdna3", "MI300X": "cdna3", "MI325X": "cdna3",
    "MI350X": "cdna4", "MI355X": "cdna4", "W7900": "rdna3", "Max-1550": "pvc",
}
# Makers round more, or give figures of another clock: by how many percent, if above 2.
ROUNDED = {
    ("B300", "v32"): 3, ("B300", "fp4"): 4, ("B300", "int8"): 10,
    ("GB300", "v64"): 4, ("GB300", "fp64"): 4, ("GB300", "int8"): 6,
}
SHORT = {"v64": "vector_fp64", "v32": "vector_fp32", "v16": "vector_fp16"}


class Checks:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, wrong):
        self.n += 1
        self.failed += bool(wrong)
        print(("not " if wrong else "") + "ok %d - %s" % (self.n, name))
        for text in wrong:
            print("# " + text)


def covered(sources):
    """The figures that the keys of sources document."""
    found = set()
    for key in sources:
        head, dot, tail = key.partition(".")
        if dot:
            found |= {head + "." + part for part in tail.split(", ")}
        else:
            found |= set(key.split(", "))
    return found


def figures(a):
    found = {k for k in a if k in FIGURES}
    for member in RATES:
        found |= {member + "." + spec for spec in a[member]}
    return found


def sources_of(a):
    has, told = figures(a), covered(a["sources"])

    def is_told(figure):
        member, _, spec = figure.partition(".")
        return any(t in told for t in (figure, member, member + "." + spec.partition("_")[0]))

    def is_used(key):
        return any(f == key or f.startswith((key + ".", key + "_")) for f in has)

    return ["no source of " + f for f in sorted(has) if not is_told(f)] + \
        ["source of nothing: " + k for k in sorted(told) if not is_used(k)] + \
        ["an empty source" for v in a["sources"].values() if len(v) < 5]


def members(a):
    wrong = ["unknown member " + k for k in set(a) - FIGURES - RATES - OTHERS]
    wrong += [f for f in sorted(FIGURES & set(a)) if not a[f] > 0]
    for member in RATES:
        for spec, v in a[member].items():
            unit, _, kind = spec.partition("_")
            if unit not in ("matrix", "vector") or not v > 0 or \
                    re.sub("_(sparse|acc16)$", "", kind) not in TYPES:
                wrong.append("%s.%s: %s" % (member, spec, v))
    return wrong


def rates(a):
    peak, got, wrong = a["peak_tflops"], a["max_achievable_tflops"], []

    def least(more, less):
        if more in peak and less in peak and peak[more] < 0.99 * peak[less]:
            wrong.append("%s is below %s" % (more, less))

    for spec in peak:
        dense = re.sub("_(sparse|acc16)$", "", spec)
        if dense != spec and abs(peak[spec] / peak[dense] - 2) > 0.01:
            wrong.append(spec + " is not twice the dense rate")
    for spec in got:
        if got[spec] > peak.get(spec, 0):
            wrong.append("%s was measured above its peak" % spec)
    if a.get("max_achievable_mem_bw_gbps", 0) > a["mem_bw_gbps"]:
        wrong.append("a bandwidth was measured above its peak")
    for more, less in (("fp4", "fp6"), ("fp6", "fp8"), ("fp8", "bf16"), ("fp16", "bf16"),
                       ("fp16", "tf32"), ("tf32", "fp32"), ("fp32", "fp64")):
        if a["name"] != "Gaudi-3":
            least("matrix_" + more, "matrix_" + less)
    least("vector_fp16", "vector_fp32")
    least("vector_fp32", "vector_fp64")
    for kind in ("fp16", "bf16", "fp32", "fp64"):
        least("matrix_" + kind, "vector_" + kind)
    return wrong


def formula(a, used):
    ops, wrong = CHIPS[CHIP_OF[a["name"]]], []
    clock = a["clock_mhz"]
    for kind, n in ops.items():
        spec = SHORT.get(kind, "matrix_" + kind)
        if spec not in a["peak_tflops"]:
            continue
        is_tensor = spec.startswith("matrix_") and kind not in ("fp32", "fp64")
        mhz = a.get("tensor_clock_mhz", clock) if is_tensor else clock
        want = a["num_cus"] * n * mhz / 1e6
        off = abs(a["peak_tflops"][spec] / want - 1) * 100
        if off > ROUNDED.get((a["name"], kind), 2):
            wrong.append("%s is %g, the formula has %.4g" % (spec, a["peak_tflops"][spec], want))
        elif off > 2:
            used.add((a["name"], kind))
    if "bf16" not in ops and "matrix_bf16" in a["peak_tflops"] and \
            a["peak_tflops"]["matrix_bf16"] != a["peak_tflops"]["matrix_fp16"]:
        wrong.append("matrix_bf16 is not matrix_fp16")
    return wrong


def main():
    tap, used, found = Checks(), set(), set()
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json"))):
        with open(path) as f:
            a = json.load(f)
        name = a["name"]
        found.add(name)
        wrong = [] if os.path.basename(path) == name + ".json" else ["another name than its file"]
        tap.check(name + ": its members", wrong + members(a))
        tap.check(name + ": each figure has a source", sources_of(a))
        tap.check(name + ": rates against each other", rates(a))
        if name in CHIP_OF:
            tap.check(name + ": rates are units x operations x clock", formula(a, used))
    tap.check("all chips are there", sorted(set(CHIP_OF) - found))
    tap.check("no allowance is idle", ["%s %s" % k for k in sorted(set(ROUNDED) - used)])
    print("1..%d" % tap.n)
    return tap.failed > 0


sys.exit(main())
