#!/bin/sh
# SPDX-License-Identifier: MIT
# Joined reports: hand-made ones with known answers, workbooks of all kinds,
# names that could collide, and errors.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

[ -x "$B/bin/tl-compare" ] || skip_all 'tl-compare was not built'

write_xlsx() {
	python3 "$ROOT/tests/oracle/write_xlsx.py" "$@"
}

read_xlsx() {
	python3 "$ROOT/tests/oracle/read_xlsx.py" "$@" 2>&1
}

# ---- figures of the reference's own comparisons ----
mkdir base new
cat >base/gpu_timeline.csv <<'END'
type,time ms,percent
busy_time,31197.57859527588,60.5
total_memcpy_time,0.0,0.0
END
cat >new/gpu_timeline.csv <<'END'
type,time ms,percent
total_memcpy_time,0.0,0.0
busy_time,15742.27262841797,40.5
END
is 'differences and percents, empty where the base is 0' \
	"$(tl-compare base new --table gpu_timeline --labels)" \
	"$(printf '%s\n' \
		'type	time ms__new_diff	time ms__new_pct	base::time ms	new::time ms' \
		'busy_time	-15455.305966857912	-49.54008183570453	31197.57859527588	15742.27262841797' \
		'total_memcpy_time	0		0	0')"
is 'ids for scripts, and the rest on demand' \
	"$(tl-compare base new --table gpu_timeline -c +details --top 1)" \
	"$(printf '%s\n' \
		'type	time_ms__new_diff	time_ms__new_pct	base.time_ms	base.percent	new.time_ms	new.percent' \
		'busy_time	-15455.305966857912	-49.54008183570453	31197.57859527588	60.5	15742.27262841797	40.5')"
cat >base/ops_summary.csv <<'END'
name,total_direct_kernel_time_sum,total_direct_kernel_time_ms,Count,Cumulative Percentage (%)
aten::mul,6752.9,6.7529,220.0,9
only::base,1,0.001,1,10
"odd, ""name""
",2,0.002,,11
END
cat >new/ops_summary.csv <<'END'
name,total_direct_kernel_time_sum,total_direct_kernel_time_ms,Count,Cumulative Percentage (%)
aten::mul,4541.2883886718747,4.541288388671875,220,9
"odd, ""name""
",3,nan,2,10
=only::new,1,123.5,1,11
END
tl-compare base new -d out 2>err
is 'columns, their order, rows by the base, integers bare' \
	"$(cat out/ops_summary.csv)" \
	'name,total_direct_kernel_time_ms__new_diff,total_direct_kernel_time_ms__new_pct,Count__new_diff,Count__new_pct,base::total_direct_kernel_time_ms,base::Count,base::Cumulative Percentage (%),new::total_direct_kernel_time_ms,new::Count
aten::mul,-2.2116116113281254,-32.7505458592327,0,0.0,6.7529,220,9,4.541288388671875,220
"odd, ""name""
",,,,,0.002,,11,,2
only::base,,,,,0.001,1,10,,
=only::new,,,,,,,,123.5,1'
is 'nothing to say' "$(cat err)" ''
is 'which tables' "$(tl-compare base new --list-tables | tr '\n' ' ')" \
	'summary changes gpu_timeline ops_summary '
is 'the summary' "$(tl-compare base new --table summary -c +details)" \
	"$(printf '%s\n' \
		'sheet	what	variant	before_ns	after_ns	diff_ns	diff_pct	both	only_before	only_after	repeated' \
		'gpu_timeline	busy_time	new	31197578595	15742272628	-15455305967	-49.54008183659806				' \
		'gpu_timeline	total_memcpy_time	new	0	0	0					' \
		'ops_summary	total	new	6755900	128041288	121285388	1795.251380275019	2	1	1	0')"
is 'the changes, largest first; what is on one side counts in full' \
	"$(tl-compare base new --table changes)" \
	"$(printf '%s\n' \
		'name	variant	before_ns	after_ns	diff_ns	diff_pct	pct_of_before	count_before	count_after' \
		'=only::new	new		123500000	123500000		1828.0317944315339		1' \
		'aten::mul	new	6752900	4541288	-2211612	-32.75055161486176	-32.73600852588108	220	220' \
		'odd, "name"\n	new	2000		-2000	-100.0	-0.029603753755976257		2' \
		'only::base	new	1000		-1000	-100.0	-0.014801876877988129	1	')"
like 'without an output: a short summary' \
	"$(tl-compare base new --format table)" '^changes$'
is 'a baseline in front, then several variants' \
	"$(tl-compare new base new2=x 2>&1 | head -n 1; cp -r new new2
	tl-compare base new new2 --table gpu_timeline -c \
		type,time_ms__new_pct,time_ms__new2_diff --no-header |
		head -n 1)" \
	"$(printf '%s\n' 'tl-compare: new2=x: No such file or directory' \
		'busy_time	-49.54008183570453	-15455.305966857912')"

# ---- keys that repeat ----
mkdir z1 z2
printf 'name,total_direct_kernel_time_ms,Count\nz,3,1\nz,4,1\ny,1,1\n' \
	>z1/ops_summary.csv
printf 'name,total_direct_kernel_time_ms,Count\nz,6,1\nx,9,1\nz,8,1\nz,1,1\n' \
	>z2/ops_summary.csv
is 'repeated keys pair in order, and it is said' \
	"$(tl-compare z1 z2 --table ops_summary --no-header -c \
		name,z1.total_direct_kernel_time_ms,z2.total_direct_kernel_time_ms,total_direct_kernel_time_ms__z2_diff 2>&1)" \
	"$(printf '%s\n' \
		'tl-compare: sheet ops_summary: 1 key appears more than once in a report: rows are paired in order' \
		'z	4	8	4' 'z	3	6	3' 'y	1		' 'x		9	' 'z		1	')"
mkdir n1 n2
printf 'name,total_direct_kernel_time_ms,Count,\nz,3,1,a\n' |
	tee n1/ops_summary.csv >n2/ops_summary.csv
is 'a column without a name is called by its place, from 0' \
	"$(tl-compare n1 n2 --table ops_summary -c +details | head -n 1 | tr '\t' '\n' |
		grep -i unnamed | tr '\n' ' ')" 'n1.unnamed_3 n2.unnamed_3 '

mkdir t1 t2
cat >t1/ops_unique_args.csv <<'END'
name,thread_name,total_direct_kernel_time_sum,operation_count
mul,thread 41000 (python3),9,1
mul,thread 41037 (pt_autograd_0),8,1
mul,thread 41037 (pt_autograd_0),7,1
mul,other,1,1
END
cat >t2/ops_unique_args.csv <<'END'
name,thread_name,total_direct_kernel_time_sum,operation_count
mul,thread 507 (pt_autograd_0),8.5,1
mul,thread 500 (python3),8,1
mul,thread 777 (new),5,1
mul,new,3,1
END
is 'those of a thread pair with those of the same thread, the rest in order' \
	"$(tl-compare t1 t2 -d tt 2>&1; cut -d, -f 6,7,9,10 \
		tt/ops_unique_args_intersect_t2.csv)" \
	"$(printf '%s\n' \
		'tl-compare: sheet ops_unique_args: 1 key appears more than once in a report: rows are paired in order' \
		't1::thread_name,t1::total_direct_kernel_time_sum,t2::thread_name,t2::total_direct_kernel_time_sum' \
		'thread 41000 (python3),9,thread 500 (python3),8' \
		'thread 41037 (pt_autograd_0),8,thread 507 (pt_autograd_0),8.5' \
		'thread 41037 (pt_autograd_0),7,thread 777 (new),5' 'other,1,new,3')"
mkdir l1 l2
printf 'Parent cpu_op,Kernel name,Kernel duration (µs)_sum\na,k,3\nb,k,2\n' \
	>l1/kernel_summary.csv
printf 'Parent cpu_op,Kernel name,Kernel duration (µs)_sum\nb,k,5\na,k,4\n' \
	>l2/kernel_summary.csv
is 'a kernel of an op pairs with that of the same op, silently' \
	"$(tl-compare l1 l2 --table kernel_summary --no-header -c \
		l1.parent_cpu_op,l2.parent_cpu_op,kernel_duration_us_sum__l2_diff 2>&1)" \
	"$(printf '%s\n' 'a	a	1' 'b	b	3')"

# ---- spelled differently by other tools ----
mkdir s1 s2 s3 s4 s5 s6 s7
cat >s1/ops_unique_args.csv <<'END'
name,Input type,Input Dims,Concrete Inputs,total_direct_kernel_time_sum,operation_count
addmm,"[""c10::BFloat16"",""Scalar""]","[[512,141],[]]","["""",""0."",null]",1,1
mm,,"[[2.0,3]]","[""a\"" \u00e9'""]",2,1
copy,"[""long int""]",[],None,3,1
odd,,"[1,2",np.float64,4,1
END
cat >s2/ops_unique_args.csv <<'END'
name,Input type,Input Dims,Concrete Inputs,total_direct_kernel_time_sum,operation_count
copy,"('int64',)",(),,3.5,1
mm,nan,"((2, np.float64(3.0)),)","('a"" \xe9\'',)",2.5,1
addmm,"('bf16', 'Scalar')","((512, 141), ())","('', '0.0', None)",1.5,1
odd,,"(1,2",np.float64,4,1
END
is 'tuples and lists, None and empty, quotes, types, numbers: the same key' \
	"$(tl-compare s1 s2 --table ops_unique_args_intersect_s2 --no-header -c \
		name,total_direct_kernel_time_sum__s2_diff 2>&1
	tl-compare s1 s2 --table ops_unique_args_only_variant_s2 -c name,input_dims)" \
	"$(printf '%s\n' 'copy	0.5' 'mm	0.5' 'addmm	0.5' 'name	input_dims' 'odd	(1,2')"
{
	printf 'name\tinput_types\tinput_dims\tdirect_ns_sum\toperation_count\n'
	printf 'mm\t\t[[2,3]]\t2250\t1\n'
} >s3/ops_unique_args.tsv
printf 'name,param_M,param: N,Kernel Time (ms)_sum\nmm,2,3,0.004\n' >s3/GEMM.csv
printf 'name,param: M,param: N,Kernel Time (μs)_sum\nmm,2,3.0,5\n' >s2/GEMM.csv
is 'columns: ids and labels, units of time' \
	"$(tl-compare s3 s2 --table ops_unique_args_intersect_s2 --no-header -c \
		name,total_direct_kernel_time_sum__s2_diff 2>/dev/null
	tl-compare s3 s2 --table GEMM_intersect_s2 -c \
		+details --no-header 2>/dev/null)" \
	"$(printf '%s\n' 'mm	0.25' 'mm	2	3	1	25.0	4	5')"
cat >s4/ops_unique_args.csv <<'END'
name,Input Dims,total_direct_kernel_time_sum,operation_count
mm,"[1, 2]",1,1
mm,"(1, 2)",2,1
END
sed '/\[/d; s/,2,1/,5,1/' s4/ops_unique_args.csv >s5/ops_unique_args.csv
is 'a key that one report spells in two ways is joined as it is spelled' \
	"$(tl-compare s4 s5 --table ops_unique_args_intersect_s5 --no-header -c \
		input_dims,total_direct_kernel_time_sum__s5_diff 2>&1
	echo $?)" \
	"$(printf '%s\n' 'tl-compare: sheet ops_unique_args: 1 key has several spellings in one report: joined only as spelled' \
		'(1, 2)	3' 3)"
printf 'name,total_direct_kernel_time_ms\nx,1\n' >s6/ops_summary.csv
printf 'name,total_direct_kernel_time_ms\ny,1\n' >s7/ops_summary.csv
is 'a sheet without a row in common is a warning' \
	"$(tl-compare s6 s7 --table summary --no-header -c both 2>&1; echo $?)" \
	"$(printf '%s\n' 'tl-compare: sheet ops_summary: s7 has no row in common with the baseline' \
		0 3)"

mkdir kinds1 kinds2
printf 'kinds,time ms,pct_of_busy\ncomputation,3,75\nmemory,1,25\n' >kinds1/gpu_busy_kinds.csv
printf 'kinds,time ms,pct_of_busy\nmemory,2,40\ncomputation,3,60\n' >kinds2/gpu_busy_kinds.csv
is 'kinds of work at once are joined by their names' \
	"$(tl-compare kinds1 kinds2 --table gpu_busy_kinds --no-header -c kinds,time_ms__kinds2_diff 2>&1)" \
	"$(printf '%s\n' 'computation	0' 'memory	1')"

# ---- several ranks ----
mkdir r1 r2
printf 'rank,type,time ms\n0,busy_time,1\n1,busy_time,2\n' >r1/gpu_timeline.csv
printf 'rank,type,time ms\n1,busy_time,5\n0,busy_time,3\n' >r2/gpu_timeline.csv
is 'a row of a rank pairs with that of the same rank' \
	"$(tl-compare r1 r2 --table gpu_timeline --no-header -c \
		type,rank,time_ms__r2_diff 2>&1)" \
	"$(printf '%s\n' 'busy_time	0	2' 'busy_time	1	3')"
is 'and the summary says which' "$(tl-compare r1 r2 --table summary \
	--no-header -c what,diff_ns)" \
	"$(printf '%s\n' 'busy_time, rank 0	2000000' 'busy_time, rank 1	3000000')"

# ---- three tables a variant; keys that not all reports have ----
mkdir p q
cat >p/Foo_fwd.csv <<'END'
name,param: N,param: K,param: old,GFLOPS_first,Kernel Time (µs)_sum,Kernel Time (µs)_mean,name_count,TFLOPS/s_mean,UID_first
f,2,True,1,8,30,15,2,1.5,7
f,10,True,1,8,10,10,1,,8
f,10,False,1,8,20,20,1,1,9
END
cat >q/Foo_fwd.csv <<'END'
param: K,param: N,name,GFLOPS_first,Kernel Time (µs)_sum,Kernel Time (µs)_mean,name_count,TFLOPS/s_mean,UID_first
True,2.0,f,8,24,12,2,3,7
True,11,f,8,1,1,1,1,8
True,12,f,8,5,5,1,1,8
END
tl-compare p q -d pq --sheets Foo_fwd
is 'both' "$(cat pq/Foo_fwd_intersect_q.csv)" \
	'name,param: K,param: N,Kernel Time (µs)_sum__q_diff,Kernel Time (µs)_sum__q_pct,Kernel Time (µs)_mean__q_diff,Kernel Time (µs)_mean__q_pct,name_count__q_diff,name_count__q_pct,TFLOPS/s_mean__q_diff,TFLOPS/s_mean__q_pct,p::param: old,p::GFLOPS_first,p::Kernel Time (µs)_sum,p::Kernel Time (µs)_mean,p::name_count,p::TFLOPS/s_mean,p::UID_first,q::Kernel Time (µs)_sum,q::Kernel Time (µs)_mean,q::name_count,q::TFLOPS/s_mean,q::UID_first
f,True,2,-6,-20.0,-3,-20.0,0,0.0,1.5,100.0,1,8,30,15,2,1.5,7,24,12,2,3,7'
is 'only in the baseline, by its time' \
	"$(sed 1d pq/Foo_fwd_only_baseline_q.csv)" \
	'f,False,10,1,8,20,20,1,1,9
f,True,10,1,8,10,10,1,,8'
is 'only in the variant, by its time' "$(cat pq/Foo_fwd_only_variant_q.csv)" \
	'name,param: K,param: N,q::Kernel Time (µs)_sum,q::Kernel Time (µs)_mean,q::name_count,q::TFLOPS/s_mean,q::UID_first
f,True,12,5,5,1,1,8
f,True,11,1,1,1,1,8'

# ---- sheets that are not in all reports ----
mkdir few
cp new/gpu_timeline.csv few
tl-compare base few -d fewout 2>err
is 'a missing sheet is told, and it goes on' "$(cat err)" \
	'tl-compare: few: no sheet ops_summary: compared as if it had no rows'
is 'with its rows on one side' "$(tail -n 1 fewout/ops_summary.csv)" \
	'only::base,0.001,1,10'
: >few/ops_summary.csv
tl-compare few base -d fewout2 2>err
is 'a table of no byte is empty' "$(cat err; head -n 2 fewout2/ops_summary.csv)" \
	'name,base::total_direct_kernel_time_ms,base::Count
aten::mul,6.7529,220'
printf 'op,time\na,1\n' >few/ops_summary.csv
refuses -o 3 'has no column "name"' 'tl-compare base few'
mkdir k1 k2
printf 'name,Input Dims,Kernel Time (µs)_sum\na,1,5\na,2,6\n' \
	>k1/unified_perf_summary.csv
printf 'name,Kernel Time (µs)_sum\na,7\n' >k2/unified_perf_summary.csv
is 'a key that one report lacks is told' \
	"$(tl-compare k1 k2 --table summary -c both,only_before --no-header 2>&1)" \
	"$(printf '%s\n' 'tl-compare: sheet unified_perf_summary: k2 has no column "Input Dims": rows are paired without it' \
		'tl-compare: sheet unified_perf_summary: 1 key appears more than once in a report: rows are paired in order' '1	1')"

# ---- workbooks ----
for report in base new p q z1 z2; do
	write_xlsx folder $report $report.xlsx
done
tl-compare base.xlsx new.xlsx -d outx
is 'workbooks instead of folders' "$(diff -r out outx)" ''
tl-compare base new.xlsx -d mixed && gzip -k new/*.csv && rm new/*.csv
is 'both kinds at once' "$(diff -r out mixed)" ''
tl-compare base new -d packed
is 'compressed CSV' "$(diff -r out packed)" ''
write_xlsx odd odd.xlsx
is 'what writers of workbooks do: prefixes, gaps, rich texts, formulas' \
	"$(tl-compare odd.xlsx odd.xlsx --names a,b --table ops_summary -c \
		+details 2>err | cut -f 1,6-9)" \
	"$(printf '%s\n' \
		'name	a.total_direct_kernel_time_ms	a.count	a.unnamed_3	a.rich' \
		'a\x0db_x0041_	15	3	True	two runs & 😀 😀 �' \
		'7.5		4		' 'err			2026-01-02T00:00:00	')"
is 'and what is passed over is told' "$(sort -u err)" \
	'tl-compare: odd.xlsx: sheet ops_summary: 1 cell outside the header skipped
tl-compare: odd.xlsx: sheet ops_summary: 1 cell with an error is empty
tl-compare: odd.xlsx: sheet ops_summary: 1 cell without its text: empty
tl-compare: odd.xlsx: sheet ops_summary: 1 formula was never computed: empty'
python=
for p in python3 /usr/bin/python3; do # Debian's has its packages
	! $p -c 'import openpyxl' 2>/dev/null || python=$p
done
if [ -n "$python" ]; then
	$python - <<'END'
import csv, openpyxl
for name in "base", "z2":
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "ops_summary"
    for row in csv.reader(open(f"{name}/ops_summary.csv", newline="")):
        sheet.append([float(c) if c.replace(".", "").isdigit() else c or None
                      for c in row])
    book.save(f"{name}-openpyxl.xlsx")
END
	tl-compare base z2 --table ops_summary >want 2>&1
	tl-compare base-openpyxl.xlsx z2-openpyxl.xlsx --names base,z2 \
		--table ops_summary 2>&1 | grep -v gpu_timeline >got
	is 'a workbook of openpyxl' "$(cat got)" \
		"$(grep -v gpu_timeline want)"
else
	skip 'a workbook of openpyxl' 'no openpyxl here'
fi

is 'drawn reports, as plain Python joins them' \
	"$(python3 "$ROOT/tests/oracle/compare_drawn.py" 1 40 2>&1)" ''

# names too long for a workbook: a known one, an unknown one
mkdir long1 long2 cut
printf 'op category,total_direct_kernel_time_ms,Count\nGEMM,2,3\n' \
	>long1/kernel_launchers_summary_by_category.csv
printf 'name,param: N,Kernel Time (µs)_sum\nf,1,4\n' \
	>long1/InferenceAttention_fwd_kl_overlap.csv
sed s/GEMM,2/GEMM,5/ long1/kernel*.csv >cut/kernel_launchers_summary_by_cat.csv
sed s/f,1,4/f,1,7/ long1/Inf*.csv >cut/InferenceAttention_fwd_kl_overl.csv
write_xlsx folder cut cut.xlsx
is 'sheets whose names were cut' "$(tl-compare long1 cut.xlsx --table summary \
	--no-header -c sheet,before_ns,after_ns,both 2>&1)" \
	"$(printf '%s\n' 'kernel_launchers_summary_by_category	2000000	5000000	1' \
		'InferenceAttention_fwd_kl_overlap	4000	7000	1')"
is 'in workbooks only' "$(tl-compare cut.xlsx cut.xlsx --names a,b --list-tables |
	tr '\n' ' ')" \
	'summary kernel_launchers_summary_by_category InferenceAttention_fwd_kl_overl_intersect_b InferenceAttention_fwd_kl_overl_only_baseline_b InferenceAttention_fwd_kl_overl_only_variant_b '
for n in 1 2; do
	cp long1/Inf*.csv long2/InferenceAttention_fwd_kl_overlap$n.csv
done
is 'which one of two is not guessed' \
	"$(tl-compare long2 cut.xlsx --list-tables 2>err | grep -c '^Inf.*_intersect')" 3

# bad KIND ERE: a workbook with bad intent
bad() {
	write_xlsx hostile "$1" "$1.xlsx"
	refuses 1 "$2" "tl-compare $1.xlsx base"
}
bad entities 'sheet1.xml: byte [0-9]*: a document type declaration'
bad deep 'nested too deeply'
bad broken 'byte [0-9]*: no element found'
bad long_tag 'an XML tag that is too long'
bad outside 'a cell outside of any sheet'
bad many_cells 'the sheet has too many cells'
bad big 'sheet1.xml: more than 536870912 bytes'
bad crc 'cannot inflate|damaged'
bad encrypted 'is encrypted'
bad no_sheets 'not a workbook: the zip lacks its parts'
bad no_document 'no _rels/.rels'
bad outer_target 'no xl/.*etc/passwd'
bad old 'an old workbook \(.xls\), or one with a password'
bad bomb_of_blanks 'no element found'
bad sheet_of_all 'the workbook has too many cells'
bad bomb_in_parts 'the zip inflates to too much'
case $B in *san*) limit= ;; *) limit='ulimit -v 300000;' ;; esac
write_xlsx hostile long_sheet long_sheet.xlsx
refuses 1 'more rows than a sheet can have' \
	"$limit tl-compare long_sheet.xlsx base"
python3 - <<'EOF2'
import subprocess
data = open('base.xlsx', 'rb').read()
bad = []
for n in range(1, len(data), 197):
    open('cut.xlsx', 'wb').write(data[:n])
    p = subprocess.run(['tl-compare', 'cut.xlsx', 'base'], capture_output=True)
    if p.returncode != 1 or p.stdout:
        bad.append((n, p.returncode))
for n in range(0, len(data), 101):
    open('cut.xlsx', 'wb').write(
        data[:n] + bytes([data[n] ^ 0x55]) + data[n + 1:])
    p = subprocess.run(['tl-compare', 'cut.xlsx', 'base'], capture_output=True)
    if p.returncode not in (0, 1) or (p.returncode == 1 and p.stdout):
        bad.append((n, p.returncode, 'flipped'))
print(bad, file=open('cuts', 'w'))
EOF2
is 'no part of a workbook is a workbook; changed bytes are no crash' \
	"$(cat cuts)" '[]'

# ---- into a workbook ----
if [ -x "$B/bin/tl-xlsx" ]; then
	ok 'a workbook' tl-compare base p.xlsx q -o three.xlsx
	is 'a sheet a table, each with the names of CSV' \
		"$(read_xlsx three.xlsx | grep ^sheet | tr '\n' ' ')" \
		'sheet "summary" sheet "changes" sheet "gpu_timeline" sheet "ops_summary" sheet "Foo_fwd_intersect_p" sheet "Foo_fwd_only_baseline_p" sheet "Foo_fwd_only_variant_p" sheet "Foo_fwd_intersect_q" sheet "Foo_fwd_only_baseline_q" sheet "Foo_fwd_only_variant_q" '
	tl-compare p q -o pq.xlsx
	is 'cells' "$(read_xlsx pq.xlsx Foo_fwd_only_variant_q |
		grep '^[A-D][12]')" 'A1 s bold "name"
B1 s bold "param: K"
C1 s bold "param: N"
D1 s bold "q::Kernel Time (µs)_sum"
A2 s - "f"
B2 s - "True"
C2 n - 12
D2 n - 5'
	is 'filters, colours that know what is good, folded columns' \
		"$(read_xlsx pq.xlsx -s Foo_fwd_intersect_q |
			grep -v '^width [0-9 .]*$')" 'sheet "Foo_fwd_intersect_q"
frozen A2 frozen
filter A1:W2
width 18 18 15.0 hidden=1 outlineLevel=1
width 19 19 26.0 collapsed=1
width 23 23 15.0 hidden=1 outlineLevel=1
width 24 24 8.43 collapsed=1
scale D2 num=-6 num=0 num=6 FF63BE7B FFFFFFFF FFF8696B
scale E2 num=-20 num=0 num=20 FF63BE7B FFFFFFFF FFF8696B
scale F2 num=-3 num=0 num=3 FF63BE7B FFFFFFFF FFF8696B
scale G2 num=-20 num=0 num=20 FF63BE7B FFFFFFFF FFF8696B
scale J2 num=-1.5 num=0 num=1.5 FFF8696B FFFFFFFF FF63BE7B
scale K2 num=-100 num=0 num=100 FFF8696B FFFFFFFF FF63BE7B'
	# three reports whose names share the first 31 characters, and have
	# characters that a sheet or a file can not have
	for n in 1 2 3; do
		mkdir "u$n"
		printf 'name,Kernel Time (µs)_sum\na,%s\nb%s,1\n' $n $n \
			>"u$n/unified_perf_summary.csv"
	done
	long=mi300_with_a_very_long_name_of_the_build
	ok 'names that would collide' tl-compare u1 u2 u3 u2 u3 \
		--names "base,${long}_1,${long}_2,a/b,A:b" -o u.xlsx -d u
	is 'sheets: shortened, then numbered' \
		"$(read_xlsx u.xlsx | grep '^sheet "ups')" \
		'sheet "ups_both_mi300_with_a_very_long"
sheet "ups_only_base_mi300_with_a_very"
sheet "ups_only_var_mi300_with_a_very_"
sheet "ups_both_mi300_with_a_very_lo~2"
sheet "ups_only_base_mi300_with_a_ve~2"
sheet "ups_only_var_mi300_with_a_ver~2"
sheet "ups_both_a_b"
sheet "ups_only_base_a_b"
sheet "ups_only_var_a_b"
sheet "ups_both_A_b~2"
sheet "ups_only_base_A_b~2"
sheet "ups_only_var_A_b~2"'
	is 'nothing is lost: each table has its variant' \
		"$(for n in mi300_with_a_very_ mi300_with_a_ver~2 a_b A_b~2; do
			read_xlsx u.xlsx "ups_only_var_$n" | grep '^A2'
		done | tr '\n' ' ')" 'A2 s - "b2" A2 s - "b3" A2 s - "b2" A2 s - "b3" '
	is 'files: names in full, then numbered' \
		"$(cd u && echo ./*only_variant*)" \
		"./unified_perf_summary_only_variant_A_b~2.csv ./unified_perf_summary_only_variant_a_b.csv ./unified_perf_summary_only_variant_${long}_1.csv ./unified_perf_summary_only_variant_${long}_2.csv"
	if [ -n "$python" ]; then
		is 'openpyxl reads it' "$($python -c '
import openpyxl
book = openpyxl.load_workbook("u.xlsx")
print(len(book.sheetnames), book["ups_only_var_A_b~2"]["A2"].value)')" '14 b3'
	else
		skip 'openpyxl reads it' 'no openpyxl here'
	fi
	tl-compare p q -o - >piped.xlsx
	same 'to a pipe, the same bytes' pq.xlsx piped.xlsx
	refuses 2 "'x.csv' does not end in .xlsx .one table: --table NAME" 'tl-compare p q -o x.csv'
	ok 'but one table is text' tl-compare p q --table summary -o x.csv
	rm x.csv
	refuses 1 'No space left' 'tl-compare p q -o /dev/full'
	refuses 1 'no temporary file' 'TMPDIR=/nodir tl-compare p q -o x.xlsx'
	refuses 1 'nodir/x.xlsx: No such file' 'tl-compare p q -o nodir/x.xlsx'
	ok 'nothing was left' sh -c '! ls x.xlsx* 2>/dev/null'
	# output is valid input
	tl-report "$SAMPLE" -d r -o r.xlsx 2>/dev/null
	tl-compare r r.xlsx --names a,b -d same 2>/dev/null
	is 'our folder and our workbook of one trace are the same report' \
		"$(tl-compare r r.xlsx --names a,b --table changes --no-header
		tail -q -n +2 same/*_only_*.csv | grep -c .
		cut -d, -f 5,9,10 same/summary.csv | sort -u |
			grep -v '^[0-9.]*,0,0$' | grep -v '^[0-9.]*,,$')" \
		"$(printf '%s\n' 0 'after (ms),only_before,only_after')"
else
	skip 'a workbook' 'tl-xlsx was not built'
	refuses 1 'tl-xlsx' 'PATH=/nowhere; "$B/bin/tl-compare" p q -o x.xlsx'
fi

# ---- what is refused ----
refuses 2 'at least two reports' 'tl-compare base'
refuses 2 'not standard input' 'tl-compare base -'
refuses 2 "'--labels' and '--no-header' are for text" \
	'tl-compare p q --labels -o x.xlsx'
refuses 2 "both called 'base': --names" 'tl-compare base base'
refuses 2 '1 names for 2 reports' 'tl-compare base p --names a'
refuses 2 'an empty name' 'tl-compare base p --names a,'
refuses 2 "no table 'nope'; see --list-tables" 'tl-compare base z1 --table nope'
refuses 2 "no table 'Summary': is it summary" 'tl-compare base z1 --table Summary'
refuses 2 "no report has a sheet or group of sheets .nope." \
	'tl-compare base z1 --sheets nope'
refuses 1 'no report has a sheet kernel_summary' \
	'tl-compare base z1 --sheets kernel_summary'
refuses 2 'need --table NAME' 'tl-compare base z1 -c name'
refuses 1 'nofile: No such file' 'tl-compare base nofile'
mkdir empty
refuses 1 'empty: no CSV in this folder' 'tl-compare base empty'
refuses 1 'sample.json.gz: not a workbook.*traces are compared by tl-diff' "tl-compare base '$SAMPLE'"
mkdir broken
printf 'name,Count\na\n' >broken/ops_summary.csv
refuses 1 'broken/ops_summary.csv: line 2: 1 fields, the header has 2' \
	'tl-compare z1 broken'
mkdir other
printf 'x\n1\n' >other/what.csv
refuses 1 'no report has a known sheet' 'tl-compare other other --names a,b'
refuses 1 'No space left' 'tl-compare base z1 >/dev/full'
quiet 'a reader may leave' 'tl-compare base new | head -n 1'
page_examples tl-compare.1
done_testing
