#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-export --to perfetto: another reader and tl-decode read its output back.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
back() { # back NAME FILE: exported, and read by both
	is "$1 comes back" "$(python3 "$ROOT/tests/oracle/exported.py" "$2")" "ok - $2"
}
# reads NAME: what back() exported last, by the generic protobuf library
library=
for python in python3 /usr/bin/python3; do
	[ -n "$library" ] || ! "$python" -c 'import google.protobuf' 2>/dev/null || library=$python
done
reads() {
	if [ -z "$library" ]; then
		skip "$1, by the protobuf library" 'no python3-protobuf'
	else
		is "$1, by the protobuf library" "$(PYTHONDONTWRITEBYTECODE=1 "$library" \
			"$ROOT/tests/oracle/protobuf_reader.py" exported.pftrace | cut -c1-2)" ok
	fi
}

tl-gen -s 7 -n 1 --layers 1 -o a.json
back 'a trace' a.json
reads 'a trace'
tl-gen -s 8 -n 2 --layers 1 --backend cuda --graph --streams 3 -o g.json
back 'with graphs and streams' g.json
reads 'with graphs and streams'
tl-gen --rocprof -n 1 --layers 1 -o roc.json
back 'of rocprofv3' roc.json
reads 'of rocprofv3'
for q in $(tl-gen --list-quirks | awk '{ print $1 }'); do
	tl-gen -n 1 --layers 1 -q "$q" -o "q-$q.json"
	! tl-decode "q-$q.json" >q.tl 2>/dev/null || back "quirk $q" "q-$q.json"
done

# crossing and touching events, and some without length; ids as texts; odd
# numbers
cat >odd.json <<'END'
{"traceEvents":[
{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":10,"dur":10},
{"ph":"X","name":"crosses","pid":1,"tid":1,"ts":5,"dur":10},{"ph":"X","name":"crosses","pid":1,"tid":1,"ts":7,"dur":10},
{"ph":"X","name":"c","pid":1,"tid":1,"ts":20,"dur":5},{"ph":"X","name":"none","pid":1,"tid":1,"ts":25,"dur":0},
{"ph":"X","name":"none","pid":1,"tid":1,"ts":30,"dur":0},{"ph":"X","name":"d","pid":1,"tid":1,"ts":29.999,"dur":0.001},
{"ph":"X","name":"outer","pid":1,"tid":2,"ts":0,"dur":40},{"ph":"X","name":"at its begin","pid":1,"tid":2,"ts":0,"dur":0},
{"ph":"X","name":"inner","pid":1,"tid":2,"ts":40,"dur":0},{"ph":"X","name":"same","pid":1,"tid":2,"ts":0,"dur":40},
{"ph":"X","name":"text","pid":"Spans","tid":"main","ts":1,"dur":1,"args":{"a":null,"b":true,"c":[1,{"d":"e"}],
"f":0.10,"g":123456789012345678901234567890,"h":1234567890.12345678,"i":18446744073709551615,"j":1e400,"k":"x","l":"","m":-5}},
{"ph":"B","name":"open","pid":2,"tid":3,"ts":5},{"ph":"X","name":"within","pid":2,"tid":3,"ts":6,"dur":1},
{"ph":"C","name":"mem","pid":2,"tid":3,"ts":1,"args":{"used":5,"free":1.5}},
{"ph":"C","name":"one","pid":2,"tid":3,"ts":2,"args":{"value":-5}},
{"ph":"i","name":"now","pid":2,"tid":3,"ts":3,"s":"g"},{"ph":"b","name":"async","id":"0x1f","pid":2,"tid":3,"ts":4},
{"ph":"e","name":"async","id":"0x1f","pid":2,"tid":3,"ts":9},
{"ph":"X","name":"no track","ts":3,"dur":1},{"ph":"X","name":"no process","tid":77,"ts":3,"dur":1},
{"ph":"X","cat":"mine","name":"before all","pid":5,"tid":6,"ts":-7.5,"dur":3}]}
END
back 'what is odd' odd.json
reads 'what is odd'
is 'a slice that crosses is on a track below' "$(tl-export --to perfetto odd.json | tl-decode | tl-cat |
	jq -c 'select(.name == "crosses") | [.ts, .dur, .pid, .tid]' | tr '\n' ' ')" '[5000,10000,1,1] [7000,10000,1,1] '
printf '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"dur":1},{"ph":"i","name":"b","pid":1,"tid":1,"ts":5}]}' >untimed.json
refuses 3 'untimed.json: 1 event without a time skipped' 'tl-export --to perfetto -o u.pftrace untimed.json'
printf '[{"ph":"C","name":"c","pid":1,"ts":3,"args":{"x":NaN,"y":-Infinity,"z":0.5}}]' >nan.json
is 'a counter that is no number is not 0' "$(tl-export --to perfetto nan.json | tl-decode | tl-cat --kind counter |
	jq -c '.args.value? // empty')" 0.5
printf '[]' >empty.json
is 'nothing' "$(tl-export --to perfetto empty.json | wc -c)" 0

# ranks: separate processes, each on its clock
tl-gen -s 7 -n 1 --layers 1 --ranks 2 -d r
tl-export --to perfetto -o both.pftrace r/*.json
is 'processes of two ranks are apart' "$(tl-decode both.pftrace | tl-cat --tsv -F pid --no-header |
	awk '{ print ($1 >= 10000000) }' | sort -u | tr '\n' ' ')" '0 1 '
is 'as many events as both have' "$(tl-decode both.pftrace | tl-cat --tsv -F kind --no-header | grep -c kernel)" \
	"$(for f in r/*.json; do tl-decode "$f" | tl-cat --tsv -F kind --no-header; done | grep -c kernel)"
is 'with what the tree knows' "$(tl-tree a.json | tl-export --to perfetto --with-tree | tl-decode | tl-cat |
	jq -c 'select(.kind == "kernel") | .args | has("tl.launch")' | sort -u)" true
tl-export --to perfetto -o z.pftrace.gz a.json
is 'compressed by name' "$(gzip -dc z.pftrace.gz | cksum)" "$(tl-export --to perfetto a.json | cksum)"
is 'smaller than JSON' "$([ "$(wc -c <z.pftrace.gz)" -lt "$(tl-export --gzip a.json | wc -c)" ] && echo yes)" yes
refuses 2 'are for --to chrome' 'tl-export --to perfetto --sort id a.json'
done_testing
