/* SPDX-License-Identifier: MIT */
/* After the last run: times of a unit, and which differences are noise. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/gather.h"
#include "trace/stat.h"

/* ns / n, rounded; n 0: ns. */
static int64_t
mean_ns(int64_t ns, uint64_t n)
{
	int64_t half;

	if (n < 2)
		return ns;
	half = (int64_t)(n / 2);
	return (ns < 0 ? ns - half : ns + half) / (int64_t)n;
}

static void
find_units(struct figures *f)
{
	bool many_runs = false;

	for (int s = 0; s < NSIDES; s++) {
		struct unit_times *u = &f->unit[s];

		u->n = f->set->per == PER_STEP ? u->nsteps : u->nruns;
		many_runs = many_runs || u->nruns > 1;
	}
	/* one rank is no repetition of another */
	f->by_run =
	    f->set->per == PER_RUN && many_runs && f->set->pair != PAIR_RANK;
}

/* ---- the verdict ---- */

static bool
may_be_chance(const struct noise_side side[NSIDES], double spread_ns,
    int64_t diff_ns, double level)
{
	return diff_ns != 0 && !isnan(spread_ns) &&
	    !noise_is_beyond(side, (double)diff_ns, level);
}

static void
judge_whole(struct figures *f, struct noise_side side[NSIDES])
{
	int64_t *of[NSIDES];

	for (int s = 0; s < NSIDES; s++) {
		int64_t sum = 0;

		of[s] = xcalloc(f->samples[s].n + 1, sizeof *of[s]);
		for (size_t i = 0; i < f->samples[s].n; i++) {
			of[s][i] = f->samples[s].v[i].ns;
			stat_add(&sum, of[s][i]);
		}
		f->unit[s].total_ns = mean_ns(sum, f->unit[s].n);
	}
	f->diff_ns = f->unit[1].total_ns - f->unit[0].total_ns;
	gather_sum(f, of, side);
	f->spread_ns = noise_spread(side);
	f->is_noise = may_be_chance(
	    side, f->spread_ns, f->diff_ns - f->fixed_ns, NOISE_LEVEL);
	free(of[0]);
	free(of[1]);
}

static bool
is_whole_beyond(const struct figures *f)
{
	return f->diff_ns != f->fixed_ns && !f->is_noise;
}

/*
 * When the whole differs each row that makes it up speaks for itself. Any other
 * has to be as sure as one of so many must: else, of two traces that are alike,
 * some rows always were slower, and beside a row that is so would some others.
 */
static double
strict_level(const struct figures *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		n += f->rows.v[i].kernels[0] > 0 && f->rows.v[i].kernels[1] > 0;
	return noise_level_of(n);
}

static void
find_means(struct figures *f)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		struct figure *r = &f->rows.v[i];

		for (int s = 0; s < NSIDES; s++)
			r->unit_ns[s] = mean_ns(r->ns[s], f->unit[s].n);
		r->diff_ns = r->unit_ns[1] - r->unit_ns[0];
		stat_add(
		    &f->gross_ns, r->diff_ns < 0 ? -r->diff_ns : r->diff_ns);
	}
}

/* A side whose samples all have as many events of a row. */
static bool
is_steady(const struct counts *c, const struct noise_side *side)
{
	return !c->differ && (c->nsamples == 0 || c->nsamples == side->n);
}

/*
 * What only one side does is no chance: not only a row of its own, but work
 * more or less of one that both have. Where the number varies on both sides,
 * though, as where it depends on data, it says as little as times do. One
 * sample varies by nothing.
 */
static int64_t
fixed_of(const struct figures *f, const struct figure *r,
    const struct noise_side side[NSIDES], const struct counts counts[NSIDES])
{
	double per[NSIDES];
	bool steady[NSIDES];
	int more;

	for (int s = 0; s < NSIDES; s++) {
		steady[s] = is_steady(&counts[s], &side[s]);
		per[s] = (double)r->kernels[s] /
		    (double)(f->unit[s].n > 0 ? f->unit[s].n : 1);
	}
	more = per[1] > per[0];
	if (r->alone[more] == 0 ||
	    !((steady[0] && (steady[1] || side[0].n > 1)) ||
		(steady[1] && side[1].n > 1)))
		return 0;
	return llround((per[1] - per[0]) * (double)r->alone_ns[more] /
	    (double)r->alone[more]);
}

static void
judge_row(struct figure *r, const struct noise_side side[NSIDES], double level)
{
	r->spread_ns = noise_spread(side);
	r->is_rest_noise =
	    may_be_chance(side, r->spread_ns, r->diff_ns - r->fixed_ns, level);
	r->is_noise = r->is_rest_noise && r->fixed_ns == 0;
}

static int64_t
size_of(int64_t diff_ns)
{
	return diff_ns < 0 ? -diff_ns : diff_ns;
}

/* The largest first. */
static int
by_size(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a < *b) - (*a > *b);
}

/* The least difference, without its sign, of rows that make up the whole. */
static int64_t
least_that_matters(const struct figures *f)
{
	VEC(int64_t) v = { 0 };
	int64_t sum = 0, whole = f->diff_ns - f->fixed_ns, least = INT64_MAX;

	if (!is_whole_beyond(f))
		return INT64_MAX;
	for (size_t i = 0; i < f->rows.n; i++) {
		int64_t d = f->rows.v[i].diff_ns - f->rows.v[i].fixed_ns;

		if (d != 0 && (d < 0) == (whole < 0))
			vec_push(&v, size_of(d));
	}
	if (v.n > 1)
		qsort(v.v, v.n, sizeof *v.v, by_size);
	for (size_t i = 0; i < v.n && sum < size_of(whole); i++) {
		stat_add(&sum, v.v[i]);
		least = v.v[i];
	}
	vec_free(&v);
	return least;
}

/* A row's times, from the first on. */
static size_t
row_end(const struct figures *f, size_t first)
{
	size_t i = first;

	while (i < f->times.n && f->times.v[i].row == f->times.v[first].row)
		i++;
	return i;
}

/* What of the rows' differences is no matter of chance, and of the whole's. */
static void
find_fixed(struct figures *f, struct noise_side side[NSIDES])
{
	struct counts counts[NSIDES];

	for (size_t i = 0, end; i < f->times.n; i = end) {
		struct figure *r = &f->rows.v[f->times.v[i].row];

		end = row_end(f, i);
		if (r->alone[0] + r->alone[1] == 0)
			continue;
		gather_row(f, f->times.v + i, end - i, side, counts);
		r->fixed_ns = fixed_of(f, r, side, counts);
	}
	for (size_t i = 0; i < f->rows.n; i++) {
		struct figure *r = &f->rows.v[i];

		if (r->kernels[0] == 0 || r->kernels[1] == 0)
			r->fixed_ns = r->diff_ns;
		stat_add(&f->fixed_ns, r->fixed_ns);
	}
}

static void
judge_rows(struct figures *f, struct noise_side side[NSIDES])
{
	double strict = strict_level(f);
	int64_t least = least_that_matters(f);
	struct counts counts[NSIDES];

	for (size_t i = 0, end; i < f->times.n; i = end) {
		struct figure *r = &f->rows.v[f->times.v[i].row];
		int64_t rest = r->diff_ns - r->fixed_ns;

		end = row_end(f, i);
		gather_row(f, f->times.v + i, end - i, side, counts);
		judge_row(
		    r, side, size_of(rest) >= least ? NOISE_LEVEL : strict);
	}
}

/* Rows that are noise one by one may be none together. */
static void
judge_rest(struct figures *f, struct noise_side side[NSIDES])
{
	int64_t *of[NSIDES], diff = 0;

	for (size_t i = 0; i < f->rows.n; i++) {
		const struct figure *r = &f->rows.v[i];

		if (r->is_noise)
			stat_add(&diff, r->diff_ns);
		else
			stat_add(&f->verdict_ns,
			    r->is_rest_noise ? r->fixed_ns : r->diff_ns);
	}
	if (!is_whole_beyond(f))
		return;
	for (int s = 0; s < NSIDES; s++)
		of[s] = xcalloc(f->samples[s].n + 1, sizeof *of[s]);
	for (size_t i = 0; i < f->times.n; i++) {
		const struct row_time *t = &f->times.v[i];

		if (f->rows.v[t->row].is_noise)
			stat_add(&of[t->side][t->sample], t->ns);
	}
	gather_sum(f, of, side);
	if (noise_is_beyond(side, (double)diff, NOISE_LEVEL)) {
		f->rest_ns = diff;
		stat_add(&f->verdict_ns, diff);
	}
	free(of[0]);
	free(of[1]);
}

/*
 * Samples are steps, or with several runs the mean step of each; those of a
 * rank vary around its own mean.
 */
static void
gather_walls(const struct figures *f, int s, struct noise_side *side)
{
	size_t n = f->walls[s].n, nsamples = 0;

	noise_start(side);
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t run = f->walls[s].v[i].run;
		int64_t sum = 0;

		for (end = i; end < n && f->walls[s].v[end].run == run; end++) {
			stat_add(&sum, f->walls[s].v[end].ns);
			if (!f->by_run)
				noise_add(side, (double)f->walls[s].v[end].ns);
		}
		if (f->by_run)
			noise_add(side, (double)sum / (double)(end - i));
		nsamples += f->by_run ? 1 : end - i;
		if (f->set->pair == PAIR_RANK || end == n) {
			noise_close(side, nsamples);
			nsamples = 0;
		}
	}
}

/* A step can take longer while the GPU does the same: the host waits. */
static void
judge_clock(struct figures *f, struct noise_side side[NSIDES])
{
	struct step_clock *c = &f->clock;
	int64_t diff;

	for (int s = 0; s < NSIDES; s++) {
		int64_t sum = 0;

		c->n[s] = f->walls[s].n;
		for (size_t i = 0; i < f->walls[s].n; i++)
			stat_add(&sum, f->walls[s].v[i].ns);
		c->mean_ns[s] = mean_ns(sum, c->n[s]);
		gather_walls(f, s, &side[s]);
	}
	diff = c->mean_ns[1] - c->mean_ns[0];
	c->knows_noise = figures_have_clock(f) && !isnan(noise_spread(side));
	/* besides GPU time it is a second chance to err */
	c->is_noise = diff == 0 ||
	    (c->knows_noise &&
		!noise_is_beyond(side, (double)diff, noise_level_of(2)));
}

void
figures_finish(struct figures *f)
{
	struct noise_side side[NSIDES] = { { .n = 0 }, { .n = 0 } };

	find_units(f);
	find_means(f);
	gather_sort(f);
	find_fixed(f, side);
	judge_whole(f, side);
	judge_rows(f, side);
	judge_rest(f, side);
	figures_stand_out(f);
	judge_clock(f, side);
	noise_free(&side[0]);
	noise_free(&side[1]);
}
