#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of each format, wrong in one member of one kind of event: every figure
# is right for what the file says, or a warning says what could not be counted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-timeline tl-launch; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
sample='--sample 41'
! slow || sample=
case $B in */asan* | */tsan*) sample='--sample 41' ;; esac
# mutants FORMAT PROGRAM...
mutants() {
	what=$1 program=$2
	shift 2
	set -- "$@" "$ROOT/tests/golden/semantic/$what.tsv"
	# shellcheck disable=SC2086 # may be none
	python3 "$ROOT/tests/oracle/$program" $sample "$@" >out ||
		echo "exit status $?" >>out
	is "$what: $(sed -n 's/^1\.\.//p' out) mutants" "$(grep -v '^ok \|^1\.\.' out)" ''
}
mutants chrome semantic.py
mutants rocprof semantic_rocprof.py

[ -z "$sample" ] || sample='--sample 67'
# which compare figures: what sanitizers see is in the fuzz targets, too
case $B in */asan* | */tsan*) sample='--sample 199' ;; esac
mutants perfetto semantic_perfetto.py
mutants xplane semantic_xplane.py
mutants csv semantic_csv.py
printf 'SQLite format 3\000' >none
for schema in rpd rocpd nsys; do
	if tl-decode none 2>&1 | grep -q libsqlite3; then
		skip $schema 'a build without libsqlite3'
	else
		mutants $schema semantic_sqlite.py $schema
	fi
done
done_testing
