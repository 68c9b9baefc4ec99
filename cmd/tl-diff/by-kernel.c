/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name, where there are no ops to compare.
 *
 * Sequences are paired like roots: those of one kind with the same kernels,
 * then those of one kind. In each pair kernels are aligned. Equal names among
 * the unmatched match, wherever they moved; a stretch of one side that is as
 * long as the other's between the same two matches is taken for renamed
 * kernels.
 */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"
#include "cmd/tl-diff/changes.h"
#include "cmd/tl-diff/events.h"
#include "cmd/tl-diff/sequences.h"

/* ---- rows ---- */

/* Two sequences, or one; NULL: missing. */
struct match {
	const struct line_up *l;
	const struct sequence *seq[NSIDES];
	const bool *fresh;
};

/* Sample of an event in its run. */
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

/* Adds a side's event to its row and to the remarks. */
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
	struct change_key key = { .kind = m->seq[m->seq[0] == NULL]->kind,
		.args = { *none, *none } };
	uint32_t row, name[NSIDES];

	for (int s = 0; s < NSIDES; s++)
		if (at[s] != NONE)
			node[s] = node_at(&m->l[s], m->seq[s], at[s]);
	key.family = family_of(node[node[0] == NULL]);
	for (int s = 0; s < NSIDES; s++) {
		/* equal names share a row, whatever the side */
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

/*
 * Pairs sequences of one kind, with the same kernels or with any; the last
 * round adds unpaired ones, too.
 */
static void
pair_round(struct changes *c, struct line_up l[NSIDES], bool is_last,
    const bool fresh[NSIDES])
{
	u32s sym[NSIDES] = { { 0 }, { 0 } }, places[NSIDES] = { { 0 }, { 0 } };
	u64s hash[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 };
	bool turned;

	for (int s = 0; s < NSIDES; s++)
		for (uint32_t i = 0; i < l[s].list.n; i++) {
			const struct sequence *q = &l[s].list.v[i];

			if (q->is_paired)
				continue;
			vec_push(&places[s], i);
			vec_push(&hash[s],
			    hash_mix(q->kind ^ HASH_K0,
				is_last ? HASH_K1 : q->hash));
			vec_push(&sym[s], q->kind);
			push_names(&l[s], q, &sym[s]);
		}
	turned = lists_turned(c->dict, sym);
	symbols_of_hashes(hash, sym);
	align_lists(sym, turned, &p);
	for (size_t i = 0; i < p.n; i++) {
		struct sequence *q[NSIDES] = { NULL, NULL };

		if (p.v[i].a != NONE)
			q[0] = &l[0].list.v[places[0].v[p.v[i].a]];
		if (p.v[i].b != NONE)
			q[1] = &l[1].list.v[places[1].v[p.v[i].b]];
		if (q[0] != NULL && q[1] != NULL) {
			q[0]->is_paired = q[1]->is_paired = true;
			c->npaired++;
		} else if (!is_last) {
			continue;
		}
		add_sequences(c, &(struct match){ l, { q[0], q[1] }, fresh });
	}
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&places[s]);
		vec_free(&hash[s]);
		vec_free(&sym[s]);
	}
	vec_free(&p);
}

void
kernels_add(struct changes *c, const struct side *const side[NSIDES],
    const bool fresh[NSIDES])
{
	struct line_up l[NSIDES] = { { 0 }, { 0 } };

	line_up_pair(l, side, c->dict, c->set->per == PER_STEP);
	for (int s = 0; s < NSIDES; s++)
		if (fresh[s]) {
			c->nsequences[s] += l[s].list.n;
			c->unit[s].nruns++;
		}
	pair_round(c, l, false, fresh);
	pair_round(c, l, true, fresh);
	for (int s = 0; s < NSIDES; s++)
		if (fresh[s])
			changes_end_run(c, s, side[s]);
	streams_finish(c);
	line_up_free(l);
}
