/* SPDX-License-Identifier: MIT */
/* Groups of calls with equal words, and their order. */
#include "cmd/tl-ops/ops.h"
#include "trace/stat.h"

/* What the word at i of a key is depends on the grouping alone. */
static void
key_of(uint64_t *key, const struct ops *g, const struct grouping *how,
    const struct call *c)
{
	struct track_names names;
	size_t n = 0;

	memset(key, 0, SINK_GROUP_WORDS * sizeof *key);
	key[n++] = c->source;
	key[n++] = how->with_recompute && c->is_recompute;
	key[n++] = how->with_num_kernels ? c->nkernels : 0;
	key[n++] = how->with_overlap ? c->overlap.names : 0;
	key[SINK_GROUP_WORDS - 1] = how->with_module ? c->parent_module : 0;
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

/* ---- order ---- */

struct order {
	const struct ops *g;
	const struct grouping *how;
};

static int
cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* In their order, those in none last. */
static int
cmp_steps(int64_t a, int64_t b)
{
	if ((a == WALK_NO_STEP) != (b == WALK_NO_STEP))
		return a == WALK_NO_STEP ? 1 : -1;
	return cmp_i64(a, b);
}

static int
cmp_text(const struct ops *g, uint64_t a, uint64_t b)
{
	return str_cmp(strings_get(g->strings, (uint32_t)a),
	    strings_get(g->strings, (uint32_t)b));
}

/* The sum that the table is about, downwards. */
static int64_t
rank_of(const struct order *o, const struct sink_group *gr)
{
	if (o->g->set->clock == CLOCK_CPU)
		return gr->sums[SUM_SELF];
	return gr->sums[o->how->all_ops ? SUM_SUBTREE : SUM_DIRECT];
}

static int
cmp_keys(const struct order *o, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct call *x, *y;

	switch (o->how->by) {
	case BY_CATEGORY:
	case BY_NAME:
	case BY_MODULE: return cmp_text(o->g, a->key[4], b->key[4]);
	default: break;
	}
	/* the earliest call: its uid is the example */
	x = &o->g->calls.v[sink_group_member(gs, a, 0)];
	y = &o->g->calls.v[sink_group_member(gs, b, 0)];
	return uid_cmp(x->uid, y->uid);
}

static int
by_rank(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct order *o = arg;
	int c = cmp_i64((int64_t)a->key[0], (int64_t)b->key[0]);

	if (c == 0 && o->how->by == BY_STEP)
		c = cmp_steps((int64_t)a->key[4], (int64_t)b->key[4]);
	if (c == 0)
		c = cmp_i64(rank_of(o, b), rank_of(o, a));
	if (c == 0)
		c = cmp_keys(o, gs, a, b);
	if (c == 0)
		c = cmp_i64((int64_t)a->key[1], (int64_t)b->key[1]);
	if (c == 0 && o->how->with_module)
		c = cmp_text(o->g, a->key[SINK_GROUP_WORDS - 1],
		    b->key[SINK_GROUP_WORDS - 1]);
	return c;
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
ops_group(
    struct sink_groups *gs, const struct ops *g, const struct grouping *how)
{
	const struct order order = { g, how };
	uint64_t key[SINK_GROUP_WORDS];

	*gs = (struct sink_groups){ .members = NULL };
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call *c = &g->calls.v[i];
		struct sink_group *gr;

		if (!is_member(c, how)) {
			sink_groups_skip(gs);
			continue;
		}
		key_of(key, g, how, c);
		gr = sink_groups_add(gs, key);
		stat_add(&gr->sums[SUM_DIRECT], c->direct_ns);
		stat_add(&gr->sums[SUM_SUBTREE], c->subtree_ns);
		stat_add(&gr->sums[SUM_SELF], c->self_ns);
		stat_add(&gr->sums[SUM_TOTAL], c->total_ns);
	}
	sink_groups_finish(gs, by_rank, &order);
}
