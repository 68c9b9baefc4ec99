/* SPDX-License-Identifier: MIT */
/* tl-kernels on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-kernels/main.c"

static const char *const ways[] = {
	"tl-kernels",
	"tl-kernels --by launch-config",
	"tl-kernels --by op,args,kernel",
	"tl-kernels --by op",
	"tl-kernels --by event",
	"tl-kernels --by pid",
	"tl-kernels --sequences",
	"tl-kernels --sequences --op a* --arch H100-SXM",
	"tl-kernels --table short_kernel_histogram",
	"tl-kernels --table kernel_launchers",
	"tl-kernels --table kernel_details",
	"tl-kernels --table category_summary",
	"tl-kernels --table df_xla_perf",
	"tl-kernels --format md",
};

PROGRAM_FUZZER(ways)
