/* SPDX-License-Identifier: MIT */
/* After the last run: times of a unit, and which differences are noise. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/changes.h"
#include "cmd/tl-diff/noise.h"
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

/* ---- samples ---- */

/* With several runs these are what times vary over: all of one are one. */
static void
samples_of_runs(struct changes *c)
{
	c->strata.n = 0;
	vec_push(&c->strata,
	    ((struct stratum){ { c->unit[0].nruns, c->unit[1].nruns } }));
	for (size_t i = 0; i < c->samples.n; i++)
		c->samples.v[i].no = c->samples.v[i].stratum = 0;
}

static uint32_t
number_of(const struct changes *c, uint32_t sample)
{
	return c->by_run ? c->samples.v[sample].run : sample;
}

static int
by_row(const void *x, const void *y, void *arg)
{
	const struct row_time *a = x, *b = y;
	const struct changes *c = arg;
	const struct sample *p = &c->samples.v[a->sample];
	const struct sample *q = &c->samples.v[b->sample];

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (p->stratum != q->stratum)
		return p->stratum < q->stratum ? -1 : 1;
	if (p->side != q->side)
		return p->side < q->side ? -1 : 1;
	return (int)(number_of(c, a->sample) > number_of(c, b->sample)) -
	    (number_of(c, a->sample) < number_of(c, b->sample));
}

/* Times that are of no sample say nothing of how times vary. */
static void
sort_times(struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->times.n; i++)
		if (c->samples.v[c->times.v[i].sample].no != WALK_NO_STEP)
			c->times.v[n++] = c->times.v[i];
	c->times.n = n;
	if (n > 1)
		qsort_r(c->times.v, n, sizeof *c->times.v, by_row, c);
}

/* How many events the samples of a row have. */
struct counts {
	size_t nsamples; /* that have any */
	uint64_t n;      /* in the first of the stratum; 0: none yet */
	bool differ;     /* in some stratum */
};

/* The time of one sample, from the first of these on; how many they are. */
static size_t
gather_sample(const struct changes *c, const struct row_time *v, size_t n,
    struct noise_side *side, struct counts *counts)
{
	uint32_t number = number_of(c, v[0].sample);
	uint64_t nevents = 0;
	int64_t ns = 0;
	size_t i = 0;

	for (; i < n && number_of(c, v[i].sample) == number; i++) {
		stat_add(&ns, v[i].ns);
		nevents += v[i].n;
	}
	noise_add(side, (double)ns);
	if (counts->n == 0)
		counts->n = nevents;
	counts->differ = counts->differ || counts->n != nevents;
	counts->nsamples++;
	return i;
}

/* Sorted times of one row, or of all; samples that have none are zeroes. */
static void
gather(const struct changes *c, const struct row_time *v, size_t n,
    struct noise_side side[NSIDES], struct counts counts[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		noise_start(&side[s]);
		counts[s] = (struct counts){ 0 };
	}
	for (size_t i = 0; i < n;) {
		uint32_t stratum = c->samples.v[v[i].sample].stratum;

		for (int s = 0; s < NSIDES; s++) {
			counts[s].n = 0;
			while (i < n &&
			    c->samples.v[v[i].sample].stratum == stratum &&
			    c->samples.v[v[i].sample].side == s)
				i += gather_sample(
				    c, v + i, n - i, &side[s], &counts[s]);
			noise_close(&side[s], c->strata.v[stratum].n[s]);
		}
	}
	for (int s = 0; s < NSIDES; s++)
		if (c->unit[s].n > 0)
			side[s].scale =
			    (double)side[s].n / (double)c->unit[s].n;
}

/* Times of samples, by their numbers; NULL: of all their work. */
static void
gather_samples(
    struct changes *c, const int64_t *ns, struct noise_side side[NSIDES])
{
	VEC(struct row_time) v = { 0 };
	struct counts counts[NSIDES];

	for (uint32_t i = 0; i < c->samples.n; i++)
		if (c->samples.v[i].no != WALK_NO_STEP)
			vec_push(&v,
			    ((struct row_time){ 0, i, 0,
				ns != NULL ? ns[i] : c->samples.v[i].ns }));
	if (v.n > 1)
		qsort_r(v.v, v.n, sizeof *v.v, by_row, c);
	gather(c, v.v, v.n, side, counts);
	vec_free(&v);
}

static void
find_units(struct changes *c)
{
	bool many_runs = false;

	for (int s = 0; s < NSIDES; s++) {
		struct unit_times *u = &c->unit[s];

		u->n = c->set->per == PER_STEP ? u->nsteps : u->nruns;
		many_runs = many_runs || u->nruns > 1;
	}
	/* one rank is no repetition of another */
	c->by_run =
	    c->set->per == PER_RUN && many_runs && c->set->pair != PAIR_RANK;
	if (c->by_run)
		samples_of_runs(c);
	sort_times(c);
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
judge_whole(struct changes *c, struct noise_side side[NSIDES])
{
	c->diff_ns = c->unit[1].total_ns - c->unit[0].total_ns;
	gather_samples(c, NULL, side);
	c->spread_ns = noise_spread(side);
	c->is_noise = may_be_chance(
	    side, c->spread_ns, c->diff_ns - c->fixed_ns, NOISE_LEVEL);
}

static bool
is_whole_beyond(const struct changes *c)
{
	return c->diff_ns != c->fixed_ns && !c->is_noise;
}

/*
 * When the whole differs each row that makes it up speaks for itself. Any other
 * has to be as sure as one of so many must: else, of two traces that are alike,
 * some rows always were slower, and beside a row that is so would some others.
 */
static double
strict_level(const struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->rows.n; i++)
		n += c->rows.v[i].kernels[0] > 0 && c->rows.v[i].kernels[1] > 0;
	return noise_level_of(n);
}

static void
find_means(struct changes *c)
{
	int64_t total[NSIDES] = { 0, 0 };

	for (size_t i = 0; i < c->rows.n; i++) {
		struct change *r = &c->rows.v[i];

		for (int s = 0; s < NSIDES; s++) {
			r->unit_ns[s] = mean_ns(r->ns[s], c->unit[s].n);
			stat_add(&total[s], r->ns[s]);
		}
		r->diff_ns = r->unit_ns[1] - r->unit_ns[0];
		stat_add(
		    &c->gross_ns, r->diff_ns < 0 ? -r->diff_ns : r->diff_ns);
	}
	for (int s = 0; s < NSIDES; s++)
		c->unit[s].total_ns = mean_ns(total[s], c->unit[s].n);
}

/* A side whose samples all have as many events of a row. */
static bool
is_steady(const struct counts *n, const struct noise_side *side)
{
	return !n->differ && (n->nsamples == 0 || n->nsamples == side->n);
}

/*
 * What only one side does is no chance: not only a row of its own, but work
 * more or less of one that both have. Where the number varies on both sides,
 * though, as where it depends on data, it says as little as times do. One
 * sample varies by nothing.
 */
static int64_t
fixed_of(const struct changes *c, const struct change *r,
    const struct noise_side side[NSIDES], const struct counts counts[NSIDES])
{
	double per[NSIDES];
	bool steady[NSIDES];
	int more;

	for (int s = 0; s < NSIDES; s++) {
		steady[s] = is_steady(&counts[s], &side[s]);
		per[s] = (double)r->kernels[s] /
		    (double)(c->unit[s].n > 0 ? c->unit[s].n : 1);
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
judge_row(struct change *r, const struct noise_side side[NSIDES], double level)
{
	r->spread_ns = noise_spread(side);
	r->is_rest_noise =
	    may_be_chance(side, r->spread_ns, r->diff_ns - r->fixed_ns, level);
	r->is_noise = r->is_rest_noise && r->fixed_ns == 0;
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
least_that_matters(const struct changes *c)
{
	VEC(int64_t) v = { 0 };
	int64_t sum = 0, whole = c->diff_ns - c->fixed_ns, least = INT64_MAX;

	if (!is_whole_beyond(c))
		return INT64_MAX;
	for (size_t i = 0; i < c->rows.n; i++) {
		int64_t d = c->rows.v[i].diff_ns - c->rows.v[i].fixed_ns;

		if (d != 0 && (d < 0) == (whole < 0))
			vec_push(&v, llabs(d));
	}
	stable_sort(v.v, v.n, sizeof *v.v, by_size);
	for (size_t i = 0; i < v.n && sum < llabs(whole); i++) {
		stat_add(&sum, v.v[i]);
		least = v.v[i];
	}
	vec_free(&v);
	return least;
}

/* A row's times, from the first on. */
static size_t
row_end(const struct changes *c, size_t first)
{
	size_t i = first;

	while (i < c->times.n && c->times.v[i].row == c->times.v[first].row)
		i++;
	return i;
}

/* What of the rows' differences is no matter of chance, and of the whole's. */
static void
find_fixed(struct changes *c, struct noise_side side[NSIDES])
{
	struct counts counts[NSIDES];

	for (size_t i = 0, end; i < c->times.n; i = end) {
		struct change *r = &c->rows.v[c->times.v[i].row];

		end = row_end(c, i);
		if (r->alone[0] + r->alone[1] == 0)
			continue;
		gather(c, c->times.v + i, end - i, side, counts);
		r->fixed_ns = fixed_of(c, r, side, counts);
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		struct change *r = &c->rows.v[i];

		if (r->kernels[0] == 0 || r->kernels[1] == 0)
			r->fixed_ns = r->diff_ns;
		stat_add(&c->fixed_ns, r->fixed_ns);
	}
}

static void
judge_rows(struct changes *c, struct noise_side side[NSIDES])
{
	double strict = strict_level(c);
	int64_t least = least_that_matters(c);
	struct counts counts[NSIDES];

	for (size_t i = 0, end; i < c->times.n; i = end) {
		struct change *r = &c->rows.v[c->times.v[i].row];
		int64_t rest = r->diff_ns - r->fixed_ns;

		end = row_end(c, i);
		gather(c, c->times.v + i, end - i, side, counts);
		judge_row(r, side, llabs(rest) >= least ? NOISE_LEVEL : strict);
	}
}

/* Rows that are noise one by one may be none together. */
static void
judge_rest(struct changes *c, struct noise_side side[NSIDES])
{
	int64_t *ns, diff = 0;

	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];

		if (r->is_noise)
			stat_add(&diff, r->diff_ns);
		else
			stat_add(&c->verdict_ns,
			    r->is_rest_noise ? r->fixed_ns : r->diff_ns);
	}
	if (!is_whole_beyond(c))
		return;
	ns = xcalloc(c->samples.n + 1, sizeof *ns);
	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];

		if (c->rows.v[t->row].is_noise)
			stat_add(&ns[t->sample], t->ns);
	}
	gather_samples(c, ns, side);
	free(ns);
	if (noise_is_beyond(side, (double)diff, NOISE_LEVEL)) {
		c->rest_ns = diff;
		stat_add(&c->verdict_ns, diff);
	}
}

/* ---- order ---- */

/* What differs, what may differ by chance, what does not. */
static int
rank_of(const struct change *r)
{
	if (r->diff_ns == 0)
		return 2;
	return r->is_noise ? 1 : 0;
}

static int
by_text(const struct dict *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(dict_get(st, a), dict_get(st, b));
}

static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct change *a = x, *b = y;
	const struct dict *st = arg;
	int order = 0;

	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	if (llabs(a->diff_ns) != llabs(b->diff_ns))
		return llabs(a->diff_ns) > llabs(b->diff_ns) ? -1 : 1;
	if (a->diff_ns != b->diff_ns)
		return a->diff_ns > b->diff_ns ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->unit_ns[s] != b->unit_ns[s])
			return a->unit_ns[s] > b->unit_ns[s] ? -1 : 1;
	for (int s = 0; s < NSIDES && order == 0; s++) {
		const struct op_args *p = &a->key.args[s], *q = &b->key.args[s];

		order = by_text(st, a->name[s], b->name[s]);
		if (order == 0)
			order = by_text(st, p->dims, q->dims);
		if (order == 0)
			order = by_text(st, p->types, q->types);
		if (order == 0)
			order = by_text(st, p->strides, q->strides);
		if (order == 0)
			order = by_text(st, p->concrete, q->concrete);
	}
	return order != 0 ? order : by_text(st, a->key.kind, b->key.kind);
}

void
changes_finish(struct changes *c)
{
	struct noise_side side[NSIDES] = { { .n = 0 }, { .n = 0 } };

	find_units(c);
	find_means(c);
	find_fixed(c, side);
	judge_whole(c, side);
	judge_rows(c, side);
	judge_rest(c, side);
	terms_find(c);
	noise_free(&side[0]);
	noise_free(&side[1]);
	if (c->rows.n > 1)
		qsort_r(c->rows.v, c->rows.n, sizeof *c->rows.v, by_weight,
		    c->dict);
}
