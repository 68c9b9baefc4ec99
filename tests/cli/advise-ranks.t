#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-advise on jobs of several ranks: what a finding would gain is what the same
# job gains when it is simulated without it.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'

# job NAME CALL...: into NAME, and what it gains without its calls "load"
job() {
	name=$1
	shift
	for call do set -- "$@" --call "$call"; shift; done
	ns=$(python3 "$ROOT/tests/gen/late.py" -o "$name" "$@")
	gain=$((ns - $(python3 "$ROOT/tests/gen/late.py" -o without --without load "$@")))
	tl-advise --format tsv -d "$name.out" "$name" 2>err
}
# within PERCENT NAME RULE INSIGHT: the high gain of its finding
within() {
	got=$(tl-advise --no-header --format tsv -c rule,insight,gain_ns_high "$2" 2>/dev/null |
		grep "^$3	$4" | cut -f3)
	is "$5: $got ns, of $gain" "$(awk "BEGIN { print ($got <= 1.001 * $gain && $got >= (1 - $1 / 100) * $gain) }")" 1
}

# The first step's gap is before the first GPU event, and no part of the window.
job alike all:load=1000
# 4 ranks, a call in each of 6 steps
like 'calls are a mean as their time is' "$(tl-advise alike --no-header -c rule,insight 2>/dev/null)" \
	'^gap_host	load \(op, 6 calls on average, longest wait 1.000 ms, '
within 17 alike gap_host load 'ranks that are alike: their mean'
job late all:load=1000 2:load=2000
like 'those of one rank are no mean' "$(tl-advise late --no-header -c rule,insight 2>/dev/null)" \
	'^gap_host	load \(op, 12 calls, longest wait 2.000 ms, '
within 1 late gap_host load 'a late rank: its own, as none is as late'
job close 2:load=3000 1:tokens=2800
within 1 close gap_host load 'one that is hardly later than the next: as far as that waits'
# 12 ms of the late rank's own are also what it costs: no ns counts twice
is 'what it costs is the same time' "$(tl-advise late --no-header -c rule,overlaps 2>/dev/null |
	grep -c -e '^gap_host	$' -e '^late_rank	1$')" 2
like 'the report says the same' "$(tl-report --width 200 late 2>/dev/null | tr '\n' ' ')" \
	'1\. [0-9.]+ ms \([0-9.]+ ms to 17\.88[0-9]* ms\): load \(op, 12 calls,.*2\. [0-9.]+ ms \([0-9.]+ us to 11\.99[0-9]* ms, shared with 1\): rank 2 arrives late'

# tables of an older release lack the bound, and the cost takes its place
tl-report --format ndjson -d late.old late >/dev/null 2>&1
sed 's/"gain_ns_high"/"unknown"/' late.old/*.ndjson >old.ndjson
like 'without the bound the gain is the cost, and nothing is said of a bound' \
	"$(tl-advise old.ndjson --no-header -c rule,gain_ns_high,insight 2>/dev/null)" \
	'^late_rank	11999[0-9]+	rank 2 arrives late .* of the steps$'
done_testing
