/* SPDX-License-Identifier: MIT */
/* Which kernels form a sequence. */
#include <stdlib.h>

#include "cmd/tl-diff/sequences.h"

#define REPLAY_MIN 2 /* from this many GPU events on a launch is a replay */

/* Narrowest first. */
enum level {
	LEVEL_NAMED_REPLAY, /* with its annotation's name */
	LEVEL_REPLAY,
	LEVEL_NAMED_STEP,
	LEVEL_STEP,
	LEVEL_ANNOTATION,
	NLEVELS,
};

static const struct {
	const char *lead;
	bool is_named;
} levels[NLEVELS] = {
	[LEVEL_NAMED_REPLAY] = { "replay", true },
	[LEVEL_REPLAY] = { "replay", false },
	[LEVEL_NAMED_STEP] = { "step", true },
	[LEVEL_STEP] = { "step", false },
	[LEVEL_ANNOTATION] = { "annotation", true },
};

/* ---- units of an event ---- */

static bool
is_replay(const struct side *r, uint32_t launch)
{
	return launch != NONE && r->nodes.v[launch].kind != KIND_OP &&
	    gpu_behind(r, &r->nodes.v[launch]) - r->nodes.v[launch].first_gpu >=
	    REPLAY_MIN;
}

/* Number of the event's unit at this level; 0: none. */
static uint64_t
unit_of(const struct side *r, const struct gpu *g, enum level level)
{
	const struct node *n = &r->nodes.v[g->node];
	const struct step_window *at;
	int64_t step = g->step;
	uint64_t lead = (uint64_t)(level + 1) << 56;

	switch (level) {
	case LEVEL_NAMED_REPLAY:
	case LEVEL_REPLAY:
		if (g->is_unlinked || !is_replay(r, n->parent))
			return 0;
		return lead | n->parent;
	case LEVEL_NAMED_STEP:
	case LEVEL_STEP:
		/* of work whose launch does not show it */
		at = steps_at(&r->steps, NULL, n->ts);
		if (step == WALK_NO_STEP && g->is_unlinked && at != NULL &&
		    at->what == STEP_IS_STEP)
			step = at->number;
		if (step == WALK_NO_STEP)
			return 0;
		return lead | ((uint64_t)step & ((UINT64_C(1) << 56) - 1));
	default: return g->window != NONE ? lead | g->window : 0;
	}
}

/* ---- level by level ---- */

/* The unit of some events of a side. */
struct unit_use {
	uint32_t annotation; /* of all its events; INTERN_NONE: various */
	uint32_t kind;
};

struct units {
	VEC(struct unit_use) list;
	struct map of; /* number to index */
};

/* Kind "replay: decode_# (#)" of "decode_7 (128)": numbers do not count. */
static uint32_t
name_kind(struct dict *st, enum level level, uint32_t annotation)
{
	struct str s =
	    levels[level].is_named ? dict_get(st, annotation) : STR("");
	struct buf b = { 0 };
	uint32_t id;

	buf_printf(&b, "%s%s", levels[level].lead, s.len > 0 ? ": " : "");
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			buf_putc(&b, s.p[i]);
		else if (i == 0 || s.p[i - 1] < '0' || s.p[i - 1] > '9')
			buf_putc(&b, '#');
	}
	id = intern_put(st->text, buf_str(&b));
	buf_free(&b);
	return id;
}

/* Units of a level, of events that have no sequence yet. */
static void
list_units(
    const struct line_up *l, enum level level, struct dict *st, struct units *u)
{
	for (size_t i = 0; i < l->placed.n; i++) {
		const struct placed *p = &l->placed.v[i];
		const struct gpu *g = &l->side->gpus.v[p->gpu];
		uint64_t number = unit_of(l->side, g, level);
		uint32_t at;

		if (p->unit != 0 || number == 0)
			continue;
		at = map_number(&u->of, number);
		if (at == u->list.n)
			vec_push(
			    &u->list, ((struct unit_use){ g->annotation, 0 }));
		else if (u->list.v[at].annotation != g->annotation)
			u->list.v[at].annotation = INTERN_NONE;
	}
	for (size_t i = 0; i < u->list.n; i++)
		u->list.v[i].kind =
		    name_kind(st, level, u->list.v[i].annotation);
}

/* Puts events into sequences whose kind both sides have. */
static void
take_units(struct line_up *l, enum level level, const struct units *u,
    const struct map *sides)
{
	for (size_t i = 0; i < l->placed.n; i++) {
		struct placed *p = &l->placed.v[i];
		const struct unit_use *unit;
		uint64_t number, *slot;

		if (p->unit != 0)
			continue;
		number = unit_of(l->side, &l->side->gpus.v[p->gpu], level);
		slot = number != 0 ? map_get(&u->of, number) : NULL;
		if (slot == NULL)
			continue;
		unit = &u->list.v[*slot];
		if (*map_get(sides, unit->kind) != (1 << NSIDES) - 1)
			continue;
		p->unit = number;
		p->kind = unit->kind;
	}
}

static void
take_level(struct line_up l[NSIDES], enum level level, struct dict *st)
{
	struct units u[NSIDES] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
	struct map sides = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		list_units(&l[s], level, st, &u[s]);
		for (size_t i = 0; i < u[s].list.n; i++)
			*map_put(&sides, u[s].list.v[i].kind, NULL) |=
			    UINT64_C(1) << s;
	}
	for (int s = 0; s < NSIDES; s++)
		take_units(&l[s], level, &u[s], &sides);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&u[s].list);
		map_free(&u[s].of);
	}
	map_free(&sides);
}

/* ---- sequences ---- */

static int
by_unit(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int
by_start(const void *x, const void *y)
{
	const struct sequence *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Events of one unit form a sequence. */
static void
cut(struct line_up *l)
{
	const struct side *r = l->side;

	stable_sort(l->placed.v, l->placed.n, sizeof *l->placed.v, by_unit);
	for (size_t i = 0, end; i < l->placed.n; i = end) {
		const struct placed *first = &l->placed.v[i];
		struct sequence s = { .first = i,
			.unit = first->unit,
			.kind = first->kind,
			.ts = first->ts,
			.hash = HASH_K0 };

		for (end = i;
		     end < l->placed.n && l->placed.v[end].unit == s.unit;
		     end++) {
			const struct placed *p = &l->placed.v[end];

			s.hash = hash_mix(
			    s.hash ^ r->nodes.v[r->gpus.v[p->gpu].node].sym,
			    HASH_K1);
			s.ts = p->ts < s.ts ? p->ts : s.ts;
		}
		s.n = end - i;
		vec_push(&l->list, s);
	}
	stable_sort(l->list.v, l->list.n, sizeof *l->list.v, by_start);
}

void
line_up_pair(struct line_up l[NSIDES], const struct side *const side[NSIDES],
    struct dict *st, bool per_step)
{
	uint32_t rest = intern_put(st->text, STR("rest"));

	for (int s = 0; s < NSIDES; s++) {
		const struct side *r = l[s].side = side[s];

		for (uint32_t i = 0; i < r->gpus.n; i++) {
			const struct gpu *g = &r->gpus.v[i];
			const struct node *n = &r->nodes.v[g->node];

			if (!per_step || g->step != WALK_NO_STEP)
				vec_push(&l[s].placed,
				    ((struct placed){
					0, rest, g->stream, i, n->ts, n->id }));
		}
	}
	for (enum level i = 0; i < NLEVELS; i++)
		take_level(l, i, st);
	for (int s = 0; s < NSIDES; s++)
		cut(&l[s]);
}

void
line_up_free(struct line_up l[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&l[s].placed);
		vec_free(&l[s].list);
	}
}
