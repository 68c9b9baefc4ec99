#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the contents of a workbook, with the standard library alone.

usage: tests/oracle/read_xlsx.py FILE.xlsx [-s] [SHEET]

For each sheet, or the named one: its name, then a line per cell: address, type (n
number, b boolean, s text), number format or -, value as JSON. With -s its look
instead: frozen rows, filter, widths, groups, data bars, colour scales, charts with
their axes and series. Fails on what Excel would want to repair: parts that are not
well formed or not declared, texts or names too long, equal names, rows out of order.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET
import zipfile

M = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
R = "{http://schemas.openxmlformats.org/package/2006/relationships}"
O = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def units(text):
    return len(text.encode("utf-16-le")) // 2


def unescape(text):
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda m: chr(int(m[1], 16)), text)


class Book:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        assert self.zip.testzip() is None
        self.names = self.zip.namelist()
        types = self.xml("[Content_Types].xml")
        declared = {e.get("PartName") for e in types}
        defaults = {e.get("Extension") for e in types}
        for name in self.names:
            assert "/" + name in declared or \
                name.rsplit(".", 1)[-1] in defaults, name
        self.formats = self.styles()

    def xml(self, name):
        with self.zip.open(name) as file:
            return ET.parse(file).getroot()

    def relations(self, name):
        folder, base = name.rsplit("/", 1)
        path = f"{folder}/_rels/{base}.rels"
        if path not in self.names:
            return {}
        found = {}
        for e in self.xml(path):
            target = e.get("Target")
            parts = folder.split("/") if not target.startswith("/") else []
            for part in target.lstrip("/").split("/"):
                parts = parts[:-1] if part == ".." else parts + [part]
            found[e.get("Id")] = "/".join(parts)
            assert found[e.get("Id")] in self.names, target
        return found

    def styles(self):
        root = self.xml("xl/styles.xml")
        own = {e.get("numFmtId"): e.get("formatCode")
               for e in root.iter(M + "numFmt")}
        own.update({"1": "0", "2": "0.00", "3": "#,##0"})
        bold = [f.find(M + "b") is not None
                for f in root.find(M + "fonts")]
        return [("bold " if bold[int(x.get("fontId"))] else "")
                + own.get(x.get("numFmtId"), "") or "-"
                for x in root.find(M + "cellXfs")]

    def sheets(self):
        relations = self.relations("xl/workbook.xml")
        root = self.xml("xl/workbook.xml")
        seen = set()
        for e in root.find(M + "sheets"):
            name = e.get("name")
            assert 0 < units(name) <= 31 and not re.search(
                r"[\[\]:*?/\\\x00-\x1f]", name), name
            assert name.lower() not in seen and name.lower() != "history"
            assert not name.startswith("'") and not name.endswith("'")
            seen.add(name.lower())
            yield name, relations[e.get(O + "id")]

    def cells(self, part):
        last = 0
        with self.zip.open(part) as file:
            for _, row in ET.iterparse(file):
                if row.tag != M + "row":
                    continue
                assert int(row.get("r")) > last
                last = int(row.get("r"))
                assert last <= 1048576
                for c in row:
                    yield self.cell(c)
                row.clear()

    def cell(self, c):
        look = self.formats[int(c.get("s", "0"))].strip()
        kind = c.get("t", "n")
        assert c.find(M + "f") is None
        if kind == "inlineStr":
            raw = "".join(t.text or "" for t in c.iter(M + "t"))
            value = unescape(raw)
            assert units(value) <= 32767
            return c.get("r"), "s", look, value
        text = c.findtext(M + "v")
        if text is None:
            return c.get("r"), "-", look, None
        if kind == "b":
            return c.get("r"), "b", look, text == "1"
        assert kind == "n"
        value = float(text)
        return c.get("r"), "n", look, int(value) if value.is_integer() and \
            abs(value) < 1e15 else value

    def show_looks(self, part):
        root = self.xml(part)
        pane = root.find(f".//{M}pane")
        if pane is not None:
            print("frozen", pane.get("topLeftCell"), pane.get("state"))
        filtered = root.find(M + "autoFilter")
        if filtered is not None:
            print("filter", filtered.get("ref"))
        for e in root.iter(M + "col"):
            print("width", e.get("min"), e.get("max"),
                  round(float(e.get("width")) - 0.7109375, 2),
                  *(f"{k}={e.get(k)}" for k in
                    ("hidden", "outlineLevel", "collapsed") if e.get(k)))
        for e in root.iter(M + "conditionalFormatting"):
            bar = e.find(f".//{M}dataBar")
            print("bar" if bar is not None else "scale", e.get("sqref"),
                  *(v.get("type") + "=" + v.get("val", "")
                    for v in e.iter(M + "cfvo")),
                  *(v.get("rgb") for v in e.iter(M + "color")
                    if bar is None))
        for drawing in self.relations(part).values():
            for name in self.relations(drawing).values():
                if name.startswith("xl/charts/"):
                    self.show_chart(self.xml(name))

    @staticmethod
    def show_chart(root):
        plot = root.find(f".//{C}plotArea")
        title = root.find(f"{C}chart/{C}title")
        kinds = [e.tag[len(C):] for e in plot if e.tag.endswith("Chart")]
        print("chart", *kinds, json.dumps("".join(
            t.text for t in title.iter(A + "t")), ensure_ascii=False))
        for axis in ("catAx", "valAx"):
            for e in plot.iter(C + axis):
                log = e.find(f".//{C}logBase")
                name = "".join(t.text for t in e.iter(A + "t"))
                print(" axis", e.find(C + "axPos").get("val"),
                      json.dumps(name, ensure_ascii=False),
                      "log" if log is not None else "linear")
        for e in plot.iter(C + "ser"):
            marker = e.find(f"{C}marker/{C}symbol")
            print(" series", *(f.text for f in e.iter(C + "f")),
                  "" if marker is None else "marker=" + marker.get("val"))


def main():
    args = [a for a in sys.argv[1:] if a != "-s"]
    book = Book(args[0])
    for name, part in book.sheets():
        if len(args) > 1 and name != args[1]:
            continue
        print("sheet", json.dumps(name, ensure_ascii=False))
        if "-s" in sys.argv:
            book.show_looks(part)
            continue
        for at, kind, look, value in book.cells(part):
            print(at, kind, look, json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    main()
