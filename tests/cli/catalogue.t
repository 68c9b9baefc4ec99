#!/bin/sh
# SPDX-License-Identifier: MIT
# Every table that a program writes has an entry in the catalogue, every column
# a
# line in the program's page.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tl-tree "$SAMPLE" -o t.tl
tree=t.tl
own_tables() { sed -n 's/.*T("\([a-z_]*\)", "tl-report".*/\1/p' "$ROOT/common/table/catalogue.c"; }
in_catalogue() { # in_catalogue PROGRAM ARGUMENT...: those that are not
	program=$1
	shift
	rm -rf out
	echo "tl-$program" >>asked
	command -v tl-"$program" >/dev/null || return 0 # a library is missing
	tl-"$program" -d out --format ndjson "$@" "$tree" >/dev/null 2>err || cat err
	tl-roofline --list-tables 2>/dev/null | cut -f 1 >families
	for file in out/*.ndjson; do
		name=$(basename "$file" .ndjson)
		grep -q "\"$name\"" "$ROOT/common/table/catalogue.c" ||
			grep -sqx "${name%_kl_overlap}" families ||
			echo "$name"
	done
	# in a report, sheets of other programs are in their pages
	# shellcheck disable=SC2046 # names
	"$ROOT/tests/oracle/columns.py" "$ROOT/man/tl-$program.1" out $([ "$program" != report ] || own_tables)
}

is 'tl-timeline' "$(in_catalogue timeline --clock gpu)" ''
is 'tl-timeline of the host' "$(in_catalogue timeline --clock cpu)" ''
is 'tl-idle' "$(in_catalogue idle --by call --steps)" ''
is 'tl-advise' "$(in_catalogue advise)" ''
is 'tl-health' "$(in_catalogue health)" ''
is 'tl-launch' "$(in_catalogue launch --by op)" ''
is 'tl-steps' "$(in_catalogue steps)" ''
is 'tl-critical' "$(in_catalogue critical --no-gaps)" ''
is 'tl-ops' "$(in_catalogue ops --by module)" ''
for by in event annotation phase step; do
	is "tl-kernels --by $by" "$(in_catalogue kernels --by $by)" ''
done
is 'tl-modules' "$(in_catalogue modules --sort module)" ''
is 'tl-roofline' "$(in_catalogue roofline --arch auto)" ''
is 'tl-replay' "$(in_catalogue replay)" ''
is 'tl-collective' "$(in_catalogue collective --table nccl_long)" ''
tl-gen --ranks 3 --late-rank 2=2000000 -d .
is 'tl-collective of several ranks' \
	"$(tree=rank-2.json && in_catalogue collective rank-0.json rank-1.json)" ''
is 'tl-diff' "$(in_catalogue diff t.tl)" ''
tl-tree "$ROOT/tests/data/h100/serving_steps.json.gz" -o serving.tl
is 'tl-match' "$(tree=serving.tl && in_catalogue match --approx serving.tl)" ''
is 'tl-report' "$(in_catalogue report --short 10us)" ''
if command -v tl-report >/dev/null; then
	rm -rf out && mkdir out
	tl-report --check --format ndjson rank-*.json >out/ranks.ndjson 2>err
	tl-report --format ndjson --vs rank-0.json rank-1.json >vs.ndjson 2>err
	# shellcheck disable=SC2046 # names
	is 'tables of its own' "$("$ROOT/tests/oracle/columns.py" "$ROOT/man/tl-report.1" out $(own_tables))" ''
	if command -v tl-roofline >/dev/null; then
		is 'all but that of a simulation' "$(own_tables | while read -r table; do
			grep -q "^{\"table\":\"$table\"" out/*.ndjson vs.ndjson || echo "$table"
		done)" steady_state
	fi
fi
is 'every program with tables was asked' "$(
	for program in "$B"/bin/tl-*; do
		program=${program##*/}
		$program --help | grep -q -e '--list-tables' || continue
		# its tables are pairs of the others'
		[ "$program" = tl-compare ] || grep -qx "$program" asked || echo "$program"
	done)" ''
done_testing
