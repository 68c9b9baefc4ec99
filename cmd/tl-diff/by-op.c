/* SPDX-License-Identifier: MIT */
/*
 * GPU time by op and arguments.
 *
 * GPU work below a point where the trees differ belongs to the op of that
 * point, so that what replaces what is compared.
 */
#include "cmd/tl-diff/changes.h"
#include "cmd/tl-diff/events.h"

#define BOTH ((1 << NSIDES) - 1)

/* One side of a pair of runs. */
struct adder {
	struct changes *c;
	const struct diff *d;
	int side;
	VEC(uint8_t) seen;  /* by GPU event: has a row */
	u32s row_of;        /* by node: first row with its work */
	struct map callers; /* launcher and row: of other launchers */
	/* by merged node: bit of each side with work there */
	VEC(uint8_t) sides;
};

/* ---- whose a GPU event is ---- */

/* The op at or above a node; without one the launch; NONE. */
static uint32_t
launcher_above(const struct diff *d, int side, uint32_t at)
{
	uint32_t up = at;

	for (; up != NONE; up = node_of(d, side, up)->parent)
		if (node_of(d, side, up)->kind == KIND_OP)
			return up;
	if (!is_gpu_kind(node_of(d, side, at)->kind))
		return NONE;
	return node_of(d, side, at)->parent;
}

/*
 * The ops of both sides at a point where both have work. A frame says less than
 * the ops below it.
 */
static bool
pair_launchers(
    const struct adder *a, const struct diff_row *s, uint32_t at[NSIDES])
{
	const struct diff *d = a->d;
	const struct merged_node *m;

	if (s->lca == NONE || s->is_one_sided || a->sides.v[s->lca] != BOTH)
		return false;
	m = &d->merged.list.v[s->lca];
	for (int side = 0; side < NSIDES; side++) {
		if (node_of(d, side, m->at[side])->kind == KIND_PYTHON)
			return false;
		at[side] = launcher_above(d, side, m->at[side]);
		if (at[side] == NONE)
			return false;
	}
	return true;
}

/*
 * The row of work launched by these nodes, one per side. NONE: without a
 * launch.
 */
static uint32_t
row_of(struct adder *a, const struct node *work, const uint32_t at[NSIDES],
    const int of[NSIDES])
{
	const struct diff *d = a->d;
	struct change_key k = { .kind = a->c->launched_by[LAUNCHED_BY_NONE],
		.family = family_of(work) };
	uint32_t name[NSIDES] = { INTERN_NONE, INTERN_NONE };

	for (int s = 0; s < NSIDES; s++) {
		k.n[s] = INTERN_NONE;
		k.args[s] = *args_of_node(d->side[of[s]], at[s]);
		if (at[s] == NONE)
			continue;
		k.n[s] = node_of(d, of[s], at[s])->sym;
		name[s] = node_of(d, of[s], at[s])->name;
		if (of[s] == a->side)
			k.kind =
			    a->c->launched_by[node_of(d, of[s], at[s])->kind ==
					KIND_OP
				    ? LAUNCHED_BY_OP
				    : LAUNCHED_BY_CALL];
	}
	return changes_row(a->c, &k, name);
}

/* Whether a launcher's work comes to this row for the first time. */
static bool
is_new_call(struct adder *a, uint32_t launcher, uint32_t row)
{
	bool is_new;

	if (launcher == NONE || a->row_of.v[launcher] == row)
		return false;
	if (a->row_of.v[launcher] == NONE) {
		a->row_of.v[launcher] = row;
		return true;
	}
	(void)map_put(&a->callers, (uint64_t)launcher << 32 | row, &is_new);
	return is_new;
}

/* s: place in the trees; NULL: in none */
static void
add_event(
    struct adder *a, const struct gpu *g, const struct diff_row *s, bool alone)
{
	const int both[NSIDES] = { 0, 1 }, one[NSIDES] = { a->side, a->side };
	const struct node *work = node_of(a->d, a->side, g->node);
	uint32_t at[NSIDES], row;
	bool is_pair = s != NULL && pair_launchers(a, s, at);

	if (!changes_want(a->c, g))
		return;
	if (!is_pair)
		at[0] = at[1] = g->is_unlinked
		    ? NONE
		    : launcher_above(a->d, a->side, g->node);
	row = row_of(a, work, at, is_pair ? both : one);
	a->c->rows.v[row].calls[a->side] += is_new_call(a, at[a->side], row);
	changes_add(a->c, row, a->side, g->step, work->dur, alone);
}

/* ---- a pair of runs ---- */

/* A GPU event of a tree. */
static void
add_stat(struct adder *a, const struct diff_row *s)
{
	const struct diff *d = a->d;
	const struct node *n = node_of(d, a->side, s->gpu);
	const struct merged_node *m;
	bool alone =
	    s->is_one_sided || s->lca == NONE || a->sides.v[s->lca] != BOTH;

	a->seen.v[n->extra] = 1;
	add_event(a, &d->side[a->side]->gpus.v[n->extra], s, alone);
	if (alone) {
		changes_tell(a->c, TALLY_ONLY, a->side, n->dur);
		return;
	}
	m = &d->merged.list.v[s->lca];
	/* by position a GPU event can be paired with a launch */
	if (m->at[a->side] != s->gpu ||
	    !is_gpu_kind(node_of(d, !a->side, m->at[!a->side])->kind)) {
		changes_tell(a->c, TALLY_UNPAIRED, a->side, n->dur);
		return;
	}
	if (node_of(d, 0, m->at[0])->n != node_of(d, 1, m->at[1])->n)
		changes_tell(a->c, TALLY_RENAMED, a->side, n->dur);
	if (a->side == 0)
		streams_pair(a->c, d->side, m->at);
}

static void
add_side(struct adder *a)
{
	const struct diff *d = a->d;
	const struct side *r = d->side[a->side];

	vec_reserve(&a->sides, d->merged.list.n + 1);
	memset(a->sides.v, 0, d->merged.list.n + 1);
	vec_reserve(&a->seen, r->gpus.n + 1);
	memset(a->seen.v, 0, r->gpus.n + 1);
	vec_reserve(&a->row_of, r->nodes.n + 1);
	memset(a->row_of.v, 0xff, r->nodes.n * sizeof *a->row_of.v);
	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].lca != NONE)
			a->sides.v[d->stats.v[i].lca] |=
			    (uint8_t)(1 << d->stats.v[i].side);
	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].side == a->side)
			add_stat(a, &d->stats.v[i]);
	for (uint32_t g = 0; g < r->gpus.n; g++) {
		const struct gpu *it = &r->gpus.v[g];

		if (a->seen.v[g])
			continue;
		add_event(a, it, NULL, false);
		changes_tell(a->c,
		    it->is_unlinked ? TALLY_UNLINKED : TALLY_OUTSIDE, a->side,
		    r->nodes.v[it->node].dur);
	}
	vec_free(&a->seen);
	vec_free(&a->sides);
	vec_free(&a->row_of);
	map_free(&a->callers);
}

/* What a side's profiler recorded. */
static void
see_contents(struct changes *c, int side, const struct side *r)
{
	const struct op_args *none = args_of_node(r, NONE);

	c->has_frames[side] = c->has_frames[side] || r->has_frames;
	c->has_ops[side] = c->has_ops[side] || r->args.n > 0;
	for (size_t i = 0; i < r->args.n && !c->has_args[side]; i++)
		c->has_args[side] =
		    memcmp(&r->args.v[i], none, sizeof *none) != 0;
}

static uint64_t
hash_event(uint64_t h, const struct node *n)
{
	return hash_mix(h ^ n->name ^ (uint64_t)n->inst << 32, n->id ^ HASH_K0);
}

/* Hash of all GPU work: events, durations, ops and modules. */
static uint64_t
hash_work(const struct side *r)
{
	uint64_t h = HASH_K0;

	for (size_t i = 0; i < r->gpus.n; i++) {
		const struct node *n = &r->nodes.v[r->gpus.v[i].node];
		uint32_t op = forest_op_above(r, r->gpus.v[i].node);

		h = hash_mix(hash_event(h, n) ^ (uint64_t)n->dur, HASH_K1);
		if (op == NONE)
			continue;
		h = hash_event(h, &r->nodes.v[op]) ^
		    hash_bytes(args_of_node(r, op), sizeof(struct op_args));
		for (uint32_t c = r->nodes.v[op].chain; c != NONE;
		     c = r->chains.v[c].up)
			h = hash_mix(h ^ r->chains.v[c].name, HASH_K1);
	}
	return h;
}

void
ops_add(struct changes *c, const struct diff *d, const bool fresh[NSIDES])
{
	static const enum tally_of apart[] = { TALLY_ONLY, TALLY_UNPAIRED,
		TALLY_STREAM };

	if (fresh[0])
		tell_tree(c, d);
	for (int side = 0; side < NSIDES; side++) {
		struct adder a = { .c = c, .d = d, .side = side };

		if (!fresh[side])
			continue;
		c->unit[side].nruns++;
		add_side(&a);
		changes_end_run(c, side, d->side[side]);
		see_contents(c, side, d->side[side]);
	}
	streams_finish(c);
	c->differs = c->differs || c->calls.list.n > 0 ||
	    hash_work(d->side[0]) != hash_work(d->side[1]);
	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
		c->differs |= c->tallies[apart[i]].n[0] > 0 ||
		    c->tallies[apart[i]].n[1] > 0;
	c->host_differs =
	    c->host_differs || d->side[0]->times_hash != d->side[1]->times_hash;
}
