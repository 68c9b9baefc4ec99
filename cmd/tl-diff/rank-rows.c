/* SPDX-License-Identifier: MIT */
/* Rows of single ranks: what became slower within one. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/judge.h"
#include "trace/stat.h"

/* ---- structure ---- */

/* Events of a row in a rank's steps, on one side. */
struct calls {
	uint64_t steps; /* steps with some */
	uint64_t first, all;
	int64_t ns;
	bool differ;
};

static void
add_calls(struct calls *to, const struct row_time *t)
{
	if (to->steps++ == 0)
		to->first = t->n;
	to->differ = to->differ || t->n != to->first;
	to->all += t->n;
	stat_add(&to->ns, t->ns);
}

/*
 * Added or removed calls of a row are no noise if each side makes the same
 * number in all its steps.
 */
static double
structure_of(const struct calls calls[NSIDES], const uint64_t nsteps[NSIDES])
{
	double per[NSIDES];
	int more;

	for (int s = 0; s < NSIDES; s++) {
		if (nsteps[s] == 0 || calls[s].differ ||
		    (calls[s].steps > 0 && calls[s].steps < nsteps[s]))
			return 0;
		per[s] = (double)calls[s].all / (double)nsteps[s];
	}
	more = per[1] > per[0];
	if (calls[more].all == 0)
		return 0;
	return (per[1] - per[0]) * (double)calls[more].ns /
	    (double)calls[more].all;
}

static uint32_t
run_of(const struct changes *c, size_t i)
{
	return c->samples.v[c->times.v[i].sample].run;
}

/* End of the times of one row and rank, which are adjacent. */
static size_t
part_end(const struct changes *c, size_t i)
{
	size_t end = i + 1;

	while (end < c->times.n && c->times.v[end].row == c->times.v[i].row &&
	    run_of(c, end) == run_of(c, i))
		end++;
	return end;
}

/* Added or removed time of a rank, from such times. */
static double
structure_in(const struct changes *c, const struct rank_change *r,
    const struct row_time *v, size_t n)
{
	struct calls calls[NSIDES] = { { 0 }, { 0 } };

	for (size_t i = 0; i < n; i++)
		add_calls(&calls[c->samples.v[v[i].sample].side], &v[i]);
	return structure_of(calls, r->nsteps);
}

static bool
is_compute(const struct changes *c, size_t i)
{
	return c->rows.v[c->times.v[i].row].key.family == FAMILY_COMPUTE;
}

void
rank_rows_structure(struct changes *c)
{
	for (size_t i = 0, end; i < c->times.n; i = end) {
		struct rank_change *r = &c->ranks.list.v[run_of(c, i)];

		end = part_end(c, i);
		if (is_compute(c, i))
			r->structure +=
			    structure_in(c, r, &c->times.v[i], end - i);
	}
}

/* ---- rows of one rank ---- */

struct rank_part {
	uint32_t row;
	double structure;
	bool is_known;
	struct noise_row times;
	struct noise noise;
};

struct finder {
	struct changes *c;
	const struct rank_change *rank;
	const struct noise_row *whole; /* the rank's whole compute */
	VEC(struct rank_part) parts;
	struct noise_pool pool;
	double all_ns; /* compute of a step */
};

/* Adds the times of a row and rank, which are adjacent. */
static void
add_part(struct finder *f, struct judge *j, const struct row_time *v, size_t n)
{
	const struct changes *c = f->c;
	struct rank_part *p = vec_add(&f->parts);
	struct row_counts counts[NSIDES];
	struct noise_rules rules;

	*p = (struct rank_part){ .row = v->row };
	judge_gather(j, v, n, &p->times, counts);
	p->structure = structure_in(c, f->rank, v, n);
	p->times.fixed = p->structure;
	p->times.scale[0] = p->times.scale[1] = 1;
	/* work of one side only is no noise */
	p->is_known =
	    counts[0].n > 0 && counts[1].n > 0 && noise_is_known(&p->times);
	rules = changes_rules(c, &p->times, 0);
	if (p->is_known)
		noise_pool_add(&f->pool, &p->times, &rules);
}

static void
list_parts(struct finder *f, uint32_t run)
{
	const struct changes *c = f->c;
	struct judge j = { .c = f->c };

	for (int s = 0; s < NSIDES; s++)
		j.independent[s] =
		    f->whole->side[s].independent / (double)f->whole->side[s].n;
	for (size_t i = 0, end; i < c->times.n; i = end) {
		end = part_end(c, i);
		if (run_of(c, i) == run && is_compute(c, i))
			add_part(f, &j, &c->times.v[i], end - i);
	}
	noise_pool_end(&f->pool);
	vec_free(&j.values);
}

static double
limit_of(struct finder *f)
{
	VEC(double) p = { 0 };
	double limit;

	for (size_t i = 0; i < f->parts.n; i++) {
		struct rank_part *x = &f->parts.v[i];
		struct noise_rules rules =
		    changes_rules(f->c, &x->times, f->all_ns);

		if (!x->is_known)
			continue;
		rules.pool = f->pool;
		noise_test(&x->times, &rules, &x->noise);
		vec_push(&p, x->noise.p);
	}
	limit = noise_limit(p.v, p.n, NOISE_ROWS);
	vec_free(&p);
	return limit;
}

/* Keeps the largest rows that differ in the rank's direction. */
static void
tell_row(
    struct rank_change *r, const struct change *row, bool is_no_op, int64_t ns)
{
	struct rank_row x = { .ns = ns,
		.is_no_op = is_no_op,
		.name = { row->name[0],
		    row->key.n[0] == row->key.n[1] ? row->name[0]
						   : row->name[1] } };

	if (ns == 0 || (ns < 0) != (r->judged_ns < 0))
		return;
	r->nrows++;
	for (size_t i = 0; i < RANK_ROWS; i++) {
		struct rank_row next = r->rows[i];

		if (llabs(next.ns) >= llabs(x.ns))
			continue;
		r->rows[i] = x;
		x = next;
	}
}

void
rank_rows_find(struct changes *c, uint32_t run, const struct noise_row *whole)
{
	struct rank_change *r = &c->ranks.list.v[run];
	struct finder f = { .c = c,
		.rank = r,
		.whole = whole,
		.all_ns = ((double)r->unit_ns[0] + (double)r->unit_ns[1]) / 2 };
	double limit;

	list_parts(&f, run);
	limit = limit_of(&f);
	for (size_t i = 0; i < f.parts.n; i++) {
		const struct rank_part *p = &f.parts.v[i];
		bool is_named = p->is_known && p->noise.p <= limit;
		double diff = p->times.side[1].mean - p->times.side[0].mean;

		tell_row(r, &c->rows.v[p->row], is_no_op(c, &c->rows.v[p->row]),
		    llround(is_named ? diff : p->structure));
	}
	vec_free(&f.parts);
}
