#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay.py: tl-replay on the real traces. Its ops have the calls and the GPU time of
tl-ops for the same name and arguments, on any thread. Each script compiles, and its IR is
that of --ir. So much of the GPU time of ops is in scripts.
"""
import ast
import json
import os
import subprocess
import sys
from collections import defaultdict

from worked import table, traces

LISTS = ["input_dims", "input_types", "input_strides", "concrete_inputs"]

# percent of the GPU time that a script runs, at least; default 95. The others lack shapes
# (0) or values of scalars; in vllm's capture a third op takes a list of indices, which no
# profiler records.
SHARES = {
    "hta_alexnet": 0, "hta_event_sync": 0, "hta_gpu_user_annotation": 0, "hta_nccl_parser": 0,
    "hta_ns_resolution": 0, "hta_simple_add_e2e": 0, "kineto_doc_after_fix": 0,
    "kineto_doc_before_fix": 0, "pair_kineto_doc_fix": 0, "param_linear": 0,
    "kineto_resnet50_w0_step1": 72, "multirank_dlrm_v100_8r": 80,
    "multirank_hta_sampled_2of128": 79, "inference_vllm_decode_full": 85,
}


def key(row):
    return tuple(json.dumps(row[k]) for k in ["name"] + LISTS)


def ops_of(path):
    """calls and ns of each op, and the names that are ops"""
    rows = table(["tl-ops", "--by", "args", "--top", "0", "-c", ",".join(
        ["name", "operation_count", "direct_ns_sum"] + LISTS), path])
    sums = defaultdict(lambda: [0, 0])
    for r in rows or []:
        sums[key(r)][0] += r["operation_count"]
        sums[key(r)][1] += r["direct_ns_sum"]
    return sums


def check_rows(path, rows):
    want = ops_of(path)
    bad = [r["name"] for r in rows
           if want.get(key(r)) != [r["count"], r["gpu_ns_sum"]]]
    left = {k[0] for k in want} - {key(r)[0] for r in rows}
    # launches outside of ops are calls of an API
    bad += ["%s is missing" % n for n in left if not json.loads(n).startswith(("cuda", "hip", "cu"))]
    return bad[:5]


def check_script(path):
    """the IR, from the script and by itself"""
    def output(option):
        p = subprocess.run(["tl-replay", "--top", "0", option, "-", path],
                           capture_output=True, check=False)
        if p.returncode not in (0, 3):
            raise ValueError("status %d: %s" % (p.returncode, p.stderr.decode()))
        return p.stdout.decode()

    tree = ast.parse(output("--script"))
    literal = next(n.value for n in tree.body if isinstance(n, ast.Assign)
                   and n.targets[0].id == "IR")
    ir = json.loads(output("--ir"))
    if json.loads(ast.literal_eval(literal)) != ir:
        return ["the script's IR is not that of --ir"]
    return ["%s: neither arguments nor a reason" % op["op_name"] for op in ir["ops"]
            if sum(k in op for k in ("replay_ir", "backward_of", "missing")) != 1]


def check(path, least):
    rows = table(["tl-replay", "--top", "0", "-c", ",".join(
        ["name", "count", "gpu_ns_sum", "reason"] + LISTS), path])
    if rows is None:
        return None, []
    whole = sum(r["gpu_ns_sum"] for r in rows)
    share = 100 * sum(r["gpu_ns_sum"] for r in rows if not r["reason"]) / whole
    bad = check_rows(path, rows) + check_script(path)
    if share < least:
        bad.append("a script has %.2f %% of the GPU time, not %d" % (share, least))
    return share, bad


def main():
    data = os.environ["TL_DATA"]
    n = 0
    for path in traces(data, 400000):
        rest = os.path.relpath(path, data)
        least = next((v for k, v in SHARES.items() if rest.startswith(k)), 95)
        try:
            share, bad = check(path, least)
        except ValueError as e:
            share, bad = 0, [str(e)]
        if share is None:
            continue
        n += 1
        print("%sok %d - %s: %.1f %% of GPU time" % ("not " if bad else "", n, rest, share))
        for line in bad:
            print("#  ", line)
    print("1..%d" % n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
