/* SPDX-License-Identifier: MIT */
/*
 * Each GPU event below a root, with the lowest point where the trees part
 * above it. Where a merged node of both sides has children of one side only,
 * all their GPU work is the node's; a pair of GPU events is its own.
 */
#include <stdlib.h>

#include "cmd/tl-diff/diff.h"
#include "trace/plain.h"
#include "trace/span.h"

struct finder {
	struct diff *d;
	VEC(uint8_t) done; /* by merged node: its work is listed */
	u32s list;         /* GPU events of one point and side */
	struct spans busy;
	bool has_parts; /* a point may have been emitted in parts */
};

static const struct node *
node_of(const struct finder *f, int side, uint32_t at)
{
	return &f->d->side[side]->nodes.v[at];
}

static bool
on_gpu_path(const struct finder *f, int side, uint32_t at)
{
	return at != NONE && (node_of(f, side, at)->flags & NODE_GPU_PATH) != 0;
}

static bool
is_gpu(const struct finder *f, int side, uint32_t at)
{
	return at != NONE && is_gpu_kind(node_of(f, side, at)->kind);
}

/* Below a node, then itself. */
static void
list_work(struct finder *f, int side, uint32_t at)
{
	forest_gpu_below(f->d->side[side], at, &f->list);
	if (is_gpu(f, side, at))
		vec_push(&f->list, at);
}

/* The listed work becomes rows of this point. */
static void
emit(struct finder *f, int side, uint32_t lca, bool is_one_sided)
{
	int64_t busy;

	f->busy.n = 0;
	if (is_one_sided && lca != NONE)
		f->has_parts = true;
	for (size_t i = 0; i < f->list.n; i++) {
		const struct node *n = node_of(f, side, f->list.v[i]);

		spans_add(&f->busy, n->ts, node_end(n));
	}
	spans_normalise(&f->busy);
	busy = spans_total(&f->busy);
	for (size_t i = 0; i < f->list.n; i++)
		vec_push(&f->d->stats,
		    ((struct diff_row){
			.gpu = f->list.v[i],
			.op = forest_op_above(f->d->side[side], f->list.v[i]),
			.lca = lca,
			.side = (uint8_t)side,
			.is_one_sided = is_one_sided,
			.busy_ns = busy,
		    }));
	f->list.n = 0;
}

static bool
is_only(const struct merged_node *m, int side)
{
	return merged_type(m) == (side == 0 ? MERGED_ONE : MERGED_TWO);
}

/* Whether the trees part here: a child of one side only has work. */
static bool
parts_here(const struct finder *f, uint32_t id)
{
	const struct merged *t = &f->d->merged;

	for (uint32_t k = id + 1; k < t->list.v[id].behind;
	     k = t->list.v[k].behind)
		for (int s = 0; s < NSIDES; s++)
			if (is_only(&t->list.v[k], s) &&
			    on_gpu_path(f, s, t->list.v[k].at[s]))
				return true;
	return false;
}

static void
take_point(struct finder *f, uint32_t id)
{
	const struct merged *t = &f->d->merged;
	const struct merged_node *m = &t->list.v[id];

	if ((!is_gpu(f, 0, m->at[0]) || !is_gpu(f, 1, m->at[1])) &&
	    !parts_here(f, id))
		return;
	for (int s = 0; s < NSIDES; s++) {
		for (uint32_t k = id + 1; k < m->behind;
		     k = t->list.v[k].behind) {
			if (!is_only(&t->list.v[k], s) ||
			    !on_gpu_path(f, s, t->list.v[k].at[s]))
				continue;
			list_work(f, s, t->list.v[k].at[s]);
			f->done.v[k] = 1;
		}
		if (is_gpu(f, s, m->at[s]))
			vec_push(&f->list, m->at[s]);
		emit(f, s, id, false);
	}
}

/* A pair with work on one side only: a GPU event there is its own point. */
static void
take_half(struct finder *f, uint32_t id)
{
	const struct merged_node *m = &f->d->merged.list.v[id];

	for (int s = 0; s < NSIDES; s++) {
		if (!is_gpu(f, s, m->at[s]))
			continue;
		vec_push(&f->list, m->at[s]);
		emit(f, s, id, false);
	}
}

static void
take_one_sided(struct finder *f, uint32_t id)
{
	const struct merged_node *m = &f->d->merged.list.v[id];
	int side = merged_type(m) == MERGED_ONE ? 0 : 1;

	if (f->done.v[id] || !on_gpu_path(f, side, m->at[side]))
		return;
	list_work(f, side, m->at[side]);
	emit(f, side, m->parent, true);
}

/* ---- points in parts ---- */

/* A row, to be sorted by point and side. */
struct part {
	uint32_t lca, row;
	uint8_t side;
};

static int
by_point(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->lca != b->lca)
		return a->lca < b->lca ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Trees of one side below one node are emitted one by one: joined here. */
static void
join_parts(struct finder *f)
{
	struct diff *d = f->d;
	VEC(struct part) v = { 0 };

	for (uint32_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].lca != NONE)
			vec_push(&v,
			    ((struct part){
				d->stats.v[i].lca, i, d->stats.v[i].side }));
	qsort(v.v, v.n, sizeof *v.v, by_point);
	for (size_t i = 0, end; i < v.n; i = end) {
		int64_t busy;

		f->busy.n = 0;
		for (end = i; end < v.n && v.v[end].lca == v.v[i].lca &&
		     v.v[end].side == v.v[i].side;
		     end++) {
			const struct node *n = node_of(
			    f, v.v[i].side, d->stats.v[v.v[end].row].gpu);

			spans_add(&f->busy, n->ts, node_end(n));
		}
		spans_normalise(&f->busy);
		busy = spans_total(&f->busy);
		for (size_t k = i; k < end; k++)
			d->stats.v[v.v[k].row].busy_ns = busy;
	}
	vec_free(&v);
}

/* ---- identical ---- */

static const struct node *
op_of(const struct finder *f, const struct diff_row *s)
{
	return s->op == NONE ? NULL : node_of(f, s->side, s->op);
}

static bool
same_args(const struct finder *f, const struct node *a, const struct node *b)
{
	static const struct op_args none = { INTERN_NONE, INTERN_NONE,
		INTERN_NONE, INTERN_NONE };
	const struct op_args *x =
	    a->extra != NONE ? &f->d->side[0]->args.v[a->extra] : &none;
	const struct op_args *y =
	    b->extra != NONE ? &f->d->side[1]->args.v[b->extra] : &none;

	return memcmp(x, y, sizeof *x) == 0;
}

static bool
same_chain(const struct finder *f, uint32_t a, uint32_t b)
{
	while (a != NONE && b != NONE) {
		const struct chain *x = &f->d->side[0]->chains.v[a];
		const struct chain *y = &f->d->side[1]->chains.v[b];

		if (x->name != y->name)
			return false;
		a = x->up;
		b = y->up;
	}
	return a == b;
}

static bool
same_row(
    const struct finder *f, const struct diff_row *x, const struct diff_row *y)
{
	const struct node *a = node_of(f, 0, x->gpu);
	const struct node *b = node_of(f, 1, y->gpu);
	const struct node *p = op_of(f, x), *q = op_of(f, y);

	if (x->lca != y->lca || x->busy_ns != y->busy_ns ||
	    x->is_one_sided != y->is_one_sided || a->name != b->name ||
	    a->dur != b->dur || a->id != b->id || a->inst != b->inst ||
	    (p == NULL) != (q == NULL))
		return false;
	return p == NULL ||
	    (p->name == q->name && p->id == q->id && p->inst == q->inst &&
		same_args(f, p, q) && same_chain(f, p->chain, q->chain));
}

/* All GPU work, also what is in no tree. */
static bool
same_work(const struct run *a, const struct run *b)
{
	if (a->gpus.n != b->gpus.n)
		return false;
	for (size_t i = 0; i < a->gpus.n; i++) {
		const struct node *x = &a->nodes.v[a->gpus.v[i].node];
		const struct node *y = &b->nodes.v[b->gpus.v[i].node];

		if (x->name != y->name || x->dur != y->dur || x->id != y->id ||
		    x->inst != y->inst)
			return false;
	}
	return true;
}

/* Rows of the sides in step: equal but for the side. */
static bool
find_identical(const struct finder *f)
{
	const struct diff *d = f->d;
	size_t i = 0, j = 0, n = 0;

	for (;; i++, j++, n++) {
		while (i < d->stats.n && d->stats.v[i].side != 0)
			i++;
		while (j < d->stats.n && d->stats.v[j].side != 1)
			j++;
		if (i >= d->stats.n || j >= d->stats.n)
			break;
		if (!same_row(f, &d->stats.v[i], &d->stats.v[j]))
			return false;
	}
	return n > 0 && i >= d->stats.n && j >= d->stats.n;
}

void
stats_find(struct diff *d)
{
	struct finder f = { .d = d };
	const struct merged *t = &d->merged;

	vec_reserve(&f.done, t->list.n + 1);
	memset(f.done.v, 0, t->list.n + 1);
	for (uint32_t id = 0; id < t->list.n;) {
		const struct merged_node *m = &t->list.v[id];
		bool a = on_gpu_path(&f, 0, m->at[0]);
		bool b = on_gpu_path(&f, 1, m->at[1]);

		if (merged_type(m) != MERGED_BOTH) {
			take_one_sided(&f, id);
			id = m->behind;
			continue;
		}
		if (a && b)
			take_point(&f, id);
		else
			take_half(&f, id);
		id = a || b ? id + 1 : m->behind;
	}
	if (f.has_parts)
		join_parts(&f);
	d->is_identical = find_identical(&f);
	d->is_same_work = same_work(d->side[0], d->side[1]);
	vec_free(&f.done);
	vec_free(&f.list);
	spans_free(&f.busy);
}

static void
put_name(const struct diff *d, int side, uint32_t at, struct buf *b)
{
	const struct node *n = &d->side[side]->nodes.v[at];

	if (n->name == INTERN_NONE)
		buf_printf(b, "%" PRIu32, n->id);
	else
		name_without_lines(b, dict_get(d->dict, n->name));
}

void
stats_lca_name(const struct diff *d, const struct diff_row *s, struct buf *b)
{
	const struct merged_node *m;
	struct buf two = { 0 };
	size_t first = b->len;

	if (s->lca == NONE)
		return;
	m = &d->merged.list.v[s->lca];
	if (s->is_one_sided) {
		put_name(d, s->side, m->at[s->side], b);
		return;
	}
	put_name(d, 0, m->at[0], b);
	put_name(d, 1, m->at[1], &two);
	if (!str_eq(
		(struct str){ b->p + first, b->len - first }, buf_str(&two))) {
		buf_puts(b, " | ");
		buf_put(b, two.p, two.len);
	}
	buf_free(&two);
}
