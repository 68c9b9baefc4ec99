/* SPDX-License-Identifier: MIT */
/*
 * Forward to backward. Autograd numbers a forward op. Backward ops below a
 * wrapper (autograd::engine::evaluate_function: X) have the same number.
 *
 * The first wrapper of a number belongs to the latest op with that number on
 * another thread. If wrappers of one number name several forward threads, and
 * ops of several threads have it, each thread's first wrapper counts, and
 * arrows go before times. Without a forward op the arrow fwdbwd decides: it
 * leads from the op that starts at its s to the wrapper above the op that
 * starts at its f. Functions of C++ extensions: link-custom.c.
 */
#include "trace/link.h"
#include "trace/store-inside.h"

/* An op with a number that some wrapper has. */
struct numbered {
	uint32_t group; /* of equal numbers, in order of appearance */
	uint32_t item;
};

/* An end of an arrow, and the op that starts there. */
struct point {
	uint32_t op;
	bool has_number;
};

struct back {
	struct store *s;
	struct link_stats *stats;
	struct map groups; /* number to group + 1 */
	VEC(struct numbered) ops;
	u32_vec starts; /* of each group in ops, and the end */
	/* per group */
	u32_vec wrappers, rest;
	u32_vec first; /* first wrapper of each forward thread */
	struct map thread_first;
	u32_vec stamp; /* by thread: the last group with a wrapper (even) or
	                  another op (odd) there */
	VEC(struct custom_link) customs; /* not linked yet */
	/* arrows, when they are needed */
	bool has_arrows;
	struct intern *places;    /* (thread, time) */
	VEC(struct point) points; /* by place */
	struct map arrow_of;      /* wrapper to forward op */
};

/* ---- ops by number ---- */

static bool
is_wrapper(struct store *s, uint32_t i)
{
	return (name_facts(s, s->items.v[i].name) & NAME_WRAPPER) != 0;
}

static bool
number_of(struct store *s, uint32_t i, uint64_t *number)
{
	const struct shape_facts *f = shape_facts(s, s->items.v[i].shape);
	struct key k;

	if (f->seq == 0 || !f->is_slice)
		return false;
	k = item_key(s, i, f->seq);
	*number = key_hash(k);
	return k.type != KEY_NONE;
}

/* First the wrappers' numbers, then all ops that have one of them. */
static void
find_numbered(struct back *b)
{
	struct store *s = b->s;
	uint64_t number, *group;

	for (uint32_t i = 0; i < s->items.n; i++) {
		bool is_new;

		if (!is_wrapper(s, i) || !number_of(s, i, &number))
			continue;
		group = map_put(&b->groups, number, &is_new);
		if (is_new)
			*group = b->groups.n;
	}
	if (b->groups.n == 0)
		return;
	for (uint32_t i = 0; i < s->items.n; i++)
		if (number_of(s, i, &number) &&
		    (group = map_get(&b->groups, number)) != NULL)
			vec_push(&b->ops,
			    ((struct numbered){ (uint32_t)*group - 1, i }));
}

/* By group, within a group in file order. */
static void
sort_numbered(struct back *b)
{
	size_t ngroups = b->groups.n;
	VEC(struct numbered) sorted = { 0 };
	uint32_t at = 0;

	while (b->starts.n < ngroups + 2)
		vec_push(&b->starts, 0);
	for (size_t k = 0; k < b->ops.n; k++)
		b->starts.v[b->ops.v[k].group + 1]++;
	for (size_t g = 0; g <= ngroups; g++) {
		at += b->starts.v[g];
		b->starts.v[g] = at;
	}
	vec_reserve(&sorted, b->ops.n + 1);
	for (size_t k = 0; k < b->ops.n; k++)
		sorted.v[b->starts.v[b->ops.v[k].group]++] = b->ops.v[k];
	/* each start has moved to the next one's */
	for (size_t g = ngroups; g > 0; g--)
		b->starts.v[g] = b->starts.v[g - 1];
	b->starts.v[0] = 0;
	vec_free(&b->ops);
	b->ops.v = sorted.v;
	b->ops.n = sorted.n = at;
	b->ops.cap = sorted.cap;
}

/* ---- arrows ---- */

/* The point of this place, or NULL; make: creates it if new. */
static struct point *
find_point(struct back *b, uint32_t thread, int64_t ts, bool make)
{
	const uint64_t place[] = { thread, (uint64_t)ts };
	struct str bytes = { (const char *)place, sizeof place };
	uint32_t at = make
	    ? intern_put(b->places, bytes)
	    : intern_find(b->places, bytes, hash_bytes(place, sizeof place));

	if (at == b->points.n)
		vec_push(&b->points, ((struct point){ STORE_NONE, false }));
	return at != INTERN_NONE ? &b->points.v[at] : NULL;
}

static bool
is_arrow(struct store *s, uint32_t i)
{
	const struct held *it = &s->items.v[i];

	return it->kind == KIND_FLOW && (it->state & IN_TIME) != 0 &&
	    str_eq(dict_get(s->st, s->st->shapes.v[it->shape]->cat),
		STR("fwdbwd"));
}

/* At a point the innermost op counts, and one with a number before others. */
static void
offer(struct back *b, uint32_t i)
{
	struct store *s = b->s;
	const struct held *it = &s->items.v[i];
	struct point *p;
	bool has_number;

	if (it->kind != KIND_OP || (it->state & IN_TIME) == 0)
		return;
	p = find_point(b, item_thread(s, it), it->ts_ns, false);
	if (p == NULL)
		return;
	has_number = shape_facts(s, it->shape)->seq != 0;
	if (p->op != STORE_NONE &&
	    (p->has_number > has_number ||
		(p->has_number == has_number &&
		    item_before(s->items.v, i, p->op))))
		return;
	p->op = i;
	p->has_number = has_number;
}

/* The nearest wrapper at or above an op, ignoring frames. */
static uint32_t
wrapper_of(struct store *s, uint32_t i)
{
	while (i != STORE_NONE &&
	    (s->items.v[i].kind == KIND_PYTHON || !is_wrapper(s, i)))
		i = s->items.v[i].parent;
	return i;
}

static void
follow_arrow(struct back *b, uint32_t i, const struct map *begins)
{
	struct store *s = b->s;
	const struct held *it = &s->items.v[i];
	struct key id = item_arrow_id(s, i);
	uint64_t *begin = map_get(begins, key_hash(id)), *slot;
	uint32_t w, f;
	bool is_new;

	if (id.type == KEY_NONE || begin == NULL)
		return;
	w = find_point(b, item_thread(s, it), it->ts_ns, true)->op;
	it = &s->items.v[*begin];
	f = find_point(b, item_thread(s, it), it->ts_ns, true)->op;
	w = wrapper_of(s, w);
	if (w == STORE_NONE || f == STORE_NONE || w == f)
		return;
	slot = map_put(&b->arrow_of, w, &is_new);
	if (is_new)
		*slot = f;
}

/* Needs nested ops: nests them if no tree is wanted. */
static void
find_arrows(struct back *b)
{
	struct store *s = b->s;
	struct tree_stats unused = { 0 };
	struct map begins = { 0 };

	b->has_arrows = true;
	b->places = intern_create();
	if (!s->is_nested)
		nest(
		    s, NULL, &(struct tree_opts){ .no_python = true }, &unused);
	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];

		if (!is_arrow(s, i))
			continue;
		find_point(b, item_thread(s, it), it->ts_ns, true);
		if (s->st->shapes.v[it->shape]->ph == 's')
			*map_put(&begins, key_hash(item_arrow_id(s, i)), NULL) =
			    i;
	}
	for (uint32_t i = 0; b->points.n > 0 && i < s->items.n; i++)
		offer(b, i);
	for (uint32_t i = 0; b->points.n > 0 && i < s->items.n; i++)
		if (is_arrow(s, i) &&
		    s->st->shapes.v[s->items.v[i].shape]->ph == 'f')
			follow_arrow(b, i, &begins);
	map_free(&begins);
}

static uint32_t
by_arrow(struct back *b, uint32_t w)
{
	uint64_t *f;

	if (!b->has_arrows)
		find_arrows(b);
	f = map_get(&b->arrow_of, w);
	return f != NULL ? (uint32_t)*f : STORE_NONE;
}

/* ---- one number ---- */

/* The latest op of the number that is not on w's thread. */
static uint32_t
latest(const struct back *b, uint32_t w, uint32_t from, uint32_t to)
{
	const struct store *s = b->s;
	const struct held *v = s->items.v;
	uint32_t best = STORE_NONE, thread = item_thread(s, &v[w]);

	for (uint32_t k = from; k < to; k++) {
		uint32_t i = b->ops.v[k].item;

		if (i != w && item_thread(s, &v[i]) != thread &&
		    (v[i].state & IN_TIME) != 0 &&
		    (best == STORE_NONE || v[i].ts_ns > v[best].ts_ns))
			best = i;
	}
	return best;
}

static void
set_link(struct back *b, uint32_t w, uint32_t f)
{
	struct store *s = b->s;
	bool is_new;
	uint64_t *slot = map_put(&s->bwd, f, &is_new);

	*map_put(&s->fwd, w, NULL) = f;
	s->items.v[w].state |= IN_FWD;
	s->items.v[f].state |= IN_BWD;
	if (is_new) /* the first of several */
		*slot = w;
}

/* The forward thread that a wrapper names, 0 if none. */
static struct key
forward_thread(struct store *s, uint32_t i)
{
	unsigned no = shape_facts(s, s->items.v[i].shape)->thread;
	struct key k = { 0, KEY_NONE };

	if (no != 0)
		k = item_key(s, i, no);
	return k.type == KEY_NONE ? (struct key){ 0, KEY_INT } : k;
}

/*
 * Splits the group. Returns how many forward threads its wrappers name; first
 * has the first wrapper of each.
 */
static size_t
split(struct back *b, uint32_t from, uint32_t to)
{
	struct store *s = b->s;
	const struct key none = { 0, KEY_INT };
	size_t named = 0;

	b->wrappers.n = b->rest.n = b->first.n = 0;
	for (uint32_t k = from; k < to; k++) {
		uint32_t i = b->ops.v[k].item;

		if (is_wrapper(s, i))
			vec_push(&b->wrappers, i);
		else
			vec_push(&b->rest, i);
	}
	if (b->wrappers.n < 2)
		return 0; /* nearly always */
	map_free(&b->thread_first);
	for (size_t k = 0; k < b->wrappers.n; k++) {
		struct key thread = forward_thread(s, b->wrappers.v[k]);
		bool is_new;

		map_put(&b->thread_first, key_hash(thread), &is_new);
		if (is_new) {
			vec_push(&b->first, b->wrappers.v[k]);
			named += !key_eq(thread, none);
		}
	}
	return named;
}

/* Whether other ops are on more than one thread without wrappers. */
static bool
has_forward_threads(struct back *b, uint32_t group)
{
	struct store *s = b->s;
	size_t n = 0;

	while (b->stamp.n < s->threads.n)
		vec_push(&b->stamp, UINT32_MAX);
	for (size_t k = 0; k < b->wrappers.n; k++)
		b->stamp.v[item_thread(s, &s->items.v[b->wrappers.v[k]])] =
		    group;
	for (size_t k = 0; k < b->rest.n; k++) {
		uint32_t *stamp =
		    &b->stamp.v[item_thread(s, &s->items.v[b->rest.v[k]])];

		n += *stamp != group;
		*stamp = group;
	}
	return n > 1;
}

static void
link_group(struct back *b, uint32_t group)
{
	uint32_t from = b->starts.v[group], to = b->starts.v[group + 1];
	size_t named = split(b, from, to);
	bool several = named > 1 && has_forward_threads(b, group);
	struct custom_link custom;

	for (size_t k = 0; k < (several ? b->first.n : 1); k++) {
		uint32_t w = several ? b->first.v[k] : b->wrappers.v[0];
		uint32_t f = several ? by_arrow(b, w) : STORE_NONE;
		bool is_arrow_link = f != STORE_NONE;

		b->stats->wrappers++;
		if (f == STORE_NONE && w == b->wrappers.v[0])
			f = latest(b, w, from, to);
		if (f == STORE_NONE) {
			f = by_arrow(b, w);
			is_arrow_link = f != STORE_NONE;
		}
		if (f == STORE_NONE)
			continue;
		if (is_arrow_link) {
			set_link(b, w, f);
			b->stats->bwd_flow++;
			continue;
		}
		if (custom_link_needed(b->s, w, f, &custom))
			vec_push(&b->customs, custom);
		else
			set_link(b, w, f);
		b->stats->bwd_seq++;
	}
}

static void
link_customs(struct back *b)
{
	if (b->customs.n == 0)
		return;
	custom_links_find(b->s, b->customs.v, b->customs.n);
	for (size_t i = 0; i < b->customs.n; i++)
		set_link(b, b->customs.v[i].w, b->customs.v[i].f);
	vec_free(&b->customs);
}

/* Undoes nesting that was only for the arrows. */
static void
forget_nesting(struct store *s)
{
	for (uint32_t i = 0; i < s->items.n; i++) {
		s->items.v[i].flags &=
		    (uint16_t) ~(EV_DISCARDED | EV_RECOMPUTE);
		s->items.v[i].state &= (uint8_t)~IN_TREE;
	}
}

void
store_link_backward(struct store *s, struct link_stats *stats)
{
	struct back b = { .s = s, .stats = stats };

	if (!s->has_wrappers)
		return;
	find_numbered(&b);
	if (b.ops.n > 0) {
		sort_numbered(&b);
		for (uint32_t g = 0; g < b.groups.n; g++)
			link_group(&b, g);
		link_customs(&b);
	}
	if (b.has_arrows && !s->is_built)
		forget_nesting(s);
	map_free(&b.groups);
	vec_free(&b.ops);
	vec_free(&b.starts);
	vec_free(&b.wrappers);
	vec_free(&b.rest);
	vec_free(&b.first);
	map_free(&b.thread_first);
	vec_free(&b.stamp);
	vec_free(&b.points);
	intern_destroy(b.places);
	map_free(&b.arrow_of);
}
