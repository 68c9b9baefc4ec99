#!/bin/sh
# SPDX-License-Identifier: MIT
# A program's work grows like its input: it counts instructions for inputs with
# N and 4 N of what hostile or large traces have many of.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
slow || skip_all 'only with --slow'
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
sanitized && skip_all 'valgrind runs no sanitizers'

# cachegrind without a cache counts only these and takes a third of callgrind's
# time
count() { # count COMMAND...: its instructions, in thousands
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" 2>err >/dev/null
	awk '/I +refs: / { gsub(",", ""); n += $NF } END { print int(n / 1000) }' err
}

# grows WHAT N LIMIT: decoding, nesting and each table of 4 N take at most LIMIT
# times the instructions of N
grows() {
	for n in $2 $((4 * $2)); do
		python3 "$ROOT/tests/oracle/growing.py" "$1" "$n" >"$1-$n.json"
		tl-decode "$1-$n.json" -o "$1-$n.tl"
		tl-tree "$1-$n.tl" -o "$1-$n.tree" 2>err
	done
	while read -r end command; do
		command -v "${command%% *}" >/dev/null || continue # a library is missing
		# shellcheck disable=SC2086 # words
		few=$(count $command "$1-$2.$end")
		# shellcheck disable=SC2086
		many=$(count $command "$1-$((4 * $2)).$end")
		if [ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] &&
			[ $((many * 10)) -le $((few * $3)) ]; then
			pass "$1: $command: $few, $many thousand"
		else
			fail "$1: $command: $few, $many thousand"
			show stderr err
		fi
	done <<-EOT
		json tl-decode
		tl tl-tree
		tree tl-timeline
		tree tl-kernels
		tree tl-ops --by args
		tree tl-idle
		tree tl-critical
		tree tl-health
		tree tl-modules
	EOT
}
# what has many of several things takes no longer than what has many of one;
# GROWS='names ids ...' tries one by one
for what in ${GROWS:-own bad depth shared}; do
	grows "$what" 800 50
done

# and of many sources
for n in 50 200; do
	python3 "$ROOT/tests/oracle/growing.py" names 20 >one.json
	seq $n | while read -r i; do cp one.json "rank$i-$n.json"; done
	tl-decode rank*-$n.json -o $n.tl
	tl-tree $n.tl -o $n.tree
done
for command in tl-tree tl-timeline tl-kernels tl-collective; do
	command -v $command >/dev/null || continue
	few=$(count $command 50.tree) many=$(count $command 200.tree)
	is "sources: $command: $few, $many thousand" \
		"$([ "${few:-0}" -gt 0 ] && [ $((many * 10)) -le $((few * 50)) ] && echo yes)" yes
done
done_testing
