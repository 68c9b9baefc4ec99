/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/terms.h"

#include <stdlib.h>

#include "cmd/tl-diff/changes.h"
#include "trace/stat.h"

/* names are listed up to nine tenths of a cause's difference */
#define EXPLAINED 10
#define TOP_NAMES 5

const char *
term_word(const struct term *t)
{
	static const char *const words[] = {
		[PART_COMPUTE - CAUSE_COUNT] = "compute",
		[PART_COMM - CAUSE_COUNT] = "exposed_comm",
		[PART_COPY - CAUSE_COUNT] = "exposed_copy",
		[TERM_STEP - CAUSE_COUNT] = "step",
		[TERM_BUSY - CAUSE_COUNT] = "gpu_busy",
		[TERM_OPENED - CAUSE_COUNT] = "opened_gaps",
	};

	return t->part < CAUSE_COUNT ? cause_words[t->part]
				     : words[t->part - CAUSE_COUNT];
}

/* ---- steps of a kind ---- */

/* Steps of one kind on a side, by run. */
struct list {
	VEC(const struct step_time *) v[NSIDES];
};

struct finder {
	struct changes *c;
	struct clock_changes *k;
	struct map kinds; /* kinds to indices of lists and all */
	VEC(struct list) lists;
	VEC(struct step_group) all;
	VEC(struct term) named; /* of the current group */
};

static void
list_step(struct finder *f, int s, const struct step_time *x)
{
	uint32_t at = map_number(&f->kinds, x->kind);
	struct step_group *g;

	if (at == f->lists.n) {
		vec_push(&f->lists, ((struct list){ 0 }));
		vec_push(&f->all,
		    ((struct step_group){ .kind = x->kind, .first = at }));
	}
	g = &f->all.v[at];
	g->n[s]++;
	stat_add(&g->all_ns, x->ns);
	vec_push(&f->lists.v[at].v[s], x);
}

/*
 * A step that the other side has without GPU events is not compared: the sides
 * would differ by which steps they have. With --match numbers pair no steps.
 */
static void
list_steps(struct finder *f)
{
	struct map unpaired = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		const struct step_times *mine = &f->k->side[s];
		const struct step_times *other = &f->k->side[NSIDES - 1 - s];
		struct map bare = { 0 };

		for (size_t i = 0;
		     i < other->bare.n && f->c->set->match == NULL; i++)
			(void)map_put(&bare, (uint64_t)other->bare.v[i], NULL);
		for (size_t i = 0; i < mine->list.n; i++) {
			const struct step_time *x = &mine->list.v[i];

			if (map_get(&bare, (uint64_t)x->no) == NULL)
				list_step(f, s, x);
			else
				(void)map_number(&unpaired, (uint64_t)x->no);
		}
		map_free(&bare);
	}
	f->k->nunpaired = unpaired.n;
	map_free(&unpaired);
}

static bool
is_left_out(const struct finder *f, int s, const struct step_time *x)
{
	const struct unit_times *u = &f->c->unit[s];

	return x->run < u->left_out.n && u->left_out.v[x->run] == x->no;
}

/* Drops first steps that are judged apart, unless they are all of their
 * kind. */
static void
drop_first(const struct finder *f, struct step_group *g, struct list *l)
{
	uint64_t n[NSIDES] = { 0, 0 };

	for (int s = 0; s < NSIDES; s++) {
		for (size_t i = 0; i < l->v[s].n; i++)
			n[s] += !is_left_out(f, s, l->v[s].v[i]);
		if (n[s] == 0)
			return;
	}
	for (int s = 0; s < NSIDES; s++) {
		g->n[s] = 0;
		for (size_t i = 0; i < l->v[s].n; i++)
			if (!is_left_out(f, s, l->v[s].v[i]))
				l->v[s].v[g->n[s]++] = l->v[s].v[i];
		l->v[s].n = g->n[s];
	}
}

static int
by_all(const void *x, const void *y)
{
	const struct step_group *a = x, *b = y;

	return (a->all_ns < b->all_ns) - (a->all_ns > b->all_ns);
}

static int
by_length(const void *x, const void *y)
{
	const struct step_time *a = *(const struct step_time *const *)x;
	const struct step_time *b = *(const struct step_time *const *)y;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The middle two, or the middle one twice. */
static void
find_middle(const struct list *l, int s, const struct step_time *middle[2])
{
	size_t n = l->v[s].n;
	const struct step_time **v = xmalloc(n * sizeof *v);

	memcpy(v, l->v[s].v, n * sizeof *v);
	stable_sort(v, n, sizeof *v, by_length);
	middle[0] = v[(n - 1) / 2];
	middle[1] = v[n / 2];
	free(v);
}

/* ---- terms of a group ---- */

static const struct step_piece *
piece_of(const struct step_times *t, const struct step_time *x, unsigned cause,
    uint32_t name)
{
	const struct step_piece *v = t->pieces.v + x->first;
	size_t at;

	bisect(at, x->n, mid,
	    v[mid].cause < cause ||
		(v[mid].cause == cause && v[mid].name < name));
	return at < x->n && v[at].cause == cause && v[at].name == name ? &v[at]
								       : NULL;
}

static int64_t
value_of(const struct step_times *all, const struct step_time *x,
    const struct term *t)
{
	const struct step_piece *p;

	if (t->is_named) {
		p = piece_of(all, x, t->part, t->name);
		return p != NULL ? p->ns : 0;
	}
	if (t->part == TERM_STEP)
		return x->ns;
	if (t->part == TERM_BUSY)
		return x->parts[PART_COMPUTE] + x->parts[PART_COMM] +
		    x->parts[PART_COPY];
	if (t->part == TERM_OPENED)
		return x->opened_ns;
	return x->parts[t->part];
}

/* The piece with the longer event. */
static void
see_longest(struct term *t, int s, const struct step_time *x,
    const struct step_piece *p)
{
	if (p == NULL ||
	    (t->piece[s] != NULL && p->longest_ns <= t->piece[s]->longest_ns))
		return;
	t->piece[s] = p;
	t->step[s] = x;
}

static void
add_named(struct finder *f, const struct step_time *const middle[NSIDES][2])
{
	struct map of = { 0 };

	f->named.n = 0;
	for (int s = 0; s < NSIDES; s++)
		for (int m = 0; m < 2; m++)
			for (uint32_t i = 0; i < middle[s][m]->n; i++) {
				const struct step_piece *p =
				    &f->k->side[s]
					 .pieces.v[middle[s][m]->first + i];
				uint32_t at = map_number(
				    &of, (uint64_t)p->cause << 32 | p->name);
				struct term *t;

				if (at == f->named.n)
					vec_push(&f->named,
					    ((struct term){ .part = p->cause,
						.is_named = true,
						.name = p->name }));
				t = &f->named.v[at];
				stat_add(&t->twice_ns[s], p->ns);
				see_longest(t, s, middle[s][m], p);
			}
	map_free(&of);
}

static int
by_difference(const void *x, const void *y, void *arg)
{
	const struct term *a = x, *b = y;
	const struct dict *st = arg;
	int64_t p = llabs(term_twice_diff(a)), q = llabs(term_twice_diff(b));

	if (p != q)
		return p > q ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->name == b->name || a->name == INTERN_NONE ||
	    b->name == INTERN_NONE)
		return (a->name > b->name) - (a->name < b->name);
	return str_cmp(dict_get(st, a->name), dict_get(st, b->name));
}

/* Adds a part and, of a cause, the names that explain most of its
 * difference. */
static void
add_part(struct finder *f, struct term part)
{
	int64_t left = term_twice_diff(&part), all = llabs(left);
	size_t at = f->k->terms.n, n = 0;

	vec_push(&f->k->terms, part);
	for (size_t i = 0; i < f->named.n; i++) {
		const struct term *t = &f->named.v[i];

		if (t->part != part.part)
			continue;
		for (int s = 0; s < NSIDES; s++)
			see_longest(
			    &f->k->terms.v[at], s, t->step[s], t->piece[s]);
		if (t->name == INTERN_NONE || n == TOP_NAMES ||
		    llabs(left) <= all / EXPLAINED)
			continue;
		n++;
		left -= term_twice_diff(t);
		vec_push(&f->k->terms, *t);
	}
}

static bool
has_any(const struct term *t)
{
	return t->twice_ns[0] > 0 || t->twice_ns[1] > 0;
}

/*
 * In half of the step or more the GPU is idle although work is queued: it waits
 * for something that is not recorded, and most of a difference may be of that.
 * Where nothing is queued, the time is the host's, recorded or not.
 */
static void
find_lost(struct step_group *g, const struct term fixed[TERM_COUNT])
{
	static const enum cause lost[] = { CAUSE_GPU_MISSING, CAUSE_LATE_START,
		CAUSE_QUEUED_BEFORE };
	const struct term *step = &fixed[TERM_STEP];

	for (int s = 0; s < NSIDES; s++) {
		for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
			stat_add(
			    &g->twice_lost_ns[s], fixed[lost[i]].twice_ns[s]);
		g->is_lost |=
		    term_twice_diff(step) != 0 && is_mostly_lost(g, step, s);
	}
}

static void
add_terms(struct finder *f, struct step_group *g, const struct list *l)
{
	const struct step_time *middle[NSIDES][2];
	struct term fixed[TERM_COUNT];

	for (int s = 0; s < NSIDES; s++)
		find_middle(l, s, middle[s]);
	add_named(f, (const struct step_time *const(*)[2])middle);
	if (f->named.n > 1)
		qsort_r(f->named.v, f->named.n, sizeof *f->named.v,
		    by_difference, f->c->dict);
	for (unsigned part = 0; part < TERM_COUNT; part++) {
		struct term *t = &fixed[part];

		*t =
		    (struct term){ .part = (uint8_t)part, .name = INTERN_NONE };
		for (int s = 0; s < NSIDES; s++)
			for (int m = 0; m < 2; m++)
				stat_add(&t->twice_ns[s],
				    value_of(&f->k->side[s], middle[s][m], t));
	}
	for (int s = 0; s < NSIDES; s++)
		fixed[TERM_STEP].step[s] = middle[s][0];
	find_lost(g, fixed);
	vec_push(&f->k->terms, fixed[TERM_STEP]);
	vec_push(&f->k->terms, fixed[TERM_BUSY]);
	if (has_any(&fixed[TERM_OPENED]))
		add_part(f, fixed[TERM_OPENED]);
	qsort_r(fixed, PART_COUNT, sizeof *fixed, by_difference, f->c->dict);
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (has_any(&fixed[i]))
			add_part(f, fixed[i]);
}

/* ---- noise ---- */

/*
 * Samples are steps, or with several runs the mean step of each; a rank's vary
 * around its own mean.
 */
static void
gather(const struct finder *f, const struct list *l, int s,
    const struct term *t, struct noise_side *side)
{
	const struct changes *c = f->c;
	size_t n = l->v[s].n;
	VEC(double) values = { 0 };

	for (size_t i = 0, end; i < n; i = end) {
		uint32_t run = l->v[s].v[i]->run;
		double sum = 0;

		for (end = i; end < n && l->v[s].v[end]->run == run; end++) {
			double ns =
			    (double)value_of(&f->k->side[s], l->v[s].v[end], t);

			sum += ns;
			if (!c->by_run)
				vec_push(&values, ns);
		}
		if (c->by_run)
			vec_push(&values, sum / (double)(end - i));
		if (c->set->pair == PAIR_RANK || end == n) {
			noise_add(side, values.v, values.n);
			values.n = 0;
		}
	}
	vec_free(&values);
}

static void
test_term(const struct finder *f, const struct list *l, double step_ns,
    struct term *t)
{
	struct noise_row row = { .scale = { 1, 1 }, .nevents = 1 };
	struct noise_rules rules;

	for (int s = 0; s < NSIDES; s++)
		gather(f, l, s, t, &row.side[s]);
	t->is_known = noise_is_known(&row);
	if (!t->is_known)
		return;
	rules = changes_rules(f->c, &row, step_ns);
	noise_test(&row, &rules, &t->noise);
}

/*
 * The median says how much, the samples whether it is noise. The step is judged
 * by itself, its parts together.
 */
static void
judge_group(struct finder *f, const struct step_group *g, const struct list *l)
{
	struct term *t = f->k->terms.v, *step = &t[g->first];
	double step_ns =
	    ((double)step->twice_ns[0] + (double)step->twice_ns[1]) / 4;
	VEC(double) p = { 0 };
	double limit;

	for (uint32_t i = g->first; i < g->end; i++) {
		test_term(f, l, step_ns, &t[i]);
		if (i > g->first && t[i].is_known)
			vec_push(&p, t[i].noise.p);
	}
	limit = noise_limit(p.v, p.n, NOISE_ROWS);
	for (uint32_t i = g->first; i < g->end; i++) {
		int64_t twice = term_twice_diff(&t[i]);
		const struct noise *x = &t[i].noise;

		t[i].is_noise = twice == 0 ||
		    (t[i].is_known &&
			((x->diff > 0) != (twice > 0) ||
			    x->p > (i == g->first ? NOISE_REST : limit)));
	}
	vec_free(&p);
}

/* ---- all ---- */

void
terms_find(struct changes *c)
{
	struct finder f = { .c = c, .k = &c->clock };

	list_steps(&f);
	stable_sort(f.all.v, f.all.n, sizeof *f.all.v, by_all);
	for (size_t i = 0; i < f.all.n; i++) {
		struct step_group g = f.all.v[i];
		struct list *l = &f.lists.v[g.first];

		if (g.n[0] == 0 || g.n[1] == 0)
			continue;
		drop_first(&f, &g, l);
		g.first = (uint32_t)f.k->terms.n;
		add_terms(&f, &g, l);
		g.end = (uint32_t)f.k->terms.n;
		judge_group(&f, &g, l);
		vec_push(&f.k->groups, g);
	}
	for (size_t i = 0; i < f.lists.n; i++) {
		vec_free(&f.lists.v[i].v[0]);
		vec_free(&f.lists.v[i].v[1]);
	}
	vec_free(&f.lists);
	vec_free(&f.all);
	vec_free(&f.named);
	map_free(&f.kinds);
}

void
terms_free(struct clock_changes *k)
{
	step_times_free(&k->side[0]);
	step_times_free(&k->side[1]);
	vec_free(&k->groups);
	vec_free(&k->terms);
}
