/* SPDX-License-Identifier: MIT */
/*
 * What made a step slow: its time by part, against the median step; where most
 * steps are slow, against the median of the fast ones.
 */
#include "cmd/tl-steps/steps.h"

#define SLOW_STEPS 8 /* per process */
#define SLOW_ROWS 32 /* per step: the largest differences */
#define APART 2     /* times as long as the next shorter one: of another kind */
#define FAST_PART 4 /* of the steps: more than that are no strays */

/* Time of one kind in the median step and in the slow one. */
struct use {
	uint32_t call, op, module; /* words */
	uint32_t part;             /* a cause, or PART_ */
	int64_t ns[2];
	int64_t longest_ns;
	uint32_t event; /* the slow step's longest piece, or HOST_NONE */
};

struct uses {
	VEC(struct use) list;
	struct sink_groups of; /* by place */
};

static int64_t
more_of(const struct use *it)
{
	return it->ns[1] - it->ns[0];
}

/* Largest difference first, ties as found. */
static int
by_difference(const void *x, const void *y)
{
	const struct use *p = x, *q = y;
	int64_t a = more_of(p), b = more_of(q);

	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	return (a < b) - (a > b);
}

/* ---- what the time of a step went into ---- */

/* Adds time to the entry with these words. */
static void
add_use(struct uses *to, const struct use *it)
{
	const uint64_t key[SINK_GROUP_WORDS] = { it->part, it->call, it->op,
		it->module };
	const struct sink_group *group = sink_groups_add(&to->of, key);
	struct use *all;

	if (group->n == 1) {
		vec_push(&to->list, *it);
		return;
	}
	all = &to->list.v[group - to->of.list.v];
	all->ns[0] += it->ns[0];
	all->ns[1] += it->ns[1];
	if (it->longest_ns > all->longest_ns) {
		all->longest_ns = it->longest_ns;
		all->event = it->event;
	}
}

const char *
slow_word(size_t part)
{
	static const char *const words[] = {
		[PART_COMPUTE - CAUSE_COUNT] = "compute",
		[PART_COMM - CAUSE_COUNT] = "exposed_comm",
		[PART_COPY - CAUSE_COUNT] = "exposed_copy",
		[PART_OTHERS - CAUSE_COUNT] = "other_steps",
	};

	return part < CAUSE_COUNT ? cause_words[part]
				  : words[part - CAUSE_COUNT];
}

int64_t
slow_part(const struct step_record *r, size_t part)
{
	if (part == PART_COMPUTE)
		return r->own_ns;
	if (part == PART_OTHERS)
		return r->parts[PART_COMPUTE] - r->own_ns;
	return r->parts[part];
}

static void
add_gpu(const struct step_record *r, bool is_slow, struct uses *to)
{
	for (size_t i = CAUSE_COUNT; i < SLOW_PARTS; i++) {
		struct use it = {
			.part = (uint32_t)i,
			.call = INTERN_NONE,
			.op = INTERN_NONE,
			.module = INTERN_NONE,
			.event = HOST_NONE,
		};

		it.ns[is_slow] = slow_part(r, i);
		add_use(to, &it);
	}
}

static void
add_idle(const struct program *g, const struct step_record *r, bool is_slow,
    struct uses *to)
{
	const struct host *h = &g->host;
	const struct gaps *gaps = &g->parts.gaps;
	int64_t start = r->rec.ts_ns, end = start + r->wall_ns;

	for (size_t i = parts_piece_at(&g->parts, start);
	     i < gaps->pieces.n && gaps->pieces.v[i].start_ns < end; i++) {
		const struct gap_piece *p = &gaps->pieces.v[i];
		int64_t from = p->start_ns > start ? p->start_ns : start;
		int64_t until = p->end_ns < end ? p->end_ns : end;
		uint32_t event = host_culprit(h, p->event, p->cause);
		bool is_named =
		    event != HOST_NONE && !steps_is_marker(&g->steps, h, event);
		struct use it = {
			.part = p->cause,
			.call =
			    is_named ? h->events.v[event].name : INTERN_NONE,
			.op = host_above(h, event, false),
			.module = host_above(h, event, true),
			.longest_ns = is_slow ? until - from : 0,
			.event = is_slow ? event : HOST_NONE,
		};

		it.ns[is_slow] = until - from;
		add_use(to, &it);
	}
}

/* ---- records ---- */

static void
add_record(struct program *g, const struct step_record *of,
    const struct step_record *median, bool is_fast, const struct use *it)
{
	struct step_record *r = sink_add(&g->sink);

	*r = *of;
	r->what = RECORD_IS_SLOW;
	g->has_slow = true;
	r->idle_cause =
	    intern_put(g->sink.dict->text, str_of(slow_word(it->part)));
	r->call = it->call;
	r->op = it->op;
	r->module = it->module;
	r->idle_cause_ns = it->ns[1];
	r->median_ns = it->ns[0];
	r->more_ns = more_of(it);
	r->median_step = median->step;
	r->is_of_fast = is_fast;
	r->has_uid = it->event != HOST_NONE;
	if (r->has_uid)
		r->rec.uid = g->host.events.v[it->event].uid;
}

/* Sorted by difference. */
static struct uses
find_uses(const struct program *g, const struct step_record *slow,
    const struct step_record *median)
{
	struct uses uses = { .of.nwords = 4 };

	add_gpu(median, false, &uses);
	add_gpu(slow, true, &uses);
	add_idle(g, median, false, &uses);
	add_idle(g, slow, true, &uses);
	stable_sort(
	    uses.list.v, uses.list.n, sizeof *uses.list.v, by_difference);
	return uses;
}

static void
free_uses(struct uses *u)
{
	vec_free(&u->list);
	sink_groups_free(&u->of);
}

static void
compare_steps(struct program *g, const struct step_record *slow,
    const struct step_record *median, bool is_fast)
{
	struct uses uses = find_uses(g, slow, median);

	for (size_t i = 0; i < uses.list.n && i < SLOW_ROWS; i++)
		if (more_of(&uses.list.v[i]) != 0)
			add_record(g, slow, median, is_fast, &uses.list.v[i]);
	free_uses(&uses);
}

static int
by_time(const void *x, const void *y)
{
	const struct step_record *const *a = x, *const *b = y;

	return ((*a)->time_ns > (*b)->time_ns) -
	    ((*a)->time_ns < (*b)->time_ns);
}

const char *
slow_median_word(bool is_fast)
{
	return is_fast ? "fast" : "all";
}

/* Whether more than a quarter of the steps are as short as these. */
static bool
are_many(const struct step_record *const *steps, size_t n, int64_t most_ns)
{
	size_t nfast = 0;

	for (size_t i = 0; i < n; i++)
		nfast += steps[i]->time_ns <= most_ns;
	return nfast > n / FAST_PART;
}

const struct step_record *
slow_median(const struct step_record *const *steps, size_t n, bool *is_fast)
{
	VEC(const struct step_record *) list = { 0 };
	const struct step_record *first = steps[0], *median;

	for (size_t i = 1; i < n; i++)
		if (steps[i]->rec.ts_ns < first->rec.ts_ns)
			first = steps[i];
	for (size_t i = 0; i < n; i++)
		if (steps[i] != first || n == 2)
			vec_push(&list, steps[i]);
	stable_sort(list.v, list.n, sizeof *list.v, by_time);
	median = list.v[(list.n - 1) / 2];
	*is_fast = false;
	for (size_t i = 1; i <= (list.n - 1) / 2 && !*is_fast; i++) {
		int64_t fast_ns = list.v[i]->time_ns / APART;

		*is_fast = list.v[i - 1]->time_ns <= fast_ns &&
		    are_many(steps, n, fast_ns);
		if (*is_fast)
			median = list.v[(i - 1) / 2];
	}
	vec_free(&list);
	return median;
}

const struct step_record *
slow_slowest(const struct step_record *const *steps, size_t n)
{
	const struct step_record *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (found == NULL || steps[i]->time_ns > found->time_ns)
			found = steps[i];
	return n < 2 ? NULL : found;
}

void
slow_names(
    struct program *g, struct step_row *rows, const bool *chosen, size_t n)
{
	VEC(const struct step_record *) steps = { 0 };
	const struct step_record *slowest;
	struct step_record *to = NULL;
	bool is_known[CAUSE_COUNT] = { false }, is_fast;
	struct uses uses;

	for (size_t i = 0; i < n; i++)
		if (chosen[i] && slow_compares(&rows[i].r))
			vec_push(&steps, &rows[i].r);
	slowest = slow_slowest(steps.v, steps.n);
	for (size_t i = 0; i < n; i++)
		if (&rows[i].r == slowest)
			to = &rows[i].r;
	if (to != NULL && !to->is_gpu_time && g->host.gpus.n > 0) {
		uses =
		    find_uses(g, to, slow_median(steps.v, steps.n, &is_fast));
		for (size_t i = 0; i < uses.list.n; i++) {
			const struct use *it = &uses.list.v[i];

			if (it->part >= CAUSE_COUNT || more_of(it) <= 0 ||
			    is_known[it->part])
				continue;
			is_known[it->part] = true;
			to->most_in[it->part] = it->call;
		}
		free_uses(&uses);
	}
	vec_free(&steps);
}

void
slow_records(struct program *g, const struct step_row *rows, size_t n)
{
	VEC(const struct step_record *) steps = { 0 };
	const struct step_record *median;
	size_t left = SLOW_STEPS;
	bool is_fast;

	for (size_t i = 0; i < n; i++)
		if (rows[i].r.what == STEP_IS_STEP &&
		    rows[i].r.time_ns != SINK_NONE && !rows[i].r.is_gpu_time)
			vec_push(&steps, &rows[i].r);
	stable_sort(steps.v, steps.n, sizeof *steps.v, by_time);
	if (steps.n > 1 && g->host.gpus.n > 0) {
		median = slow_median(steps.v, steps.n, &is_fast);
		for (size_t i = steps.n; i-- > 0 && left > 0; left--) {
			if (i + 1 < steps.n && !steps.v[i]->is_slow)
				break;
			if (steps.v[i]->time_ns > median->time_ns)
				compare_steps(g, steps.v[i], median, is_fast);
		}
	}
	vec_free(&steps);
}
