/* SPDX-License-Identifier: MIT */
/* tl-health on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-health/main.c"

static const char *const ways[] = {
	"tl-health",
	"tl-health -q",
	"tl-health -v",
	"tl-health --format table --width 60",
	"tl-health --junit /dev/null",
	"tl-health --sarif /dev/null",
};

PROGRAM_FUZZER(ways)
