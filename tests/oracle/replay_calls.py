#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_calls.py: tl-replay's scripts call what the raw traces recorded.

usage: replay_calls.py SCHEMAS TRACE...

Each trace becomes a script of all its ops, which runs on the stub of PyTorch in
tests/tools. An op's uid is its event's place in the raw trace; the stub's call must
have this event's shapes, strides, types and values. Prints a line of TAP without its
number for each trace that has a script.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import events

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TYPES = {
    "bool": "bool", "unsigned char": "uint8", "signed char": "int8",
    "short": "int16", "short int": "int16", "int": "int32", "long": "int64",
    "long int": "int64", "float": "float32", "double": "float64",
    "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
}
# Numbers of c10::ScalarType, Layout and MemoryFormat, by their present names.
CONSTANTS = {f"torch.{name}": number for number, name in (
    (0, "uint8"), (1, "int8"), (2, "int16"), (3, "int32"), (4, "int64"),
    (5, "float16"), (6, "float32"), (7, "float64"), (11, "bool"),
    (15, "bfloat16"), (23, "float8_e5m2"), (24, "float8_e4m3fn"),
    (26, "float8_e4m3fnuz"))}
CONSTANTS.update(strided=0, contiguous_format=0, preserve_format=1,
                 channels_last=2, channels_last_3d=3)


def run_script(trace, folder, schemas):
    """Ops of the IR, their results, and the calls; None: there is no script."""
    script, ir, results, calls = (os.path.join(folder, name) for name in
                                  ("s.py", "ir.json", "r.json", "calls"))
    subprocess.run(["tl-replay", "--top", "0", "--script", script, "--ir", ir,
                    trace], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    if not os.path.exists(script):
        return None
    env = dict(os.environ, TORCH_SCHEMAS=schemas, TORCH_CALLS=calls,
               PYTHONPATH=os.path.join(ROOT, "tests", "tools"),
               PYTHONDONTWRITEBYTECODE="1")
    subprocess.run([sys.executable, script, "--warmup", "0", "--iters", "1",
                    "--json", results], env=env, stdout=subprocess.DEVNULL,
                   check=False)
    with open(ir, encoding="utf-8") as i, open(results, encoding="utf-8") as r:
        ops, done = json.load(i)["ops"], json.load(r)["ops"]
    with open(calls, encoding="utf-8") as file:
        made = [json.loads(line) for line in file]
    return ops, done, made


def contiguous(shape):
    return [math.prod(max(d, 1) for d in shape[i + 1:])
            for i in range(len(shape))]


def same_tensor(given, dims, strides, token):
    return (isinstance(given, dict) and given["shape"] == dims
            and given["strides"] == (contiguous(dims) if strides is None
                                     else strides)
            and (token is None or given["dtype"] == TYPES[token]))


def number(text):
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text)
    except ValueError:
        return float(text)


def same_number(given, text):
    if isinstance(given, str) and given in CONSTANTS:
        return CONSTANTS[given] == number(text)
    if isinstance(given, str):  # inf, nan
        given = float(given)
    want = number(text)
    return given == want and isinstance(given, bool) == isinstance(want, bool) \
        or given != given and want != want


def same_argument(given, token, dims, strides, text):
    if token in TYPES:
        return same_tensor(given, dims, strides, token)
    if token == "TensorList":
        return len(given) == len(dims) and all(
            same_tensor(g, d, strides and strides[i], None)
            for i, (g, d) in enumerate(zip(given, dims)))
    if token == "Scalar" and text:
        return same_number(given, text)
    if token == "ScalarList" and text:
        words = text.strip("[] ").split(",") if text.strip("[] ") else []
        return len(given) == len(words) and all(
            same_number(g, w.strip()) for g, w in zip(given, words))
    return True  # not recorded


def difference(call, args):
    """What a call has and its event lacks, or None."""
    types = args["Input type"]
    for i, name in enumerate(call["formals"]):
        if i >= len(types):
            if name in call["args"] and call["args"][name] not in ("cpu", []):
                return f"{name} was not recorded"
            continue
        strides = args.get("Input Strides")
        concrete = args.get("Concrete Inputs")
        recorded = (types[i], args["Input Dims"][i],
                    strides[i] if strides else None,
                    concrete[i] if concrete else "")
        if name not in call["args"]:
            if types[i] in TYPES or types[i] == "TensorList" or recorded[3]:
                return f"{name} is left out"
        elif not same_argument(call["args"][name], *recorded):
            return f"{name}: {call['args'][name]} is not {recorded}"
    return None


def check(trace, folder, schemas):
    """Ops compared, ops that were skipped, and the differences."""
    got = run_script(trace, folder, schemas)
    if got is None:
        return None
    ops, results, calls = got
    raw = events.load(trace)
    raw = raw if isinstance(raw, list) else raw["traceEvents"]
    compared, wrong = 0, []
    if len(results) != len(ops):
        wrong.append(f"{len(ops)} ops, {len(results)} results")
    for op, result in zip(ops, results):
        if result["status"] == "failed" or (
                op["overload"] is not None
                and "no overload takes" in result.get("reason", "")):
            wrong.append(f"{op['op_name']}: {result['reason']}")
        if result["status"] != "ok" or op.get("triton"):
            continue
        call = calls.pop(0)
        if "backward_of" in op:
            back = calls.pop(0)
            if back["op"] != "autograd.grad":
                wrong.append(f"{op['op_name']}: no way back")
            continue
        event = raw[int(op["uid"].split(":")[-1])]
        compared += 1
        differs = f"it is {event['name']}" if (
            event["name"] != call["op"] or call["op"] != op["op_name"]
        ) else difference(call, event["args"])
        if differs:
            wrong.append(f"{op['uid']} {op['op_name']}: {differs}")
    if calls:
        wrong.append(f"{len(calls)} calls more than ops")
    return compared, len(ops) - compared, wrong


def main(schemas, *traces):
    total = 0
    for trace in traces:
        with tempfile.TemporaryDirectory() as folder:
            found = check(trace, folder, schemas)
        if found is None:
            continue
        compared, skipped, wrong = found
        total += compared
        name = os.path.relpath(trace, os.environ.get("TL_DATA", "/"))
        print("not ok" if wrong else "ok", "-", name)
        for line in wrong[:10]:
            print("#", line[:300])
        print(f"# {compared} calls as recorded, {skipped} ops not called")
    print(f"#: {total} calls have the recorded shapes, strides, types, values")


main(*sys.argv[1:])
