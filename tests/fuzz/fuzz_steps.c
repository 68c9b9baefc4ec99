/* SPDX-License-Identifier: MIT */
/* tl-steps on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-steps/main.c"

static const char *const ways[] = {
	"tl-steps",
	"tl-steps --table steps_summary",
	"tl-steps --table steps_slow",
	"tl-steps --table phase_summary",
	"tl-steps --table phase_ranks",
	"tl-steps --annotation *",
	"tl-steps --step last",
	"tl-steps --format table --width 60",
};

PROGRAM_FUZZER(ways)
