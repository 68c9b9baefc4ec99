#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces that are JSON, and wrong in one member of one kind of event: every figure
# is right for what the file says, or a warning says what could not be counted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-timeline; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
sample='--sample 41'
! slow || sample=
case $B in */asan* | */tsan*) sample='--sample 41' ;; esac
# mutants FORMAT PROGRAM
mutants() {
	# shellcheck disable=SC2086 # may be none
	python3 "$ROOT/tests/oracle/$2" $sample "$ROOT/tests/golden/semantic/$1.tsv" >out ||
		echo "exit status $?" >>out
	is "$1: $(sed -n 's/^1\.\.//p' out) mutants" "$(grep -v '^ok \|^1\.\.' out)" ''
}
mutants chrome semantic.py
mutants rocprof semantic_rocprof.py
done_testing
