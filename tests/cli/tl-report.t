#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report: the screen, the sheets, the workbook, and errors.
. tests/cli/lib.sh

# The sheets depend on what could be built.
for program in tl-roofline tl-collective tl-xlsx; do
	[ -x "$B/bin/$program" ] || skip_all "$program is not built"
done

sheets() { # the names of files in a folder, on one line
	(cd "$1" && echo *)
}
left() { # leftovers in a folder of temporary files
	ls -A "$1"
}
mkdir tmp
TMPDIR=$TMP/tmp
export TMPDIR

# ---- the screen ----

golden 'a screen of a PyTorch trace' report/screen
golden 'a screen of a trace of rocprofv3' report/rocprof
tl-report "$SAMPLE" >screen
is 'standard input' "$(tl-report <"$SAMPLE" | tail -n +2)" "$(tail -n +2 screen)"
tl-tree "$SAMPLE" -o t.tl
is 'a tree' "$(tl-report t.tl)" "$(cat screen)"
is 'no line is longer than asked for' "$(tl-report --width 60 t.tl |
	awk 'length($0) > 60')" ''
quiet 'a reader may leave' 'tl-report t.tl | head -n 1'
of_ops() { # of_ops ORDER: count and name of the top ops on the screen
	tl-report --sort "$1" --width 200 t.tl | awk '/^top ops/ { on = 1; next }
		/^$/ { on = 0 }
		on { for (i = 3; i < NF; i++) if ($i == "%") print $(i + 1), $1 }'
}
tl-ops --table ops_summary -c name,count,direct_ns_sum --no-header t.tl | awk '{ n[$1] += $2; ns[$1] += $3 }
	END { for (i in n) printf "%d %s %d %.9f\n", n[i], i, ns[i], ns[i] / n[i] }' >counted
for order in 'time -k3,3nr' 'count -k1,1nr -k3,3nr' 'mean -k4,4nr' 'name -k2,2'; do
	# shellcheck disable=SC2086 # keys of sort
	is "--sort ${order%% *}" "$(of_ops "${order%% *}")" \
		"$(LC_ALL=C sort ${order#* } counted | head -n 10 | cut -d ' ' -f 1,2)"
done
refuses 2 'needs time, count, mean or name' 'tl-report --sort size t.tl'
is 'temporary files are gone' "$(left tmp)" ''

# ---- sheets ----

ops='ops_summary.csv ops_summary_by_category.csv ops_unique_args.csv'
launches='launches_by_api.csv launches_by_op.csv'
idle='idle.csv idle_by_stream.csv idle_gaps.csv idle_window.csv'
steps='steps.csv steps_slow.csv steps_summary.csv'
ok '-d' tl-report -d out "$SAMPLE"
is 'the sheets' "$(sheets out)" "BinaryElementwise.csv GEMM.csv MorePointwise.csv\
 Movement.csv Normalization.csv Optimizer.csv Reduce_fwd.csv SDPA_bwd.csv\
 SDPA_fwd.csv Softmax.csv UnaryElementwise.csv api_summary.csv coll_analysis.csv\
 copies.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv $idle $launches $ops roofline_by_step.csv $steps unified_perf_summary.csv"
# as many programs at once as there are processors
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
ok 'with one processor' taskset -c "$cpu" tl-report -d one "$SAMPLE"
is 'the sheets are the same' "$(diff -r out one)" ''
tl-idle --by class,cause,call --steps -d why --format csv --labels "$SAMPLE"
same 'causes of idle time are those of tl-idle' out/idle.csv why/idle.csv
for program in timeline ops roofline; do
	tl-$program -d "$program" t.tl 2>/dev/null
	(cd "$program" && for f in [!f]*; do cmp "$f" "../out/$f"; done) >differ 2>&1
	is "the sheets are those of tl-$program" "$(cat differ)" ''
done
tl-report -d few --no-collective --kernels --short 5us --top 2 t.tl
is 'sheets of options' "$(sheets few | tr ' ' '\n' | grep -e kernel -e coll |
	tr '\n' ' ')" \
	'kernel_summary.csv short_kernel_histogram.csv short_kernels_summary.csv '
is '--top' "$(wc -l <few/ops_unique_args.csv)" 3
is 'but not of summaries' "$(cat few/ops_summary.csv)" "$(cat out/ops_summary.csv)"
tl-report -d over --overlap --recompute --first-occurrence --num-kernels t.tl
is '--overlap' "$(sheets over | tr ' ' '\n' | grep -c kl_overlap)" 13
like 'columns of options' "$(head -n 1 over/ops_unique_args.csv)" \
	'num_kernels,is_recompute,operation_count,first_occurrence_time'
tl-report -d micro --micro-idle 5us --linked-only t.tl
is 'options of tl-timeline' "$(cat micro/gpu_timeline.csv)" \
	"$(tl-timeline --micro-idle 5us --linked-only --labels --format csv t.tl)"
tl-report -d apart --recompute t.tl
is 'the timeline of recomputed work' "$(cat apart/gpu_timeline.csv)" \
	"$(tl-timeline --by recompute -c type,time_ns,percent,is_recompute \
		--labels --format csv t.tl)"
tl-report -d mod --parent-module --call-stack t.tl 2>/dev/null
tl-ops -d modops --parent-module --call-stack t.tl
is 'ops by their modules' "$(cat mod/ops_summary.csv)" "$(cat modops/ops_summary.csv)"
tl-report -d all --kernels t.tl
tl-report -d linked --kernels --linked-only t.tl
is '--linked-only: nothing of what is about all work' "$(sheets linked | tr ' ' '\n' | grep -c -e idle -e steps)" 0
is 'and the shares are those of the timeline' "$(tl-report --linked-only --format ndjson t.tl 2>err |
	python3 -c 'import json, sys
print({l["time_ns"] for l in map(json.loads, sys.stdin) if l.get("part") == "timeline" and l["name"] in ("total", "computation")} ==
    set(map(int, sys.argv[1].split())))' "$(tl-timeline --linked-only -c type,time_ns --no-header t.tl |
	awk '/^(total|computation)_time/ { print $2 }')")" True
is '--linked-only lists all kernels' "$(cat linked/kernel_summary.csv)" \
	"$(cat all/kernel_summary.csv)"
tl-report -d step --step 2 t.tl
is 'a selection' "$(cat step/gpu_timeline.csv)" \
	"$(tl-timeline --step 2 --labels --format csv t.tl)"
tl-gen --rocprof --seed 3 >roc.json
tl-report -d roc roc.json
is 'sheets of rocprofv3' "$(sheets roc)" \
	"api_kernel_summary.csv category_summary.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv hip_summary.csv $idle kernel_summary.csv kernel_summary_by_category.csv kernels_by_launch_config.csv memory_copy_by_copy_bytes.csv $steps what_if.csv xla_top.csv"
tl-report -d roc2 --kernels roc.json
is 'its options' "$(sheets roc2)" \
	"api_kernel_summary.csv category_summary.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv hip_summary.csv $idle kernel_details.csv kernel_summary.csv kernel_summary_by_category.csv kernels_by_launch_config.csv memory_copy_by_copy_bytes.csv $steps what_if.csv xla_top.csv"
tl-report -d launch --launch t.tl 2>err
tl-launch -d launch.is --labels --format csv t.tl
for table in launches_by_api copies queue_length; do
	same "$table" launch/$table.csv launch.is/$table.csv
done
is 'but not each by itself' "$(find launch -name 'launches.csv')" ''
same 'the critical path' out/critical_path.csv \
	"$(tl-critical --table critical_path --labels --format csv -o path.csv t.tl && echo path.csv)"
first() { # first FILE: the rows of a page's first screen
	grep -o '{"part":[^}]*}' "$1"
}
tl-report --html all.html t.tl
tl-report --top 1 --html few.html t.tl
is '--top does not change what is summed up' "$(first few.html)" \
	"$(first all.html)"
like 'and there is something' "$(first few.html)" 'verdict.*Partly communication-bound: exposed communication is 33.6 % of 14.473 ms in 3 steps'
tl-report --top-ops 2 --top-kernels 3 --kernels --short 10us -o top.xlsx t.tl
is 'rows of a workbook' "$(for s in ops_unique_args short_kernels_summary \
	short_kernel_histogram GEMM; do
	python3 "$ROOT/tests/oracle/read_xlsx.py" top.xlsx "$s" | grep -c '^A[0-9]'
done | tr '\n' ' ')" '3 4 101 7 '
tl-report -d top --top 2 --kernels --short 10us --bins 20 t.tl
is 'and of a folder' "$(for s in ops_unique_args short_kernels_summary \
	short_kernel_histogram GEMM; do
	wc -l <top/$s.csv
done | tr '\n' ' ')" '3 3 21 3 '
tl-report -d whole --kernels t.tl
is 'a summary of kernels keeps all' "$(cat top/kernel_summary.csv)" \
	"$(cat whole/kernel_summary.csv)"
tl-report --top 2 --kernels -o whole.xlsx t.tl
is 'in a workbook, too' \
	"$(python3 "$ROOT/tests/oracle/read_xlsx.py" whole.xlsx kernel_summary |
		sed -n 's/^[A-Z]*\([0-9]*\) .*/\1/p' | sort -u | wc -l)" "$(wc -l <whole/kernel_summary.csv)"

tl-report -d by --by module --modules t.tl
is 'modules' "$(sheets by | tr ' ' '\n' | grep -e '^nn_' -e _by_m | tr '\n' ' ')" \
	'nn_modules.csv nn_modules_by_type.csv ops_by_module.csv '
is 'are those of tl-modules' "$(cat by/nn_modules.csv)" \
	"$(tl-modules --format csv --labels -c +details t.tl)"
tl-report --step 2 -d step2 t.tl
is 'collectives of a selection' "$(cat step2/coll_analysis.csv)" \
	"$(tl-filter --step 2 t.tl | tl-collective --table coll_analysis \
		--format csv --labels)"
umask 027
tl-report -d private t.tl
is 'a folder has the rights that umask gives' \
	"$(stat -c %a private private/GEMM.csv | tr '\n' ' ')" \
	'750 640 '
umask 022
mkdir 'a b'
cp "$SAMPLE" "a b/it's \$x.json.gz"
ok 'names with blanks and quotes' tl-report -d "a b/o'ut" "a b/it's \$x.json.gz"
is 'are right' "$(cat "a b/o'ut/ops_summary.csv")" "$(cat out/ops_summary.csv)"
ok 'a name like an option' sh -c 'cp t.tl ./-x && tl-report -d=x -d -out -- -x'
is 'temporary files are gone' "$(left tmp)" ''

# ---- several traces ----

tl-gen --ranks 4 -d ranks --gzip -n 2 --late-rank 2=2000000
ok 'four ranks' tl-report -d four ranks/*
# in one of them every other kernel that computes is lost
cp -r ranks lossy
python3 - <<'EOT'
import gzip, json
with gzip.open("lossy/rank-0.json.gz") as f:
    d = json.load(f)
n = 0
def keep(e):
    global n
    n += e.get("cat") == "kernel"
    return e.get("cat") != "kernel" or "nccl" in e["name"] or n % 2 == 0
d["traceEvents"] = [e for e in d["traceEvents"] if keep(e)]
with gzip.open("lossy/rank-0.json.gz", "wt") as f:
    json.dump(d, f)
EOT
tl-report -d lossy.d lossy/* 2>err
is 'one of them misleading' $? 3
like 'which is told' "$(cat err)" '^tl-report: lossy/rank-0.json.gz: misleading: .*links.no_work'
like 'and comes first' "$(tl-report lossy/* | sed -n 3,4p)" \
	'^lossy/rank-0.json.gz: misleading: '
is 'a sheet of all findings' "$(grep -c 'links.no_work' lossy.d/health.csv)" 1
is 'a column' "$(cut -d, -f1 four/ops_summary.csv | sort -u | tr '\n' ' ')" \
	'0 1 2 3 rank '
is 'sheets of collectives' "$(sheets four | tr ' ' '\n' | grep -c -e '^nccl_' \
	-e '^straggler_')" 10
is 'those of tl-collective' "$(cat four/nccl_groups.csv)" \
	"$(tl-collective --table nccl_groups --labels --format csv ranks/*)"
is 'ranks side by side' "$(cut -d, -f 1,16,17 four/gpu_timeline_by_rank.csv |
	grep -v ',$' | tail -n 1 | cut -d, -f 1,3)" '2,throttled'
like 'who is late comes first' "$(tl-report --width 300 ranks/* | grep '^[A-Z]' | sed -n 1p)" \
	'^Rank 2 arrives late\. Its part of the median rank.s exposed waiting is [0-9.]+ ms, [0-9.]+ % of 2 steps on rank [013]\. If it came on time, the job would end at most [0-9.]+ ms earlier, if nothing else holds it up\. It is late by'
ok 'a workbook of ranks' tl-report -o four.xlsx ranks/*
is 'begins with them' "$(python3 "$ROOT/tests/oracle/read_xlsx.py" four.xlsx |
	sed -n 's/^sheet "\(.*\)"$/\1/p' | head -n 7 | tr '\n' ' ')" \
	'screen summary gpu_timeline_by_rank nccl_verdict nccl_groups straggler_cause straggler_summary '
is 'links say what is there, to families of ops too' "$(python3 \
	"$ROOT/tests/oracle/read_xlsx.py" four.xlsx screen | grep -A1 -e '"GEMM"' -e '"Optimizer"' |
	sed -n 's/^B[0-9]* s - "\(.*\)"/\1/p' | sort | uniq -c | tr -s ' ')" \
	' 2 ops with a performance model, by parameters'
is 'three charts beside the summary' "$(python3 \
	"$ROOT/tests/oracle/read_xlsx.py" four.xlsx -s summary | grep -c '^chart')" 3
tl-report --format ndjson ranks/* >four.ndjson 2>err
is 'the times of the summary are means of what the ranks have' "$(python3 - four.ndjson <<'END'
import json, sys
table, rows = None, {}
for o in map(json.loads, open(sys.argv[1])):
    table = o.get("table", table)
    rows.setdefault(table, []).append(o)
ranks = [r for r in rows["window_by_rank"] if "total_ns" in r]
for name, column in (("computation", "computation_ns"), ("exposed communication", "exposed_comm_ns"),
                     ("exposed copies", "exposed_memcpy_ns"), ("idle", "idle_ns"), ("total", "total_ns")):
    mean = sum(r[column] for r in ranks) // len(ranks)
    print([r["time_ns"] - mean for r in rows["summary"] if r.get("part") == "timeline" and r["name"] == name],
          [r["note"] for r in rows["summary"] if r.get("part") == "timeline" and r["name"] == name])
END
)" "$(for _ in 1 2 3 4 5; do echo "[0] ['mean of 4 ranks']"; done)"
like 'and of which window' "$(cat four.ndjson)" '"part":"window","name":"2 steps'
tl-merge ranks/* -o merged.tl
is 'one stream of all ranks is the same' "$(tl-report merged.tl | tail -n +7)" \
	"$(tl-report ranks/* | tail -n +7)"
is 'without collectives' "$(tl-report --no-collective -d none ranks/* 2>err
	sheets none | tr ' ' '\n' | grep -c nccl)" 0
tl-report ranks/rank-0.json.gz ranks/rank-1.json.gz >screen 2>err
is 'missing ranks are a warning' "$?" 3
like 'and named' "$(cat err)" 'tl-report: 2 of 4 ranks are missing: 2,3'

# ---- another trace ----

tl-filter --step 2 -o before.tl t.tl
tl-filter --step 3 -o after.tl t.tl
ok '--vs' tl-report before.tl --vs after.tl -d vs
is 'its sheets' "$(sheets vs | tr ' ' '\n' | grep -e diff -e lca | tr '\n' ' ')" \
	'diff_ops_summary.csv diff_stats.csv diff_stats_unique_args_summary.csv diff_steps.csv lca_summary.csv '
tl-diff -d vsdiff --format csv before.tl after.tl 2>err
for sheet in diff_steps diff_ops_summary diff_stats diff_stats_unique_args_summary lca_summary; do
	same "$sheet is tl-diff's" vs/$sheet.csv vsdiff/$sheet.csv
done
tl-diff --table diff_stats --format ndjson before.tl after.tl >stats.ndjson
same 'columns of the comparison' vs/unified_perf_summary.csv \
	"$(tl-roofline --diff stats.ndjson -c +details --format csv --labels \
		before.tl >want; echo want)"
is 'they stand behind the sum' "$(head -n 1 vs/unified_perf_summary.csv |
	grep -o 'Kernel Time (µs)_sum.*_trace2_us')" \
	'Kernel Time (µs)_sum,speedup (trace2/trace1),delta_us (trace2 - trace1),lca_count_trace2,lca_id,lca_name,lca_total_kernel_time_trace1_us,lca_total_kernel_time_trace2_us'
tl-report before.tl -d alone
is 'the other sheets are the same' "$(cd alone && for f in *; do
	[ "$f" = unified_perf_summary.csv ] || cmp "$f" "../vs/$f"; done 2>&1)" ''
tl-report before.tl --vs after.tl >screen
is 'the screen begins with it' "$(sed -n 3,4p screen | paste -sd ' ')" \
	"S$(tl-diff --table diff_verdict --no-header before.tl after.tl 2>err |
		sed -n '1s/^s//p')."
is 'goes on with what changed' "$(sed -n '/^what changed/,/^$/p' screen | grep -c '^  ')" 10
is 'the first of it' "$(sed -n '/^what changed/{n;p;}' screen | awk '{ print $1, $(NF - 1), $NF }')" \
	"addmm us $(tl-diff --top 1 --no-header -c ratio before.tl after.tl 2>err |
		awk '{ printf "%.3f", $1 }')"
is 'and is else that of the first trace' \
	"$(sed -n '/^\[/,/^idle by/p' screen | sed '/^after: GPU/,/^$/d; /^recoverable: after/,/^$/d; /^idle by/d; s/^\([a-z].*\): before/\1/' | tr -s ' ')" \
	"$(tl-report before.tl | sed -n '/^\[/,/^idle by/p' | sed '/^idle by/d' | tr -s ' ')"
is 'and says so' "$(grep -o '^before: [A-Z][A-Z]U\|^[a-z].*: before' screen | tr '\n' ,)" \
	'before: MFU,before: GPU,recoverable: before,'
for side in before after; do
	tl-report --width 1000 --top 99 $side.tl >$side.screen
done
tl-report --width 1000 --top 99 before.tl --vs after.tl >screen
is 'lists have the times and shares of both, the longer first' "$(python3 -c 'import re
figure = r" +(?:([\d.,]+ \w+) +([\d.,]+ %)| {21})"
def lists(path, sides):
    found = {}
    for line in open(path):
        head = re.match(r"idle by cause|top ops|lost to the roofline", line)
        row = re.match(r"  (\S.*?)" + figure * sides + (" " if sides == 1 else "(?: |$)"), line)
        if head:
            rows = found[head[0]] = {}
        elif not line.strip():
            rows = {}
        elif row:
            rows[row[1]] = row.groups()[1:]
    return found
alone = [lists(side + ".screen", 1) for side in ("before", "after")]
unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
ns = lambda cell: float(cell.split()[0].replace(",", "")) * unit[cell.split()[1]] if cell else 0
for title, rows in lists("screen", 2).items():
    # idle time of a side with little of it is on no screen of its own
    wrong = [n for k in (0, 1) for n, cells in alone[k].get(title, {}).items()
             if n not in rows or rows[n][2 * k:2 * k + 2] != cells]
    times = [max(ns(r[0]), ns(r[2])) for r in rows.values()]
    print(title, len(rows) > 4, wrong, times == sorted(times)[::-1])')" \
	'idle by cause True [] True
top ops True [] True
lost to the roofline True [] True'
for width in 60 66 80 100 140 250; do
	is "of $width columns" "$(tl-report --width $width before.tl --vs after.tl |
		awk -v w=$width '/^idle by/ { on = 1 } /^warnings/ { on = 0 } on && length > w')" ''
done
is 'narrow ones have the times' "$(tl-report --width 60 before.tl --vs after.tl --names old,new |
	sed -n '/^idle by/p' | tr -s ' ')" 'idle by cause old new'
is 'wide ones what they are' "$(tl-report --width 140 before.tl --vs after.tl --names old,new |
	sed -n '/^top ops/p' | tr -s ' ')" 'top ops old share new share category'
is 'lists without common rows follow each other' \
	"$(tl-report before.tl --vs roc.json | grep -o '^top .*: [a-z]*' | tr '\n' ,)" \
	'top ops: before,top kernels: after,'
tl-report before.tl --vs after.tl --names old,new >screen
like '--names' "$(cat screen)" '^what changed most  *old  *new  *diff  *ratio$'
like 'in the title' "$(head -n 2 screen | tr '\n' ' ')" \
	'\(old\) against after.tl \(new\)'
tl-report t.tl --vs t.tl >screen 2>err
is 'a trace and itself: status' "$?" 0
is 'identical' "$(sed -n 3p screen)" 'The traces are identical.'
is 'nothing changed' "$(grep -c 'what changed' screen)" 0
tl-report t.tl --vs t.tl -d self 2>err
is 'ratios of 1' "$(python3 -c 'import csv
print({(r["speedup (trace2/trace1)"], r["delta_us (trace2 - trace1)"])
    for r in csv.DictReader(open("self/unified_perf_summary.csv"))})')" \
	"{('1.0', '0')}"
tl-report t.tl --vs - -d stdin <after.tl 2>err
is 'the other one on standard input' "$?" 0
tl-report --step 2 t.tl --vs t.tl -d selected 2>err
is 'a selection is of both' "$(sed 1d selected/diff_stats.csv | wc -l)" \
	"$(tl-diff --step 2 --table diff_stats --no-header t.tl t.tl 2>err | wc -l)"
tl-report before.tl --vs after.tl -o vs.xlsx
is 'the sheets of a workbook' "$(python3 "$ROOT/tests/oracle/read_xlsx.py" vs.xlsx |
	sed -n 's/^sheet "\(.*\)"$/\1/p' | head -n 12 | tr '\n' ' ')" \
	'screen summary diff_steps diff_ops_summary health advice gpu_timeline gpu_busy_kinds steps steps_vs steps_summary steps_slow '
gzip -dc "$SAMPLE" | sed 's/"cat": *"cpu_op"/"cat":"x"/' >other.json
for other in other.json roc.json; do
	tl-report t.tl --vs "$other" -d "by-$other" 2>err
	is "kernels against $other: status" "$?" 0
	is 'its sheets' "$(sheets "by-$other" | tr ' ' '\n' | grep -e diff_kernels -e diff_ops -e lca)" \
		diff_kernels.csv
	is 'no columns' "$(head -n 1 "by-$other/unified_perf_summary.csv" |
		grep -c trace2)" 0
	like 'a screen' "$(tl-report t.tl --vs "$other")" 'GPU [a-z]* '
done
is 'rocprofv3 against rocprofv3' "$(tl-report roc.json --vs roc.json -d rocs 2>err &&
	sheets rocs)" \
	"api_kernel_summary.csv category_summary.csv critical_path.csv critical_path_vs.csv diff_kernels.csv diff_steps.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv hip_summary.csv idle.csv idle_by_stream.csv idle_gaps.csv idle_vs.csv idle_window.csv kernel_summary.csv kernel_summary_by_category.csv kernels_by_launch_config.csv memory_copy_by_copy_bytes.csv $steps steps_vs.csv what_if.csv xla_top.csv"
gzip -dc "$SAMPLE" | sed 's/"cat": *"\(kernel\|gpu_[a-z]*\)"/"cat":"x"/' >idle.json
like 'against no GPU work' "$(tl-report t.tl --vs idle.json | grep ^GPU)" \
	'^GPU time .* to 0 ns \(-100.0 %\)'
gzip -dc "$SAMPLE" | head -c 500000 >half.json
refuses 1 'half.json.*cut off' 'tl-report t.tl --vs half.json -d bad'
refuses 1 'gone.json: No such file' 'tl-report t.tl --vs gone.json -d bad'
refuses 2 "CSV is one file per table: use -d DIR" 'tl-report t.tl -o x.csv'
refuses 2 "CSV is one file per table: use -d DIR" 'tl-report --format csv t.tl'
tl-report --format ndjson -d typed t.tl 2>err
is 'a folder with types' "$(head -c 23 typed/gpu_timeline.ndjson)" \
	'{"table":"gpu_timeline"'
is 'the same tables, but what is of charts' \
	"$(tl-report --format ndjson t.tl 2>err |
		sed -n 's/^{"table":"\([^"]*\)","columns.*/\1/p' |
		grep -vx -e summary -e advice -e roofs -e category_share | sort)" \
	"$(cd typed && printf '%s\n' *.ndjson | sed 's/\.ndjson//' | sort)"
tl-report t.tl -o page.html
like '-o x.html is a page' "$(head -c 15 page.html)" '^<!DOCTYPE html>'
refuses 2 'only one trace can be standard input' 'tl-report --vs - -'
refuses 2 "'--names' needs --vs" 'tl-report --names a,b t.tl'
refuses 2 'not two names' 'tl-report --names a t.tl --vs t.tl'
is 'temporary files are gone' "$(left tmp)" ''

# ---- the workbook ----

ok '-o' tl-report -o r.xlsx "$SAMPLE"
python3 "$ROOT/tests/oracle/read_xlsx.py" r.xlsx >cells 2>err
is 'a sound workbook' "$(cat err)" ''
is 'its sheets' "$(sed -n 's/^sheet "\(.*\)"$/\1/p' cells | tr '\n' ' ')" \
	"screen summary health advice gpu_timeline gpu_busy_kinds steps steps_summary steps_slow idle idle_window idle_gaps idle_by_stream\
 critical_path launches_by_api launches_by_op copies api_summary\
 ops_summary_by_category ops_summary ops_unique_args\
 roofline_by_step unified_perf_summary GEMM SDPA_fwd SDPA_bwd UnaryElementwise BinaryElementwise\
 MorePointwise Movement Normalization Optimizer Reduce_fwd Softmax coll_analysis\
 roofs "
like 'the verdict is in it' "$(cat cells)" 'B3 s - "Partly communication-bound: exposed communication is 33.6 % of 14.473 ms in 3 steps'
python3 -m zipfile -e r.xlsx r.parts
is 'the first sheet is the screen' "$(python3 "$ROOT/tests/oracle/read_xlsx.py" r.xlsx screen |
	sed -n 's/^A[0-9]* s [^ ]* //p' | jq -r . | sed '/^summary$/,$d')" \
	"$(tl-report --width 120 "$SAMPLE" | sed '/^$/d')"
is 'with a link to each other one' "$(grep -o 'location="[^"]*' r.parts/xl/worksheets/sheet1.xml |
	sed "s/location=\"'\(.*\)'!A1/\1/")" \
	"$(sed -n 's/^sheet "\(.*\)"$/\1/p' cells | sed 1d)"
python3 "$ROOT/tests/oracle/read_xlsx.py" r.xlsx -s >looks
is 'two charts beside it' "$(sed -n '/^sheet "gpu/q; p' looks |
	grep -c '^chart')" 2
ok '-d and -o' tl-report -d both -o both.xlsx t.tl
same 'the same' r.xlsx both.xlsx
is 'the same sheets' "$(cd both && cksum -- *)" "$(cd out && cksum -- *)"

# ---- programs that are missing ----

mkdir some
for program in "$B"/bin/*; do
	case $program in */tl-roofline | */tl-collective | */tl-xlsx) ;;
	*) cp "$program" some ;;
	esac
done
tl() { PATH=$TMP/some:/usr/bin:/bin "$TMP/some/tl-report" "$@"; }
ok 'goes without' tl -d without "$SAMPLE"
is 'some sheets' "$(sheets without)" "api_summary.csv copies.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv $idle $launches $ops $steps"
like 'the screen says so' "$(tl "$SAMPLE")" \
	'- tl-roofline is not installed: its sheets are missing'
refuses 1 'tl-xlsx is not installed' 'PATH=$TMP/some:/usr/bin:/bin some/tl-report -o x.xlsx t.tl'

# ---- a program that fails ----

# with PROGRAM SCRIPT: the report, with the script in place of the program
with() {
	rm -rf with out.with
	mkdir with
	for p in "$B"/bin/*; do ln -s "$p" with; done
	rm "with/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"with/$1"
	chmod +x "with/$1"
	cp --remove-destination "$B/bin/tl-report" with
	PATH=$TMP/with:/usr/bin:/bin with/tl-report -d out.with "$SAMPLE" \
		>out.w 2>err
}
with tl-ops 'exit 1'
is 'one analysis that fails is a warning' "$?" 3
like 'which is told' "$(cat err)" '^tl-report: tl-ops failed: its sheets are missing$'
ok 'the sheets of the others are there' [ -s out.with/unified_perf_summary.csv ]
ok 'its own are not' [ ! -e out.with/ops_summary.csv ]
with tl-ops 'kill -9 $$'
is 'so is one that is killed' "$?" 3
like 'with its signal' "$(cat err)" 'tl-ops was killed by signal 9'
like 'on the screen, too' \
	"$(PATH=$TMP/with:/usr/bin:/bin with/tl-report "$SAMPLE" 2>err)" \
	'- tl-ops was killed by signal 9: its sheets are missing'
with tl-tree 'kill -9 $$'
is 'without a tree there is no answer' "$?" 1
like 'and a word' "$(cat err)" '^tl-report: tl-tree was killed by signal 9$'
is 'records of it' "$(PATH=$TMP/with:/usr/bin:/bin with/tl-report \
	--status-fd 5 "$SAMPLE" 5>&1 >out.w 2>err; cat err)" \
	'{"program":"tl-report","level":"error","id":"failed","text":"tl-tree was killed by signal 9"}'

# Slurm sends USR1 before the end of a job, the system XCPU
mkdir spool
mkfifo slow
for s in USR1 XCPU TERM; do
	sleep 5 >slow &
	sleeper=$!
	TMPDIR=$TMP/spool tl-report - <slow >out.k 2>err &
	victim=$!
	while [ -z "$(ls spool)" ]; do sleep 0.05; done
	kill -$s $victim
	wait $victim
	kill $sleeper
	is "killed by $s it leaves nothing" "$(ls spool)" ''
done
# kernels that only a pattern makes collectives
pattern=$(tl-kernels -c name --no-header --top 1 "$SAMPLE" | cut -c1-12)
tl-report --comm-pattern "$pattern" -d patterned "$SAMPLE" 2>err
tl-roofline --comm-pattern "$pattern" --format csv -d roofed "$SAMPLE" 2>err
same '--comm-pattern is for tl-roofline, too' roofed/unified_perf_summary.csv patterned/unified_perf_summary.csv

is 'of one rank its number, of some how many' "$(for r in 1 0-1; do
	tl-report --rank $r ranks/* 2>/dev/null | head -n 1
done | grep -oE 'rank 1\b|^2( of [0-9]+)? ranks')" 'rank 1
2 of 4 ranks'

# ---- what goes wrong ----

refuses 2 "unknown option '--nope'" 'tl-report --nope t.tl'
refuses 2 'needs an argument' 'tl-report t.tl -d'
refuses 2 "'--overlap' adds sheets" 'tl-report --overlap t.tl'
refuses 2 "'--bins' needs --short" 'tl-report --bins 5 -d x t.tl'
refuses 2 "'--title' needs --html" 'tl-report --title x -d x t.tl'
refuses 2 'only one trace can be standard input' 'tl-report - - <t.tl'
refuses 2 'takes no argument' 'tl-report --kernels=3 t.tl'
refuses 2 "tl-report: .*'5'" 'tl-report --micro-idle 5 -d bad t.tl'
for o in '--top-ops 3' '--top-roofline 3' '--micro-idle 5us' \
	--recompute --num-kernels; do
	refuses 2 'adds sheets' "tl-report $o t.tl"
done
tl-ops --by module --no-header -c module,direct_ns_sum t.tl 2>/dev/null | sort -t "$(printf '\t')" -k2,2nr -k1,1 | head -n 1 >most
like '--by: what took most stands on the screen' "$(tl-report --by module --top 2 t.tl |
	sed -n '/^GPU time by module/,/^$/p' | sed -n 2p)" \
	"^  $(cut -f 1 most | sed 's/^$/\\(none\\)/') .*$(awk -F'\t' '{ printf "%.3f", $2 / 1e6 }' most) ms"
refuses 2 "needs .*thread or pid, not 'zz'" 'tl-report --by zz t.tl'
like '--top: rows of the screen'"'"'s lists' "$(tl-report --top 2 t.tl |
	awk '/^top ops/ { n = 0; on = 1; next } on && /^  / { n++ } /^$/ { if (on) print n; on = 0 }')" '^2$'
is 'the shares are those of all' "$(tl-report --top 2 t.tl | grep '^  aten::addmm   ')" \
	"$(tl-report t.tl | grep '^  aten::addmm   ')"
ok '-o x.json' tl-report t.tl -o all.json
tl-report t.tl -d sheets
cat >tables.py <<'END_PY'
import csv, json, os
tables = json.load(open("all.json"))["tables"]
for t in tables:
    ids = [c["id"] for c in t["columns"]]
    assert all(set(r) <= set(ids) for r in t["rows"]), t["table"]
    path = f"sheets/{t['table']}.csv"
    if os.path.exists(path):
        rows = sum(1 for _ in csv.reader(open(path))) - 1
        assert rows == len(t["rows"]), (t["table"], rows, len(t["rows"]))
missing = [f for f in os.listdir("sheets") if f[:-4] not in {t["table"] for t in tables}]
print(len(tables) > 10, missing)
END_PY
is 'it has all tables, with all their rows' "$(python3 tables.py 2>&1)" 'True []'
refuses 2 "'--width' is for the screen" 'tl-report --width 99 -d bad t.tl'
for o in '--gpus-per-node 4' --align-clocks; do
	run "tl-report $o t.tl"
	like "$o of one rank" "$(cat "$log/err")" \
		'has no effect on one rank'
done
echo '{"a": 1}' >not.json
refuses 1 'tl-report: not.json' 'tl-report -d bad -o bad.xlsx not.json'
gzip -dc "$SAMPLE" | head -c 500000 >cut.json
refuses 1 'cut off' 'tl-report -d bad -o bad.xlsx cut.json'
refuses 1 'No such file' 'tl-report -d bad gone.json'
gzip -dc "$SAMPLE" | sed 's/"cat": *"\(kernel\|gpu_[a-z]*\)"/"cat":"x"/' >none.json
run 'tl-report none.json'
is 'without GPU work it is a warning' "$rc" 3
like 'that is told' "$(cat "$log/err")" \
	'^tl-report: none.json: no GPU work in the trace'
like 'the screen is of the host' "$(cat "$log/out")" \
	'^No GPU work in the trace. The busiest of [0-9]+ host threads,'
like 'and says why' "$(cat "$log/out")" 'ProfilerActivity.CUDA'
head -c 500000 none.json >half.json
tl-decode --salvage half.json -o half.tl 2>err
tl-report --width 999 half.tl >half.out 2>err
like 'of a salvaged file the missing part is the reason' "$(cat half.out)" \
	'^No GPU work in what was salvaged; the rest of the file, which may hold some, is missing\.'
is 'and not the profiler' "$(grep -c ProfilerActivity half.out)" 0
echo '{"traceEvents":[{"ph":"X","name":"a","cat":"x","pid":1,"tid":1,"ts":0,"dur":5}]}' >other.json
like 'of another tool less is claimed' "$(tl-report other.json 2>err)" \
	'^No GPU work and no known op in the trace. Its only host thread is busy'
like 'once' "$(tl-report other.json 2>err | sed -n '/^warnings/,$p' | grep -c '^  - ')" '^1$'
is 'its sheets' "$(tl-report --modules -d host none.json 2>err; sheets host)" \
	'cpu_ops.csv cpu_ops_by_category.csv cpu_ops_by_module.csv cpu_ops_by_thread.csv cpu_ops_unique_args.csv host_timeline.csv'
tl-report --html host.html none.json 2>err
like 'the page has its tables' "$(cat host.html)" '"table":"host_timeline"'
echo '{"traceEvents":[]}' >empty.json
refuses 5 'no host time' \
	'tl-report -d bad -o bad.xlsx --html bad.html empty.json'
is 'nothing is left behind' "$(echo bad*)" 'bad*'
cat >cut.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":2,"pid":1,"tid":1},
{"ph":"X","cat":"kernel","name":"gemm","ts":9,"dur":4,"pid":0,"tid":7}]}
END
run 'tl-report cut.json'
is 'ops that launched nothing are a warning' "$rc" 3
like 'kernels are there' "$(cat "$log/out")" '^  gemm  *4.0 us  100.0 %'
like 'and why no ops' "$(cat "$log/out")" 'without a launch in the trace: no op tables'
refuses 1 '^tl-report: standard output: No space left on device$' \
	'tl-report t.tl >/dev/full'
if have_failio; then
	refuses 1 '^tl-report: .*t1.tl: No space left on device$' \
		"FAIL_PROG=tl-tree; export FAIL_PROG; $(inject write:1:ENOSPC \
			'tl-report -d bad "$SAMPLE"')"
	is 'temporary files are gone' "$(left tmp)$(echo bad*)" 'bad*'
else
	skip 'a full folder of temporary files' 'no calls can be made to fail'
fi
if have_data; then
	vllm=$TL_DATA/inference_vllm_decode_full
	tl-report -d captured --capture "$vllm/capture_traces" \
		"$vllm/graph_execution.json.gz" 2>err
	tl-graft --capture "$vllm/capture_traces" "$vllm/graph_execution.json.gz" \
		2>err | tl-ops -d grafted 2>err
	same 'ops of captured graphs' captured/ops_summary.csv \
		grafted/ops_summary.csv
else
	skip 'ops of captured graphs' 'no reference traces (TL_DATA)'
fi
refuses 1 'gone: No such file or directory: no place for temporary files' \
	'TMPDIR=gone tl-report t.tl'
awk 'BEGIN {
	s = "x"
	while (length(s) < 40000)
		s = s s
	printf "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":50,\"args\":{\"Concrete Inputs\":[\"%s\"],\"Input Dims\":[[1]]}},", s
	print "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5,\"args\":{\"correlation\":1}},"
	print "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":9,\"dur\":40,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}]}"
}' >long.json
tl-report -o long.xlsx -d long long.json 2>err
is 'a long text is no warning' "$?" 0
like 'but told' "$(cat err)" '^tl-report: .* 32767 char'
is 'and whole in the CSV' "$(grep -c "$(printf 'x%.0s' $(seq 40000))" \
	long/ops_unique_args.csv)" 1
refuses 1 't.tl.x: Not a directory' 'tl-report -d t.tl/x t.tl'
gzip -dc "$SAMPLE" | sed 's/"cat": *"cpu_op"/"cat":"x"/' >noops.json
tl-report noops.json >screen 2>err
is 'without ops: status' "$?" 0
like 'without ops: a warning' "$(cat screen)" 'no ops in the trace: no op tables'
tl-gen --no-shapes | tl-report >screen 2>err
like 'without shapes: a warning' "$(cat screen)" 'of op time has no recorded shapes'
is 'temporary files are gone' "$(left tmp)" ''

# ---- little but communication ----

cat >comm.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":0,"dur":50,"args":{"External id":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1,"External id":5}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum","pid":0,"tid":7,"ts":20,"dur":300,"args":{"device":0,"stream":7,"correlation":1,"Collective name":"allreduce","dtype":"Float","In msg nelems":64,"Out msg nelems":64,"Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}],
"distributedInfo":{"rank":0,"world_size":2}}
END
tl-report comm.json >out.comm 2>err
is 'nothing but communication: a report with a warning' "$?" 3
like 'which says why' "$(cat err out.comm)" 'ops launched only communication'
like 'of the time' "$(cat out.comm)" 'exposed communication is 100.0 %'
like 'and of the kernels' "$(cat out.comm)" 'ncclDevKernel_AllReduce_Sum  *300.0 us'
tl-report -d onlycomm comm.json 2>err
is 'less than 1 ms of it has its sheet, too' "$(sheets onlycomm)" \
	"api_summary.csv coll_analysis.csv critical_path.csv gpu_busy_kinds.csv gpu_timeline.csv health.csv idle_window.csv $launches steps.csv steps_summary.csv"

# A signal to it alone, while tl-tree waits for its input.
cat >stop.py <<'END'
import os, signal, subprocess, sys, time
os.mkfifo("fifo")
signal.signal(signal.SIGINT, signal.SIG_DFL)
job = subprocess.Popen(["tl-report", "-d", "int", "fifo"])
with open("fifo", "wb") as hold:
    while not os.listdir("tmp"):
        time.sleep(0.05)
    job.send_signal(getattr(signal, sys.argv[1]))
    print(job.wait(timeout=20))
os.remove("fifo")
END
is 'SIGTERM ends it' "$(python3 stop.py SIGTERM 2>err)" 143
is 'SIGINT ends it' "$(python3 stop.py SIGINT 2>err)" 130
is 'and nothing is left' "$(left tmp)$(echo int*)" 'int*'

# ---- the page ----

is 'help names each option of the page' "$(tl-report --help |
	grep -o -e '--[a-z-]*' | sort -u | while read -r o; do
	grep -q "Fl.* -*${o#--}" "$ROOT/man/tl-report.1" || echo "$o"
done | tr '\n' ' ')" '--help --status-fd --version '
like 'version' "$(tl-report --version)" '^tl-report \(tl\) .*, stream 1$'
page_examples tl-report.1
done_testing
