/* SPDX-License-Identifier: MIT */
/* tl-export on hostile streams, in process. */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-export/main.c"

static const char *const ways[] = {
	"tl-export",
	"tl-export --sort id",
	"tl-export --fuse",
	"tl-export --object --flows",
	"tl-export --with-tree --pids keep",
	"tl-export --to perfetto",
	"tl-export --to perfetto --with-tree",
	"tl-export --from 1us --to 1ms",
};

PROGRAM_FUZZER(ways)
