/* SPDX-License-Identifier: MIT */
/* After the last run: times of a unit, and which differences are noise. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/figures.h"
#include "cmd/tl-diff/noise.h"

int64_t
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
		u->wall_ns = mean_ns(f->step_ns[s], f->nwalls[s]);
	}
	/* one rank is no repetition of another */
	f->by_run =
	    f->set->per == PER_RUN && many_runs && f->set->pair != PAIR_RANK;
}

/* ---- how much a row varies ---- */

/* The samples of a stratum that have no time are zeroes. */
static void
close_stratum(
    const struct figures *f, struct noise_side *side, int s, uint32_t stratum)
{
	noise_close(
	    side, f->by_run ? f->unit[s].nruns : f->strata.v[stratum].n[s]);
}

static void
set_scales(const struct figures *f, struct noise_side side[NSIDES])
{
	for (int s = 0; s < NSIDES; s++)
		if (f->unit[s].n > 0)
			side[s].scale =
			    (double)side[s].n / (double)f->unit[s].n;
}

/* What stands together in a row's times: its run, or its sample. */
static uint32_t
place_of(const struct figures *f, const struct row_time *t)
{
	return f->by_run ? f->samples[t->side].v[t->sample].run : t->sample;
}

static uint32_t
stratum_of(const struct figures *f, const struct row_time *t)
{
	return f->by_run ? 0 : f->samples[t->side].v[t->sample].stratum;
}

static int
by_row(const void *x, const void *y, void *arg)
{
	const struct row_time *a = x, *b = y;
	const struct figures *f = arg;
	uint32_t p, q;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	p = stratum_of(f, a);
	q = stratum_of(f, b);
	if (p != q)
		return p < q ? -1 : 1;
	p = place_of(f, a);
	q = place_of(f, b);
	return (p > q) - (p < q);
}

/* A side without any of the row: it varies by nothing, as often as it could. */
static void
close_empty(const struct figures *f, struct noise_side *side, int s,
    const struct row_time *any)
{
	uint32_t group = f->rows.v[any->row].group;

	if (f->by_run) {
		close_stratum(f, side, s, 0);
		return;
	}
	for (uint32_t i = 0; i < f->strata.n; i++)
		if (f->strata.v[i].group == group)
			close_stratum(f, side, s, i);
}

/* The times of one row, sorted by side, stratum and sample. */
static void
gather_row(const struct figures *f, const struct row_time *v, size_t n,
    struct noise_side side[NSIDES])
{
	size_t i = 0;

	for (int s = 0; s < NSIDES; s++) {
		noise_start(&side[s]);
		if (i == n || v[i].side != s) {
			close_empty(f, &side[s], s, &v[0]);
			continue;
		}
		while (i < n && v[i].side == s) {
			const struct row_time *t = &v[i];
			int64_t ns = 0;

			for (; i < n && v[i].side == s &&
			     stratum_of(f, &v[i]) == stratum_of(f, t) &&
			     place_of(f, &v[i]) == place_of(f, t);
			     i++)
				stat_add(&ns, v[i].ns);
			noise_add(&side[s], (double)ns);
			if (i == n || v[i].side != s ||
			    stratum_of(f, &v[i]) != stratum_of(f, t))
				close_stratum(f, &side[s], s, stratum_of(f, t));
		}
	}
	set_scales(f, side);
}

/* ---- and many together ---- */

static void
gather_runs(
    const struct figures *f, const int64_t *of, int s, struct noise_side *side)
{
	int64_t *ns = xcalloc(f->unit[s].nruns + 1, sizeof *ns);

	for (size_t i = 0; i < f->samples[s].n; i++)
		stat_add(&ns[f->samples[s].v[i].run], of[i]);
	for (size_t i = 0; i < f->unit[s].nruns; i++)
		noise_add(side, (double)ns[i]);
	close_stratum(f, side, s, 0);
	free(ns);
}

/* A sample's stratum and time. */
struct in_stratum {
	uint32_t stratum;
	int64_t ns;
};

static int
by_stratum(const void *x, const void *y)
{
	const struct in_stratum *a = x, *b = y;

	if (a->stratum != b->stratum)
		return a->stratum < b->stratum ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static void
gather_strata(
    const struct figures *f, const int64_t *of, int s, struct noise_side *side)
{
	VEC(struct in_stratum) v = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < f->samples[s].n; i++) {
		const struct sample *x = &f->samples[s].v[i];

		if (x->no != WALK_NO_STEP)
			vec_push(
			    &v, ((struct in_stratum){ x->stratum, of[i] }));
	}
	if (v.n > 1)
		qsort(v.v, v.n, sizeof *v.v, by_stratum);
	for (uint32_t k = 0; k < f->strata.n; k++) {
		for (; at < v.n && v.v[at].stratum == k; at++)
			noise_add(side, (double)v.v[at].ns);
		close_stratum(f, side, s, k);
	}
	vec_free(&v);
}

/* Times of samples, by their numbers. */
static void
gather_sum(const struct figures *f, int64_t *const of[NSIDES],
    struct noise_side side[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		noise_start(&side[s]);
		if (f->by_run)
			gather_runs(f, of[s], s, &side[s]);
		else
			gather_strata(f, of[s], s, &side[s]);
	}
	set_scales(f, side);
}

/* ---- the verdict ---- */

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
	f->is_noise = !isnan(f->spread_ns) && f->diff_ns != 0 &&
	    !noise_is_beyond(side, (double)f->diff_ns, NOISE_LEVEL);
	free(of[0]);
	free(of[1]);
}

static bool
is_whole_beyond(const struct figures *f)
{
	return f->diff_ns != 0 && !f->is_noise;
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

static void
judge_row(struct figure *r, const struct noise_side side[NSIDES], double level)
{
	r->spread_ns = noise_spread(side);
	/* what only one side does is no chance */
	r->is_noise = r->kernels[0] > 0 && r->kernels[1] > 0 &&
	    r->diff_ns != 0 && !isnan(r->spread_ns) &&
	    !noise_is_beyond(side, (double)r->diff_ns, level);
}

/* Times that are of no sample say nothing of how times vary. */
static void
sort_times(struct figures *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->times.n; i++) {
		const struct row_time *t = &f->times.v[i];

		if (f->by_run ||
		    f->samples[t->side].v[t->sample].no != WALK_NO_STEP)
			f->times.v[n++] = *t;
	}
	f->times.n = n;
	if (n > 1)
		qsort_r(f->times.v, n, sizeof *f->times.v, by_row, f);
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
	int64_t sum = 0, whole = f->diff_ns, least = INT64_MAX;

	if (!is_whole_beyond(f))
		return INT64_MAX;
	for (size_t i = 0; i < f->rows.n; i++) {
		int64_t d = f->rows.v[i].diff_ns;

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

static void
judge_rows(struct figures *f, struct noise_side side[NSIDES])
{
	double strict = strict_level(f);
	int64_t least = least_that_matters(f);

	sort_times(f);
	for (size_t i = 0; i < f->times.n;) {
		size_t first = i;
		uint32_t row = f->times.v[i].row;

		while (i < f->times.n && f->times.v[i].row == row)
			i++;
		gather_row(f, f->times.v + first, i - first, side);
		judge_row(&f->rows.v[row], side,
		    size_of(f->rows.v[row].diff_ns) >= least ? NOISE_LEVEL
							     : strict);
	}
}

/* Rows that are noise one by one may be none together. */
static void
judge_rest(struct figures *f, struct noise_side side[NSIDES])
{
	int64_t *of[NSIDES], diff = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		stat_add(f->rows.v[i].is_noise ? &diff : &f->verdict_ns,
		    f->rows.v[i].diff_ns);
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

void
figures_finish(struct figures *f)
{
	struct noise_side side[NSIDES] = { { .n = 0 }, { .n = 0 } };

	find_units(f);
	find_means(f);
	judge_whole(f, side);
	judge_rows(f, side);
	judge_rest(f, side);
	noise_free(&side[0]);
	noise_free(&side[1]);
}
