#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Are two files the same JSON value, or each A of several pairs its B?

usage: same_json.py [-a] A B [A B ...]

Numbers are compared by their decimal value, so 1.0 and 1 are the same, but
1712195495519689.047 and its nearest double are not; of a repeated key the last
value counts. Files may be compressed with gzip. With -a, the last bracket of an
outermost list in A may be missing or replaced by a comma, as the Chrome-trace format
allows. Exits 1 with the first differences.
"""
import gzip
import itertools
import json
import sys
from decimal import Decimal


def load(path, may_be_open):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig", "surrogatepass")
    options = {"parse_float": Decimal, "parse_constant": lambda s: (s,)}
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError:
        if not may_be_open:
            raise
        return json.loads(text.rstrip().rstrip(",") + "]", **options)


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def differences(a, b, path=""):
    """Paths at which the values differ, with both."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() | b.keys():
            if key not in a or key not in b:
                yield f"{path}.{key}", a.get(key, "(none)"), b.get(
                    key, "(none)")
            elif a[key] != b[key] or type(a[key]) is not type(b[key]):
                yield from differences(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield path + ".length", len(a), len(b)
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y or type(x) is not type(y) or isinstance(x, (dict, list)):
                yield from differences(x, y, f"{path}[{i}]")
    elif a != b or (type(a) is not type(b)
                    and not (is_number(a) and is_number(b))):
        yield path, a, b


def main(arguments):
    may_be_open = arguments[:1] == ["-a"]
    names = arguments[may_be_open:]
    differ = False
    for a, b in zip(names[::2], names[1::2], strict=True):
        found = differences(load(a, may_be_open), load(b, False))
        for path, x, y in itertools.islice(found, 5):
            print(f"{b}: {path or '(whole)'}:\n  {str(x)[:300]}\n"
                  f"  {str(y)[:300]}")
            differ = True
    return differ


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
