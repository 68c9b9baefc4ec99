#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-compare of our reports and the reference's of the same traces: each row has
# a match, or none for a named reason.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
for program in tl-compare tl-report tl-ops tl-kernels tl-roofline tl-xlsx; do
	command -v "$program" >/dev/null || skip_all "$program was not built"
done
if slow; then
	set -- --few recompute,topk,unlinked,overlap
	! everything || set --
else
	set -- --variants default,kernels \
		--only 'mi300_bert_small,norm_layer_test,rocprofv3_json_908'
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/joined.py" "$@"
