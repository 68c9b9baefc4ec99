/* SPDX-License-Identifier: MIT */
/* tl-launch on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-launch/main.c"

static const char *const ways[] = {
	"tl-launch",
	"tl-launch --by op,kernel",
	"tl-launch --by step,phase --delay-outlier 1ns",
	"tl-launch --by thread,pid,dev,gpu_stream",
	"tl-launch --table launches_by_op",
	"tl-launch --table launches",
	"tl-launch --table queue_length --full 1",
	"tl-launch --table queue_length_series",
	"tl-launch --table copies",
	"tl-launch --table copy_bandwidth_series",
	"tl-launch --table launch_cost",
	"tl-launch --table launch_layers",
	"tl-launch --table graph_estimate",
	"tl-launch --table api_kernel_summary",
	"tl-launch --table hip_summary",
	"tl-launch --table api_summary --by api,thread",
	"tl-launch --table memory_copy_by_copy_bytes",
	"tl-launch --table launches_by_range",
	"tl-launch --table kernels_by_range",
	"tl-launch --step last --format table --width 60",
};

PROGRAM_FUZZER(ways)
