#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective --fail-over and --junit.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

job() { # DIR OPTION...
	d=$1
	shift
	python3 "$ROOT/tests/gen/job.py" -o "$d" "$@"
}
# gate STATUS MESSAGE OPTION...: checks exit status and standard error
gate() {
	status=$1 message=$2
	shift 2
	tl-collective "$@" >out 2>err
	is "status: $*" $? "$status"
	if [ -n "$message" ]; then
		like "message: $*" "$(cat err)" "$message"
	else
		is "no message: $*" "$(cat err)" ''
	fi
}

# 200 MB in 1,000 us: 300 GB/s on the bus; rank 2 is 500 us late: 10 of 1600
world=0=0-3:all_reduce:200000000:1000
job late --group $world --late 2=500 --gpus 4 --device GPU
job even --group $world --gpus 4 --device GPU
gate 4 'wait:5% failed in 1 of 1 group, worst in group 0: rank [013] waits 3[0-9.]* % of its time, [45]\.[0-9]* of 1[56]\.[0-9]* ms, most for rank 2; allowed: 5 %' \
	--fail-over wait:5% late
gate 0 '' --fail-over wait:40% late
gate 0 '' --fail-over wait:5% even
gate 4 'start skew p95 0\.5[0-9]* ms, rank 2 last in 10 of 10 above the limit; allowed: 0.1 ms' \
	--fail-over skew:100us late
gate 0 '' --fail-over skew:1ms late
gate 4 'bandwidth:90% failed in 1 of 1 group, worst in group 0: ranks 0-3: 81 % of the 370 GB/s of NVLink4; required: 90 %' \
	--fail-over bandwidth:90% --link NVLink4 late
gate 0 '' --fail-over bandwidth:80% --link NVLink4 late

# ---- what cannot be judged ----

gate 3 'bandwidth:80% not judged in 1 of 1 group \(group 0: its link is unknown: --link\)' \
	--fail-over bandwidth:80% late
job small --group 0=0-3:all_reduce:4096:20 --gpus 4 --device GPU
gate 5 'bandwidth:80%: no group has anything to judge' \
	--fail-over bandwidth:80% --link NVLink4 small
job both --group $world --group 1=0,1:all_reduce:4096:20 --gpus 4 --device GPU
gate 0 'nothing to judge in 1 of 2 groups \(group 1: no large message of known size' \
	--fail-over bandwidth:80% --link NVLink4 both
job off --group $world --late 2=500 --skew 1=5000 --gpus 4 --device GPU
gate 3 'skew:1ms not judged in 1 of 1 group \(group 0: clocks cannot be compared' \
	--fail-over skew:1ms off
gate 4 'rank [013] waits 3[0-9.]* % .*\(by durations: clocks do not tell who is late\); allowed: 5 %' \
	--fail-over wait:5% off
gate 0 '' --fail-over skew:1ms --align-clocks off
gate 4 'failed' --fail-over skew:100us --align-clocks off
gate 4 'failed' --fail-over skew:1ms --fail-over wait:5% off

# ---- the file ----

# junit FILE: the contents, by Python's parser
junit() {
	python3 -c '
import sys, xml.etree.ElementTree as tree
for suite in tree.parse(sys.argv[1]).getroot():
    print(suite.get("name"), *(suite.get(k) for k in ("tests", "failures", "errors", "skipped")))
    for case in suite:
        print(case.get("classname"), case.get("name"),
              *(e.tag + ": " + e.get("message") for e in case), sep="|")
' "$1"
}
gate 4 . --fail-over skew:1ms --fail-over bandwidth:90% --link NVLink4 --junit x.xml both
is 'a case for each gate and group' "$(junit x.xml)" \
	'tl-collective 4 1 0 1
skew:1ms|group 0
skew:1ms|group 1
bandwidth:90%|group 0|failure: ranks 0-3: 81 % of the 370 GB/s of NVLink4; required: 90 %
bandwidth:90%|group 1|skipped: no large message of known size: small ones are latency-bound'
gate 3 . --fail-over skew:1ms --junit x.xml off
is 'what cannot be judged is an error' "$(junit x.xml | head -n 1)" 'tl-collective 1 0 1 0'
job hostile --group "$(printf 'a<b>&"\001\357\277\277\033[1m')=0-3:all_reduce:4096:20"
tl-collective --fail-over skew:1ms --junit x.xml hostile >out 2>err
is 'a hostile name' "$(junit x.xml | tail -n 1)" \
	'skew:1ms|group a<b>&"\x01\uffff\x1b[1m'
rm -f x.xml
refuses 1 'no input' 'tl-collective --fail-over skew:1ms --junit x.xml nothing.json'
is 'whole or absent' "$(ls x.xml* 2>/dev/null)" ''
refuses 1 'No space left' 'tl-collective --fail-over skew:1ms --junit /dev/full even >out'
printf '{"traceEvents":[' >cut.json
tl-collective --fail-over skew:1ms --junit x.xml even cut.json >out 2>err
is 'an input that cannot be read leaves the file whole' "$? $(junit x.xml | head -n 1)" \
	'3 tl-collective 1 0 0 0'
rm -f x.xml
mkdir hang
cp "$ROOT"/tests/data/hang/* hang
refuses 2 'dumps of the flight recorder lack' \
	'tl-collective --fail-over skew:1ms --junit x.xml hang'
for o in '--rank 1' '--kind kernel' '--min-dur 1us' '--step 1'; do
	refuses 2 'take no selection' "tl-collective $o hang"
done
is 'nor a file of it' "$(ls x.xml* 2>/dev/null)" ''
# before the work: it does not open the inputs
refuses 1 'no/x.xml' 'tl-collective --fail-over skew:1ms --junit no/x.xml nothing.json'
refuses 1 'no/x.xml' 'tl-collective --fail-over skew:1ms --junit no/x.xml even >out'
refuses 2 'needs --fail-over' 'tl-collective --junit x.xml even'
refuses 2 'needs a file' 'tl-collective --fail-over wait:5% --junit - even'
refuses 2 'which --fail-over cannot judge' 'tl-collective --partial --fail-over wait:5% even'
for g in wait wait: wait:5 wait:% wait:-1% wait:101% wait:nan% skew:5 skew:5% bandwidth:1ms other:5% 5%; do
	refuses 2 'needs wait:5%, bandwidth:80% or skew:1ms' "tl-collective --fail-over $g even"
done

done_testing
