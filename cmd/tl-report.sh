#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tl-report: what did the time go on, in one command.
#
# A script over the programs beside it: each trace becomes one tree file in a
# temporary folder, the analyses run side by side on it, and what they print
# becomes a screen (tl-summary), a folder of sheets, a workbook or a page.

set -u
LC_ALL=C
export LC_ALL

# --long, -s, ARGUMENT, who gets it, help. Who: r tl-report itself, t
# tl-timeline, o tl-ops, k tl-kernels, f tl-roofline, c tl-collective, m
# tl-modules, s all that choose events.
option_rows="--agg-metrics||AGG,...|c|of nccl_summary_*: mean, median, p95, ...
--align-clocks|||c|take estimated offsets between ranks' clocks out
--arch||NAME|f|the GPU: auto, a name or a JSON file
--bins||N|rk|bins of short_kernel_histogram
--by||WHAT|o|a sheet of ops by module, annotation, step or thread
--call-stack|||rf|where in the program ops were called from
--comm-pattern||RE|tok|kernels that are collectives, besides nccl and rccl
--dir|-d|DIR|r|each sheet as a CSV file into DIR
--first-occurrence|||o|when each op came first
--fold||FILE|r|GPU time by stack into FILE, for flame graphs
--gpus-per-node||N|c|of several ranks: GPUs of a node
--html||FILE|r|one page, for a browser
--inductor-cache||DIR|f|where torch.compile left its wrapper files
--keep-unowned|||k|short kernels without an op, too
--kernels|||r|the sheet kernel_summary, of rocprofv3 kernel_details
--linked-only|||tk|only GPU work whose launch is in the trace
--micro-idle||TIME|t|idle time in gaps below TIME, and from it on
--models||FILE|okf|add or replace op models, see tl-models(5)
--modules|||r|the sheets nn_modules_by_type and nn_modules
--no-collective|||r|no sheets of collectives
--no-kernels|||r|of rocprofv3: no kernel sheets
--num-kernels|||of|ops apart by the number of their kernels
--output|-o|FILE|r|a workbook, which appears only when whole
--overlap|||of|ops apart by what ran beside
--pseudo-ops|||f|take ops apart that hide several steps
--recompute|||of|recomputed work apart
--roof||WHICH|f|peak or achievable
--short||TIME|rk|sheets about kernels below TIME (10us)
--sim||COMMAND|f|times of GEMMs from this program
--title||TEXT|r|of the page
--top||N|r|the first N rows of each sheet of ops and kernels
--top-kernels||N|r|of those of kernels only
--top-ops||N|r|of those of tl-ops only
--top-roofline||N|r|of those of tl-roofline only
--wide|||c|columns for each of over 16 ranks
--width||N|r|columns of the screen
--world-size||N|c|ranks of the job
--annotation||NAME[#N]|s|in annotations like NAME; only the Nth
--by-gpu-time|||s|GPU work by its own start, not its launch's
--dev||DEV,...|s|of these devices, as 0,2-3
--from||TIME|s|from TIME after the source's first event on
--gpu-stream||STREAM,...|s|of these GPU streams
--rank||RANK,...|s|of the sources of these ranks
--step||STEP,...|s|in these steps, as 3-7, first or last
--to||TIME|s|before TIME after the first event
--help|||r|this text
--version|||r|the program's and the stream's version"

synopsis='[OPTIONS] [TRACE...]'

say() {
	printf 'tl-report: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

die_usage() {
	say "$@"
	printf "usage: tl-report %s\ntry 'tl-report --help'\n" "$synopsis" >&2
	exit 2
}

help() {
	printf 'usage: tl-report %s\n' "$synopsis" || exit 1
	echo 'what did the time go on, and what bounds it'
	printf '\noptions:\n'
	printf '%s\n' "$option_rows" | awk -F'|' '{
		left = ($2 == "" ? "    " : "  " $2 ",") " " $1
		if ($3 != "")
			left = left " " $3
		printf "  %-27s%s\n", substr(left, 2) , $5
	}' | sed 's/^ //'
	printf '\nexample:\n  tl-report trace.json.gz -o report.xlsx\n'
	printf '\nSee tl-report(1).\n'
}

# ---- the command line ----

dir='' page='' book='' folded='' kernels='' modules='' short='' collective=y
rocprof_kernels=y title='' width='' ntraces=0 traces='' top_o='' top_k='' top_f=''
for_t='' for_o='' for_k='' for_f='' for_c='' chosen=''

quote() { # quote TEXT: into $quoted, for eval
	quoted='' rest=$1
	while case $rest in *\'*) ;; *) false ;; esac do
		quoted=$quoted${rest%%\'*}"'\\''"
		rest=${rest#*\'}
	done
	quoted="'$quoted$rest'"
}

# find NAME: its row of options into long, argument and who.
find() {
	found=0 long=''
	set -f
	old_ifs=$IFS
	IFS='
'
	# shellcheck disable=SC2086 # a row a line
	for o_row in $option_rows; do
		o_long=${o_row%%|*} o_rest=${o_row#*|}
		o_short=${o_rest%%|*} o_rest=${o_rest#*|}
		case $1 in
		"$o_long" | "${o_short:-$o_long}") found=1 exact=y ;;
		*)
			case $1:$o_long in
			--?*:"$1"*) found=$((found + 1)) exact='' ;;
			*) continue ;;
			esac ;;
		esac
		long=$o_long argument=${o_rest%%|*} o_rest=${o_rest#*|}
		who=${o_rest%%|*}
		[ -z "$exact" ] || break
	done
	set +f
	IFS=$old_ifs
	[ "$found" -ne 0 ] || die_usage "unknown option '$1'"
	[ "$found" -eq 1 ] || die_usage "ambiguous option '$1'"
}

own_option() { # own_option LONG VALUE
	case $1 in
	--dir) dir=$2 ;;
	--fold) folded=$2 ;;
	--html) page=$2 ;;
	--kernels) kernels=y ;;
	--modules) modules=y ;;
	--no-collective) collective='' ;;
	--no-kernels) rocprof_kernels='' ;;
	--output) book=$2 ;;
	--short) short=y ;;
	--title) title=$2 ;;
	--top*)
		case $2 in
		*[!0-9]* | '' | ??????????*) die_usage "option '$1': '$2' is no number of rows" ;;
		esac
		# shellcheck disable=SC2249 # these are all
		case $1 in
		--top) top_o=$2 top_k=$2 top_f=$2 ;;
		--top-kernels) top_k=$2 ;;
		--top-ops) top_o=$2 ;;
		--top-roofline) top_f=$2 ;;
		esac ;;
	--width)
		case $2 in
		*[!0-9]* | '' | ??????*) die_usage "option '--width': '$2' is no number of columns" ;;
		esac
		width=$2 ;;
	--help) help; exit ;;
	--version) echo 'tl-report (tl) @VERSION@, stream 1'; exit ;;
	esac
}

take() { # take LONG WHO [VALUE]
	word=$1
	if [ $# -eq 3 ]; then
		quote "$3"
		word="$1=$quoted"
	fi
	case $2 in *t*) for_t="$for_t $word" ;; esac
	case $2 in *o*) for_o="$for_o $word" ;; esac
	case $2 in *k*) for_k="$for_k $word" ;; esac
	case $2 in *f*) for_f="$for_f $word" ;; esac
	case $2 in *c*) for_c="$for_c $word" ;; esac
	case $2 in *s*) chosen="$chosen $word" ;; esac
	case $2 in *r*) own_option "$1" "${3-}" ;; esac
}

operand() {
	quote "$1"
	traces="$traces $quoted"
	ntraces=$((ntraces + 1))
}

while [ $# -gt 0 ]; do
	case $1 in
	--) shift; break ;;
	--complete)
		printf '%s\n' "$option_rows" | awk -F'|' '{ print $1 "\t" $2 "\t" $3 "\t" $5 }'
		exit ;;
	--*=*)
		find "${1%%=*}"
		[ -n "$argument" ] || die_usage "option '$long' takes no argument"
		take "$long" "$who" "${1#*=}" ;;
	-?*)
		value=''
		case $1 in
		--*) find "$1" ;;
		*)
			value=${1#-?}
			find "${1%"$value"}" ;;
		esac
		if [ -z "$argument" ]; then
			[ -z "$value" ] || die_usage "option '$long' takes no argument"
			take "$long" "$who"
		elif [ -n "$value" ]; then
			take "$long" "$who" "$value"
		else
			[ $# -gt 1 ] ||
				die_usage "option '$long' needs an argument ($argument)"
			take "$long" "$who" "$2"
			shift
		fi ;;
	*) operand "$1" ;;
	esac
	shift
done
for trace do
	operand "$trace"
done
[ "$ntraces" -gt 0 ] || operand -
for_t="$for_t$chosen" for_o="$for_o$chosen" for_k="$for_k$chosen"
for_f="$for_f$chosen"

# ---- files that come and go ----

case $0 in */*) PATH=${0%/*}:$PATH ;; esac
export PATH

tmp='' stage='' made='' status=0 pids=''

# shellcheck disable=SC2317 # called by trap
clean_up() {
	rc=$?
	trap '' INT TERM HUP
	# shellcheck disable=SC2086 # a list
	[ -z "$pids" ] || kill $pids 2>/dev/null
	[ -z "$tmp$stage" ] || rm -rf ${tmp:+"$tmp"} ${stage:+"$stage"}
	[ "$rc" -eq 0 ] || [ "$rc" -eq 3 ] || [ -z "$made" ] ||
		rmdir "$made" 2>/dev/null
	exit "$rc"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

temporary=${TMPDIR:-/tmp}
tmp=$(mktemp -d "$temporary/tl-report.XXXXXX" 2>&1) || {
	why=${tmp##*: } tmp=''
	die "$temporary: $why: no place for temporary files (TMPDIR)"
}
mkdir "$tmp/n" "$tmp/n/more" "$tmp/err" || exit 1

have() {
	command -v "$1" >/dev/null
}

missing='' # programs that a sheet needs and that are not there
for program in tl-tree tl-timeline tl-cat tl-summary; do
	have $program || die "$program is not installed, and nothing goes without it"
done
for program in tl-ops tl-kernels tl-roofline ${collective:+tl-collective} \
	${modules:+tl-modules} ${folded:+tl-fold}; do
	have "$program" || missing="$missing $program"
done
if [ -n "$book" ]; then
	have tl-xlsx || die "tl-xlsx is not installed: no workbook (-d DIR writes CSV)"
fi
if [ -n "$page" ]; then
	have tl-html || die "tl-html is not installed: no page"
fi

# worst STATUS: what the report exits with.
worst() {
	case $1 in
	0) ;;
	3) [ "$status" -ne 0 ] || status=3 ;;
	2) [ "$status" -eq 1 ] || status=2 ;;
	*) status=1 ;;
	esac
}

# ---- programs side by side ----

# start NAME COMMAND: in the background, its messages into err/NAME.
njobs=0
start() {
	eval "$2" >"$tmp/err/$1.out" 2>"$tmp/err/$1" &
	pids="$pids $!"
	names="${names-} $1"
	njobs=$((njobs + 1))
}

# An analysis that has nothing to say of a trace is a doubt, not a failure, as
# long as the timeline has an answer.
excused() { # excused NAME
	case $1 in timeline* | tree*) return 1 ;; esac
	grep -Eq 'GPU events? (has|have) (its|their) launch|no op owns|no GPU event|no collective|no Python frames|nothing to' \
		"$tmp/err/$1"
}

# finish: waits for all and adds up what they say.
finish() {
	# shellcheck disable=SC2086 # lists
	set -- ${names-}
	all=$pids
	for pid in $all; do
		wait "$pid"
		rc=$?
		pids=${pids#" $pid"}
		if [ "$rc" -eq 1 ] && excused "$1"; then rc=3; fi
		worst "$rc"
		[ -z "$loud" ] && [ "$rc" -eq 0 ] || said="$said $1"
		shift
	done
	names=''
}

# told HOW FILE...: messages, each once, of the traces instead of their trees:
# say them as they are, or note what is new in them.
told() {
	how=$1
	shift
	awk -v how="$how" -v tmp="$tmp/t" '
		FILENAME == ARGV[1] { name[FNR] = $0; next }
		(at = index($0, tmp)) && !/No space left|read-only/ {
			rest = substr($0, at + length(tmp))
			n = rest
			sub(/\.tl.*/, "", n)
			sub(/^[0-9]*\.tl/, "", rest)
			$0 = substr($0, 1, at - 1) name[n + 0] rest
		}
		how == "note" && /(have|has) no launch in the trace/ { next }
		{
			text = $0
			sub(/^tl-[a-z]*: /, "", text)
			if (!seen[text]++)
				print how == "note" ? text : $0
		}' "$tmp/names" "$@"
}

# speak: what the programs said.
said='' loud=''
speak() {
	# shellcheck disable=SC2086 # a list
	set -- $said
	said=''
	[ $# -gt 0 ] || return 0
	for name do
		set -- "$@" "$tmp/err/$name"
		shift
	done
	told say "$@" >&2
}

fail() { # nothing was answered
	speak
	[ "$status" -eq 2 ] && exit 2
	exit 1
}

is_bad() {
	[ "$status" -eq 1 ] || [ "$status" -eq 2 ]
}

# ---- a tree of each trace ----

trees='' t=0
if [ -e /dev/fd/0 ]; then exec 3<&0; else exec 3</dev/null; fi
[ "$ntraces" -eq 1 ] || cores=$(nproc 2>/dev/null || echo 2)
eval "set -- $traces"
for trace do
	t=$((t + 1))
	tree=$tmp/t$t.tl
	quote "$tree"
	trees="$trees $quoted"
	name=$trace
	case $name in
	-) name=stdin ;;
	*[[:cntrl:]]*) name=$(printf %s "$name" | tr '[:cntrl:]' '?') ;;
	esac
	printf '%s\n' "$name" >>"$tmp/names"
	if [ "$ntraces" -eq 1 ]; then
		# in the background, so that a signal need not wait for its end
		tl-tree -o "$tree" -- "$trace" <&3 3<&- 2>"$tmp/err/tree" &
		pids=$!
		wait "$pids"
		worst $?
		pids=''
		[ ! -s "$tmp/err/tree" ] || said=tree
		continue
	fi
	quote "$trace"
	start "tree$t" "tl-tree -o '$tree' -- $quoted <&3"
	[ "$njobs" -lt "$cores" ] || { finish; njobs=0; }
done
[ "$ntraces" -eq 1 ] || finish
exec 3<&-
! is_bad || { status=1; fail; }
speak

header() { # into a file, once
	[ ! -f "$tmp/n/more/header.ndjson" ] || return 0
	for file in "$tmp"/t*.tl; do
		tl-cat --header --ndjson "$file" || exit 1
	done >"$tmp/n/more/header.ndjson"
}

has_ops='' is_rocprof='' is_several=''
for file in "$tmp"/t*.tl; do
	id=$(tl-cat --only op --head 1 --no-header -F kind "$file") || exit 1
	[ -z "$id" ] || { has_ops=y; break; }
done
if [ -z "$has_ops" ]; then
	header
	! grep -q '"format":"rocprofv3"' "$tmp/n/more/header.ndjson" || is_rocprof=y
fi

# ---- analyses ----

# look FILE: whether the timeline is of several ranks, and has collectives.
look() {
	communicates=''
	{
		IFS= read -r row
		case $row in
		*'"id":"rank"'* | *'"id":"src"'* | rank,* | src,*) is_several=y ;;
		esac
		while IFS= read -r row; do
			case $row in
			*total_comm_time,0[,.]* | *'total_comm_time","time_ns":0,'*) ;;
			*total_comm_time*) communicates=y ;;
			esac
		done
	} <"$1"
} 2>/dev/null

# collectives TO DIR: the sheets of collectives, of one rank or of all.
collectives() {
	have tl-collective && [ -n "$collective$communicates" ] || return 0
	if [ -n "$is_several" ]; then
		start collective "tl-collective $1 $for_c $chosen -- $trees"
	else
		start collective "tl-collective --table coll_analysis $1 $chosen -- $trees"
	fi
}

# analyse DIR FORMAT TOPS: all sheets that were asked for; what else a summary
# needs goes into DIR/more. TOPS: rows are cut here, not after the summary.
analyse() {
	quote "$1"
	in=$quoted
	to="--format $2 -d $in"
	now_o="$for_o${3:+${top_o:+ --top $top_o}}"
	now_k="$for_k${3:+${top_k:+ --top $top_k}}"
	now_f="$for_f${3:+${top_f:+ --top $top_f}}"
	if [ -n "$has_ops" ]; then
		! have tl-roofline || start roofline "tl-roofline $to $now_f -- $trees"
		! have tl-ops || start ops "tl-ops $to $now_o -- $trees"
	fi
	# It is done before the others, and says whether there are collectives.
	eval "tl-timeline $to $for_t -- $trees" 2>"$tmp/err/timeline"
	rc=$?
	worst $rc
	[ -z "$loud" ] && [ "$rc" -eq 0 ] || said="$said timeline"
	[ "$rc" -eq 1 ] || [ "$rc" -eq 2 ] || look "$1/gpu_timeline.$2"
	[ -z "$has_ops$is_several" ] || [ -z "$collective" ] ||
		[ -z "${communicates-}" ] || collectives "$to"
	if have tl-kernels; then
		[ -z "$kernels$short$is_rocprof" ] ||
			start kernels "tl-kernels --format $2 -d $in/more $now_k -- $trees"
		[ -n "$has_ops$3" ] || start names \
			"tl-kernels --format $2 -o $in/more/by_name.$2 $for_k -- $trees"
	fi
	if [ -n "$modules" ] && have tl-modules; then
		start modules "tl-modules $to $chosen -- $trees"
		start types "tl-modules --fold $to $chosen -- $trees"
	fi
	if [ -n "$folded" ] && have tl-fold; then
		quote "$folded"
		start fold "tl-fold $chosen -o $quoted -- $trees"
		folded=''
	fi
	finish
	! is_bad || fail
	keep=''
	if [ -n "$is_rocprof" ]; then
		[ -z "$rocprof_kernels" ] ||
			keep='kernel_summary kernel_summary_by_category'
		[ -z "$kernels" ] || keep="$keep kernel_details"
	elif [ -n "$kernels" ]; then
		keep=kernel_summary
	fi
	[ -z "$short" ] || keep="$keep short_kernels_summary short_kernel_histogram"
	for sheet in $keep; do
		[ ! -f "$1/more/$sheet.$2" ] || mv "$1/more/$sheet.$2" "$1/"
	done
}

# ---- what is asked for ----

# sheets DIR FORMAT: the files of the sheets in the reference's order, and
# behind them what it does not have.
sheets() {
	{
		printf '%s\n' summary gpu_timeline_by_rank nccl_groups \
			straggler_cause straggler_summary gpu_timeline \
			category_share
		[ -n "$has_ops" ] || printf '%s\n' kernel_summary \
			kernel_summary_by_category kernel_details \
			short_kernels_summary
		printf '%s\n' ops_summary_by_category ops_summary ops_unique_args \
			ops_unique_args_kl_overlap unified_perf_summary diff_stats \
			unified_perf_summary_kl_overlap
		! have tl-roofline || tl-roofline --list-tables | awk -F'\t' '
			NR > 1 {
				if ($1 ~ /_bwd$/)
					next
				stem = $1
				if (!sub(/_fwd$/, "", stem)) {
					print $1 "\n" $1 "_kl_overlap"
					next
				}
				print stem "_fwd\n" stem "_bwd"
				print stem "_fwd_kl_overlap\n" stem "_bwd_kl_overlap"
			}'
		printf '%s\n' kernel_summary short_kernel_histogram \
			short_kernels_summary coll_analysis nccl_long \
			nccl_summary_long nccl_implicit_sync \
			nccl_summary_implicit_sync nccl_all2allv \
			nccl_summary_all2allv nn_modules_by_type nn_modules
		cd "$1" && for file in *."$2"; do
			echo "${file%."$2"}"
		done
	} | with_rows "$1" "$2"
}

# with_rows DIR FORMAT: of the sheets on stdin the files that have rows.
with_rows() {
	awk -v dir="$1" -v ext="$2" '
		{ sub("[.]" ext "$", "") }
		!seen[$0]++ {
			file = dir "/" $0 "." ext
			lines = 0
			while (lines < 3 && (getline line <file) > 0)
				lines++
			close(file)
			# a header, and an end where there is one
			if (lines > (ext == "ndjson" ? 2 : 1) ||
			    (lines > 0 && /^short_kernel/))
				print file
		}'
}

# cut_rows N FILE...: what --top leaves of sheets that the summary has read.
cut_rows() {
	n=$1
	shift
	for file do
		case $file in *_histogram.*) continue ;; esac
		[ -f "$file" ] || continue
		awk -v n="$n" '
			/^\{"end":/ { print "{\"end\":{\"rows\":" rows + 0 "}}"; next }
			NR == 1 || rows < n { rows += NR > 1; print }' \
			"$file" >"$file.cut" && mv "$file.cut" "$file" || exit 1
	done
}

cut_tops() {
	[ "${top_o:-0}" -eq 0 ] || cut_rows "$top_o" "$tmp"/n/*ops_*.ndjson
	[ "${top_k:-0}" -eq 0 ] || cut_rows "$top_k" "$tmp"/n/*kernel*.ndjson
	[ "${top_f:-0}" -ne 0 ] || return 0
	set -- "$top_f"
	for file in "$tmp"/n/*.ndjson; do
		case ${file##*/} in
		*ops_* | *kernel* | gpu_* | coll_* | nccl_* | straggler_* | nn_* | summary.*) ;;
		*) set -- "$@" "$file" ;;
		esac
	done
	cut_rows "$@"
}

# summarise: the screen on stdout, and for the others the same as a table. What
# the programs said while they were fine is a warning; the rest was said.
summarise() {
	header
	{
		told note "$tmp"/err/timeline "$tmp"/err/[!t]*
		for program in $missing; do
			echo "$program is not installed: its sheets are left out"
		done
	} 2>/dev/null >"$tmp/n/more/notes.txt"
	set -- --table "$tmp/n/summary.ndjson" --roofs "$tmp/n/more/roofs.ndjson" "$tmp/n"
	[ -z "$is_several" ] || set -- --ranks "$tmp/n/gpu_timeline_by_rank.ndjson" \
		--categories "$tmp/n/category_share.ndjson" "$@"
	[ -z "$width" ] || set -- --width "$width" "$@"
	tl-summary "$@"
}

# list: every sheet that has rows, and the lines of the chart, as arguments.
list() {
	list=$(sheets "$tmp/n" ndjson)
	[ ! -f "$tmp/n/more/roofs.ndjson" ] || list="$list
$tmp/n/more/roofs.ndjson"
}

is_chartable() { # is_chartable FILE: has a table more than one row
	[ -f "$1" ] && [ "$(head -n 4 "$1" | wc -l)" -gt 3 ]
}

# ranks_csv: the sheet of ranks side by side, which the summary makes.
ranks_csv() {
	to="--format ndjson -d '$tmp/n'"
	eval "tl-timeline $to $for_t -- $trees" 2>/dev/null
	[ ! -f "$stage/straggler_cause.csv" ] || eval "tl-collective $to $for_c $chosen -- $trees" 2>/dev/null
	tl-summary --ranks "$stage/gpu_timeline_by_rank.csv" "$tmp/n" >/dev/null || exit 1
}

write_dir() {
	case $dir in */) ;; *) dir=$dir/ ;; esac
	case $dir in /*) ;; *) dir=./$dir ;; esac
	if [ ! -d "$dir" ]; then
		mkdir -p -- "$dir" 2>/dev/null || die "$dir: cannot be made a folder"
		made=$dir
	fi
	stage=$(mktemp -d "$dir.tl-report.XXXXXX" 2>&1) || {
		why=${stage##*: } stage=''
		die "$dir: $why"
	}
	loud=y
	analyse "$stage" csv y
	speak
	[ -z "$is_several" ] || ranks_csv
	list=$( (cd "$stage" && printf '%s\n' *.csv) | with_rows "$stage" csv)
	IFS='
'
	# shellcheck disable=SC2086 # a file a line
	mv -f $list "$dir" || exit 1
	unset IFS
	made=''
}

write_book() {
	list
	IFS='
'
	# shellcheck disable=SC2086 # a file a line
	set -- $list
	unset IFS
	is_drawn=''
	if [ -f "$tmp/n/gpu_timeline_by_rank.ndjson" ]; then
		set -- "$@" --chart "stacked:gpu_timeline_by_rank:${by_rank}:computation_ns,exposed_comm_ns,exposed_memcpy_ns,idle_ns" \
			--title 'Time of each rank'
		is_drawn=y
	fi
	if [ -f "$tmp/n/category_share.ndjson" ]; then
		! is_chartable "$tmp/n/category_share.ndjson" ||
			set -- "$@" --chart pie:category_share:op_category:time_ns \
				--title 'GPU time by category, all ranks'
	elif is_chartable "$tmp/n/ops_summary_by_category.ndjson"; then
		set -- "$@" --chart pie:ops_summary_by_category:op_category:direct_ns \
			--title 'GPU time by category of op'
		is_drawn=y
	elif [ -n "$rocprof_kernels" ] &&
		is_chartable "$tmp/n/kernel_summary_by_category.ndjson"; then
		set -- "$@" --chart pie:kernel_summary_by_category:op_category:dur_ns_sum \
			--title 'GPU time by category of kernel'
		is_drawn=y
	fi
	if is_chartable "$tmp/n/unified_perf_summary.ndjson" &&
		grep -q '"tflop_s_mean":[0-9]' "$tmp/n/unified_perf_summary.ndjson"; then
		set -- "$@" \
			--chart scatter:unified_perf_summary:flop_per_byte:tflop_s_mean \
			--log xy --title Roofline
		is_drawn=y
		for spec in $(sed -n '1s/{"id":"\([a-z0-9_]*\)"/\
@\1\
/gp' "$tmp/n/more/roofs.ndjson" 2>/dev/null | sed -n 's/^@//p' | tail -n +2); do
			set -- "$@" --line "roofs:flop_per_byte:$spec"
		done
	fi
	[ -z "$is_drawn" ] || set -- "$@" --chart-sheet summary
	tl-xlsx --labels -o "$book" "$@"
	worst $?
}

write_page() {
	list
	IFS='
'
	# shellcheck disable=SC2086 # a file a line
	set -- $list
	unset IFS
	[ -n "$title" ] || IFS= read -r title <"$tmp/screen"
	eval "tl-html -o \"\$page\" --title \"\$title\" $chosen \"\$@\" -- $trees"
	worst $?
}

[ -z "$dir" ] || write_dir
if [ -z "$dir" ] || [ -n "$book$page" ]; then
	[ -z "$dir" ] || said='' # it was said
	analyse "$tmp/n" ndjson ''
	[ -n "$dir" ] || speak
	if [ -n "$book$page" ]; then
		summarise >"$tmp/screen"
	else
		summarise
	fi
	rc=$?
	[ $rc -eq 0 ] || exit $rc
	[ -z "$book$page" ] || cut_tops
fi
by_rank=rank
! grep -q '"id":"src"' "$tmp/n/gpu_timeline_by_rank.ndjson" 2>/dev/null || by_rank=src
[ -z "$book" ] || write_book
[ -z "$page" ] || write_page
exit "$status"
