#!/bin/sh
# SPDX-License-Identifier: MIT
# rocprofv3's CSV: rows as events, the files of one run as one source.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# ---- one run in three forms ----

for seed in 1 2 3; do
	rm -rf run
	mkdir run
	python3 "$ROOT/tests/oracle/rocprof_forms.py" $seed run
	for form in run_results.json run_kernel_trace.csv run.pftrace; do
		tl-tree run/$form -o run/${form##*.}.tl
		tl-timeline run/${form##*.}.tl >run/${form##*.}.timeline
		tl-kernels -c name,count,dur_ns_sum run/${form##*.}.tl >run/${form##*.}.kernels
		# a copy's thread is not in the CSV
		tl-cat --abs --tsv -F kind,name,ts,dur,corr,gpu_stream,launch run/${form##*.}.tl |
			awk -F'\t' 'NR > 1 && $1 != "meta" { $7 = $7 != ""; print }' | sort >run/${form##*.}.events
	done
	for what in timeline kernels events; do
		same "seed $seed: $what of CSV and JSON" run/csv.$what run/json.$what
		same "seed $seed: $what of .pftrace and JSON" run/pftrace.$what run/json.$what
	done
done
if command -v tl-report >/dev/null; then
	tl-report run/run_results.json >screen 2>err
	is "copies are in each GPU's bar" "$(grep -c '^   [01] \[.*+' screen)" 2
fi
is 'there is work of each kind' "$(cut -d' ' -f1 run/csv.events | sort -u | tr '\n' ' ')" \
	'kernel memcpy runtime '
is 'devices and counters' "$(tl-cat run/csv.tl | jq -c 'select(.kind == "kernel") |
	[.dev, (.args | has("SQ_WAVES") and has("FETCH_SIZE"))]' | sort -u | tr '\n' ' ')" \
	'[0,true] [1,true] '
is 'any of its files stands for the run' \
	"$(tl-decode run/run_hip_api_trace.csv | tl-cat --tsv -F id,kind,name,ts | cksum)" \
	"$(tl-decode run/run_kernel_trace.csv | tl-cat --tsv -F id,kind,name,ts | cksum)"
is 'all of them are one source' \
	"$(tl-decode run/*.csv | tl-cat --tsv -F src,id,kind | cksum)" \
	"$(tl-decode run/run_kernel_trace.csv | tl-cat --tsv -F src,id,kind | cksum)"
tl-report -d all run/*.csv 2>err
tl-report -d one run/run_kernel_trace.csv 2>err
same 'a report counts each GPU event once' all/gpu_timeline.csv one/gpu_timeline.csv
mkdir two && cp run/run_kernel_trace.csv run/run_hip_api_trace.csv two
is 'a report says which file was read with it' "$(tl-report two/run_kernel_trace.csv 2>&1 | head -n 1)" \
	'run_kernel_trace.csv with run_hip_api_trace.csv'
like 'or how many' "$(tl-report run/run_kernel_trace.csv 2>&1 | head -n 1)" \
	'^run_kernel_trace.csv with [234] other files of its run'
# with any program that reads them
for sink in tl-timeline tl-kernels tl-launch tl-health 'tl-cat --tsv -F src,id,kind' 'tl-export --to chrome' 'tl-filter --ndjson' 'tl-merge --ndjson' 'tl-fold --clock cpu'; do
	command -v "${sink%% *}" >/dev/null || continue # a library is missing
	is "$sink of all of them" "$($sink run/*.csv 2>&1 | grep -v '^{"tl":' | cksum)" \
		"$($sink run/run_agent_info.csv 2>&1 | grep -v '^{"tl":' | cksum)"
done
if command -v tl-sql >/dev/null; then
	tl-sql -o run/all.sqlite --events run/*.csv
	is 'tl-sql: each event once' \
		"$(python3 -c 'import sqlite3; print(*sqlite3.connect("run/all.sqlite").execute("SELECT count(*) FROM kernels").fetchone())')" \
		"$(tl-cat --kind kernel --tsv -F id --no-header run/csv.tl | grep -c .)"
fi
is 'from a pipe it is read alone' \
	"$(tl-decode <run/run_hip_api_trace.csv | tl-cat --tsv -F kind --no-header | sort -u)" runtime
rm run/run_kernel_trace.csv
is 'counters alone: a dispatch is one kernel' \
	"$(tl-decode run/run_counter_collection.csv | tl-cat --tsv -F kind,name,ts,dur,corr --abs --no-header |
		grep ^kernel | tr '\t' ' ' | sort)" \
	"$(grep ^kernel run/json.events | cut -d' ' -f1- | awk '{ NF -= 2; print }')"
gzip run/run_hip_api_trace.csv
is 'compressed' "$(tl-decode run/run_hip_api_trace.csv.gz | tl-cat --tsv -F kind --no-header | sort -u)" runtime

# ---- forms of 2024, and odd ones ----

mkdir odd
cat >odd/kernel_trace.csv <<'END'
"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",4,1,74,1,2,"a ""b"", c",14,100,90,0,0,256,1,1,512,1,1

"KERNEL_DISPATCH",4,1,74,1,2,"two
lines",14,,200,0,0,256,1,1,512,1,1
END
is 'quotes, empty fields and lines' "$(tl-decode odd/kernel_trace.csv 2>/dev/null | tl-cat | grep '^{"id"')" \
	'{"id":0,"src":0,"kind":"kernel","cat":"kernel_dispatch","name":"a \"b\", c","ts":100,"dur":0,"tid":74,"dev":4,"corr":14,"flags":["clamped"],"ph":"X","args":{"kind":"KERNEL_DISPATCH","agent_id":4,"device":4,"queue":1,"dispatch_id":1,"correlation":14,"private_segment_size":0,"group_segment_size":0,"block":[256,1,1],"grid":[2,1,1],"kernel_id":2,"end_timestamp":90}}
{"id":1,"src":0,"kind":"kernel","cat":"kernel_dispatch","name":"two\nlines","tid":74,"dev":4,"corr":14,"ph":"X","args":{"kind":"KERNEL_DISPATCH","agent_id":4,"device":4,"queue":1,"dispatch_id":1,"correlation":14,"private_segment_size":0,"group_segment_size":0,"block":[256,1,1],"grid":[2,1,1],"kernel_id":2,"end_timestamp":200}}'
cat >copy.csv <<'END'
"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MEMORY_COPY","DEVICE_TO_HOST","Agent 3","Agent 0","1","10","20"
"MEMORY_COPY","HOST_TO_DEVICE","Agent 0","GPU 1","2","30","40"
END
is 'without agents the direction tells the GPU' \
	"$(tl-decode copy.csv | tl-cat --tsv -F name,dev --no-header | tr '\t\n' ', ')" \
	'DEVICE_TO_HOST,3 HOST_TO_DEVICE,1 '
cat >marker.csv <<'END'
"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MARKER_CORE_RANGE_API","my, range","7","8","1","10","20"
"HSA_CORE_API","hsa_init","7","8","2","11","12"
END
is 'the domain is the category' "$(tl-decode marker.csv | tl-cat --tsv -F kind,cat,name,pid --no-header | tr '\t\n' ',;')" \
	'annotation,marker_api,my, range,7;driver,hsa_api,hsa_init,7;'
{ printf '\357\273\277' && cat marker.csv; } >bom.csv
is 'a byte order mark is no part of the first name' \
	"$(tl-decode bom.csv | tl-cat --tsv -F kind,cat --no-header | tr '\t\n' ',;')" 'annotation,marker_api;driver,hsa_api;'
printf '"Correlation_Id","Start_Timestamp"\n"1"\n' >few.csv
refuses 1 'few.csv: byte 35 \(line 2\): a row has another number of fields than the first' 'tl-decode -o x.tl few.csv'
printf '"Correlation_Id","Start_Timestamp"\n"1","2' >cut.csv
refuses 1 'cut.csv: byte 35 \(line 2\): the data end in a row' 'tl-decode -o x.tl cut.csv'
printf '"Correlation_Id","Start_Timestamp"\n"1"x,"2"\n' >behind.csv
refuses 1 'behind.csv: .*text after a closing quote' 'tl-decode -o x.tl behind.csv'
printf '"Correlation_Id","Start_Timestamp","Counter_Name"\n"1","2","x"\n' >counter.csv
refuses 1 'counter.csv: .*a counter without a dispatch or a value' 'tl-decode -o x.tl counter.csv'

# ---- salvage ----

# saved FILE: kinds and times of the events, the exit status and the fact
saved() {
	tl-decode --salvage --ndjson "$1" 2>err >saved.nd
	echo "$?"
	jq -r 'select(.id) | [.kind, .ts, .dur] | map(tostring) | join(",")' saved.nd
	jq -c 'select(.salvaged) | .salvaged' saved.nd | tail -n 1
	jq -c '.. | objects | select(has("losses"))' saved.nd | tail -n 1
}
is 'rows that are whole, around those that are not' "$({
	cat marker.csv && printf '"X","bad"x,1,2,3,4,5\n"HSA_CORE_API","a","7"\n'
	printf '"HSA_CORE_API","b","7","8","3","20","22"\n"HSA_CORE_API","c","7","8","3","2'
} >hurt.csv && saved hurt.csv | tr '\n' ' ')" \
	'3 annotation,10,10 driver,11,1 driver,20,2 {"losses":3,"bytes":77,"mended":0,"cut":true} '
like 'with their bytes' "$(cat err)" 'hurt.csv: byte [0-9]+: .*text after a closing quote'
sed '1s/,.*/"x/' marker.csv >head.csv
refuses 1 'head.csv' 'tl-decode --salvage -o x.tl head.csv'
is 'what is whole is the same' "$(tl-decode --salvage --ndjson marker.csv | sed 1d | cksum)" \
	"$(tl-decode --ndjson marker.csv | sed 1d | cksum)"
gzip <marker.csv | head -c 150 >half_marker_api_trace.csv.gz
is 'of a compressed file, up to the cut' "$(saved half_marker_api_trace.csv.gz | sed -n '1p;$p' | tr '\n' ' ')" \
	'3 {"losses":2,"bytes":46,"mended":0,"cut":true} '
done_testing
