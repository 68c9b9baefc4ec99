/* SPDX-License-Identifier: MIT */
/* tl-critical on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-critical/main.c"

static const char *const ways[] = {
	"tl-critical",
	"tl-critical --by bound",
	"tl-critical --by kind,name",
	"tl-critical --by op,module",
	"tl-critical --by thread",
	"tl-critical --table critical_events",
	"tl-critical --table slack",
	"tl-critical --no-gaps",
	"tl-critical --what-if *=0.5",
	"tl-critical --what-if *=2 --gpu",
	"tl-critical --overlay",
	"tl-critical --job",
	"tl-critical --step last",
};

PROGRAM_FUZZER(ways)
