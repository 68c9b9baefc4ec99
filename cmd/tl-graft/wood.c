/* SPDX-License-Identifier: MIT */
/* A source's tree in memory: lists of events below events. */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

#include "stream/maker.h"

void
wood_start(struct wood *w, struct strings *st)
{
	*w = (struct wood){ .st = st, .first_root = NONE, .last_root = NONE };
}

void
wood_clear(struct wood *w)
{
	w->nodes.n = w->links.n = w->open.n = 0;
	w->vals.len = 0;
	w->first_root = w->last_root = NONE;
}

void
wood_free(struct wood *w)
{
	vec_free(&w->nodes);
	vec_free(&w->links);
	vec_free(&w->open);
	buf_free(&w->vals);
	buf_free(&w->scratch);
}

struct str
wood_name(const struct wood *w, uint32_t i)
{
	return strings_get(w->st, w->nodes.v[i].name);
}

static uint32_t
new_node(struct wood *w)
{
	struct node *n;

	if (w->nodes.n >= NONE - 1)
		die("more than %u events of one source", NONE - 1);
	n = vec_add(&w->nodes);
	*n = (struct node){
		.up = NONE, .kid = NONE, .last = NONE, .next = NONE
	};
	return (uint32_t)(w->nodes.n - 1);
}

void
wood_add(struct wood *w, const struct event *ev, const char *file)
{
	uint32_t i = new_node(w);
	struct node *n = &w->nodes.v[i];
	struct str vals = event_vals(ev, &w->scratch);

	if (ev->depth > w->open.n)
		die("%s: event %" PRIu64 " is at depth %" PRIu32
		    ", but only %zu events are above it",
		    file, ev->uid.id, ev->depth, w->open.n);
	n->ts_ns = ev->ts_ns;
	n->dur_ns = ev->dur_ns;
	n->id = ev->uid.id;
	n->inst = ev->uid.inst;
	n->shape = ev->shape_id;
	n->track = ev->track;
	n->name = ev->name;
	n->flags = ev->flags;
	n->kind = ev->shape->kind;
	n->vals = w->vals.len;
	n->vals_len = (uint32_t)vals.len;
	buf_put(&w->vals, vals.p, vals.len);
	if ((ev->shape->has & (HAS_FWD | HAS_BWD)) != 0) {
		vec_push(&w->links, ((struct node_links){ ev->fwd, ev->bwd }));
		n->links = (uint32_t)w->links.n;
	}
	w->open.n = ev->depth;
	wood_hang(w, i, ev->depth > 0 ? w->open.v[ev->depth - 1] : NONE);
	vec_push(&w->open, i);
}

static struct uid
uid_of(const struct node *n)
{
	return (struct uid){ n->id, n->inst };
}

void
wood_event(const struct wood *w, uint32_t i, struct event *ev)
{
	const struct node *n = &w->nodes.v[i];
	const struct track *t = &w->st->tracks.v[n->track];

	*ev = (struct event){
		.shape = w->st->shapes.v[n->shape],
		.shape_id = n->shape,
		.track = n->track,
		.src = t->src,
		.name = n->name,
		.uid = uid_of(n),
		.ts_ns = n->ts_ns,
		.dur_ns = n->dur_ns,
		.pid = t->pid,
		.tid = t->tid,
		.flags = n->flags,
		.vals = n->vals_len > 0
		    ? (const unsigned char *)w->vals.p + n->vals
		    : NULL,
		.vals_len = n->vals_len,
	};
	if (n->up != NONE)
		ev->parent = uid_of(&w->nodes.v[n->up]);
	if (n->up != NONE && node_is(n, KINDS_GPU))
		ev->launch = ev->parent;
	if (n->links > 0) {
		ev->fwd = w->links.v[n->links - 1].fwd;
		ev->bwd = w->links.v[n->links - 1].bwd;
	}
	(void)!event_set_keys(w->st, ev);
}

/* ---- lists ---- */

void
wood_hang(struct wood *w, uint32_t i, uint32_t up)
{
	struct node *v = w->nodes.v;
	uint32_t *first = up == NONE ? &w->first_root : &v[up].kid;
	uint32_t *last = up == NONE ? &w->last_root : &v[up].last;

	v[i].up = up;
	v[i].next = NONE;
	if (*last == NONE)
		*first = i;
	else
		v[*last].next = i;
	*last = i;
}

void
wood_unhook(struct wood *w, uint32_t i)
{
	struct node *v = w->nodes.v;
	uint32_t up = v[i].up, before = NONE;
	uint32_t *first = up == NONE ? &w->first_root : &v[up].kid;
	uint32_t *last = up == NONE ? &w->last_root : &v[up].last;

	for (uint32_t k = *first; k != i; k = v[k].next)
		before = k;
	if (before == NONE)
		*first = v[i].next;
	else
		v[before].next = v[i].next;
	if (*last == i)
		*last = before;
	v[i].next = v[i].up = NONE;
}

void
wood_put_above(struct wood *w, uint32_t i, uint32_t node)
{
	struct node *v = w->nodes.v;
	uint32_t up = v[node].up, before = NONE;
	uint32_t *first = up == NONE ? &w->first_root : &v[up].kid;
	uint32_t *last = up == NONE ? &w->last_root : &v[up].last;

	for (uint32_t k = *first; k != node; k = v[k].next)
		before = k;
	v[i].up = up;
	v[i].next = v[node].next;
	if (before == NONE)
		*first = i;
	else
		v[before].next = i;
	if (*last == node)
		*last = i;
	wood_hang(w, node, i);
}

uint32_t
wood_next(const struct wood *w, uint32_t i, uint32_t top)
{
	const struct node *v = w->nodes.v;

	if (v[i].kid != NONE)
		return v[i].kid;
	while (i != top && v[i].next == NONE)
		i = v[i].up;
	return i == top ? NONE : v[i].next;
}

/* ---- new ones ---- */

uint32_t
wood_copy(struct wood *w, const struct wood *from, uint32_t i)
{
	uint32_t made = new_node(w);
	struct node *to = &w->nodes.v[made];
	const struct node *n = &from->nodes.v[i];

	*to = *n;
	to->up = to->kid = to->last = to->next = NONE;
	to->links = 0;
	to->vals = w->vals.len;
	buf_room(&w->vals, n->vals_len); /* from may be w */
	if (n->vals_len > 0)
		buf_put(&w->vals, from->vals.p + n->vals, n->vals_len);
	return made;
}

/* A node's event anew, without its arguments. */
static struct entries
begin_again(struct wood *w, uint32_t i, struct maker *m)
{
	struct event ev;

	*m = (struct maker){ .st = w->st };
	wood_event(w, i, &ev);
	maker_begin_like(m, &ev);
	return entries_of(w->st, &ev);
}

static void
end_again(struct wood *w, uint32_t i, struct maker *m)
{
	struct node *to = &w->nodes.v[i];
	const struct event *ev = maker_end(m, uid_of(to));

	to->shape = ev->shape_id;
	to->vals = w->vals.len;
	to->vals_len = (uint32_t)ev->vals_len;
	if (ev->vals_len > 0)
		buf_put(&w->vals, ev->vals, ev->vals_len);
	maker_free(m);
}

void
wood_arg(struct wood *w, uint32_t i, const char *key, enum role role,
    const struct value *v)
{
	struct maker m;
	struct entries it = begin_again(w, i, &m);

	while (entries_next(&it))
		maker_entry(&m, it.entry, &it.val);
	maker_entry(&m,
	    &(struct entry){
		.key = intern_put(w->st->text, str_of(key)),
		.type = (uint8_t)v->type,
		.group = GROUP_ARGS,
		.role = (uint8_t)role,
	    },
	    v);
	end_again(w, i, &m);
}

static bool
is_one_of(struct str s, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (str_eq(s, str_of(*keys)))
			return true;
	return false;
}

void
wood_keep_args(struct wood *w, uint32_t i, const char *const *keys)
{
	struct maker m;
	struct entries it = begin_again(w, i, &m);

	while (entries_next(&it))
		if (it.entry->group == GROUP_ARGS &&
		    is_one_of(strings_get(w->st, it.entry->key), keys))
			maker_entry(&m, it.entry, &it.val);
	end_again(w, i, &m);
}

/* ---- writing ---- */

struct below {
	uint64_t ndesc, ngpu;
};

/* What is below each node: those below come later in the tree. */
static struct below *
count(const struct wood *w, const uint32_t *order, size_t n)
{
	struct below *b = xcalloc(w->nodes.n + 1, sizeof *b);

	while (n-- > 0) {
		const struct node *node = &w->nodes.v[order[n]];
		struct below *up;

		if (node->up == NONE)
			continue;
		up = &b[node->up];
		up->ndesc += b[order[n]].ndesc + 1;
		up->ngpu += b[order[n]].ngpu + node_is(node, KINDS_GPU);
	}
	return b;
}

void
wood_write(const struct wood *w, struct stream_out *out)
{
	uint32_t *order = xmalloc((w->nodes.n + 1) * sizeof *order);
	uint32_t *depth = xcalloc(w->nodes.n + 1, sizeof *depth);
	struct below *below;
	size_t n = 0;

	for (uint32_t r = w->first_root; r != NONE; r = w->nodes.v[r].next)
		for (uint32_t i = r; i != NONE; i = wood_next(w, i, r))
			order[n++] = i;
	below = count(w, order, n);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = order[k], up = w->nodes.v[i].up;
		struct event ev;
		unsigned has;

		depth[i] = up != NONE ? depth[up] + 1 : 0;
		wood_event(w, i, &ev);
		ev.depth = depth[i];
		ev.ndesc = below[i].ndesc;
		ev.ngpu = below[i].ngpu;
		has = ev.shape->has &
		    ~(unsigned)(HAS_PARENT | HAS_LAUNCH | HAS_FLAGS | HAS_INST |
			HAS_NDESC | HAS_NGPU);
		has |= HAS_DEPTH | (up != NONE ? HAS_PARENT : 0) |
		    (ev.flags != 0 ? HAS_FLAGS : 0) |
		    (ev.uid.inst != 0 ? HAS_INST : 0) |
		    (ev.ndesc > 0 ? HAS_NDESC : 0) |
		    (ev.ngpu > 0 ? HAS_NGPU : 0);
		if (up != NONE && event_is(&ev, KINDS_GPU))
			has |= HAS_LAUNCH;
		if (has != ev.shape->has) {
			ev.shape_id =
			    strings_shape_with(w->st, ev.shape_id, has);
			ev.shape = w->st->shapes.v[ev.shape_id];
		}
		stream_write(out, &ev);
	}
	free(order);
	free(depth);
	free(below);
}
