/* SPDX-License-Identifier: MIT */
/* tl-ops on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-ops/main.c"

static const char *const ways[] = {
	"tl-ops",
	"tl-ops --by args",
	"tl-ops --by module",
	"tl-ops --by phase",
	"tl-ops --by category",
	"tl-ops --by step --recompute",
	"tl-ops --by args --overlap --num-kernels",
	"tl-ops --by args --first-occurrence --call-stack",
	"tl-ops --all-ops",
	"tl-ops --clock cpu --by thread",
	"tl-ops --pseudo-ops --by args",
	"tl-ops --by annotation --format table --width 60",
};

PROGRAM_FUZZER(ways)
