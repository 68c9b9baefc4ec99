/* SPDX-License-Identifier: MIT */
/*
 * Groups of calls with equal words. Members stand group by group, each group's
 * in the order of time, groups by their time downwards.
 */
#include <stdlib.h>

#include "cmd/tl-ops/ops.h"

/* What the word at i of a key is depends on the grouping alone. */
static void
key_of(uint64_t *key, const struct ops *g, const struct grouping *how,
    const struct call *c)
{
	struct track_names names;
	size_t n = 0;

	memset(key, 0, KEY_WORDS * sizeof *key);
	key[n++] = c->origin;
	key[n++] = how->with_recompute && c->is_recompute;
	key[n++] = how->with_num_kernels ? c->nkernels : 0;
	key[n++] = how->with_beside ? c->beside_names : 0;
	switch (how->by) {
	case BY_CATEGORY: key[n++] = c->category; break;
	case BY_NAME: key[n++] = c->name; break;
	case BY_ARGS:
		names = names_of(g->names, c->track);
		key[n++] = c->name;
		key[n++] = c->category;
		key[n++] = names.process;
		key[n++] = names.label;
		key[n++] = names.thread;
		key[n++] = c->args.dims;
		key[n++] = c->args.types;
		key[n++] = c->args.strides;
		key[n++] = c->args.concrete;
		break;
	case BY_MODULE: key[n++] = c->module; break;
	case BY_ANNOTATION: key[n++] = c->annotation; break;
	case BY_STEP: key[n++] = (uint64_t)c->step; break;
	case BY_THREAD:
		names = names_of(g->names, c->track);
		key[n++] = names.process;
		key[n++] = names.label;
		key[n++] = names.thread;
		break;
	case BY_COUNT: break;
	}
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
			*gr = (struct bunch){ .n = 0 };
			memcpy(gr->key, key, sizeof gr->key);
			return *slot;
		}
		if (memcmp(gs->list.v[*slot].key, key,
			KEY_WORDS * sizeof *key) == 0)
			return *slot;
	}
}

static void
add_call(struct bunch *gr, const struct call *c)
{
	gr->n++;
	stat_add(&gr->direct_ns, c->direct_ns);
	stat_add(&gr->subtree_ns, c->subtree_ns);
	stat_add(&gr->self_ns, c->self_ns);
	stat_add(&gr->total_ns, c->total_ns);
}

/* ---- order ---- */

/* qsort() hands nothing through. */
static const struct ops *sorting;
static const struct grouping *sorting_how;
static const uint32_t *sorting_members;

static int
cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
cmp_text(uint64_t a, uint64_t b)
{
	return str_cmp(strings_get(sorting->strings, (uint32_t)a),
	    strings_get(sorting->strings, (uint32_t)b));
}

/* The sum that the table is about, downwards. */
static int64_t
rank_of(const struct bunch *gr)
{
	if (sorting->set->clock == CLOCK_CPU)
		return gr->self_ns;
	return sorting_how->all_ops ? gr->subtree_ns : gr->direct_ns;
}

static int
cmp_keys(const struct bunch *a, const struct bunch *b)
{
	const struct call *x, *y;

	switch (sorting_how->by) {
	case BY_CATEGORY:
	case BY_NAME:
	case BY_MODULE: return cmp_text(a->key[4], b->key[4]);
	default: break;
	}
	/* the earliest call: its uid is the example */
	x = &sorting->calls.v[sorting_members[a->first]];
	y = &sorting->calls.v[sorting_members[b->first]];
	if (x->uid.id != y->uid.id)
		return x->uid.id < y->uid.id ? -1 : 1;
	return (x->uid.inst > y->uid.inst) - (x->uid.inst < y->uid.inst);
}

static int
by_rank(const void *x, const void *y)
{
	const struct bunch *a = x, *b = y;
	int c = cmp_i64((int64_t)a->key[0], (int64_t)b->key[0]);

	if (c == 0 && sorting_how->by == BY_STEP)
		/* in the order of the steps, those in none last */
		c = cmp_i64((int64_t)(a->key[4] - 1) & INT64_MAX,
		    (int64_t)(b->key[4] - 1) & INT64_MAX);
	if (c == 0)
		c = cmp_i64(rank_of(b), rank_of(a));
	if (c == 0)
		c = cmp_keys(a, b);
	return c != 0 ? c : cmp_i64((int64_t)a->key[1], (int64_t)b->key[1]);
}

/* ---- all of it ---- */

static bool
is_member(const struct call *c, const struct grouping *how)
{
	if (how->only_ops && !c->is_op)
		return false;
	return how->all_ops || c->nkernels > 0;
}

void
bunches_of(struct bunches *gs, const struct ops *g, const struct grouping *how)
{
	struct map by_key = { 0 };
	uint32_t *of = xmalloc((g->calls.n + 1) * sizeof *of);
	uint64_t key[KEY_WORDS];
	size_t at = 0;

	*gs = (struct bunches){ .members = NULL };
	if (g->calls.n >= UINT32_MAX)
		die("more than %u calls of ops", UINT32_MAX - 1);
	for (size_t i = 0; i < g->calls.n; i++) {
		of[i] = UINT32_MAX;
		if (!is_member(&g->calls.v[i], how))
			continue;
		key_of(key, g, how, &g->calls.v[i]);
		of[i] = (uint32_t)find_group(gs, &by_key, key);
		add_call(&gs->list.v[of[i]], &g->calls.v[i]);
	}
	map_free(&by_key);
	gs->members = xmalloc((g->calls.n + 1) * sizeof *gs->members);
	for (size_t i = 0; i < gs->list.n; i++) {
		gs->list.v[i].first = at;
		at += gs->list.v[i].n;
		gs->list.v[i].n = 0;
	}
	for (size_t i = 0; i < g->calls.n; i++)
		if (of[i] != UINT32_MAX) {
			struct bunch *gr = &gs->list.v[of[i]];

			gs->members[gr->first + gr->n++] = (uint32_t)i;
		}
	free(of);
	sorting = g;
	sorting_how = how;
	sorting_members = gs->members;
	if (gs->list.n > 0)
		qsort(gs->list.v, gs->list.n, sizeof *gs->list.v, by_rank);
}

const struct call *
bunch_call(const struct ops *g, const struct bunches *gs,
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
