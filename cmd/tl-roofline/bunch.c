/* SPDX-License-Identifier: MIT */
/* Groups of calls with equal words, and their order. */
#include "cmd/tl-roofline/roof.h"

/* The text of all parameters, by number; ops that failed have their own. */
static uint32_t
params_of(struct roof_state *g, const struct call *c)
{
	struct buf b = { 0 };
	uint32_t at;

	if (c->res == NULL)
		return INTERN_NONE;
	at = c->res->number;
	while (g->params.n <= at)
		vec_push(&g->params, INTERN_NONE);
	if (g->params.v[at] == INTERN_NONE) {
		model_params_json(&b, c->res);
		if (c->res->status != MODEL_OK)
			buf_printf(&b, "%u", (unsigned)at);
		g->params.v[at] = intern_put(g->strings->text, buf_str(&b));
		buf_free(&b);
	}
	return g->params.v[at];
}

static void
key_of(uint64_t *key, struct roof_state *g, const struct grouping *how,
    const struct call *c)
{
	struct track_names names;
	size_t n = 0;

	memset(key, 0, BUNCH_WORDS * sizeof *key);
	key[n++] = c->origin;
	key[n++] = how->with_beside ? c->beside.names : 0;
	key[n++] = how->with_recompute && c->is_recompute;
	key[n++] = how->with_num_kernels ? c->nkernels : 0;
	key[n++] = c->name;
	if (how->by_params) {
		key[n++] = params_of(g, c);
		return;
	}
	names = names_of(g->names, c->track);
	key[n++] = c->category;
	key[n++] = names.process;
	key[n++] = names.label;
	key[n++] = names.thread;
	key[n++] = c->args.dims;
	key[n++] = c->args.types;
	key[n++] = c->args.strides;
	key[n++] = c->args.concrete;
}

/* ---- what differs in what ran beside only ---- */

static void
add_up_beside(struct bunches *gs)
{
	struct bunches all = { 0 };

	/* the sums are whole after the first time */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < gs->list.n; i++) {
			struct bunch *gr = &gs->list.v[i], *to;
			uint64_t key[BUNCH_WORDS];

			memcpy(key, gr->key, sizeof key);
			key[1] = 0;
			to = bunches_of_key(&all, key);
			if (pass == 1) {
				gr->sums[SUM_ALL] = to->sums[SUM_ALL];
				gr->least = to->least;
				continue;
			}
			stat_add(&to->sums[SUM_ALL], gr->sums[SUM_BUSY]);
			if (gr->least < to->least)
				to->least = gr->least;
		}
	bunches_free(&all);
}

/* ---- order ---- */

static int
by_time(const void *arg, const struct bunches *gs, const struct bunch *a,
    const struct bunch *b)
{
	const struct roof_state *g = arg;
	const struct call *x, *y;
	int c;

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->sums[SUM_ALL] != b->sums[SUM_ALL])
		return a->sums[SUM_ALL] > b->sums[SUM_ALL] ? -1 : 1;
	if (a->least != b->least)
		return a->least < b->least ? -1 : 1;
	if (a->sums[SUM_BUSY] != b->sums[SUM_BUSY])
		return a->sums[SUM_BUSY] > b->sums[SUM_BUSY] ? -1 : 1;
	x = &g->calls.v[bunch_member(gs, a, 0)];
	y = &g->calls.v[bunch_member(gs, b, 0)];
	c = uid_cmp(x->uid, y->uid);
	return c != 0 ? c : (a->first > b->first) - (a->first < b->first);
}

void
roof_group(struct bunches *gs, struct roof_state *g, const struct grouping *how)
{
	struct extent e = calls_of(g, how->table);

	*gs = (struct bunches){ .base = e.first };
	for (size_t i = e.first; i < e.end; i++) {
		const struct call *c = &g->calls.v[i];
		uint64_t key[BUNCH_WORDS];
		struct bunch *gr;

		if (c->table != how->table) {
			bunches_skip(gs);
			continue;
		}
		key_of(key, g, how, c);
		gr = bunches_add(gs, key);
		stat_add(&gr->sums[SUM_BUSY], c->busy_ns);
		if (gr->n == 1)
			gr->least = c->uid.id;
	}
	if (how->with_beside)
		add_up_beside(gs);
	else
		for (size_t i = 0; i < gs->list.n; i++)
			gs->list.v[i].sums[SUM_ALL] =
			    gs->list.v[i].sums[SUM_BUSY];
	bunches_finish(gs, by_time, g);
}
