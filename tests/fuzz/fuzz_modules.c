/* SPDX-License-Identifier: MIT */
/* tl-modules on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-modules/main.c"

static const char *const ways[] = {
	"tl-modules",
	"tl-modules --bwd",
	"tl-modules --by-type",
	"tl-modules --fold --depth 3",
	"tl-modules --no-fold --min-time 0ns",
	"tl-modules --print --min-pct 0",
	"tl-modules --flops",
	"tl-modules --format table --width 60",
	"tl-modules --step last",
};

PROGRAM_FUZZER(ways)
