/* SPDX-License-Identifier: MIT */
/* tl-idle on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-idle/main.c"

static const char *const ways[] = {
	"tl-idle",
	"tl-idle --by cause",
	"tl-idle --by class,call",
	"tl-idle --by op,thread",
	"tl-idle --by step --steps",
	"tl-idle --table idle_window",
	"tl-idle --table idle_gaps --min-gap 1us",
	"tl-idle --table idle_by_stream",
	"tl-idle --no-python --kernel-wait 0ns",
	"tl-idle --by cause --format table --width 60",
};

PROGRAM_FUZZER(ways)
