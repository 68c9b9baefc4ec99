#!/bin/sh
# SPDX-License-Identifier: MIT
# Databases of profilers: every figure in the database, computed from it by SQL
# in another program, is that of our programs.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
rpd=$TL_DATA/rpd_matmul/matmul_result.rpd
tl-decode "$rpd" 2>&1 >rpd.tl | grep -q libsqlite3 && skip_all 'a build without libsqlite3'

# of FILE KIND: count, sum of durations
of() {
	tl-decode --kind "$2" "$1" 2>/dev/null | tl-cat --tsv -F dur --no-header |
		awk '{ n++; ns += $1 } END { print n + 0, ns + 0 }'
}
is 'rpd: kernels' "$(of "$rpd" kernel)" '29 26399795'
is 'rpd: copies' "$(of "$rpd" memcpy)" '55 157512821'
is 'rpd: fills' "$(of "$rpd" memset)" '1 5440'
is 'rpd: calls and overhead' "$(of "$rpd" runtime | cut -d' ' -f1) $(of "$rpd" overhead | cut -d' ' -f1)" '120 5'
is 'rpd: calls, as in the JSON beside it' "$(of "${rpd%.rpd}.json" runtime | cut -d' ' -f1)" 120
is 'rpd: counters, as in the JSON beside it' "$(of "$rpd" counter | cut -d' ' -f1)" 16
is 'rpd: all GPU work is linked to its call' "$(tl-tree "$rpd" | tl-cat --tsv -F kind,launch --no-header |
	awk '$1 ~ /^(kernel|mem)/ { n++; linked += $2 != "" } END { print n, linked }')" '85 85'
is 'rpd: timeline' "$(tl-timeline "$rpd" | awk '$1 ~ /^(busy|total)_time/ { print $1, $2 }' | tr '\n' ' ')" \
	'busy_time 183918056 total_time 2964070817 '
tl-cat --ndjson --abs rpd.tl | jq -c 'select(.top.table == "rocpd_op" and (.top.rowid == 3 or .top.rowid == 4)) |
	[.ts, .dur, .corr, .dev, .args.grid, .args.block]' >two
is 'rpd: work-items become blocks, and blocks stay' "$(cat two)" \
	'[8306020565922417,26211956,29,2,[7,782,1],[256,1,1]]
[8306020592134373,6240,33,2,[1,2,1],[128,1,1]]'
is 'rpd: bytes of copies' "$(tl-cat --ndjson rpd.tl | jq -n '[inputs | select(.kind == "memcpy") | .args] |
	group_by(.kind) | map([.[0].kind, length, (map(.bytes) | add)])' -c)" \
	'[["DtoH",53,296],["HtoD",2,2032000000]]'
is 'rpd: in the order of time' "$(tl-cat --tsv -F ts --no-header rpd.tl | sort -nc 2>&1)" ''
is 'rpd: from a pipe and compressed' "$(gzip -c "$rpd" | tl-decode | tl-cat --tsv -F name,ts,dur,args | md5sum)" \
	"$(tl-cat --tsv -F name,ts,dur,args rpd.tl | md5sum)"
sum() {
	python3 - "$rpd" "$1" <<'END'
import sqlite3, sys
print(*sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(sys.argv[2]).fetchall(), sep="\n")
END
}
is 'rpd: calls by name' "$(tl-cat --tsv -F kind,name,dur --no-header rpd.tl |
	awk -F'\t' '$1 == "runtime" { n[$2]++; ns[$2] += $3 } END { for (k in n) printf "(%c%s%c, %d, %d)\n", 39, k, 39, n[k], ns[k] }' | sort)" \
	"$(sum 'select string, count(*), sum(end - start) from rocpd_api a join rocpd_string s on s.id = apiName_id
		where string like "hip%" group by string' | sort)"

# ---- Nsight Systems ----
nsys=$TL_DATA/nsys_saxpy/saxpy-mpi-cuda_nsys_perlmutter0.sqlite
tl-tree "$nsys" >nsys.tl
is 'nsys: kernels, copies, calls, launches and ranges, as nsys stats defines them' \
	"$(python3 "$ROOT/tests/oracle/nsys.py" check "$nsys")" 'ok 5 15 15 57 5 22'
# as nsys stats prints them: total, number, mean, median, least, greatest, deviation
is 'nsys: cuda_api_sum' "$(tl-launch --table api_summary --no-header nsys.tl \
	-c api,api_ns_sum,count,api_ns_median,api_ns_std | head -n 1 | awk '{ printf "%s %s %s %s %.3f", $1, $2, $3, $4, $5 }')" \
	'cudaMemcpy 374336827 15 19177055.0 9228614.995'
is 'nsys: cuda_gpu_mem_time_sum' "$(tl-launch --table copies --no-header nsys.tl \
	-c time_ns_sum,count,time_ns_mean,time_ns_median,time_ns_min,time_ns_max,time_ns_std |
	awk 'NR == 1 { printf "%s %s %s %s %s %s %.2f; ", $1, $2, $3, $4, $5, $6, $7 }
		NR == 2 { printf "%s %s %s %s %.2f", $1, $2, $3, $4, $7 }')" \
	'186001123 10 18600112.3 18499854.0 18112420 19124598 484041.31; 98698477 5 19739695.4 19736303.0 61712.88'
is 'nsys: and by size' "$(tl-launch --table memory_copy_by_copy_bytes --no-header nsys.tl \
	-c direction,time_ns_median,time_ns_std | awk -F'\t' '{ printf "%s %s %.2f; ", $1, $2, $3 }')" \
	'h2d (GPU 0) 18499854.0 484041.31; d2h (GPU 0) 19736303.0 61712.88; '
is 'nsys: cuda_gpu_kern_sum' "$(tl-kernels --no-header nsys.tl \
	-c dur_ns_sum,count,dur_ns_mean,dur_ns_median,dur_ns_min,dur_ns_max,dur_ns_std |
	awk '{ printf "%s %s %s %s %s %s %.2f", $1, $2, $3, $4, $5, $6, $7 }')" \
	'88573480 5 17714696.0 17713960.0 17700808 17733416 12992.08'
is 'nsys: events by kind' "$(tl-cat --tsv -F cat,kind --no-header nsys.tl | grep -v ^inferred_step | cut -f 2 | sort | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" \
	'22 annotation 1 driver 5 kernel 15 memcpy 8 meta 16 overhead 56 runtime '
is 'nsys: all GPU work is linked to its call' "$(tl-cat --tsv -F kind,launch --no-header nsys.tl |
	awk '$1 ~ /^(kernel|mem)/ { n++; linked += $2 != "" } END { print n, linked }')" '20 20'
is 'nsys: the first kernel' "$(tl-cat --ndjson nsys.tl | jq -c 'select(.top.table == "CUPTI_ACTIVITY_KIND_KERNEL" and .top.rowid == 1) |
	[.name, .ts, .dur, .corr, .dev, .gpu_stream, .args.grid, .args.block, .args["registers per thread"], .args["short name"]]')" \
	'["saxpy(double *, double *, double *, double, int)",924922186,17704808,140,0,7,[2,1,1],[512,1,1],26,"saxpy"]'
is 'nsys: the source' "$(tl-cat --ndjson nsys.tl | jq -c 'select(.source.final) | .source.facts |
	[.format, .rank, .rank_from, .world_size, .epoch, .hostname, .command, .devices[0].name, .devices[0].numSms, (.streams | length)]')" \
	'["nsys",0,"environment",2,"1687813257637297504","nid001608","./saxpy-mpi-cuda","NVIDIA A100-SXM4-40GB",108,7]'
is 'nsys: timeline' "$(tl-timeline nsys.tl | awk '$1 ~ /^(busy|idle|total)_time/ { print $1, $2 }' | tr '\n' ' ')" \
	'busy_time 373273080 idle_time 724054763 total_time 1097327843 '
is 'nsys: calls, their kernels and the positive delays between them' \
	"$(tl-launch -c api,count,api_ns_sum,queue_ns_sum,kernel_ns_sum nsys.tl | tail -n 1)" \
	"$(printf 'cudaLaunchKernel\t5\t160329\t5219\t88573480')"
is 'nsys: what was launched inside of ranges, projected' \
	"$(tl-launch --table launches_by_range -c range,count,gpu_events,range_ns_sum,proj_ns_sum nsys.tl | tail -n 1)" \
	"$(printf 'saxpy\t5\t5\t231248\t88573480')"
is 'nsys: kernels inside of ranges' \
	"$(tl-launch --table kernels_by_range --no-header -c range,kernel,range_count,count,kernel_ns_sum,kernel_ns_median,kernel_ns_min,kernel_ns_max nsys.tl)" \
	"$(printf 'saxpy\tsaxpy(double *, double *, double *, double, int)\t5\t5\t88573480\t17713960.0\t17700808\t17733416')"
is 'nsys: ranges by domain' "$(tl-cat --tsv -F kind,cat,name,dur --no-header nsys.tl |
	awk -F'\t' '$1 == "annotation" && $2 != "inferred_step" { n[$2 ":" $3]++; ns[$2 ":" $3] += $4 } END { for (k in n) print k, n[k], ns[k] }' | sort)" \
	'MPI:MPI_Finalize 1 6351480
MPI:MPI_Init 1 645678983
MPI:MPI_Recv 5 107721088
MPI:MPI_Send 10 136342959
nvtx:saxpy 5 231248'
done_testing
