/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/judge.h"
#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

void
ranks_add(struct changes *c, int side, const struct side *r)
{
	struct rank_change *to;

	if (!ranks_are_judged(c->set))
		return;
	while (c->ranks.list.n < c->unit[side].nruns)
		vec_push(
		    &c->ranks.list, ((struct rank_change){ .rank = r->rank }));
	to = &c->ranks.list.v[c->unit[side].nruns - 1];
	for (size_t i = 0; i < r->gpus.n; i++) {
		const struct node *n = &r->nodes.v[r->gpus.v[i].node];

		if ((n->flags & NODE_COMM) == 0 &&
		    changes_want(c, &r->gpus.v[i]))
			stat_add(&to->run_ns[side], n->dur);
	}
}

/* ---- samples ---- */

static int
by_rank_and_time(const void *x, const void *y, void *arg)
{
	const struct changes *c = arg;
	const struct sample *a = &c->samples.v[*(const uint32_t *)x];
	const struct sample *b = &c->samples.v[*(const uint32_t *)y];

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->no > b->no) - (a->no < b->no);
}

/* Steps by rank and time, into an empty list. */
static void
list_steps(struct changes *c, u32s *list)
{
	for (uint32_t i = 0; i < c->samples.n; i++) {
		const struct sample *s = &c->samples.v[i];

		if (!is_judged(s))
			continue;
		c->ranks.list.v[s->run].nsteps[s->side]++;
		vec_push(list, i);
	}
	if (list->n > 1)
		qsort_r(list->v, list->n, sizeof *list->v, by_rank_and_time, c);
}

/* First steps outside of samples. */
static void
gather_first(struct changes *c)
{
	for (size_t i = 0; i < c->first_times.n; i++) {
		const struct row_time *t = &c->first_times.v[i];
		const struct sample *s = &c->samples.v[t->sample];

		if (c->rows.v[t->row].key.family == FAMILY_COMPUTE)
			stat_add(
			    &c->ranks.list.v[s->run].out_ns[s->side], t->ns);
	}
}

static void
gather(struct changes *c, struct noise_row *rows)
{
	int64_t *ns = xcalloc(c->samples.n + 1, sizeof *ns);
	VEC(double) values = { 0 };
	u32s list = { 0 };

	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];

		if (c->rows.v[t->row].key.family == FAMILY_COMPUTE) {
			stat_add(&ns[t->sample], t->ns);
			rows[c->samples.v[t->sample].run].nevents += t->n;
		}
	}
	list_steps(c, &list);
	for (size_t i = 0; i < list.n;) {
		const struct sample *s = &c->samples.v[list.v[i]];
		struct rank_change *r = &c->ranks.list.v[s->run];

		values.n = 0;
		for (uint64_t k = 0; k < r->nsteps[s->side]; k++, i++) {
			stat_add(&r->steps_ns[s->side], ns[list.v[i]]);
			vec_push(&values, (double)ns[list.v[i]]);
		}
		noise_add(&rows[s->run].side[s->side], values.v, values.n);
	}
	vec_free(&values);
	vec_free(&list);
	free(ns);
}

/* ---- the verdict ---- */

static bool
differs(const struct rank_change *r)
{
	return r->is_known && r->judged_ns != 0;
}

bool
ranks_differ(const struct changes *c)
{
	for (size_t i = 0; i < c->ranks.list.n; i++)
		if (differs(&c->ranks.list.v[i]))
			return true;
	return false;
}

/* The common variance of all ranks and both sides. */
struct common {
	double squares, n, free;
};

static double
freedom(const struct noise_row *r)
{
	return fmax(1, r->side[0].independent + r->side[1].independent - 2);
}

static void
test_rank(struct changes *c, struct noise_row *row, const struct common *all,
    struct rank_change *r)
{
	struct noise_rules rules = changes_rules(c, row, 0);
	double mean = (row->side[0].mean + row->side[1].mean) / 2;
	double others = all->free - freedom(row);

	/* the rank's own steps are part of the common figure */
	if (others > 0 && mean > 0) {
		rules.pool.df = others;
		rules.pool.variance =
		    all->squares / all->n / mean / mean * all->free / others;
		row->side[0].squares = row->side[1].squares = 0;
	}
	row->fixed = r->structure;
	noise_test(row, &rules, &r->noise);
}

static void
judge_ranks(struct changes *c, struct noise_row *rows)
{
	struct rank_changes *k = &c->ranks;
	struct common all = { 0 };
	VEC(double) p = { 0 };
	double limit;

	for (size_t i = 0; i < k->list.n; i++) {
		struct noise_row *row = &rows[i];
		double n = (double)(row->side[0].n + row->side[1].n);

		row->scale[0] = row->scale[1] = 1;
		/* times of another model prove nothing */
		k->list.v[i].is_known = noise_is_known(row) && !c->unlike.is_so;
		if (!k->list.v[i].is_known)
			continue;
		row->nevents /= n;
		all.squares += row->side[0].squares + row->side[1].squares;
		all.n += n - 2;
		all.free += freedom(row);
	}
	for (size_t i = 0; i < k->list.n; i++) {
		if (!k->list.v[i].is_known)
			continue;
		test_rank(c, &rows[i], &all, &k->list.v[i]);
		vec_push(&p, k->list.v[i].noise.p);
	}
	k->is_known = p.n > 0;
	limit = noise_limit(p.v, p.n, NOISE_ROWS);
	for (size_t i = 0; i < k->list.n; i++)
		k->list.v[i].is_named =
		    k->list.v[i].is_known && k->list.v[i].noise.p <= limit;
	vec_free(&p);
}

/* Per step of the recordings, which have one more than samples if first steps
 * are judged apart. */
static int64_t
first_of(const struct rank_change *r)
{
	double n = (double)(r->nsteps[0] + r->nsteps[1]) / 2 + 1;

	return llround(((double)r->out_ns[1] - (double)r->out_ns[0]) / n);
}

static void
find_sums(struct rank_changes *k, const struct noise_row *rows)
{
	for (size_t i = 0; i < k->list.n; i++) {
		struct rank_change *r = &k->list.v[i];

		for (int s = 0; s < NSIDES; s++)
			r->unit_ns[s] = k->has_steps
			    ? llround(rows[i].side[s].mean)
			    : r->run_ns[s];
		r->first_ns = k->has_steps ? first_of(r) : 0;
		r->structure_ns = k->has_steps ? llround(r->structure) : 0;
		r->judged_ns = r->is_named ? rank_diff(r) : r->structure_ns;
	}
}

/* A rank is alone if other ranks do not share most of its difference. */
static void
find_alone(struct rank_changes *k)
{
	int64_t *others = xcalloc(k->list.n, sizeof *others);
	struct stats s;

	for (size_t i = 0; i < k->list.n && k->list.n > 1; i++) {
		double diff = (double)rank_diff(&k->list.v[i]);
		size_t n = 0;

		for (size_t o = 0; o < k->list.n; o++)
			if (o != i)
				others[n++] = rank_diff(&k->list.v[o]);
		stat_of(&s, others, n);

		k->list.v[i].is_alone = fabs(diff - s.median) > fabs(diff) / 2;
	}
	free(others);
}

static int
by_rank(const void *x, const void *y)
{
	const struct rank_change *a = x, *b = y;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

void
ranks_find(struct changes *c)
{
	struct rank_changes *k = &c->ranks;
	struct noise_row *rows = xcalloc(k->list.n + 1, sizeof *rows);

	if (k->list.n > 0) {
		gather(c, rows);
		gather_first(c);
		rank_rows_structure(c);
		k->has_steps = true;
		for (size_t i = 0; i < k->list.n; i++)
			k->has_steps = k->has_steps &&
			    k->list.v[i].nsteps[0] > 0 &&
			    k->list.v[i].nsteps[1] > 0;
		if (k->has_steps)
			judge_ranks(c, rows);
		find_sums(k, rows);
		find_alone(k);
		for (uint32_t i = 0; i < k->list.n; i++)
			if (differs(&k->list.v[i]))
				rank_rows_find(c, i, &rows[i]);
		stable_sort(k->list.v, k->list.n, sizeof *k->list.v, by_rank);
	}
	free(rows);
}

/* ---- sentences ---- */

static const struct rank_change *
slowest(const struct rank_changes *k, int side)
{
	const struct rank_change *most = k->list.v;

	for (size_t i = 1; i < k->list.n; i++)
		if (k->list.v[i].unit_ns[side] > most->unit_ns[side])
			most = &k->list.v[i];
	return most;
}

/*
 * "slowest rank: 100.0 us of compute a step (rank 3) to 110.0 us (rank 2): it
 * sets the pace where ranks wait for each other"
 */
static void
note_slowest(const struct rank_changes *k, struct table *t)
{
	const struct rank_change *of[NSIDES] = { slowest(k, 0), slowest(k, 1) };
	struct buf b = { 0 };

	buf_puts(&b, "slowest rank: ");
	for (int s = 0; s < NSIDES; s++) {
		buf_puts(&b, s > 0 ? " to " : "");
		put_time(&b, of[s]->unit_ns[s]);
		buf_printf(&b, "%s (rank %" PRId64 ")",
		    s > 0 ? "" : " of compute a step", of[s]->rank);
	}
	buf_puts(&b, "; it sets the pace where ranks wait for each other");
	note_of(t, &b);
	buf_free(&b);
}

/* ", 94 % of it from 1 op: aten::mm"; these differ in its direction, others may
 * not */
static void
put_rows(struct buf *b, const struct changes *c, const struct rank_change *r)
{
	struct row_number number = { 0, 0 };
	int64_t sum = 0;
	size_t n = 0;

	for (; n < RANK_ROWS && n < r->nrows &&
	     llabs(sum) < llabs(r->judged_ns) / 10 * 9;
	     n++) {
		stat_add(&sum, r->rows[n].ns);
		count_row(&number, r->rows[n].is_no_op);
	}
	if (n == 0) {
		buf_puts(b, ", no row of it by itself");
		return;
	}
	buf_puts(b, ", ");
	if (llabs(sum) > llabs(r->judged_ns))
		put_signed_time(b, sum);
	else
		buf_printf(b, "%.0f %% of it",
		    100 * (double)sum / (double)r->judged_ns);
	buf_puts(b, " from ");
	put_number(b, c, number);
	buf_puts(b, ": ");
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i > 0 ? ", " : "");
		put_names(b, c->dict, r->rows[i].name);
	}
}

/* The rank that differs most, and how many do. */
static const struct rank_change *
most_of(const struct rank_changes *k, size_t *n)
{
	const struct rank_change *most = NULL;

	*n = 0;
	for (size_t i = 0; i < k->list.n; i++) {
		const struct rank_change *r = &k->list.v[i];

		if (!differs(r))
			continue;
		++*n;
		if (most == NULL ||
		    llabs(r->judged_ns) > llabs(most->judged_ns))
			most = r;
	}
	return most;
}

static void
note_most(const struct changes *c, struct table *t,
    const struct rank_change *most, size_t n, size_t unknown)
{
	const struct rank_changes *k = &c->ranks;
	bool is_slower = most->judged_ns > 0;
	struct buf b = { 0 };

	if (n > 1)
		buf_printf(&b, "%zu of %zu ranks differ beyond noise, most ", n,
		    k->list.n);
	buf_printf(&b, "rank %" PRId64 "%s: compute ", most->rank,
	    n > 1 || unknown > 0 || !most->is_alone ? ""
		: is_slower                         ? " alone regressed"
						    : " alone improved");
	put_change(&b, most->unit_ns[0], most->unit_ns[1]);
	buf_puts(&b, " a step, ");
	put_signed_time(&b, most->judged_ns);
	buf_puts(&b, " beyond noise");
	put_rows(&b, c, most);
	if (n == 1 && unknown == 0 && k->list.n == 2)
		buf_puts(&b, "; the other rank within noise");
	else if (n == 1 && unknown == 0)
		buf_printf(&b, "; the other %zu within noise", k->list.n - 1);
	note_of(t, &b);
	buf_free(&b);
}

void
ranks_notes(const struct changes *c, struct table *t)
{
	const struct rank_changes *k = &c->ranks;
	size_t n, unknown = 0;
	const struct rank_change *most = most_of(k, &n);

	for (size_t i = 0; i < k->list.n; i++)
		unknown += !k->list.v[i].is_known;
	if (k->list.n < 2 || unknown == k->list.n)
		return;
	if (most == NULL) {
		table_note(t, "compute of each of %zu ranks is within noise",
		    k->list.n - unknown);
		return;
	}
	note_most(c, t, most, n, unknown);
	if (k->has_steps)
		note_slowest(k, t);
}
