#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sentences.py SAID FILE...: what FILEs can say and SAID does not hold.

SAID is screens of tl-report, one behind another. FILE is a source in C, or rules
of tl-advise. A string counts if it has two words or more beside its parameters;
it must be in SAID as a whole, with anything for a parameter, whatever the line
breaks and capitals. The last line is how many strings were looked up. Not sentences
of a report are
- what an assertion of the compiler says;
- what die_errno() is about: a call of the system failed, see cli/faults.t;
- names in the tables of options and columns (one word);
- rules without a gain: they are in tl-advise's table, not on the screen, and each
  says its own example whenever the rules are read.
With --list: the sentences of SAID, each once, with N for its numbers, sorted, to
be read by a person.
"""
import json
import re
import sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'',
                   re.S)
PARAMETER = re.compile(r"%[-+0-9.*]*(?:ll|[lzjt])?[a-zA-Z]")
WORD = re.compile(r"(?:^|[ (])[^ %]*[A-Za-z]{2}")
COLOUR = re.compile(r"\\033\[[0-9]*m|\\[0-7]{3}")
ANYTHING = "\1"


def strings(path):
    """The strings of a source; neighbours, also with PRId64 between them, are one."""
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"^#.*$|^_Static_assert.*$", "", text, flags=re.M)
    text = text.replace("PRId64", '"d"')
    found, end, is_errno = [], None, False
    for m in TOKEN.finditer(text):
        if m[0][0] != '"':
            continue
        between = text[end or 0:m.start()].strip()
        if end is not None and not between:
            found[-1] += m[0][1:-1]
        else:
            # nor what a compiler says
            is_errno = bool(re.search(r"die_errno\($|_Static_assert\([^;]*$", between))
            found.append("" if is_errno else m[0][1:-1])
        if is_errno:
            found[-1] = ""
        end = m.end()
    for s in found:
        s = COLOUR.sub("", s.replace('\\"', '"').replace("\\n", " "))
        yield PARAMETER.sub(ANYTHING, s.replace("%%", "\0")).replace("\0", "%")


def rules(path):
    """What those say whose gains reach the screen."""
    for rule in json.load(open(path, encoding="utf-8")):
        if "gain" not in rule or rule["section"] == "comparison":
            continue
        if rule["confidence"] == "low" and rule["factors"][0] == 0:
            continue
        for text in re.split(r"[][]", rule["insight"] + "[" + rule["action"]):
            yield re.sub(r"\{[^}]*\}", ANYTHING, text)


def pattern(string):
    """A string as an expression, anything in place of its parameters."""
    parts = [r"\s+".join(re.escape(w) for w in re.split(r"\s+", part))
             for part in re.split(ANYTHING + "+", string.strip(ANYTHING + " \n"))]
    text = ".{0,300}?".join(parts).replace(r"\s+.{0,300}?", r"\s.{0,300}?")
    return re.sub(r"(\.\{0,300\}\?)\\s\+", r"\1\\s?", text)


def looked_up(path, said):
    """Its strings, each once, and whether a screen has them."""
    found = rules(path) if path.endswith(".json") else strings(path)
    for string in dict.fromkeys(found):
        if len(WORD.findall(string.replace(ANYTHING, ""))) < 2:
            continue
        is_said = re.search(pattern(string.lower()), said) is not None
        yield string.replace(ANYTHING, "*"), is_said


def sentences(said):
    """Paragraphs as lists of sentences; lines of lists unchanged."""
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
    total, lacking = 0, 0
    for path in sys.argv[2:]:
        for string, is_said in looked_up(path, said):
            total += 1
            if not is_said:
                print(f"{path}: {string}")
                lacking += 1
    print(f"{total} strings, {lacking or 'all'} {'not ' if lacking else ''}said")
    return lacking > 0


if __name__ == "__main__":
    sys.exit(main())
