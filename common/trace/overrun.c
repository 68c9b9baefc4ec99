/* SPDX-License-Identifier: MIT */
#include "trace/overrun.h"

/* AMD's profiler moves ends and starts by a few ns. */
#define ROUNDING_NS 100
#define COARSE_NS 1000
#define HOLE_NS (INT64_C(10) * 1000000000)

int64_t
overrun_tolerance(uint64_t divisor)
{
	return divisor >= COARSE_NS && divisor < HOLE_NS ? (int64_t)divisor
							 : ROUNDING_NS;
}

static int
by_stream(const void *x, const void *y)
{
	const struct host_gpu *a = *(const struct host_gpu *const *)x;
	const struct host_gpu *b = *(const struct host_gpu *const *)y;
	int order = key_cmp(a->dev, b->dev);

	if (order == 0)
		order = key_cmp(a->gpu_stream, b->gpu_stream);
	if (order == 0)
		order =
		    (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
	/* the next one of two that start together is the longer one: the
	 * shorter was first */
	if (order == 0)
		order = (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
	return order != 0 ? order : uid_cmp(a->uid, b->uid);
}

void
overrun_order(const struct host_gpu **v, size_t n)
{
	stable_sort(v, n, sizeof *v, by_stream);
}

int64_t
overrun_shared(const struct host_gpu *a, const struct host_gpu *b)
{
	return (b->end_ns < a->end_ns ? b->end_ns : a->end_ns) - b->start_ns;
}

bool
overrun_is(
    const struct host_gpu *a, const struct host_gpu *b, int64_t tolerance)
{
	return a->end_ns - b->end_ns > tolerance && overrun_shared(a, b) > 0;
}
