#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective --vs: two jobs, before and after.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tab=$(printf '\t')
job() { # DIR OPTION...
	d=$1
	shift
	python3 "$ROOT/tests/gen/job.py" -o "$d" "$@"
}
vs() { # COLUMNS OPTION...
	c=$1
	shift
	tl-collective -c "$c" --no-header "$@"
}

# a ring of 100 MB takes 1,000 us, on the bus 150 GB/s: 139.7 of 2^30
same='--group 0=0-3:all_reduce:100000000:1000 --group 1=0,1:all_gather:4000000:50'
# shellcheck disable=SC2086
job before $same
# shellcheck disable=SC2086
job after $same --slow 0=1.25
is 'by hand' "$(vs group,collective,count_before,count_after,latency_ns_mean_before,latency_ns_mean_after,latency_ns_diff,latency_ratio,beyond_noise before --vs after)" \
	"0${tab}allreduce${tab}10${tab}10${tab}1000000.0${tab}1250000.0${tab}250000.0${tab}1.25${tab}true
1${tab}_allgather_base${tab}10${tab}10${tab}50000.0${tab}50000.0${tab}0.0${tab}1.0${tab}false"
is 'bandwidth by hand' "$(vs bus_gib_per_s_p50_before,bus_gib_per_s_p50_after before --vs after | head -n 1)" \
	"139.69838619232178${tab}111.75870895385742"
like 'the headline' "$(tl-collective --format table before --vs after | head -n 1)" \
	'^1 of 2 rows differ beyond noise, most of all allreduce in group 0: 1.000 to 1.250 ms each, 1.25x, \+2.500 ms in 10$'
like 'nothing differs' "$(tl-collective --format table before --vs before | head -n 1)" \
	'^no latency differs beyond noise in 2 rows$'
refuses -o 4 'bandwidth:90% failed in 1 of 2 groups, worst in group 0: allreduce of 100 MB at 80 % of the bandwidth before; required: 90 %' \
	'tl-collective before --vs after --fail-over bandwidth:90%'
quiet 'a gate that holds' 'tl-collective before --vs after --fail-over bandwidth:75% >out'
quiet 'faster is no failure' 'tl-collective after --vs before --fail-over bandwidth:100% >out'

# a change planted in noise is found; one slow collective is no change
noisy="$same --noise 5"
# shellcheck disable=SC2086
job noisy $noisy --seed 1
# shellcheck disable=SC2086
job slower $noisy --seed 2 --slow 1=1.5
# shellcheck disable=SC2086
job once $noisy --seed 3 --slow 1=10:4-4
is 'a slow group' "$(vs group,beyond_noise noisy --vs slower)" "1${tab}true
0${tab}false"
is 'one slow collective' "$(vs beyond_noise noisy --vs once | sort -u)" false

# ---- unplanted pairs ----

# pair N: two jobs of 3 + N collectives a group, with noise of 1 + 2 N %
pair() {
	for seed in $(($1 * 2 + 100)) $(($1 * 2 + 101)); do
		job "pair$seed" --seed "$seed" --noise $((1 + $1 * 2)) \
			--group "0=0-3:all_reduce:100000000:1000:$((3 + $1))" \
			--group "1=0,1:all_gather:4000000:50:$((3 + $1))" \
			--group "2=2,3:all_reduce:4000:15:$((3 + $1))"
	done
}
: >alarms
last=19
! sanitized || last=2
for i in $(seq 0 $last); do
	pair "$i"
	vs group,beyond_noise pair$((i * 2 + 100)) --vs pair$((i * 2 + 101)) | grep true >>alarms
	tl-collective --fail-over bandwidth:95% pair$((i * 2 + 100)) --vs pair$((i * 2 + 101)) \
		>out 2>>alarms
done
is "no alarm in $((last + 1)) unplanted pairs" "$(cat alarms)" ''

# ---- what is not in both ----

job one --group 0=0-3:all_reduce:100000000:1000:1
like 'one collective tells no noise' "$(tl-collective --format table one --vs after | head -n 1)" \
	'^noise unknown: no row has two collectives in each job$'

job other --group 7=0-3:all_reduce:5000:1000
refuses -o 3 'none of 3 kinds of collectives in common' 'tl-collective before --vs other'
is 'rows of one side' "$(vs group,count_before,count_after,latency_ns_diff,beyond_noise before --vs other 2>err |
	sort)" "0${tab}10${tab}0${tab}${tab}
1${tab}10${tab}0${tab}${tab}
7${tab}0${tab}10${tab}${tab}"
refuses -o 3 'bandwidth:80% not judged in 1 of 1 group \(group 7: no collectives of known size in both' \
	'tl-collective before --vs other --fail-over bandwidth:80%'
is 'other tables are of the job before' \
	"$(tl-collective --table nccl_groups -c group --no-header before --vs other | tr '\n' ' ')" '0 1 '
is 'partials' "$(tl-collective --partial before -o before.tl
	tl-collective --partial after -o after.tl
	vs latency_ratio before.tl --vs after.tl | tr '\n' ' ')" '1.25 1.0 '
tl-collective -d dir before --vs after
ok '-d has it' test -s dir/nccl_vs.csv
tl-collective -d none before
ok 'but not of one job' test ! -e none/nccl_vs.csv

# ---- in a report ----

tl-report before --vs after -d report 2>err
is 'tl-report has the sheet' "$(tl-collective --table nccl_vs --format csv --labels before --vs after |
	cmp - report/nccl_vs.csv && echo same)" same
like 'and says it on the screen' "$(tl-report before --vs after 2>err | paste -sd ' ')" \
	'Collectives: allreduce of 100 MB in group 0: 1\.000 ms to 1\.250 ms each \(\+25\.0 %, beyond noise\), \+2\.500 ms in 10 calls\.'
is 'the other way round' "$(tl-report after --vs before 2>err | paste -sd ' ' | grep -o 'each ([^)]*), [-+0-9.]* ms')" \
	'each (-20.0 %, beyond noise), -2.500 ms'
is 'nothing beyond noise: not on the screen' "$(tl-report before --vs before 2>err | grep -c '^Collectives')" 0
tl-report before/rank0.json --vs after/rank0.json -d ranks 2>err
ok 'of one rank each there is none' test ! -e ranks/nccl_vs.csv
tl-report before --vs after/rank0.json -d ranks 2>err
ok 'nor of one against several' test ! -e ranks/nccl_vs.csv
if command -v tl-xlsx >/dev/null; then
	tl-report before --vs after -o report.xlsx 2>err
	is 'in the workbook' "$(python3 "$ROOT/tests/oracle/read_xlsx.py" report.xlsx 2>/dev/null | grep -c '^sheet.*nccl_vs')" 1
fi
tl-report before --vs after --html report.html 2>err
ok 'on the page' grep -q nccl_vs report.html

refuses 2 'nccl_vs needs --vs' 'tl-collective --table nccl_vs before'
refuses 2 'which job is it' 'tl-collective before/rank0.json --vs after/rank0.json after/rank1.json'
refuses 2 'which --vs cannot compare' 'tl-collective --partial before --vs after'
refuses 1 'nothing' 'tl-collective before --vs nothing'

done_testing
