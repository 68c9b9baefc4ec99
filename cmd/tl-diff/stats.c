/* SPDX-License-Identifier: MIT */
/*
 * Each GPU event below a root, with the lowest point above it where the trees
 * differ. Where a merged node of both sides has children on one side only,
 * their GPU work belongs to the node; a pair of GPU events to itself.
 */
#include "cmd/tl-diff/events.h"
#include "trace/plain.h"
#include "trace/span.h"

struct finder {
	struct diff *d;
	VEC(uint8_t) done; /* by merged node: work is listed */
	u32s list;         /* GPU events of a point and side */
	struct spans busy;
	struct map busy_of; /* point and side that are emitted in parts */
};

static bool
on_gpu_path(const struct finder *f, int side, uint32_t at)
{
	return at != NONE &&
	    (node_of(f->d, side, at)->flags & NODE_GPU_PATH) != 0;
}

static bool
is_gpu(const struct finder *f, int side, uint32_t at)
{
	return at != NONE && is_gpu_kind(node_of(f->d, side, at)->kind);
}

/* Descendants of a node, then itself. */
static void
list_work(struct finder *f, int side, uint32_t at)
{
	forest_gpu_below(f->d->side[side], at, &f->list);
	if (is_gpu(f, side, at))
		vec_push(&f->list, at);
}

static int64_t
busy_time(struct finder *f, int side)
{
	f->busy.n = 0;
	for (size_t i = 0; i < f->list.n; i++) {
		const struct node *n = node_of(f->d, side, f->list.v[i]);

		spans_add(&f->busy, n->ts, node_end(n));
	}
	spans_normalise(&f->busy);
	return spans_total(&f->busy);
}

/* Makes rows of this point from the listed work. */
static void
emit(struct finder *f, int side, uint32_t lca, bool is_one_sided, int64_t busy)
{
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

/* Whether the trees differ here: a child on one side only has work. */
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

/*
 * A pair is a point if both are GPU events, or the trees differ there. Where
 * one side has no work, a GPU event of the other is its own point.
 */
static void
take_point(struct finder *f, uint32_t id, bool has_both)
{
	const struct merged *t = &f->d->merged;
	const struct merged_node *m = &t->list.v[id];
	bool parts = has_both && parts_here(f, id);

	if (has_both && !parts &&
	    (!is_gpu(f, 0, m->at[0]) || !is_gpu(f, 1, m->at[1])))
		return;
	for (int s = 0; s < NSIDES; s++) {
		for (uint32_t k = id + 1; k < m->behind && parts;
		     k = t->list.v[k].behind) {
			if (!is_only(&t->list.v[k], s) ||
			    !on_gpu_path(f, s, t->list.v[k].at[s]))
				continue;
			list_work(f, s, t->list.v[k].at[s]);
			f->done.v[k] = 1;
		}
		if (is_gpu(f, s, m->at[s]))
			vec_push(&f->list, m->at[s]);
		if (f->list.n > 0)
			emit(f, s, id, false, busy_time(f, s));
	}
}

/* Time in which any one-sided tree directly below a node ran. */
static int64_t
busy_below(struct finder *f, int side, uint32_t id)
{
	const struct merged *t = &f->d->merged;
	bool is_new;
	uint64_t *busy =
	    map_put(&f->busy_of, (uint64_t)id << 1 | (unsigned)side, &is_new);

	if (!is_new)
		return (int64_t)*busy;
	for (uint32_t k = id + 1; k < t->list.v[id].behind;
	     k = t->list.v[k].behind)
		if (is_only(&t->list.v[k], side))
			list_work(f, side, t->list.v[k].at[side]);
	*busy = (uint64_t)busy_time(f, side);
	f->list.n = 0;
	return (int64_t)*busy;
}

/* Emits each one-sided tree below a node at its place. */
static void
take_one_sided(struct finder *f, uint32_t id)
{
	const struct merged_node *m = &f->d->merged.list.v[id];
	int side = merged_type(m) == MERGED_ONE ? 0 : 1;
	int64_t busy = 0;

	if (f->done.v[id] || !on_gpu_path(f, side, m->at[side]))
		return;
	if (m->parent != NONE)
		busy = busy_below(f, side, m->parent);
	list_work(f, side, m->at[side]);
	emit(f, side, m->parent, true,
	    m->parent != NONE ? busy : busy_time(f, side));
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
		take_point(&f, id, a && b);
		id = a || b ? id + 1 : m->behind;
	}
	vec_free(&f.done);
	vec_free(&f.list);
	spans_free(&f.busy);
	map_free(&f.busy_of);
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
