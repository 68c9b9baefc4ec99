#!/bin/sh
# SPDX-License-Identifier: MIT
# Classes of kernels, launch configurations and calls of real traces of rocprofv3,
# against figures computed from the raw files.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
for trace in "$TL_DATA"/rocprofv3_json_*/*_results.json.gz "$TL_DATA"/rocprofv3_csv_*/*kernel_trace.csv; do
	is "${trace##*/}" "$(PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/oracle/activity.py" --raw "$trace" | cut -c 1-2)" ok
done
done_testing
