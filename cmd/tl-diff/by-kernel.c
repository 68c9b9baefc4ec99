/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name, where there are no ops to compare.
 *
 * Sequences are paired like roots: first those of one kind with the same
 * kernels, then those of one kind. In a pair kernels are aligned; of what has
 * no partner then, equal names belong together, wherever they moved to, and a
 * stretch of one side, as long as that of the other between the same two
 * matches, is taken for kernels under new names.
 */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"
#include "cmd/tl-diff/changes.h"
#include "cmd/tl-diff/events.h"
#include "cmd/tl-diff/sequences.h"

/* ---- rows ---- */

/* Two sequences, or one: what is not there is NULL. */
struct match {
	const struct line_up *l;
	const struct sequence *seq[NSIDES];
	const bool *fresh;
};

/* In which sample of its run an event's time is. */
static int64_t
sample_of(
    const struct changes *c, const struct sequence *s, const struct gpu *g)
{
	if (c->set->per == PER_STEP)
		return g->step;
	return s->unit != 0 ? (int64_t)s->unit : WALK_NO_STEP;
}

static void
pair_streams(
    struct changes *c, const struct match *m, const uint32_t at[NSIDES])
{
	const struct side *side[NSIDES];
	uint32_t node[NSIDES];

	for (int s = 0; s < NSIDES; s++) {
		side[s] = m->l[s].side;
		node[s] = gpu_at(&m->l[s], m->seq[s], at[s])->node;
	}
	streams_pair(c, side, node);
}

/* The event of a side: of its row, and told. */
static void
add_side(struct changes *c, const struct match *m, int side, uint32_t row,
    const struct pair *p, bool is_renamed)
{
	uint32_t at = side == 0 ? p->a : p->b;
	bool is_alone = p->a == NONE || p->b == NONE;
	struct example *ex = &c->rows.v[row].example[side];
	const struct gpu *g = gpu_at(&m->l[side], m->seq[side], at);
	const struct node *n = &m->l[side].side->nodes.v[g->node];

	if (!ex->is_set || (is_alone && !ex->is_alone))
		*ex = (struct example){ true, is_alone, { n->id, n->inst } };
	changes_add(
	    c, row, side, sample_of(c, m->seq[side], g), n->dur, is_alone);
	if (m->seq[!side] == NULL)
		changes_tell(c, TALLY_ONLY, side, n->dur);
	else if (is_alone)
		changes_tell(c, TALLY_UNPAIRED, side, n->dur);
	else if (is_renamed)
		changes_tell(c, TALLY_RENAMED, side, n->dur);
}

/* A pair of GPU events, or one. */
static void
add_pair(struct changes *c, const struct match *m, struct pair p)
{
	const uint32_t at[NSIDES] = { p.a, p.b };
	const struct node *node[NSIDES] = { NULL, NULL };
	const struct op_args *none = args_of_node(m->l[0].side, NONE);
	struct change_key key = { m->seq[m->seq[0] == NULL]->kind, { 0 },
		{ *none, *none } };
	uint32_t row, name[NSIDES];

	for (int s = 0; s < NSIDES; s++)
		if (at[s] != NONE)
			node[s] = node_at(&m->l[s], m->seq[s], at[s]);
	for (int s = 0; s < NSIDES; s++) {
		/* what has one name has one row, on whatever side it is */
		const struct node *n = node[s] != NULL ? node[s] : node[!s];

		key.n[s] = n->sym;
		name[s] = n->name;
	}
	row = changes_row(c, &key, name);
	for (int s = 0; s < NSIDES; s++)
		if (node[s] != NULL && m->fresh[s])
			add_side(c, m, s, row, &p,
			    node[!s] != NULL && node[0]->n != node[1]->n);
	if (node[0] != NULL && node[1] != NULL && m->fresh[0])
		pair_streams(c, m, at);
}

/* ---- pairs of sequences ---- */

static void
push_names(const struct line_up *l, const struct sequence *s, u32s *sym)
{
	for (uint32_t i = 0; i < s->n; i++)
		vec_push(sym, node_at(l, s, i)->sym);
}

static void
add_sequences(struct changes *c, const struct match *m)
{
	u32s sym[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 }, moved = { 0 };

	for (int s = 0; s < NSIDES; s++)
		if (m->seq[s] != NULL)
			push_names(&m->l[s], m->seq[s], &sym[s]);
	align_lists(sym, lists_turned(c->dict, sym), &p);
	pairs_moved(&p, sym, &moved);
	pairs_renamed(&p);
	for (size_t i = 0; i < p.n; i++)
		add_pair(c, m, p.v[i]);
	for (size_t i = 0; i < moved.n; i++)
		add_pair(c, m, moved.v[i]);
	vec_free(&moved);
	for (int s = 0; s < NSIDES; s++)
		vec_free(&sym[s]);
	vec_free(&p);
}

/* Numbers for (kind, kernels), or for kinds alone. */
static void
number_sequences(const struct line_up l[NSIDES], const u32s *places,
    bool with_kernels, u32s *sym)
{
	struct map numbers = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		sym[s].n = 0;
		for (size_t i = 0; i < places[s].n; i++) {
			const struct sequence *q = &l[s].list.v[places[s].v[i]];
			uint64_t h = hash_mix(q->kind ^ HASH_K0,
			    with_kernels ? q->hash : HASH_K1);
			bool is_new;
			uint64_t *slot = map_put(&numbers, h, &is_new);

			if (is_new)
				*slot = numbers.n;
			vec_push(&sym[s], (uint32_t)*slot);
		}
	}
	map_free(&numbers);
}

/* All that sequences are told apart by. */
static void
name_sequences(const struct line_up l[NSIDES], const u32s *places, u32s *names)
{
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < places[s].n; i++) {
			const struct sequence *q = &l[s].list.v[places[s].v[i]];

			vec_push(&names[s], q->kind);
			push_names(&l[s], q, &names[s]);
		}
}

/* What stands alone goes on to the next round. */
static void
pair_round(struct changes *c, const struct line_up l[NSIDES],
    u32s places[NSIDES], bool with_kernels, const bool fresh[NSIDES])
{
	u32s sym[NSIDES] = { { 0 }, { 0 } }, left[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 };
	bool turned;

	name_sequences(l, places, sym);
	turned = lists_turned(c->dict, sym);
	number_sequences(l, places, with_kernels, sym);
	align_lists(sym, turned, &p);
	for (size_t i = 0; i < p.n; i++) {
		uint32_t a = p.v[i].a == NONE ? NONE : places[0].v[p.v[i].a];
		uint32_t b = p.v[i].b == NONE ? NONE : places[1].v[p.v[i].b];
		struct match m = { l, { NULL, NULL }, fresh };

		if (a == NONE) {
			vec_push(&left[1], b);
			continue;
		}
		if (b == NONE) {
			vec_push(&left[0], a);
			continue;
		}
		m.seq[0] = &l[0].list.v[a];
		m.seq[1] = &l[1].list.v[b];
		c->npaired++;
		add_sequences(c, &m);
	}
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&places[s]);
		places[s] = left[s];
		vec_free(&sym[s]);
	}
	vec_free(&p);
}

static void
add_alone(struct changes *c, const struct line_up l[NSIDES], int side,
    const u32s *places, const bool fresh[NSIDES])
{
	struct match m = { l, { NULL, NULL }, fresh };

	for (size_t i = 0; i < places->n; i++) {
		m.seq[side] = &l[side].list.v[places->v[i]];
		add_sequences(c, &m);
	}
}

void
kernels_add(struct changes *c, const struct side *const side[NSIDES],
    const bool fresh[NSIDES])
{
	struct line_up l[NSIDES] = { { 0 }, { 0 } };
	u32s places[NSIDES] = { { 0 }, { 0 } };

	line_up_pair(l, side, c->dict, c->set->per == PER_STEP);
	for (int s = 0; s < NSIDES; s++) {
		for (uint32_t i = 0; i < l[s].list.n; i++)
			vec_push(&places[s], i);
		c->nsequences[s] += fresh[s] ? l[s].list.n : 0;
		if (fresh[s])
			changes_start_run(c, s);
	}
	pair_round(c, l, places, true, fresh);
	pair_round(c, l, places, false, fresh);
	for (int s = 0; s < NSIDES; s++) {
		add_alone(c, l, s, &places[s], fresh);
		vec_free(&places[s]);
		if (fresh[s])
			changes_end_run(c, s, side[s]);
	}
	streams_finish(c);
	line_up_free(l);
}
