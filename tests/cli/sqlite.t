#!/bin/sh
# SPDX-License-Identifier: MIT
# Databases: contents that no real one here has, or that nobody would write.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v python3 >/dev/null || skip_all 'no python3'
printf 'SQLite format 3\000' >none
tl-decode none 2>&1 | grep -q libsqlite3 && skip_all 'a build without libsqlite3'

# db FILE: the SQL on standard input as a database
db() {
	rm -f "$1"
	python3 -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.executescript(sys.stdin.read())' "$1"
}
# says STATUS WORDS FILE: tl-decode ends so
says() {
	refuses "$1" "$2" "tl-decode -o x.tl $3"
}
# events FILE FIELDS: of each event
events() {
	tl-decode "$1" 2>err | tl-cat --ndjson 2>/dev/null | jq -c "select(.id != null) | $2"
}

# ---- unknown and damaged databases ----
says 1 'not a database' none
db empty </dev/null
says 1 'empty' empty
db other <<'END'
CREATE TABLE t (a); CREATE VIEW "v	w" AS SELECT 1;
END
says 1 'no known profiler: its tables are t, v.*w' other
db nvprof <<'END'
CREATE TABLE StringTable (a); CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (a);
END
says 1 'nvprof' nvprof

# ---- .rpd ----
rpd() {
	cat <<'END'
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, start, end, description_id, opType_id);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id, op_id);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, 'UserMarker'),
	(6, 'aten::mm, seq = 7, op_id = 43, sizes = [[8, 16], [16, 4], []], input_op_ids = [(42,0), (41,1)]'),
	(7, 'step 1'), (8, CAST(x'ff61' AS TEXT)), (9, 'aten::t'), (10, 'a, sizes = [[8'), (11, 'AddBackward0, stashed seq=4, seq=5'),
	(12, 'b, sizes = [[8,,1-]]');
END
}
{ rpd; cat <<'END'; } | db marks
INSERT INTO rocpd_api VALUES (1, 5, 6, 100, 200, 5, 6), (2, 5, 6, 90, 300, 5, 7), (3, 5, 6, 150, 150, 5, 7),
	(4, 5, 6, 160, 170, 2, 1), (5, 5, 6, 110, 120, 5, 8), (6, 5, 6, 111, 112, 5, 9), (7, 5, 6, 113, 114, 5, 10),
	(8, 5, 6, 115, 116, 5, 11), (9, 5, 6, 117, 118, 5, 12);
INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 180, 190, 3, 4);
INSERT INTO rocpd_api_ops VALUES (1, 4, 1), (2, 2, 1);
END
is 'marks are ops by what their texts say' "$(events marks '[.kind, .name, .ts, .args]')" \
	'["annotation","step 1",90,null]
["op","aten::mm",100,{"Sequence number":7,"op_id":43,"Input Dims":[[8,16],[16,4],[]],"input_op_ids":[[42,0],[41,1]]}]
["annotation","�a",110,null]
["op","aten::t",111,null]
["annotation","a, sizes = [[8",113,null]
["op","AddBackward0",115,{"Sequence number":5,"stashed seq":4}]
["annotation","b, sizes = [[8,,1-]]",117,null]
["instant","step 1",150,null]
["runtime","hipLaunchKernel",160,{"correlation":4}]
["kernel","gemm",180,{"device":0,"stream":1,"correlation":4}]'
is 'of two calls of an op the later one launched it; ops own kernels' \
	"$(tl-ops marks | head -n 2 | tail -n 1 | cut -f 1)" 'aten::mm'

{ rpd; cat <<'END'; } | db rivals
INSERT INTO rocpd_string VALUES (20, 'hipStreamSynchronize'), (21, 'hipModuleLaunchKernel'), (22, 'both'), (23, 'inner'), (24, 'earlier'),
	(25, 'sync'), (26, 'late'), (27, 'overlap'), (28, 'endless'), (29, 'same'), (30, 'open');
INSERT INTO rocpd_api VALUES (1, 5, 6, 100, 110, 2, 1), (2, 5, 6, 120, 130, 21, 1), (3, 5, 6, 200, 290, 2, 1), (4, 5, 6, 210, 220, 21, 1),
	(5, 5, 6, 300, 310, 2, 1), (6, 5, 6, 330, 340, 2, 1), (7, 5, 6, 400, 410, 2, 1), (8, 5, 6, 420, 430, 20, 1),
	(9, 5, 6, 500, 510, 2, 1), (10, 5, 6, 520, 530, 2, 1), (11, 5, 6, 600, 620, 2, 1), (12, 5, 7, 610, 620, 2, 1),
	(13, 5, 6, 700, NULL, 2, 1), (14, 5, 6, 710, NULL, 21, 1), (15, 5, 6, 750, 760, 2, 1), (16, 5, 6, 750, 760, 21, 1),
	(17, 5, 6, 800, NULL, 2, 1), (18, 5, 6, 810, 815, 21, 1);
INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 180, 190, 22, 4), (2, 0, 1, 0, 250, 260, 23, 4), (3, 0, 1, 0, 320, 325, 24, 4),
	(4, 0, 1, 0, 450, 460, 25, 4), (5, 0, 1, 0, 499, 505, 26, 4), (6, 0, 1, 0, 650, 660, 27, 4),
	(7, 0, 1, 0, 720, 730, 28, 4), (8, 0, 1, 0, 770, 780, 29, 4), (9, 0, 1, 0, 820, 830, 30, 4);
INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 1), (3, 4, 2), (4, 3, 2), (5, 6, 3), (6, 5, 3), (7, 8, 4), (8, 7, 4),
	(9, 9, 5), (10, 10, 5), (11, 11, 6), (12, 12, 6), (13, 13, 7), (14, 14, 7), (15, 15, 8), (16, 16, 8), (17, 17, 9), (18, 18, 9);
END
is 'the launch of several calls: within one another, or the only one before, or none is proven' \
	"$(events rivals 'select(.kind == "kernel") | [.name, .corr]' | tr '\n' ' ')" \
	'["both",null] ["inner",4] ["earlier",5] ["sync",7] ["late",null] ["overlap",null] ["endless",null] ["same",null] ["open",null] '
reports 3 ambiguous-ops 'tl-timeline rivals'
reports 3 no-op-launch 'tl-timeline rivals'
tl-decode rivals 2>err | tl-link -o rivals.tl 2>err
is 'which is counted once, however often they are linked' \
	"$(tl-tree --link auto rivals.tl 2>err | tl-cat | jq -c 'select(.source.final) | .source.facts | [.ambiguous_ops, .unlaunched_ops, .ambiguous]')" '[5,1,null]'
reports 3 ambiguous-ops 'tl-timeline rivals.tl'
reports 3 no-op-launch 'tl-timeline rivals.tl'

{ rpd; cat <<'END'; } | db monitors
CREATE TABLE rocpd_monitor (deviceType, deviceId, monitorType, start, end, value);
INSERT INTO rocpd_monitor VALUES ('gpu', 0, 'sclk', 1, 2, '1500'), ('gpu', 0, 'power', 3, 4, '95.5'), ('gpu', 0, 'temp', 5, 6, 41.5),
	('gpu', 0, 'fan', 7, 8, 'N/A');
END
is 'values of monitors are numbers' "$(events monitors '[.name, .args.value]' | sort -u | tr '\n' ' ')" \
	'["fan","N/A"] ["power",95.5] ["sclk",1500] ["temp",41.5] '

{ rpd; cat <<'END'; } | db odd
INSERT INTO rocpd_api VALUES (1, 5, 6, 100, NULL, 2, 99), (2, 5, 6, 'x', 300, 2, NULL), (3, '', NULL, 150, 140, 2, 1),
	(4, 5, 6, 9223372036854775807, -9223372036854775808, 2, 1), (5, 5, 6, 1.5, 7, 2, 1), (6, 5, 6, NULL, NULL, x'00', 1);
END
is 'values of any type' "$(events odd '[.name, .ts, .dur, .ph, .flags, .args]')" \
	'["",null,null,"X",null,{"correlation":6}]
["hipLaunchKernel",null,null,"X",null,{"start":1.5,"end":7,"correlation":5}]
["hipLaunchKernel",100,null,"X",null,{"correlation":1}]
["hipLaunchKernel",150,0,"X",["clamped"],{"end":140,"correlation":3}]
["hipLaunchKernel",null,null,"X",null,{"start":"#9223372036854775807","end":"#-9223372036854775808","correlation":4}]
["hipLaunchKernel",null,null,"X",null,{"start":"x","end":300,"correlation":2}]'
like 'and what no table can count is a warning' "$(cat err)" '6 events skipped: 4 .* time, 2 '

{ rpd; cat <<'END'; } | db ranks
INSERT INTO rocpd_api VALUES (1, 5, 6, 100, 110, 2, 1), (2, 7, 8, 90, 95, 2, 1), (3, 9, 9, 50, 60, 2, 1);
INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 180, 190, 3, 4), (2, 1, 1, 0, 170, 180, 3, 4);
INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2);
END
is 'each process with work on a GPU is a source, others are with the first' \
	"$(events ranks '[.src, .id, .pid, .ts]' | tr '\n' ' ')" '[0,0,9,50] [0,1,5,100] [0,2,5,180] [1,0,7,90] [1,1,7,170] '

printf 'CREATE TABLE rocpd_api (id, pid, start); CREATE TABLE rocpd_op (id, start);' | db bare
is 'tables without other columns, without rows' "$(events bare .kind)" ''
printf 'CREATE TABLE rocpd_op (a); CREATE VIEW rocpd_api AS SELECT 1 AS id;' | db view
says 1 'no known profiler' view
printf 'CREATE TABLE rocpd_api (id PRIMARY KEY, pid, start) WITHOUT ROWID; CREATE TABLE rocpd_op (id, start);' | db rowless
says 1 'table rocpd_api: no such column: c.rowid' rowless
# a number twice: one counts, not their product
{ rpd | sed 's/INTEGER PRIMARY KEY//'; cat <<'END'; } | db keyless
INSERT INTO rocpd_string VALUES (2, 'again');
INSERT INTO rocpd_api VALUES (1, 5, 6, 100, 110, 2, 1), (1, 5, 6, 101, 110, 2, 1);
INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 180, 190, 3, 4), (1, 0, 1, 0, 181, 190, 3, 4);
INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (1, 1, 1);
END
is 'tables without keys' "$(events keyless .kind | sort | uniq -c | tr -s ' \n' ' ')" ' 2 "kernel" 2 "runtime" '


# ---- Nsight Systems ----
oracle=$ROOT/tests/oracle/nsys.py
for version in 2021 2022 2023 2024; do
	python3 "$oracle" make $version 7 400 "nsys$version"
	like "nsys of $version: figures are those of nsys stats" "$(python3 "$oracle" check nsys$version)" '^ok '
done
is 'the environment stays where it is' "$(tl-decode nsys2024 2>err | tl-cat | grep -c 'secret\|/root')" 0
like 'what the recorder lost is a warning' "$(cat err)" \
	'nsys2024: the recording is incomplete \(1 time\): Not all CUDA events might have been collected'
is 'and a fact' "$(tl-decode nsys2024 2>/dev/null | tl-cat | jq -c 'select(.source.final) | .source |
	[.src, .facts.losses, .facts.rank, .facts.rank_from, .facts.world_size]' | tr '\n' ' ')" \
	'[0,1,0,"order",null] [1,1,1,"order",null] '
cp nsys2024 other2024
is 'ranks of several files are told apart' "$(tl-decode nsys2024 other2024 2>/dev/null | tl-cat |
	jq -c 'select(.source.final) | .source.facts.rank' | tr '\n' ' ')" '0 1 2 3 '
is 'ids link within a process' "$(tl-tree nsys2024 2>/dev/null | tl-cat | jq -s -c '[.[] | select(.id != null)] |
	(map({key: "\(.src) \(.id)", value: .pid}) | from_entries) as $p |
	map(select(.launch != null) | .pid == $p["\(.src) \(.launch)"]) | unique')" '[true]'
is 'times of counters' "$(events nsys2024 'select(.kind == "counter") | [.name, .ts, .args]' | tr '\n' ' ')" \
	'["SM Active",100,{"value":40}] ["SM Active",200,{"value":60}] '
like 'ops of emit_nvtx have shapes' "$(tl-ops --by args nsys2022 2>/dev/null | grep aten::mm)" 'GEMM.*\[\[8,16\],\[16,4\]\]'

sets() {
	cat <<'END'
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value);
INSERT INTO StringIds VALUES (1, 'cudaGraphLaunch_v10000'), (2, 'fill'), (3, 'cuMemcpyHtoD_v2'), (4, 'registered');
CREATE TABLE META_DATA_EXPORT (name, value);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId);
CREATE TABLE NVTX_EVENTS (start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId,
	domainId, int64Value, jsonText);
END
}
{ sets; cat <<'END'; } | db odd_nsys
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.0.0'), ('EXPORT_PARAM_TIME_NORMALIZE', 'true');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, 16777217, 1, 1, 0, NULL), (990, 1110, 67, 16777217, 1, 1, 0, 9),
	(1200, 1210, 67, 16777217, 2, 1, 0, 8), (1300, 1310, 1, 16777217, 3, 3, 700, NULL), (1400, 1410, 0, NULL, NULL, NULL, 0, NULL),
	(1450, 1460, 67, 16777217, NULL, 1, 0, 7);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, correlationId, globalPid, graphId);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1050, 1060, 0, 7, 1, 16777216, 5);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, globalPid, bytes, memKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1061, 1070, 0, 4294967295, 99, 16777216, 4096, 2);
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, textId, endGlobalTid, int64Value, jsonText, category) VALUES
	(1, NULL, 33, 'loading', 16777217, 0, NULL, NULL, NULL, NULL, 3),
	(1500, 1600, 60, 'outer', 16777217, 0, NULL, NULL, 5, '{"a": [1, 2]}', 3),
	(1550, 1650, 60, 'crossing', 16777217, 0, NULL, NULL, NULL, '{"a', NULL),
	(1560, 1570, 60, 'elsewhere', 16777217, 0, NULL, 16777218, NULL, NULL, NULL),
	(1580, NULL, 34, NULL, 16777217, 0, 4, NULL, NULL, NULL, NULL),
	(1590, NULL, 59, 'open', 16777217, 0, NULL, NULL, NULL, NULL, NULL),
	(1, NULL, 39, 'main', 16777217, 0, NULL, NULL, NULL, NULL, NULL);
END
is 'versions, backtraces, graphs, ranges of all kinds' "$(events odd_nsys '[.kind, .name, .ts, .dur, .corr, .args]')" \
	'["meta","thread_name",null,null,null,{"name":"main"}]
["runtime","cudaGraphLaunch",1000,100,1,{"correlation":1,"callchainId":9}]
["kernel","CUDA Graph 5",1050,10,1,{"stream":7,"device":0,"correlation":1,"graph":5}]
["memset","Memset (Device)",1061,9,99,{"device":0,"correlation":99,"bytes":4096}]
["runtime","cudaGraphLaunch",1200,10,2,{"correlation":2,"callchainId":8}]
["driver","cuMemcpyHtoD_v2",1300,10,3,{"correlation":3,"returnValue":700}]
["runtime","",1400,10,null,null]
["runtime","cudaGraphLaunch",1450,10,null,null]
["annotation","outer",1500,100,null,{"category":"loading","payload":5,"json":{"a":[1,2]}}]
["async","crossing",1550,100,null,{"json":"{\"a"}]
["async","elsewhere",1560,10,null,null]
["instant","registered",1580,null,null,null]
["annotation","open",1590,null,null,null]'
like 'a newer schema is a warning' "$(cat err)" 'database schema 4 is newer'
like 'replays in one row are one, too' "$(cat err)" '1 graph replay is recorded as one row each; nsys --cuda-graph-trace=node'
{ sets; cat <<'END'; } | db named
ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData;
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, globalPid);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10, 20, 0, 7, 16777216);
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, binaryData) VALUES (1, 5, 59, 'a', 16777217, x'0102');
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId, processId, contextId, priority, flag);
INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 1, 1, 0, 1), (13, 1, 1, 4294967291, 2);
CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM (name, processId, streamId);
INSERT INTO TARGET_INFO_NVTX_CUDA_STREAM VALUES ('prefetch', 1, 13), ('other', 2, 7);
END
is 'GPU streams have the names of NVTX' "$(tl-decode named 2>err | tl-cat |
	jq -c 'select(.source.final) | .source.facts.streams')" \
	'[{"id":7,"context":1,"priority":0,"flag":"Default"},{"id":13,"name":"prefetch","context":1,"priority":-5,"flag":"Non-blocking"}]'
is 'payloads in binary form are told' "$(cat err)" 'tl-decode: named: 1 binary payload of NVTX is not read'
for column in start end globalTid correlationId nameId eventClass; do
	sets | sed "s/\\b$column\\b/other/" | db less
	is "a table without $column" "$(events less .kind; grep -v 'no times' err)" ''
done
{ sets; echo "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE x(start) AS (SELECT 1 UNION ALL SELECT 1 FROM x) SELECT * FROM x;"; } | db endless
is 'a view without end is not read' "$(events endless .kind)" ''

# Sizes of emit_nvtx, types of kernels: 4 x (1024 + 4096 x 2048 + 2048 x 1024 +
# 4096 x 1024) bytes and 4 x 3 x 4096 x 1024; 4096 x 1024 x (2 x 2048 + 1)
# operations.
db roof <<'END'
CREATE TABLE StringIds (id, value);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'ampere_sgemm_128x64_tn'), (3, 'k<at::native::CUDAFunctor_add<float> >'), (4, 'k');
CREATE TABLE TARGET_INFO_GPU (id, name, smCount, clockRate, memoryBandwidth, totalMemory, computeMajor, computeMinor);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132, 1980000000, 3352000000000, 85000000000, 9, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20000, 420000, 0, 7, 1, 16777216, 2, 2), (450000, 470000, 0, 7, 2, 16777216, 3, 3),
	(480000, 490000, 0, 7, 3, 16777216, 4, 4);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 15, 16777217, 1, 1), (30, 35, 16777217, 2, 1), (50, 55, 16777217, 3, 1);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);
INSERT INTO NVTX_EVENTS VALUES
	(5, 20, 59, 'aten::addmm, seq = 5, op_id = 40, sizes = [[1024], [4096, 2048], [2048, 1024], [], []]', 16777217),
	(25, 40, 59, 'aten::add, seq = 6, op_id = 60, sizes = [[4096, 1024], [4096, 1024], []]', 16777217),
	(45, 60, 59, 'aten::mul, seq = 7, op_id = 61, sizes = [[1024], [1024]]', 16777217);
END
if command -v tl-roofline >/dev/null; then
	roof() { tl-roofline --no-header --sort -kernel_ns_sum "$@" roof 2>err | tr '\t' ' '; }
	is 'ops of emit_nvtx have a roofline, by the names of kernels' \
		"$(roof -c name,gflop,moved_mib,roofline_bound,compute_spec | awk '{ printf "%s %.6f %.6f %s %s\n", $1, $2, $3, $4, $5 }')" \
		'aten::addmm 17.184063 56.003906 COMPUTE_BOUND matrix_fp32
aten::add 0.004194 48.000000 MEMORY_BOUND vector_fp32
aten::mul 0.000001 0.000000  '
	reports 0 no-types 'tl-roofline roof'
	is '... or by an option' "$(roof --dtype bf16 -c name,moved_mib,compute_spec --name aten::mul)" \
		'aten::mul 0.005859375 vector_bf16'
else
	skip 'rooflines' 'tl-roofline is not built'
fi

# ---- other ways in, and damage ----
python3 -c 'import zipfile; zipfile.ZipFile("marks.zip", "w").write("marks")'
if tl-decode marks.zip 2>&1 >zip.tl | grep -q 'lacks minizip'; then
	skip 'from a zip archive' 'a build without minizip'
else
	is 'from a zip archive' "$(tl-cat -F name,ts --tsv zip.tl | md5sum)" "$(tl-decode marks | tl-cat -F name,ts --tsv | md5sum)"
fi
echo report >run.nsys-rep
says 1 'nsys export --type sqlite' run.nsys-rep
python3 - marks <<'END'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
page = int.from_bytes(b[16:18], "big")
for i in range(page, len(b), page): # behind the schema, the heads of pages
    b[i:i + 8] = b"\x0d\xff\xff\xff\xff\xff\xff\xff"
open("corrupt", "wb").write(b)
END
says 1 'malformed' corrupt
python3 - nsys2021 <<'END'
import sqlite3, sys
root, = sqlite3.connect(sys.argv[1]).execute(
    "select rootpage from sqlite_master where name like '%RUNTIME'").fetchone()
b = bytearray(open(sys.argv[1], "rb").read())
size = int.from_bytes(b[16:18], "big")
top = (root - 1) * size
cell = top + int.from_bytes(b[top + 12 + 4:top + 12 + 6], "big") # of the third page of rows
page = int.from_bytes(b[cell:cell + 4], "big")
b[(page - 1) * size:(page - 1) * size + 8] = b"\x0d\xff\xff\xff\xff\xff\xff\xff"
open("torn", "wb").write(b)
END
says 1 'table CUPTI_ACTIVITY_KIND_RUNTIME, behind row [1-9][0-9]*: .*malformed' torn
head -c 5000 marks >part
says 1 'malformed' part
cp marks open && echo x >open-wal
tl-decode open 2>err >/dev/null
is 'a database that is being written: exit status' "$?" 3
like 'and why' "$(cat err)" 'open-wal exists beside it'
refuses 1 '--salvage' 'tl-decode --salvage -o x.tl marks'
is 'one stream for all ways in' "$(gzip -c marks | tl-decode | tl-cat -F name,ts --tsv | md5sum)" \
	"$(tl-decode marks | tl-cat -F name,ts --tsv | md5sum)"
mkdir tmp
TMPDIR=$TMP/tmp tl-decode marks >/dev/null
is 'no file is left' "$(ls tmp)" ''
done_testing
