#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workbooks for tests of their readers, with the standard library alone.

usage: tests/oracle/write_xlsx.py folder FOLDER FILE.xlsx
       tests/oracle/write_xlsx.py odd FILE.xlsx
       tests/oracle/write_xlsx.py hostile KIND FILE.xlsx

folder: a sheet for each CSV of FOLDER, as pandas and openpyxl write it: texts are
shared, a missing value has no cell. odd: what other writers do, all of it allowed.
hostile: contents with bad intent.
"""
import csv
import os
import re
import struct
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

M = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def letters(column):
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def guarded(text):
    """Texts that look like an escape, and what XML can't hold."""
    text = re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)
    return re.sub(r"[\x00-\x08\x0b-\x1f]",
                  lambda m: f"_x{ord(m[0]):04X}_", text)


class Book:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.sheets = []
        self.texts = {}

    def put(self, name, text):
        self.zip.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text,
                          zipfile.ZIP_DEFLATED)

    def shared(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def sheet(self, name, xml):
        self.sheets.append(name)
        self.put(f"xl/worksheets/sheet{len(self.sheets)}.xml", xml)

    def rows(self, name, rows):
        out = [HEAD, f'<worksheet xmlns="{M}"><sheetData>']
        for r, row in enumerate(rows, 1):
            out.append(f'<row r="{r}">')
            for c, text in enumerate(row):
                at = f"{letters(c)}{r}"
                if text == "":
                    continue
                if r > 1 and text in ("True", "False"):
                    out.append(f'<c r="{at}" t="b"><v>{text == "True":d}</v>'
                               "</c>")
                elif r > 1 and NUMBER.fullmatch(text):
                    out.append(f'<c r="{at}"><v>{text}</v></c>')
                else:
                    out.append(f'<c r="{at}" t="s"><v>{self.shared(text)}</v>'
                               "</c>")
            out.append("</row>")
        self.sheet(name, "".join(out) + "</sheetData></worksheet>")

    def finish(self, strings=None, workbook=None, relations=None):
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/"\
            "relationships/"
        if strings is None:
            strings = HEAD + f'<sst xmlns="{M}">' + "".join(
                f'<si><t xml:space="preserve">{escape(guarded(t))}</t></si>'
                for t in self.texts) + "</sst>"
        self.put("xl/sharedStrings.xml", strings)
        self.put("_rels/.rels", HEAD + f'<Relationships xmlns="{P}">'
                 f'<Relationship Id="rId1" Type="{kind}officeDocument" '
                 'Target="xl/workbook.xml"/></Relationships>')
        self.put("xl/workbook.xml", workbook or HEAD + f'<workbook xmlns="{M}" '
                 f'xmlns:r="{R}"><workbookPr date1904="1"/><sheets>' + "".join(
                     f'<sheet name={quoteattr(name)} sheetId="{i}" '
                     f'r:id="rId{i}"/>'
                     for i, name in enumerate(self.sheets, 1))
                 + "</sheets></workbook>")
        self.put("xl/_rels/workbook.xml.rels", relations or HEAD
                 + f'<Relationships xmlns="{P}">' + "".join(
                     f'<Relationship Id="rId{i}" Type="{kind}worksheet" '
                     f'Target="/xl/worksheets/sheet{i}.xml"/>'
                     for i in range(1, len(self.sheets) + 1))
                 + f'<Relationship Id="rIdS" Type="{kind}sharedStrings" '
                 'Target="sharedStrings.xml"/></Relationships>')
        self.zip.close()


def folder(source, path):
    csv.field_size_limit(1 << 30)
    book = Book(path)
    for file in sorted(os.listdir(source)):
        if file.endswith(".csv"):
            with open(os.path.join(source, file), encoding="utf-8",
                      newline="") as text:
                book.rows(file[:-4], [row for row in csv.reader(text) if row])
    book.finish()


def odd(path):
    """Prefixes, no addresses, gaps, rich and phonetic texts, formulas."""
    book = Book(path)
    book.sheet("ops_summary", HEAD + f'''<x:worksheet xmlns:x="{M}">
<x:cols><x:col min="1" max="1" width="9"/></x:cols>
<x:sheetData>
<x:row r="3"><x:c r="A3" t="inlineStr"><x:is><x:t>name</x:t></x:is></x:c>
<x:c t="s"><x:v>0</x:v></x:c><x:c t="s"><x:v> 1 </x:v></x:c>
<x:c r="E3" t="inlineStr"><x:is><x:r><x:rPr><x:b/></x:rPr><x:t>ri</x:t></x:r><x:r><x:t>ch</x:t></x:r></x:is></x:c></x:row>
<x:row><x:c t="inlineStr"><x:is><x:t>a_x000D_b_x005F_x0041_</x:t><x:rPh sb="0" eb="1"><x:t>no</x:t></x:rPh></x:is></x:c>
<x:c><x:v>1.50E1</x:v></x:c><x:c t="str"><x:f>1+1</x:f><x:v>3</x:v></x:c><x:c r="D4" t="b"><x:v>1</x:v></x:c><x:c t="s"><x:v>2</x:v></x:c></x:row>
<x:row r="1000000"/>
<x:row r="1000001"><x:c r="A1000001" t="s"><x:v>3</x:v></x:c><x:c r="C1000001"><x:v>4</x:v></x:c><x:c r="XFD1000001"><x:v>9</x:v></x:c></x:row>
<x:row><x:c t="str"><x:v>err</x:v></x:c><x:c t="e"><x:v>#DIV/0!</x:v></x:c><x:c><x:f>SUM(C1)</x:f></x:c><x:c t="d"><x:v>2026-01-02T00:00:00</x:v></x:c><x:c t="s"><x:v>99</x:v></x:c></x:row>
</x:sheetData><x:extLst><x:ext><x:row><x:c><x:v>7</x:v></x:c></x:row></x:ext></x:extLst>
</x:worksheet>''')
    strings = HEAD + f'''<sst xmlns="{M}"><si><t>total_direct_kernel_time_ms</t></si><si><t>Count</t></si>
<si><r><t xml:space="preserve">two </t></r><r><t>runs &amp; &#x1F600; _xD83D__xDE00_ _xD83D_</t></r><rPh sb="0" eb="1"><t>no</t></rPh></si><si><t>7.5</t></si></sst>'''
    book.finish(strings)


def bomb(path, size):
    book = Book(path)
    book.sheet("ops_summary", b" " * size)
    book.finish()


HOSTILE = {}


def hostile(f):
    HOSTILE[f.__name__] = f
    return f


def with_sheet(path, xml):
    book = Book(path)
    book.sheet("ops_summary", xml)
    book.finish()


@hostile
def entities(path):
    with_sheet(path, '<!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;'
               "</worksheet>")


@hostile
def deep(path):
    with_sheet(path, "<a>" * 1000)


@hostile
def broken(path):
    with_sheet(path, "<worksheet><sheetData>")


@hostile
def long_tag(path):
    with_sheet(path, "<worksheet a='" + "x" * (5 << 20) + "'/>")


@hostile
def outside(path):
    with_sheet(path, f'<worksheet xmlns="{M}"><sheetData><row>'
               '<c r="ZZZZ1"><v>1</v></c></row></sheetData></worksheet>')


@hostile
def many_cells(path):
    with_sheet(path, f'<worksheet xmlns="{M}"><sheetData><row>'
               '<c r="XFD1" t="str"><v>x</v></c></row>'
               + '<row><c><v>1</v></c></row>' * 1100
               + "</sheetData></worksheet>")


@hostile
def big(path):
    """Its directory claims 600 MiB for a sheet."""
    with_sheet(path, "x" * 1000)
    patch(path, b"PK\1\2", 24, struct.pack("<I", 600 << 20))


@hostile
def crc(path):
    with_sheet(path, f'<worksheet xmlns="{M}"><sheetData/></worksheet>')
    patch(path, b"PK\1\2", 16, b"abcd")


@hostile
def encrypted(path):
    with_sheet(path, "x")
    patch(path, b"PK\1\2", 8, b"\1")


@hostile
def no_sheets(path):
    Book(path).finish()


@hostile
def no_document(path):
    book = Book(path)
    book.put("word/document.xml", "<w/>")
    book.zip.close()


@hostile
def outer_target(path):
    """A part outside the package."""
    book = Book(path)
    book.sheet("ops_summary", "<worksheet/>")
    book.finish(relations=f'<Relationships xmlns="{P}"><Relationship Id="rId1" '
                'Type="x/worksheet" Target="../../../../etc/passwd"/>'
                "</Relationships>")


@hostile
def old(path):
    with open(path, "wb") as file:
        file.write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))


@hostile
def bomb_of_blanks(path):
    """64 MiB of nothing in 64 KiB."""
    bomb(path, 64 << 20)


def same_part(path, nsheets, xml):
    """Many sheets that are one and the same part."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/"\
        "relationships/worksheet"
    book = Book(path)
    book.sheet("S0", xml)
    book.sheets = [f"S{i}" for i in range(nsheets)]
    book.finish(relations=f'<Relationships xmlns="{P}">' + "".join(
        f'<Relationship Id="rId{i}" Type="{kind}" '
        'Target="worksheets/sheet1.xml"/>'
        for i in range(1, nsheets + 1)) + "</Relationships>")


@hostile
def sheet_of_all(path):
    """Each of 99 sheets has 10 million cells, in 1 kB."""
    same_part(path, 99, f'<worksheet xmlns="{M}"><sheetData><row>'
              '<c r="XFD1" t="str"><v>x</v></c></row>'
              + '<row><c><v>1</v></c></row>' * 600
              + "</sheetData></worksheet>")


@hostile
def long_sheet(path):
    """Three million rows with a key and a parameter."""
    same_part(path, 1, f'<worksheet xmlns="{M}"><sheetData><row>'
              '<c t="str"><v>name</v></c><c t="str"><v>param: x</v></c></row>'
              + '<row><c t="str"><v>k</v></c><c><v>1</v></c></row>' * 3000000
              + "</sheetData></worksheet>")


@hostile
def bomb_in_parts(path):
    """Sheets that are within bounds, but not together."""
    same_part(path, 9, f'<worksheet xmlns="{M}"><sheetData>' + " " * (24 << 20)
              + "</sheetData></worksheet>")


def patch(path, magic, offset, new):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at = data.index(magic) + offset  # the first entry is the sheet's
    data[at:at + len(new)] = new
    with open(path, "wb") as file:
        file.write(data)


def main():
    if sys.argv[1] == "folder":
        folder(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "odd":
        odd(sys.argv[2])
    elif sys.argv[2] == "list":
        print("\n".join(HOSTILE))
    else:
        HOSTILE[sys.argv[2]](sys.argv[3])


if __name__ == "__main__":
    main()
