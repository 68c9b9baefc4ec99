# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# For semantic*.t, which set sample.
# mutants FORMAT PROGRAM [ARGUMENT...]
mutants() {
	what=$1 program=$2
	shift 2
	set -- "$@" "$ROOT/tests/golden/semantic/$what.tsv"
	# shellcheck disable=SC2086,SC2154 # of the test; may be none
	python3 "$ROOT/tests/oracle/$program" $sample "$@" >out ||
		echo "exit status $?" >>out
	is "$what: $(sed -n 's/^1\.\.//p' out) mutants" "$(grep -v '^ok \|^1\.\.' out)" ''
}
