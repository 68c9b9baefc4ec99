/* SPDX-License-Identifier: MIT */
/*
 * Siblings that agree in some levels and no further: paired by how many names
 * of the next level they share.
 *
 * Nodes whose next level is the same are one class, so shared names are
 * counted for pairs of classes, and only for those that share any: through an
 * index of the names of the second side's classes. Then for each count,
 * downwards, each node of the first side in order takes the first free node of
 * the second that shares so many.
 */
#include <stdlib.h>

#include "cmd/tl-diff/levels.h"

/* Nodes with the same names at the level. */
struct class
{
	uint32_t example;           /* node */
	size_t first_match, nmatch; /* of side 0: in matches, by count down */
	size_t at;                  /* the next of them */
	uint32_t head; /* of side 1: first member not passed; + 1 */
};

struct member {
	uint32_t place, class;
	uint32_t next; /* of its class; + 1 */
};

/* Classes that share names. */
struct match {
	uint32_t class; /* of side 1 */
	uint32_t count;
};

/* A class of side 1 that has this name, so many times. */
struct posting {
	uint32_t class, count;
	uint32_t next; /* + 1 */
};

struct overlap {
	struct duo *d;
	struct siblings *g;
	int level;
	VEC(struct member) members[NSIDES];
	VEC(struct class) classes[NSIDES];
	struct map class_of[NSIDES]; /* hash of the level to class */
	struct map postings_of;      /* name to posting + 1 */
	VEC(struct posting) postings;
	VEC(struct match) matches;
	VEC(uint32_t) shared; /* by class of side 1 */
	u32s touched, names;
};

struct overlap *
overlap_create(struct duo *d, struct siblings *g)
{
	struct overlap *o = xcalloc(1, sizeof *o);

	o->d = d;
	o->g = g;
	return o;
}

static void
clear(struct overlap *o)
{
	for (int s = 0; s < NSIDES; s++) {
		o->members[s].n = o->classes[s].n = 0;
		map_free(&o->class_of[s]);
		o->class_of[s] = (struct map){ 0 };
	}
	map_free(&o->postings_of);
	o->postings_of = (struct map){ 0 };
	o->postings.n = o->matches.n = o->touched.n = 0;
}

void
overlap_destroy(struct overlap *o)
{
	clear(o);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&o->members[s]);
		vec_free(&o->classes[s]);
	}
	vec_free(&o->postings);
	vec_free(&o->matches);
	vec_free(&o->shared);
	vec_free(&o->touched);
	vec_free(&o->names);
	free(o);
}

void
overlap_start(struct overlap *o, int level)
{
	clear(o);
	o->level = level;
}

void
overlap_add(struct overlap *o, int side, uint32_t place)
{
	uint32_t node = o->g->nodes[side]->v[place];
	bool is_new;
	uint64_t *slot = map_put(&o->class_of[side],
	    levels_hash(o->d, side, node, o->level), &is_new);

	if (is_new) {
		*slot = o->classes[side].n;
		vec_push(
		    &o->classes[side], ((struct class){ .example = node }));
	}
	vec_push(&o->members[side],
	    ((struct member){ .place = place, .class = (uint32_t)*slot }));
}

/* ---- shared names ---- */

static void
post_names(struct overlap *o, uint32_t class)
{
	levels_names(
	    o->d, 1, o->classes[1].v[class].example, o->level, &o->names);
	for (size_t i = 0; i < o->names.n;) {
		uint32_t name = o->names.v[i], count = 0;
		uint64_t *head;

		for (; i < o->names.n && o->names.v[i] == name; i++)
			count++;
		head = map_put(&o->postings_of, name, NULL);
		vec_push(&o->postings,
		    ((struct posting){ class, count, (uint32_t)*head }));
		*head = o->postings.n;
	}
}

static int
by_count(const void *x, const void *y)
{
	const struct match *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->class > b->class) - (a->class < b->class);
}

static void
count_shared(struct overlap *o, struct class *c)
{
	levels_names(o->d, 0, c->example, o->level, &o->names);
	o->touched.n = 0;
	for (size_t i = 0; i < o->names.n;) {
		uint32_t name = o->names.v[i], count = 0;
		const uint64_t *head;

		for (; i < o->names.n && o->names.v[i] == name; i++)
			count++;
		head = map_get(&o->postings_of, name);
		for (uint64_t p = head != NULL ? *head : 0; p > 0;
		     p = o->postings.v[p - 1].next) {
			const struct posting *q = &o->postings.v[p - 1];

			if (o->shared.v[q->class] == 0)
				vec_push(&o->touched, q->class);
			o->shared.v[q->class] +=
			    count < q->count ? count : q->count;
		}
	}
	c->first_match = o->matches.n;
	c->nmatch = o->touched.n;
	for (size_t i = 0; i < o->touched.n; i++) {
		uint32_t k = o->touched.v[i];

		vec_push(&o->matches, ((struct match){ k, o->shared.v[k] }));
		o->shared.v[k] = 0;
	}
	if (c->nmatch > 1)
		qsort(o->matches.v + c->first_match, c->nmatch,
		    sizeof *o->matches.v, by_count);
	c->at = 0;
}

static void
find_shared(struct overlap *o)
{
	for (uint32_t k = 0; k < o->classes[1].n; k++)
		post_names(o, k);
	while (o->shared.n < o->classes[1].n)
		vec_push(&o->shared, 0);
	for (size_t k = 0; k < o->classes[0].n; k++)
		count_shared(o, &o->classes[0].v[k]);
}

/* ---- pairing ---- */

static bool
is_free(const struct overlap *o, int side, const struct member *m)
{
	return o->g->now[side][m->place] == NONE;
}

static void
take(struct overlap *o, uint32_t a, uint32_t b)
{
	o->g->now[0][a] = b;
	o->g->now[1][b] = a;
}

/* The first free member of a class of side 1; NULL. */
static struct member *
first_free(struct overlap *o, uint32_t class)
{
	struct class *c = &o->classes[1].v[class];

	while (c->head > 0) {
		struct member *m = &o->members[1].v[c->head - 1];

		if (is_free(o, 1, m))
			return m;
		c->head = m->next;
	}
	return NULL;
}

static void
chain_members(struct overlap *o)
{
	for (size_t j = o->members[1].n; j-- > 0;) {
		struct member *m = &o->members[1].v[j];
		struct class *c = &o->classes[1].v[m->class];

		m->next = c->head;
		c->head = (uint32_t)j + 1;
	}
}

/* Whether the classes share exactly so many; c->at is at this count. */
static bool
shares(const struct overlap *o, const struct class *c, uint32_t class,
    uint32_t count)
{
	for (size_t i = c->at; i < c->nmatch; i++) {
		const struct match *m = &o->matches.v[c->first_match + i];

		if (m->count != count)
			return false;
		if (m->class == class)
			return true;
	}
	return false;
}

/* What this node was matched with, if it is free and of this bucket. */
static const struct member *
old_partner(const struct overlap *o, const struct map *member_of,
    const struct member *m)
{
	uint32_t b = o->g->was[0][m->place];
	const uint64_t *slot;

	if (b == NONE || o->g->group[1][b] != o->g->id ||
	    o->g->now[1][b] != NONE)
		return NULL;
	slot = map_get(member_of, b);
	return slot != NULL ? &o->members[1].v[*slot] : NULL;
}

static void
take_old(struct overlap *o, const struct map *member_of, uint32_t count)
{
	for (size_t i = 0; i < o->members[0].n; i++) {
		const struct member *m = &o->members[0].v[i], *b;

		if (!is_free(o, 0, m))
			continue;
		b = old_partner(o, member_of, m);
		if (b != NULL &&
		    (count == 0 ||
			shares(o, &o->classes[0].v[m->class], b->class, count)))
			take(o, m->place, b->place);
	}
}

static void
take_first(struct overlap *o, uint32_t count)
{
	for (size_t i = 0; i < o->members[0].n; i++) {
		const struct member *m = &o->members[0].v[i], *best = NULL;
		const struct class *c = &o->classes[0].v[m->class];

		if (!is_free(o, 0, m))
			continue;
		for (size_t k = c->at; k < c->nmatch; k++) {
			const struct match *x =
			    &o->matches.v[c->first_match + k];
			const struct member *b;

			if (x->count != count)
				break;
			b = first_free(o, x->class);
			if (b != NULL &&
			    (best == NULL || b->place < best->place))
				best = b;
		}
		if (best != NULL)
			take(o, m->place, best->place);
	}
}

/* The highest count that is not yet done, 0: none. */
static uint32_t
next_count(const struct overlap *o)
{
	uint32_t best = 0;

	for (size_t k = 0; k < o->classes[0].n; k++) {
		const struct class *c = &o->classes[0].v[k];

		if (c->at < c->nmatch &&
		    o->matches.v[c->first_match + c->at].count > best)
			best = o->matches.v[c->first_match + c->at].count;
	}
	return best;
}

static void
pass_count(struct overlap *o, uint32_t count)
{
	for (size_t k = 0; k < o->classes[0].n; k++) {
		struct class *c = &o->classes[0].v[k];

		while (c->at < c->nmatch &&
		    o->matches.v[c->first_match + c->at].count == count)
			c->at++;
	}
}

/* Nothing is shared any more: the first with the first. */
static void
take_rest(struct overlap *o)
{
	size_t j = 0;

	for (size_t i = 0; i < o->members[0].n; i++) {
		if (!is_free(o, 0, &o->members[0].v[i]))
			continue;
		while (
		    j < o->members[1].n && !is_free(o, 1, &o->members[1].v[j]))
			j++;
		if (j == o->members[1].n)
			return;
		take(o, o->members[0].v[i].place, o->members[1].v[j].place);
	}
}

void
overlap_pair(struct overlap *o)
{
	struct map member_of = { 0 }; /* place to member of side 1 */
	uint32_t count;

	find_shared(o);
	chain_members(o);
	for (size_t j = 0; j < o->members[1].n; j++)
		*map_put(&member_of, o->members[1].v[j].place, NULL) = j;
	while ((count = next_count(o)) > 0) {
		take_old(o, &member_of, count);
		take_first(o, count);
		pass_count(o, count);
	}
	take_old(o, &member_of, 0);
	take_rest(o);
	map_free(&member_of);
}
