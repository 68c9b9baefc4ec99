#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-decode on rocprofv3's databases, written by their schemas, with the figures
# of the specification's example.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

python3 -c 'import sqlite3' 2>/dev/null || skip_all "Python's sqlite3 is not there"
make_db() { # make_db FILE [VERSION [OPTION...]]
	python3 "$ROOT/tests/oracle/rocpd.py" "$@"
}
make_db a.db
tl-decode a.db -o a.tl 2>err || {
	like 'without libsqlite3 it says so' "$(cat err)" 'SQLite'
	done_testing
	exit
}
tl-tree a.tl -o a.tree
events() { # events STREAM: a line each, without the id
	tl-cat --tsv -F kind,name,ts,dur,pid,tid,dev,gpu_stream,corr,launch \
		--no-header "$1" | sed 's/\t/,/g'
}
is 'ranges, calls, work by its call, allocations' "$(events a.tree)" \
	'annotation,step 1,10000,80000,500,501,,,,
runtime,hipMemcpyAsync,11000,4000,500,501,,,2,
memcpy,MEMORY_COPY_HOST_TO_DEVICE,14000,4000,500,501,0,2,2,2
runtime,hipLaunchKernel,16000,4000,500,501,,,3,
kernel,add(float*),30000,12000,500,501,0,2,3,4
memory,REAL ALLOC,6000,,500,501,0,,5,
instant,tick,21000,,500,501,,,,
instant,MARKER,22000,,500,501,,,,
counter,watt,22000,,500,,,,,
memory,REAL FREE,96000,,500,501,,,6,'
args() { # args FILE KIND: of the first
	tl-cat --kind "$2" --tsv -F args --no-header "$1" | head -n 1
}
is 'grids are blocks, counters of a dispatch are summed' "$(args a.tl kernel)" \
	'{"grid":[256,1,1],"block":[256,1,1],"kernel_id":1,"device":0,"agent":4,"logical":4,"stream":2,"queue":1,"correlation":3,"external_id":77,"dispatch_id":1,"shared memory":1024,"scratch":0,"VGPR":8,"AGPR":0,"SGPR":16,"SQ_WAVES":256}'
is 'what a kernel takes of the GPU' \
	"$(tl-kernels --by launch-config -c registers,accum_registers,scalar_registers,scratch_bytes --no-header a.tree | tr '\t' ,)" \
	8,0,16,0
is 'arguments of a call in their order' "$(args a.tl runtime)" \
	'{"correlation":2,"ancestor":1,"dst":"0x7f00","sizeBytes":"4096"}'
is 'copies: bytes, from where to where' "$(args a.tl memcpy)" \
	'{"dst":"GPU 0","src":"CPU 0","device":0,"stream":2,"queue":1,"correlation":2,"bytes":4096,"dst_address":32512,"src_address":4096}'
is 'a counter that is no integer is a number, also in NDJSON' \
	"$(tl-cat --kind counter a.tl | grep -c '"value":350\.5}')" 1
is 'what is freed has the size that was allocated' \
	"$(tl-cat --kind memory --tsv -F args.Bytes --no-header a.tl | tr '\n' ' ')" \
	'1048576 -1048576 '
is 'where a row is' "$(tl-cat --kind kernel --tsv -F top.table,top.rowid --no-header a.tl)" \
	"$(printf 'rocpd_kernel_dispatch_0198c1f2_7000_7d1f_8a3b_00000000007f\t1')"
is 'busy time is a union' "$(tl-timeline a.tree | grep '^busy' | cut -f 2)" 16000
tl-cat --header a.tree >header
for fact in 'hostname *"node1"' 'command *"./app 500"' 'rank *0' \
	'rank_from *"environment"' 'world_size *3' 'window_start *9000' \
	'window_end *100000' '"name":"AMD Instinct MI300X".*"numSms":304'; do
	like "a fact: $fact" "$(cat header)" "$fact"
done
is 'nothing else of the environment' "$(tl-cat a.tree | grep -c secret)" 0
for version in 3.0.3 4.1.0; do
	make_db v.db $version
	tl-tree v.db -o v.tree
	is "the same of $version" "$(events v.tree | grep -v ,31000,)" \
		"$(events a.tree)"
	is 'and its counters' "$(args v.tree kernel)" "$(args a.tree kernel)"
done
make_db v.db 3.0.3
like 'a streaming counter is one at its sample' "$(tl-decode v.db | events -)" \
	'counter,SQ_WAVES,31000,,500,'
python3 - <<'END'
import sqlite3
db = sqlite3.connect("v.db")
name = [r[0] for r in db.execute("select name from sqlite_master where name glob 'rocpd_string*'")][0]
suffix = name[len("rocpd_string"):]
db.execute(f"insert into {name} (id, string) values (900, 'HIP_EVENT_RECORD'), (901, 'HIP_EVENT_WAIT')")
db.execute(f"create table rocpd_hip_event{suffix} (id integer primary key, nid, pid, tid, agent_id, queue_id, "
           "source_queue_id, stream_id, start, end, name_id, event_id)")
pid, tid, agent = db.execute(f"select pid, tid, agent_id from rocpd_kernel_dispatch{suffix}").fetchone()
db.executemany(f"insert into rocpd_hip_event{suffix} values (?, 1, ?, ?, ?, 1, ?, 2, ?, ?, ?, NULL)",
               [(1, pid, tid, agent, None, 43000, 43100, 900), (2, pid, tid, agent, 4, 43200, 43900, 901)])
db.commit()
END
like 'events of HIP on the GPU, and waits for them' "$(tl-decode v.db | events - | grep HIP_EVENT | tr '\n' ' ')" \
	'gpu_event,HIP_EVENT_RECORD,43000,100,500,501,0,2,, sync,HIP_EVENT_WAIT,43200,700,500,501,0,2,, '
for option in bare plain; do
	make_db v.db 3.0.0 $option
	tl-tree v.db -o v.tree
	is "the same of names with another end: $option" "$(events v.tree)" \
		"$(events a.tree)"
done
gzip -c a.db >a.db.gz
is 'compressed, from a pipe' "$(tl-cat --tsv -F name,ts - <a.db.gz | cksum)" \
	"$(tl-cat --tsv -F name,ts a.tl | cksum)"

for version in 3.0.0 4.1.0; do
	make_db merged.db $version merged
	tl-tree merged.db -o merged.tree
	is "$version: each process is a source, with its own ids" \
		"$(tl-cat --kind kernel --tsv -F src,rank,pid,ts,launch --no-header merged.tree | tr '\t\n' ' ;')" \
		'0 0 500 30000 4;1 1 600 31000 4;2 0 700 32000 4;'
	is 'and has its own host and GPUs' \
		"$(tl-cat --header --ndjson merged.tree | grep -o '"hostname":"[^"]*"\|"id":0' | tr '\n' ' ')" \
		'"id":0 "hostname":"node1" "id":0 "hostname":"node1" "id":0 "hostname":"node2" '
done
make_db null.db 3.0.0 null
tl-tree null.db -o null.tree
is 'rows whose keys lead nowhere stay' \
	"$(events null.tree | grep 'unknown\|lost')" \
	'kernel,unknown_kernel_99,50000,500,500,501,,2,,
slice,lost,51000,500,500,,,,,'
make_db bad.db 3.0.0 bad
# one ends before it starts
reports 3 skipped 'tl-decode bad.db -o bad.tl'
is 'the rest is the same' "$(events bad.tl | grep -v unknown_kernel | grep -vc slice)" 10
make_db lz4.db 4.1.0 lz4
refuses 3 'marker texts .* unsupported compression' \
	'tl-decode lz4.db -o lz4.tl && exit 1; exit $?'
is 'without its text a marker has its name' \
	"$(events lz4.tl | grep annotation)" \
	'annotation,roctxThreadRangeA,10000,80000,500,501,,,,'
done_testing
