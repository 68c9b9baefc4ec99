/* SPDX-License-Identifier: MIT */
/*
 * Which threads are at work when: of each of many short stretches of time a bit
 * for each thread, so that a thread at rest does not ask all others.
 */
#include <stdlib.h>

#include "trace/host.h"

#define STRETCHES 65536
#define BLOCK 256      /* stretches that form a block */
#define FEW_THREADS 16 /* few enough to ask each */

/* Times are in the whole. */
static size_t
stretch_of(const struct host *h, int64_t ns)
{
	uint64_t since = (uint64_t)ns - (uint64_t)h->whole.start;

	return (size_t)(since / h->stretch_ns);
}

static void
set_busy(struct host_busy *b, uint32_t thread)
{
	b->of[thread / 64] |= UINT64_C(1) << thread % 64;
}

/* After them, the same per block. */
static void
find_stretches(struct host *h)
{
	h->stretch_ns =
	    ((uint64_t)h->whole.end - (uint64_t)h->whole.start) / STRETCHES + 1;
	h->busy = xcalloc(STRETCHES + STRETCHES / BLOCK, sizeof *h->busy);
	for (uint32_t i = 0; i < h->threads.n && i < HOST_ASKED; i++) {
		struct host_parts p = host_parts_of(
		    h, &h->threads.v[i], h->whole.start, h->whole.end);

		while (host_parts_next(&p)) {
			size_t last = stretch_of(h, p.end_ns - 1);

			if (host_is_rest(&p))
				continue;
			for (size_t k = stretch_of(h, p.start_ns); k <= last;
			     k++) {
				set_busy(&h->busy[k], i);
				set_busy(&h->busy[STRETCHES + k / BLOCK], i);
			}
		}
	}
}

struct host_busy
host_busy(struct host *h, int64_t from, int64_t to)
{
	struct host_busy b = { { 0 } };
	size_t last;

	if (h->threads.n <= FEW_THREADS)
		return (struct host_busy){ { UINT64_MAX } };
	if (h->busy == NULL)
		find_stretches(h);
	from = from > h->whole.start ? from : h->whole.start;
	to = to < h->whole.end ? to : h->whole.end;
	if (from >= to)
		return b;
	last = stretch_of(h, to - 1);
	for (size_t k = stretch_of(h, from); k <= last;) {
		bool is_block = k % BLOCK == 0 && last - k >= BLOCK - 1;
		size_t at = is_block ? STRETCHES + k / BLOCK : k;

		for (size_t i = 0; i < HOST_ASKED / 64; i++)
			b.of[i] |= h->busy[at].of[i];
		k += is_block ? BLOCK : 1;
	}
	return b;
}

uint32_t
host_next_busy(const struct host *h, const struct host_busy *b, uint32_t thread)
{
	while (thread < h->threads.n && thread < HOST_ASKED) {
		uint64_t left = b->of[thread / 64] >> thread % 64;

		if (left != 0) {
			thread += (uint32_t)__builtin_ctzll(left);
			return thread < h->threads.n ? thread : HOST_NONE;
		}
		thread = (thread / 64 + 1) * 64;
	}
	return HOST_NONE;
}
