/* SPDX-License-Identifier: MIT */
/* Groups of calls with equal words, and their order. */
#include "cmd/tl-roofline/roof.h"
#include "trace/stat.h"

/* The text of all parameters, by number; ops that failed have their own. */
uint32_t
params_of(struct roof_state *g, const struct model_result *res)
{
	struct buf b = { 0 };
	uint32_t at;

	if (res == NULL)
		return INTERN_NONE;
	at = res->number;
	while (g->params.n <= at)
		vec_push(&g->params, INTERN_NONE);
	if (g->params.v[at] == INTERN_NONE) {
		model_params_json(&b, res);
		if (res->status != MODEL_OK)
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

	memset(key, 0, SINK_GROUP_WORDS * sizeof *key);
	key[n++] = c->source;
	key[n++] = how->with_overlap ? c->overlap.names : 0;
	key[n++] = how->with_recompute && c->is_recompute;
	key[n++] = how->with_num_kernels ? c->nkernels : 0;
	key[n++] = c->name;
	if (how->by_params) {
		key[n++] = params_of(g, c->res);
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

/* ---- what differs in the overlap only ---- */

static void
add_up_overlaps(struct sink_groups *gs)
{
	struct sink_groups all = { 0 };

	/* the sums are whole after the first time */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < gs->list.n; i++) {
			struct sink_group *gr = &gs->list.v[i], *to;
			uint64_t key[SINK_GROUP_WORDS];

			memcpy(key, gr->key, sizeof key);
			key[1] = 0;
			to = sink_groups_of_key(&all, key);
			if (pass == 1) {
				gr->sums[SUM_ALL] = to->sums[SUM_ALL];
				gr->least = to->least;
				continue;
			}
			stat_add(&to->sums[SUM_ALL], gr->sums[SUM_BUSY]);
			if (gr->least < to->least)
				to->least = gr->least;
		}
	sink_groups_free(&all);
}

/* ---- order ---- */

static int
by_time(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
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
	x = &g->calls.v[sink_group_member(gs, a, 0)];
	y = &g->calls.v[sink_group_member(gs, b, 0)];
	c = uid_cmp(x->uid, y->uid);
	return c != 0 ? c : (a->first > b->first) - (a->first < b->first);
}

void
roof_group(
    struct sink_groups *gs, struct roof_state *g, const struct grouping *how)
{
	struct extent e = calls_of(g, how->table);

	*gs = (struct sink_groups){ .base = e.first };
	for (size_t i = e.first; i < e.end; i++) {
		const struct call *c = &g->calls.v[i];
		uint64_t key[SINK_GROUP_WORDS];
		struct sink_group *gr;

		if (c->table != how->table) {
			sink_groups_skip(gs);
			continue;
		}
		key_of(key, g, how, c);
		gr = sink_groups_add(gs, key);
		stat_add(&gr->sums[SUM_BUSY], c->busy_ns);
		if (gr->n == 1)
			gr->least = c->uid.id;
	}
	if (how->with_overlap)
		add_up_overlaps(gs);
	else
		for (size_t i = 0; i < gs->list.n; i++)
			gs->list.v[i].sums[SUM_ALL] =
			    gs->list.v[i].sums[SUM_BUSY];
	sink_groups_finish(gs, by_time, g);
}
