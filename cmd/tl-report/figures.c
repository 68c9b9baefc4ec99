/* SPDX-License-Identifier: MIT */
/* Sums by name, and the tables that are read. */
#include <stdlib.h>

#include "cmd/tl-report/changes.h"

struct str
figures_text(struct figures *f, struct str s)
{
	return arena_str(f->text, s);
}

struct str
figures_keep(struct figures *f, struct buf *b)
{
	struct str s = figures_text(f, buf_str(b));

	b->len = 0;
	return s;
}

bool
figures_is_tpu(const struct figures *f)
{
	const struct facts *facts = &f->set->facts;

	return !facts->devices_differ && str_starts(facts->device, STR("TPU"));
}

void
time_add(int64_t *sum, int64_t v)
{
	if (!num_add(*sum, v, sum))
		die("times add up to more than 292 years");
}

/* ---- tallies ---- */

struct tally *
tally_of(struct figures *f, struct tallies *t, struct str name)
{
	uint32_t id;

	if (t->keys == NULL)
		t->keys = intern_create();
	id = intern_put(t->keys, name);
	if (id == t->list.n)
		vec_push(&t->list,
		    ((struct tally){ .name = figures_text(f, name) }));
	return &t->list.v[id];
}

/* Compares in this order; ties by time, then by name. */
static int
order_cmp(const struct tally *a, const struct tally *b, enum list_order order)
{
	double x, y;

	switch (order) {
	case ORDER_COUNT: return (a->count < b->count) - (a->count > b->count);
	case ORDER_NAME: return str_cmp(a->name, b->name);
	case ORDER_MEAN:
		x = a->count > 0 ? (double)a->ns / (double)a->count : 0;
		y = b->count > 0 ? (double)b->ns / (double)b->count : 0;
		return (x < y) - (x > y);
	default: return 0;
	}
}

static int
compare(const void *pa, const void *pb, void *order)
{
	const struct tally *a = *(const struct tally *const *)pa;
	const struct tally *b = *(const struct tally *const *)pb;
	int sign = order_cmp(a, b, *(const enum list_order *)order);

	if (sign != 0)
		return sign;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return str_cmp(a->name, b->name);
}

size_t
tallies_best(const struct tallies *t, const struct tally **best, size_t n)
{
	return tallies_first(t, best, n, ORDER_TIME);
}

size_t
tallies_first(const struct tallies *t, const struct tally **best, size_t n,
    enum list_order order)
{
	VEC(const struct tally *) all = { 0 };

	for (size_t i = 0; i < t->list.n; i++)
		vec_push(&all, &t->list.v[i]);
	if (all.n > 0)
		qsort_r(all.v, all.n, sizeof *all.v, compare, &order);
	n = n < all.n ? n : all.n;
	for (size_t i = 0; i < n; i++)
		best[i] = all.v[i];
	vec_free(&all);
	return n;
}

/* NULL: it has no such name. */
static const struct tally *
tally_at(const struct tallies *t, struct str name)
{
	uint32_t id = t->keys == NULL
	    ? INTERN_NONE
	    : intern_find(t->keys, name, hash_bytes(name.p, name.len));

	return id == INTERN_NONE ? NULL : &t->list.v[id];
}

static bool
is_paired(const struct pair *pairs, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++)
			if (pairs[i].of[side] != NULL &&
			    str_eq(pairs[i].of[side]->name, name))
				return true;
	return false;
}

static bool
takes_time(const struct pair *p)
{
	return (p->of[0] != NULL && p->of[0]->ns > 0) ||
	    (p->of[1] != NULL && p->of[1]->ns > 0);
}

size_t
tallies_pairs(const struct tallies *a, const struct tallies *b,
    struct pair *pairs, size_t most, enum list_order order)
{
	const struct tallies *const sides[] = { a, b };
	VEC(const struct tally *) all = { 0 };
	size_t n = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side]->list.n; i++)
			vec_push(&all, &sides[side]->list.v[i]);
	if (all.n > 0)
		qsort_r(all.v, all.n, sizeof *all.v, compare, &order);
	for (size_t i = 0; i < all.n && n < most; i++) {
		struct str name = all.v[i]->name;

		if (!is_paired(pairs, n, name))
			pairs[n++] = (struct pair){ { tally_at(a, name),
			    tally_at(b, name) } };
	}
	while (n > 0 && !takes_time(&pairs[n - 1]))
		n--;
	vec_free(&all);
	return n;
}

int64_t
tallies_sum(const struct tallies *t)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->list.n; i++)
		time_add(&sum, t->list.v[i].ns);
	return sum;
}

/* ---- all of it ---- */

/* rocprofv3's busy time that is no kernel is copies. */
static void
find_copies(struct figures *f)
{
	const rank_vec *const lists[] = { &f->ranks, &f->gpus, &f->processes };

	if (!f->set->is_rocprof)
		return;
	f->all.copy_ns += f->all.busy_ns - f->all.compute_ns;
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			struct rank *r = &lists[k]->v[i];

			r->copy_ns += r->busy_ns - r->compute_ns;
		}
}

void
figures_read(struct figures *f, const struct jobs *j, bool is_whole)
{
	const struct settings *s = f->set;

	f->text = f->budgets.text = arena_create();
	f->gpu = figures_is_tpu(f) ? "TPU" : "GPU";
	if (!is_whole && !s->is_several)
		return;
	f->has_op_table = is_there(table_path(s, "ops_summary", "ndjson"));
	for (f->input = inputs; f->input->name != NULL; f->input++)
		if (is_whole || f->input->of_ranks)
			(void)table_each(
			    table_path(s, f->input->name, "ndjson"),
			    f->input->take, f);
	find_copies(f);
	if (!is_whole)
		return;
	changes_finish(f);
	if (s->is_host)
		host_sort(f);
	window_make(f);
	verdict_make(f);
	phases_make(f);
	mfu_make(f);
	warnings_make(f, j);
}

static void
tallies_free(struct tallies *t)
{
	if (t->keys != NULL)
		intern_destroy(t->keys);
	vec_free(&t->list);
}

void
figures_free(struct figures *f)
{
	struct tallies *const all[] = { &f->ops, &f->categories, &f->losses,
		&f->grouped, &f->specs, &f->unknown, &f->lacking, &f->over,
		&f->reached, &f->causes, &f->imbalance.slowest };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		tallies_free(all[i]);
	budgets_free(&f->budgets);
	vec_free(&f->threads);
	vec_free(&f->ranks);
	vec_free(&f->bars);
	vec_free(&f->gpus);
	vec_free(&f->processes);
	vec_free(&f->phases);
	vec_free(&f->steps);
	vec_free(&f->groups);
	vec_free(&f->warnings);
	vec_free(&f->notes);
	vec_free(&f->sentences);
	vec_free(&f->changes);
	arena_destroy(f->text);
}
