/* SPDX-License-Identifier: MIT */
/*
 * The rank that bounds a job, and the part of its time that the job would gain.
 * All wait for the latest rank, so its time between collectives is the job's. A
 * gap that all ranks have counts in full; what only the latest has counts as
 * far as the next one waits, which then is the latest. The same holds for ops.
 * Without such a rank, the mean counts.
 */
#include "base/hash.h"
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

static struct awaited *
awaited_of(struct advice *a, struct str label)
{
	for (size_t i = 0; i < a->late.ranks.n; i++)
		if (str_eq(a->late.ranks.v[i].label, label))
			return &a->late.ranks.v[i];
	vec_push(&a->late.ranks,
	    ((struct awaited){
		.label = arena_str(a->mem, label), .gain_ns = -1 }));
	return &a->late.ranks.v[a->late.ranks.n - 1];
}

/* Tables of older releases have no bound, only the others' waiting. */
static int64_t
gain_of(const struct awaited *r)
{
	return r->gain_ns >= 0 ? r->gain_ns : r->cost_ns;
}

/* A row per process group. */
void
late_take_rank(struct advice *a, const struct line *l)
{
	struct awaited *r;

	if (line_lacks(l, "rank"))
		return;
	r = awaited_of(a, line_text(l, "rank"));
	stat_add(&r->caused_ns, line_int(l, "caused_wait_ns"));
	stat_add(&r->cost_ns, line_int(l, "cost_ns"));
}

void
late_take_gain(struct advice *a, const struct line *l)
{
	if (!line_lacks(l, "rank") && !line_lacks(l, "gain_ns_high"))
		awaited_of(a, line_text(l, "rank"))->gain_ns =
		    line_int(l, "gain_ns_high");
}

/* The verdict on a rank. */
void
late_take_verdict(struct advice *a, const struct line *l)
{
	struct awaited *r;

	if (line_lacks(l, "rank") || line_lacks(l, "cost_ns"))
		return;
	r = awaited_of(a, line_text(l, "rank"));
	late_take_gain(a, l);
	r->verdict = arena_str(a->mem, line_text(l, "verdict"));
	r->pct_of_step =
	    line_lacks(l, "pct_of_step") ? -1 : line_real(l, "pct_of_step");
}

void
late_take_group(struct advice *a, const struct line *l)
{
	stat_add(&a->late.wait_ns, line_int(l, "wait_ns_sum"));
	stat_add(&a->late.all_ns, line_int(l, "wait_ns_sum"));
	stat_add(&a->late.all_ns, line_int(l, "latency_ns_sum"));
}

void
late_find(struct advice *a)
{
	struct lateness *late = &a->late;
	struct waiting w = { .wait_ns = late->wait_ns, .all_ns = late->all_ns };
	const struct awaited *most = NULL;
	const struct budget *of;

	for (size_t i = 0; i < late->ranks.n; i++) {
		const struct awaited *r = &late->ranks.v[i];

		stat_add(&w.caused_ns, r->caused_ns);
		if (most == NULL || r->caused_ns > most->caused_ns)
			most = r;
	}
	if (most == NULL || late->by_src || a->budgets.list.n < 2)
		return;
	w.most_ns = most->caused_ns;
	of = budget_of(&a->budgets, most->label);
	if (of == NULL || of->n == 0 || !budget_is_late(&a->sum, &w))
		return;
	a->whole = of;
	late->rank = most->label;
	late->left_ns = gain_of(most);
}

int64_t
late_gain(struct advice *a, int64_t ns, int64_t of_others_ns)
{
	int64_t own = ns > of_others_ns ? ns - of_others_ns : 0;

	if (a->late.rank.len == 0 || own <= 0)
		return ns;
	if (own > a->late.left_ns) {
		ns -= own - a->late.left_ns;
		own = a->late.left_ns;
	}
	a->late.left_ns -= own;
	return ns;
}

/* ---- the others ---- */

int64_t
late_others(const struct advice *a, int64_t sum_ns)
{
	return a->budgets.list.n > 1 ? sum_ns / (int64_t)(a->budgets.list.n - 1)
				     : 0;
}

int64_t
late_others_part(const struct advice *a, const struct idle_part *p)
{
	int64_t ns = 0;

	if (a->late.rank.len == 0)
		return 0;
	/* parts of the sum are joined over ranks */
	for (size_t i = 0; i < a->sum.parts.n; i++) {
		const struct idle_part *all = &a->sum.parts.v[i];

		if (all->class == p->class && all->cause == p->cause &&
		    str_eq(all->call, p->call))
			ns = all->ns + all->behind_ns - p->ns - p->behind_ns;
	}
	return late_others(a, ns);
}

/* ---- ops ---- */

struct row_counts {
	struct intern *keys;
	VEC(uint32_t) counts; /* in the order of keys */
};

bool
late_counts(const struct advice *a, struct str label)
{
	return a->late.rank.len == 0 || str_eq(label, a->late.rank);
}

int64_t
late_sources(const struct advice *a)
{
	return a->late.rank.len > 0 ? 1 : a->nsources;
}

struct timeline
late_timeline(const struct advice *a)
{
	for (size_t i = 0; i < a->timelines.n && a->late.rank.len > 0; i++)
		if (str_eq(a->timelines.v[i].label, a->late.rank))
			return a->timelines.v[i];
	return (struct timeline){ .total_ns = a->total_ns,
		.busy_ns = a->busy_ns,
		.compute_ns = a->compute_ns,
		.exposed_comm_ns = a->exposed_comm_ns,
		.comm_ns = a->comm_ns,
		.exposed_copy_ns = a->exposed_copy_ns };
}

static void
put_whose(struct facts *f, const struct advice *a, struct str label)
{
	fact_put(f, "whose",
	    cell_text(str_of(arena_printf(a->mem, "%s %.*s",
		a->late.by_src ? "source" : "rank", (int)label.len, label.p))));
}

void
late_put(struct facts *f, const struct advice *a)
{
	if (a->late.rank.len > 0)
		put_whose(f, a, a->late.rank);
	fact_put(f, "sources", cell_int(late_sources(a)));
}

/*
 * Number of this rank's rows with this name and arguments: they differ in what
 * no table has.
 */
static uint32_t
row_of_op(struct row_counts *of, const struct op_row *o, struct buf *key)
{
	uint32_t id;

	key->len = 0;
	buf_printf(key, "%.*s\n%.*s\n%.*s", (int)o->label.len, o->label.p,
	    (int)o->name.len, o->name.p, (int)o->args.len, o->args.p);
	id = intern_put(of->keys, buf_str(key));
	if (id == of->counts.n)
		vec_push(&of->counts, 0);
	return of->counts.v[id]++;
}

void
late_find_ops(struct advice *a)
{
	struct row_counts of = { .keys = intern_create() };
	struct intern *ops = intern_create();
	VEC(struct op_row *) longest = { 0 }; /* in the order of ops */
	struct buf key = { 0 };

	for (size_t i = 0; i < a->ops.n; i++) {
		struct op_row *o = &a->ops.v[i];
		uint32_t row;

		if (!late_counts(a, o->label))
			continue;
		row = row_of_op(&of, o, &key);
		key.len = 0;
		buf_printf(&key, "%.*s\n%.*s\n%" PRIu32, (int)o->name.len,
		    o->name.p, (int)o->args.len, o->args.p, row);
		o->same = intern_put(ops, buf_str(&key));
		if (o->same == longest.n)
			vec_push(&longest, o);
		else if (o->ns > longest.v[o->same]->ns)
			longest.v[o->same] = o;
	}
	for (size_t i = 0; i < longest.n; i++)
		longest.v[i]->is_shown = true;
	vec_free(&longest);
	vec_free(&of.counts);
	intern_destroy(of.keys);
	intern_destroy(ops);
	buf_free(&key);
}

void
late_put_one(struct facts *f, const struct advice *a, struct str label)
{
	if (a->nsources > 1)
		put_whose(f, a, label);
}

/* ---- facts ---- */

void
late_advise(struct advice *a)
{
	for (size_t i = 0; i < a->late.ranks.n; i++) {
		const struct awaited *r = &a->late.ranks.v[i];
		struct facts f;

		if (r->verdict.len == 0)
			continue;
		f = facts_made(a, "late");
		fact_put(&f, "rank", cell_text(r->label));
		fact_put(&f, "verdict", cell_text(r->verdict));
		fact_put(&f, "cost_ns", cell_int(r->cost_ns));
		if (r->pct_of_step >= 0)
			fact_put(&f, "pct_of_step", cell_real(r->pct_of_step));
		fact_put(&f, "gain_ns", cell_int(gain_of(r)));
		if (r->gain_ns >= 0)
			fact_put(&f, "most_ns", cell_int(r->gain_ns));
		advice_take(a, &f, 1);
		vec_free(&f.list);
	}
}
