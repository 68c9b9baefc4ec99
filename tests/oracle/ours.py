# SPDX-License-Identifier: MIT
"""Columns that only our tables have: their programs mark them."""
import functools
import json
import os
import subprocess

# The reference's figures of an MI300X.
MI300X = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference", "MI300X.json")
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "sample.json.gz")


@functools.lru_cache(None)
def labels(program, table, ninputs=1, inputs=()):
    """labels and ids of the marked columns, from the table's schema line"""
    done = subprocess.run([program, "--table", table, "--format", "ndjson", "-c", "+details"] +
                          (list(inputs) or [SAMPLE] * ninputs),
                          capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    columns = json.loads(lines[0])["columns"] if lines else []
    marked = [c for c in columns if c.get("ours")]
    return frozenset(c["label"] for c in marked) | frozenset(c["id"] for c in marked)
