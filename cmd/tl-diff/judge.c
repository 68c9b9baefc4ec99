/* SPDX-License-Identifier: MIT */
/*
 * Times of a unit, and which differences are noise.
 *
 * A row's difference has parts: work of one side only (fixed: no noise), work
 * outside of samples (unknown), first steps that stand out (first), and the
 * rest, which is tested. In each family rows are named that differ by
 * themselves; the others may differ together. Sentences, rows and the gate
 * print this one verdict.
 *
 * A side's time of a unit is `scale` samples long: if samples are steps and
 * units runs, the number of steps. With --pair rank samples are steps that vary
 * around the mean of their own rank: one rank does not repeat another.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/judge.h"
#include "trace/stat.h"

/* Smallest share of a row and of its family, with few steps. */
#define FEW_SHARE 0.05
#define FEW_OF_ALL 0.002
#define ROW_SHARE 0.01

/* ns / n, rounded; ns if n is 0. */
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

/* With several runs, times vary over runs: a run's samples become one. */
static void
samples_of_runs(struct changes *c)
{
	c->strata.n = 0;
	vec_push(&c->strata,
	    ((struct stratum){ { c->unit[0].nruns, c->unit[1].nruns } }));
	for (size_t i = 0; i < c->samples.n; i++)
		if (!c->samples.v[i].is_out)
			c->samples.v[i].no = c->samples.v[i].stratum = 0;
}

/* By stratum, run and time. */
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
	if (p->run != q->run)
		return p->run < q->run ? -1 : 1;
	return (p->no > q->no) - (p->no < q->no);
}

/*
 * Times outside of samples do not show how times vary; first steps vary by
 * themselves.
 */
static void
sort_times(struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];
		const struct sample *s = &c->samples.v[t->sample];
		int64_t ns = mean_ns(t->ns, c->unit[s->side].n);

		if (is_judged(s)) {
			c->times.v[n++] = *t;
			continue;
		}
		if (s->is_out)
			vec_push(&c->first_times, *t);
		stat_add(s->is_out ? &c->rows.v[t->row].first_ns
				   : &c->rows.v[t->row].unknown_ns,
		    s->side == 0 ? -ns : ns);
	}
	c->times.n = n;
	if (n > 1)
		qsort_r(c->times.v, n, sizeof *c->times.v, by_row, c);
	if (c->first_times.n > 1)
		qsort_r(c->first_times.v, c->first_times.n,
		    sizeof *c->first_times.v, by_row, c);
}

static void
find_units(struct changes *c)
{
	const struct settings *set = c->set;
	uint64_t nruns[NSIDES];

	for (int s = 0; s < NSIDES; s++) {
		struct unit_times *u = &c->unit[s];

		u->n = set->per == PER_STEP ? u->nsteps : u->nruns;
		nruns[s] = u->nruns;
	}
	/* one rank does not repeat another */
	c->by_run = nruns[0] > 1 && nruns[1] > 1 && set->pair != PAIR_RANK;
	if (c->by_run)
		samples_of_runs(c);
	else if (set->pair == PAIR_RANK)
		c->allowance = noise_allowance(set->run_noise, 1, 1);
	else
		c->allowance =
		    noise_allowance(set->run_noise, nruns[0], nruns[1]);
	c->warmup.is_judged = c->warmup.is_set && c->by_run;
	sort_times(c);
}

/* ---- a row's samples ---- */

/* Sum of one sample's times, from the first of these on; their number. */
static size_t
gather_sample(struct judge *j, const struct row_time *v, size_t n,
    struct row_counts *counts)
{
	const struct changes *c = j->c;
	const struct sample *first = &c->samples.v[v[0].sample];
	double steps = 1, nevents = 0;
	int64_t ns = 0;
	size_t i = 0;

	for (; i < n; i++) {
		const struct sample *s = &c->samples.v[v[i].sample];

		if (c->by_run ? s->run != first->run
			      : v[i].sample != v[0].sample)
			break;
		stat_add(&ns, v[i].ns);
		nevents += v[i].n;
	}
	if (j->has_steps)
		steps = (double)judged_steps(&c->unit[first->side], first->run);
	nevents /= steps;
	if (j->values.n == 0)
		counts->first = nevents;
	counts->differ = counts->differ || counts->first != nevents;
	counts->n += nevents;
	vec_push(&j->values, (double)ns / steps);
	return i;
}

/* Values of one stratum and side; samples without a time are zero. */
static size_t
gather_stratum(struct judge *j, const struct row_time *v, size_t n,
    uint32_t stratum, int side, struct noise_row *row,
    struct row_counts *counts)
{
	const struct changes *c = j->c;
	size_t i = 0;

	j->values.n = 0;
	while (i < n && c->samples.v[v[i].sample].stratum == stratum &&
	    c->samples.v[v[i].sample].side == side)
		i += gather_sample(j, v + i, n - i, counts);
	counts->differ = counts->differ ||
	    (j->values.n > 0 && j->values.n < c->strata.v[stratum].n[side]);
	while (j->values.n < c->strata.v[stratum].n[side])
		vec_push(&j->values, 0);
	noise_add(&row->side[side], j->values.v, j->values.n);
	return i;
}

/* Samples per unit. */
static double
scale_of(const struct changes *c, int side, size_t nsamples, bool has_steps)
{
	const struct unit_times *u = &c->unit[side];

	if (c->by_run && has_steps)
		return (double)(u->nsteps - u->left_out.n) /
		    (double)(c->set->per == PER_RUN ? u->nruns : u->nsteps);
	if (c->by_run)
		return 1;
	return u->n > 0 ? (double)nsamples / (double)u->n : 1;
}

void
judge_gather(struct judge *j, const struct row_time *v, size_t n,
    struct noise_row *row, struct row_counts counts[NSIDES])
{
	double nevents = 0;

	*row = (struct noise_row){ .fixed = 0 };
	for (int s = 0; s < NSIDES; s++)
		counts[s] = (struct row_counts){ 0 };
	for (size_t i = 0; i < n;) {
		uint32_t stratum = j->c->samples.v[v[i].sample].stratum;

		for (int s = 0; s < NSIDES; s++)
			i += gather_stratum(
			    j, v + i, n - i, stratum, s, row, &counts[s]);
	}
	for (int s = 0; s < NSIDES; s++) {
		struct noise_side *side = &row->side[s];

		nevents += counts[s].n;
		if (side->n > 0)
			counts[s].n /= (double)side->n;
		row->scale[s] = scale_of(j->c, s, side->n, j->has_steps);
		if (j->independent[s] > 0)
			side->independent = (double)side->n * j->independent[s];
	}
	if (row->side[0].n + row->side[1].n > 0)
		row->nevents =
		    nevents / (double)(row->side[0].n + row->side[1].n);
}

static bool
is_rest(const struct change *r)
{
	return r->is_known && !r->is_named && is_on_both(r);
}

/* Sum of a family's rows, or of those in wants. */
static void
gather_rows(struct judge *j, unsigned family,
    bool (*wants)(const struct change *), struct noise_row *row)
{
	struct changes *c = j->c;
	struct row_time *v = xcalloc(c->samples.n + 1, sizeof *v);
	struct row_counts counts[NSIDES];
	size_t n = 0;

	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];
		const struct change *r = &c->rows.v[t->row];

		if (r->key.family != family || (wants != NULL && !wants(r)))
			continue;
		v[t->sample].n += t->n;
		stat_add(&v[t->sample].ns, t->ns);
	}
	for (uint32_t i = 0; i < c->samples.n; i++)
		if (is_judged(&c->samples.v[i]))
			v[n++] = (struct row_time){ 0, i, v[i].n, v[i].ns };
	if (n > 1)
		qsort_r(v, n, sizeof *v, by_row, c);
	judge_gather(j, v, n, row, counts);
	free(v);
}

/* ---- what is fixed ---- */

/*
 * Work of one side only is no noise: rows of its own, and calls more or less of
 * one that both have, if each side makes the same number in all its samples. A
 * number that varies, as with the data, proves no more than times do.
 */
static int64_t
fixed_of(const struct change *r, const struct noise_row *row,
    const struct row_counts counts[NSIDES])
{
	double per[NSIDES], call;
	int more;

	if (!is_on_both(r))
		return r->diff_ns;
	for (int s = 0; s < NSIDES; s++)
		per[s] = counts[s].n * row->scale[s];
	more = per[1] > per[0];
	if (counts[0].differ || counts[1].differ)
		return 0;
	call = r->alone[more] > 0
	    ? (double)r->alone_ns[more] / (double)r->alone[more]
	    : (double)r->ns[more] / (double)r->kernels[more];
	return llround((per[1] - per[0]) * call);
}

static void
find_means(struct changes *c)
{
	int64_t total[NFAMILIES][NSIDES] = { { 0, 0 } };

	for (size_t i = 0; i < c->rows.n; i++) {
		struct change *r = &c->rows.v[i];

		for (int s = 0; s < NSIDES; s++) {
			r->unit_ns[s] = mean_ns(r->ns[s], c->unit[s].n);
			stat_add(&total[r->key.family][s], r->ns[s]);
		}
		r->diff_ns = r->unit_ns[1] - r->unit_ns[0];
		stat_add(&c->gross_ns, llabs(r->diff_ns));
		if (!is_on_both(r)) {
			r->fixed_ns = r->diff_ns;
			r->unknown_ns = r->first_ns = 0;
		}
	}
	for (int s = 0; s < NSIDES; s++) {
		int64_t all = 0;

		for (int f = 0; f < NFAMILIES; f++) {
			c->family[f].ns[s] = mean_ns(total[f][s], c->unit[s].n);
			stat_add(&all, total[f][s]);
		}
		c->unit[s].total_ns = mean_ns(all, c->unit[s].n);
	}
	c->diff_ns = c->unit[1].total_ns - c->unit[0].total_ns;
}

/* ---- the verdict ---- */

static double
family_ns(const struct changes *c, unsigned family)
{
	const struct family *f = &c->family[family];

	return ((double)f->ns[0] + (double)f->ns[1]) / 2;
}

struct noise_rules
changes_rules(const struct changes *c, const struct noise_row *r, double all_ns)
{
	bool is_few = !c->by_run && noise_is_of_few(r);

	return (struct noise_rules){ .allowance = c->allowance,
		.tick_ns = c->has_fine ? NOISE_TICK_NS : 1000,
		.least_share = is_few ? FEW_SHARE : ROW_SHARE,
		.least = is_few ? FEW_OF_ALL * all_ns : 0 };
}

static size_t
row_end(const struct changes *c, size_t first)
{
	size_t i = first;

	while (i < c->times.n && c->times.v[i].row == c->times.v[first].row)
		i++;
	return i;
}

/* The fixed parts, and how much rows of each family vary. */
static void
gather_all(struct judge *j, struct noise_pool pools[NFAMILIES])
{
	struct changes *c = j->c;
	struct row_counts counts[NSIDES];

	for (size_t i = 0, end; i < c->times.n; i = end) {
		struct change *r = &c->rows.v[c->times.v[i].row];
		struct noise_row *row = &j->rows[c->times.v[i].row];
		struct noise_rules rules;

		end = row_end(c, i);
		judge_gather(j, c->times.v + i, end - i, row, counts);
		r->fixed_ns = fixed_of(r, row, counts);
		row->fixed = (double)r->fixed_ns;
		r->is_known = noise_is_known(row);
		c->is_known = c->is_known || r->is_known;
		/* times of another model prove nothing */
		r->is_known =
		    r->is_known && !(c->unlike.is_so && is_on_both(r));
		rules = changes_rules(c, row, 0);
		if (r->is_known && is_on_both(r))
			noise_pool_add(&pools[r->key.family], row, &rules);
	}
	for (int f = 0; f < NFAMILIES; f++)
		noise_pool_end(&pools[f]);
}

/* Which rows of a family differ by themselves. */
static void
name_rows(struct judge *j, unsigned family, const struct noise_pool *pool,
    double level)
{
	struct changes *c = j->c;
	VEC(double) p = { 0 };
	double limit;

	for (size_t i = 0; i < c->rows.n; i++) {
		struct change *r = &c->rows.v[i];
		struct noise_rules rules;

		if (r->key.family != family || !r->is_known)
			continue;
		rules = changes_rules(c, &j->rows[i], family_ns(c, family));
		rules.pool = *pool;
		noise_test(&j->rows[i], &rules, &r->noise);
		if (is_on_both(r))
			vec_push(&p, r->noise.p);
	}
	limit = noise_limit(p.v, p.n, level);
	vec_free(&p);
	for (size_t i = 0; i < c->rows.n; i++) {
		struct change *r = &c->rows.v[i];

		if (r->key.family == family && r->is_known && is_on_both(r))
			r->is_named = r->noise.p <= limit;
	}
}

/* Rows that are noise one by one may differ together. */
static void
judge_rest(struct judge *j, unsigned family, double level)
{
	struct family *f = &j->c->family[family];
	struct noise_row row;
	struct noise_rules rules;
	struct noise x;

	gather_rows(j, family, is_rest, &row);
	if (f->nrest == 0 || !noise_is_known(&row))
		return;
	for (size_t i = 0; i < j->c->rows.n; i++)
		if (j->c->rows.v[i].key.family == family &&
		    is_rest(&j->c->rows.v[i]))
			row.fixed += (double)j->c->rows.v[i].fixed_ns;
	rules = changes_rules(j->c, &row, 0);
	rules.least_share = 0;
	rules.least = NOISE_REST_LEAST * family_ns(j->c, family);
	noise_test(&row, &rules, &x);
	if (x.p > level)
		return;
	f->rest_ns = f->within_ns;
	f->ndiffer += f->nrest;
	f->within_ns = 0;
	stat_add(&f->judged_ns, f->rest_ns);
	noise_join(&f->noise, &x);
}

/* First steps of a single run have unknown noise. */
static void
add_first_of(struct family *f, struct change *r, bool is_first_known)
{
	struct first_steps *first = &f->first;

	if (!is_first_known) {
		stat_add(&r->unknown_ns, r->first_ns);
		stat_add(&first->unknown_ns, r->first_ns);
	} else if (r->is_first_named) {
		stat_add(&r->judged_ns, r->first_ns);
		stat_add(&first->judged_ns, r->first_ns);
		noise_join(&f->noise, &r->first);
	} else {
		stat_add(&first->within_ns, r->first_ns);
	}
}

static void
add_row(struct family *f, struct change *r, bool is_first_known)
{
	int64_t tested = r->diff_ns - r->fixed_ns - r->first_ns;
	bool is_fact;

	if (!r->is_known && is_on_both(r))
		r->unknown_ns = tested;
	tested -= r->unknown_ns;
	r->judged_ns = r->fixed_ns + (r->is_named ? tested : 0);
	add_first_of(f, r, is_first_known);
	is_fact = r->fixed_ns != 0 || r->is_named || r->is_first_named;
	r->has_verdict =
	    (r->is_known || is_first_known) && (is_fact || r->unknown_ns == 0);
	r->is_noise = r->has_verdict && r->diff_ns != 0 && !is_fact;
	stat_add(&f->judged_ns, r->judged_ns);
	stat_add(&f->unknown_ns, r->unknown_ns);
	f->ndiffer += r->judged_ns != 0 || r->unknown_ns != 0;
	if (r->is_named) {
		noise_join(&f->noise, &r->noise);
		return;
	}
	stat_add(&f->within_ns, tested);
	f->nrest += tested != 0;
}

static void
judge_family(struct judge *j, unsigned family, const struct noise_pool *pool)
{
	static const struct {
		double rows, rest;
	} levels[NFAMILIES] = { { NOISE_ROWS, NOISE_REST },
		{ NOISE_COMM, NOISE_COMM } };
	struct changes *c = j->c;
	struct family *f = &c->family[family];
	double rows = levels[family].rows;

	/* all levels add up to 5 % */
	if (c->warmup.is_judged && family == FAMILY_COMPUTE)
		rows -= 2 * NFAMILIES * NOISE_FIRST;
	name_rows(j, family, pool, rows);
	for (size_t i = 0; i < c->rows.n; i++)
		if (c->rows.v[i].key.family == family)
			add_row(f, &c->rows.v[i], c->warmup.is_judged);
	judge_rest(j, family, levels[family].rest);
	first_add(f);
	stat_add(&c->judged_ns, f->judged_ns);
	stat_add(&c->unknown_ns, f->unknown_ns);
	noise_join(&c->noise, &f->noise);
}

static void
judge_all(struct changes *c)
{
	struct judge j = { .c = c, .has_steps = c->by_run };
	struct noise_pool pools[NFAMILIES] = { { .df = 0 } };
	struct noise_row all;

	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < c->unit[s].run_steps.n; i++)
			j.has_steps =
			    j.has_steps && c->unit[s].run_steps.v[i] > 0;
	j.rows = xcalloc(c->rows.n + 1, sizeof *j.rows);
	gather_rows(&j, FAMILY_COMPUTE, NULL, &all);
	for (int s = 0; s < NSIDES; s++) {
		c->nsamples[s] = all.side[s].n;
		if (all.side[s].n > 0)
			j.independent[s] =
			    all.side[s].independent / (double)all.side[s].n;
	}
	gather_all(&j, pools);
	first_judge(&j);
	for (unsigned f = 0; f < NFAMILIES; f++)
		judge_family(&j, f, &pools[f]);
	vec_free(&j.values);
	free(j.rows);
}

void
judge(struct changes *c)
{
	find_units(c);
	find_means(c);
	judge_all(c);
}
