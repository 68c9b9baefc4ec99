#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables to one workbook, read back by another program.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

[ -x "$B/bin/tl-xlsx" ] || skip_all 'tl-xlsx was not built'

read_xlsx() {
	python3 "$ROOT/tests/oracle/read_xlsx.py" "$@" 2>&1
}

cells() { # cells FILE [SHEET]: without the sheets' headers
	read_xlsx "$@" | grep -v ' bold '
}

cat >typed.ndjson <<'EOF'
{"table":"gpu_timeline","columns":[{"id":"type","label":"type","type":"text","unit":null},{"id":"time_ns","label":"time ms","type":"int","unit":"ns","label_div":1000000.0},{"id":"percent","label":"percent","type":"real","unit":"percent"},{"id":"is_ok","label":"ok?","type":"bool","unit":null},{"id":"dims","label":"dims","type":"json","unit":null},{"id":"uid","label":"uid","type":"int","unit":null}]}
{"type":"=busy","time_ns":1225310,"percent":12.5,"is_ok":true,"dims":[[1,2],[3]],"uid":9007199254740993}
{"type":"007","time_ns":null,"percent":0.25,"is_ok":false,"dims":"a","uid":7}
{"end":{"rows":2}}
{"table":"counts","columns":[{"id":"n","label":"n","type":"int","unit":"count"}]}
{"n":1}
{"n":123456}
{"end":{"rows":2}}
EOF
ok 'typed tables' tl-xlsx -o typed.xlsx typed.ndjson
is 'several tables of one input are several sheets' \
	"$(read_xlsx typed.xlsx)" 'sheet "gpu_timeline"
A1 s bold "type"
B1 s bold "time_ns"
C1 s bold "percent"
D1 s bold "is_ok"
E1 s bold "dims"
F1 s bold "uid"
A2 s - "=busy"
B2 n #,##0 1225310
C2 n 0.00 12.5
D2 b - true
E2 s - "[[1,2],[3]]"
F2 s - "9007199254740993"
A3 s - "007"
C3 n 0.00 0.25
D3 b - false
E3 s - "\"a\""
F3 n 0 7
sheet "counts"
A1 s bold "n"
A2 n #,##0 1
A3 n #,##0 123456'
is 'frozen, filterable, sensible widths, bars behind shares' \
	"$(read_xlsx typed.xlsx -s)" 'sheet "gpu_timeline"
frozen A2 frozen
filter A1:F3
width 1 1 8.0
width 2 2 10.0
width 3 3 10.0
width 4 4 8.0
width 5 5 11.0
width 6 6 16.0
bar C2:C3 num=0 num=100
sheet "counts"
frozen A2 frozen
filter A1:A3
width 1 1 9.0'
like 'what stays text is told' "$(tl-xlsx -o x.xlsx typed.ndjson 2>&1)" \
	'1 integer beyond 2\^53 written as text'
tl-xlsx --labels -o labels.xlsx typed.ndjson 2>/dev/null
is 'labels and their units' \
	"$(read_xlsx labels.xlsx gpu_timeline | grep '^[BD][12]')" \
	'B1 s bold "time ms"
D1 s bold "ok?"
B2 n #,##0.000 1.22531
D2 b - true'

cat >looks.ndjson <<'EOF'
{"table":"looks","columns":[{"id":"a","type":"real","folded":true},{"id":"b","type":"real","better":"less"},{"id":"c","type":"real","unit":"percent","better":"more"},{"id":"d","type":"text","folded":true},{"id":"e","type":"real","folded":true,"better":"worse"}]}
{"a":1,"b":-2,"c":250,"d":"x","e":1}
{"a":1,"b":1,"c":-3,"d":"x","e":1}
{"end":{"rows":2}}
EOF
tl-xlsx -o looks.xlsx looks.ndjson
is 'columns folded away, colours of differences' \
	"$(read_xlsx looks.xlsx -s)" 'sheet "looks"
frozen A2 frozen
filter A1:E3
width 1 1 8.0 hidden=1 outlineLevel=1
width 2 2 8.0 collapsed=1
width 3 3 8.0
width 4 4 8.0 hidden=1 outlineLevel=1
width 5 5 8.0 hidden=1 outlineLevel=1
width 6 6 8.43 collapsed=1
scale B2:B3 num=-2 num=0 num=2 FF63BE7B FFFFFFFF FFF8696B
scale C2:C3 num=-100 num=0 num=100 FFF8696B FFFFFFFF FF63BE7B'

(
	echo '{"table":"category_share","columns":[{"id":"op_category","type":"text","wrapped":true},{"id":"time_ns","type":"int"}]}'
	printf '{"op_category":"%0200d","time_ns":%s}\n' 0 1 0 2
	printf '{"op_category":"short","time_ns":%s}\n' 3 4 5 6 7 8
	echo '{"end":{"rows":8}}'
) >wrap.ndjson
tl-xlsx -o wrap.xlsx wrap.ndjson
python3 -m zipfile -e wrap.xlsx wrap.parts
is 'sentences in lines, their rows as high' \
	"$(grep -o '<row r="[1-4]"[^>]*>' wrap.parts/xl/worksheets/sheet1.xml | tr '\n' ' ')" \
	'<row r="1"> <row r="2" ht="60" customHeight="1"> <row r="3" ht="60" customHeight="1"> <row r="4"> '
is 'and no picture is stretched by them' \
	"$(grep -o '<xdr:row>[0-9]*' wrap.parts/xl/drawings/drawing1.xml | tr -dc '0-9\n' | tr '\n' ' ')" \
	'1 16 '
like 'which they are broken at' "$(cat wrap.parts/xl/styles.xml)" \
	'<alignment vertical="top" wrapText="1"/>'

# ---- TSV and CSV ----
printf 'name\tv\tw\n=a\\tb\\\\\\x1b\t-5\t1e5\n+x\t007\t\n@\t12345678901234567890\ttrue\n' >t.tsv
tl-xlsx -o t.xlsx t.tsv 2>/dev/null
is 'TSV: escapes, numbers in full, nothing is a formula' "$(cells t.xlsx)" \
	'sheet "t"
A2 s - "=a\tb\\\u001b"
B2 n - -5
C2 n - 100000
A3 s - "+x"
B3 s - "007"
A4 s - "@"
B4 s - "12345678901234567890"
C4 s - "true"'
printf 'a\tb\tc\n0.30000000000000004\t 0.56000000000000005 \t<&>\n1e300\t-1.5e-07\t\n' >d.tsv
tl-xlsx -o d.xlsx d.tsv
is 'numbers keep all digits; marks of XML and blanks at ends are kept' \
	"$(cells d.xlsx)" \
	'sheet "d"
A2 n - 0.30000000000000004
B2 s - " 0.56000000000000005 "
C2 s - "<&>"
A3 n - 1e+300
B3 n - -1.5e-07'
ok 'numbers are written with as few digits as they need' sh -c '
	python3 -m zipfile -e d.xlsx d.parts &&
		mv d.parts/xl/worksheets/sheet1.xml d.xml &&
		grep -q "<v>-1.5e-07</v>" d.xml &&
		grep -q "<dimension ref=\"A1:C3\"/>" d.xml'
printf '\357\273\277"a b",c\r\n"x ""y"", z\nq",1\r\n  sp ,2.5\r\n,\r\n\r\n' >c.csv
tl-xlsx -o c.xlsx c.csv
is 'CSV: quotes, lines within cells, blanks' "$(read_xlsx c.xlsx)" \
	'sheet "c"
A1 s bold "a b"
B1 s bold "c"
A2 s - "x \"y\", z\nq"
B2 n - 1
A3 s - "  sp "
B3 n - 2.5'
printf 'x\n1\n\n3\n' >one.csv
tl-xlsx -o one.xlsx one.csv
is 'an empty line is a cell of one column' "$(cells one.xlsx)" 'sheet "one"
A2 n - 1
A4 n - 3'
printf '\n' | tl-xlsx -o none.xlsx
is 'a table without columns' "$(read_xlsx none.xlsx)" 'sheet "table"'
printf 'a_x0041_\1\t\377\n\r\t\\x00\357\277\277\n' >ctl.tsv
tl-xlsx -o ctl.xlsx ctl.tsv
is 'characters that XML can not hold' "$(read_xlsx ctl.xlsx)" 'sheet "ctl"
A1 s bold "a_x0041_\u0001"
B1 s bold "'"$(printf '\357\277\275')"'"
A2 s - "\r"
B2 s - "\u0000'"$(printf '\357\277\277')"'"'

# ---- kinds, names ----
sed -n 5,8p typed.ndjson >counts
gzip -k counts
tl-xlsx -o many.xlsx counts counts.gz Counts=t.tsv 'a*b=one.csv' - <c.csv \
	2>/dev/null
is 'by content, compressed, several, standard input; names unique' \
	"$(read_xlsx many.xlsx | grep ^sheet | tr '\n' ' ')" \
	'sheet "counts" sheet "counts~2" sheet "Counts~3" sheet "a_b" sheet "table" '
tl-xlsx -o forced.xlsx --from tsv c.csv
is '--from' "$(read_xlsx forced.xlsx | head -n 2)" 'sheet "c"
A1 s bold "\"a b\",c"'

# ---- charts ----
cat >roofs.tsv <<'EOF'
flop_per_byte	peak	other
0.1	0.5	0.2
100	500	200
1000	500	200
EOF
cat >unified_perf_summary.tsv <<'EOF'
name	flop_per_byte	tflop_s_mean
aten::mm	120	400
aten::add	0.25	1
EOF
printf 'op_category\tdirect_ns_sum\nGEMM\t60\nother\t40\n' \
	>ops_summary_by_category.tsv
printf 'op_category\ttime_ns\nGEMM\t160\nother\t50\n' >category_share.tsv
(echo 'rank	computation_ns	exposed_comm_ns	exposed_memcpy_ns	idle_ns'
seq 70 | sed 's/.*/&	1	2	3	&/') >gpu_timeline_by_rank.tsv
charts() { # charts FILE [SHEET]
	read_xlsx "$1" -s "$2" | sed -n '/^chart/,$p;' | sed 's/ *$//'
}
tl-xlsx -o charts.xlsx unified_perf_summary.tsv roofs.tsv \
	ops_summary_by_category.tsv gpu_timeline_by_rank.tsv
is 'a roofline is native, with its roofs' \
	"$(charts charts.xlsx unified_perf_summary)" \
	'chart scatterChart "Roofline"
 axis b "flop_per_byte" log
 axis l "tflop_s_mean" log
 series unified_perf_summary!$C$1 unified_perf_summary!$B$2:$B$3 unified_perf_summary!$C$2:$C$3 marker=circle
 series roofs!$B$1 roofs!$A$2:$A$4 roofs!$B$2:$B$4 marker=none
 series roofs!$C$1 roofs!$A$2:$A$4 roofs!$C$2:$C$4 marker=none'
is 'bars beside its table' "$(charts charts.xlsx ops_summary_by_category)" \
	'chart barChart "GPU time by op category"
 axis l "op_category" linear
 axis b "direct_ns_sum" linear
 series ops_summary_by_category!$B$1 ops_summary_by_category!$A$2:$A$3 ops_summary_by_category!$B$2:$B$3'
like 'bars of the first rows, which is said' \
	"$(charts charts.xlsx gpu_timeline_by_rank)" \
	'^chart barChart "Time of each rank \(first 64 of 70\)"'
tl-xlsx -o charts2.xlsx --chart-sheet charts ops_summary_by_category.tsv \
	category_share.tsv unified_perf_summary.tsv
is 'charts on a sheet of their own; of two of a kind that of all ranks' \
	"$(charts charts2.xlsx charts | grep '^chart')" \
	'chart barChart "GPU time by category"
chart scatterChart "Roofline"'
tl-xlsx -o charts4.xlsx --chart-sheet roofs ops_summary_by_category.tsv roofs.tsv
is 'or beside another table' "$(charts charts4.xlsx roofs | grep '^chart')" \
	'chart barChart "GPU time by op category"'
head -n 2 category_share.tsv >few.tsv
printf 'op_category\tns\na\t1\nb\t2\n' >other.tsv
tl-xlsx -o none.xlsx --chart-sheet charts category_share=few.tsv \
	ops_summary_by_category=other.tsv ops_summary_by_category.tsv
is 'one row, and a table of other columns, are no chart' \
	"$(read_xlsx none.xlsx -s | grep -c '^chart\|"charts"')" 0

# ---- limits ----
python3 - <<'EOF'
with open('wide.tsv', 'w') as f:
    for prefix in 'c', '':
        f.write('\t'.join(f'{prefix}{i}' for i in range(16390)) + '\n')
with open('long.tsv', 'w') as f:
    f.write('a\tb\n' + 'x' * 32767 + '\t' + 'y' * 32768 + '\n')
EOF
refuses 3 '16390 columns, a sheet holds 16384' 'tl-xlsx -o wide.xlsx wide.tsv'
like 'as many columns as go' "$(cells wide.xlsx | tail -n 1)" '^XFD2 n - 16383'
tl-xlsx -o long.xlsx long.tsv 2>err
is 'a text that is cut is no warning about figures' "$?" 0
like 'but told' "$(cat err)" '^tl-xlsx: 1 text is longer than the 32767 char'
is 'a cell that was cut says so' \
	"$(cells long.xlsx | tail -n 1 | tail -c 13)" 'y ... (cut)"'
seq 1048577 >rows.tsv
tl-xlsx -o rows.xlsx rows.tsv 2>err
is 'nor are further sheets' "$?" 0
like 'which are told too' "$(cat err)" 'more than 1048575 rows: it continues'
is 'further rows in a further sheet, with the header' \
	"$(read_xlsx rows.xlsx 'rows (2)')" 'sheet "rows (2)"
A1 s bold "1"
A2 n - 1048577'
rm -f rows.tsv rows.xlsx

# ---- the same bytes ----
TZ=Asia/Tokyo tl-xlsx -o one.1 typed.ndjson category_share.tsv 2>/dev/null
sleep 1.1
tl-xlsx -o - typed.ndjson category_share.tsv >one.2 2>/dev/null
same 'the same input gives the same bytes, to a file or a pipe' one.1 one.2
SOURCE_DATE_EPOCH=1000000000 tl-xlsx -o one.3 roofs.tsv
like 'SOURCE_DATE_EPOCH dates it' \
	"$(python3 -c 'import zipfile
print(zipfile.ZipFile("one.3").read("docProps/core.xml"))')" \
	'2001-09-09T01:46:40Z'

# ---- what is refused ----
S='{"table":"t","columns":[{"id":"x","type":"int"}]}'
bad() { # bad ERE TEXT: a text on standard input, for printf
	refuses 1 "$1" "printf '$2' | tl-xlsx -o bad.xlsx"
}
bad 'stdin: the input is empty' ''
bad 'stdin: the input is empty' '\357\273\277'
bad 'line 2: 3 fields, the header has 2' 'a,b\n1,2,3\n'
bad 'line 3: 1 fields, the header has 2' 'a\tb\n1\t2\n1\n'
bad 'line 3: an empty line in a table of 2 columns' 'a\tb\n1\t2\n\n3\t4\n'
bad 'line 2: a quoted field has no end' 'a,b\n1,"2\n3\n4'
bad 'line 2: a quote within a field' 'a,b\n1,2"x\n'
bad 'line 3: table "t" was cut off: it has no end line' "$S\\n{\"x\":1}\\n"
bad 'line 3: table "t" was cut off: it has no end line' "$S\\n{\"x\":1}\\n$S\\n"
bad 'line 2: the table was cut off in a line' "$S\\n{\"x\":1"
bad 'line 2: column "x" is int, not text' "$S\\n{\"x\":\"a\"}\\n"
bad 'line 2: table "t" has no column "y"' "$S\\n{\"y\":1}\\n"
bad 'line 2: number has a leading zero' "$S\\n{\"x\":01}\\n"
bad 'a row before any schema' '{"x":1}\n'
bad 'this is an event stream, not a table' '{"tl":{"version":1}}\n'
bad 'this is a trace, not a table' '{"traceEvents":[]}'
bad 'UTF-16' '\377\376a\0'
ok 'nothing under its name, nothing beside it' \
	sh -c '! ls bad.xlsx* 2>/dev/null'
refuses 3 'the last line has no newline' \
	'printf "a\tb\n1\t2" | tl-xlsx -o warned.xlsx'
refuses 1 'is a directory' 'tl-xlsx -o bad.xlsx .'
tl-xlsx -o - typed.ndjson >open.xlsx
tl-xlsx -o - typed.ndjson >closed.xlsx 2>&-
same 'a closed standard error is no error' closed.xlsx open.xlsx
refuses 1 'nofile: No such file' 'tl-xlsx -o bad.xlsx nofile'
refuses 1 'No space left' 'tl-xlsx -o /dev/full roofs.tsv'
refuses 1 '/nodir: no temporary file' 'TMPDIR=/nodir tl-xlsx -o bad.xlsx roofs.tsv'
refuses 1 'File too large|not written whole|temporary file' \
	'trap "" XFSZ; ulimit -f 4; seq 100000 | tl-xlsx -o bad.xlsx'
printf 'a title\n\n =1+1 \001<&\nno end' >front.txt
ok '--front' tl-xlsx -o front.xlsx --front front.txt "it's=typed.ndjson"
is 'is a sheet of a text, and of what follows' "$(cells front.xlsx screen | sed 1d)" \
	'A3 s - " =1+1 \u0001<&"
A4 s - "no end"
A6 s - "it'"'"'s"
A7 s - "it'"'"'s~2"'
python3 -m zipfile -e front.xlsx front
is 'figures stand at the top, beside the first line of a sentence' "$(
	grep -o '<xf [^>]*numFmtId="[1-9][^>]*>\(<alignment[^>]*>\)\?' front/xl/styles.xml | grep -vc 'vertical="top"')" 0
is 'linked' "$(grep -o 'location="[^"]*' front/xl/worksheets/sheet1.xml | tr '\n' ' ')" \
	"location=\"'it''s'!A1 location=\"'it''s~2'!A1 "
refuses 1 'nosuch' 'tl-xlsx -o x.xlsx --front nosuch typed.ndjson'
refuses 2 'only one of --front and the tables' 'tl-xlsx -o x.xlsx --front - <front.txt'
if command -v tl-compare >/dev/null; then
	is 'no table to compare' "$(tl-compare --list-tables front.xlsx front.xlsx 2>&1 | grep -c screen)" 0
fi
cat >GEMM.ndjson <<'EOF'
{"table":"GEMM","columns":[{"id":"name","type":"text"},{"id":"gflop","type":"real"},{"id":"operation_count","type":"int","unit":"count"},{"id":"roof","type":"text"},{"id":"lost_ns","type":"int","unit":"ns"},{"id":"kernel_ns_sum","type":"int","unit":"ns"}]}
{"name":"mm","gflop":1.5,"operation_count":2,"roof":"x","lost_ns":3,"kernel_ns_sum":4}
{"end":{"rows":1}}
EOF
tl-xlsx -o first.xlsx --main-first GEMM.ndjson
is '--main-first: name, time, lost, count, then the rest' \
	"$(read_xlsx first.xlsx | sed 1d | awk '{ print $NF }' | tr '\n' ' ')" \
	'"name" "kernel_ns_sum" "lost_ns" "operation_count" "gflop" "roof" "mm" 4 3 2 1.5 "x" '
refuses 2 "'-o' is missing" 'tl-xlsx roofs.tsv'
ok 'nothing was left' sh -c '! ls bad.xlsx* 2>/dev/null'
quiet 'a reader may leave' 'tl-xlsx -o - roofs.tsv | head -c 1'

# Every prefix of typed tables is refused, except those that end after a table.
python3 - <<'EOF'
import subprocess
data = open('typed.ndjson', 'rb').read().rstrip(b'\n')
whole = data.index(b'{"table":"counts"')
bad = []
for n in range(1, len(data), 7):
    p = subprocess.run(['tl-xlsx', '-o', 'prefix.xlsx'], input=data[:n],
                       capture_output=True)
    good = 0 if n in (whole, whole - 1) else 1
    if p.returncode != good:
        bad.append((n, p.returncode, p.stderr))
print(bad, file=open('prefixes', 'w'))
EOF
is 'no prefix of a table is a table' "$(cat prefixes)" '[]'

# ---- another program ----
if command -v soffice >/dev/null; then
	HOME=$TMP soffice --headless --convert-to \
		'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1' \
		labels.xlsx >/dev/null 2>&1
	is 'LibreOffice opens it' "$(cat labels-gpu_timeline.csv)" \
		'type,time ms,percent,ok?,dims,uid
=busy,1.22531,12.5,TRUE,"[[1,2],[3]]",9007199254740993
007,,0.25,FALSE,"""a""",7'
else
	skip 'LibreOffice opens it' 'no soffice here'
fi
page_examples tl-xlsx.1
done_testing
