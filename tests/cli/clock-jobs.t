#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective's clocks against a second implementation, and in drawn jobs.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
jobs() { python3 "$ROOT/tests/oracle/clock_jobs.py" "$@"; }
run='same drawn_6 shifted_5 plants_4'
! slow || run='same_all drawn_40 shifted_20 plants_4_16_64'
! everything || run='same_all drawn_100 shifted_50 plants_4_16_64_256'
! sanitized || run='shifted_2'
status=0 before=0
for what in $run; do
	# shellcheck disable=SC2046 # words
	jobs $(echo "$what" | tr _ ' ') >part || status=1
	# one list of tests, numbered on
	awk -v before="$before" '
		/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n + before) }
		!/^1\.\./' part
	before=$((before + $(grep -c -E '^(not )?ok ' part)))
done
echo "1..$before"
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
