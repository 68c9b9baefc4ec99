#!/bin/sh
# SPDX-License-Identifier: MIT
# Known figures of HTA's analyses, without its defects: exact times (it rounds
# to microseconds), GPU stream 0 and HIP's calls count.
. tests/cli/lib.sh

# ---- the classes of intervals, by hand (6) ----

kernel() { # kernel TS END LAUNCH CORR
	ev kernel k 7 "$1" $(($2 - $1)) "\"device\":0,\"stream\":7,\"correlation\":$4"
	ev cuda_runtime cudaLaunchKernel 1 "$3" 1 "\"correlation\":$4"
}
{
	kernel 100 110 95 1
	kernel 112 120 101 2
	kernel 160 170 130 3
	kernel 175 180 115 4
} | trace >small.json
is 'waiting for the host, and for a kernel' \
	"$(rows 'tl-idle --table idle_by_stream -c cause,time_ns small.json')" \
	'host_wait 40000.kernel_wait 7000.'

# ---- real traces: section 20's exact figures of trace C, by hand ----

have_data || skip_all 'no reference traces (TL_DATA)'
c=$TL_DATA/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz
tl-tree -o c.tl "$c"
tl-filter --step 15-17 -o steps.tl c.tl

# exact FILE [OPTION...]: figures of the work that steps 15 to 17 launched. HTA's
# computation has no fills (memory), which tl-timeline counts as computation: it
# and its exposed part are sums of kinds. Communication is the same in both.
# --from: not of the steps' whole time, see selections.sh.
exact() {
	tl-cat "$@" 2>/dev/null | jq -c 'select(.kind == ("kernel", "memcpy", "memset"))' | grep -c . | sed 's/^/rows /'
	tl-timeline --from 0ns "$@" --no-header | awk '$1 == "total_time" { print "span", $2 }
		$1 == "idle_time" { print "idle", $2, sprintf("%.2f", $3) }
		$1 == "total_comm_time" { print "communication", $2 }'
	tl-timeline --from 0ns --table gpu_busy_kinds "$@" --no-header | awk -F '\t' '
		{ print $1, $2, sprintf("%.1f", $3); is[$1 ~ /computation/] += $2 }
		END { print "compute", is[1]; print "non-compute", is[0] }'
	tl-idle --table idle_by_stream -c gpu_stream,cause,time_ns "$@" --no-header | tr '\t' ' ' | sort
	# launches of all calls: mean delay in us
	tl-launch --table launches_by_api -c gpu_events,short_kernel_count,api_outlier_count,delay_outlier_count,queue_ns_sum \
		"$@" --no-header | awk '{ n += $1; s += $2; a += $3; d += $4; q += $5 }
		END { printf "launches %d %d %d %d %.2f\n", n, s, a, d, q / n / 1000 }'
	tl-launch --table queue_length -c gpu_stream,points,length_mean,length_max,length_time_mean,full_ns \
		"$@" --no-header | awk '{ printf "queue %s %d %.3f %d %.3f %d\n", $1, $2, $3, $4, $5, $6 }' | sort
}
cat >want <<'END'
rows 2685
idle 283536 0.50
span 56517603
communication 47200310
computation 7316921 13.0
communication 35038710 62.3
memory 1716836 3.1
computation + communication 11917173 21.2
communication + memory 244427 0.4
compute 19234094
non-compute 36999973
0 kernel_wait 2347418
0 other 32974828
4 kernel_wait 111940
4 other 8901355
launches 2685 509 0 2685 27878.83
queue 0 5346 1064.952 1840 867.533 35885892
queue 4 24 4.750 8 4.595 0
END
exact steps.tl >got
ok 'figures of what tl-filter kept' diff want got
# tl-cat's lines are chosen by row, without steps
exact --step 15-17 c.tl | sed 1d >got
sed 1d want >want.rest
ok 'the same with the selection in each program' diff want.rest got
is 'overlap' "$(awk '$2 == "+" && /computation/ { print $4 }
	/^communication [0-9]*$/ { print $2 }' want | paste -sd ' ' | awk '{ printf "%.2f", $2 / $1 * 100 }')" 25.25

# ---- the same selection in a program and before it ----

# Figures of the selected GPU events alone; causes, layers of the host and the
# time of steps depend on other events, which a filter drops.
tables='tl-timeline --from 0ns|tl-timeline --from 0ns --table gpu_busy_kinds|tl-idle --table idle_by_stream|tl-launch --table launches_by_api|tl-launch --table launches_by_op|tl-launch --table queue_length|tl-launch --table copies'
for name in mi300_ddp_resnet18 hta_amd_mi250_minitoy multirank_hta_sampled_2of128; do
	file=$(find "$TL_DATA/$name/" -name '*.json.gz' ! -path '*/reference/*' | sort | head -n 1)
	tl-tree -o t.tl "$file" 2>/dev/null
	n=0
	for step in first last 2-3; do
		tl-filter --step $step -o f.tl t.tl 2>/dev/null || continue
		printf '%s\n' "$tables" | tr '|' '\n' >list
		while read -r table; do
			$table --step $step t.tl >inside 2>/dev/null || continue
			# a step without GPU events is idle, but has no intervals
			[ "$(wc -l <inside)" -gt 1 ] || continue
			$table f.tl >kept 2>/dev/null
			n=$((n + 1))
			cmp -s inside kept || echo "$table --step $step"
		done <list
	done >differ
	is "$name: tables of selected steps" "$(cat differ)" ''
	ok "$name: has some" test "$n" -ge 6
done

done_testing
