/* SPDX-License-Identifier: MIT */
/* Gathering GPU time by op and arguments, and judging the differences. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/ops.h"

/* ---- rows and samples ---- */

static uint32_t
row_number(struct ops *o, const struct op_key *k, const uint32_t name[NSIDES])
{
	uint64_t h = hash_bytes(k, sizeof *k);

	/* the rare collision tries the next number */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&o->row_of, h, &is_new);

		if (is_new) {
			*slot = o->rows.n;
			vec_push(&o->rows,
			    ((struct op_row){
				.key = *k, .name = { name[0], name[1] } }));
		}
		if (memcmp(&o->rows.v[*slot].key, k, sizeof *k) == 0)
			return (uint32_t)*slot;
	}
}

static uint32_t
sample_number(struct ops *o, int side, uint32_t run, int64_t step)
{
	uint64_t h = hash_mix((uint64_t)step ^ HASH_K0, run ^ HASH_K1);

	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&o->sample_of[side], h, &is_new);
		const struct sample *s;

		if (is_new) {
			*slot = o->samples[side].n;
			vec_push(&o->samples[side],
			    ((struct sample){ run, step, 0 }));
		}
		s = &o->samples[side].v[*slot];
		if (s->run == run && s->step == step)
			return (uint32_t)*slot;
	}
}

static void
add_time(struct ops *o, uint32_t row, int side, uint32_t sample, int64_t ns)
{
	uint64_t key =
	    (uint64_t)row << 32 | (uint64_t)sample << 1 | (unsigned)side;
	bool is_new;
	uint64_t *slot = map_put(&o->time_of, key, &is_new);

	if (is_new) {
		*slot = o->times.n;
		vec_push(&o->times,
		    ((struct op_sample){ row, sample, (uint8_t)side, 0 }));
	}
	stat_add(&o->times.v[*slot].ns, ns);
	stat_add(&o->samples[side].v[sample].ns, ns);
	stat_add(&o->rows.v[row].ns[side], ns);
}

/* ---- whose a GPU event is ---- */

struct adder {
	struct ops *o;
	const struct diff *d;
	int side;
	uint32_t run;
	VEC(uint8_t) seen;  /* by GPU event: it is in a row */
	struct map callers; /* owner and row: counted */
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
	struct op_key k = { .owner = OWNER_OP };
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
		k.owner = OWNER_LAUNCH;
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
		OWNER_NONE };
	uint32_t name[NSIDES] = { INTERN_NONE, INTERN_NONE };
	uint32_t owner = NONE;

	if (!is_unlinked)
		owner = owner_above(d, side, gpu);
	if (owner != NONE) {
		set_side(&k, name, d, 0, side, owner);
		set_side(&k, name, d, 1, side, owner);
		k.owner = node_of(d, side, owner)->kind == KIND_OP
		    ? OWNER_OP
		    : OWNER_LAUNCH;
	}
	return row_number(o, &k, name);
}

/* ---- a pair of runs ---- */

static void
add_event(struct adder *a, uint32_t gpu, uint32_t row, uint32_t owner)
{
	const struct run *r = a->d->side[a->side];
	const struct gpu *g = &r->gpus.v[r->nodes.v[gpu].extra];
	struct ops *o = a->o;
	bool is_new = true;

	if (o->set->per == PER_STEP && g->step == WALK_NO_STEP)
		return;
	if (owner != NONE)
		(void)map_put(
		    &a->callers, (uint64_t)owner << 32 | row, &is_new);
	o->rows.v[row].calls[a->side] += is_new && owner != NONE;
	o->rows.v[row].kernels[a->side]++;
	add_time(o, row, a->side, sample_number(o, a->side, a->run, g->step),
	    r->nodes.v[gpu].dur);
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
add_side(struct adder *a)
{
	const struct diff *d = a->d;
	const struct run *r = d->side[a->side];
	struct ops *o = a->o;

	find_sides(a);
	vec_reserve(&a->seen, r->gpus.n + 1);
	memset(a->seen.v, 0, r->gpus.n + 1);
	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		uint32_t owner, row;

		if (s->side != a->side)
			continue;
		a->seen.v[r->nodes.v[s->gpu].extra] = 1;
		row = row_of_stat(a, s, &owner);
		add_event(a, s->gpu, row, owner);
		if (s->is_one_sided || s->lca == NONE ||
		    a->sides.v[s->lca] != (1 << NSIDES) - 1) {
			o->nonly[a->side]++;
			stat_add(&o->only_ns[a->side], r->nodes.v[s->gpu].dur);
		}
	}
	for (uint32_t g = 0; g < r->gpus.n; g++) {
		uint32_t node = r->gpus.v[g].node;

		if (a->seen.v[g])
			continue;
		add_event(a, node,
		    row_of_rest(o, d, a->side, node, r->gpus.v[g].is_unlinked),
		    r->gpus.v[g].is_unlinked ? NONE
					     : owner_above(d, a->side, node));
		if (r->gpus.v[g].is_unlinked) {
			o->nunlinked[a->side]++;
			stat_add(
			    &o->unlinked_ns[a->side], r->nodes.v[node].dur);
		} else {
			o->noutside[a->side]++;
			stat_add(&o->outside_ns[a->side], r->nodes.v[node].dur);
		}
	}
}

/* Time on the clock of the steps in which something was launched. */
static void
add_walls(struct adder *a)
{
	const struct run *r = a->d->side[a->side];
	struct ops *o = a->o;

	for (size_t i = 0; i < r->steps.n; i++) {
		const struct step *s = &r->steps.v[i];
		uint64_t h =
		    hash_mix((uint64_t)s->number ^ HASH_K0, a->run ^ HASH_K1);

		if (map_get(&o->sample_of[a->side], h) == NULL)
			continue;
		stat_add(&o->step_ns[a->side], s->end - s->start);
		o->nwalls[a->side]++;
	}
}

void
ops_add(struct ops *o, const struct diff *d, const bool fresh[NSIDES])
{
	for (int side = 0; side < NSIDES; side++) {
		struct adder a = { .o = o, .d = d, .side = side };

		if (!fresh[side])
			continue;
		a.run = (uint32_t)o->unit[side].nruns++;
		add_side(&a);
		add_walls(&a);
		vec_free(&a.seen);
		vec_free(&a.sides);
		map_free(&a.callers);
	}
}

/* ---- after the last ---- */

int64_t
mean_ns(int64_t ns, uint64_t n)
{
	int64_t half;

	if (n < 2)
		return ns;
	half = (int64_t)(n / 2);
	return (ns < 0 ? ns - half : ns + half) / (int64_t)n;
}

static void
find_units(struct ops *o)
{
	bool many_runs = false;

	for (int s = 0; s < NSIDES; s++) {
		struct unit_times *u = &o->unit[s];

		for (size_t i = 0; i < o->samples[s].n; i++)
			u->nsteps += o->samples[s].v[i].step != WALK_NO_STEP;
		u->n = o->set->per == PER_STEP ? u->nsteps : u->nruns;
		many_runs = many_runs || u->nruns > 1;
		u->wall_ns = mean_ns(o->step_ns[s], o->nwalls[s]);
	}
	o->by_step = o->set->per == PER_STEP || !many_runs;
}

/* The sample that an entry counts for: its step, or its run's first. */
static uint32_t
merged_sample(const struct ops *o, int side, uint32_t sample)
{
	return o->by_step ? sample : o->samples[side].v[sample].run;
}

static size_t
count_samples(const struct ops *o, int side)
{
	return o->by_step ? o->unit[side].nsteps : o->unit[side].nruns;
}

static int
by_row(const void *x, const void *y)
{
	const struct op_sample *a = x, *b = y;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Adds a sample's time; those that are absent are zeroes. */
static void
add_sample(struct noise_side *s, int64_t ns)
{
	s->sum += (double)ns;
	s->sum_sq += (double)ns * (double)ns;
}

static double
spread_of(const struct ops *o, struct noise_side side[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		side[s].n = count_samples(o, s);
		side[s].scale = o->by_step && o->set->per == PER_RUN
		    ? (double)o->unit[s].nsteps
		    : 1;
	}
	return noise_spread(side);
}

/* The times of one row, sorted by side and sample. */
static double
row_spread(const struct ops *o, const struct op_sample *v, size_t n)
{
	struct noise_side side[NSIDES] = { { 0 }, { 0 } };

	for (size_t i = 0; i < n;) {
		int s = v[i].side;
		uint32_t at = v[i].sample;
		int64_t ns = 0;

		for (; i < n && v[i].side == s && v[i].sample == at; i++)
			stat_add(&ns, v[i].ns);
		add_sample(&side[s], ns);
	}
	return spread_of(o, side);
}

static double
total_spread(const struct ops *o)
{
	struct noise_side side[NSIDES] = { { 0 }, { 0 } };

	for (int s = 0; s < NSIDES; s++) {
		VEC(int64_t) ns = { 0 };

		for (size_t i = 0; i < o->samples[s].n; i++) {
			const struct sample *x = &o->samples[s].v[i];
			uint32_t at = merged_sample(o, s, (uint32_t)i);

			if (o->by_step && x->step == WALK_NO_STEP)
				continue;
			while (ns.n <= at)
				vec_push(&ns, 0);
			stat_add(&ns.v[at], x->ns);
		}
		for (size_t i = 0; i < ns.n; i++)
			add_sample(&side[s], ns.v[i]);
		vec_free(&ns);
	}
	return spread_of(o, side);
}

static bool
within(int64_t diff_ns, double spread_ns)
{
	return !isnan(spread_ns) && fabs((double)diff_ns) <= spread_ns &&
	    diff_ns != 0;
}

static void
judge_row(struct ops *o, struct op_row *r)
{
	for (int s = 0; s < NSIDES; s++)
		r->unit_ns[s] = mean_ns(r->ns[s], o->unit[s].n);
	r->diff_ns = r->unit_ns[1] - r->unit_ns[0];
	/* what only one side does is no chance */
	r->is_noise = r->kernels[0] > 0 && r->kernels[1] > 0 &&
	    within(r->diff_ns, r->spread_ns);
	stat_add(&o->gross_ns, r->diff_ns < 0 ? -r->diff_ns : r->diff_ns);
	if (!r->is_noise)
		stat_add(&o->verdict_ns, r->diff_ns);
}

static void
find_spreads(struct ops *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->rows.n; i++)
		o->rows.v[i].spread_ns = NAN;
	for (size_t i = 0; i < o->times.n; i++) {
		struct op_sample *t = &o->times.v[i];

		if (o->by_step &&
		    o->samples[t->side].v[t->sample].step == WALK_NO_STEP)
			continue;
		t->sample = merged_sample(o, t->side, t->sample);
		o->times.v[n++] = *t;
	}
	o->times.n = n;
	if (n > 1)
		qsort(o->times.v, n, sizeof *o->times.v, by_row);
	for (size_t i = 0; i < n;) {
		size_t first = i;
		uint32_t row = o->times.v[i].row;

		while (i < n && o->times.v[i].row == row)
			i++;
		o->rows.v[row].spread_ns =
		    row_spread(o, o->times.v + first, i - first);
	}
}

void
ops_finish(struct ops *o)
{
	find_units(o);
	find_spreads(o);
	for (int s = 0; s < NSIDES; s++) {
		int64_t sum = 0;

		for (size_t i = 0; i < o->samples[s].n; i++)
			stat_add(&sum, o->samples[s].v[i].ns);
		o->unit[s].total_ns = mean_ns(sum, o->unit[s].n);
	}
	o->spread_ns = total_spread(o);
	for (size_t i = 0; i < o->rows.n; i++)
		judge_row(o, &o->rows.v[i]);
	o->diff_ns = o->unit[1].total_ns - o->unit[0].total_ns;
	o->is_noise = within(o->diff_ns, o->spread_ns);
}

void
ops_free(struct ops *o)
{
	vec_free(&o->rows);
	vec_free(&o->times);
	map_free(&o->row_of);
	map_free(&o->time_of);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&o->samples[s]);
		map_free(&o->sample_of[s]);
	}
}
