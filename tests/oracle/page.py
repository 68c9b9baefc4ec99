#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that a page of tl-html is whole and self-contained.

usage: tests/oracle/page.py FILE.html
       tests/oracle/page.py --launches FILE.html

Prints the title, then the number of tables, rows, lanes, spans and stacks; with
--launches for each GPU span the start of its launch and its own, the op, its shapes
and the thread of the launch.
Fails on foreign markup, addresses other than the name of SVG, data that are no
JSON, unreadable spans and stacks that don't add up.
"""
import base64
import html.parser
import json
import re
import sys

TAGS = set("""html head meta title style body main h1 h2 div ul noscript section span
button canvas input select script details summary ol""".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.data, self.code, self.title, self.where = {}, 0, "", None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag in TAGS, tag
        assert not {"src", "href"} & set(attrs), attrs
        assert not [a for a in attrs if a.startswith("on")], attrs
        self.where = tag
        if tag == "script" and "id" in attrs:
            self.where = attrs["id"]
            self.data[self.where] = ""
        elif tag == "script":
            self.code += 1

    def handle_endtag(self, tag):
        self.where = None

    def handle_data(self, data):
        if self.where == "title":
            self.title += data
        elif self.where in self.data:
            self.data[self.where] += data

    def handle_comment(self, data):
        raise AssertionError("a comment")


def numbers(lane):
    raw, at = base64.b64decode(lane["spans"]), 0
    while at < len(raw):
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield value


def signed(value):
    return -(value + 1) // 2 if value % 2 else value // 2


def spans(lane, lanes, names):
    """Start, length, name, and the launch of GPU work: origin, lane, delay."""
    fields, at, list_ = numbers(lane), 0, []
    for step in fields:
        at += signed(step)
        length, name = next(fields), next(fields)
        assert name // lanes["rows"] < names, name
        launch = None
        if lane["gpu"]:
            origin = next(fields)
            if origin:
                launch = lanes["origins"][origin - 1], next(fields) - 1, signed(next(fields))
                assert max(launch[0]) < names and launch[1] < len(lanes["lanes"])
        list_.append((at, length, name // lanes["rows"], launch))
    assert len(list_) == lane["n"], (len(list_), lane["n"])
    return list_


def launches(data):
    lanes, names = data["lanes"], data["names"]
    for lane in lanes["lanes"]:
        for start, _, _, launch in spans(lane, lanes, len(names)) if lane["gpu"] else []:
            if launch is None:
                print(start, "none", sep="\t")
                continue
            (op, dims, *_), thread, delay = launch
            print(start - delay, start, names[op], names[dims], lanes["lanes"][thread]["label"], sep="\t")


def stacks(flat, sides, names):
    step, sums = 2 + sides, []
    assert len(flat) % step == 0, len(flat)
    for at in range(0, len(flat), step):
        depth, name, ns = flat[at], flat[at + 1], flat[at + 2:at + step]
        assert name < names and depth <= len(sums)
        del sums[depth:]
        if sums:
            sums[-1] = [above - below for above, below in zip(sums[-1], ns)]
            assert min(sums[-1]) >= 0, "more below than above"
        sums.append(ns)
    return len(flat) // step


def main():
    with open(sys.argv[-1], encoding="utf-8") as file:
        text = file.read()
    urls = set(re.findall(r"https?://[^'\"\s]*", re.sub(
        r'<script type="application/json".*?</script>', "", text, flags=re.S)))
    assert urls <= {"http://www.w3.org/2000/svg"}, urls
    page = Page()
    page.feed(text)
    page.close()
    assert page.code == 1, page.code
    data = {name: json.loads(value) for name, value in page.data.items()}
    if sys.argv[1] == "--launches":
        launches(data)
        return
    tables, lanes = data["tables"], data["lanes"]["lanes"]
    for table in tables:
        ids = {column["id"] for column in table["schema"]["columns"]}
        assert all(set(row) <= ids for row in table["rows"]), table["schema"]
    count = sum(len(spans(lane, data["lanes"], len(data["names"]))) for lane in lanes)
    sides = max(len(data["sides"]), 1)
    nstacks = stacks(data["icicle"], sides, len(data["names"]))
    stacks(data["icicle_host"], sides, len(data["names"]))
    print(page.title)
    print(f"tables {len(tables)} rows {sum(len(t['rows']) for t in tables)} "
          f"lanes {len(lanes)} spans {count} stacks {nstacks}")


main()
