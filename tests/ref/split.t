#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-split by iterations on real serving traces: the reference's rows and parts.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
for folder in "$TL_DATA"/inference_*; do
	for way in iteration:split_all steady:split_steady phase:split_phases; do
		rows=$folder/reference/${way#*:}
		[ -d "$rows" ] || continue
		rm -rf parts
		steps=
		[ "${way%:*}" = steady ] && steps='--num-steps 1'
		# shellcheck disable=SC2086 # two words or none
		tl-split --by "${way%:*}" $steps --to chrome -d parts "$folder"/*.json.gz 2>err
		python3 "$ROOT/tests/oracle/split.py" reference "$folder"/*.json.gz "$rows" \
			parts >out
		is "${folder##*/}, ${way#*:}" "$(grep -v '^ok' out)" '1..2'
	done
done
done_testing
