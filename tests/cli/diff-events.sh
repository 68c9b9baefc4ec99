# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Events of small traces, one per line, for the tests of tl-diff.

op() { # op NAME TS DUR [DIMS]
	ev cpu_op "$1" 1 "$2" "$3" ${4:+"\"Input Dims\":$4"}
}
call() { ev cuda_runtime "${3:-cudaLaunchKernel}" 1 "$1" 1 "\"correlation\":$2"; }
gpu() { # gpu NAME TS DUR CORR [CAT]
	ev "${5:-kernel}" "$1" 7 "$2" "$3" \
		"\"device\":0,\"stream\":7,\"correlation\":$4"
}

# steps SCALE...: a step of 100 us for each; op a lasts SCALE us, op b 10
steps() {
	n=0
	for scale; do
		t=$((n * 100))
		ev user_annotation "ProfilerStep#$n" 1 $t 90
		op a $((t + 1)) 10
		call $((t + 2)) $((2 * n + 1))
		op b $((t + 20)) 10
		call $((t + 21)) $((2 * n + 2))
		gpu ka $((t + 30)) "$scale" $((2 * n + 1))
		gpu kb $((t + 70)) $((9 + n % 3)) $((2 * n + 2))
		n=$((n + 1))
	done
}
replay() { # replay NAME...: a launch of a graph with these kernels
	ev user_annotation 'decode_1 (7)' 1 0 50
	call 10 1 cudaGraphLaunch
	t=100
	for k; do
		gpu "$k" $t 5 1
		t=$((t + 10))
	done
}
