/* SPDX-License-Identifier: MIT */
/* Times of rows as samples of each side. */
#include <stdlib.h>

#include "cmd/tl-diff/gather.h"
#include "trace/stat.h"

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

static void
add_count(struct counts *c, uint64_t n)
{
	if (c->n == 0)
		c->n = n;
	c->differ = c->differ || c->n != n;
	c->nsamples++;
}

/* The times of one row, sorted by side, stratum and sample. */
void
gather_row(const struct figures *f, const struct row_time *v, size_t n,
    struct noise_side side[NSIDES], struct counts counts[NSIDES])
{
	size_t i = 0;

	for (int s = 0; s < NSIDES; s++) {
		counts[s] = (struct counts){ 0 };
		noise_start(&side[s]);
		if (i == n || v[i].side != s) {
			close_empty(f, &side[s], s, &v[0]);
			continue;
		}
		while (i < n && v[i].side == s) {
			const struct row_time *t = &v[i];
			uint64_t nevents = 0;
			int64_t ns = 0;

			for (; i < n && v[i].side == s &&
			     stratum_of(f, &v[i]) == stratum_of(f, t) &&
			     place_of(f, &v[i]) == place_of(f, t);
			     i++) {
				stat_add(&ns, v[i].ns);
				nevents += v[i].n;
			}
			noise_add(&side[s], (double)ns);
			add_count(&counts[s], nevents);
			if (i < n && v[i].side == s &&
			    stratum_of(f, &v[i]) == stratum_of(f, t))
				continue;
			close_stratum(f, &side[s], s, stratum_of(f, t));
			counts[s].n = 0;
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
void
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

/* Times that are of no sample say nothing of how times vary. */
void
gather_sort(struct figures *f)
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
