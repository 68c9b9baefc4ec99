/* SPDX-License-Identifier: MIT */
/* tl-html on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-html/main.c"

static const char *const ways[] = {
	"tl-html -o - -",
	"tl-html -o - --title <x> --step last -",
	"tl-html -o - --kind kernel -",
};

PROGRAM_FUZZER(ways)
