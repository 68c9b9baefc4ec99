#!/bin/sh
# SPDX-License-Identifier: MIT
# Events that no table can count are counted as skipped, by reason: no loss with
# exit status 0.
# shellcheck disable=SC2016 # CMDs are quoted
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# two MEMBERS: a good kernel, and one with these members
two() {
	cat <<EOT
[{"ph":"X","cat":"kernel","name":"good","pid":0,"tid":7,"ts":10,"dur":5},
 {"name":"bad","pid":0,"tid":7,$1}]
EOT
}

# skips WHAT MEMBERS FACT: reported by tl-decode, by a sink, in the record; not
# lost
skips() {
	two "$2" >in.json
	tl-decode in.json >in.tl 2>err
	is "$1: exit 3" $? 3
	like "$1: a warning" "$(cat err)" 'in.json: 1 event skipped: 1 with'
	like "$1: the record" "$(tl-cat in.tl 2>/dev/null)" "\"skipped\":{\"$3\":1}"
	refuses 3 'event skipped: 1 with' 'tl-timeline in.tl >/dev/null'
	is "$1: nothing is lost" "$(tl-export --to chrome in.tl 2>/dev/null |
		python3 "$ROOT/tests/oracle/same_json.py" in.json /dev/stdin 2>&1)" ''
}

# counts WHAT MEMBERS: no message about it
counts() {
	two "$2" >in.json
	quiet "$1" 'tl-decode in.json'
}

while IFS='|' read -r what members fact; do
	skips "$what" "$members" "$fact"
done <<'EOT'
no start|"ph":"X","cat":"kernel","dur":1|time
a start that is bad text|"ph":"X","cat":"kernel","ts":"soon","dur":1|time
a start that is null|"ph":"X","cat":"kernel","ts":null,"dur":1|time
a start that is a list|"ph":"X","cat":"cpu_op","ts":[1],"dur":1|time
a start beyond all times|"ph":"X","cat":"kernel","ts":9e30,"dur":1|time
no duration|"ph":"X","cat":"kernel","ts":1|duration
a duration that is null|"ph":"X","cat":"kernel","ts":1,"dur":null|duration
a duration that is NaN|"ph":"X","cat":"kernel","ts":1,"dur":NaN|duration
a duration beyond all times|"ph":"X","cat":"gpu_memcpy","ts":1,"dur":9e18|duration
a duration below zero|"ph":"X","cat":"kernel","ts":1,"dur":-2|duration
no phase|"cat":"kernel","ts":1,"dur":1|phase
an unknown phase|"ph":"?","cat":"kernel","ts":1,"dur":1|phase
a list as category|"ph":"X","cat":["kernel"],"ts":1,"dur":1|category
a number as category|"ph":"X","cat":2,"ts":1,"dur":1|category
a category that is true|"ph":"X","cat":true,"ts":1,"dur":1|category
a correlation, no category|"ph":"X","ts":1,"dur":1,"args":{"correlation":3}|category
a correlation, category null|"ph":"X","cat":null,"ts":1,"dur":1,"args":{"correlation":3}|category
a correlation, an empty category|"ph":"X","cat":"","ts":1,"dur":1,"args":{"correlation":3}|category
EOT

while IFS='|' read -r what members; do
	two "$members" >in.json
	reports 3 unclosed 'tl-tree in.json -o in.tl'
	is "$what: the record" "$(tl-cat in.tl | grep -c '"unclosed":1[,}]')" 1
	reports 3 unclosed 'tl-timeline in.tl'
done <<'EOT'
a kernel that begins only|"ph":"B","cat":"kernel","ts":20
an annotation that begins only|"ph":"B","cat":"user_annotation","ts":20
a kernel that ends only|"ph":"E","cat":"kernel","ts":20
EOT
two '"ph":"B","cat":"python_function","ts":20' >in.json
quiet 'frames are open when a recording ends' 'tl-timeline in.json'
two '"ph":"E","ts":20' >in.json
quiet 'and when it begins, and nothing tells what an end without a category is of' 'tl-timeline in.json'

for ph in b S; do
	two "\"ph\":\"$ph\",\"id\":1,\"cat\":\"kernel\",\"ts\":1" >in.json
	refuses 3 'in.json: 1 event skipped: 1 asynchronous$' 'tl-decode in.json >in.tl'
	is "asynchronous work, $ph: the record" "$(tl-cat in.tl 2>/dev/null | grep -o '"skipped":{[^}]*}')" \
		'"skipped":{"async":1}'
	is '... which tl-health warns of' "$(tl-health --no-header -c severity,check in.json 2>/dev/null |
		grep file)" "$(printf 'warning\tfile.async')"
	counts "a user's annotation is no work: $ph" "\"ph\":\"$ph\",\"id\":1,\"cat\":\"user_annotation\",\"ts\":1"
done
for ph in n e T p F; do
	counts "asynchronous work counts where it begins: $ph" "\"ph\":\"$ph\",\"id\":1,\"cat\":\"kernel\",\"ts\":1"
done
counts 'an instant has no duration' '"ph":"i","cat":"kernel","ts":1'
counts 'a mark of no work may lack its time' '"ph":"X","cat":"mine"'
counts 'a slice without a category is no work' '"ph":"X","cat":null,"ts":1,"dur":1,"args":{"stream":3}'
counts 'metadata has no time' '"ph":"M","cat":"kernel","args":{}'

two '"ph":"X","cat":"foo,kernel, bar","ts":20,"dur":5' >list.json
is 'of a category with commas the first known part counts' \
	"$(tl-decode list.json | tl-cat | grep -c '"kind":"kernel"')" 2
two '"ph":"?","cat":"kernel","ts":1,"dur":1' >in.json
refuses 3 'event skipped: 1 with' 'tl-decode --kind kernel in.json >/dev/null'
refuses 3 'event skipped: 1 with' 'tl-timeline in.json >/dev/null'

# if no GPU event has a time, that is why there is no answer
cat >untimed.json <<'EOT'
[{"ph":"X","cat":"python_function","name":"nn.Module: M_0","ts":0,"dur":90,"pid":1,"tid":1,
  "args":{"Python id":1,"Python module id":0}},
 {"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":50,"pid":1,"tid":1},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":2,"dur":5,"pid":1,"tid":1,
  "args":{"correlation":1}},
 {"ph":"X","cat":"kernel","name":"k","ts":"x","dur":9,"pid":0,"tid":7,
  "args":{"device":0,"stream":7,"correlation":1}}]
EOT
for program in timeline ops kernels roofline idle launch steps critical fold modules; do
	command -v tl-$program >/dev/null || continue # a library is missing
	refuses 5 'untimed.json: 1 GPU event, all without a time$' "tl-$program untimed.json"
done
refuses 3 'untimed.json: 1 GPU event, all without a time$' \
	'tl-timeline untimed.json "$SAMPLE" >/dev/null'

cat >rocprof.json <<'EOT'
{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"buffer_records":{
 "kernel_dispatch":[
  {"start_timestamp":100,"end_timestamp":200,"dispatch_info":{"kernel_id":1}},
  {"start_timestamp":"x","end_timestamp":300,"dispatch_info":{"kernel_id":1}},
  {"start_timestamp":100,"end_timestamp":null,"dispatch_info":{"kernel_id":1}}]}}]}
EOT
refuses 3 '2 events skipped: 1 without a usable time, 1 without a usable duration' \
	'tl-decode rocprof.json >r.tl'
like 'the record of a rocprofv3 file' "$(tl-cat r.tl 2>/dev/null)" \
	'"skipped":{"time":1,"duration":1}'
done_testing
