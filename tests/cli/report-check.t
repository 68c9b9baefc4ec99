#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-report --check: the tables of ops against the GPU events of the tree.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-ops >/dev/null || skip_all 'tl-ops is not built'

# twice an op with two kernels that overlap by 3 us; an op with one kernel; a
# collective, and a kernel without a launch
{
	for i in 0 1; do
		at=$((100 * i))
		ev cpu_op aten::a 1 $at 50
		for k in 0 1; do
			ev cuda_runtime cudaLaunchKernel 1 $((at + 10 * k + 1)) 5 "\"correlation\":$((10 * i + k))"
			ev kernel k$k $((7 + k)) $((at + 20 + 7 * k)) 10 "\"correlation\":$((10 * i + k)),\"device\":0,\"stream\":$((7 + k))"
		done
	done
	ev cpu_op aten::b 1 200 50
	ev cuda_runtime cudaLaunchKernel 1 210 5 '"correlation":20'
	ev kernel k0 7 220 4 '"correlation":20,"device":0,"stream":7'
	ev cpu_op c10d::allreduce_ 1 300 50
	ev cuda_runtime cudaLaunchKernel 1 310 5 '"correlation":30'
	ev kernel ncclKernel_AllReduce 7 320 9 '"correlation":30,"device":0,"stream":7'
	ev kernel k0 7 400 2 '"correlation":99,"device":0,"stream":7'
} | trace >a.json
tl-report a.json --check -d out 2>err
is 'what is compared, by hand' "$(cat out/checks.csv)" \
	'table,is_whole,events_listed,events_linked,names_unlike,gpu_ns_sum,busy_ns,linked_ns_sum
ops_unique_args,True,5,5,0,38000,38000,44000
unified_perf_summary,True,5,5,0,38000,38000,44000'
tl-report a.json --check >screen 2>err
like 'on the screen' "$(sed -n '/^checks/,$p' screen | tr -s ' \n' ' ')" \
	'^checks - ops_unique_args passed: 5 of 5 GPU events with a launch, collectives aside; 38.0 us in all, GPU busy for 38.0 us - unified_perf_summary passed: '
is 'collectives of the user are left out, too' "$(tl-report a.json --check --comm-pattern k1 -d out 2>err
	cut -d, -f 1-5 out/checks.csv | sed 1d | tr '\n' ' ')" \
	'ops_unique_args,True,3,3,0 unified_perf_summary,True,3,3,0 '
is 'of what is selected' "$(tl-report a.json --check --to 150us -d out 2>err
	cut -d, -f 1-5 out/checks.csv | sed 1d | tr '\n' ' ')" \
	'ops_unique_args,True,4,4,0 unified_perf_summary,True,4,4,0 '
ok 'rows that --top leaves out are checked' tl-report a.json --check --top 1 -d out
is 'several traces' "$(cp a.json rank-0.json && cp a.json rank-1.json
	tl-report rank-0.json rank-1.json --check -d out 2>err
	cut -d, -f 1-5 out/checks.csv | sed 1d | tr '\n' ' ')" \
	'ops_unique_args,True,10,10,0 unified_perf_summary,True,10,10,0 '
ev kernel k 7 400 2 '"device":0,"stream":7' | trace >gpu.json
like 'without ops' "$(tl-report gpu.json --check 2>&1)" 'none: there are no ops'
ok 'the sample' tl-report --check "$SAMPLE"

# ---- wrong tables, from a program in place of tl-ops ----

mkdir fake
for p in "$B"/bin/*; do ln -s "$p" fake; done
rm fake/tl-report fake/tl-ops
cp "$B/bin/tl-report" fake
cat >fake/tl-ops <<END
#!/bin/sh
"$B/bin/tl-ops" "\$@" || exit
while [ "\$1" != -d ]; do shift; done
sed -i -f "$TMP/wrong.sed" "\$2/ops_unique_args.ndjson"
END
chmod +x fake/tl-ops
wrong() { # wrong SED: the table, edited by sed
	echo "$1" >wrong.sed
	fake/tl-report a.json --check -d wrong >/dev/null 2>err
	echo "$? $(cut -d, -f 2-6 wrong/checks.csv | sed -n 2p)"
}
is 'a call too many' "$(wrong 's/"count":1,/"count":2,/')" '3 False,6,5,1,38000'
is 'another kernel' "$(wrong 's/"name":"k1"/"name":"k2"/')" '3 False,5,5,2,38000'
is 'too little time' "$(wrong 's/"direct_ns_sum":34000/"direct_ns_sum":33999/')" '3 False,5,5,0,37999'
is 'too much' "$(wrong 's/"direct_ns_sum":34000/"direct_ns_sum":40001/')" '3 False,5,5,0,44001'
is 'the row is not there' "$(wrong '/aten::b/d; s/"rows":2/"rows":1/')" '3 False,4,5,1,34000'

# an op whose second call has one more kernel is listed with its first call
# only: that leaves room for these two kernels, and for none of other ops
{
	sed '1d; $d; s/,$//' a.json
	for i in 0 1; do
		at=$((500 + 100 * i))
		ev cpu_op aten::c 1 $at 50
		for k in $(seq 0 $i); do
			ev cuda_runtime cudaLaunchKernel 1 $((at + 10 * k + 1)) 5 "\"correlation\":$((50 + 10 * i + k))"
			ev kernel "kc$k" 7 $((at + 20 + 12 * k)) 10 "\"correlation\":$((50 + 10 * i + k)),\"device\":0,\"stream\":7"
		done
	done
} | trace >vary.json
tl-report vary.json --check >screen 2>err
like 'and why there are fewer' "$(sed -n '/^checks/,$p' screen | tr -s ' \n' ' ')" \
	'^checks - ops_unique_args passed: 6 of 8 .* collectives aside; the other 2 are in calls with another number of kernels, and only their time counts; '
echo '/aten::a/d; s/"rows":3/"rows":2/' >wrong.sed
fake/tl-report vary.json --check -d wrong >/dev/null 2>err
is 'that is no excuse for others' "$? $(cut -d, -f 2-5 wrong/checks.csv | sed -n 2p)" '3 False,2,8,3'
echo 's/"count":1,/"count":2,/' >wrong.sed
reports 3 check-count 'fake/tl-report a.json --check'
echo 's/"direct_ns_sum":34000/"direct_ns_sum":33999/' >wrong.sed
reports 3 check-time 'fake/tl-report a.json --check'
done_testing
