# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# TAP for tests of programs, sourced from the top of the tree:
#
#	. tests/cli/lib.sh
#	plan 4
#	tl-decode "$SAMPLE" >small.tl
#	golden  'long events stay'   longer/basic
#	refuses 1 'cut off'          'head -c 900 small.tl | tl-longer'
#	quiet   'a reader may leave' 'tl-longer small.tl | head -c 1'
#	page_examples tl-longer.1
#
# A test runs in a temporary folder of its own, $TMP, with the built programs
# first in PATH. Each function here is one result of the plan. $ROOT is the
# tree, $B the build, $T the tools and the generator of the tests, $SAMPLE the
# shipped sample. A CMD is one argument: the text of a command for the shell.

set -u
ROOT=$(pwd)
[ -f "$ROOT/tests/cli/lib.sh" ] || {
	echo 'Bail out! run me from the top of the source tree'
	exit 1
}
B=${TL_BUILD:-$ROOT/build}
case $B in /*) ;; *) B=$ROOT/$B ;; esac
T=$B/tests
SAMPLE=$ROOT/tests/data/sample.json.gz
TL_DATA=${TL_DATA:-$ROOT/../shared/data}
case $TL_DATA in /*) ;; *) TL_DATA=$ROOT/$TL_DATA ;; esac
TMP=$(mktemp -d "${TMPDIR:-/tmp}/tl-test.XXXXXX") || exit 1
PATH=$B/bin:$T:$PATH
LC_ALL=C TZ=UTC0 NO_COLOR=1
export ROOT B T SAMPLE TL_DATA TMP PATH LC_ALL TZ NO_COLOR
unset COLUMNS POSIXLY_CORRECT

ntests=0 nfailed=0 planned=''
log=$(mktemp -d "${TMPDIR:-/tmp}/tl-test.XXXXXX") || exit 1 # not seen by CMDs

# shellcheck disable=SC2317 # called by trap
keep() { # keep FILE AS: whole at any time, as another test may read it
	mkdir -p "${2%/*}" && cp "$1" "$2.$$" && mv "$2.$$" "$2"
}

# shellcheck disable=SC2317 # called by trap
cleanup() {
	status=$?
	[ "$status$nfailed" != 00 ] || [ -z "${SCREENS-}" ] || [ ! -s "$SCREENS" ] ||
		keep "$SCREENS" "$B/screens/${0##*/}"
	cd / && chmod -R u+rwX "$TMP" && rm -rf "$TMP" "$log"
	if [ "$status" -eq 0 ]; then
		[ "$nfailed" -eq 0 ] || status=1
		[ "${planned:-$ntests}" -eq "$ntests" ] || status=1
	fi
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$TMP" || exit 1

plan() {
	planned=$1
	echo "1..$1"
}

# Instead of plan, at the end.
done_testing() {
	planned=$ntests
	echo "1..$ntests"
}

# Instead of plan, if nothing can be tested.
skip_all() {
	planned=0
	echo "1..0 # SKIP $1"
	exit 0
}

# diag TEXT: lines below a failure.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

show() { # show LABEL FILE: the beginning of a file, as diagnostics
	[ -s "$2" ] || return 0
	echo "# $1:"
	head -n 40 "$2" | cut -c 1-400 | cat -v | sed 's/^/#   /'
}

pass() {
	ntests=$((ntests + 1))
	echo "ok $ntests - $1"
}

fail() {
	ntests=$((ntests + 1))
	nfailed=$((nfailed + 1))
	echo "not ok $ntests - $1"
}

# seen PROGRAM: this test has a case for it; see all_seen.
seen() {
	echo "$1" >>"$log/seen"
}

# all_seen PROGRAM...: every built program was seen, except these.
all_seen() {
	missing=
	for program in "$B"/bin/tl-*; do
		program=${program##*/}
		case " $* " in *" $program "*) continue ;; esac
		grep -qx "$program" "$log/seen" || missing="$missing $program"
	done
	is 'every program has a case here' "$missing" ''
}

# skip TEXT REASON
skip() {
	ntests=$((ntests + 1))
	echo "ok $ntests - $1 # SKIP $2"
}

# ok TEXT COMMAND [ARGUMENT...]: the command exits with 0.
ok() {
	text=$1
	shift
	"$@" >"$log/out" 2>"$log/err" </dev/null
	rc=$?
	if [ $rc -eq 0 ]; then
		pass "$text"
	else
		fail "$text"
		diag "exit status $rc of: $*"
		show stdout "$log/out"
		show stderr "$log/err"
	fi
}

# is TEXT GOT EXPECTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		printf '%s\n' "$2" >"$log/got"
		printf '%s\n' "$3" >"$log/expected"
		(cd "$log" && diff -u expected got) | head -n 40 | cat -v |
			sed 's/^/# /'
	fi
}

# like TEXT GOT ERE
like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		pass "$1"
	else
		fail "$1"
		diag "no match of: $3"
		diag "got: $2"
	fi
}

# same TEXT FILE FILE: the same bytes.
same() {
	if cmp "$2" "$3" >"$log/out" 2>&1; then
		pass "$1"
	else
		fail "$1"
		show cmp "$log/out"
	fi
}

# New files each time: output of a process that was left behind must not become
# the next test's.
run() { # run CMD: into $log/out and $log/err; sets rc
	rm -f "$log/out" "$log/err"
	sh -c "$1" >"$log/out" 2>"$log/err" </dev/null
	rc=$?
}

# What a program of ours must never print, wherever it happens.
crashed() {
	grep -Eq 'Sanitizer|runtime error:|Assertion|terminated by|dumped' \
		"$log/err"
}

# golden TEXT NAME: tests/golden/NAME.cmd gives NAME.out, NAME.err and the exit
# status in NAME.rc; a missing file means empty, or 0. UPDATE=1 shows
# differences and writes the files.
golden() {
	g=$ROOT/tests/golden/$2
	[ -f "$g.cmd" ] || {
		fail "$1"
		diag "no $g.cmd"
		return
	}
	sh "$g.cmd" >"$log/out" 2>"$log/err" </dev/null
	rc=$?
	if [ "$rc" -eq 0 ]; then : >"$log/rc"; else echo $rc >"$log/rc"; fi
	: >"$log/diff"
	for part in out err rc; do
		old=$g.$part
		[ -f "$old" ] || old=/dev/null
		cmp -s "$old" "$log/$part" && continue
		diff -au --label "$2.$part" --label got "$old" "$log/$part" \
			>>"$log/diff"
		[ -n "${UPDATE:-}" ] || continue
		if [ -s "$log/$part" ]; then
			cp "$log/$part" "$g.$part"
		else
			rm -f "$g.$part"
		fi
	done
	if [ -n "${UPDATE:-}" ] || [ ! -s "$log/diff" ]; then
		pass "$1"
	else
		fail "$1"
	fi
	if [ -n "${UPDATE:-}" ]; then
		sed 's/^/# /' "$log/diff" # all of it: it is to be read
	else
		show 'difference (make golden accepts it)' "$log/diff"
	fi
}

# refuses [-o] RC ERE CMD: CMD exits with RC; its stderr matches ERE and has the
# form of our errors: `tl-x: reason`, without control characters, full stop or
# "Error:". CMD prints nothing on stdout, unless -o allows it.
refuses() {
	may_print=
	[ "$1" = -o ] && { may_print=y; shift; }
	run "$3"
	why=
	[ "$rc" -eq "$1" ] || why="exit status $rc instead of $1"
	grep -Eq -e "$2" "$log/err" || why="$why; stderr does not match: $2"
	grep -Eq '^tl(-[a-z0-9-]+)?: .*[^.]$' "$log/err" ||
		why="$why; no line 'tl-program: reason'"
	grep -Eiq '^tl(-[a-z0-9-]+)?: (error|fatal)[: ]' "$log/err" &&
		why="$why; 'error' says nothing"
	tr -d '\t\n' <"$log/err" | grep -aq '[[:cntrl:]]' &&
		why="$why; control characters"
	crashed && why="$why; a crash"
	[ "$1" -ne 2 ] || grep -q -e '--help' "$log/err" ||
		why="$why; a usage error that does not mention --help"
	[ -n "$may_print" ] || [ ! -s "$log/out" ] || why="$why; wrote to stdout"
	why=${why#; }
	if [ -z "$why" ]; then
		pass "refuses $1: $3"
		return
	fi
	fail "refuses $1: $3"
	diag "$why"
	show stderr "$log/err"
	[ -n "$may_print" ] || show stdout "$log/out"
}

# reports STATUS ID CMD: CMD exits with STATUS and reports a message of this id,
# whatever its words are.
reports() {
	exec 8>"$log/status"
	TL_STATUS_FD=8:$(stat -c %d:%i "$log/status")
	export TL_STATUS_FD
	run "$3"
	unset TL_STATUS_FD
	exec 8>&-
	if [ "$rc" -eq "$1" ] && grep -q "\"id\":\"$2\"" "$log/status"; then
		pass "reports $2: $3"
		return
	fi
	fail "reports $2: $3"
	diag "exit status $rc"
	show 'status records' "$log/status"
	show stderr "$log/err"
}

# stages CMD: run one pipeline and print the exit status of each stage, as in
# `is 'both fail' "$(stages 'false | false')" '1 1'`.
stages() {
	# shellcheck disable=SC2016 # for the inner shell
	bash -c "$1"'
		echo "${PIPESTATUS[@]}" >&9' 9>"$log/stages" \
		>"$log/out" 2>"$log/err" </dev/null
	cat "$log/stages"
}

# quiet TEXT CMD: nothing on stderr, and every stage of the pipeline exits with
# 0 or dies of SIGPIPE.
quiet() {
	statuses=$(stages "$2")
	bad=
	for s in ${statuses:-none}; do
		case $s in 0 | 141) ;; *) bad=y ;; esac
	done
	if [ -z "$bad" ] && [ ! -s "$log/err" ]; then
		pass "$1"
	else
		fail "$1"
		diag "exit statuses ${statuses:-unknown} of: $2"
		show stderr "$log/err"
	fi
}

# refuses_cuts FILE PIECES PROGRAM: a stream cut at PIECES places, and one byte
# before its end, gives no output and exit status 1; one result.
refuses_cuts() {
	size=$(wc -c <"$1") bad=''
	for n in $(seq 1 $(((size + $2) / $2)) "$size") $((size - 1)); do
		head -c "$n" "$1" >cut.tl
		run "$3 cut.tl"
		[ "$rc" -eq 1 ] && [ ! -s "$log/out" ] && ! crashed ||
			bad="$bad $n:$rc"
	done
	is 'cut anywhere: exit 1 and no output' "$bad" ''
}

# inject SPEC CMD: run CMD; in each process of ours the calls named by SPEC
# fail (tests/tools/failio.so.c). To be used inside other commands:
# refuses 1 'Input/output' "$(inject read:2:EIO 'tl-cat small.tl')"
inject() {
	printf 'export FAIL_CALL=%s LD_PRELOAD=%s; %s' \
		"$1" "$T/failio.so" "$2"
}

# True if calls can be made to fail: sanitizers must be loaded first.
have_failio() {
	[ -f "$T/failio.so" ] && ! sanitized
}

# True under sanitizers, where memory is looked at: what words, figures and
# processes a test asks for it has asked elsewhere.
sanitized() {
	case $B in */asan* | */tsan*) ;; *) return 1 ;; esac
}

# True if the reference traces are there ($TL_DATA).
have_data() {
	[ -f "$TL_DATA/README.md" ]
}

# True if tests may take their time (tests/run --slow).
slow() {
	[ -n "${TL_SLOW:-}" ]
}

# True where nothing is left out, whatever it takes (TL_SLOW=all, by hand).
everything() {
	[ "${TL_SLOW:-}" = all ]
}

# What made-up traces are made with; a test may have its own.
#
# ev CAT NAME TID TS_US DUR_US [ARGS]: an event of a trace, a line
ev() {
	printf '{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":%s,"ts":%s,"dur":%s,"args":{%s}}\n' \
		"$1" "$2" "$3" "$4" "$5" "${6:-}"
}
# meta NAME PID TID KEY VALUE: a name of a process or thread
meta() {
	printf '{"ph":"M","name":"%s","pid":%s,"tid":%s,"ts":0,"args":{"%s":"%s"}}\n' "$@"
}
# trace [MEMBERS]: lines of events on stdin to a trace
# shellcheck disable=SC2120 # most have none
trace() {
	printf '{"traceEvents":[\n'
	sed '$!s/$/,/'
	printf ']%s}\n' "${1:-}"
}
# rows CMD: a table without its header, on one line
rows() {
	sh -c "$1" 2>"$TMP/err" | sed 1d | tr '\t\n' ' .' | sed 's/  */ /g'
}

# page_examples PAGE: the EXAMPLES of man/PAGE do what they show; one result.
page_examples() {
	# shellcheck disable=SC2013 # words, not lines
	for program in $(sed -n 's/^[$>] //p' "$ROOT/man/$1" |
		grep -o '\<tl-[a-z]*' | sort -u); do
		command -v "$program" >/dev/null || {
			skip "examples of $1" "$program is not built"
			return
		}
	done
	if python3 "$ROOT/tests/cli/examples" "$ROOT/man/$1" \
		>"$log/out" 2>&1 </dev/null; then
		pass "examples of $1: $(tail -n 1 "$log/out")"
	else
		fail "examples of $1"
		show differences "$log/out"
	fi
}

# keep_screens: what tl-report says from here on is kept in $SCREENS, and after
# the test in the build's screens/, for cli/each-sentence.t. Tests whose names begin
# with report-verdict do so.
keep_screens() {
	SCREENS=$log/screens
	export SCREENS
	mkdir "$log/bin"
	cat >"$log/bin/tl-report" <<-END
		#!/bin/sh
		"$B/bin/tl-report" "\$@" >"$log/out.\$\$" 2>"$log/err.\$\$"
		rc=\$?
		cat "$log/out.\$\$" "$log/err.\$\$" >>"$SCREENS"
		cat "$log/out.\$\$"
		cat "$log/err.\$\$" >&2
		exit \$rc
	END
	chmod +x "$log/bin/tl-report"
	PATH=$log/bin:$PATH
}
case ${0##*/} in report-verdict*) keep_screens ;; esac
