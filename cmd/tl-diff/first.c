/* SPDX-License-Identifier: MIT */
/*
 * First steps that stand out. Each run has one, so they are judged over runs,
 * as a family of their own: they vary more than the steps after them.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/judge.h"
#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

/* ---- samples: a run's first step ---- */

/*
 * Sums the selected times of one or more rows into one row; runs without any
 * have zero.
 */
static void
gather(const struct changes *c, const struct row_time *v, size_t n,
    bool (*wants)(const struct changes *, const struct row_time *, unsigned),
    unsigned family, struct noise_row *row)
{
	double *ns[NSIDES], nevents = 0;

	*row = (struct noise_row){ .fixed = 0 };
	for (int s = 0; s < NSIDES; s++)
		ns[s] = xcalloc(c->unit[s].nruns, sizeof *ns[s]);
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &c->samples.v[v[i].sample];

		if (!wants(c, &v[i], family))
			continue;
		ns[s->side][s->run] += (double)v[i].ns;
		nevents += v[i].n;
	}
	for (int s = 0; s < NSIDES; s++) {
		noise_add(&row->side[s], ns[s], c->unit[s].nruns);
		row->scale[s] =
		    (double)c->unit[s].left_out.n / (double)c->unit[s].n;
		free(ns[s]);
	}
	row->nevents = nevents / (double)(c->unit[0].nruns + c->unit[1].nruns);
}

static bool
is_of_family(const struct changes *c, const struct row_time *t, unsigned family)
{
	return c->rows.v[t->row].key.family == family;
}

static bool
is_of_rest(const struct changes *c, const struct row_time *t, unsigned family)
{
	const struct change *r = &c->rows.v[t->row];

	return is_of_family(c, t, family) && is_on_both(r) &&
	    !r->is_first_named;
}

/* ---- the verdict ---- */

static size_t
row_end(const struct changes *c, size_t first)
{
	const struct row_time *v = c->first_times.v;
	size_t i = first;

	while (i < c->first_times.n && v[i].row == v[first].row)
		i++;
	return i;
}

/* First steps vary by a share of themselves: a rebuild may take ten times as
 * long. */
static struct noise_rules
rules_of(const struct changes *c, const struct noise_row *r)
{
	struct noise_rules rules = changes_rules(c, r, 0);

	rules.is_ratio = true;
	return rules;
}

/* Rows of both sides, in parallel. */
struct first_row {
	struct change *change;
	struct noise_row row;
};

struct first_rows {
	VEC(struct first_row) list;
};

static void
list_rows(struct changes *c, unsigned family, struct first_rows *rows,
    struct noise_pool *pool)
{
	struct noise_rules rules;

	for (size_t i = 0, end; i < c->first_times.n; i = end) {
		const struct row_time *v = &c->first_times.v[i];
		struct first_row x = { .change = &c->rows.v[v->row] };

		end = row_end(c, i);
		if (x.change->key.family != family || !is_on_both(x.change))
			continue;
		gather(c, v, end - i, is_of_family, family, &x.row);
		rules = rules_of(c, &x.row);
		noise_pool_add(pool, &x.row, &rules);
		vec_push(&rows->list, x);
	}
	noise_pool_end(pool);
	/* a slow first step is slow in all rows, which together show no more
	 * than this many runs */
	pool->df = fmin(
	    pool->df, (double)(c->unit[0].nruns + c->unit[1].nruns - NSIDES));
}

static void
name_rows(struct changes *c, const struct first_rows *rows,
    const struct noise_pool *pool)
{
	VEC(double) p = { 0 };
	double limit;

	for (size_t i = 0; i < rows->list.n; i++) {
		const struct first_row *x = &rows->list.v[i];
		struct noise_rules rules = rules_of(c, &x->row);

		rules.pool = *pool;
		noise_test(&x->row, &rules, &x->change->first);
		vec_push(&p, x->change->first.p);
	}
	limit = noise_limit(p.v, p.n, NOISE_FIRST);
	for (size_t i = 0; i < rows->list.n; i++) {
		struct change *r = rows->list.v[i].change;

		r->is_first_named = r->first.p <= limit;
	}
	vec_free(&p);
}

/* Rows that are noise one by one may differ together. */
static void
judge_rest(struct changes *c, unsigned family, const struct first_rows *rows)
{
	struct family *f = &c->family[family];
	struct noise_row all, rest;
	struct noise_rules rules;
	struct noise x;
	size_t n = 0;

	for (size_t i = 0; i < rows->list.n; i++) {
		const struct change *r = rows->list.v[i].change;

		n += !r->is_first_named && r->first_ns != 0;
	}
	if (n == 0)
		return;
	gather(
	    c, c->first_times.v, c->first_times.n, is_of_family, family, &all);
	gather(
	    c, c->first_times.v, c->first_times.n, is_of_rest, family, &rest);
	rules = changes_rules(c, &rest, 0);
	rules.least_share = 0;
	for (int s = 0; s < NSIDES; s++)
		rules.least +=
		    NOISE_REST_LEAST * all.side[s].mean * all.scale[s] / 2;
	noise_test(&rest, &rules, &x);
	if (x.p > NOISE_FIRST)
		return;
	f->first.nrest = n;
	noise_join(&f->noise, &x);
}

void
first_judge(struct judge *j)
{
	struct changes *c = j->c;

	for (unsigned f = 0; f < NFAMILIES && c->warmup.is_judged; f++) {
		struct first_rows rows = { { 0 } };
		struct noise_pool pool = { .df = 0 };

		list_rows(c, f, &rows, &pool);
		name_rows(c, &rows, &pool);
		judge_rest(c, f, &rows);
		vec_free(&rows.list);
	}
}

void
first_add(struct family *f)
{
	struct first_steps *first = &f->first;

	if (first->nrest == 0) {
		stat_add(&f->within_ns, first->within_ns);
		return;
	}
	stat_add(&f->judged_ns, first->within_ns);
	stat_add(&first->judged_ns, first->within_ns);
	first->rest_ns = first->within_ns;
	f->ndiffer += first->nrest;
	first->within_ns = 0;
}

/* ---- sentences ---- */

void
put_first(struct buf *b, int64_t whole_ns, int64_t first_ns, size_t nrest)
{
	if (first_ns == 0)
		return;
	buf_puts(b, ", ");
	if (first_ns == whole_ns)
		buf_puts(b, "all");
	else
		put_signed_time(b, first_ns);
	buf_puts(b, " by first steps");
	if (nrest > 0)
		buf_printf(b, " (spread over %zu rows)", nrest);
}

/*
 * "the first step stands out on both sides: 13.200 ms to 14.100 ms (+6.8 %) of
 * compute, the median of the others 5.000 ms to 5.100 ms (+2.0 %); largest
 * excess: 8.100 ms in aten::mm before, 8.900 ms in aten::mm after; its noise is
 * unknown"
 */
void
first_note(const struct changes *c, struct table *t)
{
	const struct warmup *w = &c->warmup;
	bool is_mean = c->unit[0].nruns > 1 || c->unit[1].nruns > 1;
	struct buf b = { 0 };

	if (!w->is_set)
		return;
	buf_printf(&b, "%s out on both sides: ",
	    is_mean ? "first steps of most runs stand"
		    : "the first step stands");
	put_change(&b, w->ns[0], w->ns[1]);
	buf_printf(&b, " of compute%s, the median of the others ",
	    is_mean ? " on average" : "");
	put_change(&b, w->others_ns[0], w->others_ns[1]);
	buf_puts(&b, "; largest excess: ");
	for (int s = 0; s < NSIDES; s++) {
		struct str side = c->set->names[s];

		buf_puts(&b, s > 0 ? ", " : "");
		put_time(&b, w->most[s].row_ns);
		buf_puts(&b, " in ");
		put_names(&b, c->dict, w->most[s].name);
		buf_printf(&b, " %.*s", (int)side.len, side.p);
	}
	buf_printf(&b, "; %s",
	    w->is_judged  ? "they are judged by themselves"
		: is_mean ? "their noise is unknown"
			  : "its noise is unknown");
	note_of(t, &b);
	buf_free(&b);
}
