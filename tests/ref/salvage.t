#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-decode --salvage on the real traces: an undamaged one is unchanged, a cut
# one keeps all whole events before the cut, and parts of what is no trace are
# none either.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'

find -L "$TL_DATA" -type f \( -name '*.json' -o -name '*.json.gz' \) \
	-size -4096k ! -path '*/reference/*' ! -path '*/not_a_trace/*' |
	sort >traces
bad=
while read -r f; do
	want=$(tl-decode --ndjson "$f" 2>/dev/null | sed 1d | cksum)
	got=$(tl-decode --salvage --ndjson "$f" 2>err | sed 1d | cksum)
	[ "$got" = "$want" ] && ! grep -q 'left out' err || bad="$bad $f"
done <traces
ok 'there were traces' test -s traces
is 'what is whole stays as it is' "$bad" ''

find -L "$TL_DATA" -type f -name '*.json.gz' -size -400k -size +8k \
	! -path '*/reference/*' ! -path '*/not_a_trace/*' | sort |
	awk 'NR % 3 == 1' >some
while read -r f; do
	is "cut: ${f#"$TL_DATA"/}" \
		"$(python3 "$ROOT/tests/oracle/salvage.py" file "$f" 9 2>&1)" ''
done <some
ok 'some were cut' test -s some

for f in "$TL_DATA"/not_a_trace/*; do
	refuses 1 '(not a trace|no events|nothing to salvage)' \
		"tl-decode --salvage '$f' -o x.tl"
done
done_testing
