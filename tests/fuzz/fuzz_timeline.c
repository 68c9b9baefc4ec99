/* SPDX-License-Identifier: MIT */
/* tl-timeline on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-timeline/main.c"

static const char *const ways[] = {
	"tl-timeline",
	"tl-timeline --by step",
	"tl-timeline --by dev",
	"tl-timeline --by phase",
	"tl-timeline --by pid",
	"tl-timeline --by annotation --annotation *",
	"tl-timeline --by recompute",
	"tl-timeline --by rank --linked-only",
	"tl-timeline --join",
	"tl-timeline --join --micro-idle 5us",
	"tl-timeline --clock cpu",
	"tl-timeline --step last --format table --width 60",
	"tl-timeline --by-gpu-time --from 1us --to 1ms",
};

PROGRAM_FUZZER(ways)
