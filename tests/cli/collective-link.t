#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective --link: shares of a link's speed, worked out by hand.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

tab=$(printf '\t')
job() { # DIR OPTION...
	d=$1
	shift
	python3 "$ROOT/tests/gen/job.py" -o "$d" "$@"
}
# share COLUMNS OPTION...: of the rows of nccl_bandwidth, to a tenth
share() {
	c=$1
	shift
	tl-collective --table nccl_bandwidth --no-header -c "$c" "$@" |
		awk -F'\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++)
			if ($i ~ /^[0-9]+\.[0-9]+$/) $i = sprintf("%.1f", $i)
			print }'
}

# 100 MB in 1 ms on four ranks: 100 GB/s, on the bus 150; 1 MB in 100 us: 15
job four --group '0=0-3:all_reduce:100000000:1000' \
	--group '0=0-3:all_reduce:1000000:100' --device 'NVIDIA A100-SXM4-80GB' --gpus 4
is "the GPU's name gives the link within a node" \
	"$(share full_bytes,link,pct_of_link,judged_from_bytes four)" \
	"1000000${tab}NVLink3${tab}6.4${tab}31960000
100000000${tab}NVLink3${tab}63.8${tab}31960000"
is 'a small message is not held against the group' \
	"$(tl-collective --link NVLink3 -c link,pct_of_link,verdict --no-header four | sed 's/\(63\.8\)[0-9]*/\1/')" \
	"NVLink3${tab}63.8${tab}none"
is 'the same of partials' "$(tl-collective --partial four | share link,pct_of_link)" \
	"NVLink3${tab}6.4
NVLink3${tab}63.8"
is '--link comes before the name, in any case' \
	"$(share link,pct_of_link --link nvlink4 four | tail -n 1)" "NVLink4${tab}40.5"
is 'a mesh has a link to each peer' \
	"$(share link,pct_of_link --link xGMI-MI300X four | tail -n 1)" \
	"xGMI-MI300X${tab}104.9"
is 'only the peak is known' "$(share link,pct_of_link --link xGMI-MI350 four | tail -n 1)" \
	"xGMI-MI350 (peak)${tab}65.1"
like 'more than the link achieves is said' \
	"$(tl-collective --link xGMI-MI300X four 2>&1 >out)" \
	'group above the achievable bandwidth of its link, most of all 0: 105 % of xGMI-MI300X .in-network reduction'

# if all links are equally slow, so is the best of the job
job slow --group '0=0-3:all_reduce:100000000:1500' --device 'NVIDIA A100-SXM4-80GB' --gpus 4
is 'all slow alike' "$(tl-collective --link NVLink3 -c verdict,says --no-header slow)" \
	"network${tab}network at 43 % of the 235 GB/s of NVLink3"
like 'tl-report passes it on' "$(tl-report --link NVLink3 slow/*.json | paste -sd ' ')" \
	'Network at 43 % of the 235 GB/s of NVLink3: \+'
is "a GPU's name is no proof of how a machine is wired: no verdict" \
	"$(tl-collective -c verdict --no-header slow)" none
is 'of unknown GPUs nothing is said' "$(sed -i 's/A100-SXM4-80GB/GPU/' slow/*.json
	tl-collective -c link,pct_of_link,verdict --no-header slow)" "${tab}${tab}none"

# ---- between nodes ----

# two nodes of two: a ring leaves by both adapters, an all-to-all sends 2/3 out
job nodes --group '0=0-3:all_reduce:400000000:15000' \
	--group '1=0-3:all_to_all:400000000:10000' \
	--group '2=0,2:all_reduce:400000000:20000' \
	--group '3=0,1:all_reduce:400000000:2000'
is 'rings, all-to-alls, one rank a node, one node' \
	"$(share class,group_size,link,pct_of_link --gpus-per-node 2 --link IB-HDR --link NVLink3 nodes)" \
	"allreduce${tab}2${tab}IB-HDR${tab}87.9
allreduce${tab}2${tab}NVLink3${tab}85.1
allreduce${tab}4${tab}IB-HDR${tab}87.9
alltoall${tab}4${tab}IB-HDR${tab}87.9"
is 'a slower mesh within nodes bounds rings' \
	"$(share class,group_size,link,pct_of_link --gpus-per-node 2 --link IB-NDR --link xGMI-MI300X nodes 2>err |
		sed -n '3,4p')" \
	"allreduce${tab}4${tab}xGMI-MI300X${tab}83.9
alltoall${tab}4${tab}IB-NDR${tab}41.7"
is 'without a link between nodes none is known' \
	"$(tl-collective -c group,link --no-header --gpus-per-node 2 --link NVLink3 nodes |
		sort)" \
	"0${tab}
1${tab}
2${tab}
3${tab}NVLink3"
refuses -o 3 '4 groups: which ranks share a node is unknown' 'tl-collective --link NVLink3 nodes'

# ---- files of users ----

file() {
	printf '{"name":"x","scope":"%s","per":"%s","link_gbps":%s,"hop_latency_us":%s}' "$@"
}
file inter node 40 0 >x.json
is 'a node has one link for all' \
	"$(share class,group_size,link,pct_of_link,judged_from_bytes --gpus-per-node 2 --link ./x.json nodes |
		sed -n '1p;3,4p')" \
	"allreduce${tab}2${tab}x (peak)${tab}50.0${tab}0
allreduce${tab}4${tab}x (peak)${tab}100.0${tab}0
alltoall${tab}4${tab}x (peak)${tab}100.0${tab}0"
refuses 2 "no link 'nothing': a file.json or one of IB-EDR" 'tl-collective --link nothing four'
refuses 2 'IB-HDR and IB-NDR are both between nodes' \
	'tl-collective --link IB-HDR --link IB-NDR four'
refuses 1 'nothing.json: ' 'tl-collective --link nothing.json four'
bad() { # WHAT...
	file "$@" >bad.json
}
while IFS='|' read -r what why; do
	# shellcheck disable=SC2086 # words
	bad $what
	refuses 1 "bad.json: .*$why" 'tl-collective --link bad.json four'
done <<'EOT'
outer gpu 1 1|scope must
intra all 1 1|per must
intra gpu 0 1|must be GB/s
intra gpu -1 1|must be GB/s
intra gpu 1e300 1|must be GB/s
intra gpu "1" 1|must be GB/s
intra gpu 1 -1|must be microseconds
intra gpu 1 null|must be microseconds
intra gpu 1 1,"devices":7|devices must
intra gpu 1 1,"devices":[7]|devices must
intra gpu {} 1|must be GB/s
intra gpu 1 1]|not an object
EOT
printf '[]' >bad.json
refuses 1 'not an object of JSON' 'tl-collective --link bad.json four'
printf '{"scope":"intra"}' >bad.json
refuses 1 'no name' 'tl-collective --link bad.json four'
head -c 2000000 /dev/zero >bad.json
refuses 1 'too long' 'tl-collective --link bad.json four'

ok 'built-in figures have sources, and achieve less than the peak' python3 -c '
import glob, json, sys
files = glob.glob(sys.argv[1] + "/*.json")
for f in files:
    d = json.load(open(f))
    got = d["max_achievable_link_gbps"]
    assert f.endswith("/" + d["name"] + ".json"), f
    assert got is None or 0.7 * d["link_gbps"] < got < d["link_gbps"], f
    assert set(d["sources"]) == {k for k in ("link_gbps", "max_achievable_link_gbps",
        "hop_latency_us") if d[k] is not None}, f
assert len(files) > 15
' "$ROOT/cmd/tl-collective/links"

done_testing
