#!/bin/sh
# SPDX-License-Identifier: MIT
# The slices of real Perfetto traces, and the programs' figures for them.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
for table in "$TL_DATA"/*/reference/track_events/slices.csv; do
	folder=${table%/reference/*}
	for file in "$folder"/*.pftrace "$folder"/*.perfetto-trace; do
		[ ! -f "$file" ] ||
			is "the slices of ${file##*/}" \
				"$(python3 "$ROOT/tests/oracle/perfetto.py" "$file" "$table" | cut -c1-2)" ok
	done
done
taylor=$TL_DATA/rocprofv3_pftrace_taylor/results.pftrace
is 'all GPU work is linked to its call' "$(tl-tree "$taylor" | tl-cat --tsv -F kind,launch --no-header |
	awk '$1 ~ /^(kernel|mem)/ { n++; linked += $2 != "" } END { print n, linked }')" '76 76'
is 'kernels by name' "$(rows "tl-kernels -c name,count,dur_ns_sum --top 1 $taylor" | cut -c1-80)" \
	"$(python3 - "$TL_DATA"/rocprofv3_pftrace_taylor/reference/track_events/slices.csv <<'END'
import collections, csv, sys
sums = collections.defaultdict(lambda: [0, 0])
for r in csv.DictReader(open(sys.argv[1])):
    if r["category"] == "kernel_dispatch":
        sums[r["name"]][0] += 1
        sums[r["name"]][1] += int(r["dur_ns"])
name, (n, ns) = max(sums.items(), key=lambda x: x[1][1])
print(("%s %d %d." % (name, n, ns))[:80])
END
)"
tl-report -d report "$taylor" >/dev/null 2>&1
is 'its critical path is as long as its window' \
	"$(awk -F, 'NR > 1 { ns += $3 } END { printf "%.0f", ns }' report/critical_path.csv)" \
	"$(rows "tl-idle --table idle_window -c window_ns $taylor" | tr -d .)"
done_testing
