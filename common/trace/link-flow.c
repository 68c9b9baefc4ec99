/* SPDX-License-Identifier: MIT */
/*
 * Links by arrows, where launches have no correlation id, and the reference's
 * rule as it is, to compare with it.
 *
 * A graph launch owns all GPU events of its key. Another launch has a target
 * if arrows with its key's number start (s) and finish (f): the last event
 * that has the key and is of the process and thread of the f; it counts if it
 * is GPU work. The last launch that has a target keeps it. The key is the
 * correlation or the external id; of several events with one key the last
 * counts, whatever they are.
 */
#include "trace/store-inside.h"

struct flows {
	struct store *s;
	bool by_corr;
	bool as_reference;        /* categories as the file writes them */
	struct map start, finish; /* key to item of the arrow */
	struct map at;            /* process, thread and key to item */
	struct map by_key;        /* key to first GPU event of the list */
};

/*
 * 64 bits stand for a key here; the maps are made per source, and two keys
 * that agree in them are one in 2^64.
 */
static uint64_t
place_hash(struct key pid, struct key tid, struct key k)
{
	uint64_t h = hash_more(key_hash(pid), key_hash(tid));

	return hash_more(h, key_hash(k));
}

static struct str
cat_of(const struct flows *f, const struct held *it)
{
	return dict_get(f->s->st, f->s->st->shapes.v[it->shape]->cat);
}

static bool
is_one_of(struct str cat, const char *const words[])
{
	for (; *words != NULL; words++)
		if (str_eq(cat, str_of(*words)))
			return true;
	return false;
}

static bool
is_launch(const struct flows *f, const struct held *it)
{
	static const char *const cats[] = { "cuda_runtime", "cuda_driver",
		NULL };

	if (!item_is(it, KINDS_LAUNCH))
		return false;
	return f->as_reference
	    ? is_one_of(cat_of(f, it), cats)
	    : (name_facts(f->s, it->name) & NAME_NO_LAUNCH) == 0;
}

static bool
is_gpu(const struct flows *f, const struct held *it)
{
	static const char *const cats[] = { "kernel", "gpu_memcpy",
		"gpu_memset", NULL };

	return item_is(it, KINDS_GPU) && (it->flags & EV_DUPLICATE) == 0 &&
	    (!f->as_reference || is_one_of(cat_of(f, it), cats));
}

static struct key
key_of(const struct flows *f, const struct event *ev)
{
	return f->by_corr ? ev->corr : ev->ext;
}

/* The reference looks at the first launch that is called so. */
static bool
reference_by_corr(const struct flows *f)
{
	struct store *s = f->s;

	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		struct event ev;

		if (!is_launch(f, it) ||
		    (name_facts(s, it->name) & NAME_LAUNCH) == 0)
			continue;
		item_event(s, i, &ev);
		return ev.corr.type != KEY_NONE;
	}
	return false;
}

static void
index_arrow(struct flows *f, uint32_t i, const struct event *ev)
{
	struct key id = item_arrow_id(f->s, i);

	if (id.type == KEY_NONE)
		return;
	if (ev->shape->ph == 's')
		*map_put(&f->start, key_hash(id), NULL) = i;
	if (ev->shape->ph == 'f')
		*map_put(&f->finish, key_hash(id), NULL) = i;
}

/* From the last to the first event: lists are in the order of the file. */
static void
index_all(struct flows *f)
{
	struct store *s = f->s;

	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		struct event ev;
		struct key k;

		item_event(s, i, &ev);
		if (it->kind == KIND_FLOW && str_eq(cat_of(f, it), STR("ac2g")))
			index_arrow(f, i, &ev);
		k = key_of(f, &ev);
		if (k.type != KEY_NONE)
			*map_put(&f->at, place_hash(ev.pid, ev.tid, k), NULL) =
			    i;
	}
	for (uint32_t i = (uint32_t)s->items.n; i-- > 0;) {
		struct held *it = &s->items.v[i];
		struct event ev;
		struct key k;

		if (!is_gpu(f, it))
			continue;
		item_event(s, i, &ev);
		k = key_of(f, &ev);
		if (k.type != KEY_NONE) {
			bool is_new;
			uint64_t *head =
			    map_put(&f->by_key, key_hash(k), &is_new);

			it->gpu = is_new ? STORE_NONE : (uint32_t)*head;
			*head = i;
		}
	}
}

static void
link_target(struct flows *f, uint32_t launch, struct key k)
{
	struct store *s = f->s;
	uint64_t h = key_hash(k), *finish = map_get(&f->finish, h), *target;
	struct event ev;

	if (finish == NULL || map_get(&f->start, h) == NULL)
		return;
	item_event(s, (uint32_t)*finish, &ev);
	target = map_get(&f->at, place_hash(ev.pid, ev.tid, k));
	if (target != NULL && is_gpu(f, &s->items.v[*target])) {
		s->items.v[*target].parent = launch;
		s->items.v[*target].state |= IN_OWNED;
	}
}

static void
link_graph(struct flows *f, uint32_t launch, struct key k)
{
	struct held *v = f->s->items.v;
	uint64_t *head = map_get(&f->by_key, key_hash(k));
	uint32_t g = head != NULL ? (uint32_t)*head : STORE_NONE;

	for (; g != STORE_NONE; g = v[g].gpu) {
		v[g].parent = launch;
		v[g].state |= IN_OWNED;
	}
}

/* Lists by launch from the links, in the order of the file. */
static void
chain(struct store *s)
{
	for (uint32_t i = 0; i < s->items.n; i++)
		s->items.v[i].gpu = STORE_NONE;
	chain_gpu(s);
}

bool
link_by_flow(struct store *s, bool as_reference)
{
	struct flows f = { .s = s, .as_reference = as_reference };

	f.by_corr = as_reference && reference_by_corr(&f);
	index_all(&f);
	for (uint32_t i = 0; i < s->items.n; i++) {
		struct event ev;
		struct key k;

		if (!is_launch(&f, &s->items.v[i]))
			continue;
		item_event(s, i, &ev);
		k = key_of(&f, &ev);
		if (k.type == KEY_NONE)
			continue;
		if (name_facts(s, ev.name) & NAME_GRAPH)
			link_graph(&f, i, k);
		else
			link_target(&f, i, k);
	}
	chain(s);
	map_free(&f.start);
	map_free(&f.finish);
	map_free(&f.at);
	map_free(&f.by_key);
	return f.by_corr;
}
