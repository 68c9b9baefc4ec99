/* SPDX-License-Identifier: MIT */
/* A source's tree for looking at: who is above, where is what. */
#include "cmd/tl-tree/tree.h"
#include "trace/tree.h"

static void
add_node(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct forest *f = arg;
	struct node *n;

	if (section == SECTION_PROLOGUE)
		return;
	if (f->stack.n > depth)
		f->stack.n = depth;
	n = vec_add(&f->nodes);
	*n = (struct node){ i, depth,
		f->stack.n > 0 ? f->stack.v[f->stack.n - 1] : STORE_NONE };
	vec_push(&f->stack, (uint32_t)(f->nodes.n - 1));
}

void
forest_make(struct forest *f, struct store *s)
{
	f->s = s;
	f->nodes.n = f->stack.n = 0;
	map_free(&f->places);
	tree_visit(s, add_node, f);
}

void
forest_free(struct forest *f)
{
	vec_free(&f->nodes);
	vec_free(&f->stack);
	map_free(&f->places);
}

void
forest_event(const struct forest *f, uint32_t at, struct event *ev)
{
	store_event(f->s, f->nodes.v[at].item, ev);
	ev->depth = f->nodes.v[at].depth;
}

uint32_t
forest_behind(const struct forest *f, uint32_t at)
{
	uint32_t depth = f->nodes.v[at].depth, next = at + 1;

	while (next < f->nodes.n && f->nodes.v[next].depth > depth)
		next++;
	return next;
}

static uint64_t
uid_key(struct uid uid)
{
	return hash_mix(hash_u64(uid.id), uid.inst + HASH_K0);
}

static void
index_uids(struct forest *f)
{
	for (uint32_t at = 0; at < f->nodes.n; at++) {
		struct event ev;

		forest_event(f, at, &ev);
		*map_put(&f->places, uid_key(ev.uid), NULL) = at + 1;
	}
}

uint32_t
forest_find(struct forest *f, struct uid uid)
{
	const uint64_t *place;

	if (f->places.n == 0)
		index_uids(f);
	place = map_get(&f->places, uid_key(uid));
	return place != NULL ? (uint32_t)*place - 1 : STORE_NONE;
}

bool
forest_uid(const struct forest *f, const char *text, struct uid *uid)
{
	struct uid_pick p;

	if (!uid_pick_read(str_of(text), &p))
		return false;
	*uid = p.uid;
	return p.any_src || p.src == store_source(f->s)->src;
}
