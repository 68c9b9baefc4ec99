#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-split: parts add up to the whole, and are what tl-filter makes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tl-tree "$SAMPLE" -o t.tl

sums() { # FILE...: number of GPU events and their time
	for f in "$@"; do
		tl-cat --only kernel,memcpy,memset --tsv -F dur --no-header "$f"
	done | awk '{ n++; s += $1 } END { print n, s }'
}
whole=$(sums t.tl)
adds_up() { # TEXT OPTION...
	what=$1
	shift
	rm -rf parts
	tl-split "$@" -d parts t.tl 2>err
	is "$what: parts add up" "$(sums parts/*.tl)" "$whole"
}
adds_up 'by step' --by step
is 'a part for each step, and the rest' "$(cd parts && echo *)" \
	'rest.tl step-1.tl step-2.tl step-3.tl'
tl-timeline --step 2 t.tl >want
tl-timeline parts/step-2.tl >got
same 'a part is what the option chooses' want got
like 'a part is a tree' "$(tl-cat parts/step-2.tl | head -n 1)" '"tree"'
is 'nothing else is left' "$(find parts -name '.*' -type f)" ''
adds_up 'by time' --every 2ms
adds_up 'by time of the GPU' --every 2ms --by-gpu-time
adds_up 'by annotation' --annotation 'Optimizer.step*'
adds_up 'by rank' --by rank
adds_up 'compressed, one at a time' --by step -z -j 1

tl-merge t.tl "$SAMPLE" -o two.tl
tl-gen --ranks 2 --steps 1 --layers 1 --no-python --no-memory -d job
tl-merge job/*.json | tl-split --by rank -d ranks
is 'ranks of a merged stream' "$(cd ranks && echo *)" 'rank-0.tl rank-1.tl'
tl-timeline job/rank-1.json >want
tl-timeline ranks/rank-1.tl >got
same 'a rank is as before it was merged' want got

refuses 2 'what to split by' 'tl-split -d x t.tl'
refuses 2 'exclude each other' 'tl-split -d x --by step --every 1ms t.tl'
refuses 2 'one input at a time' 'tl-split -d x --by step t.tl t.tl'
refuses 1 'no such annotation' 'tl-split -d x --annotation nothing t.tl'
refuses 1 'over 100000 parts' 'tl-split -d x --every 1ns t.tl'
head -c 3000 t.tl >cut.tl
refuses 1 'tl-tree failed' 'tl-split -d x --by step cut.tl'
is 'and nothing is left' "$(ls -A x)" ''
page_examples tl-split.1
done_testing
