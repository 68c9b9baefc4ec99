/* SPDX-License-Identifier: MIT */
/* tl-fold on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-fold/main.c"

static const char *const ways[] = {
	"tl-fold",
	"tl-fold --clock cpu",
	"tl-fold --clock cpu --frames python",
	"tl-fold --frames modules --no-kernels",
	"tl-fold --frames ops --short 12",
	"tl-fold --linked-only -v",
	"tl-fold --step last",
};

PROGRAM_FUZZER(ways)
