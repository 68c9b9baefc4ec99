#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report: the screen, the sheets, the workbook, and what goes wrong.
. tests/cli/lib.sh

# The sheets depend on what could be built.
for program in tl-roofline tl-collective tl-xlsx; do
	[ -x "$B/bin/$program" ] || skip_all "$program is not built"
done

sheets() { # the names of files in a folder, on one line
	(cd "$1" && echo *)
}
left() { # what is left in a folder of temporary files
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
is 'temporary files are gone' "$(left tmp)" ''

# ---- sheets ----

ops='ops_summary.csv ops_summary_by_category.csv ops_unique_args.csv'
ok '-d' tl-report -d out "$SAMPLE"
is 'the sheets' "$(sheets out)" "BinaryElementwise.csv GEMM.csv MorePointwise.csv\
 Movement.csv Normalization.csv Optimizer.csv Reduce_fwd.csv SDPA_bwd.csv\
 SDPA_fwd.csv Softmax.csv UnaryElementwise.csv coll_analysis.csv\
 gpu_timeline.csv $ops unified_perf_summary.csv"
for program in timeline ops roofline; do
	tl-$program -d "$program" t.tl 2>/dev/null
	(cd "$program" && for f in *; do cmp "$f" "../out/$f"; done) >differ 2>&1
	is "the sheets are those of tl-$program" "$(cat differ)" ''
done
tl-report -d few --no-collective --kernels --short 5us --top 2 t.tl
is 'sheets of options' "$(sheets few | tr ' ' '\n' | grep -e kernel -e coll |
	tr '\n' ' ')" \
	'kernel_summary.csv short_kernel_histogram.csv short_kernels_summary.csv '
is '--top' "$(wc -l <few/ops_summary.csv)" 3
tl-report -d over --overlap --recompute --first-occurrence --num-kernels t.tl
is '--overlap' "$(sheets over | tr ' ' '\n' | grep -c kl_overlap)" 13
like 'columns of options' "$(head -n 1 over/ops_unique_args.csv)" \
	'num_kernels,is_recompute,operation_count,first_occurrence_time'
tl-report -d micro --micro-idle 5us --linked-only t.tl
is 'options of tl-timeline' "$(cat micro/gpu_timeline.csv)" \
	"$(tl-timeline --micro-idle 5us --linked-only --labels --format csv t.tl)"
tl-report -d step --step 2 t.tl
is 'a selection' "$(cat step/gpu_timeline.csv)" \
	"$(tl-timeline --step 2 --labels --format csv t.tl)"
tl-gen --rocprof --seed 3 >roc.json
tl-report -d roc roc.json
is 'sheets of rocprofv3' "$(sheets roc)" \
	'gpu_timeline.csv kernel_summary.csv kernel_summary_by_category.csv'
tl-report -d roc2 --kernels --no-kernels roc.json
is 'its options' "$(sheets roc2)" 'gpu_timeline.csv kernel_details.csv'
mkdir 'a b'
cp "$SAMPLE" "a b/it's \$x.json.gz"
ok 'names with blanks and quotes' tl-report -d "a b/o'ut" "a b/it's \$x.json.gz"
is 'are right' "$(cat "a b/o'ut/ops_summary.csv")" "$(cat out/ops_summary.csv)"
ok 'a name like an option' sh -c 'cp t.tl ./-x && tl-report -d=x -d -out -- -x'
is 'temporary files are gone' "$(left tmp)" ''

# ---- several traces ----

tl-gen --ranks 2 -d ranks --gzip -n 2
ok 'two ranks' tl-report -d two ranks/*
is 'a column' "$(cut -d, -f1 two/ops_summary.csv | sort -u | tr '\n' ' ')" \
	'0 1 rank '
like 'a screen of two' "$(tl-report ranks/*)" 'of 2 ranks together'

# ---- the workbook ----

ok '-o' tl-report -o r.xlsx "$SAMPLE"
python3 "$ROOT/tests/oracle/read_xlsx.py" r.xlsx >cells 2>err
is 'a sound workbook' "$(cat err)" ''
is 'its sheets' "$(sed -n 's/^sheet "\(.*\)"$/\1/p' cells | tr '\n' ' ')" \
	"summary gpu_timeline ops_summary_by_category ops_summary ops_unique_args\
 unified_perf_summary GEMM SDPA_fwd SDPA_bwd BinaryElementwise UnaryElementwise\
 Normalization Reduce_fwd Softmax Movement MorePointwise Optimizer coll_analysis\
 roofs "
like 'the verdict is in it' "$(cat cells)" 'B3 s - "Of 14.465 ms the GPU'
python3 "$ROOT/tests/oracle/read_xlsx.py" r.xlsx -s >looks
is 'two charts' "$(grep -c -i 'chart' looks)" 2
ok '-d and -o' tl-report -d both -o both.xlsx t.tl
same 'the same' r.xlsx both.xlsx
is 'the same sheets' "$(sheets both)" "$(sheets out)"

# ---- programs that are missing ----

mkdir some
for program in "$B"/bin/*; do
	case $program in */tl-roofline | */tl-collective | */tl-xlsx) ;;
	*) ln -s "$program" some ;;
	esac
done
tl() { PATH=$TMP/some:/usr/bin:/bin "$TMP/some/tl-report" "$@"; }
ok 'goes without' tl -d without "$SAMPLE"
is 'some sheets' "$(sheets without)" "gpu_timeline.csv $ops"
like 'the screen says so' "$(tl "$SAMPLE")" \
	'- tl-roofline is not installed: its sheets are left out'
refuses 1 'tl-xlsx is not installed' 'PATH=$TMP/some:/usr/bin:/bin some/tl-report -o x.xlsx t.tl'

# ---- what goes wrong ----

refuses 2 "unknown option '--nope'" 'tl-report --nope t.tl'
refuses 2 'needs an argument' 'tl-report t.tl -d'
refuses 2 'takes no argument' 'tl-report --kernels=3 t.tl'
refuses 2 'ambiguous option' 'tl-report --no t.tl'
refuses 2 "tl-timeline: .*'5'" 'tl-report --micro-idle 5 t.tl'
echo '{"a": 1}' >not.json
refuses 1 'tl-decode: not.json' 'tl-report -d bad -o bad.xlsx not.json'
gzip -dc "$SAMPLE" | head -c 500000 >cut.json
refuses 1 'cut off' 'tl-report -d bad -o bad.xlsx cut.json'
refuses 1 'No such file' 'tl-report -d bad gone.json'
gzip -dc "$SAMPLE" | sed 's/"cat": *"\(kernel\|gpu_[a-z]*\)"/"cat":"x"/' >none.json
refuses 1 'tl-timeline: none.json: no GPU event' \
	'tl-report -d bad -o bad.xlsx none.json'
is 'nothing is left behind' "$(echo bad*)" 'bad*'
refuses 1 'No space left' 'tl-report t.tl >/dev/full'
refuses 1 'a folder' 'tl-report -d t.tl/x t.tl'
gzip -dc "$SAMPLE" | sed 's/"cat": *"cpu_op"/"cat":"x"/' >noops.json
tl-report noops.json >screen 2>err
is 'without ops: status' "$?" 0
like 'without ops: a warning' "$(cat screen)" 'holds no ops of the host'
tl-gen --no-shapes | tl-report >screen 2>err
like 'without shapes: a warning' "$(cat screen)" 'have no shapes'
is 'temporary files are gone' "$(left tmp)" ''

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
done | tr '\n' ' ')" '--help --version '
like 'version' "$(tl-report --version)" '^tl-report \(tl\) .*, stream 1$'
page_examples tl-report.1
done_testing
