/* SPDX-License-Identifier: MIT */
/*
 * Steps that stand out. One slow step of a few is no difference of the sides:
 * nothing tells it from one that was disturbed. But it is told.
 *
 * A time of a row stands out when it is so far from the mean of the other
 * samples of its side that, by Student's test of what varies without it, chance
 * does that to one time of all rows in 100 comparisons; and when it is further
 * from the mean of the other side too, so that a step that is slow on both
 * sides, as the first one may be, does not.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/figures.h"
#include "cmd/tl-diff/noise.h"

#define OUT_LEVEL 0.01
#define MIN_SAMPLES 3
/* GPUs' clocks tick in up to 41 ns, however many digits a time has. */
#define TICK_NS 40

/* The samples of a row and side, around the first of their values. */
struct moments {
	size_t n;
	double origin, sum, squares;
	double rounded; /* variance of a value by rounding of its events */
};

static void
add_value(struct moments *m, double value)
{
	double x = value - m->origin;

	m->sum += x;
	m->squares += x * x;
}

static double
mean_of(const struct moments *m)
{
	return m->origin + m->sum / (double)m->n;
}

/* Of what is left without a value. */
static struct moments
without(const struct moments *m, double value)
{
	struct moments rest = *m;

	rest.n--;
	rest.sum -= value - m->origin;
	rest.squares -= (value - m->origin) * (value - m->origin);
	return rest;
}

/* The sum of squares around the mean; small errors of rounding are none. */
static double
spread_of(const struct moments *m)
{
	double s = m->n > 0 ? m->squares - m->sum * m->sum / (double)m->n : 0;

	return s > 1e-9 * m->squares ? s : 0;
}

/* Whether chance makes a value of this side so seldom. */
static bool
stands_out(const struct moments side[NSIDES], int s, double value, double level)
{
	struct moments rest = without(&side[s], value);
	double far = value - mean_of(&rest), other;
	double squares = spread_of(&rest) + spread_of(&side[!s]);
	double rounded = fmax(side[0].rounded, side[1].rounded);
	size_t df = rest.n - 1 + (side[!s].n > 0 ? side[!s].n - 1 : 0);

	if (far == 0 || side[!s].n == 0)
		return false;
	other = value - mean_of(&side[!s]);
	if (far * other <= 0 || 2 * fabs(other) < fabs(far))
		return false;
	squares = fmax(squares / (double)df, rounded);
	if (squares <= 0)
		return true;
	squares *= 1 + 1 / (double)rest.n;
	return student_chance(far / sqrt(squares), df) <= level;
}

/* The samples of a row's side; those without a time of it are zeroes. */
static void
gather(const struct row_time *v, size_t n, int s, size_t nsamples,
    double tick_ns, struct moments *m)
{
	size_t nevents = 0, all = nsamples;

	*m = (struct moments){ .n = nsamples };
	for (size_t i = 0, k = 0; i < n; i++) {
		if (v[i].side != s)
			continue;
		if (k++ == 0)
			m->origin = (double)v[i].ns;
		add_value(m, (double)v[i].ns);
		nevents += v[i].n;
		nsamples--;
	}
	for (; nsamples > 0; nsamples--)
		add_value(m, 0);
	/* each is off by up to half of one, evenly */
	if (all > 0)
		m->rounded =
		    (double)nevents / (double)all * tick_ns * tick_ns / 12;
}

/* A step of a side, with all rows that stand out in it. */
struct found {
	int64_t step;
	int side;
	double ns;
	double most;
	uint32_t row;
	uint64_t nrows;
};

struct finder {
	struct figures *f;
	double level;
	VEC(struct found) list;
};

static void
add_found(struct finder *d, const struct row_time *t, double far)
{
	const struct sample *x = &d->f->samples[t->side].v[t->sample];
	struct found *it = NULL;

	for (size_t i = 0; i < d->list.n && it == NULL; i++)
		if (d->list.v[i].step == x->no && d->list.v[i].side == t->side)
			it = &d->list.v[i];
	if (it == NULL) {
		it = vec_add(&d->list);
		*it = (struct found){ .step = x->no, .side = t->side };
	}
	it->ns += far;
	it->nrows++;
	if (fabs(far) > it->most) {
		it->most = fabs(far);
		it->row = t->row;
	}
}

static void
find_in_row(struct finder *d, const struct row_time *v, size_t n)
{
	const struct figures *f = d->f;
	struct moments side[NSIDES];

	for (int s = 0; s < NSIDES; s++)
		gather(v, n, s, f->strata.v[0].n[s],
		    f->has_ns ? TICK_NS : NS_PER_US, &side[s]);
	for (size_t i = 0; i < n; i++) {
		int s = v[i].side;
		double value = (double)v[i].ns;
		struct moments rest;

		if (side[s].n < MIN_SAMPLES ||
		    !stands_out(side, s, value, d->level))
			continue;
		rest = without(&side[s], value);
		add_found(d, &v[i], value - mean_of(&rest));
	}
}

/* The step that differs most is told. */
static void
choose(struct figures *f, const struct found *v, size_t n)
{
	const struct found *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (best == NULL || fabs(v[i].ns) > fabs(best->ns))
			best = &v[i];
	if (best == NULL)
		return;
	f->out = (struct stand_out){
		.is_set = true,
		.side = best->side,
		.step = best->step,
		.ns = llround(best->ns),
		.row = best->row,
		.nrows = best->nrows,
	};
}

void
figures_stand_out(struct figures *f)
{
	struct finder d = { .f = f };
	size_t ntimes = 0;

	/* of runs, ranks and replays there is no step to name */
	if (f->by_run || !f->are_steps || f->strata.n != 1 ||
	    f->unit[0].nruns != 1 || f->unit[1].nruns != 1)
		return;
	for (size_t i = 0; i < f->times.n; i++)
		ntimes += f->rows.v[f->times.v[i].row].is_noise;
	d.level = ntimes > 0 ? OUT_LEVEL / (double)ntimes : 0;
	for (size_t i = 0, end; i < f->times.n; i = end) {
		for (end = i; end < f->times.n &&
		     f->times.v[end].row == f->times.v[i].row;
		     end++)
			continue;
		if (f->rows.v[f->times.v[i].row].is_noise)
			find_in_row(&d, &f->times.v[i], end - i);
	}
	choose(f, d.list.v, d.list.n);
	vec_free(&d.list);
}
