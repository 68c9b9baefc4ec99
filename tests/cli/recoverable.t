#!/bin/sh
# SPDX-License-Identifier: MIT
# What a report says can be recovered, and its evidence: GPU work returns what the
# critical path has of it, locks, markers of steps, GPUs, processes and threads.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for program in tl-ops tl-critical tl-advise tl-collective; do
	command -v $program >/dev/null || skip_all "$program is not built"
done
python3 "$ROOT/tests/oracle/evidence.py"

gains() { # gains TRACE: of GPU work, low, middle and high in us, and the limit
	tl-advise "$1" --format tsv -c section,gain_ns_low,gain_ns,gain_ns_high,most_ns 2>err |
		awk -F'\t' '$1 == "compute" && $3 != "" {
			printf "%.0f %.0f %.0f %s", $2 / 1e3, $3 / 1e3, $4 / 1e3,
				$5 == "" ? "none" : sprintf("%.0f", $5 / 1e3) }'
}
said() { # said TRACE: the screen in one line
	tl-report "$1" 2>err | tr -s '\n ' '  '
}

# each kernel of 500 us could take some 245: 50 of them, 12.7 ms
all=$(gains gpu_bound.json)
is 'where the GPU sets the pace, GPU work has no limit' "${all##* }" none
is 'GPU work that data loading hides returns nothing' "$(gains hidden.json |
	awk '{ print $1, $2, ($3 > 5000), $4 }')" '0 0 1 0'
like 'the finding says so' "$(tl-advise --text hidden.json 2>err | tr -s '\n ' '  ')" \
	'most in aten::mm; returns nothing while the host sets the pace|aten::mm; returns nothing while the host sets the pace'
ok 'which is not among the recoverable times' sh -c '
	tl-report hidden.json 2>err | sed -n "/^recov/,/^idle/p" >out
	grep -q dataloader out && ! grep -q GEMM out'
is 'what a synchronization waits for does' "$(gains waits.json |
	awk '{ print ($2 > 0.8 * 0.75 * $3), ($4 > 20000) }')" '1 1'
is 'as does what another blocking call waits for' "$(gains frees.json |
	awk '{ print ($2 > 0.8 * 0.75 * $3), ($4 == "none" || $4 > 20000) }')" '1 1'
tl-report --format ndjson --roof achievable hidden.json >tables 2>err
sed '/^{"table":"what_if"/,/^{"end"/d' tables >without
is 'tables of other releases have no limit' "$(gains without | awk '{ print ($2 > 5000), $4 }')" \
	'1 none'
like 'steps have one, too' "$(tl-report --step 1 hidden.json --format ndjson 2>err |
	grep -A1 '"table":"what_if"' | tail -n 1)" '"bound"'
ok 'and what it limits is not listed' sh -c '
	tl-report --step 1 hidden.json 2>err | sed -n "/^recov/,/^idle/p" >out
	grep -q dataloader out && ! grep -q GEMM out'
is 'other parts of a trace do not' "$(tl-report --from 1ms --format ndjson hidden.json 2>err |
	grep -c '"table":"what_if"')" 0
is 'nor have several' "$(tl-report hidden.json waits.json --format ndjson 2>err |
	grep -c '"table":"what_if"')" 0

is 'markers of steps are one row' "$(tl-idle --by call lock.json --format tsv -c call 2>err |
	grep ProfilerStep)" 'ProfilerStep#*'
is 'their gaps name the one they are in' "$(tl-idle --table idle_gaps --format tsv -c call \
	waits.json 2>err | grep -c '#\*')" 0

is 'a lock has the call of the other thread' "$(tl-idle --by cause,call --format tsv \
	-c cause,lock_call lock.json 2>err | awk -F'\t' 'NR > 1 && $2 != "" { print $2 }')" cudaMalloc
like 'the report says so' "$(said lock.json)" \
	'at least half of it while another thread is in cudaMalloc: likely a lock'
like 'and what to do' "$(said lock.json)" \
	'keep cudaMalloc off other threads while this one launches'

is 'one of several calls is no evidence for all' "$(said locks.json | grep -c 'likely a lock')" 0

like 'a step whose GPU work ran later is idle' "$(tl-report --step 0 later.json 2>err |
	tr -s '\n ' '  ')" '2\.000 ms: 0\.0 % compute, 100\.0 % idle\. .*5 GPU events of this step ran later\.'
is 'for a cause' "$(tl-idle --step 0 later.json --format tsv -c time_ns 2>err |
	awk 'NR > 1 { sum += $1 } END { print sum }')" 2000000
like 'a GPU that is busy for less than half as long' "$(said gpus.json)" \
	'GPUs 0 and 1 are busy for 9[0-9]\.[0-9] and 1\.0 % of the window\.'
like 'steps of two processes' "$(said processes.json)" 'in 5 steps in each of 2 processes'
like 'of different numbers' "$(said uneven.json)" 'in 8 steps in 2 processes'
reports 3 steps-aside 'tl-steps threads.json'
like 'steps of another thread are counted' "$(tl-tree -o none.tl threads.json 2>&1)" \
	'4 of 9 annotated steps on threads that launch GPU work do not count: another thread'

uids() { # uids RULE TRACE
	tl-advise "$2" --format ndjson -c rule,uids 2>err | grep "\"rule\":\"$1\""
}
like 'a graph has uids' "$(uids graph launches.json)" '"uids":\[[0-9]+(,[0-9]+)*\]'
like 'and collectives' "$(uids exposed_communication communicates.json)" '"uids":\[[0-9]+\]'
like 'and copies' "$(uids exposed_copies copies.json)" '"uids":\[[0-9]+\]'
done_testing
