#!/bin/sh
# SPDX-License-Identifier: MIT
# Every table that a program writes has its entry in the catalogue, every column its
# line in the program's page.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

cat >columns.py <<'END'
"""columns.py PAGE FOLDER: columns of the tables in FOLDER that PAGE does not name.

A page that names a column, or one of its statistics, tells of them all.
"""
import json
import pathlib
import re
import sys

STAT = r"_(sum|mean|median|std|std_all|min|max|total|best|p\d+)$"
page = re.findall(r"\w+", open(sys.argv[1], encoding="utf-8").read(), re.ASCII)
told = set(page) | {re.sub(STAT, "", word) for word in page}
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.ndjson")):
    with open(path, encoding="utf-8") as lines:
        columns = [column["id"] for column in json.loads(next(lines))["columns"]]
    for name in columns:
        # of a rank, of the other side, of a model; what tl(7) has
        name = re.sub(r"^rank_\d+_", "", re.sub(r"^b_", "a_", name))
        if not name.startswith("param_") and name not in ("rank", "src") and \
                not told & {name, re.sub(STAT, "", name)}:
            print(path.stem, name)
END

tl-tree "$SAMPLE" -o t.tl
tree=t.tl
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
	# the sheets of a report are in the pages of others
	[ "$program" = report ] || python3 columns.py "$ROOT/man/tl-$program.1" out
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
is 'every program with tables was asked' "$(
	for program in "$B"/bin/tl-*; do
		program=${program##*/}
		$program --help | grep -q -e '--list-tables' || continue
		# its tables are pairs of the others'
		[ "$program" = tl-compare ] || grep -qx "$program" asked || echo "$program"
	done)" ''
done_testing
