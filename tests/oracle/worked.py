# SPDX-License-Identifier: MIT
"""worked.py: tables and traces, for comparisons with known figures"""
import json
import os
import subprocess


def table(argv):
    """rows of typed NDJSON; None: there are none of the kind"""
    p = subprocess.run(argv + ["--format", "ndjson"], capture_output=True, check=False)
    if p.returncode == 5:
        return None
    if p.returncode not in (0, 3):
        raise ValueError("%s: status %d: %s" % (" ".join(argv), p.returncode, p.stderr.decode()))
    return [json.loads(line) for line in p.stdout.decode().splitlines()[1:-1]]


LARGE = 2_000_000


def is_left(path, most=600_000, large=None):
    """whether a sweep leaves a trace out, packed: of more than MOST bytes in a plain run, of
    more than LARGE with TL_SLOW, none with TL_SLOW=all"""
    size = os.path.getsize(path) * (1 if path.endswith("gz") else 0.07)
    slow = os.environ.get("TL_SLOW")
    limit = large if slow else most
    return limit is not None and size > limit and slow != "all"


def traces(root, most=None, large=None):
    """traces below root; with MOST only those that is_left() does not leave out"""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f != "reference")
        for f in sorted(files):
            if f.endswith((".json", ".json.gz")) and "not_a_trace" not in folder:
                path = os.path.join(folder, f)
                if not most or not is_left(path, most, large):
                    yield path


def names_of(worked, seen, rest):
    """names in worked whose first trace this is, by its path"""
    return [w for w in worked if rest.startswith(w) and w not in seen
            and rest[len(w):][:1] in ("", *"/._") and "capture_traces" not in rest]
