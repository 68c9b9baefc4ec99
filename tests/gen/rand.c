/* SPDX-License-Identifier: MIT */
/* Random numbers from hashes, and the clocks of the ranks. */
#include "gen.h"

static uint64_t
scramble(uint64_t x) /* the finalizer of splitmix64 */
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	x ^= x >> 31;
	return x;
}

uint64_t
mix(uint64_t a, uint64_t b)
{
	return scramble(a ^ scramble(b + 0x9e3779b97f4a7c15u));
}

uint64_t
rng_next(struct rng *r)
{
	r->s += 0x9e3779b97f4a7c15u;
	return scramble(r->s);
}

void
rank_clock_init(struct rank_clock *c, const struct conf *cf, int64_t rank)
{
	c->key = mix(cf->seed, mix(0x72616e6bu, (uint64_t)rank));
	c->even = cf->jitter == 0;
	c->cell = -1;
	c->lag0 = c->lag1 = 0;
}

static int64_t
lag_at(const struct rank_clock *c, int64_t cell)
{
	if (c->even)
		return 0;
	return (int64_t)(mix(c->key, (uint64_t)cell) % JITTER_NS);
}

/*
 * The rank's time for the nominal time t >= 0: t plus a lag, which is linear
 * between one drawn value per cell. Its slope is at most 2 %, so time never
 * runs backwards.
 */
int64_t
rank_time(struct rank_clock *c, int64_t t)
{
	int64_t cell = t / JITTER_CELL;
	int64_t off = t % JITTER_CELL;

	if (cell != c->cell) {
		c->lag0 = cell == c->cell + 1 && c->cell >= 0 ? c->lag1
							      : lag_at(c, cell);
		c->lag1 = lag_at(c, cell + 1);
		c->cell = cell;
	}
	/* truncation moves a line by < 1 ns, never its direction */
	return t + c->lag0 + (c->lag1 - c->lag0) * off / JITTER_CELL;
}
