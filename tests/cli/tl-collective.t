#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective: the spec's worked examples, planted faults of made-up jobs,
# foreign inputs, partials. tests/ref has the real traces.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tab=$(printf '\t')

# kernel RANK TS DUR NAME N DTYPE IN OUT SPLIT PG RANKS [SEQ]: one collective
kernel() {
	printf '%s{"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":0,' "$sep"
	printf '"tid":7,"ts":%s,"dur":%s,"args":{"correlation":1,"stream":7,' \
		"$2" "$3"
	printf '"Collective name":"%s","Group size":%s,"dtype":"%s",' \
		"$4" "$5" "$6"
	printf '"In msg nelems":%s,"Out msg nelems":%s,' "$7" "$8"
	printf '"In split size":"%s","Out split size":"[]",' "$9"
	shift 9
	printf '"Process Group Name":"%s","Process Group Ranks":"%s"' "$1" "$2"
	[ -z "${3:-}" ] || printf ',"Seq":%s' "$3"
	printf '}}\n'
	sep=,
}
# trace RANK WORLD: its kernels are standard input
trace() {
	printf '{"distributedInfo":{"rank":%s,"world_size":%s},' "$1" "$2"
	printf '"traceEvents":[\n'
	cat
	printf ']}\n'
}
# column TABLE COLUMNS FILE...: without header
column() {
	t=$1 c=$2
	shift 2
	tl-collective --table "$t" -c "$c" --no-header "$@"
}
# near TEXT GOT WANTED: within 1 %
near() {
	ok "$1: $2 is $3 within 1 %" awk "BEGIN {
		d = $2 - ($3); d = d < 0 ? -d : d
		exit !(d <= ($3 < 0 ? -($3) : $3) * 0.01) }"
}

# ---- E2, E3 of the specification ----

all='[0, 1, 2, 3]'
e2() { # RANK START DUR-OF-ALLREDUCE -OF-ALLGATHER -OF-REDUCESCATTER
	sep=
	kernel "$1" "$((1000000))$2" "$3" allreduce 4 BFloat16 1048576 1048576 '[]' 0 "$all"
	kernel "$1" "$((2000000))$2" "$4" _allgather_base 4 BFloat16 262144 1048576 '[]' 0 "$all"
	kernel "$1" "$((3000000))$2" "$5" _reduce_scatter_base 4 Float 1048576 262144 '[]' 0 "$all"
}
mkdir e2
e2 0 .000 200 150 300 | trace 0 4 >e2/rank0.json
e2 1 .030 170 121 270 | trace 1 4 >e2/rank1.json
e2 2 .0105 189.5 141.5 289.5 | trace 2 4 >e2/rank2.json
e2 3 .080 120 73 220 | trace 3 4 >e2/rank3.json
# starts in the thousandth: 30, 10.5 and 80 ns, ends by the durations in us
is 'E2: bandwidth' "$(column nccl_implicit_sync \
	collective_id,latency_ns,algo_gib_per_s,bus_gib_per_s e2)" "\
0_0${tab}120000${tab}16.276041666666668${tab}24.4140625
0_1${tab}73000${tab}26.75513698630137${tab}20.066352739726028
0_2${tab}220000${tab}17.755681818181817${tab}13.316761363636363"

e2us() { # RANK START DUR...: the same in microseconds
	sep=
	kernel "$1" "$2" "$3" allreduce 4 BFloat16 1048576 1048576 '[]' 0 "$all"
}
mkdir us
e2us 0 1000000 200 | trace 0 4 >us/rank0.json
e2us 1 1000030 170 | trace 1 4 >us/rank1.json
e2us 2 1000010.5 189.5 | trace 2 4 >us/rank2.json
e2us 3 1000080 120 | trace 3 4 >us/rank3.json
is 'E2: waiting and skew' "$(column nccl_implicit_sync \
	start_skew_ns,earliest_rank,wait_ns_mean,end_skew_ns,rank_0_wait_ns,rank_1_wait_ns,rank_2_wait_ns,rank_3_wait_ns us)" "\
80000${tab}0${tab}49875.0${tab}0${tab}80000${tab}50000${tab}69500${tab}0"
is 'E2: waiting, in rows' "$(column nccl_long rank,wait_ns us | tr '\t\n' ': ')" \
	'0:80000 1:50000 2:69500 3:0 '
is 'statistics of one: no deviation' "$(column nccl_summary_implicit_sync \
	latency_ns_mean,latency_ns_median,latency_ns_std,latency_ns_min,latency_ns_max us)" \
	"120000.0${tab}120000.0${tab}${tab}120000.0${tab}120000.0"
is 'E2: the straggler' "$(column straggler_summary \
	rank,wait_ns_total,times_last,pct_last us | head -n 1)" \
	"3${tab}0${tab}1${tab}100.0"
is 'E2: the ranks of the group' "$(column nccl_groups group,ranks us)" "0${tab}0-3"
mkdir nopg
for r in 0 1 2 3; do
	sed 's/,"Process Group Name":"[^"]*"//;s/,"Process Group Ranks":"[^"]*"//' us/rank$r.json >nopg/rank$r.json
done
is 'where none is recorded, those that took part' \
	"$(column nccl_groups group,ranks nopg)" "all${tab}0-3"
is 'E2: what the others waited for it' "$(column straggler_cause rank,caused_wait_ns us | sort -rn | head -n 1)" \
	"3${tab}199500"

e3() {
	sep=
	kernel "$1" "$2" "$3" all_to_allv 4 BFloat16 "$4" 4124 "$5" 0 "$all"
}
mkdir e3
e3 0 1000000 100 10000 '[4000, 2000, 2000, 2000]' | trace 0 4 >e3/rank0.json
e3 1 1000030 110 400 '[100, 100, 100, 100]' | trace 1 4 >e3/rank1.json
e3 2 1000010.5 120 2000 '[500, 500, 500, 500]' | trace 2 4 >e3/rank2.json
e3 3 1000080 130 4096 '[1024, 1024, 1024, 1024]' | trace 3 4 >e3/rank3.json
is 'E3: all_to_allv' "$(column nccl_all2allv \
	bytes,nelems,wall_ns,end_skew_ns,gib_per_s,rank_gib_per_s_max,rank_gib_per_s_min,size_imbalance,rank_2_end_skew_ns e3)" "\
32992${tab}16496${tab}210000${tab}110000${tab}0.1463152113414946${tab}0.1862645149230957${tab}0.006773255088112571${tab}2.4248302618816684${tab}79500"
is 'E3: the heat map' "$(column nccl_all2allv_heatmap \
	src_rank,dst_rank,sent_bytes_total e3 | head -n 2)" \
	"0${tab}0${tab}8000
0${tab}1${tab}4000"

# a group may list its ranks in another order
mkdir e3.listed
for r in 0 1 2 3; do
	sed 's/\[0, 1, 2, 3\]/[3, 1, 2, 0]/' e3/rank$r.json >e3.listed/rank$r.json
done
is 'the heat map goes by the list of the group' "$(column nccl_all2allv_heatmap \
	src_rank,dst_rank,sent_bytes_total e3.listed | head -n 4)" \
	"0${tab}0${tab}4000
0${tab}1${tab}4000
0${tab}2${tab}4000
0${tab}3${tab}8000"

# E5: two start together
mkdir tie
e2us 0 1000000 200 | trace 0 2 >tie/rank0.json
e2us 1 1000000 200 | trace 1 2 >tie/rank1.json
sed -i 's/\[0, 1, 2, 3\]/[0, 1]/; s/"Group size":4/"Group size":2/' tie/*.json
is 'E5: a tie' "$(column nccl_implicit_sync earliest_rank,last_rank tie)" \
	"1${tab}0"

# groups without a name are one, by the same name in each table
mkdir nameless
for r in 0 1 2 3; do
	sed 's/"Process Group Name":"0"/"Process Group Name":"Unknown_Group"/' \
		us/rank$r.json >nameless/rank$r.json
done
for t in nccl_long nccl_implicit_sync nccl_summary_implicit_sync; do
	is "no group has a name: $t" "$(column $t group nameless | sort -u)" all
done

# ---- planted in a made-up job ----

g='--steps 3 --layers 2 --no-python --no-memory'
job() { # DIR OPTION...
	d=$1
	shift
	# shellcheck disable=SC2086
	tl-gen --ranks 8 $g "$@" -d "$d"
}
job base
job late --late-rank 5=3000000
job slow --slow-link 2
job drop --drop-collective 3:5
job skew --clock-skew 6=4000000

group() { # DIR GROUP COLUMN
	tl-collective -c "group,$3" --no-header "$1" 2>/dev/null |
		awk -F'\t' -v g="$2" '$1 == g { print $2 }'
}
for i in 95 99; do
	near "late rank, p$i" "$(column straggler_cause \
		"group,rank,late_ns_p$i" late | awk '$1 == 0 && $2 == 5 { print $3 }')" \
		3000000
done
like 'late rank: in words' "$(column nccl_groups says late)" \
	'^rank 5 late by [23]\.[09][0-9]* ms \(median\) in 100 % of [0-9]+ collectives'
for width in 60 200; do
	like "... whole and first, at a width of $width" "$(tl-collective --format table --width $width late | tr -s '\n ' ' ')" \
		"^$(column nccl_verdict text late | head -n 1 | sed 's/[][().*+?|]/\\&/g') "
done
for i in 0 3 6; do
	is "late rank, group $i: which" "$(group late "$i" late_rank)" 5
	near "late rank, group $i: by" "$(group late "$i" late_ns_p50)" 3000000
	is "late rank, group $i: why" "$(group late "$i" verdict)" throttled
done
near 'late rank: behind the next one' "$(column straggler_cause group,rank,behind_next_ns late |
	awk '$1 == 0 && $2 == 5 { print $3 }')" "$(column nccl_long group,collective_id,rank,start_ns late |
	awk '$1 == 0' | sort -k2,2 -k4,4n | awk '
	function add() { if (who == 5) sum += last - next_to }
	$2 != id { add(); id = $2; last = next_to = $4 }
	{ next_to = last; last = $4; who = $3 }
	END { add(); print sum }')"
is 'another group has no late rank' "$(group late 4 verdict)" none
is 'its slow op is named' "$(column straggler_cause \
	group,rank,slow_op late | grep "^3${tab}5")" "3${tab}5${tab}aten::addmm"
a=$(group base 5 latency_ns_p50) b=$(group slow 5 latency_ns_p50)
near 'slow link: latency' "$b" "2 * $a"
# curve DIR: bus bandwidth at each size that both jobs have
curve() {
	column nccl_bandwidth class,group_size,full_bytes,bus_gib_per_s_p50 "$1"
}
curve base >base.curve
curve slow >slow.curve
ok 'slow link: half the bandwidth, where it is the size that takes the time' \
	awk -F'\t' 'NR == FNR { was[$1 FS $2 FS $3] = $4; next }
	$3 >= 1048576 { r = was[$1 FS $2 FS $3] / $4
	  rows++; if (r < 1.98 || r > 2.02) bad++ }
	END { exit rows < 4 || bad }' base.curve slow.curve
ok 'the curve: larger messages do not lose bandwidth' awk -F'\t' '
	$1 == was && $2 == n && $4 < best * 0.9 { bad = 1 }
	{ if ($1 != was || $2 != n) best = 0; was = $1; n = $2
	  if ($4 > best) best = $4; rows++ }
	END { exit bad || rows < 3 }' base.curve
is 'missing collective: which and where' \
	"$(column nccl_missing collective_id,ranks_missing drop 2>err)" \
	"6_0${tab}3"
refuses -o 3 '1 of 70 collectives lack a rank' 'tl-collective drop'
near 'skewed clock: offset' "$(column nccl_clocks rank,offset_ns skew 2>err |
	awk '$1 == 6 { print $2 }')" 4000000
refuses -o 3 'rank 6, by 4.000 ms' 'tl-collective skew'
ok 'skewed clock: corrected' sh -c 'tl-collective --align-clocks skew >out'
is 'corrected, nobody is late' "$(tl-collective --align-clocks skew \
	-c verdict --no-header | sort -u)" none

# without Seq: by alignment, among equal ones too
mkdir noseq
for f in drop/*; do
	sed 's/"Seq": *[0-9]*,//' "$f" >"noseq/${f#drop/}"
done
is 'without Seq the hole is found too' \
	"$(column nccl_missing collective_id,ranks_missing noseq 2>err)" \
	"6_0${tab}3"
is 'and the page of it says so' "$(group noseq 6 matched_by)" alignment

# ---- foreign inputs ----

cp -r base bad
tl-gen --ranks 4 --steps 3 --layers 2 --no-python --no-memory -d other
head -c 200000 base/rank-1.json >bad/rank-1.json
: >bad/rank-2.json
cp base/rank-3.json bad/copy-of-rank-3.json
cp other/rank-0.json bad/rank-4.json
rm bad/rank-7.json
refuses -o 3 'rank-1.json: skipped: it could not be read' 'tl-collective bad'
refuses -o 3 'rank-2.json: skipped: it could not be read' 'tl-collective bad'
refuses -o 3 'rank-4.json: skipped: its job has 4 ranks, not 8' \
	'tl-collective bad'
refuses -o 3 'rank 3 is already in' 'tl-collective bad'
refuses -o 3 '4 of 8 ranks are missing: 1,2,4,7' 'tl-collective bad'
is 'the rest is right' "$(group bad 6 collectives) $(group bad 6 incomplete)" \
	'6 0'
mkdir half
cp base/rank-[07].json half
is 'a group without a complete collective waits for nobody knows how long' \
	"$(tl-collective -c group,collectives,latency_ns_sum,wait_ns_sum --no-header half 2>err |
		awk -F'\t' '$1 == 6 { print $2 "|" $3 "|" $4 }')" '0||'
mkdir good
cp base/rank-[0356].json good
tl-collective -d t1 good 2>err
tl-collective -d t2 bad 2>err
ok 'as if only the good ones were given' diff -r t1 t2
refuses 1 'no input could be read' 'tl-collective bad/rank-2.json'
refuses 5 'matches no event' 'tl-collective --rank 99 good'
refuses 5 'no event of a collective' 'tl-collective --from 999s good'
like 'of one rank: what it cannot tell' "$(tl-collective --format table good/rank-0.json | sed -n 1p)" \
	'^one rank: .*give all ranks'
refuses 2 'no table .nothing.; see --list-tables' 'tl-collective --table nothing base'
refuses 2 'no table .NCCL_Long.: is it nccl_long' 'tl-collective --table nccl_verdict,NCCL_Long base'
refuses 2 'RE\[=TYPE' 'tl-collective --comm-pattern =x base'
refuses 2 'writes a stream' 'tl-collective --partial -d x base'
mkdir empty
refuses 1 'no trace or stream in this folder' 'tl-collective empty'
refuses 1 'No space left' 'tl-collective base >/dev/full'
quiet 'a reader may leave' 'tl-collective --table nccl_long base | head -n 1'

mkdir foreign
cp us/rank[012].json foreign
sed 's/\[0, 1, 2, 3\]/[0, 1]/' us/rank3.json >foreign/rank3.json
refuses -o 3 'rank 3 is not in its process group 0 \[0, 1\]' \
	'tl-collective foreign'
is 'another group: the rest is right' "$(column nccl_implicit_sync \
	collective_id,ranks_present,latency_ns foreign 2>err)" \
	"0_0${tab}3${tab}170000"
sed -i 's/"Process Group Name"/"Seq":0,&/' foreign/*
sed 's/"In msg nelems":[0-9]*/"Seq":0,"In msg nelems":7/' us/rank3.json \
	>foreign/rank3.json
refuses -o 3 'in 1 of 1 collectives the ranks disagree' \
	'tl-collective foreign'
is 'ranks that disagree are in no summary' "$(column nccl_summary_implicit_sync \
	count foreign 2>err)" ''
is '--keep-mismatch' "$(column nccl_summary_implicit_sync count \
	--keep-mismatch foreign 2>err)" 1

# ---- whose rank it is ----

# nameless: traces without their rank
nameless() {
	sed 's/"distributedInfo":{[^}]*},//' "$1"
}
mkdir unnamed
for r in 0 1 2 3; do
	nameless us/rank$r.json >unnamed/n$((r + 4)).json
done
is 'without a name, in order' "$(column straggler_summary rank unnamed |
	sort | tr '\n' ' ')" '0 1 2 3 '
sed -i 's/\[0, 1, 2, 3\]/[4, 5, 6, 7]/' unnamed/*
is '--rank-regex' "$(column straggler_summary rank,times_last \
	--rank-regex 'n([0-9]+)' unnamed 2>err | sort | tr '\t\n' ': ')" \
	'4:0 5:0 6:0 7:1 '
refuses -o 3 '4 of 8 ranks are missing: 0-3' \
	"tl-collective --rank-regex 'n([0-9]+)' unnamed"
refuses -o 3 '6 of 10 ranks are missing: 0-3,8,9' \
	"tl-collective --world-size 10 --rank-regex 'n([0-9]+)' unnamed"
refuses -o 3 'n7.json: skipped: rank 7 in a job of 7 ranks' \
	"tl-collective --world-size 7 --rank-regex 'n([0-9]+)' unnamed"
refuses 2 'needs a group' "tl-collective --rank-regex 'n[0-9]+' unnamed"

# ---- what a late rank does ----

# Rank 2 of four: its host loads for 5 ms before each collective, or one kernel
# of another name, for the same op and shape, takes 3 ms longer.
waits() { # RANK HOST_US GPU_US KERNEL
	awk -v rank="$1" -v host="$2" -v gpu="$3" -v kernel="$4" '
	function put(cat, name, tid, ts, dur, args) {
		printf "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",", sep, cat, name
		printf "\"pid\":%s,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{%s}}\n",
			cat == "kernel" ? 0 : 9, tid, ts, dur, args
		sep = ","
	}
	function launched(ts, corr) {
		put("cuda_runtime", "hipLaunchKernel", 9, ts, 5, "\"correlation\":" corr)
	}
	BEGIN {
		printf "{\"distributedInfo\":{\"rank\":%d,\"world_size\":4},", rank
		printf "\"traceEvents\":["
		for (i = 0; i < 10; i++) {
			t = i * 20000
			put("user_annotation", "step", 9, t, 19000, "\"x\":1")
			put("cpu_op", "load_batch", 9, t + 1010, host, "\"External id\":" 10 * i + 1)
			s = t + 1020 + host
			put("cpu_op", "aten::mm", 9, s, 30,
				"\"External id\":" 10 * i + 2 ",\"Input Dims\":[[8,4],[4,2]]")
			launched(s + 1, 10 * i + 2)
			put("kernel", kernel, 1, s + 10, gpu, "\"External id\":" 10 * i + 2 \
				",\"correlation\":" 10 * i + 2 ",\"grid\":[" rank + 1 ",1,1]")
			launched(s + 40, 10 * i + 3)
			c = s + 10 + gpu
			put("kernel", "ncclDevKernel", 1, c, t + 15000 - c,
				"\"correlation\":" 10 * i + 3 ",\"stream\":1," \
				"\"Collective name\":\"allreduce\",\"Group size\":4," \
				"\"dtype\":\"Float\",\"In msg nelems\":64," \
				"\"Out msg nelems\":64,\"Process Group Name\":\"0\"," \
				"\"Process Group Ranks\":\"[0, 1, 2, 3]\"")
		}
		printf "]}\n"
	}'
}
mkdir loads slows
for r in 0 1 2 3; do
	waits $r "$([ $r = 2 ] && echo 5500 || echo 500)" 300 gemm >loads/rank$r.json
	waits $r 500 "$([ $r = 2 ] && echo 3300 || echo 300)" \
		"$([ $r = 2 ] && echo gemm_slow || echo gemm)" >slows/rank$r.json
done
is 'the host call that makes the GPU wait' "$(column straggler_cause \
	rank,times_late,idle_cause,idle_host,idle_host_ns,verdict loads | head -n 1)" \
	"2${tab}10${tab}data${tab}load_batch${tab}45000000.0${tab}host"
is 'and in the verdict' "$(column nccl_groups says loads)" 'rank 2 late by 5.000 ms (median) in 100 % of 10 collectives: its GPU waits for the host: data, in load_batch'
# the same time, in two ops of a data loader
mkdir nested
python3 - <<'EOP'
import json
for rank in range(4):
    with open("loads/rank%d.json" % rank, encoding="ascii") as f:
        trace = json.load(f)
    events = trace["traceEvents"]
    for e in [e for e in events if e["name"] == "load_batch"]:
        half = e["dur"] // 2
        events += [dict(e, name="aten::stack", dur=half),
                   dict(e, name="aten::cat", ts=e["ts"] + half, dur=e["dur"] - half)]
        e.update(cat="user_annotation", name="enumerate(DataLoader)#_Iter.__next__")
    with open("nested/rank%d.json" % rank, "w", encoding="ascii") as f:
        f.write(json.dumps(trace))
EOP
is 'one cause is one finding, whatever it does' "$(column straggler_cause \
	rank,times_late,idle_cause,idle_host,idle_host_ns,verdict nested | head -n 1)" \
	"2${tab}10${tab}data${tab}enumerate(DataLoader)#_Iter.__next__${tab}45000000.0${tab}host"
is 'the slow op and shape, by whichever kernel' "$(column straggler_cause \
	rank,slow_more_ns,slow_op,slow_shape slows | head -n 1)" \
	"2${tab}27000000.0${tab}aten::mm${tab}[[8,4],[4,2]]"
tl-collective --partial -o 'loads/p{rank}.tl' loads
tl-collective -d loads.whole loads/rank*.json
tl-collective -d loads.parts loads/p*.tl
ok 'the same from partials' diff -r loads.whole loads.parts

mkdir copies
for r in 0 1 2 3; do
	nameless loads/rank$r.json | sed "s/\"ts\":/&$((r + 1))/" >copies/rank$r.json
done
tl-collective -d copies.want copies 2>err
cp copies/rank2.json copies/rank4.json
refuses -o 3 'rank4.json: skipped: rank 4 is the same as rank 2 in ' \
	'tl-collective copies'
tl-collective -d copies.got copies 2>err
ok 'a copy under another name: the rest is right' diff -r copies.want copies.got
mv copies/rank4.json copies/rank3.json # now of a rank of the group
tl-collective --partial -o 'copies/p{rank}.tl' copies/rank[01].json
for r in 2 3; do # a copy is seen only beside the other
	tl-collective --partial -o copies/p$r.tl copies/rank$r.json
done
refuses -o 3 'p3.tl: skipped: rank 3 is the same as rank 2 in ' \
	'tl-collective copies/p?.tl'

# ---- partials ----

mkdir parts
ok 'partials' tl-collective --partial -o 'parts/part.{rank}.tl' base
is 'one a rank' "$(find parts -type f | wc -l | tr -d ' ')" 8
tl-collective -d whole base
tl-collective -d from-parts parts
ok 'partials give the same tables' diff -r whole from-parts
tl-collective --partial -o m1.tl parts/part.[0-3].tl
tl-collective --partial -z -o m2.tl parts/part.[4-7].tl
tl-collective -d from-merged m2.tl m1.tl
ok 'merged in stages, in any order' diff -r whole from-merged
find parts -type f | sort >list
tl-collective --files-from list -d from-list
ok '--files-from' diff -r whole from-list
tl-collective -j 1 -d alone base
ok 'the number of processes does not show' diff -r whole alone
ok 'a partial is a whole stream' tl-cat --check parts/part.3.tl
head -c 9000 parts/part.3.tl >cut.tl
refuses -o 3 'cut.tl: skipped' 'tl-collective cut.tl parts/part.[0-2].tl'
tl-decode -o s.tl base/rank-*.json
tl-collective -d from-stream s.tl
ok 'one stream of all ranks' diff -r whole from-stream

# scale: what is printed row by row is not kept in memory
coll-partials many 64 400
measure ram tl-collective -d many.out many
case $B in
*/asan* | */tsan*) skip 'memory' 'sanitizers take memory' ;;
*)
	ok 'memory: no table of all records is held' \
		awk '{ exit !($4 < 10000) }' ram
	;;
esac
is 'all rows are there' "$(wc -l <many.out/nccl_long.csv | tr -d ' ')" 25601
is 'the late rank among many' "$(column straggler_cause \
	group,rank,times_late,late_ns_p50,verdict many | head -n 1)" \
	"0${tab}5${tab}200${tab}424851.5${tab}throttled"
tl-collective --table nccl_long many >rows
tl-collective --table nccl_long --sort rank many |
	sort >sorted
sort rows >rows.sorted
same 'sorted, the same rows' sorted rows.sorted

# windows: each rank in two files
mkdir windows
for r in 0 1 2 3 4 5 6 7; do
	for half in 0 1; do
		tl-cat "parts/part.$r.tl" | awk -v h=$half '/^{"id"/ {
			if ((n++ < 10) != (h == 0)) next } { print }' |
			sed '$ s/.*/{"end":{}}/' >"windows/w$half-rank$r.ndjson"
	done
done
column nccl_implicit_sync collective_id,latency_ns base >want
column nccl_implicit_sync collective_id,latency_ns windows >got
same 'two windows a rank are one sequence' want got

# ---- selection of columns, nodes, names ----

is 'nodes' "$(column nccl_summary_long node_id,node_span \
	--gpus-per-node 2 base | sort -u | head -n 3)" "\
0${tab}inter_node
0${tab}intra_node
1${tab}inter_node"
is 'over 16 ranks no columns of each' "$(tl-collective \
	--table nccl_implicit_sync many | head -n 1 | tr '\t' '\n' |
	grep -c '^rank_[0-9]*_')" 0
is 'but rows' "$(wc -l <rows | tr -d ' ')" 25601
is '--comm-pattern' "$(sed 's/ncclDevKernel/my_quick_sum/' us/rank0.json |
	sed 's/"Collective name":"allreduce",//' >p.json
	tl-collective --comm-pattern 'QUICK_s=allreduce' -c collective,count \
		--no-header p.json)" "allreduce${tab}1"

page_examples tl-collective.1
done_testing
