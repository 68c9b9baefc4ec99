#!/bin/sh
# SPDX-License-Identifier: MIT
# The reference's comparisons of its own reports, cell by cell, from folders
# and from workbooks; and our reports of real traces, both forms.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-compare >/dev/null || skip_all 'tl-compare was not built'

oracle() {
	python3 "$ROOT/tests/oracle/compare_reports.py" "$@"
}

# compared NAME REFERENCE DATASET VARIANT DATASET VARIANT
compared() {
	ref=$TL_DATA/$2/reference/compare_reports
	oracle report "$TL_DATA/$3" "$4" "$1.a" || exit 1
	oracle report "$TL_DATA/$5" "$6" "$1.b" || exit 1
	names=$(oracle tags "$ref")
	tl-compare --names "$names" -d "$1" "$1.a" "$1.b" 2>"$1.err"
	rc=$?
	oracle check "$1" "$ref" >"$1.said"
	is "$1: $(head -n 1 "$1.said")" "$rc $(sed 1d "$1.said")" '0 '
	for side in a b; do
		python3 "$ROOT/tests/oracle/write_xlsx.py" folder \
			"$1.$side" "$1.$side.xlsx"
	done
	tl-compare --names "$names" -d "$1.x" "$1.a.xlsx" "$1.b.xlsx" \
		2>"$1.errx"
	is "$1: the same from workbooks" "$(diff -r "$1" "$1.x" 2>&1)" ''
}

compared bert pair_bert_small mi300_bert_small kernels h100_bert_small kernels
compared nsfw pair_nsfw_vit mi300_nsfw_vit kernels h100_nsfw_vit kernels
compared timesformer pair_timesformer mi300_timesformer kernels \
	h100_timesformer kernels
compared tpt pair_tpt_steps tpt_transformer_step1 kernels \
	tpt_transformer_step2 kernels
compared doc pair_kineto_doc_fix kineto_doc_before_fix kernels \
	kineto_doc_after_fix kernels
compared rocprof pair_rocprof_self rocprofv3_json_908 default \
	rocprofv3_json_908 details

# Our own reports of two traces, as folders and as workbooks (16 digits).
if command -v tl-report >/dev/null && command -v tl-xlsx >/dev/null; then
	for side in mi300 h100; do
		tl-report "$TL_DATA/${side}_nsfw_vit"/*.json.gz -d $side \
			-o $side.xlsx 2>/dev/null
	done
	tl-compare mi300 h100 -d ours 2>/dev/null
	tl-compare mi300.xlsx h100.xlsx -d oursx 2>/dev/null
	oracle check oursx ours unordered >said # a workbook has what tells most first
	rc=$?
	is "our reports, both forms: $(head -n 1 said)" "$rc $(sed 1d said)" '0 '
	is 'with all tables' "$(ls oursx)" "$(ls ours)"
else
	skip 'our reports, both forms' 'tl-report or tl-xlsx was not built'
fi
done_testing
