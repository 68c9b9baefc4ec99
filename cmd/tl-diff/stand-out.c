/* SPDX-License-Identifier: MIT */
/*
 * Steps that stand out. One slow step of a few is no difference of the sides:
 * nothing tells it from one that was disturbed. But it is told.
 *
 * The GPU time of a step stands out when it is so far from the mean of the
 * other steps of its side that, by Student's test of what varies without it,
 * chance does that to one step in 100 comparisons; and when it is far from the
 * mean of the other side too, so that a step that is slow on both sides, as the
 * first one may be, does not.
 */
#include <math.h>

#include "cmd/tl-diff/changes.h"
#include "cmd/tl-diff/noise.h"

#define OUT_LEVEL 0.01
#define MIN_SAMPLES 3
/* GPUs' clocks tick in up to 41 ns, however many digits a time has. */
#define TICK_NS 40

/* The steps of a side, around the first of their values. */
struct moments {
	size_t n;
	double origin, sum, squares;
	double rounded; /* variance of a value by rounding of its events */
};

static double
mean_of(const struct moments *m)
{
	return m->origin + m->sum / (double)m->n;
}

/* The same with a value more, or less. */
static struct moments
with(struct moments m, double value, int sign)
{
	double x = value - m.origin;

	m.n += (size_t)sign;
	m.sum += sign * x;
	m.squares += sign * x * x;
	return m;
}

/* The sum of squares around the mean; small errors of rounding are none. */
static double
spread_of(const struct moments *m)
{
	double s = m->n > 0 ? m->squares - m->sum * m->sum / (double)m->n : 0;

	return s > 1e-9 * m->squares ? s : 0;
}

/* How far a value of this side is from the others, 0 if chance does so. */
static double
how_far(const struct moments side[NSIDES], int s, double value, double level)
{
	struct moments rest = with(side[s], value, -1);
	double far = value - mean_of(&rest), other;
	double squares = spread_of(&rest) + spread_of(&side[!s]);
	size_t df = rest.n - 1 + (side[!s].n > 0 ? side[!s].n - 1 : 0);

	if (far == 0 || side[!s].n == 0)
		return 0;
	other = value - mean_of(&side[!s]);
	if (far * other <= 0 || 2 * fabs(other) < fabs(far))
		return 0;
	squares =
	    fmax(squares / (double)df, fmax(side[0].rounded, side[1].rounded));
	squares *= 1 + 1 / (double)rest.n;
	if (squares > 0 && student_chance(far / sqrt(squares), df) > level)
		return 0;
	return far;
}

static struct moments
moments_of(const struct changes *c, int s)
{
	double tick = c->has_ns ? TICK_NS : NS_PER_US;
	struct moments m = { .n = 0 };
	uint64_t nevents = 0;

	for (size_t i = 0; i < c->samples.n; i++) {
		const struct sample *x = &c->samples.v[i];

		if (x->side != s || x->no == WALK_NO_STEP)
			continue;
		if (m.n == 0)
			m.origin = (double)x->ns;
		m = with(m, (double)x->ns, 1);
	}
	for (size_t i = 0; i < c->rows.n; i++)
		nevents += c->rows.v[i].kernels[s];
	/* each is off by up to half of one, evenly */
	if (m.n > 0)
		m.rounded = (double)nevents / (double)m.n * tick * tick / 12;
	return m;
}

void
changes_stand_out(struct changes *c)
{
	struct moments side[NSIDES];
	bool are_steps = c->set->by == BY_OP || c->set->per == PER_STEP;
	double far, level;

	/* of runs, ranks and replays there is no step to name */
	if (c->by_run || !are_steps || c->strata.n != 1 ||
	    c->unit[0].nruns != 1 || c->unit[1].nruns != 1)
		return;
	for (int s = 0; s < NSIDES; s++)
		side[s] = moments_of(c, s);
	level = OUT_LEVEL / (double)(side[0].n + side[1].n);
	for (size_t i = 0; i < c->samples.n; i++) {
		const struct sample *x = &c->samples.v[i];

		if (x->no == WALK_NO_STEP || side[x->side].n < MIN_SAMPLES)
			continue;
		far = how_far(side, x->side, (double)x->ns, level);
		if (fabs(far) > fabs((double)c->out.ns))
			c->out =
			    (struct stand_out){ x->side, x->no, llround(far) };
	}
}
