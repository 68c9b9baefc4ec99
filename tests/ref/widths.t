#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of real traces fit the terminal, from 60 columns on: no line is wider,
# and the most important columns stay. (--slow tries all small traces.)
. tests/cli/lib.sh

have_data || skip_all "no reference traces in $TL_DATA"

cat >wide.py <<'END_PY'
"""wide.py < OUTPUTS: the lines that are wider than they may be. In front of
each output stands a line with a byte 1, its width and what it is."""
import sys
import unicodedata

for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
    if line.startswith("\x01"):
        limit, what = line[1:].split(" ", 1)
        continue
    width = sum(0 if unicodedata.combining(c) else
                2 if unicodedata.east_asian_width(c) in "WF" else 1
                for c in line)
    if width > int(limit):
        print(f"{what}: {width} {line[:60]}")
END_PY

# output of a program on so many columns, as wide.py reads it
output() { # output WIDTH WHAT COMMAND...
	printf '\001%s %s\n' "$1" "$2"
	shift 2
	"$@" 2>/dev/null </dev/null
}

# every table of a program that has some, with what it is about
all_tables() { # all_tables PROGRAM WIDTH OPERAND...
	program=$1 width=$2
	shift 2
	"$program" --list-tables 2>/dev/null </dev/null | cut -f 1 | while read -r name; do
		output "$width" "$program --table $name" \
			"$program" --table "$name" --format table --width "$width" "$@"
	done
	output "$width" "$program" "$program" --format table --width "$width" "$@"
}

# All tables of the sample; of other traces only default tables: the rows are
# the same at any width.
widths='60 80 140'
if slow; then
	traces=$(find "$TL_DATA" -name '*.json.gz' ! -path '*/reference/*' ! -path '*multirank*' -size -1000k | sort)
else
	traces="$SAMPLE $(find "$TL_DATA/mi300_bert_small" "$TL_DATA/inference_vllm_decode_full" -name '*.json.gz' ! -path '*/reference/*' | head -n 1)"
fi
ranks=$(find "$TL_DATA/multirank_cifar_mi300x_4r" -maxdepth 1 -name '*.gz' | sort)
for trace in $traces; do
	tl-tree "$trace" -o t.tl 2>/dev/null || continue
	for width in $widths; do
		for program in timeline steps idle launch ops kernels roofline critical modules health; do
			command -v "tl-$program" >/dev/null || continue
			output "$width" "tl-$program" \
				"tl-$program" --format table --width "$width" t.tl
		done
		output "$width" tl-report tl-report --width "$width" t.tl
	done | python3 wide.py >over
	is "$(basename "$trace"): no line is wider than the terminal" "$(sort -u over | head -n 20)" ''
done
tl-tree "$SAMPLE" -o t.tl
for width in $widths; do
	for program in timeline steps idle launch ops kernels roofline critical modules; do
		command -v "tl-$program" >/dev/null || continue
		all_tables "tl-$program" "$width" t.tl
	done
	# shellcheck disable=SC2086 # a list of files
	all_tables tl-collective "$width" $ranks
	all_tables tl-diff "$width" t.tl t.tl
done | python3 wide.py >over
is 'each table of each program' "$(sort -u over | head -n 20)" ''

# at 80 columns a roofline has what is asked first, for ops and for GEMMs
if command -v tl-roofline >/dev/null; then
	tl-roofline --format table --width 80 --top 5 t.tl >out
	like 'on 80 columns: name, shape, count, bound, time, roof, lost, share' \
		"$(grep '^name' out | tr -s ' ')" \
		'^name input_dims count bound \[ms\] (roof_)?mean \[ms\] kernel$'
	is 'the bounds are words' "$(grep -cE '^aten::addmm .* COMPUTE ' out)" 1
	is 'shapes tell rows apart' "$(awk '/^aten::mm/ { print $2 }' out | sort | uniq -d)" ''
	tl-roofline --table GEMM --format table --width 80 --top 5 t.tl >out
	like 'of GEMMs: M, N, K, share' "$(grep '^name' out | tr -s ' ')" '^name M N K .*mean .*count family$'
	for width in 80 100 140; do
		like "the time of a GEMM on $width columns" "$(tl-roofline --table GEMM \
			--format table --width "$width" --top 2 t.tl | grep '^aten::addmm')" ' 2\.166 '
	done
fi
# shellcheck disable=SC2086
tl-collective $ranks --format table --width 140 >out 2>/dev/null
like 'process groups on 140 columns' "$(grep '^group' out | tr -s ' ')" \
	'^group desc ranks collectives .*verdict'
done_testing
