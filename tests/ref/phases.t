#!/bin/sh
# SPDX-License-Identifier: MIT
# The phases of GPU work and fields of iterations, against an independent
# program.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'

for trace in "$TL_DATA"/inference_*/*.json.gz; do
	name=${trace#"$TL_DATA/"}
	tl-tree "$trace" -o t.tl
	python3 "$ROOT/tests/oracle/phase-sums.py" "$trace" >want
	for phase in decode generic mixed outside prefill; do
		tl-filter --kind kernel,memcpy,memset --phase $phase t.tl 2>/dev/null |
			tl-cat --tsv -F kind,dur | awk -v phase=$phase -F'\t' '
				/^(kernel|memcpy|memset)/ { n++; sum += $2 }
				END { if (n) printf "%s\t%d\t%d\n", phase, n, sum }'
	done >got
	same "$name: GPU work by phase" got want
	python3 "$ROOT/tests/oracle/phase-sums.py" -i "$trace" >want
	tl-steps --format tsv --no-header -c what,phase,batch_size,context_requests,generation_requests,context_sum,generation_sum,c_sk,c_sqsq,c_sqsk,g_sk,g_sqsq,g_sqsk t.tl |
		grep ^step | cut -f2- >got
	same "$name: fields of its iterations" got want
done
done_testing
