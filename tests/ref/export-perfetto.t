#!/bin/sh
# SPDX-License-Identifier: MIT
# Every trace among the reference data, as Perfetto's protobuf and back.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
most=400k
! slow || most=1000k
find -L "$TL_DATA" -type f \( -name '*.json' -o -name '*.json.gz' -o -name '*.pftrace' \
	-o -name '*.perfetto-trace' -o -name '*_trace.csv' \) ! -path '*/reference/*' \
	! -path '*/not_a_trace/*' -size "-$most" | sort >list
half() { # odd|even: two at a time
	mkdir "half$1"
	cd "half$1" || return
	awk -v n="$1" 'NR % 2 == n' ../list | tr '\n' '\0' |
		xargs -0 python3 "$ROOT/tests/oracle/exported.py" >"../out$1"
}
(half 0) &
(half 1)
wait
is 'all come back' "$(cat out0 out1 | grep -v '^ok')" ''
is 'as many as there are' "$(cat out0 out1 | grep -c '^ok')" "$(grep -c . list)"
done_testing
