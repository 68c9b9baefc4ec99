/* SPDX-License-Identifier: MIT */
/*
 * tl-roofline on hostile streams, in process. Each run reads all op models, so
 * its seeds are only some of fuzz_tree's.
 */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-roofline/main.c"

static const char *const ways[] = {
	"tl-roofline --arch H100-SXM",
	"tl-roofline",
	"tl-roofline --arch MI300X --roof achievable",
	"tl-roofline --arch H100-SXM --overlap --num-kernels",
	"tl-roofline --arch H100-SXM --recompute --call-stack",
	"tl-roofline --arch-from-trace",
	"tl-roofline --arch H100-SXM --linked-only --table GEMM",
	"tl-roofline --arch H100-SXM --step last --format table --width 60",
};

PROGRAM_FUZZER(ways)
