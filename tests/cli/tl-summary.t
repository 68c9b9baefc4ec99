#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-summary: verdicts by hand-made tables.
. tests/cli/lib.sh

# timeline COMPUTE COMM COPY IDLE: in ns, into d/
timeline() {
	rm -rf d
	mkdir d
	{
		echo '{"table":"gpu_timeline","columns":[]}'
		printf '{"type":"%s","time_ns":%s,"percent":1}\n' \
			computation_time "$1" exposed_comm_time "$2" \
			exposed_memcpy_time "$3" busy_time $(($1 + $2 + $3)) \
			idle_time "$4" total_time $(($1 + $2 + $3 + $4))
		echo '{"end":{"rows":6}}'
	} >d/gpu_timeline.ndjson
}
verdict() {
	tl-summary --width 999 d | sed -n 3p
}
unified() { # unified BOUND GFLOP MIB ROOF_NS KERNEL_NS
	printf '{"table":"u","columns":[]}\n{"name":"aten::mm","input_dims":[[2,3],[3,2]],"gflop":%s,"moved_mib":%s,"compute_spec":"matrix_bf16","roofline_bound":"%s","kernel_ns_sum":%s,"roof":"X peak","roofline_ns":%s,"lost_ns":%s,"kernel_details_summary":[{"name":"x","lost_ns":7}]}\n{"end":{}}\n' \
		"$2" "$3" "$1" "$5" "$4" $(($5 - $4)) >d/unified_perf_summary.ndjson
}

timeline 900 0 0 100
is 'computation' "$(verdict)" \
	'Of 1.0 us the GPU computed 90.0 % and was idle 10.0 %: computation bounds it.'
timeline 500 300 10 190
is 'communication' "$(verdict)" \
	'Of 1.0 us the GPU computed 50.0 %, communicated with nothing beside 30.0 %, copied 1.0 % and was idle 19.0 %: communication bounds it.'
timeline 500 0 300 200
like 'copies' "$(verdict)" 'copied 30.0 % and was idle 20.0 %: copies bound it'
timeline 100 200 0 700
like 'idle' "$(verdict)" ': the host bounds it'
timeline 900 0 0 100
unified COMPUTE_BOUND 0.1 1.0 450 900
like 'arithmetic' "$(verdict)" 'arithmetic bounds it, at 50.0 % of the roofline'
unified MEMORY_BOUND 0.1 1.0 450 900
like 'memory' "$(verdict)" 'memory bandwidth bounds it, at 50.0 %'

cat >d/ops_summary.ndjson <<'END'
{"table":"ops_summary","columns":[]}
{"name":"a\"b\\\u001b[31m","direct_ns_sum":600,"count":2,"categories":["GEMM","other"]}
{"name":"hipGraphLaunch","direct_ns_sum":300,"count":1,"categories":["other"]}
{"end":{"rows":2}}
END
tl-summary --table t.ndjson d >screen
like 'names stay escaped' "$(cat screen)" \
	'^  a"b\\\\u001b\[31m  *0\.6 us   66\.7 %        2  GEMM, other$'
is 'no control characters' "$(tr -d '\n' <screen | tr -cd '\000-\037')" ''
like 'graph launches' "$(cat screen)" 'graph launches hide the ops of 33.3 %'
is 'the table is JSON' "$(python3 -c '
import json
rows = [json.loads(l) for l in open("t.ndjson")]
print(rows[0]["table"], rows[-1]["end"]["rows"] == len(rows) - 2,
      [r["name"] for r in rows[1:-1] if r["part"] == "op"][0])' | cat -v)" \
	'summary True a"b\^[[31m'
{
	cat d/unified_perf_summary.ndjson
	sed -n '2s/MEMORY/COMPUTE/p' d/unified_perf_summary.ndjson
} >u && mv u d/unified_perf_summary.ndjson
tl-summary --roofs roofs.ndjson d >/dev/null
is 'roofs' "$(head -n 2 roofs.ndjson | tail -n 1)" \
	'{"flop_per_byte":0.05,"matrix_bf16":0.116508}'
like 'flat above the bend' "$(cat roofs.ndjson)" ':20000,"matrix_bf16":222.222}'

refuses 2 'no folder of tables' 'tl-summary'
refuses 2 'unknown option' 'tl-summary --nope d'
refuses 2 'no number of columns' 'tl-summary --width x d'
refuses 1 'no folder' 'tl-summary gone'
mkdir empty
refuses 1 'no table gpu_timeline' 'tl-summary empty'
refuses 1 'could not be written' 'tl-summary d >/dev/full'
page_examples tl-summary.1
done_testing
