#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sentences.py SAID FILE.c...: what the sources can say and SAID does not hold.

SAID is screens of tl-report, one behind another. A string of the sources counts
if two words or more of it stand between its parameters; it must stand somewhere
in SAID, whatever the line breaks and capitals. With --list: the sentences of SAID, each once,
with N for its numbers, sorted, to be read by a person.
"""
import re
import sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'',
                   re.S)
PARAMETER = re.compile(r"%[-+0-9.*]*(?:ll|[lzjt])?[a-zA-Z]|\\n")


def strings(path):
    """The strings of a source; neighbours, as PRId64 between them, are one."""
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"^#.*$", "", text, flags=re.M).replace("PRId64", '"d"')
    found, end = [], None
    for m in TOKEN.finditer(text):
        if m[0][0] != '"':
            continue
        if end is not None and not text[end:m.start()].strip():
            found[-1] += m[0][1:-1]
        else:
            found.append(m[0][1:-1])
        end = m.end()
    return found


def pieces(string):
    """What of a string is on the screen as it stands here."""
    for piece in PARAMETER.split(string.replace("%%", "\0")):
        piece = " ".join(piece.replace("\0", "%").replace('\\"', '"').split())
        if len(re.findall(r"(?:^| )[^ ]*[A-Za-z]{2}", piece)) >= 2:
            yield piece.lower()


def sentences(said):
    """Paragraphs as lists of sentences; lines of lists as they are."""
    for block in said.split("\n\n"):
        lines = block.split("\n")
        if lines[0][:1].isupper():
            block = " ".join(lines)
            yield from re.split(r"(?<=[.!?]) (?=[A-Z])", block)
        else:
            yield from re.sub(r"\n {4,}", " ", block).split("\n")


def main():
    is_list = sys.argv[1] == "--list"
    said = open(sys.argv[1 + is_list], encoding="utf-8", errors="replace").read()
    if is_list:
        for line in sorted({re.sub(r"\d+(?:[,.]\d+)*", "N", " ".join(s.split()))
                            for s in sentences(said)}):
            print(line)
        return 0
    said = " ".join(said.lower().split())
    unsaid = [f"{path}: {piece}" for path in sys.argv[2:]
              for string in strings(path) for piece in pieces(string)
              if piece not in said]
    print("\n".join(unsaid), end="\n" * bool(unsaid))
    return bool(unsaid)


if __name__ == "__main__":
    sys.exit(main())
