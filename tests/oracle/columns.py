#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""columns.py PAGE FOLDER [TABLE...]: columns of tables in FOLDER, or only of these
tables, that PAGE does not name.

Names are arguments of macros, not words of a sentence. A page that names one
statistic of a column, and each statistic once, names them all.
"""
import json
import pathlib
import re
import sys

STAT = r"_(sum|mean|median|std|std_all|min|max|total|best|p\d+)$"
NAMES = re.compile(r"^\.It (?!Fl\b)|\b(?:Li|Sy|Cm|Va) ")
told = set()
for line in open(sys.argv[1], encoding="utf-8"):
    at = NAMES.search(line) if line.startswith(".") else None
    told |= set(re.findall(r"\w+", line[at.end():], re.ASCII)) if at else set()
stats = {at[0] for at in (re.search(STAT, word) for word in told) if at}
bases = told | {re.sub(STAT, "", word) for word in told}


def columns(path):
    """Table and id of each column in a file of one table or several."""
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if line.startswith('{"table":') and '"columns":' in line:
                schema = json.loads(line)
                yield from ((schema["table"], column["id"]) for column in schema["columns"])


def is_told(name):
    """Whether the page names it."""
    stat = re.search(STAT, name)
    return name in told or (stat and stat[0] in stats and name[:stat.start()] in bases)


for file in sorted(pathlib.Path(sys.argv[2]).glob("*.ndjson")):
    for table, column in columns(file):
        # by rank, by side, by model or compute spec; those in tl(7)
        column = re.sub(r"^rank_\d+_", "", re.sub(r"^b_", "a_", column))
        if (len(sys.argv) <= 3 or table in sys.argv[3:]) and not is_told(column) and \
                column not in ("rank", "src") and \
                not column.startswith(("param_", "matrix_", "vector_")):
            print(table, column)
