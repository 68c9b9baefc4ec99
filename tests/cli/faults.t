# SPDX-License-Identifier: MIT
# Every program, with its calls failing one after another: it succeeds or says
# why not.
. tests/cli/lib.sh

have_failio || skip_all 'calls can not be made to fail in this build'

tl-gen -s 7 -n 1 --layers 1 -o small.json
tl-decode small.json -o small.tl
tl-tree small.tl -o tree.tl
tl-timeline --format ndjson tree.tl >table.ndjson
gzip -9 <small.json >small.json.gz
tl-report --format ndjson small.json >tables.ndjson 2>err || [ $? -eq 3 ]
mkdir ranks
tl-gen -s 7 -n 3 --layers 1 --ranks 2 -d ranks
for rank in ranks/*.json; do
	tl-tree "$rank" -o "${rank%.json}.tl"
done
n=0

# faults COMMAND [ARGUMENT...]: it runs in a folder beside the files above.
most=3
! slow || most=5
! everything || most=10
faults() {
	seen "$1"
	command -v "$1" >/dev/null || {
		skip "$*" 'not built'
		return
	}
	n=$((n + 1))
	mkdir "in$n"
	ok "$*" "$T/faults" "$T/failio.so" "$TMP/in$n" $most "$@"
}

faults tl-decode ../small.json -o out.tl
faults tl-decode ../small.json.gz -o out.tl
faults tl-decode ../small.json
faults tl-decode -d out ../ranks/rank-0.json ../ranks/rank-1.json
faults tl-cat ../small.tl
faults tl-cat --tsv ../tree.tl -o out.tsv
faults tl-link ../small.tl -o out.tl
faults tl-tree ../small.tl -o out.tl
faults tl-tree --mem 4M ../small.tl -o out.tl
faults tl-tree -p ../tree.tl
faults tl-timeline ../tree.tl -o out.tsv
faults tl-timeline ../small.json
faults tl-idle ../tree.tl -o out.tsv
faults tl-health ../tree.tl -o out.tsv
faults tl-advise ../tables.ndjson -o out.tsv
faults tl-launch ../tree.tl -d out
faults tl-steps ../tree.tl -o out.tsv
faults tl-critical ../tree.tl -o out.tsv
faults tl-filter --kind kernel ../tree.tl -o out.tl
faults tl-export --to chrome ../tree.tl -o out.json
faults tl-export --to perfetto ../tree.tl -o out.pftrace
faults tl-kernels ../tree.tl -o out.tsv
faults tl-ops ../tree.tl -o out.tsv
faults tl-roofline ../tree.tl -o out.tsv
faults tl-replay ../tree.tl -o out.tsv
faults tl-collective ../ranks/rank-0.tl ../ranks/rank-1.tl -o out.tsv
faults tl-merge ../ranks/rank-0.tl ../ranks/rank-1.tl -o out.tl
faults tl-split --by step -d out ../tree.tl
faults tl-split --by iteration -d out ../tree.tl
faults tl-fold ../tree.tl -o out.txt
faults tl-modules ../tree.tl -o out.tsv
tl-report small.json -d report
tl-report small.json -o report.xlsx
faults tl-compare ../report ../report.xlsx --names a,b --sheets ops_summary -d out
faults tl-match --approx "$ROOT/tests/data/h100/serving_steps.json.gz" \
	"$ROOT/tests/data/h100/serving_steps.json.gz" -o out.tsv
faults tl-diff ../ranks/rank-0.tl ../ranks/rank-1.tl -d out
faults tl-graft --capture "$ROOT/tests/data/capture.json.gz" \
	"$ROOT/tests/data/replay.json.gz" -o out.tl
faults tl-xlsx ../table.ndjson -o out.xlsx --chart-sheet charts --front ../small.json
faults tl-sql ../table.ndjson ../tree.tl -o out.sqlite
faults tl-html -o out.html ../table.ndjson ../tree.tl
faults tl-cat --kind kernel --tsv ../tree.tl -o out.tsv
# many programs each
most=3
! everything || most=5
faults tl-report -d out ../tree.tl
if command -v tl-xlsx >/dev/null; then
	faults tl-report -o out.xlsx ../tree.tl
else
	skip 'tl-report -o out.xlsx' 'tl-xlsx was not built'
fi
faults tl-report --html out.html ../tree.tl
all_seen none
done_testing
