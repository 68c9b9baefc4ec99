#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json_mutants.py COUNT [SEED]: our JSON reader against Python's.

Both read COUNT texts: the cases of tests/golden/json and values made here, each
changed in some places so that most are nearly JSON. They must agree on which are
JSON, and on every token of those. Run it at the top of the source tree, with
json-tokens in PATH. Python's reader keeps numbers as written and members of an
object in order; both accept NaN, Infinity and a byte order mark.
"""
import glob
import json
import random
import struct
import subprocess
import sys

PIECES = [b'"', b"\\", b"\\u", b"\\ud800", b"\\udc00", b"\\uD83D\\uDE00", b"\\u0000",
          b"\\/", b"\\x", b"\x00", b"\x1f", b"\n", b" ", b"\t", b",", b":", b"[", b"]",
          b"{", b"}", b"0", b"-", b"-0", b"1", b"9", b".", b"e", b"E+", b"e-1", b"+",
          b"01", b"1e400", b"123456789012345678901234567890", b"0.1", b"true", b"fals",
          b"null", b"NaN", b"Infinity", b"-Infinity", b"//", b"'", b"\x7f", b"\x80",
          b"\xc3\xa9", b"\xc3", b"\xc0\x80", b"\xe2\x82\xac", b"\xe2\x82", b"\xed\xa0\x80",
          b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xef\xbb\xbf", b"[[[[", b"{}"]


class Text(str):
    """A number or constant as it was written."""


def tokens(value):
    if isinstance(value, Text):
        return "N" if value[-1] in "Ny" else f"n{value} "
    if isinstance(value, str):
        return "s" + value.encode("utf-8", "surrogatepass").hex() + " "
    if isinstance(value, list):
        return "[" + "".join(map(tokens, value)) + "]"
    if isinstance(value, tuple):  # of pairs: an object
        return "{" + "".join(tokens(k) + tokens(v) for k, v in value) + "}"
    return {True: "t", False: "f", None: "z"}[value]


def expected(data):
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        value = json.loads(data.decode("utf-8"), parse_int=Text, parse_float=Text,
                           parse_constant=Text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return "-"
    return tokens(value)


def value_of(rng, depth=0):
    kind = rng.randrange(7 if depth < 5 else 5)
    if kind < 2:
        return rng.choice([0, -1, 1.5, 1e-7, -2.5e300, 2**63, rng.random(), rng.getrandbits(70)])
    if kind < 4:
        return "".join(rng.choice('aé€😀"\\/\x01\x7f\u2028 {}[],:') for _ in range(rng.randrange(9)))
    if kind == 4:
        return rng.choice([True, False, None])
    members = [value_of(rng, depth + 1) for _ in range(rng.randrange(5))]
    return members if kind == 5 else {f"k{i}": v for i, v in enumerate(members)}


def mutant(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(5)
        if way == 0:
            data[at:at] = rng.choice(PIECES)
        elif way == 1:
            data[at:at + 1] = rng.choice(PIECES)
        elif way == 2:
            del data[at:at + rng.choice([1, 1, 2, 9])]
        elif way == 3 and at < len(data):
            data[at] = rng.randrange(256)
        else:
            to = rng.randrange(len(data) + 1)
            data[to:to] = data[at:at + rng.randrange(12)]
    return bytes(data)


def main():
    sys.setrecursionlimit(20000)
    count = int(sys.argv[1])
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    seeds = []
    for path in sorted(glob.glob("tests/golden/json/*/*.json")):
        with open(path, "rb") as file:
            data = file.read()
        if len(data) < 2000:
            seeds.append(data)
    seeds += [json.dumps(value_of(rng), ensure_ascii=i % 2 == 0).encode("utf-8")
              for i in range(len(seeds))]
    texts = [mutant(rng, rng.choice(seeds)) for _ in range(count)]
    done = subprocess.run(
        ["json-tokens"], input=b"".join(struct.pack("<I", len(t)) + t for t in texts),
        stdout=subprocess.PIPE, check=True)
    got = done.stdout.decode("ascii").split("\n")[:-1]
    want = [expected(t) for t in texts]
    bad = [i for i in range(count) if i >= len(got) or got[i] != want[i]]
    for i in bad[:5]:
        print(f"{texts[i]!r}:\n  ours   {got[i:i + 1]}\n  Python {want[i]!r}")
    refused = want.count("-")
    print(f"{count} texts, {refused} refused, {len(bad)} differ")
    # a test with one verdict only would prove nothing
    return bool(bad) or len(got) != count or not count / 5 < refused < count * 9 / 10


if __name__ == "__main__":
    sys.exit(main())
