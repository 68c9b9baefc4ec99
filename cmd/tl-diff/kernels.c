/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name.
 *
 * Sequences are paired like roots: first those of one kind with the same
 * kernels, then those of one kind. In a pair kernels are aligned; of what has
 * no partner then, equal names belong together, wherever they moved to, and a
 * stretch of one side, as long as that of the other between the same two
 * matches, is taken for kernels under new names.
 */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"
#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/sequences.h"
#include "trace/stat.h"

struct kernels *
kernels_create(struct settings *set, struct dict *st)
{
	struct kernels *k = xcalloc(1, sizeof *k);

	k->set = set;
	k->st = st;
	k->figures.set = set;
	k->figures.are_steps = set->per == PER_STEP;
	return k;
}

void
kernels_destroy(struct kernels *k)
{
	vec_free(&k->rows);
	map_free(&k->row_of);
	figures_free(&k->figures);
	streams_free(&k->streams);
	free(k);
}

/* ---- rows ---- */

static uint64_t
hash_row(const struct kernel_row *r)
{
	return hash_mix(
	    hash_mix(r->kind ^ HASH_K0, r->n[0] ^ HASH_K1), r->n[1] ^ HASH_K1);
}

static uint32_t
row_number(struct kernels *k, const struct kernel_row *want)
{
	/* steps are of one sort, and so are runs; sequences of their kind */
	uint32_t group = k->set->per == PER_STEP ? 0 : want->kind;

	for (uint64_t h = hash_row(want);; h++) {
		bool is_new;
		uint64_t *slot = map_put(&k->row_of, h, &is_new);
		const struct kernel_row *r;

		if (is_new) {
			*slot = figures_row(&k->figures, group);
			vec_push(&k->rows, *want);
		}
		r = &k->rows.v[*slot];
		if (r->kind == want->kind && r->n[0] == want->n[0] &&
		    r->n[1] == want->n[1])
			return (uint32_t)*slot;
	}
}

/* Two sequences, or one: what is not there is NULL. */
struct match {
	const struct line_up *l;
	const struct sequence *seq[NSIDES];
	const bool *fresh;
};

/* In which sample of its run an event's time is. */
static int64_t
sample_of(
    const struct kernels *k, const struct sequence *s, const struct gpu *g)
{
	if (k->set->per == PER_STEP)
		return g->step;
	return s->unit != 0 ? (int64_t)s->unit : WALK_NO_STEP;
}

static void
tell(struct tally *t, int side, int64_t ns)
{
	t->n[side]++;
	stat_add(&t->ns[side], ns);
}

static void
pair_streams(
    struct kernels *k, const struct match *m, const uint32_t at[NSIDES])
{
	const struct run *run[NSIDES];
	uint32_t node[NSIDES];

	for (int s = 0; s < NSIDES; s++) {
		run[s] = m->l[s].run;
		node[s] = gpu_at(&m->l[s], m->seq[s], at[s])->node;
	}
	streams_pair(&k->streams, run, node);
}

/* A pair of GPU events, or one. */
static void
add_pair(struct kernels *k, const struct match *m, struct pair p)
{
	const uint32_t at[NSIDES] = { p.a, p.b };
	const struct node *node[NSIDES] = { NULL, NULL };
	struct kernel_row want = { .kind = m->seq[m->seq[0] == NULL]->kind };
	bool is_alone = p.a == NONE || p.b == NONE;
	uint32_t row;

	for (int s = 0; s < NSIDES; s++)
		if (at[s] != NONE)
			node[s] = node_at(&m->l[s], m->seq[s], at[s]);
	for (int s = 0; s < NSIDES; s++) {
		/* what has one name has one row, on whatever side it is */
		const struct node *n = node[s] != NULL ? node[s] : node[!s];

		want.n[s] = n->sym;
		want.name[s] = n->name;
	}
	row = row_number(k, &want);
	for (int s = 0; s < NSIDES; s++) {
		struct kernel_row *r = &k->rows.v[row];
		struct example *ex = &r->example[s];

		if (node[s] == NULL || !m->fresh[s])
			continue;
		if (!ex->is_set || (is_alone && !ex->is_alone))
			*ex = (struct example){ true, is_alone,
				{ node[s]->id, node[s]->inst } };
		figures_add(&k->figures, row, s,
		    sample_of(k, m->seq[s], gpu_at(&m->l[s], m->seq[s], at[s])),
		    node[s]->dur, is_alone);
		if (m->seq[!s] == NULL)
			tell(&k->alone, s, node[s]->dur);
		else if (is_alone)
			tell(&k->unpaired, s, node[s]->dur);
		else if (node[0]->n != node[1]->n)
			tell(&k->renamed, s, node[s]->dur);
	}
	if (!is_alone && m->fresh[0])
		pair_streams(k, m, at);
}

/* ---- pairs of sequences ---- */

static void
push_names(const struct line_up *l, const struct sequence *s, u32s *sym)
{
	for (uint32_t i = 0; i < s->n; i++)
		vec_push(sym, node_at(l, s, i)->sym);
}

/* Places on one side only, in order, of each name: a queue. */
struct queue {
	u32s places;
	size_t next;
};

/* What moved: one side has it here, the other there. */
static void
pair_moved(const pairs *p, const u32s sym[NSIDES], pairs *moved)
{
	struct map of = { 0 }; /* name to its queue */
	VEC(struct queue) queues = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		bool is_new;
		uint64_t *slot;

		if (p->v[i].a != NONE)
			continue;
		slot = map_put(&of, sym[1].v[p->v[i].b], &is_new);
		if (is_new) {
			*slot = queues.n;
			vec_push(&queues, ((struct queue){ { 0 }, 0 }));
		}
		vec_push(&queues.v[*slot].places, p->v[i].b);
	}
	for (size_t i = 0; i < p->n; i++) {
		const uint64_t *slot;
		struct queue *q;

		if (p->v[i].b != NONE || p->v[i].a == NONE)
			continue;
		slot = map_get(&of, sym[0].v[p->v[i].a]);
		q = slot != NULL ? &queues.v[*slot] : NULL;
		if (q != NULL && q->next < q->places.n)
			vec_push(moved,
			    ((struct pair){
				p->v[i].a, q->places.v[q->next++] }));
	}
	for (size_t i = 0; i < queues.n; i++)
		vec_free(&queues.v[i].places);
	vec_free(&queues);
	map_free(&of);
}

/* Stretches under new names; what moved stands in none of them. */
static void
pair_renamed(pairs *p, const u32s sym[NSIDES], const pairs *moved)
{
	u32s left[NSIDES] = { { 0 }, { 0 } }; /* places that did not move */
	u32s to[NSIDES] = { { 0 }, { 0 } };   /* places in left, NONE: moved */
	size_t n = 0;

	for (int s = 0; s < NSIDES; s++) {
		for (size_t i = 0; i < sym[s].n; i++)
			vec_push(&to[s], 0);
		for (size_t i = 0; i < moved->n; i++)
			to[s].v[s == 0 ? moved->v[i].a : moved->v[i].b] = NONE;
		for (uint32_t i = 0; i < to[s].n; i++) {
			if (to[s].v[i] == NONE)
				continue;
			to[s].v[i] = (uint32_t)left[s].n;
			vec_push(&left[s], i);
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		struct pair x = p->v[i];

		x.a = x.a == NONE ? NONE : to[0].v[x.a];
		x.b = x.b == NONE ? NONE : to[1].v[x.b];
		if (x.a != NONE || x.b != NONE)
			p->v[n++] = x;
	}
	p->n = n;
	pairs_between(p, left[0].n, left[1].n);
	for (size_t i = 0; i < p->n; i++) {
		struct pair *x = &p->v[i];

		x->a = x->a == NONE ? NONE : left[0].v[x->a];
		x->b = x->b == NONE ? NONE : left[1].v[x->b];
	}
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&left[s]);
		vec_free(&to[s]);
	}
}

static void
add_sequences(struct kernels *k, const struct match *m)
{
	u32s sym[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 }, moved = { 0 };

	for (int s = 0; s < NSIDES; s++)
		if (m->seq[s] != NULL)
			push_names(&m->l[s], m->seq[s], &sym[s]);
	align_lists(sym, lists_turned(k->st, sym), &p);
	pair_moved(&p, sym, &moved);
	pair_renamed(&p, sym, &moved);
	for (size_t i = 0; i < p.n; i++)
		add_pair(k, m, p.v[i]);
	for (size_t i = 0; i < moved.n; i++)
		add_pair(k, m, moved.v[i]);
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
pair_round(struct kernels *k, const struct line_up l[NSIDES],
    u32s places[NSIDES], bool with_kernels, const bool fresh[NSIDES])
{
	u32s sym[NSIDES] = { { 0 }, { 0 } }, left[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 };
	bool turned;

	name_sequences(l, places, sym);
	turned = lists_turned(k->st, sym);
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
		k->npaired++;
		add_sequences(k, &m);
	}
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&places[s]);
		places[s] = left[s];
		vec_free(&sym[s]);
	}
	vec_free(&p);
}

static void
add_alone(struct kernels *k, const struct line_up l[NSIDES], int side,
    const u32s *places, const bool fresh[NSIDES])
{
	struct match m = { l, { NULL, NULL }, fresh };

	for (size_t i = 0; i < places->n; i++) {
		m.seq[side] = &l[side].list.v[places->v[i]];
		add_sequences(k, &m);
	}
}

void
kernels_add(struct kernels *k, const struct run *const side[NSIDES],
    const bool fresh[NSIDES])
{
	struct line_up l[NSIDES] = { { 0 }, { 0 } };
	u32s places[NSIDES] = { { 0 }, { 0 } };

	line_up_pair(l, side, k->st, k->set->per == PER_STEP);
	for (int s = 0; s < NSIDES; s++) {
		for (uint32_t i = 0; i < l[s].list.n; i++)
			vec_push(&places[s], i);
		k->nsequences[s] += fresh[s] ? l[s].list.n : 0;
		if (fresh[s])
			figures_start_run(&k->figures, s);
	}
	pair_round(k, l, places, true, fresh);
	pair_round(k, l, places, false, fresh);
	for (int s = 0; s < NSIDES; s++) {
		add_alone(k, l, s, &places[s], fresh);
		vec_free(&places[s]);
		if (fresh[s])
			figures_end_run(&k->figures, s, side[s]);
	}
	streams_finish(&k->streams);
	line_up_free(l);
}

void
kernels_finish(struct kernels *k)
{
	figures_finish(&k->figures);
}
