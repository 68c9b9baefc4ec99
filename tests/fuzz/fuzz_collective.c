/* SPDX-License-Identifier: MIT */
/*
 * tl-collective on hostile streams and partials, in process. Its children run
 * in place, as each would be another fuzzer; mappings are released by a list.
 */
#include "tests/fuzz/program.h"

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-collective/main.c"

static jmp_buf in_child;
static struct {
	void *at;
	size_t len;
} maps[8];
static size_t nmaps;

static noreturn void
end_child(void)
{
	longjmp(in_child, 1);
}

static pid_t
wait_for_none(int *status)
{
	*status = 0;
	return 1;
}

static void *
map_noted(size_t len, int prot, int flags, int fd)
{
	void *p = mmap(NULL, len, prot, flags, fd, 0);

	CHECK(nmaps < sizeof maps / sizeof *maps);
	maps[nmaps].at = p;
	maps[nmaps++].len = len;
	return p;
}

/* only in a comparison with 0: C allows no other use */
#define child_fork() setjmp(in_child)
#define child_wait_any wait_for_none
#define _exit(status) end_child()
#define mmap(at, len, prot, flags, fd, offset) map_noted(len, prot, flags, fd)
/* NOLINTNEXTLINE(bugprone-suspicious-include): the program itself */
#include "cmd/tl-collective/work.c"
#undef mmap

static const char *const ways[] = {
	"tl-collective -j 1 -",
	"tl-collective -j 1 --align-clocks -",
	"tl-collective -j 1 --keep-mismatch --table nccl_long -",
	"tl-collective -j 1 --gpus-per-node 2 --table nccl_bandwidth -",
	"tl-collective -j 1 --partial -",
	"tl-collective -j 1 --table nccl_groups,straggler_parts -",
	"tl-collective -j 1 --table nccl_verdict -",
	"tl-collective -j 1 --table nccl_all2allv_heatmap -",
	"tl-collective -j 1 --table nccl_episodes -",
	"tl-collective -j 1 --table nccl_clocks,nccl_missing -",
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	program_try(ways, sizeof ways / sizeof *ways, data, size);
	while (nmaps > 0) {
		nmaps--;
		munmap(maps[nmaps].at, maps[nmaps].len);
	}
	return 0;
}
