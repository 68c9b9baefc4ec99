/* SPDX-License-Identifier: MIT */
/*
 * Groups of calls with equal words. Members stand group by group, each group's
 * in their order, groups by their time downwards.
 */
#include <stdlib.h>

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

	memset(key, 0, KEY_WORDS * sizeof *key);
	key[n++] = c->origin;
	key[n++] = how->with_beside ? c->beside_names : 0;
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

/* The group of a key, made when missing. */
static size_t
find_group(struct bunches *gs, struct map *by_key, const uint64_t *key)
{
	uint64_t h = HASH_K0;

	for (size_t i = 0; i < KEY_WORDS; i++)
		h = hash_mix(h ^ key[i], HASH_K1 + i);
	/* the rare collision tries the next number */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(by_key, h, &is_new);

		if (is_new) {
			struct bunch *gr;

			*slot = gs->list.n;
			gr = vec_add(&gs->list);
			*gr = (struct bunch){ .all_uid = UINT64_MAX };
			memcpy(gr->key, key, sizeof gr->key);
			return *slot;
		}
		if (memcmp(gs->list.v[*slot].key, key,
			KEY_WORDS * sizeof *key) == 0)
			return *slot;
	}
}

/* ---- what differs in what ran beside only ---- */

static void
add_up_beside(struct bunches *gs)
{
	struct bunches all = { 0 };
	struct map by_key = { 0 };
	size_t *of = xmalloc((gs->list.n + 1) * sizeof *of);

	for (size_t i = 0; i < gs->list.n; i++) {
		const struct bunch *gr = &gs->list.v[i];
		uint64_t key[KEY_WORDS];
		struct bunch *to;

		memcpy(key, gr->key, sizeof key);
		key[1] = 0;
		of[i] = find_group(&all, &by_key, key);
		to = &all.list.v[of[i]];
		stat_add(&to->all_ns, gr->busy_ns);
		if (gr->all_uid < to->all_uid)
			to->all_uid = gr->all_uid;
	}
	for (size_t i = 0; i < gs->list.n; i++) {
		gs->list.v[i].all_ns = all.list.v[of[i]].all_ns;
		gs->list.v[i].all_uid = all.list.v[of[i]].all_uid;
	}
	free(of);
	map_free(&by_key);
	bunches_free(&all);
}

/* ---- order ---- */

static const struct roof_state *sorting; /* qsort() hands nothing through */
static const uint32_t *sorting_members;

static int
by_time(const void *x, const void *y)
{
	const struct bunch *a = x, *b = y;
	const struct call *c, *d;

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->all_ns != b->all_ns)
		return a->all_ns > b->all_ns ? -1 : 1;
	if (a->all_uid != b->all_uid)
		return a->all_uid < b->all_uid ? -1 : 1;
	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	c = &sorting->calls.v[sorting_members[a->first]];
	d = &sorting->calls.v[sorting_members[b->first]];
	if (c->uid.id != d->uid.id)
		return c->uid.id < d->uid.id ? -1 : 1;
	if (c->uid.inst != d->uid.inst)
		return c->uid.inst < d->uid.inst ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

void
bunches_of(struct bunches *gs, struct roof_state *g, const struct grouping *how)
{
	struct map by_key = { 0 };
	uint32_t *of = xmalloc((g->calls.n + 1) * sizeof *of);
	size_t at = 0;

	*gs = (struct bunches){ 0 };
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call *c = &g->calls.v[i];
		uint64_t key[KEY_WORDS];
		struct bunch *gr;

		if (c->table != how->table)
			continue;
		key_of(key, g, how, c);
		of[i] = (uint32_t)find_group(gs, &by_key, key);
		gr = &gs->list.v[of[i]];
		gr->n++;
		stat_add(&gr->busy_ns, c->busy_ns);
		if (gr->n == 1)
			gr->all_uid = c->uid.id;
	}
	map_free(&by_key);
	gs->members = xmalloc((g->calls.n + 1) * sizeof *gs->members);
	for (size_t i = 0; i < gs->list.n; i++) {
		gs->list.v[i].first = at;
		at += gs->list.v[i].n;
		gs->list.v[i].n = 0;
	}
	for (size_t i = 0; i < g->calls.n; i++) {
		struct bunch *gr;

		if (g->calls.v[i].table != how->table)
			continue;
		gr = &gs->list.v[of[i]];
		gs->members[gr->first + gr->n++] = (uint32_t)i;
	}
	free(of);
	add_up_beside(gs);
	sorting = g;
	sorting_members = gs->members;
	if (gs->list.n > 0)
		qsort(gs->list.v, gs->list.n, sizeof *gs->list.v, by_time);
}

const struct call *
bunch_call(const struct roof_state *g, const struct bunches *gs,
    const struct bunch *gr, size_t i)
{
	return &g->calls.v[gs->members[gr->first + i]];
}

void
bunches_free(struct bunches *gs)
{
	vec_free(&gs->list);
	free(gs->members);
}
