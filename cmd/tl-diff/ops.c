/* SPDX-License-Identifier: MIT */
/* Gathering GPU time by op and arguments. */
#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/rows.h"
#include "trace/stat.h"

/* ---- rows ---- */

static uint32_t
row_number(struct ops *o, const struct op_key *k, const uint32_t name[NSIDES])
{
	uint64_t h = hash_bytes(k, sizeof *k);

	/* the rare collision tries the next number */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&o->row_of, h, &is_new);

		if (is_new) {
			*slot = figures_row(&o->figures, 0);
			vec_push(&o->rows,
			    ((struct op_row){
				.key = *k, .name = { name[0], name[1] } }));
		}
		if (memcmp(&o->rows.v[*slot].key, k, sizeof *k) == 0)
			return (uint32_t)*slot;
	}
}

/* ---- whose a GPU event is ---- */

struct adder {
	struct ops *o;
	const struct diff *d;
	int side;
	VEC(uint8_t) seen;  /* by GPU event: it is in a row */
	u32s row_of;        /* by node: the first row that it owns work of */
	struct map callers; /* owner and row: others */
	VEC(uint8_t) sides; /* by merged node: a bit a side with work there */
};

static const struct node *
node_of(const struct diff *d, int side, uint32_t at)
{
	return &d->side[side]->nodes.v[at];
}

/* The op at or above a node; without one the launch; NONE. */
static uint32_t
owner_above(const struct diff *d, int side, uint32_t at)
{
	uint32_t up = at;

	for (; up != NONE; up = node_of(d, side, up)->parent)
		if (node_of(d, side, up)->kind == KIND_OP)
			return up;
	if (!is_gpu_kind(node_of(d, side, at)->kind))
		return NONE;
	return node_of(d, side, at)->parent;
}

/* The owner of the work that a side has at this point. */
static uint32_t
owner_at(const struct diff *d, int side, uint32_t at)
{
	uint8_t kind = node_of(d, side, at)->kind;

	/* a frame says less than the ops below it */
	if (kind == KIND_PYTHON)
		return NONE;
	return owner_above(d, side, at);
}

static void
set_side(struct op_key *k, uint32_t name[NSIDES], const struct diff *d,
    int side, int from, uint32_t at)
{
	const struct node *n = node_of(d, from, at);

	k->n[side] = n->sym;
	k->args[side] = *args_of_node(d->side[from], at);
	name[side] = n->name;
}

/* The ops of both sides at a row's point, if both have work there. */
static bool
pair_owners(
    const struct adder *a, const struct diff_row *s, uint32_t at[NSIDES])
{
	const struct diff *d = a->d;
	const struct merged_node *m;

	if (s->lca == NONE || s->is_one_sided ||
	    a->sides.v[s->lca] != (1 << NSIDES) - 1)
		return false;
	m = &d->merged.list.v[s->lca];
	for (int side = 0; side < NSIDES; side++) {
		at[side] = owner_at(d, side, m->at[side]);
		if (at[side] == NONE)
			return false;
	}
	return true;
}

static uint32_t
row_of_stat(const struct adder *a, const struct diff_row *s, uint32_t *owner)
{
	const struct diff *d = a->d;
	struct op_key k = { .owner = LAUNCHER_OP };
	uint32_t name[NSIDES], at[NSIDES];

	if (!pair_owners(a, s, at)) {
		*owner = owner_above(d, s->side, s->gpu);
		set_side(&k, name, d, 0, s->side, *owner);
		set_side(&k, name, d, 1, s->side, *owner);
	} else {
		*owner = at[s->side];
		set_side(&k, name, d, 0, 0, at[0]);
		set_side(&k, name, d, 1, 1, at[1]);
	}
	if (node_of(d, s->side, *owner)->kind != KIND_OP)
		k.owner = LAUNCHER_LAUNCH;
	return row_number(a->o, &k, name);
}

/* Work that no root has: by its launch, or by nothing. */
static uint32_t
row_of_rest(struct ops *o, const struct diff *d, int side, uint32_t gpu,
    bool is_unlinked)
{
	static const struct op_args none = { INTERN_NONE, INTERN_NONE,
		INTERN_NONE, INTERN_NONE };
	struct op_key k = { { INTERN_NONE, INTERN_NONE }, { none, none },
		LAUNCHER_NONE };
	uint32_t name[NSIDES] = { INTERN_NONE, INTERN_NONE };
	uint32_t owner = NONE;

	if (!is_unlinked)
		owner = owner_above(d, side, gpu);
	if (owner != NONE) {
		set_side(&k, name, d, 0, side, owner);
		set_side(&k, name, d, 1, side, owner);
		k.owner = node_of(d, side, owner)->kind == KIND_OP
		    ? LAUNCHER_OP
		    : LAUNCHER_LAUNCH;
	}
	return row_number(o, &k, name);
}

/* ---- a pair of runs ---- */

/* Whether an owner's work is in this row for the first time. */
static bool
is_new_call(struct adder *a, uint32_t owner, uint32_t row)
{
	bool is_new;

	if (owner == NONE || a->row_of.v[owner] == row)
		return false;
	if (a->row_of.v[owner] == NONE) {
		a->row_of.v[owner] = row;
		return true;
	}
	(void)map_put(&a->callers, (uint64_t)owner << 32 | row, &is_new);
	return is_new;
}

static void
add_event(
    struct adder *a, uint32_t gpu, uint32_t row, uint32_t owner, bool is_alone)
{
	const struct run *r = a->d->side[a->side];
	const struct gpu *g = &r->gpus.v[r->nodes.v[gpu].extra];
	struct ops *o = a->o;

	if (!figures_wants(&o->figures, g))
		return;
	o->rows.v[row].calls[a->side] += is_new_call(a, owner, row);
	figures_add(
	    &o->figures, row, a->side, g->step, r->nodes.v[gpu].dur, is_alone);
}

static void
find_sides(struct adder *a)
{
	const struct diff *d = a->d;

	vec_reserve(&a->sides, d->merged.list.n + 1);
	memset(a->sides.v, 0, d->merged.list.n + 1);
	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].lca != NONE)
			a->sides.v[d->stats.v[i].lca] |=
			    (uint8_t)(1 << d->stats.v[i].side);
}

static void
tell(struct adder *a, enum tally_of what, uint32_t gpu)
{
	struct tally *t = &a->o->tallies[what];

	t->n[a->side]++;
	stat_add(&t->ns[a->side], node_of(a->d, a->side, gpu)->dur);
}

/* A GPU event of a tree. */
static void
add_stat(struct adder *a, const struct diff_row *s)
{
	const struct diff *d = a->d;
	const struct merged_node *m;
	uint32_t owner, row = row_of_stat(a, s, &owner);
	bool is_alone = s->is_one_sided || s->lca == NONE ||
	    a->sides.v[s->lca] != (1 << NSIDES) - 1;

	add_event(a, s->gpu, row, owner, is_alone);
	if (is_alone) {
		tell(a, TALLY_ONLY, s->gpu);
		return;
	}
	m = &d->merged.list.v[s->lca];
	/* by place a GPU event can stand beside a launch */
	if (m->at[a->side] != s->gpu ||
	    !is_gpu_kind(node_of(d, !a->side, m->at[!a->side])->kind)) {
		tell(a, TALLY_UNPAIRED, s->gpu);
		return;
	}
	if (node_of(d, 0, m->at[0])->n != node_of(d, 1, m->at[1])->n)
		tell(a, TALLY_RENAMED, s->gpu);
	if (a->side == 0)
		streams_pair(&a->o->streams, d->side, m->at);
}

/* What is in no tree. */
static void
add_rest(struct adder *a, uint32_t gpu, bool is_unlinked)
{
	const struct diff *d = a->d;
	uint32_t owner = is_unlinked ? NONE : owner_above(d, a->side, gpu);

	add_event(a, gpu, row_of_rest(a->o, d, a->side, gpu, is_unlinked),
	    owner, false);
	tell(a, is_unlinked ? TALLY_UNLINKED : TALLY_OUTSIDE, gpu);
}

static void
add_side(struct adder *a)
{
	const struct diff *d = a->d;
	const struct run *r = d->side[a->side];

	find_sides(a);
	vec_reserve(&a->seen, r->gpus.n + 1);
	memset(a->seen.v, 0, r->gpus.n + 1);
	vec_reserve(&a->row_of, r->nodes.n + 1);
	memset(a->row_of.v, 0xff, r->nodes.n * sizeof *a->row_of.v);
	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->side != a->side)
			continue;
		a->seen.v[r->nodes.v[s->gpu].extra] = 1;
		add_stat(a, s);
	}
	for (uint32_t g = 0; g < r->gpus.n; g++)
		if (!a->seen.v[g])
			add_rest(
			    a, r->gpus.v[g].node, r->gpus.v[g].is_unlinked);
}

/* What a side's profiler recorded. */
static void
see_contents(struct ops *o, int side, const struct run *r)
{
	static const struct op_args none = { INTERN_NONE, INTERN_NONE,
		INTERN_NONE, INTERN_NONE };

	o->has_frames[side] = o->has_frames[side] || r->has_frames;
	o->has_ops[side] = o->has_ops[side] || r->args.n > 0;
	for (size_t i = 0; i < r->args.n && !o->has_args[side]; i++)
		o->has_args[side] =
		    memcmp(&r->args.v[i], &none, sizeof none) != 0;
}

/* Whether all calls, too, last as long. */
static bool
same_times(const struct run *a, const struct run *b)
{
	if (a->nodes.n != b->nodes.n)
		return false;
	for (size_t i = 0; i < a->nodes.n; i++)
		if (a->nodes.v[i].ts != b->nodes.v[i].ts ||
		    a->nodes.v[i].dur != b->nodes.v[i].dur)
			return false;
	return true;
}

void
ops_add(struct ops *o, const struct diff *d, const bool fresh[NSIDES])
{
	if (fresh[0]) {
		moves_find(&o->moves, &o->order, d);
		wraps_find(o->wrappers, d);
		names_add_calls(&o->calls, d);
		names_add_launches(&o->launches, d);
	}
	for (int side = 0; side < NSIDES; side++) {
		struct adder a = { .o = o, .d = d, .side = side };

		if (!fresh[side])
			continue;
		figures_start_run(&o->figures, side);
		add_side(&a);
		figures_end_run(&o->figures, side, d->side[side]);
		see_contents(o, side, d->side[side]);
		vec_free(&a.seen);
		vec_free(&a.sides);
		vec_free(&a.row_of);
		map_free(&a.callers);
	}
	streams_finish(&o->streams);
	o->differs = o->differs || !d->is_identical || !d->is_same_work ||
	    o->order.n + o->wrappers[0].n + o->wrappers[1].n > 0 ||
	    o->calls.n > 0 || o->streams.moved.n[0] > 0;
	o->host_differs =
	    o->host_differs || !same_times(d->side[0], d->side[1]);
}

const char *
ops_sameness(const struct ops *o)
{
	const struct step_clock *c = &o->figures.clock;
	bool has_clock = figures_have_clock(&o->figures);

	if (o->differs)
		return NULL;
	if (!o->host_differs && (!has_clock || c->mean_ns[0] == c->mean_ns[1]))
		return "the traces are identical";
	if (!has_clock)
		return "the GPU work is identical; without steps host time is "
		       "not compared";
	return c->is_noise
	    ? "the traces are identical, and step times within noise"
	    : "the GPU work is identical, step times are not";
}

void
ops_finish(struct ops *o)
{
	figures_finish(&o->figures);
	for (size_t i = 0; i < o->rows.n; i++)
		o->rows.v[i].figure = o->figures.rows.v[i];
}

void
ops_free(struct ops *o)
{
	vec_free(&o->rows);
	map_free(&o->row_of);
	figures_free(&o->figures);
	vec_free(&o->moves.list);
	remarks_free(&o->order);
	remarks_free(&o->wrappers[0]);
	remarks_free(&o->wrappers[1]);
	streams_free(&o->streams);
	remarks_free(&o->calls);
	remarks_free(&o->launches);
}
