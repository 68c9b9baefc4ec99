#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective's clocks: found, judged, subtracted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
tab=$(printf "\t")

job() { # DIR OPTION...
	d=$1
	shift
	python3 "$ROOT/tests/gen/job.py" -o "$d" "$@"
}
clocks() { # COLUMNS FILE...
	c=$1
	shift
	tl-collective --table nccl_clocks -c "$c" --no-header "$@" 2>err
}
# within WHAT RANK NS UNCERTAINTIES DIR: the most that its offset is off from NS
within() {
	ok "$1" awk -F'\t' -v r="$2" -v want="$3" -v many="$4" '
		$1 == r { d = $2 - want; bad = (d < 0 ? -d : d) > many * $3; n++ }
		END { exit bad || n != 1 }' "$5"
}

# ---- two pairs and all four: no vote of medians finds rank 3 alone ----

pairs='--group 0=0,1:all_reduce:1000000:60:30 --group 1=2,3:all_reduce:1000000:60:30'
all='--group w=0-3:all_reduce:1000000:60:10'
# shellcheck disable=SC2086 # words
job pairs --ranks 4 $pairs $all --skew 3=5000 --noise 2
is 'two pairs and all: the offsets' "$(clocks rank,offset_ns,off pairs)" "\
0${tab}0${tab}false
1${tab}0${tab}false
2${tab}0${tab}false
3${tab}5000000${tab}true"
# sqrt(4 us ^ 2 + (2 % of 60 us) ^ 2) * .943, see the graph's eigenvectors
is '... and how sure that is' "$(clocks rank,u_ns pairs |
	awk '$1 == 3 { print ($2 > 3700 && $2 < 4100) }')" 1
is '... told by so many' "$(clocks collectives pairs | sort -u)" 40
reports 3 clocks-off 'tl-collective pairs'
like '... which is told' "$(tl-collective pairs 2>&1 >/dev/null)" \
	'^tl-collective: the clock of 1 rank is off \(3\), most that of rank 3, by 5.000 ms:'
is 'groups with it are not judged' "$(tl-collective -c group,verdict --no-header pairs 2>err | sort)" "\
0${tab}none
1${tab}not judged
w${tab}not judged"
is '... and nobody in them is late or on time' "$(tl-collective --table straggler_cause --no-header -c \
	group,rank,times_late,pct_late,late_ns_sum,cost_ns,behind_next_ns,verdict pairs 2>err |
	grep -v '^0' | sort | tr '\t' ' ')" \
	'1 2      not judged
1 3      not judged
w 0      not judged
w 1      not judged
w 2      not judged
w 3      not judged'
is 'subtracted, nobody is late' "$(tl-collective --align-clocks -c verdict --no-header pairs | sort -u)" none
is '... and that is no warning' "$(tl-collective --align-clocks pairs 2>&1 >/dev/null; echo $?)" 0
is 'times of the file stay' "$(tl-collective --table nccl_long -c ts_ns pairs 2>err | cksum)" \
	"$(tl-collective --table nccl_long -c ts_ns --align-clocks pairs | cksum)"

# ---- a collective can't end before all have arrived ----

# collectives RANK CLOCK...: for ranks 0 and 1, start and length of each
collectives() {
	printf '{"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[' "$1"
	shift
	n=0 sep=
	for at; do
		printf '%s{"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"correlation":1,"stream":7,"Seq":%d,"dtype":"Float","Collective name":"allreduce","Group size":2,"In msg nelems":8,"Out msg nelems":8,"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}' \
			"$sep" "${at%+*}" "${at#*+}" $n
		n=$((n + 1)) sep=,
	done
	echo ']}'
}
mkdir one four shifted
collectives 0 100+30 >one/rank0.json
collectives 1 160+20 >one/rank1.json
reports 3 clocks-unproven 'tl-collective one'
is 'one is a proof' "$(tl-collective -c verdict,says --no-header one 2>err)" \
	"not judged${tab}clocks are off: who is late is not judged"
collectives 0 100+30 300+30 500+30 700+30 >four/rank0.json
collectives 1 160+20 360+20 560+20 760+20 >four/rank1.json
is 'below 50 us, but proven: off' "$(clocks rank,offset_ns,off four)" "\
0${tab}0${tab}false
1${tab}50000${tab}true"
reports 3 clocks-off 'tl-collective four'
gains() { # OPTION... DIR
	tl-collective --table straggler_summary -c rank,gain_ns_high --no-header "$@" 2>err |
		sort | tr '\n\t' '; '
}
is '... no rank has a gain' "$(gains four)" '0 ;1 ;'
is 'subtracted: 110-130' "$(tl-collective --table nccl_implicit_sync --align-clocks \
	-c start_skew_ns,end_skew_ns --no-header four | sort -u)" "10000${tab}0"
# matched by Seq, which rank 1 starts to count one too late for half of them: no
# shift of its clock fits both
collectives 0 100+30 1100+30 2300+30 3600+30 5000+30 6500+30 >shifted/rank0.json
collectives 1 100+30 1100+30 2300+30 5000+30 6500+30 8100+30 >shifted/rank1.json
reports 3 clocks-broken 'tl-collective --align-clocks shifted'
is 'matched wrongly: not judged' "$(tl-collective --align-clocks -c verdict,says --no-header shifted 2>err)" \
	"not judged${tab}ends come before starts on solved clocks: who is late is not judged"

# rank 1 lacks the first one: all others have a number that is one too low
mkdir first
collectives 0 100+30 1100+30 2300+30 3600+30 5000+30 6500+30 >first/rank0.json
collectives 1 1100+30 2300+30 3600+30 5000+30 6500+30 8100+30 >first/rank1.json
reports 3 first-missing 'tl-collective first'
is 'matched one later: all but the first and the last have both' \
	"$(tl-collective --table nccl_missing -c collective_id,ranks_missing --no-header first 2>err)" "\
0_0${tab}1
0_6${tab}0"
is '... and clocks agree' "$(clocks offset_ns,off,collectives first | sort -u)" "0${tab}false${tab}5"
is '... so they can be judged' "$(tl-collective -c verdict,says --no-header first 2>err)" "none${tab}ranks arrive together"

# ---- how late is late ----

# 200 us: a pair's clocks are known to 2 sqrt(2^2 + 2^2) us; twice that is 11.3
lateness() { # US
	mkdir "late$1"
	collectives 0 1000+$((200 + $1)) 2000+$((200 + $1)) 3000+$((200 + $1)) >"late$1/rank0.json"
	collectives 1 $((1000 + $1))+200 $((2000 + $1))+200 $((3000 + $1))+200 >"late$1/rank1.json"
	tl-collective --table straggler_cause --align-clocks -c rank,pct_late --no-header "late$1" |
		awk '$2 > 0 { print $1 }'
}
is '11 us may be the clock' "$(lateness 11)" ''
is '12 us are not' "$(lateness 12)" 1
is 'less than 10 us is not late' "$(lateness 8)" ''
is '... but adds up in what would be gained' "$(gains --align-clocks late8)" '0 0;1 24000;'
# ends of three collectives, 180, 0 and -180 us apart, give a rough clock
mkdir unsure
collectives 0 1000+200 2000+200 3000+200 >unsure/rank0.json
collectives 1 1180+200 2000+200 2820+200 >unsure/rank1.json
like 'half of it is what is not known' "$(tl-collective --align-clocks -c verdict,says --no-header unsure)" \
	"^not judged${tab}clocks are known to [0-9.]* us: who is late is not judged"
is '... nor what would be gained' "$(gains --align-clocks unsure)" '0 ;1 ;'
# the clock is equally wrong in all three
lateness 180 >/dev/null
is '... else nobody has to gain nothing' "$(gains --align-clocks late180)" '0 0;1 540000;'
like 'and what they cost has its error' \
	"$(tl-collective --table nccl_verdict --align-clocks -c text --no-header late180)" \
	'^rank 1 arrives late\. Its part of the median rank.s exposed waiting is 540\.0 us \+- 17\.0 us,.*\. If it came on time, the job would end at most 540\.0 us earlier, if nothing else holds it up\. The gain is far less if one lag of its host lasts over collectives: tl-critical --job says how much\.'

# rank 1 is late by 300 us three times, and by 100 us four times in another group
two() { # RANK START+DURATION... -- START+DURATION...
	rank=$1 of=
	shift
	while [ "$1" != -- ]; do
		of="$of $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words
	collectives "$rank" $of | sed 's/\]}$/,/'
	collectives "$rank" "$@" | sed 's/.*"traceEvents":\[//; s/Group Name":"0"/Group Name":"1"/g'
}
mkdir two
two 0 1000+500 2000+500 3000+500 -- 4000+300 5000+300 6000+300 7000+300 >two/rank0.json
two 1 1300+200 2300+200 3300+200 -- 4100+200 5100+200 6100+200 7100+200 >two/rank1.json
like 'the median is of all groups, as the counts are' \
	"$(tl-collective --table nccl_verdict -c text --no-header two)" \
	'is 1\.300 ms, .* at most 1\.300 ms earlier, .*\. The gain is far less if .*\. It is late by 0\.100 ms \(median\) in 7 of 7 collectives of groups 0, 1'

# ---- drift, hosts, islands ----

slow='--group 0=0,1:all_reduce:1000000:60:30 --group 1=2,3:all_reduce:1000000:60:30 --group w=0-3:all_reduce:1000000:60:30 --gap 50000 --ends 1'
# shellcheck disable=SC2086 # words
job drift --ranks 4 $slow --drift 3=10 --skew 3=2000
is '10 ppm' "$(clocks rank,drift drift | awk '{ printf "%d:%d ", $1, $2 * 1e6 + .5 }')" \
	'0:0 1:0 2:0 3:10 '
ok '... within their uncertainty' sh -c 'tl-collective --table nccl_clocks -c drift,u_drift drift 2>err |
	awk "NR == 5 { d = \$1 - 1e-5; exit (d < 0 ? -d : d) > 2 * \$2 }"'
# at the middle: 2 ms, and 10 ppm of half of 60 gaps of 50 ms
clocks rank,offset_ns,u_ns drift >drift.clocks
within '... and the offset at the middle' 3 2015000 2 drift.clocks
like '... is told' "$(tl-collective drift 2>&1 >/dev/null)" 'rank 3, by 2\.01[0-9] ms and (9|10)\..* ppm:'
# the first and the last are 30 us apart
skews() { # OPTION...: half of the first and of the last ten have less
	tl-collective --table nccl_implicit_sync -c group,end_skew_ns --no-header "$@" drift 2>err |
		awk '$1 == "w" { n++; if (n <= 10 || n > 20) print $2 }' | sort -n | sed -n 10p
}
ok '... and subtracted' test "$(skews --align-clocks)" -lt 6000
ok '... which it is not without being asked for' test "$(skews)" -gt 2000000
is 'times of the file stay with drift too' "$(tl-collective --table nccl_long -c ts_ns drift 2>err | cksum)" \
	"$(tl-collective --table nccl_long -c ts_ns --align-clocks drift | cksum)"

hosts='--host 0=0 --host 1=0 --host 2=1 --host 3=1'
# shellcheck disable=SC2086 # words
job hosts --ranks 4 $pairs $all --ends 1 $hosts --skew 2=2000 --skew 3=2000
is 'ranks of a host share its clock' "$(clocks offset_ns,u_ns hosts | uniq | wc -l)" 2
clocks rank,offset_ns,u_ns hosts >hosts.clocks
within '... which is as far off as it is' 3 2000000 2 hosts.clocks
is 'clocks that agree stand together' "$(clocks rank,alike hosts | tr '\t\n' ': ')" '0:0,1 1:0,1 2:2,3 3:2,3 '
like '... in the text, too' "$(tl-collective hosts 2>&1 >/dev/null)" 'off \(2,3 alike\)'
is '... whatever host they are of' "$(clocks alike pairs | sort -u)" "0-2
3"
# shellcheck disable=SC2086 # words
job apart --ranks 4 $pairs $all --ends 1 $hosts --skew 3=2000
reports 3 clock-from-host 'tl-collective apart'
is 'if they agree: else each has its own' "$(clocks rank,offset_ns apart |
	awk '{ printf "%d:%d ", $1, $2 / 1e6 + .5 }')" '0:0 1:0 2:0 3:2 '

# shellcheck disable=SC2086 # words
job islands --ranks 4 $pairs --skew 2=7000 --skew 3=7000
is 'islands have a zero each' "$(clocks rank,offset_ns,island islands)" "\
0${tab}0${tab}0
1${tab}0${tab}0
2${tab}0${tab}1
3${tab}0${tab}1"
reports 0 clock-islands 'tl-collective islands'
like '... and are named' "$(tl-collective islands 2>&1 >/dev/null)" \
	'of 2 sets of ranks, .*: 0,1; 2,3$'
job few --ranks 2 --group 0=0,1:all_reduce:1000000:60:2
is 'two collectives tell no clock' "$(clocks offset_ns,u_ns,collectives few | sort -u)" "${tab}${tab}0"
reports 3 clocks-untold 'tl-collective few'
is '... which is no matter to what needs none' \
	"$(tl-collective --table nccl_bandwidth,nccl_long few 2>&1 >/dev/null; echo $?)" 0
job few --ranks 2 --group 0=0,1:broadcast:1000000:60:10 2>err || sed -i 's/allreduce/broadcast/' few/*.json
is 'nor do broadcasts' "$(clocks offset_ns few | sort -u)" ''

# ---- programs that join ranks by the same clocks ----

# shellcheck disable=SC2086 # words
job even --ranks 4 $pairs $all --noise 2
tl-merge --align collective pairs/*.json -o merged.tl
is 'merged: no clock is off' "$(clocks rank,offset_ns merged.tl)" "\
0${tab}0
1${tab}0
2${tab}0
3${tab}0"
is '... and what was subtracted is a fact' "$(tl-cat merged.tl | grep -o '"clock":{[^}]*}' |
	sed 's/"u_ns":[0-9]*/"u_ns":N/; s/"middle_ns":"[0-9]*"/"middle_ns":N/' | sort -u | tail -n 1)" \
	'"clock":{"offset_ns":5000000,"u_ns":N,"drift":0,"middle_ns":N,"collectives":40,"island":0}'
tl-merge --align collective drift/*.json -o steady.tl
is 'merged: no drift is left' "$(clocks drift,off steady.tl | sort -u)" "0.0${tab}false"
is '... but a thread keeps its events' "$(tl-cat --tsv -F kind steady.tl | sort | uniq -c)" \
	"$(tl-merge drift/*.json | tl-cat --tsv -F kind | sort | uniq -c)"
tl-merge --align collective islands/*.json -o apart.tl 2>err
is 'islands: a warning' "$? $(grep -c 'no collective compares the clocks of 2 sets' err)" '3 1'
reports 3 rank-no-clock 'tl-merge --align collective few/*.json >few.tl'

# ---- ... by bases only with a warning, if clocks do not agree ----

said() { { "$@" >/dev/null; } 2>&1; echo $?; }
reports 3 join-clocks-off 'tl-merge pairs/*.json >loose.tl'
is 'merged as asked for' "$(said tl-merge --align base pairs/*.json)" 0
is '... by ranks whose clocks agree' "$(said tl-merge even/*.json)" 0
is '... of ranks that are on one clock' "$(said tl-merge --rank 0-2 pairs/*.json)" 0
is '... that tl-merge has aligned' "$(said tl-merge merged.tl merged.tl)" 0
reports 3 join-clocks-unknown 'tl-merge islands/*.json >apart0.tl'
reports 3 join-clocks-unchecked 'tl-merge pairs/rank0.json - <pairs/rank3.json >loose0.tl'
# sources, wherever they are: on standard input one, or two
for i in 0 1 2 3; do tl-decode pairs/rank$i.json -o c$i.tl; done
tl-merge --align base c0.tl c1.tl -o c01.tl
tl-merge --align base c2.tl c3.tl -o c23.tl
tl-merge --align base c0.tl c3.tl -o c03.tl
on_stdin() { "$@" 2>&1 >/dev/null | grep -o '[0-9]* sources* on standard input'; }
is '... one is there, last' "$(on_stdin tl-merge c1.tl c2.tl - <c0.tl)" '1 source on standard input'
is '... first' "$(on_stdin tl-merge - c1.tl c2.tl <c0.tl)" '1 source on standard input'
is '... or two' "$(on_stdin tl-merge c2.tl - <c01.tl)" '2 sources on standard input'
is '... or all' "$(on_stdin tl-merge <c03.tl)" '2 sources on standard input'
is '... of a timeline, too' "$(on_stdin tl-timeline --join - c2.tl <c01.tl)" '2 sources on standard input'
reports 3 join-clocks-off 'tl-merge c01.tl c23.tl >c0123.tl'
like '... of a second source' "$(tl-merge c01.tl c23.tl 2>&1 >/dev/null)" '1 rank is off \(3\), .* rank 3, by 5\.000 ms'
reports 3 join-clocks-off 'tl-merge c03.tl >one.tl'
reports 3 join-clocks-off 'tl-merge --rank 3,2 c01.tl c23.tl >c32.tl'
is '... not those that are not selected' "$(said tl-merge --rank 0-2 c01.tl c23.tl)" 0
is '... nor is one source alone' "$(said tl-merge --rank 3 c01.tl c23.tl)" 0
for i in 0 1 2 3; do tl-decode islands/rank$i.json -o i$i.tl; done
tl-merge --align base i0.tl i2.tl -o i02.tl
reports 3 join-clocks-unknown 'tl-merge i02.tl >i.tl'
reports 3 join-clocks-unknown 'tl-merge apart.tl >apart1.tl'
# an input that the output replaces is compared first
cp c03.tl self.tl
reports 3 join-clocks-off 'tl-merge self.tl -o self.tl'
job two --ranks 2 --group 0=0,1:all_reduce:1000000:60:2
reports 3 join-clocks-unknown 'tl-merge two/*.json >two.tl'
job two --ranks 2 --group 0=0,1:all_reduce:1000000:60:2 --host 0=0 --host 1=0
is '... of one host' "$(said tl-merge two/*.json)" 0

is 'one timeline' "$(tl-timeline --join --align collective pairs/*.json)" "$(tl-timeline --join even/*.json)"
ok '... which it is not as recorded' test "$(tl-timeline --join pairs/*.json)" != "$(tl-timeline --join even/*.json)"
is '... of a stream that tl-merge aligned' "$(tl-timeline --join merged.tl)" "$(tl-timeline --join even/*.json)"
tl-timeline --join -c type,time_ns steady.tl >steady.txt
tl-timeline --join --align collective -c type,time_ns drift/*.json >joined.txt
is '... without drift' "$(cat joined.txt)" "$(cat steady.txt)"
# ---- ... and different clocks only with a warning ----

reports 3 join-clocks-off 'tl-timeline --join pairs/*.json'
like '... whose' "$(tl-timeline --join pairs/*.json 2>&1 >/dev/null)" '1 rank is off \(3\), .* rank 3, by 5\.000 ms'
mkdir anon
for i in 0 1 2 3; do sed 's/"distributedInfo"/"info"/' pairs/rank$i.json >anon/x$i.json; done
like '... also where only their order tells ranks' "$(tl-timeline --join anon/*.json 2>&1 >/dev/null)" \
	'1 rank is off \(3\), .* rank 3, by 5\.000 ms'
reports 3 join-clocks-off 'tl-merge anon/*.json >anon.tl'
is '... and aligns them' "$(tl-timeline --join --align collective anon/*.json)" "$(tl-timeline --join even/*.json)"
is '... not those that are not asked for' "$(said tl-timeline --join --rank 0-2 pairs/*.json)" 0
is '... nor where collectives agree' "$(said tl-timeline --join even/*.json)" 0
is '... nor if they are said to be one' "$(said tl-timeline --join --align base pairs/*.json)" 0
reports 3 join-clocks-off 'tl-timeline --join loose.tl'
reports 3 join-clocks-unchecked 'tl-timeline --join - <loose.tl'
is '... but those of tl-merge are one' "$(said tl-timeline --join - <merged.tl)" 0
reports 3 join-clocks-unknown 'tl-timeline --join apart.tl'
reports 3 join-clocks-unknown 'tl-timeline --join islands/*.json'
job two --ranks 2 --group 0=0,1:all_reduce:1000000:60:2
reports 3 join-clocks-unknown 'tl-timeline --join two/*.json'
job two --ranks 2 --group 0=0,1:all_reduce:1000000:60:2 --host 0=0 --host 1=0
is 'one host has one clock, if collectives do not deny it' "$(said tl-timeline --join two/*.json)" 0
cp pairs/rank0.json stdin
tl-timeline --join --align collective stdin pairs/rank1.json 2>err
is 'a file may be called stdin' $? 3
is '... which is standard input only as -' "$(grep -c 'reads each input twice' err)" 0
refuses 2 'needs --join' 'tl-timeline --align collective pairs/rank0.json'
refuses 2 'reads each input twice' 'tl-timeline --join --align collective - <merged.tl'
refuses 2 'not from standard input' 'tl-timeline --join --align collective <loose.tl'
ev cpu_op aten::mm 1 0 5 | trace >host.json
refuses 2 'not from standard input' 'tl-timeline --join --align collective pairs/rank0.json - <host.json'

path() { tl-critical --job "$@"; }
is 'one critical path' "$(path pairs/*.json 2>&1)" "$(path even/*.json 2>&1)"

done_testing
