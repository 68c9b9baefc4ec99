#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts of tl-replay for the real traces: each of their calls has the
# shapes,
# strides, types and values of the raw trace.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-replay >/dev/null || skip_all 'tl-replay was not built'

traces='h100_bert_small/*.json.gz norm_layer_test/*.json.gz
	multirank_dlrm_v100_8r/worker0* inference_xdit_sd_3_5/*.json.gz'
! slow || traces='*/*.json */*.json.gz */*/*.json.gz'
# shellcheck disable=SC2086 # patterns
(cd "$TL_DATA" && ls -d $traces) 2>/dev/null | sed "s,^,$TL_DATA/," >names
tr '\n' '\0' <names | xargs -0 python3 "$ROOT/tests/oracle/replay_calls.py" \
	"$(echo "$ROOT"/cmd/tl-replay/schemas/*.txt | tr ' ' :)" >lines 2>err
is 'the traces could be compared' "$(cat err)" ''
while read -r line; do
	case $line in
	ok*) pass "${line#ok - }" ;;
	not*) fail "${line#not ok - }" ;;
	*) echo "$line" ;;
	esac
done <lines
done_testing
